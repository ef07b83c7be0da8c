"""JUnit XML of a run: one test suite per adapter, one test case per rule.

What CI systems agree on is used and nothing else: `testsuites`, `testsuite`, `properties`, `testcase`,
`failure`, `error`, `skipped`. Known deviations are skipped with their reason: CI shows them and
stays green.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from .observations import say
from .records import RED, Failure
from .run import Run
from .summary import AdapterSummary, Counts, family_of, summaries
from .text import clean, count, listed, shorten

_DETAILED = 3
"""Failures of one rule that are written out; the rest is counted."""

_STATES = ("failure", "error", "skipped")


def junit(run: Run) -> str:
    """The run as JUnit XML, a whole document.

    Source: https://github.com/testmoapp/junitxml, where the common practice is written down.
    """
    root = ElementTree.Element("testsuites", name="stridecheck", time=f"{run.seconds:.3f}")
    suites = [_suite(run, summary) for summary in summaries(run)]
    if not run.complete:
        suites.append(_incomplete(run))
    for suite in suites:
        cases = suite.findall("testcase")
        suite.set("tests", str(len(cases)))
        for state, name in zip(_STATES, ("failures", "errors", "skipped"), strict=True):
            suite.set(name, str(sum(case.find(state) is not None for case in cases)))
        root.append(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False)


def _suite(run: Run, summary: AdapterSummary) -> ElementTree.Element:
    name = clean(summary.name)
    suite = ElementTree.Element("testsuite", name=name, timestamp=clean(run.header.started))
    properties = ElementTree.SubElement(suite, "properties")
    values = {
        **{f"version.{key}": value for key, value in summary.adapter.versions.items()},
        "score": summary.score.text,
        "programs": str(summary.programs),
        "command": run.header.command,
    }
    for key, value in values.items():
        ElementTree.SubElement(properties, "property", name=clean(key), value=clean(value))
    if summary.adapter.status != "ready":
        case = _case(suite, name, "start")
        state = "skipped" if summary.adapter.status == "skipped" else "error"
        _state(case, state, summary.adapter.reason or summary.adapter.status)
        return suite
    by_rule: dict[str, list[Failure]] = {}
    for failure in run.failures:
        if failure.adapter == summary.name:
            # Crashes may be of no rule, and must not be lost for that.
            for rule in failure.rules or ("",):
                by_rule.setdefault(rule, []).append(failure)
    if not summary.score.judged and not summary.score.unsupported and not by_rule:
        return suite
    known_rules = [rule for rules in run.tally.families.values() for rule in rules]
    for rule in dict.fromkeys([*known_rules, *by_rule]):
        classname = f"{name}.{clean(family_of(run, rule))}" if rule else name
        case = _case(suite, classname, rule or "programs that belong to no rule")
        _judge(case, run.tally.counts(summary.name, [rule]), by_rule.get(rule, []))
    return suite


def _judge(case: ElementTree.Element, outcomes: Counts, failures: Sequence[Failure]) -> None:
    """Give the case its state: a failure comes before a known deviation, that before "not judged"."""
    red = [failure for failure in failures if failure.outcome in RED]
    known = [failure for failure in failures if failure.outcome == "xfail"]
    red_steps = sum(outcomes.get(outcome, 0) for outcome in RED)
    if red or red_steps:
        first = red[0].message if red else f"{count(red_steps, 'judged step')} with an unexpected outcome"
        state = "failure" if not red or any(f.outcome in ("fail", "xpass") for f in red) else "error"
        _state(case, state, first, _details(red))
    elif known or outcomes.get("xfail"):
        reasons = list(dict.fromkeys(failure.expectation for failure in known if failure.expectation))
        _state(case, "skipped", "known deviation: " + (listed(reasons, 3) if reasons else "no reason given"))
    elif not outcomes.get("pass"):
        unsupported = outcomes.get("unsupported", 0)
        reason = f"not supported ({count(unsupported, 'step')})" if unsupported else "no program exercised it"
        _state(case, "skipped", f"not judged: {reason}")


def _details(failures: Sequence[Failure]) -> str:
    texts = []
    for failure in failures[:_DETAILED]:
        lines = [
            f"{failure.outcome}: {failure.message}",
            f"program {failure.program}, step {failure.step} ({failure.operation}), aspect {failure.aspect}",
            f"expected: {shorten(say(failure.aspect, failure.expected), 1000)}",
            f"got:      {shorten(say(failure.aspect, failure.got), 1000)}",
            *([failure.listing] if failure.listing else []),
            *(["", failure.repro] if failure.repro else []),
        ]
        texts.append("\n".join(lines))
    if len(failures) > _DETAILED:
        texts.append(f"and {len(failures) - _DETAILED:,} more failures of this rule, all in results.jsonl")
    return "\n\n".join(texts)


def _incomplete(run: Run) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name="stridecheck", timestamp=clean(run.header.started))
    _state(_case(suite, "stridecheck", "run"), "error", "the run ended before it was done")
    return suite


def _case(suite: ElementTree.Element, classname: str, name: str) -> ElementTree.Element:
    # Steps of many rules share one program, so that no rule has a time of its own.
    return ElementTree.SubElement(suite, "testcase", classname=classname, name=clean(name), time="0")


def _state(case: ElementTree.Element, state: str, message: str, text: str = "") -> None:
    element = ElementTree.SubElement(case, state, message=clean(message))
    if state != "skipped":
        element.set("type", state)
    if text:
        element.text = clean(text)
