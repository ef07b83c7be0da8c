"""Numba kernels of the strided copy, compiled on first use and cached on disk.

Dimensions are merged and ordered first, so that one kernel of three loops over flat memory serves every layout; the two outer
ones are blocked, because a transposing copy otherwise touches a new cache line for every element.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

_WORDS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
_BLOCK = 64


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gather_2d(
    dst: Any, src: Any, d0: int, s0: int, n1: int, d1: int, t1: int, n2: int, d2: int, t2: int, block: int
) -> None:
    for i0 in range(0, n1, block):
        i_end = min(i0 + block, n1)
        for j0 in range(0, n2, block):
            j_end = min(j0 + block, n2)
            for i in range(i0, i_end):
                a = d0 + i * d1
                b = s0 + i * t1
                for j in range(j0, j_end):
                    dst[a + j * d2] = src[b + j * t2]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gather(
    dst: Any, src: Any, sizes: Any, d_strides: Any, s_strides: Any, d_start: int, s_start: int, block: int
) -> None:
    ndim = len(sizes)
    outer = 1
    for k in range(ndim - 2):
        outer *= sizes[k]
    for o in range(outer):
        rest = o
        a = d_start
        b = s_start
        for k in range(ndim - 3, -1, -1):
            i = rest % sizes[k]
            rest //= sizes[k]
            a += i * d_strides[k]
            b += i * s_strides[k]
        _gather_2d(
            dst, src, a, b, sizes[ndim - 2], d_strides[ndim - 2], s_strides[ndim - 2],
            sizes[ndim - 1], d_strides[ndim - 1], s_strides[ndim - 1], block,
        )  # fmt: skip


def _flat(a: npt.NDArray[Any], word: Any, itemsize: int) -> tuple[npt.NDArray[Any], int]:
    low = sum(s * (n - 1) for n, s in zip(a.shape, a.strides, strict=True) if s < 0)
    high = sum(s * (n - 1) for n, s in zip(a.shape, a.strides, strict=True) if s > 0)
    length = (high - low) // itemsize + 1
    first = a
    for d, s in enumerate(a.strides):
        if s < 0:
            first = np.flip(first, d)
    words = first.view(word) if first.ndim else first.reshape(1).view(word)
    flat = np.lib.stride_tricks.as_strided(words, (length,), (itemsize,))
    return flat, -low // itemsize


def _merged(dst: npt.NDArray[Any], src: npt.NDArray[Any], itemsize: int) -> list[tuple[int, int, int]]:
    dims = [
        (n, d // itemsize, s // itemsize) for n, d, s in zip(dst.shape, dst.strides, src.strides, strict=True) if n != 1
    ]
    dims.sort(key=lambda x: (-abs(x[1]), -abs(x[2])))
    merged: list[tuple[int, int, int]] = []
    for n, d, s in dims:
        if merged and merged[-1][1] == n * d and merged[-1][2] == n * s:
            merged[-1] = (merged[-1][0] * n, d, s)
        else:
            merged.append((n, d, s))
    while len(merged) < 2:
        merged.insert(0, (1, 0, 0))
    # The dimension in which the source steps least goes next to the one in which the target does: their plane is blocked.
    near = min(range(len(merged) - 1), key=lambda k: abs(merged[k][2]) if merged[k][0] > 1 else 1 << 62)
    if abs(merged[near][2]) < abs(merged[-1][2]):
        merged.insert(len(merged) - 2, merged.pop(near))
    return merged


def copy(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> None:
    """Copy elements between arrays of equal shape and item size that share no memory.

    Raises: KeyError for an item size that is no power of two up to 16 bytes.
    """
    itemsize = dst.dtype.itemsize
    word = _WORDS[itemsize]
    dims = np.array(_merged(dst, src, itemsize), np.int64)
    flat_dst, d_start = _flat(dst, word, itemsize)
    flat_src, s_start = _flat(src, word, itemsize)
    _gather(flat_dst, flat_src, dims[:, 0].copy(), dims[:, 1].copy(), dims[:, 2].copy(), d_start, s_start, _BLOCK)
