"""Copies by other names: new tensors, copies of views, scatters into copies, repeats and turns."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..layout import is_dense, is_expanded, numel, strides
from ..operations import group
from ..program import DType
from ._define import GEOMETRY, RAISING, Family, asked_format, is_channels_last, succeeded

family = Family("copies")
rule = family.rule

LIKE = group("like factories")
NEW = group("new factories")
PLAIN = f"{group('plain factories')} empty"
COPYING = group("view copies")
SCATTERING = group("view scatters")
REARRANGING = group("rearrangements")


def _made(e: Event) -> bool:
    return e.raised is None and e.y is not NOTHING


# New tensors.


@rule(
    "new.fresh",
    "A new tensor lies at offset 0 of memory of its own, just large enough.",
    "1.12",
    f"{LIKE} {NEW} {PLAIN}",
    "sharing storage flags layout",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "new.filled",
    "A new tensor holds what it is filled with; what an empty one holds is not specified.",
    "4.1.8",
    f"{LIKE} {NEW} {PLAIN}",
    "values",
)
def _(e: Event) -> bool:
    return e.copied


@rule("new.shape", "A new tensor has the sizes and the dtype that are asked for.", "1.12", f"{NEW} {PLAIN}", "shape")
def _(e: Event) -> bool:
    return _made(e)


@rule("new.row-major", "A new tensor of given sizes is row-major.", "4.1.9", f"{NEW} {PLAIN}", f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return _made(e) and e.entry not in ("new_empty_strided", "empty_strided", "empty_permuted")


@rule(
    "new.not-like",
    "new_* makes row-major tensors also of tensors in another order.",
    "4.1.9",
    NEW,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return _made(e) and e.entry != "new_empty_strided" and e.x.contiguity[0] == "F"


@rule(
    "new.strided",
    "empty_strided has the strides that are given, in memory that reaches to the last element.",
    "1.13",
    "new_empty_strided empty_strided",
    f"{GEOMETRY} storage contiguity",
)
def _(e: Event) -> bool:
    return _made(e)


@rule(
    "new.permuted",
    "empty_permuted is dense, its dimensions in the order given, from outermost to innermost.",
    "1.14",
    "empty_permuted",
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return _made(e)


@rule("new.empty", "A new tensor of size 0 takes no memory.", "1.10", f"{LIKE} {NEW} {PLAIN}", "storage shape")
def _(e: Event) -> bool:
    return _made(e) and numel(e.y) == 0


@rule("errors.new-size", "Negative sizes and strides are refused.", "1.20", f"{NEW} {PLAIN}", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


# New tensors like another.


@rule("like.preserves-dense", "*_like keeps the strides of a dense tensor.", "4.1.8", LIKE, f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return _made(e) and asked_format(e) == "preserve_format" and is_dense(e.x)


@rule("like.packs", "*_like of a tensor with gaps or overlap is dense, in the order of its strides.", "4.1.8", LIKE)
def _(e: Event) -> bool:
    return _made(e) and asked_format(e) == "preserve_format" and not is_dense(e.x)


@rule("like.expanded", "*_like of an expanded tensor has no stride 0 left.", "4.1.8", LIKE, f"{GEOMETRY} storage")
def _(e: Event) -> bool:
    return _made(e) and asked_format(e) == "preserve_format" and is_expanded(e.x)


@rule("like.row-major", "*_like(contiguous_format) is row-major.", "4.1.8", LIKE, f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return _made(e) and asked_format(e) == "contiguous_format"


@rule("like.channels-last", "*_like(channels_last) is in that format.", "4.1.8", LIKE, f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return _made(e) and asked_format(e).startswith("channels_last")


@rule("like.dtype", "Another dtype does not change the strides of *_like.", "4.1.8", LIKE, f"{GEOMETRY} storage")
def _(e: Event) -> bool:
    return _made(e) and isinstance(e.argument("dtype"), DType)


@rule("like.offset", "*_like of a slice starts at offset 0.", "4.1.8", LIKE, "layout storage")
def _(e: Event) -> bool:
    return _made(e) and bool(e.x.offset)


# Copies of views.


@rule(
    "copy.row-major",
    "The copying twin of a view answers row-major.",
    "3.13.2",
    COPYING,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied


@rule("copy.fresh", "The copying twin of a view shares nothing with its operand.", "3.13.2", COPYING, "sharing storage")
def _(e: Event) -> bool:
    return e.copied


@rule("copy.values", "A copy of a view holds the elements that the view would show.", "3.13.2", COPYING, "values")
def _(e: Event) -> bool:
    return e.copied


@rule("copy.no-view", "A copy of a view is recorded as no view, at version 0.", "3.13.2", COPYING, "flags")
def _(e: Event) -> bool:
    return e.copied


@rule(
    "copy.split",
    "Copies of splits are as many tensors, each in memory of its own.",
    "3.13.2",
    "split_copy unbind_copy",
    f"{GEOMETRY} sharing storage flags values contiguity",
)
def _(e: Event) -> bool:
    return e.raised is None


# Scatters into copies.


@rule(
    "view-scatter.copy",
    "A scatter into a view copies the tensor's whole storage first, and leaves the tensor as it was.",
    "3.14",
    SCATTERING,
    "sharing storage flags",
)
def _(e: Event) -> bool:
    return e.copied


@rule("view-scatter.layout", "A scatter into a view keeps the tensor's strides and offset.", "3.14", SCATTERING)
def _(e: Event) -> bool:
    return e.copied


@rule("view-scatter.values", "The source stands where the view would be, all else as before.", "3.14", SCATTERING,
      "values")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("view-scatter.gaps", "The copy of a tensor with gaps has the same gaps.", "3.14", SCATTERING, "strides layout")
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule("errors.view-scatter", "A source of another shape than the view is refused.", "3.14", SCATTERING, RAISING)
def _(e: Event) -> bool:
    return e.raised is not None


# What is no view though NumPy's is.


@rule(
    "rearranged.fresh",
    "Repeats, turns, rolls, triangles and diagonals are copies, never views.",
    "3.14",
    REARRANGING,
    "sharing storage flags",
)
def _(e: Event) -> bool:
    return e.copied


@rule("rearranged.layout", "The layout of a rearranged copy follows from its operand's.", "4.4", REARRANGING)
def _(e: Event) -> bool:
    return e.copied


@rule("rearranged.values", "A rearranged copy holds the operand's elements in their new places.", "4.4", REARRANGING,
      "values")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule(
    "repeat.row-major",
    "Repeats and tiles are row-major, whatever their operand's layout.",
    "4.4",
    "repeat tile repeat_interleave",
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied


@rule("repeat.from-other-order", "Repeating a tensor in another order gives a row-major one.", "4.4",
      "repeat tile repeat_interleave", "strides contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and e.x.contiguity[0] == "F"


@rule("triangle.row-major", "A triangle is copied row-major.", "4.4", "tril triu", f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return e.copied


@rule("diagonal.copied", "diag() of a matrix copies its diagonal, of a vector makes a matrix.", "3.8.2",
      "diag diag_embed diagflat", f"{GEOMETRY} contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied


@rule("turned.strides", "A turned copy has the strides of the view that would have turned it.", "3.14", "rot90",
      "strides layout")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and strides(e.y) != () and e.y.contiguity[0] == "F"


@rule("flip.packs", "Flipping a tensor with gaps gives a dense one.", "4.4", "flip fliplr flipud rot90")
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule("rearranged.empty", "Rearranging nothing gives nothing, in the layout of the same rule.", "4.4", REARRANGING,
      "shape storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and numel(e.y) == 0


@rule("rearranged.channels-last", "Rolls, flips and turns of channels_last tensors answer in a format by their own rule.",
      "4.4", "flip fliplr flipud roll rot90", "strides contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.copied and is_channels_last(e.x) and numel(e.x) > 1


# The tensor itself, or a copy.


@rule(
    "positive.same-object", "+x is the tensor itself.", "3.3.5", "positive", f"{GEOMETRY} sharing storage flags values"
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "sum-to-size.same-object",
    "sum_to_size of the tensor's own size is the tensor itself.",
    "3.3.5",
    "sum_to_size",
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule("sum-to-size.sums", "sum_to_size of smaller sizes sums into a fresh row-major tensor.", "3.3.5", "sum_to_size",
      f"{GEOMETRY} sharing storage flags values contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return succeeded(e) and not e.same


@rule("dropout.off", "Dropout that is off answers with the tensor itself.", "4.3.10", "nn.functional.dropout",
      f"{GEOMETRY} sharing storage flags values")  # fmt: skip
def _(e: Event) -> bool:
    return e.same


RULES = family.rules
