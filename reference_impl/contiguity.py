"""When is a layout contiguous, in which memory format, and which format does it suggest?"""

from functools import lru_cache
from itertools import pairwise

from .errors import LayoutError, LayoutTypeError
from .formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from .layout import CACHE, Shape, Strides, channels_last_strides, contiguous_strides

_ORDER_4D = (1, 3, 2, 0)
_ORDER_5D = (1, 4, 3, 2, 0)


@lru_cache(CACHE)
def is_contiguous(shape: Shape, strides: Strides) -> bool:
    """Whether elements in row-major order lie one behind the other; dimensions of length 1 are skipped.

    A tensor without elements is contiguous whatever its strides.

    Source: facts 2.1, torch 2.13.

    >>> is_contiguous((2, 1, 3), (3, 77, 1))
    True
    >>> is_contiguous((2, 0, 3), (5, 7, 9))
    True
    """
    if 0 in shape:
        return True
    expected = 1
    for d in range(len(shape) - 1, -1, -1):
        if shape[d] != 1:
            if strides[d] != expected:
                return False
            expected *= shape[d]
    return True


@lru_cache(CACHE)
def is_channels_last(shape: Shape, strides: Strides) -> bool:
    """Whether a 4-d or 5-d layout is dense with the channel (dimension 1) innermost.

    Without the exception for tensors without elements that `is_contiguous` makes: an empty dimension must carry the
    stride that the walk expects, and every dimension outside it stride 0.

    Source: facts 2.2 and 2.3, torch 2.13.

    >>> is_channels_last((2, 3, 4, 5), (60, 1, 15, 3))
    True
    >>> is_channels_last((0, 3, 4, 5), (60, 20, 5, 1))
    False
    """
    if len(shape) == 4:
        order: tuple[int, ...] = _ORDER_4D
    elif len(shape) == 5:
        order = _ORDER_5D
    else:
        return False
    expected = 1
    for d in order:
        if shape[d] != 1:
            if strides[d] != expected:
                return False
            expected *= shape[d]
    return True


def is_contiguous_in(shape: Shape, strides: Strides, format: memory_format) -> bool:
    """`is_contiguous` for any memory format; a format of another rank is simply not met.

    Raises: argument (TypeError) for what is no format. Source: facts 2.1 to 2.4, torch 2.13.

    >>> is_contiguous_in((2, 3), (3, 1), channels_last)
    False
    """
    if format is channels_last:
        return len(shape) == 4 and is_channels_last(shape, strides)
    if format is channels_last_3d:
        return len(shape) == 5 and is_channels_last(shape, strides)
    if not isinstance(format, memory_format):
        raise _wrong_format(shape, format)
    return is_contiguous(shape, strides)


@lru_cache(CACHE)
def is_non_overlapping_and_dense(shape: Shape, strides: Strides) -> bool:
    """Whether the elements fill one block of memory in some order of dimensions, each address used once.

    Source: facts 2.7, torch 2.13.

    >>> is_non_overlapping_and_dense((2, 3), (1, 2))
    True
    >>> is_non_overlapping_and_dense((2, 3), (6, 2))
    False
    """
    if is_contiguous(shape, strides) or is_channels_last(shape, strides):
        return True
    expected = 1
    for stride, length in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= length
    return True


@lru_cache(CACHE)
def suggested_format(shape: Shape, strides: Strides) -> memory_format:
    """The memory format in which operators with images (cat, conv, pool, …) answer this input.

    Density is not required, and the strides of dimensions of length 1 count.

    Source: facts 2.8, torch 2.13.

    >>> suggested_format((2, 1, 4, 4), (16, 16, 4, 1)), suggested_format((2, 1, 4, 4), (16, 1, 4, 1))
    (torch.contiguous_format, torch.channels_last)
    """
    if len(shape) == 4:
        if strides[1] != 0 and _steps_outwards(shape, strides, _ORDER_4D):
            return channels_last
    elif len(shape) == 5 and strides[1] != 0 and _steps_outwards(shape, strides, _ORDER_5D):
        return channels_last_3d
    return contiguous_format


def _steps_outwards(shape: Shape, strides: Strides, order: tuple[int, ...]) -> bool:
    least = 0
    for d in order:
        if shape[d] == 0 or strides[d] < least:
            return False
        # An (N,1,1,1) tensor whose strides are all alike fits both formats; it counts as row-major.
        if d == 0 and least == strides[1]:
            return False
        least = strides[d]
        if shape[d] > 1:
            least *= shape[d]
    return True


def format_strides(shape: Shape, format: memory_format) -> Strides:
    """Strides of a fresh tensor in a memory format.

    Raises: format where the rank does not fit, or for `preserve_format`.
    Source: facts 1.20 and 4.1.5, torch 2.13.

    >>> format_strides((2, 3, 4, 5), channels_last)
    (60, 1, 15, 3)
    """
    if format is contiguous_format:
        return contiguous_strides(shape)
    if format is channels_last:
        if len(shape) == 4:
            return channels_last_strides(shape)
    elif format is channels_last_3d and len(shape) == 5:
        return channels_last_strides(shape)
    raise _wrong_format(shape, format)


def _wrong_format(shape: Shape, format: memory_format) -> Exception:
    if not isinstance(format, memory_format):
        return LayoutTypeError("argument", f"expected a memory format, got {type(format).__name__}")
    if format is preserve_format:
        return LayoutError("format", "preserve_format names no layout of its own here")
    return LayoutError("format", f"{format} needs rank {format.rank}, got shape {shape}")


def suggested_strides(shape: Shape, format: memory_format) -> Strides:
    """Strides of an operator's output in the format its input suggests; row-major where the rank does not fit.

    Source: facts 4.2 (class SUGGEST), torch 2.13.

    >>> suggested_strides((2, 3, 4, 5), channels_last), suggested_strides((3, 4), channels_last)
    ((60, 1, 15, 3), (4, 1))
    """
    if format is not contiguous_format and len(shape) == format.rank:
        return channels_last_strides(shape)
    return contiguous_strides(shape)


@lru_cache(CACHE)
def dim_order(shape: Shape, strides: Strides, unique: bool | tuple[memory_format, ...] = False) -> tuple[int, ...]:
    """Dimensions from the largest stride to the smallest, as memory is walked.

    `unique`: there has to be one such order alone. Nothing says so where a dimension is of length 1 or neighbours have
    one stride, but that the tensor is contiguous in exactly one of some memory formats.

    Raises: dimension (RuntimeError).
    Source: facts 1.15, torch 2.13.

    >>> dim_order((2, 3, 4, 5), (60, 1, 15, 3))
    (0, 2, 3, 1)
    """
    if unique is not False:
        formats = () if unique is True else unique
        ambiguous = 1 in shape or any(a == b for a, b in pairwise(strides))
        if ambiguous and sum(is_contiguous_in(shape, strides, one) for one in formats) != 1:
            raise LayoutError("dimension", f"dim_order: {shape} at {strides} does not have unique dim order")
    from .output_layout import sorted_permutation

    row_major = is_contiguous(shape, strides)
    last = len(shape) == 4 and is_channels_last(shape, strides)
    if row_major and not last:
        return tuple(range(len(shape)))
    if last and not row_major:
        return (0, 2, 3, 1)
    order = tuple(reversed(sorted_permutation(shape, (strides,))))
    if unique and not all(strides[a] > strides[b] > 0 for a, b in pairwise(order)):
        raise LayoutError("dimension", f"dim_order: {shape} at {strides} does not have unique dim order")
    return order
