"""Products of matrices and vectors: mm, bmm, mv, dot and their `add` kin; always row-major (facts 4.4)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import shadow
from . import views as vw
from .conversion import check_fillable
from .copies import copy_elements, reader, resolved, store
from .core import (
    CONJ,
    NEG,
    check_inplace,
    check_internal_overlap,
    check_tensors,
    order_marks,
    recorded,
    records_history,
    values,
    written,
)
from .dtype_view import conj
from .dtypes import FLOAT8, dtype
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, UnsupportedError
from .kept import keeps
from .layout import Shape, wrap_dim
from .out import check_out, resize_output
from .overlap import shares_memory
from .parsing import parsed
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor

_KERNELS = "ifc"
ALLOWED = (True, True)


def _check_out_first(out: Any, *inputs: Any) -> None:
    """Gradients through `out=` are refused before shapes and dtypes are looked at. Raises: argument, grad."""
    if out is not None:
        check_out(out, *inputs)


def need_rank(name: str, t: "Tensor", rank: int) -> None:
    """Refuse a tensor of another number of dimensions. Raises: dimension (RuntimeError)."""
    if t.ndim != rank:
        raise LayoutError("dimension", f"{name}: expected {rank} dimensions, got shape {t._layout.shape}")


def same_dtype(name: str, *operands: Any) -> None:
    """Refuse operands of several dtypes: products do not promote. Raises: dtype (RuntimeError)."""
    if any(x.dtype is not operands[0].dtype for x in operands):
        raise LayoutError("dtype", f"{name}: operands of one dtype are needed, got {[x.dtype for x in operands]}")


def _need_agreement(name: str, fits: bool, *operands: "Tensor") -> None:
    if not fits:
        raise LayoutError("size", f"{name}: shapes {[x._layout.shape for x in operands]} cannot be multiplied")


def products(x: Any, y: Any) -> tuple[Any, Any]:
    """Matrix product of two arrays, and for floats the sum of the absolute values of each element's terms."""
    with np.errstate(all="ignore"):
        result = np.matmul(x, y)
        return result, np.matmul(np.abs(x), np.abs(y)) if x.dtype.kind in "fc" else None


def _factor(name: str, value: Any, d: dtype) -> Any:
    """`alpha` or `beta` in the dtype of a product: integers take the integer part of what fits them."""
    if not isinstance(value, (int, float, complex, np.generic)):
        raise LayoutTypeError("argument", f"{name}: a factor must be a number, got {type(value).__name__}")
    if isinstance(value, complex) and not d.is_complex:
        if value.imag:
            raise LayoutError("overflow", f"{name}: the factor {value} cannot be converted to {d}")
        value = value.real
    if d.category != "int":
        return value
    info = np.iinfo(d.numpy)
    # Negative integers wrap into unsigned dtypes, negative floats do not.
    low = -info.max if isinstance(value, int) and not d.is_signed else info.min
    if not low <= value <= info.max:
        raise LayoutError("overflow", f"{name}: the factor {value} does not fit {d}")
    return np.array(int(value)).astype(d.numpy)


_SMALL = 400
"""Products of one matrix with another below which PyTorch loops itself, by the dtype of the first."""


def _computed(name: str, x: "Tensor", y: "Tensor") -> tuple[Any, Any]:
    """Product and magnitude of operands whose shapes agree; PyTorch asks for a kernel only where there is work."""
    a, b = wide(x), wide(y)
    if x.numel() and y.numel():
        if name == "bmm" and a.shape[-2] * a.shape[-1] * b.shape[-1] >= _SMALL:
            # Dispatched by the second operand, before both dtypes are looked at.
            if y.dtype in FLOAT8:
                raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {y.dtype}")
            same_dtype(name, x, y)
        need_kernel(name, x.dtype, _KERNELS + "8" * (name in ("mm", "addmm")))
        same_dtype(name, x, y)
    elif x.dtype is not y.dtype:
        a = np.zeros(a.shape, b.dtype)  # one of the two has no elements, and so has the product
    return products(a, b)


def _check_gradient(name: str, d: dtype, *inputs: "Tensor") -> None:
    """Refuse to record a product of a dtype without gradients; only empty operands of two dtypes come that far."""
    if d.category in ("bool", "int") and records_history(*inputs):
        raise LayoutError("grad", f"{name}: a {d} product has no gradient (facts 5.4)")


def _multiply(name: str, x: "Tensor", y: "Tensor") -> "Tensor":
    """The product of two operands over new memory."""
    result, magnitude = _computed(name, x, y)
    _check_gradient(name, y.dtype, x, y)
    return finish(result, y.dtype, x, y, magnitude=magnitude, terms=x._layout.shape[-1])


def _add(name: str, own: Any, a: "Tensor", b: "Tensor", beta: Any, alpha: Any) -> "Tensor":
    """`beta * own + alpha * (a @ b)`; an input that counts zero times is not read, not even its NaNs."""
    d = b.dtype
    terms = a._layout.shape[-1]
    result, magnitude = _computed(name, a, b)
    _check_gradient(name, d, own, a, b)
    if not result.size:
        return recorded(finish(result, d, a, b), own)
    if not terms and result.size and beta != 0 and name != "addmv":
        # An empty product leaves `own * beta`, an elementwise product that may leave the dtype.
        lower = ("bool",) if isinstance(beta, int) and not isinstance(beta, bool) else ("bool", "int")
        if d.category in lower and not isinstance(beta, bool):
            raise LayoutError("dtype", f"{name}: the product of {d} with {beta} cannot be cast to {d}")
    if terms:
        alpha = _factor(name, alpha, d)
        beta = _factor(name, beta, d)
    elif d.category in ("bool", "int"):
        beta = np.array(beta).astype(d.numpy)
    with np.errstate(all="ignore"):
        total = result * alpha if terms else result
        if magnitude is not None:
            magnitude = magnitude * abs(alpha)
        if beta != 0:
            part = wide(own) * beta
            total = total + part
            if magnitude is not None:
                magnitude = magnitude + np.abs(part)
    inputs = (own, a, b) if beta != 0 else (a, b)
    t = finish(total, d, *inputs, magnitude=magnitude, terms=terms + 1, roundings=1)
    return recorded(t, own)


def deliver(
    name: str, out: "Tensor | None", shape: Shape, d: dtype, inputs: tuple[Any, ...], make: Callable[[], "Tensor"], *,
    repeats: tuple[bool, bool], own: Any = None, copied: bool = False,
) -> "Tensor":  # fmt: skip
    """An operator's result, or `out` after it was written there; `out` must have its dtype.

    `make` computes the result, after the checks of `out`; `repeats` says whether an `out` with stride 0 is allowed:
    before the computation, and after it. `own` is the input that is added to, as stretched to the result: it may be
    `out` itself, and where it is `copied` it is in `out` before the product fails.

    Raises: grad, dtype, overlap, resize. Source: facts 4.3.6 and 5.2.5, torch 2.13.
    """
    if out is None:
        return make()
    check_out(out, *inputs)
    if out.dtype is not d:
        raise LayoutError("dtype", f"{name}: out must have the dtype {d}, got {out.dtype}")
    if not repeats[0] and out._layout.shape == shape:
        check_internal_overlap(out)
    try:
        result = make()
    except (LayoutError, UnsupportedError):
        # Only then does PyTorch look at factors, dtypes and kernels.
        resize_output(out, shape)
        if copied:
            copy_elements(out, own)
        raise
    resize_output(out, shape)
    resize_output(out, result._layout.shape)
    if not repeats[1] or out._bits:
        check_internal_overlap(out)
    # Adding to an input that lies exactly as `out` does reads each element before it is written.
    same = own is not None and own._layout == out._layout and own._storage is out._storage
    _put(out, result, inputs if own is None or same else (*inputs, own))
    out._versions[0] += 1
    return out


def _put(out: "Tensor", result: "Tensor", inputs: Any) -> None:
    marks: Any = shadow.marks_of(result)
    size = out.dtype.itemsize
    if order_marks(out) is not None or any(
        i._storage is out._storage and shares_memory(out._layout, size, i._layout, i.dtype.itemsize) for i in inputs
    ):
        # PyTorch writes while it still reads.
        marks = shadow.UNSPECIFIED
    store(out, values(result), marks)


def _in_place(self: "Tensor", result: "Tensor", inputs: tuple[Any, ...], *, repeats: bool) -> "Tensor":
    # Through a conjugate or negative bit a copy is written, and copied back with the checks of a copy.
    if not repeats or self._bits:
        check_internal_overlap(self)
    _put(self, result, inputs)
    written(self, *inputs)
    return self


@parsed(out_first=True)
@keeps("input", "mat2")
def mm(input: "Tensor", mat2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of two matrices.

    Shapes: (n, k) and (k, m) to (n, m).
    Raises: dimension, size, dtype, and with `out` grad, overlap. Source: facts 4.4, torch 2.13.
    """
    check_tensors("mm", input, mat2)
    _check_out_first(out, input, mat2)
    need_rank("mm", input, 2)
    need_rank("mm", mat2, 2)
    a, b = input._layout.shape, mat2._layout.shape
    _need_agreement("mm", a[1] == b[0], input, mat2)

    def make() -> "Tensor":
        same_dtype("mm", input, mat2)
        return _multiply("mm", input, mat2)

    return deliver("mm", out, (a[0], b[1]), input.dtype, (input, mat2), make, repeats=(True, not a[1]))


@parsed(out_first=True)
@keeps("input", "mat2")
def bmm(input: "Tensor", mat2: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Products of pairs of matrices.

    Shapes: (b, n, k) and (b, k, m) to (b, n, m).
    Raises: dimension, size, dtype, and with `out` grad. Source: facts 4.4, torch 2.13.
    """
    check_tensors("bmm", input, mat2)
    _check_out_first(out, input, mat2)
    shape = _batch_shape("bmm", input, mat2)
    return deliver("bmm", out, shape, mat2.dtype, (input, mat2), lambda: _multiply("bmm", input, mat2), repeats=ALLOWED)


def _batch_shape(name: str, a: "Tensor", b: "Tensor") -> Shape:
    if name != "bmm":
        # The shape to add to is put together from these lengths before anything is checked.
        for t, dims in ((a, (0, 1)), (b, (2,))):
            for d in dims:
                wrap_dim(d, t.ndim)
    need_rank(name, a, 3)
    need_rank(name, b, 3)
    x, y = a._layout.shape, b._layout.shape
    _need_agreement(name, x[0] == y[0] and x[2] == y[1], a, b)
    return x[0], x[1], y[2]


@keeps("input", "vec")
def mv(input: "Tensor", vec: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of a matrix and a vector.

    Shapes: (n, k) and (k,) to (n,).
    Raises: dimension, size, dtype, and with `out` grad. Source: facts 4.4, torch 2.13.
    """
    check_tensors("mv", input, vec)
    _check_out_first(out, input, vec)
    if not input.ndim:
        raise LayoutIndexError("dimension", "mv: the matrix has no dimensions")
    need_rank("mv", input, 2)
    need_rank("mv", vec, 1)
    rows, terms = input._layout.shape
    _need_agreement("mv", terms == vec._layout.shape[0], input, vec)
    same_dtype("mv", input, vec)
    if not rows:
        check_fillable(input.dtype)
    return deliver("mv", out, (rows,), input.dtype, (input, vec), lambda: _multiply("mv", input, vec), repeats=ALLOWED)


@keeps("input", "tensor")
def dot(input: "Tensor", tensor: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """Product of two vectors of one length, without dimensions; it has the conjugate bit where both have it.

    Raises: dimension, size, dtype, and with `out` grad. Source: facts 4.4, torch 2.13.
    """
    check_tensors("dot", input, tensor)
    input, tensor = _without_negative(input), _without_negative(tensor)
    if out is None and input._bits & CONJ and tensor._bits & CONJ:
        return _conjugated(_dot("dot", conj(input), conj(tensor), None))
    return _dot("dot", input, tensor, out)


@keeps("input", "other")
def vdot(input: "Tensor", other: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`dot` with the first vector conjugated. Raises: as `dot`. Source: facts 4.4, torch 2.13."""
    check_tensors("vdot", input, other)
    input, other = _without_negative(input), _without_negative(other)
    if out is None and other._bits & CONJ and not input._bits & CONJ:
        return _conjugated(_dot("vdot", input, conj(other), None))
    return _dot("vdot", conj(input), other, out)


def _without_negative(t: "Tensor") -> "Tensor":
    """A tensor, or a copy of it where it has the negative bit, which then has no conjugate bit either."""
    return resolved(t) if t._bits & NEG else t


def _conjugated(t: "Tensor") -> "Tensor":
    t._bits ^= CONJ
    return t


def _dot(name: str, a: "Tensor", b: "Tensor", out: "Tensor | None") -> "Tensor":
    if out is not None:
        check_out(out, a, b)
        resize_output(out, ())
    need_rank(name, a, 1)
    need_rank(name, b, 1)
    same_dtype(name, a, b)
    _need_agreement(name, a.numel() == b.numel(), a, b)

    def make() -> "Tensor":
        need_kernel(name, a.dtype, _KERNELS)
        return _multiply(name, a, b)

    return deliver(name, out, (), a.dtype, (a, b), make, repeats=ALLOWED)


def _matrix_shape(name: str, a: "Tensor", b: "Tensor") -> Shape:
    need_rank(name, a, 2)
    need_rank(name, b, 2)
    _need_agreement(name, a._layout.shape[1] == b._layout.shape[0], a, b)
    return a._layout.shape[0], b._layout.shape[1]


def _stretched(input: "Tensor", shape: Shape) -> Any:
    return reader(input, vw.expand(input._layout, shape))


def _need_own_shape(name: str, self: "Tensor", shape: Shape) -> None:
    if self._layout.shape != shape:
        raise LayoutError("size", f"{name}: a result of shape {shape} does not fit {self._layout.shape}")


@parsed(out_first=True)
@keeps("input", "mat1", "mat2", rule="1<2 2<1")
def addmm(input: "Tensor", mat1: "Tensor", mat2: "Tensor", *, beta: Any = 1, alpha: Any = 1,
          out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * (mat1 @ mat2)`; integers take the integer part of the factors.

    Shapes: input broadcasts to (n, m); (n, k) and (k, m).
    Raises: dimension, size, broadcast, dtype, and with `out` grad, overlap. Source: facts 4.4, torch 2.13.
    """
    check_tensors("addmm", input, mat1, mat2)
    _check_out_first(out, input, mat1, mat2)
    shape = _matrix_shape("addmm", mat1, mat2)
    own = _stretched(input, shape)
    same_dtype("addmm", input, mat1, mat2)

    def make() -> "Tensor":
        return recorded(_add("addmm", own, mat1, mat2, beta, alpha), input)

    # The input is first copied to `out`, which checks it before the product does.
    empty = not mat1._layout.shape[1]
    return deliver(
        "addmm", out, shape, input.dtype, (mat1, mat2), make, repeats=(beta == 0, beta == 0 and empty), own=own,
        copied=beta != 0,
    )  # fmt: skip


@keeps("self", "mat1", "mat2", rule="1<2 2<1")
def addmm_(self: "Tensor", mat1: "Tensor", mat2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addmm` in place. Raises: grad, overlap, dimension, size, dtype. Source: facts 5.1, torch 2.13."""
    check_tensors("addmm_", self, mat1, mat2)
    check_inplace(self, mat1, mat2)
    shape = _matrix_shape("addmm_", mat1, mat2)
    same_dtype("addmm_", self, mat1, mat2)
    _need_own_shape("addmm_", self, shape)
    result = _add("addmm_", self, mat1, mat2, beta, alpha)
    return _in_place(self, result, (mat1, mat2), repeats=beta == 0 and not mat1._layout.shape[1])


@parsed(out_first=True)
@keeps("input", "batch1", "batch2", rule="1<2 2<1")
def baddbmm(input: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1,
            out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * (batch1 @ batch2)`.

    Shapes: input broadcasts to (b, n, m); (b, n, k) and (b, k, m).
    Raises: dimension, size, broadcast, dtype, and with `out` grad, overlap. Source: facts 4.4, torch 2.13.
    """
    check_tensors("baddbmm", input, batch1, batch2)
    _check_out_first(out, input, batch1, batch2)
    shape = _batch_shape("baddbmm", batch1, batch2)
    own = _stretched(input, shape)
    same_dtype("baddbmm", input, batch1)

    def make() -> "Tensor":
        return recorded(_add("baddbmm", own, batch1, batch2, beta, alpha), input)

    # The input is first copied to `out`, which checks what the product itself does not.
    return deliver(
        "baddbmm", out, shape, batch2.dtype, (batch1, batch2), make, repeats=(beta == 0, True), own=own,
        copied=beta != 0,
    )  # fmt: skip


@keeps("self", "batch1", "batch2", rule="1<2 2<1")
def baddbmm_(self: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`baddbmm` in place; stride 0 is refused only where an empty product leaves an elementwise one.

    Raises: grad, overlap, dimension, size, dtype. Source: facts 5.1, torch 2.13.
    """
    check_tensors("baddbmm_", self, batch1, batch2)
    check_inplace(self, batch1, batch2)
    shape = _batch_shape("baddbmm_", batch1, batch2)
    same_dtype("baddbmm_", self, batch1, batch2)
    _need_own_shape("baddbmm_", self, shape)
    result = _add("baddbmm_", self, batch1, batch2, beta, alpha)
    multiplied = not batch1._layout.shape[2] and beta != 0
    return _in_place(self, result, (batch1, batch2), repeats=not multiplied)


def _addmv_shape(name: str, input: "Tensor", mat: "Tensor", vec: "Tensor") -> Shape:
    need_rank(name, mat, 2)
    need_rank(name, vec, 1)
    if input.ndim > 1:
        raise LayoutError("dimension", f"{name}: expected a vector to add to, got shape {input._layout.shape}")
    rows, terms = mat._layout.shape
    if not input.ndim and terms != vec.numel():
        raise LayoutIndexError(
            "dimension", f"{name}: {rows} x {terms} by {vec.numel()}, and nothing to add to has a length"
        )
    _need_agreement(name, terms == vec.numel() and input.numel() in (1, rows), input, mat, vec)
    same_dtype(name, input, mat, vec)
    return (rows,)


def _addmv(input: "Tensor", shape: Shape, mat: "Tensor", vec: "Tensor", beta: Any, alpha: Any) -> "Tensor":
    if mat.numel():
        return recorded(_add("addmv", _stretched(input, shape), mat, vec, beta, alpha), input, mat, vec)
    d = input.dtype
    zero = beta == 0
    beta = _factor("addmv", beta, d)
    if zero:
        return recorded(finish(np.zeros(shape, d.numpy), d), input, mat, vec)
    with np.errstate(all="ignore"):
        t = finish(wide(input) * (bool(beta) if d.category == "bool" else beta), d, input)
    # PyTorch allocates for the rows and then finds that only the input is left, with its own shape.
    spare = shape[0] * d.itemsize
    if spare > len(t._storage._bytes):
        t._storage.resize_(spare)
    return recorded(t, mat, vec)


@keeps("input", "mat", "vec", rule="1<2 2<1")
def addmv(input: "Tensor", mat: "Tensor", vec: "Tensor", *, beta: Any = 1, alpha: Any = 1,
          out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * (mat @ vec)`.

    Shapes: input broadcasts to (n,), unless the matrix is empty; (n, k) and (k,).
    Raises: dimension, size, dtype, and with `out` grad, overlap. Source: facts 4.4, torch 2.13.
    """
    check_tensors("addmv", input, mat, vec)
    _check_out_first(out, input, mat, vec)
    shape = _addmv_shape("addmv", input, mat, vec)

    def make() -> "Tensor":
        return _addmv(input, shape, mat, vec, beta, alpha)

    own = _stretched(input, shape)
    return deliver(
        "addmv", out, shape, input.dtype, (mat, vec), make, repeats=(beta == 0, beta == 0), own=own, copied=beta != 0
    )


@keeps("self", "mat", "vec", rule="1<2 2<1")
def addmv_(self: "Tensor", mat: "Tensor", vec: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addmv` in place. Raises: grad, overlap, dimension, size, dtype. Source: facts 5.1, torch 2.13."""
    check_tensors("addmv_", self, mat, vec)
    check_inplace(self, mat, vec)
    shape = _addmv_shape("addmv_", self, mat, vec)
    _need_own_shape("addmv_", self, shape)
    result = _addmv(self, shape, mat, vec, beta, alpha)
    return _in_place(self, result, (mat, vec), repeats=bool(mat.numel()) or beta == 0)
