"""Whole campaigns against libraries with one bug each: it is found, shrunk to what shows it, and shown by scripts."""

from __future__ import annotations

import time
from functools import cache

import pytest
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.program import Program
from stridecheck.reports.records import Failure, read_results

from . import planted
from .scripts import MAX_LINES, run, scripts_of, statuses


@pytest.fixture(scope="module")
def planted_failures(tmp_path_factory):
    """The failures that 2,000 random programs find in a library with a planted bug, by its name."""

    @cache
    def run(bug: str) -> list[Failure]:
        folder = tmp_path_factory.mktemp(bug)
        path = folder / f"{bug}.py"
        path.write_text(planted.source(bug), encoding="utf-8")
        assert check(Options((str(path),), programs=0, examples=2_000, seed=1), folder / "out") == 1
        return [r for r in read_results(folder / "out" / "results.jsonl") if isinstance(r, Failure)]

    return run


MINIMAL = {
    # bug: (last operation of the shrunk program, aspects that may be told, what must be true of the program)
    "clone_ignores_offset": (
        "clone",
        {"values", "storage"},
        lambda p: (p.inputs[0].shape, p.inputs[0].offset) == ((), 1),
    ),
    "contiguous_keeps_channels_last": (
        "contiguous",
        {"sharing", "strides", "layout", "contiguity", "values"},
        lambda p: sorted(p.inputs[0].shape) == [1, 1, 2, 2],
    ),
    "add_writes_one_too_far": ("add_", {"storage", "values"}, lambda p: sum(s.nbytes for s in p.storages) <= 40),
    "select_off_by_one_in_five_dims": (
        "select",
        {"layout", "values"},
        lambda p: len(p.inputs[0].shape) == 5 and sorted(p.inputs[0].shape)[1:] == [1, 1, 1, 2],
    ),
    "refused_copy_changes_state": (
        "copy_",
        {"storage", "values", "flags"},
        lambda p: sum(len(item.shape) for item in p.inputs) <= 2,
    ),
    "neg_of_nothing_is_itself": (
        "neg",
        {"sharing", "layout", "values", "raises"},
        lambda p: p.inputs[0].shape in ((), (1,)),
    ),
}


@pytest.mark.parametrize("bug", planted.BUGS)
def test_a_planted_bug_is_found_and_shrunk_to_what_shows_it(bug, planted_failures):
    """Random programs find the bug, and what is shown is one step on at most two inputs, no larger than it takes."""
    failures = planted_failures(bug)
    assert {failure.outcome for failure in failures} == {"fail"}
    operation, aspects, is_minimal = MINIMAL[bug]
    shrunk = [(f, Program.from_json(f.shrunk)) for f in failures if f.shrunk]
    assert shrunk
    assert {f.aspect for f, _ in shrunk} <= aspects
    for failure, program in shrunk:
        assert len(program.inputs) <= 2, failure.listing
        assert len(program.steps) <= 2, failure.listing
        assert program.steps[-1].op == operation, failure.listing
        assert is_minimal(program), failure.listing
        assert Program.from_json(failure.found).id == failure.program
        assert failure.rules
        assert failure.expected_observation != failure.got_observation
    assert any(len(program.steps) == 1 for _, program in shrunk)
    assert len(shrunk) == len(failures)
    assert all(failure.repro for failure, _ in shrunk)


def test_a_segfault_is_shrunk_in_less_than_a_minute(tmp_path):
    """A process that dies at each attempt costs little: a fresh one waits. The smallest program has its script too."""
    (bug,) = planted.CRASHES
    path = tmp_path / f"{bug}.py"
    path.write_text(planted.source(bug), encoding="utf-8")
    begun = time.monotonic()
    assert check(Options((str(path),), programs=0, examples=600, seed=1), tmp_path / "out") == 1
    assert time.monotonic() - begun < 60
    failures = [r for r in read_results(tmp_path / "out" / "results.jsonl") if isinstance(r, Failure)]
    assert {(failure.outcome, failure.message) for failure in failures} == {("crash", "killed by SIGSEGV")}
    assert failures
    for failure in failures:
        program = Program.from_json(failure.shrunk)
        (item,) = program.inputs
        assert [step.op for step in program.steps] == ["contiguous"]
        assert sorted(item.shape) in ([2, 2, 2], [1, 2, 3], [1, 1, 5]), failure.listing
        assert "os.fork()" in failure.repro


@pytest.mark.parametrize("bug", planted.BUGS)
def test_scripts_of_planted_bugs_show_them(bug, planted_failures, tmp_path):
    """Each script is short, imports the very library with the bug and nothing else, and exits 1 on it."""
    texts = scripts_of(planted_failures(bug))
    for text in texts:
        assert len(text.splitlines()) <= MAX_LINES, text
        assert text.startswith("# ")
        assert f"import {bug} as torch" in text
        assert "stridecheck" not in text
    assert set(statuses(texts, tmp_path)) == {1}
    status, said = run(min(texts, key=len), tmp_path)
    assert (status, "Traceback" in said) == (1, False), said


def test_the_claims_about_planted_bugs_hold_on_torch(planted_failures, tmp_path):
    """The same scripts with real torch in the place of the library with the bug exit 0."""
    texts = [_with_torch(text) for bug in planted.BUGS for text in scripts_of(planted_failures(bug))]
    assert len(texts) > len(planted.BUGS)
    for text, status in zip(texts, statuses(texts, tmp_path), strict=True):
        assert status == 0, text


def _with_torch(text):
    return "\n".join("import torch" if " as torch" in line else line for line in text.splitlines()) + "\n"
