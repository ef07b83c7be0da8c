"""Metadata: what a tensor says of itself."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_expanded, numel
from ._define import Family

family = Family("metadata")
rule = family.rule

ASKING = "is_leaf requires_grad ndim shape stride size is_same_size allclose numel dim nbytes itemsize element_size storage_offset"
ALL_BUT_RAISING = "values shape sharing strides layout contiguity storage flags"


@rule("metadata.questions", "What a tensor says of itself follows from its layout, and asking changes nothing.", "1.1",
      ASKING, ALL_BUT_RAISING)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None


@rule("metadata.strides", "Strides are counted in elements.", "1.2", "stride", "values")
def _(e: Event) -> bool:
    return e.raised is None and len(e.x.shape) > 0


@rule(
    "metadata.sizes", "An expanded tensor has the sizes that it was expanded to.", "1.6", "size stride ndim", "values"
)
def _(e: Event) -> bool:
    return e.raised is None and is_expanded(e.x)


@rule("metadata.empty", "A tensor without elements has sizes and strides all the same.", "1.10", "size stride ndim",
      "values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and numel(e.x) == 0


@rule("metadata.scalar", "A 0-dim tensor has no sizes and no strides.", "1.9", "size stride ndim", "values")
def _(e: Event) -> bool:
    return e.raised is None and e.x.shape == ()


@rule(
    "metadata.same-size", "Two tensors are of the same size whatever their strides.", "1.16", "is_same_size", "values"
)
def _(e: Event) -> bool:
    return e.raised is None and any(o.shape == e.x.shape and o.strides != e.x.strides for o in e.others)


RULES = family.rules
