"""What stands for a recorded operator, and what is refused before gradients are computed."""

from typing import Any, NoReturn

from .core import TensorBase, requires_grad
from .errors import LayoutAttributeError, LayoutError, LayoutTypeError, UnspecifiedError


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


def _several(x: Any, name: str) -> tuple[Any, ...]:
    if isinstance(x, TensorBase):
        return (x,)
    try:
        return tuple(x)
    except TypeError:
        raise LayoutTypeError("argument", f"{name}: a {type(x).__name__} is neither a tensor nor several") from None


def _check_gradient(of: Any, gradient: Any) -> None:
    """What is asked of a gradient that is given, or that is to be made of ones."""
    if gradient is None:
        if requires_grad(of) and (of.numel() != 1 or not of.dtype.is_floating_point):
            raise LayoutError("grad", f"only a real number's gradient is known, not {of.dtype} of {of._layout.shape}")
    elif not isinstance(gradient, TensorBase):
        raise LayoutTypeError("argument", f"a gradient is a tensor or None, not a {type(gradient).__name__}")
    elif gradient._layout.shape != of._layout.shape:
        raise LayoutError("size", f"a gradient of shape {gradient._layout.shape} for {of._layout.shape}")
    elif gradient.dtype.is_complex != of.dtype.is_complex:
        raise LayoutError("dtype", f"a gradient of {gradient.dtype} for {of.dtype}")


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Nothing: there is no engine that computes gradients, and what PyTorch's would leave behind is not told.

    Raises: grad, size, dtype (RuntimeError), argument (TypeError) where PyTorch refuses before it computes.
    Source: `torch.autograd.backward`, torch 2.13.
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise LayoutError("argument", "backward: grad_tensors and grad_variables are one argument")
        grad_tensors = grad_variables
    if inputs is not None and not _several(inputs, "inputs"):
        raise LayoutError("argument", "backward: inputs cannot be empty")
    roots = _several(tensors, "tensors")
    gradients = (None,) * len(roots) if grad_tensors is None else _several(grad_tensors, "grad_tensors")
    if len(roots) != len(gradients):
        raise LayoutError("argument", f"backward: {len(roots)} tensors and {len(gradients)} gradients")
    for root, gradient in zip(roots, gradients, strict=True):
        _check_gradient(root, gradient)
    for place, root in enumerate(roots):
        if not requires_grad(root):
            raise LayoutError("grad", f"backward: tensor {place} requires no gradient")
    if roots:
        raise UnspecifiedError("backward: the reference has no engine that computes gradients")
