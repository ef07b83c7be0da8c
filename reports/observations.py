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

TENSOR = (
    "dtype", "shape", "strides", "offset", "contiguity", "storage", "version", "base", "flags", "data", "quantizer",
)  # fmt: skip
"""What stands at each place of a tensor's list."""
_AT_NEED = (" data", " quantizer")
"""Ends of the names of what is only written where there is something to say."""

_WINDOW = 16
"""Bytes shown of a storage, around the first that differs."""

_LIMIT = 400
"""Characters shown of one part."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of both observations, as text; empty where a side has none."""

    name: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The parts of two observations."""

    differing: tuple[Part, ...]
    agreeing: tuple[Part, ...]
    untold: tuple[Part, ...]
    """Of these one side says nothing: its library has no such notion, so that they are not judged."""


def compare(expected: Json, got: Json) -> Comparison:
    """Compare two observations part by part.

    >>> one = {"values": {"1": ["float32", [2], [1]]}}
    >>> compare(one, {"values": {"1": ["float32", [2], [4]]}}).differing
    (Part(name='value 1 strides', expected='[1]', got='[4]'),)
    """
    left, right = dict(_parts(expected)), dict(_parts(got))
    found: dict[str, list[Part]] = {"differing": [], "agreeing": [], "untold": []}
    for name in dict.fromkeys([*left, *right]):
        one, other = left.get(name), right.get(name)
        if isinstance(one, bytes) and isinstance(other, bytes):
            start = _first_difference(one, other)
            part = Part(name, _bytes_text(one, start), _bytes_text(other, start))
        else:
            part = Part(name, _text(one), _text(other))
        if one == other:
            found["agreeing"].append(part)
        elif (name.endswith(_AT_NEED) or (name in left and name in right)) and _is_untold(name, one, other):
            found["untold"].append(part)
        else:
            found["differing"].append(part)
    return Comparison(**{kind: tuple(parts) for kind, parts in found.items()})


def say(aspect: str, value: Json) -> str:
    """One side of a difference as a reader would say it.

    >>> say("layout", [[4, 1], 2]), say("raises", None)
    ('strides [4, 1], offset 2', 'no error')
    """
    match aspect, value:
        case "layout", [list(strides), offset]:
            return f"strides {compact(strides)}, offset {compact(offset)}"
        case "raises" | "error-kind", None:
            return "no error"
        case "raises" | "error-kind", [str(kind), str(words), *rest]:
            return f"{kind}: {words}" + (f" ({rest[0]})" if rest and rest[0] else "")
    return "" if value is None else compact(value)


def _is_untold(name: str, one: Json, other: Json) -> bool:
    if one is None or other is None:
        return True
    # One letter for each memory format, `-` where the library knows nothing of it.
    return name.endswith(" contiguity") and all(
        a == b or "-" in (a, b) for a, b in zip(str(one), str(other), strict=False)
    )


def _parts(observation: Json) -> Iterator[tuple[str, Json]]:
    if not isinstance(observation, dict):
        if observation is not None:
            yield "observation", observation
        return
    for key, value in observation.items():
        if key == "values" and isinstance(value, dict):
            for slot, state in value.items():
                yield from _tensor(f"value {slot}", state)
        elif key == "storages" and isinstance(value, dict):
            for slot, state in value.items():
                yield from _storage(f"storage {slot}", state)
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
        if len(state) > 2:
            yield f"{slot} home", state[2]
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
