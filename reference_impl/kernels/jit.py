"""Numba's decorators with the types that a checker needs.

What is `compiled` is kept on disk by Numba, beside the module or where `NUMBA_CACHE_DIR` says. Numba compiles it anew
when its own file has changed, not when a file that it uses has: after work on `llvm.py`, remove `__pycache__/*.nb*`.
What is a `part` of a copy kernel is kept with the kernel (`objects.py`).
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """A function that Numba compiles on its first call, once for each set of argument types, and keeps on disk."""
    return cast("F", njit(cache=True, nogil=True)(function))


def part(function: F) -> F:
    """A function that becomes part of copy kernels: it raises nothing, and divides by nothing that may be 0."""
    return cast("F", njit(nogil=True, error_model="numpy")(function))


def instruction(function: Callable[..., Any]) -> Any:
    """A function whose code is written as LLVM instructions, for use in compiled functions."""
    return intrinsic(function)
