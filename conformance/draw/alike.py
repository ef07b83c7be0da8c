"""Draws operands that are as they should be in all but one thing, or alike in all but one.

Where several things are wrong at once a library refuses for whichever it looks at, and one that it forgets is not
missed; where two tensors differ in everything, what is not compared is not missed either.
"""

from __future__ import annotations

from ..layout import extent, row_major
from ..program import ITEMSIZES, Argument, DType, MemoryFormat, Step
from .layouts import Drawn, draw_layout, draw_shape
from .sequences import small
from .stage import ALL, NUMBERS, REAL, Scene, Stage, on, step
from .storages import draw_bytes


def _small(stage: Stage, low: int, high: int) -> tuple[int, ...]:
    """A small shape, with nothing in it more often than others."""
    return tuple([0 if stage.source.chance(8) else size for size in small(stage, low, high)])


def _compared(stage: Stage) -> Step:
    """Two tensors over one storage that differ in a size, a stride, the offset or in nothing."""
    source = stage.source
    shape = _small(stage, 1, 3)
    drawn = draw_layout(source, shape=shape)
    # The memory is of the larger one, whatever is changed.
    x = stage.laid(drawn._replace(reach=max(drawn.reach, drawn.offset) + 2 * max((1, *shape))), stage.dtype)
    where = source.integer(0, len(shape) - 1)
    sizes, strides, offset = list(shape), list(drawn.strides), drawn.offset
    changed = source.choice(("stride", "stride", "stride", "offset", "size", ""))
    if changed == "stride":
        strides[where] = strides[where] - 1 if strides[where] > 1 and source.chance(50) else strides[where] + 1
    elif changed == "offset":
        offset += 1
    elif changed == "size":
        sizes[where] = max(0, sizes[where] - 1)
    y = stage.made(step("as_strided", x, tuple(sizes), tuple(strides), offset))
    op = source.choice(("is_set_to", "is_set_to", "is_set_to", "equal"))
    return step(op, x, y) if source.chance(50) else step(op, y, x)


def _as_complex(stage: Stage) -> Step:
    """Pairs that are numbers of a complex dtype, or would be but for one thing: whatever that asks for is looked at."""
    source = stage.source
    rows = source.integer(1, 3)
    shape, strides, offset = [rows, 2], [2 * source.integer(1, 3), 1], 2 * source.integer(0, 2)
    if source.chance(40):
        shape, strides = [2, *shape], [strides[0] * rows, *strides]
    dtype = stage.dtype
    broken = source.choice(("", "", "offset", "offset", "stride", "last", "pair", "dtype"))
    if broken == "offset":
        offset += 1
    elif broken == "stride":
        strides[0] += 1
    elif broken == "last":
        strides[-1] = 2
        strides[:-1] = [2 * s for s in strides[:-1]]
    elif broken == "pair":
        shape[-1] = source.choice((1, 3))
    elif broken == "dtype":
        dtype = source.choice(("bfloat16", "int32", "complex64"))
    _, reach = extent(shape, strides, offset)
    return step("view_as_complex", stage.laid(Drawn(tuple(shape), tuple(strides), offset, reach), dtype))


def _set_anew(stage: Stage) -> Step:
    """A tensor of some order set to as many dimensions of other sizes, its strides told or left to be found."""
    source = stage.source
    shape = _small(stage, 1, 4)
    x = stage.tensor(shape, kind=source.choice(("permuted", "permuted", "channels-last", "free")), grad=False)
    sizes = tuple([max(1, size + source.choice((-1, 0, 1))) for size in shape])
    other = stage.tensor(sizes, grad=False)
    offset = source.integer(0, 2)
    told: tuple[Argument, ...] = (row_major(sizes),) if source.chance(25) else ()
    return step("set_", x, other, offset, sizes, *told)


def _like_itself(stage: Stage) -> Step:
    """A new tensor of the operand's own sizes, which lies as new ones do, in whatever order that one does."""
    source = stage.source
    shape = draw_shape(source, 1, 5)
    x = stage.tensor(shape, kind=source.choice(("channels-last", "permuted", "free")), grad=False)
    if source.chance(25):
        return step("new_full", x, shape, source.choice((1, 0)))
    return step(source.choice(("new_zeros", "new_ones", "new_empty")), x, shape)


def _some_of_a_buffer(stage: Stage) -> Step:
    """Part of a buffer, with room before it and behind it: what is counted in bytes and what in elements."""
    source = stage.source
    width = ITEMSIZES[stage.dtype]
    count = source.integer(1, 3)
    offset = source.choice((width, 2 * width, 1, 3, 0))
    behind = source.choice((0, width, 3 * width * max(1, offset), 1))
    keywords: dict[str, Argument] = {"dtype": DType(stage.dtype), "offset": offset}
    if behind == 0 and source.chance(50):
        keywords["count"] = -1
    else:
        keywords["count"] = count
    data = draw_bytes(source, offset + count * width + behind)
    if source.chance(60):
        return step("frombuffer", data, **keywords)
    keywords = {name: value for name, value in keywords.items() if value != -1}
    return step("UntypedStorage.from_buffer", data, "native", **keywords)


def _turned_codes(stage: Stage) -> Step:
    """Codes in another order than they were made in, and what is made of them."""
    source = stage.source
    shape = _small(stage, 2, 4)
    x = stage.tensor(shape, tame=True, grad=False)
    dtype = DType(source.choice(("quint8", "qint8", "qint32")))
    q = stage.made(step("quantize_per_tensor", x, source.choice((0.5, 0.25)), source.integer(0, 3), dtype))
    first, second = source.integer(0, len(shape) - 1), source.integer(0, len(shape) - 1)
    turned = stage.made(step("t", q) if len(shape) == 2 and source.chance(40) else step("transpose", q, first, second))
    op = source.choice(("dequantize", "dequantize", "int_repr", "clone", "contiguous", "flatten", "relu"))
    asks = op in ("clone", "contiguous") and len(shape) == 4 and source.chance(40)
    return step(op, turned, **({"memory_format": MemoryFormat("channels_last")} if asks else {}))


_WHOLE = ((4, "int16"), (4, "float32"), (3, "int64"), (2, "uint8"), (2, "float64"))

ALIKE: tuple[tuple[int, Scene], ...] = (
    (4, on(ALL, _compared)), (4, on(((6, "float32"), (3, "float64"), (1, "float16")), _as_complex)),
    (3, on(NUMBERS, _set_anew)), (4, on(NUMBERS, _like_itself)), (3, on(_WHOLE, _some_of_a_buffer)),
    (4, on(REAL[:1], _turned_codes)),
)  # fmt: skip
"""(weight, scenes of what differs in one thing)."""
