"""Who is wrong where a library and the oracle differ, as far as invariants tell, and eager code of a library's mode."""

from __future__ import annotations

from collections.abc import Sequence

from . import invariants
from .answers import AdapterFailed, Answer, Broken, Unsupported
from .both_sides import Batch
from .judge import Difference, judge
from .observation import Observation
from .program import Program
from .runner import Worker

STANDARD = "torch:cpu"
"""The adapter that defines layout: what it does is right, unless it breaks an invariant."""
SAME, OTHER, AS_EXPECTED = "does the same", "differs, too, but otherwise", "does as expected"
"""What eager code does where a mode of its library differs."""


def of_end(library: str, outcome: str) -> str:
    """The attribution of a program that could not be judged; empty where nothing can be told from how it ended."""
    return _breaks(library, invariants.CRASH) if outcome == "crash" else ""


def of_difference(
    library: str, program: Program, step: int, expected: Sequence[Observation], got: Sequence[Observation]
) -> str:
    """Which side breaks an invariant in a step whose observations differ.

    >>> x = Program((), ())
    >>> of_difference("tinytensor", x, -1, [Observation()], [Observation()])
    'tinytensor differs; no invariant is broken'
    """
    ours, theirs = (invariants.broken(program, side, step) for side in (expected, got))
    if alone := [sentence for sentence in theirs if sentence not in ours]:
        return _breaks(library, alone[0])
    if ours:
        also = "breaks it, too" if ours[0] in theirs else "does not"
        return f"PyTorch itself breaks an invariant ({ours[0]}); {library} {also}"
    if library == STANDARD:
        return "PyTorch differs from the reference; no invariant is broken"
    return f"{library} differs; no invariant is broken"


def _breaks(library: str, sentence: str) -> str:
    who = "PyTorch itself" if library == STANDARD else f"{library} differs and"
    return f"{who} breaks an invariant: {sentence}"


class Eager:
    """What a library does where it runs programs eagerly, beside a mode of it; started when it is first asked."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._is_up: bool | None = None

    def stop(self) -> None:
        """End its processes; quiet where there are none."""
        self._worker.stop()

    def says(self, cases: Sequence[tuple[Program, Difference | None, Sequence[Observation]]]) -> list[str]:
        """In words what it does with each program; empty where it cannot be asked.

        A case is a program, how the mode differs, and the oracle's observations.
        """
        said = [""] * len(cases)
        try:
            if self._is_up is None:
                self._is_up = False
                self._worker.start()
                self._is_up = True
            if not self._is_up:
                return said
            batch = Batch(self._worker, [program for program, _, _ in cases], lambda number: cases[number][2])
            for number, answer in batch.answers():
                said[number] = self._does(*cases[number], answer)
        except AdapterFailed:
            self._is_up = False  # failures say less then
        return [f"eager code ({self._worker.name}) {does}" if does else "" for does in said]

    def _does(
        self, program: Program, difference: Difference | None, expected: Sequence[Observation], answer: Answer
    ) -> str:
        if isinstance(answer, Unsupported):
            return ""
        if isinstance(answer, Broken):
            return OTHER
        verdicts = judge(program, expected, answer, self._worker.capabilities)
        found = [one for verdict in verdicts for one in verdict.differences]
        same = any(difference and one[:3] == difference[:3] and one.got == difference.got for one in found)
        return SAME if same else OTHER if found else AS_EXPECTED
