"""Inverses and solutions of linear equations, column-major as LAPACK leaves them (facts 4.4)."""

# ruff: noqa: N803 - PyTorch's own names
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import CONJ, TensorBase, check_constant, values
from .errors import LayoutError, LayoutIndexError, fatal
from .kept import keeps
from .lapack import (
    check_dtype,
    check_matrices,
    column_major,
    info_of,
    lapack_result,
    refuse_singular,
    tried,
    wide_values,
    write_outs,
)
from .layout import Strides, contiguous_strides
from .out import write_out
from .output_layout import broadcast_shapes
from .pointwise import check_operands
from .results import finish

if TYPE_CHECKING:
    from .tensors import Tensor


def inv(A: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Inverse, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    check_matrices("inv", A, square=True, early="precise")
    refuse_singular("inv", A, np.linalg.inv)
    return _inverse(A, out)


def inverse(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`torch.inverse`: the inverse. Raises: as `inv`. Source: torch 2.13."""
    return inv(input, out=out)


def _inverse(A: "Tensor", out: Any = None) -> "Tensor":
    shape = A._layout.shape
    return write_outs(out, (lapack_result(*tried(np.linalg.inv, wide_values(A), shapes=(shape,)), A.dtype, A),), A)[0]  # type: ignore[no-any-return]


def inv_ex(A: "Tensor", *, check_errors: bool = False, out: Any = None) -> Any:
    """`inv`, and a number for each matrix: 0 where it succeeded. Raises: as `inv`."""
    check_matrices("inv_ex", A, square=True, early="precise")
    return write_outs(out, (_inverse(A), info_of(A)), A, names="inverse info")


def _is_vector(A: "Tensor", B: "Tensor") -> bool:
    a, b = A._layout.shape, B._layout.shape
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


def _solve(name: str, A: "Tensor", B: "Tensor", left: bool, out: Any, *, with_info: bool) -> Any:
    check_matrices(name, A, square=True, kernel="never")
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
    check_dtype(name, A)
    strides = column_major(shape)
    found = finish(np.zeros(shape), A.dtype, A, B, strides=strides)
    if vector:
        found = finish(np.zeros(shape[:-1]), A.dtype, A, B, strides=_vector_strides(shape[:-1]))
    shadow.leave_unspecified(found)
    if with_info:
        return write_outs(out, (found, info_of(A)), A, B, names="result info")
    return write_outs(out, (found,), A, B)


def _vector_strides(shape: tuple[int, ...]) -> Strides:
    # A stack of vectors is taken for a matrix: its last two dimensions change places in memory.
    return column_major(shape) if len(shape) >= 2 else contiguous_strides(shape)


@keeps("A", "B", rule="0<1")
def solve(A: "Tensor", B: "Tensor", *, left: bool = True, out: "Tensor | None" = None) -> "Tensor":
    """Solution of `A X = B`, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    result = _solve("solve", A, B, left, None, with_info=False)
    if B.numel():
        refuse_singular("solve", A, np.linalg.inv)
    return write_outs(out, result, A, B)[0]  # type: ignore[no-any-return]


@keeps("A", "B", rule="0<1")
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


@keeps("input", "B", rule="0<1")
def solve_triangular(
    input: "Tensor", B: "Tensor", *, upper: bool, left: bool = True, unitriangular: bool = False,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`solve` with a triangular matrix, column-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if input.dtype is not B.dtype:
        raise LayoutError("dtype", f"solve_triangular: {input.dtype} and {B.dtype}")
    shape = _matrices("solve_triangular", input, B, left)
    check_dtype("solve_triangular", input, early="nothing", kernel="always")
    return write_outs(out, (lapack_result(np.zeros(shape), input.dtype, input, B),), input, B)[0]  # type: ignore[no-any-return]


@keeps("input", "A")
def triangular_solve(
    input: "Tensor", A: "Tensor", upper: bool = True, transpose: bool = False, unitriangular: bool = False, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """`linalg.solve_triangular` under its old name, with a copy of the matrix. Raises: dimension, size, dtype."""
    shape = _matrices("triangular_solve", A, input, True)
    check_dtype("triangular_solve", A, early="nothing", kernel="always")
    batch = shape[:-2]
    a = np.broadcast_to(wide_values(A), (*batch, *A._layout.shape[-2:]))
    return write_outs(
        out,
        (lapack_result(np.zeros(shape), input.dtype, A, input), lapack_result(a, A.dtype, A, input)),
        A,
        input,
        names="solution cloned_coefficient",
    )


@keeps("input", "input2")
def cholesky_solve(input: "Tensor", input2: "Tensor", upper: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.solve` with a triangular root, column-major. Raises: dimension, size, dtype. Source: facts 4.4."""
    shape = _matrices("cholesky_solve", input2, input, True)
    if input.dtype is not input2.dtype:
        raise LayoutError("dtype", f"cholesky_solve: {input.dtype} and {input2.dtype}")
    check_dtype("cholesky_solve", input2, early="nothing", kernel="always")
    return write_out(out, lapack_result(np.zeros(shape), input.dtype, input, input2), input, input2, row_major=True)


def cholesky_inverse(input: "Tensor", upper: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Inverse of the square of a triangular root, column-major. Raises: dimension, size. Source: torch 2.13."""
    check_matrices("cholesky_inverse", input, square=True, early="nothing", kernel="always")
    if (np.diagonal(values(input), 0, -2, -1) == 0).any():
        raise LayoutError("argument", "cholesky_inverse: a diagonal element is zero")
    return write_outs(out, (lapack_result(np.zeros(input._layout.shape), input.dtype, input),), input, copies=True)[0]  # type: ignore[no-any-return]


@keeps("LU", "pivots", "B", rule="0<2 1<0,2")
def lu_solve(
    LU: "Tensor", pivots: "Tensor", B: "Tensor", *, left: bool = True, adjoint: bool = False,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """`solve` with `lu_factor`'s result; from the right row-major, conjugated. Raises: dimension, size, dtype."""
    check_dtype("lu_solve", LU, kernel="never")
    if LU.dtype is not B.dtype:
        raise LayoutError("dtype", f"lu_solve: {LU.dtype} and {B.dtype}")
    if pivots.dtype is not dt.int32:
        raise LayoutError("dtype", f"lu_solve: the pivots must be int32, got {pivots.dtype}")
    shape = _matrices("lu_solve", LU, B, left)
    if pivots._layout.shape != LU._layout.shape[:-1]:
        raise LayoutError("size", f"lu_solve: pivots of {pivots._layout.shape} for matrices of {LU._layout.shape}")
    check_dtype("lu_solve", B)
    result = lapack_result(np.zeros(shape), B.dtype, LU, B)
    if not left:
        # The adjoint of the solution of the adjoint system.
        result = lapack_result(np.zeros(shape), B.dtype, LU, B, columns=False)
        if B.dtype.is_complex and result.numel():
            result._bits ^= CONJ
    return write_outs(out, (result,), LU, B)[0]  # type: ignore[no-any-return]


@keeps("input", "LU_data", "LU_pivots", rule="1<0 2<0,1")
def old_lu_solve(input: "Tensor", LU_data: "Tensor", LU_pivots: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`linalg.lu_solve` under its old name. Raises: as `linalg.lu_solve`."""
    return lu_solve(LU_data, LU_pivots, input, out=out)


def pinv(input: "Tensor", rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
         out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """Pseudoinverse. Raises: dimension, dtype. Source: torch 2.13."""
    check_matrices("pinv", input, square=hermitian, early="precise")
    *lead, m, n = input._layout.shape
    batch: Any = tuple(lead)
    for t in (rcond, atol, rtol):
        if t is not None:
            check_operands("pinv", (t,))
        if isinstance(t, TensorBase):
            if t.dtype.is_complex:
                raise LayoutError("dtype", "pinv: complex tolerances are refused")
            check_constant("pinv", "its tolerance", t)
            batch = broadcast_shapes(batch, t._layout.shape) if input.numel() else batch
    return write_outs(out, (lapack_result(np.zeros((*batch, n, m)), input.dtype, input, columns=False),), input)[0]  # type: ignore[no-any-return]


def pinverse(input: "Tensor", rcond: float = 1e-15) -> "Tensor":
    """`linalg.pinv` under its old name. Raises: as `linalg.pinv`."""
    return pinv(input, rcond)


def ldl_solve(
    LD: "Tensor", pivots: "Tensor", B: "Tensor", *, hermitian: bool = False, out: "Tensor | None" = None
) -> "Tensor":
    """`solve` with `ldl_factor`'s result, column-major. Raises: dimension (also IndexError), size, dtype."""
    check_matrices("ldl_solve", LD, square=True, kernel="never")
    if B.ndim < 2:
        raise LayoutIndexError("dimension", f"ldl_solve: a matrix is needed, got shape {B._layout.shape}")
    if LD.dtype is not B.dtype:
        raise LayoutError("dtype", f"ldl_solve: {LD.dtype} and {B.dtype}")
    shape = _matrices("ldl_solve", LD, B, True)
    if pivots._layout.shape != LD._layout.shape[:-1]:
        raise LayoutError("size", f"ldl_solve: pivots of {pivots._layout.shape} for matrices of {LD._layout.shape}")
    if pivots.dtype.category != "int":
        raise LayoutError("dtype", f"ldl_solve: the pivots must be integers, got {pivots.dtype}")
    if LD._layout.shape[:-2] != shape[:-2]:
        raise fatal(LayoutError("bounds", f"ldl_solve: the pivots of {LD._layout.shape} are read for {shape}"))
    check_dtype("ldl_solve", LD)
    return write_outs(out, (lapack_result(np.zeros(shape), B.dtype, LD, B),), LD, B)[0]  # type: ignore[no-any-return]
