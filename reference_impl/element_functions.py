"""`apply_`, `map_` and `map2_`: a function of Python's for every element. Writes that no version counts."""

from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import array, requires_grad
from .errors import LayoutError, LayoutTypeError
from .view_ops import expand

if TYPE_CHECKING:
    from .tensors import Tensor

_PYTHON: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float, "complex": complex}


def apply_(self: "Tensor", callable: Callable[[Any], Any]) -> "Tensor":
    """A function of each element in its place, in the order of indices, however the elements lie.

    Raises: grad (RuntimeError), argument (TypeError). Source: `apply_`, torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> torch.arange(4).apply_(lambda x: 2 * x).tolist()
    [0, 2, 4, 6]
    """
    return _mapped("apply_", self, (), callable)


def map_(self: "Tensor", other: "Tensor", callable: Callable[[Any, Any], Any]) -> "Tensor":
    """`apply_` of a function of two elements. Raises: grad, broadcast, argument. Source: `map_`, torch 2.13."""
    return _mapped("map_", self, (other,), callable)


def map2_(self: "Tensor", x: "Tensor", y: "Tensor", callable: Callable[[Any, Any, Any], Any]) -> "Tensor":
    """`apply_` of a function of three elements. Raises: grad, broadcast, argument. Source: `map2_`, torch 2.13."""
    return _mapped("map2_", self, (x, y), callable)


def _mapped(name: str, self: "Tensor", others: "tuple[Tensor, ...]", function: Callable[..., Any]) -> "Tensor":
    if any(requires_grad(t) for t in (self, *others)):
        raise LayoutError("grad", f"{name}: a tensor requires grad, detach it first")
    if any(t.dtype is not self.dtype for t in others):
        raise LayoutTypeError("argument", f"{name}: all tensors must be of {self.dtype}")
    if self._storage._is_meta:
        return self
    shape = self._layout.shape
    written, read = array(self), [array(expand(t, shape)) for t in others]
    as_element = _PYTHON[self.dtype.category]
    for place in np.ndindex(shape):
        found = function(*[as_element(a[place]) for a in (written, *read)])
        if not isinstance(found, (Number, np.bool_)):
            raise LayoutTypeError("argument", f"{name}: a number is needed, got {type(found).__name__}")
        written[place] = as_element(found)
    return self
