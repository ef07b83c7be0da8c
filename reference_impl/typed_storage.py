"""Typed storages: an untyped storage seen as elements of one dtype, deprecated, and the classes named after dtypes."""

from collections.abc import Iterator, Sequence
from operator import index
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from .backing import NoBytes, no_data
from .calls import checked, with_checked_calls
from .copies import to_copy
from .core import build
from .devices import device, is_meta
from .dtypes import dtype
from .errors import (
    LayoutAssertionError,
    LayoutAttributeError,
    LayoutError,
    LayoutIndexError,
    LayoutKeyError,
    LayoutTypeError,
    LayoutValueError,
    UnsupportedError,
)
from .from_values import tensor
from .layout import Layout
from .notices import TYPED, warn_once
from .promotion import get_default_dtype
from .quantizers import CODES
from .storage import UntypedStorage, element_size
from .storage_internals import TypedInternals
from .storage_methods import StorageMethods

# Dtypes that have a class of their own; the others are named by none (facts 7.4.11).
LEGACY: Final[dict[str, dtype]] = {
    "DoubleStorage": dt.float64, "FloatStorage": dt.float32, "HalfStorage": dt.float16, "LongStorage": dt.int64,
    "IntStorage": dt.int32, "ShortStorage": dt.int16, "CharStorage": dt.int8, "ByteStorage": dt.uint8,
    "BoolStorage": dt.bool_, "BFloat16Storage": dt.bfloat16, "ComplexDoubleStorage": dt.complex128,
    "ComplexFloatStorage": dt.complex64, "QInt8Storage": dt.qint8, "QInt32Storage": dt.qint32,
    "QUInt8Storage": dt.quint8, "QUInt4x2Storage": dt.quint4x2, "QUInt2x4Storage": dt.quint2x4,
}  # fmt: skip
LEGACY_NAMES: Final = {d: name for name, d in LEGACY.items()}


def warn_deprecated() -> None:
    """Say once in a process that typed storages are deprecated. Source: facts 7.4.1, torch 2.13."""
    warn_once(TYPED)


def elements(storage: UntypedStorage, d: dtype) -> Any:
    """A flat tensor over as many whole elements as a storage holds."""
    return build(storage, Layout((len(storage) // d.itemsize,), (1,), 0), d)


def converted(storage: UntypedStorage, wanted: dtype, source: dtype) -> "TypedStorage":
    """A storage's elements converted to another dtype, always in new memory.

    Raises: dtype (NotImplementedError) for dtypes without a conversion. Source: facts 7.4.6, torch 2.13.
    """
    if source in dt.QUANTIZED:
        raise UnsupportedError("dtype", f"a storage of {source} cannot be converted (facts 10.1.8)")
    if wanted is source:
        return typed(storage.clone(), wanted)
    if storage._is_meta:
        return typed(UntypedStorage._nowhere(len(storage) // source.itemsize * wanted.itemsize), wanted)

    return typed(to_copy(elements(storage, source), wanted)._storage, wanted)


def typed(storage: UntypedStorage, d: dtype) -> "TypedStorage":
    """A storage as elements of a dtype, without the warning."""
    self = object.__new__(TypedStorage)
    self._untyped_storage = storage
    self.dtype = d
    return self


@checked
def is_storage(obj: Any, /) -> bool:
    """Whether an object is a storage, typed or not."""
    return isinstance(obj, StorageMethods)


def _wrong(why: str) -> LayoutError:
    return LayoutError("argument", f"a typed storage received an invalid combination of arguments: {why} (facts 7.4.2)")


def _wrong_type(why: str) -> LayoutTypeError:
    return LayoutTypeError("argument", f"a typed storage received an invalid combination of arguments: {why}")


def _is_count(x: Any) -> bool:
    return isinstance(x, (int, np.integer))


@with_checked_calls
class TypedStorage(TypedInternals, StorageMethods):
    """An untyped storage seen as elements of one dtype; deprecated, and says so once.

    Units: lengths and indices in elements, `nbytes` in bytes. Bytes that fill no element are out of reach.
    Raises: argument (RuntimeError; TypeError for a wrong type).
    Source: facts 7.4, torch 2.13.

    >>> typed(UntypedStorage([1, 2, 3, 4, 5]), dt.int16).dtype
    torch.int16
    """

    __slots__ = ("__dict__", "__weakref__", "_untyped_storage", "dtype")

    _untyped_storage: UntypedStorage
    dtype: Any

    is_sparse = False

    def __init__(
        self, *args: Any, device: Any = None, dtype: Any = None, wrap_storage: Any = None, _internal: bool = False
    ) -> None:
        if not _internal:
            warn_deprecated()
        if wrap_storage is not None:
            if args:
                raise _wrong("wrap_storage goes without positional arguments")
            if dtype is None:
                raise _wrong("wrap_storage needs a dtype")
            if not isinstance(dtype, _dtype):
                raise _wrong_type(f"dtype must be a dtype, not {type(dtype).__name__}")
            if device is not None:
                raise _wrong("wrap_storage goes without a device")
            if not isinstance(wrap_storage, UntypedStorage):
                raise _wrong_type(f"wrap_storage must be an UntypedStorage, got {type(wrap_storage).__name__}")
            self.dtype = dtype
            self._untyped_storage = wrap_storage
            return
        self.dtype = get_default_dtype() if dtype is None else dtype
        if self.dtype in dt.QUANTIZED and device is not None and _device(device).type == "cuda":
            raise LayoutError("device", "a storage of a quantised dtype on CUDA")
        if len(args) > 1:
            raise _wrong("too many positional arguments")
        if not args:
            self._untyped_storage = UntypedStorage(device=device)
        elif _is_count(args[0]):
            if not isinstance(self.dtype, _dtype):
                raise LayoutError("argument", f"expected a dtype, got {type(dtype).__name__}")
            self._untyped_storage = UntypedStorage(index(args[0]) * element_size(self.dtype), device=device)
        elif isinstance(args[0], Sequence):
            self._untyped_storage = _from_sequence(args[0], self.dtype, device)
        else:
            raise _wrong_type(f"{type(args[0]).__name__} is neither a length nor a sequence")

    def _plain(self) -> UntypedStorage:
        warn_deprecated()
        return self._untyped_storage

    def _alike(self, storage: UntypedStorage) -> "TypedStorage":
        return typed(storage, self.dtype)

    def _refuse_quantized(self, kind: str) -> None:
        if self.dtype in dt.QUANTIZED:
            raise LayoutError("device", f"a storage of {self.dtype} cannot be made on {kind} (facts 7.4)")

    def _move_to(self, wanted: Any) -> "TypedStorage":
        return converted(self._plain(), wanted, self.dtype)

    def _type_name(self) -> str:
        name = LEGACY_NAMES.get(self.dtype)
        return "torch.storage.TypedStorage" if name is None or self._untyped_storage._is_meta else "torch." + name

    # ------------------------------------------------------------------------------------------------- metadata

    def _size(self) -> int:
        return len(self._untyped_storage) // element_size(self.dtype)

    def size(self) -> int:
        """Number of whole elements."""
        warn_deprecated()
        return self._size()

    __len__ = size

    def nbytes(self) -> int:
        """Length in bytes."""
        return self._plain().nbytes()

    def element_size(self) -> int:
        """Bytes of one element."""
        warn_deprecated()
        return element_size(self.dtype)

    def data_ptr(self) -> int:
        """Address of the first byte; 0 where there is none."""
        return self._plain().data_ptr()

    @property
    def device(self) -> device:
        """Where the memory lies."""
        return self._plain().device

    @property
    def filename(self) -> str | None:
        """The file mapped with `shared=True`; None otherwise."""
        return self._untyped_storage.filename

    def untyped(self) -> UntypedStorage:
        """The untyped storage below."""
        return self._plain()

    def pickle_storage_type(self) -> str:
        """Name of the dtype's class. Raises: dtype (KeyError) where it has none. Source: facts 7.4.11, torch 2.13."""
        warn_deprecated()
        return self._pickle_storage_type()

    def _pickle_storage_type(self) -> str:
        name = LEGACY_NAMES.get(self.dtype)
        if name is None:
            raise LayoutKeyError("dtype", f"dtype {self.dtype} is not recognized (facts 7.4.11)")
        return name

    def __repr__(self) -> str:
        warn_deprecated()
        end = f"\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self._size()}]"
        return "..." + end if self._untyped_storage._is_meta else " " + "\n ".join(str(x) for x in self) + end

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._plain().nbytes()

    # --------------------------------------------------------------------------------------------------- values

    def __getitem__(self, i: Any) -> Any:
        warn_deprecated()
        return self._getitem(i)

    def _getitem(self, i: Any) -> Any:
        if self._untyped_storage._is_meta:
            raise no_data("storage[...]")
        if isinstance(i, slice):
            raise LayoutError("argument", "slices are only supported by untyped storages (facts 7.4.5)")
        if not isinstance(i, int):
            raise LayoutError("argument", f"can't index a typed storage with {type(i).__name__} (facts 7.4.5)")
        if type(i) is not int:
            raise LayoutTypeError("argument", f"can't index a typed storage with {type(i).__name__} (facts 7.4.5)")
        size = self._size()
        if not -size <= i < size:
            raise LayoutIndexError("index", f"index {i} out of range for storage of size {size} (facts 7.4.5)")
        return elements(self._untyped_storage, CODES.get(self.dtype, self.dtype))[i % size].item()

    def __setitem__(self, i: Any, value: Any) -> None:
        warn_deprecated()
        self._setitem(i, value)

    def _setitem(self, i: Any, value: Any) -> None:
        if not isinstance(i, (int, slice)):
            raise LayoutError("argument", f"can't index a typed storage with {type(i).__name__} (facts 7.4.5)")
        if isinstance(value, StorageMethods):
            raise LayoutError("argument", f"can't set an item to a {type(value).__name__} (facts 7.4.5)")
        if self._untyped_storage._is_meta:
            self._set_nowhere(i, value)
            return
        elements(self._untyped_storage, CODES.get(self.dtype, self.dtype))[i] = value

    def _set_nowhere(self, i: Any, value: Any) -> None:
        # Looked at as any assignment, though there is nothing to write to.
        size = self._size()
        if not isinstance(value, (int, float, complex, np.integer)) and not hasattr(value, "_layout"):
            raise LayoutTypeError("argument", f"can't assign a {type(value).__name__} to {self.dtype}")
        if isinstance(i, slice):
            if i.step is not None and i.step < 1:
                raise LayoutValueError("step", f"step must be greater than zero, got {i.step}")
        elif type(i) is not bool and not -size <= i < size:
            raise LayoutIndexError("index", f"index {i} is out of bounds for dimension 0 with size {size}")

    def __iter__(self) -> Iterator[Any]:
        warn_deprecated()
        return iter([self[i] for i in range(self._size())])

    def tolist(self) -> list[Any]:
        """The elements as Python numbers. Raises: device (NotImplementedError) for a meta storage."""
        return list(self)

    def fill_(self, value: Any) -> "TypedStorage":
        """Set every element, converted to the dtype. Raises: as an assignment to a tensor's elements."""
        warn_deprecated()
        self._setitem(slice(0, self._size()), value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> "TypedStorage":
        """Copy the raw bytes of a storage of the same length, whatever its dtype.

        Raises: argument (TypeError), size (RuntimeError). Source: facts 7.4.8, torch 2.13.
        """
        self._plain().copy_(source, non_blocking)
        return self

    def clone(self) -> "TypedStorage":
        """New memory with the same bytes."""
        return typed(self._plain().clone(), self.dtype)

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> "TypedStorage":
        import copy

        return typed(copy.deepcopy(self._plain(), memo), self.dtype)

    def __reduce__(self) -> Any:
        from .pickling import reduce_typed

        return reduce_typed(self)

    # --------------------------------------------------------------------------------------------------- memory

    def resizable(self) -> bool:
        """Whether the storage can change its length."""
        return self._plain().resizable()

    def resize_(self, size: Any) -> None:
        """Change the length, in elements; nothing is returned. Raises: as the untyped storage's `resize_`."""
        self._plain().resize_(size * element_size(self.dtype))

    def is_shared(self) -> bool:
        """Whether the memory is mapped, from a file or for other processes."""
        return self._plain().is_shared()

    def share_memory_(self) -> "TypedStorage":
        """Move the bytes to memory that other processes can map. Raises: device."""
        self._plain().share_memory_()
        return self

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> "TypedStorage":
        """A storage with a copy of a buffer's elements; see `from_buffer.from_buffer`.

        Raises: device (RuntimeError), argument (RuntimeError) where a class named after a dtype is given one.
        Source: facts 7.5.4, torch 2.13.
        """
        warn_deprecated()
        return cls._from_buffer(*args, dtype=dtype, device=device, **kwargs)

    @classmethod
    def _from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> "TypedStorage":
        dtype = get_default_dtype() if dtype is None else dtype
        if device is not None and _device(device).type != "cpu":
            raise LayoutError("device", f"TypedStorage.from_buffer: not available for device {device}")
        return typed(_decode(*args, dtype=dtype, **kwargs), dtype)

    @classmethod
    def from_file(cls, filename: Any, shared: Any, size: Any) -> "TypedStorage":
        """Nothing: only the classes named after dtypes map files. Raises: argument (RuntimeError)."""
        warn_deprecated()
        raise LayoutError("argument", "from_file can only be called on classes named after a dtype (facts 7.6)")


_dtype = dtype
_device = device
_decode: Any = UntypedStorage.from_buffer


def _from_sequence(data: Any, d: Any, where: Any) -> UntypedStorage:
    if not isinstance(d, _dtype):
        raise LayoutTypeError("argument", f"expected a dtype, got {type(d).__name__}")
    if isinstance(data, (str, bytes)):
        raise LayoutTypeError("argument", f"a typed storage of a {type(data).__name__} (facts 7.4.2)")
    storage: UntypedStorage = tensor(data, dtype=CODES.get(d, d)).untyped_storage()
    if is_meta(where):
        storage._bytes = NoBytes(len(storage))
        storage._shadow = None
    return storage


class _LegacyMeta(type):
    """Classes whose instances are the typed storages of one dtype on one device."""

    _dtype: Any
    _device_type: str

    @property
    def dtype(cls) -> Any:
        """The dtype of all instances."""
        warn_deprecated()
        return cls._dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            type(instance) is TypedStorage
            and instance.dtype is cls._dtype
            and instance._untyped_storage.device.type == cls._device_type
        )


@with_checked_calls
class LegacyStorage(TypedStorage, metaclass=_LegacyMeta):
    """The classes named after dtypes: calling one gives a `TypedStorage` of its dtype.

    Raises: argument (RuntimeError; TypeError for a wrong type), device.
    Source: facts 7.4.3, torch 2.13.
    """

    __slots__ = ()
    _device_type = "cpu"

    def __new__(
        cls, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> Any:
        """A typed storage of the class's dtype."""
        if not _internal:
            warn_deprecated()
        d = cls.__dict__.get("_dtype")
        if d is None:
            raise LayoutError("argument", "only the classes named after a dtype can be called")
        if device is not None or dtype is not None:
            raise _wrong("a class named after a dtype takes neither device nor dtype")
        if wrap_storage is None:
            if len(args) > 1:
                raise _wrong("too many positional arguments")
            if args and not _is_count(args[0]) and not isinstance(args[0], Sequence):
                raise _wrong_type(f"{type(args[0]).__name__} is neither a length nor a sequence")
            if args and not _is_count(args[0]):
                # The elements are looked at before the device.
                _from_sequence(args[0], d, None)
            if cls._device_type != "cpu":
                raise LayoutAssertionError("device", f"a storage on {cls._device_type}: there is no such device")
            return TypedStorage(*args, dtype=d, _internal=True)
        if args:
            raise _wrong("wrap_storage goes without positional arguments")
        if not isinstance(wrap_storage, UntypedStorage):
            raise _wrong_type(f"wrap_storage must be an UntypedStorage, got {type(wrap_storage).__name__}")
        if wrap_storage.device.type != cls._device_type:
            raise _wrong(f"wrap_storage must lie on {cls._device_type}, not on {wrap_storage.device}")
        return typed(wrap_storage, d)

    @classmethod
    def _new_shared(cls, size: Any) -> Any:  # type: ignore[override]
        """So many zeros in shared memory. Units: elements. Raises: as `UntypedStorage._new_shared`."""
        d = cls().dtype  # which is refused where the device is not there
        return typed(UntypedStorage._new_shared(size * element_size(d)), d)

    @classmethod
    def _from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> TypedStorage:
        if cls._device_type != "cpu":
            raise LayoutError("device", f"from_buffer: not available for {cls._device_type} storages")
        if dtype is not None or len(args) == 5 or device is not None:
            raise LayoutError("argument", "from_buffer: the class has its dtype and device (facts 7.5.4)")
        return typed(_decode(*args, dtype=cls.__dict__["_dtype"], **kwargs), cls.__dict__["_dtype"])

    @classmethod
    def from_file(cls, filename: Any, shared: Any, size: Any) -> TypedStorage:
        """A storage over a file's first elements; see `mapped_file.map_file`. Units: `size` in elements."""
        warn_deprecated()
        d = cls.__dict__["_dtype"]
        storage: TypedStorage = cls(wrap_storage=UntypedStorage.from_file(filename, shared, size * element_size(d)))
        return storage


def _legacy(name: str, d: dtype, module: str) -> Any:
    """The class of a dtype on a device."""
    kind = "cuda" if module.endswith("cuda") else "cpu"
    return _LegacyMeta(
        name,
        (LegacyStorage,),
        {
            "__slots__": (),
            "__module__": module,
            "__doc__": f"Storages of {d} on {kind}.",
            "_dtype": d,
            "_device_type": kind,
        },
    )


_CLASSES = {name: _legacy(name, d, "torch") for name, d in LEGACY.items()}


def class_of(d: dtype) -> Any:
    """The class that is named after a dtype, or None."""
    name = LEGACY_NAMES.get(d)
    return None if name is None else _CLASSES[name]


class _Cuda(SimpleNamespace):
    """The classes of a device that is not there; the quantised dtypes have none."""

    def __getattr__(self, name: str) -> Any:
        if name.endswith("Tensor"):
            from .tensor_types import CUDA_TYPES

            if name in CUDA_TYPES:
                return CUDA_TYPES[name]
        raise LayoutAttributeError("argument", f"cuda has no {name!r}")

    def is_available(self) -> bool:
        """False: the reference lives on the CPU."""
        return False


cuda = _Cuda(**{name: _legacy(name, d, "torch.cuda") for name, d in LEGACY.items() if d not in dt.QUANTIZED})
globals().update(_CLASSES)


def __getattr__(name: str) -> Any:
    if name == "Storage":
        # The class of the default dtype.
        return _CLASSES[LEGACY_NAMES[get_default_dtype()]]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
