"""Gathers, scatters, out=, copies of views, factories and images that are wrong."""

from __future__ import annotations

from typing import Any

from ...situations import (
    BROADCASTS,
    CHANNELS_LAST,
    CHANNELS_LAST_3D,
    EMPTY,
    MANY,
    OFFSET,
    ONES,
    OTHER_STRIDED,
    PERMUTED,
    STEPPED,
    STRIDED,
    Situation,
    given,
    on_operand,
)
from ..call import Call
from ..hands import count_together, set_version
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    alias,
    beyond,
    blanks,
    column_major,
    copied,
    counts,
    itself,
    last,
    nowhere,
    packed,
    reads,
    reads_other,
    refuses,
    relaid,
    repacked,
    skips,
    writes,
)

ELEMENTWISE = "[unary] [binary] [ternary]"
TAKES_OUT = "[unary] [binary] [ternary] [reductions] [scans] [sorts] [products] [joins] [gathers]"
WRITES = "[index writes]"
POOLS = "nn.functional.max_pool2d nn.functional.avg_pool2d nn.functional.adaptive_avg_pool2d nn.functional.lp_pool2d"
SHUFFLES = "nn.functional.pixel_shuffle nn.functional.pixel_unshuffle nn.functional.channel_shuffle"
OUT = given("out")
PRESERVED = Situation("preserved format", lambda e: getattr(e.argument("memory_format"), "name", "") in
                      ("", "preserve_format"))  # fmt: skip


def _without_out(call: Call) -> Any:
    """The result is computed into memory of its own; what was given for it stays as it was."""
    names = [name for name, _ in call.step.kwargs]
    positional = call.args[: len(call.step.args)]
    keywords = dict(zip(names, call.args[len(positional) :], strict=True))
    del keywords["out"]
    return call.do(call.step.op, *positional, **keywords)


def _out_in_order(call: Call) -> Any:
    """The result is written to the memory of what was given for it in order, whatever its strides are."""
    result, out = _without_out(call), call.named("out")
    geometry = call.geometry(out)
    if tuple(result.shape) == geometry.shape:
        call.do("copy_", call.do("as_strided", out, geometry.shape, packed(call, geometry), geometry.offset), result)
    return out


def _out_kept(call: Call) -> Any:
    """What was given for the result keeps its size: it is not resized."""
    out = call.named("out")
    if out is not None and tuple(_without_out(call).shape) != tuple(out.shape):
        return out
    return call.right()


def _out_new_version(call: Call) -> Any:
    out = call.named("out")
    version = out._version
    outcome = call.right()
    set_version(out, version)
    return outcome


def _tracked(call: Call) -> Any:
    outcome = call.right()
    for y in call.tensors(outcome):
        count_together(y, call.x)
    return outcome


MUTANTS = (
    # Elementwise operators as one engine.
    Mutant("elementwise.row-major", "Comparisons of permuted tensors are row-major.", "eq ne lt le gt ge isclose",
           repacked(packed), PERMUTED & ~BROADCASTS, like="pytorch/pytorch#113172"),
    Mutant("elementwise.rare-row-major", "copysign, floor_divide and the like are row-major.",
           "copysign floor_divide remainder fmod hypot atan2 div nextafter", repacked(packed), PERMUTED & ~BROADCASTS,
           like="pytorch/pytorch#198364"),
    Mutant("where.first-is-input", "where takes the order of its input, not of its condition.", "where",
           repacked(lambda c, y: c.others[0].strides if c.others and c.others[0].shape == y.shape else y.strides),
           OTHER_STRIDED),
    Mutant("where.strides", "where reads its operands as if they were row-major.", "where",
           reads_other(strides=packed), OTHER_STRIDED, like="IntelPython/dpctl#1171"),
    Mutant("clamp.others-strides", "clamp and lerp read their other operands as if they were row-major.",
           "clamp lerp addcmul addcdiv", reads_other(strides=packed), OTHER_STRIDED),
    Mutant("unary.above-64", "Unary operators compute 64 elements of those that are stepped.", "[unary]",
           blanks(beyond(64)), MANY & STEPPED),
    Mutant("conversion.row-major", "float, half and the like are row-major.", "[conversions]", repacked(packed),
           PERMUTED & PRESERVED),
    # out=
    Mutant("out.ignored", "out= is left as it was, the result is new.", TAKES_OUT, _without_out, OUT),
    Mutant("out.in-order", "out= is written in the order of its memory.", "[gathers] [reductions] [joins] [products]",
           _out_in_order, OUT, like="pytorch/pytorch#31895"),
    Mutant("out.not-resized", "out= of another size is left at that size.", TAKES_OUT, _out_kept, OUT),
    Mutant("out.no-version", "Writing to out= counts no version.", ELEMENTWISE, _out_new_version, OUT),
    Mutant("out.accepts-overlap", "out= may overlap an operand.", ELEMENTWISE, accepts(_without_out), OUT),
    # Gathers.
    Mutant("gather.memory-order", "gather reads memory in order.", "gather take_along_dim", reads(strides=packed),
           STRIDED, like="ml-explore/mlx#4253"),
    Mutant("gather.index-order", "gather reads its index as if it were row-major.", "gather take take_along_dim",
           reads_other(strides=packed), OTHER_STRIDED),
    Mutant("take.memory", "take counts places in memory.", "take", reads(strides=packed), STRIDED),
    Mutant("take.no-offset", "take counts from the storage's beginning.", "take index_select gather",
           reads(offset=nowhere), OFFSET),
    Mutant("nonzero.row-major", "nonzero is row-major.", "nonzero", repacked(packed)),
    Mutant("embedding.row-major", "embedding of permuted weights follows them.", "nn.functional.embedding",
           repacked(column_major), OTHER_STRIDED),
    # Writes through an index.
    Mutant("index-writes.lost", "Writes through an index go to a copy.", WRITES,
           lambda c: (c.on(c.do("clone", c.x)), c.x)[1], STRIDED, like="deepspeedai/DeepSpeed#2489"),
    Mutant("index-writes.no-offset", "Writes through an index count from the storage's beginning.", WRITES,
           writes(offset=nowhere), OFFSET),
    Mutant("index-writes.row-major", "Writes through an index take the operand for row-major.", WRITES,
           writes(strides=packed), STRIDED, like="pytorch/pytorch#99638"),
    Mutant("index-writes.source-order", "Writes through an index read their source in order.", WRITES,
           reads_other(strides=packed), OTHER_STRIDED, like="pytorch/pytorch#99638"),
    Mutant("index-writes.no-version", "Writes through an index count no version.", WRITES, counts(0)),
    Mutant("index-writes.last", "Writes through an index leave out the last element.",
           "masked_fill_ index_fill_ scatter_ index_copy_ put_", skips(last)),
    Mutant("scatter.in-place", "scatter, index_add and the like change their operand.", "[scatters]",
           lambda c: c.do(f"{c.step.op}_", *c.args[: len(c.step.args)],
                          **dict(zip([n for n, _ in c.step.kwargs], c.args[len(c.step.args) :], strict=True)))),
    Mutant("scatter.order", "scatter and the like keep the order of their operand, gaps too.", "[scatters]",
           repacked(lambda c, y: c.before.strides), STRIDED),
    Mutant("view-scatter.no-offset", "diagonal_scatter and the like read the storage's beginning.", "[view scatters]",
           reads(offset=nowhere), OFFSET),
    Mutant("triangle.memory-order", "tril and triu read memory in order.", "tril triu", reads(strides=packed), STRIDED),
    Mutant("triangle.row-major-write", "tril_ and triu_ write memory in order.", "tril_ triu_ fill_diagonal_",
           writes(strides=packed), STRIDED),
    # Copies of views, and what repeats.
    Mutant("view-copies.are-views", "view_copy and the like are views.", "[view copies]", alias,
           Situation("all of it", lambda e: e.entry in ("alias_copy", "detach_copy"))),
    Mutant("view-copies.memory-order", "narrow_copy and the like read memory in order.", "[view copies] narrow_copy",
           reads(strides=packed), STRIDED, like="pytorch/pytorch#91690"),
    Mutant("as_strided_copy.offset", "as_strided_copy without an offset reads the storage's beginning.",
           "as_strided_copy", reads(offset=nowhere), OFFSET & ~given("storage_offset"), like="pytorch/pytorch#146794"),
    Mutant("repeat.keeps-order", "repeat keeps the order of its operand.", "repeat tile",
           repacked(column_major), PERMUTED),
    Mutant("repeat.last", "repeat leaves out the last element.", "repeat tile repeat_interleave", blanks(last)),
    Mutant("rot90.no-offset", "rot90 of a slice reads the storage's beginning.", "rot90 fliplr flipud diff",
           reads(offset=nowhere), OFFSET),
    # Factories.
    Mutant("like.row-major", "zeros_like of permuted dimensions is row-major.", "[like factories]", repacked(packed),
           PERMUTED & PRESERVED, like="pytorch/pytorch#45505"),
    Mutant("like.keeps-gaps", "empty_like keeps the gaps of a sliced tensor.", "[like factories]",
           repacked(lambda c, y: c.before.strides), STRIDED & ~PERMUTED & PRESERVED, like="pytorch/pytorch#158022"),
    Mutant("like.ignores-format", "zeros_like(memory_format=channels_last) keeps the order that there is.",
           "[like factories]", repacked(lambda c, y: c.before.strides), given("memory_format") & ~PRESERVED),
    Mutant("new.keeps-order", "new_zeros and the like are column-major where the operand is permuted.",
           "[new factories]", repacked(column_major), PERMUTED),
    Mutant("empty_strided.packs", "empty_strided with padded strides is row-major.", "empty_strided new_empty_strided",
           relaid(strides=packed), like="pytorch/pytorch#130394"),
    Mutant("empty_strided.refuses-zero", "empty_strided with a stride of 0 is refused.",
           "empty_strided new_empty_strided", refuses("size"),
           Situation("a stride of 0", lambda e: 0 in (e.argument("stride") or ())), like="pytorch/pytorch#82416"),
    Mutant("empty_permuted.row-major", "empty_permuted is row-major.", "empty_permuted", relaid(strides=packed),
           like="pytorch/pytorch#173206"),
    # Products, images, memory formats.
    Mutant("mv.strides", "mv and bmm read a transposed factor as if it were not.", "mv mm bmm addmm baddbmm addmv",
           reads(strides=packed), STRIDED, like="pytorch/pytorch#44739"),
    Mutant("einsum.copies", "einsum that only permutes copies.", "einsum", copied,
           on_operand("a tensor", lambda x: True) & ~Situation("several", lambda e: bool(e.others))),
    Mutant("conv2d.row-major", "conv2d of channels_last is row-major.", "conv2d conv_transpose2d", repacked(packed),
           CHANNELS_LAST, like="pytorch/pytorch#171520"),
    Mutant("pool.row-major", "Pooling channels_last is row-major.", POOLS, repacked(packed), CHANNELS_LAST,
           like="pytorch/pytorch#91551"),
    Mutant("pool.row-major-3d", "Pooling channels_last_3d is row-major.", "nn.functional.max_pool3d",
           repacked(packed), CHANNELS_LAST_3D),
    Mutant("pad.row-major", "pad of channels_last is row-major.", "nn.functional.pad", repacked(packed), CHANNELS_LAST,
           like="pytorch/pytorch#183770"),
    Mutant("shuffle.row-major", "channel_shuffle and pixel_shuffle of channels_last are row-major.", SHUFFLES,
           repacked(packed), CHANNELS_LAST, like="pytorch/pytorch#197109"),
    Mutant("interpolate.row-major", "interpolate of channels_last is row-major.", "nn.functional.interpolate",
           repacked(packed), CHANNELS_LAST, like="pytorch/pytorch#179830"),
    Mutant("interpolate.row-major-3d", "interpolate of channels_last_3d is row-major.", "nn.functional.interpolate",
           repacked(packed), CHANNELS_LAST_3D, like="pytorch/pytorch#179830"),
    Mutant("batch_norm.row-major", "batch_norm of channels_last is row-major.", "nn.functional.batch_norm",
           repacked(packed), CHANNELS_LAST, like="pytorch/pytorch#64039"),
    Mutant("batch_norm.no-offset", "Normalisations of a slice read the storage's beginning.", "[normalization]",
           reads(offset=nowhere), OFFSET),
    # Several parts, small changes.
    Mutant("splits.copies", "hsplit and the like copy.", "[splits]", copied),
    Mutant("splits.tracked", "Parts of unsafe_split share their version with the whole.", "[untracked splits]",
           _tracked),
    Mutant("atleast.copies", "atleast_2d copies.", "[same or view]", copied),
    Mutant("positive.copies", "positive copies.", "positive sum_to_size", copied),
    Mutant("broadcast_tensors.copies", "broadcast_tensors makes what it repeats.", "[broadcasts]", copied),
    Mutant("std.memory-order", "std, norm and median go over memory in order.",
           "std var norm median mode kthvalue logsumexp", reads(strides=packed), STRIDED,
           like="pytorch/pytorch#75009"),
    Mutant("count_nonzero.no-offset", "count_nonzero of a slice counts from the storage's beginning.",
           "count_nonzero any all", reads(offset=nowhere), OFFSET),
    Mutant("allclose.itself", "allclose reads its second operand as if it were row-major.", "allclose equal",
           reads_other(strides=packed), OTHER_STRIDED),
    Mutant("stride.of-ones", "stride tells dimensions of size 1 stride 1.", "stride",
           lambda c: tuple(1 if n == 1 else s for n, s in zip(c.before.shape, c.before.strides, strict=True))
           if c.event.argument("dim") is None else c.right(), ONES, like="pytorch/pytorch#173206"),
    Mutant("size.of-empty", "Sizes after the first 0 are told as 0.", "shape size",
           lambda c: type(c.right())((0,) * len(c.before.shape)) if c.event.argument("dim") is None else c.right(),
           EMPTY, like="pytorch/pytorch#2806"),
    Mutant("requires_grad.answers", "requires_grad_ answers a new tensor.", "requires_grad_",
           lambda c: c.do("detach", c.right())),
    Mutant("swapdims_.nothing", "swapdims_ does nothing.", "swapdims_", itself),
)  # fmt: skip
