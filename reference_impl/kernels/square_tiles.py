"""Tiles of transposes whose blocks are squares, straight from memory to memory, or gathered into a buffer first.

For registers of a line, and for what the caches keep; `half_lines.py`, `narrow_blocks.py`, `small_first.py`
and `large_first.py` have the other rules.
"""

from collections.abc import Sequence
from math import prod

from . import large_first, small_first
from .normal import Dim
from .plans import LINE, Host
from .tiles import LONGEST, Wanted, fills_lines, keeps_lines, shares


def wanted_of_squares(
    a_dim: Dim, b_dims: Sequence[Dim], item: int, far: bool, streamed: bool, host: Host
) -> Wanted:  # fmt: skip
    """What makes a good tile of whole blocks; the source is in one piece along `a_dim`."""
    b_bytes = item * prod(d.length for d in b_dims)
    if host.smallest_tiles and streamed:
        other = small_first.wanted_past_small_first(a_dim, b_dims, item, far, host)
        if other is not None:
            return other
    if item < 4:
        return _wanted_small(b_dims, item, far, host)
    if far:
        return Wanted(512, LONGEST)
    if b_bytes < _SHORTEST:
        # Where the target's rows are short, more of them make a tile.
        a_bytes = min(1024, 128 * 2048 // b_bytes)
        fewer = max(4 * LINE, min(a_bytes, 128 * 1024 // b_bytes))
        return Wanted(fewer if host.small_tiles else a_bytes, LONGEST)
    if shares(b_dims):
        return Wanted(2 * LINE if host.intel else 1024, 2048)
    # A line of each row and no more, or what the first-level cache holds, if all these lines and the next ones, which
    # are asked for, are kept until then.
    if host.smallest_tiles:
        tiles = [(LINE, 128 * item)]
    else:
        tiles = [(4 * LINE, 512)] if host.small_tiles else [(LINE, 4096), (LINE, 2048), (LINE, 1024)]
    return Wanted(
        *next((tile for tile in tiles if keeps_lines(b_dims, item, tile[1], host.cache_bytes)), (2 * LINE, 2048))
    )


def _wanted_small(b_dims: Sequence[Dim], item: int, far: bool, host: Host) -> Wanted:
    """The same of one- and two-byte items."""
    b_bytes = item * prod(d.length for d in b_dims)
    if far:
        # A buffer of 128 KB for the target's rows, or so, where shorter pieces share no lines.
        short = max(2 * LINE, min(256, item * 128 * 1024 // b_bytes))
        a_bytes = short if host.small_tiles and not shares(b_dims) else 256
        return Wanted(a_bytes, LONGEST if b_bytes <= LONGEST else LONGEST // 2)
    if shares(b_dims):
        whole = max(abs(d.src) for d in b_dims) <= 1024
        return Wanted(1024, 256) if whole or not host.small_tiles else Wanted(2 * LINE, 512)
    if b_bytes < _SHORTEST:
        return Wanted(256, 1024)
    return Wanted(LINE if host.smallest_tiles and item == 2 else 2 * LINE, 1024)


def wanted_of_gathered(
    a_bytes: int, b_dims: Sequence[Dim], item: int, far: bool, streamed: bool, host: Host
) -> Wanted:  # fmt: skip
    """What makes a good tile that is no whole blocks: its rows, of so many bytes, are gathered into a buffer."""
    b_bytes = item * prod(d.length for d in b_dims)
    if host.small_tiles and streamed and item >= 4 and a_bytes < LINE <= b_bytes:
        # Equal pieces of target rows, and no scrap, which would take as long.
        piece = small_first.PIECE if host.small_first else large_first.PIECE
        number = max(1, round(b_bytes / piece))
        return Wanted(LINE, -(-b_bytes // (number * LINE)) * LINE)
    if host.smallest_tiles and not far and b_bytes < 256:
        return Wanted(2 * LINE, 512)
    most = 512 if b_bytes < LINE else 1024
    if item >= 4:
        return Wanted(most, 1024) if far else Wanted(min(most, max(128, 128 * 2048 // b_bytes)), 2048)
    return Wanted(most, 2048) if far else Wanted(most if b_bytes < LINE or shares(b_dims) else 256, 256)


def moves_crowds(a_dims: Sequence[Dim], b_dims: Sequence[Dim], item: int, streamed: bool, host: Host) -> bool:
    """Whether squares are better than to gather rows that crowd the second-level cache; both sides' nearest dimensions.

    Never where they fill no lines of the target (1.2 to 3.5 of the time).
    """
    if not (host.small_tiles and fills_lines(b_dims, item)):
        return False
    if host.small_first:
        return streamed and small_first.moves_crowds(a_dims, item)
    return large_first.moves_crowds(a_dims, item)


_SHORTEST = 1024
"""Bytes of target rows below which more of them make a tile."""
