"""The page shows all there is, lets nothing foreign through, and loads nothing."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from stridecheck.reports.html import page
from stridecheck.reports.records import to_line
from stridecheck.reports.run import load

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """Text, ids and links of a page; fails on elements that are not closed in order."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.words, self.ids, self.tags, self.links = [], [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href", "action", "srcset"):
                self.links.append((tag, value))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


@pytest.fixture(scope="module")
def read(tmp_path_factory, sample):
    def read_(records, **options):
        directory = tmp_path_factory.mktemp("run")
        sample.write(directory, records)
        html = page(load([directory]), directory, **options)
        assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\u202a-\u202e]", html)
        return html, Page(html)

    return read_


@pytest.fixture(scope="module")
def whole(read, sample):
    return read(sample.whole())


def test_a_whole_run_is_all_on_the_page(whole):
    _, seen = whole
    for expected in (
        "9 programs did not behave as expected on numpy",
        "stridecheck check torch:cpu numpy cupy --programs 2048 --seed 7",
        "seed 7",
        "torch 2.13.0+cpu",
        "cupy skipped no CUDA device",
        "numpy 9 failures of 3 kinds",
        "7 alike",
        "the process died with SIGSEGV",
        "v3 = v1.narrow(0, 1, 2)",
        "raise SystemExit(v3.strides != (4, 16))",
        "numpy differs and breaks an invariant",
        "NumPy knows no memory formats",
        "31 programs",
        "float32 · large · 1 thread",
        "numpy: 5 cases not supported (no conv2d)",
        "memory-format: 100 programs",
        "x_traffic",
        "complete, exit code 1",
    ):
        assert expected in seen.text, expected
    assert seen.tags.count("svg") == 14


def test_aspects_stand_apart_in_the_matrix_with_a_sign_and_a_number(whole):
    _, seen = whole
    assert "✗ 8/" in seen.text
    assert "≈ 4/" in seen.text
    assert "– 248" in seen.text


def test_hostile_text_is_shown_and_never_obeyed(whole):
    _, seen = whole
    assert seen.tags.count("script") == 1
    assert r"<script>alert(1)</script> </pre>\x00\x1b[31m \u202e]]> | `` ``` \ud800" in seen.text


def test_every_text_of_a_run_may_be_hostile(read, sample):
    poisoned = []
    for record in sample.whole():
        changes = {
            name: sample.hostile
            for name in getattr(record, "__slots__", ())
            if isinstance(getattr(record, name), str) and name not in ("status", "outcome", "adapter", "name", "cache")
        }
        poisoned.append(type(record)(**{**{n: getattr(record, n) for n in record.__slots__}, **changes}))
    _, seen = read(poisoned)
    assert seen.tags.count("script") == 1
    assert not [tag for tag in seen.tags if tag in ("iframe", "img", "object", "link", "base")]


def test_nothing_is_loaded_from_anywhere(whole):
    html, seen = whole
    assert {tag for tag, _ in seen.links} == {"a"}
    assert "default-src 'none'" in html
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)


def test_links_within_the_page_lead_somewhere_and_no_id_is_twice(whole):
    _, seen = whole
    assert len(seen.ids) == len(set(seen.ids))
    assert {href for _, href in seen.links if href.startswith("#")} <= {f"#{id}" for id in seen.ids}


def test_a_failure_keeps_its_anchor_from_run_to_run(read, whole, sample):
    anchor = "fail-numpy-0003c0ffee5e-2-3-layout"
    assert anchor in whole[1].ids
    assert anchor in read([sample.header(), sample.failure(3)])[1].ids


def test_of_many_failures_every_kind_is_shown_and_the_rest_is_counted(read, sample):
    many = [sample.failure(number) for number in range(300)] + [
        sample.failure(500, "crash", operation="resize_"),
        sample.failure(600, operation="unfold", message="a rare one"),
    ]
    _, seen = read([sample.header(), *many, sample.footer()], limit=20)
    assert "302 failures of 3 kinds" in seen.text
    assert "282 more failures of numpy are not on this page" in seen.text
    assert "a rare one" in seen.text
    assert seen.text.index("resize_") < seen.text.index("narrow")


def test_many_adapters_share_the_room_and_each_is_heard(read, sample):
    many = [sample.failure(n, adapter=name) for name in ("one", "two") for n in range(30)]
    _, seen = read([sample.header(), *many, sample.failure(adapter="three"), sample.footer()], limit=10)
    assert "25 more failures of one" in seen.text
    assert "26 more failures of two" in seen.text
    assert "three 1 failure of 1 kind" in seen.text


def test_an_incomplete_run_says_so_at_the_top_and_shows_what_it_has(read, sample):
    _, seen = read([sample.header(), *sample.adapters(), *sample.units()[:5]])
    assert "Incomplete: nothing unexpected so far" in seen.text
    assert "true, but not all there is" in seen.text
    assert "100 %" in seen.text


def test_a_cut_off_file_is_rendered(write, sample):
    directory = write(sample.whole()[:-1])
    with (directory / "results.jsonl").open("a") as file:
        file.write(to_line(sample.footer())[:20])
    assert "Incomplete" in Page(page(load([directory]), directory)).text


def test_only_timings(read, sample):
    _, seen = read([sample.header(), *sample.adapters()[:3], *sample.timings(), sample.footer(0)])
    assert "200 cases timed" in seen.text
    assert "cases timed, nothing judged" in seen.text
    assert "matrix" not in seen.ids


def test_only_conformance_and_all_as_expected(read, sample):
    units = [unit for unit in sample.units() if unit.adapter != "numpy"]
    _, seen = read([sample.header(), *sample.adapters()[:2], *units, sample.footer(0)])
    assert "Everything as expected; 4 programs with known deviations" in seen.text
    assert "timings" not in seen.ids
    assert "failures" not in seen.ids


def test_nothing_judged_is_neither_0_nor_100_percent(read, sample):
    _, seen = read([sample.header(), *sample.adapters(), sample.footer(4)])
    assert "Nothing was judged, nothing was measured" in seen.text
    assert "This says nothing about it" in seen.text
    assert "100 %" not in seen.text
    assert " 0 %" not in seen.text


def test_a_library_that_only_crashed_is_not_said_to_be_idle(read, sample):
    crash = sample.failure(1, "crash", rules=(), aspect="")
    _, seen = read([sample.header(), sample.adapters()[2], crash, sample.footer()])
    assert "✗ Unexpected 1 of these crashes 1" in seen.text
    assert "This says nothing about it" not in seen.text


def test_a_library_that_could_not_start_is_shown_with_its_reason(read, sample):
    failed = type(sample.adapters()[0])("broken", "failed", reason="ImportError: no module named broken")
    _, seen = read([sample.header(), failed, sample.footer(3)])
    assert "broken ✗ not run ImportError: no module named broken" in seen.text


def test_times_without_x_copy_have_a_table_and_no_chart(read, sample):
    timed = sample.timing("numpy", "copy", "contiguous", "small", 1.0)
    times = [replace(timed, x_copy=None, x_traffic=None, samples_ns=())]
    _, seen = read([sample.header(), *times, sample.footer(0)])
    assert "2.05 µs" in seen.text
    assert "svg" not in seen.tags


def test_results_files_are_named_relative_to_the_page(write, sample, tmp_path):
    directory = write(sample.whole(), "shards/one")
    seen = Page(page(load([directory]), tmp_path / "site"))
    assert str(tmp_path) not in seen.text
    assert str(Path("../shards/one/results.jsonl")) in seen.text
