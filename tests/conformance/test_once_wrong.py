"""Programs on which the oracle was wrong once: what random programs were shrunk to, judged on torch ever since.

`stridecheck promote RESULTS ID --to tests/conformance/once_wrong.jsonl` appends one. What was wrong is told in
`docs/semantics/corrections.md`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from stridecheck.conformance import corpus
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge

pytestmark = pytest.mark.filterwarnings("ignore")  # torch says that some of them will go away

PROGRAMS = corpus.read_file(Path(__file__).with_name("once_wrong.jsonl"))


@pytest.fixture(scope="module")
def library():
    return Torch()


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{p.steps[-1].op}-{p.id}" for p in PROGRAMS])
def test_the_oracle_does_as_torch(program, oracle, library):
    """Nothing differs, in any aspect, at any step."""
    verdicts = judge(program, execute(program, oracle), execute(program, library), library.capabilities)
    assert [difference.message for verdict in verdicts for difference in verdict.differences] == []
