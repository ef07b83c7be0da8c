"""Plans of transposes past the caches to rows that all begin at one place within a line: whole lines, strips beside."""

from dataclasses import replace

from .items_plan import items_plan
from .normal import Normal
from .plans import LINE, OWN, Choice, Host, Plan, beside
from .transpose_plan import LONG, transpose_plan


def shifted_plan(form: Normal, along: int, host: Host, choice: Choice) -> Plan | None:
    """The plan where the target is in one piece along the last dimension, the source along dimension `along`.

    None where rows begin with a line or at different places of one, or are short and lie apart.
    """
    item, last = form.item, form.dims[-1]
    if host.dst_phase == 0 or host.dst_phase % item or any(d.dst % LINE for d in form.dims[:-1]):
        return None
    head = (LINE - host.dst_phase) // item
    if last.length * item >= LONG:
        return _long(form, along, head, host, choice)
    return _turned(form, along, head, host, choice)


def _long(form: Normal, along: int, head: int, host: Host, choice: Choice) -> Plan:
    """The whole lines of all rows, then the strips at both ends of the rows."""
    item, last = form.item, form.dims[-1]
    middle = (last.length - head) * item // LINE * LINE // item
    plans = []
    for start, length in ((head, middle), (0, head), (head + middle, last.length - head - middle)):
        if length:
            part = form.part(-1, start, length)
            if start == head:
                plan = transpose_plan(part, along, replace(host, dst_phase=0), choice, True)
            else:
                plan = transpose_plan(part, along, host, OWN, False) if length > 1 else items_plan(part, False)
            plans.append(plan)
    return beside(form, plans)


def _turned(form: Normal, along: int, head: int, host: Host, choice: Choice) -> Plan | None:
    """Rows that follow each other: the end of each and the start of the next one are whole lines together.

    What is left is the start of the first one and the end of the last.
    """
    item, last, a = form.item, form.dims[-1], form.dims[along]
    row = last.length * item
    if host.width < LINE or a.dst != row or a.src != item or a.length * item < _MANY:
        return None
    lines = replace(form.part(along, 0, a.length - 1), dst_shift=form.dst_shift + head * item)
    whole = transpose_plan(lines, along, replace(host, dst_phase=0), replace(choice, b_bytes=row), True, turned=head)
    # The last dimension first: that of one row is left out.
    strips = [
        form.part(-1, 0, head).part(along, 0, 1),
        form.part(-1, head, last.length - head).part(along, a.length - 1, 1),
    ]
    return beside(form, [whole, *(items_plan(strip, False) for strip in strips)])


_MANY = 512
"""Bytes of the source along which rows follow each other, from which on one more or less is a small part."""
