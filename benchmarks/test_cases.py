"""The cases under pytest-benchmark, which saves, compares and plots them as its users know it.

    pytest --pyargs stridecheck.benchmarks --benchmark-only -k 'transposed and torch'
    STRIDECHECK_CASES='model.*' pytest --pyargs stridecheck.benchmarks --benchmark-only

The list of cases and the calls are those of `stridecheck bench`; rounds and calibration are pytest-benchmark's. Each
case is a group, so that its table compares libraries. `STRIDECHECK_THREADS` is the number of threads, and
`STRIDECHECK_CASES` are globs as for `--cases`: what is not timed unless it is asked for is asked for so.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import pytest
from stridecheck.reports.records import Timing

from . import clock
from .bench import DEFAULT_ADAPTERS
from .cases import AnyCase, Case, UnknownCase, select
from .measure import Session, Time

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed: pip install 'stridecheck[pytest]'")

THREADS = int(os.environ.get("STRIDECHECK_THREADS", "1"))


def _cases() -> list[AnyCase]:
    try:
        return select(os.environ.get("STRIDECHECK_CASES", "").split())
    except UnknownCase as error:
        raise pytest.UsageError(str(error)) from None


@lru_cache(maxsize=1)
def _session() -> tuple[Session, dict[str, str]]:
    """A session, and the libraries that are here: what each is asked for as, and its name."""
    session = Session(THREADS, clock.QUICK)
    loaded = {spec: session.load(spec).adapter for spec in DEFAULT_ADAPTERS}
    return session, {spec: adapter.name for spec, adapter in loaded.items() if adapter.status == "ready"}


@lru_cache(maxsize=1)
def _timings(case: AnyCase) -> dict[str, Timing]:
    """The case on all libraries by our own clock, which weighs each against the best copy of the same rounds."""
    session, names = _session()
    return {timing.adapter: timing for timing in session.time(Time(case, tuple(names.values())))}


@pytest.mark.parametrize("name", DEFAULT_ADAPTERS)
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_case(case: AnyCase, name: str, benchmark: Any) -> None:
    """One case on one library: its answer is compared with the oracle's before it is timed."""
    session, names = _session()
    if name not in names:
        pytest.skip(f"{name} is not installed here")
    timing = _timings(case)[names[name]]
    if timing.status == "unsupported":
        pytest.skip(f"{timing.adapter}, unsupported: {timing.reason}")
    assert timing.status == "ok", timing.reason
    benchmark.group = case.name
    benchmark.extra_info.update(
        adapter=timing.adapter,
        layout=case.layout,
        dtype=case.dtype,
        shape=list(case.shape),
        output_bytes=timing.output_bytes,
        touched_bytes=timing.touched_bytes,
        copied=timing.copied,
        x_copy=timing.x_copy,
        x_traffic=timing.x_traffic,
        program=case.program.id if isinstance(case, Case) else "",
    )
    benchmark(session.call(case, names[name]))
