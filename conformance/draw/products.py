"""Draws products of matrices, stacks of them and vectors, whose sizes fit each other but for a few."""

from __future__ import annotations

from ..program import Argument, Step
from .source import Source
from .stage import NUMBERS, REAL, Scene, Stage, on, step
from .steps import ODD


def size(source: Source) -> int:
    """A small size, at times 1 or 0."""
    return source.choice((1, 1, 2, 2, 3, 3, 4, 5)) if not source.chance(3) else 0


def _sizes(stage: Stage, count: int) -> list[int]:
    return [size(stage.source) for _ in range(count)]


def _inner(stage: Stage, length: int) -> int:
    """The length that both factors share, rarely another one."""
    return length + 1 if stage.source.chance(ODD // 2) else length


def _mm(stage: Stage) -> Step:
    n, k, m = _sizes(stage, 3)
    return step("mm", stage.tensor((n, k)), stage.tensor((_inner(stage, k), m)))


def _bmm(stage: Stage) -> Step:
    b, n, k, m = _sizes(stage, 4)
    return step("bmm", stage.tensor((b, n, k)), stage.tensor((b, _inner(stage, k), m)))


def _mv(stage: Stage) -> Step:
    n, k = _sizes(stage, 2)
    return step("mv", stage.tensor((n, k)), stage.tensor((_inner(stage, k),)))


def _dot(stage: Stage) -> Step:
    (k,) = _sizes(stage, 1)
    return step("dot", stage.tensor((k,)), stage.tensor((_inner(stage, k),)))


def _outer(stage: Stage) -> Step:
    n, m = _sizes(stage, 2)
    return step("outer", stage.tensor((n,)), stage.tensor((m,)))


def _inner_product(stage: Stage) -> Step:
    n, k, m = _sizes(stage, 3)
    return step("inner", stage.tensor((n, k)), stage.tensor((m, _inner(stage, k))))


def _scaled(stage: Stage) -> dict[str, Argument]:
    keywords: dict[str, Argument] = {}
    if stage.source.chance(30):
        keywords["beta"] = stage.source.choice((0, 1, 2))
    if stage.source.chance(20):
        keywords["alpha"] = 2
    return keywords


_ADDED = 25
"""Percent of what is added to that has numbers that are seldom: times 0 they are to vanish."""


def _added(name: str, shape: tuple[int, ...], stage: Stage) -> tuple[str, tuple[int, ...]]:
    """The name, or its in-place twin, and the shape of what is added to: one that broadcasts only where it is not."""
    if stage.source.chance(30):
        return f"{name}_", shape
    return name, shape if stage.source.chance(70) else shape[1:] if stage.source.chance(50) else (1,) * len(shape)


def _addmm(stage: Stage) -> Step:
    n, k, m = _sizes(stage, 3)
    name, shape = _added("addmm", (n, m), stage)
    if len(shape) == 1 and stage.source.chance(60):
        # A vector fits the rows of a square as well as its columns.
        n = m
    x = stage.tensor(shape, seldom=_ADDED)
    factors = stage.tensor((n, k), beside=x), stage.tensor((_inner(stage, k), m))
    return step(name, x, *factors, **_scaled(stage))


def _baddbmm(stage: Stage) -> Step:
    b, n, k, m = _sizes(stage, 4)
    name, shape = _added("baddbmm", (b, n, m), stage)
    x = stage.tensor(shape, seldom=_ADDED)
    factors = stage.tensor((b, n, k), beside=x), stage.tensor((b, _inner(stage, k), m))
    return step(name, x, *factors, **_scaled(stage))


def _addbmm(stage: Stage) -> Step:
    b, n, k, m = _sizes(stage, 4)
    x = stage.tensor((n, m), seldom=_ADDED)
    return step("addbmm", x, stage.tensor((b, n, k)), stage.tensor((b, k, m)), **_scaled(stage))


def _addmv(stage: Stage) -> Step:
    n, k = _sizes(stage, 2)
    name, shape = _added("addmv", (n,), stage)
    x = stage.tensor(shape, seldom=_ADDED)
    return step(name, x, stage.tensor((n, k), beside=x), stage.tensor((k,)), **_scaled(stage))


def _addr(stage: Stage) -> Step:
    n, m = _sizes(stage, 2)
    name, shape = _added("addr", (n, m), stage)
    x = stage.tensor(shape, seldom=_ADDED)
    return step(name, x, stage.tensor((n,), beside=x), stage.tensor((m,)), **_scaled(stage))


def _matmul(stage: Stage) -> Step:
    """Stacks of matrices that broadcast, a vector on either side."""
    n, k, m = _sizes(stage, 3)
    batch = tuple(_sizes(stage, stage.source.integer(0, 2)))
    if stage.source.chance(15):
        # Either is broadcast along the other's.
        a, b = _sizes(stage, 2)
        return step("matmul", stage.tensor((a, 1, n, k)), stage.tensor((1, b, _inner(stage, k), m)))
    left = (*batch, n, k) if stage.source.chance(80) else (k,)
    right = (*[b if stage.source.chance(60) else 1 for b in batch], _inner(stage, k), m)
    if stage.source.chance(20):
        right = (_inner(stage, k),)
    return step("matmul", stage.tensor(left), stage.tensor(right))


_EQUATIONS = (
    ("ij,jk->ik", ("ij", "jk")), ("bij,bjk->bik", ("bij", "bjk")), ("ij->ji", ("ij",)), ("ij,ij->", ("ij", "ij")),
    ("ii->i", ("ii",)), ("ii", ("ii",)), ("ij->j", ("ij",)), ("i,j->ij", ("i", "j")), ("bij,kj->bki", ("bij", "kj")),
    ("ijk->kji", ("ijk",)), ("ij,j->i", ("ij", "j")), ("bhij,bhjk->bihk", ("bhij", "bhjk")),
    ("ji", ("ji",)), ("kj,ji", ("kj", "ji")), ("...ij,...jk->...ik", ("bij", "jk")), ("...i->i...", ("bhi",)),
    ("i...", ("ij",)),
)  # fmt: skip


def _einsum(stage: Stage) -> Step:
    equation, operands = stage.source.choice(_EQUATIONS)
    sizes = {letter: size(stage.source) for letter in "bhijk"}
    return step("einsum", equation, *[stage.tensor(tuple([sizes[c] for c in letters])) for letters in operands])


def _tensordot(stage: Stage) -> Step:
    n, k, j, m = _sizes(stage, 4)
    if stage.source.chance(50):
        return step("tensordot", stage.tensor((n, k, j)), stage.tensor((k, j, m)), 2)
    return step("tensordot", stage.tensor((k, n)), stage.tensor((m, k)), ((0,), (1,)))


def _linear(stage: Stage) -> Step:
    n, k, m = _sizes(stage, 3)
    batch = tuple(_sizes(stage, stage.source.integer(0, 2)))
    operands = [stage.tensor((*batch, n, k)), stage.tensor((m, _inner(stage, k)))]
    if stage.source.chance(60):
        operands.append(stage.tensor((m,)))
    return step("nn.functional.linear", *operands)


PRODUCTS: tuple[tuple[int, Scene], ...] = (
    (3, on(NUMBERS, _mm)), (3, on(NUMBERS, _bmm)), (2, on(NUMBERS, _mv)), (1, on(NUMBERS, _dot)),
    (2, on(NUMBERS, _outer)), (1, on(NUMBERS, _inner_product)), (3, on(NUMBERS, _addmm)), (3, on(REAL, _baddbmm)),
    (1, on(REAL, _addbmm)), (2, on(REAL, _addmv)), (2, on(NUMBERS, _addr)), (3, on(NUMBERS, _matmul)),
    (3, on(NUMBERS, _einsum)), (2, on(NUMBERS, _tensordot)), (4, on(REAL, _linear)),
)  # fmt: skip
"""(weight, how an operation and its operands are drawn)."""
