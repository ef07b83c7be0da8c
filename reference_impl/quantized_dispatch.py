"""PyTorch's functions of quantised tensors, and what plain tensors do beside them.

A function of the namespace works on plain tensors alone. Here each is led to what the quantised tensor makes of its
name; what composes views is run as it is, and what it answers gets the quantizer.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any, Final

from . import (
    quantized_joins,
    quantized_methods,
    quantized_moves,
    quantized_numbers,
    quantized_pooling,
    quantized_shuffles,
)
from .calls import refusing, tell_refusal
from .copies import clone
from .dtypes import QUANTIZED
from .errors import LayoutError, UnsupportedError
from .formats import contiguous_format
from .nn import functional
from .quantized_nowhere import CodesNowhere
from .quantized_tensor import QuantizedTensor, quantized
from .quantizers import PerTensor
from .tensors import Tensor

_JOINING = ("cat", "concat", "stack", "hstack", "vstack", "dstack", "column_stack", "concatenate", "row_stack")
# `unfold` of images: the method that is called so does something else.
_UNKNOWN = ("fold", "unfold", "view_as_real", "view_as_complex", "view_as_real_copy", "view_as_complex_copy")
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: getattr(quantized_joins, name) for name in ("empty_like", "full_like", "ones_like", "zeros_like")},
    "equal": quantized_moves.equal,
    **quantized_numbers.FUNCTIONS,
    **quantized_pooling.FUNCTIONS,
    **quantized_shuffles.FUNCTIONS,
    **{name: refusing(name, UnsupportedError, "dtype", "of codes (facts 10.1.8)") for name in _UNKNOWN},
    "where": quantized_moves.where,
}
FUNCTIONS["alias_copy"] = QuantizedTensor.clone


def _codes_in(values: Iterable[Any]) -> Iterator[QuantizedTensor]:
    for value in values:
        if isinstance(value, QuantizedTensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _codes_in(value)


def dispatching(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that leaves calls with quantised tensors to what is known of them."""
    method, own = _method(name), FUNCTIONS.get(name)
    if name in quantized_moves.COMPARISONS:
        own = quantized_moves.comparing(function)
    elif name in _JOINING:
        own = quantized_joins.joining(function)
    copied = _method(name.removesuffix("_copy")) if name.endswith("_copy") else None

    refused = refusing(name, UnsupportedError, "device", "of codes on meta (facts 10.1.24)")

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = [*_codes_in(args), *_codes_in(kwargs.values())]
        if not found:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                tell_refusal(error)
                raise
        first = args[0] if args else kwargs.get("input")
        named = {key: value for key, value in kwargs.items() if key != "input"}
        if any(isinstance(codes, CodesNowhere) for codes in found) and (own or hasattr(first, name)):
            return getattr(first, name, refused)(*args[1:], **named)
        if own:
            return own(*args, **kwargs)
        if isinstance(first, QuantizedTensor):
            if method:
                return method(first, *args[1:], **named)
            if copied:
                return _cloned(copied(first, *args[1:], **named))
        return _labelled(name, function(*args, **kwargs), found)

    return call


def _method(name: str) -> Any:
    """What quantised tensors have of their own under a name."""
    member = vars(QuantizedTensor).get(name)
    return member if callable(member) else None


def _cloned(view: Any) -> Any:
    if isinstance(view, tuple):
        return tuple([_cloned(part) for part in view])
    return clone(view, memory_format=contiguous_format) if type(view) is Tensor else view.clone()


def _labelled(name: str, result: Any, sources: list[QuantizedTensor]) -> Any:
    """What a function answered, its codes with the quantizer of the tensor that they are from."""
    if isinstance(result, (tuple, list)):
        return type(result)([_labelled(name, item, sources) for item in result])
    if type(result) is not Tensor or result.dtype not in QUANTIZED:
        return result
    for source in sources:
        if source.dtype is result.dtype and source._storage is result._storage:
            if not isinstance(source._quantizer, PerTensor):
                raise LayoutError("view", f"{name}: strides can only be set with one scale (facts 10.1.6)")
            return quantized(result, source._quantizer)
    raise UnsupportedError("dtype", f"{name} of a quantised tensor (facts 10.1.8)")


def install() -> None:
    """Let the functions of the package and of `nn.functional`, and what plain tensors compare, know quantised ones.

    The package calls it once, when its names are there.
    """
    quantized_methods.bind()
    for module in (sys.modules[__package__], functional):
        namespace = vars(module)
        for name, function in list(namespace.items()):
            if isinstance(function, FunctionType) and not name.startswith("_"):
                namespace[name] = dispatching(name, function)
    for name in ("equal", "where", *(name for name in quantized_moves.COMPARISONS if not name.startswith("_"))):
        setattr(Tensor, name, dispatching(name, getattr(Tensor, name)))
