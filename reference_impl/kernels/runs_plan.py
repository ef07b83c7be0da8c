"""Plans of runs: bytes that lie in one piece on both sides, some at a time or each for itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .descriptor import AHEAD, BY_ROWS, CALLED, ONE, STAGE_OUT, STREAM, Loop
from .normal import Dim, Normal
from .plans import LINE, OWN, TOGETHER, Choice, Plan, Target, made, ordered
from .tiles import (
    FIRST_SETS,
    FIRST_WAYS,
    chain,
    chunk,
    crowded,
    cut,
    group,
    matrices,
    odd_lines,
    offsets,
    some,
    tiled,
)


def runs_plan(form: Normal, target: Target, choice: Choice, streamed: bool) -> Plan:
    """The plan where the item, or the last dimension, is in one piece on both sides."""
    nbytes = form.item
    dims = list(form.dims)
    if dims and dims[-1].dst == form.item and dims[-1].src == form.item:
        nbytes *= dims.pop().length
    own = choice.streamed < 0 and target.small_tiles and not target.smallest_tiles
    if own and nbytes >= _PIECE and form.nbytes < target.cache_bytes:
        streamed = False
    shared = target.phase != 0 or nbytes % LINE != 0 or any(d.dst % LINE for d in dims)
    if streamed and shared and dims:
        if dims[-1].dst == nbytes < _LONG:
            own = replace(choice, streamed=-1) == OWN
            return (_pieces_in_order(form, dims, nbytes) if own else None) or _pieces(form, dims, nbytes, choice)
        # Lines that are streamed in part are fetched all the same.
        streamed = nbytes >= _MIDDLE
    order = choice.order or ("src" if streamed else "dst")
    loops = ordered([Loop(*d) for d in dims], order)
    if len(loops) > 1 and nbytes <= (2 * LINE if target.small_first else LINE) and streamed:
        near_src, near_dst = min(loops, key=lambda x: abs(x.src)), min(loops, key=lambda x: x.dst)
        if near_src != near_dst:
            # Some lines that follow each other in the target by some that follow in the source.
            rest = [loop for loop in loops if loop not in (near_src, near_dst)]
            if target.small_first or target.intel:
                a, b = some(near_src, 128), some(near_dst, 512 // nbytes)
            else:
                a, b = some(near_dst, 256 // nbytes), some(near_src, 2048 // nbytes)
            loops = ordered([*rest, a.loop("a"), b.loop("b")], order)
            return made("runs", form, loops, streamed, a, b, mode=STREAM * streamed, run=nbytes)
    long = None if streamed else _long_loop(loops, nbytes)
    if long is not None:
        a, b = some(loops[-1], _FEW), some(long, _turns(long))
        loops = ordered([*(x for x in loops[:-1] if x is not long), a.loop("a"), b.loop("b")], order)
        return made("runs", form, loops, False, a, b, run=nbytes)
    a = cut(Dim(nbytes, 1, 1), 1)
    mode = STREAM if streamed else _cached_mode(form, nbytes, loops[-1] if loops else None, target)
    loops, b = tiled(loops, a.chunk)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    return made("runs", form, loops, streamed, a, b, mode=mode)


def _long_loop(loops: Sequence[Loop], nbytes: int) -> Loop | None:
    """A long loop that short ones around short runs may go around: how long runs are is looked at once for its turns.

    Lines of each turn are looked for again with each run, so that they must stay in the first-level cache.
    """
    if len(loops) < 2 or loops[-1].length >= _FEW or nbytes > 2 * LINE or nbytes * loops[-1].length > _ROW:
        return None
    long = min((x for x in loops if x.length >= _FEW), key=lambda x: max(x.dst, abs(x.src)), default=None)
    if long is None:
        return None
    lines = [np.unique(np.arange(_turns(long)) * abs(step) // LINE) for step in (long.dst, long.src)]
    return None if any(crowded(x * LINE, FIRST_SETS, FIRST_WAYS // 2) for x in lines) else long


def _turns(long: Loop) -> int:
    return max(_FEW, _HELD // max(long.dst, abs(long.src)))


def _cached_mode(form: Normal, nbytes: int, loop: Loop | None, target: Target) -> int:
    """Long runs within the caches are the C library's: its string instructions fetch no line that they fill."""
    if nbytes >= (_LONG if form.nbytes <= _SECOND else _PIECE // 2):
        return CALLED
    if loop is None or 0 <= loop.src - nbytes < _NEAR:
        return 0  # hardware goes on to what is near
    many = target.width < LINE and loop.length >= _MANY
    return AHEAD if many or (form.nbytes > _SECOND and nbytes >= _LONG // 2) else 0


_SECOND = 1 << 20
"""Bytes of a copy whose source the second-level cache keeps, too."""
_PIECE = 1 << 16
"""Bytes of a run that the C library copies as quickly through the last-level cache as others past it."""
_MANY = 64
"""Runs in a row from which on those that come eight later are worth asking for."""
_NEAR = 256
"""Bytes between two runs that hardware goes on over."""
_FEW, _ROW, _HELD = 16, 512, 16384
"""Turns below which a loop around short runs is not worth a call, bytes of its runs at most; bytes that the turns of a
long one reach over."""
_SMALL = 512
"""Bytes of a small matrix of runs, at most, of which several are put together at once."""
_MIDDLE, _LONG = 320, 1024
"""Bytes of a run from which on the lines that it shares with others, or with a gap, are a small part of it."""


def _pieces_in_order(form: Normal, dims: Sequence[Dim], nbytes: int) -> Plan | None:
    """Few runs at a time, which share lines in the target, put together as they follow each other there.

    None where there are many: each is read from elsewhere, more streams than hardware looks after, unless they are so
    short that how long they are should be looked at for many at once. None of small matrices, which are many at a time.
    """
    last, near = dims[-1], min(dims, key=lambda d: abs(d.src))
    if last.length >= _STREAMS and (near.length >= _STREAMS or nbytes > _SHORT):
        return None
    # Lines of the source that runs share: the caches keep them until the next of these is taken.
    window = max((d.dst for d in dims if abs(d.src) < nbytes + LINE), default=0)
    if window * (nbytes + LINE) // nbytes > _KEPT:
        return None
    b, rest, a = some(Loop(*last), _TILE // nbytes), [Loop(*d) for d in dims[:-1]], ONE
    follow = next((x for x in rest if x.dst == last.length * nbytes), None)
    if b.loop_length == 1 and follow is not None:
        a, rest = some(follow, _TILE // follow.dst), [x for x in rest if x is not follow]
    tile = a.chunk * b.chunk * nbytes
    if tile < _SMALL:
        return None  # the odometer would be turned for each
    loops, held = ordered([*rest, a.loop("a"), b.loop("b")], "dst"), tile + TOGETHER + 2 * LINE
    return made("pieces", form, loops, True, a, b, STAGE_OUT, mode=STREAM | BY_ROWS, run=nbytes, out_bytes=held)


_STREAMS, _SHORT = 8, 48
"""Runs in a row from which on they are many; bytes of short ones."""
_KEPT = 1 << 17
"""Bytes of the source that the second-level cache keeps beside all else."""
_TILE = 4096
"""Bytes of a tile in the target's order."""


def _pieces(form: Normal, dims: Sequence[Dim], nbytes: int, choice: Choice) -> Plan:
    """Runs that share lines in the target, where they follow each other: put together in a buffer."""
    last = len(dims) - 1
    near = min(range(len(dims)), key=lambda k: abs(dims[k].src))
    # Where few rows make a tile they are longer; one alone is asked for ahead by its length.
    a_bytes, b_bytes = 512, 4096 if near == last else 8192 if dims[near].length < 8 else 2048
    a_bytes, b_bytes = choice.a_bytes or a_bytes, choice.b_bytes or b_bytes
    b_chain = chain(dims, last, "dst", {near, last}, nbytes, b_bytes)
    a_chain = [] if near == last else [near]
    if a_chain and dims[near].src == nbytes:
        a_chain = chain(dims, near, "src", {near, *b_chain}, nbytes, a_bytes)
    a_dims, b_dims = [dims[k] for k in a_chain], [dims[k] for k in b_chain]
    a, a_inner = chunk(a_dims, a_bytes // nbytes, 1) if a_dims else (ONE, 1)
    b, b_inner = chunk(b_dims, b_bytes // nbytes, 1)
    a_rows, b_rows = a.chunk * a_inner, b.chunk * b_inner
    a_table = offsets([*a_dims[:-1], Dim(a.chunk, a.dst, a.src)], "dst")
    b_table = offsets([*b_dims[:-1], Dim(b.chunk, b.dst, b.src)], "src")
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in a_chain and k not in b_chain]
    together = group(a_table, b_rows * nbytes) if b.loop_length == 1 else 1
    c = ONE
    if together == len(a_table) and a.loop_length == b.loop_length == 1:
        c, rest = matrices(rest, a_rows * b_rows * nbytes, _SMALL, 4096 if nbytes < 24 else 2048)
    loops = ordered([*rest, a.loop("a"), b.loop("b"), c.loop("c")], choice.order or "src")
    pitch = b_rows * nbytes if together > 1 or c.chunk > 1 else odd_lines(b_rows * nbytes)
    return made(
        "pieces", form, loops, True, a, b, STAGE_OUT, (a_table, b_table), mode=STREAM, run=nbytes,
        stride=a_dims[0].src if a_dims else 0, a_inner=a_inner, b_inner=b_inner,
        a_table=a_table.ctypes.data, b_table=b_table.ctypes.data,
        out_pitch=pitch, out_group=together, out_bytes=pitch * a_rows * c.chunk + LINE, c=c,
    )  # fmt: skip
