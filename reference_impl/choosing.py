"""Elementwise operators of several operands: where, lerp, addcmul, addcdiv, and comparisons within a tolerance."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .advanced_indexing import nonzero
from .calls import as_number, as_real
from .conversion import cast_marks
from .copies import scalar_array
from .core import TensorBase, array, check_history, check_inplace, check_tensors, fresh, recorded, values
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .grad_mode import no_grad
from .kept import keeps
from .out import write_out
from .output_layout import broadcast_shapes, output_strides
from .parsing import parsed
from .pointwise import Op, apply, apply_, check_operands, operand_array, operand_layout
from .promotion import common_dtype
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


@keeps("condition", "input", "other", rule="0<1,2")
def where(condition: "Tensor", input: Any = None, other: Any = None, *, out: "Tensor | None" = None) -> Any:
    """Elements of one operand or the other; the condition is the first operand for the layout.

    Raises: broadcast, dtype, overflow. Source: facts 4.3.9, torch 2.13.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if not isinstance(condition, TensorBase):
        raise LayoutTypeError("argument", "where: the condition must be a tensor")
    check_operands("where", (input, other))
    if out is not None and not (isinstance(input, TensorBase) and isinstance(other, TensorBase)):
        raise LayoutTypeError("argument", "where: with out both operands must be tensors")
    if condition.dtype not in (dt.bool_, dt.uint8):
        raise LayoutError("dtype", f"where: the condition must be bool, got {condition.dtype}")
    common = common_dtype(input, other)
    operands = (input, other)
    shapes = [x._layout.shape if isinstance(x, TensorBase) else () for x in operands]
    shape = broadcast_shapes(condition._layout.shape, *shapes)
    if common.category == "raw" and common is not dt.complex32:
        raise UnsupportedError("dtype", f"where: PyTorch has no kernel for {common}")
    # A condition of bytes is converted, and takes part as the copy that comes of it.
    layouts = (operand_layout(condition, dt.bool_), *[operand_layout(x, common) for x in operands])
    strides = output_strides(shape, layouts)
    result = fresh(shape, strides, common)
    chosen = values(condition) != 0
    for x in operands:
        if not isinstance(x, TensorBase):
            scalar_array(as_number(x), common)  # a number is filled in, so it must fit
    a, b = (_raw_bool(x) if common is dt.bool_ else operand_array(x, common) for x in operands)
    array(result)[...] = np.where(chosen, a, b)
    marks = [_copy_marks(x, common, shape) for x in operands]
    if any(m is not None for m in marks) or shadow.marks_of(condition) is not None:
        known = [np.zeros(shape, np.uint8) if m is None else m for m in marks]
        picked = np.where(chosen, known[0], known[1]).astype(np.uint8)
        shadow.stamp(result, shadow.UNSPECIFIED if shadow.marks_of(condition) is not None else picked)
    into_operand = any(x is out for x in (condition, *operands))
    if out is not None and out._layout.shape != shape and into_operand and not out._bits:
        raise LayoutError("broadcast", f"where: out is an input of shape {out._layout.shape}, the result has {shape}")
    return write_out(out, recorded(result, *operands), condition, *operands, exact=True, apart=True)


def _raw_bool(x: Any) -> Any:
    # `where` copies the bytes of a bool as they are.
    return array(x).view(np.uint8).view(np.bool_) if isinstance(x, TensorBase) else np.bool_(x)


def _copy_marks(x: Any, common: Any, shape: tuple[int, ...]) -> Any:
    if not isinstance(x, TensorBase):
        return None

    marks = shadow.marks_of(x)
    if marks is None and x.dtype is common:
        return None
    marks = cast_marks(values(x), x.dtype, common, marks)
    return None if marks is None else np.broadcast_to(marks, shape)


_LERP = Op("lerp", lambda a, b, w: np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)), "fc", exact=False,
           magnitude=lambda a, b, w: a + w * (a + b))  # fmt: skip


def _weight(name: str, input: "Tensor", end: "Tensor", weight: Any) -> Any:
    # A weight without dimensions is a number, of whatever dtype.
    check_operands(name, (weight,))
    for x in (end, weight):
        if isinstance(x, TensorBase) and x.dtype is not input.dtype and (x is end or x._layout.shape):
            raise LayoutError("dtype", f"{name}: operands of {input.dtype} and {x.dtype}")
    return weight if isinstance(weight, TensorBase) else _factor(name, weight, input, end)


def _factor(name: str, number: Any, *operands: "Tensor") -> Any:
    """A number that operands are multiplied by, real where they are. Raises: argument, overflow (also TypeError)."""
    if isinstance(number, TensorBase) and not number._layout.shape:
        number = number.item()  # type: ignore[attr-defined]
    number = as_number(number)
    if not isinstance(number, (int, float, complex)):
        raise LayoutTypeError("argument", f"{name}: expected a number, got {type(number).__name__}")
    return number if any(x.dtype.is_complex for x in operands) else as_real(name, number)


def lerp(input: "Tensor", end: "Tensor", weight: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """Between two tensors by a weight. Raises: broadcast, dtype. Source: facts 4.3.10, torch 2.13."""
    weight = _weight("lerp", input, end, weight)
    if isinstance(weight, TensorBase):
        return apply(_LERP, (input, end, weight), out)
    op = Op("lerp", lambda a, b: _LERP.compute(a, b, np.array(weight).astype(a.dtype)), "fc", exact=False,
            magnitude=lambda a, b: a + abs(weight) * (a + b))  # fmt: skip
    return apply(op, (input, end), out)


def addcmul(
    input: "Tensor", tensor1: "Tensor", tensor2: "Tensor", *, value: Any = 1, out: "Tensor | None" = None
) -> "Tensor":
    """`input + value * tensor1 * tensor2`. Raises: broadcast, dtype. Source: facts 4.3.10, torch 2.13."""
    value = _factor("addcmul", value, input, tensor1, tensor2)
    op = Op("addcmul", lambda a, b, c: a + np.array(value).astype(a.dtype) * b * c, "ifch", exact=False,
            magnitude=lambda a, b, c: a + abs(value) * b * c)  # fmt: skip
    return apply(op, (input, tensor1, tensor2), out)


def addcdiv(
    input: "Tensor", tensor1: "Tensor", tensor2: "Tensor", *, value: Any = 1, out: "Tensor | None" = None
) -> "Tensor":
    """`input + value * tensor1 / tensor2`. Raises: broadcast, dtype. Source: facts 4.3.10, torch 2.13."""
    if all(x.dtype.category in ("int", "bool") for x in (tensor1, tensor2)):
        raise LayoutError("dtype", "addcdiv: integer division is not supported")
    value = _factor("addcdiv", value, input, tensor1, tensor2)
    op = Op("addcdiv", lambda a, b, c: a + np.array(value).astype(a.dtype) * b / c, "fc", exact=False,
            magnitude=lambda a, b, c: a + abs(value) * b / c)  # fmt: skip
    return apply(op, (input, tensor1, tensor2), out)


def lerp_(self: "Tensor", end: "Tensor", weight: Any) -> "Tensor":
    """`lerp` in place. Raises: grad, overlap, broadcast, dtype."""
    check_inplace(self, end, weight)
    weight = _weight("lerp_", self, end, weight)
    if isinstance(weight, TensorBase):
        return apply_(_LERP, self, (end, weight))
    op = Op("lerp", lambda a, b: _LERP.compute(a, b, np.array(weight).astype(a.dtype)), "fc", exact=False,
            magnitude=lambda a, b: a + abs(weight) * (a + b))  # fmt: skip
    return apply_(op, self, (end,))


def addcmul_(self: "Tensor", tensor1: "Tensor", tensor2: "Tensor", *, value: Any = 1) -> "Tensor":
    """`addcmul` in place. Raises: grad, overlap, broadcast, dtype."""
    value = _factor("addcmul_", value, self, tensor1, tensor2)
    op = Op("addcmul", lambda a, b, c: a + np.array(value).astype(a.dtype) * b * c, "ifch", exact=False,
            magnitude=lambda a, b, c: a + abs(value) * b * c)  # fmt: skip
    return apply_(op, self, (tensor1, tensor2))


def addcdiv_(self: "Tensor", tensor1: "Tensor", tensor2: "Tensor", *, value: Any = 1) -> "Tensor":
    """`addcdiv` in place. Raises: grad, overlap, broadcast, dtype."""
    check_inplace(self, tensor1, tensor2)
    if all(x.dtype.category in ("int", "bool") for x in (tensor1, tensor2)):
        raise LayoutError("dtype", "addcdiv_: integer division is not supported")
    value = _factor("addcdiv_", value, self, tensor1, tensor2)
    op = Op("addcdiv", lambda a, b, c: a + np.array(value).astype(a.dtype) * b / c, "fc", exact=False,
            magnitude=lambda a, b, c: a + abs(value) * b / c)  # fmt: skip
    return apply_(op, self, (tensor1, tensor2))


def where_method(self: "Tensor", condition: "Tensor", other: Any) -> "Tensor":
    """Elements of this tensor where a condition holds, of another elsewhere. Raises: as `where`."""
    result: Tensor = where(condition, self, other)
    return result


@parsed(given_only="rtol atol")
def isclose(
    input: "Tensor", other: "Tensor", rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> "Tensor":
    """Whether elements differ by little. Raises: dtype, broadcast. Source: facts 4.3.10, torch 2.13."""
    check_tensors("isclose", input, other)
    check_history(input, other)
    if rtol < 0 or atol < 0:
        raise LayoutError("argument", f"isclose: tolerances {rtol} and {atol} must not be negative")
    if input.dtype is not other.dtype:
        raise LayoutError("dtype", f"isclose: operands of {input.dtype} and {other.dtype}")
    # Without tolerances it is only asked whether they are equal.
    groups = "biufch" if rtol or atol else "biufch8e4"
    op = Op("isclose", lambda a, b: np.isclose(a, b, rtol, atol, equal_nan), groups, result="bool")
    result = apply(op, (input, other))
    # PyTorch completes the answer in place, once for NaN and once for the tolerances.
    loose = input.dtype.is_floating_point or input.dtype.is_complex
    result._versions[0] += (equal_nan and loose) + bool(rtol or atol)
    return result


@parsed(given_only="rtol atol")
def allclose(
    input: "Tensor", other: "Tensor", rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements differ by little."""
    with no_grad():
        return bool(values(isclose(input, other, rtol, atol, equal_nan)).all())


def equal(input: "Tensor", other: "Tensor") -> bool:
    """Whether shape and elements are the same. Raises: dtype. Source: torch 2.13."""
    if input._layout.shape != other._layout.shape:
        return False
    common = common_dtype(input, other)
    # Of the same memory only NaNs are looked for, in a kernel that has fewer dtypes.
    alike = input._storage is other._storage and input._layout == other._layout
    need_kernel("equal", common, "biufc" if alike else "biufc8e")
    with np.errstate(invalid="ignore"):
        return bool((operand_array(input, common) == operand_array(other, common)).all())
