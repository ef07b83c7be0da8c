"""The suite's own score is told in the terminal, on the page, as a frame, and by the badge."""

import json

import pytest
from stridecheck.reports.badge import badge
from stridecheck.reports.markdown import markdown
from stridecheck.reports.records import Mutant
from stridecheck.reports.render import render_dirs
from stridecheck.reports.run import load
from stridecheck.reports.terminal import lines

KILLED = Mutant(
    "clone.gaps", "clone keeps gaps.", "reference", "killed", 14, 3, "corpus", "4f", "clone", "strides",
    ("clone.packs", "clone.fresh"), "strides are [4], but should be [1]", "pytorch/pytorch#158022",
)  # fmt: skip
SURVIVED = Mutant("view.copies", "view copies <b>.", "reference", "survived", 400, 7)


@pytest.fixture
def run(write, sample):
    return load([write([sample.header(), KILLED, SURVIVED, sample.footer(1)])])


def test_the_terminal_names_each_and_what_found_it_out(run):
    verdict, *rest = lines(run)
    assert verdict == "✗ 1 of 2 mutants found out (50.0 %)"
    assert rest == [
        "  ✓ clone.gaps   clone.packs (strides) after 14 programs",
        "  ✗ view.copies  not found out by 7 programs that could show it",
    ]


def test_the_frame_has_a_row_for_each(run):
    frame = run.frames.mutants.set_index("name")
    assert frame.loc["clone.gaps", "rules"] == "clone.packs clone.fresh"
    assert frame.loc["view.copies", "outcome"] == "survived"
    assert frame["reached"].sum() == 10


def test_the_page_and_the_summary_tell_of_them(run, tmp_path, write, sample):
    out = tmp_path / "page"
    out.mkdir()
    render_dirs([run.sources[0].path], out)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "1 of 2 mutants found out" in page
    assert "view copies &lt;b&gt;." in page
    assert "| view.copies | view copies &lt;b&gt;. | 7 |" in markdown(run)
    assert json.loads((out / "badge.json").read_text())["message"] == "1 of 2 mutants found out (50.0 %)"


def test_all_found_out_is_good_news(write, sample):
    run = load([write([sample.header(), KILLED, sample.footer(0)], "good")])
    assert next(iter(lines(run))) == "✓ 1 of 1 mutant found out (100 %)"
    assert badge(run)["color"] == "brightgreen"


def test_a_mutant_that_could_not_be_tried_says_why(write, sample):
    untried = Mutant("a", "It copies.", "torch", "untried", 0, 0, message="torch is not installed here")
    run = load([write([sample.header(), untried, sample.footer(3)], "untried")])
    assert list(lines(run))[-1] == "  ✗ a  not tried: torch is not installed here"
