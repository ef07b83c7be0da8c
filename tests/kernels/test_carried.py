"""Transposes to rows that begin anywhere in a line: the right bytes are stored, and nothing beside them."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.carried_plan import carried_plan
from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, A_INNER, B_CHUNK, B_INNER, DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.plans import LINE, Host

from .arrays import TYPES, Pair, Side, expected, fenced, needs_fences
from .tiling import permuted

relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
INTEL = Host(width=64, first_bytes=48 << 10, cache_bytes=3 << 20, intel=True, window=64)
LARGE_FIRST = replace(INTEL, intel=False)
needs_permutations = pytest.mark.skipif(
    machine.window_bytes(machine.vector_bytes()) < LINE,
    reason="this processor cannot put any bytes of two registers together (AVX-512 VBMI)",
)


def planned(dst, src, host=INTEL):
    """The plan, though the arrays may be too small for it, and whatever processor this is."""
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    near = [k for k, d in enumerate(form.dims[:-1]) if abs(d.src) == form.item]
    if not near or form.dims[-1].dst != form.item:
        return None
    phase = (dst.ctypes.data + form.dst_shift) % LINE
    return carried_plan(form, near[0], replace(host, dst_phase=phase))


@st.composite
def rows_anywhere(draw):
    """Pairs whose source is in one piece along a dimension of 8 to 300 items, and long rows of odd length elsewhere."""
    itemsize = draw(st.sampled_from(sorted(TYPES)))
    columns = draw(st.sampled_from([8, 15, 16, 17, 31, 32, 33, 48, 64, 100, 300]))
    rows = draw(
        st.sampled_from(
            [(45,), (150,), (300,), (513,), (700,), (1001,), (2049,), (4200,), (9, 65), (33, 17), (7, 9, 11), (70, 66)]
        )
    )
    outer = draw(st.sampled_from([(), (2,), (3, 2)]))
    shape = (*outer, columns, *rows)
    if prod(shape) > 500_000:
        shape = shape[len(outer) :]
    ndim = len(shape)
    at = ndim - len(rows) - 1
    others = draw(st.permutations([k for k in range(ndim) if k != at]))
    turned = draw(st.sampled_from([1, 1, 1, -1]))
    src = Side((*others, at), tuple(turned if k == at else 1 for k in range(ndim)), draw(st.sampled_from([0, 1, 16])))
    steps = tuple(draw(st.sampled_from([1, 1, 2])) if k < at else 1 for k in range(ndim))
    return Pair(itemsize, shape, Side(tuple(range(ndim)), steps, draw(st.sampled_from([0, 16, 8, 5, 63]))), src)


@needs_permutations
@relaxed
@given(st.data(), st.sampled_from([INTEL, LARGE_FIRST]), st.sampled_from([1, 2, 8]))
def test_the_same_bits_for_any_length_phase_and_number_of_threads(data, host, threads):
    pair = data.draw(rows_anywhere())
    dst, src, memory = pair.arrays()
    plan = planned(dst, src, host)
    assume(plan is not None)
    wanted = expected(dst, src, memory)
    assert engine.Ready(plan, 64)(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(memory, wanted)


@needs_permutations
@pytest.mark.parametrize("itemsize", sorted(TYPES))
@pytest.mark.parametrize("phase", [0, 16, 48])
@pytest.mark.parametrize(
    ("columns", "rows"), [(64, 785), (256, 1001), (16, 4097), (47, 1042), (32, 603), (110, 4161), (64, 2050)]
)
def test_rows_of_any_length(columns, rows, phase, itemsize):
    """More than a line or less than one left over behind whole blocks, rows that follow each other or are cut."""
    bits = np.random.default_rng(1).integers(0, 256, 3 * columns * rows * itemsize, np.uint8)
    src = bits.view(TYPES[itemsize]).reshape(3, rows, columns).transpose(0, 2, 1)
    memory = np.full(src.nbytes + 4 * LINE, 0xA5, np.uint8)
    at = LINE + -memory.ctypes.data % LINE + phase
    dst = memory[at : at + src.nbytes].view(src.dtype).reshape(src.shape)
    plan = planned(dst, src)
    assert plan is not None
    assert engine.Ready(plan, 64)(engine.cell(dst), engine.cell(src), 1) == DONE
    assert dst.tobytes() == np.ascontiguousarray(src).tobytes()
    assert (memory[:at] == 0xA5).all()
    assert (memory[at + src.nbytes :] == 0xA5).all()


@needs_permutations
@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize(("columns", "rows"), [(64, 785), (16, 1001), (32, 2115)])
def test_nothing_is_read_or_written_beside_the_arrays(columns, rows, itemsize, at_end):
    """Source and target end where memory may not be touched, or begin there."""
    src = fenced(columns * rows * itemsize, at_end)
    src[...] = np.random.default_rng(5).integers(0, 256, src.size, np.uint8)
    source = src.view(TYPES[itemsize]).reshape(rows, columns).T
    dst = fenced(columns * rows * itemsize, at_end).view(TYPES[itemsize]).reshape(columns, rows)
    plan = planned(dst, source)
    assert plan is not None
    assert engine.Ready(plan, 64)(engine.cell(dst), engine.cell(source), 1) == DONE
    assert dst.tobytes() == np.ascontiguousarray(source).tobytes()


@pytest.mark.parametrize(
    ("shape", "order", "itemsize", "kernel"),
    [
        ((300, 28, 28, 256), (0, 3, 1, 2), 1, "carried"),  # rows of 784 bytes
        ((160, 28, 28, 256), (0, 3, 1, 2), 2, "carried"),
        ((80, 14, 14, 512), (0, 3, 1, 2), 8, "carried"),
        ((1042, 30, 33, 28), (0, 3, 1, 2), 2, "carried"),  # few columns
        ((160, 56, 56, 64), (0, 3, 1, 2), 2, "transpose"),  # whole lines
        ((900, 20, 20, 256), (0, 3, 1, 2), 1, "carried"),  # rows of 400 bytes, of whole lines of the source
        ((900, 20, 20, 96), (0, 3, 1, 2), 1, "transpose"),  # short rows, and short ones of the source
        ((900, 14, 14, 256), (0, 3, 1, 2), 1, "carried"),  # rows of 196 bytes
        ((900, 13, 13, 256), (0, 3, 1, 2), 1, "transpose"),  # of 169
        ((160, 14, 14, 33), (0, 3, 1, 2), 4, "transpose"),  # three squares of 16 where 33 columns are
        ((80, 30, 30, 20), (0, 3, 1, 2), 4, "transpose"),  # two squares of 16 where 20 columns are
    ],
)
def test_what_is_carried(shape, order, itemsize, kernel):
    assert permuted(shape, order, itemsize, INTEL).kernel == kernel


@pytest.mark.parametrize("other", [{"window": 16}, {"cache_bytes": 1 << 40}])
def test_not_elsewhere(other):
    """Neither without the permutation, nor within the caches."""
    assert permuted((300, 28, 28, 256), (0, 3, 1, 2), 1, replace(INTEL, **other)).kernel == "transpose"


@pytest.mark.parametrize(("itemsize", "kernel"), [(1, "carried"), (2, "transpose"), (4, "transpose"), (8, "carried")])
def test_rows_that_begin_at_one_place_of_all_lines(itemsize, kernel):
    """Some are carried, too, but for those long ones whose whole lines are transposed, beside strips at both ends."""
    phase16 = replace(INTEL, dst_phase=16)
    assert permuted((28, 16, 1000, 64), (3, 1, 2, 0), itemsize, phase16).kernel == kernel
    assert permuted((160, 56, 56, 64), (0, 3, 1, 2), itemsize, phase16).kernel == "transpose"


@pytest.mark.parametrize(
    ("itemsize", "intel", "nbytes"),
    [
        (1, True, 1024), (2, True, 256), (4, True, 512), (8, True, 512),
        (1, False, 1024), (2, False, 1024), (4, False, 1024), (8, False, 1024),
    ],
)  # fmt: skip
def test_how_much_of_a_source_row_makes_a_tile(itemsize, intel, nbytes):
    """On Intel's processors, and on AMD's family 26."""
    plan = permuted((2000, 1111, 2048), (0, 2, 1), itemsize, replace(INTEL, intel=intel))
    assert (plan.kernel, plan.descriptor[A_CHUNK] * itemsize) == ("carried", nbytes)


@pytest.mark.parametrize(
    ("rows", "row", "itemsize", "kernel"),
    [
        (300, 7168, 1, "carried"),
        (250, 7168, 1, "transpose"),
        (300, 16384, 1, "transpose"),  # 16 KB apart, 16 of a block's rows fall into one set of the second-level cache
        (520, 16384, 1, "carried"),
        (150, 7168, 2, "carried"),
        (150, 16384, 2, "transpose"),
        (70, 7168, 4, "carried"),
        (60, 7168, 4, "transpose"),
        (60, 16384, 4, "carried"),
        (39, 16384, 4, "transpose"),
        (30, 7168, 8, "transpose"),
        (30, 32768, 8, "carried"),
    ],
)
def test_how_short_rows_are_carried_on_family_26(rows, row, itemsize, kernel):
    """Of small items shorter ones where source rows lie in many sets, of large items where they lie in few."""
    plan = permuted((60_000_000 // (rows * row), rows, row // itemsize), (0, 2, 1), itemsize, LARGE_FIRST)
    assert plan.kernel == kernel


def test_the_last_chunk_of_a_dimension_holds_a_block_too():
    """Chunks of 4096 bytes would leave 16 of each row."""
    plan = permuted((200, 4112 * 3 + 1, 64), (0, 2, 1), 1, INTEL)
    for length, chunk, inner, block in ((4112 * 3 + 1, B_CHUNK, B_INNER, 64), (64, A_CHUNK, A_INNER, 16)):
        assert plan.kernel == "carried"
        assert plan.descriptor[inner] == 1
        assert length % plan.descriptor[chunk] == 0 or length % plan.descriptor[chunk] >= block
