"""Tiles of transposes past the caches with registers of a line: on Intel's processors, and of small items on AMD's.

Blocks go two by two, so that two lines of a target row are stored one after the other: lines of one parity take half as
long again by themselves. Of large items blocks are squares. Of small ones they are a line of target rows by 16 bytes of
source rows: their shuffles go through one port, and a square of 64 rows needs more of them, and more registers than
there are. So are those of items of any size where a source row is no whole number of squares, since the last one
overlaps the one before it. Target rows that begin anywhere in a line go through a buffer, or are carried. The numbers
are those that were best, or next to it, in some hundred drawn layouts of each size of items (docs/kernel-decisions.md).
"""

from math import lcm

from .plans import LINE
from .sides import Sides
from .tiles import FIRST_SETS, FIRST_WAYS, LONGEST, SETS, WAYS, Wanted, crowded

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


def wanted(sides: Sides) -> Wanted:
    """What makes a good tile of whole blocks past the caches."""
    item, host = sides.item, sides.host
    if sides.far and item >= 4:
        return Wanted(64 * item, LONGEST)
    if sides.far:
        # Where the second-level cache loses rows before the next tile asks for them, more of each is read at once.
        loses = host.intel and sides.source_crowds(LONGEST // 2 // item, SETS, _LOST)
        lines = not sides.source_crowds(sides.of_line, SETS, 2 * WAYS)
        return Wanted((4 if sides.shares or loses else 2) * LINE, LONGEST // 2, lines=lines)
    if item >= 4:
        return Wanted(8 * LINE, 4 * LINE, lines=_is_ragged(sides), pairs=True)
    short = sides.shares and abs(sides.b_dims[0].src) < _SHORT
    if host.small_first:
        # Of long source rows little is kept until the next block asks for it (130 layouts: 0.87 of the time of squares;
        # 512 by 128 bytes, or 256 by 256, were 0.97 and 0.91).
        return Wanted(_SHORT if short else 2 * LINE, 4 * LINE, lines=True, pairs=True)
    rows = sides.sources(2 * sides.of_line)
    crowds = crowded(rows, FIRST_SETS, FIRST_WAYS)
    if item == 1 and (crowds or _is_uneven(sides)) and not crowded(rows, FIRST_SETS, 4 * FIRST_WAYS):
        return Wanted(_SHORT if sides.shares else 4 * LINE, 4 * LINE, lines=True)
    if short and host.intel:
        return Wanted(_SHORT, 2 * LINE, lines=True, pairs=True)
    # What the first-level cache does not keep is read no more than it has to be.
    return Wanted(LINE if crowds else 4 * LINE, 2 * LINE, lines=True, pairs=True)


def _is_ragged(sides: Sides) -> bool:
    """Whether squares overlap: lines of the target would be streamed twice."""
    return -(-sides.a_bytes // LINE) * LINE > _OVERLAP * sides.a_bytes


def _is_uneven(sides: Sides) -> bool:
    """Whether target rows that follow each other in the source are an odd number of lines apart: of Intel's alone."""
    return sides.host.intel and sides.a_dim.dst // LINE % 2 != 0


def whole_lines(sides: Sides) -> int:
    """Bytes of a target row that are whole lines, where its nearest dimensions end within one; 0 where none do."""
    row, whole = sides.item, 0
    for d in sides.b_dims[:-1]:
        row *= d.length
        whole = lcm(row, LINE) if row % LINE and lcm(row, LINE) <= _MOST else whole
    return whole
