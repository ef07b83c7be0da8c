"""Elements of tensors as bytes: gathered by layout, compared where they are specified, shown as numbers."""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from stridecheck.reference_impl.layout import Layout
from stridecheck.reference_impl.shadow import EXACT, UNSPECIFIED, element_marks

from stridecheck import reference_impl

from .observation import StorageState, TensorState
from .program import ITEMSIZES, span

MAX_ELEMENTS = 1 << 20
"""Elements of one value that are compared; expanded tensors can have more than any memory."""
MAX_RANK = 64
"""NumPy's most dimensions, one of which the bytes of an element take."""

NUMPY_DTYPES = {name: np.dtype(name) for name in ITEMSIZES if hasattr(np, name)} | {
    name: np.dtype(getattr(ml_dtypes, name)) for name in ITEMSIZES if name.startswith(("bfloat", "float8"))
}
"""Dtypes whose elements are numbers; the others are compared and shown as bytes."""
_RTOL = {
    "float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "complex64": 4e-6, "float64": 1e-12, "complex128": 1e-12,
}  # fmt: skip
"""Tolerance of numbers that PyTorch does not specify to the bit: of the number itself, and of the tensor's largest.

Sums of products lose digits by cancellation, so a small element is no better known than the largest beside it.
"""


def elements(state: TensorState, storages: Mapping[str, StorageState]) -> NDArray[np.uint8] | None:
    """Elements of a tensor as rows of bytes, row-major; None where they cannot be known or are too many."""
    itemsize = ITEMSIZES.get(state.dtype)
    if itemsize is None:
        return None
    if state.data is not None:
        return np.frombuffer(state.data, np.uint8).reshape(-1, itemsize)
    if state.storage is None or state.storage not in storages or state.strides is None or state.offset is None:
        return None
    return gather(storages[state.storage].data, state, itemsize)


def gather(data: bytes, state: TensorState, itemsize: int) -> NDArray[np.uint8] | None:
    """The bytes that a layout addresses, one row an element; None where it reaches outside `data` or is too large."""
    assert state.strides is not None
    assert state.offset is not None
    if 0 in state.shape:
        return np.empty((0, itemsize), np.uint8)
    numel = 1
    for size in state.shape:
        numel *= size
    low, high = span(state.shape, state.strides, state.offset)
    if numel > MAX_ELEMENTS or len(state.shape) >= MAX_RANK or low < 0 or high * itemsize > len(data):
        return None
    strides = tuple([s * itemsize for s in state.strides])
    view: NDArray[np.uint8] = np.ndarray(
        (*state.shape, itemsize), np.uint8, data, state.offset * itemsize, (*strides, 1)
    )
    return view.reshape(-1, itemsize)


def marks(state: TensorState, storages: Mapping[str, StorageState]) -> NDArray[np.uint8] | None:
    """Mark of each element (facts: `reference_impl.shadow`), None where all are exact."""
    content = storages.get(state.storage or "")
    if content is None or content.shadow is None:
        return None
    itemsize = ITEMSIZES.get(state.dtype)
    if state.strides is None or state.offset is None or itemsize is None:
        return None
    if gather(content.shadow, state, itemsize) is None:
        return None
    layout = Layout(state.shape, state.strides, state.offset)
    return element_marks(np.frombuffer(content.shadow, np.uint8), layout, getattr(reference_impl, state.dtype)).ravel()


def differing(
    dtype: str, ours: NDArray[np.uint8], theirs: NDArray[np.uint8], shadow: NDArray[np.uint8] | None
) -> NDArray[np.bool_]:
    """Which elements differ: bytes where they are specified exactly, numbers where a tolerance is."""
    wrong: NDArray[np.bool_] = (ours != theirs).any(axis=1)
    if shadow is None or not wrong.any():
        return wrong
    wrong &= shadow != UNSPECIFIED
    loose = wrong & (shadow != EXACT)
    if loose.any():
        wrong[loose] = ~_close(dtype, ours, theirs)[loose]
    return wrong


def _close(dtype: str, ours: NDArray[np.uint8], theirs: NDArray[np.uint8]) -> NDArray[np.bool_]:
    kind = NUMPY_DTYPES.get(dtype)
    if kind is None:
        return np.zeros(len(ours), np.bool_)
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    with np.errstate(all="ignore"):
        a = np.ascontiguousarray(ours).view(kind)[:, 0].astype(wide)
        b = np.ascontiguousarray(theirs).view(kind)[:, 0].astype(wide)
        rtol = _RTOL.get(dtype, 0.0)
        largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        return np.isclose(b, a, rtol=rtol, atol=rtol * largest, equal_nan=True)


def differing_bytes(ours: StorageState, theirs: StorageState) -> NDArray[np.intp]:
    """Places of specified bytes that differ."""
    a, b = np.frombuffer(ours.data, np.uint8), np.frombuffer(theirs.data, np.uint8)
    wrong = a != b
    if ours.shadow is not None:
        wrong &= np.frombuffer(ours.shadow, np.uint8) == EXACT
    return np.flatnonzero(wrong)


def show(dtype: str, row: NDArray[np.uint8]) -> str:
    """One element as a number a reader understands."""
    kind = NUMPY_DTYPES.get(dtype)
    return row.tobytes().hex() if kind is None else str(np.ascontiguousarray(row).view(kind)[0])
