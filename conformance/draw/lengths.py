"""Draws operands that are longer than all others, and joins of many: what goes over them goes in pieces.

Copies work in blocks, sums in cascades, threads begin at so many elements. Few programs are long: they cost more, and
whatever is wrong with all lengths is found on short ones.
"""

from __future__ import annotations

from ..program import ITEMSIZES, Argument, Step
from .layouts import draw_shape
from .source import weighted
from .stage import ALL, REAL, Scene, Stage, on, step
from .steps import ODD

_LENGTHS = ((30, (9, 18)), (25, (20, 30)), (22, (36, 40)), (22, (61, 67)), (15, (182, 190)))
"""(weight, least and most numbers on a side): above 64, 256, 1,024, 3,600 and 32,768 elements."""
_KINDS = ("row-major", "permuted", "permuted", "free")
_WIDEST = 4
"""Bytes an element, of more than 3,600 elements at most."""
_MOST = 100_000
"""Elements that a long layout reaches over at most: room for one that is stepped."""
_OF_ONE = (
    "clone", "clone", "contiguous", "contiguous", "contiguous", "neg", "abs", "relu", "flip", "cumsum", "sum", "amax",
    "argmax", "t", "tril", "zero_", "fill_", "neg_", "tolist", "nonzero", "amin", "max", "min", "argmin", "any",
    "all", "count_nonzero", "cummax", "sort",
)  # fmt: skip
_OVER = ("sum", "amax", "amin", "argmax", "argmin", "max", "min", "any", "all", "count_nonzero")
_OF_TRUTHS = (
    "count_nonzero", "count_nonzero", "any", "all", "sum", "clone", "contiguous", "flip", "nonzero",
    "logical_not", "cumsum", "t", "fill_",
)  # fmt: skip
"""What is done to long rows of truths, which are counted and packed as no numbers are."""
_OF_TWO = ("add", "mul", "sub", "maximum", "eq", "copy_", "copy_", "copy_", "add_", "mul_", "where", "cat")


def _long(stage: Stage) -> tuple[int, ...]:
    source = stage.source
    sides = weighted(source, _LENGTHS)
    if ITEMSIZES[stage.dtype] > _WIDEST:
        sides = min(sides, _LENGTHS[2][1])
    first, second = source.integer(*sides), source.integer(*sides)
    if source.chance(20):
        return (first * second,)
    return (first, second) if source.chance(70) else (2, first // 2, second)


def _tensor(stage: Stage, shape: tuple[int, ...], *, dtype: str | None = None) -> Argument:
    """A long one: in any order, stepped, or expanded."""
    return stage.tensor(shape, kind=stage.source.choice(_KINDS), dtype=dtype, most=_MOST)


def _one(stage: Stage) -> Step:
    source = stage.source
    shape = _long(stage)
    name = source.choice(_OF_TRUTHS if stage.dtype == "bool" else _OF_ONE)
    args: tuple[Argument, ...] = ()
    if name == "fill_":
        args = (True if stage.dtype == "bool" else 3,)
    elif name == "flip":
        args = ((source.integer(0, len(shape) - 1),),)
    elif name in _OVER or name in ("cumsum", "cummax"):
        # Over all at once there are more numbers in a row than along any dimension.
        along = name not in _OVER or source.chance(65)
        args = (source.integer(-len(shape), len(shape) - 1),) if along else ()
    elif name == "sort":
        return step(name, _tensor(stage, shape), dim=source.integer(-len(shape), len(shape) - 1), stable=True)
    elif name in ("t", "tril"):
        shape = (shape * 2)[-2:] if len(shape) > 1 else (shape[0], 1)
    return step(name, _tensor(stage, shape), *args)


def _two(stage: Stage) -> Step:
    source = stage.source
    shape = _long(stage)
    name = source.choice(_OF_TWO)
    x = _tensor(stage, shape)
    other = _tensor(stage, shape if source.chance(75) else tuple([1 if source.chance(50) else n for n in shape]))
    if name == "cat":
        return step(name, (x, _tensor(stage, shape)), source.integer(-len(shape), len(shape) - 1))
    if name == "where":
        return step(name, _tensor(stage, shape, dtype="bool"), x, other)
    return step(name, x, other)


def _joined(stage: Stage) -> Step:
    """Up to seven tensors of different lengths, at times nothing among them: empty ones with one dimension."""
    source = stage.source
    name = source.choice(("cat", "cat", "concat", "stack"))
    channels_last = source.chance(35)
    shape = draw_shape(source, 4, 4) if channels_last else draw_shape(source, 1, 4)
    shape = tuple([min(n, 4) for n in shape]) or (2,)
    dim = source.integer(0, len(shape) - 1)
    count = source.integer(1, 7)
    parts = []
    for _ in range(count):
        length = shape[dim] if name == "stack" else source.integer(0 if source.chance(10) else 1, 4)
        sizes = (*shape[:dim], length + source.chance(ODD // 3), *shape[dim + 1 :])
        dtype = source.choice(("float32", "int64", stage.dtype)) if source.chance(8) else None
        parts.append(stage.tensor(sizes, kind="channels-last" if channels_last else None, dtype=dtype))
    if name != "stack" and source.chance(25):
        parts.insert(source.integer(0, len(parts)), stage.tensor((0,)))
    return step(name, tuple(parts), dim - len(shape) if source.chance(35) else dim)


def _joined_channels(stage: Stage) -> Step:
    """Images of one channel or a few, each in one of the formats: which of them the result has."""
    source = stage.source
    batch, height, width = source.integer(1, 2), source.integer(1, 3), source.integer(1, 3)
    deep = (source.integer(1, 2),) if source.chance(20) else ()
    parts = []
    for _ in range(source.integer(2, 3)):
        kind = source.choice(("row-major", "channels-last", "channels-last", None))
        channels = 1 if source.chance(35) else source.integer(2, 3)
        parts.append(stage.tensor((batch, channels, *deep, height, width), kind=kind))
    if source.chance(20):
        return step("hstack", tuple(parts))
    return step(source.choice(("cat", "concat")), tuple(parts), 1 if source.chance(60) else -3 - len(deep))


def _cut(stage: Stage) -> Step:
    """A dimension cut into parts that are not all as long: by how much the last ones are shorter shows on long ones."""
    source = stage.source
    size = source.integer(7, 13)
    rest = [min(n, 3) for n in draw_shape(source, 0, 2)]
    place = source.integer(0, len(rest))
    shape = (*rest[:place], size, *rest[place:])
    dim = place - len(shape) if source.chance(50) else place
    name = source.choice(("chunk", "chunk", "tensor_split", "split"))
    return step(name, stage.tensor(shape), source.integer(2, 6), dim)


_LONG = (*REAL, (12, "int64"), (20, "uint8"), (16, "int16"))
LONG: tuple[tuple[int, Scene], ...] = (
    (5, on((*_LONG, (20, "bool")), _one)),
    (4, on(_LONG, _two)),
    (8, on(ALL, _joined)),
    (3, on(REAL, _joined_channels)),
    (2, on(ALL[-1:], _one)),
    (2, on(ALL, _cut)),
)
"""(weight, how an operation and its operands are drawn)."""
