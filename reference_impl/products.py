"""matmul and what is made of it: products that broadcast, `linear`, outer products.

Which of several ways PyTorch takes shows in what is a view and in the version of the result, so that the ways are taken
here as well.
"""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, linear_algebra, reductions, shadow, view_ops
from . import dtypes as dt
from . import views as vw
from .contiguity import is_contiguous
from .copies import contiguous
from .core import as_int, check_inplace, check_overlap, check_tensors, recorded, requires_grad, values
from .errors import LayoutError, LayoutIndexError, UnsupportedError
from .kept import keeps
from .layout import Layout, Shape, contiguous_strides, wrap_dim
from .linear_algebra import ALLOWED, addmm, bmm, deliver, dot, mm, mv, need_rank, same_dtype
from .out import check_out, resize_output, write_out, write_over
from .output_layout import broadcast_shapes
from .pointwise import Op, apply, apply_
from .promotion import common_dtype
from .results import check_real_gradient, finish, need_kernel, wide
from .view_ops import reshape_to

if TYPE_CHECKING:
    from .tensors import Tensor


def matmul(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of vectors, matrices or stacks of matrices, whose leading dimensions broadcast.

    Shapes: (…, n, k) and (…, k, m) to (…, n, m); a vector stands for one row or column that is left out afterwards.
    Raises: dimension, size, broadcast, dtype, and with `out` grad, overlap. Source: facts 4.4, torch 2.13.
    """
    check_tensors("matmul", input, other)
    a, b = input.ndim, other.ndim
    if not a or not b:
        raise LayoutError(
            "dimension", f"matmul: operands need dimensions, got {input._layout.shape} and {other._layout.shape}"
        )
    if a == 1 and b == 1:
        return dot(input, other, out=out)
    if a == 2 and b == 1:
        return mv(input, other, out=out)
    if a == 2 and b == 2:
        return mm(input, other, out=out)
    if a == 1 and b == 2:
        return _vector_times_matrix(input, other, out)
    if out is None:
        return _batched(input, other)
    check_out(out, input, other)
    shape = _product_shape(input._layout.shape, other._layout.shape)
    try:
        result = _batched(input, other, fold=False)
    finally:
        # Resized before inner lengths and dtypes are compared, and before kernels are looked for.
        resize_output(out, shape)
    return deliver("matmul", out, result._layout.shape, result.dtype, (input, other), lambda: result, repeats=ALLOWED)


def _product_shape(a: Shape, b: Shape) -> Shape:
    return (*broadcast_shapes(a[:-2], b[:-2]), *a[:-1][-1:], *(b[-1:] if len(b) > 1 else ()))


def _vector_times_matrix(input: "Tensor", other: "Tensor", out: "Tensor | None") -> "Tensor":
    result = mm(view_ops.unsqueeze(input, 0), other, out=out)
    # A dimension is taken off in place, which counts as a write.
    result._layout = vw.squeeze(result._layout, (0,))
    result._versions[0] += 1
    return result


def _batched(input: "Tensor", other: "Tensor", *, fold: bool = True) -> "Tensor":
    """A product with at least one operand of three dimensions or more, over new memory."""
    a, b = input._layout, other._layout
    if fold and requires_grad(input) and b.ndim >= 3:
        if a.ndim == 2:
            return _matrix_times_stack(input, other)
        if a.ndim == b.ndim == 3 and a.shape[0] == 1 != b.shape[0]:
            return _matrix_times_stack(view_ops.squeeze(input, 0), other)
    n = 1 if a.ndim == 1 else a.shape[-2]
    m = 1 if b.ndim == 1 else b.shape[-1]
    k = a.shape[-1]
    folds = _folds(input, other)
    if folds:
        same_dtype("matmul", input, other)
        if b.ndim == 2:
            return _stack_times_matrix(input, other)
        if b.ndim == 1:
            return _stack_times_vector(input, other)
        if a.ndim == 1:
            return _stack_times_vector(view_ops.mT(other), input)
    inner = b.shape[-1] if b.ndim == 1 else b.shape[-2]
    batch = (a.shape[:-2], b.shape[:-2])
    lead = broadcast_shapes(*batch) if not folds else max(batch, key=len)
    count = prod(lead)
    # Where a stack cannot be viewed it is copied, which not every dtype can be, before lengths are compared.
    left = reshape_to(view_ops.expand(_as_matrix(input, 0), (*lead, n, k)), (count, n, k))
    right = reshape_to(view_ops.expand(_as_matrix(other, 1), (*lead, inner, m)), (count, inner, m))
    if k != inner:
        raise LayoutError("size", f"matmul: shapes {a.shape} and {b.shape} cannot be multiplied (facts 4.4)")
    result = bmm(left, right)
    shape = (*lead, *((n,) if a.ndim > 1 else ()), *((m,) if b.ndim > 1 else ()))
    result._layout = Layout(shape, contiguous_strides(shape), 0)
    return recorded(result, input, other)


def _as_matrix(t: "Tensor", dim: int) -> "Tensor":
    return t if t.ndim > 1 else view_ops.unsqueeze(t, dim)


def _folds(input: "Tensor", other: "Tensor") -> bool:
    """Whether PyTorch makes one matrix of a stack; it shows in which errors come first, and where it is empty."""
    large, small = (input, other) if input.ndim >= other.ndim else (view_ops.mT(other), input)
    if large.ndim < 3 or small.ndim > 2:
        return False
    if requires_grad(small):
        return True
    if input.ndim == 2:
        return False
    shape, strides, _ = large._layout
    return not large.numel() or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _stack_times_matrix(input: "Tensor", other: "Tensor") -> "Tensor":
    """A stack made one high matrix, times a matrix."""
    *rows, k = input._layout.shape
    result = mm(reshape_to(input, (prod(rows), k)), other)
    full = (*rows, result._layout.shape[1])
    result._layout = Layout(full, contiguous_strides(full), 0)
    return result


def _stack_times_vector(stack: "Tensor", vector: "Tensor") -> "Tensor":
    """A stack made one high matrix, times a vector."""
    *rows, k = stack._layout.shape
    result = mv(reshape_to(stack, (prod(rows), k)), vector)
    full = tuple(rows)
    result._layout = Layout(full, contiguous_strides(full), 0)
    return result


def _matrix_times_stack(input: "Tensor", other: "Tensor") -> "Tensor":
    """A matrix that requires grad times a stack: the transposed product, copied unless it is contiguous both ways."""
    stack = view_ops.mT(other)
    shape = stack._layout.shape
    rows = prod(shape[:-1])
    folded = reshape_to(stack, (rows, shape[-1]))
    result = mm(folded, view_ops.t(input))
    full = (*shape[:-1], result._layout.shape[1])
    result._layout = Layout(full, contiguous_strides(full), 0)
    return contiguous(view_ops.mT(result))


def linear(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None, *, out: "Tensor | None" = None) -> "Tensor":
    """`input @ weight.T + bias`.

    Shapes: (…, k), (m, k) and (m,) to (…, m).
    Raises: dimension, size, broadcast, dtype. Source: facts 4.4, torch 2.13.
    """
    if out is not None:
        return write_out(out, linear(input, weight, bias), input, weight, bias, exact=True)
    check_tensors("linear", input, weight, *(() if bias is None else (bias,)))
    if not input.ndim or not weight.ndim:
        raise LayoutError(
            "dimension", f"linear: operands need dimensions, got {input._layout.shape}, {weight._layout.shape}"
        )
    if bias is None:
        return matmul(input, view_ops.t(weight))
    if input.ndim == 2:
        return addmm(bias, input, view_ops.t(weight))
    b = bias._layout
    row = (b.ndim == 1 or sum(n != 1 for n in b.shape) == 1) and is_contiguous(b.shape, b.strides)
    if row and is_contiguous(*input._layout[:2]):
        shape = input._layout.shape
        flat = reshape_to(input, (prod(shape[:-1]), shape[-1]))
        result = addmm(bias, flat, view_ops.t(weight))
        return view_ops.view(result, (*shape[:-1], result._layout.shape[1]))
    result = matmul(input, view_ops.t(weight))
    return arithmetic.add_(result, bias)


@keeps("input1", "input2", "weight")
def bilinear(input1: "Tensor", input2: "Tensor", weight: "Tensor", bias: "Tensor | None" = None) -> "Tensor":
    """`input1 @ weight[k] @ input2` for every matrix of the weight, plus a bias; without one a view of rows.

    Shapes: (…, n), (…, m), (k, n, m) and (k,) to (…, k).
    Raises: dimension (also IndexError), size, broadcast, dtype, grad (complex numbers, but through the bias).
    Source: facts 4.4, torch 2.13.
    """
    tensors = (input1, input2, weight, *(() if bias is None else (bias,)))
    check_tensors("bilinear", *tensors)
    a, b, w = (t._layout.shape for t in tensors[:3])
    same_dtype("bilinear", *tensors)
    if len(a) != len(b) or a[:-1] != b[:-1]:
        raise LayoutError("size", f"bilinear: inputs of {a} and {b}")
    if not a or len(w) < 2 or (len(w) == 2 and a[-1] == w[1]):
        raise LayoutIndexError("dimension", f"bilinear: inputs of {a} and weights of {w}")
    if a[-1] != w[1] or b[-1] != w[2]:
        raise LayoutError("size", f"bilinear: inputs of {a} and {b} for weights of {w}")
    if bias is not None and not bias.ndim:
        raise LayoutIndexError("dimension", "bilinear: the bias has no dimensions")
    if bias is not None and bias._layout.shape[0] != w[0]:
        raise LayoutError("size", f"bilinear: a bias of {bias._layout.shape} for weights of {w}")
    if len(w) > 3:
        raise LayoutError("dimension", f"bilinear: weights of {w} are no stack of matrices")
    if not a[-1] or not b[-1]:
        raise LayoutError("size", f"bilinear: inputs of {a} and {b} have nothing to multiply")
    d = input1.dtype
    need_kernel("bilinear", d, "ifc")
    x, y, z = (wide(t) for t in tensors[:3])
    with np.errstate(all="ignore"):
        rows = (x.reshape(-1, w[1]), z, y.reshape(-1, w[2]))
        found = np.einsum("ni,kij,nj->nk", *rows)
        magnitude = np.einsum("ni,kij,nj->nk", *[np.abs(r) for r in rows])
    check_real_gradient("bilinear", d, *tensors[:3])
    flat = finish(found, d, *tensors[:3], magnitude=magnitude, terms=w[1] * w[2], roundings=2, sums=False)
    result = view_ops.view(flat, (*a[:-1], w[0]))
    return result if bias is None else arithmetic.add(result, bias)


@keeps("input", "vec2")
def outer(input: "Tensor", vec2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Products of every element of one vector with every element of another: elementwise, so that dtypes promote.

    Shapes: (n,) and (m,) to (n, m).
    Raises: dimension, dtype, and with `out` grad, overlap. Source: facts 4.4, torch 2.13.
    """
    check_tensors("outer", input, vec2)
    need_rank("outer", input, 1)
    need_rank("outer", vec2, 1)
    return arithmetic.mul(reshape_to(input, (input.numel(), 1)), vec2, out=out)


def ger(input: "Tensor", vec2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`outer` under its old name. Raises: as `outer`."""
    return outer(input, vec2, out=out)


def rmatmul(self: "Tensor", other: "Tensor") -> "Tensor":
    """`other @ self`. Raises: as `matmul`."""
    return matmul(other, self)


@keeps("input", "batch1", "batch2", rule="1<2 2<1")
def addbmm(input: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1,
           out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * sum(batch1 @ batch2)`, row-major. Raises: dimension, size, broadcast, dtype."""
    for t, looked_at in ((batch1, 2), (batch2, 3)):
        if t.ndim < looked_at:
            raise LayoutIndexError("dimension", f"addbmm: 3 dimensions are needed, got {t.ndim}")
    for t in (batch1, batch2):
        if t.ndim != 3:
            raise LayoutError("dimension", f"addbmm: 3 dimensions are needed, got {t.ndim}")
    a, b = batch1._layout.shape, batch2._layout.shape
    if a[0] != b[0] or a[2] != b[1]:
        raise LayoutError("size", f"addbmm: {a} and {b} cannot be multiplied")
    if any(t.dtype is not input.dtype for t in (batch1, batch2)):
        raise LayoutError("dtype", "addbmm: operands of one dtype are needed")
    own = view_ops.expand(input.detach(), (a[1], b[2]))
    if input.dtype is dt.bool_ and 0 not in a and 0 not in b:
        raise UnsupportedError("dtype", "addbmm: PyTorch has no kernel for bool")
    total = reductions.sum(linear_algebra.bmm(batch1, batch2), 0, dtype=input.dtype)
    factors = [linear_algebra._factor("addbmm", f, input.dtype) for f in (beta, alpha)]
    if input.dtype.category == "int":
        factors = [int(f) for f in factors]
    result = arithmetic.add(arithmetic.mul(own, factors[0]), arithmetic.mul(total, factors[1]))
    made = finish(values(result), input.dtype, input, batch1, batch2)
    if input.dtype.category in ("float", "complex"):
        shadow.leave_unspecified(made)
    return write_out(out, made, input, batch1, batch2)


@keeps("self", "batch1", "batch2", rule="1<2 2<1")
def addbmm_(self: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addbmm` in place. Raises: grad, overlap, dimension, size, dtype."""
    result = addbmm(self.detach(), batch1, batch2, beta=beta, alpha=alpha)
    check_inplace(self, batch1, batch2)
    resize_output(self, result._layout.shape)  # which no other operator in place does
    return write_over(self, result, batch1, batch2)


@keeps("self", "vec1", "vec2", rule="1<2 2<1")
def addr_(self: "Tensor", vec1: "Tensor", vec2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addr` in place. Raises: grad, overlap, dimension, size, dtype."""
    operands, op = _outer_sum(self, vec1, vec2, beta, alpha)
    return apply_(op, self, operands[1:])


@keeps("input", "vec1", "vec2", rule="1<2 2<1")
def addr(input: "Tensor", vec1: "Tensor", vec2: "Tensor", *, beta: Any = 1, alpha: Any = 1,
         out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * outer(vec1, vec2)`, elementwise. Raises: dimension, size, dtype. Source: torch 2.13."""
    operands, op = _outer_sum(input, vec1, vec2, beta, alpha)
    return apply(op, operands, out)


def _outer_sum(input: "Tensor", vec1: "Tensor", vec2: "Tensor", beta: Any, alpha: Any) -> tuple[tuple[Any, ...], Op]:
    """The operands of `addr`, the first vector as a column, and what is done to them."""
    for t in (vec1, vec2):
        if t.ndim != 1:
            raise LayoutError("dimension", f"addr: vectors are needed, got shape {t._layout.shape}")
    shape = (vec1.numel(), vec2.numel())
    own = view_ops.expand(input, shape)

    common = common_dtype(own, vec1, vec2)
    for number in (beta, alpha):
        if isinstance(number, float) and common.category in ("int", "bool"):
            raise LayoutError("dtype", f"addr: {number} is no integer, the operands are {common}")
        if isinstance(number, bool) and common is not dt.bool_:
            raise LayoutError("dtype", f"addr: a boolean factor needs boolean operands, got {common}")

    def compute(s: Any, a: Any, b: Any) -> Any:
        if s.dtype.kind == "b":
            return (s & bool(beta)) | (a & b & bool(alpha))
        part = np.array(alpha).astype(s.dtype) * a * b
        return part if beta == 0 else np.array(beta).astype(s.dtype) * s + part

    def magnitude(s: Any, a: Any, b: Any) -> Any:
        return abs(beta) * s + abs(alpha) * a * b

    op = Op("addr", compute, "bifc", exact=False, magnitude=magnitude, roundings=2)
    return (own, reshape_to(vec1, (shape[0], 1)), vec2), op


@keeps("input", "other")
def cross(input: "Tensor", other: "Tensor", dim: Any = None, *, out: "Tensor | None" = None) -> "Tensor":
    """Products of vectors of three, along the first dimension of that length unless told, row-major.

    Raises: dimension, size, dtype, broadcast. Source: facts 4.4, torch 2.13.
    """
    if dim is None:
        if 3 not in input._layout.shape:
            raise LayoutError("size", f"cross: no dimension of {input._layout.shape} has length 3")
        dim = input._layout.shape.index(3)
    return linalg_cross(input, other, dim=dim, out=out)


@keeps("input", "other")
def linalg_cross(input: "Tensor", other: "Tensor", *, dim: int = -1, out: "Tensor | None" = None) -> "Tensor":
    """Products of vectors of three, row-major. Raises: dimension, size, dtype, broadcast. Source: torch 2.13."""
    if input.ndim != other.ndim:
        raise LayoutError("dimension", f"cross: {input.ndim} and {other.ndim} dimensions")
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    for t in (input, other):
        if not t.ndim:
            raise LayoutIndexError("dimension", "cross: an operand has no dimensions")
        if t._layout.shape[d] != 3:
            raise LayoutError("size", f"cross: dimension {d} of shape {t._layout.shape} must have length 3")
    shape = broadcast_shapes(input._layout.shape, other._layout.shape)
    if out is not None:
        if out.dtype is not input.dtype:
            raise LayoutError("dtype", f"cross: out must have the dtype {input.dtype}, got {out.dtype}")
        check_overlap(out)
    if input.dtype is not other.dtype:
        raise LayoutError("dtype", f"cross: {input.dtype} and {other.dtype}")
    need_kernel("cross", input.dtype, "ifc")
    wide = {"float": np.float64, "complex": np.complex128}.get(input.dtype.category, input.dtype.numpy)
    a, b = (np.moveaxis(np.broadcast_to(values(t).astype(wide), shape), d, -1) for t in (input, other))
    with np.errstate(all="ignore"):
        parts = [(a[..., i] * b[..., j], a[..., j] * b[..., i]) for i, j in ((1, 2), (2, 0), (0, 1))]
        result = np.moveaxis(np.stack([x - y for x, y in parts], -1), -1, d)
        size = np.moveaxis(np.stack([np.abs(x) + np.abs(y) for x, y in parts], -1), -1, d)
    return write_out(out, finish(result, input.dtype, input, other, magnitude=size, terms=2), input, other)
