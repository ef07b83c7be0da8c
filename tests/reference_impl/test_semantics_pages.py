"""The numbered pages and the code refer to each other: what a function cites is there, and what a page names exists."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "semantics"
ROOMS = ("reference_impl", "conformance", "benchmarks")
NUMBER = r"\d+(?:\.\d+)*"


def numbered() -> set[str]:
    """Numbers of all sections and sentences."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.glob("*.md"))
    sentences = re.findall(rf"^\s*- \*\*({NUMBER})\*\*", text, re.MULTILINE)
    return {*sentences, *re.findall(rf"^#+ ({NUMBER})", text, re.MULTILINE)}


def citations(path: Path) -> set[str]:
    """Numbers that a module's docstrings, comments and messages cite as `facts`."""
    lists = re.findall(rf"\bfacts ({NUMBER}(?:(?:, | and | to ){NUMBER})*)", path.read_text(encoding="utf-8"))
    return {number for cited in lists for number in re.findall(NUMBER, cited)}


def modules() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if citations(path)]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_module_cites_is_a_numbered_sentence(path: Path) -> None:
    """Whoever doubts a docstring or an error can read on where it says."""
    assert citations(path) <= numbered()


def questions() -> list[tuple[str, str, str]]:
    """Rows of the table of questions: the question, its sentences, a function."""
    rows = re.findall(r"^\| (.+\?.*?) \| ([\d., –]+) \| (.+) \|$", (PAGES / "README.md").read_text(), re.MULTILINE)
    return [(asked, cited, name) for asked, cited, names in rows for name in re.findall(r"`(\w+\.\w+)`", names)]


@pytest.mark.parametrize(("asked", "cited", "name"), questions(), ids=lambda value: value)
def test_a_question_leads_to_one_function(asked: str, cited: str, name: str) -> None:
    """The function is there and says in its docstring which section it follows, one of those that the table names."""
    module, function = name.split(".")
    found = getattr(importlib.import_module(f"stridecheck.reference_impl.{module}"), function)
    assert inspect.unwrap(found).__module__.endswith(f".{module}")
    sections = set(re.findall(NUMBER, cited))
    assert sections <= numbered()
    said = set(re.findall(NUMBER, " ".join(re.findall(r"facts ([^(\n]*)", found.__doc__))))
    assert any(a == b or a.startswith(b + ".") or b.startswith(a + ".") for a in said for b in sections)


def test_the_table_asks_when_view_fails() -> None:
    """The question that everybody has is in the table, once, with its one function."""
    assert [name for asked, _, name in questions() if asked.startswith("When does `view` fail?")] == [
        "views.view_strides"
    ]
