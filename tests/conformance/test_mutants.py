"""The suite's own score: what a mutant is, that only its defect tells it from its library, and what is made of it."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter

import pytest
from stridecheck.conformance.answers import AdapterFailed
from stridecheck.conformance.check import Options
from stridecheck.conformance.classify import events
from stridecheck.conformance.discovery import UnknownAdapter, find
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.mutants import hunt as hunting
from stridecheck.conformance.mutants import score as scoring
from stridecheck.conformance.mutants.adapter import Mutated, adapter
from stridecheck.conformance.mutants.drawers import drawn
from stridecheck.conformance.mutants.fleet import FLEET
from stridecheck.conformance.mutants.mutant import Mutant
from stridecheck.conformance.mutants.score import score
from stridecheck.conformance.mutants.wrongs import crashes, refuses
from stridecheck.conformance.operations import OPERATIONS
from stridecheck.conformance.program import Input, Program, Ref, Slice, Step, Storage
from stridecheck.conformance.runner import Worker
from stridecheck.conformance.situations import OFFSET
from stridecheck.conformance.units import drawings, whole
from stridecheck.reports import records

from .conftest import prefix_with

SLICE = Step("__getitem__", (Ref(0), (Slice(1, None, 2),)))


def _program(*steps, shape=(6,), strides=(1,), offset=0):
    return Program((Storage(64),), (Input("float32", shape, strides, offset),), steps)


def _found(mutant, program, oracle):
    got = execute(program, Mutated(mutant, oracle))
    expected = execute(program, oracle)
    return [d for v in judge(program, expected, got, oracle.capabilities) for d in v.differences]


@pytest.mark.parametrize("mutant", FLEET.values(), ids=lambda mutant: mutant.id)
def test_every_mutant_is_whole(mutant):
    """A mutant has one sentence, and goes wrong in operations that exist or in what it shows."""
    assert re.fullmatch(r"[a-zA-Z0-9_-]+\.[a-z0-9-]+", mutant.id)
    assert re.fullmatch(r"\S.*\S\.", mutant.sentence)
    assert (mutant.does is None) != (mutant.shows is None)
    assert bool(mutant.operations) == (mutant.does is not None)
    assert mutant.entries <= set(OPERATIONS)
    assert set(re.findall(r"\[([^]]*)\]", mutant.operations)) <= {operation.group for operation in OPERATIONS.values()}
    assert mutant.base in ("reference", "torch")
    assert re.fullmatch(r"([\w.-]+/[\w.-]+#\d+)?", mutant.like)


def test_many_of_the_fleet_are_modelled_on_real_bugs():
    """There are mutants enough, each says something else, and many name the thread of a bug that somebody had."""
    assert len(FLEET) >= 80
    assert max(Counter(mutant.sentence for mutant in FLEET.values()).values()) == 1
    assert sum(bool(mutant.like) for mutant in FLEET.values()) >= 150


def test_a_mutant_differs_in_its_situation_only(oracle):
    """Only with an offset means: with one the defect shows, without one nothing does."""
    mutant = Mutant("t.offset", "It refuses.", "neg", refuses("size"), OFFSET)
    assert _found(mutant, _program(Step("neg", (Ref(0),))), oracle) == []
    (difference,) = _found(mutant, _program(Step("neg", (Ref(0),)), offset=2), oracle)
    assert difference.aspect == "raises"


def test_a_program_that_does_not_reach_a_mutant_runs_as_on_its_library(oracle, whole_corpus):
    """Not running what cannot show the defect leaves nothing out: it would show nothing."""
    for mutant in list(FLEET.values())[::16]:
        mutated = Mutated(mutant, oracle)
        for program, expected in whole_corpus[:120]:
            if not mutant.is_reached(events(program, expected), expected):
                verdicts = judge(program, expected, execute(program, mutated), oracle.capabilities)
                assert not any(verdict.differences for verdict in verdicts), mutant.id


@pytest.mark.parametrize(
    ("id", "step", "layout", "aspect"),
    [
        ("index.step-not-in-strides", SLICE, ((6,), (1,)), "strides"),
        ("index.slice-copies", SLICE, ((6,), (1,)), "sharing"),
        ("sub_.last-permuted", Step("sub_", (Ref(0), Ref(0))), ((2, 3), (1, 2)), "values"),
        ("add_.no-version", Step("add_", (Ref(0), 2)), ((6,), (1,)), "flags"),
        ("add_.one-too-far", Step("add_", (Ref(0), 2)), ((6,), (1,)), "storage"),
        ("contiguity.one-format", Step("neg", (Ref(0),)), ((2, 3, 1, 1), (3, 1, 1, 1)), "contiguity"),
    ],
)
def test_a_defect_shows_as_what_it_is(id, step, layout, aspect, oracle):
    """Textbook defects differ in the aspect that one would look at."""
    shape, strides = layout
    found = _found(FLEET[id], _program(step, shape=shape, strides=strides), oracle)
    assert aspect in {difference.aspect for difference in found}


def test_adapters_are_named_by_their_mutants():
    """`mutant:ID` is an adapter; another id is a mistake of usage."""
    load, name = find("mutant:clone.counts")
    assert load().name == name == "mutant:clone.counts"
    with pytest.raises(UnknownAdapter, match="no mutant 'clone'"):
        adapter("clone")


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """Runs the score over some mutants; the exit code, and the records by name."""

    def run(*ids, **options):
        code = score(Options(tuple(f"mutant:{id}" for id in ids), **options), tmp_path)
        found = records.read_results(tmp_path / "results.jsonl")
        return code, {record.name: record for record in found if isinstance(record, records.Mutant)}

    return run


def test_the_score_names_rule_program_and_place(tried, rules):
    """A mutant that is found out is recorded with what found it out, and how soon."""
    code, found = tried("clone.counts", "view.needs-contiguous", programs=400)
    assert code == 0
    for record in found.values():
        assert record.outcome == "killed"
        assert record.source == "corpus"
        assert 0 < record.reached <= record.programs <= 400
        assert set(record.rules) <= set(rules.rules)
        assert record.rules
    assert found["clone.counts"].aspect == "flags"
    assert found["view.needs-contiguous"].aspect in ("raises", "error-kind")


def test_random_programs_come_after_the_corpus(tried):
    """What the corpus leaves is tried on random programs, numbered on from it."""
    code, found = tried("clone.counts", programs=1, examples=300)
    assert code == 0
    assert found["clone.counts"].source.startswith("random:0:")
    assert found["clone.counts"].programs > 1


def test_survivors_are_red(tried, monkeypatch):
    """1 says that a mutant was not found out, though programs could have shown its defect."""
    monkeypatch.setattr(hunting, "judge", lambda *args: [])
    programs = prefix_with("clone", 3)
    code, found = tried("clone.counts", programs=programs)
    assert code == 1
    assert found["clone.counts"].outcome == "survived"
    assert 0 < found["clone.counts"].reached < found["clone.counts"].programs == programs


def test_without_programs_nothing_is_judged(tried):
    """4 says that no program could have shown anything."""
    code, found = tried("clone.loses-order", programs=0)
    assert code == 4
    assert found["clone.loses-order"].outcome == "survived"


def test_a_crash_finds_a_mutant_out(tried, monkeypatch):
    """A library that ends its process is found out like any other, and the others go on."""
    assert FLEET["as_strided.huge-offset"].does is crashes
    code, found = tried("as_strided.huge-offset", "clone.counts")
    assert code == 0
    told = found["as_strided.huge-offset"]
    assert (told.aspect, told.message) == ("crash", "killed by SIGABRT")


def test_a_mutant_that_cannot_be_tried_is_no_survivor(tried, monkeypatch):
    """3 says that a process did not start: no program has reached the mutant, and one might have found it out."""

    def fails(worker):
        raise AdapterFailed("error", "its process died")

    monkeypatch.setattr(Worker, "start", fails)
    code, found = tried("view.needs-contiguous-in-torch", programs=400)
    assert (code, found["view.needs-contiguous-in-torch"].outcome) == (3, "untried")
    assert found["view.needs-contiguous-in-torch"].reached == 0


@pytest.mark.parametrize(
    ("outcomes", "code"), [("killed", 0), ("killed unreached", 1), ("untried survived", 1), ("untried killed", 3)]
)
def test_survivors_come_before_what_could_not_be_tried(outcomes, code):
    """As in every run what is red comes first."""
    assert scoring._exit_code({*outcomes.split()}) == code


def test_programs_are_the_same_wherever_they_are_drawn(oracle):
    """Two processes draw in turn; the units come in their order, and nobody is left once they are not wanted."""
    options = Options(adapters=(), programs=0, examples=400, seed=9)
    mine = [unit.programs for unit in whole(drawings(options), oracle)]
    assert [unit.programs for unit in drawn(drawings(options), 2)] == mine
    before = multiprocessing.active_children()
    some = drawn(drawings(options), 2)
    assert next(some).programs == mine[0]
    some.close()
    assert multiprocessing.active_children() == before
