"""View decisions for arrays of layouts at once: is there a view of this shape, and with which strides?

The rule is that of `reference_impl.views.view_strides`, which stays the one that says it in words; this one is for
enumerating millions of layouts.
"""

import numpy as np
import numpy.typing as npt

from . import objects
from .engine import CALL

Ints = npt.NDArray[np.int64]


def view_decisions(shapes: Ints, strides: Ints, ndims: Ints, targets: Ints, target_ndims: Ints) -> tuple[Ints, Ints]:
    """For each layout and requested shape whether a view exists, and its strides.

    Shapes: `shapes` and `strides` are (n, r), one layout a row, of which the first `ndims[i]` entries count; `targets`
    is (n, t), without -1. The answer is an (n,) array of 1 (a view exists), 0 (none does) and -1 (the numbers of
    elements differ), and an (n, t) array of strides, 0 where there is no view.
    Units: strides in elements. Raises: ValueError where the arrays do not fit together.
    Source: facts 3.1.4, torch 2.13.

    >>> shapes, strides = np.array([[4, 6], [3, 2]]), np.array([[6, 1], [1, 3]])
    >>> twos = np.array([2, 2])
    >>> found, result = view_decisions(shapes, strides, twos, np.array([[2, 12], [6, 1]]), twos)
    >>> found.tolist(), result[0].tolist()
    ([1, 0], [12, 1])
    """
    arrays = [np.ascontiguousarray(a, np.int64) for a in (shapes, strides, ndims, targets, target_ndims)]
    shapes, strides, ndims, targets, target_ndims = arrays
    n = len(shapes)
    if shapes.ndim != 2 or shapes.shape != strides.shape or targets.ndim != 2 or len(targets) != n:
        raise ValueError(
            f"view_decisions: shapes {shapes.shape}, strides {strides.shape}, targets {targets.shape}: "
            "should be (n, r), (n, r) and (n, t)"
        )
    for name, counts, most in (("ndims", ndims, shapes.shape[1]), ("target_ndims", target_ndims, targets.shape[1])):
        if counts.shape != (n,) or (n and not 0 <= counts.min() <= counts.max() <= most):
            raise ValueError(f"view_decisions: {name} of shape {counts.shape}: should be ({n},), from 0 to {most}")
    found, result = np.zeros(n, np.int64), np.zeros(targets.shape, np.int64)
    decide(shapes, strides, ndims, targets, target_ndims, found, result)
    return found, result


def decide(
    shapes: Ints, strides: Ints, ndims: Ints, targets: Ints, target_ndims: Ints, found: Ints, result: Ints
) -> None:
    """Write the answers of `view_decisions`, of arguments that fit together and are contiguous."""
    rank, target_rank = shapes.shape[1], targets.shape[1]
    arrays = shapes, strides, ndims, targets, target_ndims, found, result
    told = np.array([*(a.ctypes.data for a in arrays), rank, target_rank], np.int64)
    chunks = np.empty((rank + 1, 2), np.int64)
    CALL(objects.kernel("decisions"))(told.ctypes.data, chunks.ctypes.data, 0, 0, len(shapes))
