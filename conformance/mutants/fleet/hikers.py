"""A tenth author's, of views: indices, splits, views of another dtype, contiguity and memory formats."""

from __future__ import annotations

from math import prod
from typing import Any

from ...classify import Event
from ...layout import strides
from ...program import ITEMSIZES, DType, Slice
from ...situations import (
    BY_TENSOR,
    CHANNELS_LAST,
    EMPTY,
    FILLED,
    GAPS,
    OFFSET,
    ONES,
    SCALAR,
    STEPPED,
    STRIDED,
    Situation,
    asks,
    by_keyword,
    given,
    index_has,
    is_argument,
    negative,
    on_operand,
    rank,
    rank_over,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    argument,
    asked,
    copied,
    indexed,
    itself,
    nowhere,
    operands_offset,
    packed,
    records,
    refuses,
    relaid,
)


def _wrapped(call: Call, name: str) -> int:
    return int(call.event.argument(name)) % max(len(call.before.shape), 1)


def _says(name: str, holds: Any) -> Situation:
    """An argument fits; the name says which."""
    argument_name, _, _ = name.partition(" ")
    return Situation(name, lambda e: holds(e.argument(argument_name)))


def _without_own_offset(call: Call, y: Geometry) -> int:
    return y.offset - call.before.offset


def _room_before(event: Event) -> bool:
    index, dim, shape = event.argument("index"), event.argument("dim"), event.x.shape
    whole = type(index) is int and type(dim) is int and bool(shape)
    return whole and -len(shape) <= dim < len(shape) and -shape[dim] < index < 0


def _windows_too_close(call: Call, y: Geometry) -> tuple[int, ...]:
    d = _wrapped(call, "dimension")
    return (*y.strides[:d], call.before.strides[d], *y.strides[d + 1 :])


def _moved_by_the_other(call: Call, y: Geometry) -> int:
    start, x = int(call.event.argument("offset")), call.before
    return x.offset - start * x.strides[_wrapped(call, "dim2")] if 0 not in y.shape else y.offset


def _leads_with_zeros(call: Call, y: Geometry) -> tuple[int, ...]:
    lead = len(y.shape) - len(call.before.shape)
    return (*[0] * lead, *y.strides[lead:])


def _last_is_one(call: Call, y: Geometry) -> tuple[int, ...]:
    return (*y.strides[:-1], 1)


def _is_narrower(event: Event) -> bool:
    asked_for = event.argument("dtype")
    if not isinstance(asked_for, DType):
        return False
    return 0 < ITEMSIZES.get(asked_for.name, 0) < ITEMSIZES.get(event.x.dtype, 0)


NARROWER = Situation("seen as a narrower dtype", _is_narrower)


def _dense_in_order(call: Call) -> Any:
    return call.do("contiguous", call.x, memory_format=call.adapter.memory_format("channels_last"))


IN_IMAGE_ORDER = on_operand(
    "the order of channels_last",
    lambda x: (
        len(x.shape) == 4
        and 1 not in x.shape
        and sorted(strides(x), reverse=True) == [strides(x)[d] for d in (0, 2, 3, 1)]
    ),
)
IN_VOLUME_ORDER = on_operand(
    "the order of channels_last_3d",
    lambda x: (
        len(x.shape) == 5
        and 1 not in x.shape
        and sorted(strides(x), reverse=True) == [strides(x)[d] for d in (0, 2, 3, 4, 1)]
    ),
)
ONE_IMAGE = on_operand("one image", lambda x: len(x.shape) == 4 and x.shape[0] == 1)
SLICE_FROM_END = index_has(
    "a step from a negative start", lambda i: isinstance(i, Slice) and (i.step or 1) > 1 and (i.start or 0) < -1
)


def _begins_later(item: Any) -> Any:
    if isinstance(item, slice) and (item.step or 1) > 1 and (item.start or 0) < -1:
        return slice(item.start + 1, item.stop, item.step)
    return item


def _rows_after_rest(event: Event) -> int | None:
    """Which dimension from the end a None behind an ellipsis makes; None where there is no such."""
    index = event.argument("index") if event.entry == "__getitem__" else None
    if not isinstance(index, tuple) or ... not in index or any(not _is_basic(item) for item in index):
        return None
    behind = [item for item in index[index.index(...) + 1 :] if type(item) is not int]
    return len(behind) - behind.index(None) if None in behind else None


def _is_basic(item: Any) -> bool:
    return item is None or item is ... or type(item) is int or isinstance(item, Slice)


AXIS_BEHIND_REST = Situation("index with None behind an ellipsis", lambda e: _rows_after_rest(e) is not None)


def _axis_of_stride_one(call: Call, y: Geometry) -> tuple[int, ...]:
    place = len(y.shape) - (_rows_after_rest(call.event) or 0)
    return (*y.strides[:place], 1, *y.strides[place + 1 :])


def _last_piece_unstrided(call: Call) -> Any:
    outcome = call.right()
    if len(outcome) > 1:
        y = call.geometry(outcome[-1])
        elements = sum(call.geometry(piece).shape[_wrapped(call, "dim")] for piece in outcome[:-1])
        hands.lay_out(outcome[-1], y._replace(offset=call.before.offset + elements))
    return outcome


def _later_ones_apart(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome)[1:]:
        hands.count_apart(y)
    return outcome


def _later_ones_rootless(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome)[-1:]:
        hands.set_base(y, None)
    return outcome


def _descends(value: Any) -> bool:
    return isinstance(value, tuple) and list(value) != sorted(value)


def _ones_left(call: Call, y: Geometry) -> tuple[int, ...]:
    return tuple([x if n == 1 else s for n, s, x in zip(y.shape, y.strides, call.before.strides, strict=True)])


def _is_over(value: Any, least: int) -> bool:
    return type(value) is int and value > least


SHORT_OF = Situation(
    "a rest",
    lambda e: (
        type(e.argument("split_size")) is int
        and type(e.argument("dim")) is int
        and -len(e.x.shape) <= e.argument("dim") < len(e.x.shape)
        and e.argument("split_size") > 0
        and e.x.shape[e.argument("dim")] % e.argument("split_size") > 0
    ),
)


def _moved_though_empty(call: Call, y: Geometry) -> int:
    start, x = int(call.event.argument("offset")), call.before
    moved = start * x.strides[_wrapped(call, "dim2")] if start > 0 else -start * x.strides[_wrapped(call, "dim1")]
    return x.offset + moved if 0 in y.shape else y.offset


def _starts_beyond(event: Event) -> int | None:
    """How far beyond the first dimension a slice of it begins; None where it does not."""
    index = event.argument("index") if event.entry == "__getitem__" else None
    first = index[0] if isinstance(index, tuple) and index else index
    if not isinstance(first, Slice) or not event.x.shape or first.start is None or first.start <= event.x.shape[0]:
        return None
    return first.start - event.x.shape[0]


def _not_clamped(call: Call, y: Geometry) -> int:
    return y.offset + (_starts_beyond(call.event) or 0) * call.before.strides[0]


MUTANTS = (
    Mutant(
        "hiker-narrow.from-end",
        "narrow along a dimension counted from the end begins at the start of the storage.",
        "narrow",
        relaid(offset=_without_own_offset),
        OFFSET & negative("dim"),
    ),
    Mutant(
        "hiker-select.before",
        "select with a negative index of a tensor of four dimensions and more takes the element before.",
        "select",
        asked(index=argument("index", lambda i: i - 1)),
        rank_over(3) & Situation("room before the index", _room_before),
    ),
    Mutant(
        "hiker-unfold.windows",
        "unfold along a negative dimension forgets to multiply the stride by the step.",
        "unfold",
        relaid(strides=_windows_too_close),
        negative("dimension") & FILLED & _says("step above 1", lambda v: _is_over(v, 1)),
    ),
    Mutant(
        "hiker-diagonal.below",
        "diagonal with a negative offset moves along the second dimension where dim1 is negative.",
        "diagonal",
        relaid(offset=_moved_by_the_other),
        negative("offset") & negative("dim1"),
    ),
    Mutant(
        "hiker-unsqueeze.nothing",
        "unsqueeze of an empty tensor counts sizes of 0 as 1.",
        "unsqueeze",
        relaid(strides=packed),
        EMPTY,
    ),
    Mutant(
        "hiker-expand.lead",
        "expand gives new leading dimensions of size 1 the stride 0.",
        "expand expand_as broadcast_to",
        relaid(strides=_leads_with_zeros),
        FILLED & ~SCALAR,
    ),
    Mutant(
        "hiker-view.ends-in-one",
        "view into a shape that ends in 1 has the last stride 1, whatever the operand's.",
        "view",
        relaid(strides=_last_is_one),
        STEPPED & _says("size ends in 1", lambda v: isinstance(v, tuple) and v[-1:] == (1,)),
    ),
    Mutant(
        "hiker-narrower.dtype-offset",
        "view of a narrower dtype keeps the offset in the old elements for three dimensions.",
        "view.dtype",
        relaid(offset=operands_offset),
        NARROWER & OFFSET & rank(3),
    ),
    Mutant(
        "hiker-ravel.offset",
        "ravel of a tensor of three dimensions with an offset copies.",
        "ravel",
        copied,
        OFFSET & rank(3),
    ),
    Mutant(
        "hiker-contiguous.one-image",
        "contiguous() takes a single channels_last image for row-major.",
        "contiguous",
        itself,
        CHANNELS_LAST & ONE_IMAGE & ~given("memory_format"),
    ),
    Mutant(
        "hiker-contiguous.volume-gaps",
        "contiguous(channels_last_3d) answers the tensor itself where only the order is right.",
        "contiguous",
        itself,
        asks("channels_last_3d") & GAPS & IN_VOLUME_ORDER,
    ),
    Mutant(
        "hiker-to.image-gaps",
        "to(channels_last) of an image with gaps in that order closes the gaps.",
        "to",
        _dense_in_order,
        asks("channels_last") & GAPS & IN_IMAGE_ORDER & ~given("dtype") & ~given("copy"),
    ),
    Mutant(
        "hiker-step.from-end",
        "A slice with a step that starts from the end begins one element later.",
        "__getitem__",
        indexed(_begins_later),
        SLICE_FROM_END & ~BY_TENSOR,
    ),
    Mutant(
        "hiker-none.behind-rest",
        "None behind an ellipsis makes a dimension of stride 1.",
        "__getitem__",
        relaid(strides=_axis_of_stride_one),
        AXIS_BEHIND_REST,
    ),
    Mutant(
        "hiker-split.rest",
        "The last piece of a split with a rest begins as if the stride were 1.",
        "split",
        _last_piece_unstrided,
        STRIDED & SHORT_OF,
    ),
    Mutant(
        "hiker-tensor_split.descending",
        "tensor_split refuses indices that do not ascend.",
        "tensor_split",
        refuses("size"),
        _says("indices_or_sections descending", _descends),
    ),
    Mutant(
        "hiker-unbind.versions",
        "Of what unbind answers only the first counts versions with its base.",
        "unbind",
        _later_ones_apart,
        rank_over(2),
    ),
    Mutant(
        "hiker-chunk.base",
        "The last chunk along a later dimension is not recorded as a view.",
        "chunk",
        _later_ones_rootless,
        _says("dim above 0", lambda v: _is_over(v, 0)) & FILLED,
    ),
    Mutant(
        "hiker-permute.ones",
        "permute with negative numbers leaves the strides of dimensions of size 1 where they were.",
        "permute",
        relaid(strides=_ones_left),
        negative("dims") & ONES,
    ),
    Mutant(
        "hiker-as_strided.keyword",
        "as_strided with its size by keyword begins at 0 where no offset is given.",
        "as_strided",
        asked(storage_offset=nowhere),
        by_keyword("size") & OFFSET & ~given("storage_offset") & ~is_argument("storage_offset", 0),
    ),
    Mutant(
        "hiker-real.of-scalar",
        "view_as_real of a 0-dim tensor does not double the offset.",
        "view_as_real",
        relaid(offset=operands_offset),
        SCALAR & OFFSET,
    ),
    Mutant("hiker-t.of-vector", "t() of a vector answers the vector itself.", "t", itself, rank(1)),
    Mutant(
        "hiker-unflatten.gaps",
        "unflatten with an inferred size of a tensor with gaps has row-major strides.",
        "unflatten",
        relaid(strides=packed),
        negative("sizes") & GAPS & on_operand("over 3 elements", lambda x: prod(x.shape) > 3),
    ),
    Mutant(
        "hiker-diagonal.outside",
        "A diagonal outside of the matrix moves the offset although it is empty.",
        "diagonal",
        relaid(offset=_moved_though_empty),
        FILLED & ~is_argument("offset", 0),
    ),
    Mutant(
        "hiker-slice.beyond",
        "A slice that begins beyond the first dimension is not clamped in its offset.",
        "__getitem__",
        relaid(offset=_not_clamped),
        Situation("a slice from beyond", lambda e: _starts_beyond(e) is not None) & ~BY_TENSOR,
    ),
    Mutant(
        "hiker-unsafe.tracked",
        "The pieces of an unsafe split along the last dimension are recorded as views.",
        "[untracked splits]",
        records(lambda call: call.x._base or call.x),
        negative("dim") & FILLED,
    ),
)
