"""Where the items of a tile are: in the source, in the target, and in between in the memory that threads share.

A block of threads reads its tile in the order of the source, puts it into shared memory, and takes it from there in the
order of the target. All three places are the same for each tile but for where the tile begins, so that they are counted
once, here, and looked up by the kernel: no thread divides an index by a length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from .device_plan import SIDES, WARP, DevicePlan, above, nearest

_BANKS, _BANK = WARP, 4
"""Shared memory has so many banks of so many bytes; each of the threads of a warp, as many, asks one bank at a time."""
_LEAST = 128
"""Fewest items of a table: Triton's have lengths that are powers of two, and of shorter ones most threads are idle."""
_SEEN = 64
"""Accesses of a warp that are looked at when places in shared memory are chosen."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tables:
    """Places of a tile's items, as the kernel takes them; lengths are powers of two.

    What is more than the tile holds reads its first item, and writes some items a second time.
    """

    hops: Ints
    """Loops over tiles, innermost first, as `Hop` has them."""
    reads: Ints
    """For each access, in the order of shared memory: accesses from the tile's begin in the source to it."""
    writes: Ints
    """For each access, in the order of the target: accesses from the tile's begin in the target to it."""
    places: Ints
    """For each item, in the order of the target: where it is in shared memory, in items."""
    read: int
    """Items of an access to the source."""
    write: int
    """Items of an access to the target."""

    @property
    def is_wide(self) -> bool:
        """Whether offsets within a tile, which the kernel counts in items, need 64 bits."""
        reach = ((np.abs(of).max() + 1) * items for of, items in ((self.reads, self.read), (self.writes, self.write)))
        return bool(max(reach) >= 1 << 31)

    def packed(self) -> npt.NDArray[np.uint8]:
        """All of them in one piece of memory, one after the other."""
        offsets = np.int64 if self.is_wide else np.int32
        parts = self.hops, self.reads.astype(offsets), self.writes.astype(offsets), self.places.astype(np.int16)
        return np.concatenate([np.ravel(part).view(np.uint8) for part in parts])


def tables_of(plan: DevicePlan) -> Tables:
    """The tables of a plan.

    >>> from stridecheck.reference_impl.kernels.device_plan import plan_for_device
    >>> from stridecheck.reference_impl.kernels.normal import normal
    >>> tables = tables_of(plan_for_device(normal((3, 40), (160, 4), (4, 12), 4), 32, 32))
    >>> tables.reads[:3].tolist(), tables.places[:3].tolist(), tables.writes[:3].tolist()
    ([0, 1, 2], [0, 3, 6], [0, 1, 2])
    """
    read, write = (plan.access(side) // plan.item for side in SIDES)
    by_source, by_target = ([k for k in nearest(plan.dims, side) if plan.tile[k] > 1] for side in SIDES)
    reads = _walked([(plan.tile[k], plan.dims[k].src) for k in by_source])
    writes = _walked([(plan.tile[k], plan.dims[k].dst) for k in by_target])
    # Where items would be if they lay in shared memory as they are read; those that are read once and written often are
    # at the same place for each index.
    weights = {k: prod(plan.tile[j] for j in by_source[:place]) for place, k in enumerate(by_source)}
    places = _filled(_walked([(plan.tile[k], weights.get(k, 0)) for k in by_target]), write)
    spread = min(_spreads(len(reads), read, plan.item), key=lambda of: conflicts(of[places], write, plan.item))
    read_at = np.zeros(_padded(len(reads)), np.int64)
    read_at[spread] = reads
    return Tables(
        hops=np.array([*reversed(plan.hops)], np.int64).reshape(-1, 5),
        reads=read_at[::read] // read,
        writes=_filled(writes, write)[::write] // write,
        places=spread[places],
        read=read,
        write=write,
    )


def _walked(steps: Sequence[tuple[int, int]]) -> Ints:
    """Offsets of all indices that lengths and strides have, the first index fastest.

    >>> _walked([(2, 10), (3, 1)]).tolist()
    [0, 10, 1, 11, 2, 12]
    """
    found = np.zeros(1, np.int64)
    for length, stride in steps:
        found = (np.arange(length)[:, None] * stride + found).ravel()
    return found


def _padded(length: int) -> int:
    return max(_LEAST, above(length))


def _filled(values: Ints, access: int) -> Ints:
    """Values up to a power of two, with those of the first access again."""
    return np.concatenate([values, np.resize(values[:access], _padded(len(values)) - len(values))])


def _spreads(number: int, access: int, item: int) -> Iterator[Ints]:
    """Places in shared memory for items in the order in which they are read: that order first, then some others.

    Accesses stay whole, and within the same row of banks, so that threads side by side still read what is side by
    side. A column of a tile, whose items would lie in one bank where rows are as long as a power of two, comes to lie
    in many.
    """
    index = np.arange(number)
    in_row = _BANKS * _BANK // item
    row, column = index // in_row, index % in_row
    for odd, fourth, sixteenth in _TURNS:
        turn = (row * odd + row // 4 * fourth + row // 16 * sixteenth) * access
        yield row * in_row + (column ^ turn % in_row)


_TURNS = [(0, 0, 0), *((a, b, c) for a in (1, 2, 3, 5) for b in (0, 1, 3) for c in (0, 1))]


def conflicts(places: Ints, access: int, item: int) -> float:
    """How often a bank of shared memory is asked by one access of a warp, in the mean: 1.0 is the best.

    >>> conflicts(np.arange(4096), 1, 4), conflicts(np.arange(4096) * 32, 1, 4)
    (1.0, 32.0)
    """
    lanes = places.reshape(-1, access).T
    lanes = lanes.reshape(-1, min(_BANKS, lanes.shape[1]))
    words = np.sort(lanes[:: max(1, len(lanes) // _SEEN)] * item // _BANK, axis=1)
    is_first = np.diff(words, axis=1, prepend=-1) != 0  # one word is handed to all who ask for it
    asked = words % _BANKS + _BANKS * np.arange(len(words))[:, None]
    counts = np.bincount(asked[is_first], minlength=_BANKS * len(words))
    return float(counts.reshape(-1, _BANKS).max(axis=1).mean())
