"""An outsider's fleet: declared by somebody who had seen neither the other fleets nor how programs are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...classify import Event
from ...layout import may_overlap, numel, row_major, strides
from ...observation import TensorState
from ...program import Ref, Slice
from ...situations import (
    BY_TENSOR,
    CHANNELS_LAST,
    CONVERTS,
    EMPTY,
    MIXED,
    OFFSET,
    OTHER_SCALAR,
    PERMUTED,
    SAME_STORAGE,
    STEPS,
    STRIDED,
    Situation,
    asks,
    by_keyword,
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
    Refused,
    accepts,
    asked,
    copied,
    counts,
    every,
    last,
    packed,
    relaid,
    repacked,
    skips,
    writes,
)  # fmt: skip


def _when(name: str, holds: Callable[[Event], Any]) -> Situation:
    return Situation(name, lambda e: bool(holds(e)))


def _number(event: Event, name: str, default: int = 0) -> int:
    value = event.argument(name)
    return value if type(value) is int else default


def _tuple(event: Event, name: str) -> tuple[Any, ...]:
    value = event.argument(name)
    return value if isinstance(value, tuple) and not isinstance(value, Ref) else ()


def _wrapped(event: Event, name: str) -> int:
    """A dimension counted from the front; 0 where it is none."""
    count = len(event.x.shape)
    number = _number(event, name)
    return number % count if count and -count <= number < count else 0


def _size(event: Event, name: str) -> int:
    """Size of the dimension that an argument names, 0 where it names none."""
    count = len(event.x.shape)
    number = _number(event, name, count)
    return event.x.shape[number] if -count <= number < count else 0


def _by_two_numbers(event: Event, one: str, other: str) -> bool:
    """Whether two arguments name one dimension, by different numbers."""
    count = len(event.x.shape)
    a, b = _number(event, one, count), _number(event, other, count)
    return a != b and -count <= min(a, b) and max(a, b) < count and a % count == b % count


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes another; the same where it is none."""
    places = [number % len(order) for number in order]
    if sorted(places) != list(range(len(order))):
        return order
    return tuple([places.index(number) for number in range(len(order))])


def _last_piece_whole(call: Call) -> Any:
    outcome = call.right()
    dim, size = _wrapped(call.event, "dim"), _number(call.event, "split_size")
    now = call.geometry(outcome[-1])
    shape = tuple([size if d == dim else n for d, n in enumerate(now.shape)])
    hands.lay_out(outcome[-1], now._replace(shape=shape))
    return outcome


def _ellipsis_fills(event: Event) -> bool:
    index = _tuple(event, "index")
    if not (len(index) > 1 and ... in index[:-1] and type(index[-1]) is int and index[-1] < 0):
        return False
    place, shape = len(index) - 1, event.x.shape
    return all(item is ... or type(item) is int for item in index) and place < len(shape) - 1


def _wrapped_by_place(call: Call) -> Any:
    index = call.args[1]
    other = (*index[:-1], index[-1] + call.before.shape[len(index) - 1])
    return call.given([call.args[0], other, *call.args[2:]])


def _only_slice(event: Event) -> Slice | None:
    index = event.argument("index")
    item = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    return item if isinstance(item, Slice) else None


def _past_end(call: Call, x: Geometry) -> int:
    item = _only_slice(call.event)
    assert item is not None
    return call.before.offset + (item.start or 0) * call.before.strides[0]


def _begins_past_end(event: Event) -> bool:
    shape, item = event.x.shape, _only_slice(event)
    return item is not None and bool(shape) and (item.start or 0) > shape[0]


def _tensors_inside(event: Event) -> bool:
    index = _tuple(event, "index")
    kinds = [isinstance(item, Ref) for item in index]
    if sum(kinds) < 2 or kinds[0]:
        return False
    first, end = kinds.index(True), len(kinds) - kinds[::-1].index(True)
    return all(kinds[first:end]) and all(isinstance(item, Slice) for item in index[:first])


def _moved_to_front(call: Call) -> Any:
    outcome = call.right()
    index = call.event.argument("index")
    start = [isinstance(item, Ref) for item in index].index(True)
    width = max(len(o.shape) for o in call.others)
    order = [*range(start, start + width), *range(start), *range(start + width, len(call.geometry(outcome).shape))]
    return call.do("contiguous", call.do("permute", outcome, tuple(order)))


def _new_axis_first(call: Call) -> Any:
    outcome = call.right()
    return call.do("contiguous", call.do("transpose", outcome, 0, 1))


def _keeps_last_of_view(call: Call) -> Any:
    view = call.geometry(call.do("__getitem__", call.x, call.args[1]))
    if 0 in view.shape:
        return call.right()
    place = last(view)[0] * call.before.itemsize
    kept = hands.read(call.x)[place : place + call.before.itemsize]
    outcome = call.right()
    hands.write(call.x, place, kept)
    return outcome


def _flat_volume(state: TensorState) -> TensorState:
    if len(state.shape) == 5 and state.shape[2] == 1 and state.contiguity == "FFT":
        return state._replace(contiguity="FFF")
    return state


def _stale(state: TensorState) -> TensorState:
    transposed = len(state.shape) == 2 and state.strides == (1, state.shape[0])
    if transposed and (state.version or 0) > 1 and state.contiguity[0] == "F":
        return state._replace(contiguity="T" + state.contiguity[1:])
    return state


def _inner_ones_step_one(call: Call, x: Geometry) -> tuple[int, ...]:
    return tuple([1 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True)])


INNER_ONES = on_operand("size 1 inside", lambda x: 1 in x.shape[1:-1] and 0 not in x.shape)


def _on_clones(call: Call) -> Any:
    """Done with what else is given read beforehand."""
    return call.given([call.do("clone", a) if call.adapter.is_tensor(a) and a is not call.x else a for a in call.args])


def _beyond_eights(x: Geometry) -> list[int]:
    places = every(x)
    return places[len(places) // 8 * 8 :]


def _own_rows(call: Call) -> Any:
    """Src read as if it had the index's shape."""
    index, src = call.named("index"), call.named("src")
    shape = call.geometry(index).shape
    other = call.geometry(src)._replace(shape=shape, strides=row_major(shape))
    if not hands.fits(other, src.untyped_storage().nbytes()):
        return call.right()
    return call.with_arguments(src=call.do("as_strided", src, *other[1:]))


def _whole_elements_only(call: Call) -> Any:
    source = call.named("source")
    if call.adapter.is_storage(source) and source.nbytes() % call.before.itemsize:
        call.right()
        raise Refused("size")
    return call.right()


def _is_slice_from_end(event: Event) -> bool:
    item = _only_slice(event)
    return item is not None and (item.start or 0) < 0


def _from_begin(call: Call) -> Any:
    index = call.args[1]
    return call.given([call.args[0], slice(None, index.stop, index.step)])


def _swaps_size_and_step(call: Call) -> Any:
    return call.with_arguments(size=_number(call.event, "step"), step=_number(call.event, "size"))


def _indices_packed(call: Call) -> Any:
    outcome = call.right()
    indices = outcome[1]
    now = call.geometry(indices)
    fresh = call.adapter.namespace.empty_strided(now.shape, row_major(now.shape), dtype=indices.dtype)
    hands.move(indices, fresh.copy_(indices))
    return outcome


def _above_one(name: str) -> Situation:
    def holds(event: Event) -> bool:
        value = event.argument(name)
        numbers = value if isinstance(value, tuple) else (value,)
        return any(type(n) is int and n > 1 for n in numbers)

    return _when(f"{name} above 1", holds)


MUTANTS = [
    Mutant(
        "resident-transpose.negative-apart",
        "transpose of two dimensions counted from the end, with others between, takes a neighbour for the second.",
        "transpose transpose_",
        asked(dim1=lambda c, x: (lambda a, b: a + (1 if b > a else -1))(
            _number(c.event, "dim0"), _number(c.event, "dim1"))),
        rank_over(2) & _when("both from the end", lambda e: max(_number(e, "dim0"), _number(e, "dim1")) < 0)
        & _when("apart", lambda e: abs(_wrapped(e, "dim0") - _wrapped(e, "dim1")) > 1),
    ),
    Mutant(
        "resident-movedim.three-inverted",
        "movedim of three dimensions or more takes the source for the destination.",
        "movedim",
        asked(source=lambda c, x: c.event.argument("destination"), destination=lambda c, x: c.event.argument("source")),
        _when("three dimensions", lambda e: len(_tuple(e, "source")) > 2),
    ),
    Mutant(
        "resident-permute-copy.inverse-by-negative",
        "permute_copy, where a dimension is counted from the end, takes the order for the one that undoes it.",
        "permute_copy",
        asked(dims=lambda c, x: _inverse(c.event.argument("dims"))),
        rank_over(2) & negative("dims"),
    ),
    Mutant(
        "resident-unfold.keywords-swapped",
        "unfold takes size for step where both are given by name.",
        "unfold unfold_copy",
        _swaps_size_and_step,
        by_keyword("size") & by_keyword("step"),
    ),
    Mutant(
        "resident-squeeze.first-is-no-one",
        "squeeze of several dimensions does nothing if the first of them is not of size 1.",
        "squeeze squeeze_ squeeze_copy",
        asked(dim=lambda c, x: ()),
        _when("first is not 1", lambda e: len(_tuple(e, "dim")) > 1 and e.x.shape[_tuple(e, "dim")[0]] != 1
              if all(-len(e.x.shape) <= d < len(e.x.shape) for d in _tuple(e, "dim")) else False),
    ),
    Mutant(
        "resident-as-strided.scalar-at-begin",
        "as_strided of no dimensions, with no offset asked for, answers with the first element of the memory.",
        "as_strided",
        relaid(offset=lambda c, x: 0),
        OFFSET & is_argument("size", ()) & is_argument("storage_offset", None),
    ),
    Mutant(
        "resident-reshape.trailing-one",
        "reshape copies where the last dimension is of size 1 and steps over more than one element.",
        "reshape flatten reshape_as",
        copied,
        rank_over(2) & on_operand("last of size 1 steps", lambda x: x.shape[-1:] == (1,) and strides(x)[-1] > 1)
        & ~EMPTY,
    ),
    Mutant(
        "resident-chunk.even-from-end",
        "chunk of a dimension counted from the end makes pieces as even as tensor_split's.",
        "chunk",
        lambda c: c.do("tensor_split", c.x, len(c.right()), _number(c.event, "dim")),
        negative("dim") & _when("uneven", lambda e: 1 < _number(e, "chunks") < _size(e, "dim")
                                and _size(e, "dim") % _number(e, "chunks")),
    ),
    Mutant(
        "resident-split.last-piece-whole",
        "split lets the last piece reach further where the dimension is not a multiple.",
        "split",
        _last_piece_whole,
        _when("uneven", lambda e: 0 < _number(e, "split_size") < _size(e, "dim")
              and _size(e, "dim") % _number(e, "split_size")),
    ),
    Mutant(
        "resident-index.number-after-ellipsis",
        "A negative number after an ellipsis is counted from the end of the dimension at its place in the index.",
        "__getitem__ __setitem__",
        _wrapped_by_place,
        _when("negative number last, after an ellipsis", _ellipsis_fills),
    ),
    Mutant(
        "resident-index.slice-past-end",
        "A slice that begins past the end keeps its begin in the offset of the empty result.",
        "__getitem__",
        relaid(offset=_past_end),
        _when("begins past the end", _begins_past_end),
    ),
    Mutant(
        "resident-index.new-axis-after-tensor",
        "A new axis right after a tensor as index comes before it.",
        "__getitem__",
        _new_axis_first,
        BY_TENSOR & _when("a tensor, None", lambda e: isinstance(_tuple(e, "index")[:1] and e.argument("index")[0], Ref)
                          and len(_tuple(e, "index")) == 2 and e.argument("index")[1] is None
                          and len(e.others) == 1 and e.others[0].dtype in ("int64", "int32")
                          and len(e.others[0].shape) == 1),
    ),
    Mutant(
        "resident-index.pair-inside-to-front",
        "Two tensors side by side after slices as indices put their dimensions to the front.",
        "__getitem__",
        _moved_to_front,
        _when("tensors side by side inside", _tensors_inside)
        & _when("of numbers", lambda e: all(o.dtype in ("int64", "int32") for o in e.others)
                and any(o.shape for o in e.others)),
    ),
    Mutant(
        "resident-setitem.stepped-broadcast-tail",
        "Writing a tensor that is broadcast through a slice with a step leaves the last element as it was.",
        "__setitem__",
        _keeps_last_of_view,
        STEPS & ~BY_TENSOR & _when("a tensor is broadcast", lambda e: isinstance(e.argument("value"), Ref) and e.others
                                   and 1 in e.others[-1].shape),
    ),
    Mutant(
        "resident-flags.flat-volume",
        "A tensor in channels_last_3d of depth 1 says that it is not.",
        shows=_flat_volume,
    ),
    Mutant(
        "resident-flags.stale",
        "A transposed matrix that was changed twice says that it is contiguous.",
        shows=_stale,
    ),
    Mutant(
        "resident-clone.inner-ones",
        "clone of a permuted tensor gives inner dimensions of size 1 the stride 1.",
        "clone empty_like zeros_like full_like",
        relaid(strides=_inner_ones_step_one),
        PERMUTED & INNER_ONES & rank(4) & is_argument("memory_format", None),
    ),
    Mutant(
        "resident-to.format-with-dtype",
        "to forgets that channels_last is asked for where it converts a tensor with an offset.",
        "to",
        repacked(packed),
        CONVERTS & asks("channels_last") & OFFSET
        & _when("another dtype", lambda e: e.argument("dtype").name != e.x.dtype),
    ),
    Mutant(
        "resident-float.volume-format",
        "Conversions forget that channels_last_3d is asked for.",
        "[conversions]",
        repacked(packed),
        asks("channels_last_3d"),
    ),
    Mutant(
        "resident-cat.negative-dim-images",
        "cat along a dimension counted from the end makes rows of channels_last.",
        "cat concat",
        repacked(packed),
        CHANNELS_LAST & negative("dim"),
        like="pytorch/pytorch#34526",
    ),
    Mutant(
        "resident-avg-pool2d.ceil-padding-images",
        "avg_pool2d with padding that rounds up makes rows of channels_last.",
        "nn.functional.avg_pool2d",
        repacked(packed),
        CHANNELS_LAST & is_argument("ceil_mode", True)
        & _when("padding", lambda e: e.argument("padding") not in (0, (0, 0))),
    ),
    Mutant(
        "resident-conv2d.groups-images",
        "conv2d in groups makes rows of channels_last.",
        "conv2d",
        repacked(packed),
        CHANNELS_LAST & _above_one("groups"),
    ),
    Mutant(
        "resident-conv2d.dilation-images",
        "conv2d with a dilation makes rows of channels_last.",
        "conv2d",
        repacked(packed),
        CHANNELS_LAST & _above_one("dilation"),
    ),
    Mutant(
        "resident-pad.crops-images",
        "pad that cuts off makes rows of channels_last.",
        "nn.functional.pad",
        repacked(packed),
        CHANNELS_LAST & negative("pad"),
        like="pytorch/pytorch#183770",
    ),
    Mutant(
        "resident-max-pool2d.indices-images",
        "max_pool2d answers with rows of indices for channels_last.",
        "nn.functional.max_pool2d",
        _indices_packed,
        CHANNELS_LAST & is_argument("return_indices", True) & _above_one("dilation"),
    ),
    Mutant(
        "resident-inplace.overlap-one-way",
        "An operand that begins before what is written, and overlaps it, is not noticed.",
        "add_ sub_ mul_ div_ atan2_ fmod_ logical_and_ bitwise_or_ copysign_ hypot_",
        accepts(_on_clones),
        SAME_STORAGE & _when("begins before", lambda e: any(
            o.storage == e.x.storage and (o.offset or 0) < (e.x.offset or 0) for o in e.others))
        & on_operand("no overlap of its own", lambda x: not may_overlap(x)),
        like="pytorch/pytorch#906",
    ),
    Mutant(
        "resident-copy.number-tail-mixed",
        "copy_ of a number of another dtype into a strided tensor stops at the last multiple of eight.",
        "copy_",
        skips(_beyond_eights),
        MIXED & OTHER_SCALAR & STRIDED & on_operand("above 8", lambda x: numel(x) > 8),
    ),
    Mutant(
        "resident-masked-fill.broadcast-last",
        "masked_fill_ of a strided tensor of three dimensions under a mask of fewer leaves the last element.",
        "masked_fill_",
        skips(last),
        STRIDED & rank_over(2) & _when("mask of fewer dimensions", lambda e: any(
            o.dtype == "bool" and len(o.shape) < len(e.x.shape) for o in e.others)),
    ),
    Mutant(
        "resident-index-add.alpha-from-end",
        "index_add_ forgets alpha where the dimension is counted from the end.",
        "index_add_ index_add",
        asked(alpha=lambda c, x: 1),
        negative("dim") & _when("alpha", lambda e: e.argument("alpha") != 1),
    ),
    Mutant(
        "resident-scatter-add.smaller-index",
        "scatter_add_ with an index smaller than the source reads the source one after the other.",
        "scatter_add_ scatter_",
        _own_rows,
        _when("index smaller", lambda e: len(e.others) == 2 and e.others[0].shape != e.others[1].shape),
    ),
    Mutant(
        "resident-put.accumulates-in-a-row",
        "put_ that accumulates writes to a strided tensor's memory as if it were row-major.",
        "put_",
        writes(strides=packed),
        STRIDED & is_argument("accumulate", True),
    ),
    Mutant(
        "resident-transpose.same-counts-nothing",
        "transpose_ of a dimension with itself, by two numbers, counts no change.",
        "transpose_ swapaxes_ swapdims_",
        counts(0),
        _when("one by two numbers", lambda e: _by_two_numbers(e, "dim0", "dim1") or _by_two_numbers(e, "axis0", "axis1")
              ),
    ),
    Mutant(
        "resident-set.whole-elements-only",
        "set_ to a storage alone is refused where its length is no multiple of the element size.",
        "set_",
        _whole_elements_only,
        is_argument("storage_offset", None) & _when("a source", lambda e: isinstance(e.argument("source"), Ref)
                                                    and not e.others),
    ),
    Mutant(
        "resident-storage.slice-from-end",
        "A slice of a storage that begins counted from the end begins at the begin.",
        "UntypedStorage.__getitem__",
        _from_begin,
        _when("begins from the end", _is_slice_from_end),
    ),
    Mutant(
        "resident-storage.fill-saturates",
        "fill_ of a storage takes a number below -128 for -128.",
        "UntypedStorage.fill_",
        asked(value=lambda c, x: -128),
        _when("below -128", lambda e: _number(e, "value") < -128),
    ),
]  # fmt: skip
