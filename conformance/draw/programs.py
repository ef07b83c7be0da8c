"""Draws whole programs by running them on the oracle as they grow: each step knows what the one before has left.

Failed steps stay in the program: what a refused call leaves behind is judged like anything else.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

from stridecheck.reference_impl.shadow import UNSPECIFIED

from ..execute import Execution
from ..observation import Observation, TensorState
from ..program import ITEMSIZES, Input, Program, Step, Storage, span
from ..protocol import Adapter, OracleError
from .choose import draw_step
from .layouts import draw_layout, draw_shape
from .scenes import draw_scene
from .source import Source, weighted

MAX_STEPS = 8
SCENES = 12
"""Percent of programs that begin with an operation whose operands are drawn for each other."""
MAX_NUMEL = 2_000
"""Values of more elements are not used as operands: programs stay small."""

COMMON_DTYPES = (
    (130, "float32"), (36, "int64"), (24, "float64"), (24, "uint8"), (18, "int16"), (18, "bool"), (18, "complex64"),
    (12, "bfloat16"), (12, "float16"), (8, "int32"), (8, "int8"), (8, "complex128"), (6, "complex32"),
    (4, "uint16"), (4, "uint32"), (4, "uint64"),
)  # fmt: skip
DTYPES = (*COMMON_DTYPES, *((1, name) for name in ITEMSIZES if name not in {name for _, name in COMMON_DTYPES}))
"""(weight, dtype): every one, those without arithmetic now and then."""

CHOOSING = ("bool", "uint8", "int32", "int64")
"""Dtypes of indices and masks."""


class DrawnProgram(NamedTuple):
    """A program, and what the oracle did with it while it was drawn; None where the oracle broke on its last step."""

    program: Program
    expected: list[Observation] | None


def draw_program(source: Source, oracle: Adapter, *, steps: int | None = None, negative: bool = False) -> DrawnProgram:
    """A program of one or two inputs and up to `MAX_STEPS` steps (mostly few), or exactly `steps`."""
    first = draw_scene(source) if not negative and source.chance(SCENES) else None
    storages, inputs = _draw_inputs(source, negative=negative) if first is None else first[:2]
    execution = Execution(oracle, storages, inputs)
    observations = [execution.initial]
    drawn: list[Step] = []
    count = steps or weighted(source, ((30, 1), (26, 2), (20, 3), (12, 4), (6, 5), (6, MAX_STEPS)))
    for _ in range(count):
        operands = _operands(execution)
        if first is not None and not drawn:
            step = first.step
        elif operands:
            step = draw_step(source, operands)
        else:
            break
        drawn.append(step)
        try:
            observations.append(execution.step(step))
        except OracleError:
            # The program is kept: whoever runs it finds out, and says so.
            return DrawnProgram(Program(storages, inputs, tuple(drawn)), None)
        if observations[-1].raised is not None and step.op in ("resize_", "resize_as_"):
            # PyTorch changes the sizes before it refuses: what it does with such a tensor next is not specified.
            break
    return DrawnProgram(Program(storages, inputs, tuple(drawn)), observations)


def _operands(execution: Execution) -> dict[str, TensorState]:
    """Values that steps may use: not too large, and inside their storages; a refused `resize_` leaves some outside."""
    fitting = {}
    for key, state in execution.states.items():
        reach = span(state.shape, state.strides or (), state.offset or 0)[1]
        content = execution.contents[state.storage or ""]
        if prod(state.shape) > MAX_NUMEL or reach * ITEMSIZES.get(state.dtype, 1) > len(content.data):
            continue
        # What fresh memory says as an index or a mask would decide even the shape of a result.
        if state.dtype in CHOOSING and content.shadow is not None and UNSPECIFIED in content.shadow:
            continue
        fitting[key] = state
    return fitting


def _draw_inputs(source: Source, *, negative: bool) -> tuple[tuple[Storage, ...], tuple[Input, ...]]:
    dtype = weighted(source, DTYPES)
    first = draw_layout(source, negative=negative)
    inputs = [Input(dtype, first.shape, first.strides, first.offset)]
    needed = [first.reach * ITEMSIZES[dtype]]
    if source.chance(60):
        relation = weighted(source, ((50, "own"), (25, "shared"), (25, "random")))
        other = dtype if relation == "shared" or source.chance(75) else weighted(source, DTYPES)
        # Bytes of another type would be no bool: True is 1.
        if (other == "bool") != (dtype == "bool"):
            relation = "own"
        shape = None if relation == "random" else _related(source, first.shape)
        second = draw_layout(source, negative=negative, shape=shape)
        reach = second.reach * ITEMSIZES[other]
        if relation == "shared":
            needed[0] = max(needed[0], reach)
        else:
            needed.append(reach)
        inputs.append(Input(other, second.shape, second.strides, second.offset, len(needed) - 1))
    fills = {}
    if source.chance(25):
        extra = weighted(source, ((50, "int64"), (50, "bool")))
        shape = (
            draw_shape(source, 0, weighted(source, ((60, 1), (40, 2))))
            if extra == "int64"
            else _related(source, first.shape)
        )
        third = draw_layout(source, shape=shape)
        fills[len(needed)] = "index1" if extra == "int64" else "bool1"
        inputs.append(Input(extra, third.shape, third.strides, third.offset, len(needed)))
        needed.append(third.reach * ITEMSIZES[extra])
    storages = []
    for number, nbytes in enumerate(needed):
        held = next(item.dtype for item in inputs if item.storage == number)
        fill = fills[number] if number in fills else _draw_fill(source, held)
        slack = source.integer(0, 5) * ITEMSIZES[held]
        backing = "guarded" if source.chance(25) else "owned"
        storages.append(Storage(nbytes + slack, fill, backing))
    if source.chance(10) and inputs[0].dtype.startswith(("float", "complex", "bfloat")):
        inputs[0] = replace(inputs[0], requires_grad=True)
    return tuple(storages), tuple(inputs)


LIKE_MAGNITUDE = {
    "float16": "half1", "bfloat16": "half1", "float32": "single1", "complex64": "single1", "float64": "double1",
    "complex128": "double1",
}  # fmt: skip


def _draw_fill(source: Source, dtype: str) -> str:
    """What a storage for that dtype begins with: often numbers that a sum changes."""
    if dtype == "bool":
        return "bool1"
    return LIKE_MAGNITUDE.get(dtype, "ramp1") if source.chance(60) else "ramp1"


def _related(source: Source, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same shape, one that broadcasts with it, or one that it can be multiplied with as a matrix."""
    if source.chance(55):
        return shape
    if len(shape) >= 2 and source.chance(20):
        return (*shape[:-2], shape[-1], shape[-2])
    sizes = [1 if source.chance(35) else size for size in shape]
    return tuple(sizes[source.integer(0, len(sizes)) :] if source.chance(40) else sizes)
