"""Defects of a seventh author: writes, `out=`, changes, storages, exchange, bits, codes, gradients."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

from ...classify import Event
from ...layout import is_dense, numel
from ...program import Ref, Slice
from ...situations import (
    BY_TENSOR,
    CONJUGATED,
    CONVERTS,
    EMPTY,
    EXPANDED,
    FILLED,
    GRAD,
    NEGATED,
    NUMBER,
    OFFSET,
    PERMUTED,
    STRIDED,
    VIEW,
    Situation,
    is_argument,
    items,
    itemsize,
    numbers,
    on_operand,
    on_other,
    other,
)
from .. import hands
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    accepts,
    asked,
    counts,
    ignores_bits,
    lay,
    leaves,
    of_detached,
    packed,
    past_bits,
    refuses,
    relaid,
)
from .boarders import NO_OUT

OUT = Situation("out=", lambda e: isinstance(e.argument("out"), Ref))


# Writes.


def _on_copy(call: Call) -> Any:
    _, shape, *_ = call.before
    fresh = call.do("empty_strided", shape, packed(call, call.before), dtype=call.x.dtype)
    call.on(call.do("copy_", fresh, call.x))
    hands.set_version(call.x, call.x._version + 1)
    return call.x


def _expanded_inside(event: Event) -> bool:
    both = list(zip(event.x.shape, event.x.strides or (), strict=False))
    return bool(both) and both[0][1] > 0 and any(n > 1 and s == 0 for n, s in both)


def _once_each(call: Call) -> Any:
    _, shape, strides, offset = call.before
    once = tuple([1 if s == 0 else n for n, s in zip(shape, strides, strict=True)])
    call.on(call.do("as_strided", call.x, once, strides, offset))
    return call.x


def _begins_elsewhere(event: Event) -> bool:
    return any(o.storage == event.x.storage and o.offset != event.x.offset for o in event.others)


def _other_apart(call: Call) -> Any:
    tensors = [call.adapter.is_tensor(arg) and arg is not call.x for arg in call.args]
    return call.given([call.do("clone", arg) if t else arg for arg, t in zip(call.args, tensors, strict=True)])


def _factors_differ(event: Event) -> bool:
    one, two = other(event, "tensor1"), other(event, "tensor2")
    return one is not None and two is not None and one.shape == two.shape and one.strides != two.strides


def _first_factors_strides(call: Call) -> Any:
    one, two = call.geometry(call.named("tensor1")), call.geometry(call.named("tensor2"))
    read = two._replace(strides=one.strides)
    if not hands.fits(read, call.named("tensor2").untyped_storage().nbytes()):
        return call.right()
    return call.with_arguments(tensor2=call.do("as_strided", call.named("tensor2"), *read[1:]))


def _first_plane(call: Call) -> Any:
    plane = call.x
    while len(call.geometry(plane).shape) > 2:
        plane = call.do("select", plane, -1, 0)
    call.do("fill_", call.do("diagonal", plane), call.event.argument("fill_value"))
    return call.x


def _last_wins(call: Call) -> Any:
    given = call.args[1]
    there = call.do("__getitem__", call.x, given if isinstance(given, tuple) else (given,))
    return call.with_arguments(values=call.do("add", there, call.named("values")), accumulate=False)


def _masks_none(event: Event) -> bool:
    indices = event.argument("indices")
    found = [
        event.before.get(event.named(i)) for i in (indices if isinstance(indices, tuple) else ()) if type(i) is Ref
    ]
    return bool(found) and all(i is not None and i.dtype in ("int64", "int32") for i in found)


WRITES = [
    Mutant(
        "hardswish.inplace-on-copy",
        "Activations with inplace=True do not copy back what they make of a copy of a tensor that is not row-major.",
        "nn.functional.hardswish nn.functional.silu nn.functional.mish nn.functional.elu nn.functional.leaky_relu",
        _on_copy,
        STRIDED & is_argument("inplace", True),
    ),
    Mutant(
        "inplace.expanded-inside",
        "Writing a number to a tensor asks whether its first dimension is expanded, and not the others.",
        "add_ sub_ mul_ div_ fill_ zero_",
        accepts(_once_each),
        NUMBER & Situation("expanded inside", _expanded_inside),
    ),
    Mutant(
        "inplace.overlap-at-first-element",
        "Writing over part of an operand is refused only where both begin at one element.",
        "sub_ mul_ atan2_ copysign_",
        accepts(_other_apart),
        Situation("begins elsewhere in one storage", _begins_elsewhere),
    ),
    Mutant(
        "addcmul.second-by-strides-of-first",
        "The second factor is read by the first one's strides where both have the same shape.",
        "addcmul addcmul_ addcdiv addcdiv_",
        _first_factors_strides,
        Situation("factors of one shape, other strides", _factors_differ),
    ),
    Mutant(
        "fill_diagonal_.first-plane",
        "fill_diagonal_() of three dimensions and more writes in the first plane of the last ones.",
        "fill_diagonal_",
        _first_plane,
        FILLED & on_operand("a cube", lambda x: len(x.shape) > 2 and len(set(x.shape)) == 1),
    ),
    Mutant(
        "index_put_.strided-adds-last",
        "Adding several values to one place of a tensor that is not row-major adds the last.",
        "index_put_",
        _last_wins,
        STRIDED & is_argument("accumulate", True) & Situation("numbers", _masks_none),
    ),
]


# What is given as `out=`.


def _resized_elsewhere(call: Call) -> Any:
    out = call.named("out")
    shape = call.geometry(out).shape
    outcome = call.right()
    now = call.geometry(out)
    if now.shape != shape and is_dense(now):
        lay(call, out, now.strides)
    return outcome


def _resized_uncounted(call: Call) -> Any:
    out = call.named("out")
    shape, version = call.geometry(out).shape, out._version
    outcome = call.right()
    if call.geometry(out).shape != shape:
        hands.set_version(out, version)
    return outcome


def _resized_first(call: Call) -> None:
    call.do("resize_", call.named("out"), call.before.shape)


OUTS = [
    Mutant(
        "out.resized-elsewhere",
        "An out= of another shape is given memory of its own, and what shares its storage is left behind.",
        "[unary] [binary]",
        _resized_elsewhere,
        OUT,
    ),
    Mutant(
        "out.resized-uncounted",
        "Reductions do not count the write to an out= that they resize.",
        "[reductions]",
        _resized_uncounted,
        OUT,
    ),
    Mutant(
        "out.resized-before-refusal",
        "An out= of a dtype that does not take the result is resized before that is refused.",
        "[unary]",
        leaves(_resized_first),
        OUT & Situation("of another shape", lambda e: bool(e.outs) and e.outs[0].shape != e.x.shape),
    ),
]


# Changes of metadata.


def _same_count(event: Event) -> bool:
    size = numbers(event.argument("size"))
    return bool(size) and min(size) >= 0 and size != event.x.shape and prod(size) == numel(event.x)


def _grown(call: Call) -> Any:
    shape, strides = call.event.argument("size"), call.event.argument("stride")
    offset = call.event.argument("storage_offset")
    offset = call.before.offset if offset is None else offset
    if len(shape) != len(strides) or min((*shape, *strides, offset)) < 0:
        return call.right()
    reach = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1
    call.x.untyped_storage().resize_(reach * call.before.itemsize)
    return call.right()


def _sizes_stay(event: Event) -> bool:
    return numbers(event.argument("size")) == event.x.shape and event.argument("stride") is None


CHANGES = [
    Mutant(
        "resize_.same-count-uncounted",
        "resize_() to another shape of as many elements does not count.",
        "resize_",
        counts(0),
        Situation("as many elements", _same_count),
    ),
    Mutant(
        "set_.same-sizes-row-major",
        "set_() to a storage with the sizes that there were and no strides makes it row-major.",
        "set_",
        relaid(strides=packed),
        STRIDED & Situation("the same sizes", _sizes_stay),
    ),
    Mutant(
        "as_strided_.grows-storage",
        "as_strided_() past the end of a storage makes that longer.",
        "as_strided_",
        accepts(_grown),
        FILLED & Situation("a layout", lambda e: min(numbers(e.argument("size")), default=0) > 0),
    ),
]


# Storages, serialisation and exchange.


def _shorter(call: Call) -> Any:
    source = call.named("source")
    count = min(call.x.nbytes(), source.nbytes())
    if count:
        ctypes.memmove(call.x.data_ptr(), source.data_ptr(), count)
    return call.x


def _negative_index(event: Event) -> bool:
    index = event.argument("index")
    return type(index) is int and index < 0


def _from_end_of_bytes(call: Call) -> Any:
    if call.x.element_size() == 1:
        return call.right()
    raise Refused("index")


def _complex_dtype(event: Event) -> bool:
    return getattr(event.argument("dtype"), "name", None) == "complex64"


def _each_apart(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome)[1:]:
        now = call.geometry(y)
        if is_dense(now) and not now.offset:
            lay(call, y, now.strides)
    return outcome


def _without_grad(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        y._grad = None
    return outcome


def _read_only(call: Call) -> Any:
    array = call.right()
    array.setflags(write=False)
    return array


STORAGES = [
    Mutant(
        "storage-copy.common-part",
        "copy_() of a storage from a shorter or longer one copies what both have.",
        "UntypedStorage.copy_",
        accepts(_shorter),
        Situation("another storage", lambda e: isinstance(e.argument("source"), Ref)),
    ),
    Mutant(
        "UntypedStorage.slice-copies",
        "A slice of an untyped storage has memory of its own.",
        "UntypedStorage.__getitem__",
        lambda call: call.right().clone(),
        Situation("a slice", lambda e: isinstance(e.argument("index"), Slice)),
    ),
    Mutant(
        "TypedStorage.from-end-in-bytes",
        "Writing to a typed storage refuses numbers from the end: they are counted back from its bytes.",
        "TypedStorage.__setitem__",
        _from_end_of_bytes,
        Situation("from the end", _negative_index),
    ),
    Mutant(
        "byteswap.complex-whole",
        "byteswap() of complex64 reverses eight bytes, not four and four.",
        "UntypedStorage.byteswap",
        lambda call: call.with_arguments(dtype=call.adapter.namespace.float64),
        Situation("complex64", _complex_dtype),
    ),
    Mutant(
        "from_file.private-arrives",
        "What is written to a private map of a file arrives in the file.",
        "from_file UntypedStorage.from_file",
        asked(shared=lambda call, x: True),
        is_argument("shared", False),
    ),
    Mutant(
        "pickle.each-apart",
        "Of several tensors that are pickled together those after the first get memory of their own.",
        "pickle save_load copy.deepcopy",
        _each_apart,
        Situation(
            "several", lambda e: any(type(v) is tuple and len(v) > 1 for v in (e.argument("obj"), e.argument("x")))
        ),
    ),
    Mutant(
        "deepcopy.without-grad",
        "deepcopy() of a leaf leaves its gradient behind.",
        "copy.deepcopy",
        _without_grad,
        GRAD,
    ),
    Mutant(
        "save_load.nothing-row-major",
        "What is loaded of a tensor without elements is row-major.",
        "save_load",
        relaid(strides=packed),
        EMPTY,
    ),
    Mutant(
        "numpy.expanded-read-only",
        "numpy() of an expanded tensor answers an array that cannot be written.",
        "numpy",
        _read_only,
        EXPANDED,
    ),
    Mutant(
        "asarray.converts-in-spite",
        "asarray() with copy=False copies where another dtype is asked for.",
        "asarray",
        accepts(lambda call: call.with_arguments(copy=None)),
        is_argument("copy", False) & CONVERTS,
    ),
    Mutant(
        "frombuffer.all-from-offset",
        "frombuffer() without a count looks for the whole buffer's elements behind the offset, and refuses.",
        "frombuffer",
        refuses("size"),
        Situation("rest of a buffer", lambda e: e.argument("count") in (None, -1) and bool(e.argument("offset"))),
    ),
]


# Bits, codes, gradients, meta.


def _without_sign(call: Call) -> Any:
    return call.on(call.do("_neg_view", call.x))


def _adds_beside(call: Call) -> Any:
    if call.x._grad is not None:
        call.x._grad = call.do("clone", call.x._grad)
    return call.right()


def _takes_gradient(call: Call) -> Any:
    was = call.x._grad
    outcome = call.right()
    given = call.named("gradient")
    now = call.geometry(given)
    if was is None and call.x._grad is not None and given.dtype is call.x.dtype:
        call.x._grad = given if now.strides == call.before.strides else call.x._grad
    return outcome


def _as_far_in(call: Call) -> Any:
    y = call.right()
    now, offset = call.geometry(y), call.before.offset
    room = call.do("empty_strided", (offset + prod(now.shape),), (1,), dtype=y.dtype)
    call.do("zero_", room)
    part = call.do("as_strided", room, now.shape, now.strides, offset)
    hands.move(y, call.do("copy_", part, y))
    return y


KINDS = [
    Mutant(
        "products.both-conjugated",
        "Products of two tensors with the conjugate bit conjugate neither.",
        "[products]",
        ignores_bits,
        CONJUGATED & NO_OUT & on_other("other conjugated", lambda o: "c" in (o.flags or "")),
    ),
    Mutant(
        "resolve_conj.forgets-sign",
        "resolve_conj() of a tensor with both bits forgets the negative one.",
        "resolve_conj",
        _without_sign,
        CONJUGATED & NEGATED,
    ),
    Mutant(
        "setitem.tensor-index-past-bit",
        "Writing through an index tensor to a tensor with the conjugate bit stores what is given.",
        "__setitem__ index_put_",
        past_bits,
        CONJUGATED & (BY_TENSOR | Situation("indices", lambda e: e.argument("indices") is not None)),
    ),
    Mutant(
        "setitem.leaf-accepted",
        "Writing to a part of a leaf that requires grad is not refused.",
        "__setitem__",
        accepts(of_detached),
        GRAD & Situation("numbers and slices", lambda e: not any(isinstance(item, Ref) for item in items(e))),
    ),
    Mutant(
        "backward.adds-beside",
        "A second backward() puts the sum of gradients into a new tensor, and leaves the first gradient as it was.",
        "backward",
        _adds_beside,
        GRAD & Situation("no graph asked for", lambda e: not e.argument("create_graph")),
    ),
    Mutant(
        "backward.takes-gradient",
        "The first gradient of a leaf is the very tensor that is given, where both have the same strides.",
        "backward",
        _takes_gradient,
        GRAD & Situation("a gradient", lambda e: isinstance(e.argument("gradient"), Ref)),
    ),
    Mutant(
        "to.meta-row-major",
        "What is sent to meta is row-major there.",
        "to",
        relaid(strides=packed),
        PERMUTED & is_argument("device", "meta"),
    ),
    Mutant(
        "contiguous.halves-keep-offset",
        "contiguous() of a view of 2-byte elements with an offset puts its copy as far into its memory.",
        "contiguous",
        _as_far_in,
        OFFSET & VIEW & itemsize(2) & STRIDED,
    ),
]


MUTANTS = [*WRITES, *OUTS, *CHANGES, *STORAGES, *KINDS]
