"""The number of threads that PyTorch would compute with: it decides which of its convolutions runs, and so a layout."""

import os

from .errors import LayoutError, LayoutTypeError

_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def get_num_threads() -> int:
    """The number of threads, that of the processors unless it was set. Source: torch 2.13.

    >>> get_num_threads() >= 1
    True
    """
    return _threads


def set_num_threads(num: int) -> None:
    """Set the number of threads.

    Raises: argument (TypeError, RuntimeError below 1). Source: torch 2.13.
    """
    global _threads
    if type(num) is not int:
        raise LayoutTypeError("argument", f"set_num_threads needs an int, got {type(num).__name__}")
    if num < 1:
        raise LayoutError("argument", f"set_num_threads needs a positive number, got {num}")
    _threads = num
