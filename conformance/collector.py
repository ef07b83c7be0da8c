"""Python's garbage collector, kept from what it would go through in vain."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_held() -> Iterator[None]:
    """Keep the garbage collector from running in the middle of a block.

    >>> with collector_held():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_rarely() -> None:
    """Spare this process what the collector would cost it, a sixth of a run.

    Programs live as long as the run does, and observations, which come and go by the million, have no cycles.
    """
    gc.freeze()
    gc.set_threshold(200_000)
