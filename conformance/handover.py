"""Hands an array from one library to another in one process, and sees what of it arrives.

Runs in a worker that has loaded both. What should arrive is what the protocols promise, whoever is right about layout:
the same shape, dtype and elements; without a copy, the same address and strides, writes seen on both sides, and memory
that is read-only still so. Strides and offset in elements unless said otherwise. Standard library only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from . import foreign
from .capabilities import Capabilities
from .observation import ForeignState
from .ports import port
from .program import ITEMSIZES, Ref, Step, fill_bytes, span
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


class Handover(NamedTuple):
    """What arrived.

    `outcome` is `shared` (the same memory), `copied`, `empty` (nothing to share), `refused` (an error says so),
    `damaged` (other elements, shape or dtype, and no error), `not offered` (one side has no such array or protocol), or
    `error` (an adapter failed).
    `strides` tells of shared memory whether the strides that address anything are the producer's. `idle` tells of those
    that address nothing (of dimensions of length 1, and of arrays without elements) whether they are `kept`, rewritten
    to what a `row-major` array has there, or to `other` ones: DLPack leaves all of that to libraries. `writes` has `f`
    where the producer sees the consumer's and `b` where the consumer sees the producer's, `l` where it does only until
    it is first read (its copy is lazy), `-` for either that is not so, `.` where it could not be tried. `read_only` is
    `kept`, `lost`, or empty where nobody could try to write.
    """

    outcome: str
    detail: str = ""
    strides: bool | None = None
    writes: str = ".."
    read_only: str = ""
    idle: str = ""


class Library(Adapter, Protocol):
    """An adapter that says how its library takes what others offer."""

    ports: Mapping[str, str]
    """An expression of `{x}` for each protocol that the library takes."""
    capabilities: Capabilities

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""

    def scope(self) -> dict[str, Any]:
        """What the names in expressions mean."""


def hand_over(producer: Library, consumer: Library, protocol: str, case: Case) -> Handover:
    """Make a case's array in one library, hand it to the other, and look at it there."""
    for library in (producer, consumer):
        if "values" not in library.capabilities.aspects:
            return Handover("not offered", f"{library.name} has no elements to hand over")
    try:
        take = port(consumer, protocol)
        x, elements = _make(producer, case)
        before = _standing(producer, x)
        offered, said = _offer(x, protocol, producer)
    except Unsupported as error:
        return Handover("not offered", str(error))
    except _NotBuilt as error:
        return Handover("error", str(error))
    try:
        y = take(offered)
    except Exception as error:
        if _standing(producer, x) != before:
            return Handover("damaged", f"the producer's array is another one since it was refused: {_text(error)}")
        return Handover("refused", _text(error))
    if _standing(producer, x) != before:
        return Handover("damaged", "the producer's array is another one since it was taken")
    if not consumer.is_tensor(y):
        answer = f"{type(y).__module__}.{type(y).__name__}"
        return Handover("refused", f"answered with a {answer}, which is none of {consumer.name}'s arrays")
    try:
        found = _look(consumer, y)
    except Exception as error:
        if not _can_look(consumer, case):
            return Handover("error", f"{consumer.name} cannot read its own arrays: {_text(error)}")
        return Handover("damaged", f"what arrived cannot be read: {_text(error)}")
    if (difference := _difference(case, elements, found)) is not None:
        honest = "" if _says(said, protocol, case, elements) else "; what the producer said of it was wrong already"
        return Handover("damaged", difference + honest)
    arrived = _described(y, consumer)
    idle, changed = _idle(case, _own_strides(producer, x, said), _own_strides(consumer, y, arrived))
    if not elements:
        return Handover("empty", changed, idle=idle)
    writes = _writes(producer, consumer, x, y)
    shares = _shares(consumer, y, arrived, said, writes)
    promise = _PROMISES.get(protocol)
    if shares is None:  # where nobody can tell, what was promised is taken for granted
        shares = promise is True
    if promise is not None and shares != promise:
        return Handover("damaged", f"the memory is {'shared' if shares else 'copied'}, which was forbidden")
    strides = _significant(arrived.state) == _significant(said.state) if arrived is not None and shares else None
    if writes[1] == "-" and _is_lazy(producer, consumer, protocol, case):
        if promise is False:
            return Handover("damaged", "the memory is shared until it is read, which was forbidden")
        writes = writes[0] + "l"
    read_only = {"f": "lost", "-": "kept"}.get(writes[0], "") if case.is_read_only else ""
    return Handover("shared" if shares else "copied", changed, strides, writes, read_only, idle)


_PROMISES = {"dlpack copy": False, "dlpack share": True}
"""Whether memory is shared, by protocols that promise it."""
_ON_DEVICE = "cuda interface"
"""The protocol whose addresses are none of the host's: they are compared, and nothing is read there."""


def _shares(
    consumer: Library, y: Any, arrived: foreign.Described | None, said: foreign.Described, writes: str
) -> bool | None:
    """Whether what arrived lies in the producer's memory: by its address, its storage, or writes that are seen.

    None where nothing tells. What arrived may be copied when it is handed on in turn.
    """
    if writes[0] == "f" or writes[1] == "b":
        return True
    if consumer.observes_storage and said.address is not None:
        with suppress(Exception):  # what it takes need not be an array of its usual kind
            begin, length = consumer.extent_of(consumer.storage_of(y))
            return begin <= said.address < begin + length
    if arrived is not None:
        return arrived.address == said.address
    return None if writes == ".." else False


# The producer's side.


class _NotBuilt(Exception):
    """An adapter failed to make an array that it claims to make."""


def _make(producer: Library, case: Case) -> tuple[Any, list[bytes]]:
    """The array, and its elements in row-major order."""
    itemsize = ITEMSIZES[case.dtype]
    low, high = span(case.shape, case.strides, case.offset)
    assert low >= 0
    contents = fill_bytes("bool1" if case.dtype == "bool" else "ramp1", max(high, 1) * itemsize + ALIGNMENT)
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
    backing = "guarded" if case.shift else "owned"
    try:
        storage = producer.storage(aligned(contents, case.shift), backing)
        lead = 0 if case.shift else _lead(producer, storage, itemsize)
        x = (build or producer.tensor)(storage, case.dtype, case.shape, case.strides, case.offset + lead)
        if case.is_read_only and freeze is not None:
            x = freeze(x)
    except Unsupported:
        raise
    except Exception as error:
        raise _NotBuilt(f"{producer.name} does not build it: {_text(error)}") from error
    places = list(_places(case.shape, case.strides, case.offset + lead))
    return x, [contents[place * itemsize : (place + 1) * itemsize] for place in places]


def _lead(producer: Library, storage: Any, itemsize: int) -> int:
    """Elements of a storage before its first that is aligned; 0 where the library shows no address."""
    address = producer.extent_of(storage)[0] if producer.observes_storage else 0
    return -address % ALIGNMENT // itemsize


def aligned(contents: bytes, shift: int = 0) -> memoryview:
    """A buffer with these contents that begins `shift` bytes after a multiple of `ALIGNMENT`."""
    block = bytearray(len(contents) + shift + ALIGNMENT)
    begin = -ctypes.addressof(ctypes.c_char.from_buffer(block)) % ALIGNMENT + shift
    block[begin : begin + len(contents)] = contents
    return memoryview(block)[begin : begin + len(contents)]


def _places(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Iterator[int]:
    """Element numbers that a layout addresses, row-major.

    >>> list(_places((2, 2), (1, 2), 3))
    [3, 5, 4, 6]
    """
    if not shape:
        yield offset
        return
    for index in range(shape[0]):
        yield from _places(shape[1:], strides[1:], offset + index * strides[0])


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


def _offer(x: Any, protocol: str, producer: Library) -> tuple[Any, foreign.Described]:
    """What the consumer gets to see of an array, and what that says."""
    try:
        if protocol.startswith("dlpack"):
            offered: Any = (_DlpackBeforeVersions if protocol == "dlpack 0" else _Dlpack)(x)
            return offered, foreign.describe(_capsule(x))
        if protocol == "buffer":
            # A library whose arrays are no buffers may have a method that answers with one.
            view = getattr(producer, "buffer", memoryview)(x)
            return view, foreign.describe(view)
        if protocol == _ON_DEVICE:
            return _CudaInterface(x), foreign.describe(x.__cuda_array_interface__)
        return _Interface(x), foreign.describe(x.__array_interface__)
    except Exception as error:
        raise Unsupported(f"{producer.name} offers none: {_text(error)}") from error


def _capsule(x: Any) -> Any:
    try:
        return x.__dlpack__(max_version=(1, 0))
    except TypeError:
        return x.__dlpack__()


# The consumer's side.


def _look(consumer: Library, y: Any) -> tuple[str, tuple[int, ...], list[bytes]]:
    """The dtype, the shape and the elements of what arrived."""
    dtype, shape, *_ = consumer.describe(y)
    itemsize, data = ITEMSIZES.get(dtype, 1), consumer.read(y)
    return dtype, tuple(shape), [data[i : i + itemsize] for i in range(0, len(data), itemsize)]


def _can_look(consumer: Library, case: Case) -> bool:
    """Whether a library's adapter reads what it has made itself, of the case's dtype and shape."""
    plain = case._replace(strides=_row_major(case.shape, 1), offset=0, shift=0, is_read_only=False)
    try:
        _look(consumer, _make(consumer, plain)[0])
    except (Unsupported, _NotBuilt):
        return True  # which is not to be found out
    except Exception:
        return False
    return True


def _standing(producer: Library, x: Any) -> tuple[Any, ...]:
    """All that the producer says of its array, which taking it must not change."""
    try:
        return (*producer.describe(x)[:4], producer.read(x))
    except Exception as error:  # of its own fault is told what arrives
        return (type(error),)


def _difference(case: Case, elements: list[bytes], found: tuple[str, tuple[int, ...], list[bytes]]) -> str | None:
    dtype, shape, got = found
    if (dtype, shape) != (case.dtype, case.shape):
        return f"{case.dtype}{list(case.shape)} arrived as {dtype}{list(shape)}"
    wrong = [number for number, (a, b) in enumerate(zip(elements, got, strict=False)) if a != b]
    if wrong or len(elements) != len(got):
        return f"{len(wrong)} of {len(elements)} elements differ"
    return None


def _says(said: foreign.Described, protocol: str, case: Case, elements: list[bytes]) -> bool:
    """Whether what a protocol says of an array leads to its elements."""
    state = said.state
    if (state.shape, state.itemsize) != (case.shape, ITEMSIZES[case.dtype]):
        return False
    # Of a capsule that cannot be right nothing is known but its name.
    is_elsewhere = protocol == _ON_DEVICE or (len(state.header) > 2 and state.header[2] != 1)
    if is_elsewhere or state.storage is not None:
        return True
    if not said.address:
        return not elements
    places = _places(state.shape, _byte_strides(state), said.address)
    return [ctypes.string_at(place, state.itemsize) for place in places] == elements


def _byte_strides(state: ForeignState) -> tuple[int, ...]:
    if state.strides is not None:
        return state.strides
    return _row_major(state.shape, state.itemsize)


def _row_major(shape: tuple[int, ...], itemsize: int, least: int = 0) -> tuple[int, ...]:
    """Strides of a row-major array in bytes, where no length counts as less than `least`.

    >>> _row_major((2, 0, 3), 4), _row_major((2, 0, 3), 4, 1)
    ((0, 12, 4), (12, 12, 4))
    """
    strides, running = [], itemsize
    for size in reversed(shape):
        strides.append(running)
        running *= max(size, least)
    return tuple(reversed(strides))


def _significant(state: ForeignState) -> tuple[int, ...] | None:
    """Strides that address anything, in bytes."""
    if 0 in state.shape:
        return None
    return tuple([s for n, s in zip(state.shape, _byte_strides(state), strict=True) if n > 1])


def _own_strides(library: Library, x: Any, described: foreign.Described | None) -> tuple[int, ...] | None:
    """Strides as the library itself has them, in bytes: what it says by a protocol may be others already."""
    dtype, _, strides, *_ = library.describe(x)
    if strides is not None:
        return tuple([s * ITEMSIZES[dtype] for s in strides])
    return None if described is None else _byte_strides(described.state)


def _idle(case: Case, made: tuple[int, ...] | None, got: tuple[int, ...] | None) -> tuple[str, str]:
    """What became of strides that address nothing, and in words where they are neither those made nor row-major."""
    idle = [number for number, size in enumerate(case.shape) if size == 1 or 0 in case.shape]
    # A library without strides may say what it has by a protocol that has flattened it.
    if not idle or made is None or got is None or not len(made) == len(got) == len(case.shape):
        return "", ""
    # Libraries disagree on whether a length of 0 counts as 1 in the strides before it: either is row-major.
    plain = [_row_major(case.shape, ITEMSIZES[case.dtype], least) for least in (0, 1)]
    before, after, *either = ([strides[number] for number in idle] for strides in (made, got, *plain))
    if after == before:
        return "kept", ""
    return ("row-major", "") if after in either else ("other", f"strides of {[*made]} bytes arrived as {[*got]}")


def _described(y: Any, consumer: Library) -> foreign.Described | None:
    """What the array says of itself where it has arrived, by whatever protocol it has."""
    for protocol in ("interface", "dlpack", "buffer"):
        try:
            return _offer(y, protocol, consumer)[1]
        except Unsupported:
            continue
    return None


# Writes.


def _writes(producer: Library, consumer: Library, x: Any, y: Any) -> str:
    forward = _is_seen(consumer, y, producer, x, 1, "f")
    return forward + _is_seen(producer, x, consumer, y, 0, "b")


def _is_seen(writer: Library, mine: Any, reader: Library, theirs: Any, value: int, letter: str) -> str:
    """Whether what one library writes to the whole array is seen by the other."""
    fill = _filler(writer)
    if fill is None:
        return "."
    before = _look(reader, theirs)[2]
    with suppress(Exception):  # which says nothing of whether it has written before
        fill(mine, value)
    written, seen = _look(writer, mine)[2], _look(reader, theirs)[2]
    return letter if seen == written != before else "-"


def _filler(library: Library) -> Callable[[Any, int], Any] | None:
    """How a library writes a number to a whole array: `fill_`, or an assignment; None where it has neither."""
    if (fill := library.operation(Step("fill_", (Ref(0), 0)))) is not None:
        return fill
    assign = library.operation(Step("__setitem__", (Ref(0), (...,), 0)))
    return None if assign is None else lambda x, value: assign(x, library.index((...,)), value)


def _is_lazy(producer: Library, consumer: Library, protocol: str, case: Case) -> bool:
    """Whether the consumer copies only when it is read: another array, written to before anything has looked at it."""
    fill = _filler(producer)
    if fill is None:
        return False
    x, elements = _make(producer, case)
    y = port(consumer, protocol)(_offer(x, protocol, producer)[0])
    with suppress(Exception):
        fill(x, 0)
    written = _look(producer, x)[2]
    return written != elements and _look(consumer, y)[2] == written


def _text(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # the library's, of which nothing is known
        text = ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:MAX_TEXT]
