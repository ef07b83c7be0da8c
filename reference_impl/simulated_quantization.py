"""Numbers rounded to what codes can stand for, and the scale that numbers themselves suggest."""

from typing import Any, Final

import numpy as np

from . import dtypes as dt
from . import shadow
from .calls import checked
from .core import TensorBase, array, as_int, check_constant, check_tensors, fresh, recorded, values
from .errors import LayoutError, LayoutTypeError, UnspecifiedError, UnsupportedError
from .layout import wrap_dim
from .output_layout import preserved_strides
from .quantized import quantize_per_tensor
from .quantized_tensor import QuantizedTensor
from .quantizers import LIMITS
from .tensors import Tensor

_SMALLEST: Final = float(np.float32(6.1e-5))


def _chosen(low: float, high: float, d: dt.dtype, reduced: bool) -> tuple[float, int]:
    """The scale under which numbers of a range fill the codes, and the code of 0."""
    least, most = (bound // 2 if reduced else bound for bound in LIMITS[d])
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (most - least)
    with np.errstate(divide="ignore", over="ignore"):
        if np.float32(scale) == 0 or np.isinf(np.float32(1) / np.float32(scale)):
            scale = 0.1
    if scale < _SMALLEST:
        wider = np.float32(_SMALLEST) / np.float32(scale)
        low, high = (float(np.float32(x) * wider) for x in (low, high))
        scale = _SMALLEST
    # Of the two ends the one that lies nearer to its code decides.
    from_low = abs(least) - abs(low / scale) < abs(most) - abs(high / scale)
    zero = least - low / scale if from_low else most - high / scale
    return scale, int(np.clip(np.rint(zero), least, most))


@checked
def quantize_per_tensor_dynamic(input: Any, dtype: Any, reduce_range: bool) -> Tensor:
    """Codes under the scale that the least and the greatest number suggest; of half of the codes where told.

    Raises: dtype (RuntimeError; NotImplementedError for codes), size (RuntimeError) where there are no numbers.
    Source: facts 10.1.21, torch 2.13.
    """
    check_tensors("quantize_per_tensor_dynamic", input)
    if isinstance(input, QuantizedTensor):
        raise UnsupportedError("dtype", "quantize_per_tensor_dynamic of codes (facts 10.1.8)")
    if dtype is dt.float16:
        return input.contiguous().to(dtype)  # type: ignore[no-any-return]
    if dtype not in (dt.quint8, dt.qint8):
        raise LayoutError("dtype", f"quantize_per_tensor_dynamic: {dtype} is not supported (facts 10.1.21)")
    numbers = values(input)
    if not numbers.size:
        raise LayoutError("size", "quantize_per_tensor_dynamic: there are no numbers")
    low, high = float(numbers.min()), float(numbers.max())
    if shadow.marks_of(input) is not None or not np.isfinite(low) or not np.isfinite(high):
        raise UnspecifiedError("the scale of numbers that are not known exactly, or not finite")
    scale, zero = _chosen(low, high, dtype, reduce_range)
    return quantize_per_tensor(input, scale, zero, dtype)  # type: ignore[no-any-return]


def _rounded(input: Any, scale: Any, zero: Any, low: int, high: int, *, late: bool) -> Tensor:
    """Numbers rounded to the nearest that a code stands for; `late` zero points are added after rounding.

    Shapes: scale and zero point broadcast to the input.
    """
    if low > high:
        raise LayoutError("size", f"fake_quantize: codes from {low} to {high} (facts 10.1.21)")
    if isinstance(input, QuantizedTensor) or input.dtype.category != "float" or input.dtype.itemsize < 2:
        raise UnsupportedError("dtype", f"fake_quantize has no kernel for {input.dtype}")
    a = values(input)
    a = a if a.dtype == np.float64 else a.astype(np.float32)
    with np.errstate(all="ignore"):
        scaled = a * (np.float32(1) / scale)
        codes = np.rint(scaled) + zero if late else np.rint(scaled + zero)
        kept = np.fmin(np.fmax(codes, np.float32(low)), np.float32(high)) - zero
        if not np.ndim(scale):
            # Under one scale what comes of the codes of doubles is single, too.
            kept = kept.astype(np.float32)
        shape, strides, _ = input._layout
        out = fresh(shape, preserved_strides(shape, strides), input.dtype)
        array(out)[...] = kept * scale
    marks = shadow.marks_of(input)
    shadow.stamp(out, None if marks is None else np.where(marks == shadow.EXACT, 0, shadow.UNSPECIFIED))
    return recorded(out, input)


@checked
def fake_quantize_per_tensor_affine(input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Tensor:
    """Numbers as they would come back from codes under one scale.

    Raises: size, dtype (RuntimeError); dtype (NotImplementedError); argument (TypeError).
    Source: facts 10.1.21, torch 2.13.
    """
    check_tensors("fake_quantize_per_tensor_affine", input)
    if isinstance(scale, TensorBase) and isinstance(zero_point, TensorBase):
        check_constant("fake_quantize_per_tensor_affine", "scale", scale)
        scale, zero_point = scale.item(), int(zero_point.item())  # type: ignore[attr-defined]
    if isinstance(scale, bool) or not isinstance(scale, (int, float)):
        raise LayoutTypeError("argument", f"fake_quantize_per_tensor_affine: the scale is a {type(scale).__name__}")
    zero, low, high = as_int(zero_point, "zero_point"), as_int(quant_min), as_int(quant_max)
    if low <= high and not low <= zero <= high:
        raise LayoutError("size", f"fake_quantize: zero point {zero} is not in [{low}, {high}] (facts 10.1.21)")
    return _rounded(input, np.float32(scale), np.float32(zero), low, high, late=True)


@checked
def fake_quantize_per_channel_affine(
    input: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """Numbers as they would come back from codes with a scale for each index of a dimension.

    Raises: dimension (IndexError, RuntimeError); size, dtype (RuntimeError); dtype (NotImplementedError).
    Source: facts 10.1.21, torch 2.13.
    """
    check_tensors("fake_quantize_per_channel_affine", input, scale, zero_point)
    low, high, axis = as_int(quant_min), as_int(quant_max), as_int(axis, "axis")
    check_constant("fake_quantize_per_channel_affine", "scale", scale)
    check_constant("fake_quantize_per_channel_affine", "zero_point", zero_point)
    if scale.dtype not in (dt.float32, dt.bfloat16) or zero_point.dtype not in (dt.int32, dt.float32, dt.float16):
        raise LayoutError("dtype", f"fake_quantize: scales of {scale.dtype}, zero points of {zero_point.dtype}")
    if scale.ndim != 1 or zero_point.ndim != 1 or scale.numel() != zero_point.numel():
        raise LayoutError("size", "fake_quantize: scales and zero points must be two vectors of one length")
    if axis < 0 or scale.numel() != input._layout.shape[wrap_dim(axis, input.ndim)]:
        raise LayoutError(
            "size", f"fake_quantize: {scale.numel()} scales for dimension {axis} of {input._layout.shape}"
        )
    late = zero_point.dtype is dt.int32
    along = tuple(-1 if d == axis else 1 for d in range(input.ndim))
    scales, zeros = (values(t).astype(np.float32).reshape(along) for t in (scale, zero_point))
    if late and low <= high and zeros.size and not low <= zeros.min() <= zeros.max() <= high:
        raise LayoutError("size", f"fake_quantize: a zero point is not in [{low}, {high}] (facts 10.1.21)")
    return _rounded(input, scales, zeros, low, high, late=late)
