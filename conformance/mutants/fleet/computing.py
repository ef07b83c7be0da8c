"""Results of computing that are wrong: laid out otherwise, or computed from memory in another order."""

from __future__ import annotations

from ...layout import in_order, row_major, strides
from ...situations import (
    AMBIGUOUS,
    BROADCASTS,
    CHANNELS_LAST,
    CHANNELS_LAST_3D,
    EMPTY,
    EXPANDED,
    GAPS,
    MANY,
    MIXED,
    ODD_ONES,
    OFFSET,
    OTHER_EXPANDED,
    OTHER_LAYOUT,
    OTHER_OFFSET,
    OTHER_STRIDED,
    OVERLAPPING,
    PERMUTED,
    ROW_MAJOR,
    STEPPED,
    STRIDED,
    Situation,
    dtype,
    given,
    rank,
)
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import alias, beyond, blanks, counts, itself, last, nowhere, packed, reads, reads_other, relaid, repacked

BINARY = "add sub mul"
UNARY = "neg abs relu"
REDUCTIONS = "sum mean prod amax amin argmax max all"
SCANS = "cumsum cumprod softmax"


def _as_operand(call: Call, y: Geometry) -> tuple[int, ...]:
    """Dense strides in the order of the operand's, where the result has its rank."""
    return _in_order(y.shape, call.before.strides)


def _as_other(call: Call, y: Geometry) -> tuple[int, ...]:
    """Dense strides in the order of the other operand's, where the result has its rank."""
    return _in_order(y.shape, call.others[0].strides) if call.others else row_major(y.shape)


def _in_order(shape: tuple[int, ...], like: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) != len(like):
        return row_major(shape)
    return in_order(shape, sorted(range(len(shape)), key=lambda d: (like[d], -d)))


def _other_tie(call: Call, y: Geometry) -> tuple[int, ...]:
    """Dense strides, dimensions of equal strides in the other order."""
    like = call.before.strides
    if len(y.shape) != len(like):
        return row_major(y.shape)
    found, running = [0] * len(like), 1
    for dim in sorted(range(len(like)), key=lambda d: (like[d], d)):
        found[dim] = running
        running *= max(y.shape[dim], 1)
    return tuple(found)


TIES = Situation("equal strides", lambda e: len(set(strides(e.x))) < len(strides(e.x)))
KEEPS = given("keepdim")
FIRST_IS_PLAIN = Situation("first row-major, other not", lambda e: e.x.contiguity[0] == "T") & OTHER_STRIDED
JOINS_CHANNELS_LAST = Situation(
    "all channels_last", lambda e: all("T" in o.contiguity[1:] and o.contiguity[0] == "F" for o in (e.x, *e.others))
)

MUTANTS = (
    # Layout of elementwise results.
    Mutant("add.row-major", "The sum of two permuted tensors is row-major.", BINARY, repacked(packed),
           PERMUTED & ~BROADCASTS, like="pytorch/pytorch#113172"),
    Mutant("add.order-of-other", "A sum takes the order of the second operand.", BINARY, repacked(_as_other),
           OTHER_LAYOUT & ~BROADCASTS, like="pytorch/pytorch#62560"),
    Mutant("add.number-row-major", "A sum with a number is row-major.", BINARY, repacked(packed),
           PERMUTED & ~Situation("another tensor", lambda e: bool(e.others)), like="pytorch/pytorch#198364"),
    Mutant("mul.broadcast-row-major", "A product with what is broadcast is row-major.", "mul", repacked(packed),
           STRIDED & BROADCASTS),
    Mutant("add.broadcast-order", "A sum takes the order of the operand that is broadcast.", "add sub",
           repacked(_as_other), BROADCASTS),
    Mutant("add.mixed-row-major", "A sum of two dtypes is row-major.", BINARY, repacked(packed), MIXED & STRIDED),
    Mutant("add.ties", "Of dimensions of equal strides the last becomes the outer one.", f"{BINARY} {UNARY}",
           repacked(_other_tie), TIES),
    Mutant("add.first-decides", "A row-major first operand does not decide.", BINARY, repacked(_as_other),
           FIRST_IS_PLAIN),
    Mutant("relu.channels-last", "relu of channels_last is row-major.", "relu", repacked(packed), CHANNELS_LAST,
           like="pytorch/pytorch#183770"),
    Mutant("neg.channels-last-3d", "neg of channels_last_3d is row-major.", "neg abs", repacked(packed),
           CHANNELS_LAST_3D, like="pytorch/pytorch#179830"),
    Mutant("neg.keeps-gaps", "neg keeps the gaps of a sliced tensor.", UNARY,
           repacked(lambda c, y: c.before.strides), GAPS, like="pytorch/pytorch#158022"),
    Mutant("abs.expanded", "abs of an expanded tensor stays expanded.", UNARY,
           relaid(strides=lambda c, y: c.before.strides), EXPANDED),
    Mutant("add.ones", "A sum gives dimensions of size 1 stride 1.", BINARY,
           relaid(strides=lambda c, y: tuple(1 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True))),
           like="pytorch/pytorch#173206"),
    Mutant("relu.ones", "relu makes the strides of dimensions of size 1 row-major.", UNARY,
           relaid(strides=lambda c, y: tuple(r if n == 1 else s for n, r, s in
                                             zip(y.shape, row_major(y.shape), y.strides, strict=True))), ODD_ONES),
    Mutant("add.empty", "A sum without elements has strides of 0.", f"{BINARY} {UNARY}",
           relaid(strides=lambda c, y: (0,) * len(y.shape)), EMPTY, like="pytorch/pytorch#173206"),
    Mutant("relu.ambiguous", "relu of what is row-major and channels_last is given channels_last strides.", UNARY,
           repacked(lambda c, y: _in_order(y.shape, (3, 0, 2, 1)) if len(y.shape) == 4 else y.strides),
           AMBIGUOUS & rank(4), like="pytorch/pytorch#43195"),
    Mutant("mul.five-dims", "The product of five permuted dimensions is row-major.", "mul", repacked(packed),
           rank(5) & STRIDED),
    # Elements of elementwise results.
    Mutant("add.others-strides", "A sum reads its second operand as if it were row-major.", "add",
           reads_other(strides=packed), OTHER_STRIDED, like="IntelPython/dpctl#1171"),
    Mutant("sub.others-offset", "A difference reads its second operand from the storage's beginning.", "sub",
           reads_other(offset=nowhere), OTHER_OFFSET),
    Mutant("mul.others-expanded", "A product reads an expanded operand as if it were whole.", "mul",
           reads_other(strides=packed), OTHER_EXPANDED),
    Mutant("relu.no-offset", "relu of a slice reads from the storage's beginning.", UNARY, reads(offset=nowhere),
           OFFSET & STRIDED),
    Mutant("neg.last-stepped", "neg leaves out the last element of a stepped tensor.", UNARY, blanks(last), STEPPED),
    Mutant("add.above-64", "A sum of more than 64 elements that are not row-major is not finished.", BINARY,
           blanks(beyond(64)), MANY & STRIDED),
    Mutant("mul.last-small-int", "A product of small integers leaves out the last.", "mul", blanks(last),
           dtype("int8", "int16", "uint8")),
    Mutant("add.half-offset", "A sum of bfloat16 reads a slice from the storage's beginning.", BINARY,
           reads(offset=nowhere), OFFSET & dtype("bfloat16", "float16")),
    Mutant("relu.itself", "relu of a tensor without elements is that tensor.", UNARY, itself, EMPTY),
    Mutant("neg.counts", "neg counts a version for its operand.", UNARY, counts(1)),
    # Reductions and scans.
    Mutant("sum.keepdim-strides", "A reduction that keeps dimensions gives them stride 0.", REDUCTIONS,
           relaid(strides=lambda c, y: tuple(0 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True))),
           KEEPS),
    Mutant("sum.order", "A reduction keeps the order of its operand.", REDUCTIONS, repacked(_as_operand),
           KEEPS & STRIDED),
    Mutant("sum.no-offset", "sum of a slice reads from the storage's beginning.", "sum mean", reads(offset=nowhere),
           OFFSET, like="bitsandbytes-foundation/bitsandbytes#1995"),
    Mutant("amax.memory-order", "amax along a dimension goes over memory in order.", "amax amin max",
           reads(strides=packed), STRIDED, like="pytorch/pytorch#75009"),
    Mutant("argmax.memory-order", "argmax answers places in memory.", "argmax", reads(strides=packed), STRIDED),
    Mutant("sum.expanded", "sum of an expanded tensor adds each element once.", "sum prod",
           reads(strides=packed), EXPANDED),
    Mutant("sum.keeps-dim", "A reduction over one dimension keeps it.", "sum mean amax",
           lambda c: c.with_arguments(keepdim=True), ~KEEPS & rank(3)),
    Mutant("cumsum.order", "cumsum keeps the order of its operand.", SCANS, repacked(_as_operand), STRIDED),
    Mutant("cumsum.memory-order", "cumsum goes over memory in order.", SCANS, reads(strides=packed), STRIDED),
    # Orders.
    Mutant("sort.row-major", "sort of permuted dimensions is row-major.", "sort argsort", repacked(packed), PERMUTED),
    Mutant("sort.memory-order", "sort goes over memory in order.", "sort argsort", reads(strides=packed), STRIDED),
    Mutant("topk.order", "topk keeps the order of its operand.", "topk", repacked(_as_operand), STRIDED),
    Mutant("flip.row-major", "flip of permuted dimensions is row-major.", "flip", repacked(packed), PERMUTED),
    Mutant("flip.no-offset", "flip of a slice reads from the storage's beginning.", "flip roll",
           reads(offset=nowhere), OFFSET),
    Mutant("flip.nothing", "flip of no dimension is the tensor's own memory.", "flip", alias,
           Situation("no dims", lambda e: e.argument("dims") == ())),
    Mutant("roll.order", "roll keeps the order of its operand.", "roll", repacked(_as_operand), STRIDED),
    # Joining, gathering, products.
    Mutant("cat.channels-last", "cat of channels_last tensors is row-major.", "cat stack", repacked(packed),
           JOINS_CHANNELS_LAST, like="pytorch/pytorch#34084"),
    Mutant("cat.first-format", "cat takes the order of its first operand.", "cat", repacked(_as_operand),
           STRIDED, like="pytorch/pytorch#62560"),
    Mutant("cat.one", "cat of one tensor is that tensor's memory.", "cat", alias,
           Situation("one tensor", lambda e: not e.others)),
    Mutant("cat.last", "cat leaves out the last element.", "cat", blanks(last)),
    Mutant("stack.last", "stack leaves out the last element.", "stack", blanks(last)),
    Mutant("index_select.memory-order", "index_select reads memory in order.", "index_select", reads(strides=packed),
           STRIDED, like="ml-explore/mlx#4253"),
    Mutant("index_select.order", "index_select keeps the order of its operand.", "index_select",
           repacked(_as_operand), STRIDED),
    Mutant("masked_select.memory-order", "masked_select takes elements in the order of memory.", "masked_select",
           reads(strides=packed), STRIDED, like="pytorch/pytorch#99638"),
    Mutant("masked_select.mask-order", "masked_select reads its mask as if it were row-major.",
           "masked_select masked_fill", reads_other(strides=packed), OTHER_STRIDED, like="pytorch/pytorch#99638"),
    Mutant("masked_fill.row-major", "masked_fill keeps the order of its operand.", "masked_fill",
           repacked(_as_operand), STRIDED),
    Mutant("masked_fill.overlap", "masked_fill of overlapping elements starts elsewhere.", "masked_fill",
           reads(strides=packed), OVERLAPPING | STRIDED),
    Mutant("matmul.strides", "matmul reads its first factor as if it were row-major.", "matmul",
           reads(strides=packed), STRIDED, like="numpy/numpy#29164"),
    Mutant("matmul.others-strides", "matmul reads its second factor as if it were row-major.", "matmul",
           reads_other(strides=packed), OTHER_STRIDED, like="numpy/numpy#29164"),
    Mutant("matmul.others-offset", "matmul reads its second factor from the storage's beginning.", "matmul",
           reads_other(offset=nowhere), OTHER_OFFSET),
    Mutant("matmul.column-major", "matmul answers column-major.", "matmul",
           repacked(lambda c, y: _in_order(y.shape, tuple(range(len(y.shape)))) if len(y.shape) == 2 else y.strides),
           like="numpy/numpy#29164"),
    Mutant("sum.row-major-only", "amin of a row-major slice reads from the storage's beginning.", "amin all prod",
           reads(offset=nowhere), ROW_MAJOR & OFFSET),
)  # fmt: skip
