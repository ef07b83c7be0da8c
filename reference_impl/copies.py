"""Copies: clone, contiguous, to, copy_, fill_, and the new tensors made like another."""

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .backing import NoBytes, no_data
from .calls import as_number
from .contiguity import (
    format_strides,
    is_contiguous,
    is_contiguous_in,
    is_non_overlapping_and_dense,
    suggested_format,
)
from .conversion import cast, cast_marks, check_castable, check_copyable, check_fillable
from .core import (
    CONJ,
    NEG,
    TensorBase,
    array,
    bad_arguments,
    build,
    check_flag,
    check_inplace,
    check_internal_overlap,
    check_overlap,
    check_tensors,
    detached,
    fresh,
    from_array,
    has_gradient,
    order_marks,
    recorded,
    values,
    with_bits,
    without_bits,
    written,
)
from .devices import device, is_count, is_meta
from .dtypes import QUANTIZED, dtype
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, LayoutValueError, UnsupportedError
from .formats import contiguous_format, memory_format, preserve_format
from .kernels import strided_copy
from .layout import Layout, Strides, contiguous_strides
from .notices import REAL_PART, warn_once
from .output_layout import preserved_strides
from .parsing import parsed
from .promotion import as_dtype, get_default_dtype
from .storage import UntypedStorage
from .views import expand

if TYPE_CHECKING:
    from .tensors import Tensor


def copy_elements(out: Any, source: Any) -> None:
    """Write the elements of `source` to `out` of the same shape, converted to its dtype, marks carried along."""
    d = out.dtype
    if d is source.dtype and not source._bits and not out._bits:
        if 0 not in out._layout.shape:
            check_copyable(d)
        a = array(out)
        b = values(source) if d is dt.bool_ else array(source)
        if a.size < 4096:
            a[...] = b
        else:
            strided_copy(a, b)
        if source._storage._shadow is not None or out._storage._shadow is not None:
            shadow.copy_bytes(out, source)
        return
    if 0 in out._layout.shape:
        return
    check_castable(source.dtype, d)
    if source.dtype.is_complex and not d.is_complex and d is not dt.bool_:
        warn_once(REAL_PART)
    plain = values(source)
    marks = shadow.marks_of(source)
    result = cast(plain, source.dtype, d)
    if d is not source.dtype:
        marks = cast_marks(plain, source.dtype, d, marks)
    store(out, result, marks)


def store(out: Any, result: Any, marks: Any = None) -> None:
    """Write an array of the right dtype to a tensor through its conjugate and negative bits, and mark it.

    Raises: overlap (RuntimeError) for repeated elements that have a bit: the copy that PyTorch has computed is copied
    back, whatever the operator itself would write to. Source: facts 9.15, torch 2.13.
    """
    if out._bits:
        if 0 not in out._layout.shape:
            check_internal_overlap(without_bits(out))
        if out._bits & NEG:
            marks = shadow.loosen_negated(result, out.dtype, marks)
        result = with_bits(result, out)
    array(out)[...] = result
    if marks is not None or out._storage._shadow is not None:
        shadow.stamp(out, marks)


def like_strides(input: "Tensor", format: memory_format | None) -> Strides:
    """Strides of a copy, and of `*_like`: preserved unless a format is given.

    Raises: format (RuntimeError). Source: facts 4.1.5 and 4.1.8, torch 2.13.
    """
    layout = input._layout
    if format is None or format is preserve_format:
        return preserved_strides(layout.shape, layout.strides)
    return format_strides(layout.shape, format)


def clone(input: "Tensor", *, memory_format: memory_format | None = None) -> "Tensor":
    """A copy; dense in the same order of dimensions unless a format is given.

    Raises: format (RuntimeError). Source: facts 4.1.5, torch 2.13.

    >>> torch.zeros(2, 3).t().clone().stride(), torch.zeros(2, 6)[:, ::2].clone().stride()
    ((1, 3), (3, 1))
    """
    return _copied(input, like_strides(input, memory_format), input.dtype, input._storage)


def _copied(input: "Tensor", strides: Strides, d: dtype, beside: UntypedStorage) -> "Tensor":
    shape = input._layout.shape
    if type(beside._bytes) is NoBytes:
        nbytes = prod(shape) * d.itemsize
        return recorded(build(UntypedStorage._nowhere(nbytes), Layout(shape, strides, 0), d), input)
    out = fresh(shape, strides, d)
    copy_elements(out, input)
    return recorded(out, input)


@parsed(given_only="memory_format")
def contiguous(input: "Tensor", *, memory_format: memory_format = contiguous_format) -> "Tensor":
    """The tensor itself where it is contiguous in the format, else a copy in that format.

    Raises: format (RuntimeError). Source: facts 4.1.1 and 4.1.2, torch 2.13.

    >>> x = torch.zeros(2, 3)
    >>> x.contiguous() is x, x.t().contiguous().stride()
    (True, (2, 1))
    """
    shape, strides, _ = input._layout
    if is_contiguous_in(shape, strides, memory_format):
        return input
    if memory_format is preserve_format:
        raise LayoutError("format", "contiguous: preserve_format is not supported (facts 4.1.2)")
    return clone(input, memory_format=memory_format)


def to_copy(
    input: "Tensor", dtype: dtype, memory_format: memory_format | None = None, beside: UntypedStorage | None = None
) -> "Tensor":
    """A copy in a dtype, where `beside` lies; strides preserved unless a format is given.

    Raises: dtype (RuntimeError) for codes, which need a quantizer. Source: facts 4.1.6 and 10.1.8.
    """
    if dtype in QUANTIZED and dtype is not input.dtype:
        raise LayoutError("dtype", f"{input.dtype} to {dtype}: quantize instead (facts 10.1.8)")
    return _copied(input, like_strides(input, memory_format), dtype, input._storage if beside is None else beside)


def to(input: "Tensor", *args: Any, **kwargs: Any) -> "Tensor":
    """The tensor itself where nothing is to change, else a copy with another dtype or memory format.

    A memory format alone is compared with the one the tensor *suggests*, so that a tensor may be answered as it is
    though it is not contiguous in the format.

    Raises: argument, device (also for the way back from meta), format, dtype. Source: facts 4.1.6 and 7.7, torch 2.13.

    >>> x = torch.zeros(2, 3)
    >>> x.to(torch.float32) is x, x.t().to(torch.float64).stride()
    (True, (1, 3))
    """
    wanted, copy, format, nowhere = _to_arguments(input, args, kwargs)
    if nowhere is not None and nowhere is not input._storage._is_meta:
        if not nowhere:
            raise no_data("to")
        return to_copy(input, wanted, format, UntypedStorage._nowhere(0))
    if (
        not copy
        and wanted is input.dtype
        and (
            format is None
            or format is preserve_format
            or format is suggested_format(input._layout.shape, input._layout.strides)
        )
    ):
        return input
    return to_copy(input, wanted, format)


_NUMBERS = ((bool, dt.bool_), (float, dt.float64), (complex, dt.complex128))


def _to_arguments(
    input: "Tensor", args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dtype, bool, memory_format | None, bool | None]:
    wanted: Any = None
    nowhere: bool | None = None
    names = ["non_blocking", "copy"]
    copy: Any = False
    rest: list[Any] = [as_dtype(x) if isinstance(x, type) else x for x in args]
    if rest and isinstance(rest[0], TensorBase):
        nowhere = rest[0]._storage._is_meta
        wanted = rest.pop(0).dtype
    elif rest and isinstance(rest[0], dtype):
        wanted = rest.pop(0)
    elif rest and isinstance(rest[0], (bool, float, complex)):
        # Such a number stands for a tensor; an int would be a device.
        wanted = next(d for kind, d in _NUMBERS if isinstance(rest[0], kind))
        rest.pop(0)
    elif rest:
        where = rest.pop(0)
        if not (where is None or isinstance(where, (str, bytes)) or hasattr(where, "type") or is_count(where)):
            raise bad_arguments("to", f"{type(where).__name__} is no dtype, device or tensor")
        nowhere = None if where is None else is_meta(where)
        copy = _is_numbered(where)
        if rest and (isinstance(rest[0], dtype) or rest[0] is None):
            wanted = rest.pop(0)
    for name, value in zip(names, rest, strict=False):
        check_flag(name, value)
        if name == "copy":
            copy = copy or value
    if len(rest) > 2:
        raise bad_arguments("to", "too many arguments")
    format = None
    for key, value in kwargs.items():
        if key == "dtype":
            wanted = value
        elif key == "device":
            nowhere = None if value is None else is_meta(value)
            copy = copy or _is_numbered(value)
        elif key in names:
            check_flag(key, value)
            copy = copy or (key == "copy" and value)
        elif key == "memory_format":
            format = value
        elif key == "tensor":
            check_tensors("to", value)
            wanted = value.dtype
            nowhere = value._storage._is_meta
        else:
            raise bad_arguments("to", f"unknown keyword {key}")
    wanted = input.dtype if wanted is None else as_dtype(wanted)
    return wanted, bool(copy), format, nowhere


def _is_numbered(where: Any) -> bool:
    # `cpu:0` is another device than `cpu`, though it lies there.
    return where is not None and device(where).index is not None


def copy_(self: "Tensor", other: Any, non_blocking: bool = False) -> "Tensor":
    """Write another tensor's elements, or a number, broadcast and converted.

    Raises: argument (TypeError); overflow (OverflowError) for a number past 64 bits; broadcast; overlap; grad; dtype.
    Source: facts 5.2.4, torch 2.13.

    >>> torch.zeros(2, 2).copy_(torch.arange(2)).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    if not isinstance(other, TensorBase):
        other = _of_number(other)
    # A copy in another dtype ends the history.
    graph = (other,) if has_gradient(self.dtype) else ()
    check_inplace(self, *graph)
    write_copy(self, other)
    written(self, *graph)
    return self


def _of_number(x: Any) -> "Tensor":
    """What PyTorch makes of a number where an operator takes tensors only: a tensor of the widest dtype of its kind.

    Raises: argument (TypeError), overflow (OverflowError). Source: `should_allow_numbers_as_tensors`, torch 2.13.
    """
    x = as_number(x)
    if not isinstance(x, (int, float, complex)):
        raise LayoutTypeError("argument", f"copy_ needs a Tensor or a number, got {type(x).__name__}")
    d = {bool: dt.bool_, float: dt.float64, complex: dt.complex128}.get(type(x), dt.int64)
    if d is dt.int64 and not -(2**63) <= x < 2**63:  # type: ignore[operator]  # an int
        if not 0 <= x < 2**64:  # type: ignore[operator]
            raise LayoutOverflowError("overflow", f"copy_: {x} does not fit 64 bits")
        d = dt.uint64
    return from_array(np.array(x, d.numpy), d)


def change_in_copy(self: "Tensor", change: Callable[["Tensor"], Any]) -> None:
    """Change a tensor with a bit as an operator without a kernel for it does: all of a changed copy is copied back.

    Raises: overlap, and as `change`. Source: facts 9.15, torch 2.13.
    """
    whole = clone(detached(self))
    change(whole)
    write_copy(self, whole)


def write_copy(self: "Tensor", src: "Tensor") -> None:
    """`copy_` without its bookkeeping of versions and history."""
    if src is self or _same_data(self, src):
        return
    if type(self._storage._bytes) is NoBytes:
        expand(src._layout, self._layout.shape)
        return
    if type(src._storage._bytes) is NoBytes:
        raise no_data("copy_")
    if src.dtype in QUANTIZED and self.dtype not in QUANTIZED:
        raise LayoutError("dtype", f"copy_: {src.dtype} to {self.dtype}: dequantize first (facts 10.1.8)")
    # Overlap is looked for before the shapes are.
    check_overlap(without_bits(self), without_bits(src))
    shape = self._layout.shape
    source: Any = src
    if src._layout.shape != shape:
        source = reader(src, expand(src._layout, shape))
    if 0 in shape:
        return
    marks = order_marks(without_bits(self), without_bits(source))
    if marks is not None and self._storage is src._storage:
        # What PyTorch leaves there depends on its traversal; read first, so that at least this run is deterministic.
        kept = fresh(shape, contiguous_strides(shape), source.dtype)
        copy_elements(kept, source)
        source = kept
    try:
        if source.dtype is not self.dtype and (source._bits or self._bits):
            _copy_turned(self, source, whole=src._layout.shape == shape)
        else:
            copy_elements(self, source)
    finally:  # turning may be refused after all has been written
        if marks is not None:
            shadow.stamp(self, marks)


def _copy_turned(self: Any, source: Any, *, whole: bool) -> None:
    """Convert what lies in memory, then turn it in the new dtype where one of both has a bit that the other has not.

    Between float32 and float16, laid out alike, nothing is turned. Source: facts 9.17, torch 2.13.
    """
    copy_elements(without_bits(self), without_bits(source))
    if whole and {self.dtype, source.dtype} == {dt.float16, dt.float32} and _alike(self, source):
        return
    turned = build(self._storage, self._layout, self.dtype)
    turned._bits = (self._bits ^ source._bits) & (CONJ | NEG if self.dtype.is_complex else NEG)
    if turned._bits:  # what `store` writes through the bits is what they turn
        store(turned, array(self).copy(), shadow.marks_of(without_bits(self)))


def _alike(a: Any, b: Any) -> bool:
    """Whether two tensors of one shape lie dense in the same order."""
    shape, strides, _ = a._layout
    return (is_contiguous(shape, strides) and is_contiguous(*b._layout[:2])) or (
        strides == b._layout.strides and is_non_overlapping_and_dense(shape, strides)
    )


def _same_data(a: Any, b: Any) -> bool:
    return a._storage is b._storage and a._layout == b._layout and a.dtype is b.dtype and a._bits == b._bits


def reader(t: Any, layout: Layout) -> Any:
    """An operand under another layout, for reading only: no view is recorded."""
    r = build(t._storage, layout, t.dtype)
    r._bits = t._bits
    return r


def fill_(input: "Tensor", value: Any) -> "Tensor":
    """Write one value everywhere; allowed on repeated elements, since all are equal.

    Raises: grad; dimension for a value tensor with dimensions; overflow for a number outside the dtype.
    Source: facts 5.1.2, torch 2.13.

    >>> torch.zeros(1).expand(3).fill_(7).tolist()
    [7.0, 7.0, 7.0]
    """
    check_inplace(input, value if isinstance(value, TensorBase) else None)
    write_fill(input, value)
    written(input, value)
    return input


def write_fill(self: "Tensor", value: Any) -> None:
    """`fill_` without its bookkeeping of versions and history."""
    d = self.dtype
    if isinstance(value, TensorBase):
        if value._layout.shape:
            raise LayoutError("dimension", f"fill_ needs a value without dimensions, got shape {value._layout.shape}")
        # A tensor is copied, with the checks of a copy; one of the same storage is read first.
        source: Any = clone(value) if value._storage is self._storage else resolved(value)  # type: ignore[arg-type]
        if self._bits:
            whole = clone(detached(self))
            write_copy(whole, source)
            source = whole
        write_copy(self, source)
        return
    if type(self._storage._bytes) is NoBytes:
        return
    check_fillable(d)
    result = scalar_array(value, d)
    if not self._bits:
        array(self)[...] = result
        shadow.stamp(self, None)
    else:
        store(self, np.broadcast_to(result, self._layout.shape))


def scalar_array(value: Any, d: dtype) -> Any:
    """A Python number as a 0-dim array of a dtype, as PyTorch checks and converts it.

    Raises: overflow (RuntimeError) for a number that the dtype cannot hold; argument (TypeError).
    """
    kind = type(value)
    if kind is float and d.category == "float" and d.itemsize >= 4:
        _check_range(value, d)
        return d.numpy.type(value)
    if kind is int and d.category == "int":
        info = np.iinfo(d.numpy)
        # Unsigned dtypes take negative numbers modulo their range.
        low = info.min if d.is_signed else -info.max
        if not low <= value <= info.max:
            raise LayoutError("overflow", f"{value} does not fit {d}")
        return np.array(value & (2 * info.max + 1 if d.is_signed else info.max), np.uint64).astype(d.numpy)
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise LayoutTypeError("argument", f"expected a number, got {kind.__name__}")
    if isinstance(value, np.generic):
        return scalar_array(as_number(value), d)
    if d.category == "raw":
        if d is dt.complex32:
            return cast(np.array(value, np.complex64), dt.complex64, d)
        if d in dt.QUANTIZED:
            raise UnsupportedError("dtype", f"fill_ has no kernel for {d} (facts 10.1)")
        return np.array(int(value.real) & 0xFF, np.uint8).view(d.numpy) if d.itemsize == 1 else np.array(value, d.numpy)
    if d is dt.bool_:
        return np.array(bool(value))
    if d is dt.float8_e8m0fnu:
        # Exponents alone: the lowest number is the smallest one. Whole numbers are not held against it.
        if isinstance(value, float) and value < 2.0**-127:
            raise LayoutError("overflow", f"{value} does not fit {d}")
        return cast(np.array(value, np.float64), dt.float64, d)
    if isinstance(value, complex) and not d.is_complex:
        if value.imag != 0:
            raise LayoutError("overflow", f"{value} cannot be converted to {d} without loss")
        value = value.real
    if d.category == "int" and isinstance(value, float):
        if not np.isfinite(value) or not np.iinfo(d.numpy).min - 1 < value < np.iinfo(d.numpy).max + 1:
            raise LayoutError("overflow", f"{value} does not fit {d}")
        return scalar_array(int(value), d)
    _check_range(value, d)
    with np.errstate(all="ignore"):
        if d.category == "float" and d.itemsize < 4:
            return np.array(value, np.float64).astype(np.float32).astype(d.numpy)
        return np.array(value).astype(d.numpy)


def _check_range(value: Any, d: dtype) -> None:
    limit = dt.LARGEST.get(d)
    if limit is not None:
        for part in (value.real, value.imag) if isinstance(value, complex) else (value,):
            if not -limit <= part <= limit and abs(part) != np.inf and part == part:
                raise LayoutError("overflow", f"{value} does not fit {d}")


def zero_(input: "Tensor") -> "Tensor":
    """Write zeros. Raises: grad. Source: facts 5.1.2, torch 2.13.

    >>> torch.ones(2).zero_().tolist()
    [0.0, 0.0]
    """
    check_inplace(input)
    d = input.dtype
    if (
        d.category == "raw"
        and d is not dt.complex32
        and not (0 < input.numel() < 32768 and is_non_overlapping_and_dense(*input._layout[:2]))
    ):
        raise UnsupportedError("dtype", f"zero_ has no kernel for {d} unless it is small and dense (facts 11)")
    if type(input._storage._bytes) is NoBytes:
        pass
    elif input._bits:
        store(input, np.zeros(input._layout.shape, input.dtype.numpy))
    else:
        array(input)[...] = scalar_array(0, d) if d is dt.float8_e8m0fnu else 0
        if input._storage._shadow is not None:
            shadow.stamp(input, None)
    written(input)
    return input


def resolved(t: Any) -> Any:
    """A tensor as an operator of one kernel is handed it: a copy where it has a bit. Source: facts 9.15, torch 2.13."""
    return clone(t) if t._bits else t


def resolve_conj(input: "Tensor") -> "Tensor":
    """The tensor itself without a conjugate bit, else a copy with it applied. Source: facts 9.3, torch 2.13.

    >>> x = torch.tensor([1 + 2j])
    >>> x.resolve_conj() is x, x.conj().resolve_conj().is_conj()
    (True, False)
    """
    return clone(input) if input._bits & CONJ else input


def resolve_neg(input: "Tensor") -> "Tensor":
    """The tensor itself without a negative bit, else a copy with it applied. Source: facts 9.3, torch 2.13.

    >>> x = torch.tensor([1 + 2j]).conj().imag
    >>> x.is_neg(), x.resolve_neg().is_neg()
    (True, False)
    """
    return clone(input) if input._bits & NEG else input


TYPE_NAMES = {
    "Float": dt.float32, "Double": dt.float64, "Half": dt.float16, "BFloat16": dt.bfloat16, "Byte": dt.uint8,
    "Char": dt.int8, "Short": dt.int16, "Int": dt.int32, "Long": dt.int64, "Bool": dt.bool_,
    "ComplexFloat": dt.complex64, "ComplexDouble": dt.complex128,
}  # fmt: skip


def type_(input: "Tensor", wanted: Any) -> Any:
    """`type()`: PyTorch's name of the class for this dtype, or the tensor in another dtype, named either way.

    Raises: argument (ValueError) for a name that does not exist, or a class that is none of tensors; device
    (RuntimeError) for one that is not there. Source: facts 4.1.7, torch 2.13.
    """
    if wanted is None:
        where = "torch.meta" if input._storage._is_meta else "torch"
        return next(
            (f"{where}.{n}Tensor" for n, d in TYPE_NAMES.items() if d is input.dtype),
            f"{where}.{input.dtype.name}Tensor",
        )
    named = isinstance(wanted, (str, type))
    found = _dtype_named(wanted) if named else wanted
    if named and input._storage._is_meta:
        raise no_data("type")  # whose classes are those of the CPU
    return to(input, dtype=found)


def _dtype_named(wanted: Any) -> dtype:
    """The dtype that a class of tensors stands for, or its name; `Tensor` for the default one."""
    if isinstance(wanted, type):
        name = "torch.Tensor" if issubclass(wanted, TensorBase) else repr(wanted).removeprefix("<class '")[:-2]
    else:
        name = wanted
    if name == "torch.Tensor":
        return get_default_dtype()
    found = TYPE_NAMES.get(name.removeprefix("torch.").removeprefix("cuda.").removesuffix("Tensor"))
    if found is None or not name.startswith("torch.") or not name.endswith("Tensor"):
        raise LayoutValueError("argument", f"type: unknown name {wanted!r}")
    if name.startswith("torch.cuda."):
        raise LayoutError("device", f"type: {name} is on a device that is not there")
    return found
