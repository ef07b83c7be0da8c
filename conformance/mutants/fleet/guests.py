"""Defects that another stranger thought of, of one line each: views, factories, elements one by one."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from ...classify import Event
from ...program import ITEMSIZES, DType
from ...situations import (
    CHANNELS_LAST,
    CODES,
    CONJUGATED,
    EXPANDED,
    OFFSET,
    OTHER_SCALAR,
    Situation,
    asks,
    by_keyword,
    dim_of,
    dtype,
    given,
    is_argument,
    negative,
    rank,
    rank_over,
)
from ..call import Call, Geometry
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    argument,
    asked,
    evenly,
    relaid,
    repacked,
    retyped,
    where_legal,
)
from .strangers import FLOATS, OUT, _silently, sizes_of

NARROW = ("bool", "uint8", "int8", "int16", "int32")
WHOLE = (*NARROW, "int64")


def _is(value: Any, *kinds: type) -> bool:
    return type(value) in kinds


def _size(event: Event, name: str = "dim") -> int:
    """How many elements there are along a dimension, 0 where there is none."""
    dim = dim_of(event, name)
    return 0 if dim is None else event.x.shape[dim]


# Views.


def _last_divides(e: Event) -> bool:
    size, step, n = e.argument("size"), e.argument("step"), _size(e, "dimension")
    return _is(size, int) and _is(step, int) and step > 1 and n > size and (n - size) % step == 0


def _without_last(call: Call, y: Geometry) -> tuple[int, ...]:
    dim = dim_of(call.event, "dimension")
    return tuple([n - (place == dim) for place, n in enumerate(y.shape)])


def _below_tall(e: Event) -> bool:
    dim1, dim2, offset = dim_of(e, "dim1"), dim_of(e, "dim2"), e.argument("offset")
    return None not in (dim1, dim2) and _is(offset, int) and offset < 0 and _size(e, "dim1") > _size(e, "dim2")


def _both_shortened(call: Call, y: Geometry) -> tuple[int, ...]:
    return (*y.shape[:-1], max(_size(call.event, "dim2") + call.event.argument("offset"), 0))


def _zero_and_rest(e: Event) -> bool:
    sizes = sizes_of(e, "size") or sizes_of(e, "shape")
    return 0 in e.x.shape and 0 in sizes and sizes.count(-1) == 1


def _rest_is_none(call: Call) -> Any:
    sizes = sizes_of(call.event, "size") or sizes_of(call.event, "shape")
    return call.do("view", call.x, tuple([0 if size == -1 else size for size in sizes]))


def _between_two(e: Event) -> bool:
    to, of = e.argument("dtype"), ITEMSIZES.get(e.x.dtype, 1)
    return (
        isinstance(to, DType) and bool(e.x.offset) and bool((e.x.offset or 0) % max(ITEMSIZES.get(to.name, 1) // of, 1))
    )


def _rounded_down(call: Call) -> Any:
    x = call.before
    many = ITEMSIZES[call.event.argument("dtype").name] // x.itemsize
    return call.do("view", call.do("as_strided", call.x, x.shape, x.strides, x.offset // many * many), call.args[1])


def _all_reversed(call: Call) -> Any:
    return call.do("conj", call.do("permute", call.x, tuple(range(len(call.before.shape)))[::-1]))


def _into_columns(call: Call) -> Any:
    return call.do("unsqueeze", call.do("unsqueeze", call.x, 1), 2)


def _same_layout(call: Call) -> Any:
    return call.right() or call.geometry(call.x) == call.others[0]


def _steps_expanded(call: Call, y: Geometry) -> tuple[int, ...]:
    return tuple(
        [0 if n > 1 and not old else new for n, old, new in zip(y.shape, call.before.strides, y.strides, strict=False)]
    )


VIEWS = (
    Mutant(
        "guests.chunk-evenly",
        "chunk makes as many parts as asked, the first ones longer by one, as array_split does.",
        "chunk",
        where_legal(evenly),
    ),
    Mutant(
        "guests.unfold-last-window",
        "unfold with a step leaves the last window out where it ends with the dimension.",
        "unfold",
        relaid(shape=_without_last),
        Situation("last window at the end", _last_divides),
    ),
    Mutant(
        "guests.diagonal-below-tall",
        "A diagonal below the main one of more rows than columns is shortened by its offset.",
        "diagonal",
        relaid(shape=_both_shortened),
        Situation("below the main diagonal, tall", _below_tall),
    ),
    Mutant(
        "guests.view-of-nothing",
        "view and reshape of no elements take -1 beside a 0 for 0.",
        "view reshape",
        accepts(_rest_is_none),
        Situation("-1 beside 0", _zero_and_rest),
    ),
    Mutant(
        "guests.view-as-real-of-conj",
        "view_as_real of a conjugated tensor answers a resolved copy's.",
        "view_as_real",
        accepts(lambda call: call.do("view_as_real", call.do("resolve_conj", call.x))),
        CONJUGATED,
    ),
    Mutant(
        "guests.view-dtype-offset",
        "view as a wider dtype begins at the element before, where the offset is between two.",
        "view.dtype",
        accepts(_rounded_down),
        Situation("offset between two", _between_two),
    ),
    Mutant(
        "guests.mh-of-batches",
        "mH and adjoint of a stack of matrices reverse all dimensions.",
        "mH adjoint",
        _all_reversed,
        rank_over(2),
    ),
    Mutant(
        "guests.movedim-in-order",
        "movedim of several dimensions takes the destinations in ascending order.",
        "movedim moveaxis",
        where_legal(asked(destination=argument("destination", sorted))),
        Situation("destinations not ascending", lambda e: [*(d := sizes_of(e, "destination"))] != sorted(d)),
    ),
    Mutant(
        "guests.atleast-3d-of-vector",
        "atleast_3d of a vector has its elements in the first dimension.",
        "atleast_3d",
        _into_columns,
        rank(1),
    ),
    Mutant(
        "guests.as-strided-copy-from-begin",
        "as_strided_copy of a tensor with an offset begins at 0 where no offset is given.",
        "as_strided_copy",
        asked(storage_offset=lambda call, x: 0),
        OFFSET & is_argument("storage_offset", None),
    ),
    Mutant(
        "guests.is-set-to-alike",
        "is_set_to compares shape, strides and offset only.",
        "is_set_to",
        _same_layout,
    ),
)


# Factories and conversions.


def _itemsize(e: Event) -> int:
    to = e.argument("dtype")
    return ITEMSIZES.get(to.name, 1) if isinstance(to, DType) else 1


def _inverse(call: Call, x: Geometry) -> tuple[int, ...]:
    order: tuple[int, ...] = call.event.argument("physical_layout")
    return tuple([order.index(place) for place in range(len(order))])


FACTORIES = (
    Mutant(
        "guests.empty-permuted-inverse",
        "empty_permuted takes the physical layout for its inverse.",
        "empty_permuted",
        where_legal(asked(physical_layout=_inverse)),
    ),
    Mutant(
        "guests.arange-to-fraction",
        "arange to a fraction leaves the last number out.",
        "arange",
        asked(end=argument("end", lambda end: float(int(end)))),
        Situation("end is a fraction", lambda e: _is(e.argument("end"), float) and e.argument("end") % 1 > 0),
    ),
    Mutant(
        "guests.full-of-int",
        "full of a whole number is of the default dtype.",
        "full",
        asked(dtype=lambda call, x: call.adapter.namespace.float32),
        Situation("int, no dtype", lambda e: _is(e.argument("fill_value"), int) and not e.argument("dtype")) & ~OUT,
    ),
    Mutant(
        "guests.like-of-expanded",
        "What is made like an expanded tensor has stride 0 there as well.",
        "[like factories]",
        relaid(strides=_steps_expanded),
        EXPANDED & is_argument("memory_format", None),
    ),
    Mutant(
        "guests.conversion-to-channels-last",
        "float(), half() and the like keep the order of a tensor for which channels_last is asked.",
        "[conversions]",
        asked(memory_format=lambda call, x: call.adapter.namespace.preserve_format),
        asks("channels_last") & rank(4) & ~CHANNELS_LAST,
    ),
    Mutant(
        "guests.frombuffer-elements",
        "frombuffer counts its offset in elements.",
        "frombuffer",
        asked(offset=lambda call, x: call.event.argument("offset") * _itemsize(call.event)),
        Situation("offset", lambda e: (e.argument("offset") or 0) > 0 and _itemsize(e) > 1),
    ),
    Mutant(
        "guests.byteswap-complex",
        "byteswap of complex64 turns eight bytes round together.",
        "UntypedStorage.byteswap",
        asked(dtype=lambda call, x: call.adapter.namespace.float64),
        is_argument("dtype", DType("complex64")),
    ),
    Mutant(
        "guests.equal-codes",
        "equal of quantised tensors compares their codes, whatever they mean.",
        "equal",
        where_legal(lambda call: call.do("equal", *[call.do("int_repr", x) for x in call.args])),
        CODES & Situation("other quantizer", lambda e: any(o.quantizer not in (None, e.x.quantizer) for o in e.others)),
    ),
)


# Elements.


def _above_floor(call: Call) -> Any:
    x = call.do("clone", call.x)
    y = call.right()
    return _silently(y, lambda: y.copy_(call.do("sub", x, call.do("floor", x))))


def _around(call: Call) -> Any:
    other = call.args[1]
    return call.given([call.args[0], call.do("bitwise_and", other, 31) if call.others else other & 31, *call.args[2:]])


def _keeps_nan(call: Call) -> Any:
    mask = call.do("isnan", call.x)
    y = call.right()
    return _silently(y, lambda: y.masked_fill_(mask, nan))


def _minimum_above(e: Event) -> bool:
    least, most = e.argument("min"), e.argument("max")
    return _is(least, int, float) and _is(most, int, float) and least > most


def _times_zero(call: Call) -> Any:
    y = call.right()
    return _silently(y, lambda: y.add_(call.do("mul", call.x, 0.0)))


def _float_of_whole(call: Call, y: Geometry) -> Any:
    return getattr(call.adapter.namespace, "float32" if y.dtype in WHOLE else y.dtype)


NEGATIVE_POWER = Situation("negative int", lambda e: _is(e.argument("exponent"), int) and e.argument("exponent") < 0)
SAME_DTYPE = Situation("one dtype", lambda e: all(o.dtype == e.x.dtype for o in e.others))
NO_BETA = Situation("beta=0", lambda e: _is(e.argument("beta"), int, float) and e.argument("beta") == 0)

ELEMENTS = (
    Mutant(
        "guests.frac-above-floor",
        "frac of a negative number is what it has above its floor.",
        "frac",
        _above_floor,
        dtype(*FLOATS) & ~OUT,
    ),
    Mutant(
        "guests.shift-around",
        "bitwise_left_shift of int32 uses the lowest five bits of the count.",
        "bitwise_left_shift",
        _around,
        dtype("int32") & SAME_DTYPE,
    ),
    Mutant(
        "guests.sign-of-nan",
        "The sign of NaN is NaN.",
        "sign",
        _keeps_nan,
        dtype(*FLOATS) & ~OUT,
    ),
    Mutant(
        "guests.clamp-crossed",
        "clamp with a minimum above the maximum answers the minimum.",
        "clamp clamp_",
        asked(max=lambda call, x: call.event.argument("min")),
        Situation("min above max", _minimum_above),
    ),
    Mutant(
        "guests.round-to-tens",
        "round with negative decimals rounds to whole numbers.",
        "round round_",
        asked(decimals=lambda call, x: 0),
        negative("decimals"),
    ),
    Mutant(
        "guests.nan-to-num-half",
        "nan_to_num leaves the infinities of float16: the limits of float32 are infinite there.",
        "nan_to_num nan_to_num_",
        asked(posinf=lambda call, x: inf, neginf=lambda call, x: -inf),
        dtype("float16") & is_argument("posinf", None) & is_argument("neginf", None),
    ),
    Mutant(
        "guests.pow-of-ints",
        "Integers to a negative power are 0.",
        "pow",
        accepts(lambda call: call.do("zeros_like", call.x)),
        dtype(*WHOLE[1:]) & NEGATIVE_POWER & ~OUT,
    ),
    Mutant(
        "guests.div-trunc-of-ints",
        "div of integers rounded towards zero is of a floating dtype.",
        "div",
        retyped(_float_of_whole),
        dtype(*WHOLE) & is_argument("rounding_mode", "trunc") & ~OUT,
    ),
    Mutant(
        "guests.alpha-of-scalar",
        "add and sub of a 0-dim tensor to integers leave alpha out.",
        "add sub add_ sub_",
        asked(alpha=lambda call, x: 1),
        given("alpha") & OTHER_SCALAR & dtype(*WHOLE[1:]),
    ),
    Mutant(
        "guests.isclose-nan-by-name",
        "isclose and allclose do not see equal_nan where it is given by its name.",
        "isclose allclose",
        asked(equal_nan=lambda call, x: False),
        given("equal_nan") & by_keyword("equal_nan"),
    ),
    Mutant(
        "guests.beta-times-nan",
        "addmm, addmv and baddbmm with beta 0 add 0 times the tensor, NaN where that is not finite.",
        "addmm addmv baddbmm",
        _times_zero,
        NO_BETA & dtype(*FLOATS) & ~OUT,
    ),
    Mutant(
        "guests.kron-swapped",
        "kron takes its operands the other way round.",
        "kron",
        lambda call: call.given([call.args[1], call.args[0], *call.args[2:]]),
        ~OUT,
    ),
    Mutant(
        "guests.outer-columns",
        "outer answers column by column.",
        "outer",
        repacked(lambda call, y: (1, y.shape[0])),
        ~OUT,
    ),
)

MUTANTS = (*VIEWS, *FACTORIES, *ELEMENTS)
