"""Threads that wait for parts of a copy: started once, kept for the life of the process.

Kernels let go of the interpreter's lock, so that threads run side by side. Parts are handed out one by one: where
another program takes a core away for a while, the others do its parts.
"""

import os
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

Part = Callable[[int, int], int]
"""Does tasks from the first number up to the second."""

_PARTS = 4
"""Parts for each thread."""


class _Job:
    """One copy or operation: its parts, what they answered, and how many threads help with it."""

    def __init__(self, part: Part, ranges: Iterator[tuple[int, int]]) -> None:
        self._part, self._ranges = part, ranges
        self.answers: list[int] = []
        self.errors: list[BaseException] = []
        self._changed = threading.Condition()
        self._helping, self._closed = 0, False

    def work(self) -> None:
        try:
            for first, last in self._ranges:
                if self.errors:
                    break
                self.answers.append(self._part(first, last))
        except BaseException as error:
            self.errors.append(error)

    def help(self) -> None:
        with self._changed:
            if self._closed:
                return
            self._helping += 1
        self.work()
        with self._changed:
            self._helping -= 1
            self._changed.notify()

    def finish(self) -> None:
        """Let nobody begin any more, and wait for those who have: they write to memory that may be freed afterwards."""
        while True:
            try:
                with self._changed:
                    self._closed = True
                    self._changed.wait_for(lambda: not self._helping)
                return
            except BaseException as error:
                # Ctrl-C, most likely: it is raised once nobody writes any more.
                self.errors.append(error)


class _Ranges:
    """Tasks cut into ranges, handed out to any thread."""

    def __init__(self, tasks: int, parts: int) -> None:
        self._ranges = iter([(tasks * k // parts, tasks * (k + 1) // parts) for k in range(parts)])
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return self

    def __next__(self) -> tuple[int, int]:
        with self._lock:
            return next(self._ranges)


_jobs: SimpleQueue[_Job] = SimpleQueue()
_workers: list[threading.Thread] = []
_lock = threading.Lock()


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        jobs.get().help()


def share(part: Part, tasks: int, threads: int) -> int:
    """Do all tasks with so many threads, this one included, and answer the largest of the parts' answers.

    Raises: what a part raises.

    >>> done = []
    >>> share(lambda first, last: done.extend(range(first, last)) or 0, 10, 2), sorted(done)
    (0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    threads = min(threads, tasks)
    if threads <= 1:
        return part(0, tasks)
    helpers = threads - 1
    with _lock:
        while len(_workers) < helpers:
            worker = threading.Thread(target=_serve, args=(_jobs,), daemon=True, name="stridecheck-kernel")
            worker.start()
            _workers.append(worker)
    job = _Job(part, _Ranges(tasks, min(tasks, threads * _PARTS)))
    try:
        for _ in range(helpers):
            _jobs.put(job)
        job.work()
    finally:
        job.finish()
    if job.errors:
        raise job.errors[0]
    return max(job.answers, default=0)


def _forget() -> None:
    # A forked child has none of its parent's threads, and perhaps a lock that one of them held.
    global _jobs, _lock
    _jobs, _lock = SimpleQueue(), threading.Lock()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
