"""Storages as bytes: how they come about, what they say of themselves, how they are written, resized and shared."""

from __future__ import annotations

from ..classify import Event
from ..observation import StorageObject
from ..program import Slice
from ._define import ANSWERS, LEGACY, RAISING, TYPED, UNTYPED, Family

family = Family("storage-untyped")
rule, succeeds, refused = family.rule, family.succeeds, family.refused


def _both(*names: str) -> str:
    """Methods of both classes of storages."""
    return " ".join([f"{owner}.{name}" for name in names for owner in ("UntypedStorage", "TypedStorage")])


CONVERSIONS = (
    "bool", "byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double", "complex_float",
    "complex_double", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
)  # fmt: skip
QUESTIONS = _both(
    "nbytes", "size", "element_size", "resizable", "is_shared", "get_device", "is_pinned", "device", "filename",
    "is_cuda", "is_hpu", "is_sparse", "__len__", "__bool__", "__eq__", "__repr__", "type",
) + " UntypedStorage.is_sparse_csr"  # fmt: skip
READING = _both("tolist", "__iter__", "__getitem__")
WRITES = "UntypedStorage.__setitem__ UntypedStorage.fill_ UntypedStorage.copy_ UntypedStorage.byteswap"
BUFFERS = "UntypedStorage.from_buffer TypedStorage.from_buffer FloatStorage.from_buffer ByteStorage.from_buffer ShortStorage.from_buffer"
FILES = "UntypedStorage.from_file TypedStorage.from_file FloatStorage.from_file ShortStorage.from_file from_file"
MADE = "shape sharing storage flags"
"""What a storage that was made may be wrong in."""


def _storage(e: Event) -> bool:
    """The step is done to a storage, and not refused."""
    return e.raised is None and isinstance(e.operand, StorageObject)


succeeds(
    "storage.of-tensor",
    "untyped_storage() is the whole memory that a tensor lies in.",
    "7.3.1",
    "untyped_storage",
    MADE,
)
succeeds("storage.asking", "Asking a tensor for its storage changes nothing.", "7.3.1", "untyped_storage storage",
         ANSWERS)  # fmt: skip
succeeds("storage.tensors-stay", "What is done to a storage leaves the geometry of every tensor over it as it was.",
         "7.2", f"{UNTYPED} {TYPED}", "shape strides layout contiguity")  # fmt: skip
succeeds("storage.makes", "Making a storage changes no tensor.", "7.1",
         f"UntypedStorage TypedStorage {LEGACY} {BUFFERS} {FILES}", ANSWERS)  # fmt: skip
succeeds("storage.new", "UntypedStorage(n) has n bytes; of a sequence it has a byte for each number, modulo 256.", "7.1",
         "UntypedStorage", MADE)  # fmt: skip
refused("storage.new-refused", "Negative sizes, sequences of no integers and devices that are not there are refused.",
        "7.1", "UntypedStorage")  # fmt: skip
succeeds("storage.questions", "What a storage says of itself follows from its memory, and asking changes nothing.",
         "7.2", QUESTIONS, ANSWERS)  # fmt: skip
succeeds("storage.length", "A storage's length and element size are those of its bytes or elements.", "7.2",
         _both("nbytes", "size", "element_size", "__len__", "__bool__"), "values")  # fmt: skip
succeeds("storage.address", "A storage's address is where its first byte lies.", "7.2",
         f"{_both('data_ptr')} data_ptr", "sharing")  # fmt: skip
succeeds("storage.address-asked", "Asking for an address changes nothing.", "7.2", f"{_both('data_ptr')} data_ptr",
         "shape strides layout contiguity storage flags values sharing")  # fmt: skip
succeeds("storage.reads", "Reading a storage answers with what its bytes are, and changes nothing.", "7.2", READING,
         ANSWERS)  # fmt: skip
succeeds("storage.tensor-asked", "A tensor says whether its memory is shared or pinned, and on which device it lies.",
         "1.14", "is_shared is_pinned device", ANSWERS)  # fmt: skip


@rule("storage.index", "s[i] is the number there, a negative i counted from the end.", "7.2",
      _both("__getitem__"), "values")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and type(e.argument("index")) is int


@rule("storage.slice", "s[a:b] is another storage over the bytes from a to b, which cannot be resized.", "7.2",
      "UntypedStorage.__getitem__", MADE)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and isinstance(e.argument("index"), Slice)


refused("storage.index-refused", "Numbers outside, steps and what is no index are refused.", "7.2",
        "UntypedStorage.__getitem__ UntypedStorage.__setitem__")  # fmt: skip
succeeds("storage.writes", "Writing a storage's bytes is seen in every tensor over them, and counts no version.", "7.2",
         WRITES, "storage flags values sharing")  # fmt: skip


@rule("storage.modulo", "Numbers are written modulo 256.", "7.2", "UntypedStorage.__setitem__ UntypedStorage.fill_",
      "storage")  # fmt: skip
def _(e: Event) -> bool:
    value = e.argument("value")
    return e.raised is None and type(value) is int and not 0 <= value < 256


succeeds("storage.copies-bytes", "copy_ copies all bytes of another storage.", "7.2", "UntypedStorage.copy_", "storage")
succeeds("storage.byteswap", "byteswap reverses the bytes of each element, of a complex number of each part.", "7.2",
         "UntypedStorage.byteswap", "storage")  # fmt: skip
refused("storage.write-refused", "Values that are no integers and lengths that do not match are refused.", "7.2",
        f"{WRITES} UntypedStorage.byteswap")  # fmt: skip
succeeds("storage.clone", "clone() has memory of its own, with the same bytes.", "7.2", _both("clone"), MADE)
succeeds("storage.clone-leaves", "Cloning or converting a storage changes nothing that there was.", "7.2",
         _both("clone", "new", *CONVERSIONS).replace("TypedStorage.new ", ""), ANSWERS)  # fmt: skip
succeeds("storage.itself", "untyped(), cpu() and to() of a storage that is there copy nothing.", "7.2",
         _both("untyped", "cpu", "to"), "sharing shape flags storage")  # fmt: skip
succeeds("storage.itself-stays", "Asking for a storage where it is already changes nothing.", "7.2",
         _both("untyped", "cpu", "to"), ANSWERS)  # fmt: skip
succeeds("storage.new-empty", "new() is an empty storage.", "7.2", "UntypedStorage.new", "shape sharing")
succeeds("storage.converts", "half() and the like take each byte for a number, and convert it into memory of its own.",
         "7.2", " ".join([f"UntypedStorage.{name}" for name in CONVERSIONS]), MADE)  # fmt: skip
refused("storage.no-accelerator", "Without an accelerator nothing is moved to one, nor pinned.", "7.8.4",
        f"{_both('cuda', 'hpu', 'pin_memory', 'to')} UntypedStorage.mps pin_memory")  # fmt: skip
succeeds("storage.resize", "resize_(n) has n bytes afterwards; those that remain keep what they hold.", "7.2",
         "UntypedStorage.resize_", "shape storage sharing flags")  # fmt: skip
succeeds("storage.resize-stays", "Resizing a storage changes no element that is still there.", "7.2",
         _both("resize_"), "values storage sharing flags")  # fmt: skip
refused("storage.resize-refused", "Memory that others own, and a negative number of bytes, is refused.", "7.2",
        _both("resize_"))  # fmt: skip
succeeds("storage.shared", "share_memory_() moves a storage to shared memory; all tensors over it go with it.", "7.8.1",
         f"share_memory_ {_both('share_memory_')}", "flags sharing storage values shape strides layout")  # fmt: skip
succeeds("storage.from-buffer", "from_buffer copies the bytes.", "7.5.1", BUFFERS, MADE)


@rule("storage.byte-order", "Elements of the other byte order are turned round.", "7.5.2", BUFFERS, "storage")
def _(e: Event) -> bool:
    return e.raised is None and e.argument("byte_order") == "big"


refused("storage.from-buffer-refused", "A storage is not made of a buffer that its length, offset and count do not fit.", "7.5.3",
        BUFFERS)  # fmt: skip
succeeds("storage.from-file", "A storage over a file is as long as asked for, and cannot be resized.", "7.6.1", FILES,
         MADE)  # fmt: skip
succeeds("storage.file-flags", "A file in memory counts as shared, and is not resizable.", "7.6.4", FILES, "flags")


@rule("storage.file-shared", "A shared file is made and made longer where needed; its storage knows its name.", "7.6.2",
      FILES, "storage flags sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and e.argument("shared") is True


@rule("storage.file-private", "What a file not shared holds is seen, and not written back.", "7.6.3", FILES,
      "storage flags sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and not e.argument("shared")


refused(
    "storage.file-refused", "A file that is missing or too short is refused where it is not shared.", "7.6.3", FILES
)


@rule("storage.meta", "A storage on meta has a length and no bytes.", "7.7",
      f"UntypedStorage TypedStorage {UNTYPED} {TYPED}", "shape flags sharing")  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is None and isinstance(e.result, StorageObject) and "m" in e.result.flags


@rule("storage.meta-refused", "The bytes of a storage on meta are not read, and not copied out of it.", "7.7",
      f"{UNTYPED} {TYPED}", RAISING)  # fmt: skip
def _(e: Event) -> bool:
    return e.raised is not None and isinstance(e.operand, StorageObject) and "m" in e.operand.flags


@rule("storage.kept", "A storage lives as long as anything knows of it.", "7.3.2", f"{UNTYPED} {TYPED}", "storage")
def _(e: Event) -> bool:
    return _storage(e)


RULES = family.rules
