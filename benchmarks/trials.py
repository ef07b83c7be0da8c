"""What a claim can be tried by: two calls, two amounts of memory, or a statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .clock import Call


@dataclass(frozen=True, slots=True)
class Contest:
    """Two calls that are compared: the claim is about the time (or memory) of `second` over that of `first`."""

    label: str
    make: Callable[[], tuple[Call, Call]]
    wait: Call | None = None
    """Waits for the device that the calls run on."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Two amounts of memory that are compared, second over first, in bytes."""

    label: str
    count: Callable[[], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that holds or does not."""

    label: str
    holds: Callable[[], bool]


Trial = Contest | Bytes | Statement
