"""PyTorch itself, eager on the CPU."""

from __future__ import annotations

import os
import warnings

from ..capabilities import FEATURES, Capabilities
from ..discovery import UnknownAdapter
from .torch_style import TorchStyle

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip


class Torch(TorchStyle):
    """Eager torch."""

    name = "torch:cpu"
    capabilities = Capabilities(frozenset(DTYPES), frozenset(FEATURES) - {"negative-strides"}, exact_errors=True)

    def __init__(self) -> None:
        super().__init__(torch, DTYPES)
        torch.set_num_threads(1)
        warnings.filterwarnings("ignore")

    def set_threads(self, threads: int) -> None:
        """Let each operation use that many threads; one until this is called."""
        torch.set_num_threads(threads)

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
        raise UnknownAdapter(f"torch has the variants {modes} and {', '.join(torch_device.KINDS)}, not {variant!r}")
    return found
