"""Operators that look elements up or count them: unique, searchsorted, histograms, one_hot, isin."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import TensorBase, as_int, fresh, from_array, values
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, UnsupportedError
from .lapack import write_outs
from .layout import contiguous_strides, wrap_dim
from .out import check_new, write_out
from .parsing import parsed
from .pointwise import check_operands
from .promotion import common_dtype
from .results import finish, integers, need_kernel
from .views import view

if TYPE_CHECKING:
    from .tensors import Tensor


def _plain(t: Any) -> Any:
    a = values(t)
    return a if a.dtype.kind in "iufbc" else a.astype(np.float32)


def unique(
    input: "Tensor", sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The different elements or slices in order, where each element went, and how often each is there.

    Shapes: slices stay at their dimension, whose stride is then the largest.
    Raises: dimension, dtype. Source: facts 4.4, torch 2.13.
    """
    return _unique("unique", input, return_inverse, return_counts, dim)


def unique_consecutive(
    input: "Tensor", return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """`unique` of neighbours only, in the order given. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _unique("unique_consecutive", input, return_inverse, return_counts, dim)


def _unique(name: str, input: "Tensor", with_inverse: bool, with_counts: bool, dim: Any) -> Any:
    a = _plain(input)
    if dim is None:
        need_kernel(name, input.dtype, "biuf")
        places, inverse, counts = _groups(a.reshape(-1, 1), name == "unique")
        found = finish(values(input).reshape(-1)[places], input.dtype, input, exact=True)
        inverse = inverse.reshape(() if name != "unique" and not a.size and not a.ndim else a.shape)
    else:
        d = wrap_dim(as_int(dim, "dim"), a.ndim)
        if not a.ndim:
            raise LayoutIndexError("dimension", f"{name}: the tensor has no dimensions")
        if not a.size and (a.shape[d] or sum(n == 0 for n in a.shape) > 1):
            raise LayoutError("size", f"{name}: shape {a.shape} has lengths of 0 besides dimension {d}")
        need_kernel(name, input.dtype, "biuf")
        rows = np.moveaxis(a, d, 0)
        rows = rows.reshape(a.shape[d], rows[:1].size if a.size else 0)
        places, inverse, counts = _groups(rows, name == "unique")
        chosen = np.take(values(input), places, d)
        moved = contiguous_strides((chosen.shape[d], *[n for k, n in enumerate(chosen.shape) if k != d]))
        strides = [*moved[1:]]
        strides.insert(d, moved[0])
        if not chosen.size:
            strides = [*contiguous_strides(chosen.shape)]
        found = finish(chosen, input.dtype, input, strides=tuple(strides), exact=True)
    results = [found]
    if with_inverse:
        results.append(integers(inverse, input))
    if with_counts:
        results.append(integers(counts, input))
    consecutive = name != "unique"
    if a.size and (consecutive or dim is not None):
        # Filled as long as the input, and shortened without giving memory back.
        spare = a.size if dim is None else a.shape[d]
        flat = dim is None or (consecutive and a.ndim == 1 and dim == 0)
        for t in (*([found] if flat else []), *(results[-1:] if with_counts else [])):
            t._storage.resize_(max(spare * t.dtype.itemsize, len(t._storage._bytes)))
    if a.dtype.kind == "f" and np.isnan(a).any():
        for t in results:
            shadow.leave_unspecified(t)
    return results[0] if len(results) == 1 else tuple(results)


def _groups(rows: Any, everywhere: bool) -> tuple[Any, Any, Any]:
    """Places of the different rows, the group of each row, and the size of each group."""
    count = len(rows)
    if not count:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing
    order = np.lexsort(rows.T[::-1]) if everywhere else np.arange(count)
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    group = np.cumsum(new) - 1
    inverse = np.empty(count, np.int64)
    inverse[order] = group
    return order[new], inverse, np.bincount(group)


def searchsorted(
    sorted_sequence: "Tensor", input: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
    sorter: "Tensor | None" = None, out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Where values would be put into ordered rows, row-major. Raises: dimension, dtype, argument. Source: facts 4.4."""
    return _search("searchsorted", sorted_sequence, input, out_int32, right, side, sorter, out)


def bucketize(
    input: Any, boundaries: "Tensor", *, out_int32: bool = False, right: bool = False, out: "Tensor | None" = None
) -> "Tensor":
    """Between which boundaries values are, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if boundaries.ndim != 1:
        raise LayoutError("dimension", f"bucketize: the boundaries must be a vector, got {boundaries.ndim} dimensions")
    return _search("bucketize", boundaries, input, out_int32, right, None, None, out)


def _check_search(name: str, rows: "Tensor", input: Any, right: bool, side: Any, sorter: Any) -> None:
    if side not in (None, "left", "right"):
        raise LayoutError("argument", f"{name}: side must be 'left' or 'right', got {side!r}")
    if side == "left" and right:
        raise LayoutError("argument", f"{name}: side and right contradict each other")
    if sorter is not None:
        if sorter._layout.shape != rows._layout.shape:
            raise LayoutError("size", f"{name}: the sorter must have the rows' shape, got {sorter._layout.shape}")
        if sorter.dtype is not dt.int64:
            raise LayoutError("dtype", f"{name}: the sorter must be int64, got {sorter.dtype}")
        where = values(sorter)
        if where.size and (where.min() < 0 or where.max() >= rows._layout.shape[-1]):
            raise LayoutError("index", f"{name}: the sorter is out of range")
    shape = input._layout.shape if isinstance(input, TensorBase) else ()
    if (not shape or not isinstance(input, TensorBase)) and rows.ndim != 1 and rows.ndim:
        raise LayoutError("dimension", f"{name}: a number needs a vector to be put into, got {rows.ndim} dimensions")
    if not rows.ndim:
        raise LayoutError("dimension", f"{name}: the boundaries have no dimensions")
    if rows.ndim != 1 and (rows.ndim != len(shape) or rows._layout.shape[:-1] != shape[:-1]):
        raise LayoutError("size", f"{name}: rows of {rows._layout.shape} for values of {shape}")


def _search(
    name: str, rows: "Tensor", input: Any, short: bool, right: bool, side: Any, sorter: Any, out: Any
) -> "Tensor":
    check_operands(name, (input,))
    _check_search(name, rows, input, right, side, sorter)
    d = dt.int32 if short else dt.int64
    if out is not None and out.dtype is not d:
        raise LayoutError("dtype", f"{name}: out must have the dtype {d}, got {out.dtype}")
    if not isinstance(input, TensorBase) or 0 not in input._layout.shape:
        if isinstance(input, TensorBase):
            common_dtype(rows, input)
        need_kernel(name, rows.dtype, "if")
    if isinstance(input, complex) or (
        isinstance(input, TensorBase) and input.dtype.is_complex and 0 not in input._layout.shape
    ):
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {rows.dtype}")
    a = _plain(rows)
    if sorter is not None:
        a = np.take_along_axis(a, values(sorter), -1)
    sought = _plain(input) if isinstance(input, TensorBase) else np.asarray(input)
    which: Any = "right" if right or side == "right" else "left"
    if a.ndim == 1:
        found = np.searchsorted(a, sought, which)
    else:
        found = np.zeros(sought.shape, np.int64)
        for k in np.ndindex(*a.shape[:-1]):
            found[k] = np.searchsorted(a[k], sought[k], which)
    result = integers(found, rows, d)
    tainted = [t for t in (input, sorter) if isinstance(t, TensorBase) and shadow.marks_of(t) is not None]
    ordered = not a.size or bool((np.diff(a, axis=-1) >= 0).all())
    if tainted or not ordered:
        # What a binary search finds in what is not ordered depends on its steps.
        shadow.leave_unspecified(result)
    result._has_fn = False
    return write_out(out, result)


def isin(
    elements: Any = None, test_elements: Any = None, *, element: Any = None, test_element: Any = None,
    assume_unique: bool = False, invert: bool = False,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Whether elements are among others, row-major. Raises: dtype, argument. Source: torch 2.13."""
    # A number has a name of its own.
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    if elements is None or test_elements is None:
        raise LayoutTypeError("argument", "isin: two operands are needed")
    check_operands("isin", (elements, test_elements))
    if not isinstance(elements, TensorBase) and not isinstance(test_elements, TensorBase):
        raise LayoutTypeError("argument", "isin: one of the operands must be a Tensor")
    for t in (elements, test_elements):
        kind = dt.group_of(t.dtype) if isinstance(t, TensorBase) else "b" if isinstance(t, bool) else ""
        if kind in ("b", "c"):
            raise LayoutError("dtype", "isin: bools and complex numbers are refused")
    sought = _plain(elements) if isinstance(elements, TensorBase) else np.asarray(elements)
    among = _plain(test_elements) if isinstance(test_elements, TensorBase) else np.asarray(test_elements)
    is_few = among.size < 10 * sought.size**0.145
    if sought.size and isinstance(test_elements, TensorBase):
        for t in (elements, test_elements):
            if isinstance(t, TensorBase):
                need_kernel("isin", t.dtype, "if" if is_few else "ifu")
    if isinstance(test_elements, TensorBase) and is_few:
        # Few are compared one by one, as a flat view of them.
        view(test_elements._layout, (among.size,))
    found = np.isin(sought, among, invert=invert)
    tensors = [t for t in (elements, test_elements) if isinstance(t, TensorBase)]
    return write_out(out, finish(found, dt.bool_, *tensors), exact=True)


@parsed(given_only="bins min max")
def histc(input: "Tensor", bins: int = 100, min: Any = 0, max: Any = 0, *, out: "Tensor | None" = None) -> "Tensor":
    """Counts of elements in bins of one width. Raises: argument, dtype. Source: facts 4.4, torch 2.13."""
    if as_int(bins, "bins") <= 0:
        raise LayoutError("argument", f"histc: bins must be positive, got {bins}")
    check_new(out, None, input.dtype, (bins,))
    if input.dtype.category != "float" or input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"histc: PyTorch has no kernel for {input.dtype}")
    a = _plain(input).astype(np.float64).reshape(-1)
    low, high = float(min), float(max)
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise LayoutError("argument", f"histc: the range [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise LayoutError("argument", f"histc: max {high} is below min {low}")
    inside = a[(a >= low) & (a <= high)]
    counts = np.histogram(inside, bins, (low, high))[0]
    result = finish(counts.astype(np.float64), input.dtype, exact=True)
    if a.size:
        # On which side of an edge an element falls depends on how the edge was rounded.
        shadow.leave_unspecified(result)
    return write_out(out, result, exact=True)


def bincount(input: "Tensor", weights: "Tensor | None" = None, minlength: int = 0) -> "Tensor":
    """How often each number is there. Raises: argument, dimension, dtype. Source: torch 2.13."""
    if minlength < 0:
        raise LayoutError("argument", f"bincount: minlength must not be negative, got {minlength}")
    need_kernel("bincount", input.dtype, "i")
    a = values(input)
    if a.ndim == 1 and not a.size:
        return from_array(np.zeros(minlength, np.int64), dt.int64)
    if a.ndim != 1 or a.min() < 0:
        raise LayoutError("dimension", "bincount: a vector of numbers that are not negative is needed")
    if weights is None:
        return integers(np.bincount(a.astype(np.int64), minlength=minlength), input)
    if weights._layout.shape != input._layout.shape:
        raise LayoutError("size", "bincount: weights must have the input's length")
    d = dt.float32 if weights.dtype is dt.float32 else dt.float64
    by = _plain(weights).astype(np.float64)
    return finish(np.bincount(a.astype(np.int64), by, minlength), d, input, weights)


def histogram(
    input: "Tensor", bins: Any = 100, *, range: Any = None, weight: "Tensor | None" = None, density: bool = False,
    out: Any = None,
) -> Any:  # fmt: skip
    """Counts of elements in bins, and the edges; no values. Raises: dtype, argument. Source: torch 2.13."""
    # The ends of what is there are looked for in single and double precision only.
    short = isinstance(bins, TensorBase) or range is not None
    if input.dtype not in (dt.float32, dt.float64) and not (short and input.dtype in (dt.float16, dt.bfloat16)):
        raise UnsupportedError("dtype", f"histogram: PyTorch has no kernel for {input.dtype}")
    if isinstance(bins, TensorBase):
        if len(bins._layout.shape) != 1:
            raise LayoutError("dimension", "histogram: the edges must be a vector")
        if bins.dtype is not input.dtype:
            raise LayoutError("dtype", "histogram: the edges must have the input's dtype")
        if bins._layout.shape[0] == 0:
            raise LayoutError("size", "histogram: there are no edges")
        count = bins._layout.shape[0] - 1
    else:
        count = as_int(bins, "bins")
        if count <= 0:
            raise LayoutError("argument", f"histogram: bins must be positive, got {count}")
    if weight is not None:
        if weight._layout.shape != input._layout.shape:
            raise LayoutError("size", "histogram: weight must have the input's shape")
        if weight.dtype is not input.dtype:
            raise LayoutError("dtype", "histogram: weight must have the input's dtype")
    if range is not None and range[1] < range[0]:
        raise LayoutError("argument", f"histogram: the range {range} is backwards")
    results = [fresh((n,), (1,), input.dtype) for n in (count, count + 1)]
    for t in results:
        shadow.leave_unspecified(t)
    return write_outs(out, tuple(results), names="hist bin_edges")
