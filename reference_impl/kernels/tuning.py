"""Tuning: a few variants of a plan timed once for each large transpose, the best one remembered on disk.

Off unless asked for, by `STRIDECHECK_TUNING=1`. The file lies in `$XDG_CACHE_HOME/stridecheck`, or else in
`~/.cache/stridecheck`, one for each processor model. One that is damaged, or another machine's, is ignored with a
warning.
"""

import dataclasses
import json
import os
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .descriptor import STAGE_IN, STAGE_OUT
from .files import write_whole
from .normal import Normal
from .plans import OWN, Choice, Host, Plan

VARIABLE = "STRIDECHECK_TUNING"
SMALLEST = 4 << 20
"""Bytes from which on a copy is worth tuning."""
TUNED = ("transpose", "carried")
"""Kernels instead of which others may be tried."""
_VERSION = 9
_ROUNDS = 3

Measure = Callable[[Choice], float | None]
"""Seconds that a copy takes with a choice; None where it cannot be performed."""


def wanted() -> bool:
    """Whether the environment asks for tuning."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def choices(plan: Plan) -> list[Choice]:
    """The variants of a plan that are worth a try, the planner's own first."""
    if plan.kernel not in TUNED:
        return [OWN]
    sizes = ((64, 4096), (128, 2048), (1024, 2048)) if plan.form.item >= 4 else ((128, 1024), (256, 512), (1024, 256))
    found = [OWN, *[Choice(order, a, b) for order in ("src", "dst") for a, b in sizes]]
    # Through buffers that the planner may do without.
    found += [Choice("src", 512, 4096, STAGE_OUT)] if not plan.staged & STAGE_OUT else []
    if plan.form.item < 4:
        found += [Choice("src", 256, 256, STAGE_IN)]
    return found


def path_for(model: str) -> Path:
    """The file of a processor model.

    >>> path_for("AMD EPYC 9R45").name
    'kernels-amd-epyc-9r45.json'
    """
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-") or "unknown"
    return Path(root) / "stridecheck" / f"kernels-{slug}.json"


class Tuning:
    """What is remembered for one processor model."""

    def __init__(self, path: Path, model: str) -> None:
        self._path, self._model = path, model
        self._known = _read(path, model)

    def choose(self, plan: Plan, form: Normal, host: Host, measure: Measure) -> Choice:
        """The best choice for a plan that was made for a target, timed now where none is remembered."""
        key = _key(form, host)
        if key in self._known:
            return self._known[key]
        times: dict[Choice, float] = {}
        for _ in range(_ROUNDS):
            for choice in choices(plan):
                took = measure(choice)
                if took is not None:
                    times[choice] = min(took, times.get(choice, took))
        best = min(times, key=lambda choice: times[choice], default=OWN)
        # The planner knows best where the clock sees hardly any difference.
        if OWN in times and times[best] > 0.95 * times[OWN]:
            best = OWN
        self._known[key] = best
        self._write()
        return best

    def _write(self) -> None:
        plans = {key: dataclasses.asdict(choice) for key, choice in dict(self._known).items()}
        text = json.dumps({"version": _VERSION, "model": self._model, "plans": plans}, indent=1)
        try:
            # Two processes that tune at once leave a whole file, though only one's findings.
            write_whole(self._path, text.encode())
        except OSError as error:
            warnings.warn(f"{self._path}: what was tuned cannot be kept: {error}", stacklevel=2)


def timed(call: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _key(form: Normal, host: Host) -> str:
    dims = ";".join(f"{d.length},{d.dst},{d.src}" for d in form.dims)
    return f"{dims}|{form.item}|{host.dst_phase}|{host.src_phase}|{host.width}"


def _read(path: Path, model: str) -> dict[str, Choice]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        warnings.warn(f"{path}: ignored, since it cannot be read: {error}", stacklevel=2)
        return {}
    try:
        content = json.loads(text)
        if content["version"] != _VERSION or content["model"] != model:
            about = f"version {content['version']} for {content['model']!r}"
            warnings.warn(f"{path}: ignored, since it is {about}; here it is {_VERSION}, {model!r}", stacklevel=2)
            return {}
        return {str(key): _choice(fields) for key, fields in content["plans"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        warnings.warn(f"{path}: ignored, since it is damaged: {type(error).__name__}: {error}", stacklevel=2)
        return {}


def _choice(fields: dict[str, Any]) -> Choice:
    choice = Choice(**fields)
    numbers = (choice.a_bytes, choice.b_bytes, choice.staged, choice.streamed)
    limits = (range(1 << 14), range(1 << 14), (-1, 0, 2, 4, 6), (-1, 0, 1))
    sound = all(type(value) is int and value in limit for value, limit in zip(numbers, limits, strict=True))
    if choice.order not in ("", "src", "dst") or not sound:
        raise ValueError(f"no such choice: {fields}")
    return choice
