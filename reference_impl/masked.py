"""`torch.masked`: reductions, scans and normalisations that leave out the elements at which a mask is false.

PyTorch composes them: an element that is left out becomes the reduction's identity, then the plain operator runs. So
does the layout: `where` lays out the filled copy, and the operator its result (facts 4.3.9 and 4.4). Without a mask
the operator sees the input itself. A mask is bool, and broadcasts to the input. Source: torch/masked/_ops.py, 2.13.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import activations, dtypes, extremes, order_statistics, reductions, scans, special_functions, view_ops
from .arithmetic import mul, sub
from .calls import add_tensor_checks as _add_tensor_checks
from .choosing import where
from .constructors import full, new_full, new_zeros
from .constructors import ones as _ones
from .copies import clone, to
from .core import values
from .division import div
from .dtype_view import conj
from .dtypes import dtype as _dtype
from .errors import (
    LayoutAssertionError,
    LayoutError,
    LayoutIndexError,
    LayoutTypeError,
    LayoutValueError,
    UnsupportedError,
)
from .norms import vector_norm
from .pointwise_ops import isnan, maximum, sqrt

if TYPE_CHECKING:
    from .tensors import Tensor

_WIDENED = frozenset((dtypes.uint8, dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32))
"""Dtypes whose sums and products are taken in int64; of the wide unsigned ones they are not."""


def _lowest(d: _dtype) -> float:
    return -math.inf if d.is_floating_point else _limits(d)[0]


def _highest(d: _dtype) -> float:
    return math.inf if d.is_floating_point else _limits(d)[1]


def _limits(d: _dtype) -> tuple[int, int]:
    """Least and greatest integer of a dtype. Raises: argument (TypeError), dtype (NotImplementedError)."""
    if d.is_complex:
        raise LayoutTypeError("argument", f"masked: {d} has no least and no greatest number")
    if not (d.is_signed or d is dtypes.uint8):
        raise UnsupportedError("dtype", f"masked: {d} has no identity of this reduction")
    info = np.iinfo(d.numpy)
    return int(info.min), int(info.max)


def _log_of_zero(d: _dtype) -> complex:
    return complex(-math.inf, 0) if d.is_complex else _lowest(d)


def _norm_identity(order: Any) -> Callable[[_dtype], float]:
    def identity(d: _dtype) -> float:
        if order != -math.inf:
            return 0
        if not d.is_floating_point:
            raise LayoutAssertionError("dtype", f"masked.norm: order {order} needs floating point, got {d}")
        return math.inf

    return identity


def _input_mask(input: "Tensor", mask: "Tensor") -> "Tensor":
    if mask._layout.shape != input._layout.shape:
        if mask.ndim > input.ndim:
            raise LayoutIndexError("dimension", f"masked: a mask of {mask.ndim} dimensions for {input.ndim}")
        mask = view_ops.broadcast_to(clone(mask), input._layout.shape)
    return to(mask, dtypes.bool_)


def _filled(input: "Tensor", mask: "Tensor | None", identity: Callable[[_dtype], Any]) -> "Tensor":
    """The input, or a copy with the identity wherever the mask is false."""
    if mask is None:
        return input
    canonical = _input_mask(input, mask)
    own = input.dtype
    return where(canonical, input, full((), identity(own), dtype=own))  # type: ignore[no-any-return]


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions in order; None and an empty list mean all.

    Raises: dimension (RuntimeError for a repetition, IndexError out of range).
    """
    if dim is None or dim == ():
        return tuple(range(ndim))
    length = max(ndim, 1)
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        # As PyTorch does: what is compared with are wrapped dimensions, what is looked for is not wrapped.
        if d in found:
            raise LayoutError("dimension", f"masked: dimension {d} is repeated")
        if not -length <= d < length:
            raise LayoutIndexError("dimension", f"masked: dimension {d} of {length}")
        found.append(d % length)
    return tuple(sorted(found))


def _summed_dtype(input: "Tensor", wanted: Any) -> Any:
    return wanted if wanted is not None else dtypes.int64 if input.dtype in _WIDENED else input.dtype


def sum(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Sums over dimensions, row-major. Raises: dimension, broadcast, dtype.

    >>> from stridecheck.reference_impl import tensor
    >>> sum(tensor([[1, 2], [3, 4]]), 0, mask=tensor([[True, False], [True, True]])).tolist()
    [4, 4]
    """
    wanted = _summed_dtype(input, dtype)
    dims = _dims(dim, input.ndim)
    return reductions.sum(_filled(input, mask, lambda _: 0), dims, bool(keepdim), dtype=wanted)


def prod(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Products over dimensions, one after the other from the last. Raises: dimension, broadcast, dtype."""
    wanted = _summed_dtype(input, dtype)
    dims = _dims(dim, input.ndim)
    result = to(_filled(input, mask, lambda _: 1), wanted)
    for d in reversed(dims):
        result = reductions.prod(result, d, bool(keepdim))
    return result


def cumsum(input: "Tensor", dim: int, *, dtype: Any = None, mask: "Tensor | None" = None) -> "Tensor":
    """Running sums in the input's dtype. Raises: dimension, broadcast, dtype."""
    wanted = dtype or input.dtype
    d = _dims(dim, input.ndim)[0]
    return to(scans.cumsum(_filled(input, mask, lambda _: 0), d, dtype=wanted), wanted)


def cumprod(input: "Tensor", dim: int, *, dtype: Any = None, mask: "Tensor | None" = None) -> "Tensor":
    """Running products in the input's dtype. Raises: dimension, broadcast, dtype."""
    wanted = dtype or input.dtype
    d = _dims(dim, input.ndim)[0]
    return to(scans.cumprod(_filled(input, mask, lambda _: 1), d, dtype=wanted), wanted)


def amax(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Largest values over dimensions. Raises: dimension, broadcast, size, dtype (also TypeError)."""
    filled = _filled(input, mask, _lowest)
    return to(extremes.amax(filled, _dims(dim, input.ndim), bool(keepdim)), dtype or input.dtype)


def amin(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Smallest values over dimensions. Raises: dimension, broadcast, size, dtype (also TypeError)."""
    filled = _filled(input, mask, _highest)
    return to(extremes.amin(filled, _dims(dim, input.ndim), bool(keepdim)), dtype or input.dtype)


def argmax(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Places of the largest values, in the input's dtype. Raises: dimension, broadcast, size, dtype."""
    return to(extremes.argmax(_filled(input, mask, _lowest), dim, bool(keepdim)), dtype or input.dtype)


def argmin(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Places of the smallest values, in the input's dtype. Raises: dimension, broadcast, size, dtype."""
    return to(extremes.argmin(_filled(input, mask, _highest), dim, bool(keepdim)), dtype or input.dtype)


def _total_and_count(
    input: "Tensor", dim: Any, keepdim: Any, wanted: Any, mask: "Tensor | None"
) -> tuple["Tensor", "Tensor", "Tensor | None"]:
    """Sum and number of the elements that are not left out, and the mask in full."""
    if mask is None:
        count = sum(_ones(input._layout.shape, dtype=dtypes.int64), dim, keepdim=keepdim)
        return sum(input, dim, keepdim=keepdim, dtype=wanted), count, None
    full_mask = _input_mask(input, mask)
    count = reductions.sum(full_mask, dim, bool(keepdim))
    return sum(input, dim, keepdim=keepdim, dtype=wanted, mask=full_mask), count, full_mask


def mean(
    input: "Tensor", dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Means over dimensions, NaN of nothing. Raises: dimension, broadcast, dtype (ValueError)."""
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        raise LayoutValueError("dtype", f"masked.mean: floating point or complex is needed, got {wanted}")
    total, count, _ = _total_and_count(input, dim, keepdim, wanted, mask)
    return div(total, count)


def median(
    input: "Tensor", dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Lower medians along a dimension; integers by way of float32. Raises: dimension, broadcast, dtype (ValueError)."""
    wanted = dtype or input.dtype
    d = _dims(dim, input.ndim)[0]
    floats = input.dtype.is_floating_point
    source = input if floats else to(input, dtypes.float32)
    result: Tensor = order_statistics.nanmedian(_filled(source, mask, lambda _: math.nan), d, keepdim).values
    if not floats and values(isnan(result)).any():
        raise LayoutValueError("dtype", "masked.median: where everything is left out only floating point has an answer")
    return result if floats else to(result, wanted)


def logsumexp(
    input: "Tensor", dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """`log(sum(exp(input)))` over dimensions, in the input's dtype. Raises: dimension, broadcast, dtype."""
    dims = _dims(dim, input.ndim)
    return to(reductions.logsumexp(_filled(input, mask, _log_of_zero), dims, keepdim), dtype or input.dtype)


def logaddexp(
    input: "Tensor", other: "Tensor", *, dtype: Any = None, input_mask: "Tensor | None" = None,
    other_mask: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`log(exp(input) + exp(other))`, each with a mask of its own. Raises: broadcast, dtype (also TypeError)."""
    first, second = _filled(input, input_mask, _lowest), _filled(other, other_mask, _lowest)
    return to(special_functions.logaddexp(first, second), dtype or input.dtype)


def norm(
    input: "Tensor", ord: Any = 2.0, dim: Any = None, *, keepdim: Any = False, dtype: Any = None,
    mask: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Norms over dimensions. Raises: dimension, broadcast, size, dtype (also AssertionError)."""
    filled = _filled(input, mask, _norm_identity(ord))
    return vector_norm(filled, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def var(
    input: "Tensor", dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: Any = False,
    dtype: Any = None, mask: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Variances over dimensions. Raises: dimension, broadcast, dtype, argument (AssertionError)."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: "Tensor", dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: Any = False,
    dtype: Any = None, mask: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Standard deviations over dimensions. Raises: dimension, broadcast, dtype, argument (AssertionError)."""
    result: Tensor = sqrt(_variance(input, dim, unbiased, correction, keepdim, dtype, mask))
    return result


def _variance(
    input: "Tensor", dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: "Tensor | None"
) -> "Tensor":
    if unbiased is not None and correction is not None:
        raise LayoutAssertionError("argument", "masked: either unbiased or correction may be given")
    minus = float(correction) if correction is not None else 0.0 if unbiased is not None and not unbiased else 1.0
    own = input.dtype
    wanted = dtype or (own if own.is_floating_point or own.is_complex else dtypes.float32)
    inner = wanted if wanted.is_floating_point or wanted.is_complex else dtypes.float32
    total, count, full_mask = _total_and_count(input, dim, True, wanted, mask)
    apart = sub(input, div(total, count))
    squares = sum(mul(apart, conj(apart)), dim, keepdim=keepdim, dtype=inner, mask=full_mask)
    if not keepdim:
        count = view_ops.reshape(count, squares._layout.shape)
    if minus:
        count = sub(to(count, inner.to_real()), minus)
        count = maximum(count, new_zeros(count, ()))
    return to(div(squares, count), wanted)


def softmax(input: "Tensor", dim: int, *, dtype: Any = None, mask: "Tensor | None" = None) -> "Tensor":
    """Softmax along a dimension. Raises: dimension, broadcast, dtype (also TypeError)."""
    d = _dims(dim, input.ndim)[0]
    return scans.softmax(_filled(input, mask, _lowest), d, dtype or input.dtype)


def log_softmax(input: "Tensor", dim: int, *, dtype: Any = None, mask: "Tensor | None" = None) -> "Tensor":
    """Logarithm of the softmax along a dimension. Raises: dimension, broadcast, dtype (also TypeError)."""
    d = _dims(dim, input.ndim)[0]
    return scans.log_softmax(_filled(input, mask, _lowest), d, dtype or input.dtype)


def softmin(input: "Tensor", dim: int, *, dtype: Any = None, mask: "Tensor | None" = None) -> "Tensor":
    """Softmax of the negated input along a dimension. Raises: dimension, broadcast, dtype (also TypeError)."""
    d = _dims(dim, input.ndim)[0]
    return activations.softmin(_filled(input, mask, _highest), d, dtype=dtype or input.dtype)


def normalize(
    input: "Tensor", ord: float, dim: Any, *, eps: float = 1e-12, dtype: Any = None, mask: "Tensor | None" = None
) -> "Tensor":
    """Divided by the norm along a dimension. Raises: dimension, broadcast, size, dtype (also AssertionError)."""
    filled = _filled(input, mask, lambda _: 0)
    size = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return div(filled, maximum(size, new_full(size, (), eps)))


_add_tensor_checks(
    globals(),
    "sum prod cumsum cumprod amax amin argmax argmin mean median logsumexp logaddexp norm var std softmax log_softmax "
    "softmin normalize",
)
