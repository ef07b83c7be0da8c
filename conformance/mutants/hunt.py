"""Hunts mutants: each in a process of its own, forked from one that has the programs and the oracle's answers already.

A fork costs milliseconds where a worker has to import its library first, and hundreds of mutants share a library. What
a process does is what a worker does: `execute` with the mutant's adapter, then `judge`. The first difference ends it.
"""

from __future__ import annotations

import gc
import mmap
import multiprocessing
import os
import struct
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from ..adapters import reference
from ..execute import execute
from ..judge import judge
from ..memory import FOLDERS
from ..processes import signal_name
from ..protocol import Unsupported
from .adapter import Mutated
from .mutant import Mutant

_LOOK = 0.2
"""Seconds between looks at whether a mutant hangs."""


class Shown(NamedTuple):
    """How a mutant was found out: at which trial, at which step, in which aspect; `untried` where it went wrong itself.

    `step` is None where a program did not come to its end.
    """

    place: int
    step: int | None
    aspect: str
    message: str
    untried: bool = False


class Hunted(NamedTuple):
    """What came of a mutant over one list of trials."""

    reached: int
    """Programs that could have shown its defect, up to the one that did."""
    shown: Shown | None


def hunt(
    mutants: Sequence[Mutant], trials_of: Callable[[Mutant], Iterable[tuple[int, Any]]], timeout: float, width: int = 0
) -> Iterator[Hunted]:
    """What comes of each mutant, in their order; `trials_of` answers with (place, trial) of those that can show it.

    `timeout` is in seconds, for one program; `width` is how many run at a time, 0 for as many as there are cores.
    """
    context = multiprocessing.get_context("fork")
    waiting = list(enumerate(mutants))[::-1]
    running: dict[Connection, _Chase] = {}
    done: dict[int, Hunted] = {}
    told = 0
    FOLDERS.gather()
    gc.freeze()  # else collecting in a child copies all pages that it shares with this process
    try:
        while waiting or running:
            while waiting and len(running) < (width or os.cpu_count() or 1):
                number, mutant = waiting.pop()
                chase = _Chase(context, number, mutant, trials_of)
                running[chase.ear] = chase
            for ear in wait(list(running), timeout=_LOOK):
                assert isinstance(ear, Connection)
                chase = running.pop(ear)
                done[chase.number] = chase.outcome()
            for ear, chase in list(running.items()):
                if chase.hangs(timeout):
                    del running[ear]
                    done[chase.number] = chase.stopped(timeout)
            while told in done:
                yield done.pop(told)
                told += 1
    finally:
        for chase in running.values():
            chase.process.kill()
            chase.process.join()
        gc.unfreeze()


class _Chase:
    """One mutant's process, and a note of the program that it is at."""

    def __init__(self, context: Any, number: int, mutant: Mutant, trials_of: Callable[[Mutant], Any]) -> None:
        self.number = number
        self._note = mmap.mmap(-1, 16)
        self._seen, self._since = (-1, 0), time.monotonic()
        self.ear, mouth = context.Pipe(duplex=False)
        self.process = context.Process(target=_chase, args=(mutant, trials_of, self._note, mouth), daemon=True)
        self.process.start()
        mouth.close()

    def _at(self) -> tuple[int, int]:
        """(place of the trial that it is at, how many it has been at)."""
        place, reached = struct.unpack("qq", self._note[:16])
        return place, reached

    def hangs(self, timeout: float) -> bool:
        """Whether it has been at the same program for too long."""
        now = self._at()
        if now != self._seen:
            self._seen, self._since = now, time.monotonic()
        return time.monotonic() - self._since > timeout and now[1] > 0

    def outcome(self) -> Hunted:
        """What the process has said, or how it ended."""
        place, reached = self._at()
        found = None
        with suppress(EOFError):
            found = self.ear.recv()
        self.process.join()
        if isinstance(found, Hunted):
            return found
        return Hunted(reached, Shown(place, None, "crash", signal_name(self.process.exitcode or 0)))

    def stopped(self, timeout: float) -> Hunted:
        """What is told of one that hangs."""
        self.process.kill()
        self.process.join()
        place, reached = self._at()
        return Hunted(reached, Shown(place, None, "timeout", f"no end after {timeout:g} s"))


def _chase(mutant: Mutant, trials_of: Callable[[Mutant], Any], note: mmap.mmap, mouth: Connection) -> None:
    """The process: one program after the other until one shows the defect."""
    oracle = reference.adapter()
    mutated: Any = Mutated(mutant, oracle)
    reached = 0
    for place, trial in trials_of(mutant):
        reached += 1
        note[:16] = struct.pack("qq", place, reached)
        try:
            got = execute(trial.program, mutated)
        except Unsupported:
            continue
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
            mouth.send(Hunted(reached, Shown(place, None, "", text, untried=True)))
            return
        for verdict in judge(trial.program, trial.expected, got, oracle.capabilities):
            for difference in verdict.differences:
                shown = Shown(place, difference.step, difference.aspect, difference.message)
                mouth.send(Hunted(reached, shown))
                return
    mouth.send(Hunted(reached, None))
