"""Situations: named predicates over steps, by which mutants go wrong and the corpus is chosen."""

from __future__ import annotations

from collections import Counter

import pytest
from stridecheck.conformance.classify import events
from stridecheck.conformance.draw.programs import draw_program
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.execute import execute
from stridecheck.conformance.program import ITEMSIZES, DType, Input, Program, Ref, Step, Storage
from stridecheck.conformance.situations import EMPTY, NAMED, OFFSET, dtype, negative, rank, traits


def _event(oracle, *steps, shape=(2, 3), strides=(3, 1), offset=0):
    program = Program((Storage(64),), (Input("float32", shape, strides, offset),), steps)
    return list(events(program, execute(program, oracle)))[-1]


def test_situations_combine(oracle):
    """`&`, `|` and `~` say of a step what they say of truth values, and are named so."""
    event = _event(oracle, Step("neg", (Ref(0),)), offset=2)
    assert OFFSET(event)
    assert not EMPTY(event)
    for one, holds in ((OFFSET & EMPTY, False), (OFFSET | EMPTY, True), (~OFFSET, False), (OFFSET & ~EMPTY, True)):
        assert one(event) is holds
    assert (OFFSET & ~(EMPTY | rank(2))).name == "offset & ~(empty | 2-d)"


def test_situations_look_at_what_was_there_before_the_step(oracle):
    """A slice that makes an offset is not yet in the situation; what is done to it is."""
    steps = Step("select", (Ref(0), 0, 1)), Step("neg", (Ref(1),))
    assert not OFFSET(_event(oracle, steps[0]))
    assert OFFSET(_event(oracle, *steps))


@pytest.mark.parametrize(
    ("step", "name", "holds"),
    [
        (Step("select", (Ref(0), 0, -1)), "index", True),
        (Step("select", (Ref(0), 0, 1)), "index", False),
        (Step("permute", (Ref(0), (1, -2))), "dims", True),
        (Step("neg", (Ref(0),)), "dims", False),
    ],
)
def test_arguments_count_from_the_end(step, name, holds, oracle):
    """Negative numbers are seen alone and inside of tuples, and not where there is no such argument."""
    assert negative(name)(_event(oracle, step)) is holds


def test_each_situation_tells_some_steps_from_others(oracle):
    """A situation that is always there, or never, would tell nothing: random programs know both of each."""
    seen, steps = Counter(), 0
    for number in range(4_000):
        drawn = draw_program(Seeded(f"situations:{number}"), oracle, draw="mixed" if number % 2 else "tensors")
        for event in events(*drawn):
            if event is not None:
                steps += 1
                seen.update(one.name for one in NAMED if one(event))
    rare = {dtype(name).name for name in ITEMSIZES}
    assert [one.name for one in NAMED if one.name not in rare and not 0 < seen[one.name] < steps] == []


def test_traits_say_situations_and_kinds_of_arguments(oracle):
    """What is said of a step has its situations, its arguments in short, and who else sees its memory."""
    step = Step("sum", (Ref(0), (0, -1)), (("dtype", DType("float64")), ("keepdim", True)))
    said = traits(_event(oracle, step, offset=1))
    assert {"offset", "row-major", "2-d", "float32", "dim of 2", "dim with 0", "dim with a negative number"} <= set(
        said
    )
    assert {"dtype=float64", "keepdim=True"} <= set(said)
    assert "others see its memory" not in said
    assert "others see its memory" in traits(_event(oracle, Step("detach", (Ref(0),)), Step("zero_", (Ref(0),))))


def test_of_a_refused_step_all_is_told_with_the_reason(oracle):
    """Nothing that is said of it stands alone: it was not done."""
    said = traits(_event(oracle, Step("view", (Ref(0), (5,)))))
    assert said[0] == "refused: size"
    assert "refused: size, size of 1" in said
    assert all(one.startswith("refused: size") for one in said)
    twice = traits(_event(oracle, Step("permute", (Ref(0), (1, -1)))))
    assert any(one.endswith("dims with one twice by two numbers") for one in twice)
