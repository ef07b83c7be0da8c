"""A campaign: many programs on one adapter, unit by unit, from observation to record.

The same loop serves every source: programs go to the worker and to the oracle at the same time, both lists of
observations to `judge`, the oracle's to the rules, and what comes out to the results file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from stridecheck.reports import records

from . import observation
from .capabilities import HAZARDS, hazards, needs
from .claim import claim_of
from .classify import Catalogue, Rule
from .execute import Adapter, OracleError, ProtocolError, execute
from .execute import Unsupported as NotOffered
from .expectations import Expectation, Expectations
from .judge import Difference, StepVerdict, judge
from .listing import key_name, listing
from .observation import Observation
from .program import Program
from .runner import AdapterFailed, Broken, Unsupported, Worker
from .shrink import MAX_ATTEMPTS, shrink

UNIT = 128
"""Programs that are sent to a worker at a time."""
MAX_SHRUNK = 200
"""Unexpected failures that are shrunk and reproduced in full; of the rest the program as found is kept."""
MAX_ALIKE = 3
"""Of failures that look alike, those that are shrunk."""
MAX_SCRIPTS = 1000
"""Failures that are not shrunk, but get a script of the program as it was found."""
MAX_TIMEOUTS = 4
"""Attempts to shrink a program that hangs: each takes as long as a program may."""


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
    _clusters: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _shrunk: int = 0
    _scripts: int = 0
    _shown: set[tuple[Any, ...]] = field(default_factory=set)
    """Shrunk programs, with the place and aspect, that have been written already."""

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
            for number, answer in self.worker.collect():
                batch.answers[number] = answer
        except AdapterFailed:
            self._shrunk = MAX_SHRUNK  # there is no library left to shrink with
            if previous is not None:
                self._report(previous)
            self._evaluate(batch)
            for found in batch.failures:  # without counts: this unit is not whole
                self.write(self._record(found))
            raise

    def _send(self, unit: Unit) -> _Batch:
        """Hand a unit to the worker, and run it on the oracle meanwhile."""
        claimed = self.worker.capabilities
        batch = _Batch(unit)
        is_exposed = not claimed.features >= HAZARDS
        runnable = []
        for number, program in enumerate(unit.programs):
            missing = claimed.missing(needs(program))
            if missing is None and is_exposed and self._expected(batch, number):
                missing = claimed.missing(hazards(batch.expected[number]))
            if missing is not None:
                batch.unsupported[missing] += 1
            else:
                runnable.append((number, program))
        self.worker.submit(runnable)
        for number, _ in runnable:
            self._expected(batch, number)
        return batch

    def _expected(self, batch: _Batch, number: int) -> bool:
        """Have the oracle's observations of a program; False where the oracle broke."""
        if number not in batch.expected and number not in batch.broken:
            try:
                batch.expected[number] = self._expect(batch.unit, number)
            except (OracleError, ProtocolError) as error:
                batch.broken[number] = Broken("error", f"the oracle broke: {error}")
            except NotOffered as error:
                batch.broken[number] = Unsupported(f"oracle:{error}")
        return number in batch.expected

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
            answer = batch.broken.get(number, answer)
            if isinstance(answer, Unsupported):
                batch.unsupported[answer.reason] += 1
                continue
            expected = batch.expected.get(number, [])
            rules = self._rules_of(program, expected) if expected else []
            if rules is None:
                continue
            if isinstance(answer, Broken):
                outcomes[answer.outcome] += 1
                failures.append(_Found(program, answer.outcome, batch.unit.name, broken=answer))
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
        for found in batch.failures:
            self.write(self._record(found))
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
    ) -> list[_Found]:
        found: list[_Found] = []
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

    def _outcome(self, unit: Unit, program: Program, difference: Difference, rules: Sequence[Rule]) -> _Found | None:
        """The outcome of one difference; None where it is under none of the rules asked for."""
        concerned = [rule for rule in rules if difference.aspect in rule.aspects]
        if self.rules != "*" and not concerned:
            return None
        operation = program.steps[difference.step].op if difference.step >= 0 else ""
        entry = self.expectations.match(operation, difference, concerned)
        outcome = "fail"
        if entry is not None:
            self.used.add(entry.name)
            if unit.from_corpus:
                self.matched[entry.name].add(program.id)
            if not unit.from_corpus or self.expectations.is_listed(program.id, entry.name):
                outcome = "xfail"
        return _Found(program, outcome, unit.name, difference, tuple(rule.id for rule in concerned), entry, operation)

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

    # Records of failures.

    def _record(self, found: _Found) -> records.Failure:
        cluster = found.cluster
        self._clusters[cluster] += 1
        # Known deviations are shown by one example each, unexpected ones in full as long as there are not too many; of
        # the rest the program is kept as it was found.
        limit = 1 if found.outcome in ("xfail", "timeout") else MAX_ALIKE
        if self._clusters[cluster] > limit or self._shrunk >= MAX_SHRUNK:
            return self._with_script(self._plain(found), found)
        self._shrunk += 1
        return self._shrink(found)

    def _with_script(self, record: records.Failure, found: _Found) -> records.Failure:
        """The record with a script of the whole program, where one shows the difference."""
        if found.difference is None or self._scripts >= MAX_SCRIPTS:
            return record
        self._scripts += 1
        try:
            expected = execute(found.program, self.oracle)
            return replace(record, repro=self._script(found.program, found, expected))
        except (OracleError, NotOffered, AdapterFailed):
            return record

    def _plain(self, found: _Found) -> records.Failure:
        difference = found.difference
        if difference is None:
            assert found.broken is not None
            return records.Failure(
                adapter=self.worker.name, program=found.program.id, outcome=found.outcome, step=-1, operation="",
                value="", aspect="", rules=(), expected=None, got=None, message=found.broken.reason,
                source=found.source, attribution=_attribution(found), found=found.program.to_json(),
                listing=listing(found.program),
            )  # fmt: skip
        return records.Failure(
            adapter=self.worker.name, program=found.program.id, outcome=found.outcome, step=difference.step,
            operation=found.operation, value=key_name(difference.value, found.program) if difference.value else "",
            aspect=difference.aspect, rules=found.rules,
            expected=difference.expected, got=difference.got, message=difference.message, source=found.source,
            expectation=found.expectation.reason if found.expectation else "", attribution=_attribution(found),
            found=found.program.to_json(), listing=listing(found.program),
        )  # fmt: skip

    def _shrink(self, found: _Found) -> records.Failure:
        """The failure with the smallest program that fails alike, both observations and a script."""
        attempts = MAX_TIMEOUTS if found.outcome == "timeout" else MAX_ATTEMPTS
        small = shrink(found.program, lambda p: self._again(p, found) is not None, max_attempts=attempts)
        again = self._again(small, found)
        if again is None:
            return self._plain(found)  # it does not fail every time
        now, expected, got = again
        what = (small.id, *now.difference[:3]) if now.difference is not None else (small.id, found.outcome)
        if what in self._shown:
            return self._plain(found)  # the same again says nothing new
        self._shown.add(what)
        record = self._plain(_Found(small, found.outcome, found.source, now.difference, found.rules, found.expectation,
                                    now.operation, now.broken))  # fmt: skip
        step = record.step + 1
        return records.Failure(
            **{name: getattr(record, name) for name in record.__slots__}
            | {
                "program": found.program.id,
                "found": found.program.to_json(),
                "shrunk": small.to_json(tags=False),
                "expected_observation": observation.to_json(expected[step]) if expected else None,
                "got_observation": observation.to_json(got[step]) if got else None,
                "repro": self._script(small, now, expected),
            }
        )

    def _script(self, program: Program, found: _Found, expected: Sequence[Observation]) -> str:
        if found.broken is not None and found.broken.outcome == "error":
            return ""  # the adapter went wrong, not the library
        claim = claim_of(program, found.difference, expected, seconds=self.worker.program_timeout)
        return self.worker.script(program, claim) if claim.check else ""

    def _again(
        self, program: Program, found: _Found
    ) -> tuple[_Found, Sequence[Observation], Sequence[Observation]] | None:
        """What the library does with a program, if it fails as `found` did."""
        if self.worker.capabilities.missing(needs(program)) is not None:
            return None
        try:
            expected = execute(program, self.oracle)
        except (OracleError, ProtocolError, NotOffered):
            return None
        if self.worker.capabilities.missing(hazards(expected)) is not None:
            return None
        self.worker.submit([(0, program)])
        ((_, answer),) = self.worker.collect()
        if isinstance(answer, Unsupported):
            return None
        if isinstance(answer, Broken):
            same = found.broken is not None and found.broken.outcome == answer.outcome
            return (_Found(program, found.outcome, found.source, broken=answer), expected, ()) if same else None
        if found.difference is None:
            return None
        rules = self.catalogue.classify(program, expected)
        for verdict in judge(program, expected, answer, self.worker.capabilities):
            for difference in verdict.differences:
                ids = {rule.id for rule in rules[verdict.step + 1]}
                operation = program.steps[verdict.step].op if verdict.step >= 0 else ""
                alike = difference.aspect == found.difference.aspect and operation == found.operation
                if alike and (ids & set(found.rules) or not found.rules):
                    return (
                        _Found(program, found.outcome, found.source, difference, operation=operation),
                        expected,
                        answer,
                    )
        return None

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
    expected: dict[int, list[Observation]] = field(default_factory=dict)
    broken: dict[int, Broken | Unsupported] = field(default_factory=dict)
    """Programs that the oracle could not run."""
    answers: dict[int, Any] = field(default_factory=dict)
    unsupported: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    counts: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    failures: list[_Found] = field(default_factory=list)


@dataclass(frozen=True)
class _Found:
    """One thing that went wrong with one program."""

    program: Program
    outcome: str
    source: str
    difference: Difference | None = None
    rules: tuple[str, ...] = ()
    expectation: Expectation | None = None
    operation: str = ""
    broken: Broken | None = None

    @property
    def cluster(self) -> tuple[str, ...]:
        """Failures that are likely to have one cause: the same expectation, or operation and aspect."""
        if self.expectation is not None and self.outcome == "xfail":
            return (self.expectation.name,)
        if self.difference is None:
            return (self.outcome,)
        return (self.outcome, self.operation, self.difference.aspect)


def _attribution(found: _Found) -> str:
    """Which invariant a failure breaks, whoever is right about layout; empty where none that can be told from it."""
    if found.outcome == "crash":
        return "breaks an invariant: no operation ends its process"
    if found.difference is not None and (found.difference.detail or {}).get("guard"):
        return "breaks an invariant: nothing outside a storage is written"
    return ""


_IMPLIES = {
    "shape": ("strides", "layout", "contiguity"),
    "strides": ("layout", "contiguity"),
    "values": ("storage",),
}


def _most_telling(found: Sequence[_Found]) -> list[_Found]:
    """The differences that are shown: other strides imply another layout, and only the first is told."""
    shown: list[_Found] = []
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
