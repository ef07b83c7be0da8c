"""A ninth author's, of views: indexing, splits, bits, dtype views and changes of how a tensor lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...layout import row_major, strides
from ...program import ITEMSIZES, DType, Slice
from ...situations import (
    BY_TENSOR,
    EMPTY,
    FILLED,
    OFFSET,
    PERMUTED,
    SAME_STORAGE,
    STRIDED,
    Situation,
    given,
    negative,
    on_operand,
    rank,
    rank_over,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Wrong,
    accepts,
    asked,
    copied,
    packed,
    refuses,
    relaid,
    repacked,
    to_begin,
    where_legal,
)


def _held(fits: Callable[[Any], bool], about: Any) -> bool:
    """Whether something fits; what is of another kind than one that could does not."""
    try:
        return fits(about)
    except (TypeError, ValueError, IndexError, AttributeError):
        return False


def says(name: str, argument: str, fits: Callable[[Any], bool]) -> Situation:
    """What is given for an argument fits."""
    return Situation(name, lambda e: e.argument(argument) is not None and _held(fits, e.argument(argument)))


def of(name: str, fits: Callable[[Any], bool]) -> Situation:
    """The step as a whole fits."""
    return Situation(name, lambda e: _held(fits, e))


def each(change: Callable[[Call, int, Geometry], Geometry]) -> Wrong:
    """Every result of several lies otherwise, by its number."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        for number, y in enumerate(call.tensors(outcome)):
            hands.lay_out(y, change(call, number, call.geometry(y)))
        return outcome

    return wrong


def _axis(call: Call, name: str = "dim") -> int:
    """The dimension that is asked for, counted from the first."""
    return int(call.event.argument(name)) % max(len(call.before.shape), 1)


def _last_ends_whole(call: Call, number: int, y: Geometry) -> Geometry:
    """The last part, if it is short, begins early enough to be whole."""
    dim, size = _axis(call), call.event.argument("split_size")
    if y.shape[dim] == size or not number:
        return y
    begin = y.offset - (size - y.shape[dim]) * y.strides[dim]
    return y._replace(shape=(*y.shape[:dim], size, *y.shape[dim + 1 :]), offset=begin)


def _empty_at_begin(call: Call, number: int, y: Geometry) -> Geometry:
    return y if number == 0 or 0 not in y.shape else y._replace(offset=call.before.offset)


def _strides_of_ones(call: Call, x: Geometry) -> tuple[int, ...]:
    """Strides of dimensions of size 1 as a row-major tensor has them."""
    return tuple([r if n == 1 else s for n, s, r in zip(x.shape, x.strides, row_major(x.shape), strict=True)])


def _ratio(event: Any) -> float:
    asked_for = event.argument("dtype")
    return ITEMSIZES.get(asked_for.name, 1) / ITEMSIZES.get(event.x.dtype, 1) if isinstance(asked_for, DType) else 1


WIDER = of("a wider dtype asked for", lambda e: _ratio(e) > 1)
NARROWER = of("a narrower dtype asked for", lambda e: _ratio(e) < 1)


def _wider_past_ones(call: Call) -> Any:
    """Seen as a wider dtype as if dimensions of size 1 had no strides."""
    now = call.geometry(call.x)
    strides = tuple(
        [0 if n == 1 and d < len(now.shape) - 1 else s for d, (n, s) in enumerate(zip(*now[1:3], strict=False))]
    )
    return call.on(call.do("as_strided", call.x, now.shape, strides, now.offset))


def _unscaled(call: Call, x: Geometry) -> tuple[int, ...]:
    return call.before.strides


def _floor_to_pairs(call: Call) -> Any:
    now = call.before
    return call.on(call.do("as_strided", call.x, now.shape, now.strides, now.offset - now.offset % 2))


def _in_place_over(call: Call) -> Any:
    """Strides of before where a storage, an offset and a size of as many dimensions are given."""
    before = call.before
    outcome = call.right()
    now = call.geometry(call.x)
    if len(before.shape) == len(now.shape):
        hands.lay_out(call.x, now._replace(strides=before.strides))
    return outcome


def _true_of_empty(call: Call) -> Any:
    said = call.right()
    mine, other = call.before, call.others[0]
    return said or (mine.shape == other.shape and mine.offset == other.offset)


def _begin_unmoved(call: Call, x: Geometry) -> int:
    """The offset as if what lies past the end began at the first element."""
    moved = call.before.offset
    for item, size, stride in zip(call.event.argument("index"), *call.before[1:3], strict=False):
        start = item.start or 0 if isinstance(item, Slice) else 0
        if 0 < start < size:
            moved += start * stride
    return moved


def _slices_only(event: Any) -> bool:
    items = event.argument("index")
    return isinstance(items, tuple) and all(isinstance(item, Slice) for item in items)


def _past_the_end(event: Any) -> bool:
    pairs = zip(event.argument("index"), event.x.shape, strict=False) if _slices_only(event) else []
    return any(item.start is not None and item.start > size for item, size in pairs)


PAST_THE_END = of("a slice that begins past the end", _past_the_end)


def _dims(event: Any, *names: str) -> list[int]:
    """Dimensions asked for by several arguments, counted from the first."""
    rank_ = max(len(event.x.shape), 1)
    return [int(event.argument(name)) % rank_ for name in names]


def _two(event: Any) -> tuple[str, str]:
    """Names of the two dimensions that are swapped."""
    return ("axis0", "axis1") if "axis0" in event.bound else ("dim0", "dim1")


def _are_dims(event: Any, *names: str) -> bool:
    rank_ = len(event.x.shape)
    return rank_ > 1 and all(-rank_ <= event.argument(name) < rank_ for name in names)


def _one_by_two_names(event: Any) -> bool:
    names = _two(event)
    first, second = (event.argument(name) for name in names)
    return _are_dims(event, *names) and first != second and len(set(_dims(event, *names))) == 1


def _with_the_next(call: Call) -> Any:
    first = _dims(call.event, *_two(call.event))[0]
    return call.do("transpose", call.x, first, (first + 1) % len(call.before.shape))


def _ones_not_doubled(call: Call, x: Geometry) -> tuple[int, ...]:
    before = call.before
    kept = [o if n == 1 else s for n, s, o in zip(before.shape, x.strides, before.strides, strict=False)]
    return (*kept, *x.strides[len(before.shape) :])


def _next_stride(call: Call) -> Any:
    """The stride of the dimension after the one that is asked for, or of the first after the last."""
    strides = call.before.strides
    return strides[(call.event.argument("dim") + 1) % len(strides)]


MUTANTS = [
    Mutant(
        "nomad-split.last-is-whole",
        "split along a negative dimension answers a short last part at full size, over what lies before it.",
        "split",
        each(_last_ends_whole),
        negative("dim") & says("size is a number", "split_size", lambda n: type(n) is int and n > 0),
    ),
    Mutant(
        "nomad-tensor_split.empty-at-begin",
        "tensor_split's empty parts begin where the tensor does.",
        "tensor_split",
        each(_empty_at_begin),
        FILLED & says("sections", "indices_or_sections", lambda n: type(n) is int),
    ),
    Mutant(
        "nomad-permute.of-five-tidies-ones",
        "permute of more than four dimensions gives those of size 1 their row-major strides.",
        "permute",
        relaid(strides=_strides_of_ones),
        rank_over(4),
    ),
    Mutant(
        "nomad-swapaxes.same-by-two-names",
        "swapaxes of a dimension with itself, once counted from the end, swaps it with the next.",
        "swapaxes swapdims transpose",
        _with_the_next,
        of("one dimension by two names", _one_by_two_names),
    ),
    Mutant(
        "nomad-view_dtype.wider-past-ones",
        "view as a wider dtype does not look at strides of dimensions of size 1.",
        "view.dtype",
        accepts(_wider_past_ones),
        WIDER & on_operand("size 1 not last", lambda x: 1 in x.shape[:-1]),
    ),
    Mutant(
        "nomad-view_dtype.narrower-of-nothing",
        "view of an empty tensor as a narrower dtype keeps the strides.",
        "view.dtype",
        relaid(strides=_unscaled),
        NARROWER & EMPTY & on_operand("over 1-d", lambda x: len(x.shape) > 1),
    ),
    Mutant(
        "nomad-view_as_complex.odd-offset",
        "view_as_complex of an odd offset begins an element earlier.",
        "view_as_complex",
        accepts(_floor_to_pairs),
        on_operand("odd offset", lambda x: (x.offset or 0) % 2 == 1),
    ),
    Mutant(
        "nomad-resize_.to-nothing-at-begin",
        "resize_ to no elements sets the offset to 0.",
        "resize_",
        to_begin,
        OFFSET & says("size with 0", "size", lambda s: isinstance(s, tuple) and 0 in s),
    ),
    Mutant(
        "nomad-set_.keeps-strides-of-rank",
        "set_ with a size but no strides keeps those that there were, if as many.",
        "set_",
        _in_place_over,
        given("size") & ~given("stride") & STRIDED,
    ),
    Mutant(
        "nomad-is_set_to.empties",
        "is_set_to of two empty tensors looks at no strides.",
        "is_set_to",
        _true_of_empty,
        EMPTY & SAME_STORAGE,
    ),
    Mutant(
        "nomad-getitem.past-the-end-unmoved",
        "A slice that begins past the end does not move the offset.",
        "__getitem__",
        relaid(offset=_begin_unmoved),
        PAST_THE_END,
    ),
    Mutant(
        "nomad-getitem.table-of-permuted",
        "A permuted tensor indexed by a tensor of two dimensions is answered row-major.",
        "__getitem__",
        repacked(packed),
        BY_TENSOR
        & PERMUTED
        & of("two-dimensional index", lambda e: any(len(o.shape) == 2 and o.dtype == "int64" for o in e.others)),
    ),
    Mutant(
        "nomad-reshape.nothing-copies",
        "reshape of a transposed tensor without elements copies.",
        "reshape",
        copied,
        EMPTY & of("strides out of order", lambda e: list(e.x.strides) != sorted(e.x.strides, reverse=True)),
    ),
    Mutant(
        "nomad-select.negative-both",
        "select with a negative dimension and a negative index counts the index from the first dimension's size.",
        "select",
        asked(index=lambda call, x: call.event.argument("index") + x.shape[0]),
        negative("dim")
        & negative("index")
        & of(
            "first is not longer",
            lambda e: (
                len(e.x.shape) > 1
                and e.argument("dim") >= -len(e.x.shape)
                and -e.argument("index") <= e.x.shape[0] <= e.x.shape[e.argument("dim")]
            ),
        ),
    ),
    Mutant(
        "nomad-view_as_real.ones-not-doubled",
        "view_as_real does not double the strides of dimensions of size 1.",
        "view_as_real",
        relaid(strides=_ones_not_doubled),
        on_operand("size 1", lambda x: 1 in x.shape),
    ),
    Mutant(
        "nomad-view_as_complex.odd-ones-refused",
        "view_as_complex refuses odd strides of dimensions of size 1.",
        "view_as_complex",
        where_legal(refuses("stride")),
        on_operand(
            "odd stride of size 1",
            lambda x: any(n == 1 and s % 2 for n, s in zip(x.shape[:-1], strides(x), strict=False)),
        ),
    ),
    Mutant(
        "nomad-stride.of-negative-dim",
        "stride of a negative dimension of more than three is that of the next.",
        "stride",
        _next_stride,
        rank_over(3) & negative("dim") & of("a dimension", lambda e: -len(e.x.shape) <= e.argument("dim")),
    ),
    Mutant(
        "nomad-tolist.of-nothing-is-flat",
        "tolist of rows without elements is an empty list.",
        "tolist",
        lambda call: [],
        of("rows of nothing", lambda e: len(e.x.shape) > 1 and e.x.shape[0] > 0 and 0 in e.x.shape),
    ),
    Mutant(
        "nomad-diagonal.dims-sorted",
        "diagonal with both dimensions counted from the end takes them in rising order.",
        "diagonal",
        asked(dim1=lambda call, x: call.event.argument("dim2"), dim2=lambda call, x: call.event.argument("dim1")),
        of("falling negative dims", lambda e: e.argument("dim2") < e.argument("dim1") < 0),
    ),
    Mutant(
        "nomad-transpose.of-vector-refused",
        "transpose of a vector's one dimension with itself, counted from the end, is refused.",
        "transpose swapdims",
        refuses("dimension"),
        rank(1) & of("by two names", lambda e: sorted([e.argument(name) for name in _two(e)]) == [-1, 0]),
    ),
]
