"""Going on with a run that was ended: what is whole in its results file stays, the rest is taken out and done again."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from stridecheck.reports import records

from .options import WHERE


class ResumeError(Exception):
    """A results file cannot be gone on with; the message says why."""


def reopen(path: Path, header: records.Header) -> list[records.Record]:
    """The records of a run that stay; what else is in its file is taken out of it. None where there is no file.

    Failures belong to the unit whose counts follow them: without these they go, wherever they are, for the unit is run
    again. A run that could not go on with a library, or begin with it, is not over: its footer goes, too.

    Raises
    ------
    ResumeError
        It is a run of something else: `header` is what this run would begin with.
    ResultsError
        A line in the middle of the file is no record.
    """
    if not path.exists() or b"\n" not in path.read_bytes():
        return []  # killed before the first line was whole
    found = list(records.read_results(path))
    begun = found[0]
    assert isinstance(begun, records.Header)
    _compare(path, begun, header)
    adapters: dict[str, records.Adapter] = {}
    for record in found:
        if isinstance(record, records.Adapter):
            note_last(adapters, record)
    if isinstance(found[-1], records.Footer):
        enough = ("ready", "skipped") if header.arguments.get("skip_missing") else ("ready",)
        if all(adapter.status in enough for adapter in adapters.values()):
            return found
        found.pop()
    concluded = {record.adapter for record in found if isinstance(record, records.Concluded)}
    whole = {(record.adapter, record.unit) for record in found if isinstance(record, records.Unit)}

    def stays(record: records.Record) -> bool:
        if not isinstance(record, records.Failure):
            return True
        # What is of no unit is found out when a library is done, and will be once more where none says that it was.
        return (record.adapter, record.source) in whole if record.source else record.adapter in concluded

    lines = path.read_bytes().splitlines(keepends=True)
    anew = path.with_name(f".{path.name}.anew")  # who is killed on the way leaves the file as it was
    anew.write_bytes(b"".join([line for line, record in zip(lines, found, strict=False) if stays(record)]))
    os.replace(anew, path)
    return [record for record in found if stays(record)]


def note_last(adapters: dict[str, records.Adapter], record: records.Adapter) -> None:
    """Keep the last record of each library, by what it was asked for, in the order in which these were written."""
    adapters.pop(record.spec or record.name, None)
    adapters[record.spec or record.name] = record


def _compare(path: Path, begun: records.Header, header: records.Header) -> None:
    for name, was, now in (("suite", begun.suite, header.suite), ("commit", begun.commit, header.commit)):
        if was != now:
            raise ResumeError(f"{path} was begun with {name} {was or 'unknown'}, and this is {now or 'unknown'}")
    then, this = _sought(begun), _sought(header)
    for name in sorted({*then, *this}):
        if then.get(name) != this.get(name):
            option, where = f"--{name.replace('_', '-')}", shlex.quote(str(path.parent))
            raise ResumeError(
                f"{path} was begun with other options ({option} {then.get(name)}, not {this.get(name)}): "
                f"go on with `{begun.command} --out {where} --resume`, or begin anew without --resume"
            )


def _sought(header: records.Header) -> dict[str, records.Json]:
    """The options that decide what a run finds out, as a file has them."""
    arguments: dict[str, records.Json] = json.loads(json.dumps(dict(header.arguments)))
    return {name: value for name, value in arguments.items() if name not in WHERE}
