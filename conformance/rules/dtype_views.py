"""Dtype views: the same bytes as elements of another dtype."""

from __future__ import annotations

from ..classify import Event
from ._define import GEOMETRY, RAISING, Family, succeeded

family = Family("dtype-views")
rule = family.rule


@rule(
    "dtype-view.same-size",
    "Viewing as a dtype of the same size keeps shape, strides and offset.",
    "3.2",
    "view.dtype",
    f"{GEOMETRY} flags",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.x.shape == e.y.shape and e.x.strides == e.y.strides


@rule(
    "dtype-view.resized",
    "Viewing as a smaller or larger dtype scales the last size, the other strides and the offset.",
    "3.2",
    "view.dtype",
    f"{GEOMETRY} flags",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.x.shape != e.y.shape


@rule(
    "errors.dtype-view",
    "Viewing as a larger dtype needs last stride 1 and everything divisible.",
    "3.2",
    "view.dtype",
    RAISING,
)
def _(e: Event) -> bool:
    return e.raised is not None


RULES = family.rules
