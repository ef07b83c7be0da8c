"""The processes that a library runs in: a server that has imported it, children that it forks, what they say and use.

A child's end, silence, garbage and greed for memory become values here; `runner.py` says what they mean.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from collections import deque
from collections.abc import Iterator
from enum import Enum
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from . import jsonl
from .memory import FOLDERS, remove_left_by

WORKER = Path(__file__).with_name("worker.py")

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # only Linux has it, and the name in `fcntl`: elsewhere it is an error, which costs nothing
_MAX_LINE = 64 << 20
_GATHER_SECONDS = 0.002
"""How long answers may lie before they are read: to be woken for each takes longer than to read it."""
_WATCH_SECONDS = 0.05
"""How often the memory of a process that gives no answer is looked at."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ASKING = b'{"asking":true}'
"""What a process says before it asks the adapter for its device."""


class Silence(Enum):
    """Why there is no message."""

    LATE = "the deadline has passed"
    ENDED = "the process has ended, or hung up"
    GREEDY = "it uses more memory than it may"


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


@contextlib.contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Let Ctrl-C wait, also in a process that is begun here: while importing it would die of it with a stack trace."""
    resource_tracker.ensure_running()  # whoever begins it with a process lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_ctrl_c() -> None:
    """What a process says that was begun so: Ctrl-C reaches the whole group, and the one that began it decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class Server:
    """A process that imports the library, then makes children on request.

    Raises
    ------
    OSError
        The interpreter cannot be run.
    """

    def __init__(self, spec: str, python: str) -> None:
        self.control, theirs = socket.socketpair()
        command = [python, str(WORKER), spec]
        try:
            with theirs:
                self.process = subprocess.Popen(
                    command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
        except OSError:
            self.control.close()
            raise
        FOLDERS.begun[os.getpid()].add(self.process.pid)
        self.words = _Words(self.process.stderr)
        self.gone = self.is_ready = False
        self.deaths: dict[int, int] = {}
        """How children ended: return codes by process id."""
        self._lines = _Lines()

    def receive(self, deadline: float) -> Any:
        """The next message; a child's death is noted in `deaths` too."""
        while True:
            if (line := self._lines.take()) is not None:
                message = message_of(line)
                if isinstance(message, dict) and "died" in message:
                    self.deaths[message["died"]] = message["status"]
                return message
            if self.gone:
                return Silence.ENDED
            if not _readable([self.control.fileno()], deadline):
                return Silence.LATE
            self._read()

    def listen(self) -> None:
        """Note the deaths that are known by now."""
        while not isinstance(self.receive(0.0), Silence):
            pass

    def _read(self) -> None:
        try:
            data = self.control.recv(1 << 16)
        except ConnectionError:
            data = b""
        self.gone = not data
        self._lines.feed(data)

    def child(self) -> Child:
        """A fresh child; it need not be up yet."""
        return Child(self)

    def end(self, seconds: float) -> int:
        """End the process, by force if it has not ended by itself after so long; its return code."""
        self.control.close()
        try:
            status: int = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.words.close()
        FOLDERS.begun[os.getpid()].discard(self.process.pid)
        remove_left_by(self.process.pid)  # what has no time to tidy up
        return status


class Child:
    """A process that answers requests; its pipes are its own."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.pid: int | None = None
        self.is_asking = False
        """Whether it has said that it asks for its device, and nothing since: that may end it, or keep it."""
        self._patience = 0.0
        self._lines = _Lines()
        self._ended = False
        self._resident = 0
        theirs_in, self._requests = os.pipe()
        self._answers, theirs_out = os.pipe()
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
            os.set_blocking(descriptor, False)
        with contextlib.suppress(OSError):  # a server that is gone is found out by the first answer
            socket.send_fds(server.control, [b"+"], [theirs_in, theirs_out])
        os.close(theirs_in)
        os.close(theirs_out)

    def await_up(self, seconds: float) -> Any:
        """Ask whether it is ready for work, and wait until it is; what it says instead, None if it is.

        It may take so long to answer, and to ask for its device, now and later, whatever else has a deadline. How much
        memory it takes for that is its own affair: to ask for a device may be what first uses it.
        """
        self._patience = seconds
        deadline = time.monotonic() + seconds
        self.send({"up": True}, deadline)
        message = self.receive(deadline)
        if isinstance(message, dict) and "child" in message:
            self.pid = message["child"]
            message = self.receive(deadline)
        if message != {"waiting": True}:
            return message
        self._resident = _resident(self.pid)
        return None

    def send(self, message: Any, deadline: float) -> None:
        """Send a request; that it does not arrive is found out by the answer."""
        self.send_line(jsonl.dumps(message), deadline)

    def send_line(self, line: bytes, deadline: float) -> None:
        """Send a request that is written already."""
        data = memoryview(line + b"\n")
        while data and _readable([], deadline, writing=self._requests):
            try:
                data = data[os.write(self._requests, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return

    def receive(self, deadline: float, memory: int = 0) -> Any:
        """The next message, a string for a line that is no JSON object, or why there is none; `memory` as below."""
        line = self.receive_line(deadline, memory)
        return line if isinstance(line, Silence) else message_of(line)

    def receive_line(self, deadline: float, memory: int = 0, *, many: bool = False) -> bytes | Silence:
        """The next message as it was written, or why there is none.

        `memory`: bytes by which the process may have grown since it came up, and again while it asks for its device; 0
        means any number. `many`: others will follow, and may be waited for, so that they are read together.
        """
        while True:
            if (line := self._lines.take()) is not None:
                self.is_asking = line == _ASKING
                if not self.is_asking:
                    return line
                deadline = time.monotonic() + self._patience
                memory += self.growth if memory else 0
                continue
            if self.is_dead and _readable([self._answers], 0.0) and not self._ended:
                self._read()  # what it wrote before it died
                continue
            if self._ended or self.is_dead:
                return Silence.ENDED
            if many:
                time.sleep(_GATHER_SECONDS)
            watched = min(deadline, time.monotonic() + _WATCH_SECONDS) if memory else deadline
            ready = _readable([self._answers, self.server.control.fileno()], watched)
            if self._answers in ready:
                self._read()
            elif ready:
                self.server.listen()
            elif time.monotonic() >= deadline:
                return Silence.LATE
            elif memory and self.growth > memory:
                return Silence.GREEDY

    def _read(self) -> None:
        try:
            data = os.read(self._answers, _PIPE_BYTES)
        except BlockingIOError:
            return
        self._ended = not data
        self._lines.feed(data)

    @property
    def is_dead(self) -> bool:
        """Whether the end of the process is known."""
        return self.server.gone or self.pid in self.server.deaths

    @property
    def growth(self) -> int:
        """Bytes of memory that it holds beyond those that it came up with; 0 where the system does not say."""
        return max(0, _resident(self.pid) - self._resident) if self.pid is not None else 0

    def status(self, seconds: float = 1.0) -> int:
        """Return code of the process; if it lives on though it has hung up, it is killed."""
        if not self._learns_end(seconds):
            self.kill()
            self._learns_end(seconds)
        if self.pid in self.server.deaths:
            return self.server.deaths[self.pid]
        return self.server.end(seconds)

    def _learns_end(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self.is_dead and self.server.receive(deadline) is not Silence.LATE:
            pass
        return self.is_dead

    def kill(self) -> None:
        """End the process at once."""
        if self.pid is not None and not self.is_dead:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def close(self, *, kill: bool) -> None:
        """Hang up: a child that waits for work ends then; one that is busy has to be killed."""
        if kill:
            self.kill()
        os.close(self._requests)
        os.close(self._answers)


def message_of(line: bytes) -> Any:
    """What a line says: an object, or a string for a line that is none."""
    try:
        message = jsonl.loads(line)
    except ValueError:
        return line.decode(errors="replace")
    return message if isinstance(message, dict) else repr(message)


class _Lines:
    """Lines out of the parts in which they arrive."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._whole: deque[bytes] = deque()

    def feed(self, data: bytes) -> None:
        """Take in what has arrived."""
        head, *tail = data.split(b"\n")
        self._parts.append(head)
        self._size += len(head)
        if tail:
            self._whole += [b"".join(self._parts), *tail[:-1]]
            self._parts, self._size = [tail[-1]], len(tail[-1])

    def take(self) -> bytes | None:
        """The next line; None where none is whole yet."""
        if not self._whole:
            return b"a line without end" if self._size > _MAX_LINE else None
        return self._whole.popleft()


class _Words:
    """The end of what a process and its children print; read without pause, for they may print without end."""

    _KEPT = 1 << 15
    _FRAME = re.compile(r"\s*(frame )?#\d+")
    """How a line of a C++ stack begins, which says where, and not why."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._tail = b""
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        descriptor = self._stream.fileno()
        while True:
            _readable([descriptor], None)
            with self._lock:
                data = os.read(descriptor, 1 << 16)
                self._tail = (self._tail + data)[-self._KEPT :]
                if not data:
                    self._stream.close()
                    return

    def last(self) -> str:
        """The last line that says something, of what was written before now: why C++ ended, where that is told."""
        for _ in range(50):
            with self._lock:
                waiting = 0 if self._stream.closed else _waiting(self._stream)
                written = self._tail.decode(errors="replace").splitlines()
                lines = [line for line in written if line.strip() and not self._FRAME.match(line)]
            if not waiting:
                break
            time.sleep(0.001)
        why = [line for line in lines if line.lstrip().startswith("what():")]
        return (why or lines)[-1].strip()[:300] if lines else ""

    def forget(self) -> None:
        """Begin anew: the words of one child are not those of the next."""
        with self._lock:
            self._tail = b""

    def close(self) -> None:
        """Wait for the last words, unless the library has left a process behind that still holds the pipe."""
        self._thread.join(timeout=1)


def _readable(descriptors: list[int], deadline: float | None, *, writing: int | None = None) -> set[int]:
    """Those of the descriptors that have something to be read (or room to be written to) before the deadline."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    if writing is not None:
        poll.register(writing, select.POLLOUT)
    milliseconds = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    return {descriptor for descriptor, _ in poll.poll(milliseconds)}


def _waiting(stream: Any) -> int:
    """Bytes that can be read at once."""
    number: int = struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, bytes(4)))[0]
    return number


def _resident(pid: int | None) -> int:
    """Bytes of memory that a process holds; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
