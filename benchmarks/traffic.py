"""Memory traffic of steps: the cache lines that their operands and their result lie on, counted from the layouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stridecheck.conformance.observation import TensorState
from stridecheck.conformance.operations import writes_to
from stridecheck.conformance.program import ITEMSIZES, Ref, Step
from stridecheck.reference_impl.layout import contiguous_strides

LINE = 64
"""Bytes of a cache line; a storage is taken to begin on one."""

_OVERWRITES = frozenset({"copy_", "fill_", "zero_"})
"""Operations that write their first operand without a need to read it."""

_MAPS = frozenset({"UntypedStorage.from_file"})
"""Operations whose result has its bytes when they are asked for."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where a tensor lies in its storage: strides and offset in elements, itemsize in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int


def lines_touched(accesses: Iterable[Access]) -> int:
    """Number of different cache lines on which the elements of tensors in one storage lie.

    Exact for every layout: overlapping, stepped, negative, and elements that cross from one line to the next.

    >>> lines_touched([Access((100,), (1,), 0, 4)])  # 400 bytes in a row
    7
    >>> lines_touched([Access((100,), (16,), 0, 4)])  # each on a line of its own
    100
    """
    firsts, lasts = [], []
    for access in accesses:
        starts, length = _runs(access)
        firsts.append(starts // LINE)
        lasts.append((starts + length - 1) // LINE)
    first, last = np.concatenate([_NONE, *firsts]), np.concatenate([_NONE, *lasts])
    if not len(first):
        return 0
    # One more at the first line of each run, one less after its last: the sum says how many runs lie on a line.
    low = int(first.min())
    change = np.bincount(first - low, minlength=int(last.max()) - low + 2)
    change -= np.bincount(last - low + 1, minlength=len(change))
    return int(np.count_nonzero(np.cumsum(change)))


_NONE: NDArray[np.int64] = np.zeros(0, np.int64)


def _runs(access: Access) -> tuple[NDArray[np.int64], int]:
    """First bytes of runs of equal length in which no line is left out, and that length in bytes.

    Dimensions join the run from the smallest stride on, as long as no whole line fits between two of its parts.
    """
    if 0 in access.shape:
        return _NONE, 0
    start, length = access.offset * access.itemsize, access.itemsize
    dims = []
    for size, stride in zip(access.shape, access.strides, strict=True):
        step = stride * access.itemsize
        if size > 1 and step:
            start += min(0, (size - 1) * step)
            dims.append((abs(step), size))
    dims.sort()
    while dims and dims[0][0] <= length + LINE - 1:
        step, size = dims.pop(0)
        length += (size - 1) * step
    starts = np.array([start], np.int64)
    for step, size in dims:
        starts = (starts[:, None] + np.arange(size, dtype=np.int64) * step).ravel()
    return starts, length


def touched_bytes(steps: Sequence[Step], before: Mapping[str, TensorState], results: Sequence[TensorState]) -> int:
    """Bytes of the lines that steps must read and write together, a line that is read and written counted twice.

    `before` are the states of all values before the steps, by key; `results` those of what the last one made or wrote;
    what lies between is not counted. A result that lies in the memory of an operand of steps that do not write (a view)
    moves nothing, nor does one that is mapped: 0.
    """
    if all(step.op in _MAPS for step in steps):
        return 0
    read = dict.fromkeys(key for step in steps for key in _read(step))
    operands = [before[key] for key in read if key in before]
    if not writes_before(steps, before) and any(
        r.storage is not None and r.storage == o.storage for r in results for o in operands
    ):
        return 0
    return LINE * (_lines(operands) + _lines(results))


def writes_before(steps: Sequence[Step], before: Mapping[str, TensorState]) -> bool:
    """Whether steps write into a value that was there before them."""
    return any(isinstance(target, Ref) and target.key in before for target in map(writes_to, steps))


def _read(step: Step) -> list[str]:
    args = step.args[1:] if step.op in _OVERWRITES else step.args
    kwargs = tuple([(name, value) for name, value in step.kwargs if name != "out"])
    return [ref.key for ref in Step(step.op, args, kwargs).refs()]


def _lines(states: Sequence[TensorState]) -> int:
    by_storage: dict[str, list[Access]] = {}
    for number, state in enumerate(states):
        shape, itemsize = state.shape, ITEMSIZES.get(state.dtype, 1)
        strides = contiguous_strides(shape) if state.strides is None else state.strides
        # Where the storage cannot be seen, each tensor counts as one of its own.
        name = f"#{number}" if state.storage is None else state.storage
        by_storage.setdefault(name, []).append(Access(shape, strides, state.offset or 0, itemsize))
    return sum(lines_touched(accesses) for accesses in by_storage.values())
