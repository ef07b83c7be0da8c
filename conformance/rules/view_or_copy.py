"""View or copy: what shares memory, versions and its base, and what is copied."""

from __future__ import annotations

from ..classify import Event
from ..layout import is_expanded
from ..operations import group
from ._define import GEOMETRY, VIEWS, Family, succeeded, viewed

family = Family("view-or-copy")
ATLEAST = group("same or view")
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


# Broadcasts and least numbers of dimensions: the tensor itself where nothing changes, else a view.


@rule(
    "broadcast-tensors.view",
    "broadcast_tensors and meshgrid answer with expanded views of each operand.",
    "3.5",
    "broadcast_tensors meshgrid",
    f"{GEOMETRY} sharing storage flags values contiguity",
)
def _(e: Event) -> bool:
    return e.observation.is_tuple and any(result is None for result in e.observation.results or ())


@rule(
    "broadcast-tensors.same-object",
    "broadcast_tensors answers with an operand itself where it has the common shape already.",
    "3.5",
    "broadcast_tensors",
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.raised is None and any(isinstance(result, str) for result in e.observation.results or ())


@rule("broadcast-tensors.zero-stride", "A broadcast dimension has stride 0 and takes no memory.", "3.5.1",
      "broadcast_tensors meshgrid", "strides storage")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e) and is_expanded(e.y)


@rule(
    "atleast.same-object",
    "atleast_kd of a tensor with as many dimensions is the tensor itself.",
    "3.4.6",
    ATLEAST,
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same


@rule(
    "atleast.view",
    "atleast_kd of a tensor with fewer dimensions is a view with dimensions of size 1 added.",
    "3.4.6",
    ATLEAST,
    f"{GEOMETRY} sharing storage flags values contiguity",
)
def _(e: Event) -> bool:
    return viewed(e)


@rule("einsum.view", "A contraction that only permutes is a view.", "4.4", "einsum",
      f"{GEOMETRY} sharing storage flags values contiguity")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e)


@rule(
    "unsafe-split.memory",
    "unsafe_split and unsafe_chunk answer with pieces over the same memory.",
    "3.9.7",
    group("untracked splits"),
    f"{GEOMETRY} sharing storage values contiguity",
)
def _(e: Event) -> bool:
    return viewed(e)


@rule("unsafe-split.untracked", "Their pieces are recorded as no views, each with a version of its own.", "3.9.7",
      group("untracked splits"), "flags")  # fmt: skip
def _(e: Event) -> bool:
    return viewed(e)


@rule(
    "unsafe-split.resolves",
    "Of a tensor with the conjugate or negative bit, unsafe_split and unsafe_chunk answer with pieces of a resolved copy.",
    "3.9.7",
    group("untracked splits"),
    f"{GEOMETRY} sharing storage flags values contiguity",
)
def _(e: Event) -> bool:
    return succeeded(e) and not viewed(e)


@rule(
    "same.nothing-to-do",
    "An operation that finds nothing to do, and answers the operand itself, has changed nothing.",
    "4.1",
    "*",
    f"{GEOMETRY} sharing storage flags values",
)
def _(e: Event) -> bool:
    return e.same and not e.writes and not e.outs


RULES = family.rules
