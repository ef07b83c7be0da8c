"""Ways to do a call wrong: a small vocabulary that mutants are declared in.

Each function answers with what is done in the place of a call. `Change` is what becomes of one side of a layout or of
an argument; it sees the step as rules do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ..layout import addressed, extent, in_order, row_major
from . import hands
from .call import Call, Geometry

Wrong: TypeAlias = Callable[[Call], Any]
Change: TypeAlias = Callable[[Call, Geometry], Any]
Places: TypeAlias = Callable[[Geometry], Iterable[int]]
"""Elements of a storage, counted in the tensor's own element size."""


class Refused(RuntimeError):
    """An error that the library should not have raised, with the kind that it would have."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"refused ({kind})")
        self.kind = kind


# What comes out has another layout, other memory, or is another object.


def relaid(**changes: Change) -> Wrong:
    """Results have another `shape`, `strides` or `offset` over the memory that they lie in, where that fits into it."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        for y in call.tensors(outcome):
            hands.lay_out(y, _changed(call, call.geometry(y), changes))
        return outcome

    return wrong


def repacked(strides: Change) -> Wrong:
    """Results hold the same elements in fresh memory of another order; recorded as what they were."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        for y in call.tensors(outcome):
            now = call.geometry(y)
            empty = call.adapter.namespace.empty_strided(now.shape, strides(call, now), dtype=y.dtype)
            hands.move(y, empty.copy_(y.detach()))
        return outcome

    return wrong


def retyped(dtype: Change) -> Wrong:
    """Results are of another dtype."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        if isinstance(outcome, (tuple, list)):
            return type(outcome)([y.to(dtype(call, call.geometry(y))) for y in outcome])
        return outcome.to(dtype(call, call.geometry(outcome)))

    return wrong


def copied(call: Call) -> Any:
    """Results are copies in memory of their own."""
    outcome = call.right()
    if isinstance(outcome, (tuple, list)):
        return type(outcome)([call.do("clone", y) for y in outcome])
    return call.do("clone", outcome)


def itself(call: Call) -> Any:
    """The operand is answered as it is, with nothing done."""
    return call.x


def alias(call: Call) -> Any:
    """A view of the whole operand is answered, with nothing done."""
    return call.do("view", call.x, tuple(call.x.shape))


def another_object(call: Call) -> Any:
    """A new tensor over the same memory is answered."""
    return alias_of(call, call.right())


def alias_of(call: Call, x: Any) -> Any:
    """A view of a whole tensor."""
    return call.do("view", x, tuple(x.shape))


# It is done to something else.


def asked(**changes: Change) -> Wrong:
    """Arguments are taken for others, by PyTorch's names of the parameters."""
    return lambda call: call.with_arguments(**{name: change(call, call.before) for name, change in changes.items()})


def reads(**changes: Change) -> Wrong:
    """The operand is read under another `shape`, `strides` or `offset`, where that fits into its memory."""

    def wrong(call: Call) -> Any:
        other = _aliased(call, _changed(call, call.before, changes))
        return call.right() if other is None else call.on(other)

    return wrong


def writes(**changes: Change) -> Wrong:
    """The operand is written under another `shape`, `strides` or `offset`, where that fits into its memory."""

    def wrong(call: Call) -> Any:
        other = _aliased(call, _changed(call, call.before, changes))
        if other is None:
            return call.right()
        call.on(other)
        return call.x

    return wrong


def reads_other(**changes: Change) -> Wrong:
    """Every other operand is read under another `shape`, `strides` or `offset`, where that fits into its memory."""

    def misread(call: Call, given: Any) -> Any:
        if not call.adapter.is_tensor(given) or given is call.x:
            return given
        other = _changed(call, call.geometry(given), changes)
        if not hands.fits(other, given.untyped_storage().nbytes()):
            return given
        return call.do("as_strided", given, *other[1:])

    return lambda call: call.given([misread(call, given) for given in call.args])


def without_bits(call: Call, given: Any) -> Any:
    """A tensor as its memory has it: without its conjugate and negative bits."""
    flags = call.adapter.describe(given)[-1] or ""
    given = call.do("conj", given) if "c" in flags else given
    return call.do("_neg_view", given) if "n" in flags else given


def past_bits(call: Call) -> Any:
    """It is done to the first operand as its memory has it."""
    return call.on(without_bits(call, call.x))


def of_detached(call: Call) -> Any:
    """It is done to what the operand holds, beside its history."""
    return call.on(call.do("detach", call.x))


def ignores_bits(call: Call) -> Any:
    """Operands are read as their memory has them; one that is written stays what it is."""
    written = call.x if call.event.writes else None
    read = [arg is not written and call.adapter.is_tensor(arg) for arg in call.args]
    return call.given([without_bits(call, arg) if r else arg for arg, r in zip(call.args, read, strict=True)])


def indexed(change: Callable[[Any], Any]) -> Wrong:
    """Each item of an index is taken for another: numbers, slices, None, and the ellipsis."""

    def wrong(call: Call) -> Any:
        index = call.args[1]
        other = tuple([change(item) for item in index]) if isinstance(index, tuple) else change(index)
        return call.given([call.args[0], other, *call.args[2:]])

    return wrong


def _changed(call: Call, x: Geometry, changes: dict[str, Change]) -> Geometry:
    return x._replace(**{name: change(call, x) for name, change in changes.items()})


def _aliased(call: Call, geometry: Geometry) -> Any:
    """The operand under another layout, None where that reaches outside its memory."""
    if not hands.fits(geometry, call.x.untyped_storage().nbytes()):
        return None
    return call.do("as_strided", call.x, *geometry[1:])


# Too much or too little is written.


def spills(places: Places) -> Wrong:
    """Other elements of the storage are given the value of the last one written."""

    def wrong(call: Call) -> Any:
        outcome, now = call.right(), call.geometry(call.x)
        size = now.itemsize
        for end in last(now):
            value = hands.read(call.x)[end * size : (end + 1) * size]
            for place in places(now):
                hands.write(call.x, place * size, value)
        return outcome

    return wrong


def skips(places: Places) -> Wrong:
    """Some elements keep the value that they had."""

    def wrong(call: Call) -> Any:
        kept, size = hands.read(call.x), call.before.itemsize
        outcome = call.right()
        for place in places(call.before):
            hands.write(call.x, place * size, kept[place * size : (place + 1) * size])
        return outcome

    return wrong


def blanks(places: Places) -> Wrong:
    """Some elements of the first result are left at zero."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        for y in call.tensors(outcome)[:1]:
            _blank(y, call.geometry(y), places)
        return outcome

    return wrong


def _blank(x: Any, geometry: Geometry, places: Places) -> None:
    size = geometry.itemsize
    for place in places(geometry):
        hands.write(x, place * size, bytes(size))


def every(x: Geometry) -> list[int]:
    """All elements in row-major order."""
    return list(addressed(*x[1:]))


def last(x: Geometry) -> list[int]:
    """The last element in row-major order."""
    return every(x)[-1:]


def beyond(count: int) -> Places:
    """All elements after the first `count` in row-major order."""
    return lambda x: every(x)[count:]


def after(x: Geometry) -> list[int]:
    """The place after the furthest element."""
    return [] if 0 in x.shape else [extent(*x[1:])[1]]


def before(x: Geometry) -> list[int]:
    """The place before the nearest element, where the storage has one."""
    low = extent(*x[1:])[0]
    return [low - 1] if low else []


def gaps(x: Geometry) -> list[int]:
    """Places between the elements."""
    mine = set(every(x))
    return [place for place in range(*extent(*x[1:])) if place not in mine]


# Refusing and accepting.


def refuses(kind: str) -> Wrong:
    """The call is refused with an error of that kind."""

    def wrong(call: Call) -> Any:
        raise Refused(kind)

    return wrong


def raises_as(type: Callable[[str], Exception]) -> Wrong:
    """An error is one of another type."""

    def wrong(call: Call) -> Any:
        try:
            return call.right()
        except Exception as error:
            other: Any = type(str(error))
            other.kind = getattr(error, "kind", None)
            raise other from None

    return wrong


def accepts(instead: Wrong) -> Wrong:
    """What should be refused is done in some way."""

    def wrong(call: Call) -> Any:
        try:
            return call.right()
        except Exception:
            return instead(call)

    return wrong


def tolerates(instead: Wrong) -> Wrong:
    """What should be refused is done in some way, unless that is refused as well."""

    def wrong(call: Call) -> Any:
        try:
            return call.right()
        except Exception as error:
            try:
                return instead(call)
            except Exception:
                raise error from None

    return wrong


def where_legal(wrong: Wrong) -> Wrong:
    """What is not refused is done wrong."""

    def done(call: Call) -> Any:
        call.right()
        return wrong(call)

    return done


def leaves(trace: Wrong) -> Wrong:
    """A call that is refused has done something already."""

    def wrong(call: Call) -> Any:
        try:
            return call.right()
        except Exception:
            trace(call)
            raise

    return wrong


def cleared(call: Call) -> None:
    """The operand's elements are all zero."""
    _blank(call.x, call.before, every)


def counted(call: Call) -> None:
    """A version more is counted for the operand."""
    hands.set_version(call.x, call.x._version + 1)


def crashes(call: Call) -> Any:
    """The process ends."""
    os.abort()


# What is recorded of tensors.


def counts(writes: int) -> Wrong:
    """The operand's version goes up by that much, whatever is done."""

    def wrong(call: Call) -> Any:
        version = call.x._version
        try:
            return call.right()
        finally:
            hands.set_version(call.x, version + writes)

    return wrong


def counts_apart(call: Call) -> Any:
    """Results have version counters of their own."""
    outcome = call.right()
    for y in call.tensors(outcome):
        hands.count_apart(y)
    return outcome


def records(base: Callable[[Call], Any]) -> Wrong:
    """Results are recorded as views of something else."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        for y in call.tensors(outcome):
            hands.set_base(y, base(call))
        return outcome

    return wrong


# Changes that many mutants make.


def packed(call: Call, x: Geometry) -> tuple[int, ...]:
    """Row-major strides of the shape that there is."""
    return row_major(x.shape)


def channels_last(call: Call, x: Geometry) -> tuple[int, ...]:
    """Strides of channels_last of four dimensions, raw products where one is empty."""
    _, c, h, w = x.shape
    return (c * h * w, 1, c * w, c)


def column_major(call: Call, x: Geometry) -> tuple[int, ...]:
    """Column-major strides."""
    return in_order(x.shape, range(len(x.shape)))


def lay(call: Call, x: Any, strides: tuple[int, ...]) -> None:
    """Move a tensor to fresh memory of another order."""
    empty = call.adapter.namespace.empty_strided(call.geometry(x).shape, strides, dtype=x.dtype)
    hands.move(x, empty.copy_(x.detach()))


def to_begin(call: Call) -> Any:
    """The operand is moved to the begin of its memory afterwards."""
    outcome = call.right()
    hands.lay_out(call.x, call.geometry(call.x)._replace(offset=0))
    return outcome


def evenly(call: Call) -> Any:
    """Chunks are as many as asked for, as tensor_split has them."""
    return call.do("tensor_split", call.x, call.event.argument("chunks"), call.event.argument("dim"))


def nowhere(call: Call, x: Geometry) -> int:
    """Offset 0."""
    return 0


def operands_offset(call: Call, x: Geometry) -> int:
    """The operand's own offset."""
    return call.before.offset


def argument(name: str, change: Callable[[Any], Any]) -> Change:
    """What becomes of an argument: written as the program has it."""
    return lambda call, x: change(call.event.argument(name))
