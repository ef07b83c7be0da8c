"""Transposes past the caches to rows that all begin at one place within a line: whole lines, and strips beside them."""

import numpy as np
import pytest
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host

TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
needs_registers_of_a_line = pytest.mark.skipif(machine.vector_bytes() < LINE, reason="no registers of a line")


def copied(images, pixels, channels, itemsize, phase, turned_around=False, threads=1, intel=False):
    """Channels of images made the last dimension, in a target that begins so many bytes after a line; the plan."""
    bits = np.random.default_rng(3).integers(0, 256, images * pixels * channels * itemsize, np.uint8)
    src = bits.view(TYPES[itemsize]).reshape(images, channels, pixels).transpose(0, 2, 1)
    src = src[:, ::-1] if turned_around else src
    memory = np.full(bits.nbytes + 2 * LINE, 0xA5, np.uint8)
    start = -memory.ctypes.data % LINE + phase
    dst = memory[start : start + bits.nbytes].view(src.dtype).reshape(src.shape)
    form = normal(dst.shape, dst.strides, src.strides, itemsize)
    at = (dst.ctypes.data + form.dst_shift) % LINE
    plan = plan_for(form, Host(cache_bytes=1 << 16, dst_phase=at, intel=intel))
    assert engine.Ready(plan, LINE)(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(dst.view(np.uint8), np.ascontiguousarray(src).view(np.uint8))
    assert (memory[:start] == 0xA5).all()
    assert (memory[start + bits.nbytes :] == 0xA5).all()
    return plan


@needs_registers_of_a_line
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("phase", [0, 16, 48])
@pytest.mark.parametrize("intel", [False, True])
@pytest.mark.parametrize(("images", "pixels", "lines"), [(1, 784, 1), (3, 600, 2), (2, 577, 7)])
def test_rows_that_follow_each_other_are_lines_together(images, pixels, lines, itemsize, phase, intel, monkeypatch):
    """The end of one row and the start of the next; the first row's start and the last one's end lie beside."""
    monkeypatch.setattr(engine, "SHARED", 0)
    channels = lines * LINE // itemsize
    plan = copied(images, pixels, channels, itemsize, phase, threads=images, intel=intel)
    assert (plan.kernel, plan.staged, len(plan.more)) == ("transpose", 0, 2 * (phase > 0))
    if phase:
        beside = images * (LINE - phase), images * ((lines - 1) * LINE + phase)
        assert tuple(part.form.nbytes for part in plan.more) == beside


@needs_registers_of_a_line
@pytest.mark.parametrize("phase", [16, 3])
def test_neither_backwards_nor_where_items_lie_on_two_lines_is_anything_lost(phase):
    copied(2, 700, 64, 4, phase, turned_around=phase == 16)


def test_few_rows_are_not_turned():
    form = normal((90, 49, 64), (49 * 64, 64, 1), (49 * 64, 1, 49), 1)
    assert not plan_for(form, Host(cache_bytes=1 << 16, dst_phase=16)).more
