"""Has cases timed on several libraries in one other process, and writes one record for each case and library.

What is done is in the file at any moment: a case that fails on one library, or does not fit into memory, is recorded
with its reason, and the others go on.
"""

from __future__ import annotations

import dataclasses
import itertools
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from stridecheck.conformance import discovery, machine, processes
from stridecheck.conformance.check import Progress, Silent, refuse_nothing
from stridecheck.conformance.options import command_line
from stridecheck.reports import records
from stridecheck.reports.records import ExitCode

from . import clock
from .cases import AnyCase, select
from .measure import At, Load, Loaded, Time, Try, blank, serve
from .trials import Measured, NotTried

DEFAULT_ADAPTERS = ("torch", "numpy", "reference")
"""Timed where none is asked for; one that is not installed is skipped, and that is no failure."""


LOAD_SECONDS = 90.0
CASE_SECONDS = 300.0
"""Seconds without a word after which a library is taken to hang."""


NONE_IS_QUICK = "none of the cases that match is in the quick set: ask for them without --quick"


@dataclass(frozen=True)
class Options:
    """What to time and how; the defaults are all cases on the libraries that are here."""

    cases: tuple[str, ...] = ()
    """Globs of case names; none means all."""
    adapters: tuple[str, ...] = ()
    threads: int = 1
    """Threads that one operation may use."""
    quick: bool = False
    """Only the quick set, with fewer blocks."""
    processes: int = 1
    """Processes that measure all cases, one after the other: times of one process agree more than they should."""
    visits: int = 1
    """Times that each process measures all cases, round by round: what disturbs it at one visit counts at none."""
    cold: bool = False
    """Empty the caches before each call."""
    slowdown: float = 0.0
    """A part of each call's time to spend on nothing: what a comparison must find."""


@dataclass
class _Tally:
    measured: int = 0
    errors: int = 0
    kinds: list[str] = field(default_factory=list)
    """Why adapters that were asked for could not be loaded: unknown, missing or error."""

    def exit_code(self) -> ExitCode:
        codes = [ExitCode.EXPECTED if self.measured else ExitCode.NOTHING_JUDGED]
        codes += [ExitCode.USAGE if kind == "unknown" else ExitCode.COULD_NOT_RUN for kind in self.kinds]
        return ExitCode.of([*codes, ExitCode.UNEXPECTED] if self.errors else codes)


def bench(options: Options, out: Path, progress: Progress | None = None, cases: Sequence[AnyCase] | None = None) -> int:
    """Time the cases, write `results.jsonl` into the directory `out`, and answer with the exit code.

    Raises
    ------
    UnknownCase, UnknownAdapter
        A glob of the options matches no case, or no library is one; nothing is written then.
    OSError
        The directory cannot be written.
    KeyboardInterrupt
        Ctrl-C: the file has no footer then.
    """
    progress = progress or Silent()
    chosen = select(options.cases, quick=options.quick, cases=cases)
    if not chosen:
        progress.note(NONE_IS_QUICK)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "results.jsonl"
    tally = _Tally()
    begun = time.monotonic()
    with records.ResultsWriter(path) as writer:
        writer.write(_header(options))
        for process in range(options.processes):
            with Measurer(options) as measurer:
                adapters = _load(options, measurer, writer, progress, tally)
                if process == 0:
                    progress.begin("bench", len(chosen) * options.visits * options.processes)
                for visit, case in itertools.product(range(options.visits), chosen if adapters else ()):
                    for timing in measurer.time(case, adapters):
                        writer.write(dataclasses.replace(timing, process=process, visit=visit))
                        tally.measured += timing.status == "ok"
                        if timing.status == "error":
                            tally.errors += 1
                            progress.note(f"{case.name} on {timing.adapter}: {timing.reason}")
                    progress.advance(1)
        code = tally.exit_code()
        writer.write(records.Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    if code == ExitCode.USAGE and not tally.measured:
        refuse_nothing(path, "timed")
    return code


def _header(options: Options) -> records.Header:
    arguments = {**dataclasses.asdict(options), "clock_ns": clock.overhead_ns()}
    arguments["adapters"] = options.adapters or DEFAULT_ADAPTERS
    header = machine.header(_command(options), arguments)
    return dataclasses.replace(header, machine={**header.machine, "threads": options.threads})


def _command(options: Options) -> str:
    """The command line that asks for the same."""
    asked, defaults = ({**vars(one), "adapters": ",".join(one.adapters)} for one in (options, Options()))
    del asked["slowdown"]  # which a self-test alone plants
    return command_line("bench", (), asked, defaults)


def _load(
    options: Options, measurer: Measurer, writer: records.ResultsWriter, progress: Progress, tally: _Tally
) -> tuple[str, ...]:
    """The names of the adapters that can be had, each recorded; the others recorded with the reason."""
    ready: list[str] = []
    for spec in options.adapters or DEFAULT_ADAPTERS:
        loaded = measurer.load(spec)
        adapter = loaded.adapter
        if adapter.status != "ready" and not options.adapters and loaded.kind == "missing":
            writer.write(dataclasses.replace(adapter, status="skipped"))
            progress.note(f"{adapter.name}: skipped, {adapter.reason}")
        elif adapter.status != "ready":
            writer.write(adapter)
            progress.note(f"{adapter.name}: not run, {adapter.reason}")
            tally.kinds.append(loaded.kind)
        elif adapter.name not in ready:
            writer.write(adapter)
            ready.append(adapter.name)
    return tuple(ready)


class _Died(Exception):
    """The measuring process is gone; `at` is the library that it was making ready, empty if it cannot be told."""

    def __init__(self, reason: str, at: str) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class Measurer:
    """The process that measures, and another where a library has ended it; as a context manager it ends the process."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._specs: list[str] = []
        """What has been loaded, to be loaded again after a death."""
        self._process: SpawnProcess | None = None
        self._pipe: Connection

    def __enter__(self) -> Measurer:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()

    def load(self, spec: str) -> Loaded:
        """Let the process load an adapter."""
        try:
            loaded: Loaded = self._order(Load(spec), LOAD_SECONDS)
        except _Died as death:
            name = discovery.find(spec)[1]
            return Loaded(records.Adapter(name, "failed", f"{spec}: {death.reason} while starting"), "error")
        if loaded.adapter.status == "ready":
            self._specs.append(spec)
        return loaded

    def time(self, case: AnyCase, adapters: Sequence[str]) -> list[records.Timing]:
        """One record for each library, in their order; one that ends the process is found, the others are timed."""
        found: dict[str, records.Timing] = {}
        orders = [tuple(adapters)]
        while orders:
            asked = orders.pop()
            try:
                found.update((timing.adapter, timing) for timing in self._order(Time(case, asked), CASE_SECONDS))
            except _Died as death:
                guilty = asked[0] if len(asked) == 1 else death.at
                if not guilty:  # while they took turns: each by itself will tell
                    orders += [(name,) for name in asked]
                    continue
                found[guilty] = blank(case, guilty, self._options.threads, "error", death.reason)
                orders += [rest] if (rest := tuple(name for name in asked if name != guilty)) else []
        return [found[name] for name in adapters]

    def measure(self, claim: str) -> Measured | NotTried:
        """What came of the trials of a claim; one that ends the process, or hangs, was not tried."""
        try:
            found: Measured | NotTried = self._order(Try(claim), CASE_SECONDS)
        except _Died as death:
            return NotTried(death.reason)
        return found

    def _order(self, order: Load | Time | Try, seconds: float) -> Any:
        """The answer to an order; in a fresh process where the last has died."""
        if self._process is None:
            self._start()
        at = ""
        try:
            self._pipe.send(order)
            while self._pipe.poll(seconds):
                answer = self._pipe.recv()
                if not isinstance(answer, At):
                    return answer
                at = answer.adapter
            reason = f"no answer within {seconds:g} s"
        except (EOFError, OSError):
            assert self._process is not None
            self._process.join()
            reason = processes.signal_name(self._process.exitcode or 0)
        self._end()
        raise _Died(reason, at)

    def _start(self) -> None:
        # Spawned, not forked: a library that has threads, or a device, does not survive a fork.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        effort = clock.QUICK if self._options.quick else clock.FULL
        arguments = (theirs, self._options.threads, effort, self._options.slowdown, self._options.cold)
        with processes.ctrl_c_later():  # there is a process, and it runs; or there is none
            self._process = context.Process(target=serve, args=arguments, daemon=True)
            self._process.start()
        theirs.close()
        for spec in self._specs:
            self._order(Load(spec), LOAD_SECONDS)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            self._pipe.close()
            process.kill()
            process.join()
