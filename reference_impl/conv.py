"""Convolutions: channels-last where the input or the weight suggests it (facts 4.6)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import suggested_format, suggested_strides
from .conversion import cast
from .copies import contiguous
from .core import as_int, from_array, recorded, values, view_of
from .errors import LayoutError, UnsupportedError
from .formats import channels_last, contiguous_format
from .layout import channels_last_strides
from .view_ops import unsqueeze
from .views import squeeze

if TYPE_CHECKING:
    from .tensors import Tensor


def per_dim(value: Any, count: int, name: str) -> tuple[int, ...]:
    """An argument given once for all spatial dimensions, or for each.

    Raises: size (RuntimeError) for a wrong count, argument (TypeError).
    """
    if isinstance(value, (tuple, list)):
        found = tuple([as_int(v, name) for v in value])
        if len(found) == 1:
            return found * count
        if len(found) != count:
            raise LayoutError("size", f"{name}: {len(found)} values for {count} spatial dimensions")
        return found
    return (as_int(value, name),) * count


def _convolution(
    input: "Tensor", weight: "Tensor", bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, spatial: int
) -> "Tensor":
    name = f"conv{spatial}d"
    if weight.ndim != spatial + 2:
        raise LayoutError("dimension", f"{name}: a weight of {spatial + 2} dimensions is needed, got {weight.ndim}")
    if input.ndim not in (spatial + 1, spatial + 2):
        raise LayoutError(
            "dimension", f"{name}: an input of {spatial + 1} or {spatial + 2} dimensions is needed, got {input.ndim}"
        )
    if input.ndim == spatial + 1:
        batched = _convolution(unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups, spatial)
        return view_of(batched, squeeze(batched._layout, (0,)))
    if weight.dtype is not input.dtype or (bias is not None and bias.dtype is not input.dtype):
        raise LayoutError("dtype", f"{name}: an input of {input.dtype} and a weight of {weight.dtype}")
    steps, holes = per_dim(stride, spatial, "stride"), per_dim(dilation, spatial, "dilation")
    if min(steps) <= 0:
        raise LayoutError("size", f"{name}: stride {steps} is not positive")
    if min(holes) <= 0:
        raise LayoutError("size", f"{name}: dilation {holes} is not positive")
    if groups <= 0:
        raise LayoutError("size", f"{name}: {groups} groups")
    shape, kernel = input._layout.shape, weight._layout.shape
    pads = _padding(padding, kernel[2:], steps, holes, spatial)
    if kernel[0] < groups or kernel[0] % groups or shape[1] != kernel[1] * groups:
        raise LayoutError("size", f"{name}: {shape[1]} channels for a weight of shape {kernel} in {groups} groups")
    if bias is not None and bias._layout.shape != (kernel[0],):
        raise LayoutError("size", f"{name}: a bias of shape {bias._layout.shape} for {kernel[0]} channels")
    reach = [h * (k - 1) + 1 for h, k in zip(holes, kernel[2:], strict=True)]
    lengths = [n + p + q for n, (p, q) in zip(shape[2:], pads, strict=True)]
    if any(n < r for n, r in zip(lengths, reach, strict=True)):
        raise LayoutError(
            "size", f"{name}: a kernel of {tuple(reach)} is larger than the padded input {tuple(lengths)}"
        )
    d = input.dtype
    if d.category not in ("float", "complex", "int") or d in dt.FLOAT8 or d in dt.BARE_UINT:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")
    result, marks = _values(input, weight, bias, steps, pads, holes, groups, reach)
    format = contiguous_format
    split = groups > 1 and d not in (dt.float32, dt.bfloat16, dt.float16)
    if spatial == 2 and channels_last in (suggested_format(*input._layout[:2]), suggested_format(*weight._layout[:2])):
        format = channels_last
        if split:
            # Without a kernel for groups each one is convolved alone, and the results are joined by `cat`.
            part = (result.shape[0], result.shape[1] // groups, *result.shape[2:])
            format = suggested_format(part, channels_last_strides(part))
    out = from_array(result, d, suggested_strides(result.shape, format))
    if marks is not None:
        shadow.stamp(out, marks)
    return recorded(out, input, weight, *([] if bias is None else [bias]))


def _padding(padding: Any, kernel: Any, steps: Any, holes: Any, spatial: int) -> list[tuple[int, int]]:
    if padding == "valid":
        return [(0, 0)] * spatial
    if padding == "same":
        if any(s != 1 for s in steps):
            raise LayoutError("size", "conv: padding='same' needs a stride of 1")
        total = [h * (k - 1) for h, k in zip(holes, kernel, strict=True)]
        return [(t // 2, t - t // 2) for t in total]
    if isinstance(padding, str):
        raise LayoutError("argument", f"conv: padding must be 'valid' or 'same', got {padding!r}")
    pads = per_dim(padding, spatial, "padding")
    if min(pads) < 0:
        raise LayoutError("size", f"conv: padding {pads} is negative")
    return [(p, p) for p in pads]


def _values(
    input: "Tensor", weight: "Tensor", bias: Any, steps: Any, pads: Any, holes: Any, groups: int, reach: list[int]
) -> tuple[Any, Any]:
    d = input.dtype
    wide = d.numpy if d.category == "int" else np.dtype(np.complex128 if d.is_complex else np.float64)
    x = np.pad(values(input).astype(wide), [(0, 0), (0, 0), *pads])
    w = values(weight).astype(wide)
    spatial = len(reach)
    axes = tuple(range(2, 2 + spatial))
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    windows = windows[
        (slice(None), slice(None), *[slice(None, None, s) for s in steps], *[slice(None, None, h) for h in holes])
    ]
    n, c = x.shape[:2]
    out_lengths = windows.shape[2 : 2 + spatial]
    per = c // groups
    parts = []
    with np.errstate(all="ignore"):
        for g in range(groups):
            inside = windows[:, g * per : (g + 1) * per]
            kernels = w[g * (w.shape[0] // groups) : (g + 1) * (w.shape[0] // groups)]
            contracted = [1, *range(2 + spatial, 2 + 2 * spatial)]
            r = np.tensordot(inside, kernels, axes=(contracted, [1, *axes]))
            parts.append(np.moveaxis(r, -1, 1))
        result = np.concatenate(parts, 1) if parts else np.zeros((n, 0, *out_lengths), wide)
        if bias is not None:
            result = result + values(bias).astype(wide).reshape(1, -1, *[1] * spatial)
    tainted = any(shadow.marks_of(t) is not None for t in (input, weight, bias) if t is not None)
    if d.category == "int":
        return result.astype(d.numpy), np.full(result.shape, shadow.UNSPECIFIED, np.uint8) if tainted else None
    bad = ~np.isfinite(result)
    result = cast(np.asarray(result), dt.complex128 if d.is_complex else dt.float64, d)
    marks = np.where(bad, shadow.UNSPECIFIED, shadow.TOLERANCE).astype(np.uint8)
    return result, np.full(result.shape, shadow.UNSPECIFIED, np.uint8) if tainted else marks


def conv1d(
    input: "Tensor",
    weight: "Tensor",
    bias: "Tensor | None" = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> "Tensor":
    """Convolution over one dimension: over two with a length of 1, hence its layout.

    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    if weight.ndim != 3 or input.ndim not in (2, 3):
        raise LayoutError("dimension", f"conv1d: {input.ndim} and {weight.ndim} dimensions")
    if input.ndim == 2:
        batched = conv1d(unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups)
        return view_of(batched, squeeze(batched._layout, (0,)))
    flat = padding if isinstance(padding, str) else (0, per_dim(padding, 1, "padding")[0])
    wide = conv2d(
        unsqueeze(contiguous(input), 2), unsqueeze(weight, 2), bias, (1, *per_dim(stride, 1, "stride")), flat,
        (1, *per_dim(dilation, 1, "dilation")), groups,
    )  # fmt: skip
    wide._layout = squeeze(wide._layout, (2,))
    return wide


def conv2d(
    input: "Tensor",
    weight: "Tensor",
    bias: "Tensor | None" = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> "Tensor":
    """Convolution over two dimensions. Raises: dimension, size, dtype. Source: facts 4.6, torch 2.13."""
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 2)


def conv3d(
    input: "Tensor",
    weight: "Tensor",
    bias: "Tensor | None" = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> "Tensor":
    """Convolution over three dimensions, row-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    return _convolution(input, weight, bias, stride, padding, dilation, groups, 3)
