"""What failed is kept: Hypothesis' examples from one run to the next, and shrunk programs at the head of the corpus."""

from __future__ import annotations

import json

import pytest
from stridecheck.conformance import corpus
from stridecheck.reports.records import Failure, Unit

from ..commands import records_of, run, said


def _units(out):
    return {record.unit: record for record in records_of(out) if isinstance(record, Unit)}


def _red(out):
    return [record for record in records_of(out) if isinstance(record, Failure) and record.outcome == "fail"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A run on a wrong library under Hypothesis, which keeps what fails in a directory."""
    folder = tmp_path_factory.mktemp("examples")
    done = run(
        "check", "mutant:clone.counts", "--programs", 0, "--examples", 256, "--driver", "hypothesis",
        "--example-database", "kept", "--out", "first", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 1, said(done)
    return folder


def test_hypothesis_finds_and_shrinks_as_seeded_programs_do(found):
    """Its programs are units of their own; failures are shrunk to as little, with scripts or listings."""
    assert list(_units(found / "first")) == ["hypothesis-random:0:0-128", "hypothesis-random:0:128-256"]
    failures = _red(found / "first")
    assert {(failure.operation, failure.aspect) for failure in failures} == {("clone", "flags")}
    assert min(len(failure.shrunk["steps"]) for failure in failures) == 1


def test_what_failed_comes_first_the_next_time(found):
    """The second run tries the example before it draws, and finds the same."""
    again = ["check", "mutant:clone.counts", "--programs", 0, "--driver", "hypothesis", "--example-database", "kept"]
    done = run(*again, "--out", "second", cwd=found)
    assert done.returncode == 1, said(done)
    (unit,) = _units(found / "second").values()
    assert unit.unit == "examples"
    assert {failure.program for failure in _red(found / "second")} <= {f.program for f in _red(found / "first")}


def test_another_library_has_examples_of_its_own(found):
    """Where nothing failed nothing is kept, and nothing is judged without examples."""
    done = run(
        "check", "reference", "--programs", 0, "--driver", "hypothesis", "--example-database", "kept",
        "--out", "other", cwd=found,
    )  # fmt: skip
    assert done.returncode == 4, said(done)


def test_a_shared_database_is_named_by_its_module(tmp_path):
    """`module:attribute` is any database of Hypothesis'; what is none is told in a line."""
    (tmp_path / "shared.py").write_text(
        "from hypothesis.database import DirectoryBasedExampleDatabase\n"
        "def database(): return DirectoryBasedExampleDatabase('everybodys')\n"
        "nothing = 3\n"
    )
    command = ["check", "mutant:clone.counts", "--programs", 0, "--examples", 128, "--driver", "hypothesis"]
    environment = {"PYTHONPATH": str(tmp_path), "STRIDECHECK_EXAMPLES": "shared:database", "PATH": ""}
    done = run(*command, "--out", "out", cwd=tmp_path, env=environment)
    assert done.returncode == 1, said(done)
    assert any(path.is_file() for path in (tmp_path / "everybodys").rglob("*"))
    done = run(*command, "--example-database", "shared:nothing", "--out", "out", cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert "shared:nothing" in said(done)


def test_a_shrunk_program_is_promoted_once(found):
    """`promote` appends what a failure was shrunk to, in the corpus' own form, and says what it is."""
    failure = _red(found / "first")[0]
    target = found / "mine" / "promoted.jsonl"
    done = run("promote", found / "first", failure.program[:12], "--to", target)
    assert done.returncode == 0, said(done)
    assert "is now in" in done.stdout
    assert "clone" in done.stdout
    (program,) = corpus.read_file(target)
    assert program.to_json() == failure.shrunk
    assert "was already in" in run("promote", found / "first", failure.program, "--to", target).stdout
    assert len(target.read_text().splitlines()) == 1
    assert json.loads(target.read_text()) == failure.shrunk


def test_an_unknown_program_is_refused(found):
    """An id that no failure has is a mistake of usage; nothing is written."""
    target = found / "none.jsonl"
    done = run("promote", found / "first", "zzz", "--to", target)
    assert done.returncode == 2
    assert "no failure of a program" in said(done)
    assert not target.exists()
