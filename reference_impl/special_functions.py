"""Elementwise functions beyond the common ones: hyperbolic inverses, logarithms of sums, and `torch.special`.

What NumPy does not compute has the right layout, dtype and errors here, and unspecified values.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .constructors import empty_like
from .copies import change_in_copy, fill_
from .core import (
    TensorBase,
    as_int,
    check_inplace,
    fresh,
    from_array,
    recorded,
    values,
    written,
)
from .dtype_view import imag
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .grad_mode import no_grad
from .layout import contiguous_strides
from .out import write_out
from .output_layout import output_strides, preserved_strides
from .pointwise import Op, apply, apply_, check_operands
from .pointwise_ops import eq
from .promotion import can_cast, common_dtype
from .results import check_real_gradient

if TYPE_CHECKING:
    from .tensors import Tensor

Function = Callable[..., Any]


def _each(f: Callable[[float], float]) -> Function:
    def guarded(x: float) -> float:
        try:
            return f(x)
        except (ValueError, OverflowError):
            # Poles and arguments outside the domain.
            return math.inf if x == x else x

    return lambda a: np.vectorize(guarded, otypes=[np.float64])(a)


def _sinc(a: Any) -> Any:
    return np.sinc(a)


def _heaviside(a: Any, b: Any) -> Any:
    # 0 for a NaN, too.
    return np.where(a == 0, b, (a > 0).astype(a.dtype))


def _xlogy(a: Any, b: Any, log: Function = np.log) -> Any:
    return np.where(np.isnan(b), np.nan, np.where(a == 0, 0, a * log(b)))


def _shift_left(a: Any, b: Any) -> Any:
    bits = 8 * a.dtype.itemsize
    return np.where((b < 0) | (b >= bits), 0, np.left_shift(a, np.clip(b, 0, bits - 1))).astype(a.dtype)


def _shift_right(a: Any, b: Any) -> Any:
    # What is shifted too far leaves the sign, nothing of an unsigned number.
    bits = 8 * a.dtype.itemsize
    far = (b < 0) | (b >= bits)
    kept = np.right_shift(a, np.where(far, bits - 1, b).astype(a.dtype))
    return kept if a.dtype.kind == "i" else np.where(far, 0, kept).astype(a.dtype)


def _logaddexp(a: Any, b: Any) -> Any:
    if a.dtype.kind != "c":
        return np.logaddexp(a, b)
    top = np.where(a.real >= b.real, a, b)
    return np.log(np.exp(a - top) + np.exp(b - top)) + top


def _nothing(*arrays: Any) -> Any:
    return np.zeros(np.broadcast_shapes(*[np.shape(a) for a in arrays]), arrays[0].dtype)


_UNARY: dict[str, tuple[Function, str, str]] = {
    "acosh": (np.arccosh, "fc", "float"), "asinh": (np.arcsinh, "fc", "float"), "atanh": (np.arctanh, "fc", "float"),
    "erfc": (_each(math.erfc), "f", "float"), "lgamma": (_each(math.lgamma), "f", "float"),
    "i0": (np.i0, "f", "float"), "sinc": (_sinc, "fc", "float"),
    "signbit": (np.signbit, "bifu", "bool"),
    "isneginf": (lambda a: a == -np.inf, "bifu", "bool"), "isposinf": (lambda a: a == np.inf, "bifu", "bool"),
    "rad2deg": (np.rad2deg, "f", "float"), "deg2rad": (np.deg2rad, "f", "float"),
}  # fmt: skip
_REFUSED = {"isneginf": "ch", "isposinf": "ch", "rad2deg": "ch", "deg2rad": "ch", "fmax": "ch", "fmin": "ch",
            "heaviside": "ch"}  # fmt: skip
_UNKNOWN_SHORT = ("digamma", "erfinv", "special_ndtr", "special_i0e", "special_i1", "special_i1e", "special_entr")
_UNKNOWN = (
    "special_ndtri", "special_log_ndtr", "special_erfcx", "special_bessel_j0", "special_bessel_j1",
    "special_bessel_y0", "special_bessel_y1", "special_modified_bessel_i0", "special_modified_bessel_i1",
    "special_modified_bessel_k0", "special_modified_bessel_k1", "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1", "special_spherical_bessel_j0", "special_airy_ai",
)  # fmt: skip
_BINARY: dict[str, tuple[Function, str, str]] = {
    "copysign": (np.copysign, "f", "float"), "fmax": (np.fmax, "bif", "same"), "fmin": (np.fmin, "bif", "same"),
    "gcd": (np.gcd, "i", "same"), "lcm": (np.lcm, "i", "same"), "heaviside": (_heaviside, "bif", "same"),
    "hypot": (np.hypot, "f", "same"), "logaddexp": (_logaddexp, "fc", "same"),
    "logaddexp2": (np.logaddexp2, "f", "same"),
    "xlogy": (_xlogy, "f", "float"), "special_xlog1py": (lambda a, b: _xlogy(a, b, np.log1p), "f", "float"),
    "bitwise_left_shift": (_shift_left, "i", "same"), "bitwise_right_shift": (_shift_right, "i", "same"),
}  # fmt: skip
_EXACT = frozenset(
    ("signbit", "isneginf", "isposinf", "copysign", "fmax", "fmin", "gcd", "lcm", "heaviside",
     "bitwise_left_shift", "bitwise_right_shift")
)  # fmt: skip
_POLYNOMIALS = tuple(
    f"special_{kind}"
    for kind in (
        "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
        "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
        "shifted_chebyshev_polynomial_w", "zeta",
    )
)  # fmt: skip


_WITHOUT_GRADIENT = frozenset((*_UNKNOWN, *_POLYNOMIALS)) - {
    "special_ndtri", "special_log_ndtr", "special_erfcx", "special_zeta",
}  # fmt: skip


class _Wide(Op):
    """An operator without kernels for the short floats."""

    def check(self, common: dt.dtype) -> None:
        """Refuse a dtype that PyTorch has no kernel for. Raises: dtype."""
        if common in (dt.float16, dt.bfloat16):
            raise UnsupportedError("dtype", f"{self.name}: PyTorch has no kernel for {common}")
        super().check(common)


_OPS: dict[str, tuple[Op, bool]] = {
    name: (
        Op(
            name,
            f,
            groups,
            result=result,
            exact=name in _EXACT,
            refusal=_REFUSED.get(name, ""),
            like=name in ("rad2deg", "deg2rad"),
            loose_zero=name in ("fmax", "fmin"),
            reads_signs=name in ("signbit", "copysign"),
            composed=name == "heaviside",
            truth_only=result == "bool",
        ),
        True,
    )
    for name, (f, groups, result) in (_UNARY | _BINARY).items()
}
_OPS |= {
    name: (Op(name, _nothing, "f", result="float", composed=name == "special_ndtr"), False) for name in _UNKNOWN_SHORT
}
_OPS |= {name: (_Wide(name, _nothing, "f", result="float"), False) for name in (*_UNKNOWN, *_POLYNOMIALS)}
_OPS |= {name: (Op(name, _nothing, "f"), False) for name in ("igamma", "igammac")}

_NUMBER_FIRST = frozenset(("xlogy", "special_xlog1py", "bitwise_left_shift", "bitwise_right_shift", *_POLYNOMIALS))
_NUMBERS = _NUMBER_FIRST | {"copysign"}


def _deliver(op: Op, known: bool, operands: tuple[Any, ...], out: Any) -> "Tensor":
    with no_grad() if op.name in _WITHOUT_GRADIENT else nullcontext():
        result = apply(op, operands, out)
    if not known:
        shadow.leave_unspecified(result)
    return result


def _check(op: Op, operands: tuple[Any, ...]) -> None:
    check_operands(op.name, operands)
    for k, x in enumerate(operands):
        takers = _NUMBER_FIRST if k == 0 else _NUMBERS
        allowed = op.name in takers and any(isinstance(o, TensorBase) for o in operands)
        if not isinstance(x, TensorBase) and not allowed:
            raise LayoutTypeError("argument", f"{op.name}: expected a Tensor, got {type(x).__name__}")
    if op.name == "heaviside" and operands[0].dtype is not operands[1].dtype:
        raise LayoutError("dtype", "heaviside: the tensors differ in dtype")


def _check_step_out(out: Any, input: Any) -> None:
    """Refuse an `out` of another dtype for `heaviside`. Raises: dtype."""
    if isinstance(out, TensorBase) and out.dtype is not input.dtype:
        raise LayoutError("dtype", f"heaviside: an output of {input.dtype} is needed, got {out.dtype}")


def _unary(name: str) -> tuple[Function, Function]:
    op, known = _OPS[name]

    def out_of_place(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
        _check(op, (input,))
        if out is not None and op.composed and op.name == "special_ndtr":
            result = _deliver(op, known, (input,), None)
            if isinstance(out, TensorBase) and not can_cast(result.dtype, out.dtype):
                raise LayoutError("dtype", f"ndtr: a {result.dtype} result cannot be cast to {out.dtype}")
            return write_out(out, result, input, composed=True, row_major=True)
        if out is not None and op.name in ("rad2deg", "deg2rad"):
            # A product, where the number takes part in the choice of strides.
            factor = Op(op.name, lambda a, _: op.compute(a), "f", result="float", exact=False, refusal=op.refusal)
            return _deliver(factor, known, (input, 1.0), out)
        return _deliver(op, known, (input,), out)

    def in_place(self: "Tensor") -> "Tensor":
        result = apply_(op, self, ())
        if not known:
            shadow.leave_unspecified(result)
        return result

    return _named(out_of_place, name), _named(in_place, name + "_")


def _binary(name: str, second: str = "other") -> tuple[Function, Function]:
    op, known = _OPS[name]

    if second == "n":

        def polynomial(input: Any, n: Any, *, out: "Tensor | None" = None) -> "Tensor":
            _check(op, (input, n))
            return _deliver(op, known, (input, n), out)

        return _named(polynomial, name), polynomial

    if second == "values":

        def step(input: Any, values: Any, *, out: "Tensor | None" = None) -> "Tensor":
            _check(op, (input, values))
            _check_step_out(out, input)
            return _deliver(op, known, (input, values), out)

        def step_(self: "Tensor", values: Any) -> "Tensor":
            _check(op, (self, values))
            return apply_(op, self, (values,))

        return _named(step, name), _named(step_, name + "_")

    def out_of_place(input: Any, other: Any, *, out: "Tensor | None" = None) -> "Tensor":
        _check(op, (input, other))
        return _deliver(op, known, (input, other), out)

    def in_place(self: "Tensor", other: Any) -> "Tensor":
        _check(op, (self, other))
        result = apply_(op, self, (other,))
        if not known:
            shadow.leave_unspecified(result)
        return result

    return _named(out_of_place, name), _named(in_place, name + "_")


def _named(f: Function, name: str) -> Function:
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Elementwise `{name}`. Raises: dtype, broadcast. Source: facts 4.3.10, torch 2.13."
    return f


acosh, acosh_ = _unary("acosh")
asinh, asinh_ = _unary("asinh")
atanh, atanh_ = _unary("atanh")
erfc, erfc_ = _unary("erfc")
erfinv, erfinv_ = _unary("erfinv")
lgamma, lgamma_ = _unary("lgamma")
digamma, digamma_ = _unary("digamma")
i0, i0_ = _unary("i0")
sinc, sinc_ = _unary("sinc")
signbit, _ = _unary("signbit")
isneginf, _ = _unary("isneginf")
isposinf, _ = _unary("isposinf")
rad2deg, rad2deg_ = _unary("rad2deg")
deg2rad, deg2rad_ = _unary("deg2rad")
copysign, copysign_ = _binary("copysign")
fmax, _ = _binary("fmax")
fmin, _ = _binary("fmin")
gcd, gcd_ = _binary("gcd")
lcm, lcm_ = _binary("lcm")
heaviside, heaviside_ = _binary("heaviside", "values")
hypot, hypot_ = _binary("hypot")
logaddexp, _ = _binary("logaddexp")
logaddexp2, _ = _binary("logaddexp2")
xlogy, xlogy_ = _binary("xlogy")
igamma, igamma_ = _binary("igamma")
igammac, igammac_ = _binary("igammac")
bitwise_left_shift, bitwise_left_shift_ = _binary("bitwise_left_shift")
bitwise_right_shift, bitwise_right_shift_ = _binary("bitwise_right_shift")


def rlshift(input: "Tensor", other: Any) -> Any:
    """`other << input`."""
    return bitwise_left_shift(other, input)


def rrshift(input: "Tensor", other: Any) -> Any:
    """`other >> input`."""
    return bitwise_right_shift(other, input)


SPECIAL = {name.removeprefix("special_"): _unary(name)[0] for name in (*_UNKNOWN, *_UNKNOWN_SHORT[2:])} | {
    name.removeprefix("special_"): _binary(name, "other" if name.endswith("zeta") else "n")[0] for name in _POLYNOMIALS
}
SPECIAL["xlog1py"] = _binary("special_xlog1py")[0]
SPECIAL["psi"] = digamma
SPECIAL["gammaln"] = lgamma
SPECIAL["gammainc"] = igamma
SPECIAL["gammaincc"] = igammac
SPECIAL |= {"erfc": erfc, "erfinv": erfinv, "digamma": digamma, "i0": i0, "sinc": sinc, "xlogy": xlogy}


def angle(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Arguments of complex numbers, 0 or pi of real ones; of complex row-major, not in a complex `out`."""
    _check(_ANGLE, (input,))
    if not input.dtype.is_complex:
        return apply(_ANGLE, (input,), out)
    if input.dtype is dt.complex32:
        raise UnsupportedError("dtype", f"angle: PyTorch has no kernel for {input.dtype}")
    strides = None
    if out is not None and out.dtype.is_complex:
        strides = output_strides(input._layout.shape, (input._layout[:2],))
    real = input.dtype.to_real()
    computed = from_array(np.angle(values(input)).astype(real.numpy), real, strides)
    shadow.stamp(computed, shadow.TOLERANCE if shadow.marks_of(input) is None else shadow.UNSPECIFIED)
    return write_out(out, recorded(computed, input), input)


def _argument(a: Any) -> Any:
    return np.where(np.isnan(a), a, np.where(a < 0, math.pi, 0.0))


_ANGLE = Op("angle", _argument, "f", result="float", exact=False)


def logit(input: "Tensor", eps: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """`log(x / (1 - x))`, x kept in `[eps, 1 - eps]` where given. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return _deliver(_LOGIT, False, (input,), out)


def logit_(self: "Tensor", eps: Any = None) -> "Tensor":
    """`logit` in place. Raises: grad, overlap, dtype."""
    result = apply_(_LOGIT, self, ())
    return shadow.leave_unspecified(result)


_LOGIT = Op("logit", _nothing, "f", result="float")


def _replaced(d: dt.dtype, nan: Any, posinf: Any, neginf: Any) -> Op:
    # The largest number of the tensor's own dtype: short floats are computed in a longer one.
    floating = d.is_floating_point or d.is_complex
    largest = float(dt.finfo(d.to_real().numpy).max) if floating else 0.0

    def compute(a: Any) -> Any:
        if a.dtype.kind not in "fc":
            return a
        if a.dtype.kind == "c":
            return compute(a.real) + 1j * compute(a.imag)
        # Each is replaced once: what stands for an infinity may be one itself, of the other sign or too large.
        by = (0 if nan is None else nan, largest if posinf is None else posinf, -largest if neginf is None else neginf)
        return np.select([np.isnan(a), a == np.inf, a == -np.inf], by, a)

    return Op("nan_to_num", compute, "bifcu", exact=False, like=True)


def nan_to_num(
    input: "Tensor", nan: Any = None, posinf: Any = None, neginf: Any = None, *, out: "Tensor | None" = None
) -> "Tensor":
    """Numbers in the place of NaN and infinities.

    Raises: dtype, grad (complex numbers). Source: facts 4.3.10 and 5.4.6, torch 2.13.
    """
    whole = out is not None and input.dtype.category in ("int", "bool")
    result = apply(_replaced(input.dtype, nan, posinf, neginf), (input,), None if whole else out)
    if whole:  # copied
        result = write_out(out, result, input, exact=True, row_major=True)
    check_real_gradient("nan_to_num", input.dtype, input)
    return result


def nan_to_num_(self: "Tensor", nan: Any = None, posinf: Any = None, neginf: Any = None) -> "Tensor":
    """`nan_to_num` in place; integers have nothing to replace. Raises: grad, overlap, dtype."""
    if self.dtype.category in ("int", "bool"):
        check_inplace(self)
        if self._bits:
            change_in_copy(self, lambda whole: None)
        written(self)
        return self
    return apply_(_replaced(self.dtype, nan, posinf, neginf), self, ())


def isreal(input: "Tensor") -> "Tensor":
    """Whether elements have no imaginary part. Source: torch 2.13."""
    if input.dtype.is_complex:
        answer: Tensor = eq(imag(input), 0)
        return answer
    shape, strides, _ = input._layout
    return from_array(np.ones(shape, np.bool_), dt.bool_, preserved_strides(shape, strides))


def polygamma(n: int, input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Derivatives of `digamma`. Raises: dtype, argument. Source: torch 2.13."""
    _check(_LOGIT, (input,))
    if as_int(n, "n") < 0:
        raise LayoutError("argument", f"polygamma: n must not be negative, got {n}")
    return _deliver(Op("polygamma", _nothing, "f", result="float"), False, (input,), out)


def _polygamma(self: "Tensor", n: int) -> "Tensor":
    """`polygamma` as a method, the tensor first."""
    return polygamma(n, self)


def polygamma_(self: "Tensor", n: int) -> "Tensor":
    """`polygamma` in place. Raises: as it, and grad, overlap."""
    if as_int(n, "n") < 0:
        raise LayoutError("argument", f"polygamma_: n must not be negative, got {n}")
    return shadow.leave_unspecified(apply_(Op("polygamma", _nothing, "f", result="float"), self, ()))


def mvlgamma(input: "Tensor", p: int, *, out: "Tensor | None" = None) -> "Tensor":
    """Multivariate `lgamma`, row-major. Raises: dtype, argument. Source: torch 2.13."""
    if p < 1:
        raise LayoutError("argument", f"mvlgamma: p must be at least 1, got {p}")
    if input.dtype.is_complex:
        raise UnsupportedError("dtype", f"mvlgamma: PyTorch has no kernel for {input.dtype}")
    if input.dtype is dt.bool_:
        raise LayoutError("dtype", "mvlgamma: bool is refused")
    if dt.group_of(input.dtype) in "8e":
        raise UnsupportedError("dtype", f"mvlgamma: PyTorch has no kernel for {input.dtype}")
    d = input.dtype if input.dtype.is_floating_point else common_dtype(input, 1.0)
    result = fresh(input._layout.shape, contiguous_strides(input._layout.shape), d)
    shadow.leave_unspecified(result)
    return write_out(out, recorded(result, input), input)


def mvlgamma_(self: "Tensor", p: int) -> "Tensor":
    """`mvlgamma` in place. Raises: as it, and grad, overlap."""
    if p < 1:
        raise LayoutError("argument", f"mvlgamma_: p must be at least 1, got {p}")
    return shadow.leave_unspecified(apply_(Op("mvlgamma", _nothing, "f", result="float"), self, ()))


def fill(input: "Tensor", value: Any) -> "Tensor":
    """A copy with one value everywhere. Raises: dimension, overflow. Source: torch 2.13."""
    result = fill_(empty_like(input), value)
    result._versions[0] = 0
    return recorded(result, input)
