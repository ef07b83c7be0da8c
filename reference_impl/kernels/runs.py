"""Runs: bytes that lie in one piece on both sides, copied with vectors, past the caches where that is asked for."""

from typing import Any

from . import machine
from .descriptor import (
    A_CHUNK,
    A_DST,
    A_SRC,
    B_DST,
    B_SRC,
    CALLED,
    DONE,
    DST_SHIFT,
    MODE,
    NEXT_RUN,
    RUN,
    SRC_SHIFT,
    STREAM,
)
from .jit import part
from .llvm import (
    copy_1,
    copy_2,
    copy_4,
    copy_8,
    copy_16,
    copy_32,
    copy_64,
    copy_256,
    fence,
    field,
    memmove,
    odometer,
    peek,
    prefetch,
    prefetch_once,
    stream_64,
    stream_256,
    width_of,
)
from .plans import LARGE_FIRST, LINE, PAGE
from .walk import advance, begun, counts, place

_SMALL_FIRST = machine.first_bytes() < LARGE_FIRST
_AHEAD = 1024 if _SMALL_FIRST else 8192
"""Bytes ahead of short runs that are asked for."""
_LINE_RUNS_AHEAD = 1024 if _SMALL_FIRST else 2048
"""The same of runs of one line: where the next tile begins (`runs_plan`)."""
_ABREAST = machine.goes_abreast()
_FEW_ASKED = _SMALL_FIRST and not machine.is_intel()
"""Whether it is AMD's first-level cache of before family 26: fewer lines can be under way to it."""
_BY_PAGES = _ABREAST and _FEW_ASKED and machine.vector_bytes() < LINE
"""Whether they are so by pages, and what is left of them is not asked for ahead: AMD's family 23."""
_LEAST, _MOST, _TURN = (
    (PAGE, PAGE, 128) if _BY_PAGES
    else (1 << 14, 1 << 17, 256) if _FEW_ASKED
    else (1 << 14, 1 << 16, 512)
)  # fmt: skip
"""Bytes of each of the four places that a long run is copied from abreast, and what is copied of each in one go."""
_FAR = 4096 if machine.is_intel() else 2048 if _SMALL_FIRST else 1024
"""Bytes ahead of long runs that are asked for."""
_FAR_APART = 8192 if _SMALL_FIRST else _FAR
"""The same where runs lie apart: what is asked for through the second-level cache may wait there."""
_HEAD, _HEAD_ABREAST = 512, 1024
"""Bytes at the start of a row that are asked for while the one before it is copied, unless it begins near that."""
_RUNS_AHEAD = 8
"""Runs ahead that are asked for within the caches, where registers hold half a line."""


@part
def run(dst: int, src: int, nbytes: int) -> None:
    """Copy any number of bytes; the last vector may overlap the one before it, so no byte outside is touched."""
    if nbytes >= 64:
        k = 0
        if nbytes >= 512 and dst & (LINE - 1):
            # Stores that cross from one line to the next take twice as long; loads do not.
            copy_64(src, dst)
            k = -dst & (LINE - 1)
        while k + 256 <= nbytes:
            copy_256(src + k, dst + k)
            k += 256
        while k + 64 <= nbytes:
            copy_64(src + k, dst + k)
            k += 64
        rest = nbytes - k
        if rest > 32:
            copy_32(src + k, dst + k)
            copy_32(src + nbytes - 32, dst + nbytes - 32)
        elif rest > 16:
            copy_32(src + nbytes - 32, dst + nbytes - 32)
        elif rest:
            copy_16(src + nbytes - 16, dst + nbytes - 16)
    elif nbytes >= 32:
        copy_32(src, dst)
        copy_32(src + nbytes - 32, dst + nbytes - 32)
    elif nbytes >= 16:
        copy_16(src, dst)
        copy_16(src + nbytes - 16, dst + nbytes - 16)
    elif nbytes >= 8:
        copy_8(src, dst)
        copy_8(src + nbytes - 8, dst + nbytes - 8)
    elif nbytes >= 4:
        copy_4(src, dst)
        copy_4(src + nbytes - 4, dst + nbytes - 4)
    elif nbytes >= 2:
        copy_2(src, dst)
        copy_2(src + nbytes - 2, dst + nbytes - 2)
    elif nbytes == 1:
        copy_1(src, dst)


@part
def streamed_run(dst: int, src: int, nbytes: int) -> None:
    """Copy any number of bytes, whole lines of the target past the caches."""
    # Head and tail end where the whole lines begin: a line that is first cached and then streamed costs more than both.
    k = min(-dst & (LINE - 1), nbytes)
    if k:
        run(dst, src, k)
    while k + 256 <= nbytes:
        stream_256(src + k, dst + k)
        k += 256
    while k + 64 <= nbytes:
        stream_64(src + k, dst + k)
        k += 64
    if k < nbytes:
        run(dst + k, src + k, nbytes - k)


@part
def _long_streamed_run(dst: int, src: int, nbytes: int, gap: int) -> None:
    """The same of a run from memory: from four places at a time, or prefetched, whichever the processor likes.

    Also the next run is prefetched, which begins `gap` bytes behind this one.
    """
    head = min(-dst & (LINE - 1), nbytes)
    if head:
        run(dst, src, head)
    k = head
    while _ABREAST and k + 4 * _LEAST <= nbytes:
        place = min((nbytes - k) // 4 & -_TURN, _MOST)
        for j in range(k, k + place, _TURN):
            for n in range(4):
                at = j + n * place
                for line in range(0, _TURN, 128):
                    stream_64(src + at + line, dst + at + line)
                    stream_64(src + at + line + 64, dst + at + line + 64)
        k += 4 * place
    # Hardware goes on from one run to the next where they lie near each other.
    far = _FAR if 0 <= gap < PAGE else _FAR_APART
    whole = far // nbytes if gap else 0  # so far ahead of a place are some whole runs and a part of the next
    far -= whole * nbytes
    ahead = src + far + whole * (nbytes + gap)
    while not _BY_PAGES and k + 256 <= nbytes:
        later = ahead + k + (gap if k + far >= nbytes else 0)
        for line in range(0, 256, 64):
            prefetch_once(later + line)
        stream_256(src + k, dst + k)
        k += 256
    streamed_run(dst + k, src + k, nbytes - k)


@part
def write_rows(
    dst: int, a_table: int, buffer: int, pitch: int, a_count: int, nbytes: int, group: int, streamed: bool
) -> None:
    """Write the rows of a buffer where a table says, `group` of them in one piece."""
    a = 0
    while a < a_count:
        to, length = dst + peek(a_table + 8 * a), nbytes * min(group, a_count - a)
        if streamed:
            streamed_run(to, buffer + a * pitch, length)
        else:
            run(to, buffer + a * pitch, length)
        a += group


@part
def write_rows_prefetching(
    dst: int, a_table: int, buffer: int, pitch: int, a_count: int, nbytes: int, group: int,
    next_tile: int, b_table: int, b_count: int, row_bytes: int,
) -> None:  # fmt: skip
    """The same past the caches; for each line that is written one of the next tile's is asked for, row by row."""
    b, later = 0, next_tile + peek(b_table)
    end = later + row_bytes
    a = 0
    while a < a_count:
        to, at, length = dst + peek(a_table + 8 * a), buffer + a * pitch, nbytes * min(group, a_count - a)
        k = min(-to & (LINE - 1), length)
        if k:
            run(to, at, k)
        while k + 64 <= length:
            if b < b_count:
                prefetch(later)
                later += 64
                if later >= end:
                    b += 1
                    later = next_tile + peek(b_table + 8 * min(b, b_count - 1))
                    end = later + row_bytes
            stream_64(at + k, to + k)
            k += 64
        if k < length:
            run(to + k, at + k, length - k)
        a += group


@part
def write_joined(
    dst: int, order: int, ordered: int, buffer: int, pitch: int, a_count: int, matrices: int, nbytes: int, joined: int
) -> None:
    """Write the rows of some matrices, which follow each other in a buffer, as a table says that the target has them.

    It tells of each row the matrix, the row within it, and where it belongs. What follows each other is joined before
    it is written past the caches.
    """
    begin = end = 0
    for k in range(ordered):
        at = order + 24 * k
        matrix, a = peek(at), peek(at + 8)
        if matrix < matrices and a < a_count:
            to = dst + peek(at + 16)
            if to != end:
                streamed_run(begin, joined, end - begin)
                begin = to
            run(joined + to - begin, buffer + (matrix * a_count + a) * pitch, nbytes)
            end = to + nbytes
    streamed_run(begin, joined, end - begin)


@part
def write_waiting(held: int, begin: int, end: int, last: bool, later: int) -> int:
    """Write what a buffer holds of the target's bytes from `begin` to `end`; answers where those begin that are left.

    Whole lines past the caches, while as much is asked for that is read `later`; what the last one holds where it is
    the `last`. The buffer begins with a line.
    """
    line = begin & -64
    if begin != line:
        whole = min(line + 64, end)
        run(begin, held + begin - line, whole - begin)
        begin = whole
    while begin + 64 <= end:
        if later:
            prefetch_once(later)
            later += 64
        stream_64(held + begin - line, begin)
        begin += 64
    if last:
        run(begin, held + begin - line, end - begin)
    elif begin < end:
        copy_64(held + (begin & -64) - line, held)
    return begin


def _by_two(copy: Any, size: int) -> Any:
    """A part that copies runs of one length by one or two registers of `size` bytes each, which may overlap."""

    @part
    def copy_each(dst: int, dst_step: int, src: int, src_step: int, count: int, nbytes: int, later: int) -> None:
        for _ in range(count):
            if later:
                prefetch_once(src + later)
                if nbytes > 64:
                    prefetch_once(src + later + nbytes - 1)
            copy(src, dst)
            if nbytes > size:
                copy(src + nbytes - size, dst + nbytes - size)
            dst += dst_step
            src += src_step

    return copy_each


_each_64, _each_32, _each_16 = _by_two(copy_64, 64), _by_two(copy_32, 32), _by_two(copy_16, 16)
_each_8, _each_4, _each_2 = _by_two(copy_8, 8), _by_two(copy_4, 4), _by_two(copy_2, 2)


@part
def run_each(dst: int, dst_step: int, src: int, src_step: int, count: int, nbytes: int, later: int) -> None:
    """Copy runs of one length; how long they are is looked at once, since they may be many.

    Of one that begins `later` bytes on the first bytes are asked for, of none where that is 0.
    """
    asked = min(_HEAD, nbytes) if later else 0
    if nbytes > 512 or nbytes < 2:
        for _ in range(count):
            for k in range(0, asked, 64):
                prefetch_once(src + later + k)
            run(dst, src, nbytes)
            dst += dst_step
            src += src_step
    elif nbytes > 128 and nbytes & (LINE - 1) == 0:
        for b in range(count):
            for k in range(0, asked, 64):
                prefetch_once(src + b * src_step + later + k)
            for k in range(0, nbytes, 64):
                copy_64(src + b * src_step + k, dst + b * dst_step + k)
    elif nbytes > 128:
        for b in range(count):
            for k in range(0, asked, 64):
                prefetch_once(src + b * src_step + later + k)
            run(dst + b * dst_step, src + b * src_step, nbytes)
    elif nbytes >= 64:
        _each_64(dst, dst_step, src, src_step, count, nbytes, later)
    elif nbytes >= 32:
        _each_32(dst, dst_step, src, src_step, count, nbytes, later)
    elif nbytes >= 16:
        _each_16(dst, dst_step, src, src_step, count, nbytes, later)
    elif nbytes >= 8:
        _each_8(dst, dst_step, src, src_step, count, nbytes, later)
    elif nbytes >= 4:
        _each_4(dst, dst_step, src, src_step, count, nbytes, later)
    else:
        _each_2(dst, dst_step, src, src_step, count, nbytes, later)


@part
def _streamed_each(to: int, to_step: int, at: int, at_step: int, count: int, nbytes: int) -> None:
    """Copy runs of one length, whole lines of the target past the caches."""
    whole = (to | to_step | nbytes) & (LINE - 1) == 0
    if whole and nbytes == 64:
        for _ in range(count):
            prefetch_once(at + _LINE_RUNS_AHEAD)
            stream_64(at, to)
            at += at_step
            to += to_step
    elif whole and nbytes <= 512:
        for b in range(count):
            for k in range(0, nbytes, 64):
                prefetch_once(at + b * at_step + k + _AHEAD)
                stream_64(at + b * at_step + k, to + b * to_step + k)
    else:
        asked = min(_HEAD_ABREAST, nbytes) if _BY_PAGES and not 0 <= at_step - nbytes < PAGE else 0
        gap = at_step - nbytes if count > 1 else 0
        for b in range(count):
            for k in range(0, asked, 64):
                prefetch_once(at + (b + 1) * at_step + k)
            _long_streamed_run(to + b * to_step, at + b * at_step, nbytes, gap)


@part
def copy_runs(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles of runs, tasks `first` up to `last`; `tag` tells the registers (`llvm.TAGS`)."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    # Nothing else is stored between streamed stores: that would send the lines off half full, at a tenth of the rate.
    index = odometer()
    a_dst, a_src = field(descriptor, A_DST), field(descriptor, A_SRC)
    b_dst, b_src = field(descriptor, B_DST), field(descriptor, B_SRC)
    mode = field(descriptor, MODE)
    later = b_src * (_RUNS_AHEAD if width_of(tag) < 64 else 1) if mode & NEXT_RUN else 0
    d, s = place(descriptor, index, first)
    for _ in range(first, last):
        a_count, b_count = counts(descriptor, index)
        nbytes = field(descriptor, RUN)
        if nbytes == 0:  # A is the run itself
            nbytes, a_count = a_count, 1
        for a in range(a_count):
            to, at = dst + d + a * a_dst, src + s + a * a_src
            if mode & STREAM:
                _streamed_each(to, b_dst, at, b_src, b_count, nbytes)
            elif mode & CALLED:
                for b in range(b_count):
                    memmove(to + b * b_dst, at + b * b_src, nbytes)
            else:
                run_each(to, b_dst, at, b_src, b_count, nbytes, later)
        d, s = advance(descriptor, index, d, s)
    if mode & STREAM:
        fence()
    return DONE


@part
def copy_whole_run(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy one run by the C library's `memmove`, which the two sides may share bytes for; there is one task."""
    dst = peek(dst_cell) + field(descriptor, DST_SHIFT)
    memmove(dst, peek(src_cell) + field(descriptor, SRC_SHIFT), field(descriptor, A_CHUNK))
    return DONE
