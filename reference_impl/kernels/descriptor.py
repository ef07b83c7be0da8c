"""What a kernel is told: a row of 8-byte integers, the same for all kernels.

A copy is an odometer of outer loops over *tiles*. A tile spans chunks of two dimensions: A, along which the source lies
closest together, and B, along which the target does; where these hold little, of a third, C. Where whole rows are
moved, A is the row itself and B counts rows. Each turn of the odometer is a task; threads share tasks.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
"""Flags; bytes of a short run or a block; bytes between streams or items."""
STREAMS = ABREAST = RUN
"""The same entry for other kernels: how many streams are woven, below 0 apart; blocks of a row that are written in a
go."""
IN_PITCH, OUT_PITCH, IN_BYTES, OUT_BYTES = 18, 19, 20, 21
"""Bytes from row to row in the buffers of a tile, and the buffers' sizes."""
ASKED = IN_PITCH
"""The same entry for kernels without such a buffer: bytes in the source from what is copied to what is asked for
meanwhile; of rows that are picked 0 for what comes next in the row."""
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
REGISTERS, STEPS, INDEX, PREFETCHES, PREFETCHED, BLOCK_LOW, BLOCK_HIGH = 40, 41, 42, 43, 44, 45, 46
"""Of a block: its registers, 0 where runs are moved; the tables that tell what is picked where (`windows`); the one
of its lines in the source, and how many these are; from its first item to the first byte that is read and to behind the
last."""
JOINED, ORDER, ORDERED = 47, 48, 49
"""Bytes from a tile's rows in their buffer to where they are joined as they follow each other in the target, or 0; the
table of that order, and how many rows it has."""
PHASE = 50
"""Where within a line the loops begin in the target that the plan was made for; -1 for anywhere."""
FIRST_LOOP = 51
"""Where the loops begin, outermost first; each is a length and two strides, target then source, in bytes."""

STREAM = 1
"""A flag of MODE, as those that follow: whole lines of the target are stored past the caches."""
STAGE_IN, STAGE_OUT = 2, 4
"""A tile is gathered into a buffer first; it is written from one."""
NARROW = 8
"""Blocks are 16 bytes of each target row."""
AHEAD = 16
"""The next tile is prefetched while this one is worked on, not the rows that come next."""
NEXT_RUN = AHEAD
"""Of runs: the head of a later run is prefetched."""
CALLED = 32
"""Runs are copied, or rows of one byte filled, by the C library."""
LINES = 64
"""Blocks are a line of each target row by 16 bytes of the source's."""
BY_ROWS = 128
"""Target rows are finished one after the other."""
IN_ORDER = BY_ROWS
"""Of pieces: they are put together as they follow each other in the target."""
PREFETCH_OUT = 256
"""The next tile is prefetched while this one is written from a buffer."""
ALIKE = 512
"""Target rows of a tile within the caches all begin at one place of their lines, and are worth an aligned start."""
PAIRS = 1024
"""Blocks go two by two, so that two lines of a target row are stored past the caches one after the other."""
AGAIN = 2048
"""What is read has been written before: it lies in the target, not in the source."""

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


Field = int | npt.NDArray[Any]
"""An entry of a descriptor: a number, or a table, of which it is the address."""

ONE = Chunked()
"""A dimension that is none."""


def make_descriptor(
    loops: Sequence[Loop], a: Chunked, b: Chunked, c: Chunked = ONE, **fields: Field
) -> npt.NDArray[np.int64]:
    """The row of integers; `fields` are the other entries by their lower-case names.

    >>> make_descriptor([Loop(5, 12, 8)], ONE, ONE, run=4)[FIRST_LOOP:].tolist()
    [5, 12, 8]
    """
    descriptor = np.zeros(FIRST_LOOP + 3 * len(loops), np.int64)
    descriptor[LOOPS] = len(loops)
    descriptor[A_LOOP] = descriptor[B_LOOP] = descriptor[C_LOOP] = -1
    for k, loop in enumerate(loops):
        descriptor[FIRST_LOOP + 3 * k : FIRST_LOOP + 3 * k + 3] = loop[:3]
        if loop.of:
            descriptor[{"a": A_LOOP, "b": B_LOOP, "c": C_LOOP}[loop.of]] = k
    descriptor[A_LENGTH : A_SRC + 1] = a
    descriptor[B_LENGTH : B_SRC + 1] = b
    descriptor[C_LENGTH : C_SRC + 1] = c
    descriptor[PHASE] = -1
    descriptor[A_INNER] = descriptor[B_INNER] = descriptor[IN_GROUP] = descriptor[OUT_GROUP] = 1
    for name, value in fields.items():
        descriptor[globals()[name.upper()]] = value.ctypes.data if isinstance(value, np.ndarray) else value
    return descriptor
