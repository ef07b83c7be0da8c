"""Runs of whole lines past the caches: on Intel's processors they are copied from some places in turn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, B_CHUNK, DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host

from .arrays import fenced, needs_fences
from .copying import relaxed


@needs_fences
@relaxed
@given(
    held=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    lines=st.integers(2, 8),
    gap=st.sampled_from([0, 16, LINE]),
    threads=st.sampled_from([1, 3]),
    data=st.data(),
)
def test_the_same_bits_in_any_order_and_nothing_beside(held, lines, gap, threads, data):
    order = data.draw(st.permutations(range(len(held))))
    pitch = lines * LINE + gap
    steps = [pitch * int(np.prod(held[k + 1 :], initial=1)) for k in range(len(held))]
    memory = fenced(held[0] * steps[0] - gap, data.draw(st.booleans()))
    memory[:] = np.random.default_rng(lines).integers(0, 256, memory.size, np.uint8)
    src = np.ndarray((*held, lines * LINE), np.uint8, memory, 0, (*steps, 1)).transpose(*order, len(order))
    target = np.full(src.size + 2 * LINE, 0xA5, np.uint8)
    start = -target.ctypes.data % LINE
    dst = target[start : start + src.size].reshape(src.shape)
    form = normal(dst.shape, dst.strides, src.strides, 1)
    width = machine.vector_bytes()
    plan = plan_for(form, Host(width=width, cache_bytes=0, intel=True))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "SHARED", 0)
        assert engine.Ready(plan, width)(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(dst, src)
    assert (target[:start] == 0xA5).all()
    assert (target[start + src.size :] == 0xA5).all()


@pytest.mark.parametrize(
    ("heads", "nbytes", "places"),
    [(12, 256, 4), (2, 128, 4), (12, 1024, 0), (1, 256, 0)],
)
def test_how_many_places(heads, nbytes, places):
    """Permuted heads of attention: long ones are copied as they come, and so is what lies in one piece."""
    src = np.zeros((16, 100, heads, nbytes), np.uint8).transpose(0, 2, 1, 3)
    dst = np.zeros(src.shape, np.uint8)
    plan = plan_for(normal(dst.shape, dst.strides, src.strides, 1), Host(cache_bytes=0, intel=True))
    assert plan.kernel == "runs"
    if places:
        assert (plan.descriptor[B_CHUNK], plan.descriptor[A_CHUNK]) == (places, min(heads, 16))
    else:
        assert plan.descriptor[B_CHUNK] != 4
