"""Checks adapters: corpus and random programs through one campaign each, one results file for all."""

from __future__ import annotations

import itertools
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

from stridecheck.reports import records

from . import corpus, exhaustive, machine
from .campaign import UNIT, Campaign, Unit, units_of
from .discovery import find
from .draw.programs import draw_program
from .draw.relayout import relayout
from .draw.source import Seeded
from .expectations import ExpectationError, Expectations, bundled, load
from .observation import Observation
from .program import Program
from .protocol import Adapter
from .rules import catalogue
from .runner import MEMORY, PROGRAM_TIMEOUT, START_TIMEOUT, AdapterFailed, Worker

EXPECTED, UNEXPECTED, USAGE, COULD_NOT_RUN, NOTHING_JUDGED = range(5)
"""Exit codes: as expected · unexpected outcomes · wrong usage · could not run · judged nothing."""


@dataclass(frozen=True)
class Options:
    """What to check and how; the defaults are the corpus alone, which is deterministic."""

    adapters: tuple[str, ...]
    rules: str = "*"
    programs: int | None = None
    """Corpus programs to run: a prefix is a fair sample; None means all, 0 none."""
    examples: int = 0
    """Random programs to run after the corpus."""
    seconds: float = 0.0
    """Time to go on drawing random programs."""
    seed: int = 0
    exhaustive: bool = False
    """Whether every small layout is viewed as every small shape."""
    opinfo: str = ""
    """Glob of PyTorch's operators whose own samples are run too; needs torch with its testing helpers."""
    relayouts: int = 0
    """How often each of those samples is run again over drawn layouts."""
    expect: Path | None = None
    """Expectation file in the place of the bundled one."""
    update_expectations: bool = False
    python: str = ""
    """Interpreter of the environment that has the library; empty means this one."""
    skip_missing: bool = False
    """Whether a library or device that is not here is skipped, with its reason, instead of ending with an error."""
    timeout: float = PROGRAM_TIMEOUT
    start_timeout: float = START_TIMEOUT
    memory: int = MEMORY >> 20
    """MiB by which the library's process may grow; 0 sets no limit."""


class Progress(Protocol):
    """Who is told how a run goes on."""

    def begin(self, adapter: str, total: int | None) -> None:
        """An adapter begins, with that many programs to come (None: unknown)."""

    def advance(self, programs: int) -> None:
        """Programs are done."""

    def note(self, text: str) -> None:
        """Something the user should know."""


class Silent:
    """Tells nobody."""

    def begin(self, adapter: str, total: int | None) -> None:
        """Nothing."""

    def advance(self, programs: int) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


@dataclass
class _Tally:
    red: int = 0
    judged: int = 0
    failed: list[AdapterFailed] = field(default_factory=list)

    def exit_code(self) -> int:
        if self.red:
            return UNEXPECTED
        if self.failed:
            return USAGE if all(error.kind == "unknown" for error in self.failed) else COULD_NOT_RUN
        return EXPECTED if self.judged else NOTHING_JUDGED


def check(options: Options, out: Path, progress: Progress | None = None) -> int:
    """Check every adapter of the options, write `results.jsonl` into `out`, and answer with the exit code.

    What is done is in the file at any moment. An adapter that cannot be started is recorded, and the others go on.

    Raises
    ------
    OSError
        The directory cannot be written.
    UnknownAdapter
        There is no adapter of a name; nothing is written then.
    CorpusError, ExpectationError
        A file that was asked for is missing or broken.
    KeyboardInterrupt
        Ctrl-C: the file has no footer then.
    """
    if options.update_expectations and options.rules != "*":
        raise ExpectationError("--update-expectations needs all rules: a list made under --rules would miss the others")
    if not options.python:
        for spec in options.adapters:
            find(spec)  # a name that is mistyped must not cost the results that are there
    progress = progress or Silent()
    out.mkdir(parents=True, exist_ok=True)
    programs = corpus.read(count=options.programs) if options.programs != 0 else []
    rules = [
        {"id": r.id, "family": r.family, "sentence": r.sentence, "source": r.source, "aspects": sorted(r.aspects)}
        for r in catalogue().rules.values()
    ]
    tally = _Tally()
    known: dict[str, list[Observation]] = {}
    named: dict[str, str] = {}
    begun = time.monotonic()
    with records.ResultsWriter(out / "results.jsonl") as writer:
        writer.write(machine.header(command_line("check", options), _arguments(options), rules))
        for spec in dict.fromkeys(options.adapters):
            _check_one(spec, options, programs, writer, progress, tally, known, named)
        code = tally.exit_code()
        writer.write(records.Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    return code


def command_line(command: str, options: Options) -> str:
    """The command that does the same again, fit to be pasted into a shell."""
    parts = ["stridecheck", command, *options.adapters]
    for one in fields(options):
        value = getattr(options, one.name)
        if one.name != "adapters" and value != one.default:
            flag = f"--{one.name.replace('_', '-')}"
            parts += [flag] if value is True else [flag, str(value)]
    return shlex.join(parts)


def _arguments(options: Options) -> dict[str, Any]:
    return {k: str(v) if isinstance(v, Path) else v for k, v in asdict(options).items() if v not in (None, "")}


def _oracle() -> Adapter:
    from .adapters import reference

    return reference.adapter()


def _check_one(
    spec: str,
    options: Options,
    programs: Sequence[Program],
    writer: records.ResultsWriter,
    progress: Progress,
    tally: _Tally,
    known: dict[str, list[Observation]],
    named: dict[str, str],
) -> None:
    worker = Worker(
        spec,
        python=options.python or sys.executable,
        program_timeout=options.timeout,
        start_timeout=options.start_timeout,
        memory=options.memory << 20,
    )
    with worker:
        try:
            worker.start()
            if (other := named.setdefault(worker.name, spec)) != spec:
                # Records are told apart by the adapter's name: two of one name would be one library.
                raise AdapterFailed("unknown", f"{spec} is named {worker.name!r}, as {other} is")
        except AdapterFailed as error:
            _could_not_start(spec, error, writer, progress)
            if error.kind != "missing" or not options.skip_missing:
                tally.failed.append(error)
            return
        expectations = _expectations(worker, options)
        if options.update_expectations and expectations.path is None:
            raise ExpectationError(f"{worker.name} has no expectation file to update: give --expect FILE")
        total = len(programs) + options.examples if not options.seconds else None
        progress.begin(worker.name, total)
        writer.write(records.Adapter(worker.name, "ready", "", dict(worker.versions), worker.capabilities.to_json()))
        campaign = Campaign(
            worker=worker,
            oracle=_oracle(),
            catalogue=catalogue(),
            expectations=expectations,
            write=writer.write,
            rules=options.rules,
            progress=progress.advance,
            known=known,
        )
        try:
            campaign.run(units_of(programs, "corpus"))
            campaign.run(random_units(options, campaign.oracle))
            campaign.run(_exhaustive_units(options))
            campaign.run(_opinfo_units(options))
        except AdapterFailed as error:  # it died, and could not be started again
            error = AdapterFailed("error", error.reason)  # it did start: no mistake of usage
            _could_not_start(worker.name, error, writer, progress)
            tally.failed.append(error)
            return  # what did not run says nothing about expectations
        finally:
            tally.red += campaign.red
            tally.judged += campaign.judged
        red = campaign.red
        if options.update_expectations:
            path = expectations.write_list(campaign.matched, None if options.programs is None else campaign.ran)
            progress.note(f"{worker.name}: wrote {path}")
        elif options.rules == "*":
            for problem in campaign.close():
                progress.note(f"{worker.name}: {problem}")
        tally.red += campaign.red - red


def reproduce(spec: str, python: str, program: Program) -> list[records.Failure]:
    """What one program shows on a library now, shrunk and with scripts: the same campaign over that program alone.

    Raises
    ------
    AdapterFailed
        The library cannot be started here.
    """
    found: list[records.Failure] = []

    def write(record: records.Record) -> None:
        if isinstance(record, records.Failure):
            found.append(record)

    with Worker(spec, python=python or sys.executable) as worker:
        worker.start()
        campaign = Campaign(worker, _oracle(), catalogue(), Expectations(), write)
        campaign.run([Unit("repro", (program,), from_corpus=False)])
    return found


def _could_not_start(spec: str, error: AdapterFailed, writer: records.ResultsWriter, progress: Progress) -> None:
    missing = error.kind == "missing"
    name = "torch:cpu" if spec == "torch" else spec
    writer.write(records.Adapter(name, "skipped" if missing else "failed", error.reason))
    progress.note(f"{name}: {'skipped' if missing else 'failed'}, {error.reason}")


def _expectations(worker: Worker, options: Options) -> Expectations:
    if options.expect is not None:
        return load(options.expect, worker.versions)
    return bundled(worker.name, worker.versions)


def _exhaustive_units(options: Options) -> Iterator[Unit]:
    """Every small layout with every view target, a few at a time: all of them at once are many."""
    remaining = exhaustive.programs() if options.exhaustive else iter(())
    for number in itertools.count():
        programs = tuple(itertools.islice(remaining, UNIT))
        if not programs:
            return
        yield Unit(f"exhaustive:{number}", programs, from_corpus=False)


def _opinfo_units(options: Options) -> Iterator[Unit]:
    """PyTorch's own samples of the operators asked for, a unit each operator."""
    if not options.opinfo:
        return
    from .opinfo import samples

    for operator, group in itertools.groupby(samples(options.opinfo), key=lambda sample: sample.operator):
        found = {sample.program.id: sample.program for sample in group}
        for program in list(found.values()):
            for turn in range(options.relayouts):
                moved = relayout(Seeded(f"{options.seed}:{program.id}:{turn}"), program)
                found[moved.id] = moved
        programs = tuple(found.values())
        for unit in units_of(programs, f"opinfo:{operator}"):
            yield replace(unit, from_corpus=False)


def random_units(options: Options, oracle: Adapter) -> Iterator[Unit]:
    """Seeded programs, unit by unit, until there are enough or the time is up."""
    deadline = time.monotonic() + options.seconds
    number = 0
    while number < options.examples or (options.seconds and time.monotonic() < deadline):
        size = UNIT if options.seconds else min(UNIT, options.examples - number)
        drawn = [draw_program(Seeded(f"{options.seed}:{number + i}"), oracle) for i in range(size)]
        yield Unit(
            f"random:{options.seed}:{number}-{number + size}",
            tuple(d.program for d in drawn),
            tuple(d.expected for d in drawn),
            from_corpus=False,
        )
        number += size
