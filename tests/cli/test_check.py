"""The command line, run as a user runs it: what it says, what it leaves behind, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from stridecheck.conformance.rules import catalogue
from stridecheck.reports.records import Adapter, Failure, Footer, Header, Unit, read_results

from stridecheck.api import check
from stridecheck.cli import main
from stridecheck.commands.directory import begun_in

from ..commands import run

COMMAND = [sys.executable, "-m", "stridecheck"]
WRITTEN = ("results.jsonl", "report.html", "summary.md", "junit.xml", "badge.json")


def said(done):
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """A check of torch and NumPy on 60 programs: the process, and the directory it wrote."""
    out = tmp_path_factory.mktemp("two words") / "out put"
    return run("check", "torch", "numpy", "--programs", 60, "--out", out), out


@pytest.fixture(scope="module")
def surprised(tmp_path_factory):
    """A check of NumPy without its expectations, which finds failures."""
    folder = tmp_path_factory.mktemp("surprised")
    (folder / "none.toml").write_text("")
    out = folder / "out"
    return run("check", "numpy", "--programs", 60, "--expect", folder / "none.toml", "--out", out), out


def _records(out):
    return list(read_results(out / "results.jsonl"))


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
    assert re.search(r"torch:cpu +\d+\.\d %  60 programs  0 unexpected", done.stdout)
    assert re.search(r"numpy +\d+\.\d %  \d+ programs  0 unexpected", done.stdout)
    assert done.stderr == ""
    assert {name for name in WRITTEN if (out / name).stat().st_size} == set(WRITTEN)


def test_the_results_file_says_what_ran(checked):
    """Header first and footer last; libraries with versions; units whose programs add up to what was asked."""
    _, out = checked
    header, *rest, footer = _records(out)
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
    names = [record.unit for record in _records(tmp_path / "one") if isinstance(record, Unit)]
    assert (names[0].rpartition("-")[0], names[-1].rpartition("-")[2]) == ("random:5:0", "70")


# What it finds.


def test_unexpected_failures_end_with_1(surprised):
    """Failures that nobody expected are counted, named in the page, and exit with 1."""
    done, out = surprised
    assert done.returncode == 1
    failures = [record for record in _records(out) if isinstance(record, Failure)]
    assert failures
    assert {failure.outcome for failure in failures} == {"fail"}
    page = (out / "report.html").read_text()
    assert failures[0].program in page
    assert _records(out)[-1].exit_code == 1


def test_repro_prints_a_script_that_runs(surprised, tmp_path):
    """The script of a failure, found by the beginning of its id, is printed alone and exits 1."""
    _, out = surprised
    failure = next(r for r in _records(out) if isinstance(r, Failure) and r.repro)
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
    assert run("repro", out, "").returncode == 2
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


# What a user can do wrong, or meet.


def _is_one_message(done):
    """One line on standard error that begins with the command's name (or click's own usage), and no stack trace."""
    assert "Traceback" not in said(done), said(done)
    assert done.stderr.strip()


def test_an_unknown_adapter_lists_the_installed_ones(tmp_path):
    """A misspelt name exits with 2, names what there is and what may be meant."""
    done = run("check", "nunpy", "--out", tmp_path)
    assert done.returncode == 2
    assert "did you mean numpy?" in said(done)
    assert re.search(r"; installed: [\w, ]*numpy, reference, [\w, ]*torch", said(done))
    for part, is_there in (("; installed: ", True), ("; not installed here: ", False)):
        for name in re.search(rf"{part}([\w, ]+)", said(done))[1].split(", "):
            assert bool(find_spec(name.replace("reference", "numpy"))) == is_there, name
    _is_one_message(done)


def test_an_unknown_variant_is_wrong_usage(tmp_path):
    """A device that the adapter does not have exits with 2 and names those that it has."""
    done = run("check", "torch:abacus", "--out", tmp_path)
    assert done.returncode == 2
    assert "torch has the variants cpu" in said(done)


def test_two_adapters_of_one_name_are_refused(tmp_path):
    """A second library under the same name would be taken for the first: it is not run, and the message says why."""
    (tmp_path / "mine.py").write_text("from stridecheck.conformance.adapters.numpy import Numpy as adapter\n")
    done = run("check", "numpy", "numpy", "mine.py", "--programs", 5, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine.py and numpy both have the name 'numpy'" in said(done)


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed here")
def test_a_library_that_is_not_installed_names_the_extra(tmp_path):
    """A bundled adapter without its library exits with 3 and says what to install, or is skipped where asked."""
    done = run("check", "cupy", "--programs", 5, "--out", tmp_path)
    assert done.returncode == 3
    assert "pip install 'stridecheck[cupy]'" in said(done)
    _is_one_message(done)
    done = run("check", "cupy", "numpy", "--programs", 5, "--skip-missing", "--out", tmp_path)
    assert done.returncode == 0
    assert re.search(r"cupy +skipped: cupy is not installed here", done.stdout)
    done = run("check", "cupy", "--skip-missing", "--out", tmp_path)
    assert done.returncode == 4


@pytest.mark.parametrize("options", [("--programs", 0), ("--programs", 1, "--rules", "unfold.*")])
def test_a_run_that_judges_nothing_ends_with_4(options, tmp_path):
    """Where no program was judged, the exit code says so: an empty run is no success."""
    assert run("check", "numpy", *options, "--out", tmp_path).returncode == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check"], "Missing argument 'ADAPTER...'"),
        (["check", "numpy", "--programs", "-3"], "-3 is not in the range"),
        (["check", "numpy", "--timeout", "0"], "0.0 is not in the range"),
        (["check", "numpy", "--prog", "3"], "No such option"),
        (["chek"], "No such command 'chek'"),
        (["check", "numpy", "--expect", "absent.toml"], "absent.toml: No such file or directory"),
        (["check", "numpy", "--python", "/no/such/python"], "cannot run /no/such/python"),
        (["check", "numpy", "--update-expectations", "--rules", "view.*"], "--update-expectations needs all rules"),
        (["check", "numpy", "--rules", "view.*", "--rules", "zzz"], "no rule matches 'zzz'"),
        (["rules", "view.merge-block"], "did you mean view.merge-blocks"),
        (["rules", "zzz"], "`stridecheck rules` lists all"),
        (["report", "absent"], "absent: no such results file"),
        (["report", "."], "no results.jsonl in this directory"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_message(arguments, says, tmp_path):
    """A mistake on the command line exits with 2 and one message that names it."""
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, said(done)
    assert says in said(done)
    _is_one_message(done)


def test_an_adapter_that_breaks_does_not_keep_others_from_running(tmp_path):
    """One library cannot be imported: it is told, the other is judged, and the exit code is 3."""
    (tmp_path / "broken.py").write_text("raise RuntimeError('out of order')")
    done = run("check", "broken.py", "numpy", "--programs", 10, "--out", "out", cwd=tmp_path)
    assert done.returncode == 3
    assert "failed, RuntimeError: out of order" in done.stderr
    assert re.search(r"numpy .* 0 unexpected", done.stdout)
    _is_one_message(done)


def test_programs_of_which_nothing_was_judged_are_none(tmp_path):
    """They ran, and no aspect of them is claimed."""
    (tmp_path / "mute.py").write_text(
        "from dataclasses import replace\n"
        "from stridecheck.conformance.adapters.numpy import Numpy\n"
        "class Mute(Numpy):\n"
        "    name = 'mute'\n"
        "    capabilities = replace(Numpy.capabilities, aspects=frozenset())\n"
        "adapter = Mute\n"
    )
    assert run("check", "mute.py", "--programs", 100, "--out", "out", cwd=tmp_path).returncode == 4


def test_rules_are_asked_for_in_python_as_on_the_command_line(tmp_path):
    """By a text with commas, blanks or none, or by several; where one matches nothing, nothing is written."""
    asked = ("view.*,expand.*", " view.*, expand.*", ["view.*", "expand.*"])
    found = [check("reference", programs=100, rules=rules).frame.rule.unique().tolist() for rules in asked]
    assert found[0] == found[1] == found[2]
    assert {rule.partition(".")[0] for rule in found[0]} == {"view", "expand"}
    with pytest.raises(ValueError, match=r"no rule matches 'sqeeze.dim'; did you mean squeeze.dim"):
        check("reference", rules=["view.*", "sqeeze.dim"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_adapter_that_builds_nothing_is_told_after_its_first_unit(workers, tmp_path):
    """A first draft whose inputs all go wrong costs one unit of programs and no more."""
    (tmp_path / "draft.py").write_text(
        "from stridecheck.conformance.adapters.numpy import Numpy\n"
        "class Draft(Numpy):\n"
        "    name = 'draft'\n"
        "    def tensor(self, *args):\n"
        "        raise TypeError('not yet')\n"
        "adapter = Draft\n"
    )
    given = ("check", "draft.py", "--programs", 300, "--out", "out", "--workers", workers)
    done = run(*given, cwd=tmp_path)
    assert done.returncode == 1
    assert re.search(
        r"draft: failed, nothing more is run, since each of \d+ programs is its error: .*not yet", done.stderr
    )
    assert not [r for r in _records(tmp_path / "out") if isinstance(r, Unit)]  # for that unit is run again:
    (tmp_path / "draft.py").write_text(
        "from stridecheck.conformance.adapters.reference import Reference\n"
        "class Draft(Reference):\n"
        "    name = 'draft'\n"
        "adapter = Draft\n"
    )
    mended = run(*given, "--resume", cwd=tmp_path)
    assert mended.returncode == 0
    assert sum(r.programs for r in _records(tmp_path / "out") if isinstance(r, Unit)) == 300


def test_what_one_operation_or_earlier_failures_go_wrong_in_ends_no_run(tmp_path):
    """Only what the corpus begins with tells of an adapter that does nothing right."""
    (tmp_path / "slip.py").write_text(
        "from stridecheck.conformance.adapters.reference import Reference\n"
        "class Slip(Reference):\n"
        "    name = 'slip'\n"
        "    def describe(self, x):\n"
        "        raise TypeError('not yet')\n"
        "adapter = Slip\n"
    )
    for least, *given in ((300, "--programs", 0, "--examples", 300), (30, "--programs", 300, "--rules", "view.*")):
        done = run("check", "slip.py", *given, "--out", "out", cwd=tmp_path)
        assert done.returncode == 1
        assert "nothing more is run" not in done.stderr
        assert sum(r.programs for r in _records(tmp_path / "out") if isinstance(r, Unit)) >= least


def test_a_crash_is_a_failure_and_the_run_goes_on(tmp_path):
    """A library that dies in an operation is a crash with its signal in the report, and exit 1."""
    (tmp_path / "dying.py").write_text(
        "import os\nfrom stridecheck.conformance.adapters.numpy import Numpy\n"
        "class Dying(Numpy):\n"
        "    name = 'dying'\n"
        "    def operation(self, step):\n"
        "        return (lambda *a: os.abort()) if step.op == 'expand' else super().operation(step)\n"
        "adapter = Dying\n"
    )
    done = run("check", "dying.py", "--programs", 120, "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    crashes = [r for r in _records(tmp_path / "out") if isinstance(r, Failure) and r.outcome == "crash"]
    assert crashes
    assert "killed by SIGABRT" in crashes[0].message
    assert "expand" in crashes[0].listing
    assert isinstance(_records(tmp_path / "out")[-1], Footer)


@pytest.mark.parametrize(
    ("out", "code"), [("file", 2), ("file/below", 3), ("/proc/stridecheck", 3)], ids=["a file", "in a file", "/proc"]
)
def test_a_directory_that_cannot_be_written(out, code, tmp_path):
    """Results that cannot be written end the run before it begins, with the directory's name."""
    (tmp_path / "file").write_text("mine")
    done = run("check", "numpy", "--programs", 5, "--out", out, cwd=tmp_path)
    assert done.returncode == code
    assert out in done.stderr
    assert (tmp_path / "file").read_text() == "mine"
    _is_one_message(done)


def test_a_full_disk_is_one_message(tmp_path):
    """Where nothing more can be written, the run ends with exit 3 and says so, without a stack trace."""
    (tmp_path / "results.jsonl").symlink_to("/dev/full")
    done = run("check", "numpy", "--programs", 60, "--out", tmp_path)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    _is_one_message(done)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_run_that_is_ended_leaves_what_it_has_done(how, tmp_path):
    """After Ctrl-C or a kill, what was judged is in the file, `report` renders it and says that it is not all."""
    process = subprocess.Popen(
        [*COMMAND, "check", "numpy", "--programs", "64", "--seconds", "100", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    path = tmp_path / "results.jsonl"
    deadline = time.monotonic() + 60
    while not path.is_file() or path.read_text().count('"record":"unit"') < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, how)
    _, error = process.communicate(timeout=30)
    assert "Traceback" not in error
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert f"what was done is in {tmp_path}/results.jsonl" in error
    else:
        assert process.returncode == -how
    done = run("report", tmp_path)
    assert "The run ended before it was done" in done.stdout
    assert re.search(r"numpy +\d+\.\d %  \d+ programs", done.stdout)
    assert "ended before it was done" in (tmp_path / "report.html").read_text()
    units = [record for record in _records(tmp_path) if isinstance(record, Unit)]
    assert len(units) >= 3


@pytest.mark.parametrize("module", ["click", "numpy", "pandas"])
def test_ctrl_c_while_modules_are_imported(module, tmp_path):
    """An interruption before the work began, or while the report's modules come in, is one line and 130."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    arguments = ("check", "reference", "--programs", 1, "--out", tmp_path / "out")
    done = run(*arguments, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 130, said(done)
    assert done.stderr.startswith("stridecheck: interrupted")
    _is_one_message(done)


def test_a_broken_results_file_names_the_line(checked, tmp_path):
    """A line that is no record is named with the file, and nothing else is written."""
    _, out = checked
    shutil.copy(out / "results.jsonl", tmp_path)
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace('"record":', '"recrd":')
    path.write_text("\n".join(lines) + "\n")
    for command in (("report", tmp_path), ("repro", tmp_path, "00")):
        done = run(*command)
        assert done.returncode == 2
        assert f"{path}, line 3: " in done.stderr
        _is_one_message(done)
    assert not (tmp_path / "report.html").exists()


# What it says of itself.


def test_rules_are_one_a_line():
    """The list begins each line with an id, is plain text, and has every rule."""
    done = run("rules")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(catalogue().rules)
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


def test_an_earlier_run_is_not_lost_to_a_mistake(tmp_path):
    """A second run keeps the results of the first aside; where it is none, they and their page stay as they were."""
    assert run("check", "numpy", "--programs", 20, "--out", tmp_path).returncode == 0
    files = [tmp_path / name for name in ("results.jsonl", "report.html", "badge.json")]
    first = [path.read_text() for path in files]
    mistakes = [
        ("check", "torch:abacus"),
        ("check", "nosuch"),
        ("check", "numpy", "--python", "/nowhere"),
        ("check", "numpy", "--expect", tmp_path / "nosuch.toml"),
        ("bench", "--adapters", "torch:abacus", "--quick"),
        ("exchange", "numpy", "nosuch"),
    ]
    for mistake in mistakes:
        done = run(*mistake, "--out", tmp_path)
        assert done.returncode == 2
        assert "✓" not in done.stdout
        assert "the results in" in done.stderr.splitlines()[-1]
        assert "are those of an earlier run, as they were" in done.stderr.splitlines()[-1]
        assert [path.read_text() for path in files][::2] == first[::2]
    for times in ("nan", "inf", "1e300", "-1", "0"):
        for option in ("--timeout", "--start-timeout"):
            done = run("check", "numpy", option, times, "--out", tmp_path)
            assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert run("check", "numpy", "--seconds", "nan", "--out", tmp_path).returncode == 2
    done = run("exchange", "numpy", "mine>yours.py", "--out", tmp_path)
    assert (done.returncode, "mine>yours.py: > stands between two libraries" in done.stderr) == (2, True)
    assert [path.read_text() for path in files][::2] == first[::2]
    assert not (tmp_path / "results.previous.jsonl").exists()
    assert run("check", "numpy", "--programs", 30, "--out", tmp_path).returncode == 0
    assert (tmp_path / "results.previous.jsonl").read_text() == first[0]


def test_what_was_judged_beside_a_mistake_is_kept(tmp_path):
    """One library that is none does not cost the results of another."""
    done = run("check", "numpy", "torch:abacus", "--programs", 20, "--out", tmp_path)
    assert done.returncode == 2
    assert {r.name: r.status for r in _records(tmp_path) if isinstance(r, Adapter)} == {
        "numpy": "ready",
        "torch:abacus": "failed",
    }
    assert "✗" in done.stdout
    assert (tmp_path / "report.html").exists()


def test_two_runs_do_not_write_into_one_directory(tmp_path):
    """While a run is writing, another one there ends with 3 and touches nothing; a directory that stays empty goes."""
    with begun_in(tmp_path / "out"):
        (tmp_path / "out" / "results.jsonl").write_text("mine\n")
        done = run("check", "numpy", "--programs", 20, "--out", tmp_path / "out")
        assert (done.returncode, "another run is writing into" in done.stderr) == (3, True)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["results.jsonl"]
    assert run("check", "numpy", "--programs", 20, "--out", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "results.previous.jsonl").read_text() == "mine\n"
    assert run("check", "nosuch", "--out", tmp_path / "new").returncode == 2
    assert not (tmp_path / "new").exists()


def test_a_closed_standard_error_is_no_failure(tmp_path):
    """What would be said there is for nobody."""
    command = shlex.join([*COMMAND, "check", "numpy", "--programs", "20", "--out", str(tmp_path)])
    done = subprocess.run(["sh", "-c", f"{command} 2>&-"], capture_output=True, text=True, check=False)
    assert (done.returncode, "✓" in done.stdout) == (0, True)


def test_what_is_rendered_is_of_the_results_beside_it(tmp_path):
    """A run that was ended leaves no page of the one before it."""
    assert run("check", "numpy", "--programs", 20, "--out", tmp_path).returncode == 0
    process = subprocess.Popen([*COMMAND, "check", "torch", "--out", str(tmp_path)], stderr=subprocess.DEVNULL)
    while not ((tmp_path / "results.previous.jsonl").exists() and (tmp_path / "results.jsonl").exists()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["csv", "results.jsonl", "results.previous.jsonl"]
    assert not list((tmp_path / "csv").iterdir())
