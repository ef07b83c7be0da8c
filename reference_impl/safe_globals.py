"""Which objects `load` reads with `weights_only`, as PyTorch's does, though no file of ours can execute anything.

PyTorch's files name functions and classes that make the objects. A few of them it takes for safe, the others once they
were declared so. Here they decide alike which objects are read.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from .calls import checked
from .errors import LayoutTypeError, LayoutUnpicklingError
from .generator import Generator


def _numpy(name: str) -> Any:
    try:
        from numpy._core import multiarray
    except ImportError:  # before NumPy 2
        from numpy.core import multiarray  # type: ignore[no-redef]
    return getattr(multiarray, name)


# What PyTorch's files name for the kinds of objects that it does not read on its own; of dtypes of NumPy's, too.
_NEEDED: Final[dict[str, tuple[Any, ...]]] = {
    "slice": (slice,),
    "range": (range,),
    "frozenset": (frozenset,),
    "generator": (Generator,),
    "ndarray": (_numpy("_reconstruct"), np.ndarray, np.dtype),
    "scalar": (_numpy("scalar"), np.dtype),
    "npdtype": (np.dtype,),
}
# What no declaration helps.
_NEVER: Final = frozenset(("defaultdict", "deque", "ellipsis", "notimplemented"))
_declared: Final[dict[int, Any]] = {}


def _declared_object(entry: Any) -> Any:
    """What a declaration is about: PyTorch takes the name by which a file calls it, too."""
    return entry[0] if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], str) else entry


def _listed(safe_globals: Any) -> list[Any]:
    if not isinstance(safe_globals, Iterable) or isinstance(safe_globals, type):
        raise LayoutTypeError("argument", f"safe globals are a list, got {type(safe_globals).__name__}")
    return list(safe_globals)


@checked
def add_safe_globals(safe_globals: Any) -> None:
    """Declare classes and functions safe, so that `load` reads what needs them with `weights_only`, too.

    Raises: argument (TypeError). Source: facts 7.9.13, torch 2.13.
    """
    _declared.update((id(entry), entry) for entry in _listed(safe_globals))


def get_safe_globals() -> list[Any]:
    """What was declared safe."""
    return list(_declared.values())


def clear_safe_globals() -> None:
    """Forget what was declared safe."""
    _declared.clear()


class safe_globals:  # noqa: N801 - PyTorch's own name
    """Classes and functions that are declared safe within a block.

    Raises: argument (TypeError) on entry. Source: facts 7.9.13, torch 2.13.

    >>> with safe_globals([slice]):
    ...     get_safe_globals()
    [<class 'slice'>]
    >>> get_safe_globals()
    []
    """

    def __init__(self, safe_globals: Any) -> None:
        self._entries = safe_globals
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        self._before = dict(_declared)
        add_safe_globals(self._entries)

    def __exit__(self, *exc: object) -> None:
        _declared.clear()
        _declared.update(self._before)


def check_safe(kind: str, also: Iterable[Any] = ()) -> None:
    """Refuse a kind of object, or one with some classes in it, that PyTorch reads only if it was declared safe.

    Raises: argument (UnpicklingError). Source: facts 7.9.13, torch 2.13.
    """
    if kind in _NEVER:
        raise LayoutUnpicklingError("argument", f"load: a {kind} is only read with weights_only=False (facts 7.9.13)")
    safe = [_declared_object(entry) for entry in _declared.values()]
    for needed in (*_NEEDED.get(kind, ()), *also):
        if not any(needed is entry for entry in safe):
            raise LayoutUnpicklingError(
                "argument",
                f"load: a {kind} needs {getattr(needed, '__name__', needed)}, which is not declared safe: "
                "add_safe_globals, or weights_only=False (facts 7.9.13)",
            )
