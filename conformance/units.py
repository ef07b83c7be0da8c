"""Units of work: programs of every source, cut into pieces that can be run anywhere, in any order, and again.

The same options give the same units under the same names; a unit that is run twice gives the same records twice.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from . import samples, small_scope
from .draw.programs import draw_program
from .draw.relayout import relayout
from .draw.source import Seeded
from .observation import Observation
from .options import Options
from .program import Program
from .protocol import Adapter

UNIT = 128
"""Programs that are sent to a worker at a time."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Programs with a name of their own; `expected` where the oracle has run them already."""

    name: str
    programs: tuple[Program, ...]
    expected: tuple[list[Observation] | None, ...] = ()
    from_corpus: bool = True
    place: int = 0
    """Of the first program, in the corpus."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A unit of random programs that are yet to be drawn: the numbers from `start` up to `stop` of a seed."""

    seed: int
    start: int
    stop: int
    about: str = "tensors"
    """What they are about, as `Options.draw` says."""
    driver: str = "seeded"

    @property
    def name(self) -> str:
        """Name of the unit, `random:7:0-128`, or `random-mixed:7:0-128` where they are about one thing."""
        kind = "random" if self.about == "tensors" else f"random-{self.about}"
        kind = kind if self.driver == "seeded" else f"{self.driver}-{kind}"
        return f"{kind}:{self.seed}:{self.start}-{self.stop}"

    @property
    def key(self) -> str:
        """What Hypothesis is seeded with for it."""
        return f"{self.seed}:{self.start}"

    def draw(self, oracle: Adapter) -> Unit:
        """The unit itself, with what the oracle did while the programs were drawn."""
        if self.driver == "hypothesis":
            from .draw import hypothesis_driver

            drawn = hypothesis_driver.drawn(self.key, self.stop - self.start, oracle, self.about)
        else:
            seeds = [Seeded(f"{self.seed}:{number}") for number in range(self.start, self.stop)]
            drawn = [draw_program(seed, oracle, draw=self.about) for seed in seeds]
        return Unit(
            self.name, tuple(d.program for d in drawn), tuple(d.expected for d in drawn), from_corpus=False
        )  # fmt: skip


Part: TypeAlias = Unit | Drawing
"""A piece of a run, as it travels to where it is run."""


def to_json(part: Part) -> dict[str, Any]:
    """The part as JSON data; what the oracle has done already stays behind."""
    if isinstance(part, Drawing):
        return asdict(part)
    programs = [program.to_json() for program in part.programs]
    return {"name": part.name, "programs": programs, "from_corpus": part.from_corpus, "place": part.place}


def from_json(data: dict[str, Any]) -> Part:
    """The part that `to_json` wrote.

    >>> from_json(to_json(Drawing(7, 0, 128)))
    Drawing(seed=7, start=0, stop=128, about='tensors', driver='seeded')
    """
    if "seed" in data:
        return Drawing(**data)
    programs = tuple([Program.from_json(program) for program in data["programs"]])
    return Unit(data["name"], programs, from_corpus=data["from_corpus"], place=data["place"])


def plan(options: Options, programs: Sequence[Program]) -> Iterator[Part]:
    """Every part of a run over these corpus programs, in order; of a shard only its own."""
    parts: Iterator[Part] = itertools.chain(
        units_of(programs, "corpus"), drawings(options), _exhaustive_units(options), _opinfo_units(options)
    )
    number, of = options.shard
    return itertools.islice(parts, number - 1, None, of)


def units_of(programs: Sequence[Program], name: str, size: int = UNIT) -> Iterator[Unit]:
    """Corpus programs cut into units of `size`, named by their places."""
    for start in range(0, len(programs), size):
        part = tuple(programs[start : start + size])
        yield Unit(f"{name}:{start}-{start + len(part)}", part, place=start)


def drawings(options: Options) -> Iterator[Drawing]:
    """Units of random programs until there are enough or the time is up."""
    deadline = time.monotonic() + options.seconds
    number = 0
    while number < options.examples or (options.seconds and time.monotonic() < deadline):
        size = UNIT if options.seconds else min(UNIT, options.examples - number)
        yield Drawing(options.seed, number, number + size, options.draw, options.driver)
        number += size


def whole(parts: Iterable[Part], oracle: Adapter) -> Iterator[Unit]:
    """The units themselves, each drawn when it is asked for."""
    for part in parts:
        yield part.draw(oracle) if isinstance(part, Drawing) else part


def _exhaustive_units(options: Options) -> Iterator[Unit]:
    """Every small layout with every view target and every small argument, a few at a time: all at once are many."""
    remaining = small_scope.everything() if options.exhaustive else iter(())
    for number in itertools.count():
        programs = tuple(itertools.islice(remaining, UNIT))
        if not programs:
            return
        yield Unit(f"exhaustive:{number}", programs, from_corpus=False)


def _opinfo_units(options: Options) -> Iterator[Unit]:
    """PyTorch's own samples of the operators asked for, a unit each operator."""
    if not options.opinfo:
        return
    for operator, group in itertools.groupby(samples.read(options.opinfo), key=lambda sample: sample.operator):
        found = {sample.program.id: sample.program for sample in group}
        for program in list(found.values()):
            for turn in range(options.relayouts):
                moved = relayout(Seeded(f"{options.seed}:{program.id}:{turn}"), program)
                found[moved.id] = moved
        programs = tuple(found.values())
        for unit in units_of(programs, f"opinfo:{operator}"):
            yield replace(unit, from_corpus=False)
