"""The shape of a tensor as PyTorch shows it."""

from math import prod


class Size(tuple[int, ...]):
    """A tuple of lengths, printed as PyTorch prints it."""

    __slots__ = ()

    def numel(self) -> int:
        """Number of elements of a tensor of this shape."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"
