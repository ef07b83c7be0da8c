"""Quantised tensors joined, and made like another: results that need a quantizer of their own."""

from collections.abc import Callable
from typing import Any

from .constructors import flagged, uninitialised, zeros
from .contiguity import format_strides, is_contiguous_in, suggested_format
from .copies import clone
from .core import check_tensors
from .dtypes import uint8
from .errors import LayoutError, UnsupportedError, fatal
from .formats import channels_last, memory_format, preserve_format
from .joining import stacked_along
from .quantized_moves import encoded
from .quantized_tensor import QuantizedTensor, quantized
from .quantizers import PerChannel, PerTensor
from .tensors import Tensor


def joining(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that joins tensors, for codes: all of them are taken under the first one's quantizer, or `out`'s.

    Raises: dtype (RuntimeError) for other dtypes and for quantizers by channel, (NotImplementedError) for tensors that
    are not quantised and for packed codes; as the function. Source: facts 10.1.17, torch 2.13.
    """

    def join(tensors: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        items = list(tensors)
        check_tensors(function.__name__, *items)
        if not items:
            raise fatal(LayoutError("size", f"{function.__name__}: nothing to join in codes (facts 10.1.17)"))
        first = items[0] if out is None else out
        named = kwargs.get("dim", kwargs.get("axis", 0))
        if function.__name__ == "stack":  # which compares shapes before it asks how numbers are written
            stacked_along(items, args[0] if args else named)
        for t in (items[0], first, *items):
            if not isinstance(t, QuantizedTensor):
                raise UnsupportedError("dtype", f"{function.__name__} of codes and {t.dtype} (facts 10.1.17)")
            if t.dtype is not items[0].dtype:
                raise LayoutError("dtype", f"{function.__name__}: codes of {t.dtype} and {items[0].dtype}")
            if not isinstance(t._quantizer, PerTensor):
                raise LayoutError("dtype", f"{function.__name__}: only codes under one scale (facts 10.1.17)")
        d, q = items[0].dtype, first._quantizer
        if d.pack > 1:
            function([zeros(t._layout.shape, dtype=uint8) for t in items], *args, **kwargs)  # shapes come first
            raise UnsupportedError("dtype", f"{function.__name__} has no kernel for {d} (facts 10.1.7)")
        joined = function([_requantized(t, q) for t in items], *args, **kwargs)
        dim = 1 if function.__name__ == "hstack" else args[0] if args else named
        if (
            function.__name__ in ("cat", "concat", "hstack")
            and dim % joined.ndim == 1
            and all(map(_is_channels_last, items))
        ):
            joined = clone(joined, memory_format=channels_last)
        joined.dtype = d
        result = quantized(joined, q)
        return result if out is None else out.copy_(result)

    return join


def _is_channels_last(t: QuantizedTensor) -> bool:
    # Channels are joined by a kernel of their own, which also takes what is row-major as well.
    return t.ndim == 4 and is_contiguous_in(*t._layout[:2], channels_last)


def _requantized(t: QuantizedTensor, q: PerTensor) -> Tensor:
    """The codes under another quantizer, laid out as they are wherever that can matter."""
    numbers = encoded(t.dequantize(), q, t.dtype)
    shape, strides, _ = t._layout
    return clone(numbers, memory_format=suggested_format(shape, strides))


def empty_like(
    input: QuantizedTensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: memory_format | None = None,
) -> QuantizedTensor:  # fmt: skip
    """Fresh codes with another tensor's shape, suggested format and quantizer; scales by channel are copied.

    Raises: dtype (RuntimeError) for another dtype and where zero points are floats, (NotImplementedError) on meta;
    format, grad. Source: facts 10.1.17, torch 2.13.
    """
    if dtype is not None and dtype is not input.dtype:
        raise LayoutError("dtype", f"empty_like: {dtype} of {input.dtype} (facts 10.1.17)")
    if device is not None and str(device) == "meta":
        raise UnsupportedError("device", "empty_like: there are no codes on meta (facts 10.1.17)")
    input._check_quantizer("empty_like")
    shape, strides, _ = input._layout
    wanted = memory_format
    if wanted is None or wanted is preserve_format:
        wanted = suggested_format(shape, strides)
    q = input._quantizer
    if isinstance(q, PerChannel):
        q = q._replace(scales=clone(q.scales), zero_points=clone(q.zero_points))
    fresh_codes: Any = flagged(uninitialised(shape, format_strides(shape, wanted), input.dtype), requires_grad)
    return quantized(fresh_codes, q)


def full_like(input: QuantizedTensor, fill_value: Any, **kwargs: Any) -> QuantizedTensor:
    """`empty_like` filled with a number. Raises: as it and `fill_`. Source: facts 10.1.17, torch 2.13."""
    made = empty_like(input, **kwargs).fill_(fill_value)
    made._versions[0] = 0
    return made


def ones_like(input: QuantizedTensor, **kwargs: Any) -> QuantizedTensor:
    """`full_like` of ones. Raises: as it."""
    return full_like(input, 1, **kwargs)


def zeros_like(input: QuantizedTensor, **kwargs: Any) -> QuantizedTensor:
    """Nothing. Raises: dtype (NotImplementedError): PyTorch has no kernel that zeroes codes; as `empty_like`."""
    empty_like(input, **kwargs)
    raise UnsupportedError("dtype", f"zeros_like has no kernel for {input.dtype} (facts 10.1.8)")
