"""The rule catalogue: one module per family, each rule one numbered sentence with a predicate.

Ids are for ever: a rule may be sharpened, never renamed or reused.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ..classify import Catalogue
from ..globs import unmatched


@cache
def catalogue() -> Catalogue:
    """All rules of all families, in the order of the families."""
    from . import (
        autograd,
        bits,
        computing,
        contiguity,
        copies,
        dtype_views,
        errors,
        exchange,
        images,
        in_place,
        indexing,
        memory_format,
        metadata,
        metadata_changes,
        out_argument,
        output_layout,
        quantised,
        serialisation,
        splits,
        storages,
        typed_storages,
        view_legality,
        view_or_copy,
        view_strides,
    )

    families = (
        view_legality, view_strides, view_or_copy, indexing, splits, dtype_views,
        contiguity, memory_format, output_layout, computing,
        images, copies, in_place, out_argument,
        metadata, metadata_changes, storages, typed_storages, serialisation, exchange, bits, quantised,
        autograd, errors,
    )  # fmt: skip
    return Catalogue([rule for family in families for rule in family.RULES])


def matching_none(globs: Iterable[str]) -> str:
    """That a glob matches no rule, in words, with those that may be meant; empty where each matches one.

    >>> matching_none(["view.*", "xyzzy"])
    "no rule matches 'xyzzy'; `stridecheck rules` lists all"
    """
    return unmatched("rule", globs, [*catalogue().rules], "`stridecheck rules` lists all")
