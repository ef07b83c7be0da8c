"""Pooling over two dimensions: in the format the input suggests (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import suggested_format, suggested_strides
from .convolution import per_dim
from .conversion import cast, nan_marks
from .core import from_array, recorded, values
from .errors import LayoutError, UnsupportedError
from .formats import channels_last
from .layout import Layout
from .reductions import mean

if TYPE_CHECKING:
    from .tensors import Tensor


def _check(name: str, input: "Tensor") -> None:
    shape = input._layout.shape
    if len(shape) not in (3, 4) or any(n == 0 for n in shape[-3:]):
        raise LayoutError("dimension", f"{name}: a non-empty input of 3 or 4 dimensions is needed, got shape {shape}")


def _out_length(length: int, kernel: int, step: int, pad: int, hole: int, ceil_mode: bool) -> int:
    extra = length + 2 * pad - hole * (kernel - 1) - 1 + (step - 1 if ceil_mode else 0)
    count = extra // step + 1
    # The last window must start inside the input or its left padding.
    if ceil_mode and (count - 1) * step >= length + pad:
        count -= 1
    return count


def _geometry(
    name: str, input: "Tensor", kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    kernel = per_dim(kernel_size, 2, "kernel_size")
    steps = kernel if stride is None or stride == () or stride == [] else per_dim(stride, 2, "stride")
    pads, holes = per_dim(padding, 2, "padding"), per_dim(dilation, 2, "dilation")
    _check(name, input)
    if min(kernel) <= 0 or min(steps) <= 0 or min(holes) <= 0:
        raise LayoutError("size", f"{name}: kernel {kernel}, stride {steps} and dilation {holes} must be positive")
    if min(pads) < 0 or any(p * 2 > (k - 1) * h + 1 for p, k, h in zip(pads, kernel, holes, strict=True)):
        raise LayoutError("size", f"{name}: padding {pads} must be between 0 and half of the kernel {kernel}")
    lengths = [
        _out_length(n, k, s, p, h, ceil_mode)
        for n, k, s, p, h in zip(input._layout.shape[-2:], kernel, steps, pads, holes, strict=True)
    ]
    if min(lengths) < 1:
        raise LayoutError("size", f"{name}: the output would be {tuple(lengths)}")
    return kernel, steps, pads, holes, lengths


def _place(input: "Tensor", result: Any, d: Any, marks: Any) -> "Tensor":
    strides = suggested_strides(result.shape, suggested_format(*input._layout[:2]))
    out = from_array(result, d, strides)
    if marks is not None:
        shadow.stamp(out, marks)
    return recorded(out, input)


def max_pool2d_with_indices(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple["Tensor", "Tensor"]:  # fmt: skip
    """Largest value of every window, and where in the plane it lies.

    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    kernel, steps, pads, holes, lengths = _geometry(
        "max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode
    )
    if input.dtype.category not in ("float", "int") or input.dtype in dt.FLOAT8 or input.dtype in dt.BARE_UINT:
        raise UnsupportedError("dtype", f"max_pool2d: PyTorch has no kernel for {input.dtype}")
    a = values(input)
    wide = a.astype(np.float64 if input.dtype.category == "float" else np.int64)
    height, width = a.shape[-2:]
    best = np.zeros((*a.shape[:-2], *lengths), a.dtype)
    where = np.zeros(best.shape, np.int64)
    for i in range(lengths[0]):
        rows = [
            r
            for r in range(i * steps[0] - pads[0], i * steps[0] - pads[0] + kernel[0] * holes[0], holes[0])
            if 0 <= r < height
        ]
        for j in range(lengths[1]):
            columns = [
                c
                for c in range(j * steps[1] - pads[1], j * steps[1] - pads[1] + kernel[1] * holes[1], holes[1])
                if 0 <= c < width
            ]
            window = wide[..., rows, :][..., columns].reshape(*a.shape[:-2], -1)
            at = np.argmax(window, -1)
            if window.dtype.kind == "f":
                # Every later NaN replaces an earlier one.
                nan = np.isnan(window)
                at = np.where(nan.any(-1), window.shape[-1] - 1 - np.argmax(nan[..., ::-1], -1), at)
            r, c = np.array(rows)[at // len(columns)], np.array(columns)[at % len(columns)]
            where[..., i, j] = r * width + c
            best[..., i, j] = np.take_along_axis(a.reshape(*a.shape[:-2], -1), (r * width + c)[..., None], -1)[..., 0]
    tainted = shadow.marks_of(input) is not None
    bad = np.full(best.shape, shadow.UNSPECIFIED, np.uint8) if tainted else None
    first = _place(input, best, input.dtype, bad if tainted else nan_marks(best, input.dtype))
    second = _place(input, where, dt.int64, bad)
    second._has_fn = False
    return first, second


def max_pool2d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest value of every window. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    both = max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def avg_pool2d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> "Tensor":  # fmt: skip
    """Mean of every window. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    kernel, steps, pads, _, lengths = _geometry("avg_pool2d", input, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override == 0:
        raise LayoutError("size", "avg_pool2d: the divisor must not be 0")
    d = input.dtype
    if (d.category != "float" and d is not dt.int64) or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"avg_pool2d: PyTorch has no kernel for {d}")
    a = values(input).astype(np.float64 if d.category == "float" else np.int64)
    height, width = a.shape[-2:]
    result = np.zeros((*a.shape[:-2], *lengths), a.dtype)
    for i in range(lengths[0]):
        top, bottom = i * steps[0] - pads[0], min(i * steps[0] - pads[0] + kernel[0], height + pads[0])
        for j in range(lengths[1]):
            left, right = j * steps[1] - pads[1], min(j * steps[1] - pads[1] + kernel[1], width + pads[1])
            area = (bottom - top) * (right - left)
            inside = a[..., max(top, 0) : min(bottom, height), max(left, 0) : min(right, width)]
            if divisor_override is not None:
                area = divisor_override
            elif not count_include_pad:
                area = inside.shape[-1] * inside.shape[-2]
            total = inside.sum((-1, -2))
            result[..., i, j] = total / area if a.dtype.kind == "f" else np.trunc(total / area)
    return _inexact(input, result, d)


def _inexact(input: "Tensor", result: Any, d: Any) -> "Tensor":
    if d.category == "float":
        result = cast(result, dt.float64, d)
        marks = np.full(result.shape, shadow.TOLERANCE, np.uint8)
        bad = nan_marks(result, d)
        marks = marks if bad is None else np.maximum(marks, bad)
    else:
        result, marks = result.astype(d.numpy), None
    if shadow.marks_of(input) is not None:
        marks = np.full(result.shape, shadow.UNSPECIFIED, np.uint8)
    return _place(input, result, d, marks)


def _adaptive(name: str, input: "Tensor", output_size: Any) -> tuple[int, ...]:
    _check(name, input)
    wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    lengths = tuple([n if w is None else w for w, n in zip(wanted, input._layout.shape[-2:], strict=True)])
    if min(lengths) < 0:
        raise LayoutError("size", f"{name}: an output of {lengths}")
    return lengths


def _edges(length: int, count: int) -> list[tuple[int, int]]:
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def adaptive_avg_pool2d(input: "Tensor", output_size: Any) -> "Tensor":
    """Means of windows that make up a given output size. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    lengths = _adaptive("adaptive_avg_pool2d", input, output_size)
    d = input.dtype
    if lengths == (1, 1):
        out = mean(input, (-1, -2), True)
        if suggested_format(*input._layout[:2]) is channels_last:
            n, c = input._layout.shape[:2]
            out._layout = Layout((n, c, 1, 1), (c, 1, c, c), 0)
            out._versions[0] += 1
        return out
    if d.category != "float" or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"adaptive_avg_pool2d: PyTorch has no kernel for {d}")
    a = values(input).astype(np.float64)
    result = np.zeros((*a.shape[:-2], *lengths))
    for i, (top, bottom) in enumerate(_edges(a.shape[-2], lengths[0])):
        for j, (left, right) in enumerate(_edges(a.shape[-1], lengths[1])):
            result[..., i, j] = a[..., top:bottom, left:right].mean((-1, -2))
    return _inexact(input, result, d)


def adaptive_max_pool2d(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """Maxima of windows that make up a given output size. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    lengths = _adaptive("adaptive_max_pool2d", input, output_size)
    if input.dtype.category != "float" or input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"adaptive_max_pool2d: PyTorch has no kernel for {input.dtype}")
    a = values(input)
    wide = a.astype(np.float64)
    best = np.zeros((*a.shape[:-2], *lengths), a.dtype)
    where = np.zeros(best.shape, np.int64)
    flat = a.reshape(*a.shape[:-2], -1)
    for i, (top, bottom) in enumerate(_edges(a.shape[-2], lengths[0])):
        for j, (left, right) in enumerate(_edges(a.shape[-1], lengths[1])):
            window = wide[..., top:bottom, left:right]
            at = np.argmax(window.reshape(*a.shape[:-2], -1), -1)
            spot = (at // (right - left) + top) * a.shape[-1] + at % (right - left) + left
            where[..., i, j] = spot
            best[..., i, j] = np.take_along_axis(flat, spot[..., None], -1)[..., 0]
    bad = np.full(best.shape, shadow.UNSPECIFIED, np.uint8) if shadow.marks_of(input) is not None else None
    first = _place(input, best, input.dtype, bad if bad is not None else nan_marks(best, input.dtype))
    if not return_indices:
        return first
    return first, _place(input, where, dt.int64, bad)
