"""The badge quotes the score with its sample, and is grey where there is none."""

import pytest
from stridecheck.reports.badge import badge
from stridecheck.reports.records import Claim, Unit
from stridecheck.reports.run import load


def unit(adapter="numpy", **outcomes):
    return Unit(adapter, "u", 2048, {"pass": 2048}, {"views.split-dim": {"shape": outcomes}})


@pytest.fixture
def badge_of(write, sample):
    return lambda *records, code=0: badge(load([write([sample.header(), *records, sample.footer(code)])]))


@pytest.mark.parametrize(
    ("passed", "known", "message", "color"),
    [
        (100, 0, "numpy 100 % of judged steps in 2,048 programs", "brightgreen"),
        (97, 3, "numpy 97.0 % of judged steps in 2,048 programs", "green"),
        (85, 15, "numpy 85.0 % of judged steps in 2,048 programs", "yellowgreen"),
        (10, 90, "numpy 10.0 % of judged steps in 2,048 programs", "yellow"),
    ],
)
def test_a_score_is_quoted_with_its_programs(badge_of, passed, known, message, color):
    made = badge_of(unit(**{"pass": passed, "xfail": known}))
    assert made == {
        "schemaVersion": 1,
        "label": "stridecheck",
        "message": message,
        "color": color,
        "isError": False,
    }


def test_failures_are_red_and_counted(badge_of, sample):
    made = badge_of(unit(**{"pass": 99, "fail": 1}), sample.failure(), code=1)
    assert made["color"] == "red"
    assert made["message"] == "numpy 99.0 % of judged steps in 2,048 programs, 1 failure"


def test_nothing_judged_is_grey(badge_of, sample):
    made = badge_of(*sample.adapters(), *sample.timings())
    assert (made["message"], made["color"]) == ("nothing judged", "lightgrey")


@pytest.mark.parametrize(("verdict", "color"), [("refuted", "blue"), ("failed", "red")])
def test_claims_are_red_where_one_could_not_be_tried(badge_of, verdict, color):
    made = badge_of(Claim("a", "It is faster.", "", verdict), code=int(color == "red"))
    assert (made["color"], made["isError"]) == (color, color == "red")


def test_an_incomplete_run_has_no_score(write, sample):
    made = badge(load([write([sample.header(), *sample.units()])]))
    assert (made["message"], made["color"]) == ("incomplete run", "lightgrey")


def test_of_many_adapters_the_lowest_is_named(badge_of):
    made = badge_of(*[unit(f"lib{n}", **{"pass": 90 + n, "xfail": 10 - n}) for n in range(5)])
    assert made["message"] == "5 adapters, lowest lib0 90.0 % of judged steps"
