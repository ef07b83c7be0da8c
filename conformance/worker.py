"""The worker process: loads one adapter, then forks a child for each request of its parent, which runs programs there.

Run as a script with the adapter's name; it works in an environment that does not have stridecheck installed, and
imports nothing but the standard library and the adapter. Standard input is a socket; whatever the library prints goes
to standard error. Protocol, JSON lines, one object each:

    server → parent   {"ready": name, "versions", "capabilities", "forks", "patience"}  or  {"failed": kind, "reason"}
    parent → server   one byte with two file descriptors: what a fresh child reads from and writes to
    server → parent   {"died": pid, "status"}                     a child is gone

    child  → parent   {"child": pid}                              it waits for work
    parent → child    {"batch": [[number, program], …]}  or  {"script": [program, claim, is_tried]}
    child  → parent   {"number", "observations", … | "unsupported" | "error"}     one for each program, in order
    child  → parent   {"lost": reason}                            the device is: nothing more is answered
    child  → parent   {"script": text}
    parent → child    {"question": …}, answered by {"answer": …} or {"error": text}: of adapters that run no programs

Children have pipes of their own, so that what one writes when it goes astray reaches nobody else. A library that does
not survive a fork is served in the server itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def _refuse(value: Any) -> Any:
    raise TypeError(
        f"the adapter answered {value!r}, of type {type(value).__name__}: numbers and text must be Python's"
    )


# Made once, and trusting that no message holds itself: half of the time that `json.dumps` takes.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False, default=_refuse).encode

_POLL_MS = 20
"""How often children are looked after where the system cannot say that one has ended."""


def _die_with_parent() -> None:
    """Ask the kernel to end this process with its parent: a library that hangs must not outlive a killed run."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG; Linux only


def _bootstrap() -> None:
    """Make `stridecheck` importable from this file's place, and nothing else that lies beside it."""
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    rooms = Path(os.path.abspath(__file__)).parent.parent
    front = rooms / "__init__.py" if (rooms / "__init__.py").is_file() else rooms / "stridecheck" / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        "stridecheck", front, submodule_search_locations=[str(front.parent), str(rooms)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["stridecheck"] = module
    spec.loader.exec_module(module)


class Channel:
    """JSON lines over a pair of file descriptors, without buffering across lines that a fork could copy."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    def send(self, message: Any) -> None:
        """Write one message as a line."""
        data = memoryview(_encode(message).encode() + b"\n")
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
        return json.loads(b"".join(parts))


def _load(name: str, channel: Channel) -> Any:
    """The adapter; None where there is none, which has been told."""
    from stridecheck.conformance import discovery

    loading = os.getpid()

    try:
        load, _ = discovery.find(name)
        adapter = load()
        channel.send(
            {
                "ready": adapter.name,
                "versions": _versions(name, adapter),
                "capabilities": adapter.capabilities.to_json(),
                "forks": getattr(adapter, "forks", True),
                "patience": float(getattr(adapter, "patience", 0)),
            }
        )
    except discovery.UnknownAdapter as error:
        channel.send({"failed": "unknown", "reason": str(error)})
    except (discovery.NotInstalled, ImportError) as error:
        channel.send({"failed": "missing", "reason": " ".join(str(error).split())})  # in one line
    except BaseException as error:
        if os.getpid() != loading:  # an import has forked, and this is the child, which ends as it likes
            raise
        traceback.print_exc()
        channel.send({"failed": "error", "reason": _told(error)})
    else:
        return adapter
    return None


def _versions(name: str, adapter: Any) -> dict[str, str]:
    from stridecheck.conformance import discovery

    versions = adapter.versions()
    if not isinstance(versions, Mapping):
        wanted = f'a dict of texts such as {{"{adapter.name}": "1.0"}}'
        raise discovery.UnknownAdapter(f"{name}: versions() answers with {wanted}, and not with {versions!r}")
    return {str(library): str(version) for library, version in versions.items()}


def _told(error: BaseException) -> str:
    """An error in one line, with the file and the line that it came from: where it has a cause, that of the cause."""
    cause, seen = error, {id(error)}
    while (deeper := cause.__cause__) is not None and deeper.__traceback__ is not None and id(deeper) not in seen:
        cause = deeper
        seen.add(id(cause))
    message = str(error)
    if isinstance(cause, SyntaxError) and cause.filename:  # the file that is wrong is not the one that failed
        filename, line = cause.filename, cause.lineno
        message = cause.msg if cause is error else message
    else:
        where = traceback.extract_tb(cause.__traceback__)[-1]
        filename, line = where.filename, where.lineno
    return f"{type(error).__name__}: {' '.join(message.split())} ({Path(filename).name}:{line})"


def _serve(adapter: Any, channel: Channel) -> None:
    """The child: answer batches until the parent hangs up."""
    channel.send({"child": os.getpid()})
    while (message := channel.receive()) is not None:
        if "script" in message:
            channel.send({"script": _script(adapter, *message["script"])})
        elif "question" in message:
            _answer(channel, adapter, {}, *_asked(adapter, message["question"]))
        else:
            for number, data in message["batch"]:
                _answer(channel, adapter, {"number": number}, *_ran(adapter, data))


def _ran(adapter: Any, data: Any) -> tuple[dict[str, Any], bool]:
    """The answer to a program, and whether anything was raised on the way to it."""
    from stridecheck.conformance import observation
    from stridecheck.conformance.execute import execute
    from stridecheck.conformance.program import Program
    from stridecheck.conformance.protocol import Unsupported

    try:
        seen = execute(Program.from_json(data), adapter)
        observations, aside = observation.apart(seen)
        return {"observations": observations, **aside}, any(one.raised for one in seen)
    except Unsupported as error:
        return {"unsupported": str(error)}, False
    except Exception as error:
        return {"error": _told(error)}, True


def _asked(adapter: Any, question: Any) -> tuple[dict[str, Any], bool]:
    try:
        return {"answer": adapter.answer(question)}, False
    except Exception as error:
        return {"error": _told(error)}, True


def _answer(channel: Channel, adapter: Any, head: dict[str, Any], said: dict[str, Any], has_raised: bool) -> None:
    """Send an answer, unless the device that it comes from is lost: then nothing that was raised says anything."""
    lost = getattr(adapter, "lost", None)
    if has_raised and lost is not None and (reason := lost()):
        channel.send({"lost": reason})
        return
    try:
        channel.send({**head, **said})
    except Exception as error:  # no JSON can be made of it
        channel.send({**head, "error": _told(error)})


def _tidy() -> None:
    """Remove what a process that ends at once would leave on disk."""
    from stridecheck.conformance import memory

    memory.remove_folders()


def _script(adapter: Any, program: Any, data: Any, is_tried: bool) -> str:
    """The script for a claim; empty where the adapter has no idiom, or one in which the deviation does not show."""
    from stridecheck.conformance import repro
    from stridecheck.conformance.program import Program

    try:
        claim = repro.Claim.from_json(data)
        text = repro.script(Program.from_json(program), claim, adapter)
    except Exception:
        traceback.print_exc()
        return ""
    if not text or not is_tried or not getattr(adapter, "forks", True):
        return text
    pid = os.fork()
    if pid == 0:
        _die_with_parent()
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            status = 0 if repro.shows(text, claim) else 1
        finally:
            os._exit(status)
    return text if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 else ""


def main() -> None:
    """Load the adapter, then make children until the parent hangs up."""
    # The protocol gets a descriptor of its own before the library is imported: its prints cannot break a line.
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    _bootstrap()
    adapter = _load(sys.argv[1], Channel(control.fileno(), control.fileno()))
    if adapter is None:
        return
    if getattr(adapter, "forks", True):
        _fork_children(adapter, control)
    elif (pair := _requested(control)) is not None:
        _serve(adapter, Channel(*pair))


def _requested(control: socket.socket) -> tuple[int, int] | None:
    """What the next child reads from and writes to; None when the parent has hung up."""
    try:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 2)
    except ConnectionError:
        return None
    return (descriptors[0], descriptors[1]) if len(descriptors) == 2 else None


def _fork_children(adapter: Any, control: socket.socket) -> None:
    from stridecheck.conformance.memory import FOLDERS

    FOLDERS.gather()
    gc.freeze()  # what the library has made is not looked at again in each child, which would copy its pages
    gc.set_threshold(10_000)  # observations come and go without cycles
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a library that has them reaped hides how they ended
    channel = Channel(control.fileno(), control.fileno())
    handles: dict[int, int | None] = {}
    while True:
        poll = select.poll()
        poll.register(control, select.POLLIN)
        for handle in handles.values():
            if handle is not None:
                poll.register(handle, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(_POLL_MS if None in handles.values() else None)}
        for pid in list(handles):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                if (handle := handles.pop(pid)) is not None:
                    os.close(handle)
                FOLDERS.remove_of(pid)
                with contextlib.suppress(OSError):  # the parent has hung up: seen below
                    channel.send({"died": pid, "status": os.waitstatus_to_exitcode(status)})
        if control.fileno() in ready:
            pair = _requested(control)
            if pair is None:
                for pid in handles:
                    os.waitpid(pid, 0)  # those that wait for work end now; the parent has killed the others
                return
            pid = _in_child(adapter, control, pair)
            handles[pid] = _handle_of(pid)
            for descriptor in pair:
                os.close(descriptor)


def _handle_of(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; Linux only."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _in_child(adapter: Any, control: socket.socket, pair: tuple[int, int]) -> int:
    """Fork a child that serves a pair of descriptors; its process id."""
    with contextlib.suppress(Exception):  # a library may have put anything in its place
        sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _die_with_parent()
        try:
            control.close()
            _serve(adapter, Channel(*pair))
            _tidy()
        except BaseException:
            # Also SystemExit: a library that calls sys.exit() ends here, not in this file's main.
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


if __name__ == "__main__":
    # Ctrl-C reaches the whole process group; the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    main()
