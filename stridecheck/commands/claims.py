"""`stridecheck claims`: published claims about memory layout, each measured."""

from __future__ import annotations

from pathlib import Path

import click

from stridecheck.benchmarks.claims import CLAIMS, try_claims

from .common import matching, out_option, run_in
from .exit_codes import EXIT_CODES


@click.command("claims", epilog=EXIT_CODES)
@click.option("--only", "globs", multiple=True, metavar="ID", help="Only these claims, like 'in-place.*'.")
@click.option("--list", "list_only", is_flag=True, help="List the claims and try none.")
@out_option()
def claims_command(globs: tuple[str, ...], list_only: bool, out: Path) -> None:
    """Try claims about memory layout that circulate without machine, sizes or method.

    Each is measured on torch, in several processes, on one thread. It is confirmed where all trials agree with the
    claimed figure, refuted where none does, and depends on what tells them apart otherwise.

    \b
    Examples
      stridecheck claims
      stridecheck claims --only 'contiguous.*' --out claims
    """
    wanted = set(matching("claim", globs, [claim.id for claim in CLAIMS]))
    chosen = [claim for claim in CLAIMS if claim.id in wanted]
    if list_only:
        width = max(len(claim.id) for claim in chosen)
        for claim in chosen:
            click.echo(f"{claim.id:<{width}}  {claim.says} ({claim.claimed})")
        return
    raise SystemExit(run_in(out, lambda bars: try_claims(out, bars, chosen, globs), unit="claims"))
