"""Tiles of transposes whose registers hold half of a line that is streamed: a rule for each way in which two sides lie.

Where eight of a block's rows, or six of large items in the target, fall into one set of the first-level cache they
*crowd* it: lines are gone before all of their items are taken, or whole. The numbers are those that were best, or next
to it, in some 2000 layouts, drawn and chosen, on a processor with 32 KB of first-level and 512 KB of second-level cache
(docs/kernel-decisions.md). Those of large items, measured of four and eight bytes, are from a day when memory was slow:
a dense copy of 64 MB took 6 to 8 ms. Those of small ones are from days when it took 4 to 5, and as good on that day.
"""

from .descriptor import STAGE_IN, STAGE_OUT
from .plans import LINE
from .sides import Sides
from .tiles import FIRST_SETS, FIRST_WAYS, LONGEST, SETS, WAYS, Wanted, crowded, rows_of_block

_HELD = 1 << 15
"""Bytes of source rows that a first-level cache of 32 KB holds."""
_SHORT = 2048
"""Bytes of rows, at most, for tiles of whole ones."""
_FEW = 32
"""Rows of the source, at most, of which the second-level cache keeps what is asked for, however they crowd it."""


def wanted(sides: Sides) -> Wanted:
    """What makes a good tile of whole blocks."""
    if sides.far:
        return _through_buffers(sides)
    if _is_read_through(sides) and not _target_crowds(sides):
        return _reading_through(sides)
    if sides.item >= 4:
        return _of_large_items(sides)
    if _source_crowds(sides):
        return _crowded_source(sides)
    if _target_crowds(sides):
        return _crowded_target(sides)
    if sides.a_dim.dst <= LONGEST and _target_lines_meet(sides):
        return Wanted(1024, 256, lines=True, by_rows=True)
    if sides.shares or sides.b_bytes < 8 * LINE:
        return Wanted(512, 2048, lines=True)
    return Wanted(2 * LINE if _is_within(sides) else LINE, 1024, lines=True)


def _of_large_items(sides: Sides) -> Wanted:
    # 0.55 to 0.75 of the time of 300 layouts, against a line of many source rows at a time, or long pieces.
    if _target_crowds(sides):
        return Wanted(8 * LINE, 128 * sides.item, STAGE_OUT)
    if not sides.fills_lines:
        return Wanted(8 * LINE, 1024, lines=True)
    if _target_lines_meet(sides):
        # A line alone takes half as long again: two follow each other, row by row.
        return Wanted(4 * LINE, 2 * LINE, lines=True, by_rows=True)
    # Sixteen source rows at a time: hardware goes on in as many.
    return Wanted(4 * LINE, 16 * sides.item, lines=True)


def _through_buffers(sides: Sides) -> Wanted:
    crowds = _source_crowds(sides)
    if sides.item >= 4 or sides.shares:
        # Longer pieces where their lines are gone so soon: 0.92 of the time of 22 layouts.
        return Wanted((8 if sides.item >= 4 and crowds else 4) * LINE, LONGEST, STAGE_OUT)
    if crowds and sides.item == 1 and sides.b_bytes >= 8 * LINE and sides.source_crowds(sides.of_line, SETS, 1):
        return Wanted(1024, 512, STAGE_IN | STAGE_OUT)
    if _crowds_beyond(sides) and sides.item == 2 and sides.b_bytes > 4 * LINE:
        return Wanted(512, 2048, STAGE_OUT)
    short = 2 * LINE if sides.item == 2 or _is_within(sides) else LINE
    return Wanted(short if sides.b_bytes > 4 * LINE else 4 * LINE, 2048, STAGE_OUT)


def _reading_through(sides: Sides) -> Wanted:
    # What follows in the source makes a tile: by target rows, if the first-level cache keeps it for all of them.
    rows = max(2 * LINE // sides.item, (_HELD // 2 if sides.shares else _HELD) // sides.row)
    by_rows = not crowded(rows_of_block([sides.dims[-1]], "src", rows), FIRST_SETS, FIRST_WAYS)
    return Wanted(LONGEST, min(LONGEST, rows * sides.item), lines=True, by_rows=by_rows)


def _crowded_source(sides: Sides) -> Wanted:
    # Pieces of a line where the second-level cache keeps them until the next ones are taken; else long ones.
    narrow = not sides.shares and not _is_within(sides) and sides.a_bytes > 4 * LINE
    kept = not _crowds_beyond(sides) or sides.item == 1 or sides.b_bytes <= _FEW * sides.item
    return Wanted(LINE if narrow and kept else 512, 512, STAGE_OUT)


def _crowded_target(sides: Sides) -> Wanted:
    short = _is_read_through(sides) and sides.row <= 512
    narrow = not _is_within(sides) and not short and not sides.shares
    return Wanted(LINE if narrow else 512, 512, STAGE_OUT, lines=not sides.shares)


def _is_within(sides: Sides) -> bool:
    """Whether source rows begin within a line: a line's piece lies on two, which are fetched for both."""
    return sides.host.src_phase != 0


def _source_crowds(sides: Sides) -> bool:
    """Whether lines of the source are gone from the first-level cache before all of their items are taken."""
    return sides.source_crowds(sides.of_line, FIRST_SETS, FIRST_WAYS - 1)


def _crowds_beyond(sides: Sides) -> bool:
    """Whether they are gone from the second-level cache, too, where rows of 512 bytes make a tile."""
    return _source_crowds(sides) and sides.source_crowds(512 // sides.item, SETS, 2 * WAYS)


def _target_crowds(sides: Sides) -> bool:
    """Whether lines of the target wait for each other."""
    return sides.target_crowds(FIRST_SETS, FIRST_WAYS - (3 if sides.item >= 4 else 1))


def _target_lines_meet(sides: Sides) -> bool:
    """Whether two of a block's lines in the target fall into one set of the first-level cache."""
    return sides.target_crowds(FIRST_SETS, 1)


def _is_read_through(sides: Sides) -> bool:
    """Whether source rows are short and follow each other without a gap."""
    last = sides.dims[-1]
    return last.src == sides.row <= _SHORT and last.length * sides.row >= _HELD // 2
