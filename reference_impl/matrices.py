"""Factorisations and solutions of linear equations: column-major as LAPACK leaves them (facts 4.4).

Their values depend on the library and on the condition of the matrix: computed with NumPy, and left unspecified.
"""

# ruff: noqa: N803 - PyTorch's own names

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import linear_algebra, products, reductions, shadow, view_copies, view_ops
from .copies import clone
from .core import CONJ, TensorBase, as_int, values
from .dtype_view import conj
from .elementwise import broadcast_shapes
from .errors import LayoutError
from .formats import contiguous_format
from .layout import Strides, contiguous_strides
from .norms import is_low_precision
from .out import write_out
from .results import finish

if TYPE_CHECKING:
    from .tensors import Tensor


def column_major(shape: tuple[int, ...]) -> Strides:
    """Strides of matrices stored column by column, one after the other.

    >>> column_major((2, 3, 4))
    (12, 1, 3)
    """
    strides = list(contiguous_strides(shape))
    if len(shape) >= 2:
        strides[-2], strides[-1] = 1, max(shape[-2], 1)
    return tuple(strides)


def _check(name: str, A: "Tensor", *, square: bool = False, low: bool = False) -> None:
    if len(A._layout.shape) < 2:
        raise LayoutError("dimension", f"{name}: at least 2 dimensions are needed, got shape {A._layout.shape}")
    if square and A._layout.shape[-1] != A._layout.shape[-2]:
        raise LayoutError("size", f"{name}: square matrices are needed, got shape {A._layout.shape}")
    _check_floats(name, A, low=low)


def _check_floats(name: str, A: "Tensor", *, low: bool = False) -> None:
    if not (A.dtype.is_floating_point or A.dtype.is_complex):
        raise LayoutError("dtype", f"{name}: floating point or complex is needed, got {A.dtype}")
    if not low and is_low_precision(A.dtype):
        raise LayoutError("dtype", f"{name}: low precision is not supported, got {A.dtype}")


def _wide(A: "Tensor") -> Any:
    return values(A).astype(np.complex128 if A.dtype.is_complex else np.float64)


def _tried(f: Any, *arrays: Any, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """What NumPy finds; zeros where it refuses or the matrices are empty."""
    with np.errstate(all="ignore"):
        try:
            found = f(*arrays)
        except (np.linalg.LinAlgError, ValueError, ZeroDivisionError, IndexError):
            found = tuple(np.zeros(s, arrays[0].dtype) for s in shapes)
    found = found if isinstance(found, tuple) else (found,)
    return tuple(x if np.shape(x) == s else np.zeros(s, arrays[0].dtype) for x, s in zip(found, shapes, strict=True))


def _refuse_singular(name: str, A: "Tensor", f: Any) -> None:
    """Refuse matrices that cannot be factorised. Raises: argument (RuntimeError)."""
    if not A.numel() or shadow.marks_of(A) is not None:
        return
    try:
        with np.errstate(all="ignore"):
            f(values(A))
    except np.linalg.LinAlgError as e:
        raise LayoutError("argument", f"{name}: {e}") from None


def _made(a: Any, d: Any, *inputs: Any, columns: bool = True) -> "Tensor":
    t = finish(np.asarray(a), d, *inputs, strides=column_major(a.shape) if columns else None)
    if t.numel():
        shadow.stamp(t, shadow.UNSPECIFIED)
    return t


def _zeros(shape: tuple[int, ...], d: Any = dt.int32) -> "Tensor":
    return finish(np.zeros(shape, d.numpy), d)


def _put(out: Any, results: tuple["Tensor", ...], *inputs: Any) -> Any:
    if out is None:
        return results
    given = out if isinstance(out, (tuple, list)) else (out,)
    for target, t in zip(given, results, strict=True):
        if target.dtype is not t.dtype:
            raise LayoutError("dtype", f"out must have the dtype {t.dtype}, got {target.dtype}")
    return tuple([write_out(target, t, *inputs) for target, t in zip(given, results, strict=True)])


def inv(A: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Inverse, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    _check("inv", A, square=True)
    _refuse_singular("inv", A, np.linalg.inv)
    return _inverse(A, out)


def _inverse(A: "Tensor", out: Any = None) -> "Tensor":
    shape = A._layout.shape
    return _put(out, (_made(*_tried(np.linalg.inv, _wide(A), shapes=(shape,)), A.dtype, A),), A)[0]  # type: ignore[no-any-return]


class InvEx(NamedTuple):
    """Inverse and whether it failed."""

    inverse: "Tensor"
    info: "Tensor"


def inv_ex(A: "Tensor", *, check_errors: bool = False, out: Any = None) -> Any:
    """`inv`, and a number for each matrix: 0 where it succeeded. Raises: as `inv`."""
    _check("inv_ex", A, square=True)
    return InvEx(*_put(out, (_inverse(A), _info(A)), A))


def _info(A: "Tensor") -> "Tensor":
    t = _zeros(A._layout.shape[:-2])
    if t.numel():
        shadow.stamp(t, shadow.UNSPECIFIED)
    return t


def cholesky(A: "Tensor", *, upper: bool = False, out: "Tensor | None" = None) -> "Tensor":
    """Triangular root, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    _check("cholesky", A, square=True)
    _refuse_singular("cholesky", A, lambda a: np.linalg.cholesky(np.swapaxes(a, -1, -2).conj() if upper else a))
    return _root(A, upper, out)


def _root(A: "Tensor", upper: bool, out: Any = None) -> "Tensor":
    (found,) = _tried(np.linalg.cholesky, _wide(A), shapes=(A._layout.shape,))
    if upper:
        found = np.conj(np.swapaxes(found, -1, -2))
    return _put(out, (_made(found, A.dtype, A),), A)[0]  # type: ignore[no-any-return]


def cholesky_ex(A: "Tensor", *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """`cholesky`, and a number for each matrix: 0 where it succeeded. Raises: as `cholesky`."""
    _check("cholesky_ex", A, square=True)
    return _put(out, (_root(A, upper), _info(A)), A)


def old_cholesky(input: "Tensor", upper: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.cholesky` under its old name. Raises: as `linalg.cholesky`."""
    result = cholesky(input, upper=upper)
    if not input.numel():
        result = clone(input, memory_format=contiguous_format)
    return write_out(out, result, input)


def qr(A: "Tensor", mode: str = "reduced", *, out: Any = None) -> Any:
    """Orthogonal and triangular factor, column-major. Raises: dimension, dtype, argument. Source: facts 4.4."""
    if mode not in ("reduced", "complete", "r"):
        raise LayoutError("argument", f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    _check("qr", A)
    *batch, m, n = A._layout.shape
    k = min(m, n)
    shapes = ((*batch, m, m if mode == "complete" else k), (*batch, m if mode == "complete" else k, n))
    q, r = _tried(lambda a: tuple(np.linalg.qr(a, "complete" if mode == "complete" else "reduced")), _wide(A),
                  shapes=shapes)  # fmt: skip
    first = _zeros((0,), A.dtype) if mode == "r" else _made(q, A.dtype, A)
    return _put(out, (first, _made(r, A.dtype, A)), A)


def old_qr(input: "Tensor", some: bool = True, *, out: Any = None) -> Any:
    """`linalg.qr` under its old name. Raises: as `linalg.qr`."""
    return qr(input, "reduced" if some else "complete", out=out)


def svd(A: "Tensor", full_matrices: bool = True, *, driver: Any = None, out: Any = None) -> Any:
    """Singular vectors, column-major, and values. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    _check("svd", A)
    if driver is not None:
        raise LayoutError("argument", "svd: a driver can be chosen on CUDA only")
    *batch, m, n = A._layout.shape
    k = min(m, n)
    shapes = ((*batch, m, m if full_matrices else k), (*batch, k), (*batch, n if full_matrices else k, n))
    u, s, vh = _tried(lambda a: tuple(np.linalg.svd(a, full_matrices)), _wide(A), shapes=shapes)
    d = A.dtype
    return _put(out, (_made(u, d, A), _made(s.real, d.to_real(), A, columns=False), _made(vh, d, A)), A)


def svdvals(A: "Tensor", *, driver: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """Singular values. Raises: dimension, dtype. Source: torch 2.13."""
    _check("svdvals", A)
    *batch, m, n = A._layout.shape
    (s,) = _tried(lambda a: np.linalg.svd(a, compute_uv=False), _wide(A), shapes=((*batch, min(m, n)),))
    return _put(out, (_made(s.real, A.dtype.to_real(), A, columns=False),), A)[0]  # type: ignore[no-any-return]


_COMPLEX = {dt.float32: dt.complex64, dt.float64: dt.complex128}


def eig(A: "Tensor", *, out: Any = None) -> Any:
    """Eigenvalues and vectors, complex, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    _check("eig", A, square=True)
    d = _COMPLEX.get(A.dtype, A.dtype)
    shape = A._layout.shape
    w, v = _tried(lambda a: tuple(np.linalg.eig(a)), _wide(A), shapes=(shape[:-1], shape))
    return _put(out, (_made(w, d, A, columns=False), _made(v, d, A)), A)


def eigvals(A: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Eigenvalues, complex. Raises: dimension, size, dtype. Source: torch 2.13."""
    _check("eigvals", A, square=True)
    d = _COMPLEX.get(A.dtype, A.dtype)
    (w,) = _tried(np.linalg.eigvals, _wide(A), shapes=(A._layout.shape[:-1],))
    return _put(out, (_made(w, d, A, columns=False),), A)[0]  # type: ignore[no-any-return]


def _check_uplo(UPLO: str) -> None:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("U", "L"):
        raise LayoutError("argument", f"eigh: UPLO must be 'L' or 'U', got {UPLO!r}")


def eigh(A: "Tensor", UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues and vectors of symmetric matrices, column-major. Raises: dimension, size, dtype."""
    _check("eigh", A, square=True)
    _check_uplo(UPLO)
    shape = A._layout.shape
    w, v = _tried(lambda a: tuple(np.linalg.eigh(a)), _wide(A), shapes=(shape[:-1], shape))
    return _put(out, (_made(w.real, A.dtype.to_real(), A, columns=False), _made(v, A.dtype, A)), A)


def eigvalsh(A: "Tensor", UPLO: str = "L", *, out: "Tensor | None" = None) -> "Tensor":
    """Eigenvalues of symmetric matrices. Raises: dimension, size, dtype. Source: torch 2.13."""
    _check("eigvalsh", A, square=True)
    _check_uplo(UPLO)
    (w,) = _tried(np.linalg.eigvalsh, _wide(A), shapes=(A._layout.shape[:-1],))
    return _put(out, (_made(w.real, A.dtype.to_real(), A, columns=False),), A)[0]  # type: ignore[no-any-return]


def det(A: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Determinant. Raises: dimension, size, dtype. Source: torch 2.13."""
    _check("det", A, square=True)
    (found,) = _tried(np.linalg.det, _wide(A), shapes=(A._layout.shape[:-2],))
    return _put(out, (_made(np.asarray(found), A.dtype, A, columns=False),), A)[0]  # type: ignore[no-any-return]


def slogdet(A: "Tensor", *, out: Any = None) -> Any:
    """Sign and logarithm of the determinant. Raises: dimension, size, dtype. Source: torch 2.13."""
    _check("slogdet", A, square=True)
    shape = A._layout.shape[:-2]
    s, v = _tried(lambda a: tuple(np.linalg.slogdet(a)), _wide(A), shapes=(shape, shape))
    return _put(out, (_made(np.asarray(s), A.dtype, A, columns=False),
                      _made(np.asarray(v).real, A.dtype.to_real(), A, columns=False)), A)  # fmt: skip


def logdet(input: "Tensor") -> "Tensor":
    """Logarithm of the determinant. Raises: dimension, size, dtype. Source: torch 2.13."""
    _check("logdet", input, square=True)
    return _made(np.zeros(input._layout.shape[:-2]), input.dtype, input, columns=False)


def _is_vector(A: "Tensor", B: "Tensor") -> bool:
    a, b = A._layout.shape, B._layout.shape
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


def _solve(name: str, A: "Tensor", B: "Tensor", left: bool, out: Any, *, with_info: bool) -> Any:
    _check(name, A, square=True)
    if A.dtype is not B.dtype:
        raise LayoutError("dtype", f"{name}: {A.dtype} and {B.dtype}")
    vector = _is_vector(A, B)
    if vector and not left:
        raise LayoutError("size", f"{name}: vectors are not solved from the right")
    *batch, n = A._layout.shape[:-1]
    given = (*B._layout.shape, 1) if vector else B._layout.shape
    if len(given) < 2:
        raise LayoutError("dimension", f"{name}: at least 2 dimensions are needed, got shape {given}")
    if given[-2 if left else -1] != n:
        raise LayoutError("size", f"{name}: {A._layout.shape} and {B._layout.shape} do not fit")
    shape = (*broadcast_shapes(tuple(batch), given[:-2]), *given[-2:])
    strides = column_major(shape)
    found = finish(np.zeros(shape), A.dtype, A, B, strides=strides)
    if vector:
        found = finish(np.zeros(shape[:-1]), A.dtype, A, B, strides=_vector_strides(shape[:-1]))
    if found.numel():
        shadow.stamp(found, shadow.UNSPECIFIED)
    return _put(out, (found, _info(A)) if with_info else (found,), A, B)


def _vector_strides(shape: tuple[int, ...]) -> Strides:
    # A stack of vectors is taken for a matrix: its last two dimensions change places in memory.
    return column_major(shape) if len(shape) >= 2 else contiguous_strides(shape)


def solve(A: "Tensor", B: "Tensor", *, left: bool = True, out: "Tensor | None" = None) -> "Tensor":
    """Solution of `A X = B`, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    result = _solve("solve", A, B, left, None, with_info=False)
    if B.numel():
        _refuse_singular("solve", A, np.linalg.inv)
    return _put(out, result, A, B)[0]  # type: ignore[no-any-return]


def solve_ex(A: "Tensor", B: "Tensor", *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """`solve`, and a number for each matrix: 0 where it succeeded. Raises: as `solve`."""
    return _solve("solve_ex", A, B, left, out, with_info=True)


def _matrices(name: str, A: "Tensor", B: "Tensor", left: bool) -> tuple[int, ...]:
    for t in (A, B):
        if t.ndim < 2:
            raise LayoutError("dimension", f"{name}: at least 2 dimensions are needed, got shape {t._layout.shape}")
    if A._layout.shape[-1] != A._layout.shape[-2]:
        raise LayoutError("size", f"{name}: square matrices are needed, got shape {A._layout.shape}")
    if A._layout.shape[-1] != B._layout.shape[-2 if left else -1]:
        raise LayoutError("size", f"{name}: {A._layout.shape} and {B._layout.shape} do not fit")
    return (*broadcast_shapes(A._layout.shape[:-2], B._layout.shape[:-2]), *B._layout.shape[-2:])


def solve_triangular(
    A: "Tensor", B: "Tensor", *, upper: bool, left: bool = True, unitriangular: bool = False,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`solve` with a triangular matrix, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if A.dtype is not B.dtype:
        raise LayoutError("dtype", f"solve_triangular: {A.dtype} and {B.dtype}")
    shape = _matrices("solve_triangular", A, B, left)
    _check_floats("solve_triangular", A)
    return _put(out, (_made(np.zeros(shape), A.dtype, A, B),), A, B)[0]  # type: ignore[no-any-return]


def triangular_solve(
    b: "Tensor", A: "Tensor", upper: bool = True, transpose: bool = False, unitriangular: bool = False, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """`linalg.solve_triangular` under its old name, with a copy of the matrix. Raises: dimension, size, dtype."""
    shape = _matrices("triangular_solve", A, b, True)
    _check_floats("triangular_solve", A)
    batch = shape[:-2]
    a = np.broadcast_to(_wide(A), (*batch, *A._layout.shape[-2:]))
    return _put(out, (_made(np.zeros(shape), b.dtype, A, b), _made(a, A.dtype, A, b)), A, b)


def cholesky_solve(input: "Tensor", input2: "Tensor", upper: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.solve` with a triangular root, column-major. Raises: dimension, size, dtype. Source: facts 4.4."""
    shape = _matrices("cholesky_solve", input2, input, True)
    return write_out(out, _made(np.zeros(shape), input.dtype, input, input2), input, input2)


def cholesky_inverse(input: "Tensor", upper: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Inverse of the square of a triangular root, column-major. Raises: dimension, size. Source: torch 2.13."""
    _check("cholesky_inverse", input, square=True)
    return write_out(out, _made(np.zeros(input._layout.shape), input.dtype, input), input)


def lu_factor(A: "Tensor", *, pivot: bool = True, out: Any = None) -> Any:
    """Both triangular factors in one, column-major, and the pivots. Raises: dimension, dtype. Source: torch 2.13."""
    parts = _lu_parts("lu_factor", A)[:2]
    k = min(A._layout.shape[-2:])
    _refuse_singular("lu_factor", view_ops.narrow(A.detach(), -2, 0, k) if k < A._layout.shape[-1] else A, _no_pivot)
    return _put(out, parts, A)


def _no_pivot(a: Any) -> None:
    """Refuse where a pivot would be zero: the first columns depend on each other."""
    k = min(a.shape[-2:])
    if a.shape[-1] > k or a.shape[-2] == k:
        np.linalg.inv(a[..., :k])
    elif (np.linalg.matrix_rank(a) < k).any():
        raise np.linalg.LinAlgError("a pivot is zero")


def lu_factor_ex(A: "Tensor", *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """`lu_factor`, and a number for each matrix: 0 where it succeeded. Raises: as `lu_factor`."""
    return _put(out, _lu_parts("lu_factor_ex", A), A)


def _lu_parts(name: str, A: "Tensor") -> tuple["Tensor", ...]:
    _check(name, A)
    *batch, m, n = A._layout.shape
    pivots = _zeros((*batch, min(m, n)))
    if pivots.numel():
        shadow.stamp(pivots, shadow.UNSPECIFIED)
    return _made(np.zeros(A._layout.shape), A.dtype, A), pivots, _info(A)


def lu(A: "Tensor", *, pivot: bool = True, out: Any = None) -> Any:
    """Permutation and triangular factors, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    _check("lu", A)
    *batch, m, n = A._layout.shape
    k = min(m, n)
    shapes = ((*batch, m, m) if pivot else (0,), (*batch, m, k), (*batch, k, n))
    parts = [_made(np.zeros(s), A.dtype, A, columns=False) for s in shapes]
    parts[0]._has_fn = False
    return _put(out, tuple(parts), A)


def lu_unpack(
    LU_data: "Tensor", LU_pivots: "Tensor", unpack_data: bool = True, unpack_pivots: bool = True, *, out: Any = None
) -> Any:
    """Permutation and triangular factors of `lu_factor`'s, row-major. Raises: dimension, dtype. Source: torch 2.13."""
    if LU_data.ndim < 2:
        raise LayoutError("dimension", f"lu_unpack: at least 2 dimensions are needed, got {LU_data.ndim}")
    if unpack_pivots and LU_pivots.dtype is not dt.int32:
        raise LayoutError("dtype", f"lu_unpack: the pivots must be int32, got {LU_pivots.dtype}")
    *batch, m, n = LU_data._layout.shape
    k = min(m, n)
    shapes: tuple[tuple[int, ...], ...] = (
        (*batch, m, m) if unpack_pivots else (0,),
        (*batch, m, k) if unpack_data else (0,),
        (*batch, k, n) if unpack_data else (0,),
    )
    parts = [_made(np.zeros(s), LU_data.dtype, LU_data, columns=False) for s in shapes]
    for t, known in zip(parts, (False, unpack_data, unpack_data), strict=True):
        t._has_fn = t._has_fn and known
    return _put(out, tuple(parts), LU_data)


def lu_solve(
    LU: "Tensor", pivots: "Tensor", B: "Tensor", *, left: bool = True, adjoint: bool = False,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`solve` with `lu_factor`'s result; from the right row-major, conjugated. Raises: dimension, size, dtype."""
    _check_floats("lu_solve", LU)
    if LU.dtype is not B.dtype:
        raise LayoutError("dtype", f"lu_solve: {LU.dtype} and {B.dtype}")
    if pivots.dtype is not dt.int32:
        raise LayoutError("dtype", f"lu_solve: the pivots must be int32, got {pivots.dtype}")
    shape = _matrices("lu_solve", LU, B, left)
    if pivots._layout.shape != LU._layout.shape[:-1]:
        raise LayoutError("size", f"lu_solve: pivots of {pivots._layout.shape} for matrices of {LU._layout.shape}")
    result = _made(np.zeros(shape), B.dtype, LU, B)
    if not left:
        # The adjoint of the solution of the adjoint system.
        result = _made(np.zeros(shape), B.dtype, LU, B, columns=False)
        if B.dtype.is_complex and result.numel():
            result._bits ^= CONJ
    return _put(out, (result,), LU, B)[0]  # type: ignore[no-any-return]


def old_lu_solve(b: "Tensor", LU_data: "Tensor", LU_pivots: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.lu_solve` under its old name. Raises: as `linalg.lu_solve`."""
    return lu_solve(LU_data, LU_pivots, b, out=out)


def matrix_power(A: "Tensor", n: int, *, out: "Tensor | None" = None) -> "Tensor":
    """Products of a matrix with itself. Raises: dimension, size, dtype. Source: torch 2.13."""
    if A.ndim < 2:
        raise LayoutError("dimension", f"matrix_power: at least 2 dimensions are needed, got {A.ndim}")
    if A._layout.shape[-1] != A._layout.shape[-2]:
        raise LayoutError("size", f"matrix_power: square matrices are needed, got shape {A._layout.shape}")
    n = as_int(n, "n")
    if n < 0:
        return inv(A, out=out) if n == -1 else matrix_power(inv(A), -n, out=out)
    if n == 0:
        result = clone(A, memory_format=contiguous_format)
        result = _identity(result)
    elif n == 1:
        result = clone(A, memory_format=contiguous_format)
    elif n == 2:
        result = products.matmul(A, A)
    elif n == 3:
        result = products.matmul(products.matmul(A, A), A)
    else:
        z, result_or_none = A, None
        while n > 0:
            bit, n = n % 2, n // 2
            if bit:
                result_or_none = z if result_or_none is None else products.matmul(result_or_none, z)
            if n > 0:
                z = products.matmul(z, z)
        assert result_or_none is not None
        result = result_or_none
    return write_out(out, result, A)


def _identity(t: "Tensor") -> "Tensor":
    from .constructors import eye
    from .copies import copy_

    t._has_fn = False
    return copy_(t, view_ops.expand_as(eye(t._layout.shape[-1], dtype=t.dtype), t))


def matrix_exp(input: "Tensor") -> "Tensor":
    """Exponential of matrices, row-major. Raises: dimension, size, dtype. Source: torch 2.13."""
    _check("matrix_exp", input, square=True, low=True)
    return _made(np.zeros(input._layout.shape), input.dtype, input, columns=False)


def pinv(A: "Tensor", rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
         out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """Pseudoinverse. Raises: dimension, dtype. Source: torch 2.13."""
    _check("pinv", A, square=hermitian)
    *lead, m, n = A._layout.shape
    batch: Any = tuple(lead)
    for t in (rcond, atol, rtol):
        if isinstance(t, TensorBase):
            if t.dtype.is_complex:
                raise LayoutError("dtype", "pinv: complex tolerances are refused")
            batch = broadcast_shapes(batch, t._layout.shape) if A.numel() else batch
    return _put(out, (_made(np.zeros((*batch, n, m)), A.dtype, A, columns=False),), A)[0]  # type: ignore[no-any-return]


def pinverse(input: "Tensor", rcond: float = 1e-15) -> "Tensor":
    """`linalg.pinv` under its old name. Raises: as `linalg.pinv`."""
    return pinv(input, rcond)


def vecdot(x: "Tensor", y: "Tensor", *, dim: int = -1, out: "Tensor | None" = None) -> "Tensor":
    """Products of vectors along a dimension, the first conjugated. Raises: dimension, broadcast, dtype."""
    _check_floats("vecdot", x, low=True)
    if out is not None and out.dtype is not x.dtype:
        raise LayoutError("dtype", f"vecdot: out must have the dtype {x.dtype}, got {out.dtype}")
    from . import arithmetic

    return reductions.sum(arithmetic.mul(conj(x), y), dim, out=out)


def multi_dot(tensors: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """Product of several matrices in the cheapest order. Raises: dimension, size, dtype. Source: torch 2.13."""
    items = list(tensors)
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
    result = items[0]
    for t in items[1:]:
        result = linear_algebra.mm(result, t)
    if result.numel() and result.dtype.category in ("float", "complex"):
        shadow.stamp(result, shadow.UNSPECIFIED)
    return write_out(out, view_ops.view(result, shape), *tensors)


def vander(x: "Tensor", N: Any = None) -> "Tensor":
    """Powers of elements in a new last dimension. Raises: dimension, dtype, argument. Source: torch 2.13."""
    if not x.ndim:
        x = view_ops.unsqueeze(x, -1)
    if x.dtype is dt.bool_:
        raise LayoutError("dtype", "vander: bool is refused")
    n = x._layout.shape[-1] if N is None else as_int(N, "N")
    if n <= 1:
        raise LayoutError("argument", f"vander: N must be above 1, got {n}")
    from .constructors import ones
    from .joining import cat
    from .scans import cumprod

    wide = view_ops.expand(view_ops.unsqueeze(x, -1), (*x._layout.shape, n - 1))
    powers = cumprod(wide, -1)
    one = ones((*x._layout.shape, 1), dtype=powers.dtype)
    return cat([one, powers], -1)


def diagonal(A: "Tensor", *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> "Tensor":
    """A view of the diagonals of matrices. Raises: dimension. Source: torch 2.13."""
    return view_ops.diagonal(A, offset, dim1, dim2)


def matmul(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`torch.matmul`. Raises: as `torch.matmul`."""
    return products.matmul(input, other, out=out)


def old_svd(input: "Tensor", some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """`linalg.svd` under its old name, the last factor as a view. Raises: as `linalg.svd`."""
    if compute_uv:
        u, s, vh = svd(input, not some)
        return _put(out, (u, s, view_copies.adjoint(vh)), input)
    _check("svd", input)
    *batch, m, n = input._layout.shape
    u = _zeros((*batch, m, m), input.dtype)
    v = view_ops.transpose(_zeros((*batch, n, n), input.dtype), -2, -1)
    u._versions[0] = v._versions[0] = 1
    return _put(out, (u, svdvals(input), v), input)


def matrix_rank(A: "Tensor", tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
                out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """Numbers of singular values above a tolerance. Raises: dimension, dtype. Source: torch 2.13."""
    _check("matrix_rank", A, square=hermitian)
    batch = A._layout.shape[:-2]
    for t in (tol, atol, rtol):
        if isinstance(t, TensorBase):
            if t.dtype.is_complex:
                raise LayoutError("dtype", "matrix_rank: complex tolerances are refused")
            batch = broadcast_shapes(batch, t._layout.shape)
    result = _zeros(batch, dt.int64)
    if result.numel() and A.numel():
        shadow.stamp(result, shadow.UNSPECIFIED)
    result._versions[0] = 1
    return write_out(out, result)


def geqrf(input: "Tensor", *, out: Any = None) -> Any:
    """QR in LAPACK's own form, column-major. Raises: dimension, dtype. Source: torch 2.13."""
    _check("geqrf", input)
    *batch, m, n = input._layout.shape
    parts = (_made(np.zeros(input._layout.shape), input.dtype, input),
             _made(np.zeros((*batch, min(m, n))), input.dtype, input, columns=False))  # fmt: skip
    return _put(out, parts, input)


def householder_product(input: "Tensor", tau: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """First columns of a product of reflections, column-major. Raises: dimension, size, dtype. Source: torch 2.13."""
    shape = input._layout.shape
    if len(shape) < 2:
        raise LayoutError("dimension", f"householder_product: at least 2 dimensions are needed, got {len(shape)}")
    if shape[-2] < shape[-1]:
        raise LayoutError("size", f"householder_product: matrices of {shape} are wider than high")
    if shape[-1] < (tau._layout.shape or (0,))[-1]:
        raise LayoutError("size", f"householder_product: {tau._layout.shape} reflections for {shape}")
    if len(shape) - len(tau._layout.shape) != 1 or shape[:-2] != tau._layout.shape[:-1]:
        raise LayoutError("size", f"householder_product: {tau._layout.shape} reflections for {shape}")
    if tau.dtype is not input.dtype:
        raise LayoutError("dtype", f"householder_product: {input.dtype} and {tau.dtype}")
    return _put(out, (_made(np.zeros(shape), input.dtype, input, tau),), input, tau)[0]  # type: ignore[no-any-return]


def orgqr(input: "Tensor", input2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.householder_product` under its old name. Raises: as `linalg.householder_product`."""
    return householder_product(input, input2, out=out)


def old_vander(x: "Tensor", N: Any = None, increasing: bool = False) -> "Tensor":
    """Powers of a vector's elements as columns, the largest first unless told. Raises: dimension, argument."""
    from .joining import cat
    from .scans import cumprod, flip

    if x.ndim != 1:
        raise LayoutError("dimension", f"vander: a vector is needed, got {x.ndim} dimensions")
    count = x._layout.shape[0] if N is None else as_int(N, "N")
    if count < 0:
        raise LayoutError("argument", f"vander: N must not be negative, got {count}")
    wide = x.to(dt.int64) if x.dtype.category in ("bool", "int") else x
    one = view_ops.unsqueeze(wide.new_ones(x._layout.shape), -1)
    if count > 1:
        columns = view_ops.expand(view_ops.unsqueeze(wide, -1), (*x._layout.shape, count - 1))
        one = cat([one, cumprod(columns, -1)], -1)
    result = view_ops.narrow(one, -1, 0, count) if count < 1 else one
    if not increasing:
        return flip(result, 1)
    result = clone(result, memory_format=contiguous_format)
    # Filled with ones, copied into, and multiplied up.
    result._versions[0] = 3 if count > 1 else min(count, 1)
    return result
