"""Whole programs a CPU second: how fast a library is checked, and where the time goes.

`python -m stridecheck.benchmarks.throughput [--adapter NAME] [--programs N]`. Counted are the CPU seconds of parent,
oracle and worker together, on one core, from the program to the record; importing the library is a cost of the start,
told apart.
What the oracle does with corpus programs and the rules they exercise are recorded, as in every check; random ones are
run by the oracle while they are drawn, and their rules are found.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import TypeVar

import click
from stridecheck.conformance import corpus, recorded
from stridecheck.conformance.adapters import reference
from stridecheck.conformance.answers import AdapterFailed, Broken, Unsupported
from stridecheck.conformance.campaign import Campaign
from stridecheck.conformance.capabilities import needs
from stridecheck.conformance.collector import collect_rarely
from stridecheck.conformance.execute import execute
from stridecheck.conformance.expectations import bundled
from stridecheck.conformance.judge import judge
from stridecheck.conformance.rules import catalogue
from stridecheck.conformance.runner import Worker
from stridecheck.conformance.units import UNIT, Drawing, Unit, units_of
from stridecheck.reports import records

T = TypeVar("T")

GOAL = 3000
"""Whole programs a CPU second that the suite sets itself for torch."""
_WARM = 100
"""Programs run before anything is counted: caches fill, modules are imported."""


@dataclass
class Cost:
    """CPU seconds of a run over a number of programs, as a whole and in parts."""

    programs: int
    """Programs that were judged: those that the library does not claim are left out."""
    whole: float
    """CPU seconds of parent and worker, without the start of the worker."""
    start: float
    """CPU seconds of starting the worker, the library's import above all."""
    parts: dict[str, float] = field(default_factory=dict)
    """CPU seconds by what they were spent on, measured apart."""

    @property
    def rate(self) -> float:
        """Programs a CPU second."""
        return self.programs / self.whole if self.programs else 0.0


def measure(spec: str, units: Sequence[Unit]) -> Cost:
    """What it costs to check programs on an adapter, from the program to the record.

    Raises
    ------
    AdapterFailed
        The adapter cannot be started.
    """
    oracle = reference.adapter()
    for program in units[0].programs[:_WARM]:
        execute(program, oracle)
    collect_rarely()
    # What is taken off for the start is the least of several: a slow one would flatter the rest.
    start = min(_worker_cost(spec, lambda worker: None)[0] for _ in range(3))
    whole, (parent, judged) = _worker_cost(spec, lambda worker: _clocked(lambda: _check(worker, units)))
    parts = {"worker": whole - start, **_parts(spec, units)}
    return Cost(judged, parent + whole - start, start, parts)


def _clocked(run: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of this process that a call takes, and what it answers."""
    begun = time.process_time()
    answer = run()
    return time.process_time() - begun, answer


def _worker_cost(spec: str, use: Callable[[Worker], T]) -> tuple[float, T]:
    """CPU seconds of a worker and its children from start to end, and what was done with it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Worker(spec) as worker:
        worker.start()
        answer = use(worker)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, answer


def _check(worker: Worker, units: Sequence[Unit]) -> int:
    """Everything that `stridecheck check` does with programs, but for the disk; how many it judged."""
    campaign = Campaign(
        worker=worker,
        oracle=reference.adapter(),
        catalogue=catalogue(),
        expectations=bundled(worker.name, worker.versions),
    )
    judged = 0
    for found in campaign.run(units):
        for record in found:
            records.to_line(record)
            if isinstance(record, records.Unit):
                judged += record.programs - sum(record.unsupported.values())
    return judged


def _parts(spec: str, units: Sequence[Unit]) -> dict[str, float]:
    """Each part of the parent's work done alone, over the programs that the library runs."""
    found: dict[str, float] = {}
    oracle, rules = reference.adapter(), catalogue()
    with Worker(spec) as worker:
        worker.start()
        claimed = worker.capabilities
        given = [pair for unit in units for pair in zip_longest(unit.programs, unit.expected)]
        given = [(program, ours) for program, ours in given if claimed.missing(needs(program)) is None]
        runnable = [program for program, _ in given]
        if from_corpus := units[0].from_corpus:
            recorded.expected(runnable[0], oracle)  # the record is read before the clock is started: that is done once
            found["recorded"], expected = _clocked(lambda: [recorded.expected(program, oracle) for program in runnable])
        else:
            expected = [ours or [] for _, ours in given]
        found["programs to JSON"], _ = _clocked(lambda: [replace(program).line for program in runnable])
        worker.submit(list(enumerate(runnable)))
        found["answers read"], answers = _clocked(lambda: dict(worker.collect(dict(enumerate(expected)))))
    pairs = []
    for number, (program, ours) in enumerate(zip(runnable, expected, strict=True)):
        theirs = answers[number]
        if not isinstance(theirs, Unsupported | Broken):
            pairs.append((program, ours, theirs))
    found["judge"], _ = _clocked(lambda: [judge(p, ours, theirs, claimed) for p, ours, theirs in pairs])
    find = partial(recorded.exercised, catalogue=rules) if from_corpus else rules.classify
    find(runnable[0], expected[0])  # as above
    found["rules"], _ = _clocked(lambda: [find(p, ours) for p, ours, _ in pairs])
    return found


def draw(count: int, seed: int) -> tuple[float, list[Unit]]:
    """CPU seconds that drawing random programs takes, the oracle's run of each with it, and the programs."""
    oracle = reference.adapter()
    Drawing(seed, count, count + _WARM).draw(oracle)
    numbers = range(0, count, UNIT)
    return _clocked(lambda: [Drawing(seed, n, min(n + UNIT, count)).draw(oracle) for n in numbers])


def _show(title: str, cost: Cost, drawing: float = 0.0) -> None:
    click.echo(f"{title}: {cost.programs:,} programs in {cost.whole:.2f} CPU s")
    click.echo(f"  {cost.rate:,.0f} programs a CPU second (goal for torch: {GOAL:,})")
    if drawing:
        click.echo(f"  {cost.programs / (cost.whole + drawing):,.0f} programs a CPU second with drawing")
    parts = {**cost.parts, "records, shrinking": cost.whole - sum(cost.parts.values())}
    for name, seconds in (parts | ({"drawing": drawing} if drawing else {})).items():
        click.echo(f"  {name:<20}{seconds / max(1, cost.programs) * 1e6:8.0f} us a program{seconds / cost.whole:8.0%}")
    click.echo(f"  starting the worker took {cost.start:.2f} CPU s, not counted")


@click.command()
@click.option("--adapter", "spec", default="torch", show_default=True, help="Library to check.")
@click.option("--programs", default=2000, show_default=True, type=click.IntRange(1), help="Programs of each source.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random programs.")
def main(spec: str, programs: int, seed: int) -> None:
    """Print how many whole programs are checked in a CPU second, from the corpus and drawn at random."""
    if hasattr(os, "sched_setaffinity"):
        # One core for all: beside each other, the cores of a virtual machine, often two threads of one real core, slow
        # each other down, and CPU seconds would count that.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        _show("corpus", measure(spec, [*units_of(corpus.read(count=programs), "corpus")]))
        drawing, drawn = draw(programs, seed)
        _show("random", measure(spec, drawn), drawing)
    except AdapterFailed as error:
        raise click.ClickException(error.reason) from None


if __name__ == "__main__":
    main()
