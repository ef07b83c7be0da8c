"""Two observations side by side: which parts differ, in words instead of positions.

The JSON form is that of `conformance/observation.py`. Anything else is shown as it is: a report must
be readable whatever a library answered.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass

from .records import Json
from .text import compact, shorten

TENSOR = ("dtype", "shape", "strides", "offset", "contiguity", "storage", "version", "base", "flags", "data")
"""What stands at each place of a tensor's list."""

_WINDOW = 16
"""Bytes shown of a storage, around the first that differs."""

_LIMIT = 400
"""Characters shown of one part."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of both observations, as text; empty where a side has none.

    >>> differing, _ = compare({"values": {"v1": ["f", [2], [1]]}}, {"values": {"v1": ["f", [2], [4]]}})
    >>> differing
    [Part(name='v1 strides', expected='[1]', got='[4]')]
    """

    name: str
    expected: str
    got: str


def compare(expected: Json, got: Json) -> tuple[list[Part], list[Part]]:
    """Parts of two observations that differ, and those that agree."""
    left, right = dict(_parts(expected)), dict(_parts(got))
    differing: list[Part] = []
    agreeing: list[Part] = []
    for name in dict.fromkeys([*left, *right]):
        one, other = left.get(name), right.get(name)
        if isinstance(one, bytes) and isinstance(other, bytes):
            start = _first_difference(one, other)
            part = Part(name, _bytes_text(one, start), _bytes_text(other, start))
        else:
            part = Part(name, _text(one), _text(other))
        (agreeing if one == other else differing).append(part)
    return differing, agreeing


def _parts(observation: Json) -> Iterator[tuple[str, Json]]:
    if not isinstance(observation, dict):
        if observation is not None:
            yield "observation", observation
        return
    for key, value in observation.items():
        if key == "values" and isinstance(value, dict):
            for slot, state in value.items():
                yield from _tensor(slot, state)
        elif key == "storages" and isinstance(value, dict):
            for slot, state in value.items():
                yield from _storage(slot, state)
        elif key == "raised" and isinstance(value, list):
            yield from zip(("raised", "error text", "error kind"), value, strict=False)
        else:
            yield key, value


def _tensor(slot: str, state: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(state, dict):
        yield from ((f"{slot} {name}", value) for name, value in state.items())
    elif isinstance(state, list) and len(state) <= len(TENSOR):
        yield from ((f"{slot} {name}", value) for name, value in zip(TENSOR, state, strict=False))
    else:
        yield slot, state


def _storage(slot: str, state: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(state, list) and state and isinstance(state[0], str):
        # The second entry says which bytes are specified; the first differing one is found without it.
        yield f"{slot} bytes", _decoded(state[0])
    else:
        yield slot, state


def _decoded(text: str) -> bytes | str:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return text


def _text(value: Json) -> str:
    if isinstance(value, bytes):
        return _bytes_text(value, 0)
    return "" if value is None else shorten(compact(value), _LIMIT)


def _first_difference(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _bytes_text(data: bytes, place: int) -> str:
    """Bytes in hexadecimal around a place, with their address where they are not all."""
    if len(data) <= 2 * _WINDOW:
        return data.hex(" ") or "no bytes"
    start = max(0, min(place // 8 * 8 - 8, len(data) - _WINDOW))
    shown = data[start : start + _WINDOW]
    return f"{shown.hex(' ')} (bytes {start} to {start + len(shown) - 1} of {len(data)})"
