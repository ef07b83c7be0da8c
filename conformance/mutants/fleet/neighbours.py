"""More defects of a sixth author: outputs and their memory, storages, files, exchange, bits, codes, what computes."""

from __future__ import annotations

from math import nan
from typing import Any

from ...classify import Event
from ...layout import in_order, row_major
from ...observation import TensorState
from ...program import DType, MemoryFormat, Ref, Slice
from ...situations import (
    CHANNELS_LAST,
    CODES,
    CONJUGATED,
    GRAD,
    ODD_ONES,
    OFFSET,
    OTHER_BITS,
    PERMUTED,
    STRIDED,
    VIEW,
    Situation,
    asks,
    dtype,
    given,
    is_argument,
    numbers,
    on_operand,
    on_other,
    positive,
    rank,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Refused,
    accepts,
    asked,
    channels_last,
    copied,
    indexed,
    lay,
    packed,
    refuses,
    relaid,
    repacked,
    without_bits,
)
from .strangers import FLOATS
from .tenants import NO_FORMAT, NO_OUT

# Outputs, and sizes that change.

OUT_OF_OTHER_SHAPE = Situation("out= of another shape", lambda e: any(o.shape != e.x.shape for o in e.outs))
OUT_SHORT = Situation("out= of short floats", lambda e: any(o.dtype in ("float16", "bfloat16") for o in e.outs))
OUT_OFFSET = Situation("out= with an offset", lambda e: any(bool(o.offset) and 0 not in o.shape for o in e.outs))
TWO_OUTS = Situation("two outputs given", lambda e: len(e.outs) == 2)


def _rewritten(call: Call, out: Any, geometry: Geometry) -> None:
    """Let what an output holds lie in another layout over its memory, no write counted."""
    version, held = out._version, call.do("clone", out.detach())
    hands.lay_out(out, geometry)
    call.do("copy_", out, held)
    hands.set_version(out, version)


def _out_as_rows(call: Call) -> Any:
    out = call.right()
    now = call.geometry(out)
    _rewritten(call, out, now._replace(strides=row_major(now.shape)))
    return out


def _second_unwritten(call: Call) -> Any:
    second = call.live[call.event.argument("out")[1].key]
    held, before = hands.read(second), call.geometry(second)
    outcome = call.right()
    if call.geometry(second) == before:
        hands.write(second, 0, held)
    return outcome


def _out_from_beginning(call: Call) -> Any:
    out = call.named("out")
    held, before = hands.read(out), call.geometry(out)
    outcome = call.right()
    if call.geometry(out) == before:
        joined = call.do("clone", out.detach())
        hands.write(out, 0, held)
        version = out._version
        call.do("copy_", call.do("as_strided", out.detach(), *before[1:3], 0), joined)
        hands.set_version(out, version)
    return outcome


OUTPUTS = [
    Mutant(
        "out.other-shape-as-rows",
        "An out= of another shape is laid out in rows, whatever the order of the operand.",
        "[unary]",
        _out_as_rows,
        PERMUTED & OUT_OF_OTHER_SHAPE,
        like="pytorch/pytorch#62560",
    ),
    Mutant(
        "out.shorter-float-refused",
        "An out= of float16 or bfloat16 is refused where the result is longer.",
        "[binary]",
        refuses("dtype"),
        dtype("float32", "float64") & OUT_SHORT,
    ),
    Mutant(
        "max.second-out-unwritten",
        "Of two tensors given as out= the second is sized, but not written.",
        "max min median nanmedian mode kthvalue cummax cummin sort topk",
        _second_unwritten,
        TWO_OUTS,
    ),
    Mutant(
        "cat.out-offset-lost",
        "Joining into an out= that begins inside a storage writes from the storage's beginning.",
        "[joins]",
        _out_from_beginning,
        OUT_OFFSET,
    ),
    Mutant(
        "resize_.same-size-ignores-format",
        "resize_ to the sizes that there are does not look at memory_format.",
        "resize_",
        asked(memory_format=lambda call, x: None),
        Situation("the same size", lambda e: e.argument("size") == e.x.shape)
        & asks("contiguous_format", "channels_last", "channels_last_3d"),
    ),
    Mutant(
        "resize_as_.preserve-takes-strides",
        "resize_as_ with preserve_format takes over the strides of a permuted tensor, not its suggested format.",
        "resize_as_",
        relaid(strides=lambda call, y: call.others[0].strides),
        is_argument("memory_format", MemoryFormat("preserve_format"))
        & on_other("other permuted", lambda o: o.contiguity == "FFF" and 0 not in (o.strides or ())),
    ),
]


# Storages, files, other libraries.


def _signed(call: Call) -> Any:
    to = call.step.op.rpartition(".")[2]
    return call.do(f"TypedStorage.{to}", call.do("UntypedStorage.char", call.x))


def _refs(event: Event, name: str) -> list[Ref]:
    listed = event.argument(name)
    return [item for item in listed if isinstance(item, Ref)] if type(listed) is tuple else []


def _of_one_memory(event: Event) -> bool:
    states = [event.before[key] for key in map(event.named, _refs(event, "obj")) if key in event.before]
    return len({state.storage for state in states}) < len(states) and len(states) == len(event.argument("obj"))


def _shared(call: Call) -> Any:
    outcome = call.right()
    given = [call.live[ref.key] for ref in _refs(call.event, "obj")]
    first: dict[int, Any] = {}
    for x, y in zip(given, outcome, strict=True):
        y._storage = first.setdefault(id(call.adapter.storage_of(x)), y._storage)
    return outcome


def _without_grad(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        call.do("requires_grad_", y, False)
    return outcome


def _ones_normalised(call: Call) -> Any:
    from numpy.lib.stride_tricks import as_strided

    array = call.right()
    rows = [stride * array.itemsize for stride in row_major(array.shape)]
    strides = [row if n == 1 else s for n, s, row in zip(array.shape, array.strides, rows, strict=True)]
    return as_strided(array, array.shape, strides)


def _clamped(call: Call) -> Any:
    try:
        return call.right()
    except Exception as error:
        dtype, offset = call.adapter.dtype(call.event.argument("dtype").name), call.event.argument("offset")
        count = (len(call.args[0]) - offset) // dtype.itemsize
        if getattr(error, "kind", None) != "size" or not 0 < count < call.event.argument("count"):
            raise
    return call.with_arguments(count=count)


STORAGES = [
    Mutant(
        "UntypedStorage.part-from-end",
        "A part of a storage that begins so many bytes before its end begins at 0.",
        "UntypedStorage.__getitem__",
        indexed(lambda item: slice(0, item.stop, item.step) if isinstance(item, slice) else item),
        Situation("from the end", lambda e: isinstance(i := e.argument("index"), Slice) and (i.start or 0) < 0),
    ),
    Mutant(
        "UntypedStorage.float-of-signed-bytes",
        "Conversions of an untyped storage to longer numbers take its bytes as signed.",
        "UntypedStorage.short UntypedStorage.int UntypedStorage.long UntypedStorage.float UntypedStorage.double",
        _signed,
    ),
    Mutant(
        "pickle.keeps-sharing",
        "Tensors over one memory that are pickled together come back over one memory.",
        "pickle",
        _shared,
        Situation("several over one memory", _of_one_memory),
    ),
    Mutant(
        "save_load.part-loses-grad",
        "A leaf that requires grad and begins inside its storage is loaded without.",
        "save_load",
        _without_grad,
        GRAD & OFFSET,
    ),
    Mutant(
        "save_load.meta-as-rows",
        "What is loaded to meta has row-major strides.",
        "save_load",
        relaid(strides=packed),
        STRIDED & is_argument("map_location", "meta"),
    ),
    Mutant(
        "numpy.ones-normalised",
        "numpy() gives dimensions of size 1 the strides of rows.",
        "numpy",
        _ones_normalised,
        ODD_ONES,
        like="pytorch/pytorch#99803",
    ),
    Mutant(
        "from_dlpack.copy-as-rows",
        "from_dlpack(copy=True) of a permuted tensor is row-major.",
        "from_dlpack",
        repacked(packed),
        PERMUTED & is_argument("copy", True),
    ),
    Mutant(
        "frombuffer.count-clamped",
        "frombuffer() with a count that the buffer does not hold takes all that it holds.",
        "frombuffer",
        _clamped,
        positive("count"),
    ),
]


# Bits, codes, gradients, meta.


def _its_base(call: Call) -> Any:
    base = call.x._base
    return base if base._layout == call.x._layout and not base._bits else call.right()


def _later_raw(call: Call) -> Any:
    first, *later = call.args[0]
    return call.given([(first, *[without_bits(call, x) for x in later]), *call.args[1:]])


def _ties_away(call: Call) -> Any:
    steps = call.do("div", call.x, call.event.argument("scale"))
    # Of few steps, so that the millionth that is added moves nothing by more than half of one.
    few = call.do("lt", call.do("abs", steps), 1000.0)
    tie = call.do("logical_and", few, call.do("eq", call.do("abs", call.do("frac", steps)), 0.5))
    moved = call.do("copy.deepcopy", call.x.detach())  # laid out as the operand is
    try:
        call.do("copy_", moved, call.do("where", tie, call.do("mul", call.x, 1.000001), call.x))
    except RuntimeError:
        return call.right()
    return call.on(moved)


def _by_codes(call: Call) -> Any:
    return call.given([call.do("int_repr", arg) if call.adapter.is_tensor(arg) else arg for arg in call.args])


def _leaf(call: Call) -> Any:
    outcome = call.right()
    if outcome is not call.x:
        outcome._has_fn, outcome._leaf_grad = False, True
    return outcome


def _on_meta(call: Call) -> bool:
    return call.x is not None and str(call.x.device) == "meta"


def _bounded_on_meta(call: Call) -> Any:
    size, stride = numbers(call.event.argument("size")), numbers(call.event.argument("stride"))
    offset = call.event.argument("storage_offset")
    wanted = Geometry(call.before.dtype, size, stride, call.before.offset if offset is None else offset)
    if _on_meta(call) and len(size) == len(stride) and not hands.fits(wanted, call.x.untyped_storage().nbytes()):
        raise Refused("bounds")
    return call.right()


def _rows_on_meta(call: Call) -> Any:
    return relaid(strides=packed)(call) if _on_meta(call) else call.right()


CODES_OF_BYTES = CODES & on_operand("whole codes", lambda x: x.dtype in ("quint8", "qint8", "qint32"))

KINDS = [
    Mutant(
        "conj.twice-is-base",
        "conj() of a conjugated view is the very tensor that it is a view of.",
        "conj",
        _its_base,
        CONJUGATED & VIEW,
    ),
    Mutant(
        "cat.later-bits-ignored",
        "Joins resolve the conjugate and negative bits of their first operand only.",
        "cat concat stack",
        _later_raw,
        OTHER_BITS & NO_OUT,
    ),
    Mutant(
        "quantize_per_tensor.ties-away",
        "Quantising rounds what lies between two codes away from zero.",
        "quantize_per_tensor",
        _ties_away,
        dtype("float32") & Situation("scale a number", lambda e: isinstance(e.argument("scale"), float)),
    ),
    Mutant(
        "quantize_per_channel.axis-of-square",
        "Quantising by the columns of a square goes by its rows.",
        "quantize_per_channel",
        asked(axis=lambda call, x: 0),
        is_argument("axis", 1) & on_operand("a square", lambda x: len(x.shape) > 1 and x.shape[0] == x.shape[1]),
    ),
    Mutant(
        "eq.codes",
        "Comparisons of two quantised tensors compare codes.",
        "eq ne lt le gt ge",
        _by_codes,
        NO_OUT & CODES_OF_BYTES & on_other("other quantised", lambda o: o.quantizer is not None),
    ),
    Mutant(
        "contiguous.copy-is-leaf",
        "A copy that contiguous() makes of what requires grad is a leaf.",
        "contiguous",
        _leaf,
        GRAD & STRIDED,
    ),
    Mutant(
        "as_strided.meta-bounds",
        "as_strided() on meta looks at the length of the storage.",
        "as_strided",
        _bounded_on_meta,
    ),
    Mutant(
        "clone.meta-as-rows",
        "clone of a tensor on meta is row-major.",
        "clone",
        _rows_on_meta,
        STRIDED & NO_FORMAT,
        like="pytorch/pytorch#161010",
    ),
]


# Errors.


def _repeats_from_end(event: Event) -> bool:
    dims, rank = numbers(event.argument("dims")), len(event.x.shape)
    fits = len(dims) == rank and all(-rank <= dim < rank for dim in dims)
    return fits and len(set(dims)) == rank > len({dim % rank for dim in dims})


def _repeated(call: Call) -> Any:
    x, dims = call.before, [dim % len(call.before.shape) for dim in call.event.argument("dims")]
    view = x._replace(shape=tuple([x.shape[d] for d in dims]), strides=tuple([x.strides[d] for d in dims]))
    if not hands.fits(view, call.x.untyped_storage().nbytes()):
        return call.right()
    return call.do("as_strided", call.x, *view[1:])


def _broadcast(call: Call) -> Any:
    try:
        tensors = call.do("broadcast_tensors", *call.args[0])
    except Exception:
        return call.right()
    return call.given([tuple(tensors), *call.args[1:]])


def _expanded_source(call: Call) -> Any:
    place = call.do("select", call.x, call.event.argument("dim"), call.event.argument("index"))
    try:
        source = call.do("expand", call.named("src"), tuple(place.shape))
    except Exception:
        return call.right()
    return call.with_arguments(src=source)


REFUSALS = [
    Mutant(
        "permute.repeated-from-end",
        "permute() takes a dimension twice if one of the two is counted from the end.",
        "permute",
        accepts(_repeated),
        Situation("one dimension by two numbers", _repeats_from_end),
    ),
    Mutant(
        "stack.broadcasts",
        "stack() broadcasts tensors of different shapes.",
        "stack",
        accepts(_broadcast),
        Situation("different shapes", lambda e: any(o.shape != e.x.shape for o in e.others)),
    ),
    Mutant(
        "select_scatter.broadcasts",
        "select_scatter() broadcasts what it puts in.",
        "select_scatter",
        accepts(_expanded_source),
    ),
]


# What computes.


def _ordered(call: Call, y: Geometry) -> tuple[int, ...]:
    return in_order(y.shape, sorted(range(len(y.shape)), key=lambda d: call.before.strides[d]))


def _second_as_rows(call: Call) -> Any:
    outcome = call.right()
    lay(call, outcome[1], row_major(call.geometry(outcome[1]).shape))
    return outcome


def _infinities_lost(call: Call) -> Any:
    return call.do("nan_to_num", call.right(), nan, nan, nan)


def _also_permuted(other: TensorState) -> bool:
    return len(other.shape) == 2 and other.contiguity[0] == "F" and (other.strides or ())[0] == 1


COMPUTING = [
    Mutant(
        "sum.keepdim-keeps-order",
        "Reductions with keepdim keep the order of a permuted operand's dimensions.",
        "sum mean amax amin",
        repacked(_ordered),
        PERMUTED
        & given("keepdim")
        & ~is_argument("dim", None)
        & NO_OUT
        & on_operand("over 2-d", lambda x: len(x.shape) > 2),
    ),
    Mutant(
        "cat.one-channel-first-channels-last",
        "cat of channels_last images to rows of one channel, which are both formats at once, is channels_last.",
        "cat concat",
        repacked(channels_last),
        NO_OUT
        & on_operand("rows in both formats", lambda x: x.contiguity == "TTF" and x.strides == row_major(x.shape))
        & Situation("channels_last others", lambda e: bool(e.others) and all(o.contiguity == "FTF" for o in e.others)),
        like="pytorch/pytorch#24090",
    ),
    Mutant(
        "mm.both-transposed-columns",
        "The product of two transposed matrices is column-major.",
        "mm matmul",
        repacked(lambda call, y: (1, y.shape[0])),
        PERMUTED & rank(2) & NO_OUT & on_other("other transposed", _also_permuted),
    ),
    Mutant(
        "max_pool2d.indices-as-rows",
        "The indices of pooling in channels_last are row-major.",
        "nn.functional.max_pool2d",
        _second_as_rows,
        CHANNELS_LAST & given("return_indices"),
    ),
    Mutant(
        "sort.indices-as-rows",
        "The indices of sorting a permuted tensor are row-major.",
        "sort",
        _second_as_rows,
        PERMUTED & NO_OUT,
    ),
    Mutant(
        "roll.dims-keep-order",
        "roll() along dimensions keeps the order of a permuted tensor.",
        "roll",
        repacked(lambda call, y: call.before.strides),
        PERMUTED & ~is_argument("dims", None) & on_operand("in no memory format", lambda x: x.contiguity == "FFF"),
    ),
    Mutant(
        "einsum.one-operand-copied",
        "einsum() of one operand always answers a copy.",
        "einsum",
        copied,
        ~Situation("several operands", lambda e: bool(e.others)),
    ),
    Mutant(
        "count_nonzero.nan",
        "count_nonzero() does not count NaN.",
        "count_nonzero",
        lambda call: call.on(call.do("nan_to_num", call.x, 0.0)),
        dtype(*FLOATS),
    ),
    Mutant(
        "to.float8-infinity",
        "float8_e5m2 that is infinite becomes NaN in float32.",
        "to float",
        _infinities_lost,
        dtype("float8_e5m2")
        & Situation("to float32", lambda e: e.entry == "float" or e.argument("dtype") == DType("float32")),
    ),
]

MUTANTS = [*OUTPUTS, *STORAGES, *KINDS, *REFUSALS, *COMPUTING]
