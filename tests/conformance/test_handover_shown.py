"""Libraries whose arrays show little of themselves, or something else: nothing is concluded from that."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import numpy as np
import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.offers import CASES, make

LAYOUTS = ("row-major", "transposed", "stepped", "reversed", "expanded", "0-dim", "bool")


class _Array:
    """Holds an array, and shows nothing of it."""

    def __init__(self, array):
        self.array = array


class _Offering(_Array):
    """Offers by DLPack what it holds."""

    def offered(self):
        return self.array

    def __dlpack__(self, **asked):
        return self.offered().__dlpack__(**asked)

    def __dlpack_device__(self):
        return (1, 0)


class _Host(_Offering):
    """Offers NumPy a copy that it makes once and keeps; shares by DLPack."""

    host = None

    @property
    def __array_interface__(self):
        if self.host is None:
            self.host = np.array(self.array, order="C")
        return self.host.__array_interface__


class _Copies(_Array):
    """Offers NumPy a copy each time, which lives as long as the array."""

    @property
    def __array_interface__(self):
        self.kept = [*getattr(self, "kept", ()), np.array(self.array, order="C")]
        return self.kept[-1].__array_interface__


class _Loan(np.ndarray):
    """What is lent."""


class _Lending(_Offering):
    """Lends its memory to one at a time, as Rust's rules of borrowing have it."""

    lent = staticmethod(lambda: None)

    def __dlpack__(self, **asked):
        if asked.get("copy"):
            return self.array.__dlpack__(**asked)
        if self.lent() is not None:
            raise BufferError("already borrowed")
        loan = self.array.view(_Loan)
        self.lent = weakref.ref(loan)
        return loan.__dlpack__(**asked)


class _Private(_Offering):
    """A value on a device: whatever is asked for, it is offered by a copy that it makes once and keeps."""

    host = None

    def offered(self):
        if self.host is None:
            self.host = self.array.copy()
        return self.host


class _Lazy(_Offering):
    """Becomes row-major where it is offered."""

    def offered(self):
        self.array = np.array(self.array, order="C")
        return self.array


class _Raw(_Array):
    """Names a buffer as the data of its interface, as version 3 allows."""

    @property
    def __array_interface__(self):
        data = memoryview(self.array.reshape(-1)).cast("B")
        return self.array.__array_interface__ | {"data": data, "strides": None}


class _Shy(Numpy):
    """Its arrays are of a kind of their own; it says no strides, and writes where it can."""

    observes_storage = False
    ports: Mapping[str, str] = {
        "dlpack": "lent({x})",
        "dlpack copy": "lent({x}, copy=True)",
        "dlpack share": "lent({x}, copy=False)",
        "interface": "taken({x})",
    }

    def __init__(self, kind, *, writes=True, strides=False):
        super().__init__()
        self._kind, self._writes, self._strides = kind, writes, strides

    def scope(self):
        return super().scope() | {
            "taken": lambda x: self._kind(np.asarray(x)),
            "lent": lambda x, **asked: self._kind(np.from_dlpack(x, **asked)),
        }

    def laid_out(self, *layout):
        return self._kind(super().tensor(*layout))

    def is_tensor(self, x):
        return isinstance(x, self._kind)

    def describe(self, x):
        dtype, shape, strides, *rest = super().describe(x.array)
        return (dtype, shape, strides if self._strides else None, None, *rest[1:])

    def read(self, x):
        return super().read(x.array)

    def operation(self, step):
        return (lambda x, value: x.array.fill(value)) if self._writes and step.op == "fill_" else None

    def buffer(self, x):
        return memoryview(np.ascontiguousarray(x.array)).cast("B")


@pytest.mark.parametrize("case", LAYOUTS)
@pytest.mark.parametrize("kind", [_Array, _Copies])
def test_strides_are_not_taken_from_what_is_flattened_or_copied(kind, case):
    """A consumer that shares, has no notion of strides, and hands on its bytes, or copies."""
    found = hand_over(Numpy(), _Shy(kind), "interface", CASES[case])
    assert (found.outcome, found.strides, found.writes) == ("shared", None, "fb")


@pytest.mark.parametrize("case", LAYOUTS)
def test_memory_is_looked_for_in_all_that_an_array_shows(case):
    """A copy for the host beside memory that is shared tells neither where it lies nor how."""
    values = _Shy(_Host, writes=False)
    found = hand_over(values, values, "dlpack share", CASES[case])
    assert (found.outcome, found.strides) == ("shared", True)


@pytest.mark.parametrize("case", LAYOUTS)
def test_memory_that_is_lent_once_at_a_time_is_no_copy(case):
    """That an array is not offered twice says nothing."""
    values = _Shy(_Lending, writes=False)
    assert hand_over(values, values, "dlpack share", CASES[case]).outcome == "shared"
    assert hand_over(values, values, "dlpack copy", CASES[case]).outcome == "copied"


@pytest.mark.parametrize("case", LAYOUTS)
def test_a_copy_that_is_kept_is_one(case):
    """Though it is offered at one address for ever: a write there changes nothing in the producer."""
    producer = _Shy(_Private, writes=False)
    assert hand_over(producer, Numpy(), "dlpack", CASES[case]).outcome == "copied"
    found = hand_over(producer, Numpy(), "dlpack share", CASES[case])
    assert (found.outcome, found.damage) == ("damaged", "copied")


def test_a_layout_that_changes_where_it_is_offered_is_told_as_that():
    """The elements, and all memory, are as before: the process says as much as before."""
    found = hand_over(_Shy(_Lazy, strides=True), Numpy(), "dlpack", CASES["transposed"])
    assert (found.outcome, found.damage, found.is_astray) == ("damaged", "layout", False)
    assert "has strides (4, 1) and offset None since it was offered, and had strides (1, 3)" in found.detail
    assert hand_over(_Shy(_Lazy, strides=True), Numpy(), "dlpack", CASES["row-major"]).outcome != "damaged"


def test_an_interface_may_name_a_buffer():
    found = hand_over(_Shy(_Raw), Numpy(), "interface", CASES["row-major"])
    assert (found.outcome, found.writes) == ("shared", "fb")


class _Answering(Numpy):
    ports: Mapping[str, str] = {"dlpack": "answer({x})"}

    def __init__(self, answer):
        super().__init__()
        self._answer = answer

    def scope(self):
        return super().scope() | {"answer": self._answer}


def test_to_answer_with_no_array_is_told_from_an_error():
    """Both refuse; a list has one and the other."""

    def raises(x):
        raise TypeError("not these")

    for answer, kind in ((lambda x: None, "answer"), (raises, "")):
        found = hand_over(Numpy(), _Answering(answer), "dlpack", CASES["row-major"])
        assert (found.outcome, found.damage) == ("refused", kind)


def test_to_write_nothing_is_told_from_an_error():
    """Who should write raises, or does nothing and does not say so."""

    class Writing(Numpy):
        def __init__(self, fill):
            super().__init__()
            self._fill = fill

        def operation(self, step):
            return self._fill

    def raises(x, value):
        raise TypeError("read-only")

    for fill, letters in ((lambda x, value: None, "nb"), (raises, "!b")):
        assert hand_over(Numpy(), Writing(fill), "dlpack", CASES["row-major"]).writes == letters


class _Valuing(Numpy):
    """Of a frozen array's storage nothing is known."""

    def freeze(self, x):
        frozen = x.copy()
        frozen.flags.writeable = False
        return frozen

    def storage_of(self, x):
        return super().storage_of(x) if x.flags.writeable else None

    def describe(self, x):
        return super().describe(x if x.flags.writeable else x.copy())


def test_an_array_may_have_no_storage_to_tell_of():
    assert make(_Valuing(), CASES["read-only"]).address is None
    assert hand_over(_Valuing(), Numpy(), "dlpack", CASES["read-only"]).outcome == "shared"


class _Spoiling(Numpy):
    """Writes into the gaps of what it takes, and cannot read it then."""

    ports: Mapping[str, str] = {"dlpack": "np.from_dlpack({x})"}

    def operation(self, step):
        def fill(x, value):
            np.lib.stride_tricks.as_strided(x, (3, 8), (32, 4)).fill(value)
            self.is_spoilt = True

        return fill if step.op == "fill_" else None

    def read(self, x):
        if getattr(self, "is_spoilt", False):
            raise OSError("spoilt")
        return super().read(x)


def test_memory_beside_an_array_is_looked_at_before_the_array():
    """That it has changed is why nothing can be read."""
    found = hand_over(Numpy(), _Spoiling(), "dlpack", CASES["stepped"])
    assert (found.damage, found.is_astray) == ("astray", True)
