"""Does memory have more than one address? PyTorch's three-valued answers, and the exact one.

PyTorch refuses writes only where its own quick answer is certain; the exact decision tells which bytes of a write that
it allows are left unspecified.
"""

from enum import IntEnum
from functools import lru_cache
from math import gcd, prod

import numpy as np

from .contiguity import is_non_overlapping_and_dense
from .layout import CACHE, Layout, Shape, Strides, extent


class Internal(IntEnum):
    """PyTorch's answer to "do two indices of this layout reach the same element?"."""

    NO = 0
    YES = 1
    TOO_HARD = 2


class Mutual(IntEnum):
    """PyTorch's answer to "do these two tensors share memory?"."""

    NO = 0
    FULL = 1
    PARTIAL = 2
    TOO_HARD = 3


@lru_cache(CACHE)
def internal_overlap(shape: Shape, strides: Strides) -> Internal:
    """PyTorch's quick answer: no for dense layouts, yes for a repeated dimension of stride 0, else it does not know.

    Source: facts 2.9, torch 2.13.

    >>> internal_overlap((2, 3), (0, 1)), internal_overlap((3, 2), (1, 1)), internal_overlap((3, 2), (2, 1))
    (<Internal.YES: 1>, <Internal.TOO_HARD: 2>, <Internal.NO: 0>)
    """
    if is_non_overlapping_and_dense(shape, strides):
        return Internal.NO
    for length, stride in zip(shape, strides, strict=True):
        if length > 1 and stride == 0:
            return Internal.YES
    return Internal.TOO_HARD


@lru_cache(CACHE)
def mutual_overlap(a: Layout, a_itemsize: int, b: Layout, b_itemsize: int) -> Mutual:
    """PyTorch's quick answer for two layouts over one storage: only byte ranges of dense layouts are compared.

    Tensors over different storages never overlap for PyTorch, even where the memory is the same.

    Units: item sizes in bytes. Source: facts 2.10, torch 2.13.

    >>> mutual_overlap(Layout((3,), (1,), 0), 4, Layout((3,), (1,), 1), 4)
    <Mutual.PARTIAL: 2>
    """
    if 0 in a.shape or 0 in b.shape:
        return Mutual.NO
    if not (is_non_overlapping_and_dense(a.shape, a.strides) and is_non_overlapping_and_dense(b.shape, b.strides)):
        return Mutual.TOO_HARD
    a_begin, b_begin = a.offset * a_itemsize, b.offset * b_itemsize
    a_end, b_end = a_begin + prod(a.shape) * a_itemsize, b_begin + prod(b.shape) * b_itemsize
    if a_begin == b_begin and a_end == b_end:
        return Mutual.FULL if a.strides == b.strides else Mutual.PARTIAL
    return Mutual.PARTIAL if a_begin < b_end and b_begin < a_end else Mutual.NO


@lru_cache(CACHE)
def has_internal_overlap(shape: Shape, strides: Strides) -> bool:
    """Whether two indices reach the same element, decided exactly.

    Dimensions are merged and ordered by stride first; layouts whose every stride steps over all that lies inside it are
    settled by that, the others by enumerating addresses.

    Source: what `internal_overlap` (facts 2.9) asks, by the addresses of facts 1.3.

    >>> has_internal_overlap((3, 2), (1, 1)), has_internal_overlap((2, 3), (6, 2))
    (True, False)
    >>> has_internal_overlap((2, 2, 2), (3, 2, 4))
    False
    """
    if 0 in shape:
        return False
    dims = sorted((abs(s), n) for n, s in zip(shape, strides, strict=True) if n > 1)
    if not dims:
        return False
    if dims[0][0] == 0:
        return True
    reach = 0
    for stride, length in dims:
        if stride <= reach:
            break
        reach += stride * (length - 1)
    else:
        return False
    # More indices than addresses: two must meet.
    step = gcd(*(s for s, _ in dims))
    if prod(n for _, n in dims) > sum(s * (n - 1) for s, n in dims) // step + 1:
        return True
    if len(dims) == 2:
        (s0, n0), (s1, n1) = dims
        # i*s0 == j*s1 first at i = s1/g, j = s0/g.
        g = gcd(s0, s1)
        return s1 // g < n0 and s0 // g < n1
    positions = np.sort(addresses(tuple(n for _, n in dims), tuple(s for s, _ in dims)), axis=None)
    return bool((positions[1:] == positions[:-1]).any())


def addresses(shape: Shape, strides: Strides, offset: int = 0) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Element address of every index, as an array of `shape`.

    Source: facts 1.3, torch 2.13.

    >>> addresses((2, 2), (3, 1), 5).tolist()
    [[5, 6], [8, 9]]
    """
    result = np.array(offset, np.int64)
    for length, stride in zip(shape, strides, strict=True):
        result = result[..., None] + np.arange(length, dtype=np.int64) * stride
    return result


@lru_cache(CACHE)
def shares_memory(a: Layout, a_itemsize: int, b: Layout, b_itemsize: int) -> bool:
    """Whether two layouts over one storage reach a common byte, decided exactly.

    Units: item sizes in bytes. Source: what `mutual_overlap` (facts 2.10) asks, by the addresses of facts 1.3.

    >>> shares_memory(Layout((3,), (2,), 0), 4, Layout((3,), (2,), 1), 4)
    False
    """
    (a_begin, a_end), (b_begin, b_end) = extent(a), extent(b)
    if a_begin == a_end or b_begin == b_end:
        return False
    if a_begin * a_itemsize >= b_end * b_itemsize or b_begin * b_itemsize >= a_end * a_itemsize:
        return False
    dense_a = is_non_overlapping_and_dense(a.shape, a.strides)
    dense_b = is_non_overlapping_and_dense(b.shape, b.strides)
    if (dense_a and dense_b) or (a == b and a_itemsize == b_itemsize):
        return True
    low = min(a_begin * a_itemsize, b_begin * b_itemsize)
    high = max(a_end * a_itemsize, b_end * b_itemsize)
    return bool((byte_mask(a, a_itemsize, low, high) & byte_mask(b, b_itemsize, low, high)).any())


def byte_mask(layout: Layout, itemsize: int, low: int, high: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Which bytes of [low, high) a layout addresses.

    Shapes: the result has `high - low` elements. Units: bytes. Source: facts 1.3, torch 2.13.

    >>> byte_mask(Layout((2,), (2,)), 1, 0, 4).tolist()
    [True, False, True, False]
    """
    mask = np.zeros(high - low, np.bool_)
    shape = tuple(1 if s == 0 and n > 1 else n for n, s in zip(layout.shape, layout.strides, strict=True))
    first = addresses(shape, layout.strides, layout.offset).reshape(-1) * itemsize - low
    for k in range(itemsize):
        mask[first + k] = True
    return mask
