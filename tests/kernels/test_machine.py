"""What is known of the machine, and what plans make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from llvmlite import binding
from stridecheck.reference_impl.kernels import machine
from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, B_CHUNK
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Host

LARGE = Host(width=64, cache_bytes=20 << 20, first_bytes=48 << 10)
SMALL = replace(LARGE, first_bytes=32 << 10)


def test_caches_are_read_from_the_system(tmp_path):
    """The first level for data, not the one for instructions; what cannot be read is passed over."""
    for index, (level, kind, size) in enumerate(((1, "Data", "48K"), (1, "Instruction", "64K"), (3, "Unified", "32M"))):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "index7").mkdir()
    assert machine.first_bytes.__wrapped__(tmp_path) == 48 << 10
    assert machine.kept_bytes.__wrapped__(tmp_path) == 20 << 20
    assert machine.first_bytes.__wrapped__(tmp_path / "nothing") == 32 << 10


def test_intels_third_level_is_not_counted_on(tmp_path, monkeypatch):
    """It is the whole package's, and slower than memory that is written past it: half of the second stands for it."""
    monkeypatch.setattr(machine, "is_intel", lambda: True)
    for level, size in ((1, "48K"), (2, "2048K"), (3, "266240K")):
        folder = tmp_path / f"index{level}"
        folder.mkdir()
        for name, text in (("level", level), ("type", "Unified"), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    assert machine.kept_bytes.__wrapped__(tmp_path) == 3 << 20


@pytest.mark.parametrize(
    ("shape", "dst", "src", "tile"),
    [
        ((4096, 4096), (16384, 4), (4, 16384), (512, 256)),
        ((4000, 4004), (16016, 4), (4, 16000), (256, 4096)),
        ((500, 500), (2000, 4), (4, 2000), (128, 2048)),
    ],
    ids=["rows of whole lines", "rows that share lines", "within the caches"],
)
def test_tiles_on_intel(shape, dst, src, tile):
    """Bytes of a source row and of a target row in a tile."""
    plan = plan_for(normal(shape, dst, src, 4), replace(LARGE, intel=True, cache_bytes=3 << 20))
    assert plan.kernel == "transpose"
    assert plan.descriptor[A_CHUNK] * 4 <= tile[0] < 2 * plan.descriptor[A_CHUNK] * 4
    assert plan.descriptor[B_CHUNK] * 4 <= tile[1] < 2 * plan.descriptor[B_CHUNK] * 4


@pytest.mark.parametrize(("host", "nbytes"), [(LARGE, 8 << 10), (SMALL, 8 << 10)])
def test_a_tile_leaves_room_in_the_first_level_cache(host, nbytes):
    """Lines of source rows times target rows: a sixth of 48 KB, and a quarter of 32 KB."""
    form = normal((4000, 4096), (16384, 4), (4, 16064), 4)
    plan = plan_for(form, host)
    assert plan.kernel == "transpose"
    assert plan.descriptor[A_CHUNK] * plan.descriptor[B_CHUNK] * 4 == nbytes


@pytest.mark.parametrize(("width", "is_streamed"), [(4096, True), (4100, False)])
def test_a_fill_whose_rows_share_lines_stays_in_the_caches_where_the_first_is_small(width, is_streamed):
    """Rows of whole lines are streamed on either; those that share lines only where that was ahead."""
    form = normal((12_000, width), (width * 2, 2), (2, 0), 2)
    assert plan_for(form, LARGE).streamed
    assert plan_for(form, SMALL).streamed is is_streamed


@pytest.mark.parametrize(
    ("rows", "run", "is_streamed"),
    [(9000, 0, False), (11_000, 0, True), (6000, 2, False), (9000, 2, True)],
    ids=["72 MB of items", "88 MB of items", "48 MB of runs", "72 MB of runs"],
)
def test_what_is_written_and_hardly_read_stays_in_the_caches_for_longer_where_the_first_is_small(
    rows, run, is_streamed
):
    """One item for each row, or each row the same run of 200 bytes again and again."""
    form = normal((rows, 40, 100), (8000, 200, 2), (2 * (run == 0), 0, run), 2)
    assert plan_for(form, LARGE).streamed
    assert plan_for(form, SMALL).streamed is is_streamed


AVX512 = {"avx2": True, "avx512f": True, "avx512bw": True, "avx512vl": True, "avx512dq": True}


@pytest.mark.parametrize(
    ("features", "intel", "first_kb", "is_abreast"),
    [
        ({"avx2": True}, False, 32, True),
        ({"avx2": True, "vaes": True}, False, 32, False),
        (AVX512, False, 32, True),
        (AVX512, False, 48, True),
        (AVX512, True, 32, True),
    ],
    ids=["family 23", "family 25", "family 25 with AVX-512", "family 26", "Intel with AVX-512"],
)
def test_long_runs_are_copied_abreast_on_old_processors_and_on_new_ones(
    features, intel, first_kb, is_abreast, monkeypatch
):
    """Old ones are told by what they lack."""
    monkeypatch.setattr(machine, "is_intel", lambda: intel)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(machine, "first_bytes", lambda: first_kb << 10)
    monkeypatch.setattr(machine, "vector_bytes", machine.vector_bytes.__wrapped__)
    assert machine.goes_abreast.__wrapped__() is is_abreast
