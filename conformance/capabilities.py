"""What a library claims, and what a program needs: one that needs more than is claimed is *unsupported*, not failed.

Needs are computed from a program's operations, dtypes and layouts, never listed by hand. Standard library only.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from stridecheck.reports.aspects import ASPECTS as ASPECTS

from .layout import may_overlap
from .observation import Observation, StorageObject, TensorState
from .program import ITEMSIZES, QUANTISED, Argument, DType, MemoryFormat, Program, Step, refs_in

Json: TypeAlias = Any

FEATURES: Mapping[str, str] = {
    "free-strides": "tensors of any non-negative strides and offset over given memory",
    "negative-strides": "negative strides",
    "memory-format": "memory formats (channels_last, channels_last_3d, preserve_format)",
    "infer-size": "-1 for a size that is to be kept or found",
    "guarded": "tensors over foreign memory, without a copy, that refuse to resize it; others are given a copy",
    "bounds": "a check that a layout stays inside its storage; a program that needs it is not run without",
    "view-check": "a refusal of views that the strides do not allow",
    "overlap-check": "a refusal of writes whose operands overlap",
    "index-check": "an answer to what a tensor of indices names outside another that does not end the device",
    "write-through": "writes to one element that others at the same place in memory see",
    "requires-grad": "inputs that require gradients",
}
"""Every feature that a program can need, with its meaning."""
_NEEDED_BY_ERROR = {"bounds": "bounds", "view": "view-check", "overlap": "overlap-check", "resize": "guarded"}
HAZARDS = frozenset({*_NEEDED_BY_ERROR.values(), "index-check", "write-through"})
"""Features whose need only shows when a program runs."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a library claims to do.

    `dtypes` by PyTorch's names; `features` out of `FEATURES`; `aspects` out of `ASPECTS`, those that make sense for the
    library (one without version counters does not claim `flags`).

    Raises
    ------
    ValueError
        A name that is none of these.
    """

    dtypes: frozenset[str]
    features: frozenset[str] = frozenset(FEATURES)
    aspects: frozenset[str] = frozenset(ASPECTS)
    exact_errors: bool = False
    """Whether exceptions have PyTorch's types, not only a kind."""
    mode_of: str = ""
    """The adapter that runs the same library eagerly, where this is a mode of it: failures say what that does."""

    def __post_init__(self) -> None:
        # A name that is not known would never be needed or judged: the claim would silently be nothing.
        for what, known in (("dtypes", (*ITEMSIZES, *QUANTISED)), ("features", FEATURES), ("aspects", ASPECTS)):
            if unknown := sorted(set(getattr(self, what)) - set(known)):
                raise ValueError(f"capabilities: {what} has {', '.join(unknown)}, which is none of {', '.join(known)}")

    def to_json(self) -> dict[str, Json]:
        """Sorted lists, as they stand in a results file."""
        return {
            "dtypes": sorted(self.dtypes),
            "features": sorted(self.features),
            "aspects": [a for a in ASPECTS if a in self.aspects],
            "exact_errors": self.exact_errors,
        } | ({"mode_of": self.mode_of} if self.mode_of else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Capabilities:
        """The capabilities that `to_json` wrote."""
        return cls(
            frozenset(data["dtypes"]),
            frozenset(data["features"]),
            frozenset(data["aspects"]),
            data["exact_errors"],
            data.get("mode_of", ""),
        )

    def missing(self, needs: Iterable[str]) -> str | None:
        """The first need that is not claimed, None where all are.

        >>> Capabilities(frozenset({"int8"})).missing(["dtype:int8", "dtype:float32"])
        'dtype:float32'
        """
        for need in needs:
            kind, _, what = need.partition(":")
            if what not in (self.dtypes if kind == "dtype" else self.features):
                return need
        return None


def needs(program: Program) -> dict[str, int]:
    """What a program needs of a library, and the number of the step that first does, -1 for its inputs.

    Operations are looked up by the adapter itself.
    """
    found = {f"dtype:{item.dtype}": -1 for item in program.inputs}
    for item in program.inputs:
        if min(item.strides, default=0) < 0:
            found["feature:negative-strides"] = -1
        elif _is_free(item.shape, item.strides, item.offset):
            found["feature:free-strides"] = -1
        if item.requires_grad:
            found["feature:requires-grad"] = -1
    for number, step in enumerate(program.steps):
        if named := _dtype_in(step.op):
            found.setdefault(f"dtype:{named}", number)
        for argument in (*step.args, *[value for _, value in step.kwargs]):
            if type(argument) in _TELLING and (need := _need(step.op, argument)):
                found.setdefault(need, number)
    return found


@cache
def _dtype_in(op: str) -> str:
    """The dtype in the name of an operation, as storages have methods and classes: `UntypedStorage.bfloat16`."""
    named = op.rpartition(".")[2].removesuffix("Storage").lower()
    return named if named in ITEMSIZES else ""


def _is_free(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> bool:
    """Whether a layout is more than the row-major one at the start of its storage."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected and 0 not in shape:
            return True
        expected *= size
    return offset != 0


_INFERS = ("expand", "broadcast_to")


_TELLING = frozenset({MemoryFormat, DType, tuple})
"""Types of arguments that a library may lack something for; most are others."""


def _need(op: str, argument: MemoryFormat | DType | tuple[Argument, ...]) -> str:
    """What an operation needs for an argument, empty where nothing."""
    if isinstance(argument, MemoryFormat):
        return "feature:memory-format" if argument.name != "contiguous_format" else ""
    if isinstance(argument, DType):
        return f"dtype:{argument.name}"
    return "feature:infer-size" if op in _INFERS and -1 in argument else ""


def hazards(program: Program, observations: Iterable[Observation]) -> dict[str, int]:
    """What a program needs that only its run on the oracle shows, and the number of the step that first does.

    An error that follows from how memory lies, or from what a tensor of indices holds, needs a library that looks; a
    write into a storage that several values lie in, or one value with several elements in one place, one whose views
    share memory; a storage of foreign memory that is itself a value, one that lies there and says so.
    """
    guarded = {f"s{number}" for number, storage in enumerate(program.storages) if storage.backing == "guarded"}
    found: dict[str, int] = {}
    lies_in: dict[str, str | None] = {}
    folded: set[str | None] = set()
    known: set[str] = set()
    of_indices: set[str] = set()
    for number, observation in enumerate(observations, -1):
        raised = observation.raised.kind if observation.raised is not None else ""
        if raised in _NEEDED_BY_ERROR:
            found.setdefault(f"feature:{_NEEDED_BY_ERROR[raised]}", number)
        if number >= 0 and raised and _is_found_by_kernels(program.steps[number], raised, of_indices):
            found.setdefault("feature:index-check", number)
        for key, state in observation.values.items():
            if isinstance(state, TensorState) and state.dtype in _INDICES:
                of_indices.add(key)
            lies_in[key] = getattr(state, "storage", None)
            if isinstance(state, TensorState) and may_overlap(state):
                folded.add(state.storage)
            if isinstance(state, StorageObject) and state.storage in guarded:
                found.setdefault("feature:guarded", number)
        written = known & set(observation.storages)
        if any(name in folded or list(lies_in.values()).count(name) > 1 for name in written):
            found.setdefault("feature:write-through", number)
        known |= set(observation.storages)
    return found


_INDICES = ("int32", "int64")
"""Dtypes of tensors that name elements; an index that is a number of Python is looked at before anything runs."""
_FIRST = ("one_hot", "embedding", "embedding_bag")
"""Operations whose first operand holds indices."""
_COUNTED = ("masked_scatter", "masked_scatter_", "repeat_interleave")
"""Operations that take as many elements as a tensor says: too many are found out late, too."""


def _is_found_by_kernels(step: Step, kind: str, of_indices: Container[str]) -> bool:
    """Whether an error is one that only a look at a tensor's elements shows."""
    name = step.op.rpartition(".")[2]
    if kind == "size":
        return name in _COUNTED
    named = (*step.args[name not in _FIRST :], *[value for _, value in step.kwargs])
    return kind == "index" and any(ref.key in of_indices for value in named for ref in refs_in(value))
