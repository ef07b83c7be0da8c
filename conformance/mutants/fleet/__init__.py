"""All mutants, by id."""

from __future__ import annotations

from collections.abc import Mapping

from ..mutant import Mutant
from . import changes, computing, copies, views, writes

FAMILIES = (views, copies, writes, changes, computing)
FLEET: Mapping[str, Mutant] = {mutant.id: mutant for family in FAMILIES for mutant in family.MUTANTS}
"""Every mutant, in the order of the families."""
assert len(FLEET) == sum(len(family.MUTANTS) for family in FAMILIES), "a mutant's id is used twice"
