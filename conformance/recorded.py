"""What the oracle does with each program of the corpus, recorded: whoever checks a library need not run it again.

The record is committed beside the corpus, so a change of what is expected is a change that a reader sees. After one,
`stridecheck check reference` tells which programs the oracle now does otherwise, and `make record` records it anew; a
test holds the two together.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from . import corpus, observation
from .corpus import CorpusError
from .execute import execute
from .memory import UNSPECIFIED
from .observation import Observation, StorageState
from .program import Program
from .protocol import Adapter

PATH = corpus.PATH.with_name("expected.jsonl.gz")
_ID = slice(2, 18)
"""Where the id stands in a line, `["0123456789abcdef",[...]]`."""


class Recorded(Mapping[str, list[Observation]]):
    """Observations by the id of their program; read when first asked, decoded each time: kept, they would be many.

    Raises
    ------
    CorpusError
        When asked: the file is damaged, or a line is no list of observations. One that is missing holds nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _lines(self) -> dict[str, str]:
        try:
            with gzip.open(self._path, "rt", encoding="utf-8") as lines:
                return {line[_ID]: line for line in lines}
        except FileNotFoundError:
            return {}
        except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
            raise CorpusError(f"{self._path}: {error}") from None

    def __getitem__(self, id: str) -> list[Observation]:
        line = self._lines[id]
        try:
            return [observation.from_json(one) for one in json.loads(line)[1]]
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CorpusError(f"{self._path}, program {id}: no observations ({error})") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@cache
def recorded() -> Recorded:
    """The record of the bundled corpus."""
    return Recorded(PATH)


def expected(program: Program, oracle: Adapter) -> Sequence[Observation]:
    """What the oracle does with a program: as recorded where it is one of the corpus, else it is run.

    Raises
    ------
    OracleError, ProtocolError, Unsupported
        As `execute`, for a program that it runs.
    """
    known = recorded().get(program.id)
    return execute(program, oracle) if known is None else known


def record(programs: Iterable[Program], oracle: Adapter, path: Path = PATH) -> None:
    """Run programs on the oracle and write what it does with them.

    Bytes that PyTorch does not specify are written as 0, so that a record made again does not differ in them.

    Raises
    ------
    OracleError
        The oracle broke.
    OSError
        The file cannot be written.
    """
    lines = []
    for program in programs:
        done = [observation.to_json(_settled(one)) for one in execute(program, oracle)]
        lines.append(json.dumps([program.id, done], separators=(",", ":")) + "\n")
    corpus.pack("".join(lines), path)


def _settled(done: Observation) -> Observation:
    """An observation without what happened to lie in memory that nobody had written."""
    return done._replace(storages={name: _zeroed(state) for name, state in done.storages.items()})


def _zeroed(state: StorageState) -> StorageState:
    if state.shadow is None or UNSPECIFIED not in state.shadow:
        return state
    known = zip(state.data, state.shadow, strict=True)
    return state._replace(data=bytes([0 if mark == UNSPECIFIED else byte for byte, mark in known]))
