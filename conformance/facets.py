"""What differs between two descriptions of one value, aspect by aspect: pure functions over states of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from .observation import ForeignState, State, StorageObject, StorageState, TensorState, owner_of

Facet: TypeAlias = tuple[str, Any, Any, str]
"""Aspect, what is expected, what was got, and a sentence with a place for it."""


def what_it_is(state: State) -> str:
    """Kind, dtype and shape of a value in words.

    >>> what_it_is(TensorState("int8", (2, 3))), what_it_is(StorageObject("s0", 8, "int16"))
    ('int8[2, 3]', 'a typed storage of int16, 8 bytes')
    """
    if isinstance(state, StorageObject):
        kind = "a storage" if state.dtype is None else f"a typed storage of {state.dtype}"
        return f"{kind}, {state.nbytes} bytes"
    shown = f"{state.dtype}{list(state.shape)}"
    return shown if isinstance(state, TensorState) else f"{state.kind} {shown}"


def facets(ours: State, theirs: State) -> Iterator[Facet]:
    """Everything that both sides know of values of one kind, dtype and shape, and that differs."""
    if isinstance(ours, TensorState) and isinstance(theirs, TensorState):
        yield from _of_tensors(ours, theirs)
    elif isinstance(ours, ForeignState) and isinstance(theirs, ForeignState):
        yield from _of_foreign(ours, theirs)
    elif isinstance(ours, StorageObject) and isinstance(theirs, StorageObject):
        yield from _lies_elsewhere(ours, theirs)
        if ours.flags != theirs.flags:
            yield "flags", ours.flags, theirs.flags, "(resizable, shared, file, meta) is {got}"


def strides_differ(ours: State, theirs: State) -> bool:
    """Whether strides that address anything differ: those of dimensions longer than 1 of values with elements."""
    if isinstance(ours, StorageObject) or isinstance(theirs, StorageObject):
        return False
    if ours.strides is None or theirs.strides is None or 0 in ours.shape:
        return False
    pairs = zip(ours.shape, ours.strides, theirs.strides, strict=True)
    return any(size > 1 and a != b for size, a, b in pairs)


def homes_differ(ours: StorageState, theirs: StorageState) -> Facet | None:
    """How it differs where two storages lie, or that one has no bytes."""
    if ours.home == theirs.home:
        return None
    sides = ours.home, theirs.home
    length = any(home is not None and home[0] == "meta" for home in sides)
    return "storage" if length else "sharing", _home(ours.home), _home(theirs.home), "lies {got}"


def _of_tensors(ours: TensorState, theirs: TensorState) -> Iterator[Facet]:
    if theirs.strides is not None and ours.strides is not None:
        if strides_differ(ours, theirs):
            yield "strides", list(ours.strides), list(theirs.strides), "strides are {got}"
        offset = ours.offset if theirs.offset is None else theirs.offset
        if (ours.strides, ours.offset) != (theirs.strides, offset):
            what = "[strides, offset] are {got}"
            yield "layout", [list(ours.strides), ours.offset], [list(theirs.strides), offset], what
    pairs = [(a, b) for a, b in zip(ours.contiguity, theirs.contiguity, strict=True) if "-" not in (a, b)]
    if any(a != b for a, b in pairs):
        a, b = ("".join(side) for side in zip(*pairs, strict=True))
        yield "contiguity", a, b, "contiguity (row-major, channels_last, channels_last_3d) is {got}"
    yield from _lies_elsewhere(ours, theirs)
    if ours.quantizer is not None and theirs.quantizer not in (None, ours.quantizer):
        yield "values", ours.quantizer, theirs.quantizer, "its quantizer is {got}"
    if theirs.version not in (None, ours.version):
        yield "flags", ours.version, theirs.version, "its version is {got}"
    if theirs.flags is not None and (ours.base, ours.flags) != (theirs.base, theirs.flags):
        yield "flags", [_view(ours), ours.flags], [_view(theirs), theirs.flags], "[view, flags] are {got}"


def _of_foreign(ours: ForeignState, theirs: ForeignState) -> Iterator[Facet]:
    """Strides and offset in bytes; absent strides say something, too."""
    if strides_differ(ours, theirs):
        yield "strides", _listed(ours.strides), _listed(theirs.strides), "strides are {got} bytes"
    a, b = [_listed(ours.strides), ours.offset], [_listed(theirs.strides), theirs.offset]
    if a != b:
        yield "layout", a, b, "[strides, offset] are {got} bytes"
    yield from _lies_elsewhere(ours, theirs)
    if (ours.writable, ours.header) != (theirs.writable, theirs.header):
        a, b = [ours.writable, list(ours.header)], [theirs.writable, list(theirs.header)]
        yield "flags", a, b, "[writable, header] are {got}"


def _lies_elsewhere(ours: State, theirs: State) -> Iterator[Facet]:
    if theirs.storage not in (None, ours.storage):
        yield "sharing", _place(ours.storage), _place(theirs.storage), "lies in {got}"


def _listed(strides: tuple[int, ...] | None) -> list[int] | None:
    return None if strides is None else list(strides)


def _place(storage: str | None) -> str:
    """A storage in words."""
    if storage is None:
        return "no memory that is known"
    owner = owner_of(storage)
    if owner is None:
        return f"storage {storage}" if storage.startswith("s") else storage
    first = f"the memory that value {owner} was the first in"
    return first if storage == f"v{owner}" else f"memory that value {owner} was given later ({storage})"


def _home(home: tuple[str, int] | None) -> str:
    """Where the bytes of a storage lie, in words."""
    if home is None:
        return "in memory of its own"
    name, number = home
    return f"on meta ({number} bytes)" if name == "meta" else f"at byte {number} of {_place(name)}"


def _view(state: TensorState) -> str:
    return "no view" if state.base is None else f"view of value {state.base}"
