"""Random programs drawn by Hypothesis, and its database of examples: what failed once comes first the next time.

Hypothesis chooses the bytes that a program is drawn from (`Tape`), a block at a time: hundreds a second. What fails is
shrunk as any failure is; Hypothesis' part is to vary, to remember and to forget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    GitHubArtifactDatabase,
    MultiplexedDatabase,
    ReadOnlyDatabase,
)

from ..examples import DatabaseError
from ..protocol import Adapter
from .programs import DrawnProgram, draw_program
from .source import Tape

BLOCK = 32
"""Bytes that Hypothesis is asked for at a time."""
MAX_REMEMBERED = 1_000
"""Examples that are replayed at most."""
DIRECTORY = ".hypothesis/stridecheck"
"""Where examples are kept unless a run says otherwise."""


def drawn(start: str, count: int, oracle: Adapter, about: str = "tensors") -> list[DrawnProgram]:
    """Programs that Hypothesis draws from a seed (`start`), about `count`: the same ones each time."""
    return _all(oracle, about, count, (Phase.generate,), None, start)


def remembered(database: ExampleDatabase, oracle: Adapter, about: str = "tensors") -> list[DrawnProgram]:
    """The programs that the database has, each once; it stays as it is."""
    found = _all(oracle, about, MAX_REMEMBERED, (Phase.reuse,), ReadOnlyDatabase(database))
    return list({made.program.id: made for made in found}.values())


def remember(
    database: ExampleDatabase, failing: Iterable[str], start: str, count: int, oracle: Adapter, about: str = "tensors"
) -> None:
    """Save those of a drawing whose programs' ids are among the failing."""
    for id in failing:
        _run(oracle, about, lambda made: made.program.id == id, count, (Phase.generate,), database, start)  # noqa: B023


def forget(database: ExampleDatabase, failing: Iterable[str], oracle: Adapter, about: str = "tensors") -> None:
    """Take out of the database what does not fail any more: all but what draws the programs of these ids."""
    ids = set(failing)
    key = _key(about)
    for example in list(database.fetch(key)):
        found = _all(oracle, about, 1, (Phase.reuse,), _One(key, example))
        if not any(made.program.id in ids for made in found):
            database.delete(key, example)


def database_of(place: str, adapter: str) -> ExampleDatabase:
    """The database that a run was told of, with the examples of one adapter.

    `place` is a directory, `module:attribute` (a database of Hypothesis', such as one in Redis, or a function that
    answers one), or `github:OWNER/REPOSITORY`, whose examples are read beside those of the default directory.

    Raises
    ------
    DatabaseError
        There is no such module or attribute, or it is no database.
    """
    return _Named(_database(place or DIRECTORY), adapter)


def _database(place: str) -> ExampleDatabase:
    if place.startswith("github:"):
        owner, _, repository = place.removeprefix("github:").partition("/")
        if not (owner and repository):
            raise DatabaseError(f"example database {place!r} is no github:OWNER/REPOSITORY")
        shared = ReadOnlyDatabase(GitHubArtifactDatabase(owner, repository))
        return MultiplexedDatabase(DirectoryBasedExampleDatabase(DIRECTORY), shared)
    module, colon, attribute = place.partition(":")
    if not colon or "/" in module or "\\" in module:
        if Path(place).exists() and not Path(place).is_dir():
            raise DatabaseError(f"example database {place} is no directory")
        return DirectoryBasedExampleDatabase(place)
    try:
        found: Any = getattr(import_module(module), attribute)
        found = found() if not isinstance(found, ExampleDatabase) and callable(found) else found
    except Exception as error:
        raise DatabaseError(f"example database {place!r}: {type(error).__name__}: {error}") from None
    if not isinstance(found, ExampleDatabase):
        raise DatabaseError(f"example database {place!r} is no database of Hypothesis'")
    return found


def _all(
    oracle: Adapter, about: str, count: int, phases: Sequence[Phase], database: ExampleDatabase | None, start: str = ""
) -> list[DrawnProgram]:
    """All programs that Hypothesis draws."""
    found: list[DrawnProgram] = []

    def look(made: DrawnProgram) -> bool:
        found.append(made)
        return False

    _run(oracle, about, look, count, phases, database, start)
    return found


class _Failed(Exception):
    """Tells Hypothesis that an example is worth keeping."""


def _key(about: str) -> bytes:
    """Under which examples are kept: other programs come of the same bytes where they are about something else."""
    return f"stridecheck:{about}:{BLOCK}".encode()


def _run(
    oracle: Adapter,
    about: str,
    fails: Callable[[DrawnProgram], bool],
    count: int,
    phases: Sequence[Phase],
    database: ExampleDatabase | None,
    start: str = "",
) -> None:
    """Let Hypothesis draw programs until one fails, which it saves."""

    # In this order: a seed alone would do without a database.
    @settings(
        max_examples=max(count, 1),
        phases=phases,
        database=None if database is None else _Keyed(database, _key(about)),
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @seed(f"stridecheck:{start}")
    @given(_programs(oracle, about))
    def examples(made: DrawnProgram) -> None:
        if fails(made):
            raise _Failed

    with suppress(_Failed, SkipTest):  # skipped is what has no examples to replay
        examples()


_BLOCKS = st.binary(min_size=BLOCK, max_size=BLOCK)


@st.composite
def _programs(draw: Callable[[st.SearchStrategy[bytes]], bytes], oracle: Adapter, about: str) -> DrawnProgram:
    return draw_program(Tape(lambda: draw(_BLOCKS)), oracle, draw=about)


class _Keyed(ExampleDatabase):
    """A database under one key, whatever Hypothesis calls the test that it runs."""

    def __init__(self, inner: ExampleDatabase, key: bytes) -> None:
        super().__init__()
        self._inner, self._key = inner, key

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return self._inner.fetch(self._key + _suffix(key))

    def save(self, key: bytes, value: bytes) -> None:
        self._inner.save(self._key + _suffix(key), value)

    def delete(self, key: bytes, value: bytes) -> None:
        self._inner.delete(self._key + _suffix(key), value)


def _suffix(key: bytes) -> bytes:
    """What Hypothesis adds to the key of a test for what it keeps besides."""
    return b"." + key.rpartition(b".")[2] if key.endswith((b".secondary", b".pareto")) else b""


class _Named(ExampleDatabase):
    """The examples of one adapter in a database that several share."""

    def __init__(self, inner: ExampleDatabase, name: str) -> None:
        super().__init__()
        self._inner, self._name = inner, name.encode()

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return self._inner.fetch(key + b"@" + self._name)

    def save(self, key: bytes, value: bytes) -> None:
        self._inner.save(key + b"@" + self._name, value)

    def delete(self, key: bytes, value: bytes) -> None:
        self._inner.delete(key + b"@" + self._name, value)


class _One(ExampleDatabase):
    """A single example."""

    def __init__(self, key: bytes, value: bytes) -> None:
        super().__init__()
        self._key, self._value = key, value

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return [self._value] if key == self._key else []

    def save(self, key: bytes, value: bytes) -> None:
        """Nothing: what is replayed stays what it is."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Nothing."""
