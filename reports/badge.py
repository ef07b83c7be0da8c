"""The badge of a run: JSON for shields.io's endpoint badge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .claims import headline
from .handovers import headline as headline_of_exchange
from .mutants import found_out
from .run import Run
from .summary import AdapterSummary, summaries
from .text import clean, count, percent

_MANY = 3
"""Adapters that a badge names one by one; of more it names the lowest score."""


def badge(run: Run) -> Mapping[str, object]:
    """The badge as JSON, see https://shields.io/badges/endpoint-badge.

    The number of programs is quoted with the score. A run that died or judged nothing gets a grey badge that
    says so, never a score of 0 or 100.
    """
    judged = [adapter for adapter in summaries(run) if adapter.score.judged]
    message, color = _message(run, judged)
    return {
        "schemaVersion": 1,
        "label": "stridecheck",
        "message": clean(message),
        "color": color,
        "isError": run.exit_code != 0,
    }


def _message(run: Run, judged: Sequence[AdapterSummary]) -> tuple[str, str]:
    if not run.complete:
        return "incomplete run", "lightgrey"
    if run.claims and not judged:
        return headline(run.claims), "red" if run.exit_code else "blue"
    if run.mutants and not judged:
        return found_out(run.mutants), "red" if run.exit_code else "brightgreen"
    if run.handovers and not judged:
        return headline_of_exchange(run.handovers), "red" if run.exit_code else "brightgreen"
    if not judged:
        return "nothing judged", "lightgrey"
    red = sum(adapter.red for adapter in judged)
    if len(judged) > _MANY:
        lowest = min(judged, key=lambda adapter: adapter.score.passed / adapter.score.judged)
        message = f"{count(len(judged), 'adapter')}, lowest {lowest.name} {lowest.score.says}"
    else:
        programs = {adapter.programs for adapter in judged}
        message = " · ".join(f"{adapter.name} {adapter.score.text}" for adapter in judged) + " of judged steps"
        if len(programs) == 1:
            message += f" in {count(programs.pop(), 'program')}"
    if red:
        return f"{message}, {count(red, 'failure')}", "red"
    return message, _color(judged)


def _color(judged: Sequence[AdapterSummary]) -> str:
    passed = sum(adapter.score.passed for adapter in judged)
    whole = sum(adapter.score.judged for adapter in judged)
    if percent(passed, whole) == "100 %":
        return "brightgreen"
    share = passed / whole
    return "green" if share >= 0.95 else "yellowgreen" if share >= 0.8 else "yellow"
