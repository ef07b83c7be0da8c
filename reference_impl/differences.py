"""Differences along a dimension and sums over them: diff, gradient, trapezoids."""

from typing import TYPE_CHECKING, Any

from . import arithmetic, division, joining, pointwise_ops, reductions, scans, slicing_ops, view_ops
from . import dtypes as dt
from .constructors import zeros, zeros_like
from .copies import copy_
from .core import TensorBase, as_dims, as_int, bad_arguments, requires_grad
from .errors import LayoutError, LayoutIndexError
from .joining import cat
from .layout import wrap_dim
from .out import write_out
from .parsing import parsed

if TYPE_CHECKING:
    from .tensors import Tensor


def gradient(input: "Tensor", *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> list["Tensor"]:
    """Finite differences along dimensions, one tensor for each. Raises: dimension, size, argument. Source: torch."""
    dims = tuple(range(input.ndim)) if dim is None else as_dims(dim, "dim")
    steps = _steps(spacing, dim, len(dims))
    if input.dtype is dt.uint8:
        raise LayoutError("dtype", f"gradient: {input.dtype} is refused")
    if len(steps) != len(dims):
        raise LayoutError("size", f"gradient: {len(steps)} spacings for {len(dims)} dimensions")
    if as_int(edge_order, "edge_order") not in (1, 2):
        raise LayoutError("argument", f"gradient: edge_order must be 1 or 2, got {edge_order}")
    dims = tuple([wrap_dim(d, input.ndim) for d in dims])
    if len(set(dims)) != len(dims):
        raise LayoutError("dimension", f"gradient: dimensions {dims} repeat one")
    for d in dims:
        if input._layout.shape[d] <= edge_order:
            raise LayoutError("size", f"gradient: dimension {d} of length {input._layout.shape[d]} is too short")
    slope = [_slope_by_places if isinstance(step, TensorBase) else _slope_by_number for step in steps]
    return [f(input, d, step, edge_order) for f, d, step in zip(slope, dims, steps, strict=True)]


def _steps(spacing: Any, dim: Any, count: int) -> list[Any]:
    """The spacing along each dimension: numbers, or tensors of places."""
    if isinstance(spacing, (tuple, list)):
        places = [isinstance(s, TensorBase) for s in spacing]
        if any(places) and not all(places):
            raise bad_arguments("gradient", f"{spacing} has both numbers and tensors")
        return list(spacing)
    if isinstance(spacing, TensorBase):
        if spacing._layout.shape or requires_grad(spacing):
            raise bad_arguments("gradient", "one tensor of places without a list")
        spacing = spacing.item()  # type: ignore[attr-defined]
    return [1 if spacing is None else spacing] * count


def _slope_by_number(input: "Tensor", d: int, step: Any, edge_order: int) -> "Tensor":
    n = input._layout.shape[d]
    sub, mul = arithmetic.sub, arithmetic.mul

    def part(start: int, length: int = 1) -> "Tensor":
        return slicing_ops.narrow(input, d, start, length)

    if edge_order == 1:
        first, last = sub(part(1), part(0)), sub(part(n - 1), part(n - 2))
    else:
        first = sub(arithmetic.add(mul(part(0), -1.5), mul(part(1), 2)), mul(part(2), 0.5))
        last = arithmetic.add(sub(mul(part(n - 3), 0.5), mul(part(n - 2), 2)), mul(part(n - 1), 1.5))
    inner = division.div(sub(part(2, n - 2), part(0, n - 2)), step)
    return cat([division.div(first, step), division.div(inner, 2), division.div(last, step)], d)


def _slope_by_places(input: "Tensor", d: int, places: "Tensor", edge_order: int) -> "Tensor":
    if places.ndim != 1:
        raise LayoutError("dimension", f"gradient: places are a vector, got shape {places._layout.shape}")
    n = input._layout.shape[d]
    add, sub, mul, div = arithmetic.add, arithmetic.sub, arithmetic.mul, division.div
    steps = diff(places, 1, 0)
    count = max(steps._layout.shape[0] - 1, 0)
    before, after = slicing_ops.narrow(steps, 0, 0, count), _from(steps, 0, 1)
    wide = [1] * input.ndim
    wide[d] = -1

    def part(start: int, length: int = 1) -> "Tensor":
        return slicing_ops.narrow(input, d, start, length)

    def weighed(weights: "list[Tensor]", start: int, length: int) -> "Tensor":
        a, b, c = weights
        return add(add(mul(a, part(start, length)), mul(b, part(start + 1, length))), mul(c, part(start + 2, length)))

    a = div(arithmetic.neg(after), mul(before, add(before, after)))
    b = div(sub(after, before), mul(before, after))
    c = div(before, mul(after, add(before, after)))
    inner = weighed([view_ops.reshape(x, tuple(wide)) for x in (a, b, c)], 0, n - 2)
    if edge_order == 1:
        first = div(sub(part(1), part(0)), slicing_ops.select(steps, 0, 0))
        last = div(sub(part(n - 1), part(n - 2)), slicing_ops.select(steps, 0, -1))
    else:
        x, y = slicing_ops.select(before, 0, 0), slicing_ops.select(after, 0, 0)
        a = div(arithmetic.neg(add(mul(x, 2.0), y)), mul(x, add(x, y)))
        b = div(add(x, y), mul(x, y))
        c = div(arithmetic.neg(x), mul(y, add(x, y)))
        first = weighed([a, b, c], 0, 1)
        x, y = slicing_ops.select(before, 0, -1), slicing_ops.select(after, 0, -1)
        a = div(y, mul(x, add(x, y)))
        b = div(arithmetic.neg(add(y, x)), mul(x, y))
        c = div(add(mul(y, 2.0), x), mul(y, add(x, y)))
        last = weighed([a, b, c], n - 3, 1)
    return cat([first, inner, last], d)


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
        resized = out is not None and out._layout.shape != input._layout.shape
        result = write_out(out, copy_(zeros_like(input), input), input, row_major=True)
        if out is not None and resized:
            out._versions[0] += 1  # resizing is counted, too
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


@parsed(given_only="x dx")
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


@parsed(given_only="x dx")
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
