"""Two layouts of one shape brought to a normal form: what a copy between them comes down to.

Everything here is pure and counts in bytes: items are merged into runs, so that elements are no unit any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

LARGEST_ITEM = 16
"""Largest item, in bytes, that a kernel moves as one."""


class Dim(NamedTuple):
    """One loop of a copy: its length, and how many bytes each side goes on from one turn to the next."""

    length: int
    dst: int
    src: int


@dataclass(frozen=True)
class Normal:
    """A copy in normal form.

    No dimension of length 1; target strides positive and falling; neighbours merged where both sides step evenly. The
    item is the largest power of two of bytes, up to 16, that both sides hold in one piece.
    """

    dims: tuple[Dim, ...]
    item: int
    dst_shift: int
    """Bytes from the first element of the target to where the loops begin; not 0 where a dimension was turned."""
    src_shift: int

    @property
    def nbytes(self) -> int:
        """Bytes that are written."""
        return self.item * prod(d.length for d in self.dims)

    @cached_property
    def dst_extent(self) -> tuple[int, int]:
        """First byte and the one behind the last, counted from where the loops begin, of the target."""
        return _extent([(d.length, d.dst) for d in self.dims], self.item)

    @cached_property
    def src_extent(self) -> tuple[int, int]:
        """The same of the source."""
        return _extent([(d.length, d.src) for d in self.dims], self.item)

    def part(self, k: int, start: int, length: int) -> "Normal":
        """The copy of so many turns of dimension `k`, from one on; a dimension of one turn is left out."""
        d = self.dims[k]
        dims = list(self.dims)
        dims[k] = d._replace(length=length)
        shifts = self.dst_shift + start * d.dst, self.src_shift + start * d.src
        return Normal(tuple(x for x in dims if x.length > 1), self.item, *shifts)

    @cached_property
    def writes_once(self) -> bool:
        """Whether every stride of the target steps over all that lies inside it: no byte is written twice."""
        reach = self.item
        for d in reversed(self.dims):
            if d.dst < reach:
                return False
            reach += (d.length - 1) * d.dst
        return True


def normal(shape: Sequence[int], dst_strides: Sequence[int], src_strides: Sequence[int], itemsize: int) -> Normal:
    """The normal form of a copy between two layouts.

    Shapes: any, of equal length with both strides; no length is 0.
    Units: strides and item size in bytes.

    >>> normal((4, 5, 6), (120, 24, 4), (240, 48, 8), 4).dims
    (Dim(length=120, dst=4, src=8),)
    >>> form = normal((2, 3), (4, 8), (-12, 4), 4)
    >>> form.dims, form.src_shift, form.item
    ((Dim(length=3, dst=8, src=4), Dim(length=2, dst=4, src=-12)), 0, 4)
    >>> normal((100, 4), (4, 1), (8, 1), 1)  # four bytes in one piece
    Normal(dims=(Dim(length=100, dst=4, src=8),), item=4, dst_shift=0, src_shift=0)
    """
    dims = [Dim(n, d, s) for n, d, s in zip(shape, dst_strides, src_strides, strict=True) if n != 1]
    item = min(itemsize & -itemsize, LARGEST_ITEM)
    if item != itemsize:
        dims.append(Dim(itemsize // item, item, item))
    dst_shift = src_shift = 0
    for k, (n, d, s) in enumerate(dims):
        if d < 0:
            dst_shift += (n - 1) * d
            src_shift += (n - 1) * s
            dims[k] = Dim(n, -d, -s)
    dims.sort(key=lambda x: (-x.dst, -abs(x.src)))
    merged: list[Dim] = []
    for dim in dims:
        if merged and merged[-1].dst == dim.length * dim.dst and merged[-1].src == dim.length * dim.src:
            merged[-1] = Dim(merged[-1].length * dim.length, dim.dst, dim.src)
        else:
            merged.append(dim)
    merged, item = _with_larger_items(merged, item)
    return Normal(tuple(merged), item, dst_shift, src_shift)


def _with_larger_items(dims: list[Dim], item: int) -> tuple[list[Dim], int]:
    if not dims or dims[-1].dst != item or dims[-1].src != item:
        return dims, item
    run = dims[-1].length * item
    larger = min(run & -run, LARGEST_ITEM)
    rest = dims[:-1]
    return (rest if larger == run else [*rest, Dim(run // larger, larger, larger)]), larger


def _extent(steps: Sequence[tuple[int, int]], item: int) -> tuple[int, int]:
    low = sum((n - 1) * s for n, s in steps if s < 0)
    high = sum((n - 1) * s for n, s in steps if s > 0)
    return low, high + item
