"""What all commands share: exit codes, messages of one line, progress bars, the directory that is written, its page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from stridecheck.benchmarks.cases import UnknownCase
from stridecheck.conformance.check import COULD_NOT_RUN, USAGE
from stridecheck.conformance.corpus import CorpusError
from stridecheck.conformance.crews import SchedulerError
from stridecheck.conformance.discovery import UnknownAdapter
from stridecheck.conformance.examples import DatabaseError
from stridecheck.conformance.expectations import ExpectationError
from stridecheck.conformance.resume import ResumeError
from stridecheck.reports.records import ResultsError

from .exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from stridecheck.reports.run import Run


def fail(code: int, message: str) -> NoReturn:
    """End with a message of one line."""
    click.echo(f"stridecheck: {message}", err=True)
    raise SystemExit(code)


def matching(what: str, globs: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that match any glob, all where there is none; one that matches nothing is a mistake of usage."""
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in names):
            close = get_close_matches(glob, names, 3)
            hint = f"did you mean {', '.join(close)}?" if close else f"`stridecheck {what}s --list` names all"
            fail(USAGE, f"no {what} matches {glob!r}; {hint}")
    return [name for name in names if not globs or any(fnmatchcase(name, glob) for glob in globs)]


@contextmanager
def told(out: Path | None = None) -> Iterator[None]:
    """Turn what a user can cause into one line and an exit code; nothing that was written is lost."""
    try:
        yield
    except (
        ResultsError, ResumeError, CorpusError, ExpectationError, UnknownCase, UnknownAdapter, DatabaseError
    ) as error:  # fmt: skip
        fail(USAGE, str(error))
    except SchedulerError as error:
        fail(COULD_NOT_RUN, str(error))
    except BrokenPipeError:
        raise  # who reads our output has had enough: click ends quietly
    except OSError as error:
        fail(COULD_NOT_RUN, f"{error.filename or out or ''}: {error.strerror or error}")
    except KeyboardInterrupt:
        kept = out is not None and (out / "results.jsonl").exists()
        hint = f"; what was done is in {out}/results.jsonl (render it: stridecheck report {out})" if kept else ""
        fail(INTERRUPTED, f"interrupted{hint}")


@contextmanager
def begun_in(out: Path, *, anew: bool = True) -> Iterator[Callable[[], None]]:
    """Begin a run in a directory: an earlier one's results are kept as `results.previous.jsonl`.

    What was made of them goes, for it would tell of another run than the results beside it. The answer is to be called
    where the run turned out to be none: earlier results come back, as they do where nothing was written.
    """
    from stridecheck.reports.render import remove_rendered, render_dirs

    results, previous = out / "results.jsonl", out / "results.previous.jsonl"
    aside = anew and results.is_file()
    if aside:
        results.replace(previous)
        remove_rendered(out)

    def put_back() -> None:
        if aside:
            previous.replace(results)
            render_dirs([out], out)

    try:
        yield put_back
    finally:
        if not results.exists():
            put_back()


def out_option(default: str = "out") -> Callable[[Any], Any]:
    """The option that says where results go."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=default,
        show_default=True,
        help="Directory for results.jsonl, report.html, summary.md, junit.xml, badge.json and csv/.",
    )


class Bars:
    """Progress on standard error, a bar an adapter; where that is no terminal, only the notes."""

    def __init__(self, unit: str = "programs") -> None:
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeElapsedColumn(),
            console=Console(stderr=True, emoji=False),
            disable=not sys.stderr.isatty(),
        )
        self._task: TaskID | None = None

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
        if self._task is not None:
            self._progress.advance(self._task, programs)

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
        fail(COULD_NOT_RUN, f"{error.filename or out}: {error.strerror or error}; {hint}")
    page = next(path for path in paths if path.suffix == ".html")
    click.echo(f"report: {page}")
    paths += [file for directory in directories for file in results_files(directory)]
    others = ", ".join(_near(path, out) for path in paths if path != page)
    click.echo(f"beside it: {others}")


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
    return str(path.relative_to(out)) if path.is_relative_to(out) else str(path)
