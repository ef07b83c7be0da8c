"""Streams woven together and apart: channels that become the last dimension, or the first."""

from typing import Any

from numba import types

from . import machine
from .descriptor import DONE, MODE, OUT_BYTES, STAGE_OUT, STREAM, STREAMS, STRIDE
from .jit import instruction, part
from .llvm import (
    constant,
    emit_prefetch,
    fence,
    field,
    free,
    load,
    malloc,
    meaning,
    move,
    odometer,
    on_line,
    prefetch_once,
    size_of,
    store,
    stream_256,
    vector,
    width_of,
)
from .pick import picked
from .plans import LINE, TOGETHER
from .runs import write_waiting
from .shuffles import by_lanes, parted, woven
from .walk import advance, begun, counts, place

_AHEAD = machine.ahead_bytes()
"""Bytes ahead that are asked for, in each stream."""
_NEAR = 1024
"""The same, into the first-level cache, where streams are woven past the caches on Intel's processors."""
_TURN, _TURN_PAST = 2048, 512
"""Bytes of each stream that are written in one go where streams are parted, within the caches and past them."""
_BY_LINES = not machine.is_intel()
"""Whether streams that are parted past the caches are written a line of each in turn, as is better on AMD's family 26
with registers of either length; else, and where items lie on two lines, `_parted_by_turns`. With half-line registers
they always are, by way of a buffer: 0.7 of either's time on AMD's family 25, the one where that was measured."""
_HALF, _SOON = LINE // 2, 128
"""Bytes of the registers that such lines are made in, and how far ahead is asked for then: loads of 64 bytes, which
lie on two lines wherever a stream begins within one, took up to twice as long."""
_PITCH = _TURN_PAST + 2 * LINE
"""Bytes from one stream to the next in the buffer of `_part_together`."""
_HELD = 2 * 4 * _PITCH
"""Bytes of that buffer: two turns of four streams."""
_SHORT = 128
"""Bytes, for each of the streams, below which a row is too short for turns."""


def _weaver(number: int, streamed: bool, apart: bool) -> Any:
    """An intrinsic that moves one register of each stream; the streams lie `stride` bytes apart, on one side."""
    ahead, level = (_NEAR, 3) if streamed and machine.is_intel() else (_AHEAD, 2)

    @instruction
    def weave(typingctx: Any, src: Any, dst: Any, stride: Any, tag: Any) -> Any:
        item, width = meaning(tag)
        lanes = by_lanes(number, width, item)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            streams = [builder.add(args[apart], builder.mul(args[2], constant(k))) for k in range(number)]
            pieces = [builder.add(args[not apart], constant(k * width)) for k in range(number)]
            if apart:
                values = parted(builder, args[0], number, width, item, lanes)
            else:
                values = [load(builder, address, vector(width, item)) for address in streams]
                values = woven(builder, values, width, item, lanes)
            read, written = (pieces, streams) if apart else (streams, pieces)
            for address in () if apart and width < LINE else read:
                emit_prefetch(builder, builder.add(address, constant(ahead)), level=level)
            for value, address in zip(values, written, strict=True):
                store(builder, value, address, width if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, tag), generate

    return weave


def _line_parter(number: int) -> Any:
    """An intrinsic that streams a line of each stream, its first one from an address on that the stream goes through.

    The line begins up to 63 bytes later, so that what it holds is read from up to 63 bytes of each stream later, too.
    """

    @instruction
    def part_lines(typingctx: Any, src: Any, dst: Any, stride: Any, tag: Any) -> Any:
        item, _ = meaning(tag)
        lanes, halves = by_lanes(number, _HALF, item), range(0, LINE, _HALF)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            streams = [builder.add(args[1], builder.mul(args[2], constant(k))) for k in range(number)]
            heads = [builder.and_(builder.neg(stream), constant(LINE - 1)) for stream in streams]
            read = [builder.add(args[0], builder.mul(head, constant(number))) for head in heads]
            values = [
                parted(builder, builder.add(address, constant(half * number)), number, _HALF, item, lanes)[k]
                for k, address in enumerate(read)
                for half in halves
            ]
            for line in range(number):
                emit_prefetch(builder, builder.add(args[0], constant(_SOON + line * LINE)))
            written = [
                builder.add(builder.add(stream, head), constant(half))
                for stream, head in zip(streams, heads, strict=True)
                for half in halves
            ]
            for value, address in zip(values, written, strict=True):
                store(builder, value, address, _HALF)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, tag), generate

    return part_lines


def _registers(number: int, streamed: bool, apart: bool) -> Any:
    """A part that weaves whole registers from item `i` on as long as `end` allows, and answers where it stopped.

    Whole lines where streams are parted past the caches.
    """
    lines = streamed and apart
    weave = _line_parter(number) if lines else _weaver(number, streamed, apart)

    @part
    def go_on(dst: int, src: int, stride: int, i: int, end: int, tag: Any) -> int:
        item = size_of(tag)
        lanes = (LINE if lines else width_of(tag)) // item
        while i + lanes <= end:
            if apart:
                weave(src + i * number * item, dst + i * item, stride, tag)
            else:
                weave(src + i * item, dst + i * number * item, stride, tag)
            i += lanes
        return i

    return go_on


def _of_any_number(streamed: bool, apart: bool) -> Any:
    """The same for two to four streams."""
    two, three, four = [_registers(k, streamed, apart) for k in (2, 3, 4)]

    @part
    def go_on(number: int, dst: int, src: int, stride: int, i: int, end: int, tag: Any) -> int:
        if number == 2:
            i = two(dst, src, stride, i, end, tag)
        elif number == 3:
            i = three(dst, src, stride, i, end, tag)
        else:
            i = four(dst, src, stride, i, end, tag)
        return i

    return go_on


_weave, _weave_streamed = _of_any_number(False, False), _of_any_number(True, False)
_part, _part_lines = _of_any_number(False, True), _of_any_number(True, True)


@part
def _one_by_one(
    dst: int, dst_stream: int, dst_step: int, src: int, src_stream: int, src_step: int, number: int, i: int, end: int,
    tag: Any,
) -> None:  # fmt: skip
    while i < end:
        for k in range(number):
            move(src + k * src_stream + i * src_step, dst + k * dst_stream + i * dst_step, tag)
        i += 1


@part
def _woven(dst: int, src: int, stride: int, number: int, length: int, streamed: bool, tag: Any) -> None:
    item, width = size_of(tag), width_of(tag)
    lanes, step, i = width // item, number * item, 0
    # Whole lines are streamed, where rows do not begin and end with a register: the half of a line that another row
    # holds the rest of would be streamed into the caches.
    unit = LINE if (dst | length * step) & (width - 1) else width
    while streamed and i < length and (dst + i * step) & (unit - 1) and i < unit // item:
        i += 1
    _one_by_one(dst, item, step, src, stride, item, number, 0, i, tag)
    if streamed and (dst + i * step) & (unit - 1) == 0:
        end = i + (length - i) * item // unit * unit // item
        i = _weave_streamed(number, dst, src, stride, i, end, tag)
    while i + lanes <= length:
        i = _weave(number, dst, src, stride, i, length, tag)
        if not streamed and i < length:
            i = length - lanes  # the last register overlaps the one before it
    _one_by_one(dst, item, step, src, stride, item, number, i, length, tag)


@part
def _parted(dst: int, src: int, stride: int, number: int, length: int, tag: Any) -> None:
    """A register of each stream in turn."""
    item, i = size_of(tag), 0
    lanes, step = width_of(tag) // item, number * item
    while i + lanes <= length:
        i = _part(number, dst, src, stride, i, length, tag)
        if i < length:
            i = length - lanes  # the last register overlaps the one before it
    _one_by_one(dst, stride, item, src, item, step, number, i, length, tag)


@part
def _part_together(number: int, dst: int, src: int, stride: int, end: int, held: int, tag: Any) -> int:
    """As `_part_lines` from the first item on, eight lines of each stream at a time, by way of a buffer of two turns.

    A turn is written while the next one is put together: what waits for stores that it loads the bytes of would wait
    for all that is streamed before them, too. With each line one is asked for that a later turn reads.
    """
    item, i = size_of(tag), 0
    turn, before = _TURN_PAST // item, 0
    here, there = held, held + _HELD // 2
    while i or turn <= end:
        if i + turn <= end:
            _parted(here, src + i * number * item, _PITCH, number, turn + LINE // item, tag)
        later = src + (i + turn * 3 // 2) * number * item
        for k in range(number if i else 0):
            to, at = dst + k * stride + before * item, there + k * _PITCH
            head = -to & (LINE - 1)
            for j in range(head, head + _TURN_PAST, 4 * LINE):
                for _ in range(4):
                    prefetch_once(later)
                    later += LINE
                stream_256(at + j, to + j)
        if i + turn > end:
            break
        here, there = there, here
        i, before = i + turn, i
    return i


@part
def _parted_by_lines(dst: int, src: int, stride: int, number: int, length: int, held: int, tag: Any) -> None:
    """A line of each stream in turn, wherever within one it begins, past the caches; eight if there is a buffer."""
    item, step = size_of(tag), number * size_of(tag)
    end = length - LINE // item
    begin = _part_together(number, dst, src, stride, end, held, tag) if width_of(tag) < LINE and held else 0
    end = _part_lines(number, dst, src, stride, begin, end, tag)
    for k in range(number):
        to, at = dst + k * stride, src + k * item
        begin = min((-to & (LINE - 1)) // item, length)
        picked(to, at, step, begin, 0, False, tag)
        begin += end
        picked(to + begin * item, at + begin * step, step, length - begin, 0, False, tag)


@part
def _parted_by_turns(dst: int, src: int, stride: int, number: int, length: int, streamed: bool, tag: Any) -> None:
    """Each stream by itself for a turn, as items that are stepped over; past the caches whole lines of it.

    A store on two lines takes several times as long where the next one is to another stream. Past the caches what a
    later turn is parted from is asked for meanwhile.
    """
    item, step = size_of(tag), number * size_of(tag)
    streamed &= (dst | stride) % item == 0
    turn = (_TURN_PAST if streamed else _TURN) // item
    between = width_of(tag) == LINE  # with half-line registers what is asked for register by register costs a tenth
    lanes = width_of(tag) // item
    i, later = 0, src + _AHEAD
    while i < length:
        # Within the caches no less than a register is left for a last turn: its items would be moved one by one.
        some = turn if streamed or length - i >= turn + lanes else length - i
        for k in range(number):
            to, at = dst + k * stride, src + k * item
            head = min((-to & (LINE - 1)) // item, length) if streamed else 0
            begin, end = min(i + head, length), min(i + head + some, length)
            if i == 0:
                picked(to, at, step, head, 0, False, tag)
            if streamed and end == length:
                end -= (end - begin) % (LINE // item)
                picked(to + end * item, at + end * step, step, length - end, 0, False, tag)
            for _ in range(some * item // LINE if streamed and not between else 0):
                prefetch_once(later)
                later += LINE
            picked(
                to + begin * item, at + begin * step, step, end - begin, _AHEAD * (between and k == 0), streamed, tag
            )
        i += some


@part
def _put_together(
    dst: int,
    src: int,
    descriptor: int,
    index: int,
    first: int,
    last: int,
    number: int,
    stride: int,
    held: int,
    tag: Any,
) -> None:
    """As `copy_woven` past the caches, by way of a buffer: short rows, for as long as they follow each other."""
    begin = end = 0
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        length, _ = counts(descriptor, index)
        to, at, nbytes = dst + d, src + s, abs(number) * length * size_of(tag)
        d, s = advance(descriptor, index, d, s)
        if to != end:
            write_waiting(held, begin, end, True, 0)
            begin = to
        end, into = to + nbytes, held + to - (begin & -LINE)
        if number > 0:
            _woven(into, at, stride, number, length, False, tag)
        else:
            _parted(into, at, stride, -number, length, tag)
        if end - begin >= TOGETHER:
            follow = number < 0 or stride * number == nbytes  # in the source
            begin = write_waiting(held, begin, end, False, src + s if follow else 0)
    write_waiting(held, begin, end, True, 0)


@part
def copy_woven(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Weave STREAMS of the source together, or apart where their number is negative, tasks `first` up to `last`."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    number, stride, mode = field(descriptor, STREAMS), field(descriptor, STRIDE), field(descriptor, MODE)
    streamed, staged = (mode & STREAM) != 0, (mode & STAGE_OUT) != 0
    turns = _HELD if streamed and number < 0 and width_of(tag) < LINE else 0
    nbytes = field(descriptor, OUT_BYTES) if staged else turns
    memory = malloc(nbytes + LINE) if nbytes else 0
    held = on_line(memory)  # 0 where there is none: streams are copied without a buffer
    if staged and held:
        _put_together(dst, src, descriptor, index, first, last, number, stride, held, tag)
    else:
        # Of four streams of small items half-line registers take too many shuffles, each for itself.
        few = number == -4 and size_of(tag) < 4 and width_of(tag) < LINE
        d, s = place(descriptor, index, first)
        for _ in range(first, last):
            length, _ = counts(descriptor, index)
            if number > 0:
                _woven(dst + d, src + s, stride, number, length, streamed, tag)
            elif not streamed and (
                ((dst + d) | stride) & (LINE - 1) == 0 or few or length * size_of(tag) < _SHORT * -number
            ):
                _parted(dst + d, src + s, stride, -number, length, tag)
            elif streamed and (_BY_LINES or held) and ((dst + d) | stride) % size_of(tag) == 0:
                _parted_by_lines(dst + d, src + s, stride, -number, length, held, tag)
            else:
                _parted_by_turns(dst + d, src + s, stride, -number, length, streamed, tag)
            d, s = advance(descriptor, index, d, s)
    if streamed:
        fence()
    if memory:
        free(memory)
    return DONE
