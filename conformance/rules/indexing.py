"""Indexing: integers, slices, None and Ellipsis as views of a part."""

from __future__ import annotations

from ..classify import Event
from ..layout import numel
from ..operations import group
from ..program import Argument, Ref, Slice
from ._define import GEOMETRY, RAISING, Family, is_channels_last, viewed

family = Family("indexing")
INDEXED = f"__getitem__ __setitem__ {group('gathers', 'scatters', 'index writes')}"
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
    return viewed(e)


@rule(
    "index.integer",
    "An integer drops its dimension and moves the offset by index times stride.",
    "3.7",
    "__getitem__ select",
)
def _(e: Event) -> bool:
    return viewed(e) and (e.entry == "select" or any(type(item) is int for item in _items(e)))


@rule("index.negative", "A negative index counts from the end.", "3.7", "__getitem__ select narrow")
def _(e: Event) -> bool:
    if e.entry == "__getitem__":
        return viewed(e) and any(type(item) is int and item < 0 for item in _items(e))
    position = e.argument("index") if e.entry == "select" else e.argument("start")
    return viewed(e) and isinstance(position, int) and position < 0


@rule(
    "index.none",
    "None inserts a dimension of size 1 with the stride that unsqueeze gives.",
    "3.4",
    "__getitem__",
)
def _(e: Event) -> bool:
    return viewed(e) and any(item is None for item in _items(e))


@rule("index.ellipsis", "An Ellipsis stands for all dimensions not named.", "3.12", "__getitem__")
def _(e: Event) -> bool:
    return viewed(e) and any(item is ... for item in _items(e))


# Slices.


@rule("slice.step", "A slice's step multiplies the stride.", "3.7", "__getitem__")
def _(e: Event) -> bool:
    return viewed(e) and any(isinstance(i, Slice) and (i.step or 1) > 1 for i in _items(e))


@rule(
    "slice.offset",
    "A slice's start moves the offset by start times stride.",
    "3.7",
    "__getitem__ narrow",
    "layout",
)
def _(e: Event) -> bool:
    return viewed(e) and e.y.offset != e.x.offset


@rule("slice.clamps", "Slice bounds past the ends are clamped, never an error.", "3.7", "__getitem__")
def _(e: Event) -> bool:
    longest = max(e.x.shape, default=0)
    return viewed(e) and any(
        isinstance(i, Slice) and any(b is not None and abs(b) > longest for b in (i.start, i.stop)) for i in _items(e)
    )


@rule(
    "slice.empty",
    "A slice without elements keeps its stride and still moves the offset.",
    "3.7",
    "__getitem__ narrow",
)
def _(e: Event) -> bool:
    return viewed(e) and numel(e.y) == 0 < numel(e.x)


@rule("slice.length-one", "A slice of length 1 keeps stride times step.", "3.7", "__getitem__ narrow", "layout")
def _(e: Event) -> bool:
    return viewed(e) and e.y.shape.count(1) > e.x.shape.count(1)


# One dimension by name.


@rule(
    "narrow.range",
    "Narrow keeps `length` elements of one dimension from `start` on, its stride unchanged.",
    "3.7",
    "narrow",
)
def _(e: Event) -> bool:
    return viewed(e)


@rule("select.drops", "Select removes one dimension and keeps the strides of the others.", "3.7", "select")
def _(e: Event) -> bool:
    return viewed(e)


# Index tensors and masks.


@rule(
    "index.advanced-copies",
    "Index tensors, masks and lists gather into fresh memory.",
    "3.12",
    "__getitem__",
    "sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "index.advanced-layout",
    "What index tensors gather is laid out as an elementwise result of them and the indexed dimensions would be.",
    "3.12.4",
    "__getitem__",
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "index.advanced-channels-last",
    "Indexing a channels_last tensor by tensors keeps its order where the channels are not indexed.",
    "3.12.4",
    "__getitem__",
    "strides contiguity",
)
def _(e: Event) -> bool:
    return e.copied and is_channels_last(e.x) and numel(e.x) > 1


@rule(
    "index.advanced-mixed",
    "Slices and integers beside index tensors are a view first, gathered then.",
    "3.12",
    "__getitem__",
    f"{GEOMETRY} values",
)
def _(e: Event) -> bool:
    return e.copied and any(not isinstance(item, Ref) for item in _items(e))


@rule(
    "index.advanced-several",
    "Several index tensors are broadcast together, and their shape stands where they are adjacent, else in front.",
    "3.12.4",
    "__getitem__",
    f"{GEOMETRY} values",
)
def _(e: Event) -> bool:
    return e.copied and sum(isinstance(item, Ref) for item in _items(e)) > 1


@rule(
    "index.mask",
    "A mask stands for as many dimensions as it has, and gathers where it is true.",
    "3.12",
    "__getitem__",
    f"{GEOMETRY} values sharing",
)
def _(e: Event) -> bool:
    return e.copied and any(o.dtype == "bool" for o in e.others)


@rule(
    "index.scalar-tensor",
    "A 0-dim integer tensor indexes as the integer that it holds.",
    "3.12",
    "__getitem__",
    f"{GEOMETRY} sharing contiguity",
)
def _(e: Event) -> bool:
    return viewed(e) and any(isinstance(item, Ref) for item in _items(e))


@rule(
    "gather.values",
    "gather takes each element along one dimension from where the index says.",
    "4.4",
    "gather take_along_dim",
    "values shape",
)
def _(e: Event) -> bool:
    return e.copied


@rule("gather.strided", "An index tensor is read by its own strides.", "4.4", INDEXED, "values")
def _(e: Event) -> bool:
    return e.raised is None and any(o.contiguity[0] == "F" and o.dtype == "int64" for o in (e.x, *e.others))


@rule("take.flat", "take counts elements in row-major order, whatever the strides.", "4.4", "take put put_",
      "values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None


@rule(
    "nonzero.column-major",
    "nonzero() answers a matrix of places in column-major order.",
    "4.4",
    "nonzero argwhere",
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied


@rule("embedding.rows", "An embedding is rows of its weight, row-major, in the shape of the index.", "4.4",
      "nn.functional.embedding nn.functional.one_hot", f"{GEOMETRY} values contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("scatter.copy", "The out-of-place twin of a write by an index leaves its operand as it was.", "4.4",
      group("scatters"), "sharing storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("scatter.layout", "A scatter answers row-major, whatever its operand's layout.", "4.4", group("scatters"),
      f"{GEOMETRY} contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and e.x.contiguity[0] == "F"


@rule("errors.index-value", "An index tensor with a number outside its dimension is refused.", "3.12.2", INDEXED,
      RAISING)  # fmt: skip
def _(e: Event) -> bool:
    return e.kind == "index" and bool(e.others)


@rule("errors.mask-shape", "A mask of another shape than the dimensions that it stands for is refused.", "3.12.2",
      "__getitem__ __setitem__ masked_select masked_fill masked_fill_ masked_scatter masked_scatter_", RAISING)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is not None and any(o.dtype == "bool" for o in e.others)


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
