"""From computed values to a tensor: rounding to the dtype, what is known about each element, layout, history.

Operators that combine many elements (products of matrices, convolutions, norms) are computed in double precision here,
and there in some order of float operations; their floats are specified within a tolerance, and not where terms cancel.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import cast, nan_marks, pack_half_complex
from .core import array, check_read, fresh, from_array, recorded, records_history, values
from .dtypes import dtype, group_of
from .errors import LayoutError, UnsupportedError
from .layout import Strides, contiguous_strides

if TYPE_CHECKING:
    from .tensors import Tensor

# Unit roundoff of the arithmetic that PyTorch sums in, and the relative error within which results are compared.
_ROUNDOFF = {"float16": 2.0**-24, "bfloat16": 2.0**-24, "float32": 2.0**-24, "complex64": 2.0**-24}
_COMPARED = {"float16": 1.5e-3, "bfloat16": 1.2e-2, "float32": 3.5e-6, "complex64": 3.5e-6}
_OWN_ROUNDOFF = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
# Terms whose sizes add up to less overflow in no order, though partial sums are rounded.
_SUMMED = {"float16": 65504.0, "bfloat16": 3e38, "float32": 3e38, "complex64": 3e38}


def wide(t: Any, d: dtype | None = None) -> Any:
    """A tensor's values in the precision that the reference computes in: doubles for floats, integers as they are."""
    a = values(t)
    d = d or t.dtype
    if d is not t.dtype:
        a = cast(a, t.dtype, d)
    precise = {"float": np.float64, "complex": np.complex128}.get(d.category)
    with np.errstate(invalid="ignore"):  # a NaN that signals is made one that does not
        return a if precise is None else a.astype(precise)


def narrow_to(a: Any, d: dtype) -> Any:
    """Wide results in a dtype, rounded as PyTorch rounds them.

    >>> narrow_to(np.array([1.5, 300.0]), dt.int16).tolist()
    [1, 300]
    """
    a = np.asarray(a)
    if a.dtype == d.numpy:
        return a
    if d is dt.complex32:
        return pack_half_complex(a)
    with np.errstate(all="ignore"):
        if d.category == "float" and a.dtype.kind == "f":
            return cast(a, dt.float64, d) if a.dtype == np.float64 else a.astype(d.numpy)
        return a.astype(d.numpy)


def input_marks(*inputs: Any) -> int:
    """UNSPECIFIED where an operand has elements of which not every bit is known, else EXACT.

    A NaN is known well enough.
    """
    for t in inputs:
        if t is not None and t._storage._shadow is not None:
            marks = shadow.marks_of(t)
            if marks is not None and np.any((marks != shadow.EXACT) & (marks != shadow.NAN)):
                return shadow.UNSPECIFIED
    return shadow.EXACT


def inexact_marks(
    result: Any,
    d: dtype,
    magnitude: Any = None,
    terms: int = 1,
    roundings: int = 0,
    *,
    sums: bool = True,
    in_turn: bool = False,
) -> Any:
    """What is known about floats that were summed in an order of PyTorch's own.

    `sums` says that the result is a sum of products and nothing else, which may be exact in any order.
    `roundings` counts intermediate values that are rounded to the dtype itself where sums are wider (short floats).
    `in_turn` says that the terms are added one after the other, so that the roundings of equal ones go one way.

    Shapes: `magnitude` broadcasts to the result: the sum of the absolute values of its terms. Where it is much larger
    than the result, the terms cancel and the result may be anything.
    """
    size = np.abs(np.asarray(result))
    marks = np.full(size.shape, shadow.TOLERANCE, np.uint8)
    if magnitude is not None:
        roundoff = _ROUNDOFF.get(d.name, 2.0**-53)
        compared = _COMPARED.get(d.name, 9e-13)
        with np.errstate(all="ignore"):
            if d in dt.FLOAT8:
                roundoff = 2.0**-24
            # Measured on sums of 1 to 1024 terms: at most 1.3 times the root of their number; in turn, of up to 4096
            # equal terms, a quarter of their number.
            grown = max(1 + 1.5 * terms**0.5, 0.3 * terms if in_turn else 0)
            error = (grown * roundoff + roundings * _OWN_ROUNDOFF.get(d.name, 0.0)) * magnitude
            if d in dt.FLOAT8:
                # Summed as floats and rounded once: known where every sum in reach is rounded alike.
                low, high = (cast(np.asarray(result + s * error), dt.float64, d) for s in (-1, 1))
                alike = (low == high) | (np.isnan(low) & np.isnan(high)) | (magnitude == 0)
                return np.where(alike, marks, np.uint8(shadow.UNSPECIFIED))
            # Of infinite and NaN terms the result is certain: the magnitude is that of the finite ones.
            known = (error <= compared * size) | np.isnan(size)
            known = known & (magnitude < _SUMMED.get(d.name, 1e308)) | (magnitude == 0)
            if sums:
                known |= _sums_are_whole(result, magnitude, d)
        marks = np.where(known, marks, np.uint8(shadow.UNSPECIFIED))
    return marks


def roundings_show(d: dtype, roundings: int) -> bool:
    """Whether as many roundings to a dtype, one after the other, may come to more than the tolerance.

    >>> roundings_show(dt.float32, 50), roundings_show(dt.bfloat16, 50)
    (False, True)
    """
    roundoff = _OWN_ROUNDOFF.get(d.name, _ROUNDOFF.get(d.name, 2.0**-53))
    # A product of complex numbers is rounded six times: as a whole, by the root of five at most.
    return roundings * roundoff * (5**0.5 if d.is_complex else 1) > _COMPARED.get(d.name, 9e-13)


def _sums_are_whole(result: Any, magnitude: Any, d: dtype) -> Any:
    """Which elements are sums of numbers of so few bits that no order of adding rounds them."""
    limit = 0.25 / _OWN_ROUNDOFF.get(d.name, _ROUNDOFF.get(d.name, 2.0**-53))
    parts = (result.real, result.imag, magnitude) if np.iscomplexobj(result) else (result, magnitude)
    whole = np.all([p == np.rint(p) for p in parts], axis=0)
    # The magnitude of a complex product is no whole number.
    return whole & (magnitude < limit)


def finish(
    result: Any,
    d: dtype,
    *inputs: Any,
    strides: Strides | None = None,
    magnitude: Any = None,
    terms: int = 1,
    roundings: int = 0,
    sums: bool = True,
    in_turn: bool = False,
    exact: bool = False,
) -> "Tensor":
    """A fresh tensor of an operator's values: row-major unless strides are given, marked, with its inputs' history.

    `exact` says that the floats are the inputs' own or fixed to the last bit.
    """
    wide_result = np.asarray(result)
    a = narrow_to(wide_result, d)
    check_read(*inputs)
    t = fresh(a.shape, contiguous_strides(a.shape) if strides is None else strides, d)
    array(t)[...] = a
    if a.size:
        marks: Any = None
        if d.category in ("float", "complex"):
            if not exact:
                marks = inexact_marks(wide_result, d, magnitude, terms, roundings, sums=sums, in_turn=in_turn)
            nan = nan_marks(a, d)
            if nan is not None:
                marks = nan if marks is None else np.maximum(marks, nan)
        worst = input_marks(*inputs)
        if worst:
            marks = worst
        if marks is not None:
            shadow.stamp(t, marks)
    return recorded(t, *inputs)


def rearranged(input: "Tensor", elements: Any, strides: Strides, marks: Any) -> "Tensor":
    """A fresh tensor of another one's own elements, which are known as well as `marks` say, with its history."""
    t = from_array(elements, input.dtype, strides)
    if marks is not None:
        shadow.stamp(t, marks)
    return recorded(t, input)


def need_kernel(name: str, d: dtype, groups: str) -> None:
    """Refuse a dtype that PyTorch has no kernel for; `groups` are letters of `dtypes.group_of`.

    Raises: dtype (NotImplementedError).

    >>> need_kernel("mm", dt.float32, "ifc")
    """
    if group_of(d) not in groups:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")


def check_real_gradient(name: str, d: dtype, *inputs: Any) -> None:
    """Refuse to record a complex result of an operator whose derivative PyTorch knows for real numbers only.

    Raises: grad (RuntimeError), after everything else that the operator refuses. Source: facts 5.4.6, torch 2.13.
    """
    if d.is_complex and records_history(*inputs):
        raise LayoutError("grad", f"{name}: no gradients through complex numbers (facts 5.4.6)")


def integers(a: Any, source: "Tensor", d: Any = dt.int64) -> "Tensor":
    """A fresh row-major tensor of places or numbers that were found in another one."""
    return finish(np.asarray(a).astype(d.numpy), d, source)
