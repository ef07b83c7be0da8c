"""Runs that are ended go on where they were: cut files, killed processes, and what must not be gone on with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import replace

import pytest
from stridecheck.conformance.check import Options, Silent, check
from stridecheck.conformance.resume import ResumeError
from stridecheck.conformance.survival import FEWEST, STRIDECHECK, Assault, descendants, seconds_alone, verdicts
from stridecheck.reports.records import Failure, Footer, ResultsError, Unit, read_results
from stridecheck.reports.run import load

OPTIONS = Options(("numpy", "reference"), programs=300)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a run that nobody has ended."""
    out = tmp_path_factory.mktemp("whole")
    check(OPTIONS, out)
    return out


def _cuts(data):
    """Places where a kill may have cut a file: in and after lines of every kind, and those that are hardest."""
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    kinds = [line.split(b'"', 4)[3] for line in data.splitlines()]
    last = {kind: number for number, kind in enumerate(kinds)}
    first_unit = kinds.index(b"unit")
    yield "nothing was written", 0
    yield "in the header", 40
    yield "after the header", ends[0]
    yield "in a library", ends[0] + 30
    yield "after a library", ends[1]
    yield "after a failure", ends[first_unit - 1]
    yield "in a unit", ends[first_unit - 1] + 20
    yield "after a unit", ends[first_unit]
    yield "in a later failure", ends[kinds.index(b"failure", first_unit)] - 9
    yield "before the second library", ends[last[b"adapter"] - 1]
    yield "after the second library", ends[last[b"adapter"]]
    yield "before the footer", ends[-2]
    yield "in the footer", ends[-1] - 1


@pytest.mark.parametrize("place", range(13))
def test_a_cut_file_is_gone_on_with(place, whole, tmp_path):
    """Wherever a file ends, the run that goes on has the verdicts of one that was not ended, each once."""
    data = (whole / "results.jsonl").read_bytes()
    (says, at), total = list(_cuts(data))[place], len(list(_cuts(data)))
    assert total == 13
    (tmp_path / "results.jsonl").write_bytes(data[:at])
    expected = verdicts(whole)
    assert check(replace(OPTIONS, resume=True), tmp_path) == expected.exit_code
    assert verdicts(tmp_path) == expected, says
    run = load([tmp_path])
    assert run.complete
    assert run.exit_code == expected.exit_code
    assert run.notes == ()
    assert [adapter.name for adapter in run.adapters] == ["numpy", "reference"]


def test_what_is_done_is_not_done_again(whole, tmp_path):
    """Lines up to the last whole unit stay as they are, and the library that was finished is not started again."""
    lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if b'"adapter":"reference","unit"' in line)
    kept = b"".join(lines[: place + 1])
    (tmp_path / "results.jsonl").write_bytes(kept + lines[place + 1][:15])
    names = []

    class Told:
        def begin(self, adapter, total):
            names.append((adapter, total))

        def advance(self, programs):
            names.append(programs)

        def note(self, text):
            raise AssertionError(text)

    check(replace(OPTIONS, resume=True), tmp_path, Told())
    assert (tmp_path / "results.jsonl").read_bytes().startswith(kept)
    assert names == [("reference", 300), 128, 128, 44]


def test_a_finished_run_is_left_as_it_is(whole, tmp_path):
    """Going on with a run that is complete changes nothing, and answers with its exit code."""
    lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    for code in (0, 1):
        footer = b'{"record":"footer","finished":"","seconds":1.0,"exit_code":%d}\n' % code
        before = b"".join([*lines[:-1], footer])
        (tmp_path / "results.jsonl").write_bytes(before)
        assert check(replace(OPTIONS, resume=True), tmp_path) == code
        assert (tmp_path / "results.jsonl").read_bytes() == before


AWAY = """
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy

if Path({path!r}).exists():
    raise RuntimeError("its device is away")

class Mine(Numpy):
    name = "mine"

adapter = Mine
"""


def test_a_library_that_failed_is_gone_on_with(adapter_file, tmp_path):
    """A run with a library that could not be run is not over: that one is tried again, the others stay as they are."""
    away, out = tmp_path / "away", tmp_path / "out"
    away.touch()
    options = Options((adapter_file(AWAY.format(path=str(away))), "reference"), programs=100)
    assert check(options, out) == 3
    before = (out / "results.jsonl").read_bytes()
    assert check(replace(options, resume=True), out) == 3
    away.unlink()
    # NumPy's deviations are known of the adapter that is called so.
    assert check(replace(options, resume=True), out) == 1
    found = list(read_results(out / "results.jsonl"))
    units = [(record.adapter, record.programs) for record in found if isinstance(record, Unit)]
    assert {name: sum(n for of, n in units if of == name) for name, _ in units} == {"mine": 100, "reference": 100}
    assert (out / "results.jsonl").read_bytes().startswith(before[: before.rindex(b'{"record":"footer"')])
    assert load([out]).complete


class _Interrupted(Silent):
    """Ctrl-C after so many reports of progress."""

    def __init__(self, left):
        self.left = left

    def advance(self, programs):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_a_library_that_is_gone_on_with_is_done_whole_however_often(adapter_file, tmp_path):
    """Two that failed: the first one is gone on with, interrupted, and is no finished one then."""
    away, out = tmp_path / "away", tmp_path / "out"
    away.touch()
    first = AWAY.format(path=str(away))
    second = first.replace('"mine"', '"other"')
    options = Options((adapter_file(first, "first.py"), adapter_file(second, "second.py")), programs=300)
    assert check(options, out) == 3
    away.unlink()
    with pytest.raises(KeyboardInterrupt):
        check(replace(options, resume=True), out, _Interrupted(2))
    assert check(replace(options, resume=True), out) == 1
    units = [record for record in read_results(out / "results.jsonl") if isinstance(record, Unit)]
    programs = {name: sum(unit.programs for unit in units if unit.adapter == name) for name in ("mine", "other")}
    assert programs == {"mine": 300, "other": 300}


class _InterruptedAt(Silent):
    """Ctrl-C where a library begins."""

    def __init__(self, library):
        self.library = library

    def begin(self, adapter, total):
        if adapter == self.library:
            raise KeyboardInterrupt


def test_what_is_said_of_no_unit_stays_while_others_are_gone_on_with(adapter_file, tmp_path):
    """That an expectation of a library which is done matched nothing is red, however often the run is ended."""
    away, out, expect = tmp_path / "away", tmp_path / "out", tmp_path / "known.toml"
    expect.write_text('[[expect]]\nname = "mended"\nreason = "It was."\nrules = ["view.*"]\naspects = ["shape"]\n')
    options = Options((adapter_file(AWAY.format(path=str(away))), "reference"), programs=100, expect=expect)

    def said():
        found = list(read_results(out / "results.jsonl"))
        return [one for one in found if isinstance(one, Failure) and (one.adapter, one.source) == ("reference", "")]

    away.touch()
    assert check(options, out) == 1
    assert len(said()) == 1
    away.unlink()
    with pytest.raises(KeyboardInterrupt):
        check(replace(options, resume=True), out, _InterruptedAt("mine"))
    assert check(replace(options, resume=True), out) == 1
    assert len(said()) == 1


VERSIONED = """
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy

HERE = Path(__file__).parent

if not (HERE / "version").exists():
    import a_library_that_is_not_here

class Mine(Numpy):
    name = "mine"

    def versions(self):
        return {"mine": (HERE / "version").read_text()}

adapter = Mine
"""


def test_a_library_that_was_not_there_is_tried_again(adapter_file, tmp_path):
    """And of another version, once some of it is done, no more."""
    out = tmp_path / "out"
    options = Options((adapter_file(VERSIONED),), programs=300)
    assert check(options, out) == 3
    (tmp_path / "version").write_text("0")
    with pytest.raises(KeyboardInterrupt):
        check(replace(options, resume=True), out, _InterruptedAt("mine"))
    (tmp_path / "version").write_text("1")  # of the one before it there is nothing
    with pytest.raises(KeyboardInterrupt):
        check(replace(options, resume=True), out, _Interrupted(2))
    assert load([out]).adapters[-1].versions == {"mine": "1"}
    for version, units in (("", 2), ("2", 2), ("1", 3)):
        if version:
            (tmp_path / "version").write_text(version)
        else:
            (tmp_path / "version").unlink()
        assert check(replace(options, resume=True), out) == 1  # by the first unit, whatever becomes of the others
        assert sum(isinstance(record, Unit) for record in read_results(out / "results.jsonl")) == units


def test_the_same_rules_are_the_same_run():
    """In whatever order they are asked for; all of them and some are all of them."""
    assert Options(("numpy",), rules="view.*,expand.*") == Options(("numpy",), rules="expand.*,view.*,expand.*")
    assert Options(("numpy",), rules="*,view.*") == Options(("numpy",))


GOES_AWAY = """
import os
from pathlib import Path
from stridecheck.conformance.adapters.numpy import Numpy

HERE = Path(__file__).parent

if (HERE / "away").exists():
    raise RuntimeError("its device is away")

class Mine(Numpy):
    name = "numpy"
    forks = False

    def tensor(self, *layout):
        with (HERE / "made").open("a") as made:
            made.write(".")
        if (HERE / "made").stat().st_size == 60:
            (HERE / "away").touch()
            os.abort()
        return super().tensor(*layout)

adapter = Mine
"""

MATCHES_NOTHING = """
[[expect]]
name = "never"
reason = "A test's."
rules = ["*"]
aspects = ["values"]
operations = ["neg"]
"""


@pytest.mark.parametrize(("expect", "is_first"), [("", True), (MATCHES_NOTHING, True), (MATCHES_NOTHING, False)])
def test_what_failed_in_a_unit_that_is_run_again_is_forgotten(expect, is_first, adapter_file, tmp_path):
    """A unit that the library died in, and what is found out when a library is done, are in the file once in the end.

    Its first records stand in the midst of the file where another library was checked after that.
    """
    options = Options((adapter_file(GOES_AWAY), "reference")[:: 1 if is_first else -1], programs=300)
    if expect:
        (tmp_path / "known.toml").write_text(expect)
        options = replace(options, expect=tmp_path / "known.toml")
    (tmp_path / "made").write_text("." * 60)
    code = check(options, tmp_path / "whole")
    assert code == bool(expect)
    (tmp_path / "made").unlink()
    out = tmp_path / "out"
    assert check(options, out) == 1  # a crash, for all that is known
    outcomes = [one.outcome for one in read_results(out / "results.jsonl") if isinstance(one, Failure)]
    assert "crash" in outcomes
    (tmp_path / "away").unlink()
    assert check(replace(options, resume=True), out) == code
    assert verdicts(out) == verdicts(tmp_path / "whole")
    assert [path.name for path in out.iterdir()] == ["results.jsonl"]


def test_where_nothing_was_begun_a_run_begins(tmp_path):
    """`resume` in an empty directory is a run like any other, and says so."""
    options = Options(("numpy",), programs=20, resume=True)
    told = []
    progress = Silent()
    progress.note = told.append
    assert check(options, tmp_path / "out", progress) == 0
    assert told == [f"{tmp_path / 'out' / 'results.jsonl'}: there is no run to go on with, so one begins"]
    assert (
        sum(record.programs for record in read_results(tmp_path / "out" / "results.jsonl") if isinstance(record, Unit))
        == 20
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"programs": 301}, "--programs 300, not 301"),
        ({"seed": 3}, "--seed 0, not 3"),
        ({"adapters": ("numpy",)}, r"--adapters \['numpy', 'reference'\], not \['numpy'\]"),
        ({"shard": (1, 2)}, r"--shard \[1, 1\], not \[1, 2\]"),
    ],
)
def test_a_run_of_something_else_is_refused(change, says, whole, tmp_path):
    """Other options would find out something else: that is told with the command to go on with, and nothing is lost."""
    shutil.copy(whole / "results.jsonl", tmp_path)
    with pytest.raises(ResumeError, match=says) as error:
        check(replace(OPTIONS, resume=True, **change), tmp_path)
    assert f"`stridecheck check numpy reference --programs 300 --out {tmp_path} --resume`" in str(error.value)
    assert (tmp_path / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


def test_another_suite_is_refused(whole, tmp_path):
    """A file that another version or commit of the suite began is not mixed with this one's."""
    data = (whole / "results.jsonl").read_bytes()
    (tmp_path / "results.jsonl").write_bytes(data.replace(b'"suite":"', b'"suite":"9.', 1))
    with pytest.raises(ResumeError, match=r"was begun with suite 9\."):
        check(replace(OPTIONS, resume=True), tmp_path)


def test_a_file_broken_in_the_middle_is_no_file_to_go_on_with(whole, tmp_path):
    """A line that is no record, with others after it, is not what a kill leaves: it is told, and nothing is cut."""
    lines = (whole / "results.jsonl").read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:50] + b"\n"
    (tmp_path / "results.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(ResultsError, match="line 4"):
        check(replace(OPTIONS, resume=True), tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == b"".join(lines)


@pytest.mark.parametrize("victim", ["run", "server", "child"])
def test_a_killed_process_costs_no_verdict(victim, tmp_path, whole):
    """Whichever process is killed on the way, the run, gone on with where it is the one, has the same verdicts."""
    out = tmp_path / "out"
    command = [*STRIDECHECK, "check", *OPTIONS.adapters, "--programs", "300", "--out", str(out), "--resume"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (out / "results.jsonl").exists() or b'"unit"' not in (out / "results.jsonl").read_bytes():
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.01)
    below = descendants(run.pid)
    os.kill({"run": run.pid, "server": below[0], "child": below[-1]}[victim], signal.SIGKILL)
    _, error = run.communicate(timeout=120)
    code = verdicts(whole).exit_code
    assert run.returncode == (-signal.SIGKILL if victim == "run" else code), error
    if victim == "run":
        assert not any(isinstance(record, Footer) for record in read_results(out / "results.jsonl"))
        assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == code
    assert verdicts(out) == verdicts(whole)


def test_kills_at_random_moments(tmp_path, whole):
    """Five kills of the run or what is below it, whenever they fall, change no verdict (`make evidence` has twenty)."""
    arguments, out = (*OPTIONS.adapters, "--programs", "300"), tmp_path / "battered"
    begin = seconds_alone((*arguments, *FEWEST), tmp_path / "one")
    work = seconds_alone(arguments, tmp_path / "alone") - begin
    assault = Assault(arguments, out, kills=5, begin=begin, work=work, seed=7)
    assault.carry_out()
    assert assault.killed.total() == 5
    assert verdicts(out) == verdicts(whole)
