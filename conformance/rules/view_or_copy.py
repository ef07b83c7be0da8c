"""View or copy: what shares memory, versions and its base, and what is copied."""

from __future__ import annotations

from ..classify import Event
from ._define import GEOMETRY, VIEWS, Family, succeeded, viewed

family = Family("view-or-copy")
rule = family.rule


# What holds for every view.


@rule(
    "view.shares-memory",
    "A view is a new tensor over the same storage; nothing is copied or written.",
    "3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "sharing storage",
)
def _(e: Event) -> bool:
    return viewed(e)


@rule(
    "view.base-is-root",
    "A view of a view is recorded as a view of the root tensor.",
    "3.15",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "flags",
)
def _(e: Event) -> bool:
    return viewed(e) and e.x.base is not None


@rule(
    "view.shares-version",
    "A view shares the version counter of what it views.",
    "5.3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "flags",
)
def _(e: Event) -> bool:
    return viewed(e)


@rule(
    "view.of-written",
    "A view made after a write starts at its base's version.",
    "5.3",
    f"{VIEWS} reshape reshape_as flatten ravel",
    "flags",
)
def _(e: Event) -> bool:
    return viewed(e) and bool(e.x.version)


# Where it depends on the strides.


@rule(
    "reshape.view",
    "Reshape answers with a view wherever a view is possible.",
    "3.3.1",
    "reshape reshape_as",
    f"{GEOMETRY} sharing storage values",
)
def _(e: Event) -> bool:
    return viewed(e)


@rule(
    "reshape.copy",
    "Reshape copies, row-major into fresh memory, where no view is possible.",
    "3.3.1",
    "reshape reshape_as flatten ravel",
    f"{GEOMETRY} sharing storage values flags",
)
def _(e: Event) -> bool:
    return e.copied


@rule(
    "ravel.contiguous",
    "Ravel of a contiguous tensor is a new 1-d view.",
    "3.3.3",
    "ravel",
    f"{GEOMETRY} sharing",
)
def _(e: Event) -> bool:
    return viewed(e)


# What is the tensor itself, or no view though it shares memory.


@rule(
    "flatten.same-object",
    "Flattening nothing answers with the very same tensor.",
    "3.3.2",
    "flatten",
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "matrix-transpose.scalar",
    "mT of a 0-dim tensor is the tensor itself.",
    "3.6",
    "mT",
    "shape layout sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "detach.alias",
    "Detach answers with a new tensor over the same memory that is recorded as no view.",
    "3.15",
    "detach",
    f"{GEOMETRY} sharing flags",
)
def _(e: Event) -> bool:
    return succeeded(e)


RULES = family.rules
