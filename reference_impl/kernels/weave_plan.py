"""Plans of streams that are woven together, or parted: two to four channels."""

import math

from .descriptor import STAGE_OUT, STREAM, Loop
from .normal import Dim, Normal
from .pick_plan import FEW
from .plans import LINE, PAGE, TOGETHER, Host, Plan, make_plan, ordered
from .tiles import cut, limited


def weave_plan(form: Normal, along: int, host: Host, streamed: bool) -> Plan | None:
    """The plan where dimension `along` is the nearest one of the source; None where there are no such streams."""
    item, a, b = form.item, form.dims[along], form.dims[-1]
    rest = [Loop(*d) for k, d in enumerate(form.dims[:-1]) if k != along]
    if a.src != item or item > 8:
        return None
    if b.length in FEW and a.dst == b.length * item and a.length >= _least(b.length, item, host, True):
        number, stride, long, row = b.length, b.src, a, b.length * a.length * item
    elif a.length in FEW and b.src == a.length * item and _are_long(b, a, item, host):
        number, stride, long, row = -a.length, a.dst, b, b.length * item
    else:
        return None
    pieces = cut(long, item * abs(number))
    loops = ordered([*rest, pieces.loop("a")], "dst")
    staged, held = 0, 0
    if streamed:
        halves, follow = host.width < LINE, a.length * b.length * item
        shares = any(x % LINE for x in (row, host.dst_phase, *(x.dst for x in rest)))
        together = follow <= 2 * PAGE and any(x.dst == follow for x in rest)
        step = math.gcd(item * number, LINE)
        if number > 0 and any(x % step for x in (host.dst_phase, *(x.dst for x in rest))):
            # No whole items of all streams end where a line does: long rows are put together, too, some at a time.
            pieces, together, follow = limited(Loop(*long), PAGE // (item * number)), True, PAGE
            loops = ordered([*rest, pieces.loop("a")], "dst")
        if together and (number > 0 or a.dst == row):
            staged, held = STAGE_OUT, TOGETHER + follow + 2 * LINE  # short rows are put together
        elif number < 0 and shares and row < _SHORT and host.window:
            return None  # lines that short rows share would be written in parts
        elif shares and row < (PAGE // 2 if halves else _FEW_LINES):
            streamed = False
    kernel = "interleave" if number > 0 else "deinterleave"
    return make_plan(
        kernel, form, loops, streamed, pieces, staged=staged, mode=STREAM * streamed | staged, streams=number,
        stride=stride, out_bytes=held,
    )  # fmt: skip


def _are_long(row: Dim, streams: Dim, item: int, host: Host) -> bool:
    """Whether streams that are a row each are worth parting; short ones only where these rows follow each other."""
    follow = streams.dst == row.length * item
    return row.length >= (_least(streams.length, item, host, False) if follow else _LONG)


def _least(number: int, item: int, host: Host, woven: bool) -> int:
    """Items of each stream, a register and more, from which on other ways than to weave or part them take longer."""
    return max(_LEAST[woven, host.window == LINE].get(item, (_LONG,) * 3)[number - 2], host.width // item)


_LONG = 64
_LEAST = {
    (False, True): {4: (64, 32, 24)},
    (False, False): {1: (64, 32, 32), 2: (64, 32, 32), 4: (64, 32, 24), 8: (64, 32, 32)},
    (True, True): {4: (64, 48, 32), 8: (64, 32, 32)},
    (True, False): {1: (64, 64, 32), 2: (64, 32, 24), 4: (48, 32, 24), 8: (48, 48, 48)},
}
"""Items that are enough for any streams; for two, three and four streams, by whether they are woven, whether a window
of a line picks items, and the bytes of an item; 64 where shorter ones did not take 0.9 of the time or less in the
mean."""
_SHORT, _FEW_LINES = 512, 15 * LINE
"""Bytes of streams that are parted better by blocks where a window picks them, and of rows of the target that are not
streamed, since they hold few whole lines, with registers of one."""
