"""Writes along an index that reduce what meets there: scatter_reduce, index_reduce, put."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import numbers_of, pack_half_complex
from .copies import clone, store
from .core import (
    as_int,
    check_index,
    check_inplace,
    check_internal_overlap,
    check_no_overlap,
    order_marks,
    recorded,
    values,
    written,
)
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .formats import contiguous_format
from .index_places import check_first_slices, check_scatter, places_along
from .kept import keeps
from .layout import wrap_dim
from .out import write_out
from .results import check_real_gradient, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor

_REDUCE = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum, "mean": np.add}


_TAKEN = {"sum": "bifc", "prod": "bifc", "mean": "ifc", "amax": "bif", "amin": "bif"}
"""Dtypes that there are kernels for."""


def _neutral(d: Any, reduce: str) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if d.category == "float":
        return -np.inf if reduce == "amax" else np.inf
    if d is dt.bool_:
        return reduce == "amin"
    info = np.iinfo(d.numpy)
    return info.min if reduce == "amax" else info.max


def _reduced(self: "Tensor", key: Any, source: Any, reduce: str, include_self: bool) -> Any:
    """Values after the reduction, and how many sources met at each place."""
    d = self.dtype
    a, source = (numbers_of(np.atleast_1d(x), d) for x in (values(self), source))
    count = np.zeros(a.shape, np.int64)
    np.add.at(count, key, 1)
    wide = a.astype(np.float64) if d.category == "float" else a.astype(np.int64) if d.category == "int" else a.copy()
    with np.errstate(all="ignore"):
        if not include_self:
            wide = np.where(count > 0, np.array(_neutral(d, reduce)).astype(wide.dtype), wide)
        _REDUCE[reduce].at(wide, key, source.astype(wide.dtype))
        if reduce == "mean":
            divisor = np.maximum(count + (1 if include_self else 0), 1)
            mean = wide / divisor if d.category != "int" else np.floor_divide(wide, divisor)
            wide = np.where(count > 0, mean, wide)
        return (pack_half_complex(wide) if d is dt.complex32 else wide.astype(d.numpy)), count


def _finish(self: "Tensor", result: Any, count: Any, inputs: tuple[Any, ...]) -> None:
    shape = self._layout.shape
    marks = shadow.marks_of(self)
    if any(shadow.marks_of(t) is not None for t in (self, *inputs)):
        marks = np.full(shape, shadow.UNSPECIFIED, np.uint8)
    elif self.dtype.category in ("float", "complex"):
        marks = np.where(count > 0, shadow.TOLERANCE, 0).astype(np.uint8).reshape(shape)
    order = order_marks(self, *inputs, moving=True)
    store(self, result.reshape(shape), marks if order is None else order)


def _need_kernel(name: str, target: "Tensor", groups: str) -> None:
    try:
        need_kernel(name, target.dtype, groups)
    except UnsupportedError:
        # The places that are written are given a first value, or their sum, before the kernel is missed.
        shadow.leave_unspecified(target)
        raise


def _check_reduce(name: str, reduce: str, *known: str) -> None:
    if reduce not in known:
        raise LayoutError("argument", f"{name}: reduce must be one of {known}, got {reduce!r}")


@keeps("self", "index", "src")
def scatter_reduce_(
    self: "Tensor", dim: int, index: "Tensor", src: "Tensor", reduce: str, *, include_self: bool = True
) -> "Tensor":
    """Reduce a source's elements into the places an index names along a dimension.

    Raises: grad, overlap, argument, dimension, index, dtype, size. Source: torch 2.13.
    """
    check_inplace(self, src)
    d = wrap_dim(as_int(dim, "dim"), self.ndim)
    if index.dtype not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"scatter_reduce_: the index must be int64, got {index.dtype}")
    if src.dtype is not self.dtype:
        raise LayoutError("dtype", f"scatter_reduce_: a {src.dtype} source for a {self.dtype} tensor")
    where = values(index).astype(np.int64, copy=False)
    if where.size:
        check_scatter("scatter_reduce_", self, d, where, src)
    check_internal_overlap(self)
    check_index(self, index)
    check_no_overlap(self, src)
    reduce = {"min": "amin", "max": "amax"}.get(reduce, reduce)  # by either name
    _check_reduce("scatter_reduce_", reduce, "sum", "prod", "mean", "amax", "amin")
    if where.size:
        _need_kernel("scatter_reduce_", self, _TAKEN[reduce])
        length = self._layout.shape[d] if self.ndim else 1
        if where.min() < 0 or where.max() >= length:
            shadow.leave_unspecified(self)
            raise LayoutError("index", f"scatter_reduce_: an index is out of bounds for a length of {length}")
        part = np.atleast_1d(values(src))[tuple(slice(0, n) for n in np.atleast_1d(where).shape)]
        result, count = _reduced(self, places_along(where, d), part, reduce, include_self)
        _finish(self, result, count, (index, src))
    written(self, src)
    return self


@keeps("input", "index", "src")
def scatter_reduce(
    input: "Tensor", dim: int, index: "Tensor", src: "Tensor", reduce: str, *, include_self: bool = True,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`scatter_reduce_` on a row-major copy. Raises: as `scatter_reduce_`. Source: torch 2.13."""
    t = _plain(input)
    scatter_reduce_(t, dim, index, src, reduce, include_self=include_self)
    return _delivered(out, t, input, src)


def _plain(input: "Tensor") -> "Tensor":
    t = clone(input, memory_format=contiguous_format)
    t._has_fn = False
    return t


def _delivered(out: Any, t: "Tensor", *inputs: Any) -> "Tensor":
    t._versions[0] = 0
    t._has_fn = False
    if out is None:
        check_real_gradient("reduce", t.dtype, *inputs)
        return recorded(t, *inputs)

    return write_out(out, t, *inputs, exact=True)


@keeps("self", "index", "source")
def index_reduce_(
    self: "Tensor", dim: int, index: "Tensor", source: "Tensor", reduce: str, *, include_self: bool = True
) -> "Tensor":
    """Reduce a source's slices into the slices a vector of indices names.

    Raises: grad, overlap, argument, dimension, index, dtype, size. Source: torch 2.13.
    """
    check_inplace(self, source)
    d = wrap_dim(as_int(dim, "dim"), self.ndim)
    _check_reduce("index_reduce_", reduce, "prod", "mean", "amax", "amin")
    if index.dtype not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"index_reduce_: the index must be int32 or int64, got {index.dtype}")
    if index.ndim > 1:
        raise LayoutIndexError("dimension", "index_reduce_: the index must be a vector")
    if source.dtype is not self.dtype:
        raise LayoutError("dtype", f"index_reduce_: a {source.dtype} source for a {self.dtype} tensor")
    check_internal_overlap(self)
    check_index(self, index)
    check_no_overlap(self, source)
    where = np.atleast_1d(values(index)).astype(np.int64)
    length = self._layout.shape[d] if self.ndim else 1
    if where.size and (where.min() < 0 or where.max() >= length):
        shadow.leave_unspecified(self)
        raise LayoutIndexError("index", f"index_reduce_: an index is out of bounds for a length of {length}")
    own, other = list(self._layout.shape), list(source._layout.shape)
    if not own and not other and where.size != 1:
        raise LayoutIndexError("dimension", f"index_reduce_: {where.size} indices for a source without dimensions")
    if (
        len(own) != len(other)
        or (other and other[d] != where.size)
        or own[:d] + own[d + 1 :] != other[:d] + other[d + 1 :]
    ):
        raise LayoutError("size", f"index_reduce_: a source of {tuple(other)} for {where.size} slices of {tuple(own)}")
    check_first_slices(self, d, where, source)
    if len(own) < 2 or (where.size and not include_self):
        # First values are written by a kernel of its own.
        need_kernel("index_reduce_", self.dtype, "if")
    if len(own) > 1 and where.size:
        if reduce == "prod" and source.numel() == where.size:
            need_kernel("index_reduce_", self.dtype, "bifchu")  # a slice of one element is a number
        _need_kernel("index_reduce_", self, {"prod": "bifchu8", "mean": "ifc"}.get(reduce, "bif"))
    key = (*[slice(None)] * d, where)
    result, count = _reduced(self, key, np.atleast_1d(values(source)), reduce, include_self)
    _finish(self, result, count, (index, source))
    written(self, source)
    return self


@keeps("input", "index", "source")
def index_reduce(
    input: "Tensor", dim: int, index: "Tensor", source: "Tensor", reduce: str, *, include_self: bool = True,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`index_reduce_` on a row-major copy. Raises: as `index_reduce_`. Source: torch 2.13."""
    t = _plain(input)
    index_reduce_(t, dim, index, source, reduce, include_self=include_self)
    return _delivered(out, t, input, source)
