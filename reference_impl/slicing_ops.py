"""Views of a part: select, narrow, windows, diagonals, explicit strides, splits; geometry is decided in slicing.py."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import slicing
from .backing import NoBytes
from .core import (
    MADE_MULTI,
    TensorBase,
    as_int,
    as_int_list,
    as_ints,
    bad_arguments,
    check_history,
    view_of,
)
from .errors import LayoutError, LayoutIndexError
from .layout import INT64_MAX, Layout, wrap_dim

if TYPE_CHECKING:
    from .tensors import Tensor


def select(input: "Tensor", dim: int, index: int) -> "Tensor":
    """A view of one index along a dimension. Raises: dimension, index. Source: facts 3.7, torch 2.13.

    >>> torch.zeros(3, 4).select(1, -1).storage_offset()
    3
    """
    check_history(input)
    return view_of(input, slicing.select(input._layout, as_int(dim, "dim"), as_int(index, "index")))


def narrow(input: "Tensor", dim: int, start: Any, length: int) -> "Tensor":
    """A view of a range along a dimension.

    Raises: dimension, index, size (see `slicing.narrow`); dtype for a start tensor that is not a single integer.
    Source: facts 3.7, torch 2.13.

    >>> torch.zeros(3, 4).narrow(1, 1, 2).stride()
    (4, 1)
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
    """A view of windows along a dimension. Raises: dimension, size, step. Source: facts 3.8, torch 2.13.

    >>> torch.arange(5).unfold(0, 3, 1).tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    check_history(input)
    layout = slicing.unfold(input._layout, as_int(dimension, "dimension"), as_int(size, "size"), as_int(step, "step"))
    return view_of(input, layout)


def diagonal(input: "Tensor", offset: int = 0, dim1: int = 0, dim2: int = 1) -> "Tensor":
    """A view of a diagonal as the last dimension. Raises: dimension. Source: facts 3.8, torch 2.13.

    >>> torch.zeros(3, 4).diagonal(1).stride()
    (5,)
    """
    check_history(input)
    layout = slicing.diagonal(input._layout, as_int(offset, "offset"), as_int(dim1, "dim1"), as_int(dim2, "dim2"))
    return view_of(input, layout)


def as_strided(input: "Tensor", size: Any, stride: Any, storage_offset: Any = None) -> "Tensor":
    """A view of the whole storage under an explicit layout; the offset stays the input's unless given.

    Raises: dimension, size, index, overflow, bounds (see `slicing.as_strided`). Source: facts 3.10, torch 2.13.

    >>> torch.arange(4).as_strided((2, 3), (1, 1)).tolist()
    [[0, 1, 2], [1, 2, 3]]
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
        INT64_MAX if type(input._storage._bytes) is NoBytes else len(input._storage._bytes) * input.dtype.pack,
    )


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

    >>> [p.storage_offset() for p in torch.arange(5).split(2)]
    [0, 2, 4]
    """
    if isinstance(split_size, (tuple, list)):
        return split_with_sizes(input, split_size, dim)
    if isinstance(split_size, np.generic):  # what is no int of Python's is taken for lengths
        raise bad_arguments("split", f"lengths must be a tuple, got {type(split_size).__name__}")
    size = as_int(split_size, "split_size")
    if size < 0 and input._layout.shape:
        raise LayoutError("size", f"split: size {size} is negative (facts 3.9)")
    check_history(input)
    d = _split_dim(input, dim, "split")
    return _pieces(input, d, slicing.split_sizes(input._layout.shape[d], size))


def torch_split(tensor: "Tensor", split_size_or_sections: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """`split` under `torch`, with names of its own. Raises: as `split`."""
    return split(tensor, split_size_or_sections, dim)


def split_with_sizes(input: "Tensor", split_sizes: Any, dim: int = 0) -> tuple["Tensor", ...]:
    """Views of consecutive parts of the lengths given. Raises: dimension, size. Source: facts 3.9, torch 2.13.

    >>> [p.shape[0] for p in torch.arange(5).split_with_sizes([4, 1])]
    [4, 1]
    """
    sizes = as_int_list(split_sizes, "split_sizes")
    check_history(input)
    d = _split_dim(input, dim, "split_with_sizes")
    slicing.check_split(input._layout.shape[d], sizes)
    return _pieces(input, d, list(sizes))


def chunk(input: "Tensor", chunks: int, dim: int = 0) -> tuple["Tensor", ...]:
    """Views of at most so many consecutive parts. Raises: dimension, size. Source: facts 3.9, torch 2.13.

    >>> [p.shape[0] for p in torch.arange(7).chunk(4)]
    [2, 2, 2, 1]
    """
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

    >>> [p.shape[0] for p in torch.arange(7).tensor_split(3)]
    [3, 2, 2]
    """
    what = _given("tensor_split", indices_or_sections, indices, sections, tensor_indices_or_sections)
    if isinstance(what, TensorBase):
        if what.dtype is not dt.int64 or len(what._layout.shape) > 1:
            raise LayoutError(
                "dtype", f"tensor_split: a number or a vector of int64 is needed, got {what.dtype} {what._layout.shape}"
            )
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


def _given(name: str, *choices: Any) -> Any:
    """The one of several arguments that is given. Raises: argument (TypeError) where none is."""
    for choice in choices:
        if choice is not None:
            return choice
    raise bad_arguments(name, "neither sections nor indices")


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
    """`tensor_split` along columns. Raises: dimension, size. Source: facts 3.9, torch 2.13.

    >>> [tuple(p.shape) for p in torch.zeros(2, 4).hsplit(2)]
    [(2, 2), (2, 2)]
    """
    what = _given("hsplit", indices_or_sections, indices, sections)
    if input.ndim < 1:
        raise LayoutError("dimension", "hsplit needs at least 1 dimension (facts 3.9)")
    return _grid_split("hsplit", input, what, 0 if input.ndim == 1 else 1)


def vsplit(
    input: "Tensor", indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple["Tensor", ...]:
    """`tensor_split` along rows. Raises: dimension, size. Source: facts 3.9, torch 2.13.

    >>> [tuple(p.shape) for p in torch.zeros(2, 4).vsplit(2)]
    [(1, 4), (1, 4)]
    """
    what = _given("vsplit", indices_or_sections, indices, sections)
    if input.ndim < 2:
        raise LayoutError("dimension", "vsplit needs at least 2 dimensions (facts 3.9)")
    return _grid_split("vsplit", input, what, 0)


def dsplit(
    input: "Tensor", indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
) -> tuple["Tensor", ...]:
    """`tensor_split` along depth. Raises: dimension, size. Source: facts 3.9, torch 2.13.

    >>> [tuple(p.shape) for p in torch.zeros(2, 2, 4).dsplit(2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    what = _given("dsplit", indices_or_sections, indices, sections)
    if input.ndim < 3:
        raise LayoutError("dimension", "dsplit needs at least 3 dimensions (facts 3.9)")
    return _grid_split("dsplit", input, what, 2)


def unbind(input: "Tensor", dim: int = 0) -> tuple["Tensor", ...]:
    """Views of every index along a dimension. Raises: dimension (IndexError). Source: facts 3.9, torch 2.13.

    >>> [p.stride() for p in torch.zeros(2, 3).unbind(1)]
    [(3,), (3,), (3,)]
    """
    check_history(input)
    if not input._layout.shape:
        raise LayoutIndexError("dimension", "unbind: the tensor has no dimensions (facts 3.9)")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    return tuple(
        [view_of(input, slicing.select(input._layout, d, i), MADE_MULTI) for i in range(input._layout.shape[d])]
    )
