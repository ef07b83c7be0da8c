"""Runs of whole lines past the caches: on Intel's processors they are copied from some places in turn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, B_CHUNK, DONE, RUN
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host

from .arrays import fenced, needs_fences
from .copying import relaxed


@needs_fences
@relaxed
@given(
    held=st.lists(st.integers(2, 9), min_size=2, max_size=4),
    lines=st.integers(2, 8),
    gap=st.sampled_from([0, 16, LINE]),
    threads=st.sampled_from([1, 3]),
    data=st.data(),
)
def test_the_same_bits_in_any_order_and_nothing_beside(held, lines, gap, threads, data):
    order = data.draw(st.permutations(range(len(held))).filter(lambda x: list(x) != sorted(x)))
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
    assert plan.kernel == "runs"
    if width == LINE and plan.form.dims[-1].length * plan.form.item <= 512:  # else some runs are one
        assert 2 <= plan.descriptor[B_CHUNK] <= 4
    assert np.array_equal(dst, src)
    assert (target[:start] == 0xA5).all()
    assert (target[start + src.size :] == 0xA5).all()


@pytest.mark.parametrize(
    ("tokens", "heads", "nbytes", "kernel", "places"),
    [
        (100, 12, 256, "runs", (4, 12)),
        (100, 40, 256, "runs", (4, 16)),
        (100, 12, 512, "runs", (4, 12)),
        (100, 12, 64, "runs", (8, 12)),  # some of a line that follow each other in the target by some in the source
        (1, 1600, 256, "runs", (256, 0)),  # one loop alone
        (100, 12, 768, "joined", None),
    ],
)
def test_how_many_places(tokens, heads, nbytes, kernel, places):
    """Permuted heads of attention; the copied runs of B's turns and of A's, where A is not the run itself."""
    src = np.zeros((16, tokens, heads, nbytes + LINE), np.uint8)[..., :nbytes].transpose(0, 2, 1, 3)
    dst = np.zeros(src.shape, np.uint8)
    plan = plan_for(normal(dst.shape, dst.strides, src.strides, 1), Host(cache_bytes=0, intel=True, window=LINE))
    assert plan.kernel == kernel
    if places:
        in_a_go = plan.descriptor[A_CHUNK] if plan.descriptor[RUN] else 0
        assert (plan.descriptor[B_CHUNK], in_a_go) == places


@pytest.mark.parametrize("other", [{"intel": False}, {"width": 32}, {"dst_phase": 16}])
def test_not_elsewhere(other):
    src = np.zeros((16, 100, 12, 256), np.uint8).transpose(0, 2, 1, 3)
    dst = np.zeros(src.shape, np.uint8)
    host = replace(Host(cache_bytes=0, intel=True, window=LINE), **other)
    plan = plan_for(normal(dst.shape, dst.strides, src.strides, 1), host)
    assert plan.kernel != "runs" or plan.descriptor[B_CHUNK] != 4
