"""What PyTorch does with elements of quantised tensors: codes that are moved or written, numbers that are compared."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from . import index_ops, indexing, joining, metadata, scans, shadow
from .backing import MISSING
from .calls import with_numpy_names
from .contiguity import suggested_format, suggested_strides
from .copies import clone
from .core import TensorBase, as_ints, build, check_tensors, fresh, from_array, given_once, values
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError, UnspecifiedError, UnsupportedError
from .formats import contiguous_format, memory_format
from .output_layout import broadcast_shapes
from .parsing import parsed_as
from .quantized_tensor import QuantizedTensor, fill_codes, quantized, unknown_codes
from .quantizers import CODES, PerTensor, encode
from .tensors import Tensor


def codes_as_integers(q: QuantizedTensor) -> Tensor:
    """The codes as a tensor of integers over the same memory, under the same counter of writes."""
    plain = build(q._storage, q._layout, CODES[q.dtype])
    plain._versions = q._versions
    return plain


def as_codes(plain: Any, source: QuantizedTensor) -> QuantizedTensor:
    """Integers in memory of their own as codes, with the quantizer of the tensor that they are from."""
    plain.dtype = source.dtype
    return quantized(plain, source._quantizer)


def encoded(numbers: Any, q: PerTensor, d: dtype) -> Tensor:
    """The codes of float32 numbers as a row-major tensor of integers."""
    codes, unknown = encode(values(numbers), q, d)
    out = from_array(codes, CODES[d])
    shadow.stamp(out, unknown_codes(numbers, unknown))
    return out


def uniform(q: QuantizedTensor, name: str) -> PerTensor:
    """The one quantizer of codes that fill bytes.

    Raises: dtype (RuntimeError) for a quantizer by channel. Packed codes are taken for bytes by PyTorch, past their
    memory's end.
    """
    if not isinstance(q._quantizer, PerTensor):
        raise LayoutError("dtype", f"{name}: only codes under one scale (facts 10.1.18)")
    if q.dtype.pack > 1:
        raise UnspecifiedError(f"{name} of {q.dtype}")
    return q._quantizer


_DTYPE_FIRST: Final = ("clamp", "sigmoid", "threshold")
"""What is refused for its dtype before anybody asks for its scales."""


def by_bytes(q: QuantizedTensor, name: str) -> PerTensor:
    """`uniform` for what PyTorch has no kernel for where codes are packed.

    Raises: dtype (RuntimeError; NotImplementedError for packed ones).
    """
    if q.dtype.pack > 1 and (name in _DTYPE_FIRST or isinstance(q._quantizer, PerTensor)):
        raise UnsupportedError("dtype", f"{name} has no kernel for {q.dtype} (facts 10.1.7)")
    return uniform(q, name)


def blank(t: Any) -> Tensor:
    """Zeros of a tensor's shape, without memory: what is wrong with a call whatever the numbers shows on them."""
    return from_array(np.zeros((), np.float32), dt.float32).expand(t._layout.shape)


def _moving(name: str, function: Callable[..., Any], check: Callable[..., Any] = uniform) -> Callable[..., Any]:
    """A method that copies codes to other places. Raises: as the check; as the function."""

    @parsed_as(function)
    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> QuantizedTensor:
        # Where nothing is copied no kernel is asked for.
        is_empty = check is by_bytes and not function(blank(self), *args, **kwargs).numel()
        if not (is_empty and isinstance(self._quantizer, PerTensor)):
            check(self, name)
        return as_codes(function(codes_as_integers(self), *args, **kwargs), self)

    method.__name__ = name
    return method


def flip(self: QuantizedTensor, *dims: Any, **kwargs: Any) -> QuantizedTensor:
    """A copy in the suggested format, reversed along dimensions.

    Raises: dimension; dtype, view (RuntimeError) for packed codes, and by channel unless nothing is reversed.
    Source: facts 10.1.18, torch 2.13.
    """
    plain = scans.flip(codes_as_integers(self), *dims, **kwargs)
    self._check_quantizer("flip")
    if self.dtype.pack > 1:
        raise LayoutError("dtype", f"flip of {self.dtype} (facts 10.1.18)")
    chosen = {d % (self.ndim or 1) for d in as_ints(given_once("flip", dims, kwargs, "dims"))}
    shape, strides, _ = self._layout
    reversed_ = self.numel() > 1 and any(shape[d] > 1 and strides[d] for d in chosen)
    if reversed_ and not isinstance(self._quantizer, PerTensor):
        raise LayoutError("view", "flip: strides can only be set with one scale for the tensor (facts 10.1.6)")
    return as_codes(clone(plain, memory_format=suggested_format(*self._layout[:2])), self)


def names_elements(self: QuantizedTensor, index: Any) -> bool:
    """Whether tensors, lists or masks take part in an index. Raises: index, dimension where the index is wrong."""
    items = indexing._as_items(index)
    if all(item is None or item is Ellipsis or type(item) in (int, slice) for item in items):
        return False
    return bool(indexing.plan(self, items).tensors)


def untensored(index: Any) -> Any:
    """An index without tensors and integers of NumPy that stand for one whole number."""
    if isinstance(index, (tuple, list)):
        return tuple([untensored(item) for item in index])
    if isinstance(index, TensorBase):
        return index.item()  # type: ignore[attr-defined]
    return int(index) if isinstance(index, np.integer) else index


def gathered(self: QuantizedTensor, index: Any) -> QuantizedTensor:
    """What an index with tensors, lists or masks names: the numbers are gathered, and quantised again.

    Raises: index; dtype (RuntimeError) by channel. Source: facts 10.1.18, torch 2.13.
    """
    q, d = self._quantizer, self.dtype
    if not isinstance(q, PerTensor):
        raise LayoutError("dtype", "an index with tensors: only codes under one scale (facts 10.1.18)")
    return requantized(self.dequantize()[index], q, d)


def requantized(numbers: Any, q: PerTensor, d: dtype, format: memory_format | None = None) -> QuantizedTensor:
    """Numbers as codes, in the format that they suggest unless one is given."""
    shape, strides, _ = numbers._layout
    out = fresh(shape, suggested_strides(shape, format or suggested_format(shape, strides)), CODES[d])
    codes, unknown = encode(values(numbers), q, d)
    return fill_codes(out, codes, q, d, unknown_codes(numbers, unknown))


def scattered(self: QuantizedTensor, index: Any, value: Any) -> None:
    """Quantise numbers into what an index with tensors, lists or masks names.

    Raises: index; broadcast; argument (TypeError); dtype (RuntimeError) for codes, and for a quantizer by channel.
    """
    if isinstance(value, QuantizedTensor):
        raise LayoutError("dtype", "setting elements of codes takes numbers, not codes (facts 10.1.18)")
    q = uniform(self, "index_put_")
    if not isinstance(value, TensorBase):
        value = number(value, "assignment")
    if value.dtype is not dt.float32:
        raise UnspecifiedError(f"the memory of {value.dtype} numbers is read as float32")
    indexing.setitem(codes_as_integers(self), index, encoded(value, q, self.dtype))


def number(value: Any, name: str) -> Tensor:
    """A number as a float32 tensor without dimensions.

    Raises: argument (TypeError); overflow (RuntimeError) for one with an imaginary part.
    """
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise LayoutTypeError("argument", f"{name} takes a number, got {type(value).__name__}")
    if isinstance(value, (complex, np.complexfloating)):
        if value.imag:
            raise LayoutError("overflow", f"{name}: {value} is no real number")
        value = value.real
    return from_array(np.array(value, np.float32), dt.float32)


def masked_fill_(self: QuantizedTensor, mask: Any, value: Any) -> QuantizedTensor:
    """Write one number, quantised, where a mask is set. Raises: dtype (RuntimeError); as `masked_fill_` of integers."""
    q = uniform(self, "masked_fill_")
    if isinstance(value, TensorBase):
        if value._layout.shape:
            raise LayoutError("dimension", "masked_fill_ takes a 0-dim tensor")
        value = value.item()  # type: ignore[attr-defined]
    index_ops.masked_fill_(codes_as_integers(self), mask, encoded(number(value, "masked_fill_"), q, self.dtype))
    return self


def masked_fill(self: QuantizedTensor, mask: Any, value: Any) -> QuantizedTensor:
    """A row-major copy, broadcast with the mask, with one number where it is set. Raises: as `masked_fill_`."""
    wide: Any = self.expand(broadcast_shapes(self._layout.shape, mask._layout.shape))
    result = masked_fill_(wide.clone(memory_format=contiguous_format), mask, value)
    result._versions[0] = 0
    return result


def _numbers(x: Any) -> Any:
    return x.dequantize() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


def comparing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison of the numbers that codes stand for.

    Raises: broadcast, dtype (RuntimeError) for an output of another dtype than bool, before the numbers are asked for;
    as the function. Source: facts 10.1.8, torch 2.13.
    """

    def compare(self: Any, other: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if isinstance(self, TensorBase) and isinstance(other, TensorBase):
            broadcast_shapes(self._layout.shape, other._layout.shape)
        if isinstance(out, TensorBase) and out.dtype is not dt.bool_:
            raise LayoutError("dtype", f"a comparison of codes answers bools, not {out.dtype}")
        return function(_numbers(self), _numbers(other), **kwargs)

    return compare


def equal(self: Any, other: Any) -> bool:
    """Whether both are quantised alike and have the same codes. Raises: as the method."""
    check_tensors("equal", self, other)
    return isinstance(self, QuantizedTensor) and self.equal(other)


def resize_as_(self: QuantizedTensor, the_template: Any, **kwargs: Any) -> QuantizedTensor:
    """`resize_as_` of the codes. Raises: as it, dtype (RuntimeError) for a quantizer by channel."""
    check_tensors("resize_as_", the_template)
    if not isinstance(self._quantizer, PerTensor):
        raise LayoutError("dtype", "resize_as_: only tensors with one scale can be resized")
    metadata.resize_as_(self, the_template, **kwargs)
    return self


def set_(self: QuantizedTensor, source: Any = MISSING, *args: Any, **kwargs: Any) -> QuantizedTensor:
    """Another storage under an explicit layout, as `set_` of numbers does it; the quantizer stays.

    Raises: dtype (RuntimeError for another dtype, NotImplementedError) without an offset and a size; as `set_`.
    """
    if args or kwargs:
        metadata.set_(self, source, *args, **kwargs)
        return self
    if isinstance(source, TensorBase) and source.dtype is not self.dtype:
        raise LayoutError("dtype", f"set_: {source.dtype} in a tensor of {self.dtype}")
    if source is not MISSING and not isinstance(source, TensorBase):
        metadata._untyped(self, source)
    raise UnsupportedError("dtype", "set_ of a quantised tensor (facts 10.1.8)")


def where(*args: Any, **kwargs: Any) -> Any:
    """Nothing. Raises: dtype (RuntimeError) where a number would have to be promoted, else (NotImplementedError)."""
    if not all(isinstance(value, TensorBase) for value in (*args, *kwargs.values())):
        raise LayoutError("dtype", "where: codes are promoted with no number (facts 10.1.8)")
    raise UnsupportedError("dtype", "where of a quantised tensor (facts 10.1.8)")


COMPARISONS: Final = (
    "eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater", "greater_equal",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
)  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {
    **{name: comparing(getattr(Tensor, name)) for name in COMPARISONS},
    **{name: _moving(name, getattr(Tensor, name)) for name in ("index_select", "diag", "rot90")},
    **{
        name: _moving(name, with_numpy_names(getattr(joining, name)), by_bytes)
        for name in ("repeat", "tile", "repeat_interleave")
    },
    "flip": flip,
    "fliplr": scans.fliplr,
    "flipud": scans.flipud,
    "masked_fill": masked_fill,
    "masked_fill_": masked_fill_,
    "resize_as_": resize_as_,
    "set_": set_,
    "where": where,
}
"""Methods of quantised tensors, by their names."""
