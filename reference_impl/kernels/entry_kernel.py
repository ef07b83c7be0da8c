"""The way into a copy as machine code: from two array objects to the call that copies between such layouts.

To ask two arrays for their layouts in Python, and to look these up, takes longer than to copy 64 KB. Here they are read
where NumPy keeps them: in the head of an array object, one of NumPy's public structures (`entry.py` probes it).
"""

from typing import Any

from .descriptor import DONE, DST_SHIFT, PHASE
from .entry import (
    DESCR,
    DESCRIPTOR,
    DIMS,
    DTYPE,
    FIRST,
    FLAGS,
    FUNCTION,
    HEAD,
    KIND,
    LAYOUT,
    LONG,
    MIX,
    NBYTES,
    NDIM,
    NEXT,
    SHAPE,
    SLOTS,
    STRIDES,
    TASKS,
    WRITEABLE,
)
from .jit import part
from .llvm import acquire_gil, call_at, field, peek, py_bool, release_gil
from .plans import LINE


@part
def _call_of(table: int, dst: int, src: int) -> Any:
    """Address of what the table holds for these two layouts and this target's place within a line; 0 for none."""
    kind = peek(table + 8 * KIND)
    if peek(dst + HEAD - 8) != kind or peek(src + HEAD - 8) != kind:
        return 0
    dtype, ndim = peek(dst + DESCR), peek(dst + DIMS) & 0xFFFFFFFF
    if peek(src + DESCR) != dtype or peek(src + DIMS) & 0xFFFFFFFF != ndim or peek(dst + FLAGS) & WRITEABLE == 0:
        return 0
    shape, to, at = peek(dst + SHAPE), peek(dst + STRIDES), peek(src + STRIDES)
    other = peek(src + SHAPE)
    key = dtype
    for k in range(ndim):
        n = peek(shape + 8 * k)
        if peek(other + 8 * k) != n:
            return 0
        key = (((key ^ n) * MIX ^ peek(to + 8 * k)) * MIX ^ peek(at + 8 * k)) * MIX
    slot = key >> 40 & (SLOTS - 1)
    while True:
        entry = peek(table + 8 * (FIRST + slot))
        if entry == 0:
            return 0
        if peek(entry + 8 * DTYPE) == dtype and peek(entry + 8 * NDIM) == ndim:
            same = True
            for k in range(ndim):
                held = entry + 8 * (LAYOUT + 3 * k)
                same &= (
                    peek(held) == peek(shape + 8 * k)
                    and peek(held + 8) == peek(to + 8 * k)
                    and peek(held + 16) == peek(at + 8 * k)
                )
            if same:
                descriptor = peek(entry + 8 * DESCRIPTOR)
                phase, begin = field(descriptor, PHASE), peek(dst + HEAD) + field(descriptor, DST_SHIFT)
                if phase < 0 or phase == begin & (LINE - 1):
                    return entry
        slot = slot + 1 & (SLOTS - 1)


@part
def enter(table: int, arguments: int, number: int) -> Any:
    """Copy between the two arrays that CPython calls this with, and answer True; False where that is left to others."""
    done = False
    if number == 2:
        dst, src = peek(arguments), peek(arguments + 8)
        call = _call_of(peek(table + HEAD), dst, src)
        if call:
            done = True
            long = peek(call + 8 * NBYTES) >= LONG
            state = release_gil() if long else 0
            while call and done:
                function, descriptor, tasks = (
                    peek(call + 8 * FUNCTION),
                    peek(call + 8 * DESCRIPTOR),
                    peek(call + 8 * TASKS),
                )
                done = call_at(function, descriptor, dst + HEAD, src + HEAD, 0, tasks) == DONE
                call = peek(call + 8 * NEXT)
            if long:
                acquire_gil(state)
    return py_bool(int(done))
