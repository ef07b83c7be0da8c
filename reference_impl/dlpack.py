"""Exchange through DLPack, at the level of its capsules: memory, shape and strides between libraries without a copy.

A capsule holds a C structure. Its consumer takes it once, renames the capsule, and calls the structure's deleter when
it needs the memory no more.
"""

import ctypes
import gc
import weakref
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from . import dtypes as dt
from .calls import checked
from .constructors import accepted_strides
from .core import TensorBase, as_int, build, requires_grad
from .devices import device, refuse
from .dtypes import dtype
from .errors import (
    LayoutAssertionError,
    LayoutBufferError,
    LayoutError,
    LayoutIndexError,
    LayoutTypeError,
    LayoutValueError,
    UnsupportedError,
    fatal,
)
from .kernels.capsules import destroyed, given_back, given_back_versioned
from .layout import INT64_MAX, Layout, contiguous_strides
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor

VERSION: Final = (1, 3)


DLDeviceType = IntEnum(
    "DLDeviceType",
    {
        "kDLCPU": 1, "kDLCUDA": 2, "kDLCUDAHost": 3, "kDLOpenCL": 4, "kDLVulkan": 7, "kDLMetal": 8, "kDLVPI": 9,
        "kDLROCM": 10, "kDLROCMHost": 11, "kDLExtDev": 12, "kDLCUDAManaged": 13, "kDLOneAPI": 14, "kDLWebGPU": 15,
        "kDLHexagon": 16, "kDLMAIA": 17,
    },
)  # fmt: skip
"""DLPack's numbers for kinds of devices."""
CPU: Final = (DLDeviceType.kDLCPU, 0)

_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_CODES: Final[dict[dtype, tuple[int, int, int]]] = {
    dt.bool_: (_BOOL, 8, 1), dt.bfloat16: (_BFLOAT, 16, 1), dt.float8_e4m3fn: (10, 8, 1),
    dt.float8_e4m3fnuz: (11, 8, 1), dt.float8_e5m2: (12, 8, 1), dt.float8_e5m2fnuz: (13, 8, 1),
    dt.float8_e8m0fnu: (14, 8, 1), dt.float4_e2m1fn_x2: (17, 4, 2),
    **{d: (_FLOAT, d.itemsize * 8, 1) for d in (dt.float16, dt.float32, dt.float64)},
    **{d: (_COMPLEX, d.itemsize * 8, 1) for d in (dt.complex32, dt.complex64, dt.complex128)},
    **{d: (_INT, d.itemsize * 8, 1) for d in (dt.int8, dt.int16, dt.int32, dt.int64)},
    **{d: (_UINT, d.itemsize * 8, 1) for d in (dt.uint8, dt.uint16, dt.uint32, dt.uint64)},
}  # fmt: skip
_DTYPES: Final = {code: d for d, code in _CODES.items()}


class DLDevice(ctypes.Structure):
    """A kind of device by number, and which one of them."""

    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DLDataType(ctypes.Structure):
    """A kind of number, its width in bits, and how many make an element."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """A strided tensor. Units: shape and strides in elements, `byte_offset` in bytes; no strides mean row-major."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLManagedTensor(ctypes.Structure):
    """A tensor with the function that gives it back; version 0 of the protocol."""

    _fields_ = (("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class DLManagedTensorVersioned(ctypes.Structure):
    """A tensor with version, flags, and the function that gives it back."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    )


_STRUCTURES: Final[dict[bytes, type[Any]]] = {
    b"dltensor": DLManagedTensor,
    b"dltensor_versioned": DLManagedTensorVersioned,
}
_Deleter: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _api(name: str, result: Any, *arguments: Any) -> Any:
    function = ctypes.pythonapi[name]
    function.restype = result
    function.argtypes = arguments
    return function


_new_capsule = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_set_name = _api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)


class _Exported(NamedTuple):
    """What others may still read, until it is given back."""

    held: Any
    arrays: tuple[Any, Any]
    memory: Any
    storage: UntypedStorage
    start: int
    """Byte of the storage that the tensor starts at."""
    tensor: Any


_exported: Final[dict[int, _Exported]] = {}
_USED: Final = {name: b"used_" + name for name in _STRUCTURES}
_DELETERS: Final = {b"dltensor": given_back.address, b"dltensor_versioned": given_back_versioned.address}


def _let_go(phase: str = "stop", info: Any = None) -> None:
    """Free what was given back since the last time; called before each export and after each garbage collection."""
    if phase == "stop":
        # A list of numbers, made without a tuple each: those may start a collection, which comes here in the midst.
        for address in list(_exported):
            kept = _exported.get(address)
            if kept is not None and kept.held.manager_ctx:
                _exported.pop(address, None)


gc.callbacks.append(_let_go)


def exported_dtype(d: dtype) -> tuple[int, int, int]:
    """DLPack's code, bits and lanes of a dtype; integers of fewer bits go as the bytes they fill.

    Raises: dtype (BufferError). Source: facts 8.3.6, torch 2.13.

    >>> exported_dtype(dt.float32)
    (2, 32, 1)
    """
    found = _CODES.get(d)
    if found is not None:
        return found
    if d in dt.SUB_BYTE:
        return (_INT if d.is_signed else _UINT, 8, 1)
    raise LayoutBufferError("dtype", f"dlpack has no type for {d} (facts 8.3)")


def to_capsule(
    self: "Tensor", *, stream: Any = -1, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
) -> Any:
    """A capsule over the tensor's memory, or over a copy; a versioned one where the consumer knows version 1.

    Strides go as they are. The negative bit is not said: the consumer sees the raw values.

    Raises: grad, dtype, device (BufferError); argument (TypeError); device (AssertionError for a stream; else as the
    device asked for).
    Source: facts 8.3, torch 2.13.
    """
    if requires_grad(self):
        raise LayoutBufferError("grad", "dlpack: a tensor that requires grad cannot be exported: detach it (facts 8.3)")
    if self.is_conj():
        raise LayoutBufferError("dtype", "dlpack: a tensor with the conjugate bit cannot be exported (facts 8.3)")
    if stream is not None and type(stream) is not int:
        raise LayoutTypeError("argument", f"dlpack: stream must be an int or None, got {type(stream).__name__}")
    if not self._storage._is_meta and stream is not None and stream != -1:
        raise LayoutAssertionError("device", "dlpack: stream must be None on the CPU (facts 8.3)")
    name = _wanted_name(max_version)
    _check_target(dl_device, copy, is_meta=self._storage._is_meta)
    return _exported_as(self, name, copy=bool(copy))


def _exported_as(t: "Tensor", name: bytes, *, copy: bool = False) -> Any:
    if copy:
        t = t.to(t.device, t.dtype, copy=True)
    code = exported_dtype(t.dtype)
    if t._storage._is_meta:
        raise LayoutBufferError("device", "dlpack: a meta tensor has no memory to export (facts 8.3)")
    return _capsule(t, name, code)


def _wanted_name(max_version: Any) -> bytes:
    if max_version is None:
        return b"dltensor"
    try:
        return b"dltensor" if max_version[0] < 1 else b"dltensor_versioned"
    except IndexError:
        raise LayoutIndexError("argument", "dlpack: max_version is empty") from None
    except TypeError:
        raise LayoutTypeError("argument", f"dlpack: max_version must be two ints, got {max_version!r}") from None


def _check_target(dl_device: Any, copy: Any, *, is_meta: bool) -> None:
    if not (copy is None or isinstance(copy, bool)):
        raise LayoutTypeError("argument", f"dlpack: copy must be a bool or None, got {type(copy).__name__}")
    if dl_device is None:
        return
    if not isinstance(dl_device, (tuple, list)):
        raise LayoutTypeError("argument", f"dlpack: dl_device must be a tuple of ints, got {dl_device!r}")
    if not dl_device:
        return
    kind = as_int(dl_device[0], "dl_device")
    # Only the first is asked whether it is a boolean.
    rest = [int(x) if isinstance(x, bool) else as_int(x, "dl_device") for x in dl_device[1:]]
    if len(rest) != 1:
        raise LayoutError("argument", f"dlpack: dl_device must be two ints, got {dl_device!r}")
    _check_device(kind)
    if kind != CPU[0] or is_meta:
        if copy is False:
            raise LayoutValueError("device", f"dlpack: cannot move to device {tuple(dl_device)} without a copy")
        raise UnsupportedError("device", f"dlpack: there is no device {tuple(dl_device)}")


_NAMED: Final = {
    DLDeviceType.kDLCPU: "cpu", DLDeviceType.kDLCUDA: "cuda", DLDeviceType.kDLMetal: "mps", DLDeviceType.kDLROCM: "hip",
    DLDeviceType.kDLExtDev: "privateuseone", DLDeviceType.kDLMAIA: "maia",
}  # fmt: skip
"""Devices that PyTorch makes tensors on, there or not."""


def _check_device(kind: int) -> None:
    """Refuse a kind of device that has none of PyTorch's names (BufferError), or no name any more (RuntimeError)."""
    if kind in (DLDeviceType.kDLOpenCL, DLDeviceType.kDLOneAPI):
        raise LayoutError("device", f"dlpack: there is no device of type {kind}")
    if kind not in _NAMED:
        raise LayoutBufferError("device", f"dlpack: devices of type {kind} are not known")


def _capsule(t: "Tensor", name: bytes, code: tuple[int, int, int]) -> Any:
    shape, strides, _ = t._layout
    held = _STRUCTURES[name]()
    sizes = ctypes.c_int64 * max(len(shape), 1)
    arrays = sizes(*shape), sizes(*strides)
    part = held.dl_tensor
    part.data = t.data_ptr() or None
    part.device = DLDevice(*CPU)
    part.ndim = len(shape)
    part.dtype = DLDataType(*code)
    part.shape, part.strides = arrays
    part.byte_offset = 0
    if name == b"dltensor_versioned":
        held.major, held.minor = VERSION
        # PyTorch does not say that memory was copied.
        held.flags = 0
    held.deleter = _DELETERS[name]
    address = ctypes.addressof(held)
    _let_go()
    # The bytes themselves are kept, too: a storage that is resized gets others.
    start = t._layout.offset * t.dtype.itemsize
    _exported[address] = _Exported(held, arrays, t._storage._bytes, t._storage, start, t)
    return _new_capsule(address, name, destroyed.address)


@checked
def to_dlpack(data: "Tensor") -> Any:
    """A capsule over the tensor's memory, of version 0: whether the tensor requires grad or is conjugate is not asked.

    Raises: argument (TypeError); dtype, device (BufferError). Source: facts 8.3.9, torch 2.13.
    """
    if not isinstance(data, TensorBase):
        raise LayoutTypeError("argument", f"to_dlpack needs a Tensor, got {type(data).__name__}")
    return _exported_as(data, b"dltensor")


def dlpack_device(self: "Tensor") -> tuple[int, int]:
    """DLPack's numbers for the CPU. Raises: device (ValueError) for a meta tensor. Source: facts 8.3.5, torch 2.13."""
    if self._storage._is_meta:
        raise LayoutValueError("device", "dlpack has no device for a meta tensor (facts 8.3)")
    return CPU


@checked
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: Any = None) -> "Tensor":
    """A tensor over the memory of another library's array, or of a capsule.

    The storage starts at the data pointer, so that the offset is what the capsule says of it; it spans what the layout
    addresses and cannot be resized. Read-only memory is taken without a word, as PyTorch does.

    Raises: argument (RuntimeError: no capsule, or a used one; AssertionError: options that a capsule cannot have);
    dtype, device (BufferError); size, overflow (ValueError) where PyTorch's process dies: negative strides, sizes past
    64 bits.
    Source: facts 8.3, torch 2.13.

    >>> a = np.arange(6)
    >>> from_dlpack(a[1::2]).stride()
    (2,)
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise LayoutAssertionError("argument", "from_dlpack: a capsule comes with its device and without a copy")
        return from_capsule(ext_tensor)
    options: dict[str, Any] = {"max_version": (1, 0)}
    if copy is not None:
        options["copy"] = copy
    source = ext_tensor.__dlpack_device__()
    moved = device is not None and source != _target(device)
    if moved and copy is False:
        raise LayoutValueError("device", f"from_dlpack: device {source} to {device} without a copy (facts 8.3)")
    if device is not None and not moved:
        options["dl_device"] = source
    if _kind_of(source) in (DLDeviceType.kDLCUDA, DLDeviceType.kDLROCM):
        raise LayoutAssertionError("device", "from_dlpack: there is no CUDA")
    capsule, copied = _asked(ext_tensor, options)
    t = from_capsule(capsule)
    if moved:
        return t.to(device)
    return t.clone() if copy is True and not copied else t


def _kind_of(source: Any) -> Any:
    try:
        return source[0]
    except IndexError:
        raise LayoutIndexError("argument", f"from_dlpack: no device {source!r}") from None
    except TypeError:
        raise LayoutTypeError("argument", f"from_dlpack: no device {source!r}") from None


def _target(where: Any) -> tuple[int, int]:
    if isinstance(where, str):
        where = device(where)
    if not isinstance(where, device):
        raise LayoutAssertionError("argument", f"from_dlpack: no device {where!r}")
    if where.type == "cpu":
        return CPU
    if where.type == "xpu":
        raise LayoutError("device", f"from_dlpack: there is no device {where}")
    if where.type not in _ABSENT:
        raise LayoutBufferError("device", f"from_dlpack: DLPack has no number for {where} (facts 8.3)")
    return _ABSENT[where.type], where.index or 0


_ABSENT: Final = {"cuda": DLDeviceType.kDLCUDA, "mps": DLDeviceType.kDLMetal}
"""Devices that DLPack knows, and that are not there."""


def _asked(producer: Any, options: dict[str, Any]) -> tuple[Any, bool]:
    # Older producers know fewer options: PyTorch drops them in this order.
    for dropped in (None, "max_version", "copy", "dl_device"):
        if dropped is not None:
            options.pop(dropped, None)
        try:
            return producer.__dlpack__(**options), "copy" in options
        except TypeError as e:
            error = e
        except BufferError as e:
            if hasattr(e, "kind"):
                raise
            raise LayoutBufferError("dtype", f"from_dlpack: {e}") from None
    if hasattr(error, "kind"):
        raise error
    raise LayoutTypeError("argument", f"from_dlpack: {error}")


def from_capsule(capsule: Any) -> "Tensor":
    """A tensor over a capsule's memory; the capsule is used up. Raises: as `from_dlpack`."""
    name = next((n for n in _STRUCTURES if _is_valid(capsule, n)), None)
    if name is None:
        raise LayoutError("argument", "from_dlpack: an invalid capsule, or one that was consumed already (facts 8.3.4)")
    address = _pointer(capsule, name)
    held = _STRUCTURES[name].from_address(address)
    if name == b"dltensor_versioned" and held.major > VERSION[0]:
        raise LayoutError("argument", f"from_dlpack: version {held.major}.{held.minor} of the protocol is not known")
    kept = _exported.get(address)
    if kept is not None:
        _renew(kept)
    # Read first: what has no bytes is given back at once.
    kind = held.dl_tensor.device.device_type
    t = _tensor(held, address)
    if kept is not None and kept.storage._bytes is kept.memory:
        _carry_marks(t, kept)
    # Only now: a capsule that was refused stays its owner's, unless it is for the want of its device.
    _set_name(capsule, _USED[name])
    if kind != CPU[0]:
        refuse(_NAMED[kind])
    return t


def _renew(kept: _Exported) -> None:
    """Let a capsule show a tensor's lengths and strides of now: PyTorch points to those that the tensor itself has."""
    for values, now in zip(kept.arrays, kept.tensor._layout, strict=False):
        for k, n in enumerate(now[: kept.held.dl_tensor.ndim]):
            values[k] = n


def _imported_dtype(code: int, bits: int, lanes: int) -> dtype:
    found = _DTYPES.get((code, bits, lanes))
    if found is None:
        raise LayoutBufferError("dtype", f"from_dlpack: no dtype for code {code}, {bits} bits, {lanes} lanes")
    return found


def _imported_layout(part: Any, itemsize: int) -> Layout:
    if part.ndim < 0:
        raise fatal(LayoutError("dimension", f"from_dlpack: {part.ndim} dimensions"))
    shape = tuple(part.shape[: part.ndim])
    if any(n < 0 for n in shape):
        raise fatal(LayoutError("size", f"from_dlpack: shape {shape} has a negative length"))
    if not part.strides and part.byte_offset:
        raise LayoutValueError("size", f"from_dlpack: byte offset {part.byte_offset} without strides")
    strides = tuple(part.strides[: part.ndim]) if part.strides else contiguous_strides(shape)
    if part.byte_offset % itemsize:
        raise LayoutValueError("size", f"from_dlpack: byte offset {part.byte_offset} is no multiple of {itemsize}")
    layout = Layout(shape, strides, part.byte_offset // itemsize)
    if 0 not in shape:
        if any(s < 0 for n, s in zip(shape, strides, strict=True) if n > 1):
            raise fatal(LayoutValueError("size", f"from_dlpack: strides {strides} are negative (facts 8.3.7)"))
        if layout.required_bytes(itemsize) > INT64_MAX:
            raise fatal(LayoutValueError("overflow", f"from_dlpack: {layout} does not fit 64 bits"))
    return layout._replace(strides=accepted_strides(shape, strides))


def _tensor(held: Any, address: int) -> "Tensor":
    part = held.dl_tensor
    _check_device(part.device.device_type)
    d = _imported_dtype(part.dtype.code, part.dtype.bits, part.dtype.lanes)
    layout = _imported_layout(part, d.itemsize)
    nbytes = max(layout.offset, layout.span) * d.itemsize
    if layout.span and not part.data:
        raise fatal(LayoutError("memory", f"from_dlpack: {nbytes} bytes at no address"))
    memory: Any = (ctypes.c_uint8 * nbytes).from_address(part.data) if part.data else np.empty(0, np.uint8)
    deleter = held.deleter
    if deleter:
        weakref.finalize(memory, _Deleter(deleter), address)
    # What is empty has an address, too, where it is lent.
    data = np.frombuffer(memory, np.uint8) if nbytes else np.ndarray((0,), np.uint8, memory if part.data else None)
    return build(UntypedStorage._wrap(data), layout, d)


def _carry_marks(t: "Tensor", source: _Exported) -> None:
    marks = source.storage._shadow
    if marks is not None and len(t._storage):
        t._storage._shadow = marks[source.start : source.start + len(t._storage)]
