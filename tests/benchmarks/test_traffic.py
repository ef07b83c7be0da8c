"""Cache lines counted from layouts, against counting them one element after the other."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.benchmarks.traffic import LINE, Access, lines_touched, touched_bytes
from stridecheck.conformance.observation import TensorState
from stridecheck.conformance.program import File, Ref, Step


def counted(accesses):
    lines = set()
    for access in accesses:
        for index in itertools.product(*map(range, access.shape)):
            place = access.offset + sum(i * s for i, s in zip(index, access.strides, strict=True))
            first = place * access.itemsize
            lines |= set(range(first // LINE, (first + access.itemsize - 1) // LINE + 1))
    return len(lines)


@st.composite
def accesses(draw):
    ndim = draw(st.integers(0, 4))
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=ndim, max_size=ndim)))
    strides = tuple(draw(st.lists(st.integers(-40, 70), min_size=ndim, max_size=ndim)))
    low = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0 and n)
    return Access(shape, strides, draw(st.integers(0, 40)) - low, draw(st.sampled_from([1, 2, 4, 8, 16])))


@given(st.lists(accesses(), max_size=3))
def test_lines_are_counted_as_if_element_by_element(several):
    assert lines_touched(several) == counted(several)


@pytest.mark.parametrize("stride", range(1, 40))
def test_every_step_width_around_a_line_is_counted_right(stride):
    for offset, itemsize in itertools.product((0, 1, 15, 16), (1, 4, 16)):
        access = Access((9,), (stride,), offset, itemsize)
        assert lines_touched([access]) == counted([access])


def test_millions_of_scattered_elements_are_counted():
    assert lines_touched([Access((1000, 1000), (64_000, 64), 0, 4)]) == 1_000_000


def state(shape, strides, storage, dtype="float32"):
    return TensorState(dtype, shape, strides, 0, storage=storage)


WIDE = ((16, 16), (16, 1))
BYTES = 16 * 16 * 4


@pytest.mark.parametrize(
    ("steps", "result", "nbytes"),
    [
        pytest.param([Step("relu", (Ref(0),))], "v2", 2 * BYTES, id="reads one, writes one"),
        pytest.param([Step("add", (Ref(0), Ref(1)))], "v2", 3 * BYTES, id="reads two, writes one"),
        pytest.param([Step("add", (Ref(0), Ref(0)))], "v2", 2 * BYTES, id="reads the same twice"),
        pytest.param([Step("copy_", (Ref(0), Ref(1)))], "s0", 2 * BYTES, id="overwrites without reading"),
        pytest.param([Step("add_", (Ref(0), Ref(1)))], "s0", 3 * BYTES, id="reads and writes one, reads the other"),
        pytest.param([Step("view", (Ref(0), (256,)))], "s0", 0, id="a view moves nothing"),
        pytest.param([Step("add", (Ref(0), Ref(0)), (("out", Ref(1)),))], "s1", 2 * BYTES, id="out is not read"),
        pytest.param([Step("clone", (Ref(0),)), Step("relu_", (Ref(2),))], "v2", 2 * BYTES, id="what lies between"),
        pytest.param([Step("t", (Ref(0),)), Step("view", (Ref(2), (256,)))], "s0", 0, id="a chain of views"),
        pytest.param([Step("UntypedStorage.from_file", (File(0), False, BYTES))], "v2", 0, id="a file is only mapped"),
        pytest.param([Step("relu", (Ref(0),))], None, 2 * BYTES, id="storages that cannot be seen"),
    ],
)
def test_a_step_touches_what_it_reads_and_what_it_writes(steps, result, nbytes):
    names = (None, None) if result is None else ("s0", "s1")
    before = {str(slot): state(*WIDE, name) for slot, name in enumerate(names)}
    assert touched_bytes(steps, before, [state(*WIDE, result)]) == nbytes


def test_an_expanded_operand_is_read_once_and_a_stepped_one_with_its_gaps():
    expanded, stepped = state((16, 16), (0, 1), "s0"), state((16, 16), (32, 2), "s0")
    out = state(*WIDE, "v1")
    assert touched_bytes([Step("relu", (Ref(0),))], {"0": expanded}, [out]) == BYTES + LINE
    assert touched_bytes([Step("relu", (Ref(0),))], {"0": stepped}, [out]) == 3 * BYTES
