"""Operators that put elements in order to choose some: median, kthvalue, mode, quantile; row-major (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import cast, cast_marks, check_copyable, check_fillable
from .core import TensorBase, as_int, check_internal_overlap, check_no_overlap, values
from .errors import LayoutError, LayoutIndexError, LayoutTypeError
from .layout import contiguous_strides, wrap_dim
from .out import check_out, resize_output, write_out
from .parsing import parsed
from .reductions import ValuesAndIndices, check_out_dtype, reduced_shape
from .results import check_real_gradient, finish, need_kernel
from .scans import sort

if TYPE_CHECKING:
    from .tensors import Tensor


def _sortable(a: Any) -> Any:
    return a if a.dtype.kind in "iufbc" else a.astype(np.float32)


def _pair(input: "Tensor", d: int, where: Any, keepdim: bool, out: Any) -> Any:
    """The elements at places along a dimension, and the places, row-major."""
    a = values(input)
    if a.ndim:
        found = np.take_along_axis(a, np.expand_dims(where, d), d)
        ties = np.sum(a == found, axis=d, keepdims=True) != 1
        if keepdim:
            where = np.expand_dims(where, d)
        else:
            found, ties = np.squeeze(found, d), np.squeeze(ties, d)
    else:
        found, ties = a, np.zeros((), np.bool_)
    first = _forget_signs(finish(found, input.dtype, input, exact=True), a, d if a.ndim else None)
    second = finish(where.astype(np.int64), dt.int64, input)
    if shadow.marks_of(second) is None and ties.any():
        # Which of several equal elements is named depends on how they were ordered.
        shadow.stamp(second, np.where(ties, shadow.UNSPECIFIED, 0).astype(np.uint8))
    if out is not None:
        return ValuesAndIndices(write_out(out[0], first, input), write_out(out[1], second, input))
    return ValuesAndIndices(first, second)


def _forget_signs(found: "Tensor", a: Any, d: int | None) -> "Tensor":
    """The elements found along a dimension, or among all: of 0.0 and -0.0, which are equal, any may be taken."""
    if found.dtype.category != "float" or not a.size:
        return found
    zero, negative = a == 0, np.signbit(_sortable(a))
    mixed = np.any(zero & negative, axis=d) & np.any(zero & ~negative, axis=d)
    loose = np.where(np.reshape(mixed, found._layout.shape) & (values(found) == 0), shadow.TOLERANCE, shadow.EXACT)
    if loose.any():
        known = shadow.marks_of(found)
        shadow.stamp(found, np.maximum(loose, 0 if known is None else known).astype(np.uint8))
    return found


def _check_places(out: Any) -> None:
    """Refuse an output for places that is not int64, before anything is read. Raises: dtype."""
    if out is not None:
        check_out_dtype(out[1], dt.int64)


def _no_length(name: str, input: "Tensor", d: int) -> None:
    if input.ndim and not input._layout.shape[d]:
        raise LayoutIndexError("size", f"{name}: dimension {d} is empty")


@parsed(given_only="dim", with_dim="keepdim out")
def median(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of all elements, or along a dimension with its place; a NaN wins.

    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    return _median("median", input, dim, keepdim, out)


@parsed(given_only="dim", with_dim="keepdim out")
def nanmedian(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """`median` of what is no NaN. Raises: as `median`. Source: facts 4.4, torch 2.13."""
    return _median("nanmedian", input, dim, keepdim, out)


def _median(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> Any:
    if dim is not None:
        _check_places(out)
        if out is not None:
            check_out_dtype(out[0], input.dtype)
        d = wrap_dim(as_int(dim, "dim"), input.ndim)
        _no_length(name, input, d)
    if input.numel() or dim is not None:
        need_kernel(name, input.dtype, "if")
    a = _sortable(values(input))
    if dim is None:
        if not a.size:
            check_fillable(input.dtype)
            check_real_gradient(name, input.dtype, input)
            # No number, as any dtype has it: C leaves open what integer that is.
            nothing = np.array(np.nan)
            made = finish(cast(nothing, dt.float64, input.dtype), input.dtype, input, exact=True)
            shadow.stamp(made, cast_marks(nothing, dt.float64, input.dtype, None))
            return made
        flat = a.reshape(-1)
        found = values(input).reshape(-1)[_middle(flat, 0, name)]
        return _forget_signs(finish(found, input.dtype, input, exact=True), flat, None)
    where = _middle(a, d, name) if a.ndim else np.zeros((), np.int64)
    if out is not None:
        shape = reduced_shape(input._layout.shape, (d,), keepdim)
        for target in out:
            check_out(target, input)
            resize_output(target, shape)
        for target in out:
            check_internal_overlap(target)
            check_no_overlap(target, input)
    result = _pair(input, d, where, keepdim, out)
    if a.ndim and a.shape[d] > 1 and not input._layout.strides[d]:
        # Along a dimension of stride 0 PyTorch 2.13 reads the elements of other places.
        for t in result:
            shadow.leave_unspecified(t)
    return result


def _middle(a: Any, d: int, name: str) -> Any:
    """Places of the lower medians along a dimension."""
    order = np.argsort(a, axis=d, kind="stable")
    length = a.shape[d]
    if a.dtype.kind != "f":
        return np.take(order, (length - 1) // 2, d)
    nans = np.isnan(a).sum(d)
    if name == "median":
        rank = np.where(nans > 0, length - nans, (length - 1) // 2)
    else:
        rank = np.where(nans == length, 0, (length - nans - 1) // 2)
    return np.take_along_axis(order, np.expand_dims(rank, d), d).squeeze(d)


@parsed(out_first=True)
def kthvalue(input: "Tensor", k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The k-th smallest element along a dimension and its place.

    Raises: dimension, size, index (RuntimeError for k), dtype. Source: facts 4.4, torch 2.13.
    """
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if out is not None and out[0]._storage is input._storage:
        check_no_overlap(out[0], input)
    _check_places(out)
    _no_length("kthvalue", input, d)
    k = as_int(k, "k")
    length = input._layout.shape[d] if input.ndim else 1
    if not 1 <= k <= length:
        raise LayoutError("index", f"kthvalue: k is {k}, dimension {d} has length {length}")
    if input.ndim:
        need_kernel("kthvalue", input.dtype, "if")
    else:
        check_copyable(input.dtype)
    a = _sortable(values(input))
    where = np.take(np.argsort(a, axis=d, kind="stable"), k - 1, d) if a.ndim else np.zeros((), np.int64)
    return _pair(input, d, where, keepdim, out)


def mode(input: "Tensor", dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent element along a dimension, and a place. Raises: dimension, size, dtype. Source: facts 4.4."""
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if out is not None:
        check_out_dtype(out[0], input.dtype)
    _check_places(out)
    _no_length("mode", input, d)
    if input.ndim and input.numel():
        need_kernel("mode", input.dtype, "bif")
    a = _sortable(values(input))
    if not a.ndim:
        check_copyable(input.dtype)
        return _pair(input, d, np.zeros((), np.int64), keepdim, out)
    count = np.sum(np.expand_dims(a, d) == np.expand_dims(a, d + 1), axis=d + 1)
    most = count == count.max(d, keepdims=True, initial=0)
    # The smallest of the most frequent.
    ranked = np.argsort(np.argsort(a, axis=d, kind="stable"), axis=d)
    where = np.argmin(np.where(most, ranked, a.shape[d]), axis=d)
    found = _pair(input, d, where, keepdim, out)
    if a.dtype.kind == "f" and np.isnan(a).any() and a.shape[d] > 1:
        # PyTorch orders them by a comparison that a NaN defeats: what stands beside its equals depends on the sort.
        lost = np.isnan(a).any(axis=d, keepdims=keepdim).astype(np.uint8) * shadow.UNSPECIFIED
        for result in found:
            known = shadow.marks_of(result)
            shadow.stamp(result, lost if known is None else np.maximum(lost, known))
    return found


def msort(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Values in order along the first dimension. Raises: dimension, dtype. Source: torch 2.13."""
    result: Tensor = sort(input, 0).values
    return write_out(out, result, input, exact=True)


def quantile(
    input: "Tensor", q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear",
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Quantiles along a dimension or of all elements; several of them come first, innermost in memory.

    Raises: dimension, size, dtype, argument. Source: facts 4.4, torch 2.13.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out)


def nanquantile(
    input: "Tensor", q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear",
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`quantile` of what is no NaN. Raises: as `quantile`. Source: facts 4.4, torch 2.13."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out)


_METHODS = {"linear": "linear", "lower": "lower", "higher": "higher", "midpoint": "midpoint", "nearest": "nearest"}


def _check_quantile(name: str, input: "Tensor", q: Any, interpolation: str) -> Any:
    if interpolation not in _METHODS:
        raise LayoutError("argument", f"{name}: interpolation {interpolation!r} is none of {sorted(_METHODS)}")
    if not isinstance(q, TensorBase):
        if not isinstance(q, (int, float)):
            raise LayoutTypeError("argument", f"{name}: q must be a number or a Tensor, got {type(q).__name__}")
        if not 0 <= q <= 1:
            raise LayoutError("argument", f"{name}: q must be in [0, 1], got {q}")
    if not input.numel():
        raise LayoutError("size", f"{name}: the input is empty")
    if isinstance(q, TensorBase) and len(q._layout.shape) > 1:
        raise LayoutError("dimension", f"{name}: q must be a number or a vector")
    if input.dtype not in (dt.float32, dt.float64):
        raise LayoutError("dtype", f"{name}: float32 and float64 are taken, got {input.dtype}")
    if not isinstance(q, TensorBase):
        return np.float64(q)
    if q.dtype is not input.dtype:
        raise LayoutError("dtype", f"{name}: q must have the input's dtype {input.dtype}, got {q.dtype}")
    points = values(q).astype(np.float64)
    if points.size and not ((points >= 0) & (points <= 1)).all():
        raise LayoutError("argument", f"{name}: all of q must be in [0, 1]")
    return points


def _quantile(name: str, input: "Tensor", q: Any, dim: Any, keepdim: bool, interpolation: str, out: Any) -> "Tensor":
    points = _check_quantile(name, input, q, interpolation)
    d: Any = None if dim is None else wrap_dim(as_int(dim, "dim"), input.ndim)
    a = values(input).astype(np.float64)
    axis = None if d is None or not a.ndim else d
    f: Any = np.quantile if name == "quantile" else np.nanquantile
    with np.errstate(all="ignore"):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.asarray(f(a, points, axis=axis, keepdims=keepdim, method=_METHODS[interpolation]))
    if keepdim and a.ndim == 0:
        found = found.reshape(points.shape)
    # Several quantiles are the last dimension until the end.
    several = points.ndim == 1
    strides = contiguous_strides(found.shape)
    if several:
        inner = contiguous_strides((*found.shape[1:], found.shape[0]))
        strides = (inner[-1], *inner[:-1])
    result = finish(found, input.dtype, input, *(q,) if isinstance(q, TensorBase) else (), strides=strides)
    # Interpolated in place, and brought to shape in place.
    result._versions[0] = (interpolation in ("linear", "midpoint")) + (3 if several else 1)
    return write_out(out, result, input, exact=True, composed=True, row_major=True)
