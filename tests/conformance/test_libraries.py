"""`make libraries`: what cannot be had is named and the others go on; what is red ends it with 1."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from threading import Barrier

import pytest
from stridecheck.ci import libraries
from stridecheck.conformance.discovery import EXTRAS
from stridecheck.conformance.expectations import BUNDLED

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command with made-up outcomes: libraries that cannot be had, and exit codes of checks."""

    def run_(*arguments, absent=(), codes=(), problems=()):
        def environment(library, _):
            return (None, "ERROR: no matching distribution") if library.name in absent else (Path("python"), "")

        monkeypatch.setattr(libraries, "environment", environment)
        monkeypatch.setattr(libraries, "check", lambda one, *_, **__: (dict(codes).get(one.name, 0), "said"))
        monkeypatch.setattr(libraries, "exchange", lambda one, *_, **__: (dict(codes).get("exchange", 0), "handed"))
        monkeypatch.setattr(libraries, "run_findings", lambda one, _: list(dict(problems).get(one.name, ())))
        monkeypatch.setattr(libraries, "forget_what_is_gone", lambda: None)
        monkeypatch.setattr(sys, "argv", ["libraries", *arguments])
        return libraries.main(), capsys.readouterr().out

    return run_


def test_what_cannot_be_had_is_named_and_the_others_go_on(run):
    """A library without a wheel here costs nothing but itself; only where none can be had is the exit code 3."""
    code, said = run("--only", "mlx,jax", absent=("mlx",))
    assert code == 0
    assert "– mlx: cannot be had here, ERROR: no matching distribution" in said
    assert "✓ jax: said" in said
    assert run("--only", "mlx,jax", absent=("mlx", "jax"))[0] == 3


def test_what_is_red_ends_with_one(run):
    """A check that is not as expected, one that broke, and a finding that no longer shows are red."""
    assert run("--only", "mlx", codes={"mlx": 1})[0] == 1
    assert run("--only", "mlx", codes={"mlx": 3})[0] == 1
    code, said = run("--only", "mlx,jax", problems={"jax": ["jax-1: no longer shows"]})
    assert code == 1
    assert "✓ mlx" in said
    assert "✗ jax" in said
    assert "finding jax-1: no longer shows" in said


def test_what_fits_into_no_other_environment_is_handed_to_numpy_in_its_own(run):
    """What arrives there is judged with the library's check."""
    code, said = run("--only", "dpnp")
    assert code == 0
    assert "handed to and by NumPy: handed" in said
    assert run("--only", "dpnp", codes={"exchange": 1})[0] == 1
    assert run("--only", "mlx", codes={"exchange": 1})[0] == 0


def test_a_mode_that_lacks_a_compiler_is_left_out(run):
    """A mode of torch that this machine cannot run is no failure; a list being written is none either."""
    assert run("--only", "torch-compile,mlx", codes={"torch-compile": 3})[0] == 0
    assert run("--only", "mlx", "--update", codes={"mlx": 1})[0] == 0
    assert run("--only", "mlx", "--update", codes={"mlx": 2})[0] == 1


def test_releases_of_torch_are_checked_where_they_are_named(run):
    """Each takes five gigabytes: one that is asked for runs, and none otherwise."""
    assert "torch-2.11.0" not in run()[1]
    assert "✓ torch-2.11.0: said" in run("--only", "torch-2.11.0")[1]
    assert len({release.name for release in libraries.RELEASES}) == len(libraries.RELEASES)


def test_an_unknown_library_is_refused(run):
    """A name that is mistyped must not pass for a library that is as expected."""
    with pytest.raises(SystemExit):
        run("--only", "mxl")


def test_several_are_checked_at_once_and_told_in_their_order(run, monkeypatch):
    """Each waits here until the other one has begun; the one that begins first, the exchange, is told last."""
    both = Barrier(2)
    monkeypatch.setattr(libraries, "_one", lambda *_: libraries.Outcome(True, False, str(both.wait(60) < 2)))
    code, said = run("--only", "exchange,mlx", "--jobs", "2")
    assert code == 0
    assert [line.partition(" (")[0] for line in said.splitlines()] == ["✓ mlx: True", "✓ exchange: True"]
    with pytest.raises(SystemExit):
        run("--only", "mlx", "--jobs", "0")


SLOW = """
import os, subprocess, sys
from pathlib import Path
from stridecheck.ci import libraries

libraries.environment = lambda *_: (Path(sys.executable), "")
libraries.run_findings = lambda *_: subprocess.run(["sleep", "60"], stdout=subprocess.DEVNULL) and []

def check(*_, **__):
    with subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL) as child:
        os.write(1, b"begun\\n")  # from here on it gets every signal
        return child.wait(), ""

libraries.check = check
sys.argv = ["libraries", "--only", "mlx,dask,jax", "--jobs", "2"]
raise SystemExit(libraries.main())
"""


def test_ctrl_c_ends_all_at_once():
    """What runs in other processes gets it, too, and what would come after these, for as long, is not waited for."""
    run = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert [run.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=50)
    with suppress(ProcessLookupError):  # what began in that moment
        os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode == 130


def test_pip_failing_is_told_in_its_words(monkeypatch, tmp_path):
    """What pip says is wrong is the reason, and nothing is raised."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(libraries, "ENVIRONMENTS", tmp_path)
    failed = subprocess.CompletedProcess(
        [], 1, "", "WARNING: slow\nERROR: No matching distribution found for mlx\nmore"
    )
    monkeypatch.setattr(libraries.subprocess, "run", lambda *_, **__: failed)
    mlx = next(library for library in libraries.LIBRARIES if library.name == "mlx")
    assert libraries.environment(mlx) == (None, "ERROR: No matching distribution found for mlx")


def test_another_interpreter_makes_environments(monkeypatch, tmp_path):
    """A release may have wheels for newer ones alone; one that is not there is told, and nothing is raised."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(libraries, "ENVIRONMENTS", tmp_path)
    nobody = str(tmp_path / "python3.99")
    assert libraries.environment(libraries.RELEASES[-1], nobody) == (None, f"{nobody}: No such file or directory")


def test_an_adapter_of_a_third_party_is_short():
    """What the mixins do is not done again: nobody should need more than 120 lines to drive a library."""
    for path in {library.adapter for library in libraries.LIBRARIES if library.extra}:
        lines = (ROOT / "conformance" / "adapters" / f"{path}.py").read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 120, path


def test_every_bundled_adapter_is_checked(monkeypatch):
    """Each extra but CuPy, which needs a GPU, is a library here, with an expectation file; its extra can be read."""
    monkeypatch.chdir(ROOT)
    names = {library.adapter.partition(":")[0] for library in libraries.LIBRARIES}
    assert names == {*EXTRAS} - {"cupy"}
    for library in libraries.LIBRARIES:
        assert (BUNDLED / f"{library.adapter.replace(':', '-')}.toml").is_file()
        if library.extra:
            assert len(libraries.requirements(library.extra)) >= 2


def test_an_environment_with_a_space_in_its_path_compiles_nothing(monkeypatch):
    """Inductor cannot: it is left out with the reason, and all else is run."""
    monkeypatch.setattr(sys, "executable", "/an environment/bin/python")
    by_name = {library.name: library for library in libraries.LIBRARIES}
    assert libraries.environment(by_name["torch-compile"]) == (None, libraries.NO_SPACES)
    assert libraries.environment(by_name["torch-compile-aot-eager"])[1] == ""
    monkeypatch.setattr(sys, "executable", "/environment/bin/python")
    assert libraries.environment(by_name["torch-compile"])[1] == ""


def test_each_finding_of_compiled_code_is_shown_once(monkeypatch):
    """Those that want inductor beside it, the others beside aot_eager: between them all that the page has."""
    monkeypatch.setattr(libraries, "forked", lambda *_: nullcontext())
    shown = []
    monkeypatch.setattr(libraries, "show", lambda one, _: shown.append(one.id))
    for library in libraries.LIBRARIES:
        if library.adapter.startswith("torch:compile"):
            libraries.run_findings(library, Path("python"))
    page = libraries.read_findings(libraries.FINDINGS / "torch-compile.md")
    assert sorted(shown) == sorted(one.id for one in page)


def test_the_exchange_shows_the_findings_of_eager_torch(monkeypatch):
    """In an interpreter of its own each: one of them ends the process."""
    shown = []
    monkeypatch.setattr(libraries, "show", lambda one, _: shown.append(one.id))
    libraries.run_findings(libraries.EXCHANGE, Path("python"))
    assert shown == [one.id for one in libraries.read_findings(libraries.FINDINGS / "torch-cpu.md")] != []
