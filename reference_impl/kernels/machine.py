"""What the processor can do, and how large its caches are: asked once, for the planner."""

import os
import platform
from functools import lru_cache
from pathlib import Path

from .planner import Target

_WIDTHS = {"avx512": 64, "avx2": 32, "portable": 0}
VARIABLE = "STRIDECHECK_KERNELS"
"""Environment variable that chooses kernels: avx512, avx2 or portable; those that the machine lacks are refused."""

_DEFAULT_CACHE = 32 << 20


@lru_cache(1)
def target() -> Target:
    """The machine that plans are made for; kernels of narrower registers where the environment asks for them.

    Raises: ValueError where it asks for kernels that are not known or that the machine lacks.
    """
    best = vector_bytes()
    asked = os.environ.get(VARIABLE)
    if asked:
        if asked not in _WIDTHS:
            raise ValueError(f"{VARIABLE}={asked}: should be one of {', '.join(_WIDTHS)}")
        if _WIDTHS[asked] > best:
            raise ValueError(f"{VARIABLE}={asked}: this machine's vector registers hold {best} bytes")
        best = _WIDTHS[asked]
    return Target(width=best, cache_bytes=cache_bytes())


@lru_cache(1)
def vector_bytes() -> int:
    """Bytes of the vector registers that the kernels know how to use: 64 (AVX-512), 32 (AVX2) or 0."""
    from llvmlite import binding

    try:
        features = binding.get_host_cpu_features()
    except RuntimeError:  # llvmlite knows no features of this processor
        return 0
    if all(features.get(name) for name in ("avx512f", "avx512bw", "avx512vl", "avx512dq")):
        return 64
    return 32 if features.get("avx2") else 0


@lru_cache(1)
def cache_bytes(root: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """Size of the last-level cache, from what Linux tells of it; 32 MiB where nothing is told."""
    sizes = []
    for path in root.glob("index*/size"):
        try:
            text = path.read_text(encoding="ascii").strip()
            sizes.append(int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1:], 0))
        except (OSError, ValueError):
            continue
    return max(sizes, default=_DEFAULT_CACHE)


@lru_cache(1)
def model() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
