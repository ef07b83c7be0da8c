"""Strided arithmetic in the planner's order: fills, unary and binary operations with broadcasting, reductions.

One pass in the order of the target's memory, in tiles that hold what the operands share of each cache line; no operand
is copied first. Results are written in the dtype of the operands: nothing is promoted.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from . import strided_copy
from .jit import compiled, instruction
from .llvm import load, store
from .normal import normal

Array = npt.NDArray[Any]

UNARY = ("neg", "abs", "relu", "square")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
REDUCTIONS = ("sum", "prod", "amax", "amin")
_DTYPES = tuple(np.dtype(kind) for kind in ("i1", "u1", "i2", "i4", "i8", "f4", "f8"))
_TILE = 64


def fill(dst: Array, value: Any) -> None:
    """Write one value to every element.

    Shapes: any; the value is a scalar, which is converted to `dst.dtype`. Raises: what NumPy raises for the conversion.

    >>> a = np.zeros((2, 3))
    >>> fill(a.T, 7)
    >>> a.tolist()
    [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]
    """
    strided_copy(dst, np.broadcast_to(np.asarray(value, dst.dtype), dst.shape))


def unary(name: str, out: Array, x: Array) -> None:
    """Apply one of `UNARY` to each element.

    Shapes: `x` broadcasts to `out`; both have one dtype. Raises: ValueError for another name, dtype or shape, and where
    `out` overlaps itself. An operand that overlaps `out` in other places is read first.

    >>> out = np.zeros(3)
    >>> unary("relu", out, np.array([-1.0, 0.5, 2.0]))
    >>> out.tolist()
    [0.0, 0.5, 2.0]
    """
    _apply(name, UNARY, 0, out, x, x)


def binary(name: str, out: Array, x: Array, y: Array) -> None:
    """Apply one of `BINARY` to pairs of elements.

    Shapes: `x` and `y` broadcast to `out`; all have one dtype. Raises: ValueError for another name, dtype or shape, and
    where `out` overlaps itself. An operand that overlaps `out` in other places is read first.

    >>> out = np.zeros((2, 2))
    >>> binary("add", out, np.array([[1.0, 2.0], [3.0, 4.0]]).T, np.array([10.0, 20.0]))
    >>> out.tolist()
    [[11.0, 23.0], [12.0, 24.0]]
    """
    _apply(name, BINARY, len(UNARY), out, x, y)


def reduce(name: str, out: Array, x: Array, axes: Sequence[int]) -> None:
    """Reduce some dimensions with one of `REDUCTIONS`; elements are taken in the order of memory.

    Shapes: `out` has the shape of `x` with lengths of 1 at `axes`; both have one dtype, which is what adds up.
    Raises: ValueError for another name, dtype or shape, for an empty `x` without a neutral element, and where `out`
    overlaps itself.

    >>> out = np.zeros((1, 3))
    >>> reduce("sum", out, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (0,))
    >>> out.tolist()
    [[5.0, 7.0, 9.0]]
    """
    code = _code(name, REDUCTIONS, len(UNARY) + len(BINARY), (out, x))
    reduced = {axis % max(1, x.ndim) for axis in axes}
    expected = tuple(1 if d in reduced else n for d, n in enumerate(x.shape))
    if out.shape != expected:
        raise ValueError(f"{name}: out has shape {out.shape}, should be {expected}")
    if name in ("sum", "prod"):
        fill(out, 0 if name == "sum" else 1)
    elif x.size:
        strided_copy(out, x[tuple(slice(0, 1) if d in reduced else slice(None) for d in range(x.ndim))])
    elif out.size:
        raise ValueError(f"{name}: shape {x.shape} has no elements along {sorted(reduced)}")
    if x.size:
        _check_once(name, out)
        _run(code, np.broadcast_to(out, x.shape), x, x)


def _apply(name: str, names: Sequence[str], base: int, out: Array, x: Array, y: Array) -> None:
    code = _code(name, names, base, (out, x, y))
    _check_once(name, out)
    x, y = (np.broadcast_to(operand, out.shape) for operand in (x, y))
    if out.size:
        x, y = (_apart(operand, out) for operand in (x, y))
        _run(code, out, x, y)


def _code(name: str, names: Sequence[str], base: int, arrays: Sequence[Array]) -> int:
    if name not in names:
        raise ValueError(f"no operation {name!r}; there are {', '.join(names)}")
    kinds = [a.dtype for a in arrays]
    if kinds[0] not in _DTYPES or any(kind != kinds[0] for kind in kinds):
        raise ValueError(
            f"{name}: dtypes {', '.join(map(str, kinds))}; should be one of {', '.join(map(str, _DTYPES))}"
        )
    return base + names.index(name)


def _check_once(name: str, out: Array) -> None:
    if out.size and not normal(out.shape, out.strides, out.strides, out.itemsize).writes_once:
        raise ValueError(f"{name}: out of shape {out.shape} and strides {out.strides} holds one element twice")


def _apart(operand: Array, out: Array) -> Array:
    same = operand.strides == out.strides and operand.ctypes.data == out.ctypes.data
    return operand if same or not np.may_share_memory(operand, out) else operand.copy()


def _run(code: int, out: Array, x: Array, y: Array) -> None:
    dims = _loops(out, x, y)
    inner, outer = dims[-2:], dims[:-2]
    table = np.array([*outer, *inner], np.int64)
    like = np.zeros((), out.dtype)[()]
    _strided(code, table, out.ctypes.data, x.ctypes.data, y.ctypes.data, like)


def _loops(out: Array, x: Array, y: Array) -> list[tuple[int, int, int, int]]:
    """Length and three strides in bytes of each loop, outermost first, neighbours merged; at least two."""
    form = list(zip(out.shape, out.strides, x.strides, y.strides, strict=True))
    dims = sorted((d for d in form if d[0] != 1), key=lambda d: tuple(-abs(s) for s in d[1:]))
    merged: list[tuple[int, int, int, int]] = []
    for n, *steps in dims:
        if merged and all(old == n * new for old, new in zip(merged[-1][1:], steps, strict=True)):
            merged[-1] = (merged[-1][0] * n, *steps)
        else:
            merged.append((n, *steps))
    while len(merged) < 2:
        merged.insert(0, (1, 0, 0, 0))
    # Beside the dimension in which the target steps least stands the one in which an operand does.
    last = merged.pop()
    near = min(range(len(merged)), key=lambda k: min(abs(merged[k][2]) or 1 << 62, abs(merged[k][3]) or 1 << 62))
    merged.append(merged.pop(near))
    return [*merged, last]


@instruction
def _get(typingctx: Any, address: Any, like: Any) -> Any:
    """The number at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return load(builder, args[0], context.get_value_type(like))

    return like(types.intp, like), generate


@instruction
def _put(typingctx: Any, address: Any, value: Any) -> Any:
    """Store a number at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        store(builder, args[1], args[0])
        return context.get_dummy_value()

    return types.void(types.intp, value), generate


@instruction
def _as(typingctx: Any, value: Any, like: Any) -> Any:
    """A number in the type of another: arithmetic on small integers wraps around, as NumPy's does."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.cast(builder, args[0], value, like)

    return like(value, like), generate


@compiled
def _result(code: int, old: Any, a: Any, b: Any, like: Any) -> Any:
    if code == 0:
        return _as(-a, like)
    if code == 1:
        return _as(abs(a), like)
    if code == 2:
        # A NaN is no less than zero: it stays what it is.
        return _as(0, like) if a < 0 else a
    if code == 3:
        return _as(a * a, like)
    if code == 4:
        return _as(a + b, like)
    if code == 5:
        return _as(a - b, like)
    if code == 6:
        return _as(a * b, like)
    if code == 7:
        return a if a >= b or a != a else b
    if code == 8:
        return a if a <= b or a != a else b
    if code == 9:
        return _as(old + a, like)
    if code == 10:
        return _as(old * a, like)
    if code == 11:
        return old if old >= a or old != old else a
    return old if old <= a or old != old else a


@compiled
def _row(code: int, n: int, out: int, d: int, x: int, a: int, y: int, b: int, like: Any) -> None:
    if code >= 9 and d == 0:
        # Eight sums side by side would be faster, but then the order of additions would hang on the layout.
        total = _get(out, like)
        for k in range(n):
            total = _result(code, total, _get(x + k * a, like), total, like)
        _put(out, total)
        return
    for k in range(n):
        old = _get(out + k * d, like) if code >= 9 else _as(0, like)
        _put(out + k * d, _result(code, old, _get(x + k * a, like), _get(y + k * b, like), like))


@compiled
def _strided(code: int, table: Any, out: int, x: int, y: int, like: Any) -> None:
    outer = 1
    ndim = len(table)
    for k in range(ndim - 2):
        outer *= table[k, 0]
    n1, n2 = table[ndim - 2, 0], table[ndim - 1, 0]
    d1, a1, b1 = table[ndim - 2, 1], table[ndim - 2, 2], table[ndim - 2, 3]
    d2, a2, b2 = table[ndim - 1, 1], table[ndim - 1, 2], table[ndim - 1, 3]
    for task in range(outer):
        rest, d, a, b = task, out, x, y
        for k in range(ndim - 3, -1, -1):
            i = rest % table[k, 0]
            rest //= table[k, 0]
            d += i * table[k, 1]
            a += i * table[k, 2]
            b += i * table[k, 3]
        # Whole rows where all operands lie along them, tiles where one lies across.
        long = n2 if abs(a2) <= abs(a1) and abs(b2) <= abs(b1) else _TILE
        for i0 in range(0, n1, _TILE):
            for j0 in range(0, n2, long):
                n = min(long, n2 - j0)
                for i in range(i0, min(i0 + _TILE, n1)):
                    _row(
                        code, n, d + i * d1 + j0 * d2, d2, a + i * a1 + j0 * a2, a2, b + i * b1 + j0 * b2, b2, like
                    )  # fmt: skip


__all__ = ["BINARY", "REDUCTIONS", "UNARY", "binary", "fill", "reduce", "unary"]
