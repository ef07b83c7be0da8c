"""`Tensor(…)` and `Tensor.new(…)`: one call for a storage, a tensor, lengths or data, as before there was `tensor`."""

import functools
import operator
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .calls import check_keywords
from .constructors import empty
from .core import TensorBase, bad_arguments, recorded, view_of
from .devices import device as as_device
from .dtypes import dtype
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .from_values import tensor
from .grad_mode import no_grad
from .numpy_bridge import over_array
from .promotion import get_default_dtype
from .size import Size
from .storage_methods import StorageMethods

if TYPE_CHECKING:
    from .tensors import Tensor


def of_default_dtype(*args: Any, device: Any = None, **kwargs: Any) -> "Tensor":
    """What `Tensor(…)` makes: a tensor of the default dtype; of another tensor a view, whatever its dtype.

    Raises: as `new`. Source: facts 6.3, torch 2.13.
    """
    return _constructed(args, kwargs, get_default_dtype(), "cpu", device)


def new(self: "Tensor", *args: Any, device: Any = None, **kwargs: Any) -> "Tensor":
    """A tensor of this one's dtype: over a storage, as `set_` lays one over it; empty, of lengths; of data; a view.

    It lies over an array's memory where the dtype is the array's.

    Raises: argument (TypeError; also a tensor of another dtype or device), dtype (RuntimeError) for a typed storage of
    another dtype, size (RuntimeError), device (RuntimeError) for another device, and of a tensor with the conjugate or
    negative bit, which PyTorch takes for one. Source: facts 6.3, torch 2.13.

    >>> x = torch.arange(6.0)
    >>> x.new(x.untyped_storage()).shape, x.new(2, 3).shape, x.new((2, 3)).tolist()
    (torch.Size([6]), torch.Size([2, 3]), [2.0, 3.0])
    """
    if self._bits:
        raise LayoutError("device", "new of a tensor with a bit: PyTorch takes the bit for a device (facts 9.13)")
    here = "meta" if self._storage._is_meta else "cpu"
    return _constructed_alike(args, kwargs, self.dtype, here, device)


def of_dtype(d: dtype, *args: Any, device: Any = None, **kwargs: Any) -> "Tensor":
    """What a class of tensors of one dtype makes, such as `FloatTensor(…)`. Raises: as `new`. Source: torch 2.13."""
    return _constructed_alike(args, kwargs, d, "cpu", device)


def _constructed_alike(args: tuple[Any, ...], kwargs: dict[str, Any], d: dtype, here: str, device: Any) -> "Tensor":
    if (len(args) == 1 and isinstance(args[0], TensorBase)) or "other" in kwargs:
        other: Any = kwargs.get("other", args[0] if args else None)
        if other.dtype is not d or other.is_sparse or other._storage._is_meta is not (here == "meta"):
            raise LayoutTypeError("argument", f"new of a tensor of {d} on {here} takes no tensor of {other.dtype}")
    return _constructed(args, kwargs, d, here, device)


def _constructed(args: tuple[Any, ...], kwargs: dict[str, Any], d: dtype, here: str, device: Any) -> "Tensor":
    check_keywords("new", kwargs, "size", "data", "other")
    if device is not None and as_device(device).type != here:
        raise LayoutError("device", f"new: a tensor on {here} cannot be made on {device}")
    args = (*args, *kwargs.values())
    if not args:
        return empty(0, dtype=d, device=here)
    first: Any = args[0]
    if type(first) is int or isinstance(first, np.integer) or _is_length(first):
        return empty(*args, dtype=d, device=here)
    if len(args) > 1:
        raise bad_arguments("new", f"{len(args)} arguments that are no lengths")
    if isinstance(first, StorageMethods):
        return empty(0, dtype=d, device=here).set_(first)
    if isinstance(first, TensorBase):
        if first.is_sparse:  # type: ignore[attr-defined]
            raise UnsupportedError("format", "new of a sparse tensor, which has no storage (facts 7.7)")
        return view_of(first, first._layout)  # type: ignore[arg-type]
    if isinstance(first, Size) or "size" in kwargs:
        return empty(first, dtype=d, device=here)
    if isinstance(first, str) or not isinstance(first, (Sequence, np.ndarray)):
        raise LayoutTypeError("argument", f"new: data must be a sequence, got {type(first).__name__}")
    if isinstance(first, np.ndarray):
        return over_array(first).to(here, d)
    made: Tensor = tensor(first, dtype=d, device=here)
    return made


def _is_length(x: Any) -> bool:
    return isinstance(x, np.ndarray) and not x.ndim and x.dtype.kind in "iu"


def resize(self: "Tensor", *sizes: Any) -> "Tensor":
    """A view of another shape, of a copy where the tensor is not contiguous; deprecated, and says so.

    Raises: size for another number of elements, argument. Source: `Tensor.resize`, torch 2.13.
    """
    warnings.warn("resize is deprecated (torch 2.13)", UserWarning, stacklevel=2)
    return _resized(self, sizes)


def resize_as(self: "Tensor", tensor: "Tensor") -> "Tensor":
    """`resize` to the shape of another tensor. Raises: as it. Source: `Tensor.resize_as`, torch 2.13."""
    warnings.warn("resize_as is deprecated (torch 2.13)", UserWarning, stacklevel=2)
    return _resized(self, tensor.size())


def _resized(self: "Tensor", sizes: Any) -> "Tensor":
    if self.numel() != functools.reduce(operator.mul, sizes, 1):
        raise LayoutError("size", f"resize: {sizes} for {self.numel()} elements")
    with no_grad():
        whole = new(self, self) if self.is_contiguous() else self.contiguous()
        found = whole.view(*sizes)
    return recorded(found, self)
