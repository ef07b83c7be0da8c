"""Networks of shuffles: blocks of a matrix transposed in registers, streams woven together and apart.

Written as LLVM shuffles of two vectors, which any target lowers, but for `bytes_from`, which asks for AVX-512 VBMI. The
masks are chosen so that x86 has one instruction for each. A register holds `width` bytes: 64 with AVX-512, else 32.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .jit import instruction
from .llvm import I64, constant, emit_prefetch, load, meaning, shuffle, store, vector
from .plans import LINE

_LANE = 16
"""Bytes within which x86 shuffles are cheapest."""

_Values = list[Any]


def _unpacked(builder: Any, values: _Values, width: int, item: int) -> _Values:
    """Within each lane of 16 bytes, rows and columns exchanged: `16 // item` registers of as many items a lane."""
    rows = _LANE // item
    low = [
        lane * rows + k + half
        for lane in range(width // _LANE)
        for k in range(rows // 2)
        for half in (0, width // item)
    ]
    high = [place + rows // 2 for place in low]
    # Each turn interleaves register i with i + rows / 2, item by item: x86's unpack. After log2(rows) turns, row bits
    # and column bits have changed places.
    for _ in range(rows.bit_length() - 1):
        pairs = [(values[i], values[i + rows // 2]) for i in range(rows // 2)]
        values = [shuffle(builder, a, b, lanes) for a, b in pairs for lanes in (low, high)]
    return values


def _lanes_exchanged(builder: Any, values: _Values, width: int, item: int) -> _Values:
    """Registers of whole rows: their lanes of 16 bytes exchanged, so that `_unpacked` finishes the transpose."""
    lanes, rows = width // _LANE, _LANE // item
    per = width // item // lanes

    def picked(a: Any, b: Any, chosen: Sequence[int]) -> Any:
        return shuffle(builder, a, b, [lane * per + k for lane in chosen for k in range(per)])

    result: _Values = [None] * len(values)
    for k in range(rows):
        group = [values[k + rows * q] for q in range(lanes)]
        if lanes == 1:
            done = group
        elif lanes == 2:
            a, b = group
            done = [picked(a, b, (0, 2)), picked(a, b, (1, 3))]
        else:
            a, b, c, d = group
            halves = [picked(a, b, (0, 1, 4, 5)), picked(a, b, (2, 3, 6, 7))]
            halves += [picked(c, d, (0, 1, 4, 5)), picked(c, d, (2, 3, 6, 7))]
            done = [
                picked(halves[0], halves[2], (0, 2, 4, 6)),
                picked(halves[0], halves[2], (1, 3, 5, 7)),
                picked(halves[1], halves[3], (0, 2, 4, 6)),
                picked(halves[1], halves[3], (1, 3, 5, 7)),
            ]
        for q in range(lanes):
            result[k + rows * q] = done[q]
    return result


def _gathered(builder: Any, parts: _Values) -> Any:
    """Vectors put one behind the other, two by two."""
    while len(parts) > 1:
        length = parts[0].type.count
        parts = [shuffle(builder, parts[k], parts[k + 1], list(range(2 * length))) for k in range(0, len(parts), 2)]
    return parts[0]


def by_lanes(number: int, width: int, item: int) -> bool:
    """Whether streams are woven in steps that leave items in their lanes of 16 bytes.

    Any shuffle of two whole registers is one instruction with those of 64 bytes, and many with those of 32.
    """
    return width < LINE and (number == 3 or number * item <= _LANE)


def parted(builder: Any, base: Any, number: int, width: int, item: int, lanes: bool, back: int = 0) -> _Values:
    """A register of each of `number` streams that are woven at an address, by `lanes` or whole registers.

    What is read ends so many items further `back`, with the first stream's last item, of which alone it is all.
    """
    size = _LANE if lanes else width
    per, count = size // item, number * width // size
    starts = [min(k * per, count * per - back - per) for k in range(count)]
    held = [load(builder, builder.add(base, constant(at * item)), vector(size, item)) for at in starts]
    shifts = [k * per - at for k, at in enumerate(starts)]
    if not lanes:
        places = [[divmod(k * number + j, per) for k in range(per)] for j in range(number)]
        moved = [[(v, (k + shifts[v]) % per) for v, k in wanted] for wanted in places]
        return [_selected(builder, held, wanted) for wanted in moved]
    for v, shift in enumerate(shifts):
        if shift:
            held[v] = shuffle(builder, held[v], held[v], [(k + shift) % per for k in range(per)])
    # Registers of every so many pieces: a lane of one stream has its items in the same lane of these.
    held = [_gathered(builder, held[k::number]) for k in range(number)]
    if number == 3:
        places = [[divmod(k * 3 + j, per) for k in range(per)] for j in range(3)]
        return [_blended(builder, held, per, wanted) for wanted in places]
    unit = _LANE // number
    if item < unit:
        # The items of each stream are brought together, in units that `_unpacked` transposes.
        order = [k * number + j for j in range(number) for k in range(per // number)]
        held = [_within_lanes(builder, value, order) for value in held]
    return _retyped(builder, _unpacked(builder, _retyped(builder, held, unit), width, unit), item)


def woven(builder: Any, values: _Values, width: int, item: int, lanes: bool) -> _Values:
    """The opposite of `parted`: registers that follow each other, woven from one of each stream."""
    number = len(values)
    if not lanes:
        per = width // item
        return [
            _selected(builder, values, [divmod(v * per + k, number)[::-1] for k in range(per)]) for v in range(number)
        ]
    per, unit = _LANE // item, _LANE // number
    if number == 3:
        # Item k of stream j goes to place 3 k + j of its lane, whichever register that lane is put in.
        orders = [[(place - j) * pow(3, -1, per) % per for place in range(per)] for j in range(3)]
        values = [_within_lanes(builder, value, order) for value, order in zip(values, orders, strict=True)]
        streams = [[((v * per + k) % 3, k) for k in range(per)] for v in range(3)]
        values = [_blended(builder, values, per, wanted) for wanted in streams]
    else:
        values = _retyped(builder, _unpacked(builder, _retyped(builder, values, unit), width, unit), item)
        if item < unit:
            order = [j * (per // number) + k for k in range(per // number) for j in range(number)]
            values = [_within_lanes(builder, value, order) for value in values]
    pieces = [
        shuffle(builder, values[k % number], values[k % number], [k // number * per + lane for lane in range(per)])
        for k in range(number * width // _LANE)
    ]
    size = width // _LANE
    return [_gathered(builder, pieces[k : k + size]) for k in range(0, number * size, size)]


def _within_lanes(builder: Any, value: Any, order: Sequence[int]) -> Any:
    """A register whose lanes of 16 bytes all have their items in another order."""
    per = len(order)
    if list(order) == list(range(per)):
        return value
    lanes = range(0, value.type.count, per)
    return shuffle(builder, value, value, [lane + k for lane in lanes for k in order])


def _blended(builder: Any, values: _Values, per: int, wanted: Sequence[tuple[int, int]]) -> Any:
    """A register whose lanes take each item from one of some registers: named by this and its place in the lane.

    No two come from one place, so that blends bring them together and one shuffle orders them.
    """
    owner = {place: v for v, place in wanted}
    used, count = sorted(set(owner.values())), values[0].type.count
    result = values[used[0]]
    for v in used[1:]:
        result = shuffle(builder, result, values[v], [k + count * (owner[k % per] == v) for k in range(count)])
    return _within_lanes(builder, result, [place for _, place in wanted])


def _selected(builder: Any, vectors: _Values, lanes: Sequence[tuple[int, int]]) -> Any:
    """One vector whose lanes are taken from several: each named by its vector and the lane in it."""
    width = vectors[0].type.count
    if len(vectors) == 1:
        return shuffle(builder, vectors[0], vectors[0], [lane for _, lane in lanes])
    result = vectors[0]
    for k in range(1, len(vectors)):
        # A lane of a vector that comes later may hold anything until then.
        kept = [lane if (k == 1 and v == 0) else at for at, (v, lane) in enumerate(lanes)]
        result = shuffle(
            builder, result, vectors[k],
            [width + lane if v == k else kept[at] for at, (v, lane) in enumerate(lanes)],
        )  # fmt: skip
    return result


def _retyped(builder: Any, values: _Values, item: int) -> _Values:
    """The same registers, their items of another size."""
    kind = vector(values[0].type.count * values[0].type.element.width // 8, item)
    return [builder.bitcast(value, kind) for value in values]


Where = Callable[[Any, Any, Any, int], Iterator[Any]]
"""Where a number of rows begin, given where the first one does and a table or a pitch.

Code for each is written when it is asked for: registers do not suffice for all at once.
"""


def by_table(builder: Any, base: Any, table: Any, number: int) -> Iterator[Any]:
    """Addresses at offsets from a base that a table names."""
    for row in range(number):
        yield builder.add(base, load(builder, builder.add(table, constant(8 * row)), base.type))


def _by_pitch(builder: Any, base: Any, pitch: Any, number: int) -> Iterator[Any]:
    # Four rows from one address, to which a load adds a register or twice that: a chain of sums for all would be long.
    beyond = [builder.mul(pitch, constant(k)) for k in range(4)]
    for row in range(number):
        yield builder.add(base, beyond[row % 4]) if row % 4 else base
        if row % 4 == 3:
            base = builder.add(base, builder.shl(pitch, constant(2)))


def square_of(builder: Any, values: _Values, width: int, item: int) -> Iterator[Any]:
    """Registers of the columns of a square, given those of its rows; made as they are asked for."""
    values, per = _lanes_exchanged(builder, values, width, item), _LANE // item
    for q in range(0, len(values), per):
        yield from _unpacked(builder, values[q : q + per], width, item)


def columns_of(builder: Any, rows: Iterable[Any], width: int, item: int) -> _Values:
    """Registers of the 16 bytes of columns that lie at some addresses, as many as a register has items."""
    pieces, per = [load(builder, row, vector(_LANE, item)) for row in rows], _LANE // item
    return _unpacked(builder, [_gathered(builder, pieces[k::per]) for k in range(per)], width, item)


def bytes_from(builder: Any, before: Any, after: Any, first: Any) -> Any:
    """The 64 bytes of two registers from the `first` on."""
    kind = vector(LINE, 1)
    numbers = ir.Constant(ir.ArrayType(ir.IntType(8), 2 * LINE), bytearray(range(2 * LINE)))
    table = builder.ptrtoint(cgutils.global_constant(builder, "numbers", numbers), I64)  # type: ignore[no-untyped-call]
    chosen = load(builder, builder.add(table, first), kind)
    signature = ir.FunctionType(kind, [kind] * 3)
    permuted = builder.module.declare_intrinsic("llvm.x86.avx512.vpermi2var.qi.512", (), signature)
    return builder.call(permuted, [before, chosen, after])


def store_line(builder: Any, address: Any, before: Any, after: Any) -> None:
    """Store the line of an address, past the caches: `before` ends and `after` begins there."""
    shift = builder.and_(address, constant(LINE - 1))
    value = bytes_from(builder, before, after, builder.sub(constant(LINE), shift))
    store(builder, value, builder.sub(address, shift), LINE)


@instruction
def join(typingctx: Any, address: Any, kept: Any, head: Any) -> Any:
    """Store the line of an address, past the caches: what is kept ends there, and the head begins."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        before, after = (load(builder, place, vector(LINE, 1)) for place in args[1:])
        store_line(builder, args[0], before, after)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 3), generate


def _wide(read: Where, write: Where, streamed: bool, squares: int = 1) -> Any:
    """An intrinsic that transposes some squares of `width` bytes a row, one below the other: each line is read once."""

    @instruction
    def wide(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, ahead: Any, tag: Any) -> Any:
        item, width = meaning(tag)
        number = width // item

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            held = []
            read_from = read(builder, args[0], args[1], squares * number)
            # Of a row that lies on two lines the second: the first is what the block before it has read.
            asked_for = read(builder, builder.add(args[4], constant(width - 1)), args[1], squares * number)
            for _ in range(squares):
                values = []
                for address, asked in zip(islice(read_from, number), islice(asked_for, number), strict=True):
                    values.append(load(builder, address, vector(width, item)))
                    emit_prefetch(builder, asked)
                held.append(square_of(builder, values, width, item))
            # Stored as soon as they are done: those of bytes are more than there are registers.
            for line, address in zip(zip(*held, strict=True), write(builder, args[2], args[3], number), strict=True):
                for k, value in enumerate(line):
                    store(builder, value, builder.add(address, constant(k * width)), width if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp, types.intp, tag), generate

    return wide


def _tall(read: Where, write: Where, streamed: bool, height: int = 0) -> Any:
    """An intrinsic that transposes `height` bytes of rows, a register's where it is 0, by 16 bytes of columns."""

    @instruction
    def tall(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, tag: Any) -> Any:
        item, width = meaning(tag)
        per, number = _LANE // item, (height or width) // item
        width = min(height or width, width)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            # One register of each target row after the other: those of a line of bytes are more than there are.
            rows, registers = read(builder, args[0], args[1], number), range(0, number, width // item)
            parts = [columns_of(builder, islice(rows, width // item), width, item) for _ in registers]
            for values, address in zip(zip(*parts, strict=True), write(builder, args[2], args[3], per), strict=True):
                for k, value in enumerate(values):
                    store(builder, value, builder.add(address, constant(k * width)), width if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp, tag), generate

    return tall


def _flat(read: Where, write: Where) -> Any:
    """An intrinsic that transposes a register of each of as many rows as 16 bytes hold items.

    Of each row of the target these are 16 bytes, stored in its order, since one may hang over the next.
    """

    @instruction
    def flat(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, tag: Any) -> Any:
        item, width = meaning(tag)
        per = _LANE // item

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = [load(builder, row, vector(width, item)) for row in read(builder, args[0], args[1], per)]
            values = _unpacked(builder, values, width, item)
            for number, address in enumerate(write(builder, args[2], args[3], width // item)):
                lane, k = divmod(number, per)
                store(builder, shuffle(builder, values[k], values[k], [lane * per + j for j in range(per)]), address)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp, tag), generate

    return flat


wide_direct = _wide(by_table, by_table, False)
wide_streamed = _wide(by_table, by_table, True)
pair_streamed = _wide(by_table, by_table, True, 2)
wide_packed = _wide(by_table, _by_pitch, False)
tall_direct = _tall(_by_pitch, by_table, False)
tall_streamed = _tall(_by_pitch, by_table, True)
tall_pair = _tall(_by_pitch, by_table, True, 2 * LINE)
tall_packed = _tall(_by_pitch, _by_pitch, False)
narrow_packed = _tall(_by_pitch, _by_pitch, False, _LANE)
flat_packed = _flat(_by_pitch, _by_pitch)
line_direct = _tall(by_table, by_table, False, LINE)
line_streamed = _tall(by_table, by_table, True, LINE)
line_pair = _tall(by_table, by_table, True, 2 * LINE)
line_packed = _tall(by_table, _by_pitch, False, LINE)
even_direct = _tall(_by_pitch, _by_pitch, False, LINE)
even_streamed = _tall(_by_pitch, _by_pitch, True, LINE)
"""Blocks transposed. `wide`, `pair` and `line` read rows that a table of offsets names, the others rows at one distance
from each other, as in a buffer; `even` and what is `_packed` write to such rows, the others to rows that a table names,
`_streamed` and pairs past the caches. A `line` is one of each target row, though a register may hold half of it: both
halves are stored one after the other, and of a pair two lines."""
