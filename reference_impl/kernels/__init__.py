"""Strided copies: kernels that are compiled where they pay, NumPy for what is small.

Importing this is cheap: kernels are loaded by the first copy that is large, or when one is asked for by name, and Numba
only where one must be compiled.
"""

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .plans import Plan

_engine: Any = None
_threads = 1

_SMALL = 4096
"""Bytes below which the call into a kernel costs more than the copy."""
_WORTH_LOADING = 1 << 16
"""Bytes from which on a copy loads kernels, and compiles those that this machine has not compiled yet."""
_PATIENCE = 1 << 26
"""Bytes that smaller copies move by NumPy before they load kernels: about as long as loading takes."""
_moved = 0
_KNOWN = 4096
"""Pairs of layouts that are remembered."""
_enter: Any = lambda dst, src: False  # noqa: E731
"""Copies between layouts that it knows, and answers whether it did: machine code, once kernels are loaded."""
_known: dict[Any, Any] = {}
"""What copies between two layouts, by shapes, strides and dtypes; False where NumPy does."""


def strided_copy(dst: npt.NDArray[Any], src: npt.NDArray[Any], threads: int | None = None) -> None:
    """Copy elements between arrays of equal shape and dtype, whatever their strides.

    Shapes: `dst.shape == src.shape`. Arrays that overlap in memory are copied as if `src` were read first. Bit for bit:
    no element is read as a number. `threads` stands in for the number given to `set_threads`.
    Raises: ValueError where shapes differ, `dst` cannot be written or `threads` is below 1, TypeError where dtypes
    differ or `threads` is no whole number.

    >>> import numpy as np
    >>> a = np.zeros((3, 2)).T
    >>> strided_copy(a, np.arange(6.0).reshape(2, 3))
    >>> a.tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    global _moved
    if threads is None:
        threads = _threads
    elif index(threads) < 1:
        raise ValueError(f"strided_copy: {threads} threads, should be at least 1")
    nbytes = dst.nbytes
    if nbytes < _SMALL:
        # An assignment, not np.copyto: the same loop, a tenth of a microsecond sooner.
        if dst.shape != src.shape or dst.dtype is not src.dtype:
            _check(dst, src)
        if dst.ndim == 1 and dst.strides != src.strides:  # asked here, too: a call takes as long as such a copy
            src = _read_first(dst, src)
        dst[...] = src
        return
    if threads == 1 and _enter(dst, src):
        return
    ready = _known.get((dst.shape, dst.strides, src.shape, src.strides, dst.dtype, src.dtype))
    if ready is None:
        _check(dst, src)
        _moved += nbytes
        if _engine is not None or nbytes >= _WORTH_LOADING or _moved >= _PATIENCE:
            ready = _remembered(dst, src)
    if not ready or not dst.flags.writeable:
        dst[...] = _read_first(dst, src)
        return
    cell = _engine.cell
    answer = ready(cell(dst), cell(src), threads)
    if answer:
        _engine.copy_otherwise(dst, src, answer, threads)


def _read_first(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The source, or a copy of it where NumPy would read what it has written.

    That is of one dimension, with steps that differ; for all others NumPy itself makes one.
    """
    overlaps = dst.ndim == 1 and dst.strides != src.strides and np.may_share_memory(dst, src)
    return src.copy() if overlaps else src


def _check(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> None:
    if dst.shape != src.shape:
        raise ValueError(f"strided_copy: shapes differ: {dst.shape} and {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"strided_copy: dtypes differ: {dst.dtype} and {src.dtype}")


def _remembered(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> Any:
    # To compile a kernel takes a second, a small copy a microsecond.
    compiles = dst.nbytes >= _WORTH_LOADING
    ready: Any = (_engine or _loaded()).prepared(dst, src, compiles) or False
    if len(_known) >= _KNOWN:
        _known.clear()
    if ready:
        _engine.table.add(dst, src, ready.told())
    _known[dst.shape, dst.strides, src.shape, src.strides, dst.dtype, src.dtype] = ready
    return ready


def set_threads(threads: int) -> None:
    """Let copies and arithmetic use that many threads where they are large; 1 at the start.

    Raises: ValueError below 1, TypeError for what is no whole number.
    """
    global _threads
    if index(threads) < 1:
        raise ValueError(f"set_threads: {threads} threads, should be at least 1")
    _threads = threads


def get_threads() -> int:
    """How many threads large copies and operations use."""
    return _threads


def plan(dst: npt.NDArray[Any], src: npt.NDArray[Any]) -> "Plan":
    """How `strided_copy` copies between two arrays; `plan(…).explain()` says it in words.

    Raises: ValueError where shapes or item sizes differ, where there is no element, or where the target may be written
    twice in one place.
    """
    result: Plan = _loaded().planned(dst, src)
    return result


def _loaded() -> Any:
    global _engine, _enter
    from . import engine

    _engine, _enter = engine, engine.enter
    return engine
