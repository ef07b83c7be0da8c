"""Draws reductions, over one dimension, several or all, reductions that answer pairs, scans and sorts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..observation import TensorState
from ..program import Argument
from .compute import either_end
from .pointwise import COMPLEX, INTEGERS, NUMBERS, REAL
from .source import Source
from .steps import ODD, Arguments, Drawer, Values, draw_dim, one_dim


def _dims(source: Source, x: TensorState) -> Argument:
    """One dimension, several of them, or one that is not there, or is named twice."""
    rank = len(x.shape)
    if rank > 3 and source.chance(20):
        return either_end(source, (rank - 2, rank - 1), rank)
    if rank > 1 and source.chance(45):
        dims = [source.integer(0, rank - 1) for _ in range(3)]
        return either_end(source, dims[1:] if source.chance(ODD) else sorted(set(dims)), rank)
    return draw_dim(source, rank)


def _keepdim(source: Source) -> dict[str, Argument]:
    return {"keepdim": True} if source.chance(40) else {}


def _over_some(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(20):
        return (), {}
    return (_dims(source, x),), _keepdim(source)


def _over_dims(source: Source, x: TensorState, values: Values) -> Arguments:
    return (_dims(source, x),), _keepdim(source)


def _over_one_or_all(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(20):
        return (), {}
    return (draw_dim(source, len(x.shape)),), _keepdim(source)


def _over_one(source: Source, x: TensorState, values: Values) -> Arguments:
    return (draw_dim(source, len(x.shape)),), _keepdim(source)


def _spread(source: Source, x: TensorState, values: Values) -> Arguments:
    keywords = _keepdim(source) if source.chance(80) else {}
    if source.chance(50):
        keywords["correction"] = source.integer(0, 1)
    return (_dims(source, x) if source.chance(80) else None,), keywords


def _counted(source: Source, x: TensorState, values: Values) -> Arguments:
    return (_dims(source, x),) if source.chance(70) else (), {}


def _named(source: Source, x: TensorState, values: Values) -> Arguments:
    return (), {**_keepdim(source), "dim": draw_dim(source, len(x.shape))} if source.chance(80) else {}


def _norm(source: Source, x: TensorState, values: Values) -> Arguments:
    order = source.choice((2, 1, float("inf"), 0))
    if source.chance(20):
        return (order,), {}
    return (order, _dims(source, x)), _keepdim(source)


def _kth(source: Source, x: TensorState, values: Values) -> Arguments:
    dim = draw_dim(source, len(x.shape))
    size = x.shape[dim] if -len(x.shape) <= dim < len(x.shape) else 1
    return (source.integer(0 if source.chance(6) else 1, max(1, size + source.chance(6))), dim), _keepdim(source)


REDUCING: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    *((2, (name, _over_some)) for name in ("sum", "nansum", "mean", "nanmean", "amax", "amin", "any", "all")),
    *((2, (name, _over_one_or_all)) for name in ("min", "max", "argmin", "argmax", "median", "prod")),
    *((2, (name, _spread)) for name in ("std", "var")), *((1, (name, _spread)) for name in ("std_mean", "var_mean")),
    (2, ("logsumexp", _over_dims)), (2, ("count_nonzero", _counted)), (2, ("aminmax", _named)),
    (2, ("linalg.vector_norm", _norm)), (1, ("norm", _norm)), (1, ("mode", _over_one)), (1, ("kthvalue", _kth)),
    (1, ("nanmedian", _over_one_or_all)), (2, ("cummax", one_dim)), (1, ("cummin", one_dim)),
    (2, ("logcumsumexp", one_dim)), (2, ("log_softmax", one_dim)), (1, ("nn.functional.softmin", one_dim)),
    (2, ("cumsum_", one_dim)), (1, ("cumprod_", one_dim)), (1, ("diff", one_dim)),
)  # fmt: skip
"""(weight, (operation, how its arguments are drawn))."""

_ORDERED = (*REAL, *INTEGERS)
DEFINED: Mapping[str, tuple[str, ...]] = {
    **{name: (*NUMBERS, "bool") for _, (name, _) in REDUCING},
    **dict.fromkeys(("mean", "std", "var", "std_mean", "var_mean", "linalg.vector_norm", "norm"),
                    (*REAL, *COMPLEX)),
    **dict.fromkeys(("cumsum_", "cumprod_"), NUMBERS),
    **dict.fromkeys(("nanmean", "nansum", "log_softmax", "nn.functional.softmin", "logcumsumexp", "logsumexp"), REAL),
    **dict.fromkeys(("min", "max", "argmin", "argmax", "median", "nanmedian", "kthvalue", "mode", "cummax", "cummin",
                     "amax", "amin", "aminmax"), _ORDERED),
}  # fmt: skip
"""Dtypes that each is defined for."""

NEEDED: Mapping[str, Callable[[TensorState, Values], bool]] = {
    **dict.fromkeys(("argmin", "argmax", "min", "max", "median", "nanmedian", "kthvalue", "mode", "aminmax", "amax",
                     "amin"), lambda x, values: 0 not in x.shape),
    "diff": lambda x, values: bool(x.shape),
}  # fmt: skip
"""What some of them need to succeed."""
