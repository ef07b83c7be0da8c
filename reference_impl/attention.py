"""scaled_dot_product_attention: softmax(query @ key.T * scale + mask) @ value (facts 4.4)."""

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import check_tensors
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .kept import EACH, check_kept
from .layout import contiguous_strides
from .linear_algebra import same_dtype
from .output_layout import broadcast_shapes, preserved_strides
from .results import finish, need_kernel, wide
from .views import broadcasts_to

if TYPE_CHECKING:
    from .tensors import Tensor


def scaled_dot_product_attention(
    query: "Tensor", key: "Tensor", value: "Tensor", attn_mask: "Tensor | None" = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> "Tensor":  # fmt: skip
    """Attention of every query to all keys: a weighted mean of the values; it lies in memory as the query does.

    With dropout the values are not specified.

    Shapes: (…, l, e), (…, s, e) and (…, s, v) to (…, l, v); a mask broadcasts to (…, l, s).
    Raises: dimension, size, broadcast, dtype, argument. Source: facts 4.4, torch 2.13.
    """
    name = "scaled_dot_product_attention"
    check_tensors(name, query, key, value, *(() if attn_mask is None else (attn_mask,)))
    _check(name, query, key, value, attn_mask)
    d = query.dtype
    if d.is_complex or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")
    if d.category != "float":
        # Integers are masked by minus infinity before anything else looks at them.
        is_masked = attn_mask is not None and attn_mask.dtype is dt.bool_
        kind: Any = "overflow" if d.category == "int" and is_masked else "dtype"
        raise LayoutError(kind, f"{name}: the dtype must be floating point, got {d}")
    need_kernel(name, d, "f")
    q, k, v = wide(query), wide(key), wide(value)
    if enable_gqa and q.ndim >= 3 and k.shape[-3] and v.shape[-3]:
        k = np.repeat(k, q.shape[-3] // k.shape[-3], -3)
        v = np.repeat(v, q.shape[-3] // v.shape[-3], -3)
    lead = broadcast_shapes(broadcast_shapes(q.shape[:-2], k.shape[:-2]), v.shape[:-2])
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise LayoutError("size", f"{name}: shapes {q.shape}, {k.shape} and {v.shape} do not agree")
    shape = (*lead, q.shape[-2], v.shape[-1])
    fused = _is_fused(query, key, value, attn_mask, dropout_p)
    if is_causal and attn_mask is not None and not fused and all(t.numel() for t in (query, key, value)):
        raise LayoutError("argument", f"{name}: a mask and is_causal exclude each other where no kernel takes both")
    check_kept(name, EACH if fused else "2<0,1", (query, key, value))
    strides = preserved_strides(shape, query._layout.strides) if fused else contiguous_strides(shape)
    if shape[-2:] == (0, 1):
        # No queries of one number each: what is left of a transposed product, whose strides are plain products.
        strides = (*[0] * len(lead), 1, 0)
    factor = scale if scale is not None else 1 / sqrt(q.shape[-1]) if q.shape[-1] else 1.0
    with np.errstate(all="ignore"):
        scores = np.matmul(q, k.swapaxes(-1, -2)) * factor
        size = np.matmul(np.abs(q), np.abs(k).swapaxes(-1, -2)) * abs(factor)
        scores = _masked(scores, attn_mask, is_causal)
        weights = _softmax(scores)
        result = np.matmul(weights, v)
        # Scores enter as exponents: their absolute errors are relative errors of the weights.
        largest = np.max(np.where(np.isfinite(scores), size, 0), axis=-1, keepdims=True, initial=0)
        magnitude = np.matmul(weights, np.abs(v)) * (4 + 2 * largest)
    inputs = (query, key, value) if attn_mask is None else (query, key, value, attn_mask)
    out = finish(
        np.broadcast_to(result, shape), d, *inputs, strides=strides, magnitude=np.broadcast_to(magnitude, shape),
        terms=q.shape[-1] + k.shape[-2], roundings=4, sums=False,
    )  # fmt: skip
    # The fused kernel takes for granted that the output's last dimension is the innermost.
    if out.numel() and (dropout_p > 0 or (strides[-1] != 1 and shape[-1] > 1)):
        shadow.leave_unspecified(out)
    return out


def _check(name: str, query: "Tensor", key: "Tensor", value: "Tensor", mask: "Tensor | None") -> None:
    same_dtype(name, query, key, value)
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise LayoutError("dimension", f"{name}: query, key and value need at least 2 dimensions")
    if mask is not None and mask.dtype not in (dt.bool_, dt.float32, query.dtype):
        raise LayoutError("dtype", f"{name}: the mask must be bool or {query.dtype}, got {mask.dtype}")


def _masked(scores: Any, mask: "Tensor | None", is_causal: bool) -> Any:
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=np.bool_), scores, -np.inf)
    if mask is None:
        return scores
    if not broadcasts_to(mask._layout.shape, scores.shape):
        raise LayoutError(
            "broadcast", f"scaled_dot_product_attention: a mask of {mask._layout.shape} for scores of {scores.shape}"
        )
    if mask.dtype is dt.bool_:
        return np.where(wide(mask), scores, -np.inf)
    return scores + wide(mask)


def _softmax(scores: Any) -> Any:
    """Softmax over the last dimension; a row without any key has no weights."""
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, e / np.where(total == 0, 1, total))


def _is_fused(query: "Tensor", key: "Tensor", value: "Tensor", mask: "Tensor | None", dropout_p: float) -> bool:
    """Whether PyTorch's fused kernel takes these operands, whose result lies as the query does; else it multiplies.

    Raises: dimension (IndexError, a mask in which the kernel looks for two dimensions).
    """
    every = (query, key, value)
    fused = (
        dropout_p == 0
        and all(t.ndim == 4 and t.numel() for t in every)
        and len({t._layout.shape[:2] for t in every}) == 1
        and not (mask is not None and mask.requires_grad)
    )
    if fused and mask is not None:
        if mask.ndim < 2:
            raise LayoutIndexError("dimension", f"scaled_dot_product_attention: a mask of {mask.ndim} dimensions")
        fused = mask.ndim in (2, 4)
    return fused and len({t._layout.shape[3] for t in every}) == 1 and all(t._layout.strides[-1] == 1 for t in every)
