"""The worker process: loads one adapter, then forks a child for each request of its parent, which runs programs there.

Run as a script with the adapter's name; it works in an environment that does not have stridecheck installed, and
imports nothing but the standard library and the adapter. Standard input is a socket; whatever the library prints goes
to standard error. Protocol, JSON lines, one object each:

    server → parent   {"ready": name, "versions", "capabilities", "forks", "patience", "has_device"}
                      or  {"failed": kind, "reason"}
    parent → server   one byte with two file descriptors: what a fresh child reads from and writes to
    server → parent   {"died": pid, "status"}                     a child is gone

    parent → child    {"up": true}                                asked when it is to have work
    child  → parent   {"child": pid}, {"waiting": true}           it is there; it waits for that
    parent → child    {"batch": [[number, program], …]}  or  {"script": [program, claim, is_tried]}
    child  → parent   {"number", "observations", … | "unsupported", … | "error"}  one for each program, in order;
                      what is unsupported comes with observations of what was run of it
    child  → parent   {"lost": reason}                            the device is: nothing is answered, or nothing more
    child  → parent   {"asking": true}                            before the adapter is asked whether it is
    child  → parent   {"script": text}
    parent → child    {"question": …}, answered by {"answer": …} or {"error": text}: of adapters that run no programs

Children have pipes of their own, so that what one writes when it goes astray reaches nobody else. A library that does
not survive a fork is served in the server itself.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any


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


if __name__ == "__main__":
    _bootstrap()

from stridecheck.conformance import discovery
from stridecheck.conformance.errors import text_of, told
from stridecheck.conformance.memory import FOLDERS, remove_folders
from stridecheck.conformance.serving import Channel, die_with_parent, has_device, serve

_POLL_MS = 20
"""How often children are looked after where the system cannot say that one has ended."""


def _load(name: str, channel: Channel) -> Any:
    """The adapter; None where there is none, which has been told."""
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
                "has_device": has_device(adapter),
            }
        )
    except discovery.UnknownAdapter as error:
        channel.send({"failed": "unknown", "reason": text_of(error)})
    except BaseException as error:
        if isinstance(error, (discovery.NotInstalled, ImportError)) and not discovery.is_changed(error):
            channel.send({"failed": "missing", "reason": " ".join(text_of(error).split())})  # in one line
            return None
        if os.getpid() != loading:  # an import has forked, and this is the child, which ends as it likes
            raise
        traceback.print_exc()
        channel.send({"failed": "error", "reason": told(error)})
    else:
        return adapter
    return None


def _versions(name: str, adapter: Any) -> dict[str, str]:
    versions = adapter.versions()
    if not isinstance(versions, Mapping):
        wanted = f'a dict of texts such as {{"{adapter.name}": "1.0"}}'
        raise discovery.UnknownAdapter(f"{name}: versions() answers with {wanted}, and not with {versions!r}")
    return {str(library): str(version) for library, version in versions.items()}


def main() -> None:
    """Load the adapter, then make children until the parent hangs up."""
    # The protocol gets a descriptor of its own before the library is imported: its prints cannot break a line.
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    adapter = _load(sys.argv[1], Channel(control.fileno(), control.fileno()))
    if adapter is None:
        return
    if getattr(adapter, "forks", True):
        _fork_children(adapter, control)
    elif (pair := _requested(control)) is not None:
        serve(adapter, Channel(*pair))


def _requested(control: socket.socket) -> tuple[int, int] | None:
    """What the next child reads from and writes to; None when the parent has hung up."""
    try:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 2)
    except ConnectionError:
        return None
    return (descriptors[0], descriptors[1]) if len(descriptors) == 2 else None


def _fork_children(adapter: Any, control: socket.socket) -> None:
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
        die_with_parent()
        try:
            control.close()
            serve(adapter, Channel(*pair))
            remove_folders()
        except BaseException:
            # Also SystemExit: a library that calls sys.exit() ends here, not in this file's main.
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


if __name__ == "__main__":
    # Ctrl-C reaches the whole process group; the parent decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    main()
