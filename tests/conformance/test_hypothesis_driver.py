"""Programs that Hypothesis draws: the same for a seed, kept when they fail, dropped when they do not."""

from __future__ import annotations

import pytest
from hypothesis.database import InMemoryExampleDatabase
from stridecheck.conformance.draw import hypothesis_driver as driver
from stridecheck.conformance.draw.programs import draw_program
from stridecheck.conformance.draw.source import Tape


def _ids(found):
    return [made.program.id for made in found]


def test_a_seed_draws_the_same_programs(oracle):
    """Two drawings of one seed are alike, of two seeds they are not; nearly all programs differ."""
    one = _ids(driver.drawn("7:0", 60, oracle))
    assert one == _ids(driver.drawn("7:0", 60, oracle))
    assert len(one) == 60
    assert len(set(one)) > 50
    assert one != _ids(driver.drawn("7:60", 60, oracle))


def test_programs_of_every_kind_are_drawn(oracle):
    """Storages and the like come up where they are asked for."""
    found = driver.drawn("1", 60, oracle, "mixed")
    assert any("torage" in step.op for made in found for step in made.program.steps)


def test_what_failed_is_remembered_and_forgotten(oracle):
    """What is saved comes back, about the same things only; what fails no more is taken out."""
    database = InMemoryExampleDatabase()
    ids = _ids(driver.drawn("7:0", 60, oracle))
    driver.remember(database, ids[50:52], "7:0", 60, oracle)
    assert set(_ids(driver.remembered(database, oracle))) == set(ids[50:52])
    assert driver.remembered(database, oracle, "mixed") == []
    driver.forget(database, ids[50:51], oracle)
    assert _ids(driver.remembered(database, oracle)) == ids[50:51]


def test_an_empty_database_has_nothing(oracle):
    """Nothing is drawn in the place of what is not there."""
    assert driver.remembered(InMemoryExampleDatabase(), oracle) == []


@pytest.mark.parametrize(
    "place", ["no_such_module:database", "stridecheck.conformance:nothing", "json:dumps", "github:x"]
)
def test_what_is_no_database_is_named(place):
    """A place that is none is refused by its name."""
    with pytest.raises(driver.DatabaseError, match=place):
        driver.database_of(place, "torch:cpu")


def test_adapters_do_not_share_examples(tmp_path):
    """One directory serves many libraries."""
    driver.database_of(str(tmp_path), "a").save(b"key", b"value")
    assert list(driver.database_of(str(tmp_path), "a").fetch(b"key")) == [b"value"]
    assert list(driver.database_of(str(tmp_path), "b").fetch(b"key")) == []


def test_zeros_are_the_simplest_choices(oracle):
    """A tape of zeros draws a program of one step."""
    made = draw_program(Tape(lambda: bytes(8)), oracle)
    assert len(made.program.steps) == 1


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (-3, 120), (0, 127), (0, 999), (5, 60_000)])
def test_a_tape_answers_with_every_integer_between(low, high):
    """The least byte gives the least integer, the greatest the greatest, none lies outside."""
    assert Tape(lambda: bytes(4)).integer(low, high) == low
    assert Tape(lambda: b"\xff" * 4).integer(low, high) == high
    seen = {Tape(lambda a=a: bytes((a, 77, 0))).integer(low, high) for a in range(256)}
    assert min(seen) >= low
    assert max(seen) <= high
