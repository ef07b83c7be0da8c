"""Names that a user gives by globs, and what may have been meant where one matches nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import filter as matching


def unmatched(what: str, globs: Iterable[str], names: Sequence[str], otherwise: str = "") -> str:
    """That a glob matches none of the names, in words, with names and families that are near; empty where all match.

    >>> unmatched("rule", ["veiw.*"], ["view.merge", "view.split", "zeros"])
    "no rule matches 'veiw.*'; did you mean view.*?"
    >>> unmatched("rule", ["view.*"], ["view.merge", "view.split", "zeros"])
    ''
    """
    for glob in globs:
        if not matching(names, glob):
            families = dict.fromkeys(f"{name.partition('.')[0]}.*" for name in names if "." in name)
            close = get_close_matches(glob, [*families, *names], 3)
            hint = f"did you mean {', '.join(close)}?" if close else otherwise
            return f"no {what} matches {glob!r}" + (f"; {hint}" if hint else "")
    return ""
