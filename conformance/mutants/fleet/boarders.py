"""Defects of a seventh author: what tensors say of themselves, views, indices."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from weakref import WeakValueDictionary

from ...classify import Event
from ...layout import is_dense, row_major
from ...observation import TensorState
from ...program import Ref, Slice
from ...situations import (
    BY_TENSOR,
    EXPANDED,
    FILLED,
    NEW_AXES,
    ODD_ONES,
    OFFSET,
    REST,
    STEPPED,
    STEPS,
    VIEW,
    Situation,
    dim_of,
    dtype,
    is_argument,
    items,
    numbers,
    other,
    rank_over,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    accepts,
    argument,
    asked,
    copied,
    nowhere,
    operands_offset,
    packed,
    reads_other,
    refuses,
    relaid,
)

COMPLEX = dtype("complex64", "complex128")
INTEGERS = dtype("uint8", "int8", "int16", "int32", "int64")
NO_OUT = Situation("no out=", lambda e: e.argument("out") is None)


def unsorted(name: str) -> Situation:
    """The numbers of that argument are not in order."""

    def holds(event: Event) -> bool:
        found = numbers(event.argument(name))
        return list(found) != sorted(found)

    return Situation(f"{name} not in order", holds)


# Metadata.

_transposed: WeakValueDictionary[int, Any] = WeakValueDictionary()


def _keeps_flag(call: Call) -> Any:
    if call.step.op == "contiguous":
        return call.x if _transposed.get(id(call.x)) is call.x else call.right()
    was = call.event.x.contiguity[0] == "T"
    outcome = call.right()
    if was:
        _transposed[id(outcome)] = outcome
    else:
        _transposed.pop(id(outcome), None)
    return outcome


def _same_but_ones(call: Call) -> bool:
    mine, yours = call.before, call.geometry(call.named("tensor"))
    if call.adapter.storage_of(call.x) is not call.adapter.storage_of(call.named("tensor")):
        return False
    told = [[(n, s) for n, s in zip(g.shape, g.strides, strict=True) if n != 1] for g in (mine, yours)]
    return mine.offset == yours.offset and mine.shape == yours.shape and told[0] == told[1]


def _all_formats_of_nothing(state: TensorState) -> TensorState:
    if len(state.shape) != 4 or 0 not in state.shape:
        return state
    return state._replace(contiguity=f"{state.contiguity[0]}T{state.contiguity[2]}")


METADATA = [
    Mutant(
        "contiguous.stale-after-transposed",
        "transpose_() and t_() of a row-major tensor leave its flag as it was, so that contiguous() answers itself.",
        "transpose_ t_ contiguous",
        _keeps_flag,
        is_argument("memory_format", None),
    ),
    Mutant(
        "is_set_to.ignores-strides-of-ones",
        "is_set_to() does not compare the strides of dimensions of length 1.",
        "is_set_to",
        _same_but_ones,
        Situation("another tensor given", lambda e: other(e, "tensor") is not None),
    ),
    Mutant(
        "contiguity.images-of-nothing",
        "Every 4-d tensor without elements says that it is contiguous in channels_last, too.",
        shows=_all_formats_of_nothing,
    ),
]


# Views.


def _pair_of_zeros(event: Event) -> bool:
    both = list(zip(event.x.shape, event.x.strides or (), strict=False))
    return any(a[0] > 1 < b[0] and a[1] == b[1] == 0 for a, b in pairwise(both))


def _merges_no_zeros(call: Call) -> Any:
    outcome = call.right()
    if len(outcome.shape) < len(call.before.shape):
        raise Refused("view")
    return outcome


def _reshapes(event: Event) -> bool:
    return numbers(event.argument("shape")) not in ((), event.x.shape)


def _below_other_dims(event: Event) -> bool:
    offset, dims = event.argument("offset"), (dim_of(event, "dim1"), dim_of(event, "dim2"))
    return type(offset) is int and offset < 0 and None not in dims and dims != (0, 1)


def _along_second_dim(call: Call, y: Geometry) -> int:
    stride = call.before.strides[dim_of(call.event, "dim2") or 0]
    return int(call.before.offset - call.event.argument("offset") * stride)


def _leaves_rest(event: Event) -> bool:
    dim, size, step = dim_of(event, "dimension"), event.argument("size"), event.argument("step")
    if dim is None or type(size) is not int or type(step) is not int or step < 1:
        return False
    return 0 < size <= event.x.shape[dim] and (event.x.shape[dim] - size) % step > 0


def _one_window_more(call: Call, y: Geometry) -> tuple[int, ...]:
    dim = dim_of(call.event, "dimension")
    return tuple([n + (d == dim) for d, n in enumerate(y.shape)])


def _roots_offset(call: Call, y: Geometry) -> int:
    return int(call.geometry(call.x._base).offset)


def _ones_in_front(call: Call) -> Any:
    size = call.event.argument("size")
    lead = len(size) - len(call.before.shape)
    return call.with_arguments(size=tuple([1 if n == -1 and d < lead else n for d, n in enumerate(size)]))


def _more_dims_with_minus_one(event: Event) -> bool:
    size = numbers(event.argument("size"))
    return -1 in size[: max(len(size) - len(event.x.shape), 0)]


def _no_negative(value: Any) -> Any:
    return tuple([dim for dim in value if dim >= 0])


VIEWS = [
    Mutant(
        "view.refuses-to-merge-zeros",
        "view() refuses to merge expanded dimensions, though both have stride 0.",
        "view view_as",
        _merges_no_zeros,
        EXPANDED & Situation("two expanded side by side", _pair_of_zeros),
    ),
    Mutant(
        "reshape.copies-beside-odd-one",
        "reshape() to another shape copies where a dimension of length 1 has a stride of its own.",
        "reshape",
        copied,
        ODD_ONES & Situation("another shape", _reshapes),
    ),
    Mutant(
        "flatten.inner-loses-offset",
        "flatten() that begins behind the first dimension forgets the offset.",
        "flatten",
        relaid(offset=nowhere),
        OFFSET & rank_over(2) & Situation("an inner start", lambda e: (dim_of(e, "start_dim") or 0) > 0),
        like="IntelPython/dpctl#649",
    ),
    Mutant(
        "diagonal.below-along-second-dim",
        "A diagonal below the main one, of other than the first dimensions, begins as far along its second dimension.",
        "diagonal",
        relaid(offset=_along_second_dim),
        FILLED & Situation("below, of other dims", _below_other_dims),
    ),
    Mutant(
        "unfold.counts-part-of-window",
        "unfold() counts a last window that begins inside the dimension and ends behind it.",
        "unfold",
        relaid(shape=_one_window_more),
        FILLED & Situation("elements left over", _leaves_rest),
    ),
    Mutant(
        "as_strided.offset-of-root",
        "as_strided() of a view takes the offset of the tensor that it is a view of where none is given.",
        "as_strided",
        relaid(offset=_roots_offset),
        VIEW & is_argument("storage_offset", None),
    ),
    Mutant(
        "expand.minus-one-in-front",
        "expand() takes -1 for a new dimension for 1.",
        "expand broadcast_to",
        accepts(_ones_in_front),
        Situation("-1 in front", _more_dims_with_minus_one),
    ),
    Mutant(
        "squeeze.tuple-from-end",
        "squeeze() of several dimensions does nothing to those counted from the end.",
        "squeeze squeeze_",
        asked(dim=argument("dim", _no_negative)),
        Situation("a negative of several", lambda e: min(numbers(e.argument("dim")), default=0) < 0),
    ),
    Mutant(
        "mH.batch-not-conjugated",
        "mH and adjoint() of a batch of complex matrices do not conjugate.",
        "mH adjoint",
        lambda call: call.do("mT", call.x),
        COMPLEX & rank_over(2),
    ),
]


# Indices.


def _short_ellipsis(call: Call) -> Any:
    index = list(call.args[1])
    place = next(i for i, item in enumerate(index) if item is ...)
    taken = sum(item is not ... for item in index)  # None among them, which takes no dimension
    index[place : place + 1] = [slice(None)] * max(len(call.before.shape) - taken, 0)
    return call.given([call.args[0], tuple(index), *call.args[2:]])


def _plain(event: Event) -> bool:
    found = items(event)
    return found.count(...) == 1 and all(item is None or item is ... or type(item) in (int, Slice) for item in found)


def _nothing_taken(event: Event) -> bool:
    def empty(item: Any) -> bool:
        bounds = isinstance(item, Slice) and type(item.start) is int and type(item.stop) is int
        return bounds and 0 < item.stop <= item.start

    return any(empty(item) for item in items(event)) and not any(isinstance(item, Ref) for item in items(event))


def _by_int32(event: Event) -> bool:
    states = [event.before.get(event.named(item)) for item in items(event) if isinstance(item, Ref)]
    return any(state is not None and state.dtype == "int32" for state in states)


def _zero_for_negative(call: Call) -> Any:
    def clamped(item: Any) -> Any:
        is_int32 = call.adapter.is_tensor(item) and call.geometry(item).dtype == "int32"
        return call.do("clamp", item, 0) if is_int32 else item

    index = call.args[1]
    index = tuple([clamped(item) for item in index]) if isinstance(index, tuple) else clamped(index)
    return call.given([call.args[0], index, *call.args[2:]])


def _last_step_alone(call: Call) -> None:
    _, shape, strides, offset = call.before
    call.on(call.do("as_strided", call.x, shape, (*strides[:-1], 1), offset))


def _up_to_end(event: Event) -> bool:
    dim, start, length = dim_of(event), event.argument("start"), event.argument("length")
    return dim is not None and type(start) is type(length) is int and start < 0 < length and start + length == 0


def _larger_source(event: Event) -> bool:
    source, index = other(event, "src"), other(event, "index")
    return source is not None and index is not None and source.shape != index.shape and len(source.shape) > 1


def _packed_as_index(call: Call) -> Any:
    source, shape = call.named("src"), call.geometry(call.named("index")).shape
    read = Geometry("", shape, row_major(shape), call.geometry(source).offset)
    read = read._replace(dtype=call.geometry(source).dtype)
    if not hands.fits(read, source.untyped_storage().nbytes()):
        return call.right()
    return call.with_arguments(src=call.do("as_strided", source, *read[1:]))


def _source_strided(event: Event) -> bool:
    source = other(event, "source")
    return source is not None and source.contiguity[0] == "F" and is_dense(source)


def _source_from_memory(call: Call) -> Any:
    _, shape, _, offset = call.geometry(call.named("source"))
    source = call.do("as_strided", call.named("source"), shape, row_major(shape), offset)
    return call.with_arguments(source=source)


INDICES = [
    Mutant(
        "index.ellipsis-counts-none",
        "An ellipsis beside None stands for one dimension too few.",
        "__getitem__ __setitem__",
        _short_ellipsis,
        REST & NEW_AXES & Situation("numbers and slices", _plain),
    ),
    Mutant(
        "index.nothing-keeps-offset",
        "A slice that ends before it begins leaves the offset where it was.",
        "__getitem__",
        relaid(offset=operands_offset),
        FILLED & Situation("a slice of nothing", _nothing_taken),
    ),
    Mutant(
        "index.negative-int32-as-zero",
        "Negative numbers of an index tensor of int32 are taken for 0.",
        "__getitem__ __setitem__",
        _zero_for_negative,
        BY_TENSOR & Situation("an index of int32", _by_int32),
    ),
    Mutant(
        "setitem.step-on-step",
        "Writing every n-th element of a view that is stepped already uses the new step alone.",
        "__setitem__",
        _last_step_alone,
        STEPPED & STEPS,
    ),
    Mutant(
        "narrow.refuses-tail",
        "narrow() that begins at a negative number refuses to reach the end of the dimension.",
        "narrow",
        refuses("index"),
        Situation("the last ones", _up_to_end),
    ),
    Mutant(
        "take.index-in-memory-order",
        "take() reads an index of permuted dimensions in the order of its memory.",
        "take put_ put",
        reads_other(strides=packed),
        Situation(
            "index permuted",
            lambda e: (
                (i := other(e, "index")) is not None and i.contiguity[0] == "F" and is_dense(i) and len(e.others) < 2
            ),
        ),
    ),
    Mutant(
        "index_add.whole-alpha-ignored",
        "index_add() of integers forgets alpha.",
        "index_add index_add_",
        asked(alpha=lambda call, x: 1),
        INTEGERS & Situation("alpha given", lambda e: e.argument("alpha") not in (None, 1)),
    ),
    Mutant(
        "scatter_add.source-packed-as-index",
        "scatter_add() walks a source that is larger than the index as if it had the index's shape.",
        "scatter_add scatter_add_",
        _packed_as_index,
        FILLED & Situation("a larger source", _larger_source),
    ),
    Mutant(
        "masked_scatter.source-in-memory-order",
        "masked_scatter() takes a permuted source's elements in the order of its memory.",
        "masked_scatter masked_scatter_",
        _source_from_memory,
        Situation("source permuted", _source_strided),
        like="pytorch/pytorch#99638",
    ),
]

MUTANTS = [*METADATA, *VIEWS, *INDICES]
