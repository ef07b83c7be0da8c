"""Plans of arithmetic: in which order layouts are gone through, in what tiles, and which of them by way of a buffer.

A row is what all sides go through at once, item by item or standing still. A side that does not do so in the order that
is chosen is copied to a buffer, tile by tile, by the plans that any copy has; a target is copied from one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import inf, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .normal import Normal, normal
from .plans import LINE

UNARY = ("neg", "abs", "relu", "square")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "maximum", "amin": "minimum"}
"""Names of operations, and of those that reductions go on with."""
ORDERED = ("abs", "relu", "maximum", "minimum")
"""Those that compare: of integers, only these depend on whether they have a sign."""

SHIFTS, OFFSETS = 0, 3
"""Where a kernel finds what it is told, in a row of 8-byte integers. Three entries each, of the target and two
operands: bytes from the first element to where the tiles begin; where the side's part of the buffers begins, or -1."""
STEPS = 6
"""Three entries: bytes from one item of a row to the next."""
ROW, ITEMS, STREAMED, BUFFERS = 9, 10, 11, 12
"""Bytes of a row; how many items it has where these are worked on one by one, or 0; whether it is stored past the
caches; bytes of all buffers."""
LOADS, STORES, OUTER, INNER = 13, 14, 15, 16
"""Numbers of copies before a tile and behind it; of loops over tiles, and over the groups of rows of one."""
WORK = 17
"""Address of the function that works on some rows."""
LOOKED_AT, LOWS, HIGHS = 18, 20, 23
"""Whether each operand is looked at, since it may share memory with the target; from each side's first element to the
first byte that it reaches, and to behind the last."""
ROWS, ROW_STEPS = 26, 27
"""Rows of a group, and three entries: bytes from one to the next."""
FIRST = 30
"""Where the loops begin, outermost first: a length and three steps in bytes. Behind them each copy: its place among the
three; its kernel's address, descriptor and tasks; the table of lines that are asked for, and how many these are."""

_TILE, _BUFFERED_TILE = 256 << 10, 64 << 10
"""Bytes of a tile; where some side goes through a buffer the second-level cache must hold all of them."""
_RUN, _TOGETHER = 1024, 256
"""Bytes of a row in such a tile, and of what lies together in a side that goes through a buffer."""
FOLDED = 16 << 10
"""Bytes of a row that is reduced at once: what it is added to stays in the first-level cache, sums are sums of sums."""
_LOAD, _STORE, _ROW, _ITEM = 0.5, 1.5, 64, 5
"""What it costs to copy a byte to a buffer and from one, to begin a row, and to work on one item by itself: in bytes
that are worked on in rows, each of which costs as much as any other whatever is chosen."""
_KEPT = 4096
"""Bytes of an operand that is copied to its buffer but once, since most tiles find there what they need."""

_LONG = 2048
"""Bytes in one piece that hardware asks for by itself."""
_ASKED = 4096
"""Lines of a tile that are asked for, at most: not those of elements of which each lies in another."""


class Axis(NamedTuple):
    """One loop: its length, and how many bytes each side goes on from one turn to the next."""

    length: int
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """Layouts of one shape, in the order that they are gone through."""

    dims: tuple[Axis, ...]
    """Outermost first, neighbours merged where all sides step evenly; the target is the first side."""
    item: int
    shifts: tuple[int, ...]
    """Bytes from each side's first element to where the loops begin: not 0 where a dimension was turned."""
    buffered: frozenset[int]
    """Sides that go through a buffer."""
    by_items: bool = False
    """Whether items are worked on one by one, wherever they lie."""

    @property
    def sides(self) -> range:
        """All sides: the target, then the operands."""
        return range(len(self.shifts))

    @property
    def direct(self) -> list[int]:
        """Those that go through no buffer."""
        return [k for k in self.sides if k not in self.buffered]

    @property
    def nbytes(self) -> int:
        """Bytes of one side, as if each element lay apart."""
        return self.item * prod(d.length for d in self.dims)

    @property
    def touched(self) -> int:
        """Bytes of the elements of all sides, none counted twice."""
        return sum(self.item * prod(d.length for d in self.dims if d.steps[k]) for k in self.sides)


@dataclass(frozen=True)
class Region:
    """Tiles of one shape: all of a form's, or those at its edges."""

    starts: tuple[int, ...]
    """Bytes on each side from where the form's loops begin to where the tiles do."""
    outer: tuple[Axis, ...]
    """Loops over tiles."""
    inner: tuple[Axis, ...]
    """Loops over the rows of a tile, and the row itself last; steps of a side that goes through a buffer lie there."""
    offsets: tuple[int, ...]
    """Where each side's part of the buffers begins, -1 for none."""
    buffers: int
    """Bytes of all of them."""
    copies: tuple[tuple[int, Normal], ...]
    """Sides and what is copied to their buffers; from it, if it is the target's."""
    tile: tuple[Axis, ...]
    """What a tile spans of the form's dimensions."""


def form_of(shape: Sequence[int], strides: Sequence[Sequence[int]], item: int) -> Form:
    """The order in which an operation goes through its target and its operands.

    Shapes: any, of equal length with all strides; no length is 0.
    Units: strides and items in bytes.

    >>> form = form_of((100, 200), ((800, 4), (4, 400)), 4)
    >>> form.dims, form.buffered
    ((Axis(length=100, steps=(800, 4)), Axis(length=200, steps=(4, 400))), frozenset({1}))
    """
    whole = [k for k, side in enumerate(strides) if k == 0 or all(s for s, n in zip(side, shape, strict=True) if n > 1)]
    orders = [_order([strides[k], *strides]) for k in whole]
    sides = range(len(strides))
    subsets = chain.from_iterable(combinations(sides, number) for number in range(len(strides) + 1))
    variants = list(product(map(frozenset, subsets), (False, True)))
    forms = [_form(shape, strides, order, item) for order in orders]
    return min((replace(form, buffered=k, by_items=b) for form in forms for k, b in variants), key=_cost)


def reduced_form(
    shape: Sequence[int], strides: Sequence[int], axes: Sequence[int], item: int
) -> tuple[tuple[int, ...], Form]:
    """Strides of the target that suits a reduction over some axes, 0 along them, and the order of both sides.

    Shapes: any; no length is 0. Units: strides and items in bytes; the target is dense.

    >>> strides, form = reduced_form((100, 200), (800, 4), (0,), 4)
    >>> strides, form.dims
    ((0, 4), (Axis(length=100, steps=(0, 800)), Axis(length=200, steps=(4, 4))))
    """
    # What is repeated is gone through again and again: as the nearest dimension it would stand in the way of rows.
    natural = sorted(range(len(shape)), key=lambda d: (strides[d] != 0, -abs(strides[d])))
    kept = [d for d in natural if d not in axes]
    reduced = [d for d in natural if d in axes]
    made = []
    for order in (natural, [*reduced, *kept], [*kept, *reduced]):
        target, reach = [0] * len(shape), item
        for d in reversed(order):
            if d not in axes:
                # As the operand does it runs backwards, so that both can be turned.
                target[d] = -reach if strides[d] < 0 else reach
                reach *= shape[d]
        form = _form(shape, (target, strides), order, item)
        made += [(tuple(target), replace(form, buffered=frozenset(side))) for side in ((), (1,))]
    return min(made, key=lambda one: _cost(one[1], reduces=True))


def _order(sides: Sequence[Sequence[int]]) -> list[int]:
    """Dimensions by their strides, the largest first; the first side decides where it can."""
    return sorted(range(len(sides[0])), key=lambda d: [-abs(side[d]) for side in sides])


def _form(shape: Sequence[int], strides: Sequence[Sequence[int]], order: Sequence[int], item: int) -> Form:
    dims, shifts = [], [0] * len(strides)
    for d in order:
        n, steps = shape[d], tuple(side[d] for side in strides)
        if next((s for s in steps if s), 0) < 0:
            shifts = [shift + (n - 1) * s for shift, s in zip(shifts, steps, strict=True)]
            steps = tuple(-s for s in steps)
        if n > 1:
            dims.append(Axis(n, steps))
    merged = tuple(Axis(prod(d.length for d in group), group[-1].steps) for group in _groups(dims, range(len(strides))))
    return Form(merged or (Axis(1, (item,) * len(strides)),), item, tuple(shifts), frozenset())


def _groups(dims: Sequence[Axis], sides: Sequence[int]) -> list[list[Axis]]:
    """Dimensions, neighbours together where these sides step from one to the other evenly."""
    groups: list[list[Axis]] = []
    for dim in dims:
        if groups and all(groups[-1][-1].steps[k] == dim.length * dim.steps[k] for k in sides):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    return groups


def _cost(form: Form, reduces: bool = False) -> float:
    """What an order costs beyond its bytes, infinite where a side that is no buffer's can have no rows in it."""
    last, count, item = form.dims[-1], form.nbytes // form.item, form.item
    # The target of a reduction may stand still, operands of anything else, but not both at once.
    still = [k for k in form.direct if last.steps[k] == 0]
    in_one_piece = all(last.steps[k] == item for k in form.direct if k not in still) and (
        len(still) < 2 if reduces else 0 not in still
    )
    near = all(abs(last.steps[k]) <= LINE for k in form.direct)
    if not (near if form.by_items else in_one_piece):
        return inf
    row = prod(d.length for d in _groups(form.dims, form.direct)[-1])
    cost = count * _ITEM if form.by_items else count / row * _ROW
    for k in form.buffered:
        distinct = item * prod(d.length for d in form.dims if d.steps[k])
        across = abs(last.steps[k]) != min((abs(d.steps[k]) for d in form.dims if d.steps[k]), default=0)
        copied = form.nbytes if distinct > _KEPT else min(form.nbytes, _BUFFERED_TILE)
        cost += copied * (_LOAD if k else _STORE) * (1 + across)
    if 0 in form.buffered and all(d.steps[0] != item for d in form.dims):
        cost += count * _ITEM
    return cost


def regions(form: Form, reduces: bool = False) -> Iterator[Region]:
    """The tiles that a form is cut into, by their shapes.

    >>> form = form_of((900, 900), ((3600, 4), (4, 3600)), 4)
    >>> [[axis.length for axis in region.tile] for region in regions(form)]
    [[64, 256], [64, 132], [4, 256], [4, 132]]
    """
    dims = form.dims
    spans = _spans(form, reduces)
    cuts = []
    for dim, span in zip(dims, spans, strict=True):
        whole, rest = divmod(dim.length, span)
        cuts.append([(0, whole, span), (whole * span, 1, rest)] if rest else [(0, whole, span)])
    # Tiles that are reduced into one place follow each other.
    later = sorted(range(len(dims)), key=lambda k: reduces and dims[k].steps[0] == 0)
    for cut in product(*cuts):
        starts = tuple(sum(at * d.steps[k] for (at, _, _), d in zip(cut, dims, strict=True)) for k in form.sides)
        outer = [Axis(cut[k][1], tuple(cut[k][2] * s for s in dims[k].steps)) for k in later if cut[k][1] > 1]
        tile = [Axis(span, d.steps) for (_, _, span), d in zip(cut, dims, strict=True)]
        yield _region(form, starts, tuple(outer), tile)


def _spans(form: Form, reduces: bool) -> list[int]:
    """How much of each dimension a tile spans."""
    dims, item = form.dims, form.item
    spans = [1] * len(dims)

    def grow(order: Sequence[int], nbytes: int) -> None:
        run = item
        for k in order:
            spans[k] = max(spans[k], min(dims[k].length, -(-nbytes // run)))
            run *= spans[k]
            if spans[k] < dims[k].length:
                break

    inside_out = range(len(dims) - 1, -1, -1)
    if form.buffered:
        grow(inside_out, _RUN)
        for side in form.buffered:
            grow(
                sorted((k for k in inside_out if dims[k].steps[side]), key=lambda k: abs(dims[k].steps[side])),
                _TOGETHER,
            )
    # What is small is one tile: to cut it would leave little at its edges.
    most = _BUFFERED_TILE if form.buffered and form.nbytes > _TILE else _TILE
    for k in inside_out:
        row = reduces and k == len(dims) - 1
        # Of rows that become one number a rest would be read apart, after the first parts of all: a tile's bytes each.
        # What a buffer holds stays in the first-level cache.
        short = row and (form.buffered or dims[k].steps[0] != 0)
        room = (FOLDED if short else most) // (item * prod(spans))
        spans[k] = max(spans[k], min(dims[k].length, spans[k] * room))
        if row and dims[k].steps[0] == 0 and spans[k] < dims[k].length:
            break  # pieces of rows that are reduced to a number each make no tile together
    return spans


def _region(form: Form, starts: tuple[int, ...], outer: tuple[Axis, ...], tile: Sequence[Axis]) -> Region:
    item, sides = form.item, form.sides
    groups = _groups([*(d for d in tile[:-1] if d.length > 1), tile[-1]], form.direct)
    # Where the tile's dimensions step in a buffer: rows lie a line apart, so that they do not crowd a set of the cache.
    reach, places = item, []
    for at, group in enumerate(reversed(groups)):
        if at == 1:
            reach = -(-reach // LINE) * LINE + LINE
        for dim in reversed(group):
            places.append(reach)
            reach *= dim.length
    places.reverse()
    flat = [dim for group in groups for dim in group]
    part = -(-reach // LINE) * LINE
    offsets = [-1] * len(form.shifts)
    copies = []
    for number, k in enumerate(sorted(form.buffered)):
        offsets[k] = number * part
        lengths, own = [d.length for d in flat], [d.steps[k] for d in flat]
        copies.append((k, normal(lengths, *((places, own) if k else (own, places)), item)))
    inner, at = [], -1
    for group in groups:
        at += len(group)
        steps = tuple(places[at] if k in form.buffered else group[-1].steps[k] for k in sides)
        inner.append(Axis(prod(d.length for d in group), steps))
    return Region(starts, outer, tuple(inner), tuple(offsets), part * len(copies), tuple(copies), tuple(tile))


def lines_of(region: Region, side: int) -> npt.NDArray[np.int64]:
    """Offsets of the lines that a tile touches on a side, as if it began with one; none where they are too many.

    Units: offsets in bytes from where the tile begins.

    >>> form = form_of((900, 900), ((3600, 4), (4, 3600)), 4)
    >>> lines_of(next(regions(form)), 1)[:5].tolist()
    [0, 64, 128, 192, 3600]
    """
    run, low, apart = 1, 0, np.zeros(1, np.int64)
    for step, length in sorted(((d.steps[side], d.length) for d in region.tile), key=lambda dim: abs(dim[0])):
        if abs(step) < run + LINE:
            run += (length - 1) * abs(step)
            low += min(0, (length - 1) * step)
        elif len(apart) * length <= _ASKED:
            apart = np.add.outer(np.arange(length) * step, apart).reshape(-1)
        else:
            return np.zeros(0, np.int64)
    if run >= _LONG or len(apart) * run > _ASKED * LINE:
        return np.zeros(0, np.int64)
    return np.add.outer(apart, np.arange(low, low + run, LINE)).reshape(-1)


def operation_descriptor(
    form: Form, region: Region, roles: Sequence[int], work: int, streamed: bool, looked_at: Sequence[bool],
    copies: Sequence[tuple[int, ...]],
) -> npt.NDArray[np.int64]:  # fmt: skip
    """What a kernel is told of a region; `roles` are the sides that are its target and its operands, -1 for none.

    `work` is the address of the function that works on a row; `looked_at` are the operands that may reach into the
    target. `copies` are sides, addresses of kernels and of descriptors, tasks, the table of lines to ask for and its
    length.
    """
    still = Axis(1, (0,) * len(form.shifts))
    *inner, rows, last = (still, *region.inner)
    told = np.zeros(FIRST, np.int64)
    told[OFFSETS : OFFSETS + 3] = -1
    for at, side in enumerate(roles):
        if side >= 0:
            reach = [(d.length - 1) * d.steps[side] for d in form.dims]
            told[SHIFTS + at] = form.shifts[side] + region.starts[side]
            told[OFFSETS + at] = region.offsets[side]
            told[STEPS + at], told[ROW_STEPS + at] = last.steps[side], rows.steps[side]
            told[LOWS + at] = form.shifts[side] + sum(r for r in reach if r < 0)
            told[HIGHS + at] = form.shifts[side] + sum(r for r in reach if r > 0) + form.item
    told[LOOKED_AT : LOOKED_AT + len(looked_at)] = looked_at
    told[ROW], told[ROWS], told[ITEMS] = last.length * form.item, rows.length, last.length if form.by_items else 0
    told[STREAMED], told[BUFFERS], told[WORK] = streamed, region.buffers, work
    told[LOADS], told[STORES] = sum(side > 0 for side, *_ in copies), sum(side == 0 for side, *_ in copies)
    told[OUTER], told[INNER] = len(region.outer), len(inner)
    loops = [(n, *(steps[side] if side >= 0 else 0 for side in roles)) for n, steps in (*region.outer, *inner)]
    calls = [(list(roles).index(side), *call) for side, *call in sorted(copies, key=lambda copy: copy[0] == 0)]
    return np.array([*told, *chain.from_iterable(loops), *chain.from_iterable(calls)], np.int64)
