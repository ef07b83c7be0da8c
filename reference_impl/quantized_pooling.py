"""Pictures, rows and volumes of quantised tensors: windows of them, and what lies between their places."""

from collections.abc import Callable
from typing import Any, Final

from . import dtypes as dt
from .adaptive_pooling import _need_shape
from .contiguity import suggested_format, suggested_strides
from .convolution import per_dim
from .core import TensorBase
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .formats import channels_last, channels_last_3d, contiguous_format
from .grid_sampling import grid_sample as sampled
from .layout import Layout
from .nn import functional
from .pooling import _row, need_pool_rank
from .quantized_moves import by_bytes, requantized
from .quantized_numbers import computing
from .quantized_tensor import QuantizedTensor


def _pooling(name: str) -> Callable[..., Any]:
    """A function that pools numbers. Raises: dtype (NotImplementedError) where places are asked for."""
    pool = computing(name, getattr(functional, name))

    def method(self: QuantizedTensor, *args: Any, return_indices: bool = False, **kwargs: Any) -> QuantizedTensor:
        if return_indices:
            raise UnsupportedError("dtype", f"{name} with indices of a quantised tensor (facts 10.1.8)")
        return pool(self, *args, **kwargs)  # type: ignore[no-any-return]

    return method


_avg_pool2d, _adaptive_avg_pool2d = _pooling("avg_pool2d"), _pooling("adaptive_avg_pool2d")


def avg_pool1d(
    input: QuantizedTensor, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> QuantizedTensor:  # fmt: skip
    """Mean of every window: a view of a pooling over two dimensions. Raises: as of numbers; as `computing`."""
    need_pool_rank("avg_pool1d", input, 1)
    kernel, steps, pads, _ = _row("avg_pool1d", kernel_size, stride, padding, 1)
    found = _avg_pool2d(input.unsqueeze(-2), kernel, steps, pads, ceil_mode, count_include_pad)
    return found.squeeze(-2)  # type: ignore[no-any-return]


def avg_pool3d(input: QuantizedTensor, *args: Any, **kwargs: Any) -> QuantizedTensor:
    """Mean of every window, channels-last unless the input is so in any order.

    Raises: as of numbers; format (RuntimeError) without a batch; dimension (IndexError); as `computing`.
    Source: facts 10.1.22, torch 2.13.
    """
    if input.ndim < 4:
        raise LayoutIndexError("dimension", f"avg_pool3d: 4 or 5 dimensions are needed, got {input._layout.shape}")
    q = by_bytes(input, "avg_pool3d")
    if input.ndim == 4:
        raise LayoutError("format", "avg_pool3d: only 5 dimensions can be channels-last, codes without a batch cannot")
    found = functional.avg_pool3d(input.dequantize(), *args, **kwargs)
    last = input.contiguous(memory_format=channels_last_3d)
    return requantized(found, q, input.dtype, suggested_format(*last._layout[:2]))


def adaptive_avg_pool1d(input: QuantizedTensor, output_size: Any) -> QuantizedTensor:
    """Means of a given number of parts: a view of a pooling over two dimensions. Raises: as of numbers."""
    sizes = per_dim(output_size, 1, "output_size")
    _need_shape("adaptive_avg_pool1d", 1, input, ())
    return _adaptive_avg_pool2d(input.unsqueeze(-2), (1, *sizes)).squeeze(-2)  # type: ignore[no-any-return]


def adaptive_avg_pool3d(input: QuantizedTensor, output_size: Any) -> QuantizedTensor:
    """Means of a given number of parts, in the format that the input suggests. Raises: as of numbers."""
    q = by_bytes(input, "adaptive_avg_pool3d")
    found = functional.adaptive_avg_pool3d(input.dequantize(), output_size)
    format = suggested_format(*input._layout[:2])
    if format is channels_last and found._layout.shape[1:] != (1, 1, 1):
        # PyTorch writes channels last, but the volume's depth is the dimension that the format tells to be last.
        shape = found._layout.shape
        result = requantized(found.movedim(0, -1), q, input.dtype, contiguous_format)
        result._layout = Layout(shape, suggested_strides(shape, format), 0)
        return result
    result = requantized(found, q, input.dtype, format)
    # One mean for each channel may be a plain mean with other strides.
    result._versions[0] = found._versions[0]
    return result


def interpolate(
    input: QuantizedTensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", *args: Any, **kwargs: Any
) -> QuantizedTensor:
    """Numbers of a picture or a volume between the numbers, quantised again; means of areas of rows, too.

    Raises: dtype (NotImplementedError) for other modes and dimensions; as `computing`.
    """
    if mode == "area":
        shape = functional.interpolate(input.dequantize(), size, scale_factor, mode, *args, **kwargs)._layout.shape
        pool: Any = (adaptive_avg_pool1d, _adaptive_avg_pool2d, adaptive_avg_pool3d)[len(shape) - 3]
        return pool(input, shape[2:])  # type: ignore[no-any-return]
    if input.ndim == 3 or mode not in ("nearest", "nearest-exact", "bilinear"):
        raise UnsupportedError("dtype", f"interpolate of {input.ndim} dimensions of codes, mode {mode}")
    numbers = computing("interpolate", functional.interpolate)
    return numbers(input, size, scale_factor, mode, *args, **kwargs)  # type: ignore[no-any-return]


def upsample_nearest(input: QuantizedTensor, size: Any = None, scale_factor: Any = None) -> QuantizedTensor:
    """`interpolate` by the nearest element. Raises: as that one."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input: QuantizedTensor, size: Any = None, scale_factor: Any = None) -> QuantizedTensor:
    """`interpolate` of pictures, their corners aligned. Raises: as that one."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def grid_sample(input: Any, grid: Any, mode: str = "bilinear", *args: Any, **kwargs: Any) -> Any:
    """Codes of quint8 at the points of a grid, between them linearly; row-major.

    Which codes these are is not specified here.

    Raises: as of numbers; argument (RuntimeError) for other modes; dtype (RuntimeError) by channel and for a grid that
    is not float32, (NotImplementedError) for volumes and other codes. Source: facts 10.1.22, torch 2.13.
    """
    if not isinstance(input, QuantizedTensor):
        return sampled(input, grid, mode, *args, **kwargs)
    points = grid.dequantize() if isinstance(grid, QuantizedTensor) else grid
    if isinstance(points, TensorBase):
        points = points.to(dt.float32)  # type: ignore[attr-defined]
    found = sampled(input.dequantize(), points, mode, *args, **kwargs)
    if input.ndim == 5:
        raise UnsupportedError("dtype", "grid_sample of a volume of codes (facts 10.1.8)")
    if input.dtype is not dt.quint8:
        raise UnsupportedError("dtype", f"grid_sample has no kernel for {input.dtype} (facts 10.1.8)")
    if mode != "bilinear":
        raise LayoutError("argument", f"grid_sample: codes are only sampled bilinearly, not {mode}")
    q = by_bytes(input, "grid_sample")
    if grid.dtype is not dt.float32:
        raise LayoutError("dtype", f"grid_sample: codes at points of {grid.dtype}, not of float32")
    return requantized(found, q, input.dtype)


def _largest(name: str, input: Any, *args: Any) -> QuantizedTensor:
    if not isinstance(input, QuantizedTensor):
        kind = input.dtype if isinstance(input, TensorBase) else type(input).__name__
        raise UnsupportedError("dtype", f"quantized_{name} needs a quantised tensor, got {kind}")
    return FUNCTIONS[name](input, *args)  # type: ignore[no-any-return]


def quantized_max_pool1d(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> QuantizedTensor:
    """`max_pool1d` of codes alone. Raises: as it; dtype (NotImplementedError). Source: facts 10.1.22, torch 2.13."""
    return _largest("max_pool1d", input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool2d(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> QuantizedTensor:
    """`max_pool2d` of codes alone. Raises: as it; dtype (NotImplementedError). Source: facts 10.1.22, torch 2.13."""
    return _largest("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool3d(
    input: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> QuantizedTensor:
    """`max_pool3d` of codes alone. Raises: as it; dtype (NotImplementedError). Source: facts 10.1.22, torch 2.13."""
    return _largest("max_pool3d", input, kernel_size, stride, padding, dilation, ceil_mode)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _pooling(name) for name in ("max_pool1d", "max_pool2d", "max_pool3d")},
    "avg_pool1d": avg_pool1d,
    "avg_pool2d": _avg_pool2d,
    "avg_pool3d": avg_pool3d,
    "adaptive_avg_pool1d": adaptive_avg_pool1d,
    "adaptive_avg_pool2d": _adaptive_avg_pool2d,
    "adaptive_avg_pool3d": adaptive_avg_pool3d,
    "interpolate": interpolate,
    "upsample": interpolate,
    "upsample_nearest": upsample_nearest,
    "upsample_bilinear": upsample_bilinear,
    "grid_sample": grid_sample,
}
"""Functions that are no methods."""
