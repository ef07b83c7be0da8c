"""Tiles of transposes whose blocks are squares, straight from memory to memory, or gathered into a buffer first.

For registers of a line, and for what the caches keep; `half_lines.py`, `narrow_blocks.py`, `small_first.py`
and `large_first.py` have the other rules.
"""

from . import large_first, small_first
from .plans import LINE
from .sides import Sides
from .tiles import LONGEST, Wanted

_SHORTEST = 1024
"""Bytes of target rows below which more of them make a tile."""


def wanted(sides: Sides) -> Wanted:
    """What makes a good tile of whole blocks."""
    host, item, b_bytes = sides.host, sides.item, sides.b_bytes
    if item < 4:
        return _wanted_small(sides)
    if sides.far:
        return Wanted(512, LONGEST)
    if b_bytes < _SHORTEST:
        # Where the target's rows are short, more of them make a tile.
        a_bytes = min(1024, 128 * 2048 // b_bytes)
        fewer = max(4 * LINE, min(a_bytes, 128 * 1024 // b_bytes))
        return Wanted(fewer if host.small_tiles else a_bytes, LONGEST)
    if sides.shares:
        return Wanted(2 * LINE if host.intel else 1024, 2048)
    # A line of each row and no more, or what the first-level cache holds, if all these lines and the next ones, which
    # are asked for, are kept until then.
    if host.smallest_tiles:
        tiles = [(LINE, 128 * item)]
    else:
        tiles = [(4 * LINE, 512)] if host.small_tiles else [(LINE, 4096), (LINE, 2048), (LINE, 1024)]
    return Wanted(*next((tile for tile in tiles if sides.keeps_lines(tile[1])), (2 * LINE, 2048)))


def _wanted_small(sides: Sides) -> Wanted:
    """The same of one- and two-byte items."""
    host, item, b_bytes = sides.host, sides.item, sides.b_bytes
    if sides.far:
        # A buffer of 128 KB for the target's rows, or so, where shorter pieces share no lines.
        short = max(2 * LINE, min(256, item * 128 * 1024 // b_bytes))
        a_bytes = short if host.small_tiles and not sides.shares else 256
        return Wanted(a_bytes, LONGEST if b_bytes <= LONGEST else LONGEST // 2)
    if sides.shares:
        whole = max(abs(d.src) for d in sides.b_dims) <= 1024
        return Wanted(1024, 256) if whole or not host.small_tiles else Wanted(2 * LINE, 512)
    if b_bytes < _SHORTEST:
        return Wanted(256, 1024)
    return Wanted(LINE if host.smallest_tiles and item == 2 else 2 * LINE, 1024)


def wanted_of_gathered(sides: Sides) -> Wanted:
    """What makes a good tile that is no whole blocks: its rows are gathered into a buffer."""
    host, item, b_bytes = sides.host, sides.item, sides.b_bytes
    if host.small_tiles and sides.streamed and item >= 4 and sides.a_bytes < LINE <= b_bytes:
        # Equal pieces of target rows, and no scrap, which would take as long.
        piece = small_first.PIECE if host.small_first else large_first.PIECE
        number = max(1, round(b_bytes / piece))
        return Wanted(LINE, -(-b_bytes // (number * LINE)) * LINE)
    if host.smallest_tiles and not sides.far and b_bytes < 256:
        return Wanted(2 * LINE, 512)
    most = 512 if b_bytes < LINE else 1024
    if item >= 4:
        return Wanted(most, 1024) if sides.far else Wanted(min(most, max(128, 128 * 2048 // b_bytes)), 2048)
    return Wanted(most, 2048) if sides.far else Wanted(most if b_bytes < LINE or sides.shares else 256, 256)


def moves_crowds(sides: Sides) -> bool:
    """Whether squares are better than to gather rows that crowd the second-level cache.

    Never where they fill no lines of the target (1.2 to 3.5 of the time).
    """
    if not (sides.host.small_tiles and sides.fills_lines):
        return False
    if sides.host.small_first:
        return sides.streamed and small_first.moves_crowds(sides)
    return large_first.moves_crowds(sides)
