"""Observations: what one step left behind, as frozen values with a JSON form.

Element values are not part of it where the storage is seen: they follow from layout and bytes, so `elements` decodes
both sides alike. Standard library only: workers write observations.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias

from .program import ITEMSIZES

Json: TypeAlias = Any


class Raised(NamedTuple):
    """An exception: PyTorch's type name, the library's text, and its kind where it could be classified."""

    type: str
    text: str
    kind: str | None = None


class TensorState(NamedTuple):
    """One tensor as its library describes it; None where the library has no such notion.

    strides and offset in elements. `contiguity` has one letter for each of contiguous_format, channels_last and
    channels_last_3d: `T`, `F`, or `-`. `storage` is the number of a program's storage (`s0`) or the key of the first
    value seen on a new one (`v5`); `base` the key of the value that this is a view of, as PyTorch's `_base` has it.
    `data` holds the elements, row-major, little-endian, only where the storage cannot be seen.
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


class StorageState(NamedTuple):
    """The bytes of a storage; `shadow` marks each byte as `reference_impl.shadow` does, None where all are exact."""

    data: bytes
    shadow: bytes | None = None


class Observation(NamedTuple):
    """What one step left behind: only what changed since the step before.

    `results` has one entry per result: None for a new tensor (described under its key in `values`), the key of a live
    value that it *is*, or `["scalar", repr]`. None as a whole: the step raised or was skipped.
    """

    results: tuple[Json, ...] | None = None
    is_tuple: bool = False
    raised: Raised | None = None
    skipped: bool = False
    values: Mapping[str, TensorState] = {}
    storages: Mapping[str, StorageState] = {}
    damaged: tuple[str, ...] = ()
    """Storages whose guard bytes were overwritten."""


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
        data["values"] = {key: _tensor_to_json(state) for key, state in observation.values.items()}
    if observation.storages:
        data["storages"] = {key: _storage_to_json(state) for key, state in observation.storages.items()}
    if observation.damaged:
        data["damaged"] = list(observation.damaged)
    return data


def from_json(data: Mapping[str, Json]) -> Observation:
    """The observation that `to_json` wrote; raises KeyError, TypeError or ValueError on anything else."""
    results = data.get("results")
    raised = data.get("raised")
    return Observation(
        None if results is None else tuple([tuple(r) if type(r) is list else r for r in results]),
        data.get("tuple", False),
        None if raised is None else Raised(*raised),
        data.get("skipped", False),
        {key: _tensor_from_json(state) for key, state in data.get("values", _EMPTY).items()},
        {key: _storage_from_json(state) for key, state in data.get("storages", _EMPTY).items()},
        tuple(data.get("damaged", ())),
    )


_EMPTY: Mapping[str, Json] = {}


def _tensor_to_json(state: TensorState) -> list[Json]:
    if state.data is None:
        return list(state[:9])
    return [*state[:9], base64.b64encode(state.data).decode()]


def _tensor_from_json(data: list[Json]) -> TensorState:
    dtype, shape, strides, *rest = data
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f"{len(strides)} strides for {len(shape)} dimensions")
    if rest and len(rest[1]) != 3:
        raise ValueError(f"contiguity has a letter for each of three memory formats, not {rest[1]!r}")
    if len(rest) == 7:
        rest[6] = base64.b64decode(rest[6])
        if len(rest[6]) != prod(shape) * ITEMSIZES.get(dtype, 1):
            raise ValueError(f"{len(rest[6])} bytes for the elements of {dtype}{shape}")
    return TensorState(dtype, tuple(shape), None if strides is None else tuple(strides), *rest)


def _storage_to_json(state: StorageState) -> list[str]:
    parts = [state.data] if state.shadow is None else [state.data, state.shadow]
    return [base64.b64encode(part).decode() for part in parts]


def _storage_from_json(data: list[str]) -> StorageState:
    return StorageState(*[base64.b64decode(part) for part in data])
