"""Transposes: the source is in one piece along one dimension, the target along another.

A tile is a matrix, or several small ones, whose rows lie anywhere: tables tell where, so that a row may run through
several small dimensions. Blocks of it are transposed in registers, straight from memory to memory, or through buffers:
one that gathers source rows (small items) and one that holds target rows until they are written in long pieces (tiles
smaller than a block).
"""

from typing import Any

from .descriptor import (
    A_INNER,
    A_PITCH,
    A_TABLE,
    AHEAD,
    ALIKE,
    B_INNER,
    B_PITCH,
    B_TABLE,
    BY_ROWS,
    C_SRC,
    DONE,
    IN_BYTES,
    IN_GROUP,
    IN_PITCH,
    JOINED,
    LINES,
    MODE,
    NARROW,
    NO_MEMORY,
    ORDER,
    ORDERED,
    OUT_BYTES,
    OUT_GROUP,
    OUT_PITCH,
    PAIRS,
    PREFETCH_OUT,
    STAGE_IN,
    STAGE_OUT,
    STREAM,
    STRIDE,
)
from .jit import part
from .llvm import fence, field, free, malloc, odometer, on_line, peek, prefetch, prefetch_for_write, size_of, width_of
from .pick import picked
from .plans import LINE
from .runs import run, write_joined, write_rows, write_rows_prefetching
from .shuffles import (
    even_direct,
    even_streamed,
    flat_packed,
    line_direct,
    line_packed,
    line_pair,
    line_streamed,
    narrow_packed,
    pair_streamed,
    tall_direct,
    tall_packed,
    tall_pair,
    tall_streamed,
    wide_direct,
    wide_packed,
    wide_streamed,
)
from .walk import advance, begun, counts, place, turns_of_c

_ROWS_AHEAD = 24
"""Rows ahead that are asked for while a tile is gathered."""


@part
def _later(src: int, next_tile: int, near: bool, a: int, a_count: int, tag: Any) -> Any:
    """What a block asks for: its own place in the next tile, or two blocks on in its rows where that is `near`."""
    item = size_of(tag)
    if not near:
        return next_tile + a * item
    later = a + 2 * width_of(tag) // item
    return src + later * item if later < a_count else next_tile + (later - a_count) * item


@part
def _between_memories(
    descriptor: int, dst: int, src: int, a_count: int, b_count: int, shift: int, next_tile: int, tag: Any
) -> None:
    # Two lines of a target row that are stored one after the other take less than each by itself.
    a_table, b_table, mode = field(descriptor, A_TABLE), field(descriptor, B_TABLE), field(descriptor, MODE)
    streamed, near, pairs = (mode & STREAM) != 0, (mode & AHEAD) == 0, (mode & PAIRS) != 0
    item = size_of(tag)
    block = width_of(tag) // item
    b, end = 0, -shift
    while True:
        a = 0
        whole = b % block == 0
        pair = pairs and whole and b + 2 * block <= b_count
        while True:
            later = _later(src, next_tile, near, a, a_count, tag)
            if pair:
                pair_streamed(src + a * item, b_table + 8 * b, dst + b * item, a_table + 8 * a, later, tag)
            elif streamed and whole:
                wide_streamed(src + a * item, b_table + 8 * b, dst + b * item, a_table + 8 * a, later, tag)
            else:
                wide_direct(src + a * item, b_table + 8 * b, dst + b * item, a_table + 8 * a, later, tag)
            a += block
            if a >= a_count:
                break
            a = min(a, a_count - block)
        end += block + pair * block
        if end >= b_count:
            return
        b = min(end, b_count - block)


@part
def _by_lines(
    descriptor: int, dst: int, a_pitch: int, src: int, a_count: int, b_count: int, streamed: bool, shift: int,
    next_tile: int, tag: Any,
) -> None:  # fmt: skip
    # A block is a line of some target rows, whose halves are stored one after the other. `by_rows` these rows are
    # finished before the next ones are begun; else a line of each source row is used up first. A pitch of 0 says that
    # a table tells where rows lie. Meanwhile the next tile is asked for: row by row where it is read so, or lies in one
    # piece, since hardware goes on from there.
    a_table, b_table, b_pitch = field(descriptor, A_TABLE), field(descriptor, B_TABLE), field(descriptor, B_PITCH)
    by_rows = (field(descriptor, MODE) & BY_ROWS) != 0
    item = size_of(tag)
    block, columns = LINE // item, 16 // item
    downs, acrosses = -(-(b_count + shift) // block), -(-a_count // columns)
    even = a_pitch != 0 and b_pitch != 0
    in_order = (even and by_rows) or b_pitch == a_count * item
    lines = left = on_line(a_count * item) // LINE
    for outer in range(acrosses if by_rows else downs):
        for inner in range(downs if by_rows else acrosses):
            b = min(max((inner if by_rows else outer) * block - shift, 0), b_count - block)
            a = min((outer if by_rows else inner) * columns, a_count - columns)
            if in_order:
                for _ in range(block // 4):
                    prefetch(next_tile)
                    next_tile += 64
                    left -= 1
                    if left == 0:
                        left = lines
                        next_tile += b_pitch - 64 * lines
            elif even:
                later = next_tile + (a * item & -LINE) + (b + (a * item >> 4 & 3) * (block // 4)) * b_pitch
                for k in range(block // 4):
                    prefetch(later + k * b_pitch)
            else:
                _prefetch_rows(next_tile, b_table, a, b, block, tag)
            at, to, table = src + a * item, dst + b * item, b_table + 8 * b
            whole = streamed and b % block == 0
            if even and whole:
                even_streamed(at + b * b_pitch, b_pitch, to + a * a_pitch, a_pitch, tag)
            elif even:
                even_direct(at + b * b_pitch, b_pitch, to + a * a_pitch, a_pitch, tag)
            elif a_pitch and not streamed:
                line_packed(at, table, to + a * a_pitch, a_pitch, tag)
            elif whole:
                line_streamed(at, table, to, a_table + 8 * a, tag)
            else:
                line_direct(at, table, to, a_table + 8 * a, tag)


@part
def _by_pairs(descriptor: int, dst: int, src: int, a_count: int, b_count: int, next_tile: int, tag: Any) -> None:
    # The same with two lines of each target row, past the caches alone; what is left of a row is a line, or two.
    a_table, b_table = field(descriptor, A_TABLE), field(descriptor, B_TABLE)
    item = size_of(tag)
    block, columns = LINE // item, 16 // item
    b = 0
    while b < b_count:
        b = min(b, b_count - block)
        pair, whole, table = b + 2 * block <= b_count, b % block == 0, b_table + 8 * b
        height = 2 * block if pair else block
        for begin in range(0, a_count, columns):
            a = min(begin, a_count - columns)
            at, to = src + a * item, dst + b * item
            _prefetch_rows(next_tile, b_table, a, b, height, tag)
            if pair:
                line_pair(at, table, to, a_table + 8 * a, tag)
            elif whole:
                line_streamed(at, table, to, a_table + 8 * a, tag)
            else:
                line_direct(at, table, to, a_table + 8 * a, tag)
        b += height


@part
def _memory_to_buffer(
    descriptor: int, buffer: int, pitch: int, src: int, a_count: int, b_count: int, next_tile: int, tag: Any
) -> None:
    b_table, near = field(descriptor, B_TABLE), (field(descriptor, MODE) & AHEAD) == 0
    item = size_of(tag)
    block = width_of(tag) // item
    b = 0
    while True:
        a = 0
        while True:
            later = _later(src, next_tile, near, a, a_count, tag)
            wide_packed(src + a * item, b_table + 8 * b, buffer + a * pitch + b * item, pitch, later, tag)
            a += block
            if a >= a_count:
                break
            a = min(a, a_count - block)
        b += block
        if b >= b_count:
            return
        b = min(b, b_count - block)


@part
def _buffer_to_memory(
    descriptor: int, dst: int, buffer: int, pitch: int, a_count: int, b_count: int, shift: int, ahead: int, tag: Any
) -> None:
    a_table, b_table, mode = field(descriptor, A_TABLE), field(descriptor, B_TABLE), field(descriptor, MODE)
    streamed, pairs = (mode & STREAM) != 0, (mode & PAIRS) != 0
    item = size_of(tag)
    block, columns, both = width_of(tag) // item, 16 // item, 2 * LINE // item
    a = 0
    while True:
        b, end = 0, -shift
        while True:
            pair = pairs and b % block == 0 and b + both <= b_count
            if ahead:
                _prefetch_rows(ahead, b_table, a, b, both if pair else block, tag)
            if pair:
                tall_pair(buffer + b * pitch + a * item, pitch, dst + b * item, a_table + 8 * a, tag)
            elif streamed and b % block == 0:
                tall_streamed(buffer + b * pitch + a * item, pitch, dst + b * item, a_table + 8 * a, tag)
            else:
                if ahead:
                    for k in range(columns):
                        prefetch_for_write(dst + peek(a_table + 8 * (a + k)) + (b + 2 * block) * item)
                tall_direct(buffer + b * pitch + a * item, pitch, dst + b * item, a_table + 8 * a, tag)
            end += both if pair else block
            if end >= b_count:
                break
            b = min(end, b_count - block)
        a += columns
        if a >= a_count:
            return
        a = min(a, a_count - columns)


@part
def _prefetch_rows(ahead: int, b_table: int, a: int, b: int, block: int, tag: Any) -> None:
    # Four blocks side by side take one line of each row: each asks for a quarter of the rows of the tile that comes
    # next, so that it arrives while this one is worked on.
    item = size_of(tag)
    rows = block // 4
    at = ahead + (a * item & -LINE)
    first = b_table + 8 * (b + (a * item >> 4 & 3) * rows)
    for k in range(rows):
        prefetch(at + peek(first + 8 * k))


@part
def _buffer_to_buffer(
    descriptor: int, out: int, out_pitch: int, buffer: int, pitch: int, a_count: int, b_count: int, ahead: int,
    tag: Any,
) -> None:  # fmt: skip
    # Rows of the target may follow each other without a gap. A single block then hangs over its rows, and the next row
    # overwrites that; of several blocks the last is pulled back. Four blocks side by side take one line of each row
    # of the buffer: they follow each other, while it is near. Narrow ones fill whole registers, as far as these go.
    b_table, narrow = field(descriptor, B_TABLE), (field(descriptor, MODE) & NARROW) != 0
    item = size_of(tag)
    columns = 16 // item
    whole = width_of(tag) // item
    block = columns if narrow else whole
    for group in range(0, a_count, 4 * columns):
        if ahead and field(descriptor, IN_GROUP) == 1 and (narrow or b_count < block):
            for k in range(b_count):
                prefetch(ahead + group * item + LINE - 1 + peek(b_table + 8 * k))
        b = 0
        while True:
            first, end = group, min(group + 4 * columns, a_count)
            while narrow and first + whole <= end:
                flat_packed(
                    buffer + b * pitch + first * item, pitch, out + first * out_pitch + b * item, out_pitch, tag
                )
                first += whole
            for a in range(first, end, columns):
                at, to = buffer + b * pitch + a * item, out + a * out_pitch + b * item
                if narrow:
                    narrow_packed(at, pitch, to, out_pitch, tag)
                else:
                    if ahead and b + block <= b_count:
                        _prefetch_rows(ahead, b_table, a, b, block, tag)
                    tall_packed(at, pitch, to, out_pitch, tag)
            b += block
            if b >= b_count:
                break
            b = min(b, b_count - block)


@part
def _gather_rows(
    descriptor: int, buffer: int, pitch: int, src: int, a_count: int, b_count: int, prefetches_rows: bool, tag: Any
) -> None:
    b_table, stride, group = field(descriptor, B_TABLE), field(descriptor, STRIDE), field(descriptor, IN_GROUP)
    item = size_of(tag)
    b = 0
    while b < b_count:
        if prefetches_rows and b + _ROWS_AHEAD * group < b_count:
            later = src + peek(b_table + 8 * (b + _ROWS_AHEAD * group))
            for k in range(0, a_count * stride * group, 64):
                prefetch(later + k)
        to, at, length = buffer + b * pitch, src + peek(b_table + 8 * b), a_count * min(group, b_count - b)
        if stride == item:
            run(to, at, length * item)
        else:
            picked(to, at, stride, length, 0, False, tag)
        b += group


@part
def _write_out(
    descriptor: int, dst: int, buffer: int, a_count: int, b_count: int, matrices: int, next_tile: int, tag: Any
) -> None:
    # From the buffer of a tile, or of some small matrices in a row.
    a_table, mode, joined = field(descriptor, A_TABLE), field(descriptor, MODE), field(descriptor, JOINED)
    pitch, nbytes, rows = field(descriptor, OUT_PITCH), b_count * size_of(tag), a_count * matrices
    group = rows if matrices > 1 else field(descriptor, OUT_GROUP)
    if joined:
        order, ordered = field(descriptor, ORDER), field(descriptor, ORDERED)
        write_joined(dst, order, ordered, buffer, pitch, a_count, matrices, nbytes, buffer + joined)
    elif mode & PREFETCH_OUT:
        write_rows_prefetching(
            dst, a_table, buffer, pitch, rows, nbytes, group,
            next_tile, field(descriptor, B_TABLE), b_count, a_count * field(descriptor, STRIDE),
        )  # fmt: skip
    else:
        write_rows(dst, a_table, buffer, pitch, rows, nbytes, group, (mode & STREAM) != 0)


@part
def copy_transposed(descriptor: int, dst_cell: int, src_cell: int, first: int, last: int, tag: Any) -> int:
    """Copy tiles, tasks `first` up to `last`; `tag` tells the item and the registers (`llvm.TAGS`)."""
    dst, src, answer = begun(descriptor, dst_cell, src_cell)
    if answer != DONE:
        return answer
    index = odometer()
    mode = field(descriptor, MODE)
    a_inner, b_inner = field(descriptor, A_INNER), field(descriptor, B_INNER)
    in_pitch, out_pitch, a_pitch = field(descriptor, IN_PITCH), field(descriptor, OUT_PITCH), field(descriptor, A_PITCH)
    item, c_src = size_of(tag), field(descriptor, C_SRC)
    lines = (mode & LINES) != 0
    block, columns = (LINE if lines else width_of(tag)) // item, 16 // item
    memory = malloc(field(descriptor, IN_BYTES) + field(descriptor, OUT_BYTES) + 128)
    if memory == 0:
        return NO_MEMORY
    gathered = on_line(memory)
    held = gathered + field(descriptor, IN_BYTES)
    streamed = (mode & STREAM) != 0
    d, s = place(descriptor, index, first)
    for task in range(first, last):
        a_count, b_count = counts(descriptor, index)
        a_count *= a_inner
        b_count *= b_inner
        matrices = turns_of_c(descriptor, index)
        to, at = dst + d, src + s
        if task + 1 < last:
            d, s = advance(descriptor, index, d, s)
        stage_in = (mode & STAGE_IN) != 0
        stage_out = (mode & STAGE_OUT) != 0
        # The last chunk of a dimension may be smaller than a block.
        if b_count < block or a_count < (columns if stage_in or lines else block):
            stage_in = stage_out = True
        # Where rows of the target all begin at one place of their lines, the second block of each reaches back so many
        # items, over the end of the first: it and those behind it begin where lines, or registers, do.
        shift = 0
        if mode & ALIKE and b_count > 2 * block and to % item == 0:
            shift = (to & (block * item - 1)) // item
        for matrix in range(matrices):
            later = src + s if matrix + 1 == matrices else at + c_src
            ahead = later if mode & AHEAD else 0
            out = held + matrix * a_count * out_pitch
            if stage_in:
                _gather_rows(descriptor, gathered, in_pitch, at, a_count, b_count, ahead == 0, tag)
                if stage_out:
                    _buffer_to_buffer(descriptor, out, out_pitch, gathered, in_pitch, a_count, b_count, ahead, tag)
                else:
                    _buffer_to_memory(descriptor, to, gathered, in_pitch, a_count, b_count, shift, ahead, tag)
            elif lines and mode & PAIRS and not stage_out:
                _by_pairs(descriptor, to, at, a_count, b_count, later, tag)
            elif lines and stage_out:
                _by_lines(descriptor, out, out_pitch, at, a_count, b_count, False, 0, later, tag)
            elif lines:
                _by_lines(descriptor, to, a_pitch, at, a_count, b_count, streamed, shift, later, tag)
            elif stage_out:
                _memory_to_buffer(descriptor, out, out_pitch, at, a_count, b_count, later, tag)
            else:
                _between_memories(descriptor, to, at, a_count, b_count, shift, later, tag)
            at += c_src
        if stage_out:
            _write_out(descriptor, to, held, a_count, b_count, matrices, src + s, tag)
    if streamed:
        fence()
    free(memory)
    return DONE
