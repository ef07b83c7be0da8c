"""Defects that somebody thought of who had seen no other mutant: of one dtype, one size, one layout."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...classify import Event
from ...layout import extent, row_major, strides
from ...situations import (
    EMPTY,
    GAPS,
    OFFSET,
    ONES,
    PERMUTED,
    SCALAR,
    STEPPED,
    STRIDED,
    VIEW,
    Situation,
    asks,
    dim_of,
    dtype,
    given,
    is_argument,
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
    alias,
    asked,
    blanks,
    every,
    itself,
    last,
    packed,
    records,
    relaid,
    repacked,
    retyped,
    where_legal,
)

FLOATS = ("float16", "bfloat16", "float32", "float64")

OUT = Situation("out given", lambda e: bool(e.outs))
KEEPS = is_argument("keepdim", True)


def sizes_of(event: Event, name: str) -> tuple[int, ...]:
    """The whole numbers of an argument that is one or several."""
    value = event.argument(name)
    numbers = value if isinstance(value, tuple) and not hasattr(value, "slot") else (value,)
    return tuple([number for number in numbers if type(number) is int])


def _silently(y: Any, write: Callable[[], Any]) -> Any:
    """Write to a result so that no version counts it."""
    version = y._version
    write()
    hands.set_version(y, version)
    return y


def second(change: Callable[[Call, Any], Any]) -> Wrong:
    """Something else is done to the second result only."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        if not isinstance(outcome, (tuple, list)) or len(outcome) < 2:
            return outcome
        items = [outcome[0], change(call, outcome[1]), *outcome[2:]]
        return type(outcome)(*items) if hasattr(outcome, "_fields") else type(outcome)(items)

    return wrong


def _in_row_major_order(call: Call, y: Any) -> Any:
    return call.do("clone", y, memory_format=call.adapter.namespace.contiguous_format)


# Dtypes.


def _cut_off(call: Call) -> Any:
    """bfloat16 products lose their lower half."""
    ns, y = call.adapter.namespace, call.right()
    wide = call.given([a.to(ns.float32) if call.adapter.is_tensor(a) else a for a in call.args])
    if y.dtype is not ns.bfloat16 or wide.dtype is not ns.float32:
        return y
    bits = call.do("bitwise_and", call.do("view", wide, ns.int32), -65536)
    return _silently(y, lambda: y.copy_(call.do("view", bits, ns.float32)))


def _saturated(call: Call) -> Any:
    y = call.right()
    return _silently(y, lambda: y.masked_fill_(call.do("eq", call.x, -128), 127))


def _without_imaginary(call: Call) -> Any:
    y = call.right()
    return _silently(y, lambda: y.imag.zero_())


def _first_of_ties(call: Call) -> Any:
    outcome, numbers = call.right(), call.do("clone", call.x).tolist()
    best = 0
    for place, number in enumerate(numbers):
        best = place if number > numbers[best] else best
        if number == numbers[best] and call.event.argument("dim") in (0, -1):
            hands.write(outcome[1], place * 8, best.to_bytes(8, "little"))
    return outcome


# Nothing to be done, so nothing is: a view or the operand itself in the place of a copy.


def _one_to_be_reduced(event: Event) -> bool:
    dim = dim_of(event)
    return dim is not None and event.x.shape[dim] == 1 and event.x.dtype in FLOATS and not event.outs


def _squeezed(call: Call) -> Any:
    return alias(call) if call.event.argument("keepdim") else call.do("squeeze", call.x, dim_of(call.event))


def _one_stacked(call: Call) -> Any:
    return call.do("unsqueeze", call.args[0][0], call.event.argument("dim"))


def _expanded_once(call: Call) -> Any:
    y = call.right()
    return call.do("expand", call.x, tuple(y.shape)) if call.adapter.is_tensor(y) else y


def _pads(event: Event) -> tuple[int, ...]:
    return sizes_of(event, "pad") if event.argument("mode") == "constant" else (1,)


def _cropped(call: Call) -> Any:
    y, x, pads = call.right(), call.x, _pads(call.event)
    for place in range(len(pads) // 2):
        dim = len(y.shape) - 1 - place
        x = call.do("narrow", x, dim, -pads[2 * place], y.shape[dim])
    return x


def _itself_if_as_large(call: Call) -> Any:
    y = call.right()
    return call.x if tuple(y.shape) == tuple(call.x.shape) else y


def _whole_turn(event: Event) -> bool:
    dim, shifts = dim_of(event, "dims"), event.argument("shifts")
    return dim is not None and type(shifts) is int and event.x.shape[dim] > 0 and shifts % event.x.shape[dim] == 0


def _rest_copied(call: Call) -> Any:
    pieces = call.right()
    if len(pieces) < 2 or pieces[-1].shape == pieces[0].shape:
        return pieces
    return type(pieces)([*pieces[:-1], call.do("clone", pieces[-1])])


# Layouts.


def _is_backwards(event: Event) -> bool:
    dims = dim_of(event, "dim1"), dim_of(event, "dim2")
    return None not in dims and dims[0] > dims[1] and event.argument("offset") < 0  # type: ignore[operator]


def _one_window_less(call: Call, y: Geometry) -> tuple[int, ...]:
    dim = dim_of(call.event, "dimension") or 0
    skips = call.event.argument("step") > call.event.argument("size")
    return tuple([n - (d == dim and skips and n > 1) for d, n in enumerate(y.shape)])


def _pieces_side_by_side(call: Call) -> Any:
    pieces = call.right()
    for place, piece in enumerate(pieces):
        hands.lay_out(piece, call.geometry(piece)._replace(offset=call.before.offset + place))
    return pieces


def _in_order_of(place: int) -> Wrong:
    """Results are laid out as one of the operands is, if that fills its memory in another order."""

    def wrong(call: Call) -> Any:
        y = call.right()
        operands = [call.before, *call.others]
        if len(operands) <= place:
            return y
        by = operands[place]
        is_dense = len(set(every(by))) == prod(by.shape) == extent(*by[1:])[1] - extent(*by[1:])[0]
        if call.event.outs or by.shape != tuple(y.shape) or not is_dense:
            return y
        empty = call.adapter.namespace.empty_strided(by.shape, by.strides, dtype=y.dtype)
        hands.move(y, empty.copy_(y.detach()))
        return y

    return wrong


def _ties(x: Any) -> bool:
    found = [stride for stride in strides(x) if stride]
    return 0 not in x.shape and len(set(found)) < len(found)


def _packed_statistics(call: Call) -> Any:
    def alike(name: str) -> Any:
        given = call.named(name)
        found = None if given is None else call.geometry(given)
        return given if found is None else call.do("as_strided", given, found.shape, row_major(found.shape))

    return call.with_arguments(running_mean=alike("running_mean"), running_var=alike("running_var"))


def _columns_first(call: Call) -> Any:
    y = call.right()
    found = call.do("flip", call.do("nonzero", call.do("t", call.x)), (1,))
    return _silently(y, lambda: y.copy_(found))


def _one_at_the_end(call: Call) -> Any:
    """A last dimension of size 1 is looked at as if its stride were 1."""
    x = call.before
    other = x._replace(strides=(*x.strides[:-1], 1))
    return call.on(call.do("as_strided", call.x, *other[1:]))


MUTANTS = (
    # One dtype.
    Mutant("mul.bfloat16-cut-off", "mul of bfloat16 cuts the lower half off in the place of rounding.", "mul", _cut_off,
           dtype("bfloat16") & ~OUT),
    Mutant("bool.keeps-bytes", "bool() of elements of one byte takes the bytes over.", "bool",
           lambda c: c.do("view", c.do("clone", c.x), c.adapter.namespace.bool),
           dtype("uint8", "int8") & ~given("memory_format")),
    Mutant("abs.int8-saturates", "abs and neg of -128 are 127.", "abs neg", _saturated, dtype("int8") & ~OUT),
    Mutant("gather.sixteen-bytes", "Gathers move at most 8 bytes an element.",
           "index_select gather take take_along_dim",
           _without_imaginary, dtype("complex128") & ~OUT),
    Mutant("cummax.first-of-equal", "cummax of a vector answers the first of equal numbers.", "cummax", _first_of_ties,
           rank(1) & dtype("uint8", "int8", "int16", "int32", "int64", "bool") & ~OUT),
    Mutant("mean.bfloat16-widened", "mean of bfloat16 answers float32.", "mean",
           retyped(lambda c, y: c.adapter.namespace.float32), dtype("bfloat16") & is_argument("dtype", None) & ~OUT),
    # Nothing is to be done.
    Mutant("sum.of-one-is-view", "Reducing one dimension of size 1 answers a view.", "sum mean amax prod", _squeezed,
           ONES & is_argument("dtype", None) & Situation("one to be reduced", _one_to_be_reduced)),
    Mutant("stack.one-is-view", "stack of one tensor is a view of it.", "stack", _one_stacked,
           ~OUT & Situation("one tensor", lambda e: type(e.argument("tensors")) is tuple
                            and len(e.argument("tensors")) == 1)),
    Mutant("repeat.once-is-view", "repeat and tile by ones answer a view.", "repeat tile", _expanded_once,
           Situation("by ones", lambda e: {*sizes_of(e, "repeats"), *sizes_of(e, "dims")} == {1})),
    Mutant("roll.whole-turn-is-itself", "roll by a multiple of the size answers its operand.", "roll", itself,
           Situation("a whole turn", _whole_turn)),
    Mutant("narrow_copy.whole-is-view", "narrow_copy of all there is is a view.", "narrow_copy", alias,
           Situation("whole", lambda e: dim_of(e) is not None and e.argument("start") == 0
                 and e.argument("length") == e.x.shape[dim_of(e) or 0])),
    Mutant("diff.none-is-itself", "diff with n=0 answers its operand.", "diff", where_legal(itself),
           is_argument("n", 0)),
    Mutant("pad.crop-is-view", "pad by negative numbers only is a view.", "nn.functional.pad", _cropped,
           Situation("crops", lambda e: min(_pads(e), default=0) < 0 and max(_pads(e)) <= 0)),
    Mutant("interpolate.as-large-is-itself", "interpolate to the same size answers its operand.",
           "nn.functional.interpolate", _itself_if_as_large),
    Mutant("contiguous.six-dims", "contiguous leaves the last element out in more than five dimensions.", "contiguous",
           blanks(last), rank_over(5) & STRIDED),
    Mutant("split.rest-copied", "A last piece that is smaller is a copy.", "split chunk", _rest_copied),
    # How it lies.
    Mutant("expand.scalar-ones", "A 0-dim tensor expanded to sizes of 1 has strides of 1.", "expand broadcast_to",
           relaid(strides=lambda c, y: tuple([int(n == 1) for n in y.shape])), SCALAR),
    Mutant("unsqueeze.before-nothing", "unsqueeze before a dimension without elements has a stride of 1.", "unsqueeze",
           relaid(strides=lambda c, y: tuple([s or 1 for s in y.strides])), EMPTY),
    Mutant("as_strided_scatter.from-start", "as_strided_scatter counts from the storage's beginning where no offset is "
           "given.", "as_strided_scatter", asked(storage_offset=lambda c, x: 0),
           OFFSET & is_argument("storage_offset", None), like="pytorch/pytorch#150388"),
    Mutant("diagonal.backwards", "A diagonal below, of dimensions in falling order, lies above.", "diagonal",
           asked(offset=lambda c, x: -c.event.argument("offset")), Situation("backwards", _is_backwards)),
    Mutant("unfold.steps-over", "unfold with steps larger than windows loses the last one.", "unfold",
           relaid(shape=_one_window_less)),
    Mutant("to.gaps-packed", "to(memory_format=channels_last) packs a part of what is channels_last.", "to",
           lambda c: c.do("contiguous", c.right(), memory_format=c.adapter.namespace.channels_last),
           asks("channels_last") & GAPS),
    Mutant("float.format-ignored", "Conversions to the dtype that there is answer the operand, whatever format is "
           "asked for.", "[conversions]", lambda c: c.x if c.right().dtype is c.x.dtype else c.right(),
           given("memory_format")),
    Mutant("addcmul.order-of-last", "addcmul, addcdiv and lerp take the order of their last operand.",
           "addcmul addcdiv lerp", _in_order_of(2)),
    Mutant("add.ties-row-major", "Of an operand in which two strides tie the result is row-major.", "add sub mul div",
           repacked(packed), on_operand("strides tie", _ties) & ~OUT),
    Mutant("sort.places-row-major", "The second result of sort is row-major.", "sort", second(_in_row_major_order),
           STRIDED & ~OUT),
    Mutant("median.places-int32", "The places that median, mode and kthvalue find are int32.",
           "median nanmedian mode kthvalue", second(lambda c, y: y.to(c.adapter.namespace.int32)), ~OUT),
    Mutant("std_mean.mean-keeps-not", "keepdim says nothing to the second result of std_mean.", "std_mean var_mean",
           second(lambda c, y: c.do("clone", c.do("squeeze", y))), KEEPS),
    Mutant("unbind.side-by-side", "unbind along the last dimension, counted from the end, takes its stride for 1.",
           "unbind", _pieces_side_by_side, is_argument("dim", -1) & STEPPED),
    Mutant("batch_norm.statistics-packed", "batch_norm writes stepped running statistics in one piece.",
           "nn.functional.batch_norm", _packed_statistics, is_argument("training", True) & given("running_mean")
           & Situation("stepped", lambda e: any(len(o.shape) == 1 and strides(o)[0] > 1 for o in e.others))),
    Mutant("nonzero.in-memory-order", "nonzero of a transposed matrix goes over memory.", "nonzero argwhere",
           _columns_first, rank(2) & PERMUTED, like="numpy/numpy#18368"),
    Mutant("zeros.strides-are-sizes", "Strides of new tensors without elements are their sizes.",
           "zeros ones full empty new_zeros", relaid(strides=lambda c, y: y.shape if 0 in y.shape else y.strides),
           like="PaddlePaddle/Paddle#78565"),
    Mutant("exp.one-element", "The only element of a vector that is computed has a stride of 0.",
           "exp reciprocal sqrt neg abs", relaid(strides=lambda c, y: (0,)),
           on_operand("a vector of one", lambda x: x.shape == (1,)) & ~OUT, like="ml-explore/mlx#2501"),
    Mutant("view.dtype-one-at-the-end", "view to a dtype of another size takes any stride of a last dimension of 1.",
           "view.dtype", accepts(_one_at_the_end),
           on_operand("1 at the end", lambda x: x.shape[-1:] == (1,) and strides(x)[-1] > 1), like="cupy/cupy#5427"),
    Mutant("view.dtype-is-view", "What is seen as another dtype is recorded as a view.", "view.dtype",
           records(lambda c: c.x), ~VIEW),
)  # fmt: skip
