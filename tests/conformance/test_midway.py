"""Programs that begin midway: what remains of them does what it did in the whole program."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from stridecheck.conformance.draw.strategies import programs
from stridecheck.conformance.elements import elements
from stridecheck.conformance.execute import execute
from stridecheck.conformance.midway import without_steps
from stridecheck.conformance.program import Input, Program, Ref, Slice, Step, Storage
from stridecheck.reference_impl.shadow import EXACT


def _end(program, seen):
    """The last state of everything: values by key, with their elements, and storages by name."""
    states, contents = {}, {}
    for observation in seen:
        states.update(observation.values)
        contents.update(observation.storages)
    return states, contents


def _layout(state):
    return state.dtype, state.shape, state.strides, state.offset, state.contiguity


@given(programs())
@settings(max_examples=150, deadline=None)
def test_what_remains_does_what_it_did(oracle, program):
    """Whatever steps are left out, every later step answers or raises as before, with the same layouts and elements.

    But for what an input cannot have: a history, for which some writes are refused, and a gradient.
    """
    seen = execute(program, oracle)
    if any(observation.raised and observation.raised.kind == "grad" for observation in seen):
        return
    gives_gradients = [number for number, step in enumerate(program.steps) if step.op == "backward"]
    states, contents = _end(program, seen)
    for last in range(len(program.steps) - 1):
        midway = without_steps(program, seen, 0, last)
        if midway is None or not _is_whole(midway) or any(number <= last for number in gives_gradients):
            continue
        again = execute(midway, oracle)
        assert midway.steps == () or len(again) == len(seen) - last - 1
        ours, memory = _end(midway, again)
        for number in range(last + 1, len(program.steps)):
            then, now = seen[number + 1], again[number - last]
            assert (then.raised and then.raised.kind) == (now.raised and now.raised.kind)
            slot, place = program.slot_of(number), midway.slot_of(number - last - 1)
            for key in (key for key in then.values if key.partition(".")[0] == str(slot)):
                key_now = str(place) + key[len(str(slot)) :]
                assert _layout(ours[key_now]) == _layout(states[key])
                shadow = contents[states[key].storage].shadow
                if shadow is None or set(shadow) == {EXACT}:
                    mine, theirs = elements(states[key], contents), elements(ours[key_now], memory)
                    assert mine is None or mine.tobytes() == theirs.tobytes()


def _is_whole(program):
    """Whether every input lies in its storage: a value whose storage has shrunk does not."""
    try:
        program.check()
    except ValueError:
        return False
    return True


MATRIX = (Storage(24),), (Input("float32", (2, 3), (3, 1)),)


def test_views_of_one_storage_stay_so(oracle):
    """Two views of a copy become inputs over one new storage, which holds what had been written to it."""
    program = Program(
        *MATRIX,
        (
            Step("clone", (Ref(0),)),
            Step("t", (Ref(1),)),
            Step("__getitem__", (Ref(1), (0, Slice(1, None)))),
            Step("fill_", (Ref(3), 2)),
            Step("add_", (Ref(2), Ref(2))),
        ),
    )
    seen = execute(program, oracle)
    midway = without_steps(program, seen, 0, 3)
    assert [storage.fill for storage in midway.storages] == ["ramp1", "literal"]
    assert midway.storages[1].data == seen[4].storages["v1"].data
    _, copy, view, part = midway.inputs
    assert {item.storage for item in (copy, view, part)} == {1}
    assert (view.shape, view.strides, view.offset) == ((3, 2), (1, 3), 0)
    assert (part.shape, part.strides, part.offset) == ((2,), (1,), 1)
    assert midway.steps == (Step("add_", (Ref(2), Ref(2))),)


def test_an_input_has_no_gradient(oracle):
    """What `backward` left with a leaf is no part of its layout: the leaf begins without."""
    number = Program((Storage(4),), (Input("float32", (), (), requires_grad=True),), ())
    program = replace(number, steps=(Step("backward", (Ref(0),)), Step("grad", (Ref(0),))))
    midway = without_steps(program, execute(program, oracle), 0, 0)
    assert midway.inputs[0].requires_grad
    assert execute(program, oracle)[2].values["2"].shape == ()
    assert execute(midway, oracle)[1].values == {}


def test_a_value_that_is_another_one_becomes_that(oracle):
    """The result of a write is the tensor written to, so it is that input which later steps use, and it was changed."""
    program = Program(*MATRIX, (Step("zero_", (Ref(0),)), Step("transpose_", (Ref(1), 0, 1)), Step("neg", (Ref(2),))))
    midway = without_steps(program, execute(program, oracle), 0, 1)
    assert midway.inputs == (Input("float32", (3, 2), (1, 3)),)
    assert midway.storages == (Storage(24, "literal", data=bytes(24)),)
    assert midway.steps == (Step("neg", (Ref(0),)),)


def test_a_step_among_others_leaves_storages_as_they_were(oracle):
    """A view in the middle becomes an input over the storage as the program begins: the steps before it still write."""
    steps = (Step("zero_", (Ref(0),)), Step("t", (Ref(0),)), Step("add", (Ref(2), Ref(1))))
    program = Program(*MATRIX, steps)
    midway = without_steps(program, execute(program, oracle), 1, 1)
    assert midway.storages == program.storages
    assert midway.inputs == (program.inputs[0], Input("float32", (3, 2), (1, 3)))
    assert midway.steps == (Step("zero_", (Ref(0),)), Step("add", (Ref(1), Ref(2))))


@pytest.mark.parametrize(
    ("steps", "first", "last"),
    [
        ((Step("clone", (Ref(0),)), Step("t", (Ref(1),)), Step("neg", (Ref(2),))), 1, 1),
        ((Step("numel", (Ref(0),)), Step("neg", (Ref(1),))), 0, 0),
        ((Step("view", (Ref(0), (5,))), Step("neg", (Ref(1),))), 0, 0),
    ],
    ids=["memory of a step that remains", "a number", "a step that raised"],
)
def test_what_cannot_be_an_input_is_left_alone(steps, first, last, oracle):
    """There is no such program where a value has no layout, or lies in memory that another step will make."""
    program = Program(*MATRIX, steps)
    assert without_steps(program, execute(program, oracle), first, last) is None


def test_parts_of_a_tuple_become_inputs(oracle):
    """Each item of a tuple is an input of its own."""
    program = Program(*MATRIX, (Step("split", (Ref(0), 1)), Step("add", (Ref(1, 1), Ref(1, 0)))))
    midway = without_steps(program, execute(program, oracle), 0, 0)
    assert [(item.shape, item.offset) for item in midway.inputs[1:]] == [((1, 3), 0), ((1, 3), 3)]
    assert midway.steps == (Step("add", (Ref(2), Ref(1))),)
