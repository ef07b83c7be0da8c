"""The table of an exchange: what becomes of arrays by each way between two libraries, of which not, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .handovers import says
from .records import ARRIVED, HARMFUL, Handover

ODD: Mapping[str, tuple[str, ...]] = {
    "odd": ("transposed", "permuted 4-d", "stepped", "padded rows"),
    "zero": ("expanded", "overlapping"),
    "negative": ("reversed", "rows reversed"),
}
"""Arrays whose strides are not a row-major array's, by what is odd of them."""
READ_ONLY = "read-only"
"""The array that its producer had made read-only."""
_BOTH = {
    "fb": "both ways", "f-": "consumer's alone", "-b": "producer's alone", "--": "neither's", "..": "not tried",
    "!!": "both refused",
}  # fmt: skip
_WRITES = {"f": "{}'s", "b": "{}'s", "l": "{}'s until read", "-": "not the {}'s", "!": "{}'s refused", "n": "{}'s lost"}


class Reason(NamedTuple):
    """Arrays of which the same is to be said."""

    cases: tuple[str, ...]
    says: str
    tone: str
    """`fail` what nobody expected, `known` harm, else empty."""

    @property
    def number(self) -> int:
        """How many arrays."""
        return len(self.cases)


class Way(NamedTuple):
    """A row: one protocol between two libraries. Numbers are of arrays; no words where there is nothing to say."""

    protocol: str
    shared: int
    copied: int
    arrived: int
    """Shared or copied, which nobody can tell."""
    empty: int
    refused: int
    harm: str
    """What did harm: `2 crash, 1 other strides`."""
    tone: str
    """`fail` where something is not as expected, `known` where harm is, else empty."""
    writes: str
    """Whose writes the other side sees, of shared arrays; of copies where none is shared."""
    read_only: str
    strides: str
    """What became of strides of each kind of `ODD`."""
    idle: str
    """What became of strides that address nothing."""
    reasons: tuple[Reason, ...]


class Pair(NamedTuple):
    """The ways from one library to another, and the protocols by which there is none."""

    producer: str
    consumer: str
    ways: tuple[Way, ...]
    lacks: tuple[str, ...]
    is_listed: bool
    """Whether what is expected of all arrays was known, and not the harm alone."""


def pairs(handovers: Sequence[Handover]) -> list[Pair]:
    """All pairs of some handovers, in the order in which they appear."""
    by_pair: dict[tuple[str, str], dict[str, list[Handover]]] = {}
    for one in handovers:
        by_pair.setdefault((one.producer, one.consumer), {}).setdefault(one.protocol, []).append(one)
    return [_pair(producer, consumer, ways) for (producer, consumer), ways in by_pair.items()]


def _pair(producer: str, consumer: str, by_protocol: Mapping[str, Sequence[Handover]]) -> Pair:
    # One that is expected to be offered and is not has a row, too: it says what is not as expected.
    lacks = [
        protocol
        for protocol, found in by_protocol.items()
        if all(one.outcome == "not offered" and one.is_known for one in found)
    ]
    ways = [_way(protocol, found) for protocol, found in by_protocol.items() if protocol not in lacks]
    is_listed = all(one.is_listed for found in by_protocol.values() for one in found)
    return Pair(producer, consumer, tuple(ways), tuple(lacks), is_listed)


def _way(protocol: str, found: Sequence[Handover]) -> Way:
    outcomes = Counter(one.outcome for one in found)
    harms = Counter(_harm_of(one) for one in found if one.is_harm)
    by_case = {one.case: one for one in found}
    return Way(
        protocol,
        outcomes["shared"],
        outcomes["copied"],
        outcomes["arrived"],
        outcomes["empty"],
        outcomes["refused"],
        ", ".join(f"{number} {harm}" for harm, number in harms.items()),
        _tone(found),
        _writes(found),
        _read_only(by_case.get(READ_ONLY)),
        _odd_strides(by_case),
        _idle(found),
        tuple(_reasons(found)),
    )


def _harm_of(one: Handover) -> str:
    if one.outcome in HARMFUL:
        return f"{one.outcome} {one.damage}".strip()
    return "read-only lost" if one.read_only == "lost" else "other strides"


def _tone(found: Sequence[Handover]) -> str:
    if not all(one.is_known for one in found):
        return "fail"
    return "known" if any(one.is_harm for one in found) else ""


def _writes(found: Sequence[Handover]) -> str:
    arrived = [one for one in found if one.case != READ_ONLY]
    tried = [one for one in arrived if one.outcome == "shared"] or [one for one in arrived if one.outcome in ARRIVED]
    counts = Counter(one.writes for one in tried).most_common()
    if len(counts) == 1:
        return _told(counts[0][0])
    return "; ".join(f"{number} {_told(writes)}" for writes, number in counts)


def _told(writes: str) -> str:
    """Whose writes are seen, in words.

    >>> _told("fb"), _told("f!"), _told(".l")
    ('both ways', "consumer's, producer's refused", "producer's until read")
    """
    sides = zip(("consumer", "producer"), writes, strict=True)
    return _BOTH.get(writes) or ", ".join(_WRITES[letter].format(side) for side, letter in sides if letter != ".")


def _read_only(one: Handover | None) -> str:
    if one is None or one.outcome == "not offered":
        return ""
    return one.read_only or one.outcome


def _odd_strides(by_case: Mapping[str, Handover]) -> str:
    kinds: dict[str, list[str]] = {}
    for kind, cases in ODD.items():
        became = dict.fromkeys(_became(by_case[case]) for case in cases if case in by_case)
        if words := " or ".join(word for word in became if word):
            kinds.setdefault(words, []).append(kind)
    if len(kinds) == 1 and len(next(iter(kinds.values()))) == len(ODD):
        return f"all {next(iter(kinds))}"
    return ", ".join(f"{' and '.join(of)} {words}" for words, of in kinds.items())


def _became(one: Handover) -> str:
    """What became of the strides of one array; empty where it was not offered."""
    if one.outcome == "not offered":
        return ""
    if one.outcome != "shared":
        return one.outcome
    return "other" if one.strides is False else "kept"


def _idle(found: Sequence[Handover]) -> str:
    by_length = {
        length: " or ".join(
            dict.fromkeys(one.idle for one in found if one.idle and (one.outcome == "empty") == is_empty)
        )
        for length, is_empty in (("1", False), ("0", True))
    }
    told = {length: words for length, words in by_length.items() if words}
    if len(told) == len(by_length) and len({*told.values()}) == 1:
        return f"all {told['1']}"
    return ", ".join(f"{length}: {words}" for length, words in told.items())


def _reasons(found: Sequence[Handover]) -> Iterator[Reason]:
    """What is to be said of single arrays: what nobody expected first, what is not offered last."""
    grouped: dict[tuple[str, str], list[str]] = {}
    rank = {"fail": 0, "known": 1, "refused": 2, "": 3, "not offered": 4}
    for one in found:
        if one.is_known and not one.is_harm and not one.detail:
            continue
        tone = _tone([one])
        kind = tone or (one.outcome if one.outcome in rank else "")
        grouped.setdefault((kind, says(one)), []).append(one.case)
    for (kind, text), cases in sorted(grouped.items(), key=lambda item: rank[item[0][0]]):
        yield Reason(tuple(cases), text, kind if kind in ("fail", "known") else "")
