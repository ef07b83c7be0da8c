"""The list of what arrives: read as it was written, and what other versions, unknown pairs and updates make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stridecheck.conformance import arrivals
from stridecheck.conformance.arrivals import Arrivals
from stridecheck.conformance.exchanges import KNOWN
from stridecheck.conformance.expectations import ExpectationError
from stridecheck.conformance.offers import CASES, PROTOCOLS
from stridecheck.reports.records import Handover

VERSIONS = {"a": "1.0", "b": "2.0"}
ONE = Handover("a", "b", "dlpack", "row-major", "shared", strides=True, writes="fb")
LOST = Handover("a", "b", "dlpack", "read-only", "shared", strides=True, writes="f-", read_only="lost")
OLD = ("a", "b", "dlpack", "bool")
KNOWN_OF_BOTH = Arrivals(
    VERSIONS, {("a", "b", "dlpack"): {"row-major": "shared fb", "read-only": "shared f-, read-only lost"}}
)
HARM_ALONE = Arrivals(harms={OLD: "damaged dtype"})


def test_what_is_written_is_read(tmp_path):
    """Of a line that names no case for what most come to, each case is known again; harm stands beside it."""
    every = dict.fromkeys(CASES, "shared fb") | {"bool": "refused", "size 1, odd stride": "shared fb, idle kept"}
    known = Arrivals(VERSIONS, {("a", "b", "dlpack"): every}, {("c", "b", "dlpack", "bool"): "damaged"})
    arrivals.write(tmp_path / "list.txt", known)
    assert arrivals.read(tmp_path / "list.txt") == known
    assert (tmp_path / "list.txt").read_text().splitlines()[:2] == [
        "# made with\ta 1.0\tb 2.0",
        "a\tb\tdlpack\tshared fb: *\trefused: bool\tshared fb, idle kept: size 1, odd stride",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "copied", "writes": "--", "strides": None},
        {"outcome": "refused", "writes": "..", "strides": None},
        {"outcome": "not offered", "writes": "..", "strides": None},
        {"outcome": "crash", "writes": "..", "strides": None},
        {"writes": "-b"},
        {"strides": False},
        {"read_only": "kept"},
        {"idle": "row-major"},
    ],
)
def test_every_change_is_red(change):
    """Also one that does no harm; and said with what was expected."""
    assert KNOWN_OF_BOTH.judge(ONE, VERSIONS) == replace(ONE, is_listed=True)
    judged = KNOWN_OF_BOTH.judge(replace(ONE, **change), VERSIONS)
    assert (judged.is_known, judged.expected) == (False, "shared fb")


def test_harm_that_is_gone_is_red():
    """In a list of all as in a list of harm."""
    mended = replace(LOST, writes="--", read_only="kept")
    assert KNOWN_OF_BOTH.judge(LOST, VERSIONS).is_known
    assert not KNOWN_OF_BOTH.judge(mended, VERSIONS).is_known
    assert not HARM_ALONE.judge(replace(ONE, case="bool"), VERSIONS).is_known
    assert HARM_ALONE.judge(replace(ONE, case="bool", outcome="damaged", damage="dtype"), VERSIONS).is_known


def test_damage_of_another_kind_is_red():
    """In a list of all, of harm, and of other versions: memory beside an array is not an array's dtype."""
    damaged = replace(ONE, case="bool", outcome="damaged", damage="dtype")
    of_all = KNOWN_OF_BOTH.updated([damaged], VERSIONS)
    for known, versions in ((of_all, VERSIONS), (of_all, {"a": "1.1", "b": "2.0"}), (HARM_ALONE, VERSIONS)):
        assert known.judge(damaged, versions).is_known
        assert not known.judge(replace(damaged, damage="astray"), versions).is_known


@pytest.mark.parametrize("versions", [{"a": "1.1", "b": "2.0"}, {"a": "1.0", "b": "2.0", "device": "GPU"}])
def test_of_other_versions_harm_alone_is_red(versions):
    """What copies now is not red, nor harm that is gone; new harm is. How a release was built makes no version."""
    assert KNOWN_OF_BOTH.judge(replace(ONE, outcome="copied"), versions) == replace(ONE, outcome="copied")
    assert KNOWN_OF_BOTH.judge(LOST, versions).is_known
    assert KNOWN_OF_BOTH.judge(replace(LOST, read_only="kept"), versions).is_known
    assert not KNOWN_OF_BOTH.judge(replace(ONE, outcome="damaged"), versions).is_known
    assert KNOWN_OF_BOTH.knows(("a", "b"), versions).startswith("what is known is of ")
    assert KNOWN_OF_BOTH.knows(("a", "b"), {"a": "1.0+cpu", "b": "2.0"}) == ""


def test_what_is_not_known_of_a_pair_is_told():
    """A third party's library is not red for being unknown, only for harm."""
    assert KNOWN_OF_BOTH.knows(("b", "a"), VERSIONS) == "nothing is known"
    assert HARM_ALONE.knows(("a", "b"), VERSIONS) == "only harm is known"
    back = replace(ONE, producer="b", consumer="a")
    assert KNOWN_OF_BOTH.judge(back, VERSIONS) == back
    assert not KNOWN_OF_BOTH.judge(replace(back, outcome="damaged"), VERSIONS).is_known


def test_an_update_is_of_the_pairs_that_ran():
    """Others stay; but of the harm alone where they are of other versions, as the list has one line of versions."""
    back = replace(ONE, producer="b", consumer="a")
    same = KNOWN_OF_BOTH.updated([back], VERSIONS)
    assert same.ways == {**KNOWN_OF_BOTH.ways, ("b", "a", "dlpack"): {"row-major": "shared fb"}}
    newer = KNOWN_OF_BOTH.updated([back], {"a": "1.1", "b": "2.0"})
    assert newer.versions == {"a": "1.1", "b": "2.0"}
    assert newer.ways == {("b", "a", "dlpack"): {"row-major": "shared fb"}}
    assert newer.harms == {("a", "b", "dlpack", "read-only"): "read-only lost"}
    assert HARM_ALONE.updated([ONE], VERSIONS).harms == {}
    assert KNOWN_OF_BOTH.updated([], {}) == KNOWN_OF_BOTH


def test_of_what_an_adapter_fails_in_an_update_keeps_what_was_known(tmp_path):
    """Nothing that nobody saw gets on the list, whether it was there before or not."""
    failed = replace(ONE, outcome="error")
    assert KNOWN_OF_BOTH.updated([failed], VERSIONS) == KNOWN_OF_BOTH
    bool_failed = replace(failed, case="bool")
    for known in (HARM_ALONE, Arrivals({"a": "0.9"}, {("a", "b", "dlpack"): {"bool": "damaged dtype"}})):
        kept = known.updated([bool_failed, ONE], VERSIONS)
        assert (kept.ways, kept.harms) == ({("a", "b", "dlpack"): {"row-major": "shared fb"}}, {OLD: "damaged dtype"})
        assert kept.judge(replace(bool_failed, outcome="damaged", damage="dtype"), VERSIONS).is_known
        assert not kept.judge(replace(bool_failed, outcome="shared"), VERSIONS).is_known
    others = [replace(ONE, case=case, outcome="error" if case == "bool" else "shared") for case in CASES]
    arrivals.write(tmp_path / "list.txt", Arrivals().updated(others, VERSIONS))
    assert "bool" not in arrivals.read(tmp_path / "list.txt").ways["a", "b", "dlpack"]


def test_harm_beside_known_harm_is_red():
    known = replace(KNOWN_OF_BOTH, ways={("a", "b", "dlpack"): {"row-major": "shared fb, read-only lost"}})
    both = replace(ONE, outcome="shared", case="row-major", strides=False, read_only="lost")
    assert not known.judge(both, {"a": "7", "b": "2.0"}).is_known
    assert known.judge(replace(both, strides=True), {"a": "7", "b": "2.0"}).is_known


@pytest.mark.parametrize(
    "line", ["a b dlpack bool damaged", "a\tb\tdlpack", "a\tb\tdlpack\tshared fb", "# made by hand"]
)
def test_a_line_that_is_none_is_named(line, tmp_path):
    """With its number."""
    (tmp_path / "list.txt").write_text(f"c\tb\tdlpack\tbool\tdamaged\n{line}\n")
    with pytest.raises(ExpectationError, match="line 2: is neither"):
        arrivals.read(tmp_path / "list.txt")


def test_the_bundled_list_is_of_what_there_is():
    """No line is left of a case or a protocol that nobody hands over any more."""
    known = arrivals.read(KNOWN)
    places = [*((*way, case) for way, cases in known.ways.items() for case in cases), *known.harms]
    assert {protocol for _, _, protocol, _ in places} <= PROTOCOLS.keys()
    assert {case for *_, case in places} <= CASES.keys()
