"""Mean, variance and standard deviation, covariance and correlation."""

import builtins
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, clamping, division, joining, linear_algebra, pointwise_ops, reductions, view_ops
from . import dtypes as dt
from .constructors import scalar_tensor
from .copies import to
from .core import values
from .dtype_view import conj, imag, real
from .errors import LayoutError
from .number_parts import complex as complex_of
from .parsing import parsed
from .reductions import group_size, inexact, reduced_dims
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _moments(
    input: "Tensor", dim: Any, unbiased: Any, keepdim: bool, correction: Any, *, alone: bool = False
) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """Variances, means, means of absolute values, and the dimensions that they are over.

    `alone` says that the means are not asked for.
    """
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased or unbiased is None else 0
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise LayoutError("dtype", f"std, var: the dtype must be floating point or complex, got {input.dtype}")
    dims = reduced_dims(input, dim)
    if input.numel():
        if alone and input.dtype in dt.FLOAT8 and group_size(values(input), dims) == input.numel():
            raise LayoutError("dtype", f"std, var: {input.dtype} is refused where all elements are one group")
        need_kernel("std, var", input.dtype, "fch")
    a = values(to(input, dt.complex64) if input.dtype is dt.complex32 else input)
    with np.errstate(all="ignore"):
        wide = a.astype(np.complex128 if input.dtype.is_complex else np.float64)
        count = np.float64(group_size(wide, dims))
        centre = np.sum(wide, axis=dims, keepdims=True) / count
        magnitude = np.sum(np.abs(wide), axis=dims, keepdims=keepdim) / count
        # Equal elements are off their mean by nothing: it is not found by adding them all up.
        top = np.max(wide, axis=dims, keepdims=True, initial=-np.inf)
        alike = (wide == top).all(axis=dims, keepdims=True) & np.isfinite(centre)
        apart = np.where(alike, 0, wide - centre)
        spread = np.sum(np.abs(apart) ** 2, axis=dims, keepdims=keepdim) / np.float64(
            builtins.max(count - correction, 0)
        )
        if not keepdim:
            centre = centre.reshape(spread.shape)
    return spread, centre, magnitude, dims


def _lost(spread: Any, size: Any, input: "Tensor", dims: tuple[int, ...], *, alone: bool) -> Any:
    """What variances are known against: the closer the elements, the more of their digits cancel.

    All are computed in double precision, but that of all elements is taken around a mean in the dtype's own (torch
    2.13). `size` is the mean absolute value, `alone` says that no means are asked for.
    """
    d = input.dtype.to_real()
    whole = alone and np.size(spread) == 1 and d in (dt.float32, dt.float64)
    terms = math.prod([input._layout.shape[k] for k in dims])
    with np.errstate(all="ignore"):
        centre = (1 + 1.5 * terms**0.5) * float(np.finfo(d.numpy).eps) * size**2 if whole or d is dt.float64 else None
        return spread + size * np.sqrt(spread) + centre if d is dt.float64 else centre


def _variance(
    spread: Any, size: Any, input: "Tensor", dims: tuple[int, ...], keepdim: bool, out: Any = None, *,
    alone: bool = False,
) -> "Tensor":  # fmt: skip
    lost = _lost(spread, size, input, dims, alone=alone)
    return inexact(spread, input, input.dtype.to_real(), dims, keepdim, out, magnitude=lost)


def _deviation(
    spread: Any, size: Any, input: "Tensor", dims: tuple[int, ...], keepdim: bool, out: Any = None, *,
    alone: bool = False,
) -> "Tensor":  # fmt: skip
    d = input.dtype.to_real()
    found, lost = np.sqrt(spread), _lost(spread, size, input, dims, alone=alone)
    with np.errstate(all="ignore"):
        if lost is not None:
            lost = np.where(lost == 0, 0, lost / found)
        if input.dtype.is_complex:
            # The root of a sum of two variances in the dtype's own range: what leaves it is not specified.
            limits = np.finfo(d.numpy)
            far = (spread > limits.max / 2) | ((spread > 0) & (spread < limits.tiny * 2.0**24))
            lost = np.where(far, np.inf, 0 if lost is None else lost)
    return inexact(found, input, d, dims, keepdim, out, magnitude=lost)


def _centre(centre: Any, size: Any, input: "Tensor", dims: tuple[int, ...], keepdim: bool) -> "Tensor":
    """The mean beside a deviation: brought nearer with each element, so that it rounds even where the sum is whole."""
    return inexact(centre, input, input.dtype, dims, keepdim, None, magnitude=size, sums=False)


@parsed(given_only="unbiased", out_first=True)
def var(
    input: "Tensor", dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Variance over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, _, size, dims = _moments(input, dim, unbiased, keepdim, correction, alone=True)
    return _variance(spread, size, input, dims, keepdim, out, alone=True)


@parsed(given_only="unbiased")
def std(
    input: "Tensor", dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Standard deviation over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, _, size, dims = _moments(input, dim, unbiased, keepdim, correction, alone=True)
    return _deviation(spread, size, input, dims, keepdim, out, alone=True)


@parsed(given_only="unbiased")
def var_mean(
    input: "Tensor", dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Variance and mean over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, centre, magnitude, dims = _moments(input, dim, unbiased, keepdim, correction)
    first = _variance(spread, magnitude, input, dims, keepdim)
    return first, _centre(centre, magnitude, input, dims, keepdim)


@parsed(given_only="unbiased")
def std_mean(
    input: "Tensor", dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Standard deviation and mean over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, centre, magnitude, dims = _moments(input, dim, unbiased, keepdim, correction)
    first = _deviation(spread, magnitude, input, dims, keepdim)
    return first, _centre(centre, magnitude, input, dims, keepdim)


def _weights(name: str, t: "Tensor", count: int, category: str) -> None:
    if t.ndim > 1:
        raise LayoutError("dimension", f"cov: {name} must have at most one dimension")
    if t.dtype.category != category:
        raise LayoutError("dtype", f"cov: {name} of {t.dtype}")
    if t.numel() != count:
        raise LayoutError("size", f"cov: {t.numel()} {name} for {count} observations")
    if count and values(t).min() < 0:
        raise LayoutError("argument", f"cov: {name} must not be negative")


def cov(
    input: "Tensor", *, correction: int = 1, fweights: "Tensor | None" = None, aweights: "Tensor | None" = None
) -> "Tensor":
    """Covariances of rows. Raises: dimension, size, dtype, argument. Source: torch 2.13."""
    if input.ndim > 2:
        raise LayoutError("dimension", f"cov: at most two dimensions are taken, got {input.ndim}")
    if input.dtype is dt.bool_:
        raise LayoutError("dtype", "cov: bool is refused")
    rows = input if input.ndim == 2 else view_ops.view(input, (1, -1))
    count = rows._layout.shape[1]
    w: Any = None
    if fweights is not None:
        _weights("fweights", fweights, count, "int")
        w = fweights
    if aweights is not None:
        _weights("aweights", aweights, count, "float")
        w = aweights if w is None else arithmetic.mul(w, aweights)
    total = scalar_tensor(count, dtype=dt.int64) if w is None else reductions.sum(w)
    if w is not None and values(total) == 0:
        raise LayoutError("argument", "cov: the weights sum to zero")
    average = division.div(reductions.sum(rows if w is None else arithmetic.mul(rows, w), 1), total)
    if aweights is not None and correction != 0:
        extra = reductions.sum(arithmetic.mul(w, aweights))
        norm = arithmetic.sub(total, division.div(arithmetic.mul(extra, correction), total))
    else:
        norm = arithmetic.sub(total, correction)
    if values(norm).real <= 0:
        norm = norm.zero_()
    centred = arithmetic.sub(rows, view_ops.unsqueeze(average, 1))
    other = centred if w is None else arithmetic.mul(centred, w)
    product = linear_algebra.mm(centred, conj(view_ops.t(other)))
    return view_ops.squeeze(division.div(product, norm))


def corrcoef(input: "Tensor") -> "Tensor":
    """Correlation coefficients of rows. Raises: dimension, dtype. Source: torch 2.13."""
    if input.ndim > 2:
        raise LayoutError("dimension", f"corrcoef: at most two dimensions are taken, got {input.ndim}")
    c = cov(input)
    if not c.ndim:
        return division.div(c, c)
    d = joining.diag(c)
    spread = pointwise_ops.sqrt(real(d) if d.dtype.is_complex else d)
    c = division.div(c, view_ops.view(spread, (-1, 1)))
    c = division.div(c, view_ops.view(spread, (1, -1)))
    if c.dtype.is_complex:
        return complex_of(clamping.clamp(real(c), -1, 1), clamping.clamp(imag(c), -1, 1))
    return clamping.clamp(c, -1, 1)
