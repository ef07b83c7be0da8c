"""Any layout that views can reach, from a row of elements: for libraries that build no tensors of given strides.

Pure functions over layouts; strides, offset and length in elements. Standard library only.
"""

from __future__ import annotations

from .program import Ref, Slice, Step

X = Ref(0)
"""What each step works on: the row first, then the result of the step before."""


def needed_length(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> int:
    """Elements that a row should have, so that whole periods of the longest stride lie behind the offset.

    >>> needed_length((2, 3), (5, 1), 1)
    11
    """
    return offset + max((n * s for n, s in zip(shape, strides, strict=True) if n > 1 and s > 0), default=1)


def as_view_chain(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int, length: int
) -> tuple[Step, ...] | None:
    """Steps that make a view of a layout from a contiguous row of `length` elements; None where no views do.

    Each stride is reached by cutting what is there into periods and taking the begin of each, so that the memory that
    one dimension addresses must lie inside one period of the next longer: overlapping layouts have no such chain, nor
    have negative strides.

    >>> [step.op for step in as_view_chain((3, 2), (1, 4), 2, 12)]
    ['__getitem__', 'reshape', '__getitem__', 'permute']
    >>> as_view_chain((3, 3), (1, 1), 0, 12) is None
    True
    """
    if 0 in shape:
        return Step("__getitem__", (X, Slice(0, 0))), Step("reshape", (X, shape))
    longest_first = sorted(
        (d for d, n in enumerate(shape) if n > 1 and strides[d] != 0), key=lambda d: (-strides[d], -d)
    )
    cut = _cut([(shape[d], strides[d]) for d in longest_first], offset, length)
    if cut is None:
        return None
    steps = [*cut]
    in_order = sorted(longest_first)
    if in_order != longest_first:
        steps.append(Step("permute", (X, tuple(longest_first.index(d) for d in in_order))))
    if len(in_order) < len(shape):
        index = tuple(Slice() if d in in_order else None for d in range(len(shape)))
        steps.append(Step("__getitem__", (X, index)))
    if any(n > 1 and stride == 0 for n, stride in zip(shape, strides, strict=True)):
        steps.append(Step("expand", (X, shape)))
    return tuple(steps)


def _cut(dimensions: list[tuple[int, int]], offset: int, length: int) -> list[Step] | None:
    """Steps from a row to dimensions of (size, stride), longest stride first."""
    if not dimensions:
        return [Step("__getitem__", (X, Slice(offset, offset + 1))), Step("reshape", (X, ()))]
    steps: list[Step] = []
    done: tuple[int, ...] = ()
    for number, (size, stride) in enumerate(dimensions):
        if stride < 0:
            return None
        if number == len(dimensions) - 1:
            stop = offset + (size - 1) * stride + 1
            if stop > length:
                return None
            last = Slice(offset, stop, stride if stride > 1 else None)
            return [*steps, Step("__getitem__", (X, (*[Slice()] * number, last)))]
        # Whole periods, begun as late as they fit; what lies before the offset is cut off further in.
        start = min(offset, length - size * stride)
        if start < 0:
            return None
        if (start, size * stride) != (0, length):
            steps.append(Step("__getitem__", (X, (*[Slice()] * number, Slice(start, start + size * stride)))))
        done = (*done, size)
        steps.append(Step("reshape", (X, (*done, stride))))
        offset, length = offset - start, stride
    raise AssertionError("the last dimension ends the loop")
