"""Metadata that is changed wrongly: sizes, strides, storages."""

from __future__ import annotations

from math import prod

from ...layout import numel
from ...situations import OFFSET, ONES, STRIDED, Situation, asks, given, negative, rank, rank_over
from ..call import Call
from ..hands import count_apart, lay_out, move, set_version
from ..mutant import Mutant
from ..wrongs import (
    accepts,
    another_object,
    counts,
    itself,
    leaves,
    nowhere,
    packed,
    relaid,
)

IN_PLACE = "squeeze_ unsqueeze_ transpose_ swapaxes_ t_ as_strided_"
SAME_SIZE = Situation("the size that it has", lambda e: e.argument("size") == e.x.shape)
GROWS = Situation("more elements", lambda e: _asked(e.argument("size")) > numel(e.x))
SHRINKS = Situation("fewer elements", lambda e: 0 <= _asked(e.argument("size")) < numel(e.x))
SOURCE = Situation("a source", lambda e: bool(e.others))


def _asked(size: object) -> int:
    """Elements of the size that is asked for, -1 where none is."""
    if not isinstance(size, tuple) or any(n < 0 for n in size):
        return -1
    return prod(size)


def _loses_bytes(call: Call) -> object:
    """Growing takes new memory and does not copy the old contents."""
    storage = call.x.untyped_storage()
    before = storage.nbytes()
    outcome = call.right()
    if storage.nbytes() > before:
        storage._bytes[:before] = 0
    return outcome


def _shrinks_storage(call: Call) -> object:
    outcome = call.right()
    now = call.geometry(call.x)
    needed = (now.offset + prod(now.shape)) * call.x.element_size()
    storage = call.x.untyped_storage()
    if storage.resizable() and needed < storage.nbytes():
        storage.resize_(needed)
    return outcome


def _grows_twice(call: Call) -> object:
    """A storage that grows is given half as much again."""
    storage = call.x.untyped_storage()
    before = storage.nbytes()
    outcome = call.right()
    if storage.nbytes() > before:
        storage.resize_(storage.nbytes() * 3 // 2 + 1)
    return outcome


def _own_memory(call: Call) -> object:
    """What is set is a copy of what it should be set to."""
    outcome = call.right()
    now = call.geometry(call.x)
    move(call.x, call.do("clone", call.x))
    lay_out(call.x, now)
    return outcome


def _apart(call: Call) -> object:
    outcome = call.right()
    count_apart(call.x)
    set_version(call.x, 0)
    return outcome


MUTANTS = (
    Mutant("resize_.loses-bytes", "resize_ to more elements loses what was there.", "resize_ resize_as_", _loses_bytes),
    Mutant("resize_.shrinks-storage", "resize_ to fewer elements gives memory back.", "resize_ resize_as_",
           _shrinks_storage),
    Mutant("resize_.grows-too-far", "resize_ takes more memory than it needs.", "resize_", _grows_twice),
    Mutant("resize_.no-offset", "resize_ of a slice starts at the storage's beginning.", "resize_",
           relaid(offset=nowhere), OFFSET),
    Mutant("resize_.same-size-packs", "resize_ to the size that there is makes the strides row-major.", "resize_",
           relaid(strides=packed), SAME_SIZE & STRIDED & ~given("memory_format")),
    Mutant("resize_.keeps-strides", "resize_ to fewer elements keeps strides where the rank stays.", "resize_",
           relaid(strides=lambda c, y: c.before.strides if len(y.shape) == len(c.before.shape) else y.strides),
           SHRINKS & rank_over(1)),
    Mutant("resize_.ignores-format", "resize_(memory_format=channels_last) is row-major.", "resize_",
           relaid(strides=packed), asks("channels_last", "channels_last_3d")),
    Mutant("resize_.accepts-foreign", "resize_ grows memory that is not its own without an error.", "resize_",
           accepts(itself), GROWS, like="pytorch/pytorch#184748"),
    Mutant("resize_as_.keeps-strides", "resize_as_ takes over the other's strides.", "resize_as_",
           relaid(strides=lambda c, y: c.others[0].strides if c.others else y.strides)),
    Mutant("set_.ignores-strides", "set_ with strides is row-major.", "set_", relaid(strides=packed), given("stride")),
    Mutant("set_.ignores-offset", "set_ with an offset starts at the storage's beginning.", "set_",
           relaid(offset=nowhere), given("storage_offset")),
    Mutant("set_.others-offset", "set_ to a slice starts at the storage's beginning.", "set_", relaid(offset=nowhere),
           SOURCE & ~given("storage_offset")),
    Mutant("set_.others-strides", "set_ to a tensor is row-major.", "set_", relaid(strides=packed),
           SOURCE & ~given("size")),
    Mutant("set_.copies", "set_ copies what it should share.", "set_", _own_memory, SOURCE),
    Mutant("set_.no-version", "set_ counts no version.", "set_", counts(0)),
    Mutant("set_.keeps-size", "set_ without a source keeps the sizes.", "set_",
           relaid(shape=lambda c, y: (0,) * max(1, len(c.before.shape)),
                  strides=lambda c, y: (1,) * max(1, len(c.before.shape))),
           ~SOURCE & rank_over(1)),
    Mutant("set_.negative-offset", "set_ takes a negative offset for 0.", "set_", accepts(itself),
           negative("storage_offset")),
    Mutant("as_strided_.default-offset", "as_strided_ without an offset starts at the storage's beginning.",
           "as_strided_", relaid(offset=nowhere), OFFSET & ~given("storage_offset")),
    Mutant("as_strided_.bounds", "as_strided_ does not check that it stays inside the storage.", "as_strided_",
           accepts(itself)),
    Mutant("squeeze_.leaves-one", "squeeze_ of all dimensions leaves one where all are of size 1.", "squeeze_",
           lambda c: c.right() if set(c.before.shape) != {1} else c.do("unsqueeze_", c.right(), 0), ONES),
    Mutant("unsqueeze_.stride", "unsqueeze_ gives the new dimension stride 1.", "unsqueeze_",
           relaid(strides=lambda c, y: tuple(1 if d == c.event.argument("dim") % len(y.shape) else s
                                             for d, s in enumerate(y.strides)))),
    Mutant("transpose_.no-offset", "transpose_ of a slice starts at the storage's beginning.",
           "transpose_ swapaxes_ t_", relaid(offset=nowhere), OFFSET),
    Mutant("transpose_.another", "transpose_ answers a new tensor.", "transpose_ swapaxes_", another_object),
    Mutant("transpose_.shape-only", "t_ swaps the sizes but not the strides.", "t_",
           relaid(strides=lambda c, y: c.before.strides), rank(2)),
    Mutant("changes.no-version", "Changing metadata in place counts no version.", IN_PLACE, counts(0)),
    Mutant("changes.refused", "A refused change of metadata has counted a version.", IN_PLACE,
           leaves(lambda c: set_version(c.x, c.x._version + 1))),
    Mutant("detach_.apart", "detach_ gives the tensor a version counter of its own.", "detach_", _apart),
)  # fmt: skip
