"""`stridecheck mutants`: the suite's own score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stridecheck.conformance.check import Options
from stridecheck.conformance.mutants.fleet import FLEET
from stridecheck.conformance.mutants.score import score

from .common import Seconds, matching, out_option, run_in
from .exit_codes import EXIT_CODES


@click.command("mutants", epilog=EXIT_CODES)
@click.option(
    "--only", "globs", multiple=True, metavar="ID", help="Only these mutants, like 'clone.*'; may be repeated."
)
@click.option("--list", "list_only", is_flag=True, help="List the mutants and try none.")
@click.option("--programs", type=click.IntRange(0), metavar="N", help="Only the first N corpus programs.")
@click.option(
    "--examples", type=click.IntRange(0), default=0, metavar="N", help="N random programs for those that are left."
)
@click.option("--seconds", type=Seconds(0), default=0.0, metavar="S", help="Random programs for S seconds, likewise.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random programs.")
@out_option()
def mutants_command(globs: tuple[str, ...], list_only: bool, out: Path, **options: Any) -> None:
    """Measure the suite itself: how many libraries that are wrong on purpose does it find out?

    Each mutant does what PyTorch does, but for one small defect, many of them modelled on real bugs. The corpus runs on
    each until a program shows the defect, then random programs on those that are left. Exit code 1 says that some were
    not found out. `stridecheck check mutant:ID` reports on one as on any library.

    \b
    Examples
      stridecheck mutants
      stridecheck mutants --only 'clone.*' --seconds 60
      stridecheck check mutant:clone.loses-order
    """
    chosen = matching("mutant", globs, [*FLEET])
    if list_only:
        width = max(len(id) for id in chosen)
        for id in chosen:
            click.echo(f"{id:<{width}}  {FLEET[id].sentence}")
        return
    asked = Options(tuple(f"mutant:{id}" for id in chosen), draw="all", **options)
    raise SystemExit(run_in(out, lambda bars: score(asked, out, bars, globs), unit="mutants"))
