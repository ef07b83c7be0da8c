"""Changes of a tensor's own metadata: resize_, set_, in-place views, flags, data."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import views
from .backing import MISSING
from .constructors import accepted_strides
from .contiguity import format_strides, suggested_format
from .copies import clone, write_copy
from .core import (
    TensorBase,
    as_class,
    as_int,
    as_int_list,
    as_ints,
    bad_arguments,
    build,
    check_flag,
    check_inplace,
    detached,
    from_array,
    given_once,
    is_leaf,
    requires_grad,
    view_of,
    written,
)
from .devices import is_count
from .dtypes import QUANTIZED
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .formats import memory_format, preserve_format
from .layout import (
    INT64_MAX,
    Layout,
    Shape,
    Strides,
    check_allocation,
    check_bounds,
    check_numel,
    check_required,
    contiguous_strides,
)
from .out import grow
from .parsing import parsed
from .slicing_ops import strided_layout
from .storage import UntypedStorage
from .versions import inference
from .view_ops import same_dim, squeeze_layout, t_layout

if TYPE_CHECKING:
    from .tensors import Tensor


def resize_(self: "Tensor", *sizes: Any, memory_format: memory_format | None = None, **kwargs: Any) -> "Tensor":
    """Another shape over the same storage, which grows where it must and never shrinks.

    The same shape leaves the strides as they are unless a format is given; another one is contiguous. The offset
    stays. Where the storage cannot grow the tensor is left with the new shape over the old bytes, as PyTorch leaves it.

    Raises: grad, overflow, format, resize. Source: facts 6.1, torch 2.13.

    >>> x = torch.zeros(2, 3)[:, 1:]
    >>> x.resize_(2, 4).stride(), x.storage_offset(), x.untyped_storage().nbytes()
    ((4, 1), 1, 36)
    """
    sizes = given_once("resize_", sizes, kwargs, "size")
    if not sizes:
        raise bad_arguments("resize_", "no size given")
    shape = as_ints(sizes)
    if requires_grad(self):
        raise LayoutError("grad", "cannot resize a tensor that requires grad (facts 5.4)")
    resize_to(self, shape, memory_format)
    return self


def resize_to(self: "Tensor", shape: Shape, format: memory_format | None) -> None:
    """`resize_` once its arguments are known."""
    changed = shape != self._layout.shape
    if format is not None and 0 in shape and min(shape) < 0:
        # Beside a 0 PyTorch lets a negative length pass, and so comes to the format first.
        if format is preserve_format:
            raise LayoutError("format", "resize_: preserve_format is not supported (facts 6.1)")
        format_strides(shape, format)
    if changed:
        check_numel(shape)
        check_allocation(shape, self.dtype.itemsize)
        self._layout = Layout(shape, contiguous_strides(shape), self._layout.offset)
        grow(self)
    if format is not None:
        if format is preserve_format:
            raise LayoutError("format", "resize_: preserve_format is not supported (facts 6.1)")
        self._layout = Layout(shape, format_strides(shape, format), self._layout.offset)
        _note_reach(self)
    if changed:
        self._versions[0] += 1


def resize_as_(input: "Tensor", the_template: "Tensor", *, memory_format: memory_format | None = None) -> "Tensor":
    """`resize_` to another tensor's shape; `preserve_format` takes over the format that it suggests.

    Raises: grad, overflow, format, resize. Source: facts 6.2 and 9.13, torch 2.13.

    >>> torch.zeros(6).resize_as_(torch.zeros(2, 3)).stride()
    (3, 1)
    """
    if requires_grad(input):
        raise LayoutError("grad", "cannot resize a tensor that requires grad (facts 5.4)")
    template = the_template._layout
    if input._bits:
        # PyTorch resizes a copy without the bits, and copies it back: what it grew by is not specified.
        part = resize_as_(clone(input), the_template, memory_format=memory_format)
        if input._layout.shape != template.shape:
            resize_to(input, template.shape, None)
        write_copy(input, part)
        return input
    before = input._versions[0]
    resize_to(input, template.shape, None)
    if memory_format is not None:
        counted, input._versions[0] = input._versions[0], before  # what is refused below is no write
        if memory_format is preserve_format:
            memory_format = suggested_format(template.shape, template.strides)
        input._layout = Layout(template.shape, format_strides(template.shape, memory_format), input._layout.offset)
        input._versions[0] = counted
        _note_reach(input)
    return input


def _note_reach(self: "Tensor") -> None:
    # New strides are taken without a look at the storage, which may end before them (facts 6.1.1).
    if self._layout.span * self.dtype.itemsize > len(self._storage._bytes):
        self._storage._short = True


def shape_as_tensor(input: "Tensor") -> "Tensor":
    """The lengths as a tensor of int64. Source: `_shape_as_tensor`, torch 2.13."""
    shape = input._layout.shape
    return from_array(np.array(shape, np.int64), dt.int64)


def set_(
    self: "Tensor", source: Any = MISSING, storage_offset: Any = MISSING, size: Any = MISSING, stride: Any = None
) -> "Tensor":
    """Another storage and layout for the same tensor object, in any of five forms.

    `set_()` empties; `set_(tensor)` adopts storage and layout; `set_(storage)` is flat; with offset and size the
    layout is explicit, contiguous unless strides are given. The storage grows to what an explicit layout requires,
    unless the size is the current one: then the current strides stay where none are given, and the bounds are
    checked instead.

    Raises: dtype, size, index, dimension, overflow, resize, bounds, grad. Source: facts 6.3 and 6.4, torch 2.13.

    >>> x, y = torch.zeros(3), torch.arange(6.0)
    >>> x.set_(y.untyped_storage(), 1, (2, 2), (2, 1)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if storage_offset is MISSING and size is MISSING and stride is None:
        if source is MISSING:
            check_inplace(self)
            self._storage = UntypedStorage._nowhere(0) if self._storage._is_meta else UntypedStorage._allocate(0)
            self._layout = Layout((0,), self._layout.strides if self._layout.shape == (0,) else (1,), 0)
        elif isinstance(source, TensorBase):
            if source.is_sparse:  # type: ignore[attr-defined]
                raise UnsupportedError("format", "set_ to a sparse tensor, which has no storage (facts 7.7)")
            check_inplace(self, source)
            _check_same_dtype(self, source)
            _check_same_device(self, source._storage)
            if source._storage._short and source is not self:
                # The other tensor reaches past its storage, which grows as for an explicit layout.
                layout = source._layout
                set_explicit(self, source._storage, layout.offset, layout.shape, layout.strides)
            self._storage = source._storage
            self._layout = source._layout
            written(self, source)
            return self
        else:
            storage = _untyped(self, source)
            check_inplace(self)
            _check_same_device(self, storage)
            length = len(storage._bytes) // self.dtype.itemsize
            if self._bits:
                # PyTorch sets a copy without the bits, and copies that back: the tensor keeps its own storage.
                return _copied_back(self, build(storage, Layout((length,), (1,), 0), self.dtype))
            self._storage = storage
            self._layout = Layout((length,), self._layout.strides if self._layout.shape == (length,) else (1,), 0)
            if self._layout.strides != (1,):
                # Strides that were kept may reach past the end; PyTorch does not look.
                storage._short = True
        self._versions[0] += 1
        return self
    if any(x is MISSING or x is None for x in (source, storage_offset, size)):
        raise bad_arguments("set_", "an explicit layout needs a storage, an offset and a size")
    if not is_count(storage_offset):
        as_int(storage_offset, "storage_offset")
    shape = as_int_list(size, "size") if isinstance(size, (tuple, list)) else _not_sizes()
    strides = None if stride is None else as_int_list(stride, "stride")
    if not isinstance(source, TensorBase):
        _untyped(self, source)
    offset = as_int(storage_offset, "storage_offset")
    if strides == () and shape:
        strides = None
    if isinstance(source, TensorBase):
        if not source.is_contiguous():  # type: ignore[attr-defined]
            raise LayoutError("view", "set_: a tensor that lends its storage must be contiguous (facts 6.3)")
        # The offset counts from the first element of the tensor that lends its storage; dtypes may differ.
        storage = source._storage
        offset += source._layout.offset
    else:
        storage = _untyped(self, source)
    check_inplace(self)
    _check_explicit(offset, shape, strides)
    set_explicit(self, storage, offset, shape, strides)
    self._versions[0] += 1
    return self


def _copied_back(self: "Tensor", found: "Tensor") -> "Tensor":
    """Take over the shape and the values of a tensor, row-major in the memory that this one has."""
    version, shape = self._versions[0], found._layout.shape
    if self._layout.shape != shape:
        resize_to(self, shape, None)
        self._versions[0] = version
    write_copy(self, found)
    self._versions[0] = version + 1
    return self


def _not_sizes() -> Shape:
    raise bad_arguments("set_", "size must be a tuple of ints")


def _check_explicit(offset: int, shape: Shape, strides: Strides | None) -> None:
    if strides is not None and len(strides) != len(shape):
        raise LayoutError("dimension", f"set_: size {shape} and stride {strides} differ in length (facts 6.3)")
    if offset < 0:
        raise LayoutError("index", f"set_: offset {offset} is negative (facts 6.3)")


def set_explicit(self: "Tensor", storage: UntypedStorage, offset: int, shape: Shape, strides: Strides | None) -> None:
    """`set_` with a layout once its arguments are known; no version is counted."""
    itemsize = self.dtype.itemsize
    old_shape, old_strides, _ = self._layout
    if self.dtype in QUANTIZED and not self._storage._is_meta:
        # For codes PyTorch takes the layout as it is: no strides are found, and no storage grows.
        if strides is None and shape:
            raise LayoutError("dimension", "set_ of codes needs strides")
        layout = Layout(shape, accepted_strides(shape, strides or ()), offset)
        _check_same_device(self, storage)
        check_required(shape, strides or (), offset, itemsize)
        check_bounds(layout, itemsize, len(storage._bytes) * self.dtype.pack)
        self._storage = storage
        self._layout = layout
        return
    if shape == old_shape and (strides is None or strides == old_strides):
        needed = Layout(shape, contiguous_strides(shape) if strides is None else strides, offset)
        # Nothing is kept on meta.
        layout = needed if self._storage._is_meta else Layout(shape, old_strides, offset)
        if not self._storage._is_meta:
            check_bounds(needed, itemsize, len(storage._bytes))
        _check_same_device(self, storage)
        if needed.required_bytes(itemsize) > len(storage._bytes):
            storage.resize_(needed.required_bytes(itemsize))
        self._storage = storage
        self._layout = layout
        if not storage._is_meta:
            _note_reach(self)
        return
    _check_same_device(self, storage)
    # From here on PyTorch has already changed the tensor when it finds the layout impossible.
    self._storage = storage
    if strides is None:
        self._layout = Layout(
            shape, old_strides if len(old_strides) == len(shape) else contiguous_strides(shape), offset
        )
        check_numel(shape)
        check_allocation(shape, itemsize)
        self._layout = Layout(shape, contiguous_strides(shape), offset)
        needed_bytes = self._layout.span * itemsize
        if needed_bytes > INT64_MAX:
            raise LayoutError("overflow", f"set_: {self._layout} does not fit 64 bits")
    else:
        self._layout = Layout(shape, accepted_strides(shape, strides), offset)
        check_numel(shape)
        needed_bytes = check_required(shape, strides, offset, itemsize)
    if needed_bytes > len(storage._bytes):
        storage.resize_(needed_bytes)


def _check_same_dtype(self: "Tensor", source: Any) -> None:
    if source.dtype is not self.dtype:
        raise LayoutError("dtype", f"set_: a tensor of {source.dtype} for one of {self.dtype} (facts 6.3)")


def _check_same_device(self: "Tensor", storage: UntypedStorage) -> None:
    if storage._is_meta is not self._storage._is_meta:
        raise LayoutError(
            "device", f"set_: a storage on {storage.device} for a tensor on {self._storage.device} (facts 6.3)"
        )


def _untyped(self: "Tensor", source: Any) -> UntypedStorage:
    if isinstance(source, UntypedStorage):
        return source
    inner = getattr(source, "_untyped_storage", None)
    if isinstance(inner, UntypedStorage):
        if source.dtype is not self.dtype:
            raise LayoutError("dtype", f"set_: a storage of {source.dtype} for a tensor of {self.dtype} (facts 6.3)")
        return inner
    raise bad_arguments("set_", f"{type(source).__name__} is neither a storage nor a tensor")


def _relaid(self: "Tensor", layout: Layout, *, free: bool = False) -> "Tensor":
    if self._storage._short and not free and not self._storage._is_meta:
        check_bounds(layout, self.dtype.itemsize, len(self._storage._bytes))
    self._layout = layout
    self._versions[0] += 1
    return self


def as_strided_(input: "Tensor", size: Any, stride: Any, storage_offset: Any = None) -> "Tensor":
    """`as_strided` of this tensor object. Raises: as `as_strided`, grad. Source: facts 6.5, torch 2.13.

    >>> torch.arange(4).as_strided_((2, 3), (1, 1)).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    check_inplace(input)
    return _relaid(input, strided_layout(input, size, stride, storage_offset))


@parsed(given_only="dim")
def squeeze_(self: "Tensor", dim: Any = None) -> "Tensor":
    """`squeeze` of this tensor object. Raises: dimension, grad. Source: facts 6.5, torch 2.13.

    >>> torch.zeros(1, 3).squeeze_().shape
    torch.Size([3])
    """
    check_inplace(self)
    if self._bits and dim is not None:
        # PyTorch squeezes a copy without the bits, and copies that back.
        return _copied_back(self, squeeze_(clone(self), dim))
    return _relaid(self, squeeze_layout(self, dim))


def unsqueeze_(self: "Tensor", dim: int) -> "Tensor":
    """`unsqueeze` of this tensor object. Raises: dimension, grad. Source: facts 6.5, torch 2.13.

    >>> torch.zeros(3).unsqueeze_(0).stride()
    (3, 1)
    """
    check_inplace(self)
    return _relaid(self, views.unsqueeze(self._layout, as_int(dim, "dim")))


def transpose_(self: "Tensor", dim0: int, dim1: int) -> "Tensor":
    """`transpose` of this tensor object. Raises: dimension, grad. Source: facts 6.5, torch 2.13.

    >>> x = torch.zeros(2, 3)
    >>> x.transpose_(0, 1) is x, x.stride(), x._version
    (True, (1, 3), 1)
    """
    check_inplace(self)
    dim0, dim1 = as_int(dim0, "dim0"), as_int(dim1, "dim1")
    return _relaid(self, views.transpose(self._layout, dim0, dim1), free=same_dim(self, dim0, dim1))


def swapaxes_(self: "Tensor", axis0: int, axis1: int) -> "Tensor":
    """`transpose_` under NumPy's name."""
    return transpose_(self, axis0, axis1)


def swapdims_(self: "Tensor", dim0: int, dim1: int) -> "Tensor":
    """`transpose_` under another name."""
    return transpose_(self, dim0, dim1)


def t_(self: "Tensor") -> "Tensor":
    """`t` of this tensor object. Raises: dimension above rank 2, grad. Source: facts 6.5, torch 2.13.

    >>> torch.zeros(2, 3).t_().stride()
    (1, 3)
    """
    check_inplace(self)
    return _relaid(self, t_layout(self, "t_"), free=self.ndim < 2)


def detach_(input: "Tensor") -> "Tensor":
    """Forget the history of this tensor object; in inference mode, and of an inference tensor, nothing.

    Raises: grad for a view. Source: facts 5.4 and 5.5.5, torch 2.13.

    >>> torch.zeros(2, requires_grad=True).detach_().requires_grad
    False
    """
    if inference[0]:
        return input
    if input._base is not None:
        raise LayoutError("grad", "can't detach views in-place (facts 5.4)")
    if not input._inference:
        input._has_fn = False
        input._leaf_grad = False
    return input


def requires_grad_(self: "Tensor", requires_grad: bool = True) -> "Tensor":
    """Set the flag of a leaf. Raises: grad. Source: facts 5.4, torch 2.13.

    >>> torch.zeros(2).requires_grad_().is_leaf
    True
    """
    check_flag("requires_grad", requires_grad)
    set_requires_grad(self, requires_grad)
    return self


def set_requires_grad(self: "Tensor", value: bool) -> None:
    """Set the flag of a leaf.

    Raises: grad (RuntimeError) for a dtype without gradients, for a tensor with history, or for an inference tensor
    outside inference mode.
    Source: facts 5.4 and 5.5.3, torch 2.13.
    """
    if value and self._inference and not inference[0]:
        raise LayoutError("grad", "an inference tensor is to require grad outside inference mode (facts 5.5.3)")
    if not is_leaf(self):
        if not value:
            raise LayoutError("grad", "only leaves can change requires_grad (facts 5.4)")
        return
    if value and not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise LayoutError("grad", f"only floating point and complex tensors can require gradients, not {self.dtype}")
    self._leaf_grad = bool(value)


def set_grad(self: "Tensor", value: Any) -> None:
    """Take another tensor, of the same dtype and shape and where this one lies, for the gradient; None for none.

    Raises: argument (TypeError); grad, dtype, device, size (RuntimeError). Source: torch 2.13.
    """
    if value is not None:
        if not isinstance(value, TensorBase):
            raise LayoutTypeError("argument", f"grad must be a tensor or None, got {type(value).__name__}")
        if value is self:
            raise LayoutError("grad", "a tensor is not its own gradient")
        if value.dtype is not self.dtype:
            raise LayoutError("dtype", f"a gradient of {value.dtype} for a tensor of {self.dtype}")
        if value._storage._is_meta is not self._storage._is_meta:
            raise LayoutError("device", "a gradient lies where its tensor lies")
        if value._layout.shape != self._layout.shape:
            raise LayoutError("size", f"a gradient of shape {value._layout.shape} for {self._layout.shape}")
    self._grad = value


def get_data(self: "Tensor") -> "Tensor":
    """The same memory as a tensor of its own: no history, its own version counter. Source: facts 6.7, torch 2.13."""
    return detached(self, share_version=False)


def set_data(self: "Tensor", new: Any) -> None:
    """Adopt another tensor's storage, layout and dtype; the version stays.

    Raises: argument (TypeError), device (RuntimeError: one of both on meta, or sparse), grad.
    Source: facts 5.4 and 7.7, torch 2.13.
    """
    if not isinstance(new, TensorBase):
        raise LayoutTypeError("argument", f"data must be a tensor, got {type(new).__name__}")
    both: Any = self, new
    if len({t._storage._is_meta for t in both}) + len({t.is_sparse for t in both}) > 2:
        raise LayoutError("device", "data of a tensor must lie where it lies, and as it does (facts 6.7)")
    if requires_grad(self) and not (new.dtype.is_floating_point or new.dtype.is_complex):
        raise LayoutError(
            "grad",
            f"data of a tensor that requires gradients must be floating point or complex, not {new.dtype}",
        )
    self._storage = new._storage
    self._layout = new._layout
    self.dtype = new.dtype
    self._bits = new._bits
    self._inference = new._inference


def in_class(self: "Tensor", t: "Tensor", cls: type) -> Any:
    """Another tensor over the same elements as one of a class."""
    return as_class(t, cls)


def _check_class(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise LayoutTypeError("argument", f"a subclass of Tensor is needed, got {cls!r}")


def as_subclass(self: "Tensor", cls: Any) -> Any:
    """A view of the whole tensor as one of a class. Raises: argument (TypeError). Source: torch 2.13.

    >>> x = torch.zeros(2)
    >>> x.as_subclass(torch.nn.Parameter)._base is x
    True
    """
    _check_class(cls)
    return self._in_class(view_of(self, self._layout), cls)


def make_subclass(cls: Any, data: "Tensor", require_grad: bool = False) -> Any:
    """A leaf of a class over a tensor's memory. Raises: argument (TypeError), grad. Source: torch 2.13."""
    _check_class(cls)
    made = data._in_class(detached(data), cls)
    set_requires_grad(made, require_grad)
    return made
