"""Observations: what one step left behind, as frozen values with a JSON form.

Element values are not part of it where the storage is seen: they follow from layout and bytes, so `elements` decodes
both sides alike. Standard library only: workers write observations.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias

from .program import ITEMSIZES

Json: TypeAlias = Any


class Raised(NamedTuple):
    """An exception: PyTorch's type name, the library's text, and its kind where it could be classified."""

    type: str
    text: str
    kind: str | None = None

    @property
    def cited(self) -> Raised:
        """The same as a reader is told it: what the oracle cites as `facts` are the pages of the semantics."""
        return self._replace(text=re.sub(r"\bfacts (?=\d)", "semantics §", self.text))


class TensorState(NamedTuple):
    """One tensor as its library describes it; None where the library has no such notion.

    strides and offset in elements. `contiguity` has one letter for each of contiguous_format, channels_last and
    channels_last_3d: `T`, `F`, or `-`. `storage` is the number of a program's storage (`s0`) or the key of the first
    value seen on a new one (`v5`); `base` the key of the value that this is a view of, as PyTorch's `_base` has it.
    `data` holds the elements, row-major, little-endian, only where the storage cannot be seen. `quantizer` says what
    the codes of a quantised tensor mean.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int | None = None
    contiguity: str = "---"
    storage: str | None = None
    version: int | None = None
    base: str | None = None
    flags: str | None = None
    data: bytes | None = None
    quantizer: str | None = None


class StorageObject(NamedTuple):
    """One storage as a value: which memory it is, and what it says of itself.

    `nbytes` in bytes, `dtype` that of a typed storage. `flags` has a letter for each that holds: r resizable, s shared,
    f mapped from a file by name, m on the device meta.
    """

    storage: str
    nbytes: int
    dtype: str | None = None
    flags: str = ""


class ForeignState(NamedTuple):
    """Strided memory as another library is told of it; strides and offset in bytes, None where nothing is said.

    `kind` is `array` (NumPy's), `buffer` (a memoryview), `interface` (an array interface) or `capsule` (DLPack's);
    `dtype` as that kind writes it. `offset` counts from the begin of the memory `storage`. `header` has what else a
    capsule says: its name, version, flags, byte offset and device.
    """

    kind: str
    dtype: str = ""
    itemsize: int = 1
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    offset: int | None = None
    storage: str | None = None
    writable: bool | None = None
    header: tuple[Json, ...] = ()


State: TypeAlias = TensorState | StorageObject | ForeignState
"""What a value looks like, of whatever kind it is; scalars stand in the results alone."""


class StorageState(NamedTuple):
    """The bytes of a storage; `shadow` marks each byte as `reference_impl.shadow` does, None where all are exact.

    `home` is where they lie if not in memory of their own: the name of the storage that they are a part of and the byte
    that they start at, or `meta` and their number, where there are none.
    """

    data: bytes
    shadow: bytes | None = None
    home: tuple[str, int] | None = None


class Observation(NamedTuple):
    """What one step left behind: only what changed since the step before.

    `results` has one entry per result: None for a new tensor, storage or array (described under its key in `values`),
    the key of a live value that it *is*, `["scalar", repr]`, or for an address `["address", place]`. None as a whole:
    the step raised or was skipped.
    """

    results: tuple[Json, ...] | None = None
    is_tuple: bool = False
    raised: Raised | None = None
    skipped: bool = False
    values: Mapping[str, State] = {}
    storages: Mapping[str, StorageState] = {}
    damaged: tuple[str, ...] = ()
    """Storages whose guard bytes were overwritten."""

    @property
    def cited(self) -> Observation:
        """The same with its error as a reader is told it."""
        return self if self.raised is None else self._replace(raised=self.raised.cited)


def owner_of(name: str) -> str | None:
    """Key of the value that a storage is named after; None of what has a name of its own, as a program's storages have.

    A value that is given another storage names that, too, with a stroke behind.

    >>> owner_of("v3.1"), owner_of("v5'"), owner_of("s0"), owner_of("file0")
    ('3.1', '5', None, None)
    """
    return name[1:].rstrip("'") if name.startswith("v") else None


def same_objects(observation: Observation, slot: int) -> Iterator[tuple[str, str]]:
    """(key of a result, key of the live value that it *is*) for every result of a step that is no new object.

    >>> list(same_objects(Observation(results=(None, "0"), is_tuple=True), 4))
    [('4.1', '0')]
    """
    for item, result in enumerate(observation.results or ()):
        if isinstance(result, str):
            yield (f"{slot}.{item}" if observation.is_tuple else str(slot)), result


def to_json(observation: Observation) -> dict[str, Json]:
    """The JSON form, empty parts left out."""
    data: dict[str, Json] = {}
    if observation.skipped:
        data["skipped"] = True
    if observation.raised is not None:
        data["raised"] = list(observation.raised)
    if observation.results is not None:
        data["results"] = list(observation.results)
    if observation.is_tuple:
        data["tuple"] = True
    if observation.values:
        data["values"] = {key: _state_to_json(state) for key, state in observation.values.items()}
    if observation.storages:
        data["storages"] = {key: _storage_to_json(state) for key, state in observation.storages.items()}
    if observation.damaged:
        data["damaged"] = list(observation.damaged)
    return data


def apart(observations: Iterable[Observation]) -> tuple[list[Json], dict[str, list[Json]]]:
    """The JSON forms of observations, and apart from them what is of one side alone, where there is any.

    `said`: (text, kind) of each error, in words of its library's own. `marks`: (number of the observation, storage,
    marks) where bytes are not exact, which only the oracle knows.
    """
    data = [to_json(one) for one in observations]
    said: list[Json] = []
    marks: list[Json] = []
    for number, one in enumerate(data):
        if (raised := one.get("raised")) is not None:
            said.append(raised[1:])
            raised[1:] = [""]
        for name, parts in one.get("storages", _EMPTY).items():
            if len(parts) > 1 and parts[1] is not None:
                marks.append([number, name, parts[1]])
                parts[1:2] = [None] * (len(parts) - 2)
    return data, {name: found for name, found in (("said", said), ("marks", marks)) if found}


def together(data: Iterable[Json], said: Iterable[Json] = (), marks: Iterable[Json] = ()) -> list[Observation]:
    """The observations that `apart` took apart; raises KeyError, TypeError or ValueError on anything else."""
    found = [from_json(one) for one in data]
    words = iter(said)
    for number, one in enumerate(found):
        if one.raised is not None:
            text, kind = next(words, ("", None))
            found[number] = one._replace(raised=Raised(one.raised.type, text, kind))
    for number, name, shadow in marks:
        storages = dict(found[number].storages)
        storages[name] = storages[name]._replace(shadow=a2b_base64(shadow))
        found[number] = found[number]._replace(storages=storages)
    return found


def from_json(data: Mapping[str, Json]) -> Observation:
    """The observation that `to_json` wrote; raises KeyError, TypeError or ValueError on anything else."""
    results = data.get("results")
    raised = data.get("raised")
    return Observation(
        None if results is None else tuple([tuple(r) if type(r) is list else r for r in results]),
        data.get("tuple", False),
        None if raised is None else Raised(*raised),
        data.get("skipped", False),
        {key: _state_from_json(state) for key, state in data.get("values", _EMPTY).items()},
        {key: _storage_from_json(state) for key, state in data.get("storages", _EMPTY).items()},
        tuple(data.get("damaged", ())),
    )


_EMPTY: Mapping[str, Json] = {}


def _state_to_json(state: State) -> Json:
    """A list for a tensor, the usual case; an object with the names of its fields for anything else."""
    if type(state) is TensorState:
        found = list(state[:9])
        if state.quantizer is not None:
            return [*found, None, state.quantizer]
        return found if state.data is None else [*found, _text(state.data)]
    named: dict[str, Json] = {"kind": "storage"} if type(state) is StorageObject else {}
    return named | state._asdict()


def _state_from_json(data: Json) -> State:
    if type(data) is list:
        return _tensor_from_json(data)
    if data["kind"] == "storage":
        return StorageObject(data["storage"], data["nbytes"], data["dtype"], data["flags"])
    strides = data["strides"]
    return ForeignState(
        data["kind"],
        data["dtype"],
        data["itemsize"],
        tuple(data["shape"]),
        None if strides is None else tuple(strides),
        data["offset"],
        data["storage"],
        data["writable"],
        tuple([tuple(part) if type(part) is list else part for part in data["header"]]),
    )


def _tensor_from_json(data: list[Json]) -> TensorState:
    """A tensor as its adapter described it: what is of other types than the fields is refused before it is judged."""
    dtype, shape, strides, offset, contiguity, storage, version, base, flags, *rest = data
    counts = [number for number in (offset, version) if number is not None]
    for what, numbers in (("shape", shape), ("strides", strides or ()), ("offset and version", counts)):
        if not _WHOLE.issuperset(map(type, numbers)):
            raise TypeError(f"{what} must be whole numbers, not {numbers!r}")
    for what, text in (("dtype", dtype), ("flags", flags or "")):
        if type(text) is not str:
            raise TypeError(f"{what} must be text, not {text!r}")
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f"{len(strides)} strides for {len(shape)} dimensions")
    if type(contiguity) is not str or len(contiguity) != 3 or not _LETTERS.issuperset(contiguity):
        raise ValueError(f"contiguity has a letter T, F or - for each of three memory formats, not {contiguity!r}")
    if rest and rest[0] is not None:
        rest[0] = a2b_base64(rest[0])
        if len(rest[0]) != prod(shape) * ITEMSIZES.get(dtype, 1):
            raise ValueError(f"{len(rest[0])} bytes for the elements of {dtype}{shape}")
    steps = None if strides is None else tuple(strides)
    return TensorState(dtype, tuple(shape), steps, offset, contiguity, storage, version, base, flags, *rest)


_WHOLE = frozenset({int})
_LETTERS = frozenset("TF-")


def _text(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def _storage_to_json(state: StorageState) -> list[Json]:
    parts = [state.data] if state.shadow is None else [state.data, state.shadow]
    written: list[Json] = [_text(part) for part in parts]
    if state.home is None:
        return written
    return [*written, *[None] * (2 - len(written)), list(state.home)]


def _storage_from_json(data: list[Json]) -> StorageState:
    if len(data) == 1:
        return StorageState(a2b_base64(data[0]))
    content, shadow, home = (*data, None)[:3]
    return StorageState(
        a2b_base64(content),
        None if shadow is None else a2b_base64(shadow),
        None if home is None else (home[0], home[1]),
    )
