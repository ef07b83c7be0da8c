"""Draws steps that change a tensor's metadata in place, and splits."""

from __future__ import annotations

from math import prod

from ..observation import TensorState
from ..program import Argument, MemoryFormat
from .layouts import draw_layout, draw_shape, edit_shape
from .source import Source
from .steps import (
    BASIC,
    Arguments,
    Drawer,
    Values,
    any_other,
    draw_dim,
    free_layout,
    new_dim,
    no_arguments,
    one_dim,
    ref_of,
    squeezed_dims,
    two_dims,
)


def _resized(source: Source, x: TensorState, values: Values) -> Arguments:
    shape = edit_shape(source, x.shape) if source.chance(35) else draw_shape(source, 0, 4)
    if source.chance(15):
        shape = x.shape
    if prod(shape) > 200:
        shape = x.shape
    keywords: dict[str, Argument] = {}
    if source.chance(20):
        fitting = {4: "channels_last", 5: "channels_last_3d"}.get(len(shape), "contiguous_format")
        keywords["memory_format"] = MemoryFormat(fitting if source.chance(80) else "preserve_format")
    if source.chance(3):
        shape = (*shape, -1)
    return (shape,), keywords


def _set(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(10):
        return (), {}
    alike = [k for k, v in values.items() if v.dtype == x.dtype]
    # Other bytes than 0 and 1 are no bool.
    others = [k for k, v in values.items() if (v.dtype == "bool") == (x.dtype == "bool")]
    other = ref_of(source.choice(others if source.chance(8) else alike))
    if source.chance(50):
        return (other,), {}
    rank = min(len(x.shape), 4)
    drawn = draw_layout(source, shape=draw_shape(source, *((rank, rank) if source.chance(40) else (0, 3))))
    size = x.shape if source.chance(25) and prod(x.shape) <= 200 else drawn.shape
    offset = source.integer(0, 5) if not source.chance(4) else -1
    if source.chance(40) or len(size) != len(drawn.strides):
        return (other, offset, size), {}
    return (other, offset, size, drawn.strides), {}


def _split(source: Source, x: TensorState, values: Values) -> Arguments:
    dim = draw_dim(source, len(x.shape))
    size = x.shape[dim] if -len(x.shape) <= dim < len(x.shape) else 2
    if source.chance(25) and size:
        first = source.integer(0, size)
        return ((first, size - first + (1 if source.chance(8) else 0)), dim), {}
    return (source.integer(0 if source.chance(8) else 1, max(size, 1) + 1), dim), {}


def _chunks(source: Source, x: TensorState, values: Values) -> Arguments:
    dim = draw_dim(source, len(x.shape))
    size = x.shape[dim] if -len(x.shape) <= dim < len(x.shape) else 1
    if size > 3 and source.chance(40):
        # Parts that are not all as long: which of them are shorter, and how many there are.
        return (source.choice([n for n in range(2, size) if size % n] or [2]), dim), {}
    return (source.integer(0 if source.chance(8) else 1, 5), dim), {}


def _sections(source: Source, x: TensorState, values: Values) -> Arguments:
    dim = draw_dim(source, len(x.shape))
    if source.chance(50):
        return (tuple([source.integer(-1, 6) for _ in range(source.integer(1, 3))]), dim), {}
    return (source.integer(0 if source.chance(8) else 1, 4), dim), {}


CHANGING: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    (7, ("resize_", _resized)), (2, ("resize_as_", any_other)), (6, ("set_", _set)),
    (3, ("as_strided_", free_layout)), (2, ("squeeze_", squeezed_dims)), (2, ("unsqueeze_", new_dim)),
    (3, ("transpose_", two_dims)), (1, ("swapaxes_", two_dims)), (2, ("t_", no_arguments)),
    (1, ("detach_", no_arguments)), (4, ("split", _split)), (3, ("chunk", _chunks)),
    (3, ("tensor_split", _sections)), (3, ("unbind", one_dim)),
)  # fmt: skip
"""(weight, (operation, how its arguments are drawn))."""

DRAWERS: dict[str, Drawer] = {name: drawer for _, (name, drawer) in (*BASIC, *CHANGING)}
"""How the arguments of each are drawn, by the operation's name."""
