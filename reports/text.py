"""Numbers and foreign text as a reader wants to see them.

Everything in a results file may come from a library under test, so no text of it reaches a page or an XML
file before `clean` has seen it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from .records import Json

# Control characters break XML and CSV, lone surrogates break UTF-8, and bidirectional overrides show code in
# another order than it runs in. Newline and tab are text.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def clean(text: str) -> str:
    r"""The text with every character that could hide or break something written as its escape.

    >>> clean("a\x1b[31m\r\nb")
    'a\\x1b[31m\nb'
    """
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning and how many characters are missing."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def count(number: int, noun: str = "", plural: str = "") -> str:
    """A number with separators, and its noun in the right form.

    >>> count(1, "program"), count(2048, "program")
    ('1 program', '2,048 programs')
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(part: int, whole: int) -> str:
    """Share in percent, rounded down, so that only a whole part reads "100 %".

    >>> percent(99_999, 100_000), percent(1, 100_000), percent(3, 3)
    ('99.9 %', '<0.1 %', '100 %')
    """
    if part == whole:
        return "100 %"
    tenths = part * 1000 // whole
    if not tenths:
        return "0 %" if part == 0 else "<0.1 %"
    return f"{tenths / 10:.1f} %"


def _significant(value: float) -> str:
    """Three significant digits, never in scientific notation."""
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


def time_ns(nanoseconds: float) -> str:
    """A time given in nanoseconds, in the unit that suits it.

    >>> time_ns(812), time_ns(1_234_000)
    ('812 ns', '1.23 ms')
    """
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= scale:
            return f"{_significant(nanoseconds / scale)} {unit}"
    return f"{_significant(nanoseconds)} ns"


def times(factor: float) -> str:
    """A ratio as a factor: `3.1×`."""
    return f"{factor:.1f}×" if factor < 100 else f"{factor:,.0f}×"


def duration(seconds: float) -> str:
    """A duration given in seconds: `48.2 s`, `2 min 13 s`, `1 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def size(nbytes: int) -> str:
    """A number of bytes: `64 KiB`."""
    value = float(nbytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "bytes" or value >= 10 else f"{value:.1f} {unit}"


def moment(iso: str) -> str:
    """An ISO 8601 time as `20 November 2026, 05:30 UTC`; any other text as it is."""
    try:
        when = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    if when.tzinfo is not None:
        when = when.astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def compact(value: Json) -> str:
    """A JSON value on one line, a bare text without its quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def slug(*parts: str) -> str:
    """A name for an anchor: the parts in letters, digits, points and dashes."""
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") for part in parts)


def listed(items: Sequence[str], limit: int = 5) -> str:
    """The first items, and how many there are besides: `a, b and 3 more`."""
    if len(items) <= limit:
        return ", ".join(items)
    return f"{', '.join(items[:limit])} and {len(items) - limit:,} more"
