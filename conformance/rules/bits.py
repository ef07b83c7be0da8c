"""Conjugate and negative bits: views that are read as something else than their bytes, and what resolves them."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..observation import TensorState
from ._define import ANSWERS, GEOMETRY, RAISING, VIEWS, WRITING, Family, succeeded, viewed

family = Family("conj-neg")
rule, succeeds, refused = family.rule, family.succeeds, family.refused

RESOLVING = "resolve_conj resolve_neg"
PARTS = "real imag view_as_real view_as_complex"
ADJOINTS = "mH H adjoint"
EXPORTS = "numpy __array__ numpy.asarray view.dtype view_as_real __dlpack__"


def _bits(state: TensorState) -> set[str]:
    """The bits that are set: c conjugate, n negative."""
    return set(state.flags or "") & {"c", "n"}


succeeds("bits.leave", "Setting, resolving or asking for a bit changes no byte and no other tensor.", "9.2",
         f"conj _neg_view is_conj is_neg conj_physical {RESOLVING} {PARTS} {ADJOINTS}", ANSWERS)  # fmt: skip


@rule("conj.view", "conj() of complex numbers is a view of the same memory with the bit turned.", "9.1", "conj",
      f"{GEOMETRY} sharing flags")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e)


@rule("conj.real", "conj() of real numbers is the tensor itself.", "9.1", "conj", "sharing")
def _(e: Event) -> bool:
    return e.same


succeeds("bits.asked", "is_conj() and is_neg() tell the bits.", "9.2", "is_conj is_neg", "values")


@rule("resolve.itself", "Where a bit is clear, resolving it answers the tensor itself.", "9.3", RESOLVING, "sharing")
def _(e: Event) -> bool:
    return e.same


@rule("resolve.copies", "Where a bit is set, resolving it copies, in order.", "9.3", RESOLVING,
      f"{GEOMETRY} sharing storage flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("bits.views-keep", "Views keep the bits of what they are views of.", "9.4", VIEWS, "flags values")
def _(e: Event) -> bool:
    return viewed(e) and bool(_bits(e.x))


@rule("bits.contiguous", "contiguous() of what is contiguous keeps the bits; a copy has none.", "9.5",
      "contiguous clone to", "flags sharing values")  # fmt: skip
def _(e: Event) -> bool:
    return succeeded(e) and bool(_bits(e.x))


@rule("parts.views", "real and imag, and pairs of numbers seen as complex, are views.", "3.11", PARTS,
      f"{GEOMETRY} sharing")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e)


@rule("parts.of-conj", "imag of a conjugated tensor has the negative bit, real has none.", "9.6", "real imag", "flags")
def _(e: Event) -> bool:
    return viewed(e) and bool(_bits(e.x))


@rule("adjoint.view", "mH, H and adjoint() are transposed, and conjugated where that means something.", "9.6", ADJOINTS,
      f"{GEOMETRY} sharing flags")  # fmt: skip
def _(e: Event) -> bool:
    return succeeded(e)


@rule("bits.results", "What is computed has no bits.", "9.7", "*", "flags values")
def _(e: Event) -> bool:
    return e.copied and bool(_bits(e.x))


@rule("bits.written-through", "A write through a bit stores what reads as the value written.", "9.8",
      f"{WRITING} __setitem__", "storage flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and bool(_bits(e.x))


@rule("bits.refused", "What shows the bytes themselves is refused where a bit is set.", "9.9", EXPORTS, RAISING)
def _(e: Event) -> bool:
    return e.raised is not None and bool(_bits(e.x))


@rule("bits.saved", "Saving keeps bits, a deep copy resolves them.", "9.10", "save_load pickle copy.deepcopy",
      "flags values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and bool(_bits(e.x))


@rule("neg.view", "_neg_view is a view with the negative bit turned, of every dtype.", "9.11", "_neg_view",
      f"{GEOMETRY} sharing flags")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e)


@rule("conj.physical", "conj_physical() copies complex numbers, with no bits.", "9.12", "conj_physical",
      f"{GEOMETRY} sharing storage flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


refused("parts.refused", "Parts are taken of complex numbers, and pairs lie side by side, two to an even offset.",
        "3.11", PARTS)  # fmt: skip
refused("adjoint.refused", "Only matrices have an adjoint.", "9.6", ADJOINTS)


@rule("bits.not-contiguity", "Bits do not change strides, nor what counts as contiguous.", "9.12", "conj _neg_view",
      "strides contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e) and e.y is not NOTHING


RULES = family.rules
