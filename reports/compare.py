"""Two runs compared: which cases are slower or faster, and which failures are new or gone.

What else runs on a machine makes times longer, never shorter, so a process's figure for a case is its quickest block:
blocks are long enough that none is quick by chance. A case is compared by the medians of these over the processes, for
two processes that run the same code differ by more than the blocks of one do. It is `slower` or `faster` where three
things come together: the ratio is worth reporting, the interval of the bootstrap leaves out 1, and the blocks differ by
Mann-Whitney's test, corrected for the number of cases. It is the `same` where the interval leaves out changes of twice
the smallest that is worth reporting.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .records import RED, Failure, ResultsError, Timing
from .run import Run
from .text import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 0.05
"""Smallest change, as a fraction, that is worth reporting."""

CONFIDENCE = 0.95
"""Of an interval, before it is widened for the number of cases; of the test as well."""

VERDICTS = ("slower", "faster", "same", "cannot tell")

COLUMNS: Mapping[str, str] = {
    "case": "operation/layout/dtype/size class",
    "adapter": "library under test",
    "threads": "threads that the library was given",
    "cache": "warm, or cold: emptied before each call",
    "old_ns": "time of a call before, ns: median over the processes of the quickest block of each",
    "new_ns": "the same now, ns",
    "by": "what is compared: `time`, or `x_copy` where the machine itself has another speed now",
    "ratio": "new over old",
    "low": "lower end of the ratio's interval",
    "high": "upper end of the ratio's interval",
    "p": "Mann-Whitney's test over the blocks, corrected for the number of cases (Benjamini-Hochberg)",
    "processes": "processes that measured it, on the side that has fewer; with one, nothing tells how far two differ",
    "verdict": "slower, faster, same or cannot tell",
}
"""Columns of `compare_timings`."""

_DRIFT = 0.02
"""Change of the copies' own speed, as a fraction and over all cases, from which on times are weighed by it."""

Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class _Side:
    """One case on one library in one run: the blocks of each process, and what the machine could do beside them."""

    blocks: tuple[NDArray[np.float64], ...]
    """Nanoseconds a call, an array for each process."""
    copy_ns: float | None
    """Time of the best contiguous copy in the run, ns; None where a case has none (a view)."""

    @property
    def quickest(self) -> NDArray[np.float64]:
        """Each process's quickest block."""
        return np.array([blocks.min() for blocks in self.blocks])

    @property
    def all(self) -> NDArray[np.float64]:
        """The blocks of all processes."""
        return np.concatenate(self.blocks)

    def over(self, ns: float) -> _Side:
        """Times as multiples of another one."""
        return _Side(tuple([blocks / ns for blocks in self.blocks]), self.copy_ns)


def compare_timings(old: Run, new: Run, smallest: float = SMALLEST) -> pd.DataFrame:
    """What has become of each case that both runs have timed: a frame with the columns of `COLUMNS`.

    Raises
    ------
    ResultsError
        The runs come from different processors, or have no timed case in common.
    """
    _same_processor(_processors(old), _processors(new))
    before, after = _sides(old), _sides(new)
    common = [key for key in after if key in before]
    if not common:
        raise ResultsError("the two runs have no timed case in common")
    drifts = [b / a for key in common if (a := before[key].copy_ns) and (b := after[key].copy_ns)]
    drift = median(drifts) if drifts else 1.0
    drift = drift if abs(drift - 1) > _DRIFT else 1.0
    rows = [_row(key, before[key], after[key], len(common), drift) for key in common]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["p"] = _corrected(frame["p"].to_numpy(float))
    frame["verdict"] = [_verdict(row, smallest) for row in frame.itertuples(index=False)]
    return frame


def only_timed_before(old: Run, new: Run) -> tuple[tuple[Timing, ...], int]:
    """What the old run has timed and the new one has not: the new records of what fails now, and how many others."""
    gone = _sides(old).keys() - _sides(new).keys()
    now = {(timing.case, timing.adapter, timing.threads, timing.cache): timing for timing in new.timings}
    failed = [now[key] for key in now if key in gone and now[key].status == "error"]
    return tuple(failed), len(gone) - len(failed)


def check_baseline(old: Run, cpu: str, cases: Collection[str], threads: int, cache: str) -> None:
    """Whether times of these cases, taken so on this processor, can be compared with a run; what hinders is told early.

    Raises
    ------
    ResultsError
        The run comes from another processor, has timed none of the cases, or all on other threads or caches.
    """
    found = [timing for timing in old.measurements if timing.status == "ok"]
    if not found:
        raise ResultsError("the baseline has no times")
    _same_processor(_processors(old), {cpu})
    timed = [timing.case for timing in found if (timing.threads, timing.cache) == (threads, cache)]
    if not timed:
        kinds = sorted({f"{count(timing.threads, 'thread')} and {timing.cache} caches" for timing in found})
        asked = f"{count(threads, 'thread')} and {cache} caches"
        raise ResultsError(f"the baseline's times are of {'; '.join(kinds)}, not of {asked}")
    if not set(timed) & set(cases):
        names = list(dict.fromkeys(timed))
        shown = [*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])]
        raise ResultsError(f"the baseline has timed none of the cases asked for, but {', '.join(shown)}")


_NAMED = 3
"""Cases that a message names."""


def _processors(run: Run) -> set[str]:
    return {str(source.header.machine.get("cpu", "")) for source in run.sources}


def _same_processor(old: set[str], new: set[str]) -> None:
    if old != new:
        raise ResultsError(f"times of different processors cannot be compared: {_names(old)}; {_names(new)}")


def _names(cpus: set[str]) -> str:
    return " and ".join(sorted(cpus)) or "unknown"


def _sides(run: Run) -> dict[Key, _Side]:
    grouped: dict[Key, list[Timing]] = {}
    for timing in run.measurements:
        if timing.status == "ok" and timing.samples_ns:
            grouped.setdefault((timing.case, timing.adapter, timing.threads, timing.cache), []).append(timing)
    return {key: _side(group) for key, group in grouped.items()}


def _side(group: Sequence[Timing]) -> _Side:
    by_process: dict[int, list[float]] = {}
    for timing in group:
        by_process.setdefault(timing.process, []).extend(timing.samples_ns)
    copies = [timing.median_ns / timing.x_copy for timing in group if timing.x_copy]
    blocks = tuple([np.array(samples) for samples in by_process.values()])
    return _Side(blocks, min(copies) if len(copies) == len(group) else None)


def _row(key: Key, old: _Side, new: _Side, cases: int, drift: float) -> tuple[Any, ...]:
    by, before, after = "time", old, new
    if drift != 1 and old.copy_ns and new.copy_ns:
        by, before, after = "x_copy", old.over(old.copy_ns), new.over(new.copy_ns)
    processes = min(len(old.blocks), len(new.blocks))
    by_process = processes > 1
    figures = [side.quickest if by_process else side.all for side in (before, after)]
    times = [float(np.median(side.quickest if by_process else side.all)) for side in (old, new)]
    ratio, low, high = _ratio_interval(figures, cases)
    if by == "time":  # what has no copy of its own (a view) may have drifted with the copies, or not at all
        low, high = min(low, low / drift), max(high, high / drift)
    return (*key, *times, by, ratio, low, high, _p_value(before, after), processes, "")


def _ratio_interval(figures: Sequence[NDArray[np.float64]], cases: int) -> tuple[float, float, float]:
    """The ratio of the medians of two samples, and its interval."""
    from scipy.stats import bootstrap  # takes a while to import

    def ratio(old: Any, new: Any, axis: int = -1) -> Any:
        return np.median(new, axis=axis) / np.median(old, axis=axis)

    found = bootstrap(
        figures,
        ratio,
        n_resamples=2000,
        confidence_level=1 - (1 - CONFIDENCE) / cases,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),  # the same files give the same verdicts
    ).confidence_interval
    return float(ratio(figures[0], figures[1])), float(found.low), float(found.high)


def _p_value(old: _Side, new: _Side) -> float:
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(old.all, new.all).pvalue)


def _corrected(p: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import false_discovery_control

    corrected: NDArray[np.float64] = false_discovery_control(p)
    return corrected


def _verdict(row: Any, smallest: float) -> str:
    differs = row.p < 1 - CONFIDENCE
    if row.ratio >= 1 + smallest and row.low > 1 and differs:
        return "slower"
    if row.ratio <= 1 / (1 + smallest) and row.high < 1 and differs:
        return "faster"
    widest = 1 + 2 * smallest
    if 1 / (1 + smallest) < row.ratio < 1 + smallest and 1 / widest < row.low and row.high < widest:
        return "same"
    return "cannot tell"


@dataclass(frozen=True, slots=True)
class Changed:
    """What only one of two runs has of the libraries that both judged: failures that nobody expected, and others."""

    new: tuple[Failure, ...] = ()
    gone: tuple[Failure, ...] = ()
    known_new: tuple[Failure, ...] = ()
    known_gone: tuple[Failure, ...] = ()


def compare_failures(old: Run, new: Run) -> Changed:
    """Failures by library, program, step, value and aspect: which have come, and which have gone."""
    both = old.judged & new.judged
    before, after = ({_identity(one): one for one in run.failures if one.adapter in both} for run in (old, new))
    come = [failure for key, failure in after.items() if key not in before]
    gone = [failure for key, failure in before.items() if key not in after]
    return Changed(*_apart(come, gone, is_red=True), *_apart(come, gone, is_red=False))


def _apart(*sides: Sequence[Failure], is_red: bool) -> Iterator[tuple[Failure, ...]]:
    for side in sides:
        yield tuple([failure for failure in side if (failure.outcome in RED) == is_red])


def _identity(failure: Failure) -> tuple[object, ...]:
    return failure.adapter, failure.program, failure.step, failure.value, failure.aspect, failure.outcome
