"""One array handed from one library to another, on NumPy with ways of its own: what arrives, and whose fault it is."""

from __future__ import annotations

import ctypes
import re
import weakref
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.offers import ALIGNMENT, CASES, PROTOCOLS
from stridecheck.conformance.ports import PortError, check_ports
from stridecheck.conformance.protocol import Unsupported


class _OfItsOwn(Numpy):
    """Says strides of its own of all that it takes."""

    def describe(self, x):
        dtype, shape, strides, *rest = super().describe(x)
        return (dtype, shape, tuple([7 if n < 2 else s for n, s in zip(shape, strides, strict=True)]), *rest)


def test_strides_that_are_neither_kept_nor_row_major_are_told():
    """What is seen is what the library itself says, with the strides before and after."""
    found = hand_over(Numpy(), _OfItsOwn(), "dlpack", CASES["size 1 last"])
    assert (found.outcome, found.strides, found.idle) == ("shared", True, "other")
    assert found.detail == "strides of [4, 308] bytes arrived as [4, 28]"
    assert hand_over(Numpy(), _OfItsOwn(), "dlpack", CASES["empty, odd strides"]).idle == "other"


@pytest.mark.parametrize("case", ["row-major", "transposed", "offset", "bool", "complex128"])
def test_memory_begins_where_it_is_aligned(case):
    """Where an allocator put it by chance must not decide whether a consumer copies."""
    seen = []

    class Looking(Numpy):
        def tensor(self, storage, dtype, shape, strides, offset):
            seen.append(x := super().tensor(storage, dtype, shape, strides, offset))
            return x

    for _ in range(20):
        assert hand_over(Looking(), Numpy(), "dlpack", CASES[case]).outcome == "shared"
    begins = [x.ctypes.data - CASES[case].offset * x.itemsize for x in seen]
    assert {begin % ALIGNMENT for begin in begins} == {0}


def test_what_was_handed_on_goes_before_what_arrived_of_it():
    """As where a function answers with what it has handed on: a deleter may then be called where it must not."""
    gone = []

    def noted(name, x):
        weakref.finalize(x, gone.append, name)
        return x

    class Noting(Numpy):
        ports: Mapping[str, str] = {"dlpack copy": "taken({x})"}

        def scope(self):
            return {"taken": lambda x: noted("arrived", np.from_dlpack(x, copy=True))}

        def tensor(self, *args):
            return noted("handed on", super().tensor(*args))

    assert hand_over(Noting(), Noting(), "dlpack copy", CASES["row-major"]).outcome == "copied"
    assert gone[-2:] == ["handed on", "arrived"]


class _OnDevice(np.ndarray):
    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__


class _Gpu(Numpy):
    """NumPy's memory, told of as if it were a GPU's."""

    def tensor(self, storage, dtype, shape, strides, offset):
        return super().tensor(storage, dtype, shape, strides, offset).view(_OnDevice)


class _Careless(_Gpu):
    """Takes the address and the shape."""

    ports: Mapping[str, str] = {"cuda interface": "taken({x}.__cuda_array_interface__ | {'strides': None})"}

    def scope(self):
        return super().scope() | {"taken": _taken}


class _Careful(_Careless):
    ports: Mapping[str, str] = {"cuda interface": "taken({x}.__cuda_array_interface__)"}


def _taken(interface):
    holder = type("Holder", (), {"__array_interface__": interface})()
    return np.asarray(holder)


def test_what_a_gpu_tells_of_its_memory_is_handed_on():
    """`__cuda_array_interface__` is a protocol like the others; who offers none, or drops the strides, is told."""
    for case in ("row-major", "transposed", "stepped", "bool"):
        found = hand_over(_Gpu(), _Careful(), "cuda interface", CASES[case])
        assert (found.outcome, found.strides, found.writes) == ("shared", True, "fb"), case
    assert hand_over(_Gpu(), _Careless(), "cuda interface", CASES["transposed"]).outcome == "damaged"
    assert hand_over(Numpy(), _Careful(), "cuda interface", CASES["bool"]).outcome == "not offered"
    assert hand_over(_Gpu(), Numpy(), "cuda interface", CASES["bool"]).outcome == "not offered"


class _WithoutBytes(Numpy):
    """Has layouts and no elements, as PyTorch's tensors on meta."""

    capabilities = replace(Numpy.capabilities, aspects=Numpy.capabilities.aspects - {"values"})


def test_what_has_no_elements_is_handed_to_nobody():
    """Nothing can be seen to arrive, from it or at it."""
    for pair in ((Numpy(), _WithoutBytes()), (_WithoutBytes(), Numpy())):
        assert hand_over(*pair, "dlpack", CASES["row-major"]).outcome == "not offered"


class _Older(Numpy):
    """Names a function that this NumPy does not have."""

    ports: Mapping[str, str] = {"buffer": "np.lib.not_yet({x})"}


def test_what_a_release_does_not_have_yet_is_not_offered():
    """An older library has not refused what it has no function for."""
    found = hand_over(Numpy(), _Older(), "buffer", CASES["row-major"])
    assert (found.outcome, found.detail) == ("not offered", "numpy has no np.lib.not_yet")


@pytest.mark.parametrize(
    ("ports", "says"),
    [
        ({"dlpak": "np.from_dlpack({x})"}, "a port for 'dlpak', which is none of dlpack, "),
        ({"buffer": "numpie.asarray({x})"}, "names numpie, which is not in the adapter's scope"),
        ({"buffer": "np.asarray({x}"}, "is no expression: '(' was never closed"),
        ({"buffer": "np.asarray({array})"}, "has a place {array}, for which there is no value"),
    ],
)
def test_a_port_that_means_nothing_is_the_adapters_fault(ports, says):
    """It is told before anything is handed over, not counted as what the library refuses."""
    adapter = type("Mistyped", (Numpy,), {"ports": ports})()
    with pytest.raises(PortError, match=re.escape(says)):
        check_ports(adapter, PROTOCOLS)


class _Refusing(Numpy):
    """Builds nothing but row-major arrays, and fails in its own ways where it hands them on."""

    def tensor(self, storage, dtype, shape, strides, offset):
        if strides != CASES["row-major"].strides:
            raise ValueError("no such strides")
        return super().tensor(storage, dtype, shape, strides, offset).view(_Failing)


class _Failing(np.ndarray):
    def __dlpack__(self, **asked):
        raise OSError("no device")


def test_what_a_producer_does_not_build_is_an_error_and_what_it_does_not_hand_on_not_offered():
    """As in programs: an adapter that cannot make a layout says `Unsupported`, and whatever else it raises is told."""
    for case, outcome, says in (
        ("transposed", "error", "numpy does not build it: ValueError: no such strides"),
        ("bool", "not offered", "no device"),
    ):
        found = hand_over(_Refusing(), Numpy(), "dlpack", CASES[case])
        assert found.outcome == outcome
        assert says in found.detail


class _Wordless(Numpy):
    """Its adapter fails wherever it is to describe an array."""

    def describe(self, x):
        raise AttributeError("no attribute 'dtype'")


class _Unread(Numpy):
    """Its adapter reads all arrays but those that came from elsewhere."""

    ports: Mapping[str, str] = {"dlpack": "np.from_dlpack({x}).view(Foreign)"}

    def scope(self):
        return super().scope() | {"Foreign": _Failing}

    def describe(self, x):
        if isinstance(x, _Failing):
            raise ValueError("no such array")
        return super().describe(x)


def test_what_cannot_be_read_is_damage_unless_the_adapter_reads_nothing():
    """Harm is what befell the array on its way."""
    for case in ("row-major", "transposed", "bool"):
        broken = hand_over(Numpy(), _Wordless(), "dlpack", CASES[case])
        assert (broken.outcome, "cannot read its own arrays: AttributeError" in broken.detail) == ("error", True)
        assert hand_over(Numpy(), _Unread(), "dlpack", CASES[case]).outcome == "damaged"


class _Making(Numpy):
    """Makes arrays of a class of their own."""

    def __init__(self, kind):
        super().__init__()
        self._kind = kind

    def tensor(self, storage, dtype, shape, strides, offset):
        return super().tensor(storage, dtype, shape, strides, offset).view(self._kind)


class _Nowhere(np.ndarray):
    """Exports a capsule that points nowhere."""

    def __dlpack__(self, **asked):
        capsule = np.asarray(self).__dlpack__()
        ctypes.c_void_p.from_address(_pointer(capsule)).value = None
        return capsule


def _pointer(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return pointer(capsule, b"dltensor")


def test_who_says_that_elements_lie_nowhere_was_wrong_first():
    """The consumer is not blamed for what it was told."""
    found = hand_over(_Making(_Nowhere), Numpy(), "dlpack", CASES["row-major"])
    assert found.outcome == "damaged"
    assert found.detail.endswith("what the producer said of it was wrong already")
    assert hand_over(_Making(_Nowhere), Numpy(), "dlpack", CASES["empty"]).outcome == "empty"


class _Recopying(Numpy):
    """Takes memory as it is, and hands on copies of it."""

    ports: Mapping[str, str] = {
        protocol: f"np.from_dlpack({{x}}{asked}).view(Private)"
        for protocol, asked in (("dlpack", ""), ("dlpack share", ", copy=False"))
    }

    def scope(self):
        return super().scope() | {"Private": _Private}

    def address_of(self, x):
        return super().address_of(x.view(np.ndarray))


class _Copied(np.ndarray):
    """Exports copies of itself."""

    def __dlpack__(self, **asked):
        return np.array(self).__dlpack__(**asked)


class _Private(_Copied):
    @property
    def __array_interface__(self):
        return np.array(self).__array_interface__


@pytest.mark.parametrize("case", ["row-major", "transposed", "bool", "stepped"])
def test_memory_is_shared_however_it_is_handed_on(case):
    """What is written through it is seen: that it is copied on its next way says nothing of this one."""
    for protocol in ("dlpack", "dlpack share"):
        found = hand_over(Numpy(), _Recopying(), protocol, CASES[case])
        assert (found.outcome, found.writes) == ("shared", "fb"), protocol


@pytest.mark.parametrize("case", ["row-major", "transposed", "bool", "stepped"])
@pytest.mark.parametrize("observes", [True, False])
def test_what_is_copied_to_be_offered_is_a_copy(case, observes):
    """Nothing of the producer's is shared, wherever it says that it lies: its memory tells, or else writes of both."""
    producer = _Making(_Copied)
    producer.observes_storage = observes
    producer.buffer = lambda x: memoryview(np.array(x))
    for protocol in ("dlpack", "buffer"):
        found = hand_over(producer, Numpy(), protocol, CASES[case])
        assert (found.outcome, found.writes) == ("copied", "--"), protocol
    found = hand_over(producer, Numpy(), "dlpack share", CASES[case])
    assert (found.outcome, found.detail) == ("damaged", "the memory is copied, which was forbidden")


class _Wiping(Numpy):
    """Takes a copy, and wipes something of where it came from, one time; or refuses after that."""

    ports: Mapping[str, str] = {"dlpack": "wiped({x})", "buffer": "wiped({x}, 'no')"}

    def __init__(self, wipe, time=1):
        super().__init__()
        self._wipe, self._left = wipe, time

    def scope(self):
        return super().scope() | {"wiped": self._wiped}

    def _wiped(self, x, refusal=None):
        owner, theirs = (x._x, np.from_dlpack(x)) if refusal is None else (x.obj, np.asarray(x))
        mine = theirs.copy()
        self._left -= 1
        if not self._left:
            self._wipe(owner, theirs)
        if refusal:
            raise ValueError(refusal)
        return mine


def _elements(owner, theirs):
    theirs[...] = 0


def _behind(owner, theirs):
    ctypes.memset(np.lib.array_utils.byte_bounds(theirs)[1], 0, 8)


def _shape(owner, theirs):
    owner.shape = (1, *owner.shape)


@pytest.mark.parametrize("wipe", [_elements, _behind, _shape])
@pytest.mark.parametrize("case", ["row-major", "transposed", "float64"])
def test_a_producer_whose_array_is_changed_is_harmed(case, wipe):
    """Also beside its elements, and where the consumer has a copy of its own, or refuses; whenever it is taken."""
    for time in (1, 2, 3):
        taken = hand_over(Numpy(), _Wiping(wipe, time), "dlpack", CASES[case])
        assert (taken.outcome, taken.detail) == ("damaged", "the producer's array is another one since it was taken")
    assert hand_over(Numpy(), _Wiping(wipe, 4), "dlpack", CASES[case]).outcome == "copied"
    refused = hand_over(Numpy(), _Wiping(wipe), "buffer", CASES[case])
    assert refused.outcome == "damaged"
    assert refused.detail == "the producer's array is another one since it was refused: ValueError: no"


class _WipingLater(_Wiping):
    """Wipes where it came from when it reads, and has a copy of its own or none."""

    ports: Mapping[str, str] = {"dlpack": "kept({x}, True)", "dlpack share": "kept({x}, False)"}

    def scope(self):
        return super().scope() | {"kept": self._kept}

    def _kept(self, x, copies):
        theirs = np.from_dlpack(x)
        mine = (theirs.copy() if copies else theirs).view(_Kept)
        mine.came_from = (x._x, theirs)
        return mine

    def read(self, x):
        if isinstance(x, _Kept):
            self._wipe(*x.came_from)
        return super().read(x)


class _Kept(np.ndarray):
    """Knows where it came from."""


@pytest.mark.parametrize("wipe", [_elements, _behind, _shape])
@pytest.mark.parametrize("protocol", ["dlpack", "dlpack share"])
def test_a_producer_whose_array_is_changed_by_reading_what_arrived_is_harmed(protocol, wipe):
    """It is not the producer that told something wrong, nor a write that went astray."""
    for case in ("row-major", "transposed", "offset"):
        found = hand_over(Numpy(), _WipingLater(wipe), protocol, CASES[case])
        assert found.outcome == "damaged"
        assert found.detail == "the producer's array is another one since what arrived was read"


class _Selfish(np.ndarray):
    """Exports itself, and wipes itself."""

    def __dlpack__(self, **asked):
        self[...] = 0
        return np.asarray(self).__dlpack__(**asked)


def test_a_producer_that_changes_its_array_to_offer_it_is_not_harmed_by_others():
    """What it told then was true, and what arrived is that."""
    found = hand_over(_Making(_Selfish), Numpy(), "dlpack", CASES["row-major"])
    assert (found.outcome, found.detail) == ("damaged", "the producer's array is another one since it was offered")


def _lock(owner, theirs):
    owner.is_locked = True


class _Lockable(_Making):
    """Cannot read arrays that are locked, or any once one is."""

    def __init__(self, locks_all):
        super().__init__(_Kept)
        self._locks_all, self._is_locked = locks_all, False

    def read(self, x):
        self._is_locked |= getattr(x, "is_locked", False)
        if self._is_locked if self._locks_all else hasattr(x, "is_locked"):
            raise OSError("locked")
        return super().read(x)


def test_a_producer_that_cannot_read_its_array_any_more_is_harmed_unless_it_reads_none():
    """It could read it before. An adapter that reads nothing is at fault itself."""
    for time in (1, 2, 3):
        for locks_all in (True, False):  # for good: the process says nothing any more
            found = hand_over(_Lockable(locks_all), _Wiping(_lock, time), "dlpack", CASES["row-major"])
            assert found.detail == "the producer's array cannot be read since it was taken"
            assert (found.outcome, found.is_astray) == ("damaged", True)
    found = hand_over(_Wordless(), Numpy(), "dlpack", CASES["row-major"])
    assert (found.outcome, "numpy cannot read its own arrays: AttributeError" in found.detail) == ("error", True)


class _Tiring(Numpy):
    """Makes and takes copies some times, and then does something else."""

    ports: Mapping[str, str] = {"dlpack": "taken({x})"}

    def __init__(self, times, then):
        super().__init__()
        self._left, self._then = times, then

    def scope(self):
        return super().scope() | {"taken": lambda x: self._or_else(np.from_dlpack(x).copy())}

    def tensor(self, *layout):
        return self._or_else(super().tensor(*layout))

    def _or_else(self, x):
        self._left -= 1
        return x if self._left >= 0 else self._then()


def _raising(error):
    def raise_():
        raise error

    return raise_


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_done_once_and_not_once_more_is_told_of_who_does_not(times):
    """A consumer has refused what it took before, which is harm; a producer's adapter failed."""
    for then, says in (
        (_raising(ValueError("enough")), "it was taken once, and not once more: ValueError: enough"),
        (lambda: None, "it was taken once, and not once more: answered with a builtins.NoneType, which is none of "),
    ):
        found = hand_over(Numpy(), _Tiring(times, then), "dlpack", CASES["row-major"])
        assert (found.outcome, found.detail.startswith(says)) == ("damaged", True)
    for error, says in (
        (Unsupported("layout:twice"), "numpy offered it once, and not once more: layout:twice"),
        (ValueError("enough"), "numpy does not build it: ValueError: enough"),
    ):
        found = hand_over(_Tiring(times, _raising(error)), Numpy(), "dlpack copy", CASES["row-major"])
        assert (found.outcome, found.detail) == ("error", says)


class _TiringToTake(_Tiring):
    """Makes its own arrays as ever."""

    def tensor(self, *layout):
        return Numpy.tensor(self, *layout)


def test_what_arrives_once_and_not_once_more_is_harm():
    """Of what is taken to be written to, the elements are looked at before."""
    found = hand_over(Numpy(), _TiringToTake(1, lambda: np.zeros((3, 4), "float32")), "dlpack", CASES["row-major"])
    assert (found.outcome, found.detail) == ("damaged", "12 of 12 elements differ")


class _Mistold(np.ndarray):
    """Exports a capsule of the same elements in another shape."""

    def __dlpack__(self, **asked):
        return np.asarray(self).T.copy().__dlpack__(**asked)


def test_who_says_another_shape_was_wrong_first():
    """The consumer has taken what it was told."""
    found = hand_over(_Making(_Mistold), Numpy(), "dlpack", CASES["row-major"])
    assert found.outcome == "damaged"
    assert found.detail.endswith("arrived as float32[4, 3]; what the producer said of it was wrong already")


class _Endless(np.ndarray):
    """Exports a capsule of a million dimensions."""

    def __dlpack__(self, **asked):
        capsule = np.asarray(self).__dlpack__()
        ctypes.c_int32.from_address(_pointer(capsule) + 16).value = 1_000_000
        return capsule


def test_a_capsule_that_cannot_be_right_is_for_the_consumer_to_refuse():
    """Nobody follows it before."""
    found = hand_over(_Making(_Endless), Numpy(), "dlpack", CASES["row-major"])
    assert found.outcome == "refused"
    assert "dims" in found.detail


class _Backwards(Numpy):
    """Hands over what no program may ask it for."""

    capabilities = replace(Numpy.capabilities, features=Numpy.capabilities.features - {"negative-strides"})
    laid_out = Numpy.tensor


def test_what_no_program_asks_for_can_be_handed_over():
    """Where the library can lay it out, though its adapter claims less for programs."""
    assert hand_over(_Backwards(), Numpy(), "dlpack", CASES["rows reversed"]).outcome == "shared"
