"""The cases: one operation over one layout, dtype and size class, each a `Program` whose last step is timed.

`CASES` is the one list, for `stridecheck bench` and pytest-benchmark alike. To widen it, add a line to `LAYOUTS`,
`OPERATIONS`, `SIDES` or `_DTYPES`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from stridecheck.conformance.program import ITEMSIZES, Argument, Input, MemoryFormat, Program, Ref, Slice, Step, Storage
from stridecheck.reference_impl.layout import contiguous_strides

Shape = tuple[int, ...]


class UnknownCase(Exception):
    """No case of that name; the message lists those that are near."""


@dataclass(frozen=True, slots=True)
class Laid:
    """How an operand comes to its layout: a row-major input of some shape, then views of it."""

    says: str
    ndim: int
    """Dimensions of the operand."""


LAYOUTS: Mapping[str, Laid] = {
    "contiguous": Laid("row-major", 2),
    "transposed": Laid("rows and columns of a row-major tensor exchanged", 2),
    "stepped": Laid("every second column", 2),
    "expanded": Laid("one row, repeated with stride 0", 2),
    "mixed": Laid("the first operand transposed, the second row-major", 2),
    "channels_last": Laid("NCHW in shape, NHWC in memory", 4),
    "nchw": Laid("NCHW, row-major", 4),
}
"""Layouts of the operands by name; all operands are laid alike, but for `mixed`."""

SIDES: Mapping[str, int] = {"small": 60, "cache": 500, "large": 2000}
"""Rows and columns of a float32 matrix in each size class: 14 kB, 1 MB and 16 MB. No powers of two, whose lines fall
into few sets of a cache; other dtypes have as many bytes, not elements."""

_IMAGES: Mapping[str, tuple[int, int]] = {"small": (1, 7), "cache": (1, 56), "large": (20, 56)}
"""Batch and side of the float32 images in each size class, of `_CHANNELS` channels: about the bytes of the matrices."""
_CHANNELS = 64


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation to be timed: PyTorch's name, what follows its operands, and over which layouts and sizes."""

    says: str
    op: str
    layouts: tuple[str, ...]
    operands: int = 1
    args: tuple[Argument, ...] = ()
    kwargs: tuple[tuple[str, Argument], ...] = ()
    sizes: tuple[str, ...] = tuple(SIDES)
    fill: str = "ramp1"
    """Fill of the storages: products overflow and long sums are inexact over any but `grid1`."""
    quick: str = "large"
    """Size class that stands in the quick set."""


_COPIED = ("contiguous", "transposed", "stepped", "expanded", "channels_last")

OPERATIONS: Mapping[str, Operation] = {
    "copy": Operation("copy_ into a row-major tensor that is there already", "copy_", _COPIED),
    "contiguous": Operation("contiguous(): a row-major copy where one is needed", "contiguous", _COPIED),
    "clone": Operation("clone(): a copy that keeps a dense layout", "clone", _COPIED),
    "to_channels_last": Operation(
        "contiguous(memory_format=channels_last)",
        "contiguous",
        ("nchw",),
        kwargs=(("memory_format", MemoryFormat("channels_last")),),
    ),
    "relu": Operation("relu(x)", "relu", _COPIED),
    "add": Operation("x + y", "add", (*_COPIED, "mixed"), operands=2),
    "mul": Operation("x * y", "mul", ("contiguous", "transposed", "mixed"), operands=2, fill="grid1"),
    "sum_first": Operation("sum(0), along the first dimension", "sum", _COPIED, args=(0,), fill="grid1", quick="cache"),
    "sum_last": Operation("sum(-1), along the last dimension", "sum", _COPIED, args=(-1,), fill="grid1", quick="cache"),
    "matmul": Operation(
        "x @ y",
        "matmul",
        ("contiguous", "transposed", "mixed", "stepped"),
        operands=2,
        sizes=("small", "cache"),
        fill="grid1",
        quick="cache",
    ),
    "conv2d": Operation(
        "conv2d, 3 x 3, 64 channels to 64",
        "conv2d",
        ("nchw", "channels_last"),
        operands=2,
        kwargs=(("padding", 1),),
        sizes=("small", "cache"),
        fill="grid1",
        quick="cache",
    ),
}
"""Operations by the name that they have in a case; several may be the same operation of PyTorch."""

_DTYPES: Mapping[str, tuple[str, ...]] = {
    "uint8": ("copy", "contiguous"),
    "float64": ("copy", "contiguous"),
}
"""Dtypes other than float32, where an element's size tells: the operations that are timed in them, large only."""


@dataclass(frozen=True)
class Case:
    """One thing to time, by its place on the axes.

    >>> case = Case("copy", "stepped", "float32", "small")
    >>> case.name, case.shape
    ('copy/stepped/float32/small', (60, 60))
    >>> [step.op for step in case.program.steps]
    ['__getitem__', 'copy_']
    """

    operation: str
    layout: str
    dtype: str
    size: str

    @property
    def name(self) -> str:
        """operation/layout/dtype/size."""
        return f"{self.operation}/{self.layout}/{self.dtype}/{self.size}"

    @property
    def says(self) -> str:
        """What is done, to which layout."""
        return f"{OPERATIONS[self.operation].says}; {LAYOUTS[self.layout].says}"

    @property
    def is_quick(self) -> bool:
        """Whether the case is one of the quick set."""
        return self.dtype == "float32" and self.size == OPERATIONS[self.operation].quick

    @cached_property
    def shape(self) -> Shape:
        """Shape of the first operand."""
        return self._shape(LAYOUTS[self.layout].ndim)

    @cached_property
    def program(self) -> Program:
        """The program: operands first, their views, then the one step that is timed."""
        return _Builder(self).program()

    @property
    def storage_bytes(self) -> int:
        """Bytes of all the storages that the case's inputs lie in."""
        return sum(storage.nbytes for storage in self.program.storages)

    def small(self) -> Case:
        """The same case in the smallest size class of its operation."""
        return Case(self.operation, self.layout, self.dtype, OPERATIONS[self.operation].sizes[0])

    def _shape(self, ndim: int) -> Shape:
        scale = 4 / ITEMSIZES[self.dtype]
        if ndim == 2:
            side = round(SIDES[self.size] * math.sqrt(scale))
            return side, side
        batch, side = _IMAGES[self.size]
        return max(1, round(batch * scale)), _CHANNELS, side, side


class _Builder:
    """Gathers the operands of one case: slots of views are known only when all inputs are."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._spec = OPERATIONS[case.operation]
        self._inputs: list[Shape] = []
        self._views: list[tuple[int, Step | None]] = []
        """For each operand its input, and the view of it that is used."""

    def program(self) -> Program:
        """The whole program."""
        case, spec = self._case, self._spec
        if spec.op == "copy_":
            self._operand("contiguous" if LAYOUTS[case.layout].ndim == 2 else "nchw", case.shape)
            self._operand(case.layout, case.shape)
        elif spec.op == "conv2d":
            self._operand(case.layout, case.shape)
            self._operand(case.layout, (_CHANNELS, _CHANNELS, 3, 3))
        else:
            for number in range(spec.operands):
                layout = case.layout if case.layout != "mixed" else ("transposed", "contiguous")[number]
                self._operand(layout, case.shape)
        return self._assembled()

    def _operand(self, layout: str, shape: Shape) -> None:
        """Add an operand of that layout and shape."""
        source, step = _laid(layout, shape, Ref(len(self._inputs)))
        self._views.append((len(self._inputs), step))
        self._inputs.append(source)

    def _assembled(self) -> Program:
        case, spec = self._case, self._spec
        storages, inputs, operands = [], [], []
        steps: list[Step] = []
        for number, shape in enumerate(self._inputs):
            storages.append(Storage(math.prod(shape) * ITEMSIZES[case.dtype], spec.fill))
            inputs.append(Input(case.dtype, shape, contiguous_strides(shape), 0, number))
        for number, step in self._views:
            operands.append(Ref(number if step is None else len(inputs) + len(steps)))
            if step is not None:
                steps.append(step)
        steps.append(Step(spec.op, (*operands, *spec.args), spec.kwargs))
        return Program(tuple(storages), tuple(inputs), tuple(steps), (f"bench:{case.name}",))


def _laid(layout: str, shape: Shape, ref: Ref) -> tuple[Shape, Step | None]:
    """Shape of the row-major input, and the view of it that has `layout` and `shape`."""
    match layout:
        case "transposed":
            return shape[::-1], Step("transpose", (ref, 0, 1))
        case "stepped":
            rows, columns = shape
            return (rows, 2 * columns), Step("__getitem__", (ref, (Slice(), Slice(None, None, 2))))
        case "expanded":
            return (1, *shape[1:]), Step("expand", (ref, shape))
        case "channels_last":
            batch, channels, height, width = shape
            return (batch, height, width, channels), Step("permute", (ref, (0, 3, 1, 2)))
    return shape, None


def _cases() -> tuple[Case, ...]:
    found = [
        Case(name, layout, "float32", size)
        for name, spec in OPERATIONS.items()
        for layout in spec.layouts
        for size in spec.sizes
    ]
    found += [
        Case(name, layout, dtype, "large")
        for dtype, names in _DTYPES.items()
        for name in names
        for layout in OPERATIONS[name].layouts
    ]
    return tuple(found)


CASES: Sequence[Case] = _cases()
"""Every case, in the order in which they are timed."""


def select(globs: Sequence[str] = (), *, quick: bool = False, cases: Sequence[Case] | None = None) -> list[Case]:
    """Cases that match any of the globs (all of `CASES` where there are none), of the quick set only if asked for.

    A glob may leave out what comes last: `copy` and `copy/transposed` are whole operations and layouts. Large layout
    conversions (`copy.*`, see `conversions.py`) are chosen by globs only.

    Raises
    ------
    UnknownCase
        A glob matches no case.

    >>> [case.name for case in select(["matmul/mixed"])]
    ['matmul/mixed/float32/small', 'matmul/mixed/float32/cache']
    """
    if cases is None:
        from .conversions import conversions

        cases = (*CASES, *conversions()) if globs else CASES
    wanted: set[Case] = set()
    for glob in globs:
        matching = [case for case in cases if _matches(case.name, glob)]
        if not matching:
            raise UnknownCase(_unknown(glob, cases))
        wanted.update(matching)
    chosen = [case for case in cases if not globs or case in wanted]
    return [case for case in chosen if case.is_quick] if quick else chosen


def describe(case: Case) -> str:
    """One line about a case: its name, the shape, and what is done to which layout.

    >>> describe(Case("sum_last", "stepped", "float32", "small"))
    'sum_last/stepped/float32/small            60x60         sum(-1), along the last dimension; every second column'
    """
    shape = "x".join(map(str, case.shape))
    return f"{case.name:<42}{shape:<14}{case.says}"


def _matches(name: str, glob: str) -> bool:
    return fnmatchcase(name, glob) or fnmatchcase(name, f"{glob.rstrip('/')}/*")


def _unknown(glob: str, cases: Sequence[Case]) -> str:
    names = [case.name for case in cases]
    beginnings = dict.fromkeys("/".join(name.split("/")[:depth]) for depth in (1, 2) for name in names)
    near = difflib.get_close_matches(glob.strip("*/"), [*beginnings, *names], 5, 0.5)
    hint = (
        f"near it: {', '.join(near)}" if near else f"operations: {', '.join(dict.fromkeys(c.operation for c in cases))}"
    )
    return f"no case {glob!r}; {hint}; `stridecheck bench --list` names all"
