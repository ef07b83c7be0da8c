"""The Python front door: `check` runs what the command line runs and answers with frames."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stridecheck.conformance.check import Options
from stridecheck.conformance.check import check as _check

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

    Raises
    ------
    ValueError
        An option is out of its range, or no rule matches one of `rules`.
    OSError
        The directory cannot be written.

    >>> check("numpy", programs=20).frame.columns.tolist()[:3]
    ['adapter', 'rule', 'family']
    """
    if not isinstance(rules := options.get("rules", ""), str):
        options["rules"] = ",".join(rules)
    directory = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="stridecheck-"))
    return Results(directory, _check(Options((adapter, *adapters), **options), directory))
