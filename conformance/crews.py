"""Where the parts of a run are run: in this process, in others on this machine, or on a Dask cluster.

A part is run as a whole or not at all, and its records come back as a whole: a process that dies on the way costs only
time. What travels is JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from typing import Any, Protocol
from uuid import uuid4

from stridecheck.reports import records

from .answers import AdapterFailed
from .collector import collect_rarely
from .memory import FOLDERS
from .options import Options
from .processes import ctrl_c_later, ignore_ctrl_c
from .session import Session
from .units import Part, from_json, to_json

PARTS = 2
"""Parts that are handed out together: while the library is at one, the one before is judged."""
MAX_TRIES = 5
"""Processes that may be lost to one task before it is given up."""


class Crew(Protocol):
    """Runs the parts of one library's run."""

    introduction: records.Adapter
    """What the library says of itself."""

    def run(self, parts: Iterable[Part]) -> Iterator[list[records.Record]]:
        """The records of each part, in whatever order they are done.

        Raises
        ------
        AdapterFailed
            The library died and could not be started again.
        """


class Crews(Protocol):
    """Makes crews; as a context manager it ends what they run in."""

    def crew(self, spec: str) -> Any:
        """A context manager around the crew for a library; raises AdapterFailed where it cannot be started."""


@contextmanager
def crews(options: Options) -> Iterator[Crews]:
    """What the options ask for.

    Raises
    ------
    SchedulerError
        The cluster cannot be reached, or Dask is not installed.
    """
    with ExitStack() as stack:
        if options.scheduler:
            yield stack.enter_context(_dask(options))
        elif options.workers > 1:
            yield stack.enter_context(_processes(options))
        else:
            yield Here(options)


class SchedulerError(Exception):
    """The scheduler that was named cannot be used; the message says why."""


class Here:
    """Runs everything in this process."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def crew(self, spec: str) -> Session:
        """A session is a crew of one."""
        return Session(self._options, spec)


# What runs elsewhere: module-level functions of texts.


class _Sessions:
    """The sessions of this process, one for each thread that runs tasks: a library is started once, not for each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[int, tuple[tuple[str, str], Session]] = {}
        """Those that no task has, by thread, with the run and the library that they are of."""
        self._ended: set[str] = set()

    @contextmanager
    def taken(self, run: str, spec: str) -> Iterator[Session]:
        """The session of this thread; it is ended where something goes wrong in it, or its run has ended meanwhile."""
        thread, key = threading.get_ident(), (run, spec)
        with self._lock:
            last, session = self._idle.pop(thread, (None, None))
        if session is not None and last != key:
            session.stop()
            session = None
        if session is None:
            session = Session(Options.from_json(json.loads(run)["options"]), spec)
        try:
            yield session
        except BaseException:
            session.stop()
            raise
        with self._lock:
            is_over = run in self._ended
            if not is_over:
                self._idle[thread] = key, session
        if is_over:
            session.stop()

    def close(self, run: str) -> None:
        """End those of a run: at once where no task has them, for another run may be at work in the same process."""
        with self._lock:
            self._ended.add(run)
            over = [self._idle.pop(thread)[1] for thread, (key, _) in [*self._idle.items()] if key[0] == run]
        for session in over:
            session.stop()


_SESSIONS = _Sessions()


def introduce(run: str, spec: str) -> tuple[str, str]:
    """What a library says of itself, as a record's line; or the kind and the reason of its failure."""
    try:
        with _SESSIONS.taken(run, spec) as session:
            return "", records.to_line(session.introduction)
    except AdapterFailed as error:
        return error.kind, error.reason


def run_parts(run: str, spec: str, parts: str) -> tuple[list[list[str]], tuple[str, str] | None]:
    """The lines of each part's records; and the kind and reason where the library failed for good."""
    done: list[list[str]] = []
    try:
        with _SESSIONS.taken(run, spec) as session:
            # One at a time: what comes before an error stays.
            done.extend(
                [records.to_line(record) for record in found]
                for found in session.run(map(from_json, json.loads(parts)))
            )
    except AdapterFailed as error:
        return done, (error.kind, error.reason)
    return done, None


def close_sessions(run: str) -> None:
    """End the libraries that a run has in this process: a cluster goes on when a run is over."""
    _SESSIONS.close(run)


@dataclass
class _Task:
    parts: str
    tries: int = 0


class Elsewhere:
    """Hands parts to an executor, and again where the process that had them is lost.

    `lost` are the exceptions that say so. `make` makes another executor where one is broken.
    """

    def __init__(
        self, options: Options, make: Callable[[], Executor], width: int, lost: tuple[type[BaseException], ...]
    ) -> None:
        # Equal options are equal text, and two runs on one cluster are two.
        self.run_id = json.dumps({"id": uuid4().hex, "options": options.to_json()})
        self._make, self._width, self._lost = make, width, lost
        self._executor = make()

    @contextmanager
    def crew(self, spec: str) -> Iterator[_Crew]:
        """The crew for a library."""
        yield _Crew(self, spec)

    def close(self) -> None:
        """Take no more tasks."""
        self._executor.shutdown(wait=False)

    def introduce(self, spec: str) -> tuple[str, str]:
        """What `introduce` answers in one of the processes."""
        for _ in range(MAX_TRIES):
            with suppress(*self._lost):
                said: tuple[str, str] = _answer(self._submit(introduce, spec))
                return said
        return "error", f"{spec}: the process that started it was lost {MAX_TRIES} times"

    def _submit(self, task: Callable[..., Any], *arguments: str) -> Future[Any]:
        with ctrl_c_later():  # a task may begin a process
            try:
                return self._executor.submit(task, self.run_id, *arguments)
            except BrokenExecutor:
                self._executor = self._make()
                return self._executor.submit(task, self.run_id, *arguments)

    def run(self, spec: str, parts: Iterable[Part]) -> Iterator[list[records.Record]]:
        """The records of each part, as they come; where the library fails for good, nothing more is begun."""
        coming = (_Task(texts) for texts in _texts(parts))
        again: deque[_Task] = deque()
        running: dict[Future[Any], _Task] = {}
        try:
            while True:
                # Those that have lost a process go one at a time, so that the guilty one takes no other with it.
                while not running or (not again and len(running) < 2 * self._width and not _is_alone(running)):
                    task = again.popleft() if again else next(coming, None)
                    if task is None:
                        break
                    running[self._submit(run_parts, spec, task.parts)] = task
                if not running:
                    return
                failure: tuple[str, str] | None = None
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    try:
                        done, failed = _answer(future)
                    except self._lost as error:
                        task.tries += 1
                        again.append(task)
                        reason = f"{spec}: the process was lost {MAX_TRIES} times ({type(error).__name__})"
                        done, failed = [], ("error", reason) if task.tries == MAX_TRIES else None
                    for lines in done:
                        yield [records.from_line(line) for line in lines]
                    failure = failure or failed
                if failure is not None:
                    raise AdapterFailed(*failure)
        finally:
            for future in running:
                future.cancel()


def _answer(future: Future[Any]) -> Any:
    """What a task has answered; a scheduler that goes cancels what it was given."""
    try:
        return future.result()
    except CancelledError:
        raise SchedulerError("the scheduler has gone; go on with --resume") from None


def _is_alone(running: dict[Future[Any], _Task]) -> bool:
    return any(task.tries for task in running.values())


class _Crew:
    def __init__(self, place: Elsewhere, spec: str) -> None:
        self._place, self._spec = place, spec
        kind, said = place.introduce(spec)
        if kind:
            raise AdapterFailed(kind, said)
        introduction = records.from_line(said)
        assert isinstance(introduction, records.Adapter)
        self.introduction = introduction

    def run(self, parts: Iterable[Part]) -> Iterator[list[records.Record]]:
        yield from self._place.run(self._spec, parts)


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    remaining = iter(parts)
    while some := list(islice(remaining, PARTS)):
        yield json.dumps([to_json(part) for part in some])


# Processes on this machine.


@contextmanager
def _processes(options: Options) -> Iterator[Elsewhere]:
    """As many processes as the options say; they end with this one, also where it is killed."""
    context = multiprocessing.get_context("spawn")  # threads are running here: a fork would copy their locks
    leash, held = context.Pipe(duplex=False)
    others = set(multiprocessing.active_children())

    def make() -> Executor:
        return ProcessPoolExecutor(options.workers, mp_context=context, initializer=_obey, initargs=(leash,))

    place = Elsewhere(options, make, options.workers, (BrokenExecutor,))
    try:
        yield place
    finally:
        place.close()
        ours = set(multiprocessing.active_children()) - others
        held.close()
        leash.close()
        for process in ours:
            process.join(timeout=5.0)


def _obey(leash: Connection) -> None:
    """Make this a process for parts, which ends when the other end of the leash is let go."""
    ignore_ctrl_c()
    collect_rarely()
    Finalize(None, FOLDERS.remove, exitpriority=0)  # such a process ends without what `atexit` would do

    def wait_for_end() -> None:
        with suppress(EOFError, OSError):
            leash.recv()
        FOLDERS.remove()
        os._exit(0)

    threading.Thread(target=wait_for_end, daemon=True).start()


# A cluster.


@contextmanager
def _dask(options: Options) -> Iterator[Elsewhere]:
    """The cluster at an address, or one of as many processes as the options say, made for this run."""
    try:
        import distributed
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise SchedulerError("--scheduler needs Dask: pip install 'dask[distributed]'") from None
    with ExitStack() as stack:
        address: Any = options.scheduler
        if address == "local":
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=options.workers, threads_per_worker=1, memory_limit=0, dashboard_address=None
                )
            )
        try:
            client = stack.enter_context(distributed.Client(address, timeout=10))
        except (OSError, ValueError) as error:
            raise SchedulerError(f"no Dask scheduler at {address}: {error}") from None
        width = max(1, sum(client.nthreads().values()))
        place = Elsewhere(options, lambda: client.get_executor(pure=False), width, (KilledWorker,))
        try:
            yield place
        finally:
            place.close()
            with suppress(OSError):  # it may have gone, which is told already
                client.run(close_sessions, place.run_id)
