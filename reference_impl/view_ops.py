"""View operators: geometry is decided in views.py and slicing.py, here views are made."""

from typing import TYPE_CHECKING, Any

from . import dtype_view, slicing, views
from .backing import NoBytes
from .copies import copy_elements
from .core import (
    MADE_MULTI,
    TensorBase,
    as_int,
    as_int_list,
    as_ints,
    bad_arguments,
    build,
    recorded,
    view_of,
)
from .dtypes import dtype
from .errors import LayoutError
from .layout import INT64_MAX, Layout, contiguous_strides, wrap_dim
from .storage import UntypedStorage

if TYPE_CHECKING:
    from .tensors import Tensor


def view(input: "Tensor", *shape: Any, size: Any = None, dtype: Any = None) -> "Tensor":
    """The same memory under a new shape, or under a new dtype.

    Raises: size, view (see `views.view`); dtype (see `dtype_view`); argument (TypeError).
    Source: facts 3.1 and 3.2, torch 2.13.
    """
    if not shape:
        if dtype is not None:
            return dtype_view.view_dtype(input, dtype)
        if size is None:
            raise bad_arguments("view", "no shape given")
        shape = (as_int_list(size, "size"),)
    elif len(shape) == 1 and isinstance(shape[0], _dtype):
        return dtype_view.view_dtype(input, shape[0])
    return view_of(input, views.view(input._layout, as_ints(shape)), free=True)


_dtype = dtype


def view_as(input: "Tensor", other: "Tensor") -> "Tensor":
    """`view(other.shape)`."""
    return view_of(input, views.view(input._layout, other._layout.shape), free=True)


def _reshape(input: "Tensor", shape: tuple[int, ...]) -> "Tensor":
    new_shape, layout = views.reshape(input._layout, shape)
    if layout is not None:
        return view_of(input, layout, free=True)
    out = build(
        UntypedStorage._allocate(input.numel() * input.dtype.itemsize),
        Layout(input._layout.shape, contiguous_strides(input._layout.shape), 0),
        input.dtype,
    )
    copy_elements(out, input)
    out._layout = Layout(new_shape, contiguous_strides(new_shape), 0)
    return recorded(out, input)


def reshape(input: "Tensor", *shape: Any, **kwargs: Any) -> "Tensor":
    """A view where the strides allow one, else a row-major copy; always a new tensor object.

    Raises: size (see `views.infer_size`); argument (TypeError).
    Source: facts 3.3.1, torch 2.13.
    """
    if kwargs:
        if shape or set(kwargs) != {"shape"}:
            raise bad_arguments("reshape")
        shape = (as_int_list(kwargs["shape"], "shape"),)
    elif not shape:
        raise bad_arguments("reshape", "no shape given")
    return _reshape(input, as_ints(shape))


def reshape_as(input: "Tensor", other: "Tensor") -> "Tensor":
    """`reshape(other.shape)`."""
    return _reshape(input, other._layout.shape)


def flatten(input: "Tensor", start_dim: int = 0, end_dim: int = -1) -> "Tensor":
    """Dimensions from start to end merged: the tensor itself where there is nothing to merge, else as `reshape`.

    Raises: dimension. Source: facts 3.3.2, torch 2.13.
    """
    shape = views.flatten_shape(input._layout.shape, as_int(start_dim, "start_dim"), as_int(end_dim, "end_dim"))
    return input if shape is None else _reshape(input, shape)


def unflatten(input: "Tensor", dim: int, sizes: Any) -> "Tensor":
    """One dimension split into several; always a view.

    Raises: dimension, size. Source: facts 3.3.4, torch 2.13.
    """
    shape = views.unflatten_shape(input._layout.shape, as_int(dim, "dim"), as_int_list(sizes, "sizes"))
    return view_of(input, views.view(input._layout, shape), free=True)


def ravel(input: "Tensor") -> "Tensor":
    """A flat view of a contiguous tensor, a flat copy of another.

    Source: facts 3.3.3, torch 2.13.
    """
    from .copies import contiguous

    return _reshape(contiguous(input), (-1,)) if input.numel() else _reshape(input, (0,))


def permute(input: "Tensor", *dims: Any, **kwargs: Any) -> "Tensor":
    """A view with dimensions in another order. Raises: dimension. Source: facts 3.6, torch 2.13."""
    if kwargs:
        if dims or set(kwargs) != {"dims"}:
            raise bad_arguments("permute")
        dims = (as_int_list(kwargs["dims"], "dims"),)
    return view_of(input, views.permute(input._layout, as_ints(dims, "dims")))


def transpose(input: "Tensor", dim0: int, dim1: int) -> "Tensor":
    """A view with two dimensions exchanged. Raises: dimension. Source: facts 3.6, torch 2.13."""
    if type(dim0) is not int or type(dim1) is not int:
        dim0, dim1 = as_int(dim0, "dim0"), as_int(dim1, "dim1")
    return view_of(input, views.transpose(input._layout, dim0, dim1))


def swapaxes(input: "Tensor", axis0: int, axis1: int) -> "Tensor":
    """`transpose` under NumPy's name."""
    return transpose(input, axis0, axis1)


def swapdims(input: "Tensor", dim0: int, dim1: int) -> "Tensor":
    """`transpose` under another name."""
    return transpose(input, dim0, dim1)


def t_layout(input: "Tensor", name: str) -> Layout:
    """Layout of `t()`. Raises: dimension (RuntimeError) above rank 2. Source: facts 3.6, torch 2.13."""
    shape, strides, offset = input._layout
    if len(shape) > 2:
        raise LayoutError("dimension", f"{name}() expects at most 2 dimensions, got {len(shape)} (facts 3.6)")
    return Layout(shape[::-1], strides[::-1], offset)


def t(input: "Tensor") -> "Tensor":
    """A view of a matrix transposed. Raises: dimension above rank 2. Source: facts 3.6, torch 2.13."""
    return view_of(input, t_layout(input, "t"))


def numpy_T(input: "Tensor") -> "Tensor":  # noqa: N802 - PyTorch's own name
    """A view with all dimensions reversed. Source: facts 3.6, torch 2.13."""
    shape, strides, offset = input._layout
    return view_of(input, Layout(shape[::-1], strides[::-1], offset))


def mT(input: "Tensor") -> "Tensor":  # noqa: N802 - PyTorch's own name
    """A view with the last two dimensions exchanged.

    Raises: dimension (RuntimeError) for rank 1. Source: facts 3.6, torch 2.13.
    """
    if input.ndim == 1:
        raise LayoutError("dimension", "mT needs a matrix or a batch of matrices, got one dimension (facts 3.6)")
    if input.ndim == 0:
        return input
    return view_of(input, views.transpose(input._layout, -2, -1))


def movedim(input: "Tensor", source: Any, destination: Any) -> "Tensor":
    """A view with dimensions moved to other places. Raises: dimension. Source: facts 3.6, torch 2.13."""
    one = not isinstance(source, (tuple, list))
    if one == isinstance(destination, (tuple, list)):
        raise bad_arguments("movedim", "source and destination must both be ints or both be tuples")
    src = as_ints((source,), "source")
    dst = as_ints((destination,), "destination")
    order = views.movedim_order(input.ndim, src, dst)
    return view_of(input, views.permute(input._layout, order))


moveaxis = movedim


def expand(input: "Tensor", *size: Any, implicit: bool = False, **kwargs: Any) -> "Tensor":
    """A view with lengths of 1 repeated by stride 0.

    Raises: broadcast, overflow (see `views.expand`). Source: facts 3.5, torch 2.13.
    """
    if kwargs:
        if size or set(kwargs) != {"size"}:
            raise bad_arguments("expand")
        size = (as_int_list(kwargs["size"], "size"),)
    return view_of(input, views.expand(input._layout, as_ints(size)))


def broadcast_to(input: "Tensor", size: Any) -> "Tensor":
    """`expand(size)`."""
    return view_of(input, views.expand(input._layout, as_int_list(size, "size")))


def expand_as(input: "Tensor", other: "Tensor") -> "Tensor":
    """`expand(other.shape)`."""
    return view_of(input, views.expand(input._layout, other._layout.shape))


def squeeze(input: "Tensor", dim: Any = None) -> "Tensor":
    """A view without dimensions of length 1. Raises: dimension. Source: facts 3.4, torch 2.13."""
    return view_of(input, squeeze_layout(input, dim))


def squeeze_layout(input: "Tensor", dim: Any) -> Layout:
    """Layout of `squeeze` for None, one dimension, or several."""
    if dim is None:
        return views.squeeze(input._layout)
    return views.squeeze(input._layout, as_ints((dim,), "dim"))


def unsqueeze(input: "Tensor", dim: int) -> "Tensor":
    """A view with a new dimension of length 1. Raises: dimension. Source: facts 3.4, torch 2.13."""
    return view_of(input, views.unsqueeze(input._layout, dim if type(dim) is int else as_int(dim, "dim")))


def select(input: "Tensor", dim: int, index: int) -> "Tensor":
    """A view of one index along a dimension. Raises: dimension, index. Source: facts 3.7, torch 2.13."""
    return view_of(input, slicing.select(input._layout, as_int(dim, "dim"), as_int(index, "index")))


def narrow(input: "Tensor", dim: int, start: Any, length: int) -> "Tensor":
    """A view of a range along a dimension.

    Raises: dimension, index, size (see `slicing.narrow`); dtype for a start tensor that is not a single integer.
    Source: facts 3.7, torch 2.13.
    """
    if isinstance(start, TensorBase):
        if start._layout.shape or start.dtype.category != "int":
            raise LayoutError("dtype", "narrow: a start tensor must be 0-dim and integral (facts 3.7)")
        start = int(start)  # type: ignore[call-overload]
        # A start given as a tensor is wrapped only within the dimension.
        if input._layout.shape and start < 0:
            start = wrap_start(start, input._layout.shape[wrap_dim(as_int(dim, "dim"), input.ndim)])
    layout = slicing.narrow(input._layout, as_int(dim, "dim"), as_int(start, "start"), as_int(length, "length"))
    return view_of(input, layout)


def wrap_start(start: int, length: int) -> int:
    """A negative start from the end, left to the range check where it is out of range."""
    return start + length if -length <= start < 0 else start


def unfold(input: "Tensor", dimension: int, size: int, step: int) -> "Tensor":
    """A view of windows along a dimension. Raises: dimension, size, step. Source: facts 3.8, torch 2.13."""
    layout = slicing.unfold(input._layout, as_int(dimension, "dimension"), as_int(size, "size"), as_int(step, "step"))
    return view_of(input, layout)


def diagonal(input: "Tensor", offset: int = 0, dim1: int = 0, dim2: int = 1) -> "Tensor":
    """A view of a diagonal as the last dimension. Raises: dimension. Source: facts 3.8, torch 2.13."""
    layout = slicing.diagonal(input._layout, as_int(offset, "offset"), as_int(dim1, "dim1"), as_int(dim2, "dim2"))
    return view_of(input, layout)


def as_strided(input: "Tensor", size: Any, stride: Any, storage_offset: Any = None) -> "Tensor":
    """A view of the whole storage under an explicit layout; the offset stays the input's unless given.

    Raises: dimension, size, index, overflow, bounds (see `slicing.as_strided`). Source: facts 3.10, torch 2.13.
    """
    return view_of(input, strided_layout(input, size, stride, storage_offset))


def strided_layout(input: "Tensor", size: Any, stride: Any, storage_offset: Any) -> Layout:
    """Layout of `as_strided`, checked against the storage."""
    return slicing.as_strided(
        as_int_list(size, "size"),
        as_int_list(stride, "stride"),
        input._layout.offset if storage_offset is None else as_int(storage_offset, "storage_offset"),
        input.dtype.itemsize,
        # Nothing can be addressed on meta, so that nothing is out of bounds.
        INT64_MAX if type(input._storage._bytes) is NoBytes else len(input._storage._bytes),
    )


def atleast_1d(*tensors: Any) -> Any:
    """At least one dimension: the tensor itself, or a view. Source: facts 3.4, torch 2.13."""
    return _each(tensors, lambda x: x if x.ndim else _reshape(x, (1,)))


def atleast_2d(*tensors: Any) -> Any:
    """At least two dimensions: the tensor itself, or a view. Source: facts 3.4, torch 2.13."""
    return _each(tensors, lambda x: x if x.ndim > 1 else unsqueeze(x, 0) if x.ndim else _reshape(x, (1, 1)))


def atleast_3d(*tensors: Any) -> Any:
    """At least three dimensions: the tensor itself, or a view. Source: facts 3.4, torch 2.13."""

    def one(x: "Tensor") -> "Tensor":
        if x.ndim > 2:
            return x
        if x.ndim == 0:
            return _reshape(x, (1, 1, 1))
        return unsqueeze(x, -1) if x.ndim == 2 else unsqueeze(unsqueeze(x, 0), -1)

    return _each(tensors, one)


def _each(tensors: tuple[Any, ...], one: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], TensorBase):
        return one(tensors[0])
    if len(tensors) == 1:
        tensors = tuple(tensors[0])
    return tuple([one(x) for x in tensors])


def _pieces(input: "Tensor", dim: int, lengths: list[int], made: int = MADE_MULTI) -> tuple["Tensor", ...]:
    shape, strides, offset = input._layout
    result = []
    for n in lengths:
        result.append(view_of(input, Layout((*shape[:dim], n, *shape[dim + 1 :]), strides, offset), made))
        offset += n * strides[dim]
    return tuple(result)


def _split_dim(input: "Tensor", dim: Any, name: str) -> int:
    if not input._layout.shape:
        raise LayoutError("dimension", f"{name} expects at least a 1-dimensional tensor (facts 3.9)")
    return wrap_dim(as_int(dim, "dim"), input.ndim)


def split(input: "Tensor", split_size: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """Views of consecutive parts of one length, or of the lengths given.

    Raises: dimension, size (see `slicing.split_sizes`). Source: facts 3.9, torch 2.13.
    """
    if isinstance(split_size, (tuple, list)):
        return split_with_sizes(input, split_size, dim)
    size = as_int(split_size, "split_size")
    if size < 0 and input._layout.shape:
        raise LayoutError("size", f"split: size {size} is negative (facts 3.9)")
    d = _split_dim(input, dim, "split")
    return _pieces(input, d, slicing.split_sizes(input._layout.shape[d], size))


def torch_split(tensor: "Tensor", split_size_or_sections: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """`split` under `torch`, with names of its own. Raises: as `split`."""
    return split(tensor, split_size_or_sections, dim)


def split_with_sizes(input: "Tensor", split_sizes: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """Views of consecutive parts of the lengths given. Raises: dimension, size. Source: facts 3.9, torch 2.13."""
    sizes = as_int_list(split_sizes, "split_sizes")
    d = _split_dim(input, dim, "split_with_sizes")
    slicing.check_split(input._layout.shape[d], sizes)
    return _pieces(input, d, list(sizes))


def chunk(input: "Tensor", chunks: int, dim: int = 0) -> tuple["Tensor", ...]:
    """Views of at most so many consecutive parts. Raises: dimension, size. Source: facts 3.9, torch 2.13."""
    chunks = as_int(chunks, "chunks")
    if input._layout.shape:
        slicing.chunk_size(0, chunks)
    d = _split_dim(input, dim, "chunk")
    length = input._layout.shape[d]
    size = slicing.chunk_size(length, chunks)
    return _pieces(input, d, slicing.split_sizes(length, size) if length else [0] * chunks)


def tensor_split(
    input: "Tensor",
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
    tensor_indices_or_sections: Any = None,
) -> tuple["Tensor", ...]:
    """Views of so many parts of nearly one length, or of the parts between indices.

    Raises: dimension, size. Source: facts 3.9, torch 2.13.
    """
    given = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    what = next((w for w in given if w is not None), None)
    if isinstance(what, TensorBase):
        what = what.tolist()  # type: ignore[attr-defined]
    if not isinstance(what, (tuple, list)):
        d = _split_dim(input, dim, "tensor_split")
        # Each piece is a slice of its own to PyTorch, not one of several outputs.
        sizes = slicing.tensor_split_sizes(input._layout.shape[d], as_int(what, "sections"))
        return _pieces(input, d, sizes, made=0)
    bounds = as_ints((what,), "indices")
    d = _split_dim(input, dim, "tensor_split")
    edges: list[int | None] = [0, *bounds, None]
    return tuple(
        [view_of(input, slicing.slice_dim(input._layout, d, edges[i], edges[i + 1], 1)) for i in range(len(edges) - 1)]
    )


def _given(*choices: Any) -> Any:
    return next((c for c in choices if c is not None), None)


def _grid_split(name: str, input: "Tensor", what: Any, dim: int) -> tuple["Tensor", ...]:
    if not isinstance(what, (tuple, list)):
        parts = as_int(what, "split_size")
        length = input._layout.shape[dim]
        if parts == 0 or length % parts:
            raise LayoutError("size", f"{name}: length {length} is not divisible by {parts} (facts 3.9)")
    return tensor_split(input, what, dim)


def hsplit(
    input: "Tensor", indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple["Tensor", ...]:
    """`tensor_split` along columns. Raises: dimension, size. Source: facts 3.9, torch 2.13."""
    if input.ndim < 1:
        raise LayoutError("dimension", "hsplit needs at least 1 dimension (facts 3.9)")
    return _grid_split("hsplit", input, _given(indices_or_sections, indices, sections), 0 if input.ndim == 1 else 1)


def vsplit(
    input: "Tensor", indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple["Tensor", ...]:
    """`tensor_split` along rows. Raises: dimension, size. Source: facts 3.9, torch 2.13."""
    if input.ndim < 2:
        raise LayoutError("dimension", "vsplit needs at least 2 dimensions (facts 3.9)")
    return _grid_split("vsplit", input, _given(indices_or_sections, indices, sections), 0)


def dsplit(
    input: "Tensor", indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple["Tensor", ...]:
    """`tensor_split` along depth. Raises: dimension, size. Source: facts 3.9, torch 2.13."""
    if input.ndim < 3:
        raise LayoutError("dimension", "dsplit needs at least 3 dimensions (facts 3.9)")
    return _grid_split("dsplit", input, _given(indices_or_sections, indices, sections), 2)


def unbind(input: "Tensor", dim: int = 0) -> tuple["Tensor", ...]:
    """Views of every index along a dimension. Raises: dimension (IndexError). Source: facts 3.9, torch 2.13."""
    from .errors import LayoutIndexError

    if not input._layout.shape:
        raise LayoutIndexError("dimension", "unbind: the tensor has no dimensions (facts 3.9)")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    return tuple(
        [view_of(input, slicing.select(input._layout, d, i), MADE_MULTI) for i in range(input._layout.shape[d])]
    )


def detach(input: "Tensor") -> "Tensor":
    """The same memory without history: no view, but under the same version counter. Source: facts 5.3, torch 2.13."""
    from .core import detached

    return detached(input, input._layout, input.dtype)
