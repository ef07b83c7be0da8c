"""Plans of strided copies on a GPU: which tile is read how and written how, decided from layouts alone.

`plan_for_device` is pure, as `planner.plan_for` is, and starts from the same normal form. What differs is the machine:
a tile is what one block of threads moves, reading as the source is dense and writing as the target is, with the turn
from one to the other in shared memory. One kernel moves them all (`device_tile.py`), dense or not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod
from typing import Literal

from .normal import WORD, Dim, Normal
from .plans import in_words, touched

SECTOR = 32
"""Bytes that a GPU's memory is read and written by."""
_WIDEST = 8
"""Largest item, in bytes, that Triton has a type for; 16 bytes are two of them, moved by one access all the same."""
_LONG = 128
"""Bytes of a run that is worth a warp's access of its own."""
_ROW = 1024
"""Most items of a tile in one direction."""

Side = Literal["dst", "src"]


@dataclass(frozen=True)
class DeviceChoice:
    """What may be chosen differently without a change of the result; none of the defaults was measured on a GPU."""

    tile_bytes: int = 1 << 14
    """Bytes that one block of threads moves."""
    group: int = 8
    """Tiles that follow each other in the source, before the next in the target is turned to."""
    warps: int = 8
    """Warps of 32 threads in a block."""


OWN = DeviceChoice()


@dataclass(frozen=True)
class Axis:
    """One direction of a tile: an index that counts through some dimensions, the first of them fastest."""

    dims: tuple[Dim, ...]
    """In items."""
    tile: int
    """Items of a tile in this direction, a power of two."""

    @property
    def length(self) -> int:
        """Items in this direction, all tiles together."""
        return prod(d.length for d in self.dims)

    @property
    def tiles(self) -> int:
        """Number of tiles, the last of which may be part empty."""
        return -(-self.length // self.tile)

    def steps(self, side: Side) -> tuple[tuple[int, int], ...]:
        """Length and stride of the dimensions on one side, merged where they follow each other without a gap.

        >>> Axis((Dim(4, 60, 1), Dim(5, 240, 4)), 16).steps("src"), Axis((Dim(4, 60, 1), Dim(5, 7, 4)), 16).steps("dst")
        (((20, 1),), ((4, 60), (5, 7)))
        """
        found: list[tuple[int, int]] = []
        for d in self.dims:
            stride = getattr(d, side)
            if found and stride == found[-1][0] * found[-1][1]:
                found[-1] = found[-1][0] * d.length, found[-1][1]
            else:
                found.append((d.length, stride))
        return tuple(found) or ((1, 0),)


@dataclass(frozen=True)
class Hop:
    """One loop over tiles: how many, and how far each goes on, in items of either side and of the three directions."""

    length: int
    dst: int = 0
    src: int = 0
    a: int = 0
    b: int = 0
    run: int = 0


@dataclass(frozen=True)
class DevicePlan:
    """A copy as a GPU performs it."""

    form: Normal
    item: int
    """Bytes of what is moved as one: no more than strides and addresses are multiples of."""
    a: Axis
    """Direction in which the source is read, beside the run; of one item where runs make up the tile."""
    b: Axis
    """Direction in which the target is written, beside the run."""
    run: Axis
    """Direction in which both sides are nearest: a run, a stepped or a repeated row."""
    hops: tuple[Hop, ...]
    """Loops over tiles, outermost first."""
    dst_align: int
    """Bytes that the target's address is a multiple of, 16 at most."""
    src_align: int
    warps: int

    @property
    def kernel(self) -> str:
        """`transpose`, where reading and writing go different ways through a tile, or `runs`."""
        return "transpose" if self.a.tile > 1 else "runs"

    @property
    def tiles(self) -> int:
        """Number of blocks of threads."""
        return prod(hop.length for hop in self.hops)

    @property
    def wide(self) -> bool:
        """Whether offsets within a tile's three directions need 64 bits."""
        return any(
            sum(n * abs(s) for axis in (self.a, self.b, self.run) for n, s in axis.steps(side)) >= 1 << 30
            for side in _SIDES
        )

    @property
    def whole(self) -> bool:
        """Whether every tile is full, so that no access needs a condition."""
        moved = [(axis.tile, axis.length, name) for axis, name in ((self.a, "a"), (self.b, "b"), (self.run, "run"))]
        return all(
            length == tile * prod(hop.length for hop in self.hops if getattr(hop, name)) for tile, length, name in moved
        )

    def access(self, side: Side) -> int:
        """Bytes that one thread reads or writes at once, as far as layouts and addresses allow; 16 is the best.

        >>> from stridecheck.reference_impl.kernels.normal import normal
        >>> plan = plan_for_device(normal((4096, 4096), (16384, 4), (4, 16384), 4), 16, 8)
        >>> plan.access("dst"), plan.access("src")
        (16, 8)
        """
        beside = self.a if side == "src" else self.b
        near, others = (self.run, (self.a, self.b)) if self.run.tile > 1 else (beside, (self.a, self.b, self.run))
        (length, stride), *further = near.steps(side)
        if stride != 1:
            return self.item
        strides = [s for _, s in further]
        strides += [s for axis in others if axis is not near for _, s in axis.steps(side)]
        strides += [getattr(hop, side) for hop in self.hops]
        align = self.dst_align if side == "dst" else self.src_align
        return self.item * gcd(WORD // self.item, align // self.item, near.tile, length, *strides)

    @cached_property
    def touched_bytes(self) -> int:
        """Bytes of the sectors that are read and written, counted as if every row began at the start of one."""
        dims, item = self.form.dims, self.form.item
        return sum(touched([(d.length, getattr(d, side)) for d in dims], item, SECTOR) for side in _SIDES)

    @property
    def limit(self) -> float:
        """Share of a dense copy's rate that the sectors leave, 1.0 where all that is read or written is of use.

        An upper bound from the layouts, no prediction: nothing was measured on a GPU. Above 1 where one item is
        read once and written often.
        """
        return 2 * self.form.nbytes / max(1, self.touched_bytes)

    def explain(self) -> str:
        """The plan in words: tile, order of loops, accesses, bytes touched, and the limit's share.

        >>> from stridecheck.reference_impl.kernels.normal import normal
        >>> print(plan_for_device(normal((8192, 16384), (65536, 4), (4, 32768), 4), 16, 16).explain())
        transpose of 536.9 MB in 32768 tiles of 64 x 64 items of 4 bytes, read and written along different dimensions
          loop over 16: target +33554432, source +2048
          loop over 256: target +256, source +2097152
          loop over 8: target +4194304, source +256
          16 bytes at once from the source, 16 to the target; offsets of 32 bits
          touches 1.1 GB in sectors of 32 bytes: at most 100 % of a dense copy's rate
        """
        shape = " x ".join(str(axis.tile) for axis in (self.a, self.b, self.run) if axis.tile > 1) or "1"
        how = ", read and written along different dimensions" if self.a.tile > 1 else ""
        lines = [
            f"{self.kernel} of {in_words(self.form.nbytes)} in {self.tiles} tiles of {shape} items of {self.item} "
            f"bytes{how}"
        ]
        for hop in self.hops:
            dst, src = (self.item * _stride(hop, self._axes, side) for side in _SIDES)
            lines.append(f"  loop over {hop.length}: target {dst:+}, source {src:+}")
        lines.append(
            f"  {self.access('src')} bytes at once from the source, {self.access('dst')} to the target; "
            f"offsets of {64 if self.wide else 32} bits"
        )
        lines.append(
            f"  touches {in_words(self.touched_bytes)} in sectors of {SECTOR} bytes: "
            f"at most {100 * self.limit:.0f} % of a dense copy's rate"
        )
        return "\n".join(lines)

    @property
    def _axes(self) -> tuple[Axis, Axis, Axis]:
        return self.a, self.b, self.run


_SIDES: tuple[Side, Side] = ("dst", "src")


def plan_for_device(form: Normal, dst_align: int, src_align: int, choice: DeviceChoice = OWN) -> DevicePlan:
    """The plan of a copy in normal form, which writes no byte twice, between addresses that are multiples of so much.

    Units: alignments in bytes, powers of two, counted from where the loops begin.

    >>> from stridecheck.reference_impl.kernels.normal import normal
    >>> plan_for_device(normal((64, 3, 50, 50), (30000, 4, 600, 12), (30000, 10000, 200, 4), 4), 16, 16).kernel
    'transpose'
    """
    dst_align, src_align = min(dst_align, WORD), min(src_align, WORD)
    item, dims = _in_items(form, min(dst_align, src_align, _WIDEST))
    most = choice.tile_bytes // item
    rest = list(range(len(dims)))
    run: list[int] = []
    if dims and abs(dims[-1].src) <= min((abs(d.src) for d in dims if d.src), default=0):
        run.append(rest.pop())
    run_length = prod(dims[k].length for k in run)
    b = _nearest(dims, rest, "dst")
    a = _nearest(dims, rest, "src")
    if run and (run_length * item >= _LONG or a is None or a == b):
        run_tile = _fit(run_length, most, _LONG // item)
        a_dims: list[int] = []
        b_dims = _chain(dims, rest, b, "dst", most // run_tile, ())
        b_tile = _fit(prod(dims[k].length for k in b_dims), most // run_tile, 1)
        a_tile = 1
    else:
        run_tile = _above(run_length)
        most = max(4, most // run_tile)  # both directions take part: the kernel moves runs where the first is of 1
        side = 1 << (most.bit_length() - 1) // 2
        b_dims = _chain(dims, rest, b, "dst", side, (a,))
        a_dims = _chain(dims, rest, a, "src", side, b_dims)
        a_length, b_length = (prod(dims[k].length for k in ks) for ks in (a_dims, b_dims))
        least = max(2, _LONG // (item * run_tile))
        b_tile = _fit(b_length, min(_ROW, most // min(side, _above(a_length))), least)
        a_tile = _fit(a_length, min(_ROW, most // b_tile), least)
    parts = ((a_dims, a_tile), (b_dims, b_tile), (run, run_tile))
    along_a, along_b, runs = axes = [Axis(tuple(dims[k] for k in ks), tile) for ks, tile in parts]
    taken = {*a_dims, *b_dims, *run}
    plain = [Hop(d.length, d.dst, d.src) for k, d in enumerate(dims) if k not in taken]
    hops = _ordered([*plain, *_chunks(*axes)], axes, choice.group)
    return DevicePlan(form, item, along_a, along_b, runs, hops, dst_align, src_align, choice.warps)


def _in_items(form: Normal, most: int) -> tuple[int, list[Dim]]:
    """Bytes of an item that all strides are multiples of, and the loops counted in it, innermost last."""
    every = gcd(form.item, *(d.dst for d in form.dims), *(d.src for d in form.dims))
    item = min(every & -every, most)
    dims = [Dim(d.length, d.dst // item, d.src // item) for d in form.dims]
    parts = form.item // item
    if parts > 1:
        if dims and dims[-1].dst == dims[-1].src == parts:
            parts *= dims.pop().length
        dims.append(Dim(parts, 1, 1))
    return item, dims


def _nearest(dims: Sequence[Dim], among: Iterable[int], side: Side) -> int | None:
    """The dimension in which a side goes on by the smallest step; those that repeat what is read are none."""
    strides = {k: abs(getattr(dims[k], side)) for k in among}
    return min((k for k, s in strides.items() if s), key=lambda k: (strides[k], -k), default=None)


def _chain(
    dims: Sequence[Dim], among: Sequence[int], first: int | None, side: Side, want: int, others: Sequence[int | None]
) -> list[int]:
    """The nearest dimensions, until they hold so many items or the next is one of the tile's other direction."""
    left, chain = list(among), []
    while first is not None and first not in others:
        chain.append(first)
        left.remove(first)
        first = _nearest(dims, left, side) if prod(dims[k].length for k in chain) < want else None
    return chain


def _above(length: int) -> int:
    return 1 << (length - 1).bit_length()


def _fit(length: int, most: int, least: int) -> int:
    """The largest power of two that wastes little of the last tile; `least` and `most` are powers of two.

    >>> _fit(70, 64, 32), _fit(2001, 64, 32), _fit(3, 64, 32)
    (32, 64, 4)
    """
    if length <= least:
        return min(_above(length), most)
    sizes = [1 << k for k in range(min(least, most).bit_length() - 1, min(_above(length), most).bit_length())]
    padded = {size: -(-length // size) * size for size in sizes}
    return max(size for size in sizes if padded[size] <= _WASTE * min(padded.values()))


_WASTE = 1.125
"""Items of whole tiles over those of the tiles that waste least, up to which larger tiles are the better ones."""


def _chunks(a: Axis, b: Axis, run: Axis) -> list[Hop]:
    hops = [Hop(a.tiles, a=a.tile), Hop(b.tiles, b=b.tile), Hop(run.tiles, run=run.tile)]
    return [hop for hop in hops if hop.length > 1]


def _stride(hop: Hop, axes: Sequence[Axis], side: Side) -> int:
    """Items that a side goes on by, where a tile's direction is one dimension; otherwise a measure of nearness."""
    moved = zip((hop.a, hop.b, hop.run), axes, strict=True)
    return int(getattr(hop, side)) + sum(count * axis.steps(side)[0][1] for count, axis in moved)


def _ordered(hops: Sequence[Hop], axes: Sequence[Axis], group: int) -> tuple[Hop, ...]:
    """Loops in the target's memory order, but some tiles that follow each other in the source side by side.

    Blocks that run at the same time then read and write long pieces of both sides, pages of memory as well as sectors.
    """
    order = sorted(hops, key=lambda hop: (-_stride(hop, axes, "dst"), -abs(_stride(hop, axes, "src"))))
    reads = {hop: abs(_stride(hop, axes, "src")) for hop in order}
    near = min((hop for hop in order if reads[hop]), key=lambda hop: reads[hop], default=None)
    if near is None or near is order[-1] or group < 2:
        return tuple(order)
    if near.dst or near.src:
        size = next(n for n in range(min(group, near.length), 0, -1) if near.length % n == 0)
    else:  # past the end of a tile's direction nothing is moved, so that groups need not fit
        size = -(-near.length // -(-near.length // group))
    outer = Hop(-(-near.length // size), *(size * step for step in (near.dst, near.src, near.a, near.b, near.run)))
    inner = Hop(size, near.dst, near.src, near.a, near.b, near.run)
    place = order.index(near)
    return tuple(hop for hop in (*order[:place], outer, *order[place + 1 :], inner) if hop.length > 1)
