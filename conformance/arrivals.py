"""What is expected of arrays that libraries hand to each other: a list that is read, compared and written anew.

A list begins with the versions that it was made with. A line is a pair and a protocol, and what arrives with the cases
that arrive so; `*` are all cases that the line does not name. Of pairs that nobody has run with these versions it may
know the harm alone: a line of producer, consumer, protocol, case and harm. All parts stand between tabs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stridecheck.reports.records import ARRIVED, HARMFUL, Handover

from .expectations import ExpectationError
from .offers import CASES

_MADE_WITH = "# made with"
_OTHERS = "*"

Pair = tuple[str, str]
"""Producer and consumer, by their adapters' own names."""


def arrival(one: Handover) -> str:
    """All of a handover that is compared with what is expected.

    >>> arrival(Handover("a", "b", "dlpack", "size 1 last", "shared", strides=True, writes="fb", idle="kept"))
    'shared fb, idle kept'
    >>> arrival(Handover("a", "b", "dlpack", "bool", "refused", "TypeError: no bool"))
    'refused'
    >>> arrival(Handover("a", "b", "dlpack", "bool", "damaged", "bool[3] arrived as uint8[3]", damage="dtype"))
    'damaged dtype'
    """
    parts = [f"{one.outcome} {one.writes if one.outcome in ARRIVED else one.damage}".strip()]
    parts += ["other strides"] if one.strides is False else []
    parts += [f"read-only {one.read_only}"] if one.read_only else []
    parts += [f"idle {one.idle}"] if one.idle else []
    return ", ".join(parts)


def harm(arrived: str) -> str:
    """What of an arrival is harm; empty where nothing is.

    >>> harm("shared f-, read-only lost"), harm("damaged dtype"), harm("copied --, idle row-major")
    ('read-only lost', 'damaged dtype', '')
    >>> harm("shared f-, other strides, read-only lost")
    'read-only lost, other strides'
    """
    parts = arrived.split(", ")
    ends = [part for part in parts if part.split(" ")[0] in HARMFUL]
    return ", ".join([*ends, *(part for part in ("read-only lost", "other strides") if part in parts)])


@dataclass(frozen=True)
class Arrivals:
    """What is known of the pairs of some libraries."""

    versions: Mapping[str, str] = field(default_factory=dict)
    """Those that `ways` was made with."""
    ways: Mapping[tuple[str, str, str], Mapping[str, str]] = field(default_factory=dict)
    """(producer, consumer, protocol) -> case -> what arrives."""
    harms: Mapping[tuple[str, str, str, str], str] = field(default_factory=dict)
    """(producer, consumer, protocol, case) -> harm, of pairs of which only that is known."""

    def knows(self, pair: Pair, versions: Mapping[str, str]) -> str:
        """Why a pair can be judged by its harm alone, in words; empty where all of it is known."""
        if not any(way[:2] == pair for way in self.ways):
            return "only harm is known" if any(place[:2] == pair for place in self.harms) else "nothing is known"
        others = _others(self.versions, versions)
        if not others:
            return ""
        known = ", ".join(f"{name} {self.versions[name]}" for name in others if name in self.versions)
        return f"what is known is of {known or 'other libraries'}"

    def judge(self, one: Handover, versions: Mapping[str, str]) -> Handover:
        """The handover, with whether it is what is expected of these versions."""
        way = self.ways.get((one.producer, one.consumer, one.protocol), {})
        pair = (one.producer, one.consumer)
        arrived, does = arrival(one), harm(arrival(one))
        only = self.harms.get((*pair, one.protocol, one.case))
        is_listed = only is None and not self.knows(pair, versions)
        if is_listed:
            wanted = way.get(one.case, "")
            is_known = arrived == wanted
        elif only is None and any(other[:2] == pair for other in self.ways):
            wanted = harm(way.get(one.case, ""))  # of other versions: harm that is gone was mended
            is_known = {*does.split(", ")} <= {"", *wanted.split(", ")}
        else:
            wanted = only or ""
            is_known = does == wanted
        return replace(one, is_known=is_known, expected="" if is_known else wanted, is_listed=is_listed)

    def updated(self, found: Sequence[Handover], versions: Mapping[str, str]) -> Arrivals:
        """The list with the pairs of some handovers written anew; they are whole, and of these versions.

        Of what an adapter failed in, what was known is kept, or its harm.
        What was made with other versions is of other pairs, and of no use for those: its harm is kept.
        """
        ran = {(one.producer, one.consumer) for one in found if one.outcome != "error"}
        ways = {way: dict(cases) for way, cases in self.ways.items() if way[:2] not in ran}
        harms = {place: does for place, does in self.harms.items() if place[:2] not in ran}
        known = dict(self.versions)
        if any(name in known for name in _others(known, versions)):
            harms |= {
                (*way, case): does
                for way, cases in ways.items()
                for case, what in cases.items()
                if (does := harm(what))
            }
            ways, known = {}, {}
        for one in found:
            way = (one.producer, one.consumer, one.protocol)
            before = self.ways.get(way, {}).get(one.case, "")
            if (arrived := before if one.outcome == "error" and known else arrival(one)) and arrived != "error":
                ways.setdefault(way, {})[one.case] = arrived
            elif does := harm(before) or self.harms.get((*way, one.case), ""):
                harms[(*way, one.case)] = does
        return Arrivals(known | dict(versions), ways, harms)


def _others(known: Mapping[str, str], versions: Mapping[str, str]) -> list[str]:
    """What has another version than is known; how a release was built (`+cpu`) makes none."""
    public = {name: version.partition("+")[0] for name, version in known.items()}
    return [name for name, version in versions.items() if public.get(name) != version.partition("+")[0]]


def read(path: Path) -> Arrivals:
    """The list in a file.

    Raises
    ------
    ExpectationError
        It cannot be read, or has a line that is none of a list.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ExpectationError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise ExpectationError(f"{path}: is no UTF-8") from None
    versions: dict[str, str] = {}
    ways: dict[tuple[str, str, str], dict[str, str]] = {}
    harms: dict[tuple[str, str, str, str], str] = {}
    for number, line in enumerate(lines, 1):
        first, *rest = line.split("\t")
        if number == 1 and first == _MADE_WITH and all(" " in part for part in rest):
            versions = {part.split(" ", 1)[0]: part.split(" ", 1)[1] for part in rest}
        elif len(rest) > 2 and all(": " in part for part in rest[2:]):
            ways[first, rest[0], rest[1]] = _cases(rest[2:])
        elif len(rest) == 4:
            harms[first, rest[0], rest[1], rest[2]] = rest[3]
        else:
            raise ExpectationError(
                f"{path}, line {number}: is neither producer, consumer, protocol and what arrives, nor producer, "
                "consumer, protocol, case and harm, between tabs"
            )
    return Arrivals(versions, ways, harms)


def _cases(parts: Iterable[str]) -> dict[str, str]:
    """What arrives of each case, of the parts of a line."""
    named = {case: arrived for arrived, cases in (part.split(": ", 1) for part in parts) for case in cases.split(" | ")}
    others = named.pop(_OTHERS, None)
    return named if others is None else dict.fromkeys(CASES, others) | named


def write(path: Path, known: Arrivals) -> None:
    """Write a list, sorted."""
    lines = ["\t".join((*way, *_parts(cases))) for way, cases in known.ways.items()]
    lines += ["\t".join((*place, does)) for place, does in known.harms.items()]
    made_with = [f"{name} {version.partition('+')[0]}" for name, version in sorted(known.versions.items())]
    head = ["\t".join((_MADE_WITH, *made_with))] if known.ways else []
    path.write_text("".join(f"{line}\n" for line in [*head, *sorted(lines)]), encoding="utf-8")


def _parts(cases: Mapping[str, str]) -> list[str]:
    """What arrives with its cases, first what most cases come to, which are not named where all cases are there.

    >>> _parts(dict.fromkeys(CASES, "shared fb") | {"bool": "refused"})
    ['shared fb: *', 'refused: bool']
    >>> _parts({"row-major": "shared fb", "bool": "refused", "offset": "shared fb"})
    ['shared fb: row-major | offset', 'refused: bool']
    """
    most = Counter(cases.values()).most_common(1)[0][0]
    rest = sorted({*cases.values()} - {most})
    named = [f"{what}: {' | '.join(case for case, arrived in cases.items() if arrived == what)}" for what in rest]
    others = _OTHERS if cases.keys() >= CASES.keys() else " | ".join(case for case in cases if cases[case] == most)
    return [f"{most}: {others}", *named]
