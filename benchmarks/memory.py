"""Memory of a case: what it needs, what is free, what a call holds at its peak; and caches emptied."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .cases import AnyCase

_OBSERVED = 4
"""Copies of a case's bytes that are held while one library's answer is observed and compared with the oracle's."""


def needed_bytes(case: AnyCase, adapters: int) -> int:
    """Bytes that timing a case on so many libraries takes at its peak, roughly and rather too many."""
    # Beside each library's own there are the copies that everything is compared with.
    return case.held_bytes * (adapters + 1 + _OBSERVED)


def available_bytes() -> int | None:
    """Bytes that can be allocated without swapping, None where the system does not say."""
    found = [free for free in (_free_in_system(), _free_in_group()) if free is not None]
    return min(found, default=None)


def is_lack(error: str, text: str) -> bool:
    """Whether an exception says that there is no memory left, by the name of its type and its text.

    >>> is_lack("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000000000000 bytes")
    True
    """
    # PyTorch's on the CPU and the reference's are a RuntimeError like any other.
    return error in _LACKS or (error == "RuntimeError" and any(part in text for part in _SAYS_LACK))


_LACKS = ("MemoryError", "_ArrayMemoryError", "OutOfMemoryError")
_SAYS_LACK = ("can't allocate memory", "cannot allocate ")


def peak_bytes(adapter: Any, call: Callable[[], Any]) -> int | None:
    """Bytes that a call holds at its peak, beyond what was there before; None where nothing can tell.

    The library's own allocator says, where its adapter has `peak_bytes(call)`; else Python's, which NumPy reports to;
    else, for a library that works in the host's memory, what the process has grown by.
    """
    if hasattr(adapter, "peak_bytes"):
        own: int | None = adapter.peak_bytes(call)
        return own
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = call()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    del result
    if peak >= _PYTHON_OWN:
        return peak
    return None if hasattr(adapter, "synchronize") else _resident_peak(call)


_PYTHON_OWN = 4096
"""Bytes below which what Python itself allocates may be all that there is."""
_RESIDENT_OWN = 1_000_000
"""Bytes below which a change of the resident size says nothing: Linux counts it in lots, for each thread."""


def _resident_peak(call: Callable[[], Any]) -> int | None:
    """What the resident size of this process grows by at its peak; None where that says nothing, or outside Linux."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is now what is resident now
        before = _resident("VmRSS")
        result = call()
        peak = _resident("VmHWM") - before
    except (OSError, ValueError):
        return None
    del result
    return peak if peak >= _RESIDENT_OWN else None


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), 0)


def empty_caches() -> None:
    """Write more memory than any cache holds."""
    _EVICTED.fill(0)


_EVICTED = np.empty(96_000_000, np.uint8)
"""More than the largest caches of today's servers that one core can fill; not touched until it is asked for."""


def _free_in_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (OSError, ValueError):
        return None


def _free_in_group(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What a container's limit leaves, cached files that can be dropped included; None without one."""
    try:
        limit = (root / "memory.max").read_text(encoding="ascii").strip()
        if limit == "max":
            return None
        used = int((root / "memory.current").read_text(encoding="ascii"))
        stat = dict(line.split() for line in (root / "memory.stat").read_text(encoding="ascii").splitlines())
        return int(limit) - used + int(stat.get("inactive_file", 0))
    except (OSError, ValueError):
        return None


def too_little(needed: int, available: int | None) -> str | None:
    """Why a case is not run, None where it fits.

    >>> too_little(3 << 30, 1 << 30)
    'needs about 3.22 GB of memory, 1.07 GB are free'
    """
    if available is None or needed <= available:
        return None
    return f"{needs_text(needed)}, {available / 1e9:.2f} GB are free"


def needs_text(needed: int) -> str:
    """How much memory is needed, in words."""
    return f"needs about {needed / 1e9:.2f} GB of memory"
