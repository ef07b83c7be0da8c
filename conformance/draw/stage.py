"""Operands that are drawn for one operation: shapes that fit each other, layouts that differ as they like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..layout import addressed, extent
from ..program import ITEMSIZES, Input, Ref, Step, Storage
from .layouts import MAX_SPAN, Drawn, draw_layout
from .source import Source, weighted
from .steps import ODD

FILLS = {
    "float16": "half1", "bfloat16": "half1", "float32": "single1", "complex64": "single1", "float64": "double1",
    "complex128": "double1", "bool": "bool1",
}  # fmt: skip
ODD_FILLS = {dtype: f"odd_{fill}" for dtype, fill in FILLS.items() if fill != "bool1"} | dict.fromkeys(
    ("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"), "odd_quarter1"
)
"""Numbers that are seldom: operations treat NaN, infinities, zeros and halves each in a way of its own."""
SELDOM = 6
"""Percent of tensors that hold such."""
SAME_ORDER = 12
"""Percent of tensors that lie as an earlier one of their shape does."""
REAL = ((50, "float32"), (20, "float64"), (12, "bfloat16"), (8, "float16"))
"""(weight, dtype): what images and products are computed in."""
NUMBERS = (*REAL, (15, "int64"), (5, "int16"), (5, "uint8"), (10, "complex64"), (4, "complex128"))
"""(weight, dtype): numbers of every kind."""
ALL = (*NUMBERS, (10, "bool"))


class Stage:
    """Collects storages and inputs; `tensor` and `indices` answer with the reference to the input that they add.

    `made` adds a step, after which there are no more inputs.
    """

    def __init__(self, source: Source, dtype: str) -> None:
        self.source = source
        self.dtype = dtype
        self.storages: list[Storage] = []
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        """What is done before the operation."""

    def tensor(
        self,
        shape: tuple[int, ...],
        *,
        dtype: str | None = None,
        kind: str | None = None,
        beside: Ref | None = None,
        grad: bool = True,
        tame: bool = False,
        seldom: int = SELDOM,
        most: int = MAX_SPAN,
        alike: int = SAME_ORDER,
    ) -> Ref:
        """A tensor of that shape in any layout, or one of that kind; at times in the memory of `beside`.

        It reaches over `most` elements, unless row-major. A `tame` one has numbers of like magnitude, whose squares
        no dtype is too small for; of others `seldom` percent have numbers that are seldom. `alike` percent lie as an
        earlier one of that shape does.
        """
        source, dtype = self.source, dtype or self.dtype
        drawn = draw_layout(source, shape=shape, kind=kind, most=most)
        # Loops go over operands that lie alike in the order that they lie in.
        kin = [item for item in self.inputs if item.shape == shape]
        if kin and kind is None and source.chance(alike):
            _, last = extent(shape, kin[0].strides, kin[0].offset)
            drawn = Drawn(shape, kin[0].strides, kin[0].offset, max(last, kin[0].offset))
        nbytes = drawn.reach * ITEMSIZES[dtype]
        if beside is not None and source.chance(14):
            number, other = self.inputs[beside.slot].storage, self.inputs[beside.slot].dtype
            old = self.storages[number]
            # In another dtype the bytes are numbers where they are no pattern for one.
            converts = old.fill == "ramp1" and "bool" not in (dtype, other)
            if converts or (dtype == other and old.fill != "literal"):
                self.storages[number] = Storage(max(old.nbytes, nbytes), old.fill, old.backing)
                return self._add(Input(dtype, drawn.shape, drawn.strides, drawn.offset, number))
        fill = FILLS.get(dtype, "ramp1") if tame or dtype == "bool" or source.chance(75) else "ramp1"
        if not tame and dtype in ODD_FILLS and source.chance(seldom):
            fill = ODD_FILLS[dtype]
        backing = "guarded" if source.chance(20) else "owned"
        self.storages.append(Storage(nbytes + source.integer(0, 3) * ITEMSIZES[dtype], fill, backing))
        wants_grad = grad and source.chance(5) and dtype.startswith(("float", "bfloat", "complex"))
        where = len(self.storages) - 1
        return self._add(Input(dtype, drawn.shape, drawn.strides, drawn.offset, where, wants_grad))

    def laid(self, drawn: Drawn, dtype: str) -> Ref:
        """A tensor in just that layout, in memory of its own with some more behind."""
        nbytes = drawn.reach * ITEMSIZES[dtype] + self.source.integer(0, 16)
        self.storages.append(Storage(nbytes, "bool1" if dtype == "bool" else "ramp1"))
        return self._add(Input(dtype, drawn.shape, drawn.strides, drawn.offset, len(self.storages) - 1))

    def indices(
        self,
        shape: tuple[int, ...],
        limit: int,
        *,
        dtype: str = "",
        low: int = 0,
        distinct: bool = False,
        sure: bool = False,
    ) -> Ref:
        """Indices from `low` to below `limit`, `distinct` ones where they fit; rarely one outside, unless `sure`.

        They are of int64 unless another dtype is asked for, some of int32: most that take the one take the other.
        """
        source = self.source
        dtype = dtype or ("int32" if source.chance(8) else "int64")
        drawn = draw_layout(source, shape=shape)
        if limit <= low:
            limit = low + 1
        if distinct:
            # Every second to fourth index, so that the order of elements in memory shows.
            step = source.choice([s for s in (1, 2, 3) if s == 1 or limit % s] or [1])
            numbers = [low + i * step % (limit - low) for i in range(drawn.reach)]
        else:
            numbers = [source.integer(low, limit - 1) for _ in range(drawn.reach)]
        if numbers and not sure and source.chance(ODD // 2):
            numbers[drawn.offset if drawn.offset < len(numbers) else 0] = limit
        data = b"".join(n.to_bytes(ITEMSIZES[dtype], "little", signed=True) for n in numbers)
        return self._over(data, dtype, drawn)

    def counting(self, shape: tuple[int, ...]) -> Ref:
        """A tensor of an integer dtype that counts from 1 in row-major order, wherever its elements lie."""
        drawn = draw_layout(self.source, shape=shape, kind="permuted")
        width = ITEMSIZES[self.dtype]
        numbers = bytearray(drawn.reach * width)
        for count, place in enumerate(addressed(shape, drawn.strides, drawn.offset), 1):
            numbers[place * width] = count % 128
        return self._over(bytes(numbers), self.dtype, drawn)

    def extreme(self, shape: tuple[int, ...], dtype: str) -> Ref:
        """A tensor of integers that hold the smallest and the largest number, -1, 0 and 1, wherever they lie."""
        drawn, width = draw_layout(self.source, shape=shape), ITEMSIZES[dtype]
        top = 1 << 8 * width - (not dtype.startswith("u"))
        found = (top - 1, 0 if dtype.startswith("u") else top, 2 * top - 1, 1, 0)
        numbers = [self.source.choice(found) % (1 << 8 * width) for _ in range(drawn.reach)]
        return self._over(b"".join([n.to_bytes(width, "little") for n in numbers]), dtype, drawn)

    def made(self, step: Step) -> Ref:
        """An operand that a step makes of those that there are."""
        self.steps.append(step)
        return Ref(len(self.inputs) + len(self.steps) - 1)

    def _over(self, data: bytes, dtype: str, drawn: Drawn) -> Ref:
        """A tensor over a storage of these bytes."""
        self.storages.append(Storage(len(data), "literal", "owned", data))
        return self._add(Input(dtype, drawn.shape, drawn.strides, drawn.offset, len(self.storages) - 1))

    def _add(self, item: Input) -> Ref:
        assert not self.steps, "inputs have slots before all steps"
        self.inputs.append(item)
        return Ref(len(self.inputs) - 1)


Scene: TypeAlias = Callable[[Source], tuple[Stage, Step]]
"""Draws the inputs of one operation, and the step that it is."""


def on(dtypes: tuple[tuple[int, str], ...], draw: Callable[[Stage], Step]) -> Scene:
    """A scene whose tensors are of one of these dtypes unless they say otherwise."""

    def scene(source: Source) -> tuple[Stage, Step]:
        stage = Stage(source, weighted(source, dtypes))
        return stage, draw(stage)

    return scene


def step(op: str, *args: object, **keywords: object) -> Step:
    """A step, its keywords in the order that programs have them in."""
    return Step(op, args, tuple(sorted(keywords.items())))
