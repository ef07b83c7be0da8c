"""Factorisations: cholesky, qr, svd, eig, lu and their like; column-major as LAPACK leaves them (facts 4.4)."""

# ruff: noqa: N803 - PyTorch's own names
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import metadata, pointwise_ops, shadow, slicing_ops, view_copies, view_ops
from .constructors import zeros
from .copies import clone
from .errors import LayoutError
from .formats import contiguous_format
from .kept import keeps
from .lapack import (
    check_dtype,
    check_matrices,
    info_of,
    lapack_result,
    refuse_singular,
    tried,
    wide_values,
    write_outs,
    zeros_of,
)
from .out import write_out
from .parsing import parsed
from .results import check_real_gradient, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def cholesky(input: "Tensor", *, upper: bool = False, out: "Tensor | None" = None) -> "Tensor":
    """Triangular root, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    check_matrices("cholesky", input, square=True)
    _refuse_indefinite(input, upper)
    return _root(input, upper, out)


def _refuse_indefinite(A: "Tensor", upper: bool) -> None:
    refuse_singular("cholesky", A, lambda a: np.linalg.cholesky(np.swapaxes(a, -1, -2).conj() if upper else a))


def _root(A: "Tensor", upper: bool, out: Any = None) -> "Tensor":
    (found,) = tried(np.linalg.cholesky, wide_values(A), shapes=(A._layout.shape,))
    if upper:
        found = np.conj(np.swapaxes(found, -1, -2))
    return write_outs(out, (lapack_result(found, A.dtype, A),), A)[0]  # type: ignore[no-any-return]


def cholesky_ex(input: "Tensor", *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """`cholesky`, and a number for each matrix: 0 where it succeeded. Raises: as `cholesky`."""
    check_matrices("cholesky_ex", input, square=True)
    return write_outs(out, (_root(input, upper), info_of(input)), input, names="L info")


def old_cholesky(input: "Tensor", upper: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.cholesky` under its old name. Raises: as `linalg.cholesky`."""
    check_matrices("cholesky", input, square=bool(input.numel()), early="nothing")
    if not input.numel():
        return write_out(out, clone(input, memory_format=contiguous_format), input)
    _refuse_indefinite(input, upper)
    return write_out(out, _root(input, upper), input, row_major=True)


def qr(A: "Tensor", mode: str = "reduced", *, out: Any = None) -> Any:
    """Orthogonal and triangular factor, column-major. Raises: dimension, dtype, argument. Source: facts 4.4."""
    if mode not in ("reduced", "complete", "r"):
        raise LayoutError("argument", f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    check_matrices("qr", A, kernel="always")
    *batch, m, n = A._layout.shape
    k = min(m, n)
    shapes = ((*batch, m, m if mode == "complete" else k), (*batch, m if mode == "complete" else k, n))
    q, r = tried(lambda a: tuple(np.linalg.qr(a, "complete" if mode == "complete" else "reduced")), wide_values(A),
                  shapes=shapes)  # fmt: skip
    first = zeros_of((0,), A.dtype) if mode == "r" else lapack_result(q, A.dtype, A)
    return write_outs(out, (first, lapack_result(r, A.dtype, A)), A, names="Q R")


def old_qr(input: "Tensor", some: bool = True, *, out: Any = None) -> Any:
    """`linalg.qr` under its old name. Raises: as `linalg.qr`."""
    return qr(input, "reduced" if some else "complete", out=out)


def svd(A: "Tensor", full_matrices: bool = True, *, driver: Any = None, out: Any = None) -> Any:
    """Singular vectors, column-major, and values. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    check_matrices("svd", A)
    if driver is not None:
        raise LayoutError("argument", "svd: a driver can be chosen on CUDA only")
    *batch, m, n = A._layout.shape
    k = min(m, n)
    shapes = ((*batch, m, m if full_matrices else k), (*batch, k), (*batch, n if full_matrices else k, n))
    u, s, vh = tried(lambda a: tuple(np.linalg.svd(a, full_matrices)), wide_values(A), shapes=shapes)
    d = A.dtype
    return write_outs(
        out,
        (lapack_result(u, d, A), lapack_result(s.real, d.to_real(), A, columns=False), lapack_result(vh, d, A)),
        A,
        names="U S Vh",
        order=(0, 2, 1),
    )


def svdvals(A: "Tensor", *, driver: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """Singular values. Raises: dimension, dtype. Source: torch 2.13."""
    check_matrices("svdvals", A)
    *batch, m, n = A._layout.shape
    (s,) = tried(lambda a: np.linalg.svd(a, compute_uv=False), wide_values(A), shapes=((*batch, min(m, n)),))
    return write_outs(out, (lapack_result(s.real, A.dtype.to_real(), A, columns=False),), A)[0]  # type: ignore[no-any-return]


_COMPLEX = {dt.float32: dt.complex64, dt.float64: dt.complex128}


def _need_complex(name: str, input: "Tensor") -> None:
    if input.dtype in dt.FLOAT8:
        raise LayoutError("dtype", f"{name}: there are no complex numbers of {input.dtype}")


def eig(input: "Tensor", *, out: Any = None) -> Any:
    """Eigenvalues and vectors, complex, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    _need_complex("eig", input)
    check_matrices("eig", input, square=True, kernel="always")
    d = _COMPLEX.get(input.dtype, input.dtype)
    shape = input._layout.shape
    w, v = tried(lambda a: tuple(np.linalg.eig(a)), wide_values(input), shapes=(shape[:-1], shape))
    return write_outs(out, (lapack_result(w, d, input, columns=False), lapack_result(v, d, input)), input,
                      names="eigenvalues eigenvectors", copies=True)  # fmt: skip


def eigvals(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Eigenvalues, complex. Raises: dimension, size, dtype. Source: torch 2.13."""
    _need_complex("eigvals", input)
    check_matrices("eigvals", input, square=True, kernel="always")
    d = _COMPLEX.get(input.dtype, input.dtype)
    (w,) = tried(np.linalg.eigvals, wide_values(input), shapes=(input._layout.shape[:-1],))
    return write_outs(out, (lapack_result(w, d, input, columns=False),), input)[0]  # type: ignore[no-any-return]


def _check_uplo(UPLO: str) -> None:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("U", "L"):
        raise LayoutError("argument", f"eigh: UPLO must be 'L' or 'U', got {UPLO!r}")


def eigh(input: "Tensor", UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues and vectors of symmetric matrices, column-major. Raises: dimension, size, dtype."""
    check_matrices("eigh", input, square=True, early="nothing")
    _check_uplo(UPLO)
    shape = input._layout.shape
    w, v = tried(lambda a: tuple(np.linalg.eigh(a)), wide_values(input), shapes=(shape[:-1], shape))
    return write_outs(
        out,
        (lapack_result(w.real, input.dtype.to_real(), input, columns=False), lapack_result(v, input.dtype, input)),
        input,
        names="eigenvalues eigenvectors",
        order=(1, 0),
    )


def eigvalsh(input: "Tensor", UPLO: str = "L", *, out: "Tensor | None" = None) -> "Tensor":
    """Eigenvalues of symmetric matrices. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_matrices("eigvalsh", input, square=True, early="nothing")
    _check_uplo(UPLO)
    (w,) = tried(np.linalg.eigvalsh, wide_values(input), shapes=(input._layout.shape[:-1],))
    return write_outs(out, (lapack_result(w.real, input.dtype.to_real(), input, columns=False),), input)[0]  # type: ignore[no-any-return]


def lu_factor(A: "Tensor", *, pivot: bool = True, out: Any = None) -> Any:
    """Both triangular factors in one, column-major, and the pivots. Raises: dimension, dtype. Source: torch 2.13."""
    parts = _lu_parts("lu_factor", A, pivot)[:2]
    k = min(A._layout.shape[-2:])
    refuse_singular("lu_factor", slicing_ops.narrow(A.detach(), -2, 0, k) if k < A._layout.shape[-1] else A, _no_pivot)
    return write_outs(out, parts, A, names="LU pivots")


def _no_pivot(a: Any) -> None:
    """Refuse where a pivot would be zero: the first columns depend on each other."""
    k = min(a.shape[-2:])
    if a.shape[-1] > k or a.shape[-2] == k:
        np.linalg.inv(a[..., :k])
    elif (np.linalg.matrix_rank(a) < k).any():
        raise np.linalg.LinAlgError("a pivot is zero")


def lu_factor_ex(A: "Tensor", *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """`lu_factor`, and a number for each matrix: 0 where it succeeded. Raises: as `lu_factor`."""
    return write_outs(out, _lu_parts("lu_factor_ex", A, pivot), A, names="LU pivots info")


def _need_pivots(name: str, A: "Tensor", pivot: bool) -> None:
    if not pivot and A.numel():
        raise LayoutError("argument", f"{name}: on the CPU there is no factorisation without pivots")


def _lu_parts(name: str, A: "Tensor", pivot: bool) -> tuple["Tensor", ...]:
    check_matrices(name, A, early="nothing")
    _need_pivots(name, A, pivot)
    *batch, m, n = A._layout.shape
    pivots = zeros_of((*batch, min(m, n)))
    shadow.leave_unspecified(pivots)
    return lapack_result(np.zeros(A._layout.shape), A.dtype, A), pivots, info_of(A)


def lu(A: "Tensor", *, pivot: bool = True, out: Any = None) -> Any:
    """Permutation and triangular factors, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    check_matrices("lu", A, early="nothing")
    _need_pivots("lu", A, pivot)
    *batch, m, n = A._layout.shape
    k = min(m, n)
    shapes = ((*batch, m, m) if pivot else (0,), (*batch, m, k), (*batch, k, n))
    parts = [lapack_result(np.zeros(s), A.dtype, A, columns=False) for s in shapes]
    parts[0]._has_fn = False
    return write_outs(out, tuple(parts), A, names="P L U")


def lu_unpack(
    LU_data: "Tensor", LU_pivots: "Tensor", unpack_data: bool = True, unpack_pivots: bool = True, *, out: Any = None
) -> Any:
    """Permutation and triangular factors of `lu_factor`'s, row-major. Raises: dimension, dtype. Source: torch 2.13."""
    if LU_data.ndim < 2:
        raise LayoutError("dimension", f"lu_unpack: at least 2 dimensions are needed, got {LU_data.ndim}")
    if unpack_pivots and LU_pivots.dtype is not dt.int32:
        raise LayoutError("dtype", f"lu_unpack: the pivots must be int32, got {LU_pivots.dtype}")
    if LU_data.numel():
        need_kernel("lu_unpack", LU_data.dtype, "bifc" if unpack_pivots else "bifch")
    *batch, m, n = LU_data._layout.shape
    k = min(m, n)
    shapes: tuple[tuple[int, ...], ...] = (
        (*batch, m, m) if unpack_pivots else (0,),
        (*batch, m, k) if unpack_data else (0,),
        (*batch, k, n) if unpack_data else (0,),
    )
    parts = [lapack_result(np.zeros(s), LU_data.dtype, LU_data, columns=False) for s in shapes]
    for t, known in zip(parts, (False, unpack_data, unpack_data), strict=True):
        t._has_fn = t._has_fn and known
    return write_outs(out, tuple(parts), LU_data, names="P L U")


def old_svd(input: "Tensor", some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """`linalg.svd` under its old name, the last factor as a view. Raises: as `linalg.svd`."""
    if compute_uv and out is not None:
        return _svd_into(out, input, some)
    if compute_uv:
        u, s, vh = svd(input, not some)
        return write_outs(None, (u, s, view_copies.adjoint(vh)), input, names="U S V")
    check_matrices("svd", input)
    *batch, m, n = input._layout.shape
    if out is not None:
        svdvals(input, out=out[1])
        zeros((*batch, m, m), out=out[0])
        zeros((*batch, n, n), out=out[2])
        return write_outs(None, tuple(out), names="U S V")
    u = zeros_of((*batch, m, m), input.dtype)
    v = view_ops.transpose(zeros_of((*batch, n, n), input.dtype), -2, -1)
    u._versions[0] = v._versions[0] = 1
    return write_outs(None, (u, svdvals(input), v), input, names="U S V")


def _svd_into(out: Any, input: "Tensor", some: bool) -> Any:
    u, s, v = out
    if v.ndim >= 2:
        metadata.transpose_(v, -2, -1)
    svd(input, not some, out=(u, s, v))
    metadata.transpose_(v, -2, -1)
    if v.dtype.is_complex:
        pointwise_ops.conj_physical_(v)
    return write_outs(None, (u, s, v), names="U S V")


def geqrf(input: "Tensor", *, out: Any = None) -> Any:
    """QR in LAPACK's own form, column-major. Raises: dimension, dtype. Source: torch 2.13."""
    check_matrices("geqrf", input, early="nothing", kernel="always")
    check_real_gradient("geqrf", input.dtype, input)
    *batch, m, n = input._layout.shape
    parts = (lapack_result(np.zeros(input._layout.shape), input.dtype, input),
             lapack_result(np.zeros((*batch, min(m, n))), input.dtype, input, columns=False))  # fmt: skip
    return write_outs(out, parts, input, names="a tau", copies=True)


@keeps("input", "tau")
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
    check_dtype("householder_product", input, early="nothing", kernel="always")
    return write_outs(out, (lapack_result(np.zeros(shape), input.dtype, input, tau),), input, tau)[0]  # type: ignore[no-any-return]


@keeps("input", "input2")
def orgqr(input: "Tensor", input2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.householder_product` under its old name. Raises: as `linalg.householder_product`."""
    return householder_product(input, input2, out=out)


@keeps("input", "input2", "input3")
def ormqr(
    input: "Tensor", input2: "Tensor", input3: "Tensor", left: bool = True, transpose: bool = False, *,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """A matrix times the orthogonal factor that `geqrf` left, column-major.

    Shapes: the reflections (…, m, k) and (…, k), the matrix (…, m, n), or (…, n, m) where it is not on the left.
    Raises: dimension, size, dtype. Source: torch 2.13.
    """
    reflections, scales, shape = (t._layout.shape for t in (input, input2, input3))
    if len(reflections) < 2 or len(shape) < 2:
        raise LayoutError("dimension", f"ormqr: matrices are needed, got {reflections} and {shape}")
    length = shape[-2 if left else -1]
    if length != reflections[-2] or not scales or scales[-1] != min(length, reflections[-1]):
        raise LayoutError("size", f"ormqr: {reflections} and {scales} do not fit {shape}")
    if scales[:-1] != reflections[:-2] or shape[:-2] != reflections[:-2]:
        raise LayoutError("size", f"ormqr: stacks of {reflections[:-2]}, {scales[:-1]} and {shape[:-2]} matrices")
    if not input.dtype is input2.dtype is input3.dtype:
        raise LayoutError("dtype", f"ormqr: {input.dtype}, {input2.dtype} and {input3.dtype}")
    check_dtype("ormqr", input, early="nothing", kernel="always")
    result = lapack_result(np.zeros(shape), input.dtype, input, input2, input3)
    return write_outs(out, (result,), input, input2, input3)[0]  # type: ignore[no-any-return]


@parsed(in_python="get_infos")
def lu_with_info(A: "Tensor", pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """`torch.lu`: `linalg.lu_factor_ex` under its old name. Raises: dimension, dtype, argument. Source: torch 2.13."""
    parts = _lu_parts("lu", A, pivot)
    return write_outs(out, parts if get_infos else parts[:2], A)


def ldl_factor_ex(input: "Tensor", *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """Factors of symmetric or Hermitian matrices that may be indefinite, column-major. Raises: as `ldl_factor`."""
    check_matrices("ldl_factor_ex", input, square=True)
    if check_errors:
        _refuse_singular_symmetric(input)
    pivots = shadow.leave_unspecified(zeros_of(input._layout.shape[:-1]))
    parts = lapack_result(np.zeros(input._layout.shape), input.dtype, input), pivots, info_of(input)
    return write_outs(out, parts, input, names="LD pivots info")


def ldl_factor(input: "Tensor", *, hermitian: bool = False, out: Any = None) -> Any:
    """Factors of symmetric or Hermitian matrices that may be indefinite, column-major.

    Raises: dimension, size, dtype, argument (a singular matrix). Source: facts 4.4, torch 2.13.
    """
    check_matrices("ldl_factor", input, square=True)
    _refuse_singular_symmetric(input)
    parts = ldl_factor_ex(input, hermitian=hermitian)
    return write_outs(out, parts[:2], input, names="LD pivots")


def _refuse_singular_symmetric(A: "Tensor") -> None:
    # Only the lower triangle is looked at.
    refuse_singular("ldl_factor", A, lambda a: np.linalg.inv(np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)))
