"""Networks of shuffles: blocks of a matrix transposed in registers, streams woven together and apart.

Written as LLVM shuffles of two vectors, which any target lowers; the masks are chosen so that x86 has one instruction
for each. A register holds `width` bytes: 64 with AVX-512, 32 with AVX2.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from numba import types

from .jit import instruction
from .llvm import LINE, constant, load, meaning, prefetch, shuffle, store, vector

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


Where = Callable[[Any, Any, Any, int], Iterator[Any]]
"""Where a number of rows begin, given where the first one does and a table or a pitch.

Code for each is written when it is asked for: registers do not suffice for all at once.
"""


def _by_table(builder: Any, base: Any, table: Any, number: int) -> Iterator[Any]:
    for row in range(number):
        yield builder.add(base, load(builder, builder.add(table, constant(8 * row)), base.type))


def _by_pitch(builder: Any, base: Any, pitch: Any, number: int) -> Iterator[Any]:
    return accumulate([base, *[pitch] * (number - 1)], builder.add)


def _wide(read: Where, write: Where, streamed: bool) -> Any:
    """An intrinsic that transposes a square of `width` bytes a row: each line of the source is read once."""

    @instruction
    def wide(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, ahead: Any, word: Any) -> Any:
        item, width = meaning(word)
        number = width // item

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = []
            later = read(builder, args[4], args[1], number)
            for address, asked in zip(read(builder, args[0], args[1], number), later, strict=True):
                values.append(load(builder, address, vector(width, item)))
                prefetch(builder, asked)
            values = _lanes_exchanged(builder, values, width, item)
            per = _LANE // item
            for q in range(width // _LANE):
                values[q * per : (q + 1) * per] = _unpacked(builder, values[q * per : (q + 1) * per], width, item)
            for value, address in zip(values, write(builder, args[2], args[3], number), strict=True):
                store(builder, value, address, width if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp, types.intp, word), generate

    return wide


def _tall(read: Where, write: Where, streamed: bool, height: int = 0) -> Any:
    """An intrinsic that transposes `height` bytes of rows, a register's where it is 0, by 16 bytes of columns."""

    @instruction
    def tall(typingctx: Any, src: Any, rows: Any, dst: Any, columns: Any, word: Any) -> Any:
        item, width = meaning(word)
        width = height or width
        per, lanes = _LANE // item, width // _LANE

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pieces = [load(builder, row, vector(_LANE, item)) for row in read(builder, args[0], args[1], per * lanes)]
            values = _unpacked(builder, [_gathered(builder, pieces[k::per]) for k in range(per)], width, item)
            for value, address in zip(values, write(builder, args[2], args[3], per), strict=True):
                store(builder, value, address, width if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp, word), generate

    return tall


wide_direct = _wide(_by_table, _by_table, False)
wide_streamed = _wide(_by_table, _by_table, True)
wide_packed = _wide(_by_table, _by_pitch, False)
tall_direct = _tall(_by_pitch, _by_table, False)
tall_streamed = _tall(_by_pitch, _by_table, True)
tall_packed = _tall(_by_pitch, _by_pitch, False)
narrow_packed = _tall(_by_pitch, _by_pitch, False, _LANE)
line_direct = _tall(_by_table, _by_table, False, LINE)
line_streamed = _tall(_by_table, _by_table, True, LINE)
line_packed = _tall(_by_table, _by_pitch, False, LINE)
even_direct = _tall(_by_pitch, _by_pitch, False, LINE)
even_streamed = _tall(_by_pitch, _by_pitch, True, LINE)
"""Blocks transposed. `wide` and `line` read rows that a table of offsets names, the others rows of a buffer; `_packed`
writes to a buffer, the others to rows that a table names, `_streamed` past the caches. A `line` is one of each target
row, though a register may hold half of it: both halves are stored one after the other."""
