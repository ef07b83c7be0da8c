"""Draws what takes several steps in a row that hardly ever come together: parts of parts, and what is made of them."""

from __future__ import annotations

from ..program import ITEMSIZES, Argument, DType, MemoryFormat, Ref, Slice, Step
from .layouts import draw_shape
from .stage import NUMBERS, REAL, Scene, Stage, on, step

_SCALES = (0.5, 0.25, 1.0, 2.0)
_ROW = ((4, "float32"), (2, "int64"), (1, "complex64"), (1, "int16"))


def small(stage: Stage, low: int = 1, high: int = 3) -> tuple[int, ...]:
    """A shape whose sizes are 4 at most."""
    return tuple([min(size, 4) for size in draw_shape(stage.source, low, high)])


def _same_codes(stage: Stage) -> Step:
    """Codes that are the same, and mean the same or something else."""
    source = stage.source
    shape = small(stage)
    codes = stage.counting(shape), stage.counting(shape)
    meanings = [(source.choice((0.5, 0.5, 0.25)), source.choice((0, 0, 3))) for _ in codes]
    pairs = zip(codes, meanings, strict=True)
    x, y = [stage.made(step("_make_per_tensor_quantized_tensor", c, *meaning)) for c, meaning in pairs]
    return step(source.choice(("equal", "equal", "eq", "lt", "copy_")), x, y)


def _joined_codes(stage: Stage) -> Step:
    """Codes of two scales in one tensor, which has the first one's."""
    source = stage.source
    shape = small(stage)
    floats = stage.tensor(shape, tame=True), stage.tensor(shape, tame=True)
    dtype = DType(source.choice(("quint8", "qint8", "qint32")))
    given = [(source.choice(_SCALES), source.integer(0, 3)) for _ in floats]
    pairs = zip(floats, given, strict=True)
    x, y = [stage.made(step("quantize_per_tensor", f, *meaning, dtype)) for f, meaning in pairs]
    return step(source.choice(("cat", "cat", "stack")), (x, y))


def _part_of_channels(stage: Stage) -> Step:
    """Several channels, the first one not among them, and what they mean then."""
    source = stage.source
    axis, channels = source.integer(0, 1), source.integer(3, 4)
    other = source.choice((2, 3, channels))  # of a square each dimension may be taken for the other
    shape = (channels, other) if axis == 0 else (other, channels)
    x = stage.tensor(shape, tame=True, grad=False)
    scales = tuple([source.choice(_SCALES) for _ in range(channels)])
    points = tuple([source.integer(0, 3) for _ in range(channels)])
    s = stage.made(step("tensor", scales, dtype=DType("float64")))
    z = stage.made(step("tensor", points, dtype=DType("int64")))
    q = stage.made(step("quantize_per_channel", x, s, z, axis, DType(source.choice(("quint8", "qint8")))))
    start = source.integer(1, channels - 2)
    index = (*[Slice()] * axis, Slice(start, None))
    narrowed = step("narrow", q, axis, start, channels - start)
    part = stage.made(narrowed if source.chance(50) else step("__getitem__", q, index))
    asked = ("dequantize", "int_repr", "q_per_channel_scales", "q_per_channel_zero_points", "clone")
    return step(source.choice(asked), part)


def _channels(stage: Stage) -> Step:
    """Images and their like with a scale for each channel, in any order: how they lie when they are asked for."""
    source = stage.source
    shape = tuple([source.integer(1, 3) for _ in range(source.integer(2, 5))])
    axis = source.integer(0, len(shape) - 1) if source.chance(40) else 1
    kind = source.choice(("channels-last", "channels-last", "permuted", None))
    x = stage.tensor(shape, kind=kind, tame=True, grad=False)
    scales = tuple([source.choice(_SCALES) for _ in range(shape[axis])])
    s = stage.made(step("tensor", scales, dtype=DType("float64")))
    z = stage.made(step("tensor", tuple([source.integer(0, 3) for _ in scales]), dtype=DType("int64")))
    q = stage.made(step("quantize_per_channel", x, s, z, axis, DType(source.choice(("quint8", "qint8", "qint32")))))
    if source.chance(40):
        # What keeps its channels together, and does not lie as before.
        q = stage.made(
            source.choice(
                (step("__getitem__", q, (Slice(shape[0] // 2, None),)), step("unsqueeze", q, 0), step("detach", q),
                 step("clone", q), step("contiguous", q, memory_format=MemoryFormat("contiguous_format")))
            )
        )  # fmt: skip
    return step(source.choice(("dequantize", "dequantize", "int_repr", "int_repr", "clone", "contiguous")), q)


def _gapped(stage: Stage) -> Step:
    """A part of images or volumes with gaps between its rows, asked for in a format."""
    source = stage.source
    rank = 5 if source.chance(25) else 4
    shape = (source.integer(1, 2), source.integer(1, 3), *[source.integer(2, 4) for _ in range(rank - 2)])
    x = stage.tensor(shape, kind="channels-last" if source.chance(75) else None)
    where = source.integer(1, rank - 1)
    cut = Slice(None, None, 2) if source.chance(60) else Slice(0, shape[where] - 1 or None)
    part = stage.made(step("__getitem__", x, (*[Slice()] * where, cut)))
    fitting = "channels_last" if rank == 4 else "channels_last_3d"
    wanted = MemoryFormat(source.choice((fitting, fitting, "contiguous_format")))
    return step(source.choice(("to", "to", "contiguous", "clone")), part, memory_format=wanted)


def _view_of(stage: Stage, x: Ref, rank: int) -> Ref:
    """Some view of a tensor of that rank."""
    source = stage.source
    views = [
        step("detach", x),
        step("unsqueeze", x, 0),
        step("__getitem__", x, (Slice(1, None),)),
        step("view_as", x, x),
    ]
    return stage.made(source.choice([*views, step("transpose", x, 0, rank - 1)]))


def _shared(stage: Stage) -> Step:
    """Whether memory is shared that other tensors lie in."""
    shape = small(stage)
    x = stage.tensor(shape, grad=False)
    if stage.source.chance(70):
        stage.made(step("share_memory_", x))
    return step("is_shared", _view_of(stage, x, len(shape)))


def _nowhere(stage: Stage) -> Step:
    """Tensors without bytes: neither overlap nor the end of a storage is looked at."""
    source = stage.source
    length = source.integer(3, 6)
    real = stage.tensor((length,), grad=False)
    keywords: dict[str, Argument] = {"device": "meta", "dtype": DType(stage.dtype)}
    if source.chance(50):
        return _moved_nowhere(stage)
    m = stage.made(step("empty", (length,), **keywords))
    which = source.integer(0, 9)
    if which < 3:
        return step("as_strided", m, (length, 2), (2, source.integer(1, 3)), source.integer(0, 4))
    if which < 5:
        return step("copy_", m, real)
    later = stage.made(step("__getitem__", m, (Slice(1, None),)))
    earlier = stage.made(step("__getitem__", m, (Slice(None, -1),)))
    return step(source.choice(("add_", "mul_", "copy_")), later, earlier)


def _no_images(stage: Stage) -> Step:
    """Images of which there are none, or without pixels: which formats they are in, and what they are laid out as."""
    source = stage.source
    shape = [source.integer(1, 3) for _ in range(source.integer(4, 5))]
    shape[source.integer(0, len(shape) - 1)] = 0
    x = stage.tensor(tuple(shape), kind=source.choice((None, "channels-last")))
    wanted = MemoryFormat(source.choice(("channels_last", "channels_last", "channels_last_3d", "contiguous_format")))
    return step(source.choice(("is_contiguous", "is_contiguous", "contiguous", "clone", "to")), x, memory_format=wanted)


_NOWHERE = (
    "clone", "clone", "contiguous", "contiguous", "flatten", "ravel", "t", "T", "mT", "squeeze", "is_contiguous",
    "data_ptr", "sum",
)  # fmt: skip
"""What is laid out there as in memory: of what is computed PyTorch decides otherwise (`check torch:meta`)."""


def _moved_nowhere(stage: Stage) -> Step:
    """What lay in memory in whatever layout, and is asked without its bytes."""
    source = stage.source
    x = stage.tensor(small(stage, 1, 4), grad=False)
    m = stage.made(step("to", x, device="meta"))
    if source.chance(15):
        m = stage.made(step("transpose", m, 0, -1))
    which = source.integer(0, 9)
    if which < 2:
        return step("as_strided", m, (3, 2), (source.integer(1, 9), 1), source.integer(0, 3))
    if which < 4:
        return step("to", m, dtype=DType(source.choice(("float64", "int64"))))
    return step(source.choice(_NOWHERE), m)


def _overlapping(stage: Stage) -> Step:
    """A write into memory that what is read lies in as well, perhaps under another dtype."""
    source = stage.source
    length, width = source.integer(3, 6), ITEMSIZES[stage.dtype]
    x = stage.tensor((length,), kind="row-major", grad=False)
    first = source.integer(0, 2)
    other = source.choice({4: ("int32", "int16"), 8: ("float32", "float64"), 2: ("float16", "uint8")}[width])
    y = stage.made(step("view", x, DType(other))) if source.chance(70) else x
    count = source.integer(1, 2)
    target = stage.made(step("__getitem__", x, (Slice(0, count),)))
    read = stage.made(step("__getitem__", y, (Slice(first, first + count),)))
    return step(source.choice(("add_", "mul_", "copy_")), target, read)


def _accumulated(stage: Stage) -> Step:
    """Gradients given to a leaf that lies otherwise than they do, and what is done with its own."""
    source = stage.source
    shape = draw_shape(source, 0, 5)
    leaf = stage.tensor(shape, grad=False, tame=True)
    fits = source.chance(92)
    sizes = shape if fits else (*shape, 2)
    dtype = stage.dtype if source.chance(80) else source.choice(("float32", "float64", "bfloat16", "int16"))
    first, second = [stage.tensor(sizes, dtype=dtype, grad=False, tame=True) for _ in range(2)]
    if source.chance(95):
        stage.made(step("requires_grad_", leaf))
    if source.chance(20):
        first = (
            stage.made(step("expand", stage.made(step("select", first, 0, 0)), sizes)) if 0 not in sizes[:1] else first
        )
    keywords: dict[str, Argument] = {"retain_graph": True} if source.chance(8) else {}
    if source.chance(8):
        keywords["create_graph"] = True
    if source.chance(8):
        keywords["inputs"] = (leaf,)
    one = not any(size != 1 for size in shape) and source.chance(50)
    backward = step("backward", leaf, *([] if one else [first]), **keywords)
    if source.chance(15):
        return backward
    stage.made(backward)
    if source.chance(15):
        return step("grad", leaf)
    gradient = stage.made(step("grad", leaf))
    return source.choice(
        (
            step("backward", leaf, second),
            step("backward", leaf, second),
            step("backward", leaf, gradient),
            step("grad", leaf),
            step("mul_", gradient, 2),
            step("clone", gradient),
            step("grad", stage.made(step(source.choice(("copy.deepcopy", "copy.deepcopy", "copy.copy")), leaf))),
        )
    )


_LAID_ANEW: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("transpose_", (0, 1)), ("transpose_", (-1, 0)), ("swapaxes_", (0, -1)), ("squeeze_", ()), ("unsqueeze_", (1,)),
)  # fmt: skip
_OF_THE_LAYOUT: tuple[tuple[str, tuple[Argument, ...]], ...] = (
    ("contiguous", ()), ("contiguous", ()), ("is_contiguous", ()), ("clone", ()), ("view", ((-1,),)),
    ("reshape", ((-1,),)), ("flatten", ()), ("ravel", ()), ("stride", ()), ("numpy", ()), ("neg", ()),
)  # fmt: skip


def _changed_then_asked(stage: Stage) -> Step:
    """A tensor that is laid out anew in place, and what depends on how it lies: nothing may be remembered."""
    source = stage.source
    x = stage.tensor(draw_shape(source, 2, 4), kind=source.choice(("row-major", "row-major", "permuted", None)))
    if source.chance(40):
        stage.made(step(source.choice(("contiguous", "is_contiguous", "stride")), x))
    change, to = source.choice(_LAID_ANEW)
    stage.made(step(change, x, *to))
    name, args = source.choice(_OF_THE_LAYOUT)
    return step(name, x, *args)


def _through_a_bit(stage: Stage) -> Step:
    """A write through a bit, into memory in whatever order, of numbers of another dtype or the same."""
    source = stage.source
    shape = small(stage, 1, 4)
    x = stage.tensor(shape, kind=source.choice(("permuted", "free", "channels-last")), grad=False, tame=True)
    dtype = stage.dtype if source.chance(35) else source.choice(("float32", "float64", "int64", "int16", "bfloat16"))
    of = stage.tensor(shape if source.chance(70) else shape[1:], dtype=dtype, grad=False, tame=True)
    turned = stage.made(step("conj" if stage.dtype.startswith("complex") else "_neg_view", x))
    return step(source.choice(("copy_", "copy_", "copy_", "add_", "mul_")), turned, of)


SEQUENCES: tuple[tuple[int, Scene], ...] = (
    (2, on(((2, "uint8"), (1, "int8"), (1, "int32")), _same_codes)), (2, on(REAL[:1], _joined_codes)),
    (3, on(REAL[:1], _part_of_channels)), (3, on(REAL[:1], _channels)),
    (3, on(NUMBERS, _gapped)), (2, on(NUMBERS, _shared)),
    (3, on(_ROW, _nowhere)), (3, on(_ROW, _overlapping)),
    (3, on(NUMBERS, _changed_then_asked)), (2, on(NUMBERS, _no_images)),
    (3, on((*REAL, (8, "complex64")), _accumulated)), (2, on(NUMBERS, _through_a_bit)),
)  # fmt: skip
"""(weight, how the steps and their operands are drawn)."""
