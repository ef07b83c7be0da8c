"""Splits: one tensor as several views."""

from __future__ import annotations

from ..classify import Event
from ..layout import numel
from ._define import GEOMETRY, SPLITTING, Family

family = Family("splits")
rule = family.rule

SPLITS = SPLITTING


@rule(
    "split.views",
    "Splits are views: each piece keeps the strides and starts where it lies.",
    "3.9",
    SPLITS,
    f"{GEOMETRY} sharing storage flags values contiguity",
)
def _(e: Event) -> bool:
    return e.raised is None


@rule(
    "split.count", "A split gives as many pieces as the sizes, or the number asked for, make.", "3.9", SPLITS, "shape"
)
def _(e: Event) -> bool:
    return e.raised is None


@rule("split.empty", "Splitting a dimension of size 0 gives empty pieces.", "3.9", SPLITS, "shape layout")
def _(e: Event) -> bool:
    return e.raised is None and numel(e.x) == 0


RULES = family.rules
