"""Programs that begin midway through others: what steps made is given as inputs in their place. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .observation import Observation, State, StorageState, TensorState, owner_of, same_objects
from .program import ITEMSIZES, Argument, Input, Program, Ref, Step, Storage


def with_refs(step: Step, change: Callable[[Ref], Ref]) -> Step:
    """The step with its references changed; `change` raises LookupError where one has nothing to become."""
    return Step(step.op, _with_refs(step.args, change), _with_refs(step.kwargs, change))


def _with_refs(argument: Argument, change: Callable[[Ref], Ref]) -> Argument:
    if isinstance(argument, Ref):
        return change(argument)
    return tuple([_with_refs(item, change) for item in argument]) if isinstance(argument, tuple) else argument


class _Scene(NamedTuple):
    """All there is after some steps of a program, as the oracle saw it."""

    states: Mapping[str, State]
    contents: Mapping[str, StorageState]
    stands_for: Mapping[str, str]
    """Key of the value that a key stands for, where a step has answered with a value itself."""
    written: frozenset[str]
    """Storages that a step has written to, or made."""


def _scene(program: Program, seen: Sequence[Observation]) -> _Scene:
    states: dict[str, State] = {}
    contents: dict[str, StorageState] = {}
    stands_for: dict[str, str] = {}
    for number, observation in enumerate(seen, -1):
        states.update(observation.values)
        contents.update(observation.storages)
        stands_for.update(same_objects(observation, program.slot_of(number)))
    return _Scene(states, contents, stands_for, frozenset(name for o in seen[1:] for name in o.storages))


def without_steps(program: Program, seen: Sequence[Observation], first: int, last: int) -> Program | None:
    """The program without steps `first`…`last`: new inputs are laid out as what these steps made was after them.

    `seen` is what the oracle observed of the whole program. Values that lay in one storage still do. Where no step
    remains before them, inputs and storages are as these steps left them; else the storages begin as they did. A leaf
    begins without the gradient it had. The program is not whole where a value reaches outside its memory. None where a
    value cannot be an input: it is no plain tensor, or its memory cannot be seen or belongs to a step that remains.

    >>> from stridecheck.conformance.adapters.reference import Reference
    >>> from stridecheck.conformance.execute import execute
    >>> steps = (Step("t", (Ref(0),)), Step("neg", (Ref(1),)))
    >>> program = Program((Storage(24),), (Input("float32", (2, 3), (3, 1)),), steps)
    >>> midway = without_steps(program, execute(program, Reference()), 0, 0)
    >>> midway.inputs[1].shape, midway.inputs[1].strides, midway.steps
    ((3, 2), (1, 3), (Step(op='neg', args=(Ref(slot=1, item=None),), kwargs=()),))
    """
    scene = _scene(program, seen[: last + 2])
    slots = range(program.slot_of(first), program.slot_of(last + 1))
    made = [key for key in scene.states if _slot(key) in slots]
    storages = list(program.storages)
    places = {f"s{number}": number for number in range(len(storages))}
    if first == 0:
        for name in scene.written & places.keys():
            storages[places[name]] = _as_left(scene.contents[name], storages[places[name]].backing)

    def as_input(key: str) -> Input:
        state = scene.states[key]
        name = state.storage or ""
        if not isinstance(state, TensorState) or not _is_plain(state):
            raise LookupError
        if name not in places:
            if name not in scene.contents or (first and owner_of(name) not in made) or scene.contents[name].home:
                raise LookupError
            places[name] = len(storages)
            storages.append(_as_left(scene.contents[name], "owned"))
        if state.strides is None or state.offset is None:
            raise LookupError
        # A leaf that requires gradients stays one; what was computed from it cannot be told to be.
        is_leaf = {"g", "l"} <= set(state.flags or "")
        return Input(state.dtype, state.shape, state.strides, state.offset, places[name], is_leaf)

    try:
        inputs = [as_input(str(number)) if first == 0 else item for number, item in enumerate(program.inputs)]
        inputs += [as_input(key) for key in made]
        renumber = _Renumbering(program, scene, made, slots)
        kept = (*program.steps[:first], *program.steps[last + 1 :])
        steps = [with_refs(step, renumber) for step in kept]
    except LookupError:
        return None
    return replace(program, storages=tuple(storages), inputs=tuple(inputs), steps=tuple(steps))


class _Renumbering:
    """Where a value of the whole program is found in the one that begins midway."""

    def __init__(self, program: Program, scene: _Scene, made: Sequence[str], slots: range) -> None:
        self._stands_for, self._slots, self._inputs = scene.stands_for, slots, len(program.inputs)
        self._places = {key: self._inputs + number for number, key in enumerate(made)}

    def __call__(self, ref: Ref) -> Ref:
        key = self._stands_for.get(ref.key, ref.key) if ref.slot in self._slots else ref.key
        if key in self._places:
            return Ref(self._places[key])
        slot, _, item = key.partition(".")
        place = int(slot)
        if place in self._slots:
            raise LookupError  # a number, or what a step that raised did not make
        if place >= self._inputs:
            place += len(self._places)
        if int(slot) >= self._slots.stop:
            place -= len(self._slots)
        return Ref(place, int(item) if item else None)


def _is_plain(state: TensorState) -> bool:
    """Whether a tensor is no more than memory under a layout: no codes, no conjugate or negative bit."""
    return state.dtype in ITEMSIZES and not {"c", "n"} & set(state.flags or "")


def _slot(key: str) -> int:
    return int(key.partition(".")[0])


def _as_left(content: StorageState, backing: str) -> Storage:
    return Storage(len(content.data), "literal", backing, content.data)
