"""Draws what moves elements about: repeats, turns, triangles, copies of views, broadcasts, splits by another name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from ..observation import TensorState
from ..program import Ref
from .compute import SELF, either_end
from .layouts import draw_layout
from .pointwise import NUMBERS
from .source import Source
from .steps import (
    ODD,
    Arguments,
    Drawer,
    Values,
    along_diagonal,
    another,
    any_other,
    broadcasts,
    draw_dim,
    expanded,
    free_layout,
    narrowed,
    new_dim,
    no_arguments,
    one_dim,
    ref_of,
    reordered,
    resized_view,
    selected,
    squeezed_dims,
    two_dims,
    windows,
)

LARGEST = 400
"""Elements that repeating may make."""


def _size(source: Source, x: TensorState) -> tuple[int, int]:
    """A dimension, and its size (2 where it is not there)."""
    dim = draw_dim(source, len(x.shape))
    return dim, x.shape[dim] if -len(x.shape) <= dim < len(x.shape) else 2


def _repeated(source: Source, x: TensorState, values: Values) -> Arguments:
    counts = [source.integer(1, 2) if not source.chance(5) else 0 for _ in x.shape]
    if source.chance(30):
        counts.insert(0, source.integer(1, 2))
    if counts and source.chance(ODD):
        counts = counts[1:] if source.chance(50) else [*counts[:-1], -1]
    if prod(counts) * prod(x.shape) > LARGEST:
        counts = [1] * len(counts)
    return (tuple(counts),), {}


def _tiled(source: Source, x: TensorState, values: Values) -> Arguments:
    """As `repeat`, but for that a number that is missing counts as 1 of the first dimensions."""
    (counts,), _ = _repeated(source, x, values)
    return (counts[source.integer(0, len(counts)) :] if source.chance(40) else counts,), {}


def _interleaved(source: Source, x: TensorState, values: Values) -> Arguments:
    count = source.integer(0, 2) if prod(x.shape) < LARGEST // 2 else 1
    return (count,) if source.chance(25) else (count, draw_dim(source, len(x.shape))), {}


def _turned(source: Source, x: TensorState, values: Values) -> Arguments:
    rank = len(x.shape)
    turns = source.integer(-1, 4) if source.chance(70) else source.integer(-6, 7)
    if rank < 2 or source.chance(30):
        return (turns,), {}
    first = source.integer(0, rank - 1)
    second = (first + source.integer(1, rank - 1)) % rank if not source.chance(ODD) else first
    return (turns, either_end(source, (first, second), rank)), {}


def _offset(source: Source, x: TensorState, values: Values) -> Arguments:
    return (source.integer(-2, 2),) if source.chance(70) else (), {}


def _embedded(source: Source, x: TensorState, values: Values) -> Arguments:
    if source.chance(50):
        return (source.integer(-2, 2),), {}
    rank = len(x.shape) + 1
    first = source.integer(0, rank - 1)
    second = (
        (first + source.integer(1, rank - 1)) % rank if rank > 1 and not source.chance(ODD) else draw_dim(source, rank)
    )
    return (source.integer(-2, 2), *either_end(source, (first, second), rank)), {}


def _parts(source: Source, x: TensorState, values: Values) -> Arguments:
    dim, size = _size(source, x)
    return (source.integer(0 if source.chance(ODD) else 1, max(size, 1) + 1), dim), {}


def _filled(source: Source, x: TensorState, values: Values) -> Arguments:
    return (source.integer(0, 3),), {"wrap": True} if source.chance(30) else {}


def _sizes(source: Source, x: TensorState, values: Values) -> Arguments:
    dim, size = _size(source, x)
    first = source.integer(0, size)
    return ((first, size - first + source.chance(ODD)), dim), {}


def _sections(axis: int) -> Drawer:
    """Equal sections of one dimension, or places to cut it at."""

    def draw(source: Source, x: TensorState, values: Values) -> Arguments:
        size = x.shape[axis] if len(x.shape) > axis else 2
        if source.chance(30):
            return (tuple(sorted(source.integer(0, size + 1) for _ in range(2))),), {}
        divisors = [n for n in range(1, size + 1) if size % n == 0] or [1]
        return (source.choice(divisors) if not source.chance(ODD) else source.choice((0, size + 1, -1)),), {}

    return draw


def _cut_flat(source: Source, x: TensorState, values: Values) -> Arguments:
    return _sections(0 if len(x.shape) == 1 else 1)(source, x, values)


def _summed_to(source: Source, x: TensorState, values: Values) -> Arguments:
    sizes = [1 if source.chance(40) else size for size in x.shape]
    if source.chance(ODD):
        sizes = [size + 1 for size in sizes]
    return (tuple(sizes[source.integer(0, len(sizes)) if source.chance(25) else 0 :]),), {}


def _alike(source: Source, x: TensorState, values: Values) -> Arguments:
    return (another(source, x, values, lambda v: v.shape == x.shape),), {}


def _with_broadcasts(source: Source, x: TensorState, values: Values) -> Arguments:
    fitting = [k for k, v in values.items() if broadcasts(v.shape, x.shape) and v.dtype == x.dtype]
    others = [ref_of(source.choice(fitting)) for _ in range(source.integer(0, 2))] if fitting else []
    if source.chance(ODD):
        others.append(ref_of(source.choice(list(values))))
    return (SELF, *others), {}


def _vectors(x: TensorState, values: Values) -> list[Ref]:
    return [ref_of(k) for k, v in values.items() if len(v.shape) == 1 and v.dtype == x.dtype and v.shape[0] < 13]


def _grid(source: Source, x: TensorState, values: Values) -> Arguments:
    fitting = _vectors(x, values)
    return (SELF, *([source.choice(fitting)] if fitting else [])), {}


def _listed(source: Source, x: TensorState, values: Values) -> Arguments:
    alike = [ref_of(k) for k, v in values.items() if v.shape == x.shape and v.dtype == x.dtype]
    others = [source.choice(alike)] if alike and source.chance(75) else []
    return ((SELF, *others),), {}


def _into_layout(source: Source, x: TensorState, values: Values) -> Arguments:
    other = source.choice([k for k, v in values.items() if v.dtype == x.dtype] or list(values))
    drawn = draw_layout(source, shape=values[other].shape)
    strides = tuple([min(s, 3) for s in drawn.strides])
    offset = () if source.chance(35) else (source.integer(0, 2),)  # left out, it is the tensor's own
    return (ref_of(other), drawn.shape, strides, *offset), {}


REARRANGING: tuple[tuple[int, tuple[str, Drawer]], ...] = (
    (3, ("repeat", _repeated)), (2, ("tile", _tiled)), (2, ("repeat_interleave", _interleaved)),
    (3, ("rot90", _turned)), (1, ("fliplr", no_arguments)), (1, ("flipud", no_arguments)), (3, ("tril", _offset)),
    (3, ("triu", _offset)), (2, ("tril_", _offset)), (2, ("triu_", _offset)), (2, ("diag", _offset)),
    (2, ("diag_embed", _embedded)), (1, ("diagflat", _offset)), (2, ("unsafe_split", _parts)),
    (2, ("unsafe_chunk", _parts)), (1, ("unsafe_split_with_sizes", _sizes)), (2, ("split_with_sizes", _sizes)),
    (2, ("hsplit", _cut_flat)), (2, ("vsplit", _sections(0))), (1, ("dsplit", _sections(2))),
    (2, ("sum_to_size", _summed_to)), (3, ("broadcast_tensors", _with_broadcasts)), (2, ("meshgrid", _grid)),
    (1, ("cartesian_prod", _grid)), (1, ("cartesian_prod", no_arguments)), (2, ("atleast_1d", no_arguments)),
    (2, ("atleast_2d", no_arguments)),
    (2, ("atleast_3d", no_arguments)), (2, ("hstack", _listed)), (2, ("vstack", _listed)), (2, ("dstack", _listed)),
    (1, ("column_stack", _listed)), (1, ("block_diag", _with_broadcasts)), (1, ("swapdims_", two_dims)),
    (2, ("view_copy", resized_view)), (2, ("permute_copy", reordered)), (2, ("expand_copy", expanded)),
    (2, ("as_strided_copy", free_layout)), (2, ("transpose_copy", two_dims)), (1, ("select_copy", selected)),
    (1, ("squeeze_copy", squeezed_dims)), (1, ("unsqueeze_copy", new_dim)), (1, ("unfold_copy", windows)),
    (1, ("diagonal_copy", along_diagonal)), (1, ("t_copy", no_arguments)), (1, ("detach_copy", no_arguments)),
    (1, ("alias_copy", no_arguments)), (2, ("narrow_copy", narrowed)), (1, ("split_copy", _parts)),
    (2, ("as_strided_scatter", _into_layout)), (1, ("concat", _listed)), (1, ("unbind_copy", one_dim)),
    (3, ("fill_diagonal_", _filled)),
    (2, ("is_same_size", any_other)), (1, ("allclose", _alike)), (1, ("equal", _alike)), (1, ("stride", no_arguments)),
    (1, ("size", no_arguments)),
    (2, ("is_leaf", no_arguments)), (2, ("requires_grad", no_arguments)), (3, ("requires_grad_", no_arguments)),
    (1, ("ndim", no_arguments)), (1, ("kron", any_other)), (1, ("numel", no_arguments)), (1, ("dim", no_arguments)),
    (1, ("shape", no_arguments)), (1, ("storage_offset", no_arguments)), (1, ("nbytes", no_arguments)),
    (1, ("itemsize", no_arguments)), (1, ("element_size", no_arguments)),
)  # fmt: skip
"""(weight, (operation, how its arguments are drawn))."""

DEFINED: Mapping[str, tuple[str, ...]] = {name: (*NUMBERS, "bool") for _, (name, _) in REARRANGING}
"""Dtypes that each is drawn for."""

NEEDED: Mapping[str, Callable[[TensorState, Values], bool]] = {
    **dict.fromkeys(("rot90", "fliplr", "tril", "triu", "tril_", "triu_", "vsplit",
                     "diagonal_copy"), lambda x, values: len(x.shape) > 1),
    "fill_diagonal_": lambda x, values: len(x.shape) == 2 or (len(x.shape) > 2 and len(set(x.shape)) == 1),
    **dict.fromkeys(("flipud", "hsplit", "select_copy", "narrow_copy", "unbind_copy",
                     "unsafe_split", "unsafe_chunk", "split_with_sizes", "unsafe_split_with_sizes", "split_copy"),
                    lambda x, values: len(x.shape) > 0),
    "dsplit": lambda x, values: len(x.shape) > 2,
    **dict.fromkeys(("diag", "meshgrid", "t_copy"), lambda x, values: len(x.shape) in (1, 2) and max(x.shape) < 13),
    "cartesian_prod": lambda x, values: len(x.shape) == 1 and x.shape[0] < 13,
    **dict.fromkeys(("diagflat", "diag_embed"), lambda x, values: prod(x.shape) < 13),
    "block_diag": lambda x, values: len(x.shape) < 3 and prod(x.shape) < 21,
    "column_stack": lambda x, values: len(x.shape) > 0,
    "kron": lambda x, values: prod(x.shape) < 21,
    "unfold_copy": lambda x, values: bool(x.shape),
    "as_strided_scatter": lambda x, values: "g" not in (x.flags or ""),
}  # fmt: skip
"""What some of them need to succeed."""
