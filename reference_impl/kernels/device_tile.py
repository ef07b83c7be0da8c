"""The kernel of copies on a GPU: one tile, read as the source is dense and written as the target is.

For `device.py`, which imports it, and Triton with it, when the first copy is made. All of a plan but the addresses is
known when the kernel is compiled: divisions by lengths become multiplications, and which accesses can be wide is
proven from the strides. Triton compiles once for each plan and keeps the result on disk.
"""

# ruff: noqa: N803, N806

import triton
import triton.language as tl


@triton.jit
def _offsets(index, STEPS: tl.constexpr):
    """Items from the corner of a tile's direction, whose index is taken apart into dimensions, the first fastest."""
    offset = index * 0
    rest = index
    for k in tl.static_range(len(STEPS)):
        if k + 1 < len(STEPS):
            offset += rest % STEPS[k][0] * STEPS[k][1]
            rest = rest // STEPS[k][0]
        else:
            offset += rest * STEPS[k][1]
    return offset


@triton.jit(do_not_specialize=["dst", "src"])
def copy_tile(
    dst, src,
    ITEM: tl.constexpr, DST_ALIGN: tl.constexpr, SRC_ALIGN: tl.constexpr, WIDE: tl.constexpr, WHOLE: tl.constexpr,
    HOPS: tl.constexpr,
    A: tl.constexpr, A_LENGTH: tl.constexpr, A_DST: tl.constexpr, A_SRC: tl.constexpr,
    B: tl.constexpr, B_LENGTH: tl.constexpr, B_DST: tl.constexpr, B_SRC: tl.constexpr,
    RUN: tl.constexpr, RUN_LENGTH: tl.constexpr, RUN_DST: tl.constexpr, RUN_SRC: tl.constexpr,
):  # fmt: skip
    """Move one tile of A x B x RUN items; `dst` and `src` are addresses."""
    # Integers of the item's size: no element is read as a number, so that all bits stay.
    TYPE: tl.constexpr = tl.int8 if ITEM == 1 else tl.int16 if ITEM == 2 else tl.int32 if ITEM == 4 else tl.int64
    rest = tl.program_id(0)
    to = rest.to(tl.int64) * 0
    at = to
    a = to if WIDE else rest * 0
    b = a
    run = a
    for k in tl.static_range(len(HOPS)):  # innermost first: length, target, source, a, b, run
        turn = rest % HOPS[k][0]
        rest = rest // HOPS[k][0]
        to += turn.to(tl.int64) * HOPS[k][1]
        at += turn.to(tl.int64) * HOPS[k][2]
        a += turn * HOPS[k][3]
        b += turn * HOPS[k][4]
        run += turn * HOPS[k][5]
    # What is known of an address is told of the pointer: Triton forgets what it knew of the number.
    target = tl.multiple_of(dst.to(tl.int64).to(tl.pointer_type(TYPE), bitcast=True), DST_ALIGN) + to
    source = tl.multiple_of(src.to(tl.int64).to(tl.pointer_type(TYPE), bitcast=True), SRC_ALIGN) + at
    if A == 1:
        rows = b + tl.arange(0, B)
        row = run + tl.arange(0, RUN)
        inside = None if WHOLE else (rows < B_LENGTH)[:, None] & (row < RUN_LENGTH)[None, :]
        read = _offsets(rows, B_SRC)[:, None] + _offsets(row, RUN_SRC)[None, :]
        written = _offsets(rows, B_DST)[:, None] + _offsets(row, RUN_DST)[None, :]
        tl.store(target + written, tl.load(source + read, mask=inside), mask=inside)
    else:
        # Each side's own direction comes last, the run within it: neighbouring threads take neighbouring items.
        rows = b + tl.arange(0, B)
        if RUN == 1:
            column = a + tl.arange(0, A)
            inside = None if WHOLE else (rows < B_LENGTH)[:, None] & (column < A_LENGTH)[None, :]
            read = _offsets(rows, B_SRC)[:, None] + _offsets(column, A_SRC)[None, :]
        else:
            piece = tl.arange(0, A * RUN)
            column = a + piece // RUN
            row = run + piece % RUN
            fits = (column < A_LENGTH) & (row < RUN_LENGTH)
            inside = None if WHOLE else (rows < B_LENGTH)[:, None] & fits[None, :]
            read = _offsets(rows, B_SRC)[:, None] + (_offsets(column, A_SRC) + _offsets(row, RUN_SRC))[None, :]
        items = tl.load(source + read, mask=inside)
        columns = a + tl.arange(0, A)
        if RUN == 1:
            items = tl.trans(items)
            inside = None if WHOLE else (columns < A_LENGTH)[:, None] & (rows < B_LENGTH)[None, :]
            written = _offsets(columns, A_DST)[:, None] + _offsets(rows, B_DST)[None, :]
        else:
            items = tl.reshape(tl.permute(tl.reshape(items, (B, A, RUN)), (1, 0, 2)), (A, B * RUN))
            piece = tl.arange(0, B * RUN)
            rows = b + piece // RUN
            row = run + piece % RUN
            fits = (rows < B_LENGTH) & (row < RUN_LENGTH)
            inside = None if WHOLE else (columns < A_LENGTH)[:, None] & fits[None, :]
            written = _offsets(columns, A_DST)[:, None] + (_offsets(rows, B_DST) + _offsets(row, RUN_DST))[None, :]
        tl.store(target + written, items, mask=inside)
