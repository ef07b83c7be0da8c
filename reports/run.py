"""One or several results files, read and merged into one frozen `Run`.

Shards of one run, or conformance and timings, are put together. What a resumed run wrote twice counts once.
An adapter that appears with different versions is two adapters, each named after its file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

from .records import (
    RED,
    Adapter,
    Claim,
    ExitCode,
    Failure,
    Footer,
    Handover,
    Header,
    Json,
    Mutant,
    ResultsError,
    Timing,
    Unit,
    read_results,
)
from .text import count

if TYPE_CHECKING:
    from .frames import Frames
    from .summary import Tally

RESULTS = "results.jsonl"
"""Name of the results file in a results directory."""


@dataclass(frozen=True, slots=True)
class Source:
    """One results file: where it is and how it began and ended."""

    path: Path
    header: Header
    footer: Footer | None
    """None: the run died."""


@dataclass(frozen=True)
class Run:
    """Everything that one or several results files say, ready to be shown.

    >>> run = load([Path("out")])  # doctest: +SKIP
    >>> run.complete, run.exit_code  # doctest: +SKIP
    (True, 0)
    """

    sources: tuple[Source, ...]
    adapters: tuple[Adapter, ...]
    """In the order in which they appear."""
    rules: Mapping[str, Mapping[str, Json]]
    """Rule id -> its entry in the catalogue."""
    units: tuple[Unit, ...] = ()
    failures: tuple[Failure, ...] = ()
    measurements: tuple[Timing, ...] = ()
    """One for each case, library and measuring process."""
    mutants: tuple[Mutant, ...] = ()
    """Libraries that are wrong on purpose: the suite's own score."""
    claims: tuple[Claim, ...] = ()
    handovers: tuple[Handover, ...] = ()
    files: Mapping[tuple[str, ...], Path] = field(default_factory=dict)
    """The results file that has a failure, by its `key`."""
    notes: tuple[str, ...] = ()
    """What a reader must know about how the files fit together."""

    @property
    def header(self) -> Header:
        """Header of the first file."""
        return self.sources[0].header

    @property
    def footer(self) -> Footer | None:
        """Footer of the last file; None if any file has none."""
        return self.sources[-1].footer if self.complete else None

    @property
    def complete(self) -> bool:
        """Whether every file ends with a footer."""
        return all(source.footer is not None for source in self.sources)

    @property
    def judged(self) -> frozenset[str]:
        """Names of the libraries that programs ran on."""
        return frozenset([unit.adapter for unit in self.units] + [failure.adapter for failure in self.failures])

    @property
    def seconds(self) -> float:
        """Seconds that the files took to make, together; those of files without a footer are not known."""
        return sum(source.footer.seconds for source in self.sources if source.footer)

    @property
    def red(self) -> tuple[Failure, ...]:
        """Failures that nobody expected."""
        return tuple([failure for failure in self.failures if failure.outcome in RED])

    @property
    def known(self) -> tuple[Failure, ...]:
        """Failures that an expectation covers."""
        return tuple([failure for failure in self.failures if failure.outcome == "xfail"])

    @cached_property
    def untimed(self) -> tuple[Timing, ...]:
        """The first failure of each case and library that failed to be timed, whether by one process or by all."""
        failed: dict[tuple[str, str, int, str], Timing] = {}
        for timing in self.measurements:
            if timing.status == "error":
                failed.setdefault(timing.subject, timing)
        return tuple(failed.values())

    @property
    def has_red(self) -> bool:
        """Whether anything came out that nobody expected, of whatever kind."""
        return (
            bool(self.red)
            or any(unit.outcomes.get(name) for unit in self.units for name in RED)
            or any(not one.is_known for one in self.handovers)
            or any(mutant.outcome == "survived" and mutant.reached for mutant in self.mutants)
            or bool(self.untimed)
            or any(claim.verdict == "failed" for claim in self.claims)
        )

    @property
    def exit_code(self) -> ExitCode:
        """That of all files together; one without a footer is of a run that died, and could not run."""
        codes = [source.footer.exit_code if source.footer else ExitCode.COULD_NOT_RUN for source in self.sources]
        return ExitCode.of([*codes, ExitCode.UNEXPECTED] if self.has_red else codes)

    @cached_property
    def timings(self) -> tuple[Timing, ...]:
        """One for each case and library: the measurements of all processes put together."""
        grouped: dict[tuple[str, str, int, str], list[Timing]] = {}
        for timing in self.measurements:
            grouped.setdefault(timing.subject, []).append(timing)
        return tuple([pooled(group) for group in grouped.values()])

    @cached_property
    def tally(self) -> Tally:
        """Judged steps by adapter, rule, aspect and outcome."""
        from .summary import tally

        return tally(self)

    @cached_property
    def frames(self) -> Frames:
        """The run as tidy pandas frames; pandas is imported at the first use."""
        from .frames import frames

        return frames(self)


def pooled(group: Sequence[Timing]) -> Timing:
    """Measurements of one case on one library, by several processes, as one: all samples, and medians of the ratios."""
    measured = quietest([timing for timing in group if timing.status == "ok"]) or group
    if len(measured) == 1:
        return measured[0]
    samples = tuple([sample for timing in measured for sample in timing.samples_ns])
    ratios: dict[str, Any] = {
        name: median(known) if (known := [x for t in measured if (x := getattr(t, name)) is not None]) else None
        for name in ("x_copy", "x_traffic")
    }
    return replace(measured[0], samples_ns=samples, median_ns=median(samples or [0.0]), **ratios)


def quietest(group: Sequence[Timing]) -> list[Timing]:
    """One of each process's visits to a case: whatever else runs on the machine makes times longer, never shorter."""
    best: dict[int, Timing] = {}
    for timing in sorted(group, key=lambda timing: timing.median_ns):
        best.setdefault(timing.process, timing)
    return [best[process] for process in sorted(best)]


def results_files(path: Path) -> list[Path]:
    """The results files that a path stands for: itself, the one in it, or all below it.

    Raises
    ------
    ResultsError
        There is none.
    """
    if not path.is_dir():
        return [path]
    if (path / RESULTS).exists():
        return [path / RESULTS]
    if found := sorted(path.rglob(RESULTS)):
        return found
    raise ResultsError(f"{path}: no {RESULTS} in this directory or below it")


def load(paths: Iterable[Path]) -> Run:
    """Read results directories or files and merge them.

    Raises
    ------
    ResultsError
        A file is missing, broken or empty; file and line are named.
    """
    files = list(dict.fromkeys(file for path in paths for file in results_files(path)))
    if not files:
        raise ResultsError("no results file was given")
    merger = _Merger()
    for file in files:
        merger.add(file)
    return merger.run()


_Measured: TypeAlias = tuple[str, str, int, str, int, int]
"""Adapter, case, threads, cache, process and visit."""


class _Merger:
    """Collects the records of the files, each kind under the key that makes a repetition one."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.adapters: dict[str, Adapter] = {}
        self.rules: dict[str, Mapping[str, Json]] = {}
        self.units: dict[tuple[str, str], Unit] = {}
        self.failures: dict[tuple[str, ...], Failure] = {}
        self.files: dict[tuple[str, ...], Path] = {}
        self.timings: dict[_Measured, Timing] = {}
        self.mutants: dict[str, Mutant] = {}
        self.claims: dict[str, Claim] = {}
        self.handovers: dict[tuple[str, ...], Handover] = {}
        self.repeated = 0

    def add(self, path: Path) -> None:
        records = list(read_results(path))
        header = next(record for record in records if isinstance(record, Header))
        footer = next((record for record in records if isinstance(record, Footer)), None)
        self.sources.append(Source(path, header, footer))
        self.rules |= {str(rule["id"]): rule for rule in header.rules if "id" in rule}
        labels = self._add_adapters([record for record in records if isinstance(record, Adapter)], path)
        before = {*self.units}, {*self.timings}
        self._drop_failures_of({(labels[unit.adapter], unit.unit) for unit in records if isinstance(unit, Unit)})
        for record in records:
            if isinstance(record, Unit | Failure | Timing):
                label = labels[record.adapter]
                if label != record.adapter:
                    record = replace(record, adapter=label)
                self._add(record, before)
                if isinstance(record, Failure):
                    self.files[record.key] = path
            elif isinstance(record, Mutant):
                self.mutants[record.name] = record
            elif isinstance(record, Claim):
                self.claims[record.id] = record
            elif isinstance(record, Handover):
                self.handovers[record.producer, record.consumer, record.protocol, record.case] = record

    def _add_adapters(self, adapters: Sequence[Adapter], path: Path) -> dict[str, str]:
        """Take in one file's adapters; the answer says what each is called in the merged run."""
        labels: dict[str, str] = {}
        for adapter in {adapter.name: adapter for adapter in adapters}.values():
            label = adapter.name
            known = self.adapters.get(label)
            if known is None or known.status != "ready":
                self.adapters[label] = adapter  # skipped on one machine and ready on another: it ran
            elif adapter.status == "ready" and _contradict(known.versions, adapter.versions):
                label = _free_name(f"{adapter.name} ({path.parent.name or path.stem})", self.adapters)
                self.adapters[label] = replace(adapter, name=label)
            elif adapter.status == "ready":
                self.adapters[label] = replace(known, versions={**known.versions, **adapter.versions})
            labels[adapter.name] = label
        return labels

    def _add(self, record: Unit | Failure | Timing, before: tuple[set[tuple[str, str]], set[_Measured]]) -> None:
        match record:
            case Unit():
                unit = (record.adapter, record.unit)
                self.repeated += unit in before[0]
                self.units[unit] = record
            case Timing():
                when = record.process, record.visit
                case_ = (record.adapter, record.case, record.threads, record.cache, *when)
                self.repeated += case_ in before[1]
                self.timings[case_] = record
            case Failure():
                self.failures[record.key] = record

    def _drop_failures_of(self, units: Collection[tuple[str, str]]) -> None:
        """Forget what earlier files found in units that the next one has done anew."""
        self.failures = {
            key: failure for key, failure in self.failures.items() if (failure.adapter, failure.source) not in units
        }

    def run(self) -> Run:
        return Run(
            sources=tuple(self.sources),
            adapters=tuple(self.adapters.values()),
            rules=self.rules,
            units=tuple(self.units.values()),
            failures=tuple(self.failures.values()),
            files=self.files,
            measurements=tuple(self.timings.values()),
            mutants=tuple(self.mutants.values()),
            claims=tuple(self.claims.values()),
            handovers=tuple(self.handovers.values()),
            notes=tuple(self._notes()),
        )

    def _notes(self) -> Iterable[str]:
        if dead := [source for source in self.sources if source.footer is None]:
            where = "" if len(self.sources) == 1 else f" of {count(len(dead), 'file')}"
            yield f"The run{where} ended before it was done: what follows is true, but not all there is."
        if self.repeated:
            yield (
                f"{count(self.repeated, 'unit of work is', 'units of work are')} in more than one file; "
                "each counts once, as the last file has it."
            )
        if len(suites := {source.header.suite for source in self.sources}) > 1:
            yield f"The files come from different versions of stridecheck: {', '.join(sorted(suites))}."
        machines = {str(source.header.machine.get("cpu", "")) for source in self.sources}
        if self.timings and len(machines) > 1:
            yield "The files come from different processors: their times are not comparable."


def _contradict(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two tables of versions name one thing differently; `check` and `bench` may name different things."""
    return any(one[name] != other[name] for name in one.keys() & other.keys())


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    candidates = [name, *(f"{name} {number}" for number in range(2, len(taken) + 3))]
    return next(candidate for candidate in candidates if candidate not in taken)
