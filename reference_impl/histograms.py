"""histogramdd: how many points lie in each box of a grid (facts 4.4).

Edges that are given come back as they are; those that PyTorch makes are lines (`linspace`), within a tolerance, so that
a point that close to one may be in either box. Source: aten/src/ATen/native/Histogram.cpp, 2.13.
"""

from math import isfinite, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import as_ints, check_tensors, is_tensor, recorded, values
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, UnsupportedError
from .ranges import linspace
from .results import finish, wide

if TYPE_CHECKING:
    from .tensors import Tensor

_NAME = "histogramdd"
_PRECISE = (dt.float32, dt.float64)


class HistogramDD(NamedTuple):
    """Points in each box, and the edges along each dimension."""

    hist: "Tensor"
    bin_edges: "tuple[Tensor, ...]"


def histogramdd(
    input: "Tensor", bins: Any, range: Any = None, weight: "Tensor | None" = None, density: bool = False
) -> HistogramDD:
    """Counts of points, or sums of their weights, in the boxes between edges; with `density` their mean density.

    Shapes: (…, n) and n numbers of bins (or one for all), or n vectors of edges, to (b1, …, bn), row-major.
    Raises: dimension (RuntimeError, IndexError), size, argument, dtype (RuntimeError, NotImplementedError).
    Source: facts 4.4, torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> points = torch.tensor([[0.0, 1.0], [1.0, 3.0], [2.0, 2.5]])
    >>> torch.histogramdd(points, (torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 2.0, 4.0]))).hist.tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    check_tensors(_NAME, input, *(() if weight is None else (weight,)))
    if not input.ndim:
        raise LayoutIndexError("dimension", f"{_NAME}: the tensor has no dimensions")
    given = _given(bins)
    counts = () if given is not None else as_ints((bins,), "bins")
    if input.ndim < 2:
        raise LayoutError("dimension", f"{_NAME}: at least 2 dimensions are needed, got {input._layout.shape}")
    edges = given if given is not None else _lines(input, _for_each(input, bins, counts), range, weight)
    _check(input, edges, weight)
    found, error = _counted(input, edges, weight, density)
    sources = (input, *(() if weight is None else (weight,)), *(given or ()))
    count = max(input.numel(), 1)
    hist = finish(
        found, input.dtype, *sources, magnitude=error, terms=count, roundings=count + len(edges), sums=not density
    )
    if given is None and (input.dtype not in _PRECISE or _is_close(input, edges)):
        shadow.leave_unspecified(hist)
    return HistogramDD(hist, edges)


def _given(bins: Any) -> "tuple[Tensor, ...] | None":
    """Edges, if that is what there is."""
    if is_tensor(bins) or (isinstance(bins, (tuple, list)) and any(is_tensor(b) for b in bins)):
        if is_tensor(bins) or not all(is_tensor(b) for b in bins):
            raise LayoutTypeError("argument", f"{_NAME}: bins must be numbers, or a list of edges for each dimension")
        return tuple(bins)
    return None


def _for_each(input: "Tensor", bins: Any, counts: tuple[int, ...]) -> tuple[int, ...]:
    return counts if isinstance(bins, (tuple, list)) else counts * input._layout.shape[-1]


def _lines(input: "Tensor", counts: tuple[int, ...], range: Any, weight: "Tensor | None") -> "tuple[Tensor, ...]":
    """Edges in even steps from the least to the greatest coordinate, or over a range."""
    n = input._layout.shape[-1]
    if input.dtype is dt.bool_ or input.dtype in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{_NAME}: PyTorch makes no edges of {input.dtype}")
    ends = _ends(input, n, range)
    for low, high in ends:
        if not (isfinite(low) and isfinite(high)):
            raise LayoutError("argument", f"{_NAME}: the range from {low} to {high} is not finite")
        if low > high:
            raise LayoutError("argument", f"{_NAME}: the range from {low} to {high} is backwards")
    if len(counts) != n:
        raise LayoutError("size", f"{_NAME}: {len(counts)} numbers of bins for {n} dimensions")
    edges = []
    for (low, high), count in zip(ends, counts, strict=True):
        widened = 0.5 if low == high else 0.0
        line = linspace(low - widened, high + widened, count + 1, dtype=input.dtype)
        edges.append(recorded(line, input) if weight is None else recorded(line, input, weight))
    return tuple(edges)


def _ends(input: "Tensor", n: int, range: Any) -> list[tuple[float, float]]:
    if range is not None:
        if not isinstance(range, (tuple, list)) or not all(isinstance(x, (int, float)) for x in range):
            raise LayoutTypeError("argument", f"{_NAME}: the range must be a list of numbers, got {range!r}")
        if len(range) != 2 * n:
            raise LayoutError("size", f"{_NAME}: a range of {len(range)} numbers for {n} dimensions")
        return [(float(low), float(high)) for low, high in zip(range[::2], range[1::2], strict=True)]
    if not input.numel():
        return [(0.0, 1.0)] * n
    _need_kernel(input, _PRECISE)
    points = wide(input).reshape(-1, n)
    with np.errstate(all="ignore"):
        return list(zip(points.min(0).tolist(), points.max(0).tolist(), strict=True))


def _need_kernel(input: "Tensor", dtypes: tuple[dt.dtype, ...]) -> None:
    if input.dtype not in dtypes:
        raise UnsupportedError("dtype", f"{_NAME}: PyTorch has no kernel for {input.dtype}")


def _check(input: "Tensor", edges: "tuple[Tensor, ...]", weight: "Tensor | None") -> None:
    shape = input._layout.shape
    if len(edges) != shape[-1]:
        raise LayoutError("size", f"{_NAME}: edges of {len(edges)} dimensions for {shape[-1]}")
    for line in edges:
        if line.dtype is not input.dtype:
            raise LayoutError("dtype", f"{_NAME}: edges of {line.dtype} for points of {input.dtype}")
        if line.ndim != 1 or not line.numel():
            raise LayoutError("dimension", f"{_NAME}: edges must be a vector, got shape {line._layout.shape}")
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise LayoutError("dtype", f"{_NAME}: weights of {weight.dtype} for points of {input.dtype}")
        if (weight._layout.shape or (1,)) != shape[:-1]:
            raise LayoutError("size", f"{_NAME}: weights {weight._layout.shape} for points {shape}")
    if any(line.numel() < 2 for line in edges):
        raise LayoutError("size", f"{_NAME}: there must be bins")
    _need_kernel(input, (*_PRECISE, dt.float16, dt.bfloat16))


def _counted(input: "Tensor", edges: "tuple[Tensor, ...]", weight: "Tensor | None", density: bool) -> tuple[Any, Any]:
    """What is in each box, and the absolute values that it is summed up of."""
    lines = [wide(line) for line in edges]
    shape = tuple([len(line) - 1 for line in lines])
    points = wide(input).reshape(prod(input._layout.shape[:-1]), len(lines))
    weights = np.ones(len(points)) if weight is None else wide(weight).reshape(-1)
    inside, places = np.ones(len(points), bool), []
    for line, column in zip(lines, points.T, strict=True):
        inside &= (column >= line[0]) & (column <= line[-1])
        # The last box has both of its edges.
        places.append(np.minimum(np.searchsorted(line, column, "right") - 1, len(line) - 2))
    found, magnitude = np.zeros(shape), np.zeros(shape)
    at = tuple([place[inside] for place in places])
    with np.errstate(all="ignore"):
        if lines:
            np.add.at(found, at, weights[inside])
            np.add.at(magnitude, at, np.where(np.isfinite(weights), np.abs(weights), 0)[inside])
        if density:
            total = found.sum()
            # Of a sum of all weights whose terms cancel nothing is known.
            magnitude = (magnitude + np.abs(found) * (magnitude.sum() / abs(total))) / abs(total)
            found = found / total
            for d, line in enumerate(lines):
                lengths = np.diff(line).reshape(-1, *[1] * (len(lines) - 1 - d))
                found, magnitude = found / lengths, magnitude / np.abs(lengths)
    return found, magnitude


def _is_close(input: "Tensor", edges: "tuple[Tensor, ...]") -> bool:
    """Whether a coordinate is as near to an edge between two bins as the edge may be off."""
    points = values(input).astype(np.float64).reshape(prod(input._layout.shape[:-1]), len(edges))
    for line, column in zip(edges, points.T, strict=True):
        inner = values(line).astype(np.float64)
        reach = np.abs(inner).max() * np.finfo(input.dtype.numpy).eps * 8
        if (np.abs(column[:, None] - inner[None, 1:-1]) <= reach).any():
            return True
    return False
