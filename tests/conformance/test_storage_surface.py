"""Every method of the two storage classes: some program of the corpus tells a library that gets it wrong."""

from __future__ import annotations

from collections import defaultdict

import pytest
from stridecheck.conformance import corpus
from stridecheck.conformance.draw.storages import MAKING, TYPED, UNTYPED
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.mutants.adapter import Mutated
from stridecheck.conformance.mutants.mutant import Mutant
from stridecheck.conformance.mutants.wrongs import refuses
from stridecheck.conformance.operations import OPERATIONS, overload

CLASSES = ("UntypedStorage", "TypedStorage")
SURFACE = tuple(name for name in OPERATIONS if name.partition(".")[0] in CLASSES)
"""Both constructors, and every method and property that programs have of the two classes."""
RIGHT = {("UntypedStorage.untyped", "does nothing")}
"""What is no mistake: an untyped storage is its own untyped storage."""
PROGRAMS = 40
"""Programs of the corpus that are tried for each."""


def _nothing(call):
    """Nothing is done; the storage itself is answered, or a fresh one where it was to be made."""
    if call.x is not None:
        return call.x
    return call.do("UntypedStorage", 3)


def _otherwise(call):
    """It is done, and something else is answered: another number or text, a storage that is a copy or is none."""
    found = call.right()
    if isinstance(found, bool):
        return not found
    if isinstance(found, (int, float, complex)):
        return found + 1
    if isinstance(found, str):
        return found + "."
    if isinstance(found, list):
        return [*found, 0]
    return str(found) if not hasattr(found, "clone") else found.clone() if found is call.x else call.x


WRONGS = {"refuses": refuses("overlap"), "does nothing": _nothing, "answers otherwise": _otherwise}


@pytest.fixture(scope="module")
def programs(oracle):
    """The first programs of the corpus with each operation that storages have, and what the oracle makes of them."""
    found = defaultdict(list)
    for program in corpus.read():
        names = {overload(step) for step in program.steps} & set(SURFACE)
        if any(len(found[name]) < PROGRAMS for name in names):
            pair = program, execute(program, oracle)
            for name in names:
                found[name].append(pair)
    return found


def _told(program, expected, name, wrong, oracle):
    """Aspects in which a library that gets one operation wrong is told, at the first step where it is."""
    mutant = Mutant("storage.surface", "It is wrong.", name, wrong)
    got = execute(program, Mutated(mutant, oracle))
    verdicts = judge(program, expected, got, oracle.capabilities)
    return next(({d.aspect for d in verdict.differences} for verdict in verdicts if verdict.differences), set())


def _is_refused(program, expected, name):
    """Whether every call of an operation in a program raises, so that there is no answer to get wrong."""
    steps = zip(program.steps, expected[1:], strict=True)
    return all(observation.raised or observation.skipped for step, observation in steps if overload(step) == name)


def test_a_wrong_implementation_of_each_method_is_told(programs, oracle, capsys):
    """Refusing, doing nothing and answering something else are each told, by a program that is named here."""
    lines, missing = [], []
    for name in SURFACE:
        for kind, wrong in WRONGS.items():
            refused = all(_is_refused(*pair, name) for pair in programs[name])
            if (name, kind) in RIGHT or (refused and kind == "answers otherwise"):
                continue
            for program, expected in programs[name][:PROGRAMS]:
                aspects = _told(program, expected, name, wrong, oracle)
                if aspects:
                    lines.append(f"  {name} that {kind}: {', '.join(sorted(aspects))} in {program.id}")
                    break
            else:
                missing.append(f"{name} that {kind}: none of {len(programs[name])} programs")
    with capsys.disabled():
        print(f"\n{len(SURFACE)} operations of storages, wrong in {len(lines)} ways:", *lines, sep="\n")
    assert not missing, missing


def test_whatever_storages_have_is_drawn():
    """What programs can ask of storages, random programs ask."""
    drawn = {name for family in (MAKING, UNTYPED, TYPED) for _, (name, _) in family}
    assert set(SURFACE) - drawn == set()
