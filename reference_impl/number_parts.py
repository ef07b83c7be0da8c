"""Numbers by their parts: mantissas and exponents, neighbours of the dtype, complex numbers of two real ones."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import powers, shadow
from .arithmetic import mul, mul_
from .conversion import cast
from .core import array, check_tensors, fresh, from_array, recorded, values
from .errors import LayoutError, UnsupportedError
from .kept import keeps
from .out import write_out
from .pointwise import Op, apply, apply_, check_operands
from .promotion import common_dtype

if TYPE_CHECKING:
    from .tensors import Tensor

Function = Callable[..., Any]


def _check(name: str, a: Any, b: Any) -> None:
    check_operands(name, (a, b))
    check_tensors(name, a, b)


class Parts(NamedTuple):
    """What `frexp` answers."""

    mantissa: "Tensor"
    exponent: "Tensor"


def frexp(input: "Tensor", *, out: Any = None) -> Any:
    """Mantissas and powers of two. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    if input.dtype not in (dt.float16, dt.bfloat16, dt.float32, dt.float64):
        kind = UnsupportedError if input.dtype in dt.FLOAT8 else LayoutError
        raise kind("dtype", f"frexp: {input.dtype} is refused")
    mantissa = apply(Op("frexp", lambda a: np.frexp(a)[0], "f", like=True), (input,))
    plain = values(input).astype(np.float64)
    exponents = from_array(np.frexp(plain)[1].astype(np.int32), dt.int32, mantissa._layout.strides)
    # What the exponent of an infinity or a NaN is, C leaves open.
    bad = np.where(np.isfinite(plain), shadow.EXACT, shadow.UNSPECIFIED).astype(np.uint8)
    if shadow.marks_of(input) is not None or bad.any():
        shadow.stamp(exponents, bad if shadow.marks_of(input) is None else shadow.UNSPECIFIED)
    if out is not None:
        for target, t in zip(out, (mantissa, exponents), strict=True):
            if target.dtype is not t.dtype:
                raise LayoutError("dtype", f"frexp: an output of {t.dtype} is needed, got {target.dtype}")
        mantissa, exponents = write_out(out[0], mantissa, input), write_out(out[1], exponents, input)
    return Parts(mantissa, exponents)


def _neighbour(*operands: Any) -> Op:
    # The neighbour in the dtype itself: short floats must not be widened.
    d = common_dtype(*operands)
    short = d in (dt.float16, dt.bfloat16)

    def compute(a: Any, b: Any) -> Any:
        next_one = np.nextafter(a.astype(d.numpy), b.astype(d.numpy)).astype(a.dtype) if short else np.nextafter(a, b)
        return np.where(a == b, b, next_one)  # of two zeros the second

    return Op("nextafter", compute, "f")


def nextafter(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """The next number of the dtype towards another. Raises: dtype, broadcast. Source: facts 4.3.10, torch 2.13."""
    _check("nextafter", input, other)
    return apply(_neighbour(input, other), (input, other), out)


def nextafter_(self: "Tensor", other: "Tensor") -> "Tensor":
    """`nextafter` in place. Raises: grad, overlap, dtype, broadcast."""
    _check("nextafter_", self, other)
    return apply_(_neighbour(self, other), self, (other,))


@keeps("input", "other", rule="1<0")
def ldexp(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`input * 2 ** other`. Raises: dtype, broadcast. Source: torch 2.13."""
    _check("ldexp", input, other)
    if _scales(input, other):
        return apply(_LDEXP, (input, other), out)
    if out is None:
        # One operator: what is within keeps nothing.
        return recorded(mul(input.detach(), _power_of_two(other.detach(), input)), input, other)
    return mul(input, _power_of_two(other, input), out=out)


@keeps("self", "other", rule="1<0")
def ldexp_(self: "Tensor", other: "Tensor") -> "Tensor":
    """`ldexp` in place. Raises: grad, overlap, dtype, broadcast."""
    if _scales(self, other):
        return apply_(_LDEXP, self, (other,))
    return mul_(self, _power_of_two(other, self))


class _Scaled(Op):
    """A float by a power of two: the exponent has no part in the dtype, but needs to be an integer."""

    def dtypes(self, operands: tuple[Any, ...]) -> tuple[dt.dtype, dt.dtype]:
        """The dtype of the float, twice. Raises: dtype."""
        if dt.group_of(operands[1].dtype) != "i":
            raise UnsupportedError("dtype", f"{self.name}: PyTorch has no kernel for {operands[1].dtype} exponents")
        return operands[0].dtype, operands[0].dtype

    def only_out(self, operands: tuple[Any, ...], result: dt.dtype, out: dt.dtype) -> dt.dtype | None:
        """Nothing is converted to the dtype of the output."""
        return result


def _scale(a: Any, exponent: Any) -> Any:
    return np.ldexp(a, np.clip(exponent, -5000, 5000).astype(np.int32))


_LDEXP = _Scaled("ldexp", _scale, "f", exact=False, like=True)


def _scales(input: "Tensor", other: "Tensor") -> bool:
    return input.dtype.category == "float" and other.dtype.category in ("int", "bool")


def _power_of_two(exponent: "Tensor", factor: "Tensor") -> "Tensor":
    if factor.dtype.is_complex:
        return apply(powers.POW, (from_array(np.array(2, dt.complex64.numpy), dt.complex64).to(factor.dtype), exponent))
    # Powers of a number are row-major, yet where two has to become another dtype first it is a tensor.
    keeps = factor.dtype.category == "float" and factor.dtype is not dt.float32
    return apply(powers.POW, (2.0, exponent)) if keeps else powers.rpow(exponent, 2.0)


def complex(real: "Tensor", imag: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Complex numbers of their two parts. Raises: dtype, broadcast. Source: facts 4.3.10, torch 2.13."""
    return _of_two(real, imag, lambda a, b: a + 1j * b, out, "complex", True)


def polar(abs: "Tensor", angle: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Complex numbers of size and argument. Raises: dtype, broadcast. Source: facts 4.3.10, torch 2.13."""
    return _of_two(abs, angle, lambda a, b: a * np.cos(b) + 1j * (a * np.sin(b)), out, "polar", False)


_PAIRS = {dt.float16: dt.complex32, dt.float32: dt.complex64, dt.float64: dt.complex128}


def _of_two(a: "Tensor", b: "Tensor", f: Function, out: Any, name: str, exact: bool) -> "Tensor":
    _check(name, a, b)
    for t in (a, b):
        if t.dtype not in _PAIRS:
            raise LayoutError("dtype", f"{name}: float16, float32 and float64 are taken, got {t.dtype}")
    if a.dtype is not b.dtype:
        raise LayoutError("dtype", f"{name}: the tensors differ in dtype")
    if not exact and a.dtype is dt.float16:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {a.dtype}")
    d = _PAIRS[a.dtype]
    if out is not None and out.dtype is not d:
        raise LayoutError("dtype", f"{name}: out must have the dtype {d}, got {out.dtype}")
    plain = apply(Op(name, lambda x, y: x + y, "f"), (a, b))
    with np.errstate(all="ignore"):
        both = np.broadcast_arrays(values(a).astype(np.float64), values(b).astype(np.float64))
        number = np.empty(both[0].shape, np.complex128)
        if exact:
            number.real, number.imag = both
        else:
            number[...] = f(*both)
    result = fresh(plain._layout.shape, plain._layout.strides, d)

    array(result)[...] = cast(number, dt.complex128, d)
    if shadow.marks_of(a) is not None or shadow.marks_of(b) is not None:
        shadow.leave_unspecified(result)
    elif not exact or not np.isfinite(number).all():
        shadow.stamp(result, np.where(np.isfinite(number), shadow.TOLERANCE, shadow.UNSPECIFIED).astype(np.uint8))
    return write_out(out, recorded(result, a, b), a, b)
