"""Every k-th item picked, rows turned around, one item repeated: what goes on along one dimension."""

from typing import Any

from numba import types
from numba.core import cgutils

from . import machine
from .descriptor import ASKED, B_DST, B_SRC, CALLED, DONE, MODE, STREAM, STRIDE
from .jit import instruction, part
from .llvm import (
    constant,
    emit_prefetch,
    fence,
    field,
    free,
    item_type,
    load,
    malloc,
    meaning,
    memset,
    move,
    odometer,
    on_line,
    peek_byte,
    shuffle,
    size_of,
    store,
    stream_64,
    vector,
    width_of,
)
from .plans import LINE
from .runs import run, streamed_run
from .shuffles import by_lanes, parted
from .walk import advance, begun, counts, place

_AHEAD = machine.ahead_bytes()
"""Bytes ahead that are asked for."""
_FEW_A_LINE = 16
"""Bytes from item to item above which hardware keeps up by itself: with half-line registers asking costs a tenth."""
_TO_WRITE = 1024
"""Bytes ahead that a fill asks for, to be written."""
_HELD = 1 << 14
"""Bytes of a buffer for rows that share lines of the target."""
_FEW_LINES = 8 * LINE
"""Bytes of a row from which on those of its lines that it has alone are worth streaming."""
_SHORT_FILL = 1024
"""Bytes of rows that are filled with as little ado as may be."""


def _of_one(builder: Any, address: Any, item: int, width: int) -> Any:
    """A register that holds one item again and again."""
    one = builder.insert_element(vector(width, item)(None), load(builder, address, item_type(item)), constant(0))
    return shuffle(builder, one, one, [0] * (width // item))


def _picker(step: int, streamed: bool, ends: bool = False, times: int = 1) -> Any:
    """An intrinsic that fills one register with every `step`-th item; -1 goes backwards, 0 repeats one.

    Where it `ends` a row it reads nothing behind the last of these items. It asks for what is `ahead`, and stores the
    register `times`.
    """

    @instruction
    def pick(typingctx: Any, src: Any, dst: Any, ahead: Any, tag: Any) -> Any:
        item, width = meaning(tag)
        lanes = width // item

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if step > 0:
                value, *_ = parted(builder, args[0], step, width, item, by_lanes(step, width, item), (step - 1) * ends)
                for k in range(0, 0 if width < LINE and step * item > _FEW_A_LINE else step * width, LINE):
                    emit_prefetch(builder, builder.add(builder.add(args[0], args[2]), constant(k)))
            elif step < 0:
                value = load(builder, builder.sub(args[0], constant(width - item)), vector(width, item))
                value = shuffle(builder, value, value, list(range(lanes - 1, -1, -1)))
            else:
                value = _of_one(builder, args[0], item, width)
            for k in range(0, times * width if times > 1 and width < LINE else 0, LINE):
                emit_prefetch(builder, builder.add(args[1], constant(_TO_WRITE + k)), write=True, level=3)
            for k in range(times):
                store(builder, value, builder.add(args[1], constant(k * width)), width if streamed else 0)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 3, tag), generate

    return pick


def _filler(streamed: bool) -> Any:
    """An intrinsic that fills `nbytes` with one item, which is read once.

    Whole lines where streamed, else a register and more, the last of which may overlap the one before it.
    """

    @instruction
    def fill(typingctx: Any, src: Any, dst: Any, nbytes: Any, tag: Any) -> Any:
        item, width = meaning(tag)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            src, dst, nbytes, _ = args
            value = _of_one(builder, src, item, width)
            whole = builder.lshr(nbytes, constant(width.bit_length() - 1))
            with cgutils.for_range(builder, whole) as loop:
                to = builder.add(dst, builder.mul(loop.index, constant(width)))
                store(builder, value, to, width if streamed else 0)
            if streamed:
                return context.get_dummy_value()
            with builder.if_then(builder.icmp_unsigned("!=", builder.and_(nbytes, constant(width - 1)), constant(0))):
                store(builder, value, builder.add(dst, builder.sub(nbytes, constant(width))))
            return context.get_dummy_value()

        return types.void(*[types.intp] * 3, tag), generate

    return fill


_fill, _fill_past = _filler(False), _filler(True)


def _stepper(step: int) -> Any:
    """A part that fills registers with every `step`-th item, and answers which item comes next."""
    pick, pick_streamed = _picker(step, False), _picker(step, True)
    last, last_streamed = _picker(step, False, ends=True), _picker(step, True, ends=True)

    @part
    def go_on(to: int, at: int, i: int, length: int, ahead: int, streamed: bool, tag: Any) -> int:
        item = size_of(tag)
        lanes, stride = width_of(tag) // item, step * item
        # A register of a step is read from beyond its last item, but for the row's last one.
        while i + lanes < length:
            if streamed:
                pick_streamed(at + i * stride, to + i * item, ahead, tag)
            else:
                pick(at + i * stride, to + i * item, ahead, tag)
            i += lanes
        if streamed and i + lanes == length:
            last_streamed(at + i * stride, to + i * item, ahead, tag)
            return length
        if length >= lanes:
            last(at + (length - lanes) * stride, to + (length - lanes) * item, ahead, tag)
            return length
        return i

    return go_on


_every_2, _every_3, _every_4 = [_stepper(k) for k in (2, 3, 4)]
pick_back, pick_same = [_picker(k, False) for k in (-1, 0)]
pick_backs, pick_sames = [_picker(k, True) for k in (-1, 0)]
pick_same_8 = _picker(0, False, times=8)


@part
def picked(to: int, at: int, stride: int, length: int, ahead: int, asked: bool, tag: Any) -> None:
    """Copy items that lie `stride` bytes apart to where they follow each other; past the caches where `asked`."""
    item, width = size_of(tag), width_of(tag)
    lanes = width // item
    i = 0
    streamed = asked and to % item == 0
    while streamed and i < length and (to + i * item) & (width - 1):
        move(at + i * stride, to + i * item, tag)
        i += 1
    if stride == 2 * item:
        i = _every_2(to, at, i, length, ahead, streamed, tag)
    elif stride == 3 * item:
        i = _every_3(to, at, i, length, ahead, streamed, tag)
    elif stride == 4 * item:
        i = _every_4(to, at, i, length, ahead, streamed, tag)
    elif stride == -item:
        while i + lanes <= length:
            if streamed:
                pick_backs(at + i * stride, to + i * item, ahead, tag)
            else:
                pick_back(at + i * stride, to + i * item, ahead, tag)
            i += lanes
        if i < length and length >= lanes:
            pick_back(at + (length - lanes) * stride, to + (length - lanes) * item, ahead, tag)
            return
    elif stride == 0:
        if not streamed and length >= 4 * lanes and to % item == 0:
            pick_same(at, to, ahead, tag)
            i = (-to & (width - 1)) // item
        # An item that is read anew for each register takes as long as the store: the two might share memory.
        while not streamed and i + 8 * lanes <= length:
            pick_same_8(at, to + i * item, ahead, tag)
            i += 8 * lanes
        while i + lanes <= length:
            if streamed:
                pick_sames(at, to + i * item, ahead, tag)
            else:
                pick_same(at, to + i * item, ahead, tag)
            i += lanes
        if i < length and length >= lanes:
            pick_same(at, to + (length - lanes) * item, ahead, tag)
            return
    while i < length:
        move(at + i * stride, to + i * item, tag)
        i += 1


@part
def _fill_short(
    dst: int, step: int, src: int, src_step: int, count: int, nbytes: int, streamed: bool, tag: Any
) -> None:
    """Fill rows of a register and more with one item each; the last register may overlap the one before it."""
    for _ in range(count):
        if streamed:
            _fill_past(src, dst, nbytes, tag)
        else:
            _fill(src, dst, nbytes, tag)
        dst += step
        src += src_step


@part
def _pick_joined(
    dst: int, src: int, step: int, stride: int, length: int, count: int, ahead: int, held: int, tag: Any
) -> None:
    """Rows that follow each other, past the caches: the line that two of them share is put together in a buffer.

    It is written after the whole lines of the second one: a load of what several stores wrote waits for these. The
    buffer begins with a line and has two, for the line that a row begins in and for that in which it ends.
    """
    item = size_of(tag)
    begin = dst & (LINE - 1)  # of what is written of the first line
    for b in range(count):
        first, last, within = held + (b & 1) * LINE, held + (~b & 1) * LINE, dst & (LINE - 1)
        head = (-dst & (LINE - 1)) // item
        whole = (length - head) * item // LINE * LINE // item
        picked(first + within, src, stride, head, 0, False, tag)
        picked(dst + head * item, src + head * stride, stride, whole, ahead, True, tag)
        if within and begin:
            run(dst, first + within, head * item)
        elif within:
            stream_64(first, dst - within)
        begin = 0
        picked(last, src + (head + whole) * stride, stride, length - head - whole, 0, False, tag)
        dst += length * item
        src += step
    run(dst & -LINE, held + (count & 1) * LINE, dst & (LINE - 1))


@part
def _picked_by_lines(to: int, at: int, stride: int, length: int, ahead: int, tag: Any) -> None:
    """Whole lines of a row past the caches, what it has of other lines through them."""
    item = size_of(tag)
    head = min((-to & (LINE - 1)) // item, length)
    end = head + (length - head) * item // LINE * LINE // item
    picked(to, at, stride, head, 0, False, tag)
    picked(to + head * item, at + head * stride, stride, end - head, ahead, True, tag)
    picked(to + end * item, at + end * stride, stride, length - end, 0, False, tag)


@part
def copy_picked(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Fill rows of the target with items that lie STRIDE bytes apart in the source, tasks `first` up to `last`."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    stride = field(descriptor, STRIDE)
    b_dst, b_src = field(descriptor, B_DST), field(descriptor, B_SRC)
    asked, called = (field(descriptor, MODE) & STREAM) != 0, (field(descriptor, MODE) & CALLED) != 0
    # What is asked for lies ahead in the row, or in a later one where rows are short.
    ahead = field(descriptor, ASKED)
    if ahead == 0:
        ahead = _AHEAD // 2 * abs(stride) // size_of(tag)
    d, s = place(descriptor, index, first)
    # Rows that follow each other share lines: short ones go through a buffer, from which whole lines are streamed.
    memory = malloc(_HELD + LINE) if asked and (dst | b_dst) & (LINE - 1) and b_dst > 0 else 0
    held = on_line(memory)
    for _ in range(first, last):
        length, b_count = counts(descriptor, index)
        nbytes = length * size_of(tag)
        short = stride == 0 and width_of(tag) <= nbytes <= _SHORT_FILL
        whole = (dst + d | b_dst | nbytes) & (LINE - 1) == 0
        follow = memory != 0 and b_dst == nbytes and not whole
        # Half of a line past the caches and half through them takes a hundred times as long as either.
        past = asked and (whole or nbytes >= _FEW_LINES)
        if called:
            for b in range(b_count):
                memset(dst + d + b * b_dst, peek_byte(src + s + b * b_src), nbytes)
        elif follow and b_dst > _HELD // 4 and (dst + d) % size_of(tag) == 0:
            _pick_joined(dst + d, src + s, b_src, stride, length, b_count, ahead, held, tag)
        elif follow and b_dst <= _HELD // 4:
            b = 0
            while b < b_count:
                number = min(_HELD // b_dst, b_count - b)
                if short:
                    _fill_short(held, b_dst, src + s + b * b_src, b_src, number, nbytes, False, tag)
                else:
                    for k in range(number):
                        picked(held + k * b_dst, src + s + (b + k) * b_src, stride, length, ahead, False, tag)
                streamed_run(dst + d + b * b_dst, held, number * b_dst)
                b += number
        elif short and (whole or not past):
            _fill_short(dst + d, b_dst, src + s, b_src, b_count, nbytes, past, tag)
        elif whole or not past:  # by lines short ones take 1.5 to 3 times as long
            for b in range(b_count):
                picked(dst + d + b * b_dst, src + s + b * b_src, stride, length, ahead, past, tag)
        else:
            for b in range(b_count):
                _picked_by_lines(dst + d + b * b_dst, src + s + b * b_src, stride, length, ahead, tag)
        d, s = advance(descriptor, index, d, s)
    if asked:
        fence()
    if memory:
        free(memory)
    return DONE
