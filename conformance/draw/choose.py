"""Chooses one step for the tensors that are there: which operation, on which of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from ..observation import TensorState
from ..program import Step
from . import factories, pointwise, rearranging, reduce
from .changes import CHANGING
from .compute import COMPUTING, factors, placed
from .factories import MAKING
from .pointwise import POINTWISE
from .rearranging import REARRANGING
from .reduce import REDUCING
from .source import Source, weighted
from .steps import BASIC, FLOATING, ODD, Drawer, Values, no_arguments, ref_of

FAMILIES: tuple[tuple[int, tuple[tuple[int, tuple[str, Drawer]], ...]], ...] = (
    (64, BASIC),
    (12, CHANGING),
    (24, COMPUTING),
    (16, POINTWISE),
    (8, REDUCING),
    (10, REARRANGING),
    (5, MAKING),
)
"""(weight, operations with their own weights)."""


OF_HISTORY: tuple[tuple[int, tuple[tuple[int, tuple[str, Drawer]], ...]], ...] = (
    (
        1,
        tuple(
            (2, (name, no_arguments))
            for name in (
                "is_leaf",
                "is_leaf",
                "requires_grad",
                "requires_grad",
                "requires_grad_",
                "detach",
                "clone",
                "t",
            )
        ),
    ),
)
"""What is asked of tensors that require grad, and done to them, now and then."""


NEEDED: Mapping[str, Callable[[TensorState, Values], bool]] = {
    **pointwise.NEEDED,
    **reduce.NEEDED,
    **rearranging.NEEDED,
    "index_select": lambda x, values: bool(x.shape) and _is_there("int64", values, rank=1),
    "masked_select": lambda x, values: _is_there("bool", values),
    "masked_fill": lambda x, values: _is_there("bool", values),
    "matmul": lambda x, values: bool(factors(x, values)),
    "mean": lambda x, values: x.dtype.startswith(FLOATING),
    "softmax": lambda x, values: x.dtype.startswith(FLOATING),
    "diagonal": lambda x, values: len(x.shape) > 1,
    "item": lambda x, values: prod(x.shape) == 1,
    "mT": lambda x, values: len(x.shape) > 1,
    "t": lambda x, values: len(x.shape) < 3,
    "t_": lambda x, values: len(x.shape) < 3,
    **dict.fromkeys(
        ("select", "narrow", "unflatten", "cat", "split", "chunk", "tensor_split", "unbind"),
        lambda x, values: bool(x.shape),
    ),
}
"""What some operations need to succeed: without it they are rarely drawn, for what is refused shows one thing only."""


def _is_there(dtype: str, values: Values, rank: int = 64) -> bool:
    return any(v.dtype == dtype and len(v.shape) <= rank for v in values.values())


DEFINED: Mapping[str, tuple[str, ...]] = {
    **pointwise.DEFINED,
    **reduce.DEFINED,
    **rearranging.DEFINED,
    **factories.DEFINED,
}
"""Dtypes that an operation is drawn for, where these are not all."""
_NUMBERS = frozenset({*pointwise.NUMBERS, "bool"})


def _suits(source: Source, name: str, x: TensorState, values: Values) -> bool:
    """Whether an operation is one to draw here."""
    if x.dtype not in DEFINED.get(name, (x.dtype,)):
        return x.dtype in pointwise.REFUSED.get(name, ()) and source.chance(50)
    needed = NEEDED.get(name)
    return needed is None or needed(x, values) or source.chance(ODD)


def draw_step(source: Source, values: Values) -> Step:
    """One step over the live values; the last made are the likelier first operand."""
    keys = list(values)
    key = keys[-1] if source.chance(55) else source.choice(keys)
    families = OF_HISTORY if "g" in (values[key].flags or "") and source.chance(16) else FAMILIES
    name, drawer = weighted(source, weighted(source, families))
    while not _suits(source, name, values[key], values):
        name, drawer = weighted(source, weighted(source, FAMILIES))
    fitting = {k: v for k, v in values.items() if v.dtype in _NUMBERS} if name in DEFINED else values
    args, keywords = drawer(source, values[key], fitting)
    return Step(name, placed(args, ref_of(key)), tuple(sorted(keywords.items())))
