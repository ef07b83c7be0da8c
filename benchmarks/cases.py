"""The cases: one operation over one layout, dtype and size class, each a `Program` that ends with what is timed.

`CASES` is the one list, for `stridecheck bench` and pytest-benchmark alike. To widen it, add a line to `_DTYPES`, to
the operations of `operations.py`, or to the layouts and shapes of `operands.py`.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from stridecheck.conformance.program import ITEMSIZES, Input, Json, Program, Ref, Step, Storage

from .operands import LAYOUTS, SHAPES, Shape, shape_of
from .operations import MIXED, OPERATIONS

if TYPE_CHECKING:
    from stridecheck.conformance.protocol import Adapter

    from .prepare import Prepared


class UnknownCase(Exception):
    """No case of that name; the message lists those that are near."""


_SAYS = {MIXED: "the first operand transposed, the second row-major"}
_QUICK_LAYOUTS = ("contiguous", "transposed", "stepped", "expanded", "channels_last", "nchw", MIXED)

_DTYPES: Mapping[str, tuple[str, ...]] = {
    "uint8": ("copy", "contiguous"),
    "float64": ("copy", "contiguous"),
}
"""Dtypes other than float32, where an element's size tells: the operations that are timed in them, large only."""

_POWERS = ("copy", "contiguous", "add")
"""Operations that are timed in sizes of powers of two as well."""


@dataclass(frozen=True)
class AnyCase(ABC):
    """One thing to time, by its place on the axes: a program (`Case`), or what is none (`ModelCase`)."""

    operation: str
    layout: str
    dtype: str
    size: str

    @property
    def name(self) -> str:
        """operation/layout/dtype/size."""
        return f"{self.operation}/{self.layout}/{self.dtype}/{self.size}"

    @property
    @abstractmethod
    def says(self) -> str:
        """What is done, to which layout."""

    @property
    def is_quick(self) -> bool:
        """Whether the case is one of the quick set."""
        return False

    @property
    def recipe(self) -> Mapping[str, Json]:
        """What a record holds of it, so that it can be done again: the program, where it is one."""
        return {}

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Shape of the first operand."""

    @property
    @abstractmethod
    def held_bytes(self) -> int:
        """Bytes that one library holds while it is timed, roughly: what goes in and what comes out."""

    @abstractmethod
    def preparer(self, oracle: Adapter | None) -> Callable[[Any], Prepared]:
        """What makes the case ready on one library's adapter; answers are compared with the oracle's, if given.

        It raises `Unsupported`, `CaseFailed` or `MemoryError`.
        """


@dataclass(frozen=True)
class Case(AnyCase):
    """An operation of PyTorch's, as a program.

    >>> case = Case("copy", "stepped", "float32", "small")
    >>> case.name, case.shape
    ('copy/stepped/float32/small', (60, 60))
    >>> [step.op for step in case.program.steps]
    ['__getitem__', 'copy_']
    """

    @property
    def says(self) -> str:
        """What is done, to which layout."""
        return f"{OPERATIONS[self.operation].says}; {_SAYS.get(self.layout) or LAYOUTS[self.layout].says}"

    @property
    def is_quick(self) -> bool:
        """Whether the case is one of the quick set."""
        usual = self.dtype == "float32" and self.layout in _QUICK_LAYOUTS
        return usual and self.size == OPERATIONS[self.operation].quick

    @property
    def shape(self) -> Shape:
        """Shape of the first operand."""
        return shape_of(_kind(self.operation, self.layout), self.size, self.dtype)

    @cached_property
    def program(self) -> Program:
        """The program: operands first, their views, then what is timed."""
        spec = OPERATIONS[self.operation]
        operands = spec.operands(self.shape, self.layout)
        storages, inputs, refs = [], [], []
        steps: list[Step] = []
        for number, operand in enumerate(operands):
            dtype = operand.dtype or self.dtype
            shape, view = LAYOUTS[operand.layout].lay(operand.shape, Ref(number))
            storages.append(Storage(math.prod(shape) * ITEMSIZES[dtype], operand.fill or spec.fill))
            inputs.append(Input(dtype, shape, *LAYOUTS[operand.layout].strides(shape), number))
            refs.append(Ref(number if view is None else len(operands) + len(steps)))
            steps += [] if view is None else [view]
        for made in spec.also:
            steps.append(made(refs[0]))
            refs.append(Ref(len(operands) + len(steps) - 1))
        if spec.has_file:
            storages.append(Storage(storages[0].nbytes, spec.fill, "file"))
        steps.append(Step(spec.op, spec.args(refs, self.shape), spec.kwargs))
        for then in spec.chain:
            steps.append(then(Ref(len(operands) + len(steps) - 1)))
        return Program(tuple(storages), tuple(inputs), tuple(steps), (f"bench:{self.name}",))

    @property
    def timed(self) -> int:
        """How many of the program's last steps are timed, together."""
        return 1 + len(OPERATIONS[self.operation].chain)

    @property
    def recipe(self) -> Mapping[str, Json]:
        """The program."""
        return self.program.to_json()

    @property
    def held_bytes(self) -> int:
        """Bytes of the storages, and of a result that is as large as the first operand."""
        output = math.prod(self.shape) * ITEMSIZES[self.dtype]
        return output + sum(storage.nbytes for storage in self.program.storages)

    def preparer(self, oracle: Adapter | None) -> Callable[[Any], Prepared]:
        """The program set up, run once and compared."""
        from .prepare import expected_answer, prepare  # they take a while to import, for a list of names in vain

        expected = None if oracle is None else expected_answer(self.program, oracle, self.timed)
        return partial(prepare, self.program, expected=expected, timed=self.timed)

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


def select(globs: Sequence[str] = (), *, quick: bool = False, cases: Sequence[AnyCase] | None = None) -> list[AnyCase]:
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
        from .model_cases import model_cases

        cases = (*CASES, *conversions(), *model_cases()) if patterns else CASES
    wanted: set[AnyCase] = set()
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


def describe(case: AnyCase) -> str:
    """One line about a case: its name, the shape, and what is done to which layout.

    >>> " ".join(describe(Case("sum_last", "stepped", "float32", "small")).split())
    'sum_last/stepped/float32/small 60x60 sum(-1), along the last dimension; every second column'
    """
    shape = "x".join(map(str, case.shape))
    return f"{case.name:<50} {shape:<18} {case.says}"


def _matches(name: str, glob: str) -> bool:
    return fnmatchcase(name, glob) or fnmatchcase(name, f"{glob.rstrip('/')}/*")


_ALL_NAMES = "`stridecheck bench --list` names all"


def _unknown(glob: str, cases: Sequence[AnyCase]) -> str:
    names = [case.name for case in cases]
    beginnings = dict.fromkeys("/".join(name.split("/")[:depth]) for depth in (1, 2) for name in names)
    near = difflib.get_close_matches(glob.strip("*/"), [*beginnings, *names], 5, 0.5)
    return f"no case {glob!r}" + (f"; near it: {', '.join(near)}" if near else "")
