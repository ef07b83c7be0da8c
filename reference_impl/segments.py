"""segment_reduce: sums, means, products, maxima or minima of stretches of a dimension.

Source: aten/src/ATen/native/SegmentReduce.cpp, 2.13.
"""

from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import as_int, check_tensors, values
from .errors import LayoutError, LayoutTypeError, UnspecifiedError, UnsupportedError
from .kept import keeps
from .layout import contiguous_strides, wrap_dim
from .results import finish, wide

if TYPE_CHECKING:
    from .tensors import Tensor

_NAME = "segment_reduce"
_STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -inf, "amax": -inf, "min": inf, "amin": inf}
_FLOATS = (dt.float16, dt.bfloat16, dt.float32, dt.float64)


@keeps("data", "lengths", "offsets", rule="1<0 2<0")
def segment_reduce(
    data: "Tensor", reduce: str, *, lengths: "Tensor | None" = None, indices: "Tensor | None" = None,
    offsets: "Tensor | None" = None, axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> "Tensor":  # fmt: skip
    """One number for each stretch of a dimension, whose lengths are given, or their offsets and the end; row-major.

    Raises: dimension (IndexError, RuntimeError), argument, size, dtype (NotImplementedError). Source: torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "max", lengths=torch.tensor([2, 1])).tolist()
    [2.0, 3.0]
    """
    check_tensors(_NAME, data, *(t for t in (lengths, indices, offsets) if t is not None))
    if initial is not None and not isinstance(initial, (int, float)):
        raise LayoutTypeError("argument", f"{_NAME}: initial must be a number, got {type(initial).__name__}")
    d = wrap_dim(as_int(axis, "axis"), data.ndim)
    given = offsets if lengths is None else lengths
    if reduce not in _STARTS or indices is not None or given is None:
        raise LayoutError("argument", f"{_NAME}: lengths or offsets and one of {', '.join(_STARTS)} are needed")
    if given.ndim > data.ndim or d != given.ndim - 1:
        raise LayoutError("dimension", f"{_NAME}: {given.ndim} dimensions of stretches for dimension {d}")
    length = data._layout.shape[d] if data.ndim else 1
    told = values(given)
    if lengths is not None and not unsafe and (not told.size or told.min() < 0 or (told.sum(-1) != length).any()):
        raise LayoutError("size", f"{_NAME}: lengths {told.tolist()} for {length}")
    if lengths is None and not told.shape[-1]:
        raise LayoutError("size", f"{_NAME}: there are no offsets")
    if data.dtype not in _FLOATS or given.dtype not in (dt.int32, dt.int64):
        raise UnsupportedError("dtype", f"{_NAME}: PyTorch has no kernel for {data.dtype} and {given.dtype}")
    edges = told
    if lengths is not None:
        edges = np.concatenate([np.zeros_like(told[..., :1]), np.cumsum(told, -1)], -1) if told.shape[-1] else told
    if (np.diff(edges) < 0).any():
        raise LayoutError("size", f"{_NAME}: stretches {told.tolist()} of negative length")
    outside = told.shape[:-1] != data._layout.shape[:d] or (edges.size and (edges.min() < 0 or edges.max() > length))
    if outside:
        raise UnspecifiedError(f"{_NAME}: PyTorch looks at memory that is not the tensor's")
    result = _reduced(data, reduce, edges, told.shape[-1] - (lengths is None), initial)
    shape, strides = data._layout.shape, data._layout.strides
    # PyTorch steps by the stride of the dimension, which may be any where it has one index.
    astray = data.is_contiguous() and strides[d] != contiguous_strides(shape)[d]
    return shadow.leave_unspecified(result) if astray or shadow.marks_of(given) is not None else result


def _reduced(data: "Tensor", reduce: str, edges: Any, count: int, initial: Any) -> "Tensor":
    """One number for each stretch between edges (…, count + 1)."""
    a = wide(data)
    d = edges.ndim - 1
    kind = reduce.removeprefix("a")
    start = _STARTS[reduce] if initial is None else float(data.dtype.numpy.type(initial))
    shape = (*a.shape[:d], count, *a.shape[d + 1 :])
    found, magnitude = np.full(shape, start), np.full(shape, abs(start) if np.isfinite(start) else 0.0)
    with np.errstate(all="ignore"):
        for at in np.ndindex(shape[: d + 1]):
            low, high = edges[at[:-1]][at[-1] : at[-1] + 2]
            part = a[at[:-1]][low:high]
            sizes = np.where(np.isfinite(part), np.abs(part), 0).sum(0)
            if kind in ("sum", "mean"):
                by = max(len(part), 1) if kind == "mean" else 1
                found[at], magnitude[at] = (start + part.sum(0)) / by, (magnitude[at] + sizes) / by
            elif kind == "prod":
                found[at] = start * part.prod(0)
                magnitude[at] = np.abs(found[at]) * (1 + len(part))
            else:
                pick = np.maximum if kind == "max" else np.minimum
                found[at] = pick(start, pick.reduce(part, 0, initial=start)) if len(part) else start
            if kind == "mean" and not len(part) and initial is None:
                found[at] = nan
    longest = max(int(np.diff(edges).max(initial=0)), 1)
    return finish(
        found, data.dtype, data, magnitude=magnitude, terms=longest + 1, roundings=longest + 1, sums=kind == "sum",
        exact=kind in ("max", "min"),
    )  # fmt: skip
