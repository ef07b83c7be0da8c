"""The suite's own score in words: how many libraries that are wrong on purpose were found out, and by what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .records import Mutant
from .text import count, percent


def found_out(mutants: Sequence[Mutant]) -> str:
    """The score in one line.

    >>> found_out([Mutant("a", "It copies.", "reference", "killed", 3, 1)])
    '1 of 1 mutant found out (100 %)'
    """
    killed = sum(mutant.outcome == "killed" for mutant in mutants)
    return f"{count(killed)} of {count(len(mutants), 'mutant')} found out ({percent(killed, len(mutants))})"


def by(mutant: Mutant) -> str:
    """What found a mutant out, how soon, or that nothing did.

    >>> by(Mutant("a", "It copies.", "reference", "killed", 3, 1, "corpus", "", "view", "sharing", ("view.shares",)))
    'view.shares (sharing) after 3 programs'
    """
    if mutant.outcome == "killed":
        what = f"{mutant.rules[0]} ({mutant.aspect})" if mutant.rules else mutant.aspect
        lane = "" if mutant.source == "corpus" else ", random ones among them"
        return f"{what} after {count(mutant.programs, 'program')}{lane}"
    if mutant.outcome == "untried":
        return f"not tried: {mutant.message}"
    if not mutant.reached:
        return f"no program of {count(mutant.programs)} could show it"
    return f"not found out by {count(mutant.reached, 'program')} that could show it"


def lines(mutants: Sequence[Mutant]) -> Iterator[str]:
    """A line for each mutant, those that were not found out last."""
    width = max((len(mutant.name) for mutant in mutants), default=0)
    for mutant in sorted(mutants, key=lambda one: one.outcome != "killed"):
        yield f"  {'✓' if mutant.outcome == 'killed' else '✗'} {mutant.name:<{width}}  {by(mutant)}"
