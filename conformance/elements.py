"""Elements of tensors as bytes: gathered by layout, compared where they are specified, shown as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stridecheck.reference_impl.dtypes import ALL
from stridecheck.reference_impl.layout import Layout
from stridecheck.reference_impl.shadow import EXACT, UNSPECIFIED, element_marks

from stridecheck import reference_impl

from .layout import extent, row_major
from .observation import ForeignState, State, StorageObject, StorageState, TensorState
from .program import ITEMSIZES, PACKED, QUANTISED

MAX_ELEMENTS = 1 << 20
"""Elements of one value that are compared; expanded tensors can have more than any memory."""
MAX_RANK = 64
"""NumPy's most dimensions, one of which the bytes of an element take."""

NUMPY_DTYPES = {name: ALL[name].numpy for name in ITEMSIZES if ALL[name].category != "raw"}
"""Dtypes whose elements are numbers; the others are compared and shown as bytes."""
_RTOL = {
    "float16": 2e-3, "complex32": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "complex64": 4e-6, "float64": 1e-12,
    "complex128": 1e-12,
}  # fmt: skip
"""Tolerance of numbers that PyTorch does not specify to the bit: of the number itself, and of the tensor's largest.

Sums of products lose digits by cancellation, so a small element is no better known than the largest beside it.
"""
_SMALLEST = {"float64": 2.3e-308, "complex128": 2.3e-308}
"""Smallest normal number of what is computed in, if not float32: below it digits are lost whatever is done."""


def elements(state: State, storages: Mapping[str, StorageState]) -> NDArray[np.uint8] | None:
    """Elements of a value as rows of bytes, row-major; None where they cannot be known or are too many."""
    itemsize = itemsize_of(state)
    if itemsize is None or isinstance(state, StorageObject):
        return None
    if isinstance(state, TensorState) and state.data is not None:
        return np.frombuffer(state.data, np.uint8).reshape(-1, itemsize)
    content = storages.get(state.storage or "")
    return None if content is None else gather(content.data, state, itemsize)


def itemsize_of(state: State) -> int | None:
    """Bytes of an element; None where they are not known, or hold several."""
    if isinstance(state, ForeignState):
        return state.itemsize
    name = state.dtype or ""
    return None if name in PACKED else ITEMSIZES.get(name) or QUANTISED.get(name)


def gather(data: bytes, state: TensorState | ForeignState, itemsize: int) -> NDArray[np.uint8] | None:
    """The bytes that a layout addresses, one row an element; None where it reaches outside `data` or is too large."""
    if 0 in state.shape:
        return np.empty((0, itemsize), np.uint8)
    if state.offset is None or not can_be_seen(state.shape):
        return None
    if isinstance(state, ForeignState):
        strides, offset = state.strides, state.offset
        if strides is None:
            strides = row_major(state.shape, itemsize)
    elif state.strides is None:
        return None
    else:
        strides, offset = tuple([s * itemsize for s in state.strides]), state.offset * itemsize
    low, past = extent(state.shape, strides, offset)
    if low < 0 or past - 1 + itemsize > len(data):
        return None
    strides = reaching(state.shape, strides)
    view: NDArray[np.uint8] = np.ndarray((*state.shape, itemsize), np.uint8, data, offset, (*strides, 1))
    return view.reshape(-1, itemsize)


def can_be_seen(shape: Sequence[int]) -> bool:
    """Whether NumPy can show the bytes of a tensor of that shape, and they are not too many."""
    return min(shape, default=0) >= 0 and prod(shape) <= MAX_ELEMENTS and len(shape) < MAX_RANK


def reaching(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Strides, 0 where no element is reached by them: those may be larger than any that NumPy takes.

    >>> reaching((3, 1), (1, 2**70))
    (1, 0)
    """
    return tuple([stride if size > 1 else 0 for size, stride in zip(shape, strides, strict=True)])


def marks(state: State, storages: Mapping[str, StorageState]) -> NDArray[np.uint8] | None:
    """Mark of each element (facts: `reference_impl.shadow`), None where all are exact.

    Of a storage as a value each byte is an element. Foreign values do not say which of PyTorch's dtypes theirs is: what
    is not exact of them counts as unspecified.
    """
    content = storages.get(state.storage or "")
    if content is None or content.shadow is None:
        return None
    shadow = np.frombuffer(content.shadow, np.uint8)
    if isinstance(state, StorageObject):
        return shadow
    itemsize = itemsize_of(state)
    if itemsize is None:
        return np.full(1, UNSPECIFIED, np.uint8)
    rows = gather(content.shadow, state, itemsize)
    if rows is None:
        return None
    if isinstance(state, ForeignState) or state.dtype in QUANTISED:
        return np.where(rows.max(axis=1) == EXACT, np.uint8(EXACT), np.uint8(UNSPECIFIED))
    assert state.strides is not None
    assert state.offset is not None
    layout = Layout(state.shape, state.strides, state.offset)
    return element_marks(shadow, layout, getattr(reference_impl, state.dtype)).ravel()


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
    a, b = _numbers(dtype, ours), _numbers(dtype, theirs)
    if a is None or b is None:
        return np.zeros(len(ours), np.bool_)
    with np.errstate(all="ignore"):
        rtol = _RTOL.get(dtype, 0.0)
        largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        atol = max(rtol * largest, _SMALLEST.get(dtype, 1.2e-38))
        close: NDArray[np.bool_] = np.isclose(b, a, rtol=rtol, atol=atol, equal_nan=True)
        if np.iscomplexobj(a):
            # Beside an infinite part the other one is still a number.
            parts = [np.isclose(getattr(b, p), getattr(a, p), rtol=rtol, atol=atol) for p in ("real", "imag")]
            close |= parts[0] & parts[1]
        return close


def _numbers(dtype: str, rows: NDArray[np.uint8]) -> Any:
    """Elements in double precision, or None where they are no numbers."""
    plain = np.ascontiguousarray(rows)
    with np.errstate(all="ignore"):
        if dtype == "complex32":  # NumPy has none: pairs of float16
            return plain.view(np.float16).astype(np.float64).view(np.complex128)[:, 0]
        kind = NUMPY_DTYPES.get(dtype)
        wide = np.complex128 if dtype.startswith("complex") else np.float64
        return None if kind is None else plain.view(kind)[:, 0].astype(wide)


def alike(ours: Mapping[str, StorageState], theirs: Mapping[str, StorageState]) -> bool:
    """Whether storages of the same names differ in nothing but bytes that nobody specifies."""
    return ours.keys() == theirs.keys() and all(
        one == theirs[name] or _is_alike(one, theirs[name]) for name, one in ours.items()
    )


def _is_alike(ours: StorageState, theirs: StorageState) -> bool:
    if ours.shadow is None or ours.home != theirs.home:
        return False
    return cleared(ours.data, ours.shadow) == cleared(theirs.data, ours.shadow)


def cleared(data: bytes, shadow: bytes) -> bytes:
    """Bytes with 0 in the place of those that nobody specifies; as they are where there are more or fewer than marks.

    >>> cleared(b"abc", bytes([0, UNSPECIFIED, 1]))
    b'a\\x00c'
    """
    if len(data) != len(shadow):
        return data
    # As numbers: for storages of some hundred bytes NumPy would take longer to be called.
    specified = int.from_bytes(shadow.translate(_SPECIFIED), "little")
    return (int.from_bytes(data, "little") & specified).to_bytes(len(data), "little")


_SPECIFIED = bytes([0 if mark == UNSPECIFIED else 255 for mark in range(256)])
"""For each mark of a byte, which of its bits count."""


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
    if dtype == "bool" and row[0] > 1:
        return f"True (byte {row[0]})"
    return row.tobytes().hex() if kind is None else str(np.ascontiguousarray(row).view(kind)[0])
