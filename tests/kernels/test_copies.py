"""Copies are NumPy's bit for bit, whatever layouts, registers, threads and plan; nothing beside the target changes."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reference_impl import kernels, strided_copy
from stridecheck.reference_impl.kernels.descriptor import (
    A_CHUNK,
    AHEAD,
    ALIKE,
    B_CHUNK,
    BY_ROWS,
    C_CHUNK,
    CALLED,
    MODE,
    RUN,
    STAGE_IN,
    STAGE_OUT,
    STREAM,
)
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Choice, Host

from .arrays import TYPES, expected, pairs
from .copying import WIDTHS, copied, copy_with, relaxed

choices = st.builds(
    Choice,
    order=st.sampled_from(["", "src", "dst"]),
    a_bytes=st.sampled_from([0, 0, 64, 256, 1024]),
    b_bytes=st.sampled_from([0, 0, 64, 256, 1024]),
    staged=st.sampled_from([-1, -1, 0, STAGE_IN, STAGE_OUT, STAGE_IN | STAGE_OUT]),
    streamed=st.sampled_from([-1, 0, 1]),
)


@pytest.mark.parametrize("width", WIDTHS)
@relaxed
@given(st.data(), choices, st.booleans())
def test_every_plan_on_every_kind_of_register_copies_the_same_bits(width, data, choice, intel):
    # Registers that are narrower than this machine's are tried with two sizes: each is compiled for seconds.
    pair = data.draw(pairs(itemsizes=(1, 4) if 0 < width < WIDTHS[0] else tuple(TYPES)))
    dst, src, memory = pair.arrays()
    wanted = expected(dst, src, memory)
    copy_with(width, choice, dst, src, intel=intel)
    assert np.array_equal(memory, wanted)


@relaxed
@given(pairs(), st.sampled_from([1, 2, 8]))
def test_copies_of_any_size_are_right_with_any_number_of_threads(pair, threads):
    for copy in (copied, strided_copy):
        dst, src, memory = pair.arrays()
        wanted = expected(dst, src, memory)
        if dst.size:
            copy(dst, src, threads)
        assert np.array_equal(memory, wanted)


@pytest.mark.parametrize("itemsize", sorted(TYPES))
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((700, 900), (1, 0)), ((5, 3, 90, 70), (0, 2, 3, 1)), ((5, 90, 70, 3), (0, 3, 1, 2)),
        ((3, 64, 40, 33), (0, 2, 3, 1)), ((27, 27, 27, 9), (3, 2, 1, 0)), ((8, 16, 8, 16, 8, 4), (5, 2, 0, 4, 1, 3)),
        ((40, 8, 30, 64), (0, 2, 1, 3)), ((4, 5, 100, 100), (0, 2, 3, 1)), ((4, 9, 31, 3000), (0, 3, 1, 2)),
        ((7, 90, 50, 5), (0, 2, 1, 3)), ((6, 20, 9, 11, 20), (3, 2, 1, 0, 4)),
    ],
)  # fmt: skip
def test_threads_make_no_difference_to_large_copies(shape, order, itemsize):
    if itemsize == 16 and shape[-1] == 3000:
        shape = (*shape[:-1], 500)
    for threads, (streamed, intel) in itertools.product((1, 2, 8), ((0, False), (1, False), (1, True))):
        check_large(WIDTHS[0], shape, order, itemsize, Choice(streamed=streamed), threads, intel=intel)


@pytest.mark.parametrize("width", [width for width in WIDTHS if width == 32])
@pytest.mark.parametrize("itemsize", [1, 4])
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((700, 900), (1, 0)), ((704, 896), (1, 0)), ((704, 897), (1, 0)), ((5, 90, 70, 3), (0, 3, 1, 2)),
        ((2, 256, 29, 31), (0, 2, 3, 1)), ((512, 513), (1, 0)), ((2, 128, 65, 3), (0, 2, 3, 1)),
        ((3, 40, 30, 100), (2, 1, 3, 0)), ((2, 9, 30, 300), (2, 1, 3, 0)), ((4, 5, 30, 700), (2, 1, 3, 0)),
    ],
)  # fmt: skip
def test_registers_of_half_a_line(shape, order, itemsize, width):
    for streamed, threads in ((0, 1), (1, 1), (1, 2)):
        check_large(width, shape, order, itemsize, Choice(streamed=streamed), threads)


def check_large(width, shape, order, itemsize, choice, threads=1, *, intel=False):
    """Bit for bit, for a target that begins with a line and for one that begins within."""
    bits = np.random.default_rng(1).integers(0, 256, np.prod(shape) * itemsize, np.uint8)
    src = bits.view(TYPES[itemsize]).reshape(shape).transpose(order)
    wanted = np.ascontiguousarray(src).view(np.uint8)
    for phase in (0, 16):
        memory = np.full(wanted.nbytes + 128, 0xA5, np.uint8)
        start = -memory.ctypes.data % 64 + phase
        dst = memory[start : start + wanted.nbytes].view(src.dtype).reshape(src.shape)
        copy_with(width, choice, dst, src, threads, intel=intel)
        assert np.array_equal(dst.view(np.uint8), wanted), (threads, choice, phase, intel)
        assert (memory[:start] == 0xA5).all()
        assert (memory[start + wanted.nbytes :] == 0xA5).all()


@pytest.mark.parametrize(
    ("width", "itemsize"), [(w, size) for w in WIDTHS if w for size in (1, 4, 16) if w == WIDTHS[0] or size < 16]
)
@pytest.mark.parametrize("step", [0, 2, 3, 4, -1])
@pytest.mark.parametrize(("columns", "start"), [(333, 0), (3001, 0), (5002, 0), (5002, 7)])
def test_streamed_rows_that_share_lines_are_written_whole_and_nothing_beside_them(
    columns, start, step, itemsize, width
):
    rows, nbytes, start = 40, columns * itemsize, start * itemsize
    bits = np.random.default_rng(5).integers(0, 256, rows * 4 * nbytes, np.uint8)
    wide = bits.view(TYPES[itemsize]).reshape(rows, 4 * columns)
    src = wide[:, ::step][:, :columns] if step else np.broadcast_to(wide[:, :1], (rows, columns))
    memory = np.full(start + rows * nbytes + 64, 0xA5, np.uint8)
    wanted = memory.copy()
    wanted[start : start + rows * nbytes] = np.ascontiguousarray(src).view(np.uint8).ravel()
    for threads in (1, 2):
        memory[:] = 0xA5
        dst = np.ndarray((rows, columns), src.dtype, memory, start)
        assert copy_with(width, Choice(streamed=1), dst, src, threads).streamed
        assert np.array_equal(memory, wanted)


@pytest.mark.parametrize("itemsize", [1, 4])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("columns", "width"), [(5, 6), (9, 9), (20, 20), (33, 40), (60, 64)])
def test_short_runs_that_share_lines_are_put_together(columns, width, turned, itemsize):
    bits = np.random.default_rng(6).integers(0, 256, 6 * 50 * 70 * width * itemsize, np.uint8)
    src = bits.view(TYPES[itemsize]).reshape(6, 50, 70, width)[..., :columns].transpose(0, 2, 1, 3)
    src = src[:, ::-1] if turned else src
    for threads, streamed in itertools.product((1, 2), (0, 1)):
        dst = np.zeros(src.shape, src.dtype)
        plan = copy_with(WIDTHS[0], Choice(streamed=streamed), dst, src, threads)
        short = columns * itemsize < 256 and columns * itemsize not in (1, 2, 4, 8, 16)
        assert (plan.kernel == "pieces") == (bool(streamed and WIDTHS[0]) and short)
        assert np.array_equal(dst.view(np.uint8), np.ascontiguousarray(src).view(np.uint8))


@pytest.mark.parametrize("rows", [3, 40])
def test_runs_of_every_length_touch_nothing_beside_them(rows):
    bits = np.random.default_rng(7).integers(0, 256, rows * 80_000, np.uint8)
    for length in [*range(2, 132), 192, 200, 448, 512, 600, 1000, 1024, 1100, 2500, 33_000, 70_001]:
        src = bits.reshape(rows, -1)[:, 3 : 3 + length]
        for streamed, gap in itertools.product((0, 1), (0, 5, 64)):
            memory = np.full(rows * (length + gap) + 128, 0xA5, np.uint8)
            dst = memory[64:-64].reshape(rows, length + gap)[:, :length]
            wanted = expected(dst, src, memory)
            copy_with(WIDTHS[0], Choice(streamed=streamed), dst, src)
            assert np.array_equal(memory, wanted), (length, streamed, gap)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("step", [2, 3, 4, -2])
@pytest.mark.parametrize("columns", [20, 64, 203])
def test_a_transpose_of_every_few_items_picks_them_into_a_buffer(columns, step, itemsize):
    bits = np.random.default_rng(8).integers(0, 256, 3 * 150 * columns * abs(step) * itemsize, np.uint8)
    src = bits.view(TYPES[itemsize]).reshape(3, 150, -1)[:, :, ::step].transpose(0, 2, 1)
    for streamed, threads in itertools.product((0, 1), (1, 2)):
        dst = np.zeros(src.shape, src.dtype)
        plan = copy_with(WIDTHS[0], Choice(streamed=streamed), dst, src, threads)
        assert (plan.kernel == "transpose" and plan.staged & STAGE_IN) or not WIDTHS[0]
        assert np.array_equal(dst.view(np.uint8), np.ascontiguousarray(src).view(np.uint8))


def test_rows_whose_items_lie_nearer_to_those_of_other_rows_share_their_lines_in_tiles():
    def kernel(shape, dst, src, item):
        return plan_for(normal(shape, dst, src, item), Host()).kernel

    assert kernel((40, 9, 100), (7200, 800, 8), (28800, 48, 432), 8) == "items"  # a line holds items of two rows
    assert kernel((9, 100), (800, 8), (43200, 432), 8) == "step"
    assert kernel((9, 2, 100), (1600, 800, 8), (43200, 16, 32), 8) == "step"  # registers pick every fourth


def test_long_runs_within_the_caches_are_the_c_librarys():
    def mode(rows, length, gap=5000):
        return int(plan_for(normal((rows, length), (length, 1), (length + gap, 1), 1), Host()).descriptor[MODE])

    assert mode(100, 4096) == CALLED
    assert mode(1000, 4096) == AHEAD  # beyond the second-level cache: of the next row the first lines are asked for
    assert mode(1000, 4096, 64) == 0  # hardware does so itself
    assert mode(100, 100) == mode(10_000, 100) == 0
    assert mode(40, 400_000) == CALLED  # 16 MB: as quick as past the caches
    assert mode(400, 400_000) == STREAM


def test_narrow_tiles_go_item_by_item_and_crowded_rows_through_a_buffer():
    def planned(shape, dst, src, item):
        return plan_for(normal(shape, dst, src, item), Host())

    pixels = planned((2, 10**7), (10**7, 1), (1, 3), 1)  # two of three channels, each in a plane of its own
    assert pixels.kernel == "items"
    matrix = planned((512, 512), (4096, 8), (8, 4096), 8)  # within the caches, rows a power of two apart
    assert (matrix.kernel, matrix.streamed, matrix.staged) == ("transpose", False, STAGE_OUT)
    uneven = planned((500, 500), (4000, 8), (8, 4000), 8)
    assert (uneven.kernel, uneven.staged) == ("transpose", 0)


def test_a_tile_of_items_within_the_caches_is_no_handful():
    form = normal((2, 112, 27, 2), (48384, 432, 16, 8), (8, 32, 3584, 16), 8)  # the nearest loops have two turns each
    small = plan_for(form, Host())
    assert small.kernel == "items"
    assert small.descriptor[A_CHUNK] * small.descriptor[B_CHUNK] >= 512
    # Past them lines count most: two short loops make a tile, and turns of a third one are put into it.
    large = plan_for(form, Host(cache_bytes=1 << 16)).descriptor
    assert large[A_CHUNK] * large[B_CHUNK] < 64
    assert large[C_CHUNK] > 1


@pytest.mark.parametrize("itemsize", sorted(TYPES))
@pytest.mark.parametrize(("rows", "columns"), [(12, 6), (16, 16), (9, 14), (6, 24), (3, 5), (2, 40), (40, 2)])
def test_small_matrices_in_a_row(rows, columns, itemsize):
    """Many of them make a tile, the last one perhaps fewer; the target begins with a line or within, as in `phase`."""
    for width, streamed, threads in itertools.product(WIDTHS if itemsize in (1, 4) else WIDTHS[:1], (0, 1), (1, 2)):
        check_large(width, (1003, rows, columns), (0, 2, 1), itemsize, Choice(streamed=streamed), threads)
        # Matrices that lie apart in the source, and two batches of them.
        check_large(width, (2, rows, 251, columns), (0, 2, 3, 1), itemsize, Choice(streamed=streamed), threads)


@pytest.mark.parametrize("itemsize", [1, 4])
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((1003, 5, 4, 3), (0, 2, 1, 3)), ((2, 1003, 5, 3), (1, 2, 0, 3)), ((1003, 8, 8, 7), (0, 2, 1, 3)),
        ((333, 2, 3, 4, 5), (0, 3, 2, 1, 4)), ((1003, 4, 2, 6), (0, 2, 1, 3)), ((17, 3, 3, 31), (0, 2, 1, 3)),
    ],
)  # fmt: skip
def test_small_matrices_of_short_runs_in_a_row(shape, order, itemsize):
    for streamed, threads in itertools.product((0, 1), (1, 2)):
        check_large(WIDTHS[0], shape, order, itemsize, Choice(streamed=streamed), threads)


@pytest.mark.parametrize(
    ("shape", "kernel", "turns"),
    [
        ((300_000, 3, 3, 3), "pieces", (3, 3, 32)),  # 108 bytes by 32: whole lines
        ((100_000, 4, 4, 12), "pieces", (4, 4, 1)),
        ((30_000, 3, 3, 3), "runs", (3, 151, 1)),  # within the caches, around a long loop
    ],
)
def test_short_runs_go_around_a_long_loop(shape, kernel, turns):
    number, rows, columns, length = shape
    run, matrix = 4 * length, 4 * length * rows * columns
    dst, src = (matrix, rows * run, run, 4), (matrix, run, columns * run, 4)
    plan = plan_for(normal((number, columns, rows, length), dst, src, 4), Host(width=32, first_bytes=32 << 10))
    assert (plan.kernel, tuple(int(plan.descriptor[k]) for k in (A_CHUNK, B_CHUNK, C_CHUNK))) == (kernel, turns)


@pytest.mark.parametrize(
    ("shape", "itemsize", "kernel", "together"),
    [
        ((100_000, 12, 6), 2, "transpose", 12),  # 144 bytes, so many as are whole lines
        ((100_000, 16, 16), 1, "transpose", 8),
        ((100_000, 24, 24), 4, "transpose", 1),
        ((100_000, 9, 14), 8, "transpose", 4),  # 1008 bytes, which end within a line
        ((100_000, 12, 6), 4, "items", 28),
        ((100_000, 3, 5), 8, "items", 68),
        ((9_000_000, 2, 2), 1, "items", 2),  # hardly anything: these loops go around a long one
    ],
)
def test_so_many_small_matrices_make_a_tile(shape, itemsize, kernel, together):
    number, rows, columns = shape
    dst = rows * columns * itemsize, rows * itemsize, itemsize
    src = rows * columns * itemsize, itemsize, columns * itemsize
    plan = plan_for(normal((number, columns, rows), dst, src, itemsize), Host(width=32, first_bytes=32 << 10))
    assert (plan.kernel, int(plan.descriptor[C_CHUNK])) == (kernel, together)


@pytest.mark.parametrize(
    ("count", "nbytes", "gap", "width", "asked"),
    [(2000, 132, 3600, 32, True), (2000, 20, 3600, 32, True), (2000, 132, 3600, 64, False), (9, 132, 3600, 32, False),
     (2000, 132, 100, 32, False), (2000, 4000, 8000, 64, True)],
)  # fmt: skip
def test_runs_within_the_caches_ask_for_later_ones_that_lie_apart(count, nbytes, gap, width, asked):
    form = normal((count, nbytes), (nbytes, 1), (nbytes + gap, 1), 1)
    plan = plan_for(form, Host(width=width, cache_bytes=1 << 30))
    assert (plan.kernel, plan.streamed, bool(plan.descriptor[MODE] & AHEAD)) == ("runs", False, asked)


def test_short_runs_go_around_no_loop_whose_lines_share_a_set():
    def turns(step):
        form = normal((2000, 3, 3, 3), (step, 9, 3, 1), (step, 3, 9, 1), 1)
        row = plan_for(form, Host(width=32, first_bytes=32 << 10)).descriptor
        return int(row[A_CHUNK]), int(row[B_CHUNK])

    assert turns(4096) == (3, 3)
    assert turns(4160) == (3, 16)


@relaxed
@given(
    width=st.sampled_from([width for width in WIDTHS if width]),
    itemsize=st.sampled_from([1, 2, 4, 8]),
    rows=st.integers(8, 80),
    columns=st.integers(16, 500),
    start=st.integers(0, 64),
    gap=st.sampled_from([0, 0, 1, 8]),
    to_lines=st.booleans(),
    intel=st.booleans(),
)
def test_transposes_within_the_caches_go_to_rows_that_begin_anywhere(
    width, itemsize, rows, columns, start, gap, to_lines, intel
):
    """Rows that all begin at one place of their lines, and rows that do not."""
    pitch = columns + gap
    if to_lines:
        pitch = -(-pitch * itemsize // 64) * 64 // itemsize
    memory = np.full(64 + rows * pitch * itemsize + 64, 0xA5, np.uint8)
    strides = pitch * itemsize, itemsize
    dst = np.ndarray((rows, columns), f"u{itemsize}", memory, start, strides)
    src = np.random.default_rng(rows).integers(0, 256, columns * rows * itemsize, np.uint8).view(f"u{itemsize}")
    src = src.reshape(columns, rows).T
    wanted = memory.copy()
    np.ndarray(dst.shape, dst.dtype, wanted, start, strides)[...] = src
    plan = copy_with(width, Choice(), dst, src, intel=intel)
    assert not plan.streamed
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize(
    ("itemsize", "rows", "columns", "staged", "alike"),
    [
        (8, 100, 91, True, False),
        (8, 100, 96, False, True),
        (4, 100, 180, True, False),
        (4, 100, 700, False, False),
        (8, 100, 701, True, False),
        (4, 100, 20, False, False),
        (2, 100, 181, False, False),
    ],
)
def test_target_rows_that_begin_at_different_places_of_their_lines_go_through_a_buffer(
    itemsize, rows, columns, staged, alike
):
    form = normal((rows, columns), (columns * itemsize, itemsize), (itemsize, rows * itemsize), itemsize)
    plan = plan_for(form, Host(width=64, intel=True))
    assert (plan.kernel, plan.streamed) == ("transpose", False)
    assert (plan.staged == STAGE_OUT, plan.descriptor[MODE] & ALIKE != 0) == (staged, alike)
    assert plan_for(form, Host(width=64)).staged == 0


@relaxed
@given(
    width=st.sampled_from([width for width in WIDTHS if width]),
    nbytes=st.integers(2, 1000),
    shape=st.tuples(st.integers(1, 6), st.integers(2, 40), st.integers(2, 12)),
    order=st.permutations([0, 1, 2]),
    start=st.integers(0, 64),
    gap=st.sampled_from([0, 0, 0, 1, 40]),
    threads=st.sampled_from([1, 2]),
)
def test_runs_that_share_lines_are_written_whole_and_nothing_beside_them(
    width, nbytes, shape, order, start, gap, threads
):
    """Runs of bytes in any order, rows of them with gaps or without."""
    rows, columns = shape[1:]
    step = rows * columns * nbytes + gap
    memory = np.full(64 + shape[0] * step + 64, 0xA5, np.uint8)
    strides = step, columns * nbytes, nbytes, 1
    dst = np.ndarray((*shape, nbytes), np.uint8, memory, start, strides)
    source = np.random.default_rng(nbytes).integers(0, 256, dst.size, np.uint8)
    src = source.reshape(*(shape[d] for d in order), nbytes).transpose(*np.argsort(order), 3)
    wanted = memory.copy()
    np.ndarray(dst.shape, np.uint8, wanted, start, strides)[...] = src
    copy_with(width, Choice(streamed=1), dst, src, threads)
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize(
    ("rows", "columns", "nbytes", "in_order"),
    [(200, 3, 300, True), (200, 3, 20, True), (64, 16, 300, False), (3, 128, 20, True), (3, 128, 300, False),
     (20_000, 7, 20, True), (200_000, 3, 20, True), (3, 20_000, 20, False), (3, 3, 20, False)],
)  # fmt: skip
def test_few_runs_at_a_time_are_put_together_as_they_follow_each_other(rows, columns, nbytes, in_order):
    """On registers of half a line, where the caches keep what lines of the source hold of other runs."""
    dst = columns * nbytes, nbytes, 1
    src = nbytes, rows * nbytes, 1
    plan = plan_for(normal((rows, columns, nbytes), dst, src, 1), Host(width=32, cache_bytes=0, dst_phase=16))
    assert (plan.kernel, bool(plan.descriptor[MODE] & BY_ROWS)) == ("pieces", in_order)


def test_payloads_of_nans_are_kept():
    bits = np.arange(0x7F800001, 0x7F800001 + 300 * 300, dtype=np.uint32).reshape(300, 300)
    dst = np.zeros((300, 300), np.float32)
    copied(dst, bits.view(np.float32).T, 1)
    assert np.array_equal(dst.view(np.uint32), bits.T)


def test_items_of_any_size_are_copied():
    for kind in ("V3", "V12", "V24", "S7", "f4,u1", "V40"):
        dtype = np.dtype(kind)
        bits = np.random.default_rng(2).integers(0, 256, 90 * 70 * dtype.itemsize, np.uint8)
        src = bits.view(dtype).reshape(90, 70).T
        dst = np.zeros(src.shape, dtype)
        copied(dst, src, 1)
        assert np.array_equal(dst.view(np.uint8), np.ascontiguousarray(src).view(np.uint8)), kind


def test_references_are_left_to_numpy():
    src = np.array([[str(i) for i in range(200)] for _ in range(200)], object)
    dst = np.zeros((200, 200), object)
    strided_copy(dst, src.T)
    assert dst.tolist() == src.T.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 5), (1,), (1, 1, 1)])
def test_small_and_empty_shapes(shape):
    dst, src = np.zeros(shape), np.ones(shape)
    strided_copy(dst, src)
    assert np.array_equal(dst, src)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"shapes differ: \(2, 3\) and \(3, 2\)"):
        strided_copy(np.zeros((2, 3)), np.zeros((3, 2)))
    with pytest.raises(TypeError, match="dtypes differ: float64 and float32"):
        strided_copy(np.zeros(2), np.zeros(2, np.float32))
    dst = np.zeros((300, 300))
    dst.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        strided_copy(dst, np.ones((300, 300)).T)
    with pytest.raises(ValueError, match="0 threads"):
        kernels.set_threads(0)
    for nbytes in (8, 1 << 20):
        for threads, error in ((-1, ValueError), (1.5, TypeError)):
            with pytest.raises(error, match=r"-1 threads|integer"):
                strided_copy(np.zeros(nbytes, "u1"), np.ones(nbytes, "u1"), threads=threads)
    with pytest.raises(ValueError, match=r"shape \(3, 0\) has no elements"):
        kernels.plan(np.zeros((3, 0)), np.zeros((3, 0)))
    with pytest.raises(ValueError, match="may write one place twice"):
        kernels.plan(np.broadcast_to(np.zeros(3), (2, 3)), np.zeros((2, 3)))


def test_kernels_are_loaded_by_the_first_large_copy_and_without_numba():
    script = """
import sys, numpy as np, stridecheck.reference_impl as r
r.strided_copy(np.zeros((50, 50)), np.ones((50, 50)).T)
assert "llvmlite" not in sys.modules
r.strided_copy(np.zeros((500, 500)), np.ones((500, 500)).T)
assert "llvmlite" in sys.modules
from stridecheck.reference_impl.kernels import arithmetic, decisions
arithmetic.binary("add", np.zeros((50, 50)), np.ones((50, 50)).T, np.ones(50))
arithmetic.reduce("sum", np.zeros((50, 1)), np.ones((50, 50)), (1,))
four = np.array([[4]])
decisions.view_decisions(four, four, np.array([1]), four, np.array([1]))
print("numba" in sys.modules)
"""
    # The first process may have to compile what the second finds on disk.
    said = [subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout for _ in range(2)]
    assert said[1].strip() == b"False"


@pytest.mark.parametrize(
    ("shape", "order", "tile"), [((30, 8, 3, 200), (0, 2, 1, 3), (3, 8)), ((300, 40, 50), (1, 0, 2), (1, 300))]
)
def test_few_short_runs_at_a_time_turn_no_odometer_for_each(shape, order, tile):
    """Within the caches a tile spans two loops where the inner one has few turns."""
    src = np.zeros(shape, np.float32).transpose(order)
    plan = plan_for(normal(src.shape, np.zeros(src.shape, np.float32).strides, src.strides, 4), Host())
    assert (plan.kernel, plan.streamed) == ("runs", False)
    assert (plan.descriptor[A_CHUNK] if plan.descriptor[RUN] else 1, plan.descriptor[B_CHUNK]) == tile
