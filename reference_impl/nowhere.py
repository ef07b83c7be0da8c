"""What operators make of tensors on meta: the layouts that they make of zeros, whose values nobody sees."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from . import dtypes as dt
from .backing import NoBytes, Unread
from .core import TensorBase, array, lends
from .errors import LayoutError
from .storage import UntypedStorage

_MOST = 2**28
"""How many bytes are lent at most."""

_OF_VALUES = frozenset(
    """
    nonzero argwhere masked_select unique unique_consecutive bincount histogram histogramdd equal combinations
    repeat_interleave tolist
    """.split()  # noqa: SIM905 - names
)
"""Functions whose result has a shape, or is a number, that values decide: there is none without them."""
_INDEXING = frozenset(("getitem", "setitem", "index_select"))
"""Functions that take indices from memory."""


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    for x in values:
        if isinstance(x, TensorBase):
            yield x
        elif isinstance(x, (tuple, list)):
            yield from _tensors(x)


def lent(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], refusal: Unread) -> Any:
    """The result of a function that has found no bytes to read: storages on meta are lent zeros while it runs again.

    What it answers, and what it has changed, lies on meta then. Where zeros are refused (to divide by, say), it is lent
    other numbers.

    Raises: device (RuntimeError) where other tensors lie in memory, or for a bool; `refusal` where values decide
    otherwise, or for too many bytes.
    Source: facts 7.7, torch 2.13.
    """
    given = [*_tensors(args), *_tensors(kwargs.values())]
    storages = list({id(t._storage): t._storage for t in given if t._storage._is_meta}.values())
    name = function.__name__
    counts = name in _OF_VALUES or (name == "where" and len(given) == 1)
    if name == "getitem":
        counts = any(t.dtype in (dt.bool_, dt.uint8) for t in given[1:])
    if counts or sum(len(s._bytes) for s in storages) > _MOST:
        raise refusal
    in_memory = [t for t in given if t._layout.shape and not t._storage._is_meta]
    if in_memory and (name not in _INDEXING or in_memory[0] is given[0]):
        raise LayoutError("device", f"{name}: one tensor lies on meta, another in memory (facts 7.7)")
    refused: Exception | None = None
    for fill in (_zeros, _ones, _identities):
        for s in storages:
            s._bytes = np.zeros(len(s._bytes), np.uint8)
        fill(given)
        lends[0] = True
        try:
            result = function(*args, **kwargs)
        except Exception as e:
            refused = refused or e
        else:
            if isinstance(result, bool):
                raise LayoutError("device", f"{name}: there are no values on meta (facts 7.7)")
            made = [*_tensors((result,))]
            if result is not None and not made:
                raise refusal
            _forget(t._storage for t in made)
            return result
        finally:
            lends[0] = False
            _forget(storages)
    assert refused is not None
    raise refused


def _zeros(given: list[Any]) -> None:
    """What most operators take, and indices are in bounds of."""


def _ones(given: list[Any]) -> None:
    """What can be divided by."""
    for t in given:
        array(t)[...] = np.ones((), t.dtype.numpy)


def _identities(given: list[Any]) -> None:
    """What has an inverse."""
    for t in given:
        if t.ndim >= 2:
            array(t)[...] = np.eye(*t._layout.shape[-2:]).astype(t.dtype.numpy)


def _forget(storages: Iterable[UntypedStorage]) -> None:
    """Leave lengths of storages alone."""
    for s in storages:
        s._bytes, s._shadow = NoBytes(len(s._bytes)), None


def also_nowhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does of tensors on meta what it can without values. Raises: as `lent`."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Unread as e:
            return lent(function, args, kwargs, e)

    return call
