"""Writes that are wrong: too far, too short, to the wrong place, accepted or refused where they should not be."""

from __future__ import annotations

from ...situations import (
    EMPTY,
    EXPANDED,
    FROM_END,
    GAPS,
    MANY,
    MIXED,
    NUMBER,
    OFFSET,
    OTHER_EXPANDED,
    OTHER_OFFSET,
    OTHER_STRIDED,
    OTHERS,
    PERMUTED,
    SAME_STORAGE,
    STEPPED,
    STEPS,
    STRIDED,
    VIEW,
    Situation,
    dtype,
    itemsize,
    rank,
)
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    after,
    another_object,
    before,
    beyond,
    cleared,
    counted,
    counts,
    gaps,
    indexed,
    itself,
    last,
    leaves,
    nowhere,
    packed,
    raises_as,
    reads_other,
    refuses,
    skips,
    spills,
    writes,
)

ARITHMETIC = "add_ sub_ mul_"
UNARY = "relu_"
FILLING = "fill_ zero_"
ALL = f"{ARITHMETIC} {UNARY} {FILLING} copy_"


def _elsewhere(call: Call) -> object:
    """The write goes to a copy, which is answered."""
    return call.on(call.do("clone", call.x))


def _in_a_copy(call: Call) -> object:
    """The write goes to a copy; the operand stays as it was."""
    call.on(call.do("clone", call.x))
    return call.x


def _whole_storage(call: Call) -> object:
    """The write goes to everything that lies in the storage."""
    size = call.x.untyped_storage().nbytes() // call.before.itemsize
    call.on(call.do("as_strided", call.x, (size,), (1,), 0))
    return call.x


TWICE = Situation("the operand itself", lambda e: e.step.args[0] in e.step.args[1:])


MUTANTS = (
    # Too much.
    Mutant("add_.one-too-far", "add_ writes one element too far.", "add_", spills(after)),
    Mutant("copy_.one-too-far-stepped", "copy_ to a stepped tensor writes one element too far.", "copy_", spills(after),
           STEPPED),
    Mutant("fill_.one-before", "fill_ of a slice writes one element before it.", "fill_ zero_", spills(before), OFFSET,
           like="numpy/numpy#8264"),
    Mutant("mul_.one-too-far-bytes", "mul_ of elements of one byte writes one too far.", "mul_", spills(after),
           itemsize(1)),
    Mutant("fill_.fills-gaps", "fill_ writes the gaps of a sliced tensor.", "fill_", spills(gaps), GAPS,
           like="pytorch/pytorch#31895"),
    Mutant("zero_.whole-storage", "zero_ of a view clears its whole storage.", "zero_", _whole_storage, VIEW),
    Mutant("copy_.fills-gaps", "copy_ to a sliced tensor writes the memory in one piece.", "copy_", spills(gaps), GAPS,
           like="pytorch/pytorch#31895"),
    Mutant("relu_.whole-span", "relu_ of what is not row-major goes over the memory between too.", "relu_",
           spills(gaps), STRIDED),
    Mutant("setitem.no-step", "Assignment to a stepped slice writes every element.", "__setitem__",
           indexed(lambda i: slice(i.start, i.stop) if isinstance(i, slice) else i), STEPS & NUMBER),
    Mutant("setitem.one-too-far", "Assignment writes one element after the operand.", "__setitem__", spills(after)),
    # Too little.
    Mutant("add_.last-stepped", "add_ leaves out the last element of a stepped tensor.", "add_", skips(last), STEPPED),
    Mutant("sub_.last-permuted", "sub_ leaves out the last element of a permuted tensor.", "sub_", skips(last),
           PERMUTED),
    Mutant("mul_.above-64", "mul_ goes over 64 elements at most.", "mul_", skips(beyond(64)), MANY),
    Mutant("add_.above-64", "add_ goes over 64 elements of what is not row-major.", "add_", skips(beyond(64)),
           MANY & STRIDED),
    Mutant("copy_.last-of-five-dims", "copy_ leaves out the last element in five dimensions.", "copy_", skips(last),
           rank(5)),
    Mutant("relu_.last-half", "relu_ leaves out the last element of float16 and bfloat16.", "relu_", skips(last),
           dtype("float16", "bfloat16")),
    Mutant("fill_.last-complex", "fill_ leaves out the last complex number.", "fill_", skips(last),
           dtype("complex64", "complex128")),
    Mutant("setitem.last", "Assignment through a negative index leaves out the last element.", "__setitem__",
           indexed(lambda i: i - 1 if type(i) is int and i < -1 else i), FROM_END),
    # To or from the wrong place.
    Mutant("add_.no-offset", "add_ to a slice writes at the storage's beginning.", "add_", writes(offset=nowhere),
           OFFSET),
    Mutant("zero_.no-offset", "zero_ of a slice clears the storage's beginning.", "zero_", writes(offset=nowhere),
           OFFSET),
    Mutant("mul_.row-major", "mul_ of what is not row-major goes over memory in order.", "mul_", writes(strides=packed),
           STRIDED & NUMBER),
    Mutant("setitem.no-offset", "Assignment to a slice counts from the storage's beginning.", "__setitem__",
           writes(offset=nowhere), OFFSET),
    Mutant("copy_.others-offset", "copy_ reads its source from the storage's beginning.", "copy_",
           reads_other(offset=nowhere), OTHER_OFFSET, like="numpy/numpy#13036"),
    Mutant("copy_.others-strides", "copy_ reads its source as if it were row-major.", "copy_",
           reads_other(strides=packed), OTHER_STRIDED, like="pytorch/pytorch#484"),
    Mutant("add_.others-strides", "add_ reads a permuted operand as if it were row-major.", "add_",
           reads_other(strides=packed), OTHER_STRIDED, like="IntelPython/dpctl#1171"),
    Mutant("mul_.others-expanded", "mul_ reads an expanded operand as if it were whole.", "mul_ sub_",
           reads_other(strides=packed), OTHER_EXPANDED),
    Mutant("setitem.others-strides", "Assignment reads what it is given as if it were row-major.", "__setitem__",
           reads_other(strides=packed), OTHER_STRIDED, like="pytorch/pytorch#99638"),
    Mutant("sub_.lost", "sub_ of what is not row-major is done in a copy and lost.", "sub_", _in_a_copy, STRIDED,
           like="deepspeedai/DeepSpeed#2489"),
    Mutant("relu_.elsewhere", "relu_ answers a new tensor and leaves its operand.", "relu_", _elsewhere),
    Mutant("fill_.lost-through-views", "fill_ of a view of a view is lost.", "fill_", _in_a_copy, VIEW & STRIDED,
           like="pytorch/pytorch#97083"),
    # Accepted or refused.
    Mutant("add_.accepts-overlap", "add_ accepts an operand that it partly overlaps.", ARITHMETIC,
           accepts(lambda c: c.given([c.do("clone", a) if a is not c.x and c.adapter.is_tensor(a) else a
                                      for a in c.args])), SAME_STORAGE, like="pytorch/pytorch#23812"),
    Mutant("copy_.accepts-overlap", "copy_ accepts a source that it partly overlaps.", "copy_", accepts(itself),
           SAME_STORAGE, like="pytorch/pytorch#906"),
    Mutant("add_.accepts-expanded", "add_ accepts an expanded tensor.", ARITHMETIC, accepts(itself), EXPANDED,
           like="numpy/numpy#2705"),
    Mutant("fill_.accepts-expanded", "fill_ accepts an expanded tensor and fills it.", "fill_ zero_ relu_",
           accepts(itself), EXPANDED, like="IntelPython/dpctl#1765"),
    Mutant("setitem.accepts-expanded", "Assignment accepts an expanded tensor.", "__setitem__", accepts(lambda c: None),
           EXPANDED, like="IntelPython/dpctl#1765"),
    Mutant("add_.refuses-same", "add_ refuses itself as its operand.", ARITHMETIC, refuses("overlap"),
           TWICE, like="tinygrad/tinygrad#9210"),
    Mutant("copy_.refuses-disjoint", "copy_ refuses a source in the same storage.", "copy_", refuses("overlap"),
           SAME_STORAGE),
    Mutant("mul_.converts-down", "mul_ accepts a result that its dtype cannot hold.", ARITHMETIC, accepts(itself),
           MIXED),
    Mutant("add_.refuses-empty", "add_ to a tensor without elements is refused.", f"{ARITHMETIC} {FILLING}",
           refuses("size"), EMPTY),
    Mutant("copy_.broadcasts-back", "copy_ accepts a source of more dimensions.", "copy_", accepts(itself), OTHERS),
    Mutant("add_.value-error", "add_ raises ValueError where it should raise RuntimeError.", ALL,
           raises_as(ValueError)),
    # What a refused call leaves behind, and what is recorded.
    Mutant("copy_.refused-clears", "copy_ that is refused has cleared the tensor.", "copy_", leaves(cleared)),
    Mutant("add_.refused-writes", "add_ that is refused has written.", ARITHMETIC, leaves(cleared)),
    Mutant("add_.refused-counts", "add_ that is refused has counted a version.", ARITHMETIC, leaves(counted)),
    Mutant("setitem.refused-clears", "Assignment that is refused has cleared the tensor.", "__setitem__",
           leaves(cleared)),
    Mutant("add_.no-version", "add_ counts no version.", "add_", counts(0), like="PaddlePaddle/Paddle#59422"),
    Mutant("copy_.two-versions", "copy_ counts two versions.", "copy_", counts(2)),
    Mutant("zero_.no-version-empty", "zero_ of a tensor without elements counts no version.", FILLING, counts(0),
           EMPTY),
    Mutant("setitem.no-version", "Assignment counts no version.", "__setitem__", counts(0)),
    Mutant("relu_.no-version-view", "relu_ of a view counts no version.", UNARY, counts(0), VIEW),
    Mutant("mul_.another-object", "mul_ answers a new tensor over the same memory.", "mul_", another_object),
)  # fmt: skip
