"""Rows that are one short run again and again: a bias for each pixel, a small image for each sample.

What is repeated is put together in a buffer, as often as fills some lines, and goes on from its start where it ends: so
the target is written by whole lines wherever these begin within a run.
"""

from typing import Any

from .descriptor import B_DST, B_SRC, DONE, MODE, NO_MEMORY, RUN, STREAM
from .jit import part
from .llvm import copy_256, fence, field, free, malloc, odometer, on_line, stream_256
from .plans import LINE, REPEATED
from .runs import run, streamed_run
from .walk import advance, begun, counts, place

_TURN = 256
"""Bytes that are written in a go, and that the buffer holds beyond what is repeated."""
_HELD = 1024
"""Bytes that are put together at least, where the row has as many."""


@part
def _put_together(held: int, src: int, nbytes: int, wanted: int) -> None:
    """Repeat a run in a buffer up to so many bytes."""
    done = min(nbytes, wanted)
    run(held, src, done)
    while done < wanted:
        more = min(done, wanted - done)
        run(held + done, held, more)
        done += more


@part
def _write(dst: int, held: int, whole: int, total: int, streamed: bool) -> None:
    """Write `total` bytes of what repeats itself after `whole` bytes of a buffer, which holds a turn more."""
    at = k = min(-dst & (LINE - 1), total)
    run(dst, held, k)
    while k + _TURN <= total:
        if streamed:
            stream_256(held + at, dst + k)
        else:
            copy_256(held + at, dst + k)
        k += _TURN
        at += _TURN
        at -= whole if at >= whole else 0
    if streamed:
        streamed_run(dst + k, held + at, total - k)
    else:
        run(dst + k, held + at, total - k)


@part
def copy_repeated(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Repeat runs of RUN bytes, tasks `first` up to `last`: A counts how often, B the rows of a tile."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index, nbytes = odometer(), field(descriptor, RUN)
    b_dst, b_src = field(descriptor, B_DST), field(descriptor, B_SRC)
    streamed = (field(descriptor, MODE) & STREAM) != 0
    whole = -(-_HELD // nbytes) * nbytes
    memory = malloc(REPEATED + _TURN + LINE)
    if memory == 0:
        return NO_MEMORY
    held = on_line(memory)
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(descriptor, index)
        for b in range(b_count):
            to, at = dst + d + b * b_dst, src + s + b * b_src
            total = a_count * nbytes
            _put_together(held, at, nbytes, min(total, whole + _TURN))
            _write(to, held, whole, total, streamed)
        d, s = advance(descriptor, index, d, s)
    if streamed:
        fence()
    free(memory)
    return DONE
