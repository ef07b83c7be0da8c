"""Chooses one step for values of every kind: storages, exchange, copies, bits, codes, beside the tensors' own steps."""

from __future__ import annotations

from typing import TypeAlias

from ..operations import OPERATIONS
from ..program import Step
from .bits import TURNING
from .choose import draw_step
from .exchange import EXCHANGING
from .inventory import Family, Inventory
from .objects import COPYING
from .quantised import CODING
from .source import Source, weighted
from .storages import MAKING, TYPED, UNTYPED

Theme: TypeAlias = tuple[tuple[int, Family], ...]
STORING: Theme = ((20, MAKING), (44, UNTYPED), (36, TYPED))
THEMES: tuple[tuple[int, Theme], ...] = (
    (40, STORING), (24, ((1, EXCHANGING),)), (12, ((1, COPYING),)), (14, ((1, TURNING),)), (24, ((1, CODING),)),
)  # fmt: skip
"""(weight, families of operations with weights of their own)."""
COMMON_DTYPES: dict[Family, str] = {TURNING: "complex64", CODING: "float32"}
"""What most of a theme's operations are for."""
THEMED, PLAIN = 55, 25
"""Percent of a program's steps that keep to its theme, and that are for tensors alone; the rest are of any kind."""
ANOTHER = 40
"""Percent of steps on the only storage that make another one instead: copies and comparisons take two."""
MAX_TRIES = 40
"""Operations that are tried until one has something to work on."""


def draw_theme(source: Source) -> Theme:
    """What a program is mostly about: operations that work on each other's results come together more often so."""
    return weighted(source, THEMES)


def dtype_for(source: Source, theme: Theme) -> str | None:
    """The dtype that a program of a theme begins with, where the theme is about one."""
    for _, family in theme:
        if family in COMMON_DTYPES and source.chance(60):
            return COMMON_DTYPES[family]
    return None


def draw_mixed_step(source: Source, there: Inventory, theme: Theme) -> Step | None:
    """One step over values of any kind; None where nothing can be done with them."""
    for _ in range(MAX_TRIES):
        where = source.integer(0, 99)
        if THEMED <= where < THEMED + PLAIN and there.tensors:
            return draw_step(source, there.tensors)
        family = weighted(source, theme if where < THEMED else weighted(source, THEMES))
        count = len(there.storages)
        if family in (UNTYPED, TYPED) and (not count or (count == 1 and source.chance(ANOTHER))):
            family = MAKING
        name, drawer = weighted(source, family)
        drawn = drawer(source, there)
        if drawn is not None:
            args, keywords = drawn
            return Step(name, args, tuple(sorted(keywords.items())))
    return None


OPERATIONS_DRAWN = frozenset(name for _, theme in THEMES for _, family in theme for _, (name, _) in family)
"""Names of all operations that are drawn besides the tensors' own."""
assert set(OPERATIONS) >= OPERATIONS_DRAWN
