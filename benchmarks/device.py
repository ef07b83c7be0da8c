"""What timing on a device takes: its own events for a clock, its own caches emptied, its clock rates noted.

An adapter of a device has `synchronize()`. It may have `elapsed_ns`, which takes a call and how often to call it and
answers with nanoseconds by the device's events, and `empty_caches()`. Nothing of a device's settings is ever changed.
"""

from __future__ import annotations

import subprocess
from functools import partial
from typing import Any

from . import memory
from .clock import Call, Take, block

_ASKED = ("clocks.sm", "clocks.mem", "clocks.max.sm")
_SECONDS = 5.0


def is_device(adapter: Any) -> bool:
    """Whether a library computes on a device that must be waited for."""
    return hasattr(adapter, "synchronize")


def take_of(adapter: Any) -> Take:
    """How blocks of a library's calls are timed: by the device's events, else by a host's clock that waits for it.

    >>> take_of(object()) is block
    True
    """
    elapsed: Take | None = getattr(adapter, "elapsed_ns", None)
    if elapsed is not None:
        return elapsed
    return partial(block, synchronize=adapter.synchronize) if is_device(adapter) else block


def emptier_of(adapter: Any) -> Call | None:
    """What empties the caches that a library's operands may be in; None where nobody can."""
    own: Call | None = getattr(adapter, "empty_caches", None)
    return own if is_device(adapter) else memory.empty_caches


def clocks_of(adapter: Any) -> str:
    """The rates at which the device runs at this moment, as its driver tells; empty where it does not, or on the host.

    Those of the first NVIDIA device, which is the one that adapters take.
    """
    if not is_device(adapter):
        return ""
    command = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(_ASKED)}", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return said_clocks(said)


def said_clocks(text: str) -> str:
    """A line of figures in MHz as words.

    >>> said_clocks("1755, 2619, 1980")
    'cores 1755 of at most 1980 MHz, memory 2619 MHz'
    """
    cores, of_memory, most = (part.strip() for part in text.strip().splitlines()[0].split(","))
    return f"cores {cores} of at most {most} MHz, memory {of_memory} MHz"
