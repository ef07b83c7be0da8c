"""The command line: every command, what it takes, and how its end becomes an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from stridecheck import __version__
from stridecheck.benchmarks import bench as benchmarks
from stridecheck.benchmarks.cases import UnknownCase, describe, select
from stridecheck.conformance.check import COULD_NOT_RUN, UNEXPECTED, USAGE, Options, check
from stridecheck.conformance.corpus import CorpusError
from stridecheck.conformance.discovery import UnknownAdapter
from stridecheck.conformance.expectations import ExpectationError
from stridecheck.conformance.program import Program
from stridecheck.reports.records import Failure, Header, ResultsError, read_results

INTERRUPTED = 130

EXIT_CODES = """
\b
Exit codes
  0  everything as expected
  1  unexpected outcomes, or a regression
  2  wrong usage: unknown adapter, bad option, broken file
  3  could not run: library not installed, directory not writable
  4  nothing was judged or measured
130  interrupted by Ctrl-C: what was done is in results.jsonl
"""


def _fail(code: int, message: str) -> NoReturn:
    click.echo(f"stridecheck: {message}", err=True)
    raise SystemExit(code)


@contextmanager
def _told(out: Path | None = None) -> Iterator[None]:
    """Turn what a user can cause into one line and an exit code; nothing that was written is lost."""
    try:
        yield
    except (ResultsError, CorpusError, ExpectationError, UnknownCase, UnknownAdapter) as error:
        _fail(USAGE, str(error))
    except BrokenPipeError:
        raise  # who reads our output has had enough: click ends quietly
    except OSError as error:
        _fail(COULD_NOT_RUN, f"{error.filename or out or ''}: {error.strerror or error}")
    except KeyboardInterrupt:
        hint = f"; what was done is in {out}/results.jsonl (render it: stridecheck report {out})" if out else ""
        _fail(INTERRUPTED, f"interrupted{hint}")


class _Commands(click.Group):
    """A group whose commands, when interrupted, end with one line and 130."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _fail(INTERRUPTED, "interrupted")


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=EXIT_CODES
)
@click.version_option(__version__, prog_name="stridecheck")
def main() -> None:
    """Does a tensor library lay tensors out in memory as PyTorch does, and what does each layout cost?

    \b
    Start here
      stridecheck check torch numpy        judge libraries against the rules
      stridecheck bench                    time layouts
      stridecheck rules view.merge-blocks  what a rule says
      stridecheck repro out PROGRAM        a standalone script for a failure
    """


def _out(default: str = "out") -> Callable[[Any], Any]:
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=default,
        show_default=True,
        help="Directory for results.jsonl, report.html, summary.md, junit.xml, badge.json and csv/.",
    )


class _Bars:
    """Progress on standard error, a bar an adapter; where that is no terminal, only the notes."""

    def __init__(self, unit: str = "programs") -> None:
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> _Bars:
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


@main.command("check", epilog=EXIT_CODES)
@click.argument("adapters", nargs=-1, required=True, metavar="ADAPTER...")
@click.option(
    "--rules", default="*", show_default=True, metavar="GLOB", help="Only programs that exercise these rules."
)
@click.option(
    "--programs", type=click.IntRange(0), metavar="N", help="Only the first N corpus programs: a fair sample."
)
@click.option("--examples", type=click.IntRange(0), default=0, metavar="N", help="Also N random programs.")
@click.option(
    "--seconds", type=click.FloatRange(0), default=0.0, metavar="S", help="Also random programs for S seconds."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random programs.")
@click.option(
    "--expect",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Known deviations, in the place of the bundled file.",
)
@click.option(
    "--update-expectations", is_flag=True, help="Write the list of corpus programs that fail under each expectation."
)
@click.option(
    "--exhaustive", is_flag=True, help="Also every small layout with every view target (about 50,000 programs)."
)
@click.option("--opinfo", default="", metavar="GLOB", help="Also PyTorch's own samples of these operators ('*': all).")
@click.option(
    "--relayouts", type=click.IntRange(0), default=0, metavar="N", help="Each of them N times in drawn layouts."
)
@click.option("--skip-missing", is_flag=True, help="Libraries and devices that are not here are skipped, not an error.")
@click.option("--python", default="", metavar="PATH", help="Interpreter of the environment that has the library.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.01),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Seconds for one program.",
)
@click.option(
    "--start-timeout",
    type=click.FloatRange(0.01),
    default=90.0,
    show_default=True,
    metavar="S",
    help="Seconds for a library to import.",
)
@_out()
def check_command(out: Path, **options: Any) -> None:
    """Judge libraries against the rules of PyTorch's memory layout.

    ADAPTER is an installed name (torch, numpy, cupy, reference), module:attribute, or a path to a Python file. Each
    runs in a process of its own. Without --examples or --seconds only the corpus runs: the same outcome every time.

    \b
    Examples
      stridecheck check torch
      stridecheck check numpy --rules 'view.*' --programs 200
      stridecheck check my_library/adapter.py --seconds 60 --python .venv/bin/python
    """
    _check_options(options)
    with _told(out), _Bars() as bars:
        code = check(Options(**options), out, bars)
    with _told(out):
        _render([out], out)
    raise SystemExit(code)


@main.command("bench", epilog=EXIT_CODES)
@click.option(
    "--cases",
    multiple=True,
    metavar="GLOB",
    help="Only cases that match, like copy or '*/transposed'; may be repeated.",
)
@click.option(
    "--adapters",
    default=",".join(benchmarks.DEFAULT_ADAPTERS),
    show_default=True,
    metavar="A,B",
    help="Libraries to time, as `check` names them. Of the default ones, those that are installed.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    envvar="STRIDECHECK_THREADS",
    show_envvar=True,
    help="Threads that one operation may use.",
)
@click.option("--quick", is_flag=True, help="Only the quick set, measured more briefly: half a minute.")
@click.option("--list", "list_only", is_flag=True, help="List the cases and time nothing.")
@_out()
@click.pass_context
def bench_command(
    context: click.Context,
    cases: tuple[str, ...],
    adapters: str,
    threads: int,
    quick: bool,
    list_only: bool,
    out: Path,
) -> None:
    """Time layouts: copies, arithmetic, matmul, conv2d and sums over contiguous, transposed, stepped, … tensors.

    A case is operation/layout/dtype/size. All libraries run in this process, in turns, and each result is compared with
    the oracle's. Beside every time stands x_copy: how many times as long it is as the best contiguous copy of the same
    output bytes in the same run; and x_traffic: the same against the cache lines that must be touched.

    \b
    Examples
      stridecheck bench --quick
      stridecheck bench --cases copy --cases 'sum*/*/*/large'
      stridecheck bench --adapters torch,my_library/adapter.py --threads 2
      stridecheck bench --list --cases '*/channels_last'
    """
    with _told():
        if list_only:
            for case in select(cases, quick=quick):
                click.echo(describe(case))
            return
    asked = context.get_parameter_source("adapters") is not ParameterSource.DEFAULT
    names = tuple(name.strip() for name in adapters.split(",") if name.strip()) if asked else ()
    if asked and not names:
        _fail(USAGE, "--adapters names none")
    with _told(out), _Bars("cases") as bars:
        code = benchmarks.bench(benchmarks.Options(cases, names, threads, quick), out, bars)
    with _told(out):
        _render([out], out)
    raise SystemExit(code)


def _check_options(options: dict[str, Any]) -> None:
    """Refuse options that would do nothing."""
    from difflib import get_close_matches
    from fnmatch import filter as matching

    from stridecheck.conformance.rules import catalogue

    if not matching(catalogue().rules, options["rules"]):
        close = get_close_matches(options["rules"], catalogue().rules, 3)
        hint = f"; did you mean {', '.join(close)}?" if close else "; `stridecheck rules` lists all"
        _fail(USAGE, f"no rule matches {options['rules']!r}{hint}")
    if options["relayouts"] and not options["opinfo"]:
        _fail(USAGE, "--relayouts needs --opinfo: it lays those samples out anew")


def _render(directories: list[Path], out: Path) -> None:
    """Write everything that is derived from results, and say what and where."""
    from stridecheck.reports.render import render_dirs
    from stridecheck.reports.run import load, results_files
    from stridecheck.reports.terminal import lines

    paths = render_dirs(directories, out)
    for line in lines(load(directories)):
        click.echo(line)
    page = next(path for path in paths if path.suffix == ".html")
    click.echo(f"report: {page}")
    paths += [file for directory in directories for file in results_files(directory)]
    others = ", ".join(_near(path, out) for path in paths if path != page)
    click.echo(f"beside it: {others}")


def _near(path: Path, out: Path) -> str:
    return str(path.relative_to(out)) if path.is_relative_to(out) else str(path)


@main.command(epilog=EXIT_CODES)
@click.argument("directories", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Where to write; default: the first DIR.")
def report(directories: tuple[Path, ...], out: Path | None) -> None:
    """Render results again, also those of a run that was interrupted or killed.

    Several directories become one page.
    """
    target = out or (directories[0] if directories[0].is_dir() else directories[0].parent)
    with _told(target):
        _render(list(directories), target)


@main.command()
@click.argument("rule", required=False, metavar="[ID]")
def rules(rule: str | None) -> None:
    """List all rules, one a line, or show one.

    The list is plain text: `stridecheck rules | grep contiguous`.
    """
    from stridecheck.conformance.rules import catalogue

    known = catalogue().rules
    if rule is None:
        width = max(len(id) for id in known)
        for one in known.values():
            click.echo(f"{one.id:<{width}}  {one.sentence}")
        return
    if rule not in known:
        import difflib

        close = difflib.get_close_matches(rule, known, 3)
        hint = f"; did you mean {', '.join(close)}?" if close else "; `stridecheck rules` lists all"
        _fail(USAGE, f"no rule {rule!r}{hint}")
    one = known[rule]
    click.echo(f"{one.id}\n\n  {one.sentence}\n")
    click.echo(
        f"  family      {one.family}\n  source      {one.source}\n  aspects     {', '.join(sorted(one.aspects))}"
    )
    click.echo(f"  operations  {', '.join(sorted(one.operations)) or 'all'}")
    _show_programs(rule)


def _show_programs(rule: str, count: int = 3) -> None:
    """The first corpus programs that exercise a rule."""
    from stridecheck.conformance import corpus
    from stridecheck.conformance.adapters import reference
    from stridecheck.conformance.execute import execute
    from stridecheck.conformance.listing import listing
    from stridecheck.conformance.rules import catalogue

    oracle = reference.adapter()
    shown: list[Program] = []
    total = 0
    with _told():
        for program in corpus.read():
            found = catalogue().classify(program, execute(program, oracle))
            if any(one.id == rule for step in found for one in step):
                total += 1
                if len(shown) < count:
                    shown.append(program)
    click.echo(f"  programs    {total} of the corpus\n")
    for program in shown:
        click.echo(f"  program {program.id}")
        for line in listing(program).splitlines():
            click.echo(f"    {line}")


@main.command()
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.argument("program", metavar="ID")
def repro(results: Path, program: str) -> None:
    """Print the standalone script of a failure.

    RESULTS is a results directory or file; ID is a program's id, or the beginning of it, as the report shows them. The
    script needs nothing but the library, exits 1 while the deviation is there, and 0 when it is gone.
    """
    path = results / "results.jsonl" if results.is_dir() else results
    with _told():
        failures = [r for r in read_results(path) if isinstance(r, Failure) and r.program.startswith(program)]
    if not failures:
        _fail(USAGE, f"{path} has no failure of a program {program!r}")
    scripts = [failure.repro for failure in failures if failure.repro]
    if not scripts and not failures[0].shrunk:
        # Of many failures that look alike only a few are shrunk while they are found.
        scripts = [failure.repro for failure in _found_again(path, failures[0]) if failure.repro]
    if not scripts:
        message = f"{failures[0].message}: no script shows it in the library's own idiom; the program is in {path}"
        _fail(UNEXPECTED, message)
    click.echo(scripts[0], nl=False)


def _found_again(path: Path, failure: Failure) -> list[Failure]:
    """The failures that the same program shows now, shrunk."""
    from stridecheck.conformance.check import reproduce
    from stridecheck.conformance.runner import AdapterFailed

    header = next(record for record in read_results(path) if isinstance(record, Header))
    python = str(header.arguments.get("python", ""))
    # A library is recorded under its adapter's name; a file or module was given by another.
    given = [spec for spec in header.arguments.get("adapters", ()) if spec not in (failure.adapter, "torch", "numpy")]
    for spec in (failure.adapter, *given):
        try:
            return [
                f for f in reproduce(spec, python, Program.from_json(failure.found)) if f.adapter == failure.adapter
            ]
        except AdapterFailed as error:
            reason = error.reason
    _fail(COULD_NOT_RUN, reason)



if __name__ == "__main__":
    main()
