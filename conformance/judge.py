"""Judges what a library left behind against what the oracle did: pure functions over observations.

Each aspect is judged apart. Once an aspect of a value has differed it is not judged again in what is computed from that
value: one bug is one verdict, not twenty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from .capabilities import ASPECTS, Capabilities
from .elements import alike, differing, differing_bytes, elements, marks, show
from .facets import facets, homes_differ, strides_differ, what_it_is
from .listing import key_name
from .observation import Observation, State, StorageObject, StorageState, TensorState, owner_of, same_objects
from .operations import OPERATIONS, overload, writes_to
from .program import MemoryFormat, Program
from .written import Written


class Difference(NamedTuple):
    """One aspect of one value (or storage, or the step as a whole) that is not as expected."""

    step: int
    value: str
    aspect: str
    expected: Any
    got: Any
    message: str
    detail: Any = None
    """What a script needs to check it, where `expected` does not say: see `claim.py`."""


class StepVerdict(NamedTuple):
    """What was judged of one step, and what differed; step -1 is the inputs."""

    step: int
    judged: frozenset[str]
    differences: tuple[Difference, ...] = ()


_ALL = frozenset(ASPECTS)
_OF_SUCCESS = _ALL - {"error-kind"}
_OF_RAISED = frozenset(
    {"raises", "error-kind", "shape", "values", "strides", "layout", "contiguity", "storage", "flags"}
)


def judge(
    program: Program, expected: Sequence[Observation], got: Sequence[Observation], capabilities: Capabilities
) -> list[StepVerdict]:
    """Verdicts for the inputs and every step.

    `expected` is the oracle's list, `got` the library's, each with the inputs first. Aspects that the library does not
    claim are not judged.
    """
    if isinstance(expected, Written) and isinstance(got, Written) and expected.is_like(got):
        judged = {"": _OF_SUCCESS & capabilities.aspects, "raised": _OF_RAISED & capabilities.aspects}
        ends = expected.ends(1 + len(program.steps))
        return [StepVerdict(n, judged.get(end, frozenset())) for n, end in enumerate(ends, -1)]
    if len(expected) != len(got):
        message = f"observed {len(got) - 1} steps, but the program has {len(program.steps)}"
        return [
            StepVerdict(-1, frozenset({"raises"}), (Difference(-1, "", "raises", len(expected), len(got), message),))
        ]
    bench = _Bench(program, capabilities)
    return [bench.step(number - 1, e, g) for number, (e, g) in enumerate(zip(expected, got, strict=True))]


def comparable(
    program: Program, expected: Sequence[Observation], got: Sequence[Observation]
) -> tuple[Program, Sequence[Observation], Sequence[Observation]]:
    """What of a program can be compared where the library has left steps out, as it lacks them, and gone on.

    It ends before a step that is left out and does more than to make tensors: it changes what was there before, or may
    have changed what no tensor shows, as gradients or who else holds memory.
    """
    count = min(len(expected), len(got))
    for number, (ours, theirs) in enumerate(zip(expected, got, strict=False)):
        if theirs.skipped and not ours.skipped and not _makes_tensors(ours, str(program.slot_of(number - 1))):
            count = number
            break
    return program.head(max(0, count - 1)), expected[:count], got[:count]


def _makes_tensors(observation: Observation, slot: str) -> bool:
    """Whether the step of a slot has made new tensors, and done nothing else."""
    is_new = bool(observation.results) and all(result is None for result in observation.results or ())
    changed = [*observation.values, *[owner_of(name) or "" for name in observation.storages]]
    tensors = all(isinstance(state, TensorState) for state in observation.values.values())
    return is_new and tensors and all(key.partition(".")[0] == slot for key in changed)


class _Bench:
    """The state of both sides while the steps are judged in order."""

    def __init__(self, program: Program, capabilities: Capabilities) -> None:
        self._program = program
        self._claimed = capabilities.aspects
        self._exact_errors = capabilities.exact_errors
        self._expected: dict[str, State] = {}
        self._got: dict[str, State] = {}
        self._expected_storages: dict[str, StorageState] = {}
        self._got_storages: dict[str, StorageState] = {}
        self._tainted: dict[str, frozenset[str]] = {}
        """Aspects of a value or storage that have differed already."""
        self._names: dict[str, str] = {}
        """Key of the value that a key stands for, where a step has answered with a value itself."""

    def step(self, number: int, expected: Observation, got: Observation) -> StepVerdict:
        """The verdict on one step, and the states after it."""
        verdict = self._verdict(number, expected, got)
        self._names.update(same_objects(expected, self._program.slot_of(number)))
        return verdict

    def _verdict(self, number: int, expected: Observation, got: Observation) -> StepVerdict:
        self._expected.update(expected.values)
        self._got.update(got.values)
        self._expected_storages.update(expected.storages)
        self._got_storages.update(got.storages)
        if expected.skipped and got.skipped:
            return StepVerdict(number, frozenset())
        judged = (_OF_SUCCESS if expected.raised is None else _OF_RAISED) & self._claimed
        if not self._tainted and not got.damaged and self._same(expected, got):
            return StepVerdict(number, judged)
        inherited = self._inherited(number)
        found = [] if inherited == _ALL else list(self._differences(number, expected, got, inherited))
        told = [d for d in found if d.aspect in self._claimed and d.aspect not in inherited]
        differences = tuple([d._replace(message=f"{self._name(d.value)}{d.message}") for d in told])
        judged -= inherited
        for difference in found:
            self._taint(number, difference)
        if any(d.aspect == "raises" for d in found):
            judged &= {"raises"}
            inherited = _ALL
        if inherited:
            self._spread(number, expected, got, inherited)
        if expected.skipped or got.skipped:
            judged = frozenset()  # one side has nothing to show: why, was told where the operand was not made
        return StepVerdict(number, judged, differences)

    def _same(self, expected: Observation, got: Observation) -> bool:
        """Whether the whole observation is equal, the usual case."""
        return (
            expected.results == got.results
            and expected.values == got.values
            and (expected.storages == got.storages or alike(expected.storages, got.storages))
            and (expected.raised is None) == (got.raised is None)
            and (expected.raised is None or self._same_error(expected, got) is None)
            and expected.is_tuple == got.is_tuple
            and not got.skipped
            and not expected.skipped
        )

    def _same_error(self, expected: Observation, got: Observation) -> str | None:
        assert expected.raised is not None
        assert got.raised is not None
        if expected.raised.kind and got.raised.kind and expected.raised.kind != got.raised.kind:
            return (
                f"raised an error of kind {got.raised.kind} ({got.raised.text}), but should be {expected.raised.kind}"
            )
        # The oracle's own refusals have a kind; one without is NumPy's, whose versions differ in types.
        if self._exact_errors and expected.raised.kind and expected.raised.type != got.raised.type:
            return f"raised {got.raised.type} ({got.raised.text}), but should be {expected.raised.type}"
        return None

    def _name(self, key: str) -> str:
        return f"{key_name(key, self._program)}: " if key else ""

    def _said(self, result: Any) -> str:
        """A result in words."""
        if result is None:
            return "a new value"
        if not isinstance(result, tuple):
            return key_name(result, self._program) + " itself"
        return f"the address {result[1]}" if result[0] == "address" else str(result[1])

    def _operands(self, number: int) -> list[str]:
        """Keys of the values that a step uses."""
        return [self._names.get(ref.key, ref.key) for ref in self._program.steps[number].refs()]

    # What has differed already.

    def _inherited(self, number: int) -> frozenset[str]:
        """Aspects that have differed in what the step uses."""
        if not self._tainted or number < 0:
            return frozenset()
        step = self._program.steps[number]
        found: frozenset[str] = frozenset()
        for key in self._operands(number):
            found |= self._tainted.get(key, frozenset())
            state = self._expected.get(key)
            if state is not None and state.storage is not None and state.storage in self._tainted:
                found |= {"values", "storage"}
        if "strides" in found:
            # Other strides may rightly decide a view otherwise: what is left to judge is what the elements are.
            found |= {"raises", "error-kind", "sharing", "layout", "contiguity", "flags"}
        if "layout" in found:
            found |= {"contiguity"}
            if any(type(value) is MemoryFormat for value in (*step.args, *[value for _, value in step.kwargs])):
                found |= {"sharing"}  # strides of dimensions of length 1 tell the format, and with it what is copied
        operation = OPERATIONS.get(overload(step))
        if "sharing" in found:
            found |= {"flags"}  # what is a view of what, and whose version counts
            if writes_to(step) is not None:
                found |= {"values", "storage"}  # the write goes to other memory: who else sees it follows
        if found & {"strides", "layout", "sharing"} and (operation is None or operation.by_address):
            found |= {"values", "raises"}
        return _ALL if "shape" in found else found

    def _taint(self, number: int, difference: Difference) -> None:
        key = difference.value
        if key:
            self._tainted[key] = self._tainted.get(key, frozenset()) | {difference.aspect}

    def _spread(self, number: int, expected: Observation, got: Observation, inherited: frozenset[str]) -> None:
        """Mark what a step made or changed out of something that had differed."""
        slot = self._program.slot_of(number)
        made = {key for key in (*expected.values, *got.values) if key.partition(".")[0] == str(slot)}
        for key in made:
            self._tainted[key] = self._tainted.get(key, frozenset()) | inherited
        if inherited & {"values", "sharing", "strides", "layout", "shape", "storage", "raises"}:
            for name in (*expected.storages, *got.storages):
                self._tainted[name] = _ALL
        if "sharing" in inherited:
            for key in (*expected.values, *got.values):
                self._tainted[key] = self._tainted.get(key, frozenset()) | inherited
        if "shape" in inherited or "raises" in inherited:
            # A write that one side refused, or did with something else, may have changed any of its operands.
            for key in (*expected.values, *got.values):
                self._tainted[key] = _ALL

    # The comparison itself.

    def _differences(
        self, number: int, expected: Observation, got: Observation, inherited: frozenset[str]
    ) -> Iterator[Difference]:
        if expected.skipped or got.skipped:
            return
        if (difference := self._raises(number, expected, got)) is not None:
            yield difference
            return
        if expected.raised is not None and (text := self._same_error(expected, got)) is not None:
            yield Difference(number, "", "error-kind", list(expected.raised.cited), list(got.raised or ()), text)
        yield from self._results(number, expected, got)
        for key in {**expected.values, **got.values}:
            if self._tainted.get(key) != _ALL:
                yield from self._value(number, key)
        if not inherited & {"values", "sharing", "strides", "layout"}:
            yield from self._storages(number, expected, got)
        for name in got.damaged:
            if "guard" not in self._tainted.get(name, ()):
                self._tainted[name] = self._tainted.get(name, frozenset()) | {"guard"}
                yield Difference(
                    number,
                    name,
                    "storage",
                    "intact",
                    "overwritten",
                    "the bytes outside it were overwritten",
                    {"guard": True},
                )

    def _raises(self, number: int, expected: Observation, got: Observation) -> Difference | None:
        if expected.raised is not None and got.raised is None:
            text = f"did not raise, but should: {expected.raised.cited.text} ({expected.raised.type})"
            return Difference(number, "", "raises", list(expected.raised.cited), None, text)
        if expected.raised is None and got.raised is not None:
            text = f"raised {got.raised.type} ({got.raised.text}), but should not"
            return Difference(number, "", "raises", None, list(got.raised), text)
        return None

    def _results(self, number: int, expected: Observation, got: Observation) -> Iterator[Difference]:
        if expected.results == got.results and expected.is_tuple == got.is_tuple:
            return
        ours, theirs = expected.results or (), got.results or ()
        slot = str(self._program.slot_of(number))
        if len(ours) != len(theirs) or expected.is_tuple != got.is_tuple:
            text = f"answered {_counted(got)}, but should be {_counted(expected)}"
            # A value may be a tuple by itself, as sizes are: how many there are is asked of several alone.
            asked = {"count": len(ours)} if expected.is_tuple else None
            yield Difference(number, slot, "shape", len(ours), len(theirs), text, asked)
            return
        for item, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            key = f"{slot}.{item}" if expected.is_tuple else slot
            if a == b:
                continue
            if isinstance(a, tuple) and isinstance(b, tuple):
                if self._reads(number) and not self._is_exact(number):
                    continue
                aspect = "sharing" if a[0] == "address" else "values"
                text = f"answered {self._said(b)}, but should be {self._said(a)}"
                yield Difference(number, key, aspect, a[1], b[1], text)
                continue
            aspect = "shape" if isinstance(a, tuple) or isinstance(b, tuple) else "sharing"
            said_a, said_b = self._said(a), self._said(b)
            text = f"answered {said_b}, but should be {said_a}"
            same = (a, True) if isinstance(a, str) else (b, False)
            detail = {"same-object": same} if isinstance(same[0], str) else None
            yield Difference(number, key, aspect, said_a, said_b, text, detail)
            if aspect == "sharing":
                # Who shares what with it is told already; how it looks is compared all the same.
                yield from self._states(
                    number, key, self._expected.get(a or key), self._got.get(b or key), {"sharing", "flags"}
                )

    def _reads(self, number: int) -> bool:
        """Whether a step's answer may depend on elements."""
        operation = OPERATIONS.get(overload(self._program.steps[number]))
        return operation is None or operation.reads

    def _is_exact(self, number: int) -> bool:
        """Whether a step's operands hold nothing but exactly specified bytes."""
        states = [self._expected.get(key) for key in self._operands(number)]
        known = [marks(state, self._expected_storages) for state in states if state is not None]
        return not any(found is not None and found.any() for found in known)

    def _value(self, number: int, key: str) -> Iterator[Difference]:
        # One of them is missing where the results have told of it: the same object on one side, a new one on the other.
        known = self._tainted.get(key, frozenset())
        yield from self._states(number, key, self._expected.get(key), self._got.get(key), known)

    def _states(
        self, number: int, key: str, ours: State | None, theirs: State | None, known: AbstractSet[str]
    ) -> Iterator[Difference]:
        """How two values differ, in aspects that are not known to."""
        if ours is None or theirs is None:
            return
        if (a := what_it_is(ours)) != (b := what_it_is(theirs)):
            if "shape" not in known:
                yield Difference(number, key, "shape", a, b, f"is {b}, but should be {a}")
            return
        for aspect, a, b, what in facets(ours, theirs):
            if aspect not in known:
                text = f"{what.format(got=b)}, but should be {a}"
                yield Difference(number, key, aspect, a, b, text, {"storages": (ours.storage, theirs.storage)})
        if "values" not in known and (found := self._values(ours, theirs)) is not None:
            yield Difference(number, key, "values", *found)

    def _values(self, ours: State, theirs: State) -> tuple[Any, Any, str] | None:
        if isinstance(ours, StorageObject) or isinstance(theirs, StorageObject):
            return None  # its bytes are compared as they are
        mine = elements(ours, self._expected_storages)
        other = elements(theirs, self._got_storages)
        if mine is None or other is None:
            return None
        wrong = differing(ours.dtype, mine, other, marks(ours, self._expected_storages))
        if not wrong.any():
            return None
        place = int(np.flatnonzero(wrong)[0])
        index = tuple(int(i) for i in np.unravel_index(place, ours.shape)) if ours.shape else ()
        a, b = show(ours.dtype, mine[place]), show(ours.dtype, other[place])
        text = f"element {index} is {b}, but should be {a} ({int(wrong.sum())} of {len(wrong)} elements differ)"
        return a, b, text

    def _storages(self, number: int, expected: Observation, got: Observation) -> Iterator[Difference]:
        names = {**expected.storages, **got.storages}
        for name in names:
            ours, theirs = self._expected_storages.get(name), self._got_storages.get(name)
            if ours is None or theirs is None or self._tainted.get(name) or self._laid_out_anew(name):
                continue
            if (found := homes_differ(ours, theirs)) is not None:
                aspect, a, b, what = found
                yield Difference(number, name, aspect, a, b, f"{what.format(got=b)}, but should lie {a}")
            if len(ours.data) != len(theirs.data):
                a, b = f"{len(ours.data)} bytes", f"{len(theirs.data)} bytes"
                text, detail = f"has {b}, but should have {a}", {"nbytes": len(ours.data)}
                yield Difference(number, name, "storage", a, b, text, detail)
                continue
            places = differing_bytes(ours, theirs)
            if len(places):
                first = int(places[0])
                a, b = f"byte {first}: {ours.data[first]}", f"byte {first}: {theirs.data[first]}"
                text = (
                    f"{len(places)} bytes differ from byte {first} on "
                    f"(got {theirs.data[first]}, should be {ours.data[first]})"
                )
                yield Difference(number, name, "storage", a, b, text, {"byte": (first, ours.data[first])})
            if ours.data != theirs.data:
                # Also where no byte is exactly specified, but elements are within a tolerance.
                yield from self._values_in(number, name, expected, got)

    def _laid_out_anew(self, name: str) -> bool:
        """Whether a new storage holds its tensor in another order: told as strides, and its elements as values."""
        owner = owner_of(name) or ""
        ours, theirs = self._expected.get(owner), self._got.get(owner)
        if ours is None or theirs is None:
            return False
        return what_it_is(ours) == what_it_is(theirs) and strides_differ(ours, theirs)

    def _values_in(self, number: int, name: str, expected: Observation, got: Observation) -> Iterator[Difference]:
        """Values that live in a storage whose bytes differ, where the step did not describe them anew."""
        for key, ours in self._expected.items():
            theirs = self._got.get(key)
            if ours.storage != name or theirs is None or key in expected.values or key in got.values:
                continue
            if self._tainted.get(key) or what_it_is(ours) != what_it_is(theirs):
                continue
            if (text := self._values(ours, theirs)) is not None:
                yield Difference(number, key, "values", *text)
                return


def _counted(observation: Observation) -> str:
    """What was answered, in words: one value in a tuple is not one by itself."""
    number = len(observation.results or ())
    if observation.is_tuple:
        return f"a tuple of {number}"
    return "one value" if number else "nothing"
