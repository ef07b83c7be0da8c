"""Plans of items that are moved one by one: which two loops make a tile."""

from collections.abc import Sequence
from itertools import permutations
from math import gcd

from .descriptor import Loop
from .normal import Dim, Normal
from .plans import LINE, Plan, made, ordered, touched
from .tiles import FIRST_SETS, FIRST_WAYS, some

FEW = 8
"""Turns below which a loop should not be the innermost."""
_A, _B = 64, 512
"""Turns of the outer and of the inner loop of a tile, at most."""


def items_plan(form: Normal, cached: bool) -> Plan:
    """The plan of a copy item by item; where the caches hold all of it, how many turns loops take counts as much."""
    dims = list(form.dims) or [Dim(1, form.item, form.item)]
    if len(dims) == 1:
        dims = [Dim(1, 0, 0), *dims]
    pairs = permutations(range(len(dims)), 2)
    a, b = min(pairs, key=lambda k: _cost(dims[k[0]], dims[k[1]], form.item)) if cached else _nearest(dims)
    outer, inner = some(Loop(*dims[a]), _A), some(Loop(*dims[b]), _B)
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in (a, b)]
    return made("items", form, ordered([*rest, outer.loop("a"), inner.loop("b")], "dst"), False, outer, inner)


def _cost(a: Dim, b: Dim, item: int) -> float:
    """What an item of a tile costs: lines that the tile takes, turns of its loops, and lines that are changed for.

    The weights are those that came nearest to the best of all pairs in 220 drawn copies (docs/kernels.md).
    """
    outer, inner = min(a.length, _A), min(b.length, _B)
    lines = sum(_lines((outer, x), (inner, y), item) for x, y in ((a.dst, b.dst), (a.src, b.src)))
    changes = (min(b.dst, LINE) + min(abs(b.src), LINE)) / LINE
    return (lines + 4 * outer + 16) / (outer * inner) + changes / 2


def _lines(outer: tuple[int, int], inner: tuple[int, int], item: int) -> float:
    """Lines that a tile takes on one side; those that drive each other out of the nearest cache count four times."""
    length, stride = inner[0], abs(inner[1])
    if stride >= LINE and length > min(FIRST_SETS, FIRST_SETS * LINE // gcd(stride, FIRST_SETS * LINE)) * FIRST_WAYS:
        return 4 * outer[0] * touched([inner], item) / LINE
    return touched([outer, inner], item) / LINE


def _nearest(dims: Sequence[Dim]) -> tuple[int, int]:
    """The last dimension within the one that is nearest in the source; a long loop within a line of both is better."""
    last = len(dims) - 1
    long = [k for k in range(last) if _is_long(dims[k])] or range(last)
    a = min(long, key=lambda k: abs(dims[k].src) or 1 << 62)
    return (last, a) if dims[last].length < FEW and _is_long(dims[a]) else (a, last)


def _is_long(dim: Dim) -> bool:
    return dim.length >= FEW and max(dim.dst, abs(dim.src)) < LINE
