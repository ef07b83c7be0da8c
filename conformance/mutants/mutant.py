"""A mutant: a library with one small defect, as a frozen declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..classify import Event
from ..observation import Observation, TensorState
from ..situations import ALWAYS, Situation
from .wrongs import Wrong

Shown = Callable[[TensorState], TensorState]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A library that does one thing wrong: `does` in the place of some operations, or `shows` of every tensor.

    `operations` are those that go wrong, by PyTorch's names with spaces between, in the situation `when`. `like` is the
    thread of a real bug that the defect is modelled on. `base` is the adapter that does everything else right.
    """

    id: str
    sentence: str
    operations: str = ""
    does: Wrong | None = None
    when: Situation = ALWAYS
    shows: Shown | None = None
    like: str = ""
    base: str = "reference"

    def concerns(self, entry: str) -> bool:
        """Whether an operation, by its name in the table, is one of those that go wrong."""
        return entry in self.operations.split()

    def goes_wrong(self, event: Event) -> bool:
        """Whether the defect may show in a step."""
        return self.concerns(event.entry) and self.when(event)

    def is_reached(self, steps: Iterable[Event | None], observations: Sequence[Observation]) -> bool:
        """Whether a program can show the defect; one that cannot runs as on the library without it."""
        if self.shows is not None:
            states = (state for observation in observations for state in observation.values.values())
            return any(isinstance(state, TensorState) and self.shows(state) != state for state in states)
        return any(event is not None and self.goes_wrong(event) for event in steps)
