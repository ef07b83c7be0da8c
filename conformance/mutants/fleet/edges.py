"""What is wrong at an edge: the rest of a loop, long dimensions, scalars, nothing at all, counting from the end.

Declared after the corpus had been drawn, in families that no mutant was in: `docs/mutants.md` has what came of it.
"""

from __future__ import annotations

from typing import Any

from ...layout import numel
from ...situations import (
    BY_TENSOR,
    EMPTY,
    EXPANDED,
    FILLED,
    MANY,
    MANY_IN_A_ROW,
    OFFSET,
    OTHER_OFFSET,
    OTHER_STRIDED,
    SCALAR,
    STRIDED,
    Situation,
    dtype,
    is_argument,
    negative,
    on_operand,
    positive,
    rank,
    rank_over,
)
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    another_object,
    argument,
    asked,
    blanks,
    copied,
    counts,
    itself,
    last,
    nowhere,
    operands_offset,
    packed,
    reads,
    reads_other,
    refuses,
    relaid,
    repacked,
    skips,
    writes,
)

MATHS_ = "abs_ neg_ exp_ log_ sqrt_ rsqrt_ sin_ cos_ tan_ tanh_ sigmoid_ reciprocal_ square_ round_ floor_ ceil_ sign_"
BITS_ = "bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_not_"
TRUTHS_ = "eq_ ne_ lt_ le_ gt_ ge_ logical_and_ logical_or_ logical_xor_ logical_not_"
POOLS = (
    "nn.functional.max_pool1d nn.functional.avg_pool1d nn.functional.avg_pool3d nn.functional.adaptive_avg_pool1d "
    "nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d"
)


def rest_of(width: int, left: int) -> Situation:
    """A loop over so many elements at a time leaves that many at its end."""
    return on_operand(f"{left} left of {width}", lambda x: numel(x) > width and numel(x) % width == left)


ODD_ROWS = on_operand("odd rows", lambda x: bool(x.shape) and x.shape[-1] > 3 and x.shape[-1] % 2 == 1)


def _without_last_column(call: Call) -> Any:
    """It is done to all but the last number of each row."""
    return call.on(call.do("narrow", call.x, -1, 0, call.before.shape[-1] - 1))


def _diagonal(call: Call) -> Any:
    return call.do("diagonal", call.x)


def _no_negative(value: Any) -> Any:
    """Numbers with 0 in the place of negative ones."""
    return tuple([max(item, 0) for item in value]) if isinstance(value, tuple) else max(value, 0)


MUTANTS = (
    # The rest of a loop.
    Mutant("maths_.rest-of-four", "In-place functions leave out the last element where three are left of four.",
           MATHS_, skips(last), rest_of(4, 3)),
    Mutant("unary.rest-of-eight", "Functions leave out the last element where one is left of eight.", "[unary]",
           blanks(last), rest_of(8, 1)),
    Mutant("sum.odd-rows", "A sum along rows of odd length leaves out the last number.", "sum mean prod",
           _without_last_column, ODD_ROWS & is_argument("dim", -1)),
    Mutant("add.rest-of-sixteen", "A sum leaves out the last element where 15 are left of 16.", "add sub mul div",
           blanks(last), rest_of(16, 15)),
    Mutant("copy_.rest-of-int16", "copy_ of elements of two bytes leaves out the last of an odd number.", "copy_",
           skips(last), rest_of(2, 1) & dtype("int16", "float16", "bfloat16", "uint16")),
    Mutant("full.last", "full, ones and eye leave out the last element.", "full ones eye", blanks(last)),
    Mutant("arange.last", "arange leaves out the last number.", "arange", blanks(last)),
    # Long dimensions, and many of them.
    Mutant("transpose.long", "transpose of more than 64 in a row swaps the sizes only.", "transpose t T mT permute",
           relaid(strides=packed), MANY_IN_A_ROW),
    Mutant("permute.six-dims", "permute of more than five dimensions keeps the strides.", "permute",
           relaid(strides=lambda c, y: c.before.strides), rank_over(5)),
    Mutant("sum.many", "A reduction of more than 64 elements with gaps reads from the storage's beginning.",
           "sum mean amax argmax", reads(offset=nowhere), MANY & OFFSET),
    Mutant("clone.four-dims", "clone of four dimensions that are permuted starts elsewhere.", "clone",
           reads(strides=packed), rank(4) & STRIDED & dtype("float64", "int64")),
    # Scalars, and nothing.
    Mutant("view.of-scalar", "view of a 0-dim tensor gives strides of 0.", "view reshape unsqueeze",
           relaid(strides=lambda c, y: (0,) * len(y.shape)), SCALAR),
    Mutant("expand.of-scalar", "expand of a 0-dim tensor copies.", "expand broadcast_to", copied, SCALAR),
    Mutant("add_.to-scalar", "Arithmetic in place on a 0-dim slice writes at the storage's beginning.",
           "add_ sub_ mul_ div_ fill_ copy_", writes(offset=nowhere), SCALAR & OFFSET),
    Mutant("item.no-offset", "item of a slice reads from the storage's beginning.", "item", reads(offset=nowhere),
           OFFSET),
    Mutant("narrow.to-nothing", "narrow to nothing keeps the offset.", "narrow", relaid(offset=operands_offset),
           is_argument("length", 0) & positive("start"), like="PaddlePaddle/Paddle#53451"),
    Mutant("sum.of-nothing", "A sum of nothing is refused.", "sum prod", refuses("size"), EMPTY),
    Mutant("cat.with-nothing", "Joining refuses what has no elements.", "cat stack concat", refuses("size"), EMPTY),
    Mutant("flip.of-nothing", "flip and roll of nothing are the tensor itself.", "flip roll", itself, EMPTY),
    # Counted from the end.
    Mutant("stack.negative-dim", "stack counts a negative dimension from one too far.", "stack",
           asked(dim=argument("dim", lambda d: max(d - 1, -1 - abs(d)) if d < -1 else d)), negative("dim") & ~rank(1)),
    Mutant("roll.negative", "roll by a negative number does nothing.", "roll",
           asked(shifts=argument("shifts", _no_negative)),
           negative("shifts") & FILLED),
    Mutant("tril.negative", "tril and triu take a diagonal below the main one for the main one.",
           "tril triu tril_ triu_", asked(diagonal=lambda c, x: 0), negative("diagonal")),
    Mutant("sum.negative-dims", "A reduction over dimensions counted from the end takes the first of them.",
           "sum mean amax amin", asked(dim=argument("dim", lambda d: 0 if type(d) is int else d)), negative("dim")),
    # In place.
    Mutant("cumsum_.memory-order", "cumsum_ and cumprod_ go over memory in order.", "cumsum_ cumprod_",
           writes(strides=packed), STRIDED),
    Mutant("products_.others", "addmm_ and the like read factors as if they were row-major.", "[product writes]",
           reads_other(strides=packed), OTHER_STRIDED, like="pytorch/pytorch#44739"),
    Mutant("bitwise_.row-major", "Bits in place go over memory in order.", BITS_, writes(strides=packed), STRIDED),
    Mutant("lerp_.others-offset", "lerp_ and addcmul_ read what they add from the storage's beginning.",
           "lerp_ addcmul_ addcdiv_ clamp_", reads_other(offset=nowhere), OTHER_OFFSET),
    Mutant("truths_.another-object", "Comparisons in place answer a new tensor.", TRUTHS_, another_object),
    Mutant("clamp_.no-version", "clamp_ and nan_to_num_ count no version.", "clamp_ nan_to_num_ lerp_", counts(0)),
    Mutant("div_.of-integers", "Integers are divided in place.", "div_ atan2_ exp_ sqrt_ sigmoid_", accepts(itself),
           dtype("int64", "int16", "uint8", "int32", "int8")),
    Mutant("grad.leaf-written", "A leaf that requires grad is written in place.",
           "[in-place] [index writes] __setitem__", accepts(itself),
           on_operand("a leaf", lambda x: {"g", "l"} <= set(x.flags or ""))),
    # Computing.
    Mutant("cummax.memory-order", "cummax, cummin and aminmax go over memory in order.", "cummax cummin aminmax",
           reads(strides=packed), STRIDED, like="pytorch/pytorch#75009"),
    Mutant("var_mean.no-offset", "std_mean, var_mean and nanmedian read from the storage's beginning.",
           "std_mean var_mean nanmedian", reads(offset=nowhere), OFFSET),
    Mutant("diag.view", "diag of a matrix is a view.", "diag", _diagonal,
           rank(2) & is_argument("diagonal", 0)),
    Mutant("diag_embed.no-offset", "diag_embed and diagflat read from the storage's beginning.", "diag_embed diagflat",
           reads(offset=nowhere), OFFSET),
    Mutant("conv1d.weight", "conv1d and conv3d read their weights as if they were row-major.",
           "conv1d conv3d conv_transpose1d", reads_other(strides=packed), OTHER_STRIDED, like="IntelPython/dpctl#1171"),
    Mutant("pool1d.memory-order", "Pooling along one or three dimensions goes over memory in order.", POOLS,
           reads(strides=packed), STRIDED),
    Mutant("fold.last", "fold and unfold leave out the last element.", "nn.functional.fold nn.functional.unfold",
           blanks(last)),
    Mutant("glu.no-offset", "glu reads from the storage's beginning.", "nn.functional.glu", reads(offset=nowhere),
           OFFSET),
    Mutant("reshape_as.copies", "reshape_as always copies.", "reshape_as", copied, ~STRIDED),
    Mutant("expanded.matmul", "Products of expanded matrices read them as if they were whole.", "mm bmm matmul mv",
           reads(strides=packed), EXPANDED),
    # Indices that are tensors.
    Mutant("index.by-tensor-memory-order", "An index of tensors reads memory in order.", "__getitem__",
           reads(strides=packed), BY_TENSOR & STRIDED),
    Mutant("index.by-tensor-row-major", "What an index of tensors takes out of permuted dimensions is row-major.",
           "__getitem__", repacked(packed), BY_TENSOR & STRIDED, like="pytorch/pytorch#113172"),
    Mutant("setitem.by-tensor-lost", "Assignment through an index of tensors is lost where strides are not row-major.",
           "__setitem__", lambda c: (c.on(c.do("clone", c.x)), None)[1], BY_TENSOR & STRIDED, like="numpy/numpy#30307"),
    Mutant("index_put_.accumulates-once", "index_put_(accumulate=True) overwrites.", "index_put_ index_put put_ put",
           asked(accumulate=lambda c, x: False), is_argument("accumulate", True)),
)  # fmt: skip
