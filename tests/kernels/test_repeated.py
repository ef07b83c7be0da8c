"""What is repeated along a dimension: put together once and written again and again, or read back in the target."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stridecheck.reference_impl import strided_copy
from stridecheck.reference_impl.kernels import engine
from stridecheck.reference_impl.kernels.descriptor import DONE, NEAR
from stridecheck.reference_impl.kernels.normal import normal
from stridecheck.reference_impl.kernels.planner import plan_for
from stridecheck.reference_impl.kernels.plans import LINE, Host

from .copying import WIDTHS, relaxed

WIDTH = max(WIDTHS)


def planned(shape, source, order=None, cache_bytes=0):
    """The plan of a source whose lengths are those of the shape or 1, for a row-major target; caches keep so much."""
    order = order or range(len(shape))
    src = np.zeros([source[k] for k in order], np.float32).transpose(np.argsort(order))
    dst, src = np.zeros(shape, np.float32), np.broadcast_to(src, shape)
    return plan_for(normal(dst.shape, dst.strides, src.strides, 4), Host(cache_bytes=cache_bytes))


def kernels_of(plan):
    return [plan.kernel, *(more.kernel for more in plan.more)]


@st.composite
def repeats(draw):
    """Shape and the lengths of the source, of which some are 1, in which order they lie there, bytes of an item."""
    shape = draw(st.lists(st.sampled_from([2, 3, 5, 8, 13, 40, 100]), min_size=2, max_size=4))
    while prod(shape) > 40_000:
        shape[shape.index(max(shape))] = 2
    repeated = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=len(shape) - 1))
    source = [1 if k in repeated else n for k, n in enumerate(shape)]
    return shape, source, draw(st.permutations(range(len(shape)))), draw(st.sampled_from([1, 2, 3, 4, 8, 16]))


@settings(relaxed, max_examples=300)
@given(
    case=repeats(), phase=st.integers(0, 63), gap=st.sampled_from([0, 0, 16, 64]), cached=st.booleans(),
    threads=st.sampled_from([1, 3]), step=st.sampled_from([1, 1, 2, -1]),
)  # fmt: skip
def test_the_same_bits_and_nothing_beside(case, phase, gap, cached, threads, step, shared):
    """Anywhere within a line, in rows with gaps, of sources in any order, stepped or backwards."""
    shape, source, order, item = case
    held = [source[k] * (abs(step) if j == len(order) - 1 else 1) for j, k in enumerate(order)]
    memory = np.random.default_rng(phase).integers(0, 256, (*held, item), np.uint8)
    src = memory[..., ::step, :].transpose(*np.argsort(order), len(order))
    src = np.broadcast_to(src, (*shape, item)).view(f"V{item}")[..., 0]
    steps = [item]
    for n in reversed(shape[1:]):
        steps.insert(0, n * steps[0])
    steps[0] += gap // item * item
    target = np.full(shape[0] * steps[0] + 4 * LINE, 0xA5, np.uint8)
    start = LINE + -target.ctypes.data % LINE + phase
    dst = np.ndarray(shape, f"V{item}", target, start, steps)
    wanted = target.copy()
    np.ndarray(shape, f"V{item}", wanted, start, steps)[...] = src
    form = normal(dst.shape, dst.strides, src.strides, item)
    host = Host(width=WIDTH, cache_bytes=1 << 40 if cached else 0, dst_phase=(dst.ctypes.data + form.dst_shift) % LINE)
    ready = engine.Ready(plan_for(form, host), WIDTH)
    assert ready(engine.cell(dst), engine.cell(src), threads) == DONE
    assert np.array_equal(target, wanted)


@pytest.mark.parametrize(
    ("shape", "source", "wanted"),
    [
        ((100_000, 3), (1, 3), ["repeated"]),  # a bias of three channels
        ((8, 3000, 5), (8, 1, 5), ["repeated"]),  # one for each sample
        ((40, 50, 3, 1000), (1, 50, 1, 1000), ["repeated"]),  # twice, but the rows of one are long
        ((100_000, 4), (1, 4), ["fill"]),  # one item of 16 bytes
        ((64, 3, 56, 56), (1, 3, 1, 1), ["fill"]),
        ((64, 300, 16), (1, 300, 1), ["fill"]),  # rows of one item, of a line each
        ((64, 300, 33), (1, 300, 1), ["fill", "runs"]),  # of two lines and a bit, which share lines
        ((5000, 2000), (1, 2000), ["runs"]),  # a row of 8000 bytes
        ((1000, 2, 3), (1000, 1, 3), ["pieces"]),  # twice 12 bytes
    ],
)
def test_which_kernel(shape, source, wanted):
    assert kernels_of(planned(shape, source)) == wanted


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((500, 3, 33), ["fill", "repeated"]),  # 396 bytes follow each other
        ((500, 8, 33), ["fill", "repeated"]),  # 1056 bytes do
        ((200, 8, 33), ["fill"]),  # so do they in a smaller copy
        ((500, 16, 33), ["fill"]),  # 2112 bytes
    ],
)
def test_rows_of_one_item_within_the_caches_are_filled_once_where_few_bytes_follow_each_other(shape, wanted):
    assert kernels_of(planned(shape, (1, *shape[1:-1], 1), cache_bytes=1 << 30)) == wanted


@pytest.mark.parametrize(
    ("turns", "row", "wanted"), [(20, 200, "runs"), (20, 220, "repeated"), (2, 2000, "runs"), (2, 4000, "runs")]
)
def test_runs_within_the_caches_are_repeated_from_a_buffer_where_all_turns_come_to_4_kb(turns, row, wanted):
    plan = planned((20, turns, row // 4), (20, 1, row // 4), cache_bytes=1 << 30)
    assert kernels_of(plan) == [wanted]


@pytest.mark.parametrize(
    ("turns", "row", "wanted"),
    [(20, 104, "repeated"), (5, 412, "pieces"), (5, 820, "repeated"), (2, 2052, "runs"), (2, 4000, "runs")],
)
def test_few_turns_past_the_caches_are_copied_one_by_one(turns, row, wanted):
    assert kernels_of(planned((2000, turns, row // 4), (2000, 1, row // 4))) == [wanted]


def test_what_is_transposed_and_repeated_is_transposed_once():
    plan = planned((50, 40, 60), (1, 40, 60), order=(0, 2, 1))
    assert kernels_of(plan)[-1] == "runs"
    assert plan.nbytes == 50 * 40 * 60 * 4
    small = planned((5000, 7, 12), (1, 7, 12), order=(0, 2, 1))
    assert kernels_of(small)[-1] == "repeated"


def test_a_plan_tells_all_that_it_touches():
    plan = planned((100_000, 3), (1, 3))
    assert plan.touched_bytes == pytest.approx(1_200_000, rel=0.001)
    twice = planned((50, 400, 600), (1, 400, 600), order=(0, 2, 1))
    assert twice.touched_bytes == pytest.approx(50 * 960_000 + 2 * 960_000, rel=0.1)
    assert "and then from there runs of 47.0 MB, stores past the caches" in twice.explain()


@pytest.mark.parametrize("start", [1000, 2400, 50_000, 117_600])
def test_a_source_within_the_target_is_read_first(start):
    """Also one that lies where the last turn will be written."""
    memory = np.arange(50 * 40 * 60, dtype=np.float32)
    src = memory[start : start + 2400].reshape(60, 40).T
    dst = memory.reshape(50, 40, 60)
    wanted = np.broadcast_to(src.copy(), dst.shape).copy()
    ready = engine.prepared(dst, np.broadcast_to(src, dst.shape))
    assert ready(engine.cell(dst), engine.cell(src), 1) == NEAR
    strided_copy(dst, np.broadcast_to(src, dst.shape))
    assert np.array_equal(dst, wanted)


def test_layouts_that_are_known_are_repeated_in_machine_code_for_each_target():
    bias, transposed = np.arange(3, dtype=np.float32), np.arange(2400, dtype=np.float32).reshape(60, 40).T
    for src, shape in ((bias, (70_000, 3)), (transposed, (50, 40, 60))):
        for value in range(3):
            dst = np.full(shape, value, np.float32)
            strided_copy(dst, np.broadcast_to(src, shape))
            assert (dst == src).all()
