"""Elements kept between bounds: clamp and its kin."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from .calls import as_real
from .copies import scalar_array
from .core import TensorBase, as_scalar, check_tensors
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .pointwise import Op, apply, apply_, apply_with_scalars, check_operands
from .promotion import common_dtype

if TYPE_CHECKING:
    from .tensors import Tensor


def clamp(input: "Tensor", min: Any = None, max: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Elements kept between two bounds. Raises: argument, dtype, broadcast. Source: facts 4.3.10, torch 2.13."""
    check_tensors("clamp", input)
    bounds = _bounds(min, max)
    of_tensors = isinstance(bounds[0], TensorBase)
    op = _clamp_op(min is not None, max is not None, of_tensors=of_tensors)
    _check_kernel(input, bounds)
    if of_tensors:
        return apply(op, (input, *bounds), out)
    bounds, fixed = _converted(input, bounds)
    if out is input:
        _check_result(input, bounds)
    inner = Op("clamp", lambda a: op.compute(a, *[b.astype(a.dtype) for b in fixed]), "bif", smooth=True)
    return apply_with_scalars(inner, input, bounds, out, exact=True)


def _bounds(min: Any, max: Any) -> tuple[Any, ...]:
    if min is None and max is None:
        raise LayoutError("argument", "clamp: at least one of min and max must be given")
    bounds = tuple([b for b in (min, max) if b is not None])
    if not all(isinstance(b, TensorBase) for b in bounds):
        bounds = tuple([as_scalar(b) for b in bounds])
    if len({isinstance(b, TensorBase) for b in bounds}) > 1 or any(isinstance(b, str) for b in bounds):
        raise LayoutTypeError("argument", "clamp: the bounds must be both numbers or both tensors")
    return bounds


def _converted(input: "Tensor", bounds: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """Numbers, real ones for a real tensor, and what they are in the dtype that is computed in.

    Raises: overflow where a dtype does not hold them.
    """
    if input.dtype.is_floating_point:
        bounds = tuple([as_real("clamp", b) for b in bounds])
    common = common_dtype(input, *bounds)
    return bounds, [scalar_array(b, common) for b in bounds]


def _check_result(input: "Tensor", bounds: tuple[Any, ...]) -> None:
    """Refuse another dtype than that of what is written to, before memory is looked at."""
    common = common_dtype(input, *bounds)
    if common is not input.dtype:
        raise LayoutError("dtype", f"clamp: a {common} result cannot be cast to {input.dtype} (facts 4.3.8)")


def _check_kernel(input: "Tensor", bounds: tuple[Any, ...]) -> None:
    """Refuse complex numbers, and bools; but one bound that is a tensor is a maximum or minimum, which takes bools."""
    of_tensors = isinstance(bounds[0], TensorBase)
    if of_tensors:
        is_bool = len(bounds) == 2 and all(t.dtype is dt.bool_ for t in (input, *bounds))
    else:
        is_bool = input.dtype is dt.bool_ and all(isinstance(b, bool) for b in bounds)
    if is_bool or (input.dtype.is_complex and not of_tensors):
        raise UnsupportedError("dtype", f"clamp: PyTorch has no kernel for {input.dtype}")


def _clamp_op(low: bool, high: bool, *, of_tensors: bool = False) -> Op:
    def compute(a: Any, *bounds: Any) -> Any:
        rest = list(bounds)
        if low:
            b = rest.pop(0)
            a = np.where((a < b) | np.isnan(b) if b.dtype.kind == "f" else a < b, b, a)
        if high:
            b = rest.pop(0)
            a = np.where((a > b) | np.isnan(b) if b.dtype.kind == "f" else a > b, b, a)
        return a

    # Of two zeros either is taken, as many elements as fill a register otherwise than the last ones.
    return Op("clamp", compute, "bif", smooth=True, loose_zero=of_tensors)


def clamp_(input: "Tensor", min: Any = None, max: Any = None) -> "Tensor":
    """`clamp` in place. Raises: grad, overlap, dtype, argument."""
    bounds = _bounds(min, max)
    if input.dtype.is_complex:
        raise UnsupportedError("dtype", f"clamp: PyTorch has no kernel for {input.dtype}")
    _check_kernel(input, bounds)
    of_tensors = isinstance(bounds[0], TensorBase)
    if not of_tensors:
        bounds, _ = _converted(input, bounds)
        _check_result(input, bounds)
    return apply_(_clamp_op(min is not None, max is not None, of_tensors=of_tensors), input, bounds)


def _check_bound(name: str, bound: Any) -> None:
    """Refuse what is no bound, and complex numbers, which `clamp` refuses later and otherwise."""
    check_operands(name, (bound,))
    if isinstance(bound, complex):
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for complex numbers")


def clamp_min(input: "Tensor", min: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`clamp(min=min)`. Raises: as `clamp`, but a missing bound is a TypeError."""
    _check_bound("clamp_min", min)
    return clamp(input, min, None, out=out)


def clamp_max(input: "Tensor", max: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`clamp(max=max)`. Raises: as `clamp_min`."""
    _check_bound("clamp_max", max)
    return clamp(input, None, max, out=out)


def clamp_min_(input: "Tensor", min: Any) -> "Tensor":
    """`clamp_(min=min)`. Raises: as `clamp_min`."""
    _check_bound("clamp_min_", min)
    return clamp_(input, min, None)


def clamp_max_(input: "Tensor", max: Any) -> "Tensor":
    """`clamp_(max=max)`. Raises: as `clamp_min`."""
    _check_bound("clamp_max_", max)
    return clamp_(input, None, max)
