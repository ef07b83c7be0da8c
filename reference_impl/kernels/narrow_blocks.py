"""Tiles of transposes past the caches on Intel's processors, with registers of a line.

Blocks of small items are a line of target rows by 16 bytes of source rows: their shuffles go through one port, and a
square of 64 rows needs more of them, and more registers than there are. So are those of items of any size where a
dimension is no whole number of squares, since the last one overlaps the one before it. The numbers are those that were
best, or next to it, in some hundred drawn layouts of each size of items (docs/kernels.md).
"""

from collections.abc import Sequence
from math import lcm, prod
from typing import NamedTuple

from .descriptor import STAGE_OUT
from .half_lines import Wanted
from .normal import Dim
from .plans import LINE
from .tiles import FIRST_SETS, FIRST_WAYS, LONGEST, crowded, rows_of_block, shares

_OVERLAP = 1.4
"""How many times a target row may be written by overlapping blocks, in the mean."""
_MOST = 2048
"""Bytes of a target row, at most, that are worth taking to make whole lines."""


class Sides(NamedTuple):
    """How the two sides of a transpose lie."""

    a_length: int
    """Items of a source row, as far as a block goes or one dimension more."""
    near: int
    """Those of its first dimension."""
    b_dims: Sequence[Dim]
    """The dimensions that follow each other in the target, from the last one on."""
    item: int
    far: bool
    """Whether the target's rows begin anywhere in a line."""
    crowds: bool
    """Whether rows of a block are too many for the sets of the second-level cache that they fall into."""

    @property
    def is_ragged(self) -> bool:
        """Whether squares overlap: lines of the target would be streamed twice."""
        block = LINE // self.item
        return -(-self.a_length // block) * block > _OVERLAP * self.a_length


def wanted_of_lines(sides: Sides) -> Wanted:
    """What makes a good tile of whole blocks."""
    b_dims, item = sides.b_dims, sides.item
    if sides.far and item >= 4:
        return Wanted(64 * item, LONGEST, STAGE_OUT)
    if sides.far:
        return Wanted((4 if shares(b_dims) else 2) * LINE, LONGEST // 2, STAGE_OUT, lines=not sides.crowds)
    by_rows = _by_rows(sides)
    if item >= 4:
        return Wanted(8 * LINE, 4 * LINE, lines=by_rows, by_rows=by_rows)
    if by_rows:
        whole = sides.is_ragged or item * prod(d.length for d in b_dims) <= 4 * LINE
        return Wanted(8 * LINE, 4 * LINE if whole else 2 * LINE, lines=True, by_rows=True)
    if crowded(rows_of_block(b_dims, "src", 2 * LINE // item), FIRST_SETS, 4 * FIRST_WAYS):
        # Rows some power of two apart: what the first-level cache does not keep is read no more than it has to be.
        return Wanted(LINE, 2 * LINE, lines=True, by_rows=item == 1)
    a_bytes = 1024 if shares(b_dims) else 4 * LINE if item == 1 else LINE
    return Wanted(a_bytes, 4 * LINE, lines=True)


def whole_lines(b_dims: Sequence[Dim], item: int) -> int:
    """Bytes of a target row that are whole lines, where its nearest dimensions end within one; 0 where none do."""
    row, whole = item, 0
    for d in b_dims[:-1]:
        row *= d.length
        whole = lcm(row, LINE) if row % LINE and lcm(row, LINE) <= _MOST else whole
    return whole


def _by_rows(sides: Sides) -> bool:
    """Whether target rows are best finished one after the other, two lines of each.

    A line of the source is then read four times, between which the first-level cache has to keep those of all rows.
    """
    item = sides.item
    rows = rows_of_block(sides.b_dims, "src", 2 * LINE // item)
    suits = item == 2 or (item > 2 and sides.is_ragged)
    return suits and whole_lines(sides.b_dims, item) <= 4 * LINE and not crowded(rows, FIRST_SETS, 2 * FIRST_WAYS)
