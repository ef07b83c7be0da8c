"""Tiles of transposes past the caches with registers of a line and a first-level cache of 32 KB: AMD's family 25.

Rules for where the tiles of `square_tiles.py` are not the best: what is asked for ahead is gone before it is taken, or
lies on lines that other pieces take, too. The numbers are those that were best, or next to it, in some 2,000 layouts,
drawn and chosen, beside a second-level cache of 1 MB and a last-level one of 32 MB (docs/kernel-decisions.md).
"""

from collections.abc import Sequence
from math import prod

from .normal import Dim
from .plans import LINE, Host
from .tiles import LONGEST, SETS, WAYS, Wanted, crowded, fills_lines, keeps_lines, offsets, rows_of_block, shares

_SHORT = 512
"""Bytes of target rows below which a tile holds whole ones."""
PIECE = 512
"""Bytes of target rows for which source rows that are shorter than a line are gathered: 0.80 to 0.88 of the time of 160
layouts of items of four bytes and more."""
_HOPELESS = 80
"""Rows that fall into one set of the second-level cache from which on no cache keeps a line of each."""
_FAR_APART = 9000
"""Bytes between source rows from which on fewer of large items are read at a time."""


def wanted_past_small_first(a_dim: Dim, b_dims: Sequence[Dim], item: int, far: bool, host: Host) -> Wanted | None:
    """What makes a good tile of whole blocks, whose source is in one piece along `a_dim`; None where squares are good.

    `far`: the target's rows begin anywhere in a line.
    """
    if far:
        whole_lines = a_dim.length * item % LINE == 0
        is_short = item * prod(d.length for d in b_dims) < _SHORT
        return Wanted(_piece_of_lines(b_dims, item), LONGEST) if whole_lines and is_short else None
    ragged = bool(a_dim.length * item % LINE) or shares(b_dims)
    if item < 4:
        return _of_small_items(b_dims, item, ragged, host)
    if not fills_lines(b_dims, item):
        return None
    if ragged or not keeps_lines(b_dims, item, 128 * item, host.cache_bytes):
        # Long pieces of few rows: 0.82 to 0.9 of the time of 500 layouts.
        return Wanted(16 * LINE, (32 if item == 4 else 16) * item, pairs=True)
    if item >= 8 and abs(b_dims[0].src) >= _FAR_APART:
        return Wanted(8 * LINE, 16 * item, pairs=True)  # 0.91 of the time of 115 matrices
    return None


def moves_crowds(a_dims: Sequence[Dim], item: int) -> bool:
    """Whether squares are worth it for rows that crowd the second-level cache: not where the target's do, too (1.9)."""
    return not crowded(rows_of_block(a_dims, "dst", LINE // item), SETS, 2 * WAYS)


def _piece_of_lines(b_dims: Sequence[Dim], item: int) -> int:
    """Bytes of source rows where a tile holds whole rows of the target, which begin anywhere."""
    if item >= 8:
        return 8 * LINE
    rows = offsets(b_dims, "src")
    if crowded(rows, 2 * SETS, _HOPELESS):
        return 4 * LINE
    if item == 1:
        return 2 * LINE
    return LINE if crowded(rows, SETS, WAYS) else 4 * LINE


def _of_small_items(b_dims: Sequence[Dim], item: int, ragged: bool, host: Host) -> Wanted | None:
    fills = fills_lines(b_dims, item)
    if fills and crowded(rows_of_block(b_dims, "src", LINE // item), SETS, 2 * WAYS):
        # To gather them first took up to four times as long: 0.6 to 0.7 of the time of 100 layouts of powers of two.
        return Wanted(1024, 2 * LINE)
    if fills and shares(b_dims):
        return Wanted(1024, 256)  # 0.74 to 0.96 of the time of 30 layouts
    if not fills and (ragged or item == 1) and keeps_lines(b_dims, item, 2048, host.cache_bytes):
        return Wanted(1024, 512, lines=True)  # 0.71 to 0.84 of the time of 29 layouts
    return None
