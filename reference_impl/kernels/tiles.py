"""What tiles span: how dimensions are cut and chained, where the rows lie, which of them follow each other.

Everything here is pure and counts in bytes, but for chunks, which count turns of a dimension.
"""

from collections.abc import Sequence
from math import gcd, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .descriptor import ONE, Chunked, Loop
from .normal import Dim
from .plans import LINE

TILE = 1 << 16
"""Bytes of runs or rows that make a tile."""

FIRST_SETS, FIRST_WAYS = 64, 8
"""Sets of a first-level cache of 32 KB, and lines of each that are kept until they are asked for again."""
SETS, WAYS = 1024, 8
"""Sets of a second-level cache, and how many lines of each may be spent on what is asked for ahead."""
LATER = 8192
"""Bytes that are read until what is asked for is needed."""
_SOON_READ = 1 << 17
"""Bytes that are read within one turn of a loop whose next turn is asked for, at most."""
LONGEST = 4096
"""Bytes of a target row in a tile, at most, unless a choice says otherwise."""


class Wanted(NamedTuple):
    """What makes a good tile: bytes of its rows in source and target, buffers."""

    a_bytes: int
    b_bytes: int
    staged: int = 0
    lines: bool = False
    """Whether blocks are a line of each target row by 16 bytes of the source's."""
    by_rows: bool = False
    """Whether target rows are written one after the other."""
    pairs: bool = False
    """Whether blocks go two by two, so that two lines of a target row are stored one after the other."""


def cut(dim: Dim, item: int) -> Chunked:
    """A long dimension in pieces, so that threads have something to share; a short one whole."""
    long = dim.length * item > 8 * TILE
    return Chunked(dim.length, 4 * TILE // item // LINE * LINE if long else dim.length, dim.dst, dim.src)


def limited(loop: Loop, turns: int) -> Chunked:
    """A loop of which a tile spans so many turns at most."""
    return Chunked(loop.length, max(1, min(loop.length, turns)), loop.dst, loop.src)


def tiled(loops: list[Loop], nbytes: int) -> tuple[list[Loop], Chunked]:
    """The innermost loop as a tile's own: an odometer turned for each row would cost more than a short row."""
    if not loops:
        return loops, ONE
    b = limited(loops[-1], TILE // nbytes)
    return [*loops[:-1], b.loop("b")], b


def later(loops: Sequence[Loop], extent: int, ahead: int = LATER) -> int:
    """Bytes from a row of the source to one that is read some `ahead` bytes later; 0 where none lies beside it.

    `loops` are as they are gone through, outermost first; a row reaches over `extent` bytes. Turns that lie within a
    row, as channels do, read the same lines, and are not counted. Of the loops whose turns are soon over, and that have
    turns enough, it is the one whose turns lie nearest to each other: hardware goes on there, too.

    >>> later([Loop(100, 0, 4096), Loop(8, 0, 512), Loop(3, 0, 4)], 256, 1024)
    2048
    >>> later([Loop(100, 0, 4096), Loop(4, 0, 512)], 256, 1024)
    4096
    """
    turn, found = extent, []
    for k in reversed(range(len(loops))):
        loop = loops[k]
        if abs(loop.src) >= extent:
            turns = max(1, ahead // turn)
            far = turn > _SOON_READ or 2 * turns > _reach(loop, loops[:k])
            found.append((far, abs(loop.src), loop.src * turns))
            turn *= loop.length
    return min(found)[2] if found else 0


def _reach(loop: Loop, outer: Sequence[Loop]) -> int:
    """Turns of a loop, with those of outer ones that go on where it ends."""
    turns = loop.length
    for x in reversed(outer):
        turns *= x.length if x.src == loop.src * turns else 1
    return turns


def chain(dims: Sequence[Dim], start: int, side: str, taken: set[int], item: int, want: int) -> list[int]:
    """Dimensions that follow each other without a gap on one side, from `start` on, until they hold `want` bytes."""
    found = [start]
    reach = item * dims[start].length
    while reach < want:
        following = [k for k, d in enumerate(dims) if k not in taken and k not in found and getattr(d, side) == reach]
        if not following:
            break
        found.append(following[0])
        reach *= dims[following[0]].length
    return found


def chunk(dims: Sequence[Dim], want: int, unit: int, *, in_units: int = 0, evenly: int = 0) -> tuple[Chunked, int]:
    """How much of the last of some dimensions a tile spans, the others being in it as a whole.

    A tile has at least `unit` items, if there are as many, and a multiple of them where less than `in_units` items are
    one. Given `evenly`, chunks are near to `want` and as equal as multiples of so many items can be.
    """
    inner = prod(d.length for d in dims[:-1])
    d = dims[-1]
    turns = max(1, round(want / inner) if evenly else want // inner)
    if inner == 1:
        turns = max(unit, turns // unit * unit)
    elif inner * turns < unit:
        turns = -(-unit // inner)
    step = unit // gcd(unit, inner)
    if inner * step < in_units:
        turns = max(step, turns // step * step)
    if evenly:
        step = evenly // gcd(evenly, inner)
        equal = -(-d.length // -(-d.length // turns))
        turns = min(turns, -(-equal // step) * step)
    return Chunked(d.length, min(turns, d.length), d.dst, d.src), inner


def matrices(rest: Sequence[Loop], nbytes: int, small: int, together: int) -> tuple[Chunked, list[Loop]]:
    """How many small matrices that follow each other in the target make a tile, and the loops that are left.

    Whole lines of the target, if that may be. What is read from a buffer has hardly left the registers where that holds
    no more than one.
    """
    loop = next((x for x in rest if x.dst == nbytes), None)
    if loop is None or nbytes > small:
        return ONE, list(rest)
    turns, step = together // nbytes, LINE // gcd(nbytes, LINE)
    return limited(loop, max(turns // step * step, min(turns, step))), [x for x in rest if x is not loop]


def offsets(dims: Sequence[Dim], side: str) -> npt.NDArray[np.int64]:
    """Byte offsets of the rows of a tile; the first dimension is the innermost."""
    table = np.zeros(1, np.int64)
    for d in dims:
        table = (np.arange(d.length, dtype=np.int64)[:, None] * getattr(d, side) + table).ravel()
    return table


def rows_of_block(dims: Sequence[Dim], side: str, number: int) -> npt.NDArray[np.int64]:
    """Byte offsets of the first rows along some dimensions, as many as a block has."""
    some_dims, rows = [], 1
    for d in dims:
        some_dims.append(d._replace(length=min(d.length, -(-number // rows))))
        rows *= some_dims[-1].length
    return offsets(some_dims, side)[:number]


def pitch(table: npt.NDArray[np.int64]) -> int:
    """The distance of rows that are evenly spaced, or 0."""
    steps = np.diff(table)
    return int(steps[0]) if len(steps) and (steps == steps[0]).all() else 0


def group(table: npt.NDArray[np.int64], step: int) -> int:
    """How many rows follow each other at a distance of `step`, again and again."""
    breaks = np.flatnonzero(np.diff(table) != step)
    number = int(breaks[0]) + 1 if len(breaks) else len(table)
    return number if not ((breaks + 1) % number).any() else 1


def crowded(table: npt.NDArray[np.int64], sets: int, ways: int) -> bool:
    """Whether rows at these offsets are too many for the sets of a cache that they fall into."""
    return int(np.bincount(table % (sets * LINE) // LINE, minlength=1).max()) > ways


def odd_lines(nbytes: int) -> int:
    """A pitch of an odd number of lines: rows of a buffer then fall into all sets of a cache."""
    lines = -(-nbytes // LINE)
    return LINE * (lines | 1)
