"""What follows from shape, strides and offset alone: the few formulas that all of conformance shares.

What has a shape and strides is asked whole, whatever it is: a state, an input, a layout of the oracle's. Numbers are of
elements, or all of another unit (bytes, addresses). Standard library only: workers need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Protocol


class Strided(Protocol):
    """What has a shape, and strides where it tells them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Elements from one index to the next, of each dimension."""


def row_major(shape: Sequence[int], unit: int = 1, least: int = 1) -> tuple[int, ...]:
    """Row-major strides in elements, or bytes of elements of `unit` bytes; no length counts as less than `least`.

    >>> row_major((2, 0, 3)), row_major((2, 0, 3), 4), row_major((2, 0, 3), 4, least=0)
    ((3, 3, 1), (12, 12, 4), (0, 12, 4))
    """
    strides, running = [], unit
    for size in reversed(shape):
        strides.append(running)
        running *= max(size, least)
    return tuple(reversed(strides))


def extent(shape: Sequence[int], strides: Sequence[int], offset: int) -> tuple[int, int]:
    """First and one past the last element that a layout addresses; (0, 0) for an empty one, which addresses none.

    >>> extent((2, 3), (5, 2), 1)
    (1, 11)
    """
    if 0 in shape:
        return 0, 0
    low = high = offset
    for size, stride in zip(shape, strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + 1


def in_order(shape: Sequence[int], order: Iterable[int]) -> tuple[int, ...]:
    """Strides without gaps: the dimensions of `order` from the innermost outwards, all others expanded.

    >>> in_order((2, 3, 4), (1, 0))
    (3, 1, 0)
    """
    strides, running = [0] * len(shape), 1
    for dim in order:
        strides[dim] = running
        running *= max(shape[dim], 1)
    return tuple(strides)


def addressed(shape: Sequence[int], strides: Sequence[int], offset: int) -> Iterator[int]:
    """Where each element lies, in row-major order.

    >>> list(addressed((2, 2), (1, 2), 3))
    [3, 5, 4, 6]
    """
    if not shape:
        yield offset
        return
    for index in range(shape[0]):
        yield from addressed(shape[1:], strides[1:], offset + index * strides[0])


def numel(x: Strided) -> int:
    """Number of elements."""
    return prod(x.shape)


def strides(x: Strided) -> tuple[int, ...]:
    """Strides in elements; the oracle always has them."""
    return x.strides or ()


def is_expanded(x: Strided) -> bool:
    """Whether some dimension longer than 1 has stride 0."""
    return any(n > 1 and s == 0 for n, s in zip(x.shape, strides(x), strict=True))


def is_dense(x: Strided) -> bool:
    """Whether the elements fill a range of memory without gap or overlap (facts 2.7); none always do."""
    expected = 1
    for stride, size in sorted((s, n) for s, n in zip(strides(x), x.shape, strict=True) if n > 1):
        if stride != expected and 0 not in x.shape:
            return False
        expected *= size
    return True


def may_overlap(x: Strided) -> bool:
    """Whether two elements may be one place: ordered by stride, a dimension does not step over those inside it."""
    reach = 0
    for stride, size in sorted((abs(s), n) for s, n in zip(strides(x), x.shape, strict=True) if n > 1):
        if stride <= reach and 0 not in x.shape:
            return True
        reach += (size - 1) * stride
    return False
