"""Contiguity: when a tensor calls itself contiguous, and when `contiguous()` copies."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..layout import is_expanded, numel
from ..program import MemoryFormat
from ._define import GEOMETRY, Family, is_channels_last, succeeded

family = Family("contiguity")
rule = family.rule


def _answered(e: Event) -> bool:
    return e.y is not NOTHING


@rule(
    "contiguity.row-major",
    "A tensor is contiguous where each stride is the product of the sizes to its right.",
    "2.1",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and e.y.contiguity[0] == "T"


@rule(
    "contiguity.not",
    "Any other stride of a dimension longer than 1 makes it non-contiguous.",
    "2.1",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and e.y.contiguity[0] == "F"


@rule(
    "contiguity.size-one",
    "Strides of dimensions of size 1 do not matter to contiguity.",
    "2.1",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and 1 in e.y.shape and numel(e.y) > 1


@rule(
    "contiguity.empty",
    "A tensor without elements is contiguous whatever its strides.",
    "2.1",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and numel(e.y) == 0


@rule("contiguity.scalar", "A 0-dim tensor is contiguous.", "2.1", "*", "contiguity")
def _(e: Event) -> bool:
    return _answered(e) and e.y.shape == ()


@rule("contiguity.expanded", "An expanded tensor is not contiguous.", "2.1", "*", "contiguity")
def _(e: Event) -> bool:
    return _answered(e) and is_expanded(e.y)


@rule("contiguity.offset", "The storage offset does not matter to contiguity.", "2.1", "*", "contiguity")
def _(e: Event) -> bool:
    return _answered(e) and bool(e.y.offset) and e.y.contiguity[0] == "T"


@rule(
    "contiguity.channels-last",
    "A 4-d tensor is channels_last where C is innermost, then W, H, N.",
    "2.2",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and e.y.contiguity[1] == "T"


@rule(
    "contiguity.channels-last-3d",
    "A 5-d tensor is channels_last_3d where C is innermost, then W, H, D, N.",
    "2.3",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and e.y.contiguity[2] == "T"


@rule("contiguity.rank", "Tensors of another rank are never channels_last.", "2.2", "*", "contiguity")
def _(e: Event) -> bool:
    return _answered(e) and len(e.y.shape) not in (4, 5)


@rule(
    "contiguity.both",
    "A tensor with one channel, or of 1×1 pixels, is row-major and channels_last at once.",
    "2.6",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and e.y.contiguity[0] == "T" and is_channels_last(e.y)


@rule(
    "contiguity.channels-last-empty",
    "Having no elements does not make a tensor channels_last.",
    "2.2",
    "*",
    "contiguity",
)
def _(e: Event) -> bool:
    return _answered(e) and len(e.y.shape) in (4, 5) and numel(e.y) == 0


@rule(
    "contiguity.asked",
    "is_contiguous(memory_format) answers for the format asked; preserve_format means row-major.",
    "2.4",
    "is_contiguous",
    "values raises",
)
def _(e: Event) -> bool:
    return e.raised is None


@rule(
    "contiguous.same-object",
    "contiguous() of a contiguous tensor is the tensor itself.",
    "4.1.1",
    "contiguous",
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "contiguous.keeps-offset",
    "contiguous() of a contiguous slice keeps its offset and the whole storage.",
    "4.1.3",
    "contiguous",
    "layout sharing storage",
)
def _(e: Event) -> bool:
    return e.same and bool(e.x.offset)


@rule(
    "contiguous.copies",
    "contiguous() of any other tensor is a row-major copy in fresh memory of exactly its size.",
    "4.1.1",
    "contiguous",
    f"{GEOMETRY} sharing storage values flags",
)
def _(e: Event) -> bool:
    return e.copied and e.argument("memory_format") in (None, MemoryFormat("contiguous_format"))


@rule(
    "contiguous.channels-last",
    "contiguous(channels_last) copies into that format unless the tensor has it.",
    "4.1.1",
    "contiguous",
    f"{GEOMETRY} sharing storage values flags contiguity",
)
def _(e: Event) -> bool:
    asked = e.argument("memory_format")
    return succeeded(e) and isinstance(asked, MemoryFormat) and asked.name.startswith("channels_last")


@rule(
    "errors.contiguous-preserve",
    "contiguous(preserve_format) of a tensor that is not contiguous is refused.",
    "4.1.2",
    "contiguous",
    "raises error-kind",
)
def _(e: Event) -> bool:
    return e.raised is not None and e.argument("memory_format") == MemoryFormat("preserve_format")


RULES = family.rules
