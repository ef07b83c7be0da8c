"""Charts of timings as inline SVG: one small chart per operation, readable on a narrow screen too.

altair and vl-convert are imported here only, and need neither a browser nor the network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from .timing_view import SERIES

_WIDTH = 190
"""Width of the plot in CSS pixels; with the labels a chart is about 320 wide."""

_TICKS = 9
"""Numbers that fit below a chart."""

_LABELS = 120
"""Room for the layouts' names, in CSS pixels."""

_COLOURS = [f"#0000{number:02x}" for number in range(1, len(SERIES) + 1)]
# Placeholders: the style sheet has other colours for the dark scheme, which Vega knows nothing of.
_PLACEHOLDER = re.compile(r"#0000(0[1-9])")


def domain(rows: pd.DataFrame) -> tuple[float, float]:
    """Smallest and largest `x_copy` with some air, for charts that are to be compared."""
    per_ns = rows["x_copy"] / rows["median_ns"]
    low, high = (rows["q1_ns"] * per_ns).min(), (rows["q3_ns"] * per_ns).max()
    # min and max leave NaN out only if it does not come first.
    return 0.9 * min(0.9, low, rows["x_copy"].min()), 1.1 * max(2.0, high, rows["x_copy"].max())


def x_copy_chart(rows: pd.DataFrame, adapters: Sequence[str], title: str, scale_from: tuple[float, float]) -> str:
    """One operation's `x_copy` per layout and adapter, as an SVG element.

    Parameters
    ----------
    rows
        Rows of the frame `timings`, of one operation; those without an `x_copy` are left out.
    adapters
        All adapters of the run: the place in this list gives colour and shape.
    title
        What a screen reader says of the chart.
    scale_from
        Ends of the logarithmic axis, see `domain`.
    """
    shown = rows.dropna(subset=["x_copy"])
    per_ns = shown["x_copy"] / shown["median_ns"]
    shown = shown.assign(low=shown["q1_ns"] * per_ns, high=shown["q3_ns"] * per_ns)
    base = alt.Chart(shown[["adapter", "layout", "x_copy", "low", "high"]])
    layouts = list(dict.fromkeys(shown["layout"]))
    # Vega measures labels in a font of its own; the reader's may be wider.
    room = min(_LABELS, 8 * max(map(len, layouts)))
    y = alt.Y("layout:N", sort=layouts, title=None, axis=alt.Axis(minExtent=room, maxExtent=room))
    series = {
        "color": alt.Color(
            "adapter:N", legend=None, scale=alt.Scale(domain=list(adapters), range=_cycle(_COLOURS, adapters))
        ),
        "yOffset": alt.YOffset("adapter:N", scale=alt.Scale(domain=list(adapters))),
    }
    scale = alt.Scale(type="log", domain=list(scale_from), nice=False)
    ticks = [digit * 10.0**power for power in range(-3, 6) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if scale_from[0] <= tick <= scale_from[1]]
    if len(ticks) > _TICKS:
        ticks = [tick for tick in ticks if f"{tick:e}".startswith("1")]
    x = alt.X(
        "x_copy:Q",
        title=None,
        scale=scale,
        axis=alt.Axis(values=ticks, format="~g"),
    )
    one = alt.Chart(pd.DataFrame({"x_copy": [1]})).mark_rule(strokeDash=[3, 3], color="currentColor", opacity=0.5)
    spread = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), y=y, **series
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x,
        y=y,
        shape=alt.Shape(
            "adapter:N",
            legend=None,
            scale=alt.Scale(domain=list(adapters), range=_cycle([name for name, _ in SERIES], adapters)),
        ),
        **series,
    )
    chart = alt.layer(one.encode(x=x), spread, points)
    return _drawn(chart.properties(width=_WIDTH, height=alt.Step(max(9, 34 // len(adapters)))), title)


def claim_chart(trials: Sequence[Mapping[str, Any]], low: float, high: float, title: str) -> str:
    """The ratios of a claim's trials with their intervals, and the range that was claimed, as an SVG element.

    Parameters
    ----------
    trials
        With `ratio`, `low` and `high`, positive numbers.
    low, high
        The range that agrees with the claim; `low` may be 0.
    title
        What a screen reader says of the chart.
    """
    rows = pd.DataFrame([{"trial": f"{number:02}", **trial} for number, trial in enumerate(trials)])
    ends = [0.8 * min(0.8, low or 0.8, rows["low"].min()), 1.25 * max(1.25, high, rows["high"].max())]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    ticks = [tick for tick in (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100) if ends[0] <= tick <= ends[1]]
    x = alt.X("ratio:Q", title=None, scale=scale, axis=alt.Axis(values=ticks, format="~g"))
    y = alt.Y("trial:N", title=None, axis=None)
    claimed = alt.Chart(pd.DataFrame({"low": [max(low, ends[0])], "high": [max(high, low, ends[0])]}))
    band = claimed.mark_rect(color=_COLOURS[1], opacity=0.25).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    one = alt.Chart(pd.DataFrame({"ratio": [1]})).mark_rule(strokeDash=[3, 3], color="currentColor", opacity=0.5)
    base = alt.Chart(rows[["trial", "ratio", "low", "high"]])
    spread = base.mark_rule(strokeWidth=1.5, color=_COLOURS[0]).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
    points = base.mark_point(filled=True, size=40, opacity=1, color=_COLOURS[0]).encode(x=x, y=y)
    chart = alt.layer(band, one.encode(x=x), spread, points)
    return _drawn(chart.properties(width=_WIDTH, height=alt.Step(14)), title)


def _drawn(chart: Any, title: str) -> str:
    chart = (
        chart.properties(description=title)
        .configure(background="transparent", font="system-ui, sans-serif", padding=2)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor="currentColor",
            labelFontSize=12,
            labelLimit=_LABELS,
            domain=False,
            ticks=False,
            gridColor="currentColor",
            gridOpacity=0.12,
        )
    )
    return _inline(vl_convert.vegalite_to_svg(chart.to_dict()), title)


def _cycle(values: Sequence[str], adapters: Sequence[str]) -> list[str]:
    return [values[number % len(values)] for number in range(len(adapters))]


def _inline(svg: str, title: str) -> str:
    """The SVG with the style sheet's colours, and as one picture to a screen reader."""
    coloured = _PLACEHOLDER.sub(lambda match: f"var(--series-{int(match.group(1))})", svg)
    # Vega gives every mark a role and a label of its own: hundreds of stops for who listens to the page. The
    # table beside the chart holds the same figures.
    quiet = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", coloured)
    label = title.translate({ord(letter): None for letter in '<>&"'})
    return quiet.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
