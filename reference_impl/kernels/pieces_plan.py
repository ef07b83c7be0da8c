"""Plans of pieces: runs or blocks that share lines in the target are put together in a buffer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .descriptor import IN_ORDER, ONE, STAGE_OUT, STREAM, Field, Loop
from .normal import Dim, Normal
from .plans import LINE, TOGETHER, Choice, Plan, make_plan, ordered
from .tiles import chain, chunk, group, limited, matrices, odd_lines, offsets, pitch
from .windows import Block

_SMALL = 512
"""Bytes of a small matrix of pieces, at most, of which several are put together at once."""


@dataclass(frozen=True)
class Run:
    """A piece that lies in one piece in the source, too."""

    nbytes: int

    @property
    def fields(self) -> dict[str, Field]:
        """What a descriptor tells of the piece beside its length."""
        return {}

    @property
    def near(self) -> int:
        """Bytes of the source that a piece's nearest items make in one piece."""
        return self.nbytes

    @property
    def read_bytes(self) -> int:
        """Bytes of the lines that a piece is read from, about."""
        return self.nbytes + LINE

    def lines(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where lines begin that are to be asked for; none, since those of a run follow each other."""
        return rows[:0]


def pieces_in_order(form: Normal, dims: Sequence[Dim], piece: Run | Block) -> Plan | None:
    """Few pieces at a time, put together as they follow each other in the target.

    None where they share lines of the source with others that come much later. None where runs are many: each is read
    from elsewhere, more streams than hardware looks after, unless they are so short that how long they are should be
    looked at for many at once; nor of small matrices of them, which are many at a time.
    """
    nbytes, last = piece.nbytes, dims[-1]
    near = min(dims, key=lambda d: abs(d.src))
    many = last.length >= _STREAMS and (near.length >= _STREAMS or nbytes > _SHORT)
    if many and isinstance(piece, Run):
        return None
    # Lines of the source that pieces share: the caches keep them until the next of these is taken.
    window = max((d.dst for d in dims if abs(d.src) < piece.near + LINE), default=0)
    if window * piece.read_bytes // nbytes > (_KEPT if isinstance(piece, Run) else _KEPT_APART):
        return None
    b, rest, a = limited(Loop(*last), _TILE // nbytes), [Loop(*d) for d in dims[:-1]], ONE
    follow = next((x for x in rest if x.dst == last.length * nbytes), None)
    if b.loop_length == 1 and follow is not None:
        a, rest = limited(follow, _TILE // follow.dst), [x for x in rest if x is not follow]
    tile = a.chunk * b.chunk * nbytes
    if tile < _SMALL:
        return None  # the odometer would be turned for each
    loops, held = ordered([*rest, a.loop("a"), b.loop("b")], "dst"), tile + TOGETHER + 2 * LINE
    prefetches = piece.lines(np.zeros(1, np.int64))
    return make_plan(
        "pieces", form, loops, True, a, b, STAGE_OUT, ONE,
        mode=STREAM | IN_ORDER, run=nbytes, out_bytes=held, prefetches=prefetches, prefetched=len(prefetches),
        **piece.fields,
    )  # fmt: skip


_STREAMS, _SHORT = 8, 48
"""Runs in a row from which on they are many; bytes of short ones."""
_KEPT, _KEPT_APART = 1 << 17, 1 << 16
"""Bytes of the source that the second-level cache keeps beside all else; of those on as many pages as lines."""
_TILE = 4096
"""Bytes of a tile in the target's order."""


def pieces(form: Normal, dims: Sequence[Dim], piece: Run | Block, choice: Choice) -> Plan:
    """Pieces that share lines in the target, where they follow each other: put together in a buffer."""
    nbytes, last = piece.nbytes, len(dims) - 1
    blocks = isinstance(piece, Block)
    a_bytes = choice.a_bytes or (1024 if blocks else 512)
    a_chain, a_rows = _abreast(dims, piece, a_bytes) if isinstance(piece, Block) else ([], 0)
    near = a_chain[0] if a_chain else min(range(len(dims)), key=lambda k: abs(dims[k].src))
    # Where few rows make a tile they are longer; one alone is asked for ahead by its length.
    b_bytes = choice.b_bytes or (4096 if blocks or near == last else 8192 if dims[near].length < 8 else 2048)
    b_chain = chain(dims, last, "dst", {near, last, *a_chain}, nbytes, b_bytes)
    if not a_chain and near != last:
        a_chain, a_rows = [near], a_bytes // nbytes
        if dims[near].src == nbytes:
            a_chain = chain(dims, near, "src", {near, *b_chain}, nbytes, a_bytes)
    a_dims, b_dims = [dims[k] for k in a_chain], [dims[k] for k in b_chain]
    a, a_inner = chunk(a_dims, a_rows, 1) if a_dims else (ONE, 1)
    b, b_inner = chunk(b_dims, b_bytes // nbytes, 1)
    a_rows, b_rows = a.chunk * a_inner, b.chunk * b_inner
    a_table, a_sources = [offsets([*a_dims[:-1], Dim(a.chunk, a.dst, a.src)], side) for side in ("dst", "src")]
    b_table = offsets([*b_dims[:-1], Dim(b.chunk, b.dst, b.src)], "src")
    prefetches = piece.lines(a_sources)
    rest = [Loop(*d) for k, d in enumerate(dims) if k not in a_chain and k not in b_chain]
    together = group(a_table, b_rows * nbytes) if b.loop_length == 1 else 1
    c = ONE
    if together == len(a_table) and a.loop_length == b.loop_length == 1:
        c, rest = matrices(rest, a_rows * b_rows * nbytes, _SMALL, 4096 if nbytes < 24 else 2048)
    loops = ordered([*rest, a.loop("a"), b.loop("b"), c.loop("c")], choice.order or "src")
    out_pitch = b_rows * nbytes if together > 1 or c.chunk > 1 else odd_lines(b_rows * nbytes)
    return make_plan(
        "pieces", form, loops, True, a, b, STAGE_OUT, c,
        mode=STREAM, run=nbytes, stride=a_dims[0].src if a_dims else 0, b_pitch=b_dims[0].src,
        a_inner=a_inner, b_inner=b_inner, a_group=_evenly_spaced(a_sources, a_dims),
        b_group=_evenly_spaced(b_table, b_dims),
        a_table=a_table, a_sources=a_sources, b_table=b_table, prefetches=prefetches, prefetched=len(prefetches),
        out_pitch=out_pitch, out_group=together, out_bytes=out_pitch * a_rows * c.chunk + LINE, **piece.fields,
    )  # fmt: skip


def _evenly_spaced(table: npt.NDArray[np.int64], dims: Sequence[Dim]) -> int:
    """How many rows at these offsets lie evenly spaced, again and again: all, or those along the first dimension."""
    return len(table) if len(table) == 1 or pitch(table) else dims[0].length


def _abreast(dims: Sequence[Dim], block: Block, a_bytes: int) -> tuple[list[int], int]:
    """Up to two dimensions whose blocks share lines of the source, and how many rows of a tile they make.

    They go on where a block ends in the source, or within it; not the last one, along which blocks follow each other.
    """
    inner, reach = list(block.inner), block.item
    found: list[int] = []
    rows = 1
    while reach < a_bytes and len(found) < 2:
        within = next((d for d in inner if abs(d.src) == reach), None)
        if within is not None:
            inner.remove(within)
            reach *= within.length
            continue
        k = next((k for k, d in enumerate(dims) if abs(d.src) == reach and k not in found), None)
        if k is None or k == len(dims) - 1:
            break
        found.append(k)
        rows *= min(dims[k].length, max(1, a_bytes // reach))
        reach *= dims[k].length
    return found, rows
