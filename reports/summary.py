"""Counts and scores of a run: pure functions, no pandas, so that badges and XML are made in milliseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .aspects import ASPECTS
from .records import RED, Adapter
from .run import Run
from .text import percent

FAILED = ("fail", "error", "crash", "timeout")
"""Outcomes of a step that is not as PyTorch's, and not known to be so."""

Counts: TypeAlias = Mapping[str, int]
"""outcome -> number of judged steps."""


@dataclass(frozen=True, slots=True)
class Score:
    """Judged steps of an adapter, over its (rule, aspect) pairs.

    An unexpected pass conforms, so it is among `passed`; `unsupported` steps are not judged.

    >>> Score(passed=997, failed=1, known=2).text
    '99.7 %'
    """

    passed: int = 0
    failed: int = 0
    known: int = 0
    unsupported: int = 0

    @property
    def judged(self) -> int:
        """Passed, failed and known deviations together."""
        return self.passed + self.failed + self.known

    @property
    def says(self) -> str:
        """The same with what it is a share of."""
        return f"{self.text} of judged steps" if self.judged else self.text

    @property
    def text(self) -> str:
        """Passed over judged in percent, rounded down, or "nothing judged"."""
        return percent(self.passed, self.judged) if self.judged else "nothing judged"


@dataclass(frozen=True, slots=True)
class AdapterSummary:
    """What a person wants to know about one adapter first. All but `score` and `timed` count programs."""

    adapter: Adapter
    score: Score
    programs: int
    """Programs run, without the unsupported ones."""
    outcomes: Counts
    """Programs by their worst outcome."""
    unsupported: Counts
    """Programs not run, or not to their end, by the missing capability."""
    timed: int = 0
    """Cases timed."""

    @property
    def name(self) -> str:
        """The adapter's name."""
        return self.adapter.name

    @property
    def state(self) -> str:
        """What became of it, in a word: `not run` where it failed before any program ran.

        Of a unit that it was given up in there may be failures, and no counts.
        """
        ran = self.programs or self.red or self.known
        return "not run" if self.adapter.status == "failed" and not ran else self.adapter.status

    @property
    def red(self) -> int:
        """Programs with an outcome that nobody expected."""
        return sum(self.outcomes.get(outcome, 0) for outcome in RED)

    @property
    def known(self) -> int:
        """Programs whose worst outcome is a known deviation."""
        return self.outcomes.get("xfail", 0)

    @property
    def not_run(self) -> int:
        """Programs that ask for what the adapter does not claim."""
        return self.outcomes.get("unsupported", 0)

    @property
    def idle(self) -> bool:
        """Whether a library that was ready had nothing judged and nothing timed."""
        did = self.score.judged or self.timed or self.red or self.known
        return not did and self.adapter.status == "ready"


@dataclass(frozen=True, slots=True)
class Tally:
    """Judged steps by adapter, rule, aspect and outcome."""

    cells: Mapping[tuple[str, str, str], Counts]
    """(adapter, rule, aspect) -> outcome -> number of judged steps."""
    families: Mapping[str, tuple[str, ...]]
    """family -> its rules; those of the catalogue in its order, those only counted after them."""
    aspects: tuple[str, ...]
    """Every aspect that was judged."""

    def counts(self, adapter: str, rules: Iterable[str], aspect: str | None = None) -> Counts:
        """Steps by outcome, over some rules and one aspect or all."""
        total: Counter[str] = Counter()
        for rule in rules:
            for name in self.aspects if aspect is None else (aspect,):
                total.update(self.cells.get((adapter, rule, name), {}))
        return total


def family_of(run: Run, rule: str) -> str:
    """Family of a rule, from the catalogue, else what its id begins with."""
    return str(run.rules.get(rule, {}).get("family") or rule.partition(".")[0])


def tally(run: Run) -> Tally:
    """Add up the counts of all units; `Run.tally` keeps the answer."""
    cells: dict[tuple[str, str, str], Counter[str]] = {}
    for unit in run.units:
        for rule, by_aspect in unit.counts.items():
            for aspect, outcomes in by_aspect.items():
                cells.setdefault((unit.adapter, rule, aspect), Counter()).update(outcomes)
    families: dict[str, list[str]] = {}
    for rule in dict.fromkeys([*run.rules, *(rule for _, rule, _ in cells)]):
        families.setdefault(family_of(run, rule), []).append(rule)
    seen = {aspect for _, _, aspect in cells}
    aspects = [aspect for aspect in ASPECTS if aspect in seen] + sorted(seen.difference(ASPECTS))
    return Tally(cells, {family: tuple(rules) for family, rules in families.items()}, tuple(aspects))


def score(counts: Counts) -> Score:
    """The score of some judged steps."""
    return Score(
        passed=counts.get("pass", 0) + counts.get("xpass", 0),
        failed=sum(counts.get(outcome, 0) for outcome in FAILED),
        known=counts.get("xfail", 0),
        unsupported=counts.get("unsupported", 0),
    )


def summaries(run: Run) -> list[AdapterSummary]:
    """One summary per adapter, in the run's order; not of libraries that only exchanged arrays."""
    tallied = run.tally
    rules = [rule for family in tallied.families.values() for rule in family]
    ran = (
        {one.adapter for one in run.units}
        | {one.adapter for one in run.failures}
        | {one.adapter for one in run.timings}
    )
    exchanged = {name for one in run.handovers for name in (one.producer, one.consumer)} - ran
    adapters = [adapter for adapter in run.adapters if adapter.name not in exchanged]
    return [_summary(run, adapter, score(tallied.counts(adapter.name, rules))) for adapter in adapters]


def _summary(run: Run, adapter: Adapter, scored: Score) -> AdapterSummary:
    outcomes: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    programs = 0
    for unit in run.units:
        if unit.adapter == adapter.name:
            outcomes.update(unit.outcomes)
            missing.update(unit.unsupported)
            programs += unit.programs
    # A run that died in the middle of a unit has failures that no unit counts.
    uncounted = RED if outcomes else (*RED, "xfail")
    failing: dict[str, set[str]] = {}
    for failure in run.failures:
        if failure.adapter == adapter.name:
            failing.setdefault(failure.outcome, set()).add(failure.program)
    for outcome, ids in failing.items():
        if outcome in uncounted:
            outcomes[outcome] = max(outcomes[outcome], len(ids))
    if "unsupported" not in outcomes and missing:
        outcomes["unsupported"] = missing.total()
    return AdapterSummary(
        adapter=adapter,
        score=scored,
        programs=programs - outcomes["unsupported"],
        outcomes=outcomes,
        unsupported=missing,
        timed=sum(timing.adapter == adapter.name and timing.status == "ok" for timing in run.timings),
    )
