"""Operators that write where an index says: index_fill, index_copy, index_add, scatter."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import add_at, half_nans, pack_half_complex, unpack_half_complex
from .copies import change_in_copy, clone, scalar_array, store
from .core import (
    TensorBase,
    as_int,
    check_index,
    check_inplace,
    check_internal_overlap,
    check_no_overlap,
    check_settled,
    order_marks,
    recorded,
    values,
    written,
)
from .errors import LayoutError, LayoutIndexError
from .formats import contiguous_format
from .index_places import (
    any_marks,
    as_new,
    check_first_slices,
    check_scatter,
    index_values,
    number_for,
    places_along,
    writable_copy,
    write_where,
)
from .kept import check_kept, keeps
from .layout import Layout, check_bounds, wrap_dim
from .out import write_out
from .parsing import parsed
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _along(d: int, where: Any) -> Any:
    return (*[slice(None)] * d, where)


def _tainted_by_error(self: "Tensor", error: Exception) -> Exception:
    # An index out of bounds is found while writing: what is there by then depends on the traversal.
    shadow.leave_unspecified(self)
    return error


def _vector(index: Any, self: "Tensor", d: int, name: str, *, wrap: bool = False) -> Any:
    """Indices of slices that have elements: PyTorch looks at them while it writes."""
    if index.ndim > 1:
        raise LayoutIndexError("dimension", f"{name}: the index must be a vector")
    where = np.atleast_1d(index_values(index, name))
    shape = self._layout.shape
    if 0 in shape[:d] + shape[d + 1 :]:
        return where[:0]
    length = shape[d] if shape else 1
    if where.size and (where.min() < (-length if wrap else 0) or where.max() >= length):
        raise LayoutIndexError("index", f"{name}: an index is out of bounds for a dimension of length {length}")
    return where


def _check_restrided(self: "Tensor", d: int, index: "Tensor") -> None:
    # PyTorch spreads the target over the index before it looks at the indices: an empty one may not have the memory.
    shape, strides, offset = self._layout
    if shape:
        spread = Layout((*shape[:d], index.numel(), *shape[d + 1 :]), (*strides[:d], 0, *strides[d + 1 :]), offset)
        check_bounds(spread, self.dtype.itemsize, len(self._storage._bytes))


def _rewritten(self: "Tensor", a: Any, unknown: bool, loose: Any, *inputs: Any) -> None:
    marks = shadow.marks_of(self)
    if unknown:
        marks = np.full(a.shape, shadow.UNSPECIFIED, np.uint8)
    elif loose is not None:
        marks = loose if marks is None else np.maximum(marks, loose)
    order = order_marks(self, *inputs, moving=True)
    store(self, a, order if order is not None else marks)


@keeps("self", "index", "value", rule="1<0,2")
def index_fill_(self: "Tensor", dim: int, index: "Tensor", value: Any) -> "Tensor":
    """Write one value to the slices that a vector of indices names; negative indices count from the end.

    Raises: grad, dimension, index, dtype. Source: facts 5.1.3, torch 2.13.
    """
    check_inplace(self, value)
    if self._bits:
        change_in_copy(self, lambda whole: index_fill_(whole, dim, index, value))
        written(self, value)
        return self
    if not isinstance(index, TensorBase) or index.dtype is not dt.int64:
        raise LayoutIndexError("dtype", "index_fill_: the index must be int64")
    d = wrap_dim(as_int(dim, "dim"), self.ndim)
    number, marks = number_for(value, self.dtype, "index_fill_")
    _check_restrided(self, d, index)
    check_settled(self, index)
    need_kernel("index_fill_", self.dtype, "bifch")
    try:
        where = _vector(index, self, d, "index_fill_", wrap=True)
    except LayoutIndexError as e:
        raise _tainted_by_error(self, e) from None
    chosen = np.zeros(self._layout.shape or (1,), np.bool_)
    chosen[_along(d, where)] = True
    write_where(self, chosen.reshape(self._layout.shape), number, marks, shadow.marks_of(index) is not None)
    written(self, value)
    return self


@keeps("input", "index", "value", rule="1<0,2")
def index_fill(input: "Tensor", dim: int, index: "Tensor", value: Any) -> "Tensor":
    """`index_fill_` on a copy that preserves the format. Source: torch 2.13."""
    return recorded(as_new(index_fill_(writable_copy(input), dim, index, value)), input, value)


def _check_source(name: str, self: "Tensor", d: int, where: Any, source: "Tensor") -> None:
    if source.dtype is not self.dtype:
        raise LayoutError("dtype", f"{name}: a {source.dtype} source for a {self.dtype} tensor")
    own = list(self._layout.shape)
    other = list(source._layout.shape)
    if self.ndim and source.ndim and self.ndim != source.ndim and (name == "index_copy_" or d >= source.ndim):
        unlike = LayoutIndexError if name == "index_copy_" else LayoutError
        raise unlike("dimension", f"{name}: a source of {source.ndim} dimensions for {self.ndim}")
    slices = own[:d] + own[d + 1 :], other[:d] + other[d + 1 :]
    if name == "index_copy_" and own and other and slices[0] != slices[1]:  # looked at before their number
        raise LayoutError("size", f"{name}: source shape {source._layout.shape} does not fit {self._layout.shape}")
    if (source.ndim and other[d] != where.size) or (not source.ndim and where.size != 1):
        kind = LayoutError if name == "index_add_" and source.ndim else LayoutIndexError
        raise kind("size", f"{name}: {where.size} indices for a source of shape {tuple(other)}")
    if own and other and slices[0] != slices[1]:
        raise LayoutError("size", f"{name}: source shape {source._layout.shape} does not fit {self._layout.shape}")


@keeps("self", "index", "source", rule="1<0,2")
def index_copy_(self: "Tensor", dim: int, index: "Tensor", source: "Tensor") -> "Tensor":
    """Write a source's slices where a vector of indices names.

    Raises: grad, overlap, dimension, index, dtype, size. Source: facts 5.1.1, torch 2.13.
    """
    check_inplace(self, source)
    d = wrap_dim(as_int(dim, "dim"), self.ndim)
    check_internal_overlap(self)
    check_index(self, index)
    check_no_overlap(self, source)
    if index.ndim > 1:
        raise LayoutIndexError("dimension", "index_copy_: the index must be a vector")
    if index.dtype is not dt.int64:
        raise LayoutError("dtype", "index_copy_: the index must be int64")
    where = np.atleast_1d(index_values(index, "index_copy_"))
    _check_source("index_copy_", self, d, where, source)
    _check_restrided(self, d, index)
    need_kernel("index_copy_", self.dtype, "bifch")
    try:
        where = _vector(index, self, d, "index_copy_")
    except LayoutIndexError as e:
        raise _tainted_by_error(self, e) from None
    a = np.atleast_1d(values(self).copy())
    b = np.atleast_1d(values(source))
    if where.size:
        a[_along(d, where)] = b
    unknown = any_marks(self, index, source) or len(np.unique(where)) != where.size
    _rewritten(self, a.reshape(self._layout.shape), unknown, None, index, source)
    written(self, source)
    return self


@parsed(out_first=True)
@keeps("input", "index", "source", rule="1<0,2")
def index_copy(
    input: "Tensor", dim: int, index: "Tensor", source: "Tensor", *, out: "Tensor | None" = None
) -> "Tensor":
    """`index_copy_` on a row-major copy. Source: torch 2.13."""
    return write_out(
        out,
        recorded(as_new(index_copy_(writable_copy(input, contiguous_format), dim, index, source)), input, source),
        input,
        exact=True,
    )


@keeps("self", "index", "source", rule="1<2")
def _scaled(a: Any, alpha: Any, d: Any) -> Any:
    """Elements times a number, rounded to their dtype."""
    if d is dt.complex32:
        return pack_half_complex(unpack_half_complex(a) * np.complex64(alpha))
    return a * np.array(alpha).astype(a.dtype)


def index_add_(self: "Tensor", dim: int, index: "Tensor", source: "Tensor", *, alpha: Any = 1) -> "Tensor":
    """Add a source's slices where a vector of indices names.

    Raises: grad, overlap, dimension, index, dtype, size. Source: facts 5.1.1, torch 2.13.
    """
    check_inplace(self, source)
    d = wrap_dim(as_int(dim, "dim"), self.ndim)
    where = np.atleast_1d(index_values(index, "index_add_"))
    if index.ndim > 1:
        raise LayoutIndexError("dimension", "index_add_: the index must be a vector")
    _check_source("index_add_", self, d, where, source)
    check_internal_overlap(self)
    check_index(self, index)
    check_no_overlap(self, source)
    # Along an outer dimension, unscaled, and by an int64 index whole slices are scattered; others are added one by one.
    outer = self.ndim > 1 and d in (0, self.ndim - 1)
    scattered = outer and alpha == 1 and not isinstance(alpha, bool) and index.dtype is dt.int64
    if not scattered:
        check_first_slices(self, d, where, source)
    if self.ndim < 2 or (self.numel() and where.size):
        need_kernel("index_add_", self.dtype, "bifch")
    length = self._layout.shape[d] if self.ndim else 1
    if where.size and (where.min() < 0 or where.max() >= length):
        if self.ndim > 1 and not self.numel():
            written(self, source)
            return self
        kind = LayoutError if scattered else LayoutIndexError
        shadow.leave_unspecified(self)
        raise kind("index", f"index_add_: an index is out of bounds for a dimension of length {length}")
    a = np.atleast_1d(values(self).copy())
    b = np.atleast_1d(values(source))
    with np.errstate(all="ignore"):
        if not scattered:  # by 1, too: the product of a complex number with an infinite part has a NaN
            b = _scaled(b, alpha, self.dtype)
    add_at(a, _along(d, where), b, self.dtype)
    loose = None
    if self.dtype.is_floating_point or self.dtype.is_complex:
        touched = np.zeros(a.shape, np.uint8)
        touched[_along(d, where)] = shadow.TOLERANCE
        loose = touched.reshape(self._layout.shape)
    a = a.reshape(self._layout.shape)
    loose = shadow.merge(a.shape, loose, half_nans(a, self.dtype))
    _rewritten(self, a, any_marks(self, index, source), loose, index, source)
    written(self, source)
    return self


@parsed(out_first=True)
@keeps("input", "index", "source", rule="1<2")
def index_add(
    input: "Tensor", dim: int, index: "Tensor", source: "Tensor", *, alpha: Any = 1, out: "Tensor | None" = None
) -> "Tensor":
    """`index_add_` on a row-major copy. Source: torch 2.13."""
    return write_out(
        out,
        recorded(
            as_new(index_add_(writable_copy(input, contiguous_format), dim, index, source, alpha=alpha)),
            input,
            source,
        ),
        input,
    )


def scatter_(
    self: "Tensor", dim: int, index: "Tensor", src: Any = None, *, value: Any = None, reduce: str | None = None
) -> "Tensor":
    """Write a source's elements, or one value, along a dimension where the index says.

    Raises: grad, overlap, dimension, index, dtype, size. Source: facts 5.1.1, torch 2.13.
    """
    source = value if src is None else src
    if reduce is None:
        check_kept("scatter_", "1<0,2", (self, index, source))
    check_inplace(self, source)
    d = wrap_dim(as_int(dim, "dim"), self.ndim)
    _scatter(self, d, index, source, reduce, "scatter_")
    written(self, source)
    return self


def _scatter(self: "Tensor", d: int, index: "Tensor", source: Any, reduce: str | None, name: str) -> None:
    if index.dtype not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"{name}: the index must be int32 or int64, got {index.dtype}")
    if isinstance(source, TensorBase) and source.dtype is not self.dtype:
        raise LayoutError("dtype", f"{name}: a {source.dtype} source for a {self.dtype} tensor")
    where = values(index).astype(np.int64, copy=False)
    if where.size:
        check_scatter(name, self, d, where, source)
    if isinstance(source, TensorBase):
        check_no_overlap(self, source)
    check_internal_overlap(self)
    check_index(self, index)
    if reduce not in (None, "add", "multiply"):
        raise LayoutError("argument", f"{name}: reduce must be add or multiply, got {reduce!r}")
    if not where.size:
        return
    need_kernel(name, self.dtype, "bifc")
    length = self._layout.shape[d] if self.ndim else 1
    if where.min() < 0 or where.max() >= length:
        shadow.leave_unspecified(self)
        raise LayoutError("index", f"{name}: an index is out of bounds for dimension {d} of length {length}")
    key = places_along(where, d)
    a = np.atleast_1d(values(self).copy())
    if isinstance(source, TensorBase):
        wide = np.atleast_1d(values(source))[tuple(slice(0, n) for n in np.atleast_1d(where).shape)]
    else:
        wide = scalar_array(source, self.dtype)
    flat = np.zeros(a.shape, np.int64)
    np.add.at(flat, key, 1)
    repeated = bool((flat > 1).any())
    loose = None
    unknown = any_marks(self, index) or (isinstance(source, TensorBase) and any_marks(source))
    with np.errstate(all="ignore"):
        if reduce is None:
            a[key] = wide
            unknown = unknown or (repeated and isinstance(source, TensorBase))
        else:
            (np.add if reduce == "add" else np.multiply).at(a, key, wide)
            if self.dtype.category in ("float", "complex"):
                loose = np.where(flat > 0, shadow.TOLERANCE, 0).astype(np.uint8).reshape(self._layout.shape)
    a = a.reshape(self._layout.shape)
    _rewritten(self, a, unknown, shadow.merge(a.shape, loose, half_nans(a, self.dtype)), index, source)


@parsed(out_first=True)
def scatter(
    input: "Tensor",
    dim: int,
    index: "Tensor",
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: "Tensor | None" = None,
) -> "Tensor":
    """`scatter_` on a row-major copy. Raises: as `scatter_`. Source: facts 4.4, torch 2.13."""
    source = value if src is None else src
    if reduce is None:
        check_kept("scatter", "1<0,2", (input, index, source))
    t = scatter_(writable_copy(input, contiguous_format), dim, index, source, reduce=reduce)
    return write_out(out, recorded(as_new(t), input, source), input, exact=True)


@keeps("self", "index", "src", rule="1<2")
def scatter_add_(self: "Tensor", dim: int, index: "Tensor", src: "Tensor") -> "Tensor":
    """Add a source's elements along a dimension where the index says. Raises: as `scatter_`. Source: torch 2.13."""
    return scatter_(self, dim, index, src, reduce="add")


@keeps("input", "index", "src", rule="1<2")
def scatter_add(input: "Tensor", dim: int, index: "Tensor", src: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`scatter_add_` on a row-major copy. Raises: as `scatter_`. Source: facts 4.4, torch 2.13."""
    return write_out(out, scatter(input, dim, index, src, reduce="add"), input, exact=True)


@keeps("self", "index", "source", rule="1<0,2")
def put_(self: "Tensor", index: "Tensor", source: "Tensor", accumulate: bool = False) -> "Tensor":
    """Write elements by their row-major number. Raises: grad, overlap, index, dtype, size. Source: torch 2.13."""
    check_inplace(self, source)
    if index.dtype is not dt.int64:
        raise LayoutError("dtype", f"put_: the index must be int64, got {index.dtype}")
    if source.dtype is not self.dtype:
        raise LayoutError("dtype", f"put_: a {source.dtype} source for a {self.dtype} tensor")
    if index.numel() != source.numel():
        raise LayoutIndexError("size", f"put_: {index.numel()} indices for {source.numel()} elements")
    check_internal_overlap(self)
    check_index(self, index)
    check_no_overlap(self, source)
    n = self.numel()
    where = values(index).reshape(-1)
    if where.size and not n:
        raise LayoutIndexError("index", "put_: the tensor has no elements")
    if where.size:
        need_kernel("put_", self.dtype, "bifc")
    if where.size and (where.min() < -n or where.max() >= n):
        shadow.leave_unspecified(self)
        raise LayoutIndexError("index", f"put_: an index is out of range for {n} elements")
    a = values(self).copy().reshape(-1)
    before = shadow.marks_of(self)
    marks = np.zeros(a.shape, np.uint8) if before is None else before.reshape(-1).copy()
    places = where % n if n else where
    b = values(source).reshape(-1)
    if accumulate:
        with np.errstate(all="ignore"):
            np.add.at(a, places, b)
        if self.dtype.category in ("float", "complex"):
            marks[places] = shadow.TOLERANCE
    else:
        a[places] = b
        marks[places] = 0
        repeated = np.bincount(places, minlength=max(n, 1))[: len(marks)] > 1
        marks[repeated] = shadow.UNSPECIFIED
    if shadow.marks_of(index) is not None or shadow.marks_of(source) is not None:
        marks[:] = shadow.UNSPECIFIED
    shape = self._layout.shape
    order = order_marks(self, index, source, moving=True)
    store(self, a.reshape(shape), marks.reshape(shape) if order is None else order)
    written(self, source)
    return self


@keeps("input", "index", "source", rule="1<0,2")
def put(input: "Tensor", index: "Tensor", source: "Tensor", accumulate: bool = False) -> "Tensor":
    """`put_` on a copy that preserves the format. Raises: index, dtype, size. Source: torch 2.13."""
    copy = clone(input)
    copy._has_fn = False
    put_(copy, index, source, accumulate)
    copy._versions[0] = 0
    copy._has_fn = False
    return recorded(copy, input, source)
