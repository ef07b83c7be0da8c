"""Plans of blocks: written where they belong, or put together in a buffer as runs are that share lines."""

from .descriptor import ONE, Loop
from .normal import Normal
from .pieces_plan import pieces, pieces_in_order
from .plans import OWN, Plan, make_plan, ordered
from .runs_plan import around, long_loop
from .tiles import tiled
from .windows import Block


def blocks_plan(form: Normal, block: Block, streamed: bool) -> Plan:
    """The plan of all whole blocks."""
    dims = list(block.dims)
    if streamed and dims and dims[-1].dst == block.nbytes:
        return pieces_in_order(form, dims, block) or pieces(form, dims, block, OWN)
    loops, a = ordered([Loop(*d) for d in dims], "dst"), ONE
    long = long_loop(loops, block.nbytes)
    if long is None:
        loops, b = tiled(loops, block.nbytes)
    else:
        loops, a, b = around(loops, long, "dst")
    return make_plan("blocks", form, loops, False, a, b, 0, ONE, **block.fields)
