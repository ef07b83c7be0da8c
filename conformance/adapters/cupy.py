"""CuPy on NumPy's mixin: the same templates, memory on the device, read back whole through the root array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

import cupy
import numpy

from ..capabilities import Capabilities
from ..discovery import UnknownAdapter
from ..program import ITEMSIZES, Input
from .numpy import DTYPES
from .numpy_style import CHECKS, TEMPLATES, NumpyStyle
from .table_style import takes_by, why_lost


class Cupy(NumpyStyle):
    """CuPy on the current device."""

    name = "cupy"
    forks = False  # a device's context does not survive it
    ports: Mapping[str, str] = takes_by("np.from_dlpack") | {"cuda interface": "np.asarray({x})"}
    templates: Mapping[str, str] = {
        **TEMPLATES,
        # Its argsort is a stable one, and has no parameter that says so; nothing is read-only, and asking is refused.
        "argsort": "np.argsort({self}, {dim})",
        "unfold": TEMPLATES["unfold"].replace(", writeable=True", ""),
    }
    checks: Mapping[str, str] = {
        **CHECKS,
        "layout": "([s // {x}.itemsize for s in {x}.strides], (at({x}) - root({x}).ptr) // {x}.itemsize)",
    }
    helpers: Mapping[str, str] = {
        "root": "def root(x): return x.data.mem",
        "at": "def at(x): return x.data.ptr",
        "as_strided": """def as_strided(x, size, stride, offset):
    start = at(x) - root(x).ptr if offset is None else offset * x.itemsize
    memory = np.cuda.MemoryPointer(root(x), start)
    return np.ndarray(size, x.dtype, memory, [s * x.itemsize for s in stride])""",
    }
    capabilities = Capabilities(
        frozenset(DTYPES),
        frozenset({"free-strides", "negative-strides", "view-check", "overlap-check", "write-through"}),
        frozenset({
            "raises", "error-kind", "shape", "values", "sharing", "strides", "layout", "contiguity", "storage",
        }),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(cupy, DTYPES)
        self._roots: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        runtime = cupy.cuda.runtime
        return {
            "cupy": cupy.__version__,
            "cuda": str(runtime.runtimeGetVersion()),
            "driver": str(runtime.driverGetVersion()),
        }

    def address_of(self, x: Any) -> int:
        """Device address of the first element."""
        address: int = x.data.ptr
        return address

    def storage(self, data: Any, backing: str) -> Any:
        """A byte array on the device."""
        return cupy.asarray(numpy.frombuffer(bytes(data), dtype=numpy.uint8))

    def make(self, root: Any, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """An array over `root`'s device memory; strides and offset in bytes, unchecked by CuPy."""
        return cupy.ndarray(shape, dtype, memptr=self.storage_of(root).data + offset, strides=strides)

    def storage_of(self, x: Any) -> Any:
        """The array at the end of the chain of bases, or the first that was seen in its allocation.

        What is made over given memory has no base. An allocation may be longer than what lies in it.
        """
        while isinstance(x.base, cupy.ndarray):
            x = x.base
        allocation = x.data.mem
        root = self._roots.get(id(allocation))
        if root is None or root.data.mem is not allocation:
            root = self._roots[id(allocation)] = x
        return root

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes of the allocation's part that the root array covers."""
        address, nbytes = self.extent_of(storage)
        flat = cupy.ndarray((nbytes,), cupy.uint8, memptr=storage.data + (address - storage.data.ptr))
        return bytes(cupy.asnumpy(flat).tobytes())

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        itemsize = ITEMSIZES[item.dtype]
        strides = tuple(s * itemsize for s in item.strides)
        memory = f"{storage}.data + {item.offset * itemsize}"
        return f"{name} = np.ndarray({item.shape}, {self.write_dtype(item.dtype)}, {memory}, {strides})"

    def lost(self) -> str:
        """Why the device answers no more; empty where it does."""
        return why_lost(lambda: cupy.asnumpy(cupy.zeros(1, cupy.uint8)))

    def synchronize(self) -> None:
        """Wait for the device."""
        cupy.cuda.Stream.null.synchronize()

    def elapsed_ns(self, call: Callable[[], Any], number: int) -> int:
        """Nanoseconds that so many calls take by events on the device."""
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        for _ in range(number):
            call()
        end.record()
        end.synchronize()
        return int(1e6 * cupy.cuda.get_elapsed_time(begin, end))

    def empty_caches(self) -> None:
        """Write more of the device's memory than its caches hold; the pool keeps it for the next time."""
        cupy.zeros(256 << 20, cupy.uint8)


def adapter(variant: str = "") -> Cupy:
    """The adapter for `cupy`; raises ImportError with a reason where there is no GPU."""
    if variant:
        raise UnknownAdapter(f"cupy has no variant {variant!r}")
    try:
        if not cupy.cuda.runtime.getDeviceCount():
            raise ImportError("no GPU")
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise ImportError(f"no GPU that CuPy can use: {error}") from None
    found = Cupy()
    if reason := found.lost():
        raise ImportError(f"the GPU does not answer: {reason}")
    return found
