"""Hands every array of `handover` from each of some libraries to each other, by every protocol, and records it.

Each pair runs in a process of its own, so that one that brings its process down costs one array. What becomes of each
array is compared with the committed list; of pairs or versions that it does not know, the harm alone (damage, a crash,
read-only memory written to, other strides).
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stridecheck.reports.records import Adapter, ExitCode, Footer, Handover, ResultsWriter

from . import arrivals, machine
from .answers import AdapterFailed, Broken
from .check import Progress, Silent, refuse_nothing
from .discovery import find
from .expectations import BUNDLED
from .offers import CASES, PROTOCOLS
from .options import command_line
from .runner import PROGRAM_TIMEOUT, START_TIMEOUT, Worker

KNOWN = BUNDLED / "exchange.txt"
"""What is expected of the bundled adapters."""
_NAMED = 3
"""Pairs that a note names."""


def exchange(
    libraries: Sequence[str],
    out: Path,
    progress: Progress | None = None,
    *,
    python: str = "",
    expect: Path = KNOWN,
    update_expectations: bool = False,
    skip_missing: bool = False,
    timeout: float = PROGRAM_TIMEOUT,
    start_timeout: float = START_TIMEOUT,
) -> int:
    """Try every pair of libraries, write `results.jsonl` into `out`; the answer is the exit code.

    `timeout` is the seconds that one array may take; `expect` is the list of what is expected, which
    `update_expectations` writes anew for the pairs that ran. A pair is known by its adapters' own names, however they
    were asked for. 0 if all is as expected (of what the list does not know: if there is no harm), 1 if not, 2 if a name
    is none, or one of two libraries, 3 if a library is not there (with `skip_missing`: none is), 4 if nothing was
    handed to one or by it. The pairs of one that is not there are left out, with the reason.

    Raises
    ------
    UnknownAdapter
        There is no library of a name, as far as that can be told here, or of any; nothing is written then.
    ExpectationError
        There is no such list, or a line of it is none; nothing is written then.
    OSError
        The directory cannot be written.
    """
    if not python:
        for library in libraries:
            find(library)  # a name that is mistyped must not cost the results that are there
    known = arrivals.Arrivals() if update_expectations and not expect.exists() else arrivals.read(expect)
    progress = progress or Silent()
    out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    asked = {
        "python": python, "expect": expect, "update_expectations": update_expectations,
        "skip_missing": skip_missing, "timeout": timeout, "start_timeout": start_timeout,
    }  # fmt: skip
    command = command_line("exchange", libraries, asked, exchange.__kwdefaults__ or {})
    header = machine.header(command, {"libraries": list(libraries)})
    pairs = list(itertools.product(dict.fromkeys(libraries), repeat=2))
    with ResultsWriter(out / "results.jsonl") as writer:
        writer.write(header)
        progress.begin("exchange", len(pairs))
        matrix = _Matrix(known, writer, progress, update_expectations, skip_missing)
        for producer, consumer in pairs:
            spec = f"exchange:{producer}>{consumer}"
            with Worker(
                spec, python=python or sys.executable, program_timeout=timeout, start_timeout=start_timeout
            ) as worker:
                matrix.fill(worker)
            progress.advance(1)
        for reason, unknown in matrix.by_harm.items():
            progress.note(f"{_some(unknown)}: {reason}, judged by harm alone")
        for name in matrix.idle:
            progress.note(f"{name}: nothing was handed to it, or by it")
        code = matrix.code()
        writer.write(Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    if code == ExitCode.USAGE and not matrix.whole:
        refuse_nothing(out / "results.jsonl", "handed over")
    if update_expectations and matrix.whole:
        anew = known.updated(matrix.whole, matrix.versions)
        if lost := {way[:2] for way in known.ways} - {way[:2] for way in anew.ways}:
            progress.note(f"{_some([' → '.join(pair) for pair in sorted(lost)])}: of other versions, only harm is kept")
        arrivals.write(expect, anew)
    return code


class _Matrix:
    """What became of the pairs so far; each is written as it is tried."""

    def __init__(
        self, known: arrivals.Arrivals, writer: ResultsWriter, progress: Progress, update: bool, skip_missing: bool
    ) -> None:
        self._known, self._writer, self._progress, self._update = known, writer, progress, update
        self._skip_missing = skip_missing
        self._seen: dict[arrivals.Pair, str] = {}
        self._handed: set[arrivals.Pair] = set()
        self._is_known: dict[tuple[str, str, str, str], bool] = {}
        self._failed = self._missing = self._unknown = 0
        self.by_harm: dict[str, list[str]] = {}
        """Pairs that are judged by harm alone, by the reason."""
        self.whole: list[Handover] = []
        """All arrays of the pairs that were tried to the end."""
        self.versions: dict[str, str] = {}

    def fill(self, worker: Worker) -> None:
        """Try a pair: its worker is started, asked for every array by every protocol, and judged."""
        try:
            worker.start()
        except AdapterFailed as error:
            self._missing += error.kind == "missing"
            self._unknown += error.kind == "unknown"
            self._failed += error.kind == "error"
            self._give_up(worker, error)
            return
        pair = _names(worker)
        if (other := self._seen.get(pair)) is not None:
            # Arrays are told apart by the adapters' names: two of one name would be one library.
            both = f"{worker.spec} and {other} both have the names {' → '.join(pair)}, which tell results apart"
            self._unknown += 1
            self._give_up(worker, AdapterFailed("unknown", both))
            return
        self._seen[pair] = worker.spec
        if pair[0] == pair[1]:
            self._writer.write(Adapter(pair[0], "ready", "", dict(worker.versions)))
        if not self._update and (reason := self._known.knows(pair, worker.versions)):
            self.by_harm.setdefault(reason, []).append(" → ".join(pair))
        found: list[Handover] = []
        try:
            for one, is_certain in _handovers(worker, *pair):
                # What did not happen again, or an adapter failed in, is red, and on no list.
                found.append(one if is_certain else replace(one, outcome="error"))
                self._judge(one, worker.versions, is_certain)
        except AdapterFailed as error:  # it died, and could not be started again: a device that is gone
            self._failed += 1
            self._give_up(worker, error)
        else:
            self.whole += found
            self.versions |= worker.versions

    def _judge(self, one: Handover, versions: Mapping[str, str], is_certain: bool) -> None:
        judged = replace(one, is_listed=True) if self._update else self._known.judge(one, versions)
        judged = replace(judged, is_known=judged.is_known and is_certain)
        self._writer.write(judged)
        if one.outcome != "not offered":
            self._handed.add((one.producer, one.consumer))
        self._is_known[one.producer, one.consumer, one.protocol, one.case] = judged.is_known

    def _give_up(self, worker: Worker, error: AdapterFailed) -> None:
        self._writer.write(Adapter(worker.spec, error.status(self._skip_missing), error.reason))
        self._progress.note(f"{worker.spec}: {error.advice(worker.python)}")

    def code(self) -> ExitCode:
        """The exit code of what was tried, with libraries that are not there taken for an error or skipped."""
        is_red = self._seen and (self._failed or not all(self._is_known.values()))
        is_absent = (self._missing and not (self._skip_missing and self._seen)) or (self._failed and not self._seen)
        codes = [ExitCode.NOTHING_JUDGED if self.idle else ExitCode.EXPECTED]
        codes += [ExitCode.UNEXPECTED] if is_red else []
        codes += [ExitCode.COULD_NOT_RUN] if is_absent else []
        codes += [ExitCode.USAGE] if self._unknown else []
        return ExitCode.of(codes)

    @property
    def idle(self) -> list[str]:
        """Libraries that were there, and that nothing was handed to or by; of several, but their own arrays."""
        names = {name for pair in self._seen for name in pair}
        pairs = {pair for pair in self._handed if len(names) == 1 or pair[0] != pair[1]}
        return sorted(names - {name for pair in pairs for name in pair})


def _names(worker: Worker) -> arrivals.Pair:
    """What the two adapters call themselves: `torch` is `torch:cpu`."""
    producer, _, consumer = worker.name.removeprefix("exchange:").partition(">")
    return producer, consumer


def _some(pairs: Sequence[str]) -> str:
    more = len(pairs) - _NAMED
    return ", ".join(pairs[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _handovers(worker: Worker, producer: str, consumer: str) -> Iterator[tuple[Handover, bool]]:
    """What becomes of each array, and whether it can be told of that array; the last word counts."""
    for asked in itertools.product(PROTOCOLS, CASES):
        for (protocol, case), answer in worker.ask([*asked]):
            if isinstance(answer, Broken):
                outcome = answer.outcome if answer.outcome in ("crash", "timeout") else "error"
                one = Handover(producer, consumer, protocol, case, outcome, answer.reason)
                yield one, outcome != "error" and answer.happened_again
            else:
                if answer.pop("is_astray"):
                    worker.distrust()  # what fails from now on may be that write's doing
                one = Handover(producer, consumer, protocol, case, **answer)
                yield one, one.outcome != "error"
