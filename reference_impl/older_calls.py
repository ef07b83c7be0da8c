"""Calls in the order that PyTorch had before 1.0, which its parser still takes: factors before what they multiply."""

from collections.abc import Callable
from typing import Any

from .errors import LayoutTypeError

_Call = tuple[tuple[Any, ...], dict[str, Any]]

_SUMS = frozenset(("add", "add_", "sub", "sub_"))
_QUOTIENTS = frozenset(("addcmul", "addcmul_", "addcdiv", "addcdiv_"))
_PRODUCTS = frozenset(
    name + end for name in ("addmm", "addmv", "addr", "addbmm", "baddbmm") for end in ("", "_")
)  # fmt: skip


def older_order(name: str, *, of_class: bool) -> Callable[[tuple[Any, ...], dict[str, Any]], _Call] | None:
    """What brings the arguments of a call into today's order; None for a function that never had another.

    Source: `deprecated.yaml`, torch 2.13.

    >>> older_order("add", of_class=False)((1, 2, 3), {})
    ((1, 3), {'alpha': 2})
    >>> older_order("addmm", of_class=True)((1, 2, 3, 4, 5), {})
    ((1, 4, 5), {'beta': 2, 'alpha': 3})
    >>> older_order("addmm", of_class=False)((2, 1, 4, 5), {})
    ((1, 4, 5), {'beta': 2})
    """
    if name in _SUMS:
        return _factor_second("alpha", 3)
    if name in _QUOTIENTS:
        return _factor_second("value", 4)
    if name in _PRODUCTS:
        return _of_method if of_class else _of_function
    return None


def _factor_second(factor: str, count: int) -> Callable[[tuple[Any, ...], dict[str, Any]], _Call]:
    def order(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        if len(args) != count:
            return args, kwargs
        return (args[0], *args[2:]), {factor: _number(factor, args[1], kwargs), **kwargs}

    return order


def _of_function(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
    return _of_method((args[1], args[0], *args[2:]), kwargs) if len(args) in (4, 5) else (args, kwargs)


def _of_method(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
    if len(args) not in (4, 5):
        return args, kwargs
    factors = {name: _number(name, x, kwargs) for name, x in zip(("beta", "alpha"), args[1:-2], strict=False)}
    return (args[0], *args[-2:]), {**factors, **kwargs}


def _number(name: str, x: Any, kwargs: dict[str, Any]) -> Any:
    from .core import TensorBase, as_scalar  # which imports storages, and they import what calls this

    if isinstance(x, TensorBase):
        x = as_scalar(x)
    if name in kwargs or not isinstance(x, (bool, int, float, complex)):
        raise LayoutTypeError("argument", f"{name} is no number before the tensors, or is given twice")
    return x
