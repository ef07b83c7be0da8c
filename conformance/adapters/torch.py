"""PyTorch itself, eager on the CPU."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from ..capabilities import FEATURES, Capabilities
from ..discovery import UnknownAdapter
from ..program import ITEMSIZES, QUANTISED
from .torch_style import TorchStyle

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

DTYPES = tuple(name for name in (*ITEMSIZES, *QUANTISED) if hasattr(torch, name))


def peak_bytes(call: Callable[[], Any]) -> int:
    """Bytes that a call holds at its peak beyond what was there before, by what PyTorch's allocator reports."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    held = most = 0
    for event in profiler.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


class Torch(TorchStyle):
    """Eager torch."""

    name = "torch:cpu"
    capabilities = Capabilities(frozenset(DTYPES), frozenset(FEATURES) - {"negative-strides"}, exact_errors=True)

    def __init__(self) -> None:
        super().__init__(torch, DTYPES)
        torch.set_num_threads(1)
        torch.backends.opt_einsum.enabled = False  # where that package lies beside torch, einsum takes other ways
        warnings.filterwarnings("ignore")

    def set_threads(self, threads: int) -> None:
        """Let each operation use that many threads; one until this is called."""
        torch.set_num_threads(threads)

    def peak_bytes(self, call: Callable[[], Any]) -> int | None:
        """Bytes that a call holds at its peak, see the function."""
        return peak_bytes(call)

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"torch": str(torch.__version__)}


def adapter(variant: str = "") -> Torch:
    """The adapter for `torch` or `torch:cpu`, a device (`torch:cuda`), or a mode (`torch:meta`, `torch:compile`).

    Raises
    ------
    UnknownAdapter
        There is no such device or mode.
    ImportError
        It is not here; the message says why.
    """
    if variant in ("", "cpu"):
        return Torch()
    from . import torch_device, torch_modes

    found = torch_modes.mode(variant) or torch_device.device(variant)
    if found is None:
        modes = "cpu, meta, fake, compile, compile-BACKEND"
        devices = f"{', '.join(torch_device.KINDS)} (a back end by its own name, too, where it is registered)"
        raise UnknownAdapter(f"torch has the variants {modes} and {devices}, not {variant!r}")
    return found
