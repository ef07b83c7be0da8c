"""One call of an operation, in the hands of a library that may get it wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..classify import Event
from ..observation import Observation, TensorState
from ..operations import OPERATIONS, overload
from ..program import ITEMSIZES, QUANTISED, Argument, Ref, Step


class Geometry(NamedTuple):
    """How a tensor lies in its storage; strides and offset in elements."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return ITEMSIZES.get(self.dtype) or QUANTISED[self.dtype]


class Call:
    """What was asked of which tensors: `event` as rules see it, `args` as the library is given them.

    `x` is the first operand, of whatever kind, None where there is none; `live` has all by their keys.
    """

    def __init__(self, adapter: Any, step: Step, right: Callable[..., Any], args: Sequence[Any]) -> None:
        self.adapter, self.step, self.args = adapter, step, tuple(args)
        self._right = right
        self._written = (*step.args, *(value for _, value in step.kwargs))
        live = dict(_live(self._written, self.args))
        before = {key: self._state(x) for key, x in live.items() if adapter.is_tensor(x)}
        self.event = Event(step, 0, before, before, Observation())
        self.x: Any = live.get(self.event.x_key)
        self.live = live

    @cached_property
    def before(self) -> Geometry:
        """The first operand's geometry before the call."""
        x = self.event.x
        return Geometry(x.dtype, x.shape, x.strides or (), x.offset or 0)

    @property
    def others(self) -> list[Geometry]:
        """Geometries of the other operands before the call."""
        return [Geometry(o.dtype, o.shape, o.strides or (), o.offset or 0) for o in self.event.others]

    def geometry(self, x: Any) -> Geometry:
        """A tensor's geometry now."""
        dtype, shape, strides, offset, *_ = self.adapter.describe(x)
        return Geometry(dtype, shape, strides, offset)

    def _state(self, x: Any) -> TensorState:
        """A tensor as the library describes it, its storage under a name of its own."""
        dtype, shape, strides, offset, contiguity, version, flags = self.adapter.describe(x)
        storage = str(id(self.adapter.storage_of(x)))
        quantizer = self.adapter.quantizer_of(x) if dtype in QUANTISED else None
        return TensorState(dtype, shape, strides, offset, contiguity, storage, version, None, flags, None, quantizer)

    def named(self, parameter: str) -> Any:
        """The tensor that is given for a parameter, None where there is none."""
        ref = self.event.argument(parameter)
        return self.live.get(ref.key) if isinstance(ref, Ref) else None

    def right(self) -> Any:
        """Do as the library does."""
        return self._right(*self.args)

    def given(self, args: Sequence[Any]) -> Any:
        """Do the same to other arguments, in the same places."""
        return self._right(*args)

    def on(self, x: Any) -> Any:
        """Do the same to another first operand."""
        done = [_swapped(written, arg, self.x, x) for written, arg in zip(self._written, self.args, strict=True)]
        return self._right(*done)

    def with_arguments(self, **changes: Any) -> Any:
        """Do the same with other arguments, by PyTorch's names of the parameters."""
        positional = list(self.args[: len(self.step.args)])
        keywords = dict(zip([name for name, _ in self.step.kwargs], self.args[len(positional) :], strict=True))
        parameters = OPERATIONS[overload(self.step)].parameters
        for name, value in changes.items():
            place = parameters.index(name)
            if place < len(positional):
                positional[place:] = [value, *(positional[place + 1 :] if place + 1 < len(parameters) else [])]
            else:
                keywords[name] = value
        return self.do(self.step.op, *positional, **keywords)

    def do(self, op: str, *args: Any, **keywords: Any) -> Any:
        """Another operation of the library, by PyTorch's name."""
        step = Step(op, args, tuple(sorted(keywords.items())))
        function = self.adapter.operation(step)
        if op in ("__getitem__", "__setitem__"):
            args = (args[0], self.adapter.index(args[1]) if isinstance(args[1], tuple) else args[1], *args[2:])
        return function(*args, *(value for _, value in step.kwargs))

    def tensors(self, outcome: Any) -> list[Any]:
        """The tensors of a result."""
        items = outcome if isinstance(outcome, (tuple, list)) else (outcome,)
        return [item for item in items if self.adapter.is_tensor(item)]


def _live(written: Any, given: Any) -> Iterator[tuple[str, Any]]:
    """(key of a value, the tensor given for it) wherever a step's arguments name one."""
    if isinstance(written, Ref):
        yield written.key, given
    elif isinstance(written, tuple):
        for one, other in zip(written, _items(written, given), strict=True):
            yield from _live(one, other)


def _items(written: tuple[Argument, ...], given: Any) -> tuple[Any, ...]:
    """What is given for each item of a tuple; an index of one item is given without one."""
    return given if isinstance(given, tuple) and len(given) == len(written) else (given,)


def _swapped(written: Argument, given: Any, old: Any, new: Any) -> Any:
    """An argument with one tensor in the place of another."""
    if isinstance(written, Ref):
        return new if given is old else given
    if isinstance(written, tuple) and isinstance(given, tuple):
        pairs = zip(written, _items(written, given), strict=True)
        return tuple([_swapped(one, other, old, new) for one, other in pairs])
    return given
