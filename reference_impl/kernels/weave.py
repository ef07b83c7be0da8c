"""Streams woven together and apart: channels that become the last dimension, or the first."""

from typing import Any

from numba import types

from .descriptor import DONE, MODE, OUT_BYTES, RUN, STREAM, STRIDE
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
from .plans import PAGE
from .runs import run
from .shuffles import by_lanes, parted, woven
from .walk import advance, begun, counts, place

_AHEAD = 512
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


weave_2, weave_3, weave_4 = [_weaver(k, False, False) for k in (2, 3, 4)]
weave_2s, weave_3s, weave_4s = [_weaver(k, True, False) for k in (2, 3, 4)]
part_2, part_3, part_4 = [_weaver(k, False, True) for k in (2, 3, 4)]
part_2s, part_3s, part_4s = [_weaver(k, True, True) for k in (2, 3, 4)]


@part
def _woven(dst: int, src: int, stride: int, number: int, length: int, streamed: bool, word: Any) -> None:
    item, width = size_of(word), width_of(word)
    lanes, i = width // item, 0
    # Whole lines are streamed, where rows do not begin and end with a register: the half of a line that another row
    # holds the rest of would be streamed into the caches.
    unit = LINE if (dst | length * number * item) & (width - 1) else width
    while streamed and i < length and (dst + i * number * item) & (unit - 1) and i < unit // item:
        for k in range(number):
            move(src + k * stride + i * item, dst + (i * number + k) * item, word)
        i += 1
    streamed = streamed and (dst + i * number * item) & (unit - 1) == 0
    end = i + (length - i) * item // unit * unit // item if streamed else i
    if number == 2:
        while i + lanes <= length:
            if i < end:
                weave_2s(src + i * item, dst + i * 2 * item, stride, word)
            else:
                weave_2(src + i * item, dst + i * 2 * item, stride, word)
            i += lanes
    elif number == 3:
        while i + lanes <= length:
            if i < end:
                weave_3s(src + i * item, dst + i * 3 * item, stride, word)
            else:
                weave_3(src + i * item, dst + i * 3 * item, stride, word)
            i += lanes
    else:
        while i + lanes <= length:
            if i < end:
                weave_4s(src + i * item, dst + i * 4 * item, stride, word)
            else:
                weave_4(src + i * item, dst + i * 4 * item, stride, word)
            i += lanes
    while i < length:
        for k in range(number):
            move(src + k * stride + i * item, dst + (i * number + k) * item, word)
        i += 1


@part
def _parted(dst: int, src: int, stride: int, number: int, length: int, streamed: bool, word: Any) -> None:
    item, width = size_of(word), width_of(word)
    i = 0
    streamed = streamed and stride & (LINE - 1) == 0 and dst % item == 0
    if streamed:
        width = LINE
    lanes = width // item
    while streamed and i < length and (dst + i * item) & (width - 1):
        for k in range(number):
            move(src + (i * number + k) * item, dst + k * stride + i * item, word)
        i += 1
    if number == 2:
        while i + lanes <= length:
            if streamed:
                part_2s(src + i * 2 * item, dst + i * item, stride, word)
            else:
                part_2(src + i * 2 * item, dst + i * item, stride, word)
            i += lanes
    elif number == 3:
        while i + lanes <= length:
            if streamed:
                part_3s(src + i * 3 * item, dst + i * item, stride, word)
            else:
                part_3(src + i * 3 * item, dst + i * item, stride, word)
            i += lanes
    else:
        while i + lanes <= length:
            if streamed:
                part_4s(src + i * 4 * item, dst + i * item, stride, word)
            else:
                part_4(src + i * 4 * item, dst + i * item, stride, word)
            i += lanes
    while i < length:
        for k in range(number):
            move(src + (i * number + k) * item, dst + k * stride + i * item, word)
        i += 1


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
def copy_woven(row: int, dst_cell: int, src_cell: int, first: int, last: int, word: Any) -> int:
    """Weave RUN streams of the source together, or apart where RUN is negative, tasks `first` up to `last`."""
    dst, src, answer = begun(row, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    number, stride = peek(row + 8 * RUN), peek(row + 8 * STRIDE)
    streamed = (peek(row + 8 * MODE) & STREAM) != 0
    memory = allocate(peek(row + 8 * OUT_BYTES) + PAGE) if peek(row + 8 * OUT_BYTES) else 0
    d, s = place(row, index, first)
    for _ in range(first, last):
        length, _ = counts(row, index)
        if number > 0:
            _woven(dst + d, src + s, stride, number, length, streamed, word)
        elif memory:
            _parted_by_turns(dst + d, src + s, stride, -number, length, (memory + PAGE - 1) & -PAGE, word)
        else:
            _parted(dst + d, src + s, stride, -number, length, streamed, word)
        d, s = advance(row, index, d, s)
    if streamed:
        fence()
    if memory:
        release(memory)
    return DONE
