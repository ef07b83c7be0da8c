"""A case's program made ready on one library: set up, run once under observation, its result compared, its call bound.

Setting up and observing go through `conformance.execute`, as every program does; only the bound call is timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from stridecheck.conformance.capabilities import needs
from stridecheck.conformance.elements import MAX_ELEMENTS, differing, elements, marks, show
from stridecheck.conformance.execute import Execution
from stridecheck.conformance.observation import Observation, State, StorageObject, StorageState, TensorState
from stridecheck.conformance.program import ITEMSIZES, Program, Step
from stridecheck.conformance.protocol import Adapter, OracleError, Unsupported

from .clock import Call, Take, bind
from .device import take_of
from .memory import is_lack
from .traffic import touched_bytes, writes_before

Storages: TypeAlias = Mapping[str, StorageState]


class CaseFailed(Exception):
    """The library raised, or answered wrongly; the message says what."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the timed step answered: the states of its results, and the storages as they were then."""

    states: tuple[TensorState, ...]
    storages: Storages
    copied: bool | None = None
    """Whether the results lie in memory of their own; None where a step writes, or nobody can tell."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One program on one library, ready to be timed."""

    call: Call
    """Runs the timed step once more."""
    take: Take
    """Times it: on a device by the device's events, where it has some."""
    output_bytes: int
    touched_bytes: int
    copied: bool | None
    """Whether the result lies in fresh memory; None where the step writes into old memory, or nobody can tell."""
    predicted: bool | None = None
    """The same of the oracle, which does as PyTorch; None where it was not asked."""


def prepare(program: Program, adapter: Any, expected: Answer | None = None, timed: int = 1) -> Prepared:
    """Set up a program on a library, run its last steps once, compare what they answer, and bind them for the clock.

    The last `timed` steps are one call; the first argument of each is then what the one before answered.

    Raises
    ------
    Unsupported
        The library does not claim what the program needs.
    CaseFailed
        A step raised, or the answer is not the expected one.
    MemoryError
        There is too little memory.
    """
    execution, steps = _set_up(program, adapter, timed)
    before = _tensors(execution)
    call = bind(*execution.bound(steps[0]), needs=execution)  # files go with the run that they belong to
    answer = _answer(program, execution, steps)
    for step in steps[1:]:
        function, (_, *others) = execution.bound(step)
        call = _then(call, function, others)
    if expected is not None:
        check_answer(expected, answer)
    return Prepared(
        call=call,
        take=take_of(adapter),
        output_bytes=sum(math.prod(state.shape) * ITEMSIZES.get(state.dtype, 1) for state in answer.states),
        touched_bytes=touched_bytes(steps, before, answer.states),
        copied=answer.copied,
        predicted=None if expected is None else expected.copied,
    )


def _then(before: Call, function: Callable[..., Any], others: Sequence[Any]) -> Call:
    """A call that goes on with what another answers."""
    return (lambda: function(before(), *others)) if others else (lambda: function(before()))


def _set_up(program: Program, adapter: Any, timed: int) -> tuple[Execution, Sequence[Step]]:
    """The program run up to its last `timed` steps, and those."""
    missing = adapter.capabilities.missing(needs(program))
    if missing is not None:
        raise Unsupported(missing)
    execution = Execution(adapter, program.storages, program.inputs)
    for step in program.steps[:-timed]:
        _check_raised(step, execution.step(step))
    return execution, program.steps[-timed:]


def _check_raised(step: Step, observation: Observation) -> None:
    raised = observation.raised
    if raised is not None:
        if is_lack(raised.type, raised.text):
            raise MemoryError(raised.text)
        raise CaseFailed(f"{step.op} raised {raised.type}: {raised.text}")


def _answer(program: Program, execution: Execution, steps: Sequence[Step]) -> Answer:
    """Run the last steps: the tensors and storages that the very last answers with, and all storages."""
    before = _tensors(execution)
    for step in steps:
        observation = execution.step(step)
        _check_raised(step, observation)
    slot, results = program.slot_of(len(program.steps) - 1), observation.results or ()
    own = [f"{slot}.{item}" for item in range(len(results))] if observation.is_tuple else [str(slot)]
    keys = [own[item] if result is None else result for item, result in enumerate(results)]
    known = {**execution.states, **execution.others}
    states = [_as_tensor(known.get(key)) if isinstance(key, str) else None for key in keys]
    if not states or None in states:
        raise CaseFailed(f"{step.op} answered {list(results)}, but should answer tensors or storages")
    seen = tuple([state for state in states if state is not None])
    return Answer(seen, dict(execution.contents), _copied(steps, before, seen))


def _tensors(execution: Execution) -> dict[str, TensorState]:
    """What there is by now, as memory to be read."""
    known = {**execution.states, **execution.others}
    return {key: seen for key, state in known.items() if (seen := _as_tensor(state)) is not None}


def _as_tensor(state: State | None) -> TensorState | None:
    """A value as memory to be read; a storage is its bytes."""
    if isinstance(state, StorageObject):
        return TensorState("uint8", (state.nbytes,), (1,), 0, storage=state.storage)
    return state if isinstance(state, TensorState) else None


def _copied(steps: Sequence[Step], before: Mapping[str, TensorState], states: Sequence[TensorState]) -> bool | None:
    if writes_before(steps, before) or any(state.storage is None for state in states):
        return None
    old = {known.storage for known in before.values()}
    return not any(state.storage in old for state in states)


def expected_answer(program: Program, oracle: Adapter, timed: int = 1) -> Answer | None:
    """What the oracle answers, None where it lacks the operation or fails with it."""
    try:
        execution, steps = _set_up(program, oracle, timed)
        return _answer(program, execution, steps)
    except (Unsupported, OracleError, CaseFailed):
        return None


def check_answer(expected: Answer, got: Answer) -> None:
    """Compare results with the oracle's: how many, shape, dtype, and every element whose value is specified.

    Raises
    ------
    CaseFailed
        It is another one.
    """
    if len(expected.states) != len(got.states):
        raise CaseFailed(f"wrong result: it is {len(got.states)} values, but should be {len(expected.states)}")
    for ours, theirs in zip(expected.states, got.states, strict=True):
        _check_one(ours, theirs, expected.storages, got.storages)


def _check_one(ours: TensorState, theirs: TensorState, ours_in: Storages, theirs_in: Storages) -> None:
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        wanted = f"{ours.dtype}{list(ours.shape)}"
        raise CaseFailed(f"wrong result: it is {theirs.dtype}{list(theirs.shape)}, but should be {wanted}")
    done = 0
    for mine, other in zip(_slabs(ours), _slabs(theirs), strict=True):
        a, b = elements(mine, ours_in), elements(other, theirs_in)
        if a is None or b is None:
            return
        # Nearly always all are equal, which is quickly seen; which ones differ is not.
        if not np.array_equal(a, b):
            wrong = differing(mine.dtype, a, b, marks(mine, ours_in))
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
