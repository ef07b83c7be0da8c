"""The parent's side of a worker: starts it, sends batches, collects answers, survives its death.

Whatever a library does (segfault, exit, hang, garbage), each program gets exactly one answer.
"""

from __future__ import annotations

import collections
import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from . import observation
from .capabilities import Capabilities
from .observation import Observation
from .program import Program
from .repro import Claim

WORKER = Path(__file__).with_name("worker.py")
PROGRAM_TIMEOUT = 10.0
"""Seconds that one program may take before its worker is killed."""
START_TIMEOUT = 90.0
"""Seconds that a library may take to import."""
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The program needs what the library does not claim."""

    reason: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The program could not be judged: `outcome` is error, crash or timeout."""

    outcome: str
    reason: str


Answer: TypeAlias = list[Observation] | Unsupported | Broken


class AdapterFailed(Exception):
    """The adapter could not be started.

    `kind` is `unknown` (no such adapter), `missing` (library or device not here) or `error` (raised, hung, crashed).
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason


def signal_name(status: int) -> str:
    """What ended a process, in words, from its return code.

    >>> signal_name(-11)
    'killed by SIGSEGV'
    """
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


class Worker:
    """One library in a process of its own.

    `start` must succeed before `submit`; one batch is under way at a time, and `collect` yields an answer for each of
    its programs. As a context manager it ends its processes.
    """

    def __init__(
        self,
        spec: str,
        *,
        python: str = sys.executable,
        program_timeout: float = PROGRAM_TIMEOUT,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        self.spec, self.python = spec, python
        self.program_timeout, self.start_timeout = program_timeout, start_timeout
        self.name = spec
        self.versions: Mapping[str, str] = {}
        self.capabilities = Capabilities(frozenset())
        self.restarts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._child: int | None = None
        self._buffer = b""
        self._pending: dict[int, Program] = {}
        self._forks = True
        self._drainer: threading.Thread | None = None
        self._stderr: collections.deque[str] = collections.deque(maxlen=40)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and learn what the adapter claims.

        Raises
        ------
        AdapterFailed
            It could not be found, imported or used here.
        """
        try:
            self._process = subprocess.Popen(
                [self.python, str(WORKER), self.spec],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise AdapterFailed("unknown", f"cannot run {self.python}: {error.strerror}") from None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._process.stdout, _F_SETPIPE_SZ, _PIPE_BYTES)
        self._buffer = b""
        self._drainer = threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True)
        self._drainer.start()
        message = self._receive(time.monotonic() + self.start_timeout)
        if message is _SILENT:
            self.stop()
            raise AdapterFailed("error", f"{self.spec}: gave no answer within {self.start_timeout:g} s of starting")
        if message is None:
            status = self._process.wait()
            raise AdapterFailed("error", f"{self.spec}: {signal_name(status)} while starting{self._last_words()}")
        if not isinstance(message, dict):
            self.stop()
            raise AdapterFailed("error", f"{self.spec}: wrote {message[:100]!r} while starting")
        if "failed" in message:
            self.stop()
            raise AdapterFailed(message["failed"], message["reason"])
        self.name, self.versions = message["ready"], message["versions"]
        self.capabilities = Capabilities.from_json(message["capabilities"])
        self._forks = message["forks"]
        self._await_child()

    def _drain(self, stream: Any) -> None:
        # A library may print without end: only the last lines are kept.
        with stream:
            for line in iter(lambda: stream.readline(4096), b""):
                self._stderr.append(line.decode(errors="replace").rstrip())

    def _last_words(self) -> str:
        time.sleep(0.05)  # what a dying process wrote may still be on its way through the pipe
        words = [line for line in self._stderr if line.strip()]
        return f"; it last said: {words[-1][:300]}" if words else ""

    def _await_child(self) -> None:
        message = self._receive(time.monotonic() + self.start_timeout)
        if not isinstance(message, dict) or "child" not in message:
            raise AdapterFailed("error", f"{self.spec}: its worker process did not come up{self._last_words()}")
        self._child = message["child"]

    def stop(self) -> None:
        """End the processes; quiet where they are gone."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._kill_child()
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()
        if self._drainer is not None:
            self._drainer.join(timeout=1)  # unless the library left a process behind that still writes

    def _kill_child(self) -> None:
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)

    def submit(self, batch: Sequence[tuple[int, Program]]) -> None:
        """Send programs, each with a number that its answer will carry; the batch before must be collected."""
        assert not self._pending, "a batch is under way"
        self._pending = dict(batch)
        self._send()

    def _send(self) -> None:
        if not self._pending:
            return
        assert self._process is not None
        assert self._process.stdin is not None
        batch = [[number, program.to_json(tags=False)] for number, program in self._pending.items()]
        with contextlib.suppress(BrokenPipeError):  # found out, and said, by collect
            self._process.stdin.write(json.dumps({"batch": batch}, separators=(",", ":")).encode() + b"\n")
            self._process.stdin.flush()

    def collect(self) -> Iterator[tuple[int, Answer]]:
        """Answers of the submitted batch, in the order sent; programs after a death go to a fresh process.

        Raises
        ------
        AdapterFailed
            There is no fresh process to be had; answers before that are given first.
        """
        while self._pending:
            message = self._receive(time.monotonic() + self.program_timeout)
            number = next(iter(self._pending))
            del self._pending[number]
            if isinstance(message, dict) and message.get("number") == number:
                yield number, _answer(message)
                continue
            answer, respawned = self._diagnose(message)
            try:
                self._revive(respawned)
            except AdapterFailed:
                yield number, answer  # what ended it is known, though it is for good
                raise
            self._send()
            yield number, answer

    def script(self, program: Program, claim: Claim) -> str:
        """A standalone script, in the library's own idiom, that exits 1 while the claim does not hold there.

        Empty where there is none: it was tried, and a script that shows nothing is worse than none.
        """
        if self._process is None:
            return ""  # it could not be started again
        assert self._process.stdin is not None
        message = {"script": [program.to_json(tags=False), claim.to_json()]}
        with contextlib.suppress(BrokenPipeError):  # found out by the answer
            self._process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            self._process.stdin.flush()
        answer = self._receive(time.monotonic() + 2 * self.program_timeout)
        if isinstance(answer, dict) and isinstance(answer.get("script"), str):
            script: str = answer["script"]
            return script
        self._revive(self._diagnose(answer)[1])
        return ""

    def _diagnose(self, message: Any) -> tuple[Broken, bool]:
        """The answer for the program that the worker was at when it went silent, died or spoke nonsense.

        Also: whether the server has seen its child die, and makes another.
        """
        if message is _SILENT:
            answer = Broken("timeout", f"no answer within {self.program_timeout:g} s")
            self._kill_child()
            if self._forks:
                message = self._receive(time.monotonic() + 5.0)
        elif isinstance(message, dict) and "died" in message:
            answer = Broken("crash", f"{signal_name(message['died'])}{self._last_words()}")
        elif message is None and self._process is not None:
            self._process.kill()
            answer = Broken("crash", f"{signal_name(self._process.wait())}{self._last_words()}")
        else:
            answer = Broken("error", f"the worker wrote {str(message)[:100]!r} instead of an answer")
        return answer, isinstance(message, dict) and "died" in message

    def _revive(self, respawned: bool) -> None:
        """Have a fresh process: the one that the server made, or a server of its own."""
        self.restarts += 1
        self._stderr.clear()  # the last words of this one, not of the next
        if respawned:
            self._await_child()
            return
        self._kill_child()
        if self._process is not None:
            self._process.kill()
        self.stop()
        self.start()

    def _receive(self, deadline: float) -> Any:
        """The next message: a dict, `_SILENT` after the deadline, None at the end, a string for what is no JSON."""
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                try:
                    message = json.loads(line)
                except ValueError:
                    return line.decode(errors="replace")
                return message if isinstance(message, dict) else repr(message)
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return _SILENT
            part = os.read(descriptor, _PIPE_BYTES)
            if not part:
                return None
            self._buffer += part
            if len(self._buffer) > _MAX_LINE:
                return "a line without end"


_SILENT = object()
_MAX_LINE = 256 << 20


def _answer(message: dict[str, Any]) -> Answer:
    if "unsupported" in message:
        return Unsupported(message["unsupported"])
    if "error" in message:
        return Broken("error", message["error"])
    try:
        return [observation.from_json(data) for data in message["observations"]]
    except (KeyError, TypeError, ValueError) as error:
        return Broken("error", f"the worker's answer is no list of observations ({type(error).__name__}: {error})")
