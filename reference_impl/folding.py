"""Sliding blocks of images: unfold and fold; row-major (facts 4.4). Also norms over neighbouring channels."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, division, powers, shadow, view_ops
from . import dtypes as dt
from .core import as_int, values
from .errors import LayoutError, LayoutValueError, UnsupportedError
from .padding import pad
from .pooling import avg_pool2d, avg_pool3d
from .results import finish

if TYPE_CHECKING:
    from .tensors import Tensor


def _pair(value: Any, name: str) -> tuple[int, int]:
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise LayoutError("size", f"{name}: a number or two are needed, got {value}")
        return as_int(value[0], name), as_int(value[1], name)
    return as_int(value, name), as_int(value, name)


def _counts(name: str, size: tuple[int, int], kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[int, int]:
    """How many blocks fit along both dimensions."""
    for what, which in ((kernel, "kernel_size"), (dilation, "dilation"), (stride, "stride")):
        if min(what) <= 0:
            raise LayoutError("size", f"{name}: {which} must be positive, got {what}")
    if min(padding) < 0:
        raise LayoutError("size", f"{name}: padding must not be negative, got {padding}")
    a, b = (
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    )
    return a, b


def unfold(input: "Tensor", kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> "Tensor":
    """Sliding blocks of images as columns, row-major.

    Shapes: (n, c, h, w) to (n, c * block, blocks), the batch optional.
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    kernel, dilation, padding, stride = (
        _pair(v, n)
        for v, n in ((kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride"))
    )
    shape = input._layout.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise LayoutError("dimension", f"unfold: 3 or 4 dimensions are needed, none empty, got {shape}")
    blocks = _counts("unfold", (shape[-2], shape[-1]), kernel, dilation, padding, stride)
    if min(blocks) < 1:
        raise LayoutError("size", f"unfold: blocks of {kernel} do not fit {shape}")
    if input.dtype.category not in ("float", "complex", "bool") or input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"unfold: PyTorch has no kernel for {input.dtype}")
    a = values(input)
    a = a.reshape((-1, *shape[-3:]) if len(shape) == 4 else (1, *shape))
    (top, left) = padding
    wide = np.zeros((*a.shape[:2], a.shape[2] + 2 * top, a.shape[3] + 2 * left), a.dtype)
    wide[:, :, top : top + a.shape[2], left : left + a.shape[3]] = a
    result = np.empty((*a.shape[:2], *kernel, *blocks), a.dtype)
    for y in range(kernel[0]):
        for x in range(kernel[1]):
            rows = slice(y * dilation[0], y * dilation[0] + (blocks[0] - 1) * stride[0] + 1, stride[0])
            columns = slice(x * dilation[1], x * dilation[1] + (blocks[1] - 1) * stride[1] + 1, stride[1])
            result[:, :, y, x] = wide[:, :, rows, columns]
    result = result.reshape(a.shape[0], a.shape[1] * kernel[0] * kernel[1], blocks[0] * blocks[1])
    made = finish(result if len(shape) == 4 else result[0], input.dtype, input, exact=True)
    return _roomy(made, input)


def _roomy(result: "Tensor", input: "Tensor") -> "Tensor":
    # Allocated like the input and then resized, which never gives memory back.
    needed = input.numel() * input.dtype.itemsize
    if needed > len(result._storage._bytes):
        result._storage.resize_(needed)
    return result


def fold(
    input: "Tensor", output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> "Tensor":
    """Sums of overlapping blocks, the inverse shape of `unfold`, row-major. Raises: dimension, size, dtype."""
    size, kernel, dilation, padding, stride = (
        _pair(v, n)
        for v, n in (
            (output_size, "output_size"),
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    )
    shape = input._layout.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise LayoutError("dimension", f"fold: 2 or 3 dimensions are needed, none empty, got {shape}")
    blocks = _counts("fold", size, kernel, dilation, padding, stride)
    area = kernel[0] * kernel[1]
    if shape[-2] % area:
        raise LayoutError("size", f"fold: {shape[-2]} rows are no multiple of a block's {area}")
    if shape[-1] != blocks[0] * blocks[1]:
        raise LayoutError("size", f"fold: {shape[-1]} columns for {blocks[0]} x {blocks[1]} blocks")
    if input.dtype.category not in ("float", "complex", "bool") or input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"fold: PyTorch has no kernel for {input.dtype}")
    channels = shape[-2] // area
    batch = shape[:-2]
    result = finish(np.zeros((*batch, channels, *size)), input.dtype, input)
    shadow.leave_unspecified(result)
    return _roomy(result, input)


def local_response_norm(
    input: "Tensor", size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> "Tensor":
    """Divided by a power of the mean square of neighbouring channels. Raises: dimension (ValueError), dtype."""
    if input.ndim < 3:
        raise LayoutValueError("dimension", f"local_response_norm: 3 dimensions are needed, got {input.ndim}")
    if not input.numel():
        return input
    squares = arithmetic.mul(input, input)
    before, after = size // 2, (size - 1) // 2
    if input.ndim == 3:
        wide = pad(view_ops.unsqueeze(squares, 1), (0, 0, before, after))
        mean = view_ops.squeeze(avg_pool2d(wide, (size, 1), stride=1), 1)
    else:
        shape = input._layout.shape
        wide = view_ops.view(squares, (shape[0], 1, shape[1], shape[2], -1))
        wide = pad(wide, (0, 0, 0, 0, before, after))
        mean = view_ops.squeeze(avg_pool3d(wide, (size, 1, 1), stride=1), 1)
        mean = view_ops.view(mean, shape)
    power = powers.pow(arithmetic.add(arithmetic.mul(mean, alpha), k), beta)
    result = division.div(input, power)
    return shadow.leave_unspecified(result)
