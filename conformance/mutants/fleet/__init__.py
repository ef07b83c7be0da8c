"""All mutants, by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..mutant import Mutant
from . import (
    asking,
    bits,
    boarders,
    changes,
    commuters,
    computing,
    copies,
    corners,
    divers,
    drifters,
    edges,
    exchange,
    gathers,
    guests,
    hikers,
    kinds,
    lodgers,
    matters,
    neighbours,
    nomads,
    numbers,
    options,
    pilgrims,
    residents,
    sailors,
    settlers,
    strangers,
    tenants,
    views,
    visitors,
    wayfarers,
    writes,
)

FAMILIES = (
    views, copies, writes, changes, computing, gathers, bits, exchange, edges, kinds, asking, corners, numbers, options,
    matters, strangers, visitors, guests, lodgers, tenants, neighbours,
    boarders, commuters, pilgrims, residents, settlers,
    nomads, drifters, wayfarers,
    hikers, sailors, divers,
)  # fmt: skip
OVER_REFERENCE = [mutant for family in FAMILIES for mutant in family.MUTANTS]

TRIED_OVER_TORCH = (
    "select.no-offset", "index.step-not-in-strides", "expand.copies", "as_strided.bounds", "view.needs-contiguous",
    "contiguous.keeps-channels-last", "clone.no-offset", "add_.last-stepped", "copy_.others-strides", "add_.no-version",
)  # fmt: skip
"""One of each way to go wrong: the same defects in PyTorch itself, with its memory, versions and errors."""
OVER_TORCH = [
    replace(mutant, id=f"{mutant.id}-in-torch", sentence=f"In torch: {mutant.sentence}", base="torch")
    for mutant in OVER_REFERENCE
    if mutant.id in TRIED_OVER_TORCH
]

FLEET: Mapping[str, Mutant] = {mutant.id: mutant for mutant in [*OVER_REFERENCE, *OVER_TORCH]}
"""Every mutant, in the order of the families."""
assert len(FLEET) == len(OVER_REFERENCE) + len(TRIED_OVER_TORCH), "a mutant's id is used twice, or names none"
