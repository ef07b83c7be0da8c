"""PyTorch on another device: the same programs, storages copied back whole to be seen."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy
import torch

from ..program import Input, Step, Storage
from ..protocol import Unsupported
from .table_style import why_lost
from .torch import Torch

KINDS = ("cuda", "mps", "xpu", "privateuse1")
"""Devices by the names that variants have; the back end that is registered as `privateuse1` has its own name, too."""
MISSING = {
    "mps": ("float64", "complex128", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
}
"""Dtypes that a device has no tensors of, by its documentation."""

UNCHECKED = {"cuda": ("index-check",)}
"""Features that a device lacks: an index outside ends in an assertion of CUDA's, after which the device is lost."""

OF_THE_HOST = frozenset({
    "numpy", "__array__", "numpy.asarray", "numpy.from_dlpack", "memoryview", "from_dlpack", "to_dlpack", "__dlpack__",
    "__dlpack_device__", "is_shared", "share_memory_", "is_pinned", "pin_memory", "save_load", "cpu", "cuda", "hpu",
    "mps", "is_cuda", "get_device", "pickle_storage_type", "TypedStorage.type",
})  # fmt: skip
"""Operations, by their names or the last part of them, that are about the host's memory or another device's."""
DEADLY = {"cuda": frozenset({"byteswap"})}
"""Such that end the process, where a refusal is due: docs/gpu.md has them, and no run is spent on them again."""

_STORAGES = ("UntypedStorage", "TypedStorage")
"""Classes whose storages lie on any device; the others are each of one dtype and of the host."""

EVICTED_BYTES = 256 << 20
"""More than the last cache of any device of today."""


class OnDevice(Torch):
    """Eager torch on one device."""

    def __init__(self, kind: str, device: torch.device) -> None:
        super().__init__()
        self.name, self.device = f"torch:{kind}", device
        self.imports += f'\ntorch.set_default_device("{device}")'
        # Memory of the device is its own: there is none of ours to lie in.
        self.capabilities = replace(
            Torch.capabilities,
            dtypes=Torch.capabilities.dtypes - {*MISSING.get(kind, ())},
            features=Torch.capabilities.features - {"guarded", *UNCHECKED.get(device.type, ())},
        )
        self.forks = False  # a device's context does not survive it
        self._evicted: torch.Tensor | None = None
        if device.type == "cuda":
            self.ports = {**self.ports, "cuda interface": "torch.as_tensor({x}, device='cuda')"}

    def template(self, step: Step) -> str | None:
        """The step's expression; a storage is made on the device, too, which is not PyTorch's default."""
        template = super().template(step)
        if template is None or step.op not in _STORAGES or not {"device", "wrap_storage"}.isdisjoint(dict(step.kwargs)):
            return template
        return f'{template.removesuffix(")")}{", " * bool(step.args or step.kwargs)}device="{self.device}")'

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """The compiled template of a step, made where the device is.

        Unsupported are programs that have no kernel there, that hand memory to the host or take the host's, and that
        name a device: what they say of it is true of a machine with none but the CPU.
        """
        function = super().operation(step)
        given = (*step.args, *[value for _, value in step.kwargs])
        is_legacy = step.op.endswith("Storage") and step.op not in _STORAGES
        left_out = OF_THE_HOST | DEADLY.get(self.device.type, frozenset())
        is_of_the_host = not left_out.isdisjoint((step.op, step.op.rpartition(".")[2]))
        if function is None or is_legacy or is_of_the_host or any(map(_is_elsewhere, given)):
            return None

        def on_the_device(*args: Any) -> Any:
            try:
                with self.device:
                    result = function(*args)
            except NotImplementedError as error:
                raise Unsupported(f"kernel:{step.op}") from error
            if any(self._is_on_the_host(x) for x in (result if isinstance(result, tuple | list) else (result,))):
                raise Unsupported(f"host:{step.op}")
            return result

        return on_the_device

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is a tensor of this device: what `from_dlpack` makes of the host's memory is none."""
        return super().is_tensor(x) and not self._is_on_the_host(x)

    def _is_on_the_host(self, x: Any) -> bool:
        if isinstance(x, torch.Tensor | torch.UntypedStorage | torch.TypedStorage):
            return x.device.type == "cpu" != self.device.type
        return isinstance(x, numpy.ndarray | memoryview) or (
            isinstance(x, str | torch.device) and self.device.type in str(x)
        )

    def describe_storage(self, x: Any) -> tuple[Any, str | None, str]:
        """What a storage says of itself, but for that it is shared: a device's memory always says so."""
        plain, dtype, flags = super().describe_storage(x)
        return plain, dtype, flags if plain.device.type == "cpu" else flags.replace("s", "")

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict, with the device's name."""
        found = super().versions() | {"device": self._device_name()}
        return found | ({"cuda": str(torch.version.cuda)} if self.device.type == "cuda" else {})

    def _device_name(self) -> str:
        properties = getattr(torch.get_device_module(self.device), "get_device_name", None)
        return str(properties(self.device)) if properties is not None else self.device.type

    def lost(self) -> str:
        """Why the device answers no more; empty where it does."""
        return why_lost(lambda: torch.zeros(1, device=self.device).cpu())

    def synchronize(self) -> None:
        """Wait until the device has done what it was told to: a time without that is the time to tell it."""
        torch.get_device_module(self.device).synchronize()

    @property
    def elapsed_ns(self) -> Callable[[Callable[[], Any], int], int] | None:
        """Nanoseconds that so many calls take by events on the device; None where it has no events."""
        event = getattr(torch.get_device_module(self.device), "Event", None)
        return None if event is None else partial(_elapsed_ns, event)

    def empty_caches(self) -> None:
        """Write more of the device's memory than its caches hold."""
        if self._evicted is None:
            self._evicted = torch.empty(EVICTED_BYTES, dtype=torch.uint8, device=self.device)
        self._evicted.fill_(0)

    def peak_bytes(self, call: Callable[[], Any]) -> int | None:
        """Bytes of the device that a call holds at its peak beyond what was there before, by its statistics.

        None where the device keeps none.
        """
        module = torch.get_device_module(self.device)
        if not hasattr(module, "reset_peak_memory_stats"):
            return None
        before = int(module.memory_allocated())
        module.reset_peak_memory_stats()
        result = call()
        peak = int(module.max_memory_allocated()) - before
        del result
        return peak

    def storage(self, data: Any, backing: str) -> Any:
        """A storage on the device, filled from the host."""
        host = super().storage(bytes(data), "owned")
        storage = self._storage_type(len(data), device=self.device)
        return storage.copy_(host) if len(data) else storage

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor set on the storage."""
        empty = torch.empty(0, dtype=self._dtypes[dtype], device=self.device)
        return empty.set_(storage, offset, shape, strides).data

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes, copied to the host; copying waits for the device."""
        if storage.device.type == "meta":  # a program may make one: it has a length alone
            return b""
        host = storage.cpu()
        return ctypes.string_at(host.data_ptr(), host.nbytes()) if host.nbytes() else b""

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage from the bytes expression `data`."""
        return f'{name} = torch.tensor(list({data}), dtype=torch.uint8, device="{self.device}").untyped_storage()'

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input over a storage."""
        placed = f'{item.dtype}, device="{self.device}")'
        return super().write_input(name, item, storage).replace(f"{item.dtype})", placed, 1)


def _is_elsewhere(x: Any) -> bool:
    """Whether an argument names a device that has memory, or is memory of the host."""
    if not isinstance(x, str):
        return isinstance(x, bytes)
    try:
        return torch.device(x).type != "meta"
    except RuntimeError:
        return False


def _elapsed_ns(event: Any, call: Callable[[], Any], number: int) -> int:
    begin, end = event(enable_timing=True), event(enable_timing=True)
    begin.record()
    for _ in range(number):
        call()
    end.record()
    end.synchronize()
    return int(1e6 * begin.elapsed_time(end))


def device(variant: str) -> OnDevice | None:
    """The adapter of a variant of `torch` that is a device; None where it is none.

    Raises
    ------
    ImportError
        The device is not here; the message says why.
    """
    registered = torch._C._get_privateuse1_backend_name()
    if variant not in (*KINDS, registered):
        return None
    name = registered if variant == "privateuse1" else variant
    module = getattr(torch, name, None)
    if module is None:
        raise ImportError(f"no back end of PyTorch is registered as {variant} here")
    is_available = getattr(module, "is_available", None) or (lambda: False)
    if variant == "mps":
        is_available = torch.backends.mps.is_available
    if not is_available():
        raise ImportError(f"this PyTorch ({torch.__version__}) finds no {name} device")
    adapter = OnDevice(variant, torch.device(name))
    if reason := adapter.lost():
        raise ImportError(f"the {name} device does not answer: {reason}")
    return adapter
