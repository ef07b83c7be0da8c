"""Operands of a case: how large they are, and how they come to lie as the layout's name says.

An operand is an input, row-major or with a negative stride, and at most one view of it. To widen it, add a line to
`SHAPES` or `LAYOUTS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stridecheck.conformance.program import ITEMSIZES, Ref, Slice, Step
from stridecheck.reference_impl.layout import contiguous_strides

Shape = tuple[int, ...]

SHAPES: Mapping[str, Mapping[str, Shape]] = {
    "matrix": {"small": (60, 60), "cache": (500, 500), "large": (2000, 2000), "pow2": (2048, 2048)},
    "batches": {"small": (1, 60, 60), "cache": (4, 250, 250), "large": (64, 250, 250)},
    "images": {"small": (1, 64, 7, 7), "cache": (1, 64, 56, 56), "large": (20, 64, 56, 56), "pow2": (16, 64, 64, 64)},
    "volumes": {"small": (1, 16, 4, 7, 7), "cache": (1, 16, 16, 31, 31), "large": (16, 16, 16, 31, 31)},
    "heads": {"small": (1, 4, 14, 64), "cache": (1, 8, 480, 64), "large": (16, 8, 480, 64)},
    "six": {"small": (4, 3, 5, 4, 5, 3), "cache": (8, 7, 9, 8, 9, 7), "large": (16, 12, 13, 11, 12, 13)},
}
"""Shapes of float32 operands by kind and size class: 14 kB (`small`), 1 MB (`cache`) and 16 MB (`large`). They are no
powers of two, whose lines fall into few sets of a cache; `pow2` shows what that costs. Other dtypes have as many bytes,
not elements."""


def shape_of(kind: str, size: str, dtype: str) -> Shape:
    """The shape of an operand.

    >>> shape_of("matrix", "large", "float32"), shape_of("matrix", "large", "uint8")
    ((2000, 2000), (4000, 4000))
    """
    shape, scale = SHAPES[kind][size], 4 / ITEMSIZES[dtype]
    if len(shape) == 2:
        return tuple(round(side * math.sqrt(scale)) for side in shape)
    return (max(1, round(shape[0] * scale)), *shape[1:])


@dataclass(frozen=True, slots=True)
class Layout:
    """How an operand is laid out: `lay` answers with the row-major input's shape, and the view of it (by its slot)."""

    says: str
    lay: Callable[[Shape, Ref], tuple[Shape, Step | None]]
    kind: str = ""
    """Kind of shapes that it goes with; empty for any."""
    strides: Callable[[Shape], tuple[Shape, int]] = lambda shape: (contiguous_strides(shape), 0)
    """The input's own strides and offset, where it is not row-major."""


def _row_major(shape: Shape, ref: Ref) -> tuple[Shape, Step | None]:
    return shape, None


def _permuted(order: tuple[int, ...]) -> Callable[[Shape, Ref], tuple[Shape, Step | None]]:
    """The view with dimensions in this order has the shape; the input has them in memory's order."""

    def lay(shape: Shape, ref: Ref) -> tuple[Shape, Step | None]:
        source = [0] * len(shape)
        for length, d in zip(shape, order, strict=True):
            source[d] = length
        return tuple(source), Step("permute", (ref, order))

    return lay


def _transposed(shape: Shape, ref: Ref) -> tuple[Shape, Step | None]:
    return (*shape[:-2], shape[-1], shape[-2]), Step("transpose", (ref, len(shape) - 2, len(shape) - 1))


def _columns(cut: Callable[[int], Slice], width: Callable[[int], int]) -> Callable[[Shape, Ref], tuple[Shape, Step]]:
    """Some columns of wider rows."""

    def lay(shape: Shape, ref: Ref) -> tuple[Shape, Step]:
        index = (*[Slice()] * (len(shape) - 1), cut(shape[-1]))
        return (*shape[:-1], width(shape[-1])), Step("__getitem__", (ref, index))

    return lay


def _offset(shape: Shape, ref: Ref) -> tuple[Shape, Step | None]:
    return (math.prod(shape) + 1,), Step("as_strided", (ref, shape, contiguous_strides(shape), 1))


def _expanded(shape: Shape, ref: Ref) -> tuple[Shape, Step | None]:
    return (1, *shape[1:]), Step("expand", (ref, shape))


def _reversed(shape: Shape) -> tuple[Shape, int]:
    first, *others = contiguous_strides(shape)
    return (-first, *others), first * (shape[0] - 1)


LAYOUTS: Mapping[str, Layout] = {
    "contiguous": Layout("row-major", _row_major),
    "transposed": Layout("the last two dimensions of a row-major tensor exchanged", _transposed),
    "stepped": Layout("every second column", _columns(lambda n: Slice(None, None, 2), lambda n: 2 * n)),
    "stepped_4": Layout("every fourth column", _columns(lambda n: Slice(None, None, 4), lambda n: 4 * n)),
    "padded": Layout("rows with 16 columns more in memory", _columns(lambda n: Slice(None, n), lambda n: n + 16)),
    "offset": Layout("row-major, from the second element of the storage on", _offset),
    "expanded": Layout("the first row, repeated with stride 0", _expanded),
    "reversed": Layout("rows in reverse, by a negative stride", _row_major, strides=_reversed),
    "nchw": Layout("NCHW, row-major", _row_major, "images"),
    "channels_last": Layout("NCHW in shape, NHWC in memory", _permuted((0, 3, 1, 2)), "images"),
    "ncdhw": Layout("NCDHW, row-major", _row_major, "volumes"),
    "channels_last_3d": Layout("NCDHW in shape, NDHWC in memory", _permuted((0, 4, 1, 2, 3)), "volumes"),
    "attention": Layout("batch, head, token, feature; tokens before heads in memory", _permuted((0, 2, 1, 3)), "heads"),
    "permuted_6d": Layout("six dimensions, mixed", _permuted((2, 0, 4, 1, 5, 3)), "six"),
}
"""Layouts of an operand by name."""
