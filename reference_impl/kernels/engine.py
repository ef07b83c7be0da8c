"""Copies performed: plans looked up, kernels called, overlap decided."""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import items, machine, runs, transpose, weave
from .descriptor import DONE, DST_HIGH, DST_LOW, NEAR
from .llvm import WORDS
from .normal import normal
from .planner import OWN, Choice, Plan, plan_for
from .pool import share

Array = npt.NDArray[Any]

_KERNELS: dict[str, Any] = {
    "runs": runs.copy_runs,
    "transpose": transpose.copy_transposed,
    "interleave": weave.copy_woven,
    "deinterleave": weave.copy_woven,
    "step": weave.copy_picked,
    "fill": weave.copy_picked,
    "items": items.copy_items,
}
_CACHED = 4096
"""Plans that are kept."""
_SHARED = 1 << 18
"""Bytes from which on threads are worth waking."""
_WORK = 10_000
"""Steps that NumPy may take to decide exactly whether two arrays share a byte; harder cases count as if they did."""


class Ready:
    """A plan, its kernel and the arguments that never change: one call away from a copy."""

    __slots__ = ("arguments", "kernel", "nbytes", "plan", "row")

    def __init__(self, plan: Plan, width: int) -> None:
        self.plan = plan
        self.kernel = _KERNELS[plan.kernel]
        self.row = plan.row.ctypes.data
        word = () if plan.kernel == "runs" else (WORDS[plan.form.item, width or 64],)
        self.arguments = (0, plan.tasks, *word)
        self.nbytes = plan.form.nbytes

    def __call__(self, dst_cell: int, src_cell: int, threads: int) -> int:
        """Copy; the answer is one of DONE, NEAR and MISALIGNED."""
        if threads > 1 and self.nbytes >= _SHARED:
            _, tasks, *word = self.arguments
            return share(
                lambda first, last: int(self.kernel(self.row, dst_cell, src_cell, first, last, *word)), tasks, threads
            )
        return int(self.kernel(self.row, dst_cell, src_cell, *self.arguments))


Key = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]
_ready: dict[Key, Ready | None] = {}
_ready_elsewhere: dict[Key, Ready] = {}
"""Plans for targets that do not begin at a multiple of 64 bytes, where that makes a difference."""


def copy(dst: Array, src: Array, threads: int) -> None:
    """Copy elements between arrays of equal shape and dtype that have elements; the dtype holds no references."""
    key = dst.shape, dst.strides, src.strides, dst.itemsize
    try:
        ready = _ready[key]
    except KeyError:
        ready = _prepared(key)
    if ready is None or not dst.flags.writeable:
        # A target that is written twice in one place, or not at all: NumPy has the order, and the message.
        dst[...] = src
        return
    answer = ready(_cell(dst), _cell(src), threads)
    if answer != DONE:
        _copy_otherwise(key, dst, src, answer, threads)


def _copy_otherwise(key: Key, dst: Array, src: Array, answer: int, threads: int) -> None:
    if answer == NEAR and _share_memory(dst, src):
        copy(dst, src.copy(), threads)
        return
    ready = _ready_elsewhere.get(key)
    if ready is None:
        ready = _ready_elsewhere[key] = _without_checks(key)
    ready(_cell(dst), _cell(src), threads)


def _share_memory(a: Array, b: Array) -> bool:
    try:
        return bool(np.shares_memory(a, b, max_work=_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _prepared(key: Key) -> Ready | None:
    ready = None
    form = normal(*key)
    if form.writes_once:
        target = machine.target()
        ready = Ready(plan_for(form, target), target.width)
    if len(_ready) >= _CACHED:
        _ready.clear()
        _ready_elsewhere.clear()
    _ready[key] = ready
    return ready


def _without_checks(key: Key) -> Ready:
    """A plan that holds for any two places."""
    target = replace(machine.target(), aligned=False)
    ready = Ready(plan_for(normal(*key), target), target.width)
    ready.plan.row[DST_HIGH] = ready.plan.row[DST_LOW] = -(1 << 62)
    return ready


def planned(dst: Array, src: Array, choice: Choice = OWN) -> Plan:
    """The plan of a copy between two arrays.

    Raises: ValueError where shapes or item sizes differ, or where the target is written twice in one place.
    """
    if dst.shape != src.shape or dst.itemsize != src.itemsize:
        raise ValueError(f"plan: {dst.shape} of {dst.itemsize} bytes, and {src.shape} of {src.itemsize} bytes")
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    if not form.writes_once:
        raise ValueError(f"plan: strides {dst.strides} with shape {dst.shape} write one place twice")
    aligned = (dst.ctypes.data + form.dst_shift) % 64 == 0
    return plan_for(form, replace(machine.target(), aligned=aligned), choice)


def _probed_cell() -> Callable[[Array], int]:
    # An array object keeps the pointer to its memory right behind its head: one of NumPy's public structures. To ask
    # for it in Python takes longer than a small copy.
    probe = np.zeros(3, np.int16)[1:]
    at = object.__basicsize__
    if ctypes.c_void_p.from_address(id(probe) + at).value == probe.ctypes.data:
        return lambda a: id(a) + at
    return _kept_cell


_cells: list[npt.NDArray[np.int64]] = []


def _kept_cell(a: Array) -> int:
    cell = np.array([a.ctypes.data], np.int64)
    _cells.append(cell)
    del _cells[:-64]
    return int(cell.ctypes.data)


_cell = _probed_cell()
