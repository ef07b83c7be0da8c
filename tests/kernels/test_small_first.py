"""Which tiles transposes take past the caches with registers of a line and a first-level cache of 32 KB."""

from dataclasses import replace

import pytest
from stridecheck.reference_impl.kernels.descriptor import LINES, MODE, PAIRS, STAGE_IN, STAGE_OUT
from stridecheck.reference_impl.kernels.plans import Host

from .tiling import planned

SMALL_FIRST = Host(width=64, first_bytes=32 << 10)


@pytest.mark.parametrize(
    ("rows", "row", "itemsize", "taken"),
    [
        (40, 320, 2, 320),  # a line more than a tile takes
        (40, 384, 2, 192),  # two lines more: two tiles
        (40, 448, 2, 256),  # not in two of whole lines each: as near to it as may be
        (148, 384, 1, 128),
        (34, 640, 4, 256),
        (22, 768, 8, 384),
        (22, 640, 8, 640),
        (40, 1024, 2, 256),
        (40, 96, 2, 96),  # no whole lines
    ],
)
def test_no_scrap_of_a_source_row_is_left(rows, row, itemsize, taken):
    """What is left would be a tile of its own, which takes as long as a larger one; target rows begin anywhere."""
    a_bytes, b_bytes, plan = planned((4000, rows, row // itemsize), (0, 2, 1), itemsize, SMALL_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (taken, rows * itemsize, STAGE_OUT)


@pytest.mark.parametrize(
    ("rows", "apart", "itemsize", "taken"),
    [
        (30, 104, 4, 256),
        (30, 128, 4, 64),  # 128 KB apart: all fall into one set of the second-level cache
        (61, 104, 2, 256),
        (61, 128, 2, 64),
        (122, 128, 1, 256),  # more of them than any cache keeps in a set
        (70, 128, 1, 128),
        (122, 104, 1, 128),
        (15, 128, 8, 512),
    ],
)
def test_short_rows_that_begin_anywhere_take_a_line_where_their_sources_crowd_a_cache(rows, apart, itemsize, taken):
    """Source rows of 1 KB, so many of them between two that follow each other in the target, as of attention's keys."""
    a_bytes, b_bytes, plan = planned((10, rows, apart, 1024 // itemsize), (0, 2, 3, 1), itemsize, SMALL_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (taken, rows * itemsize, STAGE_OUT)


@pytest.mark.parametrize(
    ("shape", "order", "itemsize", "tile"),
    [
        ((3968, 3968), (1, 0), 4, (64, 512)),
        ((512, 32768), (1, 0), 4, (1024, 128)),  # 128 KB apart: not even the last-level cache keeps a line of each
        ((512, 32768), (1, 0), 8, (1024, 128)),
        ((64, 64, 64, 64), (3, 2, 1, 0), 4, (1024, 128)),
        ((196608, 100), (1, 0), 4, (400, 128)),  # source rows that share lines
        ((131072, 300), (1, 0), 8, (1024, 128)),
        ((2816, 2816), (1, 0), 8, (512, 128)),  # 22 KB apart
        ((7936, 1000), (1, 0), 8, (64, 1024)),
        ((448, 229376), (1, 0), 4, (1024, 128)),
        ((50, 56, 229376), (2, 1, 0), 4, (128, 2000)),  # 50 items are three lines and an eighth: blocks fill none
    ],
)
def test_large_items_whose_lines_are_gone_too_soon_are_read_in_long_pieces(shape, order, itemsize, tile):
    a_bytes, b_bytes, plan = planned(shape, order, itemsize, SMALL_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, 0)
    assert bool(plan.descriptor[MODE] & PAIRS) == (tile[0] >= 256)


@pytest.mark.parametrize(
    ("shape", "itemsize", "tile", "lines"),
    [
        ((128, 327720), 1, (1024, 128), False),  # blocks fill lines of the target, source rows share theirs
        ((64, 327720), 2, (1024, 128), False),
        ((12, 128, 65544), 1, (1024, 384), True),  # blocks fill none: they are a line by 16 bytes
        ((12, 128, 65544), 2, (1024, 384), True),
        ((12, 128, 65600), 1, (1024, 384), True),  # bytes also where source rows are whole lines
        ((12, 128, 65600), 2, (64, 1008), False),
    ],
)
def test_small_items_whose_source_rows_share_lines(shape, itemsize, tile, lines):
    a_bytes, b_bytes, plan = planned(shape, tuple(reversed(range(len(shape)))), itemsize, SMALL_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, 0)
    assert bool(plan.descriptor[MODE] & LINES) == lines


@pytest.mark.parametrize(
    ("shape", "itemsize", "tile"),
    [
        ((90, 10000, 6), 4, (24, 576)),  # equal pieces of 40,000 bytes
        ((4000, 174, 6), 4, (24, 696)),  # 512 would leave a scrap
        ((30000, 40, 6), 4, (24, 160)),
        ((30000, 14, 15), 4, (60, 56)),  # less than a line of the target
        ((90, 9000, 5), 8, (40, 512)),
        ((90, 40000, 6), 2, (12, 256)),  # of small items more, or less, was no better
        ((90, 10000, 20), 4, (80, 128)),  # a line and more of each source row is moved by squares
    ],
)
def test_short_source_rows_are_gathered_for_few_lines_of_the_target(shape, itemsize, tile):
    """Few channels that come first: a source row is less than a line."""
    assert planned(shape, (0, 2, 1), itemsize, SMALL_FIRST)[:2] == tile


@pytest.mark.parametrize(
    ("shape", "itemsize", "tile", "staged"),
    [
        ((64, 262144), 1, (1024, 64), 0),
        ((96, 196608), 2, (1024, 128), 0),
        ((128, 128, 64, 64), 1, (256, 256), STAGE_IN),  # rows of the target crowd it, too
        ((12, 128, 32768), 2, (256, 240), STAGE_IN),  # blocks fill no lines of the target
    ],
)
def test_small_items_whose_sources_crowd_the_second_level_cache_are_not_gathered(shape, itemsize, tile, staged):
    a_bytes, b_bytes, plan = planned(shape, tuple(reversed(range(len(shape)))), itemsize, SMALL_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, staged)


@pytest.mark.parametrize("other", [Host(), Host(intel=True), Host(width=32, first_bytes=32 << 10)])
def test_other_processors_and_what_the_caches_keep_have_other_tiles(other):
    """Each rule is of that processor, past the caches."""
    for shape, order, itemsize in (
        ((4000, 40, 192), (0, 2, 1), 2),
        ((10, 61, 128, 512), (0, 2, 3, 1), 2),
        ((512, 32768), (1, 0), 4),
        ((2816, 2816), (1, 0), 8),
        ((90, 10000, 6), (0, 2, 1), 4),
        ((96, 196608), (1, 0), 2),
    ):
        tile = planned(shape, order, itemsize, SMALL_FIRST)[:2]
        assert planned(shape, order, itemsize, other)[:2] != tile, shape
        assert planned(shape, order, itemsize, replace(SMALL_FIRST, cache_bytes=1 << 40))[:2] != tile, shape
