"""Going on with a run that was ended: what is whole in its results file stays, the rest is cut off and done again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from stridecheck.reports import records

from .options import WHERE

_WHOLE = (records.Header, records.Adapter, records.Unit, records.Footer)
"""Records after which a file may end: failures belong to the unit whose counts follow them."""


class ResumeError(Exception):
    """A results file cannot be gone on with; the message says why."""


def reopen(path: Path, header: records.Header) -> list[records.Record]:
    """The records of a run that are whole, up to the last such; the file is cut there. None where there is no file.

    A run that could not go on with a library, or begin with it, is not over: its footer is cut off, too.

    Raises
    ------
    ResumeError
        It is a run of something else: `header` is what this run would begin with.
    ResultsError
        A line in the middle of the file is no record.
    """
    if not path.exists() or b"\n" not in path.read_bytes():
        return []  # killed before the first line was whole
    kept = list(records.read_results(path))
    begun = kept[0]
    assert isinstance(begun, records.Header)
    _compare(path, begun, header)
    states = {record.spec or record.name: record.status for record in kept if isinstance(record, records.Adapter)}
    if isinstance(kept[-1], records.Footer) and "failed" in states.values():
        kept.pop()
    while not isinstance(kept[-1], _WHOLE):
        kept.pop()
    with path.open("r+b") as file:
        for _ in kept:
            file.readline()
        file.truncate(file.tell())
    return kept


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
