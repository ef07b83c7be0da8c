"""View legality: when a view is possible, and when it is refused."""

from __future__ import annotations

from ..classify import Event
from ..layout import numel
from ._define import GEOMETRY, RAISING, RESHAPING, Family, reshaped, succeeded

family = Family("view-legality")
rule = family.rule


# What is a view whatever the strides.


@rule(
    "view.drops-size-one",
    "Dimensions of size 1 never stand in the way of merging, whatever their strides.",
    "3.1.4",
    RESHAPING,
)
def _(e: Event) -> bool:
    return reshaped(e) and e.x.shape.count(1) > e.y.shape.count(1)


@rule(
    "view.infer-size",
    "One size may be -1: it is found from the number of elements.",
    "3.1.1",
    "view reshape unflatten",
    "shape",
)
def _(e: Event) -> bool:
    sizes = e.argument("size") or e.argument("shape") or e.argument("sizes")
    return succeeded(e) and isinstance(sizes, tuple) and -1 in sizes


@rule(
    "view.non-contiguous",
    "A view needs no contiguous input, only strides that allow it.",
    "3.1.4",
    "view view_as",
)
def _(e: Event) -> bool:
    return reshaped(e) and e.x.contiguity[0] == "F"


@rule("expand.to-empty", "A dimension of size 1 may be expanded to 0.", "3.5", "expand expand_as broadcast_to")
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) == 0 < numel(e.x)


@rule(
    "squeeze.longer",
    "Squeezing a dimension longer than 1 answers with an unchanged view, not an error.",
    "3.4",
    "squeeze",
    f"{GEOMETRY} raises sharing",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("dim") is not None and e.y.shape == e.x.shape != ()


@rule(
    "as_strided.empty",
    "The bounds check is skipped where any size is 0.",
    "1.18",
    "as_strided",
    "raises layout shape",
)
def _(e: Event) -> bool:
    return succeeded(e) and numel(e.y) == 0


# What is refused.


@rule("errors.view-strides", "A view that the strides do not allow is refused.", "3.1.2", "view view_as", RAISING)
def _(e: Event) -> bool:
    return e.kind == "view"


@rule(
    "errors.element-count",
    "Sizes that do not multiply up to the number of elements are refused.",
    "3.1.2",
    "view view_as reshape reshape_as unflatten",
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "size"


@rule("errors.two-inferred", "Only one size may be -1.", "3.1.2", "view reshape unflatten", RAISING)
def _(e: Event) -> bool:
    sizes = e.argument("size") or e.argument("shape") or e.argument("sizes")
    return e.raised is not None and isinstance(sizes, tuple) and sizes.count(-1) > 1


@rule(
    "errors.ambiguous-size",
    "-1 is refused where the other sizes multiply to 0.",
    "3.1.2",
    "view reshape",
    RAISING,
)
def _(e: Event) -> bool:
    sizes = e.argument("size") or e.argument("shape")
    return e.raised is not None and isinstance(sizes, tuple) and -1 in sizes and 0 in sizes


@rule(
    "errors.expand",
    "Only dimensions of size 1 expand, and never to fewer dimensions.",
    "3.5",
    "expand expand_as broadcast_to",
    RAISING,
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.rank", "t() needs at most two dimensions, mT at least two.", "3.6", "t mT", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.unfold", "A window must fit its dimension, and its step be positive.", "3.8", "unfold", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.bounds", "A layout that reaches past its storage is refused.", "1.18", "as_strided", RAISING)
def _(e: Event) -> bool:
    return e.kind == "bounds"


@rule("errors.negative-layout", "Negative strides, offsets and sizes are refused.", "3.10", "as_strided", RAISING)
def _(e: Event) -> bool:
    given = [n for a in e.step.args[1:] for n in (a if isinstance(a, tuple) else (a,)) if isinstance(n, int)]
    return e.raised is not None and min(given, default=0) < 0


RULES = family.rules
