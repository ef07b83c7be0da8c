"""Copies on a GPU, as far as they can be tried without one: plans and tables here, the kernel by an interpreter."""

import importlib.util
import re
from collections import Counter
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import device
from stridecheck.reference_impl.kernels.device_plan import OWN, SECTOR, DeviceChoice, plan_for_device
from stridecheck.reference_impl.kernels.device_tables import conflicts, tables_of
from stridecheck.reference_impl.kernels.normal import normal

from .arrays import TYPES, expected, pairs

# Triton 3.9 warns of a default that has to do with floating point; nothing here computes.
pytestmark = pytest.mark.filterwarnings("ignore:TRITON_:UserWarning")
relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
choices = st.builds(DeviceChoice, st.sampled_from([1 << 15, 1 << 14, 64, 1024]), st.sampled_from([1, 4, 8]))

PERMUTATIONS = {
    "transpose": ((8192, 16384), (1, 0)),
    "nchw_to_nhwc": ((512, 64, 56, 56), (0, 2, 3, 1)),
    "nhwc_to_nchw": ((512, 28, 28, 256), (0, 3, 1, 2)),
    "heads": ((16, 256, 256, 64), (0, 2, 1, 3)),
    "keys": ((16, 128, 512, 64), (0, 2, 3, 1)),
    "reverse_4d": ((128, 128, 64, 64), (3, 2, 1, 0)),
    "permute_204153": ((32, 32, 32, 16, 16, 16), (2, 0, 4, 1, 5, 3)),
    "permute_520413": ((32, 32, 32, 16, 16, 16), (5, 2, 0, 4, 1, 3)),
}
NARROW = {
    "nchw_to_nhwc_c3": ((512, 3, 224, 224), (0, 2, 3, 1)),
    "nhwc_to_nchw_c3": ((512, 224, 224, 3), (0, 3, 1, 2)),
    "pixels": ((4096, 4096, 3), (1, 0, 2)),
    "reverse_5d_odd": ((39,) * 5, (4, 3, 2, 1, 0)),
}
"""Permutations of more than 200 MB, by the memory's shape."""


def row_major(shape, itemsize):
    return tuple(itemsize * prod(shape[k + 1 :]) for k in range(len(shape)))


def permuted(memory, order, itemsize=4):
    """The plan of a permutation into row-major memory, both beginning where memory is allocated."""
    shape = tuple(memory[k] for k in order)
    strides = row_major(memory, itemsize)
    form = normal(shape, row_major(shape, itemsize), [strides[k] for k in order], itemsize)
    return plan_for_device(form, 256, 256)


def corners(plan, most=3000):
    """Items from the first one of either side to where tiles begin, as `device_kernel` counts them."""
    rest = np.arange(min(plan.tiles, most))
    to = at = 0
    for turns, step, last, dst, src in tables_of(plan).hops.tolist():
        begin = np.minimum(rest % turns * step, last)
        rest //= turns
        to, at = to + begin * dst, at + begin * src
    return to, at


def moved(plan):
    """Items from a tile's begin in target and source, for each that is written; what is read, in that order."""
    tables = tables_of(plan)
    read, write = (plan.access(side) // plan.item for side in ("src", "dst"))
    held = (tables.reads[:, None] * read + np.arange(read)).ravel()
    written = (tables.writes[:, None] * write + np.arange(write)).ravel()
    return written, held[tables.places], held


@relaxed
@given(pairs(most=20_000), choices)
def test_the_tiles_of_a_plan_move_each_item_once(pair, choice):
    dst, memory = pair.dst.laid(pair.shape, TYPES[pair.itemsize], None)
    src, source = pair.src.laid(pair.shape, TYPES[pair.itemsize], 7)
    assume(normal(dst.shape, dst.strides, src.strides, dst.itemsize).writes_once)
    plan = device.plan_of(dst, src, choice)
    assume(plan.tiles <= 3000)
    wanted = expected(dst, src, memory)
    to, at = dst.ctypes.data + plan.form.dst_shift, src.ctypes.data + plan.form.src_shift
    assert to % plan.item == at % plan.item == 0
    written, taken, _ = moved(plan)
    written, taken = (
        (np.atleast_1d(begin)[:, None] + items).ravel()
        for begin, items in zip(corners(plan), (written, taken), strict=True)
    )
    assert len(np.unique(written)) == dst.nbytes // plan.item
    byte = np.arange(plan.item)
    memory[written[:, None] * plan.item + byte + to - memory.ctypes.data] = source[
        taken[:, None] * plan.item + byte + at - source.ctypes.data
    ]
    assert np.array_equal(memory, wanted)


@relaxed
@given(pairs(most=20_000), choices)
def test_wide_accesses_begin_where_they_may(pair, choice):
    """At multiples of their width, in every tile: a GPU refuses others."""
    dst, src, _ = pair.arrays()
    assume(normal(dst.shape, dst.strides, src.strides, dst.itemsize).writes_once)
    plan = device.plan_of(dst, src, choice)
    to, at = corners(plan)
    for side, array, shift, begin in (("dst", dst, plan.form.dst_shift, to), ("src", src, plan.form.src_shift, at)):
        assert plan.access(side) <= 16
        assert not np.any((array.ctypes.data + shift + begin * plan.item) % plan.access(side))


def sectors(plan, side):
    """Sectors of memory that a tile reads or writes, over those that its bytes would fill."""
    written, _, held = moved(plan)
    items = np.unique(held if side == "src" else written) * plan.item
    return len(np.unique(items // SECTOR)) / (len(items) * plan.item / SECTOR)


@pytest.mark.parametrize("name", PERMUTATIONS)
@pytest.mark.parametrize("itemsize", sorted(TYPES))
def test_both_sides_of_a_permutation_are_accessed_16_bytes_at_a_time_and_side_by_side(name, itemsize):
    plan = permuted(*PERMUTATIONS[name], itemsize)
    assert (plan.access("src"), plan.access("dst")) == (16, 16)
    # Rows of 784 bytes begin in the middle of a sector.
    most = 1.2 if plan.item == 1 and name.startswith("n") else 1
    assert sectors(plan, "src") <= most
    assert sectors(plan, "dst") <= most
    assert plan.limit == 1
    assert plan.tiles * plan.items <= 1.07 * np.prod([d.length for d in plan.dims])
    assert conflicts(tables_of(plan).places, 16 // plan.item, plan.item) <= 8


@pytest.mark.parametrize("name", NARROW)
def test_few_channels_and_odd_lengths_are_accessed_side_by_side(name):
    plan = permuted(*NARROW[name])
    # Rows of odd length begin anywhere: of some ten sectors one is the next row's, too.
    most = 1.1 if name == "reverse_5d_odd" else 1.01
    assert sectors(plan, "src") <= most
    assert sectors(plan, "dst") <= most


def test_small_matrices_in_a_row_share_a_tile():
    """Each is a few items; read and written whole, many lie side by side on either side."""
    plan = permuted((1 << 20, 8, 4), (0, 2, 1))
    assert [plan.piece(side).items for side in ("src", "dst")] == [8192, 8192]
    assert (plan.access("src"), plan.access("dst")) == (16, 16)


def test_a_plan_is_told_in_words():
    form = normal((1000, 1001), (4004, 4), (16016, 16), 4)
    text = plan_for_device(form, 16, 4).explain()
    assert "4.0 MB in " in text
    assert "reads pieces of 4 bytes, 4 at once; writes pieces of" in text
    assert "touches 20.0 MB in sectors of 32 bytes: at most 40 % of a dense copy's rate" in text


def test_offsets_are_of_64_bits_where_a_tile_reaches_far():
    """In items: of bytes, accesses of 16 reach 2^31 where their number is far below."""
    far = normal((2, 64), (1 << 40, 4), (4, 8), 4)
    assert tables_of(plan_for_device(far, 256, 256)).is_wide
    rows = permuted((64, 1 << 26), (1, 0), 1)
    assert rows.access("src") == 16
    assert np.abs(tables_of(rows).reads).max() < 1 << 31 <= 16 * np.abs(tables_of(rows).reads).max()
    assert tables_of(rows).is_wide
    assert tables_of(permuted((1 << 26, 64), (1, 0), 1)).is_wide
    assert not tables_of(permuted((64, 1 << 20), (1, 0), 1)).is_wide


class Told:
    """An array on a device that nobody has: what it tells of itself."""

    def __init__(self, shape=(4, 6), strides=None, typestr="<f4", at=1 << 40, readonly=False, device=None):
        data = (at, readonly)
        self.__cuda_array_interface__ = {
            "shape": shape, "strides": strides, "typestr": typestr, "data": data, "version": 2,
        }  # fmt: skip
        if device is not None:
            self.__dlpack_device__ = lambda: (2, device)


def test_arrays_are_known_by_what_they_tell():
    """A plan needs no device; an address that is no multiple of the item makes items smaller."""
    plan = device.plan(Told((64, 32)), Told((64, 32), (4, 256), at=1 << 41))
    assert (plan.item, plan.access("src"), plan.access("dst")) == (4, 16, 16)
    assert device.plan(Told(), Told(at=(1 << 41) + 2)).item == 2


@pytest.mark.parametrize(
    ("dst", "src", "error", "says"),
    [
        (np.zeros(3), Told(), TypeError, "a ndarray has no __cuda_array_interface__"),
        (Told(), Told((6, 4)), ValueError, r"shapes differ: \(4, 6\) and \(6, 4\)"),
        (Told(), Told(typestr="<i4"), TypeError, "dtypes differ: float32 and int32"),
        (Told(strides=(0, 4)), Told(), ValueError, "may write one place twice"),
        (Told((0, 4)), Told((0, 4)), ValueError, "no element"),
    ],
)
def test_what_cannot_be_copied_is_refused(dst, src, error, says):
    with pytest.raises(error, match=says):
        device.plan(dst, src)


@pytest.mark.parametrize(("left", "says"), [("is_conj", "to be conjugated"), ("is_neg", "to be negated")])
def test_elements_that_memory_does_not_hold_are_refused(left, says):
    """PyTorch describes the memory of a lazily conjugated tensor as if its elements were in it."""
    lazy = Told()
    setattr(lazy, left, lambda: True)
    for pair in ((lazy, Told()), (Told(), lazy)):
        with pytest.raises(TypeError, match=says):
            device.plan(*pair)


@pytest.mark.skipif(not device.unavailable(), reason="a copy can be made on a GPU here")
def test_without_a_device_the_reason_is_told():
    with pytest.raises(RuntimeError, match="Triton"):
        device.copy(Told(), Told(at=1 << 41))


def _without_triton():
    return "" if importlib.util.find_spec("triton") else "Triton is not installed: `make triton` runs these"


needs_triton = pytest.mark.skipif(bool(_without_triton()), reason=_without_triton())


@pytest.fixture(scope="module")
def interpreted():
    """The kernel as Triton's interpreter performs it: NumPy, over the memory at the addresses it is given."""
    where = importlib.util.find_spec("stridecheck.reference_impl.kernels.device_kernel")
    spec = importlib.util.spec_from_file_location("interpreted_device_kernel", where.origin)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        spec.loader.exec_module(module)
    return module.copy_tile


def _interpreted_copy(interpreted, dst, src, choice=OWN, *, is_wide=False):
    launch = device.launch_of(device.plan_of(dst, src, choice))
    if is_wide:
        tables = tables_of(launch.plan)
        far = [array.astype(np.int64) for array in (tables.hops, tables.reads, tables.writes)]
        parts = [np.ravel(part).view(np.uint8) for part in (*far, tables.places.astype(np.int16))]
        launch = device.Launch(launch.plan, launch.constants | {"WIDE": True}, np.concatenate(parts))
    device.start(interpreted, launch, dst.ctypes.data, src.ctypes.data, launch.tables.ctypes.data)


@needs_triton
@settings(relaxed, max_examples=40, suppress_health_check=list(HealthCheck))
@given(pair=pairs(most=3000), choice=choices)
def test_the_kernel_copies_the_same_bits_and_nothing_beside(interpreted, pair, choice):
    dst, src, memory = pair.arrays()
    assume(normal(dst.shape, dst.strides, src.strides, dst.itemsize).writes_once)
    wanted = expected(dst, src, memory)
    assume(device.plan_of(dst, src, choice).tiles <= 4)  # each takes the interpreter a tenth of a second
    _interpreted_copy(interpreted, dst, src, choice)
    assert np.array_equal(memory, wanted)


@needs_triton
@pytest.mark.parametrize("itemsize", sorted(TYPES))
@pytest.mark.parametrize(
    ("shape", "order"),
    [((65, 130), (1, 0)), ((2, 3, 20, 17), (0, 2, 3, 1)), ((40, 30, 3), (1, 0, 2)), ((5, 9, 64), (1, 0, 2))],
)
def test_permutations_of_every_item_size(interpreted, itemsize, shape, order):
    src = np.random.default_rng(3).integers(0, 256, prod(shape) * itemsize, np.uint8).view(TYPES[itemsize])
    src = src.reshape(shape).transpose(order)
    dst = np.zeros(src.shape, src.dtype)
    _interpreted_copy(interpreted, dst, src)
    assert dst.tobytes() == src.tobytes()


@needs_triton
def test_offsets_of_64_bits(interpreted):
    """Tables that say it is far are followed with wide offsets; the arrays themselves are small."""
    src = np.arange(77 * 40, dtype=np.int16).reshape(77, 40).T
    dst = np.zeros(src.shape, np.int16)
    _interpreted_copy(interpreted, dst, src, DeviceChoice(2048), is_wide=True)
    assert np.array_equal(dst, src)


def _accesses(plan):
    """How often a thread loads and stores so many bytes, in code for compute capability 9.0, made without a device."""
    import triton
    from stridecheck.reference_impl.kernels.device_kernel import copy_tile
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    constants = device.launch_of(plan).constants
    signature = {**dict.fromkeys(("dst", "src", "tables"), "i64"), **dict.fromkeys(constants, "constexpr")}
    made = triton.compile(
        ASTSource(copy_tile, signature, constexprs=constants),
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": plan.warps},
    )
    assert not re.search(r"\b(ld|st)\.local", made.asm["ptx"])
    found = re.findall(r"\b(ld|st)\.global(?:\.cg)?(?:\.v(\d))?\.b(\d+)", made.asm["ptx"])
    return Counter((kind, int(count or 1) * int(bits) // 8) for kind, count, bits in found)


@needs_triton
@pytest.mark.parametrize(
    ("name", "itemsize"),
    [*((name, 4) for name in PERMUTATIONS | NARROW), *(("transpose", size) for size in TYPES), ("permute_204153", 1)],
)
def test_accesses_are_as_wide_as_the_plan_says(name, itemsize):
    """Nothing else is stored; what else is loaded are tables."""
    plan = permuted(*(PERMUTATIONS | NARROW)[name], itemsize)
    found, tables = _accesses(plan), tables_of(plan)
    threads = 32 * plan.warps
    assert {width for kind, width in found if kind == "st"} == {plan.access("dst")}
    assert found["st", plan.access("dst")] == max(1, len(tables.writes) // threads)
    assert found["ld", plan.access("src")] >= max(1, len(tables.reads) // threads)
    assert sum(number for (kind, _), number in found.items() if kind == "ld") < 200


def torch_like(memory):
    """What has an address, as tensors tell theirs."""
    return SimpleNamespace(data_ptr=lambda: memory.ctypes.data)


class Driver:
    """Triton's driver of a device that nobody has: it takes compiled kernels, and notes what would be launched."""

    def __init__(self):
        self.launched = []
        self.utils = SimpleNamespace(
            load_binary=lambda *args: (None, "function", 32, 0, 1024),
            get_device_properties=lambda device: {"max_shared_mem": 227 << 10},
        )

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def launcher_cls(self, source, metadata):
        return lambda *args: self.launched.append(args)


@pytest.fixture
def driver(monkeypatch):
    from triton.runtime import driver

    made = Driver()
    monkeypatch.setattr(driver, "_active", made)
    return made


@needs_triton
def test_a_copy_reaches_the_driver(driver, monkeypatch):
    """From two arrays by their protocol to a launch: grid and addresses, and tables once for all equal layouts."""
    uploaded = []
    monkeypatch.setattr(device, "_prepared_ones", {})
    monkeypatch.setattr(device, "to_device", lambda tables: uploaded.append(tables) or torch_like(tables))
    dst, at = 1 << 40, 1 << 41
    target = Told((3, 64, 130), device=0)
    for src in (at, at + 4096):
        device.copy(target, Told((3, 64, 130), (33280, 4, 256), at=src, device=0))
    plan = device.plan(target, Told((3, 64, 130), (33280, 4, 256), at=at))
    first, second = driver.launched
    assert first[:3] == (plan.tiles, 1, 1)
    assert [number for number in first if number in (dst, at)] == [dst, at]
    assert [number for number in second if number in (dst, at + 4096)] == [dst, at + 4096]
    device.copy(Told((0, 3)), Told((0, 3)))
    assert len(driver.launched) == 2
    assert len(uploaded) == 1
    assert np.array_equal(uploaded[0], device.launch_of(plan).tables)


@needs_triton
@pytest.mark.parametrize(
    ("dst", "src", "says"),
    [
        (Told(device=1), Told(at=1 << 41, device=1), "on device"),
        (Told(readonly=True), Told(at=1 << 41), "read-only"),
        (Told(), Told(at=(1 << 40) + 92), "shares bytes"),
    ],
)
def test_what_would_go_wrong_on_a_device_is_refused(driver, dst, src, says):
    with pytest.raises(ValueError, match=says):
        device.copy(dst, src)
    assert not driver.launched


@pytest.mark.skipif(bool(device.unavailable()), reason=f"no copy on a GPU here: {device.unavailable()}")
@relaxed
@given(pairs())
def test_copies_on_the_device_are_numpys(pair):
    torch = pytest.importorskip("torch")
    dst, memory = pair.dst.laid(pair.shape, TYPES[pair.itemsize], None)
    src, source = pair.src.laid(pair.shape, TYPES[pair.itemsize], 7)
    assume(normal(dst.shape, dst.strides, src.strides, dst.itemsize).writes_once)
    wanted = expected(dst, src, memory)
    there = [torch.from_numpy(around).cuda() for around in (memory, source)]
    told = [
        Told(array.shape, array.strides, array.dtype.str, on.data_ptr() + array.ctypes.data - around.ctypes.data)
        for array, around, on in zip((dst, src), (memory, source), there, strict=True)
    ]
    device.copy(*told)
    assert np.array_equal(there[0].cpu().numpy(), wanted)
