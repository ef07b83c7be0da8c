"""Makes a failing program as small as it can be while it still fails: a pure function over frozen values.

Greedy: each kind of simplification is tried in turn until none is accepted, or the budget of attempts is used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .program import ITEMSIZES, Argument, DType, Input, MemoryFormat, Program, Ref, Slice, Step, Storage, span

MAX_ATTEMPTS = 600


def shrink(program: Program, still_fails: Callable[[Program], bool], *, max_attempts: int = MAX_ATTEMPTS) -> Program:
    """The smallest program found for which `still_fails` is true; `program` itself where none smaller is.

    `still_fails` is called with programs that are whole (`Program.check` passes), at most `max_attempts` times.
    """
    attempts = 0
    tried = {program.id}
    progress = True
    while progress:
        progress = False
        for candidate in _candidates(program):
            if attempts >= max_attempts:
                return program
            try:
                candidate.check()
            except ValueError:
                continue
            if candidate.id in tried:
                continue
            tried.add(candidate.id)
            attempts += 1
            if still_fails(candidate):
                program, progress = candidate, True
                break
    return program


def _candidates(program: Program) -> Iterator[Program]:
    """Simpler programs, those that save most first."""
    for count in range(1, len(program.steps)):
        yield replace(program, steps=program.steps[:count])
    for number in range(len(program.steps) - 1, -1, -1):
        yield from _without_step(program, number)
    for number in range(len(program.inputs)):
        yield from _without_input(program, number)
    yield _without_unused_storages(program)
    for number, item in enumerate(program.inputs):
        for simpler in _simpler_inputs(item):
            yield _with_input(program, number, simpler)
    for number, storage in enumerate(program.storages):
        for simpler_storage in _simpler_storages(program, number, storage):
            storages = (*program.storages[:number], simpler_storage, *program.storages[number + 1 :])
            yield replace(program, storages=storages)
    for number, step in enumerate(program.steps):
        for simpler_step in _simpler_steps(step):
            yield replace(program, steps=(*program.steps[:number], simpler_step, *program.steps[number + 1 :]))
    if program.tags:
        yield replace(program, tags=())


# Steps and values.


def _map_refs(value: Argument, change: Callable[[Ref], Ref | None]) -> Argument:
    """The argument with its references changed; raises LookupError where one has nothing to become."""
    if isinstance(value, Ref):
        changed = change(value)
        if changed is None:
            raise LookupError
        return changed
    if isinstance(value, tuple):
        return tuple(_map_refs(item, change) for item in value)
    return value


def _map_step(step: Step, change: Callable[[Ref], Ref | None]) -> Step:
    return Step(
        step.op,
        tuple(_map_refs(a, change) for a in step.args),
        tuple((name, _map_refs(value, change)) for name, value in step.kwargs),
    )


def _without_step(program: Program, number: int) -> Iterator[Program]:
    """The program without one step: what used its result uses its operand instead, or goes too."""
    slot = program.slot_of(number)
    operand = next(program.steps[number].refs(), None)

    def bypass(ref: Ref) -> Ref | None:
        if ref.slot == slot:
            return operand
        return Ref(ref.slot - 1, ref.item) if ref.slot > slot else ref

    steps = (*program.steps[:number], *program.steps[number + 1 :])
    try:
        yield replace(program, steps=tuple(_map_step(step, bypass) for step in steps))
    except LookupError:
        return


def _without_input(program: Program, number: int) -> Iterator[Program]:
    """The program without one input: another takes its place where it is used."""

    def renumber(ref: Ref) -> Ref | None:
        if ref.slot == number:
            return Ref(0) if len(program.inputs) > 1 else None
        return Ref(ref.slot - 1, ref.item) if ref.slot > number else ref

    try:
        steps = tuple(_map_step(step, renumber) for step in program.steps)
    except LookupError:
        return
    yield replace(program, inputs=(*program.inputs[:number], *program.inputs[number + 1 :]), steps=steps)


def _without_unused_storages(program: Program) -> Program:
    used = sorted({item.storage for item in program.inputs})
    inputs = tuple(replace(item, storage=used.index(item.storage)) for item in program.inputs)
    return replace(program, storages=tuple(program.storages[i] for i in used), inputs=inputs)


# Inputs and storages.


def _with_input(program: Program, number: int, item: Input) -> Program:
    return replace(program, inputs=(*program.inputs[:number], item, *program.inputs[number + 1 :]))


def _simpler_inputs(item: Input) -> Iterator[Input]:
    if item.requires_grad:
        yield replace(item, requires_grad=False)
    if item.dtype not in ("float32", "bool"):
        yield replace(item, dtype="float32")
    if item.offset:
        yield replace(item, offset=0)
        yield replace(item, offset=item.offset // 2)
        yield replace(item, offset=item.offset - 1)
    row_major = _row_major(item.shape)
    if item.strides != row_major:
        yield replace(item, strides=row_major)
    dense = _dense(item.shape, item.strides)
    if item.strides != dense:
        yield replace(item, strides=dense)
    for dim, size in enumerate(item.shape):
        rest = (*item.shape[:dim], *item.shape[dim + 1 :]), (*item.strides[:dim], *item.strides[dim + 1 :])
        yield replace(item, shape=rest[0], strides=rest[1])
        for smaller in sorted({1, 2, size // 2, size - 1}):
            if 0 < smaller < size:
                shape = (*item.shape[:dim], smaller, *item.shape[dim + 1 :])
                yield replace(item, shape=shape)
                yield replace(item, shape=shape, strides=_dense(shape, item.strides))
    for dim, stride in enumerate(item.strides):
        for smaller in sorted({0, 1, row_major[dim], stride // 2, stride - 1}):
            if 0 <= smaller < stride:
                yield replace(item, strides=(*item.strides[:dim], smaller, *item.strides[dim + 1 :]))


def _dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Strides without gaps for dimensions in the order that these strides have; expanded ones stay so."""
    dense, running = list(strides), 1
    for dim in sorted(range(len(shape)), key=lambda d: (strides[d], -d)):
        if strides[dim]:
            dense[dim] = running
            running *= max(shape[dim], 1)
    return tuple(dense)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, running = [], 1
    for size in reversed(shape):
        strides.append(running)
        running *= max(size, 1)
    return tuple(reversed(strides))


def _simpler_storages(program: Program, number: int, storage: Storage) -> Iterator[Storage]:
    if storage.backing != "owned":
        yield replace(storage, backing="owned")
    if storage.fill == "literal":
        return
    needed = 0
    for item in program.inputs:
        if item.storage == number:
            needed = max(needed, span(item.shape, item.strides, item.offset)[1] * ITEMSIZES[item.dtype])
    for smaller in (needed, (needed + storage.nbytes) // 2):
        if smaller < storage.nbytes:
            yield replace(storage, nbytes=smaller)


# Arguments.


def _simpler_steps(step: Step) -> Iterator[Step]:
    for position in range(len(step.kwargs)):
        yield replace(step, kwargs=(*step.kwargs[:position], *step.kwargs[position + 1 :]))
    for position, argument in enumerate(step.args):
        for simpler in _simpler_arguments(argument):
            yield replace(step, args=(*step.args[:position], simpler, *step.args[position + 1 :]))
    for position, (name, argument) in enumerate(step.kwargs):
        for simpler in _simpler_arguments(argument):
            kwargs = (*step.kwargs[:position], (name, simpler), *step.kwargs[position + 1 :])
            yield replace(step, kwargs=kwargs)


def _simpler_arguments(argument: Argument) -> Iterator[Argument]:
    match argument:
        case bool() | None | DType() | MemoryFormat():
            return
        case int():
            yield from (n for n in (0, 1, argument // 2, argument - 1, -argument) if _simpler(n, argument))
        case float() if argument != 1.0:
            yield 1.0
        case Ref(slot, _):
            yield from (Ref(earlier) for earlier in range(slot))
        case Slice(start, stop, step):
            for parts in ((None, stop, step), (start, None, step), (start, stop, None)):
                if parts != (start, stop, step):
                    yield Slice(*parts)
            if start:
                yield Slice(start - 1 if start > 0 else start + 1, stop, step)
        case tuple():
            for position in range(len(argument)):
                yield (*argument[:position], *argument[position + 1 :])
            for position, item in enumerate(argument):
                for simpler in _simpler_arguments(item):
                    yield (*argument[:position], simpler, *argument[position + 1 :])


def _simpler(candidate: int, argument: int) -> bool:
    return (abs(candidate), candidate < 0) < (abs(argument), argument < 0)
