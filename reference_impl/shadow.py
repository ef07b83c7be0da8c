"""Which bytes does PyTorch specify? A second array beside a storage, one mark for each byte.

`storage._shadow` is None while every byte is exact, else a uint8 array as long as the storage:

* 0: exact, compare the byte;
* 0x10 + k: part of a number whose value is specified within a tolerance only, of a complex one as a whole;
* 0x20 + k: part of a NaN, whose sign and payload are not specified;
* 255: unspecified (fresh or grown memory, order of overlapping writes, conversions that C leaves undefined).

k is the number of the dtype that wrote the bytes. Read under another dtype, such bytes say nothing,
so that `element_marks` calls them unspecified. Copies carry marks along; results computed from marked elements are
marked.
"""

from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from . import dtypes as dt
from .dtypes import dtype
from .layout import Layout

EXACT: Final = 0
TOLERANCE: Final = 1
NAN: Final = 2
UNSPECIFIED: Final = 255

# Bits of a tensor: its elements are the conjugates, or the negatives, of what lies in memory.
CONJ: Final = 1
NEG: Final = 2

Marks = npt.NDArray[np.uint8]
T = TypeVar("T")

_NUMBER: Final[dict[dtype, int]] = {
    dt.float16: 1, dt.bfloat16: 2, dt.float32: 3, dt.float64: 4, dt.complex32: 10, dt.complex64: 11, dt.complex128: 12,
    dt.float8_e4m3fn: 5, dt.float8_e4m3fnuz: 6, dt.float8_e5m2: 7, dt.float8_e5m2fnuz: 8, dt.float8_e8m0fnu: 9,
}  # fmt: skip


def _byte_view(shadow: Marks, layout: Layout, itemsize: int) -> Marks:
    shape, strides, offset = layout
    if 0 in shape:
        return np.zeros((*shape, itemsize), np.uint8)
    return np.ndarray(
        (*shape, itemsize),
        np.uint8,
        shadow.data,
        offset * itemsize,
        (*[s * itemsize for s in strides], 1),
    )


def element_marks(shadow: Marks, layout: Layout, dtype: dtype) -> Marks:
    """Mark of every element of a layout: EXACT, TOLERANCE, NAN or UNSPECIFIED, the worst of its bytes.

    Of what was overwritten in part nothing is known any more: neither a tolerance nor that it is a NaN.

    Shapes: the result has the layout's shape.

    >>> element_marks(np.array([0x13] * 4 + [0] * 4, np.uint8), Layout((2,), (1,)), dt.float32).tolist()
    [1, 0]
    >>> element_marks(np.array([0x13] * 4 + [0] * 4, np.uint8), Layout((2,), (1,)), dt.int32).tolist()
    [255, 0]
    >>> element_marks(np.array([0x13] * 3 + [0], np.uint8), Layout((1,), (1,)), dt.float32).tolist()
    [255]
    """
    rows = _byte_view(shadow, layout, dtype.itemsize)
    found: Marks = _read_as(dtype).take(rows.max(axis=-1))
    open_ = (found != EXACT) & (found != UNSPECIFIED)
    if open_.any():
        parts = rows.reshape(*layout.shape, -1, dtype.to_real().itemsize)
        torn = (parts.min(axis=-1) != parts.max(axis=-1)).any(axis=-1)
        found = np.where(open_ & torn, np.uint8(UNSPECIFIED), found)
    return found


@cache
def _read_as(d: dtype) -> Marks:
    """What each code of a byte means to who reads it under a dtype; shape (256,)."""
    # Where both parts are known within a tolerance, so is the complex number; not the other way round.
    numbers = {_NUMBER[part] for part in (d, d.to_real()) if part in _NUMBER}
    marks = [code >> 4 if code & 15 in numbers else UNSPECIFIED for code in range(256)]
    marks[EXACT] = EXACT
    return np.array(marks, np.uint8)


def marks_of(t: Any) -> Marks | None:
    """Marks of a tensor's elements, or None where all are exact."""
    shadow = t._storage._shadow
    if t._layout.span * t.dtype.itemsize > len(t._storage._bytes):
        return None  # who reads the elements finds that they are not there
    marks = None if shadow is None else element_marks(shadow, t._layout, t.dtype)
    if t._bits & NEG and t.dtype in _NEGATED_LOOSELY and 0 not in t._layout.shape and len(t._storage._bytes):
        shape, strides, offset = t._layout
        itemsize = t.dtype.itemsize
        steps = tuple([s * itemsize for s in strides])
        numbers = np.ndarray(shape, t.dtype.numpy, t._storage._bytes, offset * itemsize, steps)
        marks = loosen_negated(numbers, t.dtype, marks)
    return marks if marks is not None and marks.any() else None


def loosen_negated(numbers: Any, d: dtype, marks: Marks | None) -> Marks | None:
    """Marks of numbers that were, or are to be, negated (facts 9.14).

    A zero's sign is left open in complex ones: whole registers are taken from zero, which gives 0, single ones have
    their signs turned, which gives -0. Short floats are converted, where a NaN does not keep its bits.
    """
    if d not in _NEGATED_LOOSELY:
        return marks
    if d.is_complex:
        open_ = np.where((numbers.real == 0) | (numbers.imag == 0), np.uint8(TOLERANCE), np.uint8(EXACT))
    else:
        open_ = np.where(np.isnan(numbers), np.uint8(NAN), np.uint8(EXACT))
    return open_ if marks is None else np.maximum(open_, marks)


_NEGATED_LOOSELY = frozenset({dt.complex64, dt.complex128, dt.float16, dt.bfloat16})


def stamp(t: Any, marks: Marks | int | None) -> None:
    """Record what is known about the elements a write has just left in a tensor.

    Shapes: `marks` broadcasts to the tensor's shape; None means all exact.
    """
    storage = t._storage
    shadow = storage._shadow
    if marks is None or (isinstance(marks, int) and marks == EXACT):
        if shadow is None:
            return
        _byte_view(shadow, t._layout, t.dtype.itemsize)[...] = 0
    else:
        if shadow is None:
            storage._shadow = shadow = np.zeros(len(storage._bytes), np.uint8)
        elements = np.asarray(marks, np.uint8)
        number = _NUMBER.get(t.dtype)
        if number is None:
            codes = np.where(elements == EXACT, elements, np.uint8(UNSPECIFIED))
        else:
            codes = np.where(
                (elements == EXACT) | (elements == UNSPECIFIED), elements, (elements << 4) | np.uint8(number)
            ).astype(np.uint8)
        _byte_view(shadow, t._layout, t.dtype.itemsize)[...] = codes[..., None]
    if not shadow.any():
        storage._shadow = None


def copy_bytes(target: Any, source: Any) -> None:
    """Carry marks byte by byte from a tensor to one of the same item size that its elements were just copied to."""
    shadow = source._storage._shadow
    if shadow is None:
        stamp(target, None)
        return
    storage = target._storage
    if storage._shadow is None:
        storage._shadow = np.zeros(len(storage._bytes), np.uint8)
    itemsize = target.dtype.itemsize
    view = _byte_view(storage._shadow, target._layout, itemsize)
    view[...] = _byte_view(shadow, source._layout, itemsize).copy()
    if not storage._shadow.any():
        storage._shadow = None


def merge(shape: tuple[int, ...], *marks: Marks | None) -> Marks | None:
    """The worst of several operands' marks, broadcast to an output's shape; None where all are exact."""
    result: Marks | None = None
    for m in marks:
        if m is not None:
            wide = np.broadcast_to(m, shape)
            result = wide if result is None else np.maximum(result, wide)
    return result


def all_unspecified(nbytes: int) -> Marks | None:
    """The shadow of fresh memory."""
    return np.full(nbytes, UNSPECIFIED, np.uint8) if nbytes else None


def leave_unspecified(t: T) -> T:
    """The tensor itself, none of whose values is specified from here on."""
    stamp(t, UNSPECIFIED)
    return t
