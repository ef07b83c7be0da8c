"""Hands an array from one library to another in one process, and sees what of it arrives.

Runs in a worker that has loaded both. What should arrive is what the protocols promise, whoever is right about layout:
the same shape, dtype and elements; without a copy, the same address and strides, writes seen on both sides, and memory
that is read-only still so. Strides and offset in elements unless said otherwise. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from . import foreign
from .errors import text_of
from .offers import (
    Case,
    Library,
    NotBuilt,
    around,
    is_held,
    is_let_go,
    lets_go,
    line_of,
)
from .program import ITEMSIZES, Ref, Step
from .protocol import Unsupported
from .shown import idle_strides, is_written, leads, own_strides, shown_by, significant
from .taking import ASTRAY, Harm, Refused, Taken, compare, look, own_array, take, take_anew


class Arrived(NamedTuple):
    """What arrived, as `reports.records.Handover` has it.

    `is_astray` says that memory was written to which nobody meant: what the process does from then on says nothing.
    """

    outcome: str
    detail: str = ""
    strides: bool | None = None
    writes: str = ".."
    read_only: str = ""
    idle: str = ""
    damage: str = ""
    is_astray: bool = False


def hand_over(producer: Library, consumer: Library, protocol: str, case: Case) -> Arrived:
    """Make a case's array in one library, hand it to the other, and look at it there."""
    for library in (producer, consumer):
        if "values" not in library.capabilities.aspects:
            return Arrived("not offered", f"{library.name} has no elements to hand over")
    try:
        taken = take(producer, consumer, protocol, case)
        compare(producer, consumer, protocol, case, taken)
        found = _arrival(producer, consumer, protocol, case, taken)
        y = taken.y
        del taken  # what was handed on goes before what arrived of it, as where a function answers with that
        del y
        return found
    except Unsupported as error:
        return Arrived("not offered", text_of(error))
    except NotBuilt as error:
        return Arrived("error", str(error))
    except Refused as refusal:
        return Arrived("refused", str(refusal), damage="answer" if refusal.is_answer else "")
    except Harm as harm:
        return Arrived("damaged", str(harm), damage=harm.kind, is_astray=harm.kind in ASTRAY)


def _arrival(producer: Library, consumer: Library, protocol: str, case: Case, taken: Taken) -> Arrived:
    """What becomes of memory, strides and writes where the elements arrived."""
    made, y = taken.made, taken.y
    shown = sorted(shown_by(y, consumer), key=lambda one: one.address != taken.address)  # first what lies there
    before = own_strides(producer, made.x, [] if taken.is_copied else [taken.said])
    after = own_strides(consumer, y, shown)
    idle, changed = idle_strides(case, before, after)
    if not made.elements:
        return Arrived("empty", changed, idle=idle)
    is_seen = made.address is not None
    if leads(consumer, y, made.elements, shown) is False:
        _blame_described(consumer, y, case)
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
            raise Harm("shared", "the memory is shared until it is read, which was forbidden")
        writes = writes[0] + "l"
    if made.block is not None:
        _check_lifetime(producer, consumer, protocol, case, shares is True, is_told)
    read_only = {"f": "lost", "-": "kept", "!": "kept", "n": "kept"}.get(writes[0], "") if case.is_read_only else ""
    return Arrived(_SHARES[shares], changed, strides, writes, read_only, idle)


def _blame_described(consumer: Library, y: Any, case: Case) -> NoReturn:
    """Tell that the consumer says strides and an offset of what arrived that do not lead to its elements.

    Raises
    ------
    NotBuilt
        It says such of its own arrays, too.
    Harm
        It does not, or has none of its own.
    """
    own = own_array(consumer, case)
    if own is not None and leads(consumer, own.x, own.elements, [*shown_by(own.x, consumer)]) is False:
        raise NotBuilt(f"{consumer.name} describes its own arrays by strides and offsets that do not lead to them")
    _, _, strides, offset, *_ = consumer.describe(y)
    raise Harm("described", f"it arrived with strides {strides} and offset {offset}, where its elements do not lie")


def _check_lifetime(
    producer: Library, consumer: Library, protocol: str, case: Case, shares: bool, is_told: bool
) -> None:
    """Have another array in memory that was lent, what arrived of it outlive all else, and then go, too.

    `is_told` says whether anything has told that the memory is shared, and it was not taken for granted.

    Raises
    ------
    Harm
        Memory that is shared is not kept alive by what arrived, or is held by something that is none of both arrays.
    """
    if not lets_go(producer, protocol, case):
        return  # its adapter keeps what it is lent, or looks into it in a way of its own
    anew = take_anew(producer, consumer, protocol, case)
    block, y = anew.made.block, anew.y
    assert block is not None
    del anew
    if shares and not is_held(block):
        if is_told:
            raise Harm("dangling", "the memory that it shares is not kept alive by what arrived")
        raise _forbidden(shared=False)
    del y
    if is_let_go(block):
        return
    take_anew(producer, consumer, protocol, case)  # what holds the last one of all alone lets it go for this
    if not is_let_go(block):
        raise Harm("held", "the memory is held after both arrays are gone")


def _forbidden(shared: bool) -> Harm:
    """What is the matter with memory that is shared, or copied, against a promise."""
    kind = "shared" if shared else "copied"
    return Harm(kind, f"the memory is {kind}, which was forbidden")


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
            # Offsets are rounded down where they are no whole number of elements.
            return begin <= address < begin + length and offset in (None, (address - begin) // ITEMSIZES[dtype])
    places_shown = [one.address for one in shown if one.address is not None]
    return address in places_shown if places_shown and address is not None else None


# Writes.


def _writes(producer: Library, consumer: Library, protocol: str, case: Case, taken: Taken) -> tuple[str, bool]:
    """What comes of the consumer's write to the whole array, and of the producer's: two letters of a handover.

    And whether the consumer's is where the producer has said that its array lies, though not in the producer's. Each
    is tried on an array that nobody has written to, since some libraries copy what they write to.

    Raises
    ------
    NotBuilt
        A library does not say how it writes, or there is no other array to be had.
    Harm
        One has changed what lies beside the array in the producer's memory, or arrives as something else.
    """
    back = _write(producer, consumer, case, taken, "b")
    anew = take_anew(producer, consumer, protocol, case)
    compare(producer, consumer, protocol, case, anew)
    forth = _write(producer, consumer, case, anew, "f")
    is_apart = forth == "-" and is_written(anew.said, protocol, case, look(consumer, anew.y)[2])
    return forth + back, is_apart


def _write(producer: Library, consumer: Library, case: Case, taken: Taken, seen: str) -> str:
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
            raise Harm("astray", f"what {writer.name} writes to it changes memory beside it")
        written, there = writer.read(x), reader.read(other)
    except Harm:
        raise
    except Exception as error:
        raise Harm("unreadable", f"what {writer.name} has written to cannot be read: {line_of(error)}") from error
    if there == before:
        return refusal if written == here else "-"
    if there != written:
        raise Harm("writes", f"what {writer.name} writes to it is something else in {reader.name}")
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
    anew = take_anew(producer, consumer, protocol, case)
    made, stood, y = anew.made, anew.stood, anew.y
    with suppress(Exception):
        fill(made.x, _number(0, case.dtype))
    with suppress(Exception):
        written = producer.read(made.x)
        return written != stood.elements and consumer.read(y) == written
    return False
