"""Draws shape, strides and offset together, as no library's own constructors would combine them.

One walk from the innermost dimension outwards gives them all: permuted, stepped, padded, expanded, overlapping,
channels_last of both ranks, sizes 0 and 1 with free strides, 0-dim; negative strides only where they are asked for.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..layout import extent, row_major
from .source import Source, weighted

MAX_SPAN = 360
"""Elements that a drawn layout reaches over at most."""


class Drawn(NamedTuple):
    """A drawn layout; strides and offset in elements, `reach` one past the last element that it addresses."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    reach: int


RESTS = (31, 33, 47, 63, 79, 95, 97)
"""Lengths that are one more or one less than what loops over 16 or 32 elements at a time go through."""
_KINDS = ((22, "row-major"), (20, "permuted"), (14, "channels-last"), (32, "free"), (12, "row-major-offset"))


def draw_shape(source: Source, low: int = 0, high: int = 5) -> tuple[int, ...]:
    """A shape of that many dimensions, mostly of sizes 1 to 5, at times with a 0 or with one that is long."""
    rank = source.integer(low, high)
    if rank in (1, 2) and source.chance(10):
        # Longer than any vector register: kernels go over such rows in another way than over short ones.
        length = source.choice(RESTS) if source.chance(45) else source.integer(65, 100)
        return tuple([length, source.integer(1, 3)][2 - rank :][::-1])
    most = (0, 12, 7, 5, 4, 3, 2)[rank] if rank < 7 else 2
    return tuple(
        [0 if source.chance(3) else 1 if source.chance(18) else source.integer(2, max(2, most)) for _ in range(rank)]
    )


def draw_layout(
    source: Source,
    *,
    negative: bool = False,
    shape: tuple[int, ...] | None = None,
    kind: str | None = None,
    most: int = MAX_SPAN,
) -> Drawn:
    """A layout, of the given shape and kind or drawn ones; row-major where it would reach over more than `most`."""
    kind = kind or weighted(source, _KINDS)
    if shape is None:
        shape = draw_shape(source, 4, 5) if kind == "channels-last" else draw_shape(source)
    strides = list(_draw_strides(source, kind, shape))
    if negative:
        strides = [-s if source.chance(30) else s for s in strides]
    low, high = extent(shape, tuple(strides), 0)
    if high - low > most:
        strides = list(row_major(shape))
        low, high = extent(shape, tuple(strides), 0)
    offset = source.integer(1, 7) if kind != "row-major" and source.chance(50) else 0
    return Drawn(shape, tuple(strides), offset - low, offset - low + high)


def _draw_strides(source: Source, kind: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    if kind.startswith("row-major"):
        return row_major(shape)
    order = _draw_order(source, kind, len(shape))
    strides = [0] * len(shape)
    running = 1
    for dim in order:
        size = shape[dim]
        if kind == "free":
            strides[dim], running = _draw_stride(source, size, running)
        else:
            # The free strides of sizes 0 and 1: what a slice or squeeze leaves behind.
            strides[dim] = source.integer(0, 9) if size < 2 and source.chance(35) else running
            running *= max(size, 1)
    return tuple(strides)


def _draw_order(source: Source, kind: str, rank: int) -> list[int]:
    """Dimensions from the innermost outwards."""
    if kind == "channels-last" and rank >= 3:
        return [1, *range(rank - 1, 1, -1), 0]
    rest = list(range(rank - 1, -1, -1))
    return [rest.pop(source.integer(0, len(rest) - 1)) for _ in range(rank)]


def _draw_stride(source: Source, size: int, running: int) -> tuple[int, int]:
    """One stride, and the distance at which the next dimension outwards would be free of overlap."""
    if size < 2:
        return source.integer(0, 9), running
    what = weighted(source, ((40, "next"), (22, "step"), (14, "pad"), (12, "zero"), (12, "overlap")))
    if what == "zero":
        return 0, running
    if what == "overlap":
        stride = source.integer(1, max(1, running))
        return stride, max(running, stride * size)
    stride = running * source.integer(2, 3) if what == "step" else running
    return stride, stride * size + (source.integer(1, 3) if what == "pad" else 0)


def edit_shape(source: Source, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Another shape of as many elements: dimensions merged, split, inserted or dropped."""
    sizes = list(shape)
    for _ in range(source.integer(1, 3)):
        edit = source.integer(0, 3)
        place = source.integer(0, max(0, len(sizes) - 1))
        if edit == 0 and len(sizes) >= 2:
            place = min(place, len(sizes) - 2)
            sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
        elif edit == 1 and sizes:
            factors = [f for f in range(1, sizes[place] + 1) if sizes[place] % f == 0] or [1]
            factor = source.choice(factors)
            sizes[place : place + 1] = [factor, sizes[place] // factor]
        elif edit == 2:
            sizes.insert(place, 1)
        elif 1 in sizes:
            sizes.remove(1)
    assert prod(sizes) == prod(shape)
    return tuple(sizes)
