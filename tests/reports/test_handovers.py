"""Arrays handed from library to library, as a reader sees them: terminal, summary, page and badge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stridecheck.conformance.offers import CASES
from stridecheck.reports import exchange_view, handovers, terminal
from stridecheck.reports.badge import badge
from stridecheck.reports.html import page
from stridecheck.reports.markdown import markdown
from stridecheck.reports.records import Adapter, Footer, Handover, Header, ResultsWriter
from stridecheck.reports.run import load

SHARED = Handover("numpy", "torch", "dlpack", "row-major", "shared", strides=True, writes="fb")
LOST = Handover("numpy", "torch", "dlpack", "read-only", "shared", strides=True, writes="f-", read_only="lost")
CRASH = Handover("numpy", "torch", "dlpack", "reversed", "crash", "killed by SIGABRT", is_known=False)
NOTHING = Handover("torch", "numpy", "interface", "row-major", "not offered", "torch offers none")


@pytest.fixture
def exchanged(tmp_path):
    """A run of four handovers, one of which did harm that nobody expected."""
    return _run(tmp_path, SHARED, LOST, CRASH, NOTHING)


def _run(tmp_path, *found):
    with ResultsWriter(tmp_path / "results.jsonl") as writer:
        writer.write(Header("1", "", "2026-01-01T00:00:00+00:00", "stridecheck exchange numpy torch", {}, {}))
        for name in ("numpy", "torch"):
            writer.write(Adapter(name, "ready", "", {name: "1.0"}))
        for one in found:
            writer.write(one)
        writer.write(Footer("2026-01-01T00:00:01+00:00", 1.0, 1))
    return load([tmp_path])


def test_a_record_survives_its_file(exchanged):
    """What was written is what is read."""
    assert exchanged.handovers == (SHARED, LOST, CRASH, NOTHING)


@pytest.mark.parametrize(("one", "is_harm"), [(SHARED, False), (LOST, True), (CRASH, True), (NOTHING, False)])
def test_what_harm_is(one, is_harm):
    """A crash, and read-only memory that is not so any more; not what nobody offers."""
    assert one.is_harm == is_harm


def test_other_strides_are_harm():
    """Shared memory that is looked at with other strides shows other elements once it is written."""
    assert replace(SHARED, strides=False).is_harm


def test_the_terminal_says_what_came_of_each_pair(exchanged):
    """The verdict counts, each pair has a line, harm is named and unexpected harm marked."""
    lines = list(terminal.lines(exchanged))
    assert lines[0] == "✗ 3 arrays handed over between 2 pairs of libraries: 2 shared, 1 crash; 2 with harm"
    assert "  numpy → torch: 2 shared, 1 crash" in lines
    assert "  torch → numpy: nothing in common" in lines
    assert "  ✗ numpy → torch, dlpack, reversed: crash: killed by SIGABRT, not expected" in lines
    assert "  · numpy → torch, dlpack, read-only: shared, and read-only no more" in lines


def test_the_page_and_the_summary_have_the_table(exchanged, tmp_path):
    """Both show what came of each pair and the harm; nothing says that nothing was judged."""
    assert "2 shared, 1 crash" in markdown(exchanged)
    for text in (page(exchanged, tmp_path), markdown(exchanged)):
        assert "read-only no more" in text
        assert "killed by SIGABRT" in text
        assert "Nothing was judged" not in text
    assert "| score |" not in markdown(exchanged)


def test_the_table_says_what_becomes_of_arrays_by_each_way():
    """Numbers, writes, read-only memory, strides of each kind, and which arrays did not arrive, with the reason."""
    transposed, expanded = (replace(SHARED, case=case) for case in ("transposed", "expanded"))
    refused = Handover("numpy", "torch", "dlpack", "bfloat16", "refused", "TypeError: no bfloat16")
    idle = replace(SHARED, case="size 1 last", idle="kept")
    empty = Handover("numpy", "torch", "dlpack", "empty", "empty", "strides of [4] arrived as [0]", idle="other")
    (pair, back) = exchange_view.pairs([SHARED, LOST, CRASH, transposed, expanded, refused, idle, empty, NOTHING])
    (way,) = pair.ways
    assert (way.shared, way.copied, way.empty, way.refused) == (5, 0, 1, 1)
    assert (way.harm, way.tone) == ("1 read-only lost, 1 crash", "fail")
    assert (way.writes, way.read_only) == ("both ways", "lost")
    assert way.strides == "odd and zero kept, negative crash"
    assert way.idle == "1: kept, 0: other"
    assert [(reason.cases, reason.tone) for reason in way.reasons] == [
        (("reversed",), "fail"), (("read-only",), "known"), (("bfloat16",), ""), (("empty",), ""),
    ]  # fmt: skip
    assert way.reasons[2].says == "refused: TypeError: no bfloat16"
    assert (back.ways, back.lacks) == ((), ("interface",))


def test_what_nobody_can_tell_is_neither_shared_nor_copied(tmp_path):
    """Arrays that nobody can write to or find the address of are counted apart."""
    either = replace(SHARED, outcome="arrived", strides=None, writes="!.")
    (pair,) = exchange_view.pairs([either])
    assert [(way.shared, way.copied, way.arrived, way.writes) for way in pair.ways] == [(0, 0, 1, "consumer's refused")]
    run = _run(tmp_path, either)
    assert "+ 1 either" in page(run, tmp_path)
    assert "  numpy → torch: 1 arrived" in list(terminal.lines(run))


def test_what_is_no_longer_offered_though_it_was_expected_has_a_row():
    """A protocol that nobody offers has none otherwise."""
    gone = replace(NOTHING, is_known=False, expected="shared fb", is_listed=True)
    (pair,) = exchange_view.pairs([gone])
    assert (pair.lacks, pair.is_listed) == ((), True)
    assert pair.ways[0].tone == "fail"
    assert "where shared fb was expected" in pair.ways[0].reasons[0].says


def test_arrays_with_odd_strides_are_known_by_name():
    """The table's names are those of arrays that are handed over, with strides of that kind."""
    strides = {kind: [CASES[case].strides for case in cases] for kind, cases in exchange_view.ODD.items()}
    assert all(min(one) < 0 for one in strides["negative"])
    assert all(0 in one or one == (1, 1) for one in strides["zero"])  # overlapping is that, too: elements lie twice
    assert exchange_view.READ_ONLY in CASES


def test_the_badge_is_red_where_harm_was_not_expected(exchanged):
    """The badge has the headline, in the colour of the exit code."""
    assert badge(exchanged)["color"] == "red"
    assert badge(exchanged)["message"] == handovers.headline(exchanged.handovers)
