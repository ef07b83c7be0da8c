"""Times cases on several libraries in one process, and writes one record for each case and library.

What is done is in the file at any moment: a case that fails on one library, or does not fit into memory, is recorded
with its reason, and the others go on.
"""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stridecheck.conformance import discovery, machine
from stridecheck.conformance.check import COULD_NOT_RUN, EXPECTED, NOTHING_JUDGED, UNEXPECTED, USAGE, Progress, Silent
from stridecheck.conformance.execute import Unsupported
from stridecheck.conformance.runner import AdapterFailed, Broken, Worker
from stridecheck.reports import records

from . import clock, memory
from .cases import Case, select
from .clock import Effort, Runner, race
from .limit import Copies, best_ns, place_of, ratio, traffic_copy_bytes
from .prepare import CaseFailed, Prepared, expected_answer, prepare
from .threads import set_threads

DEFAULT_ADAPTERS = ("torch", "numpy", "reference")
"""Timed where none is asked for; one that is not installed is skipped, and that is no failure."""


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


@dataclass
class _Tally:
    measured: int = 0
    errors: int = 0
    kinds: list[str] = field(default_factory=list)
    """Why adapters that were asked for could not be loaded: unknown, missing or error."""

    def exit_code(self) -> int:
        if self.errors:
            return UNEXPECTED
        if self.kinds:
            return USAGE if all(kind == "unknown" for kind in self.kinds) else COULD_NOT_RUN
        return EXPECTED if self.measured else NOTHING_JUDGED


def bench(options: Options, out: Path, progress: Progress | None = None, cases: Sequence[Case] | None = None) -> int:
    """Time the cases, write `results.jsonl` into the directory `out`, and answer with the exit code.

    Raises
    ------
    UnknownCase
        A glob of the options matches no case; nothing is written then.
    OSError
        The directory cannot be written.
    KeyboardInterrupt
        Ctrl-C: the file has no footer then.
    """
    progress = progress or Silent()
    chosen = select(options.cases, quick=options.quick, cases=cases)
    out.mkdir(parents=True, exist_ok=True)
    tally = _Tally()
    begun = time.monotonic()
    with records.ResultsWriter(out / "results.jsonl") as writer, ExitStack() as workers:
        writer.write(_header(options))
        adapters, trials = _load(options, writer, progress, tally, workers)
        set_threads(adapters, options.threads)
        progress.begin("bench", len(chosen))
        session = Session(adapters, options, trials)
        for case in chosen:
            for timing in session.time(case):
                writer.write(timing)
                tally.measured += timing.status == "ok"
                if timing.status == "error":
                    tally.errors += 1
                    progress.note(f"{case.name} on {timing.adapter}: {timing.reason}")
            progress.advance(1)
        code = tally.exit_code()
        writer.write(records.Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    return code


def _header(options: Options) -> records.Header:
    arguments = {**dataclasses.asdict(options), "clock_ns": clock.overhead_ns()}
    arguments["adapters"] = options.adapters or DEFAULT_ADAPTERS
    header = machine.header(_command(options), arguments)
    return dataclasses.replace(header, machine={**header.machine, "threads": options.threads})


def _command(options: Options) -> str:
    """The command line that asks for the same."""
    words = ["stridecheck", "bench"]
    for glob in options.cases:
        words += ["--cases", shlex.quote(glob)]
    if options.adapters:
        words += ["--adapters", shlex.quote(",".join(options.adapters))]
    if options.threads != 1:
        words += ["--threads", str(options.threads)]
    return " ".join([*words, *(["--quick"] if options.quick else [])])


def _load(
    options: Options, writer: records.ResultsWriter, progress: Progress, tally: _Tally, workers: ExitStack
) -> tuple[list[Any], dict[str, Worker]]:
    """The adapters that can be had, each recorded, the others with the reason; and a worker for each foreign one.

    A foreign adapter may exit, hang or crash, which must not end the run: it is tried out in a process of its own
    before it is let into this one.
    """
    loaded: dict[str, Any] = {}
    trials: dict[str, Worker] = {}
    for spec in options.adapters or DEFAULT_ADAPTERS:
        name, kind = spec, "error"
        try:
            load, name = discovery.find(spec)
            if name.partition(":")[0] not in discovery.BUNDLED:
                worker = workers.enter_context(Worker(spec))
                worker.start()
                trials[worker.name] = worker
            adapter = load()
        except discovery.UnknownAdapter as error:
            kind, reason = "unknown", str(error)
        except (discovery.NotInstalled, ImportError) as error:
            kind, reason = "missing", str(error)
        except AdapterFailed as error:
            kind, reason = error.kind, error.reason
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            if adapter.name not in loaded:
                loaded[adapter.name] = adapter
                claims = adapter.capabilities.to_json()
                writer.write(records.Adapter(adapter.name, "ready", "", dict(adapter.versions()), claims))
            continue
        status = "skipped" if kind == "missing" else "failed"
        writer.write(records.Adapter(name, status, reason))
        progress.note(f"{name}: {status}, {reason}")
        if options.adapters:
            tally.kinds.append(kind)
    return list(loaded.values()), trials


class Session:
    """Everything that one case after the other is timed with: the libraries, the copies, the oracle."""

    def __init__(self, adapters: Sequence[Any], options: Options, trials: Mapping[str, Worker] | None = None) -> None:
        from stridecheck.conformance.adapters import reference

        self._adapters = adapters
        self._trials = dict(trials or {})
        self._threads = options.threads
        self._effort: Effort = clock.QUICK if options.quick else clock.FULL
        self._copies = Copies(adapters)
        self._oracle = reference.adapter()

    def time(self, case: Case) -> list[records.Timing]:
        """One record for each library, in their order."""
        needed = memory.needed_bytes(case, len(self._adapters))
        reason = memory.too_little(needed, memory.available_bytes())
        if reason is None:
            try:
                return self._time(case)
            except MemoryError:
                reason = memory.needs_text(needed)
        return [self._blank(case, adapter.name, "unsupported", reason) for adapter in self._adapters]

    def _time(self, case: Case) -> list[records.Timing]:
        prepared, blanks = self._prepare(case)
        runners = {name: Runner(ready.call, ready.synchronize) for name, ready in prepared.items()}
        copies = self._copies_for(prepared)
        race([*runners.values(), *[runner for group in copies.values() for runner in group]], self._effort)
        found = []
        for adapter in self._adapters:
            name = adapter.name
            if name in blanks:
                found.append(blanks[name])
            elif (error := runners[name].error) is not None:
                reason = f"raised {type(error).__name__} while timed: {error}"
                found.append(self._blank(case, name, "error", reason))
            else:
                found.append(self._timing(case, adapter, prepared[name], runners[name], copies))
        return found

    def _prepare(self, case: Case) -> tuple[dict[str, Prepared], dict[str, records.Timing]]:
        """What can be timed, and a record for each library where it cannot."""
        expected = expected_answer(case.program, self._oracle)
        prepared: dict[str, Prepared] = {}
        blanks: dict[str, records.Timing] = {}
        for adapter in self._adapters:
            try:
                self._try_out(case, adapter.name)
                prepared[adapter.name] = prepare(case.program, adapter, expected)
            except Unsupported as error:
                blanks[adapter.name] = self._blank(case, adapter.name, "unsupported", str(error))
            except CaseFailed as error:
                blanks[adapter.name] = self._blank(case, adapter.name, "error", str(error))
            except MemoryError:
                raise
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                blanks[adapter.name] = self._blank(case, adapter.name, "error", reason)
        return prepared, blanks

    def _try_out(self, case: Case, name: str) -> None:
        """Let a foreign library run the case, small, in its own process: there it may crash."""
        worker = self._trials.get(name)
        if worker is None:
            return
        try:
            worker.submit([(0, case.small().program)])
            (_, answer), *_ = worker.collect()
        except AdapterFailed as error:
            raise CaseFailed(error.reason) from None
        if isinstance(answer, Broken):
            raise CaseFailed(answer.reason)

    def _copies_for(self, prepared: Mapping[str, Prepared]) -> dict[tuple[str, int], list[Runner]]:
        """Copies of every size, in every place, that the ratios need."""
        wanted: dict[tuple[str, int], list[Runner]] = {}
        for adapter in self._adapters:
            ready = prepared.get(adapter.name)
            if ready is not None:
                place = place_of(adapter)
                for nbytes in (ready.output_bytes, traffic_copy_bytes(ready.output_bytes, ready.touched_bytes)):
                    if nbytes and (place, nbytes) not in wanted:
                        wanted[place, nbytes] = self._copies.runners(place, nbytes)
        return wanted

    def _timing(
        self,
        case: Case,
        adapter: Any,
        ready: Prepared,
        runner: Runner,
        copies: Mapping[tuple[str, int], Sequence[Runner]],
    ) -> records.Timing:
        place = place_of(adapter)
        median = runner.median_ns
        nbytes = traffic_copy_bytes(ready.output_bytes, ready.touched_bytes)
        share = ready.touched_bytes / (2 * nbytes) if nbytes else 0.0
        # A view moves nothing: there is no copy that it could be weighed against.
        limit = best_ns(copies.get((place, ready.output_bytes), ())) if ready.touched_bytes else None
        return dataclasses.replace(
            self._blank(case, adapter.name, "ok", ""),
            samples_ns=tuple([round(sample, 2) for sample in runner.samples_ns]),
            median_ns=round(median, 2),
            output_bytes=ready.output_bytes,
            touched_bytes=ready.touched_bytes,
            copied=ready.copied,
            x_copy=ratio(median, limit),
            x_traffic=ratio(median, best_ns(copies.get((place, nbytes), ())), share),
        )

    def _blank(self, case: Case, adapter: str, status: str, reason: str) -> records.Timing:
        return records.Timing(
            case=case.name,
            adapter=adapter,
            operation=case.operation,
            layout=case.layout,
            dtype=case.dtype,
            shape=case.shape,
            size_class=case.size,
            threads=self._threads,
            status=status,
            reason=reason,
            program=case.program.to_json(),
        )
