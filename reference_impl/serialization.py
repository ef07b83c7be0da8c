"""`save` and `load` in a format of our own: a table of contents in JSON, then the storages; nothing in it is executed.

    magic (8 bytes) · length of the table (8) · checksum of the table (4) · table · padding to 64 · storages, 64-aligned

The table holds the saved object, all that it is made of by number, so that what was one object is one again, and for
each storage its place, length and checksum. A file is checked as a whole before the first object is made of it; one
that is mapped is read once for that, which costs time but no memory: whatever is loaded is right.
"""

import io
import json
import os
import pickle
import struct
import zlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from math import prod
from typing import Any, Final

import numpy as np

from . import dtypes as dt
from .backing import no_data
from .calls import checked
from .core import TensorBase, requires_grad
from .devices import device
from .dtypes import dtype
from .errors import (
    LayoutAssertionError,
    LayoutAttributeError,
    LayoutDirectoryError,
    LayoutEOFError,
    LayoutError,
    LayoutFileError,
    LayoutPermissionError,
    LayoutTypeError,
    LayoutUnpicklingError,
    LayoutValueError,
    UnsupportedError,
)
from .formats import layout
from .generator import Generator
from .grad_mode import is_grad_enabled
from .layout import Layout
from .nn.parameter import Parameter
from .pickling import UNTYPED, check_written, rebuilt, rebuilt_nowhere
from .plain_objects import (
    CLASSES,
    PLAIN,
    READ_CLASSES,
    SINGLE,
    array_bytes,
    array_of_objects,
    class_named,
    is_named_tuple,
    of_array_bytes,
)
from .quantizers import qscheme
from .safe_globals import add_safe_globals as add_safe_globals
from .safe_globals import check_safe
from .safe_globals import clear_safe_globals as clear_safe_globals
from .safe_globals import get_safe_globals as get_safe_globals
from .safe_globals import safe_globals as safe_globals
from .size import Size
from .storage import UntypedStorage
from .tensors import Tensor
from .typed_storage import TypedStorage, typed

MAGIC: Final = b"\x93STRIDE\x01"
_HEAD: Final = struct.Struct("<8sQI")
_ALIGNMENT: Final = 64
_SCALARS: Final = (bool, int, str, type(None))


class _Writer:
    """Collects what an object is made of: every storage once, every other object once."""

    def __init__(self) -> None:
        self.storages: list[UntypedStorage] = []
        self.objects: list[Any] = []
        self.arrays: list[bytes] = []
        self._numbers: dict[int, int] = {}
        self._dtypes: dict[int, dtype] = {}
        # An object that lives has an identity of its own.
        self._kept: list[Any] = []

    def _number(self, x: Any, known: list[Any]) -> int | None:
        """The number of an object that is known; None of one that is so from now on, as the last in its list."""
        number = self._numbers.get(id(x))
        if number is None:
            self._numbers[id(x)] = len(known)
            self._kept.append(x)
            known.append(x)
        return number

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
        number = self._number(storage, self.storages)
        return len(self.storages) - 1 if number is None else number

    def encode(self, x: Any) -> Any:
        """An object in JSON. Raises: argument (TypeError) for what is no plain data."""
        if type(x) in _SCALARS:
            return x if type(x) is not int or abs(x) < 1 << 53 else {"int": str(x)}
        if type(x) is float:
            return {"float": x.hex()}
        if type(x) is complex:
            return {"complex": [x.real.hex(), x.imag.hex()]}
        if isinstance(x, TypedStorage):
            x.pickle_storage_type()
            return {"typed": [self.storage(x._untyped_storage, x.dtype), x.dtype.name]}
        if isinstance(x, UntypedStorage):
            return {"untyped": self.storage(x, dt.uint8)}
        if isinstance(x, dtype):
            return {"dtype": x.name}
        if isinstance(x, qscheme):
            return {"qscheme": x.name}
        if isinstance(x, layout):
            return {"layout": x.name}
        number = self._number(x, self.objects)
        if number is None:
            number = len(self.objects) - 1
            self.objects[number] = self._described(x)
        return {"object": number}

    def _described(self, x: Any) -> list[Any]:
        """The kind of an object that has an identity, and its parts."""
        if type(x) in (bytes, bytearray):
            return [type(x).__name__, bytes(x).hex()]
        if x.__class__ is Parameter:
            return ["parameter", [self.encode(part) for part in (x.data, requires_grad(x), vars(x))]]
        if isinstance(x, TensorBase):
            return ["tensor", [*self._tensor(x), self.encode(vars(x)) if vars(x) else None]]
        if isinstance(x, device):
            return ["device", str(x)]
        if type(x) in _MAPPINGS.values():
            kind = next(name for name, known in _MAPPINGS.items() if type(x) is known)
            # Modules keep the versions of their state in an attribute of it.
            attributes = self.encode(vars(x)) if type(x) is OrderedDict and vars(x) else None
            return [kind, [[self.encode(k), self.encode(v)] for k, v in x.items()], attributes]
        for name, known in _SEQUENCES.items():
            if type(x) is known:
                return [name, [self.encode(item) for item in x]]
        if type(x) is slice or type(x) is range:
            return [type(x).__name__, [self.encode(part) for part in (x.start, x.stop, x.step)]]
        if type(x) is deque:
            return ["deque", [self.encode(item) for item in x], self.encode(x.maxlen)]
        if type(x) is defaultdict:
            pairs = [[self.encode(k), self.encode(v)] for k, v in x.items()]
            return ["defaultdict", pairs, self.encode(x.default_factory)]
        if type(x) is Generator:
            return ["generator", x.get_state().numpy().tobytes().hex()]
        if isinstance(x, type) and CLASSES.get(name := x.__name__) is x:
            return ["class", name]
        for name, single in SINGLE.items():
            if x is single:
                return [name, None]
        if is_named_tuple(x):
            return ["named", [self.encode(item) for item in x], type(x).__module__, type(x).__qualname__]
        if type(x) is np.ndarray and x.dtype.kind == "O":
            by_columns = x.flags.f_contiguous and not x.flags.c_contiguous
            items = [self.encode(item) for item in x.ravel(order="F" if by_columns else "C")]
            return ["objects", items, list(x.shape), by_columns]
        found = array_bytes(x)
        if found is not None:
            self.arrays.append(found[1])
            return [found[0], len(self.arrays) - 1]
        raise LayoutTypeError("argument", f"save: a {type(x).__name__} is no plain data, and nothing else is written")

    def _tensor(self, t: Any) -> list[Any]:
        shape, strides, offset = t._layout
        if getattr(t, "is_sparse", False):
            raise LayoutTypeError("format", "save: a sparse tensor has no storage: save its indices and values")
        if t._storage._is_meta:
            return [None, t.dtype.name, list(shape), list(strides), 0, requires_grad(t), 0, None]
        check_written(t.dtype)
        extra = getattr(t, "_saved_quantizer", None)
        storage = self.storage(t._storage, dt.uint8 if t.dtype in UNTYPED else t.dtype)
        quantizer = None if extra is None else self.encode(extra())
        return [storage, t.dtype.name, list(shape), list(strides), offset, requires_grad(t), t._bits, quantizer]


_SEQUENCES: Final[dict[str, Callable[[Any], Any]]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "size": Size,
}  # fmt: skip
_MAPPINGS: Final[dict[str, Callable[[], Any]]] = {"dict": dict, "ordered": OrderedDict, "counter": Counter}


def _padding(length: int) -> bytes:
    return b"\0" * (-length % _ALIGNMENT)


@checked
def save(
    obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Write an object with all its tensors; each storage whole and once, so that what shares keeps sharing.

    `f` is a path or something with a `write`. Plain data, named tuples, NumPy's arrays and scalars, dtypes, shapes,
    devices, storages and tensors with their attributes are written, however they contain each other. How PyTorch would
    write them is not asked for.

    Raises: argument (TypeError) for anything else, format (TypeError) for sparse tensors; dtype (RuntimeError) for one
    storage under two dtypes, (KeyError) for dtypes that cannot be written; file (RuntimeError); argument
    (AttributeError) for `f` and a module that cannot pickle, (ValueError) for a protocol that is not there.
    Source: facts 7.9, torch 2.13; the format is ours.

    >>> import io
    >>> from stridecheck.reference_impl import arange
    >>> f = io.BytesIO()
    >>> save([arange(3.0), (1, "two")], f)
    >>> f.seek(0)
    0
    >>> load(f)
    [tensor([0., 1., 2.]), (1, 'two')]
    """
    if not hasattr(pickle_module, "Pickler"):
        raise LayoutAttributeError("argument", f"save: {pickle_module!r} has no Pickler")
    if pickle_protocol > pickle.HIGHEST_PROTOCOL:
        raise LayoutValueError("argument", f"save: pickle has no protocol {pickle_protocol}")
    writer = _Writer()
    try:
        table: dict[str, Any] = {"object": writer.encode(obj)}
    except RecursionError:
        raise LayoutError("memory", f"save: a {type(obj).__name__} that is nested too deeply") from None
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
    table["arrays"] = [add(np.frombuffer(data, np.uint8)) for data in writer.arrays]
    table["objects"] = writer.objects
    table["length"] = place
    table["protocol"] = pickle_protocol if pickle_protocol >= 0 else pickle.HIGHEST_PROTOCOL
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
        if mode == "wb" and isinstance(f, io.TextIOBase):
            raise LayoutTypeError("argument", f"save: a {type(f).__name__} takes text, not bytes")
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


# Of which PyTorch's unpickler knows all that is written.
_READ_PROTOCOLS: Final = frozenset((2, 3))
# What Python's own unpickler takes, where it is asked for.
_UNPICKLING: Final = frozenset(("encoding", "errors", "fix_imports", "buffers"))


@checked
def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Read back what `save` has written: the same layouts, the same sharing, storages of the same length.

    Loaded storages cannot be resized. With `mmap` the file is mapped instead of read; what is written stays private.
    With `weights_only`, and by default, what PyTorch does not read then must be declared safe: see `safe_globals`.
    `map_location` says where each storage is loaded to: a device, a dict of them by where it was saved, or a function
    of the storage and where it was saved, which may answer with another one.

    Raises: file (EOFError: nothing there; FileNotFoundError; IsADirectoryError; RuntimeError: damaged), argument
    (UnpicklingError: not declared safe), device (RuntimeError) for a `map_location` that is not there; what a function
    of `map_location` raises.
    Source: facts 7.9, torch 2.13; the format is ours.
    """
    if weights_only and pickle_module is not None:
        raise LayoutError("argument", "load: weights_only goes without a pickle_module")
    plain = weights_only or (weights_only is None and pickle_module is None)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise LayoutValueError("argument", "load: mmap needs the path of a file (facts 7.9.6)")
    with _opened(f, "rb") as file:
        content: Any
        if mmap:
            content = np.memmap(f, np.uint8, "c") if os.path.getsize(f) else np.empty(0, np.uint8)
        else:
            read = file.read()
            if isinstance(read, str) and read:
                wrong = LayoutAssertionError if plain else LayoutTypeError  # as the unpickler which is then asked
                raise wrong("argument", f"load: a {type(f).__name__} reads text, not bytes")
            content = np.frombuffer(bytearray(read or b""), np.uint8)
    if not len(content):
        raise LayoutEOFError("file", "load: the file is empty")
    # PyTorch's unpickler is what refuses them.
    for keyword in pickle_load_args.keys() - ({"encoding"} if plain else _UNPICKLING):
        raise LayoutTypeError("argument", f"load: unknown keyword {keyword}")
    try:
        table, start = _table(content)
        protocol = table.get("protocol", 2)
        if plain and protocol not in _READ_PROTOCOLS:
            raise LayoutUnpicklingError("argument", f"load: weights_only reads no protocol {protocol}")
        if protocol == 0 and table["storages"]:
            raise LayoutAssertionError("argument", "load: by protocol 0 storages have no name that can be read")
        return _Reader(table, content[start:], map_location, bool(plain)).decode(table["object"])
    except _Theirs as e:
        raise e.error from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as e:
        if hasattr(e, "kind"):
            raise
        raise _damaged(f"{type(e).__name__}: {e}") from None


class _Theirs(Exception):
    """An exception of a function that `map_location` is, which tells nothing of the file."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _relocated(storage: UntypedStorage, map_location: Any) -> UntypedStorage:
    """A storage, which was on the CPU, at the place that it is loaded to.

    Raises: device (RuntimeError); argument (TypeError). Source: facts 7.9.7, torch 2.13.
    """
    location: Any = "cpu"
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif isinstance(map_location, (str, bytes)):
        location = map_location
    elif isinstance(map_location, device):
        location = str(map_location)
    elif map_location is not None:
        if not callable(map_location):
            raise LayoutTypeError("argument", f"load: map_location cannot be a {type(map_location).__name__}")
        try:
            found = map_location(storage, location)
        except Exception as e:
            raise _Theirs(e) from None
        if found is not None:
            if not isinstance(found, UntypedStorage):
                raise LayoutTypeError("argument", f"load: map_location gave a {type(found).__name__}, no storage")
            return found
    if not isinstance(location, str):
        raise LayoutTypeError("argument", f"load: a place is told by its name, not by a {type(location).__name__}")
    if location not in ("cpu", "meta"):
        raise LayoutError("device", f"load: there is no {location} to load to (facts 7.9.7)")
    return UntypedStorage._nowhere(len(storage)) if location == "meta" else storage


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

    def __init__(self, table: Any, data: Any, map_location: Any, weights_only: bool) -> None:
        self._data = data
        self._map_location = map_location
        self._parts = [(s["nbytes"], self._part(s["data"]), self._part(s["marks"])) for s in table["storages"]]
        self._arrays = [self._part(place) for place in table["arrays"]]
        self._weights_only = weights_only
        self._storages: dict[int, UntypedStorage] = {}
        self._typed: dict[int, TypedStorage] = {}
        self._entries = table["objects"]
        self._made: dict[int, Any] = {}

    def _part(self, place: Any) -> Any:
        if place is None:
            return None
        start, nbytes, checksum = place
        part = self._data[start : start + nbytes]
        if start < 0 or len(part) != nbytes or zlib.crc32(part) != checksum:
            raise _damaged("a storage is cut off or changed")
        return part

    def _storage(self, number: int) -> UntypedStorage:
        """A storage by number: the same one each time, unless it has no address, which PyTorch knows it by."""
        done = self._storages.get(number)
        if done is not None:
            return done
        nbytes, data, marks = self._parts[number]
        storage = UntypedStorage._wrap(np.asarray(data) if nbytes else np.empty(0, np.uint8))
        storage._shadow = None if marks is None else np.array(marks)
        storage = _relocated(storage, self._map_location)
        if storage.data_ptr():
            self._storages[number] = storage
        return storage

    def _tensor(self, number: int, parts: Any) -> "Tensor":
        storage, name, shape, strides, offset, leaf_grad, bits, quantizer, attributes = parts
        d = dt.ALL[name]
        layout = Layout(tuple(shape), tuple(strides), offset)
        if len(shape) != len(strides) or any(n < 0 for n in (*shape, *strides, offset)):
            raise _damaged(f"a tensor of {layout}")
        if storage is None:
            t = rebuilt_nowhere(*layout[:2], d, bool(leaf_grad))
        else:
            t = self._over_storage(storage, layout, d, bool(leaf_grad), int(bits), quantizer)
        self._made[number] = t
        if attributes is not None:
            vars(t).update(self.decode(attributes))
        return t

    def _over_storage(
        self, storage: int, layout: Layout, d: dtype, leaf_grad: bool, bits: int, quantizer: Any
    ) -> "Tensor":
        nbytes = self._parts[storage][0]
        over = self._storage(storage)
        if d not in UNTYPED and nbytes % d.itemsize:
            # PyTorch saves the storage whole, and expects whole elements; without bytes it makes as many as those are.
            if not over._is_meta:
                raise LayoutError("size", f"load: a storage of {nbytes} bytes holds no whole elements of {d}")
            over = UntypedStorage._nowhere(nbytes // d.itemsize * d.itemsize)
        if quantizer is None and 0 not in layout.shape and layout.required_bytes(d.itemsize) > nbytes:
            raise _damaged(f"a tensor of {layout} over {nbytes} bytes")
        if d in UNTYPED and leaf_grad and is_grad_enabled():
            # PyTorch makes such a tensor as a leaf that requires grad, and then sets its storage.
            raise LayoutError("grad", f"load: a tensor of {d} that requires grad (facts 7.9.12)")
        if quantizer is None:
            return rebuilt(over, layout, d, leaf_grad, bits)
        if over._is_meta:
            raise UnsupportedError("device", f"load: there are no codes of {d} on meta (facts 7.9.11)")
        from .quantized import restored

        return restored(rebuilt(over, layout, d, leaf_grad, bits), self.decode(quantizer))

    def decode(self, x: Any) -> Any:
        """The object that a piece of the table stands for."""
        if not isinstance(x, dict):
            return x
        ((kind, inner),) = x.items()
        if kind == "object":
            return self._made[inner] if inner in self._made else self._object(inner)
        if kind in ("untyped", "typed"):
            # PyTorch reads untyped storages back as bytes with a dtype, and each storage as one object.
            number, name = (inner, "uint8") if kind == "untyped" else inner
            known = self._typed.get(number)
            if known is None:
                nbytes = self._parts[number][0]
                if nbytes % dt.ALL[name].itemsize:
                    raise LayoutError("size", f"load: a storage of {nbytes} bytes holds no whole elements of {name}")
                known = typed(self._storage(number), dt.ALL[name])
                if known._untyped_storage is self._storages.get(number):
                    self._typed[number] = known
            return known
        return PLAIN[kind](inner)

    def _object(self, number: int) -> Any:
        made: Any
        kind, parts, *rest = self._entries[number]
        if self._weights_only:
            check_safe(kind)
        if kind == "tensor":
            return self._tensor(number, parts)
        if kind == "list":
            # What can be changed is known before its parts, which may contain it.
            self._made[number] = made = []
            made.extend(map(self.decode, parts))
        elif kind == "deque":
            self._made[number] = made = deque(maxlen=self.decode(rest[0]))
            made.extend(map(self.decode, parts))
        elif kind == "defaultdict":
            self._made[number] = made = defaultdict(self.decode(rest[0]))
            self._fill(made, parts, None)
        elif kind == "objects":
            if prod(rest[0]) != len(parts):
                raise _damaged(f"{len(parts)} objects in an array of shape {rest[0]}")
            made, flat = array_of_objects(*rest)
            self._made[number] = made
            if self._weights_only:
                check_safe("ndarray", [type(made.dtype)])
            for place, item in enumerate(parts):
                flat[place] = self.decode(item)
        elif kind == "named":
            named = class_named(*rest)
            if self._weights_only:
                check_safe(kind, [named])
            if named is None:
                raise LayoutAttributeError("argument", f"load: there is no class {'.'.join(rest)} of named tuples")
            items = [self.decode(item) for item in parts]
            made = self._made.setdefault(number, tuple.__new__(named, items))
        elif kind in _MAPPINGS:
            self._made[number] = made = _MAPPINGS[kind]()
            self._fill(made, parts, *rest)
        elif kind == "parameter":
            self._made[number] = made = Parameter(*map(self.decode, parts[:2]))
            vars(made).update(self.decode(parts[2]))
        elif kind in ("ndarray", "scalar", "npdtype"):
            self._made[number] = made = of_array_bytes(kind, self._arrays[parts])
            if self._weights_only:
                check_safe(kind, [type(made if kind == "npdtype" else made.dtype)])
        elif kind == "class":
            self._made[number] = made = CLASSES[parts]
            if self._weights_only and made not in READ_CLASSES:
                check_safe(kind, [made])
        elif kind in ("slice", "range"):
            self._made[number] = made = CLASSES[kind](*map(self.decode, parts))
        elif kind in SINGLE:
            made = SINGLE[kind]
        elif kind in _SEQUENCES:
            items = [self.decode(item) for item in parts]
            # A list in it may have made it in the meantime.
            made = self._made.setdefault(number, _SEQUENCES[kind](items))
        else:
            self._made[number] = made = PLAIN[kind](parts)
        return made

    def _fill(self, made: Any, pairs: Iterable[Any], attributes: Any) -> None:
        for key, value in pairs:
            made[self.decode(key)] = self.decode(value)
        if attributes is not None:
            vars(made).update(self.decode(attributes))
