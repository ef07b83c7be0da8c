"""Transposes past the caches to rows that begin anywhere in a line: what ends within one is carried on to the next.

A block is what fills a line, of some target rows. Each of its registers is put behind the one before it in its row, by
a permutation of both, so that a whole line of the target can be stored, wherever lines begin: no tile goes through a
buffer. Where one row ends and the next one begins, the line that they share is stored last.
"""

from typing import Any

from numba import types

from .descriptor import (
    A_INNER,
    A_PITCH,
    A_TABLE,
    ABREAST,
    B_INNER,
    B_TABLE,
    DONE,
    NO_MEMORY,
    OUT_BYTES,
)
from .jit import instruction, part
from .llvm import (
    constant,
    fence,
    field,
    free,
    load,
    malloc,
    meaning,
    odometer,
    on_line,
    peek,
    prefetch,
    size_of,
    store,
    vector,
)
from .plans import LINE, carried_rows
from .runs import run
from .shuffles import by_table, bytes_from, columns_of, join, square_of, store_line
from .walk import advance, begun, counts, place

_BLOCKS_AHEAD = 2
"""Blocks of source rows ahead that are asked for."""


def _columns(builder: Any, src: Any, rows: Any, tag: Any) -> list[Any]:
    """The registers of a block, one for each of its target rows: squares of large items are read by whole lines."""
    item, width = meaning(tag)
    places = by_table(builder, src, rows, width // item)
    if item < 4:
        values = columns_of(builder, places, width, item)
    else:
        lines = [load(builder, row, vector(width, item)) for row in places]
        values = list(square_of(builder, lines, width, item))
    return [builder.bitcast(value, vector(LINE, 1)) for value in values]


@instruction
def _height(typingctx: Any, tag: Any) -> Any:
    """How many target rows a block has, known when the kernel is compiled."""
    rows = carried_rows(meaning(tag)[0])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return constant(rows)

    return types.intp(tag), generate


@instruction
def _begin(typingctx: Any, src: Any, rows: Any, kept: Any, heads: Any, tag: Any) -> Any:
    """Keep the first block of some rows, and once more as their heads."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for k, value in enumerate(_columns(builder, args[0], args[1], tag)):
            store(builder, value, builder.add(args[2], constant(k * LINE)))
            store(builder, value, builder.add(args[3], constant(k * LINE)))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 4, tag), generate


@instruction
def _go_on(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, kept: Any, tag: Any) -> Any:
    """Store the lines in which the block that is kept ends, and keep the next one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _columns(builder, args[0], args[1], tag)
        addresses = by_table(builder, args[2], args[3], len(values))
        for k, (value, address) in enumerate(zip(values, addresses, strict=True)):
            slot = builder.add(args[4], constant(k * LINE))
            store_line(builder, address, load(builder, slot, value.type), value)
            store(builder, value, slot)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5, tag), generate


@instruction
def _end(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, kept: Any, rest: Any, tag: Any) -> Any:
    """The same with the last block, of which only the last `rest` bytes are new, so that they may fill no line."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rest = args[5]
        values = _columns(builder, args[0], args[1], tag)
        addresses = by_table(builder, args[2], args[3], len(values))
        for k, (value, address) in enumerate(zip(values, addresses, strict=True)):
            slot = builder.add(args[4], constant(k * LINE))
            held = builder.add(builder.and_(address, constant(LINE - 1)), rest)
            with builder.if_then(builder.icmp_signed(">=", held, constant(LINE))):
                new = bytes_from(builder, value, value, builder.sub(constant(LINE), rest))
                store_line(builder, address, load(builder, slot, value.type), new)
            store(builder, value, slot)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6, tag), generate


@part
def _row(src: int, next_tile: int, b_table: int, row: int, b_count: int) -> Any:
    """Where a source row of a tile lies, or one of the next tile, of which the last counts for all behind it."""
    return (
        src + peek(b_table + 8 * row) if row < b_count
        else next_tile + peek(b_table + 8 * min(row - b_count, b_count - 1))
    )  # fmt: skip


@part
def _all_but_ends(
    dst: int, a_table: int, src: int, b_table: int, a_count: int, b_count: int, kept: int, heads: int, next_tile: int,
    abreast: int, tag: Any,
) -> None:  # fmt: skip
    # Of each row `abreast` blocks are written in a go: lines that are neighbours in memory, soon after each other.
    item, height = size_of(tag), _height(tag)
    block = LINE // item
    groups, whole, rest = -(-a_count // height), b_count // block, b_count % block
    # Rows some blocks on are asked for, line by line, those of the next tile behind the last of this one; its own last
    # row again and again, where there is more time than rows.
    lines, row = on_line(a_count * item) // LINE, _BLOCKS_AHEAD * block
    later, left, asks = _row(src, next_tile, b_table, row, b_count), lines, -(-lines * block // groups)
    for turn in range(-(-whole // abreast)):
        for group in range(groups):
            a = min(group * height, a_count - height)
            at, slots = src + a * item, group * height * LINE
            for n in range(turn * abreast, min((turn + 1) * abreast, whole)):
                for _ in range(asks):
                    prefetch(later)
                    later += 64
                    left -= 1
                    if left == 0:
                        row += 1
                        later, left = _row(src, next_tile, b_table, row, b_count), lines
                rows = b_table + 8 * n * block
                if n:
                    _go_on(at, rows, dst + n * LINE, a_table + 8 * a, kept + slots, tag)
                else:
                    _begin(at, rows, kept + slots, heads + slots, tag)
    for group in range(groups if rest else 0):
        a = min(group * height, a_count - height)
        rows, to = b_table + 8 * (b_count - block), dst + whole * LINE
        _end(src + a * item, rows, to, a_table + 8 * a, kept + group * height * LINE, rest * item, tag)


@part
def _ends(
    dst: int, a_table: int, a_count: int, height: int, nbytes: int, follow: bool, kept: int, heads: int
) -> None:  # fmt: skip
    # The last group of rows overlaps the one before it.
    overlap = -a_count % height
    grouped = a_count + overlap - height
    for a in range(a_count):
        slot = (a + overlap * (a >= grouped)) * LINE
        to = dst + peek(a_table + 8 * a)
        if a == 0 or not follow:
            run(to, heads + slot, LINE - (to & (LINE - 1)))
        if follow and a + 1 < a_count:
            after = (a + 1 + overlap * (a + 1 >= grouped)) * LINE
            join(to + nbytes, kept + slot, heads + after)
        else:
            tail = to + nbytes & (LINE - 1)
            run(to + nbytes - tail, kept + slot + LINE - tail, tail)


@part
def copy_carried(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles, tasks `first` up to `last`; `tag` tells the item and the registers (`llvm.TAGS`)."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    a_table, b_table = field(descriptor, A_TABLE), field(descriptor, B_TABLE)
    memory = malloc(field(descriptor, OUT_BYTES) + LINE)
    if memory == 0:
        return NO_MEMORY
    kept = on_line(memory)
    heads = kept + field(descriptor, OUT_BYTES) // 2
    abreast = field(descriptor, ABREAST)
    d, s = place(descriptor, index, first)
    for task in range(first, last):
        a_count, b_count = counts(descriptor, index)
        a_count *= field(descriptor, A_INNER)
        b_count *= field(descriptor, B_INNER)
        to, at = dst + d, src + s
        if task + 1 < last:
            d, s = advance(descriptor, index, d, s)
        nbytes = b_count * size_of(tag)
        _all_but_ends(to, a_table, at, b_table, a_count, b_count, kept, heads, src + s, abreast, tag)
        _ends(to, a_table, a_count, _height(tag), nbytes, field(descriptor, A_PITCH) == nbytes, kept, heads)
    fence()
    free(memory)
    return DONE
