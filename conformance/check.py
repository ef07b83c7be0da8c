"""Checks adapters: a campaign for each over the units of the run, one results file for all."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NoReturn, Protocol

from stridecheck.reports import records
from stridecheck.reports.records import ExitCode

from . import corpus, examples, machine, samples, small_scope
from .answers import AdapterFailed
from .campaign import out_of_date
from .collector import collect_rarely
from .crews import Crew, Crews, crews
from .discovery import UnknownAdapter, find
from .expectations import ExpectationError, Expectations, load
from .options import Options as Options
from .options import check_line
from .program import Program
from .resume import note_last, reopen
from .rules import catalogue, matching_none
from .session import Session, expectations, oracle
from .units import Drawing, Part, Unit, plan


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
class _Results:
    """The results file of a run, and what has been written into it, now or before the run was ended."""

    writer: records.ResultsWriter
    red: bool = False
    judged: bool = False
    failed: list[AdapterFailed] = field(default_factory=list)
    adapters: dict[str, records.Adapter] = field(default_factory=dict)
    """The last record of each library, by what it was asked for, in the order of these."""
    began: dict[str, records.Adapter] = field(default_factory=dict)
    """The last record of each that could be started: with the versions that its units are of."""
    units: dict[str, dict[str, records.Unit]] = field(default_factory=lambda: defaultdict(dict))
    """Whole units, by library and name."""
    concluded: set[str] = field(default_factory=set)
    """Libraries of which nothing more comes."""
    failures: dict[str, list[records.Failure]] = field(default_factory=lambda: defaultdict(list))
    """What failed unexpectedly in random programs, by library."""

    def write(self, record: records.Record) -> None:
        """Append a record to the file."""
        self.writer.write(record)
        self.note(record)

    def note(self, record: records.Record) -> None:
        """Take in a record that is in the file."""
        match record:
            case records.Adapter():
                note_last(self.adapters, record)
                if record.status == "ready":
                    self.began[record.spec] = record
            case records.Unit():
                self.units[record.adapter][record.unit] = record
                self.red |= any(record.outcomes.get(outcome) for outcome in records.RED)
                self.judged |= any(record.counts.values())
            case records.Concluded():
                self.concluded.add(record.adapter)
            case records.Failure():
                self.red |= record.outcome in records.RED
                if record.outcome in records.RED and not record.source.startswith("corpus"):
                    self.failures[record.adapter].append(record)

    def exit_code(self) -> ExitCode:
        """How the run ends."""
        codes = [ExitCode.EXPECTED if self.judged else ExitCode.NOTHING_JUDGED]
        codes += [ExitCode.USAGE if one.kind == "unknown" else ExitCode.COULD_NOT_RUN for one in self.failed]
        return ExitCode.of([*codes, ExitCode.UNEXPECTED] if self.red else codes)


def check(options: Options, out: Path, progress: Progress | None = None) -> int:
    """Check every adapter of the options, write `results.jsonl` into `out`, and answer with the exit code.

    What is done is in the file at any moment. An adapter that cannot be started is recorded, and the others go on.

    Raises
    ------
    OSError
        The directory cannot be written.
    UnknownAdapter
        There is no adapter of a name, or all that were asked for turn out to be none; nothing is written then.
    ValueError
        No rule or operator matches one that was asked for; nothing is written then.
    CorpusError, ExpectationError
        A file that was asked for is missing or broken.
    ResumeError, ResultsError
        The run cannot be gone on with.
    SchedulerError
        The cluster cannot be used.
    KeyboardInterrupt
        Ctrl-C: the file has no footer then.
    """
    _refuse(options)
    if not options.python and not options.scheduler:
        for spec in options.adapters:
            find(spec)  # a name that is mistyped must not cost the results that are there
    progress = progress or Silent()
    out.mkdir(parents=True, exist_ok=True)
    # That there is no such interpreter is told before what takes seconds to read is read in vain.
    is_there = not options.python or options.scheduler or shutil.which(options.python)
    programs = corpus.read(count=options.programs) if options.programs != 0 and is_there else []
    collect_rarely()
    rules = [
        {"id": r.id, "family": r.family, "sentence": r.sentence, "source": r.source, "aspects": sorted(r.aspects)}
        for r in catalogue().rules.values()
    ]
    arguments = {name: value for name, value in options.to_json().items() if value not in (None, "")}
    if options.exhaustive:
        arguments["scope"] = small_scope.counted()
    header = machine.header(check_line(options), arguments, rules)
    path = out / "results.jsonl"
    done = reopen(path, header) if options.resume else []
    if done and isinstance(footer := done[-1], records.Footer):
        progress.note(f"{path} is complete")
        return footer.exit_code
    if options.resume and not done:
        progress.note(f"{path}: there is no run to go on with, so one begins")
    begun = time.monotonic()
    with crews(options) as places, records.ResultsWriter(path, append=bool(done)) as writer:
        results = _Results(writer)
        for record in done:
            results.note(record)
        if not done:
            writer.write(header)
        for spec in dict.fromkeys(options.adapters):
            if spec not in results.adapters or results.adapters[spec].name not in results.concluded:
                _check_one(spec, options, programs, results, places, progress)
        code = results.exit_code()
        writer.write(records.Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    if code == ExitCode.USAGE and not results.judged and not done:
        refuse_nothing(path, "checked")
    return code


def refuse_nothing(path: Path, done: str) -> NoReturn:
    """Take back the results of a run whose libraries have all turned out to be none; raises UnknownAdapter."""
    path.unlink()
    raise UnknownAdapter(f"nothing was {done}, so there are no results")


def asks_for_nothing(options: Options) -> str:
    """That a glob of the options matches no rule or operator, in words; empty where each matches one."""
    return matching_none(options.rules.split(",")) or (samples.matching_none(options.opinfo) if options.opinfo else "")


def _refuse(options: Options) -> None:
    """Refuse what is known to go wrong: rules that are none, a list that cannot be read or is of a part."""
    if problem := asks_for_nothing(options):
        raise ValueError(problem)
    if options.expect is not None:
        load(options.expect, {}, is_update=options.update_expectations)
    if options.update_expectations and options.rules != "*":
        raise ExpectationError("--update-expectations needs all rules: a list made under --rules would miss the others")
    if options.update_expectations and options.shard[1] > 1:
        raise ExpectationError(
            "--update-expectations needs the whole run: a list made by a shard would miss the others"
        )


def _check_one(
    spec: str, options: Options, programs: Sequence[Program], results: _Results, places: Crews, progress: Progress
) -> None:
    try:
        with places.crew(spec) as crew:
            _introduce(crew, spec, results)
            known = expectations(options, crew.introduction)
            name = crew.introduction.name
            if known.remark:
                progress.note(f"{name}: {known.remark}")
            if options.update_expectations and known.path is None:
                raise ExpectationError(f"{name} has no expectation file to update: give --expect FILE")
            drawn: list[Drawing] = []
            try:
                left = _left(options, programs, results, name, progress, drawn)
                _run(crew, left, results, progress, of_all_rules=options.rules == "*")
            except AdapterFailed as error:  # it died, and could not be started again
                raise AdapterFailed("error", error.reason) from None  # it did start: no mistake of usage
            if options.driver == "hypothesis":
                examples.keep(options, name, oracle(), results.failures[name], drawn)
    except AdapterFailed as error:
        status = error.status(options.skip_missing)
        begun = results.adapters.get(spec)
        name = begun.name if begun is not None else "torch:cpu" if spec == "torch" else spec
        results.write(records.Adapter(name, status, error.reason, spec=spec))
        what = "not run" if begun is None and status == "failed" else status
        progress.note(f"{name}: {what}, {error.advice(options.python)}")
        if status == "failed":
            results.failed.append(error)
        return  # what did not run says nothing about expectations
    if options.update_expectations:
        changed = _write_list(known, options, programs, results.units[name])
        progress.note(f"{name}: {changed}; corpus programs run: {len(programs):,}")
    elif options.rules == "*" and options.shard[1] == 1:
        whole = frozenset(program.id for program in programs) if options.programs is None else None
        for problem in _conclude(name, known, results, whole):
            progress.note(f"{name}: {problem}")
    results.write(records.Concluded(name))


def _introduce(crew: Crew, spec: str, results: _Results) -> None:
    """Record the library, unless that was done before the run was ended."""
    new = crew.introduction
    before = results.began.get(spec)
    if before is not None and results.units[new.name] and before.versions != new.versions:
        raise AdapterFailed("error", f"{spec} is another than when the run began: {dict(before.versions)} then")
    for other, adapter in results.adapters.items():
        if adapter.name == new.name and adapter.status == "ready" and other != spec:
            # Records are told apart by the adapter's name: two of one name would be one library.
            raise AdapterFailed(
                "unknown", f"{spec} and {other} both have the name {new.name!r}, which tells results apart"
            )
    last = results.adapters.get(spec)
    if last is None or last.status != "ready" or last.versions != new.versions:
        results.write(new)


def _left(
    options: Options,
    programs: Sequence[Program],
    results: _Results,
    name: str,
    progress: Progress,
    drawn: list[Drawing],
) -> Iterator[Part]:
    """The parts of the run that are not in the file; random ones are noted in `drawn`."""
    done = results.units[name]
    total = len(programs) + options.examples
    progress.begin(name, None if options.seconds else -(-total // options.shard[1]))
    progress.advance(sum(unit.programs for unit in done.values()))
    again = examples.replayed(options, name, oracle()) if options.driver == "hypothesis" else None
    parts: Iterator[Part] = chain([again] if again is not None else [], plan(options, programs))
    for part in parts:
        if isinstance(part, Drawing) and options.driver == "hypothesis":
            drawn.append(part)
        if part.name not in done:
            yield part


def _run(crew: Crew, parts: Iterator[Part], results: _Results, progress: Progress, *, of_all_rules: bool) -> None:
    first, parts = _first(parts)
    for found in chain(crew.run(first), crew.run(parts)):
        for record in found:
            if of_all_rules and isinstance(record, records.Unit) and (useless := _why_useless(record, found)):
                raise AdapterFailed("error", useless)  # without its counts the unit is run anew by --resume
            results.write(record)
            if isinstance(record, records.Unit):
                progress.advance(record.programs)


def _first(parts: Iterator[Part]) -> tuple[list[Part], Iterator[Part]]:
    """What the corpus begins with, if it is to be run, and all other parts.

    Until it is judged nothing else is: that would stay in the file though an adapter turns out to be useless.
    """
    near = list(islice(parts, 2))  # what is replayed comes before it
    begin = [part for part in near if part.name.startswith(_FIRST)]
    return begin, chain([part for part in near if part not in begin], parts)


_FIRST = "corpus:0-"
"""How the unit of what the corpus begins with is called."""
_MANY = 20
"""Programs of which each being an error tells that an adapter, and no program, is at fault."""


def _why_useless(unit: records.Unit, found: Sequence[records.Record]) -> str:
    """Why nothing more need be run: an adapter went wrong in all that the corpus begins with; empty where it did not.

    The corpus begins with a fair sample, unless it is one of some rules; what is run of other units may be of one
    operation, or have failed before.
    """
    judged = {outcome: number for outcome, number in unit.outcomes.items() if outcome != "unsupported"}
    if not unit.unit.startswith(_FIRST) or judged.keys() != {"error"} or judged["error"] < _MANY:
        return ""
    first = next(r.message for r in found if isinstance(r, records.Failure) and r.outcome == "error")
    return f"nothing more is run, since each of {judged['error']} programs is its error: {first}"


def _write_list(
    known: Expectations, options: Options, programs: Sequence[Program], units: dict[str, records.Unit]
) -> str:
    """Write which corpus programs failed under which expectation, and say what has changed."""
    matched: dict[str, set[str]] = defaultdict(set)
    for unit in units.values():
        for name, covered in unit.covered.items():
            matched[name].update(covered)
    ran = None if options.programs is None else {program.id for program in programs}
    return known.write_list(matched, ran, units.values())


def _conclude(name: str, known: Expectations, results: _Results, whole: frozenset[str] | None) -> Iterator[str]:
    """What is wrong with the expectations after the whole run; records it, too.

    `whole` are the ids of the corpus programs where all of it was run.
    """
    problems: list[tuple[str, tuple[str, ...]]] = []
    for entry, ids in known.strays(whole).items() if whole is not None else ():
        told = ", ".join(sorted(ids)[:3]) + (", …" if len(ids) > 3 else "")
        problems.append((f"the list has {told} under {entry!r}, which no program of the corpus is", ()))
    for need, number in sorted(known.lost(results.units[name].values()).items()):
        problems.append((f"{need} is not supported any more, which programs of the corpus need ({number})", ()))
    for idle, rules in known.idle(results.units[name].values(), whole):
        problems.append((f"expectation {idle.name!r} matched nothing, though its rules were judged", rules))
    for problem, rules in problems:
        results.write(out_of_date(name, problem, rules))
        yield problem


def reproduce(options: Options, spec: str, program: Program) -> list[records.Failure]:
    """What one program shows on a library now, shrunk and with scripts: the same campaign over that program alone.

    Raises
    ------
    AdapterFailed
        The library cannot be started here.
    ExpectationError
        The list of the options is missing or broken.
    """
    with Session(options, spec) as session:
        unit = Unit("repro", (program,), from_corpus=False)
        return [r for found in session.run([unit]) for r in found if isinstance(r, records.Failure)]
