"""What arrays say of themselves by a protocol: where they lie, whether that is true, and with which strides.

Runs in a worker that has loaded their libraries. Strides in bytes. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import foreign
from .layout import addressed, row_major
from .observation import ForeignState
from .offers import ON_DEVICE, Case, Library, offer, stays
from .program import ITEMSIZES
from .protocol import Unsupported


def says(said: foreign.Described, protocol: str, case: Case, elements: list[bytes]) -> bool:
    """Whether what a protocol says of an array leads to its elements."""
    state = said.state
    if (state.shape, state.itemsize) != (case.shape, ITEMSIZES[case.dtype]):
        return False
    # Of a capsule that cannot be right nothing is known but its name.
    if _is_elsewhere(state, protocol) or state.storage is not None:
        return True
    return is_written(said, protocol, case, elements) if said.address else not elements


def leads(library: Library, x: Any, elements: Sequence[bytes], shown: Sequence[foreign.Described]) -> bool | None:
    """Whether the strides and the offset that a library says of its array lead to its elements.

    None where that is not told: it claims no strides, says no offset, or its memory is not to be looked at, as that of
    a device. Without strides it is the first element alone. `shown` is what the array says of itself by protocols.
    """
    if not library.observes_storage or "strides" not in library.capabilities.aspects:
        return None
    dtype, shape, strides, offset, *_ = library.describe(x)
    try:
        begin, _ = library.extent_of(library.storage_of(x))
    except Exception:  # what it has taken need not be an array of its usual kind
        return None
    if offset is None or begin is None or _peek(begin, 1) is None:
        return None
    itemsize = ITEMSIZES[dtype]
    for one in shown:
        if any(number % itemsize for number in ((one.address or begin) - begin, *_byte_strides(one.state))):
            return None  # which no number of elements can tell
    address = begin + itemsize * int(offset)
    if strides is None:
        return _lie_at([address], elements)
    return _lie_at(addressed(tuple(shape), tuple([itemsize * int(stride) for stride in strides]), address), elements)


def _is_elsewhere(state: ForeignState, protocol: str) -> bool:
    """Whether an address is of a device's memory."""
    return protocol == ON_DEVICE or (len(state.header) > 2 and state.header[2] != 1)


def is_written(said: foreign.Described, protocol: str, case: Case, elements: list[bytes]) -> bool:
    """Whether elements lie where an array is said to lie, as far as that can be looked at."""
    state = said.state
    if not said.address or state.shape != case.shape or _is_elsewhere(state, protocol):
        return False
    return _lie_at(addressed(state.shape, _byte_strides(state), said.address), elements)


def _lie_at(addresses: Iterable[int], elements: Sequence[bytes]) -> bool:
    """Whether elements lie at addresses, one after another, which need not exist."""
    return all(_peek(address, len(element)) == element for address, element in zip(addresses, elements, strict=False))


def _peek(address: int, count: int) -> bytes | None:
    """Bytes at an address, by the system, which tells what may not be read; None where they may not."""
    if not 0 < address < 1 << 63:
        return None
    reading, writing = os.pipe()
    try:
        if (written := _WRITE(writing, address, count)) <= 0:
            return None
        found = os.read(reading, written)
    finally:
        os.close(reading)
        os.close(writing)
    return found if len(found) == count else None


_WRITE = ctypes.CDLL(None).write
_WRITE.argtypes, _WRITE.restype = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_ssize_t
"""The system's call: unlike a look at an address it fails where that is not to be read."""


def _byte_strides(state: ForeignState) -> tuple[int, ...]:
    if state.strides is not None:
        return state.strides
    return row_major(state.shape, state.itemsize, least=0)


def significant(case: Case, strides: tuple[int, ...]) -> list[int]:
    """Strides that address anything."""
    return [s for n, s in zip(case.shape, strides, strict=True) if n > 1 and 0 not in case.shape]


def own_strides(library: Library, x: Any, shown: Sequence[foreign.Described]) -> tuple[int, ...] | None:
    """Strides as the library itself has them, in bytes: what it says by a protocol may be others already.

    A library without strides may show its array by a protocol that has flattened it: that tells none.
    """
    dtype, shape, strides, *_ = library.describe(x)
    if strides is not None:
        return tuple([s * ITEMSIZES[dtype] for s in strides])
    return next((_byte_strides(one.state) for one in shown if one.state.shape == tuple(shape)), None)


def idle_strides(case: Case, made: tuple[int, ...] | None, got: tuple[int, ...] | None) -> tuple[str, str]:
    """What became of strides that address nothing, and in words where they are neither those made nor row-major."""
    idle = [number for number, size in enumerate(case.shape) if size == 1 or 0 in case.shape]
    if not idle or made is None or got is None:
        return "", ""
    # Libraries disagree on whether a length of 0 counts as 1 in the strides before it: either is row-major.
    plain = [row_major(case.shape, ITEMSIZES[case.dtype], least) for least in (0, 1)]
    before, after, *either = ([strides[number] for number in idle] for strides in (made, got, *plain))
    if after == before:
        return "kept", ""
    return ("row-major", "") if after in either else ("other", f"strides of {[*made]} bytes arrived as {[*got]}")


def shown_by(y: Any, consumer: Library) -> Iterator[foreign.Described]:
    """What the array says of itself where it has arrived, by each protocol that it has; nothing that is of a copy."""
    for protocol in ("interface", "dlpack", "buffer"):
        try:
            offered = offer(y, protocol, consumer)
        except Unsupported:
            continue
        if stays(y, protocol, consumer, offered):
            yield offered.said
