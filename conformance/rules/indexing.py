"""Indexing: integers, slices, None and Ellipsis as views of a part."""

from __future__ import annotations

from ..classify import Event
from ..program import Argument, Slice
from ._define import GEOMETRY, RAISING, Family, numel, succeeded

family = Family("indexing")
rule = family.rule


def _items(e: Event) -> tuple[Argument, ...]:
    index = e.argument("index")
    return index if isinstance(index, tuple) else (index,)


# Items one by one.


@rule(
    "index.basic",
    "Integers, slices, None and Ellipsis give a view: sizes, strides and offset follow item by item.",
    "3.12",
    "__getitem__",
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "index.integer",
    "An integer drops its dimension and moves the offset by index times stride.",
    "3.7",
    "__getitem__ select",
)
def _(e: Event) -> bool:
    return succeeded(e) and (e.entry == "select" or any(type(item) is int for item in _items(e)))


@rule("index.negative", "A negative index counts from the end.", "3.7", "__getitem__ select narrow")
def _(e: Event) -> bool:
    if e.entry == "__getitem__":
        return succeeded(e) and any(type(item) is int and item < 0 for item in _items(e))
    position = e.argument("index") if e.entry == "select" else e.argument("start")
    return succeeded(e) and isinstance(position, int) and position < 0


@rule(
    "index.none",
    "None inserts a dimension of size 1 with the stride that unsqueeze gives.",
    "3.4",
    "__getitem__",
)
def _(e: Event) -> bool:
    return succeeded(e) and any(item is None for item in _items(e))


@rule("index.ellipsis", "An Ellipsis stands for all dimensions not named.", "3.12", "__getitem__")
def _(e: Event) -> bool:
    return succeeded(e) and any(item is ... for item in _items(e))


# Slices.


@rule("slice.step", "A slice's step multiplies the stride.", "3.7", "__getitem__")
def _(e: Event) -> bool:
    return succeeded(e) and any(isinstance(i, Slice) and (i.step or 1) > 1 for i in _items(e))


@rule(
    "slice.offset",
    "A slice's start moves the offset by start times stride.",
    "3.7",
    "__getitem__ narrow",
    "layout",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.y.offset != e.x.offset


@rule("slice.clamps", "Slice bounds past the ends are clamped, never an error.", "3.7", "__getitem__")
def _(e: Event) -> bool:
    longest = max(e.x.shape, default=0)
    return succeeded(e) and any(
        isinstance(i, Slice) and any(b is not None and abs(b) > longest for b in (i.start, i.stop)) for i in _items(e)
    )


@rule(
    "slice.empty",
    "A slice without elements keeps its stride and still moves the offset.",
    "3.7",
    "__getitem__ narrow",
)
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) == 0 < numel(e.x)


@rule("slice.length-one", "A slice of length 1 keeps stride times step.", "3.7", "__getitem__ narrow", "layout")
def _(e: Event) -> bool:
    return succeeded(e) and e.y.shape.count(1) > e.x.shape.count(1)


# One dimension by name.


@rule(
    "narrow.range",
    "Narrow keeps `length` elements of one dimension from `start` on, its stride unchanged.",
    "3.7",
    "narrow",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule("select.drops", "Select removes one dimension and keeps the strides of the others.", "3.7", "select")
def _(e: Event) -> bool:
    return succeeded(e)


# What is refused.


@rule(
    "errors.index",
    "An index outside its dimension is refused.",
    "3.7",
    "__getitem__ __setitem__ select narrow",
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "index"


@rule("errors.slice-step", "A slice's step must be positive.", "3.7", "__getitem__ __setitem__", RAISING)
def _(e: Event) -> bool:
    return e.kind == "step"


RULES = family.rules
