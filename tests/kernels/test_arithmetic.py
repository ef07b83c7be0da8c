"""Strided arithmetic is NumPy's, whatever the layouts; sums are right to rounding."""

from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl import kernels
from stridecheck.reference_impl.kernels import arithmetic, elementwise_plan, machine, planner, plans
from stridecheck.reference_impl.kernels.descriptor import IN_BYTES, STAGE_IN
from stridecheck.reference_impl.kernels.elementwise_plan import (
    BINARY,
    REDUCTIONS,
    UNARY,
    form_of,
    reduced_form,
    regions,
)
from stridecheck.reference_impl.kernels.normal import Normal
from stridecheck.reference_impl.kernels.plans import Choice

from .arrays import expected, fenced, needs_fences, pairs

NUMPY = {
    "neg": np.negative, "abs": np.absolute, "square": np.square, "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "relu": lambda x: np.where(x < 0, np.zeros((), x.dtype), x),
    "maximum": lambda x, y: np.where((x >= y) | (x != x), x, y),
    "minimum": lambda x, y: np.where((x <= y) | (x != x), x, y),
}  # fmt: skip
"""NumPy's results; where it does not say which of two zeros is the larger, the first is."""
KINDS = {1: ("i1",), 2: ("u2",), 4: ("f4",), 8: ("f8",)}
ODD = (np.nan, np.inf, -np.inf, -0.0, 0.0)
quick = settings(max_examples=40, deadline=None)


@contextmanager
def small_tiles(past_the_caches: bool):
    """Tiles of some hundred bytes, cut at all edges of small arrays; as if the caches kept next to nothing, or all."""
    host = replace(machine.host(), cache_bytes=1 << (10 if past_the_caches else 30))
    sizes = {"_TILE": 1024, "_BUFFERED_TILE": 512, "_RUN": 64, "_TOGETHER": 32, "FOLDED": 600}
    with ExitStack() as stack:
        stack.enter_context(patch.multiple(elementwise_plan, **sizes))
        if past_the_caches:
            stack.enter_context(patch.multiple(arithmetic, _PARTED=256, _READ=2))
        stack.enter_context(patch.object(machine, "host", lambda: host))
        for forget in (
            arithmetic._operations.clear, arithmetic._elementwise.cache_clear, arithmetic._reduction.cache_clear
        ):  # fmt: skip
            forget()
            stack.callback(forget)
        yield


def fill(array, seed):
    """Numbers of all sizes; of floating-point ones some that are none, or zero."""
    draws = np.random.default_rng(seed)
    if array.dtype.kind == "f":
        values = draws.integers(-50, 50, array.shape).astype(array.dtype)
        odd = draws.integers(0, 40, array.shape)
        for k, value in enumerate(ODD):
            values[odd == k] = value
    else:
        info = np.iinfo(array.dtype)
        values = draws.integers(info.min, info.max, array.shape, array.dtype, endpoint=True)
    array[...] = values


@st.composite
def operations(draw):
    """A target, its memory, and two operands, of which the second may be repeated to fill the shape."""
    pair = draw(pairs(4000, (1, 2, 4, 8)))
    kind = draw(st.sampled_from(KINDS[pair.itemsize]))
    out, memory = pair.dst.laid(pair.shape, kind, None)
    x, _ = pair.src.laid(pair.shape, kind, 0)
    repeated = draw(st.lists(st.booleans(), min_size=len(pair.shape), max_size=len(pair.shape)))
    order = draw(st.permutations(range(len(pair.shape))))
    shape = [1 if once else n for n, once in zip(pair.shape, repeated, strict=True)]
    y = np.zeros([shape[d] for d in order], kind).transpose(np.argsort(order))
    # An operand that holds one element several times is filled by whichever comes last.
    fill(x, 1)
    fill(y, 2)
    return out, memory, x, y


@pytest.mark.parametrize("past_the_caches", [False, True])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
@quick
@given(operations())
def test_each_operation_is_numpys_bit_for_bit(name, past_the_caches, operation):
    out, memory, x, y = operation
    operands = (x,) if name in UNARY else (x, y)
    with np.errstate(all="ignore"):
        wanted = expected(out, NUMPY[name](*operands), memory)
    with small_tiles(past_the_caches):
        (arithmetic.unary if name in UNARY else arithmetic.binary)(name, out, *operands)
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_each_dtype_is_compared_as_its_own(kind):
    x, y = np.zeros((2, 5, 77), kind)
    fill(x, 1)
    fill(y, 2)
    out = np.zeros_like(x)
    arithmetic.binary("minimum", out, x, y)
    assert np.array_equal(out, NUMPY["minimum"](x, y), equal_nan=True)


@pytest.mark.parametrize("past_the_caches", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
@quick
@given(operations(), st.data())
def test_reductions_over_any_dimensions(name, past_the_caches, operation, data):
    _, _, x, _ = operation
    axes = tuple(data.draw(st.sets(st.sampled_from(range(x.ndim)))))
    if name == "sum":
        x[...] = np.nan_to_num(x) % 3
    elif name == "prod":
        # Few are not 1, so that products stay exact, too.
        x[...] = np.where(np.nan_to_num(x) % 64 == 1, 2, 1)
    out = np.zeros([1 if d in axes else n for d, n in enumerate(x.shape)], x.dtype)[::-1]
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x, axis=axes, keepdims=True, **({} if "a" in name else {"dtype": x.dtype}))
    with small_tiles(past_the_caches):
        arithmetic.reduce(name, out, x, axes)
    assert np.array_equal(out, wanted, equal_nan=out.dtype.kind == "f")


@pytest.mark.parametrize("kind", ["i1", "u4", "f4", "f8"])
@pytest.mark.parametrize("rows", [3, 4, 9, 23])
@pytest.mark.parametrize("columns", [65, 1000])
@pytest.mark.parametrize("repeated", ["", "rows", "columns"])
def test_rows_are_added_to_one_in_their_order(kind, rows, columns, repeated):
    """Some of them at once; to the last bit, with infinities and signed zeros among them. Short rows are folded."""
    rng = np.random.default_rng(rows)
    x = (rng.standard_normal((rows, columns)) * 100).astype(kind)
    if kind[0] == "f":
        x[rng.random(x.shape) < 0.1] = -0.0
        x[rng.random(x.shape) < 0.02] = np.inf
    if repeated:
        x = np.broadcast_to(x[:1] if repeated == "rows" else x[:, :1], x.shape)
    for name, add in (("sum", np.add), ("amax", np.maximum)):
        out, wanted = np.zeros((1, columns), kind), np.zeros(columns, kind) if name == "sum" else x[0].copy()
        for row in x:
            wanted = add(wanted, row)
        arithmetic.reduce(name, out, x, (0,))
        assert out[0].tobytes() == wanted.tobytes()


def in_two_parts(form, host, choice):
    """A plan of a copy that is made of two."""
    if not form.dims:
        return planner.plan_for(form, host, choice)
    first = form.dims[0]
    half = first.length // 2
    parts = []
    for start, length in ((0, half), (half, first.length - half)):
        shifts = form.dst_shift + start * first.dst, form.src_shift + start * first.src
        part = Normal((first._replace(length=length), *form.dims[1:]), form.item, *shifts)
        parts.append(planner.plan_for(part, host, choice))
    return plans.beside(form, parts)


@quick
@given(operations())
def test_a_side_that_is_copied_in_several_parts(operation):
    out, memory, x, y = operation
    with np.errstate(all="ignore"):
        wanted = expected(out, x - y, memory)
    with small_tiles(False), patch.object(arithmetic, "plan_for", in_two_parts):
        arithmetic.binary("sub", out, x, y)
    assert np.array_equal(memory, wanted)


@quick
@given(operations())
def test_regions_hold_each_element_once(operation):
    out, _, x, y = operation
    strides = [a.strides for a in (out, x, np.broadcast_to(y, out.shape))]
    with small_tiles(False):
        form = form_of(out.shape, strides, out.itemsize)
        found = [at for region in regions(form) for at in _places(form, region)]
    wanted = [
        tuple(sum(i * s for i, s in zip(index, side, strict=True)) for side in strides)
        for index in np.ndindex(out.shape)
    ]
    assert Counter(found) == Counter(wanted)


def _places(form, region):
    """Offsets on all sides of the elements of a region's tiles."""
    dims = [*region.outer, *region.tile]
    for index in product(*(range(d.length) for d in dims)):
        yield tuple(
            shift + start + sum(i * d.steps[k] for i, d in zip(index, dims, strict=True))
            for k, (shift, start) in enumerate(zip(form.shifts, region.starts, strict=True))
        )


def test_what_lies_across_goes_through_a_buffer():
    assert form_of((900, 900), ((3600, 4), (3600, 4), (4, 3600)), 4).buffered == {2}
    # Where two operands do, their order is the better one only if a third side agrees: to read across is cheaper.
    assert form_of((900, 900), ((4, 3600), (3600, 4), (3600, 4)), 4).buffered == {1, 2}
    # A bias of three channels, which stands still elsewhere, would make rows of three.
    assert form_of((9000, 3), ((12, 4), (12, 4), (0, 4)), 4).buffered == {2}
    assert form_of((900, 900), ((3600, 4), (3600, 4), (4, 0)), 4).buffered == frozenset()
    assert form_of((900, 900), ((7200, 8), (7200, 8), (7200, 8)), 4).by_items
    # Sums over few columns: rows of columns are made first.
    assert reduced_form((9000, 3), (12, 4), (1,), 4)[1].buffered == {1}
    assert reduced_form((900, 900), (3600, 4), (0,), 4)[1].dims[-1].steps == (4, 4)


@pytest.mark.parametrize("parted", [1 << 20, 1 << 40], ids=["in parts", "whole"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_sums_are_right_to_rounding_and_the_same_with_any_number_of_threads(kind, parted, monkeypatch):
    monkeypatch.setattr(arithmetic, "_PARTED", parted)
    arithmetic._reduction.cache_clear()
    x = np.random.default_rng(1).random((300, 7, 500)).astype(kind)
    for array in (x, x.transpose(2, 0, 1), x[:, :, ::-3]):
        for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            out = np.zeros([1 if d in axes else n for d, n in enumerate(array.shape)], kind)
            found = []
            for threads in (1, 2, 8):
                kernels.set_threads(threads)
                try:
                    arithmetic.reduce("sum", out, array, axes)
                finally:
                    kernels.set_threads(1)
                found.append(out.copy())
            assert np.allclose(found[0], array.sum(axes, np.float64, keepdims=True), rtol=32 * np.finfo(kind).eps)
            assert all(np.array_equal(found[0], other) for other in found)


@pytest.mark.parametrize(("shape", "axes"), [((2_500_001,), (0,)), ((1703, 1500), (0,)), ((2, 1_300_000), (0, 1))])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_few_results_are_reduced_in_parts_that_threads_share(shape, axes, name):
    x = np.ones(shape, np.float32)
    x[-1] = 1 + (np.arange(x[-1].size) % 1000 == 7).reshape(x[-1].shape)
    out = np.zeros([1 if d in axes else n for d, n in enumerate(shape)], np.float32)
    kernels.set_threads(2)
    try:
        arithmetic._reduction.cache_clear()
        with (
            patch.object(arithmetic, "_PARTED", 4 << 20),
            patch.object(arithmetic, "share", wraps=arithmetic.share) as share,
        ):
            arithmetic.reduce(name, out, x, axes)
    finally:
        kernels.set_threads(1)
        arithmetic._reduction.cache_clear()
    assert max(call.args[1] for call in share.call_args_list) >= 8
    with np.errstate(over="ignore"):
        assert np.array_equal(out, getattr(np, name)(x, axis=axes, keepdims=True))


def test_parts_are_of_the_outermost_dimension_that_leaves_little_over():
    def parted(shape, strides):
        ones = (1,) * len(shape)
        return arithmetic._reduction.__wrapped__(
            "sum", np.dtype("f8"), ones, (8,) * len(shape), shape, strides, tuple(range(len(shape)))
        ).parted

    assert parted((41, 64, 56, 56), (1605632, 8, 28672, 512)) == 0
    assert parted((9, 1_000_000), (8_000_000, 8)) == 1
    assert parted((1000, 1000), (8000, 8)) is None


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_share_an_operation(threads):
    x, y = np.random.default_rng(1).random((2, 700, 900))
    out = np.zeros((700, 900))
    kernels.set_threads(threads)
    try:
        arithmetic.binary("mul", out, x, y.reshape(900, 700).T)
    finally:
        kernels.set_threads(1)
    assert np.array_equal(out, x * y.reshape(900, 700).T)


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("kind", ["u1", "i2", "f4", "f8"])
def test_nothing_is_touched_beyond_the_ends(kind, at_end):
    for rows, columns in ((1, 1), (3, 5), (70, 90), (1, 1000), (130, 257)):
        nbytes = rows * columns * np.dtype(kind).itemsize
        out, x, y = (fenced(nbytes, at_end).view(kind) for _ in range(3))
        fill(x, 1)
        fill(y, 2)
        shapes = (rows, columns), (rows, columns), (columns, rows)
        out, x, y = (a.reshape(shape) for a, shape in zip((out, x, y), shapes, strict=True))
        with np.errstate(all="ignore"):
            for layouts in ((out, x, y.T), (out[:, ::2], x[:, ::2], y.T[:, ::2]), (out[::-1, ::-1], x, y.T[:1])):
                with small_tiles(True):
                    arithmetic.binary("add", *layouts)
                assert np.array_equal(layouts[0], layouts[1] + layouts[2], equal_nan=True)
            for axes in ((0,), (1,), (0, 1)):
                with small_tiles(True):
                    reduced = np.zeros([1 if d in axes else n for d, n in enumerate(x.shape)], kind)
                    arithmetic.reduce("amin", reduced, x, axes)
                assert np.array_equal(reduced, np.amin(x, axis=axes, keepdims=True), equal_nan=True)


@st.composite
def neighbours(draw):
    """A matrix, and three squares of it, of which any may share elements."""
    memory = np.arange(576, dtype=draw(st.sampled_from(["i2", "f8"]))).reshape(24, 24)
    n, squares = draw(st.integers(1, 9)), []
    for _ in range(3):
        starts, steps, turns = (draw(st.tuples(values, values)) for values in (st.integers(0, 5), *_STEPS))
        square = memory[tuple(slice(a, a + n * k, k) for a, k in zip(starts, steps, strict=True))]
        square = square[tuple(slice(None, None, turn) for turn in turns)]
        squares.append(square.T if draw(st.booleans()) else square)
    return memory, squares


_STEPS = (st.integers(1, 2), st.sampled_from([1, -1]))


@given(neighbours(), st.booleans())
def test_operands_that_overlap_the_target_are_read_first(found, once):
    memory, (out, x, y) = found
    wanted = memory.copy()
    place = np.ndarray(out.shape, out.dtype, wanted, out.ctypes.data - memory.ctypes.data, out.strides)
    with small_tiles(False):
        # Twice, since layouts that are known are looked at, too.
        for _ in range(2):
            place[...] = (out if once else x) - y
            arithmetic.binary("sub", out, out if once else x, y)
            assert np.array_equal(memory, wanted)
        place[...] = -x
        arithmetic.unary("neg", out, x)
        assert np.array_equal(memory, wanted)


def test_what_overlaps_is_found_among_layouts_that_are_known():
    memory = np.arange(100.0)
    arithmetic.unary("neg", memory[:50], memory[50:])
    arithmetic.unary("neg", memory[:50], memory[:50])
    part = memory[:50]
    arithmetic.unary("neg", part, part)
    wanted = -memory[1:51]
    arithmetic.unary("neg", memory[:50], memory[1:51])
    assert np.array_equal(memory[:50], wanted)
    wanted = memory[:50] - memory[49:99]
    arithmetic.binary("sub", memory[:50], memory[:50], memory[49:99])
    assert np.array_equal(memory[:50], wanted)


def test_one_element_is_enough_to_overlap():
    memory = np.arange(100.0)
    for out, x in ((memory[49:99], memory[:50]), (memory[:50], memory[49:99]), (memory[98:48:-1], memory[49::-1])):
        wanted = -x
        arithmetic.unary("neg", out, x)
        assert np.array_equal(out, wanted)


def test_a_matrix_and_itself_transposed():
    a = np.arange(10000.0).reshape(100, 100)
    wanted = a - a.T
    with small_tiles(False):
        arithmetic.binary("sub", a, a, a.T)
    assert np.array_equal(a, wanted)


@pytest.mark.parametrize("nbytes", [16_376, 16_384, 16_392, 22_624, 49_152, 262_152])
@pytest.mark.parametrize("kind", ["int16", "int64", "float64"])
def test_rows_longer_than_what_is_folded_at_once(nbytes, kind):
    """All of each, to the last item: whole pieces, more than two of them, and what a tile leaves over."""
    x = np.random.default_rng(nbytes).integers(-50, 50, (3, nbytes // np.dtype(kind).itemsize)).astype(kind)
    x[:, -1] = 99
    for name in ("sum", "amax"):
        out = np.zeros((3, 1), kind)
        arithmetic.reduce(name, out, x, (1,))
        assert np.array_equal(
            out, getattr(np, name)(x, axis=1, keepdims=True, **({} if "a" in name else {"dtype": kind}))
        )


def test_a_reduction_into_its_operand():
    a = np.arange(10000.0).reshape(100, 100)
    wanted = a.sum(0, keepdims=True)
    arithmetic.reduce("sum", a[:1], a, (0,))
    assert np.array_equal(a[:1], wanted)


def test_no_memory_for_buffers():
    x = np.ones((300, 200))
    operation = arithmetic._elementwise("neg", x.dtype, x.T.shape, ((2400, 8), x.T.strides), (False,))
    for _, _, _, (row, _) in operation._calls:
        row[elementwise_plan.BUFFERS] = 1 << 60
    with pytest.raises(MemoryError, match="no memory for the buffers of a tile"):
        operation(np.zeros((200, 300)), x.T)


@pytest.mark.skipif(machine.host().width == 0, reason="without wide registers no copy takes a buffer of its own")
def test_no_memory_for_the_copy_to_a_buffer():
    """Nothing is made of what the buffer held before."""
    x, out = np.ones((300, 200)), np.zeros((200, 300))
    with patch.object(arithmetic, "_CACHED", Choice(streamed=0, staged=STAGE_IN)):
        operation = arithmetic._elementwise.__wrapped__("neg", x.dtype, out.shape, (out.strides, x.T.strides), (False,))
    for _, _, _, (_, copies) in operation._calls:
        for ready, _ in copies:
            assert ready.plan.staged & STAGE_IN
            ready.plan.descriptor[IN_BYTES] = 1 << 60
    with pytest.raises(MemoryError, match="no memory for the buffers of a tile"):
        operation(out, x.T)
    assert not out.any()


def test_in_place():
    a = np.random.default_rng(1).random((1000, 1000)).T
    wanted = np.square(a)
    with small_tiles(True):
        arithmetic.unary("square", a, a)
    assert np.array_equal(a, wanted)


def test_empty_ones_and_scalars():
    out = np.full((2, 1), 7.0)
    for name, neutral in (("sum", 0), ("prod", 1)):
        arithmetic.reduce(name, out, np.zeros((2, 0)), (1,))
        assert (out == neutral).all()
    arithmetic.binary("add", np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(3))
    arithmetic.reduce("amax", np.zeros((0, 1)), np.zeros((0, 3)), (1,))
    one = np.zeros(())
    arithmetic.binary("sub", one, np.array(5.0), np.array(2.0))
    assert one == 3
    arithmetic.reduce("sum", one, np.array(-0.0), ())
    assert not np.signbit(one)


def test_fills_leave_what_lies_between():
    memory = np.zeros((200, 300), np.int16)
    arithmetic.fill(memory[::2, ::3].T, 5)
    assert memory.sum() == 5 * 100 * 100
    assert (memory[::2, ::3] == 5).all()


def test_what_cannot_be_done_is_said():
    one = np.ones(4)
    frozen = np.ones(4)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="no operation 'log'; there are neg, abs, relu, square"):
        arithmetic.unary("log", one, one)
    with pytest.raises(ValueError, match="dtypes float64, float32"):
        arithmetic.unary("neg", one, np.ones(4, np.float32))
    with pytest.raises(ValueError, match="may hold one element twice"):
        arithmetic.unary("neg", np.lib.stride_tricks.as_strided(one, (4,), (0,)), one)
    with pytest.raises(ValueError, match="may hold one element twice"):
        arithmetic.reduce("sum", np.lib.stride_tricks.as_strided(one, (4, 1), (0, 8)), np.ones((4, 5)), (1,))
    # A scalar of NumPy's has a dtype, a shape and strides, but no memory where an array has it.
    arithmetic.binary("add", np.zeros(4), one, np.array(2.5))
    with pytest.raises(TypeError, match="add: ndarray, ndarray, float64; should all be arrays"):
        arithmetic.binary("add", np.zeros(4), one, np.float64(2.5))
    with pytest.raises(TypeError, match="neg: ndarray, list; should all be arrays"):
        arithmetic.unary("neg", one, [1.0])
    with pytest.raises(TypeError, match="sum: float, ndarray; should all be arrays"):
        arithmetic.reduce("sum", 1.0, one, (0,))
    with pytest.raises(ValueError, match="sum: axis 5 is out of bounds"):
        arithmetic.reduce("sum", one, one, (5,))
    with pytest.raises(ValueError, match=r"an operand of shape \(2, 4\) does not broadcast to \(4,\)"):
        arithmetic.binary("add", one, one, np.ones((2, 4)))
    # Of layouts that are known, too.
    arithmetic.unary("neg", np.ones(4), one)
    with pytest.raises(ValueError, match="out is read-only"):
        arithmetic.unary("neg", frozen, one)
    with pytest.raises(ValueError, match=r"amax: shape \(0,\) has no elements"):
        arithmetic.reduce("amax", np.zeros(1), np.zeros(0), (0,))
    with pytest.raises(ValueError, match=r"sum: out has shape \(4,\), should be \(1,\)"):
        arithmetic.reduce("sum", one, one, (0,))
