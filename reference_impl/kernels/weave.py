"""Streams woven together and apart, every k-th item picked, one item repeated: what goes on along one dimension."""

from typing import Any

from numba import types

from .descriptor import B_DST, B_SRC, DONE, MODE, OUT_BYTES, RUN, STREAM, STRIDE
from .jit import instruction, part
from .llvm import (
    LINE,
    allocate,
    ask_once,
    constant,
    copy_64,
    fence,
    item_type,
    load,
    meaning,
    move,
    odometer,
    peek,
    prefetch,
    release,
    shuffle,
    size_of,
    store,
    stream_64,
    vector,
    width_of,
)
from .plans import PAGE
from .runs import run, streamed_run
from .shuffles import by_lanes, parted, woven
from .walk import advance, begun, counts, place

_AHEAD = 512
"""Bytes ahead that are asked for, in each stream."""
_FEW_A_LINE = 16
"""Bytes from item to item above which hardware keeps up by itself: with half-line registers asking costs a tenth."""
_ROWS_AHEAD = 8192
"""Bytes ahead at which a later row is asked for, where rows lie less than a page apart."""
_TO_WRITE = 1024
"""Bytes ahead that a fill asks for, to be written."""
_TURN = 512
"""Bytes of each stream that are written in one go, where streams are parted by way of a buffer."""
_HELD = 1 << 14
"""Bytes of a buffer for rows that share lines of the target."""


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


def _picker(step: int, streamed: bool, ends: bool = False, times: int = 1) -> Any:
    """An intrinsic that fills one register with every `step`-th item; -1 goes backwards, 0 repeats one.

    Where it `ends` a row it reads nothing behind the last of these items. It asks for what is `ahead`, and stores the
    register `times`.
    """

    @instruction
    def pick(typingctx: Any, src: Any, dst: Any, ahead: Any, word: Any) -> Any:
        item, width = meaning(word)
        lanes = width // item

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if step > 0:
                value, *_ = parted(builder, args[0], step, width, item, by_lanes(step, width, item), (step - 1) * ends)
                for k in range(0, 0 if width < LINE and step * item > _FEW_A_LINE else step * width, LINE):
                    prefetch(builder, builder.add(builder.add(args[0], args[2]), constant(k)))
            elif step < 0:
                value = load(builder, builder.sub(args[0], constant(width - item)), vector(width, item))
                value = shuffle(builder, value, value, list(range(lanes - 1, -1, -1)))
            else:
                one = load(builder, args[0], item_type(item))
                value = builder.insert_element(vector(width, item)(None), one, constant(0))
                value = shuffle(builder, value, value, [0] * lanes)
            for k in range(0, times * width if times > 1 and width < LINE else 0, LINE):
                prefetch(builder, builder.add(args[1], constant(_TO_WRITE + k)), write=True, level=3)
            for k in range(times):
                store(builder, value, builder.add(args[1], constant(k * width)), width if streamed else 0)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 3, word), generate

    return pick


pick_2, pick_3, pick_4, pick_back, pick_same = [_picker(k, False) for k in (2, 3, 4, -1, 0)]
pick_2s, pick_3s, pick_4s, pick_backs, pick_sames = [_picker(k, True) for k in (2, 3, 4, -1, 0)]
pick_same_8 = _picker(0, False, times=8)
last_2, last_3, last_4 = [_picker(k, False, ends=True) for k in (2, 3, 4)]
last_2s, last_3s, last_4s = [_picker(k, True, ends=True) for k in (2, 3, 4)]


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


@part
def picked(to: int, at: int, stride: int, length: int, ahead: int, asked: bool, word: Any) -> None:
    """Copy items that lie `stride` bytes apart to where they follow each other; past the caches where `asked`."""
    item, width = size_of(word), width_of(word)
    lanes = width // item
    i = 0
    streamed = asked and to % item == 0
    while streamed and i < length and (to + i * item) & (width - 1):
        move(at + i * stride, to + i * item, word)
        i += 1
    # A register of a step is read from beyond its last item, but for the row's last one.
    if stride == 2 * item:
        while i + lanes < length:
            if streamed:
                pick_2s(at + i * stride, to + i * item, ahead, word)
            else:
                pick_2(at + i * stride, to + i * item, ahead, word)
            i += lanes
        if streamed and i + lanes == length:
            last_2s(at + i * stride, to + i * item, ahead, word)
            return
        if length >= lanes:
            last_2(at + (length - lanes) * stride, to + (length - lanes) * item, ahead, word)
            return
    elif stride == 3 * item:
        while i + lanes < length:
            if streamed:
                pick_3s(at + i * stride, to + i * item, ahead, word)
            else:
                pick_3(at + i * stride, to + i * item, ahead, word)
            i += lanes
        if streamed and i + lanes == length:
            last_3s(at + i * stride, to + i * item, ahead, word)
            return
        if length >= lanes:
            last_3(at + (length - lanes) * stride, to + (length - lanes) * item, ahead, word)
            return
    elif stride == 4 * item:
        while i + lanes < length:
            if streamed:
                pick_4s(at + i * stride, to + i * item, ahead, word)
            else:
                pick_4(at + i * stride, to + i * item, ahead, word)
            i += lanes
        if streamed and i + lanes == length:
            last_4s(at + i * stride, to + i * item, ahead, word)
            return
        if length >= lanes:
            last_4(at + (length - lanes) * stride, to + (length - lanes) * item, ahead, word)
            return
    elif stride == -item:
        while i + lanes <= length:
            if streamed:
                pick_backs(at + i * stride, to + i * item, ahead, word)
            else:
                pick_back(at + i * stride, to + i * item, ahead, word)
            i += lanes
        if i < length and length >= lanes:
            pick_back(at + (length - lanes) * stride, to + (length - lanes) * item, ahead, word)
            return
    elif stride == 0:
        if not streamed and length >= 4 * lanes and to % item == 0:
            pick_same(at, to, ahead, word)
            i = (-to & (width - 1)) // item
        # An item that is read anew for each register takes as long as the store: the two might share memory.
        while not streamed and i + 8 * lanes <= length:
            pick_same_8(at, to + i * item, ahead, word)
            i += 8 * lanes
        while i + lanes <= length:
            if streamed:
                pick_sames(at, to + i * item, ahead, word)
            else:
                pick_same(at, to + i * item, ahead, word)
            i += lanes
        if i < length and length >= lanes:
            pick_same(at, to + (length - lanes) * item, ahead, word)
            return
    while i < length:
        move(at + i * stride, to + i * item, word)
        i += 1


@part
def copy_picked(row: int, dst_cell: int, src_cell: int, first: int, last: int, word: Any) -> int:
    """Fill rows of the target with items that lie STRIDE bytes apart in the source, tasks `first` up to `last`."""
    dst, src, answer = begun(row, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    stride = peek(row + 8 * STRIDE)
    b_dst, b_src = peek(row + 8 * B_DST), peek(row + 8 * B_SRC)
    asked = (peek(row + 8 * MODE) & STREAM) != 0
    # What is asked for lies ahead in the row, or so many rows on where rows are short, and the gaps between them wide.
    ahead = _AHEAD // 2 * abs(stride) // size_of(word)
    if 0 < abs(b_src) < PAGE:
        ahead = b_src * (_ROWS_AHEAD // abs(b_src))
    d, s = place(row, index, first)
    # Rows that follow each other share lines: short ones go through a buffer, from which whole lines are streamed.
    held = allocate(_HELD) if asked and b_dst & (LINE - 1) and 0 < b_dst <= _HELD // 4 else 0
    for _ in range(first, last):
        length, b_count = counts(row, index)
        if held and b_dst == length * size_of(word):
            b = 0
            while b < b_count:
                number = min(_HELD // b_dst, b_count - b)
                for k in range(number):
                    picked(held + k * b_dst, src + s + (b + k) * b_src, stride, length, ahead, False, word)
                streamed_run(dst + d + b * b_dst, held, number * b_dst, False, False, 0)
                b += number
        else:
            for b in range(b_count):
                picked(dst + d + b * b_dst, src + s + b * b_src, stride, length, ahead, asked, word)
        d, s = advance(row, index, d, s)
    if asked:
        fence()
    if held:
        release(held)
    return DONE
