"""Untyped storages: byte buffers that tensors share."""

import sys
from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from . import shadow
from .device import cpu, device
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, LayoutValueError

Bytes = npt.NDArray[np.uint8]


def _allocate_bytes(nbytes: int) -> Bytes:
    try:
        return np.empty(nbytes, np.uint8)
    except (MemoryError, ValueError):
        raise LayoutError("memory", f"cannot allocate {nbytes} bytes") from None


class UntypedStorage:
    """A byte buffer with an address and a length, shared by every tensor that views it.

    Two storages are equal only if they are the same object.

    Units: bytes throughout. Source: facts 7.1 and 7.2, torch 2.13.
    """

    __slots__ = ("__weakref__", "_bytes", "_resizable", "_shadow")

    _bytes: Bytes
    _resizable: bool
    _shadow: shadow.Marks | None

    def __init__(self, *args: Any, device: Any = None) -> None:
        if len(args) > 1:
            raise LayoutTypeError(
                "argument", f"UntypedStorage takes a length or a sequence, got {len(args)} arguments"
            )
        self._resizable = True
        self._shadow = None
        if not args:
            self._bytes = np.empty(0, np.uint8)
        elif isinstance(args[0], int) and not isinstance(args[0], bool):
            if args[0] < 0:
                raise LayoutError(
                    "size", f"UntypedStorage: the length {args[0]} is a negative number (facts 7.1)"
                )
            self._bytes = _allocate_bytes(args[0])
            self._shadow = shadow.all_unspecified(args[0])
        else:
            try:
                items = list(args[0])
            except TypeError:
                raise LayoutTypeError(
                    "argument", f"UntypedStorage takes a length or a sequence, got {type(args[0]).__name__}"
                ) from None
            if not all(type(i) in (int, bool) for i in items):
                raise LayoutError("argument", "UntypedStorage: a sequence must hold ints (facts 7.1)")
            self._bytes = np.array([i % 256 for i in items], np.uint8)

    @staticmethod
    def _allocate(nbytes: int) -> "UntypedStorage":
        self = _new(UntypedStorage)
        try:
            self._bytes = _empty(nbytes, _uint8)
        except (MemoryError, ValueError):
            raise LayoutError("memory", f"cannot allocate {nbytes} bytes") from None
        self._resizable = True
        self._shadow = None
        return self

    @staticmethod
    def _wrap(buffer: Any) -> "UntypedStorage":
        """A storage over foreign writable memory, which cannot be resized."""
        self = _new(UntypedStorage)
        if isinstance(buffer, np.ndarray):
            self._bytes = (
                buffer if buffer.dtype == np.uint8 and buffer.ndim == 1 else buffer.reshape(-1).view(np.uint8)
            )
        else:
            self._bytes = np.frombuffer(buffer, np.uint8)
        self._resizable = False
        self._shadow = None
        return self

    def nbytes(self) -> int:
        """Length in bytes."""
        return len(self._bytes)

    size = nbytes
    __len__ = nbytes

    def element_size(self) -> int:
        """1: an untyped storage counts in bytes."""
        return 1

    def data_ptr(self) -> int:
        """Address of the first byte; 0 where there is none."""
        data = self._bytes
        return int(data.__array_interface__["data"][0]) if len(data) else 0

    @property
    def device(self) -> device:
        """Where the memory lies."""
        return cpu

    @property
    def is_cuda(self) -> bool:
        """False: the reference lives on the CPU."""
        return False

    @property
    def is_sparse(self) -> bool:
        """False: a storage is dense."""
        return False

    def get_device(self) -> None:
        """None: the CPU has no index."""
        return

    def type(self, *args: Any) -> str:
        """Name of the class, as PyTorch writes it."""
        return "torch.storage.UntypedStorage"

    def __bool__(self) -> bool:
        return len(self._bytes) > 0

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return (
            "".join(f" {b}\n" for b in self._bytes)
            + f"[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"
        )

    def _index(self, i: Any) -> int:
        try:
            at = index(i)
        except TypeError:
            raise LayoutTypeError(
                "argument", f"can't index an untyped storage with {type(i).__name__}"
            ) from None
        if not -len(self._bytes) <= at < len(self._bytes):
            raise LayoutIndexError(
                "index", f"index {at} out of range for storage of size {len(self._bytes)} (facts 7.2)"
            )
        return at

    def _slice(self, s: slice) -> slice:
        if s.step not in (None, 1):
            raise LayoutError(
                "step", f"storage slice: only a step of 1 is supported, got {s.step} (facts 7.2)"
            )
        start, stop, _ = s.indices(len(self._bytes))
        return slice(start, max(start, stop))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            part = self._slice(i)
            view = UntypedStorage._wrap(self._bytes[part])
            if self._shadow is not None:
                view._shadow = self._shadow[part]
            return view
        return int(self._bytes[self._index(i)])

    def __setitem__(self, i: Any, value: Any) -> None:
        if type(value) not in (int, bool):
            raise LayoutError(
                "argument", f"can only set storage content with an int, got {type(value).__name__}"
            )
        at = self._slice(i) if isinstance(i, slice) else self._index(i)
        self._bytes[at] = value % 256
        if self._shadow is not None:
            self._shadow[at] = 0

    def fill_(self, value: Any) -> "UntypedStorage":
        """Set every byte, modulo 256; versions of tensors are not bumped.

        Raises: argument (RuntimeError) where the value is not an int.
        Source: facts 7.2, torch 2.13.
        """
        if type(value) not in (int, bool):
            raise LayoutError("argument", f"fill_ expects an int, got {type(value).__name__} (facts 7.2)")
        self._bytes[...] = value % 256
        self._shadow = None
        return self

    def copy_(self, source: "UntypedStorage", non_blocking: bool = False) -> "UntypedStorage":
        """Copy the bytes of a storage of the same length.

        Raises: size (RuntimeError) where the lengths differ.
        Source: facts 7.2, torch 2.13.
        """
        if len(source) != len(self):
            raise LayoutError("size", f"copy_: {len(self)} bytes cannot take {len(source)} bytes (facts 7.2)")
        self._bytes[...] = source._bytes
        self._shadow = None if source._shadow is None else source._shadow.copy()
        return self

    def clone(self) -> "UntypedStorage":
        """New memory with the same bytes."""
        new = UntypedStorage._allocate(len(self._bytes))
        new._bytes[...] = self._bytes
        new._shadow = None if self._shadow is None else self._shadow.copy()
        return new

    def __copy__(self) -> "UntypedStorage":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> "UntypedStorage":
        done = memo.get(id(self))
        if done is None:
            memo[id(self)] = done = self.clone()
        result: UntypedStorage = done
        return result

    def tolist(self) -> list[int]:
        """The bytes as Python ints."""
        result: list[int] = self._bytes.tolist()
        return result

    def untyped(self) -> "UntypedStorage":
        """Itself."""
        return self

    def cpu(self) -> "UntypedStorage":
        """Itself: the reference lives on the CPU."""
        return self

    def to(self, *, device: Any, non_blocking: bool = False) -> "UntypedStorage":
        """Itself: the reference lives on the CPU."""
        return self

    def new(self) -> "UntypedStorage":
        """An empty storage of the same kind."""
        return UntypedStorage()

    def resize_(self, size: int) -> "UntypedStorage":
        """Change the length in bytes; the bytes that remain are kept, new ones are unspecified.

        Tensors over the storage keep their layout, which may then reach past its end.

        Raises: size (a negative length), resize (foreign memory), both RuntimeError.
        Source: facts 6.6, torch 2.13.
        """
        size = index(size)
        if size < 0:
            raise LayoutError("size", f"storage resize_: the length {size} is a negative number (facts 6.6)")
        if not self._resizable:
            raise LayoutError("resize", "storage resize_: this storage is not resizable (facts 6.6)")
        old = self._bytes
        new = _allocate_bytes(size)
        kept = min(size, len(old))
        new[:kept] = old[:kept]
        if self._shadow is not None or size > kept:
            marks = np.full(size, shadow.UNSPECIFIED, np.uint8)
            marks[:kept] = 0 if self._shadow is None else self._shadow[:kept]
            self._shadow = marks if marks.any() else None
        self._bytes = new
        return self

    def resizable(self) -> bool:
        """Whether the storage can change its length: not foreign memory, not memory that NumPy was given."""
        return self._resizable

    def byteswap(self, dtype: Any) -> None:
        """Reverse the bytes of each element in place, of each part for complex dtypes.

        Raises: size (RuntimeError) where the length is no multiple of the item size.
        Source: facts 7.2, torch 2.13.
        """
        width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if len(self._bytes) % dtype.itemsize:
            raise LayoutError(
                "size", f"byteswap: {len(self._bytes)} bytes are no multiple of {dtype.itemsize}"
            )
        for array in (self._bytes, self._shadow):
            if array is not None and width > 1:
                array.reshape(-1, width)[...] = array.reshape(-1, width)[:, ::-1].copy()
        if self._shadow is not None:
            self._shadow[self._shadow != 0] = shadow.UNSPECIFIED

    def is_shared(self) -> bool:
        """Whether other processes see the memory: never here."""
        return False

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is page-locked: never here."""
        return False

    @property
    def filename(self) -> str | None:
        """The mapped file: none here."""
        return None

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str = "", *, dtype: Any, count: int = -1, offset: int = 0
    ) -> "UntypedStorage":
        """A storage with a copy of a buffer's elements, swapped to the native byte order.

        Units: `count` in elements, `offset` in bytes.
        Raises: argument (RuntimeError) where the byte order is missing; ValueError for one that does not exist, and
        for counts, offsets and lengths that do not fit.
        Source: facts 7.5, torch 2.13.
        """
        itemsize = dtype.itemsize
        if not byte_order and (itemsize > 1 or dtype.name == "bool"):
            raise LayoutError("argument", "from_buffer: missing required argument 'byte_order' (facts 7.5)")
        if byte_order not in ("", "native", "little", "big"):
            raise LayoutValueError("argument", f"from_buffer: invalid byte_order {byte_order!r} (facts 7.5)")
        data = np.frombuffer(buffer, np.uint8) if len(memoryview(buffer)) else np.empty(0, np.uint8)
        if offset < 0 or offset > len(data):
            raise LayoutValueError(
                "index", f"from_buffer: offset must be non-negative and no greater than {len(data)}"
            )
        if count > 0 and offset + count * itemsize > len(data):
            raise LayoutValueError(
                "size", f"from_buffer: buffer has {len(data) - offset} bytes after the offset"
            )
        if count < 0:
            if (len(data) - offset) % itemsize:
                raise LayoutValueError(
                    "size", f"from_buffer: length must be a multiple of element size {itemsize}"
                )
            count = (len(data) - offset) // itemsize
        self = cls._allocate(count * itemsize)
        self._bytes[...] = data[offset : offset + count * itemsize]
        if byte_order in ("little", "big") and byte_order != sys.byteorder:
            self.byteswap(dtype)
        return self


_new = object.__new__
_empty = np.empty
_uint8 = np.dtype(np.uint8)
