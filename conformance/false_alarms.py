"""False alarms: random programs of many seeds on a library that does as it should, where every failure is the suite's.

`python -m stridecheck.conformance.false_alarms [--seeds 100] [--examples 1000]`: each seed is what
`stridecheck check torch --programs 0 --examples 1000 --seed K` would run; one worker serves them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
from stridecheck.reports import records

from .answers import AdapterFailed
from .campaign import Campaign
from .draw.programs import DRAWS
from .expectations import bundled
from .listing import listing
from .options import Options
from .program import Program
from .rules import catalogue
from .runner import Worker
from .session import oracle
from .units import drawings, whole


def alarms(worker: Worker, seed: int, examples: int, draw: str) -> Iterator[records.Failure]:
    """What one seed finds that no expectation covers.

    Raises
    ------
    AdapterFailed
        The library died and could not be started again.
    """
    campaign = Campaign(worker, oracle(), catalogue(), bundled(worker.name, worker.versions))
    units = drawings(Options((worker.name,), programs=0, examples=examples, seed=seed, draw=draw))
    for found in campaign.run(whole(units, oracle())):
        yield from (one for one in found if isinstance(one, records.Failure) and one.outcome in records.RED)


@click.command()
@click.option("--adapter", default="torch", show_default=True, help="A library that does as it should.")
@click.option("--seeds", default=100, show_default=True, type=click.IntRange(1), help="Runs, a seed each.")
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--examples", default=1000, show_default=True, type=click.IntRange(1), help="Programs of each run.")
@click.option("--draw", type=click.Choice(DRAWS), default="tensors", show_default=True, help="What they are about.")
def main(adapter: str, seeds: int, first: int, examples: int, draw: str) -> None:
    """Run random programs of many seeds, and show every failure; exit code 1 where there is one."""
    begun = time.monotonic()
    red = 0
    try:
        with Worker(adapter) as worker:
            worker.start()
            for number, seed in enumerate(range(first, first + seeds), 1):
                for failure in alarms(worker, seed, examples, draw):
                    red += 1
                    click.echo(f"seed {seed}: {failure.operation} ({failure.aspect}): {failure.message}")
                    click.echo(failure.listing or listing(Program.from_json(failure.found)))
                if not number % 10 or number == seeds:
                    took = time.monotonic() - begun
                    click.echo(f"{number} runs of {examples:,} examples: {red} false alarms ({took:.0f} s)")
    except AdapterFailed as error:
        raise click.ClickException(error.reason) from None
    raise SystemExit(1 if red else 0)


if __name__ == "__main__":
    main()
