"""Worker processes against libraries that do their worst: every program gets one answer, in order, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from stridecheck.conformance.capabilities import Capabilities
from stridecheck.conformance.claim import claim_of
from stridecheck.conformance.processes import signal_name
from stridecheck.conformance.program import Input, Program, Ref, Step, Storage
from stridecheck.conformance.runner import AdapterFailed, Broken, Unsupported, Worker

GOOD = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), (Step("neg", (Ref(0),)),))
GUILTY = Program(GOOD.storages, GOOD.inputs, (Step("relu", (Ref(0),)),))

# What a test does at `relu`, on a library that is well otherwise.
LIBRARY = """
import ctypes, os, signal, sys, threading, time
from stridecheck.conformance.adapters.numpy import Numpy
{at_import}

class Mine(Numpy):
    name = "mine"
    forks = {forks}

    def operation(self, step):
        return misbehave if step.op == "relu" else super().operation(step)


def misbehave(*args):
{at_relu}
    return args[0]


adapter = Mine
"""


@pytest.fixture
def library(adapter_file):
    """An adapter file that runs code when it is imported, and when `relu` is called."""

    def make(at_relu="pass", at_import="", forks=True):
        return adapter_file(LIBRARY.format(at_import=at_import, at_relu=textwrap.indent(at_relu, "    "), forks=forks))

    return make


def _answers(worker, programs):
    worker.submit(list(enumerate(programs)))
    answers = list(worker.collect())
    assert [number for number, _ in answers] == list(range(len(programs)))
    return [answer for _, answer in answers]


def _is_well(answer):
    return isinstance(answer, list) and len(answer) == 2 and answer[1].results == (None,)


def _children(pid):
    """Processes that descend from one, itself left out, and what counts Python's shared memory: it stays to the end."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid and b"resource_tracker" not in _command(stat.parent):
            child = int(stat.parent.name)
            found += [child, *_children(child)]
    return found


def _command(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def _family(pid):
    """The processes of a worker whose parent is `pid`: a server, its child, and the one that waits."""
    deadline = time.monotonic() + 10
    while len(found := _children(pid)) != 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def _gone(pids, seconds=10):
    """Wait until none of the processes runs; False if some still does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(_runs(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# While it is being imported.


def test_a_well_library_answers_with_observations(library):
    """Name, versions and claims come back from the worker, and each program's observations in order."""
    with Worker(library()) as worker:
        worker.start()
        assert worker.name == "mine"
        assert worker.versions == {"numpy": np.__version__}
        assert worker.capabilities.aspects
        assert all(_is_well(answer) for answer in _answers(worker, [GOOD] * 5))
        assert worker.restarts == 0


@pytest.mark.parametrize(
    ("at_import", "kind", "says"),
    [
        ("raise RuntimeError('no licence')", "error", "RuntimeError: no licence"),
        ("import no_such_library", "missing", "No module named 'no_such_library'"),
        ("raise ImportError('needs a device')", "missing", "needs a device"),
        ("sys.exit(0)", "error", "SystemExit: 0"),
        ("sys.exit('good bye')", "error", "good bye"),
        ("os._exit(5)", "error", "exited with status 5 while starting"),
        ("os.abort()", "error", "killed by SIGABRT while starting"),
        ("print('last words', file=sys.stderr, flush=True); os._exit(1)", "error", "it last said: last words"),
        ("this is no python", "error", "SyntaxError"),
        ("def adapter(): raise ValueError('half')\n\ndel Numpy", "error", "NameError"),
    ],
)
def test_a_library_that_cannot_be_imported_says_why(at_import, kind, says, library):
    """Whatever keeps an adapter from being loaded is one error with the reason, and no process is left."""
    with Worker(library(at_import=at_import)) as worker:
        with pytest.raises(AdapterFailed) as failed:
            worker.start()
        assert failed.value.kind == kind
        assert says in failed.value.reason
    assert _children(os.getpid()) == []


def test_a_library_that_hangs_while_importing_is_given_up(library):
    """After the start's time limit, the worker is killed, and the reason says how long was waited."""
    says = "gave no answer within 1 s of starting"
    with Worker(library(at_import="time.sleep(60)"), start_timeout=1.0) as w, pytest.raises(AdapterFailed, match=says):
        w.start()
    assert _children(os.getpid()) == []


def test_an_adapter_that_claims_nonsense_is_told(adapter_file):
    """A claim of an aspect or feature that does not exist is an error that lists those that do."""
    source = """
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.capabilities import Capabilities

class Mine(Numpy):
    capabilities = Capabilities(frozenset({"float32"}), features=frozenset({"free_strides"}))

adapter = Mine
"""
    with Worker(adapter_file(source)) as worker, pytest.raises(AdapterFailed, match=r"free_strides.*free-strides"):
        worker.start()


def test_an_adapter_file_may_use_dataclasses_and_be_an_object(adapter_file):
    """A file's module is a real one: dataclasses with postponed annotations work in it, and a ready object is taken."""
    source = """
from __future__ import annotations
from dataclasses import dataclass
from stridecheck.conformance.adapters.numpy import Numpy

@dataclass
class Settings:
    depth: int = 3

made = Numpy()
made.name = f"mine{Settings().depth}"
"""
    with Worker(adapter_file(source) + ":made") as worker:
        worker.start()
        assert worker.name == "mine3"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nmpy", "unknown adapter 'nmpy' (did you mean numpy?); installed: "),
        ("no/such/file.py", "no file no/such/file.py"),
        ("json:no_such", "json:no_such: json has no attribute 'no_such'"),
        ("no_such_module:x", "unknown adapter 'no_such_module:x'"),
        ("torch:abacus", "torch has the variants cpu, meta, fake"),
        ("numpy:fast", "numpy has no variant 'fast'"),
    ],
)
def test_an_adapter_that_does_not_exist_is_unknown(spec, says):
    """A name, file, module or variant that is not there is a mistake of usage, told with what there is."""
    with Worker(spec) as worker:
        with pytest.raises(AdapterFailed) as failed:
            worker.start()
        assert failed.value.kind == "unknown"
        assert says in failed.value.reason


def test_what_an_adapter_file_does_wrong_is_told(adapter_file):
    """A file that is no Python is named with its line; what is no adapter is told what one must be."""
    for source, kind, says in [
        ("import os\n\ndef (:\n", "error", r"SyntaxError: invalid syntax \(\w+\.py:3\)"),
        ("adapter = 5\n", "unknown", r"gives 5, which is no adapter, for it has no name, .*: an adapter is an object"),
        ("adapter = lambda: None\n", "unknown", "gives None, which is no adapter"),
    ]:
        with Worker(adapter_file(source)) as worker, pytest.raises(AdapterFailed, match=says) as failed:
            worker.start()
        assert failed.value.kind == kind


def test_an_interpreter_that_is_not_there_or_is_none(tmp_path):
    """`--python` with something that cannot be run, or is no Python, is an error with its path."""
    for python, kind, says in (("/no/such/python", "unknown", "cannot run"), ("/bin/true", "error", "while starting")):
        with Worker("numpy", python=python) as worker, pytest.raises(AdapterFailed, match=says) as failed:
            worker.start()
        assert failed.value.kind == kind


# While a program runs.

DEATHS = {
    "sys.exit(0)": ("crash", "exited with status"),
    "raise KeyboardInterrupt": ("crash", "exited with status"),
    "os._exit(0)": ("crash", "exited with status 0"),
    "os._exit(3)": ("crash", "exited with status 3"),
    "os._exit(17)": ("crash", "exited with status"),  # what a worker exits with when its parent hangs up
    "ctypes.string_at(0)": ("crash", "killed by SIGSEGV"),
    "os.abort()": ("crash", "killed by SIGABRT"),
    "os.kill(os.getpid(), signal.SIGKILL)": ("crash", "killed by SIGKILL"),
    "print('bye', file=sys.stderr, flush=True); os._exit(3)": ("crash", "status 3; it last said: bye"),
    "time.sleep(60)": ("timeout", "no answer within 1 s"),
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass": ("timeout", "no answer within 1 s"),
    "return type('Odd', (), {'__repr__': lambda self: 1 / 0})()": ("error", "ZeroDivisionError: division by zero"),
    "for fd in range(3, 30):\n    try: os.write(fd, b'garbage\\n')\n    except OSError: pass": ("error", "garbage"),
    "for fd in range(3, 30):\n    try: os.write(fd, b'half a line')\n    except OSError: pass": (
        "error",
        "half a line",
    ),
    "for fd in range(3, 30):\n    try: os.close(fd)\n    except OSError: pass": ("crash", "exited with status"),
}


@pytest.mark.parametrize("forks", [True, False], ids=["forked", "in the server"])
@pytest.mark.parametrize("at_relu", DEATHS)
def test_what_a_library_does_at_one_program_costs_no_other(at_relu, forks, library):
    """The guilty program is a crash, timeout or error with its cause; those before and after it are answered."""
    outcome, says = DEATHS[at_relu]
    with Worker(library(at_relu, forks=forks), program_timeout=1.0) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, GUILTY, GOOD, GOOD])
        again = _answers(worker, [GOOD])
    assert [_is_well(answer) for answer in (*answers, *again)] == [True, False, True, True, True]
    guilty = answers[1]
    assert isinstance(guilty, Broken)
    assert guilty.outcome == outcome
    if forks or "exited" not in says:
        assert says in guilty.reason
    assert _children(os.getpid()) == []


def test_a_library_that_kills_its_server(library):
    """Where not the child but the process above it is killed, a fresh pair takes over."""
    with Worker(library("os.kill(os.getppid(), signal.SIGKILL); time.sleep(5)")) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, GUILTY, GOOD])
    assert [_is_well(answer) for answer in answers] == [True, False, True]
    assert "killed by SIGKILL" in answers[1].reason


def test_many_deaths_in_one_batch(library):
    """Guilty programs at the beginning, in a row and at the end of a batch are each told, and no other is lost."""
    programs = [GUILTY, GOOD, GUILTY, GUILTY, GOOD, GOOD, GUILTY]
    with Worker(library("os._exit(3)")) as worker:
        worker.start()
        answers = _answers(worker, programs)
        assert worker.restarts == 2 * 4  # each is tried alone before it is told
    assert [_is_well(answer) for answer in answers] == [program is GOOD for program in programs]
    assert all(isinstance(a, Broken) for a, p in zip(answers, programs, strict=True) if p is GUILTY)


def test_a_fresh_process_takes_over_at_once(library, tmp_path):
    """The process that goes on after a death was there before it: nothing has to be started, nothing imported."""
    log = tmp_path / "log"
    at_relu = (
        "born = open('/proc/self/stat').read().rpartition(')')[2].split()[19]\n"
        f"open({str(log)!r}, 'a').write(born + ' ' + str(time.clock_gettime(time.CLOCK_BOOTTIME)) + chr(10))\n"
        "os.abort()"
    )
    with Worker(library(at_relu)) as worker:
        worker.start()
        _answers(worker, [GUILTY] * 20)
    # Each is run twice, the second time in the process that took over.
    lines = [[float(word) for word in line.split()] for line in log.read_text().splitlines()]
    assert len(lines) == 2 * 20
    born, died = zip(*lines, strict=True)
    tick = os.sysconf("SC_CLK_TCK")
    assert all(later / tick < death + 1 / tick for death, later in zip(died, born[1:], strict=False))


def test_a_program_that_takes_all_memory(library):
    """One that takes more than it may is a crash with the limit; the others are answered, and the parent is well."""
    with Worker(library("hoard = [bytearray(1 << 20) for _ in range(1 << 14)]"), memory=100 << 20) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, GUILTY, GOOD])
    assert [_is_well(answer) for answer in answers] == [True, False, True]
    assert answers[1] == Broken("crash", "killed: its memory grew by more than 100 MiB")


def test_a_library_that_leaks_is_nobodys_fault(library):
    """Where many programs together fill the memory, a fresh process takes over, and all are answered."""
    leaking = library("hoard.append(bytearray(b'x') * (20 << 20))", at_import="hoard = []")
    with Worker(leaking, memory=100 << 20) as worker:
        worker.start()
        for _ in range(4):
            assert all(isinstance(answer, list) for answer in _answers(worker, [GUILTY] * 7))
        assert worker.restarts >= 3


@pytest.mark.parametrize("before", [0, 1, 5])
def test_the_guilty_program_is_found_among_those_before_it(before, library):
    """A program that brings down a later one is the crash; the one that died is answered as if it had run alone."""
    fine = Program(GOOD.storages, GOOD.inputs, (Step("abs", (Ref(0),)),))
    source = library("global poisoned; poisoned = True", at_import="poisoned = False")
    path = Path(source)
    path.write_text(
        path.read_text().replace(
            "        return misbehave",
            "        if poisoned and step.op == 'abs': os.abort()\n        return misbehave",
        )
    )
    programs = [*[GOOD] * before, GUILTY, GOOD, GOOD, fine, GOOD]
    with Worker(source) as worker:
        worker.start()
        worker.submit(list(enumerate(programs)))
        answers = dict(worker.collect())  # the guilty one is answered twice: the last word counts
    assert [_is_well(answers[number]) for number in range(len(programs))] == [
        program is not GUILTY for program in programs
    ]
    assert answers[before] == Broken("crash", f"killed by SIGABRT, in a later program ({fine.id})")


@pytest.mark.parametrize(("signalled", "told"), [("SIGKILL", False), ("SIGTERM", False), ("SIGSEGV", True)])
def test_a_death_that_does_not_happen_again(signalled, told, library, tmp_path):
    """One from outside is no verdict; one of the library's own is told, with the remark that it happened once."""
    once = f"""
path = {str(tmp_path / "once")!r}
if not os.path.exists(path):
    open(path, "w").close()
    os.kill(os.getpid(), signal.{signalled})
"""
    with Worker(library(once)) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, GUILTY, GOOD])
    assert _is_well(answers[0])
    assert _is_well(answers[2])
    if told:
        assert answers[1] == Broken("crash", f"killed by {signalled}; it did not happen again")
    else:
        assert isinstance(answers[1], list)


def test_an_answer_without_end(library):
    """A process that writes and writes into the protocol is ended before the parent's memory is full."""
    flood = """
while True:
    for fd in range(3, 30):
        try: os.write(fd, b"x" * 60_000)
        except OSError: pass
"""
    with Worker(library(flood), program_timeout=30.0) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, GUILTY, GOOD])
    assert [_is_well(answer) for answer in answers] == [True, False, True]
    assert answers[1] == Broken("error", "the worker wrote 'a line without end' instead of an answer")


HARMLESS = [
    "print('hello', flush=True)",
    "os.write(1, b'from the depth')",
    "ctypes.CDLL(None).puts(b'from C'); ctypes.CDLL(None).fflush(None)",
    "sys.__stdout__.write('{\"number\": 0}\\n'); sys.__stdout__.flush()",
    "os.system('echo from a child')",
    "assert os.read(0, 10) == b''",
    "sys.stdout = None",
    "os.close(1)",
    "signal.signal(signal.SIGINT, signal.SIG_DFL)",
    "for _ in range(200_000): os.write(2, b'x' * 80 + b'\\n')",
    "os.write(2, b'no line end' * 100_000)",
    "os.chdir('/')",
    "sys.setrecursionlimit(60)",
]


@pytest.mark.parametrize("do", HARMLESS)
def test_what_a_library_prints_and_changes_breaks_nothing(do, library):
    """Output of any kind and amount, by Python or C, and changes to the process do not reach the protocol."""
    with Worker(library(do), program_timeout=20.0) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, GUILTY, GOOD])
        assert _is_well(answers[0])
        assert _is_well(answers[2])
        assert isinstance(answers[1], list)
        assert answers[1][1].raised is None
        assert worker.restarts == 0


def test_output_while_importing_breaks_nothing(library):
    """A library that greets on standard output, by Python and by C, is loaded all the same."""
    with Worker(library(at_import="print('welcome'); os.write(1, b'{}\\n'); os.system('echo hi')")) as worker:
        worker.start()
        assert _is_well(_answers(worker, [GOOD])[0])


def test_an_answer_that_is_no_json_is_an_error_of_the_adapter(adapter_file):
    """An adapter that describes a tensor with objects that JSON does not know is told so; the worker lives on."""
    source = """
import numpy as np
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    def describe(self, x):
        dtype, shape, strides, *rest = super().describe(x)
        return (dtype, shape, tuple(map(np.int64, strides)), *rest)

adapter = Mine
"""
    with Worker(adapter_file(source)) as worker:
        worker.start()
        (answer,) = _answers(worker, [GOOD])
        assert isinstance(answer, Broken)
        assert (answer.outcome, worker.restarts) == ("error", 0)
        assert "int64 is not JSON serializable" in answer.reason


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("return (dtype, shape, strides[1:], *rest)", "1 strides for 2 dimensions"),
        ("return (dtype, shape, strides, rest[0], 'T', *rest[2:])", "contiguity has a letter for each"),
        ("return None", "TypeError"),
    ],
)
def test_a_description_that_does_not_fit_together_is_an_error_of_the_adapter(change, says, adapter_file):
    """A description without sense is told as the adapter's mistake, never judged, and never ends the run."""
    source = f"""
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    def describe(self, x):
        dtype, shape, strides, *rest = super().describe(x)
        {change}
    def tensor(self, *args):
        return super().tensor(*args)

adapter = Mine
"""
    with Worker(adapter_file(source)) as worker:
        worker.start()
        (answer,) = _answers(worker, [GOOD])
        assert isinstance(answer, Broken)
        assert answer.outcome == "error"
        assert says in answer.reason or "ProtocolError" in answer.reason or "zip" in answer.reason


def test_a_program_that_the_library_does_not_support(library):
    """An operation without a template is unsupported for that program alone."""
    program = Program(GOOD.storages, GOOD.inputs, (*GOOD.steps, Step("is_set_to", (Ref(0), Ref(0)))))
    with Worker(library()) as worker:
        worker.start()
        answers = _answers(worker, [GOOD, program, GOOD])
    assert answers[1] == Unsupported("op:is_set_to")
    assert _is_well(answers[2])


def test_an_empty_batch_has_no_answers(library):
    """Nothing sent, nothing answered, and the worker goes on."""
    with Worker(library()) as worker:
        worker.start()
        assert _answers(worker, []) == []
        assert _is_well(_answers(worker, [GOOD])[0])


def test_a_batch_larger_than_any_pipe(library):
    """Programs and observations of many megabytes do not block each other."""
    large = Program((Storage(1 << 20),), (Input("float32", (64, 1024), (1024, 1)),), (Step("neg", (Ref(0),)),))
    literal = Program((Storage(1 << 20, "literal", data=bytes(1 << 20)),), large.inputs, large.steps)
    with Worker(library()) as worker:
        worker.start()
        assert all(_is_well(answer) for answer in _answers(worker, [large, literal] * 4))


# Scripts.


def test_a_script_that_cannot_be_made_costs_nothing(adapter_file):
    """An adapter whose printing goes wrong gets no script, and the next batch is answered as ever."""
    source = """
import os
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    def write_input(self, name, item, storage):
        {}

adapter = Mine
"""
    for number, (how, restarts) in enumerate([("raise KeyError('x')", 0), ("return 3", 0), ("os._exit(9)", 1)]):
        with Worker(adapter_file(source.format(how), f"mine{number}.py")) as worker:
            worker.start()
            assert worker.script(GOOD, claim_of(GOOD, None, [], seconds=1.0)) == ""
            assert _is_well(_answers(worker, [GOOD])[0])
            assert worker.restarts == restarts


# Processes that are left.


def test_stopping_leaves_no_process(library):
    """After `stop`, also of a worker in the middle of a batch that hangs, no process is left."""
    worker = Worker(library("time.sleep(60)"))
    worker.start()
    processes = _family(os.getpid())
    worker.submit([(0, GUILTY)])
    worker.stop()
    assert _gone(processes)
    worker.stop()  # a second time does nothing


@pytest.mark.parametrize("at_relu", ["pass", "time.sleep(60)"], ids=["idle", "busy"])
def test_a_killed_parent_leaves_no_process(at_relu, library, tmp_path):
    """Where the parent is killed with SIGKILL, server and child end by themselves, busy or not."""
    script = f"""
import sys, time
from stridecheck.conformance.runner import Worker
from stridecheck.conformance.program import *
worker = Worker({library(at_relu)!r})
worker.start()
worker.submit([(0, Program.from_json({GUILTY.to_json()!r}))])
print("ready", flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        assert parent.stdout.readline() == b"ready\n"
        processes = _family(parent.pid)
        parent.kill()
        parent.wait()
    assert _gone(processes)


def test_return_codes_in_words():
    """A status says whether a process exited or which signal ended it, also one without a name."""
    assert signal_name(3) == "exited with status 3"
    assert signal_name(-signal.SIGSEGV) == "killed by SIGSEGV"
    assert signal_name(-200) == "killed by signal 200"


# An environment of its own.


def test_a_foreign_environment_needs_nothing_but_the_library(tmp_path, monkeypatch):
    """`--python` works with an interpreter that has NumPy and nothing else: not the suite, nor what it depends on."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    site = next((tmp_path / "env").glob("lib/python*/site-packages"))
    package = Path(np.__file__).parent
    for part in (package, package.with_name("numpy.libs")):
        if part.is_dir():
            (site / part.name).symlink_to(part)
    python = str(tmp_path / "env" / "bin" / "python")
    probe = "import numpy, importlib.util as u; print([n for n in ('click', 'stridecheck', 'numba') if u.find_spec(n)])"
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"
    with Worker("numpy", python=python) as worker:
        worker.start()
        assert worker.versions == {"numpy": np.__version__}
        assert _is_well(_answers(worker, [GOOD])[0])
    for name, package_name in (("torch", "'stridecheck[torch]'"), ("cupy", "'stridecheck[cupy]'"), ("reference", "")):
        with Worker(name, python=python) as worker:
            with pytest.raises(AdapterFailed) as failed:
                worker.start()
            assert failed.value.kind == "missing"
            assert f"is not installed here: pip install {package_name}" in failed.value.reason


@pytest.mark.parametrize(("field", "known"), [("dtypes", "bfloat16"), ("features", "guarded"), ("aspects", "sharing")])
def test_claims_are_checked(field, known):
    """A capability by an unknown name is refused with the names there are, and claims survive JSON."""
    good = {"dtypes": frozenset({"float32"}), "features": frozenset(), "aspects": frozenset({"shape"})}
    claims = Capabilities(**{**good, field: frozenset({known})})
    assert Capabilities.from_json(claims.to_json()) == claims
    with pytest.raises(ValueError, match=rf"{field} has nonsense, which is none of .*{known}"):
        Capabilities(**{**good, field: frozenset({"nonsense"})})


def test_a_process_that_dies_leaves_no_files(library, tmp_path, monkeypatch):
    """The folders of programs with files go after a death, while the library runs on, and all of them at the end."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    guilty = replace(GUILTY, storages=(*GUILTY.storages, Storage(8, backing="file")))
    with Worker(library("os._exit(3)")) as worker:
        worker.start()
        assert [_is_well(answer) for answer in _answers(worker, [guilty, guilty, GOOD])] == [False, False, True]
        assert not list(tmp_path.glob("stridecheck-*/*/*"))
        assert len(list(tmp_path.glob("stridecheck-*/*"))) <= 1
    assert not list(tmp_path.glob("stridecheck-*"))
