"""Differences along a dimension and sums over them: diff, gradient, trapezoids."""

from typing import TYPE_CHECKING, Any

from . import arithmetic, division, joining, pointwise_ops, reductions, scans, shadow, slicing_ops, view_ops
from . import dtypes as dt
from .constructors import zeros, zeros_like
from .copies import copy_
from .core import TensorBase, as_dims, as_int, bad_arguments
from .errors import LayoutError, LayoutIndexError
from .joining import cat
from .layout import wrap_dim
from .out import write_out

if TYPE_CHECKING:
    from .tensors import Tensor


def gradient(input: "Tensor", *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> list["Tensor"]:
    """Finite differences along dimensions, one tensor for each. Raises: dimension, size, argument. Source: torch."""
    dims = tuple(range(input.ndim)) if dim is None else as_dims(dim, "dim")
    dims = tuple([wrap_dim(d, input.ndim) for d in dims])
    if len(set(dims)) != len(dims):
        raise LayoutError("dimension", f"gradient: dimensions {dims} repeat one")
    if edge_order not in (1, 2):
        raise LayoutError("argument", f"gradient: edge_order must be 1 or 2, got {edge_order}")
    if input.dtype in (dt.bool_, dt.uint8):
        raise LayoutError("dtype", f"gradient: {input.dtype} is refused")
    spacing = 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        raise LayoutError("size", f"gradient: {len(steps)} spacings for {len(dims)} dimensions")
    results = []
    for d, step in zip(dims, steps, strict=True):
        n = input._layout.shape[d]
        if n <= edge_order:
            raise LayoutError("size", f"gradient: dimension {d} of length {n} is too short")
        if isinstance(step, TensorBase) and step._layout.shape != (n,):
            raise LayoutError("size", f"gradient: {step._layout.shape} places for a dimension of length {n}")

        def part(start: int, length: int, d: int = d) -> "Tensor":
            return slicing_ops.narrow(input, d, start, length)

        inner = division.div(arithmetic.sub(part(2, n - 2), part(0, n - 2)), 2.0)
        first = division.div(arithmetic.sub(part(1, 1), part(0, 1)), 1.0)
        last = division.div(arithmetic.sub(part(n - 1, 1), part(n - 2, 1)), 1.0)
        results.append(shadow.leave_unspecified(cat([first, inner, last], d)))
    return results


def diff(
    input: "Tensor", n: int = 1, dim: int = -1, prepend: "Tensor | None" = None, append: "Tensor | None" = None, *,
    out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Differences of neighbours along a dimension, n times over. Raises: dimension, size, dtype. Source: torch 2.13."""
    if not input.ndim:
        raise LayoutError("dimension", "diff: at least one dimension is needed")
    if as_int(n, "n") < 0:
        raise LayoutError("size", f"diff: n must not be negative, got {n}")
    d = as_int(dim, "dim")
    if n or prepend is not None or append is not None:
        d = wrap_dim(d, input.ndim)
    for t in (prepend, append):
        if t is None:
            continue
        if t.ndim != input.ndim:
            raise LayoutError("dimension", "diff: prepend and append have the input's number of dimensions")
        for k in range(input.ndim):
            if k != d and t._layout.shape[k] != input._layout.shape[k]:
                raise LayoutError("size", f"diff: shapes differ at dimension {k}")
    if n == 0:
        result = write_out(out, copy_(zeros_like(input), input), input)
        if out is not None:
            out._versions[0] += 1  # filled with zeros first
        return result
    parts = [t for t in (prepend, input, append) if t is not None]
    if len(parts) > 1:
        input = joining.cat(parts, d)
    n = min(n, input._layout.shape[d])
    for step in range(n):
        length = input._layout.shape[d] - 1
        later, earlier = slicing_ops.narrow(input, d, 1, length), slicing_ops.narrow(input, d, 0, length)
        subtract = pointwise_ops.logical_xor if input.dtype is dt.bool_ else arithmetic.sub
        input = subtract(later, earlier, out=out if step == n - 1 else None)
    return input if n else write_out(out, input)


def _spaced(y: "Tensor", x: "Tensor", d: int, name: str) -> "Tensor":
    if x.ndim == 1:
        if x._layout.shape[0] != y._layout.shape[d]:
            raise LayoutError("size", f"{name}: {x._layout.shape[0]} places for {y._layout.shape[d]} samples")
        x = view_ops.view(x, tuple([x._layout.shape[0] if k == d else 1 for k in range(y.ndim)]))
    elif x.ndim < y.ndim:
        x = view_ops.view(x, (*[1] * (y.ndim - x.ndim), *x._layout.shape))
    length = x._layout.shape[d]
    return arithmetic.sub(_from(x, d, 1), slicing_ops.narrow(x, d, 0, max(length - 1, 0)))


def _from(t: "Tensor", d: int, start: int) -> "Tensor":
    length = t._layout.shape[d]
    start = min(start, length)
    return slicing_ops.narrow(t, d, start, length - start)


def _ends(y: "Tensor", d: int) -> tuple["Tensor", "Tensor"]:
    return slicing_ops.narrow(y, d, 0, max(y._layout.shape[d] - 1, 0)), _from(y, d, 1)


def trapezoid(y: "Tensor", x: "Tensor | None" = None, *, dx: Any = None, dim: int = -1) -> "Tensor":
    """Integrals along a dimension by the trapezoidal rule. Raises: dimension, size, dtype. Source: torch 2.13."""
    _either("trapezoid", x, dx)
    d = wrap_dim(as_int(dim, "dim"), y.ndim)
    if not y.ndim or not y._layout.shape[d]:
        if not y.ndim:
            raise LayoutIndexError("dimension", "trapezoid: at least one dimension is needed")

        nothing: Tensor = zeros([n for k, n in enumerate(y._layout.shape) if k != d], dtype=y.dtype)
        nothing._versions[0] = 1  # filled with zeros
        return nothing
    _no_bool("trapezoid", y, x)
    if x is not None:
        left, right = _ends(y, d)
        return division.div(
            reductions.sum(arithmetic.mul(arithmetic.add(left, right), _spaced(y, x, d, "trapezoid")), d), 2.0
        )
    both = arithmetic.add(slicing_ops.select(y, d, 0), slicing_ops.select(y, d, -1))
    return arithmetic.mul(
        arithmetic.sub(reductions.sum(y, d), arithmetic.mul(both, 0.5)), 1.0 if dx is None else float(dx)
    )


def _either(name: str, x: Any, dx: Any) -> None:
    """Refuse places and a distance together. Raises: argument (TypeError)."""
    if x is not None and dx is not None:
        raise bad_arguments(name, "both x and dx")


def _no_bool(name: str, y: "Tensor", x: Any) -> None:
    if y.dtype is dt.bool_ or (isinstance(x, TensorBase) and x.dtype is dt.bool_):
        raise LayoutError("dtype", f"{name}: bool is refused")


def cumulative_trapezoid(y: "Tensor", x: "Tensor | None" = None, *, dx: Any = None, dim: int = -1) -> "Tensor":
    """Running `trapezoid` along a dimension. Raises: dimension, size, dtype. Source: torch 2.13."""
    _either("cumulative_trapezoid", x, dx)
    d = wrap_dim(as_int(dim, "dim"), y.ndim)
    _no_bool("cumulative_trapezoid", y, x)
    if not y.ndim:
        raise LayoutIndexError("dimension", "cumulative_trapezoid: at least one dimension is needed")
    left, right = _ends(y, d)
    if x is not None:
        space = _spaced(y, x, d, "cumulative_trapezoid")
        return division.div(scans.cumsum(arithmetic.mul(arithmetic.add(right, left), space), d), 2.0)
    half = (1.0 if dx is None else float(dx)) / 2.0
    return scans.cumsum(arithmetic.mul(arithmetic.add(right, left), half), d)
