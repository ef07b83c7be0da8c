"""Which tiles transposes take past the caches with registers of a line and a first-level cache of 48 KB (family 26)."""

from dataclasses import replace

import pytest
from stridecheck.reference_impl.kernels.descriptor import BY_ROWS, LINES, MODE, PAIRS, STAGE_IN, STAGE_OUT
from stridecheck.reference_impl.kernels.plans import Host

from .tiling import planned

LARGE_FIRST = Host(width=64, first_bytes=48 << 10)
BACK = (0, 2, 1)


@pytest.mark.parametrize(
    ("shape", "order", "itemsize", "tile", "pairs"),
    [
        ((3968, 3968), (1, 0), 4, (256, 128), True),
        ((196608, 500), (1, 0), 4, (256, 128), True),  # source rows that share lines
        ((244, 4096, 16), BACK, 4, (64, 512), False),  # a source row is a line
        ((40, 4096, 300), BACK, 4, (256, 128), True),
        ((3000, 1088, 24), BACK, 4, (96, 512), False),
        ((3000, 112, 2048), BACK, 4, (256, 448), False),  # short rows of the target
        ((3968, 3968), (1, 0), 8, (256, 256), True),
        ((512, 32768), (1, 0), 8, (512, 256), True),  # 256 KB apart: the last-level cache keeps no lines of so many
        ((2000, 1024, 64), BACK, 8, (512, 256), True),  # a source row is as much
        ((2000, 1024, 72), BACK, 8, (256, 256), True),
    ],
)
def test_large_items_go_by_low_tiles(shape, order, itemsize, tile, pairs):
    a_bytes, b_bytes, plan = planned(shape, order, itemsize, LARGE_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, 0)
    assert bool(plan.descriptor[MODE] & PAIRS) == pairs


@pytest.mark.parametrize(
    ("shape", "itemsize", "tile", "lines", "pairs"),
    [
        ((50, 56, 229376), 4, (1024, 1600), False, False),
        ((50, 56, 229376), 8, (1024, 1600), False, True),
        ((12, 144, 65600), 1, (512, 1728), True, True),
        ((12, 144, 65600), 2, (512, 1920), True, True),
        ((12, 128, 65544), 1, (512, 960), True, False),  # source rows crowd the first-level cache
        ((12, 128, 65544), 2, (512, 960), True, False),
    ],
)
def test_where_target_rows_fill_no_lines_tiles_are_long_on_both_sides(shape, itemsize, tile, lines, pairs):
    """Nearest dimensions of 50 or 12 items, as many of the next one as make whole lines."""
    a_bytes, b_bytes, plan = planned(shape, (2, 1, 0), itemsize, LARGE_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, 0)
    mode = plan.descriptor[MODE]
    assert (bool(mode & LINES), bool(mode & PAIRS)) == (lines, pairs)


@pytest.mark.parametrize(
    ("shape", "itemsize", "gathered"),
    [
        ((64, 262144), 1, False),
        ((448, 65536), 1, False),
        ((512, 65536), 1, True),  # target rows 512 bytes apart lie in eight sets of the first level
        ((448, 65536), 2, False),
        ((256, 65536), 2, True),
        ((12, 128, 65536), 2, True),  # blocks fill no lines of the target
    ],
)
@pytest.mark.parametrize("cache_bytes", [20 << 20, 1 << 40])
def test_small_items_whose_sources_crowd_the_second_level_cache_are_not_gathered(
    shape, itemsize, gathered, cache_bytes
):  # fmt: skip
    """Past the caches and within them: tiles are one line of target rows wide."""
    order = tuple(reversed(range(len(shape))))
    a_bytes, b_bytes, plan = planned(shape, order, itemsize, replace(LARGE_FIRST, cache_bytes=cache_bytes))
    assert bool(plan.staged & STAGE_IN) == gathered
    assert gathered or (b_bytes == 64 and a_bytes >= 512)


@pytest.mark.parametrize(
    ("rows", "row", "itemsize", "tile", "lines"),
    [
        (1088, 2048, 2, (512, 64), False),  # 32 rows 2 KB apart lie in two sets of the first-level cache
        (1280, 2560, 2, (256, 128), True),  # in eight
        (32, 2048, 2, (256, 64), False),  # a target row is one line
        (96, 2048, 2, (512, 64), False),
        (1088, 3072, 2, (512, 64), False),  # in four
        (2048, 2048, 2, (128, 1024), False),  # rows of the target crowd that cache, too
        (1088, 2048, 1, (128, 1024), False),  # bytes
        (1280, 2176, 2, (64, 256), True),  # 64 rows in 32 sets: their lines stay until the next block asks for them
        (1280, 2240, 1, (64, 256), True),
        (1280, 2304, 2, (256, 128), True),
        (1280, 2304, 1, (256, 128), True),
        (1280, 2560, 1, (256, 128), True),
    ],
)
def test_small_items_go_by_squares_where_their_rows_crowd_the_first_level_cache(rows, row, itemsize, tile, lines):
    """Low ones of items of two bytes; else by blocks of a line by 16 bytes."""
    a_bytes, b_bytes, plan = planned((100, rows, row // itemsize), BACK, itemsize, LARGE_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, 0)
    assert bool(plan.descriptor[MODE] & LINES) == lines


@pytest.mark.parametrize(
    ("rows", "row", "itemsize", "tile"),
    [
        (1088, 2240, 1, (2240, 64)),  # target rows are 17 lines apart
        (1152, 2304, 1, (2304, 64)),  # 18
        (1088, 4160, 1, (64, 256)),  # source rows are too long
        (1088, 64, 1, (64, 1024)),  # too short
        (1056, 2176, 2, (2176, 64)),  # 33 lines
        (1296, 4000, 4, (4000, 64)),  # 81
        (1296, 4160, 4, (256, 128)),
        (1296, 4000, 8, (256, 256)),  # of eight bytes other tiles are as good
        (1280, 640, 1, (640, 256)),  # 20: four lines of each target row in turn
        (1280, 1088, 1, (64, 256)),  # source rows are too long for that
        (1280, 576, 2, (64, 256)),  # of two bytes other tiles are as good
        (1280, 800, 4, (800, 256)),
        (1280, 1024, 4, (256, 128)),  # source rows 1 KB apart lie in four sets
        (1280, 512, 4, (512, 256)),  # in eight, but the first-level cache holds a tile of them
        (1280, 256, 2, (256, 256)),
        (1280, 320, 2, (64, 256)),
    ],
)
def test_lines_that_are_stored_in_turn_lie_at_all_places_of_four(rows, row, itemsize, tile):
    a_bytes, b_bytes, plan = planned((100, rows, row // itemsize), BACK, itemsize, LARGE_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, 0)
    mode = plan.descriptor[MODE]
    assert bool(mode & BY_ROWS) == (tile == (row, 256))
    if b_bytes == 64:
        assert mode & LINES


@pytest.mark.parametrize(
    ("shape", "itemsize", "tile"),
    [
        ((90, 10000, 6), 4, (24, 832)),  # equal pieces of 40,000 bytes
        ((4000, 250, 6), 4, (24, 1000)),  # 768 would leave a scrap
        ((30000, 40, 6), 4, (24, 160)),
        ((90, 9000, 5), 8, (40, 768)),
        ((90, 40000, 6), 2, (12, 256)),  # of small items nothing was better by much
    ],
)
def test_short_source_rows_are_gathered_for_few_lines_of_the_target(shape, itemsize, tile):
    assert planned(shape, BACK, itemsize, LARGE_FIRST)[:2] == tile


@pytest.mark.parametrize(
    ("rows", "row", "itemsize", "taken"),
    [
        (40, 384, 2, 384),  # half as much again as a tile takes
        (40, 448, 2, 256),  # more: of small items in tiles that leave a scrap
        (148, 192, 1, 192),
        (148, 384, 1, 128),
        (34, 384, 4, 384),
        (34, 640, 4, 256),  # of large ones in parts as equal as whole lines may be
        (22, 576, 8, 192),
    ],
)
def test_no_scrap_of_a_source_row_is_left(rows, row, itemsize, taken):
    """Target rows begin anywhere in a line, and go through a buffer."""
    a_bytes, b_bytes, plan = planned((4000, rows, row // itemsize), BACK, itemsize, LARGE_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (taken, rows * itemsize, STAGE_OUT)


@pytest.mark.parametrize(
    ("rows", "itemsize", "tile"),
    [
        (3001, 1, (128, 3001)),
        (5001, 1, (128, 2048)),  # of small items shorter pieces of rows that are cut
        (2001, 2, (256, 4002)),
        (3001, 2, (256, 2048)),
        (9001, 4, (256, 4096)),
        (9001, 8, (256, 4096)),
    ],
)
def test_how_much_goes_through_a_buffer_where_target_rows_begin_anywhere(rows, itemsize, tile):
    a_bytes, b_bytes, plan = planned((20, rows, 1000), BACK, itemsize, LARGE_FIRST)
    assert (a_bytes, b_bytes, plan.staged) == (*tile, STAGE_OUT)


@pytest.mark.parametrize("other", [Host(intel=True), Host(first_bytes=32 << 10), Host(width=32)])
def test_other_processors_and_what_the_caches_keep_have_other_tiles(other):
    for shape, order, itemsize in (
        ((3968, 3968), (1, 0), 8),
        ((50, 56, 229376), (2, 1, 0), 4),
        ((12, 144, 65600), (2, 1, 0), 2),
        ((30, 1088, 1024), BACK, 2),
        ((90, 10000, 6), BACK, 4),
    ):
        tile = planned(shape, order, itemsize, LARGE_FIRST)[:2]
        assert planned(shape, order, itemsize, other)[:2] != tile, shape
        assert planned(shape, order, itemsize, replace(LARGE_FIRST, cache_bytes=1 << 40))[:2] != tile, shape
