"""The record format: one JSON line each, appended and flushed while a run goes on.

A results file is a header, then adapters, units, failures, timings, mutants, claims, handovers and conclusions in any
order, then a footer. A file without a footer belongs to a run that died: what is there is good. Everything else is
derived from it.
This module needs nothing but the standard library, so that any room may write records.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

SCHEMA = 1

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict of them."""

OUTCOMES = ("pass", "fail", "xfail", "xpass", "unsupported", "error", "crash", "timeout")
"""Every outcome that a judged program or aspect can have."""

RED = ("fail", "xpass", "error", "crash", "timeout")
"""Outcomes that nobody expected: a run that holds one of them exits 1."""


class ExitCode(IntEnum):
    """How a run ends."""

    EXPECTED = 0
    UNEXPECTED = 1
    USAGE = 2
    COULD_NOT_RUN = 3
    NOTHING_JUDGED = 4

    @classmethod
    def of(cls, parts: Iterable[int]) -> ExitCode:
        """That of the whole, from its parts': what is red comes first, and an idle part does not hide a busy one.

        >>> ExitCode.of([4, 0, 3]), ExitCode.of([3, 1])
        (<ExitCode.COULD_NOT_RUN: 3>, <ExitCode.UNEXPECTED: 1>)
        """
        found = {*parts}
        order = cls.UNEXPECTED, cls.COULD_NOT_RUN, cls.USAGE, cls.EXPECTED, cls.NOTHING_JUDGED
        return next((code for code in order if code in found), cls.EXPECTED)


Outcome: TypeAlias = str
"""One of `OUTCOMES`."""

Count: TypeAlias = int
"""A whole number, not below 0."""

Program: TypeAlias = Mapping[str, Json]
"""The JSON of a program, which has `steps`; an object without anything stands for none."""


class ResultsError(Exception):
    """A results file that cannot be read; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class Header:
    """First line: what ran, where, with what."""

    record: ClassVar[str] = "header"
    suite: str
    """Version of stridecheck."""
    commit: str
    """Commit of the suite's checkout, empty outside one."""
    started: str
    """Time of the start, ISO 8601 in UTC."""
    command: str
    """The command line as one would type it again, `stridecheck check numpy --seed 7`."""
    arguments: Mapping[str, Json]
    """What the command line came to, defaults included; `seed` is shown at the top of a page."""
    machine: Mapping[str, Json]
    """`cpu`, `cores`, `memory_bytes`, `system`, `python`, `threads`."""
    rules: tuple[Mapping[str, Json], ...] = ()
    """The rule catalogue: `id`, `family`, `sentence`, `source`, `aspects`."""
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Adapter:
    """One library under test, once it has answered (or could not)."""

    record: ClassVar[str] = "adapter"
    name: str
    status: str
    """`ready`, `skipped` (not here, which was allowed; with the reason) or `failed`."""
    reason: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    capabilities: Mapping[str, Json] = field(default_factory=dict)
    spec: str = ""
    """What it was asked for by: a name, `module:attribute` or a file's path."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A slice of the work done: the counts of everything judged in it."""

    record: ClassVar[str] = "unit"
    adapter: str
    unit: str
    """Name of the work unit, `corpus:0-128` or `random:7:0-128`; the same arguments give the same units."""
    programs: Count
    """Programs run, unsupported ones included."""
    outcomes: Mapping[Outcome, Count]
    """Programs by their worst outcome."""
    counts: Mapping[str, Mapping[str, Mapping[Outcome, Count]]]
    """rule -> aspect -> outcome -> number of judged steps."""
    unsupported: Mapping[str, Count] = field(default_factory=dict)
    """Programs not run, by the missing capability."""
    covered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Expectations that covered a difference, by name, each with the ids of the corpus programs among them."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One program that did not do as expected of the library, or is known not to (xfail)."""

    record: ClassVar[str] = "failure"
    adapter: str
    program: str
    """Id of the program as it was found."""
    outcome: Outcome
    step: int
    """Number of the failing step, -1 for the inputs, and where a program ended at a step that is not known."""
    operation: str
    value: str
    """Slot of the value that differs, `3` or `3.1`, or storage, `s0`; empty for the step as a whole."""
    aspect: str
    rules: tuple[str, ...]
    expected: Json
    got: Json
    message: str
    """One sentence: what was got, what was expected, under which rule."""
    source: str = ""
    """Name of the unit that it was found in."""
    expectation: str = ""
    """Reason of the expectation that covers it, if one does."""
    attribution: str = ""
    found: Program = field(default_factory=dict)
    """The program as found, JSON."""
    shrunk: Program = field(default_factory=dict)
    """The smallest program that still fails alike, JSON; empty where shrinking was not asked for."""
    listing: str = ""
    """The shrunk program in words a reader of PyTorch understands, one step a line."""
    expected_observation: Json = None
    got_observation: Json = None
    repro: str = ""
    """Standalone script: exits 1 while the deviation is there, 0 when it is gone."""

    @property
    def key(self) -> tuple[str, ...]:
        """What failures are told apart by: two that have it in common are one that was found twice."""
        return (self.adapter, self.program, self.outcome, str(self.step), self.value, self.aspect)

    @property
    def may_have_script(self) -> bool:
        """Whether a script shows it, or was not looked for yet; none shows an adapter's own error, or an `xpass`."""
        return bool(self.repro) or (not self.shrunk and self.outcome in ("fail", "crash", "timeout"))

    @property
    def where(self) -> str:
        """The place in the program, in words."""
        if self.step >= 0:
            return f"step {self.step}"
        return "inputs" if self.aspect else "a step that is not known"


@dataclass(frozen=True, slots=True)
class Timing:
    """One case timed on one adapter."""

    record: ClassVar[str] = "timing"
    case: str
    """`copy/transposed/float32/large`: operation/layout/dtype/size class."""
    adapter: str
    operation: str
    layout: str
    dtype: str
    shape: tuple[int, ...]
    size_class: str
    threads: Count
    status: str
    """`ok`, `unsupported` or `error`; the numbers below are 0 unless ok."""
    reason: str = ""
    samples_ns: tuple[float, ...] = ()
    """Nanoseconds a call, one figure a block, in the order measured."""
    median_ns: float = 0.0
    output_bytes: Count = 0
    touched_bytes: Count = 0
    """Bytes of the cache lines that must be read and written."""
    copied: bool | None = None
    """Whether the result lies in fresh memory; None where it was not looked at."""
    predicted: bool | None = None
    """Whether it does in PyTorch, as the reference has it; None where nothing was predicted."""
    x_copy: float | None = None
    """Time over the best contiguous copy of the same output bytes in the same run."""
    x_traffic: float | None = None
    """Time over that copy rate applied to `touched_bytes`."""
    program: Mapping[str, Json] = field(default_factory=dict)
    peak_bytes: int | None = None
    """Memory that a call holds at its peak, its result included; None where nothing could tell."""
    cache: str = "warm"
    """`warm`: as the call before left it; `cold`: emptied before each call."""
    process: Count = 0
    """Which of the run's measuring processes it comes from: processes differ by more than blocks of one do."""
    visit: Count = 0
    """How often the process had measured the case before: whoever comes back later sees what else ran meanwhile."""
    clocks: str = ""
    """The rates that a device ran at when it was timed, as its driver says; they are noted, and never changed."""

    @property
    def subject(self) -> tuple[str, str, Count, str]:
        """What was timed, whichever process did it."""
        return self.adapter, self.case, self.threads, self.cache


@dataclass(frozen=True, slots=True)
class Mutant:
    """One library that is wrong on purpose, and what found it out: the suite's own score."""

    record: ClassVar[str] = "mutant"
    name: str
    sentence: str
    """What it does wrong."""
    base: str
    """The adapter that does everything else right."""
    outcome: str
    """`killed`, `survived`, or `untried` (with the reason in `message`)."""
    programs: Count
    """Programs up to the one that killed it, that one included; all where none did."""
    reached: Count
    """Of those, programs that could show the defect: only they were run."""
    source: str = ""
    """Where the program that killed it comes from: `corpus`, `random:SEED:…`."""
    program: str = ""
    operation: str = ""
    aspect: str = ""
    """What differed first, or `crash` or `timeout`."""
    rules: tuple[str, ...] = ()
    message: str = ""
    like: str = ""
    """The thread of the real bug that it is modelled on, `pytorch/pytorch#41226`."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim about memory layout, and what measuring it came to."""

    record: ClassVar[str] = "claim"
    id: str
    says: str
    claimed: str
    """The figure as it is published."""
    verdict: str
    """`confirmed`, `refuted`, `depends`, `cannot tell`, `measured` (there is no figure to try), `not tried` (what it
    takes is not here) or `failed` (trying it went wrong)."""
    why: str = ""
    low: float | None = None
    """Smallest ratio that agrees with the claim."""
    high: float | None = None
    trials: tuple[Mapping[str, Json], ...] = ()
    """`label`, `unit` (ns, bytes or holds), `first`, `second`, their `ratio`, from `low` to `high` over the processes,
    and what it `says`: agrees, contradicts, open or measured."""


ARRIVED = ("shared", "copied", "arrived")
"""Outcomes of arrays that have elements where they are taken, and the right ones."""

HARMFUL = ("damaged", "crash", "timeout", "error")
"""Outcomes of arrays that did harm, whatever else is said of them."""


@dataclass(frozen=True, slots=True)
class Handover:
    """One array handed from one library to another, and what of it arrived."""

    record: ClassVar[str] = "handover"
    producer: str
    consumer: str
    protocol: str
    """`dlpack`, `dlpack 0`, `dlpack copy`, `dlpack share`, `buffer`, `interface` or `cuda interface`."""
    case: str
    """Which array: a layout of float32, or a dtype."""
    outcome: str
    """`shared` (the same memory), `copied` (by either side), `arrived` (one of these, which nobody can tell), `empty`
    (nothing to share), `refused` (an error says so), `damaged` (other elements, shape or dtype, writes that go astray,
    and no error), `crash`, `timeout`, `not offered` (one side has no such array or protocol), or `error` (an adapter
    failed)."""
    detail: str = ""
    strides: bool | None = None
    """Of shared memory, whether the strides that address anything are the producer's."""
    writes: str = ".."
    """`f` where the producer sees what the consumer writes, `b` the other way, `l` there until it is first read (its
    copy is lazy); `-` where not, `!` where who should write raises, `n` where it does nothing instead, `.` where it has
    nothing to write with."""
    read_only: str = ""
    """`kept` or `lost`, of memory that the producer had made read-only; empty where nobody could try to write."""
    idle: str = ""
    """Strides that address nothing (of dimensions of length 1, and of arrays without elements): `kept`, `row-major`
    (rewritten to what such an array has there) or `other`; DLPack leaves all of that to libraries."""
    damage: str = ""
    """Kind of what is damaged, out of `taking.DAMAGE`; or `answer`: refused by answering with no array."""
    is_known: bool = True
    """Whether this is what was expected."""
    expected: str = ""
    """What was expected in its place; empty where it is known, or nothing was expected of it."""
    is_listed: bool = False
    """Whether all of it was expected of these versions; else harm alone is judged."""

    @property
    def is_harm(self) -> bool:
        """Whether something arrived otherwise than promised, and no error said so."""
        return self.outcome in HARMFUL or self.read_only == "lost" or self.strides is False


@dataclass(frozen=True, slots=True)
class Concluded:
    """All of a library's units are in the file, and what is of no unit: nothing more comes of it."""

    record: ClassVar[str] = "concluded"
    adapter: str


@dataclass(frozen=True, slots=True)
class Footer:
    """Last line of a run that ended by itself."""

    record: ClassVar[str] = "footer"
    finished: str
    seconds: float
    exit_code: int


Record: TypeAlias = Header | Adapter | Unit | Failure | Timing | Mutant | Claim | Handover | Concluded | Footer

_KINDS: dict[str, type[Record]] = {
    kind.record: kind for kind in (Header, Adapter, Unit, Failure, Timing, Mutant, Claim, Handover, Concluded, Footer)
}
_WORDS: Mapping[tuple[type[Record], str], tuple[str, ...]] = {
    (Adapter, "status"): ("ready", "skipped", "failed"),
    (Failure, "outcome"): OUTCOMES,
    (Timing, "status"): ("ok", "unsupported", "error"),
    (Timing, "cache"): ("warm", "cold"),
    (Mutant, "outcome"): ("killed", "survived", "untried"),
    (Claim, "verdict"): ("confirmed", "refuted", "depends", "cannot tell", "measured", "not tried", "failed"),
    (Handover, "outcome"): (
        *ARRIVED, "empty", "refused", *HARMFUL, "not offered"
    ),
}  # fmt: skip
"""Fields that hold one of a few words: what is told and what is red hangs on them, so that no other will do."""

_TUPLES = {"rules", "shape", "samples_ns"}


def _is_int(value: Json) -> bool:
    # What does not fit into 64 bits fits into no frame.
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: Json) -> bool:
    return _is_int(value) or (type(value) is float and math.isfinite(value))  # 1e999 is read as inf


def _is_count(value: Json) -> bool:
    return _is_int(value) and value >= 0


def _is_object(value: Json, is_right: Callable[[Json], bool]) -> bool:
    """Whether the value is an object, all of whose values are right."""
    return isinstance(value, dict) and all(map(is_right, value.values()))


def _is_by_outcome(value: Json) -> bool:
    return _is_object(value, _is_count) and all(outcome in OUTCOMES for outcome in value)


# Checked by hand: jsonschema needs longer for a line than parsing it does, and a file has very many lines.
_CHECKS: Mapping[str, tuple[str, Callable[[Json], bool]]] = {
    "str": ("text", lambda value: isinstance(value, str)),
    "int": ("a whole number", _is_int),
    "Count": ("a whole number that is not below 0", _is_count),
    "float": ("a number", _is_number),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "bool | None": ("true, false or null", lambda value: value is None or isinstance(value, bool)),
    "int | None": ("a whole number or null", lambda value: value is None or _is_int(value)),
    "float | None": ("a number or null", lambda value: value is None or _is_number(value)),
    "Json": ("anything", lambda value: True),
    "Mapping[str, Json]": ("an object", lambda value: isinstance(value, dict)),
    "Mapping[str, str]": (
        "an object of texts",
        lambda value: _is_object(value, lambda item: isinstance(item, str)),
    ),
    "Mapping[str, Count]": ("an object of whole numbers", lambda value: _is_object(value, _is_count)),
    "Mapping[Outcome, Count]": ("outcome -> whole number that is not below 0", _is_by_outcome),
    "Mapping[str, Mapping[str, Mapping[Outcome, Count]]]": (
        "rule -> aspect -> outcome -> whole number that is not below 0",
        lambda value: _is_object(value, lambda aspects: _is_object(aspects, _is_by_outcome)),
    ),
    "Program": (
        "a program, an object with a list of `steps`, or an empty object",
        lambda value: isinstance(value, dict) and (not value or isinstance(value.get("steps"), list)),
    ),
    "Mapping[str, Sequence[str]]": (
        "an object of lists of texts",
        lambda value: _is_object(
            value, lambda item: isinstance(item, list) and all(isinstance(one, str) for one in item)
        ),
    ),
    "tuple[str, ...]": (
        "a list of texts",
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    ),
    "tuple[int, ...]": (
        "a list of whole numbers",
        lambda value: isinstance(value, list) and all(_is_int(item) for item in value),
    ),
    "tuple[float, ...]": (
        "a list of numbers",
        lambda value: isinstance(value, list) and all(_is_number(item) for item in value),
    ),
    "tuple[Mapping[str, Json], ...]": (
        "a list of objects",
        lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    ),
}
"""The annotation of a field -> what it says in words, and whether a JSON value does so."""


def _check(kind: type[Record], name: str, annotation: str) -> tuple[str, Callable[[Json], bool]]:
    words = _WORDS.get((kind, name))
    return _CHECKS[annotation] if words is None else (f"one of {', '.join(words)}", lambda value: value in words)


_FIELDS = {
    kind: {field.name: _check(kind, field.name, str(field.type)) for field in fields(kind)} for kind in _KINDS.values()
}

_NEEDED = {
    kind: {
        field.name
        for field in fields(kind)
        if (field.default is MISSING and field.default_factory is MISSING) or field.name == "schema"
    }
    for kind in _KINDS.values()
}
"""What a line must have: fields without a default, and the schema, which a reader must not guess."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def to_line(record: Record) -> str:
    """The record as one line of JSON, without the newline."""
    # What a field holds is JSON already: it need not be copied, as `asdict` would.
    data = {name: getattr(record, name) for name in _FIELDS[type(record)]}
    return json.dumps({"record": record.record, **data}, separators=(",", ":"), allow_nan=False)


def from_line(line: str) -> Record:
    """The record that `to_line` wrote; ValueError says what is wrong with another line.

    Half a surrogate pair, as it may be in what a library says, can be written into no file: its escape is the text.
    """
    data = json.loads(line, parse_constant=_no_constant)
    if _SURROGATE.search(line):
        text = json.dumps(data, ensure_ascii=False)  # whole pairs are one character now
        data = json.loads(re.sub("[\ud800-\udfff]", lambda half: rf"\\u{ord(half[0]):x}", text))
    if not isinstance(data, dict) or str(data.get("record")) not in _KINDS:
        raise ValueError(f"a record is an object whose `record` is one of {', '.join(_KINDS)}")
    kind = _KINDS[data.pop("record")]
    known, one = _FIELDS[kind], f"{'an' if kind is Adapter else 'a'} {kind.record}"
    for name, value in data.items():
        if name not in known:
            raise ValueError(f"{one} has no field {name}")
        words, is_right = known[name]
        if not is_right(value):
            raise ValueError(f"`{name}` of {one} is {words}, not {json.dumps(value)[:80]}")
        if isinstance(value, list) and name in _TUPLES:
            data[name] = tuple(value)
    if missing := _NEEDED[kind] - data.keys():
        raise ValueError(f"{one} has {', '.join(sorted(missing))}, too")
    record = kind(**data)
    if isinstance(record, Timing) and record.status == "ok" and record.median_ns <= 0:
        raise ValueError(f"`median_ns` of a timing that is ok is above 0, not {record.median_ns:g}")
    return record


class ResultsWriter:
    """Appends records to a results file; each one is in the file before the call returns.

    Raises
    ------
    OSError
        The file cannot be written (no permission, no space left).
    """

    def __init__(self, path: Path, *, append: bool = False) -> None:
        self.path = path
        self._file = path.open("a" if append else "w", encoding="utf-8")

    def write(self, record: Record) -> None:
        """Append one record and hand it to the operating system."""
        self._file.write(to_line(record) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Write everything to disk and close the file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self.close()
            return
        # What ended the run is the news, not that a full disk or a pipe cannot be closed properly either.
        with contextlib.suppress(OSError):
            self.close()


def _dangling(record: Record, adapters: set[str], rules: set[Json]) -> str:
    """What a record names that no record before it has told of, in words; takes in what it tells of itself."""
    if isinstance(record, Header):
        rules.update(rule.get("id") for rule in record.rules)
    elif isinstance(record, Adapter):
        adapters.add(record.name)
    elif isinstance(record, Unit | Failure | Timing | Concluded) and record.adapter not in adapters:
        return f"no adapter {record.adapter!r} before this {record.record}"
    if isinstance(record, Unit | Failure):
        named = record.counts if isinstance(record, Unit) else record.rules
        return next((f"no rule {rule!r} in the header" for rule in named if rule not in rules), "")
    return ""


_GIVE = "give the directory that a run wrote (--out), or the results.jsonl in it"


def _why(error: Exception) -> str:
    """Why a line is no record; of broken JSON without the number of the line that it counts itself."""
    if isinstance(error, json.JSONDecodeError):
        return f"no record of stridecheck's, but broken JSON ({error.msg}, character {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return f"no record of stridecheck's, nor text ({error.reason}, byte {error.start + 1})"
    return str(error)


def read_results(path: Path) -> Iterator[Record]:
    """Records of a results file, in the order written.

    A last line that was cut off by the death of a run is left out.

    Raises
    ------
    ResultsError
        The file is missing, or a line of it is no record, or names an adapter or a rule that no line before it has:
        file and line number are named.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise ResultsError(f"{path}: no such results file") from None
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror})") from None
    adapters: set[str] = set()
    rules: set[Json] = set()
    cut_off = lines.pop()  # empty after a whole line, a fragment after a kill
    for number, line in enumerate(lines, 1):
        try:
            record = from_line(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            hint = f"; {_GIVE}" if number == 1 else ""
            raise ResultsError(f"{path}, line {number}: {_why(error)}{hint}") from None
        if (number == 1) != isinstance(record, Header):
            raise ResultsError(f"{path}, line {number}: the header must be the first line and no other")
        if isinstance(record, Header) and record.schema != SCHEMA:
            wrote = f"stridecheck {record.suite} wrote it in schema {record.schema}"
            raise ResultsError(f"{path}: {wrote}, this version reads {SCHEMA}: read it with that one, or run it anew")
        if problem := _dangling(record, adapters, rules):
            raise ResultsError(f"{path}, line {number}: {problem}")
        yield record
    if not lines:
        raise ResultsError(f"{path}: empty{', its only line is cut off' if cut_off else ''}; {_GIVE}")
