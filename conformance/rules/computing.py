"""What computes, class by class: reductions, scans, products and joins, and what decides the layout of each."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_dense, is_expanded, numel
from ..operations import group
from ._define import GEOMETRY, RAISING, Family, is_channels_last

family = Family("output-layout")
rule = family.rule

REDUCING = group("reductions", "reductions to pairs")
LAID_OUT = f"{GEOMETRY} contiguity"
ADDED = "addmm addmv addr baddbmm addbmm"


@rule("reduction.several", "Reducing over several dimensions drops them all.", "4.4", REDUCING, "shape values")
def _(e: Event) -> bool:
    dims = e.argument("dim")
    return e.copied and isinstance(dims, tuple) and len(dims) > 1


@rule("reduction.other-order", "A reduction of a tensor in another order is row-major.", "4.4", REDUCING, LAID_OUT)
def _(e: Event) -> bool:
    return e.copied and e.x.contiguity[0] == "F" and numel(e.y) > 1


@rule("reduction.channels-last", "A reduction of a channels_last image is row-major, keepdim or not.", "4.4", REDUCING,
      "strides contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and is_channels_last(e.x) and e.x.contiguity[0] == "F" and numel(e.y) > 1


@rule("reduction.expanded", "A repeated element counts as often as the tensor shows it.", "1.6", REDUCING, "values")
def _(e: Event) -> bool:
    return e.copied and is_expanded(e.x)


@rule("reduction.empty", "A reduction over nothing answers with the neutral element.", "4.4", REDUCING, "values shape")
def _(e: Event) -> bool:
    return e.copied and numel(e.x) == 0 < numel(e.y)


@rule("reduction.pair", "A reduction that answers a pair lays both out row-major.", "4.4",
      group("reductions to pairs"), "shape strides sharing values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and e.observation.is_tuple and not e.outs


@rule("scan.other-order", "A scan of a tensor in another order is row-major.", "4.4", group("scans", "scans to pairs"),
      LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and e.x.contiguity[0] == "F"


@rule("sort.row-major", "The largest elements come row-major, unlike sorted ones.", "4.4", "topk", LAID_OUT)
def _(e: Event) -> bool:
    return e.copied


@rule("elementwise.alone", "An operation on one operand preserves the order of its dimensions.", "4.3.3",
      group("unary"), LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and e.x.contiguity[0] == "F"


@rule("elementwise.truth", "A comparison answers truths in the layout that a sum would have.", "4.3.10",
      "eq ne lt le gt ge isclose logical_and logical_or logical_xor isnan isinf isfinite", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("elementwise.condition", "The condition of where() is the first operand.", "4.3.9", "where", LAID_OUT)
def _(e: Event) -> bool:
    return e.copied


@rule("elementwise.three", "All of three operands are looked at, in their order.", "4.3.1",
      "where lerp addcmul addcdiv clamp", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and len(e.others) == 2


@rule("elementwise.to-float", "An integer operand of a function with real values is converted first.", "4.3.1",
      group("unary"), "shape values storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and "int" in e.x.dtype and e.y.dtype == "float32"


@rule(
    "product.stacks", "Stacks of matrices are multiplied matrix by matrix.", "4.4", "matmul bmm baddbmm", "values shape"
)
def _(e: Event) -> bool:
    return e.copied and len(e.y.shape) > 2


@rule(
    "product.vector",
    "A vector is a row or a column, which the result drops.",
    "4.4",
    "matmul mv dot addmv",
    "shape values",
)
def _(e: Event) -> bool:
    return e.copied and any(len(o.shape) == 1 for o in (e.x, *e.others))


@rule("product.added", "What a product is added to is broadcast, and has no say in the layout.", "4.4", ADDED, LAID_OUT)
def _(e: Event) -> bool:
    return e.copied


@rule("product.transposed", "Factors in column-major order give a row-major product.", "4.4",
      f"mm bmm matmul {ADDED}", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and any(o.contiguity[0] == "F" and is_dense(o) for o in (e.x, *e.others)) and numel(e.y) > 1


@rule("product.inner-empty", "A product over nothing is zero.", "4.4", group("products"), "values shape")
def _(e: Event) -> bool:
    return e.copied and numel(e.y) > 0 and any(numel(o) == 0 for o in (e.x, *e.others))


@rule("product.linear", "A linear layer is row-major, as a view of one product where it can be.", "4.4",
      "nn.functional.linear", f"{LAID_OUT} flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("product.contraction", "A contraction answers with a permuted view of one product.", "4.4", "einsum tensordot",
      f"{LAID_OUT} flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("join.stacked", "stack answers in the strides of a cat along that dimension, split.", "4.5.5", "stack",
      "strides layout contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule(
    "join.promotes", "Joined tensors of several dtypes take a common one.", "4.5.1", "cat concat stack", "shape values"
)
def _(e: Event) -> bool:
    return e.copied and any(o.dtype != e.x.dtype for o in e.others)


@rule(
    "join.suggested", "Channels_last images are joined in channels_last.", "4.5.2", "cat concat", "strides contiguity"
)
def _(e: Event) -> bool:
    return e.copied and is_channels_last(e.y) and e.y.contiguity[0] == "F"


@rule("join.other-order", "Joined tensors in any other order are row-major.", "4.5.2", "cat concat", LAID_OUT)
def _(e: Event) -> bool:
    return e.copied and e.x.contiguity[0] == "F" and e.y.contiguity[0] == "T"


@rule("join.by-shape", "hstack, vstack, dstack and column_stack are cat after dimensions are added.", "4.5",
      "hstack vstack dstack column_stack", LAID_OUT)  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("errors.join", "Tensors whose other sizes differ are not joined.", "4.5.4", group("joins"), RAISING)
def _(e: Event) -> bool:
    return e.kind == "size"


@rule(
    "errors.product",
    "Factors whose inner sizes differ are refused.",
    "4.4",
    group("products", "product writes"),
    RAISING,
)
def _(e: Event) -> bool:
    return e.raised is not None and e.kind != "overlap"


RULES = family.rules
