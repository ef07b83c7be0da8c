"""An array that one library offers to others: made there, and shown by one protocol and nothing else.

Runs in a worker that has loaded the library. Strides and offset in elements unless said otherwise. Standard library
only.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from . import foreign
from .capabilities import Capabilities
from .errors import text_of
from .layout import addressed, extent
from .program import ITEMSIZES, fill_bytes
from .protocol import Adapter, Unsupported

ALIGNMENT = 64
"""Bytes that libraries want memory to be aligned to, at most."""
MAX_TEXT = 200
"""Characters of an exception's text that are kept."""


class Case(NamedTuple):
    """An array to hand over; its memory, where it can be seen, begins `shift` bytes after a multiple of `ALIGNMENT`."""

    name: str
    dtype: str = "float32"
    shape: tuple[int, ...] = (3, 4)
    strides: tuple[int, ...] = (4, 1)
    offset: int = 0
    shift: int = 0
    is_read_only: bool = False


_DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float64",
    "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
CASES: Mapping[str, Case] = {
    case.name: case
    for case in (
        Case("row-major"),
        Case("0-dim", shape=(), strides=()),
        Case("transposed", strides=(1, 3)),
        Case("permuted 4-d", shape=(2, 3, 2, 2), strides=(12, 1, 6, 3)),
        Case("stepped", strides=(8, 2)),
        Case("padded rows", strides=(6, 1)),
        Case("offset", offset=5),
        Case("size 1, odd stride", shape=(1, 4), strides=(77, 1)),
        Case("size 1 last", shape=(4, 1), strides=(1, 77)),
        Case("empty", shape=(0, 4), strides=(4, 1)),
        Case("empty inside", shape=(3, 0, 2), strides=(0, 2, 1)),
        Case("empty, odd strides", shape=(0, 4), strides=(99, 7)),
        Case("expanded", strides=(0, 1)),
        Case("overlapping", strides=(1, 1)),
        Case("reversed", shape=(4,), strides=(-1,), offset=3),
        Case("rows reversed", strides=(-4, 1), offset=8),
        Case("foreign, aligned", shift=ALIGNMENT),
        Case("off by 4 bytes", shift=4),
        Case("off by 1 byte", shift=1),
        Case("read-only", is_read_only=True),
        *(Case(dtype, dtype) for dtype in _DTYPES),
    )
}
"""What is handed over, by name: layouts of float32, then other dtypes."""

PROTOCOLS: Mapping[str, str] = {
    "dlpack": "DLPack, the newest version that both know",
    "dlpack 0": "DLPack before versions, as libraries of 2022 spoke it",
    "dlpack copy": "DLPack, a copy asked for",
    "dlpack share": "DLPack, a copy forbidden",
    "buffer": "Python's buffer protocol",
    "interface": "NumPy's array interface",
    "cuda interface": "the same for memory on a GPU, `__cuda_array_interface__`",
}
"""Ways to hand an array over."""
ON_DEVICE = "cuda interface"
"""The one whose addresses are none of the host's: they are compared, and nothing is read there."""


class Library(Adapter, Protocol):
    """An adapter that says how its library takes what others offer."""

    ports: Mapping[str, str]
    """An expression of `{x}` for each protocol that the library takes."""
    capabilities: Capabilities

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""

    def scope(self) -> dict[str, Any]:
        """What the names in expressions mean."""


class NotBuilt(Exception):
    """An adapter failed at its own part: to make an array that it claims to make, to read it, or to offer it again."""


class Made(NamedTuple):
    """A case's array in the library that made it, over a storage that is larger than what it addresses."""

    x: Any
    elements: list[bytes]
    """Row-major."""
    storage: Any
    block: bytearray | None
    """The memory that the storage is a part of, where that is not the library's own."""
    places: list[range]
    """Bytes of each element, in the block or else in the storage."""
    address: int | None
    """Of the first element, in the memory that it was made in; None where that is not seen."""


def make(producer: Library, case: Case) -> Made:
    """A case's array.

    Raises
    ------
    Unsupported
        The library claims none such.
    NotBuilt
        It claims them, and failed.
    """
    itemsize = ITEMSIZES[case.dtype]
    low, high = extent(case.shape, case.strides, case.offset)
    assert low >= 0
    contents = fill_bytes("bool1" if case.dtype == "bool" else "ramp1", max(high, 1) * itemsize + 2 * ALIGNMENT)
    features = producer.capabilities.features
    build = getattr(producer, "laid_out", None)  # also what no program may ask for
    if case.dtype not in producer.capabilities.dtypes:
        raise Unsupported(f"{producer.name} has no {case.dtype}")
    if build is None and min(case.strides, default=0) < 0 and "negative-strides" not in features:
        raise Unsupported(f"{producer.name} has no negative strides")
    if case.shift and "guarded" not in features:
        raise Unsupported(f"{producer.name} lies in no foreign memory")
    freeze = getattr(producer, "freeze", None)
    if case.is_read_only and freeze is None:
        raise Unsupported(f"{producer.name} has no read-only arrays")
    # Memory that is not the library's own came from somewhere: only where it must lie at an odd address. Of its own the
    # array begins where it is aligned: that decides whether some libraries copy, and what allocators do is chance.
    data = aligned(contents, case.shift)
    block: Any = data.obj if case.shift else None
    try:
        storage = producer.storage(data, "guarded" if case.shift else "owned")
        address, length = producer.extent_of(storage) if producer.observes_storage else (None, 0)
        lead = 0 if case.shift else -(address or 0) % ALIGNMENT // itemsize
        x = (build or producer.tensor)(storage, case.dtype, case.shape, case.strides, case.offset + lead)
        if case.is_read_only and freeze is not None:
            x = freeze(x)
        if address is not None and 0 not in case.shape:
            lies_in = producer.storage_of(x)
            if lies_in is None or not 0 <= producer.extent_of(lies_in)[0] - address < length:
                address = None  # the array lies in memory of its own, of which nothing is known
    except Unsupported:
        raise
    except Exception as error:
        raise NotBuilt(f"{producer.name} does not build it: {line_of(error)}") from error
    begins = [place * itemsize for place in addressed(case.shape, case.strides, case.offset + lead)]
    elements = [contents[begin : begin + itemsize] for begin in begins]
    first = 0 if block is None else _address(data) - _address(block)
    located = [range(first + begin, first + begin + itemsize) for begin in begins]
    return Made(x, elements, storage, block, located, address + begins[0] if address is not None and begins else None)


def around(producer: Library, made: Made) -> bytes:
    """All memory beside the elements of an array, as far as it can be seen: gaps, what comes before, and after.

    Before a storage of the library's own there is nothing that may be looked at: what is written there is seen of
    arrays with an offset, and of those in foreign memory.

    >>> from stridecheck.conformance.adapters.numpy import Numpy
    >>> made = make(Numpy(), CASES["stepped"])
    >>> before = around(Numpy(), made)
    >>> made.x.fill(0)
    >>> around(Numpy(), made) == before
    True
    """
    if made.block is None and not producer.observes_storage:
        return b""
    memory = bytearray(made.block or producer.bytes_of(made.storage))
    for place in made.places:
        memory[place.start : place.stop] = bytes(len(place))
    return bytes(memory)


class Standing(NamedTuple):
    """All that a library says of its array and the memory around it, which taking it must not change."""

    described: tuple[Any, ...]
    elements: bytes
    around: bytes


def standing(producer: Library, made: Made) -> Standing:
    """How an array stands at the moment.

    Raises
    ------
    NotBuilt
        The library cannot read its own array.
    """
    try:
        return Standing(tuple(producer.describe(made.x)[:4]), producer.read(made.x), around(producer, made))
    except Exception as error:
        raise NotBuilt(f"{producer.name} cannot read its own arrays: {line_of(error)}") from error


def _address(memory: Any) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def aligned(contents: bytes, shift: int = 0) -> memoryview:
    """A buffer with these contents that begins `shift` bytes after a multiple of `ALIGNMENT`."""
    block = bytearray(b"\xa5" * (len(contents) + shift + ALIGNMENT))
    begin = -_address(block) % ALIGNMENT + shift
    block[begin : begin + len(contents)] = contents
    return memoryview(block)[begin : begin + len(contents)]


class _Only:
    """An array that shows one protocol and nothing else of itself."""

    def __init__(self, x: Any) -> None:
        self._x = x


class _Dlpack(_Only):
    def __dlpack__(self, **asked: Any) -> Any:
        return self._x.__dlpack__(**asked)

    def __dlpack_device__(self) -> Any:
        return self._x.__dlpack_device__()


class _DlpackBeforeVersions(_Dlpack):
    def __dlpack__(self, **asked: Any) -> Any:
        if unknown := asked.keys() - {"stream"}:
            raise TypeError(f"__dlpack__() got an unexpected keyword argument {unknown.pop()!r}")
        return self._x.__dlpack__(**asked)


class _Interface(_Only):
    @property
    def __array_interface__(self) -> Any:
        return self._x.__array_interface__


class _CudaInterface(_Only):
    @property
    def __cuda_array_interface__(self) -> Any:
        return self._x.__cuda_array_interface__


class Offer(NamedTuple):
    """An array as a consumer gets to see it, what that says, and what it is said of: a copy, perhaps, made for that."""

    given: Any
    said: foreign.Described
    held: Any


def offer(x: Any, protocol: str, producer: Library) -> Offer:
    """Show an array by one protocol; what was described lives as long as the offer.

    Raises
    ------
    Unsupported
        The array does not show itself by this protocol.
    """
    given: Any
    held: Any
    try:
        if protocol.startswith("dlpack"):
            given, held = (_DlpackBeforeVersions if protocol == "dlpack 0" else _Dlpack)(x), _capsule(x)
        elif protocol == "buffer":
            # A library whose arrays are no buffers may have a method that answers with one.
            given = held = getattr(producer, "buffer", memoryview)(x)
        elif protocol == ON_DEVICE:
            given, held = _CudaInterface(x), x.__cuda_array_interface__
        else:
            given, held = _Interface(x), x.__array_interface__
        return Offer(given, foreign.describe(held), held)
    except Exception as error:
        raise Unsupported(f"{producer.name} offers none: {line_of(error)}") from error


def stays(x: Any, protocol: str, producer: Library, first: Offer) -> bool:
    """Whether an array that was offered once is offered once more at that address: else each offer is of a copy.

    One that is lent to one at a time tells nothing, and is taken at its word.
    """
    try:
        again = offer(x, protocol, producer)  # while the first one is held: no other copy can lie there
    except Unsupported:
        return True
    return again.said.address == first.said.address


def is_held(block: bytearray) -> bool:
    """Whether anything still looks into memory that was lent: what is exported cannot change its length.

    >>> block = bytearray(3)
    >>> view = memoryview(block)
    >>> before = is_held(block)
    >>> del view
    >>> before, is_held(block), len(block)
    (True, False, 3)
    """
    gc.collect()
    try:
        block.append(block.pop())  # which moves nothing
    except BufferError:
        return True
    return False


def lets_go(producer: Library, protocol: str, case: Case) -> bool:
    """Whether a library holds the memory that it was lent as long as an array lies there, and no longer.

    Also where the array was read and offered meanwhile.
    """
    made = make(producer, case)
    block = made.block
    if block is None or not is_held(block):
        return False
    standing(producer, made)
    offer(made.x, protocol, producer)
    del made
    return is_let_go(block)


def is_let_go(block: bytearray) -> bool:
    """Whether nothing looks into memory that was lent, at once or a moment later: threads may tidy up."""
    for seconds in _MOMENTS:
        time.sleep(seconds)
        if not is_held(block):
            return True
    return False


_MOMENTS = (0.0, 0.005, 0.02, 0.1, 0.4)
"""Seconds to wait before each look."""


def _capsule(x: Any) -> Any:
    try:
        return x.__dlpack__(max_version=(1, 0))
    except TypeError:
        return x.__dlpack__()


def line_of(error: Exception) -> str:
    """An error by its type and first line."""
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:MAX_TEXT]
