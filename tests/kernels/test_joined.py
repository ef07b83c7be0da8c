"""Runs past the caches that share lines of the target, which are put together from both in a register."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host

from .arrays import fenced, needs_fences
from .copying import relaxed

pytestmark = pytest.mark.skipif(
    machine.window_bytes(machine.vector_bytes()) < LINE, reason="no permutation of two registers' bytes"
)


def host(phase):
    return Host(cache_bytes=0, window=LINE, dst_phase=phase)


def planned(shape, order, nbytes, phase=16):
    """Runs of so many bytes that change places, to a target without gaps."""
    src = np.zeros((*(shape[k] for k in np.argsort(order)), nbytes), np.uint8).transpose(*order, len(order))
    dst = np.zeros(src.shape, np.uint8)
    return plan_for(normal(dst.shape, dst.strides, src.strides, 1), host(phase))


@needs_fences
@settings(relaxed, suppress_health_check=[*HealthCheck])
@given(data=st.data(), nbytes=st.integers(64, 700), phase=st.integers(0, 63), threads=st.sampled_from([1, 3]))
def test_the_same_bits_and_nothing_beside(data, nbytes, phase, threads, monkeypatch):
    """Rows that follow each other and rows with gaps, of runs with gaps, in any order, backwards, too.

    What lies before and behind the source may not be touched.
    """
    monkeypatch.setattr(engine, "SHARED", 0)
    length = data.draw(st.integers(-(-2048 // nbytes), 40))
    others = data.draw(st.lists(st.integers(1, 6), max_size=2))
    gap, apart = data.draw(st.integers(0, 90)), data.draw(st.integers(0, 90))
    order = data.draw(st.permutations(range(1 + len(others))))
    held = [([*others, length])[k] for k in order]
    pitches = [nbytes + gap]
    for n in reversed(held[1:]):
        pitches.insert(0, n * pitches[0])
    memory = fenced(held[0] * pitches[0] - gap, data.draw(st.booleans()))
    memory[:] = np.random.default_rng(nbytes).integers(0, 256, memory.size, np.uint8)
    src = np.ndarray((*held, nbytes), np.uint8, memory, 0, (*pitches, 1)).transpose(*np.argsort(order), len(order))
    if data.draw(st.booleans()):
        src = src[..., ::-1, :]
    row = length * nbytes + apart
    target = np.full(int(np.prod(others, initial=1)) * row + 4 * LINE, 0xA5, np.uint8)
    start = LINE + -target.ctypes.data % LINE + phase
    steps, span = [nbytes, 1], row
    for n in reversed(others):
        steps.insert(0, span)
        span *= n
    dst = np.ndarray(src.shape, np.uint8, target, start, steps)
    wanted = target.copy()
    np.ndarray(src.shape, np.uint8, wanted, start, steps)[...] = src
    form = normal(dst.shape, dst.strides, src.strides, 1)
    plan = plan_for(form, host((dst.ctypes.data + form.dst_shift) % LINE))
    assert engine.Ready(plan, LINE)(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(target, wanted)


@pytest.mark.parametrize(
    ("shape", "order", "nbytes", "phase", "kernel"),
    [
        ((9, 16, 64), (0, 2, 1), 64, 16, "joined"),  # attention's heads of bytes
        ((9, 16, 64), (0, 2, 1), 64, 0, "runs"),  # whole lines
        ((9, 16, 64), (0, 2, 1), 512, 0, "runs"),
        ((9, 16, 64), (0, 2, 1), 768, 0, "joined"),  # whole lines, but long
        ((9, 16, 64), (0, 2, 1), 100, 0, "joined"),
        ((9, 64, 16), (0, 2, 1), 48, 16, "pieces"),  # three runs to a line
        ((90, 4, 16), (0, 2, 1), 16_400, 16, "joined"),
        ((90, 4, 16), (0, 2, 1), 262_160, 16, "runs"),  # few lines are shared
        ((90, 5, 4), (0, 2, 1), 100, 16, "pieces"),  # short rows
    ],
)
def test_what_is_joined(shape, order, nbytes, phase, kernel):
    assert planned(shape, order, nbytes, phase).kernel == kernel


@pytest.mark.parametrize(("nbytes", "gap", "kernel"), [(64, 16, "pieces"), (64, 64, "joined"), (200, 16, "joined")])
def test_short_runs_that_lie_near_each_other_are_put_together_as_they_come(nbytes, gap, kernel):
    form = normal((5000, nbytes), (nbytes, 1), (nbytes + gap, 1), 1)
    assert plan_for(form, host(16)).kernel == kernel


@pytest.mark.parametrize("intel", [False, True])
def test_they_are_joined_wherever_two_registers_can_be(intel):
    form = normal((5000, 200), (200, 1), (216, 1), 1)
    assert plan_for(form, replace(host(16), intel=intel)).kernel == "joined"
    assert plan_for(form, replace(host(16), intel=intel, window=16)).kernel == "pieces"


def test_a_run_that_is_repeated_is_not_joined():
    form = normal((5000, 200), (200, 1), (0, 1), 1)
    assert plan_for(form, host(16)).kernel != "joined"
