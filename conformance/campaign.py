"""A campaign: many programs on one adapter, unit by unit, from observation to record.

The same loop serves every source: programs go to the worker and to the oracle at the same time, both lists of
observations to `judge`, the oracle's to the rules, and what comes out to the results file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from stridecheck.reports import records

from .classify import Catalogue, Rule
from .exchange import Exchange
from .execute import execute
from .expectations import Expectation, Expectations
from .failures import Failures, Found, found_in
from .judge import Difference, StepVerdict, judge
from .observation import Observation
from .program import Program
from .protocol import Adapter
from .runner import AdapterFailed, Answer, Broken, Unsupported, Worker

UNIT = 128
"""Programs that are sent to a worker at a time."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Programs with a name of their own; `expected` where the oracle has run them already."""

    name: str
    programs: tuple[Program, ...]
    expected: tuple[list[Observation] | None, ...] = ()
    from_corpus: bool = True


@dataclass
class Campaign:
    """Runs units on one worker and writes records; `red` counts what nobody expected.

    `rules` is a glob: programs that exercise no such rule are not run, and other rules are not counted.
    """

    worker: Worker
    oracle: Adapter
    catalogue: Catalogue
    expectations: Expectations
    write: Callable[[records.Record], None]
    rules: str = "*"
    progress: Callable[[int], None] = lambda _: None
    known: dict[str, list[Observation]] = field(default_factory=dict)
    """What the oracle did with corpus programs, for the next adapter of the same run."""
    red: int = 0
    judged: int = 0
    matched: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Corpus programs that failed under each expectation."""
    used: set[str] = field(default_factory=set)
    """Expectations that covered a failure of a program from any source."""
    ran: set[str] = field(default_factory=set)
    """Corpus programs that were judged."""
    exercised: set[tuple[str, str]] = field(default_factory=set)
    """(rule, aspect) pairs that were judged."""
    failures: Failures = field(init=False)

    def __post_init__(self) -> None:
        self.failures = Failures(self.worker, self.oracle, self.catalogue, self.expectations)

    def run(self, units: Iterable[Unit]) -> None:
        """Run all units; each is in the results file when the next but one begins.

        Raises
        ------
        AdapterFailed
            The library died and could not be started again; what it had answered is recorded.
        """
        coming = iter(units)
        unit, previous = next(coming, None), None
        while unit is not None:
            batch = self._send(unit)
            # While the worker is at it, the next unit is drawn and the one before judged.
            unit = next(coming, None)
            if previous is not None:
                self._evaluate(previous)
            self._collect(batch, previous)
            # Shrinking needs the worker, so failures are written when it is idle.
            if previous is not None:
                self._report(previous)
            previous = batch
        if previous is not None:
            self._evaluate(previous)
            self._report(previous)

    def _collect(self, batch: _Batch, previous: _Batch | None) -> None:
        try:
            for number, answer in batch.exchange.answers():
                batch.answers[number] = answer
        except AdapterFailed:
            self.failures.give_up()  # there is no library left to shrink with
            if previous is not None:
                self._report(previous)
            self._evaluate(batch)
            self._write(batch.failures)  # without counts: this unit is not whole
            raise

    def _send(self, unit: Unit) -> _Batch:
        """Hand a unit to the worker, and run it on the oracle meanwhile."""
        return _Batch(unit, Exchange(self.worker, unit.programs, lambda number: self._expect(unit, number)))

    def _expect(self, unit: Unit, number: int) -> list[Observation]:
        drawn = unit.expected[number] if unit.expected else None
        if drawn is not None:
            return drawn
        program = unit.programs[number]
        if not unit.from_corpus:
            return execute(program, self.oracle)
        if program.id not in self.known:
            self.known[program.id] = execute(program, self.oracle)
        return self.known[program.id]

    def _evaluate(self, batch: _Batch) -> None:
        """Judge a unit that has come back."""
        counts, outcomes, failures = batch.counts, batch.outcomes, batch.failures
        for number, answer in batch.answers.items():
            program = batch.unit.programs[number]
            if isinstance(answer, Unsupported):
                batch.unsupported[answer.reason] += 1
                continue
            expected = batch.exchange.expected.get(number, ())
            rules = self._rules_of(program, expected) if expected else []
            if rules is None:
                continue
            if isinstance(answer, Broken):
                outcomes[answer.outcome] += 1
                failures.append(Found(program, answer.outcome, batch.unit.name, broken=answer))
                continue
            found = self._judge(batch.unit, program, expected, answer, rules, counts)
            worst = "pass"
            for one in found:
                worst = one.outcome if worst != "fail" else worst
            outcomes[worst] += 1
            failures.extend(found)
        outcomes["unsupported"] += batch.unsupported.total()
        self.judged += sum(n for outcome, n in outcomes.items() if outcome != "unsupported")
        self.red += sum(outcomes[outcome] for outcome in records.RED)

    def _report(self, batch: _Batch) -> None:
        """Write a unit's records; its counts come last, so that a unit that is there is whole."""
        self._write(batch.failures)
        self.write(
            records.Unit(
                self.worker.name,
                batch.unit.name,
                len(batch.unit.programs),
                {outcome: n for outcome, n in sorted(batch.outcomes.items()) if n},
                {rule: _sorted(by) for rule, by in sorted(batch.counts.items())},
                dict(sorted(batch.unsupported.items())),
            )
        )
        self.progress(len(batch.unit.programs))

    def _write(self, failures: Sequence[Found]) -> None:
        for record in self.failures.records_of(failures):
            self.write(record)

    def _rules_of(self, program: Program, expected: Sequence[Observation]) -> list[list[Rule]] | None:
        """Rules of each observation; None where the program exercises none of those asked for."""
        rules = self.catalogue.classify(program, expected)
        if self.rules == "*":
            return rules
        wanted = [[rule for rule in step if fnmatchcase(rule.id, self.rules)] for step in rules]
        return wanted if any(wanted) else None

    def _judge(
        self,
        unit: Unit,
        program: Program,
        expected: Sequence[Observation],
        got: Sequence[Observation],
        rules: Sequence[Sequence[Rule]],
        counts: dict[str, dict[str, Counter[str]]],
    ) -> list[Found]:
        found: list[Found] = []
        if unit.from_corpus:
            self.ran.add(program.id)
        for verdict, step_rules in zip(judge(program, expected, got, self.worker.capabilities), rules, strict=False):
            outcome_of: dict[str, str] = {}
            for difference in verdict.differences:
                one = self._outcome(unit, program, difference, step_rules)
                if one is not None:
                    found.append(one)
                    if outcome_of.get(difference.aspect) != "fail":
                        outcome_of[difference.aspect] = one.outcome
            self._count(verdict, step_rules, outcome_of, counts)
        return _most_telling(found)

    def _outcome(self, unit: Unit, program: Program, difference: Difference, rules: Sequence[Rule]) -> Found | None:
        """The outcome of one difference; None where it is under none of the rules asked for."""
        found = found_in(program, difference, rules, self.expectations)
        if self.rules != "*" and not found.rules:
            return None
        entry, outcome = found.expectation, "fail"
        if entry is not None:
            self.used.add(entry.name)
            if unit.from_corpus:
                self.matched[entry.name].add(program.id)
            if not unit.from_corpus or self.expectations.is_listed(program.id, entry.name):
                outcome = "xfail"
        return replace(found, outcome=outcome, source=unit.name)

    def _count(
        self,
        verdict: StepVerdict,
        rules: Sequence[Rule],
        outcome_of: Mapping[str, str],
        counts: dict[str, dict[str, Counter[str]]],
    ) -> None:
        for rule in rules:
            by_aspect = counts[rule.id]
            for aspect in rule.aspects & verdict.judged:
                by_aspect[aspect][outcome_of.get(aspect, "pass")] += 1
                self.exercised.add((rule.id, aspect))

    # Expectations that no longer hold.

    def close(self) -> list[str]:
        """What is wrong with the expectations after a run over corpus programs, one sentence each; writes records."""
        problems = [
            f"program {program} is listed under {name!r}, but passes"
            for program, names in sorted(self.expectations.listed.items())
            for name in sorted(names)
            if program in self.ran and program not in self.matched.get(name, ())
        ]
        for entry in self.expectations.entries:
            if entry.name in self.used or not self._concerns(entry):
                continue
            if not any(entry.name in names for names in self.expectations.listed.values()):
                problems.append(f"expectation {entry.name!r} matched nothing, though its rules were judged")
        for problem in problems:
            self.red += 1
            self.write(_xpass(self.worker.name, problem))
        return problems

    def _concerns(self, entry: Expectation) -> bool:
        return any(
            aspect in entry.aspects and any(fnmatchcase(rule, glob) for glob in entry.rules)
            for rule, aspect in self.exercised
        )


@dataclass
class _Batch:
    unit: Unit
    exchange: Exchange
    answers: dict[int, Answer] = field(default_factory=dict)
    unsupported: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    counts: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    failures: list[Found] = field(default_factory=list)


_IMPLIES = {
    "shape": ("strides", "layout", "contiguity"),
    "strides": ("layout", "contiguity"),
    "values": ("storage",),
}


def _most_telling(found: Sequence[Found]) -> list[Found]:
    """The differences that are shown: other strides imply another layout, and only the first is told."""
    shown: list[Found] = []
    told: set[tuple[int, str, str]] = set()
    for one in found:
        assert one.difference is not None
        step, value, aspect = one.difference.step, one.difference.value, one.difference.aspect
        for implied in _IMPLIES.get(aspect, ()):
            told.add((step, value, implied))
        if (step, value, aspect) not in told or one.outcome == "fail":
            told.add((step, value, aspect))
            shown.append(one)
    return shown


def _xpass(adapter: str, problem: str) -> records.Failure:
    return records.Failure(
        adapter=adapter, program="", outcome="xpass", step=-1, operation="", value="", aspect="", rules=(),
        expected=None, got=None, message=f"{problem}: update the expectations (--update-expectations)",
    )  # fmt: skip


def _sorted(counts: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """Counts in an order that does not depend on the run: two runs write the same lines."""
    return {aspect: dict(sorted(counter.items())) for aspect, counter in sorted(counts.items())}


def units_of(programs: Sequence[Program], name: str, size: int = UNIT) -> Iterator[Unit]:
    """Corpus programs cut into units of `size`, named by their places."""
    for start in range(0, len(programs), size):
        part = tuple(programs[start : start + size])
        yield Unit(f"{name}:{start}-{start + len(part)}", part)
