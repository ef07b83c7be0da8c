"""Arrays handed from one library to another: the table of who can hand what to whom, and what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .records import ARRIVED, HARMFUL, Handover
from .text import count

_ORDER = (*ARRIVED, "empty", "refused", *HARMFUL)


class Matrix(NamedTuple):
    """A row for each producer, a cell for each consumer, and every handover that did harm."""

    consumers: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    harm: tuple[Handover, ...]


def matrix(handovers: Sequence[Handover]) -> Matrix:
    """The table of some handovers, in the order in which they appear."""
    producers = tuple(dict.fromkeys(one.producer for one in handovers))
    consumers = tuple(dict.fromkeys(one.consumer for one in handovers))
    rows = []
    for producer in producers:
        found = [[one for one in handovers if (one.producer, one.consumer) == (producer, to)] for to in consumers]
        rows.append((producer, tuple(_cell(cell) for cell in found)))
    return Matrix(consumers, tuple(rows), tuple(one for one in handovers if one.is_harm or not one.is_known))


def _cell(handovers: Sequence[Handover]) -> str:
    """What came of all arrays and protocols between two libraries.

    >>> _cell([Handover("a", "b", "dlpack", "row-major", "shared"), Handover("a", "b", "buffer", "bool", "refused")])
    '1 shared, 1 refused'
    >>> _cell([])
    'not tried'
    """
    outcomes = Counter(one.outcome for one in handovers)
    said = [f"{outcomes[outcome]} {outcome}" for outcome in _ORDER if outcomes[outcome]]
    return ", ".join(said) or ("nothing in common" if handovers else "not tried")


def says(handover: Handover) -> str:
    """What came of one, in words.

    >>> says(Handover("a", "b", "dlpack", "read-only", "shared", read_only="lost"))
    'shared, and read-only no more'
    """
    parts = [handover.outcome]
    if handover.detail:
        parts[0] += f": {handover.detail}"
    if handover.read_only == "lost":
        parts.append("and read-only no more")
    if handover.strides is False:
        parts.append("with other strides")
    if not handover.is_known and handover.is_listed:  # what can have changed beside the outcome
        parts += [f"writes {handover.writes}"] if handover.outcome in ARRIVED else []
        parts += [f"idle strides {handover.idle}"] if handover.idle else []
    if not handover.is_known:
        nothing = "on no list" if handover.is_listed else "not expected"
        wanted = f"where {handover.expected} was expected" if handover.expected else nothing
        parts.append(wanted)
    return ", ".join(parts)


def line(handover: Handover) -> str:
    """One that is told by itself: which way, which array, and what came of it."""
    return f"{handover.producer} → {handover.consumer}, {handover.protocol}, {handover.case}: {says(handover)}"


def headline(handovers: Sequence[Handover]) -> str:
    """All of it in one line."""
    pairs = {(one.producer, one.consumer) for one in handovers}
    tried = [one for one in handovers if one.outcome != "not offered"]
    harm = sum(one.is_harm for one in tried)
    where = f"between {count(len(pairs), 'pair')} of libraries"
    if len(pairs) == 1:
        ((producer, consumer),) = pairs
        where = f"from {producer} to {'itself' if consumer == producer else consumer}"
    return f"{count(len(tried), 'array')} handed over {where}: {_cell(tried)}; {count(harm)} with harm"


def lines(handovers: Sequence[Handover]) -> Iterator[str]:
    """A line for each pair, and one for each that did harm."""
    if not handovers:
        return
    table = matrix(handovers)
    for producer, cells in table.rows:
        for consumer, cell in zip(table.consumers, cells, strict=True):
            yield f"  {producer} → {consumer}: {cell}"
    for one in table.harm:
        yield f"  {'·' if one.is_known else '✗'} {line(one)}"
