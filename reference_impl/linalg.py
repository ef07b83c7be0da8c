"""Products of matrices and vectors: row-major for any layout of the operands (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import cast
from .core import TensorBase, as_int_list, build, check_inplace, from_array, recorded, values, view_of, written
from .dtypes import dtype
from .elementwise import broadcast_shapes
from .errors import LayoutError, UnsupportedError
from .layout import Layout, contiguous_strides, wrap_dim
from .out import write_out
from .reductions import sum
from .views import expand, permute

if TYPE_CHECKING:
    from .tensors import Tensor

_LIMIT = {
    "float16": 2.0**11,
    "bfloat16": 2.0**8,
    "float32": 2.0**24,
    "float64": 2.0**53,
    "complex64": 2.0**24,
    "complex128": 2.0**53,
}


def _check(name: str, *tensors: Any, kernel_first: bool = False) -> dtype:
    first: dtype = tensors[0].dtype
    if kernel_first:
        _check_kernel(name, first)
    for t in tensors[1:]:
        if t.dtype is not first:
            raise LayoutError("dtype", f"{name}: operands of {first} and {t.dtype}")
    _check_kernel(name, first)
    return first


def _check_kernel(name: str, d: dtype) -> None:
    if d is dt.bool_ or d.category == "raw" or d in dt.BARE_UINT or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")


def _batched_dtype(name: str, a: "Tensor", b: "Tensor") -> dtype:
    # Batches with nothing to add up are answered before dtypes are looked at.
    if not a.numel() or not b.numel():
        return b.dtype
    return _check(name, a, b, kernel_first=True)


def product(a: "Tensor", b: "Tensor", d: dtype, extra: tuple[Any, Any, Any] | None = None) -> tuple[Any, Any]:
    """Values and marks of `a @ b`, or of `beta * c + alpha * (a @ b)` for extra = (c, beta, alpha).

    A sum of integers that stay small is the same in any order, and exact; any other has a tolerance.
    """
    x, y = values(a), values(b)
    if not (x.size and y.size) and extra is None:
        return np.zeros(np.matmul(np.zeros(x.shape), np.zeros(y.shape)).shape, d.numpy), None
    wide = d.numpy
    if d.category == "float":
        wide = np.dtype(np.float64)
    elif d.is_complex:
        wide = np.dtype(np.complex128)
    with np.errstate(all="ignore"):
        x, y = x.astype(wide), y.astype(wide)
        r = np.matmul(x, y)
        marks = None
        if d.category != "int":
            size = np.matmul(np.abs(x), np.abs(y))
            whole = _whole(x) and _whole(y)
        if extra is not None:
            c, beta, alpha = extra
            r = r * alpha
            if beta != 0:
                z = values(c).astype(wide) * beta
                r = r + z
                if d.category != "int":
                    size = size + np.abs(z)
                    whole = whole and _whole(z) and alpha == 1
        if d.category != "int":
            exact = np.broadcast_to(np.asarray(whole) & (size < _LIMIT[d.name]), np.shape(r))
            # The sign of a zero is the library's choice.
            signed = (r.real != 0) & (r.imag != 0) if d.is_complex else r != 0
            loose = np.where(exact & signed, shadow.EXACT, shadow.TOLERANCE).astype(np.uint8)
            marks = loose if loose.any() else None
            source = dt.complex128 if d.is_complex else dt.float64
            r = cast(np.asarray(r), source, d)
            bad = ~np.isfinite(r)
            if bad.any():
                marks = np.maximum(loose, np.where(bad, shadow.UNSPECIFIED, 0).astype(np.uint8))
    r = np.asarray(r)
    operands = [a, b] if extra is None or extra[1] == 0 else [a, b, extra[0]]
    if any(shadow.marks_of(t) is not None for t in operands):
        marks = np.full(r.shape, shadow.UNSPECIFIED, np.uint8)
    return r, marks


def _whole(x: Any) -> bool:
    return (
        bool(np.all(x == np.rint(x)))
        if x.dtype.kind != "c"
        else bool(np.all((x.real == np.rint(x.real)) & (x.imag == np.rint(x.imag))))
    )


def _deliver(r: Any, marks: Any, d: dtype, out: Any, *inputs: Any) -> "Tensor":
    t = from_array(r.astype(d.numpy, copy=False), d)
    if marks is not None:
        shadow.stamp(t, marks)
    return write_out(out, recorded(t, *inputs), *inputs)


def mm(input: "Tensor", mat2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of two matrices. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if input.ndim != 2 or mat2.ndim != 2:
        raise LayoutError("dimension", f"mm: two matrices are needed, got {input.ndim} and {mat2.ndim} dimensions")
    if input._layout.shape[1] != mat2._layout.shape[0]:
        raise LayoutError("size", f"mm: {input._layout.shape} and {mat2._layout.shape} cannot be multiplied")
    d = _check("mm", input, mat2)
    return _deliver(*product(input, mat2, d), d, out, input, mat2)


def bmm(input: "Tensor", mat2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Products of two batches of matrices. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if input.ndim != 3 or mat2.ndim != 3:
        raise LayoutError("dimension", f"bmm: two batches are needed, got {input.ndim} and {mat2.ndim} dimensions")
    a, b = input._layout.shape, mat2._layout.shape
    if a[0] != b[0] or a[2] != b[1]:
        raise LayoutError("size", f"bmm: {a} and {b} cannot be multiplied")
    d = _batched_dtype("bmm", input, mat2)
    return _deliver(*product(input, mat2, d), d, out, input, mat2)


def mv(input: "Tensor", vec: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of a matrix and a vector. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if input.ndim != 2 or vec.ndim != 1:
        raise LayoutError(
            "dimension", f"mv: a matrix and a vector are needed, got {input.ndim} and {vec.ndim} dimensions"
        )
    if input._layout.shape[1] != vec._layout.shape[0]:
        raise LayoutError("size", f"mv: {input._layout.shape} and {vec._layout.shape} cannot be multiplied")
    d = _check("mv", input, vec)
    return _deliver(*product(input, vec, d), d, out, input, vec)


def dot(input: "Tensor", tensor: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of two vectors. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise LayoutError("dimension", f"dot: two vectors are needed, got {input.ndim} and {tensor.ndim} dimensions")
    if input.dtype is not tensor.dtype:
        raise LayoutError("dtype", f"dot: operands of {input.dtype} and {tensor.dtype}")
    if input._layout.shape != tensor._layout.shape:
        raise LayoutError("size", f"dot: {input._layout.shape} and {tensor._layout.shape} cannot be multiplied")
    d = _check("dot", input, tensor)
    return _deliver(*product(input, tensor, d), d, out, input, tensor)


def vdot(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`dot` with the first vector conjugated. Raises: as `dot`."""
    from .dtype_view import conj

    return dot(conj(input), other, out=out)


def outer(input: "Tensor", vec2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Every product of two vectors' elements. Raises: dimension. Source: facts 4.4, torch 2.13."""
    from .arithmetic import mul
    from .view_ops import _reshape

    if input.ndim != 1 or vec2.ndim != 1:
        raise LayoutError("dimension", f"outer: two vectors are needed, got {input.ndim} and {vec2.ndim} dimensions")
    return mul(_reshape(input, (input.numel(), 1)), vec2, out=out)


def matmul(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of vectors, matrices or batches, the batch dimensions broadcast.

    Raises: dimension, size, broadcast, dtype. Source: facts 4.4, torch 2.13.
    """
    if not isinstance(other, TensorBase):
        from .errors import LayoutTypeError

        raise LayoutTypeError("argument", f"matmul: expected a Tensor, got {type(other).__name__}")
    a, b = input._layout.shape, other._layout.shape
    if not a or not b:
        raise LayoutError("dimension", f"matmul: both operands need a dimension, got {len(a)} and {len(b)}")
    if len(a) == 1 and len(b) == 1:
        return dot(input, other, out=out)
    if len(a) == 2 and len(b) == 1:
        return mv(input, other, out=out)
    inner = b[-2] if len(b) > 1 else b[0]
    broadcast_shapes(a[:-2], b[:-2])
    if a[-1] != inner:
        raise LayoutError("size", f"matmul: {a} and {b} cannot be multiplied")
    d = _check("matmul", input, other) if min(len(a), len(b)) <= 2 else _batched_dtype("matmul", input, other)
    r, marks = product(input, other, d)

    result = _deliver(r, marks, d, out, input, other)
    if len(a) == 1 and len(b) == 2 and out is None:
        # A row is multiplied as a matrix and squeezed in place.
        result._versions[0] += 1
    return result


def rmatmul(input: "Tensor", other: Any) -> "Tensor":
    """`other @ input`."""
    return matmul(other, input)


def _added(name: str, input: Any, a: "Tensor", b: "Tensor", beta: Any, alpha: Any, out: Any) -> "Tensor":
    d = _check(name, a, b)
    if input.dtype is not d and not a.numel():
        input = input.to(d)
    shape = _product_shape(a._layout.shape, b._layout.shape)
    from .copies import reader

    wide = reader(input, expand(input._layout, shape))
    if input.dtype is not d:
        raise LayoutError("dtype", f"{name}: operands of {input.dtype} and {d}")
    return _deliver(*product(a, b, d, (wide, beta, alpha)), d, out, input, a, b)


def _product_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return (*a[:-1], *b[-1:]) if len(b) > 1 else a[:-1]


def addmm(
    input: "Tensor", mat1: "Tensor", mat2: "Tensor", *, beta: Any = 1, alpha: Any = 1, out: "Tensor | None" = None
) -> "Tensor":
    """`beta * input + alpha * (mat1 @ mat2)`. Raises: dimension, size, broadcast, dtype. Source: facts 4.4, torch 2.13."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        raise LayoutError("dimension", f"addmm: two matrices are needed, got {mat1.ndim} and {mat2.ndim} dimensions")
    if mat1._layout.shape[1] != mat2._layout.shape[0]:
        raise LayoutError("size", f"addmm: {mat1._layout.shape} and {mat2._layout.shape} cannot be multiplied")
    return _added("addmm", input, mat1, mat2, beta, alpha, out)


def addmm_(self: "Tensor", mat1: "Tensor", mat2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addmm` in place. Raises: grad, dimension, size, dtype."""
    return _in_place(self, addmm(self, mat1, mat2, beta=beta, alpha=alpha), mat1, mat2)


def _in_place(self: "Tensor", result: "Tensor", *inputs: Any) -> "Tensor":
    from .copies import store

    check_inplace(self, *inputs)
    if result._layout.shape != self._layout.shape:
        raise LayoutError("broadcast", f"a result of shape {result._layout.shape} for a tensor of {self._layout.shape}")
    store(self, values(result), shadow.marks_of(result))
    written(self, *inputs)
    return self


def baddbmm(
    input: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1, out: "Tensor | None" = None
) -> "Tensor":
    """`beta * input + alpha * (batch1 @ batch2)`. Raises: dimension, size, broadcast, dtype. Source: facts 4.4."""
    a, b = batch1._layout.shape, batch2._layout.shape
    if len(a) != 3 or len(b) != 3:
        raise LayoutError("dimension", f"baddbmm: two batches are needed, got {len(a)} and {len(b)} dimensions")
    if a[0] != b[0] or a[2] != b[1]:
        raise LayoutError("size", f"baddbmm: {a} and {b} cannot be multiplied")
    return _added("baddbmm", input, batch1, batch2, beta, alpha, out)


def addmv(
    input: "Tensor", mat: "Tensor", vec: "Tensor", *, beta: Any = 1, alpha: Any = 1, out: "Tensor | None" = None
) -> "Tensor":
    """`beta * input + alpha * (mat @ vec)`. Raises: dimension, size, broadcast, dtype."""
    if mat.ndim != 2 or vec.ndim != 1:
        raise LayoutError(
            "dimension", f"addmv: a matrix and a vector are needed, got {mat.ndim} and {vec.ndim} dimensions"
        )
    if mat._layout.shape[1] != vec._layout.shape[0]:
        raise LayoutError("size", f"addmv: {mat._layout.shape} and {vec._layout.shape} cannot be multiplied")
    return _added("addmv", input, mat, vec, beta, alpha, out)


def inner(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Products over the last dimension of both. Raises: size, dtype. Source: torch 2.13."""
    if not input.ndim or not other.ndim:
        from .arithmetic import mul

        return mul(input, other, out=out)
    if input._layout.shape[-1] != other._layout.shape[-1]:
        raise LayoutError("size", f"inner: last lengths of {input._layout.shape} and {other._layout.shape} differ")
    return write_out(out, tensordot(input, other, ([-1], [-1])), input, other)


def tensordot(a: "Tensor", b: "Tensor", dims: Any = 2, out: "Tensor | None" = None) -> "Tensor":
    """Products over pairs of dimensions: a matrix product, viewed. Raises: dimension, size, dtype. Source: torch 2.13."""
    if isinstance(dims, int):
        if dims < 0:
            raise LayoutError("dimension", f"tensordot: {dims} dimensions")
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        first = [
            wrap_dim(d, a.ndim)
            for d in as_int_list(tuple(dims[0]) if isinstance(dims[0], (list, tuple)) else (dims[0],), "dims")
        ]
        second = [
            wrap_dim(d, b.ndim)
            for d in as_int_list(tuple(dims[1]) if isinstance(dims[1], (list, tuple)) else (dims[1],), "dims")
        ]
    if len(first) != len(second):
        raise LayoutError("dimension", f"tensordot: {first} and {second} differ in length")
    for i, j in zip(first, second, strict=True):
        if a._layout.shape[i] == 1 != b._layout.shape[j]:
            b = sum(b, (j,), True, dtype=b.dtype)
        elif b._layout.shape[j] == 1 != a._layout.shape[i]:
            a = sum(a, (i,), True, dtype=a.dtype)
        if a._layout.shape[i] != b._layout.shape[j]:
            raise LayoutError("size", f"tensordot: lengths {a._layout.shape[i]} and {b._layout.shape[j]} differ")
    from .view_ops import _reshape

    keep_a = [d for d in range(a.ndim) if d not in first]
    keep_b = [d for d in range(b.ndim) if d not in second]
    shape_a, shape_b = [a._layout.shape[d] for d in keep_a], [b._layout.shape[d] for d in keep_b]
    length = 1
    for d in first:
        length *= a._layout.shape[d]
    rows, columns = _count(shape_a), _count(shape_b)
    left = _reshape(view_of(a, permute(a._layout, (*keep_a, *first))), (rows, length))
    right = _reshape(view_of(b, permute(b._layout, (*second, *keep_b))), (length, columns))
    result = _reshape(mm(left, right), (*shape_a, *shape_b))
    return write_out(out, result, a, b) if out is not None else result


def _count(lengths: list[int]) -> int:
    n = 1
    for x in lengths:
        n *= x
    return n


def linear(input: "Tensor", weight: "Tensor", bias: "Tensor | None" = None) -> "Tensor":
    """`input @ weight.T + bias`. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    from .view_ops import t

    result = matmul(input, t(weight))
    if bias is None:
        return result
    wide = bias.expand(result._layout.shape)
    if bias.dtype is not result.dtype:
        raise LayoutError("dtype", f"linear: a {bias.dtype} bias for {result.dtype}")
    d = result.dtype
    flat = t(weight)
    r, marks = product(input, flat, d, (wide, 1, 1))
    made = _deliver(r, marks, d, None, input, weight, bias)
    flat_product = input.ndim >= 3 and input.is_contiguous() and bias.is_contiguous()
    if input.ndim != 2 and not flat_product:
        # The bias is added in place.
        made._versions[0] += 2 if input.ndim == 1 else 1
    elif input.ndim >= 3:
        # Flattened to a matrix for one product, and viewed back.
        base = build(
            made._storage,
            Layout((_count(list(made._layout.shape[:-1])), made._layout.shape[-1]), (made._layout.shape[-1], 1), 0),
            d,
        )
        base._has_fn = made._has_fn
        return view_of(base, Layout(made._layout.shape, contiguous_strides(made._layout.shape), 0))
    return made


def einsum(equation: str, *operands: Any) -> "Tensor":
    """Sums of products by the names of dimensions; a mere permutation of one operand is a view.

    Raises: argument, dimension, size. Source: facts 4.4, torch 2.13.
    """
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    names = left.split(",")
    if len(names) != len(tensors):
        raise LayoutError("argument", f"einsum: {len(names)} terms for {len(tensors)} operands")
    for term, x in zip(names, tensors, strict=True):
        if "." not in term and len(term) != x.ndim:
            raise LayoutError("dimension", f"einsum: {term!r} for {x.ndim} dimensions")
    if not arrow:
        right = "".join(sorted(c for c in set(left) if c != "," and left.count(c) == 1))
    if len(tensors) == 1 and "." not in left and sorted(set(left)) == sorted(right):
        view, rest = tensors[0], left
        for c in sorted(set(left)):
            while rest.count(c) > 1:
                i = rest.index(c)
                j = rest.index(c, i + 1)
                view = view.diagonal(0, i, j)
                rest = rest[:i] + rest[i + 1 : j] + rest[j + 1 :] + c
        return view_of(view, permute(view._layout, tuple([rest.index(c) for c in right])))
    d = _check("einsum", *tensors)
    wide: Any = np.dtype(np.float64) if d.category == "float" else np.dtype(np.complex128) if d.is_complex else d.numpy
    try:
        with np.errstate(all="ignore"):
            r = np.asarray(np.einsum(f"{left}->{right}", *[values(x).astype(wide) for x in tensors]))
    except ValueError as e:
        raise LayoutError("size", f"einsum: {e}") from None
    r = r if d.category == "int" else cast(r, dt.complex128 if d.is_complex else dt.float64, d)
    marks = None if d.category == "int" else np.full(r.shape, shadow.TOLERANCE, np.uint8)
    if any(shadow.marks_of(x) is not None for x in tensors):
        marks = np.full(r.shape, shadow.UNSPECIFIED, np.uint8)
    return _deliver(r, marks, d, None, *tensors)
