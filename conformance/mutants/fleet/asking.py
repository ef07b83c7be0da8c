"""What is asked for is taken for something else: from the end, by keyword, two dims for one, tensors for numbers.

A second fleet, declared by an author who had seen the list of the first and no more, and tried on the corpus as it was:
`docs/mutants.md` has what came of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...layout import extent
from ...program import Ref, Slice
from ...situations import (
    EMPTY,
    FILLED,
    MIXED,
    MORE_THAN_FOUR,
    OFFSET,
    OTHER_OFFSET,
    STRIDED,
    VIEW,
    Situation,
    by_keyword,
    given,
    index_has,
    is_argument,
    negative,
    on_operand,
    rank,
    rank_over,
)
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    Change,
    accepts,
    argument,
    asked,
    blanks,
    channels_last,
    copied,
    counts,
    last,
    nowhere,
    operands_offset,
    packed,
    reads,
    reads_other,
    refuses,
    relaid,
    repacked,
    retyped,
    where_legal,
)
from .changes import GROWS

PARTS = "split chunk unbind tensor_split split_with_sizes"
SEVERAL = Situation("several dims", lambda e: isinstance(e.argument("dim"), tuple) and len(e.argument("dim")) > 1)
NO_DIM = Situation("no dim", lambda e: e.argument("dim") is None and e.argument("dims") in (None, ()))
NUMBER_IS_TENSOR = Situation("a tensor as a number", lambda e: isinstance(e.argument("value"), Ref))
MULTIPLE = on_operand("several matrices", lambda x: len(x.shape) > 2 and x.shape[0] > 1)


def along(parameter: str, size: int) -> Situation:
    """The dimension that is named has that size."""

    def holds(event: Any) -> bool:
        dim, shape = event.argument(parameter), event.x.shape
        return type(dim) is int and -len(shape) <= dim < len(shape) and shape[dim] == size

    return Situation(f"{parameter} of size {size}", holds)


def _shifted(parameter: str) -> Change:
    """A dimension counted from the end is one further from it, where there is one."""
    return lambda call, x: max(call.event.argument(parameter) - 1, -len(call.before.shape))


def _first(call: Call, x: Geometry) -> int:
    return 0


def _past_its_end(event: Any) -> bool:
    """Whether a layout is asked for that reaches past the operand's own elements."""
    size, stride = event.argument("size"), event.argument("stride")
    if not isinstance(size, tuple) or not isinstance(stride, tuple) or len(size) != len(stride) or 0 in event.x.shape:
        return False
    offset = event.argument("storage_offset")
    if min((*size, *stride, offset or 0, 1)) < 0 or 0 in size:
        return False
    asked_for = extent(size, stride, event.x.offset if offset is None else offset)[1]
    return asked_for > extent(event.x.shape, event.x.strides, event.x.offset)[1]


def _nothing_far_away(event: Any) -> bool:
    size, offset = event.argument("size"), event.argument("storage_offset")
    return isinstance(size, tuple) and 0 in size and type(offset) is int and offset > 0


def _longer_last(call: Call) -> Any:
    """The parts that have one more come last."""
    parts, dim = call.right(), call.event.argument("dim")
    start, found = 0, []
    for size in sorted(part.shape[dim] for part in parts):
        found.append(call.do("narrow", call.x, dim, start, size))
        start += size
    return type(parts)(found)


def _joins_empty(event: Any) -> bool:
    tensors = [event.x, *event.others]
    rest = [x for x in tensors if x.shape != (0,)]
    return len(rest) < len(tensors) and bool(rest) and all(x.contiguity == "FTF" for x in rest)


def _is_mask(event: Any, item: Any) -> bool:
    return isinstance(item, Ref) and event.before[event.named(item)].dtype == "bool"


def _mask_in_second_place(event: Any) -> bool:
    index = event.argument("index")
    return isinstance(index, tuple) and len(index) == 2 and isinstance(index[0], Slice) and _is_mask(event, index[1])


def _parted_tensors(event: Any) -> bool:
    """Two tensors of numbers with a slice between, and one before."""
    index = event.argument("index")
    kinds = [type(item) for item in index] if isinstance(index, tuple) else []
    return kinds[:4] == [Slice, Ref, Slice, Ref]


def _by_scalar(event: Any) -> bool:
    index = event.argument("index")
    items = index if isinstance(index, tuple) and not isinstance(index, Ref) else (index,)
    states = [event.before.get(event.named(item)) for item in items if isinstance(item, Ref)]
    return len(states) == 1 and states[0] is not None and states[0].shape == () and states[0].dtype == "int64"


def _first_matrix(call: Call) -> Any:
    call.on(call.do("select", call.x, 0, 0))
    return call.x


def _loses(lost: Callable[[Geometry, int], slice]) -> Any:
    """A storage that grows loses some of the bytes that it had."""

    def wrong(call: Call) -> Any:
        storage = call.x.untyped_storage()
        nbytes = storage.nbytes()
        outcome = call.right()
        if storage.nbytes() > nbytes:
            storage._bytes[lost(call.before, nbytes)] = 0
        return outcome

    return wrong


def _only_first(*names: str) -> Any:
    """The first of several numbers counts."""
    return asked(**{name: argument(name, lambda d: d[:1] if isinstance(d, tuple) else d) for name in names})


MUTANTS = (
    # Views.
    Mutant("unfold.of-one", "unfold of a dimension of size 1 gives the windows stride 0.", "unfold",
           relaid(strides=lambda c, y: (*y.strides[:-1], 0)), along("dimension", 1)),
    Mutant("movedim.from-end-in-4d", "movedim counts a source from the end one too far in four dimensions.",
           "movedim moveaxis", asked(source=_shifted("source")),
           rank(4) & Situation("a negative source", lambda e: type(e.argument("source")) is int
                               and e.argument("source") < 0)),
    Mutant("expand.of-nothing", "expand of a tensor without elements gives strides of 0.", "expand broadcast_to",
           relaid(strides=lambda c, y: (0,) * len(y.shape)), EMPTY, like="tinygrad/tinygrad#3094"),
    Mutant("narrow.tensor-start", "narrow takes a start that is a tensor for 0.", "narrow", asked(start=_first),
           Situation("a tensor as start", lambda e: isinstance(e.argument("start"), Ref))),
    Mutant("diagonal.outside", "A diagonal outside of the matrix moves the offset.", "diagonal",
           relaid(offset=lambda c, y: y.offset + (abs(c.event.argument("offset")) if 0 in y.shape else 0)),
           FILLED & given("offset")),
    Mutant("diagonal.by-keyword", "diagonal ignores dim1 and dim2 that are given by keyword.", "diagonal",
           lambda c: c.with_arguments(dim1=0, dim2=1), by_keyword("dim1")),
    Mutant("view.wider-offset", "view of a wider dtype starts at the storage's beginning.", "view.dtype",
           relaid(offset=lambda c, y: 0 if y.itemsize > c.before.itemsize else y.offset), OFFSET),
    Mutant("view.dtype-of-scalar", "view of another item size is accepted in 0 dimensions.", "view.dtype",
           accepts(lambda c: c.on(c.do("unsqueeze", c.x, 0))), on_operand("0-dim", lambda x: x.shape == ())),
    Mutant("unflatten.from-end", "unflatten of a dimension counted from the end takes the first.", "unflatten",
           asked(dim=_first), negative("dim") & rank_over(1)),
    Mutant("flatten.from-end", "flatten from a dimension counted from the end flattens all.", "flatten",
           asked(start_dim=_first), negative("start_dim") & rank_over(1)),
    Mutant("squeeze.first-of-dims", "squeeze of several dimensions takes the first.", "squeeze squeeze_",
           _only_first("dim"), SEVERAL),
    Mutant("unsqueeze.before-last", "unsqueeze(-1) puts the new dimension before the last.", "unsqueeze",
           asked(dim=lambda c, x: -2), is_argument("dim", -1) & rank_over(0)),
    Mutant("select.of-nothing", "select of a tensor without elements keeps the offset.", "select",
           relaid(offset=operands_offset), EMPTY),
    Mutant("index.to-nothing", "A slice that leaves nothing keeps the offset.", "__getitem__",
           relaid(offset=lambda c, y: c.before.offset if 0 in y.shape else y.offset), FILLED),
    Mutant("as_strided.of-nothing", "as_strided of no elements is refused where they would lie further on.",
           "as_strided", refuses("bounds"), Situation("nothing, further on", _nothing_far_away)),
    Mutant("as_strided.own-elements", "as_strided of a view refuses what reaches past its own elements.", "as_strided",
           refuses("bounds"), VIEW & Situation("past its end", _past_its_end), like="huggingface/trl#5694"),
    Mutant("permute.all-from-end", "permute is one off where all dimensions are counted from the end.", "permute",
           asked(dims=argument("dims", lambda d: tuple([(i - 1) % len(d) for i in d]))),
           rank_over(1) & Situation("all from the end", lambda e: isinstance(e.argument("dims"), tuple)
                                    and all(d < 0 for d in e.argument("dims"))
                                    and len(set(e.argument("dims"))) == len(e.x.shape))),
    Mutant("tensor_split.longer-last", "The parts of tensor_split that have one more come last.", "tensor_split",
           _longer_last, Situation("a number of parts", lambda e: type(e.argument("indices_or_sections")) is int)),
    Mutant("split_with_sizes.nothing", "A part of size 0 is refused.", "split_with_sizes split", refuses("size"),
           Situation("a part of size 0", lambda e: isinstance(e.argument("split_sizes") or e.argument("split_size"),
                     tuple) and 0 in (e.argument("split_sizes") or e.argument("split_size")))),
    Mutant("unbind.from-end", "unbind of a dimension counted from the end takes the first.", "unbind",
           asked(dim=_first), negative("dim") & rank_over(1)),
    Mutant("splits.by-keyword", "A dim that is given by keyword is ignored where parts are made.", PARTS,
           asked(dim=_first), by_keyword("dim")),
    # Joins and indices.
    Mutant("cat.ignores-empty", "cat of channels_last tensors and an empty one-dimensional one is channels_last.",
           "cat concat", repacked(channels_last), Situation("with an empty one", _joins_empty),
           like="pytorch/pytorch#62560"),
    Mutant("cat.from-end", "cat along a dimension counted from the end joins along the first.", "cat concat",
           asked(dim=_first), negative("dim") & rank_over(1)),
    Mutant("cat.by-keyword", "cat and stack ignore a dim that is given by keyword.", "cat concat stack",
           asked(dim=_first), by_keyword("dim")),
    Mutant("cat.first-dtype", "cat of several dtypes has the first one's.", "cat concat",
           retyped(lambda c, y: c.x.dtype), MIXED),
    Mutant("cat.more-than-four", "cat and stack of more than four tensors leave out the last element.",
           "cat stack concat", blanks(last), MORE_THAN_FOUR),
    Mutant("index.mask-second", "A mask in the second place moves its dimension to the first.", "__getitem__",
           lambda c: c.do("movedim", c.right(), 1, 0), Situation("a mask in the second place", _mask_in_second_place)),
    Mutant("index.parted-tensors", "What two tensors apart take out stays where the first was.", "__getitem__",
           lambda c: c.do("movedim", c.right(), 0, 1), Situation("tensors apart", _parted_tensors)),
    Mutant("index.true", "x[True] is a view.", "__getitem__", lambda c: c.do("unsqueeze", c.x, 0),
           index_has("True", lambda item: item is True)),
    Mutant("index.by-scalar", "An index that is a 0-dim tensor copies.", "__getitem__", copied,
           Situation("a 0-dim tensor as an index", _by_scalar)),
    Mutant("gather.from-end", "Gathers and scatters along a dimension counted from the end take the first.",
           "gather take_along_dim index_select scatter scatter_ scatter_add scatter_add_ index_add index_add_ "
           "index_copy index_copy_ index_fill index_fill_", asked(dim=_first), negative("dim") & rank_over(1)),
    Mutant("take_along_dim.flat", "take_along_dim without a dim goes over memory in order.", "take_along_dim",
           reads(strides=packed), NO_DIM & STRIDED),
    Mutant("fills.tensor-offset", "Filling with a tensor reads it from its storage's beginning.",
           "fill_ masked_fill_ masked_fill index_fill_ index_fill", reads_other(offset=nowhere),
           NUMBER_IS_TENSOR & OTHER_OFFSET),
    Mutant("index_put_.accumulate-strided", "index_put_(accumulate=True) overwrites what is not row-major.",
           "index_put_ put_", asked(accumulate=lambda c, x: False), is_argument("accumulate", True) & STRIDED),
    Mutant("fill_diagonal_.wrap", "fill_diagonal_(wrap=True) does not wrap.", "fill_diagonal_",
           asked(wrap=lambda c, x: False), is_argument("wrap", True)),
    Mutant("tril_.first-matrix", "tril_ and triu_ of several matrices do the first.", "tril_ triu_", _first_matrix,
           MULTIPLE),
    Mutant("slice_scatter.end", "slice_scatter takes an end counted from the end for the end.", "slice_scatter",
           asked(end=lambda c, x: None), negative("end")),
    Mutant("select_scatter.from-end", "select_scatter counts from the end one too far.", "select_scatter",
           asked(index=argument("index", lambda i: i - 1)), negative("index")),
    Mutant("index_add.alpha", "index_add ignores alpha.", "index_add index_add_", asked(alpha=lambda c, x: 1),
           Situation("an alpha", lambda e: e.argument("alpha") != 1)),
    # Rearranging.
    Mutant("repeat_interleave.flat", "repeat_interleave without a dim goes over memory in order.", "repeat_interleave",
           reads(strides=packed), NO_DIM & STRIDED),
    Mutant("roll.flat", "roll without dims goes over memory in order.", "roll", reads(strides=packed),
           NO_DIM & STRIDED),
    Mutant("roll.first-of-dims", "roll of several dimensions rolls the first.", "roll", _only_first("shifts", "dims"),
           Situation("several", lambda e: isinstance(e.argument("dims"), tuple) and len(e.argument("dims")) > 1)),
    Mutant("rot90.backwards", "rot90 turns backwards as forwards.", "rot90", asked(k=argument("k", abs)),
           negative("k")),
    Mutant("diff.twice", "diff(n=2) is done once.", "diff", asked(n=lambda c, x: 1),
           Situation("more than once", lambda e: (e.argument("n") or 0) > 1)),
    Mutant("tile.fewer", "tile by fewer numbers than there are dimensions repeats the first ones.", "tile",
           asked(dims=lambda c, x: (*c.event.argument("dims"), *(1,) * (len(x.shape) - len(c.event.argument("dims"))))),
           Situation("fewer numbers", lambda e: isinstance(e.argument("dims"), tuple)
                     and len(e.argument("dims")) < len(e.x.shape))),
    Mutant("diag.below", "diag of a diagonal below the main one takes that above.", "diag diagflat",
           asked(diagonal=argument("diagonal", abs)), negative("diagonal")),
    Mutant("diag_embed.dims", "diag_embed ignores its dimensions.", "diag_embed",
           where_legal(lambda c: c.with_arguments(dim1=-2, dim2=-1)),
           Situation("other dims", lambda e: (e.argument("dim1"), e.argument("dim2")) != (-2, -1))),
    # Arithmetic.
    Mutant("add_.alpha-strided", "Sums in place ignore alpha where strides are not row-major.", "add_ sub_",
           asked(alpha=lambda c, x: 1), STRIDED & Situation("an alpha", lambda e: e.argument("alpha") != 1)),
    Mutant("add.alpha", "Sums ignore alpha.", "add sub", asked(alpha=lambda c, x: 1),
           Situation("an alpha", lambda e: e.argument("alpha") != 1)),
    Mutant("div.floor", "A quotient that is rounded down is rounded to 0.", "div div_",
           asked(rounding_mode=lambda c, x: "trunc"), is_argument("rounding_mode", "floor")),
    Mutant("clamp.max-only", "clamp without a lower bound copies.", "clamp", lambda c: c.do("clone", c.x),
           Situation("no lower bound", lambda e: e.argument("min") is None) & given("max")),
    Mutant("products.beta-zero", "A factor beta of 0 is taken for 1.",
           "addmm addmv addr baddbmm addbmm [product writes]", asked(beta=lambda c, x: 1), is_argument("beta", 0)),
    Mutant("einsum.same-letter", "einsum along a diagonal leaves out the last element.", "einsum", blanks(last),
           Situation("a letter twice", lambda e: any(len(set(part)) < len(part) for part in
                     str(e.argument("equation")).partition("->")[0].split(",")))),
    # Reductions and sorts.
    Mutant("sort.descending-inner", "sort(descending=True) along other dimensions than the last ascends.",
           "sort argsort", asked(descending=lambda c, x: False),
           is_argument("descending", True) & rank_over(1)
           & Situation("another dim", lambda e: e.argument("dim") not in (-1, len(e.x.shape) - 1))),
    Mutant("topk.smallest", "topk(largest=False) answers the largest.", "topk",
           asked(largest=lambda c, x: True), is_argument("largest", False)),
    Mutant("pairs.keepdim", "max, median and the like along a dimension never keep it.", "[reductions to pairs]",
           asked(keepdim=lambda c, x: False), is_argument("keepdim", True)),
    Mutant("std.correction", "std and var ignore their correction.", "std var std_mean var_mean",
           asked(correction=lambda c, x: 1), Situation("another correction", lambda e: e.argument("correction") != 1)),
    Mutant("reductions.first-of-dims", "Reductions over several dimensions reduce the first.",
           "sum mean amax amin std var any all count_nonzero nansum logsumexp", _only_first("dim"), SEVERAL),
    # Metadata in place.
    Mutant("resize_as_.format", "resize_as_ ignores its memory format.", "resize_as_",
           asked(memory_format=lambda c, x: None), given("memory_format")),
    Mutant("squeeze_.of-longer", "squeeze_ of a dimension that is longer than 1 counts no version.", "squeeze_",
           counts(0), Situation("a longer dimension", lambda e: type(e.argument("dim")) is int) & ~along("dim", 1)),
    Mutant("unsqueeze_.from-end", "unsqueeze_ counts from the end one too far.", "unsqueeze_",
           asked(dim=_shifted("dim")), negative("dim") & rank_over(0)),
    Mutant("resize_.before-offset", "resize_ of a slice loses what lay before it where the storage grows.", "resize_",
           _loses(lambda x, nbytes: slice(0, x.offset * x.itemsize)), OFFSET & GROWS),
    Mutant("resize_.last-byte", "resize_ loses the last byte where the storage grows.", "resize_ resize_as_",
           _loses(lambda x, nbytes: slice(max(nbytes - 1, 0), nbytes))),
    # Factories.
    Mutant("like.dtype-row-major", "zeros_like of another dtype is row-major.", "[like factories]", repacked(packed),
           STRIDED & Situation("a dtype", lambda e: e.argument("dtype") is not None)),
    Mutant("new.dtype", "new_zeros and the like ignore a dtype.", "new_empty new_zeros new_ones new_full",
           asked(dtype=lambda c, x: None), given("dtype")),
    Mutant("frombuffer.count", "frombuffer takes all that there is.", "frombuffer",
           where_legal(asked(count=lambda c, x: -1)), Situation("a count", lambda e: (e.argument("count") or -1) > 0)),
)  # fmt: skip
