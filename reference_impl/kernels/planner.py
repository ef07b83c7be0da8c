"""Plans: which kernel moves what in which order, decided from layouts alone.

`plan_for` is pure: the same layouts, item size, alignment and machine give the same plan.
"""

from dataclasses import replace
from math import prod

from .descriptor import DST_HIGH, DST_LOW, ONE, SRC_HIGH, SRC_LOW, STREAM, Chunked, Loop
from .normal import Dim, Normal
from .plans import LINE, OWN, Choice, Plan, Target, made, ordered
from .transpose_plan import LONG, transpose_plan


def plan_for(form: Normal, target: Target, choice: Choice = OWN) -> Plan:
    """The plan of a copy in normal form, which writes no byte twice.

    >>> from stridecheck.reference_impl.kernels.normal import normal
    >>> plan_for(normal((4096, 4096), (16384, 4), (4, 16384), 4), Target()).kernel
    'transpose'
    """
    read = form.item * prod(d.length for d in form.dims if d.src)
    streamed = form.nbytes + read >= target.cache_bytes if choice.streamed < 0 else bool(choice.streamed)
    if (not streamed or target.width == 0) and _is_one_run(form):
        # One run within the caches: nothing is faster than the C library's own.
        return made("whole", form, [], False, Chunked(form.nbytes, form.nbytes, 1, 1))
    if target.width == 0:
        return _items(form)
    last = form.dims[-1] if form.dims else Dim(1, form.item, form.item)
    if last.dst == form.item and last.src == form.item:
        return _runs(form, choice, streamed)
    if last.dst != form.item:
        return _items(form)
    along = next((k for k, d in enumerate(form.dims[:-1]) if abs(d.src) == form.item), None)
    if along is not None and last.src != 0:
        woven = _woven(form, along, streamed)
        if woven is not None:
            return woven
        if streamed and _shifts(form, target.phase):
            return _shifted(form, along, target, choice)
        return transpose_plan(form, along, target, choice, streamed)
    if last.length * form.item >= target.width:
        if last.src == 0 and target.smallest_tiles and last.length * form.item > _LONG_ROW:
            # Stores of whole lines fetch nothing there, and rows that share lines would stream these in two pieces.
            streamed = streamed and all(d.dst % LINE == 0 for d in form.dims[:-1])
        return _picked(form, streamed)
    return _items(form)


def _is_one_run(form: Normal) -> bool:
    return not form.dims or (len(form.dims) == 1 and form.dims[0].dst == form.dims[0].src == form.item)


def _shifts(form: Normal, phase: int) -> bool:
    """Whether all rows of the target begin at the same place within a line, which is not its start, and are long."""
    last = form.dims[-1]
    return (
        phase != 0
        and phase % form.item == 0
        and last.length * form.item >= LONG
        and all(d.dst % LINE == 0 for d in form.dims[:-1])
    )


def _shifted(form: Normal, along: int, target: Target, choice: Choice) -> Plan:
    """The whole lines of all rows past the caches, then the strips at both ends of the rows."""
    item, last = form.item, form.dims[-1]
    head = (LINE - target.phase) // item
    middle = (last.length - head) * item // LINE * LINE // item
    plans = []
    for start, length in ((head, middle), (0, head), (head + middle, last.length - head - middle)):
        if length:
            dims = (*form.dims[:-1], last._replace(length=length))
            shifts = form.dst_shift + start * item, form.src_shift + start * last.src
            part = Normal(dims if length > 1 else dims[:-1], item, *shifts)
            if start == head:
                plan = transpose_plan(part, along, replace(target, phase=0), choice, True)
            else:
                plan = transpose_plan(part, along, target, OWN, False) if length > 1 else _items(part)
            # Whichever plan comes first decides whether the two sides are near each other: each looks at all of them.
            for low, high, shift, extent in (
                (DST_LOW, DST_HIGH, form.dst_shift - plan.form.dst_shift, form.dst_extent),
                (SRC_LOW, SRC_HIGH, form.src_shift - plan.form.src_shift, form.src_extent),
            ):
                plan.row[low], plan.row[high] = extent[0] + shift, extent[1] + shift
            plans.append(plan)
    return replace(plans[0], more=tuple(plans[1:]))


def _woven(form: Normal, along: int, streamed: bool) -> Plan | None:
    """A plan for two to four streams that are woven together or apart; None where there are others."""
    item, a, b = form.item, form.dims[along], form.dims[-1]
    rest = [Loop(*d) for k, d in enumerate(form.dims[:-1]) if k != along]
    if a.src != item or item > 8:
        return None
    if b.length in _STREAMS and a.dst == b.length * item and a.length >= 64:
        number, stride, long = b.length, b.src, a
    elif a.length in _STREAMS and b.src == a.length * item and b.length >= 64:
        number, stride, long = -a.length, a.dst, b
    else:
        return None
    pieces = _cut(long, item * abs(number))
    loops = ordered([*rest, pieces.loop("a")], "dst")
    kernel = "interleave" if number > 0 else "deinterleave"
    return made(kernel, form, loops, streamed, pieces, mode=STREAM * streamed, run=number, stride=stride)


def _cut(dim: Dim, item: int) -> Chunked:
    """A long dimension in pieces, so that threads have something to share; a short one whole."""
    long = dim.length * item > 8 * _TILE
    return Chunked(dim.length, 4 * _TILE // item // LINE * LINE if long else dim.length, dim.dst, dim.src)


_STREAMS = (2, 3, 4)


def _picked(form: Normal, streamed: bool) -> Plan:
    last = form.dims[-1]
    a = _cut(last, form.item)
    loops, b = _tiled(ordered([Loop(*d) for d in form.dims[:-1]], "dst"), a.chunk * form.item)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    kernel = "step" if last.src else "fill"
    return made(kernel, form, loops, streamed, a, b, mode=STREAM * streamed, stride=last.src)


def _runs(form: Normal, choice: Choice, streamed: bool) -> Plan:
    nbytes = form.item
    dims = list(form.dims)
    if dims and dims[-1].dst == form.item and dims[-1].src == form.item:
        nbytes *= dims.pop().length
    order = choice.order or ("src" if streamed else "dst")
    loops = ordered([Loop(*d) for d in dims], order)
    if len(loops) > 1 and nbytes <= _SHORT and streamed:
        near_src, near_dst = min(loops, key=lambda x: abs(x.src)), min(loops, key=lambda x: x.dst)
        if near_src != near_dst:
            # Runs of a line or two: some that follow each other in the target for each that follow in the source.
            rest = [loop for loop in loops if loop not in (near_src, near_dst)]
            a = Chunked(near_src.length, min(near_src.length, _TILE // _PIECE), near_src.dst, near_src.src)
            b = Chunked(near_dst.length, min(near_dst.length, _PIECE // nbytes), near_dst.dst, near_dst.src)
            loops = ordered([*rest, a.loop("a"), b.loop("b")], order)
            return made("runs", form, loops, streamed, a, b, mode=STREAM * streamed, run=nbytes)
    a = _cut(Dim(nbytes, 1, 1), 1)
    loops, b = _tiled(loops, a.chunk)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    return made("runs", form, loops, streamed, a, b, mode=STREAM * streamed)


def _tiled(loops: list[Loop], nbytes: int) -> tuple[list[Loop], Chunked]:
    # The innermost loop is the tile's own: an odometer turned for each row would cost more than a short row.
    if not loops:
        return loops, ONE
    inner = loops[-1]
    b = Chunked(inner.length, max(1, min(inner.length, _TILE // nbytes)), inner.dst, inner.src)
    return [*loops[:-1], b.loop("b")], b


_TILE = 1 << 16
"""Bytes of runs or rows that make a tile."""
_LONG_ROW = 4096
"""Bytes of rows that share lines from which on they are not put together in a buffer."""
_SHORT, _PIECE = 128, 512
"""Bytes of a short run, and of those that are written side by side."""


def _items(form: Normal) -> Plan:
    dims = list(form.dims)
    b = dims.pop() if dims else Dim(1, form.item, form.item)
    a = Dim(1, 0, 0)
    if dims:
        near = min(range(len(dims)), key=lambda k: abs(dims[k].src) or 1 << 62)
        a = dims.pop(near)
    a_chunk, b_chunk = (
        Chunked(a.length, min(a.length, 64), a.dst, a.src),
        Chunked(b.length, min(b.length, 512), b.dst, b.src),
    )
    loops = [*[Loop(*d) for d in dims], a_chunk.loop("a"), b_chunk.loop("b")]
    loops = ordered(loops, "dst")
    return made("items", form, loops, False, a_chunk, b_chunk)
