"""Distances between rows, sums of batches of products, finite differences, windows of signal processing."""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, division, linear_algebra, pointwise_ops, reductions, shadow, view_ops
from . import dtypes as dt
from .core import TensorBase, as_int, as_ints, check_inplace, values, written
from .elementwise import broadcast_shapes
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .joining import cat
from .layout import wrap_dim
from .out import write_out
from .promotion import can_cast, get_default_dtype
from .results import finish
from .special_functions import float_power
from .sums import addr, renorm

if TYPE_CHECKING:
    from .tensors import Tensor

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _open(t: "Tensor") -> "Tensor":
    if t.numel():
        shadow.stamp(t, shadow.UNSPECIFIED)
    return t


def cdist(
    x1: "Tensor", x2: "Tensor", p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> "Tensor":
    """Distances between all pairs of rows, row-major; a view where many Euclidean ones are made from products.

    Raises: dimension, size, dtype, argument, broadcast. Source: facts 4.4, torch 2.13.
    """
    if compute_mode not in _MODES:
        from .errors import LayoutValueError

        raise LayoutValueError("argument", f"cdist: compute_mode {compute_mode!r} is none of {_MODES}")
    for t in (x1, x2):
        if t.ndim < 2:
            raise LayoutError("dimension", f"cdist: at least 2 dimensions are needed, got {t.ndim}")
    a, b = x1._layout.shape, x2._layout.shape
    if a[-1] != b[-1]:
        raise LayoutError("size", f"cdist: rows of {a[-1]} and {b[-1]}")
    for t in (x1, x2):
        if t.dtype.category != "float":
            raise LayoutError("dtype", f"cdist: floating point is needed, got {t.dtype}")
    if p < 0:
        raise LayoutError("argument", f"cdist: p must not be negative, got {p}")
    shape = (*broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-2])
    by_product = p == 2 and (compute_mode == _MODES[1] or (compute_mode == _MODES[0] and (a[-2] > 25 or b[-2] > 25)))
    filled = prod(shape) and a[-1]
    if filled and not by_product and x1.dtype is not x2.dtype:
        raise LayoutError("dtype", f"cdist: {x1.dtype} and {x2.dtype}")
    if filled and not by_product and x1.dtype in (dt.float16, dt.bfloat16):
        raise UnsupportedError("dtype", f"cdist: PyTorch has no kernel for {x1.dtype}")
    result = finish(np.zeros(shape), x1.dtype, x1, x2)
    if filled:
        _open(result)
    if filled and by_product:
        return view_ops.view(result, shape)
    return result


def pdist(input: "Tensor", p: float = 2) -> "Tensor":
    """Distances between all pairs of rows of a matrix, once each. Raises: dimension, dtype, argument."""
    if input.ndim != 2:
        raise LayoutError("dimension", f"pdist: a matrix is needed, got {input.ndim} dimensions")
    if input.dtype.category != "float":
        raise LayoutError("dtype", f"pdist: floating point is needed, got {input.dtype}")
    if p < 0:
        raise LayoutError("argument", f"pdist: p must not be negative, got {p}")
    n, m = input._layout.shape
    if n > 1 and m and input.dtype in (dt.float16, dt.bfloat16):
        raise UnsupportedError("dtype", f"pdist: PyTorch has no kernel for {input.dtype}")
    return _open(finish(np.zeros(n * (n - 1) // 2 if n else 0), input.dtype, input))


def addbmm(input: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1,
           out: "Tensor | None" = None) -> "Tensor":  # fmt: skip
    """`beta * input + alpha * sum(batch1 @ batch2)`, row-major. Raises: dimension, size, broadcast, dtype."""
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
        _open(made)
    return write_out(out, made, input, batch1, batch2)


def addbmm_(self: "Tensor", batch1: "Tensor", batch2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addbmm` in place. Raises: grad, overlap, dimension, size, dtype."""
    return _written(self, addbmm(self.detach(), batch1, batch2, beta=beta, alpha=alpha), batch1, batch2)


def renorm_(self: "Tensor", p: Any, dim: int, maxnorm: Any) -> "Tensor":
    """`renorm` in place. Raises: grad, overlap, dimension, dtype, argument."""
    return _written(self, renorm(self.detach(), p, dim, maxnorm))


def addr_(self: "Tensor", vec1: "Tensor", vec2: "Tensor", *, beta: Any = 1, alpha: Any = 1) -> "Tensor":
    """`addr` in place. Raises: grad, overlap, dimension, size, dtype."""
    return _written(self, addr(self.detach(), vec1, vec2, beta=beta, alpha=alpha), vec1, vec2)


def float_power_(self: "Tensor", exponent: Any) -> "Tensor":
    """`float_power` in place, for doubles only. Raises: grad, overlap, dtype, broadcast."""
    result = float_power(self.detach(), exponent)
    if result.dtype is not self.dtype:
        raise LayoutError("dtype", f"float_power_: a {result.dtype} result for a {self.dtype} tensor")
    return _written(self, result, exponent)


def _written(self: "Tensor", result: "Tensor", *inputs: Any) -> "Tensor":
    from .copies import write_copy

    check_inplace(self, *inputs)
    if result._layout.shape != self._layout.shape:
        raise LayoutError("size", f"a result of {result._layout.shape} does not fit {self._layout.shape}")
    if not can_cast(result.dtype, self.dtype):
        raise LayoutError("dtype", f"a {result.dtype} result cannot be cast to {self.dtype} (facts 4.3.8)")
    result._has_fn = False
    write_copy(self, result)
    written(self, *inputs)
    return self


def conj_physical_(self: "Tensor") -> "Tensor":
    """Conjugates in place. Raises: grad, overlap. Source: torch 2.13."""
    if not self.dtype.is_complex:
        check_inplace(self)
        written(self)
        return self
    return _written(self, pointwise_ops.conj_physical(self.detach()))


def gradient(input: "Tensor", *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> list["Tensor"]:
    """Finite differences along dimensions, one tensor for each. Raises: dimension, size, argument. Source: torch."""
    dims = tuple(range(input.ndim)) if dim is None else as_ints((dim,), "dim")
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
            return view_ops.narrow(input, d, start, length)

        inner = division.div(arithmetic.sub(part(2, n - 2), part(0, n - 2)), 2.0)
        first = division.div(arithmetic.sub(part(1, 1), part(0, 1)), 1.0)
        last = division.div(arithmetic.sub(part(n - 1, 1), part(n - 2, 1)), 1.0)
        results.append(_open(cat([first, inner, last], d)))
    return results


def _window(name: str, window_length: int, dtype: Any, requires_grad: bool, a: Any) -> "Tensor":
    d = get_default_dtype() if dtype is None else dtype
    if not d.is_floating_point:
        raise LayoutError("dtype", f"{name}: floating point is needed, got {d}")
    n = as_int(window_length, "window_length")
    if n < 0:
        raise LayoutError("size", f"{name}: the length {n} is negative")
    result = finish(np.ones(n) if n < 2 else np.zeros(n), d, exact=n < 2)
    if n > 1:
        _open(result)
    if a and n > 1:
        # Made one longer and shortened.
        result._storage.resize_((n + 1) * d.itemsize)
    return result.requires_grad_() if requires_grad else result


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Hann's window. Raises: size, dtype. Source: torch 2.13."""
    return _window("hann_window", window_length, dtype, requires_grad, periodic)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Hamming's window. Raises: size, dtype. Source: torch 2.13."""
    return _window("hamming_window", window_length, dtype, requires_grad, periodic)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Blackman's window. Raises: size, dtype. Source: torch 2.13."""
    return _window("blackman_window", window_length, dtype, requires_grad, periodic)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Bartlett's window. Raises: size, dtype. Source: torch 2.13."""
    return _window("bartlett_window", window_length, dtype, requires_grad, periodic)


def constant_pad_nd(input: "Tensor", pad: Any, value: Any = 0) -> "Tensor":
    """`nn.functional.pad` with a constant. Raises: dimension, size, overflow. Source: facts 4.4, torch 2.13."""
    from .padding import pad as padded

    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"constant_pad_nd: expected a Tensor, got {type(input).__name__}")
    if not isinstance(value, complex):
        return padded(input, tuple(pad), "constant", value)
    from .copies import scalar_array

    result = padded(input, tuple(pad))
    scalar_array(value, input.dtype)
    return _open(result)
