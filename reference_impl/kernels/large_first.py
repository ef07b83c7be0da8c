"""Tiles of transposes past the caches with registers of a line and a first-level cache of 48 KB: AMD's family 26.

Hardware fetches ahead in few rows that are read some lines at a time, and target rows that fill their lines let a tile
be as low as that. The numbers are those that were best, or next to it, in some 8,000 layouts, drawn and chosen, beside
a second-level cache of 1 MB and a last-level one of 32 MB (docs/kernel-decisions.md).
"""

import numpy as np
import numpy.typing as npt

from .plans import LINE
from .sides import Sides
from .tiles import FIRST_SETS, FIRST_WAYS, LONGEST, SETS, WAYS, Wanted, rows_of_block

_SHORT = 512
"""Bytes of target rows from which on those of large items need no more of the source's rows to make a tile."""
_SHORT_SOURCE = 1024
"""Bytes of source rows for which four lines of each target row are stored in turn."""
_HELD = 1 << 15
"""Bytes of a tile that the first-level cache holds beside what is asked for."""
PIECE = 768
"""Bytes of target rows for which source rows that are shorter than a line are gathered: 0.93 to 0.95 of the time of 300
layouts of four bytes, 0.87 to 0.98 of 100 of eight."""
_SPREAD = 16
"""Sets of the first-level cache over which a block's target rows lie, at least, where squares are worth it."""


def wanted(sides: Sides) -> Wanted | None:
    """What makes a good tile of whole blocks; None where squares are as good."""
    item, b_bytes = sides.item, sides.b_bytes
    if not sides.streamed:
        return _of_crowds(sides)
    if sides.far:
        # Of 88 layouts these took 0.94 of the time of 512 bytes, and 256 of bytes; of two bytes 256 took 0.94 of 128.
        return Wanted((2 if item == 1 else 4) * LINE, LONGEST if item >= 4 or b_bytes <= LONGEST else LONGEST // 2)
    if not sides.fills_lines:
        return _of_unfilled(sides)
    if _likes_low_tiles(sides):
        return Wanted(8 * LINE, LINE)
    if item < 4 and sides.source_crowds(sides.of_line, FIRST_SETS, FIRST_WAYS):
        return _of_crowds(sides)
    lines = _of_spread_lines(sides)
    if lines is not None:
        return lines
    if item < 4:
        return _of_small_items(sides) if b_bytes >= 4 * LINE and not sides.shares else None
    if b_bytes < _SHORT:
        return None
    a_bytes = sides.a_dim.length * item
    if item == 4:
        return Wanted(2 * LINE, 8 * LINE) if a_bytes < 2 * LINE else Wanted(4 * LINE, 2 * LINE, pairs=True)
    # 256 bytes, but 512 where these are a source row (0.82 to 0.87 of the time of 42 layouts), or where the last-level
    # cache keeps no lines (0.83 to 0.94 of 45).
    return Wanted((4 if a_bytes > 8 * LINE and sides.keeps_lines(2048) else 8) * LINE, 4 * LINE)


def _of_spread_lines(sides: Sides) -> Wanted | None:
    """The same where lines can be stored so that those next to each other in time lie at all places of four; else None.

    Where target rows lie no multiple of four lines apart, a line of each of them, and source rows are read whole: 0.81
    of the time of 220 layouts of two bytes, 0.88 of 230 of one, 0.87 of 360 of four; not of longer source rows (1.1),
    nor of eight bytes (1.03). Where they do lie so, four lines of each row in turn, if the first-level cache holds a
    tile of whole source rows (0.81 of the time of 160 layouts), or these are short and lie in half of its sets: 0.80
    and 0.82 of the time of 290 and 270 layouts of one and four bytes; of two bytes, and of rows of 4 KB, 1.0 to 1.2.
    """
    item, a_bytes = sides.item, sides.a_dim.length * sides.item
    if item >= 8 or not 2 * LINE <= a_bytes <= LONGEST:
        return None
    if sides.a_dim.dst % (4 * LINE):
        return Wanted(LONGEST, LINE, lines=True)
    number = 4 * sides.of_line
    is_held = number * a_bytes <= _HELD
    crowds = sides.source_crowds(number, FIRST_SETS, FIRST_WAYS if is_held else 8 // item)
    if crowds or not (is_held or (item != 2 and a_bytes <= _SHORT_SOURCE)):
        return None
    return Wanted(_SHORT_SOURCE, 4 * LINE, lines=True, by_rows=True)


def _of_small_items(sides: Sides) -> Wanted | None:
    """The same of long target rows and source rows of whole lines that crowd no cache: blocks of a line by 16 bytes."""
    # What lies in many sets is there still when the next block asks for it: 0.93 and 0.85 of the time of 210 layouts of
    # one and two bytes.
    if not sides.source_crowds(LINE, FIRST_SETS, 2):
        return Wanted(LINE, 4 * LINE, lines=True, pairs=True)
    return Wanted(4 * LINE, 2 * LINE, lines=True, pairs=True) if sides.item == 1 else None


def _likes_low_tiles(sides: Sides) -> bool:
    """Whether squares one line wide are best: of two bytes, whose source rows crowd the first-level cache.

    0.77 of the time of 180 layouts where blocks of a line by 16 bytes were best before, 0.8 of 100 where other squares
    were; not where the target's rows crowd that cache, too (1.2), and not of bytes (1.2).
    """
    if sides.item != 2 or sides.b_bytes < 2 * LINE:
        return False
    near = rows_of_block([sides.a_dim], "dst", sides.of_line)
    return sides.source_crowds(sides.of_line, FIRST_SETS, FIRST_WAYS // 2) and _are_spread(near)


def _of_unfilled(sides: Sides) -> Wanted:
    """The same where a target row's nearest dimensions fill no lines: few rows of long pieces leave fewer scraps."""
    if sides.item >= 4:
        return Wanted(1024, 1024)  # 0.64 to 0.81 of the time of 54 layouts of eight bytes, 0.94 of 39 of four
    # A line of the target by 16 bytes of source rows: 0.74 to 0.88 of the time of 500 layouts.
    if sides.source_crowds(2 * sides.of_line, FIRST_SETS, FIRST_WAYS):
        return Wanted(512, 1024, lines=True)
    return Wanted(512, 2048, lines=True, pairs=True)


def _of_crowds(sides: Sides) -> Wanted | None:
    """The same where a block's source rows crowd the second-level cache; None where they do not."""
    return Wanted(1024, LINE) if sides.source_crowds(sides.of_line, SETS, 2 * WAYS) else None


def moves_crowds(sides: Sides) -> bool:
    """Whether squares are worth it for rows that crowd the second-level cache.

    0.63 to 0.78 of the time of 450 layouts past the caches, 0.73 and 0.93 of 100 within them; not where the target's
    rows lie 512 bytes or a multiple of that apart (1.2).
    """
    return _are_spread(sides.targets)


def _are_spread(rows: npt.NDArray[np.int64]) -> bool:
    """Whether rows lie in many sets of the first-level cache."""
    return len(np.unique(rows % (FIRST_SETS * LINE) // LINE)) >= min(_SPREAD, len(rows))
