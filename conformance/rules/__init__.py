"""The rule catalogue: one module per family, each rule one numbered sentence with a predicate.

Ids are for ever: a rule may be sharpened, never renamed or reused.
"""

from __future__ import annotations

from functools import cache

from ..classify import Catalogue


@cache
def catalogue() -> Catalogue:
    """All rules of all families, in the order of the families."""
    from . import (
        contiguity,
        dtype_views,
        errors,
        in_place,
        indexing,
        memory_format,
        metadata_changes,
        output_layout,
        splits,
        view_legality,
        view_or_copy,
        view_strides,
    )

    families = (
        view_legality, view_strides, view_or_copy, indexing, splits, dtype_views,
        contiguity, memory_format, output_layout, in_place, metadata_changes, errors,
    )  # fmt: skip
    return Catalogue([rule for family in families for rule in family.RULES])
