"""The page: one HTML file that needs no network, no server and no script to be read.

Everything shown passes through jinja2's autoescape and `clean`; a Content-Security-Policy forbids whatever
might still come through to run or to load anything.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from . import claims, exchange_view, handovers, text
from .aspects import ASPECTS
from .frames import COLUMNS
from .mutants import by, found_out
from .records import Claim
from .run import Run
from .summary import summaries
from .timing_view import SERIES, time_groups
from .view import FULL, cell, failure_groups, families, known_groups, verdict

_TEMPLATES = Path(__file__).parent / "templates"

_OUTCOMES: Mapping[str, str] = {
    "pass": "as PyTorch does",
    "fail": "differs from PyTorch, and nobody expected it",
    "xfail": "differs, and an expectation says why: a known deviation",
    "xpass": "an expectation says that it differs, but it no longer does",
    "unsupported": "asks for something that the adapter does not claim; judged as far as it does not",
    "error": "the adapter broke the protocol",
    "crash": "the process of the library died",
    "timeout": "the library did not answer in time",
}


def page(run: Run, out: Path, limit: int = FULL) -> str:
    """The report as one HTML document.

    Parameters
    ----------
    out
        Directory that the page goes to; results files are named relative to it.
    limit
        Failures shown in full.
    """
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    adapters = summaries(run)
    return _environment().get_template("report.html").render(
        run=run,
        verdict=verdict(run, adapters),
        adapters=adapters,
        aspects=run.tally.aspects,
        families=families(run, adapters),
        failure_groups=failure_groups(run, limit),
        known_groups=known_groups(run),
        exchange=exchange_view.pairs(run.handovers),
        exchanged=handovers.headline(run.handovers),
        found_out=found_out,
        by=by,
        claim_range=claims.range_of,
        claim_sides=claims.sides,
        claim_ratio=claims.ratio,
        claim_chart=_claim_chart,
        claim_marks=claims.MARKS,
        claim_symbols=claims.SYMBOLS,
        time_groups=time_groups(run.frames.timings) if run.timings else [],
        columns=COLUMNS,
        aspect_words=ASPECTS,
        outcome_words=_OUTCOMES,
        facts=list(_facts(run)),
        commands=list(dict.fromkeys(source.header.command for source in run.sources)),
        paths={source.path: _relative(source.path, out) for source in run.sources},
        style=Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_digest=digest,
    )  # fmt: skip


def _claim_chart(claim: Claim) -> Markup:
    """The chart of a claim's ratios; empty where it is a statement or was not tried."""
    if claim.low is None or claim.high is None or not claims.range_of(claim):
        return Markup()
    from .charts import claim_chart  # altair takes half a second to import, for most pages in vain

    title = f"{claim.id}: measured ratios, and the claimed range"
    return Markup(claim_chart(claim.trials, claim.low, claim.high, title))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Every text that is not ours already: escapes for what would hide or break something.
        finalize=lambda value: value if isinstance(value, Markup) else _cleaned(value),
    )
    environment.filters |= {
        "count": text.count,
        "percent": text.percent,
        "duration": text.duration,
        "moment": text.moment,
        "compact": text.compact,
        "shorten": text.shorten,
        "slug": text.slug,
        "size": text.size,
        "svg": Markup,  # only for what charts.py has made
    }
    environment.globals |= {"cell": cell, "symbols": [symbol for _, symbol in SERIES], "len": len}
    return environment


def _cleaned(value: object) -> object:
    return text.clean(value) if isinstance(value, str) else value


def _facts(run: Run) -> Iterator[str]:
    """When, with what and where, for the line under the command."""
    header = run.header
    yield text.moment(header.started)
    yield f"stridecheck {header.suite}" + (f" ({header.commit[:10]})" if header.commit else "")
    seeds = [source.header.arguments.get("seed") for source in run.sources]
    if known := dict.fromkeys(str(seed) for seed in seeds if seed is not None):
        yield f"seed {', '.join(known)}"
    yield from (str(header.machine[key]) for key in ("cpu", "system") if header.machine.get(key))
    if cores := header.machine.get("cores"):
        yield f"{cores} cores"


def _relative(path: Path, out: Path) -> str:
    try:
        return os.path.relpath(path, out)
    except ValueError:  # another drive
        return path.name
