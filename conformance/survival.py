"""Proof that a run survives: its processes are killed at random moments, and its verdicts are those of a clean run.

`python -m stridecheck.conformance.survival --kills 20 -- numpy --programs 2000` kills the run itself or any process
below it, resumes until it is done, and exits 1 if anything was lost, counted twice or judged otherwise, or if it was
done before the last kill.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click
from stridecheck.reports import records

STRIDECHECK = (sys.executable, "-m", "stridecheck")
FEWEST = ("--programs", "1", "--examples", "0")


class Verdicts(NamedTuple):
    """What a results file says, without when it was found out, in which order, and how failures are shown."""

    units: Counter[str]
    """Units with all their counts; each once."""
    failures: Counter[tuple[Any, ...]]
    exit_code: int | None
    """None where the run has not ended by itself."""


def verdicts(out: Path) -> Verdicts:
    """The verdicts of a run, from the directory that it wrote.

    Raises
    ------
    ResultsError
        The file is missing or broken.
    """
    units: Counter[str] = Counter()
    failures: Counter[tuple[Any, ...]] = Counter()
    code = None
    for record in records.read_results(out / "results.jsonl"):
        match record:
            case records.Unit():
                units[records.to_line(record)] += 1
            case records.Failure(outcome="timeout" | "crash" | "error"):
                failures[record.adapter, record.program, record.outcome] += 1
            case records.Failure():
                what = record.operation, record.aspect, record.rules, record.expectation, record.source
                failures[record.adapter, record.program, record.outcome, *what] += 1
            case records.Footer():
                code = record.exit_code
    return Verdicts(units, failures, code)


def descendants(pid: int) -> list[int]:
    """Processes below one; Linux only."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


@dataclass
class Assault:
    """A run that is killed, again and again, and gone on with until it is done."""

    arguments: Sequence[str]
    """Of `stridecheck check`, without `--out` and `--resume`."""
    out: Path
    kills: int
    begin: float
    """Seconds until a run judges its first program."""
    work: float
    """Seconds that all programs take: each kill falls early enough that programs are left for the others."""
    seed: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    """Processes killed: `run` for the run itself, `below` for one below it."""

    def carry_out(self) -> None:
        """Run, kill and resume until the run ends by itself."""
        chance = random.Random(self.seed)
        within = self.begin + self.work / self.kills / 2
        while True:
            command = [*STRIDECHECK, "check", *self.arguments, "--out", str(self.out), "--resume"]
            run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while run.poll() is None:
                if self.killed.total() >= self.kills:
                    run.wait()
                elif not self._ends(run, chance.uniform(0, within)):
                    self._kill(run, chance)
            if run.returncode != -signal.SIGKILL:
                return

    @staticmethod
    def _ends(run: subprocess.Popen[bytes], seconds: float) -> bool:
        try:
            run.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _kill(self, run: subprocess.Popen[bytes], chance: random.Random) -> None:
        below = descendants(run.pid)
        victim = run.pid if chance.random() < 0.5 or not below else chance.choice(below)
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            self.killed["run" if victim == run.pid else "below"] += 1
        if victim == run.pid:
            run.wait()


def seconds_alone(arguments: Sequence[str], out: Path) -> float:
    """Run `stridecheck check` undisturbed; how long it took, in seconds."""
    begun = time.monotonic()
    command = [*STRIDECHECK, "check", *arguments, "--out", str(out)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - begun


@click.command()
@click.option("--kills", default=20, show_default=True, help="How many processes are killed.")
@click.option("--seed", default=0, show_default=True, help="Seed of the moments and the victims.")
@click.argument("arguments", nargs=-1, metavar="-- ADAPTER [OPTIONS OF check]")
def main(kills: int, seed: int, arguments: tuple[str, ...]) -> None:
    """Kill a run KILLS times at random moments, and compare its verdicts with those of a run that is left alone."""
    arguments = arguments or ("numpy", "--programs", "2000")
    with tempfile.TemporaryDirectory() as folder:
        clean, battered = Path(folder) / "clean", Path(folder) / "battered"
        seconds = seconds_alone(arguments, clean)
        begin = seconds_alone((*arguments, *FEWEST), Path(folder) / "one")
        assault = Assault(arguments, battered, kills, begin, seconds - begin, seed)
        assault.carry_out()
        expected, got = verdicts(clean), verdicts(battered)
    click.echo(
        f"stridecheck check {' '.join(arguments)}: {seconds:.0f} s when left alone; the run was killed "
        f"{assault.killed['run']} times and a process below it {assault.killed['below']} times"
    )
    same = expected == got
    click.echo(
        f"{expected.units.total()} units and {expected.failures.total()} failures: "
        + ("the same verdicts" if same else f"{got.units.total()} and {got.failures.total()}: not the same verdicts")
    )
    raise SystemExit(0 if same and assault.killed.total() == kills else 1)


if __name__ == "__main__":
    main()
