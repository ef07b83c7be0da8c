"""Copies performed: plans looked up, kernels called, overlap decided."""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from . import machine, objects, tuning
from .descriptor import DONE, MISALIGNED, NEAR, NO_MEMORY
from .entry import HEAD, Table, opened
from .normal import Normal, normal
from .planner import plan_for
from .plans import LINE, OWN, Choice, Host, Plan
from .pool import share

Array = npt.NDArray[Any]

SHARED = 1 << 18
"""Bytes from which on threads are worth waking."""
_WORK = 10_000
"""Steps that NumPy may take to decide exactly whether two arrays share a byte; harder cases count as if they did."""


CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)
"""A kernel as Python calls it: other threads run meanwhile."""


class Ready:
    """A plan, its kernel and the arguments that never change: one call away from a copy."""

    __slots__ = ("address", "calls", "descriptor", "kernel", "nbytes", "plan", "tasks")

    def __init__(self, plan: Plan, width: int) -> None:
        self.plan = plan
        self.address = objects.kernel(plan.kernel, plan.form.item, width or 64)
        self.kernel = CALL(self.address)
        self.descriptor = plan.descriptor.ctypes.data
        self.tasks = plan.tasks
        self.nbytes = plan.form.nbytes
        self.calls = [Ready(more, width) for more in plan.more]

    def __call__(self, dst_cell: int, src_cell: int, threads: int) -> int:
        """Copy; the answer is one of DONE, NEAR, MISALIGNED and NO_MEMORY."""
        if threads == 1 or self.nbytes < SHARED:
            answer = int(self.kernel(self.descriptor, dst_cell, src_cell, 0, self.tasks))
        else:
            answer = share(
                lambda first, last: int(self.kernel(self.descriptor, dst_cell, src_cell, first, last)),
                self.tasks,
                threads,
            )
        for call in self.calls:
            answer = answer or call(dst_cell, src_cell, threads)
        return answer

    def told(self) -> list[tuple[int, Plan]]:
        """Kernel and plan of this call and of those that follow it."""
        return [(self.address, self.plan), *(one for call in self.calls for one in call.told())]

    def look_at_nothing(self) -> None:
        """Copy from now on without a look at how near the two sides are."""
        self.plan.look_at_nothing()
        for call in self.calls:
            call.look_at_nothing()


def prepared(dst: Array, src: Array, compiles: bool = True) -> Ready | None:
    """What copies between arrays laid out like these; None where NumPy must.

    That is also where a kernel would have to be compiled first, unless this `compiles`.
    """
    if dst.dtype.hasobject or dst.size == 0:
        return None
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    if not form.writes_once:
        return None
    host = _host(dst, src, form)
    plan = _plan(dst, src, form, host)
    if not compiles and not _is_compiled(plan, host.width):
        return None
    return Ready(plan, host.width)


def _plan(dst: Array, src: Array, form: Normal, host: Host) -> Plan:
    """The plan of a copy, tuned where that is wanted."""
    plan = plan_for(form, host)
    if tuning.wanted() and plan.kernel in tuning.TUNED and form.nbytes >= tuning.SMALLEST:
        plan = plan_for(form, host, _tuned(dst, src, plan, form, host))
    return plan


def _is_compiled(plan: Plan, width: int) -> bool:
    kept = objects.is_kept(plan.kernel, plan.form.item, width or 64)
    return kept and all(_is_compiled(more, width) for more in plan.more)


@lru_cache(1)
def _tuning() -> tuning.Tuning:
    return tuning.Tuning(tuning.path_for(machine.model()), machine.model())


def _tuned(dst: Array, src: Array, plan: Plan, form: Normal, host: Host) -> Choice:
    if np.may_share_memory(dst, src) or not dst.flags.writeable:
        return OWN

    def measure(choice: Choice) -> float | None:
        ready = Ready(plan_for(form, host, choice), host.width)
        answers: list[int] = []
        took = tuning.timed(lambda: answers.append(ready(cell(dst), cell(src), 1)))
        return took if answers == [DONE] else None

    return _tuning().choose(plan, form, host, measure)


def _host(dst: Array, src: Array, form: Normal) -> Host:
    phases = (dst.ctypes.data + form.dst_shift) % LINE, (src.ctypes.data + form.src_shift) % LINE
    return replace(machine.host(), dst_phase=phases[0], src_phase=phases[1])


def copy_otherwise(dst: Array, src: Array, answer: int, threads: int) -> None:
    """Copy where a kernel has answered NEAR, MISALIGNED or NO_MEMORY.

    Raises: MemoryError where there is no memory for the buffers of a tile, again.
    """
    if answer == NEAR and share_memory(dst, src):
        src = src.copy()
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    host = _host(dst, src, form)
    key = form, host.dst_phase, answer == NEAR
    ready = _elsewhere.get(key)
    if ready is None:
        if len(_elsewhere) >= _CACHED:
            _elsewhere.clear()
        ready = Ready(_plan(dst, src, form, host), host.width)
        if answer == NEAR:
            ready.look_at_nothing()
        # Only now: another thread may take it at once.
        _elsewhere[key] = ready
    if answer == MISALIGNED:
        table.add(dst, src, ready.told())
    answer = ready(cell(dst), cell(src), threads)
    if answer == NO_MEMORY:
        raise MemoryError("strided_copy: no memory for the buffers of a tile")
    assert answer == DONE


_CACHED = 1024
_elsewhere: dict[tuple[Normal, int, bool], Ready] = {}
"""Plans for targets that begin elsewhere within a line than the first of their layout did, or lie near the source; and
for those of which a tile's buffers found no memory."""


def share_memory(a: Array, b: Array) -> bool:
    """Whether two arrays share a byte; true, too, where that is too hard to decide."""
    try:
        return bool(np.shares_memory(a, b, max_work=_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def planned(dst: Array, src: Array, choice: Choice = OWN) -> Plan:
    """The plan of a copy between two arrays.

    Raises: ValueError where shapes or item sizes differ, where there is no element, or where the target may be written
    twice in one place.
    """
    if dst.shape != src.shape or dst.itemsize != src.itemsize:
        raise ValueError(f"plan: {dst.shape} of {dst.itemsize} bytes, and {src.shape} of {src.itemsize} bytes")
    if dst.size == 0:
        raise ValueError(f"plan: shape {dst.shape} has no elements")
    form = normal(dst.shape, dst.strides, src.strides, dst.itemsize)
    if not form.writes_once:
        raise ValueError(f"plan: strides {dst.strides} with shape {dst.shape} may write one place twice")
    return plan_for(form, _host(dst, src, form), choice)


def _probed_cell() -> Callable[[Array], int]:
    # An array object keeps the pointer to its memory right behind its head: one of NumPy's public structures. To ask
    # for it in Python takes longer than a small copy.
    probe = np.zeros(3, np.int16)[1:]
    if ctypes.c_void_p.from_address(id(probe) + HEAD).value == probe.ctypes.data:
        return _own_cell
    return _kept_cell


def _own_cell(a: Array) -> int:
    return id(a) + HEAD


# Where the probe fails: cells are kept for the last 64 calls, more than threads copy at once.
_cells: list[npt.NDArray[np.int64]] = []


def _kept_cell(a: Array) -> int:
    made = np.array([a.ctypes.data], np.int64)
    _cells.append(made)
    del _cells[:-64]
    return int(made.ctypes.data)


cell = _probed_cell()
"""Address of a pointer to an array's first element."""

table = Table()
"""What `enter` knows."""
enter: Callable[[Array, Array], bool] = opened(table) or (lambda dst, src: False)
"""Copies what the table knows, and answers whether it did."""
