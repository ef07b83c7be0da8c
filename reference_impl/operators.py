"""Python's operators of a tensor: whose turn it is where the other side is no tensor."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from .backing import Unread
from .calls import as_number
from .nowhere import also_nowhere, lent
from .numpy_bridge import from_numpy

C = TypeVar("C", bound=type)

_EITHER = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_ORDER = ("lt", "le", "gt", "ge")
_NAMES = [*_EITHER, *["i" + name for name in _EITHER], *["r" + name for name in _EITHER], "eq", "ne", *_ORDER]
_REFLECTED = frozenset(["r" + name for name in _EITHER] + [*_ORDER])
"""What NumPy leaves to tensors, and is not asked for again."""


def _answers(other: Any, name: str) -> bool:
    """Whether there is anybody else to ask, after a tensor's operator of that name has refused."""
    if isinstance(other, (np.ndarray, np.number)):
        return name not in _REFLECTED
    return name in ("eq", "ne") or (name in ("mul", "imul") and isinstance(other, (list, tuple)))


def _operator(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, other: Any) -> Any:
        try:
            if isinstance(other, np.generic):
                other = as_number(other)
            elif name == "eq" and isinstance(other, np.ndarray):
                other = from_numpy(other)
            return method(self, other)
        except Unread as e:
            return lent(method, (self, other), {}, e)
        except TypeError:
            if _answers(other, name):
                return NotImplemented
            raise

    return call


def with_operators(cls: C) -> C:
    """A class whose operators leave what they refuse with a TypeError to the other side, where that may know better.

    So arrays meet tensors in functions of NumPy's, but for `==`, which takes them; and what is no number is unequal.

    Source: `_wrap_type_error_to_not_implemented`, torch 2.13.
    """
    for name in _NAMES:
        method = getattr(cls, f"__{name}__", None)
        if method is not None and (name not in ("eq", "ne") or method is not getattr(object, f"__{name}__")):
            setattr(cls, f"__{name}__", _operator(method, name))
    for name in ("getitem", "setitem", "neg", "abs", "invert"):
        setattr(cls, f"__{name}__", also_nowhere(getattr(cls, f"__{name}__")))
    return cls
