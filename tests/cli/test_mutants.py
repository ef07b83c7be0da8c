"""`stridecheck mutants` as a user runs it: what it prints, what it leaves behind, and how it ends."""

from __future__ import annotations

import json

import pandas as pd

from .test_check import run, said


def test_mutants_are_found_out_and_reported(tmp_path):
    """Each mutant has a line with the rule that found it out; page, frame and badge tell the same; 0 if all are."""
    done = run("mutants", "--only", "clone.counts", "--only", "view.needs-*s", "--programs", 400, "--out", tmp_path)
    assert done.returncode == 0, said(done)
    verdict, *lines = done.stdout.splitlines()
    assert verdict == "✓ 2 of 2 mutants found out (100 %)"
    assert lines[0].split()[:2] == ["✓", "view.needs-contiguous"]
    assert "clone.counts" in (tmp_path / "report.html").read_text(encoding="utf-8")
    frame = pd.read_csv(tmp_path / "csv" / "mutants.csv").set_index("name")
    assert set(frame["outcome"]) == {"killed"}
    assert frame.loc["clone.counts", "aspect"] == "flags"
    assert json.loads((tmp_path / "badge.json").read_text())["message"].startswith("2 of 2")
    again = "`stridecheck mutants --programs 400 --only clone.counts --only 'view.needs-*s'`"
    assert again in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_what_no_program_reaches_is_said(tmp_path):
    """Without programs nothing is judged: 4."""
    done = run("mutants", "--only", "clone.counts", "--programs", 0, "--out", tmp_path)
    assert done.returncode == 4
    assert "no program of 0 could show it" in done.stdout


def test_mutants_are_listed_and_misspelt_ones_refused(tmp_path):
    """--list says what each does wrong; a glob without a mutant is a mistake that names near ones."""
    listed = run("mutants", "--list", "--only", "add_.*")
    assert listed.returncode == 0
    assert "add_.no-version" in listed.stdout
    wrong = run("mutants", "--only", "clone.count", "--out", tmp_path / "none")
    assert wrong.returncode == 2
    assert "did you mean clone.counts" in said(wrong)
    assert not (tmp_path / "none").exists()


def test_a_mutant_is_checked_as_any_library(tmp_path):
    """`check mutant:ID` reports its failures, shrunk, under their rules."""
    done = run("check", "mutant:clone.counts", "--programs", 60, "--out", tmp_path)
    assert done.returncode == 1, said(done)
    assert "did not behave as expected" in done.stdout
