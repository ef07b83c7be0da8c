"""The worker process: loads one adapter, then runs programs in forked children until its parent hangs up.

Run as a script with the adapter's name; it works in an environment that does not have stridecheck installed, and
imports nothing but the standard library and the adapter. JSON lines on duplicated descriptors: whatever the library
prints goes to standard error. Protocol, one object a line:

    server → parent   {"ready": name, "versions", "capabilities", "forks"}  or  {"failed": kind, "reason"}
    child  → parent   {"child": pid}                              a fresh child waits for work
    parent → child    {"batch": [[number, program], …]}  or  {"script": [program, claim]}
    child  → parent   {"number", "observations" | "unsupported" | "error"}     one for each program, in order
    child  → parent   {"script": text}
    server → parent   {"died": status}                            the child is gone; a new one follows
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

HUNG_UP = 17
"""Exit status of a child whose parent has hung up; a library that exits by itself has another."""


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
        data = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
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
    from stridecheck.conformance import discovery

    try:
        load, _ = discovery.find(name)
        adapter = load()
        channel.send(
            {
                "ready": adapter.name,
                "versions": {name: str(version) for name, version in adapter.versions().items()},
                "capabilities": adapter.capabilities.to_json(),
                "forks": getattr(adapter, "forks", True),
            }
        )
    except discovery.UnknownAdapter as error:
        channel.send({"failed": "unknown", "reason": str(error)})
    except (discovery.NotInstalled, ImportError) as error:
        channel.send({"failed": "missing", "reason": str(error)})
    except BaseException as error:
        traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        channel.send({"failed": "error", "reason": text})
    else:
        return adapter
    return None


def _serve(adapter: Any, channel: Channel) -> None:
    """The child: answer batches until the parent hangs up."""
    from stridecheck.conformance import observation
    from stridecheck.conformance.execute import Unsupported, execute
    from stridecheck.conformance.program import Program

    channel.send({"child": os.getpid()})
    while (message := channel.receive()) is not None:
        if "script" in message:
            channel.send({"script": _script(adapter, *message["script"])})
            continue
        for number, data in message["batch"]:
            try:
                observations = execute(Program.from_json(data), adapter)
                channel.send({"number": number, "observations": [observation.to_json(o) for o in observations]})
            except Unsupported as error:
                channel.send({"number": number, "unsupported": str(error)})
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
                channel.send({"number": number, "error": text})


def _script(adapter: Any, program: Any, data: Any) -> str:
    """The script for a claim; empty where the adapter has no idiom, or one in which the deviation does not show."""
    from stridecheck.conformance import repro
    from stridecheck.conformance.program import Program

    try:
        claim = repro.Claim.from_json(data)
        text = repro.script(Program.from_json(program), claim, adapter)
    except Exception:
        traceback.print_exc()
        return ""
    if not text or not getattr(adapter, "forks", True):
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
    """Load the adapter, then keep one child alive."""
    # The protocol gets descriptors of its own before the library is imported: its prints cannot break a line.
    channel = Channel(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    _bootstrap()
    adapter = _load(sys.argv[1], channel)
    if adapter is None:
        return
    if not getattr(adapter, "forks", True):
        _serve(adapter, channel)
        return
    while (status := _in_child(adapter, channel)) != HUNG_UP:
        channel.send({"died": status})


def _in_child(adapter: Any, channel: Channel) -> int:
    """Serve from a forked child; its exit status, or minus the number of the signal that ended it."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _die_with_parent()
        try:
            _serve(adapter, channel)
        except BaseException:
            # Also SystemExit: a library that calls sys.exit() ends here, not in this file's main.
            traceback.print_exc()
            os._exit(1)
        os._exit(HUNG_UP)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    # Ctrl-C reaches the whole process group; the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    main()
