"""Plans: which kernel moves what in which order, decided from layouts alone.

`plan_for` is pure: the same layouts, item size, alignment and machine give the same plan.
"""

import math
from dataclasses import replace
from math import prod

from .blocks_plan import blocks_plan
from .carried_plan import carried_plan
from .descriptor import (
    A_CHUNK,
    A_INNER,
    B_CHUNK,
    B_INNER,
    IN_GROUP,
    PHASE,
    STAGE_IN,
    STAGE_OUT,
    STRIDE,
    Chunked,
)
from .items_plan import items_plan
from .normal import Dim, Normal
from .pick_plan import FEW, pick_plan, picks
from .plans import LINE, OWN, PAGE, Choice, Host, Plan, beside, make_plan
from .repeated_plan import repeated_plan
from .runs_plan import runs_plan
from .shifted_plan import shifted_plan
from .tiles import chain
from .transpose_plan import SMALL, transpose_plan
from .weave_plan import weave_plan
from .windows import Block, block_of


def plan_for(form: Normal, host: Host, choice: Choice = OWN) -> Plan:
    """The plan of a copy in normal form, which writes no byte twice.

    >>> from stridecheck.reference_impl.kernels.normal import normal
    >>> plan_for(normal((4096, 4096), (16384, 4), (4, 16384), 4), Host()).kernel
    'transpose'
    """
    read = form.item * prod(d.length for d in form.dims if d.src)
    streamed = form.nbytes + read >= host.cache_bytes if choice.streamed < 0 else bool(choice.streamed)
    plan = _fastest(form, host, choice, streamed)
    if any(part.streamed and part.kernel not in _ANYWHERE for part in (plan, *plan.more)):
        # Which lines are whole decides what is fast, and where stores past the caches may go.
        plan.descriptor[PHASE] = (host.dst_phase + plan.form.dst_shift - form.dst_shift) % LINE
    return plan


_ANYWHERE = ("items", "repeated")
"""Kernels that are as good wherever the target begins."""


def _fastest(form: Normal, host: Host, choice: Choice, streamed: bool) -> Plan:
    plan = _without_table(form, host, choice, streamed)
    own = choice.is_own and host.width > 0
    repeated = repeated_plan(form, plan, host, streamed, lambda first: plan_for(first, host, choice)) if own else None
    if repeated is not None:
        return repeated
    if own and form.nbytes >= _TABLED:
        other = _other_columns(form, plan, host, streamed) if _moves_few(plan) else None
        block = _worthy_block(form, plan, host, streamed, other is not None)
        if block is not None:
            return _in_blocks(form, block, host, streamed)
        plan = other or plan
    if own and streamed and plan.kernel == "transpose" and plan.staged & STAGE_OUT:
        along = _along(form)
        carried = carried_plan(form, along, host) if along is not None else None
        return carried or plan
    return plan


def _without_table(form: Normal, host: Host, choice: Choice, streamed: bool) -> Plan:
    """The plan of a kernel that knows how the nearest dimensions of both sides lie, without a table of a block."""
    if (not streamed or host.width == 0) and _is_one_run(form):
        # One run within the caches: nothing is faster than the C library's own.
        return make_plan("whole", form, [], False, Chunked(form.nbytes, form.nbytes, 1, 1))
    if host.width == 0:
        return items_plan(form, not streamed)
    last = form.dims[-1] if form.dims else Dim(1, form.item, form.item)
    if last.dst == form.item and last.src == form.item:
        return runs_plan(form, host, choice, streamed)
    if last.dst != form.item:
        return items_plan(form, not streamed)
    along = _along(form)
    if along is not None and last.src != 0:
        woven = weave_plan(form, along, host, streamed)
        if woven is not None:
            return woven
        shifted = shifted_plan(form, along, host, choice) if streamed else None
        if shifted is not None:
            return shifted
        plan = transpose_plan(form, along, host, choice, streamed)
        if choice == OWN and _is_better_by_items(plan, host):
            picked = streamed and _returns_soon(form, along, host)
            return pick_plan(form, host, streamed) if picked else items_plan(form, not streamed)
        return plan
    lonely = all(d.src == 0 or abs(d.src) >= abs(last.src) for d in form.dims)
    if last.length * form.item >= host.width and (lonely or picks(form)):
        return pick_plan(form, host, streamed)
    return items_plan(form, not streamed)


def _returns_soon(form: Normal, along: int, host: Host) -> bool:
    """Whether the lines of a row whose items are picked are read again soon, by rows that take what lies between these.

    So soon that the nearest caches hold them; but what is read again at once is better taken whole, item by item. And
    small items are, by blocks, where a window of a line picks them.
    """
    if form.item < 4 and host.window == LINE:
        return False
    row = form.dims[-1].length * form.item
    return picks(form) and row >= LINE and _SOON[0] < form.dims[along].dst <= _SOON[1]


_SOON = 4 * LINE, 2 * PAGE
"""Bytes that are written between two such rows."""
_TABLED = 1 << 14
"""Bytes of a copy from which on a table is worth making."""


def _moves_few(plan: Plan) -> bool:
    """Whether a plan moves items one by one, or gathers few of them at a time."""
    return plan.kernel == "items" or (plan.kernel == "transpose" and plan.staged == STAGE_IN | STAGE_OUT)


def _worthy_block(form: Normal, plan: Plan, host: Host, streamed: bool, other: bool) -> Block | None:
    """A block that is faster than a plan, and than another transpose where there is one; None where none is."""
    if plan.kernel in ("runs", "pieces"):
        spread = _most_spread(form, streamed) if host.window == LINE else 0
        # So many lines may begin within another one.
        block = block_of(form, host.window, spread + 1) if spread else None
        return block if block is not None and block.spread <= spread else None
    if not host.window or not _moves_few(plan):
        return None
    most = _worth(plan, host, streamed)
    most = min(most, _MOST_WINDOWS) if other else most
    if streamed and host.window == LINE and _is_of_small_matrices(form):
        if plan.kernel == "transpose":
            most = max(most, _OF_MATRICES)
        elif form.item == 8 and not host.intel:
            most = min(most, _OF_LARGE_ITEMS)
    return block_of(form, host.window, most)


def _worth(plan: Plan, host: Host, streamed: bool) -> float:
    """How many windows a line of the target may take to be faster than a plan that moves few items at a time."""
    item, items = plan.form.item, plan.kernel == "items"
    if not streamed:
        return 16 / item if items and item <= 8 else 0
    if items:
        # Windows of 16 bytes hold few items of four bytes and more.
        return 24 / math.pow(item, 0.7 if host.window == LINE else 1.3)
    return _MOST_WINDOWS


_MOST_WINDOWS, _OF_MATRICES = 6, 8
"""Windows for a line of the target that are worth more than a good tile of a transpose: of any blocks, and of those of
small matrices, which are read from the same few lines one after the other."""
_OF_LARGE_ITEMS = 2
"""The same of small matrices of 8-byte items, which are moved one by one as quickly: 0.8 of the time of 13 of them."""


def _is_of_small_matrices(form: Normal) -> bool:
    """Whether nearest dimensions that are in one piece of the target are so in the source, too, in another order."""
    along, dims, last = _along(form), form.dims, len(form.dims) - 1
    if along is None or dims[along].src != form.item or dims[last].dst != form.item:
        return False
    a = chain(dims, along, "src", {along}, form.item, _LARGEST_MATRIX)
    b = chain(dims, last, "dst", {last}, form.item, _LARGEST_MATRIX)
    held = [form.item * prod(dims[k].length for k in b[:n]) for n in range(len(b) + 1)]
    return any({*a[:n]} == {*b[:n]} and held[n] <= _LARGEST_MATRIX for n in range(2, len(b) + 1))


_LARGEST_MATRIX = 2048
"""Bytes of a small matrix, at most."""


def _most_spread(form: Normal, streamed: bool) -> float:
    """Over how many bytes of the source a byte of the target may be spread so that blocks are faster than short runs.

    Units: bytes of the source in one piece for each byte of a block; 0 where runs are too long.
    """
    run = form.dims[-1].length * form.item
    return next((spread for longest, spread in _SPREAD[streamed] if run <= longest), 0)


_SPREAD = {False: ((5, 3.0), (11, 1.75)), True: ((7, 3.0), (24, 2.0))}
"""Within the caches and past them: the longest runs, in bytes, and how far they may be spread; the shorter the farther.
Measured of windows of 64 bytes, on Intel."""


def _other_columns(form: Normal, plan: Plan, host: Host, streamed: bool) -> Plan | None:
    """A transpose whose rows take a dimension that its columns took, where that leaves neither of them too few items.

    None where there is none, or the plan's tile is as good.
    """
    along, item = _along(form), form.item
    last = form.dims[-1]
    if along is None or item not in _ENOUGH or last.dst != item or last.src == 0:
        return None
    other = transpose_plan(form, along, host, OWN, streamed, near="src")
    fewest, before = (
        min(p.descriptor[A_CHUNK] * p.descriptor[A_INNER], p.descriptor[B_CHUNK] * p.descriptor[B_INNER])
        for p in (other, plan)
    )
    return other if fewest >= _ENOUGH[item] and (plan.kernel == "items" or before < _TOO_FEW) else None


_TOO_FEW, _ENOUGH = 10, {1: 12, 2: 16}
"""Items of the shorter side of a block that are too few, and of another block that are worth more, by their size."""


def _in_blocks(form: Normal, block: Block, host: Host, streamed: bool) -> Plan:
    """All whole blocks, and what is left over of the dimension that is cut into them."""
    if not block.left:
        return blocks_plan(form, block, streamed)
    cut = form.dims[block.cut]
    turns = cut.length - block.left
    whole, left = form.part(block.cut, 0, turns), form.part(block.cut, turns, block.left)
    beyond = replace(host, dst_phase=(host.dst_phase + turns * cut.dst) % LINE)
    return beside(form, [blocks_plan(whole, block, streamed), _without_table(left, beyond, OWN, streamed)])


def _along(form: Normal) -> int | None:
    """The dimension along which a register of the source holds more than one item, as the last one does not."""
    steps = [form.item * n for n in ((1,) if picks(form) else (1, *FEW))]
    near = [(abs(d.src), k) for k, d in enumerate(form.dims[:-1]) if abs(d.src) in steps]
    return min(near)[1] if near else None


def _is_better_by_items(plan: Plan, host: Host) -> bool:
    """Whether a tile is so narrow or small that its buffers cost more than they save."""
    halves = host.width < LINE
    item, descriptor = plan.form.item, plan.descriptor
    a_rows, b_rows = descriptor[A_CHUNK] * descriptor[A_INNER], descriptor[B_CHUNK] * descriptor[B_INNER]
    cached = not plan.streamed
    few_a, few_b = _FEW if item <= 2 and cached else 5, _FEW if cached or (item <= 2 and halves) else 5
    narrow = a_rows < few_a or b_rows < few_b
    # Each row that lies apart is gathered by itself.
    apart = descriptor[IN_GROUP] == 1 and descriptor[STRIDE] == item
    narrow |= a_rows < _FEW_APART and apart
    held = a_rows * b_rows * item
    large = item >= (8 if descriptor[STRIDE] == item or halves else 16)
    small = held < 64 * item or (held == 64 * item and not halves)
    small |= cached and (large or (item > 2 and held < 2048))
    if item == 8 and host.small_tiles and _is_of_small_matrices(plan.form):
        block = host.width // item
        overlap = -(-a_rows // block) * -(-b_rows // block) * block**2 / (a_rows * b_rows)
        if overlap > _MOST_OVERLAP or min(a_rows, b_rows) < block:
            return True
    if halves and not cached:
        # Small matrices in a row.
        small |= held < 128 or (item >= 4 and held <= SMALL and min(a_rows, b_rows) < _FEW)
    return bool(plan.staged & STAGE_IN) and bool(narrow or small)


_FEW, _FEW_APART = 8, 12
"""Items of a row below which it is not worth gathering; of rows that lie apart: 0.76 of the time of 86 layouts on AMD's
family 26, 0.72 of 60 on Intel."""
_MOST_OVERLAP = 2.5
"""Times that the items of small matrices, of 8 bytes each, are moved by blocks that overlap, at most: item by item
matrices of 9 × 9 take 0.6 of the time, of 10 × 10 0.9, of 11 × 11 1.2."""


def _is_one_run(form: Normal) -> bool:
    return not form.dims or (len(form.dims) == 1 and form.dims[0].dst == form.dims[0].src == form.item)
