"""Numba's decorators with the types that a checker needs.

What is a `part` of a kernel is kept on disk with the kernel (`objects.py`).
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def part(function: F) -> F:
    """A function that becomes part of kernels: it raises nothing, and divides by nothing that may be 0.

    Only other parts call it: without what Python and C would call, a kernel is compiled in four fifths of the time.
    """
    alone: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("F", njit(nogil=True, error_model="numpy", **alone)(function))


def instruction(function: Callable[..., Any]) -> Any:
    """A function whose code is written as LLVM instructions, for use in parts."""
    return intrinsic(function)
