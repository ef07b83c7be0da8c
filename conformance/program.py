"""Programs: storages, inputs and steps as frozen values with an exact JSON form.

Everything that is ever checked or timed is a `Program`. Workers in foreign environments read programs too, so this
module needs nothing but the standard library; the JSON schema for files from outside is in `schema.py`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

from . import jsonl
from .layout import extent

Json: TypeAlias = Any

ITEMSIZES: Mapping[str, int] = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2,
    "uint32": 4, "int32": 4, "float32": 4, "complex32": 4,
    "uint64": 8, "int64": 8, "float64": 8, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1, **{f"{sign}int{bits}": 1 for sign in ("u", "") for bits in range(1, 8)},
    "bits1x8": 1, "bits2x4": 1, "bits4x2": 1, "bits8": 1, "bits16": 2,
}  # fmt: skip
"""Bytes an element, by PyTorch's dtype name: all whose tensors are no more than storage, shape, strides and offset."""
QUANTISED: Mapping[str, int] = {"quint8": 1, "qint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1}
"""Bytes an element of the dtypes whose elements are codes: only operations make such tensors, no input is one."""
PACKED: Mapping[str, int] = {"quint4x2": 2, "quint2x4": 4}
"""Elements a byte, of the dtypes that have several."""

FILLS = (
    "ramp1", "bool1", "zeros1", "grid1", "index1", "half1", "single1", "double1",
    "odd_quarter1", "odd_half1", "odd_single1", "odd_double1",
)  # fmt: skip
BACKINGS = ("owned", "guarded", "file")


class Ref(NamedTuple):
    """A value of the program: inputs take slots 0…n-1, step s takes slot n+s; `item` where a step answers a tuple."""

    slot: int
    item: int | None = None

    @property
    def key(self) -> str:
        """Name of the value in observations: `3`, or `3.1` for an item of a tuple."""
        return str(self.slot) if self.item is None else f"{self.slot}.{self.item}"


@dataclass(frozen=True, slots=True)
class DType:
    """A dtype as an argument, by PyTorch's name."""

    name: str


@dataclass(frozen=True, slots=True)
class MemoryFormat:
    """A memory format as an argument, by PyTorch's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice as an index; Python's own is not hashable before 3.12."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class File:
    """The path of the file that a program's storage lies in, by the storage's number.

    Any other number is the path of a file that is not there, -1 that of the folder around them.
    """

    number: int

    @property
    def name(self) -> str:
        """Name of the file in its folder, and of its bytes in observations; empty for the folder."""
        return f"file{self.number}" if self.number >= 0 else ""


Argument: TypeAlias = Any
"""None, bool, int, float, complex, str, bytes (a buffer), `...`, Ref, DType, MemoryFormat, Slice, File, or a tuple."""


def argument_to_json(value: Argument) -> Json:
    """The JSON form of an argument.

    >>> argument_to_json((Ref(0), Slice(1, None, 2), 3))
    [{'ref': 0}, {'slice': [1, None, 2]}, 3]
    """
    match value:
        case Ref(slot, None):
            return {"ref": slot}
        case Ref(slot, item):
            return {"ref": [slot, item]}
        case tuple():
            return [argument_to_json(item) for item in value]
        case DType(name):
            return {"dtype": name}
        case MemoryFormat(name):
            return {"format": name}
        case Slice(start, stop, step):
            return {"slice": [start, stop, step]}
        case File(number):
            return {"file": number}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case complex():
            return {"complex": [argument_to_json(value.real), argument_to_json(value.imag)]}
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case None | bool() | int() | float() | str():
            return value
        case _ if value is ...:
            return {"ellipsis": True}
    raise ValueError(f"a program cannot hold {value!r} as an argument")


def argument_from_json(data: Json) -> Argument:
    """The argument that `argument_to_json` wrote.

    >>> argument_from_json([{"ref": [4, 1]}, 2.5])
    (Ref(slot=4, item=1), 2.5)
    """
    if isinstance(data, list):
        return tuple([argument_from_json(item) for item in data])
    if not isinstance(data, dict):
        return data
    (kind, value), *rest = data.items()
    if rest:
        raise ValueError(f"an argument object has one key, got {sorted(data)}")
    match kind:
        case "ref":
            return Ref(value) if isinstance(value, int) else Ref(*value)
        case "dtype":
            return DType(value)
        case "format":
            return MemoryFormat(value)
        case "slice":
            return Slice(*value)
        case "file":
            return File(value)
        case "bytes":
            return base64.b64decode(value, validate=True)
        case "complex":
            return complex(*(float(argument_from_json(part)) for part in value))
        case "float":
            return float(value)
        case "ellipsis":
            return ...
    raise ValueError(f"unknown kind of argument: {kind!r}")


def refs_in(value: Argument) -> Iterator[Ref]:
    """Every value reference inside an argument, in order."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from refs_in(item)


@dataclass(frozen=True, slots=True)
class Storage:
    """Memory that the inputs lie in.

    `backing` is `owned` (the library's own memory, resizable), `guarded` (foreign memory with guard bytes outside the
    storage, not resizable) or `file` (a temporary file, which no input lies in: steps map it). `fill` is a name of
    `FILLS`, or `literal` with the bytes in `data`.
    """

    nbytes: int
    fill: str = "ramp1"
    backing: str = "owned"
    data: bytes = b""

    def contents(self) -> bytes:
        """The bytes that the storage starts with."""
        return self.data if self.fill == "literal" else fill_bytes(self.fill, self.nbytes)


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor over one of the storages; strides and offset in elements."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    storage: int = 0
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One operation by PyTorch's name; see `operations.py` for the names."""

    op: str
    args: tuple[Argument, ...] = ()
    kwargs: tuple[tuple[str, Argument], ...] = ()

    def refs(self) -> Iterator[Ref]:
        """Every value that the step uses."""
        yield from refs_in(self.args)
        for _, value in self.kwargs:
            yield from refs_in(value)

    def files(self) -> Iterator[File]:
        """Every file that the step names."""
        for argument in (*self.args, *(value for _, value in self.kwargs)):
            if isinstance(argument, File):
                yield argument


@dataclass(frozen=True)
class Program:
    """Storages, inputs and steps: all that is needed to run the same thing on any library.

    Raises
    ------
    ValueError
        From `check`: an input that does not fit its storage, a reference to a later value, an unknown name.
    """

    storages: tuple[Storage, ...] = ()
    inputs: tuple[Input, ...] = ()
    steps: tuple[Step, ...] = ()
    tags: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits of the hash of the canonical JSON; tags do not count."""
        text = json.dumps(self.to_json(tags=False), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def line(self) -> bytes:
        """The JSON form in one line without an end, as a library's process is told of it."""
        return jsonl.dumps(self.to_json(tags=False))

    def slot_of(self, step: int) -> int:
        """Slot that the results of step number `step` take."""
        return len(self.inputs) + step

    def head(self, count: int) -> Program:
        """The program up to its first `count` steps."""
        return replace(self, steps=self.steps[:count])

    def to_json(self, *, tags: bool = True) -> dict[str, Json]:
        """The JSON form, fields at their defaults left out."""
        data: dict[str, Json] = {
            "storages": [_storage_to_json(s) for s in self.storages],
            "inputs": [_input_to_json(i) for i in self.inputs],
            "steps": [_step_to_json(s) for s in self.steps],
        }
        if tags and self.tags:
            data["tags"] = list(self.tags)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Program:
        """The program that `to_json` wrote; files from outside go through `schema.read_program` first."""
        return cls(
            tuple([_storage_from_json(s) for s in data.get("storages", ())]),
            tuple([_input_from_json(i) for i in data.get("inputs", ())]),
            tuple([_step_from_json(s) for s in data["steps"]]),
            tuple(data.get("tags", ())),
        )

    def check(self) -> None:
        """Raise ValueError where the parts do not fit together."""
        for number, storage in enumerate(self.storages):
            if storage.nbytes < 0 or storage.backing not in BACKINGS:
                raise ValueError(f"storage {number}: {storage.nbytes} bytes, backing {storage.backing!r}")
            if storage.fill not in FILLS and (storage.fill != "literal" or len(storage.data) != storage.nbytes):
                raise ValueError(f"storage {number}: fill {storage.fill!r} is not one of {', '.join(FILLS)} or whole")
        for number, item in enumerate(self.inputs):
            if item.dtype not in ITEMSIZES:
                raise ValueError(f"input {number}: unknown dtype {item.dtype!r}")
            if not 0 <= item.storage < len(self.storages) or self.storages[item.storage].backing == "file":
                raise ValueError(f"input {number}: no storage {item.storage}")
            if len(item.shape) != len(item.strides) or min(item.shape, default=0) < 0:
                raise ValueError(f"input {number}: shape {item.shape} and strides {item.strides} are no layout")
            first, last = extent(item.shape, item.strides, item.offset)
            nbytes = self.storages[item.storage].nbytes
            if item.offset < 0 or first < 0 or last * ITEMSIZES[item.dtype] > nbytes:
                raise ValueError(
                    f"input {number}: shape {item.shape}, strides {item.strides}, offset {item.offset} of {item.dtype} "
                    f"reach outside storage {item.storage} of {nbytes} bytes"
                )
        for number, step in enumerate(self.steps):
            for ref in step.refs():
                if not 0 <= ref.slot < self.slot_of(number):
                    raise ValueError(f"step {number} ({step.op}): value {ref.key} does not come before it")


FILL_SOURCES: Mapping[str, str] = {
    "ramp1": "bytes(32 + k % 64 + 128 * (k > 63) for k in (37 * (i + 5 * (i // 128)) % 128 for i in range({n})))",
    "bool1": "bytes((i * i + i // 3) % 5 % 2 for i in range({n}))",
    "zeros1": "bytes({n})",
    "index1": "bytes((i // 8 * 5 // 3) % 2 * (i % 8 == 0) for i in range({n}))",
    "grid1": "bytes(b for k in ((i * i // 199 + i) % 8 for i in range(-(-{n} // 4)))"
    " for b in (0, 0, k % 2 * 128, 63 + k // 2 % 2 + k // 4 * 128))[:{n}]",
    **{
        name: f"bytes((63, 64, 191, 192)[i // {size} * 7 // 3 % 4] if i % {size} == {size - 1} else 32 + k % 64"
        f" + 128 * (k > 63) for i, k in ((i, (37 * (i // {size}) + 51 * (i % {size})) % 128) for i in range({{n}})))"
        for name, size in (("half1", 2), ("single1", 4), ("double1", 8))
    },
    "odd_quarter1": "(bytes.fromhex('3C7C80FC007FFF7B3801B8407E04FE') * (1 + {n} // 15))[:{n}]",
    **{
        name: f"b''.join(bytes({size - 2}) + bytes.fromhex('{words}')[i * 11 // 3 % 12 * 2 :][:2][::-1]"
        f" for i in range(-(-{{n}} // {size})))[:{{n}}]"
        for name, size, words in (
            ("odd_half1", 2, "3F80 7FC0 8000 7C00 3E00 C020 FF80 4100 0000 7F80 FC00 BF00"),
            ("odd_single1", 4, "3F80 7FC0 8000 7F80 3F00 C020 FF80 4020 0000 5F80 CF80 BF00"),
            ("odd_double1", 8, "3FF0 7FF8 8000 7FF0 3FE0 C004 FFF0 4004 0000 43F0 C1F0 BFE0"),
        )
    },
}
"""Each fill as the expression that a standalone script makes it with."""

_PERIODS = {"ramp1": 128 * 128, "bool1": 15, "zeros1": 1, "index1": 8 * 6, "grid1": 4 * 8 * 199,
            "half1": 2 * 384, "single1": 4 * 384, "double1": 8 * 384,
            "odd_quarter1": 15, "odd_half1": 2 * 36, "odd_single1": 4 * 36, "odd_double1": 8 * 36}  # fmt: skip
"""Bytes after which each fill begins again: they are computed once, and a storage has what it needs of them."""


def fill_bytes(fill: str, nbytes: int) -> bytes:
    """Bytes of a named fill.

    `ramp1` has 128 different bytes before it repeats, turned each time, whose groups of 2, 4, 8 and 16 are finite,
    normal, mostly different numbers of both signs in every floating dtype: a misplaced element shows. `bool1` holds
    zeros and ones only, the bytes that a bool tensor may hold; `zeros1` is zero, and
    `index1` has the int64 numbers 0 and 1, which are indices of most dimensions. `grid1` holds 0.5, 1, 2 and 4 of both
    signs in float32: sums of thousands of their products are exact in whatever order a library adds.
    `half1`, `single1` and `double1` hold numbers of both signs and like magnitude in the floating dtypes of 2, 4 and 8
    bytes: between 0.5 and 8 in bfloat16 and float32. A number added to one of them changes it, as it does not change
    most of `ramp1`, whose magnitudes are far apart. The `odd_` fills hold what numbers are
    seldom: NaN, infinite, zeros of both signs, halves, the largest, some that integers are too small for.

    >>> fill_bytes("ramp1", 4).hex()
    '2045aacf'
    """
    period = _period(fill)
    return period[:nbytes] if nbytes <= len(period) else (period * (nbytes // len(period) + 1))[:nbytes]


@lru_cache(maxsize=len(FILL_SOURCES))
def _period(fill: str) -> bytes:
    made: bytes = eval(FILL_SOURCES[fill].format(n=_PERIODS[fill]))
    return made


def _storage_to_json(storage: Storage) -> dict[str, Json]:
    data: dict[str, Json] = {"nbytes": storage.nbytes}
    if storage.fill == "literal":
        data["data"] = base64.b64encode(storage.data).decode()
    elif storage.fill != "ramp1":
        data["fill"] = storage.fill
    if storage.backing != "owned":
        data["backing"] = storage.backing
    return data


def _storage_from_json(data: Mapping[str, Json]) -> Storage:
    literal = data.get("data")
    fill = "literal" if literal is not None else data.get("fill", "ramp1")
    raw = b"" if literal is None else base64.b64decode(literal, validate=True)
    return Storage(data["nbytes"], fill, data.get("backing", "owned"), raw)


def _input_to_json(item: Input) -> dict[str, Json]:
    data: dict[str, Json] = {"dtype": item.dtype, "shape": list(item.shape), "strides": list(item.strides)}
    if item.offset:
        data["offset"] = item.offset
    if item.storage:
        data["storage"] = item.storage
    if item.requires_grad:
        data["requires_grad"] = True
    return data


def _input_from_json(data: Mapping[str, Json]) -> Input:
    return Input(
        data["dtype"],
        tuple(data["shape"]),
        tuple(data["strides"]),
        data.get("offset", 0),
        data.get("storage", 0),
        data.get("requires_grad", False),
    )


def _step_to_json(step: Step) -> dict[str, Json]:
    data: dict[str, Json] = {"op": step.op, "args": [argument_to_json(a) for a in step.args]}
    if step.kwargs:
        data["kwargs"] = {name: argument_to_json(value) for name, value in step.kwargs}
    return data


def _step_from_json(data: Mapping[str, Json]) -> Step:
    args = tuple([argument_from_json(a) for a in data.get("args", ())])
    kwargs = data.get("kwargs")
    if not kwargs:
        return Step(data["op"], args)
    return Step(data["op"], args, tuple([(name, argument_from_json(value)) for name, value in kwargs.items()]))
