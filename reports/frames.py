"""Tidy pandas frames of a run: one row per count, failure, timing and adapter.

Names and units of all columns are in `COLUMNS`; the page and the CSV files take them from there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from .records import Failure, Mutant, Timing
from .run import Run
from .summary import family_of
from .text import clean


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds."""

    meaning: str
    dtype: str
    """pandas' name of the type."""
    unit: str = ""
    """Empty for text and pure numbers."""


_ADAPTER = Column("library under test, by its adapter's name", "str")

COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "outcomes": {
        "adapter": _ADAPTER,
        "rule": Column("id of the rule", "str"),
        "family": Column("family of the rule", "str"),
        "aspect": Column("side of the observation that was judged", "str"),
        "outcome": Column(
            "pass, fail, xfail (known deviation), xpass (known deviation that is gone), "
            "unsupported, error, crash or timeout",
            "str",
        ),
        "count": Column("judged steps with this outcome", "int64", "steps"),
    },
    "failures": {
        "adapter": _ADAPTER,
        "program": Column("id of the program as it was found", "str"),
        "outcome": Column("as in outcomes; never pass or unsupported", "str"),
        "step": Column("number of the failing step, from 0; -1 for the inputs, or where it is not known", "int64"),
        "operation": Column("PyTorch's name of the operation", "str"),
        "value": Column("slot of the value or storage that differs; empty for the step as a whole", "str"),
        "aspect": Column("side of the observation that differs", "str"),
        "rules": Column("ids of the rules that the step exercises, separated by spaces", "str"),
        "expected": Column("what PyTorch does, JSON", "str"),
        "got": Column("what the library did, JSON", "str"),
        "message": Column("the difference in one sentence", "str"),
        "source": Column("where the program comes from", "str"),
        "expectation": Column("reason of the expectation that covers it, else empty", "str"),
        "attribution": Column("who is wrong, as far as the invariants tell", "str"),
        "listing": Column("the shrunk program, one step a line", "str"),
        "repro": Column("standalone script: exits 1 while the deviation is there", "str"),
    },
    "timings": {
        "case": Column("operation/layout/dtype/size class", "str"),
        "adapter": _ADAPTER,
        "operation": Column("what was timed", "str"),
        "layout": Column("layout of the input", "str"),
        "dtype": Column("data type of the input", "str"),
        "shape": Column("shape of the input, as 512x512", "str", "elements"),
        "size_class": Column("class of sizes that the case belongs to", "str"),
        "threads": Column("threads that the library was given", "int64", "threads"),
        "status": Column("ok, unsupported or error; numbers are empty unless ok", "str"),
        "median_ns": Column("median time of a call over all blocks", "float64", "ns"),
        "q1_ns": Column("first quartile over the blocks", "float64", "ns"),
        "q3_ns": Column("third quartile over the blocks", "float64", "ns"),
        "iqr_ns": Column("interquartile range, q3_ns - q1_ns: the spread within this run", "float64", "ns"),
        "blocks": Column("blocks measured", "int64", "blocks"),
        "x_copy": Column(
            "time over that of the best contiguous copy of the same output bytes in the same run",
            "float64",
            "factor",
        ),
        "x_traffic": Column(
            "time over that copy rate applied to the cache lines that must be touched", "float64", "factor"
        ),
        "output_bytes": Column("size of the result", "int64", "bytes"),
        "touched_bytes": Column("cache lines that must be read and written", "int64", "bytes"),
        "peak_bytes": Column("memory held at the peak of a call, its result included", "Int64", "bytes"),
        "cache": Column("warm, or cold: emptied before each call", "str"),
        "copied": Column("whether the result lies in fresh memory; empty where not looked at", "boolean"),
        "predicted": Column("whether it does in PyTorch, as the reference has it; empty where unknown", "boolean"),
        "clocks": Column("rates that the device ran at, as its driver says; empty on the host", "str"),
        "reason": Column("why there is no time, where there is none", "str"),
    },
    "mutants": {
        "name": Column("id of the mutant, a library that is wrong on purpose", "str"),
        "sentence": Column("what it does wrong", "str"),
        "base": Column("adapter that does everything else right", "str"),
        "outcome": Column("killed, survived, or untried", "str"),
        "programs": Column("programs up to the one that killed it, or all", "int64", "programs"),
        "reached": Column("of those, programs that could show the defect", "int64", "programs"),
        "source": Column("where the program that killed it comes from", "str"),
        "program": Column("id of the program that killed it", "str"),
        "operation": Column("PyTorch's name of the operation that differed first", "str"),
        "aspect": Column("side of the observation that differed first", "str"),
        "rules": Column("ids of the rules that failed, separated by spaces", "str"),
        "message": Column("the difference in one sentence", "str"),
        "like": Column("thread of the real bug that it is modelled on, else empty", "str"),
    },
    "adapters": {
        "adapter": _ADAPTER,
        "status": Column("ready, skipped (not here, which was allowed) or failed", "str"),
        "reason": Column("why it did not run, where it did not", "str"),
        "versions": Column("versions of the library and what it stands on, JSON", "str"),
        "capabilities": Column("what the adapter claims, JSON", "str"),
        "units": Column("work units done", "int64", "units"),
        "programs": Column("programs run, unsupported ones included", "int64", "programs"),
    },
}
"""frame -> column -> what it holds."""


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a run, with the columns of `COLUMNS`."""

    outcomes: pd.DataFrame
    failures: pd.DataFrame
    timings: pd.DataFrame
    mutants: pd.DataFrame
    adapters: pd.DataFrame

    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The frames by name."""
        return {name: getattr(self, name) for name in COLUMNS}


def frames(run: Run) -> Frames:
    """The run as frames.

    >>> frames(run).outcomes.groupby(["adapter", "outcome"])["count"].sum()  # doctest: +SKIP
    """
    return Frames(
        outcomes=_frame("outcomes", _outcome_rows(run)),
        failures=_frame("failures", [_failure_row(failure) for failure in run.failures]),
        timings=_frame("timings", [_timing_row(timing) for timing in run.timings]),
        mutants=_frame("mutants", [_mutant_row(mutant) for mutant in run.mutants]),
        adapters=_frame("adapters", _adapter_rows(run)),
    )


def columns() -> pd.DataFrame:
    """`COLUMNS` as a frame: frame, column, unit, meaning."""
    rows = [
        (frame, name, column.unit, column.meaning)
        for frame, columns in COLUMNS.items()
        for name, column in columns.items()
    ]
    return pd.DataFrame(rows, columns=["frame", "column", "unit", "meaning"])


def _frame(name: str, rows: Sequence[Sequence[object]]) -> pd.DataFrame:
    # Given explicitly, so that an empty frame has the same columns and types as a full one.
    wanted = COLUMNS[name]
    safe = [[clean(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    frame = pd.DataFrame(safe, columns=list(wanted))
    return frame.astype({column: spec.dtype for column, spec in wanted.items()})


def _outcome_rows(run: Run) -> list[tuple[object, ...]]:
    return [
        (adapter, rule, family_of(run, rule), aspect, outcome, number)
        for (adapter, rule, aspect), outcomes in run.tally.cells.items()
        for outcome, number in outcomes.items()
    ]


def _failure_row(failure: Failure) -> tuple[object, ...]:
    return (
        failure.adapter,
        failure.program,
        failure.outcome,
        failure.step,
        failure.operation,
        failure.value,
        failure.aspect,
        " ".join(failure.rules),
        json.dumps(failure.expected),
        json.dumps(failure.got),
        failure.message,
        failure.source,
        failure.expectation,
        failure.attribution,
        failure.listing,
        failure.repro,
    )


def _timing_row(timing: Timing) -> tuple[object, ...]:
    ok = timing.status == "ok"
    q1, q3 = (
        pd.Series(timing.samples_ns, dtype="float64").quantile([0.25, 0.75])
        if ok and timing.samples_ns
        else (None, None)
    )
    return (
        timing.case,
        timing.adapter,
        timing.operation,
        timing.layout,
        timing.dtype,
        "x".join(map(str, timing.shape)),
        timing.size_class,
        timing.threads,
        timing.status,
        timing.median_ns if ok else None,
        q1,
        q3,
        None if q1 is None or q3 is None else q3 - q1,
        len(timing.samples_ns),
        timing.x_copy if ok else None,
        timing.x_traffic if ok else None,
        timing.output_bytes,
        timing.touched_bytes,
        timing.peak_bytes,
        timing.cache,
        timing.copied,
        timing.predicted,
        timing.clocks,
        timing.reason,
    )


def _mutant_row(mutant: Mutant) -> tuple[object, ...]:
    return (
        mutant.name,
        mutant.sentence,
        mutant.base,
        mutant.outcome,
        mutant.programs,
        mutant.reached,
        mutant.source,
        mutant.program,
        mutant.operation,
        mutant.aspect,
        " ".join(mutant.rules),
        mutant.message,
        mutant.like,
    )


def _adapter_rows(run: Run) -> list[tuple[object, ...]]:
    return [
        (
            adapter.name,
            adapter.status,
            adapter.reason,
            json.dumps(dict(adapter.versions)),
            json.dumps(dict(adapter.capabilities)),
            sum(unit.adapter == adapter.name for unit in run.units),
            sum(unit.programs for unit in run.units if unit.adapter == adapter.name),
        )
        for adapter in run.adapters
    ]
