"""Reductions that leave NaN out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import shadow
from .core import from_array, recorded, values
from .division import div
from .errors import LayoutError
from .out import write_out
from .pointwise_ops import isnan, logical_not
from .reductions import mean
from .reductions import sum as _sum

if TYPE_CHECKING:
    from .tensors import Tensor


def _without_nan(input: "Tensor") -> "Tensor":
    if input.dtype.category not in ("float", "complex"):
        return input
    a = values(input)
    with np.errstate(all="ignore"):
        plain = from_array(np.where(np.isnan(a), a.dtype.type(0), a), input.dtype)
    marks = shadow.marks_of(input)
    if marks is not None:
        shadow.stamp(plain, np.where(marks == shadow.NAN, 0, marks).astype(np.uint8))
    return recorded(plain, input)


def nansum(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """`sum` with NaN as zero. Raises: dimension, dtype (complex is refused). Source: facts 4.4, torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"nansum: complex is refused, got {input.dtype}")
    return _sum(_without_nan(input), dim, keepdim, dtype=dtype, out=out)


def nanmean(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """`mean` of the elements that are no NaN. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"nanmean: complex is refused, got {input.dtype}")
    if input.dtype.category != "float":
        return mean(input, dim, keepdim, dtype=dtype, out=out)
    count = _sum(logical_not(isnan(input)), dim, keepdim)
    result: Tensor = div(_sum(_without_nan(input), dim, keepdim, dtype=dtype), count)
    marks = shadow.marks_of(result)
    shadow.stamp(result, shadow.TOLERANCE if marks is None else np.maximum(marks, np.uint8(shadow.TOLERANCE)))
    return write_out(out, result, input)
