"""What stands for a recorded operator; what is refused before gradients are computed, and how a leaf takes its own."""

from typing import Any, NoReturn

from .arithmetic import add, add_
from .constructors import empty_strided, ones_like
from .contiguity import is_non_overlapping_and_dense
from .copies import clone, copy_, to
from .core import TensorBase, is_leaf, requires_grad
from .errors import LayoutAttributeError, LayoutError, LayoutTypeError, UnspecifiedError
from .formats import contiguous_format, preserve_format
from .grad_mode import enable_grad, no_grad


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
    """Add gradients to the leaves that they are of; there is no engine that computes those of what has a history.

    A leaf's first gradient is a copy: in the leaf's own strides where the leaf is dense, else row-major. Later ones
    are added to it in place, with `create_graph` to a new tensor.

    Raises: grad, size, dtype, device (RuntimeError), argument (TypeError); unspecified where a root has a history, or
    stands twice. Source: facts 4.7, `torch.autograd.backward`, torch 2.13.

    >>> x = torch.ones(3, 2).t().requires_grad_()
    >>> x.backward(torch.ones(1).expand(2, 3)); x.grad.stride()
    (1, 2)
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise LayoutError("argument", "backward: grad_tensors and grad_variables are one argument")
        grad_tensors = grad_variables
    wanted = None if inputs is None else _several(inputs, "inputs")
    if wanted is not None and not wanted:
        raise LayoutError("argument", "backward: inputs cannot be empty")
    roots = _several(tensors, "tensors")
    gradients = (None,) * len(roots) if grad_tensors is None else _several(grad_tensors, "grad_tensors")
    if len(roots) != len(gradients):
        raise LayoutError("argument", f"backward: {len(roots)} tensors and {len(gradients)} gradients")
    for root, gradient in zip(roots, gradients, strict=True):
        _check_gradient(root, gradient)
    for root, gradient in zip(roots, gradients, strict=True):
        if gradient is not None and gradient._storage._is_meta != root._storage._is_meta:
            raise LayoutError("device", "a gradient lies on the device of what it is of")
    for place, root in enumerate((*roots, *(wanted or ()))):
        if not requires_grad(root):
            raise LayoutError("grad", f"backward: tensor {place} requires no gradient")
    if not all(is_leaf(root) for root in roots) or len({id(root) for root in roots}) < len(roots):
        raise UnspecifiedError("backward: the reference has no engine that computes gradients")
    for root, gradient in zip(roots, gradients, strict=True):
        if wanted is None or any(root is one for one in wanted):
            with enable_grad() if create_graph else no_grad():
                whole = ones_like(root, memory_format=preserve_format) if gradient is None else gradient
                _accumulate(root, whole if whole.dtype is root.dtype else to(whole, root.dtype), create_graph)


def _accumulate(leaf: Any, gradient: Any, create_graph: bool) -> None:
    shape, strides, _ = leaf._layout
    if leaf._grad is None and is_non_overlapping_and_dense(shape, strides):
        leaf._grad = copy_(empty_strided(shape, strides, dtype=leaf.dtype, device=leaf.device), gradient)
    elif leaf._grad is None:
        leaf._grad = clone(gradient, memory_format=contiguous_format)
    elif create_graph:
        leaf._grad = add(leaf._grad, gradient)
    else:
        add_(leaf._grad, gradient)
