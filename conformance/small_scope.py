"""Every small layout with every small argument: one-step programs that leave nothing out within their bounds.

Defects show in small cases: sizes 0 to 3, one or two dimensions, arguments just inside and just outside of what is
allowed. What `exhaustive.py` has in tens of thousands for `view`, this has for each operation in hundreds. Both
together are what `check --exhaustive` runs, and a report says how many they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, product
from typing import TypeAlias

from stridecheck.reference_impl.layout import Layout

from . import exhaustive
from .exhaustive import dense_layouts, shapes
from .layout import extent
from .program import Argument, Input, MemoryFormat, Program, Ref, Slice, Step, Storage

Arguments: TypeAlias = tuple[Argument, ...]

IMAGES = (
    (1, 1, 1, 1),
    (1, 2, 1, 1),
    (2, 1, 2, 1),
    (1, 2, 2, 1),
    (2, 2, 1, 2),
    (1, 2, 2, 2),
    (0, 2, 2, 2),
    (2, 0, 2, 1),
)
"""Shapes of images in which memory formats are ambiguous, or are not."""
GAPPED = (
    Layout((2,), (2,), 1), Layout((3,), (0,), 1), Layout((1,), (7,), 2), Layout((2, 2), (4, 2), 0),
    Layout((2, 3), (4, 1), 1), Layout((2, 2), (1, 1), 0), Layout((3, 2), (0, 1), 1), Layout((2, 1), (3, 5), 0),
    Layout((2, 2), (2, 0), 1),
)  # fmt: skip
"""Layouts with gaps, overlap, stride 0 and offsets."""


def layouts() -> Iterator[Layout]:
    """Dense layouts up to two dimensions of sizes 0 to 3, layouts with gaps, and images in both memory formats."""
    yield from dense_layouts(2)
    yield from GAPPED
    for shape in IMAGES:
        _, c, h, w = shape
        yield Layout(shape, (max(c, 1) * h * w, h * w, w, 1), 0)
        yield Layout(shape, (h * w * c, 1, w * c, c), 0)


def _dims(layout: Layout) -> range:
    """Every dimension, and one on either side that is not there."""
    rank = len(layout.shape)
    return range(-rank - 1, rank + 1)


def _each_dim(layout: Layout) -> Iterator[Arguments]:
    yield from ((dim,) for dim in _dims(layout))


def _new_dims(layout: Layout) -> Iterator[Arguments]:
    yield from ((dim,) for dim in range(-len(layout.shape) - 2, len(layout.shape) + 2))


def _two_dims(layout: Layout) -> Iterator[Arguments]:
    yield from product(range(len(layout.shape) + 1), repeat=2)


def _targets(layout: Layout) -> Iterator[Arguments]:
    yield from ((shape,) for shape in shapes(2, (-1, 0, 1, 2, 3)))


def _expansions(layout: Layout) -> Iterator[Arguments]:
    if len(layout.shape) < 3:
        yield from ((shape,) for shape in product((-1, 1, 2, 3), repeat=2))


def _places(layout: Layout) -> Iterator[Arguments]:
    for dim, size in enumerate(layout.shape):
        yield from ((dim, index) for index in range(-size - 1, size + 1))


def _ranges(layout: Layout) -> Iterator[Arguments]:
    for dim, size in enumerate(layout.shape[:2]):
        yield from ((dim, start, length) for start in range(-1, size + 1) for length in range(size + 2 - max(start, 0)))


def _slices(layout: Layout) -> Iterator[Arguments]:
    if layout.shape:
        bounds = (None, -2, 0, 1, 4)
        yield from (((Slice(start, stop, step),),) for start in bounds for stop in bounds for step in (None, 2))


def _windows(layout: Layout) -> Iterator[Arguments]:
    for dim, size in enumerate(layout.shape[:2]):
        yield from ((dim, window, step) for window in range(size + 2) for step in (0, 1, 2))


def _diagonals(layout: Layout) -> Iterator[Arguments]:
    if len(layout.shape) > 1:
        yield from ((offset, first, second) for offset in (-1, 0, 2) for first, second in ((0, 1), (1, 0), (0, 0)))


def _pieces(layout: Layout) -> Iterator[Arguments]:
    for dim, _ in enumerate(layout.shape[:2]):
        yield from ((count, dim) for count in (0, 1, 2, 4))


def _restridings(layout: Layout) -> Iterator[Arguments]:
    """Every shape of sizes 0 to 2 under every strides of 0 to 2, where the tensor begins and one element on."""
    for shape in shapes(2, (0, 1, 2)):
        for strides in product((0, 1, 2), repeat=len(shape)):
            yield shape, strides
            yield shape, strides, layout.offset + 1


def _nothing(layout: Layout) -> Iterator[Arguments]:
    yield ()


def _kept(layout: Layout) -> Iterator[Arguments]:
    yield from ((dim, keep) for dim in range(len(layout.shape)) for keep in (False, True))


OPERATIONS: dict[str, Callable[[Layout], Iterator[Arguments]]] = {
    "view": _targets, "unsqueeze": _new_dims, "squeeze": _each_dim, "transpose": _two_dims, "expand": _expansions,
    "select": _places, "narrow": _ranges, "__getitem__": _slices, "unfold": _windows, "diagonal": _diagonals,
    "split": _pieces, "chunk": _pieces, "tensor_split": _pieces, "contiguous": _nothing, "clone": _nothing,
    "ravel": _nothing, "relu": _nothing, "neg_": _nothing, "empty_like": _nothing, "sum": _kept, "cumsum": _each_dim,
    "flip": _each_dim, "sort": _each_dim, "fill_": lambda layout: iter(((2,),)), "t": _nothing,
    "squeeze_": _each_dim, "nonzero": _nothing, "unbind": _each_dim, "as_strided": _restridings,
}  # fmt: skip
"""Each operation with all arguments that are tried on a layout."""
FORMATTED = ("contiguous", "clone", "to", "empty_like")
FORMATS = ("contiguous_format", "channels_last", "preserve_format")


def programs() -> Iterator[Program]:
    """One step each, on one float32 tensor.

    >>> sum(1 for _ in programs()) > 3_000
    True
    """
    for layout in layouts():
        storage = Storage(4 * (extent(*layout)[1] + layout.offset * (0 in layout.shape)))
        inputs = (Input("float32", layout.shape, layout.strides, layout.offset),)
        for name, arguments in OPERATIONS.items():
            for args in arguments(layout):
                yield Program((storage,), inputs, (Step(name, (Ref(0), *args)),))
        for name, format in product(FORMATTED, FORMATS):
            step = Step(name, (Ref(0),), (("memory_format", MemoryFormat(format)),))
            yield Program((storage,), inputs, (step,))


def everything() -> Iterator[Program]:
    """All programs of the exhaustive source: every view target of every small layout, then every small argument."""
    return chain(exhaustive.programs(), programs())


def counted() -> str:
    """How much that is, in words and numbers that were counted.

    >>> counted().startswith("51,049 pairs of a layout (up to 4 dimensions of sizes 0 to 3)")
    True
    """
    views = sum(1 for _ in exhaustive.programs())
    steps = Counter(program.steps[0].op for program in programs())
    return (
        f"{views:,} pairs of a layout (up to 4 dimensions of sizes 0 to 3) and a shape of as many elements, and "
        f"{sum(steps.values()):,} single steps: {len(steps)} operations with every argument in and just out of bounds "
        f"on {sum(1 for _ in layouts())} layouts (up to 2 dimensions of sizes 0 to 3, {len(GAPPED)} with gaps or "
        f"overlap, {2 * len(IMAGES)} images), {steps['view']:,} of view, {steps['expand']:,} of expand, "
        f"{steps['__getitem__']:,} of slices, {steps['unfold']:,} of unfold, {steps['as_strided']:,} of as_strided"
    )
