"""Situations: what a call is made on, as named predicates over what rules see of a step.

Defects hide in situations: only with an offset, only in five dimensions, only for one dtype. A mutant names the one it
shows in; the corpus holds every pair of them that an operation was drawn in (`traits`). Situations look at what was
there before the step, never at what it made, so that they are the same on every library until the first difference.
Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from .classify import NOTHING, Event
from .layout import is_dense, is_expanded, may_overlap, numel, row_major, strides
from .observation import ForeignState, State, StorageObject, TensorState
from .program import ITEMSIZES, Argument, DType, MemoryFormat, Ref, Slice


@dataclass(frozen=True, slots=True)
class Situation:
    """A predicate over an event, with a name; `&`, `|` and `~` combine them.

    >>> (OFFSET & ~EMPTY).name
    'offset & ~empty'
    """

    name: str
    holds: Callable[[Event], bool]

    def __call__(self, event: Event) -> bool:
        """Whether the event is one of it."""
        return self.holds(event)

    def __and__(self, other: Situation) -> Situation:
        return Situation(f"{self.name} & {other.name}", lambda e: self.holds(e) and other.holds(e))

    def __or__(self, other: Situation) -> Situation:
        return Situation(f"({self.name} | {other.name})", lambda e: self.holds(e) or other.holds(e))

    def __invert__(self) -> Situation:
        return Situation(f"~{self.name}", lambda e: not self.holds(e))


def on_operand(name: str, fits: Callable[[TensorState], bool]) -> Situation:
    """The first operand is a tensor that fits."""
    return Situation(name, lambda e: e.x is not NOTHING and fits(e.x))


def other(event: Event, name: str) -> TensorState | None:
    """The tensor that is given for a parameter."""
    ref = event.argument(name)
    return event.before.get(event.named(ref)) if isinstance(ref, Ref) else None


def dim_of(event: Event, name: str = "dim") -> int | None:
    """A dimension counted from the front, None where it is none of the operand's."""
    dim, rank = event.argument(name), len(event.x.shape)
    return dim % rank if type(dim) is int and -rank <= dim < rank else None


def numbers(value: Any) -> tuple[int, ...]:
    """The numbers of a tuple, none of anything else."""
    return value if type(value) is tuple and all(type(item) is int for item in value) else ()


def items(event: Event) -> tuple[Any, ...]:
    """What stands between the square brackets."""
    index = event.argument("index")
    return index if type(index) is tuple else (index,)


def has_odd_ones(state: TensorState) -> bool:
    """Whether a dimension of size 1 has another stride than a row-major tensor's."""
    by_dim = zip(state.shape, strides(state), row_major(state.shape), strict=True)
    return 0 not in state.shape and any(n == 1 and s != r for n, s, r in by_dim)


ALWAYS = Situation("always", lambda e: True)
EMPTY = on_operand("empty", lambda x: 0 in x.shape)
FILLED = on_operand("filled", lambda x: 0 not in x.shape)
SCALAR = on_operand("0-dim", lambda x: x.shape == ())
ONES = on_operand("size 1", lambda x: 1 in x.shape)
MANY = on_operand("above 64 elements", lambda x: numel(x) > 64)
OFFSET = on_operand("offset", lambda x: bool(x.offset) and 0 not in x.shape)
ROW_MAJOR = on_operand("row-major", lambda x: x.contiguity[0] == "T" and numel(x) > 1)
STRIDED = on_operand("not row-major", lambda x: x.contiguity[0] == "F")
PERMUTED = on_operand("permuted", lambda x: x.contiguity[0] == "F" and is_dense(x))
GAPS = on_operand("gaps", lambda x: x.contiguity[0] == "F" and not is_dense(x) and not may_overlap(x))
STEPPED = on_operand(
    "stepped", lambda x: len(x.shape) > 0 and 0 not in x.shape and x.shape[-1] > 1 and strides(x)[-1] > 1
)
EXPANDED = on_operand("expanded", is_expanded)
OVERLAPPING = on_operand("overlapping", may_overlap)
CHANNELS_LAST = on_operand("channels_last", lambda x: x.contiguity == "FTF")
CHANNELS_LAST_3D = on_operand("channels_last_3d", lambda x: x.contiguity == "FFT")
AMBIGUOUS = on_operand("two memory formats", lambda x: x.contiguity.count("T") > 1 and numel(x) > 1)
ODD_ONES = on_operand("size 1, free stride", has_odd_ones)
VIEW = on_operand("a view", lambda x: "v" in (x.flags or ""))
HISTORY = on_operand("no leaf", lambda x: x.flags is not None and "l" not in x.flags)
ONE_OVER = on_operand("one over 16s", lambda x: numel(x) > 16 and numel(x) % 16 == 1)
ONE_SHORT = on_operand("one short of 16s", lambda x: numel(x) > 16 and numel(x) % 16 == 15)
CONJUGATED = on_operand("conjugate bit", lambda x: "c" in (x.flags or ""))
NEGATED = on_operand("negative bit", lambda x: "n" in (x.flags or ""))
CODES = on_operand("quantised", lambda x: x.quantizer is not None)
GRAD = on_operand("requires grad", lambda x: "g" in (x.flags or ""))
LONG = on_operand("above 512 elements", lambda x: numel(x) > 512)
BLOCKS = on_operand("above 3,600 elements", lambda x: numel(x) > 3600)
CHUNKS = on_operand("above 32,768 elements", lambda x: numel(x) > 32768)
SQUARE = on_operand("square", lambda x: len(x.shape) > 1 and x.shape[0] == x.shape[1] > 1 and 0 not in x.shape)
NO_IMAGES = on_operand("images of nothing", lambda x: len(x.shape) in (4, 5) and 0 in x.shape)
MANY_IN_A_ROW = on_operand("above 64 in one dimension", lambda x: max(x.shape, default=0) > 64 and 0 not in x.shape)

LONGER = on_operand("above 6 in one dimension", lambda x: max(x.shape, default=0) > 6 and 0 not in x.shape)


def rank(count: int) -> Situation:
    """The operand has that many dimensions."""
    return on_operand(f"{count}-d", lambda x: len(x.shape) == count and 0 not in x.shape)


def rank_over(count: int) -> Situation:
    """The operand has more dimensions than that."""
    return on_operand(f"over {count}-d", lambda x: len(x.shape) > count and 0 not in x.shape)


def dtype(*names: str) -> Situation:
    """The operand is of one of these dtypes, and has elements."""
    return on_operand(" or ".join(names), lambda x: x.dtype in names and 0 not in x.shape)


def itemsize(nbytes: int) -> Situation:
    """The operand's elements have that many bytes."""
    return on_operand(f"{nbytes}-byte elements", lambda x: ITEMSIZES.get(x.dtype) == nbytes and 0 not in x.shape)


def _integers(argument: Argument) -> Iterator[int]:
    if type(argument) is int:
        yield argument
    elif isinstance(argument, tuple) and not hasattr(argument, "slot"):
        for item in argument:
            yield from _integers(item)


def negative(name: str) -> Situation:
    """A number of that argument is negative."""
    return Situation(f"negative {name}", lambda e: any(i < 0 for i in _integers(e.argument(name))))


def positive(name: str) -> Situation:
    """A number of that argument is positive."""
    return Situation(f"positive {name}", lambda e: any(i > 0 for i in _integers(e.argument(name))))


def given(name: str) -> Situation:
    """That argument is given, and says something."""
    return Situation(f"given {name}", lambda e: e.argument(name) not in (None, False))


def by_keyword(name: str) -> Situation:
    """That argument is given, and by its name."""
    return Situation(f"{name} by keyword", lambda e: any(key == name for key, _ in e.step.kwargs))


def is_argument(name: str, value: Any) -> Situation:
    """That argument is exactly this."""
    return Situation(f"{name}={value}", lambda e: e.argument(name) == value and type(e.argument(name)) is type(value))


def asks(*formats: str) -> Situation:
    """One of these memory formats is asked for."""
    wanted = [MemoryFormat(name) for name in formats]
    return Situation(f"asked for {' or '.join(formats)}", lambda e: e.argument("memory_format") in wanted)


def _index_items(event: Event) -> tuple[Any, ...]:
    if event.entry not in ("__getitem__", "__setitem__"):
        return ()
    index = event.argument("index")
    return index if isinstance(index, tuple) else (index,)


def index_has(name: str, fits: Callable[[Any], bool]) -> Situation:
    """Something between the square brackets fits."""
    return Situation(f"index with {name}", lambda e: any(fits(item) for item in _index_items(e)))


STEPS = index_has("a step", lambda item: isinstance(item, Slice) and (item.step or 1) > 1)
FROM_END = index_has("a negative number", lambda item: type(item) is int and item < 0)
BOUNDS_FROM_END = index_has(
    "a negative bound", lambda item: isinstance(item, Slice) and ((item.start or 0) < 0 or (item.stop or 0) < 0)
)
NEW_AXES = index_has("None", lambda item: item is None)
REST = index_has("an ellipsis", lambda item: item is ...)

BY_TRUTH = index_has("a truth value", lambda item: isinstance(item, bool))
BY_TENSOR = index_has("a tensor", lambda item: isinstance(item, Ref))


def _apart(event: Event) -> bool:
    kinds = [isinstance(item, Ref) for item in _index_items(event)]
    return True in kinds and not all(kinds[kinds.index(True) : len(kinds) - kinds[::-1].index(True)])


APART = Situation("index with tensors apart", _apart)


def _part(event: Event) -> tuple[int, ...] | None:
    """Shape of what an index without tensors and truth values takes out; None where it takes none out."""
    shape, items = event.x.shape, list(_index_items(event))
    if any(isinstance(item, (bool, Ref)) for item in items):
        return None
    while items.count(...) > 1:
        items.pop(len(items) - 1 - items[::-1].index(...))
    left = len(shape) - sum(item is not None and item is not ... for item in items)
    if left < 0:
        return None
    if ... not in items:
        items.append(...)
    found: list[int] = []
    dim = 0
    for item in items:
        if item is ...:
            found.extend(shape[dim : dim + left])
            dim += left
        elif item is None:
            found.append(1)
        elif isinstance(item, Slice):
            if item.step is not None and item.step < 1:
                return None
            found.append(len(range(shape[dim])[item.start : item.stop : item.step]))
            dim += 1
        else:
            dim += 1
    return tuple(found)


def _is_spread(event: Event) -> bool:
    if event.entry != "__setitem__" or not event.others or not isinstance(event.argument("value"), Ref):
        return False
    part = _part(event)
    return part is not None and prod(part) > numel(event.others[-1])


SPREAD = Situation("broadcast to the part", _is_spread)

OTHERS = Situation("another tensor", lambda e: bool(e.others))
NUMBER = Situation("a number", lambda e: not e.others)
BROADCASTS = Situation("broadcast", lambda e: any(o.shape != e.x.shape for o in e.others))
MIXED = Situation("mixed dtypes", lambda e: any(o.dtype != e.x.dtype for o in e.others))
SAME_STORAGE = Situation("one storage", lambda e: any(o.storage == e.x.storage for o in e.others))
ALIKE = Situation(
    "other in the same order, not row-major",
    lambda e: e.x.contiguity[0] == "F" and any(o.shape == e.x.shape and o.strides == e.x.strides for o in e.others),
)
SAME_PLACE = Situation(
    "other at the same place in other strides",
    lambda e: any(
        o.storage == e.x.storage and (o.offset, o.shape) == (e.x.offset, e.x.shape) and o.strides != e.x.strides
        for o in e.others
    ),
)
OTHER_LAYOUT = Situation("other strides", lambda e: any(o.strides != e.x.strides for o in e.others))


def on_other(name: str, fits: Callable[[TensorState], bool]) -> Situation:
    """Another operand fits."""
    return Situation(name, lambda e: any(fits(o) for o in e.others))


OTHER_OF_FEWER = Situation("other of fewer dimensions", lambda e: any(len(o.shape) < len(e.x.shape) for o in e.others))
OTHER_OF_MORE = Situation("other of more dimensions", lambda e: any(len(o.shape) > len(e.x.shape) for o in e.others))
SAME_COUNT = Situation(
    "as many elements in another shape",
    lambda e: any(o.shape != e.x.shape and numel(o) == numel(e.x) for o in e.others),
)
OTHER_STRIDED = on_other("other not row-major", lambda o: o.contiguity[0] == "F")
OTHER_OFFSET = on_other("other with an offset", lambda o: bool(o.offset) and 0 not in o.shape)
OTHER_EXPANDED = on_other("other expanded", is_expanded)
OTHER_SCALAR = on_other("other 0-dim", lambda o: o.shape == ())
OTHER_BITS = on_other("other with a bit", lambda o: bool({"c", "n"} & set(o.flags or "")))
OTHER_NOTHING = on_other("other of size 0 in one dimension", lambda o: o.shape == (0,))
OTHER_IMAGES = on_other("other channels_last", lambda o: o.contiguity in ("FTF", "FFT"))
OTHER_AMBIGUOUS = on_other("other in two memory formats", lambda o: o.contiguity.count("T") > 1 and numel(o) > 1)
MORE_THAN_FOUR = Situation("more than four tensors", lambda e: len(e.others) > 3)
CONVERTS = Situation("another dtype asked for", lambda e: isinstance(e.argument("dtype"), DType))

NAMED: tuple[Situation, ...] = (
    EMPTY, SCALAR, ONES, MANY, LONG, BLOCKS, CHUNKS, MANY_IN_A_ROW, OFFSET, ROW_MAJOR, STRIDED, PERMUTED, GAPS,
    STEPPED, EXPANDED, OVERLAPPING, CHANNELS_LAST, CHANNELS_LAST_3D, AMBIGUOUS, ODD_ONES, VIEW, GRAD, CONJUGATED,
    NEGATED, CODES, HISTORY, ONE_OVER, ONE_SHORT, SAME_COUNT, STEPS, FROM_END, BOUNDS_FROM_END,
    NEW_AXES, REST, OTHERS, NUMBER, BROADCASTS, MIXED, SAME_STORAGE, OTHER_LAYOUT, OTHER_STRIDED, OTHER_OFFSET,
    ALIKE, SAME_PLACE,
    SQUARE, NO_IMAGES, OTHER_IMAGES, OTHER_AMBIGUOUS, OTHER_EXPANDED, OTHER_SCALAR, OTHER_BITS, OTHER_NOTHING,
    OTHER_OF_FEWER, OTHER_OF_MORE, SPREAD, LONGER, MORE_THAN_FOUR, BY_TRUTH, BY_TENSOR, APART,
    *[rank(count) for count in range(1, 6)], *[dtype(name) for name in ITEMSIZES],
)  # fmt: skip
"""Situations that any operation may be in."""
REFUSED = (
    EMPTY, SCALAR, OFFSET, STEPPED, EXPANDED, VIEW, GRAD, CONJUGATED, CODES, BROADCASTS, MIXED, SAME_STORAGE,
    SAME_COUNT, SQUARE,
)  # fmt: skip
"""Situations in which a call may be refused for the same reason as elsewhere, and by another line of code."""


def traits(event: Event) -> list[str]:
    """All that can be said of a step in short: each situation that it is in, and the kind of each argument.

    Of a step that was refused why, and each of these with it: a library that looks at too little forgets one of them.
    """
    if event.raised is not None:
        why = f"refused: {event.kind}"
        about = [one.name for one in REFUSED if one(event)]
        return [why, *(f"{why}, {said}" for said in (*about, *_index(event), *_arguments(event)))]
    company = ["others see its memory"] if _has_company(event) else []
    own = [one.name for one in NAMED if one(event)]
    return [*own, *company, *_index(event), *_other_kind(event.operand), *_arguments(event)]


def _index(event: Event) -> list[str]:
    return [f"index of {' '.join(_index_kinds(event))}"] if _index_items(event) else []


def _index_kinds(event: Event) -> Iterator[str]:
    """What stands in each place between the square brackets."""
    for item in _index_items(event):
        state = event.before.get(event.named(item)) if isinstance(item, Ref) else None
        is_mask = state is not None and state.dtype in ("bool", "uint8")
        if is_mask:
            yield "mask" if state is not None and state.contiguity[0] == "T" else "strided mask"
        else:
            yield type(item).__name__


def _other_kind(operand: State | None) -> Iterator[str]:
    """What a storage, or memory that another library sees, is like."""
    if isinstance(operand, StorageObject):
        yield f"a storage of {operand.dtype or 'bytes'}"
        yield from (f"storage flag {letter}" for letter in operand.flags)
        if "r" not in operand.flags:
            yield "not resizable"
        if not operand.nbytes:
            yield "no bytes"
    elif isinstance(operand, ForeignState):
        yield operand.kind
        yield f"{len(operand.shape)} foreign dimensions"
        if operand.offset:
            yield "begins inside"
        if operand.strides is not None and operand.strides != row_major(operand.shape, operand.itemsize):
            yield "foreign strides"
        if 0 in operand.shape:
            yield "no foreign elements"


def _names_one_twice(numbers: list[int], rank: int) -> bool:
    """Whether two of some numbers, if they are dimensions, are one."""
    return all(-rank <= number < rank for number in numbers) and len({n % rank for n in numbers}) < len(numbers)


def _has_company(event: Event) -> bool:
    """Whether values that the step does not name lie in its first operand's storage, so that it shows in them, too."""
    named = {ref.key for ref in event.step.refs()} | {event.x_key}
    return event.x.storage is not None and any(
        state.storage == event.x.storage
        for states in (event.before, event.known)
        for key, state in states.items()
        if key not in named
    )


def _arguments(event: Event) -> Iterator[str]:
    """The kind of each argument that is no tensor: its value where there are few, else its sign or length."""
    for name, _ in event.step.kwargs:
        yield f"{name} by name"
    for name, value in event.bound.items():
        if value is None or isinstance(value, (bool, str)):
            yield f"{name}={value}"
        elif isinstance(value, (DType, MemoryFormat)):
            yield f"{name}={value.name}"
        elif isinstance(value, (int, float)):
            yield f"{name}{'<' if value < 0 else '>' if value > 0 else '='}0"
            if isinstance(value, int) and abs(value) > 1:
                yield f"{name} {'above 1' if value > 0 else 'below -1'}"
            yield f"{name} is {'whole' if isinstance(value, int) else 'round' if value.is_integer() else 'a fraction'}"
        elif isinstance(value, complex):
            yield f"{name} is complex"
        elif isinstance(value, tuple) and not isinstance(value, Ref):
            numbers = [item for item in value if type(item) is int]
            yield f"{name} of {len(value)}"
            if value and value == event.x.shape:
                yield f"{name} is the operand's shape"
            if any(number < 0 for number in numbers):
                yield f"{name} with a negative number"
            if numbers and all(number < 0 for number in numbers):
                yield f"{name} of negative numbers"
            if 0 in numbers:
                yield f"{name} with 0"
            if _names_one_twice(numbers, len(event.x.shape)):
                yield f"{name} with one twice{' by two numbers' * (len(set(numbers)) == len(numbers))}"
        elif isinstance(value, Ref) and value.key != event.x_key:
            other = event.known.get(event.named(value))
            yield f"{name} is a storage of {other.dtype}" if isinstance(other, StorageObject) else f"{name} is a tensor"
