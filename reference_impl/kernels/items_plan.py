"""Plans of items that are moved one by one: which two loops make a tile."""

from collections.abc import Sequence
from itertools import permutations
from math import gcd

from .descriptor import ONE, Chunked, Loop
from .normal import Dim, Normal
from .plans import LINE, Plan, make_plan, ordered, touched
from .tiles import FIRST_SETS, FIRST_WAYS, limited

_A, _B = 64, 512
"""Turns of the outer and of the inner loop of a tile, at most."""
_HELD = 8192
"""Bytes of what a tile takes in by a third loop, at most."""
_FAR = 8
"""Places far from each other that a tile is read from, at most."""


def items_plan(form: Normal, cached: bool) -> Plan:
    """The plan of a copy item by item; where the caches do not hold all of it, lines count most."""
    dims = list(form.dims) or [Dim(1, form.item, form.item)]
    if len(dims) == 1:
        dims = [Dim(1, 0, 0), *dims]
    pairs = permutations(range(len(dims)), 2)
    a, b = min(pairs, key=lambda k: _cost(dims[k[0]], dims[k[1]], form.item, cached))
    outer, inner = limited(Loop(*dims[a]), _A), limited(Loop(*dims[b]), _B)
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in (a, b)]
    c = ONE
    if rest and _is_small(dims[a], dims[b], form.item):
        # To turn the odometer costs as much as some items.
        third = _third(rest, inner, form.item, cached)
        c = limited(third, _HELD // (form.item * outer.chunk * inner.chunk))
        rest.remove(third)
    loops = ordered([*rest, outer.loop("a"), inner.loop("b"), c.loop("c")], "dst")
    return make_plan("items", form, loops, False, outer, inner, c=c)


def _third(loops: Sequence[Loop], inner: Chunked, item: int, cached: bool) -> Loop:
    """The loop of which a tile spans some turns: what follows in the source, so that it is read as it comes.

    Past the caches what follows in the target is better, if it is few times half a line or more and what follows in the
    source comes next: hardware fetches what is written one after the other, too (0.3 to 1.1 of the time).
    """
    near = min(loops, key=lambda x: abs(x.src))
    first, *others = sorted(loops, key=lambda x: x.dst)
    follows = inner.dst == item and first.dst == inner.chunk * item >= LINE // 2
    if not cached and follows and first.length <= _FAR and near in (first, *others[:1]):
        return first
    return near


def _is_small(a: Dim, b: Dim, item: int) -> bool:
    """Whether a tile that these two dimensions make may span several turns of a third one."""
    return 2 * item * min(a.length, _A) * min(b.length, _B) <= _HELD


def _cost(a: Dim, b: Dim, item: int, cached: bool) -> float:
    """What an item of a tile costs: lines that the tile takes, turns of its loops, and lines that are changed for.

    The weights are those that came nearest to the best of all pairs in 220 drawn copies within the caches, and in 283
    past them (docs/kernel-decisions.md).
    """
    read, written, changed = (1, 1, 0.5) if cached else (4, 8, 1)
    outer, inner = min(a.length, _A), min(b.length, _B)
    lines = written * _lines((outer, a.dst), (inner, b.dst), item) + read * _lines((outer, a.src), (inner, b.src), item)
    changes = (min(b.dst, LINE) + min(abs(b.src), LINE)) / LINE
    turn = 8 if _is_small(a, b, item) else 16
    return (lines + 4 * outer + turn) / (outer * inner) + changed * changes


def _lines(outer: tuple[int, int], inner: tuple[int, int], item: int) -> float:
    """Lines that a tile takes on one side; those that drive each other out of the nearest cache count four times."""
    length, stride = inner[0], abs(inner[1])
    if stride >= LINE and length > min(FIRST_SETS, FIRST_SETS * LINE // gcd(stride, FIRST_SETS * LINE)) * FIRST_WAYS:
        return 4 * outer[0] * touched([inner], item) / LINE
    return touched([outer, inner], item) / LINE
