"""Errors: what must be refused, with which kind of error, and that a refusal leaves everything as it was."""

from __future__ import annotations

from ..classify import Event
from ._define import Family, is_expanded

family = Family("errors")
rule = family.rule
RAISES = "raises error-kind"


@rule(
    "errors.leave-no-trace",
    "A step that raises changes no tensor and no byte.",
    "6.1",
    "*",
    "shape strides layout contiguity storage values flags",
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.refused", "What PyTorch refuses is refused, with an error of the same kind.", "0", "*", RAISES)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.accepted", "What PyTorch accepts is accepted.", "0", "*", "raises")
def _(e: Event) -> bool:
    return e.raised is None


@rule(
    "errors.answer",
    "A question is answered with the same number, truth or list, and asking changes nothing.",
    "1",
    "tolist is_contiguous is_set_to",
    "values shape sharing strides layout contiguity storage flags",
)
def _(e: Event) -> bool:
    return e.raised is None


@rule("errors.view-strides", "A view that the strides do not allow is refused.", "3.1.2", "view view_as", RAISES)
def _(e: Event) -> bool:
    return e.kind == "view"


@rule(
    "errors.element-count",
    "Sizes that do not multiply up to the number of elements are refused.",
    "3.1.2",
    "view view_as reshape reshape_as unflatten",
    RAISES,
)
def _(e: Event) -> bool:
    return e.kind == "size"


@rule("errors.two-inferred", "Only one size may be -1.", "3.1.2", "view reshape unflatten", RAISES)
def _(e: Event) -> bool:
    sizes = e.argument("size") or e.argument("shape") or e.argument("sizes")
    return e.raised is not None and isinstance(sizes, tuple) and sizes.count(-1) > 1


@rule(
    "errors.ambiguous-size",
    "-1 is refused where the other sizes multiply to 0.",
    "3.1.2",
    "view reshape",
    RAISES,
)
def _(e: Event) -> bool:
    sizes = e.argument("size") or e.argument("shape")
    return e.raised is not None and isinstance(sizes, tuple) and -1 in sizes and 0 in sizes


@rule("errors.dimension", "A dimension that is not there, or named twice, is refused.", "3.6", "*", RAISES)
def _(e: Event) -> bool:
    return e.kind == "dimension"


@rule(
    "errors.index",
    "An index outside its dimension is refused.",
    "3.7",
    "__getitem__ __setitem__ select narrow",
    RAISES,
)
def _(e: Event) -> bool:
    return e.kind == "index"


@rule("errors.bounds", "A layout that reaches past its storage is refused.", "1.18", "as_strided", RAISES)
def _(e: Event) -> bool:
    return e.kind == "bounds"


@rule("errors.negative-layout", "Negative strides, offsets and sizes are refused.", "3.10", "as_strided", RAISES)
def _(e: Event) -> bool:
    given = [n for a in e.step.args[1:] for n in (a if isinstance(a, tuple) else (a,)) if isinstance(n, int)]
    return e.raised is not None and min(given, default=0) < 0


@rule(
    "errors.expand",
    "Only dimensions of size 1 expand, and never to fewer dimensions.",
    "3.5",
    "expand expand_as broadcast_to",
    RAISES,
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule(
    "errors.broadcast",
    "Operands whose sizes differ and are not 1 are refused.",
    "3.5",
    "add sub mul add_ sub_ mul_ copy_ __setitem__",
    RAISES,
)
def _(e: Event) -> bool:
    return e.kind == "broadcast"


@rule(
    "errors.write-expanded",
    "Writing to an expanded tensor element by element is refused.",
    "5.1.1",
    "add_ sub_ mul_ copy_ relu_ __setitem__",
    RAISES,
)
def _(e: Event) -> bool:
    return e.kind == "overlap" and is_expanded(e.x)


@rule(
    "errors.partial-overlap",
    "Writing to a tensor that partly overlaps an operand is refused where both are dense.",
    "5.2.1",
    "add_ sub_ mul_ copy_ __setitem__",
    RAISES,
)
def _(e: Event) -> bool:
    return e.kind == "overlap" and not is_expanded(e.x)


@rule(
    "errors.cast",
    "A result that does not fit the written tensor's dtype is refused.",
    "4.3.8",
    "add_ sub_ mul_",
    RAISES,
)
def _(e: Event) -> bool:
    return e.kind == "dtype"


@rule(
    "errors.dtype-view",
    "Viewing as a larger dtype needs last stride 1 and everything divisible.",
    "3.2",
    "view.dtype",
    RAISES,
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule(
    "errors.format-rank",
    "channels_last needs 4 dimensions, channels_last_3d needs 5.",
    "1.20",
    "contiguous clone to",
    RAISES,
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.slice-step", "A slice's step must be positive.", "3.7", "__getitem__ __setitem__", RAISES)
def _(e: Event) -> bool:
    return e.kind == "step"


@rule("errors.unfold", "A window must fit its dimension, and its step be positive.", "3.8", "unfold", RAISES)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.rank", "t() needs at most two dimensions, mT at least two.", "3.6", "t mT", RAISES)
def _(e: Event) -> bool:
    return e.raised is not None


RULES = family.rules
