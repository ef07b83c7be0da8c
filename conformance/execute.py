"""Runs a program on one library, step by step, and observes what each step leaves behind.

The oracle in the parent and every library in its worker go through this code. It decides identity, storage sharing and
what changed; the adapter only says what one object is. Observing never calls an operation that could copy, resolve or
freeze: storages are read by address. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from . import foreign
from .errors import KINDS, UNPRINTABLE, built_in, text_of
from .memory import Memory
from .observation import ForeignState, Observation, Raised, State, StorageObject, StorageState, TensorState
from .operations import OPERATIONS, overload, writes_to
from .program import QUANTISED, Argument, DType, File, Input, MemoryFormat, Program, Ref, Slice, Step, Storage
from .protocol import Adapter, NeverMade, ProtocolError, Undefined, Unsupported

QUESTIONS = (
    "shape", "stride", "size", "ndim", "dim", "numel", "storage_offset", "is_contiguous", "element_size", "data_ptr",
    "requires_grad", "is_leaf", "is_conj", "is_neg",
)  # fmt: skip
"""What a tensor says of itself without looking at its elements."""
_state: Callable[[tuple[Any, ...]], TensorState] = partial(tuple.__new__, TensorState)
"""As the class makes them, in half of the time: of each tensor there is one after each step."""
MAX_TEXT = 400
"""Characters of an exception's text that are kept."""


class Execution:
    """A program in the middle of its run: `step` goes on, `initial` is what the inputs looked like before.

    Raises
    ------
    ProtocolError
        An input was not built as asked.
    """

    def __init__(self, adapter: Adapter, storages: tuple[Storage, ...], inputs: tuple[Input, ...]) -> None:
        self._adapter = adapter
        self._slots = 0
        self.live: dict[str, Any] = {}
        """Every tensor made so far, by key."""
        self.objects: dict[str, Any] = {}
        """Every storage and foreign value made so far."""
        self.scalars: dict[str, Any] = {}
        """Every number, text or list that a step has answered with."""
        self.vague: set[str] = set()
        """Those that come of bytes which nobody specifies."""
        self.states: dict[str, TensorState] = {}
        """The latest state of each tensor."""
        self.others: dict[str, StorageObject | ForeignState] = {}
        """The latest state of each object."""
        self._key_of: dict[int, str] = {}
        self._memory = Memory(adapter)
        self._exported: dict[str, tuple[str, TensorState]] = {}
        """The tensor that each capsule tells the sizes of, and what they were."""
        self._recast: set[str] = set()
        """Codes seen under another dtype (see `_check_recast`)."""
        self._specified = True
        handles = [self._memory.make(i, storage) for i, storage in enumerate(storages)]
        for number, item in enumerate(inputs):
            self._add(self.live, str(number), self._build(number, item, handles[item.storage]))
        self._slots = len(inputs)
        self.initial = self._observe(results=())
        for number, item in enumerate(inputs):
            self._verify(number, item)

    @property
    def contents(self) -> dict[str, StorageState]:
        """What each storage holds, by name."""
        return self._memory.contents

    def _build(self, number: int, item: Input, storage: Any) -> Any:
        try:
            tensor = self._adapter.tensor(storage, item.dtype, item.shape, item.strides, item.offset)
            return self._adapter.require_grad(tensor) if item.requires_grad else tensor
        except Unsupported:
            raise
        except Exception as error:
            raise ProtocolError(f"input {number} could not be built: {type(error).__name__}: {error}") from error

    def _verify(self, number: int, item: Input) -> None:
        state = self.states[str(number)]
        # Where a library shows strides at all, an input with elements has those that matter.
        wanted = (item.dtype, item.shape)
        if (state.dtype, state.shape) == wanted and (state.strides, state.offset) == (item.strides, item.offset):
            return
        if (state.dtype, state.shape) != wanted:
            raise ProtocolError(f"input {number} should be {wanted}, but the adapter built {state.dtype, state.shape}")
        if state.strides is not None and 0 not in item.shape:
            got = [s for s, n in zip(state.strides, item.shape, strict=True) if n > 1]
            asked = [s for s, n in zip(item.strides, item.shape, strict=True) if n > 1]
            if got != asked or state.offset not in (None, item.offset):
                raise ProtocolError(
                    f"input {number} should have strides {item.strides} and offset {item.offset}, "
                    f"but the adapter built {state.strides} and {state.offset}"
                )

    def _add(self, kind: dict[str, Any], key: str, x: Any) -> None:
        kind[key] = x
        self._key_of[id(x)] = key

    def step(self, step: Step) -> Observation:
        """Run one step and observe; a step that uses a value which was never made is skipped.

        Raises
        ------
        Unsupported
            The library does not have the operation, or what would come of it is not defined.
        """
        slot, self._slots = self._slots, self._slots + 1
        try:
            function, arguments = self.bound(step)
        except NeverMade:
            return Observation(skipped=True)
        if self._memory.is_seen_twice:
            self._check_overlap(step)
        if self._recast or overload(step) == "view.dtype":
            self._check_recast(step)
        self._memory.copies_vague = self._copies_vague(step)
        try:
            outcome = function(*arguments)
        except Unsupported:
            raise
        except Exception as error:
            return self.refused(raised_by(error, self._adapter))
        return self.take(slot, step, outcome)

    def _check_overlap(self, step: Step) -> None:
        """Refuse a write whose operands lie in one memory by different storages.

        PyTorch takes such memory for different: which element is read before which is written is not defined.
        """
        operation = OPERATIONS.get(overload(step))
        if operation is None or not operation.writes:
            return
        states = [self.states.get(ref.key) or self.others.get(ref.key) for ref in step.refs()]
        names = {state.storage for state in states if state is not None and state.storage is not None}
        if len({self._memory.root_of(name) for name in names}) < len(names):
            raise Undefined("a write reads its own memory by another storage")

    def _check_recast(self, step: Step) -> None:
        """Refuse to make anything of codes seen under another dtype.

        To PyTorch such a tensor is a quantised one without a quantizer, which is read all the same: its process may
        end.
        """
        names = [self._name(ref.key) for ref in step.refs()]
        coded = [name for name in names if name in self._recast or (name and self.states[name].dtype in QUANTISED)]
        if overload(step) == "view.dtype":
            undefined = coded and isinstance(step.args[1], DType) and step.args[1].name in QUANTISED
        else:
            allowed = ("detach", "tolist", "untyped_storage", "storage", *QUESTIONS)
            undefined = step.op not in allowed and not self._recast.isdisjoint(names)
        if undefined:
            raise Undefined("codes under another dtype have no quantizer")

    def _name(self, key: str) -> str:
        """The key that a tensor was given first."""
        return self._key_of.get(id(self.live.get(key)), "")

    def _follow_recast(self, key: str, step: Step) -> None:
        first = next(step.refs(), None)
        source = "" if first is None else self._name(first.key)
        recast = overload(step) == "view.dtype" and source and self.states[source].dtype in QUANTISED
        if recast or source in self._recast:
            self._recast.add(key)

    def bound(self, step: Step) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function of a step and the arguments to call it with, as the library wants them.

        Raises
        ------
        Unsupported
            The library does not have the operation.
        NeverMade
            A step before did not make a value that this one uses.
        """
        adapter = self._adapter
        function = adapter.operation(step)
        if function is None:
            raise Unsupported(f"op:{step.op}")
        try:
            args = [self._decode(a) for a in step.args]
            kwargs = [self._decode(value) for _, value in step.kwargs]
        except KeyError as error:
            raise NeverMade(str(error)) from None
        if step.op in ("__getitem__", "__setitem__") and len(args) > 1:
            args[1] = adapter.index(tuple(args[1]) if isinstance(args[1], (tuple, list)) else (args[1],))
        return function, (*args, *kwargs)

    def _decode(self, argument: Argument) -> Any:
        kind = type(argument)
        if kind is int:
            return argument
        if kind is Ref:
            key = argument.key
            if key in self.live:
                return self.live[key]
            return self.objects[key] if key in self.objects else self.scalars[key]
        if kind is tuple:
            return tuple([self._decode(a) for a in argument])
        if kind is Slice:
            return slice(argument.start, argument.stop, argument.step)
        if kind is DType:
            return self._adapter.dtype(argument.name)
        if kind is MemoryFormat:
            return self._adapter.memory_format(argument.name)
        if kind is File:
            return self._memory.path_of(argument)
        # A buffer of its own each time: a tensor over it may be written to.
        return bytearray(argument) if kind is bytes else argument

    def refused(self, raised: Raised) -> Observation:
        """Observe after a step that raised."""
        return self._observe(None, raised=raised._replace(text=self._memory.without_folder(raised.text)))

    def take(self, slot: int, step: Step, outcome: Any) -> Observation:
        """Take in what the step of a slot answered, and observe."""
        results, is_tuple = self.enter(slot, step, outcome)
        return self._observe(results, is_tuple=is_tuple)

    def follow(self, before: Execution) -> None:
        """Go on from what another run of the same program left: only what differs from that is observed."""
        self.states, self.others = dict(before.states), dict(before.others)
        self._memory.contents = dict(before.contents)

    def enter(self, slot: int, step: Step, outcome: Any) -> tuple[tuple[Any, ...], bool]:
        """Give what the step of a slot answered its keys; the results as observations have them, and if a tuple."""
        if outcome is None:
            return (), False
        if isinstance(outcome, (tuple, list)) and any(self._is_value(item) for item in outcome):
            return tuple([self._result(f"{slot}.{i}", step, item) for i, item in enumerate(outcome)]), True
        return (self._result(str(slot), step, outcome),), False

    def _is_value(self, x: Any) -> bool:
        adapter = self._adapter
        return adapter.is_tensor(adapter.lift(x)) or self._is_object(x)

    def _is_object(self, x: Any) -> bool:
        return foreign.is_foreign(x) or self._adapter.is_storage(x)

    def _result(self, key: str, step: Step, x: Any) -> Any:
        kind = self.live
        if not self._adapter.is_tensor(x):
            lifted = self._adapter.lift(x)
            if self._adapter.is_tensor(lifted):
                x = lifted
            elif self._is_object(x):
                kind = self.objects
                self._specified = self._is_specified(step)
                self._remember(key, step, x)
            else:
                return self._scalar(key, step, x)
        known = self._key_of.get(id(x))
        if known is not None:
            kind[key] = x
            return known
        self._add(kind, key, x)
        if kind is self.live and step.op in ("view", "detach"):
            self._follow_recast(key, step)
        return None

    def _remember(self, key: str, step: Step, x: Any) -> None:
        """A capsule points at its tensor's own sizes and strides (see `_check_exported`)."""
        first = next(step.refs(), None)
        copied = dict(step.kwargs).get("copy") is True
        if first is not None and first.key in self.live and foreign.is_capsule(x) and not copied:
            source = self._key_of[id(self.live[first.key])]
            self._exported[key] = source, self.states[source]

    def _check_exported(self) -> None:
        """Refuse to go on where a tensor's sizes change that a capsule still points at.

        PyTorch's capsule changes with them, its address does not: what it says is defined no more.
        """
        for key, (source, before) in list(self._exported.items()):
            if not foreign.is_fresh(self.objects[key]):
                del self._exported[key]
            elif self.states[source][1:4] != before[1:4]:
                raise Undefined("a tensor has other sizes than its capsule, which points at them")

    def _scalar(self, key: str, step: Step, x: Any) -> tuple[str, Any]:
        """An answer that is no value with memory of its own: a later step may use it, but it never changes."""
        self.scalars[key] = x
        operation = OPERATIONS.get(overload(step))
        if (operation is None or operation.reads) and not self._is_specified(step):
            self.vague.add(key)
        if operation is not None and operation.address and type(x) is int:
            # An address differs from run to run; where it points does not.
            return ("address", self._memory.place_of(x))
        return ("scalar", self._memory.without_folder(repr(x)))

    def _is_specified(self, step: Step) -> bool:
        """Whether nothing that a step uses lies in memory with unspecified bytes."""
        for ref in step.refs():
            state = self.states.get(ref.key) or self.others.get(ref.key)
            if state is not None and state.storage is not None and self.contents[state.storage].shadow is not None:
                return False
        return True

    def _copies_vague(self, step: Step) -> bool:
        """Whether a step is given a file, or foreign memory, with unspecified bytes: these carry no marks."""
        if self._memory.has_files:
            named = [self.contents[file.name] for file in step.files() if file.name in self.contents]
            if any(content.shadow is not None for content in named):
                return True
        found = [self.others.get(ref.key) for ref in step.refs()] if self.objects else []
        if not found:
            return False
        # A capsule is a tensor's own.
        is_foreign = any(isinstance(state, ForeignState) and state.kind != "capsule" for state in found)
        return is_foreign and not self._is_specified(step)

    def _observe(
        self, results: tuple[Any, ...] | None, *, is_tuple: bool = False, raised: Raised | None = None
    ) -> Observation:
        states, others = self.states, self.others
        values: dict[str, State] = {}
        for key, x in self.live.items():
            if self._key_of[id(x)] == key:
                state = self._tensor_state(key, x)
                if states.get(key) != state:
                    states[key] = values[key] = state
        for key, x in self.objects.items():
            if self._key_of[id(x)] == key:
                other = self._object_state(key, x)
                if others.get(key) != other:
                    others[key] = values[key] = other
        if self._exported:
            self._check_exported()
        storages = self._memory.observe()
        return Observation(results, is_tuple, raised, False, values, storages, self._memory.damaged())

    def _tensor_state(self, key: str, x: Any) -> TensorState:
        adapter = self._adapter
        described = adapter.describe(x)
        if not (type(described) is tuple and len(described) == 7 and isinstance(described[1], tuple)):
            wanted = "a tuple of dtype, shape (a tuple), strides, offset, contiguity, version and flags"
            raise ProtocolError(f"describe answered {described!r:.100}, which is not {wanted}")
        dtype, shape, strides, offset, contiguity, version, flags = described
        if not adapter.observes_storage:
            return TensorState(dtype, shape, strides, offset, contiguity, None, version, None, flags, adapter.read(x))
        handle = adapter.storage_of(x)
        name = None if handle is None else self._memory.name_of(handle, key)
        base = adapter.base_of(x)
        base_key = None if base is None else self._key_of.get(id(base), "hidden")
        quantizer = adapter.quantizer_of(x) if dtype in QUANTISED else None
        return _state((dtype, shape, strides, offset, contiguity, name, version, base_key, flags, None, quantizer))

    def _object_state(self, key: str, x: Any) -> StorageObject | ForeignState:
        adapter = self._adapter
        if adapter.is_storage(x):
            handle, dtype, flags = adapter.describe_storage(x)
            name = self._memory.name_of(handle, key)
            return StorageObject(name, adapter.extent_of(handle)[1], dtype, flags)
        found = foreign.describe(x)
        place, offset = self._memory.locate(key, found, specified=self._specified)
        return found.state._replace(storage=place, offset=offset)


def raised_by(error: Exception, adapter: Adapter) -> Raised:
    """An exception as it is told: a library's own classes count as the built-in ones that user code would catch.

    Raises
    ------
    ProtocolError
        There is no such kind of error as the adapter says.
    """
    text = text_of(error)
    lines = text.strip().splitlines()
    kind = None if text is UNPRINTABLE else adapter.error_kind(error)  # which looks at the text
    if kind is not None and kind not in KINDS:
        raise ProtocolError(f"error_kind answered {kind!r:.100}, which is not None or one of {', '.join(KINDS)}")
    return Raised(built_in(error), lines[0][:MAX_TEXT] if lines else "", kind)


def execute(program: Program, adapter: Adapter) -> list[Observation]:
    """Observations of a whole program: the inputs first, then one for each step.

    Raises
    ------
    Unsupported
        The library does not have an operation of the program.
    ProtocolError
        The adapter did not build an input as asked.
    """
    if hasattr(adapter, "whole"):
        from .whole import WholeAdapter, execute_whole

        return execute_whole(program, cast("WholeAdapter", adapter))
    execution = Execution(adapter, program.storages, program.inputs)
    seen, missing = [execution.initial], None
    for step in program.steps:
        try:
            done = execution.step(step)
        except Unsupported as error:
            missing, done = missing or error, Observation(skipped=True)
            if isinstance(error, Undefined):
                break
        if missing is not None and done.skipped and _may_write(step):
            break
        seen.append(done)
    if missing is not None:
        missing.seen = seen
        raise missing
    return seen


def _may_write(step: Step) -> bool:
    """Whether what comes after a step that was left out may differ for it, as far as its name tells."""
    return writes_to(step) is not None or step.op.endswith("_") or any(True for _ in step.files())
