"""The pytest form, run as a third party runs it: from the installed wheel, in a directory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.rules import catalogue
from stridecheck.reports.run import load
from stridecheck.reports.verdicts import rule_verdicts

SHIPPED = ("--pyargs", "stridecheck.conformance")
STRICT = ("-p", "no:cacheprovider", "--strict-markers", "--strict-config", "-W", "error")
PROGRAMS = 60

CRASHING = """
import os, signal
from stridecheck.conformance.adapters.numpy import Numpy

with open({log!r}, "a") as log:
    log.write("loaded\\n")

class Crashing(Numpy):
    name = "crashing"

    def operation(self, step):
        if step.op == "view":
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().operation(step)

adapter = Crashing
"""


STATES = {"failure": "fail", "pytest.xfail": "known", "pytest.skip": "not judged"}


@pytest.fixture
def run(wheel, tmp_path):
    """Runs pytest on the wheel in the test's directory; answers with the process and the state of each rule."""

    def run_(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--junitxml=outcomes.xml", *STRICT, *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(wheel), "TMPDIR": str(tmp_path)},
        )  # fmt: skip
        states = {}
        written = tmp_path / "outcomes.xml"
        for case in ElementTree.parse(written).iter("testcase") if written.exists() else ():
            _, bracket, rule = case.get("name").rstrip("]").partition("[")
            if bracket:
                state = STATES[case[0].get("type") or case[0].tag] if len(case) else "pass"
                assert states.setdefault(rule, state) == state
        return done, states

    return run_


@pytest.fixture
def no_deviations(tmp_path):
    """An expectation file that expects nothing."""
    return _write(tmp_path / "none.toml", "")


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """What a check says of each rule, on a library where nothing is expected to deviate."""
    folder = tmp_path_factory.mktemp("judged")
    expect = _write(folder / "none.toml", "")
    check(Options(("numpy",), programs=PROGRAMS, expect=expect), folder / "out")
    return rule_verdicts(load([folder / "out"]), "numpy")


def _write(path: Path, source: str) -> Path:
    path.write_text(source)
    return path


@pytest.mark.parametrize("parallel", [(), ("-n", "2")], ids=["one process", "-n 2"])
def test_one_test_a_rule_says_what_a_check_says(parallel, run, no_deviations, judged, tmp_path):
    """Each rule is one test, and it passes, fails, xfails or is skipped as a check on the command line judges it."""
    arguments = ("--stridecheck-adapter", "numpy", "--stridecheck-programs", PROGRAMS)
    done, outcomes = run(*SHIPPED, *arguments, "--stridecheck-expect", no_deviations, *parallel)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes == {rule: verdict.state for rule, verdict in judged.items()} | {"no-rule": "pass"}
    assert set(outcomes) == {*catalogue().rules, "no-rule"}
    assert not list(tmp_path.glob("stridecheck-*"))


def test_known_deviations_of_a_library_are_xfailed(run):
    """With the expectations that come with the suite, NumPy is as expected, and its deviations show with reasons."""
    arguments = ("--stridecheck-adapter", "numpy", "--stridecheck-programs", PROGRAMS)
    done, outcomes = run(*SHIPPED, *arguments, "-rx")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(outcomes.values()) == {"pass", "known", "not judged"}
    assert "known deviation: " in done.stdout


def test_the_corpus_is_judged_once_whoever_asks(run, tmp_path, no_deviations):
    """With two processes and two test files, the library is loaded once; a crash of it fails a test and ends no run."""
    log = tmp_path / "log"
    adapter = _write(tmp_path / "crashing.py", CRASHING.format(log=str(log)))
    for name in ("test_one.py", "test_two.py"):
        _write(
            tmp_path / name,
            "import stridecheck\n"
            f"@stridecheck.parametrize_rules({str(adapter)!r}, programs={PROGRAMS}, expect={str(no_deviations)!r})\n"
            "def test_layout(rule):\n    rule.check()\n",
        )
    done, _ = run("test_one.py", "test_two.py", "-n", "2", "--dist", "load")
    assert done.returncode == 1
    assert "killed by SIGSEGV" in done.stdout
    assert log.read_text() == "loaded\n"


def test_expected_failures_are_strict(run, tmp_path, judged, no_deviations):
    """A rule that fails as expected is xfailed; one that passes though it is expected to fail is a failure."""
    failing, another = [rule for rule, verdict in judged.items() if verdict.state == "fail"][:2]
    passing = next(rule for rule, verdict in judged.items() if verdict.state == "pass")
    _write(
        tmp_path / "test_mine.py",
        f"""
import stridecheck

KNOWN = {{{failing!r}: "we do not care", {passing!r}: "it was so once"}}

@stridecheck.parametrize_rules("numpy", programs={PROGRAMS}, expect={str(no_deviations)!r}, expected_failures=KNOWN)
def test_layout(rule):
    rule.check()
""",
    )
    done, outcomes = run("test_mine.py", "-rx")
    assert (outcomes[failing], outcomes[another], outcomes[passing]) == ("known", "fail", "fail")
    assert "we do not care" in done.stdout
    assert "[XPASS(strict)] it was so once" in done.stdout


def test_settings_on_the_command_line_go_before_those_of_the_test(run, tmp_path):
    """The header says the settings; results are kept where that is asked for, and `report` can read them."""
    _write(
        tmp_path / "test_mine.py",
        "import stridecheck\n@stridecheck.parametrize_rules('numpy', programs=3)\ndef test_(rule): rule.check()\n",
    )
    done, outcomes = run("test_mine.py", "--stridecheck-rules", "view.*", "--stridecheck-out", "kept")
    assert done.returncode == 0, done.stdout
    assert f"stridecheck: rules view.*, out {tmp_path / 'kept'}" in done.stdout
    assert {rule.split(".")[0] for rule in outcomes} == {"view", "no-rule"}
    results = load([tmp_path / "kept"])
    assert results.complete
    assert results.header.command == "stridecheck check numpy --rules 'view.*' --programs 3"


def test_rules_may_be_several_globs(run, tmp_path):
    _write(
        tmp_path / "test_mine.py",
        "import stridecheck\n"
        "@stridecheck.parametrize_rules('numpy', programs=20, rules=('view.*', 'expand.*'))\n"
        "def test_(rule): rule.check()\n",
    )
    done, outcomes = run("test_mine.py")
    assert done.returncode == 0, done.stdout
    assert {rule.split(".")[0] for rule in outcomes} == {"view", "expand", "no-rule"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((*SHIPPED, "--stridecheck-adapter", "nmupy"), 4, "did you mean numpy?"),
        (SHIPPED, 2, "which library? give --stridecheck-adapter NAME"),
        ((*SHIPPED, "--stridecheck-adapter", "numpy", "--stridecheck-rules", "vjew.*"), 2, "no rule matches 'vjew.*'"),
        ((*SHIPPED, "--stridecheck-adapter", "numpy", "--stridecheck-timeout", "nan"), 2, "timeout must be from 0.01"),
        (("test_rule.py",), 2, "no rule matches 'transpose.swops'"),
        (("test_option.py",), 2, "unexpected keyword argument 'progams'"),
        (("test_argument.py",), 2, "uses no argument 'rule'"),
    ],
    ids=["adapter", "none", "rules", "timeout", "expected failure", "option", "argument"],
)
def test_mistakes_are_told_at_collection(arguments, code, message, run, tmp_path):
    """What is mistyped ends the run before anything is judged, with one line and no stack trace."""
    mark = "import stridecheck\n@stridecheck.parametrize_rules('numpy'{})\ndef test_({}): pass\n"
    _write(tmp_path / "test_rule.py", mark.format(", expected_failures={'transpose.swops': ''}", "rule"))
    _write(tmp_path / "test_option.py", mark.format(", progams=3", "rule"))
    _write(tmp_path / "test_argument.py", mark.format("", ""))
    done, outcomes = run(*arguments)
    assert done.returncode == code
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "pytest_plugin.py" not in done.stdout + done.stderr
    assert not outcomes


def test_a_library_that_cannot_be_started_fails_every_test(run, tmp_path):
    """The reason is told, and no expected failure hides it."""
    _write(tmp_path / "broken.py", "raise OSError('no device here')\n")
    _write(
        tmp_path / "test_mine.py",
        "import stridecheck\n"
        "@stridecheck.parametrize_rules('broken.py', rules='transpose.*', expected_failures={'*': 'all fail'})\n"
        "def test_(rule): rule.check()\n",
    )
    done, outcomes = run("test_mine.py")
    assert set(outcomes.values()) == {"fail"}
    assert "no device here" in done.stdout


def test_a_library_that_is_not_here_may_be_skipped(run, tmp_path):
    """With `skip_missing`, tests of a library that is not installed are skipped with the reason."""
    _write(tmp_path / "absent.py", "import a_library_that_is_not_here\n")
    _write(
        tmp_path / "test_mine.py",
        "import stridecheck\n"
        "@stridecheck.parametrize_rules('absent.py', rules='transpose.*', skip_missing=True)\n"
        "def test_(rule): rule.check()\n",
    )
    done, outcomes = run("test_mine.py", "-rs")
    assert set(outcomes.values()) == {"not judged"}
    assert "a_library_that_is_not_here" in done.stdout


def test_an_ordinary_session_is_left_alone(run, tmp_path):
    """Where no test is marked, nothing but the plugin is imported, nothing is printed, and no file is made."""
    _write(
        tmp_path / "test_plain.py",
        """
import sys

def test_nothing_heavy_is_imported():
    ours = {name for name in sys.modules if name.split(".")[0] == "stridecheck"}
    assert ours == {"stridecheck", "stridecheck.pytest_plugin"}
    assert not {"numpy", "numba", "click", "hypothesis.strategies", "pandas"} & set(sys.modules)
""",
    )
    done, _ = run("test_plain.py", "-p", "no:hypothesispytest", "-p", "no:benchmark")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stridecheck:" not in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {"test_plain.py", "__pycache__", "outcomes.xml"}
