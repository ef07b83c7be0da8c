"""More of the ninth author's: copies, memory formats, joins, images, reductions and what is written in place."""

from __future__ import annotations

from typing import Any

from ...program import MemoryFormat, Ref
from ...situations import (
    ALWAYS,
    CHANNELS_LAST,
    FILLED,
    GRAD,
    HISTORY,
    MIXED,
    NO_IMAGES,
    OFFSET,
    OTHER_BITS,
    OTHER_IMAGES,
    OTHER_SCALAR,
    PERMUTED,
    ROW_MAJOR,
    SAME_STORAGE,
    STEPPED,
    given,
    is_argument,
    negative,
    on_operand,
    on_other,
    row_major,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Wrong,
    accepts,
    alias_of,
    asked,
    counted,
    ignores_bits,
    itself,
    leaves,
    packed,
    relaid,
    repacked,
    skips,
)
from .nomads import of, says


def one(number: int, strides: Any) -> Wrong:
    """One result of several lies in another order."""

    def wrong(call: Call) -> Any:
        outcome = call.right()
        y = call.tensors(outcome)[number : number + 1]
        for x in y:
            now = call.geometry(x)
            empty = call.adapter.namespace.empty_strided(now.shape, strides(call, now), dtype=x.dtype)
            hands.move(x, empty.copy_(x.detach()))
        return outcome

    return wrong


def in_order_of(order: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Dense strides of a shape, dimensions from the outermost."""
    inner = row_major(tuple([shape[d] for d in order]))
    return tuple([inner[order.index(d)] for d in range(len(shape))])


def nhwc(call: Call, x: Geometry) -> tuple[int, ...]:
    """Strides of channels_last, of whatever has three dimensions or more."""
    rank_ = len(x.shape)
    return in_order_of((0, *range(2, rank_), 1), x.shape) if rank_ > 2 else row_major(x.shape)


def backwards(call: Call, x: Geometry) -> tuple[int, ...]:
    """Column-major strides."""
    return in_order_of(tuple(range(len(x.shape)))[::-1], x.shape)


def _ratio_same(event: Any) -> bool:
    names = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64"}
    return names.get(event.entry) == event.x.dtype


def _as_pieces(call: Call) -> Any:
    whole = call.do("clone", call.x)
    dim = call.event.argument("dim")
    if call.event.entry == "split_copy":
        return call.do("split", whole, call.event.argument("split_size"), dim)
    return call.do("unbind", whole, dim)


def _cut(call: Call) -> Any:
    """Cut off in a view of the input."""
    x, pads = call.x, call.event.argument("pad")
    shape = call.before.shape
    for place in range(len(pads) // 2):
        dim = len(shape) - 1 - place
        low, high = -pads[2 * place], -pads[2 * place + 1]
        x = call.do("narrow", x, dim, low, shape[dim] - low - high)
    return alias_of(call, x)


def _dense_more(call: Call) -> Any:
    """The storage has room for a row more, though there are no elements."""
    outcome = call.right()
    now = call.geometry(outcome)
    room = call.adapter.namespace.zeros((max(now.strides, default=1),), dtype=outcome.dtype)
    outcome._storage = room._storage
    return outcome


def _source_as_index(call: Call) -> Any:
    """The source is read as if it had the index's shape."""
    source, index = call.named("src"), call.named("index")
    shape = call.geometry(index).shape
    now = call.geometry(source)
    other = Geometry(now.dtype, shape, row_major(shape), now.offset)
    if not hands.fits(other, source.untyped_storage().nbytes()):
        return call.right()
    flat = call.do("as_strided", source, *other[1:])
    return call.do(call.step.op, call.x, call.event.argument("dim"), index, flat)


def _outs_shape(event: Any) -> bool:
    """The output has as many elements as the operand in another shape."""
    if not event.outs:
        return False
    out, x = event.outs[0], event.x
    count = 1
    for n in x.shape:
        count *= n
    room = 1
    for n in out.shape:
        room *= n
    return count == room and out.shape != x.shape and out.dtype == x.dtype


def _into_as_it_is(call: Call) -> Any:
    """The output is filled in its own shape."""
    out = call.named("out")
    made = call.do(call.step.op, call.x)
    out.copy_(made.reshape(tuple(call.geometry(out).shape)))
    return out


def _without_gradients(call: Call) -> Any:
    args = [call.do("detach", a) if call.adapter.is_tensor(a) and a is not call.named("out") else a for a in call.args]
    return call.given(args)


def _through_a_copy(call: Call) -> Any:
    """What overlaps is computed elsewhere and then copied."""
    out = call.named("out")
    spare = call.do("clone", out)
    made = call.given([spare if a is out else a for a in call.args])
    out.copy_(made)
    return out


def _wanted(name: str) -> Any:
    return lambda e: e.argument("memory_format") == MemoryFormat(name)


HAS_OUT = of("an output", lambda e: bool(e.outs))


def _column_by_column(call: Call) -> Any:
    """Elements are taken in the order of memory where both lie alike."""
    mask = call.named("mask")
    return call.do("masked_select", call.do("t", call.x), call.do("t", mask))


def _lie_alike(event: Any) -> bool:
    x = event.x
    return len(x.shape) == 2 and any(o.shape == x.shape and o.strides == x.strides for o in event.others)


def _in_order_of_memory(call: Call) -> Any:
    count = 1
    for n in call.before.shape:
        count *= n
    return call.on(call.do("as_strided", call.x, (count,), (1,), call.before.offset))


def _unchanged(call: Call) -> Any:
    """What is refused leaves the layout."""
    try:
        return call.right()
    except Exception:
        hands.lay_out(call.x, call.before)
        raise


def _picked(call: Call) -> Any:
    """One place drops its dimension."""
    return call.do("squeeze", call.right(), call.event.argument("dim"))


MUTANTS = [
    Mutant(
        "drifter-conversion.same-dtype-no-format",
        "float and the like, to the dtype that there is, do not look at the memory format.",
        "[conversions]",
        itself,
        given("memory_format") & of("the same dtype", _ratio_same),
    ),
    Mutant(
        "drifter-new_empty_strided.tidies-ones",
        "new_empty_strided gives dimensions of size 1 their row-major strides.",
        "new_empty_strided",
        relaid(
            strides=lambda call, x: tuple(
                [r if n == 1 else s for n, s, r in zip(x.shape, x.strides, row_major(x.shape), strict=False)]
            )
        ),
        ALWAYS,
    ),
    Mutant(
        "drifter-empty_strided.room-for-nothing",
        "empty_strided of no elements has memory for a row.",
        "empty_strided",
        _dense_more,
        says("size with 0", "size", lambda s: 0 in s),
    ),
    Mutant(
        "drifter-empty_permuted.nothing",
        "empty_permuted of no elements counts strides as if 0 elements made rows of 0.",
        "empty_permuted",
        relaid(strides=lambda call, x: tuple([0 if s > 1 else s for s in x.strides])),
        says("size with 0", "size", lambda s: 0 in s),
    ),
    Mutant(
        "drifter-cat.nothing-first-kept-order",
        "cat of nothing and channels_last images is in channels_last.",
        "cat concat",
        repacked(nhwc),
        on_operand("(0,)", lambda x: x.shape == (0,)) & OTHER_IMAGES,
    ),
    Mutant(
        "drifter-cat.first-decides",
        "cat of channels_last images and row-major ones is in channels_last.",
        "cat concat",
        repacked(nhwc),
        CHANNELS_LAST & on_other("row-major", lambda o: o.contiguity == "TFF"),
    ),
    Mutant(
        "drifter-pad.cut-is-view",
        "pad by negative numbers only answers a view.",
        "nn.functional.pad",
        _cut,
        FILLED
        & is_argument("mode", "constant")
        & says("negative pad", "pad", lambda p: max(p, default=1) <= 0 and len(p) % 2 == 0 and min(p) < 0),
    ),
    Mutant(
        "drifter-max_pool2d.indices-in-rows",
        "max_pool2d of channels_last images has row-major indices.",
        "nn.functional.max_pool2d nn.functional.adaptive_max_pool2d",
        one(1, packed),
        CHANNELS_LAST & given("return_indices"),
    ),
    Mutant(
        "drifter-adaptive_avg_pool2d.one-in-rows",
        "adaptive_avg_pool2d of channels_last images to one pixel has a row-major tensor's strides.",
        "nn.functional.adaptive_avg_pool2d",
        relaid(strides=packed),
        CHANNELS_LAST & says("one pixel", "output_size", lambda s: s in (1, (1, 1), (1,))),
    ),
    Mutant(
        "drifter-conv2d.looks-at-input-only",
        "conv2d of row-major images by a channels_last weight is row-major.",
        "conv2d conv_transpose2d",
        repacked(packed),
        ROW_MAJOR & OTHER_IMAGES & ~CHANNELS_LAST,
    ),
    Mutant(
        "drifter-std_mean.second-backwards",
        "std_mean's mean of a permuted tensor is column-major.",
        "std_mean var_mean",
        one(1, backwards),
        PERMUTED,
    ),
    Mutant(
        "drifter-index_put.of-permuted-in-rows",
        "index_put of a permuted tensor with accumulate is row-major.",
        "index_put put",
        repacked(packed),
        PERMUTED & given("accumulate"),
    ),
    Mutant(
        "drifter-index_fill.by-tensor-in-rows",
        "index_fill of a permuted tensor by a tensor is row-major.",
        "index_fill",
        repacked(packed),
        PERMUTED & of("a value of 0-dim", lambda e: isinstance(e.argument("value"), Ref)),
    ),
    Mutant(
        "drifter-select_scatter.from-end-in-rows",
        "select_scatter along a negative dimension of a permuted tensor is row-major.",
        "select_scatter",
        repacked(packed),
        PERMUTED & says("dim < 0", "dim", lambda d: d < 0),
    ),
    Mutant(
        "drifter-scatter_.source-by-index",
        "scatter_ reads a source larger than the index as if it had the index's shape.",
        "scatter_ scatter_add_",
        _source_as_index,
        of(
            "a larger source",
            lambda e: (
                isinstance(e.argument("src"), Ref) and len(e.others) == 2 and e.others[0].shape != e.others[1].shape
            ),
        ),
    ),
    Mutant(
        "drifter-unbind_copy.one-copy",
        "unbind_copy's and split_copy's parts are views of one copy.",
        "unbind_copy split_copy",
        _as_pieces,
        FILLED,
    ),
    Mutant(
        "drifter-where.condition-no-say",
        "where by a permuted condition of row-major tensors is row-major.",
        "where",
        repacked(packed),
        PERMUTED & on_other("row-major", lambda o: o.contiguity[0] == "T" and len(o.shape) > 1),
    ),
    Mutant(
        "drifter-unary.out-of-same-count",
        "A function of one operand into as many elements in another shape keeps that shape.",
        "[unary]",
        _into_as_it_is,
        of("an output of another shape", _outs_shape),
    ),
    Mutant(
        "drifter-binary.out-takes-history",
        "add, mul and sub of what requires gradients into an output are done without them.",
        "add mul sub",
        accepts(_without_gradients),
        GRAD & HAS_OUT,
    ),
    Mutant(
        "drifter-binary.out-overlap-copied",
        "mul and maximum into an output that overlaps an operand go through a copy.",
        "mul maximum",
        accepts(_through_a_copy),
        HAS_OUT & SAME_STORAGE,
    ),
    Mutant(
        "drifter-copy_.bits-and-dtype",
        "copy_ from another dtype does not look at the source's bits.",
        "copy_",
        ignores_bits,
        OTHER_BITS & MIXED,
    ),
    Mutant(
        "drifter-add_.refused-counts",
        "add_ and mul_ that are refused since the result's dtype does not fit have counted a version.",
        "add_ sub_ mul_",
        leaves(counted),
        MIXED,
    ),
    Mutant(
        "drifter-relu_.leaf-counts",
        "A function in place that a leaf refuses has counted a version.",
        "relu_ neg_ exp_ zero_ fill_ clamp_",
        leaves(counted),
        GRAD & ~HISTORY,
    ),
    Mutant(
        "drifter-contiguous.images-of-nothing",
        "contiguous of images of nothing for channels_last is row-major.",
        "contiguous clone",
        relaid(strides=packed),
        NO_IMAGES & of("channels_last", _wanted("channels_last")),
    ),
    Mutant(
        "drifter-index_add_.negative-stepped",
        "index_add_ along a negative dimension of a stepped tensor leaves the last element.",
        "index_add_ index_copy_",
        skips(lambda x: [x.offset + sum((n - 1) * s for n, s in zip(*x[1:3], strict=False))]),
        STEPPED & says("dim < 0", "dim", lambda d: d < 0),
    ),
    Mutant(
        "drifter-as_strided_scatter.default-offset",
        "as_strided_scatter without an offset begins at the storage's begin.",
        "as_strided_scatter",
        asked(storage_offset=lambda call, x: 0),
        OFFSET & ~given("storage_offset"),
    ),
    Mutant(
        "drifter-roll.far-back",
        "roll by more than the size backwards does not roll.",
        "roll",
        asked(shifts=lambda call, x: 0),
        of(
            "far back",
            lambda e: (
                type(e.argument("shifts")) is int
                and type(e.argument("dims")) is int
                and -len(e.x.shape) <= e.argument("dims") < len(e.x.shape)
                and e.argument("shifts") < -e.x.shape[e.argument("dims")]
            ),
        ),
    ),
    Mutant(
        "drifter-triu.everything-is-it",
        "triu that leaves all answers the tensor.",
        "triu",
        itself,
        of(
            "nothing below",
            lambda e: (
                len(e.x.shape) > 1
                and type(e.argument("diagonal")) is int
                and e.argument("diagonal") <= 1 - e.x.shape[-2]
            ),
        ),
    ),
    Mutant(
        "drifter-diag_embed.below-is-above",
        "diag_embed below the diagonal, with dimensions that are given, writes above it.",
        "diag_embed",
        asked(offset=lambda call, x: -call.event.argument("offset")),
        negative("offset") & of("dimensions given", lambda e: e.argument("dim1") != -2),
    ),
    Mutant(
        "drifter-index_select.scalar-drops",
        "index_select by a tensor without dimensions drops the dimension.",
        "index_select",
        _picked,
        OTHER_SCALAR & FILLED & on_operand("some", lambda x: len(x.shape) > 0),
    ),
    Mutant(
        "drifter-take_along_dim.flat-in-memory",
        "take_along_dim without a dimension takes from a permuted tensor in the order of memory.",
        "take_along_dim",
        _in_order_of_memory,
        PERMUTED & ~given("dim") & of("no dim", lambda e: e.argument("dim") is None),
    ),
    Mutant(
        "drifter-masked_select.by-columns",
        "masked_select of a transposed matrix by a mask in the same strides goes by columns.",
        "masked_select",
        _column_by_column,
        PERMUTED & of("alike", _lie_alike),
    ),
    Mutant(
        "drifter-resize_.refused-unchanged",
        "resize_ of a tensor whose storage cannot grow leaves its shape.",
        "resize_",
        _unchanged,
        ALWAYS,
    ),
    Mutant(
        "drifter-repeat_interleave.flat-in-memory",
        "repeat_interleave without a dimension goes through a permuted tensor in the order of memory.",
        "repeat_interleave",
        _in_order_of_memory,
        PERMUTED & of("no dim", lambda e: e.argument("dim") is None),
    ),
    Mutant(
        "drifter-rot90.half-turn-in-rows",
        "rot90 by half a turn of a permuted tensor is row-major.",
        "rot90",
        repacked(packed),
        PERMUTED & says("half a turn", "k", lambda k: k % 4 == 2),
    ),
    Mutant(
        "drifter-new_zeros.keeps-format",
        "new_zeros and new_full of channels_last images' own size are in channels_last.",
        "new_zeros new_full new_ones new_empty",
        repacked(nhwc),
        CHANNELS_LAST & of("of its size", lambda e: e.argument("size") == e.x.shape),
    ),
    Mutant(
        "drifter-clone.of-ones-in-format",
        "clone for channels_last of images of one channel has a row-major tensor's strides.",
        "clone contiguous to",
        relaid(strides=packed),
        of("channels_last", _wanted("channels_last"))
        & on_operand("one channel", lambda x: len(x.shape) == 4 and x.shape[1] == 1 and 0 not in x.shape),
    ),
    Mutant(
        "drifter-mul.by-itself-in-rows",
        "mul of a permuted tensor by itself is row-major.",
        "mul add maximum",
        repacked(packed),
        PERMUTED & of("by itself", lambda e: len(e.step.args) > 1 and e.step.args[0] == e.step.args[1]),
    ),
]
