"""What a run with `--driver hypothesis` does with the database of examples: what failed once is tried first, and kept.

Hypothesis keeps what it drew a program from, not the program: an example stays one while programs are drawn alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from stridecheck.reports import records

from .options import Options
from .protocol import Adapter
from .units import Drawing, Unit

# Hypothesis is imported where it is used: most runs do without.

UNIT = "examples"
"""Name of the unit of programs that the database has."""
MAX_KEPT = 20
"""Failures of a run that are kept at most, each of another operation or aspect: one shows what its like would."""


class DatabaseError(Exception):
    """An example database that cannot be used; the message says which."""


def replayed(options: Options, adapter: str, oracle: Adapter) -> Unit | None:
    """The programs that failed on an adapter before; None where none did.

    Raises
    ------
    DatabaseError
        The database that was asked for cannot be used.
    """
    from .draw.hypothesis_driver import database_of, remembered

    found = remembered(database_of(options.example_database, adapter), oracle, options.draw)
    if not found:
        return None
    return Unit(UNIT, tuple(d.program for d in found), tuple(d.expected for d in found), from_corpus=False)


def keep(
    options: Options, adapter: str, oracle: Adapter, failures: Iterable[records.Failure], drawn: Iterable[Drawing]
) -> None:
    """Keep what failed unexpectedly in these drawings, and drop what has come from the database and fails no more."""
    from .draw.hypothesis_driver import database_of, forget, remember

    database = database_of(options.example_database, adapter)
    red = [failure for failure in failures if failure.outcome in records.RED]
    forget(database, {failure.program for failure in red if failure.source == UNIT}, oracle, options.draw)
    drawings = {drawing.name: drawing for drawing in drawn}
    kinds = {(f.operation, f.aspect): f for f in reversed(red) if f.source in drawings}
    kept = sorted(list(kinds.values())[-MAX_KEPT:], key=lambda failure: failure.source)
    for source, some in groupby(kept, key=lambda failure: failure.source):
        drawing = drawings[source]
        ids = {failure.program for failure in some}
        remember(database, ids, drawing.key, drawing.stop - drawing.start, oracle, drawing.about)
