"""Makes failing programs as small as they can be while they still fail: pure functions over frozen values.

Greedy: kinds of simplification take turns, those that save most first, each going on from what the last one left, until
none of them is accepted any more or the budget of attempts is used up. A search is a generator, which yields a program
and is sent whether it still fails: so many searches can go on at once, and their programs be run together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from .layout import extent, in_order, row_major
from .midway import with_refs, without_steps
from .observation import Observation
from .program import ITEMSIZES, Argument, DType, Input, MemoryFormat, Program, Ref, Slice, Step, Storage

MAX_ATTEMPTS = 600

Observe: TypeAlias = Callable[[Program], Sequence[Observation] | None]
"""What the oracle observes of a program; None where it has nothing to say."""
Search: TypeAlias = Generator[Program, bool, Program]
"""Yields programs to try, is sent whether each still fails, and returns the smallest."""
_Trial: TypeAlias = Generator[Program, bool, bool]
_Pass: TypeAlias = Generator[Program, bool, None]


def shrink(
    program: Program, still_fails: Callable[[Program], bool], observe: Observe, *, max_attempts: int = MAX_ATTEMPTS
) -> Program:
    """The smallest program found for which `still_fails` is true; `program` itself where none smaller is.

    `still_fails` is called with programs that are whole (`Program.check` passes), each once, at most `max_attempts`
    times. Steps become inputs by what `observe` answers.
    """
    search = shrinking(program, observe, max_attempts=max_attempts)
    try:
        candidate = next(search)
        while True:
            candidate = search.send(still_fails(candidate))
    except StopIteration as found:
        smallest: Program = found.value
        return smallest


def shrinking(program: Program, observe: Observe, *, max_attempts: int = MAX_ATTEMPTS) -> Search:
    """The search that `shrink` makes, for a caller who runs the programs in another way."""
    state = _State(program, max_attempts)
    progress = True
    while progress:
        before = state.program
        yield from _steps_as_inputs(state, observe)
        yield from _fewer_steps(state)
        yield from _fewer_inputs(state)
        yield from _simpler_steps(state)
        yield from _simpler_shapes(state)
        yield from _simpler_inputs(state)
        yield from _simpler_storages(state)
        progress = state.program != before
    return program if state.program == program else replace(state.program, tags=())


class _State:
    """The smallest program so far, and those that were tried."""

    def __init__(self, program: Program, max_attempts: int) -> None:
        self.program = program
        self._left = max_attempts
        self._tried = {program}

    def accept(self, candidate: Program | None) -> _Trial:
        """Whether a candidate is whole, was not tried, and still fails: then the search goes on from it."""
        if candidate is None or candidate in self._tried or not self._left:
            return False
        self._tried.add(candidate)
        try:
            candidate.check()
        except ValueError:
            return False
        self._left -= 1
        if not (yield candidate):
            return False
        self.program = candidate
        return True

    def accept_any(self, candidates: Iterable[Program | None]) -> _Trial:
        """Whether one of the candidates was accepted, the first that can be."""
        for candidate in candidates:
            if (yield from self.accept(candidate)):
                return True
        return False


# Steps and values.


def _steps_as_inputs(state: _State, observe: Observe) -> _Pass:
    """Replace steps by inputs that look like what the steps made: all but the last at best, else single ones."""
    for last in range(len(state.program.steps) - 2, -1, -1):
        if (yield from _step_as_input(state, observe, 0, last)):
            break
    for number in range(len(state.program.steps) - 2, 0, -1):
        yield from _step_as_input(state, observe, number, number)


def _step_as_input(state: _State, observe: Observe, first: int, last: int) -> _Trial:
    seen = observe(state.program)
    midway = None if seen is None else without_steps(state.program, seen, first, last)
    if midway is None:
        return False
    # What nobody uses any more goes with the steps, unless it is what the failure shows in.
    return (yield from state.accept_any((_without_unused(midway), midway)))


def _fewer_steps(state: _State) -> _Pass:
    for count in range(1, len(state.program.steps)):
        if (yield from state.accept(replace(state.program, steps=state.program.steps[:count]))):
            break
    for number in range(len(state.program.steps) - 1, -1, -1):
        yield from state.accept(_without_step(state.program, number))


def _without_step(program: Program, number: int) -> Program | None:
    """The program without one step: what used its result uses its operand instead, or goes too."""
    slot = program.slot_of(number)
    operand = next(program.steps[number].refs(), None)

    def bypass(ref: Ref) -> Ref:
        if ref.slot != slot:
            return Ref(ref.slot - 1, ref.item) if ref.slot > slot else ref
        if operand is None:
            raise LookupError
        return operand

    try:
        after = [with_refs(step, bypass) for step in program.steps[number + 1 :]]
    except LookupError:
        return None
    return replace(program, steps=(*program.steps[:number], *after))


def _fewer_inputs(state: _State) -> _Pass:
    yield from state.accept_any((_without_unused(state.program), _without_unused_storages(state.program)))
    for number in range(len(state.program.inputs) - 1, -1, -1):
        yield from state.accept(_without_input(state.program, number))
    yield from state.accept(_in_order_of_use(state.program))


def _without_input(program: Program, number: int) -> Program | None:
    """The program without one input: the first of the others takes its place where it is used."""
    others = [n for n in range(len(program.inputs)) if n != number]
    if not others and any(ref.slot == number for step in program.steps for ref in step.refs()):
        return None
    return _with_inputs(program, others)


def _with_inputs(program: Program, kept: Sequence[int]) -> Program:
    """The program with these of its inputs, in this order; the first stands for those that are left out."""
    places = {slot: place for place, slot in enumerate(kept)}
    gone = len(program.inputs) - len(kept)

    def renumber(ref: Ref) -> Ref:
        return Ref(places.get(ref.slot, 0)) if ref.slot < len(program.inputs) else Ref(ref.slot - gone, ref.item)

    inputs = tuple(program.inputs[n] for n in kept)
    return replace(program, inputs=inputs, steps=tuple(with_refs(step, renumber) for step in program.steps))


def _used(program: Program) -> list[int]:
    """Inputs that a step uses, in the order of their first use."""
    slots = dict.fromkeys(ref.slot for step in program.steps for ref in step.refs())
    return [slot for slot in slots if slot < len(program.inputs)]


def _without_unused(program: Program) -> Program:
    return _without_unused_storages(_with_inputs(program, sorted(_used(program))))


def _without_unused_storages(program: Program) -> Program:
    return _with_storages(program, sorted({item.storage for item in program.inputs}))


def _with_storages(program: Program, kept: Sequence[int]) -> Program:
    """The program with these of its storages, in this order."""
    if any(storage.backing == "file" for storage in program.storages):
        return program  # steps name files by their storages' numbers
    inputs = tuple(replace(item, storage=kept.index(item.storage)) for item in program.inputs)
    return replace(program, storages=tuple(program.storages[n] for n in kept), inputs=inputs)


def _in_order_of_use(program: Program) -> Program:
    """The same program with its inputs and storages in the order in which they are needed."""
    program = _with_inputs(program, list(dict.fromkeys([*_used(program), *range(len(program.inputs))])))
    order = [*(item.storage for item in program.inputs), *range(len(program.storages))]
    return _with_storages(program, list(dict.fromkeys(order)))


# Inputs.


def _simpler_shapes(state: _State) -> _Pass:
    """Take out a dimension, or make a size smaller, in several places at once: parts of a program have to agree."""
    for rank in _repeated(len(numbers) for numbers in _lists(state.program)):
        for dim in range(rank - 1, -1, -1):
            yield from state.accept(_without_axis(state.program, rank, dim))
    for size in _repeated(chain.from_iterable(_lists(state.program))):
        yield from state.accept_any(_with_number(state.program, size, smaller) for smaller in _smaller(size, 1))


def _repeated(numbers: Iterable[int]) -> list[int]:
    """Numbers that there are more than once, largest first."""
    return sorted((number for number, count in Counter(numbers).items() if count > 1), reverse=True)


def _lists(program: Program) -> Iterator[tuple[int, ...]]:
    """Lists of numbers in a program: shapes of inputs, and arguments."""
    yield from (item.shape for item in program.inputs)
    for step in program.steps:
        yield from filter(_is_list, (*step.args, *(value for _, value in step.kwargs)))


def _is_list(argument: Argument) -> bool:
    return isinstance(argument, tuple) and all(type(item) is int for item in argument)


def _with_lists(program: Program, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> tuple[Step, ...]:
    """The steps with every argument changed that is a list of numbers."""

    def changed(value: Argument) -> Argument:
        return change(value) if _is_list(value) else value

    return tuple(
        Step(step.op, tuple(map(changed, step.args)), tuple((name, changed(value)) for name, value in step.kwargs))
        for step in program.steps
    )


def _without_axis(program: Program, rank: int, dim: int) -> Program:
    """One dimension less for all inputs of a rank, and one number less for all lists of that length."""
    inputs = tuple(_without_dim(item, dim) if len(item.shape) == rank else item for item in program.inputs)
    steps = _with_lists(program, lambda x: (*x[:dim], *x[dim + 1 :]) if len(x) == rank else x)
    return replace(program, inputs=inputs, steps=steps)


def _with_number(program: Program, number: int, smaller: int) -> Program:
    """A smaller number in the place of another in all shapes and lists."""

    def change(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([smaller if n == number else n for n in numbers])

    inputs = tuple(_compact(replace(item, shape=change(item.shape))) for item in program.inputs)
    return replace(program, inputs=inputs, steps=_with_lists(program, change))


def _simpler_inputs(state: _State) -> _Pass:
    """Make each input plainer, those of one shape together where that is possible: an operation may want it so."""
    for number in range(len(state.program.inputs)):
        shape = state.program.inputs[number].shape
        alike = tuple(n for n, item in enumerate(state.program.inputs) if item.shape == shape)
        for numbers in dict.fromkeys((alike, (number,))):
            yield from _simpler_input(state, numbers)


def _simpler_input(state: _State, numbers: tuple[int, ...]) -> _Pass:
    """Make some inputs of one shape plainer, all in the same way."""

    def item() -> Input:
        return state.program.inputs[numbers[0]]

    def accept(*changes: Callable[[Input], Input]) -> _Trial:
        return state.accept_any(_with_changed(state.program, numbers, change) for change in changes)

    yield from accept(lambda x: replace(x, requires_grad=False))
    yield from state.accept(_as_float32(state.program, numbers))
    yield from accept(lambda x: replace(_row_major(x), offset=0), _row_major, _compact)
    for dim in range(len(item().shape) - 1, -1, -1):
        if not (yield from accept(partial(_without_dim, dim=dim))):
            while (yield from accept(*_smaller_sizes(item(), dim))):
                pass
    while (yield from accept(*(partial(replace, offset=offset) for offset in _smaller(item().offset, 0)))):
        pass
    if item() == _row_major(item()):
        return  # nothing is plainer, though strides may be smaller
    for dim in range(len(item().shape) - 1, -1, -1):
        while (yield from accept(*(partial(_with_stride, dim=dim, to=to) for to in _smaller(item().strides[dim], 0)))):
            pass


def _with_changed(program: Program, numbers: Sequence[int], change: Callable[[Input], Input]) -> Program:
    """The program with some inputs changed, in storages that are large enough: one that was empty has no room."""
    inputs = [change(item) if n in numbers else item for n, item in enumerate(program.inputs)]
    program = replace(program, inputs=tuple(inputs))
    storages = [
        storage if storage.fill == "literal" else replace(storage, nbytes=max(storage.nbytes, _needed(program, number)))
        for number, storage in enumerate(program.storages)
    ]
    return replace(program, storages=tuple(storages))


def _smaller(number: int, least: int) -> list[int]:
    """Numbers to try in the place of one, smallest first."""
    return [n for n in sorted({least, least + 1, number // 2, number - 1}) if least <= n < number]


def _as_float32(program: Program, numbers: Sequence[int]) -> Program:
    """The program with some inputs of the most usual dtype; zeros and ones make poor numbers."""
    program = _with_changed(program, numbers, lambda x: replace(x, dtype="float32"))
    storages = [
        replace(storage, fill=_plain_fill(program, number)) if storage.fill == "bool1" else storage
        for number, storage in enumerate(program.storages)
    ]
    return replace(program, storages=tuple(storages))


def _without_dim(item: Input, dim: int) -> Input:
    shape = (*item.shape[:dim], *item.shape[dim + 1 :])
    fewer = replace(item, shape=shape, strides=(*item.strides[:dim], *item.strides[dim + 1 :]))
    return _row_major(fewer) if item == _row_major(item) else fewer


def _smaller_sizes(item: Input, dim: int) -> Iterator[Callable[[Input], Input]]:
    for size in _smaller(item.shape[dim], 1):
        yield lambda x, n=size: _compact(_with_size(x, dim, n))  # type: ignore[misc]
        yield partial(_with_size, dim=dim, to=size)


def _with_size(item: Input, dim: int, to: int) -> Input:
    return replace(item, shape=(*item.shape[:dim], to, *item.shape[dim + 1 :]))


def _with_stride(item: Input, dim: int, to: int) -> Input:
    return replace(item, strides=(*item.strides[:dim], to, *item.strides[dim + 1 :]))


def _compact(item: Input) -> Input:
    return replace(item, strides=_dense(item.shape, item.strides))


def _dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Strides without gaps for dimensions in the order that these strides have; expanded ones stay so."""
    inwards_out = sorted(range(len(shape)), key=lambda d: (strides[d], -d))
    return in_order(shape, [dim for dim in inwards_out if strides[dim]])


def _row_major(item: Input) -> Input:
    return replace(item, strides=row_major(item.shape))


# Storages.


def _simpler_storages(state: _State) -> _Pass:
    for number in range(len(state.program.storages)):
        while (yield from state.accept_any(_with_simpler_storage(state.program, number))):
            pass


def _with_simpler_storage(program: Program, number: int) -> Iterator[Program]:
    for simpler in _simpler_storage(program, number):
        yield replace(program, storages=_put(program.storages, number, simpler))


def _put(items: tuple[Any, ...], place: int, item: Any) -> tuple[Any, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _simpler_storage(program: Program, number: int) -> Iterator[Storage]:
    """Plainer storages in the place of one."""
    storage = program.storages[number]
    if storage.backing != "owned":
        yield replace(storage, backing="owned")
    for fill in (_plain_fill(program, number), *(("index1", "zeros1") if storage.fill == "literal" else ())):
        if storage.fill != fill:
            yield replace(storage, fill=fill, data=b"")
    needed = _needed(program, number)
    for nbytes in (needed, (needed + storage.nbytes) // 2):
        if nbytes < storage.nbytes:
            yield replace(storage, nbytes=nbytes, data=storage.data[:nbytes])


def _plain_fill(program: Program, number: int) -> str:
    """The usual fill; where a bool tensor lies, the one of zeros and ones."""
    return "bool1" if any(i.dtype == "bool" for i in program.inputs if i.storage == number) else "ramp1"


def _needed(program: Program, number: int) -> int:
    """Bytes that the inputs reach in a storage."""
    inputs = (item for item in program.inputs if item.storage == number)
    return max((extent(x.shape, x.strides, x.offset)[1] * ITEMSIZES[x.dtype] for x in inputs), default=0)


# Arguments.


def _simpler_steps(state: _State) -> _Pass:
    for number in range(len(state.program.steps)):
        while (yield from state.accept_any(_with_simpler_step(state.program, number))):
            pass


def _with_simpler_step(program: Program, number: int) -> Iterator[Program]:
    for simpler in _simpler_step(program.steps[number]):
        yield replace(program, steps=_put(program.steps, number, simpler))


def _simpler_step(step: Step) -> Iterator[Step]:
    for place in range(len(step.kwargs)):
        yield replace(step, kwargs=(*step.kwargs[:place], *step.kwargs[place + 1 :]))
    for place, argument in enumerate(step.args):
        for simpler in _simpler_argument(argument):
            yield replace(step, args=_put(step.args, place, simpler))
    for place, (name, argument) in enumerate(step.kwargs):
        for simpler in _simpler_argument(argument):
            yield replace(step, kwargs=_put(step.kwargs, place, (name, simpler)))


def _simpler_argument(argument: Argument) -> Iterator[Argument]:
    match argument:
        case bool() | None | DType() | MemoryFormat():
            return
        case int():
            numbers = (0, 1, argument // 2, argument - 1, -argument)
            yield from (n for n in numbers if (abs(n), n < 0) < (abs(argument), argument < 0))
        case float() if argument != 1.0:
            yield 1.0
        case bytes() if argument:
            yield argument[: len(argument) // 2]
            yield bytes(len(argument))
        case Ref(slot, _):
            yield from (Ref(earlier) for earlier in range(slot))
        case Slice(start, stop, step):
            for parts in ((None, stop, step), (start, None, step), (start, stop, None)):
                if parts != (start, stop, step):
                    yield Slice(*parts)
            if start:
                yield Slice(start - 1 if start > 0 else start + 1, stop, step)
        case tuple():
            for place in range(len(argument)):
                yield (*argument[:place], *argument[place + 1 :])
            for place, item in enumerate(argument):
                for simpler in _simpler_argument(item):
                    yield _put(argument, place, simpler)
