"""The tensor: PyTorch's names over the data that `TensorBase` carries.

A table of contents, so to say: every method is a plain function of a family module, bound here by name.
"""

from collections.abc import Iterator
from math import prod
from typing import Any

from . import (
    activations,
    advanced_indexing,
    arithmetic,
    choosing,
    combining,
    constructors,
    contraction,
    copies,
    distances,
    dtype_view,
    index_ops,
    index_writes,
    indexing,
    joining,
    linear_algebra,
    matrices,
    metadata,
    nan_reductions,
    numpy_bridge,
    order_statistics,
    pickling,
    pointwise_ops,
    predicates,
    products,
    quantizers,
    randomness,
    reductions,
    scans,
    scatter_reduction,
    searching,
    special_functions,
    sums,
    tensor_storage,
    triangles,
    view_copies,
    view_ops,
)
from . import dtypes as dt
from .backing import no_data
from .contiguity import dim_order, is_contiguous_in
from .core import CONJ, NEG, TensorBase, as_int, is_leaf, register, requires_grad, values
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, LayoutTypeError
from .formats import contiguous_format, memory_format
from .layout import wrap_dim
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
        if self._storage._is_meta or tensor._storage._is_meta:
            raise no_data("is_set_to")
        if self._bits or tensor._bits:
            # PyTorch compares resolved copies, which are never one storage.
            return False
        return self._storage is tensor._storage and self._layout == tensor._layout

    device = property(tensor_storage.tensor_device)

    @property
    def layout(self) -> str:
        """PyTorch's word for the kind of tensor: strided."""
        return "torch.strided"

    is_cpu = property(tensor_storage.is_cpu)
    is_cuda = False
    is_meta = property(tensor_storage.is_meta)
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

    dequantize = tensor_storage.dequantize
    int_repr = quantizers.refused("int_repr")
    q_scale = quantizers.refused("q_scale")
    q_zero_point = quantizers.refused("q_zero_point")
    q_per_channel_scales = quantizers.refused("q_per_channel_scales")
    q_per_channel_zero_points = quantizers.refused("q_per_channel_zero_points")
    q_per_channel_axis = quantizers.refused("q_per_channel_axis")
    qscheme = quantizers.refused("qscheme")
    storage = tensor_storage.storage
    is_shared = tensor_storage.is_shared
    share_memory_ = tensor_storage.share_memory_
    is_pinned = tensor_storage.is_pinned
    pin_memory = tensor_storage.pin_memory
    cuda = tensor_storage.cuda
    hpu = tensor_storage.hpu
    __dlpack__ = tensor_storage.dlpack
    __dlpack_device__ = tensor_storage.dlpack_device
    __copy__ = pickling.copy_tensor
    __deepcopy__ = pickling.deepcopy_tensor
    __reduce_ex__ = pickling.reduce_tensor

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
        if self._storage._is_meta:
            raise LayoutError("device", "item() of a meta tensor (facts 7.7)")
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
        if self._storage._is_meta:
            return f"tensor(..., device='meta', size={tuple(self._layout.shape)})"
        tail = "" if self.dtype in (dt.float32, dt.int64, dt.bool_) else f", dtype={self.dtype}"
        try:
            return f"tensor({self.tolist()}{tail})"
        except (LayoutError, ValueError, TypeError):
            return f"tensor(..., {self._layout}{tail})"

    __array__ = numpy_bridge.array_protocol

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
    mT = property(view_ops.mT)  # noqa: N815 - PyTorch's own name
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
    as_strided_scatter = view_copies.as_strided_scatter
    narrow_copy = view_copies.narrow_copy
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
        """Itself, or a copy in another memory format. Raises: device for a meta tensor. Source: facts 4.1.6."""
        if self._storage._is_meta:
            raise no_data("cpu")
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

    def chalf(self, memory_format: Any = None) -> "Tensor":
        """`to(complex32)`."""
        return self._cast(dt.complex32, memory_format)

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

    # --------------------------------------------------------------------------------------- pointwise ops

    sqrt = pointwise_ops.sqrt
    rsqrt = pointwise_ops.rsqrt
    exp = pointwise_ops.exp
    exp2 = pointwise_ops.exp2
    expm1 = pointwise_ops.expm1
    log = pointwise_ops.log
    log2 = pointwise_ops.log2
    log10 = pointwise_ops.log10
    log1p = pointwise_ops.log1p
    sin = pointwise_ops.sin
    cos = pointwise_ops.cos
    tan = pointwise_ops.tan
    asin = pointwise_ops.asin
    acos = pointwise_ops.acos
    atan = pointwise_ops.atan
    sinh = pointwise_ops.sinh
    cosh = pointwise_ops.cosh
    tanh = pointwise_ops.tanh
    sigmoid = pointwise_ops.sigmoid
    erf = pointwise_ops.erf
    reciprocal = pointwise_ops.reciprocal
    floor = pointwise_ops.floor
    ceil = pointwise_ops.ceil
    trunc = pointwise_ops.trunc
    frac = pointwise_ops.frac
    sign = pointwise_ops.sign
    sgn = pointwise_ops.sgn
    isnan = pointwise_ops.isnan
    isinf = pointwise_ops.isinf
    isfinite = pointwise_ops.isfinite
    bitwise_not = pointwise_ops.bitwise_not
    logical_not = pointwise_ops.logical_not
    eq = pointwise_ops.eq
    ne = pointwise_ops.ne
    lt = pointwise_ops.lt
    le = pointwise_ops.le
    gt = pointwise_ops.gt
    ge = pointwise_ops.ge
    logical_and = pointwise_ops.logical_and
    logical_or = pointwise_ops.logical_or
    logical_xor = pointwise_ops.logical_xor
    bitwise_and = pointwise_ops.bitwise_and
    bitwise_or = pointwise_ops.bitwise_or
    bitwise_xor = pointwise_ops.bitwise_xor
    maximum = pointwise_ops.maximum
    minimum = pointwise_ops.minimum
    fmod = pointwise_ops.fmod
    remainder = pointwise_ops.remainder
    atan2 = pointwise_ops.atan2
    round = pointwise_ops.round
    div = pointwise_ops.div
    floor_divide = pointwise_ops.floor_divide
    square = pointwise_ops.square
    pow = pointwise_ops.pow
    clamp = pointwise_ops.clamp
    clamp_min = pointwise_ops.clamp_min
    clamp_max = pointwise_ops.clamp_max
    lerp = choosing.lerp
    addcmul = choosing.addcmul
    addcdiv = choosing.addcdiv
    isclose = choosing.isclose
    allclose = choosing.allclose
    equal = choosing.equal
    positive = pointwise_ops.positive
    conj_physical = pointwise_ops.conj_physical
    sqrt_ = pointwise_ops.sqrt_
    rsqrt_ = pointwise_ops.rsqrt_
    exp_ = pointwise_ops.exp_
    exp2_ = pointwise_ops.exp2_
    expm1_ = pointwise_ops.expm1_
    log_ = pointwise_ops.log_
    log2_ = pointwise_ops.log2_
    log10_ = pointwise_ops.log10_
    log1p_ = pointwise_ops.log1p_
    sin_ = pointwise_ops.sin_
    cos_ = pointwise_ops.cos_
    tan_ = pointwise_ops.tan_
    asin_ = pointwise_ops.asin_
    acos_ = pointwise_ops.acos_
    atan_ = pointwise_ops.atan_
    sinh_ = pointwise_ops.sinh_
    cosh_ = pointwise_ops.cosh_
    tanh_ = pointwise_ops.tanh_
    sigmoid_ = pointwise_ops.sigmoid_
    erf_ = pointwise_ops.erf_
    reciprocal_ = pointwise_ops.reciprocal_
    floor_ = pointwise_ops.floor_
    ceil_ = pointwise_ops.ceil_
    trunc_ = pointwise_ops.trunc_
    frac_ = pointwise_ops.frac_
    sign_ = pointwise_ops.sign_
    sgn_ = pointwise_ops.sgn_
    bitwise_not_ = pointwise_ops.bitwise_not_
    logical_not_ = pointwise_ops.logical_not_
    eq_ = pointwise_ops.eq_
    ne_ = pointwise_ops.ne_
    lt_ = pointwise_ops.lt_
    le_ = pointwise_ops.le_
    gt_ = pointwise_ops.gt_
    ge_ = pointwise_ops.ge_
    logical_and_ = pointwise_ops.logical_and_
    logical_or_ = pointwise_ops.logical_or_
    logical_xor_ = pointwise_ops.logical_xor_
    bitwise_and_ = pointwise_ops.bitwise_and_
    bitwise_or_ = pointwise_ops.bitwise_or_
    bitwise_xor_ = pointwise_ops.bitwise_xor_
    fmod_ = pointwise_ops.fmod_
    remainder_ = pointwise_ops.remainder_
    atan2_ = pointwise_ops.atan2_
    round_ = pointwise_ops.round_
    div_ = pointwise_ops.div_
    floor_divide_ = pointwise_ops.floor_divide_
    square_ = pointwise_ops.square_
    pow_ = pointwise_ops.pow_
    clamp_ = pointwise_ops.clamp_
    clamp_min_ = pointwise_ops.clamp_min_
    clamp_max_ = pointwise_ops.clamp_max_
    true_divide = pointwise_ops.div
    divide = pointwise_ops.div
    divide_ = pointwise_ops.div_
    true_divide_ = pointwise_ops.div_
    clip = pointwise_ops.clamp
    clip_ = pointwise_ops.clamp_
    greater = pointwise_ops.gt
    greater_equal = pointwise_ops.ge
    less = pointwise_ops.lt
    less_equal = pointwise_ops.le
    not_equal = pointwise_ops.ne
    arctan = pointwise_ops.atan
    arcsin = pointwise_ops.asin
    arccos = pointwise_ops.acos
    __eq__ = pointwise_ops.eq
    __ne__ = pointwise_ops.ne
    __lt__ = pointwise_ops.lt
    __le__ = pointwise_ops.le
    __gt__ = pointwise_ops.gt
    __ge__ = pointwise_ops.ge
    __truediv__ = pointwise_ops.div
    __rtruediv__ = pointwise_ops.rdiv
    __itruediv__ = pointwise_ops.div_
    __floordiv__ = pointwise_ops.floor_divide
    __ifloordiv__ = pointwise_ops.floor_divide_
    __rfloordiv__ = pointwise_ops.rfloor_divide
    __mod__ = pointwise_ops.remainder
    __imod__ = pointwise_ops.remainder_
    __rmod__ = pointwise_ops.rremainder
    __pow__ = pointwise_ops.pow
    __ipow__ = pointwise_ops.pow_
    __rpow__ = pointwise_ops.rpow
    __invert__ = pointwise_ops.bitwise_not
    __and__ = pointwise_ops.bitwise_and
    __or__ = pointwise_ops.bitwise_or
    __xor__ = pointwise_ops.bitwise_xor
    __rand__ = pointwise_ops.bitwise_and
    __ror__ = pointwise_ops.bitwise_or
    __rxor__ = pointwise_ops.bitwise_xor
    __iand__ = pointwise_ops.bitwise_and_
    __ior__ = pointwise_ops.bitwise_or_
    __ixor__ = pointwise_ops.bitwise_xor_

    # ------------------------------------------------------------------------------------------ reductions

    sum = reductions.sum
    prod = reductions.prod
    mean = reductions.mean
    amax = reductions.amax
    amin = reductions.amin
    max = reductions.max
    min = reductions.min
    argmax = reductions.argmax
    argmin = reductions.argmin
    all = reductions.all
    any = reductions.any
    var = reductions.var
    std = reductions.std
    norm = reductions.norm_of
    logsumexp = reductions.logsumexp
    count_nonzero = reductions.count_nonzero
    aminmax = reductions.aminmax

    # ----------------------------------------------------------------------------------------------- scans

    cumsum = scans.cumsum
    cumprod = scans.cumprod
    cummax = scans.cummax
    cummin = scans.cummin
    softmax = scans.softmax
    log_softmax = scans.log_softmax
    sort = scans.sort
    argsort = scans.argsort
    topk = scans.topk
    flip = scans.flip
    fliplr = scans.fliplr
    flipud = scans.flipud
    roll = scans.roll
    rot90 = scans.rot90
    cumsum_ = scans.cumsum_
    cumprod_ = scans.cumprod_

    # --------------------------------------------------------------------------------------------- joining

    tile = joining.tile
    repeat_interleave = joining.repeat_interleave
    diag = joining.diag
    diag_embed = joining.diag_embed
    trace = joining.trace
    repeat = joining.repeat

    # ---------------------------------------------------------------------------------------------- linalg

    mm = linear_algebra.mm
    bmm = linear_algebra.bmm
    mv = linear_algebra.mv
    dot = linear_algebra.dot
    vdot = linear_algebra.vdot
    outer = products.outer
    matmul = products.matmul
    addmm = linear_algebra.addmm
    baddbmm = linear_algebra.baddbmm
    addmv = linear_algebra.addmv
    addmv_ = linear_algebra.addmv_
    baddbmm_ = linear_algebra.baddbmm_
    inner = contraction.inner
    addmm_ = linear_algebra.addmm_
    __matmul__ = products.matmul
    __rmatmul__ = products.rmatmul
    ger = products.ger

    # ------------------------------------------------------------------------------------------- index ops

    index_select = index_ops.index_select
    gather = index_ops.gather
    take_along_dim = index_ops.take_along_dim
    take = index_ops.take
    masked_select = index_ops.masked_select
    masked_fill = index_ops.masked_fill
    masked_scatter = index_ops.masked_scatter
    index_fill = index_writes.index_fill
    index_copy = index_writes.index_copy
    index_add = index_writes.index_add
    scatter = index_writes.scatter
    scatter_add = index_writes.scatter_add
    tril = triangles.tril
    triu = triangles.triu
    masked_fill_ = index_ops.masked_fill_
    masked_scatter_ = index_ops.masked_scatter_
    index_fill_ = index_writes.index_fill_
    index_copy_ = index_writes.index_copy_
    index_add_ = index_writes.index_add_
    scatter_ = index_writes.scatter_
    scatter_add_ = index_writes.scatter_add_
    fill_diagonal_ = triangles.fill_diagonal_
    tril_ = triangles.tril_
    triu_ = triangles.triu_

    # ----------------------------------------------------------------------------------- advanced indexing

    nonzero = advanced_indexing.nonzero
    argwhere = advanced_indexing.argwhere
    index_put = advanced_indexing.index_put
    index_put_ = advanced_indexing.index_put_

    # --------------------------------------------------------------------------------------------- special functions

    acosh = special_functions.acosh
    asinh = special_functions.asinh
    atanh = special_functions.atanh
    arccosh = special_functions.acosh
    arcsinh = special_functions.asinh
    arctanh = special_functions.atanh
    erfc = special_functions.erfc
    erfinv = special_functions.erfinv
    lgamma = special_functions.lgamma
    digamma = special_functions.digamma
    i0 = special_functions.i0
    sinc = special_functions.sinc
    signbit = special_functions.signbit
    isneginf = special_functions.isneginf
    isposinf = special_functions.isposinf
    rad2deg = special_functions.rad2deg
    deg2rad = special_functions.deg2rad
    copysign = special_functions.copysign
    fmax = special_functions.fmax
    fmin = special_functions.fmin
    gcd = special_functions.gcd
    lcm = special_functions.lcm
    heaviside = special_functions.heaviside
    hypot = special_functions.hypot
    logaddexp = special_functions.logaddexp
    logaddexp2 = special_functions.logaddexp2
    nextafter = special_functions.nextafter
    xlogy = special_functions.xlogy
    igamma = special_functions.igamma
    igammac = special_functions.igammac
    bitwise_left_shift = special_functions.bitwise_left_shift
    bitwise_right_shift = special_functions.bitwise_right_shift
    angle = special_functions.angle
    logit = special_functions.logit
    nan_to_num = special_functions.nan_to_num
    isreal = special_functions.isreal
    frexp = special_functions.frexp
    ldexp = special_functions.ldexp
    float_power = special_functions.float_power
    polygamma = special_functions._polygamma
    mvlgamma = special_functions.mvlgamma
    acosh_ = special_functions.acosh_
    asinh_ = special_functions.asinh_
    atanh_ = special_functions.atanh_
    arccosh_ = special_functions.acosh_
    arcsinh_ = special_functions.asinh_
    arctanh_ = special_functions.atanh_
    erfc_ = special_functions.erfc_
    erfinv_ = special_functions.erfinv_
    lgamma_ = special_functions.lgamma_
    digamma_ = special_functions.digamma_
    i0_ = special_functions.i0_
    sinc_ = special_functions.sinc_
    rad2deg_ = special_functions.rad2deg_
    deg2rad_ = special_functions.deg2rad_
    copysign_ = special_functions.copysign_
    gcd_ = special_functions.gcd_
    lcm_ = special_functions.lcm_
    heaviside_ = special_functions.heaviside_
    hypot_ = special_functions.hypot_
    nextafter_ = special_functions.nextafter_
    xlogy_ = special_functions.xlogy_
    igamma_ = special_functions.igamma_
    igammac_ = special_functions.igammac_
    bitwise_left_shift_ = special_functions.bitwise_left_shift_
    bitwise_right_shift_ = special_functions.bitwise_right_shift_
    logit_ = special_functions.logit_
    nan_to_num_ = special_functions.nan_to_num_
    ldexp_ = special_functions.ldexp_
    __lshift__ = special_functions.bitwise_left_shift
    __rshift__ = special_functions.bitwise_right_shift

    # ---------------------------------------------------------------------------------------------------- arithmetic

    negative_ = arithmetic.neg_
    absolute_ = arithmetic.abs_

    # ------------------------------------------------------------------------------------------------- pointwise ops

    __rdiv__ = pointwise_ops.rdiv
    __div__ = pointwise_ops.div
    fix = pointwise_ops.trunc
    fix_ = pointwise_ops.trunc_
    arctan2 = pointwise_ops.atan2
    arctan2_ = pointwise_ops.atan2_
    greater_ = pointwise_ops.gt_
    greater_equal_ = pointwise_ops.ge_
    less_ = pointwise_ops.lt_
    less_equal_ = pointwise_ops.le_
    not_equal_ = pointwise_ops.ne_
    arcsin_ = pointwise_ops.asin_
    arccos_ = pointwise_ops.acos_
    arctan_ = pointwise_ops.atan_

    # ------------------------------------------------------------------------------------------ order statistics

    median = order_statistics.median
    nanmedian = order_statistics.nanmedian
    kthvalue = order_statistics.kthvalue
    mode = order_statistics.mode
    quantile = order_statistics.quantile
    nanquantile = order_statistics.nanquantile
    nansum = nan_reductions.nansum
    nanmean = nan_reductions.nanmean
    msort = order_statistics.msort

    # ---------------------------------------------------------------------------------------------------------- sums

    logcumsumexp = sums.logcumsumexp
    dist = sums.dist
    diff = sums.diff
    cov = sums.cov
    corrcoef = sums.corrcoef
    renorm = sums.renorm
    addr = sums.addr

    # ----------------------------------------------------------------------------------------------------- searching

    unique = searching.unique
    unique_consecutive = searching.unique_consecutive
    histc = searching.histc
    bincount = searching.bincount
    histogram = searching.histogram
    put_ = searching.put_
    put = searching.put
    cross = searching.cross
    nonzero_static = searching.nonzero_static

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
    scatter_reduce = scatter_reduction.scatter_reduce
    scatter_reduce_ = scatter_reduction.scatter_reduce_
    index_reduce = scatter_reduction.index_reduce
    index_reduce_ = scatter_reduction.index_reduce_
    is_same_size = predicates.is_same_size
    is_nonzero = predicates.is_nonzero

    # --------------------------------------------------------------------------------------------------- activations

    prelu = activations.prelu
    hardshrink = activations.hardshrink

    lerp_ = choosing.lerp_
    addcmul_ = choosing.addcmul_
    addcdiv_ = choosing.addcdiv_
    where = choosing.where_method
    kron = combining.kron
    diagflat = combining.diagflat

    # ------------------------------------------------------------------------------------------------------ matrices

    svd = matrices.old_svd
    geqrf = matrices.geqrf
    orgqr = matrices.orgqr
    inverse = matrices.inv
    cholesky = matrices.old_cholesky
    qr = matrices.old_qr
    det = matrices.det
    slogdet = matrices.slogdet
    logdet = matrices.logdet
    triangular_solve = matrices.triangular_solve
    cholesky_solve = matrices.cholesky_solve
    cholesky_inverse = matrices.cholesky_inverse
    lu_solve = matrices.old_lu_solve
    matrix_power = matrices.matrix_power
    matrix_exp = matrices.matrix_exp
    pinverse = matrices.pinverse

    # ----------------------------------------------------------------------------------------------------- distances

    addr_ = distances.addr_
    float_power_ = distances.float_power_
    addbmm = distances.addbmm
    addbmm_ = distances.addbmm_
    renorm_ = distances.renorm_
    conj_physical_ = distances.conj_physical_


register(Tensor)
