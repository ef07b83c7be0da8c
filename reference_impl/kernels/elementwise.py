"""Kernels of arithmetic: rows of one, two or three sides, tile by tile (`elementwise_plan.py`).

The operation is part of the kernel, the number that it works on is told by the *type* of an argument (`llvm.TAGS`).
Vectors are as LLVM has them, 64 bytes long: it makes two registers of each where they are shorter.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .descriptor import DONE, NEAR, NO_MEMORY
from .elementwise_plan import (
    BINARY,
    BUFFERS,
    FIRST,
    FOLDED,
    HIGHS,
    INNER,
    ITEMS,
    LOADS,
    LOOKED_AT,
    LOWS,
    OFFSETS,
    OUTER,
    REDUCTIONS,
    ROW,
    ROW_STEPS,
    ROWS,
    SHIFTS,
    STEPS,
    STORES,
    STREAMED,
    UNARY,
    WORK,
)
from .jit import instruction, part
from .llvm import (
    call_at,
    constant,
    fence,
    field,
    free,
    load,
    malloc,
    odometer,
    on_line,
    on_stack,
    peek,
    poke,
    prefetch,
    prefetch_for_write,
    shuffle,
    store,
)
from .plans import LINE

_BLOCK = 4 * LINE
"""Bytes that are worked on at once."""
_cells = on_stack(40)
"""Where copies go from and to: three sides' places that buffers hold, then source and target."""
_repeated = on_stack(LINE + 2 * _BLOCK + 8)
"""Operands that are repeated, and how many rows are worked on."""
_ABREAST = 4
"""Rows that are added to one at a time: they are read from as many places, and the sums wait in registers."""
_AHEAD = 2048
"""How far ahead operands are asked for, in bytes, where the target is stored past the caches."""


def _vector(number: Any, nbytes: int) -> Any:
    """The LLVM vector of so many bytes of numbers of a Numba type."""
    if number == types.float32:
        kind: Any = ir.FloatType()
    elif number == types.float64:
        kind = ir.DoubleType()
    else:
        kind = ir.IntType(number.bitwidth)
    return ir.VectorType(kind, nbytes * 8 // number.bitwidth)


def _result(builder: Any, name: str, number: Any, a: Any, b: Any) -> Any:
    """What an operation makes of two vectors, the second of which a unary one does not look at."""
    real = isinstance(number, types.Float)
    zero = ir.Constant(a.type, None)

    def holds(relation: str, x: Any, y: Any) -> Any:
        if real:
            return builder.fcmp_ordered(relation, x, y)
        return (builder.icmp_signed if number.signed else builder.icmp_unsigned)(relation, x, y)

    if name == "neg":
        return builder.fneg(a) if real else builder.sub(zero, a)
    if name == "abs":
        if not real:
            return builder.select(holds("<", a, zero), builder.sub(zero, a), a)
        bits = ir.VectorType(ir.IntType(number.bitwidth), a.type.count)
        sign = ir.Constant(bits, [(1 << number.bitwidth - 1) - 1] * bits.count)
        return builder.bitcast(builder.and_(builder.bitcast(a, bits), sign), a.type)
    if name == "relu":
        # A NaN is no less than zero: it stays what it is.
        return builder.select(holds("<", a, zero), zero, a)
    if name in ("maximum", "minimum"):
        first = holds(">=" if name == "maximum" else "<=", a, b)
        if real:
            first = builder.or_(first, builder.fcmp_unordered("uno", a, a))
        return builder.select(first, a, b)
    words = {"add": ("fadd", "add"), "sub": ("fsub", "sub"), "mul": ("fmul", "mul"), "square": ("fmul", "mul")}
    return getattr(builder, words[name][not real])(a, a if name == "square" else b)


def _pieces(number: Any, most: int) -> list[int]:
    """Powers of two of bytes below `most`, down to one number: any row that is shorter is made of some of them."""
    sizes = [most >> k for k in range(1, most.bit_length())]
    return [size for size in sizes if size * 8 >= number.bitwidth]


@instruction
def _spread(typingctx: Any, address: Any, to: Any, number: Any) -> Any:
    """Repeat the number at an address so often that it fills a block."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = _vector(number, LINE)
        one = load(builder, args[0], _vector(number, number.bitwidth // 8))
        line = shuffle(builder, one, one, [0] * kind.count)
        for k in range(0, _BLOCK, LINE):
            store(builder, line, builder.add(args[1], constant(k)))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, number), generate


def _block(name: str, nbytes: int, streamed: bool) -> Any:
    """An intrinsic that works on a block, or on a line."""

    @instruction
    def block(typingctx: Any, out: Any, x: Any, y: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            out, *sides = args[:3]
            kind, offsets = _vector(number, LINE), [constant(k) for k in range(0, nbytes, LINE)]
            values = [[load(builder, builder.add(side, at), kind) for side in sides] for at in offsets]
            for at, (a, b) in zip(offsets, values, strict=True):
                store(builder, _result(builder, name, number, a, b), builder.add(out, at), LINE if streamed else 0)
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, number), generate

    return block


def _item(name: str) -> Any:
    """An intrinsic that works on one number."""

    @instruction
    def item(typingctx: Any, out: Any, x: Any, y: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = _vector(number, number.bitwidth // 8)
            a, b = (load(builder, side, kind) for side in args[1:3])
            store(builder, _result(builder, name, number, a, b), args[0])
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, number), generate

    return item


def _several(name: str, nbytes: int) -> Any:
    """An intrinsic that adds a block of some rows, or a line, to one, in the rows' order."""

    @instruction
    def several(typingctx: Any, out: Any, y: Any, step: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            out, y, step = args[:3]
            kind, offsets = _vector(number, LINE), [constant(k) for k in range(0, nbytes, LINE)]
            sums = [load(builder, builder.add(out, at), kind) for at in offsets]
            for _ in range(_ABREAST):
                values = [load(builder, builder.add(y, at), kind) for at in offsets]
                sums = [_result(builder, name, number, *pair) for pair in zip(sums, values, strict=True)]
                y = builder.add(y, step)
            for at, value in zip(offsets, sums, strict=True):
                store(builder, value, builder.add(out, at))
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, number), generate

    return several


def _rest(name: str) -> Any:
    """An intrinsic that works on fewer bytes than a line has."""

    @instruction
    def rest(typingctx: Any, out: Any, x: Any, y: Any, nbytes: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            out, *sides, nbytes = args[:4]
            for size in _pieces(number, LINE):
                with builder.if_then(builder.icmp_signed("!=", builder.and_(nbytes, constant(size)), constant(0))):
                    at = builder.and_(nbytes, constant(-2 * size))
                    a, b = (load(builder, builder.add(side, at), _vector(number, size)) for side in sides)
                    store(builder, _result(builder, name, number, a, b), builder.add(out, at))
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, types.intp, number), generate

    return rest


def _rows(row_of: Callable[..., None], several_of: Callable[..., None] | None = None) -> Any:
    """What works on some rows, given what works on one; how many they are stands behind the repeated operands.

    `several_of` adds `_ABREAST` rows at once to one that stays where it is.
    """

    @part
    def rows(descriptor: int, out: int, x: int, y: int, blocks: int, number: Any) -> int:
        left = peek(blocks + 2 * _BLOCK)
        if several_of is not None:
            stays = field(descriptor, ROW_STEPS) == 0 and out == x
            stays = stays and field(descriptor, ITEMS) == 0 and field(descriptor, STEPS + 2) != 0
            while stays and left >= _ABREAST:
                several_of(descriptor, out, y, number)
                y += _ABREAST * field(descriptor, ROW_STEPS + 2)
                left -= _ABREAST
        for _ in range(left):
            row_of(descriptor, out, x, y, blocks, number)
            out += field(descriptor, ROW_STEPS)
            x += field(descriptor, ROW_STEPS + 1)
            y += field(descriptor, ROW_STEPS + 2)
        return DONE

    return rows


def _applied(name: str) -> Any:
    """The rows of an elementwise operation."""
    block, line = _block(name, _BLOCK, False), _block(name, LINE, False)
    block_past, line_past = _block(name, _BLOCK, True), _block(name, LINE, True)
    rest, item, two = _rest(name), _item(name), name in BINARY

    @part
    def row_of(descriptor: int, out: int, x: int, y: int, blocks: int, number: Any) -> None:
        nbytes, step = field(descriptor, ROW), field(descriptor, STEPS)
        x_step, y_step = field(descriptor, STEPS + 1), field(descriptor, STEPS + 2)
        if field(descriptor, ITEMS):
            for _ in range(field(descriptor, ITEMS)):
                item(out, x, y, number)
                out += step
                x += x_step
                y += y_step
            return
        # An operand that stands still is repeated, once for the row, and blocks are read from there.
        x_moves, y_moves = -(x_step != 0), -(y_step != 0)
        if x_step == 0:
            _spread(x, blocks, number)
            x = blocks
        if two and y_step == 0:
            _spread(y, blocks + _BLOCK, number)
            y = blocks + _BLOCK
        at = 0
        # Of numbers that lie across two lines no line is made of whole ones.
        if field(descriptor, STREAMED) and out & (step - 1) == 0:
            at = min(-out & (LINE - 1), nbytes)
            rest(out, x, y, at, number)
            while nbytes - at >= _BLOCK:
                for k in range(0, _BLOCK, LINE):
                    prefetch(x + (at + k + _AHEAD & x_moves))
                    if two:
                        prefetch(y + (at + k + _AHEAD & y_moves))
                block_past(out + at, x + (at & x_moves), y + (at & y_moves), number)
                at += _BLOCK
            while nbytes - at >= LINE:
                line_past(out + at, x + (at & x_moves), y + (at & y_moves), number)
                at += LINE
        else:
            while nbytes - at >= _BLOCK:
                block(out + at, x + (at & x_moves), y + (at & y_moves), number)
                at += _BLOCK
            while nbytes - at >= LINE:
                line(out + at, x + (at & x_moves), y + (at & y_moves), number)
                at += LINE
        rest(out + at, x + (at & x_moves), y + (at & y_moves), nbytes - at, number)

    if name not in REDUCTIONS.values():
        return _rows(row_of)
    some, some_lines = _several(name, _BLOCK), _several(name, LINE)

    @part
    def several_of(descriptor: int, out: int, y: int, number: Any) -> None:
        nbytes, step, at = field(descriptor, ROW), field(descriptor, ROW_STEPS + 2), 0
        while nbytes - at >= _BLOCK:
            some(out + at, y + at, step, number)
            at += _BLOCK
        while nbytes - at >= LINE:
            some_lines(out + at, y + at, step, number)
            at += LINE
        for _ in range(_ABREAST if at < nbytes else 0):
            rest(out + at, out + at, y + at, nbytes - at, number)
            y += step

    return _rows(row_of, several_of)


def _folded(name: str) -> Any:
    """The rows of a reduction along them: each is reduced to one number, in an order that its length alone decides."""

    @instruction
    def fold(typingctx: Any, out: Any, x: Any, nbytes: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            out, x, nbytes = args[:3]
            one = _vector(number, number.bitwidth // 8)

            def include(values: list[Any]) -> None:
                # Halves are put together until one number is left.
                while len(values) > 1:
                    values = [
                        _result(builder, name, number, *pair) for pair in zip(values[::2], values[1::2], strict=True)
                    ]
                value = values[0]
                while (count := value.type.count) > 1:
                    halves = [shuffle(builder, value, value, list(range(k, k + count // 2))) for k in (0, count // 2)]
                    value = _result(builder, name, number, *halves)
                store(builder, _result(builder, name, number, load(builder, out, one), value), out)

            def lines(at: Any) -> list[Any]:
                places = [builder.add(x, builder.add(at, constant(k))) for k in range(0, _BLOCK, LINE)]
                return [load(builder, place, _vector(number, LINE)) for place in places]

            whole = builder.and_(nbytes, constant(-_BLOCK))
            with builder.if_then(builder.icmp_signed(">", whole, constant(0))):
                kept = [cgutils.alloca_once(builder, _vector(number, LINE)) for _ in range(0, _BLOCK, LINE)]  # type: ignore[no-untyped-call]
                for place, value in zip(kept, lines(constant(0)), strict=True):
                    builder.store(value, place)
                with cgutils.for_range_slice(builder, constant(_BLOCK), whole, constant(_BLOCK)) as (at, _):
                    for place, value in zip(kept, lines(at), strict=True):
                        builder.store(_result(builder, name, number, builder.load(place), value), place)
                include([builder.load(place) for place in kept])
            for size in _pieces(number, _BLOCK):
                with builder.if_then(builder.icmp_signed("!=", builder.and_(nbytes, constant(size)), constant(0))):
                    at = builder.add(x, builder.and_(nbytes, constant(-2 * size)))
                    steps = range(0, size, LINE)
                    include(
                        [load(builder, builder.add(at, constant(k)), _vector(number, min(size, LINE))) for k in steps]
                    )
            return context.get_dummy_value()

        return types.void(types.intp, types.intp, types.intp, number), generate

    @part
    def row_of(descriptor: int, out: int, x: int, y: int, blocks: int, number: Any) -> None:
        nbytes = field(descriptor, ROW)
        while nbytes > 0:
            fold(out, x, min(nbytes, FOLDED), number)
            nbytes -= FOLDED
            x += FOLDED

    return _rows(row_of)


@part
def _placed(loops: int, number: int, index: int, task: int, out: int, x: int, y: int) -> tuple[int, int, int]:
    """Set an odometer to a task, and answer where it is on each side."""
    for k in range(number - 1, -1, -1):
        at = loops + 32 * k
        turn = task % peek(at)
        task //= peek(at)
        poke(index + 8 * k, turn)
        out += turn * peek(at + 8)
        x += turn * peek(at + 16)
        y += turn * peek(at + 24)
    return out, x, y


@part
def _advanced(loops: int, number: int, index: int, out: int, x: int, y: int) -> tuple[int, int, int]:
    """Go on to the next task."""
    k = number - 1
    while k >= 0:
        at = loops + 32 * k
        length, turn = peek(at), peek(index + 8 * k) + 1
        out += peek(at + 8)
        x += peek(at + 16)
        y += peek(at + 24)
        if turn < length:
            poke(index + 8 * k, turn)
            break
        poke(index + 8 * k, 0)
        out -= length * peek(at + 8)
        x -= length * peek(at + 16)
        y -= length * peek(at + 24)
        k -= 1
    return out, x, y


_COPY = 48
"""Bytes of what is told of a copy."""


@part
def _prefetch_next(copy: int, turn: int, turns: int, out: int, x: int, y: int) -> None:
    """Ask for this turn's share of what the next tile copies to a buffer, or from one."""
    side, table, number = peek(copy), peek(copy + 32), peek(copy + 40)
    base = x if side == 1 else y if side == 2 else out
    for k in range(number * turn // turns, number * (turn + 1) // turns):
        line = base + peek(table + 8 * k)
        if side:
            prefetch(line)
        else:
            prefetch_for_write(line)


@part
def _near(descriptor: int, out_cell: int, cell: int, operand: int) -> Any:
    """Whether an operand is looked at, and reaches into the same range of memory as the target."""
    out, x = peek(out_cell), peek(cell)
    at = descriptor + 8 * (operand + 1)
    return (
        field(descriptor, LOOKED_AT + operand) != 0
        and out + field(descriptor, LOWS) < x + peek(at + 8 * HIGHS)
        and x + peek(at + 8 * LOWS) < out + field(descriptor, HIGHS)
    )


apply_neg, apply_abs, apply_relu, apply_square = (_applied(name) for name in UNARY)
apply_add, apply_sub, apply_mul, apply_maximum, apply_minimum = (_applied(name) for name in BINARY)
fold_add, fold_mul, fold_maximum, fold_minimum = (_folded(name) for name in REDUCTIONS.values())
"""What rows are worked on with; `objects.arithmetic` names them."""


@part
def operate(descriptor: int, out_cell: int, x_cell: int, y_cell: int, tasks: int, tag: Any) -> int:
    """Work on tiles, from the task in the lower half of `tasks` up to the one in its upper half, row by row.

    A cell is the address of a pointer, as for copies. Answers DONE, NEAR or NO_MEMORY.
    """
    tiles, turns = odometer(), odometer()
    cells, blocks = _cells(), on_line(_repeated())
    held, source, target = cells, cells + 24, cells + 32
    if _near(descriptor, out_cell, x_cell, 0) or _near(descriptor, out_cell, y_cell, 1):
        return NEAR
    memory = 0
    if field(descriptor, BUFFERS):
        memory = malloc(field(descriptor, BUFFERS) + LINE)
        if memory == 0:
            return NO_MEMORY
    buffers = on_line(memory)
    outer, inner = field(descriptor, OUTER), field(descriptor, INNER)
    outer_loops = descriptor + 8 * FIRST
    inner_loops = outer_loops + 32 * outer
    copies = inner_loops + 32 * inner
    loads, stores = field(descriptor, LOADS), field(descriptor, STORES)
    work, rows = field(descriptor, WORK), field(descriptor, ROWS)
    groups, answer = 1, DONE
    for k in range(inner):
        groups *= peek(inner_loops + 32 * k)
    for k in range(3):
        poke(held + 8 * k, 0)
    out = peek(out_cell) + field(descriptor, SHIFTS)
    x = peek(x_cell) + field(descriptor, SHIFTS + 1)
    y = peek(y_cell) + field(descriptor, SHIFTS + 2)
    first, last = tasks & 0xFFFFFFFF, tasks >> 32
    out, x, y = _placed(outer_loops, outer, tiles, first, out, x, y)
    for _ in range(first, last):
        at = copies
        for _k in range(loads):
            side = peek(at)
            poke(source, x if side == 1 else y)
            poke(target, buffers + field(descriptor, OFFSETS + side))
            # Of an operand that is repeated the buffer most often holds already what a tile needs.
            if peek(held + 8 * side) != peek(source):
                answer = max(answer, call_at(peek(at + 8), peek(at + 16), target, source, 0, peek(at + 24)))
            at += _COPY
        if answer != DONE:
            break
        poke(held + 8, x)
        poke(held + 16, y)
        to = out if field(descriptor, OFFSETS) < 0 else buffers + field(descriptor, OFFSETS)
        a = x if field(descriptor, OFFSETS + 1) < 0 else buffers + field(descriptor, OFFSETS + 1)
        b = y if field(descriptor, OFFSETS + 2) < 0 else buffers + field(descriptor, OFFSETS + 2)
        poke(target, out)
        poke(source, to)
        out, x, y = _advanced(outer_loops, outer, tiles, out, x, y)
        to, a, b = _placed(inner_loops, inner, turns, 0, to, a, b)
        for turn in range(groups):
            if loads + stores == 0:
                poke(blocks + 2 * _BLOCK, rows)
                call_at(work, descriptor, to, a, b, blocks)
            else:
                # Row by row, so that what the next tile copies is asked for little by little.
                poke(blocks + 2 * _BLOCK, 1)
                for k in range(rows):
                    steps = descriptor + 8 * ROW_STEPS
                    call_at(
                        work,
                        descriptor,
                        to + k * peek(steps),
                        a + k * peek(steps + 8),
                        b + k * peek(steps + 16),
                        blocks,
                    )
                    for copy in range(loads + stores):
                        _prefetch_next(copies + _COPY * copy, turn * rows + k, groups * rows, out, x, y)
            to, a, b = _advanced(inner_loops, inner, turns, to, a, b)
        for _k in range(stores):
            answer = max(answer, call_at(peek(at + 8), peek(at + 16), target, source, 0, peek(at + 24)))
            at += _COPY
    if field(descriptor, STREAMED):
        fence()
    if memory:
        free(memory)
    return answer
