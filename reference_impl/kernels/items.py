"""The portable kernel: items moved one by one, tile by tile. It serves every layout, on any machine."""

from typing import Any

from .descriptor import A_DST, A_SRC, B_DST, B_SRC, C_DST, C_SRC, DONE
from .jit import part
from .llvm import move, odometer, peek, size_of
from .walk import advance, begun, counts, place, turns_of_c


@part
def copy_items(row: int, dst_cell: int, src_cell: int, first: int, last: int, word: Any) -> int:
    """Copy tiles item by item, tasks `first` up to `last`; `word` tells the item (`llvm.WORDS`)."""
    dst, src, answer = begun(row, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    item = size_of(word)
    a_dst, a_src = peek(row + 8 * A_DST), peek(row + 8 * A_SRC)
    b_dst, b_src = peek(row + 8 * B_DST), peek(row + 8 * B_SRC)
    c_dst, c_src = peek(row + 8 * C_DST), peek(row + 8 * C_SRC)
    d, s = place(row, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(row, index)
        for c in range(turns_of_c(row, index)):
            for a in range(a_count):
                to, at = dst + d + c * c_dst + a * a_dst, src + s + c * c_src + a * a_src
                if b_dst == item and b_src == item:
                    for b in range(b_count):
                        move(at + b * item, to + b * item, word)
                elif b_dst == item:
                    for b in range(b_count):
                        move(at + b * b_src, to + b * item, word)
                else:
                    for b in range(b_count):
                        move(at + b * b_src, to + b * b_dst, word)
        d, s = advance(row, index, d, s)
    return DONE
