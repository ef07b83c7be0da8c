"""Tiles of transposes past the caches with registers of a line: on Intel's processors, and of small items on AMD's.

Blocks go two by two, so that two lines of a target row are stored one after the other: lines of one parity take half as
long again by themselves. Of large items blocks are squares. Of small ones they are a line of target rows by 16 bytes of
source rows: their shuffles go through one port, and a square of 64 rows needs more of them, and more registers than
there are. So are those of items of any size where a source row is no whole number of squares, since the last one
overlaps the one before it. Target rows that begin anywhere in a line go through a buffer, or are carried. The numbers
are those that were best, or next to it, in some hundred drawn layouts of each size of items (docs/kernel-decisions.md).
"""

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple

from .descriptor import STAGE_OUT
from .normal import Dim
from .plans import LINE, Host
from .tiles import FIRST_SETS, FIRST_WAYS, LONGEST, SETS, WAYS, Wanted, crowded, rows_of_block, shares

_OVERLAP = 1.05
"""How many times a target row may be written by overlapping blocks, in the mean."""
_MOST = 2048
"""Bytes of a target row, at most, that are worth taking to make whole lines."""


class Sides(NamedTuple):
    """How the two sides of a transpose lie."""

    a_length: int
    """Items of a source row, as far as a block goes or one dimension more."""
    even: bool
    """Whether target rows that follow each other in the source are an even number of lines apart; asked of bytes, and
    only on Intel's processors, which mind the parity of lines."""
    b_dims: Sequence[Dim]
    """The dimensions that follow each other in the target, from the last one on."""
    item: int
    far: bool
    """Whether the target's rows begin anywhere in a line."""
    crowds: bool
    """Whether rows of a block are too many for the sets of the second-level cache that they fall into; asked of small
    items whose target rows begin anywhere in a line."""
    host: Host

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
        # Of rows that the second-level cache does not keep until the next tile more is read at once, on Intel's 0.92.
        lost = sides.host.intel and crowded(rows_of_block(b_dims, "src", LONGEST // item), SETS, 6 * WAYS)
        lines = 4 if shares(b_dims) or lost else 2
        return Wanted(lines * LINE, LONGEST // 2, STAGE_OUT, lines=not sides.crowds)
    if item >= 4:
        return Wanted(8 * LINE, 4 * LINE, lines=sides.is_ragged, pairs=True)
    # Short source rows that share lines are taken whole, on Intel's processors 0.95 of the time.
    whole = shares(b_dims) and abs(b_dims[0].src) < 16 * LINE
    if sides.host.small_first:
        # Of long ones little is kept until the next block asks for it (130 layouts: 0.87 of the time of squares; 512 by
        # 128 bytes, or 256 by 256, were 0.97 and 0.91).
        return Wanted((16 if whole else 2) * LINE, 4 * LINE, lines=True, pairs=True)
    if item == 1 and sides.host.family_26 and not shares(b_dims):
        return Wanted(4 * LINE, 2 * LINE, lines=True, pairs=True)
    rows = rows_of_block(b_dims, "src", 2 * LINE // item)
    crowds = crowded(rows, FIRST_SETS, FIRST_WAYS)
    if item == 1 and (crowds or not sides.even) and not crowded(rows, FIRST_SETS, 4 * FIRST_WAYS):
        return Wanted(1024 if shares(b_dims) else 4 * LINE, 4 * LINE, lines=True)
    if whole and sides.host.intel:
        return Wanted(16 * LINE, 2 * LINE, lines=True, pairs=True)
    # What the first-level cache does not keep is read no more than it has to be.
    return Wanted(LINE if crowds else 4 * LINE, 2 * LINE, lines=True, pairs=True)


def whole_lines(b_dims: Sequence[Dim], item: int) -> int:
    """Bytes of a target row that are whole lines, where its nearest dimensions end within one; 0 where none do."""
    row, whole = item, 0
    for d in b_dims[:-1]:
        row *= d.length
        whole = lcm(row, LINE) if row % LINE and lcm(row, LINE) <= _MOST else whole
    return whole
