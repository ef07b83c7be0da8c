"""Runs past the caches that share lines of the target: what two of them share is put together in a register.

A run of a line and more shares its first line with the run before it in its row. Both parts are read where they lie,
so that whole lines are stored without a buffer.
"""

from typing import Any

from .descriptor import A_CHUNK, A_DST, A_LENGTH, A_LOOP, A_SRC, ASKED, B_DST, B_SRC, DONE, RUN
from .jit import part
from .llvm import fence, field, odometer, peek, prefetch_once, stream_64
from .plans import LINE
from .runs import run
from .shuffles import join
from .walk import advance, begun, counts, place


@part
def _joined(
    to: int, to_step: int, at: int, at_step: int, count: int, nbytes: int, before: int, begins: bool, ends: bool,
    later: int,
) -> None:  # fmt: skip
    """Copy one run of each of some rows; in its row the one before it begins `before` bytes earlier in the source."""
    for _ in range(count):
        shared = to & (LINE - 1)
        k = -to & (LINE - 1)
        if shared:
            if begins:
                run(to, at, k)
            else:
                join(to, at - before + nbytes - LINE, at)
            prefetch_once(at + later)
        while k + LINE <= nbytes:
            prefetch_once(at + k + later)
            stream_64(at + k, to + k)
            k += LINE
        if ends and k < nbytes:
            run(to + k, at + k, nbytes - k)
        if shared:
            prefetch_once(at + later + nbytes - 1)
        to += to_step
        at += at_step


@part
def copy_joined(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles of runs, tasks `first` up to `last`: some of each row, of some rows."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    a_dst, a_src, a_loop = field(descriptor, A_DST), field(descriptor, A_SRC), field(descriptor, A_LOOP)
    b_dst, b_src, nbytes = field(descriptor, B_DST), field(descriptor, B_SRC), field(descriptor, RUN)
    later = field(descriptor, ASKED)
    length, chunk = field(descriptor, A_LENGTH), field(descriptor, A_CHUNK)
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(descriptor, index)
        done = peek(index + 8 * a_loop) * chunk if a_loop >= 0 else 0
        for a in range(a_count):
            to, at = dst + d + a * a_dst, src + s + a * a_src
            begins, ends = done + a == 0, done + a + 1 == length
            _joined(to, b_dst, at, b_src, b_count, nbytes, a_src, begins, ends, later)
        d, s = advance(descriptor, index, d, s)
    fence()
    return DONE
