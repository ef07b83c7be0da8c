"""What the page shows of a conformance run: pure functions from a run to frozen values for the template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from . import handovers
from .claims import headline
from .mutants import found_out
from .observations import Comparison, compare, say
from .records import Failure, Json
from .run import Run
from .summary import AdapterSummary, Score, Tally, score
from .text import count, duration, listed, shorten, slug

FULL = 200
"""Failures shown in full; a page with thousands is read by nobody and opened by no browser."""

_JSON_LIMIT = 2000
_REPRO_LIMIT = 40_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The run in one line, and how it is coloured: `good`, `bad`, `part` or `none`."""

    tone: str
    symbol: str
    headline: str
    lede: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the matrix; `tone` is `pass`, `known`, `fail`, `unsupported` or `empty`."""

    tone: str
    text: str
    words: str
    """The same for who cannot see symbol and colour."""


@dataclass(frozen=True, slots=True)
class Row:
    """One adapter in one family or rule."""

    adapter: str
    score: Score
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its counts."""

    id: str
    sentence: str
    source: str
    aspects: tuple[str, ...]
    rows: tuple[Row, ...]
    tone: str


@dataclass(frozen=True, slots=True)
class Family:
    """A family of rules: its rows in the matrix, its rules below."""

    name: str
    anchor: str
    rows: tuple[Row, ...]
    rules: tuple[Rule, ...]

    @property
    def deviating(self) -> int:
        """Rules that some adapter fails or is known to fail."""
        return sum(rule.tone in ("fail", "known") for rule in self.rules)

    @property
    def judged(self) -> int:
        """Rules that were judged at least once."""
        return sum(rule.tone not in ("empty", "unsupported") for rule in self.rules)


@dataclass(frozen=True, slots=True)
class FailureView:
    """One failure in full."""

    failure: Failure
    anchor: str
    """Stays the same from run to run, so that a link can be kept in an issue."""
    expected: str
    got: str
    parts: Comparison
    repro: str


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Failures alike: same outcome, operation, aspect and rules."""

    first: FailureView
    more: tuple[FailureView, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Unexpected failures of one adapter, crashes first."""

    adapter: str
    kinds: tuple[FailureKind, ...]
    """Those that are shown."""
    of_kinds: int
    total: int
    left_out: int
    """Failures that are in the results file only."""


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """Deviations covered by one expectation."""

    adapter: str
    reason: str
    programs: int
    operations: str
    rules: tuple[str, ...]
    example: FailureView


def verdict(run: Run, adapters: Sequence[AdapterSummary]) -> Verdict:
    """The run in one line."""
    red = "; ".join(_unexpected(run, adapters))
    known = sum(adapter.known for adapter in adapters)
    judged = [adapter for adapter in adapters if adapter.score.judged]
    timed = sum(adapter.timed for adapter in adapters)
    lede = _lede(run, adapters, timed)
    if not run.complete:
        return Verdict("part", "◐", "Incomplete: " + (red or "nothing unexpected so far"), lede)
    if any(adapter.red for adapter in adapters):
        return Verdict("bad", "✗", red, lede)
    if run.mutants and not judged and not timed:
        tone, symbol = ("bad", "✗") if run.exit_code else ("good", "✓")
        return Verdict(tone, symbol, found_out(run.mutants), lede)
    if run.handovers and not judged and not timed:
        tone, symbol = ("bad", "✗") if run.exit_code else ("good", "✓")
        return Verdict(tone, symbol, handovers.headline(run.handovers), lede)
    if red:
        return Verdict("bad", "✗", red, lede)
    if run.claims and not judged and not timed and not run.exit_code:
        return Verdict("good", "✓", headline(run.claims), lede)
    if not judged and not timed:
        return Verdict("none", "○", "Nothing was judged, nothing was measured", lede)
    if run.exit_code:
        return Verdict("bad", "✗", f"The run ended with exit code {run.exit_code}", lede)
    if not judged:
        return Verdict("good", "✓", f"{count(timed, 'case')} timed", lede)
    covered = f"; {count(known, 'program')} with known deviations" if known else ""
    return Verdict("good", "✓", f"Everything as expected{covered}", lede)


def _unexpected(run: Run, adapters: Sequence[AdapterSummary]) -> Iterator[str]:
    """What nobody expected, counted, a phrase for each kind of it."""
    if programs := sum(adapter.red for adapter in adapters):
        on = f" on {_and([adapter.name for adapter in adapters if adapter.red])}" if len(adapters) > 1 else ""
        yield f"{count(programs, 'program')} did not behave as expected{on}"
    if arrays := sum(not one.is_known for one in run.handovers):
        yield f"{count(arrays, 'array')} not handed over as expected"
    if mutants := sum(mutant.outcome == "survived" and mutant.reached > 0 for mutant in run.mutants):
        yield f"{count(mutants, 'mutant')} not found out"
    if timings := len(run.untimed):
        yield f"{count(timings, 'timing')} failed"
    if claims := sum(claim.verdict == "failed" for claim in run.claims):
        yield f"{count(claims, 'claim')} could not be tried"


def _lede(run: Run, adapters: Sequence[AdapterSummary], timed: int) -> str:
    sentences = []
    if judged := [adapter for adapter in adapters if adapter.score.judged]:
        rules = {rule for _, rule, _ in run.tally.cells}
        names = [adapter.name for adapter in judged]
        programs = max(adapter.programs for adapter in judged)
        each = " each" if len(judged) > 1 else ""
        upto = "up to " if len({adapter.programs for adapter in judged}) > 1 else ""
        sentences.append(
            f"{_and(names)} judged by {count(len(rules), 'rule')} on {upto}{count(programs, 'program')}{each}."
        )
    scopes = dict.fromkeys(str(source.header.arguments.get("scope", "")) for source in run.sources)
    sentences += [f"Exhaustive over {scope}." for scope in scopes if scope]
    if timed:
        names = list(dict.fromkeys(timing.adapter for timing in run.timings if timing.status == "ok"))
        sentences.append(f"{count(timed, 'timing')} of {_and(names)}.")
    if absent := [adapter.name for adapter in adapters if adapter.state in ("skipped", "not run")]:
        sentences.append(f"Not run: {_and(absent)}.")
    if run.seconds:
        sentences.append(f"Took {duration(run.seconds)}.")
    return " ".join(sentences)


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def families(run: Run, adapters: Sequence[AdapterSummary]) -> list[Family]:
    """The matrix and the rules behind it."""
    tally = run.tally
    names = [adapter.name for adapter in adapters if adapter.score.judged or adapter.score.unsupported]
    return [
        Family(
            name=family,
            anchor=slug("family", family),
            rows=tuple(_rows(tally, names, rules, tally.aspects)),
            rules=tuple([_rule(run, names, rule) for rule in rules]),
        )
        for family, rules in tally.families.items()
        if names
    ]


def _rows(tally: Tally, adapters: Iterable[str], rules: Sequence[str], aspects: Sequence[str]) -> Iterator[Row]:
    for adapter in adapters:
        cells = tuple([cell(score(tally.counts(adapter, rules, aspect))) for aspect in aspects])
        yield Row(adapter, score(tally.counts(adapter, rules)), cells)


def cell(judged: Score) -> Cell:
    """Symbol, figure and tone of some judged steps.

    >>> cell(Score(passed=9, known=1)).text
    '≈ 1/10'
    """
    words = f"{count(judged.passed)} of {count(judged.judged)} judged steps pass"
    if judged.failed:
        words += f", {count(judged.failed)} fail"
    if judged.known:
        words += f", {count(judged.known)} known to deviate"
    if judged.unsupported:
        words += f"; {count(judged.unsupported)} not supported"
    if judged.failed:
        return Cell("fail", f"✗ {count(judged.failed)}/{count(judged.judged)}", words)
    if judged.known:
        return Cell("known", f"≈ {count(judged.known)}/{count(judged.judged)}", words)
    if judged.passed:
        return Cell("pass", f"✓ {count(judged.passed)}", words)
    if judged.unsupported:
        return Cell("unsupported", f"– {count(judged.unsupported)}", words)
    return Cell("empty", "·", "not judged")


def _rule(run: Run, adapters: Sequence[str], rule: str) -> Rule:
    tally = run.tally
    entry = run.rules.get(rule, {})
    seen = {aspect for _, name, aspect in tally.cells if name == rule}
    aspects = tuple([aspect for aspect in tally.aspects if aspect in seen])
    rows = tuple(_rows(tally, adapters, [rule], aspects))
    tones = {cell(row.score).tone for row in rows}
    tone = next((tone for tone in ("fail", "known", "pass", "unsupported") if tone in tones), "empty")
    return Rule(rule, str(entry.get("sentence", "")), str(entry.get("source", "")), aspects, rows, tone)


def failure_groups(run: Run, limit: int = FULL) -> list[FailureGroup]:
    """Unexpected failures by adapter and kind; of too many, each kind comes before any repetition."""
    by_adapter: dict[str, list[Failure]] = {}
    for failure in run.red:
        by_adapter.setdefault(failure.adapter, []).append(failure)
    return [
        _failure_group(adapter, failures, share)
        for (adapter, failures), share in zip(
            by_adapter.items(), _shares([*map(len, by_adapter.values())], limit), strict=True
        )
    ]


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """Room for each, evenly; what one does not need is left to the others."""
    shares = [0] * len(wanted)
    for done, place in enumerate(sorted(range(len(wanted)), key=lambda place: wanted[place])):
        shares[place] = min(wanted[place], -(-room // (len(wanted) - done)))
        room -= shares[place]
    return shares


def _failure_group(adapter: str, failures: Sequence[Failure], share: int) -> FailureGroup:
    totals = Counter(map(_kind, failures))
    views: dict[tuple[str, ...], list[FailureView]] = {}
    for failure in _varied(failures)[:share]:
        views.setdefault(_kind(failure), []).append(failure_view(failure))
    kinds = [FailureKind(first, tuple(more), totals[kind]) for kind, (first, *more) in views.items()]
    return FailureGroup(adapter, tuple(kinds), len(totals), len(failures), len(failures) - share)


def _kind(failure: Failure) -> tuple[str, ...]:
    return (failure.outcome, failure.operation, failure.aspect, *failure.rules)


def _varied(failures: Sequence[Failure]) -> list[Failure]:
    """The failures in rounds, each with one of every kind; crashes first, then what most programs show."""
    kinds: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        kinds.setdefault(_kind(failure), []).append(failure)
    severity = ("crash", "timeout", "error", "fail", "xpass")
    ordered = sorted(kinds, key=lambda kind: (severity.index(kind[0]), -len(kinds[kind])))
    rounds = zip_longest(*(kinds[kind] for kind in ordered))
    return [failure for one_of_each in rounds for failure in one_of_each if failure is not None]


def known_groups(run: Run) -> list[KnownGroup]:
    """Known deviations by adapter and reason, most frequent first; the smallest program is the example."""
    by_reason: dict[tuple[str, str], list[Failure]] = {}
    for failure in run.known:
        by_reason.setdefault((failure.adapter, failure.expectation), []).append(failure)
    groups = [
        KnownGroup(
            adapter=adapter,
            reason=reason or "no reason given",
            programs=len({failure.program for failure in failures}),
            operations=listed(sorted({failure.operation for failure in failures if failure.operation})),
            rules=tuple(sorted({rule for failure in failures for rule in failure.rules})),
            example=failure_view(min(failures, key=lambda failure: (not failure.listing, len(failure.listing)))),
        )
        for (adapter, reason), failures in by_reason.items()
    ]
    order = [adapter.name for adapter in run.adapters]
    return sorted(groups, key=lambda group: (order.index(group.adapter), -group.programs))


def failure_view(failure: Failure) -> FailureView:
    """One failure, its observations compared."""
    return FailureView(
        failure=failure,
        anchor=slug(
            failure.outcome,
            failure.adapter,
            failure.program[:12],
            str(failure.step),
            failure.value,
            failure.aspect,
        ),
        expected=_side(failure, failure.expected),
        got=_side(failure, failure.got),
        parts=compare(failure.expected_observation, failure.got_observation),
        repro=shorten(failure.repro, _REPRO_LIMIT),
    )


def _side(failure: Failure, value: Json) -> str:
    if failure.expected is None and failure.got is None:
        return ""
    return shorten(say(failure.aspect, value), _JSON_LIMIT)
