"""Takes an array from one library into another in one process, and compares it with what was made.

Runs in a worker that has loaded both. Strides and offset in elements unless said otherwise. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import foreign
from .layout import row_major
from .offers import Case, Library, Made, NotBuilt, Standing, line_of, make, offer, standing, stays
from .ports import port
from .program import ITEMSIZES
from .protocol import Unsupported
from .shown import says

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
ASTRAY = ("astray", "dangling")
"""After which a process says nothing any more."""


class Harm(Exception):
    """What arrived is not what was promised, and no error says so."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        assert kind in DAMAGE
        self.kind = kind


class Refused(Exception):
    """The consumer does not take what it is offered, and says so, or answers with something else."""

    is_answer = False


class Taken(NamedTuple):
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


def take(producer: Library, consumer: Library, protocol: str, case: Case) -> Taken:
    """Make the array and hand it over; what arrives is not looked at.

    Raises
    ------
    Unsupported
        One side has no such array or protocol.
    NotBuilt
        The producer claims to have it, and failed, or made another one.
    Refused
        The consumer does not take it.
    Harm
        The producer's array is another one by then.
    """
    taking = port(consumer, protocol)
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
        y = taking(given)
    except Exception as error:
        _check_unharmed(producer, case, made, stood, f"it was refused: {line_of(error)}")
        raise Refused(line_of(error)) from error
    _check_unharmed(producer, case, made, stood, "it was taken")
    if not consumer.is_tensor(y):
        answer = f"{type(y).__module__}.{type(y).__name__}"
        refusal = Refused(f"answered with a {answer}, which is none of {consumer.name}'s arrays")
        refusal.is_answer = True
        raise refusal
    return Taken(made, stood, said, is_true, address, is_copied, y)


def take_anew(producer: Library, consumer: Library, protocol: str, case: Case) -> Taken:
    """Make another array and hand it over, where one was taken before.

    Raises
    ------
    NotBuilt
        The producer has, or offers, none once more.
    Harm
        The consumer does not take it once more, or changes the producer's.
    """
    try:
        return take(producer, consumer, protocol, case)
    except Unsupported as error:
        raise NotBuilt(f"{producer.name} offered it once, and not once more: {error}") from error
    except Refused as refusal:
        raise Harm("untaken", f"it was taken once, and not once more: {refusal}") from refusal


def compare(producer: Library, consumer: Library, protocol: str, case: Case, taken: Taken) -> None:
    """Look at what arrived, for the first time.

    Raises
    ------
    NotBuilt
        The consumer cannot read its own arrays, or reads others.
    Harm
        It is not what was made, cannot be read, or to read it changes the producer's.
    """
    try:
        found = look(consumer, taken.y)
    except Exception as error:
        if own_array(consumer, case) is None:
            raise NotBuilt(f"{consumer.name} cannot read its own arrays: {line_of(error)}") from error
        raise Harm("unreadable", f"what arrived cannot be read: {line_of(error)}") from error
    _check_unharmed(producer, case, taken.made, taken.stood, "what arrived was read")
    elements = taken.made.elements
    kind, difference = _difference(case, elements, found)
    if not kind and not taken.said.address and not taken.is_true:
        # By chance: memory that was freed may still hold them.
        kind, difference = "elements", "its elements arrived from nowhere"
    if kind and own_array(consumer, case) is None:
        raise NotBuilt(f"{consumer.name} reads its own arrays as others: {difference}")
    if kind:
        raise Harm(kind, difference + ("" if taken.is_true else "; what the producer said of it was wrong already"))


def _check_unharmed(producer: Library, case: Case, made: Made, stood: Standing, since: str) -> None:
    """Raise `Harm` where the producer's array is another one, or cannot be read any more."""
    try:
        found = standing(producer, made)
    except NotBuilt:  # which could be read before
        raise Harm("astray", f"the producer's array cannot be read since {since}") from None
    if found == stood:
        return
    if found._replace(described=stood.described) != stood or found.described[:2] != stood.described[:2]:
        raise Harm("astray", f"the producer's array is another one since {since}")
    before, after = ("strides {} and offset {}".format(*one.described[2:]) for one in (stood, found))
    raise Harm("layout", f"the producer's array has {after} since {since}, and had {before}")


def look(consumer: Library, y: Any) -> tuple[str, tuple[int, ...], list[bytes]]:
    """The dtype, the shape and the elements of what arrived."""
    dtype, shape, *_ = consumer.describe(y)
    itemsize, data = ITEMSIZES.get(dtype, 1), consumer.read(y)
    return dtype, tuple(shape), [data[i : i + itemsize] for i in range(0, len(data), itemsize)]


def own_array(library: Library, case: Case) -> Made | None:
    """What a library has made itself: the case, or the most similar array that it builds; None if it is another one."""
    plain = case._replace(strides=row_major(case.shape), offset=0, shift=0, is_read_only=False)
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
