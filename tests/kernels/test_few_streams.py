"""Few rows of the source that become short rows of the target: channels first that become last, more than four."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels.descriptor import MODE, NARROW, STAGE_IN
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Choice, Host

from .arrays import TYPES, fenced, needs_fences
from .copying import WIDTHS, copy_with, relaxed


@needs_fences
@pytest.mark.parametrize("width", [width for width in WIDTHS if width])
@relaxed
@given(
    itemsize=st.sampled_from([1, 2, 4, 8]),
    row=st.integers(5, 60),
    length=st.integers(64, 700),
    images=st.integers(1, 3),
    start=st.integers(0, 64),
    streamed=st.sampled_from([0, 1]),
    threads=st.sampled_from([1, 3]),
)
def test_the_same_bits_and_nothing_beside(width, itemsize, row, length, images, start, streamed, threads):
    """Registers of several columns hang over their rows; nothing before or behind the source is touched."""
    channels = max(3, row // itemsize)
    memory = fenced(images * channels * length * itemsize, at_end=bool(start & 1))
    memory[:] = np.random.default_rng(length).integers(0, 256, memory.size, np.uint8)
    src = memory.view(TYPES[itemsize]).reshape(images, channels, length).transpose(0, 2, 1)
    target = np.full(src.size * itemsize + 2 * LINE + 64, 0xA5, np.uint8)
    dst = target[LINE + start :][: src.size * itemsize].view(TYPES[itemsize]).reshape(src.shape)
    wanted = target.copy()
    wanted[LINE + start :][: src.size * itemsize] = np.ascontiguousarray(src).reshape(-1).view(np.uint8)
    plan = copy_with(width, Choice(order="src", streamed=streamed), dst, src, threads)
    assert plan.kernel in ("transpose", "interleave")
    if plan.kernel == "transpose" and channels * itemsize <= 32:
        assert plan.descriptor[MODE] & NARROW
    assert np.array_equal(target, wanted)


@pytest.mark.parametrize(
    ("channels", "item", "kernel", "narrow"),
    [
        (5, 1, "pieces", False),  # few windows to a line
        (8, 1, "transpose", True),
        (16, 1, "transpose", True),
        (48, 1, "transpose", True),
        (56, 1, "transpose", False),
        (12, 4, "transpose", True),
        (16, 4, "transpose", False),  # whole blocks
    ],
)
def test_how_many_streams_become_rows(channels, item, kernel, narrow):
    length = 2_000_000
    form = normal((length, channels), (channels * item, item), (item, length * item), item)
    plan = plan_for(form, Host(window=LINE, cache_bytes=0))
    assert plan.kernel == kernel
    if kernel == "transpose":
        assert bool(plan.descriptor[MODE] & NARROW) is narrow
        assert bool(plan.staged & STAGE_IN) is (channels * item < LINE)


@pytest.mark.parametrize(("items", "gap", "kernel"), [(9, 36, "items"), (9, 0, "transpose"), (12, 48, "transpose")])
@pytest.mark.parametrize("intel", [False, True])
def test_source_rows_of_few_items_are_gathered_where_they_follow_each_other(items, gap, kernel, intel):
    """Each that lies apart takes as long as some items."""
    pitch = items * 4 + gap
    form = normal((2000, items, 300), (items * 1200, 1200, 4), (300 * pitch, 4, pitch), 4)
    assert plan_for(form, Host(cache_bytes=0, intel=intel)).kernel == kernel
