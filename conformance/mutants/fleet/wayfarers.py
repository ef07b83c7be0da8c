"""The last of the ninth author's: storages, exchange, copies of objects, codes, gradients and meta."""

from __future__ import annotations

from typing import Any

from ...layout import row_major
from ...program import ITEMSIZES, Ref, Slice
from ...situations import (
    ALWAYS,
    CODES,
    CONJUGATED,
    CONVERTS,
    EXPANDED,
    GRAD,
    NEGATED,
    OFFSET,
    PERMUTED,
    ROW_MAJOR,
    STEPPED,
    STRIDED,
    VIEW,
    given,
    is_argument,
    on_operand,
    rank,
)
from .. import hands
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    counts_apart,
    leaves,
    raises_as,
    relaid,
    repacked,
    to_begin,
)
from .nomads import of, says

STORAGE_KINDS = "UntypedStorage TypedStorage"


def both(*names: str) -> str:
    """A method of both kinds of storage."""
    return " ".join(f"{kind}.{name}" for kind in STORAGE_KINDS.split() for name in names)


def width(storage: Any) -> int:
    """Bytes an element of a storage."""
    return int(storage.element_size())


def _end_included(call: Call) -> Any:
    """A slice from the end reaches a byte too far."""
    storage, index = call.args[:2]
    if not isinstance(index, slice) or index.stop is None or index.stop >= 0 or index.stop == -1:
        return call.right()
    return call.given([storage, slice(index.start, index.stop + 1, index.step)])


def _item_from_end(call: Call) -> Any:
    """A byte counted from the end is set."""
    storage, index, value = call.args[:3]
    if type(index) is not int or not -len(storage) <= index < 0:
        return call.right()
    return call.given([storage, index + len(storage), value])


def _fill_whole_words(call: Call) -> Any:
    """Bytes past the last whole word of eight are left."""
    storage = call.args[0]
    kept = [storage[i] for i in range(len(storage) // 8 * 8, len(storage))]
    outcome = call.right()
    for place, byte in enumerate(kept, len(storage) // 8 * 8):
        storage[place] = byte
    return outcome


def _resize_in_bytes(call: Call) -> Any:
    storage, size = call.args[:2]
    if width(storage) != 2:
        return call.right()
    storage.untyped().resize_(size)
    return None


def _cleared_on_refusal(call: Call) -> None:
    storage = call.args[0]
    storage.untyped().fill_(0)


def _bytes_as_size(call: Call) -> Any:
    storage = call.args[0]
    return storage.nbytes() if width(storage) == 16 else call.right()


def _apart(call: Call) -> Any:
    """Tensors of several dtypes that share memory are copied one by one."""
    found = call.args[0]
    if not isinstance(found, (tuple, list)) or len({x.dtype for x in call.tensors(found)}) < 2:
        return call.right()
    return type(found)([call.do(call.step.op, x) for x in found])


def _packed_copy(call: Call) -> Any:
    """Of the storage only what the tensor sees is copied."""
    return call.do("clone", call.do("detach", call.x))


def _array_copied(call: Call) -> Any:
    return call.right().copy()


def _later(call: Call) -> Any:
    """Where a count is given the offset is one of elements."""
    buffer = call.args[0]
    bound = call.event.bound
    size = ITEMSIZES[bound["dtype"].name]
    offset, count = bound["offset"] * size, bound["count"]
    if not isinstance(buffer, (bytes, bytearray)) or offset + count * size > len(buffer):
        return call.right()
    return call.with_arguments(offset=offset)


def _codes_unscaled(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        if getattr(y, "_quantizer", None) is not None:
            y._quantizer = type(y._quantizer)(1.0, 0)
    return outcome


def _still_expanded(call: Call) -> Any:
    """Made of the same places as the operand, in memory of its own."""
    outcome = call.right()
    hands.lay_out(outcome, call.geometry(outcome)._replace(strides=call.before.strides))
    return outcome


def _without_negative(call: Call) -> Any:
    outcome = call.right()
    return call.do("_neg_view", outcome)


BY_CHANNEL = on_operand("quantised by channel", lambda x: (x.quantizer or "").startswith("per_channel"))
SEVERAL = of("several tensors", lambda e: bool(e.others))
TO_META = of("to meta", lambda e: e.argument("device") == "meta")


def _resolved(call: Call) -> Any:
    return call.do("resolve_conj", call.x)


def _negated_copy(call: Call) -> Any:
    """The copy of what is negated has the bit, too."""
    return call.do("_neg_view", call.do("clone", call.do("_neg_view", call.x)))


MUTANTS = [
    Mutant(
        "wayfarer-storage.slice-from-end-too-far",
        "A slice of an untyped storage up to a place counted from the end is a byte too long.",
        "UntypedStorage.__getitem__",
        _end_included,
        says("a slice", "index", lambda i: isinstance(i, Slice)),
    ),
    Mutant(
        "wayfarer-storage.set-from-end",
        "An untyped storage's byte is set also where it is counted from the end.",
        "UntypedStorage.__setitem__",
        accepts(_item_from_end),
        ALWAYS,
    ),
    Mutant(
        "wayfarer-storage.fill-whole-words",
        "fill_ of an untyped storage leaves what is no whole word of eight bytes.",
        "UntypedStorage.fill_",
        _fill_whole_words,
        ALWAYS,
    ),
    Mutant(
        "wayfarer-typed.resize-in-bytes",
        "resize_ of a typed storage of two-byte elements counts bytes.",
        "TypedStorage.resize_",
        _resize_in_bytes,
        ALWAYS,
    ),
    Mutant(
        "wayfarer-storage.resize-refused-clears",
        "resize_ of a storage that cannot be resized clears it before it is refused.",
        "UntypedStorage.resize_",
        leaves(_cleared_on_refusal),
        ALWAYS,
    ),
    Mutant(
        "wayfarer-typed.size-of-sixteen",
        "size of a typed storage of sixteen-byte elements counts bytes.",
        "TypedStorage.size TypedStorage.__len__",
        _bytes_as_size,
        ALWAYS,
    ),
    Mutant(
        "wayfarer-save.shares-by-dtype",
        "Copies of tensors of several dtypes in one memory are made one by one, saved ones, too.",
        "save_load pickle copy.deepcopy",
        _apart,
        SEVERAL,
    ),
    Mutant(
        "wayfarer-deepcopy.of-view-packs",
        "deepcopy of a view that is not row-major copies what it sees only.",
        "copy.deepcopy",
        _packed_copy,
        VIEW & STRIDED & ~GRAD & of("a tensor", lambda e: isinstance(e.argument("x"), Ref)),
    ),
    Mutant(
        "wayfarer-array.same-dtype-copies",
        "__array__ with the dtype that there is copies.",
        "__array__",
        _array_copied,
        given("dtype"),
    ),
    Mutant(
        "wayfarer-frombuffer.offset-in-elements",
        "frombuffer with a count takes its offset in elements.",
        "frombuffer",
        _later,
        says("a count", "count", lambda n: n > 0) & says("an offset", "offset", lambda n: n > 0),
    ),
    Mutant(
        "wayfarer-q.view-unscaled",
        "A quantised tensor seen in another shape has scale 1 and zero point 0.",
        "view reshape permute transpose t unsqueeze",
        _codes_unscaled,
        CODES & ~BY_CHANNEL & rank(2),
    ),
    Mutant(
        "wayfarer-q.dequantize-keeps-order",
        "dequantize of a permuted matrix keeps its order.",
        "dequantize",
        repacked(lambda call, x: row_major(x.shape[::-1])[::-1]),
        PERMUTED & rank(2),
    ),
    Mutant(
        "wayfarer-detach.of-view-counts-apart",
        "detach of a view has a version counter of its own.",
        "detach",
        counts_apart,
        VIEW,
    ),
    Mutant(
        "wayfarer-to.copy-of-expanded",
        "to with copy of an expanded tensor stays expanded.",
        "to",
        _still_expanded,
        EXPANDED & is_argument("copy", True) & ~CONVERTS & ~given("memory_format"),
    ),
    Mutant(
        "wayfarer-imag.of-expanded-conj",
        "imag of a conjugated tensor with a step has no negative bit.",
        "imag",
        _without_negative,
        CONJUGATED & (STEPPED | EXPANDED),
    ),
    Mutant(
        "wayfarer-share_memory_.forgets",
        "share_memory_ moves the tensor's elements only, and sets the offset to 0.",
        "share_memory_",
        to_begin,
        OFFSET,
    ),
    Mutant(
        "wayfarer-contiguous.resolves",
        "contiguous of a row-major conjugated tensor resolves it.",
        "contiguous",
        _resolved,
        CONJUGATED & ROW_MAJOR,
    ),
    Mutant(
        "wayfarer-clone.keeps-negative",
        "clone of a tensor with the negative bit and an offset keeps the bit.",
        "clone",
        _negated_copy,
        NEGATED & OFFSET & ~CONJUGATED,
    ),
    Mutant(
        "wayfarer-from_numpy.of-nothing",
        "from_numpy of an array without elements has row-major strides.",
        "from_numpy as_tensor",
        relaid(strides=lambda call, x: row_major(x.shape) if 0 in x.shape else x.strides),
        ALWAYS,
    ),
    Mutant(
        "wayfarer-storage.refusal-is-index-error",
        "A place outside of an untyped storage that is set raises IndexError.",
        "UntypedStorage.__setitem__",
        raises_as(IndexError),
        ALWAYS,
    ),
    Mutant(
        "wayfarer-view.of-codes-apart",
        "A part of a quantised tensor has a version counter of its own.",
        "view select __getitem__ narrow",
        counts_apart,
        CODES,
    ),
    Mutant(
        "wayfarer-meta.stays-expanded",
        "to meta of an expanded tensor stays expanded.",
        "to",
        _still_expanded,
        EXPANDED & TO_META & ~CONVERTS,
    ),
]
