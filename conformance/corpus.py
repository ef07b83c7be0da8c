"""The corpus: committed programs, ordered so that every prefix covers all rules evenly.

`python -m stridecheck.conformance.corpus --programs N` draws a new one, and records what the oracle does with it;
`--more N` draws what it does not show yet, and puts that behind it: its prefixes, and the lists made of them, stay.
Published scores come from it: it is deterministic, and a prefix of N programs is a fair sample for a slow library.
"""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, combinations_with_replacement, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .classify import Catalogue, Event, events
from .collector import collector_held
from .draw.programs import DrawnProgram, draw_program
from .draw.source import Seeded
from .execute import execute
from .observation import Observation
from .program import Program
from .protocol import Adapter, OracleError
from .situations import traits

PATH = Path(__file__).with_name("corpus") / "corpus.jsonl.gz"
PROMOTED = PATH.with_name("promoted.jsonl")
"""Shrunk programs that once showed something, put there by `stridecheck promote`; they come first."""
ENOUGH = 6
"""Programs that each rule has at least, if as many were drawn: a library supports some, and some aspects need more."""
FEW = 32
"""Programs of a rule among which the first one of it is chosen."""


class CorpusError(Exception):
    """A corpus file that cannot be read; the message names the file and the line."""


def read(count: int | None = None) -> list[Program]:
    """The first `count` programs of the bundled corpus, or all.

    Raises
    ------
    CorpusError
        A file is missing or damaged, or a line is no program.
    """
    promoted = read_file(PROMOTED, count)
    rest = read_file(PATH, None if count is None else count - len(promoted))
    return list({program.id: program for program in [*promoted, *rest]}.values())


@collector_held()  # what is read is kept and has no cycles: to go through it takes as long as to read it
def read_file(path: Path, count: int | None = None) -> list[Program]:
    """The first `count` programs of one file of JSON lines, compressed if its name ends so.

    Plain files are edited by hand: their lines are checked by schema.

    Raises
    ------
    CorpusError
        The file is missing or damaged, or a line is no program.
    """
    programs: list[Program] = []
    packed = path.suffix == ".gz"
    if packed or path == PROMOTED:  # written by the suite itself; on a machine with a GPU there may be no jsonschema
        read_program = Program.from_json
    else:
        from .schema import read_program
    try:
        with (gzip.open if packed else open)(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if count is not None and number > count:
                    break
                try:
                    data = json.loads(line)
                    program = read_program(data)
                    if packed:  # both were written with it: to find them out again takes longer than to read it
                        vars(program).update(id=data["id"], line=line.strip().encode())
                    programs.append(program)
                except (ValueError, KeyError, TypeError) as error:
                    raise CorpusError(f"{path}, line {number}: no program ({error})") from None
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise CorpusError(f"{path}: {error}") from None
    return programs


def write(programs: Iterable[Program], path: Path = PATH) -> None:
    """Write a corpus file; the same programs give the same bytes."""
    pack("".join(json.dumps({"id": p.id} | p.to_json(), separators=(",", ":")) + "\n" for p in programs), path)


def pack(text: str, path: Path) -> None:
    """Write a compressed file; the same text gives the same bytes."""
    path.parent.mkdir(exist_ok=True)
    # No time stamp in the header: a rebuilt corpus that is the same does not show as changed.
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def promote(programs: Iterable[Program], path: Path = PROMOTED) -> list[Program]:
    """Append programs to a file of promoted ones, each unless it is there; answers with those that were new.

    Raises
    ------
    CorpusError
        The file is damaged.
    OSError
        It cannot be written.
    """
    there = {program.id for program in (read_file(path) if path.exists() else [])}
    new = list({program.id: program for program in programs if program.id not in there}.values())
    if new:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(program.to_json(), separators=(",", ":")) + "\n" for program in new)
    return new


def order(programs: Sequence[tuple[Program, frozenset[str]]]) -> list[Program]:
    """The programs, reordered so that the rules they exercise come up as evenly as they can.

    Each comes with the ids of its rules. The rule seen least so far picks the next program; one that was not seen yet
    takes, of its first few, that with most rules of which the same is true, so that a short prefix has nearly all.
    """
    queues: dict[str, deque[int]] = defaultdict(deque)
    for number, (_, rules) in enumerate(programs):
        for rule in sorted(rules):
            queues[rule].append(number)
    seen = dict.fromkeys(sorted(queues), 0)
    taken = [False] * len(programs)
    ordered: list[Program] = []
    waiting = [(0, rule) for rule in seen]
    while waiting:
        times, rule = heappop(waiting)
        queue = queues[rule]
        while queue and taken[queue[0]]:
            queue.popleft()
        if not queue:
            continue
        if times != seen[rule]:
            heappush(waiting, (seen[rule], rule))  # seen since then, in programs that others picked
            continue
        heappush(waiting, (times, rule))
        few = [number for number in islice(queue, 1 if times else FEW) if not taken[number]]
        number = max(few, key=lambda number: sum(not seen[exercised] for exercised in programs[number][1]))
        taken[number] = True
        program, rules = programs[number]
        ordered.append(program)
        for exercised in rules:
            seen[exercised] += 1
    return ordered


def draw(
    count: int,
    oracle: Adapter,
    catalogue: Catalogue,
    *,
    surplus: int = 8,
    enumerated: Iterable[Program] = (),
    there: Iterable[tuple[Program, Sequence[Observation]]] = (),
) -> list[Program]:
    """`count` different programs out of `surplus` times as many drawn ones, and out of those `enumerated`.

    First the `ENOUGH` shortest of each rule, then, one by one, that which shows operations in most pairs of situations
    that none before has shown them in (a defect rarely needs more than two to coincide), then whatever rules have least
    of. Short programs come first among those that exercise a rule: they are quicker to understand.
    What programs that are `there`, given with what the oracle does with them, show already is not looked for, nor are
    they among those drawn.
    """
    known = {program.id: _shown(program, expected, catalogue) for program, expected in there}
    drawn: dict[str, _Drawn] = {}
    series = f"corpus:{len(known)}" if known else "corpus"
    seeds = (draw_program(Seeded(f"{series}:{seed}"), oracle, draw="all") for seed in range(count * surplus))
    for made in chain((DrawnProgram(program, execute(program, oracle)) for program in enumerated), seeds):
        if made.expected is None:
            raise OracleError(f"on program {made.program.to_json()}")
        if made.program.id not in known and made.program.id not in drawn:
            drawn[made.program.id] = _shown(made.program, made.expected, catalogue)
    before = list(known.values())
    by_size = sorted(drawn.values(), key=lambda entry: (len(entry.program.steps), entry.program.id))
    first = order([(one.program, one.rules) for one in _of_each_rule(by_size, before)])
    chosen = {program.id for program in first[:count]}
    taken = [*before, *(one for one in by_size if one.program.id in chosen)]
    chosen |= {one.program.id for one in _telling(by_size, taken, count - len(chosen))}
    rest = order([(one.program, one.rules) for one in by_size if one.program.id not in chosen])
    chosen |= {program.id for program in rest[: count - len(chosen)]}
    return order([(one.program, one.rules) for one in by_size if one.program.id in chosen])


class _Drawn(NamedTuple):
    """A program, the rules that it exercises, and each operation with what can be said of how it is used."""

    program: Program
    rules: frozenset[str]
    shown: list[tuple[str, list[str], bool]]
    """Operation, what is said of it, and whether it was refused: what is said then is in pairs already."""


def _shown(program: Program, expected: Sequence[Observation], catalogue: Catalogue) -> _Drawn:
    """What a program shows, by what the oracle does with it."""
    rules = frozenset(rule.id for step in catalogue.classify(program, expected) for rule in step)
    shown = [
        (event.entry, [*traits(event), *_fills(program, event), *_nowhere(expected, event)], event.raised is not None)
        for event in events(program, expected)
        if event is not None
    ]
    return _Drawn(program, rules, shown)


def _fills(program: Program, event: Event) -> Iterator[str]:
    """What numbers the operands' memory began with, where these are seldom."""
    for which, states in (("first", [event.x]), ("other", event.others)):
        names = {state.storage for state in states}
        if any(s.fill.startswith("odd_") and f"s{number}" in names for number, s in enumerate(program.storages)):
            yield f"{which} of seldom numbers"


def _nowhere(expected: Iterable[Observation], event: Event) -> Iterator[str]:
    """Whether an operand lies on meta, where nothing lies."""
    on_meta = {
        name for one in expected for name, s in one.storages.items() if s.home is not None and s.home[0] == "meta"
    }
    if on_meta:
        yield from (f"{which} on meta" for which, states in (("first", [event.x]), ("other", event.others))
                    if on_meta & {state.storage for state in states})  # fmt: skip


def _of_each_rule(drawn: Iterable[_Drawn], before: Iterable[_Drawn]) -> list[_Drawn]:
    """The first few that exercise each rule, those before them counted."""
    times = Counter(rule for one in before for rule in one.rules)
    found = []
    for one in drawn:
        if any(times[rule] < ENOUGH for rule in one.rules):
            found.append(one)
            times.update(one.rules)
    return found


def _telling(drawn: Sequence[_Drawn], taken: Iterable[_Drawn], count: int) -> list[_Drawn]:
    """At most `count` more, each the one that shows most that those before it, and those taken, have not shown.

    Taken in any other order, those that show something take several times the room, and no corpus has it. What a
    program would show only shrinks as others are taken: it is counted again when it comes up, and not before.
    """
    numbers: dict[tuple[str, ...], int] = {}
    shown = [np.array([numbers.setdefault(some, len(numbers)) for some in _pairs(one)], np.uint32) for one in drawn]
    seen = np.zeros(len(numbers), bool)
    for one in taken:
        seen[[numbers[some] for some in _pairs(one) if some in numbers]] = True
    waiting = [(-len(its), number) for number, its in enumerate(shown)]
    heapify(waiting)
    found: list[_Drawn] = []
    while waiting and len(found) < count:
        _, number = heappop(waiting)
        new = int(np.count_nonzero(~seen[shown[number]]))
        if waiting and -new > waiting[0][0]:
            heappush(waiting, (-new, number))
        elif new:
            found.append(drawn[number])
            seen[shown[number]] = True
    return found


def _pairs(one: _Drawn) -> set[tuple[str, ...]]:
    """Each operation with each pair of situations, and each alone, that a program shows it in."""
    return {
        (entry, *some)
        for entry, all, is_refused in one.shown
        for some in combinations_with_replacement(all, 1 if is_refused else 2)
    }


def main() -> None:
    """Draw the corpus anew, or more of it, with the bundled oracle, and record what the oracle does with it."""
    parser = argparse.ArgumentParser(description=main.__doc__, prog="python -m stridecheck.conformance.corpus")
    parser.add_argument("--programs", type=int, default=40_000, help="programs that it holds (default: %(default)s)")
    parser.add_argument("--more", type=int, default=0, help="keep the corpus, and put that many programs behind it")
    parser.add_argument("--record", action="store_true", help="draw nothing, only record")
    asked = parser.parse_args()
    from . import recorded, small_scope
    from .adapters import reference
    from .rules import catalogue

    oracle = reference.adapter()
    if not asked.record:
        kept = read_file(PATH) if asked.more else []
        there = [(program, recorded.expected(program, oracle)) for program in kept]
        if asked.more:  # what shows something new is seldom
            made = [*kept, *draw(asked.more, oracle, catalogue(), surplus=20, there=there)]
        else:
            made = draw(asked.programs, oracle, catalogue(), enumerated=small_scope.programs())
        write(made)
        print(f"{len(made)} programs in {PATH.name}")
    recorded.record(read(), oracle, catalogue())
    print(f"what the oracle does with them in {recorded.EXPECTED}, which rules they exercise in {recorded.EXERCISED}")


if __name__ == "__main__":
    main()
