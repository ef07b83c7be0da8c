"""What a run prints at its end: the verdict, one line an adapter, then what failed and how to reproduce it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from math import prod

from . import claims, handovers, mutants
from .records import Failure, Timing
from .run import RESULTS, Run
from .summary import AdapterSummary, summaries
from .text import clean, count, listed, shorten, time_ns, times
from .view import failure_groups, verdict


def lines(run: Run) -> Iterator[str]:
    """The summary in plain text, a line at a time."""
    adapters = summaries(run)
    line = verdict(run, adapters)
    yield f"{line.symbol} {line.headline}"
    yield from run.notes
    width = max((len(adapter.name) for adapter in adapters), default=0)
    for adapter in adapters:
        yield f"  {adapter.name:<{width}}  {_says(adapter, run)}"
    yield from _unexpected(run)
    if not run.units:  # beside verdicts they would be most of what is said: the page has them
        yield from _times(run)
    yield from mutants.lines(run.mutants)
    yield from claims.lines(run.claims)
    yield from handovers.lines(run.handovers)


_SHOWN = 10
"""Unexpected failures that are told, one of each kind; the page has many more, the results file all."""
_RULES = 2
"""Rules that a line names."""


def _unexpected(run: Run) -> Iterator[str]:
    """A line for each kind of failure that nobody expected, and the command that prints the first script."""
    kinds = [kind for group in failure_groups(run, _SHOWN) for kind in group.kinds]
    for kind in kinds:
        alike = f" ({count(kind.total)} alike)" if kind.total > 1 else ""
        yield f"  {_failed(kind.first.failure, several=len(run.adapters) > 1)}{alike}"
    if left := len(run.red) - sum(kind.total for kind in kinds):
        yield f"  … and {count(left, 'more failure')}"
    told = [one.failure for kind in kinds for one in (kind.first, *kind.more) if one.failure.may_have_script]
    if told:
        first = min(told, key=lambda failure: not failure.repro)
        path = run.files[first.key]
        where = path.parent if path.name == RESULTS else path
        yield f"the first with a script: {shlex.join(['stridecheck', 'repro', str(where), first.program])}"


def _failed(failure: Failure, *, several: bool) -> str:
    """One failure: outcome, program, library of several, operation, aspect and rules, then what differs."""
    names = (failure.program, failure.adapter if several else "", failure.operation, failure.aspect)
    head = " · ".join([*filter(None, names), *([listed(failure.rules, _RULES)] if failure.rules else [])])
    return shorten(" ".join(clean(f"{failure.outcome} {head}: {failure.message}").split()), 300)


_READS_MUCH = 4
"""Bytes touched for each one of the output, from which on a copy of the output says nothing: a copy touches two."""


_COMPUTE = ("matmul", "bmm", "conv2d")
"""Operations whose time is arithmetic: a copy of their output says nothing about it."""


def _ratio(timing: Timing) -> str:
    if timing.operation in _COMPUTE:
        return ""
    if timing.touched_bytes > _READS_MUCH * timing.output_bytes:
        return "" if timing.x_traffic is None else f" ~{times(timing.x_traffic)}"
    if prod(timing.shape) > timing.output_bytes:  # a sum over what is expanded: it reads few bytes many times
        return ""
    return "" if timing.x_copy is None else f" {times(timing.x_copy)}"


def _unforeseen(timing: Timing) -> str:
    """Where bytes were moved and a view was predicted, or the other way round."""
    if None in (timing.copied, timing.predicted) or timing.copied == timing.predicted:
        return ""
    return " (copies: PyTorch answers with a view)" if timing.copied else " (a view: PyTorch copies)"


def _times(run: Run) -> Iterator[str]:
    """A line for each case, each library's time with its ratio beside it."""
    timed = [timing for timing in run.timings if timing.status == "ok"]
    if not timed:
        return
    yield "  median time a call, and over the best contiguous copy of the same output bytes (x_copy);"
    yield "  of what reads much more than it writes: over the copy's rate for what it touches (x_traffic, ~):"
    width = max(len(timing.case) for timing in timed)
    for case in dict.fromkeys(timing.case for timing in timed):
        parts = [
            f"{one.adapter} {time_ns(one.median_ns)}{_ratio(one)}{_unforeseen(one)}"
            for one in timed
            if one.case == case
        ]
        yield f"  {case:<{width}}  {'   '.join(parts)}"


_NOT_TIMED = {"unsupported": "not supported", "error": "failed"}
_REASONS = 2
"""Reasons that a line names."""


def _says(summary: AdapterSummary, run: Run) -> str:
    if summary.adapter.status != "ready":
        return f"{summary.state}: {summary.adapter.reason}"
    parts = []
    timings = Counter(timing.status for timing in run.timings if timing.adapter == summary.name)
    if summary.programs or any(summary.outcomes.values()):
        parts += [
            f"{summary.score.says:>22}",
            count(summary.programs, "program"),
            f"{count(summary.red)} unexpected",
            count(summary.known, "known deviation"),
            f"{count(summary.not_run)} unsupported",
        ]
    if timings:
        parts.append(f"{count(timings['ok'], 'case')} timed")
        parts += [
            f"{count(timings[status])} {says}{_reasons(summary, run, status)}"
            for status, says in _NOT_TIMED.items()
            if timings[status]
        ]
    return "  ".join(parts) or "nothing judged, nothing measured"


def _reasons(summary: AdapterSummary, run: Run, status: str) -> str:
    """Why a library has no times, where that can be said in a few words: the page has every reason."""
    of = [timing.reason for timing in run.timings if (timing.adapter, timing.status) == (summary.name, status)]
    reasons = list(dict.fromkeys(filter(None, of)))
    shown = [*reasons[:_REASONS], *(["…"] if len(reasons) > _REASONS else [])]
    return f" ({'; '.join(shown)})" if shown else ""
