"""Strided memory as other libraries are told of it: NumPy arrays, buffers, array interfaces and DLPack capsules.

Read without asking the library that made them, from the structures that the protocols define. Standard library only: an
array is known by what NumPy, if it is loaded, calls one.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

from .layout import extent
from .observation import ForeignState


class Block(NamedTuple):
    """A range of memory: the address that it begins at, and its length in bytes."""

    address: int
    nbytes: int


class Described(NamedTuple):
    """A foreign value: what it says of itself, and where it lies.

    `address` is that of its first element, None where it has none; `owned` the memory that its owner holds, None where
    it keeps none alive.
    """

    state: ForeignState
    address: int | None = None
    owned: Block | None = None


def is_foreign(x: Any) -> bool:
    """Whether an object is one of those that this module describes.

    >>> is_foreign(memoryview(b"ab")), is_foreign(b"ab")
    (True, False)
    """
    kind = type(x)
    if kind is dict:
        return "typestr" in x
    return kind is memoryview or is_capsule(x) or _is_array(x)


def describe(x: Any) -> Described:
    """What a foreign value says of itself.

    >>> describe(memoryview(b"abcdef")[::2]).state.strides
    (2,)
    """
    if _is_array(x):
        return _array(x)
    if type(x) is memoryview:
        return _buffer(x)
    return _interface(x) if type(x) is dict else _capsule(x)


def is_capsule(x: Any) -> bool:
    """Whether an object is a capsule."""
    return type(x).__name__ == "PyCapsule"


def is_fresh(capsule: Any) -> bool:
    """Whether a DLPack capsule has not been used up."""
    return _name_of(capsule) in _CAPSULES


def _is_array(x: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, getattr(numpy, "ndarray", ()))


# NumPy.


def _array(a: Any) -> Described:
    state = ForeignState("array", a.dtype.str, a.itemsize, a.shape, a.strides, None, None, a.flags.writeable)
    if not a.size:
        return Described(state)
    root = a
    while _is_array(root.base):
        root = root.base
    return Described(state, a.__array_interface__["data"][0], _extent(root))


def _extent(a: Any) -> Block:
    """The memory from the first to the last byte that an array addresses."""
    address = a.__array_interface__["data"][0]
    low, past = extent(a.shape, a.strides, address)
    return Block(low, past - 1 + a.itemsize - low) if a.size else Block(address, 0)


def _interface(data: dict[str, Any]) -> Described:
    """An array interface, version 3; absent strides mean row-major, and stay absent."""
    address, readonly = _place(data)
    strides = data.get("strides")
    itemsize = int(data["typestr"][2:])
    shape = tuple(data["shape"])
    state = ForeignState(
        "interface", data["typestr"], itemsize, shape, strides and tuple(strides), None, None, not readonly,
        (data["version"],),
    )  # fmt: skip
    return Described(state, None if 0 in shape else address)


def _place(interface: dict[str, Any]) -> tuple[int, bool]:
    """Where the data of an array interface begins, and whether it is read-only: it says so, or names a buffer."""
    data = interface["data"]
    if isinstance(data, tuple):
        address, readonly = data
        return address, readonly
    view = memoryview(data)
    return (_buffer(view).address or 0) + interface.get("offset", 0), view.readonly


# The buffer protocol.


class _Buffer(ctypes.Structure):
    """CPython's `Py_buffer`."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


_FULL_READ_ONLY = 0x011C


def _buffer(view: memoryview) -> Described:
    held = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(held), _FULL_READ_ONLY)
    try:
        address = held.buf
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(held))
    strides = view.strides or None
    state = ForeignState("buffer", view.format, view.itemsize, view.shape or (), strides, None, None, not view.readonly)
    return Described(state, address if view.nbytes else None)


# DLPack.


class _Tensor(ctypes.Structure):
    """`DLTensor`: shape and strides in elements, `byte_offset` in bytes; no strides mean row-major."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """`DLManagedTensor`, version 0 of the protocol."""

    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    """`DLManagedTensorVersioned`, from version 1 on."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_MAX_DIMS = 64
"""As many as any library has; a capsule of more cannot be right."""
_CAPSULES: dict[bytes, Any] = {b"dltensor": _Managed, b"dltensor_versioned": _ManagedVersioned}


def _capsule(capsule: Any) -> Described:
    """A DLPack capsule; of one that was consumed, whose structure may be gone, only the name."""
    name = _name_of(capsule)
    if name not in _CAPSULES:
        return Described(ForeignState("capsule", header=(name.decode(errors="replace"),)))
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    held = _CAPSULES[name].from_address(pointer(capsule, name))
    t = held.tensor
    if not 0 <= t.ndim <= _MAX_DIMS or (name == b"dltensor_versioned" and held.major != 1):
        # Who follows it reads whatever lies there.
        return Described(ForeignState("capsule", header=(name.decode(),)))
    itemsize = t.bits * t.lanes // 8
    header: tuple[Any, ...] = (name.decode(), t.byte_offset, t.device_type, t.device_id, bool(held.deleter))
    if name == b"dltensor_versioned":
        header += held.major, held.minor, held.flags
    state = ForeignState(
        "capsule",
        f"{t.code}.{t.bits}.{t.lanes}",
        itemsize,
        tuple(t.shape[: t.ndim]),
        tuple(s * itemsize for s in t.strides[: t.ndim]) if t.strides else None,
        header=header,
    )
    empty = 0 in state.shape or not t.data
    return Described(state, None if empty else t.data + t.byte_offset)


def _name_of(capsule: Any) -> bytes:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    found: bytes | None = name(capsule)
    return found or b""
