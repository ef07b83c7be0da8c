"""Names of storages that begin with an underscore, which PyTorch's own modules and tests call on memory of the CPU.

Left out: `_set_cdata`, `_resize_with_addr_` and `_swap_data_ptr_`, which put addresses of C++ objects in the place of a
storage's own, and deleting elements, of which PyTorch's process dies.
"""

import os
import struct
import weakref
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from .backing import as_length, no_data
from .devices import is_count, is_meta
from .errors import (
    LayoutAssertionError,
    LayoutError,
    LayoutIndexError,
    LayoutOverflowError,
    LayoutTypeError,
    LayoutValueError,
    fatal,
)

if TYPE_CHECKING:
    from .storage import UntypedStorage
    from .typed_storage import TypedStorage

_LENGTH: Final = struct.Struct("<q")
_numbers: Final = count(1)
_weak: "Final[dict[int, weakref.ref[UntypedStorage]]]" = {}


def _handle(name: str, handle: Any) -> int:
    if not is_count(handle):
        raise LayoutError("argument", f"{name} takes an int, got {type(handle).__name__}")
    if not -(2**63) <= handle < 2**63:
        raise LayoutValueError("overflow", f"{name}: {handle} does not fit 64 bits")
    return int(handle)


def _as_bytes_count(size: Any) -> int:
    found = as_length(size, "a length")
    if not -(2**63) <= found < 2**63:
        raise LayoutOverflowError("overflow", f"the length {found} does not fit 64 bits")
    return found


def _no_cuda(*args: Any, **kwargs: Any) -> NoReturn:
    """Nothing: there is no CUDA. Raises: device (RuntimeError)."""
    raise LayoutError("device", "there is no CUDA to share memory with")


class StorageInternals:
    """What `UntypedStorage` has under names of its own modules. Source: torch 2.13, `StorageMethods.cpp`."""

    __slots__ = ()

    _checkpoint_offset: Any = None
    _fake_device: Any = None

    # ------------------------------------------------------------------------------------------ weak references

    def _weak_ref(self) -> int:
        """A number for the storage that does not keep it alive."""
        number = next(_numbers)
        _weak[number] = weakref.ref(self)  # type: ignore[arg-type]
        return number

    @staticmethod
    def _new_with_weak_ptr(handle: Any, /) -> "UntypedStorage | None":
        """The storage of such a number; None once it is gone. Raises: argument (RuntimeError)."""
        found = _weak.get(_handle("_new_with_weak_ptr", handle))
        return None if found is None else found()

    @staticmethod
    def _expired(handle: Any, /) -> bool:
        """Whether the storage of such a number is gone. Raises: argument (RuntimeError)."""
        return StorageInternals._new_with_weak_ptr(_handle("_expired", handle)) is None

    @staticmethod
    def _free_weak_ref(handle: Any, /) -> None:
        """Forget such a number. Raises: argument (RuntimeError)."""
        _weak.pop(_handle("_free_weak_ref", handle), None)

    def _fix_weakref(self) -> None:
        """Nothing: our weak references need no mending."""

    # -------------------------------------------------------------------------------------------- shared memory

    def _shared_incref(self) -> None:
        """Nothing: the kernel counts who maps the memory."""

    def _shared_decref(self) -> "StorageInternals":
        """Itself: the kernel counts who maps the memory."""
        return self

    @classmethod
    def _new_shared(cls, size: Any, *, device: Any = "cpu") -> "UntypedStorage":
        """Zeroed bytes in shared memory, which cannot be resized; on meta a plain storage.

        Raises: argument (TypeError), size, device. Source: facts 7.8.5, torch 2.13.
        """
        from .storage import UntypedStorage

        if is_meta(device):
            return UntypedStorage(size, device=device)
        size = _as_bytes_count(size)
        if size < 0:
            # Of which PyTorch tells nothing but that an error was.
            raise fatal(LayoutError("size", f"_new_shared: the length {size} is a negative number"))
        made = UntypedStorage._allocate(size)
        made._bytes[...] = 0
        made.share_memory_()
        made._resizable = False
        return made

    @classmethod
    def _new_using_fd_cpu(cls, size: Any, /) -> "UntypedStorage":
        """`_new_shared`, whose memory is known by a descriptor."""
        return cls._new_shared(size)

    @classmethod
    def _new_using_filename_cpu(cls, size: Any, /) -> "UntypedStorage":
        """`_new_shared`: its name is that of a descriptor, so that nothing is left behind."""
        return cls._new_shared(size)

    def _share_fd_cpu_(self) -> tuple[int, int]:
        """Move the bytes to shared memory; its descriptor, which stays the storage's, and its length in bytes.

        Raises: device (RuntimeError) for a meta storage, file (RuntimeError) for a mapped file's. Source: facts 7.8.5.
        """
        self.share_memory_()  # type: ignore[attr-defined]
        return self._get_shared_fd(), len(self._bytes)  # type: ignore[attr-defined]

    def _get_shared_fd(self) -> int:
        """The descriptor of shared memory. Raises: file (RuntimeError) where there is none."""
        backing = self._backing  # type: ignore[attr-defined]
        if backing is None or backing.descriptor is None:
            raise LayoutError("file", "the storage has no descriptor of shared memory")
        descriptor: int = backing.descriptor
        return descriptor

    @classmethod
    def _new_shared_fd_cpu(cls, *args: Any) -> "UntypedStorage":
        """Another storage over the memory of a descriptor, which stays its owner's. Units: bytes.

        Raises: argument (RuntimeError; TypeError), file (RuntimeError). Source: facts 7.8.5, torch 2.13.
        """
        if len(args) != 2:
            raise LayoutError("argument", f"_new_shared_fd_cpu takes 2 arguments, got {len(args)}")
        if not all(type(x) is int for x in args):
            raise LayoutTypeError("argument", "_new_shared_fd_cpu takes a descriptor and a length")
        try:
            descriptor = os.dup(args[0])
        except OSError as e:
            raise LayoutError("file", f"_new_shared_fd_cpu: {e}") from None
        return _over(descriptor, args[1])

    def _share_filename_cpu_(self) -> tuple[bytes, bytes, int]:
        """Move the bytes to shared memory; nobody who manages it, a name while this process lives, and its length.

        Raises: as `_share_fd_cpu_`. Source: facts 7.8.5, torch 2.13.
        """
        descriptor, nbytes = self._share_fd_cpu_()
        return b"", f"/proc/{os.getpid()}/fd/{descriptor}".encode(), nbytes

    @classmethod
    def _new_shared_filename_cpu(cls, *args: Any) -> "UntypedStorage":
        """Another storage over the memory of a name. Raises: as `_new_shared_fd_cpu`."""
        if len(args) != 3:
            raise LayoutError("argument", f"_new_shared_filename_cpu takes 3 arguments, got {len(args)}")
        if not (isinstance(args[0], bytes) and isinstance(args[1], bytes) and type(args[2]) is int):
            raise LayoutTypeError("argument", "_new_shared_filename_cpu takes two names as bytes and a length")
        try:
            descriptor = os.open(args[1], os.O_RDWR | os.O_CLOEXEC)
        except (OSError, ValueError) as e:
            raise LayoutError("file", f"_new_shared_filename_cpu: {e}") from None
        return _over(descriptor, args[2])

    def _get_filename(self) -> str | None:
        """The file mapped with `shared=True`; None otherwise."""
        return self.filename  # type: ignore[attr-defined, no-any-return]

    _share_cuda_ = _no_cuda
    _new_shared_cuda = staticmethod(_no_cuda)
    _release_ipc_counter = staticmethod(_no_cuda)
    _release_ipc_counter_cuda = staticmethod(_no_cuda)

    # ---------------------------------------------------------------------------------------------------- bytes

    def _to(self, dtype: Any) -> "TypedStorage":
        """Each element converted to a dtype, in new memory."""
        return self._move_to(dtype)  # type: ignore[attr-defined, no-any-return]

    def _byteswap(self, *args: Any) -> None:
        """Reverse the bytes of each element of 1, 2, 4 or 8 bytes in place. Raises: argument, size (RuntimeError)."""
        if len(args) != 1:
            raise LayoutError("argument", f"_byteswap takes 1 argument, got {len(args)}")
        width = _handle("_byteswap", args[0])
        if width not in (1, 2, 4, 8):
            raise LayoutError("argument", f"_byteswap: elements have 1, 2, 4 or 8 bytes, not {width}")
        self._swap(width)  # type: ignore[attr-defined]

    def _write_file(self, f: Any, is_real_file: Any, save_size: Any, element_size: Any, /) -> None:
        """Write the bytes to a file, after their number of elements where `save_size` says so.

        Raises: file (RuntimeError) for what is no file, device (NotImplementedError) for a meta storage.
        Source: facts 7.9.14, torch 2.13.
        """
        if self._is_meta:  # type: ignore[attr-defined]
            raise no_data("_write_file")
        data = self._bytes.tobytes()  # type: ignore[attr-defined]
        head = _LENGTH.pack(len(data) // element_size) if save_size else b""
        if not is_real_file:
            f.write(head + data)
            return
        descriptor, rest = _descriptor("_write_file", f), memoryview(head + data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    @classmethod
    def _new_with_file(cls, f: Any, element_size: Any, /) -> "UntypedStorage":
        """A storage of what `_write_file` wrote with its length, from where the file stands.

        Raises: file (RuntimeError) for what is no file or ends too soon, size. Source: facts 7.9.14, torch 2.13.
        """
        from .storage import UntypedStorage

        made = UntypedStorage(_read_count(f, True) * element_size)
        return _filled(made, f, True)

    def _set_from_file(self, f: Any, offset: Any, is_real_file: Any, element_size: Any, /) -> "UntypedStorage":
        """Take over the bytes that `_write_file` wrote with their length, at an offset or where the file stands.

        Raises: file (RuntimeError) for what is no file or ends too soon, size (RuntimeError) for another length.
        Source: facts 7.9.14, torch 2.13.
        """
        if is_real_file:
            descriptor = _descriptor("_set_from_file", f)
            if offset is not None:
                os.lseek(descriptor, offset, os.SEEK_SET)
        nbytes = _read_count(f, is_real_file) * element_size
        if nbytes != len(self._bytes):  # type: ignore[attr-defined]
            raise LayoutError("size", f"_set_from_file: {nbytes} bytes for {len(self._bytes)}")  # type: ignore[attr-defined]
        return _filled(self, f, is_real_file)


def _over(descriptor: int, nbytes: int) -> "UntypedStorage":
    """A storage of its own over the memory of a descriptor, which is taken over. Raises: file (RuntimeError)."""
    from .backing import Backing, map_descriptor
    from .storage import UntypedStorage

    backing = Backing(nbytes, shared=True, descriptor=descriptor)
    if not 0 <= nbytes <= os.fstat(descriptor).st_size:
        raise LayoutError("file", f"shared memory of {os.fstat(descriptor).st_size} bytes, not {nbytes}")
    return UntypedStorage._wrap(map_descriptor(descriptor, nbytes, shared=True), backing)


def _descriptor(name: str, f: Any) -> int:
    try:
        descriptor: int = f.fileno()
    except (AttributeError, OSError):
        raise LayoutError("file", f"{name}: a {type(f).__name__} has no file descriptor") from None
    return descriptor


def _read(f: Any, is_real_file: Any, nbytes: int) -> bytes:
    found = b""
    while len(found) < nbytes:
        missing = nbytes - len(found)
        part = os.read(_descriptor("reading a storage", f), missing) if is_real_file else f.read(missing)
        if not part:
            raise LayoutError("file", f"unexpected end of a file, {missing} bytes are missing")
        found += part
    return found


def _read_count(f: Any, is_real_file: Any) -> int:
    (found,) = _LENGTH.unpack(_read(f, is_real_file, _LENGTH.size))
    return int(found)


def _filled(storage: Any, f: Any, is_real_file: Any) -> "UntypedStorage":
    storage._bytes[...] = np.frombuffer(_read(f, is_real_file, len(storage._bytes)), np.uint8)
    storage._shadow = None
    return storage  # type: ignore[no-any-return]


class TypedInternals:
    """What `TypedStorage` has under such names: mostly its public methods without the warning, or those of its bytes.

    Source: torch 2.13, `torch/storage.py`.
    """

    __slots__ = ()

    _untyped_storage: "UntypedStorage"
    dtype: Any

    _fake_device = property(lambda self: self._untyped_storage._fake_device)
    _dtype: Any = property(lambda self: self.dtype)
    _release_ipc_counter = _no_cuda
    _share_cuda_ = _no_cuda
    _new_shared_cuda = staticmethod(_no_cuda)

    def _data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def _nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def _element_size(self) -> int:
        from .storage import element_size

        return element_size(self.dtype)

    def _is_shared(self) -> bool:
        return self._untyped_storage.is_shared()

    def _share_memory_(self) -> "TypedInternals":
        self._untyped_storage.share_memory_()
        return self

    def _resize_(self, size: Any) -> None:
        self._untyped_storage.resize_(size * self._element_size())

    def _deepcopy(self, memo: dict[int, Any]) -> Any:
        return self.__deepcopy__(memo)  # type: ignore[attr-defined]

    def _maybe_wrap_index(self, idx: Any, is_stop: bool = False) -> int:
        """An index counted from the beginning, for a slice's end up to one past it. Raises: argument, index."""
        size: int = self._size()  # type: ignore[attr-defined]
        if idx is None:
            return size if is_stop else 0
        if type(idx) is not int:
            raise LayoutTypeError("argument", f"can't index a typed storage with {type(idx).__name__}")
        if is_stop and idx == size:
            return size
        if not -size <= idx < size:
            raise LayoutIndexError("index", f"index {idx} out of range for storage of size {size}")
        return idx % size

    def _get_legacy_storage_class(self) -> Any:
        from .typed_storage import class_of

        return None if self._untyped_storage._is_meta else class_of(self.dtype)

    def _new_wrapped_storage(self, untyped_storage: Any) -> Any:
        """A typed storage of the same dtype over other bytes. Raises: argument (AssertionError)."""
        from .storage import UntypedStorage

        if not isinstance(untyped_storage, UntypedStorage):
            raise LayoutAssertionError("argument", f"expected UntypedStorage, got {type(untyped_storage).__name__}")
        return self._alike(untyped_storage)  # type: ignore[attr-defined]

    def _new_shared(self, size: Any, *, device: Any = None) -> Any:
        """So many elements in shared memory, of the same dtype."""
        made = StorageInternals._new_shared(size * self._element_size(), device=device or "cpu")
        return self._alike(made)  # type: ignore[attr-defined]

    # --------------------------------------------------------------------------------------------- of the bytes

    def _weak_ref(self) -> int:
        return self._untyped_storage._weak_ref()

    @classmethod
    def _expired(cls, handle: Any) -> bool:
        return StorageInternals._expired(handle)

    @classmethod
    def _free_weak_ref(cls, handle: Any) -> None:
        StorageInternals._free_weak_ref(handle)

    def _shared_incref(self) -> None:
        self._untyped_storage._shared_incref()

    def _shared_decref(self) -> "TypedInternals":
        self._untyped_storage._shared_decref()
        return self

    def _share_fd_cpu_(self) -> tuple[int, int]:
        descriptor, nbytes = self._untyped_storage._share_fd_cpu_()
        return descriptor, nbytes // self._element_size()

    def _share_filename_cpu_(self) -> tuple[bytes, bytes, int]:
        manager, name, nbytes = self._untyped_storage._share_filename_cpu_()
        return manager, name, nbytes // self._element_size()

    def _write_file(self, *args: Any) -> None:
        self._untyped_storage._write_file(*args)

    def _set_from_file(self, f: Any, offset: Any, is_real_file: Any, element_size: Any) -> "TypedInternals":
        self._untyped_storage._set_from_file(f, offset, is_real_file, element_size)
        return self

    def _to(self, dtype: Any) -> Any:
        return self._move_to(dtype)  # type: ignore[attr-defined]
