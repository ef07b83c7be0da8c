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
    B_GROUP,
    B_INNER,
    B_PITCH,
    B_SRC,
    B_TABLE,
    C_CHUNK,
    C_SRC,
    DONE,
    IN_ORDER,
    MODE,
    NO_MEMORY,
    OUT_BYTES,
    OUT_GROUP,
    OUT_PITCH,
    PREFETCHED,
    PREFETCHES,
    REGISTERS,
    RUN,
    SRC_HIGH,
    SRC_LOW,
    STRIDE,
)
from .jit import part
from .llvm import fence, field, free, malloc, odometer, on_line, peek, prefetch_once
from .plans import TOGETHER
from .runs import run_each, write_rows, write_waiting
from .walk import advance, begun, counts, place, turns_of_c

_FEW = 512
"""Bytes of pieces that are asked for at once: more would have to wait for each other."""
_CROSSES = 24
"""Bytes of a short run from which on its last one is asked for, too: more often than not it lies on another line."""
_ABREAST = 64
"""The most short runs of a row that are read at once: of more the first-level cache would not keep the lines, in which
the next row goes on."""


@part
def _each(
    dst: int, dst_step: int, src: int, src_step: int, count: int, nbytes: int, descriptor: int, first: int, tag: Any
) -> None:
    """Copy so many runs or blocks; the loops begin at `first` in the source."""
    if field(descriptor, REGISTERS):
        low, high = first + field(descriptor, SRC_LOW), first + field(descriptor, SRC_HIGH)
        blocks.copy_each(dst, dst_step, src, src_step, count, descriptor, low, high, tag)
    else:
        run_each(dst, dst_step, src, src_step, count, nbytes, 0)


@part
def _prefetch(src: int, step: int, count: int, nbytes: int, descriptor: int) -> None:
    """Ask for the lines of some runs or blocks, for each once where blocks are nearer to each other than a line."""
    asked, asks = field(descriptor, PREFETCHED), field(descriptor, PREFETCHES)
    if asked:
        far = max(abs(step), 64)
        for k in range(asked):
            at = src + peek(asks + 8 * k)
            for _ in range(max(1, (count * abs(step) + far - 1) // far)):
                prefetch_once(at)
                at += far if step > 0 else -far
    elif 0 < step < nbytes + 64:  # no line lies between two of them
        for k in range(0, count * step, 64):
            prefetch_once(src + k)
    else:
        for piece in range(count):
            for k in range(0, nbytes, 64):
                prefetch_once(src + piece * step + k)
            if nbytes >= _CROSSES:
                prefetch_once(src + piece * step + nbytes - 1)


@part
def _copy_in_order(
    dst: int, src: int, descriptor: int, index: int, first: int, last: int, held: int, nbytes: int, tag: Any
) -> None:
    """Copy tiles as they follow each other in the target: what ends within a line waits for the next one."""
    a_src, b_src = field(descriptor, A_SRC), field(descriptor, B_SRC)
    begin = end = 0
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(descriptor, index)
        to, at = dst + d, src + s
        d, s = advance(descriptor, index, d, s)
        if to != end:
            write_waiting(held, begin, end, True, 0)
            begin = to
        into, length = held + to - (begin & -64), b_count * nbytes
        end = to + a_count * length
        if a_count > b_count:
            for b in range(b_count):
                _prefetch(src + s + b * b_src, a_src, a_count, nbytes, descriptor)
                _each(into + b * nbytes, length, at + b * b_src, a_src, a_count, nbytes, descriptor, src, tag)
        else:
            for a in range(a_count):
                _prefetch(src + s + a * a_src, b_src, b_count, nbytes, descriptor)
                _each(into + a * length, nbytes, at + a * a_src, b_src, b_count, nbytes, descriptor, src, tag)
        if end - begin >= TOGETHER:
            begin = write_waiting(held, begin, end, False, 0)
    write_waiting(held, begin, end, True, 0)


@part
def _put_together(
    held: int, at: int, descriptor: int, a_count: int, b_count: int, next_tile: int, first: int, tag: Any
) -> None:
    """Put pieces together in a buffer, as many at a time as lie evenly spaced in the source, and ask for the next ones.

    Of blocks a table tells which lines those of all rows share: they are asked for once.
    """
    nbytes, pitch, b_table = field(descriptor, RUN), field(descriptor, OUT_PITCH), field(descriptor, B_TABLE)
    a_step, b_step, sources = field(descriptor, STRIDE), field(descriptor, B_PITCH), field(descriptor, A_SOURCES)
    a_group, b_group = field(descriptor, A_GROUP), field(descriptor, B_GROUP)
    few, shared = 1 + _FEW // nbytes, field(descriptor, PREFETCHED) != 0
    few = few if shared else min(few, _ABREAST)
    b, left = 0, b_group
    while b < b_count:
        some = min(few, left, b_count - b)
        left = left - some if left > some else b_group
        column = peek(b_table + 8 * b)
        if shared:
            _prefetch(next_tile + column, b_step, some, nbytes, descriptor)
        a = 0
        while a < a_count:
            rows, to = min(a_group, a_count - a), held + a * pitch + b * nbytes
            offset = column + peek(sources + 8 * a)
            # Those that are more go on innermost: how long they are is looked at once for all of them.
            if rows > some:
                for k in range(some):
                    if not shared:
                        _prefetch(next_tile + offset + k * b_step, a_step, rows, nbytes, descriptor)
                    _each(
                        to + k * nbytes, pitch, at + offset + k * b_step, a_step, rows, nbytes, descriptor, first, tag
                    )
            else:
                for k in range(rows):
                    if not shared:
                        _prefetch(next_tile + offset + k * a_step, b_step, some, nbytes, descriptor)
                    _each(
                        to + k * pitch, nbytes, at + offset + k * a_step, b_step, some, nbytes, descriptor, first, tag
                    )
            a += a_group
        b += some


@part
def copy_pieces(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles of pieces, tasks `first` up to `last`."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    a_inner, b_inner = field(descriptor, A_INNER), field(descriptor, B_INNER)
    a_table, b_table, a_sources = field(descriptor, A_TABLE), field(descriptor, B_TABLE), field(descriptor, A_SOURCES)
    nbytes, pitch, group = field(descriptor, RUN), field(descriptor, OUT_PITCH), field(descriptor, OUT_GROUP)
    small, c_src = field(descriptor, C_CHUNK) > 1, field(descriptor, C_SRC)
    memory = malloc(field(descriptor, OUT_BYTES) + 64)
    if memory == 0:
        return NO_MEMORY
    held = on_line(memory)
    if field(descriptor, MODE) & IN_ORDER:
        _copy_in_order(dst, src, descriptor, index, first, last, held, nbytes, tag)
        fence()
        free(memory)
        return DONE
    d, s = place(descriptor, index, first)
    for task in range(first, last):
        a_count, b_count = counts(descriptor, index)
        a_count *= a_inner
        b_count *= b_inner
        matrices = turns_of_c(descriptor, index)
        to, at = dst + d, src + s
        if task + 1 < last:
            d, s = advance(descriptor, index, d, s)
        rows = a_count * matrices
        if small:
            # Small matrices in a row: how long pieces are is looked at once for all of them.
            for b in range(b_count):
                for a in range(a_count):
                    piece, offset = held + a * pitch + b * nbytes, peek(b_table + 8 * b) + peek(a_sources + 8 * a)
                    _each(piece, a_count * pitch, at + offset, c_src, matrices, nbytes, descriptor, src, tag)
        else:
            _put_together(held, at, descriptor, a_count, b_count, src + s, src, tag)
        write_rows(to, a_table, held, pitch, rows, b_count * nbytes, rows if small else group, True)
    fence()
    free(memory)
    return DONE
