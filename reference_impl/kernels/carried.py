"""Transposes past the caches to rows that begin anywhere in a line: what ends within one is carried on to the next.

A block is what fills a line, of some target rows. Each of its registers is put behind the one before it in its row, by
a permutation of both, so that a whole line of the target can be stored, wherever lines begin: no tile goes through a
buffer. Where one row ends and the next one begins, the line that they share is stored last.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .descriptor import (
    A_INNER,
    A_PITCH,
    A_TABLE,
    B_INNER,
    B_TABLE,
    DONE,
    NO_MEMORY,
    OUT_BYTES,
    RUN,
)
from .jit import instruction, part
from .llvm import (
    I64,
    LINE,
    allocate,
    ask,
    constant,
    fence,
    load,
    meaning,
    odometer,
    peek,
    release,
    size_of,
    store,
    vector,
)
from .plans import carried_rows
from .runs import run
from .shuffles import by_table, columns_of, square_of
from .walk import advance, begun, counts, place

_AHEAD = 2
"""Blocks of source rows ahead that are asked for."""


def _columns(builder: Any, src: Any, rows: Any, word: Any) -> list[Any]:
    """The registers of a block, one for each of its target rows: squares of large items are read by whole lines."""
    item, width = meaning(word)
    places = by_table(builder, src, rows, width // item)
    if item < 4:
        values = columns_of(builder, places, width, item)
    else:
        lines = [load(builder, row, vector(width, item)) for row in places]
        values = list(square_of(builder, lines, width, item))
    return [builder.bitcast(value, vector(LINE, 1)) for value in values]


@instruction
def _height(typingctx: Any, word: Any) -> Any:
    """How many target rows a block has, known when the kernel is compiled."""
    rows = carried_rows(meaning(word)[0])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return constant(rows)

    return types.intp(word), generate


def _from(builder: Any, before: Any, after: Any, first: Any) -> Any:
    """The 64 bytes of two registers from the `first` on."""
    kind = vector(LINE, 1)
    numbers = ir.Constant(ir.ArrayType(ir.IntType(8), 2 * LINE), bytearray(range(2 * LINE)))
    table = builder.ptrtoint(cgutils.global_constant(builder, "numbers", numbers), I64)  # type: ignore[no-untyped-call]
    chosen = load(builder, builder.add(table, first), kind)
    signature = ir.FunctionType(kind, [kind] * 3)
    permuted = builder.module.declare_intrinsic("llvm.x86.avx512.vpermi2var.qi.512", (), signature)
    return builder.call(permuted, [before, chosen, after])


def _store_line(builder: Any, address: Any, before: Any, after: Any) -> None:
    """Store the line of an address, past the caches: `before` ends and `after` begins there."""
    shift = builder.and_(address, constant(LINE - 1))
    value = _from(builder, before, after, builder.sub(constant(LINE), shift))
    store(builder, value, builder.sub(address, shift), LINE)


@instruction
def _begin(typingctx: Any, src: Any, rows: Any, kept: Any, heads: Any, word: Any) -> Any:
    """Keep the first block of some rows, and once more as their heads."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for k, value in enumerate(_columns(builder, args[0], args[1], word)):
            store(builder, value, builder.add(args[2], constant(k * LINE)))
            store(builder, value, builder.add(args[3], constant(k * LINE)))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 4, word), generate


@instruction
def _go_on(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, kept: Any, word: Any) -> Any:
    """Store the lines in which the block that is kept ends, and keep the next one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _columns(builder, args[0], args[1], word)
        addresses = by_table(builder, args[2], args[3], len(values))
        for k, (value, address) in enumerate(zip(values, addresses, strict=True)):
            slot = builder.add(args[4], constant(k * LINE))
            _store_line(builder, address, load(builder, slot, value.type), value)
            store(builder, value, slot)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5, word), generate


@instruction
def _end(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, kept: Any, rest: Any, word: Any) -> Any:
    """The same with the last block, of which only the last `rest` bytes are new, so that they may fill no line."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rest = args[5]
        values = _columns(builder, args[0], args[1], word)
        addresses = by_table(builder, args[2], args[3], len(values))
        for k, (value, address) in enumerate(zip(values, addresses, strict=True)):
            slot = builder.add(args[4], constant(k * LINE))
            held = builder.add(builder.and_(address, constant(LINE - 1)), rest)
            with builder.if_then(builder.icmp_signed(">=", held, constant(LINE))):
                new = _from(builder, value, value, builder.sub(constant(LINE), rest))
                _store_line(builder, address, load(builder, slot, value.type), new)
            store(builder, value, slot)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6, word), generate


@instruction
def _join(typingctx: Any, address: Any, kept: Any, head: Any) -> Any:
    """Store the line in which one row ends and the next one begins."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        before, after = (load(builder, place, vector(LINE, 1)) for place in args[1:])
        _store_line(builder, args[0], before, after)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 3), generate


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
    abreast: int, word: Any,
) -> None:  # fmt: skip
    # Of each row `abreast` blocks are written in a go: lines that are neighbours in memory, soon after each other.
    item, height = size_of(word), _height(word)
    block = LINE // item
    groups, whole, rest = -(-a_count // height), b_count // block, b_count % block
    # Rows some blocks on are asked for, line by line, those of the next tile behind the last of this one; its own last
    # row again and again, where there is more time than rows.
    lines, row = (a_count * item + 63) >> 6, _AHEAD * block
    later, left, asks = _row(src, next_tile, b_table, row, b_count), lines, -(-lines * block // groups)
    for turn in range(-(-whole // abreast)):
        for group in range(groups):
            a = min(group * height, a_count - height)
            at, slots = src + a * item, group * height * LINE
            for n in range(turn * abreast, min((turn + 1) * abreast, whole)):
                for _ in range(asks):
                    ask(later)
                    later += 64
                    left -= 1
                    if left == 0:
                        row += 1
                        later, left = _row(src, next_tile, b_table, row, b_count), lines
                rows = b_table + 8 * n * block
                if n:
                    _go_on(at, rows, dst + n * LINE, a_table + 8 * a, kept + slots, word)
                else:
                    _begin(at, rows, kept + slots, heads + slots, word)
    for group in range(groups if rest else 0):
        a = min(group * height, a_count - height)
        rows, to = b_table + 8 * (b_count - block), dst + whole * LINE
        _end(src + a * item, rows, to, a_table + 8 * a, kept + group * height * LINE, rest * item, word)


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
            run(to, heads + slot, LINE - (to & 63))
        if follow and a + 1 < a_count:
            after = (a + 1 + overlap * (a + 1 >= grouped)) * LINE
            _join(to + nbytes, kept + slot, heads + after)
        else:
            tail = to + nbytes & 63
            run(to + nbytes - tail, kept + slot + LINE - tail, tail)


@part
def copy_carried(row: int, dst_cell: int, src_cell: int, first: int, last: int, word: Any) -> int:
    """Copy tiles, tasks `first` up to `last`; `word` tells the item and the registers (`llvm.WORDS`)."""
    dst, src, answer = begun(row, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    a_table, b_table = peek(row + 8 * A_TABLE), peek(row + 8 * B_TABLE)
    memory = allocate(peek(row + 8 * OUT_BYTES) + LINE)
    if memory == 0:
        return NO_MEMORY
    kept = (memory + LINE - 1) & -LINE
    heads = kept + peek(row + 8 * OUT_BYTES) // 2
    abreast = peek(row + 8 * RUN)
    d, s = place(row, index, first)
    for task in range(first, last):
        a_count, b_count = counts(row, index)
        a_count *= peek(row + 8 * A_INNER)
        b_count *= peek(row + 8 * B_INNER)
        to, at = dst + d, src + s
        if task + 1 < last:
            d, s = advance(row, index, d, s)
        nbytes = b_count * size_of(word)
        _all_but_ends(to, a_table, at, b_table, a_count, b_count, kept, heads, src + s, abreast, word)
        _ends(to, a_table, a_count, _height(word), nbytes, peek(row + 8 * A_PITCH) == nbytes, kept, heads)
    fence()
    release(memory)
    return DONE
