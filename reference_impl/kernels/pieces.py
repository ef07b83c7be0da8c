"""Pieces: short runs, and blocks, are put together in a buffer, from which whole lines are streamed.

A tile is a matrix of pieces, or several small ones: its rows follow the target, and lie there where a table says, as
those of a transpose do; another table says where its columns lie in the source.
"""

from typing import Any

from . import blocks
from .descriptor import (
    A_GROUP,
    A_INNER,
    A_SOURCES,
    A_SRC,
    A_TABLE,
    ASKED,
    ASKS,
    B_GROUP,
    B_INNER,
    B_PITCH,
    B_SRC,
    B_TABLE,
    BY_ROWS,
    C_CHUNK,
    C_SRC,
    DONE,
    MODE,
    NO_MEMORY,
    OUT_BYTES,
    OUT_GROUP,
    OUT_PITCH,
    REGISTERS,
    RUN,
    SRC_HIGH,
    SRC_LOW,
    STRIDE,
)
from .jit import part
from .llvm import allocate, ask_once, fence, odometer, peek, release
from .plans import TOGETHER
from .runs import run_each, write_rows, write_waiting
from .walk import advance, begun, counts, place, turns_of_c

_FEW = 512
"""Bytes of pieces that are asked for at once: more would have to wait for each other."""
_ABREAST = 64
"""The most short runs of a row that are read at once: of more the first-level cache would not keep the lines, in which
the next row goes on."""


@part
def _each(
    dst: int, dst_step: int, src: int, src_step: int, count: int, nbytes: int, row: int, first: int, word: Any
) -> None:
    """Copy so many runs or blocks; the loops begin at `first` in the source."""
    if peek(row + 8 * REGISTERS):
        low, high = first + peek(row + 8 * SRC_LOW), first + peek(row + 8 * SRC_HIGH)
        blocks.copy_each(dst, dst_step, src, src_step, count, row, low, high, word)
    else:
        run_each(dst, dst_step, src, src_step, count, nbytes, 0)


@part
def _ask_for(src: int, step: int, count: int, nbytes: int, row: int) -> None:
    """Ask for the lines of some runs or blocks, for each once where blocks are nearer to each other than a line."""
    asked, asks = peek(row + 8 * ASKED), peek(row + 8 * ASKS)
    if asked:
        far = max(abs(step), 64)
        for k in range(asked):
            at = src + peek(asks + 8 * k)
            for _ in range(max(1, (count * abs(step) + far - 1) // far)):
                ask_once(at)
                at += far if step > 0 else -far
    elif 0 < step < nbytes + 64:  # no line lies between two of them
        for k in range(0, count * step, 64):
            ask_once(src + k)
    else:
        for piece in range(count):
            for k in range(0, nbytes, 64):
                ask_once(src + piece * step + k)


@part
def _copy_in_order(
    dst: int, src: int, row: int, index: int, first: int, last: int, held: int, nbytes: int, word: Any
) -> None:
    """Copy tiles as they follow each other in the target: what ends within a line waits for the next one."""
    a_src, b_src = peek(row + 8 * A_SRC), peek(row + 8 * B_SRC)
    begin = end = 0
    d, s = place(row, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(row, index)
        to, at = dst + d, src + s
        d, s = advance(row, index, d, s)
        if to != end:
            write_waiting(held, begin, end, True, 0)
            begin = to
        into, length = held + to - (begin & -64), b_count * nbytes
        end = to + a_count * length
        if a_count > b_count:
            for b in range(b_count):
                _ask_for(src + s + b * b_src, a_src, a_count, nbytes, row)
                _each(into + b * nbytes, length, at + b * b_src, a_src, a_count, nbytes, row, src, word)
        else:
            for a in range(a_count):
                _ask_for(src + s + a * a_src, b_src, b_count, nbytes, row)
                _each(into + a * length, nbytes, at + a * a_src, b_src, b_count, nbytes, row, src, word)
        if end - begin >= TOGETHER:
            begin = write_waiting(held, begin, end, False, 0)
    write_waiting(held, begin, end, True, 0)


@part
def _put_together(
    held: int, at: int, row: int, a_count: int, b_count: int, next_tile: int, first: int, word: Any
) -> None:
    """Put pieces together in a buffer, as many at a time as lie evenly spaced in the source, and ask for the next ones.

    Of blocks a table tells which lines those of all rows share: they are asked for once.
    """
    nbytes, pitch, b_table = peek(row + 8 * RUN), peek(row + 8 * OUT_PITCH), peek(row + 8 * B_TABLE)
    a_step, b_step, sources = peek(row + 8 * STRIDE), peek(row + 8 * B_PITCH), peek(row + 8 * A_SOURCES)
    a_group, b_group = peek(row + 8 * A_GROUP), peek(row + 8 * B_GROUP)
    few, shared = 1 + _FEW // nbytes, peek(row + 8 * ASKED) != 0
    few = few if shared else min(few, _ABREAST)
    b, left = 0, b_group
    while b < b_count:
        some = min(few, left, b_count - b)
        left = left - some if left > some else b_group
        column = peek(b_table + 8 * b)
        if shared:
            _ask_for(next_tile + column, b_step, some, nbytes, row)
        a = 0
        while a < a_count:
            rows, to = min(a_group, a_count - a), held + a * pitch + b * nbytes
            offset = column + peek(sources + 8 * a)
            # Those that are more go on innermost: how long they are is looked at once for all of them.
            if rows > some:
                for k in range(some):
                    if not shared:
                        _ask_for(next_tile + offset + k * b_step, a_step, rows, nbytes, row)
                    _each(to + k * nbytes, pitch, at + offset + k * b_step, a_step, rows, nbytes, row, first, word)
            else:
                for k in range(rows):
                    if not shared:
                        _ask_for(next_tile + offset + k * a_step, b_step, some, nbytes, row)
                    _each(to + k * pitch, nbytes, at + offset + k * a_step, b_step, some, nbytes, row, first, word)
            a += a_group
        b += some


@part
def copy_pieces(row: int, dst_cell: int, src_cell: int, first: int, last: int, word: Any) -> int:
    """Copy tiles of pieces, tasks `first` up to `last`."""
    dst, src, answer = begun(row, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    a_inner, b_inner = peek(row + 8 * A_INNER), peek(row + 8 * B_INNER)
    a_table, b_table, a_sources = peek(row + 8 * A_TABLE), peek(row + 8 * B_TABLE), peek(row + 8 * A_SOURCES)
    nbytes, pitch, group = peek(row + 8 * RUN), peek(row + 8 * OUT_PITCH), peek(row + 8 * OUT_GROUP)
    small, c_src = peek(row + 8 * C_CHUNK) > 1, peek(row + 8 * C_SRC)
    memory = allocate(peek(row + 8 * OUT_BYTES) + 64)
    if memory == 0:
        return NO_MEMORY
    held = (memory + 63) & ~63
    if peek(row + 8 * MODE) & BY_ROWS:
        _copy_in_order(dst, src, row, index, first, last, held, nbytes, word)
        fence()
        release(memory)
        return DONE
    d, s = place(row, index, first)
    for task in range(first, last):
        a_count, b_count = counts(row, index)
        a_count *= a_inner
        b_count *= b_inner
        matrices = turns_of_c(row, index)
        to, at = dst + d, src + s
        if task + 1 < last:
            d, s = advance(row, index, d, s)
        rows = a_count * matrices
        if small:
            # Small matrices in a row: how long pieces are is looked at once for all of them.
            for b in range(b_count):
                for a in range(a_count):
                    piece, offset = held + a * pitch + b * nbytes, peek(b_table + 8 * b) + peek(a_sources + 8 * a)
                    _each(piece, a_count * pitch, at + offset, c_src, matrices, nbytes, row, src, word)
        else:
            _put_together(held, at, row, a_count, b_count, src + s, src, word)
        write_rows(to, a_table, held, pitch, rows, b_count * nbytes, rows if small else group, True)
    fence()
    release(memory)
    return DONE
