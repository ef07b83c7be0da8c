"""Observations with one thing otherwise: what a library with one defect would have left behind.

Pure functions over frozen observations. A suite that cannot tell these from the oracle's own would not notice the
defect either: `tests/conformance/test_sensitivity.py` holds every rule to it in every aspect that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stridecheck.reference_impl.shadow import EXACT, NAN, UNSPECIFIED

from .capabilities import ASPECTS
from .classify import Event, events
from .elements import marks
from .layout import addressed, extent
from .observation import ForeignState, Observation, Raised, State, StorageObject, StorageState, TensorState
from .operations import OPERATIONS
from .program import ITEMSIZES, Program


@dataclass(frozen=True)
class Place:
    """One step of a program that was observed: `number` is that of its observation, the inputs being number 0.

    `contents` are the storages as the step left them.
    """

    program: Program
    observations: Sequence[Observation]
    number: int
    event: Event
    contents: Mapping[str, StorageState]

    @property
    def observation(self) -> Observation:
        """What the step left behind."""
        return self.observations[self.number]

    def with_observation(self, observation: Observation) -> list[Observation]:
        """The whole program's observations with another one at this place."""
        return [*self.observations[: self.number], observation, *self.observations[self.number + 1 :]]

    def state(self, key: str) -> State:
        """A value as the step left it."""
        event = self.event
        return self.observation.values.get(key) or event.after.get(key) or event.known[key]

    def operands(self) -> list[str]:
        """Keys of the values that the step uses, of every kind."""
        event = self.event
        keys = [event.named(ref) for ref in event.step.refs()]
        return [key for key in keys if key in event.before or key in event.known]

    def concerned(self) -> list[str]:
        """Keys of what the step is about: its first result, its first operand, and whatever else it changed.

        Where no tensor is among them, also of one that should have stayed as it was, rather over the same memory.
        """
        event = self.event
        known = [key for key in (event.y_key, event.x_key) if key in event.after or key in event.known]
        found = list(dict.fromkeys([*known, *self.observation.values]))
        if not any(isinstance(self.state(key), TensorState) for key in found):
            memory = event.operand.storage if event.operand is not None else None
            found += sorted(event.before, key=lambda key: event.before[key].storage != memory)[:1]
        return found


def places(program: Program, observations: Sequence[Observation]) -> Iterator[Place]:
    """Every step of a program that was not skipped."""
    contents = dict(observations[0].storages)
    for number, event in enumerate(events(program, observations), 1):
        contents |= observations[number].storages
        if event is not None:
            yield Place(program, observations, number, event, dict(contents))


def perturbed(place: Place, aspect: str) -> Iterator[Observation]:
    """Observations of the step that differ from the expected one in that aspect, in one thing each.

    Some aspects bring others with them: with other strides the layout differs, and what the elements are. None where
    the aspect has nothing to say: a tensor with a single element has no stride that matters.

    Raises
    ------
    KeyError
        There is no such aspect.
    """
    return _WAYS[aspect](place)


def _with_state(place: Place, key: str, **changes: Any) -> Observation:
    """The observation with a value described otherwise."""
    values = {**place.observation.values, key: place.state(key)._replace(**changes)}
    return place.observation._replace(values=values)


def _with_content(place: Place, name: str, **changes: Any) -> Observation:
    """The observation with a storage that holds something else, or lies elsewhere."""
    storages = {**place.observation.storages, name: place.contents[name]._replace(**changes)}
    return place.observation._replace(storages=storages)


def _with_result(place: Place, at: int, result: Any) -> Observation:
    """The observation with another answer."""
    results = place.observation.results or ()
    return place.observation._replace(results=(*results[:at], result, *results[at + 1 :]))


def _each_state(place: Place) -> Iterator[tuple[str, State]]:
    for key in place.concerned():
        yield key, place.state(key)


def _raises(place: Place) -> Iterator[Observation]:
    if place.observation.raised is None:
        yield place.observation._replace(results=None, is_tuple=False, raised=Raised("RuntimeError", "refused", "size"))
    else:
        yield place.observation._replace(results=(), raised=None)


def _error_kinds(place: Place) -> Iterator[Observation]:
    raised = place.observation.raised
    if raised is None:
        return
    if raised.kind is not None:
        yield place.observation._replace(raised=raised._replace(kind="step" if raised.kind != "step" else "size"))
    yield place.observation._replace(raised=raised._replace(type="OSError"))


def _shapes(place: Place) -> Iterator[Observation]:
    for key, state in _each_state(place):
        if isinstance(state, StorageObject):
            yield _with_state(place, key, nbytes=state.nbytes + 1)
            yield _with_state(place, key, dtype="int8" if state.dtype != "int8" else "uint8")
            continue
        yield _with_state(place, key, dtype="int8" if state.dtype != "int8" else "uint8")
        if state.shape:
            yield _with_state(place, key, shape=(*state.shape[:-1], state.shape[-1] + 1))
    results = place.observation.results
    if results:
        yield place.observation._replace(results=(*results, None))


def _strides(place: Place) -> Iterator[Observation]:
    for key, state in _each_state(place):
        if isinstance(state, StorageObject) or state.strides is None or 0 in state.shape:
            continue
        for dim, size in enumerate(state.shape):
            if size > 1:
                yield _with_state(place, key, strides=_plus_one(state.strides, dim))


def _layouts(place: Place) -> Iterator[Observation]:
    for key, state in _each_state(place):
        if isinstance(state, StorageObject) or state.strides is None or state.offset is None:
            continue
        yield _with_state(place, key, offset=state.offset + 1)
        for dim, size in enumerate(state.shape):
            if size < 2:
                yield _with_state(place, key, strides=_plus_one(state.strides, dim))


def _plus_one(strides: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return tuple([stride + (d == dim) for d, stride in enumerate(strides)])


def _contiguities(place: Place) -> Iterator[Observation]:
    for key, state in _each_state(place):
        told = state.contiguity if isinstance(state, TensorState) else ""
        for at, letter in enumerate(told):
            if letter != "-":
                other = "F" if letter == "T" else "T"
                yield _with_state(place, key, contiguity=told[:at] + other + told[at + 1 :])


def _sharings(place: Place) -> Iterator[Observation]:
    for at, result in enumerate(place.observation.results or ()):
        if isinstance(result, str):
            yield _with_result(place, at, None)
        elif result is None and place.event.x_key:
            yield _with_result(place, at, place.event.x_key)
        elif result is not None and result[0] == "address":
            yield _with_result(place, at, ("address", "elsewhere"))
    for key, state in _each_state(place):
        if state.storage is not None:
            yield _with_state(place, key, storage="s99")
    for name, content in place.observation.storages.items():
        if content.home is None or content.home[0] != "meta":
            yield _with_content(place, name, home=("s99", 0))


def _flags(place: Place) -> Iterator[Observation]:
    for key, state in _each_state(place):
        if isinstance(state, StorageObject):
            for letter in "rsfm":
                yield _with_state(place, key, flags=_toggled(state.flags, letter))
        elif isinstance(state, ForeignState):
            yield _with_state(place, key, writable=not state.writable)
            yield _with_state(place, key, header=(*state.header, 99))
        elif state.version is not None:
            yield _with_state(place, key, version=state.version + 1)
        if isinstance(state, TensorState) and state.flags is not None:
            yield _with_state(place, key, base="hidden" if state.base is None else None)
            for letter in "glcnv":
                yield _with_state(place, key, flags=_toggled(state.flags, letter))


def _toggled(flags: str, letter: str) -> str:
    return flags.replace(letter, "") if letter in flags else flags + letter


def _values(place: Place) -> Iterator[Observation]:
    for at, result in enumerate(place.observation.results or ()):
        if isinstance(result, tuple) and result[0] != "address" and _is_specified(place):
            yield _with_result(place, at, ("scalar", f"not {result[1]}"))
    for key, state in _each_state(place):
        if isinstance(state, TensorState):
            if state.quantizer is not None:
                yield _with_state(place, key, quantizer=f"not {state.quantizer}")
            if (found := _other_element(state, place.contents)) is not None:
                yield _with_content(place, state.storage or "", data=found)


def _is_specified(place: Place) -> bool:
    """Whether what a step answers is known: not where it reads elements that are only known roughly, or not at all."""
    operation = OPERATIONS.get(place.event.entry)
    if operation is not None and not operation.reads:
        return True
    operands = [place.state(key) for key in place.operands()]
    known = [marks(state, place.contents) for state in operands]
    return not any(found is not None and found.any() for found in known)


def _other_element(state: TensorState, contents: Mapping[str, StorageState]) -> bytes | None:
    """Bytes of a tensor's storage in which its first specified element is another; None where it has none."""
    content, itemsize = contents.get(state.storage or ""), ITEMSIZES.get(state.dtype)
    if content is None or itemsize is None or state.strides is None or state.offset is None:
        return None
    if extent(state.shape, state.strides, state.offset)[1] * itemsize > len(content.data):
        return None
    known = marks(state, contents)
    for number, place in enumerate(addressed(state.shape, state.strides, state.offset)):
        start = place * itemsize
        mark = EXACT if known is None else known[number]
        if mark == UNSPECIFIED:
            continue
        data = bytearray(content.data)
        if mark == EXACT:
            data[start] ^= 1
        else:
            # What is specified within a tolerance of the largest element only differs for sure where it is a NaN.
            data[start : start + itemsize] = bytes(itemsize) if mark == NAN else b"\xff" * itemsize
        return bytes(data)
    return None


def _storages(place: Place) -> Iterator[Observation]:
    for name in dict.fromkeys([*place.observation.storages, *place.contents]):
        content = place.contents[name]
        exact = range(len(content.data)) if content.shadow is None else _exact(content.shadow)
        for at in exact:
            data = bytearray(content.data)
            data[at] ^= 1
            yield _with_content(place, name, data=bytes(data))
            break
        if content.home is None:
            yield _with_content(place, name, data=content.data + b"\0")
        elif content.home[0] == "meta":
            yield _with_content(place, name, home=("meta", content.home[1] + 1))
    for number, storage in enumerate(place.program.storages):
        if storage.backing == "guarded":
            yield place.observation._replace(damaged=(f"s{number}",))


def _exact(shadow: bytes) -> list[int]:
    return [at for at, mark in enumerate(shadow) if mark == EXACT]


_WAYS: Mapping[str, Callable[[Place], Iterator[Observation]]] = {
    "raises": _raises,
    "error-kind": _error_kinds,
    "shape": _shapes,
    "values": _values,
    "sharing": _sharings,
    "strides": _strides,
    "layout": _layouts,
    "contiguity": _contiguities,
    "storage": _storages,
    "flags": _flags,
}
assert set(_WAYS) == set(ASPECTS)
