"""Operators that read by an index or a mask, or fill under a mask: index_select, gather, take, masked_*."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import is_contiguous
from .conversion import check_copyable, half_nans
from .copies import copy_elements, reader, store
from .core import (
    TensorBase,
    array,
    as_int,
    check_history,
    check_inplace,
    check_internal_overlap,
    check_layouts_apart,
    check_no_overlap,
    check_no_partial_overlap,
    check_read,
    fresh,
    from_array,
    order_marks,
    recorded,
    requires_grad,
    values,
    written,
)
from .dtypes import group_of
from .errors import LayoutError, LayoutIndexError, UnspecifiedError, UnsupportedError
from .index_places import as_new, check_gather, index_values, number_for, places_along, with_marks, write_where
from .kept import keeps
from .layout import Layout, Shape, check_bounds, contiguous_strides, wrap_dim
from .out import check_out, resize_output, write_out
from .output_layout import broadcast_shapes, preserved_strides
from .overlap import shares_memory
from .parsing import parsed
from .results import need_kernel
from .slicing import select
from .views import expand

if TYPE_CHECKING:
    from .tensors import Tensor


def _check_gathered(
    out: Any,
    input: "Tensor",
    index: "Tensor",
    shape: Shape | None,
    check_index: Callable[..., None] = check_no_overlap,
) -> None:
    # What is read while `out` is written may share nothing with it.
    check_out(out, input)
    if out.dtype is not input.dtype:
        raise LayoutError("dtype", f"out must have dtype {input.dtype}, got {out.dtype}")
    if shape is not None:
        resize_output(out, shape)
    check_internal_overlap(out)
    check_no_overlap(out, input)
    check_index(out, index)


def _moved_whole(layout: Layout, d: int, count: int) -> bool:
    """Whether slices along a dimension are moved as bytes, not element by element."""
    if d == 1:
        return is_contiguous(*layout[:2])
    length, strides, _ = layout
    result = contiguous_strides((*length[:d], count, *length[d + 1 :]))
    rest = (*length[:d], *length[d + 1 :])
    return all(is_contiguous(rest, (*of[:d], *of[d + 1 :])) for of in (strides, result))


def _into_rows(out: Any, shape: Shape) -> bool:
    """Whether what is written to is row-major, also as the copy that a bit makes of it."""
    if out is None or out._layout.shape != shape:
        return True
    strides = out._layout.strides
    return is_contiguous(shape, preserved_strides(shape, strides) if out._bits else strides)


def _partly_written(out: Any) -> None:
    """Note that elements before the one with a wrong index may be written. Raises: bounds (fatal) past the storage."""
    if out is not None:
        array(out)
        shadow.leave_unspecified(out)


@parsed(out_first=True)
@keeps("input", "index", rule="1<0")
def index_select(input: "Tensor", dim: int, index: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """A row-major copy of the slices that a vector of indices names.

    Raises: dimension, index, dtype. Source: facts 4.4, torch 2.13.
    """
    check_history(input)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if index.ndim > 1:
        raise LayoutIndexError("dimension", "index_select: the index must be a vector")
    where = np.atleast_1d(index_values(index, "index_select"))
    a = values(input)
    marks = shadow.marks_of(input)
    length = a.shape[d] if a.ndim else 1
    if not a.ndim and where.size != 1:
        raise LayoutError("index", "index_select: a tensor without dimensions takes one index")
    resized = (*a.shape[:d], where.size, *a.shape[d + 1 :])
    row_major = _into_rows(out, resized)
    if out is not None:
        _check_gathered(out, input, index, None)
        resize_output(out, resized)
    if a.ndim < 2:
        # Slices of more dimensions are copied as bytes.
        need_kernel("index_select", input.dtype, "bifch8e")
    elif (
        a.size and where.size and not _moved_whole(input._layout, d, where.size) and (d == 1 or 0 <= where[0] < length)
    ):
        check_copyable(input.dtype)
    if out is not None and a.ndim > 1 and out.numel() and not out._bits and not (d == 1 and row_major):
        # Slices are written one by one, and where the first ends is looked at.
        first = select(out._layout, d, 0)
        check_bounds(first, out.dtype.itemsize, len(out._storage))
    if where.size and (where.min() < 0 or where.max() >= length):
        # Dimension 1 into rows has a kernel of its own, and so do empty tensors, which know no IndexError.
        kind = LayoutError if a.ndim > 1 and ((d == 1 and row_major) or not a.size) else LayoutIndexError
        if kind is LayoutIndexError:
            _partly_written(out)
        raise kind("index", f"index_select: an index is out of bounds for a dimension of length {length}")
    if input.dtype is dt.bool_ and (a.ndim < 2 or _moved_whole(input._layout, d, where.size)):
        a = array(input)  # bytes other than 0 and 1 stay what they are
    by_slices = where.size and a.size and a.ndim > 1 and not (d == 1 and row_major)
    if out is not None and out._storage is input._storage and by_slices:
        # Once the output is resized, only the first slices are looked at.
        check_layouts_apart(out, select(out._layout, d, 0), input, select(input._layout, d, 0))
    if not a.ndim:
        result = from_array(a, input.dtype)
    else:
        result = from_array(np.take(a, where, d), input.dtype)
        marks = None if marks is None else np.take(marks, where, d)
    return write_out(out, recorded(with_marks(result, index, marks), input), input, moving=True)


@parsed(out_first=True)
@keeps("input", "index", rule="1<0")
def gather(
    input: "Tensor", dim: int, index: "Tensor", *, sparse_grad: bool = False, out: "Tensor | None" = None
) -> "Tensor":
    """A row-major copy, each element taken along a dimension where the index says.

    Raises: dimension, size, index, dtype. Source: facts 4.4, torch 2.13.
    """
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if out is not None:  # which may be the index itself: each element is read before it is written
        _check_gathered(out, input, index, index._layout.shape, check_no_partial_overlap)
    check_read(input, index)
    where = np.empty(index._layout.shape, np.int64) if not index.numel() else index_values(index, "gather")
    if where.size == 0:
        return write_out(out, recorded(from_array(np.empty(where.shape, input.dtype.numpy), input.dtype), input), input)
    check_gather("gather", input, d, where)
    need_kernel("gather", input.dtype, "bifc")
    length = input._layout.shape[d] if input.ndim else 1
    if where.min() < 0 or where.max() >= length:
        _partly_written(out)
        raise LayoutError("index", f"gather: an index is out of bounds for dimension {d} of length {length}")
    key = places_along(where, d)
    a = np.atleast_1d(values(input))
    marks = shadow.marks_of(input)
    result = from_array(a[key].reshape(where.shape), input.dtype)
    marks = None if marks is None else np.atleast_1d(marks)[key].reshape(where.shape)
    marks = shadow.merge(where.shape, marks, half_nans(a[key].reshape(where.shape), input.dtype))
    return write_out(out, recorded(with_marks(result, index, marks), input), input, moving=True)


def take_along_dim(
    input: "Tensor", indices: "Tensor", dim: int | None = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """`gather` with broadcasting outside the dimension. Raises: as `gather`. Source: facts 4.4, torch 2.13."""
    if dim is None:
        # Flat views: what is not dense in order is refused.
        return gather(input.view(-1), 0, indices.view(-1), out=out)
    if input.ndim != indices.ndim:
        raise LayoutError("dimension", "take_along_dim: input and indices differ in dimensions")
    if indices.dtype is not dt.int64:
        raise LayoutError("dtype", f"take_along_dim: the indices must be int64, got {indices.dtype}")
    if not input.ndim:
        raise LayoutIndexError("dimension", "take_along_dim: the tensor has no dimensions")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    length = input._layout.shape[d]
    where = values(indices)
    if where.size and length and (where.min() < 0 or where.max() >= length):
        # Unlike those of `gather`, indices are counted on around the end.
        marks = shadow.marks_of(indices)
        indices = from_array(np.remainder(where, length), dt.int64)
        shadow.stamp(indices, marks)
    a, b = list(input._layout.shape), list(indices._layout.shape)
    if a:
        a[d], b[d] = 1, 1
    shared = broadcast_shapes(tuple(a), tuple(b))
    wide = [list(shared), list(shared)]
    if a:
        wide[0][d], wide[1][d] = input._layout.shape[d], indices._layout.shape[d]
    source = reader(input, expand(input._layout, tuple(wide[0])))
    source._has_fn = requires_grad(input)
    return gather(source, d, reader(indices, expand(indices._layout, tuple(wide[1]))), out=out)


@parsed(out_first=True)
@keeps("input", "index", rule="1<0")
def take(input: "Tensor", index: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Elements by their row-major number, in the index's shape, row-major.

    Raises: index (IndexError), dtype. Source: facts 4.4, torch 2.13.
    """
    if index.dtype is not dt.int64:
        raise LayoutError("dtype", f"take: the index must be int64, got {index.dtype}")
    where = values(index)
    n = input.numel()
    if where.size and not n:
        raise LayoutIndexError("index", "take: there is nothing to take from")
    if out is not None:
        _check_gathered(out, input, index, None)
        resize_output(out, where.shape)
    if where.size:
        need_kernel("take", input.dtype, "bifc")
    if where.size and (where.min() < -n or where.max() >= n):
        _partly_written(out)
        raise LayoutIndexError("index", f"take: an index is out of range for {n} elements")
    marks = shadow.marks_of(input)
    result = from_array(values(input).reshape(-1)[where], input.dtype)
    marks = None if marks is None else marks.reshape(-1)[where]
    return write_out(out, recorded(with_marks(result, index, marks), input), input, moving=True)


@parsed(out_first=True)
@keeps("input", "mask", rule="1<0")
def masked_select(input: "Tensor", mask: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """A flat copy of the elements under a mask, both broadcast. Raises: dtype, broadcast. Source: facts 4.4."""
    if mask.dtype is not dt.bool_:
        raise LayoutError("dtype", f"masked_select: the mask must be bool, got {mask.dtype}")
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    chosen = np.broadcast_to(values(mask), shape)
    if chosen.any():
        need_kernel("masked_select", input.dtype, "bifch8e")
    marks = shadow.marks_of(input)
    result = from_array(np.broadcast_to(values(input), shape)[chosen], input.dtype)
    marks = None if marks is None else np.broadcast_to(marks, shape)[chosen]
    if out is not None:
        _check_gathered(out, input, mask, None)
    return write_out(out, recorded(with_marks(result, mask, marks), input), input)


@keeps("self", "mask", "value", rule="1<0,2")
def masked_fill_(self: "Tensor", mask: "Tensor", value: Any) -> "Tensor":
    """Write one value where a mask is set; repeated elements are allowed.

    Raises: grad, dtype, dimension, broadcast. Source: facts 5.1.3, torch 2.13.
    """
    check_inplace(self, value)
    if mask.dtype is not dt.bool_:
        raise LayoutError("dtype", f"masked_fill_: the mask must be bool, got {mask.dtype}")
    refused = group_of(self.dtype) not in "bifch"
    # What has no kernel is found out last, but for what the value is worth.
    if not refused or (isinstance(value, TensorBase) and value._layout.shape):
        number, marks = number_for(value, self.dtype, "masked_fill_")
    check_no_partial_overlap(self, mask)
    chosen = values(reader(mask, expand(mask._layout, self._layout.shape)))
    if refused:
        raise UnsupportedError("dtype", f"masked_fill_: PyTorch has no kernel for {self.dtype}")
    write_where(self, chosen, number, marks, shadow.marks_of(mask) is not None)
    written(self, value)
    return self


@keeps("input", "mask", "value", rule="1<0,2")
def masked_fill(input: "Tensor", mask: "Tensor", value: Any) -> "Tensor":
    """A row-major copy, broadcast with the mask, with one value where it is set.

    Raises: dtype, dimension, broadcast. Source: facts 4.4, torch 2.13.
    """
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    result = fresh(shape, contiguous_strides(shape), input.dtype)
    copy_elements(result, reader(input, expand(input._layout, shape)))
    masked_fill_(result, mask, value)
    return recorded(as_new(result), input, value)


def _reads(self: "Tensor", x: "Tensor") -> bool:
    if x._storage is not self._storage:
        return False
    return shares_memory(self._layout, self.dtype.itemsize, x._layout, x.dtype.itemsize)


@keeps("self", "mask", "source", rule="1<0,2")
def masked_scatter_(self: "Tensor", mask: "Tensor", source: "Tensor") -> "Tensor":
    """Write a source's elements in order where a mask is set.

    Raises: grad, overlap, dtype, broadcast, size. Source: facts 5.1.1, torch 2.13.
    """
    check_inplace(self, source)
    check_internal_overlap(self)
    if mask.dtype is not dt.bool_:
        raise LayoutError("dtype", f"masked_scatter_: the mask must be bool, got {mask.dtype}")
    if source.dtype is not self.dtype:
        raise LayoutError("dtype", f"masked_scatter_: a {source.dtype} source for a {self.dtype} tensor")
    # Row-major, one after the other: what is read after it was written is read as written.
    spoilt = any(_reads(self, x) for x in (mask, source) if x is mask or is_contiguous(*x._layout[:2]))
    chosen = values(reader(mask, expand(mask._layout, self._layout.shape)))
    need_kernel("masked_scatter_", self.dtype, "bifc")
    places = np.flatnonzero(chosen)
    a = values(self).copy().reshape(-1)
    taken = places[: source.numel()]
    a[taken] = values(source).reshape(-1)[: len(taken)]
    a = a.reshape(self._layout.shape)
    unknown = spoilt or any(shadow.marks_of(x) is not None for x in (self, mask, source))
    if len(places) > source.numel() and _reads(self, mask):
        raise UnspecifiedError("masked_scatter_: how many places there are depends on what is written")
    store(self, a, shadow.UNSPECIFIED if unknown else order_marks(self))
    if len(places) > source.numel():
        # Found only once the source has run out: what it held is written.
        raise LayoutError("size", f"masked_scatter_: {len(places)} places for {source.numel()} elements")
    written(self, source)
    return self


@keeps("input", "mask", "source", rule="1<0,2")
def masked_scatter(input: "Tensor", mask: "Tensor", source: "Tensor") -> "Tensor":
    """`masked_scatter_` on a row-major copy broadcast with the mask. Source: torch 2.13."""
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    result = fresh(shape, contiguous_strides(shape), input.dtype)
    copy_elements(result, reader(input, expand(input._layout, shape)))
    return recorded(as_new(masked_scatter_(result, mask, source)), input, source)
