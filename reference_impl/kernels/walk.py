"""The odometer of a copy's outer loops, for kernels that are told by a descriptor (`descriptor.py`)."""

from typing import Any

from .descriptor import (
    A_CHUNK,
    A_LENGTH,
    A_LOOP,
    AGAIN,
    B_CHUNK,
    B_LENGTH,
    B_LOOP,
    C_CHUNK,
    C_LENGTH,
    C_LOOP,
    DONE,
    DST_HIGH,
    DST_LOW,
    DST_SHIFT,
    FIRST_LOOP,
    LOOPS,
    MISALIGNED,
    MODE,
    NEAR,
    PHASE,
    SRC_HIGH,
    SRC_LOW,
    SRC_SHIFT,
)
from .jit import part
from .llvm import field, peek, poke
from .plans import LINE


@part
def begun(descriptor: int, dst_cell: int, src_cell: int) -> tuple[int, int, int]:
    """Where the loops begin in target and source, and whether they may begin.

    A cell is the address of a pointer: that of an array object's own field, so that nobody in Python need ask for it.
    What is read AGAIN begins in the target.
    """
    dst = peek(dst_cell) + field(descriptor, DST_SHIFT)
    src = peek(dst_cell if field(descriptor, MODE) & AGAIN else src_cell) + field(descriptor, SRC_SHIFT)
    answer = DONE
    if dst + field(descriptor, DST_LOW) < src + field(descriptor, SRC_HIGH) and (
        src + field(descriptor, SRC_LOW) < dst + field(descriptor, DST_HIGH)
    ):
        answer = NEAR
    elif field(descriptor, PHASE) >= 0 and field(descriptor, PHASE) != dst & (LINE - 1):
        answer = MISALIGNED
    return dst, src, answer


@part
def place(descriptor: int, index: int, task: int) -> tuple[int, int]:
    """Set the odometer to a task, and answer the byte offsets of its tile in target and source."""
    dst = src = 0
    for k in range(field(descriptor, LOOPS) - 1, -1, -1):
        at = descriptor + 8 * (FIRST_LOOP + 3 * k)
        length = peek(at)
        turn = task % length
        poke(index + 8 * k, turn)
        task //= length
        dst += turn * peek(at + 8)
        src += turn * peek(at + 16)
    return dst, src


@part
def advance(descriptor: int, index: int, dst: int, src: int) -> tuple[int, int]:
    """Go on to the next task: the offsets of its tile."""
    k = field(descriptor, LOOPS) - 1
    while k >= 0:
        at = descriptor + 8 * (FIRST_LOOP + 3 * k)
        length = peek(at)
        turn = peek(index + 8 * k) + 1
        dst += peek(at + 8)
        src += peek(at + 16)
        if turn < length:
            poke(index + 8 * k, turn)
            break
        poke(index + 8 * k, 0)
        dst -= length * peek(at + 8)
        src -= length * peek(at + 16)
        k -= 1
    return dst, src


@part
def counts(descriptor: int, index: int) -> tuple[int, int]:
    """How much of A and of B the tile at the odometer spans: a last chunk may be shorter."""
    a, b = field(descriptor, A_CHUNK), field(descriptor, B_CHUNK)
    if field(descriptor, A_LOOP) >= 0:
        a = min(a, field(descriptor, A_LENGTH) - peek(index + 8 * field(descriptor, A_LOOP)) * a)
    if field(descriptor, B_LOOP) >= 0:
        b = min(b, field(descriptor, B_LENGTH) - peek(index + 8 * field(descriptor, B_LOOP)) * b)
    return a, b


@part
def turns_of_c(descriptor: int, index: int) -> Any:
    """How many turns of C the tile at the odometer spans, where a kernel has such a dimension."""
    loop, turns = field(descriptor, C_LOOP), field(descriptor, C_CHUNK)
    return min(turns, field(descriptor, C_LENGTH) - peek(index + 8 * loop) * turns) if loop >= 0 else turns
