"""What is asked for before it is needed, and long rows of one byte, which the C library fills."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine
from stridecheck.reference_impl.kernels.descriptor import ASKED, CALLED, DONE, MODE, STREAM, Loop
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host
from stridecheck.reference_impl.kernels.tiles import later

from .copying import WIDTHS, relaxed


@st.composite
def nests(draw):
    """Loops over rows that lie apart in the source, in any order, and how many bytes a row reaches over."""
    extent = reach = draw(st.sampled_from([64, 100, 512]))
    loops = []
    for _ in range(draw(st.integers(1, 3))):
        loops.append(Loop(draw(st.integers(2, 12)), 0, reach * draw(st.sampled_from([1, 1, 2, 5]))))
        reach = loops[-1].length * loops[-1].src
    loops = [loop._replace(src=loop.src * draw(st.sampled_from([1, 1, 1, -1]))) for loop in loops]
    return draw(st.permutations([*loops, Loop(3, 0, 8)])), extent


@relaxed
@given(nests(), st.sampled_from([64, 1000, 8192]))
def test_half_of_what_is_asked_for_is_a_row_that_is_read_later(nest, ahead):
    loops, extent = nest
    rows = [sum(k * x.src for k, x in zip(at, loops, strict=True)) for at in product(*(range(x.length) for x in loops))]
    when = {row: k for k, row in enumerate(rows)}
    asked = later(loops, extent, ahead)
    assert asked != 0
    turn, enough = extent, False
    for loop in reversed(loops):
        if abs(loop.src) >= extent:
            enough |= loop.length >= 2 * max(1, ahead // turn)
            turn *= loop.length
    assume(enough)
    assert 2 * sum(when.get(row + asked, -1) > k for k, row in enumerate(rows)) >= len(rows)


def test_a_loop_is_asked_of_where_its_turns_are_soon_over_or_go_on():
    near, inner = Loop(100, 0, 512), Loop(4000, 0, 1 << 20)
    assert later([near, inner._replace(length=20)], 256) == 512
    assert later([near, inner], 256) == 32 << 20  # a turn of the other one is a megabyte
    short = Loop(4, 0, 512)
    assert later([Loop(100, 0, 2048), short], 256) == 32 * 512  # where one ends the other goes on
    assert later([Loop(100, 0, 4096), short], 256) == 8 * 4096


def test_a_row_that_is_read_again_at_once_asks_for_no_row():
    assert later([Loop(3, 0, 8)], 512) == 0


@pytest.mark.parametrize(
    ("shape", "source", "asked"),
    [
        ((8000, 4, 63), (2016, 8, 32), 4 * 2016),  # four channels: what comes after all of them
        ((1250, 4, 20, 20), (640, 8, 800_000, 32), 640),  # of 20 places at a time: what each goes on with
        ((20, 700, 48), (700 * 2304, 2304, 16), 10 * 2304),  # every second item of rows that lie apart
        ((20, 12, 700), (11_200 * 24, 11_200, 16), 0),  # rows so long that they go on by themselves
    ],
)
def test_rows_whose_items_are_picked_ask_for_later_ones(shape, source, asked):
    dense = [8 * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    plan = plan_for(normal(shape, dense, source, 8), Host(window=LINE, cache_bytes=0))
    assert (plan.kernel, plan.descriptor[ASKED]) == ("step", asked)


def test_runs_that_are_joined_ask_for_those_beyond_a_gap():
    """Twelve of 400 bytes, 800 bytes apart: those that are read 8 KB later lie two rows on, not in the gap."""
    form = normal((3333, 12, 100), (4800, 400, 4), (19_200, 800, 4), 4)
    plan = plan_for(form, Host(window=LINE, cache_bytes=0))
    assert (plan.kernel, plan.descriptor[ASKED]) == ("joined", 19_200)


@pytest.mark.parametrize("width", [width for width in WIDTHS if width])
@pytest.mark.parametrize("threads", [1, 3])
def test_long_rows_of_one_byte_are_filled_by_the_c_library_and_nothing_beside_them(width, threads):
    rows, columns, pitch = 7, 200_003, 200_061
    memory = np.full(rows * pitch + 2 * LINE, 0xA5, np.uint8)
    dst = memory[LINE + 5 : LINE + 5 + rows * pitch].reshape(rows, pitch)[:, :columns]
    src = np.arange(250, 250 - rows, -1, dtype=np.uint8)[:, None]
    wanted = memory.copy()
    np.copyto(wanted[LINE + 5 : LINE + 5 + rows * pitch].reshape(rows, pitch)[:, :columns], src)
    form = normal(dst.shape, dst.strides, (1, 0), 1)
    plan = plan_for(form, Host(width=width))
    assert plan.kernel == "fill"
    assert plan.descriptor[MODE] & (CALLED | STREAM) == CALLED
    assert engine.Ready(plan, width)(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize(
    ("rows", "columns", "item", "called"),
    [
        (7, 200_000, 1, True),
        (7, 200_000, 2, False),
        (200, 7000, 1, False),
        (5, 200_000, 1, False),
        (130, 200_000, 1, False),
    ],
)
def test_neither_short_rows_nor_what_the_nearest_caches_keep_nor_what_none_does(rows, columns, item, called):
    plan = plan_for(normal((rows, columns), (columns * item, item), (item, 0), item), Host())
    assert bool(plan.descriptor[MODE] & CALLED) is called
