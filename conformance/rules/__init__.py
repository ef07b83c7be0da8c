"""The rule catalogue: one module per family, each rule one numbered sentence with a predicate.

Ids are for ever: a rule may be sharpened, never renamed or reused.
"""

from __future__ import annotations

from functools import cache

from ..classify import Catalogue


@cache
def catalogue() -> Catalogue:
    """All rules of all families, in the order of the families."""
    from . import contiguity, errors, in_place, memory_format, views

    return Catalogue([*views.RULES, *contiguity.RULES, *memory_format.RULES, *in_place.RULES, *errors.RULES])
