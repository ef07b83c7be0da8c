"""Storages that count in elements: the deprecated class, and those named after a dtype."""

from __future__ import annotations

from ..classify import Event
from ..program import Slice
from ._define import LEGACY, RAISING, TYPED, Family
from .storages import CONVERSIONS, MADE

family = Family("storage-typed")
rule, succeeds, refused = family.rule, family.succeeds, family.refused

WRITES = "TypedStorage.__setitem__ TypedStorage.fill_ TypedStorage.copy_"
QUANTISED = "QUInt8Storage QInt8Storage QInt32Storage QUInt4x2Storage QUInt2x4Storage"


succeeds("typed.of-tensor", "storage() is a new object over the whole memory that a tensor lies in.", "7.3.3", "storage",
         MADE)  # fmt: skip


@rule("typed.whole-buffer", "The storage of a slice begins where the memory does, not where the slice does.", "7.3.4",
      "storage untyped_storage", "shape sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and bool(e.x.offset)


succeeds("typed.new", "TypedStorage(n) has n elements, of float32 where no dtype is given.", "7.4.2",
         f"TypedStorage {LEGACY}", MADE)  # fmt: skip


@rule("typed.wrapped", "TypedStorage(wrap_storage=s) lies in the memory of s, with as many whole elements as it has.",
      "7.4.2", f"TypedStorage {LEGACY}", MADE)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and e.argument("wrap_storage") is not None


refused("typed.new-refused", "Too much, a typed storage to wrap, and devices that are not there are refused.", "7.4.2",
        f"TypedStorage {LEGACY}")  # fmt: skip
succeeds("typed.legacy", "A class named after a dtype gives a typed storage of it.", "7.4.3", LEGACY, "shape flags")
succeeds("typed.quantised", "Storages of quantised dtypes hold codes, one to a byte also where four fit.", "7.4.13",
         f"{QUANTISED} BoolStorage", "shape storage")  # fmt: skip
succeeds("typed.sizes", "Typed storages count in elements, nbytes() in bytes.", "7.4.4",
         "TypedStorage.size TypedStorage.__len__ TypedStorage.nbytes TypedStorage.element_size", "values")  # fmt: skip
succeeds("typed.dtype", "A typed storage says its dtype, its type and the name that it is saved under.", "7.4.11",
         "TypedStorage.dtype TypedStorage.type TypedStorage.pickle_storage_type", "values")  # fmt: skip
succeeds("typed.asked", "Asking a typed storage changes nothing.", "7.4.12",
         "TypedStorage.dtype TypedStorage.pickle_storage_type",
         "shape sharing strides layout contiguity storage flags values")  # fmt: skip
refused("typed.unnamed", "A dtype without a class of its own has no name to be saved under.", "7.4.11",
        "TypedStorage.pickle_storage_type")  # fmt: skip
succeeds("typed.writes", "Writing a typed storage is seen in every tensor over it, and counts no version.", "7.4.12",
         f"{WRITES} TypedStorage.resize_ TypedStorage.share_memory_", "storage flags values sharing")  # fmt: skip


@rule("typed.slice-refused", "A slice of a typed storage is written, and not read.", "7.4.5",
      "TypedStorage.__getitem__", RAISING)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is not None and isinstance(e.argument("index"), Slice)


@rule("typed.slice-written", "Every element of a slice that is assigned to is written.", "7.4.5",
      "TypedStorage.__setitem__", "storage")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and isinstance(e.argument("index"), Slice)


refused("typed.index-refused", "Numbers outside and what is no index are refused.", "7.4.5",
        "TypedStorage.__getitem__ TypedStorage.__setitem__")  # fmt: skip
succeeds("typed.converts", "Conversions convert each element into memory of its own, also to the dtype that there is.",
         "7.4.6", " ".join([f"TypedStorage.{name}" for name in CONVERSIONS]), MADE)  # fmt: skip
succeeds("typed.shares", "cpu() and untyped() lie in the same memory.", "7.4.7", "TypedStorage.cpu TypedStorage.untyped",
         "sharing shape")  # fmt: skip
succeeds("typed.copy", "copy_ copies bytes, whatever the dtypes.", "7.4.8", "TypedStorage.copy_", "storage")
refused("typed.copy-refused", "copy_ needs as many bytes.", "7.4.8", "TypedStorage.copy_")
refused("typed.type-refused", "type() with another type is refused.", "7.4.9", "TypedStorage.type")
succeeds("typed.fill", "fill_ converts to the storage's dtype.", "7.4.10", "TypedStorage.fill_", "storage")
succeeds("typed.resize", "resize_(n) has n elements afterwards.", "7.4.10", "TypedStorage.resize_", "storage")
succeeds("typed.from-buffer", "Classes named after a dtype read a buffer as that.", "7.5.4",
         "FloatStorage.from_buffer ByteStorage.from_buffer ShortStorage.from_buffer", MADE)  # fmt: skip
refused("typed.refused", "What a typed storage cannot do is refused.", "7.4.12", TYPED)

RULES = family.rules
