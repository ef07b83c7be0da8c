"""The portable kernel: items moved one by one, tile by tile. It serves every layout, on any machine."""

from typing import Any

from .descriptor import A_DST, A_SRC, B_DST, B_SRC, C_DST, C_SRC, DONE
from .jit import part
from .llvm import field, move, odometer, size_of
from .walk import advance, begun, counts, place, turns_of_c


@part
def copy_items(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles item by item, tasks `first` up to `last`; `tag` tells the item (`llvm.TAGS`)."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    item = size_of(tag)
    a_dst, a_src = field(descriptor, A_DST), field(descriptor, A_SRC)
    b_dst, b_src = field(descriptor, B_DST), field(descriptor, B_SRC)
    c_dst, c_src = field(descriptor, C_DST), field(descriptor, C_SRC)
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(descriptor, index)
        for c in range(turns_of_c(descriptor, index)):
            for a in range(a_count):
                to, at = dst + d + c * c_dst + a * a_dst, src + s + c * c_src + a * a_src
                if b_dst == item and b_src == item:
                    for b in range(b_count):
                        move(at + b * item, to + b * item, tag)
                elif b_dst == item:
                    for b in range(b_count):
                        move(at + b * b_src, to + b * item, tag)
                else:
                    for b in range(b_count):
                        move(at + b * b_src, to + b * b_dst, tag)
        d, s = advance(descriptor, index, d, s)
    return DONE
