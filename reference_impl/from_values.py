"""Tensors from data of any kind: numbers in nested sequences, arrays, storages, what other libraries lend."""

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .calls import check_keywords, checked
from .constructors import device_of, flagged, uninitialised, wants_meta
from .conversion import cast
from .copies import scalar_array, to_copy
from .core import TensorBase, build, check_flag, from_array
from .devices import is_meta
from .dtypes import QUANTIZED, dtype
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, LayoutValueError, UnsupportedError
from .layout import Layout, contiguous_strides
from .numpy_bridge import dtype_from_numpy, tensor_from_array
from .promotion import as_dtype, get_default_dtype, promote_types, scalar_dtype
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor

_MOST_DIMENSIONS = 128


@checked
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> "Tensor":
    """A tensor with a copy of data: nested sequences of numbers, arrays, what DLPack lends; but of a storage over it.

    An array keeps the order of its dimensions, a tensor is cloned.

    Raises: size (ValueError) for ragged lists, argument (TypeError), dtype, overflow. Source: facts 4.1.10 and 8.1,
    torch 2.13.
    """
    wants_meta(device, pin_memory)
    check_flag("requires_grad", requires_grad)
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(data, TensorBase) and data.dtype in QUANTIZED:
        t = data.to(wanted or data.dtype, copy=True)  # type: ignore[attr-defined]
    elif isinstance(data, TensorBase):
        t = to_copy(data, wanted or data.dtype)  # type: ignore[arg-type]
        t._has_fn = False
    elif isinstance(data, np.ndarray):
        t = tensor_from_array(data, wanted or dtype_from_numpy(data.dtype))
    else:
        return flagged(from_data(data, wanted, device, copy=True), requires_grad)
    return flagged(_placed(t, device), requires_grad)


def _placed(t: "Tensor", device: Any) -> "Tensor":
    return t if device is None else t.to(device)


def from_data(data: Any, wanted: dtype | None, device: Any, *, copy: bool = False) -> "Tensor":
    """A tensor of what is neither tensor nor array: over what DLPack lends, unless told to copy, and over a storage.

    Raises: argument (TypeError, ValueError, RuntimeError), size (ValueError), dtype, overflow; as `from_dlpack`.
    Source: internal_new_from_data, torch 2.13.
    """
    if isinstance(data, (str, bytes)):
        raise LayoutTypeError("argument", f"tensor: a {type(data).__name__} is no data")
    if hasattr(data, "__dlpack__"):
        from .dlpack import from_dlpack

        lent = from_dlpack(data)
        return lent.to(lent.device if device is None else device, wanted or lent.dtype, copy=copy)
    _check_readable(data, wanted)
    sizes = _sizes(data)
    d = _inferred(data) if wanted is None else wanted
    found = _over_storage(data, d, wanted or get_default_dtype())
    if found is not None:
        return _placed(found, device)
    if device is not None and is_meta(device):
        return uninitialised(sizes, contiguous_strides(sizes), d, meta=True)
    return from_array(_stored(data, sizes, d), d)


@checked
def new_tensor(self: "Tensor", data: Any, *, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """A copy of data in this tensor's dtype. Raises: as `tensor`. Source: facts 4.1.9, torch 2.13."""
    check_keywords("new_tensor", kwargs, "device")
    device = kwargs.get("device") or device_of(self)
    return tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def _check_readable(data: Any, wanted: dtype | None) -> None:
    """Refuse a storage on meta: its first item is asked for, where it is long enough to have one.

    A typed one is taken for shorter than it is: its length, too, is divided by the size of an item.

    Raises: argument (ValueError), dtype (RuntimeError), device (NotImplementedError).
    """
    from .typed_storage import TypedStorage

    is_typed = isinstance(data, TypedStorage)
    storage = data.untyped() if is_typed else data
    if not isinstance(storage, UntypedStorage) or not storage._is_meta:
        return
    expected = wanted or get_default_dtype()
    if len(data) >= expected.itemsize:  # a length that is not told for every dtype
        raise LayoutValueError("argument", "tensor: a storage on meta has no first item")
    # Where no dtype is wanted, the items are looked at for one before the storage's own is.
    if is_typed and data.dtype is not expected and (wanted or not len(data)):
        raise _wrong_storage(expected, data.dtype)
    raise UnsupportedError("device", "tensor: a storage on meta holds no data (facts 7.7)")


def _wrong_storage(expected: Any, found: dtype) -> LayoutError:
    return LayoutError("dtype", f"tensor: expected a storage of {expected}, got one of {found}")


def _over_storage(data: Any, d: dtype, expected: dtype) -> "Tensor | None":
    from .typed_storage import TypedStorage

    if isinstance(data, TypedStorage):
        if data.dtype is not expected:
            # Also where no dtype is asked for: the default one is expected then.
            raise _wrong_storage(expected, data.dtype)
        return _over_storage(data.untyped(), data.dtype, expected)
    if not isinstance(data, UntypedStorage):
        return None
    if d in dt.QUANTIZED:
        raise UnsupportedError("dtype", f"tensor: a tensor of {d} cannot be set to a storage")
    return build(data, Layout((data.nbytes() // d.itemsize,), (1,), 0), d)


def _is_sequence(x: Any) -> bool:
    # Tensors are numbers here, though those with dimensions are iterated where a sequence ought to be.
    kind = type(x)
    if kind is list or kind is tuple:
        return True
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__") and not isinstance(x, (dict, TensorBase))


def _sizes(data: Any) -> tuple[int, ...]:
    """Lengths of a sequence, of its first item, and so on. Raises: argument (ValueError, TypeError)."""
    sizes: list[int] = []
    while _is_sequence(data):
        if len(sizes) == _MOST_DIMENSIONS or (isinstance(data, str) and data):
            raise LayoutValueError("argument", f"tensor: too many dimensions in a {type(data).__name__}")
        sizes.append(_length(data))
        if not sizes[-1]:
            break
        try:
            data = data[0]
        except Exception:
            raise LayoutValueError("argument", f"tensor: a {type(data).__name__} has no first item") from None
    return tuple(sizes)


def _length(data: Any) -> int:
    try:
        return len(data)
    except LayoutTypeError:  # a storage's own
        raise
    except TypeError as e:  # an array without dimensions
        raise LayoutTypeError("argument", f"tensor: {e}") from None


def _inferred(data: Any) -> dtype:
    """The dtype that data suggest: arrays and scalars of NumPy's their own, Python's numbers and sequences by category.

    Raises: argument (RuntimeError: no number; TypeError: text), dtype. Source: infer_scalar_type, torch 2.13.
    """
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (str, bytes)):
        return dtype_from_numpy(data.dtype.newbyteorder("="))
    if isinstance(data, (bool, int, float, complex)):
        kind: type = type(data)
        return scalar_dtype(kind)
    if isinstance(data, TensorBase):
        return data.dtype
    if isinstance(data, (str, bytes)):
        raise LayoutTypeError("argument", f"tensor: a {type(data).__name__} is no number")
    if not _is_sequence(data):
        raise LayoutError("argument", f"tensor: a {type(data).__name__} is no number, and suggests no dtype")
    found: dtype | None = None
    for x in data:
        d = _inferred(x)
        found = d if found is None or found is d else promote_types(found, d)
    return get_default_dtype() if found is None else found


def _stored(data: Any, sizes: tuple[int, ...], d: dtype) -> Any:
    """The numbers of nested sequences as an array of a dtype; what is empty is not looked into.

    Raises: size (ValueError), argument (TypeError), dtype, overflow. Source: store_scalar, torch 2.13.
    """
    if 0 in sizes:
        return np.empty(sizes, d.numpy)
    numbers = _leaves(data, sizes)
    if d is dt.bool_:
        values: Any = np.array([_truth(x) for x in numbers])
    elif d.category == "int":
        values = np.array([_integer(x, d) for x in numbers], d.numpy)
    elif d.is_complex:
        values = cast(np.array([_of_kind(complex, x) for x in numbers], np.complex128), dt.complex128, d)
    elif d.category == "float":
        values = cast(np.array([_of_kind(float, x) for x in numbers], np.float64), dt.float64, d)
    else:
        raise LayoutError("dtype", f"tensor: values of {d} cannot be given as numbers")
    return values.reshape(sizes)


def _leaves(data: Any, sizes: tuple[int, ...]) -> list[Any]:
    if not sizes:
        return [data]
    try:
        items = data if type(data) is list else list(data)
    except TypeError:
        raise LayoutTypeError("argument", "tensor: numbers and lists beside each other") from None
    if len(items) != sizes[0]:
        raise LayoutValueError("size", f"tensor: a list of {len(items)} beside one of {sizes[0]}")
    if len(sizes) == 1:
        return items
    return [leaf for item in items for leaf in _leaves(item, sizes[1:])]


def _of_kind(kind: Any, x: Any) -> Any:
    """A number as float or complex, as its own methods make it one. Raises: argument, dtype (TypeError), overflow."""
    if type(x) is kind:
        return x
    if isinstance(x, (str, bytes)) or x is None:
        raise LayoutTypeError("argument", f"tensor: a {type(x).__name__} is no number")
    try:
        return kind(x)
    except OverflowError as e:
        raise LayoutOverflowError("overflow", f"tensor: {e}") from None
    except TypeError as e:
        if hasattr(e, "kind"):
            raise
        raise LayoutTypeError("dtype" if isinstance(x, complex) else "argument", f"tensor: {e}") from None


def _as_index(x: Any) -> int:
    try:
        return index(x)
    except TypeError as e:
        if hasattr(e, "kind"):
            raise
        raise LayoutTypeError("dtype" if isinstance(x, complex) else "argument", f"tensor: {e}") from None


def _truth(x: Any) -> bool:
    return bool(x if isinstance(x, (int, float, complex, np.bool_)) else _as_index(x))


def _integer(x: Any, d: dtype) -> Any:
    """A number as an integer of a dtype: floats lose their fraction, except for uint64, which takes Python's ints only.

    Raises: argument (TypeError), overflow (OverflowError for uint64; ValueError past 64 bits, else RuntimeError).
    """
    if d is dt.uint64:
        if not isinstance(x, int):
            raise LayoutTypeError("argument", f"tensor: a {type(x).__name__} is no Python int")
        if not 0 <= x < 2**64:
            raise LayoutOverflowError("overflow", f"tensor: {x} does not fit {d}")
        return x
    if isinstance(x, float):
        return _from_float(x, d)
    n = _as_index(x)
    if not -(2**63) <= n < 2**63:
        raise LayoutValueError("overflow", f"tensor: {n} does not fit 64 bits")
    return scalar_array(n, d)


def _from_float(x: float, d: dtype) -> int:
    info = np.iinfo(d.numpy)
    if not float(info.min) <= x <= float(info.max):
        raise LayoutError("overflow", f"tensor: {x} does not fit {d}")
    # What rounds to 2**63 passes, and wraps.
    return int(x) if int(x) <= info.max else int(info.min)
