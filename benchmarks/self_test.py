"""How far comparisons can be trusted on this machine: runs of the same code, apart in time, and planted slow-downs.

Each pair is two complete runs through the path that every comparison takes. What a pair of the same code calls slower
or faster is a false alarm; a run whose calls were made to take longer should be called slower, case by case.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stridecheck.conformance.check import Progress
from stridecheck.reports.compare import compare_timings
from stridecheck.reports.run import Run, load
from stridecheck.reports.text import count

from .bench import Options, bench

PLANTED = 0.1
"""The slow-down that must be found."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Verdicts counted over all pairs and cases."""

    same: Counter[str]
    """Of the same code twice."""
    planted: Counter[str]
    """Of code whose calls take `PLANTED` longer."""

    @property
    def false_alarms(self) -> float:
        """Part of unchanged cases that are called slower or faster."""
        return (self.same["slower"] + self.same["faster"]) / (self.same.total() or 1)

    @property
    def undecided(self) -> float:
        """Part of unchanged cases that are called neither changed nor the same."""
        return self.same["cannot tell"] / (self.same.total() or 1)

    @property
    def found(self) -> float:
        """Part of planted slow-downs that are found."""
        return self.planted["slower"] / (self.planted.total() or 1)

    def lines(self) -> Iterator[str]:
        """The rates in words."""
        same, planted = (count(of.total(), "comparison") for of in (self.same, self.planted))
        yield f"same code, {same}: {self.false_alarms:.1%} false alarms, {self.undecided:.1%} cannot tell"
        yield f"{PLANTED:.0%} slower, {planted}: {self.found:.1%} found"


def self_test(options: Options, pairs: int, out: Path, progress: Progress) -> Rates:
    """Run `pairs` pairs of complete runs of the same code, and as many planted slow-downs, below the directory `out`.

    The runs follow one another; each is compared with the one before it and, slowed down, with itself.
    """
    rates = Rates(Counter(), Counter())
    before: Run | None = None
    for number in range(pairs + 1):
        now = _run(options, out / f"run-{number:02}", progress)
        if before is not None:
            rates.same.update(compare_timings(before, now).verdict)
            slow = dataclasses.replace(options, slowdown=PLANTED)
            rates.planted.update(compare_timings(now, _run(slow, out / f"slow-{number:02}", progress)).verdict)
        before = now
    return rates


def _run(options: Options, out: Path, progress: Progress) -> Run:
    bench(options, out, progress)
    return load([out])
