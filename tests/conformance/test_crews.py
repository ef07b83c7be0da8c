"""Runs on several processes, shards and clusters: the same verdicts as alone, also where processes die on the way."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from stridecheck.conformance import crews
from stridecheck.conformance.answers import AdapterFailed
from stridecheck.conformance.check import Options, check
from stridecheck.conformance.crews import SchedulerError
from stridecheck.conformance.processes import ctrl_c_later, ignore_ctrl_c
from stridecheck.conformance.program import Input, Program, Ref, Step, Storage
from stridecheck.conformance.survival import STRIDECHECK, descendants, verdicts
from stridecheck.conformance.units import Drawing, Unit, from_json, plan, to_json, units_of
from stridecheck.reports.records import Adapter, Concluded, read_results
from stridecheck.reports.run import load

from .conftest import prefix_with

PROGRAMS, EXAMPLES = 300, 150
OPTIONS = {"programs": PROGRAMS, "examples": EXAMPLES, "seed": 5}
ARGUMENTS = ("numpy", "--programs", str(PROGRAMS), "--examples", str(EXAMPLES), "--seed", "5")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The verdicts of a run in one process."""
    out = tmp_path_factory.mktemp("alone")
    check(Options(("numpy",), **OPTIONS), out)
    return verdicts(out)


# Units.


def test_parts_travel_as_json():
    """A unit and a drawing come back from JSON as what they were; what the oracle did with them stays behind."""
    program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), (Step("neg", (Ref(0),)),))
    for part in (
        Unit("corpus:0-1", (program,)),
        Unit("opinfo:neg:0-1", (program,), from_corpus=False),
        Drawing(3, 0, 9),
    ):
        assert from_json(to_json(part)) == part
    assert from_json(to_json(Unit("corpus:0-1", (program,), ([],)))) == Unit("corpus:0-1", (program,))


def test_shards_share_a_plan(oracle):
    """Every unit of a run is in one shard and in no other, and a drawing is the same programs wherever it is drawn."""
    program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), (Step("neg", (Ref(0),)),))
    programs = [program] * 700
    whole = list(plan(Options(("numpy",), examples=500), programs))
    shards = [list(plan(Options(("numpy",), examples=500, shard=(number, 3)), programs)) for number in (1, 2, 3)]
    assert Counter(part.name for shard in shards for part in shard) == Counter(part.name for part in whole)
    assert len({part.name for part in whole}) == len(whole) == 6 + 4
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
    assert Drawing(3, 0, 9).draw(oracle) == Drawing(3, 0, 9).draw(oracle)
    assert Drawing(3, 4, 9).draw(oracle).programs == Drawing(3, 0, 9).draw(oracle).programs[4:]
    assert [len(unit.programs) for unit in units_of(programs, "corpus")] == [128] * 5 + [60]


# Whole runs.


@pytest.mark.parametrize("where", [{"workers": 2}, {"workers": 3, "adapters": ("numpy", "reference")}], ids=str)
def test_several_processes_find_out_what_one_does(where, alone, tmp_path):
    """With `workers`, every unit is there once with the same counts, and every failure."""
    options = {"adapters": ("numpy",), **where, **OPTIONS}
    code = check(Options(**options), tmp_path)
    found = verdicts(tmp_path)
    assert code == found.exit_code == alone.exit_code
    if len(options["adapters"]) == 1:
        assert found == alone
    assert found.units >= alone.units
    assert found.failures == alone.failures  # the reference has none
    assert _processes(os.getpid(), "spawn_main") == []


def test_a_cluster_that_is_there_already(alone, tmp_path):
    """An existing cluster is used by its address, one run after the other, and keeps no library when they are over."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster:
        for name in ("first", "second"):
            done = subprocess.run(
                [*STRIDECHECK, "check", *ARGUMENTS, "--scheduler", cluster.scheduler_address, "--out", tmp_path / name],
                capture_output=True, text=True, check=False, timeout=300,
            )  # fmt: skip
            assert done.returncode == alone.exit_code, done.stderr
            assert verdicts(tmp_path / name) == alone
        assert _processes(os.getpid(), "conformance/worker.py") == []


def _processes(pid, marked):
    """Processes below one whose command line has a mark."""
    found = []
    for child in descendants(pid):
        try:
            line = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if marked in line:
            found.append(child)
    return found


@pytest.mark.parametrize("victim", ["spawn_main", "conformance/worker.py"], ids=["process", "library"])
@pytest.mark.parametrize("where", [(), ("--scheduler", "local")], ids=["workers", "cluster"])
def test_a_process_that_is_killed_loses_nothing(where, victim, alone, tmp_path):
    """A process that judges, or the library below it, is killed in the middle: nothing is lost or counted twice."""
    if where:
        pytest.importorskip("distributed")
    run = subprocess.Popen(
        [*STRIDECHECK, "check", *ARGUMENTS, "--workers", "2", *where, "--out", str(tmp_path)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    path = tmp_path / "results.jsonl"
    deadline = time.monotonic() + 120
    while not path.exists() or b'"unit"' not in path.read_bytes():
        assert time.monotonic() < deadline
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.01)
    os.kill(_processes(run.pid, victim)[-1], signal.SIGKILL)
    _, error = run.communicate(timeout=300)
    assert run.returncode == alone.exit_code, error
    assert verdicts(tmp_path) == alone


def test_ctrl_c_waits_while_a_process_begins():
    """A process that has not come to ignore Ctrl-C yet, for it is importing, does not die of it."""
    process = multiprocessing.get_context("spawn").Process(target=ignore_ctrl_c)
    with ctrl_c_later():
        process.start()
    os.kill(process.pid, signal.SIGINT)
    process.join(timeout=60)
    assert process.exitcode == 0


def test_a_killed_run_leaves_no_process(tmp_path):
    """Where the run itself is killed, its processes and their libraries end by themselves."""
    run = subprocess.Popen(
        [*STRIDECHECK, "check", "numpy", "--seconds", "100", "--workers", "2", "--out", str(tmp_path)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while len(_processes(run.pid, "conformance/worker.py")) < 6:  # a server, its child and a spare for each
        assert time.monotonic() < deadline
        time.sleep(0.05)
    below = descendants(run.pid)
    run.kill()
    run.wait()
    while any(Path(f"/proc/{pid}").exists() for pid in below):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_shards_together_are_the_run(alone, tmp_path):
    """Three shards, read as one run, have the verdicts of a run that was not cut."""
    for number in (1, 2, 3):
        check(Options(("numpy",), **OPTIONS, shard=(number, 3)), tmp_path / str(number))
    found = [verdicts(tmp_path / str(number)) for number in (1, 2, 3)]
    assert sum((one.units for one in found), Counter()) == alone.units
    assert sum((one.failures for one in found), Counter()) == alone.failures
    run = load([tmp_path])
    assert run.complete
    assert run.exit_code == alone.exit_code
    assert sum(unit.programs for unit in run.units) == PROGRAMS + EXAMPLES


DYING = """
import os
from stridecheck.conformance.adapters.numpy import Numpy

class Dying(Numpy):
    name = "dying"
    forks = False

    def __init__(self):
        super().__init__()
        if os.path.exists({gone!r}):
            raise RuntimeError("it has gone")

    def operation(self, step):
        if step.op == "transpose":
            open({gone!r}, "w").close()
            os._exit(3)
        return super().operation(step)

adapter = Dying
"""


def test_a_library_that_is_lost_elsewhere(adapter_file, tmp_path):
    """A library that dies and cannot be started again in another process is told as in this one; the next goes on."""
    spec = adapter_file(DYING.format(gone=str(tmp_path / "gone")))
    options = Options(
        (spec, "no.such:adapter", "numpy"), programs=prefix_with("transpose", 6), workers=2, python=sys.executable
    )
    assert check(options, tmp_path) == 1  # it had crashed
    states = [(r.name, r.status) for r in read_results(tmp_path / "results.jsonl") if isinstance(r, Adapter)]
    assert states == [("dying", "ready"), ("dying", "failed"), ("no.such:adapter", "failed"), ("numpy", "ready")]


class FakeSession:
    """A session that starts nothing, and fails in the part that is named `dead`."""

    def __init__(self, options, spec):
        self.introduction, self.is_stopped = Adapter(spec, "ready"), False

    def run(self, parts):
        """One record for each part."""
        for part in parts:
            if part.seed < 0:
                raise AdapterFailed("error", "dead")
            yield [Concluded(part.name)]

    def stop(self):
        """Note that it was ended."""
        self.is_stopped = True


def test_a_run_that_ends_leaves_the_sessions_of_others(monkeypatch):
    """Two runs with the same options in one process: the end of one ends its own sessions, and what it is still at."""
    monkeypatch.setattr(crews, "Session", FakeSession)
    sessions = crews._Sessions()
    ours, other = (crews.Elsewhere(Options(("numpy",)), lambda: None, 1, ()).run_id for _ in range(2))
    with ThreadPoolExecutor(1) as thread, sessions.taken(ours, "numpy") as mine:

        def another():
            with sessions.taken(other, "numpy") as session:
                return session

        theirs = thread.submit(another).result()
        sessions.close(ours)
        assert not mine.is_stopped  # a task has it
        assert not theirs.is_stopped
        assert thread.submit(another).result() is theirs
    assert mine.is_stopped
    sessions.close(other)
    assert theirs.is_stopped


def test_a_library_that_fails_for_good_ends_its_tasks(monkeypatch):
    """What was done beside the task that failed is recorded, and what waits is not begun."""
    begun = []

    class Executor:
        """Two tasks are done at once, all others wait for ever."""

        def submit(self, task, *arguments):
            begun.append(Future())
            if len(begun) <= 2:
                begun[-1].set_result(task(*arguments))
            return begun[-1]

    monkeypatch.setattr(crews, "Session", FakeSession)
    place = crews.Elsewhere(Options(("numpy",)), Executor, 2, ())
    found = []
    with pytest.raises(AdapterFailed, match="dead"):
        found.extend(place.run("numpy", [Drawing(seed, 0, 1) for seed in (-1, 0, *range(1, 50))]))
    assert found == [[Concluded(Drawing(seed, 0, 1).name)] for seed in (1, 2)]
    assert [future.cancelled() for future in begun] == [False, False, True, True]


def test_a_scheduler_that_goes_is_told():
    """Where a cluster goes in the middle of a run, it is told how to go on, and not that nothing can be ended there."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:

        def run():
            options = Options(("numpy",), scheduler=cluster.scheduler_address)
            with crews.crews(options) as places, places.crew("numpy") as crew:
                for _ in crew.run(Drawing(seed, 0, 20) for seed in range(100)):
                    cluster.close()

        with pytest.raises(SchedulerError, match="--resume"):
            run()


def test_a_scheduler_that_is_not_there(tmp_path):
    """An address that nobody listens at is told, before anything is written."""
    pytest.importorskip("distributed")
    with pytest.raises(SchedulerError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        check(Options(("numpy",), programs=10, scheduler="tcp://127.0.0.1:9"), tmp_path)
    assert not (tmp_path / "results.jsonl").exists()
