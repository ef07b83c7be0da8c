"""The cases under pytest-benchmark, which saves, compares and plots them as its users know it.

    pytest --pyargs stridecheck.benchmarks --benchmark-only -k 'transposed and torch'

The list of cases and the calls are those of `stridecheck bench`; rounds and calibration are pytest-benchmark's. Each
case is a group, so that its table compares libraries. `STRIDECHECK_THREADS` is the number of threads.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import pytest
from stridecheck.conformance import discovery
from stridecheck.conformance.adapters import reference
from stridecheck.reports.records import Timing

from .bench import DEFAULT_ADAPTERS, Options, Session
from .cases import CASES, Case
from .prepare import expected_answer, prepare
from .threads import set_threads

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed: pip install 'stridecheck[pytest]'")

THREADS = int(os.environ.get("STRIDECHECK_THREADS", "1"))


@lru_cache(maxsize=1)
def _adapters() -> dict[str, Any]:
    """The libraries that are here."""
    found: dict[str, Any] = {}
    for name in DEFAULT_ADAPTERS:
        try:
            found[name] = discovery.find(name)[0]()
        except (discovery.NotInstalled, ImportError):
            continue
    set_threads(list(found.values()), THREADS)
    return found


@lru_cache(maxsize=1)
def _session() -> Session:
    return Session(list(_adapters().values()), Options(threads=THREADS, quick=True))


@lru_cache(maxsize=1)
def _timings(case: Case) -> dict[str, Timing]:
    """The case on all libraries by our own clock, which weighs each against the best copy of the same rounds."""
    return dict(zip(_adapters(), _session().time(case), strict=True))


@pytest.mark.parametrize("name", DEFAULT_ADAPTERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, name: str, benchmark: Any) -> None:
    """One case on one library: its answer is compared with the oracle's before it is timed."""
    if name not in _adapters():
        pytest.skip(f"{name} is not installed here")
    timing = _timings(case)[name]
    if timing.status == "unsupported":
        pytest.skip(f"{timing.adapter}, unsupported: {timing.reason}")
    assert timing.status == "ok", timing.reason
    adapter = _adapters()[name]
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
        program=case.program.id,
    )
    benchmark(prepare(case.program, adapter, expected_answer(case.program, reference.adapter())).call)
