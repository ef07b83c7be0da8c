"""Blocks: what a table picks from the source is what belongs there, and nothing beside the arrays is touched."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import DONE, JOINED, REGISTERS
from stridecheck.reference_impl.kernels.normal import Dim, normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host
from stridecheck.reference_impl.kernels.windows import NOT_HERE, block_of

from .arrays import TYPES, Pair, Side, expected, fenced, needs_fences

relaxed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WIDTHS = [width for width in (64, 32) if width <= machine.vector_bytes() and machine.window_bytes(width)]
NOWHERE = 1 << 60
LENGTHS = st.sampled_from([2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 28, 33, 48])


@st.composite
def small_matrices(draw, itemsizes=(1, 2, 4, 8)):
    """Pairs of 16 KB to 1 MB whose short dimensions change places; sources and targets may be stepped."""
    itemsize = draw(st.sampled_from(itemsizes))
    shape = draw(st.lists(LENGTHS, min_size=1, max_size=4).filter(lambda s: prod(s) * itemsize <= 50_000))
    shape.insert(draw(st.integers(0, len(shape))), (1 << 14) // (prod(shape) * itemsize) + draw(st.integers(1, 20)))
    ndim = len(shape)
    steps = st.sampled_from([1, 1, 1, 1, 1, 2, 5, -1, 0])
    src = Side(
        tuple(draw(st.permutations(range(ndim)))),
        tuple(draw(st.lists(steps, min_size=ndim, max_size=ndim))),
        draw(st.sampled_from([0, 16, 1])),
    )
    gaps = draw(st.sampled_from([(1,) * ndim, (1,) * ndim, (1,) * (ndim - 1) + (2,), (2,) + (1,) * (ndim - 1)]))
    dst = Side(tuple(range(ndim)), gaps, draw(st.sampled_from([0, 16, 8, 3])))
    return Pair(itemsize, tuple(shape), dst, src)


def taken(block, window):
    """Where each byte of a block lies in the source by its tables."""
    found, steps, index = np.full(block.nbytes, NOWHERE), block.steps.tolist(), iter(block.index)
    for _ in range(block.registers):
        start, number, *steps = steps
        firsts, steps = steps[:number], steps[number:]
        register = np.full(window, NOWHERE)
        for first in firsts:
            assert block.low <= first
            assert first + window <= block.high
            chosen = next(index)
            here = chosen != NOT_HERE
            assert (register[here] == NOWHERE).all()
            register[here] = first + chosen[here].astype(int)
        assert (register != NOWHERE).all()
        # Where registers overlap they agree.
        part = found[start : start + window]
        assert ((part == NOWHERE) | (part == register)).all()
        part[:] = register
    assert not steps
    assert next(index, None) is None
    return found


@relaxed
@given(small_matrices(), st.sampled_from([16, 64]), st.sampled_from([4, 16, 64]))
def test_tables_pick_each_byte_once_from_where_it_lies(pair, window, most):
    dst, src, _ = pair.arrays()
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    block = block_of(form, window, most)
    if block is None:
        return
    assert block.cost <= most
    assert block.nbytes >= LINE
    # The blocks and what is left over are the whole copy.
    cut = form.dims[block.cut]
    inner = list(reversed(form.dims[block.cut :]))
    inner[-1] = Dim(block.nbytes // (form.item * prod(d.length for d in inner[:-1])), cut.dst, cut.src)
    assert block.left == cut.length % inner[-1].length
    assert prod(d.length for d in block.dims) * block.nbytes == form.nbytes // cut.length * (cut.length - block.left)
    places = np.zeros(1, int)
    for d in inner:
        places = (np.arange(d.length)[:, None] * d.src + places).ravel()
    places = (places[:, None] + np.arange(form.item)).ravel()
    assert np.array_equal(taken(block, window), places)


@pytest.mark.parametrize("width", WIDTHS)
@relaxed
@given(st.data(), st.booleans(), st.sampled_from([1, 2]))
def test_copies_of_small_matrices_are_numpys(width, data, past_caches, threads):
    """Within the caches and past them, by any registers; each register's kernels are compiled for one size of items."""
    pair = data.draw(small_matrices(tuple(TYPES) if width == WIDTHS[0] else (1,)))
    dst, src, memory = pair.arrays()
    wanted = expected(dst, src, memory)
    copied(dst, src, width, past_caches, threads)
    assert np.array_equal(memory, wanted)


def copied(dst, src, width, past_caches, threads=1):
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    host = replace(
        machine.host(), width=width, window=machine.window_bytes(width),
        cache_bytes=0 if past_caches else 1 << 40, dst_phase=(dst.ctypes.data + form.dst_shift) % LINE,
    )  # fmt: skip
    plan = plan_for(form, host)
    assert engine.Ready(plan, width)(engine.cell(dst), engine.cell(src), threads) == DONE
    return plan


@pytest.mark.parametrize("past_caches", [False, True])
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((2001, 3, 4), (0, 2, 1)), ((2001, 4, 3), (0, 2, 1)), ((60, 9, 12, 4), (3, 1, 0, 2)),
        ((7, 400, 3, 9), (0, 1, 3, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("itemsize", [1, 4])
def test_small_matrices_are_moved_by_blocks(shape, order, itemsize, past_caches):
    """Short dimensions that change places: windows of the source, not items one by one."""
    if not WIDTHS:
        pytest.skip("registers of this machine pick no bytes")
    memory = np.random.default_rng(3).integers(0, 256, prod(shape) * itemsize, np.uint8).view(TYPES[itemsize])
    src = memory.reshape(shape).transpose(order)
    dst = np.zeros(src.shape, src.dtype)
    plan = copied(dst, src, WIDTHS[0], past_caches)
    assert dst.tobytes() == np.ascontiguousarray(src).tobytes()
    if WIDTHS[0] == machine.window_bytes(WIDTHS[0]):
        assert plan.descriptor[REGISTERS] > 0


@pytest.mark.parametrize(
    ("shape", "strides", "blocks"),
    [
        ((100_000, 20, 32), (640, 1, 20), True),  # eight windows to a line, from ten lines that all are read
        ((100_000, 16, 32), (640, 1, 20), False),  # of which a fifth is not
        ((8, 8_000_000), (1, 8), False),  # eight as well, but each from another line
        ((6, 8_000_000), (1, 6), True),
    ],
)
def test_a_small_matrix_may_take_more_windows_than_streams(shape, strides, blocks):
    dense = [prod(shape[k + 1 :]) for k in range(len(shape))]
    plan = plan_for(normal(shape, tuple(dense), strides, 1), Host(64, 3 << 20, 48 << 10, intel=True, window=64))
    assert bool(plan.descriptor[REGISTERS]) == blocks


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("past_caches", [False, True])
@pytest.mark.parametrize(
    ("run", "pitch", "within", "past"),
    [
        (3, 4, True, True), (5, 6, True, True), (7, 9, True, True), (5, 15, True, True), (24, 30, False, True),
        (9, 18, False, True), (3, 40, False, False), (40, 41, False, False),
    ],
)  # fmt: skip
def test_short_runs_near_each_other_are_moved_by_blocks(run, pitch, within, past, past_caches, at_end):
    """Three of four bytes, as RGB of RGBA: windows of the source, not run by run; nothing behind the last is read."""
    number = 8192 + 1
    src = fenced(number * pitch - (pitch - run), at_end)
    src[...] = np.random.default_rng(5).integers(0, 256, src.size, np.uint8)
    source = np.lib.stride_tricks.as_strided(src, (number, run), (pitch, 1))
    dst = fenced(number * run, at_end).reshape(number, run)
    for width in WIDTHS:
        dst[...] = 0
        plan = copied(dst, source, width, past_caches)
        assert np.array_equal(dst, source)
        if width == machine.window_bytes(width):
            assert bool(plan.descriptor[REGISTERS]) == (past if past_caches else within)


def test_a_few_items_at_a_time_are_no_blocks():
    """Bytes of 64 rows apart would take a window each."""
    form = normal((4000, 64), (64, 1), (1, 4000), 1)
    assert block_of(form, 64, 16) is None
    assert block_of(form, 64, 64) is not None


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", [(4096, 4, 3), (1400, 4, 3), (300, 3, 56), (700, 8, 3), (64, 16, 20), (1, 16384, 3)])
def test_nothing_is_read_or_written_beside_the_arrays(shape, width, at_end):
    """Source and target end where memory may not be touched, or begin there."""
    for past_caches in (False, True):
        turned = (shape[0], shape[2], shape[1])
        src = fenced(prod(shape), at_end)
        src[...] = np.random.default_rng(5).integers(0, 256, src.size, np.uint8)
        dst = fenced(prod(shape), at_end).reshape(turned)
        copied(dst, src.reshape(shape).transpose(0, 2, 1), width, past_caches)
        assert np.array_equal(dst, src.reshape(shape).transpose(0, 2, 1))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("shape", "order", "itemsize"),
    [
        ((3, 24, 51, 40, 4), (0, 2, 4, 3, 1), 2),  # rows of 24 items, whose every fourth follows in the target
        ((100, 5, 28, 8, 6), (1, 4, 0, 3, 2), 1),  # six rows of small matrices, several of them at once
        ((101, 7, 28, 8, 6), (1, 4, 0, 3, 2), 1),
        ((3, 24, 200, 10, 6), (0, 2, 4, 3, 1), 4),
    ],
)
def test_rows_of_a_tile_are_joined_as_they_follow_each_other_in_the_target(shape, order, itemsize, threads):
    if not WIDTHS:
        pytest.skip("no vector registers")
    memory = np.random.default_rng(4).integers(0, 256, prod(shape) * itemsize, np.uint8).view(TYPES[itemsize])
    src = memory.reshape(shape).transpose(order)
    guarded = np.full(src.nbytes + 256, 0xA5, np.uint8)
    for start in (64, 80):
        at = start - guarded.ctypes.data % 64
        dst = guarded[at : at + src.nbytes].view(src.dtype).reshape(src.shape)
        guarded[:] = 0xA5
        plan = copied(dst, src, WIDTHS[0], past_caches=True, threads=threads)
        assert dst.tobytes() == np.ascontiguousarray(src).tobytes()
        assert (guarded[:at] == 0xA5).all()
        assert (guarded[at + src.nbytes :] == 0xA5).all()
        assert plan.kernel != "transpose" or plan.descriptor[JOINED] > 0


@pytest.mark.parametrize("past_caches", [False, True])
@pytest.mark.parametrize("step", [2, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_stepped_target_of_a_transpose_keeps_its_gaps(dtype, step, past_caches):
    """No tile holds target rows there: found by a reviewer in rules that took one for granted."""
    src = np.arange(120_000).astype(dtype).reshape(300, 400).T
    memory = np.zeros((400, 300 * step), dtype)
    dst = memory[:, ::step]
    copied(dst, src, WIDTHS[0] if WIDTHS else 0, past_caches)
    assert np.array_equal(dst, src)
    assert not any(memory[:, k::step].any() for k in range(1, step))


@relaxed
@given(small_matrices(), st.sampled_from([16, 64]))
def test_what_is_left_over_and_whole_blocks_are_told_apart(pair, window):
    dst, src, _ = pair.arrays()
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    plan = plan_for(form, replace(machine.host(), window=window))
    assert sum(part.form.nbytes for part in (plan, *plan.more)) == form.nbytes
