"""Memory that is lent, handed over: what arrives keeps it alive as long as it lives itself, and no longer."""

from __future__ import annotations

import ctypes
import queue
import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.adapters.torch import Torch
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.offers import CASES

FOREIGN = CASES["foreign, aligned"]


class _Taking(Numpy):
    """Takes arrays by a function of its own."""

    ports: Mapping[str, str] = {"dlpack": "taken({x})", "dlpack copy": "taken({x})", "buffer": "taken({x})"}

    def __init__(self, take):
        super().__init__()
        self._take = take

    def scope(self):
        return super().scope() | {"taken": self._take}


def _array(x):
    return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)


class _Foreign:
    """Describes memory by its address alone."""

    def __init__(self, x):
        self.__array_interface__ = x.__array_interface__


def _forgets(x):
    return np.asarray(_Foreign(_array(x)))


def _copies(x):
    return _array(x).copy()


@pytest.mark.parametrize(("producer", "protocol"), [(Numpy, "dlpack"), (Torch, "dlpack"), (Numpy, "buffer")])
def test_what_arrived_keeps_the_memory_that_it_shares(producer, protocol):
    """A consumer that lets a capsule or a view go at once has an array in memory that its owner may free."""
    assert hand_over(producer(), _Taking(_array), protocol, FOREIGN).outcome == "shared"
    found = hand_over(producer(), _Taking(_forgets), protocol, FOREIGN)
    assert (found.outcome, found.detail) == (
        "damaged",
        "the memory that it shares is not kept alive by what arrived",
    )
    assert found.is_astray


@pytest.mark.parametrize("take", [_array, _copies])
@pytest.mark.parametrize("protocol", ["dlpack", "buffer"])
def test_memory_is_let_go_with_what_arrived(take, protocol):
    """Who never calls the capsule's deleter holds the producer's memory for good, even where it has copied."""
    held = []

    def keeps(x):
        held.append(x.__dlpack__() if protocol == "dlpack" else x)
        return take(x)

    assert hand_over(Numpy(), _Taking(take), protocol, FOREIGN).outcome in ("shared", "copied")
    found = hand_over(Numpy(), _Taking(keeps), protocol, FOREIGN)
    assert (found.outcome, found.detail) == ("damaged", "the memory is held after both arrays are gone")


@pytest.mark.parametrize("seconds", [0.0, 0.02])
def test_memory_may_be_let_go_by_a_thread_of_its_own(seconds):
    """A moment later, or when the next one comes: a queue's last item is held by whoever waits for another."""
    waiting = queue.SimpleQueue()

    def tidy():
        while True:
            held = waiting.get()  # which is held until another comes
            if seconds:
                time.sleep(seconds)
                del held

    class Late:
        def __init__(self, array):
            self._array, self.__array_interface__ = array, array.__array_interface__

        def __del__(self):
            waiting.put(self._array)

    threading.Thread(target=tidy, daemon=True).start()
    assert hand_over(Numpy(), _Taking(lambda x: np.asarray(Late(_array(x)))), "dlpack", FOREIGN).outcome == "shared"


def test_what_nothing_tells_is_no_proof_of_sharing():
    """A promise that is taken for granted: memory that nobody holds was copied."""

    class Silent(Numpy):
        observes_storage = False

        def operation(self, step):
            return None

    class Boxing(Silent):
        ports: Mapping[str, str] = {"dlpack share": "Box({x})"}

        def scope(self):
            return super().scope() | {"Box": lambda x: _Box(np.from_dlpack(x).copy())}

        def is_tensor(self, x):
            return isinstance(x, _Box)

        def describe(self, x):
            return super().describe(x.array)

        def read(self, x):
            return super().read(x.array)

    class Writeless(Numpy):
        def operation(self, step):
            return None

    found = hand_over(Writeless(), Boxing(), "dlpack share", FOREIGN)
    assert (found.outcome, found.damage, found.is_astray) == ("damaged", "copied", False)


class _Box:
    """Shows nothing of an array."""

    def __init__(self, array):
        self.array = array


def test_a_cycle_is_let_go():
    """Garbage is collected before anything is said to be held."""

    class Cyclic(np.ndarray):
        pass

    def take(x):
        y = np.from_dlpack(x).view(Cyclic)
        y.me = y
        return y

    assert hand_over(Numpy(), _Taking(take), "dlpack", FOREIGN).outcome == "shared"


class _Keeping(Numpy):
    """Keeps what it is lent, as a library may that has no other way to know who uses it."""

    def __init__(self):
        super().__init__()
        self.lent = []

    def wrap(self, data):
        self.lent.append(data)
        return super().wrap(data)


class _ByAddress(Numpy):
    """Looks into what it is lent by its address."""

    def wrap(self, data):
        address = ctypes.addressof(ctypes.c_char.from_buffer(data))
        return super().wrap((ctypes.c_char * len(data)).from_address(address))


@pytest.mark.parametrize("producer", [_Keeping, _ByAddress])
@pytest.mark.parametrize("take", [_array, _forgets])
def test_a_producer_whose_memory_tells_nothing(producer, take):
    """An adapter that holds what it is lent in its own way, or not at all, tells nothing of the consumer."""
    assert hand_over(producer(), _Taking(take), "dlpack", FOREIGN).outcome == "shared"
