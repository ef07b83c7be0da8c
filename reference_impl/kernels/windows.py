"""Windows of a block: bytes in one piece of the target whose places in the source repeat from block to block.

What fills a register of the target is picked from few *windows* of the source, each as many bytes as the register has:
64 with AVX-512 VBMI, 16 else, whatever wider registers there are. Which window, and which byte of it, is told by a
table that is made once for all blocks. Small matrices, a few streams woven together, items that are stepped over,
turned or repeated are no cases of their own.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from .descriptor import Field
from .normal import Dim, Normal
from .plans import LINE
from .tiles import offsets

_LARGEST = 2048
"""Bytes of a block, at most."""
_WINDOWS = 256
"""Windows of a block, at most: the first-level cache keeps the table beside what is moved."""
NOT_HERE = 0x80
"""What the table says of a byte of the register that is not in the window."""


@dataclass(frozen=True, eq=False)
class Block:
    """A block, the dimensions that go over blocks, and what these leave over of the one that is cut into blocks."""

    nbytes: int
    item: int
    dims: tuple[Dim, ...]
    left: int
    """Turns of the dimension that is cut into blocks which make no whole block."""
    cut: int
    """Number of that dimension in the form."""
    low: int
    """Bytes from a block's first item to the first one that is read, and to behind the last."""
    high: int
    registers: int
    windows: int
    steps: npt.NDArray[np.int64]
    """For each register where it is stored, how many windows it has, and where these begin, in bytes."""
    index: npt.NDArray[np.uint8]
    """For each window which of its bytes goes where in the register, or NOT_HERE."""
    inner: tuple[Dim, ...]
    """The dimensions within a block, the innermost first."""
    places: npt.NDArray[np.int64]
    """Where the bytes of a block lie in the source, from its first item on."""

    @property
    def cost(self) -> float:
        """Windows for as many bytes as a line has."""
        return self.windows * LINE / self.nbytes

    @property
    def spread(self) -> float:
        """Bytes of the source from the first to the last one that is read, for each byte of the block."""
        return (self.high - self.low) / self.nbytes

    @property
    def near(self) -> int:
        """Bytes of the source that a block's nearest items make in one piece."""
        inner, reach = list(self.inner), self.item
        while near := next((d for d in inner if abs(d.src) == reach), None):
            inner.remove(near)
            reach *= near.length
        return reach

    @property
    def read_bytes(self) -> int:
        """Bytes of the lines that a block is read from."""
        return LINE * len(self.lines(np.zeros(1, np.int64)))

    @property
    def fields(self) -> dict[str, Field]:
        """What a descriptor tells of the block."""
        return {
            "registers": self.registers,
            "steps": self.steps,
            "index": self.index,
            "block_low": self.low,
            "block_high": self.high,
        }

    def lines(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where lines of the source begin that a block of each of some rows reads, in bytes from the first item."""
        return LINE * np.unique((rows[:, None] + self.places) // LINE)


def block_of(form: Normal, window: int, most: float) -> Block | None:
    """The block that takes the fewest windows for its bytes, the smaller one of nearly equal ones.

    None where there is none that takes `most` windows at most for as many bytes as a line has.
    """
    inner: list[Dim] = []
    reach, dims, limit = form.item, list(form.dims), most
    found = None
    while dims and dims[-1].dst == reach and reach < _LARGEST:
        last = dims.pop()
        for turns in _numbers(last.length, reach, window):
            taken = (*inner, last._replace(length=turns))
            number = _windows(taken, form.item, window, most)
            if number and number <= most * turns * reach / LINE:
                most, found = _FEWER * number * LINE / (turns * reach), (taken, last, tuple(dims))
        inner.append(last)
        reach *= last.length
    block = _made(*found, form.item, window) if found else None
    return block if block and block.cost <= limit else None


_FEWER = 0.95
"""Of the windows of a smaller block, which a larger one must not take more of."""


_LEFT, _LONG = 1 / 16, 4096
"""Of a dimension, how much whole blocks may leave over, where it is so many bytes or more of the target in one piece:
what is left over takes lines of both sides anew."""


def _numbers(length: int, reach: int, window: int) -> list[int]:
    """How many turns of a dimension a block may take: a line or more, and next to nothing is left over."""
    least = -(-LINE // reach)
    some = {length, least, 2 * least, 4 * least, window // gcd(window, reach)}
    most = min(length, _LARGEST // reach)
    left = length * _LEFT if length * reach >= _LONG else 0
    return sorted(n for n in some if least <= n <= most and length % n <= left)


def _registers(inner: Sequence[Dim], item: int, window: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where registers begin in a block, in bytes, and where the items of each lie in the source; the last is whole."""
    places = offsets(inner, "src")
    starts = np.minimum(np.arange(0, len(places), window // item), len(places) - window // item)
    return item * starts, places[starts[:, None] + np.arange(window // item)]


def _windows(inner: Sequence[Dim], item: int, window: int, most: float) -> float:
    """How many windows such a block takes, as its first registers do; 0 where that is too many.

    More than `most` for as many bytes as a line has, or than a table should hold.
    """
    _, places = _registers(inner, item, window)
    last = max(int(places.min()), int(places.max()) + item - window)
    looked_at = places[:_LOOKED_AT]
    limit = min(_WINDOWS, most * item * prod(d.length for d in inner) / LINE) * len(looked_at) / len(places)
    number = 0
    for row in looked_at.tolist():
        row.sort()
        at = 0
        while at < len(row):
            number += 1
            if number > limit:
                return 0
            at = bisect_right(row, min(row[at], last) + window - item, at)
    return number * len(places) / len(looked_at)


_LOOKED_AT = 4
"""Registers of a block that tell how many windows the others take, roughly: all of them would take some ms."""


def _made(inner: Sequence[Dim], cut: Dim, rest: Sequence[Dim], item: int, window: int) -> Block:
    """The block of some inner dimensions, the last of which was cut."""
    starts, registers = _registers(inner, item, window)
    low, high = int(registers.min()), int(registers.max()) + item
    last = max(low, high - window)
    steps, index = [], []
    for start, items in zip(starts, registers, strict=True):
        left = (items[:, None] + np.arange(item)).ravel()
        free = np.ones(window, bool)
        firsts = []
        while free.any():
            first = min(int(left[free].min()), last)
            here = free & (left <= first + (window - 1))
            firsts.append(first)
            index.append(np.where(here, left - first, NOT_HERE))
            free &= ~here
        steps += [start, len(firsts), *firsts]
    turns = inner[-1].length
    over = () if turns == cut.length else (Dim(cut.length // turns, cut.dst * turns, cut.src * turns),)
    places = (offsets(inner, "src")[:, None] + np.arange(item)).ravel()
    return Block(
        len(places), item, (*rest, *over), cut.length % turns, len(rest), low, max(high, low + window), len(starts),
        len(index), np.array(steps, np.int64), _on_line(np.array(index, np.uint8)), tuple(inner), places,
    )  # fmt: skip


def _on_line(table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The same table in memory that begins with a line."""
    memory = np.empty(table.size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    held = memory[start : start + table.size].reshape(table.shape)
    held[:] = table
    return held
