"""CuPy on NumPy's mixin: the same templates, memory on the device, read back whole through the root array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cupy

from ..capabilities import Capabilities
from ..discovery import UnknownAdapter
from .numpy import DTYPES
from .numpy_style import TEMPLATES, NumpyStyle, root_of
from .table_style import takes_by


class Cupy(NumpyStyle):
    """CuPy on the current device."""

    name = "cupy"
    ports: Mapping[str, str] = takes_by("cupy.from_dlpack") | {"cuda interface": "cupy.asarray({x})"}
    helpers: Mapping[str, str] = {}
    # Its argsort is a stable one, and has no parameter that says so (14.2).
    templates: Mapping[str, str] = {**TEMPLATES, "argsort": "np.argsort({self}, {dim})"}
    capabilities = Capabilities(
        frozenset(DTYPES),
        frozenset({"free-strides", "negative-strides", "view-check", "overlap-check", "write-through"}),
        frozenset({
            "raises", "error-kind", "shape", "values", "sharing", "strides", "layout", "contiguity", "storage",
        }),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(cupy, DTYPES)

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
        import numpy as np

        return cupy.asarray(np.frombuffer(bytes(data), dtype=np.uint8))

    def make(self, root: Any, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """An array over `root`'s device memory; strides and offset in bytes, unchecked by CuPy."""
        array = cupy.ndarray(shape, dtype, memptr=root.data + offset, strides=strides)
        array.base = root
        return array

    def as_strided(self, x: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
        """PyTorch's `as_strided`, over the whole memory that an array lies in."""
        root, itemsize = root_of(x), x.itemsize
        offset = self.address_of(x) - self.address_of(root) if storage_offset is None else storage_offset * itemsize
        return self.make(root, x.dtype, tuple(size), tuple([s * itemsize for s in stride]), offset)

    def scope(self) -> dict[str, Any]:
        """CuPy's own `as_strided` counts from the array."""
        return super().scope() | {"as_strided": self.as_strided}

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes of the allocation's part that the root array covers."""
        flat = cupy.ndarray((storage.nbytes,), cupy.uint8, memptr=storage.data)
        return bytes(cupy.asnumpy(flat).tobytes())

    def storage_of(self, x: Any) -> Any:
        """The array at the end of the chain of bases."""
        return root_of(x)

    def lost(self) -> str:
        """Why the device answers no more; empty where it does."""
        try:
            cupy.asnumpy(cupy.zeros(1, cupy.uint8))
        except Exception as error:
            return " ".join(str(error).split())
        return ""

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
