"""What a plan of a copy is: the choices and the machine that it is made for, its loops, kernel and descriptor."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .descriptor import (
    AGAIN,
    DST_HIGH,
    DST_LOW,
    MODE,
    ONE,
    SRC_HIGH,
    SRC_LOW,
    STAGE_IN,
    STAGE_OUT,
    Chunked,
    Field,
    Loop,
    make_descriptor,
)
from .normal import Normal

LINE, PAGE = 64, 4096
TOGETHER = 2048
"""Bytes that are put together in a buffer, as they follow each other in the target, before they are written."""
REPEATED = 4096
"""Bytes of the longest run that is put together in a buffer to be written again and again."""
LARGE_FIRST = 48 << 10
"""Bytes of a first-level cache from which on a tile of 32 KB leaves room in it."""


@dataclass(frozen=True)
class Choice:
    """What may be chosen differently without a change of the result; the defaults are the planner's own choice."""

    order: str = ""
    """`src` or `dst`: in whose memory order the tiles are visited."""
    a_bytes: int = 0
    """Bytes of a source row in a tile."""
    b_bytes: int = 0
    """Bytes of a target row in a tile."""
    staged: int = -1
    """STAGE_IN and STAGE_OUT, for the buffers that tiles go through; -1 for whatever the tile asks for."""
    streamed: int = -1
    """1 for stores past the caches, 0 for none; -1 for whatever the size asks for."""

    @property
    def is_own(self) -> bool:
        """Whether all but stores is left to the planner."""
        return replace(self, streamed=-1) == OWN


OWN = Choice()


@dataclass(frozen=True)
class Host:
    """What a plan is made for: the machine, and where the arrays lie."""

    width: int = 64
    """Bytes of a vector register, 0 for none: only the portable kernel is used."""
    cache_bytes: int = 20 << 20
    """Bytes of source and target together that the caches do not keep."""
    first_bytes: int = 48 << 10
    """Bytes of a core's first-level cache for data."""
    intel: bool = False
    """Whether it is one of Intel's processors: stores that hold two lines are slow there, and lines of one parity."""
    window: int = 0
    """Bytes of the source that one instruction picks the bytes of a register from; 0 where none does."""
    dst_phase: int = 0
    """Where the loops begin in the target, in bytes after a multiple of 64; NumPy's large arrays begin at 16."""
    src_phase: int = 0
    """The same of the source. A plan that was made for another one copies as well, perhaps more slowly."""

    @property
    def small_tiles(self) -> bool:
        """Whether tiles that the first-level cache holds are better: measured on AMD, with registers of a line."""
        return self.width == LINE and not self.intel

    @property
    def wide_intel(self) -> bool:
        """Whether it is one of Intel's processors with registers of a line, where much was measured by itself."""
        return self.width == LINE and self.intel

    @property
    def carries(self) -> bool:
        """Whether what ends within a line is carried on to the next: any bytes of two registers can be put together.

        Runs that share a line are joined so, too.
        """
        return min(self.width, self.window) == LINE

    def pairs(self, item: int) -> bool:
        """Whether two lines of a target row are better stored one after the other, whatever the tile.

        On Intel's processors always; on AMD's of one and two bytes, and on family 26 of 8 and 16, too. Of other items
        there some tiles are (`large_first.py`, `small_first.py`).
        """
        return self.width == LINE and (self.intel or item < 4 or (item > 4 and self.family_26))

    @property
    def small_first(self) -> bool:
        """Whether it is AMD's first-level cache of before family 26, which has 32 KB."""
        return not self.intel and self.first_bytes < LARGE_FIRST

    @property
    def family_26(self) -> bool:
        """Whether it is AMD's family 26 or like it, with registers of a line and a larger first-level cache."""
        return self.small_tiles and not self.small_first

    @property
    def smallest_tiles(self) -> bool:
        """Whether even small tiles are too large for such a cache."""
        return self.small_tiles and self.small_first

    def keeps_written(self, nbytes: int, times: int) -> bool:
        """Whether caches are the quicker way for what is written, up to so many times what they keep, and hardly read.

        Stores of whole lines fetch nothing there: 24 MB take 0.7 to 0.85 of the time of stores past them, 64 MB of one
        item 0.9 to 1.0 and of runs 1.0 to 1.2, 200 MB 1.03 to 1.2.
        """
        return self.smallest_tiles and nbytes < times * self.cache_bytes


def carried_rows(item: int) -> int:
    """Target rows of a block whose rows are carried on: 16 bytes of source rows of small items, squares of larger ones.

    >>> [carried_rows(item) for item in (1, 2, 4, 8, 16)]
    [16, 8, 16, 8, 4]
    """
    return (16 if item < 4 else LINE) // item


@dataclass(frozen=True, eq=False)
class Plan:
    """A copy as a kernel performs it."""

    kernel: str
    """One of `objects.KERNELS` that copies."""
    form: Normal
    loops: tuple[Loop, ...]
    """Odometer of tiles, outermost first."""
    descriptor: npt.NDArray[np.int64]
    """The kernel's descriptor."""
    streamed: bool
    staged: int = 0
    tables: tuple[npt.NDArray[Any], ...] = field(default=(), repr=False)
    """What the descriptor has addresses of: it lives as long as the plan."""
    more: tuple["Plan", ...] = ()
    """Plans of what this one leaves out, performed after it: strips beside the whole lines of the target, what is no
    whole block, what repeats what this one has written."""

    @property
    def tasks(self) -> int:
        """Number of tiles, which threads share."""
        return prod(loop.length for loop in self.loops)

    def look_at_nothing(self) -> None:
        """Copy from now on without a look at how near the two sides are."""
        self.descriptor[DST_HIGH] = self.descriptor[DST_LOW] = -(1 << 62)

    @property
    def nbytes(self) -> int:
        """Bytes that are written."""
        return self.form.nbytes + sum(plan.nbytes for plan in self.more)

    @property
    def touched_bytes(self) -> int:
        """Bytes of the cache lines that are read and written, counted as if every row began at the start of a line."""
        return self._touched + sum(plan.touched_bytes for plan in self.more)

    @property
    def _touched(self) -> int:
        dims, item = self.form.dims, self.form.item
        return touched([(d.length, d.dst) for d in dims], item) + touched([(d.length, d.src) for d in dims], item)

    @property
    def predicted(self) -> float:
        """Time over that of a dense copy of as many bytes, as expected of a large copy on one thread.

        The share of traffic, times what this kernel took beyond it on AMD's family 26 (docs/kernel-figures.md).
        """
        return self._expected / max(1, 2 * self.nbytes)

    @property
    def _expected(self) -> float:
        """Bytes that a dense copy reads and writes in that time."""
        factor = _BEYOND.get(self.kernel, 1.0)
        if self.kernel == "transpose":
            factor = {0: 1.3, STAGE_OUT: 2.0}.get(self.staged, 2.5)
        return factor * self._touched + sum(plan._expected for plan in self.more)

    @property
    def _past(self) -> str:
        return ", stores past the caches" if self.streamed else ""

    def explain(self) -> str:
        """The plan in words: kernel, order of loops, bytes touched, and the expected time.

        >>> from stridecheck.reference_impl.kernels.normal import normal
        >>> from stridecheck.reference_impl.kernels.planner import plan_for
        >>> form = normal((1000, 64, 32, 32), (262144, 4, 8192, 256), (262144, 4096, 128, 4), 4)
        >>> print(plan_for(form, Host()).explain())
        transpose of 262.1 MB, 4-byte items, stores past the caches
          loop over 1000: target +262144, source +262144
          loop over 8, chunks of A: target +32768, source +512
          touches 524.3 MB; expected time 1.30 of a dense copy's
        """
        lines = [f"{self.kernel} of {in_words(self.form.nbytes)}, {self.form.item}-byte items{self._past}"]
        for loop in self.loops:
            of = f", chunks of {loop.of.upper()}" if loop.of else ""
            lines.append(f"  loop over {loop.length}{of}: target {loop.dst:+}, source {loop.src:+}")
        if self.staged:
            sides = [side for flag, side in ((STAGE_IN, "source"), (STAGE_OUT, "target")) if self.staged & flag]
            lines.append(f"  tiles go through buffers for the {' and the '.join(sides)}")
        for plan in self.more:
            what = f"{plan.kernel} of {in_words(plan.form.nbytes)}"
            again = plan.descriptor[MODE] & AGAIN
            lines.append(f"  and then from there {what}{plan._past}" if again else f"  and beside it a {what}")
        lines.append(f"  touches {in_words(self.touched_bytes)}; expected time {self.predicted:.2f} of a dense copy's")
        return "\n".join(lines)


_BEYOND = {
    "runs": 1.0, "pieces": 1.5, "blocks": 1.5, "carried": 1.4, "joined": 1.1, "repeated": 1.0,
    "interleave": 1.0, "deinterleave": 1.0, "step": 1.1, "fill": 1.1,
    "items": 4.0,
}  # fmt: skip
"""Time of a kernel over that which its traffic makes due."""


def touched(steps: Sequence[tuple[int, int]], item: int, line: int = LINE) -> int:
    """Bytes of the lines on which items lie, counted as if every row began at the start of a line.

    Units: lengths in items, strides, items and lines in bytes.

    >>> touched([(100, 400), (100, 4)], 4), touched([(100, 400)], 4), touched([(100, 400)], 4, 32)
    (40000, 6400, 3200)
    """
    run, rows = item, 1
    for stride, length in sorted((abs(s), n) for n, s in steps if s):
        if stride < run + line:
            run += (length - 1) * stride
        else:
            rows *= length
    return rows * -(-run // line) * line


def in_words(number: int) -> str:
    """A number of bytes as it is read."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} bytes"


def make_plan(
    kernel: str, form: Normal, loops: Sequence[Loop], streamed: bool, a: Chunked = ONE, b: Chunked = ONE,
    staged: int = 0, c: Chunked = ONE, **fields: Field,
) -> Plan:  # fmt: skip
    """A plan with its descriptor; `fields` are those of the descriptor that the kernel alone reads.

    Of a table the descriptor has the address, and the plan keeps the table.
    """
    tables = tuple(value for value in fields.values() if isinstance(value, np.ndarray))
    dst_low, dst_high = form.dst_extent
    src_low, src_high = form.src_extent
    descriptor = make_descriptor(
        loops, a, b, c, dst_shift=form.dst_shift, src_shift=form.src_shift, dst_low=dst_low, dst_high=dst_high,
        src_low=src_low, src_high=src_high, **fields,
    )  # fmt: skip
    return Plan(kernel, form, tuple(loops), descriptor, streamed, staged, tables)


def beside(form: Normal, plans: Sequence[Plan]) -> Plan:
    """Plans that copy one form together, as one; their descriptors are written to: they should be nobody else's."""
    for plan in plans:
        if plan.descriptor[MODE] & AGAIN:
            continue  # its source is the target
        # Whichever plan comes first decides whether the two sides are near each other: each looks at all of them.
        for low, high, shift, extent in (
            (DST_LOW, DST_HIGH, form.dst_shift - plan.form.dst_shift, form.dst_extent),
            (SRC_LOW, SRC_HIGH, form.src_shift - plan.form.src_shift, form.src_extent),
        ):
            plan.descriptor[low], plan.descriptor[high] = extent[0] + shift, extent[1] + shift
    return replace(plans[0], more=tuple(plans[1:]))


def ordered(loops: Sequence[Loop], order: str) -> list[Loop]:
    """Loops of more than one turn, outermost first, in the memory order of `src` or `dst`."""
    key = (lambda x: (-abs(x.src), -x.dst)) if order == "src" else (lambda x: (-abs(x.dst), -abs(x.src)))
    return sorted((x for x in loops if x.length > 1), key=key)
