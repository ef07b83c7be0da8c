"""Reductions: always row-major on the CPU, whatever the input's layout (facts 4.4)."""

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes as dt
from . import shadow
from .conversion import cast
from .core import TensorBase, as_int, as_ints, from_array, recorded, values
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, UnsupportedError
from .layout import wrap_dim
from .out import write_out
from .promotion import get_default_dtype
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor

_EXACT_SUM = 2.0**24


class ValuesAndIndices(NamedTuple):
    """What max, min, median, sort and their like return along a dimension."""

    values: "Tensor"
    indices: "Tensor"


class MinAndMax(NamedTuple):
    """What aminmax returns."""

    min: "Tensor"
    max: "Tensor"


def reduced_dims(input: "Tensor", dim: Any, *, empty_is_all: bool = True) -> tuple[int, ...]:
    """Dimensions of a reduction, wrapped; None, and mostly an empty list, means all.

    Raises: dimension (IndexError out of range, RuntimeError for a repetition).
    """
    if dim is None:
        return tuple(range(input.ndim))
    dims = as_ints((dim,), "dim")
    if not dims and empty_is_all:
        return tuple(range(input.ndim))
    wrapped = [wrap_dim(d, input.ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise LayoutError("dimension", f"dimensions {dims} repeat one")
    return tuple(wrapped) if input.ndim else ()


def reduce_marks(input: "Tensor", dims: tuple[int, ...], keepdim: bool, *, smooth: bool) -> Any:
    """Marks of a reduction's result: the worst of each group."""
    marks = shadow.marks_of(input)
    if marks is None:
        return None
    marks = np.where(marks == shadow.NAN, shadow.EXACT, marks)
    if not smooth:
        marks = np.where(marks == shadow.TOLERANCE, shadow.UNSPECIFIED, marks)
    return np.max(marks, axis=dims, keepdims=keepdim, initial=0).astype(np.uint8)


def deliver(result: Any, d: dtype, marks: Any, input: "Tensor", out: "Tensor | None") -> "Tensor":
    """A row-major tensor of a reduction's result, marked and recorded."""
    a = np.asarray(result)
    t = from_array(a if a.dtype == d.numpy else a.astype(d.numpy), d)
    if marks is not None and np.any(marks):
        shadow.stamp(t, marks)
    return write_out(out, recorded(t, input), input)


def nan_or(marks: Any, result: Any, d: dtype) -> Any:
    """Marks with NaN results added."""
    from .conversion import nan_marks

    found = nan_marks(np.asarray(result), d)
    if found is None:
        return marks
    return found if marks is None else np.maximum(marks, found)


def order_matters(a: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    """TOLERANCE where the order of a floating-point sum could show, EXACT where its partial sums are small integers."""
    with np.errstate(all="ignore"):
        size = np.sum(np.abs(a), axis=dims, keepdims=keepdim, dtype=np.float64)
        whole = np.all(a == np.rint(a) if a.dtype.kind != "c" else a != a, axis=dims, keepdims=keepdim)
    return np.where(whole & (size < _EXACT_SUM), shadow.EXACT, shadow.TOLERANCE).astype(np.uint8)


def check_arithmetic(name: str, d: dtype, groups: str = "bifc") -> None:
    """Refuse dtypes that the operator has no kernel for.

    Groups: b bool, i integers, u wide unsigned, f floats, c complex; float8 is always refused.

    Raises: dtype (NotImplementedError).
    """
    category = {"bool": "b", "int": "i", "float": "f", "complex": "c"}.get(d.category, "r")
    if d in dt.BARE_UINT:
        category = "u"
    if category not in groups or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")


def _refuse(name: str, d: dtype, groups: str) -> None:
    # Checked before any kernel is looked for.
    if (d is dt.bool_ and "b" in groups) or (d.is_complex and "c" in groups):
        raise LayoutError("dtype", f"{name}: {d} is refused")


def _accumulate(
    name: str, input: "Tensor", dim: Any, keepdim: bool, wanted: Any, out: Any, f: Callable[..., Any]
) -> "Tensor":
    dims = reduced_dims(input, dim)
    if wanted is None and out is not None:
        wanted = out.dtype
    d = wanted or (dt.int64 if input.dtype.category in ("bool", "int") else input.dtype)
    if input.numel() or d.category == "raw":
        check_arithmetic(name, d)
    a = values(input)
    source = input.dtype
    with np.errstate(all="ignore"):
        if d.category == "float" and d.itemsize < 4:
            wide = cast(a, source, dt.float32)
            result = cast(np.asarray(f(wide, axis=dims, keepdims=keepdim, dtype=np.float64)), dt.float64, d)
            plain = wide
        else:
            plain = cast(a, source, d)
            precise = {"float32": np.float64, "complex64": np.complex128}.get(d.name, d.numpy)
            result = np.asarray(f(plain, axis=dims, keepdims=keepdim, dtype=precise)).astype(d.numpy)
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    if d.category in ("float", "complex"):
        loose = (
            order_matters(plain, dims, keepdim) if name == "sum" else np.full(result.shape, shadow.TOLERANCE, np.uint8)
        )
        if name == "prod":
            with np.errstate(all="ignore"):
                largest = np.prod(np.maximum(np.abs(plain), 1), axis=dims, keepdims=keepdim, dtype=np.float64)
            # Whether a partial product overflows depends on the order.
            loose = np.where(largest > _MAX.get(d.name, 1.0), shadow.UNSPECIFIED, loose).astype(np.uint8)
        marks = loose if marks is None else np.maximum(marks, loose)
        marks = nan_or(marks, result, d)
    return deliver(result, d, marks, input, out)


_MAX = {"float16": 65504.0, "bfloat16": 3e38, "float32": 3e38, "float64": 1e308, "complex64": 1e19, "complex128": 1e150}


def sum(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Sums over dimensions, integers in int64. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    return _accumulate("sum", input, dim, keepdim, dtype, out, np.sum)


def prod(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Products over one dimension or all, integers in int64. Raises: dimension, dtype. Source: facts 4.4."""
    if dim is not None:
        dim = as_int(dim, "dim")
    return _accumulate("prod", input, dim, keepdim, dtype, out, np.prod)


def mean(
    input: "Tensor", dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Means over dimensions. Raises: dimension, dtype (RuntimeError for integers). Source: facts 4.4, torch 2.13."""
    d = dtype or input.dtype
    if not d.is_floating_point and not d.is_complex:
        raise LayoutError("dtype", f"mean: the dtype must be floating point or complex, got {d}")
    dims = reduced_dims(input, dim)
    check_arithmetic("mean", d, "fc")
    a = cast(values(input), input.dtype, d)
    with np.errstate(all="ignore"):
        wide = a.astype(np.complex128 if d.is_complex else np.float64)
        count = _count(a, dims)
        result = cast(
            np.asarray(np.sum(wide, axis=dims, keepdims=keepdim) / np.float64(count)),
            dt.complex128 if d.is_complex else dt.float64,
            d,
        )
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    loose = np.full(result.shape, shadow.TOLERANCE, np.uint8)
    if count and count & (count - 1) == 0:
        loose = order_matters(wide, dims, keepdim)
    marks = loose if marks is None else np.maximum(marks, loose)
    return deliver(result, d, nan_or(marks, result, d), input, out)


def _count(a: Any, dims: tuple[int, ...]) -> int:
    count = 1
    for d in dims:
        count *= a.shape[d]
    return count


def _extreme(name: str, input: "Tensor", dims: tuple[int, ...], keepdim: bool, *, everything: bool = False) -> Any:
    a = values(input)
    if a.size == 0 and (everything or builtins.any(a.shape[d] == 0 for d in dims)):
        kind = LayoutError if everything else LayoutIndexError
        raise kind("size", f"{name}: nothing to choose from")
    if a.size:
        check_arithmetic(name, input.dtype, "bif")
    short = input.dtype in (dt.float16, dt.bfloat16)
    f = np.max if name in ("amax", "max") else np.min
    with np.errstate(all="ignore"):
        result = f(a.astype(np.float32) if short else a, axis=dims, keepdims=keepdim)
    return np.asarray(result).astype(input.dtype.numpy)


def amax(input: "Tensor", dim: Any = (), keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Largest values over dimensions. Raises: dimension, dtype, size (IndexError). Source: facts 4.4, torch 2.13."""
    return _amax("amax", input, dim, keepdim, out)


def amin(input: "Tensor", dim: Any = (), keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Smallest values over dimensions. Raises: dimension, dtype, size (IndexError). Source: facts 4.4, torch 2.13."""
    return _amax("amin", input, dim, keepdim, out)


def _amax(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> "Tensor":
    dims = reduced_dims(input, dim)
    result = _extreme(name, input, dims, keepdim, everything=dim is None or dim == ())
    marks = nan_or(reduce_marks(input, dims, keepdim, smooth=True), result, input.dtype)
    if input.dtype.category == "float" and np.any(result == 0):
        # Of 0.0 and -0.0 either may be taken.
        zero = np.where(result == 0, shadow.TOLERANCE, shadow.EXACT).astype(np.uint8)
        marks = zero if marks is None else np.maximum(marks, zero)
    if input.dtype.is_complex and input.requires_grad:
        raise LayoutError("grad", f"{name}: no gradient for {input.dtype}")
    return deliver(result, input.dtype, marks, input, out)


def _arg(name: str, a: Any, d: int) -> Any:
    """Index of the extreme along a dimension: NaN wins, and the first of several."""
    with np.errstate(all="ignore"):
        if a.dtype.kind not in "iufb":
            a = a.astype(np.float32)
        return np.argmax(a, axis=d) if name == "max" else np.argmin(a, axis=d)


def max(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: Any = None, other: Any = None) -> Any:
    """The largest value; values and indices along a dimension; or elementwise with another tensor.

    Raises: dimension, dtype, size. Source: facts 4.4, torch 2.13.
    """
    return _max("max", input, dim if other is None else other, keepdim, out)


def min(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: Any = None, other: Any = None) -> Any:
    """The smallest value; values and indices along a dimension; or elementwise with another tensor.

    Raises: dimension, dtype, size. Source: facts 4.4, torch 2.13.
    """
    return _max("min", input, dim if other is None else other, keepdim, out)


def _max(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> Any:
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"{name}: expected a Tensor, got {type(input).__name__}")
    if isinstance(dim, TensorBase):
        from .pointwise_ops import maximum, minimum

        return (maximum if name == "max" else minimum)(input, dim, out=out)
    if dim is None:
        if not input.numel():
            raise LayoutError("size", f"{name}: nothing to choose from")
        check_arithmetic(name, input.dtype, "bif")
        dims = tuple(range(input.ndim))
        result = _extreme(name, input, dims, False)
        marks = nan_or(reduce_marks(input, dims, False, smooth=True), result, input.dtype)
        return deliver(result, input.dtype, marks, input, out)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    a = values(input)
    if a.ndim and a.shape[d] == 0:
        raise LayoutIndexError("size", f"{name}: dimension {d} is empty")
    _refuse(name, input.dtype, "c")
    if not a.ndim:
        found, where = a, np.zeros((), np.int64)
    else:
        if a.size:
            check_arithmetic(name, input.dtype, "bif")
        where = _arg(name, a, d) if a.size else np.zeros([n for k, n in enumerate(a.shape) if k != d], np.int64)
        found = np.take_along_axis(a, np.expand_dims(where, d), d)
        if keepdim:
            where = np.expand_dims(where, d)
        else:
            found = np.squeeze(found, d)
    dims = (d,) if a.ndim else ()
    first = deliver(
        found, input.dtype, nan_or(reduce_marks(input, dims, keepdim, smooth=True), found, input.dtype), input, None
    )
    second = deliver(where, dt.int64, reduce_marks(input, dims, keepdim, smooth=False), input, None)
    if out is not None:
        return ValuesAndIndices(write_out(out[0], first), write_out(out[1], second))
    return ValuesAndIndices(first, second)


def argmax(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Index of the largest value, along a dimension or of all elements. Raises: dimension, dtype, size."""
    return _argmax("max", input, dim, keepdim, out)


def argmin(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Index of the smallest value, along a dimension or of all elements. Raises: dimension, dtype, size."""
    return _argmax("min", input, dim, keepdim, out)


def _argmax(name: str, input: "Tensor", dim: Any, keepdim: bool, out: Any) -> "Tensor":
    a = values(input)
    _refuse(f"arg{name}", input.dtype, "bc")
    if dim is None:
        if not a.size:
            raise LayoutIndexError("size", f"arg{name}: nothing to choose from")
        check_arithmetic("arg" + name, input.dtype, "if")
        where = np.asarray(_arg(name, a.reshape(-1), 0)).reshape((1,) * a.ndim if keepdim else ())
        return deliver(where, dt.int64, reduce_marks(input, tuple(range(a.ndim)), keepdim, smooth=False), input, out)
    d = wrap_dim(as_int(dim, "dim"), input.ndim)
    if not a.ndim:
        check_arithmetic("arg" + name, input.dtype, "if")
        return deliver(np.zeros((), np.int64), dt.int64, None, input, out)
    if a.shape[d] == 0:
        raise LayoutIndexError("size", f"arg{name}: dimension {d} is empty")
    if a.size and a.shape[d] > 1:
        check_arithmetic("arg" + name, input.dtype, "if")
    where = _arg(name, a, d) if a.size else np.zeros([n for k, n in enumerate(a.shape) if k != d], np.int64)
    return deliver(
        np.expand_dims(where, d) if keepdim else where,
        dt.int64,
        reduce_marks(input, (d,), keepdim, smooth=False),
        input,
        out,
    )


def all(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Whether all elements are true; uint8 stays uint8. Raises: dimension. Source: facts 4.4, torch 2.13."""
    return _logical(np.all, input, dim, keepdim, out)


def any(input: "Tensor", dim: Any = None, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """Whether any element is true; uint8 stays uint8. Raises: dimension. Source: facts 4.4, torch 2.13."""
    return _logical(np.any, input, dim, keepdim, out)


def _logical(f: Callable[..., Any], input: "Tensor", dim: Any, keepdim: bool, out: Any) -> "Tensor":
    dims = reduced_dims(input, dim, empty_is_all=False)
    if input.dtype.category == "raw" and input.dtype is not dt.complex32:
        raise UnsupportedError("dtype", f"all, any: PyTorch has no kernel for {input.dtype}")
    d = dt.uint8 if input.dtype is dt.uint8 else dt.bool_
    result = f(values(input) != 0, axis=dims, keepdims=keepdim)
    return deliver(np.asarray(result).astype(d.numpy), d, reduce_marks(input, dims, keepdim, smooth=False), input, out)


def _moments(
    input: "Tensor", dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Any, Any, tuple[int, ...]]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased or unbiased is None else 0
    if input.dtype.category not in ("float", "complex") or input.dtype in dt.FLOAT8:
        raise LayoutError("dtype", f"std, var: the dtype must be floating point or complex, got {input.dtype}")
    dims = reduced_dims(input, dim)
    wide = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    with np.errstate(all="ignore"):
        count = np.float64(_count(wide, dims))
        centre = np.sum(wide, axis=dims, keepdims=True) / count
        spread = np.sum(np.abs(wide - centre) ** 2, axis=dims, keepdims=keepdim) / np.float64(
            builtins.max(count - correction, 0)
        )
        if not keepdim:
            centre = centre.reshape(spread.shape)
    return spread, centre, dims


def _inexact(result: Any, input: "Tensor", d: dtype, dims: tuple[int, ...], keepdim: bool, out: Any) -> "Tensor":
    marks = reduce_marks(input, dims, keepdim, smooth=False)
    loose = np.full(np.shape(result), shadow.TOLERANCE, np.uint8)
    marks = loose if marks is None else np.maximum(marks, loose)
    with np.errstate(all="ignore"):
        a = cast(np.asarray(result), dt.complex128 if np.iscomplexobj(result) else dt.float64, d)
    return deliver(a, d, nan_or(marks, a, d), input, out)


def var(input: "Tensor", dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None,
        out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """Variance over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, _, dims = _moments(input, dim, unbiased, keepdim, correction)
    return _inexact(spread, input, input.dtype.to_real(), dims, keepdim, out)


def std(input: "Tensor", dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None,
        out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """Standard deviation over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, _, dims = _moments(input, dim, unbiased, keepdim, correction)
    return _inexact(np.sqrt(spread), input, input.dtype.to_real(), dims, keepdim, out)


def var_mean(
    input: "Tensor", dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Variance and mean over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, centre, dims = _moments(input, dim, unbiased, keepdim, correction)
    d = input.dtype
    return _inexact(spread, input, d.to_real(), dims, keepdim, None), _inexact(centre, input, d, dims, keepdim, None)


def std_mean(
    input: "Tensor", dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """Standard deviation and mean over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    spread, centre, dims = _moments(input, dim, unbiased, keepdim, correction)
    d = input.dtype
    return _inexact(np.sqrt(spread), input, d.to_real(), dims, keepdim, None), _inexact(
        centre, input, d, dims, keepdim, None
    )


def norm(
    input: "Tensor",
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: "Tensor | None" = None,
    dtype: Any = None,
) -> "Tensor":
    """Vector norm over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise LayoutError("argument", f"norm: there is no norm {p!r}")
    d = dtype or input.dtype
    if d.category not in ("float", "complex") or d in dt.FLOAT8:
        raise LayoutError("dtype", f"norm: the dtype must be floating point or complex, got {d}")
    dims = reduced_dims(input, dim)
    size = np.abs(values(input).astype(np.complex128 if d.is_complex else np.float64))
    if p == "nuc":
        if len(dims) != 2:
            raise LayoutError("dimension", f"norm: the nuclear norm is that of a matrix, got {len(dims)} dimensions")
        flat = np.moveaxis(values(input).astype(np.complex128 if d.is_complex else np.float64), dims, (-2, -1))
        sums = np.linalg.svd(flat, compute_uv=False).sum(-1)
        return _inexact(np.expand_dims(sums, sorted(dims)) if keepdim else sums, input, d.to_real(), dims, keepdim, out)
    power = 2.0 if p in ("fro", None) else float(p)
    with np.errstate(all="ignore"):
        if power == np.inf:
            result = np.max(size, axis=dims, keepdims=keepdim)
        elif power == -np.inf:
            result = np.min(size, axis=dims, keepdims=keepdim)
        elif power == 0:
            result = np.sum(size != 0, axis=dims, keepdims=keepdim).astype(np.float64)
        else:
            result = np.sum(size**power, axis=dims, keepdims=keepdim) ** (1 / power)
    return _inexact(result, input, d.to_real(), dims, keepdim, out)


def norm_of(self: "Tensor", p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> "Tensor":
    """`norm` as a method, which has no `out`. Raises: as `norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


def logsumexp(input: "Tensor", dim: Any, keepdim: bool = False, *, out: "Tensor | None" = None) -> "Tensor":
    """`log(sum(exp(input)))` over dimensions. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    d = get_default_dtype() if input.dtype.category in ("bool", "int") else input.dtype
    if input.numel() and input.ndim and not isinstance(dim, int) and not keepdim and not len(dim):
        raise LayoutError("broadcast", "logsumexp: an empty list of dimensions cannot be reduced without keepdim")
    dims = reduced_dims(input, dim)
    check_arithmetic("logsumexp", d, "fc")
    wide = values(input).astype(np.complex128 if input.dtype.is_complex else np.float64)
    with np.errstate(all="ignore"):
        top = np.max(wide.real, axis=dims, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        result = np.log(np.sum(np.exp(wide - top), axis=dims, keepdims=keepdim))
        result = result + (top if keepdim else top.reshape(result.shape))
    return _inexact(result, input, d, dims, keepdim, out)


def count_nonzero(input: "Tensor", dim: Any = None) -> "Tensor":
    """Number of elements that are not zero. Raises: dimension. Source: facts 4.4, torch 2.13."""
    dims = reduced_dims(input, dim)
    # Over some dimensions it is a sum of `input != 0`.
    need_kernel("count_nonzero", input.dtype, "bifch" if dim in (None, (), []) else "bifchu8e")
    result = np.sum(values(input) != 0, axis=dims)
    return deliver(result, dt.int64, reduce_marks(input, dims, False, smooth=False), input, None)


def aminmax(input: "Tensor", *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """Smallest and largest values. Raises: dimension, dtype, size. Source: facts 4.4, torch 2.13."""
    if dim is not None:
        d = wrap_dim(as_int(dim, "dim"), input.ndim)
        if input.ndim and input._layout.shape[d] == 0:
            raise LayoutIndexError("size", f"aminmax: dimension {d} is empty")
    if dim is None and not input.numel():
        raise LayoutError("size", "aminmax: nothing to choose from")
    if input.dtype.is_complex:
        kind = UnsupportedError if input.ndim or dim is None else LayoutError
        raise kind("dtype", f"aminmax: {input.dtype} is refused")
    if dim is None:
        result = (amin(input, (), keepdim), amax(input, (), keepdim))
    elif not input.ndim:
        same = values(input), input.dtype, shadow.marks_of(input), input, None
        result = (deliver(*same), deliver(*same))
    else:
        check_arithmetic("aminmax", input.dtype, "bif")
        result = (amin(input, as_int(dim, "dim"), keepdim), amax(input, as_int(dim, "dim"), keepdim))
    if out is not None:
        for t in out:
            if t.dtype is not input.dtype:
                raise LayoutError("dtype", f"out must have dtype {input.dtype}, got {t.dtype}")
        return MinAndMax(write_out(out[0], result[0], input), write_out(out[1], result[1], input))
    return MinAndMax(*result)
