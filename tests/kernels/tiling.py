"""Tiles of transposes as they are planned, and copies by plans that are made for other processors."""

from dataclasses import replace
from math import prod

import numpy as np
from stridecheck.reference_impl.kernels import engine
from stridecheck.reference_impl.kernels.descriptor import A_CHUNK, A_INNER, B_CHUNK, B_INNER, DONE
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Choice

from .arrays import TYPES


def planned(shape, order, itemsize, host):
    """Bytes of a source row and of a target row in a tile of a dense array's copy in another order, and the plan."""
    strides = [itemsize * prod(shape[k + 1 :]) for k in range(len(shape))]
    lengths = [shape[k] for k in order]
    dense = [itemsize * prod(lengths[k + 1 :]) for k in range(len(lengths))]
    plan = plan_for(normal(tuple(lengths), tuple(dense), tuple(strides[k] for k in order), itemsize), host)
    row = plan.descriptor
    assert plan.kernel == "transpose"
    return row[A_CHUNK] * row[A_INNER] * itemsize, row[B_CHUNK] * row[B_INNER] * itemsize, plan


def check_bits(shape, order, itemsize, host):
    """Assert that a streamed copy brings the same bits and writes nothing beside them, at either place of a line."""
    src = np.random.default_rng(1).integers(0, 256, prod(shape) * itemsize, np.uint8).view(TYPES[itemsize])
    src = src.reshape(shape).transpose(order)
    for start in (0, 16):
        memory = np.full(src.nbytes + 192, 0xA5, np.uint8)
        begin = start - memory.ctypes.data % 64 + 64
        dst = memory[begin:][: src.nbytes].view(src.dtype).reshape(src.shape)
        form = normal(dst.shape, dst.strides, src.strides, itemsize)
        plan = plan_for(form, replace(host, dst_phase=start), Choice(streamed=1))
        assert engine.Ready(plan, host.width)(engine.cell(dst), engine.cell(src), 1) == DONE
        assert dst.tobytes() == np.ascontiguousarray(src).tobytes()
        assert {*memory[:begin].tolist(), *memory[begin + src.nbytes :].tolist()} == {0xA5}
