"""What a kernel is told: a row of 8-byte integers, the same for all kernels.

A copy is an odometer of outer loops over *tiles*. A tile spans chunks of two dimensions: A, along which the source lies
closest together, and B, along which the target does; where these hold little, of a third, C. Where whole rows are
moved, A is the row itself and B counts rows. Each turn of the odometer is a task; threads share tasks.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LOOPS, A_LOOP, B_LOOP = 0, 1, 2
"""Number of loops; which of them goes over the chunks of A and of B, -1 for none."""
A_LENGTH, A_CHUNK, A_DST, A_SRC = 3, 4, 5, 6
B_LENGTH, B_CHUNK, B_DST, B_SRC = 7, 8, 9, 10
"""Length of the dimension, how much of it a tile spans, its strides in bytes."""
A_INNER, B_INNER, A_TABLE, B_TABLE = 11, 12, 13, 14
"""Rows of a tile for each step of the chunk; tables of rows' offsets in the target (A) and the source (B)."""
MODE, RUN, STRIDE = 15, 16, 17
"""Flags; number of streams that are woven, below 0 apart, or of blocks that follow each other in a row, or bytes of a
short run or a block; bytes between streams or items."""
IN_PITCH, OUT_PITCH, IN_BYTES, OUT_BYTES = 18, 19, 20, 21
"""Bytes from row to row in the buffers of a tile, and the buffers' sizes."""
IN_GROUP, OUT_GROUP = 22, 23
"""Rows of a tile that follow each other without a gap in the source, or in the target."""
DST_SHIFT, SRC_SHIFT, DST_LOW, DST_HIGH, SRC_LOW, SRC_HIGH = 24, 25, 26, 27, 28, 29
"""From the arrays' first elements to where the loops begin; from there to the ends of what they reach, in bytes."""
A_PITCH, B_PITCH = 30, 31
"""Bytes from one row of a tile to the next in the target (A) and the source (B); 0 where they are not evenly spaced."""
C_LOOP, C_LENGTH, C_CHUNK, C_DST, C_SRC = 32, 33, 34, 35, 36
"""The dimension C, of which a tile spans several turns where A and B are short, small matrices in a row: the loop over
its chunks, or -1; its length, how many turns a tile spans, its strides in bytes."""
A_SOURCES, A_GROUP, B_GROUP = 37, 38, 39
"""Table of where the rows of a tile of pieces lie in the source; how many rows, and pieces of a row, lie evenly spaced
there, STRIDE and B_PITCH from each other."""
REGISTERS, STEPS, INDEX, ASKS, ASKED, BLOCK_LOW, BLOCK_HIGH = 40, 41, 42, 43, 44, 45, 46
"""Of a block: its registers, 0 where runs are moved; the tables that tell what is picked where (`windows`); the one
of its lines in the source, and how many these are; from its first item to the first byte that is read and to behind the
last."""
JOINED, ORDER, ORDERED = 47, 48, 49
"""Bytes from a tile's rows in their buffer to where they are joined as they follow each other in the target, or 0; the
table of that order, and how many rows it has."""
FIRST_LOOP = 50
"""Where the loops begin, outermost first; each is a length and two strides, target then source, in bytes."""

STREAM, STAGE_IN, STAGE_OUT, NARROW, AHEAD, ALIGNED, CALLED, LINES, BY_ROWS = 1, 2, 4, 8, 16, 32, 64, 128, 256
ASK_OUT, ALIKE, PAIRS = 512, 1024, 2048
"""Flags of MODE: stores past the caches; tiles gathered into a buffer first, or written from one; registers of 16
bytes; asking for the next tile (of runs: for the next run's head) while this one is worked on, instead of for the rows
that come next; a target that must begin at a multiple of 64 bytes; runs that the C library copies; blocks of a line of
each target row by 16 bytes of the source's, and target rows that are written one after the other; asking for the next
tile while this one is written from a buffer; target rows of a tile within the caches that all begin at one place of
their lines, and are worth an aligned start; blocks two by two, so that two lines of a target row are stored past the
caches one after the other. BY_ROWS says of pieces that they are put together in the target's order."""

DONE, NEAR, MISALIGNED, NO_MEMORY = 0, 1, 2, 3
"""What a kernel answers: done; nothing done, since the two sides reach into one range of memory; nothing done, since
the target does not lie where the plan was made for; nothing done, since there is no memory for its buffers."""


class Loop(NamedTuple):
    """One loop of the odometer; `of` says whose chunks it goes over, if any."""

    length: int
    dst: int
    src: int
    of: str = ""


class Chunked(NamedTuple):
    """The dimension A, B or C of a tile: its length, the span of a tile, its strides in bytes."""

    length: int = 1
    chunk: int = 1
    dst: int = 0
    src: int = 0

    @property
    def loop_length(self) -> int:
        """Number of chunks, the last one perhaps shorter."""
        return -(-self.length // self.chunk)

    def loop(self, of: str) -> Loop:
        """The loop over the chunks."""
        return Loop(self.loop_length, self.dst * self.chunk, self.src * self.chunk, of)


ONE = Chunked()
"""A dimension that is none."""


def described(loops: Sequence[Loop], a: Chunked, b: Chunked, c: Chunked = ONE, **fields: int) -> npt.NDArray[np.int64]:
    """The row of integers; `fields` are the other entries by their lower-case names.

    >>> described([Loop(5, 12, 8)], ONE, ONE, run=4)[FIRST_LOOP:].tolist()
    [5, 12, 8]
    """
    row = np.zeros(FIRST_LOOP + 3 * len(loops), np.int64)
    row[LOOPS] = len(loops)
    row[A_LOOP] = row[B_LOOP] = row[C_LOOP] = -1
    for k, loop in enumerate(loops):
        row[FIRST_LOOP + 3 * k : FIRST_LOOP + 3 * k + 3] = loop[:3]
        if loop.of:
            row[{"a": A_LOOP, "b": B_LOOP, "c": C_LOOP}[loop.of]] = k
    row[A_LENGTH : A_SRC + 1] = a
    row[B_LENGTH : B_SRC + 1] = b
    row[C_LENGTH : C_SRC + 1] = c
    row[A_INNER] = row[B_INNER] = row[IN_GROUP] = row[OUT_GROUP] = 1
    for name, value in fields.items():
        row[globals()[name.upper()]] = value
    return row
