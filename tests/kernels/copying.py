"""Copies by kernels that the test chooses, where `strided_copy` would choose others or leave them to NumPy."""

from hypothesis import HealthCheck, settings
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Host

relaxed = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
WIDTHS = [width for width in (64, 32, 0) if width <= machine.vector_bytes()]


def copied(dst, src, threads):
    """Copy with a kernel even where NumPy would be as good."""
    ready = engine.prepared(dst, src)
    if ready is None:
        dst[...] = src
    else:
        answer = ready(engine.cell(dst), engine.cell(src), threads)
        if answer != DONE:
            engine.copy_otherwise(dst, src, answer, threads)


def copy_with(width, choice, dst, src, threads=1, *, intel=False):
    """Copy as planned for registers of so many bytes and caches of 1 MB; answers the plan."""
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    phase = (dst.ctypes.data + form.dst_shift) % 64
    plan = plan_for(form, Host(width=width, cache_bytes=1 << 20, dst_phase=phase, intel=intel), choice)
    answer = engine.Ready(plan, width)(engine.cell(dst), engine.cell(src), threads)
    assert answer == DONE
    return plan
