"""The findings: each page says all that a maintainer needs.

That each script shows its deviation is found out by `make libraries`, which has the libraries.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from stridecheck.ci.findings import FACTS, KINDS, MAX_LINES, Finding, alone, forked, read_findings, show
from stridecheck.ci.libraries import LIBRARIES
from stridecheck.conformance import arrivals
from stridecheck.conformance.arrivals import harm
from stridecheck.conformance.capabilities import ASPECTS
from stridecheck.conformance.exchanges import KNOWN
from stridecheck.conformance.expectations import BUNDLED, ENDS
from stridecheck.conformance.rules import catalogue

PAGES = Path(__file__).parents[2] / "docs" / "findings"
FOUND = {
    page.stem: read_findings(page) for page in sorted(PAGES.glob("*.md")) if page.stem != "README"
}  # fmt: skip
ALL = [(page, finding) for page, findings in FOUND.items() for finding in findings]


@pytest.mark.parametrize(("page", "finding"), ALL, ids=[finding.id for _, finding in ALL])
def test_a_finding_says_all_that_is_needed(page, finding):
    """Kind, rule, aspect, program, versions and thread; a script of at most 15 lines that can be compiled."""
    assert tuple(finding.facts) == FACTS
    assert all(finding.facts.values())
    assert finding.facts["kind"] in KINDS
    known = catalogue().rules
    rules = re.findall(r"`([^`]+)`", finding.facts["rule"])
    assert rules or finding.facts["rule"].startswith("none (")
    assert [rule for rule in rules if rule not in known] == []
    words = {word.strip() for word in finding.facts["aspect"].split(",")}
    assert words <= {*ASPECTS, *ENDS}
    assert re.search(r"\d", finding.facts["versions"])
    assert re.match(r"\[[^]]+\]\(https://|not known$|documented", finding.facts["thread"])
    assert 0 < len(finding.script.splitlines()) <= MAX_LINES
    compile(finding.script, finding.id, "exec")


def test_the_pages_are_counted():
    """The overview has a line for each page with its numbers; findings are numbered from 1 on."""
    text = (PAGES / "README.md").read_text()
    lines = dict(re.findall(r"^\| \[[^]]+\]\(([\w-]+)\.md\) \| (.*) \|$", text, flags=re.MULTILINE))
    assert lines.keys() == FOUND.keys()
    for page, findings in FOUND.items():
        assert [finding.id for finding in findings] == [f"{page}-{n}" for n in range(1, len(findings) + 1)]
        kinds = Counter(finding.facts["kind"] for finding in findings)
        unknown = sum(finding.facts["thread"] == "not known" for finding in findings)
        assert lines[page] == " | ".join(map(str, (len(findings), *(kinds[kind] for kind in KINDS), unknown)))
    kinds = Counter(finding.facts["kind"] for _, finding in ALL)
    assert len(ALL) >= 30
    assert kinds["bug"] >= 10
    assert sum(finding.facts["thread"] == "not known" and finding.facts["kind"] == "bug" for _, finding in ALL) >= 10


STANDARDS = ("numpy", "torch-cpu")
"""Whose expectations need no finding: NumPy's documented semantics, and the invariants that eager torch breaks."""
EXPECTED = {
    path.stem: {entry["name"]: entry["reason"] for entry in tomllib.loads(path.read_text())["expect"]}
    for path in sorted(BUNDLED.glob("*.toml"))
}  # fmt: skip


@pytest.mark.parametrize("adapter", EXPECTED)
def test_expectations_name_findings_that_are_there(adapter):
    """A reason names findings that there are; none where a standard is judged, or eager torch breaks the same."""
    ids = {finding.id for _, finding in ALL}
    for name, reason in EXPECTED[adapter].items():
        named = set(re.findall(rf"\b(?:{'|'.join(FOUND)})-\d+\b", reason))
        assert named <= ids, name
        assert named or adapter in STANDARDS or name in EXPECTED["torch-cpu"], name


def test_each_library_has_a_page():
    """What `make libraries` checks has its findings, or those of another back end; the exchange, eager torch's."""
    assert {library.name.removesuffix("-aot-eager") for library in LIBRARIES} | {"torch-cpu"} == FOUND.keys()


HARMS = tomllib.loads((PAGES / "exchange.toml").read_text())["harm"]
"""Of which finding each harm is that arrives where libraries hand arrays to each other."""


def covers(entry, producer, consumer, protocol, case, does):
    """Whether an entry is of such a harm."""
    globs = ((producer, entry["from"]), (consumer, entry["to"]), (protocol, entry["by"]), (does, entry["does"]))
    return all(fnmatchcase(*pair) for pair in globs) and any(fnmatchcase(case, glob) for glob in entry["cases"])


def test_each_harm_in_the_exchange_is_of_one_finding():
    """None is parked without a finding; no entry is of nothing any more, or names a finding that is not there."""
    found = []
    for known in map(arrivals.read, KNOWN.parent.glob("exchange*.txt")):
        found += [(*way, case, harm(arrived)) for way, cases in known.ways.items() for case, arrived in cases.items()]
        found += [(*place, does) for place, does in known.harms.items()]
    harms = [(*place, each) for *place, does in found for each in does.split(", ") if each]
    of = {one: {entry["finding"] for entry in HARMS if covers(entry, *one)} for one in harms}
    assert {one: findings for one, findings in of.items() if len(findings) != 1} == {}
    assert [entry for entry in HARMS if not any(covers(entry, *one) for one in harms)] == []
    assert {entry["finding"] for entry in HARMS} <= {finding.id for _, finding in ALL}
    assert all(entry.keys() == {"finding", "from", "to", "by", "does", "cases"} for entry in HARMS)


@pytest.mark.parametrize("own", [True, False], ids=["alone", "forked"])
@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("assert False", ""),
        ("x = 1", "no longer shows"),
        ("raise TypeError('other')", "showed something else: TypeError: other"),
        ("# raises: TypeError\nraise TypeError('other')", ""),
        ("# ends: SIGFPE\nimport os\nos.kill(os.getpid(), 8)", ""),
        ("# ends: SIGFPE\nimport os\nos.kill(os.getpid(), 11)", "ended by SIGSEGV: "),
        ("# ends: SIGSEGV\nraise TypeError('other')", "showed something else than SIGSEGV: TypeError: other"),
        ("# ends: SIGSEGV, SIGABRT\nimport os\nos.abort()", ""),
        ("# ends: SIGSEGV, SIGABRT\n# raises: TypeError\nraise TypeError('spoilt')", ""),
    ],
    ids=[
        "shown",
        "mended",
        "other error",
        "named error",
        "signal",
        "other signal",
        "no signal",
        "one of two",
        "or error",
    ],
)
def test_a_change_in_either_direction_is_told(script, problem, own):
    """A script that succeeds, or fails otherwise than it says, is a problem; so is one that does not end."""
    python = Path(sys.executable)
    with nullcontext(alone(python)) if own else forked(python, "json") as run:
        assert show(Finding("x-1", "", {}, script), run) == problem


@pytest.mark.parametrize("own", [True, False], ids=["alone", "forked"])
def test_a_script_that_does_not_end_is_told(own, monkeypatch):
    """It is given up after a while, and nothing of it stays."""
    monkeypatch.setattr("stridecheck.ci.findings.SECONDS", 1)
    python = Path(sys.executable)
    with nullcontext(alone(python)) if own else forked(python, "json") as run:
        assert show(Finding("x-1", "", {}, "while True: pass"), run) == "did not end within 1 s"
        # What is run after it has answers of its own.
        assert show(Finding("x-2", "", {}, "assert False"), run) == ""
        assert show(Finding("x-3", "", {}, "pass"), run) == "no longer shows"


def test_an_interpreter_that_has_ended_shows_nothing():
    """Each script that was to run in it says so."""
    with forked(Path(sys.executable), "json") as run:
        for script in ("import os, signal; os.kill(os.getppid(), signal.SIGKILL)", "assert False"):
            assert show(Finding("x-1", "", {}, script), run).endswith("the interpreter that it was to run in has ended")
