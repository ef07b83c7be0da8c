"""batch_norm, layer_norm, group_norm, instance_norm, rms_norm: values brought to mean 0 and variance 1 (facts 4.4)."""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, shadow, slicing_ops, view_ops
from . import dtypes as dt
from .contiguity import (
    format_strides,
    is_channels_last,
    is_contiguous,
    is_contiguous_in,
    suggested_format,
    suggested_strides,
)
from .conversion import cast
from .copies import clone, contiguous, copy_, resolved, store
from .core import as_int_list, check_constant, check_tensors, order_marks, recorded, values
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, LayoutValueError
from .formats import channels_last, channels_last_3d
from .grad_mode import no_grad
from .joining import repeat
from .kept import keeps
from .layout import Shape, Strides, contiguous_strides
from .output_layout import output_strides, preserved_strides
from .reductions import mean
from .results import finish, inexact_marks, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor

_EPSILON = {dt.float32: 2.0**-23, dt.float64: 2.0**-52, dt.bfloat16: 2.0**-23, dt.float16: 2.0**-23}


def _present(*tensors: Any) -> tuple[Any, ...]:
    return tuple([t for t in tensors if t is not None])


def _check_dtypes(name: str, d: dtype, parameters: tuple[Any, ...]) -> None:
    """Parameters have the input's dtype, or float32 where the input is a short float.

    The first one decides which of the two it is; without it a missing kernel is found before other dtypes are.
    """
    mixed = bool(parameters) and parameters[0].dtype is not d
    fits = all(t.dtype is (dt.float32 if mixed else d) for t in parameters)
    if not mixed:
        need_kernel(name, d, "f")
    if not fits or (mixed and d not in (dt.bfloat16, dt.float16)):
        raise LayoutError("dtype", f"{name}: an input of {d} with parameters of {[t.dtype for t in parameters]}")


def _need_values(shape: tuple[int, ...]) -> None:
    if not shape:
        raise LayoutIndexError("dimension", "a batch is needed, got a tensor without dimensions")
    if prod(shape[:1] + shape[2:]) == 1:
        raise LayoutValueError("size", f"more than one value per channel is needed in training, got shape {shape}")


def _normalized(x: Any, mean: Any, size: Any, var: Any, eps: float, weight: Any, bias: Any) -> tuple[Any, Any]:
    """`(x - mean) / sqrt(var + eps) * weight + bias`, and how large the terms are that may cancel in it.

    Shapes: all broadcast to `x`; `size` is the mean of the absolute values.
    """
    scale = 1 / np.sqrt(var + eps)
    result = (x - mean) * scale
    # The variance is known no better than the squares it is made of.
    magnitude = (np.abs(x) + size) * scale + np.abs(result) * (1 + (var + size**2) / np.abs(var + eps))
    if weight is not None:
        result, magnitude = result * weight, magnitude * np.abs(weight)
    if bias is not None:
        result, magnitude = result + bias, magnitude + np.abs(bias)
    return result, magnitude


@keeps("input", "running_mean", "running_var", "weight", "bias", rule="0<3,4 1<0,3,4 2<0,3,4 3<0,4")
def batch_norm(
    input: "Tensor", running_mean: "Tensor | None", running_var: "Tensor | None", weight: "Tensor | None" = None,
    bias: "Tensor | None" = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05,
) -> "Tensor":  # fmt: skip
    """Channels brought to mean 0 and variance 1, by running statistics or by the batch's own, which then update them.

    Shapes: (n, c, …), the other tensors (c,).
    Raises: size (also ValueError), dimension, argument, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("batch_norm", input, *_present(running_mean, running_var, weight, bias))
    if training:
        _need_values(input._layout.shape)
    if eps < 0 or (training and eps == 0):
        raise LayoutValueError("argument", f"batch_norm: eps must be positive, got {eps}")
    return batch_norm_of(input, running_mean, running_var, weight, bias, training, momentum, eps)


def batch_norm_of(
    input: "Tensor", running_mean: "Tensor | None", running_var: "Tensor | None", weight: "Tensor | None",
    bias: "Tensor | None", training: bool, momentum: float, eps: float,
) -> "Tensor":  # fmt: skip
    """`batch_norm` of channels that may have a single element. Raises: as `batch_norm`, but no ValueError for it."""
    input, weight, bias = resolved(input), *(None if t is None else resolved(t) for t in (weight, bias))
    shape = input._layout.shape
    if not input.numel():
        return _empty_batch(input, weight, bias)
    if len(shape) < 2:
        raise LayoutError("dimension", f"batch_norm: a batch and channels are needed, got shape {shape}")
    if training and (running_mean is None) != (running_var is None):
        raise LayoutValueError("argument", "batch_norm: both running statistics are needed, or none")
    if not training and (running_mean is None or running_var is None):
        raise LayoutError("argument", "batch_norm: running statistics are needed outside training")
    parameters = _present(weight, bias, running_mean, running_var)
    for t in parameters:
        if t.numel() != shape[1]:
            raise LayoutError("size", f"batch_norm: a parameter of shape {t._layout.shape} for {shape[1]} channels")
    check_constant("batch_norm", "running_mean", running_mean)
    check_constant("batch_norm", "running_var", running_var)
    d = input.dtype
    mixed = bool(parameters) and parameters[0].dtype is not d
    if training and d.category in ("bool", "int") and not mixed and not _is_dense(input, ()):
        raise LayoutError("dtype", f"batch_norm: {d} has no mean")
    need_kernel("batch_norm", d, "f")
    _check_dtypes("batch_norm", d, parameters)
    for t in _present(running_mean, running_var):
        if len(t._layout.shape) != 1:
            raise LayoutError("dimension", f"batch_norm: a statistic has one dimension, not {len(t._layout.shape)}")
    x = wide(input)
    axes = (0, *range(2, len(shape)))
    count = x.size // shape[1]
    with np.errstate(all="ignore"):
        if training:
            mean, size, var = x.mean(axes), np.abs(x).mean(axes), x.var(axes)
            if running_mean is not None and running_var is not None:
                _update(running_mean, mean, momentum, input)
                _update(running_var, var * count / max(count - 1, 1), momentum, input)
        else:
            mean, var = wide(running_mean).reshape(-1), wide(running_var).reshape(-1)
            size = np.abs(mean)
        spread = [-1 if k == 1 else 1 for k in range(len(shape))]
        w, b = (None if t is None else wide(t).reshape(spread) for t in (weight, bias))
        mean, size, var = (t.reshape(spread) for t in (mean, size, var))
        result, magnitude = _normalized(x, mean, size, var, eps, w, b)
    inputs = (input, *_present(weight, bias), *(() if training else _present(running_mean, running_var)))
    strides = _batch_strides(input, parameters)
    terms = count if training else 1
    # Means and scales of short floats are short floats, unless the parameters are not.
    roundings = 0 if parameters and parameters[0].dtype is not d else 3
    return finish(
        result, d, *inputs, strides=strides, magnitude=magnitude, terms=terms, roundings=roundings, sums=False
    )


def _empty_batch(input: "Tensor", weight: "Tensor | None", bias: "Tensor | None") -> "Tensor":
    """PyTorch answers a copy, which it multiplies and adds to so that gradients flow."""
    out = clone(input)
    if weight is not None:
        out = arithmetic.mul(out, slicing_ops.select(weight, 0, 0))
    if bias is not None:
        out = arithmetic.add(out, slicing_ops.select(bias, 0, 0))
    return out


def _batch_strides(input: "Tensor", parameters: tuple[Any, ...]) -> Strides:
    """The input's own format where everything is contiguous in one, else the one that it suggests."""
    shape, strides, _ = input._layout
    if _is_dense(input, parameters):
        if is_contiguous(shape, strides):
            return contiguous_strides(shape)
        return format_strides(shape, channels_last_3d if len(shape) == 5 else channels_last)
    return suggested_strides(shape, suggested_format(shape, strides))


def _is_dense(input: "Tensor", parameters: tuple[Any, ...]) -> bool:
    shape, strides, _ = input._layout
    dense = is_contiguous(shape, strides) or is_channels_last(shape, strides)
    return dense and all(is_contiguous(*t._layout[:2]) for t in parameters)


def _update(running: "Tensor", new: Any, momentum: float, input: "Tensor") -> None:
    """Move running statistics towards a batch's; PyTorch counts no write, and those with a bit are lost with a copy."""
    if running._bits:
        return
    old = values(running).astype(np.float64)
    updated = (1 - momentum) * old + momentum * new.reshape(old.shape)
    magnitude = np.abs((1 - momentum) * old) + np.abs(momentum * new.reshape(old.shape))
    d = running.dtype
    unsure = shadow.marks_of(running) is not None or shadow.marks_of(input) is not None
    marks = (
        np.full(old.shape, shadow.UNSPECIFIED, np.uint8)
        if unsure
        else inexact_marks(updated, d, magnitude, 16, 2, sums=False)
    )
    # Several channels that have one place in memory update it one after the other, in an order of PyTorch's own.
    order = order_marks(running)
    store(running, cast(updated, dt.float64, d), marks if order is None else order)


@keeps("input", "weight", "bias")
def layer_norm(
    input: "Tensor", normalized_shape: Any, weight: "Tensor | None" = None, bias: "Tensor | None" = None,
    eps: float = 1e-05,
) -> "Tensor":  # fmt: skip
    """The last dimensions brought to mean 0 and variance 1, row-major.

    Shapes: (…, *normalized_shape), weight and bias of normalized_shape.
    Raises: argument, size, dtype. Source: facts 4.4, torch 2.13.
    """
    parameters = _present(weight, bias)
    check_tensors("layer_norm", input, *parameters)
    wanted = _check_ending("layer_norm", input, normalized_shape, parameters)
    d = input.dtype
    shape = input._layout.shape
    _check_dtypes("layer_norm", d, parameters)
    axes = tuple(range(len(shape) - len(wanted), len(shape)))
    if not input.numel():
        return finish(np.zeros(shape, d.numpy), d, input, *parameters)
    x = wide(input)
    with np.errstate(all="ignore"):
        w, b = (None if t is None else wide(t) for t in (weight, bias))
        mean, size, var = x.mean(axes, keepdims=True), np.abs(x).mean(axes, keepdims=True), x.var(axes, keepdims=True)
        result, magnitude = _normalized(x, mean, size, var, eps, w, b)
    return finish(result, d, input, *parameters, magnitude=magnitude, terms=prod(wanted), sums=False)


def _check_ending(name: str, input: "Tensor", normalized_shape: Any, parameters: tuple[Any, ...]) -> Shape:
    wanted = as_int_list(normalized_shape, "normalized_shape")
    shape = input._layout.shape
    if not wanted:
        raise LayoutError("size", f"{name}: the normalized shape is empty")
    for t in parameters:
        if t._layout.shape != wanted:
            raise LayoutError(
                "size", f"{name}: a parameter of shape {t._layout.shape} for a normalized shape of {wanted}"
            )
    if len(wanted) > len(shape) or shape[len(shape) - len(wanted) :] != wanted:
        raise LayoutError("size", f"{name}: {wanted} is not the end of {shape}")
    return wanted


@keeps("input", "weight", "bias", rule="0<1,2 1<0,2")
def group_norm(
    input: "Tensor", num_groups: int, weight: "Tensor | None" = None, bias: "Tensor | None" = None, eps: float = 1e-05
) -> "Tensor":
    """Groups of channels brought to mean 0 and variance 1, in the format that the input suggests.

    Shapes: (n, c, …), weight and bias (c,).
    Raises: dimension, size (also ValueError), dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("group_norm", input, *_present(weight, bias))
    shape = input._layout.shape
    if len(shape) < 2:
        raise LayoutError("dimension", f"group_norm: at least 2 dimensions are needed, got {len(shape)}")
    if num_groups:
        _need_values((shape[0] * shape[1] // num_groups, num_groups, *shape[2:]))
    return group_norm_of(input, num_groups, weight, bias, eps)


def group_norm_of(
    input: "Tensor", num_groups: int, weight: "Tensor | None", bias: "Tensor | None", eps: float
) -> "Tensor":
    """`group_norm` of groups that may have a single element. Raises: as `group_norm`, but no ValueError."""
    input, weight, bias = resolved(input), *(None if t is None else resolved(t) for t in (weight, bias))
    parameters = _present(weight, bias)
    shape, strides, _ = input._layout
    if num_groups <= 0 or shape[1] % num_groups:
        raise LayoutError("size", f"group_norm: {shape[1]} channels in {num_groups} groups")
    for t in parameters:
        if t._layout.shape != (shape[1],):
            raise LayoutError("size", f"group_norm: a parameter of shape {t._layout.shape} for {shape[1]} channels")
    d = input.dtype
    _check_dtypes("group_norm", d, parameters)
    format = suggested_format(shape, strides)
    if not is_contiguous_in(shape, strides, format):
        strides = suggested_strides(shape, format)
    # The copy in the suggested format is asked again: lengths of 1 may lose it.
    out_strides = suggested_strides(shape, suggested_format(shape, strides))
    if not input.numel():
        return finish(np.zeros(shape, d.numpy), d, input, *parameters, strides=out_strides)
    x = wide(input).reshape(shape[0], num_groups, -1)
    channels = (1, num_groups, shape[1] // num_groups, 1)
    with np.errstate(all="ignore"):
        mean, size, var = (t[..., None, None] for t in (x.mean(-1), np.abs(x).mean(-1), x.var(-1)))
        w, b = (None if t is None else wide(t).reshape(channels) for t in (weight, bias))
        split = x.reshape(shape[0], num_groups, shape[1] // num_groups, -1)
        result, magnitude = _normalized(split, mean, size, var, eps, w, b)
    return finish(
        result.reshape(shape), d, input, *parameters, strides=out_strides, magnitude=magnitude.reshape(shape),
        terms=x.shape[-1], sums=False,
    )  # fmt: skip


@keeps("input", "weight", "bias", rule="0<1,2")
def instance_norm(
    input: "Tensor", running_mean: "Tensor | None" = None, running_var: "Tensor | None" = None,
    weight: "Tensor | None" = None, bias: "Tensor | None" = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-05,
) -> "Tensor":  # fmt: skip
    """Channels of every sample brought to mean 0 and variance 1: a `batch_norm` with samples as channels, viewed back.

    Shapes: (n, c, …), the other tensors (c,).
    Raises: size (also ValueError), dimension, argument, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("instance_norm", input, *_present(running_mean, running_var, weight, bias))
    shape = input._layout.shape
    if use_input_stats and prod(shape[2:]) == 1:
        raise LayoutValueError("size", f"instance_norm: more than one value per channel is needed, got shape {shape}")
    return instance_norm_of(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def instance_norm_of(
    input: "Tensor", running_mean: "Tensor | None", running_var: "Tensor | None", weight: "Tensor | None",
    bias: "Tensor | None", use_input_stats: bool, momentum: float, eps: float,
) -> "Tensor":  # fmt: skip
    """`instance_norm` of channels that may have a single element. Raises: as it, but no ValueError for them."""
    shape = input._layout.shape
    if not use_input_stats and (running_mean is None or running_var is None):
        raise LayoutError("argument", "instance_norm: running statistics are needed where the input's are not used")
    if len(shape) < 2:
        raise LayoutIndexError("dimension", f"instance_norm: a batch and channels are needed, got shape {shape}")
    n, c = shape[:2]
    mean, var, scale, shift = (None if t is None else repeat(t, n) for t in (running_mean, running_var, weight, bias))
    flat = view_ops.view(contiguous(input), (1, n * c, *shape[2:]))
    out = batch_norm_of(flat, mean, var, scale, shift, use_input_stats, momentum, eps)
    for running, part in ((running_mean, mean), (running_var, var)):
        if use_input_stats and running is not None and part is not None:
            _write_back(running, part, n, c)
    return view_ops.view(out, shape)


def _write_back(running: "Tensor", part: "Tensor", n: int, c: int) -> None:
    """Running statistics become the mean of those of the samples."""
    with no_grad():
        copy_(running, mean(view_ops.view(part, (n, c)), 0))


@keeps("input", "weight", rule="1<0")
def rms_norm(
    input: "Tensor", normalized_shape: Any, weight: "Tensor | None" = None, eps: float | None = None
) -> "Tensor":
    """The last dimensions divided by the root of their mean square.

    Shapes: (…, *normalized_shape), weight of normalized_shape.
    Raises: argument, size, dtype. Source: facts 4.4, torch 2.13.
    """
    parameters = _present(weight)
    check_tensors("rms_norm", input, *parameters)
    wanted = _check_ending("rms_norm", input, normalized_shape, parameters)
    d = input.dtype
    need_kernel("rms_norm", d, "fc")
    shape = input._layout.shape
    axes = tuple(range(len(shape) - len(wanted), len(shape)))
    x = wide(input)
    small = _EPSILON.get(d.to_real(), 2.0**-23) if eps is None else eps
    with np.errstate(all="ignore"):
        root = np.sqrt(np.sum(x**2, axis=axes, keepdims=True) / prod(wanted) + small) if x.size else 1.0
        result = x / root
        if weight is not None:
            result = result * wide(weight)
    out = finish(
        result, d, input, *parameters, strides=_rms_strides(input, weight, len(wanted)), magnitude=np.abs(result) * 3,
        terms=prod(wanted), sums=False,
    )  # fmt: skip
    return recorded(out, *parameters)


def _rms_strides(input: "Tensor", weight: "Tensor | None", count: int) -> Strides:
    """Strides of products with the roots, which are row-major, and with the weight, brought to the suggested format."""
    shape, strides, _ = input._layout
    wide_dtype = dt.float32 if input.dtype in (dt.bfloat16, dt.float16) else input.dtype
    made = strides if input.dtype is wide_dtype else preserved_strides(shape, strides)
    roots = (*shape[: len(shape) - count], *[1] * count)
    made = output_strides(shape, ((shape, made), (roots, contiguous_strides(roots))))
    if weight is not None:
        own = weight._layout
        lying = own.strides if weight.dtype is wide_dtype else preserved_strides(own.shape, own.strides)
        made = output_strides(shape, ((shape, made), (own.shape, lying)))
    if input.dtype is not wide_dtype:
        made = preserved_strides(shape, made)
    format = suggested_format(shape, strides)
    return made if is_contiguous_in(shape, made, format) else suggested_strides(shape, format)
