"""Reductions that leave NaN out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .arithmetic import abs as absolute
from .core import from_array, recorded, values
from .division import div
from .errors import LayoutError
from .out import write_out
from .parsing import parsed
from .pointwise import SHORT_FLOATS
from .pointwise_ops import isnan, logical_not
from .reductions import check_out_dtype, mean, need_reducing_kernel, reduced_dims
from .reductions import sum as _sum
from .results import inexact_marks, need_kernel

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


@parsed(out_first=True)
def nansum(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """`sum` with NaN as zero. Raises: dimension, dtype (complex is refused). Source: facts 4.4, torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"nansum: complex is refused, got {input.dtype}")
    if input.dtype.category not in ("bool", "int"):
        d = dtype or (input.dtype if out is None else out.dtype)
        if dtype is not None and d.category in ("bool", "int"):
            # PyTorch writes zeros for NaN into a copy and sums it.
            need_kernel("nan_to_num", input.dtype, "f")
        else:
            if out is not None:
                check_out_dtype(out, d)
            if input.numel():
                need_reducing_kernel("nansum", d, "f", input, reduced_dims(input, dim), keepdim, out, over=dim)
    clean = _without_nan(input)
    result: Tensor = _sum(clean, dim, keepdim, dtype=dtype, out=out)
    _loosen(result, clean, dim, keepdim, 1)
    # The output is filled before the first element is read.
    return shadow.leave_unspecified(result) if out is input else result


def _loosen(result: "Tensor", clean: "Tensor", dim: Any, keepdim: bool, count: Any) -> None:
    """Mark sums of short floats whose terms cancel: they are rounded to the dtype along each dimension (torch 2.13)."""
    if clean.dtype not in SHORT_FLOATS or result.dtype is not clean.dtype:
        return
    wide = _sum(absolute(clean.detach()), dim, keepdim, dtype=dt.float64)
    with np.errstate(all="ignore"):
        loose = inexact_marks(values(result).astype(np.float64), result.dtype, values(wide) / count, roundings=2)
    marks = shadow.marks_of(result)
    shadow.stamp(result, loose if marks is None else np.maximum(marks, loose))


def nanmean(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """`mean` of the elements that are no NaN. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if input.dtype.is_complex:
        raise LayoutError("dtype", f"nanmean: complex is refused, got {input.dtype}")
    if input.dtype.category != "float":
        return mean(input, dim, keepdim, out=out)
    if dtype is not None and dtype.category not in ("float", "complex"):
        raise LayoutError("dtype", f"nanmean: dtype must be floating point or complex, got {dtype}")
    if input.numel():
        need_kernel("nansum", dtype or input.dtype, "f")
    count = _sum(logical_not(isnan(input)), dim, keepdim)
    result: Tensor = div(_sum(_without_nan(input), dim, keepdim, dtype=dtype), count)
    marks = shadow.marks_of(result)
    shadow.stamp(result, shadow.TOLERANCE if marks is None else np.maximum(marks, np.uint8(shadow.TOLERANCE)))
    _loosen(result, _without_nan(input), dim, keepdim, np.maximum(values(count), 1))
    if out is None:
        return result
    write_out(out, result, input)
    out._versions[0] += 1  # summed first, then divided
    return shadow.leave_unspecified(out) if out is input else out
