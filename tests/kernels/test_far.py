"""Copies of more than 2**31 elements, over a mapping of which hardly a page is ever touched."""

import mmap

import numpy as np
import pytest
from stridecheck.reference_impl.kernels import arithmetic, engine
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import Host

from .copying import copied

FAR = (1 << 31) + (1 << 20)


@pytest.fixture
def sparse():
    memory = mmap.mmap(-1, FAR + 4096)
    return np.frombuffer(memory, np.uint8)


def test_a_source_whose_strides_reach_beyond_two_gigabytes(sparse):
    rows = 40
    step = FAR // rows
    src = np.lib.stride_tricks.as_strided(sparse, (rows, 300), (step, 1))
    src[...] = np.arange(rows * 300).reshape(rows, 300) % 251
    dst = np.zeros((300, rows), np.uint8)
    copied(dst, src.T, 1)
    assert np.array_equal(dst, src.T)
    del src, dst


def test_arithmetic_beyond_two_gigabytes(sparse):
    rows = 40
    x = np.lib.stride_tricks.as_strided(sparse, (rows, 300), (FAR // rows, 1))
    x[...] = np.arange(rows * 300).reshape(rows, 300) % 251
    first, out = x[0].copy(), np.zeros((300, rows), np.uint8)
    arithmetic.binary("add", out, x.T, first[:, None])
    assert np.array_equal(out, x.T + first[:, None])
    arithmetic.binary("sub", x, x, out.T)
    assert np.array_equal(x, np.broadcast_to(-first, x.shape))
    # Of a mapping that was never written each page is the same one of zeros.
    largest = np.zeros(1, np.uint8)
    arithmetic.reduce("amax", largest, sparse, (0,))
    assert sparse.size > 1 << 31
    assert largest == x.max()
    del x


@pytest.mark.parametrize("strides", [(0, 0), (0, 1), (1, 1), (5, 7), (0, 7)])
def test_more_elements_than_fit_into_32_bits(sparse, strides):
    """One item, a run that is repeated, runs, items, and what is written once and repeated from there."""
    count = (1 << 31) + 12_345
    shape = count // 1000, 1000
    src = np.lib.stride_tricks.as_strided(np.full(shape[0] * 5 + 8000, 7, np.uint8), shape, strides)
    dst = sparse[: src.size].reshape(shape)
    ready = engine.prepared(dst, src)
    assert ready.plan.nbytes == src.size > 1 << 31
    # All plans count in 64 bits; only the first and the last tile are performed, the pages between stay unmapped.
    for part in (ready, *ready.calls):
        for first, last in ((0, min(2, part.tasks)), (max(0, part.tasks - 2), part.tasks)):
            assert part.kernel(part.descriptor, engine.cell(dst), engine.cell(src), first, last) == 0
    assert dst[0, 0] == dst[-1, -1] == 7
    assert dst[shape[0] // 2, 5] == 0
    del dst


@pytest.mark.parametrize("item", [1, 4])
@pytest.mark.parametrize("rows", [64, 1 << 33])
def test_the_plan_of_a_transpose_is_small_however_long_its_rows_are(rows, item):
    columns = 1 << 39 - rows.bit_length()
    plan = plan_for(normal((rows, columns), (columns * item, item), (item, rows * item), item), Host())
    assert plan.kernel == "transpose"
    assert sum(table.nbytes for table in plan.tables) < 1 << 20
