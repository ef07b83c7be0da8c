"""Triangles and diagonals: tril, triu, the places of their elements, fill_diagonal_."""

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .copies import reader, store, write_fill
from .core import (
    TensorBase,
    array,
    as_int,
    check_inplace,
    check_internal_overlap,
    from_array,
    recorded,
    values,
    written,
)
from .devices import check_device
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .out import write_out
from .overlap import has_internal_overlap
from .parsing import parsed
from .results import need_kernel
from .slicing_ops import strided_layout

if TYPE_CHECKING:
    from .tensors import Tensor


def fill_diagonal_(self: "Tensor", fill_value: Any, wrap: bool = False) -> "Tensor":
    """Write one value along the main diagonal of a tensor of equal lengths, or of a matrix.

    Where it wraps, the diagonal starts again one row below the first square. PyTorch goes on in steps of the first
    diagonal there, which only in row-major memory leads to elements of the matrix.

    Raises: argument (TypeError), grad, dimension, size; overlap through a negative or conjugate bit; bounds where the
    steps leave the storage. Source: facts 5.1.2, torch 2.13.
    """
    if isinstance(fill_value, TensorBase) and not fill_value._layout.shape:
        fill_value = fill_value.item()  # type: ignore[attr-defined]
    if isinstance(fill_value, TensorBase):
        raise LayoutTypeError("argument", "fill_diagonal_ takes a number, got a tensor with dimensions")
    check_inplace(self)
    shape, strides, offset = self._layout
    if len(shape) < 2:
        raise LayoutError("dimension", "fill_diagonal_: at least 2 dimensions are needed")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise LayoutError("size", f"fill_diagonal_: the lengths of {shape} must be equal")
    size, step = min(shape), sum(strides)
    lines = [(size, offset)]
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        period = shape[1] + 1
        lines.append((ceil(shape[0] * shape[1] / period) - size, offset + strides[0] * period))
    for length, start in lines:
        write_fill(reader(self, strided_layout(self, (length,), (step,), start)), fill_value)
        written(self)
    return self


def tril_triu(input: "Tensor", diagonal: int, upper: bool) -> Any:
    """Values of a triangle, the others zero."""
    if input.ndim < 2:
        raise LayoutError("dimension", f"{'triu' if upper else 'tril'}: at least 2 dimensions are needed")
    a = values(input)
    if input.numel():
        need_kernel("triu" if upper else "tril", input.dtype, "bifch")
    rows, columns = a.shape[-2:]
    keep = np.tri(rows, columns, diagonal - 1 if upper else diagonal, dtype=np.bool_)
    if upper:
        keep = ~keep
    return np.where(keep, a, a.dtype.type(0)), keep


@parsed(out_first=True)
def tril(input: "Tensor", diagonal: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """A row-major copy of the lower triangle. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return write_out(out, _triangle(input, diagonal, False), input, exact=True)


@parsed(out_first=True)
def triu(input: "Tensor", diagonal: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """A row-major copy of the upper triangle. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return write_out(out, _triangle(input, diagonal, True), input, exact=True)


def _triangle(input: "Tensor", diagonal: int, upper: bool) -> "Tensor":
    a, keep = tril_triu(input, as_int(diagonal, "diagonal"), upper)
    result = from_array(a, input.dtype)
    marks = shadow.marks_of(input)
    if marks is not None:
        shadow.stamp(result, np.where(keep, marks, 0).astype(np.uint8))
    return recorded(result, input)


def tril_(self: "Tensor", diagonal: int = 0) -> "Tensor":
    """`tril` in place; repeated elements are not refused. Raises: grad, dimension. Source: facts 5.1.2, torch 2.13."""
    return _triangle_(self, diagonal, False)


def triu_(self: "Tensor", diagonal: int = 0) -> "Tensor":
    """`triu` in place; repeated elements are not refused. Raises: grad, dimension. Source: facts 5.1.2, torch 2.13."""
    return _triangle_(self, diagonal, True)


def _batches_evenly(t: "Tensor") -> bool:
    shape, strides, _ = t._layout
    if len(shape) <= 3 or t.is_contiguous():
        return True
    expected = shape[-1] * shape[-2]
    for d in range(len(shape) - 3, -1, -1):
        if d == 0 and (strides[0] == 0 or shape[0] == 1):
            continue
        if strides[d] != expected:
            return False
        expected *= shape[d]
    return True


def _triangle_(self: "Tensor", diagonal: int, upper: bool) -> "Tensor":
    check_inplace(self)
    a, keep = tril_triu(self, as_int(diagonal, "diagonal"), upper)
    if self._bits or not _batches_evenly(self):
        # Computed aside and copied back, with the checks of a copy.
        check_internal_overlap(self)
    else:
        a = np.where(keep, array(self), a)  # what is kept is not touched: bools that are neither 0 nor 1 stay so
    marks = shadow.marks_of(self)
    if has_internal_overlap(self._layout.shape, self._layout.strides):
        marks = np.full(a.shape, shadow.UNSPECIFIED, np.uint8)
    elif marks is not None:
        marks = np.where(keep, marks, 0).astype(np.uint8)
    store(self, a, marks)
    written(self)
    return self


def _triangle_places(name: str, row: int, col: int, offset: int, dtype: Any, upper: bool) -> "Tensor":
    for n, which in ((row, "row"), (col, "col")):
        if as_int(n, which) < 0:
            raise LayoutError("size", f"{name}: {which} must not be negative, got {n}")
    d = dt.int64 if dtype is None else dtype
    if d not in (dt.int32, dt.int64):
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")
    keep = np.tri(row, col, offset - 1 if upper else offset, dtype=np.bool_)
    places = np.stack(np.nonzero(~keep if upper else keep))
    return from_array(places.astype(d.numpy), d)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Places of a lower triangle, a row for each dimension. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _triangle_places("tril_indices", row, col, offset, dtype, False)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Places of an upper triangle, a row for each dimension. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _triangle_places("triu_indices", row, col, offset, dtype, True)
