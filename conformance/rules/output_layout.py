"""Output layout: which layout an operation that computes gives its result."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_dense, numel
from ..operations import group
from ._define import GEOMETRY, Family, succeeded

family = Family("output-layout")
rule = family.rule

REDUCING = group("reductions", "reductions to pairs")
SCANNING = group("scans", "scans to pairs")
SORTING = group("sorts")
JOINING = group("joins")
GATHERING = group("gathers", "scatters")
PRODUCTS = group("products")
IMAGES = group("convolutions", "pooling", "normalization", "images")
COMPUTING = f"{REDUCING} {SCANNING} {SORTING} {JOINING} {GATHERING} {PRODUCTS} {IMAGES}"


@rule(
    "output.fresh",
    "A computed result lies in fresh memory that holds its elements and no more.",
    "4.4",
    COMPUTING,
    "sharing storage flags",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "output.layout",
    "The layout of a computed result follows from its operands' layouts alone.",
    "4.2",
    COMPUTING,
    GEOMETRY,
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "output.values",
    "A computed element depends on the operands' elements, not on how they lie in memory.",
    "4.4",
    COMPUTING,
    "values",
)
def _(e: Event) -> bool:
    return succeeded(e)


@rule(
    "output.reduction",
    "A reduction's result is row-major, whatever its operand's layout.",
    "4.4",
    REDUCING,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied and e.y.shape != e.x.shape


@rule("output.keepdim", "keepdim keeps reduced dimensions with size 1 and row-major strides.", "4.4", REDUCING)
def _(e: Event) -> bool:
    return succeeded(e) and e.argument("keepdim") is True


@rule("output.full-reduction", "Reducing everything gives a 0-dim tensor.", "4.4", REDUCING, GEOMETRY)
def _(e: Event) -> bool:
    return succeeded(e) and e.y.shape == () != e.x.shape


@rule(
    "output.scan", "Cumulative sums, products and softmax answer row-major.", "4.4", SCANNING, f"{GEOMETRY} contiguity"
)
def _(e: Event) -> bool:
    return e.copied and e.y.contiguity[0] == "T"


@rule(
    "output.sort",
    "Sorting keeps the order of dimensions of its operand, in values and in indices.",
    "4.4",
    "sort argsort",
)
def _(e: Event) -> bool:
    return e.copied


@rule("output.flip", "Flip copies, in the order of its operand's dimensions.", "4.4", "flip")
def _(e: Event) -> bool:
    return e.copied


@rule("output.roll", "Roll copies, in the format that its operand's strides suggest.", "4.4", "roll")
def _(e: Event) -> bool:
    return e.copied


@rule("output.packed", "The result of an operand with gaps or overlap has none.", "4.1.4", f"{SORTING} flip")
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule(
    "output.joined",
    "cat and stack copy, in the format that all operands suggest, else row-major.",
    "4.5",
    "cat concat stack",
)
def _(e: Event) -> bool:
    return e.copied


@rule("output.join-one", "Joining a single tensor copies it.", "4.5", JOINING, "sharing storage values")
def _(e: Event) -> bool:
    return succeeded(e) and len(list(e.step.refs())) == 1


@rule("output.join-empty", "cat leaves out 1-d tensors of size 0.", "4.5", "cat", "shape raises")
def _(e: Event) -> bool:
    return succeeded(e) and any(o.shape == (0,) for o in (e.x, *e.others))


@rule("output.gathered", "Selecting by an index tensor copies, row-major.", "4.4", GATHERING, f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return e.copied and e.entry not in ("nonzero", "argwhere")


@rule(
    "output.product",
    "A matrix product is row-major for operands of any layout.",
    "4.4",
    PRODUCTS,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "output.tuple",
    "An operation of several results answers each with a layout of its own.",
    "4.4",
    f"{group('reductions to pairs', 'scans to pairs')} sort topk",
    "shape sharing",
)
def _(e: Event) -> bool:
    return e.observation.is_tuple and e.copied


@rule(
    "output.empty",
    "A result without elements has the layout that the same rule gives.",
    "4.4",
    COMPUTING,
    "layout shape storage",
)
def _(e: Event) -> bool:
    return e.copied and numel(e.y) == 0


RULES = family.rules
