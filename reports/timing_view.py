"""What the page and the Markdown summary show of timings: one table per dtype, size and number of threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .text import count, size, time_ns, times

SERIES: Sequence[tuple[str, str]] = (
    ("circle", "●"),
    ("square", "■"),
    ("triangle-up", "▲"),
    ("diamond", "◆"),
    ("cross", "✚"),
    ("triangle-down", "▼"),
)
"""Shape of each adapter's points, for Vega and as a letter; its colour is the style sheet's `--series-N`."""
CHARTS = 24
"""Charts on one page; tables hold the rest."""

_NOISY = 0.1
"""Interquartile range over median from which a time is marked."""


@dataclass(frozen=True, slots=True)
class TimeCell:
    """One case on one adapter; `heat` from 0 (as fast as a contiguous copy) to 4."""

    time: str
    x_copy: str
    remark: str
    heat: int | None


@dataclass(frozen=True, slots=True)
class TimeRow:
    """One layout under one operation."""

    layout: str
    shape: str
    output: str
    cells: tuple[TimeCell, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its rows, and its chart where there is one."""

    name: str
    rows: tuple[TimeRow, ...]
    chart: str


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """Cases that can be compared: same dtype, size class and threads."""

    title: str
    adapters: tuple[str, ...]
    operations: tuple[Operation, ...]
    remarks: tuple[str, ...]


def time_groups(timings: pd.DataFrame, charts: int = CHARTS) -> list[TimeGroup]:
    """The timings by dtype, size class and threads, the fullest group first; `charts=0` draws none."""
    keys = ["dtype", "size_class", "threads"]
    adapters = list(dict.fromkeys(timings["adapter"]))
    grouped = sorted(timings.groupby(keys, sort=False), key=lambda item: -len(item[1]))
    groups = []
    for _, rows in grouped:
        operations = []
        for name, part in rows.groupby("operation", sort=False):
            chart = ""
            if charts and part["x_copy"].notna().any():
                charts -= 1
                chart = _chart(part, adapters, f"{name}: x_copy by layout and adapter", rows)
            operations.append(Operation(str(name), tuple(_rows(part, adapters)), chart))
        of_group: Any = next(rows.itertuples(index=False))
        title = " · ".join([of_group.dtype, of_group.size_class, count(of_group.threads, "thread")])
        groups.append(TimeGroup(title, tuple(adapters), tuple(operations), tuple(_remarks(rows))))
    return groups


_FAR = 50
"""Median `x_copy` from which on an operation has an axis of its own."""


def _chart(rows: pd.DataFrame, adapters: Sequence[str], title: str, group: pd.DataFrame) -> str:
    from .charts import domain, x_copy_chart  # altair takes half a second to import, for Markdown in vain

    # Charts beside each other share their axis, but for an operation that moves far more bytes than it answers with.
    usual = group[group.groupby("operation")["x_copy"].transform("median") < _FAR]
    alike = rows["x_copy"].median() < _FAR
    return x_copy_chart(rows, adapters, title, domain(usual if alike else rows))


def _rows(part: pd.DataFrame, adapters: Sequence[str]) -> list[TimeRow]:
    rows = []
    for layout, cases in part.groupby("layout", sort=False):
        by_adapter = {str(case.adapter): case for case in cases.itertuples(index=False)}
        first: Any = next(iter(by_adapter.values()))
        nbytes = int(cases["output_bytes"].max())
        rows.append(
            TimeRow(
                layout=str(layout),
                shape=str(first.shape).replace("x", " × "),
                output=size(nbytes) if nbytes else "",
                cells=tuple([_cell(by_adapter.get(adapter)) for adapter in adapters]),
            )
        )
    return rows


def _cell(case: Any) -> TimeCell:
    if case is None:
        return TimeCell("", "", "not timed", None)
    if case.status != "ok":
        return TimeCell("", "", "not supported" if case.status == "unsupported" else str(case.status), None)
    remarks = [] if pd.isna(case.copied) else [_moved(case)]
    if case.iqr_ns > _NOISY * case.median_ns > 0:
        remarks.append(f"IQR {case.iqr_ns / case.median_ns:.0%}".replace("%", " %"))
    known = not pd.isna(case.x_copy)
    return TimeCell(
        time=time_ns(case.median_ns),
        x_copy=times(case.x_copy) if known else "",
        remark=" · ".join(remarks),
        heat=sum(case.x_copy > bound for bound in (1.5, 3, 6, 12)) if known else None,
    )


def _moved(case: Any) -> str:
    """Whether the result is a copy, and what was predicted where that is something else."""
    words = ("view", "copy")
    unforeseen = not pd.isna(case.predicted) and case.predicted != case.copied
    return words[bool(case.copied)] + (f", not a {words[bool(case.predicted)]}" if unforeseen else "")


def _remarks(rows: pd.DataFrame) -> list[str]:
    """Why there is no time, where there is none: each reason once, with its count."""
    missing = rows[rows["status"] != "ok"]
    counted = Counter(zip(missing["adapter"], missing["status"], missing["reason"], strict=True))
    words = {"unsupported": "not supported"}
    return [
        f"{adapter}: {count(number, 'case')} {words.get(status, status)}" + (f" ({reason})" if reason else "")
        for (adapter, status, reason), number in counted.items()
    ]
