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
from .tiles import FIRST_SETS, FIRST_WAYS, LONGEST, SETS, Wanted, crowded, rows_of_block, shares

_OVERLAP = 1.05
"""How many times a target row may be written by overlapping blocks, in the mean."""
_MOST = 2048
"""Bytes of a target row, at most, that are worth taking to make whole lines."""
_SHORT = 1024
"""Bytes of source rows that share lines, at most, that are read as a whole: on Intel's processors 0.9 of the time of 60
layouts."""
_LOST = 48
"""Lines that fall into a set of the second-level cache, with those that are asked for ahead, from which on it loses
some before the next tile asks for them: on Intel's processors 0.93 of the time of 60 layouts."""


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
        # Where the second-level cache loses rows before the next tile asks for them, more of each is read at once.
        rows = rows_of_block(b_dims, "src", LONGEST // 2 // item)
        more = shares(b_dims) or (sides.host.intel and crowded(rows, SETS, _LOST))
        return Wanted((4 if more else 2) * LINE, LONGEST // 2, STAGE_OUT, lines=not sides.crowds)
    if item >= 4:
        return Wanted(8 * LINE, 4 * LINE, lines=sides.is_ragged, pairs=True)
    short = shares(b_dims) and abs(b_dims[0].src) < _SHORT
    if sides.host.small_first:
        # Of long source rows little is kept until the next block asks for it (130 layouts: 0.87 of the time of squares;
        # 512 by 128 bytes, or 256 by 256, were 0.97 and 0.91).
        return Wanted(_SHORT if short else 2 * LINE, 4 * LINE, lines=True, pairs=True)
    rows = rows_of_block(b_dims, "src", 2 * LINE // item)
    crowds = crowded(rows, FIRST_SETS, FIRST_WAYS)
    if item == 1 and (crowds or not sides.even) and not crowded(rows, FIRST_SETS, 4 * FIRST_WAYS):
        return Wanted(_SHORT if shares(b_dims) else 4 * LINE, 4 * LINE, lines=True)
    if short and sides.host.intel:
        return Wanted(_SHORT, 2 * LINE, lines=True, pairs=True)
    # What the first-level cache does not keep is read no more than it has to be.
    return Wanted(LINE if crowds else 4 * LINE, 2 * LINE, lines=True, pairs=True)


def whole_lines(b_dims: Sequence[Dim], item: int) -> int:
    """Bytes of a target row that are whole lines, where its nearest dimensions end within one; 0 where none do."""
    row, whole = item, 0
    for d in b_dims[:-1]:
        row *= d.length
        whole = lcm(row, LINE) if row % LINE and lcm(row, LINE) <= _MOST else whole
    return whole
