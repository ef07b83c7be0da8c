"""The kernel of copies on a GPU: one tile, read in the order of the source and written in that of the target.

For `device.py`, which imports it, and Triton with it, when the first copy is made. Layouts are in tables
(`device_tables.py`), so that one compiled kernel moves all that have tables of the same lengths; Triton keeps it on
disk.
"""

# ruff: noqa: N803, N806

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["dst", "src", "tables"])
def copy_tile(
    dst, src, tables,
    ITEM: tl.constexpr, READ: tl.constexpr, WRITE: tl.constexpr, READS: tl.constexpr, WRITES: tl.constexpr,
    HOPS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Move one tile: READS times READ items, then WRITES times WRITE; `dst`, `src` and `tables` are addresses."""
    # Integers of the item's size: no element is read as a number, so that all bits stay.
    TYPE: tl.constexpr = tl.int8 if ITEM == 1 else tl.int16 if ITEM == 2 else tl.int32 if ITEM == 4 else tl.int64
    OFFSET: tl.constexpr = tl.int64 if WIDE else tl.int32
    rest = tl.program_id(0)
    to = dst.to(tl.int64)
    at = src.to(tl.int64)
    hops = tables.to(tl.int64).to(tl.pointer_type(tl.int64), bitcast=True)
    for k in tl.static_range(HOPS):
        turns = tl.load(hops + 5 * k).to(tl.int32)
        turn = rest % turns
        rest = rest // turns
        begin = tl.minimum(turn * tl.load(hops + 5 * k + 1), tl.load(hops + 5 * k + 2))
        to += begin * tl.load(hops + 5 * k + 3) * ITEM
        at += begin * tl.load(hops + 5 * k + 4) * ITEM
    # What is known of an address is told of the pointer: Triton forgets what it knew of the number.
    target = tl.multiple_of(to.to(tl.pointer_type(TYPE), bitcast=True), WRITE * ITEM)
    source = tl.multiple_of(at.to(tl.pointer_type(TYPE), bitcast=True), READ * ITEM)

    reads = (hops + 5 * HOPS).to(tl.pointer_type(OFFSET), bitcast=True)
    read = tl.load(reads + tl.arange(0, READS))
    # Past the first-level cache: the tables are there, which all blocks read.
    if READ == 1:
        items = tl.load(source + read, cache_modifier=".cg")
    else:
        items = tl.load(source + (read * READ)[:, None] + tl.arange(0, READ)[None, :], cache_modifier=".cg")
        items = tl.reshape(items, (READS * READ,))

    writes = reads + READS
    write = tl.load(writes + tl.arange(0, WRITES))
    places = (writes + WRITES).to(tl.pointer_type(tl.int16), bitcast=True)
    if WRITE == 1:
        place = tl.load(places + tl.arange(0, WRITES)).to(tl.int32)
        tl.store(target + write, tl.gather(items, place, 0))
    else:
        places = tl.multiple_of(places, 2 * WRITE)
        place = tl.load(places + (tl.arange(0, WRITES) * WRITE)[:, None] + tl.arange(0, WRITE)[None, :]).to(tl.int32)
        items = tl.gather(items, tl.reshape(place, (WRITES * WRITE,)), 0)
        items = tl.reshape(items, (WRITES, WRITE))
        tl.store(target + (write * WRITE)[:, None] + tl.arange(0, WRITE)[None, :], items)
