"""Defects of a sixth author: what tensors say of themselves, views, copies, indices, writes in place."""

from __future__ import annotations

from math import prod
from typing import Any

from stridecheck.reference_impl.core import CONJ

from ...classify import Event
from ...layout import numel, row_major
from ...observation import TensorState
from ...program import ITEMSIZES, DType, Ref, Slice
from ...situations import (
    CONJUGATED,
    CONVERTS,
    EMPTY,
    FILLED,
    GAPS,
    GRAD,
    MIXED,
    OFFSET,
    REST,
    SAME_STORAGE,
    STEPPED,
    Situation,
    asks,
    by_keyword,
    dim_of,
    dtype,
    is_argument,
    items,
    numbers,
    on_operand,
    other,
    rank,
    rank_over,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    another_object,
    argument,
    asked,
    cleared,
    counts,
    lay,
    leaves,
    operands_offset,
    packed,
    reads_other,
    refuses,
    relaid,
    repacked,
)

NO_FORMAT = is_argument("memory_format", None)
NO_OUT = Situation("no out=", lambda e: e.argument("out") is None)


# Metadata.


def _appends(event: Event) -> bool:
    return event.argument("dim") in (-1, len(event.x.shape))


def _one_window(event: Event) -> bool:
    dim, size, step = dim_of(event, "dimension"), event.argument("size"), event.argument("step")
    if dim is None or type(size) is not int or type(step) is not int or step < 2:
        return False
    return 0 <= event.x.shape[dim] - size < step


def _unstepped(call: Call, y: Geometry) -> tuple[int, ...]:
    dim = dim_of(call.event, "dimension")
    return tuple([call.before.strides[d] if d == dim else stride for d, stride in enumerate(y.strides)])


def _ends_in_one(event: Event) -> bool:
    dim, sizes = dim_of(event), numbers(event.argument("sizes"))
    return dim is not None and len(sizes) > 1 and sizes[-1] == 1 and (event.x.strides or ())[dim] != 1


def _stride_of_one(call: Call, y: Geometry) -> tuple[int, ...]:
    place = (dim_of(call.event) or 0) + len(numbers(call.event.argument("sizes"))) - 1
    return tuple([1 if d == place else stride for d, stride in enumerate(y.strides)])


def _ignores_offset(call: Call) -> Any:
    other = call.named("tensor")
    same = call.adapter.storage_of(call.x) is call.adapter.storage_of(other)
    return same and call.before[1:3] == call.geometry(other)[1:3]


def _address(call: Call) -> Any:
    return call.x.untyped_storage().data_ptr() + call.before.offset * call.before.itemsize


def _one_image(state: TensorState) -> TensorState:
    if len(state.shape) != 4 or state.shape[0] != 1 or state.contiguity[1] != "T":
        return state
    if (state.strides or (0,))[0] == prod(state.shape):
        return state
    return state._replace(contiguity=f"{state.contiguity[0]}F{state.contiguity[2]}")


METADATA = [
    Mutant(
        "unsqueeze.appended-takes-last-stride",
        "unsqueeze() behind the last dimension gives the new one that dimension's stride, not 1.",
        "unsqueeze unsqueeze_",
        relaid(strides=lambda call, y: (*y.strides[:-1], call.before.strides[-1])),
        STEPPED & Situation("appended", _appends),
    ),
    Mutant(
        "squeeze.first-of-tuple",
        "squeeze() of several dimensions looks at the first only.",
        "squeeze squeeze_ squeeze_copy",
        asked(dim=argument("dim", lambda dims: dims[0])),
        Situation("several dims", lambda e: len(numbers(e.argument("dim"))) > 1),
    ),
    Mutant(
        "narrow.nothing-keeps-offset",
        "narrow() to length 0 does not move the offset.",
        "narrow",
        relaid(offset=operands_offset),
        is_argument("length", 0),
    ),
    Mutant(
        "unfold.single-window-unstepped",
        "unfold() with a step that leaves one window keeps the stride of the dimension.",
        "unfold",
        relaid(strides=_unstepped),
        Situation("one window", _one_window),
    ),
    Mutant(
        "movedim.sources-sorted",
        "movedim() sorts the dimensions that it moves, and not where they go.",
        "movedim moveaxis",
        asked(source=argument("source", lambda dims: tuple(sorted(dims)))),
        Situation("unsorted", lambda e: numbers(e.argument("source")) != tuple(sorted(numbers(e.argument("source"))))),
    ),
    Mutant(
        "unflatten.trailing-one-stride",
        "unflatten() with a size of 1 last gives it stride 1, whatever the dimension steps over.",
        "unflatten",
        relaid(strides=_stride_of_one),
        Situation("a stepped dimension into sizes with 1 last", _ends_in_one),
    ),
    Mutant(
        "is_set_to.ignores-offset",
        "is_set_to() does not compare offsets.",
        "is_set_to",
        _ignores_offset,
        SAME_STORAGE,
    ),
    Mutant(
        "data_ptr.nothing-has-address",
        "data_ptr() of a tensor without elements is where they would begin, not 0.",
        "data_ptr",
        _address,
        EMPTY,
    ),
    Mutant(
        "is_contiguous.nothing-is-channels-last",
        "is_contiguous(memory_format=channels_last) is true of whatever has no elements and four dimensions.",
        "is_contiguous",
        lambda call: True,
        EMPTY & on_operand("four dimensions", lambda x: len(x.shape) == 4) & asks("channels_last"),
    ),
    Mutant(
        "contiguity.one-image-batch-stride",
        "One image is channels_last only if the stride of the batch fits as well.",
        shows=_one_image,
        like="pytorch/pytorch#24090",
    ),
]


# Views and copies.


def _from_end(event: Event) -> bool:
    start, end = dim_of(event, "start_dim"), dim_of(event, "end_dim")
    return start is not None and start == end and min(event.argument("start_dim"), event.argument("end_dim")) < 0


def _is_narrower(event: Event) -> bool:
    asked = event.argument("dtype")
    return isinstance(asked, DType) and ITEMSIZES.get(asked.name, 99) < ITEMSIZES.get(event.x.dtype, 0)


def _in_format(call: Call) -> Any:
    return call.do("clone", call.x, memory_format=call.args[-1])


def _converts(event: Event) -> bool:
    asked = event.argument("dtype")
    return isinstance(asked, DType) and asked.name != event.x.dtype


def _row_major_copy(call: Call) -> Any:
    outcome = call.right()
    if outcome is not call.x:
        lay(call, outcome, row_major(call.geometry(outcome).shape))
    return outcome


def _normalised(call: Call) -> Any:
    return call.do("clone", call.x, memory_format=call.adapter.namespace.contiguous_format)


def _keeps_bit(call: Call) -> Any:
    outcome = call.right()
    for x, y in zip(call.live.values(), call.tensors(outcome), strict=False):
        if call.adapter.is_tensor(x) and x._bits & CONJ and not y._bits & CONJ:
            hands.move(y, call.do("conj_physical", y.detach()))
            y._bits |= CONJ
    return outcome


CHANNELS_NEXT = on_operand("channels next to each other", lambda x: (x.strides or (0, 0))[1] == 1 and x.shape[1] > 1)

COPIES = [
    Mutant(
        "contiguous.one-channel-3d-copies",
        "contiguous(memory_format=channels_last_3d) copies volumes of one channel, which are both formats at once.",
        "contiguous",
        _in_format,
        rank(5) & on_operand("both formats", lambda x: x.contiguity == "TFT") & asks("channels_last_3d"),
        like="pytorch/pytorch#24090",
    ),
    Mutant(
        "flatten.same-dims-from-end-alias",
        "flatten() from a dimension to the same, one of them counted from the end, answers a view, not the tensor.",
        "flatten",
        another_object,
        rank_over(1) & Situation("one dimension, from the end", _from_end),
    ),
    Mutant(
        "unflatten.inferred-not-first",
        "unflatten() refuses -1 anywhere but first.",
        "unflatten",
        refuses("size"),
        Situation("-1 behind another size", lambda e: -1 in numbers(e.argument("sizes"))[1:]),
    ),
    Mutant(
        "view.narrower-one-last-offset",
        "view(dtype) to shorter elements of a tensor whose last size is 1 keeps the offset.",
        "view.dtype",
        relaid(offset=operands_offset),
        OFFSET
        & on_operand("last size 1", lambda x: x.shape[-1:] == (1,))
        & Situation("shorter elements", _is_narrower),
    ),
    Mutant(
        "as_strided.keyword-offset-relative",
        "as_strided() counts a storage_offset that is given by name from the operand's own offset.",
        "as_strided as_strided_",
        relaid(offset=lambda call, y: y.offset + call.before.offset),
        OFFSET & by_keyword("storage_offset"),
    ),
    Mutant(
        "clone.volumes-with-gaps-row-major",
        "clone of a part of a channels_last_3d tensor is row-major.",
        "clone",
        repacked(packed),
        rank(5) & GAPS & CHANNELS_NEXT & NO_FORMAT,
        like="pytorch/pytorch#64176",
    ),
    Mutant(
        "to.dtype-keeps-gaps",
        "to(dtype) of a tensor with gaps makes one with the same gaps.",
        "to",
        repacked(lambda call, y: call.before.strides),
        GAPS & CONVERTS & NO_FORMAT & Situation("another dtype", _converts),
    ),
    Mutant(
        "float.format-not-heard",
        "float() and the like do not listen to memory_format=channels_last: they answer rows.",
        "[conversions]",
        _row_major_copy,
        FILLED & asks("channels_last", "channels_last_3d"),
    ),
    Mutant(
        "contiguous.nothing-normalised",
        "contiguous() of a tensor without elements makes another with row-major strides.",
        "contiguous",
        _normalised,
        EMPTY & on_operand("other strides than rows", lambda x: x.strides != row_major(x.shape)) & NO_FORMAT,
    ),
    Mutant(
        "deepcopy.keeps-conjugate-bit",
        "copy.deepcopy() of a conjugated tensor is conjugated by its bit.",
        "copy.deepcopy",
        _keeps_bit,
        CONJUGATED,
    ),
]


# Indices.


def _number_then_none(event: Event) -> bool:
    found = items(event)
    plain = all(item is None or item is ... or type(item) is int or isinstance(item, Slice) for item in found)
    return plain and len(found) > 1 and type(found[0]) is int and found[1] is None


def _mask(event: Event) -> TensorState | None:
    """The one mask of two dimensions that is all of an index."""
    found = items(event)
    state = event.before.get(event.named(found[0])) if len(found) == 1 and isinstance(found[0], Ref) else None
    return state if state is not None and state.dtype == "bool" and len(state.shape) == 2 else None


def _transposed_mask(event: Event) -> bool:
    mask = _mask(event)
    return mask is not None and mask.contiguity[0] == "F" and (mask.strides or ())[0] == 1 and len(event.x.shape) > 1


def _in_memory_order(call: Call) -> Any:
    mask = call.live[items(call.event)[0].key]
    return call.do("__getitem__", call.do("transpose", call.x, 0, 1), (call.do("t", mask),))


def _places(event: Event) -> list[Ref]:
    """Indices of int32."""
    refs = [item for item in items(event) if isinstance(item, Ref)]
    return [ref for ref in refs if event.before.get(event.named(ref), event.x).dtype == "int32"]


def _least(numbers: Any) -> int:
    return min([_least(item) for item in numbers], default=0) if isinstance(numbers, list) else numbers


def _refuses_negative(call: Call) -> Any:
    if any(_least(call.live[ref.key].tolist()) < 0 for ref in _places(call.event)):
        raise Refused("index")
    return call.right()


def _leading_ones(event: Event) -> bool:
    value = other(event, "value")
    more = 0 if value is None else len(value.shape) - len(event.x.shape)
    return value is not None and more > 0 and set(value.shape[:more]) == {1}


def _once(call: Call) -> Any:
    positional, keywords = call.args[: len(call.step.args)], [name for name, _ in call.step.kwargs]
    given = dict(zip((*("self", "indices", "values")[: len(positional)], *keywords), call.args, strict=False))
    there = call.do("__getitem__", call.x, given["indices"])
    return call.do(call.step.op, call.x, given["indices"], call.do("add", there, given["values"]), False)


def _one_number(event: Event) -> bool:
    values = other(event, "values")
    return event.argument("accumulate") is True and values is not None and numel(values) == 1


def _broadcasts(event: Event) -> bool:
    dim, indices = dim_of(event), other(event, "indices")
    if dim is None or indices is None or len(indices.shape) != len(event.x.shape):
        return False
    return any(d != dim and n == 1 < m for d, (n, m) in enumerate(zip(indices.shape, event.x.shape, strict=True)))


INDICES = [
    Mutant(
        "index.second-ellipsis-refused",
        "An index with two ellipses is refused.",
        "__getitem__ __setitem__",
        refuses("index"),
        REST & Situation("two ellipses", lambda e: sum(item is ... for item in items(e)) > 1),
    ),
    Mutant(
        "index.none-after-number",
        "The axis that None adds behind a number has the stride of the dimension that the number took.",
        "__getitem__",
        relaid(strides=lambda call, y: (call.before.strides[0], *y.strides[1:])),
        Situation("a number, then None", _number_then_none),
    ),
    Mutant(
        "index.transposed-mask-in-memory-order",
        "A transposed mask picks elements in the order in which it lies in memory.",
        "__getitem__",
        _in_memory_order,
        Situation("a transposed mask", _transposed_mask),
    ),
    Mutant(
        "index.int32-from-end-refused",
        "Places of int32 may not count from the end.",
        "__getitem__",
        _refuses_negative,
        Situation("places of int32", lambda e: bool(_places(e))),
    ),
    Mutant(
        "setitem.leading-ones-refused",
        "Item assignment refuses a value with more dimensions, though they are of size 1.",
        "__setitem__",
        refuses("broadcast"),
        Situation("a value with ones before", _leading_ones),
    ),
    Mutant(
        "index_put_.accumulates-one-number-once",
        "index_put_ that adds one number to a place many times adds it once.",
        "index_put_ index_put",
        _once,
        Situation("one number added", _one_number),
    ),
    Mutant(
        "take_along_dim.indices-not-broadcast",
        "take_along_dim() does not broadcast its indices: it is gather().",
        "take_along_dim",
        lambda call: call.do("gather", call.x, call.event.argument("dim"), call.named("indices")),
        NO_OUT & Situation("indices that broadcast", _broadcasts),
    ),
]


# Writes.


def _same_memory(event: Event) -> bool:
    source, x = other(event, "src"), event.x
    if source is None or event.argument("src") == event.step.args[0]:
        return False
    return (source.storage, *source[:4]) == (x.storage, *x[:4])


def _without_overlap(call: Call) -> Any:
    try:
        return call.right()
    except Exception as error:
        if getattr(error, "kind", None) != "overlap":
            raise
        is_other = [call.adapter.is_tensor(arg) and arg is not call.x for arg in call.args]
        return call.given([call.do("clone", a) if o else a for a, o in zip(call.args, is_other, strict=True)])


def _at_places(call: Call) -> Any:
    return call.do("copy_", call.x, call.do("where", call.named("mask"), call.named("source"), call.x))


def _all_alike(event: Event) -> bool:
    return len(event.others) == 2 and all(other.shape == event.x.shape for other in event.others)


def _both_permuted(event: Event) -> bool:
    return _all_alike(event) and all(o.contiguity[0] == "F" and 0 not in (o.strides or ()) for o in event.others)


def _as_lanes(call: Call) -> Any:
    outcome = call.right()
    version = call.x._version
    call.do("neg_", call.x)
    hands.set_version(call.x, version)
    return outcome


WRITES = [
    Mutant(
        "copy_.same-memory-no-version",
        "copy_ from another tensor over the same elements counts no version, as nothing changes.",
        "copy_",
        counts(0),
        Situation("from the same elements", _same_memory),
    ),
    Mutant(
        "add_.overlap-of-other-dtype",
        "Memory that is read under another dtype than it is written in is not looked at for overlap.",
        "[in-place]",
        _without_overlap,
        SAME_STORAGE & MIXED,
    ),
    Mutant(
        "masked_scatter_.source-at-places",
        "masked_scatter_ from a source of the same shape takes what lies at the mask's places.",
        "masked_scatter_",
        _at_places,
        Situation("three of one shape", _all_alike),
    ),
    Mutant(
        "addcmul.others-as-rows",
        "Operations on three tensors read the last two as rows where neither is row-major.",
        "addcmul addcdiv addcmul_ addcdiv_ lerp lerp_",
        reads_other(strides=lambda call, other: row_major(other.shape)),
        NO_OUT & Situation("the others not row-major", _both_permuted),
    ),
    Mutant(
        "eq_.int8-minus-one",
        "Comparisons in place of more than 16 elements of int8 leave -1 for true, as vector registers have it.",
        "eq_ ne_ lt_ le_ gt_ ge_",
        _as_lanes,
        dtype("int8") & on_operand("above 16 elements", lambda x: numel(x) > 16),
    ),
    Mutant(
        "zero_.leaf-cleared-first",
        "zero_() of a leaf that requires grad is refused after the elements are zero.",
        "zero_",
        leaves(cleared),
        GRAD,
    ),
]

MUTANTS = [*METADATA, *COPIES, *INDICES, *WRITES]
