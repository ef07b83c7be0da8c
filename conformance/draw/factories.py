"""Draws new tensors: like another, on another's behalf, or out of nothing but sizes."""

from __future__ import annotations

from collections.abc import Mapping

from ..observation import TensorState
from ..program import Argument, DType, Step
from .layouts import draw_layout, draw_shape
from .pointwise import NUMBERS as NUMBER_NAMES
from .source import Source
from .stage import Scene, Stage, on, step
from .steps import ODD, Arguments, Drawer, Values, format_argument, number

_DTYPES = ("float32", "float64", "int64", "uint8", "bool", "complex64", "bfloat16")


def _typed(source: Source) -> dict[str, Argument]:
    return {"dtype": DType(source.choice(_DTYPES))} if source.chance(25) else {}


def _like(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {**_typed(source), **(format_argument(source, x) if source.chance(45) else {})}


def _random_like(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {**({"dtype": DType("float32")} if not x.dtype.startswith(("float", "bfloat")) else {}),
                **(format_argument(source, x) if source.chance(30) else {})}  # fmt: skip


def _filled_like(source: Source, x: TensorState, values: Values) -> Arguments:
    return (number(source, x),), format_argument(source, x) if source.chance(45) else {}


def _size(source: Source, own: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Sizes, at times the operand's `own`: it may lie in any order, what is new does not."""
    if own is not None and source.chance(25):
        return own
    sizes = draw_shape(source, 0, 4)
    return (*sizes, -1) if source.chance(ODD // 2) else sizes


def _new(source: Source, x: TensorState, values: Values) -> Arguments:
    return (_size(source, x.shape),), _typed(source)


def _newly_filled(source: Source, x: TensorState, values: Values) -> Arguments:
    return (_size(source, x.shape), number(source, x)), {}


def _layout(source: Source) -> tuple[tuple[int, ...], tuple[int, ...]]:
    drawn = draw_layout(source)
    strides = (-1, *drawn.strides[1:]) if drawn.strides and source.chance(ODD // 2) else drawn.strides
    return drawn.shape, strides if not source.chance(ODD // 2) else (*strides, 1)


def _newly_laid_out(source: Source, x: TensorState, values: Values) -> Arguments:
    return _layout(source), {}


MAKING: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    (4, ("empty_like", _like)), (3, ("zeros_like", _like)), (3, ("ones_like", _like)), (3, ("full_like", _filled_like)),
    (1, ("rand_like", _random_like)), (1, ("randn_like", _random_like)), (2, ("new_empty", _new)),
    (2, ("new_zeros", _new)), (1, ("new_ones", _new)), (2, ("new_full", _newly_filled)),
    (2, ("new_empty_strided", _newly_laid_out)),
)  # fmt: skip
"""(weight, (operation, how its arguments are drawn))."""

DEFINED: Mapping[str, tuple[str, ...]] = {name: (*NUMBER_NAMES, "bool") for _, (name, _) in MAKING}
"""Dtypes that each is drawn for."""


def _sized(name: str) -> Scene:
    def draw(stage: Stage) -> Step:
        source = stage.source
        keywords = {"dtype": DType(source.choice(_DTYPES))}
        if name == "full":
            # Without a dtype the value decides, one of complex numbers fits no other.
            value = source.choice((2, 1, True, 0.5, 2 + 1j))
            typed = source.chance(50) and not isinstance(value, complex)
            return step(name, _size(source), value, **(keywords if typed else {}))
        return step(name, _size(source), **keywords)

    return on(((1, "float32"),), draw)


def _strided(stage: Stage) -> Step:
    return step("empty_strided", *_layout(stage.source), dtype=DType(stage.source.choice(_DTYPES)))


def _permuted(stage: Stage) -> Step:
    source = stage.source
    sizes = draw_shape(source, 0, 4)
    rest = list(range(len(sizes)))
    order = [rest.pop(source.integer(0, len(rest) - 1)) for _ in sizes]
    if order and source.chance(ODD):
        order[0] = order[-1] if source.chance(50) else len(order)
    return step("empty_permuted", sizes, tuple(order), dtype=DType(source.choice(_DTYPES)))


def _ranged(stage: Stage) -> Step:
    if stage.source.chance(50):
        return step("arange", stage.source.choice((2.5, 0.5, 5.25, 1.75, 4.0, 3)))
    return step("arange", stage.source.integer(0, 9), dtype=DType(stage.source.choice(_DTYPES[:4])))


def _identity(stage: Stage) -> Step:
    source = stage.source
    return step("eye", source.integer(0, 4), source.integer(0, 4), dtype=DType(source.choice(_DTYPES[:4])))


FACTORIES: tuple[tuple[int, Scene], ...] = (
    (1, _sized("zeros")), (1, _sized("ones")), (1, _sized("full")), (2, on(((1, "float32"),), _strided)),
    (2, on(((1, "float32"),), _permuted)), (1, on(((1, "float32"),), _ranged)), (1, on(((1, "float32"),), _identity)),
)  # fmt: skip
"""(weight, scenes without operands)."""
