"""Which rules a step exercises: every step from every source is classified by the rules' own predicates.

Rules look at the oracle's observations, so the answer does not depend on the library under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .observation import Observation, Raised, State, TensorState, same_objects
from .operations import OPERATIONS, bind, overload, writes_to
from .program import Argument, Program, Ref, Step, refs_in

NOTHING = TensorState("nothing", ())
"""Stands for a tensor that there is none of."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One numbered sentence of the semantics; the id is never changed or reused."""

    id: str
    sentence: str
    source: str
    family: str
    aspects: frozenset[str]
    operations: frozenset[str]
    """Overloads it can apply to; empty means every operation."""
    applies: Callable[[Event], bool]


class Event:
    """One step with what was there before and after it, as rules see it.

    `x` is the first operand's state before the step, `y` the first result's after it, `NOTHING` where there is none or
    it is no tensor; `operand` and `result` are the same of whatever kind, None where there is none. `before` and
    `after` have the tensors, `known` what there was of every kind before. The result is the first operand itself where
    it is the `same`, and lies in memory of its own where it is `copied`.
    `names` has the key of the value that a key stands for where an operation has answered with a value itself.
    """

    def __init__(
        self,
        step: Step,
        slot: int,
        before: Mapping[str, TensorState],
        after: Mapping[str, TensorState],
        observation: Observation,
        names: Mapping[str, str] = {},
        known: Mapping[str, State] = {},
    ) -> None:
        self._names, self.known = names, known
        self.step, self.before, self.after, self.observation = step, before, after, observation
        self.entry = overload(step)
        self.raised: Raised | None = observation.raised
        first = next(step.refs(), None)
        self.x_key = names.get(first.key, first.key) if isinstance(first, Ref) else ""
        self.x = before.get(self.x_key, NOTHING)
        self.y_key = ""
        self.y = NOTHING
        self.same = self.copied = False
        results = observation.results
        if results and not isinstance(results[0], tuple):
            self.y_key = results[0] or (f"{slot}.0" if observation.is_tuple else str(slot))
            self.y = after.get(self.y_key, NOTHING)
            self.same = self.y is not NOTHING and self.y_key == self.x_key
            self.copied = results[0] is None and self.y.storage == f"v{self.y_key}"

    def named(self, ref: Ref) -> str:
        """Key of the value that a reference stands for."""
        return self._names.get(ref.key, ref.key)

    @cached_property
    def operand(self) -> State | None:
        """The first operand before the step."""
        return self.before.get(self.x_key) or self.known.get(self.x_key)

    @cached_property
    def result(self) -> State | None:
        """The first result after the step."""
        if not self.y_key:
            return None
        return self.after.get(self.y_key) or self.observation.values.get(self.y_key) or self.known.get(self.y_key)

    @cached_property
    def bound(self) -> dict[str, Argument]:
        """Arguments by parameter name."""
        try:
            return bind(self.step)
        except (KeyError, ValueError):
            return {}

    @cached_property
    def others(self) -> list[TensorState]:
        """States of the operands after the first, before the step."""
        keys = [self.named(ref) for ref in self.step.refs()]
        return [self.before[key] for key in keys[1:] if key in self.before]

    @cached_property
    def outs(self) -> list[TensorState]:
        """States of what is given as `out=`, before the step."""
        given = [value for name, value in self.step.kwargs if name == "out"]
        keys = [self.named(ref) for ref in refs_in(tuple(given))]
        return [self.before[key] for key in keys if key in self.before]

    @property
    def kind(self) -> str | None:
        """Kind of the error that was raised."""
        return self.raised.kind if self.raised else None

    @property
    def writes(self) -> bool:
        """Whether the operation changes one of its operands."""
        return writes_to(self.step) is not None

    def argument(self, name: str) -> Any:
        """An argument by parameter name, None where it is not given."""
        return self.bound.get(name)


class Catalogue:
    """All rules, indexed by the operations they can apply to."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules: Mapping[str, Rule] = {rule.id: rule for rule in rules}
        if len(self.rules) != len(rules):
            ids = [rule.id for rule in rules]
            raise ValueError(f"rule ids used twice: {sorted({i for i in ids if ids.count(i) > 1})}")
        general = tuple([rule for rule in rules if not rule.operations])
        self._general = general
        self._by_operation: dict[str, tuple[Rule, ...]] = {
            name: tuple([rule for rule in rules if not rule.operations or name in rule.operations])
            for name in OPERATIONS
        }

    def of_event(self, event: Event) -> list[Rule]:
        """Rules that apply to one step."""
        return [rule for rule in self._by_operation.get(event.entry, self._general) if rule.applies(event)]

    def classify(self, program: Program, observations: Sequence[Observation]) -> list[list[Rule]]:
        """Rules of each step, in the order of `observations`: the inputs (to which none applies) first."""
        found = [[] if event is None else self.of_event(event) for event in events(program, observations)]
        return [[], *found]


def events(program: Program, observations: Sequence[Observation]) -> Iterator[Event | None]:
    """Every step of a program as rules see it, in order; None for one that was skipped."""
    states, known = _parted(observations[0].values, {}, {})
    names: dict[str, str] = {}
    for number, step in enumerate(program.steps):
        observation = observations[number + 1]
        if observation.skipped:
            yield None
            continue
        after, others = _parted(observation.values, states, known)
        slot = program.slot_of(number)
        yield Event(step, slot, states, after, observation, names, known)
        names.update(same_objects(observation, slot))
        states, known = after, others


def _parted(
    values: Mapping[str, State], tensors: Mapping[str, TensorState], others: Mapping[str, State]
) -> tuple[Mapping[str, TensorState], Mapping[str, State]]:
    """The tensors and the other values that there are when some have changed."""
    if not values:
        return tensors, others
    changed = {key: state for key, state in values.items() if isinstance(state, TensorState)}
    if len(changed) < len(values):
        others = {**others, **{key: state for key, state in values.items() if not isinstance(state, TensorState)}}
    return {**tensors, **changed}, others
