"""The command line in trouble: what a user can do wrong, or meet, and what becomes of the results."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from importlib.util import find_spec

import pytest
from stridecheck.conformance.discovery import UnknownAdapter
from stridecheck.reports.records import Adapter, Failure, Footer, Unit

from stridecheck.api import check
from stridecheck.commands.directory import InUse, begun_in

from ..commands import COMMAND, records_of, run, said


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
    done = run("check", "torch:abacus", "--programs", 5, "--out", tmp_path)
    assert done.returncode == 2
    assert "torch has the variants cpu" in said(done)


def test_two_adapters_of_one_name_are_refused(tmp_path):
    """A second library under the same name would be taken for the first: it is not run, and the message says why."""
    (tmp_path / "mine.py").write_text("from stridecheck.conformance.adapters.numpy import Numpy as adapter\n")
    done = run("check", "numpy", "numpy", "mine.py", "--programs", 5, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine.py and numpy both have the name 'numpy'" in said(done)


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed here")
def test_a_library_that_is_not_installed_is_named_with_what_installs_it(tmp_path):
    """A bundled adapter without its library exits with 3 and says what to install, or is skipped where asked."""
    done = run("check", "cupy", "--programs", 5, "--out", tmp_path)
    assert done.returncode == 3
    assert "cupy: not run, cupy is not installed here: pip install 'cupy-cuda12x>=14'; or name" in done.stderr
    assert "environment that has it: --python PATH" in done.stderr
    assert re.search(r"cupy +not run: cupy is not installed here", done.stdout)
    _is_one_message(done)
    done = run("check", "cupy", "numpy", "--programs", 5, "--skip-missing", "--out", tmp_path)
    assert done.returncode == 0
    assert re.search(r"cupy +skipped: cupy is not installed here", done.stdout)
    done = run("check", "cupy", "--programs", 5, "--skip-missing", "--out", tmp_path)
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
        (["chek"], "No such command 'chek'. Did you mean 'check'?"),
        (["check", "numpy", "--expect", "absent.toml"], "absent.toml: No such file or directory"),
        (["check", "numpy", "--programs", "5", "--python", "/no/such/python"], "cannot run /no/such/python"),
        (["check", "numpy", "--update-expectations", "--rules", "view.*"], "--update-expectations needs all rules"),
        (["check", "numpy", "--rules", "view.*", "--rules", "zzz"], "no rule matches 'zzz'"),
        (["rules", "view.merge-block"], "did you mean view.merge-blocks"),
        (["rules", "zzz"], "`stridecheck rules` lists all"),
        (["check", "numpy", "--rules", "veiw.*"], "no rule matches 'veiw.*'; did you mean view.*"),
        (
            ["check", "numpy", "--programs", "0", "--opinfo", "veiw"],
            "no OpInfo operator matches 'veiw'; did you mean view",
        ),
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
    assert "not run, RuntimeError: out of order" in done.stderr
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
    assert not [r for r in records_of(tmp_path / "out") if isinstance(r, Unit)]  # for that unit is run again:
    (tmp_path / "draft.py").write_text(
        "from stridecheck.conformance.adapters.reference import Reference\n"
        "class Draft(Reference):\n"
        "    name = 'draft'\n"
        "adapter = Draft\n"
    )
    mended = run(*given, "--resume", cwd=tmp_path)
    assert mended.returncode == 0
    assert sum(r.programs for r in records_of(tmp_path / "out") if isinstance(r, Unit)) == 300


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
        assert sum(r.programs for r in records_of(tmp_path / "out") if isinstance(r, Unit)) >= least


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
    crashes = [r for r in records_of(tmp_path / "out") if isinstance(r, Failure) and r.outcome == "crash"]
    assert crashes
    assert "killed by SIGABRT" in crashes[0].message
    assert "expand" in crashes[0].listing
    assert isinstance(records_of(tmp_path / "out")[-1], Footer)


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
    assert re.search(r"numpy +\d+\.\d % of judged steps  \d+ programs", done.stdout)
    assert "ended before it was done" in (tmp_path / "report.html").read_text()
    units = [record for record in records_of(tmp_path) if isinstance(record, Unit)]
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


def test_an_earlier_run_is_not_lost_to_a_mistake(tmp_path):
    """A second run keeps the results of the first aside; where it is none, they and their page stay as they were."""
    assert run("check", "numpy", "--programs", 20, "--out", tmp_path).returncode == 0
    files = [tmp_path / name for name in ("results.jsonl", "report.html", "badge.json")]
    first = [path.read_text() for path in files]
    mistakes = [
        ("check", "torch:abacus", "--programs", 20),
        ("check", "nosuch"),
        ("check", "numpy", "--programs", 20, "--python", "/nowhere"),
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
    (tmp_path / "broken.py").write_text("raise RuntimeError('out of order')")
    for nothing, code in ((tmp_path / "broken.py", 3), ("numpy", 4)):
        done = run("check", nothing, "--programs", 0, "--out", tmp_path)
        assert (done.returncode, "nothing was run: the results in" in done.stderr) == (code, True)
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


def test_two_earlier_runs_are_not_lost_to_a_mistake(tmp_path):
    """Nor is the one before the last, on the command line and from Python; what was not rendered is not then."""
    out = tmp_path / "out"
    files = [out / name for name in ("results.jsonl", "results.previous.jsonl")]
    for programs in (5, 10):
        check("reference", programs=programs, out=out)
    runs = [path.read_text() for path in files]
    (tmp_path / "broken.py").write_text("raise RuntimeError('out of order')")
    idle = str(tmp_path / "broken.py")
    for name, code in (("nosuch", 2), (idle, 3)):
        assert run("check", name, "--out", out).returncode == code
        assert [path.read_text() for path in files] == runs
    with pytest.raises(UnknownAdapter):
        check("nosuch", out=out)
    assert check(idle, out=out).exit_code == 3
    assert [path.read_text() for path in files] == runs
    assert sorted(out.iterdir()) == sorted(files)
    check("reference", programs=5, out=out)
    assert files[1].read_text() == runs[0]
    assert sorted(out.iterdir()) == sorted(files)


def test_what_was_judged_beside_a_mistake_is_kept(tmp_path):
    """One library that is none does not cost the results of another."""
    done = run("check", "numpy", "torch:abacus", "--programs", 20, "--out", tmp_path)
    assert done.returncode == 2
    assert {r.name: r.status for r in records_of(tmp_path) if isinstance(r, Adapter)} == {
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


def test_a_call_from_python_keeps_what_is_there(tmp_path):
    """Earlier results, and what was made of them, are dealt with as on the command line; two runs do not mix."""
    for name in ("results.jsonl", "report.html"):
        (tmp_path / name).write_text("mine\n")
    with begun_in(tmp_path, anew=False), pytest.raises(InUse):
        check("reference", programs=5, out=tmp_path)
    check("reference", programs=5, out=tmp_path)
    assert (tmp_path / "results.previous.jsonl").read_text() == "mine\n"
    assert not (tmp_path / "report.html").exists()
    check("reference", programs=5, out=tmp_path, resume=True)  # which is to go on with what is there
    assert (tmp_path / "results.previous.jsonl").read_text() == "mine\n"


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
