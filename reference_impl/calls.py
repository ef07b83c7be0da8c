"""Calls as PyTorch takes them: NumPy's names of arguments and numbers, and those refused that fit no signature."""

import sys
from collections.abc import Callable, Mapping, MutableMapping
from functools import wraps
from inspect import unwrap
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numpy as np

from .backing import MISSING, Unread
from .errors import LayoutAttributeError, LayoutError, LayoutTypeError
from .formats import check_layout
from .older_calls import older_order

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
    """A function whose arguments that are annotated as tensors must be tensors, whatever it does with them.

    What it calls `dtype` may be one of Python's types of numbers. What is annotated as a bool must be one of Python's,
    not 1 or NumPy's.

    Raises: argument (TypeError), before anything else is looked at.
    Source: `FunctionParameter::check` of PyTorch's parser of arguments. What PyTorch has in Python may raise an
    AttributeError instead, by what it reads of them first.

    >>> def twice(x: "Tensor"):
    ...     return x, x
    >>> with_checked_tensors(twice)([1])
    Traceback (most recent call last):
    ...
    stridecheck.reference_impl.errors.LayoutTypeError: twice: x must be a Tensor, got list
    """
    from .core import TensorBase, as_scalar, check_flag  # which imports storages, and they import this
    from .dtypes import dtype
    from .nowhere import lent
    from .promotion import as_dtype

    taken = _tensors_taken(function, of_class)
    dtype_place = _place_of_dtype(function)
    given_only = _given_only(function)
    numbers = _numbers(function)
    flags = _flags(function)
    needs_dim = function.__name__ in _KEEPING_ONE
    needs_dim_for_out = function.__name__ in _DELIVERING_ONE
    generator_place = place_of("generator", function)
    asks_first = function.__name__ in _ASKING_FIRST
    ordered = older_order(function.__name__, of_class=of_class)
    wrong = LayoutAttributeError if function.__name__ in _ASKING else LayoutTypeError

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = len(args)
        if ordered is not None and given > 2:
            args, kwargs = ordered(args, kwargs)
            given = len(args)
        for place, name, may_be_none in taken:
            x = args[place] if place < given else kwargs.get(name, MISSING)
            if not isinstance(x, TensorBase) and x is not MISSING and not (may_be_none and x is None):
                got = type(x).__name__
                raise wrong("argument", f"{function.__name__}: {name} must be a Tensor, got {got}")
        needs_it = needs_dim and ("keepdim" in kwargs or (needs_dim_for_out and kwargs.get("out") is not None))
        if needs_it and given < 2 and "dim" not in kwargs:
            raise LayoutTypeError("argument", f"{function.__name__}: keepdim or out is given, but no dim")
        for place, name in given_only:
            if (args[place] if place < given else kwargs.get(name, MISSING)) is None:
                raise LayoutTypeError("argument", f"{function.__name__}: {name} may be left out, but is not None")
        for place, name in numbers:
            x = args[place] if place < given else kwargs.get(name, MISSING)
            if not isinstance(x, _NUMBERS) and x is not MISSING:
                x = as_scalar(x)
                if not isinstance(x, _NUMBERS):
                    got = type(x).__name__
                    raise LayoutTypeError("argument", f"{function.__name__}: {name} must be a number, got {got}")
                if place < given:
                    args = (*args[:place], x, *args[place + 1 :])
                else:
                    kwargs[name] = x
        for place, name, may_be_none in flags:
            x = args[place] if place < given else kwargs.get(name, False)
            if x is not True and x is not False:
                check_flag(f"{function.__name__}: {name}", x, optional=may_be_none)
        if dtype_place is not None:
            wanted = kwargs.get("dtype")
            if wanted is not None and not isinstance(wanted, dtype):
                kwargs["dtype"] = as_dtype(wanted)
            elif dtype_place < given and isinstance(args[dtype_place], type):
                args = (*args[:dtype_place], as_dtype(args[dtype_place]), *args[dtype_place + 1 :])
        if "layout" in kwargs:
            check_layout(function.__name__, kwargs["layout"])
        if generator_place is not None:
            x = args[generator_place] if generator_place < given else kwargs.get("generator")
            if x is not None:
                check_generator(function.__name__, x)
        if asks_first and kwargs.get("out") is not None:
            _ask_first(kwargs["out"], [*args, *kwargs.values()])
        try:
            return function(*args, **kwargs)
        except TypeError as e:
            tell_refusal(e)
            raise
        except Unread as e:
            return lent(function, args, kwargs, e)

    return call


_ASKING = frozenset((
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "margin_ranking_loss",
))  # fmt: skip
"""Functions that PyTorch has in Python, and that ask for the size of what is no tensor."""

_GIVEN_ONLY = {
    name: arguments
    for names, arguments in {
        "max min": "dim other",
        "median nanmedian prod squeeze squeeze_ logsumexp": "dim",
        "trapezoid trapz cumulative_trapezoid": "x dx",
        "std var std_mean var_mean": "unbiased",
        "bernoulli cdist renorm": "p",
        "round": "decimals",
        "argsort": "stable",
        "histc": "bins min max",
        "vector_norm": "ord",
        "isclose allclose": "rtol atol",
        "contiguous": "memory_format",
    }.items()
    for name in names.split()
}
"""Arguments for which PyTorch takes no None: they are given, or another of its signatures is meant."""


_KEEPING_ONE = frozenset(("max", "min", "sum", "mean", "prod", "median", "nanmedian"))
"""Reductions that take `keepdim` only with a dimension."""
_DELIVERING_ONE = frozenset(("sum", "prod", "median", "nanmedian"))
"""Those of them that take `out` only with a dimension, too."""


_NUMBERS = (int, float, complex, np.number, np.bool_)

_ASKING_FIRST = frozenset((
    "addmm", "amax", "amin", "baddbmm", "bmm", "cat", "cumprod", "cumsum", "gather", "index_add", "index_copy",
    "index_select", "kthvalue", "logsumexp", "masked_select", "max", "mean", "min", "mm", "nansum", "prod", "scatter",
    "sort", "stack", "sum", "take", "topk", "tril", "triu", "var",
))  # fmt: skip
"""Operators of a kernel, not composed of others, that look at more than dtypes and shapes before they write."""


def _ask_first(out: Any, given: list[Any]) -> None:
    """What is asked of outputs before an operator of its own kernel is called: of gradients, then of bits.

    Raises: grad (RuntimeError); argument (RuntimeError) for two outputs with one bit. Source: facts 5.4 and 9.15.
    """
    from .out import check_one_bit, check_out  # which import tensors' data, and that imports this

    outs = out if isinstance(out, (tuple, list)) else (out,)
    operands = [t for x in given for t in (x if isinstance(x, (tuple, list)) else (x,))]
    for target in outs:
        check_out(target, *operands)
    check_one_bit(*outs)


def _given_only(function: Callable[..., Any]) -> list[tuple[int, str]]:
    """Place and name of each argument that is not None where it is given."""
    wanted = _GIVEN_ONLY.get(function.__name__, "").split()
    return [(k, name) for k, name in _places(unwrap(function)) if name in wanted]


def _numbers(function: Callable[..., Any]) -> list[tuple[int, str]]:
    """Place and name of each argument that is a number, for which a tensor without dimensions may stand."""
    inner: Any = unwrap(function)
    return [(k, name) for k, name in _places(inner) if inner.__annotations__.get(name) is float or name == "alpha"]


_READ_IN_PYTHON = {
    "stft": "center align_to_window",
    "lu": "get_infos",
    "lu_with_info": "get_infos",
    "gaussian_nll_loss": "full",
    "interpolate": "recompute_scale_factor antialias",
    "triplet_margin_with_distance_loss": "swap",
    "multi_head_attention_forward": "add_zero_attn training need_weights use_separate_proj_weight "
    "average_attn_weights is_causal",
    "backward": "retain_graph create_graph",
}
"""Flags that PyTorch's Python code asks for their truth, and hands to no parser; `inplace` is one everywhere."""
_OPTIONS = frozenset(("requires_grad", "pin_memory"))
"""Flags of new tensors, which may be None."""


def _flags(function: Callable[..., Any]) -> list[tuple[int, str, bool]]:
    """Place and name of each argument that must be a bool, and whether None will do."""
    inner: Any = unwrap(function)
    kinds = inner.__annotations__
    free = ["inplace", "return_indices", "hard", *_READ_IN_PYTHON.get(function.__name__, "").split()]
    return [
        (place, name, kinds[name] is not bool or name in _OPTIONS)
        for place, name in _places(inner)
        if kinds.get(name) in (bool, bool | None) and name not in free
    ]


def _places(function: Any) -> list[tuple[int, str]]:
    """Place and name of each argument; the place of a keyword is `sys.maxsize`."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [(k if k < code.co_argcount else sys.maxsize, name) for k, name in enumerate(names)]


def place_of(name: str, function: Callable[..., Any]) -> int | None:
    """The place of an argument of that name; `sys.maxsize` where it is a keyword, None where there is none."""
    code: Any = unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if name not in names:
        return None
    place: int = names.index(name)
    return place if place < code.co_argcount else sys.maxsize


def _place_of_dtype(function: Callable[..., Any]) -> int | None:
    """The place of an argument that says a dtype, for which Python's types of numbers stand, too; None without one."""
    return None if function.__name__ == "type" else place_of("dtype", function)  # which takes names of dtypes


def check_generator(name: str, x: Any) -> None:
    """Refuse what is no generator of random numbers. Raises: argument (TypeError)."""
    from .generator import Generator  # which imports tensors' data, and that imports this

    if not isinstance(x, Generator):
        raise LayoutTypeError("argument", f"{name}: generator must be a Generator, got {type(x).__name__}")


def _tensors_taken(function: Callable[..., Any], of_class: bool) -> list[tuple[int, str, bool]]:
    """Place and name of each argument that is annotated as a tensor, and whether None will do; `self` is one."""
    inner: Any = unwrap(function)
    code = inner.__code__
    kinds = [inner.__annotations__.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    return [
        (place if place < code.co_argcount else sys.maxsize, code.co_varnames[place], kind != "Tensor")
        for place, kind in enumerate(kinds)
        if kind in ("Tensor", "Tensor | None") and place >= of_class
    ]


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
