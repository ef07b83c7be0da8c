"""A source and a target that share memory: found exactly, copied as if the source were read first."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl.kernels import engine

from .copying import copied


def view(memory, shape, strides, offset):
    return np.ndarray(shape, np.uint16, memory, offset, strides)


@settings(max_examples=400, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(0, 200), st.integers(0, 200),
    st.lists(st.sampled_from([2, 4, 6, 80, 82, 160, -2, -80]), min_size=4, max_size=4),
)  # fmt: skip
def test_overlapping_arrays_are_copied_as_numpy_copies_them(rows, columns, to, at, strides):
    memory = np.random.default_rng(3).integers(0, 256, 40_000, np.uint8)
    twin = memory.copy()
    results = []
    for place in (memory, twin):
        dst = view(place, (rows, columns), (strides[0], strides[1]), 15_000 + to)
        src = view(place, (rows, columns), (strides[2], strides[3]), 15_000 + at)
        results.append((dst, src))
    (dst, src), (dst_twin, src_twin) = results
    dst_twin[...] = src_twin.copy() if _once(dst_twin) else src_twin
    copied(dst, src, 1)
    assert np.array_equal(memory, twin)


def _once(dst):
    return engine.normal(dst.shape, dst.strides, dst.strides, dst.itemsize).writes_once


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_square_is_transposed_in_place(threads):
    square = np.arange(600 * 600, dtype=np.float32).reshape(600, 600)
    wanted = square.T.copy()
    copied(square, square.T, threads)
    assert np.array_equal(square, wanted)


def test_interleaved_arrays_need_no_temporary(monkeypatch):
    memory = np.arange(2 * 300 * 300, dtype=np.float64).reshape(300, 300, 2)
    dst, src = memory[..., 0], memory[..., 1].T
    wanted = src.copy()
    asked = []
    monkeypatch.setattr(engine, "share_memory", lambda a, b: asked.append(np.shares_memory(a, b)) or asked[-1])
    copied(dst, src, 1)
    assert asked == [False]
    assert np.array_equal(dst, wanted)


def test_a_plan_that_looks_at_nothing_is_known_to_others_only_once_it_does_not(monkeypatch):
    memory = np.arange(2 * 310 * 300, dtype=np.float64).reshape(310, 300, 2)
    dst, src = memory[:300, :, 0], memory[:300, :, 1].T
    wanted, known = src.copy(), []
    look_at_nothing = engine.Ready.look_at_nothing
    monkeypatch.setattr(engine, "_elsewhere", {})
    monkeypatch.setattr(
        engine.Ready, "look_at_nothing", lambda self: known.append(len(engine._elsewhere)) or look_at_nothing(self)
    )
    copied(dst, src, 1)
    assert known == [0]
    assert np.array_equal(dst, wanted)


def test_a_target_that_repeats_an_element_is_left_to_numpy():
    memory = np.zeros(400, np.float32)
    dst = np.lib.stride_tricks.as_strided(memory, (100, 100), (4, 8))
    src = np.random.default_rng(4).random((100, 100), np.float32)
    twin = np.zeros(400, np.float32)
    np.lib.stride_tricks.as_strided(twin, (100, 100), (4, 8))[...] = src
    copied(dst, src, 1)
    assert np.array_equal(memory, twin)


_SMALL = """
import numpy as np
from stridecheck.reference_impl import kernels, strided_copy
for items in (100, 1000, 5000, 20_000):
    memory = np.arange(3.0 * items)
    dst, src = memory[items // 4 : items // 4 + items], memory[: 2 * items : 2]
    wanted = src.copy()
    strided_copy(dst, src)
    assert np.array_equal(dst, wanted), items
    assert (kernels._engine is None) == (items < 20_000)
memory = np.arange(900, dtype=np.uint8)
dst, src = np.ndarray(100, "u8", memory), np.ndarray(100, "u8", memory, 20, (0,))
wanted = src.copy()
strided_copy(dst, src)
assert np.array_equal(dst, wanted)
"""


def test_small_copies_are_so_before_kernels_are_loaded():
    """NumPy reads what it has written where both sides are of one dimension, with steps of one sign that differ."""
    subprocess.run([sys.executable, "-c", _SMALL], check=True)
