"""An outsider's fleet: declared by somebody who had seen neither the other fleets nor how programs are drawn."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...classify import Event
from ...observation import TensorState
from ...program import Ref, Slice
from ...situations import (
    BY_TENSOR,
    CHANNELS_LAST,
    CODES,
    CONJUGATED,
    CONVERTS,
    EMPTY,
    MIXED,
    NEGATED,
    NUMBER,
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
    itemsize,
    negative,
    numel,
    on_operand,
    overlaps,
    rank,
    rank_over,
    row_major,
    strides,
)  # fmt: skip
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
    reads,
    reads_other,
    refuses,
    relaid,
    repacked,
    skips,
    where_legal,
    without_bits,
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
EMPTY_INSIDE = on_operand("empty with an offset", lambda x: 0 in x.shape and bool(x.offset))


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


def _without_keepdims(call: Call) -> Any:
    kept = [(name, value) for (name, _), value in zip(call.step.kwargs, _keywords(call), strict=True)]
    given_ones = {name: value for name, value in kept if name != "keepdims"}
    return call.do(call.step.op, *call.args[: len(call.step.args)], **given_ones)


def _keywords(call: Call) -> tuple[Any, ...]:
    return call.args[len(call.step.args) :]


def _into_raw(call: Call) -> Any:
    call.given([without_bits(call, call.x), *call.args[1:]])
    return call.x


def _zeros_behind(call: Call) -> Any:
    outcome = call.right()
    if not call.adapter.is_tensor(outcome):
        return outcome
    own = numel_of(call.before) * call.before.itemsize
    hands.write(outcome, own, bytes(outcome.untyped_storage().nbytes() - own))
    return outcome


def numel_of(x: Geometry) -> int:
    """Number of elements."""
    return prod(x.shape)


def _floors_offset(call: Call) -> Any:
    state = call.before
    other = call.do("as_strided", call.x, state.shape, state.strides, state.offset - state.offset % 4)
    return call.on(other)


def _in_a_byte(call: Call) -> Any:
    return call.do("remainder", call.right(), 256)


def _names_twice(event: Event) -> bool:
    dims, count = _tuple(event, "dims"), len(event.x.shape)
    if len(dims) < 2 or not all(type(d) is int and -count <= d < count for d in dims):
        return False
    return len({d % count for d in dims}) < len(dims)


def _last_shift(call: Call) -> Any:
    dims, shifts = _tuple(call.event, "dims"), _tuple(call.event, "shifts")
    count = len(call.before.shape)
    by_dim = {d % count: s for d, s in zip(dims, shifts, strict=True)}
    return call.with_arguments(shifts=tuple(by_dim.values()), dims=tuple(by_dim))


def _alone_has_the_shape(event: Event) -> bool:
    """Whether the last of three operands has the shape of the result, is not row-major, and the others have not."""
    if len(event.others) != 2:
        return False
    end = event.others[1]
    fewer = [event.x, event.others[0]]
    return end.contiguity[0] == "F" and all(numel(o) < numel(end) for o in fewer)


def _keeps_own_bytes(call: Call) -> Any:
    own = numel_of(call.before) * call.before.itemsize
    old = call.x.untyped_storage().nbytes()
    outcome = call.right()
    if call.x.untyped_storage().nbytes() > old > own:
        hands.write(call.x, own, bytes(old - own))
    return outcome


def _same_count(event: Event) -> bool:
    size = _tuple(event, "size")
    whole = bool(size) and all(type(n) is int and n > 0 for n in size)
    return whole and size != event.x.shape and prod(size) == numel(event.x)


def _all_of_it(call: Call) -> Any:
    outcome = call.right()
    version = outcome._version
    call.do("copy_", outcome, call.x)
    hands.set_version(outcome, version)
    return outcome


def _without_wrapping(call: Call) -> Any:
    kept = hands.read(call.x)
    outcome = call.right()
    version = call.x._version
    hands.write(call.x, 0, kept)
    call.with_arguments(wrap=False)
    hands.set_version(call.x, version)
    return outcome


def _one_counter(call: Call) -> Any:
    outcome = call.right()
    if len(outcome) > 2:
        hands.count_together(outcome[-1], call.x)
    return outcome


def _tall(event: Event) -> bool:
    shape = event.x.shape
    return len(shape) == 2 and shape[0] > shape[1] + 1


def _neighbour(call: Call, x: Geometry) -> int:
    return (_wrapped(call.event, "dim") or 1) - 1


def _one_before(call: Call, x: Geometry) -> int:
    return max(x.offset - 1, 0)


ODD_PLACE = on_operand("odd offset", lambda x: (x.offset or 0) % 2 == 1 and x.contiguity[0] == "T" and numel(x) > 8)


def _third_packed(call: Call) -> Any:
    tensors = list(call.args[0])
    third = call.geometry(tensors[2])
    other = third._replace(strides=row_major(third.shape))
    if hands.fits(other, tensors[2].untyped_storage().nbytes()):
        tensors[2] = call.do("as_strided", tensors[2], *other[1:])
    return call.given([tuple(tensors), *call.args[1:]])


def _third_strided(event: Event) -> bool:
    tensors = _tuple(event, "tensors")
    if len(tensors) < 3 or not isinstance(tensors[2], Ref):
        return False
    state = event.before.get(event.named(tensors[2]))
    return state is not None and state.contiguity[0] == "F"


def _as_if_filled(call: Call) -> Any:
    outcome = call.right()
    now = call.geometry(outcome)
    size = tuple([n or 1 for n in now.shape])
    longer = call.do("new_empty_strided", call.x, size, now.strides)
    hands.move(outcome, longer)
    hands.lay_out(outcome, now)
    return outcome


def _same_but_for_ones(call: Call) -> Any:
    if call.right():
        return True
    other = call.named("tensor")
    mine, given_one = call.geometry(call.x), call.geometry(other)
    same = call.adapter.storage_of(call.x) is call.adapter.storage_of(other)
    steps = zip(mine.shape, mine.strides, given_one.strides, strict=False)
    return same and mine[1] == given_one[1] and mine[3] == given_one[3] and all(n == 1 or s == t for n, s, t in steps)


def _out_at_begin(call: Call) -> Any:
    out = call.named("out")
    place = call.geometry(out)
    other = call.do("as_strided", out, place.shape, place.strides, 0)
    call.given([other if arg is out else arg for arg in call.args])
    return out


def _out_fits(event: Event) -> bool:
    outs = event.outs
    return len(outs) == 1 and bool(outs[0].offset) and outs[0].contiguity[0] == "F"


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
        & on_operand("no overlap of its own", lambda x: not overlaps(x)),
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
    Mutant(
        "resident-from-buffer.big-at-odd-place",
        "from_buffer does not turn big-endian elements where they begin at no multiple of their size.",
        "UntypedStorage.from_buffer TypedStorage.from_buffer FloatStorage.from_buffer ShortStorage.from_buffer",
        asked(byte_order=lambda c, x: "native"),
        is_argument("byte_order", "big") & _when("odd place", lambda e: _number(e, "offset") % 2 == 1),
    ),
    Mutant(
        "resident-reductions.numpy-keepdims",
        "Reductions ignore keepdims, NumPy's name of keepdim.",
        "[reductions] [reductions to pairs]",
        _without_keepdims,
        _when("keepdims", lambda e: any(name == "keepdims" and value is True for name, value in e.step.kwargs)),
    ),
    Mutant(
        "resident-imag.conjugated-inside",
        "imag of a conjugated tensor inside its memory forgets to negate.",
        "imag",
        lambda c: without_bits(c, c.right()),
        CONJUGATED & OFFSET & STRIDED,
    ),
    Mutant(
        "resident-mm.conjugated-transposed",
        "mm and matmul of a conjugated, transposed matrix forget to conjugate.",
        "mm matmul bmm",
        lambda c: c.given([without_bits(c, c.x), *c.args[1:]]),
        CONJUGATED & STRIDED,
    ),
    Mutant(
        "resident-copy.into-negated-strided",
        "copy_ into a strided tensor with the negative bit forgets to negate numbers of another dtype.",
        "copy_",
        _into_raw,
        NEGATED & STRIDED & MIXED,
    ),
    Mutant(
        "resident-dequantize.per-channel-strided",
        "dequantize of a strided tensor with a scale for each channel makes rows.",
        "dequantize int_repr",
        repacked(packed),
        CODES & STRIDED & on_operand("per channel", lambda x: "channel" in (x.quantizer or "")),
    ),
    Mutant(
        "resident-deepcopy.memory-behind-lost",
        "deepcopy of a row-major tensor at the begin of longer memory leaves what lies behind at zero.",
        "copy.deepcopy",
        _zeros_behind,
        on_operand("row-major at the begin", lambda x: x.contiguity[0] == "T" and not x.offset and numel(x) > 0
                   and x.quantizer is None),
    ),
    Mutant(
        "resident-save-load.empty-inside",
        "An empty tensor inside its memory is loaded at its begin.",
        "save_load pickle copy.deepcopy",
        relaid(offset=lambda c, x: 0),
        EMPTY_INSIDE,
    ),
    Mutant(
        "resident-view-dtype.even-is-enough",
        "view of a dtype four times as large asks for an even offset only.",
        "view.dtype",
        accepts(_floors_offset),
        on_operand("even offset, no multiple of 4", lambda x: (x.offset or 0) % 4 == 2)
        & _when("at least four times as large", lambda e: e.x.dtype in ("int8", "uint8", "bool") and e.argument(
            "dtype").name in ("int32", "float32", "uint32")),
    ),
    Mutant(
        "resident-count-nonzero.in-a-byte",
        "count_nonzero counts what is true of long bool rows in a byte.",
        "count_nonzero",
        _in_a_byte,
        on_operand("bools, above 255", lambda x: x.dtype == "bool" and numel(x) > 255),
    ),
    Mutant(
        "resident-cumsum.converts-packed",
        "cumsum and cumprod that convert read a strided tensor as row-major.",
        "cumsum cumprod",
        reads(strides=packed),
        CONVERTS & STRIDED & rank_over(2),
    ),
    Mutant(
        "resident-roll.one-dim-twice",
        "roll of one dimension twice does the last only.",
        "roll",
        _last_shift,
        _when("one twice", _names_twice),
    ),
    Mutant(
        "resident-rot90.below-minus-one",
        "rot90 by more than one turn backwards turns forwards.",
        "rot90",
        asked(k=lambda c, x: -c.event.argument("k")),
        _when("below -1", lambda e: _number(e, "k") < -1),
    ),
    Mutant(
        "resident-tril.below-rows",
        "tril of a batch below all of its rows is the tensor itself, copied.",
        "tril",
        _all_of_it,
        rank_over(2) & _when("below the rows", lambda e: _number(e, "diagonal") <= -e.x.shape[-2])
        & _when("no out", lambda e: not e.outs),
    ),
    Mutant(
        "resident-embedding.weight-columns",
        "embedding reads a strided weight as row-major.",
        "nn.functional.embedding",
        reads_other(strides=packed),
        _when("strided weight, padding", lambda e: len(e.others) == 1 and e.others[0].contiguity[0] == "F"
              and e.argument("padding_idx") is not None),
    ),
    Mutant(
        "resident-ternary.last-has-the-shape",
        "Three operands make rows where the last alone is as large as the result, whatever its order.",
        "where lerp addcmul addcdiv clamp",
        repacked(packed),
        _when("last alone", _alone_has_the_shape) & _when("no out", lambda e: not e.outs),
    ),
    Mutant(
        "resident-resize.grows-own-bytes",
        "resize_ that needs more memory brings only the tensor's own bytes along.",
        "resize_",
        _keeps_own_bytes,
        on_operand("row-major", lambda x: x.contiguity[0] == "T" and not x.offset),
    ),
    Mutant(
        "resident-resize.same-count-to-begin",
        "resize_ to another shape of as many elements moves a strided tensor to the begin of its memory.",
        "resize_",
        relaid(offset=lambda c, x: 0),
        OFFSET & STRIDED & _when("as many", _same_count),
    ),
    Mutant(
        "resident-unsafe-split.last-shares-counter",
        "The last of three pieces or more of unsafe_split counts with the tensor.",
        "[untracked splits]",
        _one_counter,
    ),
    Mutant(
        "resident-fill-diagonal.wrap-strided",
        "fill_diagonal_ does not wrap in strided matrices.",
        "fill_diagonal_",
        _without_wrapping,
        STRIDED & is_argument("wrap", True) & _when("tall", _tall),
    ),
    Mutant(
        "resident-repeat-interleave.tensor-from-end",
        "repeat_interleave by a tensor along a dimension counted from the end takes the one before.",
        "repeat_interleave",
        asked(dim=_neighbour),
        negative("dim") & rank_over(1) & _when("by a tensor", lambda e: e.others),
    ),
    Mutant(
        "resident-unary.word-pairs",
        "Elementwise functions read elements of two bytes in pairs, which begin at even places.",
        "[unary]",
        reads(offset=_one_before),
        itemsize(2) & ODD_PLACE & _when("alone", lambda e: not e.others and "inplace" not in dict(e.step.kwargs)),
    ),
    Mutant(
        "resident-kthvalue.last",
        "kthvalue of the largest of a strided row answers with the second largest.",
        "kthvalue",
        asked(k=lambda c, x: c.event.argument("k") - 1),
        STRIDED & _when("the largest", lambda e: _number(e, "k") == _size(e, "dim") > 1),
    ),
    Mutant(
        "resident-narrow.from-end-by-first",
        "narrow from a place counted from the end, along a dimension likewise, counts from the end of the first.",
        "narrow narrow_copy",
        asked(start=lambda c, x: c.event.argument("start") + x.shape[0]),
        negative("dim")
        & negative("start")
        & _when("another size", lambda e: e.x.shape and _size(e, "dim") != e.x.shape[0]),
    ),
    Mutant(
        "resident-expand.to-nothing-steps",
        "expand to no elements of a dimension of size 1 keeps its stride.",
        "expand expand_as broadcast_to",
        relaid(strides=lambda c, x: (*x.strides[: len(x.shape) - len(c.before.shape)], *c.before.strides)),
        on_operand("size 1", lambda x: 1 in x.shape) & _when("to nothing", lambda e: 0 in (
            e.others[0].shape if e.others else _tuple(e, "size")) and 0 not in e.x.shape),
    ),
    Mutant(
        "resident-asarray.copy-with-grad",
        "asarray that is asked for a copy and for gradients shares memory.",
        "asarray",
        asked(copy=lambda c, x: None),
        is_argument("copy", True) & is_argument("requires_grad", True),
    ),
    Mutant(
        "resident-matmul.vector-strided-batch",
        "matmul of a vector and a strided batch of matrices reads it as row-major.",
        "matmul",
        reads_other(strides=packed),
        rank(1) & _when("strided batch", lambda e: any(len(o.shape) > 2 and o.contiguity[0] == "F" for o in e.others)),
    ),
    Mutant(
        "resident-select-scatter.from-end-by-first",
        "select_scatter at a place counted from the end counts from the end of the first dimension.",
        "select_scatter",
        asked(index=lambda c, x: c.event.argument("index") + x.shape[0]),
        negative("index") & _when("another size", lambda e: e.x.shape and _size(e, "dim") > e.x.shape[0]),
    ),
    Mutant(
        "resident-stack.third-packed",
        "stack reads the third tensor as row-major.",
        "stack",
        _third_packed,
        _when("third strided", _third_strided),
    ),
    Mutant(
        "resident-new-empty-strided.nothing",
        "new_empty_strided of nothing takes memory as if each size of 0 were 1.",
        "new_empty_strided",
        _as_if_filled,
        _when("size with 0", lambda e: 0 in _tuple(e, "size") and max(_tuple(e, "size")) > 1),
    ),
    Mutant(
        "resident-frombuffer.count-from-begin",
        "frombuffer counts elements from the begin of the buffer, not from the offset.",
        "frombuffer",
        asked(count=lambda c, x: c.event.argument("count") - 1),
        _when("count and offset", lambda e: _number(e, "count") > 1 and _number(e, "offset") > 0),
    ),
    Mutant(
        "resident-is-set-to.ones",
        "is_set_to does not look at strides of dimensions of size 1.",
        "is_set_to",
        _same_but_for_ones,
        SAME_STORAGE,
    ),
    Mutant(
        "resident-masked-select.larger-mask",
        "masked_select refuses a mask of more dimensions.",
        "masked_select",
        where_legal(refuses("broadcast")),
        _when("mask of more dimensions", lambda e: any(len(o.shape) > len(e.x.shape) for o in e.others)) & ~EMPTY,
    ),
    Mutant(
        "resident-out.strided-at-begin",
        "A result that is written into a strided tensor inside its memory is written at its begin.",
        "cat stack index_select gather sum amax mm",
        _out_at_begin,
        _when("out strided inside", _out_fits) & ~EMPTY,
    ),
    Mutant(
        "resident-sub.alpha-of-number",
        "sub forgets alpha where a number is subtracted from a strided tensor.",
        "sub sub_",
        asked(alpha=lambda c, x: 1),
        NUMBER & STRIDED & _when("alpha", lambda e: e.argument("alpha") != 1),
    ),
    Mutant(
        "resident-diff.third",
        "diff of the third or more is diff of the second.",
        "diff",
        asked(n=lambda c, x: 2),
        _when("above 2", lambda e: _number(e, "n") > 2),
    ),
]  # fmt: skip
