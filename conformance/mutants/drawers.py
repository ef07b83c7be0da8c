"""Random programs drawn by a process for each core, in their order: to draw them takes longer than to try them."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection

from ..adapters import reference
from ..memory import FOLDERS
from ..units import Drawing, Unit

_AHEAD = 2
"""Units that each process is asked for before the first of them is taken."""
_LOOK = 1.0
"""Seconds between looks at whether there is still somebody to draw for."""


def drawn(drawings: Iterable[Drawing], width: int = 0) -> Iterator[Unit]:
    """The units themselves, in order; `width` is how many processes draw, 0 for as many as there are cores.

    Each is the same wherever it is drawn. The processes end with the iterator.

    Raises
    ------
    EOFError
        A process ended before it had drawn what it was asked for.
    """
    FOLDERS.gather()
    context = multiprocessing.get_context("fork")
    coming = iter(drawings)
    pipes: list[Connection] = []
    processes = []
    asked: deque[Connection] = deque()

    def ask(pipe: Connection) -> None:
        if (drawing := next(coming, None)) is not None:
            pipe.send(drawing)
            asked.append(pipe)

    try:
        for _ in range(width or os.cpu_count() or 1):
            ours, theirs = context.Pipe()
            process = context.Process(target=_draw, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        for _ in range(_AHEAD):
            for pipe in pipes:
                ask(pipe)
        while asked:
            pipe = asked.popleft()
            unit = pipe.recv()
            ask(pipe)
            yield unit
    finally:
        for process in processes:
            process.kill()
            process.join()


def _draw(pipe: Connection) -> None:
    """The process: one unit after the other until nobody asks for more."""
    gc.freeze()  # what is shared with the process that was forked stays so
    oracle = reference.adapter()
    parent = os.getppid()
    while os.getppid() == parent:
        if pipe.poll(_LOOK):
            drawing: Drawing = pipe.recv()
            pipe.send(drawing.draw(oracle))
