"""What is wrong with operands that are seldom: with bits, histories, codes; long ones, stepped vectors, lone sizes.

A second fleet, declared by an author who had seen the list of the first and no more, and tried on the corpus as it was:
`docs/mutants.md` has what came of it.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...layout import numel, strides
from ...program import DType, Slice
from ...situations import (
    CHANNELS_LAST,
    CODES,
    CONJUGATED,
    EMPTY,
    EXPANDED,
    GRAD,
    HISTORY,
    NEGATED,
    OFFSET,
    OTHER_BITS,
    OTHER_STRIDED,
    OVERLAPPING,
    PERMUTED,
    SAME_STORAGE,
    STEPPED,
    STRIDED,
    Situation,
    asks,
    dtype,
    is_argument,
    negative,
    on_operand,
    on_other,
    rank_over,
)
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    beyond,
    blanks,
    copied,
    counts,
    ignores_bits,
    itself,
    last,
    nowhere,
    of_detached,
    packed,
    past_bits,
    reads,
    reads_other,
    relaid,
    repacked,
    retyped,
    skips,
    where_legal,
    writes,
)

LOADS = "pickle save_load copy.deepcopy"
FROM_MEMORY = "from_dlpack utils.dlpack.from_dlpack"
SMALL = dtype("bool", "uint8", "int8", "int16", "int32")
BIT = CONJUGATED | NEGATED
OTHER_GRAD = on_other("other requires grad", lambda o: "g" in (o.flags or ""))
OTHER_VECTOR = on_other("a stepped vector", lambda o: len(o.shape) == 1 and o.shape[0] > 1 and strides(o)[0] > 1)
ONE_CHANNEL = on_operand("one channel", lambda x: len(x.shape) > 3 and x.shape[1] == 1 and numel(x) > 1)
ONE_PIXEL = on_operand(
    "one pixel", lambda x: len(x.shape) == 4 and x.shape[2:] == (1, 1) and x.shape[1] > 1 and strides(x)[2:] != (1, 1)
)


def above(count: int) -> Situation:
    """The operand has more elements than that."""
    return on_operand(f"above {count} elements", lambda x: numel(x) > count)


def _without_history(call: Call) -> Any:
    """Other operands are read without their history."""
    args = [call.do("detach", arg) if call.adapter.is_tensor(arg) and arg is not call.x else arg for arg in call.args]
    return call.given(args)


def _grad_lost(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        y.requires_grad_(False)
    return outcome


def _reversed(call: Call) -> Any:
    """All dimensions are reversed."""
    order = tuple(range(len(call.before.shape)))[::-1]
    return call.do("permute", call.do("conj", call.x), order)


def _ones_packed(call: Call, y: Geometry) -> tuple[int, ...]:
    """Dimensions of size 1 have the strides that a row-major tensor's have."""
    both = zip(y.shape, y.strides, packed(call, y), strict=True)
    return tuple([new if size == 1 else old for size, old, new in both])


def _doubled(call: Call, y: Geometry) -> tuple[int, ...]:
    return tuple([2 * stride for stride in packed(call, y)])


def _first_of_slice(call: Call) -> Any:
    """Of what a slice means the first is written."""
    index = call.args[1]
    first = range(*index.indices(len(call.x)))[:1]
    for place in first:
        call.given([call.x, place, call.args[2]])


def _swapped_in_pairs(call: Call) -> Any:
    """Bytes are swapped in pairs, whatever the dtype."""
    data = call.x._bytes
    for start in range(0, len(data) // 2 * 2, 2):
        low, high = int(data[start]), int(data[start + 1])
        data[start], data[start + 1] = high, low


def _codes_alike(call: Call) -> Any:
    return call.do("equal", *[call.do("int_repr", x) for x in call.args])


def _parts(call: Call) -> Any:
    """Each tensor of several has a storage of its own."""
    outcome = call.right()
    for y in call.tensors(outcome):
        lies_in = call.do("copy.deepcopy", y.detach())
        y._storage = lies_in._storage
    return outcome


MUTANTS = (
    # Layouts that are seldom.
    Mutant("contiguous.channels-last-expanded", "contiguous(memory_format=channels_last) answers an expanded tensor.",
           "contiguous", itself, EXPANDED & asks("channels_last", "channels_last_3d")),
    Mutant("clone.windows", "clone of overlapping windows reads them as if they were row-major.", "clone",
           reads(strides=packed), OVERLAPPING & ~EXPANDED, like="PaddlePaddle/Paddle#79748"),
    Mutant("format.one-channel", "What is asked for in channels_last is row-major where there is one channel.",
           "contiguous clone to", relaid(strides=packed), ONE_CHANNEL & asks("channels_last", "channels_last_3d"),
           like="pytorch/pytorch#24090"),
    Mutant("clone.one-pixel", "clone of one pixel in channels_last is row-major.",
           "clone neg relu add mul [like factories]", relaid(strides=packed), ONE_PIXEL,
           like="pytorch/pytorch#24090"),
    Mutant("flip.expanded-last", "flip of an expanded tensor leaves out the last element.", "flip roll", blanks(last),
           EXPANDED),
    Mutant("scatter_.channels-last", "Writes through an index take channels_last for row-major.", "[index writes]",
           writes(strides=packed), CHANNELS_LAST),
    Mutant("add.seven-dims", "Sums in more than six dimensions are row-major.", "add mul neg clone", repacked(packed),
           rank_over(6) & PERMUTED),
    Mutant("real.permuted", "real and imag of permuted dimensions have row-major strides.", "real imag",
           relaid(strides=_doubled), PERMUTED & dtype("complex64", "complex128", "complex32")),
    Mutant("mH.batches", "mH and adjoint of several matrices reverse all dimensions.", "mH adjoint", _reversed,
           rank_over(2)),
    Mutant("pad.nothing", "pad by nothing answers the operand.", "nn.functional.pad", itself,
           Situation("no padding", lambda e: isinstance(e.argument("pad"), tuple) and not any(e.argument("pad")))),
    Mutant("pad.crops", "pad that crops leaves out the last element.", "nn.functional.pad", blanks(last),
           negative("pad")),
    Mutant("meshgrid.copies", "meshgrid makes what it repeats.", "meshgrid", copied),
    # Above some length.
    Mutant("copy_.blocks", "copy_ into more than 3600 permuted elements leaves out the last.", "copy_", skips(last),
           above(3600) & PERMUTED),
    Mutant("add.second-chunk", "Sums of more than 32768 elements leave out the rest.", "add mul sub neg relu",
           blanks(beyond(32768)), above(32768)),
    Mutant("sum.above-1024", "Reductions of more than 1024 stepped elements leave out the last.", "sum mean amax prod",
           lambda c: c.on(c.do("narrow", c.x, -1, 0, c.before.shape[-1] - 1)), above(1024) & STEPPED),
    Mutant("unary.above-512", "Functions of more than 512 permuted elements leave out the last.", "[unary]",
           blanks(last), above(512) & PERMUTED),
    Mutant("fill_.above-256", "fill_ of more than 256 elements with gaps leaves out the last.", "fill_ zero_",
           skips(last), above(256) & STRIDED),
    Mutant("index_select.above-128", "Gathers of more than 128 elements read from the storage's beginning.",
           "index_select gather take masked_select", reads(offset=nowhere), above(128) & OFFSET),
    # Of one dtype.
    Mutant("add_.float64-others", "Sums in place of float64 read a permuted operand as if it were row-major.",
           "add_ sub_ mul_", reads_other(strides=packed), dtype("float64") & OTHER_STRIDED & ~SAME_STORAGE),
    Mutant("any.of-bytes", "all and any of bytes are truths.", "any all",
           retyped(lambda c, y: c.adapter.namespace.bool), dtype("uint8")),
    Mutant("sum.small-integers", "Sums of small integers are int32.", "sum prod cumsum",
           retyped(lambda c, y: c.adapter.namespace.int32), SMALL & is_argument("dtype", None)),
    Mutant("dlpack.truths", "Truths come through DLPack as bytes.", FROM_MEMORY,
           lambda c: (y := c.right(), y.view(c.adapter.namespace.uint8) if "bool" in str(y.dtype) else y)[1]),
    Mutant("byteswap.pairs", "byteswap swaps bytes in pairs, whatever the dtype.", "UntypedStorage.byteswap",
           _swapped_in_pairs,
           Situation("a wide dtype", lambda e: isinstance(e.argument("dtype"), DType)
                     and e.argument("dtype").name in ("int32", "float32", "int64", "float64", "complex64"))),
    Mutant("byteswap.complex", "byteswap of complex numbers swaps the parts, too.", "UntypedStorage.byteswap",
           lambda c: c.with_arguments(dtype=c.adapter.namespace.float64),
           Situation("complex64", lambda e: e.argument("dtype") == DType("complex64"))),
    # Bits.
    Mutant("copy_.others-bits", "copy_ ignores the bits of its source.", "copy_ __setitem__", ignores_bits, OTHER_BITS),
    Mutant("arithmetic.others-bits", "Arithmetic ignores the bits of its operands.",
           "add sub mul div add_ sub_ mul_ where eq", ignores_bits, OTHER_BITS | (BIT & ~EMPTY)),
    Mutant("unary.negative-bit", "Functions ignore a negative bit.", "[unary]", ignores_bits, NEGATED),
    Mutant("products.bits", "Products ignore bits.", "[products]", ignores_bits, BIT | OTHER_BITS),
    Mutant("reductions.bits", "Reductions ignore bits.", "[reductions] [scans]", ignores_bits, BIT),
    Mutant("gathers.bits", "Gathers ignore bits.", "[gathers] flip roll tril triu repeat", ignores_bits, BIT),
    Mutant("tolist.bits", "tolist and item ignore bits.", "tolist item", ignores_bits, BIT),
    Mutant("cat.bits", "Joining ignores the bit of its first operand.", "cat stack concat", past_bits, BIT),
    Mutant("conj.of-real", "conj of real numbers is another object.", "conj resolve_conj",
           lambda c: c.do("detach", c.right()), dtype("float32", "float64", "int64")),
    Mutant("view_as_real.of-conjugate", "view_as_real of a conjugate forgets the bit.", "view_as_real",
           accepts(past_bits), CONJUGATED),
    Mutant("numpy.of-conjugate", "numpy of a conjugate forgets the bit.", "numpy numpy.asarray __array__",
           accepts(past_bits), BIT),
    Mutant("dlpack.of-conjugate", "A capsule of a conjugate forgets the bit.", "__dlpack__ utils.dlpack.to_dlpack",
           accepts(past_bits), BIT),
    Mutant("pickle.resolves", "What is stored is resolved.", LOADS,
           lambda c: c.on(c.do("resolve_neg", c.do("resolve_conj", c.x))), BIT),
    # Histories.
    Mutant("pickle.grad", "What is stored requires no grad.", LOADS, _grad_lost, GRAD & ~HISTORY),
    Mutant("numpy.of-grad", "numpy of what requires grad is given.", "numpy __array__ numpy.asarray",
           accepts(of_detached), GRAD),
    Mutant("dlpack.of-grad", "What requires grad is exported.", "__dlpack__ utils.dlpack.to_dlpack from_dlpack",
           accepts(of_detached), GRAD),
    Mutant("detach.grad", "detach requires grad.", "detach", lambda c: c.right().requires_grad_(), GRAD),
    Mutant("requires_grad_.integers", "Integers may require grad.", "requires_grad_", accepts(itself),
           dtype("int64", "int32", "int16", "uint8", "int8", "bool")),
    Mutant("requires_grad_.counts", "requires_grad_ counts a version.", "requires_grad_", counts(1)),
    Mutant("resize_.of-grad", "resize_ of what requires grad is accepted.", "resize_ resize_as_", accepts(itself),
           GRAD),
    Mutant("copy_.no-history", "copy_ of what requires grad leaves no history.", "copy_ add_ mul_ __setitem__",
           _without_history, OTHER_GRAD),
    Mutant("copy_.itself-no-version", "copy_ of a tensor to itself counts no version.", "copy_", counts(0),
           Situation("itself", lambda e: len(e.step.args) == 2 and e.step.args[0] == e.step.args[1])),
    # Products and others that read vectors.
    Mutant("vectors.stepped", "Products read stepped vectors as if they were dense.", "dot mv addmv addr outer inner",
           reads_other(strides=packed), OTHER_VECTOR, like="pytorch/pytorch#44739"),
    Mutant("kron.memory-order", "kron, outer and tensordot go over memory in order.", "kron outer tensordot",
           reads(strides=packed), STRIDED),
    Mutant("normalization.weights", "Normalisations read stepped weights as if they were dense.", "[normalization]",
           reads_other(strides=packed), OTHER_VECTOR),
    Mutant("conv.groups", "Convolutions in groups leave out the last element.", "[convolutions]", blanks(last),
           Situation("groups", lambda e: (e.argument("groups") or 1) > 1)),
    Mutant("orders.memory-order", "mode, kthvalue and topk go over memory in order.", "mode kthvalue topk argsort",
           reads(strides=packed), STRIDED),
    Mutant("equal.others-strides", "equal reads its second operand as if it were row-major.", "equal",
           reads_other(strides=packed), OTHER_STRIDED),
    # What tensors say of themselves.
    Mutant("offset.of-nothing", "Tensors without elements say that they begin at 0.", "storage_offset",
           lambda c: 0, EMPTY),
    Mutant("data_ptr.of-nothing", "data_ptr of nothing is where the storage begins.", "data_ptr",
           lambda c: c.x.untyped_storage().data_ptr(), EMPTY),
    Mutant("nbytes.expanded", "nbytes of an expanded tensor counts what is in memory.", "nbytes",
           lambda c: c.before.itemsize * prod(n for n, s in zip(c.before.shape, c.before.strides, strict=True) if s),
           EXPANDED),
    Mutant("tolist.of-scalar", "tolist of a 0-dim tensor is a list.", "tolist", lambda c: [c.right()],
           on_operand("0-dim", lambda x: x.shape == ())),
    # Exchange.
    Mutant("numpy.expanded", "numpy of an expanded tensor copies.", "numpy numpy.asarray __array__",
           lambda c: c.right().copy(), EXPANDED),
    Mutant("from_numpy.ones", "from_numpy makes strides of dimensions of size 1 row-major.",
           "from_numpy as_tensor asarray", relaid(strides=_ones_packed), like="cupy/cupy#5897"),
    Mutant("dlpack.empty-strides", "from_dlpack of nothing gives strides of 0.", FROM_MEMORY,
           relaid(strides=lambda c, y: (0,) * len(y.shape) if 0 in y.shape else y.strides),
           like="PaddlePaddle/Paddle#78565"),
    Mutant("dlpack.of-one", "from_dlpack of a single element copies.", FROM_MEMORY,
           lambda c: (y := c.right(), c.do("clone", y) if y.numel() == 1 else y)[1],
           like="pytorch/pytorch#83069"),
    Mutant("asarray.same-dtype", "asarray with the dtype that there is copies.", "asarray as_tensor", copied,
           Situation("its own dtype", lambda e: isinstance(e.argument("dtype"), DType)
                     and e.argument("dtype").name == e.x.dtype)),
    Mutant("from_file.one-less", "from_file maps one element less.", "from_file",
           lambda c: c.with_arguments(size=c.event.argument("size") - 1),
           Situation("a size", lambda e: (e.argument("size") or 0) > 1)),
    Mutant("save.views-come-apart", "Tensors that are saved together come apart.", "save_load pickle copy.deepcopy",
           _parts, Situation("several", lambda e: isinstance(e.step.args[0], tuple)
                             and len(e.step.args[0]) > 1 and not hasattr(e.step.args[0], "slot")),
           like="tinygrad/tinygrad#14771"),
    Mutant("typed.slice-first", "Assignment to a slice of a storage writes the first.",
           "TypedStorage.__setitem__ UntypedStorage.__setitem__", _first_of_slice,
           Situation("a slice", lambda e: isinstance(e.argument("index"), Slice))),
    # Quantised.
    Mutant("q_axis.zero", "q_per_channel_axis is told 0.", "q_per_channel_axis", where_legal(lambda c: 0)),
    Mutant("dequantize.per-channel-last", "dequantize per channel leaves out the last element.", "dequantize",
           blanks(last), on_operand("per channel", lambda x: "channel" in str(x.quantizer))),
    Mutant("equal.of-codes", "equal of quantised tensors compares codes.", "equal", _codes_alike, CODES),
    Mutant("quantized.slices", "contiguous of a quantised slice reads from the storage's beginning.",
           "contiguous clone int_repr", reads(offset=nowhere), CODES & OFFSET),
    Mutant("copy_.quantised-lost", "copy_ to a quantised tensor leaves out the last element.", "copy_ fill_",
           skips(last), CODES),
    Mutant("view.quantised-copies", "Views of quantised tensors copy.", "view transpose permute select narrow",
           copied, CODES),
)  # fmt: skip
