"""Largest and smallest elements: values over dimensions, and where they are (facts 4.4)."""

import builtins
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import check_copyable
from .core import TensorBase, as_dims, as_int, check_history, values
from .dtypes import dtype, group_of
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, UnspecifiedError
from .layout import wrap_dim
from .parsing import parsed
from .pointwise_ops import maximum, minimum
from .reductions import (
    ValuesAndIndices,
    check_out_dtype,
    deliver,
    deliver_both,
    nan_or,
    need_reducing_kernel,
    reduce_marks,
    reduced_dims,
)
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


class MinAndMax(NamedTuple):
    """What aminmax returns."""

    min: "Tensor"
    max: "Tensor"


def _refuse(name: str, d: dtype, groups: str) -> None:
    # Checked before any kernel is looked for.
    if (d is dt.bool_ and "b" in groups) or (d.is_complex and "c" in groups):
        raise LayoutError("dtype", f"{name}: {d} is refused")


def _extreme(
    name: str,
    input: "Tensor",
    dims: tuple[int, ...],
    keepdim: bool,
    *,
    everything: bool = False,
    out: Any = None,
    over: Any = (),
) -> Any:
    a = values(input)
    if a.size == 0 and (everything or builtins.any(a.shape[d] == 0 for d in dims)):
        kind = LayoutError if everything else LayoutIndexError
        raise kind("size", f"{name}: nothing to choose from")
    if a.size:
        need_reducing_kernel(name, input.dtype, "bif", input, dims, keepdim, out, over=over)
    short = input.dtype in (dt.float16, dt.bfloat16)
    f = np.max if name in ("amax", "max") else np.min
    with np.errstate(all="ignore"):
        result = f(a.astype(np.float32) if short else a, axis=dims, keepdims=keepdim)
        return np.asarray(result).astype(input.dtype.numpy)


@parsed(out_first=True)
def amax(input: "Tensor", dim: Any = (), keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Largest values over dimensions. Raises: dimension, dtype, size (IndexError). Source: facts 4.4, torch 2.13."""
    return _amax("amax", input, dim, keepdim, out)


@parsed(out_first=True)
def amin(input: "Tensor", dim: Any = (), keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Smallest values over dimensions. Raises: dimension, dtype, size (IndexError). Source: facts 4.4, torch 2.13."""
    return _amax("amin", input, dim, keepdim, out)


def _amax(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> "Tensor":
    check_history(input)
    if out is not None:
        check_out_dtype(out, input.dtype)
    everything = dim is None or not as_dims(dim, "dim")
    if everything and not input.numel():
        raise LayoutError("size", f"{name}: nothing to choose from")
    dims = reduced_dims(input, dim)
    result = _extreme(name, input, dims, keepdim, everything=everything, out=out, over=dim)
    marks = _marks(input, dims, keepdim, result)
    if input.dtype.is_complex and input.requires_grad:
        raise LayoutError("grad", f"{name}: no gradient for {input.dtype}")
    return deliver(result, input.dtype, marks, input, out, over=dim)


def _marks(input: "Tensor", dims: tuple[int, ...], keepdim: bool, result: Any) -> Any:
    """What is known of extremes: of 0.0 and -0.0 either may be taken."""
    marks = nan_or(reduce_marks(input, dims, keepdim, smooth=True), result, input.dtype)
    if input.dtype.category == "float" and np.any(result == 0):
        zero = np.where(result == 0, shadow.TOLERANCE, shadow.EXACT).astype(np.uint8)
        marks = zero if marks is None else np.maximum(marks, zero)
    return marks


def _arg(name: str, a: Any, d: int) -> Any:
    """Index of the extreme along a dimension: NaN wins, and the first of several."""
    with np.errstate(all="ignore"):
        if a.dtype.kind not in "iufb":
            a = a.astype(np.float32)
        return np.argmax(a, axis=d) if name == "max" else np.argmin(a, axis=d)


@parsed(given_only="dim other", with_dim="keepdim", out_first=True)
def max(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: Any = None, other: Any = None) -> Any:
    """The largest value; values and indices along a dimension; or elementwise with another tensor.

    Raises: dimension, dtype, size. Source: facts 4.4, torch 2.13.
    """
    return _max("max", input, dim if other is None else other, keepdim, out)


@parsed(given_only="dim other", with_dim="keepdim", out_first=True)
def min(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: Any = None, other: Any = None) -> Any:
    """The smallest value; values and indices along a dimension; or elementwise with another tensor.

    Raises: dimension, dtype, size. Source: facts 4.4, torch 2.13.
    """
    return _max("min", input, dim if other is None else other, keepdim, out)


def _max(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> Any:
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"{name}: expected a Tensor, got {type(input).__name__}")
    if isinstance(dim, TensorBase):
        return (maximum if name == "max" else minimum)(input, dim, out=out)
    if dim is None:
        if not input.numel():
            raise LayoutError("size", f"{name}: nothing to choose from")
        need_kernel(name, input.dtype, "bif")
        dims = tuple(range(input.ndim))
        result = _extreme(name, input, dims, False)
        return deliver(result, input.dtype, _marks(input, dims, False, result), input, out)
    check_history(input)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    a = values(input)
    if a.ndim and a.shape[d] == 0:
        raise LayoutIndexError("size", f"{name}: dimension {d} is empty")
    _refuse(name, input.dtype, "c")
    if not a.ndim:
        check_copyable(input.dtype)
        found, where = a, np.zeros((), np.int64)
    else:
        if a.size:
            need_reducing_kernel(name, input.dtype, "bif", input, (d,), keepdim, out, over=dim)
        where = _arg(name, a, d) if a.size else np.zeros([n for k, n in enumerate(a.shape) if k != d], np.int64)
        found = np.take_along_axis(a, np.expand_dims(where, d), d)
        if keepdim:
            where = np.expand_dims(where, d)
        else:
            found = np.squeeze(found, d)
    dims = (d,) if a.ndim else ()
    first = deliver(
        found, input.dtype, nan_or(reduce_marks(input, dims, keepdim, smooth=True), found, input.dtype), input, None
    )
    second = deliver(where, dt.int64, reduce_marks(input, dims, keepdim, smooth=False), input, None)
    return ValuesAndIndices(*deliver_both(out, (first, second), input, over=dim, keepdim=keepdim))


def argmax(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Index of the largest value, along a dimension or of all elements. Raises: dimension, dtype, size."""
    return _argmax("max", input, dim, keepdim, out)


def argmin(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Index of the smallest value, along a dimension or of all elements. Raises: dimension, dtype, size."""
    return _argmax("min", input, dim, keepdim, out)


def _argmax(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> "Tensor":
    a = values(input)
    _refuse(f"arg{name}", input.dtype, "bc")
    if dim is None:
        if not a.size:
            raise LayoutIndexError("size", f"arg{name}: nothing to choose from")
        need_reducing_kernel("arg" + name, input.dtype, "if", input, tuple(range(a.ndim)), keepdim, out)
        where = np.asarray(_arg(name, a.reshape(-1), 0)).reshape((1,) * a.ndim if keepdim else ())
        marks = reduce_marks(input, tuple(range(a.ndim)), keepdim, smooth=False)
        return deliver(where, dt.int64, marks, input, out, exact=True)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if not a.ndim:
        if group_of(input.dtype) not in "if":
            # A length that is not there is compared with 1, in which case no kernel is needed (corrections, 4.4).
            raise UnspecifiedError(f"arg{name}: PyTorch has no kernel for {input.dtype}, and may not look for one")
        return deliver(np.zeros((), np.int64), dt.int64, None, input, out, exact=True)
    if a.shape[d] == 0:
        raise LayoutIndexError("size", f"arg{name}: dimension {d} is empty")
    if a.size and a.shape[d] > 1:
        need_reducing_kernel("arg" + name, input.dtype, "if", input, (d,), keepdim, out, over=dim)
    where = _arg(name, a, d) if a.size else np.zeros([n for k, n in enumerate(a.shape) if k != d], np.int64)
    return deliver(
        np.expand_dims(where, d) if keepdim else where,
        dt.int64,
        reduce_marks(input, (d,), keepdim, smooth=False),
        input,
        out,
        over=dim,
        exact=True,
    )


def aminmax(input: "Tensor", *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """Smallest and largest values. Raises: dimension, dtype, size. Source: facts 4.4, torch 2.13."""
    if dim is not None:
        d = wrap_dim(as_int(dim, "dim"), input.ndim)
        if input.ndim and input._layout.shape[d] == 0:
            raise LayoutIndexError("size", f"aminmax: dimension {d} is empty")
    if dim is None and not input.numel():
        raise LayoutError("size", "aminmax: nothing to choose from")
    if input.dtype.is_complex:
        if input.ndim == 0 and dim is not None:
            raise LayoutError("dtype", f"aminmax: {input.dtype} is refused")
        dims = reduced_dims(input, dim)
        need_reducing_kernel("aminmax", input.dtype, "bif", input, dims, keepdim, out, over=() if dim is None else dim)
    if dim is None:
        result = (amin(input, (), keepdim), amax(input, (), keepdim))
    elif not input.ndim:
        check_copyable(input.dtype)
        same = values(input), input.dtype, shadow.marks_of(input), input, None
        result = (deliver(*same), deliver(*same))
    else:
        need_reducing_kernel("aminmax", input.dtype, "bif", input, (d,), keepdim, out, over=dim)
        result = (amin(input, as_int(dim, "dim"), keepdim), amax(input, as_int(dim, "dim"), keepdim))
    return MinAndMax(*deliver_both(out, result, input, over=() if dim is None else dim, keepdim=keepdim))
