"""Storages made of a copy of somebody else's bytes, in the byte order that they are said to have."""

import sys
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from .backing import MISSING, as_length
from .dtypes import dtype
from .errors import LayoutBufferError, LayoutError, LayoutTypeError, LayoutValueError, fatal
from .storage import UntypedStorage

# Dtypes whose elements PyTorch knows how to decode.
_DECODED: Final = frozenset(
    (
        dt.bool_, dt.uint8, dt.int8, dt.int16, dt.int32, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64,
        dt.complex64, dt.complex128, dt.float8_e5m2, dt.float8_e4m3fn, dt.float8_e5m2fnuz, dt.float8_e4m3fnuz,
    )
)  # fmt: skip
# Those for which no byte order is asked, nor looked at.
_SINGLE: Final = _DECODED & {dt.uint8, dt.int8, *dt.FLOAT8}


def buffer_bytes(buffer: Any) -> Any:
    """The bytes of an object that exports one contiguous buffer, as an array over its memory.

    Raises: argument (TypeError: no buffer; ValueError or BufferError: not contiguous, as the object itself says).

    >>> buffer_bytes(b"ab").tolist()
    [97, 98]
    """
    try:
        view = memoryview(buffer)
        if not view.nbytes:
            return np.empty(0, np.uint8)
        return np.frombuffer(buffer, np.uint8)
    except BufferError as e:
        raise LayoutBufferError("argument", f"from_buffer: {e}") from None
    except TypeError as e:
        raise LayoutTypeError("argument", f"from_buffer: {e}") from None
    except ValueError as e:
        raise LayoutValueError("argument", f"from_buffer: {e}") from None


def from_buffer(buffer: Any, byte_order: Any, count: Any, offset: Any, d: Any) -> UntypedStorage:
    """A storage with a copy of a buffer's elements, swapped to the native byte order; booleans become 0 and 1.

    Units: `count` in elements, all that follow the offset if negative; `offset` in bytes.
    Raises: argument (RuntimeError) where the dtype or the byte order is missing; argument (TypeError) for no buffer;
    ValueError for a byte order that does not exist and for counts, offsets and lengths that do not fit; dtype
    (RuntimeError) for one that cannot be decoded.
    Source: facts 7.5, torch 2.13.

    >>> from_buffer(bytes([1, 0, 2, 0]), "big", -1, 0, dt.int16).tolist()
    [0, 1, 0, 2]
    """
    if not isinstance(d, dtype):
        raise LayoutError("argument", "from_buffer: the argument 'dtype' must be a dtype")
    single = d in _SINGLE
    if byte_order is MISSING:
        if not single:
            raise LayoutError("argument", "from_buffer: missing required argument 'byte_order' (facts 7.5)")
        byte_order = "native"
    if not isinstance(byte_order, str):
        raise LayoutTypeError("argument", f"from_buffer: byte_order must be a str, got {type(byte_order).__name__}")
    count, offset = as_length(count, "count"), as_length(offset, "offset")
    if byte_order not in ("native", "little", "big") and not single:
        raise LayoutValueError("argument", f"from_buffer: invalid byte_order {byte_order!r} (facts 7.5)")
    data = buffer_bytes(buffer)
    itemsize = d.itemsize
    if not 0 <= offset <= len(data):
        raise LayoutValueError(
            "index", f"from_buffer: offset {offset} must be non-negative and no greater than {len(data)} (facts 7.5)"
        )
    if count < 0:
        if (len(data) - offset) % itemsize:
            raise LayoutValueError(
                "size", f"from_buffer: {len(data) - offset} bytes must be a multiple of element size {itemsize}"
            )
        count = (len(data) - offset) // itemsize
    if offset + count * itemsize > len(data):
        error = LayoutValueError(
            "size", f"from_buffer: {count} elements do not fit the {len(data) - offset} bytes left"
        )
        # PyTorch's product wraps around.
        raise fatal(error) if count * itemsize >= 2**63 else error
    if d not in _DECODED:
        raise LayoutError("dtype", f"from_buffer: {d} cannot be decoded (facts 7.5)")
    storage = UntypedStorage._allocate(count * itemsize)
    part = data[offset : offset + count * itemsize]
    storage._bytes[...] = part != 0 if d is dt.bool_ else part
    if byte_order in ("little", "big") and byte_order != sys.byteorder:
        storage.byteswap(d)
    return storage
