"""The Python front door: `check` runs what the command line runs and answers with frames."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stridecheck.conformance.check import Options
from stridecheck.conformance.check import check as _check

from .commands.directory import begun_in

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Results:
    """What a run left behind: a directory with `results.jsonl`, and frames made from it."""

    directory: Path
    exit_code: int

    @cached_property
    def frames(self) -> Any:
        """All frames, see `stridecheck.reports.frames`."""
        from stridecheck.reports.frames import frames
        from stridecheck.reports.run import load

        return frames(load([self.directory]))

    @property
    def frame(self) -> pd.DataFrame:
        """Outcomes, one row for each adapter, rule, aspect and outcome."""
        frame: pd.DataFrame = self.frames.outcomes
        return frame


def check(adapter: str, *adapters: str, out: Path | str | None = None, **options: Any) -> Results:
    """Check adapters by name, as `stridecheck check` does.

    `options` are the fields of `stridecheck.conformance.check.Options`; without `out` a temporary directory is made.
    Results that are in `out` are kept as `results.previous.jsonl`; where nothing is tried they stay as they were, and
    the exit code tells.

    Raises
    ------
    ValueError
        An option is out of its range, or no rule matches one of `rules`.
    InUse
        Another run is writing into the directory.
    OSError
        The directory cannot be written.

    >>> check("numpy", programs=20).frame.columns.tolist()[:3]
    ['adapter', 'rule', 'family']
    """
    if not isinstance(rules := options.get("rules", ""), str):
        options["rules"] = ",".join(rules)
    asked = Options((adapter, *adapters), **options)
    directory = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="stridecheck-"))
    with begun_in(directory, anew=not asked.resume):
        return Results(directory, _check(asked, directory))
