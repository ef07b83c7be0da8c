"""What all commands share: exit codes, messages of one line, progress bars, the directory that is written, its page."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from stridecheck.benchmarks.cases import UnknownCase
from stridecheck.conformance.answers import AdapterFailed
from stridecheck.conformance.corpus import CorpusError
from stridecheck.conformance.crews import SchedulerError
from stridecheck.conformance.discovery import UnknownAdapter
from stridecheck.conformance.examples import DatabaseError
from stridecheck.conformance.expectations import ExpectationError
from stridecheck.conformance.globs import unmatched
from stridecheck.conformance.options import LONGEST, SHORTEST
from stridecheck.conformance.resume import ResumeError
from stridecheck.reports.records import ExitCode, ResultsError

from .directory import InUse, begun_in, is_idle
from .exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from stridecheck.reports.run import Run


def fail(code: int, message: str) -> NoReturn:
    """End with a message of one line."""
    click.echo(f"stridecheck: {message}", err=True)
    raise SystemExit(code)


def matching(what: str, globs: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that match any glob, all where there is none; one that matches nothing is a mistake of usage."""
    if problem := unmatched(what, globs, names, f"`stridecheck {what}s --list` names all"):
        fail(ExitCode.USAGE, problem)
    return [name for name in names if not globs or any(fnmatchcase(name, glob) for glob in globs)]


@contextmanager
def told(out: Path | None = None) -> Iterator[None]:
    """Turn what a user can cause into one line and an exit code; nothing that was written is lost."""
    try:
        yield
    except (
        ResultsError, ResumeError, CorpusError, ExpectationError, UnknownCase, UnknownAdapter, DatabaseError
    ) as error:  # fmt: skip
        fail(ExitCode.USAGE, _noted(str(error), error))
    except (AdapterFailed, SchedulerError, InUse) as error:
        fail(ExitCode.COULD_NOT_RUN, _noted(str(error), error))
    except BrokenPipeError:
        raise  # who reads our output has had enough: click ends quietly
    except OSError as error:
        fail(ExitCode.COULD_NOT_RUN, _noted(f"{error.filename or out or ''}: {error.strerror or error}", error))
    except KeyboardInterrupt as error:
        said = _noted("interrupted", error)
        if said == "interrupted" and out is not None and (out / "results.jsonl").exists():
            said += f"; what was done is in {out}/results.jsonl (render it: stridecheck report {out})"
        fail(INTERRUPTED, said)


def _noted(message: str, error: BaseException) -> str:
    """A message with what was noted on the way: what became of an earlier run's results."""
    return "; ".join([message, *getattr(error, "__notes__", ())])


def run_in(out: Path, run: Callable[[Bars], int], *, anew: bool = True, unit: str = "programs") -> int:
    """Let a run write its results into a directory, and render them; the answer is its exit code.

    Where nothing was tried, an earlier run's results come back, and the command ends.
    """
    from stridecheck.reports.run import RESULTS

    with told(out), begun_in(out, anew=anew) as replaces:
        with Bars(unit) as bars:
            code = run(bars)
        if replaces and is_idle(out / RESULTS):
            fail(code, f"nothing was run: the results in {out} are those of an earlier run, as they were")
        render([out], out)
    return code


class Seconds(click.FloatRange):
    """A time that a process can be waited for; nan is in no range, and nothing waits for ever."""

    def __init__(self, least: float) -> None:
        super().__init__(least, LONGEST)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        seconds: float = super().convert(value, param, ctx)
        if isnan(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


class Directory(click.Path):
    """A directory to write into."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; a variable that is not set makes an empty one, which would be the directory that one is in."""
        if value == "":
            self.fail("an empty text names no directory.", param, ctx)
        return super().convert(value, param, ctx)


def out_option(default: str = "out") -> Callable[[Any], Any]:
    """The option that says where results go."""
    return click.option(
        "--out",
        type=Directory(path_type=Path, file_okay=False),
        default=default,
        show_default=True,
        help="Directory for results.jsonl, report.html, summary.md, junit.xml, badge.json and csv/.",
    )


def seconds_option(name: str, help: str, default: float) -> Callable[[Any], Any]:
    """An option that says how many seconds something may take, a hundredth at least."""
    return click.option(name, type=Seconds(SHORTEST), default=default, show_default=True, metavar="S", help=help)


def count_option(name: str, help: str, default: int = 1, **more: Any) -> Callable[[Any], Any]:
    """An option that says how many, at least one."""
    return click.option(
        name, type=click.IntRange(1), default=default, show_default=True, metavar="N", help=help, **more
    )


_SECONDS_APART = 60.0
"""Between two lines that tell how far a run is, where there is no terminal."""


class Bars:
    """Progress on standard error, a bar an adapter; where that is no terminal, the notes, and a line a minute."""

    def __init__(self, unit: str = "programs") -> None:
        console = Console(stderr=True, emoji=False)
        is_narrow = console.width < 80
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=max(4, console.width - 36) if is_narrow else 40),
            MofNCompleteColumn(),
            *([] if is_narrow else [TextColumn(unit)]),
            TimeElapsedColumn(),
            console=console,
            disable=not sys.stderr.isatty(),
        )
        self._unit = unit
        self._task: TaskID | None = None
        self._told = time.monotonic()

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def begin(self, adapter: str, total: int | None) -> None:
        """A bar for an adapter."""
        self._task = self._progress.add_task(adapter, total=total)

    def advance(self, programs: int) -> None:
        """The bar moves on."""
        if self._task is None:
            return
        self._progress.advance(self._task, programs)
        if self._progress.disable and time.monotonic() - self._told >= _SECONDS_APART:
            self._told = time.monotonic()
            task = next(task for task in self._progress.tasks if task.id == self._task)
            of = "" if task.total is None else f" of {task.total:,.0f}"
            self.note(f"{task.description}: {task.completed:,.0f}{of} {self._unit}")

    def note(self, text: str) -> None:
        """A line above the bars."""
        self._progress.console.print(text, highlight=False, soft_wrap=True, markup=False)


def render(directories: list[Path], out: Path) -> None:
    """Say what came of a run, write everything that is derived from its results, and say where."""
    from stridecheck.reports import render as pages
    from stridecheck.reports.run import load, results_files
    from stridecheck.reports.terminal import lines

    run = load(directories)
    for line in lines(run):
        click.echo(line)
    try:
        paths = pages.render(run, out)
    except OSError as error:
        again = shlex.join(["stridecheck", "report", *map(str, directories), "--out"])
        hint = f"the results are there (render them elsewhere: {again} ELSEWHERE)"
        fail(ExitCode.COULD_NOT_RUN, f"{error.filename or out}: {error.strerror or error}; {hint}")
    page = next(path for path in paths if path.suffix == ".html")
    click.echo(f"report: {page}")
    paths += [file for directory in directories for file in results_files(directory)]
    others = dict.fromkeys(_near(path, out) for path in paths if path != page)
    click.echo(f"beside it: {', '.join(others)}")


def show_comparison(old: Run, new: Run, out: Path | None) -> int:
    """Say what has changed between two runs, and write it; the answer is the exit code."""
    from stridecheck.reports.diff import diff

    found = diff(old, new)
    for line in found.lines():
        click.echo(line)
    if out is not None:
        found.write(out)
    return found.exit_code


def _near(path: Path, out: Path) -> str:
    """A file as it is told: relative where that is possible, and of tables their directory alone."""
    is_table = path.suffix == ".csv"
    path = path.parent if is_table else path
    return str(path.relative_to(out) if path.is_relative_to(out) else path) + ("/" if is_table else "")
