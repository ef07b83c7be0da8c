"""Plans of rows whose items are picked: stepped over, turned, or one that is repeated."""

from .descriptor import CALLED, STREAM, Loop
from .normal import Normal
from .plans import LINE, Host, Plan, make_plan, ordered
from .tiles import cut, later, tiled

FEW = (2, 3, 4)
"""Items from one that is picked to the next, as streams that are woven: what a few shuffles serve."""
_FILLED = 4
"""Times what the caches keep that one item is written through them where stores fetch nothing."""
_LONG_ROW = 4096
"""Bytes of rows that share lines from which on they are not put together in a buffer."""
_CALLED_ROW, _CALLED = 1 << 14, 1 << 20
"""Bytes of rows of one byte, and of all of them, from which on the C library fills them."""
_LONG_READ = 4096
"""Bytes that a row reaches over in the source from which on what comes next is asked for in the row itself."""


def picks(form: Normal) -> bool:
    """Whether registers pick the items of a row, which lie near each other in the source, backwards, or are one."""
    return form.dims[-1].src in (form.item * n for n in (-1, 0, *FEW))


def pick_plan(form: Normal, host: Host, streamed: bool) -> Plan:
    """The plan where the target is in one piece along the last dimension."""
    last = form.dims[-1]
    if last.src == 0 and host.keeps_written(form.nbytes, _FILLED):
        streamed = False
    if last.src == 0 and host.smallest_tiles and last.length * form.item > _LONG_ROW:
        # Stores of whole lines fetch nothing there, and rows that share lines would stream these in two pieces.
        streamed = streamed and all(d.dst % LINE == 0 for d in form.dims[:-1])
    called = _is_called(form, host)
    streamed = streamed and not called
    a = cut(last, form.item)
    outer = ordered([Loop(*d) for d in form.dims[:-1]], "dst")
    loops, b = tiled(outer, a.chunk * form.item)
    loops = [*loops, a.loop("a")] if a.loop_length > 1 else loops
    kernel = "step" if last.src else "fill"
    extent = last.length * abs(last.src)
    asked = later(outer, extent) if 0 < extent < _LONG_READ else 0
    return make_plan(
        kernel, form, loops, streamed, a, b, mode=STREAM * streamed | CALLED * called, stride=last.src, asked=asked
    )


def _is_called(form: Normal, host: Host) -> bool:
    """Whether the C library fills rows of one byte in less time: its string instructions fetch no line that they fill.

    Rows are long, and all of them are more than the nearest caches keep, and hardly more than all caches do.
    """
    last = form.dims[-1]
    if form.item > 1 or last.src or last.length < _CALLED_ROW:
        return False
    return _CALLED <= form.nbytes < host.cache_bytes // 5 * 6
