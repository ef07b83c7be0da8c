"""What the oracle does with each program of the corpus, and the rules that it exercises, recorded.

Whoever checks a library need not find it out again. The record is committed beside the corpus, so a change of what is
expected is a change that a reader sees. After one, or after a change of the rules,
`stridecheck check reference` tells which programs the oracle now does otherwise, and `make record` records it anew; a
test holds the two together.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

from . import corpus, jsonl, written
from .classify import Catalogue, Rule
from .corpus import CorpusError
from .execute import Execution, execute
from .observation import Observation
from .program import Program
from .protocol import Adapter
from .written import Written

EXPECTED = "expected.jsonl.gz"
EXERCISED = "exercised.jsonl.gz"
T = TypeVar("T")
_ID = slice(2, 18)
"""Where the id stands in a line, `["0123456789abcdef",[...]]`."""


class Recorded(Mapping[str, T]):
    """What is known of programs, by their id; read as far as is asked for, decoded each time: kept, it would be much.

    Raises
    ------
    CorpusError
        When asked: the file is damaged, or `decode` refuses a line. A file that is missing holds nothing.
    """

    def __init__(self, path: Path, decode: Callable[[bytes], T]) -> None:
        self._path, self._decode = path, decode
        self._lines: dict[str, bytes] = {}
        self._unread, self._reading = self._read(), Lock()

    def _read(self) -> Iterator[str]:
        """Lines that nobody has asked for yet, each kept and told by its id: in the order of the corpus."""
        try:
            # GzipFile finds lines in Python, a buffer in C.
            with gzip.open(self._path, "rb") as file, io.BufferedReader(file) as lines:
                for line in lines:
                    id = line[_ID].decode("ascii")
                    self._lines[id] = line
                    yield id
        except FileNotFoundError:
            return
        except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
            raise CorpusError(f"{self._path}: {error}") from None

    def __getitem__(self, id: str) -> T:
        if id not in self._lines:
            self._read_until(id)
        line = self._lines[id]
        try:
            return self._decode(line)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CorpusError(f"{self._path}, program {id}: cannot be read ({error})") from None

    def _read_until(self, id: str | None = None) -> None:
        with self._reading:
            if id not in self._lines:
                next((found for found in self._unread if found == id), None)

    def __iter__(self) -> Iterator[str]:
        self._read_until()
        return iter(self._lines)

    def __len__(self) -> int:
        self._read_until()
        return len(self._lines)


def observations(folder: Path) -> Recorded[Written]:
    """What a record says that the oracle does."""
    return Recorded(folder / EXPECTED, written.from_line)


def rules(folder: Path, catalogue: Catalogue) -> Recorded[list[list[Rule]]]:
    """The rules of each step that a record says a program exercises, as `Catalogue.classify` finds them."""
    known = catalogue.rules
    return Recorded(folder / EXERCISED, lambda line: [[known[id] for id in step] for step in jsonl.loads(line)[1]])


_observations = cache(lambda: observations(corpus.PATH.parent))
_rules = cache(lambda catalogue: rules(corpus.PATH.parent, catalogue))


def expected(program: Program, oracle: Adapter) -> Sequence[Observation]:
    """What the oracle does with a program: as recorded where it is one of the corpus, else it is run.

    Raises
    ------
    OracleError, ProtocolError, Unsupported
        As `execute`, for a program that it runs.
    """
    known = _observations().get(program.id)
    return execute(program, oracle) if known is None else known


def exercised(program: Program, expected: Sequence[Observation], catalogue: Catalogue) -> list[list[Rule]]:
    """Rules of each observation: as recorded where the program is one of the corpus, else they are found.

    Raises
    ------
    CorpusError
        The record is damaged, or of other rules: `make record` has been forgotten.
    """
    known = _rules(catalogue).get(program.id)
    return catalogue.classify(program, expected) if known is None else known


def record(
    programs: Iterable[Program], oracle: Adapter, catalogue: Catalogue, folder: Path = corpus.PATH.parent
) -> None:
    """Run programs on the oracle, and write what it does with them and the rules that they exercise.

    Bytes that PyTorch does not specify are written as 0, and nothing of what is read from them, so that a record made
    again does not differ in them.

    Raises
    ------
    OracleError
        The oracle broke.
    OSError
        The file cannot be written.
    """
    expected, exercised = [], []
    for program in programs:
        execution = Execution(oracle, program.storages, program.inputs)
        done = [execution.initial, *[execution.step(step) for step in program.steps]]
        settled = [_settled(one, slot, execution.vague) for slot, one in enumerate(done, len(program.inputs) - 1)]
        expected.append(written.to_line(program.id, settled))
        rules = [[rule.id for rule in step] for step in catalogue.classify(program, done)]
        exercised.append(json.dumps([program.id, rules], separators=(",", ":")))
    for name, lines in ((EXPECTED, expected), (EXERCISED, exercised)):
        corpus.pack("".join([line + "\n" for line in lines]), folder / name)


def _settled(done: Observation, slot: int, vague: Container[str]) -> Observation:
    """The observation of a slot without what happened to lie in memory that nobody had written."""
    results = done.results
    if results is not None:
        keys = [f"{slot}.{item}" for item in range(len(results))] if done.is_tuple else [str(slot)]
        results = tuple([("scalar", "?") if key in vague else one for key, one in zip(keys, results, strict=False)])
    return written.specified(done._replace(results=results))
