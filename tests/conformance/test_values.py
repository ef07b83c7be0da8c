"""Storages, scalars and foreign arrays as values: what is seen of them, whose memory they lie in, and how they end."""

from __future__ import annotations

import gc
import json
import warnings

import pytest
from stridecheck.conformance import observation
from stridecheck.conformance.adapters.reference import Reference
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.campaign import Campaign
from stridecheck.conformance.execute import Execution, execute
from stridecheck.conformance.expectations import Expectations
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import ForeignState, StorageObject
from stridecheck.conformance.program import DType, File, Input, Program, Ref, Slice, Step, Storage
from stridecheck.conformance.protocol import Undefined
from stridecheck.conformance.rules import catalogue
from stridecheck.conformance.runner import Worker
from stridecheck.conformance.units import Unit
from stridecheck.reference_impl.shadow import EXACT, UNSPECIFIED

X = Ref(0)
ROW = (Storage(32),), (Input("float32", (4,), (1,), 2),)


def _program(*steps, storages=ROW[0], inputs=ROW[1]):
    program = Program(storages, inputs, steps)
    program.check()
    return program


@pytest.fixture(params=[Torch, Reference], ids=["torch", "reference"])
def library(request):
    return request.param()


@pytest.mark.filterwarnings("ignore")
def test_a_storage_says_which_memory_it_is_and_what_it_may_do(library):
    """A storage as a value has the name of the tensor's storage; what it may do changes when NumPy sees its memory."""
    steps = Step("untyped_storage", (X,)), Step("storage", (X,)), Step("numpy", (X,))
    _, untyped, typed, array = execute(_program(*steps), library)
    assert untyped.values == {"1": StorageObject("s0", 32, None, "r")}
    assert typed.values == {"2": StorageObject("s0", 32, "float32", "r")}
    assert array.values["1"].flags == array.values["2"].flags == ""


@pytest.mark.filterwarnings("ignore")
def test_the_same_storage_is_the_same_value(library):
    """A tensor's untyped storage is one object, its typed storage another each time."""
    steps = [Step(name, (X,)) for name in ("untyped_storage", "untyped_storage", "storage", "storage")]
    results = [o.results for o in execute(_program(*steps), library)[1:]]
    assert results == [(None,), ("1",), (None,), (None,)]


def test_a_part_of_a_storage_lies_in_it(library):
    """A slice is a storage of its own at a byte of another one, and a write through it shows in both."""
    steps = (
        Step("untyped_storage", (X,)),
        Step("UntypedStorage.__getitem__", (Ref(1), Slice(8, 16))),
        Step("UntypedStorage.fill_", (Ref(2), 7)),
    )
    *_, sliced, filled = execute(_program(*steps), library)
    assert sliced.storages["v2"].home == ("s0", 8)
    assert filled.storages["v2"].data == bytes([7] * 8)
    assert filled.storages["s0"].data[8:16] == bytes([7] * 8)


def test_a_clone_lies_in_memory_of_its_own(library):
    """What is copied has no home in other memory."""
    steps = Step("untyped_storage", (X,)), Step("UntypedStorage.clone", (Ref(1),))
    assert execute(_program(*steps), library)[-1].storages["v2"].home is None


@pytest.mark.filterwarnings("ignore")
def test_arrays_are_seen_by_strides_and_place_in_bytes(library):
    """An array over a tensor's memory: byte strides, also negative ones, its first element's byte, and its storage."""
    reverse = Step("ndarray.__getitem__", (Ref(1), (Slice(None, None, -1),)))
    copy = Step("ndarray.copy", (Ref(2),))
    *_, array, turned, copied = execute(_program(Step("numpy", (X,)), reverse, copy), library)
    seen = ForeignState("array", "<f4", 4, (4,), (4,), 8, "s0", True)
    assert array.values["1"] == seen
    assert turned.values["2"] == seen._replace(strides=(-4,), offset=20)
    assert copied.values["3"] == seen._replace(offset=0, storage="v3")
    assert copied.storages["v3"].home is None


@pytest.mark.filterwarnings("ignore")
def test_buffers_and_interfaces_are_seen_as_their_protocols_say(library):
    """A memoryview and an array interface of an array: their own notation, the same bytes."""
    steps = Step("numpy", (X,)), Step("memoryview", (Ref(1),)), Step("ndarray.__array_interface__", (Ref(1),))
    *_, buffer, interface = execute(_program(*steps), library)
    assert buffer.values["2"] == ForeignState("buffer", "f", 4, (4,), (4,), 8, "s0", True)
    assert interface.values["3"] == ForeignState("interface", "<f4", 4, (4,), None, 8, "s0", True, (3,))


def test_a_capsule_is_seen_until_it_is_used_up(library):
    """Of a DLPack capsule every field is seen; once it is consumed, its new name alone."""
    steps = Step("__dlpack__", (X,), (("max_version", (1, 0)),)), Step("from_dlpack", (Ref(1),))
    _, made, used = execute(_program(*steps), library)
    seen = made.values["1"]
    assert (seen.kind, seen.dtype, seen.shape, seen.strides, seen.offset) == ("capsule", "2.32.1", (4,), (4,), 8)
    assert seen.header == ("dltensor_versioned", 0, 1, 0, True, 1, 3, 0)
    assert used.values["1"] == ForeignState("capsule", header=("used_dltensor_versioned",))
    assert used.storages["v2"].home == ("s0", 8)


@pytest.mark.filterwarnings("ignore")
def test_a_scalar_can_be_used_by_later_steps(library):
    """A number that one step answers with is an operand of the next."""
    steps = Step("UntypedStorage.__getitem__", (Ref(1), 3)), Step("fill_", (X, Ref(2)))
    *_, item, filled = execute(_program(Step("untyped_storage", (X,)), *steps), library)
    assert item.results == (("scalar", "207"),)
    assert filled.raised is None
    assert filled.storages["s0"].data[8:12] == bytes.fromhex("00004f43")


@pytest.mark.filterwarnings("ignore")
def test_an_address_is_told_as_a_place(library):
    """What differs from run to run does not show: an address is a byte of some memory, or nothing."""
    steps = Step("data_ptr", (X,)), Step("UntypedStorage", (0,)), Step("UntypedStorage.data_ptr", (Ref(2),))
    _, tensor, _, nothing = execute(_program(*steps), library)
    assert tensor.results == (("address", "s0+8"),)
    assert nothing.results == (("address", "0"),)


@pytest.mark.filterwarnings("ignore")
def test_meta_storages_have_a_length_without_bytes(library):
    """A storage on meta lies nowhere, with the number of bytes that it would have."""
    steps = Step("empty", ((2, 3),), (("device", "meta"),)), Step("untyped_storage", (Ref(1),))
    _, tensor, storage = execute(_program(*steps), library)
    assert tensor.storages["v1"] == (b"", None, ("meta", 24))
    assert storage.values["2"] == StorageObject("v1", 24, None, "rm")


FILE = (*ROW[0], Storage(20, backing="file"))


def test_files_are_seen_as_they_lie_on_disk(library):
    """A write through a shared map reaches the file, one through a private map does not; missing files can appear."""
    steps = (
        Step("UntypedStorage.from_file", (File(1), True, 20)),
        Step("UntypedStorage.fill_", (Ref(1), 7)),
        Step("UntypedStorage.from_file", (File(1), False, 20)),
        Step("UntypedStorage.fill_", (Ref(3), 8)),
        Step("UntypedStorage.from_file", (File(5), True, 3)),
        Step("UntypedStorage.filename", (Ref(1),)),
    )
    _, mapped, shared, _, private, made, name = execute(_program(*steps, storages=FILE), library)
    assert mapped.values["1"].flags == "sf"
    assert shared.storages["file1"].data == bytes([7] * 20)
    assert set(private.storages) == {"v3"}
    assert made.storages["file5"].data == bytes(3)
    assert name.results == (("scalar", "'.../file1'"),)


def test_the_files_of_a_program_go_with_it(library):
    """The temporary files of a program are removed with what ran it; its folder serves the next one."""
    gc.collect()  # what other tests have left gives its folders back now
    execution = Execution(library, FILE, ROW[1])
    folder = execution._memory.folder
    assert (folder / "file1").is_file()
    del execution
    gc.collect()
    assert list(folder.iterdir()) == []
    assert Execution(library, FILE, ROW[1])._memory.folder == folder


def test_quantised_tensors_say_what_their_codes_mean(library):
    """Scheme, scale and zero point are part of what a quantised tensor is seen as."""
    step = Step("quantize_per_tensor", (X, 0.5, 3, DType("quint8")))
    assert execute(_program(step), library)[1].values["1"].quantizer == "per_tensor_affine 0.5 3"


@pytest.mark.filterwarnings("ignore")
def test_a_program_that_frees_what_others_look_at_is_not_run_on(library):
    """Where memory moves that a slice still addresses, nothing is defined any more."""
    steps = (
        Step("untyped_storage", (X,)),
        Step("UntypedStorage.__getitem__", (Ref(1), Slice(8, 16))),
        Step("UntypedStorage.resize_", (Ref(1), 1000)),
    )
    with pytest.raises(Undefined, match="moved or freed"):
        execute(_program(*steps), library)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("taken", ["numpy", "__array__", "numpy.asarray"])
def test_an_array_whose_memory_has_moved_says_nothing(taken, library):
    """Memory that is moved to other processes' reach is freed, and NumPy still looks at it."""
    with pytest.raises(Undefined, match="moved or freed"):
        execute(_program(Step(taken, (X,)), Step("share_memory_", (X,))), library)


CHANGES = (
    Step("set_", (X,)), Step("resize_", (X, (2,))), Step("resize_", (X, (5000,))), Step("unsqueeze_", (X, 0)),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES, ids=lambda step: step.op)
def test_a_capsule_says_nothing_once_its_tensor_has_other_sizes(change, library):
    """PyTorch's capsule points at the tensor's own sizes, at the memory that was there, and is left alone once used."""
    taken = Step("__dlpack__", (X,))
    with pytest.raises(Undefined, match=r"other sizes|moved or freed"):
        execute(_program(taken, change), library)
    copied = Step("__dlpack__", (X,), (("copy", True),))
    assert len(execute(_program(copied, change), library)) == 3
    assert len(execute(_program(taken, Step("from_dlpack", (Ref(1),)), Step("unsqueeze_", (X, 0))), library)) == 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["uint8", "int8", "bfloat16"])
def test_codes_under_another_dtype_are_looked_at_only(dtype, library):
    """PyTorch reads a quantizer that is not there when it makes a view or a copy of them."""
    seen = Step("quantize_per_tensor", (X, 0.5, 3, DType("qint8"))), Step("view", (Ref(1), DType(dtype)))
    assert len(execute(_program(*seen, Step("tolist", (Ref(2),)), Step("detach", (Ref(2),))), library)) == 5
    whole = Step("view", (Ref(2), DType("qint8")))
    for last in (whole, Step("view", (Ref(2), (-1,))), Step("add", (X, Ref(2))), Step("clone", (Ref(2),))):
        with pytest.raises(Undefined, match="no quantizer"):
            execute(_program(*seen, last), library)


@pytest.mark.filterwarnings("ignore")
def test_who_moves_away_by_itself_leaves_nothing_dangling(library):
    """An alias that is moved to shared memory lies in memory of its own from then on."""
    steps = Step("numpy", (X,)), Step("from_numpy", (Ref(1),)), Step("share_memory_", (Ref(2),))
    *_, aliased, moved = execute(_program(*steps), library)
    assert aliased.storages["v2"].home == ("s0", 8)
    assert moved.storages["v2"].home is None


def test_what_is_not_specified_is_known_to_all_who_see_it(oracle):
    """Fresh bytes are unspecified through every alias, until one of them writes."""
    steps = (
        Step("UntypedStorage", (8,)),
        Step("UntypedStorage.__getitem__", (Ref(1), Slice(4, 8))),
        Step("UntypedStorage.fill_", (Ref(2), 7)),
        Step("UntypedStorage.fill_", (Ref(1), 1)),
    )
    _, fresh, sliced, part, whole = execute(_program(*steps), oracle)
    assert set(fresh.storages["v1"].shadow) == set(sliced.storages["v2"].shadow) == {UNSPECIFIED}
    assert part.storages["v2"].shadow is None
    assert part.storages["v1"].shadow == bytes([UNSPECIFIED] * 4 + [EXACT] * 4)
    assert whole.storages["v1"].shadow is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["complex64", "float32", "float64"])
@pytest.mark.parametrize("wanted", ["uint8", "int16", "float32", "bool"])
def test_conversions_of_arrays_warn_of_nothing(dtype, wanted, oracle):
    """Numbers that do not fit and imaginary parts are dropped as NumPy does, which has said so itself."""
    inputs = (Input(dtype, (2, 1), (1, 2)),)
    steps = Step("numpy", (X,)), Step("ndarray.astype", (Ref(1), wanted)), Step("numpy.asarray", (X, wanted))
    program = _program(*steps, storages=(Storage(32),), inputs=inputs)
    seen = execute(program, oracle)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [o.values for o in execute(program, Torch())] == [o.values for o in seen]


def test_a_copy_of_unspecified_memory_says_nothing(oracle):
    """An array's own memory that was filled from unspecified bytes is not compared, nor what is made of it."""
    steps = (
        Step("empty", ((4,),)),
        Step("numpy", (Ref(1),)),
        Step("ndarray.copy", (Ref(2),)),
        Step("from_numpy", (Ref(3),)),
        Step("clone", (Ref(4),)),
    )
    *_, copied, imported, cloned = execute(_program(*steps), oracle)
    for name, seen in (("v3", copied), ("v4", imported), ("v5", cloned)):
        assert set(seen.storages[name].shadow) == {UNSPECIFIED}


MIXED = _program(
    Step("untyped_storage", (X,)),
    Step("numpy", (X,)),
    Step("from_numpy", (Ref(2),)),
    Step("UntypedStorage.from_file", (File(1), False, 8)),
    Step("__dlpack__", (X,)),
    Step("copy.deepcopy", ((X, Ref(1)),)),
    Step("TypedStorage", (), (("wrap_storage", Ref(1)), ("dtype", DType("int16")))),
    Step("frombuffer", (b"abcd",), (("dtype", DType("int16")),)),
    storages=FILE,
)


@pytest.mark.filterwarnings("ignore")
def test_programs_and_observations_of_all_kinds_survive_json(library):
    """Files, buffers, storages, arrays and capsules have an exact JSON form."""
    assert Program.from_json(json.loads(json.dumps(MIXED.to_json()))) == MIXED
    for seen in execute(MIXED, library):
        assert observation.from_json(json.loads(json.dumps(observation.to_json(seen)))) == seen


def _judged(wrong, *steps, storages=FILE):
    """(aspect, value) of each difference between the oracle and an adapter that does something wrong."""
    program = _program(*steps, storages=storages)
    verdicts = judge(program, execute(program, Reference()), execute(program, wrong()), Reference.capabilities)
    return {(d.aspect, d.value) for v in verdicts for d in v.differences}


def _doing(op, instead):
    class Wrong(Reference):
        def operation(self, step):
            return instead if step.op == op else super().operation(step)

    return Wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("op", "instead", "steps", "found"),
    [
        ("untyped_storage", lambda x: x.untyped_storage().clone(), (), {("sharing", "1")}),
        ("numpy", lambda x: x.clone().numpy(), (Step("numpy", (X,)),), {("sharing", "2"), ("layout", "2")}),
        ("numpy", lambda x: x.numpy()[::-1], (Step("numpy", (X,)),), {("strides", "2"), ("layout", "2")}),
        ("from_dlpack", lambda x: x.clone(), (Step("from_dlpack", (X,)),), {("sharing", "v2")}),
        ("UntypedStorage.nbytes", lambda s: 5, (Step("UntypedStorage.nbytes", (Ref(1),)),), {("values", "2")}),
        ("data_ptr", lambda x: x.data_ptr() + 4, (Step("data_ptr", (X,)),), {("sharing", "2")}),
        ("UntypedStorage.new", lambda s: s.clone(), (Step("UntypedStorage.new", (Ref(1),)),), {("shape", "2")}),
    ],
)
def test_what_a_library_does_otherwise_with_storages_and_arrays_is_told(op, instead, steps, found):
    """Another memory, other strides, a copy for a view, another number, another length: each in its aspect."""
    assert found <= _judged(_doing(op, instead), Step("untyped_storage", (X,)), *steps)


def test_a_write_that_the_file_does_not_get_is_told():
    """A library whose shared maps are private differs in the file."""
    wrong = _doing(
        "UntypedStorage.from_file", lambda *a: Reference().namespace.UntypedStorage.from_file(a[0], False, 20)
    )
    steps = Step("UntypedStorage.from_file", (File(1), True, 20)), Step("UntypedStorage.fill_", (Ref(1), 7))
    assert ("storage", "file1") in _judged(wrong, *steps)


@pytest.mark.filterwarnings("ignore")
def test_failures_of_storages_and_files_come_with_scripts(adapter_file):
    """A wrong storage, a wrong byte in a mapped file: the failure's script shows it on the library."""
    source = """
import torch
from stridecheck.conformance.adapters.torch import Torch

def wrong(self, value):
    return right(self, value + 1)

right, torch.UntypedStorage.fill_ = torch.UntypedStorage.fill_, wrong

class Mine(Torch):
    name = "mine"
    imports = f"import sys; sys.path.insert(0, {__file__.rpartition('/')[0]!r}); import mine; import torch"

adapter = Mine
"""
    with Worker(adapter_file(source)) as worker:
        worker.start()
        campaign = Campaign(worker, Reference(), catalogue(), Expectations())
        steps = (
            Step("UntypedStorage.from_file", (File(1), True, 20)),
            Step("UntypedStorage.fill_", (Ref(1), 7)),
        )
        unit = Unit("here", (_program(*steps, storages=FILE),), from_corpus=False)
        records = [record for found in campaign.run([unit]) for record in found]
    failure = next(record for record in records if getattr(record, "repro", ""))
    assert "tempfile" in failure.repro
    assert "r1" in failure.repro


@pytest.mark.filterwarnings("ignore")
def test_a_quantizer_that_cannot_be_read_is_unknown():
    """torch's resize_ to a size below zero raises, and leaves it: the list of such zero points is a SystemError."""
    steps = (
        Step("quantize_per_channel", (X, X, Ref(1), 0, DType("qint8"))),
        Step("resize_", (Ref(1), (-1,))),
    )
    storages, inputs = (
        (Storage(4), Storage(8, "index1")),
        (Input("float32", (1,), (1,)), Input("int64", (1,), (1,), storage=1)),
    )
    last = execute(_program(*steps, storages=storages, inputs=inputs), Torch())[-1]
    assert last.values["2"].quantizer == "unknown"
