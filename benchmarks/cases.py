"""The cases: one operation over one layout, dtype and size class, each a `Program` whose last step is timed.

`CASES` is the one list, for `stridecheck bench` and pytest-benchmark alike. To widen it, add a line to `OPERATIONS` or
`_DTYPES`, or to the layouts and shapes of `operands.py`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from stridecheck.conformance.program import ITEMSIZES, Argument, File, Input, MemoryFormat, Program, Ref, Step, Storage
from stridecheck.reference_impl.layout import contiguous_strides

from .operands import LAYOUTS, SHAPES, Shape, shape_of


class UnknownCase(Exception):
    """No case of that name; the message lists those that are near."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a timed step; a `dtype` or `fill` of its own where it is no number like the others."""

    shape: Shape
    layout: str
    dtype: str = ""
    fill: str = ""


Operands = Callable[[Shape, str], Sequence[Operand]]
"""The operands for a case's shape and layout."""

_MIXED = "mixed"
_SAYS = {_MIXED: "the first operand transposed, the second row-major"}


def _alike(number: int) -> Operands:
    """Operands that are all laid as the case says; `mixed` lays the first transposed, the second row-major."""

    def operands(shape: Shape, layout: str) -> Sequence[Operand]:
        if layout == _MIXED:
            return Operand(shape, "transposed"), Operand(shape, "contiguous")
        return [Operand(shape, layout)] * number

    return operands


_one = _alike(1)


def _into_row_major(shape: Shape, layout: str) -> Sequence[Operand]:
    return Operand(shape, "contiguous"), Operand(shape, layout)


def _image_and_filters(shape: Shape, layout: str) -> Sequence[Operand]:
    channels = shape[1]
    return Operand(shape, layout), Operand((channels, channels, 3, 3), layout)


def _table_and_indices(shape: Shape, layout: str) -> Sequence[Operand]:
    return Operand(shape, layout), Operand(shape[:1], "contiguous", "int64", "index1")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation to be timed: PyTorch's name, what follows its operands, and over which layouts and sizes."""

    says: str
    op: str
    layouts: tuple[str, ...]
    operands: Operands = _one
    args: Callable[[Sequence[Ref], Shape], tuple[Argument, ...]] = lambda refs, shape: tuple(refs)
    """The arguments, from the operands and the shape of the first."""
    kwargs: tuple[tuple[str, Argument], ...] = ()
    sizes: tuple[str, ...] = ("small", "cache", "large")
    fill: str = "ramp1"
    """Fill of the storages: products overflow and long sums are inexact over any but `grid1`."""
    quick: str = "large"
    """Size class that stands in the quick set."""
    kind: str = "matrix"
    """Kind of shapes, for layouts that go with any."""
    also: tuple[Callable[[Ref], Step], ...] = ()
    """Values that are made of the first operand and stand beside the operands in `args`: its storage, another view."""
    has_file: bool = False
    """Whether a file of the first operand's bytes is there, as the program's last storage."""


_COPIED = ("contiguous", "transposed", "stepped", "expanded", "channels_last")
_IN_PLACE = ("contiguous", "transposed", "stepped", "channels_last")
_ALL = (*LAYOUTS,)
_QUICK_LAYOUTS = (*_COPIED, "nchw", _MIXED)

_IMAGES = ("nchw", "channels_last")


def _method(name: str, *args: Argument) -> Callable[[Ref], Step]:
    return lambda ref: Step(name, (ref, *args))


def _window(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return (*refs, 3, 2)


def _last(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return (refs[-1],)


def _together(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return (tuple(refs),)


def _storage(says: str, op: str, kind: str = "untyped_storage") -> Operation:
    """An operation on the whole storage that an operand lies in."""
    return Operation(says, op, ("contiguous",), args=_last, also=(_method(kind),), quick="")


_CHANNELS_LAST = (("memory_format", MemoryFormat("channels_last")),)

OPERATIONS: Mapping[str, Operation] = {
    "copy": Operation("copy_ into a row-major tensor that is there already", "copy_", _ALL, _into_row_major),
    "contiguous": Operation("contiguous(): a row-major copy where one is needed", "contiguous", _ALL),
    "clone": Operation("clone(): a copy that keeps a dense layout", "clone", _ALL),
    "to_channels_last": Operation(
        "contiguous(memory_format=channels_last)", "contiguous", ("nchw",), kwargs=_CHANNELS_LAST
    ),
    "clone_channels_last": Operation(
        "clone(memory_format=channels_last)", "clone", ("nchw", "channels_last"), kwargs=_CHANNELS_LAST, quick=""
    ),
    "to_memory_format": Operation(
        "to(memory_format=channels_last)", "to", ("nchw", "channels_last"), kwargs=_CHANNELS_LAST, quick=""
    ),
    "relu": Operation("relu(x)", "relu", _COPIED),
    "relu_": Operation(
        "relu_(x), in place", "relu_", ("contiguous", "transposed", "stepped", "channels_last"), quick=""
    ),
    "add": Operation("x + y", "add", (*_COPIED, _MIXED), _alike(2)),
    "add_": Operation("x += y, in place", "add_", (*_IN_PLACE, _MIXED), _alike(2), quick=""),
    "mul": Operation("x * y", "mul", ("contiguous", "transposed", _MIXED), _alike(2), fill="grid1"),
    "sum_first": Operation(
        "sum(0), along the first dimension",
        "sum",
        _COPIED,
        args=lambda refs, shape: (*refs, 0),
        fill="grid1",
        quick="cache",
    ),
    "sum_last": Operation(
        "sum(-1), along the last dimension",
        "sum",
        _COPIED,
        args=lambda refs, shape: (*refs, -1),
        fill="grid1",
        quick="cache",
    ),
    "sum": Operation("sum(), of all elements", "sum", _COPIED, fill="grid1", sizes=("small", "cache"), quick=""),
    "softmax": Operation(
        "softmax(-1)",
        "softmax",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, -1),
        fill="grid1",
        quick="",
    ),
    "cat": Operation(
        "cat((x, y)), along the first dimension",
        "cat",
        _COPIED,
        _alike(2),
        args=lambda refs, shape: (tuple(refs),),
        quick="",
    ),
    "flip": Operation(
        "flip(0): rows in reverse",
        "flip",
        ("contiguous",),
        args=lambda refs, shape: (
            *refs,
            (0,),
        ),
        quick="",
    ),
    "index_select": Operation(
        "index_select(0, i): rows by number",
        "index_select",
        ("contiguous", "transposed", "stepped"),
        _table_and_indices,
        args=lambda refs, shape: (refs[0], 0, refs[1]),
        quick="",
    ),
    "view": Operation(
        "view(-1): no bytes move",
        "view",
        ("contiguous", "offset"),
        args=lambda refs, shape: (
            *refs,
            (-1,),
        ),
        quick="",
    ),
    "permute": Operation(
        "permute, all dimensions reversed: no bytes move",
        "permute",
        _COPIED,
        args=lambda refs, shape: (
            *refs,
            tuple(reversed(range(len(shape)))),
        ),
        sizes=("small", "large"),
        quick="",
    ),
    "matmul": Operation(
        "x @ y",
        "matmul",
        ("contiguous", "transposed", _MIXED, "stepped"),
        _alike(2),
        sizes=("small", "cache"),
        fill="grid1",
        quick="cache",
    ),
    "bmm": Operation(
        "x @ y, a batch of matrices",
        "matmul",
        ("contiguous", "transposed", _MIXED, "stepped"),
        _alike(2),
        sizes=("small", "cache"),
        fill="grid1",
        quick="",
        kind="batches",
    ),
    "conv2d": Operation(
        "conv2d, 3 x 3, 64 channels to 64",
        "conv2d",
        ("nchw", "channels_last"),
        _image_and_filters,
        kwargs=(("padding", 1),),
        sizes=("small", "cache"),
        fill="grid1",
        quick="cache",
    ),
    "batch_norm": Operation(
        "batch_norm with the statistics of the batch",
        "nn.functional.batch_norm",
        _IMAGES,
        args=lambda refs, shape: (*refs, None, None),
        kwargs=(("training", True),),
        sizes=("small", "cache"),
        fill="grid1",
        quick="",
    ),
    "max_pool2d": Operation(
        "max_pool2d, 3 x 3, every second place",
        "nn.functional.max_pool2d",
        _IMAGES,
        args=_window,
        fill="grid1",
        sizes=("small", "cache"),
        quick="",
    ),
    "avg_pool2d": Operation(
        "avg_pool2d, 3 x 3, every second place",
        "nn.functional.avg_pool2d",
        _IMAGES,
        args=_window,
        fill="grid1",
        sizes=("small", "cache"),
        quick="",
    ),
    "embedding": Operation(
        "embedding(i, table): rows by number",
        "nn.functional.embedding",
        ("contiguous", "transposed", "stepped"),
        _table_and_indices,
        args=lambda refs, shape: (refs[1], refs[0]),
        quick="",
    ),
    "storage_clone": _storage("clone() of the whole storage", "UntypedStorage.clone"),
    "storage_double": _storage("a storage of float32 as one of float64", "TypedStorage.double", "storage"),
    "storage_half": _storage("a storage of float32 as one of float16", "TypedStorage.half", "storage"),
    "from_file": Operation(
        "a file mapped privately as a storage: no bytes move before they are asked for",
        "UntypedStorage.from_file",
        ("contiguous",),
        args=lambda refs, shape: (File(1), False, 4 * math.prod(shape)),
        has_file=True,
        quick="",
    ),
    "from_file_shared": Operation(
        "a file mapped shared as a storage",
        "UntypedStorage.from_file",
        ("contiguous",),
        args=lambda refs, shape: (File(1), True, 4 * math.prod(shape)),
        has_file=True,
        quick="",
    ),
    "save_load": Operation(
        "save and load two tensors with storages of their own",
        "save_load",
        ("contiguous",),
        _alike(2),
        args=_together,
        quick="",
    ),
    "save_load_shared": Operation(
        "save and load two tensors that share a storage, which is written once",
        "save_load",
        ("contiguous",),
        args=_together,
        also=(_method("transpose", 0, 1),),
        quick="",
    ),
    "narrow": Operation(
        "narrow(0, 1, 5): no bytes move",
        "narrow",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, 0, 1, 5),
        sizes=("small", "large"),
        quick="",
    ),
    "unfold": Operation(
        "unfold(-1, 3, 1): overlapping windows, no bytes move",
        "unfold",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, -1, 3, 1),
        sizes=("small", "large"),
        quick="",
    ),
}
"""Operations by the name that they have in a case; several may be the same operation of PyTorch."""

_DTYPES: Mapping[str, tuple[str, ...]] = {
    "uint8": ("copy", "contiguous"),
    "float64": ("copy", "contiguous"),
}
"""Dtypes other than float32, where an element's size tells: the operations that are timed in them, large only."""

_POWERS = ("copy", "contiguous", "add")
"""Operations that are timed in sizes of powers of two as well."""


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
        return f"{OPERATIONS[self.operation].says}; {_SAYS.get(self.layout) or LAYOUTS[self.layout].says}"

    @property
    def is_quick(self) -> bool:
        """Whether the case is one of the quick set."""
        usual = self.dtype == "float32" and self.layout in _QUICK_LAYOUTS
        return usual and self.size == OPERATIONS[self.operation].quick

    @cached_property
    def shape(self) -> Shape:
        """Shape of the first operand."""
        return shape_of(_kind(self.operation, self.layout), self.size, self.dtype)

    @cached_property
    def program(self) -> Program:
        """The program: operands first, their views, then the one step that is timed."""
        spec = OPERATIONS[self.operation]
        operands = spec.operands(self.shape, self.layout)
        storages, inputs, refs = [], [], []
        steps: list[Step] = []
        for number, operand in enumerate(operands):
            dtype = operand.dtype or self.dtype
            shape, view = LAYOUTS[operand.layout].lay(operand.shape, Ref(number))
            storages.append(Storage(math.prod(shape) * ITEMSIZES[dtype], operand.fill or spec.fill))
            inputs.append(Input(dtype, shape, contiguous_strides(shape), 0, number))
            refs.append(Ref(number if view is None else len(operands) + len(steps)))
            steps += [] if view is None else [view]
        for made in spec.also:
            steps.append(made(refs[0]))
            refs.append(Ref(len(operands) + len(steps) - 1))
        if spec.has_file:
            storages.append(Storage(storages[0].nbytes, spec.fill, "file"))
        steps.append(Step(spec.op, spec.args(refs, self.shape), spec.kwargs))
        return Program(tuple(storages), tuple(inputs), tuple(steps), (f"bench:{self.name}",))

    @property
    def storage_bytes(self) -> int:
        """Bytes of all the storages that the case's inputs lie in."""
        return sum(storage.nbytes for storage in self.program.storages)

    def small(self) -> Case:
        """The same case in the smallest size class of its operation."""
        return Case(self.operation, self.layout, self.dtype, OPERATIONS[self.operation].sizes[0])


def _kind(operation: str, layout: str) -> str:
    laid = LAYOUTS.get(layout)
    return (laid.kind if laid else "") or OPERATIONS[operation].kind


def _cases() -> tuple[Case, ...]:
    found = [
        Case(name, layout, "float32", size)
        for name, spec in OPERATIONS.items()
        for layout in spec.layouts
        for size in (*spec.sizes, *(("pow2",) if name in _POWERS else ()))
        if size in SHAPES[_kind(name, layout)]
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

    One text may be several globs, with commas between them.

    Raises
    ------
    UnknownCase
        A glob matches no case; all that match none are named, each with what is near it.

    >>> [case.name for case in select(["matmul/mixed,narrow/*/*/small"])]  # doctest: +NORMALIZE_WHITESPACE
    ['matmul/mixed/float32/small', 'matmul/mixed/float32/cache',
     'narrow/contiguous/float32/small', 'narrow/transposed/float32/small']
    """
    patterns = [glob.strip() for text in globs for glob in text.split(",") if glob.strip()]
    if globs and not patterns:
        raise UnknownCase(f"no case is named by {', '.join(map(repr, globs))}; {_ALL_NAMES}")
    if cases is None:
        from .conversions import conversions

        cases = (*CASES, *conversions()) if patterns else CASES
    wanted: set[Case] = set()
    unknown: list[str] = []
    for glob in patterns:
        matching = [case for case in cases if _matches(case.name, glob)]
        wanted.update(matching)
        if not matching:
            unknown.append(_unknown(glob, cases))
    if unknown:
        raise UnknownCase("; ".join([*unknown, _ALL_NAMES]))
    chosen = [case for case in cases if not patterns or case in wanted]
    return [case for case in chosen if case.is_quick] if quick else chosen


def describe(case: Case) -> str:
    """One line about a case: its name, the shape, and what is done to which layout.

    >>> " ".join(describe(Case("sum_last", "stepped", "float32", "small")).split())
    'sum_last/stepped/float32/small 60x60 sum(-1), along the last dimension; every second column'
    """
    shape = "x".join(map(str, case.shape))
    return f"{case.name:<50} {shape:<18} {case.says}"


def _matches(name: str, glob: str) -> bool:
    return fnmatchcase(name, glob) or fnmatchcase(name, f"{glob.rstrip('/')}/*")


_ALL_NAMES = "`stridecheck bench --list` names all"


def _unknown(glob: str, cases: Sequence[Case]) -> str:
    names = [case.name for case in cases]
    beginnings = dict.fromkeys("/".join(name.split("/")[:depth]) for depth in (1, 2) for name in names)
    near = difflib.get_close_matches(glob.strip("*/"), [*beginnings, *names], 5, 0.5)
    hint = f"near it: {', '.join(near)}" if near else f"operations: {', '.join({c.operation: None for c in cases})}"
    return f"no case {glob!r}; {hint}"
