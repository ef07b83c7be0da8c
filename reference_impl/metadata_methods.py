"""What a tensor tells of itself without its elements: lengths, strides, storage, flags."""

from math import prod
from typing import TYPE_CHECKING, Any

from . import metadata, tensor_storage
from .backing import no_data
from .contiguity import dim_order, is_contiguous_in
from .core import CONJ, NEG, TensorBase, as_int, is_leaf, requires_grad
from .errors import LayoutAttributeError, LayoutIndexError, LayoutTypeError, UnsupportedError
from .formats import contiguous_format, layout, memory_format, strided
from .history import Node
from .layout import wrap_dim
from .size import Size, size_of
from .storage import UntypedStorage
from .versions import version_of

if TYPE_CHECKING:
    from .tensors import Tensor


class MetadataMethods(TensorBase):
    """The part of `Tensor` that reads metadata. Source: facts 1 and 2, torch 2.13."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        """Lengths of the dimensions."""
        return size_of(self._layout.shape)

    def size(self, dim: Any = None) -> Any:
        """All lengths, or one. Raises: dimension (IndexError). Source: facts 1.20."""
        if dim is None:
            return size_of(self._layout.shape)
        return self._layout.shape[self._dim(dim)]

    def stride(self, dim: Any = None) -> Any:
        """All strides in elements, or one. Raises: dimension (IndexError). Source: facts 1.2 and 1.20."""
        if dim is None:
            return self._layout.strides
        return self._layout.strides[self._dim(dim)]

    def _dim(self, dim: Any) -> int:
        dim = as_int(dim, "dim")
        if not self._layout.shape:
            raise LayoutIndexError("dimension", f"dimension {dim} of a tensor without dimensions (facts 1.20)")
        return wrap_dim(dim, len(self._layout.shape))

    def storage_offset(self) -> int:
        """Elements from the start of the storage to the first element."""
        return self._layout.offset

    def dim(self) -> int:
        """Number of dimensions."""
        return len(self._layout.shape)

    ndimension = dim

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._layout.shape)

    def numel(self) -> int:
        """Number of logical elements."""
        return prod(self._layout.shape)

    nelement = numel

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        size: int = self.dtype.itemsize
        return size

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the logical elements, more than the storage holds where some repeat. Source: facts 1.6."""
        return prod(self._layout.shape) * self.itemsize

    def data_ptr(self) -> int:
        """Address of the first element; 0 where there is none. Source: facts 1.4 and 1.5."""
        if 0 in self._layout.shape:
            return 0
        # Also where the storage is empty or meta, and starts nowhere.
        return self._storage.data_ptr() + self._layout.offset * self.itemsize

    const_data_ptr = data_ptr

    def untyped_storage(self) -> UntypedStorage:
        """The storage, the same object each time. Source: facts 7.3."""
        return self._storage

    def is_contiguous(self, *, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements lie one behind the other in a memory format. Source: facts 2.1 to 2.4."""
        return is_contiguous_in(self._layout.shape, self._layout.strides, memory_format)

    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[int, ...]:
        """Dimensions from the largest stride to the smallest; the check is a bool or a list of memory formats.

        Raises: argument (TypeError), dimension (RuntimeError). Source: facts 1.15, torch 2.13.
        """
        shape, strides = self._layout.shape, self._layout.strides
        if isinstance(ambiguity_check, bool):
            return dim_order(shape, strides, ambiguity_check)
        if isinstance(ambiguity_check, list) and all(isinstance(one, memory_format) for one in ambiguity_check):
            return dim_order(shape, strides, tuple(ambiguity_check))
        raise LayoutTypeError("argument", "dim_order: the check is a bool or a list of memory formats")

    def is_set_to(self, tensor: "Tensor") -> bool:
        """Whether both have one storage and one layout. Source: facts 1.16."""
        if self._storage._is_meta or tensor._storage._is_meta:
            raise no_data("is_set_to")
        if tensor.is_sparse:
            raise UnsupportedError("format", "is_set_to a sparse tensor, which has no storage (facts 7.7)")
        if tensor.is_quantized:
            raise UnsupportedError("dtype", "is_set_to codes (facts 10.1.8)")
        if self._bits or tensor._bits:
            # PyTorch compares resolved copies, which are never one storage.
            return False
        return self._storage is tensor._storage and self._layout == tensor._layout

    device = property(tensor_storage.tensor_device)

    @property
    def layout(self) -> layout:
        """PyTorch's word for the kind of tensor: strided."""
        return strided

    is_cpu = property(tensor_storage.is_cpu)
    is_cuda = property(lambda self: False)
    is_meta = property(tensor_storage.is_meta)
    is_sparse = property(lambda self: False)
    is_quantized = property(lambda self: False)
    is_sparse_csr = is_nested = is_mkldnn = is_quantized
    is_ipu = is_maia = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = is_quantized
    retains_grad = is_quantized
    name = property(lambda self: None)

    def dense_dim(self) -> int:
        """The number of dimensions: all of them are dense."""
        return len(self._layout.shape)

    def sparse_dim(self) -> int:
        """0: no dimension is sparse."""
        return 0

    @property
    def grad_fn(self) -> Node | None:
        """What stands for the operator that made it, the same each time until the next write; None of a leaf."""
        if is_leaf(self):
            return None
        if type(self._has_fn) is not Node:
            self._has_fn = Node()
        found: Node = self._has_fn
        return found

    @property
    def output_nr(self) -> int:
        """0, of a leaf. Raises: argument (AttributeError) for others."""
        if not is_leaf(self):
            raise LayoutAttributeError("argument", "output_nr: the reference keeps no graph of operators")
        return 0

    @property
    def _version(self) -> int:
        return version_of(self._versions)

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        return requires_grad(self)

    @requires_grad.setter
    def requires_grad(self: Any, value: bool) -> None:
        metadata.set_requires_grad(self, value)

    @property
    def grad(self: Any) -> "Tensor | None":
        """The gradient that was given, or accumulated by `backward`; None for none."""
        found: Tensor | None = self._grad
        return found

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        metadata.set_grad(self, value)

    @grad.deleter
    def grad(self: Any) -> None:
        self._grad = None

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor has no history."""
        return is_leaf(self)

    @property
    def data(self: Any) -> "Tensor":
        """The same memory without history, under its own version counter."""
        return metadata.get_data(self)

    @data.setter
    def data(self: Any, new: Any) -> None:
        metadata.set_data(self, new)

    def is_conj(self) -> bool:
        """Whether the conjugate bit is set."""
        return bool(self._bits & CONJ)

    def is_neg(self) -> bool:
        """Whether the negative bit is set."""
        return bool(self._bits & NEG)

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.dtype.is_complex

    def is_floating_point(self) -> bool:
        """Whether the dtype is floating point."""
        return self.dtype.is_floating_point

    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return self.dtype.is_signed

    def get_device(self) -> int:
        """-1: the CPU has no index."""
        return -1

    def is_inference(self) -> bool:
        """Whether it was made in inference mode, or is a view of one that was. Source: facts 5.5.1."""
        return self._inference
