"""Views: which layout each view operation gives, and that a view shares memory, versions and its base."""

from __future__ import annotations

from math import prod

from ..classify import Event
from ..program import Argument, Slice
from ._define import GEOMETRY, RESHAPING, VIEWS, Family, is_expanded, numel, real_dims, strides, succeeded

family = Family("views")
rule = family.rule


def _viewed(e: Event) -> bool:
    return succeeded(e) and not e.same and not e.copied


def _reshaped(e: Event) -> bool:
    return _viewed(e) and numel(e.x) > 0


# What holds for every view.


@rule(
    "view.layout",
    "The layout of a view follows from its input's layout and the arguments alone.",
    "1.1",
    f"{VIEWS} reshape reshape_as flatten ravel",
    GEOMETRY,
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "view.shares-memory",
    "A view is a new tensor over the same storage; nothing is copied or written.",
    "3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "sharing storage",
)
def _(e: Event) -> bool:
    return _viewed(e)


@rule(
    "view.same-elements",
    "A view addresses the elements that its layout says, and reading gives their values.",
    "1.3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "values",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "view.base-is-root",
    "A view of a view is recorded as a view of the root tensor.",
    "3.15",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "flags",
)
def _(e: Event) -> bool:
    return _viewed(e) and e.x.base is not None


@rule(
    "view.shares-version",
    "A view shares the version counter of what it views.",
    "5.3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "flags",
)
def _(e: Event) -> bool:
    return _viewed(e)


@rule(
    "view.of-written",
    "A view made after a write starts at its base's version.",
    "5.3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "flags",
)
def _(e: Event) -> bool:
    return _viewed(e) and bool(e.x.version)


@rule(
    "view.keeps-offset",
    "Reshaping to a view keeps the storage offset.",
    "3.1.3",
    f"{RESHAPING} flatten ravel unflatten",
    "layout",
)
def _(e: Event) -> bool:
    return _viewed(e) and bool(e.x.offset)


# view, and reshape where it is one.


@rule(
    "view.merge-blocks",
    "Neighbouring dimensions merge where the outer stride is the inner size times the inner stride.",
    "3.1.4",
    f"{RESHAPING} flatten ravel",
)
def _(e: Event) -> bool:
    return _reshaped(e) and real_dims(e.y) < real_dims(e.x)


@rule(
    "view.split-dims",
    "A dimension splits into parts whose strides are multiples of its own.",
    "3.1.4",
    f"{RESHAPING} unflatten",
)
def _(e: Event) -> bool:
    return _reshaped(e) and real_dims(e.y) > real_dims(e.x)


@rule("view.regroup", "Merging and splitting may happen at once, block by block.", "3.1.4", RESHAPING)
def _(e: Event) -> bool:
    return _reshaped(e) and e.y.shape != e.x.shape and real_dims(e.y) == real_dims(e.x) > 1


@rule(
    "view.same-shape",
    "A view with the same shape has the same strides and is a new object.",
    "3.1.4",
    RESHAPING,
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return _viewed(e) and e.y.shape == e.x.shape


@rule(
    "view.new-size-one",
    "A new dimension of size 1 gets the running stride of the block to its right.",
    "3.1.4",
    RESHAPING,
    "layout",
)
def _(e: Event) -> bool:
    return _reshaped(e) and e.y.shape.count(1) > 0


@rule(
    "view.drops-size-one",
    "Dimensions of size 1 never stand in the way of merging, whatever their strides.",
    "3.1.4",
    RESHAPING,
)
def _(e: Event) -> bool:
    return _reshaped(e) and e.x.shape.count(1) > e.y.shape.count(1)


@rule(
    "view.infer-size",
    "One size may be -1: it is found from the number of elements.",
    "3.1.1",
    "view reshape unflatten",
    "shape",
)
def _(e: Event) -> bool:
    sizes = e.argument("size") or e.argument("shape") or e.argument("sizes")
    return succeeded(e) and isinstance(sizes, tuple) and -1 in sizes


@rule(
    "view.empty",
    "A view of a tensor without elements has row-major strides, or its own where the shape stays.",
    "3.1.4",
    RESHAPING,
    "shape layout",
)
def _(e: Event) -> bool:
    return _viewed(e) and numel(e.x) == 0


@rule(
    "view.expanded",
    "A dimension of stride 0 is kept, or merged with neighbours of stride 0.",
    "3.1.5",
    f"{RESHAPING} flatten ravel",
)
def _(e: Event) -> bool:
    return _reshaped(e) and is_expanded(e.x)


@rule(
    "view.scalar",
    "A 0-dim tensor views as any shape of ones, and back.",
    "3.1.4",
    f"{RESHAPING} flatten ravel",
    "shape layout",
)
def _(e: Event) -> bool:
    return _viewed(e) and () in (e.x.shape, e.y.shape)


@rule(
    "view.non-contiguous",
    "A view needs no contiguous input, only strides that allow it.",
    "3.1.4",
    "view view_as",
)
def _(e: Event) -> bool:
    return _reshaped(e) and e.x.contiguity[0] == "F"


@rule(
    "reshape.view",
    "Reshape answers with a view wherever a view is possible.",
    "3.3.1",
    "reshape reshape_as",
    f"{GEOMETRY} sharing storage values",
)
def _(e: Event) -> bool:
    return _viewed(e)


@rule(
    "reshape.copy",
    "Reshape copies, row-major into fresh memory, where no view is possible.",
    "3.3.1",
    "reshape reshape_as flatten ravel",
    f"{GEOMETRY} sharing storage values flags",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "flatten.same-object",
    "Flattening nothing answers with the very same tensor.",
    "3.3.2",
    "flatten",
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "flatten.range",
    "Flatten merges the dimensions from start to end and keeps the others.",
    "3.3.2",
    "flatten",
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return succeeded(e) and not e.same


@rule(
    "ravel.contiguous",
    "Ravel of a contiguous tensor is a new 1-d view.",
    "3.3.3",
    "ravel",
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return _viewed(e)


@rule(
    "unflatten.splits",
    "Unflatten splits one dimension of any stride, always as a view.",
    "3.3.4",
    "unflatten",
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "dtype-view.same-size",
    "Viewing as a dtype of the same size keeps shape, strides and offset.",
    "3.2",
    "view.dtype",
    f"{GEOMETRY} flags",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.x.shape == e.y.shape and e.x.strides == e.y.strides


@rule(
    "dtype-view.resized",
    "Viewing as a smaller or larger dtype scales the last size, the other strides and the offset.",
    "3.2",
    "view.dtype",
    f"{GEOMETRY} flags",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.x.shape != e.y.shape


# Permutations.


@rule("permute.order", "Permute reorders sizes and strides alike.", "3.6", "permute", GEOMETRY)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "transpose.swaps",
    "Transpose (and its aliases) swaps two sizes and their strides.",
    "3.6",
    "transpose swapaxes swapdims",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "transpose.negative-dims",
    "Dimensions may be counted from the end.",
    "3.6",
    "transpose swapaxes swapdims permute movedim moveaxis",
)
def _(e: Event) -> bool:
    given = [a for a in e.step.args[1:] for a in (a if isinstance(a, tuple) else (a,))]
    return succeeded(e) and any(isinstance(d, int) and d < 0 for d in given)


@rule(
    "movedim.order",
    "Movedim puts the named dimensions in place and keeps the order of the others.",
    "3.6",
    "movedim moveaxis",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule("t.matrix", "t() swaps the dimensions of a matrix and leaves vectors and scalars as they are.", "3.6", "t")
def _(e: Event) -> bool:
    return succeeded(e)


@rule("matrix-transpose.property", "T reverses all dimensions, mT swaps the last two.", "3.6", "T mT")
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "matrix-transpose.scalar",
    "mT of a 0-dim tensor is the tensor itself.",
    "3.6",
    "mT",
    "shape layout sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


# Slicing.


def _items(e: Event) -> tuple[Argument, ...]:
    index = e.argument("index")
    return index if isinstance(index, tuple) else (index,)


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


# Expanding.


@rule(
    "expand.zero-stride",
    "Expanding a dimension of size 1 gives it stride 0.",
    "3.5",
    "expand expand_as broadcast_to",
)
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) > numel(e.x)


@rule(
    "expand.leading",
    "A new leading dimension gets stride 0, or, where its size is 1, the product of its neighbour's.",
    "3.5",
    "expand expand_as broadcast_to",
)
def _(e: Event) -> bool:
    return succeeded(e) and len(e.y.shape) > len(e.x.shape)


@rule(
    "expand.keeps",
    "A size that stays, or is given as -1, keeps its stride.",
    "3.5",
    "expand expand_as broadcast_to",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.x.shape != () and e.y.shape[-1] == e.x.shape[-1]


@rule("expand.scalar", "A 0-dim tensor expands with strides 0 only.", "3.5", "expand expand_as broadcast_to")
def _(e: Event) -> bool:
    return succeeded(e) and e.x.shape == () != e.y.shape


@rule("expand.to-empty", "A dimension of size 1 may be expanded to 0.", "3.5", "expand expand_as broadcast_to")
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) == 0 < numel(e.x)


# Dimensions of size 1.


@rule(
    "squeeze.all",
    "Squeeze without arguments drops every dimension of size 1 and keeps the other strides.",
    "3.4",
    "squeeze",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("dim") is None


@rule("squeeze.dim", "Squeeze of named dimensions drops those of size 1.", "3.4", "squeeze")
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("dim") is not None and len(e.y.shape) < len(e.x.shape)


@rule(
    "squeeze.longer",
    "Squeezing a dimension longer than 1 answers with an unchanged view, not an error.",
    "3.4",
    "squeeze",
    f"{GEOMETRY} raises sharing",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("dim") is not None and e.y.shape == e.x.shape != ()


@rule(
    "unsqueeze.stride",
    "An inserted dimension has the size times the stride of the one it stands before, 1 at the end.",
    "3.4",
    "unsqueeze",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "unsqueeze.raw-size",
    "Before a dimension of size 0 or stride 0 the inserted stride is 0.",
    "3.4",
    "unsqueeze",
    "layout",
)
def _(e: Event) -> bool:
    return succeeded(e) and any(s == 0 for s, n in zip(strides(e.y), e.y.shape, strict=True) if n == 1)


# Windows, diagonals, free strides.


@rule(
    "unfold.windows",
    "Unfold turns a dimension into windows: stride times step outside, the old stride inside.",
    "3.8",
    "unfold",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule("unfold.overlap", "Windows may overlap: the same memory appears more than once.", "3.8", "unfold")
def _(e: Event) -> bool:
    size, step = e.argument("size"), e.argument("step")
    return succeeded(e) and isinstance(size, int) and isinstance(step, int) and size > step and numel(e.y) > 1


@rule(
    "diagonal.stride",
    "A diagonal's stride is the sum of the two it replaces; its offset follows the diagonal's number.",
    "3.8",
    "diagonal",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule("diagonal.outside", "A diagonal outside the matrix is empty and keeps the offset.", "3.8", "diagonal")
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) == 0 < numel(e.x)


@rule(
    "as_strided.absolute",
    "as_strided counts its offset from the start of the storage and ignores the input's layout.",
    "3.10",
    "as_strided",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("storage_offset") is not None


@rule("as_strided.current-offset", "as_strided without an offset keeps the current one.", "3.10", "as_strided")
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("storage_offset") is None


@rule("as_strided.overlap", "as_strided may address memory more than once.", "3.10", "as_strided")
def _(e: Event) -> bool:
    reach = 1 + sum((n - 1) * s for n, s in zip(e.y.shape, strides(e.y), strict=True))
    return succeeded(e) and prod(e.y.shape) > reach


@rule(
    "as_strided.empty",
    "The bounds check is skipped where any size is 0.",
    "1.18",
    "as_strided",
    "raises layout shape",
)
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) == 0


@rule(
    "detach.alias",
    "Detach answers with a new tensor over the same memory that is recorded as no view.",
    "3.15",
    "detach",
    f"{GEOMETRY} sharing flags",
)
def _(e: Event) -> bool:
    return succeeded(e)


RULES = family.rules
