"""Tiles of transposes whose blocks are squares, straight from memory to memory, or gathered into a buffer first.

For registers of a line, and for what the caches keep; `half_lines.py`, `narrow_blocks.py` and `small_first.py` have
the other rules.
"""

from collections.abc import Sequence
from math import prod

from .normal import Dim
from .plans import LINE, Host
from .small_first import wanted_of_short_sources, wanted_past_small_first
from .tiles import LONGEST, Wanted, keeps_lines, shares


def wanted_of_squares(
    a_dim: Dim, b_dims: Sequence[Dim], item: int, far: bool, streamed: bool, host: Host
) -> Wanted:  # fmt: skip
    """What makes a good tile of whole blocks; the source is in one piece along `a_dim`."""
    b_bytes = item * prod(d.length for d in b_dims)
    if host.smallest_tiles and streamed:
        other = wanted_past_small_first(a_dim, b_dims, item, far, host)
        if other is not None:
            return other
    if item < 4:
        return _wanted_small(b_dims, item, far, host)
    if far:
        # 45 layouts on family 26: 0.94 of the time of 512 (128: 0.95, 64: 1.2, 1024: 1.09).
        return Wanted(256 if host.family_26 else 512, LONGEST)
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
    elif host.small_tiles and streamed and item in _STREAMED:
        tiles = [_STREAMED[item]]
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
        if host.family_26:
            a_bytes = 2 * LINE  # 43 layouts: 0.94 of the time of that (64: 1.0, 512: 1.12)
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
    if host.smallest_tiles and streamed:
        other = wanted_of_short_sources(a_bytes, b_dims, item)
        if other is not None:
            return other
    if host.smallest_tiles and not far and b_bytes < 256:
        return Wanted(2 * LINE, 512)
    most = 512 if b_bytes < LINE else 1024
    if item >= 4:
        return Wanted(most, 1024) if far else Wanted(min(most, max(128, 128 * 2048 // b_bytes)), 2048)
    return Wanted(most, 2048) if far else Wanted(most if b_bytes < LINE or shares(b_dims) else 256, 256)


_SHORTEST = 1024
"""Bytes of target rows below which more of them make a tile."""
_STREAMED = {4: (2 * LINE, 1024), 8: (4 * LINE, 256)}
"""Bytes of source and of target rows of a tile past the caches, by the bytes of an item, on AMD's family 26: 0.86 and
0.96 of the time that 256 by 512 take, which are better within the caches."""
