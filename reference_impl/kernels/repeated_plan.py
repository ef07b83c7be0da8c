"""Plans of what is repeated along a dimension: its first turn by any plan, the others as runs from there."""

from collections.abc import Callable
from dataclasses import replace
from math import gcd

from .descriptor import AGAIN, B_CHUNK, MODE, STREAM, Chunked, Loop
from .normal import Dim, Normal
from .plans import LINE, OWN, REPEATED, Host, Plan, beside, make_plan, ordered
from .runs_plan import runs_plan
from .tiles import TILE, tiled

_LEAST_ROW, _LONG_ROW = 2048, 8192
"""Bytes that all turns of a dimension come to from which on it pays to write one first, and where they are runs to put
these together whatever else is repeated."""
_FEW_TURNS = 5
"""Turns of a run, at most, that are better copied one by one where all come to few bytes: past the caches 0.9 of the
time."""
_FEW, _FEW_OF_MANY, _MANY = 8 * LINE, 32 * LINE, 1 << 18
"""Bytes of rows of one item each that follow each other below which to find where they are takes longer; the same of so
large a copy, of which the nearest cache keeps little."""
_LONGEST_TURN = 1 << 16
"""Bytes of a turn beyond which the nearest caches no longer hold what is written again."""
_TIMES = 3
"""Times what the caches keep that runs are repeated through them where stores fetch nothing."""


def repeated_plan(
    form: Normal, plan: Plan, host: Host, streamed: bool, first_turn: Callable[[Normal], Plan]
) -> Plan | None:
    """A plan for a form of which one dimension repeats what lies within it, if that is quicker than `plan`.

    That of a run, where this gives long rows, or else the outermost one whose turns follow each other in the target.
    """
    if not form.dims or _is_quick(plan):
        return None
    dims, run, fills = form.dims, _run_begins(form), plan.kernel == "fill"
    if run and dims[run - 1].src == 0 and _follows(form, run - 1) and _row(dims[run - 1]) >= _LONG_ROW and not fills:
        return _repeats(form, run - 1, host, streamed)
    for k, d in enumerate(dims):
        least = _least_row(d.length, streamed) if k == run - 1 else _LEAST_ROW
        if d.src or _row(d) < least or not _follows(form, k) or (fills and _fills_well(plan, d.dst)):
            continue
        if any(x.src for x in dims[k + 1 :]):
            if k == run - 1:
                return _repeats(form, k, host, streamed)
            return _written_once(form, k, first_turn(form.part(k, 0, 1)), host, streamed)
    return None


def _least_row(turns: int, streamed: bool) -> int:
    """Bytes that all turns of a run come to from which on these are better put together in a buffer than copied."""
    if turns == 2:
        return 2 * REPEATED  # runs that long are as quick
    return _LEAST_ROW if streamed and turns > _FEW_TURNS else 2 * _LEAST_ROW


def _is_quick(plan: Plan) -> bool:
    """Whether nothing is quicker: runs are so long that it hardly counts where they begin."""
    return plan.kernel in ("runs", "joined") and _last_row(plan) >= REPEATED


def _fills_well(plan: Plan, turn: int) -> bool:
    """Whether rows of one item each are filled in less time than it takes to copy them from an earlier turn.

    Not where rows that a buffer does not put together share lines past the caches, or, within them, few bytes at a time
    follow each other, and a turn of these is short.
    """
    row = _last_row(plan)
    if plan.streamed:
        return row >= REPEATED or row % LINE == 0 or LINE % row == 0
    few = _FEW_OF_MANY if plan.form.nbytes >= _MANY else _FEW
    return turn > _LONGEST_TURN or bool(row * plan.descriptor[B_CHUNK] >= few)


def _last_row(plan: Plan) -> int:
    """Bytes of the last dimension."""
    return plan.form.dims[-1].length * plan.form.item


def _run_begins(form: Normal) -> int:
    """The number of dimensions before the run that both sides have in one piece."""
    last = form.dims[-1]
    return len(form.dims) - (last.dst == last.src == form.item)


def _row(dim: Dim) -> int:
    """Bytes of a dimension with all that lies within it."""
    return dim.length * dim.dst


def _follows(form: Normal, k: int) -> bool:
    """Whether all that dimension `k` goes over in one turn is in one piece of the target."""
    reach = form.item
    for d in reversed(form.dims[k + 1 :]):
        if d.dst != reach:
            return False
        reach *= d.length
    return form.dims[k].dst == reach


def _written_once(form: Normal, k: int, first: Plan, host: Host, streamed: bool) -> Plan:
    """A plan for the first turn of dimension `k`, and then one for the others: copies of that within the target."""
    d = form.dims[k]
    rows = [x._replace(src=x.dst) for x in form.dims[:k]]
    others = [Dim(d.length - 1, d.dst, 0)] if d.length > 2 else []
    run = Dim(d.dst // form.item, form.item, form.item)
    rest = Normal((*rows, *others, run), form.item, form.dst_shift + d.dst, form.dst_shift)
    there = replace(host, dst_phase=(host.dst_phase + d.dst) % LINE)
    again = (
        _repeats(rest, k, there, streamed) if others and d.dst <= REPEATED else runs_plan(rest, there, OWN, streamed)
    )
    again.look_at_nothing()
    again.descriptor[MODE] |= AGAIN
    # The source may lie where the others will be written: the first looks at all of the target.
    return beside(form, [replace(first, more=()), *first.more, again])


def _repeats(form: Normal, k: int, host: Host, streamed: bool) -> Plan:
    """The plan where dimension `k` repeats a run, which is the last dimension or the item."""
    d = form.dims[k]
    streamed = streamed and not host.keeps_written(form.nbytes, _TIMES)
    step = LINE // gcd(d.dst, LINE)  # so many turns end where a line does
    turns = d.length if _row(d) <= 8 * TILE else max(step, 4 * TILE // d.dst // step * step)
    a = Chunked(d.length, turns, d.dst, 0)
    loops, b = tiled(ordered([Loop(*x) for x in form.dims[:k]], "dst"), a.chunk * d.dst)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    return make_plan("repeated", form, loops, streamed, a, b, mode=STREAM * streamed, run=d.dst)
