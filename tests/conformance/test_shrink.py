"""Shrinking: only whole programs, within a budget, and down to what shows the bug and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.conformance.draw.programs import draw_program
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.draw.strategies import programs
from stridecheck.conformance.execute import execute
from stridecheck.conformance.program import DType, Input, Program, Ref, Slice, Step, Storage
from stridecheck.conformance.shrink import shrink


@given(programs(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_only_whole_programs_are_tried_each_once_and_within_the_budget(oracle, program, random):
    """Whatever the failure depends on, every program tried passes `check`, none is tried twice, the budget is kept."""
    tried = []

    def fails(candidate):
        candidate.check()
        tried.append(candidate.id)
        return random.random() < 0.3

    small = shrink(program, fails, lambda p: execute(p, oracle), max_attempts=60)
    small.check()
    assert len(tried) == len(set(tried)) <= 60
    assert program.id not in tried
    assert small.id in {program.id, *tried}


def test_no_budget_leaves_the_program_as_it_is(oracle):
    """Without an attempt there is nothing to gain, and nothing is called."""
    program = draw_program(Seeded("budget"), oracle, steps=4).program
    assert shrink(program, pytest.fail, lambda p: execute(p, oracle), max_attempts=0) is program


def test_what_never_fails_again_stays_as_it_was(oracle):
    """A failure that does not repeat is not shrunk to something else."""
    program = draw_program(Seeded("flaky"), oracle, steps=3).program
    assert shrink(program, lambda candidate: False, lambda p: execute(p, oracle)) == program


@pytest.mark.parametrize("seed", range(6))
def test_a_step_that_fails_anywhere_is_left_alone_and_minimal(seed, oracle):
    """Where one operation is all it takes, one input of one step is left, without offset, odd strides or guard."""
    drawn = (draw_program(Seeded(f"{seed}:{n}"), oracle, steps=5).program for n in range(1000))
    program = next(p for p in drawn if any(step.op == "permute" for step in p.steps))
    small = shrink(program, lambda p: any(step.op == "permute" for step in p.steps), lambda p: execute(p, oracle))
    assert [step.op for step in small.steps] == ["permute"]
    ((storage,), (item,)) = small.storages, small.inputs
    assert (storage.backing, item.offset, item.shape) == ("owned", 0, ())
    assert item.dtype in ("float32", "bool")
    step = small.steps[0]
    # No dimensions, as one tuple, by its name, or one by one.
    assert (*step.args, *[value for _, value in step.kwargs]) in ((Ref(0), ()), (Ref(0),))
    assert small.tags == ()


def test_what_a_failure_needs_is_kept(oracle):
    """A condition on the offset and on one size is kept to the letter, and everything else goes."""
    program = Program(
        (Storage(400, backing="guarded"), Storage(64)),
        (Input("int16", (3, 4, 2), (40, 5, 2), 9), Input("float32", (4,), (1,), 2, 1)),
        (Step("add", (Ref(0), 3)), Step("narrow", (Ref(0), 1, 1, 2)), Step("mul", (Ref(3), 4))),
        tags=("found",),
    )

    def fails(p):
        return any(s.op == "narrow" for s in p.steps) and any(4 in i.shape and i.offset >= 3 for i in p.inputs)

    small = shrink(program, fails, lambda p: execute(p, oracle))
    assert len(small.inputs) == len(small.steps) == len(small.storages) == 1
    assert (small.inputs[0].shape, small.inputs[0].offset) == ((4,), 3)
    assert small.storages[0].nbytes == 28  # four elements from the third on
    assert small.steps[0].op == "narrow"


def test_arguments_get_simpler(oracle):
    """Numbers go towards 0 and 1, slices lose their parts, tuples their items, keywords go."""
    step = Step("__getitem__", (Ref(0), (Slice(3, -1, 2), 5, ...)), (("dtype", DType("int8")), ("dim", -7)))
    program = Program((Storage(400),), (Input("int8", (9, 9), (9, 1)),), (step,))

    def fails(p):
        return any(isinstance(a, tuple) and Slice in map(type, a) for s in p.steps for a in s.args)

    small = shrink(program, fails, lambda p: execute(p, oracle))
    assert small.steps[0] == Step("__getitem__", (Ref(0), (Slice(),)))


def _operands(program, oracle):
    """States of what the last step uses, as it finds them; none where there is no step."""
    states = {}
    for observation in execute(program, oracle)[:-1]:
        states.update(observation.values)
    return [states[ref.key] for step in program.steps[-1:] for ref in step.refs() if ref.key in states]


def test_steps_become_the_input_of_the_one_that_fails(oracle):
    """Of views before a failing step nothing is left but the layout that they had made, as small as it can be."""
    views = (Step("t", (Ref(0),)), Step("__getitem__", (Ref(1), (Slice(1, None),))), Step("neg", (Ref(2),)))
    program = Program((Storage(200),), (Input("int32", (4, 5), (5, 1), 3),), views)

    def fails(p):
        return [s.op for s in p.steps[-1:]] == ["neg"] and any(x.contiguity[0] == "F" for x in _operands(p, oracle))

    small = shrink(program, fails, lambda p: execute(p, oracle))
    assert small.inputs == (Input("float32", (2,), (0,)),)
    assert small.storages == (Storage(4),)
    assert small.steps == (Step("neg", (Ref(0),)),)


def test_values_of_one_storage_become_inputs_that_share_it(oracle):
    """Where a failure needs two values on memory that a step has made, they become inputs on one storage."""
    steps = (
        Step("clone", (Ref(0),)),
        Step("view", (Ref(1), (6,))),
        Step("narrow", (Ref(2), 0, 2, 3)),
        Step("zero_", (Ref(2),)),
        Step("copy_", (Ref(3), Ref(1))),
    )
    program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), steps)

    def fails(p):
        states = _operands(p, oracle)
        shared = len(states) == 2 and states[0].storage == states[1].storage
        return shared and states[0].offset != states[1].offset and p.steps[-1].op == "copy_"

    small = shrink(program, fails, lambda p: execute(p, oracle))
    assert [step.op for step in small.steps] == ["copy_"]
    assert [(item.shape, item.offset, item.storage) for item in small.inputs] == [((), 1, 0), ((), 0, 0)]
    assert small.storages == (Storage(8),)
