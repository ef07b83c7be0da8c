"""Times cases on several libraries in this process, which takes its orders through a pipe.

A library that is timed must be called directly, so it can end the process that times it. `bench` therefore keeps the
file in one process and times in another; what one says to the other is here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from stridecheck.conformance import discovery, processes
from stridecheck.conformance.adapters import reference
from stridecheck.conformance.protocol import Unsupported
from stridecheck.reports import records

from . import clock, device, memory, trials
from .cases import AnyCase
from .clock import Call, Effort, Runner, race
from .limit import Copies, best_ns, place_of, ratio, traffic_copy_bytes
from .prepare import CaseFailed, Prepared
from .threads import set_threads


@dataclass(frozen=True, slots=True)
class Load:
    """An order: load the adapter of this name, module or file. Answered by `Loaded`."""

    spec: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of a `Load`."""

    adapter: records.Adapter
    kind: str = ""
    """Why it is not ready: unknown, missing or error."""


@dataclass(frozen=True, slots=True)
class Time:
    """An order: time a case on the adapters of these names. Answered by a list of `records.Timing`."""

    case: AnyCase
    adapters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Try:
    """An order: try the claim of this id. Answered by what was measured, or why it was not tried."""

    claim: str


@dataclass(frozen=True, slots=True)
class At:
    """Said while an order is carried out: the library that is being made ready; empty while all are timed."""

    adapter: str


def serve(connection: Connection, threads: int, effort: Effort, slowdown: float, cold: bool) -> None:
    """Carry out orders until the pipe is closed."""
    processes.ignore_ctrl_c()
    with open(os.devnull, "wb") as nowhere:
        # Libraries and their profilers would print over the report; what ends them is told by how they end.
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    session = Session(threads, effort, slowdown, cold, say=connection.send)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            match connection.recv():
                case Load(spec):
                    connection.send(session.load(spec))
                case Try(claim):
                    connection.send(trials.measure(claim, partial(connection.send, At(""))))
                case order:
                    connection.send(session.time(order))


def _silent(message: At) -> None:
    pass


class Session:
    """Everything that one case after the other is timed with: the libraries, the copies, the oracle."""

    def __init__(
        self,
        threads: int = 1,
        effort: Effort = clock.FULL,
        slowdown: float = 0.0,
        cold: bool = False,
        say: Callable[[At], None] = _silent,
    ) -> None:
        self._adapters: dict[str, Any] = {}
        self._threads = threads
        self._effort = effort
        self._slowdown = slowdown
        self._cold = cold
        self._say = say
        self._copies = Copies(())
        self._oracle = reference.adapter()

    def load(self, spec: str) -> Loaded:
        """The adapter of this name, module or file, ready to be timed, or why there is none."""
        name, kind = spec, "error"
        try:
            load, name = discovery.find(spec)
            adapter = load()
        except discovery.UnknownAdapter as error:
            kind, reason = "unknown", str(error)
        except (discovery.NotInstalled, ImportError) as error:
            kind, reason = "missing", str(error)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            self._adapters.setdefault(adapter.name, adapter)
            self._copies = Copies(list(self._adapters.values()))
            set_threads([adapter], self._threads)
            claims = adapter.capabilities.to_json()
            return Loaded(records.Adapter(adapter.name, "ready", "", dict(adapter.versions()), claims))
        return Loaded(records.Adapter(name, "failed", reason), kind)

    def time(self, order: Time) -> list[records.Timing]:
        """One record for each library that was asked for."""
        case, adapters = order.case, [self._adapters[name] for name in order.adapters]
        needed = memory.needed_bytes(case, len(adapters))
        reason = memory.too_little(needed, memory.available_bytes())
        if reason is None:
            try:
                return self._time(case, adapters)
            except MemoryError:
                reason = memory.needs_text(needed)
        return [blank(case, adapter.name, self._threads, "unsupported", reason) for adapter in adapters]

    def call(self, case: AnyCase, adapter: str) -> Call:
        """What is timed of a case on one library, bound, for another clock."""
        return case.preparer(None)(self._adapters[adapter]).call

    def _time(self, case: AnyCase, adapters: Sequence[Any]) -> list[records.Timing]:
        prepared, blanks = self._prepare(case, adapters)
        self._say(At(""))
        runners = {
            name: Runner(ready.call, ready.take, before=self._before(name), slowdown=self._slowdown)
            for name, ready in prepared.items()
        }
        copies = self._copies_for(prepared)
        for (place, _), group in copies.items():
            for runner in group:
                runner.before = self._before(place)
        race([*runners.values(), *[runner for group in copies.values() for runner in group]], self._effort)
        found = []
        for adapter in adapters:
            name = adapter.name
            if name in blanks:
                found.append(blanks[name])
            elif (error := runners[name].error) is not None:
                reason = f"raised {type(error).__name__} while timed: {error}"
                found.append(self._failed(case, name, error, reason))
            else:
                found.append(self._timing(case, adapter, prepared[name], runners[name], copies))
        return found

    def _before(self, place: str) -> Call | None:
        """What empties the caches before each call, on the host or on a library's device; None where they are warm."""
        return device.emptier_of(self._adapters.get(place)) if self._cold else None

    def _prepare(self, case: AnyCase, adapters: Sequence[Any]) -> tuple[dict[str, Prepared], dict[str, records.Timing]]:
        """What can be timed, and a record for each library where it cannot."""
        prepare = case.preparer(self._oracle)
        prepared: dict[str, Prepared] = {}
        blanks: dict[str, records.Timing] = {}
        for adapter in adapters:
            self._say(At(adapter.name))
            try:
                prepared[adapter.name] = prepare(adapter)
            except Unsupported as error:
                blanks[adapter.name] = blank(case, adapter.name, self._threads, "unsupported", str(error))
            except CaseFailed as error:
                blanks[adapter.name] = blank(case, adapter.name, self._threads, "error", str(error))
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                blanks[adapter.name] = self._failed(case, adapter.name, error, reason)
        return prepared, blanks

    def _failed(self, case: AnyCase, name: str, error: Exception, reason: str) -> records.Timing:
        """The record of a library that raised; one that had no memory left is not one that fails."""
        if memory.is_lack(type(error).__name__, str(error)):
            return blank(case, name, self._threads, "unsupported", memory.needs_text(memory.needed_bytes(case, 1)))
        return blank(case, name, self._threads, "error", reason)

    def _copies_for(self, prepared: Mapping[str, Prepared]) -> dict[tuple[str, int], list[Runner]]:
        """Copies of every size, in every place, that the ratios need."""
        wanted: dict[tuple[str, int], list[Runner]] = {}
        for name, ready in prepared.items():
            place = place_of(self._adapters[name])
            # What moves nothing, or nobody counts how much, is weighed against no copy.
            for nbytes in (ready.output_bytes, traffic_copy_bytes(ready.output_bytes, ready.touched_bytes)):
                if ready.touched_bytes and (place, nbytes) not in wanted:
                    wanted[place, nbytes] = self._copies.runners(place, nbytes)
        return wanted

    def _timing(
        self,
        case: AnyCase,
        adapter: Any,
        ready: Prepared,
        runner: Runner,
        copies: Mapping[tuple[str, int], Sequence[Runner]],
    ) -> records.Timing:
        place = place_of(adapter)
        median = runner.median_ns
        nbytes = traffic_copy_bytes(ready.output_bytes, ready.touched_bytes)
        share = ready.touched_bytes / (2 * nbytes) if nbytes else 0.0
        limit = best_ns(copies.get((place, ready.output_bytes), ())) if ready.touched_bytes else None
        return dataclasses.replace(
            blank(case, adapter.name, self._threads, "ok", ""),
            samples_ns=tuple([round(sample, 2) for sample in runner.samples_ns]),
            median_ns=round(median, 2),
            output_bytes=ready.output_bytes,
            touched_bytes=ready.touched_bytes,
            copied=ready.copied,
            predicted=ready.predicted,
            x_copy=ratio(median, limit),
            x_traffic=ratio(median, best_ns(copies.get((place, nbytes), ())), share),
            peak_bytes=memory.peak_bytes(adapter, ready.call),
            cache="cold" if self._before(adapter.name) else "warm",
            clocks=device.clocks_of(adapter),
        )


def blank(case: AnyCase, adapter: str, threads: int, status: str, reason: str) -> records.Timing:
    """The record of a case without a time."""
    return records.Timing(
        case=case.name,
        adapter=adapter,
        operation=case.operation,
        layout=case.layout,
        dtype=case.dtype,
        shape=case.shape,
        size_class=case.size,
        threads=threads,
        status=status,
        reason=reason,
        program=case.recipe,
    )
