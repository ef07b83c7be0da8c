"""Tensors from values: nested lists, numbers, arrays."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .calls import check_keywords
from .constructors import device_of, dtype_or_default, flagged, on_meta, wants_meta
from .conversion import cast
from .copies import to_copy
from .core import TensorBase, from_array
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError, LayoutValueError
from .numpy_bridge import dtype_from_numpy, tensor_from_array
from .promotion import get_default_dtype, scalar_dtype

if TYPE_CHECKING:
    from .tensors import Tensor


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> "Tensor":
    """A tensor with a copy of data: nested lists, numbers, arrays.

    An array keeps the order of its dimensions, a tensor is cloned.

    Raises: size (ValueError) for ragged lists, argument (TypeError), dtype. Source: facts 4.1.10 and 8.1, torch 2.13.
    """
    if wants_meta(device, pin_memory):
        return flagged(on_meta(tensor(data, dtype=dtype)), requires_grad)
    if isinstance(data, TensorBase):
        t = to_copy(data, data.dtype if dtype is None else dtype_or_default(dtype))  # type: ignore[arg-type]
        t._has_fn = False
        return flagged(t, requires_grad)
    if isinstance(data, np.ndarray):
        t = tensor_from_array(data, dtype_from_numpy(data.dtype) if dtype is None else dtype_or_default(dtype))
        return flagged(t, requires_grad)
    found, values = _parsed(data, told=dtype is not None)
    d = found if dtype is None else dtype_or_default(dtype)
    if d.category == "raw" and d is not dt.complex32:
        raise LayoutError("dtype", f"tensor: values of {d} cannot be given as numbers")
    if found is dt.int64 and d.category == "int" and values.size and d is not dt.int64:
        info = np.iinfo(d.numpy)
        if values.dtype == object or values.min() < (info.min if d.is_signed else -info.max) or values.max() > info.max:
            raise LayoutError("overflow", f"tensor: a value does not fit {d}")
        return flagged(from_array(values.astype(d.numpy), d), requires_grad)
    if values.dtype == object:
        raise LayoutError("overflow", "tensor: an integer does not fit 64 bits")
    if found.category == "float" and d.category == "int" and not np.isfinite(values).all():
        raise LayoutError("overflow", f"tensor: a value does not fit {d}")
    if found.is_complex and not d.is_complex:
        raise LayoutTypeError("dtype", f"tensor: complex values for {d}")
    source = dt.float64 if found.category == "float" else dt.complex128 if found.is_complex else found
    return flagged(from_array(cast(values, source, d), d), requires_grad)


def _parsed(data: Any, *, told: bool) -> tuple[dtype, Any]:
    """The dtype that values suggest, and the values; `told` where a dtype is given, which nothing may suggest."""
    if isinstance(data, np.generic):
        return dtype_from_numpy(data.dtype), np.asarray(data)
    if isinstance(data, (str, bytes)):
        raise LayoutTypeError("argument", f"tensor: a {type(data).__name__} is no data")
    if not isinstance(data, (bool, int, float, complex, list, tuple, range)):
        try:
            data = list(data) if not isinstance(data, (dict, set)) else None
        except TypeError:
            data = None
    plain = _plain(data, told)
    lengths = _lengths(plain)
    _check_even(plain, lengths)
    values = np.array(plain) if 0 not in lengths else np.empty(lengths)
    kind = values.dtype.kind
    if kind == "b":
        return dt.bool_, values
    if kind in "iu":
        return dt.int64, values if kind == "i" else values.astype(object)
    if kind == "f":
        if not values.size:
            return get_default_dtype(), values
        return get_default_dtype(), values
    if kind == "c":
        return scalar_dtype(complex), values
    if kind == "O":
        return dt.int64, values
    raise LayoutTypeError("argument", f"tensor: cannot use values like {type(data).__name__}")


def _plain(data: Any, told: bool) -> Any:
    if isinstance(data, (list, tuple, range)):
        if len(data) and isinstance(data[0], str):
            raise LayoutValueError("argument", "tensor: a str where there should be numbers")
        return [_plain(x, told) for x in data]
    if isinstance(data, np.ndarray) and data.ndim:
        return [_plain(x, told) for x in data]
    if isinstance(data, TensorBase):
        return data.tolist()  # type: ignore[attr-defined]
    if not isinstance(data, (bool, int, float, complex, np.generic, np.ndarray)):
        what = f"tensor: a {type(data).__name__} is no number"
        if told or isinstance(data, str):
            raise LayoutTypeError("argument", what)
        raise LayoutError("argument", f"{what}, and suggests no dtype")
    return data


def _lengths(data: Any) -> tuple[int, ...]:
    """Lengths of the lists that come first, from the outermost inwards."""
    return (len(data), *(_lengths(data[0]) if len(data) else ())) if isinstance(data, list) else ()


def _check_even(data: Any, lengths: tuple[int, ...]) -> None:
    """Refuse lists of other lengths (ValueError), and lists where numbers should be or the other way (TypeError)."""
    if isinstance(data, list) is not bool(lengths):
        raise LayoutTypeError("argument", "tensor: numbers and lists beside each other")
    if lengths:
        if 0 in lengths:
            return  # PyTorch looks no further where there is nothing to read
        if len(data) != lengths[0]:
            raise LayoutValueError("size", f"tensor: a list of {len(data)} beside one of {lengths[0]}")
        for item in data:
            _check_even(item, lengths[1:])


def new_tensor(self: "Tensor", data: Any, *, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> "Tensor":
    """A copy of data in this tensor's dtype. Raises: as `tensor`. Source: facts 4.1.9, torch 2.13."""
    check_keywords("new_tensor", kwargs, "device", "pin_memory", "layout")
    device = kwargs.get("device") or device_of(self)
    return tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)
