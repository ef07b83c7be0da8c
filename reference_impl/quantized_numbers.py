"""What PyTorch computes of quantised tensors: codes that are ordered or bounded, numbers that are quantised again."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from . import shadow
from .activations import threshold as plain_threshold
from .contiguity import suggested_format
from .copies import clone
from .core import TensorBase, array, values, written
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnspecifiedError, UnsupportedError
from .nn import functional
from .parsing import parsed_as
from .quantized_moves import as_codes, blank, by_bytes, codes_as_integers, number, requantized, uniform
from .quantized_tensor import QuantizedTensor
from .quantizers import PerTensor, encode
from .reductions import ValuesAndIndices
from .tensors import Tensor


def _ordering(name: str) -> Callable[..., Any]:
    """A method that orders codes, whatever they stand for. Raises: dtype (RuntimeError); as that of integers."""
    function = getattr(Tensor, name)

    @parsed_as(function)
    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], TensorBase):
            raise UnsupportedError("dtype", f"{name} of two quantised tensors (facts 10.1.8)")
        if name in ("sort", "argsort"):
            function(blank(self.int_repr()), *args, **kwargs)  # a dimension that is not there is told first
        uniform(self, name)
        found = function(self.int_repr(), *args, **kwargs)
        if not isinstance(found, ValuesAndIndices):
            return as_codes(found, self) if name != "argsort" else found
        codes = clone(found[0], memory_format=suggested_format(*found[0]._layout[:2]))
        return ValuesAndIndices(as_codes(codes, self), found[1])

    method.__name__ = name
    return method


def computing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that computes with the numbers and quantises what comes of them, under the same scale.

    Raises: dtype (RuntimeError) for another dtype, and by channel; as the function. Source: facts 10.1.22, torch 2.13.
    """

    @parsed_as(function)
    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> QuantizedTensor:
        if kwargs.pop("dtype", None) not in (None, self.dtype):
            raise LayoutError("dtype", f"{name}: the result has the dtype of the codes")
        q = by_bytes(self, name)
        return requantized(function(self.dequantize(), *args, **kwargs), q, self.dtype)

    method.__name__ = name
    return method


def _rescaled(name: str, scales: dict[dt.dtype, tuple[float, int]], function: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose numbers lie in a range that is known, and are quantised under the scale that fits it."""

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
    return _bounded(self, _zero(self, "relu"), None)


def relu_(self: QuantizedTensor) -> QuantizedTensor:
    """`relu` in place. Raises: as it."""
    zero, codes = _zero(self, "relu_"), array(self)
    codes[...] = np.maximum(codes, zero)
    written(self)
    return self


def _zero(self: QuantizedTensor, name: str) -> Any:
    """The code of 0, which wraps around where the zero point is none."""
    return np.asarray(by_bytes(self, name).zero_point).astype(array(self).dtype)


def hardtanh(input: QuantizedTensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """`clamp` under a name of `nn.functional`, in place where told.

    Raises: as it; argument (ValueError) where the bounds are exchanged.
    """
    if min_val > max_val:
        raise LayoutValueError("argument", f"hardtanh: bounds {min_val} and {max_val} are exchanged")
    return hardtanh_(input, min_val, max_val) if inplace else clamp(input, min_val, max_val)


def hardtanh_(input: QuantizedTensor, min_val: float = -1.0, max_val: float = 1.0) -> QuantizedTensor:
    """`clamp` in place, also between bounds that are exchanged. Raises: as it."""
    return input.copy_(clamp(input, min_val, max_val))


def relu6(input: QuantizedTensor, inplace: bool = False) -> QuantizedTensor:
    """`clamp` between 0 and 6, in place where told. Raises: as it."""
    return hardtanh_(input, 0.0, 6.0) if inplace else clamp(input, 0.0, 6.0)


def _relu(input: QuantizedTensor, inplace: bool = False) -> QuantizedTensor:
    return relu_(input) if inplace else relu(input)


def hardsigmoid(input: QuantizedTensor, inplace: bool = False) -> QuantizedTensor:
    """Numbers from 0 to 1 under the scale that fits them, which an input written to takes over.

    Raises: dtype (RuntimeError; NotImplementedError for packed codes). Source: facts 10.1.22, torch 2.13.
    """
    found: QuantizedTensor = _hardsigmoid(input)
    return input.copy_(found) if inplace else found


def _unsure(numbers: Any, q: PerTensor) -> Any:
    """Products, unspecified where they lie so near the middle of two codes that either may be chosen."""
    with np.errstate(all="ignore"):
        codes = np.abs(values(numbers).astype(np.float64) / q.scale)
        is_between = np.abs(codes % 1 - 0.5) <= 1e-6 * np.maximum(codes, 1.0)
    known = shadow.marks_of(numbers)
    marks = np.where(is_between, shadow.UNSPECIFIED, shadow.EXACT if known is None else known)
    shadow.stamp(numbers, marks.astype(np.uint8))
    return numbers


def leaky_relu(input: QuantizedTensor, negative_slope: Any = 0.01, inplace: bool = False) -> QuantizedTensor:
    """Negative numbers times a slope, in place where told.

    Raises: argument (TypeError), overflow (RuntimeError) for a slope that is no real number; as `computing`.
    """
    slope = number(negative_slope, "leaky_relu").item()
    q = by_bytes(input, "leaky_relu")
    found = requantized(_unsure(functional.leaky_relu(input.dequantize(), slope), q), q, input.dtype)
    return input.copy_(found) if inplace else found


def leaky_relu_(input: QuantizedTensor, negative_slope: Any = 0.01) -> QuantizedTensor:
    """`leaky_relu` in place. Raises: as it."""
    return leaky_relu(input, negative_slope, inplace=True)


def gelu(input: QuantizedTensor, approximate: str = "none") -> QuantizedTensor:
    """`gelu` of the numbers, under the scale as float32 has it. Raises: argument; as `computing`."""
    found: QuantizedTensor = computing("gelu", functional.gelu)(input, approximate=approximate)
    q = input._uniform
    found._quantizer = q._replace(scale=float(np.float32(q.scale)))
    return found


def prelu(self: QuantizedTensor, weight: Any) -> QuantizedTensor:
    """Negative numbers times the numbers of codes of the same dtype, quantised as the input.

    Raises: argument (TypeError); dtype (RuntimeError) for other slopes; dimension, size; as `computing`.
    """
    if not isinstance(weight, TensorBase):
        raise LayoutTypeError("argument", f"prelu: expected a Tensor, got {type(weight).__name__}")
    if weight.dtype is not self.dtype:
        raise LayoutError("dtype", f"prelu: {self.dtype} is promoted with no {weight.dtype} (facts 10.1.8)")
    functional.prelu(blank(self), blank(weight))
    q = by_bytes(self, "prelu")
    numbers = functional.prelu(self.dequantize(), weight.dequantize())  # type: ignore[attr-defined]
    return requantized(_unsure(numbers, q), q, self.dtype)


def threshold(input: QuantizedTensor, threshold: float, value: float, inplace: bool = False) -> QuantizedTensor:
    """Numbers below a bound made another one. Raises: dtype (NotImplementedError) in place; as `computing`."""
    if inplace:
        raise UnsupportedError("dtype", "threshold of codes in place (facts 10.1.8)")
    found: QuantizedTensor = computing("threshold", plain_threshold)(input, threshold, value)
    return found


def _losing(name: str) -> Callable[..., Any]:
    """A loss over codes, which has a kernel for numbers alone.

    Raises: as the loss; dtype (RuntimeError) where the terms would be fresh codes, without a quantizer,
    (NotImplementedError) where they are the result.
    """
    function = getattr(functional, name)

    def loss(
        input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", *args: Any,
        **kwargs: Any,
    ) -> Any:  # fmt: skip
        try:
            return function(input, target, size_average, reduce, reduction, *args, **kwargs)
        except UnsupportedError:
            is_whole = reduce is False or (reduction == "none" and size_average is None and reduce is None)
            if is_whole or kwargs.get("beta", args[0] if args else 1) == 0:
                raise
            raise LayoutError("dtype", f"{name}: codes without a quantizer (facts 10.1.20)") from None

    return loss


# The whole range of the codes for what lies between 0 and 1, or between -1 and 1.
_SIGMOID: Final = {dt.quint8: (2.0**-8, 0), dt.qint8: (2.0**-8, -128), dt.qint32: (2.0**-32, 0)}
_TANH: Final = {dt.quint8: (2.0**-7, 128), dt.qint8: (2.0**-7, 0), dt.qint32: (2.0**-31, 0)}
_hardsigmoid = _rescaled("hardsigmoid", _SIGMOID, functional.hardsigmoid)
METHODS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _ordering(name) for name in ("max", "min", "sort", "argsort", "msort", "topk")},
    **{name: computing(name, getattr(Tensor, name)) for name in ("mean", "std")},
    "sigmoid": _rescaled("sigmoid", _SIGMOID, Tensor.sigmoid),
    "tanh": _rescaled("tanh", _TANH, Tensor.tanh),
    "clamp": clamp,
    "clip": clamp,
    "relu": relu,
    "relu_": relu_,
    "prelu": prelu,
}
"""Methods of quantised tensors, by their names."""
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _losing(name) for name in ("mse_loss", "smooth_l1_loss")},
    "threshold": threshold,
    "hardtanh": hardtanh,
    "hardtanh_": hardtanh_,
    "relu": _relu,
    "relu6": relu6,
    "hardsigmoid": hardsigmoid,
    "leaky_relu": leaky_relu,
    "leaky_relu_": leaky_relu_,
    "gelu": gelu,
}
"""Functions that are no methods."""
