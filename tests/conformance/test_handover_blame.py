"""Whose fault it is what becomes of an array, and what is known of memory that nobody shows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.offers import CASES


class _Exporting(np.ndarray):
    """Exports a copy of itself each time, in memory of another allocator than NumPy's, which remembers blocks."""

    def __dlpack__(self, **asked):
        bare = np.asarray(self.view(np.ndarray))
        return np.frombuffer(bytearray(bare.tobytes()), bare.dtype).reshape(bare.shape).__dlpack__()


class _Values(Numpy):
    """Arrays that nobody writes to, and whose memory nobody sees."""

    observes_storage = False

    def operation(self, step):
        return None


class _Exports(_Values):
    """Whose memory is a copy's each time, what is more."""

    def tensor(self, *layout):
        return super().tensor(*layout).view(_Exporting)


class _Zeroing(Numpy):
    """Takes a copy and forgets what was in it."""

    ports: Mapping[str, str] = {"dlpack": "zeroed({x})"}

    def scope(self):
        return super().scope() | {"zeroed": lambda x: np.zeros_like(np.from_dlpack(x))}


@pytest.mark.parametrize("case", ["row-major", "transposed", "float64", "0-dim"])
def test_who_exports_true_copies_is_not_blamed_for_what_becomes_of_them(case):
    """What it says is read while that copy lives: afterwards anything may lie there."""
    for _ in range(5):
        found = hand_over(_Exports(), _Zeroing(), "dlpack", CASES[case])
        assert (found.outcome, found.detail.endswith("elements differ")) == ("damaged", True)


@pytest.mark.parametrize("consumer", [Numpy, _Values])
def test_the_address_of_a_copy_that_is_gone_tells_nothing(consumer):
    """The next export may take the block that the one before had."""
    for _ in range(5):
        assert hand_over(_Exports(), consumer(), "dlpack", CASES["row-major"]).outcome != "shared"
        assert hand_over(_Exports(), consumer(), "dlpack copy", CASES["row-major"]).outcome == "copied"
    found = hand_over(_Exports(), Numpy(), "dlpack share", CASES["row-major"])
    assert (found.outcome, found.detail) == ("damaged", "the memory is copied, which was forbidden")


class _Unwritten(Numpy):
    """Shows its memory, and has nothing to write with."""

    def operation(self, step):
        return None


class _Rooted(_Unwritten):
    """Sees the whole memory of what it has taken, and not the array's alone."""

    def storage_of(self, x):
        while getattr(x, "base", None) is not None:
            x = x.base
        return super().storage_of(getattr(x, "_x", x))


@pytest.mark.parametrize("case", ["row-major", "offset", "rows reversed", "off by 4 bytes"])
def test_memory_is_shared_where_its_storage_holds_the_first_element(case):
    """Wherever in the storage that is: of reversed rows it is not the first byte."""
    assert hand_over(_Unwritten(), _Rooted(), "interface", CASES[case]).outcome == "shared"
    assert hand_over(_Unwritten(), _Unwritten(), "dlpack copy", CASES[case]).outcome == "copied"


class _Wild(np.ndarray):
    """Says strides that lead out of all memory."""

    @property
    def __array_interface__(self):
        return {**np.asarray(self.view(np.ndarray)).__array_interface__, "strides": (1 << 40, 4)}


class _SaysWildly(Numpy):
    def tensor(self, *layout):
        return super().tensor(*layout).view(_Wild)

    def describe(self, x):
        return super().describe(x.view(np.ndarray))

    def read(self, x):
        return super().read(x.view(np.ndarray))

    def storage_of(self, x):
        return super().storage_of(x.view(np.ndarray))


class _Ignoring(Numpy):
    """Takes no notice of what it is offered."""

    ports: Mapping[str, str] = {"interface": "ignored({x})"}

    def scope(self):
        return super().scope() | {"ignored": lambda x: np.zeros((3, 4), "float32")}


def test_strides_that_lead_nowhere_are_not_followed():
    found = hand_over(_SaysWildly(), _Ignoring(), "interface", CASES["row-major"])
    assert found.detail == "12 of 12 elements differ; what the producer said of it was wrong already"


class _Dense(np.ndarray):
    """Hands on row-major copies of itself, and of those says the address."""

    def __dlpack__(self, **asked):
        return self._bare().__dlpack__(**asked)

    @property
    def __array_interface__(self):
        self._held = self._bare()
        return self._held.__array_interface__

    def _bare(self):
        return np.array(self.view(np.ndarray), order="C")


class _HandsOnDense(Numpy):
    """Shares memory with the strides that it has, and shows others."""

    ports: Mapping[str, str] = {
        "dlpack": "np.from_dlpack({x}).view(Dense)",
        "dlpack share": "np.from_dlpack({x}, copy=False).view(Dense)",
    }

    def scope(self):
        return super().scope() | {"Dense": _Dense}

    def address_of(self, x):
        return super().address_of(x.view(np.ndarray))


class _HandsOnDenseValues(_HandsOnDense, _Values):
    pass


@pytest.mark.parametrize("case", ["row-major", "transposed", "stepped", "padded rows"])
def test_strides_are_those_that_the_consumer_has_and_not_those_that_it_hands_on(case):
    found = hand_over(Numpy(), _HandsOnDense(), "dlpack", CASES[case])
    assert (found.outcome, found.strides, found.writes) == ("shared", True, "fb")


def test_that_it_hands_on_a_copy_does_not_tell_that_it_has_one():
    """By one protocol; by another it shows where it lies."""
    for producer, case in ((Numpy(), "read-only"), (_Values(), "row-major")):
        for protocol in ("dlpack", "dlpack share"):
            assert hand_over(producer, _HandsOnDenseValues(), protocol, CASES[case]).outcome == "shared"


class _WithoutOffset(Numpy):
    def tensor(self, storage, dtype, shape, strides, offset):
        return super().tensor(storage, dtype, shape, strides, 0)


class _ReadsDense(Numpy):
    def read(self, x):
        if not x.flags.c_contiguous:
            raise ValueError("not contiguous")
        return super().read(x)


class _ReadsInMemoryOrder(Numpy):
    def read(self, x):
        return x.tobytes("A")


class _Blank(Numpy):
    """Builds nothing, and describes nothing."""

    def tensor(self, *layout):
        raise NotImplementedError

    def describe(self, x):
        raise AttributeError("no attribute 'dtype'")


def test_what_an_adapter_does_wrong_to_its_own_arrays_is_its_fault():
    """Whether it makes another one or reads another one, and on whichever side it is."""
    made = hand_over(_WithoutOffset(), Numpy(), "dlpack", CASES["offset"])
    assert made.detail == "numpy has built other elements than it was asked for, or reads others"
    read = hand_over(_ReadsInMemoryOrder(), Numpy(), "dlpack", CASES["transposed"])
    assert (read.outcome, read.detail) == (made.outcome, made.detail) == ("error", made.detail)
    for consumer, says in (
        (_ReadsDense(), "numpy cannot read its own arrays: ValueError: not contiguous"),
        (_ReadsInMemoryOrder(), "numpy reads its own arrays as others: 10 of 12 elements differ"),
        (_Blank(), "numpy cannot read its own arrays: AttributeError: no attribute 'dtype'"),
    ):
        found = hand_over(Numpy(), consumer, "dlpack", CASES["transposed"])
        assert (found.outcome, found.detail) == ("error", says)
        assert hand_over(consumer, Numpy(), "dlpack", CASES["transposed"]).outcome == "error"


class _FreezesCopies(Numpy):
    def freeze(self, x):
        frozen = x.copy()
        frozen.flags.writeable = False
        return frozen


@pytest.mark.parametrize("protocol", ["dlpack", "dlpack share", "buffer"])
def test_an_array_that_lies_in_memory_of_its_own_is_looked_for_there(protocol):
    """Not in the storage that it was made over, of which freezing made a copy."""
    found = hand_over(_FreezesCopies(), Numpy(), protocol, CASES["read-only"])
    assert (found.outcome, found.read_only) == ("shared", "kept")


class _SharesAnyway(Numpy):
    ports: Mapping[str, str] = {"dlpack copy": "np.from_dlpack({x})"}


@pytest.mark.parametrize("observes", [True, False])
def test_a_copy_that_was_asked_for_and_is_none_is_harm(observes):
    consumer = _SharesAnyway()
    consumer.observes_storage = observes
    found = hand_over(Numpy(), consumer, "dlpack copy", CASES["transposed"])
    assert (found.outcome, found.detail) == ("damaged", "the memory is shared, which was forbidden")
