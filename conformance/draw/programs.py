"""Draws whole programs by running them on the oracle as they grow: each step knows what the one before has left.

Failed steps stay in the program: what a refused call leaves behind is judged like anything else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..execute import Execution
from ..observation import Observation, TensorState
from ..program import ITEMSIZES, Input, Program, Ref, Step, Storage
from ..protocol import Adapter, OracleError, Undefined
from .bits import NEGATED
from .choose import draw_step
from .compute import substituted
from .inventory import inventory_of
from .layouts import draw_layout, draw_shape
from .mixed import draw_mixed_step, draw_theme, dtype_for
from .scenes import DrawnScene, draw_scene
from .source import Source, weighted
from .spelling import respelled
from .stage import FILLS, ODD_FILLS, SELDOM
from .steps import FLOATING

MAX_STEPS = 8
COUNTS = ((30, 1), (26, 2), (20, 3), (12, 4), (6, 5), (6, MAX_STEPS))
"""(weight, steps) of programs on tensors; those on values of every kind are longer: sharing comes first, then use."""
MIXED_COUNTS = ((8, 1), (12, 2), (16, 3), (20, 4), (20, 6), (24, MAX_STEPS))
SCENES = 22
"""Percent of programs that begin with an operation whose operands are drawn for each other."""
AGAIN = 15
"""Percent of scenes that are done once more, on an operand with a bit."""
DRAWS = ("all", "tensors", "mixed")
"""What random programs are about."""
MIXED = 30
"""Percent of programs with values of every kind, where both are drawn."""

COMMON_DTYPES = (
    (130, "float32"), (36, "int64"), (24, "float64"), (24, "uint8"), (18, "int16"), (18, "bool"), (18, "complex64"),
    (12, "bfloat16"), (12, "float16"), (8, "int32"), (8, "int8"), (8, "complex128"), (6, "complex32"),
    (4, "uint16"), (4, "uint32"), (4, "uint64"),
)  # fmt: skip
DTYPES = (*COMMON_DTYPES, *((1, name) for name in ITEMSIZES if name not in {name for _, name in COMMON_DTYPES}))
"""(weight, dtype): every one, those without arithmetic now and then."""


class DrawnProgram(NamedTuple):
    """A program, and what the oracle did with it while it was drawn; None where the oracle broke on its last step."""

    program: Program
    expected: list[Observation] | None


def draw_program(
    source: Source, oracle: Adapter, *, steps: int | None = None, negative: bool = False, draw: str = "tensors"
) -> DrawnProgram:
    """A program of one or two inputs and up to `MAX_STEPS` steps (mostly few), or exactly `steps`.

    `draw` is one of `DRAWS`: `tensors` draws steps on tensors alone, `mixed` values of every kind, `all` both.
    """
    mixed = draw == "mixed" or (draw == "all" and source.chance(MIXED))
    first = draw_scene(source) if not negative and not mixed and source.chance(SCENES) else None
    theme = draw_theme(source) if mixed else ()
    dtype = dtype_for(source, theme)
    storages, inputs = _draw_inputs(source, dtype, negative=negative) if first is None else first[:2]
    if mixed and source.chance(25):
        storages = (*storages, Storage(20, backing="file"))
    count = steps or weighted(source, MIXED_COUNTS if mixed else COUNTS)
    run = _Run(oracle, storages, inputs)
    planned = () if first is None else (*first.steps, *(_turned(source, first) if steps is None else ()))
    count = steps or max(count, len(planned))
    tries = 0
    while len(run.steps) < count and tries < 4 * count:
        tries += 1
        there = inventory_of(run.execution, storages)
        if planned:
            step: Step | None = planned[0]
        elif mixed:
            step = draw_mixed_step(source, there, theme)
        else:
            step = draw_step(source, there.tensors) if there.tensors else None
        if step is None:
            break
        step = respelled(source, step)
        try:
            run.step(step)
        except Undefined:
            planned = ()  # the others are about what it would have made
            continue
        except OracleError:
            # The program is kept: whoever runs it finds out, and says so.
            return DrawnProgram(Program(storages, inputs, (*run.steps, step)), None)
        planned = planned[1:]
        if _leaves_undefined(step, run.observations[-1]):
            break
    return DrawnProgram(Program(storages, inputs, tuple(run.steps)), run.observations)


def _turned(source: Source, scene: DrawnScene) -> tuple[Step, ...]:
    """A bit on one of a scene's operands, and its operation once more on what has the bit; mostly nothing.

    Operands that fit each other hardly ever come up where bits do.
    """
    _, inputs, (*before, step) = scene
    if before:
        return ()
    out = dict(step.kwargs).get("out")
    # With a bit on another output than the first, PyTorch trips over an assertion of its own; its fallback for bits
    # gives images layouts of its own.
    others = out[1:] if isinstance(out, tuple) else ()
    fitting = [
        ref
        for ref in step.refs()
        if ref not in others and (inputs[ref.slot].dtype in NEGATED or "complex" in inputs[ref.slot].dtype)
    ]
    if not fitting or step.op.startswith(("nn.", "conv")) or not source.chance(AGAIN):
        return ()
    ref = source.choice(fitting)
    turning = Step("conj" if "complex" in inputs[ref.slot].dtype else "_neg_view", (ref,))
    # The inputs and the step itself have slots before it.
    args, kwargs = substituted((step.args, step.kwargs), ref, Ref(len(inputs) + 1))
    return turning, replace(step, args=args, kwargs=kwargs)


def _leaves_undefined(step: Step, observation: Observation) -> bool:
    """Whether a step leaves a tensor of which nothing is specified."""
    if observation.raised is not None and step.op in ("resize_", "resize_as_"):
        # The sizes are changed before the call is refused.
        return True
    # Filled with a number that has a history, an integer has one, and is refused by almost every operator.
    tensors = [x for x in observation.values.values() if isinstance(x, TensorState)]
    return any("g" in (x.flags or "") and not x.dtype.startswith(FLOATING) for x in tensors)


class _Run:
    """The oracle's run of a program as it grows; a step that is not defined leaves it as it was."""

    def __init__(self, oracle: Adapter, storages: tuple[Storage, ...], inputs: tuple[Input, ...]) -> None:
        self._oracle, self._storages, self._inputs = oracle, storages, inputs
        self.steps: list[Step] = []
        self.execution = Execution(oracle, storages, inputs)
        self.observations = [self.execution.initial]

    def step(self, step: Step) -> None:
        """Run one more step.

        Raises
        ------
        Undefined
            It is not defined what would come of it.
        OracleError
            The oracle broke.
        """
        try:
            self.observations.append(self.execution.step(step))
        except Undefined:
            # Half of the step may be done: all before it is run again.
            self.execution = Execution(self._oracle, self._storages, self._inputs)
            for done in self.steps:
                self.execution.step(done)
            raise
        self.steps.append(step)


def _draw_inputs(source: Source, dtype: str | None, *, negative: bool) -> tuple[tuple[Storage, ...], tuple[Input, ...]]:
    dtype = dtype or weighted(source, DTYPES)
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
    if source.chance(14) and inputs[0].dtype.startswith(FLOATING):
        inputs[0] = replace(inputs[0], requires_grad=True)
    return tuple(storages), tuple(inputs)


def _draw_fill(source: Source, dtype: str) -> str:
    """What a storage for that dtype begins with: often numbers that a sum changes, at times those that are seldom."""
    if dtype == "bool":
        return "bool1"
    if dtype in ODD_FILLS and source.chance(SELDOM):
        return ODD_FILLS[dtype]
    return FILLS.get(dtype, "ramp1") if source.chance(60) else "ramp1"


def _related(source: Source, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same shape, one that broadcasts with it, or one that it can be multiplied with as a matrix."""
    if source.chance(55):
        return shape
    if len(shape) >= 2 and source.chance(20):
        return (*shape[:-2], shape[-1], shape[-2])
    sizes = [1 if source.chance(35) else size for size in shape]
    return tuple(sizes[source.integer(0, len(sizes)) :] if source.chance(40) else sizes)
