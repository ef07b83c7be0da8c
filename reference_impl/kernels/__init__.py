"""Strided copies: Numba kernels for large arrays, NumPy for small ones."""

from typing import Any

import numpy as np
import numpy.typing as npt

_jit: Any = None

# Below this many elements the call into Numba costs more than the copy.
_SMALL = 1 << 14


def strided_copy(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> None:
    """Copy elements between arrays of equal shape and dtype, whatever their strides.

    Shapes: `dst.shape == src.shape`. Arrays that overlap in memory are copied as if `src` were read first.
    Raises: ValueError where shapes differ, TypeError where dtypes do.

    >>> a = np.zeros((3, 2)).T
    >>> strided_copy(a, np.arange(6.0).reshape(2, 3))
    >>> a.tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    if dst.shape != src.shape:
        raise ValueError(f"strided_copy: shapes differ: {dst.shape} and {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"strided_copy: dtypes differ: {dst.dtype} and {src.dtype}")
    if dst.size < _SMALL or _both_dense(dst, src) or dst.dtype.hasobject or not _kernel_fits(dst, src):
        np.copyto(dst, src)
        return
    global _jit
    if _jit is None:
        from . import jit

        _jit = jit
    _jit.copy(dst, src)


def _both_dense(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> bool:
    if dst.strides != src.strides:
        return False
    return dst.flags.forc


def _kernel_fits(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> bool:
    itemsize = dst.dtype.itemsize
    return (
        itemsize in (1, 2, 4, 8, 16)
        and dst.flags.aligned
        and src.flags.aligned
        and all(s % itemsize == 0 for s in dst.strides + src.strides)
        and not np.may_share_memory(dst, src)
    )
