"""The child of a worker: runs the programs that its parent sends, and answers.

Its environment may be without stridecheck: standard library only, and orjson where that is found. The protocol is told
in `worker.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Sequence
from typing import Any

from . import jsonl, observation, repro
from .errors import text_of, told
from .execute import MAX_TEXT, execute
from .memory import FOLDERS
from .program import Program
from .protocol import Unsupported


def _refuse(value: Any) -> Any:
    raise TypeError(
        f"the adapter answered {value!r}, of type {type(value).__name__}: numbers and text must be Python's"
    )


def die_with_parent() -> None:
    """Ask the kernel to end this process with its parent: a library that hangs must not outlive a killed run."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG; Linux only


class Channel:
    """JSON lines over a pair of file descriptors, without buffering across lines that a fork could copy.

    They are this process's: where a library forks and both go on, its child ends when it comes to say anything. One
    that makes itself a daemon, the parent of which ends, is at its end.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._owner = os.getpid()

    def send(self, message: Any) -> None:
        """Write one message as a line."""
        self._write(json.dumps(message, separators=(",", ":"), default=_refuse).encode())

    def send_finite(self, message: Any) -> None:
        """Write a message that has no number which is infinite or none: in less time."""
        self._write(jsonl.dumps(message, _refuse))

    def _write(self, line: bytes) -> None:
        if os.getpid() != self._owner:
            os._exit(0)
        data = memoryview(line + b"\n")
        while data:
            data = data[os.write(self._outgoing, data) :]

    def receive(self) -> Any:
        """Read one message; None when the other side has hung up."""
        parts: list[bytes] = []
        # The parent sends a line only when the one before it is answered, so nothing of the next is read.
        while not parts or not parts[-1].endswith(b"\n"):
            part = os.read(self._incoming, 1 << 20)
            if not part:
                return None
            parts.append(part)
        return jsonl.loads_exactly(b"".join(parts))


def has_device(adapter: Any) -> bool:
    """Whether an adapter can be asked for its device."""
    return getattr(adapter, "lost", None) is not None


def why_lost(adapter: Any) -> str:
    """Why an adapter's device answers no more, in one line; empty where it does, or where the adapter has none."""
    if not has_device(adapter):
        return ""
    asking = os.getpid()
    try:
        reason = str(adapter.lost() or "")
    except BaseException as error:  # whoever cannot even be asked answers nothing
        if os.getpid() != asking:  # it has forked, and this is the child, which ends as it likes
            raise
        reason = told(error)
    return " ".join(reason.split())[:MAX_TEXT].encode(errors="backslashreplace").decode()


def _announced(channel: Channel, adapter: Any) -> str:
    """Why its device answers no more, as above: the parent is told first, for what is asked may end or keep us."""
    if has_device(adapter):
        channel.send({"asking": True})
    return why_lost(adapter)


def serve(adapter: Any, channel: Channel) -> None:
    """Answer requests until the parent hangs up."""
    while (message := channel.receive()) is not None:
        if "up" in message:
            channel.send({"child": os.getpid()})
            reason = _announced(channel, adapter)
            channel.send({"lost": reason} if reason else {"waiting": True})
        elif "script" in message:
            channel.send({"script": _script(adapter, *message["script"])})
        elif "question" in message:
            # A lost device may have done anything: what an adapter turns into `Unsupported` leaves no trace here.
            _answer(channel, adapter, {}, _asked(adapter, message["question"]), has_raised=True)
        else:
            for number, data in message["batch"]:
                _answer(channel, adapter, {"number": number}, *_ran(adapter, data))


def _ran(adapter: Any, data: Any) -> tuple[dict[str, Any], bool]:
    """The answer to a program, and whether anything was raised on the way to it, which a lost device may have done."""
    try:
        seen = execute(Program.from_json(data), adapter)
        return _seen(seen), any(one.raised for one in seen)
    except Unsupported as error:
        said = {"unsupported": text_of(error)} | (_seen(error.seen) if error.seen else {})
        return said, True  # an adapter may make it of what its library has raised
    except Exception as error:
        return {"error": told(error)}, True


def _seen(observations: Sequence[observation.Observation]) -> dict[str, Any]:
    found, aside = observation.apart(observations)
    return {"observations": found, **aside}


def _asked(adapter: Any, question: Any) -> dict[str, Any]:
    try:
        return {"answer": adapter.answer(question)}
    except Exception as error:
        return {"error": told(error)}


def _answer(channel: Channel, adapter: Any, head: dict[str, Any], said: dict[str, Any], has_raised: bool) -> None:
    """Send an answer, unless the device that it comes from is lost: then nothing that was raised says anything."""
    if has_raised and (reason := _announced(channel, adapter)):
        channel.send({"lost": reason})
        return
    try:
        # Of all that is answered, only what an adapter is asked may hold numbers that are infinite or none.
        (channel.send if "answer" in said else channel.send_finite)({**head, **said})
    except Exception as error:  # no JSON can be made of it
        channel.send({**head, "error": told(error)})


def _script(adapter: Any, program: Any, data: Any, is_tried: bool) -> str:
    """The script for a claim; empty where the adapter has no idiom, or one in which the deviation does not show."""
    try:
        claim = repro.Claim.from_json(data)
        made = Program.from_json(program)
        text = repro.script(made, claim, adapter)
    except Exception:
        traceback.print_exc()
        return ""
    if not text or not is_tried or not getattr(adapter, "forks", True):
        return text
    folder = FOLDERS.take()  # a script leaves the files that it makes, for whoever runs it to look at
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        status = 1
        try:
            tempfile.tempdir = str(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            status = 0 if repro.shows(text, claim) else 1
        finally:
            os._exit(status)
    is_shown = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    shutil.rmtree(folder, ignore_errors=True)
    return text if is_shown else ""
