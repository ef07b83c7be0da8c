"""Indexing with integer tensors and masks: gathered copies, scattered writes.

The gather is an elementwise operator for its output's layout: the source takes part with stride 0 in the indexed
dimensions, then each index spread into place (facts 3.12).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import division, pointwise_ops, shadow, slicing_ops, view_ops
from . import dtypes as dt
from .conversion import add_at, cast, nan_marks
from .copies import change_in_copy, clone, reader, resolved
from .core import (
    TensorBase,
    array,
    as_int,
    check_flag,
    check_inplace,
    check_no_overlap,
    check_settled,
    check_tensors,
    from_array,
    order_marks,
    recorded,
    requires_grad,
    values,
    without_bits,
    written,
)
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, LayoutValueError
from .from_values import tensor
from .index_ops import masked_fill_
from .index_places import number_for
from .kept import check_kept
from .layout import Layout, Shape, Strides, contiguous_strides
from .out import write_out
from .output_layout import broadcast_shapes, broadcast_strides, output_strides, preserved_strides
from .reductions import check_out_dtype
from .results import integers, need_kernel
from .views import view_strides

if TYPE_CHECKING:
    from .tensors import Tensor

_INDEX_DTYPES = (dt.int64, dt.int32, dt.uint8, dt.bool_)


def mask_tensor(value: bool) -> "Tensor":
    """The index that a single True or False stands for: the only element of a new dimension, or none."""
    return from_array(np.zeros(int(value), np.int64), dt.int64)


def index_tensor(items: Any) -> "Tensor":
    """A list, range or array as an index tensor. Raises: argument, dtype, size (see `from_values.tensor`)."""
    if isinstance(items, (list, tuple)) and any(isinstance(item, (str, bytes)) for item in items):
        raise LayoutTypeError("argument", "no index tensor is made of text")
    t = tensor(items)
    if t.dtype.is_complex and not isinstance(items, np.ndarray):
        raise LayoutTypeError("argument", "no index tensor is made of complex numbers, but in an array")
    # Masks remain masks; all other numbers are taken for integers.
    return t if t.dtype in (dt.bool_, dt.uint8) else t.to(dt.int64)


_Entry = tuple[Shape, Strides, Any, bool]


class Gather:
    """Index tensors brought into place over a view: what to read, and under which layout to deliver it."""

    __slots__ = ("before", "indices", "layout", "operands", "shape", "unknown")

    def __init__(self, layout: Layout, items: dict[int, Any]) -> None:
        entries: list[_Entry | None] = [None] * len(layout.shape)
        self.unknown = False
        for dim, t in items.items():
            if t.dtype not in _INDEX_DTYPES:
                raise LayoutIndexError("dtype", f"index tensors must be int64, int32, uint8 or bool, got {t.dtype}")
            if t._storage._shadow is not None and shadow.marks_of(t) is not None:
                self.unknown = True
            if t.dtype in (dt.bool_, dt.uint8):
                self._mask(layout, dim, t, entries)
            elif dim >= len(entries):
                raise LayoutIndexError("dimension", f"too many indices for {len(entries)} dimensions (facts 3.7)")
            else:
                entries[dim] = (
                    t._layout.shape,
                    t._layout.strides,
                    # int64 is read as it lies: the fallback for bits looks into no list of optional tensors.
                    array(t) if t.dtype is dt.int64 else values(t).astype(np.int64),
                    t.dtype is dt.int32,
                )
        found = [e for e in entries if e is not None]
        try:
            spread = broadcast_shapes(*[e[0] for e in found])
        except LayoutError:
            raise LayoutIndexError(
                "broadcast", f"index tensors of shapes {[e[0] for e in found]} do not broadcast"
            ) from None
        dims = [d for d, e in enumerate(entries) if e is not None]
        order = list(range(len(entries)))
        if dims != list(range(dims[0], dims[-1] + 1)):
            # Indices that are not neighbours move to the front, with their result.
            order = dims + [d for d in order if d not in dims]
        self.before = before = order.index(dims[0])
        count = len(dims)
        shape = [layout.shape[d] for d in order]
        strides = [layout.strides[d] for d in order]
        self.layout = Layout(tuple(shape), tuple(strides), layout.offset)
        self.indices = [np.broadcast_to(e[2], spread) for e in found]
        self.shape = (*shape[:before], *spread, *shape[before + count :])
        self._check_empty(shape[before : before + count])
        source = (*strides[:before], *[0] * len(spread), *strides[before + count :])
        self.operands: list[tuple[Shape, Strides]] = [(self.shape, source)]
        after = len(shape) - before - count
        for own, steps, _, narrow in found:
            placed = (*[1] * before, *spread, *[1] * after)
            wide = broadcast_strides(own, steps, spread) if own != spread else steps
            if narrow:
                # int32 indices are converted once they are spread.
                wide = preserved_strides(spread, wide)
            kept = view_strides(spread, wide, placed)
            self.operands.append((placed, contiguous_strides(placed) if kept is None else kept))

    @staticmethod
    def _mask(layout: Layout, dim: int, t: Any, entries: "list[_Entry | None]") -> None:
        shape = t._layout.shape
        if layout.shape[dim : dim + len(shape)] != shape:
            raise LayoutIndexError(
                "size", f"a mask of shape {shape} at dimension {dim} does not match the indexed shape {layout.shape}"
            )
        for k, where in enumerate(np.nonzero(values(t))):
            entries[dim + k] = (where.shape, (1,), where, False)

    def _check_empty(self, lengths: list[int]) -> None:
        for length, where in zip(lengths, self.indices, strict=True):
            if where.size and length == 0:
                raise LayoutIndexError("index", "an index into a dimension without elements (facts 3.12)")

    def check(self) -> None:
        """Refuse indices out of bounds, unless there is nothing to move. Raises: index (IndexError)."""
        if 0 in self.shape:
            return
        for length, where in zip(self.layout.shape[self.before :], self.indices, strict=False):
            if where.min() < -length or where.max() >= length:
                raise LayoutIndexError(
                    "index", f"an index is out of bounds for a dimension of length {length} (facts 3.12)"
                )

    def key(self) -> tuple[Any, ...]:
        """The index that NumPy takes over an array of `layout`."""
        return (*[slice(None)] * self.before, *self.indices)


def gather_indexed(view: "Tensor", items: dict[int, Any]) -> "Tensor":
    """A copy of the elements that index tensors name.

    Raises: index, dimension, broadcast, size, dtype. Source: facts 3.12, torch 2.13.
    """
    check_kept("index", "1<0", (view, [*items.values()]))
    source = resolved(view)
    g = Gather(source._layout, items)
    need_kernel("index", view.dtype, "bifchu8e")
    g.check()
    placed = reader(source, g.layout)
    key = g.key()
    if not len(g.layout.shape) > 0 or 0 in g.layout.shape:
        result = np.empty(g.shape, view.dtype.numpy)
    else:
        result = values(placed)[key]
    out = from_array(result, view.dtype, output_strides(g.shape, tuple(g.operands)))
    marks = shadow.marks_of(placed)
    if g.unknown:
        shadow.leave_unspecified(out)
    elif marks is not None:
        shadow.stamp(out, marks[key])
    return recorded(out, view)


def scatter_indexed(self: "Tensor", target: "Tensor", items: dict[int, Any], value: Any) -> None:
    """Write a number or a tensor to the elements that index tensors name.

    Where an index repeats, which value stays is not specified.

    Raises: grad, overlap, dtype, broadcast, index. Source: facts 3.12 and 5.1.3, torch 2.13.
    """
    if not isinstance(value, TensorBase):
        raise LayoutTypeError("argument", f"can't assign a {type(value).__name__} to a tensor")
    shape = value._layout.shape
    extra = 0
    while extra < len(shape) and shape[extra] == 1:
        extra += 1
    source = value
    if extra:
        source = reader(value, Layout(shape[extra:], value._layout.strides[extra:], value._layout.offset))
        source._has_fn = requires_grad(value)
    put(target, items, source, False)


def put(target: "Tensor", items: dict[int, Any], value: Any, accumulate: bool) -> None:
    """`index_put_` on a view: write or add a tensor's elements where index tensors name."""
    check_kept("index_put_", "1<0,2", (target, [*items.values()], value))
    check_inplace(target, value)
    if target._bits:
        change_in_copy(target, lambda whole: put(whole, items, value, accumulate))
        written(target, value)
        return
    masks = [t for t in items.values() if t.dtype in (dt.bool_, dt.uint8)]
    filled = not accumulate and value.numel() == 1 and len(masks) == len(items) == 1
    if not filled:
        check_no_overlap(target, value)
        for t in items.values():
            check_no_overlap(target, without_bits(t))
            if t.dtype is dt.int64:  # others are converted before anything is written
                check_settled(target, t)
    g = Gather(target._layout, items)
    if filled and masks[0].dtype is not dt.bool_:
        raise LayoutError("dtype", "index_put_: one value goes under a bool mask only, got uint8")
    placed = reader(target, g.layout)
    if filled:
        plain = number_for(reader(value, Layout((), (), value._layout.offset)), target.dtype, "index_put_")[0]
    else:
        plain = cast(values(value), value.dtype, target.dtype)
    try:
        wide = np.broadcast_to(plain.reshape(() if filled else value._layout.shape), g.shape)
    except ValueError:
        raise LayoutError(
            "broadcast",
            f"index_put_: a value of shape {value._layout.shape} for an indexed shape {g.shape} (facts 3.12)",
        ) from None
    if not filled and value.dtype is not target.dtype:
        raise LayoutError("dtype", f"index_put_: a {value.dtype} value for a {target.dtype} tensor")
    # One value under a mask is `masked_fill_`.
    need_kernel("index_put_", target.dtype, "bifch" if filled else "bifch8")
    try:
        g.check()
    except LayoutIndexError:
        # Found while writing: what is there by then depends on the traversal.
        shadow.leave_unspecified(target)
        raise
    if 0 not in g.shape:
        _store(placed, g, wide, value, accumulate)
    written(target, value)


def _store(placed: Any, g: Gather, wide: Any, value: Any, accumulate: bool) -> None:
    key = g.key()
    a = array(placed)
    if accumulate:
        if a.dtype.kind == "b":
            np.logical_or.at(a, key, wide)
        else:
            add_at(a, key, wide, placed.dtype)
    else:
        a[key] = wide
    marks = shadow.marks_of(value)
    if accumulate:
        marks = shadow.merge(g.shape, marks, nan_marks(a[key], placed.dtype))
    storage = placed._storage
    repeated = _repeats(g, placed) and (value.numel() > 1 or accumulate)
    order = order_marks(placed, value, moving=True) if value.numel() > 1 or accumulate else None
    if marks is None and storage._shadow is None and not repeated and not g.unknown and order is None:
        return
    before = (
        np.zeros(g.layout.shape, np.uint8)
        if storage._shadow is None
        else shadow.element_marks(storage._shadow, placed._layout, placed.dtype).copy()
    )
    if g.unknown or order is not None:
        before[...] = shadow.UNSPECIFIED
    elif repeated:
        float_sum = accumulate and (placed.dtype.is_floating_point or placed.dtype.is_complex)
        if not accumulate:
            before[key] = shadow.UNSPECIFIED
        elif float_sum:
            before[key] = np.maximum(before[key], shadow.TOLERANCE)
            if marks is not None:
                before[key] = np.maximum(before[key], marks)
    else:
        before[key] = 0 if marks is None else np.broadcast_to(marks, g.shape)
    shadow.stamp(placed, before)


def _repeats(g: Gather, placed: Any) -> bool:
    lengths = g.layout.shape[g.before : g.before + len(g.indices)]
    flat = np.zeros(g.indices[0].shape, np.int64)
    for length, where in zip(lengths, g.indices, strict=True):
        flat = flat * length + where % max(length, 1)
    return flat.size != np.unique(flat).size


def _put_under_one(input: "Tensor", mask: Any, value: Any, accumulate: bool) -> None:
    """`index_put_` under a mask without dimensions: one value goes everywhere or nowhere, others are refused."""
    if accumulate or value.numel() != 1:
        raise LayoutError("index", "index_put_: a mask without dimensions names no place")
    masked_fill_(input, mask, reader(value, Layout((), (), value._layout.offset)))


def index_put_(input: "Tensor", indices: Any, values: "Tensor", accumulate: bool = False) -> "Tensor":
    """Write or add values where a tuple of index tensors names; none of them is None.

    Raises: argument (TypeError), grad, overlap, dtype, broadcast, index. Source: facts 3.12, torch 2.13.
    """
    items: dict[int, Any] = {}
    dim = 0
    check_tensors("index_put_", *indices)
    for t in indices:
        items[dim] = t
        dim += len(t._layout.shape) if t.dtype in (dt.bool_, dt.uint8) else 1
    if max(dim, len(indices)) > input.ndim:
        raise LayoutIndexError("dimension", f"index_put_: {max(dim, len(indices))} indices for {input.ndim} dimensions")
    if len(items) == 1 and dim == 0:
        _put_under_one(input, items[0], values, accumulate)
        return input
    put(input, items, values, accumulate)
    return input


def index_put(input: "Tensor", indices: Any, values: "Tensor", accumulate: bool = False) -> "Tensor":
    """`index_put_` on a copy. Raises: as `index_put_`. Source: torch 2.13."""
    result = index_put_(clone(input), indices, values, accumulate)
    result._versions[0] = 0
    return result


def nonzero(input: "Tensor", *, out: "Tensor | None" = None, as_tuple: bool = False) -> Any:
    """Indices of the elements that are not zero, as a column-major matrix or a tuple of columns.

    Source: facts 4.4, torch 2.13.
    """
    check_flag("as_tuple", as_tuple)
    if as_tuple:
        rows = nonzero(input if input.ndim else input.unsqueeze(0))
        return tuple([rows.select(1, k) for k in range(rows._layout.shape[1])])
    need_kernel("nonzero", input.dtype, "bifch")
    found = np.nonzero(np.atleast_1d(values(input) != 0))
    count = len(found[0])
    table = np.stack(found, -1) if input.ndim else np.zeros((count, 0), np.int64)
    strides = (1, count)
    rows = from_array(table.astype(np.int64), dt.int64, strides)
    if shadow.marks_of(input) is not None:
        shadow.leave_unspecified(rows)
    if isinstance(out, TensorBase):
        check_out_dtype(out, dt.int64)
        check_no_overlap(out, input)
    return write_out(out, rows)


def argwhere(input: "Tensor") -> "Tensor":
    """`nonzero`."""
    result: Tensor = nonzero(input)
    return result


def unravel_index(indices: "Tensor", shape: Any) -> tuple["Tensor", ...]:
    """Places in a grid of row-major numbers, views of one tensor. Raises: argument (TypeError, ValueError)."""
    if indices.dtype.category != "int":
        raise LayoutTypeError("argument", f"unravel_index: indices of {indices.dtype}, integers are needed")
    sizes = (as_int(shape, "shape"),) if isinstance(shape, int) else tuple([as_int(n, "shape") for n in shape])
    if any(n < 0 for n in sizes):
        raise LayoutValueError("size", f"unravel_index: {sizes} has negative lengths")
    steps = contiguous_strides(sizes)
    wide = view_ops.unsqueeze(indices, -1)
    whole = division.floor_divide(wide, tensor(list(steps), dtype=dt.int64))
    found = pointwise_ops.remainder(whole, tensor(list(sizes), dtype=dt.int64))
    return slicing_ops.unbind(found, -1)


def nonzero_static(input: "Tensor", *, size: int, fill_value: int = -1, out: "Tensor | None" = None) -> "Tensor":
    """The first places of elements that are not zero, a row each, row-major. Raises: size. Source: torch 2.13."""
    if as_int(size, "size") < 0:
        raise LayoutError("size", f"nonzero_static: size must not be negative, got {size}")
    a = values(input)
    places = np.argwhere(a != 0)[:size] if a.ndim else np.zeros((size, 0), np.int64)
    result = np.full((size, a.ndim), fill_value, np.int64)
    result[: len(places)] = places
    made = integers(result, input)
    made._has_fn = False
    if isinstance(out, TensorBase) and out.dtype is not dt.int64:
        raise LayoutError("dtype", f"nonzero_static: out must be int64, got {out.dtype}")
    return write_out(out, made)
