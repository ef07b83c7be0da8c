"""Strided arithmetic: fills, unary and binary operations with broadcasting, reductions.

A kernel goes through a target and its operands at once, in the order that costs least, by rows in which all sides lie
in one piece; a side that does not is brought into that order tile by tile, by the kernels of copies. Results are
written in the dtype of the operands: nothing is promoted.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_tuple

from . import get_threads, machine, objects, strided_copy
from .descriptor import DONE, NO_MEMORY
from .elementwise_plan import (
    BINARY,
    REDUCTIONS,
    UNARY,
    Form,
    described,
    form_of,
    lines_of,
    reduced_form,
    regions,
)
from .engine import SHARED, Ready, cell
from .normal import normal
from .planner import plan_for
from .plans import Choice
from .pool import share

Array = npt.NDArray[Any]

_KNOWN = 1024
"""Operations between layouts that are remembered."""
_KEPT = Choice(streamed=0)
"""How tiles are copied: what is in the caches stays there."""
_DTYPES = dict.fromkeys(np.dtype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"))


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
    _apply(name, UNARY, out, [x])


def binary(name: str, out: Array, x: Array, y: Array) -> None:
    """Apply one of `BINARY` to pairs of elements.

    Shapes: `x` and `y` broadcast to `out`; all have one dtype. Raises: ValueError for another name, dtype or shape, and
    where `out` overlaps itself. An operand that overlaps `out` in other places is read first.

    >>> out = np.zeros((2, 2))
    >>> binary("add", out, np.array([[1.0, 2.0], [3.0, 4.0]]).T, np.array([10.0, 20.0]))
    >>> out.tolist()
    [[11.0, 23.0], [12.0, 24.0]]
    """
    _apply(name, BINARY, out, [x, y])


def reduce(name: str, out: Array, x: Array, axes: Sequence[int]) -> None:
    """Reduce some dimensions with one of `REDUCTIONS`, in an order that shape and strides decide.

    Shapes: `out` has the shape of `x` with lengths of 1 at `axes`; both have one dtype, which is what adds up.
    Raises: ValueError for another name, dtype or shape, for axes that `x` has not or that come twice, for an empty `x`
    without a neutral element, and where `out` overlaps itself.

    >>> out = np.zeros((1, 3))
    >>> reduce("sum", out, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (0,))
    >>> out.tolist()
    [[5.0, 7.0, 9.0]]
    """
    _check(name, tuple(REDUCTIONS), [out, x])
    reduced = normalize_axis_tuple(axes, x.ndim)
    expected = tuple(1 if d in reduced else n for d, n in enumerate(x.shape))
    if out.shape != expected:
        raise ValueError(f"{name}: out has shape {out.shape}, should be {expected}")
    if out.size == 0:
        return
    neutral = _neutral(name, out.dtype)
    if x.size == 0:
        if name in ("amax", "amin"):
            raise ValueError(f"{name}: shape {x.shape} has no elements along {sorted(reduced)}")
        fill(out, neutral)
        return
    strides, operation = _reduction(name, out.dtype, x.shape, x.strides, reduced)
    suits = all(n == 1 or s == wanted for n, s, wanted in zip(out.shape, out.strides, strides, strict=True))
    if suits and not np.may_share_memory(out, x):
        result = out
        out.fill(neutral)
    else:
        _check_once(name, out.shape, out.strides, out.itemsize)
        # Memory of its own, dense in the order that the operand is gone through.
        memory = np.full(out.size, neutral, out.dtype)
        first = sum((1 - n) * s for n, s in zip(out.shape, strides, strict=True) if s < 0)
        result = np.ndarray(out.shape, out.dtype, memory, first, strides)
    operation(result, x)
    if result is not out:
        strided_copy(out, result)


def _neutral(name: str, dtype: np.dtype[Any]) -> Any:
    """What a reduction begins with: -0.0 is what a sum of -0.0 alone stays equal to."""
    if name == "prod":
        return 1
    if name == "sum":
        return -0.0 if dtype.kind == "f" else 0
    low, high = (-inf, inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return low if name == "amax" else high


def _apply(name: str, names: Sequence[str], out: Array, operands: Sequence[Array]) -> None:
    _check(name, names, [out, *operands])
    in_place, layouts = False, []
    sides = [out, *operands]
    for k, operand in enumerate(operands, start=1):
        if np.may_share_memory(operand, out):
            if operand.strides == out.strides and operand.ctypes.data == out.ctypes.data:
                in_place = True
            else:
                sides[k] = operand = operand.copy()
        layouts += [operand.shape, operand.strides]
    operation = _elementwise(name, out.dtype, in_place, out.shape, out.strides, *layouts)
    if operation:
        operation(*sides)


def _check(name: str, names: Sequence[str], arrays: Sequence[Array]) -> None:
    if name not in names:
        raise ValueError(f"no operation {name!r}; there are {', '.join(names)}")
    dtype = arrays[0].dtype
    if dtype not in _DTYPES or any(a.dtype != dtype for a in arrays):
        kinds = ", ".join(str(a.dtype) for a in arrays)
        raise ValueError(f"{name}: dtypes {kinds}; should be one of {', '.join(map(str, _DTYPES))}")
    if not arrays[0].flags.writeable:
        raise ValueError(f"{name}: out is read-only")


def _check_once(name: str, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
    if not normal(shape, strides, strides, itemsize).writes_once:
        raise ValueError(f"{name}: out of shape {shape} and strides {strides} holds one element twice")


class _Operation:
    """An operation between some layouts: a kernel, and what it is told of the tiles of each shape."""

    def __init__(
        self, name: str, dtype: np.dtype[Any], form: Form, roles: Sequence[int], in_place: bool = False
    ) -> None:
        self._nbytes, self._roles = form.nbytes, roles
        reduces = roles[1] == 0 or name.startswith("fold")
        self._kernel = _CALL(objects.kernel("arithmetic", 1, 64))
        work = objects.arithmetic(name, dtype.str[1:])
        self._calls = []
        large = form.touched >= machine.target().cache_bytes
        # What is read just before it is written lies in the caches: to write past them would cost more.
        streamed = large and not (in_place or reduces or form.by_items or 0 in form.buffered)
        for region in regions(form, reduces):
            copies, told = [], []
            for side, copy in region.copies:
                # A buffer begins with a line, and a target may begin anywhere.
                target = replace(machine.target(), phase=0 if side else 16)
                ready = Ready(plan_for(copy, target, _KEPT), target.width)
                lines = lines_of(region, side) if large else np.zeros(0, np.int64)
                copies.append((ready, lines))
                for k, (address, plan) in enumerate(ready.told()):
                    asked = 0 if k else len(lines)
                    told.append((side, address, plan.row.ctypes.data, plan.tasks, lines.ctypes.data, asked))
            row = described(form, region, roles, work, streamed, told)
            # Tiles that are reduced into one place follow each other, and are one thread's.
            together = prod(dim.length for dim in region.outer if reduces and dim.steps[0] == 0)
            self._calls.append((row.ctypes.data, prod(dim.length for dim in region.outer), together, (row, copies)))

    def __call__(self, *sides: Array) -> None:
        cells = [cell(sides[role]) for role in self._roles]
        threads = get_threads() if self._nbytes >= SHARED else 1
        for row, tasks, together, _ in self._calls:
            if threads == 1:
                answer = self._kernel(row, *cells, tasks << 32)
            else:

                def part(first: int, last: int, row: int = row, together: int = together) -> int:
                    return int(self._kernel(row, *cells, first * together | last * together << 32))

                answer = share(part, tasks // together, threads)
            assert answer in (DONE, NO_MEMORY)
            if answer:
                raise MemoryError("no memory for the buffers of a tile")


_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)
"""A kernel as Python calls it: descriptor, cells of target and operands, first task and the one behind the last."""


@lru_cache(_KNOWN)
def _elementwise(name: str, dtype: np.dtype[Any], in_place: bool, *layouts: tuple[int, ...]) -> "_Operation | None":
    """What operates on shapes and strides in turn, the target's first; None where there is nothing to do."""
    shape, out = layouts[:2]
    strides = [out, *(_broadcast(name, shape, *layouts[k : k + 2]) for k in range(2, len(layouts), 2))]
    if 0 in shape:
        return None
    _check_once(name, shape, out, dtype.itemsize)
    form = form_of(shape, strides, dtype.itemsize)
    return _Operation(f"apply_{name}", dtype, form, (0, 1, 2 if len(strides) > 2 else -1), in_place)


def _broadcast(name: str, shape: tuple[int, ...], own: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an operand that is repeated to fill a shape."""
    new = len(shape) - len(own)
    if new < 0 or any(n not in (1, wanted) for n, wanted in zip(own, shape[new:], strict=True)):
        raise ValueError(f"{name}: an operand of shape {own} does not broadcast to {shape}")
    return (*[0] * new, *(0 if n == 1 else s for n, s in zip(own, strides, strict=True)))


@lru_cache(_KNOWN)
def _reduction(
    name: str, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], "_Operation"]:
    target, form = reduced_form(shape, strides, axes, dtype.itemsize)
    if form.dims[-1].steps[0]:
        # Rows of the operand are added to one of the target, which is an operand, too.
        return target, _Operation(f"apply_{REDUCTIONS[name]}", dtype, form, (0, 0, 1))
    return target, _Operation(f"fold_{REDUCTIONS[name]}", dtype, form, (0, 1, -1))
