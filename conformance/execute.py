"""Runs a program on one library, step by step, and observes what each step leaves behind.

The oracle in the parent and every library in its worker go through this code. It decides identity, storage sharing and
what changed; the adapter only says what one object is. Observing never calls an operation that could copy, resolve or
freeze: storages are read by address. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

from .observation import Observation, Raised, StorageState, TensorState
from .program import Argument, DType, Input, MemoryFormat, Program, Ref, Slice, Step, Storage

GUARD = bytes([0xA5, 0x5A] * 32)
"""Pattern on either side of a guarded storage."""

MAX_TEXT = 400
"""Characters of an exception's text that are kept."""


class Unsupported(Exception):
    """Raised by an adapter that finds out while running that its library does not claim an operation."""


class OracleError(Exception):
    """The oracle itself went wrong: it raised something that is no answer of PyTorch's."""


class NeverMade(Exception):
    """A step uses a value that a failed step before it should have made."""


class ProtocolError(Exception):
    """An adapter did not build what a program's input asks for."""


class Adapter(Protocol):
    """The functions that drive one library; `docs/adapters.md` explains them, `adapters/` has examples."""

    name: str
    observes_storage: bool
    """Whether `storage_of` and `bytes_of` work; else `read` is called for element values."""

    def storage(self, data: Any, backing: str) -> Any:
        """Memory that holds `data`: a copy where `backing` is owned, the writable buffer itself where guarded."""

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor over that memory, strides and offset in elements."""

    def require_grad(self, x: Any) -> Any:
        """The same tensor, requiring gradients (only called where the feature is claimed)."""

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """A function of the step's positional arguments and keyword values; None where the library has none."""

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is one of the library's tensors."""

    def describe(
        self, x: Any
    ) -> tuple[str, tuple[int, ...], tuple[int, ...] | None, int | None, str, int | None, str | None]:
        """dtype, shape, strides, offset, contiguity, version and flags, in the units of `TensorState`."""

    def storage_of(self, x: Any) -> Any:
        """The storage of a tensor: the same object as long as it is the same storage."""

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes of a storage."""

    def base_of(self, x: Any) -> Any:
        """The tensor that this one is recorded as a view of, or None."""

    def shadow_of(self, storage: Any) -> bytes | None:
        """Classes of a storage's bytes (only the oracle knows them)."""

    def read(self, x: Any) -> bytes:
        """Elements of a tensor, row-major and little-endian, for libraries whose storage cannot be seen."""

    def dtype(self, name: str) -> Any:
        """The library's dtype of PyTorch's name."""

    def memory_format(self, name: str) -> Any:
        """The library's memory format of PyTorch's name."""

    def index(self, items: tuple[Any, ...]) -> Any:
        """An index as the library wants it between square brackets."""

    def error_kind(self, error: Exception) -> str | None:
        """Normalised kind of an exception, None where it cannot be told."""

    def lift(self, x: Any) -> Any:
        """A result as a tensor where the library answers with something like one (a NumPy scalar)."""


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
        self.states: dict[str, TensorState] = {}
        """The latest state of each."""
        self._key_of: dict[int, str] = {}
        self._handles: dict[str, Any] = {}
        self._name_of: dict[int, str] = {}
        self.contents: dict[str, StorageState] = {}
        self._guarded: dict[str, bytearray] = {}
        handles = [self._make_storage(f"s{i}", storage) for i, storage in enumerate(storages)]
        for number, item in enumerate(inputs):
            self._add(str(number), self._build(number, item, handles[item.storage]))
        self._slots = len(inputs)
        self.initial = self._observe(results=())
        for number, item in enumerate(inputs):
            self._verify(number, item)

    def _make_storage(self, name: str, storage: Storage) -> Any:
        data = storage.contents()
        if storage.backing == "guarded":
            block = self._guarded[name] = bytearray(GUARD + data + GUARD)
            handle = self._adapter.storage(memoryview(block)[len(GUARD) : len(GUARD) + len(data)], "guarded")
        else:
            handle = self._adapter.storage(data, "owned")
        if self._adapter.observes_storage:
            self._name(name, handle)
        return handle

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

    def _name(self, name: str, handle: Any) -> None:
        self._handles[name] = handle
        self._name_of[id(handle)] = name

    def _add(self, key: str, tensor: Any) -> None:
        self.live[key] = tensor
        self._key_of[id(tensor)] = key

    def step(self, step: Step) -> Observation:
        """Run one step and observe; a step that uses a value which was never made is skipped."""
        slot, self._slots = self._slots, self._slots + 1
        try:
            function, arguments = self.bound(step)
        except NeverMade:
            return Observation(skipped=True)
        try:
            outcome = function(*arguments)
        except Unsupported:
            raise
        except Exception as error:
            return self._observe(None, raised=raised_by(error, self._adapter))
        return self.take(slot, outcome)

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
            return self.live[argument.key]
        if kind is tuple:
            return tuple([self._decode(a) for a in argument])
        if kind is Slice:
            return slice(argument.start, argument.stop, argument.step)
        if kind is DType:
            return self._adapter.dtype(argument.name)
        if kind is MemoryFormat:
            return self._adapter.memory_format(argument.name)
        return argument

    def take(self, slot: int, outcome: Any) -> Observation:
        """Take in what the step of a slot answered, and observe."""
        results, is_tuple = self.enter(slot, outcome)
        return self._observe(results, is_tuple=is_tuple)

    def enter(self, slot: int, outcome: Any) -> tuple[tuple[Any, ...], bool]:
        """Give what the step of a slot answered its keys; the results as observations have them, and if a tuple."""
        if outcome is None:
            return (), False
        adapter = self._adapter
        if isinstance(outcome, (tuple, list)) and any(adapter.is_tensor(adapter.lift(item)) for item in outcome):
            return tuple([self._result(f"{slot}.{i}", item) for i, item in enumerate(outcome)]), True
        return (self._result(str(slot), outcome),), False

    def follow(self, before: Execution) -> None:
        """Go on from what another run of the same program left: only what differs from that is observed."""
        self.states, self.contents = dict(before.states), dict(before.contents)

    def _result(self, key: str, x: Any) -> Any:
        if not self._adapter.is_tensor(x):
            x = self._adapter.lift(x)
            if not self._adapter.is_tensor(x):
                return ("scalar", repr(x))
        known = self._key_of.get(id(x))
        if known is not None:
            self.live[key] = x
            return known
        self._add(key, x)
        return None

    def _observe(
        self, results: tuple[Any, ...] | None, *, is_tuple: bool = False, raised: Raised | None = None
    ) -> Observation:
        adapter, states, contents = self._adapter, self.states, self.contents
        values: dict[str, TensorState] = {}
        for key, x in self.live.items():
            if self._key_of[id(x)] == key:
                state = self._state(key, x)
                if states.get(key) != state:
                    states[key] = values[key] = state
        storages: dict[str, StorageState] = {}
        for name, handle in self._handles.items():
            content = StorageState(adapter.bytes_of(handle), adapter.shadow_of(handle))
            if contents.get(name) != content:
                contents[name] = storages[name] = content
        damaged = tuple([name for name, block in self._guarded.items() if _is_damaged(block)]) if self._guarded else ()
        return Observation(results, is_tuple, raised, False, values, storages, damaged)

    def _state(self, key: str, x: Any) -> TensorState:
        adapter = self._adapter
        dtype, shape, strides, offset, contiguity, version, flags = adapter.describe(x)
        if not adapter.observes_storage:
            return TensorState(dtype, shape, strides, offset, contiguity, None, version, None, flags, adapter.read(x))
        handle = adapter.storage_of(x)
        name = self._name_of.get(id(handle))
        if name is None:
            name = f"v{key}"
            while name in self._handles:  # the value was given another storage
                name += "'"
            self._name(name, handle)
        base = adapter.base_of(x)
        base_key = None if base is None else self._key_of.get(id(base), "hidden")
        return TensorState(dtype, shape, strides, offset, contiguity, name, version, base_key, flags)


def raised_by(error: Exception, adapter: Adapter) -> Raised:
    """An exception as it is told: a library's own classes count as the built-in ones that user code would catch."""
    name = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    lines = str(error).strip().splitlines()
    return Raised(name, lines[0][:MAX_TEXT] if lines else "", adapter.error_kind(error))


def _is_damaged(block: bytearray) -> bool:
    return not (block.startswith(GUARD) and block.endswith(GUARD))


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
    return [execution.initial, *[execution.step(step) for step in program.steps]]
