"""Matrices and lists made of all pairs of something: kron, block_diag, cartesian_prod, combinations, diagflat."""

import itertools
from typing import TYPE_CHECKING

import numpy as np

from . import shadow
from .arithmetic import mul
from .conversion import cast
from .copies import contiguous
from .core import TensorBase, as_int, check_tensors, detached, from_array, recorded, requires_grad, values
from .errors import LayoutError, LayoutTypeError
from .joining import diag, meshgrid, stack
from .kept import keeps
from .out import resize_output
from .promotion import common_dtype
from .results import need_kernel
from .view_ops import reshape_to
from .views import view

if TYPE_CHECKING:
    from .tensors import Tensor


@keeps("input", "other")
def kron(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Every product of two tensors' elements, the second one's laid inside the first's. Raises: dtype."""
    rank = max(input.ndim, other.ndim)
    a = (1,) * (rank - input.ndim) + input._layout.shape
    b = (1,) * (rank - other.ndim) + other._layout.shape
    left = reshape_to(input, tuple([n for x in a for n in (x, 1)]))
    right = reshape_to(other, tuple([n for x in b for n in (1, x)]))
    shape = tuple([x * y for x, y in zip(a, b, strict=True)])
    if out is None:
        result = mul(left, right)
        # As PyTorch: a view of the product, which strides that interleave refuse.
        result._layout = view(result._layout, shape)
        return result
    resize_output(out, shape)
    # No view that is recorded: writes are not counted.
    part = detached(out, share_version=False)
    part._has_fn = requires_grad(out)
    part._layout = view(out._layout, tuple([n for pair in zip(a, b, strict=True) for n in pair]))
    mul(left, right, out=part)
    return out


def block_diag(*tensors: "Tensor") -> "Tensor":
    """Matrices along the diagonal of a row-major one, zeros elsewhere. Raises: dimension, argument, dtype."""
    for t in tensors:
        if not isinstance(t, TensorBase):
            raise LayoutTypeError("argument", f"block_diag: expected tensors, got {type(t).__name__}")
        if t.ndim > 2:
            raise LayoutError("dimension", f"block_diag: at most 2 dimensions are possible, got {t.ndim}")
    d = common_dtype(*tensors)
    parts = [values(t).reshape((1,) * (2 - t.ndim) + t._layout.shape) for t in tensors]
    rows, columns = sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts)
    result = np.zeros((rows, columns), d.numpy)
    marks = np.zeros((rows, columns), np.uint8)
    r = c = 0
    for t, p in zip(tensors, parts, strict=True):
        place = (slice(r, r + p.shape[0]), slice(c, c + p.shape[1]))
        result[place] = cast(p, t.dtype, d)
        known = shadow.marks_of(t)
        if known is not None:
            marks[place] = known.reshape(p.shape)
        r, c = r + p.shape[0], c + p.shape[1]
    made = from_array(result, d)
    shadow.stamp(made, marks if marks.any() else None)
    return recorded(made, *tensors)


def cartesian_prod(*tensors: "Tensor") -> "Tensor":
    """Every combination of vectors' elements as rows; one vector alone comes back itself. Raises: dimension, dtype."""
    check_tensors("cartesian_prod", *tensors)
    for t in tensors:
        if t.ndim != 1:
            raise LayoutError("dimension", f"cartesian_prod: vectors are needed, got {t.ndim} dimensions")
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape_to(g, (g.numel(),)) for g in meshgrid(*tensors)], 1)


def combinations(input: "Tensor", r: int = 2, with_replacement: bool = False) -> "Tensor":
    """Every choice of so many elements of a vector as rows. Raises: dimension, argument."""
    if input.ndim != 1:
        raise LayoutError("dimension", f"combinations: a vector is needed, got {input.ndim} dimensions")
    count = as_int(r, "r")
    if count < 0:
        raise LayoutError("argument", f"combinations: r {count} is negative")
    if count == 0:
        return from_array(np.zeros(0, input.dtype.numpy), input.dtype)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    need_kernel("combinations", input.dtype, "bifch8e")
    places = np.array(list(choose(range(input.numel()), count)), np.int64).reshape(-1, count)
    result = from_array(values(input)[places], input.dtype)
    marks = shadow.marks_of(input)
    if marks is not None:
        shadow.stamp(result, marks[places])
    return recorded(result, input)


def diagflat(input: "Tensor", offset: int = 0) -> "Tensor":
    """A row-major matrix with all elements on a diagonal. Source: torch 2.13."""
    return diag(reshape_to(contiguous(input), (input.numel(),)), offset)
