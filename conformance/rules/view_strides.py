"""View strides: which layout each view operation gives."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_expanded, numel, strides
from ._define import GEOMETRY, RESHAPING, VIEWS, Family, real_dims, reshaped, succeeded, viewed

family = Family("view-strides")
rule = family.rule


# Every view.


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
    "view.same-elements",
    "A view addresses the elements that its layout says, and reading gives their values.",
    "1.3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "values",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "view.keeps-offset",
    "Reshaping to a view keeps the storage offset.",
    "3.1.3",
    f"{RESHAPING} flatten ravel unflatten",
    "layout",
)
def _(e: Event) -> bool:
    return viewed(e) and bool(e.x.offset)


# view, and reshape where it is one.


@rule(
    "view.merge-blocks",
    "Neighbouring dimensions merge where the outer stride is the inner size times the inner stride.",
    "3.1.4",
    f"{RESHAPING} flatten ravel",
)
def _(e: Event) -> bool:
    return reshaped(e) and real_dims(e.y) < real_dims(e.x)


@rule(
    "view.split-dims",
    "A dimension splits into parts whose strides are multiples of its own.",
    "3.1.4",
    f"{RESHAPING} unflatten",
)
def _(e: Event) -> bool:
    return reshaped(e) and real_dims(e.y) > real_dims(e.x)


@rule("view.regroup", "Merging and splitting may happen at once, block by block.", "3.1.4", RESHAPING)
def _(e: Event) -> bool:
    return reshaped(e) and e.y.shape != e.x.shape and real_dims(e.y) == real_dims(e.x) > 1


@rule(
    "view.same-shape",
    "A view with the same shape has the same strides and is a new object.",
    "3.1.4",
    RESHAPING,
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return viewed(e) and e.y.shape == e.x.shape


@rule(
    "view.new-size-one",
    "A new dimension of size 1 gets the running stride of the block to its right.",
    "3.1.4",
    RESHAPING,
    "layout",
)
def _(e: Event) -> bool:
    return reshaped(e) and e.y.shape.count(1) > 0


@rule(
    "view.empty",
    "A view of a tensor without elements has row-major strides, or its own where the shape stays.",
    "3.1.4",
    RESHAPING,
    "shape layout",
)
def _(e: Event) -> bool:
    return viewed(e) and numel(e.x) == 0


@rule(
    "view.expanded",
    "A dimension of stride 0 is kept, or merged with neighbours of stride 0.",
    "3.1.5",
    f"{RESHAPING} flatten ravel",
)
def _(e: Event) -> bool:
    return reshaped(e) and is_expanded(e.x)


@rule(
    "view.scalar",
    "A 0-dim tensor views as any shape of ones, and back.",
    "3.1.4",
    f"{RESHAPING} flatten ravel",
    "shape layout",
)
def _(e: Event) -> bool:
    return viewed(e) and () in (e.x.shape, e.y.shape)


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
    "unflatten.splits",
    "Unflatten splits one dimension of any stride, always as a view.",
    "3.3.4",
    "unflatten",
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return succeeded(e)


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
    return succeeded(e) and numel(e.y) > reach


RULES = family.rules
