"""Hands every array of `handover` from each of some libraries to each other, by every protocol, and records it.

Each pair runs in a process of its own, so that one that brings its process down costs one array. Harm (damage, a crash,
read-only memory written to, other strides) is compared with the committed list of harm that is known.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from stridecheck.reports.records import Adapter, Footer, Handover, Header, ResultsWriter

from . import machine
from .check import COULD_NOT_RUN, EXPECTED, NOTHING_JUDGED, UNEXPECTED, Progress, Silent
from .discovery import find
from .expectations import BUNDLED, ExpectationError
from .handover import CASES, PROTOCOLS
from .runner import PROGRAM_TIMEOUT, START_TIMEOUT, AdapterFailed, Broken, Worker

KNOWN = BUNDLED / "exchange.txt"
"""Harm that is known: lines of producer, consumer, protocol, case and what came of it, between tabs."""


def exchange(
    libraries: Sequence[str],
    out: Path,
    progress: Progress | None = None,
    *,
    python: str = "",
    expect: Path = KNOWN,
    update: bool = False,
    timeout: float = PROGRAM_TIMEOUT,
    start_timeout: float = START_TIMEOUT,
) -> int:
    """Try every pair of libraries, write `results.jsonl` into `out`; the answer is the exit code.

    `timeout` is the seconds that one array may take; `expect` is the list of harm that is known. With `update` it is
    written anew for the pairs that ran.
    0 if all harm is known and all known harm is there, 1 if not, 3 if no library could be started, 4 if nothing was
    handed over. A library that is not there is skipped with its reason.

    Raises
    ------
    UnknownAdapter
        There is no library of a name; nothing is written then.
    ExpectationError
        There is no such list, or a line of it is none; nothing is written then.
    OSError
        The directory cannot be written.
    """
    if not python:
        for library in libraries:
            find(library)  # a name that is mistyped must not cost the results that are there
    known = set() if update and not expect.exists() else read_known(expect)
    progress = progress or Silent()
    out.mkdir(parents=True, exist_ok=True)
    begun, seen, handed, red = time.monotonic(), set(), 0, 0
    found: list[Handover] = []
    pairs = list(itertools.product(dict.fromkeys(libraries), repeat=2))
    with ResultsWriter(out / "results.jsonl") as writer:
        writer.write(_header(libraries, python))
        progress.begin("exchange", len(pairs))
        for producer, consumer in pairs:
            worker = Worker(
                f"exchange:{producer}>{consumer}",
                python=python or sys.executable,
                program_timeout=timeout,
                start_timeout=start_timeout,
            )
            with worker:
                try:
                    worker.start()
                except AdapterFailed as error:
                    writer.write(Adapter(worker.spec, "skipped" if error.kind == "missing" else "failed", error.reason))
                    progress.note(f"{worker.spec}: {error.reason}")
                    red += error.kind != "missing"
                    continue
                finally:
                    progress.advance(1)
                if producer == consumer:
                    writer.write(Adapter(producer, "ready", "", dict(worker.versions)))
                seen.add((producer, consumer))
                try:
                    for one in _handovers(worker, producer, consumer):
                        judged = one if update else _judged(one, known)
                        writer.write(judged)
                        found.append(one)
                        handed += one.outcome != "not offered"
                        red += not judged.is_known
                except AdapterFailed as error:  # it died, and could not be started again: a device that is gone
                    writer.write(Adapter(worker.spec, "failed", error.reason))
                    progress.note(f"{worker.spec}: {error.reason}")
                    red += 1
        code = COULD_NOT_RUN if not seen else UNEXPECTED if red else EXPECTED if handed else NOTHING_JUDGED
        writer.write(Footer(machine.now(), round(time.monotonic() - begun, 3), code))
    if update:
        kept = {line for line in known if tuple(line.split("\t")[:2]) not in seen}
        write_known(expect, kept | {_line(one) for one in found if one.is_harm})
    return code


def _header(libraries: Sequence[str], python: str) -> Header:
    command = " ".join(["stridecheck", "exchange", *libraries, *(["--python", python] if python else [])])
    return machine.header(command, {"libraries": list(libraries)})


def _handovers(worker: Worker, producer: str, consumer: str) -> Iterator[Handover]:
    for protocol, case in itertools.product(PROTOCOLS, CASES):
        answer = worker.ask([protocol, case])
        if isinstance(answer, Broken):
            outcome = answer.outcome if answer.outcome in ("crash", "timeout") else "damaged"
            yield Handover(producer, consumer, protocol, case, outcome, answer.reason)
        else:
            yield Handover(producer, consumer, protocol, case, **answer)


def _judged(one: Handover, known: set[str]) -> Handover:
    """The handover, said not to be expected where it does harm that is not known, or none where some is."""
    place = "\t".join(_line(one).split("\t")[:4])
    listed = {line for line in known if line.startswith(f"{place}\t")}
    if listed == ({_line(one)} if one.is_harm else set()):
        return one
    return Handover(**{name: getattr(one, name) for name in one.__slots__} | {"is_known": False})


def _line(one: Handover) -> str:
    harm = "read-only lost" if one.read_only == "lost" else "other strides" if one.strides is False else one.outcome
    return "\t".join((one.producer, one.consumer, one.protocol, one.case, harm))


def read_known(path: Path) -> set[str]:
    """The lines of a list of known harm.

    Raises
    ------
    ExpectationError
        It cannot be read, or has a line that does not consist of five parts.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ExpectationError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise ExpectationError(f"{path}: is no UTF-8") from None
    for number, line in enumerate(lines, 1):
        if len(line.split("\t")) != 5:
            raise ExpectationError(
                f"{path}, line {number}: is no producer, consumer, protocol, case and harm between tabs"
            )
    return set(lines)


def write_known(path: Path, lines: set[str]) -> None:
    """Write a list of known harm, sorted."""
    path.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
