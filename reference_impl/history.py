"""What stands for a recorded operator."""

from typing import NoReturn

from .errors import LayoutAttributeError


class Node:
    """The `grad_fn` of a tensor that is no leaf.

    The reference records that there is an operator, not which: what PyTorch calls it follows from how it composes its
    operators (a reshape is `ViewBackward0`, `UnsafeViewBackward0` or `ReshapeAliasBackward0`), not from the call.

    Raises: argument (AttributeError) for everything that is asked of it.

    >>> (torch.ones(2, requires_grad=True) * 2).grad_fn
    <Node>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "<Node>"

    def __getattr__(self, name: str) -> NoReturn:
        raise LayoutAttributeError("argument", f"grad_fn.{name}: the reference keeps no graph of operators")


class RemovableHandle:
    """What takes a hook away again."""

    __slots__ = ()

    def remove(self) -> None:
        """Take it away: nothing, as nobody calls it."""

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
