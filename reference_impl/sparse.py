"""Tensors without a storage: coordinates and values, and the refusal of everything that needs bytes behind strides."""

from typing import Any

import numpy as np

from .calls import checked, refusing
from .constructors import zeros
from .core import array, as_class, build
from .devices import check_device, cpu
from .errors import (
    LayoutAttributeError,
    LayoutBufferError,
    LayoutError,
    LayoutTypeError,
    UnsupportedError,
)
from .formats import sparse_coo
from .from_values import tensor
from .layout import Layout
from .tensors import Tensor


class NoStorage:
    """Stands where a strided tensor has its storage, and refuses to be asked for anything of it."""

    __slots__ = ()
    device = cpu
    _is_meta = False
    _short = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError("format", "a sparse tensor has no storage (facts 7.7)")


ABSENT: Any = NoStorage()


class SparseTensor(Tensor):
    """A tensor in coordinate layout, which has neither storage nor strides that mean anything.

    Shapes: indices (dimensions, elements), values (elements, …). Source: torch 2.13.
    """

    __slots__ = ("_coordinates", "_numbers")
    _coordinates: Tensor
    _numbers: Tensor

    is_sparse = True
    layout = sparse_coo
    # As in PyTorch, and as that of quantised tensors.
    __class__ = property(lambda self: Tensor)

    def _indices(self) -> Tensor:
        return self._coordinates

    def _values(self) -> Tensor:
        return self._numbers

    def _nnz(self) -> int:
        return self._numbers._layout.shape[0]

    def sparse_dim(self) -> int:
        """How many dimensions the coordinates count."""
        return self._coordinates._layout.shape[0]

    def dense_dim(self) -> int:
        """How many dimensions each value has."""
        return len(self._numbers._layout.shape) - 1

    def is_coalesced(self) -> bool:
        """False: coordinates are kept as they were given, and may repeat."""
        return False

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        """False: there is no memory to be contiguous in."""
        return False

    def __getitem__(self, index: Any) -> Tensor:
        """One element of a single dimension. Raises: format (NotImplementedError) for anything else."""
        if isinstance(index, int) and len(self._layout.shape) == 1:
            return self.to_dense()[index].clone()
        raise UnsupportedError("format", "indexing of a sparse tensor other than for one element (facts 7.7)")

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
        """The elements as a strided tensor; coordinates that repeat are added up."""
        out = zeros(tuple(self._layout.shape), dtype=dtype or self.dtype)
        np.add.at(array(out), tuple(array(self._coordinates)), array(self._numbers))
        return out

    def clone(self, *, memory_format: Any = None) -> "SparseTensor":
        """A copy of coordinates and values."""
        return _sparse(self._coordinates.clone(), self._numbers.clone(), self._layout.shape)

    def detach(self) -> "SparseTensor":
        """The same coordinates and values without history."""
        return _sparse(self._coordinates, self._numbers.detach(), self._layout.shape)

    def cpu(self, memory_format: Any = None) -> "SparseTensor":
        """Itself."""
        return self

    def __copy__(self) -> "SparseTensor":
        return self.detach()

    def __deepcopy__(self, memo: dict[int, Any]) -> "SparseTensor":
        return self.clone()

    def __reduce_ex__(self, protocol: Any = None) -> Any:
        return sparse_coo_tensor, (self._coordinates, self._numbers, tuple(self._layout.shape))

    @property
    def nbytes(self) -> int:
        """Nothing. Raises: format (RuntimeError)."""
        raise LayoutError("format", "nbytes of a sparse tensor: ask its indices and values")

    def __repr__(self) -> str:
        parts = f"indices={self._coordinates}, values={self._numbers}, size={tuple(self.shape)}"
        return f"tensor({parts}, layout={self.layout})"


_REFUSED: dict[type[Any], tuple[str, ...]] = {
    UnsupportedError: (
        "untyped_storage", "storage", "storage_type", "_typed_storage", "is_shared", "share_memory_", "view",
        "as_strided", "set_", "resize_", "fill_", "is_set_to", "narrow", "squeeze",
    ),
    LayoutError: ("data_ptr", "tolist", "item", "reshape", "copy_", "expand", "contiguous"),
    LayoutTypeError: ("numpy", "__array__"),
    LayoutBufferError: ("__dlpack__",),
    LayoutAttributeError: ("dim_order",),
}  # fmt: skip
for _error, _names in _REFUSED.items():
    for _name in _names:
        setattr(
            SparseTensor,
            _name,
            refusing(_name, _error, "format", "of a sparse tensor, which has no storage (facts 7.7)"),
        )


def _sparse(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> SparseTensor:
    plain = build(ABSENT, Layout(tuple(shape), (0,) * len(shape), 0), values.dtype)
    out: SparseTensor = as_class(plain, SparseTensor)
    out._coordinates = indices
    out._numbers = values
    return out


@checked
def sparse_coo_tensor(
    indices: Any, values: Any, size: Any = None, *, dtype: Any = None, pin_memory: bool = False, **kwargs: Any
) -> SparseTensor:
    """A sparse tensor of coordinates and values; the size is the smallest that holds them unless given.

    Raises: size, index, device (RuntimeError). Source: torch 2.13.

    >>> sparse_coo_tensor([[0]], [1.0], (3,)).to_dense().tolist()
    [1.0, 0.0, 0.0]
    """
    check_device(None, pin_memory)
    places = indices if isinstance(indices, Tensor) else tensor(indices)
    numbers = values if isinstance(values, Tensor) and dtype is None else tensor(values, dtype=dtype)
    if places.ndim != 2 or places.shape[1] != numbers.shape[0]:
        raise LayoutError("size", f"sparse_coo_tensor: indices {tuple(places.shape)} for values {tuple(numbers.shape)}")
    found = array(places)
    if size is None:
        size = tuple(int(row.max()) + 1 for row in found)
    if len(size) != len(found) or any((row < 0).any() or (row >= n).any() for row, n in zip(found, size, strict=True)):
        raise LayoutError("index", f"sparse_coo_tensor: indices outside of size {tuple(size)}")
    return _sparse(places, numbers, tuple(size))
