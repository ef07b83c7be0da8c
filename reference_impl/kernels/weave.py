"""Streams woven together and apart: channels that become the last dimension, or the first."""

from typing import Any

from numba import types

from . import machine
from .descriptor import DONE, MODE, OUT_BYTES, OUT_GROUP, RUN, STAGE_OUT, STREAM, STRIDE
from .jit import instruction, part
from .llvm import (
    LINE,
    allocate,
    ask_once,
    constant,
    copy_64,
    fence,
    load,
    meaning,
    move,
    odometer,
    peek,
    prefetch,
    release,
    size_of,
    store,
    stream_64,
    vector,
    width_of,
)
from .plans import PAGE, TOGETHER
from .runs import run, write_waiting
from .shuffles import by_lanes, parted, woven
from .walk import advance, begun, counts, place

_AHEAD = machine.ahead_bytes()
"""Bytes ahead that are asked for, in each stream."""
_TURN = 512
"""Bytes of each stream that are written in one go, where streams are parted by way of a buffer."""


def _weaver(number: int, streamed: bool, apart: bool) -> Any:
    """An intrinsic that moves one register of each stream; the streams lie `stride` bytes apart, on one side.

    Streams that are parted past the caches get a whole line each, though a register may hold half of it.
    """

    @instruction
    def weave(typingctx: Any, src: Any, dst: Any, stride: Any, word: Any) -> Any:
        item, width = meaning(word)
        lanes, halves = by_lanes(number, width, item), width < LINE
        width = LINE if apart and streamed else width

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def stream(base: Any, k: int) -> Any:
                return builder.add(base, builder.mul(args[2], constant(k)))

            def piece(base: Any, k: int) -> Any:
                return builder.add(base, constant(k * width))

            read, write = (piece, stream) if apart else (stream, piece)
            addresses = [read(args[0], k) for k in range(number)]
            if apart:
                values = parted(builder, args[0], number, width, item, lanes)
            else:
                values = [load(builder, address, vector(width, item)) for address in addresses]
                values = woven(builder, values, width, item, lanes)
            for address in () if apart and halves else addresses:
                prefetch(builder, builder.add(address, constant(_AHEAD)))
            for k, value in enumerate(values):
                store(builder, value, write(args[1], k), width if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, word), generate

    return weave


def _registers(number: int, streamed: bool, apart: bool) -> Any:
    """A part that weaves whole registers from item `i` on as long as `end` allows, and answers where it stopped."""
    weave = _weaver(number, streamed, apart)

    @part
    def go_on(dst: int, src: int, stride: int, i: int, end: int, lanes: int, word: Any) -> int:
        item = size_of(word)
        while i + lanes <= end:
            if apart:
                weave(src + i * number * item, dst + i * item, stride, word)
            else:
                weave(src + i * item, dst + i * number * item, stride, word)
            i += lanes
        return i

    return go_on


def _of_any_number(streamed: bool, apart: bool) -> Any:
    """The same for two to four streams."""
    two, three, four = [_registers(k, streamed, apart) for k in (2, 3, 4)]

    @part
    def go_on(number: int, dst: int, src: int, stride: int, i: int, end: int, lanes: int, word: Any) -> int:
        if number == 2:
            i = two(dst, src, stride, i, end, lanes, word)
        elif number == 3:
            i = three(dst, src, stride, i, end, lanes, word)
        else:
            i = four(dst, src, stride, i, end, lanes, word)
        return i

    return go_on


_weave, _weave_streamed = _of_any_number(False, False), _of_any_number(True, False)
_part, _part_streamed = _of_any_number(False, True), _of_any_number(True, True)


@part
def _one_by_one(
    dst: int, dst_stream: int, dst_step: int, src: int, src_stream: int, src_step: int, number: int, i: int, end: int,
    word: Any,
) -> None:  # fmt: skip
    while i < end:
        for k in range(number):
            move(src + k * src_stream + i * src_step, dst + k * dst_stream + i * dst_step, word)
        i += 1


@part
def _woven(dst: int, src: int, stride: int, number: int, length: int, streamed: bool, word: Any) -> None:
    item, width = size_of(word), width_of(word)
    lanes, step, i = width // item, number * item, 0
    # Whole lines are streamed, where rows do not begin and end with a register: the half of a line that another row
    # holds the rest of would be streamed into the caches.
    unit = LINE if (dst | length * step) & (width - 1) else width
    while streamed and i < length and (dst + i * step) & (unit - 1) and i < unit // item:
        i += 1
    _one_by_one(dst, item, step, src, stride, item, number, 0, i, word)
    if streamed and (dst + i * step) & (unit - 1) == 0:
        end = i + (length - i) * item // unit * unit // item
        i = _weave_streamed(number, dst, src, stride, i, end, lanes, word)
    while i + lanes <= length:
        i = _weave(number, dst, src, stride, i, length, lanes, word)
        if not streamed and i < length:
            i = length - lanes  # the last register overlaps the one before it
    _one_by_one(dst, item, step, src, stride, item, number, i, length, word)


@part
def _parted(dst: int, src: int, stride: int, number: int, length: int, streamed: bool, word: Any) -> None:
    item, i = size_of(word), 0
    lanes, step = width_of(word) // item, number * item
    if streamed and stride & (LINE - 1) == 0 and dst % item == 0:
        while i < length and (dst + i * item) & (LINE - 1):
            i += 1
        _one_by_one(dst, stride, item, src, item, step, number, 0, i, word)
        i = _part_streamed(number, dst, src, stride, i, length, LINE // item, word)
    while i + lanes <= length:
        i = _part(number, dst, src, stride, i, length, lanes, word)
        if not streamed and i < length:
            i = length - lanes  # the last register overlaps the one before it
    _one_by_one(dst, stride, item, src, item, step, number, i, length, word)


@part
def _parted_by_turns(dst: int, src: int, stride: int, number: int, length: int, held: int, word: Any) -> None:
    """As `_parted` past the caches, by way of a buffer of two pages: of each stream eight lines are written in one go.

    What is put together begins in the buffer where it does in the target's line, and what ends within a line waits for
    the next turn. It is written a turn later: a load of bytes of two stores waits for these, behind all that were
    streamed before. No store crosses from one page to the next, which would take as long as several turns.
    """
    nbytes, shared = length * size_of(word), ((dst | stride) & (LINE - 1)) != 0
    pitch, first = _TURN + 2 * LINE + (stride & (LINE - 1)), held + (dst & (LINE - 1))
    at = 0
    while at < nbytes + _TURN:
        here = first + (at // _TURN & 1) * PAGE
        there = 2 * first + PAGE - here
        if at < nbytes:
            for k in range(number if shared and at else 0):
                copy_64((there + k * pitch + _TURN) & -LINE, (here + k * pitch) & -LINE)
            some = min(_TURN, nbytes - at) // size_of(word)
            _parted(here, src + at * number, pitch, number, some, False, word)
        later = src + (at + 5 * _TURN // 2) * number
        for k in range(number if at else 0):
            begin = (dst + k * stride) & (LINE - 1)
            to, piece = dst + k * stride + at - _TURN - begin, there + k * pitch - begin
            end = begin + min(_TURN, nbytes - at + _TURN)
            j = 0
            if begin and at == _TURN:
                j = min(LINE, end)
                run(to + begin, piece + begin, j - begin)
            while j + LINE <= end:
                ask_once(later)
                later += LINE
                stream_64(piece + j, to + j)
                j += LINE
            if at >= nbytes:
                run(to + j, piece + j, end - j)
        at += _TURN


@part
def _put_together(
    dst: int, src: int, row: int, index: int, first: int, last: int, number: int, stride: int, held: int, word: Any
) -> None:
    """As `copy_woven` past the caches, by way of a buffer: short rows, for as long as they follow each other."""
    begin = end = 0
    d, s = place(row, index, first)
    for _ in range(first, last):
        length, _ = counts(row, index)
        to, at, nbytes = dst + d, src + s, abs(number) * length * size_of(word)
        d, s = advance(row, index, d, s)
        if to != end:
            write_waiting(held, begin, end, True, 0)
            begin = to
        end, into = to + nbytes, held + to - (begin & -LINE)
        if number > 0:
            _woven(into, at, stride, number, length, False, word)
        else:
            _parted(into, at, stride, -number, length, False, word)
        if end - begin >= TOGETHER:
            follow = number < 0 or stride * number == nbytes  # in the source
            begin = write_waiting(held, begin, end, False, src + s if follow else 0)
    write_waiting(held, begin, end, True, 0)


@part
def copy_woven(row: int, dst_cell: int, src_cell: int, first: int, last: int, word: Any) -> int:
    """Weave RUN streams of the source together, or apart where RUN is negative, tasks `first` up to `last`."""
    dst, src, answer = begun(row, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    number, stride, mode = peek(row + 8 * RUN), peek(row + 8 * STRIDE), peek(row + 8 * MODE)
    memory = allocate(peek(row + 8 * OUT_BYTES) + PAGE) if mode & STAGE_OUT else 0
    held = (memory + PAGE - 1) & -PAGE
    if memory and peek(row + 8 * OUT_GROUP) > 1:
        _put_together(dst, src, row, index, first, last, number, stride, held, word)
    else:
        streamed = (mode & STREAM) != 0
        d, s = place(row, index, first)
        for _ in range(first, last):
            length, _ = counts(row, index)
            if number > 0:
                _woven(dst + d, src + s, stride, number, length, streamed, word)
            elif memory:
                _parted_by_turns(dst + d, src + s, stride, -number, length, held, word)
            else:
                _parted(dst + d, src + s, stride, -number, length, streamed, word)
            d, s = advance(row, index, d, s)
    if mode & STREAM:
        fence()
    if memory:
        release(memory)
    return DONE
