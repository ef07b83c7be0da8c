"""Determinants, powers and products of matrices: what `torch.linalg` neither factorises nor solves."""

# ruff: noqa: N803 - PyTorch's own names
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, linear_algebra, pointwise_ops, products, reductions, shadow, slicing_ops, view_ops
from . import dtypes as dt
from .constructors import empty_like, eye, ones
from .copies import clone, copy_
from .core import TensorBase, as_int, check_tensors, recorded
from .dtype_view import conj
from .errors import LayoutError, LayoutIndexError
from .formats import contiguous_format, preserve_format
from .joining import cat
from .kept import keeps
from .lapack import (
    check_dtype,
    check_matrices,
    lapack_result,
    tried,
    wide_values,
    write_outs,
    zeros_of,
)
from .out import resize_output, write_out
from .output_layout import broadcast_shapes
from .pointwise import check_operands
from .results import need_kernel
from .scans import cumprod, flip
from .solving import inv

if TYPE_CHECKING:
    from .tensors import Tensor


def det(A: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Determinant. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_matrices("det", A, square=True)
    (found,) = tried(np.linalg.det, wide_values(A), shapes=(A._layout.shape[:-2],))
    return write_outs(out, (lapack_result(np.asarray(found), A.dtype, A, columns=False),), A)[0]  # type: ignore[no-any-return]


def old_det(input: "Tensor") -> "Tensor":
    """`torch.det`: the determinant. Raises: as `det`. Source: torch 2.13."""
    return det(input)


def slogdet(A: "Tensor", *, out: Any = None) -> Any:
    """Sign and logarithm of the determinant. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_matrices("slogdet", A, square=True, early="precise")
    shape = A._layout.shape[:-2]
    s, v = tried(lambda a: tuple(np.linalg.slogdet(a)), wide_values(A), shapes=(shape, shape))
    return write_outs(out, (lapack_result(np.asarray(s), A.dtype, A, columns=False),
                      lapack_result(np.asarray(v).real, A.dtype.to_real(), A, columns=False)), A,
                      names="sign logabsdet")  # fmt: skip


def old_slogdet(input: "Tensor", *, out: Any = None) -> Any:
    """`torch.slogdet`: sign and logarithm of the determinant. Raises: as `slogdet`. Source: torch 2.13."""
    return slogdet(input, out=out)


def logdet(input: "Tensor") -> "Tensor":
    """Logarithm of the determinant. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_matrices("logdet", input, square=True, early="precise")
    return lapack_result(np.zeros(input._layout.shape[:-2]), input.dtype, input, columns=False)


def matrix_power(input: "Tensor", n: int, *, out: "Tensor | None" = None) -> "Tensor":
    """Products of a matrix with itself. Raises: dimension, size, dtype. Source: torch 2.13."""
    if input.ndim < 2:
        raise LayoutError("dimension", f"matrix_power: at least 2 dimensions are needed, got {input.ndim}")
    if input._layout.shape[-1] != input._layout.shape[-2]:
        raise LayoutError("size", f"matrix_power: square matrices are needed, got shape {input._layout.shape}")
    n = as_int(n, "n")
    if n < 0:
        return inv(input, out=out) if n == -1 else matrix_power(inv(input), -n, out=out)
    if n == 0:
        result = clone(input, memory_format=contiguous_format)
        result = _identity(result)
    elif n == 1:
        result = clone(input, memory_format=contiguous_format)
    elif n == 2:
        result = products.matmul(input, input)
    elif n == 3:
        result = products.matmul(products.matmul(input, input), input)
    else:
        z, result_or_none = input, None
        while n > 0:
            bit, n = n % 2, n // 2
            if bit:
                result_or_none = z if result_or_none is None else products.matmul(result_or_none, z)
            if n > 0:
                z = products.matmul(z, z)
        assert result_or_none is not None
        result = result_or_none
    return write_out(out, result, input)


def _identity(t: "Tensor") -> "Tensor":
    t._has_fn = False
    return copy_(t, view_ops.expand_as(eye(t._layout.shape[-1], dtype=t.dtype), t))


def matrix_exp(input: "Tensor") -> "Tensor":
    """Exponential of matrices, row-major; of single numbers `exp`, and of empty ones, laid out as the input.

    Raises: dimension, size, dtype; view where the stack cannot be seen as one of a single dimension.
    Source: torch 2.13.
    """
    check_matrices("matrix_exp", input, square=True, kernel="never")
    if not input.numel():
        format = contiguous_format if input._layout.shape[-1] else preserve_format
        return recorded(empty_like(input, memory_format=format), input)
    if input._layout.shape[-1] == 1:
        return pointwise_ops.exp(input)  # type: ignore[no-any-return]
    need_kernel("matrix_exp", input.dtype, "fc")
    view_ops.view(input, (-1, *input._layout.shape[-2:]))
    return lapack_result(np.zeros(input._layout.shape), input.dtype, input, columns=False)


@keeps("x", "y")
def vecdot(x: "Tensor", y: "Tensor", *, dim: int = -1, out: "Tensor | None" = None) -> "Tensor":
    """Products of vectors along a dimension, the first conjugated. Raises: dimension, broadcast, dtype."""
    check_dtype("vecdot", x, kernel="never")
    if out is not None and out.dtype is not x.dtype:
        raise LayoutError("dtype", f"vecdot: out must have the dtype {x.dtype}, got {out.dtype}")

    if x.ndim == y.ndim == 1:
        need_kernel("vecdot", x.dtype, "ifc")
        dim = -1  # of two vectors there is one product, whichever dimension is asked for
    return reductions.sum(arithmetic.mul(conj(x), y), dim, out=out)


def _cheapest(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Where the chain of matrices from one to another is cut in two; the first place of equally cheap ones.

    Of three, PyTorch multiplies the first two first where that is no dearer.
    """
    count = len(lengths) - 1
    cost = {(i, i): 0 for i in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            places = range(i, j) if count > 3 else range(j - 1, i - 1, -1)
            price = {k: cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1] for k in places}
            cuts[i, j] = min(price, key=price.__getitem__)
            cost[i, j] = price[cuts[i, j]]
    return cuts


def _chained(items: list["Tensor"], cuts: dict[tuple[int, int], int]) -> "Tensor":
    def product(i: int, j: int) -> "Tensor":
        if i == j:
            return items[i]
        return linear_algebra.mm(product(i, cuts[i, j]), product(cuts[i, j] + 1, j))

    return product(0, len(items) - 1)


def multi_dot(tensors: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """Product of several matrices in the cheapest order. Raises: dimension, size, dtype. Source: torch 2.13."""
    items = list(tensors)
    check_tensors("multi_dot", *items)
    if len(items) < 2:
        raise LayoutError("argument", f"multi_dot: at least two matrices are needed, got {len(items)}")
    first, last = items[0], items[-1]
    for t in (first, last):
        if t.ndim not in (1, 2):
            raise LayoutError("dimension", f"multi_dot: vectors and matrices are needed at the ends, got {t.ndim}")
    for t in items[1:-1]:
        if t.ndim != 2:
            raise LayoutError("dimension", f"multi_dot: matrices are needed inside, got {t.ndim} dimensions")
    shape = (*first._layout.shape[:-1], *last._layout.shape[1:])
    if first.ndim == 1:
        items[0] = view_ops.unsqueeze(first, 0)
    if last.ndim == 1:
        items[-1] = view_ops.unsqueeze(last, -1)
    for a, b in pairwise(items):
        if a.dtype is not b.dtype:
            raise LayoutError("dtype", f"multi_dot: {a.dtype} and {b.dtype}")
        if a._layout.shape[-1] != b._layout.shape[0]:
            raise LayoutError("size", f"multi_dot: {a._layout.shape} and {b._layout.shape} cannot be multiplied")
    result = _chained(items, _cheapest([t._layout.shape[0] for t in items] + [items[-1]._layout.shape[1]]))
    if result.numel() and result.dtype.category in ("float", "complex"):
        shadow.leave_unspecified(result)
    return write_out(out, view_ops.view(result, shape), *tensors)


def vander(x: "Tensor", N: Any = None) -> "Tensor":
    """Powers of elements in a new last dimension. Raises: dimension, dtype, argument. Source: torch 2.13."""
    if not x.ndim:
        x = view_ops.unsqueeze(x, -1)
    if x.dtype not in (dt.float32, dt.float64, dt.complex64, dt.complex128) and dt.group_of(x.dtype) not in "iu":
        raise LayoutError("dtype", f"vander: {x.dtype} is refused")
    n = x._layout.shape[-1] if N is None else as_int(N, "N")
    if n <= 1:
        raise LayoutError("argument", f"vander: N must be above 1, got {n}")

    wide = view_ops.expand(view_ops.unsqueeze(x, -1), (*x._layout.shape, n - 1))
    powers = cumprod(wide, -1)
    one = ones((*x._layout.shape, 1), dtype=powers.dtype)
    return cat([one, powers], -1)


def diagonal(A: "Tensor", *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> "Tensor":
    """A view of the diagonals of matrices. Raises: dimension. Source: torch 2.13."""
    return slicing_ops.diagonal(A, offset, dim1, dim2)


def matmul(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`torch.matmul`. Raises: as `torch.matmul`."""
    return products.matmul(input, other, out=out)


def matrix_rank(input: "Tensor", tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
                out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """Numbers of singular values above a tolerance. Raises: dimension, dtype. Source: torch 2.13."""
    if input.ndim < 2:
        raise LayoutError("dimension", f"matrix_rank: at least 2 dimensions are needed, got {input.ndim}")
    batch = input._layout.shape[:-2]
    if isinstance(out, TensorBase):
        resize_output(out, batch)
        if input.ndim < 2:  # the output is the input
            raise LayoutIndexError("dimension", f"matrix_rank: the output has left {input._layout.shape}")
    check_matrices("matrix_rank", input, square=hermitian and input.numel() > 0, early="precise")
    for t in (tol, atol, rtol):
        if t is not None:
            check_operands("matrix_rank", (t,))
        if isinstance(t, TensorBase):
            if t.dtype.is_complex:
                raise LayoutError("dtype", "matrix_rank: complex tolerances are refused")
            if input.numel():
                batch = broadcast_shapes(batch, t._layout.shape)
    result = zeros_of(batch, dt.int64)
    if result.numel() and input.numel():
        shadow.leave_unspecified(result)
    result._versions[0] = 1
    return write_out(out, result)


def old_vander(x: "Tensor", N: Any = None, increasing: bool = False) -> "Tensor":
    """Powers of a vector's elements as columns, the largest first unless told. Raises: dimension, argument."""
    if x.ndim != 1:
        raise LayoutError("dimension", f"vander: a vector is needed, got {x.ndim} dimensions")
    count = x._layout.shape[0] if N is None else as_int(N, "N")
    if count < 0:
        raise LayoutError("argument", f"vander: N must not be negative, got {count}")
    if dt.group_of(x.dtype) not in "bifch":
        raise LayoutError("dtype", f"vander: {x.dtype} is not promoted with int64")
    wide = x.to(dt.int64) if x.dtype.category in ("bool", "int") else x
    one = view_ops.unsqueeze(wide.new_ones(x._layout.shape), -1)
    if count > 1:
        columns = view_ops.expand(view_ops.unsqueeze(wide, -1), (*x._layout.shape, count - 1))
        one = cat([one, cumprod(columns, -1)], -1)
    result = slicing_ops.narrow(one, -1, 0, count) if count < 1 else one
    if not increasing:
        return flip(result, 1)
    result = clone(result, memory_format=contiguous_format)
    # Filled with ones, copied into, and multiplied up.
    result._versions[0] = 3 if count > 1 else min(count, 1)
    return result
