"""Least squares, equations between tensors, condition numbers, and factors of low rank: composed of what LAPACK solves.

Solutions are column-major as LAPACK leaves them, with as many rows in memory as it worked in (facts 4.4).
"""

# ruff: noqa: N803 - PyTorch's own names

from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import (
    arithmetic,
    division,
    dtypes,
    factorizations,
    pointwise_ops,
    randomness,
    shadow,
    slicing_ops,
    special_functions,
    view_ops,
)
from .constructors import zeros
from .copies import clone, fill_
from .core import TensorBase, as_dims, check_tensors, values
from .errors import LayoutError, LayoutValueError, UnspecifiedError, fatal
from .index_ops import masked_fill_
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
from .layout import Layout
from .linear_algebra import need_rank
from .matrices import multi_dot
from .norms import matrix_norm
from .out import write_out
from .output_layout import broadcast_shapes
from .products import matmul
from .reductions import mean
from .solving import inv, inv_ex, solve
from .view_copies import adjoint

if TYPE_CHECKING:
    from .tensors import Tensor

_RANDOM = frozenset((dtypes.float16, dtypes.float32, dtypes.float64))
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@keeps("input", "b")
def lstsq(input: "Tensor", b: "Tensor", rcond: Any = None, *, driver: str | None = None, out: Any = None) -> Any:
    """The X that brings `input X` nearest to b, in memory that holds as many rows as input has rows or columns.

    Residuals, rank and singular values are empty where the driver does not compute them.

    Shapes: (…, m, n) and (…, m, k) to (…, n, k); or vectors (…, m) to (…, n).
    Raises: dimension, size, broadcast, dtype, argument. Source: torch 2.13.
    """
    for t, least in ((input, 2), (b, 1)):
        if t.ndim < least:
            raise LayoutError("dimension", f"lstsq: at least {least} dimensions are needed, got {t._layout.shape}")
    if input.dtype is not b.dtype:
        raise LayoutError("dtype", f"lstsq: {input.dtype} and {b.dtype}")
    left, right = input._layout.shape, b._layout.shape
    if not 0 <= len(left) - len(right) <= 1:
        raise LayoutError("dimension", f"lstsq: {left} and {right} are neither matrices nor matrices and vectors")
    vectors = right == left[:-1]
    batch = broadcast_shapes(left[:-2], right[: len(left) - 2])
    if not vectors and (len(right) < 2 or right[-2] != left[-2]):
        raise LayoutError("size", f"lstsq: {left} and {right} differ in rows")
    check_dtype("lstsq", input, early="precise")
    if driver is not None and driver not in _DRIVERS:
        raise LayoutError("argument", f"lstsq: driver must be one of {_DRIVERS}, got {driver!r}")
    chosen = driver or "gelsy"
    m, n = left[-2:]
    k = 1 if vectors else right[-1]
    if not k and m and n and chosen in ("gelsd", "gelss"):
        raise fatal(LayoutError("size", f"lstsq: {chosen} is given a right side without columns"))
    if chosen == "gels":
        _refuse_deficient(input)
    d, real = input.dtype, input.dtype.to_real()
    solution = lapack_result(np.zeros((*batch, max(m, n), k)), d, input, b)
    shape, strides = (*batch, n, k), solution._layout.strides
    solution._layout = Layout(shape[:-1], strides[:-1], 0) if vectors else Layout(shape, strides, 0)
    full = chosen == "gels" or (chosen != "gelsy" and _is_full_rank(input, rcond))
    residuals = lapack_result(np.zeros((*batch, k) if m > n and full else (0,)), real, input, b, columns=False)
    rank = shadow.leave_unspecified(zeros_of((0,) if chosen == "gels" else left[:-2], dtypes.int64))
    values_shape = (*left[:-2], min(m, n)) if chosen in ("gelsd", "gelss") else (0,)
    singular_values = shadow.leave_unspecified(zeros_of(values_shape, real))
    names = "solution residuals rank singular_values"
    if out is not None and out[3].dtype is not real:
        raise LayoutError("dtype", f"lstsq: singular values of {real} are needed, got {out[3].dtype}")
    return write_outs(out, (solution, residuals, rank, singular_values), input, b, names=names, copies=True)


def _refuse_deficient(A: "Tensor") -> None:
    """Refuse matrices of less than full rank, if a pivot comes out as zero; LAPACK does not look at those of zeros.

    Raises: UnspecifiedError.
    """
    a = wide_values(A)
    (singular,) = tried(lambda x: np.linalg.svd(x, compute_uv=False), a, shapes=((*a.shape[:-2], min(a.shape[-2:])),))
    large = singular.real.max(-1, initial=0)
    limit = large * max(a.shape[-2:]) * np.finfo(A.dtype.to_real().numpy).eps
    if ((large > 0) & (singular.real.min(-1, initial=np.inf) <= limit)).any():
        raise UnspecifiedError("lstsq: the matrix is not of full rank, which gels may find or not")


def _is_full_rank(A: "Tensor", rcond: Any) -> bool:
    m, n = A._layout.shape[-2:]
    limit = values(rcond).item() if isinstance(rcond, TensorBase) else rcond
    limit = np.finfo(A.dtype.to_real().numpy).eps * max(m, n) if limit is None else limit
    singular = tried(lambda a: np.linalg.svd(a, compute_uv=False), wide_values(A), shapes=((*A._layout.shape[:-2], n),))
    large = singular[0].real
    return bool((large > limit * large.max(-1, keepdims=True, initial=0)).all())


def tensorinv(input: "Tensor", ind: int = 2, *, out: "Tensor | None" = None) -> "Tensor":
    """Inverse of a tensor as a map from its last dimensions to the first `ind`: a view of a column-major matrix.

    Raises: argument, dimension, size, and as `linalg.inv`. Source: torch 2.13.
    """
    shape = input._layout.shape
    if ind <= 0 or ind > len(shape):
        raise LayoutError("argument", f"tensorinv: ind must be in [1, {len(shape)}], got {ind}")
    first, last = shape[:ind], shape[ind:]
    if prod(first) != prod(last):
        raise LayoutError("size", f"tensorinv: {first} and {last} differ in elements")
    matrix = view_ops.reshape(input, (prod(last), prod(last)))
    result = view_ops.reshape(inv(matrix), (*last, *first))
    return write_outs(out, (result,), input, row_major=True)[0]  # type: ignore[no-any-return]


def tensorsolve(input: "Tensor", other: "Tensor", dims: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """The X with `tensordot(input, X, X.ndim) = other`. Raises: dimension, size, as `solve`. Source: torch 2.13."""
    moved = input
    if dims is not None:
        source = as_dims(dims, "dims")
        moved = view_ops.movedim(input, source, tuple(range(input.ndim - len(source), input.ndim)))
    left, shape = moved._layout.shape[: other.ndim], moved._layout.shape[other.ndim :]
    if other.ndim > input.ndim or prod(shape) != other.numel() or prod(left) != prod(shape):
        raise LayoutError("size", f"tensorsolve: {input._layout.shape} and {other._layout.shape} do not fit")
    matrix = view_ops.reshape(moved, (prod(shape), prod(shape)))
    result = view_ops.reshape(solve(matrix, view_ops.flatten(other)), shape)
    return write_outs(out, (result,), input, other)[0]  # type: ignore[no-any-return]


def cond(input: "Tensor", p: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Condition numbers: the norm of a matrix times that of its inverse; zero of nothing.

    Raises: dimension, size (where not square and `p` is no 2), argument, dtype. Source: torch 2.13.
    """
    spectral = p is None or p in (2, -2)
    if not isinstance(p, str) and input.ndim < 2:
        raise LayoutError("dimension", f"cond: at least 2 dimensions are needed, got shape {input._layout.shape}")
    if isinstance(p, str):
        check_matrices("cond", input, square=True, early="nothing", kernel="never")
    if not spectral and p not in ("fro", "nuc", 1, -1, inf, -inf):
        raise LayoutError("argument", f"cond: there is no norm {p!r}")
    if not input.numel():
        d = input.dtype.to_real()
        return write_outs(out, (fill_(zeros(input._layout.shape[:-2], dtype=d), 0),), input)[0]  # type: ignore[no-any-return]
    if spectral:
        found = factorizations.svdvals(input)
        ends = (slicing_ops.narrow(found, -1, k, 1) for k in ((-1, 0) if p == -2 else (0, -1)))
        result = view_ops.squeeze(division.div(*ends), -1)
    else:
        result = _cond_of_square(input, p)
    return write_outs(out, (shadow.leave_unspecified(result),), input)[0]  # type: ignore[no-any-return]


def _cond_of_square(A: "Tensor", p: Any) -> "Tensor":
    check_matrices("cond", A, square=True, early="nothing", kernel="never")
    if p == "nuc":
        # Its norm comes first, and is refused as singular values are.
        size = matrix_norm(A, p)
        return arithmetic.mul(size, matrix_norm(inv_ex(A).inverse, p))
    inverse, info = inv_ex(A)
    failed = pointwise_ops.gt(view_ops.unsqueeze(view_ops.unsqueeze(info, -1), -1), 0)
    masked_fill_(inverse, failed, inf)
    return special_functions.nan_to_num_(arithmetic.mul(matrix_norm(A, p), matrix_norm(inverse, p)), inf, inf, -inf)


def _basis(A: "Tensor", q: int, niter: Any, M: "Tensor | None") -> "Tensor":
    """An orthonormal basis near the range of `A - M`, from random vectors."""
    d = A.dtype if A.dtype.is_complex or A.dtype in _RANDOM else dtypes.float32
    start = randomness.randn(A._layout.shape[-1], q, dtype=d)
    basis: Tensor = factorizations.qr(_applied(A, M, start))[0]
    for _ in range(2 if niter is None else niter):
        back = _applied(adjoint(A), None if M is None else adjoint(M), basis)
        basis = factorizations.qr(_applied(A, M, factorizations.qr(back)[0]))[0]
    return basis


def _applied(A: "Tensor", M: "Tensor | None", X: "Tensor") -> "Tensor":
    return matmul(A, X) if M is None else arithmetic.sub(matmul(A, X), matmul(M, X))


def svd_lowrank(
    A: "Tensor", q: int | None = 6, niter: int | None = 2, M: "Tensor | None" = None
) -> tuple["Tensor", "Tensor", "Tensor"]:
    """Factors near the singular vectors and values of `A - M`: products row-major, the third or first a view.

    Shapes: (…, m, n) to (…, m, q), (…, q) and (…, n, q).
    Raises: dimension (ValueError), size, dtype. Source: torch 2.13.
    """
    m, n = _lengths("svd_lowrank", A)
    tall = A if m >= n else adjoint(A)
    minus = None if M is None else view_ops.broadcast_to(M, A._layout.shape)
    if minus is not None and m < n:
        minus = adjoint(minus)
    basis = _basis(tall, 6 if q is None else q, niter, minus)
    small = matmul(adjoint(basis), tall)
    if minus is not None:
        small = arithmetic.sub(small, matmul(adjoint(basis), minus))
    left, singular_values, right = factorizations.svd(small, full_matrices=False)
    left, right = matmul(basis, left), adjoint(right)
    return (right, singular_values, left) if m < n else (left, singular_values, right)


def pca_lowrank(
    A: "Tensor", q: int | None = None, center: bool = True, niter: int = 2
) -> tuple["Tensor", "Tensor", "Tensor"]:
    """`svd_lowrank` of the matrix without the mean of its rows.

    Raises: dimension, size (both ValueError), dtype. Source: torch 2.13.
    """
    m, n = _lengths("pca_lowrank", A)
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise LayoutValueError("size", f"pca_lowrank: q must be in [0, {min(m, n)}], got {q}")
    if niter < 0:
        raise LayoutValueError("size", f"pca_lowrank: niter must not be negative, got {niter}")
    return svd_lowrank(arithmetic.sub(A, mean(A, -2, keepdim=True)) if center else A, q, niter)


def _lengths(name: str, A: "Tensor") -> tuple[int, int]:
    if A.ndim < 2:
        raise LayoutValueError("dimension", f"{name}: a matrix is needed, got shape {A._layout.shape}")
    m, n = A._layout.shape[-2:]
    return m, n


def chain_matmul(*matrices: "Tensor", out: "Tensor | None" = None) -> "Tensor":
    """`linalg.multi_dot` of its arguments, or a copy of the only one. Raises: dimension, size, dtype."""
    if not matrices:
        raise LayoutError("size", "chain_matmul: at least one matrix is needed")
    check_tensors("chain_matmul", *matrices)
    for t in matrices:
        need_rank("chain_matmul", t, 2)
    return write_out(out, clone(matrices[0])) if len(matrices) == 1 else multi_dot(matrices, out=out)
