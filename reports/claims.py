"""Claims in words: what was claimed, what was measured, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .records import Claim, Json
from .text import count, size, time_ns

SYMBOLS: Mapping[str, str] = {
    "confirmed": "✓",
    "refuted": "✗",
    "depends": "◐",
    "cannot tell": "?",
    "measured": "·",
    "not tried": "○",
    "failed": "!",
}
"""Of a claim's verdict."""

MARKS: Mapping[str, str] = {"agrees": "✓", "contradicts": "✗", "open": "?", "measured": "·"}
"""Of what a trial says."""


def headline(claims: Sequence[Claim]) -> str:
    """The verdicts counted.

    >>> headline([Claim("a", "It is faster", "faster", "refuted"), Claim("b", "It is not", "", "confirmed")])
    '2 claims: 1 confirmed, 1 refuted'
    """
    claims = [claim for claim in claims if claim.verdict != "not tried"]
    counted = Counter(claim.verdict for claim in claims)
    parts = [f"{counted[verdict]} {verdict}" for verdict in SYMBOLS if counted[verdict]]
    return f"{count(len(claims), 'claim')}: {', '.join(parts)}"


def sides(measured: Mapping[str, Json]) -> str:
    """Both sides of a trial, or whether a statement holds.

    >>> sides({"unit": "bytes", "first": 8388608.0, "second": 4194304.0})
    '8.0 MiB → 4.0 MiB'
    """
    unit, first, second = (measured[name] for name in ("unit", "first", "second"))
    if unit == "holds":
        return "yes" if second else "no"
    return f"{size(int(first))} → {size(int(second))}" if unit == "bytes" else f"{time_ns(first)} → {time_ns(second)}"


def ratio(measured: Mapping[str, Json]) -> str:
    """The ratio of a trial, with its range over the processes where it was timed.

    >>> ratio({"unit": "ns", "ratio": 1.5, "low": 1.4, "high": 1.6})
    '1.50 [1.40, 1.60]'
    """
    if measured["unit"] == "holds":
        return ""
    spread = f" [{measured['low']:.2f}, {measured['high']:.2f}]" if measured["unit"] == "ns" else ""
    return f"{measured['ratio']:.2f}{spread}"


def trial(measured: Mapping[str, Json]) -> str:
    """One trial on one line.

    >>> both = {"label": "64 x 64", "unit": "ns", "first": 1000.0, "second": 1500.0}
    >>> trial({**both, "ratio": 1.5, "low": 1.4, "high": 1.6, "says": "agrees"})
    '64 x 64: 1 µs → 1.5 µs, 1.50 [1.40, 1.60]'
    """
    return ", ".join(filter(None, (f"{measured['label']}: {sides(measured)}", ratio(measured))))


def range_of(claim: Claim) -> str:
    """What the claim means as a ratio; empty where nothing was measured or it is a statement.

    >>> range_of(Claim("a", "It is slower", "+50 %", "refuted", low=1.3, high=1.725, trials=({"unit": "ns"},)))
    '1.30 to 1.73'
    """
    if claim.low is None or claim.high is None or not claim.trials or claim.trials[0]["unit"] == "holds":
        return ""
    return f"{claim.low:.2f} to {claim.high:.2f}"


def lines(claims: Sequence[Claim]) -> Iterator[str]:
    """Two lines for each claim, and one for each trial."""
    for claim in claims:
        figure = f" (claimed: {claim.claimed})" if claim.claimed else ""
        yield f"{SYMBOLS[claim.verdict]} {claim.verdict}: {claim.says}{figure}"
        if claim.why:
            yield f"    {claim.why}"
        for measured in claim.trials:
            yield f"      {MARKS[measured['says']]} {trial(measured)}"
