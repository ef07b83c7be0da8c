"""Two runs compared: which cases are slower or faster, and which failures are new or gone.

A case is compared by the medians of its processes, for two processes that run the same code differ by more than the
blocks of one do. It is `slower` or `faster` where three things come together: the ratio is worth reporting, the
interval of the bootstrap leaves out 1, and the blocks differ by Mann-Whitney's test, corrected for the number of cases.
It is the `same` where the interval leaves out changes of twice the smallest that is worth reporting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .records import RED, Failure, ResultsError, Timing
from .run import Run

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
    "old_ns": "median time of a call before, ns",
    "new_ns": "median time of a call now, ns",
    "by": "what is compared: `time`, or `x_copy` where the machine itself has another speed now",
    "ratio": "new over old",
    "low": "lower end of the ratio's interval",
    "high": "upper end of the ratio's interval",
    "p": "Mann-Whitney's test over the blocks, corrected for the number of cases (Benjamini-Hochberg)",
    "verdict": "slower, faster, same or cannot tell",
}
"""Columns of `compare_timings`."""

_DRIFT = 0.02
"""Change of the copies' own speed, as a fraction, from which on times are weighed by it."""

Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class _Side:
    """One case on one library in one run: the samples of each process, and what the machine could do beside them."""

    samples: tuple[tuple[float, ...], ...]
    copies: tuple[float, ...] | None
    """Time of the best contiguous copy in each process, ns; None where a case has none (a view)."""

    @property
    def median_ns(self) -> float:
        return median(median(samples) for samples in self.samples)


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
    rows = [_row(key, before[key], after[key], smallest, len(common)) for key in common]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["p"] = _corrected(frame["p"].to_numpy(float))
    frame["verdict"] = [_verdict(row, smallest) for row in frame.itertuples(index=False)]
    return frame


def check_baseline(old: Run, cpu: str, cases: Collection[str]) -> None:
    """Whether times of these cases, taken on this processor, can be compared with a run; what hinders is told early.

    Raises
    ------
    ResultsError
        The run comes from another processor, or has timed none of the cases.
    """
    timed = [timing.case for timing in old.measurements if timing.status == "ok"]
    if not timed:
        raise ResultsError("the baseline has no times")
    _same_processor(_processors(old), {cpu})
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
    copies = [timing.median_ns / timing.x_copy for timing in group if timing.x_copy]
    return _Side(tuple([timing.samples_ns for timing in group]), tuple(copies) if len(copies) == len(group) else None)


def _row(key: Key, old: _Side, new: _Side, smallest: float, cases: int) -> tuple[Any, ...]:
    weights: list[Sequence[float]] = [[1.0] * len(side.samples) for side in (old, new)]
    by = "time"
    if old.copies and new.copies and abs(median(new.copies) / median(old.copies) - 1) > _DRIFT:
        weights, by = [old.copies, new.copies], "x_copy"
    sides = [
        [np.asarray(samples) / weight for samples, weight in zip(side.samples, of_side, strict=True)]
        for side, of_side in zip((old, new), weights, strict=True)
    ]
    ratio, low, high = ratio_interval(sides[0], sides[1], cases)
    return (*key, old.median_ns, new.median_ns, by, ratio, low, high, _p_value(sides[0], sides[1]), "")


def ratio_interval(
    old: Sequence[NDArray[np.float64]], new: Sequence[NDArray[np.float64]], cases: int = 1
) -> tuple[float, float, float]:
    """The ratio of medians, and its interval: over processes, or over blocks where a side has one process only."""
    from scipy.stats import bootstrap  # takes a while to import

    by_process = min(len(old), len(new)) > 1
    data = [np.array([np.median(s) for s in side]) if by_process else np.concatenate(list(side)) for side in (old, new)]

    def ratio(old: Any, new: Any, axis: int = -1) -> Any:
        return np.median(new, axis=axis) / np.median(old, axis=axis)

    found = bootstrap(
        data,
        ratio,
        n_resamples=2000,
        confidence_level=1 - (1 - CONFIDENCE) / cases,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),  # the same files give the same verdicts
    ).confidence_interval
    return float(ratio(data[0], data[1])), float(found.low), float(found.high)


def _p_value(old: Sequence[NDArray[np.float64]], new: Sequence[NDArray[np.float64]]) -> float:
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(np.concatenate(list(old)), np.concatenate(list(new))).pvalue)


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
    """Failures that only one of two runs has."""

    new: tuple[Failure, ...]
    gone: tuple[Failure, ...]

    @property
    def red(self) -> tuple[Failure, ...]:
        """Those that are new and nobody expected."""
        return tuple([failure for failure in self.new if failure.outcome in RED])


def compare_failures(old: Run, new: Run) -> Changed:
    """Failures by library, program, step, value and aspect: which have come, and which have gone."""
    before, after = ({_identity(failure): failure for failure in run.failures} for run in (old, new))
    return Changed(
        new=tuple([failure for key, failure in after.items() if key not in before]),
        gone=tuple([failure for key, failure in before.items() if key not in after]),
    )


def _identity(failure: Failure) -> tuple[object, ...]:
    return failure.adapter, failure.program, failure.step, failure.value, failure.aspect, failure.outcome
