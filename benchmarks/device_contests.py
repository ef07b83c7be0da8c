"""What is measured on a CUDA device to try a claim; the other contests, on the host, are in `contests.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from . import models
from .clock import Call
from .model_calls import forward
from .trials import Contest

PLACE = "cuda"
_UPLOADED = (1 << 20, 64 << 20)
"""Bytes that are copied to the device: within the driver's staging buffers, and far beyond."""


def pinned_uploads() -> list[Contest]:
    """A copy from pageable memory against one from pinned memory, both waited for."""

    def pair(nbytes: int) -> tuple[Call, Call]:
        pageable = torch.ones(nbytes, dtype=torch.uint8)
        pinned, target = pageable.pin_memory(), torch.empty(nbytes, dtype=torch.uint8, device=PLACE)
        return partial(target.copy_, pageable), partial(target.copy_, pinned)

    return [Contest(f"{nbytes >> 20} MiB", partial(pair, nbytes), wait) for nbytes in _UPLOADED]


def channels_last_on_device(place: str = PLACE) -> list[Contest]:
    """A convolutional net in NCHW against channels_last, forward under float16 autocast."""

    def pair(size: int) -> tuple[Call, Call]:
        x = torch.randn(16, 3, size, size, device=place)
        last: Any = models.conv_net().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        plain = forward(models.conv_net().to(place), x, torch.float16)
        return plain, forward(last.to(place), x.contiguous(memory_format=torch.channels_last), torch.float16)

    return [Contest(f"conv net, {size} x {size}", partial(pair, size), wait) for size in (64, 224)]


def wait() -> None:
    """Wait until the device has done what it was told to."""
    torch.cuda.synchronize()
