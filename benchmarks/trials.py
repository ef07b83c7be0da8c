"""What a claim can be tried by, and the trying: two calls, two amounts of memory, or a statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from . import clock
from .clock import Call


@dataclass(frozen=True, slots=True)
class Contest:
    """Two calls that are compared: the claim is about the time (or memory) of `second` over that of `first`."""

    label: str
    make: Callable[[], tuple[Call, Call]]
    wait: Call | None = None
    """Waits for the device that the calls run on."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Two amounts of memory that are compared, second over first, in bytes."""

    label: str
    count: Callable[[], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that holds or does not."""

    label: str
    holds: Callable[[], bool]


Trial = Contest | Bytes | Statement

Measured = list[tuple[str, Any, Any]]
"""For each trial of a claim its label and what both sides came to: samples in ns, bytes, or truths."""


class NotTried(NamedTuple):
    """Why a claim was not tried: something went wrong, or what it takes is not here."""

    reason: str
    is_wrong: bool = True


def measure(id: str, say: Callable[[], None] = lambda: None) -> Measured | NotTried:
    """Try a claim in this process, on one thread; why not, where that cannot be done.

    `say` is called before each trial.
    """
    try:
        import torch

        from . import contests

        if id in contests.ON_DEVICE and not torch.cuda.is_available():
            return NotTried(f"needs a CUDA device, and PyTorch {torch.__version__} finds none", is_wrong=False)
        torch.set_num_threads(1)
        found = []
        for trial in contests.TRIALS[id]():
            say()
            found.append(_try(trial))
        return found
    except Exception as error:  # a torch without one engine or module still has all others' claims tried
        return NotTried(f"{type(error).__name__}: {error}")


def _try(trial: Trial) -> tuple[str, Any, Any]:
    if isinstance(trial, Contest):
        take = clock.block if trial.wait is None else partial(clock.block, synchronize=trial.wait)
        runners = [clock.Runner(call, take) for call in trial.make()]
        clock.race(runners, clock.QUICK)
        for runner in runners:
            if runner.error is not None:
                raise runner.error
        return trial.label, runners[0].samples_ns, runners[1].samples_ns
    if isinstance(trial, Bytes):
        first, second = trial.count()
        if not first:
            raise ValueError(f"{trial.label}: the first side takes no memory, so that the second has no ratio to it")
        return trial.label, first, second
    return trial.label, True, trial.holds()
