"""Errors: what must be refused, with which kind of error, and that a refusal leaves everything as it was."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_expanded
from ..operations import group
from ._define import CONVERTING, ELEMENTWISE, RAISING, WRITING, Family

family = Family("errors")
rule = family.rule


@rule(
    "errors.leave-no-trace",
    "A step that raises changes no tensor and no byte.",
    "6.1",
    "*",
    "shape strides layout contiguity storage values flags",
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.refused", "What PyTorch refuses is refused, with an error of the same kind.", "0", "*", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


@rule("errors.accepted", "What PyTorch accepts is accepted.", "0", "*", "raises")
def _(e: Event) -> bool:
    return e.raised is None


@rule(
    "errors.answer",
    "A question is answered with the same number, truth or list, and asking changes nothing.",
    "1",
    "tolist item is_contiguous is_set_to",
    "values shape sharing strides layout contiguity storage flags",
)
def _(e: Event) -> bool:
    return e.raised is None


@rule("errors.dimension", "A dimension that is not there, or named twice, is refused.", "3.6", "*", RAISING)
def _(e: Event) -> bool:
    return e.kind == "dimension"


@rule(
    "errors.broadcast",
    "Operands whose sizes differ and are not 1 are refused.",
    "3.5",
    f"{ELEMENTWISE} {WRITING}",
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "broadcast"


@rule(
    "errors.write-expanded",
    "Writing to an expanded tensor element by element is refused.",
    "5.1.1",
    WRITING,
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "overlap" and is_expanded(e.x)


@rule(
    "errors.partial-overlap",
    "Writing to a tensor that partly overlaps an operand is refused where both are dense.",
    "5.2.1",
    WRITING,
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "overlap" and not is_expanded(e.x)


@rule(
    "errors.cast",
    "A result that does not fit the written tensor's dtype is refused.",
    "4.3.8",
    group("in-place"),
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "dtype"


@rule(
    "errors.format-rank",
    "channels_last needs 4 dimensions, channels_last_3d needs 5.",
    "1.20",
    f"contiguous clone {CONVERTING} {group('like factories')}",
    RAISING,
)
def _(e: Event) -> bool:
    return e.raised is not None


RULES = family.rules
