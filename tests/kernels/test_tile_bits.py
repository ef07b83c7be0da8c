"""The same bits by the tiles of either of AMD's first-level caches, whichever processor this is."""

from itertools import product
from math import prod

import numpy as np
import pytest
from stridecheck.reference_impl.kernels import engine, machine
from stridecheck.reference_impl.kernels.descriptor import DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Choice, Host

from .arrays import TYPES
from .copying import WIDTHS

BACK = (0, 2, 1)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("itemsize", sorted(TYPES))
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((50, 40, 160), BACK),
        ((50, 40, 192), BACK),
        ((10, 320, 256), BACK),
        ((9, 416, 100), BACK),
        ((3, 1344, 300), BACK),
        ((40, 3001, 6), BACK),
        ((3, 161, 700), BACK),
        ((64, 64, 8, 8), (3, 2, 1, 0)),
        ((12, 128, 1100), (2, 1, 0)),
        ((12, 28, 700), (2, 1, 0)),
        ((3, 56, 1100), (2, 1, 0)),
        ((3000, 100), (1, 0)),
        ((700, 96), (1, 0)),
        ((64, 1 << 15), (1, 0)),
        ((96, 4000), (1, 0)),
    ],
)
@pytest.mark.parametrize("cache_bytes", [0, 1 << 30])
@pytest.mark.parametrize("first_bytes", [32 << 10, 48 << 10])
def test_the_same_bits_arrive_and_nothing_beside_them(shape, order, itemsize, first_bytes, cache_bytes, width):
    """With every kind of registers, whatever the last-level cache keeps, wherever in a line the target begins.

    Without windows what is carried elsewhere goes through buffers.
    """
    src = np.random.default_rng(1).integers(0, 256, prod(shape) * itemsize, np.uint8).view(TYPES[itemsize])
    src = src.reshape(shape).transpose(order)
    for start, window in product((0, 16), {0, machine.window_bytes(width)}):
        memory = np.full(src.nbytes + 192, 0xA5, np.uint8)
        begin = start - memory.ctypes.data % 64 + 64
        dst = memory[begin:][: src.nbytes].view(src.dtype).reshape(src.shape)
        form = normal(dst.shape, dst.strides, src.strides, itemsize)
        host = Host(width, cache_bytes, first_bytes, window=window, dst_phase=start)
        plan = plan_for(form, host, Choice(streamed=1))
        assert engine.Ready(plan, width)(engine.cell(dst), engine.cell(src), 1) == DONE
        assert dst.tobytes() == np.ascontiguousarray(src).tobytes()
        assert {*memory[:begin].tolist(), *memory[begin + src.nbytes :].tolist()} == {0xA5}
