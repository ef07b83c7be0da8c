"""What becomes of a program or a question that a library was given, and of a library that could not be started."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import observation
from .observation import Observation


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The program needs what the library does not claim."""

    reason: str
    seen: Sequence[Observation] = ()
    """What was observed all the same, the inputs first: steps that were left out are skipped, and what uses them."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A program, or a question, could not be judged: `outcome` is error, crash or timeout."""

    outcome: str
    reason: str
    happened_again: bool = True
    """Whether it did when it was tried alone, or after those that ran before it."""
    device_lost: bool = False
    """Whether the library said so, or could not be asked, and nothing more can be run in that process."""


Answer: TypeAlias = Sequence[Observation] | Unsupported | Broken


class AdapterFailed(Exception):
    """The adapter could not be started, or not once more.

    `kind` is `unknown` (no such adapter), `missing` (library or device not here) or `error` (raised, hung, crashed).
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason

    def status(self, skip_missing: bool) -> str:
        """What is recorded of the adapter: `skipped` where it may be missing, and is."""
        return "skipped" if skip_missing and self.kind == "missing" else "failed"

    def advice(self, python: str) -> str:
        """The reason, and another way out where the library was looked for in the suite's own environment."""
        is_ours = self.kind == "missing" and python in ("", sys.executable)
        elsewhere = "; or name the interpreter of an environment that has it: --python PATH"
        return self.reason + (elsewhere if is_ours else "")


def answer_in(message: Mapping[str, Any]) -> Answer:
    """The answer that a worker's message carries."""
    if "error" in message:
        return Broken("error", message["error"])
    if "unsupported" in message and "observations" not in message:
        return Unsupported(message["unsupported"])
    try:
        seen = observation.together(message["observations"], message.get("said", ()), message.get("marks", ()))
        return Unsupported(message["unsupported"], seen) if "unsupported" in message else seen
    except (KeyError, TypeError, ValueError) as error:
        told = f"{type(error).__name__}: {error}"
        return Broken("error", f"the adapter told something that no tensor is, as of its shape or strides ({told})")
