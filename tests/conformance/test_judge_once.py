"""Verdicts: a bug shows once, where it is, and what an adapter describes amiss is told as that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stridecheck.conformance.adapters.reference import Reference
from stridecheck.conformance.execute import execute
from stridecheck.conformance.invariants import broken
from stridecheck.conformance.judge import judge
from stridecheck.conformance.observation import from_json, to_json
from stridecheck.conformance.program import Input, MemoryFormat, Program, Ref, Step, Storage

from .judging import ALL, differences


class WrongClone(Reference):
    """`clone` gives back sevens."""

    def operation(self, step):
        if step.op == "clone":
            return lambda x, *rest: x.clone().fill_(7)
        return super().operation(step)


class CopyingView(Reference):
    """`transpose` copies."""

    def operation(self, step):
        real = super().operation(step)
        return (lambda *args: real(*args).clone()) if step.op == "transpose" else real


class Permuting(Reference):
    """`relu` answers in another memory order."""

    def operation(self, step):
        if step.op == "relu":
            return lambda x: x.relu().t().contiguous().t()
        return super().operation(step)


MATRIX = ((Storage(24),), (Input("float32", (2, 3), (3, 1)),))


@pytest.mark.parametrize(
    ("library", "steps", "aspects"),
    [
        (
            WrongClone,
            [
                Step("clone", (Ref(0),)),
                Step("neg", (Ref(1),)),
                Step("add", (Ref(1), Ref(2))),
                Step("tolist", (Ref(3),)),
            ],
            {"values", "storage", "flags"},
        ),
        (
            CopyingView,
            [
                Step("transpose", (Ref(0), 0, 1)),
                Step("fill_", (Ref(1), 3)),
                Step("neg", (Ref(0),)),
                Step("neg", (Ref(1),)),
            ],
            {"sharing", "strides", "layout", "contiguity", "flags"},
        ),
        (
            Permuting,
            [Step("relu", (Ref(0),)), Step("neg", (Ref(1),)), Step("view", (Ref(2), (6,))), Step("t", (Ref(1),))],
            {"strides", "layout", "contiguity", "flags"},
        ),
    ],
    ids=["wrong elements", "a copy for a view", "other strides"],
)
def test_what_follows_from_a_difference_is_not_told_again(library, steps, aspects, oracle):
    """A bug shows at the step that has it, and not in what is computed from its result, written through or viewed."""
    program = Program(*MATRIX, tuple(steps))
    found = differences(program, execute(program, oracle), execute(program, library()))
    assert {d.step for d in found} == {0}, [(d.step, d.aspect, d.message) for d in found]
    assert {d.aspect for d in found} <= aspects


class OtherSingles(Reference):
    """`relu` answers with other strides of dimensions of length 1."""

    def operation(self, step):
        if step.op == "relu":
            return lambda x: x.relu().as_strided(x.shape, (3, 1, 3, 3)).clone()
        return super().operation(step)


def test_a_format_that_other_strides_tell_is_not_told_again(oracle):
    """Strides of dimensions of length 1 decide whether a memory format asks for a copy; else nothing follows."""
    whole = (Storage(24),), (Input("float32", (2, 3, 1, 1), (3, 1, 1, 1)),)
    asked = (("memory_format", MemoryFormat("contiguous_format")),)
    program = Program(*whole, (Step("relu", (Ref(0),)), Step("float", (Ref(1),), asked), Step("float", (Ref(1),))))
    right, wrong = execute(program, oracle), execute(program, OtherSingles())
    assert [one.results for one in right[2:]] != [one.results for one in wrong[2:]]
    assert {d.step for d in differences(program, right, wrong)} == {0}


def test_what_does_not_depend_on_a_difference_is_still_judged(oracle):
    """A second bug in values that the first has not touched is told too."""
    program = Program(*MATRIX, (Step("clone", (Ref(0),)), Step("neg", (Ref(0),)), Step("clone", (Ref(2),))))
    found = differences(program, execute(program, oracle), execute(program, WrongClone()))
    assert {d.step for d in found} == {0, 2}


def test_a_refusal_is_told_once_and_what_misses_the_value_is_not_judged(oracle):
    """Where the library refuses a step, the steps that need its result are neither failures nor passes."""

    class NoView(Reference):
        def operation(self, step):
            if step.op == "contiguous":
                return lambda *args: (_ for _ in ()).throw(ValueError("no"))
            return super().operation(step)

        def error_kind(self, error):
            return None

    steps = (Step("contiguous", (Ref(0),)), Step("view", (Ref(1), (6,))), Step("neg", (Ref(2),)))
    program = Program(*MATRIX, steps)
    verdicts = judge(program, execute(program, oracle), execute(program, NoView()), ALL)
    assert [(d.step, d.aspect) for v in verdicts for d in v.differences] == [(0, "raises")]
    assert [bool(v.judged) for v in verdicts] == [True, True, False, False]
    assert verdicts[1].judged == {"raises"}


def test_a_value_known_by_two_names_carries_its_difference_under_both(oracle):
    """What an in-place step answers is its operand: what differs in it is not told again under the step's own slot."""

    class WrongFill(Reference):
        def operation(self, step):
            real = super().operation(step)
            return (lambda x, value: real(x, value + 1)) if step.op == "fill_" else real

    program = Program(*MATRIX, (Step("fill_", (Ref(0), 1)), Step("neg", (Ref(1),)), Step("tolist", (Ref(1),))))
    found = differences(program, execute(program, oracle), execute(program, WrongFill()))
    assert {d.step for d in found} == {0}


def test_a_damaged_guard_is_told_once(whole_corpus):
    """Bytes overwritten outside a storage are one difference at the step that did it, however long they stay so."""
    program, expected = next(e for e in whole_corpus if len(e.program.steps) >= 3)
    got = [expected[0], *[o._replace(damaged=("s0",)) for o in expected[1:]]]
    (difference,) = [d for d in differences(program, expected, got) if "outside" in d.message]
    assert (difference.step, difference.value, difference.aspect) == (0, "s0", "storage")


def test_messages_say_what_was_got_and_what_should_be(oracle):
    """A message names the value as the listing does, what it is, and what it should be."""
    program = Program(*MATRIX, (Step("relu", (Ref(0),)),))
    found = differences(program, execute(program, oracle), execute(program, Permuting()))
    strides = next(d for d in found if d.aspect == "strides")
    assert strides.message == "r0: strides are [1, 2], but should be [3, 1]"


def test_values_that_only_the_library_can_read_are_compared(oracle):
    """Where a library's storage cannot be seen, its elements are read and compared in the order of the index."""
    program = Program(*MATRIX, (Step("t", (Ref(0),)),))
    expected = execute(program, oracle)

    def hidden(state, elements):
        return state._replace(strides=None, offset=None, storage=None, version=None, flags=None, data=elements)

    data = np.frombuffer(expected[0].storages["s0"].data, np.float32).reshape(2, 3)
    got = [
        expected[0]._replace(values={"0": hidden(expected[0].values["0"], data.tobytes())}, storages={}),
        expected[1]._replace(values={"1": hidden(expected[1].values["1"], data.T.tobytes())}),
    ]
    assert differences(program, expected, got) == []
    got[1] = got[1]._replace(values={"1": hidden(expected[1].values["1"], data.tobytes())})
    assert {d.aspect for d in differences(program, expected, got)} == {"values"}


def test_an_adapter_that_contradicts_itself_is_no_observation():
    """Strides that do not fit the shape, or too few bytes of elements, are refused where they are read."""
    state = ["float32", [2, 3], [1], 0, "TFF", "s0", 0, None, ""]
    for wrong in (state, [*state[:2], [3, 1], 0, "T", *state[5:]], [*state[:2], None, None, *state[4:], "AAAA"]):
        with pytest.raises(ValueError, match=r"strides|letter|bytes"):
            from_json({"results": [None], "values": {"1": wrong}})


@pytest.mark.parametrize(
    "change",
    [{"dtype": "float128"}, {"shape": (-2, 3)}, {"shape": (1, 3), "strides": (2**62, 1)}, {"offset": -(2**62)}],
    ids=["a dtype that PyTorch lacks", "a size below 0", "a stride past 64 bits in bytes", "an offset far outside"],
)
def test_a_description_beyond_pytorch_is_judged(change, oracle):
    """Whatever whole numbers a library tells, and of whatever dtype, they differ, and nothing ends the run."""
    program = Program(*MATRIX, (Step("neg", (Ref(0),)), Step("relu_", (Ref(1),))))
    expected = execute(program, oracle)
    state = expected[1].values["1"]
    got = [expected[0], expected[1]._replace(values={"1": state._replace(**change)}), expected[2]]
    assert {d.step for d in differences(program, expected, got)} == {0}
    assert isinstance(broken(program, got, 0), list)
    assert isinstance(broken(program, got, 1), list)


def test_frozen(whole_corpus):
    """Judging changes none of the observations it is given."""
    program, expected = whole_corpus[5]
    before = [to_json(o) for o in expected]
    judge(program, expected, expected, replace(ALL, exact_errors=False))
    assert [to_json(o) for o in expected] == before
