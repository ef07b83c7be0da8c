"""Which tiles transposes take past the caches with registers of half a line."""

import math
from dataclasses import replace

import numpy as np
import pytest
from stridecheck.reference_impl import kernels
from stridecheck.reference_impl.kernels import machine
from stridecheck.reference_impl.kernels.descriptor import (
    A_CHUNK,
    A_INNER,
    B_CHUNK,
    B_INNER,
    BY_ROWS,
    IN_BYTES,
    LINES,
    MODE,
    OUT_BYTES,
    STAGE_IN,
    STAGE_OUT,
)
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Host

HALVES = Host(width=32, first_bytes=32 << 10)


@pytest.mark.parametrize(
    ("dims", "mode", "staged"),
    [
        (((3968, 3968), (15872, 4), (4, 15872)), LINES | BY_ROWS, 0),
        # A line of each target row, unless they are a multiple of 512 bytes apart: then two, one after the other.
        (((64, 784, 240), (752640, 960, 4), (752640, 4, 3136)), LINES, 0),
        (((80, 784, 256), (802816, 1024, 4), (802816, 4, 3136)), LINES | BY_ROWS, 0),
        # Rows of the target fall into few sets of the first-level cache: pieces of them are written from a buffer.
        (((79, 64, 4096), (1048576, 16384, 4), (1048576, 4, 256)), 0, STAGE_OUT),
        # So do rows of both sides here, of four dimensions.
        (((64, 64, 64, 64), (1048576, 16384, 256, 4), (4, 256, 16384, 1048576)), 0, STAGE_OUT),
        # What follows in the source makes a tile, whose lines the first-level cache keeps for all target rows, or not.
        (((79, 64, 3136), (802816, 12544, 4), (802816, 4, 256)), LINES | BY_ROWS, 0),
        (((39, 512, 784), (1605632, 3136, 4), (1605632, 4, 2048)), LINES, 0),
        # Short rows of the target need no tile of whole ones.
        (((79, 3136, 64), (802816, 256, 4), (802816, 4, 12544)), LINES, 0),
        # Lines that target rows share would be streamed in part.
        (((4001, 4001), (16004, 4), (4, 16004)), 0, STAGE_OUT),
        # Rows of target and source that are short, and lie apart.
        (((6, 4_000_000), (16_000_000, 4), (4, 60)), None, 0),
    ],
)  # fmt: skip
def test_registers_of_half_a_line_store_whole_lines_straight_from_memory(dims, mode, staged):
    plan = plan_for(normal(*dims, 4), HALVES)
    assert (plan.kernel, plan.staged) == ("items" if mode is None else "transpose", staged)
    assert plan.streamed == (mode is not None)
    assert mode is None or plan.descriptor[MODE] & (LINES | BY_ROWS) == mode


@pytest.mark.parametrize(("columns", "itemsize"), [(20, 4), (100, 2), (7, 8)])
def test_rows_that_follow_each_other_are_read_through(columns, itemsize):
    """No tile ends within a row: what is left of it would be a tile of its own, narrower than a block."""
    rows = 2_000_000
    dims = (columns, rows), (rows * itemsize, itemsize), (itemsize, columns * itemsize)
    plan = plan_for(normal(*dims, itemsize), HALVES)
    assert plan.descriptor[A_CHUNK] == columns
    assert plan.descriptor[B_CHUNK] * itemsize % 64 == 0
    assert (plan.staged, plan.descriptor[MODE] & LINES) == (0, LINES)


@pytest.mark.parametrize(("shape", "itemsize"), [((2001, 64, 513), 1), ((1001, 64, 257), 2), ((501, 48, 513), 4)])
def test_rows_through_several_dimensions_make_no_huge_tile(shape, itemsize):
    """Only 64 times an odd number of bytes is a whole number of lines: then a tile ends within one."""
    a, b, c = shape
    dst, src = (b * a * itemsize, a * itemsize, itemsize), (itemsize, c * itemsize, b * c * itemsize)
    plan = plan_for(normal((c, b, a), dst, src, itemsize), HALVES)
    assert plan.descriptor[IN_BYTES] + plan.descriptor[OUT_BYTES] < 4 << 20
    assert plan.tasks >= 64


def test_where_arrays_begin_is_looked_at(monkeypatch):
    """NumPy's large ones begin at 16: each piece of a line of a source row lies on two."""
    monkeypatch.setattr(machine, "host", lambda: HALVES)
    src = np.empty(5600 * 5600 * 2 + 128, np.uint8)
    start = -src.ctypes.data % 64 + 16
    src = src[start : start + 5600 * 5600 * 2].view(np.int16).reshape(5600, 5600)
    dst = np.empty(5600 * 5600 * 2 + 64, np.uint8)
    dst = dst[-dst.ctypes.data % 64 :][: src.nbytes].view(np.int16).reshape(5600, 5600)
    assert kernels.plan(dst, src.T).descriptor[A_CHUNK] * 2 == 128


@pytest.mark.parametrize(
    ("itemsize", "shape", "phase", "tile", "mode"),
    [
        # Sixteen source rows, and whole lines of the target: of one row, of some, or some of a row.
        (4, (3000, 3056), 0, (256, 64), LINES),
        (8, (3000, 3056), 0, (256, 128), LINES),
        (16, (3000, 3056), 0, (256, 256), LINES),
        (4, (3000, 48, 4), 0, (256, 64), LINES),
        # Rows of the target 512 bytes, or a multiple, apart, among those of a block: two lines of each.
        (4, (3000, 128), 0, (256, 128), LINES | BY_ROWS),
        (8, (3000, 128), 0, (256, 128), LINES | BY_ROWS),
        # So many of them in one set of the first-level cache that their lines would wait.
        (4, (3000, 1024), 0, (512, 512), STAGE_OUT),
        (8, (3000, 512), 0, (512, 1024), STAGE_OUT),
        # Lines of the target that hold parts of several rows: longer pieces.
        (8, (3000, 16, 20), 0, (512, 960), LINES),
        (4, (3000, 16, 3), 0, (512, 192), LINES),
        # Rows that begin anywhere in a line; a source whose rows crowd.
        (4, (3000, 3050), 0, (256, 4096), STAGE_OUT),
        (4, (65536, 480), 16, (512, 1920), STAGE_OUT),
        (2, (5664, 3000), 0, (128, 2048), STAGE_OUT),
        (1, (5696, 3000), 0, (64, 1536), STAGE_OUT),
        # Small items: a line of long source rows, more of short target rows and of pieces that share lines.
        (2, (5664, 3008), 0, (64, 1024), LINES),
        (2, (5664, 160), 0, (512, 320), LINES),
        (2, (5648, 3008), 0, (512, 2048), LINES),
        # Their lines in the target wait for each other, or are gone.
        (2, (5664, 1024), 0, (64, 512), LINES | STAGE_OUT),
        (1, (5696, 2048), 0, (64, 512), LINES | STAGE_OUT),
        (2, (5648, 1024), 0, (512, 512), STAGE_OUT),
        # Lines of the source are gone, from the second level, too, unless rows are few or of bytes.
        (1, (16384, 3008), 0, (64, 512), STAGE_OUT),
        (2, (65536, 3008), 0, (512, 512), STAGE_OUT),
        (2, (65536, 32), 0, (64, 64), STAGE_OUT),
        (2, (65536, 64), 0, (512, 128), STAGE_OUT),
    ],
)
def test_what_a_tile_takes_of_both_sides(itemsize, shape, phase, tile, mode):
    plan = transposed(itemsize, shape, dst_phase=phase)
    d = plan.descriptor
    found = d[A_CHUNK] * d[A_INNER] * itemsize, d[B_CHUNK] * d[B_INNER] * itemsize
    assert found == tile
    assert d[MODE] & (LINES | BY_ROWS | STAGE_IN | STAGE_OUT) == mode


@pytest.mark.parametrize(("columns", "aligned", "within"), [(3008, 64, 128), (1024, 64, 512)])
def test_a_source_that_begins_within_a_line_is_read_in_longer_pieces(columns, aligned, within):
    tiles = [transposed(2, (5664, columns), src_phase=phase).descriptor for phase in (0, 16)]
    assert [int(d[A_CHUNK]) * 2 for d in tiles] == [aligned, within]


def transposed(itemsize, shape, **phases):
    """The plan of a copy that makes a source's last dimension the target's first, and turns the others around."""
    rows, *columns = shape
    steps = [rows * itemsize * math.prod(columns[:k]) for k in range(len(columns))]
    dst = [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]
    form = normal(shape, dst, (itemsize, *steps), itemsize)
    return plan_for(form, replace(HALVES, cache_bytes=0, **phases))


@pytest.mark.parametrize(
    ("rows", "columns", "itemsize", "phase", "tile"),
    [
        (512, 65536, 2, 0, (512, 512)),
        (4096, 65536, 1, 0, (1024, 1024)),
        (24, 100_000, 4, 0, (1024, 24 * 4)),  # rows that share no set
        (32, 229_376, 2, 0, (64, 32 * 2)),  # few rows: the second-level cache keeps them
        (64, 262_144, 1, 16, (1024, 64)),
        (1536, 24_576, 1, 16, (1024, 512)),
    ],
)
def test_rows_that_crowd_the_second_level_cache_are_read_in_long_pieces(rows, columns, itemsize, phase, tile):
    form = normal((columns, rows), (rows * itemsize, itemsize), (itemsize, columns * itemsize), itemsize)
    plan = plan_for(form, replace(HALVES, dst_phase=phase, src_phase=phase))
    assert (plan.descriptor[A_CHUNK] * itemsize, plan.descriptor[B_CHUNK] * itemsize) == tile
    assert bool(plan.staged & STAGE_IN) == (itemsize == 1)
