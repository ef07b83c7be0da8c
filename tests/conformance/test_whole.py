"""Programs that are run as one function each: what such a run leaves behind is what single steps leave."""

from __future__ import annotations

import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.execute import execute
from stridecheck.conformance.program import DType, Input, Program, Ref, Step, Storage
from stridecheck.conformance.whole import execute_whole


class _Whole(Numpy):
    """NumPy, which changes nothing of a function that it takes as a whole."""

    def whole(self, function):
        return function


X, R0, R1 = Ref(0), Ref(1), Ref(2)
STEPS = {
    "a view of a result as another dtype": (
        Step("neg", (X,)),
        Step("view", (R0, DType("int32"))),
        Step("unsqueeze", (R1, 0)),
    ),
    "a write to a view of a result": (Step("neg", (X,)), Step("permute", (R0, (1, 0))), Step("mul_", (R1, 2))),
    "a step after one that raised": (Step("neg", (X,)), Step("permute", (R0, (5, 0))), Step("neg", (R0,))),
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_whole_run_leaves_what_single_steps_leave(steps):
    """Each step is looked at after a run of all before it, and of nothing else."""
    program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), steps)
    seen, single = execute_whole(program, _Whole()), execute(program, Numpy())
    assert [one.raised and one.raised.type for one in seen] == [one.raised and one.raised.type for one in single]
    for whole, apart in zip(seen, single, strict=True):
        assert {key: state.data for key, state in whole.values.items()} == {
            key: state.data for key, state in apart.values.items()
        }
