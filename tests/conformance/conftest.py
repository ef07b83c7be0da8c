"""What the tests of programs, rules and verdicts share: the oracle, the corpus and what the oracle makes of it."""

from __future__ import annotations

import textwrap
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from stridecheck.conformance import corpus
from stridecheck.conformance.adapters import reference
from stridecheck.conformance.classify import Catalogue
from stridecheck.conformance.observation import Observation
from stridecheck.conformance.program import Program
from stridecheck.conformance.protocol import Adapter
from stridecheck.conformance.recorded import expected
from stridecheck.conformance.rules import catalogue

from .misbehaving import LIBRARY


class Expected(NamedTuple):
    """A program, and what the oracle does with it."""

    program: Program
    observations: list[Observation]


@pytest.fixture(scope="session")
def oracle() -> Adapter:
    return reference.adapter()


@pytest.fixture(scope="session")
def rules() -> Catalogue:
    return catalogue()


@pytest.fixture(scope="session")
def whole_corpus() -> list[Expected]:
    return [Expected(program, list(expected(program, reference.adapter()))) for program in corpus.read()]


def prefix_with(operation: str, times: int = 1) -> int:
    """Length of the shortest prefix of the corpus in which an operation is called so many times."""
    numbers = (n for n, program in enumerate(corpus.read()) if any(step.op == operation for step in program.steps))
    return 1 + next(islice(numbers, times - 1, None))


@pytest.fixture
def adapter_file(tmp_path: Path):
    """Writes an adapter's source below the test's directory and answers with what to call it by."""

    def write(source: str, name: str = "mine.py") -> str:
        path = tmp_path / name
        path.write_text(source, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def library(adapter_file):
    """An adapter file that runs code when it is imported, and when `relu` is called."""

    def make(at_relu="pass", at_import="", forks=True):
        return adapter_file(LIBRARY.format(at_import=at_import, at_relu=textwrap.indent(at_relu, "    "), forks=forks))

    return make
