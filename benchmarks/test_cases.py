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
from stridecheck.conformance.execute import Unsupported

from . import memory
from .bench import DEFAULT_ADAPTERS
from .cases import CASES, Case
from .prepare import Answer, expected_answer, prepare
from .threads import set_threads

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed: pip install 'stridecheck[pytest]'")


@lru_cache(maxsize=1)
def _expected(case: Case) -> Answer | None:
    return expected_answer(case.program, reference.adapter())


@pytest.fixture(scope="session")
def load() -> Any:
    """A function that loads an adapter by name, each once; it skips the test where the library is not here."""
    loaded: dict[str, Any] = {}

    def load_(name: str) -> Any:
        if name not in loaded:
            try:
                loaded[name] = discovery.find(name)[0]()
            except (discovery.NotInstalled, ImportError) as error:
                pytest.skip(str(error))
            set_threads([loaded[name]], int(os.environ.get("STRIDECHECK_THREADS", "1")))
        return loaded[name]

    return load_


@pytest.mark.parametrize("name", DEFAULT_ADAPTERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, name: str, load: Any, benchmark: Any) -> None:
    """One case on one library: its answer is compared with the oracle's before it is timed."""
    adapter = load(name)
    reason = memory.too_little(memory.needed_bytes(case, 1), memory.available_bytes())
    if reason is not None:
        pytest.skip(reason)
    try:
        ready = prepare(case.program, adapter, _expected(case))
    except Unsupported as error:
        pytest.skip(f"{adapter.name} does not have {error}")
    benchmark.group = case.name
    benchmark.extra_info.update(
        adapter=adapter.name,
        layout=case.layout,
        dtype=case.dtype,
        shape=list(case.shape),
        output_bytes=ready.output_bytes,
        touched_bytes=ready.touched_bytes,
        copied=ready.copied,
        program=case.program.id,
    )
    benchmark(ready.call)
