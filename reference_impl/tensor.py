"""The tensor: PyTorch's names over the data that `TensorBase` carries.

A table of contents, so to say: every method is a plain function of a family module, bound here by name.
"""

from collections.abc import Iterator
from math import prod
from typing import Any

from . import arithmetic, constructors, copies, dtype_view, indexing, metadata, numpy_bridge, view_ops
from . import dtypes as dt
from .contiguity import dim_order, is_contiguous_in
from .core import CONJ, NEG, TensorBase, as_int, is_leaf, register, requires_grad, values
from .device import cpu, device
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, LayoutTypeError
from .layout import wrap_dim
from .memory_format import contiguous_format, memory_format
from .size import Size
from .storage import UntypedStorage


class Tensor(TensorBase):
    """A strided tensor over NumPy memory, with PyTorch's names, signatures and defaults."""

    __slots__ = ()
    __hash__ = object.__hash__

    # ------------------------------------------------------------------------------------------------- metadata

    @property
    def shape(self) -> Size:
        """Lengths of the dimensions."""
        return Size(self._layout.shape)

    def size(self, dim: Any = None) -> Any:
        """All lengths, or one. Raises: dimension (IndexError). Source: facts 1.20."""
        if dim is None:
            return Size(self._layout.shape)
        return self._layout.shape[self._dim(dim)]

    def stride(self, dim: Any = None) -> Any:
        """All strides in elements, or one. Raises: dimension (IndexError). Source: facts 1.2 and 1.20."""
        if dim is None:
            return self._layout.strides
        return self._layout.strides[self._dim(dim)]

    def _dim(self, dim: Any) -> int:
        dim = as_int(dim, "dim")
        if not self._layout.shape:
            raise LayoutIndexError(
                "dimension", f"dimension {dim} of a tensor without dimensions (facts 1.20)"
            )
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
        return self.dtype.itemsize

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the logical elements, more than the storage holds where some repeat. Source: facts 1.6."""
        return prod(self._layout.shape) * self.dtype.itemsize

    def data_ptr(self) -> int:
        """Address of the first element; 0 where there is none. Source: facts 1.4 and 1.5."""
        if 0 in self._layout.shape:
            return 0
        start = self._storage.data_ptr()
        return start + self._layout.offset * self.dtype.itemsize if start else 0

    def untyped_storage(self) -> UntypedStorage:
        """The storage, the same object each time. Source: facts 7.3."""
        return self._storage

    def is_contiguous(self, *, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements lie one behind the other in a memory format. Source: facts 2.1 to 2.4."""
        return is_contiguous_in(self._layout.shape, self._layout.strides, memory_format)

    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[int, ...]:
        """Dimensions from the largest stride to the smallest. Source: facts 1.15."""
        return dim_order(self._layout.shape, self._layout.strides)

    def is_set_to(self, tensor: "Tensor") -> bool:
        """Whether both have one storage and one layout. Source: facts 1.16."""
        if self._bits or tensor._bits:
            # PyTorch compares resolved copies, which are never one storage.
            return False
        return self._storage is tensor._storage and self._layout == tensor._layout

    @property
    def device(self) -> device:
        """Where the memory lies."""
        return cpu

    @property
    def layout(self) -> str:
        """PyTorch's word for the kind of tensor: strided."""
        return "torch.strided"

    is_cpu = True
    is_cuda = False
    is_meta = False
    is_sparse = False
    is_quantized = False
    names = None

    @property
    def _version(self) -> int:
        return self._versions[0]

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        return requires_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        metadata.set_requires_grad(self, value)

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor has no history."""
        return is_leaf(self)

    @property
    def data(self) -> "Tensor":
        """The same memory without history, under its own version counter."""
        return metadata.get_data(self)

    @data.setter
    def data(self, new: Any) -> None:
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
        """False: the reference has no inference mode."""
        return False

    def is_shared(self) -> bool:
        """False: other processes do not see the memory."""
        return False

    def is_pinned(self) -> bool:
        """False: the memory is not page-locked."""
        return False

    def retain_grad(self) -> None:
        """Nothing: the reference has no backward engine."""

    # --------------------------------------------------------------------------------------------------- values

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers. Raises: bounds. Source: facts 6.6."""
        a = values(self)
        if self.dtype is dt.complex32:
            from .conversion import unpack_half_complex

            a = unpack_half_complex(a)
        if self.dtype.numpy.kind == "V" or self.dtype.name.startswith(("bfloat", "float8")):
            a = a.astype("float32")
        return a.tolist()

    def item(self) -> Any:
        """The only element as a Python number. Raises: size (RuntimeError) where there is not exactly one."""
        if self.numel() != 1:
            raise LayoutError("size", f"item(): {self.numel()} elements, not one")
        found = self.tolist()
        while isinstance(found, list):
            found = found[0]
        return found

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise LayoutError("size", f"the truth of {self.numel()} elements is ambiguous")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.category not in ("int", "bool") or self.numel() != 1:
            raise LayoutTypeError("argument", "only integer tensors of a single element are indices")
        return int(self.item())

    def __len__(self) -> int:
        if not self._layout.shape:
            raise LayoutTypeError("dimension", "len() of a 0-d tensor")
        return self._layout.shape[0]

    def __iter__(self) -> Iterator["Tensor"]:
        if not self._layout.shape:
            raise LayoutTypeError("dimension", "iteration over a 0-d tensor (facts 3.9)")
        return iter(view_ops.unbind(self, 0))

    def __repr__(self) -> str:
        tail = "" if self.dtype in (dt.float32, dt.int64, dt.bool_) else f", dtype={self.dtype}"
        try:
            return f"tensor({self.tolist()}{tail})"
        except (LayoutError, ValueError, TypeError):
            return f"tensor(..., {self._layout}{tail})"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        a = numpy_bridge.numpy(self)
        return a if dtype is None else a.astype(dtype, copy=False)

    numpy = numpy_bridge.numpy

    # ---------------------------------------------------------------------------------------------------- views

    view = view_ops.view
    view_as = view_ops.view_as
    reshape = view_ops.reshape
    reshape_as = view_ops.reshape_as
    flatten = view_ops.flatten
    unflatten = view_ops.unflatten
    ravel = view_ops.ravel
    permute = view_ops.permute
    transpose = view_ops.transpose
    swapaxes = view_ops.swapaxes
    swapdims = view_ops.swapdims
    t = view_ops.t
    T = property(view_ops.numpy_T)
    mT = property(view_ops.mT)
    movedim = view_ops.movedim
    moveaxis = view_ops.moveaxis
    expand = view_ops.expand
    expand_as = view_ops.expand_as
    broadcast_to = view_ops.broadcast_to
    squeeze = view_ops.squeeze
    unsqueeze = view_ops.unsqueeze
    select = view_ops.select
    narrow = view_ops.narrow
    unfold = view_ops.unfold
    diagonal = view_ops.diagonal
    as_strided = view_ops.as_strided
    split = view_ops.split
    split_with_sizes = view_ops.split_with_sizes
    chunk = view_ops.chunk
    tensor_split = view_ops.tensor_split
    hsplit = view_ops.hsplit
    vsplit = view_ops.vsplit
    dsplit = view_ops.dsplit
    unbind = view_ops.unbind
    detach = view_ops.detach
    view_as_real = dtype_view.view_as_real
    view_as_complex = dtype_view.view_as_complex
    real = property(dtype_view.real)
    imag = property(dtype_view.imag)
    conj = dtype_view.conj
    _neg_view = dtype_view.neg_view
    __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem

    # --------------------------------------------------------------------------------------------------- copies

    clone = copies.clone
    contiguous = copies.contiguous
    to = copies.to
    copy_ = copies.copy_
    fill_ = copies.fill_
    zero_ = copies.zero_
    resolve_conj = copies.resolve_conj
    resolve_neg = copies.resolve_neg

    def cpu(self, memory_format: Any = None) -> "Tensor":
        """Itself, or a copy in another memory format. Source: facts 4.1.6."""
        return self if memory_format is None else copies.to(self, memory_format=memory_format)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Name of the class for this dtype, or the tensor in another dtype. Source: facts 4.1.7."""
        return copies.type_(self, dtype)

    def type_as(self, other: "Tensor") -> "Tensor":
        """The tensor in another one's dtype."""
        return copies.to(self, other.dtype)

    def _cast(self, wanted: dtype, memory_format: Any) -> "Tensor":
        if memory_format is None:
            return self if self.dtype is wanted else copies.to_copy(self, wanted)
        return copies.to(self, wanted, memory_format=memory_format)

    def float(self, memory_format: Any = None) -> "Tensor":
        """`to(float32)`."""
        return self._cast(dt.float32, memory_format)

    def double(self, memory_format: Any = None) -> "Tensor":
        """`to(float64)`."""
        return self._cast(dt.float64, memory_format)

    def half(self, memory_format: Any = None) -> "Tensor":
        """`to(float16)`."""
        return self._cast(dt.float16, memory_format)

    def bfloat16(self, memory_format: Any = None) -> "Tensor":
        """`to(bfloat16)`."""
        return self._cast(dt.bfloat16, memory_format)

    def int(self, memory_format: Any = None) -> "Tensor":
        """`to(int32)`."""
        return self._cast(dt.int32, memory_format)

    def long(self, memory_format: Any = None) -> "Tensor":
        """`to(int64)`."""
        return self._cast(dt.int64, memory_format)

    def short(self, memory_format: Any = None) -> "Tensor":
        """`to(int16)`."""
        return self._cast(dt.int16, memory_format)

    def char(self, memory_format: Any = None) -> "Tensor":
        """`to(int8)`."""
        return self._cast(dt.int8, memory_format)

    def byte(self, memory_format: Any = None) -> "Tensor":
        """`to(uint8)`."""
        return self._cast(dt.uint8, memory_format)

    def bool(self, memory_format: Any = None) -> "Tensor":
        """`to(bool)`."""
        return self._cast(dt.bool_, memory_format)

    def cfloat(self, memory_format: Any = None) -> "Tensor":
        """`to(complex64)`."""
        return self._cast(dt.complex64, memory_format)

    def cdouble(self, memory_format: Any = None) -> "Tensor":
        """`to(complex128)`."""
        return self._cast(dt.complex128, memory_format)

    new_empty = constructors.new_empty
    new_zeros = constructors.new_zeros
    new_ones = constructors.new_ones
    new_full = constructors.new_full
    new_tensor = constructors.new_tensor
    new_empty_strided = constructors.new_empty_strided

    # ------------------------------------------------------------------------------------------------- metadata

    resize_ = metadata.resize_
    resize_as_ = metadata.resize_as_
    set_ = metadata.set_
    as_strided_ = metadata.as_strided_
    squeeze_ = metadata.squeeze_
    unsqueeze_ = metadata.unsqueeze_
    transpose_ = metadata.transpose_
    swapaxes_ = metadata.swapaxes_
    swapdims_ = metadata.swapdims_
    t_ = metadata.t_
    detach_ = metadata.detach_
    requires_grad_ = metadata.requires_grad_

    # ----------------------------------------------------------------------------------------------- arithmetic

    add = arithmetic.add
    add_ = arithmetic.add_
    sub = arithmetic.sub
    sub_ = arithmetic.sub_
    subtract = arithmetic.sub
    subtract_ = arithmetic.sub_
    mul = arithmetic.mul
    mul_ = arithmetic.mul_
    multiply = arithmetic.mul
    multiply_ = arithmetic.mul_
    neg = arithmetic.neg
    neg_ = arithmetic.neg_
    negative = arithmetic.neg
    abs = arithmetic.abs
    abs_ = arithmetic.abs_
    absolute = arithmetic.abs
    relu = arithmetic.relu
    relu_ = arithmetic.relu_
    __add__ = __radd__ = arithmetic.add
    __iadd__ = arithmetic.add_
    __sub__ = arithmetic.sub
    __rsub__ = arithmetic.rsub
    __isub__ = arithmetic.sub_
    __mul__ = __rmul__ = arithmetic.mul
    __imul__ = arithmetic.mul_
    __neg__ = arithmetic.neg
    __abs__ = arithmetic.abs


register(Tensor)
