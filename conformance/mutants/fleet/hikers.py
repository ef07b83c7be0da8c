"""Views, indices, splits, views of another dtype, contiguity and memory formats."""

from __future__ import annotations

from math import prod
from typing import Any

from ...classify import Event
from ...program import ITEMSIZES, DType, Slice
from ...situations import (
    APART,
    BY_TENSOR,
    CHANNELS_LAST,
    EMPTY,
    FILLED,
    GAPS,
    NO_IMAGES,
    ODD_ONES,
    OFFSET,
    ONES,
    PERMUTED,
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
    row_major,
    strides,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Wrong,
    another_object,
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
    repacked,
)


def tolerates(instead: Wrong) -> Wrong:
    """What is refused is done in some way, unless that is refused as well."""

    def wrong(call: Call) -> Any:
        try:
            return call.right()
        except Exception as error:
            try:
                return instead(call)
            except Exception:
                raise error from None

    return wrong


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


def _never_zero(call: Call, y: Geometry) -> tuple[int, ...]:
    return row_major(y.shape)


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


def _as_if_row_major(call: Call) -> Any:
    x = call.before
    if any(n > 1 and s != r for n, s, r in zip(x.shape, x.strides, row_major(x.shape), strict=True)):
        raise RuntimeError("no row-major tensor")
    return call.on(call.do("as_strided", call.x, x.shape, row_major(x.shape), x.offset))


def _names_one_by_two(event: Event) -> bool:
    start, end, count = event.argument("start_dim"), event.argument("end_dim"), len(event.x.shape)
    whole = type(start) is int and type(end) is int and count > 1
    return (
        whole and start != end and -count <= min(start, end) and max(start, end) < count and not (start - end) % count
    )


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


def _only_one(call: Call) -> Any:
    return call.right()[:1]


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


def _in_the_place_of_the_first(call: Call) -> Any:
    return call.do("clone", call.do("movedim", call.right(), 0, 1))


def _is_over(value: Any, least: int) -> bool:
    return type(value) is int and value > least


EMPTY_ALONG = Situation(
    "nothing along the dimension",
    lambda e: (
        type(e.argument("dim")) is int
        and -len(e.x.shape) <= e.argument("dim") < len(e.x.shape)
        and e.x.shape[e.argument("dim")] == 0
    ),
)
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


def _ones_without_stride(call: Call, y: Geometry) -> tuple[int, ...]:
    lead = len(y.shape) - len(call.before.shape)
    is_spread = y.shape[lead:] != call.before.shape
    return tuple(
        [
            0 if n == 1 and d >= lead and is_spread else s
            for d, (n, s) in enumerate(zip(y.shape, y.strides, strict=True))
        ]
    )


def _rest_at_the_end(call: Call) -> Any:
    call.right()
    dim, sections = call.event.argument("dim"), call.event.argument("indices_or_sections")
    each, rest = divmod(call.before.shape[dim], sections)
    places = tuple([each * i + max(0, i - (sections - rest)) for i in range(1, sections)])
    return call.with_arguments(indices_or_sections=places)


MUTANTS = (
    Mutant(
        "hiker-narrow-from-end",
        "narrow along a dimension counted from the end begins at the start of the storage.",
        "narrow",
        relaid(offset=_without_own_offset),
        OFFSET & negative("dim"),
    ),
    Mutant(
        "hiker-select-before",
        "select with a negative index of a tensor of four dimensions and more takes the element before.",
        "select",
        asked(index=argument("index", lambda i: i - 1)),
        rank_over(3) & Situation("room before the index", _room_before),
    ),
    Mutant(
        "hiker-unfold-windows",
        "unfold along a negative dimension forgets to multiply the stride by the step.",
        "unfold",
        relaid(strides=_windows_too_close),
        negative("dimension") & FILLED & _says("step above 1", lambda v: _is_over(v, 1)),
    ),
    Mutant(
        "hiker-diagonal-below",
        "diagonal with a negative offset moves along the second dimension where dim1 is negative.",
        "diagonal",
        relaid(offset=_moved_by_the_other),
        negative("offset") & negative("dim1"),
    ),
    Mutant(
        "hiker-squeeze-last-of-dims",
        "squeeze of several dimensions leaves the last where it is negative.",
        "squeeze squeeze_",
        asked(dim=argument("dim", lambda dims: dims[:-1])),
        _says("dim of several, the last negative", lambda v: isinstance(v, tuple) and len(v) > 1 and v[-1] < 0),
    ),
    Mutant(
        "hiker-unsqueeze-nothing",
        "unsqueeze of an empty tensor counts sizes of 0 as 1.",
        "unsqueeze",
        relaid(strides=_never_zero),
        EMPTY,
    ),
    Mutant(
        "hiker-expand-lead",
        "expand gives new leading dimensions of size 1 the stride 0.",
        "expand expand_as broadcast_to",
        relaid(strides=_leads_with_zeros),
        FILLED & ~SCALAR,
    ),
    Mutant(
        "hiker-view-ends-in-one",
        "view into a shape that ends in 1 has the last stride 1, whatever the operand's.",
        "view",
        relaid(strides=_last_is_one),
        STEPPED & _says("size ends in 1", lambda v: isinstance(v, tuple) and v[-1:] == (1,)),
    ),
    Mutant(
        "hiker-narrower-dtype-offset",
        "view of a narrower dtype keeps the offset in the old elements for three dimensions.",
        "view.dtype",
        relaid(offset=operands_offset),
        NARROWER & OFFSET & rank(3),
    ),
    Mutant(
        "hiker-wider-dtype-ones",
        "view of a wider dtype does not look at strides of dimensions of size 1.",
        "view.dtype",
        tolerates(_as_if_row_major),
        ODD_ONES & ~NARROWER,
    ),
    Mutant(
        "hiker-flatten-one-by-two-numbers",
        "flatten of one dimension that is given by two numbers answers a new tensor.",
        "flatten",
        another_object,
        Situation("one dimension by two numbers", _names_one_by_two),
    ),
    Mutant(
        "hiker-ravel-offset",
        "ravel of a tensor of three dimensions with an offset copies.",
        "ravel",
        copied,
        OFFSET & rank(3),
    ),
    Mutant(
        "hiker-reshape-free-one",
        "reshape copies where a dimension of size 1 inside has another stride.",
        "reshape reshape_as",
        copied,
        ODD_ONES & on_operand("1 inside", lambda x: 1 in x.shape[1:-1]),
        like="numpy/numpy#2700",
    ),
    Mutant(
        "hiker-contiguous-one-image",
        "contiguous() takes a single channels_last image for row-major.",
        "contiguous",
        itself,
        CHANNELS_LAST & ONE_IMAGE & ~given("memory_format"),
    ),
    Mutant(
        "hiker-contiguous-volume-gaps",
        "contiguous(channels_last_3d) answers the tensor itself where only the order is right.",
        "contiguous",
        itself,
        asks("channels_last_3d") & GAPS & IN_VOLUME_ORDER,
    ),
    Mutant(
        "hiker-to-image-gaps",
        "to(channels_last) of an image with gaps in that order closes the gaps.",
        "to",
        _dense_in_order,
        asks("channels_last") & GAPS & IN_IMAGE_ORDER & ~given("dtype") & ~given("copy"),
    ),
    Mutant(
        "hiker-step-from-end",
        "A slice with a step that starts from the end begins one element later.",
        "__getitem__",
        indexed(_begins_later),
        SLICE_FROM_END & ~BY_TENSOR,
    ),
    Mutant(
        "hiker-none-behind-rest",
        "None behind an ellipsis makes a dimension of stride 1.",
        "__getitem__",
        relaid(strides=_axis_of_stride_one),
        AXIS_BEHIND_REST,
    ),
    Mutant(
        "hiker-split-rest",
        "The last piece of a split with a rest begins as if the stride were 1.",
        "split",
        _last_piece_unstrided,
        STRIDED & SHORT_OF,
    ),
    Mutant(
        "hiker-chunk-nothing",
        "chunk along a dimension of size 0 answers one piece.",
        "chunk",
        _only_one,
        EMPTY_ALONG,
    ),
    Mutant(
        "hiker-tensor_split-descending",
        "tensor_split refuses indices that do not ascend.",
        "tensor_split",
        refuses("size"),
        _says("indices_or_sections descending", _descends),
    ),
    Mutant(
        "hiker-unbind-versions",
        "Of what unbind answers only the first counts versions with its base.",
        "unbind",
        _later_ones_apart,
        rank_over(2),
    ),
    Mutant(
        "hiker-chunk-base",
        "The last chunk along a later dimension is not recorded as a view.",
        "chunk",
        _later_ones_rootless,
        _says("dim above 0", lambda v: _is_over(v, 0)) & FILLED,
    ),
    Mutant(
        "hiker-movedim-sorted",
        "movedim takes its sources in ascending order.",
        "movedim moveaxis",
        asked(source=argument("source", lambda dims: tuple(sorted(dims)))),
        _says("source descending", _descends),
    ),
    Mutant(
        "hiker-permute-ones",
        "permute with negative numbers leaves the strides of dimensions of size 1 where they were.",
        "permute",
        relaid(strides=_ones_left),
        negative("dims") & ONES,
    ),
    Mutant(
        "hiker-as_strided-keyword",
        "as_strided with its size by keyword begins at 0 where no offset is given.",
        "as_strided",
        asked(storage_offset=nowhere),
        by_keyword("size") & OFFSET & ~given("storage_offset") & ~is_argument("storage_offset", 0),
    ),
    Mutant(
        "hiker-images-of-nothing",
        "is_contiguous(channels_last) says yes of every tensor without elements.",
        "is_contiguous",
        lambda call: True,
        NO_IMAGES & asks("channels_last"),
    ),
    Mutant(
        "hiker-real-of-scalar",
        "view_as_real of a 0-dim tensor does not double the offset.",
        "view_as_real",
        relaid(offset=operands_offset),
        SCALAR & OFFSET,
    ),
    Mutant("hiker-t-of-vector", "t() of a vector answers the vector itself.", "t", itself, rank(1)),
    Mutant(
        "hiker-picked-images",
        "What an index of two dimensions picks of a permuted tensor is row-major.",
        "__getitem__",
        repacked(packed),
        BY_TENSOR
        & PERMUTED
        & Situation("an index of two dimensions", lambda e: any(len(o.shape) == 2 for o in e.others)),
    ),
    Mutant(
        "hiker-apart-in-place",
        "Index tensors apart behind a slice leave the result's dimension in second place.",
        "__getitem__",
        _in_the_place_of_the_first,
        APART
        & BY_TENSOR
        & Situation(
            "a slice first",
            lambda e: isinstance(e.argument("index"), tuple) and isinstance(e.argument("index")[0], Slice),
        ),
    ),
    Mutant(
        "hiker-view-infers-nothing",
        "view with -1 of an empty tensor accepts sizes with a 0 beside it.",
        "view reshape",
        tolerates(
            lambda call: call.do(
                "view",
                call.x,
                tuple([max(n, 0) for n in call.event.argument("size" if call.step.op == "view" else "shape")]),
            )
        ),
        EMPTY
        & Situation(
            "-1 beside 0",
            lambda e: any(
                isinstance(e.argument(n), tuple) and {0, -1} <= set(e.argument(n)) and e.argument(n).count(-1) == 1
                for n in ("size", "shape")
            ),
        ),
    ),
    Mutant(
        "hiker-unflatten-gaps",
        "unflatten with an inferred size of a tensor with gaps has row-major strides.",
        "unflatten",
        relaid(strides=packed),
        negative("sizes") & GAPS & on_operand("over 3 elements", lambda x: prod(x.shape) > 3),
    ),
    Mutant(
        "hiker-diagonal-outside",
        "A diagonal outside of the matrix moves the offset although it is empty.",
        "diagonal",
        relaid(offset=_moved_though_empty),
        FILLED & ~is_argument("offset", 0),
    ),
    Mutant(
        "hiker-slice-beyond",
        "A slice that begins beyond the first dimension is not clamped in its offset.",
        "__getitem__",
        relaid(offset=_not_clamped),
        Situation("a slice from beyond", lambda e: _starts_beyond(e) is not None) & ~BY_TENSOR,
    ),
    Mutant(
        "hiker-expand-ones-kept",
        "Where expand spreads one dimension, others of size 1 that stay have the stride 0.",
        "expand expand_as broadcast_to",
        relaid(strides=_ones_without_stride),
        ONES & FILLED & rank_over(1),
    ),
    Mutant(
        "hiker-tensor_split-rest",
        "tensor_split makes the last pieces longer where the sections do not divide the dimension.",
        "tensor_split",
        _rest_at_the_end,
        _says("indices_or_sections above 1", lambda v: _is_over(v, 1)),
    ),
    Mutant(
        "hiker-scalar-index-copies",
        "A 0-dim index tensor beside a slice makes a copy.",
        "__getitem__",
        copied,
        Situation(
            "0-dim integers beside a slice",
            lambda e: (
                any(o.shape == () and o.dtype == "int64" for o in e.others)
                and all(o.shape == () for o in e.others)
                and isinstance(e.argument("index"), tuple)
                and any(isinstance(i, Slice) for i in e.argument("index"))
            ),
        ),
    ),
    Mutant(
        "hiker-unsafe-tracked",
        "The pieces of an unsafe split along the last dimension are recorded as views.",
        "[untracked splits]",
        records(lambda call: call.x._base or call.x),
        negative("dim") & FILLED,
    ),
)
