"""`out=`: results written into a tensor that is given, which keeps its layout or is resized."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_dense, is_expanded, numel
from ..operations import OPERATIONS
from ._define import ELEMENTWISE, GEOMETRY, RAISING, Family, filled

family = Family("out-argument")
rule = family.rule

TAKING = " ".join(name for name, operation in OPERATIONS.items() if operation.out)


def _fits(e: Event) -> bool:
    return filled(e) and e.outs[0].shape == e.y.shape


def _resized(e: Event) -> bool:
    return filled(e) and e.outs[0].shape != e.y.shape


@rule("out.result", "An operation given out= answers with that tensor itself.", "4.3.6", TAKING, "sharing raises shape")
def _(e: Event) -> bool:
    return filled(e)


@rule("out.values", "What out= is given holds the result, element for element.", "4.3.6", TAKING, "values storage")
def _(e: Event) -> bool:
    return filled(e)


@rule(
    "out.keeps-layout",
    "An output of the right shape keeps its strides and its offset, whatever the operands' layouts.",
    "4.3.6",
    TAKING,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return _fits(e)


@rule(
    "out.gaps",
    "A result is written between the gaps of an output, which stay as they were.",
    "1.3",
    TAKING,
    "storage values",
)
def _(e: Event) -> bool:
    return _fits(e) and not is_dense(e.outs[0])


@rule("out.offset", "A result is written from the output's offset on.", "1.3", TAKING, "storage values")
def _(e: Event) -> bool:
    return filled(e) and bool(e.outs[0].offset) and numel(e.y) > 0


@rule(
    "out.resized",
    "An output of another shape takes the result's, at its own offset, its storage grown where it is too small.",
    "4.3.6",
    TAKING,
    f"{GEOMETRY} storage contiguity",
)
def _(e: Event) -> bool:
    return _resized(e)


@rule(
    "out.resized-order",
    "An output that an elementwise operation resizes is laid out as a fresh result would be.",
    "4.3.6",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    return _resized(e) and numel(e.y) > 1


@rule(
    "out.from-empty", "An output without elements grows to whatever is asked of it.", "4.3.6", TAKING, "shape storage"
)
def _(e: Event) -> bool:
    return _resized(e) and numel(e.outs[0]) == 0


@rule("out.version", "Writing to an output raises its version.", "5.3.2", TAKING, "flags")
def _(e: Event) -> bool:
    return filled(e)


@rule(
    "out.converts",
    "A result is converted to the output's dtype where that loses no more than precision.",
    "4.3.8",
    TAKING,
    "values shape raises",
)
def _(e: Event) -> bool:
    return filled(e) and e.outs[0].dtype != e.x.dtype


@rule(
    "out.operand",
    "An operand may be the output, where it is read and written element for element.",
    "5.2.1",
    TAKING,
    "raises sharing values",
)
def _(e: Event) -> bool:
    return filled(e) and e.same


@rule("out.pair", "Two outputs take a result each.", "4.3.6", "max", "sharing shape values")
def _(e: Event) -> bool:
    return filled(e) and len(e.outs) == 2


@rule("out.joined", "cat and stack write the parts one behind the other into the output.", "4.5", "cat stack", "values")
def _(e: Event) -> bool:
    return filled(e)


@rule("out.product", "A matrix product is written into an output of any strides.", "4.4", "mm bmm matmul addmm")
def _(e: Event) -> bool:
    return _fits(e)


@rule("errors.out-expanded", "An output whose elements repeat is refused.", "5.1.1", TAKING, RAISING)
def _(e: Event) -> bool:
    return e.kind == "overlap" and any(is_expanded(out) for out in e.outs)


@rule("errors.out-overlap", "An output that partly overlaps an operand is refused.", "5.2.1", TAKING, RAISING)
def _(e: Event) -> bool:
    return e.kind == "overlap" and bool(e.outs) and not any(is_expanded(out) for out in e.outs)


@rule("errors.out-dtype", "A result that the output's dtype cannot hold is refused.", "4.3.8", TAKING, RAISING)
def _(e: Event) -> bool:
    return e.kind == "dtype" and bool(e.outs)


@rule("errors.out-grad", "out= is refused where gradients are recorded.", "5.4", TAKING, RAISING)
def _(e: Event) -> bool:
    return e.kind == "grad" and bool(e.outs)


@rule("errors.out-not-resizable", "An output over memory that cannot grow is refused.", "6.1.5", TAKING, RAISING)
def _(e: Event) -> bool:
    return e.kind == "resize" and bool(e.outs)


RULES = family.rules
