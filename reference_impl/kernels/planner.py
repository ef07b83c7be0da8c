"""Plans: which kernel moves what in which order, decided from layouts alone.

`plan_for` is pure: the same layouts, item size, alignment and machine give the same plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import numpy.typing as npt

from .descriptor import (
    AHEAD,
    ALIGNED,
    DST_HIGH,
    DST_LOW,
    NARROW,
    ONE,
    SRC_HIGH,
    SRC_LOW,
    STAGE_IN,
    STAGE_OUT,
    STREAM,
    Chunked,
    Loop,
    described,
)
from .normal import Dim, Normal

LINE = 64


@dataclass(frozen=True)
class Choice:
    """What may be chosen differently without a change of the result; the defaults are the planner's own choice."""

    order: str = ""
    """`src` or `dst`: in whose memory order the tiles are visited."""
    a_bytes: int = 0
    """Bytes of a source row in a tile."""
    b_bytes: int = 0
    """Bytes of a target row in a tile."""
    staged: int = -1
    """STAGE_IN and STAGE_OUT."""
    streamed: int = -1


OWN = Choice()


@dataclass(frozen=True)
class Target:
    """What a plan is made for: the machine, and where the arrays lie."""

    width: int = 64
    """Bytes of a vector register, 0 for none: only the portable kernel is used."""
    cache_bytes: int = 32 << 20
    """Bytes of source and target together that the caches do not keep."""
    intel: bool = False
    """Whether longer pieces of source rows make the better tiles, and stores that hold two lines are slow."""
    phase: int = 0
    """Where the loops begin in the target, in bytes after a multiple of 64; NumPy's large arrays begin at 16."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A copy as a kernel performs it."""

    kernel: str
    """runs, transpose, interleave, deinterleave, step, fill or items."""
    form: Normal
    loops: tuple[Loop, ...]
    """Odometer of tiles, outermost first."""
    row: npt.NDArray[np.int64]
    """The kernel's descriptor."""
    streamed: bool
    staged: int = 0
    tables: tuple[npt.NDArray[np.int64], ...] = field(default=(), repr=False)
    more: tuple["Plan", ...] = ()
    """Plans of what this one leaves out: strips beside the whole lines of the target."""

    @property
    def tasks(self) -> int:
        """Number of tiles, which threads share."""
        return prod(loop.length for loop in self.loops)

    @property
    def touched_bytes(self) -> int:
        """Bytes of the cache lines that are read and written, counted as if every row began at the start of a line."""
        dims, item = self.form.dims, self.form.item
        return touched([(d.length, d.dst) for d in dims], item) + touched([(d.length, d.src) for d in dims], item)

    @property
    def predicted(self) -> float:
        """Time over that of a dense copy of as many bytes, as expected of a large copy on one thread.

        The share of traffic, times what this kernel took beyond it on the machine of docs/kernels.md.
        """
        factor = _BEYOND.get(self.kernel, 1.0)
        if self.kernel == "transpose":
            factor = 1.3 if not self.staged else 1.8 if self.streamed and not self.staged & STAGE_OUT else 2.5
        return factor * self.touched_bytes / max(1, 2 * self.form.nbytes)

    def explain(self) -> str:
        """The plan in words: kernel, order of loops, bytes touched, and the expected time.

        >>> from stridecheck.reference_impl.kernels.normal import normal
        >>> form = normal((1000, 64, 32, 32), (262144, 4, 8192, 256), (262144, 4096, 128, 4), 4)
        >>> print(plan_for(form, Target()).explain())
        transpose of 262.1 MB, 4-byte items, stores past the caches
          loop over 1000: target +262144, source +262144
          loop over 4, chunks of A: target +65536, source +1024
          touches 524.3 MB; expected time 1.30 of a dense copy's
        """
        streamed = ", stores past the caches" if self.streamed else ""
        lines = [f"{self.kernel} of {in_words(self.form.nbytes)}, {self.form.item}-byte items{streamed}"]
        for loop in self.loops:
            of = f", chunks of {loop.of.upper()}" if loop.of else ""
            lines.append(f"  loop over {loop.length}{of}: target {loop.dst:+}, source {loop.src:+}")
        if self.staged:
            sides = [side for flag, side in ((STAGE_IN, "source"), (STAGE_OUT, "target")) if self.staged & flag]
            lines.append(f"  tiles go through buffers for the {' and the '.join(sides)}")
        lines += [f"  and beside it a {plan.kernel} of {in_words(plan.form.nbytes)}" for plan in self.more]
        lines.append(f"  touches {in_words(self.touched_bytes)}; expected time {self.predicted:.2f} of a dense copy's")
        return "\n".join(lines)


_BEYOND = {"runs": 1.0, "interleave": 1.0, "deinterleave": 1.0, "step": 1.1, "fill": 1.1, "items": 4.0}
"""Time of a kernel over that which its traffic makes due."""


def touched(steps: Sequence[tuple[int, int]], item: int, line: int = LINE) -> int:
    """Bytes of the lines on which items lie, counted as if every row began at the start of a line.

    Units: lengths in items, strides, items and lines in bytes.

    >>> touched([(100, 400), (100, 4)], 4), touched([(100, 400)], 4), touched([(100, 400)], 4, 32)
    (40000, 6400, 3200)
    """
    run, rows = item, 1
    for stride, length in sorted((abs(s), n) for n, s in steps if s):
        if stride < run + line:
            run += (length - 1) * stride
        else:
            rows *= length
    return rows * -(-run // line) * line


def in_words(number: int) -> str:
    """A number of bytes as it is read."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} bytes"


def plan_for(form: Normal, target: Target, choice: Choice = OWN) -> Plan:
    """The plan of a copy in normal form, which writes no byte twice.

    >>> from stridecheck.reference_impl.kernels.normal import normal
    >>> plan_for(normal((4096, 4096), (16384, 4), (4, 16384), 4), Target()).kernel
    'transpose'
    """
    read = form.item * prod(d.length for d in form.dims if d.src)
    streamed = form.nbytes + read >= target.cache_bytes if choice.streamed < 0 else bool(choice.streamed)
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
        return _transpose(form, along, target, choice, streamed)
    if last.length * form.item >= target.width:
        return _picked(form, streamed)
    return _items(form)


def _made(
    kernel: str, form: Normal, loops: Sequence[Loop], streamed: bool, a: Chunked = ONE, b: Chunked = ONE,
    staged: int = 0, tables: tuple[npt.NDArray[np.int64], ...] = (), **fields: int,
) -> Plan:  # fmt: skip
    dst_low, dst_high = form.dst_extent
    src_low, src_high = form.src_extent
    row = described(
        loops, a, b, dst_shift=form.dst_shift, src_shift=form.src_shift, dst_low=dst_low, dst_high=dst_high,
        src_low=src_low, src_high=src_high, **fields,
    )  # fmt: skip
    return Plan(kernel, form, tuple(loops), row, streamed, staged, tables)


def _shifts(form: Normal, phase: int) -> bool:
    """Whether all rows of the target begin at the same place within a line, which is not its start, and are long."""
    last = form.dims[-1]
    return (
        phase != 0
        and phase % form.item == 0
        and last.length * form.item >= _LONG
        and all(d.dst % LINE == 0 for d in form.dims[:-1])
    )


_LONG = 2048
"""Bytes of a row from which on strips at its ends are a small part of it."""


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
                plan = _transpose(part, along, replace(target, phase=0), choice, True)
            else:
                plan = _transpose(part, along, target, OWN, False) if length > 1 else _items(part)
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
    loops = _ordered([*rest, pieces.loop("a")], "dst")
    kernel = "interleave" if number > 0 else "deinterleave"
    return _made(kernel, form, loops, streamed, pieces, mode=STREAM * streamed, run=number, stride=stride)


def _cut(dim: Dim, item: int) -> Chunked:
    """A long dimension in pieces, so that threads have something to share; a short one whole."""
    long = dim.length * item > 8 * _TILE
    return Chunked(dim.length, 4 * _TILE // item // LINE * LINE if long else dim.length, dim.dst, dim.src)


_STREAMS = (2, 3, 4)


def _picked(form: Normal, streamed: bool) -> Plan:
    last = form.dims[-1]
    a = _cut(last, form.item)
    loops, b = _tiled(_ordered([Loop(*d) for d in form.dims[:-1]], "dst"), a.chunk * form.item)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    kernel = "step" if last.src else "fill"
    return _made(kernel, form, loops, streamed, a, b, mode=STREAM * streamed, stride=last.src)


def _ordered(loops: Sequence[Loop], order: str) -> list[Loop]:
    key = (lambda x: (-abs(x.src), -x.dst)) if order == "src" else (lambda x: (-abs(x.dst), -abs(x.src)))
    return sorted((x for x in loops if x.length > 1), key=key)


def _runs(form: Normal, choice: Choice, streamed: bool) -> Plan:
    nbytes = form.item
    dims = list(form.dims)
    if dims and dims[-1].dst == form.item and dims[-1].src == form.item:
        nbytes *= dims.pop().length
    order = choice.order or ("src" if streamed else "dst")
    loops = _ordered([Loop(*d) for d in dims], order)
    if len(loops) > 1 and nbytes <= _SHORT and streamed:
        near_src, near_dst = min(loops, key=lambda x: abs(x.src)), min(loops, key=lambda x: x.dst)
        if near_src != near_dst:
            # Runs of a line or two: some that follow each other in the target for each that follow in the source.
            rest = [loop for loop in loops if loop not in (near_src, near_dst)]
            a = Chunked(near_src.length, min(near_src.length, _TILE // _PIECE), near_src.dst, near_src.src)
            b = Chunked(near_dst.length, min(near_dst.length, _PIECE // nbytes), near_dst.dst, near_dst.src)
            loops = _ordered([*rest, a.loop("a"), b.loop("b")], order)
            return _made("runs", form, loops, streamed, a, b, mode=STREAM * streamed, run=nbytes)
    a = _cut(Dim(nbytes, 1, 1), 1)
    loops, b = _tiled(loops, a.chunk)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    return _made("runs", form, loops, streamed, a, b, mode=STREAM * streamed)


def _tiled(loops: list[Loop], nbytes: int) -> tuple[list[Loop], Chunked]:
    # The innermost loop is the tile's own: an odometer turned for each row would cost more than a short row.
    if not loops:
        return loops, ONE
    inner = loops[-1]
    b = Chunked(inner.length, max(1, min(inner.length, _TILE // nbytes)), inner.dst, inner.src)
    return [*loops[:-1], b.loop("b")], b


_TILE = 1 << 16
"""Bytes of runs or rows that make a tile."""
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
    loops = _ordered(loops, "dst")
    return _made("items", form, loops, False, a_chunk, b_chunk)


def _chain(dims: Sequence[Dim], start: int, side: str, taken: set[int], item: int, want: int) -> list[int]:
    """Dimensions that follow each other without a gap on one side, from `start` on, until they hold `want` bytes."""
    chain = [start]
    reach = item * dims[start].length
    while reach < want:
        following = [k for k, d in enumerate(dims) if k not in taken and k not in chain and getattr(d, side) == reach]
        if not following:
            break
        chain.append(following[0])
        reach *= dims[following[0]].length
    return chain


def _offsets(dims: Sequence[Dim], side: str) -> npt.NDArray[np.int64]:
    """Byte offsets of the rows of a tile; the first dimension is the innermost."""
    table = np.zeros(1, np.int64)
    for d in dims:
        table = (np.arange(d.length, dtype=np.int64)[:, None] * getattr(d, side) + table).ravel()
    return table


def _transpose(form: Normal, along: int, target: Target, choice: Choice, streamed: bool) -> Plan:
    item, dims = form.item, list(form.dims)
    block, columns = target.width // item, 16 // item
    dst_shift, src_shift = form.dst_shift, form.src_shift
    if dims[along].src < 0:
        n, d, x = dims[along]
        dims[along] = Dim(n, -d, -x)
        dst_shift += (n - 1) * d
        src_shift += (n - 1) * x
    b_start = len(dims) - 1
    wide = item >= 4
    # Rows of the target that begin anywhere in a line are written through the caches, in pieces as long as can be: the
    # lines that two pieces share are fetched and written twice.
    far = streamed and (target.phase != 0 or any(d.dst % LINE for d in dims[:-1]))
    by_lines = (
        far and wide and target.intel
    )  # through a buffer, so that all stores but those at the ends are whole lines
    long = far or (streamed and wide and target.intel)
    a_want = choice.a_bytes or (1024 if long else 128 if wide else 512)
    b_want = choice.b_bytes or (1024 if far and not by_lines else 2048 if wide else 256)
    taken = {along, b_start}
    b_chain = _chain(dims, b_start, "dst", taken, item, b_want)
    taken.update(b_chain)
    # Where the target's rows are short, more of them make a tile.
    b_bytes = min(b_want, item * prod(dims[k].length for k in b_chain))
    a_want = a_want if far or choice.a_bytes else max(a_want, min(1024, a_want * b_want // b_bytes))
    a_chain = _chain(dims, along, "src", taken, item, a_want)
    a_dims, b_dims = [dims[k] for k in a_chain], [dims[k] for k in b_chain]
    a, a_inner = _chunk(a_dims, a_want // item, columns)
    b, b_inner = _chunk(b_dims, b_want // item, block)
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in a_chain and k not in b_chain]
    a_rows, b_rows = a.chunk * a_inner, b.chunk * b_inner
    a_table = _offsets([*a_dims[:-1], a_dims[-1]._replace(length=a.chunk)], "dst")
    b_table = _offsets([*b_dims[:-1], b_dims[-1]._replace(length=b.chunk)], "src")
    loops = _ordered([*rest, a.loop("a"), b.loop("b")], choice.order or "src")
    straight = target.phase == 0 and all(x.dst % LINE == 0 for x in loops) and not (a_table % LINE).any()
    fits_wide = min(a_rows, b_rows) >= block
    if choice.staged >= 0:
        staged = choice.staged
    elif wide and fits_wide:
        staged = STAGE_OUT * by_lines
    else:
        staged = STAGE_IN
    if not fits_wide:
        staged |= STAGE_IN
    in_group = _group(b_table, a_rows * item) if a.loop_length == 1 else 1
    out_group = _group(a_table, b_rows * item) if b.loop_length == 1 else 1
    pieces = streamed and not straight and out_group * b_rows * item >= _LONG and b_rows * item < _LONG
    if b_rows < block or a_rows < columns or (pieces and choice.staged < 0):
        staged |= STAGE_OUT
    in_pitch = a_rows * item if in_group > 1 else _odd_lines(a_rows * item)
    out_pitch = b_rows * item if out_group > 1 else _odd_lines(b_rows * item)
    mode = STREAM * (streamed and (straight or bool(staged & STAGE_OUT))) | staged
    mode |= NARROW * (b_rows * item <= 32 and b_rows >= columns)
    mode |= ALIGNED * (streamed and straight)
    mode |= AHEAD * (not _crowded(b_table))
    turned = replace(form, dims=tuple(dims), dst_shift=dst_shift, src_shift=src_shift)
    return _made(
        "transpose", turned, loops, streamed, a, b, staged, (a_table, b_table), mode=mode,
        a_inner=a_inner, b_inner=b_inner, a_table=a_table.ctypes.data, b_table=b_table.ctypes.data,
        in_pitch=in_pitch, out_pitch=out_pitch, in_group=in_group, out_group=out_group,
        in_bytes=in_pitch * (b_rows + block) + 128, out_bytes=out_pitch * (a_rows + columns) + 128,
    )  # fmt: skip


def _group(table: npt.NDArray[np.int64], step: int) -> int:
    """How many rows follow each other at a distance of `step`, again and again."""
    breaks = np.flatnonzero(np.diff(table) != step)
    group = int(breaks[0]) + 1 if len(breaks) else len(table)
    return group if not ((breaks + 1) % group).any() else 1


def _crowded(table: npt.NDArray[np.int64]) -> bool:
    """Whether rows at these offsets are too many for the sets of a second-level cache that they fall into."""
    sets = np.bincount(table % (_SETS * LINE) // LINE, minlength=1)
    return int(sets.max()) > _WAYS


_SETS, _WAYS = 1024, 8
"""Sets of a second-level cache, and how many lines of each may be spent on what is asked for ahead."""


def _odd_lines(nbytes: int) -> int:
    """A pitch of an odd number of lines: rows of a buffer then fall into all sets of a cache."""
    lines = -(-nbytes // LINE)
    return LINE * (lines | 1)


def _chunk(dims: Sequence[Dim], want: int, unit: int) -> tuple[Chunked, int]:
    """How much of the last of some dimensions a tile spans, the others being in it as a whole."""
    inner = prod(d.length for d in dims[:-1])
    d = dims[-1]
    chunk = max(1, want // inner)
    if inner == 1:
        chunk = max(unit, chunk // unit * unit)
    return Chunked(d.length, min(chunk, d.length), d.dst, d.src), inner
