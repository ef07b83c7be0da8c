"""Pairs of arrays of one shape, laid out anyhow, the target between guard bytes."""

import ctypes
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

GUARD = 96
TYPES = {1: np.uint8, 2: np.float16, 4: np.float32, 8: np.float64, 16: np.complex128}


@dataclass(frozen=True)
class Side:
    """Order of dimensions in memory, a step for each (0 repeats, below 0 runs backwards), and where memory begins."""

    order: tuple[int, ...]
    steps: tuple[int, ...]
    offset: int

    def laid(self, shape: tuple[int, ...], dtype: Any, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
        """An array of that shape, and all the bytes around it; random where a seed is given."""
        lengths = [1 if step == 0 else n * abs(step) for n, step in zip(shape, self.steps, strict=True)]
        stored = tuple(lengths[d] for d in self.order)
        nbytes = prod(stored) * np.dtype(dtype).itemsize
        memory = np.full(nbytes + 2 * GUARD + 64 + self.offset, 0xA5, np.uint8)
        if seed is not None:
            memory[:] = np.random.default_rng(seed).integers(0, 256, memory.size, np.uint8)
        start = GUARD + (-(memory.ctypes.data + GUARD)) % 64 + self.offset
        array = np.ndarray(stored, dtype, memory, start).transpose(np.argsort(self.order))
        array = array[tuple(slice(None, None, step or 1) for step in self.steps)]
        return np.lib.stride_tricks.as_strided(
            array, shape, [0 if step == 0 else s for s, step in zip(array.strides, self.steps, strict=True)]
        ), memory


@dataclass(frozen=True)
class Pair:
    """What a copy is tried on."""

    itemsize: int
    shape: tuple[int, ...]
    dst: Side
    src: Side

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Host, source, and the target's memory."""
        dtype = TYPES[self.itemsize]
        target, memory = self.dst.laid(self.shape, dtype, None)
        return target, self.src.laid(self.shape, dtype, 7)[0], memory


@st.composite
def pairs(draw: st.DrawFn, most: int = 40_000, itemsizes: Sequence[int] = tuple(TYPES)) -> Pair:
    """Pairs of at most so many elements, of one of these sizes in bytes."""
    itemsize = draw(st.sampled_from(itemsizes))
    lengths = st.one_of(st.integers(1, 9), st.sampled_from([15, 16, 17, 27, 31, 32, 33, 64, 65, 100, 130, 256]))
    shape: list[int] = []
    for length in draw(st.lists(lengths, min_size=1, max_size=6)):
        if prod(shape) * length <= most:
            shape.append(length)
    ndim = len(shape)

    def side(steps: st.SearchStrategy[int]) -> Side:
        chosen = draw(st.lists(steps, min_size=ndim, max_size=ndim))
        return Side(
            tuple(draw(st.permutations(range(ndim)))), tuple(chosen), draw(st.sampled_from([0, 0, 1, 2, 8, 63]))
        )

    dst = side(st.sampled_from([1, 1, 1, 1, 2, -1]))
    src = side(st.sampled_from([1, 1, 1, 1, 2, 3, 4, 5, -1, -2, 0]))
    return Pair(itemsize, tuple(shape), dst, src)


def expected(target: np.ndarray, source: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """The memory around a target as NumPy leaves it; a copy between equal dtypes keeps all bits."""
    result = memory.copy()
    at = target.__array_interface__["data"][0] - memory.ctypes.data
    np.ndarray(target.shape, target.dtype, result, at, target.strides)[...] = source
    return result


needs_fences = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mprotect"), reason="no mprotect here to forbid pages with"
)


def fenced(nbytes: int, at_end: bool) -> np.ndarray:
    """Bytes that end before a page that may not be touched, or begin behind one."""
    page = mmap.PAGESIZE
    whole = -(-nbytes // page) * page
    memory = mmap.mmap(-1, whole + 2 * page)
    held = np.frombuffer(memory, np.uint8)
    for start in (0, page + whole):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(held.ctypes.data + start), page, 0) == 0
    first = page + (whole - nbytes if at_end else 0)
    return held[first : first + nbytes]
