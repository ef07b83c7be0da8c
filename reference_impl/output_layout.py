"""The layout of results: broadcasting, output strides of elementwise operators, and what "preserve" preserves.

One engine answers for clone, empty_like, arithmetic, comparisons, where and integer-tensor indexing: operands are
ranked by their strides, and the output is laid out densely in the order that the first operand with an opinion asks
for.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache

from .contiguity import is_channels_last, is_contiguous, is_non_overlapping_and_dense
from .errors import LayoutError
from .layout import CACHE, Shape, Strides, channels_last_strides, contiguous_strides


@lru_cache(CACHE)
def broadcast_shapes(*shapes: Shape) -> Shape:
    """Common shape of operands, lengths of 1 and missing leading dimensions stretched.

    Raises: broadcast (RuntimeError).
    Source: facts 3.5, torch 2.13.

    >>> broadcast_shapes((4, 1), (3,))
    (4, 3)
    """
    result: list[int] = []
    for shape in shapes:
        lead = len(shape) - len(result)
        if lead > 0:
            result[:0] = shape[:lead]
        for i in range(1, len(shape) - max(lead, 0) + 1):
            length = shape[-i]
            if length == 1 or result[-i] == length:
                continue
            if result[-i] != 1:
                raise LayoutError(
                    "broadcast",
                    f"shapes {shapes} cannot be broadcast together: {result[-i]} against {length} at dimension "
                    f"{len(result) - i} (facts 3.5)",
                )
            result[-i] = length
    return tuple(result)


@lru_cache(CACHE)
def broadcast_strides(shape: Shape, strides: Strides, target: Shape) -> Strides:
    """Strides of an operand stretched to `target`: 0 where it is repeated, its own everywhere else.

    Unlike `expand`, a missing leading dimension has stride 0 also where the target's length is 1.

    Source: facts 4.3.3, torch 2.13.

    >>> broadcast_strides((3, 1), (7, 2), (2, 3, 4))
    (0, 7, 0)
    """
    lead = len(target) - len(shape)
    return (0,) * lead + tuple([0 if n == 1 and target[lead + d] != 1 else strides[d] for d, n in enumerate(shape)])


def sorted_permutation(shape: Shape, operands: Sequence[Strides], reduced: Collection[int] = ()) -> list[int]:
    """Dimensions from innermost to outermost, as the operands' strides order them; `reduced` ones before all others.

    An insertion sort that must not be replaced: its comparison is not transitive, since operands with stride 0 have no
    opinion, and what it then answers depends on the order of its swaps.

    Shapes: every operand's strides are those over the whole output `shape`.
    Source: facts 4.3.3, torch 2.13.

    >>> sorted_permutation((2, 3, 4), [(1, 8, 2)])
    [0, 2, 1]
    """
    perm = list(range(len(shape) - 1, -1, -1))
    for i in range(1, len(perm)):
        k = i
        for j in range(i - 1, -1, -1):
            a, b = perm[j], perm[k]
            order = (b in reduced) - (a in reduced)
            for strides in operands if not order else ():
                sa, sb = strides[a], strides[b]
                if sa == 0 or sb == 0:
                    continue
                if sa < sb:
                    order = -1
                    break
                # Equal strides swap only where the inner dimension is the longer one: this keeps N1H1 shapes
                # channels-last (facts 4.3.5).
                if sa > sb or shape[a] > shape[b]:
                    order = 1
                    break
            if order > 0:
                perm[j], perm[k] = b, a
                k = j
            elif order < 0:
                break
    return perm


def walked(shape: Shape, operands: Sequence[Strides], reduced: Collection[int] = ()) -> list[int]:
    """Dimensions that are left to walk over, innermost first, where those that lie evenly in all operands are one.

    Shapes: every operand's strides are those over the whole `shape`.
    Source: torch 2.13, TensorIterator.

    >>> walked((2, 3, 4), [(12, 4, 1)]), walked((2, 3, 4), [(1, 2, 6), (12, 4, 1)]), walked((2, 1, 2), [(4, 9, 1)])
    ([2], [0, 1, 2], [2, 0])
    """
    left: list[int] = []
    length = 1
    for d in sorted_permutation(shape, operands, reduced):
        if shape[d] == 1:
            continue
        if left and all(length * strides[left[-1]] == strides[d] for strides in operands):
            length *= shape[d]
        else:
            left.append(d)
            length = shape[d]
    return left


@lru_cache(CACHE)
def dense_strides(shape: Shape, operands: tuple[Strides, ...]) -> Strides:
    """Strides of a dense output in the order of dimensions that the operands ask for.

    Shapes: every operand's strides are those over the whole output `shape`.
    Source: facts 4.3.3, torch 2.13.

    >>> dense_strides((2, 3), ((0, 1),)), dense_strides((3, 2), ((1, 8),))
    ((3, 1), (1, 3))
    """
    perm = sorted_permutation(shape, operands)
    if all(perm[i] == len(perm) - 1 - i for i in range(len(perm))):
        return contiguous_strides(shape)
    strides = [0] * len(shape)
    step = 1
    for d in perm:
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


@lru_cache(CACHE)
def preserved_strides(shape: Shape, strides: Strides) -> Strides:
    """Strides of a copy that preserves the format: the same where the layout is dense, else dense in the same order.

    Source: facts 4.1.4, torch 2.13.

    >>> preserved_strides((2, 3), (1, 2)), preserved_strides((2, 3), (6, 2)), preserved_strides((2, 3), (0, 1))
    ((1, 2), (3, 1), (3, 1))
    """
    if is_non_overlapping_and_dense(shape, strides):
        return strides
    return dense_strides(shape, (strides,))


@lru_cache(CACHE)
def output_strides(shape: Shape, operands: tuple[tuple[Shape, Strides], ...]) -> Strides:
    """Strides of an elementwise operator's fresh output of `shape`.

    Operands in argument order, without Python scalars; one whose dtype is not the common one enters with
    the strides of its converted copy (`preserved_strides`).

    Source: facts 4.3, torch 2.13.

    >>> output_strides((2, 3), (((2, 3), (1, 2)), ((3,), (1,))))
    (1, 2)
    >>> output_strides((2, 3, 4, 5), (((2, 3, 4, 5), (60, 1, 15, 3)), ((2, 3, 4, 5), (60, 20, 5, 1))))
    (60, 1, 15, 3)
    """
    if all(own == shape for own, _ in operands):
        if all(is_contiguous(shape, strides) for _, strides in operands):
            return contiguous_strides(shape)
        if len(shape) == 4 and all(is_channels_last(shape, strides) for _, strides in operands):
            return channels_last_strides(shape)
        first = operands[0][1]
        if all(strides == first for _, strides in operands) and is_non_overlapping_and_dense(shape, first):
            return first
    return dense_strides(shape, tuple([broadcast_strides(own, strides, shape) for own, strides in operands]))
