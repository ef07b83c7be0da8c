"""What PyTorch computes of quantised tensors: codes that are ordered or bounded, numbers that are quantised again."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from .activations import threshold as plain_threshold
from .contiguity import suggested_format
from .copies import clone
from .core import TensorBase, array, values, written
from .errors import LayoutError, UnspecifiedError, UnsupportedError
from .nn import functional
from .quantized_moves import as_codes, by_bytes, codes_as_integers, number, requantized, uniform
from .quantized_tensor import QuantizedTensor
from .quantizers import PerTensor, encode
from .reductions import ValuesAndIndices
from .tensors import Tensor


def _ordering(name: str) -> Callable[..., Any]:
    """A method that orders codes, whatever they stand for. Raises: dtype (RuntimeError); as that of integers."""
    function = getattr(Tensor, name)

    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], TensorBase):
            raise UnsupportedError("dtype", f"{name} of two quantised tensors (facts 10.1.8)")
        uniform(self, name)
        found = function(self.int_repr(), *args, **kwargs)
        if not isinstance(found, ValuesAndIndices):
            return as_codes(found, self) if name != "argsort" else found
        codes = clone(found[0], memory_format=suggested_format(*found[0]._layout[:2]))
        return ValuesAndIndices(as_codes(codes, self), found[1])

    method.__name__ = name
    return method


def _computing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that computes with the numbers and quantises what comes of them, under the same scale.

    Raises: dtype (RuntimeError) for another dtype, and by channel; as the function. Source: facts 10.1.22, torch 2.13.
    """

    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> QuantizedTensor:
        if kwargs.pop("dtype", None) not in (None, self.dtype):
            raise LayoutError("dtype", f"{name}: the result has the dtype of the codes")
        q = by_bytes(self, name)
        return requantized(function(self.dequantize(), *args, **kwargs), q, self.dtype)

    method.__name__ = name
    return method


def _rescaled(name: str, scales: dict[dt.dtype, tuple[float, int]]) -> Callable[..., Any]:
    """A method whose numbers lie in a range that is known, and are quantised under the scale that fits it."""
    function = getattr(Tensor, name)

    def method(self: QuantizedTensor) -> QuantizedTensor:
        by_bytes(self, name)
        return requantized(function(self.dequantize()), PerTensor(*scales[self.dtype]), self.dtype)

    method.__name__ = name
    return method


def _bounded(self: QuantizedTensor, low: Any, high: Any) -> QuantizedTensor:
    """Codes kept between two others, in the suggested format."""
    found = clone(codes_as_integers(self), memory_format=suggested_format(*self._layout[:2]))
    for bound, choose in ((low, np.maximum), (high, np.minimum)):
        if bound is not None:
            array(found)[...] = choose(array(found), bound)
    return as_codes(found, self)


def clamp(self: QuantizedTensor, min: Any = None, max: Any = None) -> QuantizedTensor:
    """Codes kept between those of two numbers.

    Raises: argument (TypeError), size (RuntimeError) where none is given; dtype (RuntimeError) for bounds that are
    tensors, and by channel. Source: facts 10.1.22, torch 2.13.
    """
    if min is None and max is None:
        raise LayoutError("size", "clamp: there is no bound")
    if isinstance(min, TensorBase) or isinstance(max, TensorBase):
        raise LayoutError("dtype", "clamp: codes are promoted with no other dtype (facts 10.1.8)")
    q = by_bytes(self, "clamp")
    bounds = []
    for bound in (min, max):
        code = None if bound is None else encode(values(number(bound, "clamp")), q, self.dtype)
        if code is not None and code.unknown.any():
            raise UnspecifiedError("clamp: there is no code of NaN")
        bounds.append(None if code is None else code.codes)
    return _bounded(self, *bounds)


def relu(self: QuantizedTensor) -> QuantizedTensor:
    """Codes not below the zero point. Raises: dtype (RuntimeError; NotImplementedError for packed codes)."""
    return _bounded(self, by_bytes(self, "relu").zero_point, None)


def relu_(self: QuantizedTensor) -> QuantizedTensor:
    """`relu` in place. Raises: as it."""
    zero, codes = by_bytes(self, "relu_").zero_point, array(self)
    codes[...] = np.maximum(codes, zero)
    written(self)
    return self


def hardtanh(input: QuantizedTensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """`clamp` under a name of `nn.functional`, in place where told. Raises: as it."""
    found = clamp(input, min_val, max_val)
    return input.copy_(found) if inplace else found


def _pooling(name: str) -> Callable[..., Any]:
    """A function that pools numbers. Raises: dtype (NotImplementedError) where places are asked for."""
    pool = _computing(name, getattr(functional, name))

    def method(self: QuantizedTensor, *args: Any, return_indices: bool = False, **kwargs: Any) -> QuantizedTensor:
        if return_indices:
            raise UnsupportedError("dtype", f"{name} with indices of a quantised tensor (facts 10.1.8)")
        return pool(self, *args, **kwargs)  # type: ignore[no-any-return]

    return method


def interpolate(
    input: QuantizedTensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", **kwargs: Any
) -> QuantizedTensor:
    """Numbers of a picture or a volume between the numbers, quantised again.

    Raises: dtype (NotImplementedError) for other modes and dimensions; as `_computing`.
    """
    if input.ndim == 3 or mode not in ("nearest", "nearest-exact", "bilinear"):
        raise UnsupportedError("dtype", f"interpolate of {input.ndim} dimensions of codes, mode {mode}")
    numbers = _computing("interpolate", functional.interpolate)
    return numbers(input, size, scale_factor, mode, **kwargs)  # type: ignore[no-any-return]


# The whole range of the codes for what lies between 0 and 1, or between -1 and 1.
_SIGMOID: Final = {dt.quint8: (2.0**-8, 0), dt.qint8: (2.0**-8, -128), dt.qint32: (2.0**-32, 0)}
_TANH: Final = {dt.quint8: (2.0**-7, 128), dt.qint8: (2.0**-7, 0), dt.qint32: (2.0**-31, 0)}
METHODS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _ordering(name) for name in ("max", "min", "sort", "argsort", "msort", "topk")},
    **{name: _computing(name, getattr(Tensor, name)) for name in ("mean", "std")},
    "sigmoid": _rescaled("sigmoid", _SIGMOID),
    "tanh": _rescaled("tanh", _TANH),
    "clamp": clamp,
    "clip": clamp,
    "relu": relu,
    "relu_": relu_,
}
"""Methods of quantised tensors, by their names."""
_POOLING: Final = ("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool2d", "adaptive_avg_pool2d")
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _pooling(name) for name in _POOLING},
    "interpolate": interpolate,
    "threshold": _computing("threshold", plain_threshold),
    "hardtanh": hardtanh,
}
"""Functions that are no methods."""
