"""Reductions and scans made of others: nansum, logcumsumexp, trapezoids, differences, covariance, distances.

Composite operators are composed here as PyTorch composes them, so that layout, versions and errors follow.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, division, joining, norms, pointwise_ops, reductions, scans, shadow, view_ops
from . import dtypes as dt
from .conversion import cast
from .core import TensorBase, as_int, values
from .errors import LayoutError, LayoutIndexError
from .layout import wrap_dim
from .out import write_out
from .reductions import check_arithmetic, reduced_dims
from .results import finish

if TYPE_CHECKING:
    from .tensors import Tensor


def nansum(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Sums of what is no NaN. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", "nansum: complex numbers are refused")
    if input.dtype.category in ("bool", "int"):
        return reductions.sum(input, dim, keepdim, dtype=dtype, out=out)
    d = dtype or (out.dtype if out is not None else input.dtype)
    check_arithmetic("nansum", d, "if")
    dims = reduced_dims(input, dim)
    a = cast(values(input), input.dtype, d)
    with np.errstate(all="ignore"):
        result = np.nansum(a.astype(np.float64) if d.category == "float" else a, axis=dims, keepdims=keepdim)
        size = np.nansum(np.abs(a.astype(np.float64)), axis=dims, keepdims=keepdim)
    return write_out(out, finish(result, d, input, magnitude=size, terms=max(a.size, 1)), input)


def nanmean(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Means of what is no NaN. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if input.dtype.category not in ("float", "complex"):
        raise LayoutError("dtype", f"nanmean: floating point is needed, got {input.dtype}")
    dims = reduced_dims(input, dim)
    factor = reductions.sum(pointwise_ops.logical_not(pointwise_ops.isnan(input.detach())), dims or None, keepdim)
    total = nansum(input, dim, keepdim, dtype=dtype)
    return write_out(out, division.div(total, factor), input)


def logcumsumexp(input: "Tensor", dim: int, *, out: "Tensor | None" = None) -> "Tensor":
    """Running `logsumexp` along a dimension, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if input.numel():
        check_arithmetic("logcumsumexp", input.dtype, "fc")
    a = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    if a.ndim and a.size:
        with np.errstate(all="ignore"):
            top = np.max(a.real, axis=d, keepdims=True)
            top = np.where(np.isfinite(top), top, 0)
            a = np.log(np.cumsum(np.exp(a - top), axis=d)) + top
    result = finish(a, input.dtype, input)
    if result.numel():
        # Sums of exponentials may cancel in their logarithm.
        shadow.stamp(result, shadow.UNSPECIFIED)
    return write_out(out, result, input)


def dist(input: "Tensor", other: "Tensor", p: Any = 2) -> "Tensor":
    """Norm of the difference of two tensors. Raises: dtype, broadcast. Source: facts 4.4, torch 2.13."""
    return norms.torch_norm(arithmetic.sub(input, other), p)


def diff(
    input: "Tensor", n: int = 1, dim: int = -1, prepend: "Tensor | None" = None, append: "Tensor | None" = None, *,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Differences of neighbours along a dimension, n times over. Raises: dimension, size, dtype. Source: torch 2.13."""
    if not input.ndim:
        raise LayoutError("dimension", "diff: at least one dimension is needed")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if as_int(n, "n") < 0:
        raise LayoutError("size", f"diff: n must not be negative, got {n}")
    for t in (prepend, append):
        if t is None:
            continue
        if t.ndim != input.ndim:
            raise LayoutError("dimension", "diff: prepend and append have the input's number of dimensions")
        for k in range(input.ndim):
            if k != d and t._layout.shape[k] != input._layout.shape[k]:
                raise LayoutError("size", f"diff: shapes differ at dimension {k}")
    if n == 0:
        from .constructors import zeros_like
        from .copies import copy_

        result = copy_(zeros_like(input), input)
        return write_out(out, result, input)
    parts = [t for t in (prepend, input, append) if t is not None]
    if len(parts) > 1:
        input = joining.cat(parts, d)
    n = min(n, input._layout.shape[d])
    for _ in range(n):
        length = input._layout.shape[d] - 1
        later, earlier = view_ops.narrow(input, d, 1, length), view_ops.narrow(input, d, 0, length)
        input = (pointwise_ops.logical_xor if input.dtype is dt.bool_ else arithmetic.sub)(later, earlier)
    return write_out(out, input)


def _spaced(y: "Tensor", x: "Tensor", d: int, name: str) -> "Tensor":
    if x.ndim == 1:
        if x._layout.shape[0] != y._layout.shape[d]:
            raise LayoutError("size", f"{name}: {x._layout.shape[0]} places for {y._layout.shape[d]} samples")
        x = view_ops.view(x, tuple([x._layout.shape[0] if k == d else 1 for k in range(y.ndim)]))
    elif x.ndim < y.ndim:
        x = view_ops.view(x, (*[1] * (y.ndim - x.ndim), *x._layout.shape))
    length = x._layout.shape[d]
    return arithmetic.sub(_from(x, d, 1), view_ops.narrow(x, d, 0, max(length - 1, 0)))


def _from(t: "Tensor", d: int, start: int) -> "Tensor":
    length = t._layout.shape[d]
    start = min(start, length)
    return view_ops.narrow(t, d, start, length - start)


def _ends(y: "Tensor", d: int) -> tuple["Tensor", "Tensor"]:
    return view_ops.narrow(y, d, 0, max(y._layout.shape[d] - 1, 0)), _from(y, d, 1)


def trapezoid(y: "Tensor", x: "Tensor | None" = None, *, dx: Any = None, dim: int = -1) -> "Tensor":
    """Integrals along a dimension by the trapezoidal rule. Raises: dimension, size, dtype. Source: torch 2.13."""
    d = wrap_dim(as_int(dim, "dim"), y.ndim)
    if not y.ndim or not y._layout.shape[d]:
        if not y.ndim:
            raise LayoutIndexError("dimension", "trapezoid: at least one dimension is needed")
        from .constructors import zeros

        return zeros([n for k, n in enumerate(y._layout.shape) if k != d], dtype=y.dtype)
    _no_bool("trapezoid", y, x)
    if x is not None:
        left, right = _ends(y, d)
        return division.div(
            reductions.sum(arithmetic.mul(arithmetic.add(left, right), _spaced(y, x, d, "trapezoid")), d), 2.0
        )
    both = arithmetic.add(view_ops.select(y, d, 0), view_ops.select(y, d, -1))
    return arithmetic.mul(
        arithmetic.sub(reductions.sum(y, d), arithmetic.mul(both, 0.5)), 1.0 if dx is None else float(dx)
    )


def _no_bool(name: str, y: "Tensor", x: Any) -> None:
    if y.dtype is dt.bool_ or (isinstance(x, TensorBase) and x.dtype is dt.bool_):
        raise LayoutError("dtype", f"{name}: bool is refused")


def cumulative_trapezoid(y: "Tensor", x: "Tensor | None" = None, *, dx: Any = None, dim: int = -1) -> "Tensor":
    """Running `trapezoid` along a dimension. Raises: dimension, size, dtype. Source: torch 2.13."""
    d = wrap_dim(as_int(dim, "dim"), y.ndim)
    _no_bool("cumulative_trapezoid", y, x)
    if not y.ndim:
        raise LayoutIndexError("dimension", "cumulative_trapezoid: at least one dimension is needed")
    left, right = _ends(y, d)
    if x is not None:
        space = _spaced(y, x, d, "cumulative_trapezoid")
        return division.div(scans.cumsum(arithmetic.mul(arithmetic.add(right, left), space), d), 2.0)
    half = (1.0 if dx is None else float(dx)) / 2.0
    return scans.cumsum(arithmetic.mul(arithmetic.add(right, left), half), d)


def renorm(input: "Tensor", p: Any, dim: int, maxnorm: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """Slices scaled down to a largest norm, row-major. Raises: dimension, dtype, argument. Source: facts 4.4."""
    if input.dtype.category not in ("float", "complex"):
        raise LayoutError("dtype", f"renorm: floating point is needed, got {input.dtype}")
    if isinstance(p, complex) or p <= 0:
        raise LayoutError("argument", f"renorm: p must be positive, got {p}")
    if maxnorm < 0:
        raise LayoutError("argument", f"renorm: maxnorm must not be negative, got {maxnorm}")
    if input.ndim < 2:
        raise LayoutError("dimension", f"renorm: at least two dimensions are needed, got {input.ndim}")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    check_arithmetic("renorm", input.dtype, "fc")
    a = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    axes = tuple([k for k in range(a.ndim) if k != d])
    with np.errstate(all="ignore"):
        if p == np.inf:
            size = np.max(np.abs(a), axis=axes, keepdims=True, initial=0)
        else:
            size = np.sum(np.abs(a) ** p, axis=axes, keepdims=True) ** (1 / p)
        result = np.where(size > maxnorm, a * (maxnorm / (size + 1e-7)), a)
    return write_out(out, finish(result, input.dtype, input), input)


def addr(input: "Tensor", vec1: "Tensor", vec2: "Tensor", *, beta: Any = 1, alpha: Any = 1,
         out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * outer(vec1, vec2)`, elementwise. Raises: dimension, size, dtype. Source: torch 2.13."""
    for t in (vec1, vec2):
        if t.ndim != 1:
            raise LayoutError("dimension", f"addr: vectors are needed, got shape {t._layout.shape}")
    shape = (vec1.numel(), vec2.numel())
    own = view_ops.expand(input, shape)
    from .pointwise import Op, apply
    from .promotion import common_dtype

    common = common_dtype(own, vec1, vec2)
    for number in (beta, alpha):
        if isinstance(number, float) and common.category in ("int", "bool"):
            raise LayoutError("dtype", f"addr: {number} is no integer, the operands are {common}")
        if isinstance(number, bool) and common is not dt.bool_:
            raise LayoutError("dtype", f"addr: a boolean factor needs boolean operands, got {common}")

    def compute(s: Any, a: Any, b: Any) -> Any:
        if s.dtype.kind == "b":
            return (s & bool(beta)) | (a & b & bool(alpha))
        part = np.array(alpha).astype(s.dtype) * a * b
        return part if beta == 0 else np.array(beta).astype(s.dtype) * s + part

    column = view_ops._reshape(vec1, (shape[0], 1))
    return apply(Op("addr", compute, "bifc", exact=False), (own, column, vec2), out)
