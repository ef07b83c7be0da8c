"""From a difference to a claim that a script can check: which expression, about which value, equal to what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from stridecheck.reference_impl.shadow import UNSPECIFIED

from .elements import NUMPY_DTYPES, elements, marks
from .judge import Difference
from .observation import (
    ForeignState,
    Observation,
    State,
    StorageObject,
    StorageState,
    TensorState,
    owner_of,
    same_objects,
)
from .program import Program
from .repro import ANYTHING, Claim


def claim_of(
    program: Program, difference: Difference | None, expected: Sequence[Observation], *, seconds: float = 10.0
) -> Claim:
    """The claim that fails where the difference is; without one (a crash), that the program ends within `seconds`.

    Its `check` is empty where there is none that a script could make.
    """
    raising = tuple(number - 1 for number, o in enumerate(expected) if o.raised is not None)
    if difference is None:
        return Claim("ends", (), seconds, raising=raising, sentence="This program should end by itself.")
    step = difference.step
    operation = program.steps[step].op if step >= 0 else "inputs"
    sentence = f"{operation}: {difference.message}"
    states: dict[str, State] = {}
    storages: dict[str, StorageState] = {}
    for number, observation in enumerate(expected[: step + 2], -1):
        states.update(observation.values)
        storages.update(observation.storages)
        states.update({key: states[key_of] for key, key_of in same_objects(observation, program.slot_of(number))})
    check, values, want = _check(difference, states, storages)
    raised = difference.got[0] if check in ("returns", "error") and difference.got else ""
    return Claim(check, values, want, step, raising, sentence, raised)


def _check(
    difference: Difference, states: dict[str, State], storages: dict[str, StorageState]
) -> tuple[str, tuple[str, ...], Any]:
    key, detail = difference.value, difference.detail or {}
    state = states.get(key)
    if "guard" in detail:
        return "guard", (key,), None
    if "byte" in detail and key.startswith("file"):
        return "file", (key,), detail["byte"]
    for kind in ("byte", "nbytes"):
        if kind in detail:
            storage = _said(key, states)
            return (kind, (storage,), detail[kind]) if storage else ("", (), None)
    if "count" in detail:
        return "count", (key,), detail["count"]
    if "same-object" in detail:
        other, want = detail["same-object"]
        return "same-object", (key, other), want
    if isinstance(state, StorageObject):
        return "storage", (key,), (state.nbytes, "r" in state.flags, "s" in state.flags)
    if isinstance(state, ForeignState):
        seen = (state.dtype, state.shape, state.strides, state.writable)
        return ("array", (key,), seen) if state.kind == "array" else ("", (), None)
    match difference.aspect:
        case "raises":
            return ("raises" if difference.expected is not None else "returns"), (), None
        case "error-kind" if difference.expected[2] != difference.got[2]:
            return "error-text", (), (difference.got[0], difference.got[1])
        case "error-kind":
            return "error", (), difference.expected[0]
        case "values" if state is None:
            return "scalar", (key,), difference.expected
        case _ if state is None:
            return "", (), None
        case "shape":
            return "shape", (key,), (state.dtype, list(state.shape))
        case "strides":
            return "strides", (key,), [s for s, n in zip(state.strides or (), state.shape, strict=True) if n > 1]
        case "layout":
            return "layout", (key, str(state.storage)), (list(state.strides or ()), state.offset)
        case "contiguity":
            letters = [letter == "T" for letter in difference.expected]
            # A library without memory formats is asked for row-major contiguity alone.
            return ("contiguity", (key,), letters) if len(letters) > 1 else ("row-major", (key,), letters[0])
        case "flags" if _views_another(difference) and state.base not in (None, "hidden"):
            return "base", (key, state.base), True
        case "flags":
            return "flags", (key,), (state.version, "g" in (state.flags or ""), "v" in (state.flags or ""))
        case "values":
            return "values", (key,), _tolist(state, storages)
        case "sharing":
            ours, theirs = detail["storages"]
            # A view is where it should be; a copy is not where it was found.
            return ("same-storage", (key, theirs), False) if ours == f"v{key}" else ("same-storage", (key, ours), True)
    return "", (), None


def _views_another(difference: Difference) -> bool:
    """Whether flags differ in what is said to be viewed; a version says nothing of it."""
    return isinstance(difference.expected, list) and difference.expected[0] != difference.got[0]


def _said(name: str, states: dict[str, State]) -> str:
    """A storage by a name that a script has for it; empty where it has none: an array's memory is no storage."""
    owner = owner_of(name)
    if owner is None:
        return name if name.startswith("s") else ""
    first = states.get(owner)
    if isinstance(first, ForeignState):
        return ""
    return name if isinstance(first, TensorState) else owner


def _tolist(state: TensorState, storages: dict[str, StorageState]) -> str:
    """Elements as nested lists print, so that NaN compares equal to itself; what is not specified is no number."""
    rows = elements(state, storages)
    dtype = NUMPY_DTYPES.get(state.dtype)
    if rows is None or dtype is None:
        return ""
    array = np.ascontiguousarray(rows).view(dtype).reshape(state.shape)
    array = array.astype(np.float64) if dtype.kind == "V" else array
    found = marks(state, storages)
    if found is not None and (found == UNSPECIFIED).any():
        array = array.astype(object)
        array[found.reshape(state.shape) == UNSPECIFIED] = _Anything()
    return repr(array.tolist())


class _Anything:
    def __repr__(self) -> str:
        return ANYTHING


def symptom(difference: Difference) -> tuple[Any, ...]:
    """What is wrong in an aspect: which error came instead of which, a view or a copy, bytes or how many there are.

    Two differences of one aspect and symptom make the same claim, about other values.
    """
    match difference.aspect:
        case "raises" | "error-kind":
            return _kind(difference.expected), _kind(difference.got)
        case "sharing" if "storages" in (difference.detail or {}):
            ours, _ = difference.detail["storages"]
            return "same-storage", ours == f"v{difference.value}"
        case "sharing":
            return "same-object", (difference.detail or {}).get("same-object", ("", None))[1]
        case "storage":
            return tuple(difference.detail or ())
    return ()


def _kind(raised: Sequence[Any] | None) -> str:
    return "" if raised is None else raised[2] or raised[0]
