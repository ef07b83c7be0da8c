"""Draws operations by index tensors and masks: gathers, scatters, advanced indexing, assignment through it."""

from __future__ import annotations

from math import prod

from ..program import Argument, DType, Ref, Slice, Step
from .layouts import draw_shape
from .source import weighted
from .stage import ALL, NUMBERS, Scene, Stage, on, step
from .steps import ODD

NEW_AXES = 35
"""Percent of places in an index where a new axis is put, in those that have such."""


def _shape(stage: Stage, low: int = 1, high: int = 4) -> tuple[int, ...]:
    shape = draw_shape(stage.source, low, high)
    return tuple([min(n, 5) for n in shape])


def _dim(stage: Stage, shape: tuple[int, ...]) -> tuple[int, int]:
    """A dimension as it is written, and its size."""
    if not shape:
        return 0, 1
    dim = stage.source.integer(0, len(shape) - 1)
    return dim - len(shape) if stage.source.chance(30) else dim, shape[dim]


def _with(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    """The shape with one dimension of another size."""
    if not shape:
        return shape
    place = dim % len(shape)
    return (*shape[:place], size, *shape[place + 1 :])


def _twin(stage: Stage, name: str, percent: int = 40) -> str:
    return f"{name}_" if stage.source.chance(percent) else name


def _count(stage: Stage) -> int:
    return stage.source.integer(0 if stage.source.chance(8) else 1, 4)


def _index_select(stage: Stage) -> Step:
    shape = _shape(stage)
    dim, size = _dim(stage, shape)
    return step("index_select", stage.tensor(shape), dim, stage.indices((_count(stage),), size))


def _gather(stage: Stage) -> Step:
    shape = _shape(stage, 0)
    dim, size = _dim(stage, shape)
    inside = tuple([stage.source.integer(min(1, n), n) for n in shape])
    index = stage.indices(_with(inside, dim, _count(stage)) if shape else (), size)
    return step("gather", stage.tensor(shape), dim, index)


def _take(stage: Stage) -> Step:
    shape = _shape(stage, 0, 3)
    total = 1
    for size in shape:
        total *= size
    return step("take", stage.tensor(shape), stage.indices(_shape(stage, 0, 2), total, low=-total if total else 0))


def _take_along(stage: Stage) -> Step:
    shape = _shape(stage)
    dim, size = _dim(stage, shape)
    inside = tuple([1 if stage.source.chance(30) else n for n in shape])
    if stage.source.chance(30):
        # Along all of it, which has to be a view of one dimension.
        shape = shape[:1] if stage.source.chance(60) else shape
        x = stage.tensor(shape, kind="free" if stage.source.chance(50) else None)
        return step("take_along_dim", x, stage.indices(_shape(stage, 0, 3), prod(shape)))
    return step("take_along_dim", stage.tensor(shape), stage.indices(_with(inside, dim, _count(stage)), size), dim)


def _narrow(stage: Stage) -> Step:
    """The start is a tensor."""
    shape = _shape(stage)
    dim, size = _dim(stage, shape)
    length = stage.source.integer(0, size)
    low = -size if stage.source.chance(20) and length <= 1 else 0
    return step("narrow", stage.tensor(shape), dim, stage.indices((), size - length + 1 + low, low=low), length)


def _masked_select(stage: Stage) -> Step:
    shape = _shape(stage, 0)
    other = _mask_shape(stage, shape)
    if stage.source.chance(25):
        shape, other = other, shape  # either of them is broadcast to the other
    # What is picked comes row by row, also of operands that both lie column by column.
    x = stage.tensor(shape, kind="permuted" if stage.source.chance(40) else None)
    return step("masked_select", x, stage.tensor(other, dtype="bool", alike=50))


def _mask_shape(stage: Stage, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, or one that broadcasts to it, perhaps of fewer dimensions."""
    if stage.source.chance(40):
        return shape
    ones = tuple([1 if stage.source.chance(40) else n for n in shape])
    return ones[stage.source.integer(min(1, len(ones)), len(ones)) :] if stage.source.chance(75) else ones


def _nonzero(stage: Stage) -> Step:
    x = stage.tensor(_shape(stage, 0), dtype="bool" if stage.source.chance(60) else None)
    return step(stage.source.choice(("nonzero", "nonzero", "argwhere")), x)


def _repeated_each(stage: Stage) -> Step:
    """As often as a tensor says, element by element."""
    shape = _shape(stage)
    dim, size = _dim(stage, shape)
    count = size if not stage.source.chance(20) else 1
    return step("repeat_interleave", stage.tensor(shape), stage.indices((count,), 3, sure=True), dim)


def _as_truths(stage: Stage) -> Step:
    """Bytes that are 0 or 1 as truths, and other dtypes of one byte."""
    shape = _shape(stage, 0)
    x = stage.indices(shape, 2, dtype="uint8", sure=True)
    return step("view", x, DType(stage.source.choice(("bool", "bool", "int8", "float8_e4m3fn"))))


def _embedding(stage: Stage) -> Step:
    rows = stage.source.integer(1, 5)
    index = stage.indices(_shape(stage, 0, 3), rows)
    padding = {"padding_idx": stage.source.integer(-rows, rows - 1)} if stage.source.chance(30) else {}
    return step("nn.functional.embedding", index, stage.tensor((rows, stage.source.integer(1, 4))), **padding)


def _one_hot(stage: Stage) -> Step:
    classes = stage.source.integer(1, 4)
    return step("nn.functional.one_hot", stage.indices(_shape(stage, 0, 3), classes), classes)


def _masked_fill(stage: Stage) -> Step:
    shape = _shape(stage, 0)
    x = stage.tensor(shape)
    mask = stage.tensor(_mask_shape(stage, shape), dtype="bool")
    return step(_twin(stage, "masked_fill", 65), x, mask, _number(stage))


def _number(stage: Stage) -> Argument:
    """What is filled with: a number, or a tensor without dimensions."""
    if stage.source.chance(40):
        return stage.tensor((), grad=False)
    return 2 if stage.dtype != "bool" else True


def _masked_scatter(stage: Stage) -> Step:
    shape = _shape(stage, 0)
    x = stage.tensor(shape)
    total = 1
    for size in shape:
        total *= size
    mask = stage.tensor(_mask_shape(stage, shape), dtype="bool")
    # The source's elements are taken in the order of its indices, however it lies.
    rows = stage.source.integer(1, 3) if stage.source.chance(60) else 0
    return step(_twin(stage, "masked_scatter"), x, mask, stage.tensor((rows, -(-total // rows)) if rows else (total,)))


def _index_writes(stage: Stage) -> Step:
    source = stage.source
    shape = _shape(stage)
    dim, size = _dim(stage, shape)
    x = stage.tensor(shape)
    name = source.choice(("index_add", "index_copy", "index_fill"))
    count = min(_count(stage), size) if name == "index_copy" else _count(stage)
    index = stage.indices((count,), size, distinct=name == "index_copy", sure=True)
    if name == "index_fill":
        return step(_twin(stage, name), x, dim, index, _number(stage))
    counted = count + source.chance(ODD // 2)
    source_of = stage.tensor(_with(shape, dim, counted), beside=x)
    alpha: dict[str, Argument] = {"alpha": 2} if name == "index_add" and source.chance(40) else {}
    return step(_twin(stage, name), x, dim, index, source_of, **alpha)


def _scatter(stage: Stage) -> Step:
    source = stage.source
    shape = _shape(stage)
    dim, size = _dim(stage, shape)
    x = stage.tensor(shape)
    inside = tuple([source.integer(min(1, n), n) for n in shape])
    place = dim % len(shape)
    name = source.choice(("scatter", "scatter_add"))
    # Along the dimension every index comes once, so that no place is written to twice.
    along = min(inside[place], size)
    index = stage.indices((*inside[:place], along, *inside[place + 1 :]), size) if name == "scatter_add" else None
    if index is None:
        flat = (1,) * place + (along,) + (1,) * (len(shape) - place - 1)
        index = stage.indices(flat, size, distinct=True)
        return step(_twin(stage, name), x, dim, index, stage.tensor(flat) if source.chance(60) else 3)
    return step(_twin(stage, name), x, dim, index, stage.tensor(shape))


def _put(stage: Stage) -> Step:
    shape = _shape(stage, 1, 3)
    total = 1
    for size in shape:
        total *= size
    count = min(_count(stage), total)
    x = stage.tensor(shape)
    keywords = _accumulated(stage)
    index = stage.indices((count,), total, distinct=not _adds_exactly(stage, keywords))
    return step(_twin(stage, "put"), x, index, stage.tensor((count,)), **keywords)


def _accumulated(stage: Stage) -> dict[str, Argument]:
    return {"accumulate": True} if stage.source.chance(50) else {}


def _adds_exactly(stage: Stage, keywords: dict[str, Argument]) -> bool:
    """Whether a place may be named twice: unless one adds, one of them would win, and sums of floats are inexact."""
    return bool(keywords) and stage.dtype.startswith(("int", "uint"))


def _advanced(stage: Stage, shape: tuple[int, ...]) -> tuple[Argument, ...]:
    """An index of index tensors, masks, slices, integers, `None` and the rest."""
    source = stage.source
    items: list[Argument] = []
    inside = draw_shape(source, 0, 2)
    inside = tuple([min(n, 3) for n in inside])
    place = 0
    used = False
    new = NEW_AXES if source.chance(30) else 0
    while place < len(shape):
        if source.chance(new):
            items.append(None)
        what = source.integer(0, 9)
        size = shape[place]
        if what < 5 or (place == len(shape) - 1 and not used):
            given = tuple([1 if source.chance(20) else n for n in inside])
            low = -size if source.chance(30) else 0
            items.append(stage.indices(given, size, dtype="int32" if source.chance(8) else "int64", low=low))
            used = True
        elif what < 8:
            step_size = source.choice((None, None, 2))
            items.append(Slice(source.integer(0, 1) or None, None, step_size))
        elif what == 8 and size:
            items.append(source.integer(-size, size - 1))
        elif place + 2 <= len(shape) and not used and source.chance(40):
            items.append(stage.tensor(shape[place : place + 2], dtype="bool"))
            used = True
            place += 1
        else:
            if source.chance(40):
                items.append(None)
            items.append(stage.tensor((size,), dtype="bool") if not used else Slice())
            used = True
        place += 1
        if used and source.chance(30):
            break
    return (*items, None) if source.chance(new) else tuple(items)


def _apart(stage: Stage, shape: tuple[int, ...]) -> tuple[Argument, ...]:
    """Two tensors of numbers with a slice between: what they take out comes first, wherever they stand."""
    count = stage.source.integer(1, 3)
    slices = [Slice() if stage.source.chance(60) else Slice(0, None, 2) for _ in shape]
    first = len(shape) - 3 if stage.source.chance(70) else 0
    chosen = [stage.indices((count,), shape[place], sure=True) for place in (first, first + 2)]
    return (*slices[:first], chosen[0], slices[first], chosen[1])


def _bytes(stage: Stage, shape: tuple[int, ...]) -> tuple[Argument, ...]:
    """Bytes as a mask."""
    return (stage.indices(shape[: stage.source.integer(1, len(shape))], 2, dtype="uint8", sure=True),)


def _mask(stage: Stage, shape: tuple[int, ...]) -> Ref:
    """A mask, often one that is not in order."""
    return stage.tensor(shape, dtype="bool", kind="permuted" if stage.source.chance(40) else None, grad=False)


def _masked(stage: Stage, shape: tuple[int, ...]) -> tuple[Argument, ...]:
    """A mask of one dimension or two, behind slices: what it takes out stays in its place."""
    place = stage.source.integer(0, len(shape) - 1)
    mask = _mask(stage, shape[place : place + stage.source.integer(1, 2)])
    return (*[Slice() if stage.source.chance(60) else Slice(0, None, 2) for _ in range(place)], mask)


def _getitem(stage: Stage) -> Step:
    what = stage.source.integer(0, 9)
    shape = _shape(stage, 3 if what < 3 else 1)
    x = stage.tensor(shape)
    if what < 3 and 0 not in shape:
        return step("__getitem__", x, _apart(stage, shape))
    if what == 3 and 0 not in shape:
        # An index that is one number is a view, and is none where it is a tensor of another kind.
        before = (Slice(),) * stage.source.integer(0, len(shape) - 1)
        return step("__getitem__", x, (*before, stage.indices((), shape[len(before)], low=-shape[len(before)])))
    if what == 4 and stage.source.chance(40):
        return step("__getitem__", x, _bytes(stage, shape))
    if what == 4:
        return step("__getitem__", x, (_mask(stage, shape[: stage.source.integer(1, 3)]),))
    if what == 5:
        return step("__getitem__", x, _masked(stage, shape))
    return step("__getitem__", x, _advanced(stage, shape))


def _part(stage: Stage, shape: tuple[int, ...]) -> tuple[tuple[Argument, ...], tuple[int, ...]]:
    """An index of slices, numbers and new axes, and the shape of what it takes out."""
    source = stage.source
    items: list[Argument] = []
    sizes: list[int] = []
    for size in shape:
        what = source.integer(0, 9)
        if what < 2 and size:
            items.append(source.integer(-size, size - 1))
            continue
        if what < 3:
            items.append(None)
            sizes.append(1)
        start, stop = [source.integer(-size, size) if source.chance(30) else None for _ in range(2)]
        stride = source.choice((None, None, 2, 3))
        items.append(Slice(start, stop, stride))
        sizes.append(len(range(size)[start:stop:stride]))
    if source.chance(30):
        left = len(items)
        while left and items[left - 1] == Slice():
            left -= 1
        items[left:] = [...]
    return tuple(items), tuple(sizes)


def _assigned(stage: Stage, shape: tuple[int, ...], x: Ref) -> Step:
    """A tensor that is broadcast to the part that it is written to, often of another dtype."""
    source = stage.source
    index, part = _part(stage, shape)
    dtype = weighted(source, ALL) if source.chance(30) else None
    return step("__setitem__", x, index, stage.tensor(_mask_shape(stage, part), beside=x, dtype=dtype, grad=False))


def _setitem(stage: Stage) -> Step:
    shape = _shape(stage, 1, 3)
    x = stage.tensor(shape)
    what = stage.source.integer(0, 9)
    if stage.source.chance(30):
        return _assigned(stage, shape, x)
    if what < 5:
        mask = what == 0 and shape
        index = (_mask(stage, shape),) if mask else _advanced(stage, shape)
        return step("__setitem__", x, index, _number(stage))
    size = shape[0]
    if not size:
        return step("__setitem__", x, (Slice(),), 1)
    if stage.source.chance(15):
        # What is assigned may have more dimensions, of size 1.
        ones = (1,) * stage.source.integer(1, 2)
        return step("__setitem__", x, (Slice(1, None),), stage.tensor((*ones, size - 1, *shape[1:]), beside=x))
    count = min(_count(stage), size)
    index = stage.indices((count,), size, distinct=True)
    return step("__setitem__", x, (index,), stage.tensor((count, *shape[1:]), beside=x))


def _index_put(stage: Stage) -> Step:
    shape = _shape(stage, 1, 3)
    x = stage.tensor(shape)
    count = min(_count(stage), shape[0])
    keywords = _accumulated(stage)
    exactly = _adds_exactly(stage, keywords)
    # What is added to one place several times adds up.
    few = min(shape[0], 2) if exactly and stage.source.chance(50) else shape[0]
    count = _count(stage) if few < shape[0] else count
    index = (stage.indices((count,), few, distinct=not exactly),)
    values = stage.tensor((count, *shape[1:]) if stage.source.chance(60) else ())
    return step(_twin(stage, "index_put"), x, index, values, **keywords)


def _nearly(stage: Stage, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape; now and then one that broadcasts to it, which is not enough for a part that is put in its place."""
    if not stage.source.chance(2 * ODD):
        return shape
    ones = tuple([1 if stage.source.chance(50) else n for n in shape])
    return ones[stage.source.integer(0, len(ones)) :] if stage.source.chance(40) else ones


def _diagonal_scatter(stage: Stage) -> Step:
    shape = _shape(stage, 2, 4)
    shape = (2, 3) if len(shape) < 2 else shape
    if stage.source.chance(25):
        # A square's diagonals above and below are as long.
        shape = (shape[0], shape[0], *shape[2:]) if len(shape) < 4 else (*shape[:3], shape[2])
    offset = stage.source.integer(-1, 1)
    # The first two dimensions, or the last two in either order.
    first, second = stage.source.choice(((-2, -1), (-1, -2))) if stage.source.chance(40) else (0, 1)
    dims = (first, second) if first else ()
    rows, columns, left = shape[first], shape[second], shape[:-2] if first else shape[2:]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    return step("diagonal_scatter", stage.tensor(shape), stage.tensor(_nearly(stage, (*left, length))), offset, *dims)


def _select_scatter(stage: Stage) -> Step:
    shape = _shape(stage, 1, 4)
    shape = shape or (3,)
    dim, size = _dim(stage, shape)
    place = dim % len(shape)
    index = stage.source.integer(-size, size - 1) if size else 0
    part = stage.tensor(_nearly(stage, (*shape[:place], *shape[place + 1 :])))
    return step("select_scatter", stage.tensor(shape), part, dim, index)


def _diagonal_filled(stage: Stage) -> Step:
    """At times a matrix so tall that the diagonal begins anew below."""
    columns = stage.source.integer(1, 3)
    rows = columns + stage.source.integer(1, 5) if stage.source.chance(60) else stage.source.integer(1, 4)
    return step("fill_diagonal_", stage.tensor((rows, columns)), 1, stage.source.chance(70))


def _slice_scatter(stage: Stage) -> Step:
    source = stage.source
    shape = _shape(stage, 1, 4)
    shape = shape or (3,)
    dim, size = _dim(stage, shape)
    start, stride = source.integer(0, size), source.integer(1, 2)
    end = source.integer(start, size) if source.chance(50) else size
    length = -(-(end - start) // stride)
    part = stage.tensor(_nearly(stage, _with(shape, dim, length + source.chance(ODD // 2))))
    bounds = [n - size if 0 < n < size and source.chance(50) else n for n in (start, end)]
    return step("slice_scatter", stage.tensor(shape), part, dim, bounds[0], None if end == size else bounds[1], stride)


INDEXED: tuple[tuple[int, Scene], ...] = (
    (3, on(ALL, _index_select)), (4, on(ALL, _gather)), (2, on(ALL, _take)), (2, on(ALL, _take_along)),
    (4, on(ALL, _masked_select)), (3, on(ALL, _nonzero)), (2, on(NUMBERS, _embedding)), (1, on(NUMBERS, _one_hot)),
    (8, on(ALL, _masked_fill)), (3, on(ALL, _masked_scatter)), (6, on(NUMBERS, _index_writes)),
    (4, on(NUMBERS, _scatter)), (2, on(NUMBERS, _put)), (10, on(ALL, _getitem)), (8, on(ALL, _setitem)),
    (3, on(NUMBERS, _index_put)), (2, on(ALL, _diagonal_scatter)), (2, on(ALL, _select_scatter)),
    (3, on(ALL, _slice_scatter)), (1, on(NUMBERS, _diagonal_filled)), (1, on(ALL, _narrow)),
    (1, on(ALL, _repeated_each)), (1, on(ALL, _as_truths)),
)  # fmt: skip
"""(weight, how an operation and its operands are drawn)."""
