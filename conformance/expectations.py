"""Known deviations with their reasons: which differences are expected, and which expectations no longer hold.

A TOML file has one `[[expect]]` table per known deviation (rule glob, aspect, conditions, reason, upstream issue);
beside it a sorted text file names the corpus programs that fail under each. A failure that is not listed is red; so
is a listed program that passes or is not supported any more, and an expectation whose rules ran and which matched
nothing. A list that was made of the corpus' first programs says so, and of the others, as of random ones, the entries
alone decide.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import filter as matching
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from stridecheck.reports import records

from .capabilities import ASPECTS
from .classify import Rule
from .judge import Difference
from .program import Program
from .rules import catalogue

ENDS = ("crash", "timeout")
"""How the library's process may end, which an expectation can name in the place of an aspect."""
_REACH = "# programs of the corpus, from the first: "
_LACKS = "# not supported by "
_NOTHING = "nothing"
"""How a list begins that was not made of the whole corpus."""
BUNDLED = Path(__file__).with_name("expectations")


class ExpectationError(Exception):
    """An expectation file that cannot be used; the message names file and entry."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One known deviation.

    `rules` and `operations` are globs of which one must match; no operations means any, and the rule `*` also what is
    under no rule. `aspects` lists those that differ, or
    `ENDS`: then a program is meant that has one of the operations and is under one of the rules.
    """

    name: str
    reason: str
    rules: tuple[str, ...]
    aspects: tuple[str, ...]
    operations: tuple[str, ...] = ()
    versions: str = ""
    issue: str = ""
    programs: int | None = None
    """How many of the corpus' first programs its lines in the list are about; None: as many as all of the list."""
    beyond: bool = False
    """Whether it is about programs that the list does not reach: to cover none of a run says nothing of it then."""
    says: str = ""
    """A piece of the message, by which one cause is told from others under the same rules."""

    def covers(self, operation: str, aspect: str, rules: Iterable[str], message: str = "") -> bool:
        """Whether a difference is the one that is expected."""
        if aspect not in self.aspects or self.says not in message:
            return False
        if self.operations and not any(fnmatchcase(operation, glob) for glob in self.operations):
            return False
        return "*" in self.rules or any(self.concerns(rule) for rule in rules)

    def concerns(self, rule: str) -> bool:
        """Whether one of its globs matches a rule."""
        return any(fnmatchcase(rule, glob) for glob in self.rules)


@dataclass(frozen=True)
class Expectations:
    """All known deviations of one library, and the corpus programs listed under each."""

    path: Path | None = None
    entries: tuple[Expectation, ...] = ()
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Program id -> names of the expectations that it is listed under."""
    dormant: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same for expectations that do not hold for these versions: kept when the list is written anew."""
    reach: int | None = None
    """How many of the corpus' first programs the list is about; None where it is about all."""
    others: tuple[Expectation, ...] = ()
    """Those that hold for other versions."""
    made_with: str = ""
    """The versions that are at hand, in words."""
    lacks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Versions in words -> what programs of the corpus need that these do not have."""

    @property
    def remark(self) -> str:
        """What a reader of the failures should know: that everything known is of other versions."""
        if self.entries or not self.others:
            return ""
        ranges = " or ".join(sorted({entry.versions for entry in self.others}))
        return f"what is known of its deviations is of other versions ({ranges}): all that differs is unexpected here"

    def match(self, operation: str, difference: Difference, rules: Sequence[Rule]) -> Expectation | None:
        """The first expectation that covers a difference."""
        ids = [rule.id for rule in rules]
        for entry in self.entries:
            if entry.covers(operation, difference.aspect, ids, difference.message):
                return entry
        return None

    def match_end(self, program: Program, end: str, rules: Iterable[str]) -> Expectation | None:
        """The first expectation that covers a program which ended its process, or did not end; `end` says which."""
        ids = list(rules)
        operations = [step.op for step in program.steps]
        for entry in self.entries:
            if any(entry.covers(operation, end, ids) for operation in operations):
                return entry
        return None

    def lost(self, units: Iterable[records.Unit]) -> dict[str, int]:
        """What the same versions had when the list was made and have no more, with the number of programs that need it.

        Of the corpus programs that the list is about, in units that are about nothing else.
        """
        found: Counter[str] = Counter()
        known = self.lacks.get(self.made_with)
        if known is not None:
            for unit in units:
                if _end(unit) > 0 and self.is_about(_end(unit) - 1):
                    found.update({need: count for need, count in _needs(unit).items() if need not in known})
        return dict(found)

    def is_listed(self, program: str, name: str) -> bool:
        """Whether a corpus program is known to fail under an expectation."""
        return name in self.listed.get(program, frozenset())

    def strays(self, programs: Collection[str]) -> dict[str, list[str]]:
        """What is listed under each expectation beside the ids of the whole corpus."""
        found: dict[str, list[str]] = {}
        for program, names in self.listed.items():
            for name in names if program not in programs else ():
                found.setdefault(name, []).append(program)
        return found

    def idle(
        self, units: Iterable[records.Unit], programs: Collection[str] | None = None
    ) -> list[tuple[Expectation, tuple[str, ...]]]:
        """Those that covered nothing in all units of a run, though rules of theirs were judged, with these rules.

        One that programs are listed under says so by each of them; `programs` are the ids of the whole corpus, where
        all of it was run.
        """
        used: set[str] = set()
        judged: set[tuple[str, str]] = set()
        for unit in units:
            used.update(unit.covered)
            judged.update((rule, aspect) for rule, by_aspect in unit.counts.items() for aspect in by_aspect)
        there = (names for id, names in self.listed.items() if programs is None or id in programs)
        has_list = {name for names in there for name in names}
        found = []
        for entry in self.entries:
            # Programs that end are counted only where they do: whoever judged a rule at all would have seen it.
            ends = any(aspect in ENDS for aspect in entry.aspects)
            concerned = {rule for rule, aspect in judged if ends or aspect in entry.aspects}
            rules = sorted(filter(entry.concerns, concerned))
            if rules and not entry.beyond and entry.name not in used | has_list:
                found.append((entry, tuple(rules)))
        return found

    def is_about(self, place: int, entry: Expectation | None = None) -> bool:
        """Whether the list is about the corpus program at a place; others are judged by the entries alone.

        Where an entry is given, whether its lines are: other versions may have been run on a shorter corpus.
        """
        reaches = (self.reach, None if entry is None else entry.programs)
        return all(reach is None or place < reach for reach in reaches)

    def write_list(
        self,
        matched: Mapping[str, Iterable[str]],
        ran: Collection[str] | None = None,
        units: Iterable[records.Unit] = (),
    ) -> str:
        """Write the sorted text file, and say what has changed: `matched` has the programs that failed under each one.

        `ran` are the programs that were run, the corpus' first; None means all. What was listed of others stays where
        the list is about them. `units` tell what was not supported, which is written for the versions at hand.

        Raises
        ------
        ExpectationError
            There is no file beside which the list would be.
        """
        if self.path is None:
            raise ExpectationError("there is no expectation file to update: give --expect FILE")
        pairs = {(name, program) for name, programs in matched.items() for program in programs}
        pairs |= {(name, program) for program, names in self.dormant.items() for name in names}
        if ran is not None:
            pairs |= {(name, p) for p, names in self.listed.items() if p not in ran for name in names}
        lines = sorted(f"{name} {program}" for name, program in pairs)
        path = self.path.with_suffix(".txt")
        lacks = dict(self.lacks)
        if self.made_with and (judged := [unit for unit in units if _end(unit)]):
            needs = {need for unit in judged for need in _needs(unit)}
            if ran is not None and len(ran) < (self.reach or 0):
                needs |= lacks.get(self.made_with, frozenset()) - {_NOTHING}
            lacks[self.made_with] = frozenset(needs or {_NOTHING})
        told = [f"{_LACKS}{versions}: {need}" for versions, needs in sorted(lacks.items()) for need in sorted(needs)]
        lines = [*told, *lines]
        if ran is not None and (self.reach is not None or not path.is_file()):
            lines.insert(0, f"{_REACH}{max(len(ran), self.reach or 0)}")
        before = path.read_text(encoding="utf-8").splitlines() if path.is_file() else None
        if lines == before:
            return f"{path} is unchanged"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        old, new = set(before or ()), set(lines)
        return f"wrote {path} (lines added: {len(new - old):,}, removed: {len(old - new):,})"


def _end(unit: records.Unit) -> int:
    """One past the last corpus program of a unit; 0 where it has others."""
    source, _, span = unit.unit.partition(":")
    return int(span.partition("-")[2]) if source == "corpus" else 0


def _needs(unit: records.Unit) -> dict[str, int]:
    """What programs of a unit needed and the library lacks, each in one line, with their number."""
    return {" ".join(need.split()): number for need, number in unit.unsupported.items()}


def _in_words(versions: Mapping[str, str]) -> str:
    """Versions in one text; how a release was built (`+cpu`) makes none.

    >>> _in_words({"torch": "2.13.0+cpu", "device": "CPU"})
    'device CPU, torch 2.13.0'
    """
    return ", ".join(f"{name} {version.partition('+')[0]}" for name, version in sorted(versions.items()))


_FIELDS = {"name", "reason", "rules", "aspects", "operations", "versions", "issue", "programs", "beyond", "says"}
_LISTS = {"rules", "aspects", "operations"}


def load(
    path: Path, versions: Mapping[str, str], *, own: Mapping[str, str] | None = None, is_update: bool = False
) -> Expectations:
    """The expectations of a TOML file that hold for these library versions, with the list beside it.

    `own` are those among the versions that ranges are about, if not all.

    An update leaves out of the list what is under an entry that is gone; otherwise that is refused.

    Raises
    ------
    ExpectationError
        The file is missing, is no TOML, or has an entry that lacks a field or has one that means nothing; the list has
        a line that is none, or names an entry that is not in the file.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExpectationError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # no TOML, or no UTF-8
        raise ExpectationError(f"{path}: {error}") from None
    tables = data.get("expect", [])
    if set(data) - {"expect"} or not isinstance(tables, list):
        raise ExpectationError(f"{path}: holds [[expect]] tables and nothing else, not {', '.join(sorted(data))}")
    entries: list[Expectation] = []
    others: list[Expectation] = []
    for number, table in enumerate(tables, 1):
        where = f"{path}, expectation {number}"
        if not isinstance(table, dict):
            raise ExpectationError(f"{where}: is no table")
        if unknown := set(table) - _FIELDS:
            raise ExpectationError(f"{where}: unknown field {', '.join(sorted(unknown))}")
        if missing := {"name", "reason", "rules", "aspects"} - set(table):
            raise ExpectationError(f"{where}: has no {', '.join(sorted(missing))}")
        for name, value in table.items():
            _check_field(name, value, where)
        if table.get("says") and (ends := sorted({*table["aspects"]} & {*ENDS})):
            raise ExpectationError(f"{where}: says is of what differs; what ends in a {ends[0]} says nothing")
        entry = _entry(table)
        (entries if _holds(entry, versions if own is None else own, where) else others).append(entry)
    names = [entry.name for entry in (*entries, *others)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ExpectationError(f"{path}: two expectations have the same name, {', '.join(twice)}")
    known = frozenset(names)
    listed, reach, lacks = _read_list(path.with_suffix(".txt"), None if is_update else known)
    active = frozenset(entry.name for entry in entries)
    return Expectations(
        path,
        tuple(entries),
        {program: under & active for program, under in listed.items() if under & active},
        {program: under & known - active for program, under in listed.items() if under & known - active},
        reach,
        tuple(others),
        _in_words(versions),
        lacks,
    )


def _check_field(name: str, value: Any, where: str) -> None:
    if name == "programs":
        if type(value) is not int or value < 1:
            raise ExpectationError(f"{where}: programs is a number of programs, not {value!r}")
    elif name == "beyond":
        if type(value) is not bool:
            raise ExpectationError(f"{where}: beyond is true or false, not {value!r}")
    elif name not in _LISTS:
        if not isinstance(value, str):
            raise ExpectationError(f"{where}: {name} is text, not {value!r}")
        if name == "says" and not value.strip():
            raise ExpectationError(f"{where}: says is a piece of a message, not {value!r}")
    elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ExpectationError(f"{where}: {name} is a list of texts, not {value!r}")
    elif name == "rules" and (unknown := sorted(glob for glob in value if not matching(catalogue().rules, glob))):
        raise ExpectationError(f"{where}: no rule matches {', '.join(unknown)}; `stridecheck rules` lists all")
    elif name == "aspects" and (unknown := sorted(set(value) - {*ASPECTS, *ENDS})):
        raise ExpectationError(f"{where}: no aspect {', '.join(unknown)}; there are {', '.join((*ASPECTS, *ENDS))}")


def _entry(table: Mapping[str, Any]) -> Expectation:
    return Expectation(
        name=table["name"],
        reason=table["reason"],
        rules=tuple(table["rules"]),
        aspects=tuple(table["aspects"]),
        operations=tuple(table.get("operations", ())),
        versions=table.get("versions", ""),
        issue=table.get("issue", ""),
        programs=table.get("programs"),
        beyond=table.get("beyond", False),
        says=table.get("says", ""),
    )


def _holds(entry: Expectation, versions: Mapping[str, str], where: str) -> bool:
    if not entry.versions:
        return True
    # Only where a file has version ranges: what runs on a machine with a GPU and no network has none.
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        specifier = SpecifierSet(entry.versions)
    except InvalidSpecifier:
        raise ExpectationError(f"{where}: {entry.versions!r} is no version range") from None
    found = []
    for version in versions.values():
        with suppress(InvalidVersion):  # a driver's or a device's name among the versions
            found.append(Version(version).public)
    return any(specifier.contains(version, prereleases=True) for version in found)


def _read_list(
    path: Path, known: Collection[str] | None
) -> tuple[dict[str, frozenset[str]], int | None, dict[str, frozenset[str]]]:
    """Program id -> names of expectations, of a file with a line `NAME PROGRAM` for each pair; its reach; what lacks.

    A name that is not `known` is refused; None means any.
    """
    listed: dict[str, frozenset[str]] = {}
    lacks: dict[str, frozenset[str]] = {}
    reach = None
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        if number == 1 and line.startswith(_REACH) and line.removeprefix(_REACH).isdecimal():
            reach = int(line.removeprefix(_REACH))
            continue
        if line.startswith(_LACKS):
            made_with, _, need = line.removeprefix(_LACKS).partition(": ")
            lacks[made_with] = lacks.get(made_with, frozenset()) | {need}
            continue
        name, _, program = line.rpartition(" ")
        if not name:
            raise ExpectationError(f"{path}, line {number}: a line is `NAME PROGRAM`, not {line!r}")
        if known is not None and name not in known:
            raise ExpectationError(
                f"{path}, line {number}: {path.with_suffix('.toml').name} has no expectation {name!r}; "
                "--update-expectations leaves such lines out"
            )
        listed[program] = listed.get(program, frozenset()) | {name}
    return listed, reach, lacks


def bundled(adapter: str, versions: Mapping[str, str], *, is_update: bool = False) -> Expectations:
    """The expectations that come with the suite for an adapter; none for one it does not know."""
    path = BUNDLED / f"{adapter.replace(':', '-')}.toml"
    # What a library is built on, NumPy for one, has versions that may lie in a range that is meant for the library.
    library = adapter.partition(":")[0]
    own = {library: versions[library]} if library in versions else versions
    return load(path, versions, own=own, is_update=is_update) if path.is_file() else Expectations()
