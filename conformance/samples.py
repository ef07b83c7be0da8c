"""PyTorch's own operator samples as data: what `opinfo.py` took from torch once, to be read without it."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from .corpus import PATH as _CORPUS
from .corpus import CorpusError
from .globs import unmatched
from .program import Program

PATH = _CORPUS.with_name("opinfo.jsonl.xz")


class Sample(NamedTuple):
    """One sample of one operator."""

    operator: str
    kind: str
    """`sample`, or `error` for an input that PyTorch refuses."""
    program: Program


def read(operators: str = "*", path: Path = PATH) -> Iterator[Sample]:
    """Samples of the operators whose names match a glob, in the order written: an operator's follow each other.

    Raises
    ------
    CorpusError
        The file is missing or damaged.
    """
    with _lines(path) as lines:
        for number, line in enumerate(lines, 2):
            operator, kind, rest = line.split("\t", 2)
            if fnmatchcase(operator, operators):
                yield Sample(operator, kind, _program(rest, f"{path}, line {number}"))


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines behind the first; CorpusError where they cannot be read, or hold what they should not."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            next(lines)
            yield lines
    except (OSError, EOFError, ValueError, StopIteration, lzma.LZMAError) as error:
        raise CorpusError(f"{path}: {error}") from None


def matching_none(operators: str, path: Path = PATH) -> str:
    """That a glob matches no operator that there are samples of, with those that may be meant; empty where one does."""
    names: set[str] = set()
    with _lines(path) as lines:
        for line in lines:
            names.add(operator := line.partition("\t")[0])
            if fnmatchcase(operator, operators):
                return ""
    return unmatched("OpInfo operator", [operators], sorted(names))


def made_by(path: Path = PATH) -> str:
    """The version of torch that the samples are of."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return next(lines).strip()


def write(samples: Iterable[Sample], version: str, path: Path = PATH) -> int:
    """Write samples of a version of torch, each once, and answer how many they are; the same ones give the same bytes.

    A line is operator, kind and the program as JSON, between tabs; the first is the version.
    """
    lines = {
        f"{operator}\t{kind}\t{json.dumps(program.to_json(), separators=(',', ':'))}\n": None
        for operator, kind, program in samples
    }
    path.write_bytes(lzma.compress("".join([f"{version}\n", *lines]).encode()))
    return len(lines)


def _program(text: str, where: str) -> Program:
    try:
        return Program.from_json(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{where}: no program ({error})") from None
