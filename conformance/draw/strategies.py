"""Hypothesis strategies for programs and layouts, for the suite's own tests and anybody else's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from ..program import Program
from ..protocol import Adapter
from .layouts import Drawn as DrawnLayout
from .layouts import draw_layout
from .programs import draw_program

T = TypeVar("T")


@cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


class Drawn:
    """Choices through Hypothesis' `draw`."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        number: int = self._draw(_integers(low, high))
        return number

    def choice(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about that share of draws."""
        return self.integer(0, 99) >= 100 - percent


def layouts(*, negative: bool = False, shape: tuple[int, ...] | None = None) -> st.SearchStrategy[DrawnLayout]:
    """Shape, strides and offset, drawn together: permuted, stepped, padded, expanded, overlapping, channels_last.

    Strides and offset are in elements; `reach` is one past the last element addressed. `negative` allows negative
    strides, `shape` fixes the shape.

    >>> from hypothesis import find
    >>> layout = find(layouts(), lambda layout: len(layout.shape) == 2 and 0 in layout.strides)
    >>> len(layout.strides)
    2
    """

    @st.composite
    def strategy(draw: Callable[[st.SearchStrategy[Any]], Any]) -> DrawnLayout:
        return draw_layout(Drawn(draw), negative=negative, shape=shape)

    return strategy()


def programs(*, steps: int | None = None, oracle: Adapter | None = None) -> st.SearchStrategy[Program]:
    """Whole programs, each step drawn for what the oracle has after the one before; exactly `steps` of them if given.

    The oracle is the bundled one where none is given.

    >>> from hypothesis import find
    >>> program = find(programs(steps=1), lambda program: True)
    >>> program.check()
    >>> len(program.steps)
    1
    """

    @st.composite
    def strategy(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Program:
        return draw_program(Drawn(draw), oracle or _reference(), steps=steps).program

    return strategy()


def _reference() -> Adapter:
    from ..adapters import reference

    return reference.adapter()
