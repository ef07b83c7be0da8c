"""Copies past the caches that read from several places at a time: what a tile spans of either side."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine
from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, B_CHUNK, C_CHUNK, DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host

from .copying import WIDTHS, relaxed

HALVES = Host(width=32, first_bytes=32 << 10, cache_bytes=0)


def planned(memory, order):
    """The plan of a row-major copy of float32 that lie in memory in this shape, dimensions in another order."""
    shape, strides = [memory[k] for k in order], _strides(memory, 4)
    return plan_for(normal(shape, _strides(shape, 4), [strides[k] for k in order], 4), HALVES)


def _strides(shape, item):
    strides = [item]
    for n in reversed(shape[1:]):
        strides.insert(0, n * strides[0])
    return strides


@pytest.mark.parametrize(
    ("memory", "run", "tile"),
    [
        ((1000, 300, 48), 192, (42, 5)),  # 8 KB that follow in the source, 1 KB that do in the target
        ((1000, 300, 16), 64, (128, 8)),
        ((1000, 20, 48), 192, (192, 20)),  # to 20 rows at a time: as the source comes
        ((1000, 300, 192), 768, (768, 85)),  # long ones, too: 64 KB of them
    ],
)
def test_runs_are_copied_by_tiles_where_they_are_short_and_go_to_many_rows(memory, run, tile):
    plan = planned(memory, (1, 0, 2))
    assert (plan.kernel, plan.streamed, plan.form.dims[-1].length * plan.form.item) == ("runs", True, run)
    assert (plan.descriptor[A_CHUNK], plan.descriptor[B_CHUNK]) == tile


def test_what_is_copied_item_by_item_is_written_as_it_follows_if_it_is_read_from_few_places():
    """Channels of images whose rows lie apart: the third dimension of a tile."""
    few, many = (planned((rows, 20_000, 12, 3), (3, 1, 0, 2)) for rows in (8, 12))
    assert (few.kernel, many.kernel) == ("items", "items")
    assert few.descriptor[C_CHUNK] == 8
    assert many.descriptor[C_CHUNK] == 8192 // (3 * 12 * 4)


@pytest.mark.parametrize(
    ("rows", "columns", "kernel"),
    [
        (8, 32, "step"),
        (8, 12, "items"),  # rows of less than a line
        (2, 24, "items"),  # a line is read again at once
        (64, 48, "items"),  # not so soon
    ],
)
def test_rows_whose_lines_are_read_again_soon_are_picked(rows, columns, kernel):
    assert planned((rows, 5000, columns, 3), (1, 3, 0, 2)).kernel == kernel


@pytest.mark.parametrize(("item", "kernel"), [(8, "step"), (2, "pieces")])
def test_small_items_are_not_picked_where_a_window_of_a_line_takes_them(item, kernel):
    """Three channels of images whose rows lie apart, 40 items of each."""
    rows, columns, places = 5000, 40, 8
    shape = (rows, places, 3, columns)
    source = (columns * 3 * item, rows * columns * 3 * item, item, 3 * item)
    form = normal(shape, _strides(shape, item), source, item)
    assert plan_for(form, Host(window=LINE, cache_bytes=0)).kernel == kernel


@relaxed
@given(
    memory=st.tuples(
        st.sampled_from([1, 2, 5, 9, 70]), st.integers(1, 40), st.integers(1, 70), st.sampled_from([1, 2, 3, 4, 6])
    ),
    order=st.permutations(range(4)),
    item=st.sampled_from([1, 2, 4, 8]),
    phase=st.sampled_from([0, 0, 16, 3]),
    width=st.sampled_from([width for width in WIDTHS if width] or WIDTHS),
    threads=st.sampled_from([1, 2]),
)
def test_the_same_bits_and_nothing_beside(memory, order, item, phase, width, threads, shared):
    source = np.random.default_rng(item).integers(0, 256, (*memory, item), np.uint8).view(f"u{item}")[..., 0]
    src = source.transpose(order)
    target = np.full(src.nbytes + 4 * LINE, 0xA5, np.uint8)
    start = LINE + -target.ctypes.data % LINE + phase
    dst = np.ndarray(src.shape, src.dtype, target, start)
    wanted = target.copy()
    np.ndarray(src.shape, src.dtype, wanted, start)[...] = src
    form = normal(dst.shape, dst.strides, src.strides, item)
    host = replace(HALVES, width=width, dst_phase=(dst.ctypes.data + form.dst_shift) % LINE)
    assert engine.Ready(plan_for(form, host), width)(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(target, wanted)
