"""Preparing a case: what is observed, what is compared, and what stops it."""

from dataclasses import replace

import numpy as np
import pytest
from stridecheck.benchmarks.cases import Case
from stridecheck.benchmarks.prepare import Answer, CaseFailed, check_answer, expected_answer, prepare
from stridecheck.conformance.adapters import numpy, reference
from stridecheck.conformance.observation import StorageState, TensorState
from stridecheck.conformance.program import Input, Program, Ref, Step, Storage
from stridecheck.conformance.protocol import Unsupported
from stridecheck.reference_impl.shadow import UNSPECIFIED


class Wrong(numpy.Numpy):
    """NumPy with another expression for one operation."""

    name = "wrong"

    def __init__(self, op, function):
        super().__init__()
        self.op, self.function = op, function

    def operation(self, step):
        return self.function if step.op == self.op else super().operation(step)


def case(operation, layout="contiguous"):
    return Case(operation, layout, "float32", "small")


def prepared(one, adapter):
    return prepare(one.program, adapter, expected_answer(one.program, reference.adapter(), one.timed), one.timed)


@pytest.mark.parametrize(
    ("one", "copied", "output", "touched"),
    [
        # 60 x 60 float32 are 14,400 bytes on 225 lines.
        (case("copy", "transposed"), None, 14_400, 28_800),
        (case("contiguous"), False, 14_400, 0),
        (case("contiguous", "transposed"), True, 14_400, 28_800),
        (case("clone", "expanded"), True, 14_400, 14_400 + 4 * 64),
        (case("add", "stepped"), True, 14_400, 14_400 + 2 * 28_800),
        (case("sum_last"), True, 240, 14_400 + 4 * 64),
        (case("view_chain"), False, 5 * 240, 0),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_what_moves_and_whether_it_is_a_copy_is_observed(one, copied, output, touched):
    ready = prepared(one, numpy.adapter())
    assert (ready.copied, ready.output_bytes, ready.touched_bytes) == (copied, output, touched)


def test_a_copy_in_the_place_of_a_view_is_foreseen_otherwise():
    """A view chain must move no bytes: what the oracle does is the prediction, also where a library copies."""
    one = case("view_chain")
    right = prepared(one, numpy.adapter())
    copying = prepared(one, Wrong("permute", lambda x, dims: np.transpose(x, dims).copy()))
    assert [(ready.copied, ready.predicted) for ready in (right, copying)] == [(False, False), (True, False)]


def test_the_call_runs_the_timed_step_and_no_other():
    seen = []
    adapter = Wrong("relu", lambda x: seen.append(x.strides) or np.maximum(x, 0))
    ready = prepared(case("relu", "transposed"), adapter)
    ready.call()
    ready.call()
    assert seen == [(4, 240)] * 3


def test_steps_that_are_timed_together_are_one_call():
    """Each goes on with what the one before answered in this call, not with what it answered when it was observed."""
    torch = pytest.importorskip("torch")
    from stridecheck.conformance.adapters import torch as adapters

    ready = prepared(case("share_memory"), adapters.adapter())
    first, second = ready.call(), ready.call()
    assert first.is_shared()
    assert first.data_ptr() != second.data_ptr()
    assert torch.equal(first, second)
    view = prepared(case("view_chain"), adapters.adapter()).call()
    assert (tuple(view.shape), view.stride()) == ((60, 5), (60, 1))


@pytest.mark.parametrize(
    ("operation", "function", "message"),
    [
        ("add", lambda x, y: x - y, r"wrong result: element \(0, 0\) is .*, but should be"),
        ("add", lambda x, y: (x + y)[:-1], r"it is float32\[59, 60\], but should be float32\[60, 60\]"),
        ("add", lambda x, y: (x + y).astype("float64"), r"it is float64\[60, 60\], but should be float32"),
        ("add", lambda x, y: [x + y, x], "it is 2 values, but should be 1"),
        ("add", lambda x, y: None, r"answered \[\], but should answer tensors"),
        ("add", lambda x, y: 1 // 0, "add raised ZeroDivisionError"),
        ("clone", lambda x: np.zeros_like(x), "wrong result"),
        ("copy_", lambda x, y: x, "wrong result"),
        ("transpose", lambda x, a, b: 1 // 0, "transpose raised ZeroDivisionError"),
    ],
)
def test_a_wrong_answer_is_no_case_to_time(operation, function, message):
    one = case({"copy_": "copy", "transpose": "relu"}.get(operation, operation), "transposed")
    with pytest.raises(CaseFailed, match=message):
        prepared(one, Wrong(operation, function))


def test_an_operation_that_is_not_claimed_is_unsupported():
    with pytest.raises(Unsupported, match="conv2d"):
        prepared(Case("conv2d", "nchw", "float32", "small"), numpy.adapter())


@pytest.mark.parametrize("name", ["torch", "numpy", "reference"])
def test_each_library_has_its_own_words_for_a_lack_of_memory(name):
    from stridecheck.conformance import discovery

    steps = Step("expand", (Ref(0), (1_000_000, 1_000_000))), Step("contiguous", (Ref(1),))
    program = Program((Storage(4, "ramp1"),), (Input("float32", (1, 1), (1, 1), 0, 0),), steps)
    with pytest.raises(MemoryError):
        prepare(program, discovery.find(name)[0]())


def test_a_library_without_memory_is_not_a_library_that_fails():
    def no_memory(x):
        raise MemoryError("too large")

    with pytest.raises(MemoryError):
        prepared(case("relu"), Wrong("relu", no_memory))


def test_an_oracle_without_the_operation_expects_nothing():
    program = Program(case("relu").program.storages, case("relu").program.inputs, (Step("no_such_thing", (Ref(0),)),))
    assert expected_answer(program, reference.adapter()) is None


def test_an_oracle_that_raises_expects_nothing():
    assert expected_answer(case("relu").program, Wrong("relu", lambda x: 1 // 0)) is None


def answer(array, *, seen=True):
    """The answer of a library that observes storages, or of one that sends elements."""
    if not seen:
        return Answer((TensorState("float32", array.shape, data=array.tobytes()),), {})
    root = array if array.base is None else array.base
    strides = tuple(step // 4 for step in array.strides)
    return Answer(
        (TensorState("float32", array.shape, strides, 0, storage="v1"),), {"v1": StorageState(root.tobytes())}
    )


@pytest.mark.parametrize("seen", [True, False])
def test_large_answers_are_compared_to_the_last_element(seen):
    right = np.arange(1_200 * 1_100, dtype=np.float32).reshape(1_200, 1_100)
    transposed = np.ascontiguousarray(right.T).T
    check_answer(answer(right), answer(right.copy(), seen=seen))
    if seen:
        check_answer(answer(right), answer(transposed))
    wrong = right.copy()
    wrong[1_199, 1_098] = -1
    with pytest.raises(CaseFailed, match=r"element \(1199, 1098\) is -1.0, but should be"):
        check_answer(answer(right), answer(wrong, seen=seen))


def test_an_answer_that_cannot_be_seen_is_not_judged():
    blind = Answer((TensorState("float32", (2, 2)),), {})
    check_answer(answer(np.ones((2, 2), np.float32)), blind)


def test_what_the_oracle_leaves_open_is_not_compared():
    ours = answer(np.ones((2, 2), np.float32))
    marked = replace(ours, storages={"v1": ours.storages["v1"]._replace(shadow=bytes([UNSPECIFIED]) * 16)})
    check_answer(marked, answer(np.zeros((2, 2), np.float32)))
