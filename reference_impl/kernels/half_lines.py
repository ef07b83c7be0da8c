"""Tiles of transposes whose registers hold half of a line that is streamed: a rule for each way in which two sides lie.

Where eight of a block's rows, or six of large items in the target, fall into one set of the first-level cache they
*crowd* it: lines are gone before all of their items are taken, or whole. The numbers are those that were best, or next
to it, in some 2000 layouts, drawn and chosen, on a processor with 32 KB of first-level and 512 KB of second-level cache
(docs/kernel-decisions.md). Those of large items, measured of four and eight bytes, are from a day when memory was slow:
a dense copy of 64 MB took 6 to 8 ms. Those of small ones are from days when it took 4 to 5, and as good on that day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from .descriptor import STAGE_IN, STAGE_OUT
from .normal import Dim
from .plans import LINE
from .tiles import (
    FIRST_SETS,
    FIRST_WAYS,
    LONGEST,
    SETS,
    WAYS,
    Wanted,
    chain,
    crowded,
    fills_lines,
    rows_of_block,
    shares,
)

_HELD = 1 << 15
"""Bytes of source rows that a first-level cache of 32 KB holds."""
_SHORT = 2048
"""Bytes of rows, at most, for tiles of whole ones."""
_FEW = 32
"""Rows of the source, at most, of which the second-level cache keeps what is asked for, however they crowd it."""


@dataclass(frozen=True)
class Sides:
    """How the two sides of a transpose lie; bytes."""

    dims: Sequence[Dim]
    along: int
    """The dimension along which the source is in one piece, as the target is along the last one."""
    b_dims: Sequence[Dim]
    """Those that follow each other in the target, from the last one on."""
    item: int
    src_phase: int
    """Where source rows begin within a line."""

    @cached_property
    def _near(self) -> list[int]:
        last = len(self.dims) - 1
        return chain(self.dims, last, "dst", {self.along, last}, self.item, LINE)

    @cached_property
    def _a_chain(self) -> list[int]:
        return chain(self.dims, self.along, "src", {self.along, *self._near}, self.item, LINE)

    @cached_property
    def a_bytes(self) -> int:
        """Of a source row, as far as a line goes or one dimension more."""
        return self.item * prod(self.dims[k].length for k in self._a_chain)

    @cached_property
    def b_bytes(self) -> int:
        """Of a target row."""
        return self.item * prod(d.length for d in self.b_dims)

    @cached_property
    def sources(self) -> npt.NDArray[np.int64]:
        """Where a block's rows begin in the source."""
        return rows_of_block([self.dims[k] for k in self._near], "src", LINE // self.item)

    @cached_property
    def targets(self) -> npt.NDArray[np.int64]:
        """Where they begin in the target."""
        return rows_of_block([self.dims[k] for k in self._a_chain], "dst", LINE // self.item)

    @cached_property
    def row(self) -> int:
        """Bytes of a whole source row, up to where the next one begins."""
        last = len(self.dims) - 1
        row = chain(self.dims, self.along, "src", {self.along, last}, self.item, self.dims[last].src)
        return self.item * prod(self.dims[k].length for k in row)

    @property
    def large(self) -> bool:
        """Whether items have four bytes and more."""
        return self.item >= 4

    @property
    def fills_lines(self) -> bool:
        """Whether rows of the target's nearest dimensions fill a line with nothing left over."""
        return fills_lines([self.dims[k] for k in self._near], self.item)

    @property
    def shares(self) -> bool:
        """Whether pieces of a source row share lines."""
        return shares(self.b_dims)

    @property
    def within(self) -> bool:
        """Whether source rows begin within a line: a line's piece lies on two, which are fetched for both."""
        return self.src_phase != 0

    @cached_property
    def source_crowds(self) -> bool:
        """Whether lines of the source are gone from the first-level cache before all of their items are taken."""
        return crowded(self.sources, FIRST_SETS, FIRST_WAYS - 1)

    @cached_property
    def crowds_beyond(self) -> bool:
        """Whether they are gone from the second-level cache, too, where rows of 512 bytes make a tile."""
        rows = rows_of_block(self.b_dims, "src", 512 // self.item)
        return self.source_crowds and crowded(rows, SETS, 2 * WAYS)

    @cached_property
    def target_crowds(self) -> bool:
        """Whether lines of the target wait for each other."""
        return crowded(self.targets, FIRST_SETS, FIRST_WAYS - (3 if self.large else 1))

    @cached_property
    def target_lines_meet(self) -> bool:
        """Whether two of a block's lines in the target fall into one set of the first-level cache."""
        return crowded(self.targets, FIRST_SETS, 1)

    @property
    def is_read_through(self) -> bool:
        """Whether source rows are short and follow each other without a gap."""
        last = self.dims[-1]
        return last.src == self.row <= _SHORT and last.length * self.row >= _HELD // 2


def wanted_of_halves(sides: Sides, far: bool) -> Wanted:
    """What makes a good tile; `far`: the target's rows begin anywhere in a line."""
    if far:
        return _through_buffers(sides)
    if sides.is_read_through and not sides.target_crowds:
        return _reading_through(sides)
    if sides.large:
        return _of_large_items(sides)
    if sides.source_crowds:
        return _crowded_source(sides)
    if sides.target_crowds:
        return _crowded_target(sides)
    if sides.dims[sides.along].dst <= LONGEST and sides.target_lines_meet:
        return Wanted(1024, 256, lines=True, by_rows=True)
    if sides.shares or sides.b_bytes < 8 * LINE:
        return Wanted(512, 2048, lines=True)
    return Wanted(2 * LINE if sides.within else LINE, 1024, lines=True)


def _of_large_items(sides: Sides) -> Wanted:
    # 0.55 to 0.75 of the time of 300 layouts, against a line of many source rows at a time, or long pieces.
    if sides.target_crowds:
        return Wanted(8 * LINE, 128 * sides.item, STAGE_OUT)
    if not sides.fills_lines:
        return Wanted(8 * LINE, 1024, lines=True)
    if sides.target_lines_meet:
        # A line alone takes half as long again: two follow each other, row by row.
        return Wanted(4 * LINE, 2 * LINE, lines=True, by_rows=True)
    # Sixteen source rows at a time: hardware goes on in as many.
    return Wanted(4 * LINE, 16 * sides.item, lines=True)


def _through_buffers(sides: Sides) -> Wanted:
    if sides.large or sides.shares:
        # Longer pieces where their lines are gone so soon: 0.92 of the time of 22 layouts.
        return Wanted((8 if sides.large and sides.source_crowds else 4) * LINE, LONGEST, STAGE_OUT)
    if sides.source_crowds and sides.item == 1 and sides.b_bytes >= 8 * LINE and crowded(sides.sources, SETS, 1):
        return Wanted(1024, 512, STAGE_IN | STAGE_OUT)
    if sides.crowds_beyond and sides.item == 2 and sides.b_bytes > 4 * LINE:
        return Wanted(512, 2048, STAGE_OUT)
    short = 2 * LINE if sides.item == 2 or sides.within else LINE
    return Wanted(short if sides.b_bytes > 4 * LINE else 4 * LINE, 2048, STAGE_OUT)


def _reading_through(sides: Sides) -> Wanted:
    # What follows in the source makes a tile: by target rows, if the first-level cache keeps it for all of them.
    rows = max(2 * LINE // sides.item, (_HELD // 2 if sides.shares else _HELD) // sides.row)
    by_rows = not crowded(rows_of_block([sides.dims[-1]], "src", rows), FIRST_SETS, FIRST_WAYS)
    return Wanted(LONGEST, min(LONGEST, rows * sides.item), lines=True, by_rows=by_rows)


def _crowded_source(sides: Sides) -> Wanted:
    # Pieces of a line where the second-level cache keeps them until the next ones are taken; else long ones.
    narrow = not sides.shares and not sides.within and sides.a_bytes > 4 * LINE
    kept = not sides.crowds_beyond or sides.item == 1 or sides.b_bytes <= _FEW * sides.item
    return Wanted(LINE if narrow and kept else 512, 512, STAGE_OUT)


def _crowded_target(sides: Sides) -> Wanted:
    short = sides.is_read_through and sides.row <= 512
    narrow = not sides.within and not short and not sides.shares
    return Wanted(LINE if narrow else 512, 512, STAGE_OUT, lines=not sides.shares)
