"""Numba's decorators with the types that a checker needs.

Machine code is kept on disk beside the module, or where `NUMBA_CACHE_DIR` says. Numba compiles a kernel anew when the
kernel's own file has changed, not when a file that it uses has: after work on `llvm.py`, `shuffles.py` or `walk.py`,
remove `__pycache__/*.nb*`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """A function that Numba compiles on its first call, once for each set of argument types, and keeps on disk."""
    return cast("F", njit(cache=True, nogil=True)(function))


def instruction(function: Callable[..., Any]) -> Any:
    """A function whose code is written as LLVM instructions, for use in compiled functions."""
    return intrinsic(function)
