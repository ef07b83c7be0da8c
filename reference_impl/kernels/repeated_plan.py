"""Plans of what is repeated along a dimension: its first turn by any plan, the others as runs from there."""

from collections.abc import Callable
from dataclasses import replace

from .descriptor import AGAIN, STREAM, Chunked, Loop
from .normal import Dim, Normal
from .plans import Plan, make_plan, ordered
from .tiles import TILE, tiled

_LEAST_ROW = 2048
"""Bytes that a run comes to with all its turns from which on putting them together pays."""
_LONG_RUN, _LONG_FILL = 4096, 1024
"""Bytes of runs and of fills that other kernels write as quickly as what is repeated."""


def repeated_plan(form: Normal, plan: Plan, first_turn: Callable[[Normal], Plan], streamed: bool) -> Plan | None:
    """A plan for a form of which one dimension repeats what lies within it, if that is quicker than `plan`.

    Of several such dimensions it is the outermost one whose turns follow each other in the target.
    """
    for k, d in enumerate(form.dims):
        if d.src == 0 and _follows(form, k) and any(x.src for x in form.dims[k + 1 :]):
            break
    else:
        return None
    inner = form.dims[k + 1 :]
    if d.dst * d.length < _LEAST_ROW or _is_quick(plan):
        return None
    if len(inner) == 1 and inner[0].src == form.item:
        return _repeats(form, k, streamed)
    first = first_turn(form.part(k, 0, 1))
    rows = [x._replace(src=x.dst) for x in form.dims[:k]]
    run = Dim(d.dst // form.item, form.item, form.item)
    rest = Normal((*rows, Dim(d.length - 1, d.dst, 0), run), form.item, form.dst_shift + d.dst, form.dst_shift)
    again = _repeats(rest, k, streamed, AGAIN)
    return replace(first, more=(*first.more, again))


def _follows(form: Normal, k: int) -> bool:
    """Whether all that dimension `k` goes over in one turn is in one piece of the target."""
    reach = form.item
    for d in reversed(form.dims[k + 1 :]):
        if d.dst != reach:
            return False
        reach *= d.length
    return form.dims[k].dst == reach


def _is_quick(plan: Plan) -> bool:
    last = plan.form.dims[-1] if plan.form.dims else Dim(1, 0, 0)
    nbytes = last.length * plan.form.item
    if plan.kernel == "fill":
        return nbytes >= _LONG_FILL
    return plan.kernel in ("runs", "joined") and nbytes >= _LONG_RUN


def _repeats(form: Normal, k: int, streamed: bool, mode: int = 0) -> Plan:
    """The plan where dimension `k` repeats a run, which is the last dimension or the item."""
    d = form.dims[k]
    turns = d.length if d.length * d.dst <= 8 * TILE else max(1, 4 * TILE // d.dst)
    a = Chunked(d.length, turns, d.dst, 0)
    loops, b = tiled(ordered([Loop(*x) for x in form.dims[:k]], "dst"), a.chunk * d.dst)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    plan = make_plan("repeated", form, loops, streamed, a, b, mode=STREAM * streamed | mode, run=d.dst)
    if mode & AGAIN:
        plan.look_at_nothing()
    return plan
