"""Draws `out=`: outputs of the right shape in any layout, of another shape or dtype, over an operand's memory."""

from __future__ import annotations

from ..program import Ref, Step
from .layouts import draw_shape
from .products import size
from .stage import NUMBERS, REAL, Scene, Stage, on, step

_UNARY = ("neg", "exp", "sqrt", "sin", "floor", "sign", "square", "reciprocal")
_BINARY = ("add", "mul", "sub", "div")
_COMPARING = ("eq", "ne", "logical_and", "logical_or")


def _shape(stage: Stage, low: int = 0, high: int = 4, least: int = 0) -> tuple[int, ...]:
    return tuple([min(max(n, least), 5) for n in draw_shape(stage.source, low, high)])


def _out(
    stage: Stage,
    shape: tuple[int, ...],
    *,
    beside: Ref | None = None,
    dtype: str | None = None,
    converts: bool = False,
) -> Ref:
    """A tensor to write into: mostly as it should be, at times of another shape, or over an operand.

    Of another dtype only where the operation `converts` to it.
    """
    source = stage.source
    what = source.integer(0, 99)
    if what < 10 and beside is not None:
        return beside
    if what < 24:
        shape = source.choice((shape[1:], (*shape, 1), (0,), _shape(stage, 1, 3)))
    if what >= 88 and converts:
        dtype = source.choice(("float64", "int32", "complex64", "float32", "float16", "bfloat16"))
    return stage.tensor(shape, beside=beside, dtype=dtype, grad=source.chance(20))


def _partner(stage: Stage, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, or one that broadcasts to it."""
    if stage.source.chance(65):
        return shape
    return tuple([1 if stage.source.chance(40) else n for n in shape])


def _of_one(stage: Stage) -> Step:
    shape = _shape(stage)
    x = stage.tensor(shape)
    name = stage.source.choice(_UNARY)
    return step(name, x, out=_out(stage, shape, beside=x, converts=True))


def _of_two(stage: Stage) -> Step:
    shape = _shape(stage)
    x = stage.tensor(shape)
    y = stage.tensor(_partner(stage, shape))
    return step(stage.source.choice(_BINARY), x, y, out=_out(stage, shape, beside=x, converts=True))


def _compared(stage: Stage) -> Step:
    shape = _shape(stage)
    x = stage.tensor(shape)
    y = stage.tensor(_partner(stage, shape))
    return step(stage.source.choice(_COMPARING), x, y, out=_out(stage, shape, dtype="bool"))


def _of_three(stage: Stage) -> Step:
    shape = _shape(stage)
    x = stage.tensor(shape)
    if stage.source.chance(40):
        condition = stage.tensor(_partner(stage, shape), dtype="bool")
        return step("where", condition, x, stage.tensor(shape), out=_out(stage, shape, beside=x))
    name = stage.source.choice(("addcmul", "addcdiv", "clamp"))
    y, z = stage.tensor(_partner(stage, shape)), stage.tensor(shape)
    return step(name, x, y, z, out=_out(stage, shape, beside=x))


def _reduced(stage: Stage) -> Step:
    source = stage.source
    shape = _shape(stage, 1, least=1)
    dim = source.integer(0, len(shape) - 1)
    x = stage.tensor(shape)
    keep = source.chance(40)
    left = (*shape[:dim], *((1,) if keep else ()), *shape[dim + 1 :])
    name = source.choice(("sum", "amax", "amin", "var", "prod"))
    return step(name, x, dim, **({"keepdim": True} if keep else {}), out=_out(stage, left))


def _scanned(stage: Stage) -> Step:
    shape = _shape(stage, 1)
    x = stage.tensor(shape)
    dim = stage.source.integer(0, len(shape) - 1)
    return step(stage.source.choice(("cumsum", "cumprod")), x, dim, out=_out(stage, shape, beside=x))


def _joined(stage: Stage) -> Step:
    shape = _shape(stage, 1, 4)
    dim = stage.source.integer(0, len(shape) - 1)
    x, y = stage.tensor(shape), stage.tensor(shape)
    if stage.source.chance(60):
        whole = (*shape[:dim], 2 * shape[dim], *shape[dim + 1 :])
        return step("cat", (x, y), dim, out=_out(stage, whole, beside=x))
    return step("stack", (x, y), dim, out=_out(stage, (*shape[:dim], 2, *shape[dim:])))


def _product(stage: Stage) -> Step:
    n, k, m, b = [size(stage.source) for _ in range(4)]
    which = stage.source.integer(0, 3)
    if which == 0:
        x, y = stage.tensor((n, k)), stage.tensor((k, m))
        return step("mm", x, y, out=_out(stage, (n, m)))
    if which == 1:
        x, y = stage.tensor((b, n, k)), stage.tensor((b, k, m))
        return step("bmm", x, y, out=_out(stage, (b, n, m)))
    if which == 2:
        x, y = stage.tensor((n, k)), stage.tensor((k, m))
        return step("matmul", x, y, out=_out(stage, (n, m)))
    added = stage.tensor((n, m))
    return step("addmm", added, stage.tensor((n, k)), stage.tensor((k, m)), out=_out(stage, (n, m)))


def _gathered(stage: Stage) -> Step:
    shape = _shape(stage, 1, 3, least=1)
    dim = stage.source.integer(0, len(shape) - 1)
    count = stage.source.integer(1, 3)
    left = (*shape[:dim], count, *shape[dim + 1 :])
    x = stage.tensor(shape)
    if stage.source.chance(50):
        return step("index_select", x, dim, stage.indices((count,), shape[dim], sure=True), out=_out(stage, left))
    return step("gather", x, dim, stage.indices(left, shape[dim], sure=True), out=_out(stage, left))


def _triangle(stage: Stage) -> Step:
    shape = _shape(stage, 2, 3)
    x = stage.tensor(shape)
    return step(stage.source.choice(("tril", "triu")), x, out=_out(stage, shape))


def _pair(stage: Stage) -> Step:
    """Two outputs, the second of indices."""
    shape = _shape(stage, 1, 3, least=1)
    dim = stage.source.integer(0, len(shape) - 1)
    left = (*shape[:dim], *shape[dim + 1 :])
    x = stage.tensor(shape)
    return step(
        "max", x, dim, out=(stage.tensor(left, kind="permuted"), stage.tensor(left, dtype="int64", kind="permuted"))
    )


OUTS: tuple[tuple[int, Scene], ...] = (
    (4, on(REAL, _of_one)), (6, on(NUMBERS, _of_two)), (3, on(NUMBERS, _compared)), (3, on(REAL[:2], _of_three)),
    (5, on(REAL[:2], _reduced)), (3, on(REAL, _scanned)), (4, on(NUMBERS, _joined)), (5, on(REAL[:2], _product)),
    (3, on(NUMBERS, _gathered)), (1, on(NUMBERS, _triangle)), (2, on(REAL[:2], _pair)),
)  # fmt: skip
"""(weight, how an operation, its operands and its output are drawn)."""
