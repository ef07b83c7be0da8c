"""From a difference to a claim that a script can check: which expression, about which value, equal to what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .judge import NUMPY_DTYPES, Difference, elements
from .observation import Observation, StorageState, TensorState
from .program import Program
from .repro import Claim


def claim_of(program: Program, difference: Difference | None, expected: Sequence[Observation]) -> Claim:
    """The claim that fails where the difference is; without one (a crash), that the program comes to its end."""
    raising = tuple(number - 1 for number, o in enumerate(expected) if o.raised is not None)
    if difference is None:
        return Claim("ends", raising=raising, sentence="This program should end by itself.")
    step = difference.step
    operation = program.steps[step].op if step >= 0 else "inputs"
    sentence = f"{operation}: {difference.message}"
    states: dict[str, TensorState] = {}
    storages: dict[str, StorageState] = {}
    for observation in expected[: step + 2]:
        states.update(observation.values)
        storages.update(observation.storages)
    check, values, want = _check(program, difference, expected, states, storages)
    return Claim(check, values, want, step, tuple(n for n in raising if n != step or check != "raises"), sentence)


def _check(
    program: Program,
    difference: Difference,
    expected: Sequence[Observation],
    states: dict[str, TensorState],
    storages: dict[str, StorageState],
) -> tuple[str, tuple[str, ...], Any]:
    key, aspect = difference.value, difference.aspect
    state = states.get(key)
    match aspect:
        case "raises":
            return ("raises" if difference.expected is not None else "returns"), (), None
        case "storage" if isinstance(difference.expected, str) and difference.expected.startswith("byte "):
            place, _, byte = difference.expected.removeprefix("byte ").partition(": ")
            return "byte", (key,), (int(place), int(byte))
        case "storage":
            return "nbytes", (key,), len(storages[key].data) if key in storages else None
    if state is None:
        return "ends", (), None
    match aspect:
        case "shape":
            return "shape", (key,), (state.dtype, list(state.shape))
        case "strides":
            return (
                "strides",
                (key,),
                [s for s, n in zip(state.strides or (), state.shape, strict=True) if n > 1],
            )
        case "layout":
            return "layout", (key,), (list(state.strides or ()), state.offset)
        case "contiguity":
            return "contiguity", (key,), [letter == "T" for letter in state.contiguity]
        case "flags":
            return "flags", (key,), (state.version, "g" in (state.flags or ""), "v" in (state.flags or ""))
        case "values":
            return "values", (key,), _tolist(state, storages)
        case "sharing":
            return _sharing(program, difference, state, states)
    return "ends", (), None


def _sharing(
    program: Program, difference: Difference, state: TensorState, states: dict[str, TensorState]
) -> tuple[str, tuple[str, ...], Any]:
    """Whether two things are one: objects, or the memory that they lie in."""
    key = difference.value
    for text, want in ((str(difference.expected), True), (str(difference.got), False)):
        if text.startswith("the same object as value "):
            return "same-object", (key, text.rpartition(" ")[2]), want
    if state.storage != f"v{key}":
        return "same-storage", (key, str(state.storage)), True
    other = str(difference.got).removeprefix("storage ")
    return "same-storage", (key, other if other.startswith("s") else f"v{other.split()[4]}"), False


def _tolist(state: TensorState, storages: dict[str, StorageState]) -> str:
    """Elements as nested lists print, so that NaN compares equal to itself."""
    rows = elements(state, storages)
    dtype = NUMPY_DTYPES.get(state.dtype)
    if rows is None or dtype is None:
        return ""
    array = np.ascontiguousarray(rows).view(dtype).reshape(state.shape)
    return repr(array.astype(np.float64).tolist() if dtype.kind == "V" else array.tolist())
