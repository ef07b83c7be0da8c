"""`save` and `load` in a format of our own: a table of contents in JSON, then the storages; nothing in it is executed.

    magic (8 bytes) · length of the table (8) · checksum of the table (4) · table · padding to 64 · storages, 64-aligned

The table holds the saved object with its tensors and storages by number, and for each storage its place, length and
checksum. A file is checked as a whole before the first object is made of it.
"""

import json
import os
import struct
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import dtypes as dt
from .backing import no_data
from .calls import checked
from .core import TensorBase, requires_grad
from .devices import cpu, device
from .dtypes import dtype
from .errors import (
    LayoutAttributeError,
    LayoutDirectoryError,
    LayoutEOFError,
    LayoutError,
    LayoutFileError,
    LayoutPermissionError,
    LayoutTypeError,
    LayoutValueError,
    UnsupportedError,
)
from .grad_mode import is_grad_enabled
from .layout import Layout
from .pickling import UNTYPED, check_written, rebuilt, rebuilt_nowhere
from .size import Size
from .storage import UntypedStorage
from .typed_storage import TypedStorage, typed

if TYPE_CHECKING:
    from .tensors import Tensor

MAGIC: Final = b"\x93STRIDE\x01"
_HEAD: Final = struct.Struct("<8sQI")
_ALIGNMENT: Final = 64
_SCALARS: Final = (bool, int, str, type(None))


class _Writer:
    """Collects what an object is made of: every storage once, every tensor once."""

    def __init__(self) -> None:
        self.storages: list[UntypedStorage] = []
        self.tensors: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._tensor_numbers: dict[int, int] = {}
        self._dtypes: dict[int, dtype] = {}
        self._open: set[int] = set()
        self._kept: list[Any] = []

    def storage(self, storage: UntypedStorage, written_as: dtype) -> int:
        """Number of a storage. Raises: dtype (RuntimeError) where it is known under another dtype."""
        if storage._is_meta:
            raise no_data("save")
        if len(storage):
            # By address: storages that came through NumPy or DLPack may begin at the same byte.
            known = self._dtypes.setdefault(storage.data_ptr(), written_as)
            if known is not written_as:
                raise LayoutError(
                    "dtype",
                    f"save: tensors or storages view the same data as different types, {known} and {written_as} "
                    "(facts 7.9.2)",
                )
        number = self._numbers.get(id(storage))
        if number is None:
            self._numbers[id(storage)] = number = len(self.storages)
            self.storages.append(storage)
        return number

    def encode(self, x: Any) -> Any:
        """An object in JSON. Raises: argument (TypeError) for what is no plain data."""
        if type(x) in _SCALARS:
            return x if type(x) is not int or abs(x) < 1 << 53 else {"int": str(x)}
        if type(x) is float:
            return {"float": x.hex()}
        if type(x) is complex:
            return {"complex": [x.real.hex(), x.imag.hex()]}
        if type(x) in (bytes, bytearray):
            return {type(x).__name__: bytes(x).hex()}
        if isinstance(x, TensorBase):
            return {"tensor": self._tensor(x)}
        if isinstance(x, TypedStorage):
            x.pickle_storage_type()
            return {"typed": [self.storage(x._untyped_storage, x.dtype), x.dtype.name]}
        if isinstance(x, UntypedStorage):
            return {"untyped": self.storage(x, dt.uint8)}
        if isinstance(x, dtype):
            return {"dtype": x.name}
        if isinstance(x, device):
            return {"device": str(x)}
        return self._container(x)

    def _container(self, x: Any) -> Any:
        if id(x) in self._open:
            raise LayoutTypeError("argument", f"save: a {type(x).__name__} that contains itself")
        self._open.add(id(x))
        try:
            if type(x) is dict:
                return {"dict": [[self.encode(k), self.encode(v)] for k, v in x.items()]}
            for name, kind in _SEQUENCES.items():
                if type(x) is kind:
                    return {name: [self.encode(item) for item in x]}
        finally:
            self._open.discard(id(x))
        raise LayoutTypeError("argument", f"save: a {type(x).__name__} is no plain data, and nothing else is written")

    def _tensor(self, t: Any) -> int:
        number = self._tensor_numbers.get(id(t))
        if number is None:
            number = len(self.tensors)
            self._tensor_numbers[id(t)] = number
            self._kept.append(t)
            if t._storage._is_meta:
                self.tensors.append([None, t.dtype.name, *map(list, t._layout[:2]), 0, requires_grad(t), 0, None])
                return number
            check_written(t.dtype)
            extra = getattr(t, "_saved_quantizer", None)
            if 0 not in t._layout.shape and t._layout.required_bytes(t.dtype.itemsize) > len(t._storage) and not extra:
                raise LayoutError("bounds", f"save: {t._layout} addresses past its storage (facts 6.6)")
            storage = self.storage(t._storage, dt.uint8 if t.dtype in UNTYPED else t.dtype)
            entry = [storage, t.dtype.name, *map(list, t._layout[:2]), t._layout.offset, requires_grad(t), t._bits]
            self.tensors.append(entry)
            entry.append(None if extra is None else self.encode(extra()))
        return number


_SEQUENCES: Final[dict[str, Callable[[Any], Any]]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "size": Size,
}  # fmt: skip


def _padding(length: int) -> bytes:
    return b"\0" * (-length % _ALIGNMENT)


@checked
def save(obj: Any, f: Any, **ignored: Any) -> None:
    """Write an object with all its tensors; each storage whole and once, so that what shares keeps sharing.

    `f` is a path or something with a `write`. Plain data, dtypes, shapes, devices, storages and tensors are written.

    Raises: argument (TypeError) for anything else; dtype (RuntimeError) for one storage under two dtypes, (KeyError)
    for dtypes that cannot be written; file (RuntimeError); argument (AttributeError) for `f`.
    Source: facts 7.9, torch 2.13; the format is ours.

    >>> import io
    >>> from stridecheck.reference_impl import arange
    >>> f = io.BytesIO()
    >>> save([arange(3.0), (1, "two")], f)
    >>> f.seek(0)
    0
    >>> load(f)
    [tensor([0.0, 1.0, 2.0]), (1, 'two')]
    """
    writer = _Writer()
    table: dict[str, Any] = {"object": writer.encode(obj)}
    blobs: list[Any] = []
    place = 0

    def add(data: Any) -> list[int]:
        nonlocal place
        start, nbytes = place, len(data)
        blobs.append(data)
        place += nbytes + len(_padding(nbytes))
        return [start, nbytes, zlib.crc32(data)]

    table["storages"] = [
        {
            "nbytes": len(s),
            "data": add(np.ascontiguousarray(s._bytes)),
            "marks": None if s._shadow is None else add(np.ascontiguousarray(s._shadow)),
        }
        for s in writer.storages
    ]
    table["tensors"] = writer.tensors
    table["length"] = place
    text = json.dumps(table, separators=(",", ":")).encode()
    head = _HEAD.pack(MAGIC, len(text), zlib.crc32(text)) + text
    with _opened(f, "wb") as file:
        file.write(head + _padding(len(head)))
        for data in blobs:
            file.write(data.tobytes() + _padding(len(data)))


class _Borrowed:
    """A file that its owner closes."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, *exc: object) -> None:
        pass


def _opened(f: Any, mode: str) -> Any:
    wanted = "write" if mode == "wb" else "seek"
    if not isinstance(f, (str, os.PathLike)):
        if not hasattr(f, wanted):
            raise LayoutAttributeError("argument", f"{type(f).__name__} is neither a path nor a file with {wanted!r}")
        return _Borrowed(f)
    if mode == "wb" and not os.path.isdir(os.path.dirname(os.path.abspath(f))):
        raise LayoutError("file", f"save: the folder of {f} does not exist")
    try:
        return open(f, mode)
    except FileNotFoundError as e:
        raise LayoutFileError("file", str(e)) from None
    except IsADirectoryError as e:
        raise (LayoutError if mode == "wb" else LayoutDirectoryError)("file", str(e)) from None
    except PermissionError as e:
        raise (LayoutError if mode == "wb" else LayoutPermissionError)("file", str(e)) from None


def _damaged(why: str) -> LayoutError:
    return LayoutError("file", f"load: this is no file that save has written, or it is damaged: {why}")


@checked
def load(
    f: Any, map_location: Any = None, *, weights_only: bool | None = None, mmap: bool | None = None, **ignored: Any
) -> Any:
    """Read back what `save` has written: the same layouts, the same sharing, storages of the same length.

    Loaded storages cannot be resized. With `mmap` the file is mapped instead of read; what is written stays private.

    Raises: file (EOFError: nothing there; FileNotFoundError; IsADirectoryError; RuntimeError: damaged), argument,
    device (RuntimeError) for a `map_location` that is not there.
    Source: facts 7.9, torch 2.13; the format is ours.
    """
    nowhere = _on_meta(map_location)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise LayoutValueError("argument", "load: mmap needs the path of a file (facts 7.9.6)")
    with _opened(f, "rb") as file:
        content: Any
        if mmap:
            content = np.memmap(f, np.uint8, "c") if os.path.getsize(f) else np.empty(0, np.uint8)
        else:
            content = np.frombuffer(bytearray(file.read()), np.uint8)
    if not len(content):
        raise LayoutEOFError("file", "load: the file is empty")
    table, start = _table(content)
    try:
        return _Reader(table, content[start:], nowhere, verify=not mmap).decode(table["object"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as e:
        if hasattr(e, "kind"):
            raise
        raise _damaged(f"{type(e).__name__}: {e}") from None


def _on_meta(map_location: Any) -> bool:
    if map_location is None or map_location == cpu:
        return False
    if not isinstance(map_location, (str, device)):
        raise LayoutTypeError("argument", f"load: map_location is a device, got {type(map_location).__name__}")
    where = device(map_location).type
    if where not in ("cpu", "meta"):
        raise LayoutError("device", f"load: there is no {where} to load to (facts 7.9.7)")
    return where == "meta"


def _table(content: Any) -> tuple[Any, int]:
    if len(content) < _HEAD.size:
        raise _damaged(f"only {len(content)} bytes")
    magic, length, checksum = _HEAD.unpack(content[: _HEAD.size].tobytes())
    if magic != MAGIC:
        raise _damaged(f"it begins with {magic!r}")
    end = _HEAD.size + length
    text = content[_HEAD.size : end].tobytes()
    if len(text) != length or zlib.crc32(text) != checksum:
        raise _damaged("the table of contents is cut off or changed")
    table = json.loads(text)
    start = end + len(_padding(end))
    if len(content) - start != table["length"]:
        raise _damaged(f"{len(content) - start} bytes of storages, not {table['length']}")
    return table, start


class _Reader:
    """Makes the objects of a checked table; its constructor checks all storages."""

    def __init__(self, table: Any, data: Any, nowhere: bool, verify: bool) -> None:
        self._data = data
        self._verify = verify
        self._nowhere = nowhere
        self._parts = [(s["nbytes"], self._part(s["data"]), self._part(s["marks"])) for s in table["storages"]]
        self._storages: dict[int, UntypedStorage] = {}
        self._typed: dict[int, TypedStorage] = {}
        self._entries = table["tensors"]
        self._tensors: list[Any] = [None] * len(self._entries)

    def _part(self, place: Any) -> Any:
        if place is None:
            return None
        start, nbytes, checksum = place
        part = self._data[start : start + nbytes]
        if start < 0 or len(part) != nbytes or (self._verify and zlib.crc32(part) != checksum):
            raise _damaged("a storage is cut off or changed")
        return part

    def _storage(self, number: int) -> UntypedStorage:
        """A storage by number: the same one each time, unless it has no address, which PyTorch knows it by."""
        done = self._storages.get(number)
        if done is not None:
            return done
        nbytes, data, marks = self._parts[number]
        if self._nowhere:
            return UntypedStorage._nowhere(nbytes)
        storage = UntypedStorage._wrap(np.asarray(data) if nbytes else np.empty(0, np.uint8))
        storage._shadow = None if marks is None else np.array(marks)
        if nbytes:
            self._storages[number] = storage
        return storage

    def _tensor(self, number: int) -> "Tensor":
        done: Tensor | None = self._tensors[number]
        if done is not None:
            return done
        storage, name, shape, strides, offset, leaf_grad, bits, extra = self._entries[number]
        d = dt.ALL[name]
        layout = Layout(tuple(shape), tuple(strides), offset)
        if len(shape) != len(strides) or any(n < 0 for n in (*shape, *strides, offset)):
            raise _damaged(f"a tensor of {layout}")
        if storage is None:
            self._tensors[number] = done = rebuilt_nowhere(*layout[:2], d, bool(leaf_grad))
            return done
        over = self._storage(storage)
        if d not in UNTYPED and len(over) % d.itemsize:
            # PyTorch saves the storage whole, and expects whole elements; without bytes it makes as many as those are.
            if not self._nowhere:
                raise LayoutError("size", f"load: a storage of {len(over)} bytes holds no whole elements of {d}")
            over = UntypedStorage._nowhere(len(over) // d.itemsize * d.itemsize)
        if extra is None and 0 not in shape and layout.required_bytes(d.itemsize) > len(over):
            raise _damaged(f"a tensor of {layout} over {len(over)} bytes")
        if d in UNTYPED and leaf_grad and is_grad_enabled():
            # PyTorch makes such a tensor as a leaf that requires grad, and then sets its storage.
            raise LayoutError("grad", f"load: a tensor of {d} that requires grad (facts 7.9.12)")
        t = rebuilt(over, layout, d, bool(leaf_grad), int(bits))
        if extra is not None:
            if self._nowhere:
                raise UnsupportedError("device", f"load: there are no codes of {d} on meta (facts 7.9.11)")
            from .quantized import restored

            t = restored(t, self.decode(extra))
        self._tensors[number] = t
        return t

    def decode(self, x: Any) -> Any:
        """The object that a piece of the table stands for."""
        if not isinstance(x, dict):
            return x
        ((kind, inner),) = x.items()
        if kind == "tensor":
            return self._tensor(inner)
        if kind in ("untyped", "typed"):
            # PyTorch reads untyped storages back as bytes with a dtype, and each storage as one object.
            number, name = (inner, "uint8") if kind == "untyped" else inner
            known = self._typed.get(number)
            if known is None:
                known = typed(self._storage(number), dt.ALL[name])
                if known._untyped_storage is self._storages.get(number):
                    self._typed[number] = known
            return known
        if kind == "dict":
            return {self.decode(k): self.decode(v) for k, v in inner}
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.decode(item) for item in inner])
        return _PLAIN[kind](inner)


_PLAIN: Final[dict[str, Callable[[Any], Any]]] = {
    "int": int,
    "float": float.fromhex,
    "complex": lambda parts: complex(*map(float.fromhex, parts)),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "dtype": lambda name: dt.ALL[name],
    "device": device,
}
