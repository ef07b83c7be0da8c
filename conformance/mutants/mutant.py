"""A mutant: a library with one small defect, as a frozen declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..classify import Event
from ..observation import Observation, TensorState
from ..operations import OPERATIONS
from ..situations import ALWAYS, Situation
from .wrongs import Wrong

Shown = Callable[[TensorState], TensorState]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A library that does one thing wrong: `does` in the place of some operations, or `shows` of every tensor.

    `operations` are those that go wrong in the situation `when`: PyTorch's names with spaces between, groups of them
    in brackets. `like` is the thread of a real bug that the defect is modelled on. `base` is the adapter that does
    everything else right.
    """

    id: str
    sentence: str
    operations: str = ""
    does: Wrong | None = None
    when: Situation = ALWAYS
    shows: Shown | None = None
    like: str = ""
    base: str = "reference"

    @property
    def entries(self) -> frozenset[str]:
        """Names in the table of the operations that go wrong."""
        return _entries(self.operations)

    def concerns(self, entry: str) -> bool:
        """Whether an operation, by its name in the table, is one of those that go wrong."""
        return entry in self.entries

    def goes_wrong(self, event: Event) -> bool:
        """Whether the defect may show in a step."""
        return self.concerns(event.entry) and self.when(event)

    def is_reached(self, steps: Iterable[Event | None], observations: Sequence[Observation]) -> bool:
        """Whether a program can show the defect; one that cannot runs as on the library without it."""
        if self.shows is not None:
            states = (state for observation in observations for state in observation.values.values())
            return any(isinstance(state, TensorState) and self.shows(state) != state for state in states)
        return any(event is not None and self.goes_wrong(event) for event in steps)


@lru_cache(maxsize=512)
def _entries(operations: str) -> frozenset[str]:
    """The names that are written out, and those of the groups in brackets.

    >>> sorted(_entries("cat [joins]"))[:3]
    ['block_diag', 'cartesian_prod', 'cat']
    """
    names = re.sub(r"\[[^]]*\]", " ", operations).split()
    groups = re.findall(r"\[([^]]*)\]", operations)
    return frozenset([*names, *[name for name, operation in OPERATIONS.items() if operation.group in groups]])
