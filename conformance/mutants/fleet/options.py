"""What an option says is not done: of images, products, sorts, joins, indices, results that are given.

A third fleet: see `numbers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...layout import is_expanded, numel
from ...program import Ref
from ...situations import (
    BROADCASTS,
    CHANNELS_LAST,
    CHANNELS_LAST_3D,
    EMPTY,
    FILLED,
    OTHERS,
    SCALAR,
    Situation,
    given,
    is_argument,
    negative,
    on_operand,
    on_other,
    rank,
    rank_over,
)
from ..call import Call, Geometry
from ..hands import set_version
from ..mutant import Mutant
from ..wrongs import (
    Wrong,
    accepts,
    argument,
    asked,
    blanks,
    evenly,
    last,
    packed,
    refuses,
    relaid,
    repacked,
    skips,
)
from .numbers import if_possible, instead, of, rewritten, then

CONV = "conv1d conv2d conv3d"
POOLS = "nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d"
MEANS = "nn.functional.avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d"
ACTIVATIONS = (
    "nn.functional.silu nn.functional.mish nn.functional.hardswish nn.functional.relu6 nn.functional.selu "
    "nn.functional.elu nn.functional.celu nn.functional.leaky_relu nn.functional.hardtanh nn.functional.threshold"
)
TRAINS = is_argument("training", True)


def not_default(name: str, default: Any) -> Situation:
    """That argument is given, and another than its default."""
    return Situation(f"another {name}", lambda e: e.argument(name) not in (None, default))


def ignores(**defaults: Any) -> Wrong:
    """Arguments are taken for their defaults."""
    return if_possible(asked(**{name: _always(value) for name, value in defaults.items()}))


def _always(value: Any) -> Callable[[Call, Geometry], Any]:
    return lambda call, x: value


def _many(e: Any) -> bool:
    return isinstance(e.argument("dim"), tuple) and len(e.argument("dim")) > 1


def _keeps_first(call: Call) -> Any:
    """Of several dimensions that are kept the last is not."""
    rank = len(call.before.shape)
    dims = sorted(d % rank for d in call.event.argument("dim"))
    return call.right().squeeze(dims[-1])


def _second_packed(call: Call) -> Any:
    values, indices = call.right()
    return (values, indices.contiguous())


def _second_zero(call: Call) -> Any:
    outcome = call.right()
    rewritten(outcome[1], outcome[1] - outcome[1])
    return outcome


def _padded_by_zero(call: Call) -> Any:
    """What is around the image counts as 0."""
    padding = call.event.argument("padding")
    count = int(call.event.entry[-2])
    each = padding if isinstance(padding, tuple) else (padding,) * count
    around = tuple([p for p in reversed(each) for _ in range(2)])
    padded = call.do("nn.functional.pad", call.x, around)
    step = call.event.argument("stride")
    kernel = call.event.argument("kernel_size")
    return call.do(call.event.entry, padded, kernel, step, 0)


def _statistics_copied(call: Call) -> Any:
    """Running statistics are updated in copies."""
    return call.with_arguments(
        **{name: call.named(name).clone() for name in ("running_mean", "running_var") if call.named(name) is not None}
    )


def _no_batch(call: Call) -> Any:
    return call.right().unsqueeze(0)


def _both_broadcast(e: Any) -> bool:
    shapes = [e.x.shape[:-2], *[o.shape[:-2] for o in e.others[:1]]]
    if len(shapes) < 2 or not all(shapes):
        return False
    pairs = list(zip(reversed(shapes[0]), reversed(shapes[1]), strict=False))
    return any(a == 1 != b for a, b in pairs) and any(b == 1 != a for a, b in pairs)


def _long_inner(e: Any) -> bool:
    return len(e.x.shape) > 0 and e.x.shape[-1] > 64 and all(len(o.shape) > 0 for o in e.others)


def _square_vector(e: Any) -> bool:
    others = [o.shape for o in e.others]
    return len(e.x.shape) == 1 and len(others) == 2 and others[0][:1] == others[1][1:2] == e.x.shape != (1,)


def _of_columns(call: Call) -> Any:
    return call.on(call.x.unsqueeze(1))


def _nan_through(call: Call) -> Any:
    return call.with_arguments(beta=1) * 0 + call.with_arguments(beta=0)


def _without_arrow(e: Any) -> bool:
    equation = e.argument("equation")
    return isinstance(equation, str) and "->" not in equation


def _reversed_order(y: Any, ns: Any) -> Any:
    return y.permute(*range(y.dim())[::-1])


def _ones(y: Any, ns: Any) -> Any:
    return y - y + 1


def _no_negative_places(place: int) -> Wrong:
    """Places counted from the end are 0."""

    def wrong(call: Call) -> Any:
        index = call.args[place]
        return call.given([*call.args[:place], index.clamp_min(0), *call.args[place + 1 :]])

    return if_possible(wrong)


def _index_tensors(change: Callable[[Any, Any], Any]) -> Wrong:
    """The tensors in an index are others."""

    def wrong(call: Call) -> Any:
        ns, index = call.adapter.namespace, call.args[1]
        items = index if isinstance(index, tuple) else (index,)
        changed = tuple([change(item, ns) if call.adapter.is_tensor(item) else item for item in items])
        return call.given([call.x, changed if isinstance(index, tuple) else changed[0], *call.args[2:]])

    return if_possible(wrong)


def _mask_of(*names: str) -> Situation:
    def holds(e: Any) -> bool:
        index = e.argument("index")
        items = index if isinstance(index, tuple) and not isinstance(index, Ref) else (index,)
        return any(isinstance(item, Ref) and item.key in e.before and e.before[e.named(item)].dtype in names
                   for item in items)  # fmt: skip

    return Situation(f"an index of {' or '.join(names)}", holds)


def _leading_ones(e: Any) -> bool:
    value = e.argument("value")
    state = e.before.get(e.named(value)) if isinstance(value, Ref) else None
    return state is not None and len(state.shape) > len(e.x.shape) and state.shape[:1] == (1,)


def _source_in_order(call: Call) -> Any:
    """As many are taken of the source as there are places, from its beginning."""
    index, source = call.named("index"), call.named("src")
    return call.with_arguments(src=source.reshape(-1)[: index.numel()].reshape(tuple(index.shape)))


def _larger_source(e: Any) -> bool:
    index, source = e.argument("index"), e.argument("src")
    if not (isinstance(index, Ref) and isinstance(source, Ref)):
        return False
    shapes = [e.before[e.named(ref)].shape for ref in (index, source) if e.named(ref) in e.before]
    return len(shapes) == 2 and shapes[0] != shapes[1]


def _smaller_index(e: Any) -> bool:
    return any(o.dtype == "int64" and o.shape != e.x.shape and len(o.shape) == len(e.x.shape) for o in e.others[:1])


def _without_dimension(call: Call) -> Any:
    return call.right().squeeze(call.event.argument("dim"))


def _lost_of_scalar(call: Call) -> Any:
    call.on(call.x.detach().clone())
    set_version(call.x, call.x._version + 1)
    return call.x


def _first_of(*names: str) -> Wrong:
    return if_possible(asked(**{name: argument(name, lambda d: d[:1]) for name in names}))


def _clipped(call: Call) -> Any:
    shifts, dims = call.event.argument("shifts"), call.event.argument("dims")
    size = call.before.shape[dims]
    return call.with_arguments(shifts=max(-size, min(size, shifts)))


def _past_its_length(e: Any) -> bool:
    shifts, dims = e.argument("shifts"), e.argument("dims")
    if type(shifts) is not int or type(dims) is not int or not -len(e.x.shape) <= dims < len(e.x.shape):
        return False
    size = e.x.shape[dims]
    return 1 < size < abs(shifts) and 0 not in e.x.shape and shifts % size != 0


def _of_each(change: Callable[[Any], Any]) -> Wrong:
    """Every tensor that is joined is another."""

    def wrong(call: Call) -> Any:
        tensors = call.args[0] if isinstance(call.args[0], tuple) else None
        if tensors is not None:
            return call.given([tuple([change(x) for x in tensors]), *call.args[1:]])
        return call.given([change(x) for x in call.args])

    return if_possible(wrong)


def _empty_part(call: Call) -> Any:
    parts, dim = call.right(), call.event.argument("dim")
    return type(parts)([*parts, call.do("narrow", call.x, dim, call.before.shape[dim], 0)])


def _length(e: Any) -> int:
    """Size of the dimension that is named, 0 where there is none."""
    dim, shape = e.argument("dim"), e.x.shape
    return shape[dim] if type(dim) is int and -len(shape) <= dim < len(shape) else 0


def _divides(e: Any) -> bool:
    size = e.argument("split_size")
    return type(size) is int and size > 0 and _length(e) > 0 and _length(e) % size == 0


def _too_many_chunks(e: Any) -> bool:
    chunks = e.argument("chunks")
    return type(chunks) is int and 0 < _length(e) < chunks


def _accepts_out(call: Call) -> Any:
    """What the result cannot be cast to is cast."""
    keywords = dict(zip([k for k, _ in call.step.kwargs], call.args[len(call.step.args) :], strict=True))
    out = keywords.pop("out")
    result = call.do(call.step.op, *call.args[: len(call.step.args)], **keywords)
    ns = call.adapter.namespace
    if tuple(result.shape) != tuple(out.shape):
        out.resize_(tuple(result.shape))
    for place in ns.ones(tuple(out.shape)).nonzero().tolist():
        out[tuple(place)] = result[tuple(place)].to(out.dtype)
    return out


def _out_emptied(call: Call) -> None:
    out = call.named("out")
    if out is not None:
        out.detach().resize_((0,))


def _out_is_operand(e: Any) -> bool:
    out = e.argument("out")
    return isinstance(out, Ref) and e.named(out) == e.x_key


def _zeroed_first(call: Call) -> Any:
    version = call.x._version
    call.x.detach().zero_()
    set_version(call.x, version)
    return call.right()


OUT = given("out")
OUT_PAIR = Situation("a pair of outs", lambda e: isinstance(e.argument("out"), tuple) and not isinstance(
    e.argument("out"), Ref))  # fmt: skip
OUT_DTYPE = Situation("another dtype of out", lambda e: any(o.dtype != e.x.dtype for o in e.outs))
OUT_EXPANDED = Situation("an expanded out", lambda e: any(
    is_expanded(o) for o in e.outs))  # fmt: skip
DEPTHWISE = Situation("depthwise", lambda e: len(e.x.shape) > 2 and e.argument("groups") == e.x.shape[1] > 1)
POINTWISE = on_other("a 1x1 kernel", lambda o: len(o.shape) == 4 and o.shape[2:] == (1, 1))
NO_BATCH_3D = on_operand("no batch", lambda x: len(x.shape) == 3)
PARTS = "split unsafe_split"

MUTANTS = (
    # Images.
    Mutant("conv.bias", "conv of channels_last ignores its bias.", CONV, ignores(bias=None),
           given("bias") & (CHANNELS_LAST | CHANNELS_LAST_3D)),
    Mutant("conv.pointwise", "conv of channels_last with a 1x1 kernel is row-major.", "conv2d",
           repacked(packed), CHANNELS_LAST & POINTWISE),
    Mutant("conv.weight-format", "conv with channels_last weights only is row-major.", "conv2d", repacked(packed),
           ~CHANNELS_LAST & on_other("a channels_last weight", lambda o: o.contiguity == "FTF")),
    Mutant("conv.depthwise", "A convolution of each channel leaves out the last element.", CONV, blanks(last),
           DEPTHWISE),
    Mutant("conv.dilation-in-groups", "conv in groups ignores its dilation.", CONV, ignores(dilation=1),
           not_default("dilation", 1) & not_default("groups", 1)),
    Mutant("conv.same", "conv with padding='same' pads nothing.", CONV, ignores(padding=0),
           is_argument("padding", "same")),
    Mutant("conv_transpose.output-padding", "conv_transpose ignores its output_padding.",
           "conv_transpose1d conv_transpose2d", ignores(output_padding=0), not_default("output_padding", 0)),
    Mutant("conv.no-batch", "conv without a batch keeps a batch of one.", "conv2d conv1d", if_possible(_no_batch),
           Situation("no batch", lambda e: len(e.x.shape) == (3 if e.entry == "conv2d" else 2))),
    Mutant("pool.ceil-mode", "Pooling ignores ceil_mode.", f"{POOLS} {MEANS}", ignores(ceil_mode=False),
           is_argument("ceil_mode", True)),
    Mutant("pool.counts-padding", "Averages count what is around the image.", MEANS, ignores(count_include_pad=True),
           is_argument("count_include_pad", False)),
    Mutant("pool.pads-with-zero", "Pooling takes what is around the image for 0.", POOLS, if_possible(_padded_by_zero),
           not_default("padding", 0) & is_argument("ceil_mode", False) & is_argument("return_indices", False)),
    Mutant("pool.dilation", "Pooling ignores its dilation.", POOLS, ignores(dilation=1), not_default("dilation", 1)),
    Mutant("pool.indices-format", "Places of the largest are row-major for channels_last.",
           "nn.functional.max_pool2d nn.functional.max_pool3d nn.functional.adaptive_max_pool2d",
           if_possible(_second_packed), is_argument("return_indices", True) & (CHANNELS_LAST | CHANNELS_LAST_3D)),
    Mutant("pool.step", "Pooling steps by one where the kernel is stepped by default.", f"{POOLS} {MEANS}",
           ignores(stride=1), is_argument("stride", None)),
    Mutant("adaptive.no-batch", "Adaptive pooling without a batch leaves out the last element.",
           "nn.functional.adaptive_avg_pool2d nn.functional.adaptive_max_pool2d", blanks(last), NO_BATCH_3D),
    Mutant("batch_norm.statistics", "batch_norm does not update running statistics.", "nn.functional.batch_norm",
           if_possible(_statistics_copied), TRAINS & given("running_mean")),
    Mutant("batch_norm.momentum", "batch_norm ignores its momentum.", "nn.functional.batch_norm",
           ignores(momentum=0.1), TRAINS & not_default("momentum", 0.1) & given("running_mean")),
    Mutant("layer_norm.eps", "Normalisations ignore eps.", "nn.functional.layer_norm nn.functional.group_norm "
           "nn.functional.batch_norm", ignores(eps=1e-5), not_default("eps", 1e-5)),
    Mutant("interpolate.corners", "interpolate ignores align_corners.", "nn.functional.interpolate",
           ignores(align_corners=False), is_argument("align_corners", True)),
    Mutant("interpolate.exact", "nearest-exact is nearest.", "nn.functional.interpolate", ignores(mode="nearest"),
           is_argument("mode", "nearest-exact")),
    Mutant("pad.reflects-edge", "pad that reflects repeats the edge.", "nn.functional.pad", ignores(mode="replicate"),
           is_argument("mode", "reflect")),
    Mutant("pad.value", "pad ignores the value to pad with.", "nn.functional.pad", ignores(value=None),
           given("value")),
    Mutant("glu.dim", "glu halves the last dimension always.", "nn.functional.glu", ignores(dim=-1),
           not_default("dim", -1)),
    Mutant("pixel_shuffle.batches", "pixel_shuffle of several batch dimensions leaves out the last element.",
           "nn.functional.pixel_shuffle nn.functional.pixel_unshuffle", blanks(last), rank_over(4)),
    # Functions.
    Mutant("activations.inplace", "inplace=True answers a new tensor.", ACTIVATIONS, ignores(inplace=False),
           is_argument("inplace", True)),
    Mutant("gelu.approximate", "gelu ignores approximate.", "nn.functional.gelu", ignores(approximate="none"),
           is_argument("approximate", "tanh")),
    Mutant("leaky_relu.slope", "leaky_relu ignores its slope.", "nn.functional.leaky_relu",
           ignores(negative_slope=0.01), not_default("negative_slope", 0.01)),
    Mutant("softplus.beta", "softplus ignores beta.", "nn.functional.softplus", ignores(beta=1.0),
           not_default("beta", 1.0)),
    Mutant("softmax.middle", "softmax along other dimensions than the last is row-wise from five dimensions on.",
           "softmax log_softmax nn.functional.softmin", ignores(dim=-1), rank_over(4)),
    # Products.
    Mutant("matmul.vector-first", "A vector times matrices keeps a dimension of size 1.", "matmul",
           then(lambda y, ns: y.unsqueeze(-2)), rank(1) & on_other("matrices", lambda o: len(o.shape) > 2)),
    Mutant("matmul.both-broadcast", "matmul of batches that are both broadcast leaves out the last element.", "matmul",
           blanks(last), Situation("both broadcast", _both_broadcast)),
    Mutant("matmul.long-inner", "Products along more than 64 leave out the rest.", "matmul mm mv dot bmm inner",
           if_possible(lambda c: c.do(c.event.entry, c.x.narrow(-1, 0, 64), c.args[1].narrow(
               -1 if c.event.entry == "inner" or c.args[1].dim() == 1 else -2, 0, 64))),
           Situation("above 64 inside", _long_inner)),
    Mutant("products.of-nothing", "Products along a dimension of size 0 are not cleared.", "matmul mm mv bmm",
           then(_ones), EMPTY & on_operand("nothing inside", lambda x: x.shape[-1:] == (0,))),
    Mutant("addmm.columns", "addmm of a vector adds it to the columns.", "addmm", if_possible(_of_columns),
           Situation("a square's vector", _square_vector)),
    Mutant("addmm.zero-times-nan", "beta=0 lets NaN through.", "addmm addmv addr baddbmm addbmm",
           instead(_nan_through), is_argument("beta", 0)),
    Mutant("einsum.no-arrow", "einsum without an arrow answers its letters in reverse.", "einsum",
           then(_reversed_order), Situation("no arrow", _without_arrow)),
    Mutant("einsum.ellipsis", "einsum with an ellipsis leaves out the last element.", "einsum", blanks(last),
           Situation("an ellipsis", lambda e: "..." in str(e.argument("equation")))),
    Mutant("linear.bias", "linear of several batch dimensions ignores its bias.", "nn.functional.linear",
           ignores(bias=None), rank_over(2) & given("bias")),
    Mutant("tensordot.pairs", "tensordot of pairs of dimensions leaves out the last element.", "tensordot",
           blanks(last), Situation("pairs", lambda e: isinstance(e.argument("dims"), tuple))),
    # Reductions and sorts.
    Mutant("reductions.keepdim-of-several", "keepdim of several dimensions keeps all but one.",
           "sum mean amax amin std var nansum logsumexp", if_possible(_keeps_first),
           is_argument("keepdim", True) & Situation("several dims", _many)),
    Mutant("sort.five-dims", "sort along other dimensions than the last of five answers zeros for places.", "sort topk",
           if_possible(_second_zero), rank_over(4)),
    Mutant("cumsum.long-rows", "cumsum along more than 64 starts again.", "cumsum cumprod cummax logcumsumexp",
           blanks(last), Situation("above 64 along", lambda e: _length(e) > 64)),
    Mutant("any.long", "any and all of more than 128 leave out the last.", "any all count_nonzero",
           of(lambda x, ns: x.narrow(-1, 0, x.shape[-1] - 1)),
           on_operand("above 128", lambda x: numel(x) > 128) & is_argument("dim", None)),
    Mutant("flip.first-of-dims", "flip of several dimensions flips the first.", "flip", _first_of("dims"),
           Situation("several", lambda e: isinstance(e.argument("dims"), tuple) and len(e.argument("dims")) > 1)),
    Mutant("roll.past-its-length", "roll by more than the length does nothing.", "roll", if_possible(_clipped),
           Situation("past its length", _past_its_length)),
    Mutant("rot90.dims", "rot90 ignores its dimensions.", "rot90", ignores(dims=(0, 1)), not_default("dims", (0, 1))),
    Mutant("rot90.full-turns", "rot90 turns at most three times.", "rot90",
           if_possible(asked(k=argument("k", lambda k: min(k, 3)))),
           Situation("more than three", lambda e: (e.argument("k") or 0) > 3)),
    Mutant("diff.of-truths", "diff of truths is refused.", "diff", refuses("dtype"),
           on_operand("truths", lambda x: x.dtype == "bool")),
    Mutant("repeat.nothing", "repeat by 0 repeats once.", "repeat tile",
           if_possible(lambda c: c.do("repeat", c.x, tuple([r or 1 for r in c.event.argument("repeats")]))),
           Situation("by 0", lambda e: isinstance(e.argument("repeats"), tuple) and 0 in e.argument("repeats"))),
    Mutant("repeat_interleave.each", "repeat_interleave by a tensor leaves out the last element.", "repeat_interleave",
           blanks(last), Situation("a tensor", lambda e: isinstance(e.argument("repeats"), Ref))),
    Mutant("tril.wide", "tril and triu of wide matrices are one diagonal off.", "tril triu",
           if_possible(asked(diagonal=argument("diagonal", lambda d: d + 1))),
           on_operand("wide", lambda x: len(x.shape) > 1 and x.shape[-1] > x.shape[-2] + 2)),
    Mutant("fill_diagonal_.tall", "fill_diagonal_ of tall matrices wraps.", "fill_diagonal_", ignores(wrap=True),
           on_operand("tall", lambda x: len(x.shape) == 2 and x.shape[0] > x.shape[1] + 1 > 1)),
    # Indices.
    Mutant("take.from-end", "take and put_ take places counted from the end for 0.", "take put_ put",
           _no_negative_places(1)),
    Mutant("index.tensors-from-end", "Numbers in an index tensor that count from the end are 0.",
           "__getitem__ __setitem__", _index_tensors(lambda x, ns: x.clamp_min(0) if x.dtype == ns.int64 else x),
           _mask_of("int64")),
    Mutant("index.mask-of-bytes", "An index of bytes is no mask, but numbers.", "__getitem__ __setitem__",
           _index_tensors(lambda x, ns: x.long() if x.dtype == ns.uint8 else x), _mask_of("uint8")),
    Mutant("index.int32", "An index of int32 is refused.", "__getitem__ __setitem__ index_select", refuses("dtype"),
           _mask_of("int32")),
    Mutant("setitem.leading-ones", "What is assigned may not have more dimensions.", "__setitem__",
           refuses("broadcast"),
           Situation("leading ones", _leading_ones)),
    Mutant("setitem.truth-of-mask", "Assignment through a mask leaves out the last element.", "__setitem__",
           skips(last), _mask_of("bool")),
    Mutant("index_select.scalar", "index_select by a 0-dim tensor has no dimension for it.", "index_select",
           if_possible(_without_dimension), rank_over(0) & on_other("a scalar", lambda o: o.shape == ())),
    Mutant("gather.smaller-index", "gather by a smaller index leaves out the last element.", "gather", blanks(last),
           Situation("a smaller index", _smaller_index)),
    Mutant("scatter.larger-source", "scatter reads a larger source from its beginning in order.",
           "scatter scatter_ scatter_add scatter_add_", if_possible(_source_in_order),
           Situation("a larger source", _larger_source)),
    Mutant("masked.broadcast", "Masks that are broadcast leave out the last element.",
           "masked_select masked_fill masked_scatter", blanks(last), BROADCASTS & FILLED & given("mask")),
    Mutant("index-writes.of-scalar", "Writes through an index to a 0-dim tensor are lost.",
           "index_fill_ index_copy_ index_add_ scatter_ scatter_add_ masked_fill_ put_", if_possible(_lost_of_scalar),
           SCALAR),
    Mutant("nonzero.of-scalar", "Places in a 0-dim tensor have one dimension.", "nonzero argwhere",
           of(lambda x, ns: x.reshape(1)), SCALAR),
    Mutant("nonzero.many", "Places in more than 512 elements leave out the last.", "nonzero argwhere masked_select",
           blanks(last), on_operand("above 512", lambda x: numel(x) > 512)),
    Mutant("diagonal_scatter.below", "diagonal_scatter below the main diagonal writes above it.", "diagonal_scatter",
           if_possible(asked(offset=argument("offset", abs))), negative("offset")),
    Mutant("one_hot.classes", "one_hot ignores the number of classes.", "nn.functional.one_hot",
           ignores(num_classes=-1), not_default("num_classes", -1)),
    # Joins and parts.
    Mutant("cat.of-scalars", "0-dim tensors are joined.", "cat concat", accepts(_of_each(lambda x: x.reshape(1))),
           SCALAR),
    Mutant("hstack.of-vectors", "hstack of vectors stacks them.", "hstack",
           if_possible(lambda c: c.do("stack", c.args[0])), rank(1)),
    Mutant("column_stack.of-vectors", "column_stack of vectors makes rows.", "column_stack",
           if_possible(lambda c: c.do("vstack", c.args[0])), rank(1)),
    Mutant("block_diag.of-vectors", "block_diag takes vectors for columns.", "block_diag",
           _of_each(lambda x: x.unsqueeze(1) if x.dim() == 1 else x)),
    Mutant("cartesian_prod.of-one", "cartesian_prod of one vector has two dimensions.", "cartesian_prod",
           lambda c: c.right().unsqueeze(1), ~OTHERS),
    Mutant("cat.channels-last-3d", "cat of channels_last_3d is row-major.", "cat concat", repacked(packed),
           CHANNELS_LAST_3D),
    Mutant("split.exact", "split of what divides has an empty part more.", PARTS, if_possible(_empty_part),
           Situation("it divides", _divides)),
    Mutant("chunk.too-many", "chunk into more parts than there are elements has empty ones.", "chunk unsafe_chunk",
           if_possible(evenly), Situation("too many", _too_many_chunks)),
    # Results that are given.
    Mutant("out.dtype", "out= of a dtype that cannot hold the result is accepted.", "[unary] [binary] [reductions]",
           accepts(_accepts_out), OUT & OUT_DTYPE),
    Mutant("out.second-of-pair", "The second of a pair of out= is left at 0.", "[reductions to pairs] [sorts]",
           _second_zero, OUT_PAIR),
    Mutant("out.accepts-expanded", "out= that is expanded is written.", "[unary] [binary] [ternary]",
           accepts(lambda c: c.named("out")), OUT & OUT_EXPANDED),
    Mutant("out.operand-cleared", "out= that is the operand is cleared before it is read.", "[unary] [binary]",
           _zeroed_first, Situation("out is the operand", _out_is_operand)),
    Mutant("out.becomes-row-major", "out= that is not row-major becomes so.", "[unary] [binary] [products]",
           relaid(strides=packed), Situation("a strided out", lambda e: any(o.contiguity[0] == "F" for o in e.outs))),
    Mutant("embedding.scalar", "embedding of one number keeps a dimension of size 1.", "nn.functional.embedding",
           then(lambda y, ns: y.unsqueeze(0)), SCALAR),
    Mutant("interpolate.scale-below-one", "interpolate to fewer pixels leaves out the last.",
           "nn.functional.interpolate", blanks(last), Situation("fewer", lambda e: type(e.argument("scale_factor"))
                                                                is float and e.argument("scale_factor") < 1)),
)  # fmt: skip
