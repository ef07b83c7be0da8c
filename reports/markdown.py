"""The run as Markdown, short enough for a CI job's summary page ($GITHUB_STEP_SUMMARY)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from . import handovers
from .claims import headline, trial
from .mutants import found_out
from .run import Run
from .summary import AdapterSummary, summaries
from .text import clean, count, listed, shorten
from .timing_view import time_groups
from .view import FailureKind, failure_groups, known_groups, verdict

_KINDS = 10
"""Kinds of failures shown of one adapter, each with the repro of one."""

_TIMES = 60
"""Rows of times shown."""

LIMIT = 900_000
"""Bytes; GitHub refuses a summary above 1 MiB."""


def markdown(run: Run) -> str:
    """The run as Markdown of at most `LIMIT` bytes; it says so where that leaves something out."""
    text = ""
    used = 0
    for part in _parts(run):
        used += len(part.encode()) + 1
        if used > LIMIT:
            return text + "\n*The rest is too long for a summary; see report.html.*\n"
        text += part + "\n"
    return text


def _parts(run: Run) -> Iterator[str]:
    adapters = summaries(run)
    line = verdict(run, adapters)
    yield f"## stridecheck: {line.symbol} {_text(line.headline)}\n"
    yield _text(line.lede) + "\n"
    for note in run.notes:
        yield f"> **Note:** {_text(note)}\n"
    if adapters:
        yield _adapter_table(adapters)
    yield from _failures(run)
    yield from _known(run)
    yield from _times(run)
    yield from _mutants(run)
    yield from _handovers(run)
    yield from _claims(run)
    yield f"<sub>stridecheck {_text(run.header.suite)}, `{_code(run.header.command)}`</sub>"


def _adapter_table(adapters: Sequence[AdapterSummary]) -> str:
    lines = [
        "| adapter | judged steps passed | programs | unexpected | known deviations | not supported | crashes |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for summary in adapters:
        adapter = summary.adapter
        versions = listed([f"{name} {version}" for name, version in adapter.versions.items()], 2)
        name = f"**{_text(adapter.name)}** {_text(versions)}".strip()
        if adapter.status != "ready":
            lines.append(f"| {name} | {summary.state}: {_text(adapter.reason)} | | | | | |")
            continue
        crashes = summary.outcomes.get("crash", 0) + summary.outcomes.get("timeout", 0)
        red = f"**{count(summary.red)}**" if summary.red else "0"
        lines.append(
            f"| {name} | {summary.score.text} | {count(summary.programs)} | {red} | {count(summary.known)} "
            f"| {count(summary.not_run)} | {count(crashes)} |"
        )
    return "\n".join(lines) + "\n"


def _failures(run: Run) -> Iterator[str]:
    groups = failure_groups(run, _KINDS * len(run.adapters))
    if not groups:
        return
    yield "### Unexpected\n"
    for group in groups:
        shown = group.kinds[:_KINDS]
        yield from map(_failure, shown)
        if left := group.total - sum(kind.total for kind in shown):
            yield f"*{count(left, 'more failure')} of {_text(group.adapter)} in report.html.*\n"


def _failure(kind: FailureKind) -> str:
    view = kind.first
    failure = view.failure
    rules = ", ".join(f"`{_code(rule)}`" for rule in failure.rules)
    names = (failure.outcome, failure.adapter, failure.operation, failure.aspect)
    head = " · ".join(shorten(name, 60) for name in names if name)
    alike = f" ({kind.total:,} alike)" if kind.total > 1 else ""
    facts = [f"- rules: {rules}"] if rules else []
    facts += [f"- {_html(failure.attribution)}"] if failure.attribution else []
    if view.expected or view.got:
        facts += [
            f"- expected `{_code(shorten(view.expected or '—', 300))}`",
            f"- got `{_code(shorten(view.got or '—', 300))}`",
        ]
    blocks = [_fence(failure.listing, "")] if failure.listing else []
    blocks += [_fence(view.repro, "python")] if view.repro else []
    # Without the empty lines GitHub takes the Markdown inside for text.
    return "\n".join(
        [
            f"<details><summary>{_html(head)}: {_html(shorten(failure.message, 300))}{alike}</summary>\n",
            *facts,
            "",
            *blocks,
            "\n</details>\n",
        ]
    )


def _known(run: Run) -> Iterator[str]:
    groups = known_groups(run)
    if not groups:
        return
    yield "### Known deviations\n"
    yield "| adapter | programs | reason |\n|---|---:|---|"
    for group in groups:
        yield f"| {_text(group.adapter)} | {count(group.programs)} | {_text(group.reason)} |"
    yield ""


def _times(run: Run) -> Iterator[str]:
    if not run.timings:
        return
    yield "### Timings\n"
    yield "Median time of a call; in brackets `x_copy`: time over that of a contiguous copy as large.\n"
    room = _TIMES
    groups = time_groups(run.frames.timings, charts=0)
    for group in groups:
        rows = [(operation.name, row) for operation in group.operations for row in operation.rows][:room]
        if not rows:
            break
        room -= len(rows)
        yield f"**{_text(group.title)}**\n"
        yield "| operation | layout | " + " | ".join(_text(name) for name in group.adapters) + " |"
        yield "|---|---|" + "---:|" * len(group.adapters)
        for name, row in rows:
            cells = [
                f"{cell.time} ({cell.x_copy})" if cell.x_copy else cell.time or _text(cell.remark) for cell in row.cells
            ]
            yield f"| {_text(name)} | {_text(row.layout)} | {' | '.join(cells)} |"
        yield ""
    total = sum(len(operation.rows) for group in groups for operation in group.operations)
    if total > _TIMES:
        yield f"*{count(total - _TIMES, 'more row')} in report.html.*\n"


def _mutants(run: Run) -> Iterator[str]:
    if not run.mutants:
        return
    yield "### Mutants\n"
    yield f"{_text(found_out(run.mutants))}.\n"
    left = [mutant for mutant in run.mutants if mutant.outcome != "killed"]
    if left:
        yield "| not found out | what it does | programs that could show it |\n|---|---|---:|"
        for mutant in left:
            yield f"| {_text(mutant.name)} | {_text(mutant.sentence)} | {count(mutant.reached)} |"
        yield ""


def _handovers(run: Run) -> Iterator[str]:
    if not run.handovers:
        return
    table = handovers.matrix(run.handovers)
    yield "### Exchange\n"
    yield f"{_text(handovers.headline(run.handovers))}.\n"
    yield f"| from \\ to | {' | '.join(map(_text, table.consumers))} |\n|---|{'---|' * len(table.consumers)}"
    for producer, cells in table.rows:
        yield f"| {_text(producer)} | {' | '.join(_text(cell) for cell in cells)} |"
    yield ""
    if table.harm:
        yield "| from | to | by | array | what came of it |\n|---|---|---|---|---|"
        for one in table.harm:
            parts = (one.producer, one.consumer, one.protocol, one.case, handovers.says(one))
            yield f"| {' | '.join(map(_text, parts))} |"
        yield ""


def _claims(run: Run) -> Iterator[str]:
    if not run.claims:
        return
    yield "### Claims\n"
    yield f"{_text(headline(run.claims))}.\n"
    yield "| claim | claimed | measured | verdict | why |\n|---|---|---|---|---|"
    for claim in run.claims:
        measured = "<br>".join(_text(trial(one)) for one in claim.trials)
        cells = (_text(claim.says), _text(claim.claimed), measured, claim.verdict, _text(claim.why))
        yield f"| {' | '.join(cells)} |"
    yield ""


def _html(text: str) -> str:
    """Foreign text on one line inside an HTML element, where Markdown's own signs mean nothing."""
    return html.escape(" ".join(clean(text).split()), quote=False)


def _text(text: str) -> str:
    """Foreign text on one line that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", _html(text))


def _code(text: str) -> str:
    """Foreign text between single backticks, also inside a table."""
    return " ".join(clean(text).split()).replace("`", "'").replace("|", "¦")


def _fence(text: str, language: str) -> str:
    """A block of code behind a fence that is longer than any inside it."""
    safe = clean(text).rstrip("\n")
    longest = max((len(run) for run in re.findall("`+", safe)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{safe}\n{fence}"
