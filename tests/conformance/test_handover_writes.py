"""Writes to an array that was handed over: whose are seen, who refuses, and what they change beside it."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.offers import CASES
from stridecheck.conformance.protocol import Unsupported


def _taken(interface):
    holder = type("Holder", (), {"__array_interface__": interface})()
    return np.asarray(holder)


class _Opaque(Numpy):
    """Shows what it has taken by no protocol, and writes to it where it is told to."""

    ports: Mapping[str, str] = {"dlpack": "hide({x})", "dlpack copy": "hide({x}).x", "dlpack share": "hide({x})"}
    observes_storage = False

    def scope(self):
        return super().scope() | {"hide": _Hidden}

    def is_tensor(self, x):
        return isinstance(x, _Hidden) or super().is_tensor(x)

    def describe(self, x):
        return super().describe(x.x if isinstance(x, _Hidden) else x)

    def read(self, x):
        return super().read(x.x if isinstance(x, _Hidden) else x)

    def operation(self, step):
        write = super().operation(step)
        return None if write is None else lambda x, *rest: write(x.x if isinstance(x, _Hidden) else x, *rest)


class _Hidden:
    def __init__(self, x):
        self.x = np.from_dlpack(x)


class _Mute(_Opaque):
    def operation(self, step):
        return None


def test_what_shows_no_address_is_known_by_its_writes():
    """Memory whose writes are seen is shared; where nobody can write either, nobody is accused."""
    for protocol in ("dlpack", "dlpack share"):
        found = hand_over(Numpy(), _Opaque(), protocol, CASES["row-major"])
        assert (found.outcome, found.writes) == ("shared", "fb")
        found = hand_over(_Mute(), _Mute(), protocol, CASES["read-only"])
        assert (found.writes, found.read_only) == ("..", "")
        assert found.outcome == ("shared" if protocol == "dlpack share" else "arrived")


class _Assigning(Numpy):
    """Has no `fill_`."""

    def operation(self, step):
        return None if step.op == "fill_" else super().operation(step)


def test_a_library_without_fill_writes_by_assignment():
    """Its writes are tried all the same, of numbers, too."""
    for case in ("transposed", "0-dim", "bool"):
        found = hand_over(_Assigning(), _Assigning(), "dlpack", CASES[case])
        assert (found.outcome, found.writes) == ("shared", "fb")


class _Forcing(Numpy):
    """Makes what is read-only writable, writes, and raises then: as a device's adapter, of results on the host."""

    def operation(self, step):
        def fill(x, value):
            np.lib.stride_tricks.as_strided(_taken(x.__array_interface__ | {"data": (x.ctypes.data, False)})).fill(
                value
            )
            raise LookupError("on the host")

        return fill


def test_a_write_that_raises_afterwards_is_a_write():
    """What is seen decides, so that read-only memory which was written to is not said to be kept."""
    found = hand_over(Numpy(), _Forcing(), "dlpack", CASES["read-only"])
    assert (found.outcome, found.writes, found.read_only) == ("shared", "f!", "lost")


class _Lazy(Numpy):
    """Copies what it takes when somebody first looks at it."""

    ports: Mapping[str, str] = {"dlpack": "later({x})", "dlpack copy": "later({x})"}

    def scope(self):
        return super().scope() | {"later": _Later}

    def is_tensor(self, x):
        return isinstance(x, _Later) or super().is_tensor(x)

    def describe(self, x):
        return super().describe(x.read() if isinstance(x, _Later) else x)

    def read(self, x):
        return super().read(x.read() if isinstance(x, _Later) else x)


class _Later:
    def __init__(self, x):
        self._x = np.from_dlpack(x)
        self._copy = None

    def read(self):
        if self._copy is None:
            self._copy = self._x.copy()
        return self._copy


def test_a_copy_that_is_made_when_it_is_read_is_told():
    """Until then it shows what its producer writes: neither shared nor a copy, and no copy where one was asked for."""
    found = hand_over(Numpy(), _Lazy(), "dlpack", CASES["transposed"])
    assert (found.outcome, found.writes) == ("copied", "!l")
    found = hand_over(Numpy(), _Lazy(), "dlpack copy", CASES["row-major"])
    assert found.detail == "the memory is shared until it is read, which was forbidden"
    frozen = hand_over(Numpy(), _Lazy(), "dlpack", CASES["read-only"])
    assert (frozen.outcome, frozen.writes, frozen.read_only) == ("arrived", "!!", "kept")


class _WritingOnce(Numpy):
    """Writes one time and no more."""

    left = 1

    def operation(self, step):
        def fill(x, value):
            self.left -= 1
            if self.left >= 0:
                x.fill(value)

        return fill


class _Watching(_Lazy):
    """Takes a copy, and when it first reads it refuses to do so if the producer has written since."""

    def scope(self):
        return super().scope() | {"later": _Watched}


class _Watched(_Later):
    def __init__(self, x):
        super().__init__(x)
        self._before = self._x.copy()

    def read(self):
        if self._copy is None and not np.array_equal(self._x, self._before):
            raise ValueError("changed under me")
        return super().read()


def test_a_copy_of_which_it_cannot_be_tried_is_not_said_to_be_lazy():
    """The producer does not write a second time, or what it has written to cannot be read."""
    assert hand_over(_WritingOnce(), Numpy(), "dlpack copy", CASES["row-major"]).writes == "--"
    assert hand_over(Numpy(), _Watching(), "dlpack", CASES["row-major"]).writes == "!-"


class _Strict(Numpy):
    """Writes to an array only what is of its kind, as a library that follows the array API."""

    def operation(self, step):
        def fill(x, value):
            if (x.dtype == bool) != isinstance(value, bool):
                raise TypeError("of another kind")
            x.fill(value)

        return fill


def test_what_is_written_is_of_the_arrays_kind():
    """A library that refuses an integer in an array of truth values has not refused to write."""
    for case in ("bool", "int8", "complex64"):
        assert hand_over(_Strict(), _Strict(), "dlpack", CASES[case]).writes == "fb"


def test_a_write_that_is_refused_is_no_write_that_is_not_seen():
    """Of NumPy's arrays over read-only memory, and of what it lets nobody write to."""
    found = hand_over(Numpy(), Numpy(), "dlpack", CASES["read-only"])
    assert (found.outcome, found.writes, found.read_only) == ("shared", "!!", "kept")
    copied = hand_over(Numpy(), Numpy(), "dlpack copy", CASES["row-major"])
    assert (copied.outcome, copied.writes) == ("copied", "--")


class _Spilling(Numpy):
    """Writes to all memory from the first element to the last, and some bytes more or less."""

    def __init__(self, before, after):
        super().__init__()
        self._before, self._after = before, after

    def operation(self, step):
        def fill(x, value):
            x[...] = value
            begin, end = np.lib.array_utils.byte_bounds(x)
            ctypes.memset(begin - self._before, 0, self._before)
            ctypes.memset(end, 0, self._after)

        return fill


def _filling_gaps(x, value):
    begin, end = np.lib.array_utils.byte_bounds(x)
    ctypes.memset(begin, 0, end - begin)
    x[...] = value


@pytest.mark.parametrize(
    ("case", "before", "after"),
    [("offset", 4, 0), ("row-major", 0, 1), ("off by 4 bytes", 4, 0), ("off by 1 byte", 0, 1), ("bool", 0, 60)],
)
def test_what_is_written_past_an_array_is_harm(case, before, after):
    """The producer has other memory there, before it and behind it, whichever of the two it is that writes."""
    for producer, consumer in ((Numpy(), _Spilling(before, after)), (_Spilling(before, after), Numpy())):
        found = hand_over(producer, consumer, "dlpack", CASES[case])
        assert (found.outcome, found.detail) == ("damaged", "what numpy writes to it changes memory beside it")
        assert found.is_astray


@pytest.mark.parametrize("case", ["stepped", "padded rows", "transposed"])
def test_what_is_written_between_the_elements_is_harm(case):
    """An array that is taken as if it were dense, and written to as such."""
    filling = type("Filling", (Numpy,), {"operation": lambda self, step: _filling_gaps})()
    found = hand_over(Numpy(), filling, "dlpack", CASES[case])
    assert found.outcome == ("shared" if case == "transposed" else "damaged")


class _Halving(Numpy):
    """Writes half of what it is told to where the memory is another one's."""

    ports: Mapping[str, str] = {"dlpack": "np.from_dlpack({x}).view(Half)"}

    def scope(self):
        return super().scope() | {"Half": _Half}

    def read(self, x):
        return super().read(np.full_like(x, x.flat[0]) if isinstance(x, _Half) and x.written else x)

    def operation(self, step):
        def fill(x, value):
            x.flat[0] = value
            x.written = True

        return fill


class _Half(np.ndarray):
    written = False


def test_a_write_that_arrives_as_something_else_is_harm():
    """Neither is it seen as it was written, nor are the two apart."""
    found = hand_over(Numpy(), _Halving(), "dlpack", CASES["row-major"])
    assert (found.outcome, found.detail) == ("damaged", "what numpy writes to it is something else in numpy")


class _Detaching(Numpy):
    """Takes memory as it is, and has a copy of its own from its first write on."""

    ports: Mapping[str, str] = {"dlpack": "own({x})", "dlpack share": "own({x})"}

    def scope(self):
        return super().scope() | {"own": _Own}

    def is_tensor(self, x):
        return isinstance(x, _Own) or super().is_tensor(x)

    def storage_of(self, x):
        return super().storage_of(x.x if isinstance(x, _Own) else x)

    def describe(self, x):
        return super().describe(x.x if isinstance(x, _Own) else x)

    def read(self, x):
        return super().read(x.x if isinstance(x, _Own) else x)

    def operation(self, step):
        def fill(x, value):
            x.x = x.x.copy()
            x.x.fill(value)

        return fill


class _Own:
    def __init__(self, x):
        self.x = np.from_dlpack(x)

    def __dlpack__(self, **asked):
        return self.x.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("observes", [True, False])
def test_memory_is_shared_though_a_write_makes_it_ones_own(observes):
    """Nothing was copied when it was taken, and the producer's writes are seen."""
    detaching = _Detaching()
    detaching.observes_storage = observes
    for protocol in ("dlpack", "dlpack share"):
        found = hand_over(Numpy(), detaching, protocol, CASES["row-major"])
        assert (found.outcome, found.writes) == ("shared", "-b")


class _DetachingToo(_Detaching):
    """Makes such arrays itself."""

    def tensor(self, *layout):
        return _Own(super().tensor(*layout))


def test_memory_is_shared_though_writes_make_it_the_own_of_both():
    """That neither is seen does not tell that it was copied, where it is seen to lie in both."""
    for protocol in ("dlpack", "dlpack share"):
        found = hand_over(_DetachingToo(), _Detaching(), protocol, CASES["row-major"])
        assert (found.outcome, found.writes) == ("shared", "--")


@pytest.mark.parametrize("where", ["found", "called"])
def test_who_has_no_kernel_has_not_refused_to_write(where):
    """An adapter says so by `Unsupported`, where it looks for the operation or in it."""

    class Lacking(Numpy):
        def operation(self, step):
            def fill(x, value):
                raise Unsupported("kernel:fill_")

            if where == "found":
                raise Unsupported("op:fill_")
            return fill

    assert hand_over(Numpy(), Lacking(), "dlpack", CASES["row-major"]).writes == ".b"


def test_who_fails_to_say_how_it_writes_is_at_fault():
    """That is an adapter's error, and neither a refusal nor harm."""

    class Failing(Numpy):
        def operation(self, step):
            raise KeyError(step.op)

    for pair in ((Numpy(), Failing()), (Failing(), Numpy())):
        found = hand_over(*pair, "dlpack", CASES["row-major"])
        assert (found.outcome, found.detail) == ("error", "numpy does not say how it writes: KeyError: 'fill_'")


def test_what_cannot_be_read_once_it_is_written_to_is_harm():
    """It could be read when it arrived."""

    class Breaking(Numpy):
        is_written = False

        def read(self, x):
            if self.is_written:
                raise ValueError("no such page")
            return super().read(x)

        def operation(self, step):
            def fill(x, value):
                self.is_written = True

            return fill

    found = hand_over(Numpy(), Breaking(), "dlpack", CASES["row-major"])
    assert (found.outcome, found.detail) == (
        "damaged",
        "what numpy has written to cannot be read: ValueError: no such page",
    )
