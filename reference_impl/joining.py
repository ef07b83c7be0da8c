"""Operators that join or repeat tensors: cat, stack and their kin, repeat, tile, meshgrid."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import reductions, shadow, views
from .backing import MISSING
from .contiguity import is_contiguous, is_contiguous_in, suggested_format, suggested_strides
from .conversion import cast, cast_marks, check_copyable
from .copies import clone, copy_elements, reader, resolved, to
from .core import (
    TensorBase,
    array,
    as_int,
    as_ints,
    check_history,
    check_internal_overlap,
    check_no_overlap,
    check_read,
    fresh,
    from_array,
    given_once,
    order_marks,
    recorded,
    values,
    view_of,
)
from .dtype_view import conj, neg_view
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, LayoutValueError, UnspecifiedError, UnsupportedError
from .formats import contiguous_format, memory_format
from .index_ops import index_select
from .layout import Layout, Strides, check_allocation, contiguous_strides, wrap_dim
from .out import check_out, resize_output, write_out
from .output_layout import broadcast_shapes as common_shape
from .parsing import parsed
from .promotion import can_cast, common_dtype
from .results import need_kernel
from .size import Size
from .slicing_ops import diagonal as view_diagonal
from .view_ops import atleast_1d, atleast_2d, atleast_3d, expand, flatten, reshape_to, unsqueeze

if TYPE_CHECKING:
    from .tensors import Tensor


def _skipped(t: "Tensor") -> bool:
    # PyTorch lets a 1-d tensor without elements stand for nothing (facts 4.5).
    return t._layout.shape == (0,)


def _sequence(tensors: Any, name: str) -> list["Tensor"]:
    if not isinstance(tensors, (tuple, list)):
        raise LayoutTypeError("argument", f"{name}: expected a tuple of tensors, got {type(tensors).__name__}")
    for t in tensors:
        if not isinstance(t, TensorBase):
            raise LayoutTypeError("argument", f"{name}: expected tensors, got {type(t).__name__}")
    return list(tensors)


def _as_one(given: tuple[Any, ...]) -> Any:
    """Tensors that are given one by one, or as one sequence."""
    return given[0] if len(given) == 1 and not isinstance(given[0], TensorBase) else given


def _filled(tensors: Any, name: str) -> list["Tensor"]:
    items = _sequence(tensors, name)
    if not items:
        raise LayoutError("size", f"{name}: expected a non-empty list of tensors (facts 4.5)")
    return items


def _common_format(tensors: list["Tensor"]) -> memory_format:
    found = {suggested_format(*t._layout[:2]) for t in tensors}
    return found.pop() if len(found) == 1 else contiguous_format


@parsed(out_first=True)
def cat(tensors: Any, dim: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """Tensors one behind the other along a dimension: a copy in the format all of them suggest, else row-major.

    Raises: size (ValueError for an empty list, RuntimeError for shapes that differ), dimension, dtype, overlap.
    Source: facts 4.5, torch 2.13.
    """
    items = _sequence(tensors, "cat")
    check_history(*items)
    if not items:
        raise LayoutValueError("size", "cat: expected a non-empty list of tensors (facts 4.5)")
    items = [resolved(t) for t in items]
    for t in items:
        if not t._layout.shape:
            raise LayoutError("dimension", "cat: a tensor without dimensions cannot be joined (facts 4.5)")
    kept = [t for t in items if not _skipped(t)]
    first = kept[0] if kept else items[0]
    at = wrap_dim(as_int(dim, "dim"), first.ndim) if kept else 0
    try:
        d = common_dtype(*items)
    except LayoutError:
        if not dt.BITS.isdisjoint(t.dtype for t in items) and not any(t.numel() for t in items):
            raise UnspecifiedError("cat: PyTorch makes a tensor without a dtype (corrections, 4.5)") from None
        raise
    shape = list(first._layout.shape)
    if kept:
        shape[at] = 0
        for t in kept:
            own = t._layout.shape
            if len(own) != len(shape):
                raise LayoutError("dimension", f"cat: tensors of {len(shape)} and {len(own)} dimensions (facts 4.5)")
            for k, n in enumerate(own):
                if k == at:
                    shape[k] += n
                elif n != shape[k]:
                    raise LayoutError("size", f"cat: length {n} against {shape[k]} at dimension {k} (facts 4.5)")
    target = tuple(shape)
    format = _common_format(items)
    strides = suggested_strides(target, format)
    for t in kept:
        if t.numel() and not can_cast(t.dtype, d):
            raise LayoutError("dtype", f"cat: a {t.dtype} tensor cannot be cast to {d}")
    result = fresh(target, strides, d)
    if out is not None:
        _fill_parts(result, kept, at, raw=False)
        return _cat_out(out, result, items)
    alike = len(kept) == len(items) and all(t.dtype is d and is_contiguous_in(*t._layout[:2], format) for t in kept)
    # Only whole tensors that follow each other in memory are moved as bytes, also those that no bool holds.
    raw = alike and not at and format is contiguous_format
    if result.numel() and not raw:
        check_copyable(d)
        if alike and d is dt.float4_e2m1fn_x2:
            raise UnsupportedError("dtype", f"cat: PyTorch has no kernel for rows of {d}")
    _fill_parts(result, kept, at, raw=raw)
    return recorded(result, *items)


def _fill_parts(result: "Tensor", parts: list["Tensor"], at: int, *, raw: bool) -> None:
    a = array(result)
    start = 0
    for t in parts:
        n = t._layout.shape[at]
        where = (*[slice(None)] * at, slice(start, start + n))
        start += n
        if raw:
            # Bytes of a bool are moved as they are.
            a[where] = array(t)
        else:
            a[where] = cast(values(t), t.dtype, result.dtype)
        marks = shadow.marks_of(t)
        if t.dtype is not result.dtype:
            marks = cast_marks(values(t), t.dtype, result.dtype, marks)
        if marks is not None:
            shape, strides, offset = result._layout

            part = Layout((*shape[:at], n, *shape[at + 1 :]), strides, offset + (start - n) * strides[at])
            shadow.stamp(reader(result, part), marks)


def _cat_out(
    out: Any, result: "Tensor", parts: list["Tensor"], strides: Strides | None = None, *, resized: bool = False
) -> "Tensor":
    """Write a joined tensor to `out`, which takes its strides, or those given, where its shape differs.

    `resized`: also where the result cannot be cast to its dtype.
    """
    check_out(out, *parts)
    shape, own, _ = result._layout
    if not can_cast(result.dtype, out.dtype):
        if resized:
            resize_output(out, shape, strides)
        raise LayoutTypeError("dtype", f"cat: a {result.dtype} result cannot be cast to {out.dtype}")
    resize_output(out, shape, own if strides is None else strides)
    check_internal_overlap(out)
    for t in parts:
        if not _skipped(t):
            check_no_overlap(out, t)
    copy_elements(out, result)
    marks = order_marks(out, *parts)
    if marks is not None:
        shadow.stamp(out, marks)
    out._versions[0] += 1
    return out  # type: ignore[no-any-return]


def concat(tensors: Any, dim: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """`cat` under another name."""
    return cat(tensors, dim, out=out)


@parsed(out_first=True)
def stack(tensors: Any, dim: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """Tensors of one shape along a new dimension: laid out as `cat` along it and then split.

    Raises: size (RuntimeError), dimension, dtype. Source: facts 4.5, torch 2.13.
    """
    items = _sequence(tensors, "stack")
    if not items:
        raise LayoutError("size", "stack: expected a non-empty list of tensors (facts 4.5)")
    check_history(*items)
    items = [resolved(t) for t in items]
    shape = items[0]._layout.shape
    at = stacked_along(items, dim)
    if at < len(shape) and any(t is out for t in items):
        return _stack_over(out, items, at)
    if at < len(shape):
        result = cat(items, at)
        new = (*shape[:at], len(items), *shape[at:])
        result._layout = views.view(result._layout, new)
    else:
        result = cat([unsqueeze(t, at) for t in items], at)
    if out is not None:
        # Before the last dimension, an output of another shape is made row-major before it is known what is joined.
        return _cat_out(out, result, items, contiguous_strides(result._layout.shape), resized=at < len(shape))
    return result


def stacked_along(items: "list[Tensor]", dim: Any) -> int:
    """The new dimension along which tensors are stacked. Raises: dimension; size (RuntimeError) where shapes differ."""
    shape = items[0]._layout.shape
    at = wrap_dim(as_int(dim, "dim"), len(shape) + 1)
    for t in items:
        if t._layout.shape != shape:
            raise LayoutError("size", f"stack: shapes {shape} and {t._layout.shape} differ (facts 4.5)")
    return at


def _stack_over(out: Any, items: list["Tensor"], at: int) -> "Tensor":
    """`stack` into one of its inputs, which is resized first: what is joined is what the inputs have become then."""
    check_out(out, *items)
    shape = items[0]._layout.shape
    new = (*shape[:at], len(items), *shape[at:])
    resize_output(out, new)
    if not out.numel():
        out._versions[0] += 1
        return out  # type: ignore[no-any-return]
    if len(items) == 1:
        check_no_overlap(out, out)
    return cat([unsqueeze(t, at) for t in items], at, out=out)


def hstack(tensors: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`cat` of columns. Raises: as `cat`."""
    items = list(atleast_1d(*_filled(tensors, "hstack"))) if len(tensors) != 1 else [atleast_1d(tensors[0])]
    return cat(items, 0 if items and items[0].ndim == 1 else 1, out=out)


def vstack(tensors: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`cat` of rows. Raises: as `cat`."""
    items = list(atleast_2d(*_filled(tensors, "vstack"))) if len(tensors) != 1 else [atleast_2d(tensors[0])]
    return cat(items, 0, out=out)


def dstack(tensors: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`cat` in depth. Raises: as `cat`."""
    items = list(atleast_3d(*_filled(tensors, "dstack"))) if len(tensors) != 1 else [atleast_3d(tensors[0])]
    return cat(items, 2, out=out)


def column_stack(tensors: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """`hstack` with vectors as columns. Raises: as `cat`."""
    return hstack(
        [t if t.ndim > 1 else reshape_to(t, (t.numel(), 1)) for t in _sequence(tensors, "column_stack")], out=out
    )


def _tiled(input: "Tensor", counts: tuple[int, ...]) -> "Tensor":
    lead = len(counts) - input.ndim
    shape = tuple([n * c for n, c in zip((*[1] * lead, *input._layout.shape), counts, strict=True)])
    check_allocation(shape, input.dtype.itemsize)
    if 0 not in shape:
        check_copyable(input.dtype)
    check_read(input)
    result = fresh(shape, contiguous_strides(shape), input.dtype)
    if 0 not in shape:
        array(result)[...] = np.tile(values(input), counts)
        marks = shadow.marks_of(input)
        if marks is not None:
            shadow.stamp(result, np.tile(marks, counts))
    return recorded(result, input)


def repeat(self: "Tensor", *repeats: Any, **kwargs: Any) -> "Tensor":
    """A row-major copy repeated along dimensions. Raises: dimension, size. Source: facts 3.14 and 4.4, torch 2.13."""
    counts = as_ints(given_once("repeat", repeats, kwargs, "repeats"), "repeats")
    if len(counts) < self.ndim:
        raise LayoutError("dimension", f"repeat: {len(counts)} counts for {self.ndim} dimensions")
    return _tiled(self, counts)


def tile(input: "Tensor", *dims: Any, **kwargs: Any) -> "Tensor":
    """`repeat`, missing counts taken as 1. Raises: size. Source: facts 3.14, torch 2.13."""
    counts = as_ints(given_once("tile", dims, kwargs, "dims"), "dims")
    return _tiled(input, (*[1] * (input.ndim - len(counts)), *counts))


def repeat_interleave(
    input: "Tensor", repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> "Tensor":
    """Elements repeated in place along a dimension. Raises: size, dimension, dtype. Source: facts 4.4, torch 2.13."""
    source = input
    if dim is None:
        source = reshape_to(source, (-1,)) if source.numel() else reshape_to(source, (0,))
        dim = 0
    d = wrap_dim(as_int(dim, "dim"), source.ndim)
    if not source.ndim:
        raise LayoutIndexError("dimension", "repeat_interleave: the tensor has no dimensions")
    if isinstance(repeats, TensorBase):
        if repeats.dtype not in (dt.int64, dt.int32):
            raise UnsupportedError("dtype", f"repeat_interleave: repeats must be int32 or int64, got {repeats.dtype}")
        length = source._layout.shape[d]
        given = repeats._layout.shape
        if (given or (1,)) not in ((1,), (length,)):
            raise LayoutError("size", f"repeat_interleave: counts of shape {given} for a dimension of length {length}")
        each: Any = view_of(repeats, views.expand(repeats._layout, (length,)))  # type: ignore[arg-type]
        counts = values(each)
        # Looked at as numbers, and again as they are read: those that are row-major as they lie in memory, bits or not.
        read = array(each) if is_contiguous(*each._layout[:2]) else counts
        if counts.size and min(counts.min(), read.min()) < 0:
            raise LayoutError("size", "repeat_interleave: repeats must be non-negative")
        where = np.repeat(np.arange(length), counts)
        _check_output_size(where.size, output_size)
        # Bits are taken off before, and laid on what was made after.
        bits = [turn for turn, has in ((conj, source.is_conj()), (neg_view, source.is_neg())) if has]
        for turn in bits:
            source = turn(source)
        made = index_select(source, d, from_array(where.astype(np.int64), dt.int64))
        for turn in bits:
            made = turn(made)
        return made
    count = as_int(repeats, "repeats")
    if count < 0:
        raise LayoutError("size", "repeat_interleave: repeats must be non-negative")
    _check_output_size(count * source._layout.shape[d], output_size)
    wide = unsqueeze(source, d + 1) if source.ndim else unsqueeze(unsqueeze(source, 0), 1)
    shape = list(wide._layout.shape)
    shape[d + 1] = count

    return flatten(clone(expand(wide, shape), memory_format=contiguous_format), d, d + 1)


def torch_repeat_interleave(
    input: "Tensor | None" = None, repeats: Any = MISSING, dim: int | None = None, *, output_size: int | None = None
) -> "Tensor":
    """`repeat_interleave` under `torch`, where counts may stand alone: they repeat the numbers of their places.

    Raises: as `repeat_interleave`. Source: facts 4.4, torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> torch.repeat_interleave(torch.tensor([1, 0, 2])).tolist()
    [0, 2, 2]
    """
    if input is not None and repeats is not MISSING:
        return repeat_interleave(input, repeats, dim, output_size=output_size)
    if dim is not None:
        raise LayoutTypeError("argument", "repeat_interleave: counts alone have no dim")
    return _repeated_places(input if repeats is MISSING else repeats, output_size)


def _repeated_places(repeats: Any, output_size: int | None) -> "Tensor":
    if not isinstance(repeats, TensorBase):
        raise LayoutTypeError("argument", f"repeat_interleave: counts alone are a Tensor, got {type(repeats).__name__}")
    if (ndim := len(repeats._layout.shape)) != 1:
        raise LayoutError("dimension", f"repeat_interleave: counts must have one dimension, got {ndim}")
    places = from_array(np.arange(repeats._layout.shape[0]), dt.int64)
    return to(repeat_interleave(places, repeats, 0, output_size=output_size), repeats.dtype)


def _check_output_size(found: int, given: Any) -> None:
    if given is not None and found != as_int(given, "output_size"):
        raise LayoutError("size", f"repeat_interleave: output_size {given} for {found} elements")


def broadcast_shapes(*shapes: Any) -> Size:
    """Common shape of shapes, a number standing for one dimension. Raises: broadcast, argument. Source: facts 3.5."""
    given = [as_ints((s,), "shape") for s in shapes]
    if any(n < 0 for s in given for n in s):
        raise LayoutError("size", f"broadcast_shapes: a negative length in {given}")
    return Size(common_shape(*given))


def broadcast_tensors(*tensors: Any) -> tuple["Tensor", ...]:
    """Expanded views of a common shape. Raises: broadcast. Source: facts 3.5, torch 2.13."""
    items = _sequence(tensors, "broadcast_tensors")
    shape = common_shape(*[t._layout.shape for t in items])
    return tuple([t if t._layout.shape == shape else view_of(t, views.expand(t._layout, shape)) for t in items])


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple["Tensor", ...]:
    """Expanded views of vectors over their grid. Raises: dimension, argument. Source: facts 3.5, torch 2.13."""
    items = _sequence(_as_one(tensors), "meshgrid")
    if any(t.ndim > 1 for t in items):
        raise LayoutError("dimension", "meshgrid: vectors are needed")
    if indexing not in (None, "ij", "xy"):
        raise LayoutError("argument", f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    if len({t.dtype for t in items}) > 1:
        raise LayoutError("dtype", "meshgrid: the tensors differ in dtype")
    swap = indexing == "xy" and len(items) > 1
    if swap:
        items[0], items[1] = items[1], items[0]
    shape = tuple([t.numel() for t in items])
    grid = []
    for k, t in enumerate(items):
        line = views.view(t._layout, tuple([t.numel() if j == k else 1 for j in range(len(items))]))
        grid.append(view_of(t, views.expand(line, shape)))
    if swap:
        grid[0], grid[1] = grid[1], grid[0]
    return tuple(grid)


def diag(input: "Tensor", diagonal: int = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """A copy: the diagonal of a matrix, or a matrix with a diagonal. Raises: dimension. Source: facts 3.8."""
    if input.ndim == 1:
        return write_out(out, diag_embed(input, diagonal), input, exact=True, composed=True)
    if input.ndim != 2:
        raise LayoutError("dimension", f"diag: a vector or a matrix is needed, got {input.ndim} dimensions")
    line = view_diagonal(input, diagonal)
    return write_out(out, clone(line, memory_format=contiguous_format), input, exact=True, composed=True)


def diag_embed(input: "Tensor", offset: int = 0, dim1: int = -2, dim2: int = -1) -> "Tensor":
    """A row-major copy with the last dimension as a diagonal. Raises: dimension. Source: torch 2.13."""
    ndim = input.ndim + 1
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise LayoutError("dimension", "diag_embed: the dimensions are the same")
    if not input.ndim:
        raise LayoutIndexError("dimension", "diag_embed: a dimension is needed")
    side = input._layout.shape[-1] + abs(offset)
    rest = iter(input._layout.shape[:-1])
    shape = tuple([side if k in (a, b) else next(rest) for k in range(ndim)])
    check_allocation(shape, input.dtype.itemsize)
    result = from_array(np.zeros(shape, input.dtype.numpy), input.dtype)
    line = view_diagonal(result, offset, a, b)
    copy_elements(line, input)
    return recorded(result, input)


def trace(input: "Tensor") -> "Tensor":
    """Sum of the diagonal. Raises: dimension. Source: torch 2.13."""
    need_kernel("trace", input.dtype, "ifc")
    if input.ndim != 2:
        raise LayoutError("dimension", f"trace: a matrix is needed, got {input.ndim} dimensions")
    return reductions.sum(view_diagonal(input))
