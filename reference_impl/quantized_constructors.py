"""Quantised tensors that are made without numbers: fresh codes, and codes that are there already."""

from typing import TYPE_CHECKING, Any, Final

from . import dtypes as dt
from .calls import as_real, checked
from .constructors import dtype_or_default, flagged, uninitialised
from .contiguity import format_strides, suggested_format, suggested_strides
from .core import as_int, as_int_list, as_ints, as_scalar, fresh, values
from .devices import is_meta
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .formats import contiguous_format, memory_format
from .layout import Shape, contiguous_strides
from .notices import QUANTISED as QUANTISED_NOTICE
from .notices import warn_once
from .quantized import by_channel, check_target
from .quantized_tensor import QuantizedTensor, fill_codes, quantized
from .quantizers import CODES, UNKNOWN, PerChannel, PerTensor, Quantizer
from .shadow import marks_of

if TYPE_CHECKING:
    from .tensors import Tensor

# What integers are the codes of.
_OF_CODES: Final = {CODES[d]: d for d in (dt.quint8, dt.qint8, dt.qint32)}


def _number(name: str, scale: Any) -> float:
    scale = as_scalar(scale)
    if not isinstance(scale, (bool, int, float)):
        raise LayoutTypeError("argument", f"{name}: the scale must be a float, got {type(scale).__name__}")
    return float(as_real(name, scale))


def _fresh(
    name: str, shape: Shape, q: Quantizer, d: Any, device: Any, requires_grad: bool, format: memory_format | None
) -> QuantizedTensor:
    d = dtype_or_default(d)
    check_target(d)
    if is_meta(device):
        raise UnsupportedError("device", f"{name}: there are no codes on meta (facts 10.1.17)")
    warn_once(QUANTISED_NOTICE)
    strides = format_strides(shape, contiguous_format if format is None else format)
    return quantized(flagged(uninitialised(shape, strides, d), requires_grad), q)


def _sizes(size: tuple[Any, ...], named: Any) -> Shape:
    return as_ints(size) if named is None else as_int_list(named, "size")


@checked
def empty_affine_quantized(
    *sizes: Any, size: Any = None, scale: float = 1.0, zero_point: int = 0,
    memory_format: memory_format | None = contiguous_format, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> QuantizedTensor:  # fmt: skip
    """Fresh codes under one scale, whose zero point may be no code.

    Raises: dtype (RuntimeError), format, size, overflow, grad; device (NotImplementedError) on meta.
    Source: facts 10.1.7 and 10.1.9, torch 2.13.

    >>> torch._empty_affine_quantized((2, 5), scale=0.5, dtype=torch.quint4x2).untyped_storage().nbytes()
    6
    """
    name = "_empty_affine_quantized"
    q = PerTensor(_number(name, scale), as_int(zero_point, "zero_point"))
    return _fresh(name, _sizes(sizes, size), q, dtype, device, requires_grad, memory_format)


@checked
def empty_per_channel_affine_quantized(
    *sizes: Any, size: Any = None, scales: Any, zero_points: Any, axis: int,
    memory_format: memory_format | None = contiguous_format, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> QuantizedTensor:  # fmt: skip
    """Fresh codes with a scale for each channel; nobody asks whether as many channels are there.

    Raises: as `quantize_per_channel` of scales and zero points, and as `empty_affine_quantized`.
    Source: facts 10.1.6 and 10.1.16, torch 2.13.
    """
    name = "_empty_per_channel_affine_quantized"
    shape = _sizes(sizes, size)
    q = by_channel(scales, zero_points, as_int(axis, "axis"), None)
    return _fresh(name, shape, q, dtype, device, requires_grad, memory_format)


@checked
def empty_quantized(
    size: Any, qtensor: "Tensor", *, memory_format: memory_format | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> QuantizedTensor:  # fmt: skip
    """Fresh row-major codes under another tensor's quantizer, whose scales by channel are shared.

    Raises: dtype (NotImplementedError) where the other is not quantised; format (RuntimeError) for any memory format;
    as `empty_affine_quantized`. Source: facts 10.1.23, torch 2.13.

    >>> q = torch.quantize_per_tensor(torch.ones(2), 0.5, 3, torch.quint8)
    >>> torch.empty_quantized((4, 5), q).q_scale()
    0.5
    """
    shape = as_int_list(size, "size")
    if not isinstance(qtensor, QuantizedTensor):
        raise UnsupportedError("dtype", f"empty_quantized: {qtensor.dtype} has no quantizer (facts 10.1.23)")
    if memory_format is not None:
        raise LayoutError("format", "empty_quantized: a memory format is set twice (facts 10.1.23)")
    q = qtensor._quantizer
    if q is UNKNOWN:
        raise LayoutError("dtype", "empty_quantized: the other tensor has no quantizer (facts 10.1.20)")
    d = qtensor.dtype if dtype is None else dtype
    return _fresh("empty_quantized", shape, q, d, device, requires_grad, None)


def _check_codes(name: str, input: "Tensor") -> None:
    if isinstance(input, QuantizedTensor) or input._storage._is_meta:
        raise UnsupportedError("dtype", f"{name}: these are no integers to be taken for codes (facts 10.1.23)")


def _coded(input: "Tensor", q: Quantizer) -> QuantizedTensor:
    d: dtype | None = _OF_CODES.get(input.dtype)
    check_target(input.dtype if d is None else d)
    warn_once(QUANTISED_NOTICE)
    shape, strides, _ = input._layout
    row_major = isinstance(q, PerChannel)
    wanted = contiguous_strides(shape) if row_major else suggested_strides(shape, suggested_format(shape, strides))
    assert d is not None
    return fill_codes(fresh(shape, wanted, input.dtype), values(input), q, d, marks_of(input))


@checked
def make_per_tensor_quantized_tensor(input: "Tensor", scale: float, zero_point: int) -> QuantizedTensor:
    """Integers copied as codes under one scale, in the format that they suggest; the zero point may be no code.

    Raises: dtype (RuntimeError) for other integers than uint8, int8 and int32, (NotImplementedError) for codes and on
    meta; argument (TypeError), overflow (ValueError). Source: facts 10.1.23, torch 2.13.

    >>> codes = torch.tensor([3, 5], dtype=torch.uint8)
    >>> torch._make_per_tensor_quantized_tensor(codes, 0.5, 3).dequantize()
    tensor([0., 1.])
    """
    name = "_make_per_tensor_quantized_tensor"
    q = PerTensor(_number(name, scale), as_int(zero_point, "zero_point"))
    _check_codes(name, input)
    return _coded(input, q)


@checked
def make_per_channel_quantized_tensor(
    input: "Tensor", scale: "Tensor", zero_point: "Tensor", axis: int
) -> QuantizedTensor:
    """Integers copied as codes with a scale for each channel, row-major; nobody asks whether so many are there.

    Raises: as `make_per_tensor_quantized_tensor`, and as `quantize_per_channel` of scales and zero points.
    Source: facts 10.1.23, torch 2.13.
    """
    axis = as_int(axis, "axis")
    _check_codes("_make_per_channel_quantized_tensor", input)
    return _coded(input, by_channel(scale, zero_point, axis, None))
