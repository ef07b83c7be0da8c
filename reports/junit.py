"""JUnit XML of a run: a suite per adapter with a case per rule, one of what was exchanged, of mutants, and of claims.

What CI systems agree on is used and nothing else: `testsuites`, `testsuite`, `properties`, `testcase`,
`failure`, `error`, `skipped`. Known deviations are skipped with their reason: CI shows them and
stays green. Times are no verdicts: of them only those that could not be had are cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from . import handovers, mutants
from .records import Handover
from .run import Run
from .summary import AdapterSummary, family_of, summaries
from .text import clean, count, listed
from .verdicts import State, rule_verdicts

_STATES = ("failure", "error", "skipped")

_STATE_OF: Mapping[State, str] = {"fail": "failure", "error": "error", "known": "skipped", "not judged": "skipped"}
_CLAIM_STATES: Mapping[str, str] = {"failed": "error", "not tried": "skipped"}


def junit(run: Run) -> str:
    """The run as JUnit XML, a whole document.

    Source: https://github.com/testmoapp/junitxml, where the common practice is written down.
    """
    root = ElementTree.Element("testsuites", name="stridecheck", time=f"{run.seconds:.3f}")
    suites = [_adapter(run, summary) for summary in summaries(run)]
    if run.handovers:
        suites.append(_exchange(run))
    if run.mutants:
        suites.append(_mutants(run))
    if run.claims:
        suites.append(_claims(run))
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


def _suite(run: Run, name: str) -> ElementTree.Element:
    return ElementTree.Element("testsuite", name=name, timestamp=clean(run.header.started))


def _adapter(run: Run, summary: AdapterSummary) -> ElementTree.Element:
    name = clean(summary.name)
    suite = _suite(run, name)
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
    for timing in run.untimed:
        if timing.adapter == summary.name:
            asked = f"{timing.case}, {count(timing.threads, 'thread')}, {timing.cache}"
            _state(_case(suite, f"{name}.timings", asked), "error", timing.reason)
    verdicts = rule_verdicts(run, summary.name)
    if not summary.score.unsupported and all(verdict.state == "not judged" for verdict in verdicts.values()):
        return suite
    for rule, verdict in verdicts.items():
        classname = f"{name}.{clean(family_of(run, rule))}" if rule else name
        case = _case(suite, classname, rule or "programs that belong to no rule")
        if verdict.state != "pass":
            _state(case, _STATE_OF[verdict.state], verdict.message, verdict.details)
    return suite


def _exchange(run: Run) -> ElementTree.Element:
    """A case for each protocol between two libraries, as the terminal tells of it."""
    suite = _suite(run, "exchange")
    ways: dict[str, list[Handover]] = {}
    for one in run.handovers:
        ways.setdefault(f"{one.producer} → {one.consumer}, {one.protocol}", []).append(one)
    for name, found in ways.items():
        case = _case(suite, "exchange", name)
        red = [handovers.line(one) for one in found if not one.is_known]
        harm = [handovers.line(one) for one in found if one.is_harm]
        if red:
            _state(case, "failure", red[0], "\n".join(red))
        elif harm:
            _state(case, "skipped", f"known harm: {listed(harm, 3)}")
        elif all(one.outcome == "not offered" for one in found):
            _state(case, "skipped", "not offered")
    return suite


def _mutants(run: Run) -> ElementTree.Element:
    """A case for each mutant, that nothing found out a failure."""
    suite = _suite(run, "mutants")
    for mutant in run.mutants:
        case = _case(suite, "mutants", mutant.name)
        if mutant.outcome != "killed":
            state = "error" if mutant.outcome == "untried" else "failure"
            _state(case, state, mutants.by(mutant), mutant.sentence)
    return suite


def _claims(run: Run) -> ElementTree.Element:
    """A case for each claim, whatever it came to; that trying it went wrong is an error."""
    suite = _suite(run, "claims")
    for claim in run.claims:
        case = _case(suite, "claims", claim.id)
        if claim.verdict in _CLAIM_STATES:
            _state(case, _CLAIM_STATES[claim.verdict], claim.why)
    return suite


def _incomplete(run: Run) -> ElementTree.Element:
    suite = _suite(run, "stridecheck")
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
