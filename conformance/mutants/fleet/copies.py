"""Copies that are wrong: made where none is needed or not made, laid out otherwise, or read from the wrong place."""

from __future__ import annotations

from ...layout import row_major
from ...situations import (
    AMBIGUOUS,
    CHANNELS_LAST,
    CHANNELS_LAST_3D,
    CONVERTS,
    EMPTY,
    EXPANDED,
    FILLED,
    GAPS,
    MANY,
    ODD_ONES,
    OFFSET,
    PERMUTED,
    ROW_MAJOR,
    STEPPED,
    STRIDED,
    Situation,
    asks,
    dtype,
    given,
    has_odd_ones,
    rank,
    rank_over,
)
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import alias, beyond, blanks, copied, counts, itself, last, nowhere, packed, reads, relaid, repacked

UNASKED = ~given("memory_format")
PLAIN = asks("contiguous_format")
ASKED = asks("channels_last", "channels_last_3d")
SAME_DTYPE = Situation("the dtype that it has", lambda e: getattr(e.argument("dtype"), "name", e.x.dtype) == e.x.dtype)
ONE = Situation("one element", lambda e: e.x.shape != () and set(e.x.shape) == {1})


def _channels_last(call: Call, y: Geometry) -> tuple[int, ...]:
    """channels_last strides of a state of four dimensions, its own for another."""
    if len(y.shape) != 4:
        return y.strides
    _, c, h, w = y.shape
    return (c * h * w, 1, c * w, c)


MUTANTS = (
    # contiguous
    Mutant("contiguous.keeps-channels-last", "contiguous answers a channels_last tensor itself.", "contiguous",
           itself, CHANNELS_LAST & ~ASKED, like="pytorch/pytorch#41226"),
    Mutant("contiguous.keeps-channels-last-3d", "contiguous answers a channels_last_3d tensor itself.", "contiguous",
           itself, CHANNELS_LAST_3D & ~ASKED),
    Mutant("contiguous.copies-slices", "contiguous copies a contiguous slice to offset 0.", "contiguous",
           lambda c: c.do("clone", c.x), OFFSET & ROW_MAJOR & UNASKED, like="huggingface/trl#5694"),
    Mutant("contiguous.keeps-expanded", "contiguous answers an expanded tensor itself.", "contiguous", itself,
           EXPANDED & ~ASKED, like="bitsandbytes-foundation/bitsandbytes#1995"),
    Mutant("contiguous.normalises-ones", "contiguous copies where a dimension of size 1 has a stride of its own.",
           "contiguous", lambda c: repacked(packed)(c) if c.x.is_contiguous() else c.right(), ODD_ONES & ~ASKED,
           like="pytorch/pytorch#116333"),
    Mutant("contiguous.alias", "contiguous of what is contiguous answers a new tensor over the same memory.",
           "contiguous", alias, ROW_MAJOR & ~ASKED),
    Mutant("contiguous.ignores-format", "contiguous(memory_format=channels_last) is row-major.", "contiguous",
           lambda c: c.do("contiguous", c.x), ASKED),
    Mutant("contiguous.ambiguous-format", "contiguous(memory_format=channels_last) re-lays what is already so.",
           "contiguous", lambda c: c.do("clone", c.x, memory_format=c.args[1]), ASKED & AMBIGUOUS,
           like="pytorch/pytorch#24090"),
    Mutant("contiguous.no-offset", "contiguous reads from the storage's beginning.", "contiguous",
           reads(offset=nowhere), OFFSET & STRIDED, like="numpy/numpy#13036"),
    Mutant("contiguous.last-element", "contiguous leaves out the last element of a stepped tensor.", "contiguous",
           blanks(last), STEPPED, like="pytorch/pytorch#484"),
    Mutant("contiguous.above-64", "contiguous copies 64 elements of those that are permuted.", "contiguous",
           blanks(beyond(64)), PERMUTED & MANY),
    Mutant("contiguous.memory-order", "contiguous copies bools in the order of memory.", "contiguous",
           reads(strides=packed), PERMUTED & dtype("bool", "uint8", "int8")),
    # clone
    Mutant("clone.loses-strides", "clone of permuted dimensions is row-major.", "clone", repacked(packed),
           PERMUTED & ~PLAIN & ~ASKED, like="pytorch/pytorch#41226"),
    Mutant("clone.loses-order", "clone of a transposed, stepped tensor is row-major.", "clone", repacked(packed),
           GAPS & ~PLAIN & ~ASKED, like="pytorch/pytorch#64176"),
    Mutant("clone.loses-strides-in-5d", "clone of five permuted dimensions is row-major.", "clone", repacked(packed),
           rank(5) & STRIDED & ~PLAIN & ~ASKED, like="pytorch/pytorch#179830"),
    Mutant("clone.keeps-gaps", "clone keeps the gaps of a sliced tensor.", "clone",
           lambda c: repacked(lambda c, y: c.before.strides)(c), GAPS & UNASKED, like="pytorch/pytorch#158022"),
    Mutant("clone.keeps-expanded", "clone of an expanded tensor stays expanded.", "clone",
           relaid(strides=lambda c, y: c.before.strides), EXPANDED & UNASKED),
    Mutant("clone.aliases-one", "clone of a single element is a view of it.", "clone", alias, ONE & UNASKED,
           like="dask/dask#3674"),
    Mutant("clone.no-offset", "clone reads from the storage's beginning.", "clone", reads(offset=nowhere), OFFSET,
           like="NVIDIA/cuda-python#2592"),
    Mutant("clone.no-offset-half", "clone of float16 and bfloat16 reads from the storage's beginning.", "clone",
           reads(offset=nowhere), OFFSET & dtype("float16", "bfloat16")),
    Mutant("clone.ones-of-stride-one", "clone gives dimensions of size 1 stride 1.", "clone",
           relaid(strides=lambda c, y: tuple(1 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True))),
           UNASKED & FILLED, like="pytorch/pytorch#161010"),
    Mutant("clone.empty-strides", "clone of a tensor without elements has strides of 0.", "clone",
           relaid(strides=lambda c, y: (0,) * len(y.shape)), EMPTY, like="pytorch/pytorch#173206"),
    Mutant("clone.ambiguous-format", "clone keeps what is both row-major and channels_last in channels_last.", "clone",
           repacked(_channels_last), AMBIGUOUS & rank(4) & UNASKED, like="pytorch/pytorch#43195"),
    Mutant("clone.ignores-format", "clone(memory_format=channels_last) keeps the order that there is.", "clone",
           lambda c: c.do("clone", c.x), ASKED, like="pytorch/pytorch#34084"),
    Mutant("clone.ignores-plain", "clone(memory_format=contiguous_format) keeps the order that there is.", "clone",
           lambda c: c.do("clone", c.x), PLAIN),
    Mutant("clone.last-element", "clone of complex numbers leaves out the last one.", "clone", blanks(last),
           dtype("complex64", "complex128")),
    Mutant("clone.above-64", "clone copies 64 elements of those with gaps.", "clone", blanks(beyond(64)),
           MANY & STRIDED),
    Mutant("clone.counts", "clone counts a version for the tensor that it reads.", "clone", counts(1)),
    # to and type
    Mutant("to.copies", "to copies where nothing is to be converted.", "to type", copied, SAME_DTYPE & UNASKED,
           like="data-apis/array-api-compat#211"),
    Mutant("to.ignores-copy", "to(copy=True) answers the tensor itself where nothing is to be converted.", "to", itself,
           given("copy") & SAME_DTYPE & UNASKED, like="data-apis/array-api-strict#15"),
    Mutant("to.makes-contiguous", "to(memory_format=contiguous_format) copies what is not contiguous.", "to",
           lambda c: c.do("contiguous", c.right()), PLAIN & STRIDED, like="pytorch/pytorch#41226"),
    Mutant("to.dtype-loses-strides", "A conversion to another dtype is row-major.", "to type", repacked(packed),
           PERMUTED & CONVERTS & UNASKED),
    Mutant("to.dtype-no-offset", "A conversion to another dtype reads from the storage's beginning.", "to type",
           reads(offset=nowhere), OFFSET & CONVERTS),
    Mutant("to.ignores-format", "to(memory_format=channels_last) keeps the order that there is.", "to",
           lambda c: c.with_arguments(memory_format=c.adapter.memory_format("preserve_format")), ASKED),
    Mutant("to.dtype-of-expanded", "A conversion of an expanded tensor stays expanded.", "to",
           relaid(strides=lambda c, y: c.before.strides), EXPANDED & CONVERTS & UNASKED),
    # What is read without a copy.
    Mutant("tolist.ignores-strides", "tolist reads the memory in order.", "tolist", reads(strides=packed), STRIDED,
           like="ml-explore/mlx#4445"),
    Mutant("is_set_to.ignores-strides", "is_set_to compares memory, sizes and offset only.", "is_set_to",
           lambda c: c.right() or (c.x.untyped_storage() is c.args[1].untyped_storage()
                                   and c.x.shape == c.args[1].shape)),
    Mutant("is_contiguous.ones", "is_contiguous looks at the strides of dimensions of size 1.", "is_contiguous",
           lambda c: c.right() and c.before.strides == row_major(c.before.shape), ODD_ONES, like="numba/numba#2766"),
    Mutant("is_contiguous.ignores-format", "is_contiguous says the same of every memory format.", "is_contiguous",
           lambda c: c.x.is_contiguous(), rank_over(3)),
    # Contiguity as every tensor shows it.
    Mutant("contiguity.ones", "A tensor whose dimensions of size 1 have odd strides is not contiguous.",
           shows=lambda s: s._replace(contiguity="F" + s.contiguity[1:]) if has_odd_ones(s) else s,
           like="cupy/cupy#5431"),
    Mutant("contiguity.one-format", "What is row-major is in no other memory format.",
           shows=lambda s: s._replace(contiguity="TFF") if s.contiguity[0] == "T" else s,
           like="pytorch/pytorch#24090"),
    Mutant("contiguity.empty", "A tensor without elements is contiguous only with row-major strides.",
           shows=lambda s: s._replace(contiguity="F" + s.contiguity[1:])
           if 0 in s.shape and s.strides != row_major(s.shape) else s),
    Mutant("contiguity.3d-as-4d", "Five dimensions are never in channels_last_3d.",
           shows=lambda s: s._replace(contiguity=s.contiguity[:2] + "F")),
)  # fmt: skip
