"""What becomes of failures: programs shrunk, observed again on both sides, reproduced by scripts, recorded.

All failures of a unit are shrunk at once, so that the worker is handed many programs and not one at a time; what it did
with a program is remembered, because failures of one cause shrink to the same ones.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from stridecheck.reports import records

from . import attribution, invariants, observation
from .answers import Answer, Broken, Unsupported
from .both_sides import Batch
from .claim import claim_of, symptom
from .classify import Catalogue, Rule
from .execute import execute
from .expectations import Expectation, Expectations
from .judge import Difference, comparable, judge
from .listing import key_name, listing
from .observation import Observation
from .program import Program
from .protocol import Adapter, OracleError, ProtocolError
from .protocol import Unsupported as NotOffered
from .runner import Worker
from .shrink import Search, shrinking

MAX_SHRUNK = 100
"""Failures of one unit that are shrunk; of the rest the program as found is kept."""
MAX_HANGS = 1
"""Of programs that hang, those that are shrunk: each attempt takes as long as a program may.

The same of those of a unit that crash where each process has to be started anew: a device's library takes ten seconds.
"""
MAX_ATTEMPTS_AT_HANG = 4
"""Attempts that hang before a search ends: what writes astray may crash at one size and hang at the next."""
_REMEMBERED = 10_000
"""Programs whose answers are remembered from one unit to the next."""


@dataclass(frozen=True)
class Found:
    """One thing that went wrong with one program."""

    program: Program
    outcome: str
    source: str = ""
    difference: Difference | None = None
    """What differs; None where the program could not be judged, and `broken` says why."""
    rules: tuple[str, ...] = ()
    """Rules that the difference is under; all that the program exercises where it could not be judged."""
    expectation: Expectation | None = None
    operation: str = ""
    broken: Broken | None = None

    @property
    def end(self) -> str:
        """How the program ended where it could not be judged (`crash`, `timeout`, `error`); empty otherwise."""
        return self.broken.outcome if self.broken is not None else ""

    @property
    def likeness(self) -> tuple[Any, ...]:
        """What stays the same while a program is shrunk, besides that it is a rule of these which is not kept."""
        if self.difference is None:
            assert self.broken is not None
            # "killed by SIGSEGV; it last said …", "TypeError: … (adapter.py:12)"
            return (self.broken.outcome, re.split("[;:]", self.broken.reason)[0])
        return (self.operation, self.difference.aspect, symptom(self.difference), self.expectation)

    def can_be_in(self, program: Program) -> bool:
        """Whether a program has the operation that failed."""
        return not self.operation or any(step.op == self.operation for step in program.steps)

    def is_like(self, other: Found) -> bool:
        """Whether two failures show the same thing, of other values."""
        # Also of what ended its process: a call that PyTorch refuses does so as well, and says nothing of the rules.
        share = not self.rules or not set(self.rules).isdisjoint(other.rules)
        return share and self.likeness == other.likeness


def found_in(
    program: Program, difference: Difference, rules: Sequence[Rule], expectations: Expectations, outcome: str = "fail"
) -> Found:
    """A difference with those of a step's rules that concern it, and the expectation that covers it, if one does."""
    concerned = [rule for rule in rules if difference.aspect in rule.aspects]
    operation = program.steps[difference.step].op if difference.step >= 0 else ""
    expectation = expectations.match(operation, difference, concerned)
    ids = tuple([rule.id for rule in concerned])
    return Found(program, outcome, "", difference, ids, expectation, operation)


class _Ran(NamedTuple):
    """A program run again: what both sides left behind, and what went wrong."""

    expected: Sequence[Observation] = ()
    got: Sequence[Observation] = ()
    failures: tuple[Found, ...] = ()


class _Shown(NamedTuple):
    """The smallest program that fails alike, what both sides left behind, and a script."""

    found: Found
    ran: _Ran
    repro: str
    eager: str = ""
    """What eager code does with it, where the library is a mode."""


@dataclass
class Failures:
    """Makes the records of a run's failures, with a worker that is idle meanwhile."""

    worker: Worker
    oracle: Adapter
    catalogue: Catalogue
    expectations: Expectations
    eager: attribution.Eager | None = None
    """The library without its mode, where it is one."""
    _is_over: bool = False
    _long: Counter[str] = field(default_factory=Counter)
    """How many programs that take long to try again were found, by how they end."""
    _was_shown: dict[str, bool] = field(default_factory=dict)
    """Whether a script showed the one that was shrunk: those of the others are offered untried then."""
    _ran: dict[Program, _Ran] = field(default_factory=dict)
    _scripts: dict[tuple[Program, str], str] = field(default_factory=dict)

    def give_up(self) -> None:
        """There is no library left to shrink with."""
        self._is_over = True

    def records_of(self, unit: Sequence[Found]) -> Iterator[records.Failure]:
        """A record of each failure, in order: the smallest program that fails alike, both observations and a script.

        They depend on nothing but the unit, so that one which is run again has the same records.
        """
        self._long["crash"] = 0  # a hang takes long by itself, a crash only where it is tried again
        if len(self._ran) > _REMEMBERED:
            self._ran.clear()
            self._scripts.clear()
        shown = self._shown(unit)
        for number, found in enumerate(unit):
            yield self._record(found, shown[number])

    def _shown(self, unit: Sequence[Found]) -> dict[int, _Shown | None]:
        """What each failure is told by; None where that is the program as it was found.

        Of known deviations the first of each kind stands for those like it, as their expectation's reason does.
        """
        shown: dict[int, _Shown | None] = {}
        examples: dict[object, list[_Shown]] = defaultdict(list)
        left = 0 if self._is_over else MAX_SHRUNK
        while waiting := [number for number in range(len(unit)) if number not in shown]:
            chosen: dict[object, int] = {}
            for number in waiting:
                found = unit[number]
                if found.outcome != "xfail":
                    chosen[number] = number
                elif example := next((e for e in examples[found.likeness] if found.is_like(e.found)), None):
                    shown[number] = example
                else:
                    chosen.setdefault(found.likeness, number)
            numbers = [number for number in chosen.values() if self._may_be_shrunk(unit[number])]
            numbers, left = numbers[:left], max(left - len(numbers), 0)
            shown |= dict.fromkeys(chosen.values())
            for number, small in self._shrink({number: unit[number] for number in numbers}):
                shown[number] = small
                examples[small.found.likeness].append(small)
        return shown

    def _may_be_shrunk(self, found: Found) -> bool:
        if not self._takes_long(found):
            return True
        self._long[found.end] += 1
        return self._long[found.end] <= MAX_HANGS

    def _takes_long(self, found: Found) -> bool:
        return found.end == "timeout" or (found.end == "crash" and not self.worker.forks)

    # Shrinking.

    def _shrink(self, found: Mapping[int, Found]) -> Iterator[tuple[int, _Shown]]:
        """All searches at once; nothing for what does not fail again."""
        searches: dict[int, Search] = {}
        trying: dict[int, Program] = {}
        smallest: dict[int, Program] = {}
        hung: Counter[int] = Counter()

        def advance(number: int, verdict: bool | None) -> None:
            try:
                trying[number] = searches[number].send(verdict)  # type: ignore[arg-type]
            except StopIteration as end:
                trying.pop(number, None)
                smallest[number] = end.value

        for number, one in found.items():
            begin = smallest[number] = _until_it_fails(one)
            searches[number] = shrinking(begin, self._observe)
            advance(number, None)
        while trying:
            self._run(program for number, program in trying.items() if found[number].can_be_in(program))
            for number, program in list(trying.items()):
                fails = self._again(program, found[number]) is not None
                if fails:
                    smallest[number] = program
                hung[number] += any(map(self._takes_long, self._ran.get(program, _Ran()).failures))
                if hung[number] < MAX_ATTEMPTS_AT_HANG:
                    advance(number, fails)
                else:
                    del trying[number]
        self._run(smallest.values())  # one that nothing smaller was found for may not fail every time
        shown = {
            number: self._with_script(again, found[number])
            for number, program in smallest.items()
            if (again := self._again(program, found[number])) is not None
        }
        yield from zip(shown, self._beside_eager(list(shown.values())), strict=True)

    def _beside_eager(self, shown: Sequence[_Shown]) -> Sequence[_Shown]:
        """With what eager code does; as they are where the library is no mode."""
        if self.eager is None:
            return shown
        cases = {at: one for at, one in enumerate(shown) if one.found.difference is not None}
        said = self.eager.says([(o.found.program, o.found.difference, o.ran.expected) for o in cases.values()])
        return [one._replace(eager=dict(zip(cases, said, strict=True)).get(at, "")) for at, one in enumerate(shown)]

    def _again(self, program: Program, found: Found) -> Found | None:
        """How a program that was run fails, if it does as `found` did."""
        return next(filter(found.is_like, self._ran.get(program, _Ran()).failures), None)

    def _observe(self, program: Program) -> Sequence[Observation] | None:
        if program in self._ran:
            return self._ran[program].expected or None
        try:
            return execute(program, self.oracle)
        except (OracleError, ProtocolError, NotOffered):
            return None

    def _run(self, programs: Iterable[Program]) -> None:
        """Have both sides run programs, and remember what they did."""
        new = [program for program in dict.fromkeys(programs) if program not in self._ran]
        if not new:
            return
        batch = Batch(self.worker, new, lambda number: execute(new[number], self.oracle))
        for number, answer in batch.answers():
            self._ran[new[number]] = self._judged(new[number], batch.expected.get(number, ()), answer)

    def _judged(self, program: Program, expected: Sequence[Observation], answer: Answer) -> _Ran:
        if isinstance(answer, Unsupported):
            program, expected, answer = comparable(program, expected, answer.seen)
        rules = self.catalogue.classify(program, expected) if expected else []
        if isinstance(answer, Broken):
            ids = tuple(dict.fromkeys(rule.id for step in rules for rule in step))
            return _Ran(expected, (), (Found(program, answer.outcome, rules=ids, broken=answer),))
        failures = [
            found_in(program, difference, rules[verdict.step + 1], self.expectations)
            for verdict in judge(program, expected, answer, self.worker.capabilities)
            for difference in verdict.differences
        ]
        if failures and invariants.reaches_outside(program, answer):
            self.worker.distrust()
        return _Ran(expected, answer, tuple(failures))

    # Scripts and records.

    def _with_script(self, small: Found, found: Found) -> _Shown:
        """The smallest program with its script, or that of the program as found where its own shows nothing."""
        ran = self._ran[small.program]
        text = self._script(small, ran.expected)
        if not text:
            program = _until_it_fails(found)
            self._run([program])
            again = self._again(program, found)
            text = self._script(again, self._ran[program].expected) if again is not None else ""
        if self._takes_long(small):
            self._was_shown[small.end] = bool(text)
        return _Shown(small, ran, text)

    def _script(self, found: Found, expected: Sequence[Observation], *, is_tried: bool = True) -> str:
        if found.end == "error":
            return ""  # the adapter went wrong, not the library
        claim = claim_of(found.program, found.difference, expected, seconds=self.worker.program_timeout)
        key = (found.program, repr(claim))
        if key not in self._scripts:
            self._scripts[key] = self.worker.script(found.program, claim, is_tried=is_tried) if claim.check else ""
        return self._scripts[key]

    def _record(self, found: Found, shown: _Shown | None) -> records.Failure:
        told = found if shown is None else shown.found
        difference = told.difference or _ended(told, is_shrunk=shown is not None)
        record = records.Failure(
            adapter=self.worker.name,
            program=found.program.id,
            outcome=found.outcome,
            step=difference.step,
            operation=told.program.steps[difference.step].op if difference.step >= 0 else "",
            value=key_name(difference.value, told.program) if difference.value else "",
            aspect=difference.aspect,
            rules=found.rules if told.broken is None else tuple([rule for rule in told.rules if rule in found.rules]),
            expected=difference.expected,
            got=difference.got,
            message=difference.message,
            source=found.source,
            expectation=found.expectation.reason if found.expectation else "",
            attribution=self._attribution(told, shown),
            found=found.program.to_json(),
            listing=listing(told.program),
        )
        if shown is None:
            # That it hangs was seen just now: to see it again with the script would take as long.
            is_offered = self._takes_long(found) and self._was_shown.get(found.end, False)
            return replace(record, repro=self._script(found, (), is_tried=False)) if is_offered else record
        step = difference.step + 1
        expected, got = shown.ran.expected, shown.ran.got
        return replace(
            record,
            shrunk=told.program.to_json(tags=False),
            expected_observation=observation.to_json(expected[step].cited) if expected else None,
            got_observation=observation.to_json(got[step]) if got else None,
            repro=shown.repro,
        )

    def _attribution(self, told: Found, shown: _Shown | None) -> str:
        """Who is wrong; empty where that cannot be told: it ended in silence, or was not run again."""
        if told.broken is not None:
            return attribution.of_end(self.worker.name, told.broken.outcome) if told.broken.happened_again else ""
        if told.difference is None or shown is None:
            return ""
        said = attribution.of_difference(
            self.worker.name, told.program, told.difference.step, shown.ran.expected, shown.ran.got
        )
        return f"{said}; {shown.eager}" if shown.eager else said


def _ended(found: Found, *, is_shrunk: bool) -> Difference:
    """In the place of a difference, how a program ended: the smallest one that ends so does it at its last step."""
    reason = found.broken.reason if found.broken is not None else ""
    return Difference(len(found.program.steps) - 1 if is_shrunk else -1, "", "", None, None, reason)


def _until_it_fails(found: Found) -> Program:
    """The program without what comes after its failure."""
    if found.difference is None:
        return found.program
    return replace(found.program, steps=found.program.steps[: found.difference.step + 1])
