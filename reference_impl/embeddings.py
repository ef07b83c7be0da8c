"""embedding: rows of a table (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import (
    array,
    as_int,
    build,
    check_internal_overlap,
    check_tensors,
    fresh,
    from_array,
    recorded,
    records_history,
    values,
)  # fmt: skip
from .errors import LayoutError, LayoutIndexError
from .kept import keeps
from .layout import Layout, contiguous_strides
from .results import integers, narrow_to, wide

if TYPE_CHECKING:
    from .tensors import Tensor


def _padding_error(message: str) -> AssertionError:
    """PyTorch's `AssertionError`, with its normalised kind."""
    error = AssertionError(message)
    error.kind = "index"  # type: ignore[attr-defined]
    return error


@keeps("input", "weight", rule="0<1")
def embedding(
    input: "Tensor", weight: "Tensor", padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> "Tensor":  # fmt: skip
    """Rows of a table, row-major; with `max_norm` rows that are longer are first shortened in place.

    Shapes: (…) of int32 or int64 and (n, m) to (…, m).
    Raises: dtype, dimension, index (IndexError; AssertionError for the padding). Source: facts 4.4, torch 2.13.
    """
    check_tensors("embedding", input, weight)
    if padding_idx is not None:
        rows = weight._layout.shape[0] if weight.ndim else 0
        if not -rows <= as_int(padding_idx, "padding_idx") < max(rows, 1):
            raise _padding_error(f"embedding: the padding index {padding_idx} is outside {rows} rows")
    if max_norm is None and weight.ndim != 2:
        raise LayoutError("dimension", f"embedding: the table must be a matrix, got shape {weight._layout.shape}")
    if input.dtype not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"embedding: indices must be int32 or int64, got {input.dtype}")
    at = values(input)
    rows, width = weight._layout.shape
    if at.size and not (at.min() >= 0 and at.max() < rows):
        # Rows without elements go another way through PyTorch, with another error.
        outside = LayoutIndexError if width else LayoutError
        raise outside("index", f"embedding: indices from {at.min()} to {at.max()} for {rows} rows")
    if weight.dtype.is_complex and records_history(weight):
        raise LayoutError("grad", "embedding: complex tables have no gradient")
    if max_norm is not None:
        shorten_rows(weight.detach(), at, float(max_norm), float(norm_type))
    d = weight.dtype
    shape = (*at.shape, width)
    out = from_array(values(weight)[at].reshape(shape), d, contiguous_strides(shape))
    marks, unsure = shadow.marks_of(weight), shadow.marks_of(input)
    if unsure is not None:
        shadow.leave_unspecified(out)
    elif marks is not None:
        shadow.stamp(out, marks[at].reshape(shape))
    return recorded(out, weight)


def shorten_rows(weight: "Tensor", at: Any, limit: float, power: float) -> None:
    """Bring the rows that are looked up to at most a norm, in place, one after the other as they stand in the table.

    Raises: index (IndexError) once the rows before are shortened, overlap, dtype. Source: `embedding_renorm_`, 2.13.
    """
    if at.size and weight.dtype.category not in ("float", "complex"):
        raise LayoutError("dtype", f"embedding: rows of {weight.dtype} have no norm")
    shape, strides, offset = weight._layout
    for place in np.unique(at).tolist():
        if not -shape[0] <= place < shape[0]:
            raise LayoutIndexError("index", f"embedding: index {place} for {shape[0]} rows")
        layout = Layout(shape[1:], strides[1:], offset + place % shape[0] * strides[0])
        _shorten(build(weight._storage, layout, weight.dtype), limit, power)
    weight._versions[0] += 1


def _shorten(row: "Tensor", limit: float, power: float) -> None:
    elements = wide(row)
    with np.errstate(all="ignore"):
        norm = np.linalg.norm(elements, ord=power)
    if not norm > limit:
        return
    check_internal_overlap(row)
    marks = shadow.marks_of(row)
    array(row)[...] = narrow_to(elements * (limit / (norm + 1e-7)), row.dtype)
    shadow.stamp(row, shadow.TOLERANCE if marks is None else np.maximum(marks, np.uint8(shadow.TOLERANCE)))


def one_hot(input: "Tensor", num_classes: int = -1) -> "Tensor":
    """A 1 at each class in a new last dimension, row-major. Raises: dtype, size, index. Source: facts 4.4."""
    if input.dtype is not dt.int64:
        raise LayoutError("dtype", f"one_hot: int64 is needed, got {input.dtype}")
    a = values(input)
    if not a.size:
        if num_classes <= 0:
            raise LayoutError("size", "one_hot: an empty input does not say how many classes there are")
        shape = (*a.shape, num_classes)
        return fresh(shape, contiguous_strides(shape), dt.int64)
    if a.min() < 0:
        raise LayoutError("size", "one_hot: classes must not be negative")
    if num_classes != -1 and num_classes < 1:
        raise LayoutError("index", f"one_hot: num_classes must be positive, got {num_classes}")
    count = int(a.max()) + 1 if num_classes == -1 else num_classes
    if a.max() >= count:
        raise LayoutError("index", f"one_hot: class {a.max()} of {count}")
    result = integers(a[..., None] == np.arange(count), input)
    # Filled with zeros, then scattered into.
    result._versions[0] = 2
    return result
