"""Quotients and remainders: div, floor_divide, and what Python's signs call."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import LayoutError
from .kept import keeps
from .pointwise import Op, apply, apply_, check_operands
from .pointwise_ops import BINARY, reciprocal, refuse_zero_divisors

if TYPE_CHECKING:
    from .tensors import Tensor


def _true_divide(a: Any, b: Any) -> Any:
    return np.true_divide(a, b)


def _floor_divide(a: Any, b: Any) -> Any:
    refuse_zero_divisors("floor_divide", a, b)
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
    refuse_zero_divisors("div", a, b)
    if a.dtype.kind in "iu":
        q = np.floor_divide(a, b)
        inexact = (q * b != a) & ((a < 0) != (b < 0))
        return (q + inexact).astype(a.dtype)
    return np.trunc(a / b)


DIV = Op(
    "div", _true_divide, "fc", result="float", divides=True, wraps_numbers=True, wide_scalar=True, smooth=True,
    exact_complex=False,
)  # fmt: skip


def _rounded(name: str, compute: Callable[..., Any], *, composed: bool = False) -> Op:
    return Op(
        name, compute, "if", divides=True, wraps_numbers=True, wide_scalar=True, exact_short=False, composed=composed
    )


FLOOR_DIVIDE = _rounded("floor_divide", _floor_divide, composed=True)
_FLOORED = _rounded("floor_divide", _floor_divide)
TRUNC_DIVIDE = _rounded("div", _trunc_divide)


def _division(rounding_mode: Any) -> Op:
    if rounding_mode is None:
        return DIV
    if rounding_mode == "floor":
        return _FLOORED
    if rounding_mode == "trunc":
        return TRUNC_DIVIDE
    raise LayoutError("argument", f"div: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}")


@keeps("input", "other")
def div(input: Any, other: Any, *, rounding_mode: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """`input / other`, rounded where asked. Raises: broadcast, dtype, argument. Source: facts 4.3, torch 2.13."""
    check_operands("div", (input, other))
    return apply(_division(rounding_mode), (input, other), out)


@keeps("self", "other")
def div_(self: "Tensor", other: Any, *, rounding_mode: Any = None) -> "Tensor":
    """`div` in place. Raises: grad, overlap, broadcast, dtype, argument. Source: facts 5, torch 2.13."""
    check_operands("div_", (self, other))
    return apply_(_division(rounding_mode), self, (other,))


def rdiv(input: "Tensor", other: Any) -> Any:
    """`other / input`, as a product with the reciprocal. Raises: dtype. Source: torch 2.13, Tensor.__rdiv__."""
    return reciprocal(input) * other  # the sign, which leaves an array to NumPy


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
    return apply(BINARY["remainder"], (other, input))
