"""Copies of objects: copied, pickled, saved and loaded again, alone and with what shares their memory."""

from __future__ import annotations

from ..classify import Event
from ..layout import numel
from ..observation import StorageObject
from ._define import ANSWERS, RAISING, Family

family = Family("serialisation")
rule, succeeds, refused = family.rule, family.succeeds, family.refused

SAVED = "save_load pickle"
COPIED = f"{SAVED} copy.deepcopy"
ALL = f"{COPIED} copy.copy"

succeeds("copied.leave", "Copying, pickling and saving changes nothing that there was.", "7.9", ALL, ANSWERS)


@rule("saved.geometry", "What is loaded lies in its storage as what was saved did: sizes, strides, offset.", "7.9.1",
      SAVED, "shape strides layout contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None


@rule("saved.whole-storage", "A slice is saved with its whole storage.", "7.9.1", SAVED, "storage sharing values")
def _(e: Event) -> bool:
    return e.raised is None and (e.y.storage is None or e.x.storage is not None)


@rule("saved.together", "Tensors saved in one call share memory as they did.", "7.9.1", "save_load",
      "sharing storage layout")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and any(o.storage == e.x.storage for o in e.others)


@rule("saved.other-dtype", "One storage under two dtypes is not saved in one call.", "7.9.2", "save_load", RAISING)
def _(e: Event) -> bool:
    return e.raised is not None and any(o.storage == e.x.storage and o.dtype != e.x.dtype for o in e.others)


@rule("saved.flags", "What is loaded is a leaf that requires grad as what was saved did; its version starts anew.",
      "7.9.3", SAVED, "flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and e.x.storage is not None


refused("saved.refused", "What cannot be read again is not saved.", "7.9.4", f"{SAVED} load")


@rule("pickled.apart", "Tensors pickled together each have the whole of their storage for themselves.", "7.9.8",
      "pickle", "sharing storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and bool(e.others)


@rule("deepcopy.whole-storage", "A deep copy of a view is the same view of a copy of its whole storage.", "7.9.9",
      "copy.deepcopy", "sharing storage layout strides shape values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and numel(e.x) > 0


@rule("deepcopy.together", "What is copied in one call shares memory as it did.", "7.9.9", "copy.deepcopy",
      "sharing storage layout")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and any(o.storage == e.x.storage for o in e.others)


refused("deepcopy.refused", "What has a history of gradients is not copied deeply.", "7.9.9", "copy.deepcopy")


@rule("copy.shares", "copy.copy of a tensor is another object over the same memory.", "7.9.10", "copy.copy",
      "sharing shape strides layout flags")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and e.x.storage is not None


@rule("copied.storage", "Every copy of a storage has memory of its own.", "7.2", ALL, "shape sharing storage flags")
def _(e: Event) -> bool:
    return e.raised is None and isinstance(e.operand, StorageObject)


RULES = family.rules
