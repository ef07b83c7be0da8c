"""Draws pairs of dtypes: what two tensors, or a tensor and a number, are computed in, and conversions between them.

PyTorch promotes dtypes by kind first, then by size, and lets numbers and tensors without dimensions count for their
kind only. Where operands are drawn each for itself two dtypes that fit seldom come together.
"""

from __future__ import annotations

from ..layout import extent
from ..operations import group
from ..program import ITEMSIZES, Argument, DType, Step
from .layouts import Drawn, draw_shape
from .source import weighted
from .stage import REAL, Scene, Stage, on, step

KINDS = (
    (4, "int64"), (3, "int32"), (3, "int16"), (3, "int8"), (3, "uint8"), (3, "bool"), (4, "float32"), (3, "float64"),
    (2, "float16"), (2, "bfloat16"), (3, "complex64"),
)  # fmt: skip
"""(weight, dtype): all that PyTorch promotes to one another."""
UNSIGNED = ((1, "uint16"), (1, "uint32"), (1, "uint64"))
"""(weight, dtype): those with few operations."""
INTEGERS = ((3, "int64"), (2, "int8"), (2, "uint8"), (2, "int16"), (2, "int32"))
"""(weight, dtype): whole numbers, with an end on either side."""
_KIN = {
    "float16": "bfloat16", "bfloat16": "float16", "uint8": "int8", "int8": "uint8", "bool": "uint8", "int16": "uint8",
    "float64": "complex64", "int64": "float16",
}  # fmt: skip
"""Dtypes of like size or kind, of which neither is the other's."""
_NUMBERS: tuple[Argument, ...] = (2, -1, True, 0.5, 1.5, 2 + 1j)
_OF_TWO = ("add", "sub", "mul", "div", "maximum", "eq", "lt", "where", "cat", "copy_", "add_")
_WITH_NUMBERS = ("add", "add", "sub", "mul", "div", "pow", "eq", "new_full", "full_like", "mul_", "fill_", "where")
_ELSEWHERE = ("bitwise_not", "nn.functional.dropout", "nn.functional.threshold")
"""Of whole numbers alone, at random, or with numbers of their own."""
_FUNCTIONS = tuple([name for name in group("unary").split() if name not in _ELSEWHERE])
_OVER_ALL = (
    "sum", "nansum", "mean", "nanmean", "prod", "amax", "amin", "max", "min", "median", "nanmedian", "argmax", "argmin",
    "any", "all", "aminmax", "count_nonzero", "std", "nonzero", "tolist",
)  # fmt: skip
_ALONG = (
    "sum", "nansum", "nanmean", "prod", "amax", "max", "min", "median", "nanmedian", "argmax", "logsumexp", "cumsum",
    "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "any", "all", "mode",
)  # fmt: skip
_BESIDE = (
    "copysign", "xlogy", "maximum", "minimum", "fmax", "fmin", "add", "sub", "mul", "div", "eq", "lt", "isclose",
    "allclose", "equal", "atan2", "hypot", "fmod", "remainder", "nextafter", "heaviside", "logaddexp", "pow",
    "clamp_min", "clamp_max", "logical_and", "floor_divide",
)  # fmt: skip
_MOSTLY = 60
"""Percent of operands that have numbers that are seldom, where these are what it is about."""
_FIRST_OF = ("cummax", "cummin", "max", "min", "argmax", "argmin", "mode", "median")
_CONVERSIONS = ("bool", "bool", "byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double")
_OF_UNSIGNED = ("eq", "ne", "lt", "le", "gt", "ge")


def _shapes(stage: Stage) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast; at times one has no dimensions."""
    source = stage.source
    shape = tuple([min(size, 4) for size in draw_shape(source, 1, 3)])
    if source.chance(35):
        return (shape, ()) if source.chance(70) else ((), shape)
    return shape, shape if source.chance(60) else tuple([1 if source.chance(40) else size for size in shape])


def _two(stage: Stage) -> Step:
    source = stage.source
    shape, other = _shapes(stage)
    name = source.choice(_OF_TWO)
    kin = _KIN.get(stage.dtype) if source.chance(40) else None
    x = stage.tensor(shape)
    if name == "cat":
        # A vector of nothing joins whatever the other is, and has a say in the dtype.
        other = (0,) if source.chance(20) else shape
    y = stage.tensor(other, dtype=kin or weighted(source, KINDS), seldom=20)
    if name == "cat":
        return step(name, (x, y) if source.chance(50) else (y, x))
    return step(name, stage.tensor(shape, dtype="bool"), x, y) if name == "where" else step(name, x, y)


def _number(stage: Stage) -> Step:
    source = stage.source
    x = stage.tensor(tuple([min(size, 4) for size in draw_shape(source, 0, 3)]))
    if source.chance(10):
        return step(source.choice(("mean", "nanmean", "std", "var")), x)
    name = source.choice(_WITH_NUMBERS)
    number = source.choice(_NUMBERS)
    if name == "where":
        return step(name, stage.tensor((), dtype="bool"), x, number)
    return step(name, x, *([(2,)] if name == "new_full" else []), number)


def _converted(stage: Stage) -> Step:
    source = stage.source
    into = weighted(source, (*KINDS, *UNSIGNED, (4, "float8_e4m3fn"), (4, "float8_e5m2")))
    # What is too large for few bits shows how a conversion rounds.
    x = stage.tensor(draw_shape(source, 0, 3), seldom=_MOSTLY if into.startswith("float8") else 30)
    if source.chance(25):
        return step(source.choice(_CONVERSIONS), x)
    return step("to", x, dtype=DType(into))


def _compared(stage: Stage) -> Step:
    shape, other = _shapes(stage)
    if stage.source.chance(10):
        return step("item", stage.tensor((1,) * stage.source.integer(0, 2)))
    return step(stage.source.choice(_OF_UNSIGNED), stage.tensor(shape), stage.tensor(other))


def _one(stage: Stage) -> Step:
    """What functions, sums and orders make of numbers that are seldom."""
    source = stage.source
    shape = tuple([min(size, 5) for size in draw_shape(source, 0, 3)])
    which = source.integer(0, 9)
    is_complex = which > 7 and source.chance(30)
    x = stage.tensor(shape, dtype="complex64" if is_complex else None, seldom=_MOSTLY)
    if which < 4:
        if source.chance(20):
            given = (1.0, source.choice((2.0, None)), source.choice((-2.0, None))) if source.chance(60) else ()
            return step("nan_to_num", x, *given)
        return step(source.choice(_FUNCTIONS), x)
    if which < 8:
        args = (source.integer(-len(shape), len(shape) - 1),) if shape and source.chance(70) else ()
        return step(source.choice(_ALONG if args else _OVER_ALL), x, *args)
    return step("to", x, dtype=DType(source.choice(("bool", "int64", "uint8", "int16", "bfloat16", "complex64"))))


def _same(stage: Stage) -> Step:
    """Two tensors that hold the same numbers, each in a layout of its own."""
    shape = tuple([min(size, 3) for size in draw_shape(stage.source, 1, 3)])
    return step(stage.source.choice(("equal", "equal", "eq")), stage.counting(shape), stage.counting(shape))


def _at_the_ends(stage: Stage) -> Step:
    """Integers beyond which there are no more."""
    source = stage.source
    shape = tuple([min(size, 4) for size in draw_shape(source, 1, 3)])
    x = stage.extreme(shape, stage.dtype)
    which = source.integer(0, 9)
    if which < 4:
        return step(source.choice(("abs", "neg", "sign", "square", "abs_", "neg_", "clone")), x)
    if which < 6:
        name = source.choice(("sum", "amax", "amin", "cumsum", "cummax", "max", "min", "argmax", "prod"))
        return step(name, x, source.integer(-len(shape), len(shape) - 1))
    if which < 7:
        return step("to", x, dtype=DType(weighted(source, (*KINDS, *UNSIGNED))))
    return step(source.choice(("add", "sub", "mul", "maximum", "eq", "lt")), x, stage.extreme(shape, stage.dtype))


def _tied(stage: Stage) -> Step:
    """The first of equal numbers, or the last: few numbers, many places."""
    source = stage.source
    shape = tuple([min(size, 5) for size in draw_shape(source, 1, 3)])
    x = stage.indices(shape, 2 + (stage.dtype != "bool"), dtype=stage.dtype, sure=True)
    return step(source.choice(_FIRST_OF), x, source.integer(-len(shape), len(shape) - 1))


def _of_many(stage: Stage) -> Step:
    """More dimensions than loops are written for."""
    shape = tuple([stage.source.integer(1, 2) for _ in range(7)])
    x = stage.tensor(shape, kind="permuted")
    name = stage.source.choice(("add", "mul", "neg", "clone", "contiguous"))
    return step(name, x, stage.tensor(shape, kind="permuted")) if name in ("add", "mul") else step(name, x)


def _beside(stage: Stage) -> Step:
    """The same of two tensors, either of which may have them."""
    shape, other = _shapes(stage)
    operands = stage.tensor(shape, seldom=_MOSTLY), stage.tensor(other, seldom=_MOSTLY)
    return step(stage.source.choice(_BESIDE), *operands)


_NARROW = (
    (3, "uint8"), (2, "int8"), (1, "bool"), (2, "int16"), (2, "float16"), (1, "bfloat16"), (3, "float32"), (2, "int32"),
)  # fmt: skip
_WIDER = {
    1: ("int16", "float16", "int32", "float32", "int64", "complex64", "complex128"),
    2: ("int32", "float32", "float64", "complex64"), 4: ("int64", "float64", "complex64", "complex128"),
}  # fmt: skip


def _seen_wider(stage: Stage) -> Step:
    """Elements seen several at a time as wider ones: what that needs is all there, or all but one thing, and nearly."""
    source = stage.source
    dtype = source.choice(_WIDER[ITEMSIZES[stage.dtype]])
    count = ITEMSIZES[dtype] // ITEMSIZES[stage.dtype]
    shape = [*[source.integer(1, 3) for _ in range(source.integer(0, 3))], count * source.integer(1, 2)]
    strides, running = [1] * len(shape), shape[-1] + count * source.integer(0, 1)
    outer = list(range(len(shape) - 1))
    while outer:
        place = outer.pop(source.integer(0, len(outer) - 1))
        strides[place] = running if shape[place] > 1 or source.chance(60) else count * source.integer(0, 3)
        running *= shape[place] * (2 if source.chance(20) else 1)
    offset = count * source.integer(0, 3) if source.chance(60) else 0
    if source.chance(50):
        part = source.choice((1, count // 2))
        what = source.integer(0, 3)
        if what == 0:
            offset += part
        elif what == 1 and len(shape) > 1:
            strides[source.integer(0, len(shape) - 2)] += part
        elif what == 2:
            shape[-1] += part
        else:
            shape[-1], strides[-1] = source.choice((shape[-1], 1, 0)), 2
    _, reach = extent(tuple(shape), tuple(strides), offset)
    x = stage.laid(Drawn(tuple(shape), tuple(strides), offset, max(reach, offset)), stage.dtype)
    return step("view", x, DType(dtype))


PAIRS: tuple[tuple[int, Scene], ...] = (
    (8, on(KINDS, _two)), (6, on((*KINDS, (6, "bool")), _number)),
    (5, on((*KINDS, *UNSIGNED, (3, "float8_e5m2"), (2, "float8_e4m3fn")), _converted)),
    (2, on(((2, "int64"), (1, "int16"), (1, "uint8")), _same)), (1, on(REAL, _of_many)),
    (2, on(INTEGERS, _at_the_ends)), (8, on(_NARROW, _seen_wider)),
    (2, on((*INTEGERS[:3], (1, "bool")), _tied)),
    (2, on(UNSIGNED, _compared)), (10, on(REAL, _one)), (6, on(REAL, _beside)),
)  # fmt: skip
"""(weight, how an operation and its operands are drawn)."""
