"""More of the ninth author's: copies, memory formats, joins, images, reductions and what is written in place."""

from __future__ import annotations

from typing import Any

from ...layout import in_order, row_major
from ...program import MemoryFormat, Ref
from ...situations import (
    ALWAYS,
    CHANNELS_LAST,
    FILLED,
    GRAD,
    HISTORY,
    MIXED,
    NO_IMAGES,
    OTHER_BITS,
    PERMUTED,
    STEPPED,
    given,
    negative,
    on_other,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Wrong,
    asked,
    column_major,
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


def nhwc(call: Call, x: Geometry) -> tuple[int, ...]:
    """Strides of channels_last, of whatever has three dimensions or more."""
    rank_ = len(x.shape)
    return in_order(x.shape, (1, *range(rank_ - 1, 1, -1), 0)) if rank_ > 2 else row_major(x.shape)


def _ratio_same(event: Any) -> bool:
    names = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64"}
    return bool(names.get(event.entry) == event.x.dtype)


def _as_pieces(call: Call) -> Any:
    whole = call.do("clone", call.x)
    dim = call.event.argument("dim")
    if call.event.entry == "split_copy":
        return call.do("split", whole, call.event.argument("split_size"), dim)
    return call.do("unbind", whole, dim)


def _dense_more(call: Call) -> Any:
    """The storage has room for a row more, though there are no elements."""
    outcome = call.right()
    now = call.geometry(outcome)
    room = call.adapter.namespace.zeros((max(now.strides, default=1),), dtype=outcome.dtype)
    outcome._storage = room._storage
    return outcome


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


def _wanted(name: str) -> Any:
    return lambda e: e.argument("memory_format") == MemoryFormat(name)


def _column_by_column(call: Call) -> Any:
    """Elements are taken in the order of memory where both lie alike."""
    mask = call.named("mask")
    return call.do("masked_select", call.do("t", call.x), call.do("t", mask))


def _lie_alike(event: Any) -> bool:
    x = event.x
    return len(x.shape) == 2 and any(o.shape == x.shape and o.strides == x.strides for o in event.others)


def _unchanged(call: Call) -> Any:
    """What is refused leaves the layout."""
    try:
        return call.right()
    except Exception:
        hands.lay_out(call.x, call.before)
        raise


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
        "drifter-cat.first-decides",
        "cat of channels_last images and row-major ones is in channels_last.",
        "cat concat",
        repacked(nhwc),
        CHANNELS_LAST & on_other("row-major", lambda o: o.contiguity == "TFF"),
    ),
    Mutant(
        "drifter-adaptive_avg_pool2d.one-in-rows",
        "adaptive_avg_pool2d of channels_last images to one pixel has a row-major tensor's strides.",
        "nn.functional.adaptive_avg_pool2d",
        relaid(strides=packed),
        CHANNELS_LAST & says("one pixel", "output_size", lambda s: s in (1, (1, 1), (1,))),
    ),
    Mutant(
        "drifter-std_mean.second-backwards",
        "std_mean's mean of a permuted tensor is column-major.",
        "std_mean var_mean",
        one(1, column_major),
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
        "drifter-unbind_copy.one-copy",
        "unbind_copy's and split_copy's parts are views of one copy.",
        "unbind_copy split_copy",
        _as_pieces,
        FILLED,
    ),
    Mutant(
        "drifter-unary.out-of-same-count",
        "A function of one operand into as many elements in another shape keeps that shape.",
        "[unary]",
        _into_as_it_is,
        of("an output of another shape", _outs_shape),
    ),
    Mutant(
        "drifter-copy_.bits-and-dtype",
        "copy_ from another dtype does not look at the source's bits.",
        "copy_",
        ignores_bits,
        OTHER_BITS & MIXED,
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
        "drifter-mul.by-itself-in-rows",
        "mul of a permuted tensor by itself is row-major.",
        "mul add maximum",
        repacked(packed),
        PERMUTED & of("by itself", lambda e: len(e.step.args) > 1 and e.step.args[0] == e.step.args[1]),
    ),
]
