"""embedding_bag: sums, means or maxima of rows of a table, and what its gradient would need (facts 4.4).

PyTorch has two ways through a table. The fast one takes each bag from its offset to the next; the other notes for each
row which bag it goes into, and gives the last bag all that follows its offset. It shows in which results are there,
and in where a bag ends that is not the last (`include_last_offset`).
Source: aten/src/ATen/native/EmbeddingBag.cpp, 2.13.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import array, as_int, build, check_tensors, is_tensor, values
from .core import requires_grad as wants_grad
from .embeddings import shorten_rows
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, LayoutValueError, UnspecifiedError, UnsupportedError
from .kept import keeps
from .layout import Layout, Shape, contiguous_strides
from .promotion import promote_types
from .ranges import arange
from .results import finish, wide
from .storage import UntypedStorage
from .view_ops import reshape

if TYPE_CHECKING:
    from .tensors import Tensor

_SUM, _MEAN, _MAX = 0, 1, 2
_MODES = {"sum": _SUM, "mean": _MEAN, "max": _MAX}
_FLOATS = (dt.float16, dt.bfloat16, dt.float32, dt.float64)


class _Bags(NamedTuple):
    """Rows that are looked up, and which bags they go into."""

    rows: Any
    offsets: Any
    bags: int
    """How many bags there are."""
    fast: bool
    bag_of: Any
    """Number of the bag that each row goes into; below zero before the first."""


def torch_embedding_bag(
    weight: "Tensor", indices: "Tensor", offsets: "Tensor", scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: "Tensor | None" = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> "tuple[Tensor, Tensor, Tensor, Tensor]":  # fmt: skip
    """Sums (mode 0), means (1) or maxima (2) of bags of rows of a table, row-major, and what a gradient would need.

    That is the bag of each row, the sizes of the bags and the rows that were largest.
    Shapes: (n, m), (k) and (b) to (b, m), (k), (b) and (b, m); what a mode does not need is zeros, or empty.
    Raises: dimension, dtype, size, index. Source: facts 4.4, torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> table, rows = torch.tensor([[1.0, 5.0], [2.0, 4.0]]), torch.tensor([0, 1, 1])
    >>> [x.tolist() for x in torch.embedding_bag(table, rows, torch.tensor([0, 2]), mode=2)]
    [[[2.0, 5.0], [2.0, 4.0]], [0, 0, 1], [2, 1], [[1, 0], [1, 1]]]
    """
    check_tensors("embedding_bag", weight, indices, offsets)
    padding, kept = _padding(weight, padding_idx), wants_grad(weight)
    return _looked_up(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding, kept=kept)


def embedding_bag_of(
    weight: "Tensor", indices: "Tensor", offsets: "Tensor", scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: "Tensor | None" = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> "tuple[Tensor, Tensor, Tensor, Tensor]":  # fmt: skip
    """`torch._embedding_bag`: the row that is left out may be any number; below zero none is. Raises: as the above."""
    check_tensors("_embedding_bag", weight, indices, offsets)
    padding = as_int(padding_idx, "padding_idx")
    return _looked_up(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding, kept=True)


def _looked_up(
    weight: "Tensor", indices: "Tensor", offsets: "Tensor", mode: int, per_sample_weights: "Tensor | None",
    include_last_offset: bool, padding: int, *, kept: bool,
) -> "tuple[Tensor, Tensor, Tensor, Tensor]":  # fmt: skip
    """The bags, and what a gradient would need, `kept` as for one that is wanted."""
    index_type = _check(weight, indices, offsets, mode, per_sample_weights, include_last_offset)
    bags = _bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding)
    output, largest = _computed(weight, bags, mode, per_sample_weights, padding)
    results = (output, *_notes(weight, bags, mode, index_type, padding, largest, kept=kept))
    if shadow.marks_of(indices) is not None or shadow.marks_of(offsets) is not None:
        for t in results:
            shadow.leave_unspecified(t)
    return results


def _padding(weight: "Tensor", padding_idx: Any) -> int:
    if padding_idx is None:
        return -1
    if not weight.ndim:
        raise LayoutIndexError("dimension", "embedding_bag: the table has no dimensions")
    rows, padding = weight._layout.shape[0], as_int(padding_idx, "padding_idx")
    if not -rows <= padding < rows:
        raise LayoutError("index", f"embedding_bag: the padding index {padding} is outside {rows} rows")
    return padding % rows


def _check(
    weight: "Tensor", indices: "Tensor", offsets: "Tensor", mode: int, factors: "Tensor | None", last: bool
) -> dt.dtype:
    """Refuse what PyTorch refuses; the common dtype of indices and offsets."""
    name = "embedding_bag"
    if weight.ndim != 2:
        raise LayoutError("dimension", f"{name}: the table must be a matrix, got shape {weight._layout.shape}")
    if indices.ndim not in (1, 2) or (indices.ndim == 1 and offsets.ndim != 1):
        raise LayoutError(
            "dimension", f"{name}: indices {indices._layout.shape} and offsets {offsets._layout.shape} must be vectors"
        )
    common = promote_types(indices.dtype, offsets.dtype)
    if common not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"{name}: indices and offsets must be int32 or int64, got {common}")
    if weight.dtype not in _FLOATS:
        raise LayoutError("dtype", f"{name}: PyTorch has no kernel for {weight.dtype}")
    length, starts = indices._layout.shape[0], values(offsets).reshape(-1)
    if starts.size and (starts[0] != 0 or starts[-1] > length):
        raise LayoutError("index", f"{name}: offsets from {starts[0]} to {starts[-1]} for {length} indices")
    if factors is not None:
        check_tensors(name, factors)
        if mode != _SUM:
            raise LayoutError("argument", f"{name}: only sums are weighted")
        if factors.dtype is not weight.dtype:
            raise LayoutError("dtype", f"{name}: a table of {weight.dtype} and weights of {factors.dtype}")
        if factors.ndim != 1 or factors.numel() != indices.numel():
            raise LayoutError("size", f"{name}: weights {factors._layout.shape} for {indices._layout.shape} indices")
    if last and not starts.size:
        raise LayoutError("size", f"{name}: there is no last offset")
    if mode not in (_SUM, _MEAN, _MAX) or offsets.ndim != 1 or indices.numel() != length:
        raise UnspecifiedError(f"{name}: PyTorch takes this for what it is not")
    return common


def _bags(
    weight: "Tensor", indices: "Tensor", offsets: "Tensor", mode: int, factors: "Tensor | None", last: bool,
    padding: int,
) -> _Bags:  # fmt: skip
    """Which rows go where. Raises: index (IndexError for offsets, RuntimeError for indices)."""
    rows, starts = values(indices).reshape(-1).astype(np.int64), values(offsets).astype(np.int64)
    unit = weight._layout.strides[1] == 1 and (factors is None or factors._layout.strides[0] == 1)
    # A result's own strides are 1 in the last dimension, of whatever length.
    fast = weight.dtype is not dt.float64 and unit and padding < 0
    count = len(starts) - bool(last)
    used = starts[:count]
    if not (fast and mode == _SUM) and ((used < 0) | (used > len(rows))).any():
        raise LayoutIndexError("index", f"embedding_bag: offsets {used} for {len(rows)} indices")
    bag_of = np.zeros(len(rows) + 1, np.int64)
    np.add.at(bag_of, np.clip(used, 0, len(rows)), 1)
    bag_of[0] -= 1
    bags = _Bags(rows, starts, count, fast and mode != _MAX, np.cumsum(bag_of)[:-1])
    _check_rows(weight, bags, last)
    return bags


def _check_rows(weight: "Tensor", bags: _Bags, last: bool) -> None:
    height, width = weight._layout.shape
    looked_up = bags.rows
    if bags.fast:
        ends = bags.offsets if last else np.append(bags.offsets, len(bags.rows))
        if (np.diff(ends) < 0).any():
            # Mostly refused, though not by every kernel that PyTorch compiles for such bags.
            raise UnspecifiedError(f"embedding_bag: offsets {bags.offsets} do not rise")
        looked_up = looked_up[: ends[-1]] if bags.bags else looked_up[:0]
        if not width and len(looked_up):
            raise UnspecifiedError("embedding_bag: rows without elements may be refused or not")
    if ((looked_up < 0) | (looked_up >= height)).any():
        raise LayoutError("index", f"embedding_bag: indices {looked_up} for {height} rows")
    if not bags.fast and (bags.bag_of < 0).any():
        raise UnspecifiedError("embedding_bag: rows before the first bag go into memory that is not the result's")


def _computed(weight: "Tensor", bags: _Bags, mode: int, factors: "Tensor | None", padding: int) -> "tuple[Tensor, Any]":
    """The bags, and for maxima the row that each element is from."""
    table, width = wide(weight), weight._layout.shape[1]
    bag_of, rows = bags.bag_of, bags.rows
    if bags.fast:
        # A last offset ends the last bag; before the first bag there is nothing.
        end = bags.offsets[-1] if len(bags.offsets) > bags.bags else len(rows)
        within = (np.arange(len(rows)) < end) & (bag_of >= 0)
    else:
        within = rows != padding
    places, into = np.flatnonzero(within), bag_of[within]
    shape = (bags.bags, width)
    if mode == _MAX:
        return _largest(weight, table, rows[places], into, shape)
    taken = table[rows[places]]
    if factors is not None:
        taken = taken * wide(factors)[places, None]
    found, magnitude = np.zeros(shape), np.zeros(shape)
    with np.errstate(all="ignore"):
        np.add.at(found, into, taken)
        np.add.at(magnitude, into, np.where(np.isfinite(taken), np.abs(taken), 0))
        sizes = np.maximum(_sizes(bags, rows == padding), 1)[:, None]
        found, magnitude = (found / sizes, magnitude / sizes) if mode == _MEAN else (found, magnitude)
    longest = int(np.bincount(into).max()) if len(into) else 1
    inputs = (weight,) if factors is None else (weight, factors)
    # Sums are rounded before they are divided.
    output = finish(
        found, weight.dtype, *inputs, magnitude=magnitude, terms=longest, roundings=mode == _MEAN, sums=mode == _SUM
    )
    return output, None


def _largest(weight: "Tensor", table: Any, rows: Any, into: Any, shape: Shape) -> "tuple[Tensor, Any]":
    found, at = np.zeros(shape), np.zeros(shape, np.int64)
    begun: set[int] = set()
    for row, bag in zip(rows.tolist(), into.tolist(), strict=True):
        # As PyTorch compares: a NaN stays where it came first, and is passed over later.
        better = table[row] > found[bag] if bag in begun else np.ones(shape[1], bool)
        found[bag][better], at[bag][better] = table[row][better], row
        begun.add(bag)
    return finish(found, weight.dtype, weight, exact=True), at


def _sizes(bags: _Bags, padded: Any) -> Any:
    """Sizes of the bags by their offsets, the last one up to the end, without what the slow way leaves out."""
    sizes = np.diff(np.append(bags.offsets[: bags.bags], len(bags.rows)))
    if not bags.fast:
        np.subtract.at(sizes, bags.bag_of[padded], 1)
    return sizes


def _notes(
    weight: "Tensor", bags: _Bags, mode: int, index_type: dt.dtype, padding: int, largest: Any, *, kept: bool
) -> "tuple[Tensor, Tensor, Tensor]":
    """What a gradient would need, in the memory that it was first made in."""
    given, length, item = len(bags.offsets), len(bags.rows), index_type.itemsize
    noted = not (bags.fast and mode == _SUM)
    offset2bag = _vector(bags.bag_of if noted else bags.bag_of[:0], index_type, (length + 1) * item if noted else 0)
    # A sum without gradients keeps a place for the last offset, too.
    counted = bags.bags if mode != _SUM or kept else given
    sizes = np.zeros(counted, np.int64) if mode == _SUM else _sizes(bags, bags.rows == padding)
    bag_size = _vector(sizes, index_type, given * item)
    held = counted * item
    if mode == _MAX:
        max_indices = _vector(largest, index_type, max(held, largest.size * item))
        marks = shadow.marks_of(weight)
        if marks is not None:
            shadow.leave_unspecified(max_indices)
    else:
        max_indices = _vector(sizes, index_type, held)
    return offset2bag, bag_size, max_indices


def _vector(found: Any, d: dt.dtype, nbytes: int) -> "Tensor":
    """Numbers at the start of so much memory."""
    t = build(UntypedStorage._allocate(nbytes), Layout(found.shape, contiguous_strides(found.shape), 0), d)
    t._storage._shadow = shadow.all_unspecified(nbytes)
    array(t)[...] = found
    shadow.stamp(t, None)
    return t


@keeps("input", "weight", "offsets", "per_sample_weights", rule="0<1,3 1<3 2<1,3 3<1")
def embedding_bag(
    input: "Tensor", weight: "Tensor", offsets: "Tensor | None" = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: "Tensor | None" = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> "Tensor":  # fmt: skip
    """Sums, means or maxima of bags of rows of a table, row-major; with `max_norm` long rows are first shortened.

    Shapes: (b, k), or (k) and offsets (b), and (n, m) to (b, m).
    Raises: dimension, argument, size (ValueError), dtype (NotImplementedError), and as `torch.embedding_bag`.
    Source: facts 4.4, torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> table = torch.tensor([[1.0, 5.0], [2.0, 4.0]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1]]), table, mode="sum").tolist()
    [[3.0, 9.0]]
    """
    check_tensors("embedding_bag", input, weight, *(x for x in (offsets, per_sample_weights) if x is not None))
    if weight.dtype is dt.int64 and input.dtype.is_floating_point:
        input, weight = weight, input
    if per_sample_weights is not None and input._layout.shape != per_sample_weights._layout.shape:
        shapes = f"{per_sample_weights._layout.shape} for indices {input._layout.shape}"
        raise LayoutValueError("size", f"embedding_bag: weights {shapes}")
    if weight.ndim != 2:
        raise LayoutValueError("dimension", f"embedding_bag: the table must be a matrix, got {weight._layout.shape}")
    if input.ndim == 2:
        if offsets is not None:
            raise LayoutValueError("argument", "embedding_bag: bags of equal length have no offsets")
        if input.dtype is dt.bool_:
            raise UnsupportedError("dtype", "embedding_bag: PyTorch has no kernel for offsets of bool")
        offsets = arange(0, input.numel(), input._layout.shape[1], dtype=input.dtype)
        include_last_offset = False
        input = reshape(input, (-1,))
        per_sample_weights = None if per_sample_weights is None else reshape(per_sample_weights, (-1,))
    elif input.ndim != 1:
        raise LayoutValueError("dimension", f"embedding_bag: indices {input._layout.shape} are neither 1-d nor 2-d")
    elif offsets is None or offsets.ndim != 1:
        raise LayoutValueError("argument", "embedding_bag: offsets must be a vector")
    if mode not in _MODES:
        raise LayoutValueError("argument", f"embedding_bag: mode must be 'sum', 'mean' or 'max', got {mode!r}")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise LayoutValueError("argument", "embedding_bag: maxima scale no gradients, and have no sparse ones")
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise UnsupportedError("argument", "embedding_bag: only sums are weighted")
    return torch_embedding_bag(
        weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights, include_last_offset,
        padding_idx,
    )[0]  # fmt: skip


def _renorm(weight: "Tensor", input: "Tensor", max_norm: Any, norm_type: Any) -> None:
    for number in (max_norm, norm_type):
        if not isinstance(number, (int, float)) and not is_tensor(number):
            raise LayoutTypeError("argument", f"embedding_bag: a norm must be a number, got {type(number).__name__}")
    if input.dtype not in (dt.int64, dt.int32):
        raise LayoutError("dtype", f"embedding_bag: indices must be int32 or int64, got {input.dtype}")
    shorten_rows(weight.detach(), values(input), float(max_norm), float(norm_type))
