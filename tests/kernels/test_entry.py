"""The way into a copy as machine code: it copies what the table knows, and leaves alone all else."""

import os
import subprocess
import sys
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from stridecheck.reference_impl import strided_copy
from stridecheck.reference_impl.kernels import engine, entry, machine
from stridecheck.reference_impl.kernels.plans import LINE

from .arrays import expected, pairs
from .copying import relaxed


def known(dst, src):
    ready = engine.prepared(dst, src)
    engine.table.add(dst, src, ready.told())
    return ready


@relaxed
@given(pairs())
def test_it_copies_the_same_bits(pair):
    dst, src, memory = pair.arrays()
    wanted = expected(dst, src, memory)
    ready = engine.prepared(dst, src) if dst.size else None
    if ready is not None:
        table = entry.Table()
        enter = entry.opened(table)
        assert not enter(dst, src)
        table.add(dst, src, ready.told())
        assert enter(dst, src)
        assert np.array_equal(memory, wanted)


def test_it_knows_what_it_was_told_and_nothing_else():
    dst, src = np.zeros((90, 70), np.float32), np.random.default_rng(0).random((70, 90), np.float32).T
    known(dst, src)
    assert engine.enter(dst, src) is True
    assert np.array_equal(dst, src)
    held = dst.copy()
    read_only = dst.copy()
    read_only.flags.writeable = False

    class Own(np.ndarray):
        pass

    for to, at in (
        (dst, src[::-1]), (dst, src[:-1]), (dst[:-1], src[:-1]), (dst, src.view(np.int32)), (read_only, src),
        (dst.T, src.T), (dst.view(Own), src), (dst, src.view(Own)), (dst, None), ("dst", src), (dst[None], src[None]),
        (dst.view(">f4"), src.view(">f4")),
    ):  # fmt: skip
        assert engine.enter(to, at) is False
    assert engine.enter(dst) is False
    assert engine.enter(dst, src, 1) is False
    assert np.array_equal(dst, held)


def test_layouts_that_share_a_slot_are_told_apart():
    table = entry.Table()
    enter = entry.opened(table)
    memory, target = np.arange(40_000, dtype=np.int64), np.zeros(40_000, np.int64)
    arrays = []
    for rows in range(2, 62):
        for columns in range(2, 62):
            src = memory[: rows * columns].reshape(columns, rows).T
            dst = target[: rows * columns].reshape(rows, columns)
            table.add(dst, src, engine.prepared(dst, src).told())
            arrays.append((dst, src))
    for dst, src in arrays:
        assert enter(dst, src)
        assert np.array_equal(dst, src)


def test_a_full_table_takes_no_more(monkeypatch):
    monkeypatch.setattr(entry, "_MOST", 1)
    table = entry.Table()
    enter = entry.opened(table)
    for n, taken in ((5, True), (6, False)):
        dst, src = np.zeros((n, 9)), np.ones((9, n)).T
        table.add(dst, src, engine.prepared(dst, src).told())
        assert enter(dst, src) is taken


def test_arrays_that_look_otherwise_are_left_alone(monkeypatch):
    monkeypatch.setattr(entry, "SHAPE", entry.STRIDES)
    assert entry.opened(entry.Table()) is None


def test_what_overlaps_is_decided_in_python():
    square = np.arange(300 * 300, dtype=np.float32).reshape(300, 300)
    known(square, square.T)
    wanted = square.T.copy()
    assert not engine.enter(square, square.T)
    strided_copy(square, square.T)
    assert np.array_equal(square, wanted)


@pytest.mark.parametrize("threads", [1, 2])
def test_past_the_caches_each_place_within_a_line_has_a_plan_of_its_own(monkeypatch, threads):
    """Runs of a line that are streamed to where they begin within one took seven times as long by the other plan."""
    host = replace(machine.host(), cache_bytes=1 << 20)
    monkeypatch.setattr(machine, "host", lambda: host)
    memory = np.zeros(1 << 22, np.uint8)
    src = np.random.default_rng(2).integers(0, 256, (31 + threads, 64, 16, 64), np.uint8).transpose(0, 2, 1, 3)
    plans = set()
    for _ in range(2):
        for phase in (0, 16, 48):
            start = -memory.ctypes.data % LINE + phase
            memory[:] = 7
            dst = memory[start : start + src.size].reshape(src.shape)
            strided_copy(dst, src, threads)
            assert np.array_equal(dst, src)
            assert (memory[:start] == 7).all()
            assert (memory[start + src.size :] == 7).all()
            dst[:] = 0
            assert engine.enter(dst, src)
            assert np.array_equal(dst, src)
            plans.add(engine.planned(dst, src).kernel)
    # The portable kernel copies item by item to anywhere.
    depends = machine.host().width > 0
    assert len(plans) == 1 + depends
    held = [phase for _, layout, phase in engine.table._held if [n for n, _, _ in layout] == [*src.shape]]
    assert sorted(held) == ([0, 16, 48] if depends else [-1])


def test_layouts_of_one_normal_form_are_all_known_wherever_they_begin(monkeypatch):
    host = replace(machine.host(), cache_bytes=1 << 20)
    monkeypatch.setattr(machine, "host", lambda: host)
    memory = np.zeros(1 << 21, np.uint8)
    start = -memory.ctypes.data % LINE
    src = np.random.default_rng(3).integers(0, 256, (7, 64, 16, 80), np.uint8).transpose(0, 2, 1, 3)
    for more in (src, src[None]):
        for phase in (0, 16):
            dst = memory[start + phase :][: src.size].reshape(more.shape)
            strided_copy(dst, more)
            assert engine.enter(dst, more)


def test_what_is_near_elsewhere_within_a_line_leaves_no_plan_that_looks_at_nothing(monkeypatch):
    """A plan for what reaches into the same range, but shares no byte, is no other copy's."""
    host = replace(machine.host(), cache_bytes=1 << 16)
    monkeypatch.setattr(machine, "host", lambda: host)
    memory = np.random.default_rng(5).integers(0, 256, 1 << 21, np.uint8)
    start, shape = -memory.ctypes.data % LINE, (300, 10, 100)

    def at(first):
        return np.ndarray(shape, np.uint8, memory, start + first, (3000, 300, 1))

    far = np.random.default_rng(6).integers(0, 256, 1 << 20, np.uint8)
    apart = np.ndarray(shape, np.uint8, far, -far.ctypes.data % LINE, (3000, 300, 1))
    strided_copy(at(0), apart)
    for dst, src in ((at(16), at(150)), (at(16), apart), (at(16), at(66)), (at(16 + 64), at(20))):
        wanted = src.copy()
        strided_copy(dst, src)
        assert np.array_equal(dst, wanted)


@pytest.mark.parametrize("shape", [(300, 400), (2000, 1500)])
def test_threads_of_python_copy_side_by_side(shape):
    src = np.random.default_rng(1).random(shape).T
    targets = [np.zeros(src.shape) for _ in range(4)]
    known(targets[0], src)
    threads = [Thread(target=lambda dst=dst: [strided_copy(dst, src) for _ in range(5)]) for dst in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(dst, src) for dst in targets)


def test_many_copies_load_kernels_that_one_of_them_would_not():
    code = """
import numpy as np
from stridecheck.reference_impl import kernels, strided_copy
dst, src = np.zeros(48_000, np.uint8), np.arange(96_000, dtype=np.uint8)[::2]
strided_copy(dst, src)
assert kernels._engine is None
for _ in range((1 << 26) // dst.nbytes + 2):
    strided_copy(dst, src)
assert kernels._engine is not None
dst[:] = 0
strided_copy(dst, src)
assert np.array_equal(dst, src)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_small_copy_compiles_nothing(tmp_path):
    """NumPy copies what a kernel that is not on disk would; a large copy compiles it, for small ones of others, too."""
    code = """
import os, numpy as np
from stridecheck.reference_impl import kernels, strided_copy
large, folder = np.arange(90_000.0).reshape(300, 300), os.environ["NUMBA_CACHE_DIR"]
strided_copy(np.zeros(90_000), large.ravel())
assert kernels._engine is not None
def small(rows):
    dst, src = np.zeros((rows, 40)), large[:40, :rows].T
    strided_copy(dst, src)
    assert np.array_equal(dst, src)
before = os.listdir(folder)
small(30)
assert os.listdir(folder) == before
strided_copy(np.zeros((300, 300)), large.T)
assert len(os.listdir(folder)) > len(before)
small(31)
assert kernels._known[(31, 40), (320, 8), (31, 40), (8, 2400), large.dtype, large.dtype]
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
