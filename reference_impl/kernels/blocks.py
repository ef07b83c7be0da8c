"""Blocks: registers of the target picked from windows of the source, by a table that is the same for all blocks."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from . import machine
from .descriptor import (
    A_DST,
    A_SRC,
    B_DST,
    B_SRC,
    BLOCK_HIGH,
    BLOCK_LOW,
    DONE,
    INDEX,
    REGISTERS,
    SRC_HIGH,
    SRC_LOW,
    STEPS,
)
from .jit import instruction, part
from .llvm import I64, constant, copy_1, field, load, meaning, odometer, peek, peek_byte, store, vector
from .plans import LINE
from .walk import advance, begun, counts, place
from .windows import NOT_HERE


def _picker(number: int) -> Any:
    """An intrinsic that fills one register of each of some blocks from so many windows, 0 for any number of them."""

    @instruction
    def pick(
        typingctx: Any, dst: Any, dst_step: Any, src: Any, src_step: Any, count: Any, steps: Any, index: Any, many: Any,
        tag: Any,
    ) -> Any:  # fmt: skip
        window = machine.window_bytes(meaning(tag)[1])
        kind = vector(window, 1)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            dst, dst_step, src, src_step, count, steps, index, many, _ = args

            def told(w: Any) -> tuple[Any, Any]:
                step = load(builder, builder.add(steps, builder.mul(w, constant(8))), I64)
                return step, load(builder, builder.add(index, builder.mul(w, constant(window))), kind)

            def with_next(before: Any, at: Any, step: Any, chosen: Any) -> Any:
                value = load(builder, builder.add(at, step), kind)
                if window < LINE:
                    # What is not here is picked as 0.
                    value = _called(builder, "llvm.x86.ssse3.pshuf.b.128", kind, [value, chosen])
                    return value if before is None else builder.or_(before, value)
                value = _called(builder, "llvm.x86.avx512.permvar.qi.512", kind, [value, chosen])
                if before is None:
                    return value
                return builder.select(builder.icmp_signed(">=", chosen, kind(None)), value, before)

            windows = [told(constant(w)) for w in range(number)]
            with cgutils.for_range(builder, count) as block:
                at = builder.add(src, builder.mul(block.index, src_step))
                if number:
                    value = None
                    for step, chosen in windows:
                        value = with_next(value, at, step, chosen)
                else:
                    held = cgutils.alloca_once_value(builder, kind(None))  # type: ignore[no-untyped-call]
                    builder.store(kind(None), held)
                    with cgutils.for_range(builder, many) as each:
                        builder.store(with_next(builder.load(held), at, *told(each.index)), held)
                    value = builder.load(held)
                store(builder, value, builder.add(dst, builder.mul(block.index, dst_step)))
            return context.get_dummy_value()

        return types.void(*[types.intp] * 8, tag), generate

    return pick


def _called(builder: Any, name: str, kind: Any, args: Any) -> Any:
    """What an instruction of the processor makes of two vectors."""
    return builder.call(builder.module.declare_intrinsic(name, (), ir.FunctionType(kind, [kind, kind])), args)


_of_any, _of_1, _of_2, _of_3, _of_4, _of_5, _of_6, _of_7, _of_8 = [_picker(k) for k in range(9)]


@part
def _pick(
    dst: int, dst_step: int, src: int, src_step: int, count: int, steps: int, index: int, number: int, tag: Any
) -> None:
    """Fill one register of each block; what is picked is looked up once for all of them, where windows are few."""
    # Functions of their own: as cases of one, by a switch, they took a tenth longer within the caches.
    if number == 1:
        _of_1(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 2:
        _of_2(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 3:
        _of_3(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 4:
        _of_4(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 5:
        _of_5(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 6:
        _of_6(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 7:
        _of_7(dst, dst_step, src, src_step, count, steps, index, number, tag)
    elif number == 8:
        _of_8(dst, dst_step, src, src_step, count, steps, index, number, tag)
    else:
        _of_any(dst, dst_step, src, src_step, count, steps, index, number, tag)


@instruction
def _window(typingctx: Any, tag: Any) -> Any:
    """Bytes of a window, known when the kernel is compiled."""
    window = machine.window_bytes(meaning(tag)[1])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return constant(window)

    return types.intp(tag), generate


@part
def copy_each(
    dst: int, dst_step: int, src: int, src_step: int, count: int, descriptor: int, low: int, high: int, tag: Any
) -> None:
    """Copy so many blocks; where windows reach below `low` or to behind `high` bytes are moved one by one."""
    steps, index, window = field(descriptor, STEPS), field(descriptor, INDEX), _window(tag)
    low -= field(descriptor, BLOCK_LOW)
    high -= field(descriptor, BLOCK_HIGH)
    last = src + (count - 1) * src_step
    safe = min(src, last) >= low and max(src, last) <= high
    for _ in range(field(descriptor, REGISTERS)):
        to, number = dst + peek(steps), peek(steps + 8)
        steps += 16
        if safe:
            _pick(to, dst_step, src, src_step, count, steps, index, number, tag)
        else:
            for block in range(count):
                at = src + block * src_step
                some = 1 if low <= at <= high else 0
                _pick(to + block * dst_step, 0, at, 0, some, steps, index, number, tag)
                for k in range(0 if some else number * window):
                    chosen = peek_byte(index + k)
                    if chosen < NOT_HERE:
                        copy_1(at + peek(steps + 8 * (k // window)) + chosen, to + block * dst_step + k % window)
        steps += 8 * number
        index += window * number


@part
def copy_blocks(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles of blocks, tasks `first` up to `last`."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    low, high = src + field(descriptor, SRC_LOW), src + field(descriptor, SRC_HIGH)
    a_dst, a_src = field(descriptor, A_DST), field(descriptor, A_SRC)
    b_dst, b_src = field(descriptor, B_DST), field(descriptor, B_SRC)
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(descriptor, index)
        for a in range(a_count):
            copy_each(dst + d + a * a_dst, b_dst, src + s + a * a_src, b_src, b_count, descriptor, low, high, tag)
        d, s = advance(descriptor, index, d, s)
    return DONE
