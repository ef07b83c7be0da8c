"""Memory formats of copies and results: clone, to, and the output strides of elementwise operations."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_dense, is_expanded, numel, strides
from ._define import CONVERTING, ELEMENTWISE, GEOMETRY, Family, asked_format, is_channels_last, succeeded

family = Family("memory-format")
rule = family.rule
COPY = f"{GEOMETRY} sharing storage values flags"


@rule(
    "clone.fresh",
    "clone() is a copy at offset 0 of memory that holds its elements and no more.",
    "4.1.5",
    "clone",
    "sharing storage values flags layout shape",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "clone.preserves-dense",
    "clone() keeps the strides of a tensor that is dense, whatever their order.",
    "4.1.4",
    "clone",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "preserve_format" and is_dense(e.x)


@rule(
    "clone.packs",
    "clone() of a tensor with gaps or overlap is dense, its dimensions in the order of their strides.",
    "4.1.4",
    "clone",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "preserve_format" and not is_dense(e.x)


@rule(
    "clone.expanded",
    "clone() of an expanded tensor has no stride 0 left in dimensions longer than 1.",
    "4.1.4",
    "clone",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "preserve_format" and is_expanded(e.x)


@rule("clone.row-major", "clone(contiguous_format) is row-major.", "4.1.5", "clone", f"{GEOMETRY} contiguity")
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "contiguous_format"


@rule(
    "clone.channels-last",
    "clone(channels_last) has strides computed afresh, also where sizes are 1 or 0.",
    "4.1.5",
    "clone",
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e).startswith("channels_last")


@rule(
    "clone.keeps-size-one",
    "clone() of a dense tensor keeps also the strides of dimensions of size 1.",
    "4.1.4",
    "clone",
    "layout",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "preserve_format" and is_dense(e.x) and 1 in e.x.shape


@rule(
    "clone.empty",
    "clone() of a tensor without elements keeps its strides.",
    "4.1.4",
    "clone",
    "layout storage",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "preserve_format" and numel(e.x) == 0


@rule(
    "to.same-object",
    "to() with nothing to change is the tensor itself.",
    "4.1.6",
    CONVERTING,
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "to.suggested",
    "to(memory_format) decides by the format that the strides suggest, not by contiguity.",
    "4.1.6",
    CONVERTING,
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    wanted = "T" if asked_format(e) == "contiguous_format" else "F"
    return e.same and asked_format(e) != "preserve_format" and e.x.contiguity[0] != wanted


@rule(
    "to.preserves",
    "to() that copies keeps a dense tensor's strides and packs any other.",
    "4.1.6",
    CONVERTING,
    COPY,
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) == "preserve_format"


@rule("to.copy", "to(copy=True) copies always.", "4.1.7", "to", COPY)
def _(e: Event) -> bool:
    return e.copied and e.argument("copy") is True


@rule(
    "to.format",
    "to(memory_format) that copies lays the result out in that format.",
    "4.1.6",
    CONVERTING,
    f"{COPY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e) != "preserve_format"


@rule(
    "to.dtype",
    "to(dtype) converts into fresh memory and keeps the layout that clone would.",
    "4.1.6",
    CONVERTING,
    COPY,
)
def _(e: Event) -> bool:
    return e.copied and e.y.dtype != e.x.dtype


# Elementwise results.


def _operands_alike(e: Event) -> bool:
    return all(o.shape == e.y.shape and o.dtype == e.x.dtype for o in (e.x, *e.others))


@rule(
    "elementwise.fresh",
    "An elementwise result lies in fresh memory that holds its elements and no more.",
    "4.3",
    ELEMENTWISE,
    "sharing storage flags shape",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "elementwise.values",
    "Each element is computed from the elements at its index, whatever the operands' strides.",
    "4.3",
    ELEMENTWISE,
    "values",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "elementwise.contiguous",
    "Contiguous operands of the result's shape give a row-major result.",
    "4.3.2",
    ELEMENTWISE,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied and _operands_alike(e) and all(o.contiguity[0] == "T" for o in (e.x, *e.others))


@rule(
    "elementwise.channels-last",
    "channels_last operands of the result's shape give a channels_last result.",
    "4.3.2",
    ELEMENTWISE,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return e.copied and _operands_alike(e) and all(is_channels_last(o) for o in (e.x, *e.others))


@rule(
    "elementwise.same-strides",
    "Dense operands with equal strides give a result with those strides.",
    "4.3.2",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    return e.copied and _operands_alike(e) and is_dense(e.x) and all(o.strides == e.x.strides for o in e.others)


@rule(
    "elementwise.first-wins",
    "Where layouts differ, the first operand decides the order of dimensions.",
    "4.3.4",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    return e.copied and _operands_alike(e) and any(o.strides != e.x.strides for o in e.others)


@rule(
    "elementwise.gaps",
    "An operand with gaps gives a dense result in the order of its strides.",
    "4.3.3",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    return e.copied and not is_dense(e.x)


@rule(
    "elementwise.broadcast",
    "Broadcast dimensions count as stride 0 and have no say in the order.",
    "4.3.3",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    return e.copied and any(o.shape != e.y.shape for o in (e.x, *e.others))


@rule(
    "elementwise.scalar-operand",
    "A number or a 0-dim tensor has no influence on the layout.",
    "4.3.1",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    number = not e.others and len(e.step.args) > 1
    return e.copied and (number or any(o.shape == () for o in e.others))


@rule(
    "elementwise.mixed-dtypes",
    "An operand of another dtype is first converted as to() would, and that layout counts.",
    "4.3.1",
    ELEMENTWISE,
)
def _(e: Event) -> bool:
    return e.copied and any(o.dtype != e.x.dtype for o in e.others)


@rule(
    "elementwise.ties",
    "Among equal strides the longer dimension goes outside.",
    "4.3.5",
    ELEMENTWISE,
    "layout strides",
)
def _(e: Event) -> bool:
    nonzero = [s for s in strides(e.x) if s]
    return e.copied and len(set(nonzero)) < len(nonzero)


@rule(
    "elementwise.empty",
    "A result without elements has the layout that the same rules give.",
    "4.3.2",
    ELEMENTWISE,
    "layout storage shape",
)
def _(e: Event) -> bool:
    return succeeded(e) and e.copied and numel(e.y) == 0


@rule(
    "channels-last.no-channels",
    "channels_last strides of sizes 0 are raw products, so that they are 0 left of one.",
    "4.1.12",
    "clone contiguous to empty_like zeros_like ones_like full_like",
    "layout shape",
)
def _(e: Event) -> bool:
    return e.copied and asked_format(e).startswith("channels_last") and numel(e.y) == 0


RULES = family.rules
