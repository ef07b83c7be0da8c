"""The rule catalogue: one module per family, each rule one numbered sentence with a predicate.

Ids are for ever: a rule may be sharpened, never renamed or reused.
"""

from __future__ import annotations

from functools import cache

from ..classify import Catalogue


@cache
def catalogue() -> Catalogue:
    """All rules of all families, in the order of the families."""
    from . import contiguity, errors, in_place, memory_format, metadata_changes, output_layout, views

    families = (views, contiguity, memory_format, output_layout, in_place, metadata_changes, errors)
    return Catalogue([rule for family in families for rule in family.RULES])
