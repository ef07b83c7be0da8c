"""batch_norm, layer_norm, group_norm."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import is_channels_last, is_contiguous, suggested_format, suggested_strides
from .conversion import cast, nan_marks
from .copies import store
from .core import as_int_list, from_array, recorded, values
from .errors import LayoutError, LayoutValueError, UnsupportedError
from .layout import channels_last_strides, contiguous_strides

if TYPE_CHECKING:
    from .tensors import Tensor


def _check(name: str, input: "Tensor") -> None:
    if input.dtype.category != "float" or input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {input.dtype}")


def _placed(input: "Tensor", wide: Any, strides: Any, *others: Any) -> "Tensor":
    result = cast(np.asarray(wide), dt.float64, input.dtype)
    out = from_array(result, input.dtype, strides)
    marks = np.full(result.shape, shadow.TOLERANCE, np.uint8)
    if any(shadow.marks_of(t) is not None for t in (input, *others) if t is not None):
        marks = np.full(result.shape, shadow.UNSPECIFIED, np.uint8)
    bad = nan_marks(result, input.dtype)
    shadow.stamp(out, marks if bad is None else np.maximum(marks, bad))
    return recorded(out, input, *[t for t in others if t is not None])


def batch_norm(
    input: "Tensor", running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-05,
) -> "Tensor":  # fmt: skip
    """Channels brought to mean 0 and variance 1, by running statistics or by the batch's own, which then update them.

    Raises: size, dtype, argument. Source: facts 4.4, torch 2.13.
    """
    shape, strides, _ = input._layout
    if training:
        count = int(np.prod(shape[:1] + shape[2:])) if shape else 0
        if count == 1:
            raise LayoutValueError("size", f"batch_norm: more than one value per channel is needed, got shape {shape}")
    if len(shape) < 2:
        raise LayoutError("dimension", f"batch_norm: at least 2 dimensions are needed, got {len(shape)}")
    _check("batch_norm", input)
    for t in (running_mean, running_var, weight, bias):
        if t is not None and t._layout.shape != (shape[1],):
            raise LayoutError("size", f"batch_norm: {t._layout.shape} for {shape[1]} channels")
    if not training and (running_mean is None or running_var is None):
        raise LayoutError("argument", "batch_norm: running statistics are needed outside training")
    a = values(input).astype(np.float64)
    axes = (0, *range(2, len(shape)))
    spread = [-1 if k == 1 else 1 for k in range(len(shape))]
    with np.errstate(all="ignore"):
        if training:
            mean, var = a.mean(axes), a.var(axes)
            count = a.size // max(shape[1], 1)
            for running, new in ((running_mean, mean), (running_var, var * count / max(count - 1, 1))):
                if running is not None:
                    updated = (1 - momentum) * values(running).astype(np.float64) + momentum * new
                    store(
                        running,
                        cast(updated, dt.float64, running.dtype),
                        np.full(updated.shape, shadow.TOLERANCE, np.uint8),
                    )
                    running._versions[0] += 1
        else:
            mean, var = values(running_mean).astype(np.float64), values(running_var).astype(np.float64)
        r = (a - mean.reshape(spread)) / np.sqrt(var.reshape(spread) + eps)
        if weight is not None:
            r = r * values(weight).astype(np.float64).reshape(spread)
        if bias is not None:
            r = r + values(bias).astype(np.float64).reshape(spread)
    others = (weight, bias) if training else (weight, bias, running_mean, running_var)
    plain = all(t is None or t.is_contiguous() for t in (weight, bias, running_mean, running_var))
    if len(shape) in (4, 5) and plain and is_channels_last(shape, strides) and not is_contiguous(shape, strides):
        target = channels_last_strides(shape)
    elif plain and is_contiguous(shape, strides):
        target = contiguous_strides(shape)
    else:
        target = suggested_strides(shape, suggested_format(shape, strides))
    return _placed(input, r, target, *others)


def layer_norm(
    input: "Tensor", normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> "Tensor":
    """The last dimensions brought to mean 0 and variance 1, row-major. Raises: size, dtype. Source: facts 4.4."""
    wanted = as_int_list(normalized_shape, "normalized_shape")
    shape = input._layout.shape
    if not wanted:
        raise LayoutError("size", "layer_norm: the normalized shape is empty")
    for t in (weight, bias):
        if t is not None and t._layout.shape != wanted:
            raise LayoutError("size", f"layer_norm: {t._layout.shape} for a normalized shape of {wanted}")
    if shape[len(shape) - len(wanted) :] != wanted or len(wanted) > len(shape):
        raise LayoutError("size", f"layer_norm: {wanted} is not the end of {shape}")
    _check("layer_norm", input)
    a = values(input).astype(np.float64)
    axes = tuple(range(len(shape) - len(wanted), len(shape)))
    with np.errstate(all="ignore"):
        r = (a - a.mean(axes, keepdims=True)) / np.sqrt(a.var(axes, keepdims=True) + eps) if a.size else a
        if weight is not None:
            r = r * values(weight).astype(np.float64)
        if bias is not None:
            r = r + values(bias).astype(np.float64)
    return _placed(input, r, contiguous_strides(shape), weight, bias)


def group_norm(input: "Tensor", num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> "Tensor":
    """Groups of channels brought to mean 0 and variance 1. Raises: size, dtype. Source: facts 4.4, torch 2.13."""
    shape, strides, _ = input._layout
    if len(shape) < 2:
        raise LayoutError("dimension", f"group_norm: at least 2 dimensions are needed, got {len(shape)}")
    if num_groups <= 0 or shape[1] % num_groups:
        raise LayoutError("size", f"group_norm: {shape[1]} channels in {num_groups} groups")
    _check("group_norm", input)
    a = values(input).astype(np.float64).reshape(shape[0], num_groups, -1)
    spread = [-1 if k == 1 else 1 for k in range(len(shape))]
    with np.errstate(all="ignore"):
        r = (
            ((a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + eps)).reshape(shape)
            if a.size
            else a.reshape(shape)
        )
        if weight is not None:
            r = r * values(weight).astype(np.float64).reshape(spread)
        if bias is not None:
            r = r + values(bias).astype(np.float64).reshape(spread)
    return _placed(input, r, suggested_strides(shape, suggested_format(shape, strides)), weight, bias)
