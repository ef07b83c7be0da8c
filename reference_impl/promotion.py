"""Which dtype do operands of several dtypes have in common?"""

from functools import lru_cache
from typing import Any

from . import dtypes as dt
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError

_default: list[dtype] = [dt.float32]
_UNSIGNED = frozenset((*dt.BARE_UINT, dt.uint1, dt.uint2, dt.uint3, dt.uint4, dt.uint5, dt.uint6, dt.uint7))
_FLOATS = {dt.float16: 16, dt.bfloat16: 16, dt.float32: 32, dt.float64: 64}
_COMPLEX = {dt.complex32: 16, dt.complex64: 32, dt.complex128: 64}


def get_default_dtype() -> dtype:
    """The dtype of constructors that are given Python floats, and of float results from integers."""
    return _default[0]


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of constructors that are given Python floats.

    Raises: dtype (TypeError) for a dtype that is not floating point.
    """
    if not (isinstance(d, dtype) and d.category == "float"):
        raise LayoutTypeError("dtype", f"the default dtype must be floating point, got {d}")
    _default[0] = d
    scalar_dtype.cache_clear()
    _result.cache_clear()


_OF_PYTHON: dict[Any, dtype] = {bool: dt.bool_, int: dt.int64, float: dt.float64, complex: dt.complex128}


def as_dtype(d: Any) -> dtype:
    """A dtype, or what one of Python's types of numbers stands for. Raises: argument (TypeError).

    >>> as_dtype(float)
    torch.float64
    """
    if isinstance(d, dtype):
        return d
    found = _OF_PYTHON.get(d) if isinstance(d, type) else None
    if found is None:
        raise LayoutTypeError("argument", f"dtype must be a dtype, got {d!r}")
    return found


@lru_cache(4096)
def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both can be converted to, of the higher category of bool, int, float, complex.

    Raises: dtype (RuntimeError) for float8 with others, for unsigned integers wider than 8 bits with other
    integers, and for dtypes without arithmetic.
    Source: torch 2.13, promoteTypes.

    >>> promote_types(dt.uint8, dt.int8), promote_types(dt.float16, dt.bfloat16), promote_types(dt.int64, dt.float16)
    (torch.int16, torch.float32, torch.float16)
    """
    type1, type2 = as_dtype(type1), as_dtype(type2)
    if type1 is type2:
        return type1
    if type1 in dt.FLOAT8 or type2 in dt.FLOAT8:
        raise LayoutError("dtype", f"{type1} and {type2}: 8-bit floats are not promoted with other dtypes")
    if type1 in _UNSIGNED or type2 in _UNSIGNED:
        # Unsigned integers other than uint8 meet floating point only.
        other = type2 if type1 in _UNSIGNED else type1
        if other.is_floating_point:
            return other
        raise LayoutError(
            "dtype", f"{type1} and {type2}: unsigned integers other than uint8 are promoted to floats only"
        )
    for d in (type1, type2):
        if d.category == "raw" and d is not dt.complex32:
            raise LayoutError("dtype", f"{type1} and {type2}: {d} is not promoted with other dtypes")
    if type1 in _COMPLEX or type2 in _COMPLEX:
        bits = max(
            _COMPLEX.get(type1, 0),
            _COMPLEX.get(type2, 0),
            32 if dt.bfloat16 in (type1, type2) else _FLOATS.get(type1, 0),
            _FLOATS.get(type2, 0),
        )
        return {16: dt.complex32, 32: dt.complex64, 64: dt.complex128}[bits]
    if type1 in _FLOATS or type2 in _FLOATS:
        if type1 in _FLOATS and type2 in _FLOATS:
            if _FLOATS[type1] == _FLOATS[type2]:
                return dt.float32
            return type1 if _FLOATS[type1] > _FLOATS[type2] else type2
        return type1 if type1 in _FLOATS else type2
    if type1 is dt.bool_ or type2 is dt.bool_:
        return type2 if type1 is dt.bool_ else type1
    if dt.uint8 in (type1, type2):
        other = type2 if type1 is dt.uint8 else type1
        return dt.int16 if other is dt.int8 else other
    return type1 if type1.itemsize > type2.itemsize else type2


@lru_cache(64)
def scalar_dtype(kind: type) -> dtype:
    """The dtype that a Python number stands for: bool, int64, the default float, or its complex.

    Raises: argument (TypeError) for what is no number.
    """
    if issubclass(kind, bool):
        return dt.bool_
    if issubclass(kind, int):
        return dt.int64
    if issubclass(kind, float):
        return _default[0]
    if not issubclass(kind, complex):
        raise LayoutTypeError("argument", f"expected a tensor or a number, got {kind.__name__}")
    return {dt.float64: dt.complex128, dt.float16: dt.complex32}.get(_default[0], dt.complex64)


@lru_cache(8192)
def _result(operands: tuple[tuple[dtype, int], ...]) -> dtype:
    # Three priorities: tensors with dimensions, then those without, then Python numbers; a lower one
    # decides only if its category is higher.
    by_priority: list[dtype | None] = [None, None, None]
    for d, priority in operands:
        now = by_priority[priority]
        if now is None or now is d:
            by_priority[priority] = d
        else:
            # Bits and another dtype make none, which what follows replaces.
            by_priority[priority] = None if now in dt.BITS or d in dt.BITS else promote_types(now, d)
    result: dtype | None = None
    for d in by_priority:  # type: ignore[assignment]
        if d is None:
            continue
        result = d if result is None else _combined(result, d)
    if result is None:
        names = ", ".join([str(d) for d, _ in operands])
        raise LayoutError("dtype", f"{names}: bits are not promoted with other dtypes")
    return result


def _combined(higher: dtype, lower: dtype) -> dtype:
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return _complex_of(higher) if lower.is_complex else higher
    if lower.is_complex:
        return lower
    if higher is dt.bool_ or lower.is_floating_point:
        return promote_types(higher, lower)
    return higher


def _complex_of(d: dtype) -> dtype:
    if d not in _FLOATS:
        raise LayoutError("dtype", f"there are no complex numbers of {d}")
    return {dt.float64: dt.complex128, dt.float16: dt.complex32}.get(d, dt.complex64)


def _scalar_dtype_of(number: Any) -> dtype:
    kind: type = type(number)
    return scalar_dtype(kind)


def common_dtype(*operands: Any) -> dtype:
    """The dtype in which an operator combines tensors and Python numbers.

    A tensor without dimensions, and a number even more so, decides only by a higher category.

    Raises: dtype (see `promote_types`).
    Source: torch 2.13, result_type.
    """
    if len(operands) == 2:
        a, b = operands
        if hasattr(a, "_layout") and hasattr(b, "_layout") and a.dtype is b.dtype:
            found: dtype = a.dtype
            return found
    return _result(
        tuple(
            [
                (o.dtype, 0 if o._layout.shape else 1) if hasattr(o, "_layout") else (_scalar_dtype_of(o), 2)
                for o in operands
            ]
        )
    )


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of one dtype may be written into another: never to a lower category, nor signed into bool.

    >>> can_cast(dt.float32, dt.int64), can_cast(dt.int64, dt.float16)
    (False, True)
    """
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and to.category == "int":
        return False
    return not (from_ is not dt.bool_ and to is dt.bool_)
