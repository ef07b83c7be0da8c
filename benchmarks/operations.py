"""What is timed: PyTorch's operations, what stands in their calls, and over which layouts and sizes.

To widen it, add a line to `OPERATIONS`; layouts and shapes are in `operands.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stridecheck.conformance.program import Argument, File, MemoryFormat, Ref, Slice, Step

from .operands import LAYOUTS, Shape


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a timed step; a `dtype` or `fill` of its own where it is no number like the others."""

    shape: Shape
    layout: str
    dtype: str = ""
    fill: str = ""


Operands = Callable[[Shape, str], Sequence[Operand]]
"""The operands for a case's shape and layout."""

MIXED = "mixed"
"""The layout of two operands, the first transposed, the second row-major."""


def _alike(number: int) -> Operands:
    """Operands that are all laid as the case says; `mixed` lays the first transposed, the second row-major."""

    def operands(shape: Shape, layout: str) -> Sequence[Operand]:
        if layout == MIXED:
            return Operand(shape, "transposed"), Operand(shape, "contiguous")
        return [Operand(shape, layout)] * number

    return operands


_one = _alike(1)


def _into_row_major(shape: Shape, layout: str) -> Sequence[Operand]:
    return Operand(shape, "contiguous"), Operand(shape, layout)


def _image_and_filters(shape: Shape, layout: str) -> Sequence[Operand]:
    channels = shape[1]
    return Operand(shape, layout), Operand((channels, channels, 3, 3), layout)


def _and_a_row(shape: Shape, layout: str) -> Sequence[Operand]:
    return Operand(shape, layout), Operand(shape[-1:], "contiguous")


def _table_and_indices(shape: Shape, layout: str) -> Sequence[Operand]:
    return Operand(shape, layout), Operand(shape[:1], "contiguous", "int64", "index1")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation to be timed: PyTorch's name, what follows its operands, and over which layouts and sizes."""

    says: str
    op: str
    layouts: tuple[str, ...]
    operands: Operands = _one
    args: Callable[[Sequence[Ref], Shape], tuple[Argument, ...]] = lambda refs, shape: tuple(refs)
    """The arguments, from the operands and the shape of the first."""
    kwargs: tuple[tuple[str, Argument], ...] = ()
    """Keywords; operands that are named here lie as they are, without a view."""
    sizes: tuple[str, ...] = ("small", "cache", "large")
    fill: str = "ramp1"
    """Fill of the storages: products overflow and long sums are inexact over any but `grid1`."""
    quick: str = "cache"
    """Size class that stands in the quick set."""
    kind: str = "matrix"
    """Kind of shapes, for layouts that go with any."""
    also: tuple[Callable[[Ref], Step], ...] = ()
    """Values that are made of the first operand and stand beside the operands in `args`: its storage, another view."""
    chain: tuple[Callable[[Ref], Step], ...] = ()
    """Steps that are timed with it, the first argument of each being what the one before answered."""
    has_file: bool = False
    """Whether a file of the first operand's bytes is there, as the program's last storage."""


_COPIED = ("contiguous", "transposed", "stepped", "expanded", "channels_last")
_IN_PLACE = ("contiguous", "transposed", "stepped", "channels_last")
_ALL = (*LAYOUTS,)
_IMAGES = ("nchw", "channels_last")


def _method(name: str, *args: Argument) -> Callable[[Ref], Step]:
    return lambda ref: Step(name, (ref, *args))


def _window(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return (*refs, 3, 2)


def _last(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return (refs[-1],)


def _together(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return (tuple(refs),)


def _into_last(refs: Sequence[Ref], shape: Shape) -> tuple[Argument, ...]:
    return tuple(refs[:-1])


def _mapped(about: str, *, shared: bool) -> Operation:
    """A storage over a file."""
    return Operation(
        about,
        "UntypedStorage.from_file",
        ("contiguous",),
        args=lambda refs, shape: (File(1), shared, 4 * math.prod(shape)),
        has_file=True,
        quick="",
    )


def _storage(says: str, op: str, then: tuple[str, ...] = ()) -> Operation:
    """An operation on the whole storage that an operand lies in."""
    chain = tuple([_method(name) for name in then])
    return Operation(says, op, ("contiguous",), args=_last, also=(_method("untyped_storage"),), chain=chain, quick="")


def _conversion(says: str, op: str) -> Operation:
    """A typed storage made another, element by element: the reference takes a second for a large one."""
    made = (_method("storage"),)
    return Operation(says, op, ("contiguous",), args=_last, also=made, sizes=("small", "cache"), quick="")


_CHANNELS_LAST = (("memory_format", MemoryFormat("channels_last")),)

OPERATIONS: Mapping[str, Operation] = {
    "copy": Operation("copy_ into a row-major tensor that is there already", "copy_", _ALL, _into_row_major),
    "contiguous": Operation("contiguous(): a row-major copy where one is needed", "contiguous", _ALL),
    "clone": Operation("clone(): a copy that keeps a dense layout", "clone", _ALL),
    "to_channels_last": Operation(
        "contiguous(memory_format=channels_last)", "contiguous", ("nchw",), kwargs=_CHANNELS_LAST
    ),
    "clone_channels_last": Operation(
        "clone(memory_format=channels_last)", "clone", ("nchw", "channels_last"), kwargs=_CHANNELS_LAST, quick=""
    ),
    "to_memory_format": Operation(
        "to(memory_format=channels_last)", "to", ("nchw", "channels_last"), kwargs=_CHANNELS_LAST, quick=""
    ),
    "relu": Operation("relu(x)", "relu", _COPIED),
    "relu_": Operation(
        "relu_(x), in place", "relu_", ("contiguous", "transposed", "stepped", "channels_last"), quick=""
    ),
    "add": Operation("x + y", "add", (*_COPIED, MIXED), _alike(2)),
    "add_": Operation("x += y, in place", "add_", (*_IN_PLACE, MIXED), _alike(2), quick=""),
    "add_row": Operation(
        "x + y, where y is a row", "add", ("contiguous", "transposed", "stepped"), _and_a_row, quick=""
    ),
    "add_out": Operation(
        "add(x, y, out=z), into a tensor that is there already",
        "add",
        ("contiguous", "transposed"),
        _alike(3),
        args=_into_last,
        kwargs=(("out", Ref(2)),),
        quick="",
    ),
    "mul": Operation("x * y", "mul", ("contiguous", "transposed", MIXED), _alike(2), fill="grid1"),
    "sum_first": Operation(
        "sum(0), along the first dimension",
        "sum",
        _COPIED,
        args=lambda refs, shape: (*refs, 0),
        fill="grid1",
    ),
    "sum_last": Operation(
        "sum(-1), along the last dimension",
        "sum",
        _COPIED,
        args=lambda refs, shape: (*refs, -1),
        fill="grid1",
    ),
    "sum_channels": Operation(
        "sum(1), over the channels of images",
        "sum",
        _IMAGES,
        args=lambda refs, shape: (*refs, 1),
        fill="grid1",
        quick="",
    ),
    "sum": Operation("sum(), of all elements", "sum", _COPIED, fill="grid1", sizes=("small", "cache"), quick=""),
    "softmax": Operation(
        "softmax(-1)",
        "softmax",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, -1),
        fill="grid1",
        quick="",
    ),
    "cat": Operation(
        "cat((x, y)), along the first dimension",
        "cat",
        _COPIED,
        _alike(2),
        args=lambda refs, shape: (tuple(refs),),
        quick="",
    ),
    "flip": Operation(
        "flip(0): rows in reverse",
        "flip",
        ("contiguous",),
        args=lambda refs, shape: (
            *refs,
            (0,),
        ),
        quick="",
    ),
    "index_select": Operation(
        "index_select(0, i): rows by number",
        "index_select",
        ("contiguous", "transposed", "stepped"),
        _table_and_indices,
        args=lambda refs, shape: (refs[0], 0, refs[1]),
        quick="",
    ),
    "view": Operation(
        "view(-1): no bytes move",
        "view",
        ("contiguous", "offset"),
        args=lambda refs, shape: (
            *refs,
            (-1,),
        ),
        quick="",
    ),
    "permute": Operation(
        "permute, all dimensions reversed: no bytes move",
        "permute",
        _COPIED,
        args=lambda refs, shape: (
            *refs,
            tuple(reversed(range(len(shape)))),
        ),
        sizes=("small", "large"),
        quick="",
    ),
    "view_chain": Operation(
        "transpose(0, 1)[1:6].permute(1, 0): no bytes move",
        "transpose",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, 0, 1),
        chain=(_method("__getitem__", (Slice(1, 6),)), _method("permute", (1, 0))),
        sizes=("small", "large"),
        quick="",
    ),
    "matmul": Operation(
        "x @ y",
        "matmul",
        ("contiguous", "transposed", MIXED, "stepped"),
        _alike(2),
        sizes=("small", "cache"),
        fill="grid1",
    ),
    "bmm": Operation(
        "x @ y, a batch of matrices",
        "matmul",
        ("contiguous", "transposed", MIXED, "stepped"),
        _alike(2),
        sizes=("small", "cache"),
        fill="grid1",
        quick="",
        kind="batches",
    ),
    "conv2d": Operation(
        "conv2d, 3 x 3, 64 channels to 64",
        "conv2d",
        ("nchw", "channels_last"),
        _image_and_filters,
        kwargs=(("padding", 1),),
        sizes=("small", "cache"),
        fill="grid1",
    ),
    "batch_norm": Operation(
        "batch_norm with the statistics of the batch",
        "nn.functional.batch_norm",
        _IMAGES,
        args=lambda refs, shape: (*refs, None, None),
        kwargs=(("training", True),),
        sizes=("small", "cache"),
        fill="grid1",
        quick="",
    ),
    "max_pool2d": Operation(
        "max_pool2d, 3 x 3, every second place",
        "nn.functional.max_pool2d",
        _IMAGES,
        args=_window,
        fill="grid1",
        sizes=("small", "cache"),
        quick="",
    ),
    "avg_pool2d": Operation(
        "avg_pool2d, 3 x 3, every second place",
        "nn.functional.avg_pool2d",
        _IMAGES,
        args=_window,
        fill="grid1",
        sizes=("small", "cache"),
        quick="",
    ),
    "embedding": Operation(
        "embedding(i, table): rows by number",
        "nn.functional.embedding",
        ("contiguous", "transposed", "stepped"),
        _table_and_indices,
        args=lambda refs, shape: (refs[1], refs[0]),
        quick="",
    ),
    "storage_clone": _storage("clone() of the whole storage", "UntypedStorage.clone"),
    "storage_double": _conversion("a storage of float32 as one of float64", "TypedStorage.double"),
    "storage_half": _conversion("a storage of float32 as one of float16", "TypedStorage.half"),
    "share_memory": Operation(
        "clone() and share_memory_() of a tensor: a copy that moves to shared memory",
        "clone",
        ("contiguous",),
        chain=(_method("share_memory_"),),
        quick="",
    ),
    "storage_share_memory": _storage(
        "clone() and share_memory_() of the whole storage",
        "UntypedStorage.clone",
        then=("UntypedStorage.share_memory_",),
    ),
    "from_file": _mapped("a file mapped privately as a storage: no bytes move before they are asked for", shared=False),
    "from_file_shared": _mapped("a file mapped shared as a storage", shared=True),
    "save_load": Operation(
        "save and load two tensors with storages of their own",
        "save_load",
        ("contiguous",),
        _alike(2),
        args=_together,
        quick="",
    ),
    "save_load_shared": Operation(
        "save and load two tensors that share a storage, which is written once",
        "save_load",
        ("contiguous",),
        args=_together,
        also=(_method("transpose", 0, 1),),
        quick="",
    ),
    "narrow": Operation(
        "narrow(0, 1, 5): no bytes move",
        "narrow",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, 0, 1, 5),
        sizes=("small", "large"),
        quick="",
    ),
    "unfold": Operation(
        "unfold(-1, 3, 1): overlapping windows, no bytes move",
        "unfold",
        ("contiguous", "transposed"),
        args=lambda refs, shape: (*refs, -1, 3, 1),
        sizes=("small", "large"),
        quick="",
    ),
}
"""Operations by the name that they have in a case; several may be the same operation of PyTorch."""
