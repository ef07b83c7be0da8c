"""Bits and codes that are wrong: conjugate and negative bits, complex numbers as pairs, quantised tensors."""

from __future__ import annotations

from ...layout import strides
from ...situations import GAPS, OFFSET, PERMUTED, STRIDED, Situation, dtype, on_operand, rank_over
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    alias_of,
    copied,
    counts,
    itself,
    nowhere,
    operands_offset,
    packed,
    reads,
    relaid,
    repacked,
)

COMPLEX = dtype("complex64", "complex128", "complex32")
CONJUGATE = on_operand("conjugate bit", lambda x: "c" in (x.flags or ""))
NEGATIVE = on_operand("negative bit", lambda x: "n" in (x.flags or ""))
QUANTISED = on_operand("quantised", lambda x: x.quantizer is not None or x.dtype.startswith("q"))
EVEN = on_operand("last stride not 1", lambda x: bool(x.shape) and strides(x)[-1] != 1)


def _pair_strides(call: Call, y: object) -> tuple[int, ...]:
    """Strides of a complex tensor, as if its numbers were not two each."""
    return (*call.before.strides, 1)


MUTANTS = (
    Mutant("conj.copies", "conj computes the conjugate.", "conj", lambda c: c.do("conj_physical", c.x), COMPLEX),
    Mutant("conj.itself", "conj twice keeps the bit.", "conj", itself, CONJUGATE),
    Mutant("conj.no-offset", "conj of a slice starts at the storage's beginning.", "conj", relaid(offset=nowhere),
           OFFSET),
    Mutant("conj.counts", "conj counts a version.", "conj _neg_view", counts(1)),
    Mutant("resolve_conj.itself", "resolve_conj answers the tensor with its bit.", "resolve_conj", itself, CONJUGATE),
    Mutant("resolve_conj.copies", "resolve_conj copies where there is no bit.", "resolve_conj resolve_neg", copied,
           ~CONJUGATE & ~NEGATIVE),
    Mutant("resolve_conj.row-major", "resolve_conj of permuted dimensions is row-major.", "resolve_conj",
           repacked(packed), CONJUGATE & PERMUTED),
    Mutant("is_conj.never", "is_conj says no.", "is_conj", lambda c: False, CONJUGATE),
    Mutant("mH.no-conjugate", "mH transposes only.", "mH H adjoint", lambda c: c.do("transpose", c.x, -2, -1),
           COMPLEX & rank_over(1)),
    Mutant("real.offset", "real of a slice keeps the offset in complex numbers.", "real",
           relaid(offset=operands_offset), OFFSET & COMPLEX),
    Mutant("real.copies", "real copies.", "real imag", copied, COMPLEX),
    Mutant("imag.is-real", "imag begins where real does.", "imag",
           relaid(offset=lambda c, y: c.before.offset * 2), COMPLEX),
    Mutant("imag.sign", "imag of a conjugate forgets the sign.", "imag", lambda c: c.do("imag", c.do("conj", c.x)),
           CONJUGATE),
    Mutant("view_as_real.strides", "view_as_real keeps strides in complex numbers.", "view_as_real",
           relaid(strides=_pair_strides), like="pytorch/pytorch#82610"),
    Mutant("view_as_real.offset", "view_as_real keeps the offset in complex numbers.", "view_as_real",
           relaid(offset=operands_offset), OFFSET),
    Mutant("view_as_complex.unaligned", "view_as_complex accepts a last stride that is not 1.", "view_as_complex",
           accepts(lambda c: alias_of(c, c.x)), EVEN),
    Mutant("view_as_complex.offset", "view_as_complex keeps the offset in real numbers.", "view_as_complex",
           relaid(offset=operands_offset), OFFSET),
    Mutant("neg_view.copies", "The negative view computes.", "_neg_view", lambda c: c.do("neg", c.x)),
    # Quantised.
    Mutant("int_repr.memory-order", "int_repr takes codes in the order of memory.", "int_repr", reads(strides=packed),
           STRIDED, like="pytorch/pytorch#75009"),
    Mutant("int_repr.shares", "int_repr is laid out as its operand, gaps too.", "int_repr",
           repacked(lambda c, y: c.before.strides), GAPS),
    Mutant("dequantize.row-major", "dequantize of permuted dimensions is row-major.", "dequantize", repacked(packed),
           PERMUTED, like="pytorch/executorch#16429"),
    Mutant("dequantize.no-offset", "dequantize of a slice reads from the storage's beginning.", "dequantize",
           reads(offset=nowhere), OFFSET),
    Mutant("quantize.row-major", "Quantising permuted dimensions gives row-major ones.",
           "quantize_per_tensor quantize_per_channel", repacked(packed), PERMUTED),
    Mutant("quantize.memory-order", "Quantising takes elements in the order of memory.",
           "quantize_per_tensor quantize_per_channel", reads(strides=packed), STRIDED,
           like="bitsandbytes-foundation/bitsandbytes#1995"),
    Mutant("quantize.axis", "Quantising per channel takes the first axis.", "quantize_per_channel",
           lambda c: c.with_arguments(axis=0),
           Situation("another axis", lambda e: e.argument("axis") not in (0, None))),
    Mutant("q_zero_point.sign", "q_zero_point is told negated.", "q_zero_point", lambda c: -c.right(), QUANTISED),
    Mutant("quantized.clone-row-major", "clone of a permuted quantised tensor is row-major.", "clone",
           repacked(packed), QUANTISED & PERMUTED),
)  # fmt: skip
