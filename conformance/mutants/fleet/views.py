"""Views that are wrong: in offset, strides or shape, that copy, or that should not be."""

from __future__ import annotations

from math import prod

from ...layout import row_major, strides
from ...situations import (
    EMPTY,
    EXPANDED,
    FROM_END,
    MIXED,
    NEW_AXES,
    OFFSET,
    ONES,
    PERMUTED,
    REST,
    STEPS,
    STRIDED,
    VIEW,
    Situation,
    given,
    index_has,
    negative,
    positive,
    rank,
    rank_over,
)
from ..call import Call
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    alias_of,
    argument,
    asked,
    copied,
    counts_apart,
    crashes,
    indexed,
    itself,
    nowhere,
    operands_offset,
    packed,
    reads,
    records,
    refuses,
    relaid,
)

ANY_VIEW = "permute transpose movedim t T mT narrow select squeeze unsqueeze unfold diagonal expand __getitem__"


def _dim(call: Call, name: str = "dim") -> int:
    """A dimension argument, counted from the front."""
    dim: int = call.event.argument(name)
    return dim % max(1, len(call.before.shape))


def _replaced(items: tuple[int, ...], place: int, item: int) -> tuple[int, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _as_if_packed(call: Call) -> object:
    """The operand's memory from its offset on, in the shape asked for, whatever its strides are."""
    shape = call.event.argument("size") or call.event.argument("shape")
    if -1 in shape:
        known = max(1, -prod(shape))
        shape = tuple([prod(call.before.shape) // known if n == -1 else n for n in shape])
    return call.do("as_strided", call.x, shape, row_major(shape), call.before.offset)


ZERO_DIM = Situation(
    "selected dimension of stride 0",
    lambda e: bool(e.x.shape) and strides(e.x)[int(e.argument("dim") or 0) % len(e.x.shape)] == 0,
)
ODD_PERMUTATION = Situation(
    "a permutation that is not its own inverse",
    lambda e: (
        (dims := e.argument("dims")) is not None
        and any(dims[dims[i] % len(dims)] % len(dims) != i for i in range(len(dims)))
    ),
)
SHORT_PERMUTATION = Situation("fewer dims than there are", lambda e: len(e.argument("dims") or ()) < len(e.x.shape))
PAST_THE_END = index_has(
    "a start past the end", lambda item: isinstance(getattr(item, "start", None), int) and item.start >= 2
)
INFERS = Situation("-1 among the sizes", lambda e: -1 in (e.argument("size") or e.argument("shape") or ()))
LARGER = Situation("a wider dtype", lambda e: e.argument("dtype") is not None)
HUGE = Situation("a huge offset", lambda e: (e.argument("storage_offset") or 0) > 1000)
NEGATIVE_STRIDE = negative("stride")

MUTANTS = (
    # One element or a part of one dimension.
    Mutant("select.negative-index", "select counts a negative index from the last element but one.", "select",
           asked(index=argument("index", lambda i: i - 1)), negative("index")),
    Mutant("select.no-offset", "select starts at the beginning of the storage, not at the operand's offset.", "select",
           relaid(offset=lambda c, y: y.offset - c.before.offset), OFFSET, like="IntelPython/dpctl#649"),
    Mutant("select.expanded-negative", "select with a negative index on a dimension of stride 0 drops the offset.",
           "select", relaid(offset=nowhere), OFFSET & negative("index") & ZERO_DIM),
    Mutant("select.five-dims", "select is off by one in five dimensions.", "select",
           asked(index=argument("index", lambda i: i + 1 if i != -1 else i - 1)), rank(5)),
    Mutant("select.copies", "select of a number out of one dimension is a copy.", "select", copied, rank(1)),
    Mutant("index.step-not-in-strides", "A stepped slice keeps the operand's strides.", "__getitem__",
           relaid(strides=lambda c, y: c.before.strides if len(y.shape) == len(c.before.shape) else y.strides),
           STEPS, like="PaddlePaddle/Paddle#56428"),
    Mutant("index.step-at-most-two", "A slice's step of more than 2 is taken for 2.", "__getitem__",
           indexed(lambda i: slice(i.start, i.stop, 2) if isinstance(i, slice) and (i.step or 1) > 2 else i), STEPS),
    Mutant("index.negative-start", "A slice's negative start counts as 0.", "__getitem__",
           indexed(lambda i: slice(max(i.start, 0), i.stop, i.step) if isinstance(i, slice) and i.start else i)),
    Mutant("index.negative-stop", "A slice's negative stop is one further than it should be.", "__getitem__",
           indexed(lambda i: slice(i.start, i.stop + 1 or None, i.step)
                   if isinstance(i, slice) and (i.stop or 0) < 0 else i)),
    Mutant("index.past-the-end", "A slice that starts past the end holds the last element instead of none.",
           "__getitem__", relaid(shape=lambda c, y: tuple(max(n, 1) for n in y.shape), offset=operands_offset),
           PAST_THE_END & ~EMPTY, like="PaddlePaddle/Paddle#53451"),
    Mutant("index.negative-number", "A negative number in an index counts from one too far.", "__getitem__",
           indexed(lambda i: i - 1 if type(i) is int and i < 0 else i), FROM_END),
    Mutant("index.new-axis-stride", "None in an index makes a dimension of stride 0.", "__getitem__",
           relaid(strides=lambda c, y: tuple(0 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True))),
           NEW_AXES, like="cupy/cupy#913"),
    Mutant("index.ellipsis-last", "An ellipsis in an index stands for nothing.", "__getitem__",
           indexed(lambda i: slice(None) if i is ... else i), REST & rank_over(2)),
    Mutant("index.slice-copies", "A basic index gives a copy: writes to it are lost.", "__getitem__", copied,
           like="numpy/numpy#30307"),
    Mutant("index.six-dims", "An index is refused where it makes more than five dimensions.", "__getitem__",
           refuses("dimension"), NEW_AXES & rank(5)),
    Mutant("narrow.row-major-start", "narrow finds its start with row-major strides.", "narrow",
           relaid(offset=lambda c, y: c.before.offset
                  + (c.event.argument("start") % max(1, c.before.shape[_dim(c)]))
                  * row_major(c.before.shape)[_dim(c)]),
           STRIDED, like="pytorch/pytorch#91690"),
    Mutant("narrow.negative-start", "narrow takes a negative start for 0.", "narrow",
           asked(start=lambda c, x: 0), negative("start")),
    Mutant("unfold.last-stride", "The windows of unfold have stride 1.", "unfold",
           relaid(strides=lambda c, y: (*y.strides[:-1], 1))),
    Mutant("unfold.step", "unfold steps by one element between its windows.", "unfold",
           relaid(strides=lambda c, y: _replaced(y.strides, _dim(c, "dimension"),
                                                 c.before.strides[_dim(c, "dimension")])
                  if c.before.shape else y.strides)),
    Mutant("unfold.one-more", "unfold has one window too many where the last is not whole.", "unfold",
           relaid(shape=lambda c, y: _replaced(y.shape, _dim(c, "dimension"), y.shape[_dim(c, "dimension")] + 1)
                  if c.before.shape else y.shape)),
    Mutant("diagonal.negative-offset", "diagonal below the main one starts where the main one does.", "diagonal",
           relaid(offset=operands_offset), negative("offset")),
    Mutant("diagonal.positive-offset", "diagonal above the main one starts along the wrong dimension.", "diagonal",
           relaid(offset=lambda c, y: c.before.offset
                  + c.event.argument("offset") * c.before.strides[_dim(c, "dim1")]),
           positive("offset")),
    Mutant("diagonal.negative-dims", "diagonal takes dimensions counted from the end for the first two.", "diagonal",
           asked(dim1=argument("dim1", lambda d: max(d, 0)), dim2=argument("dim2", lambda d: d if d >= 0 else 1)),
           negative("dim1") & rank_over(2)),
    # Dimensions in another order.
    Mutant("transpose.no-offset", "The transposed of an offset slice starts at the storage's beginning.", "t T mT",
           relaid(offset=nowhere), OFFSET, like="IntelPython/dpctl#649"),
    Mutant("transpose.negative-dims", "transpose takes a dimension counted from the end for the first.",
           "transpose swapaxes swapdims",
           lambda c: c.given([c.x, *[max(d, 0) for d in c.args[1:]]]), negative("dim0") | negative("axis0")),
    Mutant("transpose.copies-small", "transpose of tensors with a dimension of size 1 copies.", "transpose",
           copied, ONES),
    Mutant("permute.inverse", "permute applies the inverse permutation.", "permute",
           asked(dims=argument("dims", lambda d: tuple(sorted(range(len(d)), key=lambda i: d[i] % len(d))))),
           ODD_PERMUTATION),
    Mutant("permute.short", "permute accepts fewer dimensions than there are, and leaves out the rest.", "permute",
           accepts(lambda c: c.do("view", c.x, tuple(c.x.shape))), SHORT_PERMUTATION, like="PaddlePaddle/Paddle#78756"),
    Mutant("movedim.swaps", "movedim swaps two dimensions instead of shifting those between.", "movedim moveaxis",
           lambda c: c.do("transpose", c.x, *c.args[1:]), rank_over(2)),
    Mutant("mT.reverses-all", "mT reverses all dimensions, batches too.", "mT",
           lambda c: c.do("permute", c.x, tuple(reversed(range(c.x.dim())))), rank_over(2)),
    Mutant("t.one-dim-copies", "t of a tensor with one dimension copies.", "t T", copied, rank(1)),
    # Expanding, and sizes of 1.
    Mutant("expand.copies", "expand copies: its elements are no longer one.", "expand", copied,
           like="pytorch/pytorch#152425"),
    Mutant("expand.ones-of-stride-zero", "expand gives dimensions that stay at size 1 stride 0.", "expand",
           relaid(strides=lambda c, y: tuple(0 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True))),
           ONES),
    Mutant("expand.to-nothing", "expand to a size of 0 is refused.", "expand broadcast_to",
           refuses("broadcast"), Situation("a size of 0", lambda e: 0 in (e.argument("size") or ())),
           like="tinygrad/tinygrad#3094"),
    Mutant("expand.no-offset", "expand of a slice starts at the storage's beginning.", "expand broadcast_to expand_as",
           relaid(offset=nowhere), OFFSET & ~STRIDED),
    Mutant("broadcast_to.copies", "broadcast_to makes the elements that it repeats.", "broadcast_to expand_as", copied),
    Mutant("squeeze.leaves-last", "squeeze of all dimensions leaves the last one.", "squeeze",
           lambda c: c.right() if c.x.dim() == 0 or c.x.shape[-1] != 1 else c.do("unsqueeze", c.right(), -1),
           ~given("dim") & ONES),
    Mutant("squeeze.itself", "squeeze with nothing to squeeze answers the operand itself.", "squeeze", itself, ~ONES),
    Mutant("squeeze.negative-dim", "squeeze of a dimension counted from the end does nothing.", "squeeze",
           lambda c: alias_of(c, c.x), negative("dim") & ONES),
    Mutant("unsqueeze.stride-one", "unsqueeze gives the new dimension stride 1.", "unsqueeze",
           relaid(strides=lambda c, y: _replaced(y.strides, c.event.argument("dim") % len(y.shape), 1)),
           like="numpy/numpy#465"),
    Mutant("unsqueeze.expanded", "unsqueeze of an expanded tensor gives the new dimension stride 0.", "unsqueeze",
           relaid(strides=lambda c, y: _replaced(y.strides, c.event.argument("dim") % len(y.shape), 0)), EXPANDED),
    # Any layout over the storage.
    Mutant("as_strided.default-offset", "as_strided without an offset starts at the storage's beginning.", "as_strided",
           relaid(offset=nowhere), OFFSET & ~given("storage_offset"), like="pytorch/pytorch#175325"),
    Mutant("as_strided.relative-offset", "as_strided counts its offset from the operand's.", "as_strided",
           relaid(offset=lambda c, y: y.offset + c.before.offset), given("storage_offset") & OFFSET),
    Mutant("as_strided.offset-in-bytes", "as_strided takes its offset in bytes.", "as_strided",
           relaid(offset=lambda c, y: y.offset // c.x.element_size()), given("storage_offset"),
           like="PaddlePaddle/Paddle#68661"),
    Mutant("as_strided.bounds", "as_strided does not check that it stays inside the storage.", "as_strided",
           accepts(lambda c: c.do("as_strided", c.x, (), (), 0)), ~NEGATIVE_STRIDE, like="pytorch/pytorch#195665"),
    Mutant("as_strided.negative-stride", "as_strided takes a negative stride for 1.", "as_strided",
           accepts(lambda c: c.do("as_strided", c.x, c.args[1], tuple(abs(s) for s in c.args[2]), *c.args[3:])),
           NEGATIVE_STRIDE, like="pytorch/pytorch#39224"),
    Mutant("as_strided.huge-offset", "as_strided with an offset far outside ends the process.", "as_strided", crashes,
           HUGE, like="pytorch/pytorch#145259"),
    # Other shapes and dtypes over the same memory.
    Mutant("view.any-strides", "view of strides that cannot be merged takes the memory in order.", "view view_as",
           accepts(_as_if_packed), STRIDED & ~EXPANDED, like="numba/numba#5829"),
    Mutant("view.needs-contiguous", "view is refused for whatever is not contiguous.", "view",
           refuses("view"), STRIDED, like="numpy/numpy#9496"),
    Mutant("view.ones-of-stride-one", "view gives dimensions of size 1 stride 1.", "view unflatten",
           relaid(strides=lambda c, y: tuple(1 if n == 1 else s for n, s in zip(y.shape, y.strides, strict=True)))),
    Mutant("view.empty-strides", "A view without elements has strides equal to its shape.", "view reshape",
           relaid(strides=lambda c, y: y.shape), EMPTY, like="PaddlePaddle/Paddle#78565"),
    Mutant("view.ambiguous", "view infers a size of a tensor without elements.", "view reshape",
           accepts(lambda c: alias_of(c, c.x)), EMPTY & INFERS),
    Mutant("view.merges-expanded", "view merges a dimension of stride 0 with a longer one.", "view",
           accepts(lambda c: c.do("reshape", c.x, *c.args[1:])), EXPANDED),
    Mutant("view.dtype-offset", "view of another dtype keeps the offset in elements of the old one.", "view.dtype",
           relaid(offset=operands_offset), OFFSET),
    Mutant("view.dtype-strides", "view of a smaller dtype does not scale the outer strides.", "view.dtype",
           relaid(strides=lambda c, y: (*c.before.strides[:-1], *y.strides[-1:])), rank_over(1),
           like="cupy/cupy#5431"),
    Mutant("view.dtype-outer-strides", "view of another item size is refused where an outer dimension is stepped.",
           "view.dtype", refuses("dtype"), STRIDED & rank_over(1), like="numpy/numpy#9496"),
    Mutant("view.dtype-unaligned", "view of a wider dtype accepts what is not aligned to it.", "view.dtype",
           accepts(lambda c: alias_of(c, c.x)), LARGER),
    Mutant("view_as.others-strides", "view_as takes over the other tensor's strides.", "view_as",
           relaid(strides=lambda c, y: c.others[0].strides if c.others else y.strides), ~MIXED),
    Mutant("reshape.copies", "reshape always copies.", "reshape flatten", copied, like="nv-legate/cupynumeric#1154"),
    Mutant("reshape.copies-empty", "reshape of a tensor without elements is a copy.", "reshape", copied, EMPTY,
           like="numpy/numpy#2700"),
    Mutant("reshape.memory-order", "reshape copies elements in the order of memory.", "reshape flatten",
           reads(strides=packed), PERMUTED, like="cupy/cupy#1288"),
    Mutant("reshape.views-permuted", "reshape of permuted dimensions is a view of the memory in order.", "reshape",
           _as_if_packed, PERMUTED),
    Mutant("reshape.same-shape-copies", "reshape to the shape that there is copies what has an offset.", "reshape",
           copied, OFFSET, like="data-apis/array-api-compat#211"),
    Mutant("ravel.copies", "ravel of what is contiguous copies.", "ravel", copied, ~STRIDED),
    Mutant("flatten.scalar", "flatten of a 0-dim tensor stays 0-dim.", "flatten", itself,
           Situation("0-dim", lambda e: e.x.shape == ())),
    Mutant("unflatten.innermost-first", "unflatten lays the sizes out in reverse.", "unflatten",
           relaid(strides=lambda c, y: (*y.strides[:_dim(c)], *reversed(
               y.strides[_dim(c) : _dim(c) + len(c.event.argument("sizes"))]),
               *y.strides[_dim(c) + len(c.event.argument("sizes")) :]))),
    # Several parts at once.
    Mutant("split.last-part", "split leaves out a last part that is smaller.", "split chunk",
           lambda c: (parts if (parts := c.right())[0].shape == parts[-1].shape else parts[:-1])),
    Mutant("split.copies", "The parts of split are copies.", "split tensor_split", copied),
    Mutant("chunk.evens-out", "chunk of what does not divide makes as many parts as it is asked for.", "chunk",
           lambda c: c.do("tensor_split", *c.args)),
    Mutant("tensor_split.negative", "tensor_split takes a negative bound for 0.", "tensor_split",
           asked(indices_or_sections=argument(
               "indices_or_sections", lambda i: tuple(max(n, 0) for n in i) if isinstance(i, tuple) else i)),
           negative("indices_or_sections")),
    Mutant("unbind.offset", "unbind starts at the storage's beginning.", "unbind",
           relaid(offset=lambda c, y: y.offset - c.before.offset), OFFSET, like="IntelPython/dpctl#649"),
    Mutant("unbind.strides", "The parts of unbind are laid out row-major.", "unbind", relaid(strides=packed), STRIDED),
    # What is recorded.
    Mutant("detach.copies", "detach copies.", "detach", copied),
    Mutant("views.count-apart", "Views have version counters of their own.", ANY_VIEW, counts_apart,
           like="PaddlePaddle/Paddle#59422"),
    Mutant("views.of-their-parent", "A view of a view is recorded as a view of that view.", ANY_VIEW,
           records(lambda c: c.x), VIEW),
    Mutant("transpose.no-base", "transpose is recorded as no view.", "transpose swapaxes swapdims",
           records(lambda c: None)),
)  # fmt: skip
