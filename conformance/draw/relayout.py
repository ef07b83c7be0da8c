"""The same program over other layouts: what an operator does with any strides, from samples that were contiguous.

The elements stay what they were wherever the drawn layout gives each a place of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..elements import gather
from ..observation import TensorState
from ..program import ITEMSIZES, Input, Program, Storage, fill_bytes
from .layouts import MAX_SPAN, draw_layout
from .source import Source

MAX_DIMS = 8
"""Dimensions of an input that is laid out anew."""


def relayout(source: Source, program: Program) -> Program:
    """The program with each input in a storage of its own and in a drawn layout, about a third of them left alone.

    Inputs that share a storage are left alone, and so are those too large for a drawn layout.
    """
    storages = list(program.storages)
    inputs = []
    shared = [item.storage for item in program.inputs]
    for item in program.inputs:
        numel = int(np.prod(item.shape, dtype=np.int64))
        if shared.count(item.storage) > 1 or numel > MAX_SPAN or len(item.shape) > MAX_DIMS or source.chance(30):
            inputs.append(item)
            continue
        moved, storage = _moved(source, item, storages[item.storage])
        inputs.append(replace(moved, storage=len(storages)))
        storages.append(storage)
    used = sorted({item.storage for item in inputs})
    inputs = [replace(item, storage=used.index(item.storage)) for item in inputs]
    return replace(program, storages=tuple(storages[i] for i in used), inputs=tuple(inputs))


def _moved(source: Source, item: Input, storage: Storage) -> tuple[Input, Storage]:
    """The input's elements written to a drawn layout; where places coincide the last one stays."""
    drawn = draw_layout(source, shape=item.shape)
    itemsize = ITEMSIZES[item.dtype]
    nbytes = drawn.reach * itemsize
    block = bytearray(fill_bytes("bool1" if item.dtype == "bool" else "ramp1", nbytes))
    rows = gather(storage.contents(), TensorState(item.dtype, item.shape, item.strides, item.offset), itemsize)
    if rows is not None and rows.size:
        strides = tuple(s * itemsize for s in drawn.strides)
        places = np.ndarray((*item.shape, itemsize), np.uint8, block, drawn.offset * itemsize, (*strides, 1))
        places[...] = rows.reshape(places.shape)
    moved = replace(item, strides=drawn.strides, offset=drawn.offset)
    return moved, Storage(nbytes, "literal", storage.backing, bytes(block))
