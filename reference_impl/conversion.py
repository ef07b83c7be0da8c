"""Values of one dtype as values of another, as PyTorch's `to` and `copy_` convert them."""

from typing import Any

import numpy as np

from . import dtypes as dt
from .core import Array
from .dtypes import dtype
from .errors import UnsupportedError
from .shadow import EXACT, NAN, TOLERANCE, UNSPECIFIED, Marks

_NARROW = frozenset((dt.float16, dt.bfloat16, *dt.FLOAT8))
_MOVABLE = frozenset((dt.complex32,))


def check_castable(old: dtype, new: dtype) -> None:
    """Refuse conversions that PyTorch has no kernel for.

    Raises: dtype (NotImplementedError). Source: facts 11, torch 2.13.
    """
    for d in (old, new):
        if d.category == "raw" and d not in _MOVABLE:
            raise UnsupportedError("dtype", f"no conversion from {old} to {new} (facts 11)")


def check_fillable(d: dtype) -> None:
    """Refuse a dtype that no number is made of. Raises: dtype (NotImplementedError). Source: facts 11, torch 2.13."""
    if d.category == "raw" and d not in _MOVABLE:
        raise UnsupportedError("dtype", f"fill_ has no kernel for {d} (facts 11)")


def check_copyable(d: dtype) -> None:
    """Refuse a dtype whose elements are not copied one by one.

    Raises: dtype (NotImplementedError). Source: facts 11, torch 2.13.
    """
    if d in dt.SUB_BYTE or d.pack > 1:
        raise UnsupportedError("dtype", f"copy: PyTorch has no copy kernel for {d} (facts 11)")


def cast(a: Array, old: dtype, new: dtype) -> Array:
    """An array of one dtype's values in another: C's conversion, toward zero for integers, real part of complex.

    Raises: dtype (NotImplementedError). Source: facts 5.2.4, torch 2.13.
    """
    if old is new:
        return a
    if not a.size:
        return np.empty(a.shape, new.numpy)
    check_castable(old, new)
    if old is dt.complex32:
        a, old = unpack_half_complex(a), dt.complex64
    if new is dt.complex32:
        return pack_half_complex(cast(a, old, dt.complex64))
    with np.errstate(all="ignore"):
        if old.is_complex and not new.is_complex and new is not dt.bool_:
            a = a.real
            old = old.to_real()
        if new in _NARROW and old is not dt.float32:
            # PyTorch's short floats are made from a float: two roundings, not one.
            a = a.astype(np.float32)
        elif new is dt.complex64 and old in (dt.int64, dt.float64):
            a = a.astype(np.float32)
        if (old in dt.FLOAT8 and new.numpy.kind in "iub") or (old is dt.bfloat16 and new.numpy.kind in "iub"):
            a = a.astype(np.float32)
        if old.category == "float" and new.category == "int":
            return _to_integer(a, new)
        if new is dt.float8_e4m3fn:
            # No infinity in this format: what is too large saturates.
            a = np.where(np.isnan(a), a, np.clip(a, np.float32(-448), np.float32(448)))
        elif new is dt.float8_e8m0fnu:
            # An exponent alone: no sign, no zero.
            a = np.maximum(np.abs(a), np.float32(2.0**-127))
        return a.astype(new.numpy)


def _to_integer(a: Array, new: dtype) -> Array:
    # In range C truncates; out of range it leaves the value undefined, and any answer will do (it is marked).
    if new.itemsize < 8:
        return np.asarray(a.astype(np.int64)).astype(new.numpy)
    return a.astype(new.numpy)


def cast_marks(a: Array, old: dtype, new: dtype, marks: Marks | None) -> Marks | None:
    """Marks of converted elements: what C leaves undefined is unspecified, a NaN stays one without its payload.

    Shapes: `a` holds the values before the conversion, `marks` theirs.
    """
    if old is new:
        return marks
    result = marks
    if old.category == "float" or old.is_complex:
        if new.category == "int":
            with np.errstate(all="ignore"):  # a signalling NaN
                plain = numbers_of(a, old).real.astype(np.float64)
            info = np.iinfo(new.numpy)
            low = float(info.min) - 1 if new.itemsize < 8 else float(info.min)
            high = float(info.max) + 1
            ok = (plain > low if new.itemsize < 8 else plain >= low) & (plain < high)
            if not ok.all():
                bad = np.where(ok, EXACT, UNSPECIFIED).astype(np.uint8)
                result = bad if result is None else np.maximum(result, bad)
            if marks is not None:
                result = np.where(marks == EXACT, result, UNSPECIFIED).astype(np.uint8)  # type: ignore[arg-type]
        elif new is dt.bool_:
            if marks is not None:
                result = np.where(marks == EXACT, marks, UNSPECIFIED).astype(np.uint8)
        else:
            if marks is not None and old.is_complex and new.is_complex:
                # A part that is nothing beside the other has any sign, also where it is past what the new dtype holds.
                past = np.isinf(numbers_of(cast(a, old, new), new)) & ~np.isinf(numbers_of(a, old))
                result = np.where((marks == TOLERANCE) & past, UNSPECIFIED, marks).astype(np.uint8)
            coarser = digits(old) < digits(new)
            if marks is not None and (coarser or (old.is_complex and not new.is_complex)):
                # The tolerance was that of the dtype with fewer digits, or of both parts together.
                result = np.where(marks == TOLERANCE, UNSPECIFIED, marks).astype(np.uint8)
            with np.errstate(all="ignore"):
                nan = is_nan(a, old)
            if nan is not None and nan.any():
                bad = np.where(nan, NAN, EXACT).astype(np.uint8)
                result = bad if result is None else np.maximum(result, bad)
    elif marks is not None:
        result = np.where(marks == EXACT, marks, UNSPECIFIED).astype(np.uint8)
    return result


def numbers_of(a: Array, d: dtype) -> Array:
    """Values that NumPy can compute with: those of complex32 as complex64."""
    return unpack_half_complex(a) if d is dt.complex32 else a


def digits(d: dtype) -> int:
    """Binary digits after the first that a float has, or a part of a complex number; none that is no such number."""
    if not (d.is_floating_point or d.is_complex) or (d.category == "raw" and d is not dt.complex32):
        return 0
    return int(dt.finfo(d.to_real().numpy).nmant)


def is_nan(a: Array, d: dtype) -> Any:
    """Which values are NaN, or have a NaN part; None for dtypes without NaN."""
    if d is dt.complex32:
        a = unpack_half_complex(a)
    elif d.category not in ("float", "complex"):
        return None
    return np.isnan(a)


def nan_marks(a: Array, d: dtype) -> Marks | None:
    """NAN where an arithmetic result is one, else None: sign and payload are the processor's choice."""
    if d is dt.complex32:
        a, d = unpack_half_complex(a), dt.complex64
    if d.category != "float":
        if d.category != "complex":
            return None
        bad = ~np.isfinite(a)
        # PyTorch's vectorised and plain loops differ in the signs of zeros and in the parts that turn NaN or infinite.
        loose = (a.real == 0) | (a.imag == 0)
        if not (bad.any() or loose.any()):
            return None
        return np.where(bad, UNSPECIFIED, np.where(loose, TOLERANCE, EXACT)).astype(np.uint8)
    with np.errstate(invalid="ignore"):
        nan = np.isnan(a)
    return np.where(nan, NAN, EXACT).astype(np.uint8) if nan.any() else None


def half_nans(a: Array, d: dtype) -> Marks | None:
    """`nan_marks` of half numbers, else None: kernels that move them through float32 keep no NaN as it is."""
    return nan_marks(a, d) if d in (dt.float16, dt.bfloat16) else None


def unpack_half_complex(a: Array) -> Array:
    """complex32 bits (uint32) as complex64 values."""
    pairs = np.ascontiguousarray(a).view(np.float16).reshape(*a.shape, 2).astype(np.float32)
    result: Array = np.ascontiguousarray(pairs).view(np.complex64).reshape(a.shape)
    return result


def pack_half_complex(a: Array) -> Array:
    """complex64 values as complex32 bits (uint32)."""
    parts = np.empty((*a.shape, 2), np.float16)
    with np.errstate(all="ignore"):
        parts[..., 0] = a.real
        parts[..., 1] = a.imag
    result: Array = parts.view(np.uint32).reshape(a.shape)
    return result


def add_at(a: Array, key: Any, b: Array, d: dtype) -> None:
    """Add elements where a key names places, again where it names one again."""
    with np.errstate(all="ignore"):
        if d is dt.complex32:
            sums = unpack_half_complex(a)
            np.add.at(sums, key, unpack_half_complex(b))
            a[key] = pack_half_complex(sums[key])
        else:
            np.add.at(a, key, b)


def inexact(marks: Marks | None, shape: tuple[int, ...]) -> Marks:
    """Marks of a result that is specified within a tolerance only."""
    base = np.full(shape, TOLERANCE, np.uint8)
    return base if marks is None else np.maximum(base, marks)
