"""Defects of a seventh author: splits, copies, conversions, joins, layouts and values of results."""

from __future__ import annotations

from typing import Any

from ...classify import Event
from ...layout import is_dense, row_major
from ...situations import (
    CHANNELS_LAST,
    CONVERTS,
    EXPANDED,
    FILLED,
    GAPS,
    MIXED,
    OFFSET,
    OTHER_OFFSET,
    PERMUTED,
    SCALAR,
    Situation,
    dim_of,
    is_argument,
    itemsize,
    numbers,
    on_operand,
    other,
    rank,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    argument,
    asked,
    blanks,
    channels_last,
    every,
    packed,
    reads_other,
    repacked,
)
from .boarders import NO_OUT, unsorted

# Splits.


def _later_forget(call: Call) -> Any:
    pieces = call.right()
    for piece in call.tensors(pieces)[1:]:
        now = call.geometry(piece)
        hands.lay_out(piece, now._replace(offset=now.offset - call.before.offset))
    return pieces


SPLITS = [
    Mutant(
        "tensor_split.sorts-indices",
        "tensor_split() puts the places to split at in order.",
        "tensor_split",
        asked(indices_or_sections=argument("indices_or_sections", lambda value: tuple(sorted(value)))),
        unsorted("indices_or_sections"),
    ),
    Mutant(
        "chunk.nothing-once",
        "chunk() along a dimension of length 0 answers one piece.",
        "chunk",
        asked(chunks=lambda call, x: 1),
        Situation("no length", lambda e: (d := dim_of(e)) is not None and e.x.shape[d] == 0)
        & Situation("chunks asked for", lambda e: type(e.argument("chunks")) is int and e.argument("chunks") > 1),
    ),
    Mutant(
        "chunk.none-is-one",
        "chunk() into 0 pieces answers one.",
        "chunk unsafe_chunk",
        accepts(lambda call: call.with_arguments(chunks=1)),
        is_argument("chunks", 0),
    ),
    Mutant(
        "split_with_sizes.later-from-start",
        "Pieces of split_with_sizes() after the first are counted from the beginning of the storage.",
        "split_with_sizes",
        _later_forget,
        OFFSET,
    ),
]


# Copies, conversions, joins, rearrangements.


def _row_major_if_new(call: Call) -> Any:
    outcome = call.right()
    if outcome is not call.x:
        now = call.geometry(outcome)
        empty = call.adapter.namespace.empty_strided(now.shape, row_major(now.shape), dtype=outcome.dtype)
        hands.move(outcome, empty.copy_(outcome.detach()))
    return outcome


def _others_strides(call: Call, y: Geometry) -> tuple[int, ...]:
    return call.others[0].strides


def _dense_other_order(event: Event) -> bool:
    o = next(iter(event.others), None)
    if o is None or o.shape != event.x.shape or o.dtype == event.x.dtype or 0 in o.shape:
        return False
    return is_dense(o) and o.strides != event.x.strides and o.contiguity[0] == "F"


def _in_own_units(call: Call, y: Geometry) -> int:
    return y.offset * call.before.itemsize // y.itemsize


def _beyond_blocks(x: Geometry) -> list[int]:
    rows, columns = x.shape
    whole = rows // 8 * 8
    return every(x)[whole * columns :]


def _nothing_of_one_dim(event: Event) -> bool:
    states = [event.x, *event.others]
    filled = [state for state in states if state.shape != (0,)]
    return len(filled) < len(states) and bool(filled) and all(state.contiguity == "FTF" for state in filled)


def _sign_turned(event: Event) -> bool:
    dims = event.argument("dim1"), event.argument("dim2")
    numbered = all(type(dim) is int and dim >= 0 for dim in dims) and type(event.argument("offset")) is int
    return numbered and dims[0] > dims[1] and event.argument("offset") != 0


COPIES = [
    Mutant(
        "to.one-image-loses-format",
        "Converting a single image in channels_last to another dtype answers a row-major one.",
        "to [conversions]",
        _row_major_if_new,
        CHANNELS_LAST
        & on_operand("one image", lambda x: x.shape[:1] == (1,))
        & Situation("no format", lambda e: e.argument("memory_format") is None),
    ),
    Mutant(
        "type_as.takes-strides-too",
        "type_as() takes over the other's strides with its dtype where the shapes are the same.",
        "type_as",
        repacked(_others_strides),
        Situation("same shape, another dense order", _dense_other_order),
    ),
    Mutant(
        "copy_.offset-in-own-units",
        "copy_() from another dtype counts the source's offset in elements of its own.",
        "copy_",
        reads_other(offset=_in_own_units),
        MIXED & OTHER_OFFSET,
    ),
    Mutant(
        "clone.blocks-of-eight",
        "Copying a transposed matrix of 2-byte elements to row-major leaves rows after the last eight whole ones zero.",
        "contiguous",
        blanks(_beyond_blocks),
        PERMUTED & rank(2) & itemsize(2) & on_operand("over eight rows", lambda x: x.shape[0] > 8 and x.shape[1] > 7),
    ),
    Mutant(
        "repeat.too-few-numbers",
        "repeat() by fewer numbers than there are dimensions repeats the last ones.",
        "repeat",
        accepts(lambda call: call.do("tile", call.x, call.event.argument("repeats"))),
        Situation("fewer numbers", lambda e: 0 < len(numbers(e.argument("repeats"))) < len(e.x.shape)),
    ),
    Mutant(
        "cat.nothing-has-no-say",
        "cat() of images in channels_last does not ask a tensor of shape (0,) among them for its format.",
        "cat concat",
        repacked(channels_last),
        Situation("(0,) beside images", _nothing_of_one_dim) & NO_OUT,
    ),
    Mutant(
        "stack.images-row-major",
        "stack() of images in channels_last as a new first dimension is row-major.",
        "stack",
        repacked(packed),
        Situation("all in channels_last", lambda e: {o.contiguity for o in (e.x, *e.others)} == {"FTF"})
        & Situation("in front", lambda e: e.argument("dim") in (None, 0))
        & NO_OUT,
    ),
    Mutant(
        "diag_embed.dims-turned-without-sign",
        "diag_embed() into a second dimension before the first keeps the sign of the offset.",
        "diag_embed",
        asked(offset=argument("offset", lambda value: -value)),
        Situation("dims turned", _sign_turned),
    ),
    Mutant(
        "repeat_interleave.scalar-stays",
        "repeat_interleave() of a 0-dim tensor answers one without dimensions.",
        "repeat_interleave",
        lambda call: call.do("clone", call.x),
        SCALAR & is_argument("repeats", 1),
    ),
]


# Layouts of results.


def _as_operand(call: Call, y: Geometry) -> tuple[int, ...]:
    return call.before.strides


def _second_decides(event: Event) -> bool:
    one = next(iter(event.others), None)
    same = one is not None and one.shape == event.x.shape and one.dtype == event.x.dtype
    return same and one is not None and is_dense(one) and one.contiguity[0] == "F"


def _over_images(event: Event) -> bool:
    dims = numbers(event.argument("dim"))
    return event.argument("keepdim") is True and {dim % 4 for dim in dims} == {2, 3}


def _as_image(call: Call, y: Geometry) -> tuple[int, ...]:
    channels = y.shape[1]
    return (channels, 1, channels, channels)


def _row_major_others(event: Event) -> bool:
    return bool(event.others) and all(o.contiguity[0] == "T" and o.shape == event.x.shape for o in event.others)


def _one_by_one(event: Event) -> bool:
    weight = other(event, "weight")
    ones = weight is not None and weight.shape[2:] == (1, 1)
    return ones and weight is not None and weight.contiguity[1] == "T" and weight.strides != row_major(weight.shape)


def _names_one_twice(event: Event) -> bool:
    inputs = str(event.argument("equation")).split("->")[0]
    return not event.others and "->" in str(event.argument("equation")) and len(set(inputs)) < len(inputs)


def _bounds_turned(event: Event) -> bool:
    low, high = event.argument("min"), event.argument("max")
    return type(low) in (int, float) and type(high) in (int, float) and low > high


RESULTS = [
    Mutant(
        "pointwise.expanded-first-decides",
        "What a dense, permuted second operand is laid out as has no say where the first one is expanded.",
        "[binary]",
        repacked(packed),
        EXPANDED & NO_OUT & Situation("second in another order", _second_decides),
    ),
    Mutant(
        "where.condition-has-no-say",
        "where() is row-major where both choices are, whatever the condition is laid out as.",
        "where",
        repacked(packed),
        PERMUTED & NO_OUT & Situation("choices row-major", _row_major_others),
    ),
    Mutant(
        "scans.converted-keep-order",
        "Scans that are asked for another dtype keep the operand's strides.",
        "[scans]",
        repacked(_as_operand),
        CONVERTS & PERMUTED & NO_OUT,
    ),
    Mutant(
        "mean.image-keeps-format",
        "The mean of each channel of images in channels_last is in channels_last.",
        "mean amax",
        repacked(_as_image),
        CHANNELS_LAST & NO_OUT & Situation("of both last dims", _over_images),
    ),
    Mutant(
        "conv2d.weight-of-ones-has-no-say",
        "A convolution by one element looks at the input alone for its memory format.",
        "conv2d",
        repacked(packed),
        on_operand("row-major images", lambda x: x.contiguity == "TFF") & Situation("1 by 1 weight", _one_by_one),
    ),
    Mutant(
        "einsum.diagonal-copies",
        "einsum() of one tensor that names a dimension twice answers a copy.",
        "einsum",
        lambda call: call.do("clone", call.right()),
        Situation("a letter twice", _names_one_twice),
    ),
    Mutant(
        "sort.stable-row-major",
        "A stable sort answers row-major values of a permuted tensor.",
        "sort",
        repacked(packed),
        PERMUTED & NO_OUT & is_argument("stable", True),
    ),
    Mutant(
        "batch_norm.gaps-row-major",
        "batch_norm() of images in channels_last with gaps between them is row-major.",
        "nn.functional.batch_norm nn.functional.interpolate",
        repacked(packed),
        GAPS & rank(4) & on_operand("channels innermost", lambda x: (x.strides or (0, 0))[1] == 1),
    ),
    Mutant(
        "clamp.lower-bound-wins",
        "clamp() between a lower bound above the upper one answers the lower one.",
        "clamp clamp_",
        lambda call: call.do(
            "clamp" + "_" * (call.step.op == "clamp_"), call.x, call.event.argument("min"), call.event.argument("min")
        ),
        FILLED & NO_OUT & Situation("bounds turned", _bounds_turned),
    ),
]

MUTANTS = [*SPLITS, *COPIES, *RESULTS]
