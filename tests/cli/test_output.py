"""What a command says: where nobody reads it the work is done all the same, and a log goes on meanwhile."""

from __future__ import annotations

import os
import subprocess

import pytest
from stridecheck.reports.records import Failure, read_results

from stridecheck.commands import common

from ..commands import COMMAND


def run(*arguments, **options):
    """The command with these arguments, to its end."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120, check=False, **options)


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """A check that finds failures: its process and its directory."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "none.toml").write_text("")
    with open("/dev/full", "w") as full:
        done = run("check", "numpy", "--programs", 60, "--expect", folder / "none.toml", "--out", folder, stdout=full)
    return done, folder


def test_output_that_is_full_is_named_after_all_the_work_is_done(checked):
    """A check writes its results and its page, then says that standard output failed, and exits with 3."""
    done, folder = checked
    assert (done.returncode, done.stderr) == (3, "stridecheck: standard output: No space left on device\n")
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize("arguments", [["--help"], ["rules"], ["repro"]], ids=" ".join)
def test_output_that_is_full_is_one_line_and_3(arguments, checked):
    """Every command, however much it prints, says so without a stack trace."""
    if arguments == ["repro"]:
        failures = (r for r in read_results(checked[1] / "results.jsonl") if isinstance(r, Failure) and r.repro)
        arguments = ["repro", checked[1], next(failures).program]
    with open("/dev/full", "w") as full:
        done = run(*arguments, stdout=full)
    assert (done.returncode, done.stderr) == (3, "stridecheck: standard output: No space left on device\n")


def _unread(*arguments):
    """The command, its output into a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return run(*arguments, stdout=writing)
    finally:
        os.close(writing)


def test_a_reader_that_has_had_enough_changes_no_exit_code(checked, tmp_path):
    """Piped into a program that reads nothing, a command ends quietly, with the exit code of what was done."""
    (tmp_path / "none.toml").write_text("")
    options = ("--programs", 60, "--expect", tmp_path / "none.toml")
    for arguments, code in [
        (("report", checked[1]), 0),
        (("rules",), 0),
        (("rules", "zzz"), 2),
        (("check", "numpy", *options, "--out", tmp_path), 1),
    ]:
        done = _unread(*arguments)
        assert done.returncode == code, done.stderr
        assert bool(done.stderr) == (code == 2)
    assert (tmp_path / "report.html").is_file()


def test_a_page_that_cannot_be_written_hides_no_verdict(tmp_path):
    """The verdict comes first; then the file that failed is named, and how to have the page elsewhere."""
    out = tmp_path / "two words"
    (out / "report.html").mkdir(parents=True)
    done = run("check", "numpy", "--programs", 20, "--out", out, stdout=subprocess.PIPE)
    assert done.returncode == 3
    assert "Everything as expected" in done.stdout
    assert f"{out / 'report.html'}: Is a directory; the results are there" in done.stderr
    assert f"stridecheck report '{out}' --out ELSEWHERE" in done.stderr
    assert run("report", out, "--out", tmp_path / "elsewhere", stdout=subprocess.PIPE).returncode == 0
    assert (tmp_path / "elsewhere" / "report.html").is_file()


def test_how_far_a_run_is_is_told_now_and_then_where_there_is_no_terminal(capfd, monkeypatch):
    """A log of a run that takes an hour is not empty until then; one that takes a second has no such lines."""
    for seconds, lines in ((60.0, []), (0.0, ["torch:cpu: 1,200 of 40,000 programs", "mine: 300 programs"])):
        monkeypatch.setattr(common, "_SECONDS_APART", seconds)
        with common.Bars() as bars:
            bars.begin("torch:cpu", 40_000)
            bars.advance(1200)
            bars.begin("mine", None)
            bars.advance(300)
        assert capfd.readouterr().err.splitlines() == lines
