"""Distances: between rows of matrices, each with each, and between two tensors."""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, norms, shadow, view_ops
from . import dtypes as dt
from .errors import LayoutError, LayoutValueError, UnsupportedError
from .kept import keeps
from .output_layout import broadcast_shapes
from .parsing import parsed
from .results import finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@parsed(given_only="p")
@keeps("x1", "x2")
def cdist(
    x1: "Tensor", x2: "Tensor", p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> "Tensor":
    """Distances between all pairs of rows, row-major; a view where many Euclidean ones are made from products.

    Raises: dimension, size, dtype, argument, broadcast. Source: facts 4.4, torch 2.13.
    """
    if compute_mode not in _MODES:
        raise LayoutValueError("argument", f"cdist: compute_mode {compute_mode!r} is none of {_MODES}")
    for t in (x1, x2):
        if t.ndim < 2:
            raise LayoutError("dimension", f"cdist: at least 2 dimensions are needed, got {t.ndim}")
    a, b = x1._layout.shape, x2._layout.shape
    if a[-1] != b[-1]:
        raise LayoutError("size", f"cdist: rows of {a[-1]} and {b[-1]}")
    for t in (x1, x2):
        if t.dtype.category != "float":
            raise LayoutError("dtype", f"cdist: floating point is needed, got {t.dtype}")
    if p < 0:
        raise LayoutError("argument", f"cdist: p must not be negative, got {p}")
    shape = (*broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-2])
    by_product = p == 2 and (compute_mode == _MODES[1] or (compute_mode == _MODES[0] and (a[-2] > 25 or b[-2] > 25)))
    filled = prod(shape) and a[-1]
    if filled and not by_product and x1.dtype is not x2.dtype:
        raise LayoutError("dtype", f"cdist: {x1.dtype} and {x2.dtype}")
    if filled and not by_product and x1.dtype in (dt.float16, dt.bfloat16):
        raise UnsupportedError("dtype", f"cdist: PyTorch has no kernel for {x1.dtype}")
    if filled:
        need_kernel("cdist", x1.dtype, "f")
    result = finish(np.zeros(shape), x1.dtype, x1, x2)
    if filled:
        shadow.leave_unspecified(result)
    if filled and by_product:
        return view_ops.view(result, shape)
    return result


def pdist(input: "Tensor", p: float = 2) -> "Tensor":
    """Distances between all pairs of rows of a matrix, once each. Raises: dimension, dtype, argument."""
    if input.ndim != 2:
        raise LayoutError("dimension", f"pdist: a matrix is needed, got {input.ndim} dimensions")
    if input.dtype.category != "float":
        raise LayoutError("dtype", f"pdist: floating point is needed, got {input.dtype}")
    if p < 0:
        raise LayoutError("argument", f"pdist: p must not be negative, got {p}")
    n, m = input._layout.shape
    if n > 1 and m and input.dtype in (dt.float16, dt.bfloat16):
        raise UnsupportedError("dtype", f"pdist: PyTorch has no kernel for {input.dtype}")
    return shadow.leave_unspecified(finish(np.zeros(n * (n - 1) // 2 if n else 0), input.dtype, input))


@keeps("input", "other")
def dist(input: "Tensor", other: "Tensor", p: Any = 2) -> "Tensor":
    """Norm of the difference of two tensors. Raises: dtype, broadcast. Source: facts 4.4, torch 2.13."""
    return norms.torch_norm(arithmetic.sub(input, other), p)
