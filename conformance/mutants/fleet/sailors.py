"""A tenth author's, of writes: copies, overlap, out=, output layouts, resize_ and set_, versions, calls that fail."""

from __future__ import annotations

from math import prod
from typing import Any

from ...classify import Event
from ...layout import extent, numel, row_major, strides
from ...observation import TensorState
from ...program import Ref, Slice
from ...situations import (
    ALWAYS,
    AMBIGUOUS,
    CHANNELS_LAST,
    CODES,
    EMPTY,
    EXPANDED,
    FILLED,
    MANY,
    NUMBER,
    OFFSET,
    ONE_OVER,
    ONE_SHORT,
    OTHER_OFFSET,
    OTHER_STRIDED,
    OTHERS,
    PERMUTED,
    ROW_MAJOR,
    SPREAD,
    STRIDED,
    VIEW,
    Situation,
    asks,
    by_keyword,
    dtype,
    given,
    index_has,
    on_operand,
    on_other,
    rank,
    rank_over,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    asked,
    beyond,
    counted,
    counts,
    counts_apart,
    every,
    last,
    leaves,
    nowhere,
    packed,
    reads_other,
    records,
    refuses,
    relaid,
    repacked,
    skips,
    spills,
    tolerates,
    writes,
)


def _range(state: TensorState) -> tuple[int, int]:
    return extent(state.shape, strides(state), state.offset or 0)


def _disjoint(event: Event) -> bool:
    low, high = _range(event.x)
    return any(
        o.storage == event.x.storage and o.dtype == event.x.dtype and (_range(o)[0] >= high or _range(o)[1] <= low)
        for o in event.others
    )


DISJOINT = Situation("apart in one storage", _disjoint)
ODD_NOTHING = on_operand("empty, not as row-major", lambda x: 0 in x.shape and strides(x) != row_major(x.shape))
SPREAD_INSIDE = on_operand(
    "expanded behind the first dimension",
    lambda x: len(x.shape) > 2 and any(n > 1 and s == 0 for n, s in zip(x.shape[1:], strides(x)[1:], strict=True)),
)


def _rest_of_sixteen(x: Geometry) -> list[int]:
    count = prod(x.shape)
    return list(beyond(count - count % 16)(x))


def _later_matrices(x: Geometry) -> list[int]:
    return every(x)[prod(x.shape[-2:]) :]


def _outs(call: Call) -> list[Any]:
    given_out = [v for name, v in call.step.kwargs if name == "out" and isinstance(v, Ref)]
    return [call.live[ref.key] for ref in given_out]


def _out_uncounted(call: Call) -> Any:
    before = [(x, x._version) for x in _outs(call)]
    outcome = call.right()
    for x, version in before:
        hands.set_version(x, version)
    return outcome


WITH_OUT = Situation("out=", lambda e: bool(e.outs))
OUT_OFFSET = Situation("out= with an offset", lambda e: any(bool(o.offset) and 0 not in o.shape for o in e.outs))


def _size(event: Event) -> tuple[int, ...] | None:
    size = event.argument("size")
    return size if isinstance(size, tuple) and all(type(n) is int and n >= 0 for n in size) else None


def _is_same_size(event: Event) -> bool:
    return _size(event) == event.x.shape


SAME_SIZE = Situation("the size that it has", _is_same_size)


def _shifts(call: Call) -> None:
    x = call.before
    hands.lay_out(call.x, x._replace(shape=(), strides=()))


def _stays(event: Event) -> bool:
    dim, shape = event.argument("dim"), event.x.shape
    return type(dim) is int and -len(shape) <= dim < len(shape) and shape[dim] != 1


def _one_dim_by_two(event: Event) -> bool:
    dims, count = (event.argument("dim0"), event.argument("dim1")), len(event.x.shape)
    return count > 0 and all(type(d) is int and -count <= d < count for d in dims) and (dims[0] - dims[1]) % count == 0


def _roots(call: Call) -> Any:
    return call.x._base


def _as_images(call: Call, y: Geometry) -> tuple[int, ...]:
    _, c, h, w = y.shape
    return (h * w * c, 1, w * c, c)


def _first_alone_in_order(event: Event) -> bool:
    return event.x.contiguity == "FTF" and any(o.contiguity == "TFF" and len(o.shape) == 4 for o in event.others)


def _on_elements_only(call: Call) -> Any:
    """What an expanded tensor's elements are, once each, is what is written."""
    x = call.before
    shape = tuple([1 if s == 0 else n for n, s in zip(x.shape, x.strides, strict=True)])
    call.on(call.do("as_strided", call.x, shape, x.strides, x.offset))
    return call.x


IMAGES_WITH_GAPS = on_operand(
    "images in order with gaps",
    lambda x: (
        len(x.shape) == 4
        and min(x.shape) > 1
        and [strides(x)[d] for d in (0, 2, 3, 1)] == sorted(strides(x), reverse=True)
        and x.contiguity == "FFF"
    ),
)


def _first_strides(call: Call, y: Geometry) -> tuple[int, ...]:
    return call.before.strides if y.shape == call.before.shape else y.strides


def _both_images(event: Event) -> bool:
    return event.x.contiguity == "FTF" and any(
        o.contiguity == "FTF" and o.shape == event.x.shape and o.dtype == event.x.dtype for o in event.others
    )


STEPS_FORWARD = ~index_has("the step 0", lambda item: isinstance(item, Slice) and item.step == 0)

MUTANTS = (
    Mutant(
        "sailor-clone.nothing",
        "clone of a tensor without elements has row-major strides.",
        "clone empty_like zeros_like",
        relaid(strides=packed),
        ODD_NOTHING,
        like="pytorch/pytorch#173206",
    ),
    Mutant(
        "sailor-clone.both-formats",
        "clone of a tensor in two memory formats is row-major.",
        "clone",
        repacked(packed),
        AMBIGUOUS & ~CODES & ~given("memory_format"),
    ),
    Mutant(
        "sailor-clone.spread",
        "clone of a tensor expanded inside is row-major.",
        "clone to",
        repacked(packed),
        SPREAD_INSIDE & ~CODES & ~given("memory_format"),
    ),
    Mutant(
        "sailor-copy_.rest",
        "copy_ from a source in another order leaves the rest of a count of sixteens.",
        "copy_",
        skips(_rest_of_sixteen),
        ONE_OVER & OTHER_STRIDED,
    ),
    Mutant(
        "sailor-copy_.neighbours",
        "copy_ between two parts of one storage is refused although they are apart.",
        "copy_",
        refuses("overlap"),
        DISJOINT & FILLED,
    ),
    Mutant(
        "sailor-zero_.five",
        "zero_ of five dimensions begins at the start of the storage.",
        "zero_",
        writes(offset=nowhere),
        rank(5) & OFFSET,
    ),
    Mutant(
        "sailor-mul_.last",
        "Multiplying by a number in place leaves the last element of one more than sixteens.",
        "mul_ add_ sub_ div_",
        skips(last),
        ONE_OVER & NUMBER,
    ),
    Mutant(
        "sailor-neg_.complex-view",
        "Unary operations in place count two versions on complex views.",
        "neg_ abs_ exp_ sqrt_ square_ reciprocal_ sgn_",
        counts(2),
        VIEW & dtype("complex64", "complex128"),
    ),
    Mutant(
        "sailor-add_.nothing",
        "Arithmetic in place on no elements counts no version.",
        "add_ mul_ sub_ div_ neg_",
        counts(0),
        EMPTY,
    ),
    Mutant(
        "sailor-out.offset-scan",
        "Scans into out= with an offset count no version.",
        "cumsum cumprod",
        _out_uncounted,
        OUT_OFFSET,
    ),
    Mutant(
        "sailor-resize_.volumes",
        "resize_ in channels_last_3d to no more elements is row-major.",
        "resize_",
        asked(memory_format=lambda call, x: None),
        asks("channels_last_3d") & ~Situation("more", lambda e: prod(_size(e) or (0,)) > numel(e.x)) & ~SAME_SIZE,
    ),
    Mutant(
        "sailor-set_.refused",
        "set_ to a tensor of another dtype is refused, but has counted a version.",
        "set_",
        leaves(counted),
        on_operand("any", lambda x: True) & OTHERS,
    ),
    Mutant(
        "sailor-as_strided_.refused",
        "as_strided_ out of bounds leaves a 0-dim tensor behind.",
        "as_strided_",
        leaves(_shifts),
        FILLED & Situation("sizes", lambda e: isinstance(e.argument("size"), tuple)),
    ),
    Mutant(
        "sailor-squeeze_.idle",
        "squeeze_ of a dimension that stays counts no version.",
        "squeeze_",
        counts(0),
        Situation("a dimension that stays", _stays),
    ),
    Mutant(
        "sailor-transpose_.idle",
        "transpose_ of a dimension with itself counts no version.",
        "transpose_ swapaxes_ swapdims_",
        counts(0),
        Situation("one dimension by two numbers", _one_dim_by_two),
    ),
    Mutant(
        "sailor-index_put_.views",
        "index_put_ on a tensor with an offset does not accumulate.",
        "index_put_",
        asked(accumulate=lambda call, x: False),
        given("accumulate") & OFFSET,
    ),
    Mutant(
        "sailor-masked_fill_.mask",
        "masked_fill_ in three dimensions reads any mask as row-major.",
        "masked_fill_ masked_fill",
        reads_other(strides=packed),
        rank(3) & on_other("mask in another order", lambda o: o.contiguity[0] == "F" and o.dtype == "bool"),
    ),
    Mutant(
        "sailor-assign.spread",
        "A part assigned to more elements is read from the start of its storage.",
        "__setitem__",
        reads_other(offset=nowhere),
        STEPS_FORWARD & SPREAD & OTHER_OFFSET,
    ),
    Mutant(
        "sailor-sum.of-spread",
        "The sum of an expanded tensor and one in another order is row-major.",
        "add sub mul",
        repacked(packed),
        EXPANDED & OTHER_STRIDED & ~WITH_OUT,
    ),
    Mutant(
        "sailor-like.images",
        "Factories like an image in channels_last with gaps are row-major.",
        "zeros_like ones_like full_like empty_like",
        repacked(packed),
        IMAGES_WITH_GAPS & ~given("memory_format"),
        like="pytorch/pytorch#45505",
    ),
    Mutant(
        "sailor-detach.base",
        "detach of a view is recorded as a view of the root.",
        "detach",
        records(_roots),
        VIEW & on_operand("over 0-d", lambda x: len(x.shape) > 0),
    ),
    Mutant(
        "sailor-cat.first",
        "cat of images is channels_last where the first is.",
        "cat concat",
        repacked(_as_images),
        Situation("only the first in channels_last", _first_alone_in_order) & ~WITH_OUT,
    ),
    Mutant(
        "sailor-tril_.batch",
        "tril_ and triu_ of several matrices in another order do the first only.",
        "tril_ triu_",
        skips(_later_matrices),
        rank(3) & STRIDED,
    ),
    Mutant(
        "sailor-spread.integers",
        "Arithmetic in place on expanded integers is done once for each place.",
        "add_ mul_ sub_",
        tolerates(_on_elements_only),
        EXPANDED & dtype("int64", "int32", "uint8", "int16", "int8") & NUMBER,
    ),
    Mutant(
        "sailor-fill_diagonal_.tall",
        "fill_diagonal_ with wrap by keyword does not wrap.",
        "fill_diagonal_",
        asked(wrap=lambda call, x: False),
        by_keyword("wrap") & given("wrap"),
    ),
    Mutant(
        "sailor-fill_.over",
        "fill_ of doubles above 64 elements writes one more.",
        "fill_",
        spills(lambda x: [max(every(x)) + 1]),
        MANY & dtype("float64", "int64", "complex64") & ROW_MAJOR & ONE_SHORT,
    ),
    Mutant(
        "sailor-to.permuted",
        "A conversion of a permuted tensor of four dimensions is row-major.",
        "to double float half",
        repacked(packed),
        PERMUTED & ~CHANNELS_LAST & rank(4) & ~given("memory_format") & ALWAYS,
    ),
    Mutant(
        "sailor-detach.counts",
        "detach of a part with an offset counts versions apart.",
        "detach",
        counts_apart,
        VIEW & OFFSET,
    ),
    Mutant(
        "sailor-images.of-ones",
        "The sum of two images in channels_last takes the first's strides in dimensions of size 1.",
        "add sub mul",
        relaid(strides=_first_strides),
        Situation("both in channels_last", _both_images)
        & on_operand("size 1, in order", lambda x: 1 in x.shape)
        & ~WITH_OUT,
    ),
    Mutant(
        "sailor-squeeze_.part",
        "squeeze_ of four dimensions and more loses the offset of a part.",
        "squeeze_ unsqueeze_",
        relaid(offset=nowhere),
        VIEW & OFFSET & rank_over(3),
    ),
)
