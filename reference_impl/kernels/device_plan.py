"""Plans of strided copies on a GPU: which tile is moved by one block of threads, decided from layouts alone.

`plan_for_device` is pure, as `planner.plan_for` is, and starts from the same normal form. What differs is the machine:
a tile holds some indices of each dimension, is read in the order of the source, written in that of the target, and
turned from one to the other in shared memory. One kernel moves them all (`device_kernel.py`), by tables of where the
items of a tile are (`device_tables.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil, gcd, lcm, prod
from typing import Literal, NamedTuple

from .normal import LARGEST_ITEM, Dim, Normal
from .plans import in_words, touched

SECTOR = 32
"""Bytes that a GPU's memory is read and written by."""
_WIDEST = 8
"""Largest item, in bytes, that Triton has a type for; 16 bytes are two of them, moved by one access all the same."""
_MOST = 1 << 14
"""Most items of a tile: places in it are numbers of 16 bits, with a sign."""
WARP, _MOST_WARPS = 32, 32
"""Threads of a warp, and most warps of a block."""
ANYWHERE = 1 << 62
"""Index that no loop over tiles gets to."""

Side = Literal["dst", "src"]
SIDES: tuple[Side, Side] = ("src", "dst")


@dataclass(frozen=True)
class DeviceChoice:
    """What may be chosen differently without a change of the result; measured on an H100, see docs/gpu.md."""

    tile_bytes: int = 1 << 15
    """Bytes that one block of threads moves at most."""
    group: int = 8
    """Tiles that follow each other in the source, before the next in the target is turned to; roughly."""
    thread_bytes: int = 64
    """Bytes that one thread moves."""


OWN = DeviceChoice()


class Hop(NamedTuple):
    """One loop over tiles: turn number k begins at index min(k * step, last) of a dimension."""

    turns: int
    step: int
    last: int
    """The last tile overlaps the one before it, rather than being cut short: none has to ask where it ends."""
    dst: int
    """Items that the target goes on by from one index to the next."""
    src: int

    def far(self, side: Side) -> int:
        """Items from the begin of one tile to that of the next on a side."""
        return abs(self.step * int(getattr(self, side)))


class Piece(NamedTuple):
    """What of a tile lies side by side in memory."""

    items: int
    align: int
    """Items that the begins of all pieces, of all tiles, are multiples of, counted from the first; 0 for any."""

    def access(self, item: int, address: int) -> int:
        """Items that one thread can move at once, where the first of all lies at a multiple of so many bytes."""
        return gcd(max(1, LARGEST_ITEM // item), address // item, self.items, self.align)


@dataclass(frozen=True)
class DevicePlan:
    """A copy as a GPU performs it."""

    form: Normal
    item: int
    """Bytes of what is moved as one: no more than strides and addresses are multiples of."""
    dims: tuple[Dim, ...]
    """In items."""
    tile: tuple[int, ...]
    """How many indices of each dimension one block of threads moves."""
    hops: tuple[Hop, ...]
    """Loops over tiles, outermost first."""
    dst_align: int
    """Bytes that the target's address is a multiple of, `SECTOR` at most."""
    src_align: int
    warps: int
    """Warps of 32 threads in a block."""

    @property
    def items(self) -> int:
        """Items of a tile."""
        return prod(self.tile)

    @property
    def tiles(self) -> int:
        """Number of blocks of threads."""
        return prod(hop.turns for hop in self.hops)

    def piece(self, side: Side) -> Piece:
        """What of a tile lies side by side."""
        return _piece(self.dims, self.tile, side)

    def access(self, side: Side) -> int:
        """Bytes that one thread reads or writes at once; 16 is the best.

        >>> from stridecheck.reference_impl.kernels.normal import normal
        >>> plan = plan_for_device(normal((4096, 4096), (16384, 4), (4, 16384), 4), 16, 8)
        >>> plan.access("dst"), plan.access("src")
        (16, 8)
        """
        return self.item * self.piece(side).access(self.item, self._align(side))

    def _align(self, side: Side) -> int:
        return self.dst_align if side == "dst" else self.src_align

    @cached_property
    def touched_bytes(self) -> int:
        """Bytes of the sectors that are read and written, counted as if every row began at the start of one."""
        dims, item = self.form.dims, self.form.item
        return sum(touched([(d.length, getattr(d, side)) for d in dims], item, SECTOR) for side in SIDES)

    @property
    def limit(self) -> float:
        """Share of a dense copy's rate that the sectors leave, 1.0 where all that is read or written is of use.

        An upper bound from the layouts, no prediction. Above 1 where one item is read once and written often.
        """
        return 2 * self.form.nbytes / max(1, self.touched_bytes)

    def explain(self) -> str:
        """The plan in words: tile, order of loops, pieces and accesses, bytes touched, and the limit's share.

        >>> from stridecheck.reference_impl.kernels.normal import normal
        >>> print(plan_for_device(normal((8192, 16384), (65536, 4), (4, 32768), 4), 32, 32).explain())
        536.9 MB in 16384 tiles of 64 x 128 items of 4 bytes
          loop over 16: target +33554432, source +2048
          loop over 128: target +512, source +4194304
          loop over 8: target +4194304, source +256
          reads pieces of 256 bytes, 16 at once; writes pieces of 512 bytes, 16 at once
          touches 1.1 GB in sectors of 32 bytes: at most 100 % of a dense copy's rate
        """
        shape = " x ".join(str(length) for length in self.tile if length > 1) or "1"
        lines = [f"{in_words(self.form.nbytes)} in {self.tiles} tiles of {shape} items of {self.item} bytes"]
        for hop in self.hops:
            dst, src = (self.item * hop.step * stride for stride in (hop.dst, hop.src))
            lines.append(f"  loop over {hop.turns}: target {dst:+}, source {src:+}")
        reads, writes = (
            f"pieces of {in_words(self.item * self.piece(side).items)}, {self.access(side)} at once" for side in SIDES
        )
        lines.append(f"  reads {reads}; writes {writes}")
        lines.append(
            f"  touches {in_words(self.touched_bytes)} in sectors of {SECTOR} bytes: "
            f"at most {100 * self.limit:.0f} % of a dense copy's rate"
        )
        return "\n".join(lines)


def plan_for_device(form: Normal, dst_align: int, src_align: int, choice: DeviceChoice = OWN) -> DevicePlan:
    """The plan of a copy in normal form, which writes no byte twice, between addresses that are multiples of so much.

    Units: alignments in bytes, powers of two, counted from where the loops begin.

    >>> from stridecheck.reference_impl.kernels.normal import normal
    >>> plan_for_device(normal((64, 3, 50, 50), (30000, 4, 600, 12), (30000, 10000, 200, 4), 4), 16, 16).tile
    (1, 2500, 3)
    """
    dst_align, src_align = min(dst_align, SECTOR), min(src_align, SECTOR)
    item, dims = _in_items(form, min(dst_align, src_align, _WIDEST))
    most = min(choice.tile_bytes // item, _MOST)

    def cost(tile: tuple[int, ...]) -> tuple[float, int, int]:
        found = _cost(dims, tile, item, most, {"dst": dst_align, "src": src_align})
        return round(found, 3), -_piece(dims, tile, "dst").items, -prod(tile)

    tile = min(_tiles(dims, item, most), key=cost)
    warps = max(1, min(_MOST_WARPS, above(prod(tile)) * item // (WARP * choice.thread_bytes)))
    return DevicePlan(form, item, dims, tile, _ordered(dims, tile, choice.group), dst_align, src_align, warps)


def _in_items(form: Normal, most: int) -> tuple[int, tuple[Dim, ...]]:
    """Bytes of an item that all strides are multiples of, and the loops counted in it, innermost last."""
    every = gcd(form.item, *(d.dst for d in form.dims), *(d.src for d in form.dims))
    item = min(every & -every, most)
    dims = [Dim(d.length, d.dst // item, d.src // item) for d in form.dims]
    parts = form.item // item
    if parts > 1:
        if dims and dims[-1].dst == dims[-1].src == parts:
            parts *= dims.pop().length
        dims.append(Dim(parts, 1, 1))
    return item, tuple(dims)


def above(length: int) -> int:
    """The next power of two.

    >>> above(5), above(8)
    (8, 8)
    """
    return 1 << (length - 1).bit_length()


def nearest(dims: Sequence[Dim], side: Side) -> list[int]:
    """Dimensions by their strides on a side, the smallest first; those that repeat what is read are left out."""
    strides = {k: abs(getattr(d, side)) for k, d in enumerate(dims)}
    return sorted((k for k, stride in strides.items() if stride), key=lambda k: (strides[k], -k))


def _tiles(dims: Sequence[Dim], item: int, most: int) -> set[tuple[int, ...]]:
    """Tiles that hold so many items of both sides' nearest dimensions, for all numbers that come into question."""
    wanted = sorted({round(2 ** (step / 3)) for step in range(3 * most.bit_length() - 2)})
    of_source, of_target = (nearest(dims, side) for side in SIDES)
    granules = [_granule(d, item) for d in dims]
    found = set()
    for to_read, to_write in product(wanted, repeat=2):
        tile = [1] * len(dims)
        for order, want in ((of_source, to_read), (of_target, to_write)):
            held = 1
            for k in order:
                if held >= want:
                    break
                tile[k] = max(tile[k], min(dims[k].length, ceil(want / held)))
                held *= tile[k]
        if prod(tile) <= most:
            found.add(tuple(map(_even, (d.length for d in dims), tile, granules)))
    return found


def _granule(dim: Dim, item: int) -> int:
    """Of how many indices tiles should be multiples, so that they begin where sectors do, or at least accesses.

    >>> _granule(Dim(72, 1, 9), 4), _granule(Dim(72, 3, 24), 4), _granule(Dim(68, 1, 8), 4), _granule(Dim(70, 1, 8), 4)
    (8, 8, 4, 1)
    """
    for nbytes in (SECTOR, LARGEST_ITEM):
        whole = max(1, nbytes // item)
        granule = lcm(*(whole // gcd(whole, stride) for stride in (dim.dst, dim.src)))
        if dim.length % granule == 0:
            return granule
    return 1


def _even(whole: int, length: int, granule: int) -> int:
    """As much of a dimension, or less, in tiles of one length that overlap little; in whole granules if one fits.

    >>> _even(70, 64, 1), _even(72, 64, 8), _even(1000, 64, 8)
    (35, 40, 64)
    """
    even = ceil(whole / ceil(whole / length))
    return even if length < granule else min(length // granule, ceil(even / granule)) * granule


def _piece(dims: Sequence[Dim], tile: Sequence[int], side: Side) -> Piece:
    items, apart = 1, []
    is_open = True
    for k in nearest(dims, side):
        length, stride = dims[k].length, getattr(dims[k], side)
        is_open &= tile[k] > 1 and abs(stride) == items
        if not is_open:
            apart.append(stride)
            continue
        items *= tile[k]
        if stride < 0:  # it is not its first item that a piece begins with in memory
            apart.append(1)
        if tile[k] < length:
            is_open = False
            apart += [stride * tile[k], stride * (length - tile[k])]
    return Piece(items, gcd(*apart))


def _cost(dims: Sequence[Dim], tile: tuple[int, ...], item: int, most: int, aligns: dict[Side, int]) -> float:
    """What tiles are compared by: sectors that are read and written, over those that the bytes would fill.

    Items in accesses of less than 16 bytes count up to a tenth more, tiles that overlap or leave threads idle, too.
    """
    cost = 0.0
    for side in SIDES:
        piece = _piece(dims, tile, side)
        nbytes, access = item * piece.items, item * piece.access(item, aligns[side])
        # A piece that begins anywhere shares sectors at both ends with others. One that does not counts half a sector
        # more than it has, too: longer ones are better.
        begins = item * gcd(max(1, LARGEST_ITEM // item), aligns[side] // item, piece.align)
        cost += (nbytes + SECTOR - begins) / nbytes * (1 + _NARROW * (1 - access / LARGEST_ITEM))
    overlap = prod(ceil(d.length / length) * length / d.length for d, length in zip(dims, tile, strict=True))
    held = prod(tile)
    return cost * overlap * (1 + _IDLE * (above(held) / held - 1)) * (1 + _SMALL * (most / above(held) - 1))


_NARROW, _IDLE, _SMALL = 0.1, 0.1, 0.2
"""Chosen without a GPU, and left: on one, constants that were fitted to what 112 copies took chose no better."""


def _ordered(dims: Sequence[Dim], tile: Sequence[int], group: int) -> tuple[Hop, ...]:
    """Loops in the target's memory order, but some tiles that follow each other in the source side by side.

    Blocks that run at the same time then read and write long pieces of both sides, pages of memory as well as sectors,
    and sectors that two tiles share are still in the cache when the second one comes.
    """
    hops = [
        Hop(ceil(d.length / length), length, d.length - length, d.dst, d.src)
        for d, length in zip(dims, tile, strict=True)
        if length < d.length
    ]
    order = sorted(hops, key=lambda hop: (-hop.far("dst"), -hop.far("src")))
    near = min((hop for hop in order if hop.src), key=lambda hop: hop.far("src"), default=None)
    if near is None or near is order[-1] or group < 2:
        return tuple(order)
    place = order.index(near)
    outer, inner = _grouped(near, group)
    return tuple(hop for hop in (*order[:place], outer, *order[place + 1 :], inner) if hop.turns > 1)


def _grouped(hop: Hop, group: int) -> tuple[Hop, Hop]:
    """A loop as one over groups of about so many tiles, each as good as a tile of its own, and one within them.

    >>> for hop in _grouped(Hop(17, 64, 1000, 1, 557), 8):
    ...     print(hop.turns, hop.step, hop.last)
    2 576 488
    9 64 4611686018427387904
    """
    if hop.turns < 2 * group:
        return hop._replace(turns=1), hop
    length = hop.last + hop.step
    size = min(range(group, 2 * group), key=lambda size: ceil(length / (size * hop.step)) * size)
    whole = size * hop.step
    outer = hop._replace(turns=ceil(length / whole), step=whole, last=length - whole)
    return outer, hop._replace(turns=size, last=ANYWHERE)
