"""What is told of an error that a library or its adapter has raised. Standard library only."""

from __future__ import annotations

import traceback
from pathlib import Path

KINDS = (
    "argument", "dimension", "index", "size", "view", "bounds", "overlap", "broadcast", "dtype", "format", "step",
    "overflow", "resize", "read-only", "grad", "device", "memory", "file",
)  # fmt: skip
"""Kinds of errors that an adapter may tell apart; `reference_impl/errors.py` says what each is."""
UNPRINTABLE = "what it says cannot be printed"
"""Stands for the text of an error whose `__str__` raises."""


def text_of(error: BaseException) -> str:
    """What an error says.

    >>> text_of(ValueError("no such dimension"))
    'no such dimension'
    """
    try:
        return str(error)
    except Exception:
        return UNPRINTABLE


def built_in(error: BaseException) -> str:
    """Name of the built-in type that a user would catch an error by: a library's own classes are its subclasses.

    >>> built_in(type("OddShape", (ValueError,), {})())
    'ValueError'
    """
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def told(error: BaseException) -> str:
    """An error in one line, with the file and the line that it came from: where it has a cause, that of the cause."""
    cause, seen = error, {id(error)}
    while (deeper := cause.__cause__) is not None and deeper.__traceback__ is not None and id(deeper) not in seen:
        cause = deeper
        seen.add(id(cause))
    message = text_of(error)
    if isinstance(cause, SyntaxError) and cause.filename:  # the file that is wrong is not the one that failed
        filename, line = cause.filename, cause.lineno
        message = cause.msg if cause is error else message
    else:
        where = traceback.extract_tb(cause.__traceback__)[-1]
        filename, line = where.filename, where.lineno
    return f"{type(error).__name__}: {' '.join(message.split())} ({Path(filename).name}:{line})"
