"""Strided arithmetic: fills, unary and binary operations with broadcasting, reductions.

A kernel goes through a target and its operands at once, in the order that costs least, by rows in which all sides lie
in one piece; a side that does not is brought into that order tile by tile, by the kernels of copies. Results are
written in the dtype of the operands: nothing is promoted.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_tuple

from . import get_threads, machine, objects, strided_copy
from .descriptor import DONE, MISALIGNED, NEAR, NO_MEMORY
from .elementwise_plan import (
    BINARY,
    ORDERED,
    REDUCTIONS,
    UNARY,
    Form,
    form_of,
    lines_of,
    operation_descriptor,
    reduced_form,
    regions,
)
from .engine import CALL, SHARED, Ready, cell, share_memory
from .normal import normal
from .planner import plan_for
from .plans import Choice
from .pool import share

Array = npt.NDArray[Any]

_PARTS = 8
"""Parts that a long dimension is reduced in where results are few: each is work for another thread."""
_PARTED, _READ = 32 << 20, 16
"""Bytes of an operand from which on that is worth it, and how many of its elements each part's result stands for."""
_KNOWN = 1024
"""Operations between layouts that are remembered."""
_CACHED = Choice(streamed=0)
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
    `out` may overlap itself or is read-only, TypeError for what is no array, MemoryError where there is none for
    buffers. An operand that overlaps `out` in other places is read first.

    >>> out = np.zeros(3)
    >>> unary("relu", out, np.array([-1.0, 0.5, 2.0]))
    >>> out.tolist()
    [0.0, 0.5, 2.0]
    """
    key = _are_arrays(out, x) and (name, out.dtype, out.shape, out.strides, x.dtype, x.shape, x.strides, x is out)
    operation = _operations.get(key)
    if operation is None or not out.flags.writeable or operation(out, x) == NEAR:
        _apply(name, UNARY, key, out, x)


def binary(name: str, out: Array, x: Array, y: Array) -> None:
    """Apply one of `BINARY` to pairs of elements.

    Shapes: `x` and `y` broadcast to `out`; all have one dtype. Raises: ValueError for another name, dtype or shape, and
    where `out` may overlap itself or is read-only, TypeError for what is no array, MemoryError where there is none for
    buffers. An operand that overlaps `out` in other places is read first.

    >>> out = np.zeros((2, 2))
    >>> binary("add", out, np.array([[1.0, 2.0], [3.0, 4.0]]).T, np.array([10.0, 20.0]))
    >>> out.tolist()
    [[11.0, 23.0], [12.0, 24.0]]
    """
    key = _are_arrays(out, x, y) and (
        name, out.dtype, out.shape, out.strides,
        x.dtype, x.shape, x.strides, x is out,
        y.dtype, y.shape, y.strides, y is out,
    )  # fmt: skip
    operation = _operations.get(key)
    if operation is None or not out.flags.writeable or operation(out, x, y) == NEAR:
        _apply(name, BINARY, key, out, x, y)


def reduce(name: str, out: Array, x: Array, axes: Sequence[int]) -> None:
    """Reduce some dimensions with one of `REDUCTIONS`, in an order that shape and strides decide.

    Shapes: `out` has the shape of `x` with lengths of 1 at `axes`; both have one dtype, which is what adds up.
    Raises: ValueError for another name, dtype or shape, for axes that `x` has not or that come twice, for an empty `x`
    without a neutral element, and where `out` may overlap itself or is read-only; TypeError for what is no array,
    MemoryError where there is none for buffers.

    >>> out = np.zeros((1, 3))
    >>> reduce("sum", out, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (0,))
    >>> out.tolist()
    [[5.0, 7.0, 9.0]]
    """
    _check(name, REDUCTIONS, out, x)
    reduction = _reduction(name, out.dtype, out.shape, out.strides, x.shape, x.strides, tuple(axes))
    if reduction.parted is not None:
        _reduce_parts(name, out, x, axes, reduction.parted)
        return
    suits = reduction.strides == out.strides and not np.may_share_memory(out, x)
    result = out if suits else reduction.memory()
    result.fill(reduction.neutral)
    if reduction.operation is not None:
        reduction.operation(result, x)
    if not suits:
        strided_copy(out, result)


def _reduce_parts(name: str, out: Array, x: Array, axes: Sequence[int], dim: int) -> None:
    """Reduce the parts of a dimension, then their results; the same parts with any number of threads."""
    length, rest = divmod(x.shape[dim], _PARTS)
    before, whole = (slice(None),) * dim, length * _PARTS
    # What is left over is a part as well; all are read before anything is written: `out` may lie in `x`.
    results = np.empty((*out.shape[:dim], _PARTS + (rest > 0), *out.shape[dim + 1 :]), x.dtype)
    parts = x[(*before, slice(whole))].reshape(*x.shape[:dim], _PARTS, length, *x.shape[dim + 1 :])
    of_parts = results[(*before, slice(_PARTS))].reshape(*out.shape[:dim], _PARTS, *out.shape[dim:])
    reduced = [d % x.ndim for d in axes]
    reduce(name, of_parts, parts, [d + (d >= dim) for d in reduced])
    if rest:
        reduce(name, results[(*before, slice(_PARTS, None))], x[(*before, slice(whole, None))], reduced)
    reduce(name, out, results, (dim,))


@dataclass(frozen=True)
class _Reduction:
    """What reduces a layout, and the layout of a result that suits it."""

    operation: "_Operation | None"
    neutral: Any
    """What the result holds at first."""
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    parted: int | None = None
    """The dimension that is reduced in parts, so that threads can share it."""

    def memory(self) -> Array:
        """Memory for a result, dense in the order that the operand is gone through."""
        first = sum((1 - n) * s for n, s in zip(self.shape, self.strides, strict=True) if s < 0)
        return np.ndarray(self.shape, self.dtype, np.empty(prod(self.shape), self.dtype), first, self.strides)


@lru_cache(_KNOWN)
def _reduction(
    name: str, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...], own: tuple[int, ...],
    steps: tuple[int, ...], axes: tuple[int, ...],
) -> _Reduction:  # fmt: skip
    """What reduces `own` shape and `steps` over some axes into a shape and strides."""
    reduced = normalize_axis_tuple(axes, len(own), name)
    expected = tuple(1 if d in reduced else n for d, n in enumerate(own))
    if shape != expected:
        raise ValueError(f"{name}: out has shape {shape}, should be {expected}")
    if 0 in own and 0 not in shape and name in ("amax", "amin"):
        raise ValueError(f"{name}: shape {own} has no elements along {sorted(reduced)}")
    _check_once(name, shape, strides, dtype.itemsize)
    if 0 in own:
        return _Reduction(None, _neutral(name, dtype), dtype, shape, strides)
    target, form = reduced_form(own, steps, reduced, dtype.itemsize)
    # Rows of the operand are added to one of the target, which is an operand, too; or reduced to a number each.
    to_row = form.dims[-1].steps[0] != 0
    work, roles = ("apply", (0, 0, 1)) if to_row else ("fold", (0, 1, -1))
    operation = _Operation(f"{work}_{REDUCTIONS[name]}", dtype, form, roles, reduces=True)
    # A dimension of one element may have any stride.
    kept = tuple(s if n == 1 else wanted for n, s, wanted in zip(shape, strides, target, strict=True))
    few = operation.shared < _PARTS and form.nbytes >= _PARTED and prod(own[d] for d in reduced) >= _PARTS * _READ
    # The outermost dimension in memory that leaves little over: parts are read as the whole would be.
    wide = [d for d in reduced if few and own[d] >= _PARTS]
    parted = max(wide, key=lambda d: (own[d] >= 4 * _PARTS, abs(steps[d])), default=None)
    return _Reduction(operation, _neutral(name, dtype), dtype, shape, kept, parted)


def _neutral(name: str, dtype: np.dtype[Any]) -> Any:
    """What a reduction begins with; what a sum begins with is no -0.0, as it is none of NumPy's and torch's."""
    if name in ("sum", "prod"):
        return int(name == "prod")
    low, high = (-inf, inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return low if name == "amax" else high


def _are_arrays(*sides: Any) -> bool:
    """Whether all sides are arrays: a scalar of NumPy's, too, has a dtype, a shape and strides."""
    # A loop, not all(): each call asks this, and a generator takes half a microsecond.
    for side in sides:  # noqa: SIM110
        if not isinstance(side, np.ndarray):
            return False
    return True


def _apply(name: str, names: Collection[str], key: Any, out: Array, *operands: Array) -> None:
    """Apply an operation between layouts that are seen for the first time, or sides that are near each other."""
    _check(name, names, out, *operands)
    _check_once(name, out.shape, out.strides, out.itemsize)
    strides = [out.strides, *(_broadcast(name, out.shape, x.shape, x.strides) for x in operands)]
    if out.size == 0:
        return
    in_place = [x is out for x in operands]
    operation = _elementwise(name, out.dtype, out.shape, tuple(strides), tuple(in_place))
    if len(_operations) >= _KNOWN:
        _operations.clear()
    _operations[key] = operation
    if operation(out, *operands) != NEAR:
        return
    sides = [out, *operands]
    for k, x in enumerate(operands):
        if not in_place[k] and share_memory(out, x):
            in_place[k] = x.ctypes.data == out.ctypes.data and _alike(out, x)
            if not in_place[k]:
                sides[k + 1] = x.copy()
                strides[k + 1] = _broadcast(name, out.shape, x.shape, sides[k + 1].strides)
    _elementwise(name, out.dtype, out.shape, tuple(strides), tuple(in_place), looks=False)(*sides)


def _alike(a: Array, b: Array) -> bool:
    """Whether two arrays have one layout; a dimension of one element may have any stride."""
    dims = zip(a.shape, a.strides, b.strides, strict=False)
    return a.shape == b.shape and all(n == 1 or s == t for n, s, t in dims)


@lru_cache(_KNOWN)
def _elementwise(
    name: str, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...],
    in_place: tuple[bool, ...], looks: bool = True,
) -> "_Operation":  # fmt: skip
    """What operates on some layouts, of which operands are the target itself."""
    form = form_of(shape, strides, dtype.itemsize)
    looked_at = [looks and not same for same in in_place]
    roles = (0, 1, 2 if len(strides) > 2 else -1)
    return _Operation(f"apply_{name}", dtype, form, roles, in_place=any(in_place), looked_at=looked_at)


def _check(name: str, names: Collection[str], out: Array, *operands: Array) -> None:
    if not _are_arrays(out, *operands):
        raise TypeError(f"{name}: {', '.join(type(side).__name__ for side in (out, *operands))}; should all be arrays")
    if name not in names:
        raise ValueError(f"no operation {name!r}; there are {', '.join(names)}")
    if out.dtype not in _DTYPES or any(x.dtype != out.dtype for x in operands):
        kinds = ", ".join(str(a.dtype) for a in (out, *operands))
        raise ValueError(f"{name}: dtypes {kinds}; should all be one of {', '.join(map(str, _DTYPES))}")
    if not out.flags.writeable:
        raise ValueError(f"{name}: out is read-only")


def _check_once(name: str, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
    if 0 not in shape and not normal(shape, strides, strides, itemsize).writes_once:
        raise ValueError(f"{name}: out of shape {shape} and strides {strides} may hold one element twice")


def _broadcast(name: str, shape: tuple[int, ...], own: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an operand that is repeated to fill a shape."""
    new = len(shape) - len(own)
    if new < 0 or any(n not in (1, wanted) for n, wanted in zip(own, shape[new:], strict=True)):
        raise ValueError(f"{name}: an operand of shape {own} does not broadcast to {shape}")
    return (*[0] * new, *(0 if n == 1 else s for n, s in zip(own, strides, strict=True)))


class _Operation:
    """An operation between some layouts: a kernel, and what it is told of the tiles of each shape."""

    def __init__(
        self, work: str, dtype: np.dtype[Any], form: Form, roles: Sequence[int], reduces: bool = False,
        in_place: bool = False, looked_at: Sequence[bool] = (),
    ) -> None:  # fmt: skip
        self._nbytes, self._roles = form.nbytes, roles
        self._kernel = CALL(objects.kernel("arithmetic"))
        self._calls = []
        self.shared = 0
        """Parts that threads can share."""
        host = machine.host()
        large = form.touched >= host.cache_bytes
        # What is read just before it is written lies in the caches: to write past them would cost more.
        streamed = large and not (in_place or reduces or form.by_items or 0 in form.buffered)
        # Bits of sums and products are the same for signed and unsigned numbers: one kernel serves both.
        signed = dtype.kind == "i" and work.rpartition("_")[2] in ORDERED
        address = objects.arithmetic(work, dtype.str[1:] if signed or dtype.kind == "f" else f"u{dtype.itemsize}")
        for region in regions(form, reduces):
            copies, told = [], []
            for side, copy in region.copies:
                # A buffer begins with a line. A target may begin anywhere: where most of NumPy's do, not with a line.
                plan = plan_for(copy, replace(host, dst_phase=0 if side else 16), _CACHED)
                ready, lines = Ready(plan, host.width), lines_of(region, side) if large else _NONE
                ready.look_at_nothing()  # a buffer is near nothing
                copies.append((ready, lines))
                for k, (at, part) in enumerate(ready.told()):
                    asked = 0 if k else len(lines)
                    told.append((side, at, part.descriptor.ctypes.data, part.tasks, lines.ctypes.data, asked))
            descriptor = operation_descriptor(form, region, roles, address, streamed, looked_at, told)
            # Tiles that are reduced into one place follow each other, and are one thread's.
            together = prod(dim.length for dim in region.outer if reduces and dim.steps[0] == 0)
            tasks = prod(dim.length for dim in region.outer)
            self.shared += tasks // together
            # The last entry keeps alive what the row has addresses of.
            self._calls.append((descriptor.ctypes.data, tasks, together, (descriptor, copies)))

    def __call__(self, *sides: Array) -> int:
        """Operate; the answer is DONE, or NEAR where nothing was done, since a side may share memory with the target.

        Raises: MemoryError where there is no memory for the buffers of a tile.
        """
        out, x, y = [cell(sides[role]) for role in self._roles]
        threads = get_threads() if self._nbytes >= SHARED else 1
        for descriptor, tasks, together, _ in self._calls:
            if threads == 1:
                answer = self._kernel(descriptor, out, x, y, tasks << 32)
            else:

                def part(first: int, last: int, descriptor: int = descriptor, together: int = together) -> int:
                    return int(self._kernel(descriptor, out, x, y, first * together | last * together << 32))

                answer = share(part, tasks // together, threads)
            assert answer != MISALIGNED
            if answer == NO_MEMORY:
                raise MemoryError("no memory for the buffers of a tile")
            if answer:
                return NEAR
        return DONE


_NONE = np.zeros(0, np.int64)
_operations: dict[Any, _Operation] = {}
"""Elementwise operations by name, dtypes, shapes, strides, and whether operands are the target itself."""
