"""View decisions for arrays of layouts at once: is there a view of this shape, and with which strides?

The rule is that of `reference_impl.views.view_strides`, which stays the one that says it in words; this one is for
enumerating millions of layouts.
"""

import numpy as np
import numpy.typing as npt

from .jit import compiled

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


@compiled
def decide(
    shapes: Ints, strides: Ints, ndims: Ints, targets: Ints, target_ndims: Ints, found: Ints, result: Ints
) -> None:
    """The kernel of `view_decisions`: writes `found` and `result`, which are zero before."""
    chunks = np.empty((2, shapes.shape[1] + 1), np.int64)
    for i in range(len(shapes)):
        ndim, target_ndim = ndims[i], target_ndims[i]
        numel = wanted = 1
        for d in range(ndim):
            numel *= shapes[i, d]
        for d in range(target_ndim):
            wanted *= targets[i, d]
        if numel != wanted:
            found[i] = -1
        elif ndim == 0:
            for d in range(target_ndim):
                result[i, d] = 1
            found[i] = 1
        elif numel == 0:
            _empty(i, shapes, strides, ndim, targets, target_ndim, result)
            found[i] = 1
        else:
            _chunks(i, shapes, strides, ndim, chunks)
            found[i] = _placed(i, chunks, targets, target_ndim, result)


@compiled
def _empty(i: int, shapes: Ints, strides: Ints, ndim: int, targets: Ints, target_ndim: int, result: Ints) -> None:
    same = ndim == target_ndim
    for d in range(target_ndim):
        same = same and shapes[i, d] == targets[i, d]
    step = 1
    for d in range(target_ndim - 1, -1, -1):
        result[i, d] = strides[i, d] if same else step
        step *= max(targets[i, d], 1)


# Which dimensions merge is random to the processor, and a branch that it guesses wrong costs as much as ten of these
# lines: so nothing below branches on it, and each length is asked once whatever the last one was.


@compiled
def _chunks(i: int, shapes: Ints, strides: Ints, ndim: int, chunks: Ints) -> None:
    """Dimensions that lie as one, innermost first: the stride and the number of elements of each such chunk."""
    base, block, chunk = strides[i, ndim - 1], shapes[i, ndim - 1], 0
    chunks[0, 0], chunks[1, 0] = base, block
    for d in range(ndim - 2, -1, -1):
        length, stride = shapes[i, d], strides[i, d]
        merges = (length == 1) | (stride == block * base)
        chunk += 1 - merges
        base = base if merges else stride
        block = block * length if merges else length
        chunks[0, chunk], chunks[1, chunk] = base, block
    chunks[1, chunk + 1] = np.iinfo(np.int64).max  # never full: a shape that does not fit stays here


@compiled
def _placed(i: int, chunks: Ints, targets: Ints, target_ndim: int, result: Ints) -> int:
    """1 and the strides where each chunk is filled exactly by some of the target's lengths; else 0 and zeros."""
    chunk, taken, fits = 0, 1, True
    for d in range(target_ndim - 1, -1, -1):
        length = targets[i, d]
        # Only the first chunk can hold one element: lengths of 1 merge. So no chunk is ever passed over.
        turns = (taken >= chunks[1, chunk]) & (length != 1)
        fits &= (taken == chunks[1, chunk]) | (not turns)
        chunk += turns
        taken = 1 if turns else taken
        result[i, d] = taken * chunks[0, chunk]
        taken *= length
    fits &= taken == chunks[1, chunk]
    for d in range(target_ndim):
        result[i, d] *= fits
    return int(fits)
