"""Views of a part: select, narrow, slices, windows, diagonals, explicit strides, splits."""

from collections.abc import Sequence
from functools import lru_cache

from .errors import LayoutError, LayoutIndexError, LayoutValueError
from .layout import CACHE, Layout, check_bounds, wrap_dim


@lru_cache(CACHE)
def select(layout: Layout, dim: int, index: int) -> Layout:
    """Layout of `select(dim, index)`: the dimension is dropped, the offset moves.

    Raises: dimension (IndexError, also without dimensions), index (IndexError), overflow (ValueError) past 64 bits.
    Source: facts 3.7, torch 2.13.

    >>> select(Layout((4, 6), (20, 3), 5), 1, -1)
    Layout(shape=(4,), strides=(20,), offset=20)
    """
    shape, strides, offset = layout
    if not shape:
        raise LayoutIndexError("dimension", "select: the tensor has no dimensions (facts 3.7)")
    d = wrap_dim(dim, len(shape))
    length = shape[d]
    if not -length <= index < length:
        if not -(2**63) <= index < 2**63:
            raise LayoutValueError("overflow", f"select: index {index} does not fit 64 bits (facts 1.19)")
        raise LayoutIndexError("index", f"select: index {index} at dimension {d} of length {length} (facts 3.7)")
    offset += (index + length if index < 0 else index) * strides[d]
    return Layout(shape[:d] + shape[d + 1 :], strides[:d] + strides[d + 1 :], offset)


@lru_cache(CACHE)
def narrow(layout: Layout, dim: int, start: int, length: int) -> Layout:
    """Layout of `narrow(dim, start, length)`; a negative start counts from the end.

    Raises: dimension (RuntimeError without dimensions), size (a negative length, RuntimeError), index (start out of
    range is an IndexError, a length past the end a RuntimeError).
    Source: facts 3.7, torch 2.13.

    >>> narrow(Layout((4, 6), (20, 3), 5), 1, -2, 2)
    Layout(shape=(4, 2), strides=(20, 3), offset=17)
    """
    shape, strides, offset = layout
    if not shape:
        raise LayoutError("dimension", "narrow: the tensor has no dimensions (facts 3.7)")
    if length < 0:
        raise LayoutError("size", f"narrow: length {length} is negative (facts 3.7)")
    d = wrap_dim(dim, len(shape))
    size = shape[d]
    if not -size <= start <= size:
        raise LayoutIndexError("index", f"narrow: start {start} at dimension {d} of length {size} (facts 3.7)")
    if start < 0:
        start += size
    if start + length > size:
        raise LayoutError("index", f"narrow: {start} + {length} passes the length {size} of dimension {d} (facts 3.7)")
    return Layout((*shape[:d], length, *shape[d + 1 :]), strides, offset + start * strides[d])


@lru_cache(CACHE)
def slice_dim(layout: Layout, dim: int, start: int | None, stop: int | None, step: int) -> Layout:
    """Layout of the slice `start:stop:step` along one dimension.

    Bounds are wrapped once and clamped. The offset moves by `start` even where nothing is left, and a result of length
    1 keeps the multiplied stride.

    Raises: step (ValueError) for a step that is not positive; dimension (IndexError, also without dimensions).
    Source: facts 3.7, torch 2.13.

    >>> slice_dim(Layout((10,), (1,)), 0, 20, 30, 1)
    Layout(shape=(0,), strides=(1,), offset=10)
    >>> slice_dim(Layout((10,), (1,)), 0, 5, 100, 100)
    Layout(shape=(1,), strides=(100,), offset=5)
    """
    shape, strides, offset = layout
    if not shape:
        raise LayoutIndexError("dimension", "slice: the tensor has no dimensions (facts 3.7)")
    if step <= 0:
        raise LayoutValueError("step", f"slice: step {step} is not positive (facts 3.7)")
    dim = wrap_dim(dim, len(shape))
    length = shape[dim]
    first = 0 if start is None else min(max(start + length if start < 0 else start, 0), length)
    last = length if stop is None else min(max(stop + length if stop < 0 else stop, first), length)
    stride = strides[dim]
    return Layout(
        (*shape[:dim], (last - first + step - 1) // step, *shape[dim + 1 :]),
        (*strides[:dim], stride * step, *strides[dim + 1 :]),
        offset + first * stride,
    )


@lru_cache(CACHE)
def unfold(layout: Layout, dim: int, size: int, step: int) -> Layout:
    """Layout of `unfold(dim, size, step)`: windows along a dimension, their inside as a new last dimension.

    A tensor without dimensions counts as one of length 1.

    Raises: dimension (IndexError), size (RuntimeError: negative, or longer than the dimension), step (RuntimeError).
    Source: facts 3.8, torch 2.13.

    >>> unfold(Layout((4, 6), (20, 3)), 1, 3, 2)
    Layout(shape=(4, 2, 3), strides=(20, 6, 3), offset=0)
    """
    shape, strides, offset = layout
    d = wrap_dim(dim, len(shape))
    length = shape[d] if shape else 1
    if size < 0:
        raise LayoutError("size", f"unfold: size {size} is negative (facts 3.8)")
    if size > length:
        raise LayoutError("size", f"unfold: size {size} exceeds the length {length} of dimension {d} (facts 3.8)")
    if step <= 0:
        raise LayoutError("step", f"unfold: step {step} is not positive (facts 3.8)")
    if not shape:
        return Layout((size,), (1,), offset)
    return Layout(
        (*shape[:d], (length - size) // step + 1, *shape[d + 1 :], size),
        (*strides[:d], strides[d] * step, *strides[d + 1 :], strides[d]),
        offset,
    )


@lru_cache(CACHE)
def diagonal(layout: Layout, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Layout:
    """Layout of `diagonal(offset, dim1, dim2)`: both dimensions dropped, one appended that steps in both.

    An offset outside the matrix gives an empty view and leaves the storage offset as it is.

    Raises: dimension (IndexError out of range, RuntimeError where both are the same).
    Source: facts 3.8, torch 2.13.

    >>> diagonal(Layout((4, 6), (20, 3), 5), -2)
    Layout(shape=(2,), strides=(23,), offset=45)
    """
    shape, strides, start = layout
    a, b = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    if a == b:
        raise LayoutError("dimension", f"diagonal: dimensions {dim1} and {dim2} are the same (facts 3.8)")
    length = max(min(shape[a] + min(offset, 0), shape[b] - max(offset, 0)), 0)
    if length:
        start += offset * strides[b] if offset >= 0 else -offset * strides[a]
    keep = [d for d in range(len(shape)) if d not in (a, b)]
    return Layout(
        (*[shape[d] for d in keep], length),
        (*[strides[d] for d in keep], strides[a] + strides[b]),
        start,
    )


def as_strided(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, itemsize: int, nbytes: int) -> Layout:
    """Layout of `as_strided(shape, strides, offset)` over a storage of `nbytes` bytes, whatever the input's own layout.

    Raises: dimension (ranks differ), overflow (a negative stride or length, a span past 64 bits), index (a negative
    offset), bounds.
    Source: facts 1.18 and 3.10, torch 2.13.

    >>> as_strided((2, 2), (0, 1), 1, 4, 12)
    Layout(shape=(2, 2), strides=(0, 1), offset=1)
    """
    if len(shape) != len(strides):
        raise LayoutError("dimension", f"as_strided: shape {shape} and strides {strides} differ in length (facts 3.10)")
    if strides and min(strides) < 0:
        raise LayoutError("size", f"as_strided: strides {strides}: negative strides are not supported (facts 3.10)")
    if offset < 0:
        raise LayoutError("index", f"as_strided: offset {offset} is negative (facts 3.10)")
    layout = Layout(shape, strides, offset)
    check_bounds(layout, itemsize, nbytes)
    return layout


def split_sizes(length: int, size: int) -> list[int]:
    """Lengths of the pieces of `split(size)`: the last is what is left; one empty piece of an empty dimension.

    Raises: size (RuntimeError) for a negative size, or 0 of a dimension that is not empty.
    Source: facts 3.9, torch 2.13.

    >>> split_sizes(5, 2), split_sizes(0, 3)
    ([2, 2, 1], [0])
    """
    if size < 0:
        raise LayoutError("size", f"split: size {size} is negative (facts 3.9)")
    if size == 0:
        if length:
            raise LayoutError("size", f"split: size 0 of a dimension of length {length} (facts 3.9)")
        return [0]
    count = max(-(-length // size), 1)
    return [size] * (count - 1) + [length - size * (count - 1)]


def check_split(length: int, sizes: Sequence[int]) -> None:
    """Refuse lengths that do not make up the dimension.

    Raises: size (RuntimeError) for a negative length or a wrong sum.
    Source: facts 3.9, torch 2.13.

    >>> check_split(5, [2, 3])
    """
    if any(n < 0 for n in sizes) or sum(sizes) != length:
        raise LayoutError("size", f"split: lengths {tuple(sizes)} do not make up {length} (facts 3.9)")


def chunk_size(length: int, chunks: int) -> int:
    """Length of the pieces of `chunk(chunks)`; there may be fewer than asked for.

    Raises: size (RuntimeError) where `chunks` is not positive.
    Source: facts 3.9, torch 2.13.

    >>> chunk_size(7, 4)
    2
    """
    if chunks <= 0:
        raise LayoutError("size", f"chunk: {chunks} pieces asked for (facts 3.9)")
    return -(-length // chunks)


def tensor_split_sizes(length: int, sections: int) -> list[int]:
    """Lengths of the pieces of `tensor_split(sections)`: the first ones longer by one.

    Raises: size (RuntimeError) where `sections` is not positive.
    Source: facts 3.9, torch 2.13.

    >>> tensor_split_sizes(7, 3)
    [3, 2, 2]
    """
    if sections <= 0:
        raise LayoutError("size", f"tensor_split: {sections} sections asked for (facts 3.9)")
    size, longer = divmod(length, sections)
    return [size + 1] * longer + [size] * (sections - longer)
