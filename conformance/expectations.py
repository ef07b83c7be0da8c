"""Known deviations with their reasons: which differences are expected, and which expectations no longer hold.

A TOML file has one `[[expect]]` table per known deviation (rule glob, aspect, conditions, reason, upstream issue);
beside it a sorted text file names the corpus programs that fail under each. A failure that is not listed is red; so is
a listed program that passes, and an expectation whose rules ran and which matched nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from .classify import Rule
from .judge import Difference

BUNDLED = Path(__file__).with_name("expectations")


class ExpectationError(Exception):
    """An expectation file that cannot be used; the message names file and entry."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One known deviation.

    `rules` and `operations` are globs of which one must match; empty means any. `aspects` lists those that differ.
    """

    name: str
    reason: str
    rules: tuple[str, ...]
    aspects: tuple[str, ...]
    operations: tuple[str, ...] = ()
    versions: str = ""
    issue: str = ""

    def covers(self, operation: str, aspect: str, rules: Iterable[str]) -> bool:
        """Whether a difference is the one that is expected."""
        if aspect not in self.aspects:
            return False
        if self.operations and not any(fnmatchcase(operation, glob) for glob in self.operations):
            return False
        return any(fnmatchcase(rule, glob) for rule in rules for glob in self.rules)


@dataclass(frozen=True)
class Expectations:
    """All known deviations of one library, and the corpus programs listed under each."""

    path: Path | None = None
    entries: tuple[Expectation, ...] = ()
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Program id -> names of the expectations that it is listed under."""

    def match(self, operation: str, difference: Difference, rules: Sequence[Rule]) -> Expectation | None:
        """The first expectation that covers a difference."""
        ids = [rule.id for rule in rules]
        for entry in self.entries:
            if entry.covers(operation, difference.aspect, ids):
                return entry
        return None

    def is_listed(self, program: str, name: str) -> bool:
        """Whether a corpus program is known to fail under an expectation."""
        return name in self.listed.get(program, frozenset())

    def write_list(self, matched: Mapping[str, Iterable[str]]) -> Path:
        """Write the sorted text file: `matched` has the programs that failed under each expectation."""
        if self.path is None:
            raise ExpectationError("there is no expectation file to update: give --expect FILE")
        lines = sorted(f"{name} {program}" for name, programs in matched.items() for program in programs)
        path = self.path.with_suffix(".txt")
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path


_FIELDS = {"name", "reason", "rules", "aspects", "operations", "versions", "issue"}


def load(path: Path, versions: Mapping[str, str]) -> Expectations:
    """The expectations of a TOML file that hold for these library versions, with the list beside it.

    Raises
    ------
    ExpectationError
        The file is missing, is no TOML, or has an entry without name, reason, rules or aspects.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExpectationError(f"{path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ExpectationError(f"{path}: {error}") from None
    entries = []
    for number, table in enumerate(data.get("expect", ()), 1):
        where = f"{path}, expectation {number}"
        if unknown := set(table) - _FIELDS:
            raise ExpectationError(f"{where}: unknown field {', '.join(sorted(unknown))}")
        if missing := {"name", "reason", "rules", "aspects"} - set(table):
            raise ExpectationError(f"{where}: has no {', '.join(sorted(missing))}")
        entry = _entry(table)
        if _holds(entry, versions, where):
            entries.append(entry)
    names = [entry.name for entry in entries]
    if len(set(names)) != len(names):
        raise ExpectationError(f"{path}: two expectations have the same name")
    return Expectations(path, tuple(entries), _read_list(path.with_suffix(".txt"), set(names)))


def _entry(table: Mapping[str, Any]) -> Expectation:
    return Expectation(
        name=table["name"],
        reason=table["reason"],
        rules=tuple(table["rules"]),
        aspects=tuple(table["aspects"]),
        operations=tuple(table.get("operations", ())),
        versions=table.get("versions", ""),
        issue=table.get("issue", ""),
    )


def _holds(entry: Expectation, versions: Mapping[str, str], where: str) -> bool:
    if not entry.versions:
        return True
    try:
        specifier = SpecifierSet(entry.versions)
    except InvalidSpecifier:
        raise ExpectationError(f"{where}: {entry.versions!r} is no version range") from None
    return any(specifier.contains(version.split("+")[0], prereleases=True) for version in versions.values())


def _read_list(path: Path, names: set[str]) -> dict[str, frozenset[str]]:
    listed: dict[str, frozenset[str]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            name, _, program = line.partition(" ")
            if name in names:
                listed[program] = listed.get(program, frozenset()) | {name}
    return listed


def bundled(adapter: str, versions: Mapping[str, str]) -> Expectations:
    """The expectations that come with the suite for an adapter; none for one it does not know."""
    path = BUNDLED / f"{adapter.replace(':', '-')}.toml"
    return load(path, versions) if path.is_file() else Expectations()
