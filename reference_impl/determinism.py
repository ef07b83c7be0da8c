"""Whether PyTorch is asked for operators without chance: said and answered, while nothing here is left to chance.

What PyTorch then fills new memory with, or in which order it writes, stays unspecified.
"""

from .core import check_flag

_asked = [False, False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic operators, or for warnings where there is none.

    Raises: argument (TypeError). Source: torch 2.13.

    >>> use_deterministic_algorithms(True, warn_only=True)
    >>> are_deterministic_algorithms_enabled(), is_deterministic_algorithms_warn_only_enabled()
    (True, True)
    >>> use_deterministic_algorithms(False)
    """
    check_flag("mode", mode)
    check_flag("warn_only", warn_only)
    _asked[:] = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic operators are asked for."""
    return _asked[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether warnings are asked for where an operator is not deterministic."""
    return _asked[1]
