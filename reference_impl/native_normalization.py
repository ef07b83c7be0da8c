"""The operators behind layer_norm, group_norm and batch_norm, which answer the statistics, too (facts 4.4)."""

# ruff: noqa: N803 - PyTorch's own names

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import shadow
from .contiguity import is_contiguous, is_contiguous_in, suggested_format
from .core import as_int_list
from .dtypes import dtype
from .errors import LayoutError
from .grad_mode import no_grad
from .kept import keeps
from .layout import wrap_dim
from .normalization import batch_norm_of, group_norm_of, layer_norm
from .out import write_out
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor

Three = tuple["Tensor", "Tensor", "Tensor"]


def _statistics(input: "Tensor", x: Any, eps: float, d: dtype, shape: tuple[int, ...]) -> tuple["Tensor", "Tensor"]:
    """Means of groups, and what their elements are multiplied by.

    Shapes: `x` (*groups, elements of one), both results `shape`.
    """
    terms = x.shape[-1]
    with np.errstate(all="ignore"):
        mean, size, var = (t.reshape(shape) for t in (x.mean(-1), np.abs(x).mean(-1), x.var(-1)))
        scale = 1 / np.sqrt(var + eps)
        # The variance is known no better than the squares it is made of.
        squares = scale * (1 + (var + size**2) / np.abs(var + eps))
    return (
        finish(mean, d, input, magnitude=size, terms=terms, sums=False),
        finish(scale, d, input, magnitude=squares, terms=terms, sums=False),
    )


def _dtype_of(input: "Tensor", weight: "Tensor | None", bias: "Tensor | None") -> dtype:
    """That of the parameters where they are wider."""
    return next((t.dtype for t in (weight, bias) if t is not None), input.dtype)


@keeps("input", "weight", "bias")
def native_layer_norm(
    input: "Tensor", normalized_shape: Any, weight: "Tensor | None", bias: "Tensor | None", eps: float
) -> Three:
    """`layer_norm`, its means and its scales, all row-major; the statistics have no history.

    Shapes: (…, *normalized_shape); the statistics have lengths of 1 in the place of `normalized_shape`.
    Raises: as `layer_norm`. Source: facts 4.4, torch 2.13.
    """
    out = layer_norm(input, normalized_shape, weight, bias, eps)
    shape = input._layout.shape
    count = len(as_int_list(normalized_shape, "normalized_shape"))
    groups = shape[: len(shape) - count]
    x = wide(input).reshape(*groups, prod(shape[len(groups) :]))
    with no_grad():
        mean, scale = _statistics(input, x, eps, _dtype_of(input, weight, bias), (*groups, *[1] * count))
    return out, mean, scale


@keeps("input", "weight", "bias", rule="0<1,2 1<0,2")
def native_group_norm(
    input: "Tensor", weight: "Tensor | None", bias: "Tensor | None", N: int, C: int, HxW: int, group: int, eps: float
) -> Three:
    """`group_norm`, its means and its scales.

    Shapes: N samples of C channels of HxW elements; the statistics (N, group).
    Raises: size, format (not contiguous in the format that it suggests), dtype. Source: facts 4.4, torch 2.13.
    """
    if input.numel() != N * C * HxW:
        raise LayoutError("size", f"native_group_norm: {input.numel()} elements are not {N} x {C} x {HxW}")
    own, strides, _ = input._layout
    if not is_contiguous_in(own, strides, suggested_format(own, strides)):
        raise LayoutError("format", f"native_group_norm: shape {own} with strides {strides} is contiguous in no format")
    out = group_norm_of(input, group, weight, bias, eps)
    if not all(is_contiguous(*t._layout[:2]) for t in (weight, bias) if t is not None):
        # Read as if they were, whatever lies behind them (torch 2.13).
        shadow.leave_unspecified(out)
    x = wide(input).reshape(N, group, C // group * HxW)
    mean, scale = _statistics(input, x, eps, _dtype_of(input, weight, bias), (N, group))
    return out, mean, scale


@keeps("input", "weight", "bias", "running_mean", "running_var", rule="0<1,2 1<0,2 3<0,1,2 4<0,1,2")
def native_batch_norm(
    input: "Tensor", weight: "Tensor | None", bias: "Tensor | None", running_mean: "Tensor | None",
    running_var: "Tensor | None", training: bool, momentum: float, eps: float, *, out: Any = None,
) -> Three:  # fmt: skip
    """`batch_norm` and, in training, the batch's means and scales, which have no history; else two empty vectors.

    Raises: as `batch_norm`, without its ValueErrors; size where there is no element. Source: facts 4.4, torch 2.13.
    """
    if is_contiguous(*input._layout[:2]) or not training:
        need_kernel("batch_norm", input.dtype, "f")
    if input.numel() and input.ndim:
        wrap_dim(1, input.ndim)
    elif not input.numel():
        raise LayoutError("size", f"native_batch_norm: an input of shape {input._layout.shape} has no element")
    found = batch_norm_of(input, running_mean, running_var, weight, bias, training, momentum, eps)
    x = wide(input)
    channels = x.shape[1] if training else 0
    x = np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)[:channels]
    with no_grad():
        mean, scale = _statistics(input, x, eps, _dtype_of(input, weight, bias), (channels,))
    if out is None:
        return found, mean, scale
    return tuple(write_out(o, t, input) for o, t in zip(out, (found, mean, scale), strict=True))  # type: ignore[return-value]
