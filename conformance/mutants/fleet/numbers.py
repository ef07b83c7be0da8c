"""Numbers that are wrong: rounded, cut off, wrapped, promoted, ordered or not defined, of some dtypes only.

A third fleet, declared with `options` and `matters` by an author who had seen the list of the others, and neither the
corpus nor what is drawn: `docs/mutants.md` has what came of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...situations import (
    CONVERTS,
    EMPTY,
    FILLED,
    MIXED,
    NUMBER,
    OTHER_SCALAR,
    OTHERS,
    SCALAR,
    Situation,
    dtype,
    given,
    is_argument,
    on_operand,
    on_other,
    rank_over,
)
from ..call import Call
from ..hands import set_version
from ..mutant import Mutant
from ..wrongs import Wrong, accepts, asked, refuses, retyped

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATING = dtype(*FLOATS)
INTEGRAL = dtype(*INTEGERS)
SIGNED = dtype("int8", "int16", "int32", "int64")
COMPLEX = dtype("complex64", "complex128")
SUMS = "sum nansum prod cumsum cumprod"
NO_DTYPE = is_argument("dtype", None)
NO_DIM = is_argument("dim", None)
ALONG = Situation("one dim", lambda e: type(e.argument("dim")) is int)


def into(*names: str) -> Situation:
    """The call converts to one of these dtypes: as it is asked, or by the operation's own name."""
    by_name = {"bool": "bool", "bfloat16": "bfloat16", "int64": "long", "int32": "int", "int16": "short",
               "int8": "char", "uint8": "byte", "float16": "half", "float32": "float", "float64": "double"}  # fmt: skip
    entries = {by_name.get(name) for name in names}
    return Situation(
        f"into {' or '.join(names)}",
        lambda e: e.entry in entries or getattr(e.argument("dtype"), "name", None) in names,
    )


CONVERSIONS = "to [conversions]"


def if_possible(wrong: Wrong) -> Wrong:
    """What cannot be done wrong in that way is done right, and so is what answers in a tensor that is given."""

    def done(call: Call) -> Any:
        if given("out")(call.event):
            return call.right()
        try:
            return wrong(call)
        except Exception:
            return call.right()

    return done


def of(change: Callable[[Any, Any], Any]) -> Wrong:
    """It is done to what becomes of the operand: a function of the tensor and the library's namespace."""
    return if_possible(lambda c: c.on(change(c.x, c.adapter.namespace)))


def rewritten(y: Any, values: Any) -> Any:
    """A result with other numbers, in its own layout, and no version more."""
    version = y._version
    y.detach().copy_(values.detach())
    set_version(y, version)
    return y


def then(change: Callable[[Any, Any], Any]) -> Wrong:
    """Something is done to a result that is new."""

    def wrong(call: Call) -> Any:
        y = call.right()
        if y is call.x:
            return y
        with_change = change(y, call.adapter.namespace)
        same = with_change.shape == y.shape and with_change.dtype == y.dtype
        return rewritten(y, with_change) if same else with_change

    return if_possible(wrong)


def instead(values: Callable[[Call], Any]) -> Wrong:
    """A result that is new has other numbers."""

    def wrong(call: Call) -> Any:
        y, other = call.right(), values(call)
        if isinstance(y, tuple):
            rewritten(y[1], other[1])
            return y
        return rewritten(y, other)

    return if_possible(wrong)


def like(op: str) -> Wrong:
    """Another operation is done to the same operands."""
    return instead(lambda c: c.do(op, *c.args[:2]))


def _wrapped(name: str) -> Wrong:
    """It is added up in a dtype as small as the operand's."""

    def wrong(call: Call) -> Any:
        done = call.right()
        return rewritten(done, done.to(getattr(call.adapter.namespace, name)).to(done.dtype))

    return if_possible(wrong)


def _converted_late(call: Call) -> Any:
    """It is computed in the dtype that there is, then converted."""
    return call.with_arguments(dtype=None).to(call.right().dtype)


def _cut_off(call: Call) -> Any:
    """The lower half of the bits is left out."""
    ns = call.adapter.namespace
    words = call.x.detach().clone().view(ns.int32).bitwise_and(-65536).view(ns.float32)
    return call.on(words)


def _last_of_equal(call: Call) -> Any:
    """Of equal ones the last is answered."""
    dim = call.event.argument("dim")
    size = call.before.shape[dim]
    return (size - 1) - call.on(call.x.flip(dim))


def _unstable(call: Call) -> Any:
    """Equal ones come in reverse."""
    dim = call.event.argument("dim")
    size = call.before.shape[dim]
    done = call.on(call.x.flip(dim))
    if isinstance(done, tuple):
        return type(done)([done[0], (size - 1) - done[1]])
    return (size - 1) - done


def _upper(call: Call) -> Any:
    return call.on(-call.x).neg()


def _half_away(x: Any, ns: Any) -> Any:
    return (x.abs() + 0.5).floor().mul(x.sign())


def _uncapped(x: Any, ns: Any) -> Any:
    return ns.where(x.abs() > 448.0, ns.full_like(x, math.nan), x)


def _clamped_from_above(call: Call) -> Any:
    low, high = call.event.argument("min"), call.event.argument("max")
    return call.x.clamp_max(high).clamp_min(low)


def _logical_shift(call: Call) -> Any:
    ns = call.adapter.namespace
    return call.on(call.x.clone().view(ns.uint8)).view(ns.int8)


def _as_signed(names: dict[str, str]) -> Callable[[Any, Any], Any]:
    return lambda x, ns: x.contiguous().view(getattr(ns, names[str(x.dtype).rpartition(".")[2]]))


def _no_nan(x: Any, ns: Any) -> Any:
    return x.nan_to_num(0.0, math.inf, -math.inf)


def _least_nan(x: Any, ns: Any) -> Any:
    return x.nan_to_num(-math.inf, math.inf, -math.inf)


def _source_cut(call: Call) -> Any:
    source = call.args[1].detach().trunc()
    return call.given([call.x, source, *call.args[2:]])


def _bare_zero(call: Call) -> Any:
    """The other operand's zeros lose their sign."""
    return call.given([call.x, call.args[1] + 0.0, *call.args[2:]])


def _signed_items(call: Call) -> Any:
    found = call.right()
    return found if not isinstance(found, int) or found < 2**63 else found - 2**64


def _as_numbers(found: Any) -> Any:
    return [_as_numbers(item) for item in found] if isinstance(found, list) else int(found)


def as_dtype(name: str) -> Wrong:
    """The result has another dtype."""
    return if_possible(retyped(lambda c, y: getattr(c.adapter.namespace, name)))


_other_whole = on_other("other int64 of no dimensions", lambda o: o.shape == () and o.dtype == "int64")

MUTANTS = (
    # Numbers converted.
    Mutant("bfloat16.cut-off", "Conversions to bfloat16 cut off what they should round.", CONVERSIONS,
           if_possible(_cut_off), dtype("float32") & into("bfloat16")),
    Mutant("to.integers-rounded", "Conversions of floats to integers round to the nearest.", CONVERSIONS,
           of(lambda x, ns: x.round()), FLOATING & into(*INTEGERS)),
    Mutant("to.truth-of-fractions", "What lies between 0 and 1 is converted to False.", CONVERSIONS,
           of(lambda x, ns: x.trunc()), FLOATING & into("bool")),
    Mutant("to.truth-of-nan", "NaN is converted to False.", CONVERSIONS, of(_no_nan), FLOATING & into("bool")),
    Mutant("to.truth-of-imaginary", "Numbers that are imaginary only are converted to False.", CONVERSIONS,
           of(lambda x, ns: ns.real(x)), COMPLEX & into("bool")),
    Mutant("to.float8-not-capped", "Conversions to float8_e4m3fn answer NaN for what is larger than the largest.",
           CONVERSIONS, of(_uncapped), FLOATING & into("float8_e4m3fn")),
    Mutant("to.from-uint64", "Large numbers of uint64 are converted to negative floats.", CONVERSIONS,
           of(_as_signed({"uint64": "int64"})), dtype("uint64") & into(*FLOATS)),
    Mutant("to.from-uint16", "Large numbers of uint16 and uint32 are converted as if they were signed.", CONVERSIONS,
           of(_as_signed({"uint16": "int16", "uint32": "int32"})),
           dtype("uint16", "uint32") & into(*FLOATS, "int64")),
    Mutant("copy_.truth-of-fractions", "copy_ into truths takes what lies between 0 and 1 for False.", "copy_",
           if_possible(_source_cut), dtype("bool") & on_other("other of floats", lambda o: o.dtype in FLOATS)),
    Mutant("item.uint64", "item of a large uint64 is negative.", "item", _signed_items, dtype("uint64")),
    Mutant("tolist.truths", "tolist of truths has 0 and 1.", "tolist", lambda c: _as_numbers(c.right()), dtype("bool")),
    # Numbers added up.
    Mutant("sum.int32-wraps", "Sums of int32 are added up in 32 bits.", SUMS, _wrapped("int32"),
           dtype("int32", "int16") & NO_DTYPE),
    Mutant("sum.bytes-wrap", "Sums of uint8 are added up in 8 bits.", SUMS, _wrapped("uint8"),
           dtype("uint8") & NO_DTYPE),
    Mutant("sum.of-truths", "The sum of truths is whether there is one.", "sum",
           then(lambda y, ns: y.clamp_max(1)), dtype("bool") & NO_DTYPE),
    Mutant("sum.converted-late", "sum and cumsum with a dtype convert what they have added up.", SUMS,
           instead(_converted_late), FLOATING & into(*INTEGERS)),
    Mutant("sum.dtype-of-integers", "sum and mean of integers ignore a dtype that floats are of.", "sum prod cumsum",
           if_possible(asked(dtype=lambda c, x: None)), INTEGRAL & into(*FLOATS)),
    Mutant("sum.no-dims", "Sums over no dimensions, dim=(), are the operand itself.", "sum nansum mean amax amin",
           if_possible(lambda c: c.x.clone()), is_argument("dim", ()) & rank_over(0)
           & Situation("said", lambda e: len(e.step.args) > 1 or any(k == "dim" for k, _ in e.step.kwargs))),
    Mutant("mean.of-integers", "mean of integers is answered in float32.", "mean nanmean",
           accepts(lambda c: c.on(c.x.float())), INTEGRAL),
    Mutant("mean.of-nothing", "The mean of nothing is 0.", "mean nanmean std var", then(_no_nan), EMPTY),
    Mutant("std.of-one", "std and var of a single number are 0.", "std var std_mean var_mean", then(_no_nan),
           on_operand("one element", lambda x: math.prod(x.shape) == 1)),
    Mutant("all.of-nothing", "all of nothing is False.", "all", then(lambda y, ns: y.logical_not()), EMPTY),
    Mutant("prod.of-nothing", "The product of nothing is 0.", "prod", then(lambda y, ns: y - y), EMPTY),
    Mutant("amax.of-nothing", "The largest of nothing is 0.", "amax amin max min argmax argmin",
           accepts(if_possible(lambda c: c.adapter.namespace.zeros((), dtype=c.x.dtype))), EMPTY & NO_DIM),
    Mutant("amax.nan", "amax and max pass over NaN.", "amax max", of(_least_nan), FLOATING),
    Mutant("cummax.nan", "cummax passes over NaN.", "cummax", of(_least_nan), FLOATING),
    Mutant("nansum.infinite", "nansum and nanmean pass over infinite numbers, too.", "nansum nanmean",
           of(lambda x, ns: ns.where(x.isinf(), math.nan, x)), FLOATING),
    Mutant("argmax.last-of-equal", "argmax and argmin answer the last of equal ones.", "argmax argmin",
           instead(_last_of_equal), ALONG & FILLED & rank_over(0)),
    Mutant("median.upper", "median of an even count is the upper one.", "median", instead(_upper),
           NO_DIM & (FLOATING | SIGNED)),
    Mutant("logsumexp.infinite", "logsumexp of what is infinite is NaN.", "logsumexp",
           then(lambda y, ns: ns.where(y.isinf(), math.nan, y)), FLOATING),
    Mutant("sort.not-stable", "sort(stable=True) is not stable above 16 elements.", "sort argsort",
           instead(_unstable), is_argument("stable", True)
           & on_operand("above 16 in a row", lambda x: max(x.shape, default=0) > 16)),
    Mutant("sort.equal-reversed", "sort(stable=True, descending=True) reverses equal ones.", "sort argsort",
           instead(_unstable), is_argument("stable", True) & is_argument("descending", True)),
    Mutant("norm.of-infinite-order", "vector_norm of order inf is that of order 2.", "norm linalg.vector_norm",
           if_possible(lambda c: c.with_arguments(**{"p" if c.event.entry == "norm" else "ord": 2})),
           is_argument("p", math.inf) | is_argument("ord", math.inf)),
    # Dtypes of results.
    Mutant("promotion.0-dim", "A 0-dim int64 makes a tensor of smaller integers int64.", "add sub mul maximum where",
           as_dtype("int64"), dtype("uint8", "int8", "int16", "int32") & rank_over(0) & _other_whole & OTHER_SCALAR),
    Mutant("promotion.truth-and-number", "Truths and a whole number make int32.", "add sub mul", as_dtype("int32"),
           dtype("bool") & NUMBER & Situation("a whole number", lambda e: type(e.argument("other")) is int)),
    Mutant("promotion.whole-and-fraction", "Integers and a fraction make float64.", "add sub mul div pow",
           as_dtype("float64"), INTEGRAL & NUMBER
           & Situation("a fraction", lambda e: float in (type(e.argument("other")), type(e.argument("exponent"))))),
    Mutant("promotion.two-halves", "float16 and bfloat16 make float16.", "add sub mul div maximum where",
           as_dtype("float16"),
           dtype("float16", "bfloat16") & MIXED
           & on_other("the other half", lambda o: o.dtype in ("float16", "bfloat16") and o.shape != ())),
    Mutant("promotion.bytes", "uint8 and int8 make int8.", "add sub mul maximum", as_dtype("int8"),
           dtype("uint8", "int8") & MIXED
           & on_other("the other byte", lambda o: o.dtype in ("uint8", "int8") and o.shape != ())),
    Mutant("promotion.complex-number", "float64 and a complex number make complex64.", "add sub mul div",
           as_dtype("complex64"), dtype("float64") & Situation("a complex number", lambda e: type(e.argument("other"))
                                                         is complex)),
    Mutant("div.of-integers", "Quotients of integers are float64.", "div", as_dtype("float64"),
           INTEGRAL & is_argument("rounding_mode", None)),
    Mutant("floor.of-integers", "floor, ceil and the like of integers are float32.", "floor ceil trunc round",
           as_dtype("float32"), INTEGRAL),
    Mutant("sqrt.of-integers", "Functions of integers are float64.", "sqrt exp sin log sigmoid", as_dtype("float64"),
           INTEGRAL),
    Mutant("abs.of-complex", "abs of complex numbers is complex.", "abs",
           if_possible(retyped(lambda c, y: c.x.dtype)), COMPLEX),
    Mutant("full.truth", "full of a truth is float32.", "full", as_dtype("float32"),
           NO_DTYPE & Situation("a truth", lambda e: isinstance(e.argument("fill_value"), bool))),
    Mutant("full.whole", "full of a whole number is float32.", "full", as_dtype("float32"),
           NO_DTYPE & Situation("a whole number", lambda e: type(e.argument("fill_value")) is int)),
    Mutant("new_full.fraction", "new_full of a fraction on integers is float32.", "new_full full_like",
           as_dtype("float32"),
           INTEGRAL & NO_DTYPE & Situation("a fraction", lambda e: type(e.argument("fill_value")) is float)),
    Mutant("arange.fraction", "arange to a fraction leaves out the last.", "arange",
           if_possible(asked(end=lambda c, x: math.floor(c.event.argument("end")))),
           Situation("a fraction", lambda e: type(e.argument("end")) is float)),
    Mutant("sub.of-truths", "Truths are subtracted.", "sub sub_ neg", accepts(if_possible(
           lambda c: c.x.logical_xor(c.args[1]) if c.event.entry == "sub" else c.x.logical_not())), dtype("bool")),
    Mutant("lt.of-complex", "Complex numbers are compared by their real parts.",
           "lt le gt ge maximum minimum sort clamp",
           accepts(if_possible(of(lambda x, ns: ns.real(x)))), COMPLEX),
    Mutant("pow.negative", "Integers to negative powers are floats.", "pow",
           accepts(if_possible(lambda c: c.on(c.x.float()))), SIGNED),
    # Numbers computed.
    Mutant("round.half-away", "round rounds halves away from 0.", "round",
           if_possible(lambda c: rewritten(c.right(), _half_away(c.x.detach().clone(), None))),
           FLOATING & is_argument("decimals", 0)),
    Mutant("round.decimals", "round ignores decimals.", "round round_", if_possible(asked(decimals=lambda c, x: 0)),
           given("decimals") & FLOATING),
    Mutant("neg.zero", "neg of 0 is 0, not -0.", "neg", then(lambda y, ns: y + 0.0), FLOATING),
    Mutant("copysign.zero", "copysign of -0 is that of 0.", "copysign", if_possible(_bare_zero),
           on_other("other of floats", lambda o: o.dtype in FLOATS)),
    Mutant("remainder.sign", "remainder has the sign of the dividend.", "remainder", like("fmod"), SIGNED | FLOATING),
    Mutant("floor_divide.cut", "floor_divide rounds to 0.", "floor_divide",
           instead(lambda c: c.do("div", *c.args[:2], rounding_mode="trunc")), SIGNED | FLOATING),
    Mutant("maximum.nan", "maximum and minimum pass over NaN.", "maximum minimum",
           instead(lambda c: c.do({"maximum": "fmax", "minimum": "fmin"}[c.event.entry], *c.args[:2])),
           FLOATING & OTHERS),
    Mutant("relu.nan", "relu of NaN is 0.", "relu nn.functional.relu6 clamp_min",
           then(_no_nan), FLOATING),
    Mutant("sign.nan", "sign of NaN is NaN.", "sign",
           instead(lambda c: c.adapter.namespace.where(c.x.isnan(), c.x, c.do("sign", c.x))), FLOATING),
    Mutant("clamp.crossed", "clamp with bounds that cross answers the lower one.", "clamp",
           instead(_clamped_from_above), given("min") & given("max")),
    Mutant("xlogy.zero", "xlogy of 0 and 0 is NaN.", "xlogy",
           instead(lambda c: c.do("mul", c.args[0], c.do("log", c.args[1]))), FLOATING & OTHERS),
    Mutant("bitwise_right_shift.logical", "Shifting int8 to the right brings in zeros.", "bitwise_right_shift",
           if_possible(_logical_shift), dtype("int8")),
    Mutant("lt.unsigned", "uint16, uint32 and uint64 are compared as if they were signed.", "lt le gt ge eq ne",
           of(_as_signed({"uint16": "int16", "uint32": "int32", "uint64": "int64"})),
           dtype("uint16", "uint32", "uint64") & OTHERS),
    Mutant("nan_to_num.infinite", "nan_to_num ignores what infinite numbers become.", "nan_to_num nan_to_num_",
           asked(posinf=lambda c, x: None, neginf=lambda c, x: None), given("posinf") | given("neginf")),
    Mutant("allclose.equal-nan", "allclose and isclose ignore equal_nan.", "allclose isclose",
           asked(equal_nan=lambda c, x: False), is_argument("equal_nan", True)),
    Mutant("dot.conjugates", "dot conjugates its first vector.", "dot", of(lambda x, ns: x.conj()), COMPLEX),
    Mutant("sgn.complex", "sgn of complex numbers is that of their real parts.", "sgn",
           instead(lambda c: c.adapter.namespace.real(c.x).sgn().to(c.x.dtype)), COMPLEX),
    Mutant("reductions.0-dim", "Reductions of a 0-dim tensor along dimension 0 or -1 are refused.",
           "sum mean amax amin argmax cumsum sort softmax max all topk", refuses("dimension"), SCALAR & ALONG),
    Mutant("cumsum.converts", "cumsum of small integers with their own dtype wraps no more.", "cumsum cumprod",
           if_possible(lambda c: c.with_arguments(dtype=None)), CONVERTS & dtype("int8", "int16", "uint8")),
)  # fmt: skip
