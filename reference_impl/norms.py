"""Norms: of vectors, of matrices, and the choice between them in `torch.linalg` and `torch`; row-major (facts 4.4)."""

# ruff: noqa: N803 - PyTorch's own names

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import extremes, reductions, shadow, view_ops
from .copies import to
from .core import TensorBase, as_dims, as_int, values
from .errors import LayoutError, LayoutTypeError
from .lapack import check_dtype
from .layout import wrap_dim
from .out import write_out, write_over
from .parsing import parsed
from .promotion import promote_types
from .reductions import inexact, read_after_resizing, reduced_dims
from .results import finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _check_dtype(name: str, input: "Tensor", dtype: Any) -> Any:
    own = input.dtype
    if not (own.is_floating_point or own.is_complex):
        raise LayoutError("dtype", f"{name}: floating point or complex is needed, got {own}")
    if dtype is None:
        return own
    if not (dtype.is_floating_point or dtype.is_complex):
        raise LayoutError("dtype", f"{name}: dtype must be floating point or complex, got {dtype}")
    if own.is_complex != dtype.is_complex:
        raise LayoutError("dtype", f"{name}: dtype {dtype} for a {own} tensor")
    if own in dt.FLOAT8 and dtype is not own:
        raise LayoutError("dtype", f"{name}: {own} is not promoted to {dtype}")
    if promote_types(own, dtype) is not dtype:
        raise LayoutError("dtype", f"{name}: {own} would be narrowed to {dtype}")
    return dtype


@parsed(given_only="ord")
def vector_norm(
    input: "Tensor", ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Norm over dimensions, all unless told. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    d = _check_dtype("vector_norm", input, dtype)
    if isinstance(ord, complex):
        raise LayoutError("argument", "vector_norm: ord must be a real number")
    power = float(ord)
    dims = reduced_dims(input, dim)
    if out is not None and out.dtype is not d.to_real():
        raise LayoutError("dtype", f"vector_norm: out must have the dtype {d.to_real()}, got {out.dtype}")
    _need_elements("vector_norm", input, power, dims, dim)
    _need_kernel(input, power, dims, dim)
    a = values(to(input, dt.complex64) if input.dtype is dt.complex32 else input)
    with np.errstate(all="ignore"):
        size = np.abs(a.astype(np.complex128 if input.dtype.is_complex else np.float64))
    found = _norm(size, power, dims, keepdim, is_single=_is_single(input, dims, dim))
    # A norm is the root of a sum whose terms are added in turn, an extreme or a number of elements.
    lost = None if power == 0 or abs(power) == np.inf else np.abs(found) / abs(power)
    made = inexact(found, input, d.to_real(), dims, keepdim, None, magnitude=lost, in_turn=True)
    _forget_far(made, found, power)
    if out is input:
        read_after_resizing(out, made._layout.shape, dim)
        shadow.leave_unspecified(made)
    return write_out(out, made, input)


def _need_kernel(x: "Tensor", power: float, dims: tuple[int, ...], dim: Any) -> None:
    """Refuse what there is no kernel for. Where every group is a single element, only its size is asked for."""
    taken = "fch"
    if not x.numel():
        taken = "fch8e"
    elif _is_single(x, dims, dim):
        taken = "fch8e" if power == 0 else "fch8"
    need_kernel("vector_norm", x.dtype, taken)


def _is_single(x: "Tensor", dims: tuple[int, ...], dim: Any) -> bool:
    """Whether each group is one element; a dimension of a scalar has no length that would say so."""
    return builtins.all(x._layout.shape[k] == 1 for k in dims) if x._layout.shape else dim is None


def _need_elements(name: str, x: "Tensor", power: float, dims: tuple[int, ...], dim: Any) -> None:
    """Refuse the smallest and largest of nothing. Raises: size."""
    shape = x._layout.shape
    if (power < 0 or power == np.inf) and 0 in shape:
        if dim is None or not dims:
            raise LayoutError("size", f"{name}: nothing to take the norm of order {power} of")
        if builtins.any(shape[k] == 0 for k in dims):
            raise LayoutError("size", f"{name}: dimensions {dims} of shape {shape} are empty")


def _norm(size: Any, power: float, dims: tuple[int, ...], keepdim: bool, *, is_single: bool) -> Any:
    with np.errstate(all="ignore"):
        if power == np.inf:
            return np.max(size, axis=dims, keepdims=keepdim)
        if power == -np.inf:
            return np.min(size, axis=dims, keepdims=keepdim)
        if power == 0:
            return np.sum(size != 0, axis=dims, keepdims=keepdim).astype(np.float64)
        if is_single:
            return np.sum(size, axis=dims, keepdims=keepdim)  # of one number: no power is taken
        return np.sum(size**power, axis=dims, keepdims=keepdim) ** (1 / power)


def _forget_far(made: "Tensor", found: Any, power: float) -> None:
    """Leave unspecified what is past the range of sums of powers: whether it shows depends on how they are taken.

    `found` are the norms in double precision. Short floats are summed as float32 (torch 2.13).
    """
    if not made.numel() or power in (0, 1) or abs(power) == np.inf:
        return
    with np.errstate(all="ignore"):
        limits = np.finfo(np.float64 if made.dtype.itemsize == 8 else np.float32)
        sums = np.abs(found) ** power
        far = np.reshape((sums > limits.max / 2) | (sums > 0) & (sums < limits.tiny * 2**24), made._layout.shape)
    if far.any():
        known = shadow.marks_of(made)
        known = np.zeros(far.shape, np.uint8) if known is None else known
        shadow.stamp(made, np.where(far, shadow.UNSPECIFIED, known).astype(np.uint8))


def _two(A: "Tensor", dim: Any, name: str) -> tuple[int, int]:
    given = as_dims(dim, "dim")
    if len(given) != 2:
        raise LayoutError("dimension", f"{name}: two dimensions are needed, got {given}")
    a, b = (wrap_dim(d, A.ndim) for d in given)
    if a == b:
        raise LayoutError("dimension", f"{name}: dimension {a} is given twice")
    return a, b


def matrix_norm(
    input: "Tensor", ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Norm of matrices that lie in two dimensions. Raises: dimension, size, dtype, argument. Source: torch 2.13."""
    _matrix("matrix_norm", input)
    if ord not in ("fro", "nuc") and (isinstance(ord, str) or abs(float(ord)) not in (1, 2, np.inf)):
        raise LayoutError("argument", f"matrix_norm: order {ord!r} is not supported")
    a, b = _two(input, dim, "matrix_norm")
    d = _check_dtype("matrix_norm", input, dtype)
    if ord != "fro" and (ord == "nuc" or abs(float(ord)) == 2):
        check_dtype("matrix_norm", input, early="precise", kernel="never")
    if out is not None and out.dtype is not d.to_real():
        raise LayoutError("dtype", f"matrix_norm: out must have the dtype {d.to_real()}, got {out.dtype}")
    if ord == "fro":
        return vector_norm(input, 2, (a, b), keepdim, dtype=dtype, out=out)
    if ord == "nuc" or abs(float(ord)) == 2:
        return write_out(out, _spectral(input, ord, a, b, keepdim, d), input, row_major=True)
    first, second = (b, a) if abs(float(ord)) == np.inf else (a, b)
    sums = vector_norm(input, 1, first, keepdim, dtype=dtype)
    if not keepdim and first < second:
        second -= 1
    return write_out(out, _chosen(sums, ord, second, keepdim), input)


def _chosen(found: "Tensor", ord: Any, dim: int, keepdim: bool) -> "Tensor":
    """Largest or smallest along a dimension; nothing has the largest 0, and no smallest."""
    d = wrap_dim(dim, found.ndim)
    if float(ord) < 0:
        return extremes.amin(found, d, keepdim)
    if found._layout.shape[d]:
        return extremes.amax(found, d, keepdim)
    shape = [n if k != d else 1 for k, n in enumerate(found._layout.shape) if keepdim or k != d]
    result = finish(np.zeros(shape), found.dtype, found, exact=True)
    # Filled with a zero in place.
    result._versions[0] = 1
    return result


def _spectral(A: "Tensor", ord: Any, a: int, b: int, keepdim: bool, d: Any) -> "Tensor":
    from .factorizations import svdvals

    order = [k for k in range(A.ndim) if k not in (a, b)] + [a, b]
    found = svdvals(view_ops.permute(to(A, d), order))
    result = reductions.sum(found, -1, keepdim) if ord == "nuc" else _chosen(found, ord, -1, keepdim)
    shadow.leave_unspecified(result)
    if keepdim:
        back = [order.index(k) for k in range(A.ndim)]
        result = view_ops.permute(view_ops.unsqueeze(result, -1), back)
    return result


def _matrix(name: str, A: Any) -> None:
    if not isinstance(A, TensorBase):
        raise LayoutTypeError("argument", f"{name}: expected a Tensor, got {type(A).__name__}")
    if len(A._layout.shape) < 2:
        raise LayoutError("dimension", f"{name}: at least 2 dimensions are needed, got shape {A._layout.shape}")


def norm(
    input: "Tensor", ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None,
    dtype: Any = None,
) -> "Tensor":  # fmt: skip
    """Norm of a vector or a matrix, as the order and the dimensions say. Raises: as both. Source: torch 2.13."""
    dims = None if dim is None else as_dims(dim, "dim")
    if ord is not None:
        if dims is not None and len(dims) not in (1, 2):
            raise LayoutError("dimension", f"norm: one or two dimensions are needed with an order, got {dims}")
        if dims is None and input.ndim not in (1, 2):
            raise LayoutError("dimension", f"norm: dimensions must be given for {input.ndim} of them with an order")
        if (dims is not None and len(dims) == 2) or (dims is None and input.ndim == 2):
            return matrix_norm(input, ord, dims or (0, 1), keepdim, dtype=dtype, out=out)
        if isinstance(ord, str):
            raise LayoutError("dimension", f"norm: order {ord!r} is one of matrices")
    return vector_norm(input, 2 if ord is None else ord, dims, keepdim, dtype=dtype, out=out)


def torch_norm(
    input: "Tensor",
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: "Tensor | None" = None,
    dtype: Any = None,
) -> "Tensor":
    """`vector_norm`; `matrix_norm` for the nuclear one. Raises: as both. Source: facts 4.4, torch 2.13."""
    dims = None if dim is None else as_dims(dim, "dim")
    if isinstance(p, str) and not (p == "fro" and (dims is None or len(dims) <= 2)):
        return matrix_norm(input, p, tuple(range(input.ndim)) if dims is None else dims, keepdim, dtype=dtype, out=out)
    return vector_norm(input, 2.0 if p in ("fro", None) else p, dims, keepdim, dtype=dtype, out=out)


def norm_of(self: "Tensor", p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> "Tensor":
    """`torch.norm` as a method, which has no `out`. Raises: as `torch.norm`."""
    return torch_norm(self, p, dim, keepdim, dtype=dtype)


def renorm_(self: "Tensor", p: Any, dim: int, maxnorm: Any) -> "Tensor":
    """`renorm` in place. Raises: grad, overlap, dimension, dtype, argument."""
    return write_over(self, renorm(self.detach(), p, dim, maxnorm))


@parsed(given_only="p")
def renorm(input: "Tensor", p: Any, dim: int, maxnorm: Any, *, out: "Tensor | None" = None) -> "Tensor":
    """Slices scaled down to a largest norm, row-major. Raises: dimension, dtype, argument. Source: facts 4.4."""
    if input.dtype.category not in ("float", "complex"):
        raise LayoutError("dtype", f"renorm: floating point is needed, got {input.dtype}")
    if isinstance(p, complex) or p <= 0:
        raise LayoutError("argument", f"renorm: p must be positive, got {p}")
    if maxnorm < 0:
        raise LayoutError("argument", f"renorm: maxnorm must not be negative, got {maxnorm}")
    if input.ndim < 2:
        raise LayoutError("dimension", f"renorm: at least two dimensions are needed, got {input.ndim}")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if input.dtype in dt.FLOAT8:
        raise LayoutError("dtype", f"renorm: {input.dtype} is not promoted")
    need_kernel("renorm", input.dtype, "fc")
    a = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    axes = tuple([k for k in range(a.ndim) if k != d])
    with np.errstate(all="ignore"):
        if p == np.inf:
            size = np.max(np.abs(a), axis=axes, keepdims=True, initial=0)
        else:
            size = np.sum(np.abs(a) ** p, axis=axes, keepdims=True) ** (1 / p)
        result = np.where(size > maxnorm, a * (maxnorm / (size + 1e-7)), a)
        lost = np.where(size > maxnorm, np.abs(result) / p, 0)
    terms = a.size // builtins.max(a.shape[d], 1)
    made = finish(result, input.dtype, input, magnitude=lost, terms=terms, sums=False, in_turn=True)
    return write_out(out, made, input)
