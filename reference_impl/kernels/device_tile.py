"""The kernel of copies on a GPU: one tile, read in the order of the source and written in that of the target.

For `device.py`, which imports it, and Triton with it, when the first copy is made. Layouts are in tables
(`device_tables.py`), so that one compiled kernel moves all that have tables of the same lengths; Triton keeps it on
disk.
"""

# ruff: noqa: N803, N806

import triton
import triton.language as tl


@triton.jit
def _write_shifted(items, target, first, ahead, lengths, writes, SECTOR: tl.constexpr, WRITES: tl.constexpr):
    """Write rows from where sectors begin: as many items before the row's begin as that is into a sector."""
    row_length = tl.load(lengths).to(tl.int32)
    seen = tl.load(lengths + 1).to(tl.int32)
    places = (writes + tl.load(lengths + 3)).to(tl.pointer_type(tl.int16), bitcast=True)
    index = tl.arange(0, WRITES)
    row = tl.load(places + tl.load(lengths + 4) + index).to(tl.int32)
    begin = tl.load(writes + row)
    item = index - row * row_length + ahead - ((first + begin.to(tl.int32)) & (SECTOR - 1))
    inside = (item >= 0) & (item < seen) & (index < tl.load(lengths + 2).to(tl.int32))
    place = tl.load(places + row * seen + item, mask=inside, other=0).to(tl.int32)
    tl.store(target + begin + item, tl.gather(items, place, 0), mask=inside)


@triton.jit(do_not_specialize=["dst", "src", "tables"])
def copy_tile(
    dst, src, tables,
    ITEM: tl.constexpr, READ: tl.constexpr, WRITE: tl.constexpr, READS: tl.constexpr, WRITES: tl.constexpr,
    HOPS: tl.constexpr, WIDE: tl.constexpr, SECTOR: tl.constexpr,
):  # fmt: skip
    """Move one tile: READS times READ items, then WRITES times WRITE; `dst`, `src` and `tables` are addresses.

    Where rows are shifted, SECTOR says how many items a sector has; otherwise it is 1.
    """
    # Integers of the item's size: no element is read as a number, so that all bits stay.
    TYPE: tl.constexpr = tl.int8 if ITEM == 1 else tl.int16 if ITEM == 2 else tl.int32 if ITEM == 4 else tl.int64
    OFFSET: tl.constexpr = tl.int64 if WIDE else tl.int32
    rest = tl.program_id(0)
    to = dst.to(tl.int64)
    at = src.to(tl.int64)
    ahead = to * 0
    hops = tables.to(tl.int64).to(tl.pointer_type(tl.int64), bitcast=True)
    for k in tl.static_range(HOPS):
        hop = hops + 6 * k
        turns = tl.load(hop).to(tl.int32)
        turn = rest % turns
        rest = rest // turns
        written = turn * tl.load(hop + 1)
        begin = tl.minimum(written, tl.load(hop + 2))
        if SECTOR > 1:
            back = tl.load(hop + 5)
            begin = tl.minimum(tl.maximum(written - back, 0), tl.load(hop + 2))
            ahead += tl.where(back > 0, (written - begin) * tl.load(hop + 3), 0)
        to += begin * tl.load(hop + 3) * ITEM
        at += begin * tl.load(hop + 4) * ITEM
    # What is known of an address is told of the pointer: Triton forgets what it knew of the number.
    target = tl.multiple_of(to.to(tl.pointer_type(TYPE), bitcast=True), WRITE * ITEM)
    source = tl.multiple_of(at.to(tl.pointer_type(TYPE), bitcast=True), READ * ITEM)

    lengths = hops + 6 * HOPS
    reads = (lengths + (5 if SECTOR > 1 else 0)).to(tl.pointer_type(OFFSET), bitcast=True)
    read = tl.load(reads + tl.arange(0, READS))
    # Narrow accesses share sectors with those beside them: for them what is read stays where it is near.
    CACHE: tl.constexpr = ".cg" if READ * ITEM == 16 else ""
    if READ == 1:
        items = tl.load(source + read, cache_modifier=CACHE)
    else:
        items = tl.load(source + (read * READ)[:, None] + tl.arange(0, READ)[None, :], cache_modifier=CACHE)
        items = tl.reshape(items, (READS * READ,))

    writes = reads + READS
    if SECTOR > 1:
        _write_shifted(
            items, target, (to // ITEM + ahead).to(tl.int32), ahead.to(tl.int32), lengths, writes, SECTOR, WRITES
        )
        return
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
