"""Commands that read results: `report`, `diff`, `repro` and `promote`."""

from __future__ import annotations

from pathlib import Path

import click

from stridecheck.conformance import corpus
from stridecheck.conformance.answers import AdapterFailed
from stridecheck.conformance.corpus import PROMOTED
from stridecheck.conformance.expectations import ExpectationError
from stridecheck.conformance.listing import listing
from stridecheck.conformance.options import Options
from stridecheck.conformance.program import Program
from stridecheck.reports.records import RED, Adapter, ExitCode, Failure, Header, read_results
from stridecheck.reports.run import load
from stridecheck.reports.text import listed

from .common import Directory, fail, render, show_comparison, told
from .exit_codes import EXIT_CODES, READING_EXIT_CODES


@click.command(epilog=READING_EXIT_CODES)
@click.argument("directories", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@click.option("--out", type=Directory(path_type=Path, file_okay=False), help="Where to write; default: the first DIR.")
def report(directories: tuple[Path, ...], out: Path | None) -> None:
    """Render results again, also those of a run that was interrupted or killed.

    Several directories become one page.
    """
    target = out or (directories[0] if directories[0].is_dir() else directories[0].parent)
    with told(target):
        render(list(directories), target)


@click.command(epilog=EXIT_CODES)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--out", type=Directory(path_type=Path, file_okay=False), help="Also write diff.md and diff.csv there.")
def diff(old: Path, new: Path, out: Path | None) -> None:
    """Compare two runs: failures that are new or gone, and cases that are slower or faster.

    OLD and NEW are results directories or files. Times are compared where both runs have them, by the intervals of the
    ratio of medians; `bench --processes 5` on both sides tells how far processes of the same code differ. Exits with 1
    where there is an unexpected new failure or a slower case, with 3 where a library could run in OLD and failed to in
    NEW, and with 4 where nothing could be compared, as where the libraries have other names.
    """
    with told(out):
        raise SystemExit(show_comparison(load([old]), load([new]), out))


@click.command(epilog=READING_EXIT_CODES)
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.argument("program", default="", metavar="ID")
def repro(results: Path, program: str) -> None:
    """Print the standalone script of a failure.

    RESULTS is a results directory or file; ID is a program's id, or the beginning of it, as the report shows them. The
    script needs nothing but the library, exits 1 while the deviation is there, and 0 when it is gone.
    """
    path, failures = _failures_of(results, program)
    scripts = [failure.repro for failure in failures if failure.repro]
    if not scripts and not failures[0].shrunk:
        # Of many failures that look alike only a few are shrunk while they are found.
        scripts = [failure.repro for failure in _found_again(path, failures[0]) if failure.repro]
    if not scripts:
        message = f"{failures[0].message}: no script shows it in the library's own idiom; the program is in {path}"
        fail(ExitCode.COULD_NOT_RUN, message)
    click.echo(scripts[0], nl=False)


@click.command(epilog=READING_EXIT_CODES)
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.argument("program", metavar="ID")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    default=PROMOTED,
    show_default="promoted.jsonl of the corpus",
    help="File of JSON lines that the programs are appended to.",
)
def promote(results: Path, program: str, target: Path) -> None:
    """Put what a failure was shrunk to at the head of the corpus.

    RESULTS is a results directory or file; ID is a program's id, or the beginning of it, as the report shows them. From
    then on every run tries the smallest program that shows the failure first.

    \b
    Examples
      stridecheck promote out 3f2a
      stridecheck promote out 3f2a --to regressions.jsonl
    """
    path, failures = _failures_of(results, program)
    shrunk = [failure.shrunk for failure in failures if failure.shrunk]
    if not shrunk:
        shrunk = [failure.shrunk for failure in _found_again(path, failures[0]) if failure.shrunk]
    programs = [Program.from_json(one) for one in shrunk or [failures[0].found]]
    with told(target.parent):
        new = {one.id for one in corpus.promote(programs, target)}
    for one in {one.id: one for one in programs}.values():
        click.echo(f"{one.id} {'is now' if one.id in new else 'was already'} in {target}:\n{listing(one)}")


def _failures_of(results: Path, program: str) -> tuple[Path, list[Failure]]:
    """The results file, and the failures in it of programs whose ids begin so; a message where there are none."""
    path = results / "results.jsonl" if results.is_dir() else results
    with told():
        failures = [r for r in read_results(path) if isinstance(r, Failure) and r.program]
    found = [failure for failure in failures if program and failure.program.startswith(program)]
    if not found:
        unexpected_first = sorted(failures, key=lambda failure: failure.outcome not in RED)
        ids = listed(list(dict.fromkeys(failure.program for failure in unexpected_first)), _NAMED)
        none = f"{path} has no failure of a program {program!r}" if program else "give the ID of a program"
        fail(ExitCode.USAGE, f"{none}; {f'those that failed: {ids}' if ids else 'none failed'}")
    return path, found


_NAMED = 10
"""Programs that a message names."""


def _found_again(path: Path, failure: Failure) -> list[Failure]:
    """The failures that the same program shows now, shrunk, on the library and by the options of its run."""
    from stridecheck.conformance.check import reproduce

    header, *found = read_results(path)
    assert isinstance(header, Header)
    of_it = [record for record in found if isinstance(record, Adapter) and record.name == failure.adapter]
    with told():
        try:
            return reproduce(
                Options.from_json(header.arguments), of_it[-1].spec or failure.adapter, Program.from_json(failure.found)
            )
        except (AdapterFailed, ExpectationError) as error:
            error.add_note(f"paths are relative to where it was found, by: {header.command}")
            raise
