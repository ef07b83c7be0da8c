"""The small scope: every program in it is valid, of one step, and judged alike by torch and the oracle."""

from __future__ import annotations

from collections import Counter

import pytest
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.operations import OPERATIONS
from stridecheck.conformance.small_scope import programs


@pytest.fixture(scope="module")
def all_programs():
    return list(programs())


def test_programs_are_valid_and_of_one_step(all_programs):
    """Every program passes `check`, has one step, and hardly any comes twice."""
    for program in all_programs:
        program.check()
        assert len(program.steps) == 1
        assert program.steps[0].op in OPERATIONS
    assert len({p.id for p in all_programs}) > 0.95 * len(all_programs)


def test_each_operation_is_accepted_and_refused(all_programs, oracle):
    """The bounds reach outside of what is allowed: operations that can refuse arguments do, and all accept some."""
    accepted, refused = Counter(), Counter()
    for program in all_programs[::3]:
        raised = execute(program, oracle)[1].raised is not None
        (refused if raised else accepted)[program.steps[0].op] += 1
    assert set(accepted) == {p.steps[0].op for p in all_programs}
    assert set(refused) >= {
        "view",
        "unsqueeze",
        "squeeze",
        "transpose",
        "expand",
        "select",
        "narrow",
        "unfold",
        "split",
    }


def test_torch_does_what_the_oracle_does(all_programs, oracle):
    """No program of the small scope differs on eager torch, in any aspect."""
    library = Torch()
    for program in all_programs[::7]:
        verdicts = judge(program, execute(program, oracle), execute(program, library), library.capabilities)
        assert [v.differences for v in verdicts if v.differences] == [], program
