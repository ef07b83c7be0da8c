"""Whether operators record history."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from .core import _grad_enabled


class _GradMode:
    """A context and a decorator under which history is recorded or not."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_grad_enabled[0])
        _grad_enabled[0] = self._enabled

    def __exit__(self, *exc: object) -> None:
        _grad_enabled[0] = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._enabled):
                return function(*args, **kwargs)

        return inside


class no_grad(_GradMode):  # noqa: N801 - PyTorch's own name
    """No history is recorded inside."""

    def __init__(self, enabled: bool = False) -> None:
        super().__init__(False)


class enable_grad(_GradMode):  # noqa: N801 - PyTorch's own name
    """History is recorded inside."""

    def __init__(self, enabled: bool = True) -> None:
        super().__init__(True)


class set_grad_enabled(_GradMode):  # noqa: N801 - PyTorch's own name
    """Recording switched at once, and back where it is used as a context."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._previous = _grad_enabled[0]
        _grad_enabled[0] = mode

    def __enter__(self) -> None:
        self._before.append(self._previous)
        _grad_enabled[0] = self._enabled


def is_grad_enabled() -> bool:
    """Whether history is recorded now."""
    return _grad_enabled[0]
