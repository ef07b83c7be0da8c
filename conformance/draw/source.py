"""Where random programs get their choices from: one small interface, several drivers.

`Seeded` is fast; `Tape` goes through Hypothesis, which shrinks and remembers, and so does `strategies.Drawn`. Smaller
choices are simpler: Hypothesis shrinks towards the low end of `integer` and the front of `choice`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from random import Random
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Source(Protocol):
    """Choices, one at a time."""

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, of which there is at least one."""

    def chance(self, percent: int) -> bool:
        """True in about that share of draws; False is the simpler answer."""


class Seeded:
    """Choices from a seed: the same seed gives the same choices for ever."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(f"stridecheck:{seed}").random

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self._random() * len(options))]

    def chance(self, percent: int) -> bool:
        """True in that share of draws."""
        return self._random() * 100 < percent


class Tape:
    """Choices read from bytes, one after the other, got a block at a time: smaller bytes are simpler.

    >>> tape = Tape(lambda: bytes([128, 0, 0, 255]))
    >>> tape.integer(0, 9), tape.integer(0, 9), tape.integer(3, 9), tape.integer(3, 9)
    (5, 0, 3, 9)
    """

    def __init__(self, block: Callable[[], bytes]) -> None:
        self._next = chain.from_iterable(iter(block, None)).__next__

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        count = high - low + 1
        if count <= 128:
            return low + (self._next() * count >> 8)
        return low + ((self._next() << 8 | self._next()) * count >> 16)

    def choice(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about that share of draws."""
        return self._next() >= 256 - (percent * 256 + 50) // 100


def weighted(source: Source, options: Sequence[tuple[int, T]]) -> T:
    """One of the options, each drawn in proportion to the number before it."""
    known = _ENDS.get(id(options))
    if known is None:
        if len(_ENDS) >= _KNOWN:
            _ENDS.clear()
        known = _ENDS[id(options)] = options, list(accumulate([weight for weight, _ in options]))
    ends = known[1]
    return options[bisect_right(ends, source.integer(0, ends[-1] - 1))][1]


_ENDS: dict[int, tuple[Sequence[tuple[int, Any]], list[int]]] = {}
"""Running sums of the weights, by the address of the options, which are kept so that no others come to lie there."""
_KNOWN = 1000
"""Options whose sums are remembered: those that are made for one choice would fill the memory."""
