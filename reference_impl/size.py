"""The shape of a tensor as PyTorch shows it."""

from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any, Self

import numpy as np

from .errors import LayoutTypeError


class Size(tuple[int, ...]):
    """A tuple of lengths, printed as PyTorch prints it; what is joined to it, repeated or cut of it is one, too.

    Lengths are ints, NumPy's integers, and what Python counts with: a bool, a tensor of one integer.

    Raises: argument (TypeError) for what is no length. Source: `torch.Size`, torch 2.13.

    >>> (2,) + Size((3, 4))[1:] * 2
    torch.Size([2, 4, 4])
    """

    __slots__ = ()

    def __new__(cls, lengths: Iterable[Any] = (), /) -> Self:
        """A size of so many lengths."""
        return super().__new__(cls, [_length(x) for x in lengths])

    def numel(self) -> int:
        """Number of elements of a tensor of this shape, in 64 bits."""
        return (prod(self) + 2**63) % 2**64 - 2**63

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise LayoutTypeError("argument", f"only a tuple can be joined to a Size, got {type(other).__name__}")
        return Size(super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return Size(super().__mul__(count))

    __rmul__ = __mul__


def size_of(shape: tuple[int, ...]) -> Size:
    """The size that a shape is, whose lengths are ints."""
    return tuple.__new__(Size, shape)


def _length(x: Any) -> Any:
    try:
        found: Any = x if isinstance(x, np.integer) else index(x)
    except (TypeError, RuntimeError):  # tensors refuse to be counted with in their own way
        raise LayoutTypeError("argument", f"a length must be an int, got {type(x).__name__}") from None
    return found
