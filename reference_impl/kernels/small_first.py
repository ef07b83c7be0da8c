"""Tiles of transposes past the caches with registers of a line and a first-level cache of 32 KB: AMD's family 25.

Rules for where the tiles of `square_tiles.py` are not the best: what is asked for ahead is gone before it is taken, or
lies on lines that other pieces take, too. The numbers are those that were best, or next to it, in some 2,000 layouts,
drawn and chosen, beside a second-level cache of 1 MB and a last-level one of 32 MB (docs/kernel-decisions.md).
"""

from .plans import LINE
from .sides import Sides
from .tiles import LONGEST, SETS, WAYS, Wanted, crowded, offsets

_SHORT = 512
"""Bytes of target rows below which a tile holds whole ones."""
PIECE = 512
"""Bytes of target rows for which source rows that are shorter than a line are gathered: 0.80 to 0.88 of the time of 160
layouts of items of four bytes and more."""
_HOPELESS = 80
"""Rows that fall into one set of the second-level cache from which on no cache keeps a line of each."""
_FAR_APART = 9000
"""Bytes between source rows from which on fewer of large items are read at a time."""


def wanted(sides: Sides) -> Wanted | None:
    """What makes a good tile of whole blocks past the caches; None where squares are good."""
    item = sides.item
    whole_lines = sides.a_dim.length * item % LINE == 0
    if sides.far:
        return Wanted(_piece_of_lines(sides), LONGEST) if whole_lines and sides.b_bytes < _SHORT else None
    ragged = not whole_lines or sides.shares
    if item < 4:
        return _of_small_items(sides, ragged)
    if not sides.fills_lines:
        return None
    if ragged or not sides.keeps_lines(128 * item):
        # Long pieces of few rows: 0.82 to 0.9 of the time of 500 layouts.
        return Wanted(16 * LINE, (32 if item == 4 else 16) * item, pairs=True)
    if item >= 8 and abs(sides.b_dims[0].src) >= _FAR_APART:
        return Wanted(8 * LINE, 16 * item, pairs=True)  # 0.91 of the time of 115 matrices
    return None


def moves_crowds(sides: Sides) -> bool:
    """Whether squares are worth it for rows that crowd the second-level cache: not where the target's do, too (1.9)."""
    return not sides.target_crowds(SETS, 2 * WAYS)


def _piece_of_lines(sides: Sides) -> int:
    """Bytes of source rows where a tile holds whole rows of the target, which begin anywhere."""
    if sides.item >= 8:
        return 8 * LINE
    rows = offsets(sides.b_dims, "src")
    if crowded(rows, 2 * SETS, _HOPELESS):
        return 4 * LINE
    if sides.item == 1:
        return 2 * LINE
    return LINE if crowded(rows, SETS, WAYS) else 4 * LINE


def _of_small_items(sides: Sides, ragged: bool) -> Wanted | None:
    if sides.fills_lines and sides.source_crowds(sides.of_line, SETS, 2 * WAYS):
        # To gather them first took up to four times as long: 0.6 to 0.7 of the time of 100 layouts of powers of two.
        return Wanted(1024, 2 * LINE)
    if sides.fills_lines and sides.shares:
        return Wanted(1024, 256)  # 0.74 to 0.96 of the time of 30 layouts
    if not sides.fills_lines and (ragged or sides.item == 1) and sides.keeps_lines(2048):
        return Wanted(1024, 512, lines=True)  # 0.71 to 0.84 of the time of 29 layouts
    return None
