"""Exchange with NumPy: arrays as tensors over the same memory, tensors as arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .conversion import cast
from .core import TensorBase, array, build, from_array, requires_grad
from .dtypes import dtype
from .elementwise import preserved_strides
from .errors import LayoutError, LayoutTypeError, LayoutValueError
from .layout import Layout
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
    if found is None:
        if d.newbyteorder("=") in _FROM_NUMPY:
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


def from_numpy(ndarray: Any) -> "Tensor":
    """A tensor over an array's memory; its storage starts at the array's first element and cannot be resized.

    Raises: argument, dtype (TypeError), size (ValueError). Source: facts 8.1, torch 2.13.
    """
    if not isinstance(ndarray, np.ndarray):
        raise LayoutTypeError("argument", f"from_numpy: expected np.ndarray, got {type(ndarray).__name__}")
    d = dtype_from_numpy(ndarray.dtype)
    strides = element_strides(ndarray)
    layout = Layout(ndarray.shape, (0,) * ndarray.ndim if 0 in ndarray.shape else strides, 0)
    nbytes = layout.span * d.itemsize
    flat = np.lib.stride_tricks.as_strided(
        ndarray.reshape(-1)[:0] if nbytes == 0 else ndarray[(slice(0, 1),) * ndarray.ndim].reshape(-1).view(np.uint8),
        (nbytes,), (1,),
    ) if nbytes else np.empty(0, np.uint8)  # fmt: skip
    return build(UntypedStorage._wrap(flat), layout, d)


def tensor_from_array(a: Any, d: dtype) -> "Tensor":
    """A copy of an array as a tensor, its order of dimensions kept."""
    source = dtype_from_numpy(a.dtype)
    strides = preserved_strides(a.shape, element_strides(a)) if a.size else None
    return from_array(cast(a, source, d), d, strides)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> "Tensor":
    """A 1-d tensor over a buffer's memory.

    Units: `count` in elements, `offset` in bytes.
    Raises: argument, size, index (ValueError). Source: facts 8.1, torch 2.13.
    """
    try:
        data = np.frombuffer(buffer, np.uint8)
    except (TypeError, ValueError):
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
    t = build(UntypedStorage._wrap(data[offset : offset + count * itemsize]), Layout((count,), (1,), 0), dtype)
    return t.requires_grad_() if requires_grad else t


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> "Tensor":
    """The tensor itself or one over an array's memory where the dtype fits, else a copy. Source: facts 8.1."""
    from .constructors import tensor

    if isinstance(data, TensorBase):
        same: Any = data
        return same.to(dtype) if dtype is not None else same  # type: ignore[no-any-return]
    if isinstance(data, np.ndarray):
        t = from_numpy(data)
        return t if dtype is None or dtype is t.dtype else t.to(dtype)
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> "Tensor":
    """A tensor over an object's memory where that can be, else a copy.

    Raises: argument (ValueError) where a copy is forbidden and needed. Source: facts 8.1, torch 2.13.
    """
    from .constructors import tensor

    if isinstance(obj, (TensorBase, np.ndarray)):
        t: Any = as_tensor(obj)
        if dtype is not None and dtype is not t.dtype:
            if copy is False:
                raise LayoutValueError("argument", f"asarray: can't alias {t.dtype} as {dtype} (facts 8.1)")
            return t.to(dtype)  # type: ignore[no-any-return]
        return t.clone() if copy else t  # type: ignore[no-any-return]
    if isinstance(obj, (bytes, bytearray, memoryview)):
        t = frombuffer(obj, dtype=dt.float32 if dtype is None else dtype)
        return t.clone() if copy else t  # type: ignore[no-any-return]
    if copy is False:
        raise LayoutValueError("argument", "asarray: can't alias arbitrary sequence (facts 8.1)")
    return tensor(obj, dtype=dtype, requires_grad=requires_grad)


def numpy(self: "Tensor", *, force: bool = False) -> Any:
    """An array over the tensor's memory; its storage cannot be resized from now on.

    Raises: grad, dtype. Source: facts 8.2, torch 2.13.
    """
    t = self
    if force:
        t = self.detach().resolve_conj().resolve_neg()
    if requires_grad(t):
        raise LayoutError("grad", "numpy() of a tensor that requires grad (facts 8.2)")
    if t._bits:
        raise LayoutError("dtype", "numpy() of a tensor with a conjugate or negative bit (facts 8.2)")
    if t.dtype not in _EXCHANGED:
        raise LayoutTypeError("dtype", f"numpy() has no dtype for {t.dtype} (facts 8.2)")
    t._storage._resizable = False
    return array(t)
