"""Draws steps that compute: reductions, scans, sorts, joins, gathers and products, over whatever the strides are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..observation import TensorState
from ..program import Argument, Ref, refs_in
from .source import Source
from .steps import ODD, Arguments, Drawer, Values, broadcasts, draw_dim, one_dim, ref_of, target_dtype

SELF = Ref(-1)
"""Stands for the first operand where it is not the first argument."""


def placed(args: tuple[Argument, ...], operand: Ref) -> tuple[Argument, ...]:
    """The arguments with the operand where `SELF` stands, perhaps inside a list; first where it stands nowhere.

    >>> placed(((SELF, 3), 4), Ref(1)), placed((3, 4), Ref(1))
    (((Ref(slot=1, item=None), 3), 4), (Ref(slot=1, item=None), 3, 4))
    """
    return substituted(args, SELF, operand) if SELF in refs_in(args) else (operand, *args)


def substituted(argument: Any, old: Ref, new: Ref) -> Any:
    """An argument, or a tuple of them, with one value in the place of another."""
    if argument == old:
        return new
    return tuple([substituted(item, old, new) for item in argument]) if type(argument) is tuple else argument


def either_end(source: Source, dims: Sequence[int], rank: int) -> tuple[int, ...]:
    """The dimensions, some of them counted from the end."""
    return tuple([d - rank if source.chance(20) else d for d in dims])


def _dims(source: Source, x: TensorState) -> Argument:
    """One dimension, several, or none of them named."""
    rank = len(x.shape)
    if rank > 1 and source.chance(35):
        return either_end(source, sorted({source.integer(0, rank - 1), source.integer(0, rank - 1)}), rank)
    return draw_dim(source, rank)


def _reduced(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(25):
        return (), {}
    keywords: dict[str, Argument] = {"keepdim": True} if source.chance(40) else {}
    return (_dims(source, x),), keywords


def _reduced_along(source: Source, x: TensorState, values: Values) -> Arguments:
    keywords: dict[str, Argument] = {"keepdim": True} if source.chance(40) else {}
    return (draw_dim(source, len(x.shape)),), keywords


def _sorted(source: Source, x: TensorState, values: Values) -> Arguments:
    keywords: dict[str, Argument] = {"descending": True} if source.chance(25) else {}
    return (), {**keywords, "dim": draw_dim(source, len(x.shape)), "stable": True}


def _largest(source: Source, x: TensorState, values: Values) -> Arguments:
    dim = draw_dim(source, len(x.shape))
    size = x.shape[dim] if -len(x.shape) <= dim < len(x.shape) else 1
    return (source.integer(0, size + source.chance(6)), dim), {}


def _flipped(source: Source, x: TensorState, values: Values) -> Arguments:
    rank = len(x.shape)
    return (tuple(sorted({draw_dim(source, rank) for _ in range(source.integer(1, 2))})) if rank else (),), {}


def _rolled(source: Source, x: TensorState, values: Values) -> Arguments:
    shift, rank = source.integer(-3, 3) if source.chance(85) else source.integer(-9, 9), len(x.shape)
    if rank > 1 and source.chance(25):
        # A dimension that is named twice is rolled twice.
        dims = [source.integer(0, rank - 1) for _ in range(3)]
        dims = dims if source.chance(20) else sorted(set(dims))
        return (tuple([source.integer(-3, 3) for _ in dims]), either_end(source, dims, rank)), {}
    return (shift,) if source.chance(30) else (shift, draw_dim(source, rank)), {}


def _like(x: TensorState, values: Values) -> list[Ref]:
    """Values of the same rank and dtype as x, x among them."""
    return [ref_of(k) for k, v in values.items() if len(v.shape) == len(x.shape) and v.dtype == x.dtype]


def _joined(source: Source, x: TensorState, values: Values) -> Arguments:
    alike = [ref for ref in _like(x, values) if values[ref.key].shape == x.shape]
    others = [ref for ref in alike if values[ref.key] is not x]
    alike = others if others and source.chance(80) else alike
    if source.chance(10):
        alike = [ref_of(key) for key in values]
    others = [source.choice(alike) for _ in range(source.integer(0, 2))] if alike else []
    return ((SELF, *others), draw_dim(source, len(x.shape) or 1)), {}


def _indices(values: Values) -> list[Ref]:
    return [ref_of(k) for k, v in values.items() if v.dtype == "int64"]


def _selected(source: Source, x: TensorState, values: Values) -> Arguments:
    indices = [r for r in _indices(values) if len(values[r.key].shape) <= 1] or _indices(values)
    index = source.choice(indices) if indices else ref_of(source.choice(list(values)))
    return (draw_dim(source, len(x.shape)), index), {}


def _masked(source: Source, x: TensorState, values: Values) -> Arguments:
    masks = [ref_of(k) for k, v in values.items() if v.dtype == "bool" and broadcasts(v.shape, x.shape)]
    mask = source.choice(masks) if masks else ref_of(source.choice(list(values)))
    return (mask,), {}


def _mask_filled(source: Source, x: TensorState, values: Values) -> Arguments:
    (mask,), _ = _masked(source, x, values)
    return (mask, source.choice((0, 1, 2))), {}


def factors(x: TensorState, values: Values) -> list[Ref]:
    """Values that x can be multiplied with as a matrix."""
    return [
        ref_of(k)
        for k, v in values.items()
        if v.dtype == x.dtype and v.shape and x.shape and v.shape[max(0, len(v.shape) - 2)] == x.shape[-1]
    ]


def _product(source: Source, x: TensorState, values: Values) -> Arguments:
    fitting = factors(x, values)
    return (source.choice(fitting) if fitting and not source.chance(ODD) else ref_of(source.choice(list(values))),), {}


def _type(source: Source, x: TensorState, values: Values) -> Arguments:
    return (target_dtype(source, x),), {}


COMPUTING: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    (4, ("sum", _reduced)), (2, ("mean", _reduced)), (2, ("amax", _reduced)), (2, ("amin", _reduced)),
    (1, ("prod", _reduced_along)), (2, ("argmax", _reduced_along)), (2, ("max", _reduced_along)),
    (1, ("all", _reduced_along)), (3, ("cumsum", one_dim)), (1, ("cumprod", one_dim)), (2, ("softmax", one_dim)),
    (3, ("sort", _sorted)), (2, ("argsort", _sorted)), (2, ("topk", _largest)), (3, ("flip", _flipped)),
    (3, ("roll", _rolled)), (4, ("cat", _joined)), (3, ("stack", _joined)), (3, ("index_select", _selected)),
    (2, ("masked_fill", _mask_filled)), (2, ("masked_select", _masked)), (4, ("matmul", _product)),
    (1, ("type", _type)),
)  # fmt: skip
"""(weight, (operation, how its arguments are drawn))."""
