"""A campaign: many programs on one adapter, unit by unit, from observation to record.

The same loop serves every source: programs go to the worker and to the oracle at the same time, both lists of
observations to `judge`, the oracle's to the rules, and what comes out becomes the unit's records.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from stridecheck.reports import records

from . import recorded, written
from .answers import AdapterFailed, Answer, Broken, Unsupported
from .attribution import Eager
from .both_sides import Batch
from .classify import Catalogue, Rule
from .execute import execute
from .expectations import Expectation, Expectations
from .failures import Failures, Found, found_in
from .invariants import reaches_outside
from .judge import Difference, StepVerdict, comparable, judge
from .listing import listing
from .observation import Observation
from .options import is_wanted
from .program import Program
from .protocol import Adapter, OracleError, ProtocolError
from .protocol import Unsupported as NotOffered
from .runner import Worker
from .units import Unit
from .written import Written


@dataclass
class Judged:
    """What has come of a unit so far."""

    name: str
    from_corpus: bool
    programs: int
    outcomes: Counter[str] = field(default_factory=Counter)
    counts: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """By rule, aspect and outcome."""
    passed: dict[frozenset[str], list[Rule]] = field(default_factory=lambda: defaultdict(list))
    """The rules that were judged in these aspects without a difference, each as often: most of what is to be counted.
    """
    unsupported: Counter[str] = field(default_factory=Counter)
    covered: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    failures: list[Found] = field(default_factory=list)
    out_of_date: list[records.Failure] = field(default_factory=list)
    """Listed programs that pass."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Where each of its programs stands in the corpus, if it is of the corpus."""


@dataclass
class Campaign:
    """Judges units on one worker.

    `rules` is a glob: programs that exercise no such rule are not judged, and other rules are not counted.
    """

    worker: Worker
    oracle: Adapter
    catalogue: Catalogue
    expectations: Expectations
    rules: str = "*"
    lists_hold: bool = True
    """Whether a program that is listed under an expectation and passes is red; not while the list is being made."""
    eager: Eager | None = None
    """The library without its mode, where it is one."""
    failures: Failures = field(init=False)

    def __post_init__(self) -> None:
        self.failures = Failures(self.worker, self.oracle, self.catalogue, self.expectations, self.eager)

    def run(self, units: Iterable[Unit]) -> Iterator[list[records.Record]]:
        """The records of each unit: its failures, then its counts, so that a unit whose counts are there is whole.

        Raises
        ------
        AdapterFailed, KeyboardInterrupt
            The library died and could not be started again, or Ctrl-C; the failures of the unit are given first,
            without counts.
        """
        coming = iter(units)
        unit = next(coming, None)
        previous: tuple[Unit, Batch, dict[int, Answer]] | None = None
        while unit is not None:
            this = unit
            try:
                batch = self._batch(unit)
            except AdapterFailed:  # it was lost while failures of the unit before the last were shrunk
                self.failures.give_up()
                if previous is not None:
                    yield self.records_of(self._judge_unit(*previous))
                raise
            # While the worker is at it, the next unit is drawn and the one before judged.
            unit = next(coming, None)
            judged = self._judge_unit(*previous) if previous is not None else None
            if judged is not None and not judged.failures:
                yield self.records_of(judged)
                judged = None
            answers: dict[int, Answer] = {}
            try:
                answers.update(batch.answers())  # one at a time: what comes before an error stays
            except (AdapterFailed, KeyboardInterrupt):
                self.failures.give_up()  # there is no library left to shrink with, or no time
                if judged is not None:
                    yield self.records_of(judged)
                yield self.records_of(self._judge_unit(this, batch, answers))[:-1]
                raise
            # Shrinking needs the worker, so failures are told when it is idle.
            if judged is not None:
                yield self.records_of(judged)
            previous = this, batch, answers
        if previous is not None:
            yield self.records_of(self._judge_unit(*previous))

    def _batch(self, unit: Unit) -> Batch:
        return Batch(self.worker, unit.programs, lambda number: self._expect(unit, number))

    def _expect(self, unit: Unit, number: int) -> Sequence[Observation]:
        found: Sequence[Observation] | None = unit.expected[number] if unit.expected else None
        if found is None:
            run = recorded.expected if unit.from_corpus else execute
            found = run(unit.programs[number], self.oracle)
        return found if isinstance(found, Written) else written.write(found)

    def _judge_unit(self, unit: Unit, batch: Batch, answers: Mapping[int, Answer]) -> Judged:
        """Judge a unit that has come back."""
        places = {program.id: at for at, program in enumerate(unit.programs, unit.place)} if unit.from_corpus else {}
        judged = Judged(unit.name, unit.from_corpus, len(unit.programs), places=places)
        for number, answer in answers.items():
            expected = batch.expected.get(number, ())
            if isinstance(answer, Unsupported) and self.rules != "*" and not expected:
                with suppress(OracleError, ProtocolError, NotOffered):
                    expected = self._expect(unit, number)
            self.judge(judged, unit.programs[number], expected, answer)
        return judged

    def judge(self, judged: Judged, program: Program, expected: Sequence[Observation], answer: Answer) -> list[Found]:
        """Judge one program and add what comes of it to its unit; what went wrong with it, expected or not.

        A program that exercises none of the rules asked for is not counted.
        """
        ran = not isinstance(answer, Unsupported) or bool(answer.seen)
        rules = self._rules_of(judged, program, expected) if (ran and expected) or self.rules != "*" else []
        if rules is None:
            judged.programs -= 1
            return []
        if isinstance(answer, Unsupported):
            judged.unsupported[answer.reason] += 1
            if listed := self._listed_under(judged, program):
                self._tell_out_of_date(judged, program, listed, f"but is not supported any more: {answer.reason}")
            # What can be judged of it is another program, which is in no list.
            found = self._differences(replace(judged, places={}), *comparable(program, expected, answer.seen), rules)
            judged.outcomes["fail" if any(one.outcome == "fail" for one in found) else "unsupported"] += 1
        elif isinstance(answer, Broken):
            ids = tuple(dict.fromkeys(rule.id for step in rules for rule in step))
            entry = self.expectations.match_end(program, answer.outcome, ids)
            outcome = self._against(judged, program, entry, answer.outcome)
            wanted = tuple([rule for rule in ids if self._is_wanted(rule)])
            found = [Found(program, outcome, judged.name, rules=wanted, expectation=entry, broken=answer)]
            judged.outcomes[outcome] += 1
        else:
            found = self._differences(judged, program, expected, answer, rules)
            judged.outcomes[self._worst(judged, program, rules, found)] += 1
        judged.failures += found
        return found

    def _rules_of(self, judged: Judged, program: Program, expected: Sequence[Observation]) -> list[list[Rule]] | None:
        """Rules of each observation; None where the program exercises none of those asked for.

        All of them: whether a deviation is known does not depend on what was asked for.
        """
        if not expected:
            rules = []
        elif judged.from_corpus:
            rules = recorded.exercised(program, expected, self.catalogue)
        else:
            rules = self.catalogue.classify(program, expected)
        if self.rules == "*" or any(self._is_wanted(rule.id) for step in rules for rule in step):
            return rules
        return None

    def _is_wanted(self, rule: str) -> bool:
        return self.rules == "*" or is_wanted(rule, self.rules)

    def _differences(
        self,
        judged: Judged,
        program: Program,
        expected: Sequence[Observation],
        got: Sequence[Observation],
        rules: Sequence[Sequence[Rule]],
    ) -> list[Found]:
        found: list[Found] = []
        for verdict, step_rules in zip(judge(program, expected, got, self.worker.capabilities), rules, strict=False):
            outcome_of: dict[str, str] = {}
            for difference in verdict.differences:
                one = self._outcome(judged, program, difference, step_rules)
                if one is not None:
                    found.append(one)
                    if outcome_of.get(difference.aspect) != "fail":
                        outcome_of[difference.aspect] = one.outcome
            wanted = step_rules
            if self.rules != "*":
                wanted = [rule for rule in step_rules if self._is_wanted(rule.id)]
            _count(judged, verdict, wanted, outcome_of)
        if found and reaches_outside(program, got):
            self.worker.distrust()
        return _most_telling(found)

    def _outcome(self, judged: Judged, program: Program, difference: Difference, rules: Sequence[Rule]) -> Found | None:
        """The outcome of one difference; None where it is under none of the rules asked for."""
        found = found_in(program, difference, rules, self.expectations)
        wanted = tuple([rule for rule in found.rules if self._is_wanted(rule)])
        if self.rules != "*" and not wanted:
            return None
        outcome = self._against(judged, program, found.expectation, "fail")
        return replace(found, outcome=outcome, source=judged.name, rules=wanted)

    def _against(self, judged: Judged, program: Program, entry: Expectation | None, outcome: str) -> str:
        """The outcome of what went wrong: a known deviation where an expectation covers it."""
        if entry is not None:
            covered = judged.covered[entry.name]
            place = judged.places.get(program.id)
            if place is not None:
                covered.add(program.id)
            # Of a process that ended nobody knows whether the program asked for something that the library lacks.
            has_no_list = outcome != "fail" or place is None or not self.expectations.is_about(place, entry)
            if has_no_list or self.expectations.is_listed(program.id, entry.name):
                return "xfail"
        return outcome

    def _worst(self, judged: Judged, program: Program, rules: Sequence[Sequence[Rule]], found: Sequence[Found]) -> str:
        """The outcome of a program, which is red too where it is listed under an expectation and does as it should."""
        outcomes = {one.outcome for one in found}
        worst = "fail" if "fail" in outcomes else "xfail" if outcomes else "pass"
        listed = self._listed_under(judged, program)
        passed = [name for name in listed if program.id not in judged.covered.get(name, ())]
        if not passed:
            return worst
        self._tell_out_of_date(judged, program, passed, "but passes", rules)
        return worst if worst == "fail" else "xpass"

    def _listed_under(self, judged: Judged, program: Program) -> list[str]:
        """The expectations that a program of the corpus is listed under, where all that it does is looked at."""
        if not judged.from_corpus or not self.lists_hold or self.rules != "*":
            return []
        return sorted(self.expectations.listed.get(program.id, ()))

    def _tell_out_of_date(
        self, judged: Judged, program: Program, names: Sequence[str], but: str, rules: Sequence[Sequence[Rule]] = ()
    ) -> None:
        entries = [entry for entry in self.expectations.entries if entry.name in names]
        ids = dict.fromkeys(
            rule.id for step in rules for rule in step if any(entry.concerns(rule.id) for entry in entries)
        )
        problem = f"program {program.id} is listed under {' and '.join(map(repr, names))}, {but}"
        judged.out_of_date.append(out_of_date(self.worker.name, problem, tuple(ids), program, judged.name))

    def records_of(self, judged: Judged) -> list[records.Record]:
        """A unit's records; its counts come last."""
        try:
            failures = list(self.failures.records_of(judged.failures))
        except AdapterFailed:
            self.failures.give_up()
            failures = list(self.failures.records_of(judged.failures))
        _add_passed(judged)
        _add_ended(judged, failures)
        unit = records.Unit(
            self.worker.name,
            judged.name,
            judged.programs,
            {outcome: n for outcome, n in sorted(judged.outcomes.items()) if n},
            _in_order(judged.counts),
            dict(sorted(judged.unsupported.items())),
            {name: sorted(programs) for name, programs in sorted(judged.covered.items())},
        )
        return [*failures, *judged.out_of_date, unit]


def _count(judged: Judged, verdict: StepVerdict, rules: Sequence[Rule], outcome_of: Mapping[str, str]) -> None:
    if not outcome_of:
        judged.passed[verdict.judged] += rules
        return
    for rule in rules:
        for aspect in rule.aspects & verdict.judged:
            _add(judged, rule.id, aspect, outcome_of.get(aspect, "pass"))


def _add(judged: Judged, rule: str, aspect: str, outcome: str) -> None:
    counts = judged.counts.setdefault(rule, {}).setdefault(aspect, {})
    counts[outcome] = counts.get(outcome, 0) + 1


def _add_passed(judged: Judged) -> None:
    for aspects, passed in judged.passed.items():
        for rule, times in Counter(passed).items():
            counts = judged.counts.setdefault(rule.id, {})
            for aspect in rule.aspects & aspects:
                found = counts.setdefault(aspect, {})
                found["pass"] = found.get("pass", 0) + times
    judged.passed.clear()


def _add_ended(judged: Judged, failures: Iterable[records.Failure]) -> None:
    """Count programs that ended before they could be judged, under the rules of the smallest ones that end so."""
    for failure in failures:
        if not failure.aspect:
            for rule in failure.rules:
                _add(judged, rule, "raises", failure.outcome)


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


def out_of_date(
    adapter: str, problem: str, rules: tuple[str, ...], program: Program | None = None, source: str = ""
) -> records.Failure:
    """The record of an expectation that no longer holds."""
    return records.Failure(
        adapter=adapter, program=program.id if program is not None else "", outcome="xpass", step=-1, operation="",
        value="", aspect="", rules=rules, expected=None, got=None,
        message=f"{problem}: update the expectations (--update-expectations)", source=source,
        found=program.to_json() if program is not None else {}, listing=listing(program) if program is not None else "",
    )  # fmt: skip


def _in_order(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, dict[str, int]]]:
    """Counts by rule, then aspect, then outcome, in an order that does not depend on the run."""
    return {
        rule: {
            aspect: dict(outcomes if len(outcomes) == 1 else sorted(outcomes.items()))
            for aspect, outcomes in sorted(aspects.items())
        }
        for rule, aspects in sorted(counts.items())
    }
