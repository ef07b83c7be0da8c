"""Plans of transposes: what a tile spans, in which order tiles come, and which of them go through buffers."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import half_lines, narrow_blocks
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
from .half_lines import wanted_of_halves
from .large_first import wanted_of_large_first
from .narrow_blocks import wanted_of_lines
from .normal import Dim, Normal
from .plans import LINE, OWN, Choice, Host, Plan, make_plan, ordered
from .square_tiles import moves_crowds, wanted_of_gathered, wanted_of_squares
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
    rows_of_block,
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
    a_chain, b_chain, wanted = _tile(dims, along, item, host, choice, streamed, split, near)
    a_dims, b_dims = [dims[k] for k in a_chain], [dims[k] for k in b_chain]
    lines = wanted.lines and not wanted.staged & STAGE_IN
    of_a, of_b = columns if wanted.staged & STAGE_IN or lines else block, LINE // item if lines else block
    evenly = LINE // item if _has_halves(host, streamed) else 0
    a_items, a_whole = wanted.a_bytes // item, prod(d.length for d in a_dims)
    equal = 0
    if host.small_tiles and streamed and wanted.staged & STAGE_OUT:
        # What is left of a source row is a tile of its own, which takes as long as a larger one.
        if a_whole * item % LINE == 0 and a_whole <= _LITTLE_MORE[host.small_first] * a_items:
            a_items = a_whole
        equal = LINE // item if host.small_first or item >= 4 else 0
    a, a_inner = chunk(a_dims, a_items, of_a, evenly=equal)
    in_units = 0
    if streamed and host.family_26:
        in_units = LONGEST // item
    elif lines or (host.intel and streamed):
        in_units = 2 * max(wanted.b_bytes, LINE if evenly else LONG // 2) // item
    b, b_inner = chunk(b_dims, wanted.b_bytes // item, of_b, in_units=in_units, evenly=evenly)
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
    lines &= a_rows >= columns and b_rows >= LINE // item
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


def _tile(
    dims: Sequence[Dim], along: int, item: int, host: Host, choice: Choice, streamed: bool, split: bool, side: str
) -> _Tile:
    last = len(dims) - 1
    unit = dims[along].src
    # Both sides of a block first, then rows of the target as long as they may be.
    source_bytes = host.width * unit // item
    first = {*chain(dims, along, "src", {along, last}, unit, source_bytes)} if side == "src" else {along}
    near = chain(dims, last, "dst", {*first, last}, item, host.width)
    a_chain = chain(dims, along, "src", {along, *near}, unit, source_bytes)
    whole = blocks = unit == item and all(
        item * prod(dims[k].length for k in chain) >= host.width for chain in (a_chain, near)
    )
    # Of small items a block has more rows than a set of the second-level cache has ways.
    block = host.width // item
    rows = rows_of_block([dims[k] for k in near], "src", block)
    b_chain = chain(dims, last, "dst", {*a_chain, last}, item, choice.b_bytes or LONGEST)
    b_dims = [dims[k] for k in b_chain]
    # Rows of the target that begin anywhere in a line share lines with each other, which would be fetched and written
    # twice. So target rows are long and go through a buffer, from which whole lines are streamed.
    split |= any(d.dst % LINE for k, d in enumerate(dims) if k not in b_chain)
    far = streamed and (host.dst_phase != 0 or split)
    crowds = crowded(rows, SETS, 2 * WAYS)
    whole &= (
        (far and (host.small_tiles or host.intel))
        or not crowds
        or moves_crowds([dims[k] for k in a_chain], b_dims, item, streamed, host)
    )
    narrow = host.wide_intel or (streamed and not far and _is_narrow(b_dims, rows, item, host))
    own = wanted_of_large_first(dims[along], b_dims, item, far, streamed, host) if host.family_26 and whole else None
    halves, lines = _has_halves(host, streamed), narrow and whole and item < 4
    staged = STAGE_OUT * (halves or (far and (whole or host.intel))) | STAGE_IN * (not whole)
    if unit != item:
        wanted = Wanted(1024, 1024 if far else 512 if streamed else 256, staged, lines)
    elif halves and whole:
        wanted = wanted_of_halves(half_lines.Sides(dims, along, b_dims, item, host.src_phase), far)
    elif halves and blocks:
        wanted = Wanted(1024, 1024, staged, lines)
    elif own is not None:
        wanted = own._replace(staged=staged)
    elif narrow and streamed and whole:
        a_length = prod(dims[k].length for k in a_chain)
        even = not host.intel or dims[along].dst // LINE % 2 == 0
        wanted = wanted_of_lines(narrow_blocks.Sides(a_length, even, b_dims, item, far, crowds, host))
    else:
        if whole:
            wanted = wanted_of_squares(dims[along], b_dims, item, far, streamed, host)
        else:
            a_bytes = item * prod(dims[k].length for k in a_chain)
            wanted = wanted_of_gathered(a_bytes, b_dims, item, far, streamed, host)
        wanted = wanted._replace(staged=staged, lines=lines or wanted.lines)
    if host.intel and streamed and not far:
        wanted = wanted._replace(b_bytes=max(wanted.b_bytes, narrow_blocks.whole_lines(b_dims, item)))
    wanted = wanted._replace(a_bytes=choice.a_bytes or wanted.a_bytes, b_bytes=choice.b_bytes or wanted.b_bytes)

    def chains() -> tuple[list[int], list[int]]:
        b = chain(dims, last, "dst", {*a_chain, last}, item, wanted.b_bytes)
        return chain(dims, along, "src", {along, *b}, unit, wanted.a_bytes * unit // item), b

    a_chain, b_chain = chains()
    if whole and not streamed and choice == OWN:
        other = _within_caches(dims, a_chain, b_chain, b_dims, wanted, along, item, host)
        if other is not wanted:
            wanted = other
            a_chain, b_chain = chains()
    if choice.staged >= 0:
        wanted = wanted._replace(staged=choice.staged)
    return _Tile(a_chain, b_chain, wanted)


def _is_narrow(b_dims: Sequence[Dim], rows: npt.NDArray[np.int64], item: int, host: Host) -> bool:
    """Whether AMD's processors, too, like blocks of a line by 16 bytes.

    Target rows are not short, and a block's source rows, at these offsets, crowd no set of the first-level cache.
    """
    long = item * prod(d.length for d in b_dims) >= 4 * LINE
    return item < 4 and host.pairs(item) and long and not crowded(rows, FIRST_SETS, FIRST_WAYS)


def _within_caches(
    dims: Sequence[Dim], a_chain: Sequence[int], b_chain: Sequence[int], b_dims: Sequence[Dim], wanted: Wanted,
    along: int, item: int, host: Host,
) -> Wanted:  # fmt: skip
    """Another tile where the first-level cache would not keep the lines of this one until they are whole."""
    if _unlike(dims, a_chain, b_dims, item, host):
        return wanted._replace(
            staged=STAGE_OUT, a_bytes=LINE * _blocks(dims[along].length, host.width // item), b_bytes=_LONG_RUN
        )
    if item == 1 or not _crowds(dims, a_chain, wanted.a_bytes // item, "dst"):
        return wanted
    if _crowds(dims, b_chain, wanted.b_bytes // item, "src"):
        return wanted._replace(staged=STAGE_OUT, a_bytes=256, b_bytes=1024)
    return wanted._replace(a_bytes=LINE, b_bytes=2048)


def _unlike(dims: Sequence[Dim], a_chain: Sequence[int], b_dims: Sequence[Dim], item: int, host: Host) -> bool:
    """Whether rows of the target begin at different places of their lines, and are worth writing from a buffer.

    Else most stores are on two lines, and each to another row than the one before it. Worth it are items of four bytes
    and more: rows that a buffer holds whole, and of 8-byte items, which take few shuffles, some longer ones.
    """
    if not host.intel or item < 4 or not any(dims[k].dst % LINE for k in a_chain):
        return False
    nbytes = item * prod(d.length for d in b_dims)
    number = prod(dims[k].length for k in a_chain)
    return nbytes >= _SHORT_RUN and (nbytes <= _LONG_RUN or (item == 8 and number >= _MANY))


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
