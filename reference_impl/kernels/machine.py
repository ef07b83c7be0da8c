"""What the processor can do, and how large its caches are: asked once, for the planner."""

import os
import platform
from functools import lru_cache
from pathlib import Path

from .plans import Host

_WIDTHS = {"avx512": 64, "avx2": 32, "portable": 0}
VARIABLE = "STRIDECHECK_KERNELS"
"""Environment variable that chooses kernels: avx512, avx2 or portable; those that the machine lacks are refused."""

_DEFAULT_CACHE, _DEFAULT_FIRST = 32 << 20, 32 << 10
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@lru_cache(1)
def host() -> Host:
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
    return Host(
        width=best, cache_bytes=kept_bytes(), first_bytes=first_bytes(), intel=is_intel(), window=window_bytes(best)
    )


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


def window_bytes(width: int) -> int:
    """Bytes of the source that one instruction picks any bytes from, with registers of so many bytes; 0 for none.

    All 64 of a register where the processor has AVX-512 VBMI, else 16.
    """
    if width == 0 or platform.machine() not in ("x86_64", "AMD64"):
        return 0
    from llvmlite import binding

    return 64 if width == 64 and binding.get_host_cpu_features().get("avx512vbmi") else 16


@lru_cache(1)
def goes_abreast() -> bool:
    """Whether long runs are best copied from four places at a time.

    With registers of a line always, 0.92 to 0.96 of the time on Intel's processors, 0.84 of 256 MB on AMD's family 26,
    0.86 to 0.9 on family 25: hardware goes on in each place by itself, and what it asks for keeps none of the buffers
    that stores wait in. With shorter ones on processors before those that encrypt vectors (VAES), measured on AMD's
    families 23 (1.1 times as fast as one page after the other) and 25 (2.6 times as slow).
    """
    from llvmlite import binding

    try:
        if vector_bytes() == 64:
            return True
        return not binding.get_host_cpu_features().get("vaes")
    except RuntimeError:
        return False


@lru_cache(1)
def kept_bytes(root: Path = _CACHES) -> int:
    """Bytes from which on a core's caches do not keep what is copied; 20 MiB where Linux tells nothing.

    That is five eighths of the last-level cache: other cores and other data take the rest. But the third level of
    Intel's servers is spread over all cores of the package, a virtual machine is told of the whole, and it is slower
    than memory that is written past it (copies of 2 MB: 14 GB/s through it, 18 past it): the second level and half of
    it again.
    """
    sizes = _sizes(root)
    if is_intel() and 2 in sizes:
        return sizes[2] * 3 // 2
    return max(sizes.values(), default=_DEFAULT_CACHE) // 8 * 5


def ahead_bytes() -> int:
    """How many bytes ahead is asked for what is taken apart as it is read: items that are stepped over, channels.

    A page on Intel's processors (bytes of three channels: 1.3 times a dense copy with 512, 1.04 with 4096; every 4th
    byte 3.9 and 3.1).
    """
    return 4096 if is_intel() else 512


@lru_cache(1)
def first_bytes(root: Path = _CACHES) -> int:
    """Bytes of a core's first-level cache for data; 32 KiB where Linux tells nothing."""
    return _sizes(root).get(1, _DEFAULT_FIRST)


def _sizes(root: Path) -> dict[int, int]:
    """Bytes of the caches that hold data, by their level."""
    sizes = {}
    for path in root.glob("index*"):
        try:
            text = (path / "size").read_text(encoding="ascii").strip()
            if (path / "type").read_text(encoding="ascii").strip() != "Instruction":
                level = int((path / "level").read_text(encoding="ascii"))
                sizes[level] = int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1:], 0)
        except (OSError, ValueError):
            continue
    return sizes


def model() -> str:
    """The processor's name, as far as the system tells it."""
    return _told("model name") or platform.processor() or platform.machine()


def is_intel() -> bool:
    """Whether the processor is one of Intel's."""
    return _told("vendor_id") == "GenuineIntel"


@lru_cache(4)
def _told(key: str) -> str:
    """What Linux tells of the first processor; empty where it does not."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""
