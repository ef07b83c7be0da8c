"""Transposes past the caches on Intel's processors: whole lines are streamed, and by which blocks."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels.descriptor import (
    A_CHUNK,
    A_INNER,
    B_CHUNK,
    B_INNER,
    LINES,
    MODE,
    NARROW,
    PAIRS,
    PREFETCH_OUT,
    STAGE_IN,
    STAGE_OUT,
    STREAM,
)
from stridecheck.reference_impl.kernels.plans import Choice, Host

from .arrays import TYPES
from .copying import WIDTHS, copy_with, relaxed
from .tiling import permuted

INTEL = Host(width=64, first_bytes=48 << 10, cache_bytes=3 << 20, intel=True)
LENGTHS = [2, 3, 5, 8, 12, 13, 20, 32, 33, 56, 64, 100, 112, 128, 256]


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([0, 16]))
def test_no_line_is_written_in_parts(data, itemsize, phase):
    """Straight from memory only where a tile's rows are whole lines, else by way of a buffer."""
    shape = data.draw(st.lists(st.sampled_from(LENGTHS), min_size=2, max_size=5).filter(lambda s: prod(s) > 1 << 20))
    order = data.draw(st.permutations(range(len(shape))))
    plan = permuted(shape, order, itemsize, Host(64, 3 << 20, 48 << 10, intel=True, dst_phase=phase))
    for part in (plan, *plan.more):
        if part.kernel == "transpose" and part.streamed:
            assert part.descriptor[MODE] & STREAM
            assert bool(part.descriptor[MODE] & STAGE_OUT) == bool(part.descriptor[MODE] & PREFETCH_OUT)


@pytest.mark.parametrize("itemsize", [1, 2])
@pytest.mark.parametrize(("pixels", "row"), [(588, 588), (1100, 256), (768, 256)])
def test_short_source_rows_that_share_lines_are_taken_whole(pixels, row, itemsize):
    """Long ones, and those of whole lines, are read some lines at a time: images to channels last."""
    pixels, row = pixels // itemsize, row // itemsize
    plan = permuted((300, 512 // itemsize, pixels), (0, 2, 1), itemsize, INTEL)
    assert plan.descriptor[A_CHUNK] == row


@pytest.mark.parametrize("itemsize", [1, 2])
@pytest.mark.parametrize(("row", "nbytes"), [(1 << 15, 256), (1 << 14, 128), (33 << 10, 128)])
def test_more_is_read_of_rows_that_the_second_level_cache_loses(row, nbytes, itemsize):
    """A hundred and more at a distance of 32 KB; the rows of the target begin anywhere in a line."""
    plan = permuted((6, 122, row // itemsize), (0, 2, 1), itemsize, INTEL)
    assert (plan.kernel, plan.descriptor[A_CHUNK] * itemsize) == ("transpose", nbytes)


@pytest.mark.parametrize(
    ("shape", "order", "itemsize", "lines", "pairs"),
    [
        ((8192, 8192), (1, 0), 1, True, True),  # rows that all fall into one set of the first-level cache
        ((8000, 8000), (1, 0), 1, True, False),  # lines of rows that lie an odd number of lines apart need no pairs
        ((8064, 8064), (1, 0), 1, True, True),
        ((4096, 8192), (1, 0), 2, True, True),
        ((5632, 5632), (1, 0), 2, True, True),
        ((4000, 4000), (1, 0), 4, False, True),
        ((10, 56, 56, 256), (0, 3, 1, 2), 8, False, True),
        ((700, 400, 33), (0, 2, 1), 8, True, True),  # squares of 8 by 8 would overlap
        ((700, 400, 63), (0, 2, 1), 8, False, True),
        ((320, 28, 28, 256), (0, 3, 1, 2), 1, True, False),  # by way of a buffer
    ],
)
def test_blocks_are_a_line_by_16_bytes_for_small_items_and_for_what_is_no_whole_squares(
    shape, order, itemsize, lines, pairs
):
    mode = permuted(shape, order, itemsize, INTEL).descriptor[MODE]
    assert (bool(mode & LINES), bool(mode & PAIRS)) == (lines, pairs)


@st.composite
def rows_from_lines_on(draw):
    """Transposes whose target rows begin with a line each and end anywhere: source and target.

    Source rows have as many items as a block or more, or fewer, or are stepped: then they are gathered first.
    """
    itemsize = draw(st.sampled_from(sorted(TYPES)))
    line, per = 64 // itemsize, max(16 // itemsize, 5)
    gathered = draw(st.booleans())
    columns = draw(st.sampled_from([per, line - 1] if gathered else [line, line + 1, 2 * line, 3 * line - 1, 200]))
    rows = line * draw(st.integers(1, 9)) + draw(st.sampled_from([0, 0, 0, 1, line - 1]))
    outer, step = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2])) if gathered else 1
    src = np.random.default_rng(draw(st.integers(0, 9))).integers(
        0, 256, outer * rows * columns * step * itemsize, np.uint8
    )
    src = src.view(TYPES[itemsize]).reshape(outer, rows, columns * step)[:, :, ::step].transpose(0, 2, 1)
    pitch = (-(-rows // line) + draw(st.integers(0, 2))) * line
    memory = np.full(256 + outer * columns * pitch * itemsize, 0xA5, np.uint8)
    held = memory[64 + -memory.ctypes.data % 64 :][: outer * columns * pitch * itemsize].view(TYPES[itemsize])
    return src, held.reshape(outer, columns, pitch)[:, :, :rows], memory


@relaxed
@given(rows_from_lines_on(), st.sampled_from([1, 2]), st.sampled_from(WIDTHS))
def test_two_lines_at_a_time_hold_the_same_bits_as_one(pair, threads, width):
    src, dst, memory = pair
    at = dst.ctypes.data - memory.ctypes.data
    wanted = memory.copy()
    np.ndarray(dst.shape, dst.dtype, wanted, at, dst.strides)[...] = src
    plan = copy_with(width, Choice(streamed=1), dst, src, threads, intel=True)
    assert memory.tobytes() == wanted.tobytes()
    if plan.kernel == "transpose" and src.itemsize > 1:  # rows of bytes may be an odd number of lines apart
        assert bool(plan.descriptor[MODE] & PAIRS) == (width == 64 and not plan.staged & STAGE_OUT)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("itemsize", sorted(TYPES))
@pytest.mark.parametrize("gathered", [False, True])
def test_each_size_of_items_is_stored_two_lines_at_a_time(itemsize, gathered, width):
    """Where registers hold a line; other ones copy the same."""
    line = 64 // itemsize
    step = 2 if gathered else 1
    src = np.random.default_rng(1).integers(0, 256, 5 * 4 * line * 2 * line * step * itemsize, np.uint8)
    src = src.view(TYPES[itemsize]).reshape(5, 4 * line, 2 * line * step)[:, :, ::step].transpose(0, 2, 1)
    memory = np.zeros(src.nbytes + 64, np.uint8)
    dst = memory[-memory.ctypes.data % 64 :][: src.nbytes].view(src.dtype).reshape(src.shape)
    plan = copy_with(width, Choice(streamed=1), dst, src, intel=True)
    assert dst.tobytes() == np.ascontiguousarray(src).tobytes()
    if width == 64:
        assert plan.descriptor[MODE] & PAIRS
        assert plan.staged == (STAGE_IN if gathered else 0)


@pytest.mark.parametrize(
    ("shape", "itemsize", "host", "lines"),
    [
        ((8000, 8000), 1, Host(), True),
        ((6400, 6400), 2, Host(), True),
        ((8000, 8000), 4, Host(), False),  # large items
        ((8000, 8000), 1, Host(first_bytes=32 << 10), True),  # before family 26
        ((64, 1 << 20), 1, Host(), False),  # short rows of the target
        ((4096, 8192), 1, Host(), False),  # a block's source rows crowd one set
        ((8001, 8001), 1, Host(), False),  # rows begin anywhere in a line
    ],
)
def test_what_amd_likes_of_it(shape, itemsize, host, lines):
    assert bool(permuted(shape, (1, 0), itemsize, host).descriptor[MODE] & LINES) is lines


@pytest.mark.parametrize(("itemsize", "pairs"), [(1, True), (2, True), (4, False), (8, True)])
def test_amd_stores_pairs_of_lines_but_for_4_byte_items_of_a_small_cache(itemsize, pairs):
    for length in (6400, 8000):  # an even and an odd number of lines to a row of bytes
        assert permuted((length, length), (1, 0), itemsize, Host()).descriptor[MODE] & PAIRS
    before = permuted((6400, 6400), (1, 0), itemsize, Host(first_bytes=32 << 10)).descriptor[MODE]
    assert bool(before & PAIRS) is pairs


@pytest.mark.parametrize("columns", [100, 200, 400])
def test_a_tile_takes_as_many_rows_as_make_whole_lines(columns):
    """Eight rows of 100 items of four bytes are 50 lines, one is six and a quarter."""
    plan = permuted((300, columns, 8, 64), (0, 3, 2, 1), 4, INTEL)
    assert plan.descriptor[B_CHUNK] * plan.descriptor[B_INNER] * 4 % 64 == 0
    assert plan.staged == 0


def test_a_tile_of_rows_that_make_no_whole_lines_goes_through_a_buffer():
    plan = permuted((300, 1021, 8, 64), (0, 3, 2, 1), 4, INTEL)
    assert plan.staged == STAGE_OUT
    assert plan.descriptor[B_CHUNK] * plan.descriptor[B_INNER] == 1021


@pytest.mark.parametrize(("rows", "columns"), [(24, 12), (100, 6), (12, 12)])
def test_few_rows_of_bytes_are_transposed_by_registers_of_16_bytes(rows, columns):
    plan = permuted((40_000, columns, rows), (0, 2, 1), 1, INTEL)
    assert plan.descriptor[MODE] & NARROW
    assert plan.descriptor[A_CHUNK] * plan.descriptor[A_INNER] >= rows
