"""What PyTorch's parser of arguments looks at before a function is called: small steps, one after the other.

Most of it follows from how a function is annotated. What else the parser does, or leaves to PyTorch's Python code, a
function says by `parsed`, where it is defined.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import CO_VARKEYWORDS, unwrap
from typing import Any, Final, TypeVar

import numpy as np

from .backing import MISSING
from .errors import LayoutAttributeError, LayoutTypeError
from .formats import check_layout
from .older_calls import older_order

F = TypeVar("F", bound=Callable[..., Any])

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Step = Callable[[Args, Kwargs], tuple[Args, Kwargs]]
"""Looks at the arguments of one call, whose keywords it may change, and answers those that go on."""


@dataclass(frozen=True, slots=True)
class Parsing:
    """What a function's annotations do not say; names of arguments are separated by spaces."""

    # Arguments that are not None where they are given: another of PyTorch's signatures would be meant.
    given_only: str = ""
    # Keywords that are taken only with a `dim`.
    with_dim: str = ""
    # Arguments that PyTorch's Python code reads as they are, and hands to no parser.
    in_python: str = ""
    # PyTorch has it in Python, and asks for the size of what is no tensor.
    asks_size: bool = False
    # A kernel, not composed of others, that looks at more than dtypes and shapes before it writes to `out`.
    out_first: bool = False


_USUAL: Final = Parsing()
_IN_PYTHON: Final = frozenset(("inplace", "return_indices", "hard"))
"""Flags that no function hands to a parser."""
_OPTIONS: Final = frozenset(("requires_grad", "pin_memory"))
"""Flags of new tensors, which may be None."""
_NUMBERS: Final = (int, float, complex, np.number, np.bool_)


def parsed(
    *, given_only: str = "", with_dim: str = "", in_python: str = "", asks_size: bool = False, out_first: bool = False
) -> Callable[[F], F]:
    """A function that says how its arguments are parsed: see `Parsing`."""
    parsing = Parsing(given_only, with_dim, in_python, asks_size, out_first)

    def decorate(function: F) -> F:
        vars(function)["parsing"] = parsing
        return function

    return decorate


def parsed_as(other: Callable[..., Any]) -> Callable[[F], F]:
    """A function whose arguments are parsed as another one's."""

    def decorate(function: F) -> F:
        vars(function)["parsing"] = parsing_of(other)
        return function

    return decorate


def parsing_of(function: Callable[..., Any]) -> Parsing:
    """What a function, or one that it wraps, has said by `parsed`.

    >>> parsing_of(parsed(given_only="dim")(lambda x, dim=0: x)).given_only
    'dim'
    """
    found: Parsing = vars(function).get("parsing", _USUAL)
    return found


def steps_of(function: Callable[..., Any], *, of_class: bool) -> list[Step]:
    """The steps of a function's parser, in its order; what has to look at nothing is left out."""
    name, own = function.__name__, parsing_of(function)
    inner: Any = unwrap(function)
    arguments = _arguments(inner)
    places = {argument: place for argument, place, _ in arguments}
    free = _IN_PYTHON.union(own.in_python.split())
    # Of a method, `self` is a tensor already.
    tensors = [(k, x, kind != "Tensor") for x, k, kind in arguments[of_class:] if kind in ("Tensor", "Tensor | None")]
    given_only = [(places[x], x) for x in own.given_only.split() if x in places]
    numbers = [(k, x) for x, k, kind in arguments if kind is float or x == "alpha"]
    flags = [
        (k, x, kind is not bool or x in _OPTIONS)
        for x, k, kind in arguments
        if kind in (bool, bool | None) and x not in free
    ]
    found = [
        older_order(name, of_class=of_class),
        tensors and _tensors(name, tensors, LayoutAttributeError if own.asks_size else LayoutTypeError),
        own.with_dim and _with_dim(name, own.with_dim.split()),
        given_only and _given(name, given_only),
        numbers and _numbers(name, numbers),
        flags and _flags(name, flags),
        "dtype" in places and "dtype" not in free and _dtype(places["dtype"]),
        ("layout" in places or inner.__code__.co_flags & CO_VARKEYWORDS) and _layout(name),
        "generator" in places and _generator(name, places["generator"]),
        own.out_first and _out_first,
    ]
    return [step for step in found if callable(step)]


def _arguments(function: Any) -> list[tuple[str, int, Any]]:
    """Name, place and annotation of each argument; the place of a keyword is `sys.maxsize`."""
    code, kinds = function.__code__, function.__annotations__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [(name, k if k < code.co_argcount else sys.maxsize, kinds.get(name)) for k, name in enumerate(names)]


def place_of(name: str, function: Callable[..., Any]) -> int | None:
    """The place of an argument of that name; `sys.maxsize` where it is a keyword, None where there is none."""
    return next((place for argument, place, _ in _arguments(unwrap(function)) if argument == name), None)


def _tensors(name: str, tensors: list[tuple[int, str, bool]], wrong: type[Exception]) -> Step:
    from .core import TensorBase  # which imports storages, and they import this

    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        given = len(args)
        for place, argument, may_be_none in tensors:
            x = args[place] if place < given else kwargs.get(argument, MISSING)
            if not isinstance(x, TensorBase) and x is not MISSING and not (may_be_none and x is None):
                raise wrong("argument", f"{name}: {argument} must be a Tensor, got {type(x).__name__}")
        return args, kwargs

    return step


def _with_dim(name: str, keywords: list[str]) -> Step:
    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        if kwargs and len(args) < 2 and "dim" not in kwargs and any(kwargs.get(x) is not None for x in keywords):
            raise LayoutTypeError("argument", f"{name}: keepdim or out is given, but no dim")
        return args, kwargs

    return step


def _given(name: str, given_only: list[tuple[int, str]]) -> Step:
    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        given = len(args)
        for place, argument in given_only:
            if (args[place] if place < given else kwargs.get(argument, MISSING)) is None:
                raise LayoutTypeError("argument", f"{name}: {argument} may be left out, but is not None")
        return args, kwargs

    return step


def _numbers(name: str, numbers: list[tuple[int, str]]) -> Step:
    """A tensor without dimensions stands for a number."""
    from .core import as_scalar

    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        given = len(args)
        for place, argument in numbers:
            x = args[place] if place < given else kwargs.get(argument, MISSING)
            if not isinstance(x, _NUMBERS) and x is not MISSING:
                x = as_scalar(x)
                if not isinstance(x, _NUMBERS):
                    got = type(x).__name__
                    raise LayoutTypeError("argument", f"{name}: {argument} must be a number, got {got}")
                if place < given:
                    args = (*args[:place], x, *args[place + 1 :])
                else:
                    kwargs[argument] = x
        return args, kwargs

    return step


def _flags(name: str, flags: list[tuple[int, str, bool]]) -> Step:
    """What is annotated as a bool is one of Python's, not 1 or NumPy's."""
    from .core import check_flag

    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        given = len(args)
        for place, argument, may_be_none in flags:
            x = args[place] if place < given else kwargs.get(argument, False)
            if x is not True and x is not False:
                check_flag(f"{name}: {argument}", x, optional=may_be_none)
        return args, kwargs

    return step


def _dtype(place: int) -> Step:
    """One of Python's types of numbers stands for a dtype."""
    from .dtypes import dtype
    from .promotion import as_dtype

    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        wanted = kwargs.get("dtype")
        if wanted is not None and not isinstance(wanted, dtype):
            kwargs["dtype"] = as_dtype(wanted)
        elif place < len(args) and isinstance(args[place], type):
            args = (*args[:place], as_dtype(args[place]), *args[place + 1 :])
        return args, kwargs

    return step


def _layout(name: str) -> Step:
    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        if "layout" in kwargs:
            check_layout(name, kwargs["layout"])
        return args, kwargs

    return step


def _generator(name: str, place: int) -> Step:
    def step(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        x = args[place] if place < len(args) else kwargs.get("generator")
        if x is not None:
            from .generator import Generator  # which imports tensors' data, and that imports this

            if not isinstance(x, Generator):
                raise LayoutTypeError("argument", f"{name}: generator must be a Generator, got {type(x).__name__}")
        return args, kwargs

    return step


def _out_first(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """What is asked of outputs before an operator of its own kernel is called: of gradients, then of bits.

    Raises: grad (RuntimeError); argument (RuntimeError) for two outputs with one bit. Source: facts 5.4 and 9.15.
    """
    out = kwargs.get("out")
    if out is not None:
        from .out import check_one_bit, check_out  # which import tensors' data, and that imports this

        outs = out if isinstance(out, (tuple, list)) else (out,)
        operands = [t for x in (*args, *kwargs.values()) for t in (x if isinstance(x, (tuple, list)) else (x,))]
        for target in outs:
            check_out(target, *operands)
        check_one_bit(*outs)
    return args, kwargs
