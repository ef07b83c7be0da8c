"""Draws arguments of views, copies and writes: mostly legal, at times just outside of what is.

One small function per kind of argument list; `BASIC` says which operation uses which, and how often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TypeAlias

from ..observation import TensorState
from ..program import ITEMSIZES, Argument, DType, MemoryFormat, Ref, Slice
from .layouts import draw_layout, draw_shape, edit_shape
from .source import Source, weighted

Values: TypeAlias = Mapping[str, TensorState]
Arguments: TypeAlias = tuple[tuple[Argument, ...], dict[str, Argument]]
FLOATING = ("float", "bfloat", "complex")
"""What the names of dtypes that have gradients begin with."""
ODD = 6
"""Percent of arguments that are drawn outside of what is legal."""


def ref_of(key: str) -> Ref:
    """The reference that a value's key stands for.

    >>> ref_of("3.1")
    Ref(slot=3, item=1)
    """
    slot, _, item = key.partition(".")
    return Ref(int(slot), int(item) if item else None)


def draw_dim(source: Source, rank: int) -> int:
    """A dimension counted from either end, at times one that is not there."""
    if source.chance(ODD):
        return source.choice((rank, -rank - 1, rank + 2))
    return source.integer(-rank, rank - 1) if rank else source.choice((0, -1))


def _dims(source: Source, rank: int) -> tuple[int, ...]:
    """A permutation of all dimensions, some counted from the end."""
    rest = list(range(rank))
    order = [rest.pop(source.integer(0, len(rest) - 1)) for _ in range(rank)]
    from_end = 100 if source.chance(10) else 15
    order = [d - rank if source.chance(from_end) else d for d in order]
    if order and source.chance(ODD):
        last = order[-1]
        order[0] = source.choice((last, last - rank if last >= 0 else last + rank, rank, -rank - 1))
    if source.chance(ODD // 2):
        order = order[1:]
    return tuple(order)


def no_arguments(source: Source, x: TensorState, values: Values) -> Arguments:
    """Nothing but the operand."""
    return (), {}


def resized_view(source: Source, x: TensorState, values: Values) -> Arguments:
    """Sizes of as many elements, one of them perhaps -1."""
    sizes = list(edit_shape(source, x.shape))
    if sizes and source.chance(25):
        sizes[source.integer(0, len(sizes) - 1)] = -1
    if source.chance(ODD):
        sizes = [*sizes, source.choice((-1, 2, 0, -2, -1))] if source.chance(50) else list(draw_shape(source))
    return (tuple(sizes),), {}


def _dtype(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(25):
        # Other bytes than 0 and 1 are no bool.
        return (DType(source.choice([name for name in ITEMSIZES if name != "bool"])),), {}
    common = ("uint8", "int16", "int32", "float32", "int64", "complex64", "float64", "bfloat16")
    return (DType(source.choice(common)),), {}


def any_other(source: Source, x: TensorState, values: Values) -> Arguments:
    """Any value."""
    return (ref_of(source.choice(list(values))),), {}


def _range(source: Source, x: TensorState, values: Values) -> Arguments:
    rank = len(x.shape)
    if source.chance(30):
        return (), {}
    start, end = sorted((source.integer(0, max(0, rank - 1)), source.integer(0, max(0, rank - 1))))
    if source.chance(ODD):
        start, end = end + 1, start
    from_end = [d - rank if rank and source.chance(25) else d for d in (start, end)]
    return tuple(from_end), {}


def _split(source: Source, x: TensorState, values: Values) -> Arguments:
    rank = len(x.shape)
    dim = draw_dim(source, rank)
    size = x.shape[dim] if -rank <= dim < rank else 4
    factors = [f for f in range(1, size + 1) if size % f == 0] or [1]
    first = source.choice(factors)
    sizes = [first, size // first if size else size]
    if source.chance(20):
        sizes[source.integer(0, 1)] = -1
    if source.chance(ODD):
        sizes[0] += 1
    return (dim, tuple(sizes)), {}


def reordered(source: Source, x: TensorState, values: Values) -> Arguments:
    """A permutation."""
    return (_dims(source, len(x.shape)),), {}


def two_dims(source: Source, x: TensorState, values: Values) -> Arguments:
    """Two dimensions."""
    rank = len(x.shape)
    return (draw_dim(source, rank), draw_dim(source, rank)), {}


def _moved(source: Source, x: TensorState, values: Values) -> Arguments:
    """One dimension and where it goes, or several."""
    rank = len(x.shape)
    if rank < 2 or source.chance(65):
        return two_dims(source, x, values)
    count = source.integer(1, rank)
    return (_dims(source, rank)[:count], _dims(source, rank)[:count]), {}


def one_dim(source: Source, x: TensorState, values: Values) -> Arguments:
    """One dimension."""
    return (draw_dim(source, len(x.shape)),), {}


def new_dim(source: Source, x: TensorState, values: Values) -> Arguments:
    """A place for a new dimension."""
    return (draw_dim(source, len(x.shape) + 1),), {}


def squeezed_dims(source: Source, x: TensorState, values: Values) -> Arguments:
    """All dimensions of size 1, or one dimension, rather of size 1."""
    ones = [d for d, size in enumerate(x.shape) if size == 1]
    if source.chance(35):
        return (), {}
    if x.shape and source.chance(15):
        # Of several dimensions some are of size 1.
        return (_dims(source, len(x.shape))[: source.integer(1, 3)],), {}
    if ones and source.chance(60):
        return (source.choice(ones),), {}
    return one_dim(source, x, values)


def _slice(source: Source, size: int) -> Slice:
    bounds = [source.integer(-size - 1, size + 2) if source.chance(65) else None for _ in range(2)]
    step = source.integer(2, 3) if source.chance(40) else None
    if source.chance(ODD // 2):
        step = source.choice((0, -1))
    return Slice(bounds[0], bounds[1], step)


def _indices(source: Source, x: TensorState) -> tuple[Argument, ...]:
    items: list[Argument] = []
    for size in x.shape[: source.integer(0, len(x.shape))]:
        what = weighted(source, ((55, "slice"), (30, "integer"), (10, "none"), (5, "rest")))
        if what == "slice":
            items.append(_slice(source, size))
        elif what == "integer":
            items.append(
                source.integer(-size, size - 1) if size and not source.chance(ODD) else source.choice((size, -size - 1))
            )
        elif what == "none":
            items.append(None)
        elif ... not in items or source.chance(40):
            items.append(...)
    if source.chance(10):
        items.append(None)
    if source.chance(1):
        items = [..., *items[:1], ...]
    if source.chance(ODD // 2):
        items.extend([0] * (len(x.shape) + 1))
    return tuple(items)


def _index(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(3):
        return (source.chance(75),), {}
    return (_indices(source, x),), {}


def narrowed(source: Source, x: TensorState, values: Values) -> Arguments:
    """A dimension, a start and a length."""
    rank = len(x.shape)
    dim = draw_dim(source, rank)
    size = x.shape[dim] if -rank <= dim < rank else 3
    start = source.integer(0, size)
    length = source.integer(0, size - start)
    if source.chance(ODD):
        length += source.choice((size + 1, -size - 1))
    return (dim, start - size if size and start < size and source.chance(25) else start, length), {}


def selected(source: Source, x: TensorState, values: Values) -> Arguments:
    """A dimension and an index in it."""
    rank = len(x.shape)
    dim = draw_dim(source, rank)
    size = x.shape[dim] if -rank <= dim < rank else 2
    if not size or source.chance(ODD):
        return (dim, source.choice((size, -size - 1))), {}
    return (dim, source.integer(-size, size - 1)), {}


def expanded(source: Source, x: TensorState, values: Values) -> Arguments:
    """Sizes to expand to."""
    sizes = [source.integer(0, 4) if size == 1 and source.chance(60) else size for size in x.shape]
    sizes = [-1 if source.chance(15) else size for size in sizes]
    for _ in range(source.integer(0, 2) if source.chance(45) else 0):
        sizes.insert(0, source.integer(1, 3))
    if source.chance(ODD):
        sizes = sizes[1:] if source.chance(40) else [source.choice((2, -1, -2)), *sizes]
    if prod(max(size, 1) for size in sizes) > 400:
        sizes = list(x.shape)
    return (tuple(sizes),), {}


def windows(source: Source, x: TensorState, values: Values) -> Arguments:
    """A dimension, the size of windows along it and the step between them."""
    rank = len(x.shape)
    dim = draw_dim(source, rank)
    size = x.shape[dim] if rank and -rank <= dim < rank else 1
    window = source.integer(0, size)
    step = source.integer(1, 3)
    if source.chance(ODD):
        window, step = source.choice(((size + 1, step), (-1, step), (window, 0), (window, -1)))
    return (dim, window, step), {}


def along_diagonal(source: Source, x: TensorState, values: Values) -> Arguments:
    """Which diagonal, of which two dimensions."""
    rank = len(x.shape)
    if source.chance(25):
        return (source.integer(-2, 2),), {}
    first = draw_dim(source, rank)
    second = draw_dim(source, rank) if rank < 2 or source.chance(ODD) else first + source.integer(1, rank - 1)
    # Counted on past the last dimension, it is one of those before the first.
    return (source.integer(-3, 3), first, second if second < rank else second - rank), {}


def free_layout(source: Source, x: TensorState, values: Values) -> Arguments:
    """A layout over the storage that x lies in: half of the time one that surely fits into x's own extent."""
    drawn = draw_layout(source, shape=draw_shape(source, 0, 3))
    size, stride, offset = drawn.shape, list(drawn.strides), source.integer(0, 6)
    if source.chance(50):
        size = tuple([min(n, 2) for n in size])
        stride = [min(s, 3) for s in stride]
        offset = source.integer(0, 2)
    if stride and source.chance(ODD):
        stride[0] = -1
    if source.chance(ODD // 2):
        offset = source.choice((-1, 10_000))
    if source.chance(40):
        return (size, tuple(stride)), {}
    return (size, tuple(stride), offset), {}


FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")


def format_argument(source: Source, x: TensorState) -> dict[str, Argument]:
    """A memory format, rather one that fits the rank."""
    fitting = {4: "channels_last", 5: "channels_last_3d"}.get(len(x.shape), "contiguous_format")
    if source.chance(ODD):
        return {"memory_format": MemoryFormat(source.choice(FORMATS))}
    return {"memory_format": MemoryFormat(fitting if source.chance(65) else source.choice((FORMATS[0], FORMATS[3])))}


def formatted(source: Source, x: TensorState, values: Values) -> Arguments:
    """A memory format, or none."""
    return (), format_argument(source, x) if source.chance(55) else {}


def _asked(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {"memory_format": MemoryFormat(source.choice(FORMATS))} if source.chance(70) else {}


def target_dtype(source: Source, x: TensorState) -> DType:
    """What a tensor is converted to: rather the dtypes that are common, or its own."""
    return DType(source.choice(tuple(ITEMSIZES) if source.chance(25) else ("float32", "float64", "int64", x.dtype)))


def _converted(source: Source, x: TensorState, values: Values) -> Arguments:
    keywords: dict[str, Argument] = {}
    if source.chance(45):
        keywords["dtype"] = target_dtype(source, x)
    if source.chance(25):
        keywords["copy"] = True
    if not keywords or source.chance(45):
        keywords |= format_argument(source, x)
    return (), keywords


def number(source: Source, x: TensorState) -> Argument:
    """A number that fits the dtype, at times one of another kind."""
    if source.chance(ODD):
        return source.choice((2, True, -1, 0.5))
    if x.dtype == "bool":
        return source.chance(50)
    return source.choice((1, 2, 3)) if "int" in x.dtype else source.choice((2, 0.5, 1.5))


def scalars(x: TensorState, values: Values) -> list[Ref]:
    """Tensors without dimensions, which stand for a number that fits the dtype."""
    return [ref_of(k) for k, v in values.items() if v.shape == () and v.dtype == x.dtype and v is not x]


def _filled(source: Source, x: TensorState, values: Values) -> Arguments:
    numbers = scalars(x, values)
    return (source.choice(numbers) if numbers and source.chance(50) else number(source, x),), {}


def operand(source: Source, x: TensorState, values: Values) -> Argument:
    """A number, or a tensor: rather one that broadcasts, of the same dtype, at times in the same memory."""
    if source.chance(18):
        return number(source, x)
    return another(source, x, values, lambda v: broadcasts(v.shape, x.shape))


def another(source: Source, x: TensorState, values: Values, fits: Callable[[TensorState], bool]) -> Ref:
    """A tensor that fits, of the same dtype, and rather not the operand itself, whose layout could not differ."""
    mixed = source.chance(15)
    fitting = [k for k, v in values.items() if (mixed or v.dtype == x.dtype) and fits(v)]
    if not fitting or source.chance(8):
        return ref_of(source.choice(list(values)))
    others = [k for k in fitting if values[k] is not x]
    return ref_of(source.choice(others if others and source.chance(80) else fitting))


def broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to another."""
    if len(small) > len(large):
        return False
    return all(a in (1, b) for a, b in zip(reversed(small), reversed(large), strict=False))


def with_operand(source: Source, x: TensorState, values: Values) -> Arguments:
    """A number or a tensor."""
    return (operand(source, x, values),), {}


def _copied(source: Source, x: TensorState, values: Values) -> Arguments:
    return (another(source, x, values, lambda v: broadcasts(v.shape, x.shape)),), {}


def _assigned(source: Source, x: TensorState, values: Values) -> Arguments:
    return (_indices(source, x), operand(source, x, values) if source.chance(50) else number(source, x)), {}


Drawer: TypeAlias = Callable[[Source, TensorState, Values], Arguments]

BASIC: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    (14, ("view", resized_view)), (3, ("view", _dtype)), (2, ("view_as", any_other)), (8, ("reshape", resized_view)),
    (2, ("reshape_as", any_other)), (5, ("flatten", _range)), (4, ("unflatten", _split)), (3, ("ravel", no_arguments)),
    (7, ("permute", reordered)), (6, ("transpose", two_dims)), (1, ("swapaxes", two_dims)),
    (1, ("swapdims", two_dims)), (3, ("movedim", _moved)), (1, ("moveaxis", _moved)), (2, ("t", no_arguments)),
    (2, ("T", no_arguments)), (2, ("mT", no_arguments)), (16, ("__getitem__", _index)), (5, ("narrow", narrowed)),
    (5, ("select", selected)), (8, ("expand", expanded)), (2, ("expand_as", any_other)),
    (2, ("broadcast_to", expanded)), (5, ("squeeze", squeezed_dims)), (6, ("unsqueeze", new_dim)),
    (6, ("unfold", windows)), (6, ("diagonal", along_diagonal)), (9, ("as_strided", free_layout)),
    (1, ("detach", no_arguments)), (9, ("contiguous", formatted)), (9, ("clone", formatted)),
    (8, ("to", _converted)), (2, ("tolist", no_arguments)), (3, ("item", no_arguments)), (2, ("is_contiguous", _asked)),
    (1, ("is_set_to", any_other)), (6, ("fill_", _filled)), (2, ("zero_", no_arguments)), (8, ("copy_", _copied)),
    (8, ("add_", with_operand)), (2, ("sub_", with_operand)), (4, ("mul_", with_operand)),
    (2, ("relu_", no_arguments)), (6, ("__setitem__", _assigned)), (9, ("add", with_operand)),
    (2, ("sub", with_operand)), (5, ("mul", with_operand)), (2, ("neg", no_arguments)),
    (1, ("abs", no_arguments)), (4, ("relu", no_arguments)),
)  # fmt: skip
"""(weight, (operation, how its arguments are drawn))."""
