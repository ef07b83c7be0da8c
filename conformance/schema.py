"""The JSON schema of programs, for files from outside: every error names the place where it is.

What the suite has written itself is read by `Program.from_json` alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import jsonschema

from .operations import OPERATIONS, bind
from .program import BACKINGS, FILLS, ITEMSIZES, QUANTISED, Program

Json: TypeAlias = Any

_COUNT = {"type": "integer", "minimum": 0}
_WHOLE = {"type": "integer"}
_DTYPE = {"enum": sorted(ITEMSIZES)}
_ANY_DTYPE = {"enum": sorted({*ITEMSIZES, *QUANTISED})}


def _only(name: str, value: dict[str, Json]) -> dict[str, Json]:
    """An object with that one key."""
    return {"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": False}


SCHEMA: dict[str, Json] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A stridecheck program",
    "description": "Storages, inputs over them (strides and offset in elements), and steps by PyTorch's names.",
    "type": "object",
    "required": ["steps"],
    "additionalProperties": False,
    "properties": {
        "storages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["nbytes"],
                "additionalProperties": False,
                "not": {"required": ["data", "fill"]},
                "properties": {
                    "nbytes": _COUNT,
                    "fill": {"enum": list(FILLS)},
                    "data": {"type": "string", "contentEncoding": "base64"},
                    "backing": {"enum": list(BACKINGS)},
                },
            },
        },
        "inputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["dtype", "shape", "strides"],
                "additionalProperties": False,
                "properties": {
                    "dtype": _DTYPE,
                    "shape": {"type": "array", "items": _COUNT},
                    "strides": {"type": "array", "items": _WHOLE},
                    "offset": _COUNT,
                    "storage": _COUNT,
                    "requires_grad": {"type": "boolean"},
                },
            },
        },
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["op"],
                "additionalProperties": False,
                "properties": {
                    "op": {"type": "string", "minLength": 1},
                    "args": {"type": "array", "items": {"$ref": "#/$defs/argument"}},
                    "kwargs": {"type": "object", "additionalProperties": {"$ref": "#/$defs/argument"}},
                },
            },
        },
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "$defs": {
        "argument": {
            "description": "A number, text, list of arguments, or an object with one key.",
            "anyOf": [
                {"type": ["null", "boolean", "number", "string"]},
                {"type": "array", "items": {"$ref": "#/$defs/argument"}},
                _only("ref", {"anyOf": [_COUNT, {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}]}),
                _only("dtype", _ANY_DTYPE),
                _only(
                    "format", {"enum": ["contiguous_format", "channels_last", "channels_last_3d", "preserve_format"]}
                ),
                _only("slice", {"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 3, "maxItems": 3}),
                _only("complex", {"type": "array", "minItems": 2, "maxItems": 2}),
                _only("float", {"enum": ["nan", "inf", "-inf"]}),
                _only("ellipsis", {"const": True}),
                _only("file", {"type": "integer", "minimum": -1}),
                _only("bytes", {"type": "string", "contentEncoding": "base64"}),
            ],
        }
    },
}
"""JSON schema, draft 2020-12."""


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(SCHEMA)


def read_program(data: Json) -> Program:
    """The program that a JSON value from outside is, checked in form and in sense.

    Raises
    ------
    ValueError
        It is none; the message begins with the place, as `steps[0].args[1]`.

    >>> read_program({"steps": [{"op": "view", "args": [{"reff": 0}]}]})
    Traceback (most recent call last):
    ...
    ValueError: steps[0].args[0]: {'reff': 0} is not valid under any of the given schemas
    """
    # The schema alone would take the error deepest inside any of the alternatives, which is seldom the one meant.
    error = min(_validator().iter_errors(data), key=lambda e: (len(e.absolute_path), e.message), default=None)
    if error is not None:
        raise ValueError(f"{_place(error.absolute_path)}{error.message}")
    program = Program.from_json(data)
    program.check()
    for number, step in enumerate(program.steps):
        if step.op in OPERATIONS:
            try:
                bind(step)
            except ValueError as problem:
                raise ValueError(f"steps[{number}]: {problem}") from None
    return program


def _place(path: Any) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    return f"{text}: " if text else ""
