"""The elementwise operators beyond the four basic ones, as a table of `Op`s and the functions made from it."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .arithmetic import abs as absolute
from .arithmetic import mul
from .core import TensorBase, array, check_inplace, fresh, recorded
from .dtype_view import imag, real
from .elementwise import preserved_strides
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .layout import contiguous_strides
from .out import write_out
from .pointwise import Op, apply, apply_, check_operands, operand_array
from .promotion import common_dtype

if TYPE_CHECKING:
    from .tensors import Tensor

Function = Callable[..., Any]


def _sigmoid(a: Any) -> Any:
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


def _erf(a: Any) -> Any:
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


_TO_FLOAT: dict[str, tuple[Function, bool]] = {
    "sqrt": (np.sqrt, False), "rsqrt": (lambda a: 1 / np.sqrt(a), False), "exp": (np.exp, False),
    "exp2": (np.exp2, False), "expm1": (np.expm1, False), "log": (np.log, False), "log2": (np.log2, False),
    "log10": (np.log10, False), "log1p": (np.log1p, False), "sin": (np.sin, False), "cos": (np.cos, False),
    "tan": (np.tan, False), "asin": (np.arcsin, False), "acos": (np.arccos, False), "atan": (np.arctan, False),
    "sinh": (np.sinh, False), "cosh": (np.cosh, False), "tanh": (np.tanh, False), "sigmoid": (_sigmoid, False),
    "reciprocal": (np.reciprocal, True), "erf": (_erf, False),
}  # fmt: skip
_UNARY: dict[str, Op] = {
    name: Op(
        name,
        f,
        "f" if name == "erf" else "fc",
        result="float",
        exact=exact,
        exact_complex=False,
        smooth=name in ("sqrt", "rsqrt", "reciprocal"),
    )
    for name, (f, exact) in _TO_FLOAT.items()
} | {
    "floor": Op("floor", _identity_for_ints(np.floor), "if"),
    "ceil": Op("ceil", _identity_for_ints(np.ceil), "if"),
    "trunc": Op("trunc", _identity_for_ints(np.trunc), "if"),
    "round": Op("round", _identity_for_ints(np.rint), "if"),
    "frac": Op("frac", lambda a: a - np.trunc(a), "f"),
    "sign": Op("sign", _sign, "bif"),
    "sgn": Op("sgn", _sgn, "bifc", exact_complex=False),
    "isnan": Op("isnan", _isnan, "bifchu8e", result="bool"),
    "isinf": Op("isinf", _isinf, "bifchu8e", result="bool"),
    "isfinite": Op("isfinite", _isfinite, "bifchu8e", result="bool"),
    "bitwise_not": Op("bitwise_not", _bitwise_not, "biu"),
    "logical_not": Op("logical_not", _logical(np.logical_not), "bifch", result="bool"),
}


def _true_divide(a: Any, b: Any) -> Any:
    return np.true_divide(a, b)


def _check_zero(name: str, a: Any, b: Any) -> None:
    if b.dtype.kind in "iu" and a.size and not np.all(b):
        raise LayoutError("argument", f"{name}: an integer is divided by zero")


def _floor_divide(a: Any, b: Any) -> Any:
    _check_zero("floor_divide", a, b)
    if a.dtype.kind not in "iu":
        # As C and Python: the quotient of the remainder, and the infinity of a division by zero.
        r = np.fmod(a, b)
        q = (a - r) / b
        q = np.where((r != 0) & ((r < 0) != (b < 0)), q - 1, q)
        near = np.floor(q)
        near = np.where(q - near > 0.5, near + 1, near)
        near = np.where(q == 0, np.copysign(a.dtype.type(0), a / b), near)
        return np.where(b == 0, a / b, near)
    return np.floor_divide(a, b)


def _trunc_divide(a: Any, b: Any) -> Any:
    _check_zero("div", a, b)
    if a.dtype.kind in "iu":
        q = np.floor_divide(a, b)
        inexact = (q * b != a) & ((a < 0) != (b < 0))
        return (q + inexact).astype(a.dtype)
    return np.trunc(a / b)


def _remainder(a: Any, b: Any) -> Any:
    _check_zero("remainder", a, b)
    if a.dtype.kind in "iu":
        return np.remainder(a, b)
    r = np.fmod(a, b)
    return np.where((r != 0) & ((b < 0) != (r < 0)), r + b, r)


def _fmod(a: Any, b: Any) -> Any:
    _check_zero("fmod", a, b)
    return np.fmod(a, b)


_COMPARE: dict[str, tuple[Function, str]] = {
    "eq": (np.equal, "bifchu8e"), "ne": (np.not_equal, "bifchu8e"), "lt": (np.less, "bif"),
    "le": (np.less_equal, "bif"), "gt": (np.greater, "bif"), "ge": (np.greater_equal, "bif"),
}  # fmt: skip
_BINARY: dict[str, Op] = {n: Op(n, f, g, result="bool") for n, (f, g) in _COMPARE.items()} | {
    "logical_and": Op("logical_and", _logical(np.logical_and), "bifch", result="bool"),
    "logical_or": Op("logical_or", _logical(np.logical_or), "bifch", result="bool"),
    "logical_xor": Op("logical_xor", _logical(np.logical_xor), "bifch", result="bool"),
    "bitwise_and": Op("bitwise_and", np.bitwise_and, "biu"),
    "bitwise_or": Op("bitwise_or", np.bitwise_or, "biu"),
    "bitwise_xor": Op("bitwise_xor", np.bitwise_xor, "biu"),
    "maximum": Op("maximum", np.maximum, "bif", smooth=True, refusal="ch", loose_zero=True),
    "minimum": Op("minimum", np.minimum, "bif", smooth=True, refusal="ch", loose_zero=True),
    "fmod": Op("fmod", _fmod, "if", exact_short=False),
    "remainder": Op("remainder", _remainder, "if", exact_short=False),
    "atan2": Op("atan2", np.arctan2, "f", result="float", exact=False),
}
DIV = Op("div", _true_divide, "fc", result="float", smooth=True, wide_scalar=True, exact_complex=False)
FLOOR_DIVIDE = Op("floor_divide", _floor_divide, "if", wide_scalar=True, exact_short=False)
TRUNC_DIVIDE = Op("div", _trunc_divide, "if", wide_scalar=True, exact_short=False)


def check_tensors(name: str, *operands: Any) -> None:
    """Refuse operands that are no tensors. Raises: argument (TypeError)."""
    for x in operands:
        if not isinstance(x, TensorBase):
            raise LayoutTypeError("argument", f"{name}: expected a Tensor, got {type(x).__name__}")


# Operators that take a number on the left of a tensor.
_NUMBER_FIRST = frozenset(("remainder", "bitwise_and", "bitwise_or", "bitwise_xor", "pow"))
_TENSORS_ONLY = frozenset(("logical_and", "logical_or", "logical_xor", "maximum", "minimum", "atan2"))


def _named(f: Function, name: str, doc: str) -> Function:
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _make_unary(op: Op) -> tuple[Function, Function]:
    def out_of_place(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
        check_operands(op.name, (input,))
        return apply(op, (input,), out)

    def in_place(input: "Tensor") -> "Tensor":
        if input.dtype.is_complex and op.name in ("floor", "ceil", "trunc", "sign"):
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
        return apply(op, (input, other), out)

    def in_place(self: "Tensor", other: Any) -> "Tensor":
        check_operands(op.name, (self, other))
        if op.name in _TENSORS_ONLY and not isinstance(other, TensorBase):
            raise LayoutTypeError("argument", f"{op.name}_: other must be a Tensor, got {type(other).__name__}")
        return apply_(op, self, (other,))

    doc = f"Elementwise `{op.name}` of two operands. Raises: broadcast, dtype. Source: facts 4.3.10, torch 2.13."
    return _named(out_of_place, op.name, doc), _named(in_place, op.name + "_", doc + " In place.")


_MADE: dict[str, tuple[Function, Function]] = {n: _make_unary(op) for n, op in _UNARY.items()} | {
    n: _make_binary(op) for n, op in _BINARY.items()
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
isnan, _ = _MADE["isnan"]
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
    if input.dtype.category in ("bool", "int"):
        # Integers are answered without looking: like `ones_like`.
        shape, strides, _ = input._layout
        result = fresh(shape, preserved_strides(shape, strides), dt.bool_)
        array(result)[...] = f(np.zeros(shape, np.int64))
        return result
    if f is _isinf:
        made: Tensor = eq(absolute(input), math.inf)
        return made
    return mul(eq(input, input), ne(absolute(input), math.inf))


def round(input: "Tensor", *, decimals: int = 0, out: "Tensor | None" = None) -> "Tensor":
    """Rounded to the nearest integer, halves to even. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    if decimals:
        scale = 10.0**decimals
        return apply(Op("round", lambda a: np.rint(a * scale) / scale, "f", exact=False), (input,), out)
    return apply(_UNARY["round"], (input,), out)


def round_(input: "Tensor", *, decimals: int = 0) -> "Tensor":
    """`round` in place. Raises: grad, overlap, dtype."""
    if decimals:
        raise UnsupportedError("argument", "round_: decimals are not modelled")
    return apply_(_UNARY["round"], input, ())


def _division(rounding_mode: Any) -> Op:
    if rounding_mode is None:
        return DIV
    if rounding_mode == "floor":
        return FLOOR_DIVIDE
    if rounding_mode == "trunc":
        return TRUNC_DIVIDE
    raise LayoutError("argument", f"div: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}")


def div(input: Any, other: Any, *, rounding_mode: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """`input / other`, rounded where asked. Raises: broadcast, dtype, argument. Source: facts 4.3, torch 2.13."""
    check_operands("div", (input, other))
    return apply(_division(rounding_mode), (input, other), out)


def div_(self: "Tensor", other: Any, *, rounding_mode: Any = None) -> "Tensor":
    """`div` in place. Raises: grad, overlap, broadcast, dtype, argument. Source: facts 5, torch 2.13."""
    check_operands("div_", (self, other))
    return apply_(_division(rounding_mode), self, (other,))


def rdiv(input: "Tensor", other: Any) -> "Tensor":
    """`other / input`, as a product with the reciprocal. Raises: dtype. Source: torch 2.13, Tensor.__rdiv__."""
    made: Tensor = reciprocal(input)
    return made.mul(other)


def floor_divide(input: Any, other: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`floor(input / other)`. Raises: broadcast, dtype, argument (integer division by zero). Source: torch 2.13."""
    check_operands("floor_divide", (input, other))
    return apply(FLOOR_DIVIDE, (input, other), out)


def floor_divide_(self: "Tensor", other: Any) -> "Tensor":
    """`floor_divide` in place. Raises: grad, overlap, broadcast, dtype, argument."""
    return apply_(FLOOR_DIVIDE, self, (other,))


def rfloor_divide(input: "Tensor", other: Any) -> "Tensor":
    """`floor(other / input)`."""
    return apply(FLOOR_DIVIDE, (other, input))


def rremainder(input: "Tensor", other: Any) -> "Tensor":
    """`other % input`."""
    return apply(_BINARY["remainder"], (other, input))


def square(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`pow(input, 2)`."""
    return pow(input, 2, out=out)


def square_(input: "Tensor") -> "Tensor":
    """`square` in place."""
    return pow_(input, 2)


def _power(a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        negative = b < 0
        if not np.any(negative):
            return np.power(a, b)
        base = np.power(a, np.where(negative, 0, b))
        one = np.where(a == 1, 1, np.where(a == -1 if a.dtype.kind == "i" else False, np.where(b % 2 == 0, 1, -1), 0))
        return np.where(negative, one, base).astype(a.dtype)
    if a.dtype.kind == "c":
        # Powers of a complex zero depend on the vector width; what is not finite is left unspecified.
        return np.where(a == 0, np.nan, np.power(a, b))
    return np.power(a, b)


def _power_of(exponent: Any) -> Op:
    def compute(a: Any) -> Any:
        if a.dtype.kind in "iu":
            if exponent < 0:
                raise LayoutError("argument", "pow: integers to negative integer powers are not allowed")
            return np.power(a, np.array(exponent).astype(a.dtype))
        if exponent == 2:
            return a * a
        if exponent == 0.5:
            return np.sqrt(a)
        if exponent == -1:
            return 1 / a
        if exponent == 1:
            return a
        if a.dtype.kind == "b":
            return np.ones(a.shape, np.bool_)
        if exponent == 3:
            return a * a * a
        return np.power(a, np.array(exponent).astype(a.dtype))

    groups = "bifc" if exponent is True or exponent is False else "ifc"
    return Op(
        "pow",
        compute,
        groups,
        exact=exponent in (0, 1, 2, -1),
        exact_complex=exponent in (0, 1),
        smooth=exponent in (1, 2, -1, 0.5),
    )


_POW = Op("pow", _power, "ifc", exact=False)


def pow(input: Any, exponent: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`input ** exponent`. Raises: broadcast, dtype, argument. Source: facts 4.3.10, torch 2.13."""
    if not isinstance(input, TensorBase):
        check_tensors("pow", exponent)
        if out is None:
            return rpow(exponent, input)
    if isinstance(exponent, TensorBase) or not isinstance(input, TensorBase):
        return apply(_POW, (input, exponent), out)
    if isinstance(exponent, int) and exponent < 0 and input.dtype.category == "int":
        raise LayoutError("argument", "pow: integers to negative integer powers are not allowed")
    return _with_scalars(_power_of(exponent), input, (exponent,), out)


def _with_scalars(op: Op, input: Any, scalars: tuple[Any, ...], out: "Tensor | None") -> "Tensor":
    # Numbers that belong to the operator decide the dtype, yet are no operands for the layout.
    common = common_dtype(input, *scalars)
    source = input
    if common is not input.dtype:
        from .copies import to_copy

        source = to_copy(input, common)
    result = apply(op, (source,))
    result._has_fn = False
    return write_out(out, recorded(result, input), input)


def pow_(self: "Tensor", exponent: Any) -> "Tensor":
    """`pow` in place. Raises: grad, overlap, broadcast, dtype, argument."""
    if isinstance(exponent, TensorBase):
        return apply_(_POW, self, (exponent,))
    common = common_dtype(self, exponent)
    from .promotion import can_cast

    check_inplace(self)
    if not can_cast(common, self.dtype):
        raise LayoutError("dtype", f"pow_: a {common} result cannot be cast to {self.dtype} (facts 4.3.8)")
    return apply_(_power_of(exponent), self, ())


def rpow(input: "Tensor", other: Any) -> "Tensor":
    """`other ** input`, row-major for a number."""
    if isinstance(other, TensorBase):
        return apply(_POW, (other, input))
    computed = apply(_POW, (other, input))
    shape = input._layout.shape
    result = fresh(shape, contiguous_strides(shape), computed.dtype)
    array(result)[...] = array(computed)
    shadow.stamp(result, shadow.marks_of(computed))
    return recorded(result, input)


def clamp(input: "Tensor", min: Any = None, max: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Elements kept between two bounds. Raises: argument, dtype, broadcast. Source: facts 4.3.10, torch 2.13."""
    check_tensors("clamp", input)
    bounds = _bounds(min, max)
    op = _clamp_op(min is not None, max is not None)
    if any(isinstance(b, TensorBase) for b in bounds):
        return apply(op, (input, *bounds), out)
    if input.dtype.is_complex or (input.dtype is dt.bool_ and all(isinstance(b, bool) for b in bounds)):
        raise UnsupportedError("dtype", f"clamp: PyTorch has no kernel for {input.dtype}")
    common = common_dtype(input, *bounds)
    fixed = [operand_array(b, common) for b in bounds]
    inner = Op("clamp", lambda a: op.compute(a, *[b.astype(a.dtype) for b in fixed]), "bif", smooth=True)
    return _with_scalars(inner, input, bounds, out)


def _bounds(min: Any, max: Any) -> tuple[Any, ...]:
    if min is None and max is None:
        raise LayoutError("argument", "clamp: at least one of min and max must be given")
    return tuple([b for b in (min, max) if b is not None])


def _clamp_op(low: bool, high: bool) -> Op:
    def compute(a: Any, *bounds: Any) -> Any:
        rest = list(bounds)
        if low:
            b = rest.pop(0)
            a = np.where((a < b) | np.isnan(b) if b.dtype.kind == "f" else a < b, b, a)
        if high:
            b = rest.pop(0)
            a = np.where((a > b) | np.isnan(b) if b.dtype.kind == "f" else a > b, b, a)
        return a

    return Op("clamp", compute, "bif", smooth=True)


def clamp_(input: "Tensor", min: Any = None, max: Any = None) -> "Tensor":
    """`clamp` in place. Raises: grad, overlap, dtype, argument."""
    bounds = _bounds(min, max)
    if input.dtype.is_complex:
        raise UnsupportedError("dtype", f"clamp: PyTorch has no kernel for {input.dtype}")
    return apply_(_clamp_op(min is not None, max is not None), input, bounds)


def clamp_min(input: "Tensor", min: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`clamp(min=min)`."""
    return clamp(input, min, None, out=out)


def clamp_max(input: "Tensor", max: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`clamp(max=max)`."""
    return clamp(input, None, max, out=out)


def clamp_min_(input: "Tensor", min: Any) -> "Tensor":
    """`clamp_(min=min)`."""
    return clamp_(input, min, None)


def clamp_max_(input: "Tensor", max: Any) -> "Tensor":
    """`clamp_(max=max)`."""
    return clamp_(input, None, max)


def positive(input: "Tensor") -> "Tensor":
    """The tensor itself. Raises: dtype (RuntimeError) for bool. Source: facts 3.3.5, torch 2.13."""
    if input.dtype is dt.bool_:
        raise LayoutError("dtype", "positive: bool is refused (facts 3.3.5)")
    return input


def conj_physical(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """A copy of the conjugates. Source: facts 9.12, torch 2.13."""
    if not input.dtype.is_complex:
        return input if out is None else write_out(out, input)
    return apply(Op("conj_physical", np.conj, "c", like=True), (input,), out)
