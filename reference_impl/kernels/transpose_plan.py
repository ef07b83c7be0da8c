"""Plans of transposes: what a tile spans, in which order tiles come, and which of them go through buffers."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import half_lines, large_first, narrow_blocks, small_first, square_tiles
from .descriptor import (
    AHEAD,
    ALIKE,
    BY_ROWS,
    LINES,
    NARROW,
    ONE,
    PAIRS,
    PREFETCH_OUT,
    STAGE_IN,
    STAGE_OUT,
    STREAM,
    Chunked,
    Loop,
)
from .normal import Dim, Normal
from .plans import LINE, OWN, Choice, Host, Plan, make_plan, ordered
from .sides import Sides
from .tiles import (
    FIRST_SETS,
    FIRST_WAYS,
    LONGEST,
    SETS,
    WAYS,
    Wanted,
    chain,
    chunk,
    crowded,
    group,
    matrices,
    odd_lines,
    offsets,
    pitch,
)

LONG = 2048
"""Bytes of a row from which on strips at its ends are a small part of it."""
_NARROW = 48
"""Bytes of target rows, at most, that are transposed by 16 bytes at a time, where source rows fill a register: of a
whole one more would hang over."""
_LITTLE_MORE = {True: 1.3, False: 1.6}
"""Times what a tile should take of a source row for which it takes the whole one; with a first-level cache of 32 KB,
and with a larger one."""
SMALL = 768
"""Bytes of a small matrix, at most; of one that ends within a line it may be more."""


def transpose_plan(
    form: Normal, along: int, host: Host, choice: Choice, streamed: bool, split: bool = False, near: str = "dst",
    turned: int = 0,
) -> Plan:  # fmt: skip
    """The plan where the target is in one piece along the last dimension, the source along dimension `along`.

    There the source may be stepped, two to four items from one to the next: they are picked into a buffer. `split`:
    what a tile holds of a target row ends anywhere in a line, though the row itself does not. `near`: the side, `dst`
    or `src`, that has a dimension first which may belong to a block's rows or to its columns. `turned`: with which of
    its items a row of the target begins; those before it are the next row's, one further along.
    """
    form = rising(form, along)
    item, dims = form.item, list(form.dims)
    block, columns = host.width // item, 16 // item
    sides = Sides(dims, along, item, host, streamed, split, near, choice.b_bytes or LONGEST)
    a_chain, b_chain, wanted = _tile(sides, choice)
    a_dims, b_dims = [dims[k] for k in a_chain], [dims[k] for k in b_chain]
    a, a_inner = _of_source_rows(sides, a_dims, wanted)
    b, b_inner = _of_target_rows(sides, b_dims, wanted)
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in a_chain and k not in b_chain]
    a_rows, b_rows = a.chunk * a_inner, b.chunk * b_inner
    a_table = offsets([*a_dims[:-1], a_dims[-1]._replace(length=a.chunk)], "dst")
    b_table = offsets([*b_dims[:-1], b_dims[-1]._replace(length=b.chunk)], "src")
    if turned:
        assert len(b_table) == dims[-1].length, "a tile holds one whole row of the target"
        b_table = np.concatenate([b_table[turned:], b_table[:turned] + dims[along].src])
    loops = ordered([*rest, a.loop("a"), b.loop("b")], choice.order or "src")
    straight = host.dst_phase == 0 and all(x.dst % LINE == 0 for x in loops) and not (a_table % LINE).any()
    if host.intel and streamed and not (straight or split or wanted.staged & STAGE_OUT):
        return transpose_plan(form, along, host, choice, streamed, True, near, turned)
    staged = wanted.staged
    lines = _by_lines(wanted) and a_rows >= columns and b_rows >= LINE // item
    if _has_halves(host, streamed) and not (lines and straight):
        staged |= STAGE_OUT
    fits_wide = lines or min(a_rows, b_rows) >= block
    if not fits_wide or dims[along].src != item:
        staged |= STAGE_IN
    in_group = group(b_table, a_rows * dims[along].src) if a.loop_length == 1 else 1
    out_group = group(a_table, b_rows * item) if b.loop_length == 1 else 1
    pieces = streamed and not straight and out_group * b_rows * item >= LONG and b_rows * item < LONG
    if b_rows < block or a_rows < columns or (pieces and choice.staged < 0):
        staged |= STAGE_OUT
    c, held = ONE, a_rows * b_rows * item
    if staged & STAGE_OUT and out_group == len(a_table) > 1:
        c, rest = matrices(rest, held, *_together(held))
        loops = ordered([*rest, a.loop("a"), b.loop("b"), c.loop("c")], choice.order or "src")
    order = _joined(a_table, b_rows * item, out_group) if streamed and staged & STAGE_OUT and b.loop_length == 1 else 0
    if order and c is ONE:
        c, rest = matrices(rest, order * b_rows * item, *_together(0))
        loops = ordered([*rest, a.loop("a"), b.loop("b"), c.loop("c")], choice.order or "src")
    table = _in_target_order(a_table, c) if order else np.zeros((0, 3), np.int64)
    in_pitch = a_rows * item if in_group > 1 else odd_lines(a_rows * item)
    out_pitch = b_rows * item if out_group > 1 else odd_lines(b_rows * item)
    mode = STREAM * (streamed and (straight or bool(staged & STAGE_OUT))) | staged
    mode |= NARROW * (b_rows * item <= (_NARROW if a_rows >= block else 32))
    mode |= ALIKE * ((host.intel or b_rows >= 8 * block) and not mode & STREAM and not (a_table % LINE).any())
    if mode & STREAM and not staged & STAGE_OUT and (wanted.pairs or (host.pairs(item) and (staged or item >= 8))):
        mode |= PAIRS
    mode |= (LINES | BY_ROWS * wanted.by_rows) * lines
    out_bytes = out_pitch * (a_rows * c.chunk + columns) + 128
    mode |= PREFETCH_OUT * (host.intel and streamed and bool(staged & STAGE_OUT))
    mode |= AHEAD * (dims[along].src == item and not crowded(b_table, SETS, WAYS))
    return make_plan(
        "transpose", form, loops, streamed, a, b, staged, c, mode=mode,
        stride=dims[along].src, a_inner=a_inner, b_inner=b_inner, a_table=a_table, b_table=b_table,
        a_pitch=pitch(a_table), b_pitch=pitch(b_table), in_pitch=in_pitch, out_pitch=out_pitch,
        in_group=in_group, out_group=out_group, in_bytes=in_pitch * (b_rows + block) + 128,
        out_bytes=out_bytes + a_rows * b_rows * item * c.chunk * (order > 0) + 64, joined=out_bytes * (order > 0),
        order=table, ordered=len(table),
    )  # fmt: skip


def rising(form: Normal, along: int) -> Normal:
    """The same copy, its source rising along a dimension."""
    n, d, x = form.dims[along]
    if x > 0:
        return form
    dims = (*form.dims[:along], Dim(n, -d, -x), *form.dims[along + 1 :])
    return replace(form, dims=dims, dst_shift=form.dst_shift + (n - 1) * d, src_shift=form.src_shift + (n - 1) * x)


def _joined(a_table: npt.NDArray[np.int64], nbytes: int, group_length: int) -> int:
    """How many rows of so many bytes follow each other where they are put in the target's order, 0 where no more do."""
    if group_length * nbytes >= _WORTH_WRITING:
        return 0
    together = group(np.sort(a_table), nbytes)
    return together if together > group_length else 0


_WORTH_WRITING = 512
"""Bytes that are written at once without being joined first."""


def _in_target_order(a_table: npt.NDArray[np.int64], c: Chunked) -> npt.NDArray[np.int64]:
    """Of each row in the target's order: its matrix, its number within that, and where it belongs."""
    where = (np.arange(c.chunk)[:, None] * c.dst + a_table).ravel()
    order = np.argsort(where)
    return np.stack([order // len(a_table), order % len(a_table), where[order]], axis=1)


def _together(nbytes: int) -> tuple[int, int]:
    """Bytes of a matrix and of a tile of such matrices, at most: reading and writing should take turns soon.

    Two KB, four of larger matrices that end within a line.
    """
    return (SMALL, 2048) if nbytes <= SMALL or nbytes % LINE == 0 else (2048, 4096)


class _Tile(NamedTuple):
    """What a tile spans: dimensions by their numbers."""

    a_chain: list[int]
    b_chain: list[int]
    wanted: Wanted


def _has_halves(host: Host, streamed: bool) -> bool:
    """Whether registers hold half of what should be streamed at once."""
    return streamed and host.width < LINE


def _tile(sides: Sides, choice: Choice) -> _Tile:
    dims, last, item, host = sides.dims, len(sides.dims) - 1, sides.item, sides.host
    # Of small items a block has more rows than a set of the second-level cache has ways.
    crowds = sides.source_crowds(host.width // item, SETS, 2 * WAYS)
    through = sides.far and (host.small_tiles or host.intel)
    whole = sides.fills_blocks and (through or not crowds or square_tiles.moves_crowds(sides))
    wanted = _wanted(sides, whole)
    if host.intel and sides.streamed and not sides.far:
        wanted = wanted._replace(b_bytes=max(wanted.b_bytes, narrow_blocks.whole_lines(sides)))
    wanted = wanted._replace(a_bytes=choice.a_bytes or wanted.a_bytes, b_bytes=choice.b_bytes or wanted.b_bytes)

    def chains(taken: Sequence[int]) -> tuple[list[int], list[int]]:
        b = chain(dims, last, "dst", {*taken, last}, item, wanted.b_bytes)
        return chain(dims, sides.along, "src", {sides.along, *b}, sides.unit, wanted.a_bytes * sides.unit // item), b

    a_chain, b_chain = chains(sides.a_chain)
    if whole and not sides.streamed and choice == OWN:
        other = _within_caches(sides, a_chain, b_chain, wanted)
        if other is not wanted:
            wanted = other
            a_chain, b_chain = chains(a_chain)
    if choice.staged >= 0:
        wanted = wanted._replace(staged=choice.staged)
    return _Tile(a_chain, b_chain, wanted)


def _wanted(sides: Sides, whole: bool) -> Wanted:
    """What makes a good tile by the rules for this processor; `whole`: blocks need not be gathered first."""
    host, item, streamed, far = sides.host, sides.item, sides.streamed, sides.far
    # Rows of the target that begin anywhere in a line share lines with each other, which would be fetched and written
    # twice. So target rows are long and go through a buffer, from which whole lines are streamed.
    halves = _has_halves(host, streamed)
    staged = STAGE_OUT * (halves or (far and (whole or host.intel))) | STAGE_IN * (not whole)
    if sides.unit != item:
        return Wanted(1024, 1024 if far else 512 if streamed else 256, staged)
    if halves and whole:
        return half_lines.wanted(sides)
    if halves and sides.fills_blocks:
        return Wanted(1024, 1024, staged)
    if not whole:
        return square_tiles.wanted_of_gathered(sides)._replace(staged=staged)
    own = large_first.wanted(sides) if host.family_26 else None
    if own is None and streamed and (host.wide_intel or _is_narrow(sides)):
        own = narrow_blocks.wanted(sides)
    if own is None and streamed and host.smallest_tiles:
        own = small_first.wanted(sides)
    if own is None:
        own = square_tiles.wanted(sides)._replace(lines=host.wide_intel and item < 4)
    return own._replace(staged=staged)


def _is_narrow(sides: Sides) -> bool:
    """Whether AMD's processors, too, like blocks of a line by 16 bytes.

    Target rows are not short, and a block's source rows crowd no set of the first-level cache.
    """
    if sides.item >= 4 or sides.far or not sides.host.pairs(sides.item):
        return False
    return sides.b_bytes >= 4 * LINE and not sides.source_crowds(sides.of_line, FIRST_SETS, FIRST_WAYS)


def _by_lines(wanted: Wanted) -> bool:
    """Whether blocks are a line by 16 bytes: what is gathered lies in a buffer, where they need not be."""
    return wanted.lines and not wanted.staged & STAGE_IN


def _of_source_rows(sides: Sides, a_dims: Sequence[Dim], wanted: Wanted) -> tuple[Chunked, int]:
    """How much a tile spans of source rows along some dimensions (`tiles.chunk`)."""
    host, item = sides.host, sides.item
    a_items, whole, equal = wanted.a_bytes // item, prod(d.length for d in a_dims), 0
    if host.small_tiles and sides.streamed and wanted.staged & STAGE_OUT:
        # What is left of a source row is a tile of its own, which takes as long as a larger one.
        if whole * item % LINE == 0 and whole <= _LITTLE_MORE[host.small_first] * a_items:
            a_items = whole
        equal = sides.of_line if host.small_first or item >= 4 else 0
    unit = 16 if wanted.staged & STAGE_IN or wanted.lines else host.width
    return chunk(a_dims, a_items, unit // item, evenly=equal)


def _of_target_rows(sides: Sides, b_dims: Sequence[Dim], wanted: Wanted) -> tuple[Chunked, int]:
    """The same of target rows."""
    host, item, lines = sides.host, sides.item, _by_lines(wanted)
    evenly = sides.of_line if _has_halves(host, sides.streamed) else 0
    in_units = 0
    if sides.streamed and host.family_26:
        in_units = LONGEST // item
    elif lines or (sides.streamed and host.intel):
        in_units = 2 * max(wanted.b_bytes, LINE if evenly else LONG // 2) // item
    unit = LINE if lines else host.width
    return chunk(b_dims, wanted.b_bytes // item, unit // item, in_units=in_units, evenly=evenly)


def _within_caches(sides: Sides, a_chain: Sequence[int], b_chain: Sequence[int], wanted: Wanted) -> Wanted:
    """Another tile where the first-level cache would not keep the lines of this one until they are whole."""
    dims, item = sides.dims, sides.item
    if _unlike(sides, a_chain):
        a_bytes = LINE * _blocks(sides.a_dim.length, sides.host.width // item)
        return wanted._replace(staged=STAGE_OUT, a_bytes=a_bytes, b_bytes=_LONG_RUN)
    if item == 1 or not _crowds(dims, a_chain, wanted.a_bytes // item, "dst"):
        return wanted
    if _crowds(dims, b_chain, wanted.b_bytes // item, "src"):
        return wanted._replace(staged=STAGE_OUT, a_bytes=256, b_bytes=1024)
    return wanted._replace(a_bytes=LINE, b_bytes=2048)


def _unlike(sides: Sides, a_chain: Sequence[int]) -> bool:
    """Whether rows of the target begin at different places of their lines, and are worth writing from a buffer.

    Else most stores are on two lines, and each to another row than the one before it. Worth it are items of four bytes
    and more: rows that a buffer holds whole, and of 8-byte items, which take few shuffles, some longer ones.
    """
    item, rows = sides.item, [sides.dims[k] for k in a_chain]
    if not sides.host.intel or item < 4 or not any(d.dst % LINE for d in rows):
        return False
    worth_a_buffer = sides.b_bytes <= _LONG_RUN or (item == 8 and prod(d.length for d in rows) >= _MANY)
    return sides.b_bytes >= _SHORT_RUN and worth_a_buffer


def _blocks(number: int, block: int) -> int:
    """Blocks of a line's rows to a tile: the fewest for which no tile holds less than one, and would be gathered.

    One such tile among many does no harm.
    """
    few = (1, 2, 3, 4) if number < _FEW_ROWS else ()
    return next((n for n in few if number <= n * block or not 0 < number % (n * block) < block), 1)


_SHORT_RUN, _LONG_RUN, _MANY, _FEW_ROWS = 224, 1024, 16, 64
"""Bytes of target rows that are worth a buffer, and that one holds; rows from which on longer ones are; and from which
on one tile is a small part."""


def _crowds(dims: Sequence[Dim], chained: Sequence[int], items: int, side: str) -> bool:
    """Whether the rows of a tile that holds so many items fall into too few sets of the first-level cache."""
    found = [dims[k] for k in chained]
    part, _ = chunk(found, items, 1)
    return crowded(offsets([*found[:-1], found[-1]._replace(length=part.chunk)], side), FIRST_SETS, 2 * FIRST_WAYS)
