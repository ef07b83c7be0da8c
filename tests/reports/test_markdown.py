"""The summary is short, true, and cannot be broken by what a library says."""

import re
from itertools import pairwise

import pytest
from stridecheck.reports import markdown as module
from stridecheck.reports.markdown import markdown
from stridecheck.reports.run import load


@pytest.fixture
def text_of(write):
    return lambda records: markdown(load([write(records)]))


def test_the_first_line_is_the_verdict_and_each_adapter_has_a_row(text_of, sample):
    text = text_of(sample.whole())
    assert text.startswith("## stridecheck: ✗ 9 programs did not behave as expected on numpy\n")
    assert "| **numpy** numpy 2.4.6 | 99.6 % | 1,888 | **9** | 160 | 160 | 1 |" in text
    assert "skipped: no CUDA device" in text


def test_rows_of_a_table_have_as_many_cells_as_its_head(text_of, sample):
    lines = text_of(sample.whole()).split("\n")
    for above, below in pairwise(lines):
        if re.match(r"\|.*\|$", above) and re.match(r"\|.*\|$", below):
            cells = [len(re.findall(r"(?<!\\)\|", line)) for line in (above, below)]
            assert cells[0] == cells[1], below


def test_a_kind_of_failure_is_shown_once_with_its_script(text_of, sample):
    text = text_of(sample.whole())
    assert text.count("should be (1, 4)") == 1
    assert "(7 alike)" in text
    assert "\n- numpy differs and breaks an invariant: a view lies in the memory" in text
    assert "```python\n" in text


def test_hostile_text_neither_opens_an_element_nor_closes_a_fence(text_of, sample):
    text = text_of(sample.whole())
    outside = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    outside = re.sub("`[^`\n]+`", "", outside)
    assert "<script" not in outside
    assert "&lt;script&gt;" in outside
    assert "\x1b" not in text
    assert "````\n" in text


def test_a_summary_fits_into_what_github_takes(text_of, sample, monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 3000)
    text = text_of(sample.whole())
    assert len(text.encode()) < 3200
    assert text.endswith("see report.html.*\n")


def test_many_failures_and_many_times_are_counted_not_listed(text_of, sample):
    many = [sample.failure(n, operation=f"op{n}") for n in range(100)]
    text = text_of([sample.header(), *many, *sample.timings(), sample.footer()])
    assert "90 more failures of numpy in report.html" in text
    assert "10 more rows in report.html" in text


def test_what_most_programs_show_comes_first(text_of, sample):
    found = [sample.failure(n, operation="seldom" if n == 0 else "often") for n in range(5)]
    crash = sample.failure(9, "crash", operation="crashed")
    text = text_of([sample.header(), *found, crash, sample.footer()])
    assert text.index("crashed") < text.index("often") < text.index("seldom")


def test_an_incomplete_run_says_so_first(text_of, sample):
    text = text_of([sample.header(), *sample.units()[:2]])
    assert text.startswith("## stridecheck: ◐ Incomplete")
    assert "> **Note:** The run ended before it was done" in text


def test_only_timings(text_of, sample):
    text = text_of([sample.header(), *sample.timings(), sample.footer(0)])
    assert "200 cases timed" in text
    assert "| copy | contiguous | 2.10 ms (1.0×) | 3.57 ms (1.7×) | 10.5 ms (5.0×) |" in text
