"""The suite's own score: how many of the libraries that are wrong on purpose are found out, by which rule, how soon.

Each mutant runs in a process of its own and is judged as any library is: those over the reference in one that is forked
(`hunt.py`), the others in a worker. Programs that cannot show its defect are not run: on them it does what the library
without the defect does. What that library does otherwise too kills no mutant.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from stridecheck.reports import records
from stridecheck.reports.records import ExitCode

from .. import corpus, machine, recorded
from ..adapters import reference
from ..answers import AdapterFailed, Answer, Broken, Unsupported
from ..both_sides import Batch
from ..check import Options, Progress, Silent
from ..classify import Event, events
from ..judge import judge
from ..observation import Observation
from ..options import command_line
from ..program import Program
from ..protocol import Adapter, OracleError, ProtocolError
from ..protocol import Unsupported as NotOffered
from ..rules import catalogue
from ..runner import Worker
from ..units import drawings
from .drawers import drawn
from .fleet import FLEET
from .hunt import Hunted, hunt
from .mutant import Mutant

BATCHES = (8, 24, 96)
"""Programs sent at a time, the last number again and again: most mutants are found out by the first few."""
UNITS = 8
"""Units of random programs that are tried at a time."""


class Trial(NamedTuple):
    """A program that mutants are tried on; `number` is its place among all, from 1."""

    number: int
    program: Program
    expected: Sequence[Observation]
    events: list[Event | None]
    source: str


class Lane:
    """Programs in their order, found by the operations that they use."""

    def __init__(self, trials: Iterable[Trial]) -> None:
        self.trials = list(trials)
        self._using: dict[str, list[int]] = defaultdict(list)
        for place, trial in enumerate(self.trials):
            for entry in {event.entry for event in trial.events if event is not None}:
                self._using[entry].append(place)

    def of(self, mutant: Mutant) -> Iterator[tuple[int, Trial]]:
        """The programs that can show a mutant's defect, with their places in the lane."""
        used = {place for entry in mutant.entries for place in self._using[entry]}
        for place in range(len(self.trials)) if mutant.shows else sorted(used):
            trial = self.trials[place]
            if mutant.is_reached(trial.events, trial.expected):
                yield place, trial


def score(options: Options, out: Path, progress: Progress | None = None, globs: Sequence[str] = ()) -> int:
    """Try the mutants that `options.adapters` names, write a record of each into `out`; the answer is the exit code.

    `globs` is what they were chosen by, for the command line that the report shows.

    The corpus comes first, then, for those that are left, random programs: 0 if all are found out, 1 if some are not,
    else 3 if one could not be tried, 4 if no program reached any.

    Raises
    ------
    CorpusError, OSError, KeyboardInterrupt
        As `check.check` does.
    """
    progress = progress or Silent()
    out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    outcomes = set()
    with records.ResultsWriter(out / "results.jsonl") as writer:
        writer.write(machine.header(_command(options, globs), {"seed": options.seed}))
        progress.begin("mutants", len(options.adapters))
        for record in _records(options):
            writer.write(record)
            progress.advance(1)
            outcomes.add("unreached" if record.outcome == "survived" and not record.reached else record.outcome)
        code = _exit_code(outcomes)
        writer.write(records.Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    return code


def _command(options: Options, globs: Sequence[str]) -> str:
    """The command line as one types it: by patterns, since a thousand names would fill a page."""
    asked = {name: getattr(options, name) for name in ("programs", "examples", "seconds", "seed")}
    return command_line("mutants", (), asked | {"only": globs}, vars(Options))


_CODES = {
    "killed": ExitCode.EXPECTED,
    "survived": ExitCode.UNEXPECTED,
    "unreached": ExitCode.UNEXPECTED,
    "untried": ExitCode.COULD_NOT_RUN,
}


def _exit_code(outcomes: set[str]) -> ExitCode:
    if outcomes <= {"unreached"}:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.of(_CODES[outcome] for outcome in outcomes)


def _records(options: Options) -> Iterator[records.Mutant]:
    """A record of each mutant, as soon as it is known what comes of it."""
    with ExitStack() as stack:
        bare = _Bare(stack, options)
        left = [stack.enter_context(_Hunt(FLEET[spec.partition(":")[2]], bare)) for spec in options.adapters]
        for lane in _lanes(options):
            running = left
            left = []
            for one, record in _over(running, lane, options):
                if record is None:
                    left.append(one)
                else:
                    yield record
            if not left:
                return
        for one in left:
            yield one.survived()


def _over(hunts: list[_Hunt], lane: Lane, options: Options) -> Iterator[tuple[_Hunt, records.Mutant | None]]:
    """Each hunt with the record of its mutant, None where no program of the lane found it out."""
    here = [one for one in hunts if one.mutant.base == reference.Reference.name]
    # A process takes longer to fork than most lanes take to be seen to have nothing for a mutant.
    idle = [one for one in here if next(lane.of(one.mutant), None) is None]
    for one in idle:
        yield one, one.told_by(lane, Hunted(0, None))
    reached = [one for one in here if one not in idle]
    found = hunt([one.mutant for one in reached], lane.of, options.timeout)
    for one, hunted in zip(reached, found, strict=True):
        yield one, one.told_by(lane, hunted)
    # No thread runs while processes are forked.
    apart = [one for one in hunts if one not in here]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(apart, pool.map(_Hunt.over, apart, repeat(lane)), strict=True)


def _lanes(options: Options) -> Iterator[Lane]:
    """The corpus, then random programs unit by unit."""
    oracle = reference.adapter()
    programs = corpus.read(count=options.programs) if options.programs != 0 else []
    yield Lane(_trials(((program, _expected(program, oracle)) for program in programs), 1, "corpus"))
    done = len(programs)
    units = drawn(drawings(options))
    # A process is forked for each mutant and lane: several units at a time share it.
    while some := list(islice(units, UNITS)):
        trials = []
        for unit in some:
            trials.append(_trials(zip(unit.programs, unit.expected, strict=True), done + 1, unit.name))
            done += len(unit.programs)
        yield Lane(chain(*trials))


def _expected(program: Program, oracle: Adapter) -> Sequence[Observation] | None:
    """What the oracle does with a program; None where it cannot say, which `check` tells."""
    try:
        return recorded.expected(program, oracle)
    except (OracleError, ProtocolError, NotOffered):
        return None


def _trials(ran: Iterable[tuple[Program, Sequence[Observation] | None]], first: int, source: str) -> Iterator[Trial]:
    for number, (program, expected) in enumerate(ran, first):
        if expected is not None:
            yield Trial(number, program, expected, list(events(program, expected)), source)


class _Bare:
    """The libraries without defects: what they do otherwise than the oracle is no mutant's."""

    def __init__(self, stack: ExitStack, options: Options) -> None:
        self._stack, self._options = stack, options
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()

    def differences(self, base: str, trial: Trial) -> set[tuple[int, str, str]]:
        """(step, value, aspect) of what an adapter does otherwise in a program."""
        with self._lock:
            if base not in self._workers:
                worker = self._workers[base] = self._stack.enter_context(_worker(base, self._options))
                worker.start()
            worker = self._workers[base]
            worker.submit([(0, trial.program)])
            ((_, answer),) = worker.collect()
        if isinstance(answer, Unsupported | Broken):
            return set()
        verdicts = judge(trial.program, trial.expected, answer, worker.capabilities)
        return {difference[:3] for verdict in verdicts for difference in verdict.differences}

    def worker(self, spec: str) -> Worker:
        """A worker as the run's options want it."""
        return _worker(spec, self._options)


def _worker(spec: str, options: Options) -> Worker:
    return Worker(spec, program_timeout=options.timeout, start_timeout=options.start_timeout)


class _Hunt:
    """One mutant, whose process lives until it is found out."""

    def __init__(self, mutant: Mutant, bare: _Bare) -> None:
        self.mutant, self._bare = mutant, bare
        self._worker = bare.worker(f"mutant:{mutant.id}")
        self._started = False
        self._reached = self._programs = 0

    def __enter__(self) -> _Hunt:
        return self

    def __exit__(self, *exc: object) -> None:
        self._worker.stop()

    def over(self, lane: Lane) -> records.Mutant | None:
        """Try the programs of a lane one after the other; a record once the mutant is found out or cannot be tried."""
        trials = (trial for _, trial in lane.of(self.mutant))
        sizes = chain(BATCHES, repeat(BATCHES[-1]))
        try:
            while batch := list(islice(trials, next(sizes))):
                if (record := self._try(batch)) is not None:
                    self._worker.stop()
                    return record
        except AdapterFailed as error:
            return self._record("untried", message=error.reason)
        self._programs += len(lane.trials)
        return None

    def told_by(self, lane: Lane, hunted: Hunted) -> records.Mutant | None:
        """The record of what has come of a lane in a process of the mutant's own."""
        self._reached += hunted.reached
        shown = hunted.shown
        if shown is None:
            self._programs += len(lane.trials)
            return None
        trial = lane.trials[shown.place] if shown.place >= 0 else None
        if shown.untried or trial is None:
            return self._record("untried", trial, message=shown.message)
        if shown.step is None:
            return self._record("killed", trial, aspect=shown.aspect, message=shown.message)
        return self._killed(trial, shown.step, shown.aspect, shown.message)

    def survived(self) -> records.Mutant:
        """The record of a mutant that nothing has found out."""
        return self._record("survived")

    def _try(self, trials: list[Trial]) -> records.Mutant | None:
        if not self._started:
            self._worker.start()
            self._started = True
        batch = Batch(self._worker, [trial.program for trial in trials], lambda number: trials[number].expected)
        for number, answer in batch.answers():
            self._reached += 1
            if (record := self._told(trials[number], answer)) is not None:
                return record
        return None

    def _told(self, trial: Trial, answer: Answer) -> records.Mutant | None:
        """The record of a mutant that a program finds out."""
        if isinstance(answer, Unsupported):
            return None
        if isinstance(answer, Broken):
            if answer.outcome == "error":
                return self._record("untried", trial, message=answer.reason)  # the mutant itself went wrong
            return self._record("killed", trial, aspect=answer.outcome, message=answer.reason)
        found = [
            difference
            for verdict in judge(trial.program, trial.expected, answer, self._worker.capabilities)
            for difference in verdict.differences
        ]
        known = self._bare.differences(self.mutant.base, trial) if found else set()
        for difference in found:
            if difference[:3] not in known:
                return self._killed(trial, difference.step, difference.aspect, difference.message)
        return None

    def _killed(self, trial: Trial, step: int, aspect: str, message: str) -> records.Mutant:
        rules = catalogue().classify(trial.program, trial.expected)[step + 1]
        return self._record(
            "killed",
            trial,
            operation=trial.program.steps[step].op if step >= 0 else "",
            aspect=aspect,
            rules=tuple([rule.id for rule in rules if aspect in rule.aspects]),
            message=message,
        )

    def _record(self, outcome: str, trial: Trial | None = None, **told: Any) -> records.Mutant:
        mutant = self.mutant
        return records.Mutant(
            name=mutant.id,
            sentence=mutant.sentence,
            base=mutant.base,
            like=mutant.like,
            outcome=outcome,
            programs=self._programs if trial is None else trial.number,
            reached=self._reached,
            source="" if trial is None else trial.source,
            program="" if trial is None else trial.program.id,
            **told,
        )
