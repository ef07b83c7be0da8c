"""Calls that are refused as such: those that fit no signature, and methods that some tensors do not have."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn, TypeVar

from .errors import LayoutTypeError

C = TypeVar("C", bound=type)


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose own refusal of its arguments is an `argument` error; errors from inside pass unchanged.

    Raises: argument (TypeError).

    >>> checked(lambda x: x)(3)
    3
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as e:
            # No frame below this one: the call itself was refused.
            if hasattr(e, "kind") or (e.__traceback__ is not None and e.__traceback__.tb_next is not None):
                raise
            raise LayoutTypeError("argument", str(e)) from None

    return call


def with_checked_calls(cls: C) -> C:
    """A class whose public methods are `checked`; those that its bases have checked already stay as they are."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__init__", "__new__"):
            continue
        if isinstance(member, classmethod):
            setattr(cls, name, classmethod(checked(member.__func__)))
        elif callable(member) and not isinstance(member, (staticmethod, type)):
            setattr(cls, name, checked(member))
    return cls


def refusing(name: str, error: type[Exception], kind: str, why: str) -> Callable[..., NoReturn]:
    """A method that refuses every call. Raises: `error` of the kind.

    >>> refusing("resize_", LayoutTypeError, "argument", "of a stone")()
    Traceback (most recent call last):
    ...
    stridecheck.reference_impl.errors.LayoutTypeError: resize_ of a stone
    """

    def method(*args: Any, **kwargs: Any) -> NoReturn:
        raise error(kind, f"{name} {why}")

    method.__name__ = name
    method.__doc__ = f"Nothing. Raises: {kind} ({error.__name__})."
    return method
