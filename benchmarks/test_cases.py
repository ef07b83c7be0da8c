"""The cases under pytest-benchmark, which saves, compares and plots them as its users know it.

    pytest --pyargs stridecheck.benchmarks --benchmark-only -k 'transposed and torch'
    STRIDECHECK_CASES='model.*' pytest --pyargs stridecheck.benchmarks --benchmark-only

The list of cases and the calls are those of `stridecheck bench`; rounds and calibration are pytest-benchmark's. Each
case is a group, so that its table compares libraries. `STRIDECHECK_THREADS` is the number of threads,
`STRIDECHECK_CASES` are globs as for `--cases`: what is not timed unless it is asked for is asked for so, and
`STRIDECHECK_ADAPTERS` names libraries as `--adapters` does.
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

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed: pip install pytest-benchmark")


def _threads() -> int:
    said = os.environ.get("STRIDECHECK_THREADS", "1")
    if not said.isdecimal() or not int(said):
        raise pytest.UsageError(f"STRIDECHECK_THREADS is a number of threads, from 1 on, not {said!r}")
    return int(said)


THREADS = _threads()
ADAPTERS = tuple(os.environ.get("STRIDECHECK_ADAPTERS", "").replace(",", " ").split()) or DEFAULT_ADAPTERS


def _cases() -> list[AnyCase]:
    try:
        return select(os.environ.get("STRIDECHECK_CASES", "").split())
    except UnknownCase as error:
        raise pytest.UsageError(str(error)) from None


@lru_cache(maxsize=1)
def _session() -> tuple[Session, dict[str, str], dict[str, str]]:
    """A session, and libraries by what each is asked for as: names of those that are here, why others are not."""
    session = Session(THREADS, clock.QUICK)
    loaded = {spec: session.load(spec).adapter for spec in ADAPTERS}
    absent = {spec: adapter.reason for spec, adapter in loaded.items() if adapter.status != "ready"}
    return session, {spec: adapter.name for spec, adapter in loaded.items() if spec not in absent}, absent


@lru_cache(maxsize=1)
def _timings(case: AnyCase) -> dict[str, Timing]:
    """The case on all libraries by our own clock, which weighs each against the best copy of the same rounds."""
    session, names, _ = _session()
    return {timing.adapter: timing for timing in session.time(Time(case, tuple(names.values())))}


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_case(case: AnyCase, name: str, benchmark: Any) -> None:
    """One case on one library: its answer is compared with the oracle's before it is timed."""
    session, names, absent = _session()
    if name in absent:
        pytest.skip(f"{name}: {absent[name]}")
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
        threads=timing.threads,
        cache=timing.cache,
        peak_bytes=timing.peak_bytes,
        copied=timing.copied,
        predicted=timing.predicted,
        x_copy=timing.x_copy,
        x_traffic=timing.x_traffic,
        program=case.program.id if isinstance(case, Case) else "",
    )
    benchmark(session.call(case, names[name]))
