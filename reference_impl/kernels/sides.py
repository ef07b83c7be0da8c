"""How the two sides of a transpose lie: what the rules ask that choose its tiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from .normal import Dim
from .plans import LINE, Host
from .tiles import LONGEST, chain, chunk, crowded, offsets, rows_of_block

_LAST_WAYS, _KEPT = 10, 2
"""Ways of a last-level cache's set that `cache_bytes` counts on, and rows of a tile that it keeps beside all else."""


@dataclass(frozen=True)
class Sides:
    """Two sides, the target in one piece along the last dimension, the source along another one; bytes.

    Rows of the source are the target's columns: a *block* has as many of each as a line has items.

    >>> by_three = Sides((Dim(100, 96, 4), Dim(8, 12, 1024), Dim(3, 4, 400)), 0, 4, Host(), streamed=True)
    >>> by_three.b_bytes, by_three.fills_lines, by_three.far
    (96, False, True)
    """

    dims: Sequence[Dim]
    along: int
    """The dimension along which the source is in one piece, or steps over few items."""
    item: int
    host: Host
    streamed: bool
    split: bool = False
    """Whether what a tile holds of a target row ends anywhere in a line, though the row itself does not."""
    near: str = "dst"
    """The side, `dst` or `src`, that has a dimension first which may belong to a block's rows or to its columns."""
    longest: int = LONGEST
    """Bytes of a target row that are looked at."""

    @property
    def _last(self) -> int:
        return len(self.dims) - 1

    @property
    def unit(self) -> int:
        """From one item of a source row to the next."""
        return self.dims[self.along].src

    @property
    def of_line(self) -> int:
        """Items of a line."""
        return LINE // self.item

    @cached_property
    def _block_rows(self) -> list[int]:
        # Both sides of a block first, then rows of the target as long as they may be.
        first = {self.along}
        if self.near == "src":
            nbytes = self.host.width * self.unit // self.item
            first.update(chain(self.dims, self.along, "src", {self.along, self._last}, self.unit, nbytes))
        return chain(self.dims, self._last, "dst", {*first, self._last}, self.item, self.host.width)

    def _source_row(self, nbytes: int) -> list[int]:
        taken = {self.along, *self._block_rows}
        return chain(self.dims, self.along, "src", taken, self.unit, nbytes * self.unit // self.item)

    @cached_property
    def a_chain(self) -> list[int]:
        """Dimensions that follow each other in the source, until they fill a register."""
        return self._source_row(self.host.width)

    @cached_property
    def a_dims(self) -> list[Dim]:
        """The same, until they fill a line."""
        return [self.dims[k] for k in self._source_row(LINE)]

    @property
    def a_bytes(self) -> int:
        """Of a source row, as far as these go."""
        return self.item * prod(d.length for d in self.a_dims)

    @property
    def a_dim(self) -> Dim:
        """The first of them."""
        return self.dims[self.along]

    @cached_property
    def b_chain(self) -> list[int]:
        """Dimensions that follow each other in the target, as far as tiles reach."""
        return chain(self.dims, self._last, "dst", {*self.a_chain, self._last}, self.item, self.longest)

    @cached_property
    def b_dims(self) -> list[Dim]:
        """Those dimensions."""
        return [self.dims[k] for k in self.b_chain]

    @cached_property
    def b_bytes(self) -> int:
        """Of a target row."""
        return self.item * prod(d.length for d in self.b_dims)

    @cached_property
    def row(self) -> int:
        """Of a whole source row, up to where the next one begins."""
        row = chain(self.dims, self.along, "src", {self.along, self._last}, self.item, self.dims[-1].src)
        return self.item * prod(self.dims[k].length for k in row)

    @property
    def fills_blocks(self) -> bool:
        """Whether both sides are in one piece as far as a register reaches."""
        b_bytes = self.item * prod(self.dims[k].length for k in self._block_rows)
        return self.unit == self.item and min(self.a_bytes, b_bytes) >= self.host.width

    @cached_property
    def far(self) -> bool:
        """Whether rows of the target begin anywhere in a line, and are streamed."""
        others = [d for k, d in enumerate(self.dims) if k not in self.b_chain]
        return self.streamed and (self.host.dst_phase != 0 or self.split or any(d.dst % LINE for d in others))

    def sources(self, number: int) -> npt.NDArray[np.int64]:
        """Where so many rows of the source begin."""
        return rows_of_block(self.b_dims, "src", number)

    @cached_property
    def targets(self) -> npt.NDArray[np.int64]:
        """Where a block's rows begin in the target."""
        return rows_of_block(self.a_dims, "dst", self.of_line)

    def source_crowds(self, number: int, sets: int, ways: int) -> bool:
        """Whether so many rows of the source are too many for the sets of a cache that they fall into."""
        return crowded(self.sources(number), sets, ways)

    def target_crowds(self, sets: int, ways: int) -> bool:
        """Whether a block's rows of the target are."""
        return crowded(self.targets, sets, ways)

    @property
    def shares(self) -> bool:
        """Whether pieces of a source row share lines, which are read again and again where the pieces are short."""
        return any(d.src % LINE for d in self.b_dims)

    @property
    def fills_lines(self) -> bool:
        """Whether rows of the target's nearest dimensions fit into a line with nothing left over, and fill it."""
        run = self.item
        for d in self.b_dims:
            run *= d.length
            if LINE % run:
                break
        return run % LINE == 0

    def keeps_lines(self, b_bytes: int) -> bool:
        """Whether the last-level cache keeps a line of each source row that target rows of so many bytes take."""
        b, _ = chunk(self.b_dims, b_bytes // self.item, 1)
        rows = offsets([*self.b_dims[:-1], self.b_dims[-1]._replace(length=b.chunk)], "src")
        return not crowded(rows, max(1, self.host.cache_bytes // (_LAST_WAYS * LINE)), _KEPT)
