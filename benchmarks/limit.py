"""What the machine allows: the best contiguous copy, timed in the same rounds as what is compared with it.

`x_copy` is a time over that of the best contiguous copy of the same *output* bytes. `x_traffic` is a time over what
that copy rate makes of the cache lines that must be *touched*: a copy of n bytes touches 2 n. An operation that reads
far more than it writes (a sum) would be weighed against a copy of a few bytes, whose rate says nothing of memory; its
rate comes from a copy that touches as many bytes as the operation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from stridecheck.conformance.program import Ref, Step
from stridecheck.reference_impl import strided_copy

from .clock import Call, Runner, Take, bind, block
from .device import is_device, take_of

_KEPT = 4
"""Sizes whose buffers are kept: cases of one size follow each other."""
_FAR = 2
"""Times the output's bytes from which on the bytes touched, halved, need a copy of their own size."""

HOST = ""
"""Where libraries work that have no device: in memory that NumPy can address."""


def place_of(adapter: Any) -> str:
    """Whose copies an adapter's times are compared with: the host's, or its own where it must wait for a device."""
    return str(adapter.name) if is_device(adapter) else HOST


class Copies:
    """Contiguous copies of any size: NumPy's, the reference's kernel, and the `copy_` of every loaded library."""

    def __init__(self, adapters: Sequence[Any]) -> None:
        # NumPy and the reference are called directly: their adapters add a layer that costs time for small copies.
        self._adapters = [a for a in adapters if a.name not in ("numpy", "reference")]
        self._kept: OrderedDict[tuple[str, int], list[tuple[Call, Take]]] = OrderedDict()

    def runners(self, place: str, nbytes: int) -> list[Runner]:
        """Runners, not timed yet, of every contiguous copy of that many bytes in a place."""
        key = (place, nbytes)
        if key not in self._kept:
            self._kept[key] = self._make(place, nbytes)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return [Runner(call, take) for call, take in self._kept[key]]

    def _make(self, place: str, nbytes: int) -> list[tuple[Call, Take]]:
        made: list[tuple[Call, Take]] = []
        if place == HOST:
            source = np.ones(nbytes, np.uint8)
            target = np.zeros_like(source)
            made += [(bind(copy, (target, source)), block) for copy in (np.copyto, strided_copy)]
        for adapter in self._adapters:
            if place_of(adapter) == place:
                call = _copy_of(adapter, nbytes)
                if call is not None:
                    made.append((call, take_of(adapter)))
        return made


def _copy_of(adapter: Any, nbytes: int) -> Call | None:
    """A library's own `copy_` between two byte vectors; None where it has none."""
    function = adapter.operation(Step("copy_", (Ref(0), Ref(1))))
    if function is None or "uint8" not in adapter.capabilities.dtypes:
        return None
    vectors = [adapter.tensor(adapter.storage(bytes(nbytes), "owned"), "uint8", (nbytes,), (1,), 0) for _ in range(2)]
    return bind(function, vectors)


def traffic_copy_bytes(output_bytes: int, touched_bytes: int) -> int:
    """Bytes of the copy whose rate `x_traffic` uses.

    >>> traffic_copy_bytes(1000, 2048), traffic_copy_bytes(8, 4096)
    (1000, 2048)
    """
    return touched_bytes // 2 if touched_bytes > 2 * _FAR * output_bytes else output_bytes


def best_ns(runners: Sequence[Runner]) -> float | None:
    """The smallest median of those that were timed; None where none was."""
    return min((runner.median_ns for runner in runners if runner.samples_ns), default=None)


def ratio(time_ns: float, limit_ns: float | None, share: float = 1.0) -> float | None:
    """A time over a limit, of which `share` is due; None where there is no limit."""
    return None if not limit_ns or not share else round(time_ns / (limit_ns * share), 4)
