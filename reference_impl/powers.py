"""Powers: pow, square and the operator signs that call them."""

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import powers, shadow
from .copies import fill_, to
from .core import TensorBase, array, check_inplace, check_internal_overlap, check_tensors, fresh, recorded
from .errors import LayoutError, LayoutTypeError
from .layout import contiguous_strides
from .out import check_out, resize_output, write_over
from .pointwise import Op, apply, apply_, apply_with_scalars, check_operands
from .promotion import can_cast, common_dtype

if TYPE_CHECKING:
    from .tensors import Tensor


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
        # Powers of a complex zero depend on the vector width; what is not finite is left unspecified. Computed by the
        # logarithm, as it is here, the power 0 of what is not finite is no 1.
        return np.where((a == 0) | ((b == 0) & ~np.isfinite(a)), np.nan, np.power(a, b))
    return _real_power(a, b)


def _real_power(a: Any, b: Any) -> Any:
    """Powers, each computed: of one exponent for all NumPy takes roots, which differ for -inf and -0."""
    a, b = np.broadcast_arrays(a, b)
    return np.power(a, b.copy())


def _power_of(exponent: Any, d: dt.dtype) -> Op:
    roots = d is not dt.float16  # whose loops know of no roots

    def compute(a: Any) -> Any:
        if a.dtype.kind in "iu":
            if exponent < 0:
                raise LayoutError("argument", "pow: integers to negative integer powers are not allowed")
            return np.power(a, np.array(exponent).astype(a.dtype))
        if exponent == 0:
            return np.ones(a.shape, a.dtype)
        if exponent == 2:
            return a * a
        if exponent == 0.5 and roots:
            return np.sqrt(a)
        if exponent == -0.5 and roots and a.dtype.kind == "f":
            return 1 / np.sqrt(a)
        if exponent == -1:
            return 1 / a
        if exponent == 1:
            return a
        if a.dtype.kind == "b":
            return np.ones(a.shape, np.bool_)
        if exponent == 3:
            return a * a * a
        return _real_power(a, np.array(exponent).astype(a.dtype))

    groups = "ifc"
    if exponent in (0, 1):  # ones, and copies, without a look for a kernel
        groups += "hu8e"
    if exponent is True or exponent is False:
        groups += "b"
    return Op(
        "pow",
        compute,
        groups,
        exact=exponent in (0, 1, 2, -1),
        exact_complex=exponent in (0, 1),
        smooth=exponent in (1, 2, -1, 0.5),
    )


POW = Op("pow", _power, "ifc", exact=False)


def pow(input: Any, exponent: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`input ** exponent`. Raises: broadcast, dtype, argument. Source: facts 4.3.10, torch 2.13."""
    check_operands("pow", (input, exponent))
    if not isinstance(input, TensorBase):
        check_tensors("pow", exponent)
        if out is None:
            return rpow(exponent, input)
        check_out(out, exponent)
        resize_output(out, exponent._layout.shape)
        if input == 1:
            return fill_(out, 1)
    if isinstance(exponent, TensorBase) or not isinstance(input, TensorBase):
        return apply(POW, (input, exponent), out)
    if isinstance(exponent, int) and exponent < 0 and input.dtype.category == "int":
        raise LayoutError("argument", "pow: integers to negative integer powers are not allowed")
    return apply_with_scalars(_power_of(exponent, input.dtype), input, (exponent,), out)


def pow_(self: "Tensor", exponent: Any) -> "Tensor":
    """`pow` in place. Raises: grad, overlap, broadcast, dtype, argument."""
    check_operands("pow_", (exponent,))
    if isinstance(exponent, TensorBase):
        return apply_(POW, self, (exponent,))
    common = common_dtype(self, exponent)

    check_inplace(self)
    check_internal_overlap(self)
    if not can_cast(common, self.dtype):
        raise LayoutError("dtype", f"pow_: a {common} result cannot be cast to {self.dtype} (facts 4.3.8)")
    return apply_(_power_of(exponent, self.dtype), self, ())


def rpow(input: "Tensor", other: Any) -> "Tensor":
    """`other ** input`, row-major for a number. Raises: argument (TypeError), dtype, broadcast."""
    check_operands("rpow", (other,))
    if isinstance(other, TensorBase):
        return apply(POW, (other, input))
    computed = apply(POW, (other, input))
    shape = input._layout.shape
    result = fresh(shape, contiguous_strides(shape), computed.dtype)
    array(result)[...] = array(computed)
    shadow.stamp(result, shadow.marks_of(computed))
    return recorded(result, input)


def float_power_(self: "Tensor", exponent: Any) -> "Tensor":
    """`float_power` in place, for doubles only. Raises: grad, overlap, dtype, broadcast."""
    result = float_power(self.detach(), exponent)
    if result.dtype is not self.dtype:
        raise LayoutError("dtype", f"float_power_: a {result.dtype} result for a {self.dtype} tensor")
    return write_over(self, result, exponent)


def float_power(input: Any, exponent: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`input ** exponent` in double precision. Raises: dtype, broadcast. Source: torch 2.13."""
    check_operands("float_power", (input, exponent))
    if not isinstance(input, TensorBase) and not isinstance(exponent, TensorBase):
        raise LayoutTypeError("argument", "float_power: one of the operands must be a Tensor")
    wide = any(
        x.dtype.is_complex if isinstance(x, TensorBase) else isinstance(x, builtins.complex) for x in (input, exponent)
    )
    d = dt.complex128 if wide else dt.float64
    plain = builtins.complex if wide else float
    if out is not None and out.dtype is not d:
        raise LayoutError("dtype", f"float_power: out must have the dtype {d}, got {out.dtype}")
    operands: tuple[Any, ...] = (input, exponent)
    base, power = (to(x, d) if hasattr(x, "_layout") else plain(x) for x in operands)
    return powers.pow(base, power, out=out)
