"""The elementwise operators that follow from a table of `Op`s: one function and one in place made of each."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import pointwise_ops
from .arithmetic import abs as absolute
from .arithmetic import mul
from .copies import clone
from .core import TensorBase, array, check_inplace, check_overlap, check_tensors, fresh, values, written
from .dtype_view import imag, real
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .grad_mode import no_grad
from .out import check_out, write_out, write_over
from .output_layout import output_strides, preserved_strides
from .parsing import parsed
from .pointwise import Op, apply, apply_, check_operands
from .shadow import marks_of, stamp

if TYPE_CHECKING:
    from .tensors import Tensor

Function = Callable[..., Any]


def sigmoid_values(a: Any) -> Any:
    """`sigmoid` of an array."""
    return 1 / (1 + np.exp(-a))


def _sign(a: Any) -> Any:
    if a.dtype.kind == "b":
        return a
    # Zero for a NaN, too.
    return (a > 0).astype(a.dtype) - (a < 0).astype(a.dtype)


def _sgn(a: Any) -> Any:
    if a.dtype.kind != "c":
        return _sign(a)
    size = np.abs(a)
    return np.where(size == 0, 0, a / np.where(size == 0, 1, size))


def _identity_for_ints(f: Function) -> Function:
    return lambda a: f(a) if a.dtype.kind in "fcV" else a


def erf_values(a: Any) -> Any:
    """`erf` of an array."""
    return np.vectorize(math.erf, otypes=[np.float64])(a)


def _logical(f: Function) -> Function:
    return lambda *arrays: f(*[a != 0 for a in arrays])


def _bitwise_not(a: Any) -> Any:
    return np.invert(a)


def _isinf(a: Any) -> Any:
    return np.isinf(a) if a.dtype.kind in "fc" else np.zeros(a.shape, np.bool_)


def _isnan(a: Any) -> Any:
    return np.isnan(a) if a.dtype.kind in "fc" else np.zeros(a.shape, np.bool_)


def _isfinite(a: Any) -> Any:
    return np.isfinite(a) if a.dtype.kind in "fc" else np.ones(a.shape, np.bool_)


def _to_float(name: str, f: Function, groups: str = "fc", *, exact: bool = False, **special: Any) -> Op:
    return Op(name, f, groups, result="float", exact=exact, exact_complex=False, **special)


_TO_FLOAT: dict[str, Function] = {
    "rsqrt": lambda a: 1 / np.sqrt(a), "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "tanh": np.tanh, "sigmoid": sigmoid_values,
}  # fmt: skip
_UNARY: dict[str, Op] = {name: _to_float(name, f) for name, f in _TO_FLOAT.items()} | {
    # Of these it alone is smooth: beside a jump at zero a tolerance is no help.
    "sqrt": _to_float("sqrt", np.sqrt, smooth=True, ends_at_zero=True),
    "sinh": _to_float("sinh", np.sinh, halves=True),
    "cosh": _to_float("cosh", np.cosh, halves=True),
    "reciprocal": _to_float("reciprocal", np.reciprocal, exact=True),
    "erf": _to_float("erf", erf_values, "f", short_magnitude=4.0),
    "floor": Op("floor", _identity_for_ints(np.floor), "iuf"),
    "ceil": Op("ceil", _identity_for_ints(np.ceil), "iuf"),
    "trunc": Op("trunc", _identity_for_ints(np.trunc), "iuf"),
    "round": Op("round", _identity_for_ints(np.rint), "iuf"),
    "frac": Op("frac", lambda a: a - np.trunc(a), "f"),
    "sign": Op("sign", _sign, "bif"),
    "sgn": Op("sgn", _sgn, "bifch", exact_complex=False),
    "isnan": Op("isnan", _isnan, "bifchu8e", result="bool"),
    "isinf": Op("isinf", _isinf, "bifchu8e", result="bool"),
    "isfinite": Op("isfinite", _isfinite, "bifchu8e", result="bool"),
    "bitwise_not": Op("bitwise_not", _bitwise_not, "bi"),
    "logical_not": Op("logical_not", _logical(np.logical_not), "bifc", result="bool", tracked=False),
}


def refuse_zero_divisors(name: str, a: Any, b: Any) -> None:
    """Refuse to divide integers by zero. Raises: argument (RuntimeError)."""
    if b.dtype.kind in "iu" and a.size and not np.all(b):
        raise LayoutError("argument", f"{name}: an integer is divided by zero")


def _remainder(a: Any, b: Any) -> Any:
    refuse_zero_divisors("remainder", a, b)
    if a.dtype.kind in "iu":
        return np.remainder(a, b)
    r = np.fmod(a, b)
    return np.where((r != 0) & ((b < 0) != (r < 0)), r + b, r)


def _fmod(a: Any, b: Any) -> Any:
    refuse_zero_divisors("fmod", a, b)
    return np.fmod(a, b)


def _quotient_overflows(a: Any, b: Any) -> Any:
    """Whole registers divide before they subtract: NaN where the quotient is more than the dtype holds."""
    return np.isfinite(a) & (b != 0) & np.isinf(a / b)


_COMPARE: dict[str, tuple[Function, str]] = {
    "eq": (np.equal, "bifchu8e4"), "ne": (np.not_equal, "bifchu8e4"), "lt": (np.less, "bif"),
    "le": (np.less_equal, "bif"), "gt": (np.greater, "bif"), "ge": (np.greater_equal, "bif"),
}  # fmt: skip
BINARY: dict[str, Op] = {n: Op(n, f, g, result="bool") for n, (f, g) in _COMPARE.items()} | {
    "logical_and": Op("logical_and", _logical(np.logical_and), "bifc", result="bool", tracked=False),
    "logical_or": Op("logical_or", _logical(np.logical_or), "bifc", result="bool", tracked=False),
    "logical_xor": Op("logical_xor", _logical(np.logical_xor), "bifc", result="bool", tracked=False),
    "bitwise_and": Op("bitwise_and", np.bitwise_and, "biu"),
    "bitwise_or": Op("bitwise_or", np.bitwise_or, "biu"),
    "bitwise_xor": Op("bitwise_xor", np.bitwise_xor, "biu"),
    "maximum": Op("maximum", np.maximum, "bif", smooth=True, refusal="ch", loose_zero=True),
    "minimum": Op("minimum", np.minimum, "bif", smooth=True, refusal="ch", loose_zero=True),
    "fmod": Op("fmod", _fmod, "if", divides=True, exact_short=False, unknown=_quotient_overflows),
    "remainder": Op("remainder", _remainder, "if", divides=True, exact_short=False, unknown=_quotient_overflows),
    "atan2": Op("atan2", np.arctan2, "f", result="float", exact=False),
}


# Operators that take a number on the left of a tensor.
_NUMBER_FIRST = frozenset(("remainder", "bitwise_and", "bitwise_or", "bitwise_xor", "pow"))
# Operators that refuse complex numbers before they look at where the result is to go.
_REAL_FIRST = frozenset(("floor", "ceil", "trunc", "sign"))
_TENSORS_ONLY = frozenset(("logical_and", "logical_or", "logical_xor", "maximum", "minimum", "atan2"))


def _named(f: Function, name: str, doc: str) -> Function:
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _make_unary(op: Op) -> tuple[Function, Function]:
    def out_of_place(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
        check_operands(op.name, (input,))
        if input.dtype.is_complex and op.name in _REAL_FIRST:
            if out is not None:
                check_out(out, input)
            op.check(input.dtype)
        return apply(op, (input,), out)

    def in_place(input: "Tensor") -> "Tensor":
        if input.dtype.is_complex and op.name in _REAL_FIRST:
            check_inplace(input)
            op.check(input.dtype)
        return apply_(op, input, ())

    doc = f"Elementwise `{op.name}`. Raises: dtype. Source: facts 4.3.10, torch 2.13."
    return _named(out_of_place, op.name, doc), _named(in_place, op.name + "_", doc + " In place.")


def _make_binary(op: Op) -> tuple[Function, Function]:
    def out_of_place(input: Any, other: Any, *, out: "Tensor | None" = None) -> "Tensor":
        check_operands(op.name, (input, other))
        if op.name in _TENSORS_ONLY:
            check_tensors(op.name, input, other)
        elif not isinstance(input, TensorBase) and not (op.name in _NUMBER_FIRST and isinstance(other, TensorBase)):
            check_tensors(op.name, input)
        elif out is not None and op.name != "pow" and not isinstance(input, TensorBase):
            raise LayoutTypeError("argument", f"{op.name}: no out for a number and a tensor")
        return apply(op, (input, other), out)

    def in_place(self: "Tensor", other: Any) -> "Tensor":
        check_operands(op.name, (self, other))
        if op.name in _TENSORS_ONLY and not isinstance(other, TensorBase):
            raise LayoutTypeError("argument", f"{op.name}_: other must be a Tensor, got {type(other).__name__}")
        return apply_(op, self, (other,))

    doc = f"Elementwise `{op.name}` of two operands. Raises: broadcast, dtype. Source: facts 4.3.10, torch 2.13."
    return _named(out_of_place, op.name, doc), _named(in_place, op.name + "_", doc + " In place.")


_MADE: dict[str, tuple[Function, Function]] = {n: _make_unary(op) for n, op in _UNARY.items()} | {
    n: _make_binary(op) for n, op in BINARY.items()
}

sqrt, sqrt_ = _MADE["sqrt"]
rsqrt, rsqrt_ = _MADE["rsqrt"]
exp, exp_ = _MADE["exp"]
exp2, exp2_ = _MADE["exp2"]
expm1, expm1_ = _MADE["expm1"]
log, log_ = _MADE["log"]
log2, log2_ = _MADE["log2"]
log10, log10_ = _MADE["log10"]
log1p, log1p_ = _MADE["log1p"]
sin, sin_ = _MADE["sin"]
cos, cos_ = _MADE["cos"]
tan, tan_ = _MADE["tan"]
asin, asin_ = _MADE["asin"]
acos, acos_ = _MADE["acos"]
atan, atan_ = _MADE["atan"]
sinh, sinh_ = _MADE["sinh"]
cosh, cosh_ = _MADE["cosh"]
tanh, tanh_ = _MADE["tanh"]
sigmoid, sigmoid_ = _MADE["sigmoid"]
erf, erf_ = _MADE["erf"]
reciprocal, reciprocal_ = _MADE["reciprocal"]
floor, floor_ = _MADE["floor"]
ceil, ceil_ = _MADE["ceil"]
trunc, trunc_ = _MADE["trunc"]
frac, frac_ = _MADE["frac"]
sign, sign_ = _MADE["sign"]
sgn, sgn_ = _MADE["sgn"]
bitwise_not, bitwise_not_ = _MADE["bitwise_not"]
logical_not, logical_not_ = _MADE["logical_not"]
eq, eq_ = _MADE["eq"]
ne, ne_ = _MADE["ne"]
lt, lt_ = _MADE["lt"]
le, le_ = _MADE["le"]
gt, gt_ = _MADE["gt"]
ge, ge_ = _MADE["ge"]
logical_and, logical_and_ = _MADE["logical_and"]
logical_or, logical_or_ = _MADE["logical_or"]
logical_xor, logical_xor_ = _MADE["logical_xor"]
bitwise_and, bitwise_and_ = _MADE["bitwise_and"]
bitwise_or, bitwise_or_ = _MADE["bitwise_or"]
bitwise_xor, bitwise_xor_ = _MADE["bitwise_xor"]
maximum, _ = _MADE["maximum"]
minimum, _ = _MADE["minimum"]
fmod, fmod_ = _MADE["fmod"]
remainder, remainder_ = _MADE["remainder"]
atan2, atan2_ = _MADE["atan2"]


def isinf(input: "Tensor") -> "Tensor":
    """Whether elements are infinite. Source: facts 4.3.10, torch 2.13."""
    if input.dtype.is_complex:
        # The two parts' answers are combined in place, below where versions are counted.
        combined: Tensor = bitwise_or_(_classified(real(input), _isinf), _classified(imag(input), _isinf))
        combined._versions[0] = 0
        return combined
    return _classified(input, _isinf)


def isfinite(input: "Tensor") -> "Tensor":
    """Whether elements are neither infinite nor NaN. Source: facts 4.3.10, torch 2.13."""
    if input.dtype.is_complex:
        # PyTorch combines the two parts' answers in place.
        combined: Tensor = bitwise_and_(_classified(real(input), _isfinite), _classified(imag(input), _isfinite))
        return combined
    return _classified(input, _isfinite)


def _classified(input: "Tensor", f: Function) -> "Tensor":
    if input.dtype.category in ("bool", "int") or (f is _isfinite and input.dtype is dt.float8_e8m0fnu):
        # What has no infinity is answered without looking, like `ones_like`; even a NaN of e8m0 is finite (torch 2.13).
        shape, strides, _ = input._layout
        result = fresh(shape, preserved_strides(shape, strides), dt.bool_)
        array(result)[...] = f(np.zeros(shape, np.int64))
        return result
    if input.dtype in dt.FLOAT8 and input.dtype is not dt.float8_e5m2:
        raise UnsupportedError("dtype", f"isinf, isfinite: PyTorch has no kernel for {input.dtype}")
    if f is _isinf:
        with no_grad():  # isinf itself has no gradient, and asks for no history
            made: Tensor = eq(absolute(input), math.inf)
        return made
    return mul(eq(input, input), ne(absolute(input), math.inf))


@parsed(given_only="decimals")
def round(input: "Tensor", *, decimals: int | None = None, out: "Tensor | None" = None) -> "Tensor":
    """Rounded to the nearest integer, halves to even; to decimals, even none of them, only floats are.

    Raises: dtype. Source: facts 4.3.10, torch 2.13.
    """
    return apply(_UNARY["round"] if decimals is None else _rounding(decimals), (input,), out)


def special_round(input: "Tensor", *, decimals: int = 0, out: "Tensor | None" = None) -> "Tensor":
    """`round` to decimals, none by default. Raises: as it."""
    return round(input, decimals=decimals, out=out)


def round_(input: "Tensor", *, decimals: int | None = None) -> "Tensor":
    """`round` in place. Raises: grad, overlap, dtype."""
    return apply_(_UNARY["round"] if decimals is None else _rounding(decimals), input, ())


def _rounding(decimals: int) -> Op:
    scale = 10.0**decimals
    # Halves that only rounding made may fall either way.
    return Op("round", lambda a: np.rint(a * scale) / scale, "f", exact=False, exact_short=False)


def positive(input: "Tensor") -> "Tensor":
    """The tensor itself. Raises: dtype (RuntimeError) for bool. Source: facts 3.3.5, torch 2.13."""
    if input.dtype is dt.bool_:
        raise LayoutError("dtype", "positive: bool is refused (facts 3.3.5)")
    return input


def isnan(input: "Tensor") -> "Tensor":
    """Whether elements are NaN. Source: facts 4.3.10, torch 2.13."""
    return _MADE["isnan"][0](input)  # type: ignore[no-any-return]


def conj_physical(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """A copy of the conjugates. Source: facts 9.12, torch 2.13."""
    if not input.dtype.is_complex:
        if out is None:
            return input
        check_inplace(out, input)
        if out.dtype is not input.dtype:
            raise LayoutError("dtype", f"conj_physical: out must have the dtype {input.dtype}, got {out.dtype}")
        check_overlap(out, input)
        return write_out(out, _laid_out_anew(input), input, composed=True)
    return apply(Op("conj_physical", np.conj, "ch", like=True, composed=True), (input,), out)


def _laid_out_anew(input: "Tensor") -> "Tensor":
    """A copy in the strides of an elementwise operator's result."""
    shape = input._layout.shape
    result = fresh(shape, output_strides(shape, (input._layout[:2],)), input.dtype)
    array(result)[...] = values(input)
    stamp(result, marks_of(input))
    return result


def conj_physical_copy(input: "Tensor") -> "Tensor":
    """`conj_physical`, also of real tensors in new memory. Raises: dtype. Source: `_conj_physical`, torch 2.13."""
    return conj_physical(input) if input.dtype.is_complex else clone(input)


def conj_physical_(self: "Tensor") -> "Tensor":
    """Conjugates in place. Raises: grad, overlap. Source: torch 2.13."""
    if not self.dtype.is_complex:
        check_inplace(self)
        written(self)
        return self
    return write_over(self, pointwise_ops.conj_physical(self.detach()))
