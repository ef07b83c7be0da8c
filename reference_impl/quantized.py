"""Quantised tensors: strided tensors of integer codes that carry the numbers' scale along through every view."""

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import copies, pickling, shadow
from . import dtypes as dt
from .calls import checked
from .constructors import uninitialised
from .contiguity import format_strides, is_contiguous_in, suggested_format, suggested_strides
from .core import TensorBase, array, build, fresh, from_array, written
from .dtypes import QUANTIZED, dtype
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .formats import channels_last, contiguous_format, memory_format, preserve_format
from .layout import contiguous_strides, span
from .quantizers import (
    CODES,
    PerChannel,
    PerTensor,
    Quantizer,
    check_zero_points,
    decode,
    encode,
    pack,
    packed_bytes,
    qscheme,
    unpack,
)
from .storage import UntypedStorage
from .tensors import Tensor

_warned: list[bool] = [False]


def _warn_deprecated() -> None:
    if not _warned[0]:
        _warned[0] = True
        warnings.warn("quantised dtypes are deprecated (facts 10.1.1)", UserWarning, stacklevel=4)


class QuantizedTensor(Tensor):
    """A tensor of codes with the quantizer that says what they mean.

    Views keep the quantizer; those that need other strides than a tensor of their shape would have are refused to
    quantizers by channel. What is not implemented raises NotImplementedError, as most of PyTorch's operators do.

    Source: facts 10.1, torch 2.13.
    """

    __slots__ = ("_quantizer",)
    _quantizer: Quantizer

    is_quantized = True

    @property
    def _uniform(self) -> PerTensor:
        if not isinstance(self._quantizer, PerTensor):
            raise LayoutError("dtype", "expected one scale for the whole tensor, kPerTensorAffine (facts 10.1.9)")
        return self._quantizer

    @property
    def _by_channel(self) -> PerChannel:
        if not isinstance(self._quantizer, PerChannel):
            raise LayoutError("dtype", "expected a scale for each channel, kPerChannelAffine (facts 10.1.9)")
        return self._quantizer

    def q_scale(self) -> float:
        """The scale. Raises: dtype (RuntimeError) for a quantizer by channel."""
        return self._uniform.scale

    def q_zero_point(self) -> int:
        """The zero point. Raises: dtype (RuntimeError) for a quantizer by channel."""
        return self._uniform.zero_point

    def q_per_channel_scales(self) -> Tensor:
        """The scales, as float64 (float32 where zero points are floats). Raises: dtype (RuntimeError)."""
        q = self._by_channel
        d = dt.float64 if q.exact else dt.float32
        return from_array(np.array(q.scales, d.numpy), d)

    def q_per_channel_zero_points(self) -> Tensor:
        """The zero points, as int64 or float32. Raises: dtype (RuntimeError)."""
        q = self._by_channel
        d = dt.int64 if q.exact else dt.float32
        return from_array(np.array(q.zero_points, d.numpy), d)

    def q_per_channel_axis(self) -> int:
        """The dimension of the channels. Raises: dtype (RuntimeError)."""
        return self._by_channel.axis

    def qscheme(self) -> qscheme:
        """How the codes came about."""
        return self._quantizer.scheme

    def int_repr(self) -> Tensor:
        """The codes as integers, copied in the suggested format; packed ones as the bytes that hold them.

        Source: facts 10.1.3 and 10.1.7, torch 2.13.
        """
        if self.dtype.pack > 1:
            count = -(-self.numel() // self.dtype.pack)
            return from_array(self._storage._bytes[:count].copy(), dt.uint8)
        d = CODES[self.dtype]
        return _suggested(self, _codes(self), d)

    def dequantize(self) -> Tensor:
        """The numbers as float32, in the suggested format.

        Raises: size (RuntimeError) where a view has other channels than its quantizer. Source: facts 10.1.3.
        """
        return _suggested(self, decode(_codes(self), self._quantizer), dt.float32)

    def item(self) -> Any:
        """The only element's number. Raises: size (RuntimeError) where there is not exactly one."""
        if self.numel() != 1:
            raise LayoutError("size", f"item(): {self.numel()} elements, not one")
        one = self._quantizer if isinstance(self._quantizer, PerTensor) else PerTensor(self._quantizer.scales[0], 0)
        return decode(_codes(self).reshape(()), one).item()

    def tolist(self) -> Any:
        """Nothing. Raises: dtype (RuntimeError): there is no list of quantised numbers."""
        raise LayoutError("dtype", f"tolist of {self.dtype}: dequantize first (facts 10.1.8)")

    def is_signed(self) -> bool:
        """Nothing. Raises: dtype (RuntimeError)."""
        raise LayoutError("dtype", "is_signed of a quantised dtype")

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Name of the class. Raises: dtype."""
        if dtype is None:
            return f"torch.quantized.{_TYPE_NAMES[self.dtype]}Tensor"
        return self.to(dtype)

    def __repr__(self) -> str:
        return f"tensor({self.dequantize().tolist()}, dtype={self.dtype}, quantization_scheme={self.qscheme()})"

    # --------------------------------------------------------------------------------------------------- copies

    def clone(self, *, memory_format: memory_format | None = None) -> "QuantizedTensor":
        """A copy, row-major unless a format is given, whatever the order was.

        Raises: format. Source: torch 2.13 (facts 10.1.8).
        """
        shape, strides, _ = self._layout
        if memory_format is None:
            wanted = contiguous_format
        else:
            wanted = suggested_format(shape, strides) if memory_format is preserve_format else memory_format
        out = fresh(shape, format_strides(shape, wanted), CODES[self.dtype])
        return _fill_codes(out, _codes(self), self._quantizer, self.dtype)

    def contiguous(self, *, memory_format: memory_format = contiguous_format) -> "QuantizedTensor":
        """The tensor itself where it is contiguous in the format, else a copy in it. Raises: format."""
        if is_contiguous_in(*self._layout[:2], memory_format):
            return self
        return self.clone(memory_format=memory_format)

    def to(self, *args: Any, **kwargs: Any) -> "QuantizedTensor":
        """The tensor itself, or a copy in a memory format. Raises: dtype (RuntimeError) for another dtype."""
        wanted, copy, format, nowhere = copies._to_arguments(self, args, kwargs)
        if wanted is not self.dtype or nowhere:
            raise LayoutError("dtype", f"to: {self.dtype} to {wanted}: dequantize first (facts 10.1.8)")
        suggested = suggested_format(*self._layout[:2])
        if not copy and (format is None or format is preserve_format or format is suggested):
            return self
        return self.clone(memory_format=preserve_format if format is None else format)

    def copy_(self, src: Any, non_blocking: bool = False) -> "QuantizedTensor":
        """Quantise float32 numbers into this tensor, or take over another's codes with its quantizer.

        Raises: dtype, format, size (RuntimeError); argument (TypeError). Source: torch 2.13.
        """
        if not isinstance(src, Tensor):
            raise LayoutTypeError("argument", f"copy_ needs a Tensor, got {type(src).__name__}")
        if isinstance(src, QuantizedTensor):
            if src.dtype is not self.dtype or src.qscheme() is not self.qscheme():
                raise LayoutError("dtype", f"copy_: {src.dtype}, {src.qscheme()} to {self.dtype}, {self.qscheme()}")
            copies.write_copy(self, src)
            self._quantizer = src._quantizer
        else:
            if src.dtype is not dt.float32:
                raise LayoutError("dtype", f"copy_: only float32 can be quantised, got {src.dtype} (facts 10.1.9)")
            both = self._layout, src._layout
            if not any(all(is_contiguous_in(*x[:2], f) for x in both) for f in (contiguous_format, channels_last)):
                raise LayoutError("format", "copy_: quantising needs two tensors contiguous in one format")
            if src._layout.shape != self._layout.shape:
                raise LayoutError("size", f"copy_: shape {src._layout.shape} to {self._layout.shape}")
            array(self)[...] = encode(array(src), self._quantizer, self.dtype)
        written(self, src)
        return self

    def fill_(self, value: Any) -> "QuantizedTensor":
        """Write one number, quantised. Raises: argument."""
        number = value.item() if isinstance(value, Tensor) else value
        array(self)[...] = encode(np.full(self._layout.shape, number, np.float32), self._quantizer, self.dtype)
        written(self)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        part = self[index]
        if isinstance(value, Tensor):
            part.copy_(value)
        else:
            part.fill_(value)

    def resize_(self, *sizes: Any, **kwargs: Any) -> "QuantizedTensor":
        """`resize_` of the codes. Raises: as it, dtype (RuntimeError) for a quantizer by channel."""
        if not isinstance(self._quantizer, PerTensor):
            raise LayoutError("dtype", "resize_: only tensors with one scale can be resized")
        Tensor.resize_(self, *sizes, **kwargs)
        return self

    def equal(self, other: Any) -> bool:
        """Whether two quantised tensors have one quantizer, shape and codes."""
        return (
            isinstance(other, QuantizedTensor)
            and (self.dtype, self._quantizer, self._layout.shape)
            == (other.dtype, other._quantizer, other._layout.shape)
            and bool((_codes(self) == _codes(other)).all())
        )

    def __copy__(self) -> "QuantizedTensor":
        return quantized(pickling.copy_tensor(self), self._quantizer)

    def __deepcopy__(self, memo: dict[int, Any]) -> "QuantizedTensor":
        plain = memo.get(id(self)) or pickling.deepcopy_tensor(self, memo)
        if not isinstance(plain, QuantizedTensor):
            memo[id(self)] = plain = quantized(plain, self._quantizer)
        return plain

    def __reduce_ex__(self, protocol: Any = None) -> Any:
        return _unpickled, (pickling.reduce_tensor(self), self._quantizer)

    def _saved_quantizer(self) -> Any:
        q = self._quantizer
        return [q.scale, q.zero_point] if isinstance(q, PerTensor) else [q.scales, q.zero_points, q.axis, q.exact]


_TYPE_NAMES: Final = {
    dt.quint8: "QUInt8", dt.qint8: "QInt8", dt.qint32: "QInt32", dt.quint4x2: "QUInt4x2", dt.quint2x4: "QUInt2x4",
}  # fmt: skip


def quantized(t: Any, q: Quantizer) -> QuantizedTensor:
    """A tensor of codes as a quantised one: the same storage, layout, base and versions."""
    out = object.__new__(QuantizedTensor)
    for name in TensorBase.__slots__:
        if name != "__weakref__":
            setattr(out, name, getattr(t, name))
    out._quantizer = q
    return out


def _unpickled(reduced: Any, q: Quantizer) -> QuantizedTensor:
    rebuild, state = reduced
    return quantized(rebuild(*state), q)


def restored(t: Tensor, saved: Any) -> QuantizedTensor:
    """What `load` makes of the codes and of what `save` wrote of their quantizer."""
    if len(saved) == 2:
        return quantized(t, PerTensor(float(saved[0]), int(saved[1])))
    scales, zero_points, axis, exact = saved
    return quantized(t, PerChannel(tuple(scales), tuple(zero_points), axis, exact))


def _codes(t: Any) -> Any:
    """The codes of a tensor as an array of its shape."""
    if t.dtype.pack == 1:
        return array(t)
    shape, strides, offset = t._layout
    flat = unpack(t._storage._bytes, t.dtype)
    if 0 in shape:
        return np.empty(shape, np.uint8)
    if span(t._layout) > len(flat):
        raise LayoutError("bounds", f"{t._layout} addresses past {len(flat)} packed elements")
    return np.ndarray(shape, np.uint8, flat, offset, strides)


def _suggested(t: Any, values: Any, d: dtype) -> Tensor:
    shape, strides, _ = t._layout
    return from_array(values, d, suggested_strides(shape, suggested_format(shape, strides)))


def _fill_codes(out: Any, codes: Any, q: Quantizer, d: dtype) -> QuantizedTensor:
    """A quantised tensor over fresh memory, with the layout of `out` and given codes."""
    shape = out._layout.shape
    if d.pack == 1:
        array(out)[...] = codes
        storage = out._storage
    else:
        storage = UntypedStorage._allocate(packed_bytes(shape, d))
        storage._bytes[...] = pack(np.ascontiguousarray(codes), d, len(storage))
        filled = -(-codes.size // d.pack)
        if filled < len(storage):
            # What the rounding of each row leaves over at the end is never written.
            storage._shadow = np.zeros(len(storage), np.uint8)
            storage._shadow[filled:] = shadow.UNSPECIFIED
    return quantized(build(storage, out._layout, d), q)


# ------------------------------------------------------------------------------------------------- which methods exist

_VIEWS = (
    "view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze", "narrow",
    "split", "split_with_sizes", "chunk", "tensor_split", "hsplit", "vsplit", "dsplit", "detach", "squeeze_",
    "unsqueeze_", "share_memory_", "cpu", "conj", "resolve_conj", "resolve_neg",
)  # fmt: skip
_STRIDED = (
    "permute", "transpose", "swapaxes", "swapdims", "t", "movedim", "moveaxis", "expand", "expand_as", "broadcast_to",
    "unfold", "diagonal", "as_strided", "transpose_", "swapaxes_", "swapdims_", "t_", "as_strided_",
)  # fmt: skip
_PROPERTIES = ("T", "mT", "data", "real")
_KEPT = frozenset(
    (
        "shape", "size", "stride", "dim", "ndim", "ndimension", "numel", "nelement", "itemsize", "element_size",
        "nbytes", "data_ptr", "untyped_storage", "storage", "storage_offset", "is_contiguous", "dim_order", "device",
        "layout", "is_cpu", "is_cuda", "is_meta", "is_sparse", "names", "requires_grad", "is_leaf", "is_conj", "is_neg",
        "is_complex", "is_floating_point", "get_device", "is_inference", "is_shared", "is_pinned", "pin_memory", "cuda",
        "hpu", "requires_grad_", "numpy", "retain_grad", "is_quantized", "detach_", "grad", "dtype", "output_nr",
        "grad_fn", "register_hook",
    )
)  # fmt: skip


def _kept(name: str, strided: bool) -> Callable[..., Any]:
    function = getattr(Tensor, name)

    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> Any:
        if strided and not isinstance(self._quantizer, PerTensor):
            raise LayoutError("view", f"{name}: strides can only be set with one scale for the tensor (facts 10.1.6)")
        return _wrapped(self, function(self, *args, **kwargs))

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def _wrapped(source: QuantizedTensor, result: Any, quantizer: Quantizer | None = None) -> Any:
    if isinstance(result, (tuple, list)):
        return type(result)(_wrapped(source, item) for item in result)
    if isinstance(result, Tensor) and result.dtype is source.dtype and not isinstance(result, QuantizedTensor):
        return quantized(result, source._quantizer if quantizer is None else quantizer)
    return result


def _selected(q: Quantizer, dim: int, index: int) -> Quantizer:
    """The quantizer of one index of a dimension: that channel's own where the dimension is the channels'."""
    if isinstance(q, PerTensor) or dim > q.axis:
        return q
    if dim == q.axis:
        return PerTensor(q.scales[index], int(q.zero_points[index]))
    return q._replace(axis=q.axis - 1)


def _select(self: QuantizedTensor, dim: int, index: int) -> QuantizedTensor:
    """`select`, with the channel's own scale where that dimension is selected from."""
    part = Tensor.select(self, dim, index)
    return quantized(part, _selected(self._quantizer, dim % self.ndim, index))


def _unbind(self: QuantizedTensor, dim: int = 0) -> tuple[QuantizedTensor, ...]:
    """`unbind`, with each channel's own scale where that dimension is taken apart."""
    q, where = self._quantizer, dim % (self.ndim or 1)
    return tuple(quantized(part, _selected(q, where, i)) for i, part in enumerate(Tensor.unbind(self, dim)))


def _getitem(self: QuantizedTensor, index: Any) -> QuantizedTensor:
    """An index, where each whole number selects as `select` does."""
    q = self._quantizer
    if isinstance(q, PerChannel):
        items, dim = index if isinstance(index, tuple) else (index,), 0
        for item in items:
            if type(item) is int:
                q = _selected(q, dim, item)
            elif item is Ellipsis:
                dim = self.ndim - len(items) + 1
            elif item is not None:
                dim += 1
    result: QuantizedTensor = _wrapped(self, Tensor.__getitem__(self, index), q)
    return result


def _missing(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedError("dtype", f"{name} of a quantised tensor (facts 10.1.8)")

    method.__name__ = name
    method.__doc__ = "Nothing. Raises: dtype (NotImplementedError)."
    return method


def _no_cast(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise LayoutError("dtype", f"{name} of a quantised tensor: dequantize first (facts 10.1.8)")

    method.__name__ = name
    method.__doc__ = "Nothing. Raises: dtype (RuntimeError)."
    return method


_CASTS = ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble")


def _bind() -> None:
    own = vars(QuantizedTensor)
    for name in _VIEWS:
        setattr(QuantizedTensor, name, _kept(name, strided=False))
    for name in _STRIDED:
        setattr(QuantizedTensor, name, _kept(name, strided=True))
    for name in _PROPERTIES:
        inner: Any = getattr(Tensor, name)
        strided = name in ("T", "mT")

        def get(self: QuantizedTensor, fget: Any = inner.fget, strided: bool = strided) -> Any:
            if strided and not isinstance(self._quantizer, PerTensor):
                raise LayoutError("view", "strides can only be set with one scale for the tensor (facts 10.1.6)")
            return _wrapped(self, fget(self))

        setattr(QuantizedTensor, name, property(get))
    arithmetic = {
        n for n in vars(Tensor) if n.startswith("__") and n[2:].removeprefix("r").removeprefix("i")[:3] in _ARITHMETIC
    }
    for name in vars(Tensor):
        known = name in own or name in _KEPT or (name.startswith("_") and name not in arithmetic)
        if not known and callable(getattr(Tensor, name)):
            setattr(QuantizedTensor, name, _missing(name))
    for name in _CASTS:
        setattr(QuantizedTensor, name, _no_cast(name))
    for name, function in (("select", _select), ("unbind", _unbind), ("__getitem__", _getitem)):
        setattr(QuantizedTensor, name, function)


_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "tru", "flo", "mod", "pow", "neg", "abs", "and", "or_", "xor", "nve", "mat", "ltd", "inv")
)
_bind()


# ------------------------------------------------------------------------------------------------------- constructors


def _target(d: Any) -> None:
    if not isinstance(d, dtype) or d not in QUANTIZED:
        raise LayoutError("dtype", f"a quantised dtype is wanted, got {d} (facts 10.1.9)")


def _source(input: Any, name: str) -> None:
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"{name} needs a Tensor, got {type(input).__name__}")
    if input.dtype is not dt.float32:
        raise LayoutError("dtype", f"{name} only works on float32, got {input.dtype} (facts 10.1.9)")


def _number(x: Any, name: str, kinds: tuple[type, ...]) -> Any:
    if isinstance(x, Tensor):
        return x.item()
    if not isinstance(x, kinds) or isinstance(x, bool):
        raise LayoutTypeError("argument", f"quantize_per_tensor: {name} must be a number, got {type(x).__name__}")
    return x


@checked
def quantize_per_tensor(input: Any, scale: Any, zero_point: Any, dtype: Any) -> Any:
    """Codes of a float32 tensor under one scale, in the format that the tensor suggests; of a list, one for each.

    Raises: dtype, size (RuntimeError), argument (TypeError). Source: facts 10.1, torch 2.13.
    """
    if isinstance(input, (tuple, list)):
        scales, points = scale.tolist(), zero_point.tolist()
        return tuple(quantize_per_tensor(x, s, z, dtype) for x, s, z in zip(input, scales, points, strict=True))
    scale, zero_point = _number(scale, "scale", (int, float)), _number(zero_point, "zero_point", (int,))
    _source_is_tensor(input)
    _source(input, "quantize_per_tensor")
    _target(dtype)
    _warn_deprecated()
    q = PerTensor(float(scale), int(zero_point))
    if dtype.pack == 1:
        check_zero_points((q.zero_point,), dtype)
    return _quantize(input, q, dtype)


def _source_is_tensor(input: Any) -> None:
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"quantize_per_tensor needs a Tensor, got {type(input).__name__}")


def _quantize(input: Any, q: Quantizer, d: dtype) -> QuantizedTensor:
    shape, strides, _ = input._layout
    wanted = suggested_strides(shape, suggested_format(shape, strides)) if d.pack == 1 else contiguous_strides(shape)
    out = fresh(shape, wanted, CODES[d])
    codes = encode(array(input), q, d)
    result = _fill_codes(out, codes, q, d)
    if d.pack == 1:
        with np.errstate(all="ignore"):
            nan = np.isnan(array(input))
        if nan.any():
            shadow.stamp(result, np.where(nan, shadow.UNSPECIFIED, 0).astype(np.uint8))
    return result


def _channels(scales: Any, zero_points: Any, axis: int, shape: tuple[int, ...], d: dtype) -> PerChannel:
    if len(scales._layout.shape) != 1 or len(zero_points._layout.shape) != 1:
        raise LayoutError("dimension", "scales and zero points must have one dimension (facts 10.1.6)")
    if scales.numel() != zero_points.numel():
        raise LayoutError("size", "there must be as many zero points as scales (facts 10.1.6)")
    if not 0 <= axis < len(shape):
        raise LayoutError("dimension", f"channel axis {axis} of shape {shape} is out of range (facts 10.1.6)")
    exact = not zero_points.dtype.is_floating_point
    found = tuple(float(s) for s in scales.tolist()), tuple(zero_points.tolist())
    if shape[axis] != len(found[0]):
        raise LayoutError("size", f"{len(found[0])} scales for {shape[axis]} channels (facts 10.1.6)")
    if exact and d.pack == 1:
        check_zero_points(found[1], d)
    return PerChannel(*found, axis, exact)


@checked
def quantize_per_channel(input: Any, scales: Any, zero_points: Any, axis: int, dtype: Any) -> QuantizedTensor:
    """Codes of a float32 tensor with a scale for each index of a dimension; zero points may be floats.

    Raises: dtype, size, dimension (RuntimeError); dtype (NotImplementedError) for packed dtypes with whole zero points.
    Source: facts 10.1.6, torch 2.13 (the format is the one that the tensor suggests).
    """
    _source(input, "quantize_per_channel")
    _target(dtype)
    _warn_deprecated()
    q = _channels(scales, zero_points, axis, input._layout.shape, dtype)
    if dtype.pack > 1 and q.exact:
        raise UnsupportedError("dtype", f"quantize_per_channel has no kernel for {dtype} (facts 10.1.7)")
    return _quantize(input, q, dtype)


def _fresh(size: Any, q: Quantizer, d: dtype, format: memory_format) -> QuantizedTensor:
    shape = tuple(size)
    t = uninitialised(shape, format_strides(shape, format), d)
    return quantized(t, q)


@checked
def empty_affine_quantized(
    size: Any, *, scale: float = 1.0, zero_point: int = 0, dtype: Any = None, device: Any = None,
    memory_format: memory_format = contiguous_format,
) -> QuantizedTensor:  # fmt: skip
    """Fresh codes under one scale. Raises: dtype (RuntimeError), format. Source: facts 10.1.7, torch 2.13."""
    _target(dtype)
    _warn_deprecated()
    return _fresh(size, PerTensor(float(scale), int(zero_point)), dtype, memory_format)


@checked
def empty_per_channel_affine_quantized(
    size: Any, *, scales: Any, zero_points: Any, axis: int, dtype: Any = None, device: Any = None,
    memory_format: memory_format = contiguous_format,
) -> QuantizedTensor:  # fmt: skip
    """Fresh codes with a scale for each channel. Raises: as `quantize_per_channel`, format. Source: facts 10.1.6."""
    _target(dtype)
    _warn_deprecated()
    return _fresh(size, _channels(scales, zero_points, axis, tuple(size), dtype), dtype, memory_format)


@checked
def dequantize(input: Any) -> Any:
    """The numbers as float32, of one tensor or of several."""
    if isinstance(input, (tuple, list)):
        return tuple(dequantize(x) for x in input)
    return input.dequantize()


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
