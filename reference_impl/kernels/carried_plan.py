"""Plans of transposes to rows that begin anywhere in a line, where what ends within one is carried on to the next."""

from collections.abc import Sequence
from typing import NamedTuple

from .descriptor import STREAM, Chunked, Loop
from .normal import Dim, Normal
from .plans import LINE, Host, Plan, carried_rows, make_plan, ordered
from .tiles import LONGEST, SETS, chain, chunk, crowded, offsets, pitch, rows_of_block
from .transpose_plan import rising


def carried_plan(form: Normal, along: int, host: Host) -> Plan | None:
    """The plan where the target is in one piece along the last dimension, the source along dimension `along`.

    None where the source is stepped there, the processor cannot put any bytes of two registers together, or other plans
    are better: rows are short, all begin with a line (of most items: at one place of their lines), or are too few for
    blocks that do not overlap.
    """
    if not host.carries or abs(form.dims[along].src) != form.item:
        return None
    form = rising(form, along)
    item, dims, last = form.item, form.dims, len(form.dims) - 1
    block, height, rule = LINE // item, carried_rows(item), _rule(item, host)
    b_chain = chain(dims, last, "dst", {along, last}, item, LONGEST)
    a_chain = chain(dims, along, "src", {along, *b_chain}, item, rule.a_bytes)
    a_dims, b_dims = [dims[k] for k in a_chain], [dims[k] for k in b_chain]
    a, a_inner = chunk(a_dims, rule.a_bytes // item, height)
    b, b_inner = chunk(b_dims, LONGEST // item, block, in_units=LONGEST)
    a, b = _without_scraps(a, a_inner, height), _without_scraps(b, b_inner, block)
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in a_chain and k not in b_chain]
    loops = ordered([*rest, a.loop("a"), b.loop("b")], "src")
    a_table = offsets([*a_dims[:-1], a_dims[-1]._replace(length=a.chunk)], "dst")
    b_table = offsets([*b_dims[:-1], b_dims[-1]._replace(length=b.chunk)], "src")
    a_rows, b_rows = len(a_table), len(b_table)
    nbytes, slots = b_rows * item, -(-a_rows // height) * height
    alike = not any(x.dst % LINE for x in (*rest, a.loop("a"))) and not (a_table % LINE).any()
    follow = pitch(a_table) == nbytes
    if (
        (alike and (host.dst_phase == 0 or item not in rule.alike))
        or a_rows < height
        or slots > rule.overlap * a_rows
        or b_rows < block
        or nbytes < (_shortest(b_dims, item, a_rows * item, host) if follow else _SHORTEST_APART)
    ):
        return None
    return make_plan(
        "carried", form, loops, True, a, b, mode=STREAM, a_inner=a_inner, b_inner=b_inner,
        a_table=a_table, b_table=b_table, a_pitch=pitch(a_table), out_bytes=2 * slots * LINE,
        abreast=rule.abreast,
    )  # fmt: skip


class _Rule(NamedTuple):
    """What a processor likes of items of one size."""

    a_bytes: int
    """Bytes of a source row that a tile takes."""
    overlap: float
    """How many times a target row may be written by overlapping blocks, in the mean."""
    abreast: int
    """Blocks of a row that are written in a go."""
    alike: tuple[int, ...] = (1, 8)
    """Bytes of items whose rows are better carried even where they all begin at one place of their lines."""


def _rule(item: int, host: Host) -> _Rule:
    """Source rows are read for long where the first-level cache is small, which leaves most to what hardware fetches.

    Of 300 drawn transposes there, on AMD's family 25, 16 lines took 0.78 of the time of 4, and 32 but of bytes 0.93 of
    that; 0.8 to 0.9 again where blocks may overlap more. On Intel's more overlap and shorter rows are allowed, too,
    than on family 26: 0.78 to 0.91 of the time of 60 layouts of each size.
    """
    small = item < 4
    if host.small_first:
        return _Rule((16 if item == 1 else 32) * LINE, {4: 1.5, 8: 1.25}.get(item, 1.2), 1, (1, 2, 4, 8, 16))
    # Of small items, whose blocks are 8 or 16 rows, one block by one was as quick.
    abreast = 1 if small else 2
    if host.intel:
        return _Rule({1: 16, 2: 4}.get(item, 8) * LINE, {4: 1.3, 8: 1.18}.get(item, 1.2), abreast)
    return _Rule(16 * LINE, 1.2 if small else 1.1, abreast)


def _shortest(b_dims: Sequence[Dim], item: int, held: int, host: Host) -> int:
    """Bytes of rows that follow each other from which on they are carried; `held`: of a source row in a tile.

    On family 26 a buffer takes what is read from small items' rows that share sets of the second-level cache, if target
    rows are short; of large items it does worse there.
    """
    if host.small_first:
        return 256
    if host.intel:
        return 192 if held >= 2 * LINE else 512
    if not crowded(rows_of_block(b_dims, "src", LINE // item), SETS, _SHARED):
        return 256
    return 512 if item < 4 else 160


_SHARED = 2
"""Rows of a block that may fall into one set of the second-level cache."""
_SHORTEST_APART = 2048
"""Bytes of rows that lie apart: both ends of these go through the caches."""


def _without_scraps(part: Chunked, inner: int, unit: int) -> Chunked:
    """A dimension's chunks, lengthened until the last one, too, holds `unit` items, if the dimension does."""
    turns, step = part.chunk, unit if inner == 1 else 1
    while turns < part.length and 0 < part.length % turns * inner < unit:
        turns += step
    return part._replace(chunk=min(turns, part.length))
