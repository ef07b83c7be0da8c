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
from typing import get_args

import numpy as np
import pytest
from stridecheck.conformance import errors
from stridecheck.conformance.answers import AdapterFailed, Broken, Unsupported
from stridecheck.conformance.capabilities import Capabilities
from stridecheck.conformance.claim import claim_of
from stridecheck.conformance.processes import signal_name
from stridecheck.conformance.program import Input, Program, Ref, Step, Storage
from stridecheck.conformance.runner import Worker
from stridecheck.reference_impl.errors import Kind

from .misbehaving import GOOD, GUILTY, answers_of, children_of, is_well


def _family(pid):
    """The processes of a worker whose parent is `pid`: a server, its child, and the one that waits."""
    deadline = time.monotonic() + 10
    while len(found := children_of(pid)) != 3:
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
    "os.write(2, b'terminate called\\n  what():  no such storage\\nframe #0: f + 1\\n'); os.abort()": (
        "crash",
        "SIGABRT; it last said: what():  no such storage",
    ),
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
        answers = answers_of(worker, [GOOD, GUILTY, GOOD, GOOD])
        again = answers_of(worker, [GOOD])
    assert [is_well(answer) for answer in (*answers, *again)] == [True, False, True, True, True]
    guilty = answers[1]
    assert isinstance(guilty, Broken)
    assert guilty.outcome == outcome
    if forks or "exited" not in says:
        assert says in guilty.reason
    assert children_of(os.getpid()) == []


def test_a_library_that_forks_and_goes_on_in_both_processes(library):
    """Two answer one batch: what comes twice, or belongs to a batch before, is taken for no other program's answer."""
    longer = Program(GOOD.storages, GOOD.inputs, (*GOOD.steps, *GOOD.steps))
    with Worker(library("os.fork()"), program_timeout=2.0) as worker:
        worker.start()
        for _ in range(3):
            programs = [GOOD, GUILTY, longer, GOOD, longer]
            answers = answers_of(worker, programs)
            assert is_well(answers[0])
            for program, answer in zip(programs, answers, strict=True):
                assert isinstance(answer, Broken) or len(answer) == 1 + len(program.steps)
        assert is_well(*answers_of(worker, [GOOD]))


def test_an_adapter_may_ask_for_more_time(library):
    """A library that compiles each program says so itself, however little time it is given."""
    with Worker(library("time.sleep(0.6)", at_import="Numpy.patience = 20.0"), program_timeout=0.3) as worker:
        worker.start()
        assert not any(isinstance(answer, Broken) for answer in answers_of(worker, [GOOD, GUILTY, GOOD]))


def test_a_library_that_kills_its_server(library):
    """Where not the child but the process above it is killed, a fresh pair takes over."""
    with Worker(library("os.kill(os.getppid(), signal.SIGKILL); time.sleep(5)")) as worker:
        worker.start()
        answers = answers_of(worker, [GOOD, GUILTY, GOOD])
    assert [is_well(answer) for answer in answers] == [True, False, True]
    assert "killed by SIGKILL" in answers[1].reason


def test_many_deaths_in_one_batch(library):
    """Guilty programs at the beginning, in a row and at the end of a batch are each told, and no other is lost."""
    programs = [GUILTY, GOOD, GUILTY, GUILTY, GOOD, GOOD, GUILTY]
    with Worker(library("os._exit(3)")) as worker:
        worker.start()
        answers = answers_of(worker, programs)
        assert worker.restarts == 2 * 4  # each is tried alone before it is told
    assert [is_well(answer) for answer in answers] == [program is GOOD for program in programs]
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
        answers_of(worker, [GUILTY] * 20)
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
        answers = answers_of(worker, [GOOD, GUILTY, GOOD])
    assert [is_well(answer) for answer in answers] == [True, False, True]
    assert answers[1] == Broken("crash", "killed: its memory grew by more than 100 MiB")


def test_a_library_that_leaks_is_nobodys_fault(library):
    """Where many programs together fill the memory, a fresh process takes over, and all are answered."""
    leaking = library("hoard.append(bytearray(b'x') * (20 << 20))", at_import="hoard = []")
    with Worker(leaking, memory=100 << 20) as worker:
        worker.start()
        for _ in range(4):
            assert all(isinstance(answer, list) for answer in answers_of(worker, [GUILTY] * 7))
        assert worker.restarts >= 3


@pytest.mark.parametrize(
    ("offset", "is_renewed"), [(-1, True), (0, False)], ids=["before its storage", "inside its storage"]
)
def test_what_wrote_outside_a_storage_takes_no_other_batch(offset, is_renewed, library):
    """Memory that a library has spoilt is not what later programs are judged in."""
    write = f"""
import ctypes
at = args[0].__array_interface__["data"][0]
ctypes.memset(at + {offset}, 7, 1)
"""
    guarded = replace(GUILTY, storages=(replace(GUILTY.storages[0], backing="guarded"),))
    with Worker(library(write)) as worker:
        worker.start()
        answers_of(worker, [guarded, GOOD])
        assert worker.restarts == 0
        assert is_well(answers_of(worker, [GOOD])[0])
        assert worker.restarts == is_renewed


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
        answers = answers_of(worker, [GOOD, GUILTY, GOOD])
    assert [is_well(answer) for answer in answers] == [True, False, True]
    assert answers[1] == Broken("error", "the worker wrote 'a line without end' instead of an answer")


BREAKS = {
    "at once": "raise ValueError('no such layout')",
    "below": "try:\n    {}['layout']\nexcept KeyError as error:\n    raise ValueError('no layout') from error",
    "in a circle": "error = ValueError('round')\nraise error from error",
}


@pytest.mark.parametrize("breaks", BREAKS)
def test_an_error_of_an_adapter_points_to_the_line_that_it_came_from(breaks, adapter_file):
    """Not to the suite's, which asked for the input, nor to where it was raised again."""
    source = f"""
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    def tensor(self, *_):
{textwrap.indent(BREAKS[breaks], " " * 8)}

adapter = Mine
"""
    wanted = "{}['layout']" if breaks == "below" else "raise "
    line = next(number for number, text in enumerate(source.splitlines(), 1) if wanted in text)
    with Worker(adapter_file(source)) as worker:
        worker.start()
        (answer,) = answers_of(worker, [GOOD])
    assert answer.outcome == "error"
    assert answer.reason.startswith("ProtocolError: input 0 could not be built: ValueError: ")
    assert answer.reason.endswith(f" (mine.py:{line})")


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
        answers = answers_of(worker, [GOOD, GUILTY, GOOD])
        assert is_well(answers[0])
        assert is_well(answers[2])
        assert isinstance(answers[1], list)
        assert answers[1][1].raised is None
        assert worker.restarts == 0


def test_output_while_importing_breaks_nothing(library):
    """A library that greets on standard output, by Python and by C, is loaded all the same."""
    with Worker(library(at_import="print('welcome'); os.write(1, b'{}\\n'); os.system('echo hi')")) as worker:
        worker.start()
        assert is_well(answers_of(worker, [GOOD])[0])


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
        (answer,) = answers_of(worker, [GOOD])
        assert isinstance(answer, Broken)
        assert (answer.outcome, worker.restarts) == ("error", 0)
        assert "of type int64: numbers and text must be Python's" in answer.reason


def _error_of(adapter_file, method, program):
    """Why a program is an error of NumPy's adapter with another method."""
    source = f"""
from stridecheck.conformance.adapters.numpy import Numpy

class Mine(Numpy):
    {method}

adapter = Mine
"""
    with Worker(adapter_file(source)) as worker:
        worker.start()
        (answer,) = answers_of(worker, [program])
    assert isinstance(answer, Broken)
    assert answer.outcome == "error"
    return answer.reason


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("return (dtype, shape, strides[1:], *rest)", "zip() argument"),
        ("return (dtype, shape, strides, rest[0], 'T', *rest[2:])", "contiguity has a letter T, F or -"),
        ("return (dtype, shape, strides, rest[0], 'yes', *rest[2:])", "contiguity has a letter T, F or -"),
        ("return (dtype, tuple(n / 1 for n in shape), strides, *rest)", "shape must be whole numbers"),
        ("return (dtype, shape, tuple(n + 0.0 for n in strides), *rest)", "strides must be whole numbers"),
        ("return (dtype, shape, strides, '0', *rest[1:])", "but the adapter built (3, 1) and 0"),
        ("return (dtype, shape, strides, *rest[:3], 7)", "flags must be text"),
        ("return (7, shape, strides, *rest)", "but the adapter built (7, (2, 3))"),
    ],
)
def test_a_description_that_does_not_fit_together_is_an_error_of_the_adapter(change, says, adapter_file):
    """A description without sense is told as the adapter's mistake, never judged, and never ends the run."""
    describe = f"""def describe(self, x):
        dtype, shape, strides, *rest = super().describe(x)
        {change}"""
    assert says in _error_of(adapter_file, describe, GOOD)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("def describe(self, x): return None", "describe answered None, which is not a tuple of dtype"),
        ("def describe(self, x): return super().describe(x)[:3]", "describe answered ('float32', (2, 3), (3, 1)),"),
        ("def describe(self, x): a, *c = super().describe(x); return a, [], *c[1:]", "describe answered ('float32', ["),
        ("def bytes_of(self, x): return 'abc'", "bytes_of answered a str"),
        ("def bytes_of(self, x): return bytearray(super().bytes_of(x))", "bytes_of answered a bytearray"),
        ("def error_kind(self, error): return 'sizes'", "error_kind answered 'sizes', which is not None or one of"),
    ],
)
def test_a_function_of_the_adapter_that_answers_what_it_may_not_is_named(change, says, adapter_file):
    """No kind of error is made up, and no text is taken for bytes: the adapter is wrong, not its library."""
    assert says in _error_of(adapter_file, change, replace(GOOD, steps=(Step("view", (Ref(0), (77,))),)))


def test_an_adapter_may_tell_the_kinds_of_errors_that_the_oracle_does():
    """Both lists are one: the adapter's process, which has the standard library alone, cannot import the oracle's."""
    assert get_args(Kind) == errors.KINDS


def test_a_program_that_the_library_does_not_support(library):
    """An operation without a template is unsupported for that program alone, and what came before is told."""
    program = Program(GOOD.storages, GOOD.inputs, (*GOOD.steps, Step("is_set_to", (Ref(0), Ref(0)))))
    with Worker(library()) as worker:
        worker.start()
        answers = answers_of(worker, [GOOD, program, GOOD])
    assert isinstance(answers[1], Unsupported)
    assert answers[1].reason == "op:is_set_to"
    *before, last = answers[1].seen
    assert is_well(before)
    assert last.skipped
    assert is_well(answers[2])


def test_an_empty_batch_has_noanswers_of(library):
    """Nothing sent, nothing answered, and the worker goes on."""
    with Worker(library()) as worker:
        worker.start()
        assert answers_of(worker, []) == []
        assert is_well(answers_of(worker, [GOOD])[0])


def test_a_batch_larger_than_any_pipe(library):
    """Programs and observations of many megabytes do not block each other."""
    large = Program((Storage(1 << 20),), (Input("float32", (64, 1024), (1024, 1)),), (Step("neg", (Ref(0),)),))
    literal = Program((Storage(1 << 20, "literal", data=bytes(1 << 20)),), large.inputs, large.steps)
    with Worker(library()) as worker:
        worker.start()
        assert all(is_well(answer) for answer in answers_of(worker, [large, literal] * 4))


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
            assert is_well(answers_of(worker, [GOOD])[0])
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
        assert is_well(answers_of(worker, [GOOD])[0])
    with Worker("reference", python=python) as worker:
        worker.start()
        assert is_well(answers_of(worker, [GOOD])[0])
        assert "bfloat16" not in worker.capabilities.dtypes  # which NumPy lacks
    for name, package_name in (("torch", "'torch>=2.9'"), ("cupy", "'cupy-cuda12x>=14'")):
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
        assert [is_well(answer) for answer in answers_of(worker, [guilty, guilty, GOOD])] == [False, False, True]
        assert not list(tmp_path.glob("stridecheck-*/*/*"))
        assert len(list(tmp_path.glob("stridecheck-*/*"))) <= 1
    assert not list(tmp_path.glob("stridecheck-*"))
