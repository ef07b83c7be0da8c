"""Whether operators record history, and whether what they make can ever have one."""

from collections.abc import Callable, Generator
from functools import wraps
from inspect import isclass, isgeneratorfunction
from typing import Any, Self

from .core import TensorBase, _grad_enabled, check_flag
from .errors import LayoutTypeError
from .versions import inference, inferred

_wanted: list[bool] = [True]
"""What `is_grad_enabled` answers; in inference mode nothing is recorded even so."""


def _switch(grad: bool, inferring: bool) -> None:
    _wanted[0] = grad
    inference[0] = inferring
    inferred[0] |= inferring
    _grad_enabled[0] = grad and not inferring


class _Mode:
    """A context, and a decorator of functions and generators, under which another mode holds."""

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool]] = []

    def _target(self) -> tuple[bool, bool]:
        raise NotImplementedError

    def __enter__(self) -> None:
        self._before.append((_wanted[0], inference[0]))
        _switch(*self._target())

    def __exit__(self, *exc: object) -> None:
        _switch(*self._before.pop())

    def clone(self) -> Self:
        """Another one like it."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if isclass(function):
            return lambda *args, **kwargs: self(lambda: function(*args, **kwargs))()
        if isgeneratorfunction(function):
            return _each_step(self, function)

        @wraps(function, updated=("__dict__",) if hasattr(function, "__dict__") else ())
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return inside


def _each_step(mode: _Mode, function: Callable[..., Any]) -> Callable[..., Any]:
    """A generator function each of whose steps runs in a mode, which does not hold between them."""

    @wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        steps = function(*args, **kwargs)
        try:
            with mode.clone():
                made = next(steps)
            while True:
                try:
                    sent = yield made
                except GeneratorExit:
                    with mode.clone():
                        steps.close()
                    raise
                except BaseException as e:
                    with mode.clone():
                        made = steps.throw(e)
                else:
                    with mode.clone():
                        made = steps.send(sent)
        except StopIteration as e:
            return e.value

    return inside


class _Decorating(_Mode):
    """A mode that decorates without brackets, too."""

    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)

    def __init__(self, orig_func: Any = None) -> None:
        super().__init__()


class no_grad(_Decorating):  # noqa: N801 - PyTorch's own name
    """No history is recorded inside."""

    def _target(self) -> tuple[bool, bool]:
        return False, inference[0]


class enable_grad(_Decorating):  # noqa: N801 - PyTorch's own name
    """History is recorded inside, but not in inference mode."""

    def _target(self) -> tuple[bool, bool]:
        return True, inference[0]


class set_grad_enabled(_Mode):  # noqa: N801 - PyTorch's own name
    """Recording switched at once, and back where it is used as a context or decorator.

    Raises: argument (TypeError) for what is no bool.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        check_flag("mode", mode)
        self.mode = mode
        self._previous = _wanted[0], inference[0]
        _switch(mode, inference[0])

    def _target(self) -> tuple[bool, bool]:
        return self.mode, inference[0]

    def __enter__(self) -> None:
        self._before.append(self._previous)
        _switch(*self._target())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that runs in the mode, which is left for now."""
        _switch(*self._previous)
        return super().__call__(function)

    def clone(self) -> Self:
        """Another one like it."""
        return type(self)(self.mode)


class inference_mode(_Mode):  # noqa: N801 - PyTorch's own name
    """No history inside, and none ever of what is made inside: such tensors track no versions.

    Source: facts 5.5, torch 2.13.

    >>> with inference_mode():
    ...     x = torch.ones(2)
    >>> x.is_inference(), x.view(1, 2).is_inference(), (x + 1).is_inference()
    (True, True, False)
    """

    def __new__(cls, mode: Any = True) -> Any:
        """A mode, or a function that runs in one."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self.mode = mode

    def _target(self) -> tuple[bool, bool]:
        return not self.mode, self.mode

    def clone(self) -> Self:
        """Another one like it."""
        return type(self)(self.mode)


def is_grad_enabled() -> bool:
    """Whether history is recorded now, inference mode apart."""
    return _wanted[0]


def is_inference_mode_enabled() -> bool:
    """Whether what is made now is an inference tensor."""
    return inference[0]


def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode, or is a view of one that was.

    Raises: argument (TypeError). Source: facts 5.5.1.
    """
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"is_inference: expected a Tensor, got {type(input).__name__}")
    return input._inference
