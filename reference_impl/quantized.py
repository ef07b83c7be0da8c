"""Quantised tensors made of numbers, and PyTorch's functions on them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes as dt
from .backing import MISSING
from .calls import as_real, checked
from .constructors import empty_like
from .contiguity import is_contiguous_in, suggested_format, suggested_strides
from .conversion import check_copyable
from .copies import clone
from .core import TensorBase, as_scalar, bad_arguments, check_tensors, fresh, values
from .dtypes import QUANTIZED, dtype
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, LayoutValueError, UnsupportedError, fatal
from .grad_mode import no_grad
from .layout import contiguous_strides
from .notices import QUANTISED as QUANTISED_NOTICE
from .notices import warn_once
from .promotion import as_dtype
from .quantized_tensor import QuantizedTensor, check_channels_last, fill_codes, unknown_codes
from .quantized_tensor import restored as restored
from .quantizers import (
    CODES,
    PerChannel,
    PerTensor,
    Quantizer,
    check_zero_points,
    encode,
)
from .tensors import Tensor


def check_target(d: Any) -> None:
    """Refuse what is no quantised dtype. Raises: dtype (RuntimeError). Source: facts 10.1.9, torch 2.13."""
    if as_dtype(d) not in QUANTIZED:
        raise LayoutError("dtype", f"a quantised dtype is wanted, got {d} (facts 10.1.9)")


def _source(input: Any, name: str) -> None:
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"{name} needs a Tensor, got {type(input).__name__}")
    if isinstance(input, QuantizedTensor):
        raise UnsupportedError("dtype", f"{name} of codes (facts 10.1.9)")
    if input._storage._is_meta:
        raise UnsupportedError("device", f"{name}: there are no codes on meta (facts 10.1.17)")


def _check_numbers(input: Any, name: str) -> None:
    if input.dtype is not dt.float32:
        raise LayoutError("dtype", f"{name} only works on float32, got {input.dtype} (facts 10.1.9)")


def _parameters(scale: Any, zero_point: Any) -> PerTensor:
    """The quantizer of a scale and a zero point, each a number or a tensor of one element.

    Raises: argument (TypeError), size (RuntimeError); overflow (ValueError).
    """
    by_tensor = isinstance(scale, Tensor) and isinstance(zero_point, Tensor)
    if isinstance(scale, Tensor):
        scale = as_real("quantize_per_tensor", scale.item() if by_tensor else as_scalar(scale))
    if not isinstance(scale, (int, float, np.integer, np.floating, np.bool_)):
        raise LayoutTypeError("argument", f"quantize_per_tensor: the scale is a {type(scale).__name__}")
    if isinstance(scale, int) and abs(scale) >= 2**1024:
        raise LayoutOverflowError("overflow", "quantize_per_tensor: the scale fits no float")
    if isinstance(zero_point, Tensor) and (by_tensor or zero_point.dtype.category == "int"):
        zero_point = int(zero_point.item())
    elif isinstance(zero_point, bool) or not isinstance(zero_point, (int, np.integer)):
        raise LayoutTypeError("argument", f"quantize_per_tensor: the zero point is a {type(zero_point).__name__}")
    if not -(2**63) <= zero_point < 2**63:
        raise LayoutValueError("overflow", f"quantize_per_tensor: the zero point {zero_point} does not fit 64 bits")
    return PerTensor(float(scale), int(zero_point))


@checked
def quantize_per_tensor(input: Any, scale: Any, zero_point: Any, dtype: Any) -> Any:
    """Codes of a float32 tensor under one scale, in the format that the tensor suggests; of a list, one for each.

    Raises: dtype, size (RuntimeError), argument (TypeError). Source: facts 10.1, torch 2.13.
    """
    if isinstance(input, (tuple, list)):
        scales, points = scale.tolist(), zero_point.tolist()
        return tuple(quantize_per_tensor(x, s, z, dtype) for x, s, z in zip(input, scales, points, strict=True))
    q = _parameters(scale, zero_point)
    if isinstance(input, TensorBase) and input._storage._is_meta:
        # PyTorch knows no codes there, and forgets that it was to make some.
        return empty_like(input)  # type: ignore[arg-type]
    _source(input, "quantize_per_tensor")
    _check_numbers(input, "quantize_per_tensor")
    check_target(dtype)
    warn_once(QUANTISED_NOTICE)
    check_zero_points(q.whole_points, dtype)
    return _quantize(input, q, dtype)


def _quantize(input: Any, q: Quantizer, d: dtype) -> QuantizedTensor:
    check_channels_last(input, q)
    if input._bits:
        input = clone(input)
    shape, strides, _ = input._layout
    ordered = isinstance(q, PerChannel) and not q.exact
    wanted = contiguous_strides(shape) if ordered else suggested_strides(shape, suggested_format(shape, strides))
    out = fresh(shape, wanted, CODES[d])
    if d is dt.qint32 and isinstance(q, PerChannel) and not q.exact and 0 not in shape:
        raise fatal(LayoutError("dtype", f"codes of {d} under floating-point zero points (facts 10.1.11)"))
    codes, unknown = encode(values(input), q, d)
    return fill_codes(out, codes, q, d, unknown_codes(input, unknown))


def by_channel(scales: Any, zero_points: Any, axis: int, shape: tuple[int, ...] | None) -> PerChannel:
    """The quantizer by channel; without a shape nobody asks whether it fits."""
    check_tensors("scales and zero_points", scales, zero_points)
    if len(scales._layout.shape) != 1 or len(zero_points._layout.shape) != 1:
        raise LayoutError("dimension", "scales and zero points must have one dimension (facts 10.1.6)")
    if scales.numel() != zero_points.numel():
        raise LayoutError("size", "there must be as many zero points as scales (facts 10.1.6)")
    if shape is not None and not 0 <= axis < len(shape):
        raise LayoutError("dimension", f"channel axis {axis} of shape {shape} is out of range (facts 10.1.6)")
    if not scales.dtype.is_floating_point:
        raise LayoutError("dtype", f"scales must be floating point numbers, not {scales.dtype} (facts 10.1.6)")
    if shape is not None and shape[axis] != scales.numel():
        raise LayoutError("size", f"{scales.numel()} scales for {shape[axis]} channels (facts 10.1.6)")
    exact = not zero_points.dtype.is_floating_point
    kinds = (dt.float64, dt.int64) if exact else (dt.float32, dt.float32)
    # Tensors of the right dtype and in order are taken as they are: who holds them may change them.
    with no_grad():  # copies below what records history
        scales, zero_points = (
            t.resolve_neg().to(kind).contiguous() for t, kind in zip((scales, zero_points), kinds, strict=True)
        )
    return PerChannel(scales, zero_points, axis)


@checked
def quantize_per_channel(input: Any, scales: Any, zero_points: Any, axis: int, dtype: Any) -> QuantizedTensor:
    """Codes of a float32 tensor with a scale for each index of a dimension; zero points may be floats.

    Raises: dtype, size, dimension (RuntimeError); dtype (NotImplementedError) for packed dtypes with whole zero points.
    Source: facts 10.1.6, torch 2.13 (in the format that the tensor suggests; row-major where zero points are floats).
    """
    _source(input, "quantize_per_channel")
    q = by_channel(scales, zero_points, axis, None)
    check_target(dtype)
    warn_once(QUANTISED_NOTICE)
    shape, strides, _ = input._layout
    if q.exact and not is_contiguous_in(shape, strides, suggested_format(shape, strides)):
        check_copyable(input.dtype)
    _check_numbers(input, "quantize_per_channel")
    if dtype.pack > 1 and q.exact:
        raise UnsupportedError("dtype", f"quantize_per_channel has no kernel for {dtype} (facts 10.1.7)")
    q = by_channel(scales, zero_points, axis, shape)
    check_zero_points(q.whole_points, dtype)
    return _quantize(input, q, dtype)


@checked
def dequantize(*given: Any, input: Any = MISSING, tensors: Any = MISSING) -> Any:
    """The numbers as float32, of one tensor or of several, of which one is quantised.

    Raises: argument (TypeError), dtype (NotImplementedError).
    """
    found = [x for x in (*given, input, tensors) if x is not MISSING]
    if len(found) != 1:
        raise bad_arguments("dequantize", "a tensor or several are needed")
    several = isinstance(found[0], (tuple, list))
    # By its keyword it is one tensor, or several.
    if not given and several != (input is MISSING):
        raise bad_arguments("dequantize", "input is one tensor, tensors are several")
    items = found[0] if several else found
    check_tensors("dequantize", *items)
    if not several:
        return items[0].dequantize()
    if not any(isinstance(x, QuantizedTensor) for x in items):
        raise UnsupportedError("dtype", "dequantize of several tensors, none of them quantised (facts 10.1.13)")
    return tuple(x.dequantize() for x in items)


def _of(name: str) -> Callable[[Any], Any]:
    def function(input: Any) -> Any:
        return getattr(input, name)()

    function.__name__ = name
    function.__doc__ = f"The method `{name}` as a function."
    return function


int_repr = _of("int_repr")
q_scale = _of("q_scale")
q_zero_point = _of("q_zero_point")
q_per_channel_scales = _of("q_per_channel_scales")
q_per_channel_zero_points = _of("q_per_channel_zero_points")
q_per_channel_axis = _of("q_per_channel_axis")
