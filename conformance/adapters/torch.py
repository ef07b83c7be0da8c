"""PyTorch itself, eager on the CPU."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..capabilities import FEATURES, Capabilities
from ..discovery import UnknownAdapter
from ..program import ITEMSIZES, QUANTISED, Step
from .torch_style import TorchStyle

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

with contextlib.suppress(ImportError):
    # What the first backward() imports, SymPy with it: 0.3 s in every process that is forked from this one.
    import torch.fx.experimental.symbolic_shapes

_HAS_CODE = {
    "cuda": torch.backends.cuda.is_built(),  # type: ignore[no-untyped-call]
    "mps": torch.backends.mps.is_built(),
    "xpu": torch.xpu._is_compiled(),
}
ELSEWHERE = {name for name, has_code in _HAS_CODE.items() if has_code}
"""Devices that programs may name, and what goes another way here: where code for one is built, and where one is."""
if torch.accelerator.is_available():
    ELSEWHERE |= {*_HAS_CODE, "hpu", "pin_memory", "is_pinned"}
DLPACK_DEVICES = {2: "cuda", 3: "cuda", 8: "mps", 13: "cuda", 14: "xpu"}
"""DLPack's numbers of devices."""
_WORD = re.compile(r"\w+")

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
        # oneDNN compiles code for the first of these: 40 ms in every process that is forked from this one.
        torch.conv2d(torch.ones(2, 4, 4, 2), torch.ones(4, 2, 1, 2), groups=2)

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """The compiled template of a step; one that is about a device which may be here is unsupported.

        Programs are of a build that has the CPU alone, where each is refused in a way of its own.
        """
        return None if ELSEWHERE and not ELSEWHERE.isdisjoint(words_of(step)) else super().operation(step)

    def set_threads(self, threads: int) -> None:
        """Let each operation use that many threads; one until this is called."""
        torch.set_num_threads(threads)

    def peak_bytes(self, call: Callable[[], Any]) -> int | None:
        """Bytes that a call holds at its peak, see the function."""
        return peak_bytes(call)

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict, and the devices that programs may not name here."""
        devices = " ".join(sorted(ELSEWHERE & _HAS_CODE.keys()))
        return {"torch": str(torch.__version__)} | ({"devices": devices} if devices else {})


def words_of(step: Step) -> Iterator[str]:
    """Words of a step that may name a device: of its operation, of strings, and by DLPack's numbers.

    >>> [*words_of(Step("UntypedStorage", (4,), (("device", "cuda:0"),)))]
    ['UntypedStorage', 'cuda', '0']
    """
    yield from _WORD.findall(step.op)
    for given in (*step.args, *[value for _, value in step.kwargs]):
        if isinstance(given, str):
            yield from _WORD.findall(given)
        elif step.op == "__dlpack__" and isinstance(given, tuple) and given:
            yield DLPACK_DEVICES.get(given[0], "")


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
