"""What a quantised tensor can do: which views keep its quantizer, what becomes of the channels, and what is refused."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from . import quantized_numbers
from .calls import refusing, with_numpy_names
from .contiguity import is_contiguous_in, is_non_overlapping_and_dense
from .core import as_dims
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .formats import channels_last, contiguous_format
from .layout import Shape, Strides
from .output_layout import broadcast_shapes, broadcast_strides, sorted_permutation
from .quantized_moves import METHODS, blank, gathered, names_elements, scattered, untensored
from .quantized_tensor import QuantizedTensor, quantized
from .quantizers import (
    UNKNOWN,
    PerChannel,
    PerTensor,
    Quantizer,
    Unknown,
)
from .tensors import Tensor

_VIEWS = (
    "view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "ravel", "detach", "squeeze_", "unsqueeze_",
    "transpose_", "swapaxes_", "swapdims_", "t_", "as_strided_", "share_memory_",
    "cpu", "conj", "resolve_conj", "resolve_neg",
)  # fmt: skip
_STRIDED = (
    "permute", "transpose", "swapaxes", "swapdims", "t", "movedim", "moveaxis", "expand", "expand_as", "broadcast_to",
    "unfold", "diagonal", "as_strided", "adjoint",
)  # fmt: skip
_PROPERTIES = ("T", "mT", "H", "mH", "data", "real")
_KEPT = frozenset(
    (
        "shape", "size", "stride", "dim", "ndim", "ndimension", "numel", "nelement", "itemsize", "element_size",
        "nbytes", "data_ptr", "untyped_storage", "storage", "storage_type", "storage_offset", "is_contiguous",
        "dim_order", "device", "layout", "is_cpu", "is_cuda", "is_meta", "is_sparse", "requires_grad", "is_leaf",
        "is_conj", "is_neg",
        "is_complex", "is_floating_point", "get_device", "is_inference", "is_shared", "is_pinned", "pin_memory", "cuda",
        "requires_grad_", "numpy", "retain_grad", "is_quantized", "detach_", "grad", "dtype", "output_nr",
        "grad_fn", "register_hook", "backward", "as_subclass", "is_same_size", "is_nonzero", "new_empty", "new_zeros",
        "new_ones", "new_full", "new_tensor", "new_empty_strided", "__float__", "conj_physical_", "dense_dim",
        "sparse_dim",
    )
)  # fmt: skip


def _stays(self: QuantizedTensor, name: str, dims: Any) -> bool:
    """Whether a transposition exchanges a dimension with itself, and no stride is set."""
    if name == "t":
        return self.ndim < 2
    if not self.ndim and name in ("movedim", "moveaxis", "adjoint", "mT", "H", "mH"):
        return True
    return name in ("transpose", "swapaxes", "swapdims") and len({d % (self.ndim or 1) for d in dims}) == 1


def _kept(name: str, strided: bool) -> Callable[..., Any]:
    function = getattr(Tensor, name)

    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> Any:
        dims = (*args, *kwargs.values())
        if strided and not isinstance(self._quantizer, PerTensor) and not _stays(self, name, dims):
            function(self, *args, **kwargs)  # what is wrong with the arguments comes first
            raise LayoutError("view", f"{name}: strides can only be set with one scale for the tensor (facts 10.1.6)")
        result = function(self, *args, **kwargs)
        if isinstance(result, Tensor) and result._storage is not self._storage:
            self.clone()  # where no view can be had it is a copy that is viewed, if there can be a copy
        return _wrapped(self, result)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def _wrapped(source: QuantizedTensor, result: Any, quantizer: Quantizer | None = None) -> Any:
    if isinstance(result, (tuple, list)):
        return type(result)(_wrapped(source, item) for item in result)
    if isinstance(result, Tensor) and result.dtype is source.dtype and not isinstance(result, QuantizedTensor):
        return quantized(result, source._quantizer if quantizer is None else quantizer)
    return result


def _of_part(q: PerChannel | Unknown) -> Quantizer:
    """The quantizer of a part of the tensor, by channel where more than one remains.

    Raises: view (RuntimeError) for channels with floats as zero points; size (RuntimeError) where none remains;
    overflow (RuntimeError) for an only zero point that is no whole number of 64 bits.
    """
    if q.scales.numel() == 1 and q.zero_points.numel() == 1:
        single = q.single()  # refused or not, known or not
        return single if q.known else UNKNOWN
    if q.scales.numel() < 2:
        raise LayoutError("size", "a part of no channel, or of one with more or fewer zero points (facts 10.1.6)")
    if not q.exact:
        raise LayoutError("view", "parts cannot have floating-point zero points (facts 10.1.11)")
    return q.checked()


def _selected(q: Quantizer, dim: int, index: int) -> Quantizer:
    """The quantizer of one index of a dimension: that channel's own where the dimension is the channels'.

    Of another dimension PyTorch moves the channels' down by one, also where it comes first: such a part cannot be read.
    """
    if isinstance(q, PerTensor):
        return q
    return _of_part((q.part(index) if dim == q.axis else q)._replace(axis=q.axis - 1))


def _sliced(q: Quantizer, dim: int, part: slice) -> Quantizer:
    """The quantizer of some indices of a dimension; of a single channel, that channel's."""
    if isinstance(q, PerTensor):
        return q
    return _of_part(q.part(part) if dim == q.axis else q)


def _widened(q: Quantizer, dim: int) -> Quantizer:
    # PyTorch forgets the channels that have floats as zero points.
    if not isinstance(q, PerChannel) or not q.exact:
        return q
    return q.checked()._replace(axis=q.axis + (dim <= q.axis))


def _select(self: QuantizedTensor, dim: int, index: int) -> QuantizedTensor:
    """`select`, with the channel's own scale where that dimension is selected from."""
    part = Tensor.select(self, dim, index)
    # The index counts from the end of the tensor, which may have fewer places than there are channels.
    return quantized(part, _selected(self._quantizer, dim % self.ndim, index % self.shape[dim]))


def _unbind(self: QuantizedTensor, dim: int = 0) -> tuple[QuantizedTensor, ...]:
    """`unbind`, with each channel's own scale where that dimension is taken apart."""
    q, where = self._quantizer, dim % (self.ndim or 1)
    return tuple(quantized(part, _selected(q, where, i)) for i, part in enumerate(Tensor.unbind(self, dim)))


def _unsqueeze(self: QuantizedTensor, dim: int) -> QuantizedTensor:
    """`unsqueeze`; the channels' dimension may move up."""
    wide = Tensor.unsqueeze(self, dim)
    return quantized(wide, _widened(self._quantizer, dim % wide.ndim))


def _squeeze(self: QuantizedTensor, *args: Any, **kwargs: Any) -> QuantizedTensor:
    """`squeeze`; the channels' dimension may move down, and cannot be dropped.

    Raises: dimension (RuntimeError).
    """
    narrow, q = Tensor.squeeze(self, *args, **kwargs), self._quantizer
    if isinstance(q, PerTensor) or not q.exact:
        return quantized(narrow, q)
    given = (*args, *kwargs.values())
    chosen = as_dims(*given) if given else range(self.ndim)
    gone = {d % self.ndim for d in chosen if self._layout.shape[d] == 1}
    if q.axis in gone:
        raise LayoutError("dimension", "squeeze: the dimension of the channels cannot be dropped (facts 10.1.6)")
    return quantized(narrow, q.checked()._replace(axis=q.axis - sum(d < q.axis for d in gone)))


def _narrow(self: QuantizedTensor, dim: int, start: Any, length: int) -> QuantizedTensor:
    """`narrow`, with the channels that remain."""
    part = Tensor.narrow(self, dim, start, length)
    d = dim % self.ndim
    first = start % (self._layout.shape[d] or 1) if start < 0 else start
    return quantized(part, _sliced(self._quantizer, d, slice(first, first + length)))


def _parted(name: str, usual: Callable[[int], int]) -> Callable[..., Any]:
    """A method that cuts a dimension into consecutive parts; `usual` tells which one for a number of dimensions."""
    function = getattr(Tensor, name)

    def method(self: QuantizedTensor, *args: Any, **kwargs: Any) -> tuple[QuantizedTensor, ...]:
        named = kwargs.get("dim", kwargs.get("axis"))
        given = named if named is not None else args[1] if len(args) > 1 else usual(self.ndim)
        parts, start = [], 0
        for part in function(self, *args, **kwargs):
            length = part._layout.shape[given]
            parts.append(quantized(part, _sliced(self._quantizer, given % self.ndim, slice(start, start + length))))
            start += length
        return tuple(parts)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def _setitem(self: QuantizedTensor, index: Any, value: Any) -> None:
    """Write to what an index names: codes taken over, or numbers quantised.

    Raises: as `copy_` and `fill_`, which the parts of memory are written by; as `quantized_moves.scattered`.
    """
    if names_elements(self, index):
        scattered(self, index, value)
        return
    part = _getitem(self, index)
    shape = value._layout.shape if isinstance(value, Tensor) else ()
    if not isinstance(value, Tensor) or (not shape and part._layout.shape):
        part.fill_(value)
        return
    if shape != part._layout.shape:
        extra = next((d for d, length in enumerate(shape) if length != 1), len(shape))
        value = value.view(shape[extra:]).expand(part._layout.shape)
    part.copy_(value)


def _getitem(self: QuantizedTensor, index: Any) -> QuantizedTensor:
    """An index, where whole numbers select, slices cut and None widens as the methods of those names do."""
    q = self._quantizer
    if q is UNKNOWN:
        raise LayoutError("dtype", "an index of codes without a quantizer (facts 10.1.20)")
    if names_elements(self, index):
        return gathered(self, index)
    index = untensored(index)
    items = index if isinstance(index, tuple) else (index,)
    try:
        found = Tensor.__getitem__(self, index)
    except (LayoutError, IndexError, ValueError) as error:
        # One item is done after the other, once they are counted: what refuses a channel may come first.
        is_counted = getattr(error, "kind", "") != "dimension"
        if isinstance(q, PerChannel) and is_counted and Ellipsis not in items:
            for n in range(1, len(items)):
                _getitem(self, items[:n])
        raise
    if isinstance(q, PerChannel):
        named = sum(item is not None and item is not Ellipsis for item in items)
        # `dim` counts the dimensions that there are by now, `at` the tensor's own.
        dim = at = 0
        for item in items:
            if type(item) is int:
                q = _selected(q, dim, item % self.shape[at])
                at += 1
                continue
            if item is Ellipsis:
                dim += self.ndim - named
                at += self.ndim - named
                continue
            if item is None:
                q = _widened(q, dim)
            elif isinstance(item, slice):
                # Among other indices, a slice of the whole dimension is none, where it is written from 0 on.
                length = self.shape[at]
                whole = not item.start and item.step in (None, 1) and (item.stop is None or item.stop >= length)
                q = q if whole and isinstance(index, tuple) else _sliced(q, dim, slice(*item.indices(length)))
            at += item is not None
            dim += 1
    result: QuantizedTensor = _wrapped(self, found, q)
    return result


def _itself(self: QuantizedTensor) -> QuantizedTensor:
    """The tensor itself."""
    return self


def _unconjugated(self: QuantizedTensor, *, out: Any = None) -> QuantizedTensor:
    """The tensor itself. Raises: dtype (NotImplementedError) for `out`. Source: torch 2.13."""
    if out is not None:
        raise UnsupportedError("dtype", "conj_physical of a quantised tensor has no out (facts 10.1.8)")
    return self


_OWN: Final[dict[str, Callable[..., Any]]] = {
    "select": _select,
    "unbind": _unbind,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "narrow": _narrow,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "positive": _itself,
    "__pos__": _itself,
    "conj_physical": _unconjugated,
    "__invert__": refusing("__invert__", LayoutTypeError, "dtype", "of a quantised tensor (facts 10.1.8)"),
}
_PARTING: Final[dict[str, Callable[[int], int]]] = {
    "split": lambda ndim: 0,
    "split_with_sizes": lambda ndim: 0,
    "chunk": lambda ndim: 0,
    "tensor_split": lambda ndim: 0,
    "vsplit": lambda ndim: 0,
    "hsplit": lambda ndim: min(ndim - 1, 1),
    "dsplit": lambda ndim: 2,
    "unsafe_split": lambda ndim: 0,
    "unsafe_split_with_sizes": lambda ndim: 0,
    "unsafe_chunk": lambda ndim: 0,
}
_UNCOMPARED = ("isclose", "allclose", "eq_", "ne_", "lt_", "le_", "gt_", "ge_")
_UNREAD = ("new", "apply_", "map_", "map2_")
_CASTS = ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble")


# Of these, a number is made a tensor, and so refused as a tensor of another dtype is.
_COMBINING = (
    "add", "sub", "mul", "div", "remainder", "fmod", "maximum", "minimum", "atan2", "subtract", "multiply", "divide",
    "true_divide", "add_", "sub_", "mul_", "div_", "subtract_", "multiply_", "divide_", "true_divide_", "remainder_",
    "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__mul__", "__rmul__", "__imul__",
    "__truediv__", "__itruediv__", "__mod__", "__rmod__", "__imod__",
)  # fmt: skip
_COMBINING_TENSORS = ("__rtruediv__", "__pow__", "__rpow__")


def _has_strides_of_its_own(shape: Shape, operands: Sequence[tuple[Shape, Strides]]) -> bool:
    """Whether an elementwise output is made under explicit strides, not in a memory format, as codes can be.

    Source: TensorIterator, `fast_set_up` and `allocate_or_resize_outputs`, torch 2.13.
    """
    if all(own == shape for own, _ in operands):
        if any(all(is_contiguous_in(*layout, f) for layout in operands) for f in (contiguous_format, channels_last)):
            return False
        first = operands[0][1]
        if all(strides == first for _, strides in operands) and is_non_overlapping_and_dense(shape, first):
            return True
    perm = sorted_permutation(shape, [broadcast_strides(own, strides, shape) for own, strides in operands])
    return perm != list(reversed(range(len(shape))))


def _refused_with(name: str, *, numbers: bool) -> Callable[..., Any]:
    """An operator over codes and something else: without a kernel, and other dtypes are not even promoted."""

    def method(self: QuantizedTensor, other: Any, *args: Any, **kwargs: Any) -> Any:
        operands = [self, *[x for x in (other,) if isinstance(x, Tensor)]]
        shape = broadcast_shapes(*[x._layout.shape for x in operands])
        is_alike = isinstance(other, QuantizedTensor) and other.dtype is self.dtype
        if not is_alike and (numbers or isinstance(other, Tensor)):
            raise LayoutError("dtype", f"{name}: {self.dtype} is promoted with no other dtype (facts 10.1.8)")
        if _has_strides_of_its_own(shape, [x._layout[:2] for x in operands]):
            raise LayoutError("format", f"{name}: there are no codes in an order of their own (facts 10.1.8)")
        if type(kwargs.get("alpha", 1)) is not int:
            raise LayoutError("dtype", f"{name}: alpha of codes must be an int, got {kwargs['alpha']!r}")
        raise UnsupportedError("dtype", f"{name} of a quantised tensor (facts 10.1.8)")

    method.__name__ = name
    return method


_MULTIPLYING = (
    "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv", "inner", "outer", "ger",
)  # fmt: skip


def _unmultiplied(name: str) -> Callable[..., Any]:
    """A product of matrices: without a kernel, once the shapes fit. Raises: as that of numbers; dtype."""
    function = getattr(Tensor, name)

    def method(*args: Any, **kwargs: Any) -> Any:
        found = function(*map(_blanked, args), **{key: _blanked(value) for key, value in kwargs.items()})
        if found is NotImplemented:
            return found
        raise UnsupportedError("dtype", f"{name} of a quantised tensor (facts 10.1.8)")

    method.__name__ = name
    return method


def _blanked(value: Any) -> Any:
    return blank(value) if isinstance(value, Tensor) else value


def unquantized(t: Tensor) -> QuantizedTensor:
    """Fresh codes that nobody has given a quantizer."""
    return quantized(t, UNKNOWN)


def is_arithmetic(name: str) -> bool:
    """Whether a method of that name is what an operator of Python's stands for."""
    plain = name[2:].removeprefix("r").removeprefix("i")
    return name.startswith("__") and plain[:3] in _ARITHMETIC and name != "__float__"


def bind() -> None:
    """Give quantised tensors what they have of their own, and refuse the rest of what plain tensors do."""
    own = vars(QuantizedTensor)
    for name in _VIEWS:
        setattr(QuantizedTensor, name, _kept(name, strided=False))
    for name in _STRIDED:
        setattr(QuantizedTensor, name, _kept(name, strided=True))
    for name in _PROPERTIES:
        inner: Any = getattr(Tensor, name)
        strided = name in ("T", "mT", "H", "mH")

        def get(self: QuantizedTensor, name: str = name, fget: Any = inner.fget, strided: bool = strided) -> Any:
            found = fget(self)  # what is wrong with the shape comes first
            if strided and not isinstance(self._quantizer, PerTensor) and not _stays(self, name, ()):
                raise LayoutError("view", "strides can only be set with one scale for the tensor (facts 10.1.6)")
            return _wrapped(self, found)

        setattr(QuantizedTensor, name, property(get))
    named = [name for cls in Tensor.__mro__[:-1] for name in vars(cls)]
    for name in named:
        known = name in own or name in _KEPT or (name.startswith("_") and not is_arithmetic(name))
        if not known and callable(getattr(Tensor, name)):
            setattr(
                QuantizedTensor, name, refusing(name, UnsupportedError, "dtype", "of a quantised tensor (facts 10.1.8)")
            )
    for name in (*_COMBINING, *_COMBINING_TENSORS):
        if hasattr(Tensor, name):
            setattr(QuantizedTensor, name, with_numpy_names(_refused_with(name, numbers=name in _COMBINING)))
    for name in _MULTIPLYING:
        setattr(QuantizedTensor, name, _unmultiplied(name))
    for name in _CASTS:
        setattr(
            QuantizedTensor,
            name,
            refusing(name, LayoutError, "dtype", "of a quantised tensor: dequantize first (facts 10.1.8)"),
        )
    for name in _UNCOMPARED:
        setattr(QuantizedTensor, name, refusing(name, LayoutError, "dtype", "of a quantised tensor (facts 10.1.18)"))
    for name in _UNREAD:
        setattr(QuantizedTensor, name, refusing(name, LayoutError, "dtype", "of a quantised tensor (facts 10.1.8)"))
    for name, function in (METHODS | quantized_numbers.METHODS | _OWN).items():
        setattr(QuantizedTensor, name, with_numpy_names(function))
    for name, usual in _PARTING.items():
        setattr(QuantizedTensor, name, _parted(name, usual))
    for name in ("type_as", "copy_", "equal"):
        setattr(QuantizedTensor, name, with_numpy_names(getattr(QuantizedTensor, name)))


_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "tru", "flo", "mod", "pow", "neg", "abs", "and", "or_", "xor", "nve", "mat", "ltd", "inv")
)
