"""The shape of a tensor as PyTorch shows it."""

from math import prod
from typing import Any

from .errors import LayoutTypeError


class Size(tuple[int, ...]):
    """A tuple of lengths, printed as PyTorch prints it; what is joined to it, repeated or cut of it is one, too.

    Raises: argument (TypeError) for what is no length. Source: `torch.Size`, torch 2.13.

    >>> (2,) + Size((3, 4))[1:] * 2
    torch.Size([2, 4, 4])
    """

    __slots__ = ()

    def numel(self) -> int:
        """Number of elements of a tensor of this shape."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise LayoutTypeError("argument", f"only a tuple can be joined to a Size, got {type(other).__name__}")
        return Size(super().__add__(_lengths(other)))

    def __radd__(self, other: Any) -> Any:
        return Size(_lengths(other) + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return Size(super().__mul__(count))

    __rmul__ = __mul__


def _lengths(items: tuple[Any, ...]) -> tuple[Any, ...]:
    for item in items:
        if not hasattr(item, "__index__"):
            raise LayoutTypeError("argument", f"a length must be an int, got {type(item).__name__}")
    return items
