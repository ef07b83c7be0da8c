"""Draws copies of objects: alone, with all that share their memory, through a file; and tensors without bytes."""

from __future__ import annotations

from math import prod

from ..observation import StorageObject, TensorState
from ..program import ITEMSIZES, QUANTISED, Argument, DType
from .changes import DRAWERS
from .inventory import Family, Inventory, of_every_tensors, pick
from .layouts import draw_shape
from .source import Source
from .steps import ODD, Arguments, Values, ref_of
from .storages import DTYPES


def _sizes(state: TensorState) -> int:
    return ITEMSIZES.get(state.dtype) or QUANTISED[state.dtype]


def _is_whole(there: Inventory, state: TensorState | StorageObject) -> bool:
    """Whether a storage holds whole elements: what PyTorch writes of another it cannot read."""
    content = there.contents[state.storage or ""]
    itemsize = _sizes(state) if isinstance(state, TensorState) else ITEMSIZES.get(state.dtype or "uint8", 1)
    return len(content.data) % itemsize == 0 and (isinstance(state, TensorState) or len(content.data) > 0)


def _objects(there: Inventory, *, written: bool) -> list[str]:
    """Values that are copied; those that are written to a file are whole."""
    found: dict[str, TensorState | StorageObject] = {**there.tensors, **there.coded, **there.storages}
    if not written:
        return [*found, *there.nowhere]
    return [key for key, state in found.items() if _is_whole(there, state)]


def _alone(source: Source, there: Inventory) -> Arguments | None:
    key = pick(source, _objects(there, written=False))
    return None if key is None else ((ref_of(key),), {})


def _together(source: Source, there: Inventory) -> Arguments | None:
    """One object, or several: those that share memory go on sharing it."""
    return _some(source, _objects(there, written=False))


def _pickled(source: Source, there: Inventory) -> Arguments | None:
    keys = [key for key in _objects(there, written=True) if key not in there.storages or source.chance(40)]
    return _some(source, keys)


def _saved(source: Source, there: Inventory) -> Arguments | None:
    drawn = _some(source, _objects(there, written=True))
    if drawn is not None and source.chance(8):
        return drawn[0], {"map_location": source.choice(("cpu", "meta", "cuda"))}
    return drawn


def _one_storage(source: Source, there: Inventory) -> Arguments | None:
    """Two tensors over one storage, where there are: what shares memory is written once, under one dtype."""
    found = {key: x for key, x in {**there.tensors, **there.coded}.items() if _is_whole(there, x)}
    pairs = [(a, b) for a, x in found.items() for b, y in found.items() if a != b and x.storage == y.storage]
    if not pairs:
        return None
    # Of other dtypes rather: views seldom are.
    other = [(a, b) for a, b in pairs if found[a].dtype != found[b].dtype]
    a, b = source.choice(other if other and source.chance(60) else pairs)
    return ((ref_of(a), ref_of(b)),), {}


def _bytes_of(source: Source, there: Inventory) -> Arguments | None:
    """The same memory under another dtype, or the numbers in it under a wider one."""
    key = pick(source, there.tensors)
    return None if key is None else ((ref_of(key), DType(source.choice(("uint8", "int16", "int32", "float32")))), {})


def _some(source: Source, keys: list[str]) -> Arguments | None:
    key = pick(source, keys)
    if key is None:
        return None
    others = [ref_of(source.choice(keys)) for _ in range(source.integer(0, 2))]
    return ((ref_of(key), *others) if others else ref_of(key),), {}


def _loaded(source: Source, there: Inventory) -> Arguments:
    """An empty file: what PyTorch says of other contents depends on each byte."""
    return (b"",), {}


def _empty(source: Source, there: Inventory) -> Arguments:
    keywords: dict[str, Argument] = {"dtype": DType(source.choice(DTYPES))} if source.chance(50) else {}
    if source.chance(70):
        keywords["device"] = "meta" if not source.chance(ODD) else source.choice(("cuda", "xyz"))
    return (draw_shape(source, 0, 3),), keywords


def _without_bytes(source: Source, there: Inventory) -> Arguments | None:
    key = pick(source, there.nowhere)
    return None if key is None else ((ref_of(key),), {})


_ON_META = (
    "transpose", "permute", "__getitem__", "select", "narrow", "expand", "as_strided", "unsqueeze", "view", "reshape",
    "unfold", "diagonal", "copy_", "add_", "mul_", "fill_", "zero_",
)  # fmt: skip


def _with_elements(there: Inventory) -> Values:
    return {k: x for k, x in there.nowhere.items() if prod(x.shape)}


def _beside(source: Source, there: Inventory, x: TensorState) -> Values:
    """Others on meta, and at times those whose numbers would be read."""
    others = there.nowhere if source.chance(70) else {**there.tensors, **there.nowhere}
    return {k: v for k, v in others.items() if v.dtype == x.dtype}


COPYING: Family = (
    (20, ("copy.copy", _alone)), (30, ("copy.deepcopy", _together)), (20, ("pickle", _pickled)),
    (40, ("save_load", _saved)), (12, ("save_load", _one_storage)), (6, ("pickle", _one_storage)),
    (6, ("copy.deepcopy", _one_storage)), (8, ("view", _bytes_of)), (2, ("load", _loaded)), (12, ("empty", _empty)),
    *((2, (name, of_every_tensors(DRAWERS[name], _with_elements, _beside))) for name in _ON_META),
    *((2, (name, _without_bytes)) for name in ("t", "detach", "clone", "contiguous", "tolist", "item", "numpy")),
)  # fmt: skip
"""Copies of objects, and tensors on meta."""
