"""Invariants: what holds on every library whatever the layout should be, so that no oracle is needed to find fault.

Each looks at one side alone: a step, and what there was before and after it. Where two libraries differ and one of them
breaks an invariant, that one is wrong; PyTorch breaks a few itself, and the oracle after it (`test_invariants.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stridecheck.reference_impl.contiguity import is_channels_last, is_contiguous

from .classify import NOTHING, Event, events
from .elements import can_be_seen, elements, itemsize_of, reaching
from .layout import extent
from .observation import Observation, State, StorageState, TensorState
from .operations import writes_to
from .program import Program, refs_in
from .rules import _define

_KEEPING = "view view_as reshape reshape_as flatten unflatten ravel squeeze unsqueeze contiguous clone detach"
CRASH = "no operation ends its process"
"""The invariant that what brings a process down breaks: there is no observation of it to look at."""
VIEWS = frozenset(f"{_define.VIEWS} split chunk tensor_split split_with_sizes unbind".split()) - {"__getitem__"}
"""Operations that answer with nothing but views; what an index answers with depends on what it is."""
KEEPING = frozenset(_KEEPING.split())
"""Operations whose result has the elements of their operand, in the same order."""
WRITING_BESIDE = frozenset({"batch_norm", "from_file", "backward"})
"""Operations, of whatever class, that write to what is not their first argument: running figures, files, gradients."""


class Moment(NamedTuple):
    """One step on one library, with the bytes of all storages before and after it."""

    event: Event
    before: Mapping[str, StorageState]
    after: Mapping[str, StorageState]

    @property
    def made(self) -> list[TensorState]:
        """The tensors that the step made, or that look otherwise since."""
        return [state for state in self.event.observation.values.values() if isinstance(state, TensorState)]

    @property
    def targets(self) -> list[State]:
        """What the step is told to write to, as it was and as it is now."""
        target = writes_to(self.event.step)
        keys = [self.event.named(ref) for ref in refs_in((target,))] if target is not None else []
        sides: tuple[Mapping[str, State], ...] = (self.event.known, self.event.before, self.event.after)
        return [side[key] for key in keys for side in sides if key in side]

    def changed(self, name: str) -> NDArray[np.bool_]:
        """Which bytes of a storage are others now; none where it is new, or has another length or place."""
        before, after = self.before.get(name), self.after[name]
        if before is None or len(before.data) != len(after.data) or before.home != after.home:
            return np.zeros(0, np.bool_)
        changed: NDArray[np.bool_] = np.frombuffer(before.data, np.uint8) != np.frombuffer(after.data, np.uint8)
        return changed


class Invariant(NamedTuple):
    """A sentence that holds on every library, and whether a step breaks it."""

    id: str
    sentence: str
    is_broken: Callable[[Moment], bool]


def moments(program: Program, observations: Sequence[Observation]) -> Iterator[Moment | None]:
    """Every step of a program on one library, in order; None for one that was skipped."""
    contents: Mapping[str, StorageState] = observations[0].storages
    for event, observation in zip(events(program, observations), observations[1:], strict=True):
        before = contents
        if observation.storages:
            contents = {**contents, **observation.storages}
        yield None if event is None else Moment(event, before, contents)


def broken(program: Program, observations: Sequence[Observation], step: int) -> list[str]:
    """Sentences of the invariants that a step breaks on the library that was observed; none where it was not."""
    for number, moment in enumerate(moments(program, observations)):
        if number == step:
            return [] if moment is None else [one.sentence for one in INVARIANTS if one.is_broken(moment)]
    return []


def reaches_outside(program: Program, observations: Sequence[Observation]) -> bool:
    """Whether a library may have written through a tensor that lies outside its storage: that lands anywhere.

    A refused call that leaves one behind has not, nor have later steps that are not given it.
    """
    is_there = False
    for moment in moments(program, observations):
        if moment is None:
            continue
        event = moment.event
        if is_there and any(_is_outside(s, moment.before) for s in (event.x, *event.others) if s is not NOTHING):
            return True
        if _lies_outside(moment):
            if event.raised is None:
                return True
            is_there = True
    return False


def _is_guard_written(m: Moment) -> bool:
    return bool(m.event.observation.damaged)


def _is_assertion(m: Moment) -> bool:
    return m.event.raised is not None and "INTERNAL ASSERT" in m.event.raised.text


def _leaves_a_trace(m: Moment) -> bool:
    if m.event.raised is None:
        return False
    before = {**m.event.known, **m.event.before}
    moved = any(
        isinstance(state, TensorState) and isinstance(was := before.get(key), TensorState) and was[:4] != state[:4]
        for key, state in m.event.observation.values.items()
    )
    return moved or any(m.changed(name).any() for name in m.event.observation.storages)


def _has_negative_size(m: Moment) -> bool:
    return any(min(state.shape, default=0) < 0 for state in m.made)


def _lies_outside(m: Moment) -> bool:
    # What a storage was shortened under lies outside it, and so does what is made of that.
    known = m.event.before.values()
    return any(_is_outside(s, m.after) for s in m.made) and not any(_is_outside(s, m.before) for s in known)


def _is_outside(state: TensorState, contents: Mapping[str, StorageState]) -> bool:
    content = contents.get(state.storage or "")
    itemsize = itemsize_of(state)
    if content is None or state.strides is None or state.offset is None or itemsize is None:
        return False
    if content.home is not None and content.home[0] == "meta":
        return False  # nothing is there to lie outside of
    nbytes = len(content.data)
    low, past = extent(state.shape, state.strides, state.offset)
    return past > low and (low < 0 or past * itemsize > nbytes)


def _says_other_contiguity(m: Moment) -> bool:
    return any(_contradicts(state) for state in m.made)


def _contradicts(state: TensorState) -> bool:
    if state.strides is None or min(state.shape, default=0) < 0:
        return False
    rank, last = len(state.shape), is_channels_last(state.shape, state.strides)
    follows = (is_contiguous(state.shape, state.strides), rank == 4 and last, rank == 5 and last)
    return any(said not in ("-", "FT"[is_so]) for said, is_so in zip(state.contiguity, follows, strict=True))


def _writes_unasked(m: Moment) -> bool:
    if writes_to(m.event.step) is not None or m.event.argument("inplace"):
        return False
    if m.event.entry.rpartition(".")[2] in WRITING_BESIDE:
        return False
    return any(m.changed(name).any() for name in m.event.observation.storages)


def _writes_beside(m: Moment) -> bool:
    targets = [state for state in m.targets if isinstance(state, TensorState) and state.strides is not None]
    if not targets or len(targets) < len(m.targets):
        return False  # a storage is written as a whole
    # A file holds what is written to the storage that it is mapped to.
    written = [name for name in m.event.observation.storages if not name.startswith("file")]
    return any(_is_written_beside(m, name, targets) for name in written)


def _is_written_beside(m: Moment, name: str, targets: Sequence[TensorState]) -> bool:
    wrong = m.changed(name)
    memory, begin = _place(name, m.before)
    for state in targets:
        theirs, start = _place(state.storage or "", m.before)
        if theirs == memory and wrong.any():
            wrong &= ~_addressed(state, start - begin, len(wrong))
    return bool(wrong.any())


def _place(name: str, contents: Mapping[str, StorageState]) -> tuple[str, int]:
    """The memory that a storage lies in, and the byte that it begins at."""
    content = contents.get(name)
    if content is None or content.home is None or content.home[0] == "meta":
        return name, 0
    memory, begin = _place(content.home[0], contents)
    return memory, begin + content.home[1]


def _addressed(state: TensorState, begin: int, nbytes: int) -> NDArray[np.bool_]:
    """Which of `nbytes` bytes a tensor addresses whose storage begins at byte `begin`; all where that is not known."""
    found = np.zeros(nbytes, np.bool_)
    assert state.strides is not None
    assert state.offset is not None
    itemsize = itemsize_of(state)
    if itemsize is None or not can_be_seen(state.shape):
        return ~found
    low, past = extent(state.shape, state.strides, state.offset)
    if past > low and low * itemsize + begin >= 0 and past * itemsize + begin <= nbytes:
        strides = (*[stride * itemsize for stride in reaching(state.shape, state.strides)], 1)
        np.ndarray((*state.shape, itemsize), np.bool_, found, state.offset * itemsize + begin, strides)[...] = True
    return found


def _is_elsewhere(m: Moment) -> bool:
    memory = m.event.x.storage
    if m.event.entry not in VIEWS or memory is None or not m.event.observation.results:
        return False
    return any(state.storage not in (None, memory) for state in m.made)


def _has_other_elements(m: Moment) -> bool:
    x, y = m.event.x, m.event.y
    if m.event.entry not in KEEPING or NOTHING in (x, y) or _bits(x) != _bits(y) or x.dtype != y.dtype:
        return False
    before, after = elements(x, m.before), elements(y, m.after)
    if before is None or after is None:
        return False
    return before.shape != after.shape or bool((before != after).any())


def _bits(state: TensorState) -> set[str]:
    """Whether the elements are the conjugate or the negative of what lies in memory."""
    return {"c", "n"} & set(state.flags or "")


INVARIANTS = (
    Invariant("guarded", "nothing outside a storage is written", _is_guard_written),
    Invariant("reads", "a call that writes to nothing changes no byte", _writes_unasked),
    Invariant("writes", "a write changes no byte but those that its target addresses", _writes_beside),
    Invariant("inside", "a tensor lies inside its storage", _lies_outside),
    Invariant("refused", "a call that raises leaves every tensor and every byte as they were", _leaves_a_trace),
    Invariant("asserts", "no call ends in an internal assertion", _is_assertion),
    Invariant("sizes", "no size is negative", _has_negative_size),
    Invariant("views", "a view lies in the memory of what it is a view of", _is_elsewhere),
    Invariant("elements", "a view or copy in the same order has the same elements", _has_other_elements),
    Invariant("contiguity", "what a tensor says of its contiguity follows from its strides", _says_other_contiguity),
)
"""In the order of how bad it is to break them."""
