"""Hands an array from one library to another in one process, and sees what of it arrives.

Runs in a worker that has loaded both. What should arrive is what the protocols promise, whoever is right about layout:
the same shape, dtype and elements; without a copy, the same address and strides, writes seen on both sides, and memory
that is read-only still so. Strides and offset in elements unless said otherwise. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from . import foreign
from .errors import text_of
from .offers import (
    Case,
    Library,
    Made,
    NotBuilt,
    Standing,
    around,
    is_held,
    is_let_go,
    lets_go,
    line_of,
    make,
    offer,
    standing,
    stays,
)
from .ports import port
from .program import ITEMSIZES, Ref, Step
from .protocol import Unsupported
from .shown import idle_strides, is_written, leads, own_strides, row_major, says, shown_by, significant


class Handover(NamedTuple):
    """What arrived.

    `outcome` is `shared` (the same memory), `copied` (by either side), `arrived` (one of these, which nobody can tell),
    `empty` (nothing to share), `refused` (an error says so), `damaged` (other elements, shape or dtype, writes that go
    astray, and no error), `not offered` (one side has no such array or protocol), or `error` (an adapter failed).
    `strides` tells of shared memory whether the strides that address anything are the producer's. `idle` tells of those
    that address nothing (of dimensions of length 1, and of arrays without elements) whether they are `kept`, rewritten
    to what a `row-major` array has there, or to `other` ones: DLPack leaves all of that to libraries. `writes` has
    `f` where the producer sees the consumer's and `b` where the consumer sees the producer's, `l` where it does
    only until it is first read (its copy is lazy), `-` for either that is not so, `!` where the one that should
    write raises, `n` where it does nothing instead, `.` where it has nothing to write with. `read_only` is `kept`,
    `lost`, or empty where nobody could try to write. `damage` is the kind of what is damaged, one of `DAMAGE`, or
    `answer` where what is `refused` was answered with something that is no array. `is_astray` says that memory was
    written to which nobody meant: what the process does from then on says nothing.
    """

    outcome: str
    detail: str = ""
    strides: bool | None = None
    writes: str = ".."
    read_only: str = ""
    idle: str = ""
    damage: str = ""
    is_astray: bool = False


DAMAGE: Mapping[str, str] = {
    "dtype": "another dtype arrived",
    "shape": "another shape arrived",
    "elements": "other elements arrived",
    "unreadable": "what arrived, or was written to, cannot be read",
    "untaken": "what was taken once is not taken once more",
    "layout": "the producer's array has other strides since",
    "astray": "memory has changed that nobody meant to write to",
    "writes": "what one side writes is something else on the other",
    "described": "strides and an offset that do not lead to its elements",
    "copied": "the memory is copied, which was forbidden",
    "shared": "the memory is shared, which was forbidden",
    "dangling": "memory that is shared is not kept alive",
    "held": "memory is held by nothing that is left of it",
}
"""Kinds of damage: a list of what arrives tells them apart."""
_ASTRAY = ("astray", "dangling")
"""After which a process says nothing any more."""


class _Harm(Exception):
    """What arrived is not what was promised, and no error says so."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        assert kind in DAMAGE
        self.kind = kind


class _Refused(Exception):
    """The consumer does not take what it is offered, and says so, or answers with something else."""

    is_answer = False


class _Taken(NamedTuple):
    """An array that was handed over: where it was made, how it stood there, what was said of it, and what arrived.

    `is_true` says whether what was said led to its elements, while that was held; `address` is where it lies, None
    where that is not known: what a producer says may be of a copy that it has made to say it, and then it `is_copied`.
    """

    made: Made
    stood: Standing
    said: foreign.Described
    is_true: bool
    address: int | None
    is_copied: bool
    y: Any


def hand_over(producer: Library, consumer: Library, protocol: str, case: Case) -> Handover:
    """Make a case's array in one library, hand it to the other, and look at it there."""
    for library in (producer, consumer):
        if "values" not in library.capabilities.aspects:
            return Handover("not offered", f"{library.name} has no elements to hand over")
    try:
        taken = _take(producer, consumer, protocol, case)
        _compare(producer, consumer, protocol, case, taken)
        found = _arrival(producer, consumer, protocol, case, taken)
        y = taken.y
        del taken  # what was handed on goes before what arrived of it, as where a function answers with that
        del y
        return found
    except Unsupported as error:
        return Handover("not offered", text_of(error))
    except NotBuilt as error:
        return Handover("error", str(error))
    except _Refused as refusal:
        return Handover("refused", str(refusal), damage="answer" if refusal.is_answer else "")
    except _Harm as harm:
        return Handover("damaged", str(harm), damage=harm.kind, is_astray=harm.kind in _ASTRAY)


def _take(producer: Library, consumer: Library, protocol: str, case: Case) -> _Taken:
    """Make the array and hand it over; what arrives is not looked at.

    Raises
    ------
    Unsupported
        One side has no such array or protocol.
    NotBuilt
        The producer claims to have it, and failed, or made another one.
    _Refused
        The consumer does not take it.
    _Harm
        The producer's array is another one by then.
    """
    take = port(consumer, protocol)
    made = make(producer, case)
    stood = standing(producer, made)
    if not _is_as_made(stood, case, made):
        raise NotBuilt(_other_than_made(producer, stood, case))
    offered = offer(made.x, protocol, producer)
    is_true = says(offered.said, protocol, case, made.elements)
    is_copied = made.address is None and not stays(made.x, protocol, producer, offered)
    address = made.address if made.address is not None or is_copied else offered.said.address
    given, said = offered.given, offered.said
    del offered  # before the consumer has the array: what it does must not depend on another export
    _check_unharmed(producer, case, made, stood, "it was offered")
    try:
        y = take(given)
    except Exception as error:
        _check_unharmed(producer, case, made, stood, f"it was refused: {line_of(error)}")
        raise _Refused(line_of(error)) from error
    _check_unharmed(producer, case, made, stood, "it was taken")
    if not consumer.is_tensor(y):
        answer = f"{type(y).__module__}.{type(y).__name__}"
        refusal = _Refused(f"answered with a {answer}, which is none of {consumer.name}'s arrays")
        refusal.is_answer = True
        raise refusal
    return _Taken(made, stood, said, is_true, address, is_copied, y)


def _take_anew(producer: Library, consumer: Library, protocol: str, case: Case) -> _Taken:
    """Make another array and hand it over, where one was taken before.

    Raises
    ------
    NotBuilt
        The producer has, or offers, none once more.
    _Harm
        The consumer does not take it once more, or changes the producer's.
    """
    try:
        return _take(producer, consumer, protocol, case)
    except Unsupported as error:
        raise NotBuilt(f"{producer.name} offered it once, and not once more: {error}") from error
    except _Refused as refusal:
        raise _Harm("untaken", f"it was taken once, and not once more: {refusal}") from refusal


def _compare(producer: Library, consumer: Library, protocol: str, case: Case, taken: _Taken) -> None:
    """Look at what arrived, for the first time.

    Raises
    ------
    NotBuilt
        The consumer cannot read its own arrays, or reads others.
    _Harm
        It is not what was made, cannot be read, or to read it changes the producer's.
    """
    try:
        found = _look(consumer, taken.y)
    except Exception as error:
        if not _can_look(consumer, case):
            raise NotBuilt(f"{consumer.name} cannot read its own arrays: {line_of(error)}") from error
        raise _Harm("unreadable", f"what arrived cannot be read: {line_of(error)}") from error
    _check_unharmed(producer, case, taken.made, taken.stood, "what arrived was read")
    elements = taken.made.elements
    kind, difference = _difference(case, elements, found)
    if not kind and not taken.said.address and not taken.is_true:
        # By chance: memory that was freed may still hold them.
        kind, difference = "elements", "its elements arrived from nowhere"
    if kind and not _can_look(consumer, case):
        raise NotBuilt(f"{consumer.name} reads its own arrays as others: {difference}")
    if kind:
        raise _Harm(kind, difference + ("" if taken.is_true else "; what the producer said of it was wrong already"))


def _check_unharmed(producer: Library, case: Case, made: Made, stood: Standing, since: str) -> None:
    """Raise `_Harm` where the producer's array is another one, or cannot be read any more."""
    try:
        found = standing(producer, made)
    except NotBuilt:  # which could be read before
        raise _Harm("astray", f"the producer's array cannot be read since {since}") from None
    if found == stood:
        return
    if found._replace(described=stood.described) != stood or found.described[:2] != stood.described[:2]:
        raise _Harm("astray", f"the producer's array is another one since {since}")
    before, after = ("strides {} and offset {}".format(*one.described[2:]) for one in (stood, found))
    raise _Harm("layout", f"the producer's array has {after} since {since}, and had {before}")


def _arrival(producer: Library, consumer: Library, protocol: str, case: Case, taken: _Taken) -> Handover:
    """What becomes of memory, strides and writes where the elements arrived."""
    made, y = taken.made, taken.y
    if made.elements and leads(consumer, y) is False:
        _blame_described(consumer, y, case)
    shown = sorted(shown_by(y, consumer), key=lambda one: one.address != taken.address)  # first what lies there
    before = own_strides(producer, made.x, [] if taken.is_copied else [taken.said])
    after = own_strides(consumer, y, shown)
    idle, changed = idle_strides(case, before, after)
    if not made.elements:
        return Handover("empty", changed, idle=idle)
    is_seen = made.address is not None
    lies_there = _lies_there(consumer, y, shown, taken.address)  # before a write: what is written to may be moved
    writes, is_apart = _writes(producer, consumer, protocol, case, taken)
    shares = _shares(lies_there, is_seen, writes, taken.is_copied, is_apart=is_apart and not is_seen)
    promise = _PROMISES.get(protocol)
    if promise is not None and shares == (not promise):
        raise _forbidden(not promise)
    is_told = shares is not None
    shares = shares if is_told else promise  # taken for granted
    strides = None
    if shares and before is not None and after is not None:
        strides = significant(case, before) == significant(case, after)
    if writes[1] == "-" and _is_lazy(producer, consumer, protocol, case):
        if promise is False:
            raise _Harm("shared", "the memory is shared until it is read, which was forbidden")
        writes = writes[0] + "l"
    if made.block is not None:
        _check_lifetime(producer, consumer, protocol, case, shares is True, is_told)
    read_only = {"f": "lost", "-": "kept", "!": "kept", "n": "kept"}.get(writes[0], "") if case.is_read_only else ""
    return Handover(_SHARES[shares], changed, strides, writes, read_only, idle)


def _blame_described(consumer: Library, y: Any, case: Case) -> NoReturn:
    """Tell that the consumer says strides and an offset of what arrived that do not lead to its elements.

    Raises
    ------
    NotBuilt
        They do not, of its own arrays, either.
    _Harm
        They do.
    """
    own = _own(consumer, case)
    if own is None or leads(consumer, own.x) is False:
        raise NotBuilt(f"{consumer.name} describes its own arrays by strides and offsets that do not lead to them")
    _, _, strides, offset, *_ = consumer.describe(y)
    raise _Harm("described", f"it arrived with strides {strides} and offset {offset}, where its elements do not lie")


def _check_lifetime(
    producer: Library, consumer: Library, protocol: str, case: Case, shares: bool, is_told: bool
) -> None:
    """Have another array in memory that was lent, what arrived of it outlive all else, and then go, too.

    `is_told` says whether anything has told that the memory is shared, and it was not taken for granted.

    Raises
    ------
    _Harm
        Memory that is shared is not kept alive by what arrived, or is held by something that is none of both arrays.
    """
    if not lets_go(producer, protocol, case):
        return  # its adapter keeps what it is lent, or looks into it in a way of its own
    anew = _take_anew(producer, consumer, protocol, case)
    block, y = anew.made.block, anew.y
    assert block is not None
    del anew
    if shares and not is_held(block):
        raise (
            _Harm("dangling", "the memory that it shares is not kept alive by what arrived")
            if is_told
            else (_forbidden(shared=False))
        )
    del y
    if is_let_go(block):
        return
    _take_anew(producer, consumer, protocol, case)  # what holds the last one of all alone lets it go for this
    if not is_let_go(block):
        raise _Harm("held", "the memory is held after both arrays are gone")


def _forbidden(shared: bool) -> _Harm:
    """What is the matter with memory that is shared, or copied, against a promise."""
    kind = "shared" if shared else "copied"
    return _Harm(kind, f"the memory is {kind}, which was forbidden")


_SHARES = {True: "shared", False: "copied", None: "arrived"}
_PROMISES = {"dlpack copy": False, "dlpack share": True}
"""Whether memory is shared, by protocols that promise it."""


def _shares(
    lies_there: bool | None, is_seen: bool, writes: str, is_copied: bool, *, is_apart: bool = False
) -> bool | None:
    """Whether memory is shared: writes that are seen tell, then addresses, then writes that are not; else None.

    Writes of both that are not seen know better than an address that is only said, where the producer's is not seen;
    and so does one that has changed what lies at that address, and nothing of the producer's.
    """
    if writes[0] == "f" or writes[1] == "b":
        return True
    if is_apart:
        return False
    if lies_there is not None and (is_seen or writes != "--"):
        return lies_there
    return False if "-" in writes or is_copied else None


def _lies_there(consumer: Library, y: Any, shown: Sequence[foreign.Described], address: int | None) -> bool | None:
    """Whether what arrived begins at the producer's address, or, without an offset, in a storage that holds that.

    None if untold. What arrived may be copied when it is handed on in turn: the storage is asked first, then all that
    it shows.
    """
    if consumer.observes_storage and address is not None:
        with suppress(Exception):  # what it takes need not be an array of its usual kind
            begin, length = consumer.extent_of(consumer.storage_of(y))
            dtype, _, _, offset, *_ = consumer.describe(y)
            return begin <= address < begin + length and offset in (None, (address - begin) / ITEMSIZES[dtype])
    places_shown = [one.address for one in shown if one.address is not None]
    return address in places_shown if places_shown and address is not None else None


# The consumer's side.


def _look(consumer: Library, y: Any) -> tuple[str, tuple[int, ...], list[bytes]]:
    """The dtype, the shape and the elements of what arrived."""
    dtype, shape, *_ = consumer.describe(y)
    itemsize, data = ITEMSIZES.get(dtype, 1), consumer.read(y)
    return dtype, tuple(shape), [data[i : i + itemsize] for i in range(0, len(data), itemsize)]


def _can_look(library: Library, case: Case) -> bool:
    """Whether a library's adapter reads what it has made itself."""
    return _own(library, case) is not None


def _own(library: Library, case: Case) -> Made | None:
    """What a library has made itself: the case, or the most similar array that it builds; None if it is another one."""
    plain = case._replace(strides=row_major(case.shape, 1), offset=0, shift=0, is_read_only=False)
    others = [plain._replace(dtype=dtype) for dtype in sorted(library.capabilities.dtypes & ITEMSIZES.keys())]
    for similar in (case, plain, *others):
        try:
            made = make(library, similar)
        except (Unsupported, NotBuilt):
            continue
        try:
            return made if _is_as_made(standing(library, made), similar, made) else None
        except NotBuilt:
            return None
    return None


def _is_as_made(stood: Standing, case: Case, made: Made) -> bool:
    return (*stood.described[:2], stood.elements) == (case.dtype, case.shape, b"".join(made.elements))


def _other_than_made(library: Library, stood: Standing, case: Case) -> str:
    """What an adapter has built instead, in words."""
    dtype, shape, *_ = stood.described
    if (dtype, shape) == (case.dtype, case.shape):
        return f"{library.name} has built other elements than it was asked for, or reads others"
    return f"{library.name} was to build {case.dtype}{case.shape}, and describes it as {dtype}{shape}"


def _difference(case: Case, elements: list[bytes], found: tuple[str, tuple[int, ...], list[bytes]]) -> tuple[str, str]:
    """The kind of damage, and in words; both are empty where there is none."""
    dtype, shape, got = found
    if (dtype, shape) != (case.dtype, case.shape):
        kind = "shape" if dtype == case.dtype else "dtype"
        return kind, f"{case.dtype}{list(case.shape)} arrived as {dtype}{list(shape)}"
    wrong = [number for number, (a, b) in enumerate(zip(elements, got, strict=False)) if a != b]
    if wrong or len(elements) != len(got):
        return "elements", f"{len(wrong)} of {len(elements)} elements differ"
    return "", ""


# Writes.


def _writes(producer: Library, consumer: Library, protocol: str, case: Case, taken: _Taken) -> tuple[str, bool]:
    """What comes of the consumer's write to the whole array, and of the producer's: two letters of a handover.

    And whether the consumer's is where the producer has said that its array lies, though not in the producer's. Each
    is tried on an array that nobody has written to, since some libraries copy what they write to.

    Raises
    ------
    NotBuilt
        A library does not say how it writes, or there is no other array to be had.
    _Harm
        One has changed what lies beside the array in the producer's memory, or arrives as something else.
    """
    back = _write(producer, consumer, case, taken, "b")
    anew = _take_anew(producer, consumer, protocol, case)
    _compare(producer, consumer, protocol, case, anew)
    forth = _write(producer, consumer, case, anew, "f")
    is_apart = forth == "-" and is_written(anew.said, protocol, case, _look(consumer, anew.y)[2])
    return forth + back, is_apart


def _write(producer: Library, consumer: Library, case: Case, taken: _Taken, seen: str) -> str:
    """Write to a whole array that has been looked at, and look at it in the other library: `seen`, or why it is not.

    `seen` is `f` where the consumer writes, `b` where the producer does.
    """
    made, stood, y = taken.made, taken.stood, taken.y
    mine = (producer, made.x, stood.elements)
    theirs = (consumer, y, b"".join(made.elements))
    (writer, x, here), (reader, other, before) = (theirs, mine) if seen == "f" else (mine, theirs)
    fill = _filler(writer)
    if fill is None:
        return "."
    refusal = "n"
    try:
        fill(x, _number(int(seen == "f"), case.dtype))
    except Unsupported:
        return "."
    except Exception:  # which says nothing of whether it has written before
        refusal = "!"
    try:
        # Memory first: that it has changed says more than that an array there cannot be read.
        if around(producer, made) != stood.around:
            raise _Harm("astray", f"what {writer.name} writes to it changes memory beside it")
        written, there = writer.read(x), reader.read(other)
    except _Harm:
        raise
    except Exception as error:
        raise _Harm("unreadable", f"what {writer.name} has written to cannot be read: {line_of(error)}") from error
    if there == before:
        return refusal if written == here else "-"
    if there != written:
        raise _Harm("writes", f"what {writer.name} writes to it is something else in {reader.name}")
    return seen


def _number(value: int, dtype: str) -> int | bool:
    """A number as an array of the dtype takes it: some libraries refuse to write another kind."""
    return bool(value) if dtype == "bool" else value


def _filler(library: Library) -> Callable[[Any, int], Any] | None:
    """How a library writes a number to a whole array: `fill_`, or an assignment; None where it has neither."""
    if (fill := _operation(library, Step("fill_", (Ref(0), 0)))) is not None:
        return fill
    assign = _operation(library, Step("__setitem__", (Ref(0), (...,), 0)))
    return None if assign is None else lambda x, value: assign(x, library.index((...,)), value)


def _operation(library: Library, step: Step) -> Callable[..., Any] | None:
    try:
        return library.operation(step)
    except Unsupported:
        return None
    except Exception as error:
        raise NotBuilt(f"{library.name} does not say how it writes: {line_of(error)}") from error


def _is_lazy(producer: Library, consumer: Library, protocol: str, case: Case) -> bool:
    """Whether the consumer copies only when it is read: another array, written to before anything has looked at it.

    False where that cannot be tried.
    """
    fill = _filler(producer)
    if fill is None:
        return False
    anew = _take_anew(producer, consumer, protocol, case)
    made, stood, y = anew.made, anew.stood, anew.y
    with suppress(Exception):
        fill(made.x, _number(0, case.dtype))
    with suppress(Exception):
        written = producer.read(made.x)
        return written != stood.elements and consumer.read(y) == written
    return False
