"""Untyped storages: byte buffers that tensors share."""

from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from . import shadow
from .backing import MISSING, Backing, NoBytes, no_data
from .calls import with_checked_calls
from .devices import cpu, device, is_meta, meta
from .dtypes import SUB_BYTE, dtype, uint8
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, LayoutValueError, fatal
from .storage_internals import StorageInternals
from .storage_methods import StorageMethods

Bytes = npt.NDArray[np.uint8]


def _allocate_bytes(nbytes: int) -> Bytes:
    try:
        return np.empty(nbytes, np.uint8)
    except (MemoryError, ValueError):
        raise LayoutError("memory", f"cannot allocate {nbytes} bytes") from None


def _length(size: Any, what: str, nowhere: bool = False) -> int:
    # 64 bits are all that PyTorch unpacks a length into.
    if not -(2**63) <= size < 2**63:
        raise LayoutValueError("overflow", f"{what}: the length {size} does not fit 64 bits")
    if size < 0:
        error = LayoutError("size", f"{what}: the length {size} is a negative number (facts 7.1)")
        # PyTorch makes a meta storage of that length, which Python's own `len` breaks down on.
        raise fatal(error) if nowhere else error
    return int(size)


def element_size(d: dtype) -> int:
    """Bytes of an element where PyTorch can tell: not of the bits and the narrow integers.

    Raises: dtype (TypeError). Source: torch 2.13, `torch._utils._element_size`.
    """
    if d in SUB_BYTE or d.name.startswith("bits"):
        raise LayoutTypeError("dtype", f"the size of an element of {d} is not told")
    return int(d.itemsize)


def _is_index(x: Any) -> bool:
    """Whether PyTorch's C code takes an object for an integer: no bool, no array, and a tensor without dimensions."""
    if isinstance(x, (bool, np.ndarray)) or (hasattr(x, "_layout") and x.dtype.category not in ("int", "uint")):
        return False
    return hasattr(type(x), "__index__") and not getattr(x, "shape", ())


def _byte(value: Any, what: str) -> int:
    if type(value) not in (int, bool):
        raise LayoutError("argument", f"{what} an int, got {type(value).__name__} (facts 7.2)")
    if not -(2**63) <= value < 2**63:
        raise fatal(LayoutError("overflow", f"{what} an int of 64 bits, got {value} (facts 7.2)"))
    return int(value) % 256


@with_checked_calls
class UntypedStorage(StorageInternals, StorageMethods):
    """A byte buffer with an address and a length, shared by every tensor that views it.

    Two storages are equal only if they are the same object.

    Units: bytes throughout. Source: facts 7.1 and 7.2, torch 2.13.

    >>> UntypedStorage([1, 300]).tolist()
    [1, 44]
    """

    __slots__ = ("__dict__", "__weakref__", "_allocated", "_backing", "_bytes", "_resizable", "_shadow", "_short")

    # Whether the bytes, or those that they are a part of, come from an allocator of PyTorch's.
    _allocated: bool
    _backing: Backing | None
    _bytes: Any
    _resizable: bool
    _shadow: shadow.Marks | None
    # Whether a tensor may address past the end: the storage has shrunk, or was refused to grow.
    _short: bool

    is_sparse = False
    is_sparse_csr = False

    def __init__(self, *args: Any, device: Any = None, **kwargs: Any) -> None:
        named = not args and ("size" in kwargs or "sequence" in kwargs)
        is_length = _is_index(args[0]) if args else "sequence" not in kwargs
        if named:
            args = (kwargs.pop("size" if is_length else "sequence"),)
        if (
            kwargs.pop("allocator", None) is not None or kwargs or len(args) > 1
            or (named and is_length and not _is_index(args[0]))
        ):  # fmt: skip
            raise LayoutTypeError("argument", "UntypedStorage takes a length or a sequence, and a device (facts 7.1)")
        nowhere = is_meta(device)
        self._backing = None
        self._allocated = True
        self._resizable = True
        self._shadow = None
        self._short = False
        first: Any = args[0] if args else 0
        if is_length:
            nbytes = _length(index(first), "UntypedStorage", nowhere)
            self._bytes = NoBytes(nbytes) if nowhere else _allocate_bytes(nbytes)
            self._shadow = None if nowhere else shadow.all_unspecified(nbytes)
            return
        if isinstance(first, UntypedStorage):
            if first._is_meta:
                raise fatal(no_data("UntypedStorage"))
        elif (
            not hasattr(first, "__getitem__")
            or isinstance(first, (dict, StorageMethods))
            or getattr(first, "shape", None) == ()
            or hasattr(first, "_layout")
        ):
            raise LayoutError("argument", f"UntypedStorage takes a sequence, got {type(first).__name__} (facts 7.1)")
        found = np.array([_byte(item, "UntypedStorage: a sequence must hold") for item in first], np.uint8)
        self._bytes = NoBytes(len(found)) if nowhere else found

    @staticmethod
    def _allocate(nbytes: int) -> "UntypedStorage":
        self = _new(UntypedStorage)
        try:
            self._bytes = _empty(nbytes, _uint8)
        except (MemoryError, ValueError):
            raise LayoutError("memory", f"cannot allocate {nbytes} bytes") from None
        self._backing = None
        self._allocated = True
        self._resizable = True
        self._shadow = None
        self._short = False
        return self

    @staticmethod
    def _wrap(buffer: Any, backing: Backing | None = None) -> "UntypedStorage":
        """A storage over foreign writable memory, which cannot be resized."""
        self = _new(UntypedStorage)
        if isinstance(buffer, np.ndarray):
            self._bytes = buffer if buffer.dtype == np.uint8 and buffer.ndim == 1 else buffer.reshape(-1).view(np.uint8)
        else:
            self._bytes = np.frombuffer(buffer, np.uint8)
        self._backing = backing
        self._allocated = False
        self._resizable = False
        self._shadow = None
        self._short = False
        return self

    @staticmethod
    def _nowhere(nbytes: int) -> "UntypedStorage":
        """A meta storage: a length without bytes."""
        self = UntypedStorage._allocate(0)
        self._bytes = NoBytes(nbytes)
        return self

    @property
    def _is_meta(self) -> bool:
        return type(self._bytes) is NoBytes

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
        if len(data):
            return 0 if type(data) is NoBytes else int(data.__array_interface__["data"][0])
        # An empty part of a storage, or of an array, has the address of its start.
        part = type(data) is not NoBytes and self._backing is None and data.base is not None
        return int(data.__array_interface__["data"][0]) if part else 0

    @property
    def device(self) -> device:
        """Where the memory lies."""
        return meta if self._is_meta else cpu

    def __bool__(self) -> bool:
        return len(self._bytes) > 0

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        end = f"\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return "..." + end if self._is_meta else " " + "\n ".join(str(b) for b in self._bytes) + end

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self._bytes)

    def _slice(self, s: slice) -> slice:
        try:
            start, stop, step = s.indices(len(self._bytes))
        except TypeError as e:
            raise LayoutTypeError("argument", f"storage slice: {e}") from None
        except ValueError as e:
            raise LayoutValueError("step", f"storage slice: {e}") from None
        if step != 1:
            raise LayoutError("step", f"storage slice: only a step of 1 is supported, got {step} (facts 7.2)")
        return slice(start, max(start, stop))

    def __getitem__(self, i: Any) -> Any:
        if self._is_meta:
            raise no_data("storage[...]")
        if isinstance(i, slice):
            part = self._slice(i)
            # Of an empty part NumPy forgets where it begins.
            length = part.stop - part.start
            data = (
                np.ndarray((length,), np.uint8, self._bytes, part.start) if self.data_ptr() else np.empty(0, np.uint8)
            )
            view = UntypedStorage._wrap(data)
            view._allocated = self._allocated
            if self._shadow is not None:
                view._shadow = self._shadow[part]
            return view
        if not _is_index(i) or hasattr(i, "_layout"):
            raise LayoutTypeError("argument", f"can't index an untyped storage with {type(i).__name__}")
        at = index(i)
        if not -(2**63) <= at < 2**63:
            raise LayoutValueError("overflow", f"index {at} does not fit 64 bits")
        size = len(self._bytes)
        if not -size <= at < size:
            raise LayoutIndexError("index", f"index {at} out of range for storage of size {size} (facts 7.2)")
        return int(self._bytes[at])

    def __setitem__(self, i: Any, value: Any) -> None:
        # PyTorch looks at the value first, and raises RuntimeError for everything here.
        byte = _byte(value, "can only set storage content with")
        at: Any
        if isinstance(i, slice):
            at = self._slice(i)
        elif not _is_index(i) or hasattr(i, "_layout"):
            raise LayoutError("argument", f"can't index an untyped storage with {type(i).__name__}")
        else:
            at = index(i)
            if not -(2**63) <= at < 2**63:
                raise LayoutValueError("overflow", f"index {at} does not fit 64 bits")
            if not 0 <= at < len(self._bytes):
                # Not counted from the end, other than for reading.
                raise LayoutError("index", f"index {at} is out of bounds for storage of size {len(self._bytes)}")
        if self._is_meta:
            return
        self._bytes[at] = byte
        if self._shadow is not None:
            self._shadow[at] = 0

    def fill_(self, value: Any, /) -> "UntypedStorage":
        """Set every byte, modulo 256; versions of tensors are not bumped.

        Raises: argument, overflow (RuntimeError) where the value is no int of 64 bits.
        Source: facts 7.2, torch 2.13.
        """
        byte = _byte(value, "fill_ expects")
        if not self._is_meta:
            self._bytes[...] = byte
            self._shadow = None
        return self

    def copy_(self, src: Any, non_blocking: bool | None = None) -> "UntypedStorage":
        """Copy the bytes of a storage of the same length; those of a typed storage as they are.

        Raises: argument (TypeError), size (RuntimeError) where the lengths differ, device (a meta source).
        Source: facts 7.2 and 7.7, torch 2.13.
        """
        if non_blocking is not None and not isinstance(non_blocking, bool):
            raise LayoutTypeError("argument", f"copy_: non_blocking must be a bool, got {type(non_blocking).__name__}")
        source = getattr(src, "_untyped_storage", src)
        if not isinstance(source, UntypedStorage):
            raise LayoutTypeError("argument", f"copy_ takes a storage, got {type(src).__name__}")
        if len(source) != len(self):
            raise LayoutError("size", f"copy_: {len(self)} bytes cannot take {len(source)} bytes (facts 7.2)")
        if self._is_meta:
            return self
        if source._is_meta:
            raise no_data("copy_")
        self._bytes[...] = source._bytes
        self._shadow = None if source._shadow is None else source._shadow.copy()
        return self

    def clone(self) -> "UntypedStorage":
        """New memory with the same bytes."""
        if self._is_meta:
            return UntypedStorage._nowhere(len(self._bytes))
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

    def __reduce__(self) -> Any:
        from .pickling import reduce_untyped

        return reduce_untyped(self)

    def tolist(self) -> list[int]:
        """The bytes as Python ints. Raises: device (NotImplementedError) for a meta storage that has any."""
        if self._is_meta:
            if not len(self._bytes):
                return []
            raise no_data("tolist")
        result: list[int] = self._bytes.tolist()
        return result

    def untyped(self) -> "UntypedStorage":
        """Itself."""
        return self

    def new(self) -> "UntypedStorage":
        """An empty storage on the same device.

        Raises: resize (RuntimeError) for memory that no allocator gave, where PyTorch's process dies. Source: facts
        7.2, torch 2.13.
        """
        if not self._allocated:
            raise fatal(LayoutError("resize", "new() of a storage over foreign, mapped or loaded memory (facts 7.2)"))
        return UntypedStorage._nowhere(0) if self._is_meta else UntypedStorage._allocate(0)

    def resize_(self, size: Any, /) -> "UntypedStorage":
        """Change the length in bytes; the bytes that remain are kept, new ones are unspecified.

        Tensors over the storage keep their layout, which may then reach past its end.

        Raises: argument, size (a negative length), resize (foreign or shared memory), memory: all RuntimeError;
        overflow (ValueError).
        Source: facts 6.6, torch 2.13.
        """
        if not _is_index(size) or hasattr(size, "_layout"):
            raise LayoutError("argument", f"storage resize_ expects an int, got {type(size).__name__}")
        size = index(size)
        if not -(2**63) <= size < 2**63:
            raise LayoutValueError("overflow", f"storage resize_: the length {size} does not fit 64 bits")
        self._short = self._short or not self._resizable or self.is_shared() or size < len(self._bytes)
        if not self._resizable:
            raise LayoutError("resize", "storage resize_: this storage is not resizable (facts 6.6)")
        size = _length(size, "storage resize_", self._is_meta)
        if size and not self._allocated:
            # PyTorch says that what was shared is resizable, and dies: nothing is there to allocate with (facts 7.2).
            raise fatal(LayoutError("resize", "storage resize_: shared memory cannot be resized (facts 7.8)"))
        old = self._bytes
        if self._is_meta:
            self._bytes = NoBytes(size)
            return self
        new = _allocate_bytes(size)
        kept = min(size, len(old))
        new[:kept] = old[:kept]
        if self._shadow is not None or size > kept:
            marks = np.full(size, shadow.UNSPECIFIED, np.uint8)
            marks[:kept] = 0 if self._shadow is None else self._shadow[:kept]
            self._shadow = marks if marks.any() else None
        self._bytes = new
        self._backing = None
        return self

    def resizable(self) -> bool:
        """Whether the storage can change its length: not foreign memory, not memory that NumPy was given.

        As in PyTorch, true for memory moved by `share_memory_`, which yet cannot. Source: facts 7.2, torch 2.13.
        """
        return self._resizable

    def byteswap(self, dtype: Any) -> None:
        """Reverse the bytes of each element in place, of each part for complex dtypes.

        Raises: dtype (TypeError) for dtypes whose width PyTorch does not tell; argument; size where the length is no
        multiple of a part; device for a meta storage (PyTorch's process dies): all RuntimeError.
        Source: facts 7.2, torch 2.13.
        """
        if not isinstance(dtype, _dtype):
            raise LayoutError("argument", f"byteswap: expected a dtype, got {type(dtype).__name__}")
        element_size(dtype)
        if self._is_meta and len(self._bytes):
            raise fatal(LayoutError("device", "byteswap: a meta storage holds no data (facts 7.2)"))
        self._swap(max(dtype.itemsize // 2, 1) if dtype.is_complex else dtype.itemsize)

    def _swap(self, width: int) -> None:
        if len(self._bytes) % width:
            raise LayoutError("size", f"byteswap: {len(self._bytes)} bytes are no multiple of {width}")
        for array in (self._bytes, self._shadow):
            if array is not None and width > 1 and len(array):
                array.reshape(-1, width)[...] = array.reshape(-1, width)[:, ::-1].copy()
        if self._shadow is not None:
            self._shadow[self._shadow != 0] = shadow.UNSPECIFIED

    def is_shared(self) -> bool:
        """Whether the memory is mapped, from a file or for other processes. Source: facts 7.6 and 7.8, torch 2.13."""
        return self._backing is not None

    def share_memory_(self) -> "UntypedStorage":
        """Move the bytes to memory that other processes can map; every tensor over the storage moves along.

        Raises: device (RuntimeError) for a meta storage. Source: facts 7.8, torch 2.13.
        """
        from .shared_memory import share

        share(self)
        return self

    @property
    def filename(self) -> str | None:
        """The file mapped with `shared=True`; None otherwise. Source: facts 7.6, torch 2.13."""
        backing = self._backing
        return backing.filename if backing is not None and backing.shared else None

    def mps(self) -> "UntypedStorage":
        """Nothing: there is no MPS. Raises: device (RuntimeError)."""
        raise LayoutError("device", "mps: the reference lives on the CPU (facts 7.2)")

    def _move_to(self, wanted: dtype) -> Any:
        from .typed_storage import converted, warn_deprecated

        warn_deprecated()
        return converted(self, wanted, uint8)

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: Any = MISSING, count: Any = -1, offset: Any = 0, dtype: Any = None, **kwargs: Any
    ) -> "UntypedStorage":
        """A storage with a copy of a buffer's elements; see `from_buffer.from_buffer`."""
        from .from_buffer import from_buffer

        if kwargs:
            raise LayoutTypeError("argument", f"from_buffer: {next(iter(kwargs))!r} is an invalid keyword")
        return from_buffer(buffer, byte_order, count, offset, dtype)

    @classmethod
    def from_file(cls, filename: Any, shared: Any = False, nbytes: Any = 0) -> "UntypedStorage":
        """A storage over a file's first bytes; see `mapped_file.map_file`."""
        from .mapped_file import map_file

        return map_file(filename, shared, nbytes)


_new = object.__new__
_empty = np.empty
_uint8 = np.dtype(np.uint8)
_dtype = dtype


def __getattr__(name: str) -> Any:
    # PyTorch has both classes in its module of this name; the typed one is made of this one.
    if name == "TypedStorage":
        from .typed_storage import TypedStorage

        return TypedStorage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
