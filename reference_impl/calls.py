"""Calls as PyTorch takes them: NumPy's names of arguments and numbers, and those refused that fit no signature."""

from collections.abc import Callable, Mapping, MutableMapping
from functools import wraps
from inspect import unwrap
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numpy as np

from .backing import Unread
from .errors import LayoutError, LayoutTypeError
from .parsing import steps_of

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
"""What NumPy calls arguments, and what PyTorch does: functions that its parser of arguments serves take both."""


def as_number(x: Any) -> Any:
    """What PyTorch reads a scalar of NumPy's as: integers as int, complex128 as complex, any other number as float.

    Raises: overflow (TypeError) for an integer past 64 bits.
    Source: `is_numpy_scalar` and `PythonArgs::scalar_slow` of PyTorch's parser of arguments.

    >>> as_number(np.uint8(2)), as_number(np.float16(2)), as_number(np.bool_(True)), as_number(np.complex64(2))
    (2, 2.0, 1.0, 2.0)
    """
    if isinstance(x, np.integer):
        number = int(x)
        if number >= 2**63:
            raise LayoutTypeError("overflow", f"{number} does not fit 64 bits")
        return number
    if isinstance(x, complex):
        return complex(x)
    if isinstance(x, (np.number, np.bool_)):
        return float(x.real)  # whose imaginary part is dropped
    return x


def as_real(name: str, x: Any) -> Any:
    """A number for a kernel of real ones. Raises: overflow (RuntimeError) where an imaginary part would be lost.

    >>> as_real("lerp", 2 + 0j)
    2.0
    """
    if not isinstance(x, complex):
        return x
    if x.imag:
        raise LayoutError("overflow", f"{name}: {x} is not real")
    return x.real


def _as_argument(x: Any) -> Any:
    """`as_number`, but what is past 64 bits stays as it is: which error it is depends on what it is given for."""
    return x if isinstance(x, np.uint64) and x >= 2**63 else as_number(x)


def tell_refusal(error: TypeError) -> None:
    """Raise an error that a wrapper has caught as one of its arguments, where the call itself was refused by Python."""
    place = error.__traceback__
    if not hasattr(error, "kind") and (place is None or place.tb_next is None):  # there is no frame below
        raise LayoutTypeError("argument", str(error)) from None


def with_checked_tensors(function: Callable[..., Any], *, of_class: bool = False) -> Callable[..., Any]:
    """A function whose arguments are looked at as PyTorch's parser does: what is annotated as a tensor must be one.

    Raises: argument (TypeError), before anything else is looked at; an AttributeError where PyTorch's Python code reads
    something of what is no tensor.
    Source: `FunctionParameter::check` of PyTorch's parser of arguments.

    >>> def twice(x: "Tensor"):
    ...     return x, x
    >>> with_checked_tensors(twice)([1])
    Traceback (most recent call last):
    ...
    stridecheck.reference_impl.errors.LayoutTypeError: twice: x must be a Tensor, got list
    """
    from .nowhere import lent  # which imports storages, and they import this

    steps = steps_of(function, of_class=of_class)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for step in steps:
            args, kwargs = step(args, kwargs)
        try:
            return function(*args, **kwargs)
        except TypeError as e:
            tell_refusal(e)
            raise
        except Unread as e:
            return lent(function, args, kwargs, e)
        except MemoryError as e:
            raise LayoutError("memory", f"{function.__name__}: {e or 'not enough memory'}") from None

    return call


def with_numpy_names(function: Callable[..., Any], *, of_class: bool = False) -> Callable[..., Any]:
    """A function that takes NumPy's names of its arguments, too, as `sum(x, axis=0, keepdims=True)`, and its numbers.

    Its tensors are checked. Methods take no `out`.

    Raises: as `with_checked_tensors`. Source: `numpy_compatibility_arg_names` of PyTorch's parser of arguments.

    >>> with_numpy_names(lambda input, dim: (input, dim))(3, axis=0)
    (3, 0)
    """
    code = unwrap(function).__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = {theirs: ours for theirs, ours in _NUMPY_NAMES.items() if ours in parameters and theirs not in parameters}
    if parameters[:1] == ("self",):  # a method that is a function, too
        names |= {name: "self" for name in ("input", "x", "a", "x1") if name not in parameters}
    checked_function = with_checked_tensors(function, of_class=of_class)
    if not names:
        return checked_function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if isinstance(x, np.generic):
                args = tuple([_as_argument(x) for x in args])
                break
        if kwargs:
            kwargs = {name: _as_argument(x) if isinstance(x, np.generic) else x for name, x in kwargs.items()}
            if not names.keys().isdisjoint(kwargs):
                kwargs = _renamed(kwargs, names)
            if of_class and "out" in kwargs:
                raise LayoutTypeError("argument", f"{function.__name__}: a method takes no out")
        return checked_function(*args, **kwargs)

    return call


def _renamed(kwargs: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Keywords by their other names; one that is given under both stays, and is refused."""
    found: dict[str, Any] = {}
    for name, value in kwargs.items():
        other = names.get(name, name)
        found[name if other in kwargs or other in found else other] = value
    return found


def add_numpy_names(
    namespace: MutableMapping[str, Any], *, only: str = "", but_not: str = "", of_class: bool = False
) -> None:
    """Let the functions of a namespace, or some of them, take NumPy's names; not those that PyTorch has in Python.

    All of them refuse what is no tensor where they take one.
    """
    named = {*(only.split() or namespace)} - {*but_not.split()}
    for name, member in list(namespace.items()):
        if isinstance(member, FunctionType) and not name.startswith("__"):
            if name in named:
                namespace[name] = with_numpy_names(member, of_class=of_class)
            elif not name.startswith("_"):
                namespace[name] = with_checked_tensors(member, of_class=of_class)


def add_tensor_checks(namespace: MutableMapping[str, Any], names: str) -> None:
    """Let functions of a namespace refuse what is no tensor where they take one."""
    for name in names.split():
        namespace[name] = with_checked_tensors(namespace[name])


def taking_numpy_names(but_not: str) -> Callable[[C], C]:
    """A class whose methods, and those of its bases, take NumPy's names; `but_not` as in `add_numpy_names`."""

    def decorate(cls: C) -> C:
        methods = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
        known = dict(methods)
        add_numpy_names(methods, but_not=but_not, of_class=True)
        for name, method in methods.items():
            if method is not known[name]:
                setattr(cls, name, method)
        return cls

    return decorate


def check_keywords(name: str, kwargs: Mapping[str, Any], *known: str) -> None:
    """Refuse keywords that a function does not know, where Python cannot: a `size` may be given in two ways.

    Raises: argument (TypeError).
    """
    for keyword in kwargs:
        if keyword not in known:
            raise LayoutTypeError("argument", f"{name}: unknown keyword {keyword}")


def checked(function: F) -> F:
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
            tell_refusal(e)
            raise

    return call  # type: ignore[return-value]


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
