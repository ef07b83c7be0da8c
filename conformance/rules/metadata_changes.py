"""Metadata changes: operations that give a tensor another shape, other strides or another storage in place."""

from __future__ import annotations

from ..classify import NOTHING, Event
from ..layout import numel, strides
from ._define import GEOMETRY, RAISING, Family

family = Family("metadata-changes")
rule = family.rule

VIEWING = "as_strided_ squeeze_ unsqueeze_ transpose_ swapaxes_ swapdims_ t_ detach_"
RESIZING = "resize_ resize_as_"
CHANGING = f"{VIEWING} {RESIZING} set_"


def _changed(e: Event) -> bool:
    return e.raised is None and e.x is not NOTHING and e.same


@rule("metadata.same-object", "A change in place answers with the tensor itself.", "6.5", CHANGING, "sharing raises")
def _(e: Event) -> bool:
    return _changed(e)


@rule(
    "metadata.layout",
    "A change in place gives the layout that the view of the same name has.",
    "6.5",
    CHANGING,
    f"{GEOMETRY} contiguity values",
)
def _(e: Event) -> bool:
    return _changed(e)


@rule(
    "metadata.others-stay",
    "A change in place leaves other tensors over the same memory as they are.",
    "6.5",
    CHANGING,
    f"{GEOMETRY} contiguity",
)
def _(e: Event) -> bool:
    return _changed(e) and any(k != e.x_key and s.storage == e.x.storage for k, s in e.before.items())


@rule(
    "metadata.bytes-stay",
    "A change of layout in place writes no byte.",
    "6.5",
    f"{VIEWING} set_",
    "storage values",
)
def _(e: Event) -> bool:
    return _changed(e)


@rule("metadata.version", "A change of layout in place counts as a write.", "5.3", CHANGING, "flags")
def _(e: Event) -> bool:
    return _changed(e)


@rule(
    "resize.same-size", "resize_ to the size that a tensor has keeps its strides.", "6.1", RESIZING, f"{GEOMETRY} flags"
)
def _(e: Event) -> bool:
    return _changed(e) and e.before[e.x_key].shape == e.y.shape


@rule("resize.row-major", "resize_ to another size gives row-major strides at the same offset.", "6.1", RESIZING)
def _(e: Event) -> bool:
    return _changed(e) and e.before[e.x_key].shape != e.y.shape


@rule(
    "resize.grows",
    "resize_ grows the storage where the new size needs it; the bytes that were there stay.",
    "6.1",
    RESIZING,
    "storage sharing",
)
def _(e: Event) -> bool:
    return _changed(e) and bool(e.observation.storages)


@rule(
    "resize.bytes-stay",
    "resize_ writes no byte that was there.",
    "6.1",
    RESIZING,
    "storage values",
)
def _(e: Event) -> bool:
    return _changed(e)


@rule("resize.never-shrinks", "resize_ to fewer elements leaves the storage as it is.", "6.1", RESIZING, "storage")
def _(e: Event) -> bool:
    return _changed(e) and numel(e.y) < numel(e.before[e.x_key])


@rule("resize.format", "resize_ with a memory format gives the strides of that format.", "6.1", RESIZING)
def _(e: Event) -> bool:
    return _changed(e) and e.argument("memory_format") is not None


@rule(
    "set.adopts",
    "set_ takes over storage, sizes, strides and offset of another tensor, or those given.",
    "6.3",
    "set_",
    f"{GEOMETRY} sharing flags",
)
def _(e: Event) -> bool:
    return _changed(e)


@rule(
    "set.empty",
    "set_ without a source gives an empty tensor over a storage of its own.",
    "6.3",
    "set_",
    "shape layout sharing storage",
)
def _(e: Event) -> bool:
    return _changed(e) and len(e.step.args) == 1


@rule("set.grows", "set_ with sizes that reach past the storage grows it.", "6.4", "set_", "storage")
def _(e: Event) -> bool:
    return _changed(e) and bool(e.observation.storages)


@rule(
    "errors.resize",
    "Growing a storage that cannot be resized is refused.",
    "6.1",
    f"{RESIZING} set_",
    RAISING,
)
def _(e: Event) -> bool:
    return e.kind == "resize"


@rule(
    "errors.change",
    "A change that the layout does not allow is refused, as the view of the same name is.",
    "6.5",
    CHANGING,
    RAISING,
)
def _(e: Event) -> bool:
    return e.raised is not None


@rule(
    "metadata.stride-order",
    "Changes in place permute or insert strides as the views do.",
    "6.5",
    "transpose_ swapaxes_ t_ unsqueeze_ squeeze_",
    "strides layout",
)
def _(e: Event) -> bool:
    return _changed(e) and strides(e.y) != strides(e.before[e.x_key])


@rule(
    "resize-as.other-size",
    "resize_as_ takes the other tensor's sizes, row-major, and nothing of its strides.",
    "6.2.1",
    "resize_as_",
    GEOMETRY,
)
def _(e: Event) -> bool:
    return _changed(e) and e.x.shape != e.y.shape


RULES = family.rules
