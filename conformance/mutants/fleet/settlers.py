"""An outsider's fleet, continued: gathers and scatters, storages, exchange, bits, codes, and what computes."""

from __future__ import annotations

from math import prod
from typing import Any

from ...classify import Event
from ...layout import numel, row_major
from ...program import Ref
from ...situations import (
    CODES,
    CONJUGATED,
    CONVERTS,
    EMPTY,
    MIXED,
    NEGATED,
    NUMBER,
    OFFSET,
    SAME_STORAGE,
    STRIDED,
    is_argument,
    itemsize,
    negative,
    on_operand,
    rank,
    rank_over,
)
from .. import hands
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    asked,
    packed,
    reads,
    reads_other,
    refuses,
    relaid,
    repacked,
    where_legal,
    without_bits,
)  # fmt: skip
from .residents import _number, _size, _tuple, _when, _wrapped

EMPTY_INSIDE = on_operand("empty with an offset", lambda x: 0 in x.shape and bool(x.offset))


def _without_keepdims(call: Call) -> Any:
    kept = [(name, value) for (name, _), value in zip(call.step.kwargs, _keywords(call), strict=True)]
    given_ones = {name: value for name, value in kept if name != "keepdims"}
    return call.do(call.step.op, *call.args[: len(call.step.args)], **given_ones)


def _keywords(call: Call) -> tuple[Any, ...]:
    return call.args[len(call.step.args) :]


def _into_raw(call: Call) -> Any:
    call.given([without_bits(call, call.x), *call.args[1:]])
    return call.x


def _zeros_behind(call: Call) -> Any:
    outcome = call.right()
    if not call.adapter.is_tensor(outcome):
        return outcome
    own = numel(call.before) * call.before.itemsize
    hands.write(outcome, own, bytes(outcome.untyped_storage().nbytes() - own))
    return outcome


def _floors_offset(call: Call) -> Any:
    state = call.before
    other = call.do("as_strided", call.x, state.shape, state.strides, state.offset - state.offset % 4)
    return call.on(other)


def _in_a_byte(call: Call) -> Any:
    return call.do("remainder", call.right(), 256)


def _names_twice(event: Event) -> bool:
    dims, count = _tuple(event, "dims"), len(event.x.shape)
    if len(dims) < 2 or not all(type(d) is int and -count <= d < count for d in dims):
        return False
    return len({d % count for d in dims}) < len(dims)


def _last_shift(call: Call) -> Any:
    dims, shifts = _tuple(call.event, "dims"), _tuple(call.event, "shifts")
    count = len(call.before.shape)
    by_dim = {d % count: s for d, s in zip(dims, shifts, strict=True)}
    return call.with_arguments(shifts=tuple(by_dim.values()), dims=tuple(by_dim))


def _alone_has_the_shape(event: Event) -> bool:
    """Whether the last of three operands has the shape of the result, is not row-major, and the others have not."""
    if len(event.others) != 2:
        return False
    end = event.others[1]
    fewer = [event.x, event.others[0]]
    return end.contiguity[0] == "F" and all(numel(o) < numel(end) for o in fewer)


def _keeps_own_bytes(call: Call) -> Any:
    own = numel(call.before) * call.before.itemsize
    old = call.x.untyped_storage().nbytes()
    outcome = call.right()
    if call.x.untyped_storage().nbytes() > old > own:
        hands.write(call.x, own, bytes(old - own))
    return outcome


def _same_count(event: Event) -> bool:
    size = _tuple(event, "size")
    whole = bool(size) and all(type(n) is int and n > 0 for n in size)
    return whole and size != event.x.shape and prod(size) == numel(event.x)


def _all_of_it(call: Call) -> Any:
    outcome = call.right()
    version = outcome._version
    call.do("copy_", outcome, call.x)
    hands.set_version(outcome, version)
    return outcome


def _without_wrapping(call: Call) -> Any:
    kept = hands.read(call.x)
    outcome = call.right()
    version = call.x._version
    hands.write(call.x, 0, kept)
    call.with_arguments(wrap=False)
    hands.set_version(call.x, version)
    return outcome


def _one_counter(call: Call) -> Any:
    outcome = call.right()
    if len(outcome) > 2:
        hands.count_together(outcome[-1], call.x)
    return outcome


def _tall(event: Event) -> bool:
    shape = event.x.shape
    return len(shape) == 2 and shape[0] > shape[1] + 1


def _neighbour(call: Call, x: Geometry) -> int:
    return (_wrapped(call.event, "dim") or 1) - 1


def _one_before(call: Call, x: Geometry) -> int:
    return max(x.offset - 1, 0)


ODD_PLACE = on_operand("odd offset", lambda x: (x.offset or 0) % 2 == 1 and x.contiguity[0] == "T" and numel(x) > 8)


def _third_packed(call: Call) -> Any:
    tensors = list(call.args[0])
    third = call.geometry(tensors[2])
    other = third._replace(strides=row_major(third.shape))
    if hands.fits(other, tensors[2].untyped_storage().nbytes()):
        tensors[2] = call.do("as_strided", tensors[2], *other[1:])
    return call.given([tuple(tensors), *call.args[1:]])


def _third_strided(event: Event) -> bool:
    tensors = _tuple(event, "tensors")
    if len(tensors) < 3 or not isinstance(tensors[2], Ref):
        return False
    state = event.before.get(event.named(tensors[2]))
    return state is not None and state.contiguity[0] == "F"


def _as_if_filled(call: Call) -> Any:
    outcome = call.right()
    now = call.geometry(outcome)
    size = tuple([n or 1 for n in now.shape])
    longer = call.do("new_empty_strided", call.x, size, now.strides)
    hands.move(outcome, longer)
    hands.lay_out(outcome, now)
    return outcome


def _same_but_for_ones(call: Call) -> Any:
    if call.right():
        return True
    other = call.named("tensor")
    mine, given_one = call.geometry(call.x), call.geometry(other)
    same = call.adapter.storage_of(call.x) is call.adapter.storage_of(other)
    steps = zip(mine.shape, mine.strides, given_one.strides, strict=False)
    return same and mine[1] == given_one[1] and mine[3] == given_one[3] and all(n == 1 or s == t for n, s, t in steps)


def _out_at_begin(call: Call) -> Any:
    out = call.named("out")
    place = call.geometry(out)
    other = call.do("as_strided", out, place.shape, place.strides, 0)
    call.given([other if arg is out else arg for arg in call.args])
    return out


def _out_fits(event: Event) -> bool:
    outs = event.outs
    return len(outs) == 1 and bool(outs[0].offset) and outs[0].contiguity[0] == "F"


MUTANTS = [
    Mutant(
        "resident-from-buffer.big-at-odd-place",
        "from_buffer does not turn big-endian elements where they begin at no multiple of their size.",
        "UntypedStorage.from_buffer TypedStorage.from_buffer FloatStorage.from_buffer ShortStorage.from_buffer",
        asked(byte_order=lambda c, x: "native"),
        is_argument("byte_order", "big") & _when("odd place", lambda e: _number(e, "offset") % 2 == 1),
    ),
    Mutant(
        "resident-reductions.numpy-keepdims",
        "Reductions ignore keepdims, NumPy's name of keepdim.",
        "[reductions] [reductions to pairs]",
        _without_keepdims,
        _when("keepdims", lambda e: any(name == "keepdims" and value is True for name, value in e.step.kwargs)),
    ),
    Mutant(
        "resident-imag.conjugated-inside",
        "imag of a conjugated tensor inside its memory forgets to negate.",
        "imag",
        lambda c: without_bits(c, c.right()),
        CONJUGATED & OFFSET & STRIDED,
    ),
    Mutant(
        "resident-mm.conjugated-transposed",
        "mm and matmul of a conjugated, transposed matrix forget to conjugate.",
        "mm matmul bmm",
        lambda c: c.given([without_bits(c, c.x), *c.args[1:]]),
        CONJUGATED & STRIDED,
    ),
    Mutant(
        "resident-copy.into-negated-strided",
        "copy_ into a strided tensor with the negative bit forgets to negate numbers of another dtype.",
        "copy_",
        _into_raw,
        NEGATED & STRIDED & MIXED,
    ),
    Mutant(
        "resident-dequantize.per-channel-strided",
        "dequantize of a strided tensor with a scale for each channel makes rows.",
        "dequantize int_repr",
        repacked(packed),
        CODES & STRIDED & on_operand("per channel", lambda x: "channel" in (x.quantizer or "")),
    ),
    Mutant(
        "resident-deepcopy.memory-behind-lost",
        "deepcopy of a row-major tensor at the begin of longer memory leaves what lies behind at zero.",
        "copy.deepcopy",
        _zeros_behind,
        on_operand("row-major at the begin", lambda x: x.contiguity[0] == "T" and not x.offset and numel(x) > 0
                   and x.quantizer is None),
    ),
    Mutant(
        "resident-save-load.empty-inside",
        "An empty tensor inside its memory is loaded at its begin.",
        "save_load pickle copy.deepcopy",
        relaid(offset=lambda c, x: 0),
        EMPTY_INSIDE,
    ),
    Mutant(
        "resident-view-dtype.even-is-enough",
        "view of a dtype four times as large asks for an even offset only.",
        "view.dtype",
        accepts(_floors_offset),
        on_operand("even offset, no multiple of 4", lambda x: (x.offset or 0) % 4 == 2)
        & _when("at least four times as large", lambda e: e.x.dtype in ("int8", "uint8", "bool") and e.argument(
            "dtype").name in ("int32", "float32", "uint32")),
    ),
    Mutant(
        "resident-count-nonzero.in-a-byte",
        "count_nonzero counts what is true of long bool rows in a byte.",
        "count_nonzero",
        _in_a_byte,
        on_operand("bools, above 255", lambda x: x.dtype == "bool" and numel(x) > 255),
    ),
    Mutant(
        "resident-cumsum.converts-packed",
        "cumsum and cumprod that convert read a strided tensor as row-major.",
        "cumsum cumprod",
        reads(strides=packed),
        CONVERTS & STRIDED & rank_over(2),
    ),
    Mutant(
        "resident-roll.one-dim-twice",
        "roll of one dimension twice does the last only.",
        "roll",
        _last_shift,
        _when("one twice", _names_twice),
    ),
    Mutant(
        "resident-rot90.below-minus-one",
        "rot90 by more than one turn backwards turns forwards.",
        "rot90",
        asked(k=lambda c, x: -c.event.argument("k")),
        _when("below -1", lambda e: _number(e, "k") < -1),
    ),
    Mutant(
        "resident-tril.below-rows",
        "tril of a batch below all of its rows is the tensor itself, copied.",
        "tril",
        _all_of_it,
        rank_over(2) & _when("below the rows", lambda e: _number(e, "diagonal") <= -e.x.shape[-2])
        & _when("no out", lambda e: not e.outs),
    ),
    Mutant(
        "resident-embedding.weight-columns",
        "embedding reads a strided weight as row-major.",
        "nn.functional.embedding",
        reads_other(strides=packed),
        _when("strided weight, padding", lambda e: len(e.others) == 1 and e.others[0].contiguity[0] == "F"
              and e.argument("padding_idx") is not None),
    ),
    Mutant(
        "resident-ternary.last-has-the-shape",
        "Three operands make rows where the last alone is as large as the result, whatever its order.",
        "where lerp addcmul addcdiv clamp",
        repacked(packed),
        _when("last alone", _alone_has_the_shape) & _when("no out", lambda e: not e.outs),
    ),
    Mutant(
        "resident-resize.grows-own-bytes",
        "resize_ that needs more memory brings only the tensor's own bytes along.",
        "resize_",
        _keeps_own_bytes,
        on_operand("row-major", lambda x: x.contiguity[0] == "T" and not x.offset),
    ),
    Mutant(
        "resident-resize.same-count-to-begin",
        "resize_ to another shape of as many elements moves a strided tensor to the begin of its memory.",
        "resize_",
        relaid(offset=lambda c, x: 0),
        OFFSET & STRIDED & _when("as many", _same_count),
    ),
    Mutant(
        "resident-unsafe-split.last-shares-counter",
        "The last of three pieces or more of unsafe_split counts with the tensor.",
        "[untracked splits]",
        _one_counter,
    ),
    Mutant(
        "resident-fill-diagonal.wrap-strided",
        "fill_diagonal_ does not wrap in strided matrices.",
        "fill_diagonal_",
        _without_wrapping,
        STRIDED & is_argument("wrap", True) & _when("tall", _tall),
    ),
    Mutant(
        "resident-repeat-interleave.tensor-from-end",
        "repeat_interleave by a tensor along a dimension counted from the end takes the one before.",
        "repeat_interleave",
        asked(dim=_neighbour),
        negative("dim") & rank_over(1) & _when("by a tensor", lambda e: e.others),
    ),
    Mutant(
        "resident-unary.word-pairs",
        "Elementwise functions read elements of two bytes in pairs, which begin at even places.",
        "[unary]",
        reads(offset=_one_before),
        itemsize(2) & ODD_PLACE & _when("alone", lambda e: not e.others and "inplace" not in dict(e.step.kwargs)),
    ),
    Mutant(
        "resident-kthvalue.last",
        "kthvalue of the largest of a strided row answers with the second largest.",
        "kthvalue",
        asked(k=lambda c, x: c.event.argument("k") - 1),
        STRIDED & _when("the largest", lambda e: _number(e, "k") == _size(e, "dim") > 1),
    ),
    Mutant(
        "resident-narrow.from-end-by-first",
        "narrow from a place counted from the end, along a dimension likewise, counts from the end of the first.",
        "narrow narrow_copy",
        asked(start=lambda c, x: c.event.argument("start") + x.shape[0]),
        negative("dim")
        & negative("start")
        & _when("another size", lambda e: e.x.shape and _size(e, "dim") != e.x.shape[0]),
    ),
    Mutant(
        "resident-expand.to-nothing-steps",
        "expand to no elements of a dimension of size 1 keeps its stride.",
        "expand expand_as broadcast_to",
        relaid(strides=lambda c, x: (*x.strides[: len(x.shape) - len(c.before.shape)], *c.before.strides)),
        on_operand("size 1", lambda x: 1 in x.shape) & _when("to nothing", lambda e: 0 in (
            e.others[0].shape if e.others else _tuple(e, "size")) and 0 not in e.x.shape),
    ),
    Mutant(
        "resident-asarray.copy-with-grad",
        "asarray that is asked for a copy and for gradients shares memory.",
        "asarray",
        asked(copy=lambda c, x: None),
        is_argument("copy", True) & is_argument("requires_grad", True),
    ),
    Mutant(
        "resident-matmul.vector-strided-batch",
        "matmul of a vector and a strided batch of matrices reads it as row-major.",
        "matmul",
        reads_other(strides=packed),
        rank(1) & _when("strided batch", lambda e: any(len(o.shape) > 2 and o.contiguity[0] == "F" for o in e.others)),
    ),
    Mutant(
        "resident-select-scatter.from-end-by-first",
        "select_scatter at a place counted from the end counts from the end of the first dimension.",
        "select_scatter",
        asked(index=lambda c, x: c.event.argument("index") + x.shape[0]),
        negative("index") & _when("another size", lambda e: e.x.shape and _size(e, "dim") > e.x.shape[0]),
    ),
    Mutant(
        "resident-stack.third-packed",
        "stack reads the third tensor as row-major.",
        "stack",
        _third_packed,
        _when("third strided", _third_strided),
    ),
    Mutant(
        "resident-new-empty-strided.nothing",
        "new_empty_strided of nothing takes memory as if each size of 0 were 1.",
        "new_empty_strided",
        _as_if_filled,
        _when("size with 0", lambda e: 0 in _tuple(e, "size") and max(_tuple(e, "size")) > 1),
    ),
    Mutant(
        "resident-frombuffer.count-from-begin",
        "frombuffer counts elements from the begin of the buffer, not from the offset.",
        "frombuffer",
        asked(count=lambda c, x: c.event.argument("count") - 1),
        _when("count and offset", lambda e: _number(e, "count") > 1 and _number(e, "offset") > 0),
    ),
    Mutant(
        "resident-is-set-to.ones",
        "is_set_to does not look at strides of dimensions of size 1.",
        "is_set_to",
        _same_but_for_ones,
        SAME_STORAGE,
    ),
    Mutant(
        "resident-masked-select.larger-mask",
        "masked_select refuses a mask of more dimensions.",
        "masked_select",
        where_legal(refuses("broadcast")),
        _when("mask of more dimensions", lambda e: any(len(o.shape) > len(e.x.shape) for o in e.others)) & ~EMPTY,
    ),
    Mutant(
        "resident-out.strided-at-begin",
        "A result that is written into a strided tensor inside its memory is written at its begin.",
        "cat stack index_select gather sum amax mm",
        _out_at_begin,
        _when("out strided inside", _out_fits) & ~EMPTY,
    ),
    Mutant(
        "resident-sub.alpha-of-number",
        "sub forgets alpha where a number is subtracted from a strided tensor.",
        "sub sub_",
        asked(alpha=lambda c, x: 1),
        NUMBER & STRIDED & _when("alpha", lambda e: e.argument("alpha") != 1),
    ),
    Mutant(
        "resident-diff.third",
        "diff of the third or more is diff of the second.",
        "diff",
        asked(n=lambda c, x: 2),
        _when("above 2", lambda e: _number(e, "n") > 2),
    ),
]  # fmt: skip
