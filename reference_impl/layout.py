"""The layout of a strided tensor: a frozen value, and the formulas that need nothing but it.

Element ``(i0, …, ik)`` of a tensor lies ``offset + i0*strides[0] + … + ik*strides[k]`` elements behind the start of its
storage. Everything here counts in elements; where bytes are meant the name says so.
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

from .errors import LayoutError, LayoutIndexError, LayoutValueError

Shape = tuple[int, ...]
Strides = tuple[int, ...]

INT64_MAX = 2**63 - 1
CACHE = 1 << 14


class Layout(NamedTuple):
    """Shape, strides and offset of a tensor over its storage, all in elements.

    >>> Layout((2, 3), (3, 1), 4).span
    10
    """

    shape: Shape
    strides: Strides
    offset: int = 0

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of logical elements; 1 for a tensor without dimensions."""
        return prod(self.shape)

    @property
    def span(self) -> int:
        """Elements from the start of the storage to behind the last one addressed (facts 0)."""
        return span(self)

    def required_bytes(self, itemsize: int) -> int:
        """Bytes that a storage must hold for this layout with elements of `itemsize` bytes (facts 0)."""
        return span(self) * itemsize


def contiguous_strides(shape: Shape) -> Strides:
    """Row-major strides of a shape.

    Lengths of 0 count as 1, so that an empty dimension does not zero the strides left of it.

    Source: facts 0, torch 2.13.

    >>> contiguous_strides((2, 0, 3))
    (3, 3, 1)
    >>> contiguous_strides(())
    ()
    """
    return _contiguous(tuple(shape))


@lru_cache(CACHE)
def _contiguous(shape: Shape) -> Strides:
    strides = [1] * len(shape)
    step = 1
    for d in range(len(shape) - 1, -1, -1):
        strides[d] = step
        if shape[d] > 1:
            step *= shape[d]
    return tuple(strides)


@lru_cache(CACHE)
def channels_last_strides(shape: Shape) -> Strides:
    """Strides with the channel (dimension 1) innermost, for shapes of rank 4 and 5.

    Raw products: an empty dimension zeroes the strides outside it.

    Raises: ValueError for another rank.
    Source: facts 0, torch 2.13.

    >>> channels_last_strides((2, 3, 4, 5))
    (60, 1, 15, 3)
    >>> channels_last_strides((2, 0, 3, 4))
    (0, 1, 0, 0)
    """
    if len(shape) == 4:
        _, c, h, w = shape
        return (h * w * c, 1, w * c, c)
    if len(shape) == 5:
        _, c, d, h, w = shape
        return (d * h * w * c, 1, h * w * c, w * c, c)
    raise ValueError(f"channels-last strides exist for rank 4 and 5 only, got shape {shape}")


@lru_cache(CACHE)
def span(layout: Layout) -> int:
    """Elements from the start of the storage to behind the last one addressed; 0 if no element is.

    Source: facts 0, torch 2.13.

    >>> span(Layout((2, 3), (5, 2), 0))
    10
    >>> span(Layout((2, 0), (5, 2), 7))
    0
    """
    shape, strides, offset = layout
    end = offset + 1
    for length, stride in zip(shape, strides, strict=True):
        if length == 0:
            return 0
        if stride > 0:
            end += (length - 1) * stride
    return end


def extent(layout: Layout) -> tuple[int, int]:
    """First element addressed and the one behind the last, as (begin, end); equal where no element is addressed.

    Unlike `span` this holds for negative strides as well.

    Source: facts 1.3, torch 2.13.

    >>> extent(Layout((3,), (-2,), 4))
    (0, 5)
    """
    shape, strides, offset = layout
    if 0 in shape:
        return offset, offset
    low = high = offset
    for length, stride in zip(shape, strides, strict=True):
        if stride > 0:
            high += (length - 1) * stride
        else:
            low += (length - 1) * stride
    return low, high + 1


def check_numel(shape: Shape) -> int:
    """Number of elements of a shape that a caller gave.

    Raises: overflow (RuntimeError) for a negative length or a product past 64 bits.
    Source: facts 1.19, torch 2.13.

    >>> check_numel((2, 3))
    6
    """
    count = 1
    for length in shape:
        # PyTorch multiplies as unsigned numbers in this order: a length of 0 saves what comes before it only if
        # that fits.
        count *= length % 2**64
        if count >= 2**64:
            break
    if count > INT64_MAX:
        raise LayoutError("overflow", f"shape {shape}: the number of elements is negative or past 64 bits")
    return count


def check_allocation(shape: Shape, itemsize: int) -> int:
    """Bytes of a fresh dense tensor, after the checks an allocation makes.

    Raises: size for a negative length; overflow where a stride or the byte count leaves 64 bits (an empty dimension
    does not protect: it is multiplied in the order of the shape).
    Source: facts 1.19 and 1.20, torch 2.13.

    >>> check_allocation((2, 3), 4)
    24
    """
    count = prod(shape)
    if 0 <= count < 1 << 40 and (not shape or min(shape) > 0):
        return count * itemsize
    return _check_allocation(shape, itemsize)


def _check_allocation(shape: Shape, itemsize: int) -> int:
    running = 1
    for length in shape:
        if length < 0:
            raise LayoutError("size", f"shape {shape}: the length {length} is negative")
    for length in shape:
        running *= length
        if running >= 1 << 64:
            raise LayoutError("overflow", f"shape {shape}: the size of the storage does not fit 64 bits")
    if running * itemsize > INT64_MAX:
        raise LayoutError("overflow", f"shape {shape}: the size of the storage does not fit 64 bits")
    step = 1
    for length in reversed(shape[1:]):
        step *= max(length, 1)
        if step > INT64_MAX:
            raise LayoutError("overflow", f"shape {shape}: a stride does not fit 64 bits")
    return running * itemsize


def check_strided_allocation(shape: Shape, strides: Strides, itemsize: int) -> int:
    """Bytes of a fresh tensor with given strides, after the checks an allocation makes.

    Raises: dimension where the ranks differ; size for a negative length; overflow for a negative stride (PyTorch has
    no message of its own for it) and where the byte count leaves 64 bits.
    Source: facts 1.13 and 1.20, torch 2.13.

    >>> check_strided_allocation((2, 3), (5, 2), 4)
    40
    """
    if len(shape) != len(strides):
        raise LayoutError("dimension", f"shape {shape} and strides {strides} differ in length")
    if shape and min(shape) < 0:
        raise LayoutError("size", f"shape {shape} has a negative length")
    return check_required(shape, strides, 0, itemsize)


def check_required(shape: Shape, strides: Strides, offset: int, itemsize: int) -> int:
    """Bytes that a layout requires, after the checks PyTorch makes while it computes them.

    Raises: overflow for a negative stride or a byte count past 64 bits, unless a dimension is empty before that.
    Source: facts 1.13, 1.19 and 1.20, torch 2.13.

    >>> check_required((2, 2), (3, 1), 5, 4)
    40
    """
    if 0 in shape:
        return 0
    size = 1
    for length, stride in zip(shape, strides, strict=True):
        step = stride * (length - 1)
        if step < 0 or step > INT64_MAX:
            raise LayoutError("overflow", f"stride {stride} at length {length}: the storage size overflows")
        size += step
    if (size + offset) * itemsize > INT64_MAX:
        raise LayoutError("overflow", f"shape {shape}, strides {strides}: the storage size overflows")
    return (size + offset) * itemsize


def check_bounds(layout: Layout, itemsize: int, nbytes: int) -> None:
    """Refuse a layout that would address past a storage of `nbytes` bytes.

    Skipped where no element is addressed: such a view may carry any offset.

    Raises: bounds.
    Source: facts 1.18, torch 2.13.

    >>> check_bounds(Layout((2, 2), (1, 1), 1), 4, 16)
    """
    needed = check_required(layout.shape, layout.strides, layout.offset, itemsize)
    if needed > nbytes:
        raise LayoutError(
            "bounds",
            f"shape {layout.shape}, strides {layout.strides}, offset {layout.offset} with {itemsize}-byte elements "
            f"need {needed} bytes, the storage holds {nbytes} (facts 1.18)",
        )


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the end or the start, as its index from the start.

    A tensor without dimensions counts as having one.

    Raises: dimension (IndexError), overflow (ValueError) past 64 bits.
    Source: facts 0, torch 2.13.

    >>> wrap_dim(-1, 3), wrap_dim(0, 0)
    (2, 0)
    """
    limit = ndim or 1
    if 0 <= dim < limit:
        return dim
    if -limit <= dim < 0:
        return dim + limit

    if not -(2**63) <= dim < 2**63:
        raise LayoutValueError("overflow", f"dimension {dim} does not fit 64 bits (facts 1.19)")
    raise LayoutIndexError("dimension", f"dimension {dim} is out of range [{-limit}, {limit - 1}]")
