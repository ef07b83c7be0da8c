"""Operators along a dimension that keep its length: cumulative ones, softmax, sort, flip, roll."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import is_contiguous
from .conversion import cast, cast_marks, check_copyable, check_fillable, nan_marks
from .copies import clone, resolved, store
from .core import (
    TensorBase,
    array,
    as_dims,
    as_int,
    as_ints,
    bad_arguments,
    check_differentiable,
    check_history,
    check_inplace,
    check_internal_overlap,
    check_overlap,
    from_array,
    given_once,
    order_marks,
    recorded,
    records_history,
    values,
    written,
)
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .formats import contiguous_format
from .joining import cat
from .layout import contiguous_strides, wrap_dim
from .out import check_new, check_out, resize_output, write_out
from .output_layout import preserved_strides
from .parsing import parsed
from .reductions import ValuesAndIndices, check_out_dtype, deliver_both, need_reducing_kernel
from .results import finish, inexact_marks, need_kernel, rearranged
from .slicing_ops import narrow
from .views import transpose

if TYPE_CHECKING:
    from .tensors import Tensor


def _scan_marks(marks: Any, d: int) -> Any:
    if marks is None:
        return None
    marks = np.where(marks == shadow.NAN, shadow.EXACT, np.where(marks == shadow.TOLERANCE, shadow.UNSPECIFIED, marks))
    return np.maximum.accumulate(marks, axis=d).astype(np.uint8) if marks.ndim else marks.astype(np.uint8)


_ACCUMULATED = {"float16": dt.float32, "bfloat16": dt.float32, "float32": dt.float64, "complex64": dt.complex128}
_ACCUMULATED.update((d.name, dt.float32) for d in dt.FLOAT8)


def _cumulative(name: str, input: "Tensor", dim: Any, wanted: Any, out: Any) -> "Tensor":
    check_history(input)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if wanted is None and out is not None:
        wanted = out.dtype
    target = wanted or (dt.int64 if input.dtype.category in ("bool", "int") else input.dtype)
    if out is not None:
        check_out(out, input)
        check_out_dtype(out, target)
        resize_output(out, input._layout.shape)
        if input.ndim and input.numel():
            need_kernel(name, target, "ifc")
            check_overlap(out, input)
    else:
        if input.ndim and input.numel():
            need_kernel(name, target, "ifc")
    if not input.ndim:
        check_copyable(target)
    elif not input.numel():
        check_fillable(target)
    f = np.cumsum if name == "cumsum" else np.cumprod
    with np.errstate(all="ignore"):
        plain = cast(values(input), input.dtype, target)
        check_differentiable(target, input)  # elements that cannot be converted come first
        # As wide as PyTorch accumulates: whether a running product overflows depends on it.
        wide = _ACCUMULATED.get(target.name)
        a = plain.astype(wide.numpy) if wide else plain
        result = f(a, axis=d, dtype=a.dtype) if a.ndim else a
        if name == "cumsum" and a.ndim and a.dtype.kind in "fc":
            # A sum starts from zero, and so does not keep the sign of one.
            result = result + 0
        result = cast(np.asarray(result), wide, target) if wide else result
    marks = _scan_marks(cast_marks(values(input), input.dtype, target, shadow.marks_of(input)), d)
    if target.category in ("float", "complex"):
        with np.errstate(all="ignore"):
            small = np.all(np.abs(np.cumsum(np.abs(a))) < 2.0**23) and np.all(a == np.rint(a.real)) and name == "cumsum"
        if not (small and target.itemsize >= 4):
            loose = np.full(result.shape, shadow.TOLERANCE, np.uint8)
            marks = loose if marks is None else np.maximum(marks, loose)
        nan = nan_marks(result, target)
        if nan is not None:
            marks = nan if marks is None else np.maximum(marks, nan)
    t = from_array(result, target)
    if marks is not None:
        shadow.stamp(t, marks)
    return write_out(out, recorded(t, input), input)


@parsed(out_first=True)
def cumsum(input: "Tensor", dim: int, *, dtype: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """Running sums, row-major, integers in int64. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _cumulative("cumsum", input, dim, dtype, out)


@parsed(out_first=True)
def cumprod(input: "Tensor", dim: int, *, dtype: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """Running products, row-major, integers in int64. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _cumulative("cumprod", input, dim, dtype, out)


def _cumulative_(name: str, self: "Tensor", dim: Any, wanted: Any) -> "Tensor":
    check_inplace(self)
    wrap_dim(as_int(dim, "dim"), self.ndim)
    check_overlap(self)
    if wanted not in (None, self.dtype):
        raise LayoutError("dtype", f"{name}_: a {wanted} result in a tensor of {self.dtype}")
    result = _cumulative(name, self, dim, wanted or self.dtype, None)
    marks = order_marks(self)
    store(self, values(result), marks if marks is not None else shadow.marks_of(result))
    written(self)
    return self


def cumsum_(self: "Tensor", dim: int, *, dtype: Any = None) -> "Tensor":
    """`cumsum` in place. Raises: grad, overlap, dimension, dtype."""
    return _cumulative_("cumsum", self, dim, dtype)


def cumprod_(self: "Tensor", dim: int, *, dtype: Any = None) -> "Tensor":
    """`cumprod` in place. Raises: grad, overlap, dimension, dtype."""
    return _cumulative_("cumprod", self, dim, dtype)


def cummax(input: "Tensor", dim: int, *, out: Any = None) -> Any:
    """Running maxima and where they lie, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _into(out, _cumulative_extreme("cummax", input, dim, out), input)


def cummin(input: "Tensor", dim: int, *, out: Any = None) -> Any:
    """Running minima and where they lie, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _into(out, _cumulative_extreme("cummin", input, dim, out), input)


def _cumulative_extreme(name: str, input: "Tensor", dim: Any, out: Any) -> Any:
    d = wrap_dim(as_int(dim, "dim"), input.ndim) if input.numel() else 0
    a = values(input)
    if a.ndim and a.size:
        need_reducing_kernel(name, input.dtype, "bif", input, (), True, out)
    if input.dtype.is_complex and records_history(input):
        raise LayoutError("grad", f"{name}: no gradients through complex numbers")
    if not a.ndim:
        check_copyable(input.dtype)
    if not a.ndim or not a.size:
        best, where = a, np.zeros(a.shape, np.int64)
    else:
        with np.errstate(all="ignore"):
            best = np.maximum.accumulate(a, axis=d) if name == "cummax" else np.minimum.accumulate(a, axis=d)
            # The last of equal values counts: PyTorch compares with >=.
            hit = (a == best) | (a != a)
        steps = np.arange(a.shape[d]).reshape([-1 if k == d else 1 for k in range(a.ndim)])
        where = np.maximum.accumulate(np.where(hit, steps, 0), axis=d)
        best = np.take_along_axis(a, where, d)  # zeros of two signs are equal
    marks = _scan_marks(shadow.marks_of(input), d) if input.numel() else None
    first, second = from_array(best.astype(a.dtype), input.dtype), from_array(where, dt.int64)
    known = nan_or_none(marks, best, input.dtype)
    if known is not None:
        shadow.stamp(first, known)
    if marks is not None:
        shadow.stamp(second, marks)
    return ValuesAndIndices(recorded(first, input), second)


def _softmax(input: "Tensor", dim: Any, wanted: Any, log: bool) -> "Tensor":
    check_history(input)
    if (
        wanted is not None and wanted is not input.dtype and input.numel()
    ):  # it is converted before anything else is asked
        need_kernel("copy_", input.dtype, "bifchu8e")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    target: dtype = wanted or input.dtype
    if input.numel() and (target.category != "float" or target in dt.FLOAT8):
        raise UnsupportedError("dtype", f"softmax: PyTorch has no kernel for {target}")
    if input.requires_grad and target.is_complex:
        raise LayoutError("grad", f"softmax: no gradient for {target}")
    with np.errstate(all="ignore"):
        a = cast(values(input), input.dtype, target).real.astype(np.float64)
        if a.ndim and a.size:
            shifted = a - np.max(a, axis=d, keepdims=True)
            total = np.sum(np.exp(shifted), axis=d, keepdims=True)
            result = shifted - np.log(total) if log else np.exp(shifted) / total
            # The sum is known relatively, its logarithm absolutely.
            magnitude = np.where(np.isfinite(result), np.abs(shifted) + np.abs(np.log(total)) + 1, 0) if log else None
        else:
            result, magnitude = a - a if log else a * 0 + 1, None  # +0, whatever the sign of the one number
        loose = inexact_marks(result, target, magnitude, roundings=1, sums=False)
        result = cast(result, dt.float64, target)
    t = from_array(result, target)
    marks = shadow.marks_of(input)
    if marks is not None and a.size:
        axis = d if a.ndim else None
        worst = np.max(np.where(marks == shadow.NAN, 0, marks), axis=axis, keepdims=True)
        loose = np.maximum(loose, np.where(worst > 0, shadow.UNSPECIFIED, 0).astype(np.uint8))
    nan = nan_marks(result, target)
    shadow.stamp(t, loose if nan is None else np.maximum(loose, nan))
    return recorded(t, input)


def _softmax_into(out: "Tensor | None", input: "Tensor", dim: Any, dtype: Any, log: bool) -> "Tensor":
    try:
        result = _softmax(input, dim, dtype, log)
    except UnsupportedError:
        # PyTorch looks for a kernel after it has looked at the output.
        check_new(out, input, dtype or input.dtype, input._layout.shape)
        raise
    if isinstance(out, TensorBase) and out._layout.shape == result._layout.shape:
        check_internal_overlap(out)
    return write_out(out, result, input, exact=True)


def softmax(input: "Tensor", dim: int, dtype: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Softmax along a dimension, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _softmax_into(out, input, dim, dtype, False)


def log_softmax(input: "Tensor", dim: int, dtype: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Logarithm of the softmax, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _softmax_into(out, input, dim, dtype, True)


def _stable_by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose `stable` is a keyword, beside which there are no other arguments but keywords.

    Raises: argument (TypeError). Source: the two signatures of `sort`, torch 2.13.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 3 or (len(args) > 1 and "stable" in kwargs):
            raise bad_arguments(function.__name__, "dim and descending are keywords beside stable")
        return function(*args, **kwargs)

    return call


@parsed(out_first=True)
@_stable_by_name
def sort(
    input: "Tensor", dim: int = -1, descending: bool = False, stable: bool | None = False, *, out: Any = None
) -> Any:
    """Values in order and where they were, in the input's own order of dimensions.

    Where values are equal, the indices are specified only for a stable sort.

    Raises: dimension, dtype. Source: facts 4.4, torch 2.13.
    """
    found = _sort(input, dim, descending, bool(stable))
    # Elements that are one place in memory are not sorted, so that nothing is written to them.
    if out is not None and out[0] is input and input.ndim and input._layout.strides[dim]:
        check_internal_overlap(input)
    return ValuesAndIndices(*deliver_both(out, found, input, copied=True))


def _sort(input: "Tensor", dim: int, descending: bool, stable: bool) -> Any:
    check_history(input)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"sort: {input.dtype} is refused")
    shape, strides, _ = input._layout
    if input.numel():
        check_copyable(input.dtype)
    if input.ndim and strides[d]:
        # Elements that are one place in memory need no sorting.
        need_kernel("sort", input.dtype, "biuf")
    target = preserved_strides(shape, strides)
    a = values(input)
    if not a.ndim:
        return ValuesAndIndices(
            rearranged(input, a, (), shadow.marks_of(input)), from_array(np.zeros((), np.int64), dt.int64)
        )
    key = a.astype(np.float32) if a.dtype.kind not in "iufb" else a
    if descending:
        flipped = np.flip(key, d)
        order = a.shape[d] - 1 - np.flip(np.argsort(flipped, axis=d, kind="stable"), d)
    else:
        order = np.argsort(key, axis=d, kind="stable")
    found = np.take_along_axis(a, order, d)
    marks = shadow.marks_of(input)
    whole = None if marks is None else np.broadcast_to(np.max(marks, axis=d, keepdims=True, initial=0), a.shape)
    if whole is not None:
        whole = np.where(whole > 0, shadow.UNSPECIFIED, 0).astype(np.uint8)
    first = rearranged(input, found, target, nan_or_none(whole, found, input.dtype))
    second = from_array(order.astype(np.int64), dt.int64, target)
    if not stable and _tied(a, d):
        shadow.leave_unspecified(second)
    elif whole is not None:
        shadow.stamp(second, whole)
    return ValuesAndIndices(first, second)


def _into(out: Any, found: Any, input: "Tensor") -> Any:
    if out is None:
        return found
    check_out_dtype(out[1], dt.int64)
    return ValuesAndIndices(write_out(out[0], found.values, input), write_out(out[1], found.indices, input))


def nan_or_none(marks: Any, a: Any, d: dtype) -> Any:
    """Marks with the NaNs of moved values added: which of several comes first is not specified."""
    found = nan_marks(a, d)
    if found is None:
        return marks
    return found if marks is None else np.maximum(marks, found)


@parsed(given_only="stable")
@_stable_by_name
def argsort(
    input: "Tensor", dim: int = -1, descending: bool = False, stable: bool | None = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """Indices of the values in order. Raises: dimension, dtype, argument. Source: facts 4.4, torch 2.13."""
    if out is not None and stable is None:
        raise bad_arguments("argsort", "an out, but not whether it is to be stable")
    result: Tensor = sort(input, dim=dim, descending=descending, stable=bool(stable)).indices
    return write_out(out, result, exact=True)


@parsed(out_first=True)
def topk(input: "Tensor", k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None) -> Any:
    """The k largest or smallest values and where they were, row-major.

    Raises: dimension, index (RuntimeError where k exceeds the length), dtype. Source: facts 4.4, torch 2.13.
    """
    found = _topk(input, k, dim, largest, sorted)
    return ValuesAndIndices(*deliver_both(out, found, input, over=dim, keepdim=True))


def _topk(input: "Tensor", k: int, dim: int, largest: bool, sorted: bool) -> Any:
    check_history(input)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    k = as_int(k, "k")
    length = input._layout.shape[d] if input.ndim else 1
    if not 0 <= k <= length:
        raise LayoutError("index", f"topk: k is {k}, dimension {d} has length {length}")
    if input.dtype.is_complex or input.dtype is dt.bool_:
        raise LayoutError("dtype", f"topk: {input.dtype} is refused")
    if input.ndim:
        need_kernel("topk", input.dtype, "if")
    else:
        check_copyable(input.dtype)
    a = values(input)
    if not a.ndim:
        return ValuesAndIndices(
            rearranged(input, a, (), shadow.marks_of(input)), from_array(np.zeros((), np.int64), dt.int64)
        )
    first, second = sort(input, d, largest)
    take = (*[slice(None)] * d, slice(0, k))
    chosen = from_array(values(first)[take], input.dtype)
    where = from_array(values(second)[take], dt.int64)
    ties = _tied(a, d)
    for t in (chosen, where):
        source = first if t is chosen else second
        marks = shadow.marks_of(source)
        if marks is not None:
            shadow.stamp(t, marks[take])
    if ties and input.dtype.category == "float":
        # Among equal values any may be taken: 0.0 or -0.0.
        zero = np.where(values(chosen) == 0, shadow.TOLERANCE, shadow.EXACT).astype(np.uint8)
        marks = shadow.marks_of(chosen)
        shadow.stamp(chosen, zero if marks is None else np.maximum(zero, marks))
    if ties or not sorted:
        shadow.leave_unspecified(where)
    if not sorted:
        shadow.leave_unspecified(chosen)
    return ValuesAndIndices(recorded(chosen, input), where)


def _tied(a: Any, d: int) -> bool:
    ordered = np.sort(a.astype(np.float32) if a.dtype.kind not in "iufb" else a, axis=d)
    front = (*[slice(None)] * d, slice(1, None))
    back = (*[slice(None)] * d, slice(0, -1))
    with np.errstate(all="ignore"):
        return bool(((ordered[front] == ordered[back]) | np.isnan(ordered[back].astype(np.float64))).any())


def flip(input: "Tensor", *dims: Any, **kwargs: Any) -> "Tensor":
    """A copy reversed along dimensions, its order of dimensions kept.

    Raises: dimension, dtype. Source: facts 4.4, torch 2.13.
    """
    dims = given_once("flip", dims, kwargs, "dims")
    check_history(input)
    axes = [wrap_dim(d, input.ndim) for d in as_ints(dims, "dims")]
    if len(set(axes)) != len(axes):
        raise LayoutError("dimension", f"flip: dimensions {dims} repeat one")
    shape, strides, _ = input._layout
    target = preserved_strides(shape, strides)
    if input._bits:
        strides = target  # those of the copy without bits, which is flipped
    flipped, a = tuple(axes) if input.ndim else (), values(input)
    if input.numel() > 1 and any(shape[d] > 1 and strides[d] for d in flipped):
        inner = min((d for d, n in enumerate(shape) if n > 1), key=target.__getitem__)
        if strides[inner] != 1 or inner in flipped:
            # Only rows that keep their order are moved as bytes.
            need_kernel("flip", input.dtype, "bifc")
        elif input.dtype is dt.bool_:
            a = array(input)
    elif input.numel():
        # Nothing changes places.
        check_copyable(input.dtype)
    marks = shadow.marks_of(input)
    return rearranged(input, np.flip(a, flipped), target, None if marks is None else np.flip(marks, flipped))


def fliplr(input: "Tensor") -> "Tensor":
    """`flip` of columns. Raises: dimension below rank 2."""
    if input.ndim < 2:
        raise LayoutError("dimension", "fliplr: at least 2 dimensions are needed")
    return input.flip(1)


def flipud(input: "Tensor") -> "Tensor":
    """`flip` of rows. Raises: dimension below rank 1."""
    if input.ndim < 1:
        raise LayoutError("dimension", "flipud: at least 1 dimension is needed")
    return input.flip(0)


def roll(input: "Tensor", shifts: Any, dims: Any = None) -> "Tensor":
    """A copy rolled along dimensions, in the format the input suggests; row-major where it is flattened first.

    Raises: dimension, size (counts that differ). Source: facts 4.4, torch 2.13.
    """
    by = as_dims(shifts, "shifts")
    along = () if dims is None else as_dims(dims, "dims")
    check_history(input)
    shape = input._layout.shape
    if not by:
        raise LayoutError("size", "roll: shifts are empty")
    if (along or input.ndim < 2) and len(by) != (len(along) or 1):
        raise LayoutError("size", f"roll: {len(by)} shifts for {len(along)} dimensions")
    if not input.numel() and (along or input.ndim < 2):
        return clone(input)
    marks = shadow.marks_of(input)
    if not along:
        if len(by) != 1:
            raise LayoutError("size", f"roll: {len(by)} shifts without dimensions")
        # It is flattened and cut into two parts that are joined, byte by byte: where one is empty, the other is copied.
        is_joined = by[0] % input.numel() and is_contiguous(*input._layout[:2]) if input.numel() else True
        if not is_joined:
            check_copyable(input.dtype)
        rolled = np.roll(array(input) if is_joined and not input._bits else values(input), by[0])
        return rearranged(input, rolled, contiguous_strides(shape), None if marks is None else np.roll(marks, by[0]))
    if len(by) != len(along):
        raise LayoutError("size", f"roll: {len(by)} shifts for {len(along)} dimensions")
    if not input.ndim:
        raise LayoutIndexError("dimension", "roll: the tensor has no dimensions")
    result: Tensor = resolved(input)  # what has a bit is copied first, in its own order
    for shift, d in zip(by, along, strict=True):
        at = wrap_dim(d, input.ndim)
        length = input._layout.shape[at]
        # The two parts are joined by `cat`, whose layout this is: an empty part suggests no format.
        start = -shift % length
        result = cat([narrow(result, at, start, length - start), narrow(result, at, 0, start)], at)
    return result


def _turned(t: "Tensor", a: int, b: int) -> "Tensor":
    t._layout = transpose(t._layout, a, b)
    return t


def rot90(input: "Tensor", k: int = 1, dims: Any = (0, 1)) -> "Tensor":
    """A copy rotated in the plane of two dimensions. Raises: dimension. Source: facts 3.14, torch 2.13."""
    plane = as_dims(dims, "dims")
    if len(plane) != 2 or input.ndim < 2:
        raise LayoutError("dimension", f"rot90: {dims} is no plane of {input.ndim} dimensions")
    a, b = plane
    if a == b or (-input.ndim <= min(plane) and max(plane) < input.ndim and abs(a - b) == input.ndim):
        raise LayoutError("dimension", f"rot90: {dims} names one dimension twice")
    wrap_dim(a, input.ndim)
    wrap_dim(b, input.ndim)
    turns = k % 4
    if turns == 1:
        return _turned(flip(input, b), a, b)
    if turns == 2:
        return flip(input, a, b)
    if turns == 3:
        return _turned(flip(input, a), a, b)
    return clone(input, memory_format=contiguous_format)


def logcumsumexp(input: "Tensor", dim: int, *, out: "Tensor | None" = None) -> "Tensor":
    """Running `logsumexp` along a dimension, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if out is not None and out.dtype is not input.dtype:
        raise LayoutError("dtype", f"logcumsumexp: out must have the dtype {input.dtype}, got {out.dtype}")
    if out is not None and out._layout.shape == input._layout.shape:
        check_internal_overlap(out)
    need_kernel("logcumsumexp", input.dtype, "fc")
    a = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    if a.ndim and a.size:
        with np.errstate(all="ignore"):
            top = np.max(a.real, axis=d, keepdims=True)
            top = np.where(np.isfinite(top), top, 0)
            a = np.log(np.cumsum(np.exp(a - top), axis=d)) + top
    result = finish(a, input.dtype, input)
    # Sums of exponentials may cancel in their logarithm.
    shadow.leave_unspecified(result)
    return write_out(out, result, input)
