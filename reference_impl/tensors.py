"""The tensor: PyTorch's names over the data that `TensorBase` carries.

A table of contents, so to say: every method is a plain function of a family module, bound by name: here what makes
views, copies and tensors of other layouts, in the `*_methods` modules what reads and what computes.
"""

from typing import Any, Self

from . import (
    constructors,
    copies,
    dtype_view,
    from_values,
    indexing,
    legacy_constructors,
    metadata,
    pickling,
    pointwise_ops,
    predicates,
    randomness,
    slicing_ops,
    tensor_storage,
    view_copies,
    view_ops,
)
from .backing import no_data
from .calls import refusing, taking_numpy_names
from .core import register
from .elementwise_methods import ElementwiseMethods
from .errors import LayoutError, UnsupportedError
from .history import RemovableHandle, backward
from .indexing_methods import IndexingMethods
from .linear_algebra_methods import LinearAlgebraMethods
from .operators import with_operators
from .parsing import parsed
from .reduction_methods import ReductionMethods
from .value_methods import ValueMethods


@with_operators
@taking_numpy_names(but_not="istft new_tensor norm split stft unflatten unique unique_consecutive")
class Tensor(ValueMethods, ElementwiseMethods, ReductionMethods, IndexingMethods, LinearAlgebraMethods):
    """A strided tensor over NumPy memory, with PyTorch's names, signatures and defaults."""

    __slots__ = ("__dict__",)  # attributes of the user's own
    __hash__ = object.__hash__

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A tensor of the default dtype; see `legacy_constructors`."""
        return legacy_constructors.of_default_dtype(*args, **kwargs)  # type: ignore[return-value]

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
    mT = property(view_ops.mT)  # noqa: N815 - PyTorch's own name
    movedim = view_ops.movedim
    moveaxis = view_ops.moveaxis
    expand = view_ops.expand
    expand_as = view_ops.expand_as
    broadcast_to = view_ops.broadcast_to
    squeeze = view_ops.squeeze
    unsqueeze = view_ops.unsqueeze
    select = slicing_ops.select
    narrow = slicing_ops.narrow
    unfold = slicing_ops.unfold
    diagonal = slicing_ops.diagonal
    as_strided = slicing_ops.as_strided
    split = slicing_ops.split
    split_with_sizes = slicing_ops.split_with_sizes
    chunk = slicing_ops.chunk
    tensor_split = slicing_ops.tensor_split
    hsplit = slicing_ops.hsplit
    vsplit = slicing_ops.vsplit
    dsplit = slicing_ops.dsplit
    unbind = slicing_ops.unbind
    detach = view_ops.detach
    adjoint = view_copies.adjoint
    H = property(view_copies.matrix_H)
    mH = property(view_copies.adjoint)  # noqa: N815 - PyTorch's own name
    unsafe_split = view_copies.unsafe_split
    unsafe_split_with_sizes = view_copies.unsafe_split_with_sizes
    unsafe_chunk = view_copies.unsafe_chunk
    sum_to_size = view_copies.sum_to_size
    diagonal_scatter = view_copies.diagonal_scatter
    select_scatter = view_copies.select_scatter
    slice_scatter = view_copies.slice_scatter
    slice_inverse = view_copies.slice_inverse
    as_strided_scatter = view_copies.as_strided_scatter
    narrow_copy = view_copies.narrow_copy
    real = property(dtype_view.real, indexing.set_real)
    imag = property(dtype_view.imag, indexing.set_imag)
    conj = dtype_view.conj
    _conj = dtype_view.conj_view
    _conj_physical = pointwise_ops.conj_physical_copy
    _is_zerotensor = predicates.is_zerotensor
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
        """Itself, or a copy in another memory format. Raises: device for a meta tensor. Source: facts 4.1.6."""
        if self._storage._is_meta:
            raise no_data("cpu")
        return self if memory_format is None else copies.to(self, memory_format=memory_format)

    new = legacy_constructors.new
    new_empty = constructors.new_empty
    new_zeros = constructors.new_zeros
    new_ones = constructors.new_ones
    new_full = constructors.new_full
    new_tensor = from_values.new_tensor
    new_empty_strided = constructors.new_empty_strided

    # ------------------------------------------------------------------------------------------------- metadata

    resize_ = metadata.resize_
    resize_as_ = metadata.resize_as_
    resize = legacy_constructors.resize
    resize_as = legacy_constructors.resize_as
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

    # ------------------------------------------------------------------------------------- storage and exchange

    dequantize = tensor_storage.dequantize
    storage = tensor_storage.storage
    storage_type = tensor_storage.storage_type
    _typed_storage = tensor_storage.typed_storage
    is_shared = tensor_storage.is_shared
    share_memory_ = tensor_storage.share_memory_
    is_pinned = tensor_storage.is_pinned
    pin_memory = tensor_storage.pin_memory
    cuda = tensor_storage.cuda
    __dlpack__ = tensor_storage.dlpack
    __dlpack_device__ = tensor_storage.dlpack_device
    __copy__ = pickling.copy_tensor
    __deepcopy__ = pickling.deepcopy_tensor
    __reduce_ex__ = pickling.reduce_tensor

    def retain_grad(self) -> None:
        """Nothing: only leaves have gradients here. Raises: grad (RuntimeError) where none is required."""
        if not self.requires_grad:
            raise LayoutError("grad", "retain_grad: the tensor requires no gradient")

    @parsed(in_python="retain_graph create_graph")
    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add to the gradient of a leaf, see `autograd.backward`. Raises: as it."""
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """A hook that nobody calls: there is no backward engine. Raises: grad (RuntimeError), as `retain_grad`."""
        if not self.requires_grad:
            raise LayoutError("grad", "register_hook: the tensor requires no gradient")
        return RemovableHandle()

    as_subclass = metadata.as_subclass
    _in_class = metadata.in_class
    _make_subclass = staticmethod(metadata.make_subclass)

    def is_distributed(self) -> bool:
        """False: it lies in one process."""
        return False

    # ---------------------------------------------------------------------------------------------- randomness

    uniform_ = randomness.uniform_
    normal_ = randomness.normal_
    random_ = randomness.random_
    bernoulli_ = randomness.bernoulli_
    exponential_ = randomness.exponential_
    cauchy_ = randomness.cauchy_
    log_normal_ = randomness.log_normal_
    geometric_ = randomness.geometric_
    bernoulli = randomness.bernoulli
    multinomial = randomness.multinomial

    is_same_size = predicates.is_same_size
    is_nonzero = predicates.is_nonzero


for _name in ("int_repr", "q_scale", "q_zero_point", "q_per_channel_scales", "q_per_channel_zero_points",
              "q_per_channel_axis", "qscheme"):  # fmt: skip
    setattr(Tensor, _name, refusing(_name, UnsupportedError, "dtype", "of a tensor that is not quantised (facts 10.1)"))
for _error, _names in (
    (LayoutError, "is_coalesced coalesce indices values crow_indices col_indices ccol_indices row_indices"),
    (UnsupportedError, "_indices _values _nnz _dimI _dimV"),
):
    for _name in _names.split():
        setattr(Tensor, _name, refusing(_name, _error, "format", "of a tensor that is not sparse"))

for _name in ("eig", "lstsq", "reinforce", "solve", "symeig"):
    setattr(Tensor, _name, refusing(_name, LayoutError, "argument", "was removed from PyTorch"))

register(Tensor)
