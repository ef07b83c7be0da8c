"""Exchange with NumPy: arrays as tensors over the same memory, tensors as arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import devices, shadow
from . import dtypes as dt
from .backing import as_length, no_data
from .calls import checked
from .conversion import cast, cast_marks
from .core import TensorBase, array, build, check_flag, from_array
from .core import requires_grad as needs_grad
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError, LayoutValueError
from .layout import Layout
from .notices import DISCARDS, KEEPS_GRAD, READ_ONLY, REAL_PART, warn_once
from .output_layout import preserved_strides
from .promotion import as_dtype, get_default_dtype
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor

_EXCHANGED = (
    dt.bool_, dt.uint8, dt.int8, dt.uint16, dt.int16, dt.uint32, dt.int32, dt.uint64, dt.int64, dt.float16,
    dt.float32, dt.float64, dt.complex64, dt.complex128,
)  # fmt: skip
_FROM_NUMPY = {d.numpy: d for d in _EXCHANGED}


def dtype_from_numpy(d: "np.dtype[Any]") -> dtype:
    """The dtype of an array's elements. Raises: dtype (TypeError; ValueError for foreign byte order)."""
    found = _FROM_NUMPY.get(d)
    if found is None or (d.kind == "u" and d.num != found.numpy.num):  # another of C's types, though as wide
        if found is None and d.newbyteorder("=") in _FROM_NUMPY:
            raise LayoutValueError("dtype", f"byte order of {d} is not the native one (facts 8.1)")
        raise LayoutTypeError("dtype", f"no dtype for NumPy's {d} (facts 8.1)")
    return found


def element_strides(a: Any) -> tuple[int, ...]:
    """Strides of an array in elements. Raises: size (ValueError) for negative or uneven ones. Source: facts 8.1."""
    itemsize = a.dtype.itemsize
    if any(s < 0 for s in a.strides):
        raise LayoutValueError("size", f"array strides {a.strides}: at least one is negative (facts 8.1)")
    if any(s % itemsize for s in a.strides):
        raise LayoutValueError("size", f"array strides {a.strides} are no multiples of {itemsize} bytes (facts 8.1)")
    return tuple([s // itemsize for s in a.strides])


@checked
def from_numpy(ndarray: Any, /) -> "Tensor":
    """A tensor over an array's memory; its storage starts at the array's first element and cannot be resized.

    Raises: argument, dtype (TypeError), size (ValueError). Source: facts 8.1, torch 2.13.
    """
    return over_array(ndarray)


def over_array(ndarray: Any, *, quiet: bool = False) -> "Tensor":
    """`from_numpy`, which may be silent of memory that is not to be written. Raises: as `from_numpy`."""
    if not isinstance(ndarray, np.ndarray):
        raise LayoutTypeError("argument", f"from_numpy: expected np.ndarray, got {type(ndarray).__name__}")
    d = dtype_from_numpy(ndarray.dtype)
    # A subclass may index and reshape in its own ways.
    ndarray = np.asarray(ndarray)
    strides = element_strides(ndarray)
    layout = Layout(ndarray.shape, strides, 0)
    nbytes = layout.span * d.itemsize
    flat = np.lib.stride_tricks.as_strided(ndarray, (0,), (1,)).view(np.uint8)
    if nbytes:
        first = ndarray.reshape(1) if not ndarray.ndim else ndarray[(slice(0, 1),) * ndarray.ndim].reshape(-1)
        flat = np.lib.stride_tricks.as_strided(first.view(np.uint8), (nbytes,), (1,))
    return build(UntypedStorage._wrap(writable_bytes(flat, quiet=quiet)), layout, d)


def tensor_from_array(a: Any, d: dtype) -> "Tensor":
    """A copy of an array as a tensor, its order of dimensions kept."""
    source = dtype_from_numpy(a.dtype)
    strides = preserved_strides(a.shape, element_strides(a)) if a.size else element_strides(a)
    if source is dt.bool_:
        # A byte other than 0 and 1 reads as true.
        a = a.view(np.uint8) != 0 if a.ndim else a
    if a.size and source.is_complex and not d.is_complex and d is not dt.bool_:
        warn_once(REAL_PART)
    t = from_array(cast(a, source, d), d, strides)
    # What C leaves open of a number that does not fit.
    shadow.stamp(t, cast_marks(a, source, d, None))
    return t


@checked
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> "Tensor":
    """A 1-d tensor over a buffer's memory.

    Units: `count` in elements, `offset` in bytes.
    Raises: argument, size, index (ValueError). Source: facts 8.1, torch 2.13.
    """
    dtype = as_dtype(dtype)
    if isinstance(count, bool) or isinstance(offset, bool):
        raise LayoutTypeError("argument", "frombuffer: count and offset must be ints, got a bool")
    count, offset = as_length(count, "count"), as_length(offset, "offset")
    check_flag("requires_grad", requires_grad)
    if not all(-(2**63) <= n < 2**63 for n in (count, offset)):
        raise LayoutValueError("overflow", f"frombuffer: count {count} or offset {offset} does not fit 64 bits")
    try:
        data = np.frombuffer(buffer, np.uint8)
    except (TypeError, ValueError, BufferError):
        try:
            length = memoryview(buffer).nbytes
        except TypeError:
            raise LayoutValueError("argument", "frombuffer: object does not implement the buffer protocol") from None
        if length:
            raise LayoutError("argument", "frombuffer: could not retrieve a contiguous buffer") from None
        data = np.empty(0, np.uint8)
    itemsize = dtype.itemsize
    if len(data) == 0 or count == 0:
        raise LayoutValueError(
            "size", f"frombuffer: both buffer length ({len(data)}) and count ({count}) must not be 0"
        )
    if not 0 <= offset < len(data):
        raise LayoutValueError(
            "index", f"frombuffer: offset {offset} must be no greater than buffer length {len(data)}"
        )
    if count < 0:
        if (len(data) - offset) % itemsize:
            raise LayoutValueError("size", f"frombuffer: {len(data) - offset} bytes must be a multiple of {itemsize}")
        count = (len(data) - offset) // itemsize
    if offset + count * itemsize > len(data):
        raise LayoutValueError("size", f"frombuffer: {count} elements must not be greater than the buffer's length")
    part = writable_bytes(data[offset : offset + count * itemsize])
    t = build(UntypedStorage._wrap(part), Layout((count,), (1,), 0), dtype)
    return t.requires_grad_() if requires_grad else t


@checked
def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> "Tensor":
    """The tensor itself or one over what an array or producer lends, where dtype and device fit, else a copy.

    Raises: as `from_data`. Source: facts 8.1.
    """
    from .from_values import from_data

    wanted = None if dtype is None else as_dtype(dtype)
    where = None if device is None else devices.device(device)
    t: Any
    if isinstance(data, TensorBase):
        t = data
    elif isinstance(data, np.ndarray):
        t = from_numpy(data)
    else:
        return from_data(data, wanted, where)
    return t.to(where, wanted or t.dtype)  # type: ignore[no-any-return]


@checked
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> "Tensor":
    """A tensor over an object's memory where that can be, else a copy; a tensor keeps its `requires_grad` unless told.

    Raises: argument (TypeError; ValueError where a copy is forbidden and needed, RuntimeError for a scalar of NumPy's);
    device, grad; as `from_numpy`, `frombuffer` and `from_data`. Source: facts 8.1 and 8.1.7, torch 2.13.
    """
    from .constructors import flagged
    from .from_values import from_data

    check_flag("copy", copy, optional=True)
    check_flag("requires_grad", requires_grad, optional=True)
    wanted = None if dtype is None else as_dtype(dtype)
    where = None if device is None else devices.device(device)
    if requires_grad is None:
        requires_grad = isinstance(obj, TensorBase) and needs_grad(obj)
        if requires_grad:
            warn_once(KEEPS_GRAD)
    t: Any = _aliased(obj, wanted, copy)
    # What lends its bytes is a leaf that requires grad before it is copied.
    lends = not isinstance(obj, (TensorBase, np.ndarray, np.generic)) and type(obj).__name__ != "PyCapsule"
    if t is None:
        if copy is False:
            raise LayoutValueError("argument", "asarray: can't alias arbitrary sequence (facts 8.1)")
        return flagged(from_data(obj, wanted, where), requires_grad)
    wrong = wanted not in (None, t.dtype) or where not in (None, t.device)
    if wrong and (copy is False or (copy and _is_scalar(obj))):
        # A scalar's is a copy already, and PyTorch takes the wish for granted.
        raise LayoutValueError("argument", f"asarray: can't alias {t.dtype} as {dtype} on {device} (facts 8.1)")
    if wrong:
        if where is not None and where.type not in ("cpu", "meta"):
            raise LayoutError("device", f"asarray: there is no device {where}")
        t = t.to(where, wanted or t.dtype, copy=bool(copy))
    elif copy:
        t = t.requires_grad_(lends and requires_grad).clone() if lends else t.clone()
    if not t.is_leaf and not requires_grad:
        return t.detach()  # type: ignore[no-any-return]
    t.requires_grad_(requires_grad)
    return t  # type: ignore[no-any-return]


def _is_scalar(obj: Any) -> bool:
    return isinstance(obj, np.generic) or (isinstance(obj, np.ndarray) and not obj.ndim)


def _aliased(obj: Any, dtype: Any, copy: bool | None) -> Any:
    """A tensor over an object's memory, or None where it has none to lend."""
    if isinstance(obj, TensorBase):
        return obj
    if _is_scalar(obj):
        # An array without dimensions is copied like a scalar, though without being refused.
        if copy is False and isinstance(obj, np.generic):
            raise LayoutError("argument", "asarray: can't alias a scalar of NumPy's (facts 8.1)")
        return from_numpy(np.array(obj)).clone()
    if isinstance(obj, np.ndarray):
        return over_array(obj, quiet=copy is True)
    if type(obj).__name__ == "PyCapsule":
        from .dlpack import from_dlpack

        return from_dlpack(obj)
    try:
        memoryview(obj)
    except (TypeError, BufferError):
        return None
    return frombuffer(obj, dtype=get_default_dtype() if dtype is None else dtype)


@checked
def numpy(self: "Tensor", *, force: bool = False) -> Any:
    """An array over the tensor's memory; its storage cannot be resized from now on.

    Raises: grad, dtype. Source: facts 8.2, torch 2.13.
    """
    check_flag("force", force)
    if self._storage._is_meta:
        if force:
            raise no_data("numpy(force=True)")
        raise LayoutTypeError("device", "numpy() of a meta tensor, which holds no data (facts 8.2)")
    t = self
    if force:
        t = self.detach().resolve_conj().resolve_neg()
    if needs_grad(t):
        raise LayoutError("grad", "numpy() of a tensor that requires grad (facts 8.2)")
    if t._bits:
        raise LayoutError("dtype", "numpy() of a tensor with a conjugate or negative bit (facts 8.2)")
    if t.dtype not in _EXCHANGED:
        raise LayoutTypeError("dtype", f"numpy() has no dtype for {t.dtype} (facts 8.2)")
    t._storage._resizable = False
    if 0 in t._layout.shape:
        # NumPy is given neither address nor strides for what has no elements, and gets memory of its own (facts 8.2.1).
        return np.ndarray(t._layout.shape, t.dtype.numpy, strides=(0,) * t.ndim)
    return np.asarray(_Lent(t))


def array_protocol(self: "Tensor", dtype: Any = None, **unknown: Any) -> Any:
    """What NumPy's functions ask a tensor for: an array over its memory, or a copy in another dtype.

    Raises: as `numpy`; argument (TypeError) for the wish to copy, or not to, which PyTorch does not know: NumPy asks
    again without it, and warns.
    Source: facts 8.2.4, torch 2.13.
    """
    if unknown:
        raise LayoutTypeError("argument", f"__array__() got an unexpected keyword argument '{next(iter(unknown))}'")
    a = numpy(self)
    if dtype is not None:
        if a.dtype.kind == "c" and np.dtype(dtype).kind in "iuf":
            warn_once(DISCARDS)
        a = converted(a, dtype, copy=False)
    return a


def array_wrap(self: "Tensor", array: Any) -> "Tensor":
    """What NumPy's functions of a tensor answer: a tensor over their result, of bytes where it is of bools.

    Raises: dtype (TypeError). Source: `Tensor.__array_wrap__`, torch 2.13.
    """
    wrapped: Tensor = from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)
    return wrapped


def converted(a: Any, dtype: Any, *, copy: bool = True) -> Any:
    """NumPy's own `astype`, which warns neither of numbers that do not fit nor of imaginary parts that are dropped."""
    with np.errstate(all="ignore"):
        if a.dtype.kind == "c" and np.dtype(dtype).kind in "iuf":
            # In the order of the array, not in that of its real part.
            real = np.empty_like(a, dtype)
            np.copyto(real, a.real, casting="unsafe")
            return real
        return a.astype(dtype, copy=copy)


class _Lent:
    """A tensor's memory as NumPy takes it: the owner of what it is lent, itself no array (facts 8.2.1)."""

    def __init__(self, t: Any) -> None:
        a = array(t)
        # The bytes that are there now: the storage may move.
        self._kept = t, t._storage._bytes
        self.__array_interface__ = {
            "version": 3, "shape": a.shape, "strides": a.strides, "typestr": a.dtype.str,
            "data": (a.__array_interface__["data"][0], False),
        }  # fmt: skip


class _Writable:
    """Memory that its owner calls read-only, as PyTorch takes it: writable."""

    def __init__(self, owner: Any, address: int, nbytes: int) -> None:
        self._owner = owner
        self.__array_interface__ = {"version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (address, False)}


def writable_bytes(data: Any, *, quiet: bool = False) -> Any:
    """A flat array of bytes, or one over the same memory that may be written; the latter warns once in a process.

    Source: facts 8.1.3, torch 2.13.
    """
    if data.flags.writeable or not len(data):
        return data
    if not quiet:
        warn_once(READ_ONLY)
    return np.asarray(_Writable(data, data.__array_interface__["data"][0], len(data)))
