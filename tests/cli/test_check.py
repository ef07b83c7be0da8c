"""The command line, run as a user runs it: what it says, what it leaves behind, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from stridecheck.conformance import machine
from stridecheck.conformance.program import Program
from stridecheck.conformance.rules import catalogue
from stridecheck.reports.records import Adapter, Failure, Footer, Header, Unit

from stridecheck.cli import COMMANDS, main

from ..commands import COMMAND, records_of, run, said

WRITTEN = ("results.jsonl", "report.html", "summary.md", "junit.xml", "badge.json")


@pytest.fixture(scope="module")
def surprised(tmp_path_factory):
    """A check of NumPy without its expectations, which finds failures."""
    folder = tmp_path_factory.mktemp("surprised")
    (folder / "none.toml").write_text("")
    out = folder / "out"
    return run("check", "numpy", "--programs", 60, "--expect", folder / "none.toml", "--out", out), out


def _without_times(out):
    lines = []
    for line in (out / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        for name in ("started", "finished", "seconds", "command", "commit"):
            record.pop(name, None)
        lines.append(record)
    return lines


# A check that goes well.


def test_torch_and_numpy_are_as_expected(checked):
    """Exit 0, a line for each library with its figures, and every file that is promised."""
    done, out = checked
    assert done.returncode == 0, said(done)
    assert "Everything as expected" in done.stdout
    assert re.search(r"torch:cpu +\d+\.\d % of judged steps  60 programs  0 unexpected", done.stdout)
    assert re.search(r"numpy +\d+\.\d % of judged steps  \d+ programs  0 unexpected", done.stdout)
    assert done.stderr == ""
    assert {name for name in WRITTEN if (out / name).stat().st_size} == set(WRITTEN)


def test_the_results_file_says_what_ran(checked):
    """Header first and footer last; libraries with versions; units whose programs add up to what was asked."""
    _, out = checked
    header, *rest, footer = records_of(out)
    assert isinstance(header, Header)
    assert header.command == "stridecheck check torch numpy --programs 60"
    assert len(header.rules) == len(catalogue().rules)
    assert isinstance(footer, Footer)
    assert footer.exit_code == 0
    adapters = {record.name: record for record in rest if isinstance(record, Adapter)}
    assert set(adapters) == {"torch:cpu", "numpy"}
    assert all(adapter.status == "ready" and adapter.versions for adapter in adapters.values())
    for name in adapters:
        units = [record for record in rest if isinstance(record, Unit) and record.adapter == name]
        assert sum(unit.programs for unit in units) == sum(sum(u.outcomes.values()) for u in units) == 60


def test_twice_gives_the_same(checked, tmp_path):
    """A second run over the corpus differs from the first in nothing but times, and so does `report`."""
    _, out = checked
    again = run("check", "torch", "numpy", "--programs", 60, "--out", tmp_path)
    assert again.returncode == 0
    assert _without_times(tmp_path) == _without_times(out)
    page = (out / "report.html").read_bytes()
    assert run("report", out).returncode == 0
    assert (out / "report.html").read_bytes() == page


def test_no_home_and_no_network_are_needed(tmp_path):
    """Without any environment, and where every connection fails, a check works."""
    (tmp_path / "sitecustomize.py").write_text(
        "import socket\n"
        "def refuse(*args, **options): raise SystemExit('a connection was asked for')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run("check", "numpy", "--programs", 10, "--out", "here", cwd=tmp_path, env={"PYTHONPATH": path})
    assert done.returncode == 0, said(done)
    assert (tmp_path / "here" / "report.html").is_file()


def test_an_adapter_in_a_file_whose_path_has_spaces(tmp_path):
    """A file with an adapter is checked by its path, spaces and all, and named as it names itself."""
    folder = tmp_path / "my library"
    folder.mkdir()
    (folder / "my adapter.py").write_text(
        "from stridecheck.conformance.adapters.numpy import Numpy\n"
        "class Mine(Numpy):\n    name = 'mine'\n\nadapter = Mine\n"
    )
    none = tmp_path / "none.toml"
    none.write_text("")
    done = run("check", "my adapter.py", "--programs", 20, "--expect", none, "--out", "my results", cwd=folder)
    assert done.returncode == 1
    assert "mine" in done.stdout
    assert (folder / "my results" / "report.html").is_file()


def test_random_programs_are_run_when_they_are_asked_for(tmp_path):
    """`--examples` runs so many after the corpus, and the same seed gives the same results."""
    options = ("--programs", 0, "--examples", 70, "--seed", 5)
    assert run("check", "reference", *options, "--out", tmp_path / "one").returncode == 0
    assert run("check", "reference", *options, "--out", tmp_path / "two").returncode == 0
    assert _without_times(tmp_path / "one") == _without_times(tmp_path / "two")
    names = [record.unit for record in records_of(tmp_path / "one") if isinstance(record, Unit)]
    assert (names[0].rpartition("-")[0], names[-1].rpartition("-")[2]) == ("random:5:0", "70")


# What it finds.


def test_unexpected_failures_end_with_1(surprised):
    """Failures that nobody expected are counted, named in the page, and exit with 1."""
    done, out = surprised
    assert done.returncode == 1
    failures = [record for record in records_of(out) if isinstance(record, Failure)]
    assert failures
    assert {failure.outcome for failure in failures} == {"fail"}
    page = (out / "report.html").read_text()
    assert failures[0].program in page
    assert records_of(out)[-1].exit_code == 1


def test_repro_prints_a_script_that_runs(surprised, tmp_path):
    """The script of a failure, found by the beginning of its id, is printed alone and exits 1."""
    _, out = surprised
    failure = next(r for r in records_of(out) if isinstance(r, Failure) and r.repro)
    for where in (out, out / "results.jsonl"):
        done = run("repro", where, failure.program[:12])
        assert (done.returncode, done.stdout, done.stderr) == (0, failure.repro, "")
    script = tmp_path / "script.py"
    script.write_text(failure.repro)
    assert subprocess.run([sys.executable, script], capture_output=True, check=False).returncode == 1


def test_repro_of_what_is_not_there(surprised, tmp_path):
    """An id without a failure, a file that is missing, and a failure without a script each say so."""
    _, out = surprised
    done = run("repro", out, "ffffffff")
    assert done.returncode == 2
    assert "has no failure of a program 'ffffffff'" in done.stderr
    named = next(record.program for record in records_of(out) if isinstance(record, Failure))
    for missing in ((), ("",)):
        done = run("repro", out, *missing)
        assert (done.returncode, f"those that failed: {named}" in done.stderr) == (2, True)
    done = run("repro", tmp_path / "nowhere", "00")
    assert done.returncode == 2
    assert "no such results file" in done.stderr
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    for line in lines:
        line.update({"repro": ""} if line["record"] == "failure" else {})
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run("repro", tmp_path, next(line["program"] for line in lines if line["record"] == "failure"))
    assert done.returncode == 3
    assert "no script shows it in the library's own idiom; the program is in" in done.stderr


def test_repro_without_an_id_names_unexpected_failures_first(surprised, tmp_path):
    lines = [json.loads(line) for line in (surprised[1] / "results.jsonl").read_text().splitlines()]
    first, *_, last = dict.fromkeys(line["program"] for line in lines if line["record"] == "failure")
    for line in lines:
        line.update({"outcome": "xfail"} if line["record"] == "failure" and line["program"] != last else {})
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert f"those that failed: {last}, {first}" in run("repro", tmp_path).stderr


def test_repro_runs_again_what_ran(tmp_path):
    """A failure that is not shrunk yet is found again on the library that it is of, in the same time."""
    (tmp_path / "mine.py").write_text(
        "import time\nfrom stridecheck.conformance.adapters.numpy import Numpy\n"
        "class Mine(Numpy):\n"
        "    def operation(self, step):\n"
        "        return (lambda *a: time.sleep(2)) if step.op == 'expand' else super().operation(step)\n"
        "adapter = Mine\n"
    )
    done = run("check", "mine.py", "--programs", 120, "--timeout", 0.5, "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    path = tmp_path / "out" / "results.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    hung = next(line for line in lines if line["record"] == "failure" and line["outcome"] == "timeout")
    shrunk = Program.from_json(hung["shrunk"])
    for line in lines:
        line.update({"shrunk": {}, "repro": ""} if line["record"] == "failure" else {})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run("promote", "out", hung["program"], "--to", "mine.jsonl", cwd=tmp_path)
    assert shrunk.id in done.stdout, said(done)
    done = run("repro", tmp_path / "out", hung["program"])  # from elsewhere, where there is no mine.py
    assert done.returncode == 3
    assert "no file mine.py; paths are relative to where it was found, by: stridecheck check mine.py" in done.stderr


class Recorded(Exception):
    """The command that a run puts into its header."""


@pytest.mark.parametrize(
    "typed",
    [
        "check numpy reference --rules 'expand.*,view.*' --programs 1 --examples 3 --shard 2/3 --timeout 2.5 "
        "--exhaustive --expect 'my list' --skip-missing",
        "bench --cases 'copy,sum*/*' --cases add --adapters numpy,reference --threads 2 --visits 2 --quick --cold",
        "claims --only 'memory.*' --only storage.byte",
        "mutants --only 'clone.*' --only 'view.*' --programs 1 --examples 3 --seconds 0.5 --seed -1",
        "exchange 'my library.py' numpy --python 'my python' --expect 'my list' --update-expectations --skip-missing "
        "--timeout 2.5 --start-timeout 5",
    ],
    ids=lambda typed: typed.split()[0],
)
def test_what_is_recorded_asks_for_the_same_again(typed, tmp_path, monkeypatch):
    """The command in a run's header, typed once more, has the same options."""

    def header(command, *_):
        raise Recorded(command)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(machine, "header", header)
    (tmp_path / "my list").write_text("")
    with pytest.raises(Recorded) as recorded:
        main.main(shlex.split(typed), standalone_mode=False)
    stridecheck, *again = shlex.split(str(recorded.value))
    assert (stridecheck, _asked(again)) == ("stridecheck", _asked(shlex.split(typed)))


def _asked(words):
    command = main.get_command(click.Context(main), words[0])
    return command.make_context(words[0], words[1:]).params


# What it says of itself.


def test_rules_are_one_a_line():
    """The list has every rule below its family, each on a line of plain text that begins with its id."""
    done = run("rules")
    assert done.returncode == 0
    rules = catalogue().rules
    blocks = [block.splitlines() for block in re.split(r"\n(?! )", done.stdout.strip())]
    ids = {family: [line.split()[0] for line in lines] for family, *lines in blocks}
    assert {family: [id for id in rules if rules[id].family == family] for family in ids} == ids
    assert sum(map(len, ids.values())) == len(rules)
    some = run("rules", "view.*").stdout.splitlines()
    assert {line.split()[0].partition(".")[0] for line in some if line.startswith("  ")} == {"view"}
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_one_rule_in_full():
    """A rule is shown with its sentence, source, aspects, operations, and programs that exercise it."""
    done = run("rules", "transpose.swaps")
    assert done.returncode == 0
    for part in ("Transpose (and its aliases) swaps", "semantics §3.6", "swapaxes", "of the corpus", "strides"):
        assert part in done.stdout
    assert re.search(r"program [0-9a-f]{16}\n    s0 = storage of", done.stdout)


def _commands(command=main, path=()):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in _commands()], ids=" ".join)
def test_help_teaches(path):
    """Each command explains itself and every option of it, within 110 columns."""
    command = dict(_commands())[path]
    context = click.Context(command, info_name="stridecheck", max_content_width=110)
    text = command.get_help(context)
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option) and option.name != "help")
    assert max(map(len, text.splitlines())) <= 110


def test_help_and_version_by_the_real_command():
    """`--help`, `-h` and `--version` exit with 0; the exit codes are explained."""
    done = run("--help")
    assert done.returncode == 0
    assert "Exit codes" in done.stdout
    listed = dict(line.split(maxsplit=1) for line in re.split("Commands:|  Exit", done.stdout)[1].strip().splitlines())
    assert list(listed) == list(COMMANDS)
    for path, command in _commands():
        if path:
            assert command.get_short_help_str(1000).startswith(listed[path[0]].removesuffix("..."))
    assert run("check", "-h").stdout.startswith("Usage: ")
    assert re.search(r"stridecheck, version \d", run("--version").stdout)


@pytest.mark.parametrize("arguments", [["rules"], ["rules", "transpose.swaps"], ["--help"]], ids=" ".join)
def test_a_reader_that_has_had_enough_is_no_error(arguments):
    """Piped into a program that reads nothing, the command ends without a stack trace."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60)
    finally:
        os.close(writing)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_the_installed_command_is_this_one():
    """The script that pip made starts the same command line."""
    script = Path(sys.executable).with_name("stridecheck")
    if not script.is_file():
        pytest.skip("stridecheck is not installed here")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == run("--version").stdout
