"""Streams woven together and parted: channels that become the last dimension, or the first."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine, weave_plan
from stridecheck.reference_impl.kernels.descriptor import DONE, MODE, OUT_BYTES, STAGE_OUT, STREAM
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Choice, Host

from .arrays import fenced, needs_fences
from .copying import WIDTHS, copy_with, relaxed


@contextmanager
def short_ones_too():
    """Streams of less than 64 items are woven and parted, even where other ways take less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weave_plan, "_least", lambda number, item, host, woven: 24)
        yield


streams = {
    "width": st.sampled_from([width for width in WIDTHS if width]),
    "itemsize": st.sampled_from([1, 2, 4, 8]),
    "number": st.integers(2, 4),
    "length": st.one_of(st.integers(64, 3000), st.integers(24, 64)),
}


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize(
    ("columns", "phase", "together"),
    [(128, 0, True), (128, 16, True), (132, 0, True), (1000, 16, True), (1040, 0, False), (2000, 16, False)],
)
def test_short_rows_are_woven_by_way_of_a_buffer(columns, phase, together, width):
    """Two channels of float32, rows of which lie apart in the source."""
    rows, images = 200, 100
    dst = rows * columns * 8, columns * 8, 8, 4
    src = columns * 4, images * columns * 4, 4, rows * images * columns * 4
    form = normal((images, rows, columns, 2), dst, src, 4)
    plan = plan_for(form, Host(width=width, first_bytes=32 << 10, dst_phase=phase))
    assert (plan.kernel, plan.streamed, bool(plan.descriptor[MODE] & STAGE_OUT)) == ("interleave", True, together)


@pytest.mark.parametrize(
    ("number", "phase", "together"), [(4, 16, True), (4, 32, False), (2, 16, False), (3, 8, False)]
)
def test_rows_of_which_no_whole_items_end_with_a_line_are_woven_by_way_of_a_buffer(number, phase, together):
    """Channels of float64 that become the last dimension of a long row, where NumPy's memory begins."""
    length = 1_000_000
    form = normal((length, number), (number * 8, 8), (8, length * 8), 8)
    plan = plan_for(form, Host(dst_phase=phase))
    assert (plan.kernel, plan.streamed, bool(plan.descriptor[MODE] & STAGE_OUT)) == ("interleave", True, together)


def test_short_rows_with_gaps_between_them_are_woven_through_the_caches():
    def is_streamed(columns, width):
        form = normal((10_000, columns, 2), (4096, 8, 4), (4 * columns, 4, 40_000 * columns), 4)
        return plan_for(form, Host(width=width, first_bytes=32 << 10, cache_bytes=0)).streamed

    assert [is_streamed(columns, 32) for columns in (130, 258)] == [False, True]
    assert [is_streamed(columns, 64) for columns in (70, 130)] == [False, True]


@pytest.mark.parametrize(
    ("columns", "phase", "together"),
    [
        (512, 0, True),
        (256, 0, True),
        (250, 0, True),
        (500, 4, True),
        (600, 0, True),
        (1000, 0, False),
        (1104, 4, False),
    ],
)
def test_streams_are_parted_where_they_are_long_and_put_together_where_they_are_short(columns, phase, together):
    """Three channels of float32 that become the first dimension of an image, by halves of lines and by lines."""
    item, images = 4, 10_000
    form = normal(
        (images, 3, columns), (3 * columns * item, columns * item, item), (3 * columns * item, item, 3 * item), item
    )
    for width in (32, 64):
        row = plan_for(form, Host(width=width, first_bytes=32 << 10, dst_phase=phase)).descriptor
        assert row[MODE] & STREAM
        assert bool(row[MODE] & STAGE_OUT) is together


@pytest.mark.parametrize(
    ("columns", "channels", "item", "width", "window", "kernel"),
    [
        (48, 3, 4, 64, 64, "interleave"),
        (40, 3, 4, 64, 64, "pieces"),
        (32, 4, 8, 64, 64, "interleave"),
        (32, 4, 2, 64, 64, "pieces"),
        (32, 4, 1, 32, 16, "interleave"),
        (24, 4, 2, 32, 16, "interleave"),
        (24, 4, 2, 64, 16, "items"),  # less than a register
    ],
)
def test_streams_of_less_than_64_items_are_woven_where_other_ways_take_longer(
    columns, channels, item, width, window, kernel
):
    image, images = columns * channels * item, 200_000
    form = normal((images, columns, channels), (image, channels * item, item), (image, item, columns * item), item)
    assert plan_for(form, Host(width=width, window=window, cache_bytes=0)).kernel == kernel


@pytest.mark.parametrize(
    ("columns", "channels", "item", "width", "window", "kernel"),
    [
        (32, 3, 4, 64, 64, "deinterleave"),
        (24, 4, 4, 64, 64, "deinterleave"),
        (24, 3, 4, 64, 64, "pieces"),
        (32, 4, 2, 64, 64, "pieces"),  # a window picks what fills a register
        (32, 4, 2, 32, 16, "deinterleave"),
        (48, 2, 4, 64, 64, "pieces"),
    ],
)
def test_streams_of_less_than_64_items_are_parted_where_other_ways_take_longer(
    columns, channels, item, width, window, kernel
):
    row, images = columns * item, 50_000
    form = normal(
        (images, channels, columns), (channels * row, row, item), (channels * row, item, channels * item), item
    )
    assert plan_for(form, Host(width=width, window=window)).kernel == kernel
    apart = normal(
        (channels, images, columns), (images * row, row, item), (item, 2 * channels * row, channels * item), item
    )
    assert plan_for(apart, Host(width=width, window=window)).kernel != "deinterleave"


@relaxed
@given(
    **streams,
    images=st.integers(1, 12),
    start=st.integers(0, 64),
    gap=st.sampled_from([0, 0, 0, 1, 40]),
    apart=st.booleans(),
    streamed=st.sampled_from([0, 1, 1]),
    threads=st.sampled_from([1, 2]),
)
def test_streams_are_written_whole_and_nothing_beside_them(
    width, itemsize, number, length, images, start, gap, apart, streamed, threads
):
    """Rows that begin anywhere, follow each other or not, and tasks that begin within one of them."""
    row = number * length * itemsize
    memory = np.full(64 + images * (row + gap * itemsize) + 64, 0xA5, np.uint8)
    step = row + gap * itemsize
    shape = (images, number, length) if apart else (images, length, number)
    strides = (step, *((length * itemsize, itemsize) if apart else (number * itemsize, itemsize)))
    dst = np.ndarray(shape, f"u{itemsize}", memory, start, strides)
    source = np.random.default_rng(length).integers(0, 256, images * row, np.uint8).view(f"u{itemsize}")
    src = source.reshape(images, *reversed(shape[1:])).transpose(0, 2, 1)
    wanted = memory.copy()
    np.ndarray(shape, f"u{itemsize}", wanted, start, strides)[...] = src
    with short_ones_too():
        plan = copy_with(width, Choice(streamed=streamed), dst, src, threads)
    assert plan.kernel == ("deinterleave" if apart else "interleave")
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize("width", [width for width in WIDTHS if width])
@pytest.mark.parametrize("apart", [False, True])
def test_streams_are_copied_without_a_buffer_where_there_is_no_memory_for_one(apart, width):
    """Rows of three channels that share lines, which are put together otherwise."""
    shape, order = ((100, 250, 3), (0, 2, 1)) if apart else ((100, 3, 250), (0, 2, 1))
    src = np.random.default_rng(7).random(shape, np.float32).transpose(order)
    dst = np.zeros(src.shape, np.float32)
    host = Host(width, cache_bytes=0, dst_phase=dst.ctypes.data % 64)
    plan = plan_for(normal(dst.shape, dst.strides, src.strides, 4), host)
    assert plan.descriptor[MODE] & STAGE_OUT
    plan.descriptor[OUT_BYTES] = 1 << 60
    assert engine.Ready(plan, width)(engine.cell(dst), engine.cell(src), 1) == DONE
    assert np.array_equal(dst, src)


@needs_fences
@relaxed
@given(
    **streams,
    streamed=st.sampled_from([0, 1]),
    apart=st.booleans(),
    at_end=st.booleans(),
)
def test_nothing_beside_streams_is_read(width, itemsize, number, length, streamed, apart, at_end):
    shape = (number, length) if apart else (length, number)
    src = fenced(number * length * itemsize, at_end)
    src[:] = np.random.default_rng(length).integers(0, 256, len(src), np.uint8)
    src = src.view(f"u{itemsize}").reshape(shape[::-1]).T
    dst = fenced(number * length * itemsize, at_end).view(f"u{itemsize}").reshape(shape)
    with short_ones_too():
        copy_with(width, Choice(streamed=streamed), dst, src)
    assert np.array_equal(dst, src)
