"""Plans of transposes past the caches to rows that all begin at one place within a line: whole lines, strips beside."""

from dataclasses import replace

from .items_plan import items_plan
from .normal import Normal
from .plans import LINE, OWN, Choice, Host, Plan, beside
from .transpose_plan import LONG, rising, transpose_plan


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
    return _turned(rising(form, along), along, head, host, choice)


def _long(form: Normal, along: int, head: int, host: Host, choice: Choice) -> Plan:
    """The whole lines of all rows, then the strips at both ends of the rows."""
    item, last = form.item, form.dims[-1]
    middle = (last.length - head) * item // LINE * LINE // item
    plans = []
    for start, length in ((head, middle), (0, head), (head + middle, last.length - head - middle)):
        if length:
            dims = (*form.dims[:-1], last._replace(length=length))
            shifts = form.dst_shift + start * item, form.src_shift + start * last.src
            part = Normal(dims if length > 1 else dims[:-1], item, *shifts)
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
    if not host.small_tiles or a.dst != row or a.src != item or a.length * item < _MANY:
        return None

    def part(first: int, rows: int, start: int, length: int) -> Normal:
        dims = [*form.dims[:-1], last._replace(length=length)]
        dims[along] = a._replace(length=rows)
        shifts = first * a.dst + start * item, first * a.src + start * last.src
        kept = tuple(d for d in dims if d.length > 1)
        return Normal(kept, item, form.dst_shift + shifts[0], form.src_shift + shifts[1])

    turned = replace(part(0, a.length - 1, 0, last.length), dst_shift=form.dst_shift + head * item)
    whole = transpose_plan(turned, along, replace(host, dst_phase=0), replace(choice, b_bytes=row), True, turned=head)
    strips = [part(0, 1, 0, head), part(a.length - 1, 1, head, last.length - head)]
    return beside(form, [whole, *(items_plan(strip, False) for strip in strips)])


_MANY = 512
"""Bytes of the source along which rows follow each other, from which on one more or less is a small part."""
