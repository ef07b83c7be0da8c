"""More of that stranger's: reductions, rearrangements, joins, gathers, writes and images."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan
from typing import Any

from ...classify import Event
from ...situations import (
    CHANNELS_LAST,
    FILLED,
    OTHER_NOTHING,
    OTHER_STRIDED,
    PERMUTED,
    STRIDED,
    Situation,
    dim_of,
    dtype,
    given,
    is_argument,
    other,
    rank,
)
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Change,
    Refused,
    asked,
    counted,
    leaves,
    packed,
    reads,
    reads_other,
    refuses,
    relaid,
    repacked,
    where_legal,
)
from .guests import NARROW, WHOLE, _is, _size
from .strangers import FLOATS, OUT, _in_row_major_order, _silently, second, sizes_of

INDEX_INT32 = Situation("index of int32", lambda e: (i := other(e, "index")) is not None and i.dtype == "int32")
IN_A_DIMENSION = Situation("in a dimension", lambda e: dim_of(e) is not None)
IN_NO_DIMENSION = Situation("in no dimension", lambda e: e.argument("dim") is None)

# Reductions, scans and orders.


def _place_in_order(call: Call, y: Any) -> Any:
    places = call.on(call.do("sort", call.x, dim_of(call.event))[0])[1]
    return _silently(y, lambda: y.copy_(places))


def _from_largest(call: Call, x: Geometry) -> int:
    return (_size(call.event) or 1) + 1 - int(call.event.argument("k"))


def _infinite_lost(call: Call) -> Any:
    y = call.right()
    return _silently(y, lambda: y.masked_fill_(call.do("isinf", y), nan))


def _upper_middle(call: Call) -> Any:
    e = call.event
    return call.do("kthvalue", call.x, _size(e) // 2 + 1, dim_of(e), e.argument("keepdim"))


def _without_nan(call: Call) -> Any:
    least = -inf if call.step.op == "amax" else inf
    return call.on(call.do("nan_to_num", call.x, least, inf, -inf))


def _turned_round(call: Call) -> Any:
    outcome, dim = call.right(), dim_of(call.event)
    for y in call.tensors(outcome):
        _silently(y, partial(y.copy_, call.do("flip", y, (dim,))))
    return outcome


def _in_memory(which: int) -> Any:
    """Sizes or strides in the order in which the dimensions lie in memory."""

    def change(call: Call, x: Geometry) -> tuple[int, ...]:
        pairs = sorted(zip(x.shape, x.strides, strict=True), key=lambda pair: -pair[1])
        return tuple([pair[which] for pair in pairs])

    return change


def _power(value: Any) -> bool:
    return _is(value, int, float) and value == 0


REDUCTIONS = (
    Mutant(
        "guests.mode-place-in-order",
        "mode answers a place that the value has after sorting.",
        "mode",
        second(_place_in_order),
        IN_A_DIMENSION & FILLED & ~OUT,
    ),
    Mutant(
        "guests.kthvalue-from-largest",
        "kthvalue counts from the largest.",
        "kthvalue",
        where_legal(asked(k=_from_largest)),
    ),
    Mutant(
        "guests.std-no-correction",
        "std and var take a correction of 0 for the default.",
        "std var std_mean var_mean",
        asked(correction=lambda call, x: 1),
        Situation("correction=0", lambda e: _power(e.argument("correction"))),
    ),
    Mutant(
        "guests.cumsum-narrow",
        "cumsum and cumprod of narrow integers keep their dtype.",
        "cumsum cumprod",
        asked(dtype=lambda call, x: getattr(call.adapter.namespace, x.dtype)),
        dtype(*NARROW) & is_argument("dtype", None) & ~OUT,
    ),
    Mutant(
        "guests.logsumexp-of-infinite",
        "logsumexp is NaN where it is infinite: the maximum is taken off unasked.",
        "logsumexp",
        _infinite_lost,
        dtype(*FLOATS) & ~OUT,
    ),
    Mutant(
        "guests.median-upper",
        "The median of an even number of integers in a dimension is the upper of the two, where it lies.",
        "median",
        _upper_middle,
        dtype(*WHOLE[1:]) & IN_A_DIMENSION & ~OUT & Situation("even", lambda e: _size(e) % 2 == 0),
    ),
    Mutant(
        "guests.amax-without-nan",
        "amax and amin pass over NaN.",
        "amax amin",
        where_legal(_without_nan),
        dtype(*FLOATS) & ~OUT,
    ),
    Mutant(
        "guests.argmax-in-memory",
        "argmax and argmin of a permuted tensor count places in the order of memory.",
        "argmax argmin",
        reads(shape=_in_memory(0), strides=_in_memory(1)),
        PERMUTED & IN_NO_DIMENSION,
    ),
    Mutant(
        "guests.sort-places-row-major",
        "sort of a permuted tensor answers its places row-major.",
        "sort",
        second(_in_row_major_order),
        PERMUTED & ~OUT,
    ),
    Mutant(
        "guests.topk-smallest-descending",
        "topk of the smallest has the largest of them first.",
        "topk",
        _turned_round,
        is_argument("largest", False) & is_argument("sorted", True) & IN_A_DIMENSION & ~OUT,
    ),
)


# Rearrangements, joins, gathers and writes.


def _all_vectors(e: Event) -> bool:
    return all(len(state.shape) == 1 for state in (e.x, *e.others))


def _embedded(which: Callable[[int, int], int]) -> Change:
    """The lesser or the greater of two dimensions of what has one more than the operand."""

    def change(call: Call, x: Geometry) -> int:
        rank = len(x.shape) + 1
        return which(call.event.argument("dim1") % rank, call.event.argument("dim2") % rank)

    return change


def _full_ones(call: Call) -> Any:
    return call.given([tuple([x for x in call.args[0] if tuple(x.shape) != (0,)]), *call.args[1:]])


def _refuses_negative(call: Call) -> Any:
    index = call.named("index")
    if index is not None and min(call.do("reshape", index, (-1,)).tolist(), default=0) < 0:
        raise Refused("index")
    return call.right()


def _padding_blank(call: Call) -> Any:
    weight, padding, y = call.named("weight"), call.event.argument("padding_idx"), call.right()
    mask = call.do("eq", call.x, padding % weight.shape[0])
    return _silently(y, lambda: y.masked_fill_(call.do("unsqueeze", mask, -1), 0))


def _round_and_round(e: Event) -> bool:
    shift, n = e.argument("shifts"), _size(e, "dims")
    return _is(shift, int) and n > 0 and abs(shift) > n and bool(shift % n)


def _weight_last(e: Event) -> bool:
    weight = other(e, "weight")
    return weight is not None and weight.contiguity == "FTF" and e.x.contiguity[0] == "T"


NO_GRAD = Situation("no grad", lambda e: not any("g" in (o.flags or "") for o in (e.x, *e.others)))
NOTHING_ELSEWHERE = Situation(
    "nothing of another dtype", lambda e: any(o.shape == (0,) and o.dtype != e.x.dtype for o in e.others)
)
TALL = Situation("tall matrix", lambda e: len(e.x.shape) == 2 and e.x.shape[0] > e.x.shape[1] + 1 > 1)
FEWER_DIMS = Situation("fewer dims", lambda e: len(sizes_of(e, "dims")) < len(e.x.shape))
AS_LARGE = Situation("as large", lambda e: sizes_of(e, "size") == e.x.shape and e.argument("memory_format") is None)

PLACES = (
    Mutant(
        "guests.column-stack-end-to-end",
        "column_stack joins vectors end to end.",
        "column_stack",
        lambda call: call.do("hstack", call.args[0]),
        Situation("vectors only", _all_vectors) & ~OUT,
    ),
    Mutant(
        "guests.cat-dtype-of-nothing",
        "cat does not ask an empty vector for its dtype.",
        "cat concat",
        where_legal(_full_ones),
        OTHER_NOTHING & NOTHING_ELSEWHERE & Situation("first of more", lambda e: e.x.shape != (0,)) & NO_GRAD & ~OUT,
    ),
    Mutant(
        "guests.tile-from-front",
        "tile with fewer numbers than dimensions counts them from the first dimension.",
        "tile",
        where_legal(asked(dims=lambda call, x: (*(d := sizes_of(call.event, "dims")), *[1] * (len(x.shape) - len(d))))),
        FEWER_DIMS,
    ),
    Mutant(
        "guests.roll-round-and-round",
        "roll by more than a dimension's size moves nothing.",
        "roll",
        asked(shifts=lambda call, x: 0),
        Situation("shift above the size", _round_and_round),
    ),
    Mutant(
        "guests.repeat-interleave-in-memory",
        "repeat_interleave of a permuted tensor in no dimension takes elements in the order of memory.",
        "repeat_interleave",
        reads(shape=_in_memory(0), strides=_in_memory(1)),
        PERMUTED & IN_NO_DIMENSION,
    ),
    Mutant(
        "guests.nonzero-row-by-row",
        "nonzero and argwhere answer row-major.",
        "nonzero argwhere",
        repacked(packed),
        ~OUT,
    ),
    Mutant(
        "guests.take-negative",
        "take refuses places counted from the end.",
        "take",
        _refuses_negative,
        Situation("int64", lambda e: (i := other(e, "index")) is not None and i.dtype == "int64"),
    ),
    Mutant(
        "guests.index-int32",
        "index_select and index_add refuse places of int32.",
        "index_select index_add",
        where_legal(refuses("dtype")),
        INDEX_INT32,
    ),
    Mutant(
        "guests.index-row-major",
        "index_select, take and gather read the places as if they lay row-major.",
        "index_select take gather",
        reads_other(strides=packed),
        OTHER_STRIDED & ~OUT,
    ),
    Mutant(
        "guests.embedding-padding",
        "embedding answers zeros for the padding's number.",
        "nn.functional.embedding",
        _padding_blank,
        Situation("padding", lambda e: _is(e.argument("padding_idx"), int)) & NO_GRAD,
    ),
    Mutant(
        "guests.refused-index-counts",
        "index_copy_ and index_fill_ count a version though they refuse.",
        "index_copy_ index_fill_",
        leaves(counted),
    ),
    Mutant(
        "guests.diag-embed-ordered",
        "diag_embed takes its two dimensions in ascending order, so that the diagonal lies on the other side.",
        "diag_embed",
        where_legal(asked(dim1=_embedded(min), dim2=_embedded(max))),
        Situation("off the diagonal", lambda e: e.argument("offset") not in (0, None)),
    ),
    Mutant(
        "guests.fill-diagonal-wraps",
        "fill_diagonal_ begins again below the square of a tall matrix though wrap is not given.",
        "fill_diagonal_",
        asked(wrap=lambda call, x: True),
        TALL & ~given("wrap"),
    ),
    Mutant(
        "guests.resize-packs",
        "resize_ to the sizes that there are makes the strides row-major.",
        "resize_",
        relaid(strides=packed),
        STRIDED & AS_LARGE,
    ),
)


# Images.

IMAGES = (
    Mutant(
        "guests.conv-format-of-weight",
        "conv2d of a row-major image answers row-major, whatever the weight's format.",
        "conv2d",
        repacked(packed),
        rank(4) & Situation("weight channels_last", _weight_last),
    ),
    Mutant(
        "guests.pool-places-row-major",
        "max_pool2d of a channels_last image answers its places row-major.",
        "nn.functional.max_pool2d",
        second(_in_row_major_order),
        CHANNELS_LAST & given("return_indices"),
    ),
    Mutant(
        "guests.group-norm-row-major",
        "group_norm of a channels_last image is row-major.",
        "nn.functional.group_norm",
        repacked(packed),
        CHANNELS_LAST,
    ),
    Mutant(
        "guests.avg-pool-divisor-ceil",
        "Average pooling counts the padding where sizes are rounded up, though it was told not to.",
        "nn.functional.avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d",
        asked(count_include_pad=lambda call, x: True),
        is_argument("count_include_pad", False) & is_argument("ceil_mode", True),
    ),
)

MUTANTS = (*REDUCTIONS, *PLACES, *IMAGES)
