"""Plans of runs: bytes that lie in one piece on both sides, some at a time or each for itself."""

import math
from collections.abc import Sequence
from math import prod

import numpy as np

from .descriptor import CALLED, NEXT_RUN, ONE, STREAM, Chunked, Loop
from .normal import Dim, Normal
from .pieces_plan import Run, pieces, pieces_in_order
from .plans import LINE, Choice, Host, Plan, make_plan, ordered
from .tiles import FIRST_SETS, FIRST_WAYS, LATER, TILE, crowded, cut, later, limited, tiled


def runs_plan(form: Normal, host: Host, choice: Choice, streamed: bool) -> Plan:
    """The plan where the item, or the last dimension, is in one piece on both sides."""
    nbytes = form.item
    dims = list(form.dims)
    if dims and dims[-1].dst == form.item and dims[-1].src == form.item:
        nbytes *= dims.pop().length
    own = choice.streamed < 0 and host.family_26
    if own and nbytes >= _PIECE and form.nbytes < host.cache_bytes:
        streamed = False
    shared = host.dst_phase != 0 or nbytes % LINE != 0 or any(d.dst % LINE for d in dims)
    if streamed and dims and choice.is_own and host.carries and (shared or nbytes > _WHOLE):
        joined = _joined_runs(form, dims, nbytes, _LONGEST_RUN[host.small_first])
        if joined is not None:
            return joined
    if streamed and shared and dims:
        if dims[-1].dst == nbytes < _LONG:
            in_order = pieces_in_order(form, dims, Run(nbytes)) if choice.is_own else None
            return in_order or pieces(form, dims, Run(nbytes), choice)
        # Lines that are streamed in part are fetched all the same.
        streamed = nbytes >= _MIDDLE
    order = choice.order or ("src" if streamed else "dst")
    loops = ordered([Loop(*d) for d in dims], order)
    if len(loops) > 1 and nbytes <= (8 * LINE if host.small_first else LINE) and streamed:
        near_src, near_dst = min(loops, key=lambda x: abs(x.src)), min(loops, key=lambda x: x.dst)
        rows = prod(x.length for x in loops if abs(x.src) < abs(near_dst.src))
        if near_src != near_dst and (nbytes <= 2 * LINE or rows >= _STREAMS):
            # Some lines that follow each other in the target by some that follow in the source.
            rest = [loop for loop in loops if loop not in (near_src, near_dst)]
            if host.small_first or host.intel:
                near = 8 * LINE if nbytes <= LINE else 16 * LINE
                a, b = limited(near_src, 8192 // nbytes), limited(near_dst, near // nbytes)
            else:
                a, b = limited(near_dst, 256 // nbytes), limited(near_src, 2048 // nbytes)
            loops = ordered([*rest, a.loop("a"), b.loop("b")], order)
            return make_plan("runs", form, loops, streamed, a, b, mode=STREAM * streamed, run=nbytes)
    if streamed and host.wide_intel and not shared and len(loops) > 1 and LINE < nbytes <= _WHOLE:
        # From up to four places in turn: what hardware fetches ahead of each is under way at once.
        a, b = limited(loops[-1], _IN_A_GO), limited(loops[0], _PLACES)
        outer = [x for x in (b.loop("b"), *loops[1:-1], a.loop("a")) if x.length > 1]
        return make_plan("runs", form, outer, True, a, b, mode=STREAM, run=nbytes)
    long = None if streamed else long_loop(loops, nbytes)
    if long is not None:
        loops, a, b = around(loops, long, order)
        return make_plan("runs", form, loops, False, a, b, run=nbytes)
    mode = STREAM if streamed else _cached_mode(form, nbytes, loops[-1] if loops else None, host)
    if not streamed and len(loops) > 1 and loops[-1].length < _FEW and nbytes <= TILE // _FEW:
        # To turn the odometer costs as much as some runs.
        b = limited(loops[-1], _FEW)
        a = limited(loops[-2], TILE // (nbytes * b.chunk))
        loops = [*loops[:-2], *(x for x in (a.loop("a"), b.loop("b")) if x.length > 1)]
        return make_plan("runs", form, loops, False, a, b, mode=mode, run=nbytes)
    a = cut(Dim(nbytes, 1, 1), 1)
    loops, b = tiled(loops, a.chunk)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    return make_plan("runs", form, loops, streamed, a, b, mode=mode)


def _joined_runs(form: Normal, dims: Sequence[Dim], nbytes: int, most: int) -> Plan | None:
    """Some runs of a row, which follow each other in the target, of some rows that do in the source.

    None where runs do not follow each other or are repeated, where rows are short, and for short runs that lie near
    each other, so that both sides are read as they come.
    """
    loops = [Loop(*d) for d in dims]
    row, near = loops[-1], min(loops, key=lambda x: abs(x.src))
    if row.dst != nbytes or row.src == 0 or not LINE <= nbytes < most or nbytes * row.length < _LEAST_ROW:
        return None
    if near == row and nbytes < 2 * LINE and abs(row.src) - nbytes < LINE:
        return None
    rest = [x for x in loops if x not in (row, near)]
    a = limited(row, (_ROWS if near != row else _READ) // nbytes)
    b = limited(near, _READ // nbytes) if near != row else ONE
    outer = ordered([*rest, a.loop("a"), b.loop("b")], "src")
    # The rows of a tile come first, and of each the few runs that it spans.
    asked = later([*ordered(rest, "src"), near], nbytes) or int(math.copysign(LATER, near.src))
    return make_plan("joined", form, outer, True, a, b, mode=STREAM, run=nbytes, asked=asked)


_WHOLE = 512
"""Bytes of runs of whole lines beyond which they are better copied as runs that share lines are."""
_LONGEST_RUN = {False: 1 << 18, True: 1 << 11}
"""Bytes of runs from which on the lines that two of them share are few: sooner with a small first-level cache."""
_LEAST_ROW = 2048
"""Bytes of a row of runs from which on the lines at its ends, which are written in parts, are few."""
_ROWS, _READ = 256, 4096
"""Bytes of a tile that follow each other in the target, and in the source."""


def long_loop(loops: Sequence[Loop], nbytes: int) -> Loop | None:
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


def around(loops: Sequence[Loop], long: Loop, order: str) -> tuple[list[Loop], Chunked, Chunked]:
    """The loops where a tile is some turns of the innermost one and, within these, some of a long one."""
    a, b = limited(loops[-1], _FEW), limited(long, _turns(long))
    return ordered([*(x for x in loops[:-1] if x is not long), a.loop("a"), b.loop("b")], order), a, b


def _turns(long: Loop) -> int:
    return max(_FEW, _HELD // max(long.dst, abs(long.src)))


def _cached_mode(form: Normal, nbytes: int, loop: Loop | None, host: Host) -> int:
    """Long runs within the caches are the C library's: its string instructions fetch no line that they fill."""
    if nbytes >= (_LONG if form.nbytes <= _SECOND else _PIECE // 2):
        return CALLED
    if loop is None or 0 <= loop.src - nbytes < _NEAR:
        return 0  # hardware goes on to what is near
    many = host.width < LINE and loop.length >= _MANY
    return NEXT_RUN if many or (form.nbytes > _SECOND and nbytes >= _LONG // 2) else 0


_SECOND = 1 << 20
"""Bytes of a copy whose source the second-level cache keeps, too."""
_PIECE = 1 << 16
"""Bytes of a run that the C library copies as quickly through the last-level cache as others past it."""
_MANY = 64
"""Runs in a row from which on those that come eight later are worth asking for."""
_NEAR = 256
"""Bytes between two runs that hardware goes on over."""
_PLACES, _IN_A_GO = 4, 16
"""Places, at most, that runs of whole lines are copied from in turn on Intel's processors, and runs of each in a go:
0.9 of the time of 120 permuted layouts, 0.86 of 40 of attention heads; of runs of one line 1.1 to 1.9."""
_STREAMS = 96
"""Rows of the target below which they are written best as the source comes, unless runs are short."""
_FEW, _ROW, _HELD = 16, 512, 16384
"""Turns below which a loop around short runs is not worth a call, bytes of its runs at most; bytes that the turns of a
long one reach over."""
_MIDDLE, _LONG = 320, 1024
"""Bytes of a run from which on the lines that it shares with others, or with a gap, are a small part of it."""
