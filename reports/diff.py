"""What has changed between two runs, in words and as files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .compare import VERDICTS, Changed, compare_failures, compare_timings, only_timed_before
from .records import Adapter, ExitCode, ResultsError, Timing
from .run import Run
from .text import count, time_ns

_SHOWN = 20
"""Failures and cases that are shown one by one; files hold all."""


def _doubt(row: Any) -> str:
    """What a difference whose interval is clear of 1 could still come of: chance, by the test over all blocks."""
    is_clear = row.low > 1 or row.high < 1
    return f" (p {row.p:.2g})" if row.verdict == "cannot tell" and is_clear else ""


@dataclass(frozen=True)
class Diff:
    """Failures and times of two runs, compared."""

    failures: Changed | None
    """None where no library was judged in both runs."""
    timings: pd.DataFrame | None
    """With the columns of `compare.COLUMNS`; None where neither run has timed anything."""
    broken: tuple[Timing, ...] = ()
    """Cases that the old run has timed, and that fail in the new one."""
    left_out: int = 0
    """Other cases that only the old run has timed."""
    lost: tuple[Adapter, ...] = ()
    """Libraries that were ready in the old run, and that the new one could not run (to its end)."""
    notes: tuple[str, ...] = ()
    """What a reader must know about the runs."""

    @property
    def exit_code(self) -> ExitCode:
        """`UNEXPECTED` where a failure that nobody expected is new, or a case is slower or fails now.

        Else `COULD_NOT_RUN` where a library is lost, and `NOTHING_JUDGED` where nothing was compared.
        """
        slower = self.timings is not None and bool((self.timings["verdict"] == "slower").any())
        is_red = slower or bool(self.failures and self.failures.new) or bool(self.broken)
        codes = [ExitCode.EXPECTED if self.is_of_something else ExitCode.NOTHING_JUDGED]
        codes += [ExitCode.COULD_NOT_RUN] * bool(self.lost) + [ExitCode.UNEXPECTED] * is_red
        return ExitCode.of(codes)

    @property
    def is_of_something(self) -> bool:
        """Whether failures or times were compared."""
        return self.failures is not None or self.timings is not None

    def lines(self) -> Iterator[str]:
        """The changes, most important first."""
        yield from self.notes
        yield from [
            f"could run in the old run, and failed in the new one: {one.name}: {one.reason}" for one in self.lost
        ]
        if not self.is_of_something:
            yield "nothing was compared"
        if self.failures is not None:
            yield from self._failure_lines(self.failures)
        if self.timings is not None:
            yield from self._timing_lines(self.timings)
        if self.broken:
            yield f"{count(len(self.broken), 'case')} timed before, and failed now:"
            yield from [f"  {one.case}  {one.adapter}: {one.reason}" for one in self.broken[:_SHOWN]]
            if len(self.broken) > _SHOWN:
                yield f"  … and {count(len(self.broken) - _SHOWN)} more"
        if self.left_out:
            yield f"{count(self.left_out, 'case')} timed in the old run only"

    @staticmethod
    def _failure_lines(changed: Changed) -> Iterator[str]:
        if not changed.new and not changed.gone:
            yield "no failure is new, none is gone"
        for noun, which, failures in (
            ("failure", "new", changed.new),
            ("failure", "gone", changed.gone),
            ("known deviation", "new", changed.known_new),
            ("known deviation", "gone", changed.known_gone),
        ):
            if failures:
                yield f"{count(len(failures), noun)} {which}:"
            for one in failures[:_SHOWN]:
                yield f"  {one.adapter}  {one.outcome}  {one.operation}  {one.aspect}: {one.message}"
            if len(failures) > _SHOWN:
                yield f"  … and {count(len(failures) - _SHOWN)} more"

    @staticmethod
    def _timing_lines(timings: pd.DataFrame) -> Iterator[str]:
        counted = timings["verdict"].value_counts()
        says = ", ".join(f"{counted.get(verdict, 0)} {verdict}" for verdict in VERDICTS)
        yield f"{count(len(timings), 'case')} timed in both runs: {says}"
        if (timings["processes"] == 1).any():
            yield "one process measured a side: how far two of the same code differ is not known (see --processes)"
        told = timings[timings["verdict"] != "same"].sort_values("ratio", ascending=False)
        width = max((len(case) for case in told["case"]), default=0)
        row: Any
        for row in told.head(_SHOWN).itertuples(index=False):
            yield (
                f"  {row.case:<{width}}  {row.adapter}  {time_ns(row.old_ns)} → {time_ns(row.new_ns)}  "
                f"{row.ratio:.3f} [{row.low:.3f}, {row.high:.3f}] by {row.by}: {row.verdict}{_doubt(row)}"
            )
        if len(told) > _SHOWN:
            yield f"  … and {count(len(told) - _SHOWN)} more"

    def write(self, out: Path) -> list[Path]:
        """Write `diff.md`, and `diff.csv` where there are times, into the directory `out`."""
        out.mkdir(parents=True, exist_ok=True)
        written = [out / "diff.md"]
        written[0].write_text("\n".join(["# What has changed", "", "```", *self.lines(), "```", ""]), encoding="utf-8")
        if self.timings is not None:
            written.append(out / "diff.csv")
            self.timings.to_csv(written[1], index=False)
        return written


def diff(old: Run, new: Run) -> Diff:
    """Two runs compared.

    Raises
    ------
    ResultsError
        Only one of them has times, or nothing that both have timed can be compared.
    """
    if bool(old.measurements) != bool(new.measurements) and not (old.units and new.units):
        raise ResultsError("one of the two runs has no times, and the other nothing else")
    notes = [
        f"the {name} run ended before it was done" for name, run in (("old", old), ("new", new)) if not run.complete
    ]
    for name, alone in (("old", old.judged - new.judged), ("new", new.judged - old.judged)):
        if alone:
            notes.append(f"judged in the {name} run only, so not compared: {', '.join(sorted(alone))}")
    failures = compare_failures(old, new) if old.judged & new.judged else None
    if not (old.measurements and new.measurements):
        return Diff(failures, None, lost=_lost(old, new), notes=tuple(notes))
    broken, left_out = only_timed_before(old, new)
    return Diff(failures, compare_timings(old, new), broken, left_out, _lost(old, new), tuple(notes))


def _lost(old: Run, new: Run) -> tuple[Adapter, ...]:
    """Libraries that were ready, and failed: one that cannot start has no name but what it was asked for by."""
    ready = {name for adapter in old.adapters if adapter.status == "ready" for name in (adapter.name, adapter.spec)}
    return tuple([one for one in new.adapters if one.status == "failed" and {one.name, one.spec} & (ready - {""})])
