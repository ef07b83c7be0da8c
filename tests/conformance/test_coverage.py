"""Every numbered sentence of the semantics has a rule, or a reason why it has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "semantics"


def _numbered():
    """Numbers of sentences (`- **3.1.4** …`) and of headings (`### 3.2 …`) that have no numbered sentences below."""
    sentences, headings = set(), set()
    for page in PAGES.glob("[0-9]*.md"):
        text = page.read_text(encoding="utf-8")
        sentences |= set(re.findall(r"^\s*- \*\*(\d+(?:\.\d+)+)\*\*", text, re.MULTILINE))
        headings |= set(re.findall(r"^#+ (\d+(?:\.\d+)*)\.? ", text, re.MULTILINE))
    return sentences | {h for h in headings if not any(s.startswith(f"{h}.") for s in sentences | headings)}


def _belongs(number, section):
    return number == section or number.startswith(f"{section}.")


@pytest.fixture(scope="module")
def listed():
    """Sentences and sections that the page says are not covered, each with its reason."""
    rows = re.findall(r"^\| (\d[\d.]*) \| (.+) \|$", (PAGES / "coverage.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(dict(rows)) == len(rows), "a sentence is listed twice"
    return dict(rows)


@pytest.fixture(scope="module")
def sources(rules):
    return {rule.source.removeprefix("semantics §") for rule in rules.rules.values()}


def test_there_are_about_as_many_rules_as_sentences(rules):
    """A rule is one sentence: there are no fewer than the sentences that can have one."""
    assert len(rules.rules) >= 300


def test_every_sentence_has_a_rule_or_a_reason(sources, listed):
    """No numbered sentence is left out in silence."""
    # A rule about all of views or of copies is a rule of no sentence in particular.
    numbers = _numbered()
    narrow = {section for section in sources if "." in section or section in numbers}
    missing = {n for n in numbers if not any(_belongs(n, section) for section in (*narrow, *listed))}
    assert missing == set()


def test_nothing_is_listed_that_has_a_rule_of_its_own(sources, listed):
    """A reason that has become untrue is found out."""
    assert {number for number in listed if number in sources} == set()


def test_every_listed_number_is_there_and_has_a_reason(listed):
    """The page lists numbers of the semantics only, each with a sentence that says why."""
    numbers = _numbered()
    assert {number for number in listed if not any(_belongs(other, number) for other in numbers)} == set()
    assert {number for number, why in listed.items() if not re.fullmatch(r"\S.{15,}\.", why)} == set()


def test_every_rule_names_a_sentence_or_a_section(sources):
    """A rule's source is a number that the semantics has, or a section of numbers."""
    numbers = _numbered()
    assert {s for s in sources if not any(_belongs(number, s) or _belongs(s, number) for number in numbers)} == set()
