"""What a consumer says of the layout of what it took: strides and an offset that lead to its elements, or do not."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stridecheck.conformance.adapters.numpy import Numpy
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.layout import addressed
from stridecheck.conformance.offers import CASES
from stridecheck.conformance.protocol import Unsupported

WRITABLE = ("row-major", "transposed", "stepped", "offset", "size 1, odd stride", "0-dim", "reversed")
LAYOUTS = (*WRITABLE, "read-only")


class _Taken(np.ndarray):
    """What came from elsewhere."""


class _Describing(Numpy):
    """Says something else of what it has taken than NumPy does."""

    ports: Mapping[str, str] = {
        "dlpack": "np.from_dlpack({x}).view(Taken)",
        "dlpack copy": "np.from_dlpack({x}, copy=True).view(Taken)",
    }

    def __init__(self, says, of=_Taken):
        super().__init__()
        self._says, self._of = says, of

    def scope(self):
        return super().scope() | {"Taken": _Taken}

    def describe(self, x):
        dtype, shape, strides, offset, *rest = super().describe(x)
        if isinstance(x, self._of):
            strides, offset = self._says(strides, offset)
        return (dtype, shape, strides, offset, *rest)


def _same(strides, offset):
    return strides, offset


def _beside(strides, offset):
    return strides, offset + 7


def _far_off(strides, offset):
    return strides, offset + (1 << 40)


def _without_strides(strides, offset):
    return None, offset + 7


def _other_way(strides, offset):
    return strides[::-1], offset


@pytest.mark.parametrize("protocol", ["dlpack", "dlpack copy"])
@pytest.mark.parametrize("case", LAYOUTS)
def test_an_offset_leads_to_the_elements(case, protocol):
    """Also of a copy, and of an element of which the storage is not known to reach as far."""
    assert hand_over(Numpy(), _Describing(_same), protocol, CASES[case]).damage == ""
    for says in (_beside, _far_off, _without_strides):
        assert hand_over(Numpy(), _Describing(says), protocol, CASES[case]).damage == "described"


@pytest.mark.parametrize("protocol", ["dlpack", "dlpack copy"])
def test_strides_lead_to_the_elements(protocol):
    """Also of a copy, which may have any that do."""
    for case, kind in (("row-major", ""), ("bool", ""), ("transposed", "described"), ("offset", "described")):
        says = _other_way if kind else _same
        found = hand_over(Numpy(), _Describing(says), protocol, CASES[case])
        assert found.damage == kind
        assert not kind or "where its elements do not lie" in found.detail


def test_an_adapter_that_describes_its_own_arrays_so_is_at_fault_itself():
    """It is no deviation of the library's."""
    found = hand_over(Numpy(), _Describing(_beside, of=np.ndarray), "dlpack", CASES["row-major"])
    assert found.outcome == "error"
    assert found.detail == "numpy describes its own arrays by strides and offsets that do not lead to them"


class _Taking(_Describing):
    """Makes no arrays of its own."""

    def laid_out(self, *layout):
        raise Unsupported("takes arrays alone")


class _Unclaiming(_Describing):
    """Claims no strides, and says some that mean nothing."""

    capabilities = replace(Numpy.capabilities, aspects=Numpy.capabilities.aspects - {"strides"})


@pytest.mark.parametrize(("kind", "damage"), [(_Taking, "described"), (_Unclaiming, "")])
def test_what_is_claimed_is_judged_whether_or_not_arrays_are_made(kind, damage):
    """A consumer that only takes arrays is no adapter at fault; one that claims no strides says nothing by them."""
    assert hand_over(Numpy(), kind(_beside), "dlpack copy", CASES["row-major"]).damage == damage


class _Copying(Numpy):
    """Copies what it takes, to where a function says."""

    ports: Mapping[str, str] = {"dlpack": "copied({x})"}

    def __init__(self, copied):
        super().__init__()
        self._copied = copied

    def scope(self):
        return super().scope() | {"copied": lambda x: self._copied(np.from_dlpack(x))}


def _tagged(x):
    """The field of a record: strides of itemsize and one."""
    records = np.zeros(x.shape, [("tag", "u1"), ("value", x.dtype)])
    records["value"][...] = x
    return records["value"]


def _behind_a_header(x):
    y = np.ndarray(x.shape, x.dtype, np.zeros(1 + x.nbytes, "u1"), 1)
    y[...] = x
    return y


@pytest.mark.parametrize("copied", [_tagged, _behind_a_header])
@pytest.mark.parametrize("case", ["row-major", "int8", "complex128"])
def test_a_layout_of_no_whole_number_of_elements_is_no_lie(case, copied):
    """Strides and offset are told in elements, rounded down: they cannot lead there."""
    found = hand_over(Numpy(), _Copying(copied), "dlpack", CASES[case])
    assert (found.outcome, found.damage) == ("copied", "")


FENCED = """
import ctypes, mmap, sys
import numpy as np
from stridecheck.conformance.handover import hand_over
from stridecheck.conformance.layout import addressed
from stridecheck.conformance.offers import CASES
from tests.conformance.test_handover_described import Numpy, _Copying

blocks, protect = [], ctypes.CDLL(None).mprotect
def fenced(x):
    block = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    blocks.append(block)
    end = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(block)) + mmap.PAGESIZE)
    assert protect(end, mmap.PAGESIZE, 0) == 0
    span = sum((n - 1) * s for n, s in zip(x.shape, x.strides) if s > 0) + x.itemsize
    y = np.ndarray(x.shape, x.dtype, block, mmap.PAGESIZE - span, x.strides)
    for index in np.ndindex(x.shape):
        y[index] = x[index]
    return y

for case in sys.argv[1:]:
    print(hand_over(Numpy(), _Copying(fenced), "dlpack", CASES[case]).outcome)
"""


@pytest.mark.skipif(os.name != "posix", reason="memory is protected by POSIX calls")
def test_nothing_is_read_beside_what_was_taken():
    """Strides of zero, that overlap or go backwards reach less far than as many elements in a row."""
    cases = ["row-major", "expanded", "overlapping", "reversed", "rows reversed"]
    done = subprocess.run([sys.executable, "-c", FENCED, *cases], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["copied"] * len(cases)), done.stderr


class _Mirrored:
    """An array in memory of its own, which shows NumPy a copy that it makes once and keeps."""

    def __init__(self, array):
        self.array = array
        self.mirror = np.array(array, order="C")

    @property
    def __array_interface__(self):
        return self.mirror.__array_interface__


class _Mirroring(Numpy):
    """Copies what it takes, as a library for a device does."""

    ports: Mapping[str, str] = {"dlpack": "taken({x})"}

    def scope(self):
        return super().scope() | {"taken": lambda x: _Mirrored(np.from_dlpack(x).copy())}

    def is_tensor(self, x):
        return isinstance(x, _Mirrored)

    def laid_out(self, *layout):
        return _Mirrored(super().tensor(*layout))

    def describe(self, x):
        return super().describe(x.array)

    def storage_of(self, x):
        return super().storage_of(getattr(x, "array", x))

    def read(self, x):
        return super().read(x.array)

    def operation(self, step):
        return (lambda x, value: x.array.fill(value)) if step.op == "fill_" else None


@pytest.mark.parametrize("case", WRITABLE)
def test_a_mirror_is_not_where_an_array_lies(case):
    """What it shows for others lies elsewhere, and is looked at by nobody."""
    found = hand_over(Numpy(), _Mirroring(), "dlpack", CASES[case])
    assert (found.outcome, found.damage, found.writes) == ("copied", "", "--")


class _Arena(Numpy):
    """All its arrays lie in one storage, those that it copies, too; the offset says where."""

    ports: Mapping[str, str] = {"dlpack": "copied({x})", "dlpack share": "{x}._x"}

    def __init__(self, *, writes=True):
        super().__init__()
        self._memory, self._begin = np.zeros(1 << 20, np.uint8), 0
        self._writes = writes

    def scope(self):
        return super().scope() | {"copied": self._copied}

    def _placed(self, contents):
        begin = self._begin
        self._memory[begin : begin + len(contents)] = np.frombuffer(contents, np.uint8)
        self._begin += -(-len(contents) // 64) * 64
        return self._memory[begin : begin + len(contents)]

    def _copied(self, x):
        x = np.from_dlpack(x)
        return self._placed(x.tobytes()).view(x.dtype).reshape(x.shape)

    def storage(self, data, backing):
        return super().storage(data, backing) if backing == "guarded" else self._placed(bytes(data))

    def operation(self, step):
        return super().operation(step) if self._writes else None


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("case", WRITABLE)
def test_a_copy_within_one_storage_is_one(case, writes):
    """That a storage holds the producer's array does not say that the consumer's begins there; its offset does."""
    arena = _Arena(writes=writes)
    found = hand_over(arena, arena, "dlpack", CASES[case])
    assert (found.outcome, found.damage, found.writes) == ("copied", "", "--" if writes else "..")
    assert hand_over(arena, arena, "dlpack share", CASES[case]).outcome == "shared"


class _Silent(_Arena):
    """Claims no strides: its offset is all that tells."""

    capabilities = replace(Numpy.capabilities, aspects=Numpy.capabilities.aspects - {"strides"})


def test_an_offset_tells_where_a_copy_lies_though_no_strides_are_claimed():
    arena = _Silent()
    assert hand_over(arena, arena, "dlpack", CASES["row-major"]).outcome == "copied"
    assert hand_over(arena, arena, "dlpack share", CASES["row-major"]).outcome == "shared"


class _OnDevice(Numpy):
    """Its memory is at addresses that the process has reserved, and may not read: the driver alone does."""

    ports: Mapping[str, str] = {"dlpack": "np.from_dlpack({x}, copy=True)"}

    def __init__(self):
        super().__init__()
        self._reserved = mmap.mmap(-1, 1 << 30, prot=0)

    def extent_of(self, storage):
        address, nbytes = super().extent_of(storage)
        place = ctypes.c_char.from_buffer(self._reserved)
        return ctypes.addressof(place) + address % (1 << 29), nbytes


@pytest.mark.skipif(os.name != "posix", reason="memory is reserved by POSIX calls")
@pytest.mark.parametrize("case", ["row-major", "offset", "transposed", "0-dim"])
def test_memory_that_may_not_be_read_tells_nothing(case):
    """As a device's: its addresses exist, and to read there is a fault."""
    found = hand_over(Numpy(), _OnDevice(), "dlpack", CASES[case])
    assert (found.outcome, found.damage) == ("copied", "")


_STEPS = st.sampled_from([slice(None), slice(None, None, -1), slice(1, None, 2), slice(None, None, -3), slice(0, 0)])


@given(st.lists(st.tuples(st.integers(1, 5), _STEPS), max_size=3), st.randoms(use_true_random=False))
def test_numpys_storages_hold_what_lies_in_them(dimensions, random):
    """Of arrays that came from elsewhere, too, which have gaps or go backwards: no byte of them lies outside."""
    whole = np.arange(np.prod([size for size, _ in dimensions], dtype=int), dtype=np.int16)
    part = whole.reshape([size for size, _ in dimensions])[(*[step for _, step in dimensions], ...)]
    x = np.from_dlpack(part.transpose(random.sample(range(part.ndim), part.ndim)))
    numpy = Numpy()
    _, shape, strides, offset, *_ = numpy.describe(x)
    storage = numpy.storage_of(x)
    memory, (begin, nbytes) = numpy.bytes_of(storage), numpy.extent_of(storage)
    assert len(memory) == nbytes
    assert nbytes == 0 or whole.ctypes.data <= begin <= begin + nbytes <= whole.ctypes.data + whole.nbytes
    assert b"".join([memory[2 * k : 2 * k + 2] for k in addressed(shape, strides, offset)]) == numpy.read(x)
