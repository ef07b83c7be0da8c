"""Tiles of transposes whose blocks are squares, straight from memory to memory, or gathered into a buffer first.

For registers of a line, and for what the caches keep; `half_lines.py` and `narrow_blocks.py` have the other rules.
"""

from collections.abc import Sequence
from math import prod

from .normal import Dim
from .plans import LINE, Host
from .tiles import LONGEST, SETS, WAYS, Wanted, chunk, crowded, fills_lines, offsets, rows_of_block, shares


def wanted_of_squares(
    a_dim: Dim, b_dims: Sequence[Dim], item: int, far: bool, streamed: bool, host: Host
) -> Wanted:  # fmt: skip
    """What makes a good tile of whole blocks; the source is in one piece along `a_dim`."""
    b_bytes = item * prod(d.length for d in b_dims)
    if far and host.smallest_tiles and b_bytes < _SHORTEST // 2 and a_dim.length * item % LINE == 0:
        return Wanted(_piece_of_lines(b_dims, item), LONGEST)
    if item < 4:
        past = host.smallest_tiles and streamed and not far
        return (past and _small_past_the_caches(a_dim, b_dims, item, host)) or _wanted_small(b_dims, item, far, host)
    if far:
        # 45 layouts on family 26: 0.94 of the time of 512 (128: 0.95, 64: 1.2, 1024: 1.09).
        return Wanted(256 if host.family_26 else 512, LONGEST)
    if host.smallest_tiles and streamed and fills_lines(b_dims, item):
        if a_dim.length * item % LINE or not _keeps(b_dims, item, 128 * item, host):
            # What is asked for is gone before the next blocks take it, or lies on the lines of other pieces: longer
            # ones of fewer rows take 0.82 to 0.9 of the time of 500 layouts.
            return Wanted(16 * LINE, (32 if item == 4 else 16) * item, pairs=True)
        if item >= 8 and abs(b_dims[0].src) >= _FAR_APART:
            return Wanted(8 * LINE, 16 * item, pairs=True)  # 0.95 of the time of 80 layouts
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
    return Wanted(*next((tile for tile in tiles if _keeps(b_dims, item, tile[1], host)), (2 * LINE, 2048)))


def _piece_of_lines(b_dims: Sequence[Dim], item: int) -> int:
    """Bytes of source rows that are whole lines, where a tile holds whole rows of a target that begin anywhere."""
    rows = rows_of_block(b_dims, "src", _SHORTEST // 2 // item)
    if item >= 8:
        return 8 * LINE
    if crowded(rows, 2 * SETS, _HOPELESS):
        return 4 * LINE
    if item == 1:
        return 2 * LINE
    return LINE if crowded(rows, SETS, WAYS) else 4 * LINE


def _small_past_the_caches(a_dim: Dim, b_dims: Sequence[Dim], item: int, host: Host) -> Wanted | None:
    """The same of one- and two-byte items that a small first-level cache does not hold, where that is another tile."""
    fills, ragged = fills_lines(b_dims, item), a_dim.length * item % LINE
    if fills and shares(b_dims):
        return Wanted(1024, 256)  # 0.74 to 0.96 of the time of 30 layouts
    if not fills and (ragged or item == 1) and _keeps(b_dims, item, 2048, host):
        return Wanted(1024, 512, lines=True)  # 0.71 to 0.84 of the time of 29 layouts
    return None


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


def _keeps(b_dims: Sequence[Dim], item: int, b_bytes: int, host: Host) -> bool:
    """Whether the last-level cache keeps a line of each source row that target rows of so many bytes take."""
    b, _ = chunk(b_dims, b_bytes // item, 1)
    rows = offsets([*b_dims[:-1], b_dims[-1]._replace(length=b.chunk)], "src")
    return not crowded(rows, max(1, host.cache_bytes // (_LAST_WAYS * LINE)), _KEPT)


def wanted_of_gathered(
    a_bytes: int, b_dims: Sequence[Dim], item: int, far: bool, streamed: bool, host: Host
) -> Wanted:  # fmt: skip
    """What makes a good tile that is no whole blocks: its rows, of so many bytes, are gathered into a buffer."""
    b_bytes = item * prod(d.length for d in b_dims)
    if host.smallest_tiles and streamed and a_bytes < LINE <= b_bytes and item >= 4:
        # Equal pieces of some 512 bytes: a scrap of a target row would take as long as a larger one.
        number = max(1, round(b_bytes / 512))
        return Wanted(LINE, -(-b_bytes // (number * LINE)) * LINE)
    if host.smallest_tiles and not far and b_bytes < 256:
        return Wanted(2 * LINE, 512)
    most = 512 if b_bytes < LINE else 1024
    if item >= 4:
        return Wanted(most, 1024) if far else Wanted(min(most, max(128, 128 * 2048 // b_bytes)), 2048)
    return Wanted(most, 2048) if far else Wanted(most if b_bytes < LINE or shares(b_dims) else 256, 256)


_SHORTEST = 1024
"""Bytes of target rows below which more of them make a tile."""
_FAR_APART = 9000
"""Bytes between source rows from which on fewer of large items are read at a time."""
_HOPELESS = 80
"""Rows that fall into one set of a second-level cache of 1 MB, from which on no cache keeps lines of so many."""
_STREAMED = {4: (2 * LINE, 1024), 8: (4 * LINE, 256)}
"""Bytes of source and of target rows of a tile past the caches, by the bytes of an item, on AMD's family 26: 0.86 and
0.96 of the time that 256 by 512 take, which are better within the caches."""
_LAST_WAYS, _KEPT = 10, 2
"""Ways of a last-level cache's set that `cache_bytes` counts on, and rows of a tile that it keeps beside all else."""
