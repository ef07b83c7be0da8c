"""What a run says of one rule on one adapter: the state that JUnit and pytest show, its reason and its details."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .observations import say
from .records import RED, Failure
from .run import Run
from .summary import Counts
from .text import clean, count, listed, shorten

State: TypeAlias = Literal["pass", "fail", "error", "known", "not judged"]
"""`error` is a failure that is no difference: a crash, a hang, a broken protocol."""

NO_RULE = ""
"""Stands in the place of a rule for failures that belong to none, and must not be lost for that."""

_DETAILED = 3
"""Failures of one rule that are written out; the rest is counted."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The worst that happened under a rule; `message` is one line, empty where the rule passed."""

    state: State
    message: str = ""
    details: str = ""
    """The first failures in full, with program and script."""


def rule_verdicts(run: Run, adapter: str) -> Mapping[str, RuleVerdict]:
    """Rule id -> verdict, of the catalogue's rules, those only counted or failed, and `NO_RULE` where it has failures.

    A failure comes before a known deviation, that before "not judged".
    """
    by_rule: dict[str, list[Failure]] = defaultdict(list)
    for failure in run.failures:
        if failure.adapter == adapter:
            for rule in failure.rules or (NO_RULE,):
                by_rule[rule].append(failure)
    known = [rule for rules in run.tally.families.values() for rule in rules]
    return {
        rule: _verdict(run.tally.counts(adapter, [rule]), by_rule.get(rule, []))
        for rule in dict.fromkeys([*known, *by_rule])
    }


def _verdict(outcomes: Counts, failures: Sequence[Failure]) -> RuleVerdict:
    red = [failure for failure in failures if failure.outcome in RED]
    known = [failure for failure in failures if failure.outcome == "xfail"]
    red_steps = sum(outcomes.get(outcome, 0) for outcome in RED)
    if red or red_steps:
        first = red[0].message if red else f"{count(red_steps, 'judged step')} with an unexpected outcome"
        differs = not red or any(failure.outcome in ("fail", "xpass") for failure in red)
        return RuleVerdict("fail" if differs else "error", clean(first), clean(_details(red)))
    if known or outcomes.get("xfail"):
        reasons = list(dict.fromkeys(failure.expectation for failure in known if failure.expectation))
        return RuleVerdict("known", clean("known deviation: " + (listed(reasons, 3) if reasons else "no reason given")))
    if not outcomes.get("pass"):
        unsupported = outcomes.get("unsupported", 0)
        reason = f"not supported ({count(unsupported, 'step')})" if unsupported else "no program exercised it"
        return RuleVerdict("not judged", f"not judged: {reason}")
    return RuleVerdict("pass")


def _sides(failure: Failure) -> Iterator[str]:
    yield f"expected: {shorten(say(failure.aspect, failure.expected), 1000)}"
    yield f"got:      {shorten(say(failure.aspect, failure.got), 1000)}"


def _details(failures: Sequence[Failure]) -> str:
    texts = []
    for failure in failures[:_DETAILED]:
        of = f" ({failure.operation})" if failure.operation else ""
        on = f", aspect {failure.aspect}" if failure.aspect else ""
        lines = [
            f"{failure.outcome}: {failure.message}",
            f"program {failure.program}, {failure.where}{of}{on}",
            *(_sides(failure) if failure.aspect else ()),
            *([failure.listing] if failure.listing else []),
            *(["", failure.repro] if failure.repro else []),
        ]
        texts.append("\n".join(lines))
    if len(failures) > _DETAILED:
        texts.append(f"and {len(failures) - _DETAILED:,} more failures of this rule, all in results.jsonl")
    return "\n\n".join(texts)
