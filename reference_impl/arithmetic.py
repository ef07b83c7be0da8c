"""Arithmetic operators: add, sub, mul, div, neg, abs, relu and their kin."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .conversion import check_castable, check_copyable
from .copies import scalar_array
from .core import TensorBase, as_scalar, check_inplace, records_history
from .errors import LayoutError, LayoutTypeError
from .pointwise import Op, apply, apply_, check_operands

if TYPE_CHECKING:
    from .tensors import Tensor

ADD = Op("add", np.add, "bifch", wraps_numbers=True)
SUB = Op("sub", np.subtract, "ifch", refusal="b", wraps_numbers=True)
MUL = Op("mul", np.multiply, "bifchu8e", wraps_numbers=True, wide_scalar=True, smooth=True, exact_complex=False)
NEG = Op("neg", np.negative, "ifch", smooth=True, refusal="b")


def _relu(a: Any) -> Any:
    # What is not below zero stays as it is: NaN and -0.0 pass.
    return np.where(a < 0, a.dtype.type(0), a)


RELU = Op("relu", _relu, "if", smooth=True, refusal="b")


def _abs(a: Any) -> Any:
    return np.abs(a)


ABS = Op("abs", _abs, "ifch8", result="real", smooth=True)


class _Scaled(Op):
    """`add` or `sub` with a factor: the product is rounded before the sum or not, so that floats have a tolerance."""

    __slots__ = ("alpha", "given")

    def __init__(self, base: Op, alpha: Any, operands: tuple[Any, ...]) -> None:
        def compute(a: Any, b: Any) -> Any:
            factor = np.array(alpha).astype(a.dtype)
            return a + b * factor if base is ADD else a - b * factor

        def magnitude(a: Any, b: Any) -> Any:
            return a + np.abs(alpha) * b

        # Even half of a number is not exact where that is too small to be normal.
        super().__init__(
            base.name,
            compute,
            base.groups,
            refusal=base.refusal,
            wraps_numbers=base.wraps_numbers,
            exact=alpha in (-1, 1),
            magnitude=magnitude,
            roundings=1,
        )
        self.alpha = alpha
        self.given = {x.dtype if isinstance(x, TensorBase) else None for x in operands}

    def check(self, common: dt.dtype) -> None:
        """Refuse a factor that the operands cannot hold: after overlap and shapes, before kernels. Raises: dtype."""
        name, alpha = self.name, self.alpha
        # What has no kernels at all is not converted either, and that is tried first.
        raw = common.category == "raw" and not common.is_floating_point and not common.is_complex
        if raw and len(self.given) > 1:
            super().check(common)
        for d in self.given:
            if d is not None and d is not common:
                check_castable(d, common)
        if isinstance(alpha, bool) and common is not dt.bool_:
            raise LayoutError("dtype", f"{name}: a boolean alpha needs boolean operands, got {common}")
        if isinstance(alpha, float) and not (common.is_floating_point or common.is_complex):
            raise LayoutError("dtype", f"{name}: alpha {alpha} is no integer, the operands are {common}")
        if isinstance(alpha, complex) and not common.is_complex:
            raise LayoutError("dtype", f"{name}: a complex alpha needs complex operands, got {common}")
        super().check(common)
        scalar_array(alpha, common)


def _scaled(base: Op, alpha: Any, *operands: Any) -> Op:
    if type(alpha) is int and alpha == 1:
        return base
    if not isinstance(alpha, (int, float, complex)):
        raise LayoutTypeError("argument", f"{base.name}: alpha must be a number, got {type(alpha).__name__}")
    return _Scaled(base, alpha, operands)


def _check_sub(self: Any, other: Any) -> None:
    both = [x.dtype is dt.bool_ if isinstance(x, TensorBase) else isinstance(x, bool) for x in (self, other)]
    if any(both):
        raise LayoutError("dtype", "sub: subtraction with a bool tensor is not supported")


def add(input: Any, other: Any, *, alpha: Any = 1, out: "Tensor | None" = None) -> "Tensor":
    """`input + alpha * other`. Raises: broadcast, dtype. Source: facts 4.3, torch 2.13."""
    check_operands("add", (input, other))
    return apply(_scaled(ADD, alpha, input, other), (input, other), out)


def add_(self: "Tensor", other: Any, *, alpha: Any = 1) -> "Tensor":
    """`add` in place. Raises: grad, overlap, broadcast, dtype. Source: facts 5, torch 2.13."""
    check_operands("add_", (self, other))
    return apply_(_scaled(ADD, alpha, self, other), self, (other,))


def sub(input: Any, other: Any, *, alpha: Any = 1, out: "Tensor | None" = None) -> "Tensor":
    """`input - alpha * other`. Raises: broadcast, dtype (also for bool). Source: facts 4.3, torch 2.13."""
    check_operands("sub", (input, other))
    _check_sub(input, other)
    return apply(_scaled(SUB, alpha, input, other), (input, other), out)


def sub_(self: "Tensor", other: Any, *, alpha: Any = 1) -> "Tensor":
    """`sub` in place. Raises: grad, overlap, broadcast, dtype. Source: facts 5, torch 2.13."""
    check_operands("sub_", (self, other))
    check_inplace(self)
    if not self._storage._is_meta:  # there bools are taken from bools (facts 4.3.8)
        _check_sub(self, other)
    return apply_(_scaled(SUB, alpha, self, other), self, (other,))


def rsub(input: "Tensor", other: Any, *third: Any, alpha: Any = 1) -> "Tensor":
    """`other - alpha * input`; of a number alpha may be the third argument. Raises: argument, broadcast, dtype."""
    if third and (len(third) > 1 or type(alpha) is not int or alpha != 1 or isinstance(as_scalar(other), TensorBase)):
        raise LayoutTypeError("argument", "rsub: alpha is given once, and is a keyword beside a tensor")
    alpha = as_scalar(third[0]) if third else alpha
    check_operands("rsub", (input, other))
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"rsub: expected a Tensor, got {type(input).__name__}")
    _check_sub(other, input)
    return apply(_scaled(SUB, alpha, other, input), (other, input))


def mul(input: Any, other: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`input * other`. Raises: broadcast, dtype. Source: facts 4.3, torch 2.13."""
    check_operands("mul", (input, other))
    return apply(MUL, (input, other), out)


def mul_(self: "Tensor", other: Any) -> "Tensor":
    """`mul` in place. Raises: grad, overlap, broadcast, dtype. Source: facts 5, torch 2.13."""
    check_operands("mul_", (self, other))
    if self.numel() and records_history(other):
        check_inplace(self, other)
        # A copy of what it was is kept for the gradient.
        check_copyable(self.dtype)
    return apply_(MUL, self, (other,))


def neg(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`-input`. Raises: dtype (RuntimeError) for bool. Source: facts 4.3, torch 2.13."""
    return apply(NEG, (input,), out)


def neg_(input: "Tensor") -> "Tensor":
    """`neg` in place. Raises: grad, overlap, dtype. Source: facts 5, torch 2.13."""
    return apply_(NEG, input, ())


def abs(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Absolute values, real ones of complex. Raises: dtype. Source: facts 4.3, torch 2.13."""
    return apply(ABS, (input,), out)


def abs_(input: "Tensor") -> "Tensor":
    """`abs` in place. Raises: grad, overlap, dtype (also for complex). Source: facts 5, torch 2.13."""
    check_inplace(input)
    if input.dtype.is_complex:
        raise LayoutError("dtype", "abs_: a real result cannot be written to a complex tensor in place")
    return apply_(ABS, input, ())


def relu(input: "Tensor") -> "Tensor":
    """Elements, or 0 where they are negative. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return apply(RELU, (input,))


def relu_(input: "Tensor") -> "Tensor":
    """`relu` in place. Raises: grad, overlap, dtype. Source: facts 5, torch 2.13."""
    check_inplace(input)
    if input.dtype is dt.bool_ or input.dtype.is_complex:
        RELU.check(input.dtype)
    return apply_(RELU, input, ())
