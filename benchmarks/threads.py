"""How many threads a library may use: its adapter's `set_threads`, and the OpenBLAS that NumPy has loaded.

OpenBLAS takes its number of threads from the environment when it is loaded, which is long before a run's options are
known; afterwards only its own function changes it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SETTERS = (
    "openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_",
)


def set_threads(adapters: Sequence[Any], threads: int) -> None:
    """Let each operation of these libraries use that many threads."""
    for adapter in adapters:
        if hasattr(adapter, "set_threads"):
            adapter.set_threads(threads)
    for path in _loaded("openblas"):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)
            for name in _SETTERS:
                if hasattr(library, name):
                    getattr(library, name)(ctypes.c_int(threads))


def _loaded(name: str) -> list[str]:
    """Paths of the shared libraries in this process whose file name holds `name`; none outside Linux."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = {parts[5] for parts in (line.split(maxsplit=5) for line in lines) if len(parts) == 6}
    return sorted(path for path in paths if name in Path(path).name)
