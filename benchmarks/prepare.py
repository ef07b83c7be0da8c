"""A case's program made ready on one library: set up, run once under observation, its result compared, its call bound.

Setting up and observing go through `conformance.execute`, as every program does; only the bound call is timed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from stridecheck.conformance.capabilities import needs
from stridecheck.conformance.elements import MAX_ELEMENTS, differing, elements, marks, show
from stridecheck.conformance.execute import Execution
from stridecheck.conformance.observation import Observation, StorageState, TensorState
from stridecheck.conformance.operations import OPERATIONS, overload
from stridecheck.conformance.program import ITEMSIZES, Program, Step
from stridecheck.conformance.protocol import Adapter, OracleError, Unsupported

from .clock import Call, bind
from .traffic import touched_bytes


class CaseFailed(Exception):
    """The library raised, or answered wrongly; the message says what."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the timed step answered: the state of its result, and the storages as they were then."""

    state: TensorState
    storages: Mapping[str, StorageState]


@dataclass(frozen=True, slots=True)
class Prepared:
    """One program on one library, ready to be timed."""

    call: Call
    """Runs the timed step once more."""
    synchronize: Call | None
    """Waits for the device, where there is one."""
    output_bytes: int
    touched_bytes: int
    copied: bool | None
    """Whether the result lies in fresh memory; None where the step writes into old memory, or nobody can tell."""


def prepare(program: Program, adapter: Any, expected: Answer | None = None) -> Prepared:
    """Set up a program on a library, run its last step once, compare what it answers, and bind that step for the clock.

    Raises
    ------
    Unsupported
        The library does not claim what the program needs.
    CaseFailed
        A step raised, or the answer is not the expected one.
    MemoryError
        There is too little memory.
    """
    execution, timed = _set_up(program, adapter)
    before = dict(execution.states)
    call = bind(*execution.bound(timed))
    answer = _answer(program, execution)
    if expected is not None:
        check_answer(expected, answer)
    state = answer.state
    return Prepared(
        call=call,
        synchronize=getattr(adapter, "synchronize", None),
        output_bytes=math.prod(state.shape) * ITEMSIZES.get(state.dtype, 1),
        touched_bytes=touched_bytes(timed, before, [state]),
        copied=_copied(timed, before, state),
    )


def _set_up(program: Program, adapter: Any) -> tuple[Execution, Step]:
    """The program run up to its last step, and that step."""
    missing = adapter.capabilities.missing(needs(program))
    if missing is not None:
        raise Unsupported(missing)
    execution = Execution(adapter, program.storages, program.inputs)
    *before, timed = program.steps
    for step in before:
        _check_raised(step, execution.step(step))
    return execution, timed


def _check_raised(step: Step, observation: Observation) -> None:
    raised = observation.raised
    if raised is not None:
        if raised.type == "MemoryError":
            raise MemoryError(raised.text)
        raise CaseFailed(f"{step.op} raised {raised.type}: {raised.text}")


def _answer(program: Program, execution: Execution) -> Answer:
    """Run the last step: the one tensor that it answers with, and all storages."""
    number = len(program.steps) - 1
    step = program.steps[number]
    observation = execution.step(step)
    _check_raised(step, observation)
    results = observation.results or ()
    if len(results) != 1 or isinstance(results[0], tuple):
        raise CaseFailed(f"{step.op} answered {len(results)} results, but should answer one tensor")
    state = execution.states[results[0] or str(program.slot_of(number))]
    return Answer(state, dict(execution.contents))


def _copied(step: Step, before: Mapping[str, TensorState], state: TensorState) -> bool | None:
    if state.storage is None or OPERATIONS[overload(step)].writes:
        return None
    return all(state.storage != known.storage for known in before.values())


def expected_answer(program: Program, oracle: Adapter) -> Answer | None:
    """What the oracle answers, None where it lacks the operation or fails with it."""
    try:
        execution, _ = _set_up(program, oracle)
        return _answer(program, execution)
    except (Unsupported, OracleError, CaseFailed):
        return None


def check_answer(expected: Answer, got: Answer) -> None:
    """Compare a result with the oracle's: shape, dtype, and every element whose value is specified.

    Raises
    ------
    CaseFailed
        It is another one.
    """
    ours, theirs = expected.state, got.state
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        wanted = f"{ours.dtype}{list(ours.shape)}"
        raise CaseFailed(f"wrong result: it is {theirs.dtype}{list(theirs.shape)}, but should be {wanted}")
    done = 0
    for mine, other in zip(_slabs(ours), _slabs(theirs), strict=True):
        a, b = elements(mine, expected.storages), elements(other, got.storages)
        if a is None or b is None:
            return
        # Nearly always all are equal, which is quickly seen; which ones differ is not.
        if not np.array_equal(a, b):
            wrong = differing(mine.dtype, a, b, marks(mine, expected.storages))
            if wrong.any():
                place = int(np.flatnonzero(wrong)[0])
                index = tuple(int(i) for i in np.unravel_index(done + place, ours.shape))
                text = f"element {index} is {show(ours.dtype, b[place])}, but should be {show(ours.dtype, a[place])}"
                raise CaseFailed(f"wrong result: {text}")
        done += len(a)


def _slabs(state: TensorState) -> Iterator[TensorState]:
    """The tensor in parts along its first dimension, each small enough to be gathered."""
    numel = math.prod(state.shape)
    if numel <= MAX_ELEMENTS:
        yield state
        return
    row = numel // state.shape[0]
    rows = max(1, MAX_ELEMENTS // row)
    itemsize = ITEMSIZES.get(state.dtype, 1)
    for first in range(0, state.shape[0], rows):
        shape = (min(rows, state.shape[0] - first), *state.shape[1:])
        if state.data is not None:
            part = state.data[first * row * itemsize : (first + shape[0]) * row * itemsize]
            yield state._replace(shape=shape, data=part)
        elif state.strides is None or state.offset is None:
            yield state._replace(shape=shape)
        else:
            yield state._replace(shape=shape, offset=state.offset + first * state.strides[0])
