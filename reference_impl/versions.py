"""Counters of writes, and the tensors that have none: those made in inference mode.

A counter is a list of one number, shared by a tensor, its views and what is detached of it.
"""

from typing import Any

from .errors import LayoutError

inference: list[bool] = [False]
"""Whether inference mode is on."""
inferred: list[bool] = [False]
"""Whether it ever was: before, there is no inference tensor to look for."""


class Untracked(list[int]):
    """The counter of a tensor that does not track versions: it stays at 0.

    PyTorch counts after it has written, so a write outside inference mode is refused when it is done.

    Raises: grad (RuntimeError) where a write is counted outside inference mode. Source: facts 5.5.2, torch 2.13.
    """

    __slots__ = ()

    def __setitem__(self, place: Any, count: Any) -> None:
        if count and not inference[0]:
            raise LayoutError("grad", "an inference tensor is written outside inference mode (facts 5.5.2)")


def counter() -> list[int]:
    """The counter of a tensor made now: none in inference mode.

    >>> counter()
    [0]
    """
    return Untracked((0,)) if inference[0] else [0]


def version_of(versions: list[int]) -> int:
    """How many writes were counted.

    Raises: grad (RuntimeError) for a tensor that tracks no versions. Source: facts 5.3.5, torch 2.13.
    """
    if type(versions) is Untracked:
        raise LayoutError("grad", "an inference tensor does not track its version (facts 5.3.5)")
    return versions[0]
