"""The quantised tensor: integer codes under strides, and the quantizer that says what they mean."""

import copy
from functools import cache
from typing import Any, Final

import numpy as np

from . import copies, pickling, shadow
from . import dtypes as dt
from .contiguity import format_strides, is_contiguous_in, suggested_format, suggested_strides
from .core import TensorBase, array, as_class, build, check_tensors, fresh, from_array, written
from .dtypes import dtype
from .errors import (
    LayoutError,
    LayoutTypeError,
    LayoutValueError,
    UnspecifiedError,
    UnsupportedError,
    fatal,
)
from .formats import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format
from .layout import Shape
from .printing import elements, with_suffixes
from .quantizers import (
    CODES,
    UNKNOWN,
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


class QuantizedTensor(Tensor):
    """A tensor of codes with the quantizer that says what they mean.

    Views keep the quantizer; those that need other strides than a tensor of their shape would have are refused to
    quantizers by channel. What is not implemented raises NotImplementedError, as most of PyTorch's operators do.

    Source: facts 10.1, torch 2.13.
    """

    __slots__ = ("_quantizer",)
    _quantizer: Quantizer

    is_quantized = True
    # As in PyTorch, where kernels are chosen below Python. That `type` is this class, if by the same name, is the price
    # of plain tensors that ask in none of their methods whether they are quantised.
    __class__ = property(lambda self: Tensor)

    @property
    def _uniform(self) -> PerTensor:
        if not isinstance(self._quantizer, PerTensor):
            raise LayoutError("dtype", "expected one scale for the whole tensor, kPerTensorAffine (facts 10.1.9)")
        return self._quantizer

    def _check_quantizer(self, name: str) -> None:
        """Refuse what needs another quantizer like the tensor's own."""
        self._check_exact(name)
        if isinstance(self._quantizer, PerChannel):
            self._quantizer.checked()

    def _check_exact(self, name: str) -> None:
        if self._quantizer is UNKNOWN:
            raise LayoutError("dtype", f"{name} of codes without a quantizer (facts 10.1.20)")
        if isinstance(self._quantizer, PerChannel) and not self._quantizer.exact:
            raise LayoutError("dtype", f"{name}: not where zero points are floats (facts 10.1.11)")

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
        """The scales themselves, as float64 (float32 where zero points are floats). Raises: dtype (RuntimeError)."""
        scales: Tensor = self._by_channel.scales
        return scales

    def q_per_channel_zero_points(self) -> Tensor:
        """The zero points themselves, as int64 or float32. Raises: dtype (RuntimeError)."""
        zero_points: Tensor = self._by_channel.zero_points
        return zero_points

    def q_per_channel_axis(self) -> int:
        """The dimension of the channels. Raises: dtype (RuntimeError)."""
        return self._by_channel.axis

    def qscheme(self) -> qscheme:
        """How the codes came about."""
        return self._quantizer.scheme

    def int_repr(self) -> Tensor:
        """The codes as integers, copied in the suggested format; packed ones as the bytes that hold them.

        Raises: format (RuntimeError) for packed codes in channels-last memory.
        Source: facts 10.1.3, 10.1.7 and 10.1.19, torch 2.13.
        """
        if self.dtype.pack > 1:
            shape, strides, _ = self._layout
            if suggested_format(shape, strides) is not contiguous_format:
                # PyTorch gives the flat answer the format of the tensor.
                raise LayoutError("format", f"int_repr of {self.dtype} in channels-last memory (facts 10.1.7)")
            where, known = _packed_place(self), self._storage._shadow
            packed = from_array(self._storage._bytes[where].copy(), dt.uint8)
            packed._storage._shadow = None if known is None else known[where].copy()
            return packed
        return _laid_out(self, codes_of(self), CODES[self.dtype], suggested_format(*self._layout[:2]))

    def dequantize(self) -> Tensor:
        """The numbers as float32, in the suggested format; where zero points are floats, row-major.

        Raises: size (RuntimeError) where a view has other channels than its quantizer, or a zero point is no code;
        dtype (NotImplementedError) for packed codes that do not follow each other in the suggested format. Where zero
        points are floats, dtype (RuntimeError) for codes out of order, which cannot be copied, and format for those
        that only another format than row-major has in order.
        Source: facts 10.1.3, 10.1.9, 10.1.11 and 10.1.19, torch 2.13.
        """
        q, (shape, strides, _) = self._quantizer, self._layout
        format = suggested_format(shape, strides)
        has_float_points = isinstance(q, PerChannel) and not q.exact
        if has_float_points:
            self.contiguous(memory_format=format)
        if self.dtype.pack > 1 and isinstance(q, PerChannel) and q.exact:
            raise UnsupportedError("dtype", f"dequantize has no kernel for {self.dtype} by channel (facts 10.1.7)")
        check_channels_last(self, q)
        q.spread(shape)
        if has_float_points and not is_contiguous_in(shape, suggested_strides(shape, contiguous_format), format):
            raise LayoutError("format", "numbers of codes with floats for zero points are row-major, unlike the codes")
        if self.dtype is dt.qint32 and has_float_points and 0 not in shape:
            raise fatal(LayoutError("dtype", f"numbers of {self.dtype} with floating-point zero points"))
        check_zero_points(q.whole_points, self.dtype)
        values = decode(codes_of(self), q)
        found = _laid_out(self, values, dt.float32, contiguous_format if has_float_points else format)
        return found if q.known else shadow.leave_unspecified(found)

    def item(self) -> Any:
        """The only element's number. Raises: size (RuntimeError) where there is not exactly one."""
        if self.numel() != 1:
            raise LayoutError("size", f"item(): {self.numel()} elements, not one")
        return self.dequantize().item()

    def tolist(self) -> Any:
        """An empty list of no elements. Raises: dtype (RuntimeError): there is no list of quantised numbers."""
        if 0 in self._layout.shape:
            return np.empty(self._layout.shape).tolist()
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
        told = [f"size={self._layout.shape}", f"dtype={self.dtype}", f"quantization_scheme={self.qscheme()}"]
        if isinstance(self._quantizer, PerChannel):
            scale, zero_point = self.q_per_channel_scales(), self.q_per_channel_zero_points()
            told += [f"scale={scale}", f"zero_point={zero_point}", f"axis={self.q_per_channel_axis()}"]
        else:
            told += [f"scale={self.q_scale()}", f"zero_point={self.q_zero_point()}"]
        return with_suffixes("tensor(" + elements(self.dequantize()), told)

    # --------------------------------------------------------------------------------------------------- copies

    def clone(self, *, memory_format: memory_format | None = None) -> "QuantizedTensor":
        """A copy, row-major unless a format is given, whatever the order was.

        Raises: format; dtype (RuntimeError) where zero points are floats, (NotImplementedError) for packed codes.
        Source: facts 10.1.8 and 10.1.11, torch 2.13.
        """
        self._check_quantizer("clone")
        if self.dtype.pack > 1 and 0 not in self._layout.shape:
            raise UnsupportedError("dtype", f"clone has no kernel for {self.dtype} (facts 10.1.7)")
        shape, strides, _ = self._layout
        if memory_format is None:
            wanted = contiguous_format
        else:
            wanted = suggested_format(shape, strides) if memory_format is preserve_format else memory_format
        out = fresh(shape, format_strides(shape, wanted), CODES[self.dtype])
        return fill_codes(out, codes_of(self), self._quantizer, self.dtype, _marks_of(self))

    def contiguous(self, *, memory_format: memory_format = contiguous_format) -> "QuantizedTensor":
        """The tensor itself where it is contiguous in the format, else a copy in it. Raises: format."""
        if is_contiguous_in(*self._layout[:2], memory_format):
            return self
        if memory_format is preserve_format:
            raise LayoutError("format", "contiguous: preserve_format is not supported (facts 4.1.2)")
        return self.clone(memory_format=memory_format)

    def to(self, *args: Any, **kwargs: Any) -> "QuantizedTensor":
        """The tensor itself, or a copy, row-major unless told. Raises: dtype (RuntimeError) for another one."""
        wanted, copy, format, nowhere = copies._to_arguments(self, args, kwargs)
        if nowhere:
            raise UnsupportedError("device", "to: there are no codes on meta (facts 10.1.17)")
        if wanted is not self.dtype:
            raise LayoutError("dtype", f"to: {self.dtype} to {wanted}: dequantize first (facts 10.1.8)")
        suggested = suggested_format(*self._layout[:2])
        if not copy and (format is None or format is preserve_format or format is suggested):
            return self
        # What is to be preserved is not the order: a copy is row-major, as that of `clone`.
        return self.clone(memory_format=None if format is preserve_format else format)

    def type_as(self, other: Any) -> "QuantizedTensor":
        """The tensor itself. Raises: argument (TypeError); dtype (RuntimeError) for another dtype."""
        if not isinstance(other, TensorBase):
            raise LayoutTypeError("argument", f"type_as needs a Tensor, got {type(other).__name__}")
        return self.to(other.dtype)

    def copy_(self, other: Any, non_blocking: bool = False) -> "QuantizedTensor":
        """Quantise float32 numbers into this tensor, or take over another's codes with its quantizer.

        Raises: dtype, format, size (RuntimeError); argument (TypeError). Source: torch 2.13.
        """
        if not isinstance(other, Tensor):
            raise LayoutTypeError("argument", f"copy_ needs a Tensor, got {type(other).__name__}")
        if isinstance(other, QuantizedTensor):
            if other.dtype is not self.dtype or other.qscheme() is not self.qscheme():
                raise LayoutError("dtype", f"copy_: {other.dtype}, {other.qscheme()} to {self.dtype}, {self.qscheme()}")
            # What is copied to its own place is left as it is, and needs no kernel.
            if self.dtype.pack > 1 and (other._storage is not self._storage or other._layout != self._layout):
                raise UnsupportedError("dtype", f"copy_ has no kernel for {self.dtype} (facts 10.1.7)")
            copies.write_copy(self, other)
            self._quantizer = other._quantizer
        else:
            if other.dtype is not dt.float32:
                raise LayoutError("dtype", f"copy_: only float32 can be quantised, got {other.dtype} (facts 10.1.9)")
            both = self._layout, other._layout
            if not any(all(is_contiguous_in(*x[:2], f) for x in both) for f in (contiguous_format, channels_last)):
                raise LayoutError("format", "copy_: quantising needs two tensors contiguous in one format")
            if other._layout.shape != self._layout.shape:
                raise LayoutError("size", f"copy_: shape {other._layout.shape} to {self._layout.shape}")
            if self.dtype.pack > 1:
                raise UnsupportedError("dtype", f"copy_ has no kernel for {self.dtype} (facts 10.1.7)")
            self._check_exact("copy_")
            check_zero_points(self._quantizer.whole_points, self.dtype)
            if not is_contiguous_in(*self._layout[:2], suggested_format(*other._layout[:2])):
                raise LayoutError("format", "copy_: the codes are not in the format that the numbers suggest")
            # As in memory: bits are not looked at.
            codes, unknown = encode(array(other), self._quantizer, self.dtype)
            array(self)[...] = codes
            shadow.stamp(self, unknown_codes(other, unknown))
        # Codes have no gradient: whose the numbers are is not recorded.
        written(self)
        return self

    def fill_(self, value: Any) -> "QuantizedTensor":
        """Write one number, quantised: the same as `copy_` of a tensor in the suggested format that is full of it.

        Raises: argument (TypeError), dimension, dtype, format, size (RuntimeError). Source: facts 10.1.11, torch 2.13.
        """
        if isinstance(value, Tensor):
            if value._layout.shape:
                raise LayoutError("dimension", f"fill_ takes a 0-dim tensor, got {value._layout.shape}")
            value = value.item()
        if isinstance(value, complex):
            raise LayoutError("dtype", "fill_: only float32 can be quantised, got a complex number (facts 10.1.9)")
        if not isinstance(value, (int, float, np.number)):
            raise LayoutTypeError("argument", f"fill_ takes a number, got {type(value).__name__}")
        shape, strides, _ = self._layout
        number = np.full(shape, value, np.float32)
        return self.copy_(from_array(number, dt.float32, suggested_strides(shape, suggested_format(shape, strides))))

    def resize_(self, *sizes: Any, **kwargs: Any) -> "QuantizedTensor":
        """`resize_` of the codes. Raises: as it, dtype (RuntimeError) for a quantizer by channel; format for any."""
        if not isinstance(self._quantizer, PerTensor):
            raise LayoutError("dtype", "resize_: only tensors with one scale can be resized")
        if kwargs.get("memory_format") is not None:
            raise LayoutError("format", "resize_: codes take no memory format (facts 10.1.18)")
        Tensor.resize_(self, *sizes, **kwargs)
        return self

    def equal(self, other: Any) -> bool:
        """Whether two quantised tensors have one quantizer, shape and codes.

        Raises: dtype (NotImplementedError) for packed codes out of order, which would have to be copied.
        """
        check_tensors("equal", other)
        if not (
            isinstance(other, QuantizedTensor)
            and (self.dtype, self._layout.shape) == (other.dtype, other._layout.shape)
            and self._quantizer.says_the_same(other._quantizer)
        ):
            return False
        if self.dtype.pack > 1:
            if not all(is_contiguous_in(*x._layout[:2], contiguous_format) for x in (self, other)):
                raise UnsupportedError("dtype", f"equal has no kernel for {self.dtype} out of order (facts 10.1.7)")
            if self._storage is not other._storage or self._layout.offset != other._layout.offset:
                # As many bytes are compared as there are elements, past the end of both storages.
                raise UnspecifiedError(f"equal of {self.dtype}")
        return bool((codes_of(self) == codes_of(other)).all())

    def __copy__(self) -> "QuantizedTensor":
        check_rebuilt(self._quantizer, self._layout.shape)
        new = quantized(pickling.copy_tensor(self), self._quantizer)
        vars(new).update(vars(self))
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> "QuantizedTensor":
        check_rebuilt(self._quantizer, self._layout.shape)
        done: QuantizedTensor | None = memo.get(id(self))
        if done is not None:
            return done
        # Attributes come last: they may lead back to the tensor.
        bare = quantized(self, self._quantizer)
        memo[id(self)] = new = quantized(pickling.deepcopy_tensor(bare, memo), self._quantizer)
        del memo[id(bare)]
        vars(new).update(copy.deepcopy(vars(self), memo))
        return new

    def _in_class(self, t: Any, cls: Any) -> Any:
        return quantized(t, self._quantizer, _coded(cls))

    def __reduce_ex__(self, protocol: Any = None) -> Any:
        if self._quantizer is UNKNOWN:
            check_rebuilt(UNKNOWN, self._layout.shape)
        return _unpickled, (pickling.reduce_tensor(self), self._quantizer)

    def _saved_quantizer(self) -> Any:
        q = self._quantizer
        return list(q)


_TYPE_NAMES: Final = {
    dt.quint8: "QUInt8", dt.qint8: "QInt8", dt.qint32: "QInt32", dt.quint4x2: "QUInt4x2", dt.quint2x4: "QUInt2x4",
}  # fmt: skip


QuantizedTensor.__name__ = QuantizedTensor.__qualname__ = Tensor.__name__


@cache
def _coded(cls: type) -> type[QuantizedTensor]:
    """A class of tensors for codes, by the same name."""
    return type(cls)(cls.__name__, (cls, QuantizedTensor), {"__slots__": (), "__class__": property(lambda self: cls)})


def quantized(t: Any, q: Quantizer, cls: type[QuantizedTensor] = QuantizedTensor) -> QuantizedTensor:
    """A tensor of codes as a quantised one: the same storage, layout, base and versions."""
    out: QuantizedTensor = as_class(t, cls)
    out._quantizer = q
    return out


def _unpickled(reduced: Any, q: Quantizer) -> QuantizedTensor:
    rebuild, state = reduced
    t = rebuild(*state)
    check_rebuilt(q, t._layout.shape)
    new = quantized(t, q)
    vars(new).update(vars(t))
    return new


def check_rebuilt(q: Quantizer, shape: Shape) -> None:
    """Refuse to put a tensor together again whose quantizer does not fit its shape.

    Raises: dimension, size (ValueError); dtype (RuntimeError) without one. Source: facts 10.1.16, torch 2.13.
    """
    if q is UNKNOWN:
        raise LayoutError("dtype", "a copy of codes without a quantizer (facts 10.1.20)")
    if isinstance(q, PerChannel):
        if not 0 <= q.axis < len(shape):
            raise LayoutValueError("dimension", f"channel axis {q.axis} is out of range for shape {shape}")
        if (q.scales.numel(), q.zero_points.numel()) != (shape[q.axis], shape[q.axis]):
            found = f"{q.scales.numel()} scales and {q.zero_points.numel()} zero points"
            raise LayoutValueError("size", f"{found} for {shape[q.axis]} channels")
        q.checked()


def restored(t: Tensor, saved: Any) -> QuantizedTensor:
    """What `load` makes of the codes and of what `save` wrote of their quantizer."""
    if len(saved) == 2:
        return quantized(t, PerTensor(float(saved[0]), int(saved[1])))
    q = PerChannel(*saved)
    check_rebuilt(q, t._layout.shape)
    return quantized(t, q)


def codes_of(t: Any) -> Any:
    """The codes of a tensor as an array of its shape.

    Raises: dtype (NotImplementedError) for packed codes out of order, which would have to be copied.
    """
    if t.dtype.pack == 1:
        return array(t)
    shape, strides, _ = t._layout
    format = suggested_format(shape, strides)
    if 0 in shape:
        return np.empty(shape, np.uint8)
    if not is_contiguous_in(shape, strides, format):
        raise UnsupportedError("dtype", f"codes of {t.dtype} out of order (facts 10.1.19)")
    flat = unpack(t._storage._bytes[_packed_place(t)], t.dtype)
    return np.ndarray(shape, np.uint8, flat, 0, suggested_strides(shape, format))


def _packed_place(t: Any) -> slice:
    """The bytes that packed codes are read from: the offset counts bytes, strides nothing (facts 10.1.19)."""
    start = t._layout.offset
    end = start - (-t.numel() // t.dtype.pack)
    if end > max(len(t._storage), start):
        raise fatal(LayoutError("bounds", f"{t._layout} of {t.dtype} reads past {len(t._storage)} bytes"))
    return slice(start, end)


def check_channels_last(t: Any, q: Quantizer) -> None:
    """Refuse channels of a spatial dimension in channels-last memory. Raises: format. Source: torch 2.13."""
    if isinstance(q, PerChannel) and q.exact and q.axis > 1:
        shape, strides, _ = t._layout
        wanted = suggested_format(shape, strides)
        if wanted in (channels_last, channels_last_3d) and not is_contiguous_in(
            shape, suggested_strides(shape, wanted), contiguous_format
        ):
            raise LayoutError("format", f"a channels-last tensor has its channels in dimension 0 or 1, not in {q.axis}")


def _marks_of(t: Any) -> Any:
    """Marks of a tensor's codes, None where all are specified; those of packed ones all alike."""
    if t.dtype.pack == 1:
        return shadow.marks_of(t)
    known = t._storage._shadow
    return shadow.UNSPECIFIED if known is not None and known[_packed_place(t)].any() else None


def unknown_codes(source: Any, unknown: Any) -> Any:
    """Marks of the codes of numbers: neither of those that are `unknown`, nor of numbers known within a tolerance."""
    known = shadow.marks_of(source)
    if known is not None:
        unknown = unknown | (known != shadow.EXACT)
    return np.where(unknown, shadow.UNSPECIFIED, 0).astype(np.uint8) if unknown.any() else None


def _laid_out(t: Any, values: Any, d: dtype, format: memory_format) -> Tensor:
    """What a tensor's codes come to, in a format, with their marks."""
    result = from_array(values, d, suggested_strides(t._layout.shape, format))
    shadow.stamp(result, _marks_of(t))
    return result


def fill_codes(out: Any, codes: Any, q: Quantizer, d: dtype, marks: Any) -> QuantizedTensor:
    """A quantised tensor with the layout of `out` and given codes; packed ones follow each other as in memory."""
    array(out)[...] = codes
    storage = out._storage
    shadow.stamp(out, marks)
    if d.pack > 1:
        flat, unknown = storage._bytes, storage._shadow
        storage = UntypedStorage._allocate(packed_bytes(out._layout.shape, d))
        storage._bytes[...] = pack(flat, d, len(storage))
        known = np.zeros(len(storage), np.uint8)
        if unknown is not None:
            known[pack(unknown, d, len(storage)) != 0] = shadow.UNSPECIFIED
        # What the rounding of each row leaves over at the end is never written.
        known[-(-flat.size // d.pack) :] = shadow.UNSPECIFIED
        storage._shadow = known if known.any() else None
    return quantized(build(storage, out._layout, d), q)
