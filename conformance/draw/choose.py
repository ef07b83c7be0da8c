"""Chooses one step for the tensors that are there: which operation, on which of them."""

from __future__ import annotations

from dataclasses import replace

from ..program import Argument, Ref, Step
from .changes import CHANGING
from .compute import COMPUTING, SELF
from .source import Source, weighted
from .steps import BASIC, Drawer, Values, ref_of

FAMILIES: tuple[tuple[int, tuple[tuple[int, tuple[str, Drawer]], ...]], ...] = (
    (64, BASIC),
    (12, CHANGING),
    (24, COMPUTING),
)
"""(weight, operations with their own weights)."""


SEVERAL_OUTPUTS = ("split", "chunk", "unbind")
"""Not drawn where gradients are recorded: the oracle has no history in which a later write to the base would show."""


def draw_step(source: Source, values: Values) -> Step:
    """One step over the live values; the last made are the likelier first operand."""
    keys = list(values)
    key = keys[-1] if source.chance(55) else source.choice(keys)
    family = weighted(source, FAMILIES)
    name, drawer = weighted(source, family)
    while name in SEVERAL_OUTPUTS and "g" in (values[key].flags or ""):
        name, drawer = weighted(source, family)
    args, keywords = drawer(source, values[key], values)
    step = Step(name, args, tuple(sorted(keywords.items())))
    if any(ref == SELF for ref in step.refs()):
        return replace(step, args=_placed(args, ref_of(key)))
    return replace(step, args=(ref_of(key), *args))


def _placed(argument: Argument, operand: Ref) -> Argument:
    """The arguments with the operand where `SELF` stands: some functions take it inside a list."""
    if argument == SELF:
        return operand
    if type(argument) is tuple:
        return tuple(_placed(item, operand) for item in argument)
    return argument
