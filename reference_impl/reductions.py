"""Reductions: always row-major on the CPU, whatever the input's layout (facts 4.4)."""

import builtins
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import cast, cast_marks, check_fillable, nan_marks
from .core import (
    as_dims,
    as_int,
    check_differentiable,
    check_history,
    check_internal_overlap,
    check_overlap,
    from_array,
    has_gradient,
    recorded,
    values,
)
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .grad_mode import no_grad
from .layout import contiguous_strides, wrap_dim
from .out import check_out, resize_output, write_out
from .output_layout import walked
from .overlap import shares_memory
from .parsing import parsed
from .promotion import can_cast, get_default_dtype
from .results import inexact_marks, narrow_to, need_kernel, roundings_show

if TYPE_CHECKING:
    from .tensors import Tensor

_EXACT_SUM = 2.0**24


class ValuesAndIndices(NamedTuple):
    """What max, min, median, sort and their like return along a dimension."""

    values: "Tensor"
    indices: "Tensor"


def reduced_dims(input: "Tensor", dim: Any, *, empty_is_all: bool = True) -> tuple[int, ...]:
    """Dimensions of a reduction, wrapped; None, and mostly an empty list, means all.

    Raises: dimension (IndexError out of range, RuntimeError for a repetition).
    """
    if dim is None:
        return tuple(range(input.ndim))
    dims = as_dims(dim, "dim")
    if not dims and empty_is_all:
        return tuple(range(input.ndim))
    wrapped = [wrap_dim(d, input.ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise LayoutError("dimension", f"dimensions {dims} repeat one")
    return tuple(wrapped) if input.ndim else ()


def reduce_marks(input: "Tensor", dims: tuple[int, ...], keepdim: bool, *, smooth: bool) -> Any:
    """Marks of a reduction's result: the worst of each group."""
    marks = shadow.marks_of(input)
    if marks is None:
        return None
    marks = np.where(marks == shadow.NAN, shadow.EXACT, marks)
    if not smooth:
        marks = np.where(marks == shadow.TOLERANCE, shadow.UNSPECIFIED, marks)
    return np.max(marks, axis=dims, keepdims=keepdim, initial=0).astype(np.uint8)


def deliver(
    result: Any, d: dtype, marks: Any, input: "Tensor", out: "Tensor | None", *, over: Any = (), exact: bool = False
) -> "Tensor":
    """A row-major tensor of a reduction's result, marked and recorded.

    `over`: the dimensions as they were given, by operators that reduce into `out` itself; `exact`: `out` must have the
    dtype.

    Raises: dimension (IndexError), as `check_reduced_out`; dtype, grad, overlap, resize, as `write_out`.
    """
    a = np.asarray(result)
    t = from_array(a if a.dtype == d.numpy else a.astype(d.numpy), d)
    if marks is not None and np.any(marks):
        shadow.stamp(t, marks)
    if out is None:
        return recorded(t, input)
    if exact:
        check_out_dtype(out, d)
    read = out is input or (out._storage is input._storage and _share(out, input))
    source = input if has_gradient(d) else input.detach()  # places and truth values lose no gradients
    make_room(out, t._layout.shape, input, source, over=over)
    write_out(out, recorded(t, source), source)
    # The output is filled before the first element of the input is read.
    return shadow.leave_unspecified(out) if read else out


def make_room(out: Any, shape: tuple[int, ...], input: "Tensor", *sources: "Tensor", over: Any = ()) -> None:
    """Resize the output of a reduction, as PyTorch does before it looks for a kernel and before it reads.

    `sources`: what the history of the result comes from. Raises: argument (TypeError), grad, resize; dimension
    (IndexError), as `read_after_resizing`.
    """
    check_out(out, *sources)
    if out is input:
        read_after_resizing(out, shape, over)
    resize_output(out, shape)


def need_reducing_kernel(
    name: str, d: dtype, groups: str, input: "Tensor", dims: tuple[int, ...], keepdim: bool, out: Any, *, over: Any = ()
) -> None:
    """`need_kernel` for a reduction into `out`, which has been resized by then. Raises: dtype; as `make_room`."""
    try:
        need_kernel(name, d, groups)
    except UnsupportedError:
        for target in out if isinstance(out, (tuple, list)) else (out,):
            if target is not None:
                make_room(target, reduced_shape(input._layout.shape, dims, keepdim), input, input, over=over)
        raise


def _share(a: "Tensor", b: "Tensor") -> bool:
    return shares_memory(a._layout, a.dtype.itemsize, b._layout, b.dtype.itemsize)


def check_out_dtype(out: Any, d: dtype) -> None:
    """Refuse an `out` of another dtype than that of the result. Raises: argument (TypeError), dtype."""
    check_out(out)
    if out.dtype is not d:
        raise LayoutError("dtype", f"a {d} result needs an out of that dtype, got {out.dtype}")


def read_after_resizing(out: "Tensor", shape: tuple[int, ...], over: Any) -> None:
    """Resize an output that is its own input: the dimensions to reduce are then looked for in what it has become.

    Raises: dimension (IndexError), resize. Source: torch 2.13.

    >>> x = torch.zeros(2, 3)
    >>> torch.sum(x, 1, out=x)
    Traceback (most recent call last):
    ...
    stridecheck.reference_impl.errors.LayoutIndexError: dimension 1 is out of range [-1, 0]
    """
    check_out(out)
    resize_output(out, shape)
    for d in () if over is None else as_dims(over, "dim"):
        wrap_dim(d, out.ndim)


def deliver_both(
    out: Any,
    found: tuple["Tensor", "Tensor"],
    input: "Tensor",
    *,
    over: Any = (),
    keepdim: bool | None = None,
    copied: bool = False,
) -> tuple["Tensor", "Tensor"]:
    """Two results, or both into `out`: tensors of just those dtypes, resized before the input is read.

    `copied` where the input is copied to the first output to begin with. `over`: the dimension as it was given.
    `keepdim`: given by what reads the input while it writes, and reduces what an output that is the input has become.

    Raises: argument (TypeError), dtype, grad, overlap, resize; dimension (IndexError), as `read_after_resizing`.
    """
    if out is None:
        return found
    for target, made in zip(out, found, strict=True):
        check_out(target, input)
        check_out_dtype(target, made.dtype)
        resize_output(target, made._layout.shape, made._layout.strides)
    if not copied:
        check_internal_overlap(out[0])
    elif out[0] is not input:
        check_overlap(out[0], input)
    check_internal_overlap(out[1])
    if keepdim is None or not builtins.any(t._storage is input._storage and _share(t, input) for t in out):
        for target, made in zip(out, found, strict=True):
            write_out(target, made, input)
        return out[0], out[1]
    if builtins.any(t is input for t in out):
        read_after_resizing(input, input._layout.shape, over)
        shape = reduced_shape(input._layout.shape, reduced_dims(input, over), keepdim)
        for target in out:
            resize_output(target, shape)
    for target in out:
        shadow.leave_unspecified(target)
        target._versions[0] += 1
    return out[0], out[1]


def reduced_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape that a reduction leaves.

    >>> reduced_shape((2, 3), (1,), True), reduced_shape((2, 3), (1,), False)
    ((2, 1), (2,))
    """
    return tuple([1 if d in dims else n for d, n in enumerate(shape) if keepdim or d not in dims])


def nan_or(marks: Any, result: Any, d: dtype) -> Any:
    """Marks with NaN results added."""
    found = nan_marks(np.asarray(result), d)
    if found is None:
        return marks
    return found if marks is None else np.maximum(marks, found)


def sum_marks(plain: Any, total: Any, d: dtype, dims: tuple[int, ...], keepdim: bool) -> Any:
    """Marks of floats summed in an order of PyTorch's own.

    EXACT where all partial sums are small integers; else within a tolerance, and unspecified where terms cancel or a
    partial sum may overflow.
    """
    with np.errstate(all="ignore"):
        size = np.abs(plain).astype(np.float64)
        magnitude = np.sum(np.where(np.isfinite(size), size, 0), axis=dims, keepdims=keepdim)
        # Complex numbers are never taken for whole.
        whole = np.all(plain == (np.nan if plain.dtype.kind == "c" else np.rint(plain)), axis=dims, keepdims=keepdim)
    loose = inexact_marks(total, d, magnitude, group_size(plain, dims))
    return np.where(whole & (magnitude < _EXACT_SUM), shadow.EXACT, loose).astype(np.uint8)


def _summed_as_floats(input: "Tensor", dims: tuple[int, ...]) -> bool:
    """Whether PyTorch converts short floats before it sums them: where it would walk two reduced dimensions at once."""
    shape, strides, _ = input._layout
    kept = contiguous_strides(tuple([1 if d in dims else n for d, n in enumerate(shape)]))
    into = tuple([0 if d in dims else s for d, s in enumerate(kept)])
    inner = walked(shape, (into, strides), dims)[:2]
    return len(set(inner) & set(dims)) == 2


def _accumulate(
    name: str, input: "Tensor", dim: Any, keepdim: bool, wanted: Any, out: Any, f: Callable[..., Any]
) -> "Tensor":
    check_history(input)
    dims = reduced_dims(input, dim)
    if wanted is None and out is not None:
        wanted = out.dtype
    d = wanted or (dt.int64 if input.dtype.category in ("bool", "int") else input.dtype)
    if out is not None:
        check_out_dtype(out, d)
    if input.numel() and not (name == "sum" and d in dt.FLOAT8 and _summed_as_floats(input, dims)):
        need_reducing_kernel(name, d, "bifc", input, dims, keepdim, out, over=dim)
    a = values(input)
    source = input.dtype
    with np.errstate(all="ignore"):
        plain = cast(a, source, dt.float32 if d.category == "float" and d.itemsize < 4 else d)
        check_differentiable(d, input)  # elements that cannot be converted come first
        precise = {"float": np.float64, "complex": np.complex128}.get(d.category, d.numpy)
        if d is dt.complex32:
            precise = np.complex64
        total = np.asarray(f(plain, axis=dims, keepdims=keepdim, dtype=precise))
        result = narrow_to(total, d)
    if not input.numel() and (name == "prod" or not result.size):
        # An empty product is filled with ones; an empty sum is zero bytes, if there is one.
        check_fillable(d)
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    if d.category in ("float", "complex"):
        if name == "sum":
            loose = sum_marks(plain, total, d, dims, keepdim)
        else:
            loose = _product_marks(plain, total, d, dims, keepdim)
        marks = loose if marks is None else np.maximum(marks, loose)
        marks = nan_or(marks, result, d)
    else:
        converted = cast_marks(a, source, d, None)
        if converted is not None:
            worst = np.max(converted, axis=dims, keepdims=keepdim, initial=0).astype(np.uint8)
            marks = shadow.merge(result.shape, marks, worst)
    return deliver(result, d, marks, input, out, over=dim)


def _product_marks(plain: Any, total: Any, d: dtype, dims: tuple[int, ...], keepdim: bool) -> Any:
    """Marks of floats multiplied in an order of PyTorch's own, each product rounded to their dtype.

    Within a tolerance; unspecified where the roundings come to more, a partial product may overflow, or be too small
    for all its digits.
    """
    with np.errstate(all="ignore"):
        size = np.abs(plain)
        largest, least = (
            np.prod(some, axis=dims, keepdims=keepdim, dtype=np.float64)
            for some in (np.maximum(size, 1), np.where(size > 0, np.minimum(size, 1), 1))
        )
        smallest = _MIN.get(d.name, 1.2e-38)
        unknown = (largest > _MAX.get(d.name, 1.0)) | ((least < smallest) & (np.abs(total) >= smallest))
        if roundings_show(d, group_size(plain, dims)):
            unknown |= (total != 0) & ~np.isnan(total)
    return np.where(unknown, shadow.UNSPECIFIED, shadow.TOLERANCE).astype(np.uint8)


_MIN = {"float64": 2.3e-308, "complex64": 1e-19, "complex128": 1e-150}
_MAX = {"float16": 65504.0, "bfloat16": 3e38, "float32": 3e38, "float64": 1e308, "complex64": 1e19, "complex128": 1e150}


@parsed(with_dim="keepdim out", out_first=True)
def sum(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Sums over dimensions, integers in int64. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _accumulate("sum", input, dim, keepdim, dtype, out, np.sum)


@parsed(given_only="dim", with_dim="keepdim out", out_first=True)
def prod(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Products over one dimension or all, integers in int64. Raises: dimension, dtype. Source: facts 4.4."""
    if dim is not None:
        dim = as_int(dim, "dim")
    return _accumulate("prod", input, dim, keepdim, dtype, out, np.prod)


@parsed(with_dim="keepdim", out_first=True)
def mean(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Means over dimensions. Raises: dimension, dtype (RuntimeError for integers). Source: facts 4.4, torch 2.13."""
    d = dtype or input.dtype
    if not d.is_floating_point and not d.is_complex:
        raise LayoutError("dtype", f"mean: the dtype must be floating point or complex, got {d}")
    check_history(input)
    dims = reduced_dims(input, dim)
    if out is not None:
        if dtype is not None:
            check_out_dtype(out, d)
        check_out(out)
        if dim is None and not can_cast(d, out.dtype):
            raise LayoutError("dtype", f"mean: a {d} result cannot be cast to {out.dtype}")
        # It is summed in the dtype of the output, and then divided.
        d = out.dtype
        if not has_gradient(d):
            sum(input, dim, keepdim, dtype=d, out=out)
            out._versions[0] -= 1
            raise LayoutError("dtype", f"mean: a quotient cannot be cast to {d}")
    need_reducing_kernel("mean", d, "fc", input, dims, keepdim, out, over=dim)
    a = cast(values(input), input.dtype, d)
    with np.errstate(all="ignore"):
        wide = a.astype(np.complex128 if d.is_complex else np.float64)
        count = group_size(a, dims)
        total = np.asarray(np.sum(wide, axis=dims, keepdims=keepdim))
        result = narrow_to(total / np.float64(count), d)
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    loose = sum_marks(wide, total, d, dims, keepdim)
    if count & (count - 1):
        # Unlike that by a power of two, this division rounds.
        loose = np.maximum(loose, np.uint8(shadow.TOLERANCE))
    marks = loose if marks is None else np.maximum(marks, loose)
    made = deliver(result, d, nan_or(marks, result, d), input, out, over=dim)
    if out is input:
        # The sum is one into an output of its own, which is resized to what is left of it.
        resize_output(out, reduced_shape(out._layout.shape, reduced_dims(out, dim), keepdim))
    return made


def group_size(a: Any, dims: tuple[int, ...]) -> int:
    """Number of elements of an array that one result is made of."""
    lengths: tuple[int, ...] = a.shape
    return math.prod([lengths[d] for d in dims])


def all(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Whether all elements are true; uint8 stays uint8. Raises: dimension. Source: facts 4.4, torch 2.13."""
    return _logical(np.all, input, dim, keepdim, out)


def any(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Whether any element is true; uint8 stays uint8. Raises: dimension. Source: facts 4.4, torch 2.13."""
    return _logical(np.any, input, dim, keepdim, out)


def _logical(f: Callable[..., Any], input: "Tensor", dim: Any, keepdim: bool, out: Any) -> "Tensor":
    d = dt.uint8 if input.dtype is dt.uint8 else dt.bool_
    if out is not None:
        check_out(out)
        if out.dtype not in (dt.bool_, dt.uint8):
            raise LayoutError("dtype", f"all, any: out must be bool or uint8, got {out.dtype}")
        d = out.dtype
    dims = reduced_dims(input, dim, empty_is_all=False)
    if input.numel():
        need_reducing_kernel("all, any", input.dtype, "biufch8e", input, dims, keepdim, out)
    with np.errstate(invalid="ignore"):
        result = np.asarray(f(values(input) != 0, axis=dims, keepdims=keepdim)).astype(d.numpy)
    # A list of dimensions is not looked for in a scalar.
    over = dim if isinstance(dim, int) or result.ndim else ()
    return deliver(result, d, reduce_marks(input, dims, keepdim, smooth=False), input, out, over=over)


def inexact(
    result: Any,
    input: "Tensor",
    d: dtype,
    dims: tuple[int, ...],
    keepdim: bool,
    out: Any,
    *,
    magnitude: Any = None,
    roundings: int = 0,
    sums: bool = True,
    in_turn: bool = False,
) -> "Tensor":
    """`deliver` of what was computed wide and is right within a tolerance.

    `magnitude`: what its terms come to without their signs, where they may cancel; `roundings`: how many of them are
    rounded to a short float on the way; `sums`: whether it is no more than a sum, which may be exact in any order;
    `in_turn`: whether the terms are added one after the other.
    """
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    terms = math.prod([input._layout.shape[k] for k in dims])
    loose = inexact_marks(result, d, magnitude, terms, roundings, sums=sums, in_turn=in_turn)
    marks = loose if marks is None else np.maximum(marks, loose)
    with np.errstate(all="ignore"):
        a = cast(np.asarray(result), dt.complex128 if np.iscomplexobj(result) else dt.float64, d)
    return deliver(a, d, nan_or(marks, a, d), input, out)


@parsed(given_only="dim", out_first=True)
def logsumexp(input: "Tensor", dim: Any, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """`log(sum(exp(input)))` over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    d = get_default_dtype() if input.dtype.category in ("bool", "int") else input.dtype
    if input.numel() and input.ndim and not isinstance(dim, int) and not keepdim and not len(dim):
        raise LayoutError("broadcast", "logsumexp: an empty list of dimensions cannot be reduced without keepdim")
    dims = reduced_dims(input, dim)
    for given in (d, d if out is None else out.dtype):
        if not (given.is_floating_point or given.is_complex):
            raise LayoutError("dtype", f"logsumexp: {given} is no floating point")
    need_kernel("logsumexp", d, "fc")
    into = d if out is None else out.dtype
    wide = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    with np.errstate(all="ignore"):
        top = np.max(wide.real, axis=dims, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        terms = np.exp(wide - top)
        # They are summed in the dtype of the output, of complex numbers the real parts alone.
        rest = np.log(np.sum(terms if into.is_complex else terms.real, axis=dims, keepdims=keepdim))
        top = top if keepdim else top.reshape(rest.shape)
        # The sum is known relatively, its logarithm absolutely; and what is largest may cancel it.
        magnitude = np.where(np.isfinite(rest), np.abs(rest) + np.abs(top) + 1, 0)
    result = inexact(rest + top, input, into, dims, keepdim, out, magnitude=magnitude, roundings=2)
    # Sums of what was rounded to a shorter dtype than that of the output.
    return shadow.leave_unspecified(result) if into.itemsize > d.itemsize else result


def count_nonzero(input: "Tensor", dim: Any = None) -> "Tensor":
    """Number of elements that are not zero. Raises: dimension. Source: facts 4.4, torch 2.13."""
    dims = reduced_dims(input, dim)
    # Over some dimensions it is a sum of `input != 0`.
    need_kernel("count_nonzero", input.dtype, "bifch" if dim in (None, (), []) else "bifchu8e")
    result = np.sum(values(input) != 0, axis=dims)
    return deliver(result, dt.int64, reduce_marks(input, dims, False, smooth=False), input, None)


def hash_tensor(
    input: "Tensor", dim: Any = (), *, keepdim: bool = False, mode: int = 0, out: "Tensor | None" = None
) -> "Tensor":
    """The bits of elements, as doubles or int64, joined by exclusive or, in uint64.

    Raises: dimension, size (nothing to reduce; IndexError where a dimension is named), argument, dtype.
    Source: facts 4.4, torch 2.13.
    """
    if mode != 0:
        raise LayoutError("argument", f"hash_tensor: there is no mode {mode}")
    named = dim is not None and bool(as_dims(dim, "dim"))
    dims = reduced_dims(input, dim)
    if not named and not input.numel():
        raise LayoutError("size", "hash_tensor: nothing to reduce")
    for d in dims:
        if not input._layout.shape[d]:
            raise LayoutIndexError("size", f"hash_tensor: dimension {d} is empty")
    if out is not None and out.dtype is not dt.uint64:
        raise LayoutError("dtype", f"hash_tensor: out must be uint64, got {out.dtype}")
    if input.numel():
        need_kernel("hash_tensor", input.dtype, "bif")
    a = values(input)
    fold: Any = np.bitwise_xor.reduce
    bits = a.astype(np.float64 if input.dtype.category == "float" else np.int64).view(np.uint64)
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    unsure = nan_marks(a, input.dtype)
    if unsure is not None:
        # The sign of a NaN is among its bits.
        lost = np.where(np.max(unsure, axis=dims, keepdims=keepdim, initial=0) > 0, shadow.UNSPECIFIED, shadow.EXACT)
        marks = lost if marks is None else np.maximum(marks, lost)
    with no_grad():
        return deliver(fold(bits, axis=dims, keepdims=keepdim), dt.uint64, marks, input, out)
