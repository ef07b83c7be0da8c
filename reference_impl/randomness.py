"""Random operators: layout, dtype and errors are PyTorch's; the values are never specified."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .calls import check_keywords
from .constructors import as_sizes, dtype_or_default, empty_like, flagged
from .conversion import cast, digits
from .copies import store
from .core import (
    TensorBase,
    array,
    as_int,
    as_int_list,
    bad_arguments,
    check_inplace,
    check_internal_overlap,
    check_read,
    from_array,
    recorded,
    values,
    written,
)
from .devices import check_device
from .dtypes import dtype, group_of
from .errors import LayoutError, LayoutTypeError, UnsupportedError
from .generator import numbers_of
from .layout import Shape, check_allocation
from .out import check_out, resize_output, write_out
from .output_layout import broadcast_shapes
from .parsing import parsed
from .pointwise import check_operands
from .results import check_real_gradient, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _filled(name: str, self: "Tensor", draw: Callable[[tuple[int, ...]], Any], groups: str) -> "Tensor":
    check_inplace(self)
    if self.numel() and group_of(self.dtype) not in groups:
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {self.dtype}")
    check_internal_overlap(self)
    drawn = np.asarray(draw(self._layout.shape), np.float64)
    store(self, cast(drawn, dt.float64, self.dtype), shadow.UNSPECIFIED if drawn.size else None)
    written(self)
    return self


def _need_float(name: str, self: "Tensor") -> None:
    if group_of(self.dtype) not in "f8e4":
        raise LayoutError("dtype", f"{name}: a continuous distribution needs floating point, got {self.dtype}")


def _check_integers(name: str, d: dtype, low: int, high: int) -> None:
    if group_of(d) in "8e4":
        raise UnsupportedError("dtype", f"{name}: PyTorch has no kernel for {d}")
    if group_of(d) not in "biuf":
        raise LayoutError("dtype", f"{name}: integers cannot be written to {d}")
    least, most = _bounds(d)
    if low < least or high - 1 > most:
        raise LayoutError("overflow", f"{name}: from {low} to {high - 1} does not fit {d}")


def _bounds(d: dtype) -> tuple[float, float]:
    """The least and the largest number of a dtype."""
    if d is dt.bool_:
        return 0, 1
    if d.category == "int":
        return np.iinfo(d.numpy).min, np.iinfo(d.numpy).max
    largest = float(dt.finfo(d.numpy).max)
    return -largest, largest


def uniform_(self: "Tensor", from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **kwargs: Any) -> "Tensor":
    """Write uniform values. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1, torch 2.13."""
    check_keywords("uniform_", kwargs, "from")
    low = kwargs.get("from", from_)
    if low > to:
        raise LayoutError("argument", f"uniform_: from {low} is greater than to {to}")
    need_kernel("uniform_", self.dtype, "fch")
    return _filled("uniform_", self, lambda s: numbers_of(generator).uniform(low, to, s), "fch")


def normal_(self: "Tensor", mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> "Tensor":
    """Write normal values. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1, torch 2.13."""
    for x in (mean, std):
        if not isinstance(x, (int, float)):
            raise LayoutTypeError("argument", f"normal_: expected a number, got {type(x).__name__}")
    if std < 0:
        raise LayoutError("argument", f"normal_: std {std} is negative")
    return _filled("normal_", self, lambda s: numbers_of(generator).normal(mean, std, s), "fch")


def random_(self: "Tensor", from_: Any = None, to: Any = None, *, generator: Any = None, **kwargs: Any) -> "Tensor":
    """Write integers below a bound or from a range. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1."""
    check_keywords("random_", kwargs, "from")
    low, high = kwargs.get("from", from_), to
    if high is None and low is not None:
        low, high = 0, low
    if low is not None and low >= high:
        raise LayoutError("argument", f"random_: from {low} must be less than to {high}")
    check_internal_overlap(self)
    if low is None:
        return _filled("random_", self, lambda s: numbers_of(generator).integers(0, 1, s), "bif")
    _check_integers("random_", self.dtype, low, high)
    return _filled("random_", self, lambda s: numbers_of(generator).integers(low, high, s), "biuf")


def bernoulli_(self: "Tensor", p: Any = 0.5, *, generator: Any = None) -> "Tensor":
    """Write zeros and ones. Raises: grad, overlap, argument, broadcast, dtype. Source: facts 5.1.1, torch 2.13."""
    if isinstance(p, TensorBase):
        if broadcast_shapes(self._layout.shape, p._layout.shape) != self._layout.shape:
            raise LayoutError("broadcast", f"bernoulli_: probabilities of {p._layout.shape} for {self._layout.shape}")
        if self.numel():
            need_kernel("bernoulli_", self.dtype, "bif")
            need_kernel("bernoulli_", p.dtype, "f")
    elif not 0 <= p <= 1:
        raise LayoutError("argument", f"bernoulli_: p {p} must lie between 0 and 1")
    check_internal_overlap(self)
    chance = values(p) if isinstance(p, TensorBase) else p
    if self.numel() and not np.all((chance >= 0) & (chance <= 1)):
        shadow.leave_unspecified(self)
        raise LayoutError("argument", "bernoulli_: probabilities lie between 0 and 1")
    return _filled("bernoulli_", self, lambda s: numbers_of(generator).random(s) < chance, "bif")


def exponential_(self: "Tensor", lambd: float = 1.0, *, generator: Any = None) -> "Tensor":
    """Write exponential values. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1, torch 2.13."""
    if lambd <= 0:
        raise LayoutError("argument", f"exponential_: lambd {lambd} is not positive")
    check_internal_overlap(self)
    if self.numel():
        _need_float("exponential_", self)
    return _filled("exponential_", self, lambda s: numbers_of(generator).exponential(1 / lambd, s), "f")


def cauchy_(self: "Tensor", median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> "Tensor":
    """Write Cauchy values. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1, torch 2.13."""
    if sigma <= 0:
        raise LayoutError("argument", f"cauchy_: sigma {sigma} is not positive")
    check_internal_overlap(self)
    _need_float("cauchy_", self)
    return _filled("cauchy_", self, lambda s: numbers_of(generator).standard_cauchy(s), "f")


def log_normal_(self: "Tensor", mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> "Tensor":
    """Write log-normal values. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1, torch 2.13."""
    if std <= 0:
        raise LayoutError("argument", f"log_normal_: std {std} is not positive")
    check_internal_overlap(self)
    return _filled("log_normal_", self, lambda s: numbers_of(generator).lognormal(mean, std, s), "f")


def geometric_(self: "Tensor", p: float, *, generator: Any = None) -> "Tensor":
    """Write geometric values. Raises: grad, overlap, argument, dtype. Source: facts 5.1.1, torch 2.13."""
    if not 0 < p < 1:
        raise LayoutError("argument", f"geometric_: p {p} must lie between 0 and 1")
    return _filled("geometric_", self, lambda s: numbers_of(generator).geometric(p, s), "if")


def _unspecified(drawn: Any, d: Any) -> "Tensor":
    t = from_array(_drawn_in(d, drawn), d)
    shadow.stamp(t, shadow.UNSPECIFIED if t.numel() else None)
    return t


@parsed(given_only="p")
def bernoulli(input: "Tensor", p: Any = None, *, generator: Any = None, out: "Tensor | None" = None) -> "Tensor":
    """Zeros and ones by probabilities, row-major. Raises: dtype, argument. Source: facts 4.4, torch 2.13."""
    if p is not None and out is not None:
        raise bad_arguments("bernoulli", "one probability and out")
    if out is not None:
        if out._layout.shape == input._layout.shape:
            check_internal_overlap(out)
        check_out(out, input)
        resize_output(out, input._layout.shape)
    if input.numel() and group_of(input.dtype) not in ("f" if p is None else "bif"):
        raise UnsupportedError("dtype", f"bernoulli: PyTorch has no kernel for {input.dtype}")
    check_read(input)
    check_real_gradient("bernoulli", input.dtype, input)
    chance = values(input) if p is None else p
    if not np.all((chance >= 0) & (chance <= 1)):
        raise LayoutError("argument", "bernoulli: probabilities lie between 0 and 1")
    drawn = numbers_of(generator).random(input._layout.shape) < chance
    return write_out(out, recorded(_unspecified(drawn, input.dtype), input), input)


_MOST = 1e18
"""The largest rate that NumPy draws counts of."""


def poisson(input: "Tensor", generator: Any = None) -> "Tensor":
    """Counts by rates, row-major. Raises: argument (a negative rate), dtype. Source: torch 2.13."""
    need_kernel("poisson", input.dtype, "f")
    if (values(input) < 0).any():
        raise LayoutError("argument", "poisson: a rate is negative")
    rates = np.minimum(values(input).astype(np.float64), _MOST)
    return recorded(_unspecified(numbers_of(generator).poisson(np.nan_to_num(rates)), input.dtype), input)


def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: "Tensor | None" = None,
    dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Normal values by means and deviations, row-major, in the dtype of the first tensor or of `out`.

    Raises: argument, broadcast (also of `out`, which is not resized where the deviation is a number), dtype.
    Source: facts 4.4.
    """
    check_operands("normal", (mean, std))
    check_device(device, pin_memory)
    tensors = [x for x in (mean, std) if isinstance(x, TensorBase)]
    if size is not None:
        if tensors:
            raise bad_arguments("normal", "a tensor and a size")
        shape = as_int_list(size, "size")
        if std < 0:
            raise LayoutError("argument", f"normal: std {std} is negative")
        return _drawn("normal", (shape,), {}, generator, out, dtype, device, requires_grad, pin_memory)
    if not tensors:
        raise LayoutTypeError("argument", "normal: numbers alone need a size")
    if any((dtype, layout, device, requires_grad, pin_memory)):
        raise bad_arguments("normal", "tensors say what is made of them")
    if not isinstance(std, TensorBase):
        if std < 0:
            raise LayoutError("argument", f"normal: std {std} is negative")
    elif std.dtype.is_complex:
        raise LayoutError("dtype", "normal: std must not be complex")
    elif std.numel() and (values(std) < 0).any():  # type: ignore[attr-defined]
        raise LayoutError("argument", "normal: a std is negative")
    shape = broadcast_shapes(*[t._layout.shape for t in tensors])
    if out is not None:
        if not isinstance(std, TensorBase):
            shape = broadcast_shapes(shape, out._layout.shape)
        check_internal_overlap(out)
    d = tensors[0].dtype if out is None else out.dtype
    # Of nothing, it is a product and a sum that are looked for.
    need_kernel("normal", d, "bifch" if 0 in shape else "fch")
    check_read(*tensors)
    check_real_gradient("normal", d, *tensors)
    center, spread = (values(x).real.astype(np.float64) if isinstance(x, TensorBase) else x for x in (mean, std))
    drawn = center + spread * numbers_of(generator).standard_normal(shape)
    return write_out(out, recorded(_unspecified(drawn, d), *tensors), *tensors)


def randperm(
    n: int, *, generator: Any = None, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """A random order of so many integers.

    Raises: size (a negative number), overflow (one that the dtype does not count up to), dtype. Source: torch 2.13.
    """
    check_device(device, pin_memory)
    count = as_int(n, "n")
    if count < 0:
        raise LayoutError("size", f"randperm: n {count} is negative")
    d = out.dtype if out is not None else dt.int64 if dtype is None else dtype
    if group_of(d) in "if" and count - 1 > (_bounds(d)[1] if d.category == "int" else 2 ** (digits(d) + 1)):
        raise LayoutError("overflow", f"randperm: n {count} is more than {d} counts up to")
    if out is not None:
        resize_output(out, (count,))
    need_kernel("randperm", d, "if")
    t = _unspecified(numbers_of(generator).permutation(count), d)
    return flagged(t, requires_grad) if out is None else write_out(out, t)


def randint_like(
    input: "Tensor", low: Any = None, high: Any = None, *, generator: Any = None, **kwargs: Any
) -> "Tensor":
    """`empty_like` with random integers. Raises: argument, format. Source: facts 4.1.8, torch 2.13."""
    first, last = (0, low) if high is None else (low or 0, high)
    if last is None:
        raise LayoutTypeError("argument", "randint_like: no bound given")
    if last <= first:
        raise LayoutError("argument", f"randint_like: from {first} to {last} there is no integer")
    _check_integers("randint_like", kwargs.get("dtype") or input.dtype, first, last)
    return _drawn_like(input, kwargs, lambda s: numbers_of(generator).integers(first, last, s))


def multinomial(
    input: "Tensor", num_samples: int, replacement: bool = False, *, generator: Any = None, out: "Tensor | None" = None
) -> "Tensor":
    """Random indices by weights, row-major. Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13."""
    if input.ndim not in (1, 2):
        raise LayoutError("dimension", f"multinomial: 1 or 2 dimensions are needed, got {input.ndim}")
    if not input.dtype.is_floating_point:
        raise LayoutError("dtype", f"multinomial: weights must be floating point, got {input.dtype}")
    count = as_int(num_samples, "num_samples")
    if count <= 0 or (not replacement and count > input._layout.shape[-1]):
        raise LayoutError("size", f"multinomial: {count} samples of {input._layout.shape[-1]} weights")
    if out is not None and out.dtype is not dt.int64:
        raise LayoutError("dtype", f"multinomial: out must be int64, got {out.dtype}")
    if input.numel():
        need_kernel("multinomial", input.dtype, "f")
    weights = values(input).astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any() or (weights.sum(-1) <= 0).any():
        raise LayoutError("argument", "multinomial: weights must be finite, not negative, and not all zero")
    # The largest of weights that are each divided by an exponential number: as if drawn one after the other.
    shape = (*weights.shape, count) if replacement else weights.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        order = (weights[..., None] if replacement else weights) / numbers_of(generator).exponential(size=shape)
    drawn = order.argmax(-2) if replacement else np.argsort(-order, -1)[..., :count]
    return write_out(out, _unspecified(drawn, dt.int64))


def _random(shape: Shape, d: dtype, draw: Any) -> "Tensor":
    check_allocation(shape, d.itemsize)
    t = from_array(np.zeros(shape, d.numpy), d) if 0 in shape else from_array(_drawn_in(d, draw(shape)), d)
    return shadow.leave_unspecified(t)


def _drawn_in(d: dtype, drawn: Any) -> Any:
    return cast(np.asarray(drawn, np.float64), dt.float64, d)


def rand(
    *size: Any, generator: Any = None, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """Uniform random values in [0, 1); never compared with PyTorch's. Raises: as `empty`, dtype."""
    return _drawn("rand", size, kwargs, generator, out, dtype, device, requires_grad, pin_memory)


def _drawn(
    name: str,
    size: tuple[Any, ...],
    kwargs: dict[str, Any],
    generator: Any,
    out: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    pin_memory: Any,
) -> "Tensor":
    check_device(device, pin_memory)
    check_keywords(name, kwargs, "size")
    shape = as_sizes(size, kwargs.get("size"))
    d = dtype_or_default(dtype) if out is None else out.dtype
    changed = out is not None and out._layout.shape != shape
    if out is not None:
        resize_output(out, shape)
        out._versions[0] += changed and name == "randn"
    if name == "rand" or 0 not in shape:
        check_random(name, d)
    if out is not None:
        check_internal_overlap(out)
        shadow.leave_unspecified(out)
        out._versions[0] += 1
        return out  # type: ignore[no-any-return]
    numbers = numbers_of(generator)
    draw = numbers.random if name == "rand" else numbers.standard_normal
    return flagged(_random(shape, d, draw), requires_grad)


def check_random(name: str, d: dtype) -> None:
    """Refuse dtypes that random numbers are not drawn in. Raises: dtype (NotImplementedError)."""
    need_kernel(name, d, "fch")


def randn(
    *size: Any, generator: Any = None, out: "Tensor | None" = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any,
) -> "Tensor":  # fmt: skip
    """Normal random values; never compared with PyTorch's. Raises: as `empty`, dtype."""
    return _drawn("randn", size, kwargs, generator, out, dtype, device, requires_grad, pin_memory)


def randint(
    low: Any = None, high: Any = None, size: Any = None, *, generator: Any = None, out: "Tensor | None" = None,
    dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> "Tensor":  # fmt: skip
    """Random integers; never compared with PyTorch's.

    Raises: argument (RuntimeError for an empty range), overflow, dtype, device. Source: torch 2.13.
    """
    check_device(device, pin_memory)
    if size is None:
        low, high, size = 0, low, high
    elif low is None or high is None:
        low, high = 0, low if high is None else high
    if high is None or size is None:
        raise LayoutTypeError("argument", "randint: a bound and a size are needed")
    low, high = as_int(low, "low"), as_int(high, "high")
    shape = as_int_list(size, "size")
    if out is not None:
        resize_output(out, shape)
    if low >= high:
        raise LayoutError("argument", f"randint: from {low} to {high} there is no integer")
    d = out.dtype if out is not None else dt.int64 if dtype is None else dtype
    _check_integers("randint", d, low, high)
    if out is not None:
        check_internal_overlap(out)
        shadow.leave_unspecified(out)
        out._versions[0] += 1
        return out
    t = from_array(_drawn_in(d, numbers_of(generator).integers(low, high, shape)), d)
    shadow.leave_unspecified(t)
    return flagged(t, requires_grad)


def _drawn_like(input: "Tensor", kwargs: dict[str, Any], draw: Callable[[Shape], Any]) -> "Tensor":
    t = empty_like(input, **kwargs)
    if not t._storage._is_meta:
        array(t)[...] = _drawn_in(t.dtype, draw(t._layout.shape))
    return t


def rand_like(input: "Tensor", *, generator: Any = None, **kwargs: Any) -> "Tensor":
    """`empty_like` with unspecified values. Raises: format, device, dtype. Source: facts 4.1.8, torch 2.13."""
    check_random("rand_like", kwargs.get("dtype") or input.dtype)
    return _drawn_like(input, kwargs, lambda s: numbers_of(generator).random(s))


def randn_like(input: "Tensor", *, generator: Any = None, **kwargs: Any) -> "Tensor":
    """As `rand_like`; of nothing any dtype is made. Raises: as `rand_like`."""
    if input.numel():
        check_random("randn_like", kwargs.get("dtype") or input.dtype)
    return _drawn_like(input, kwargs, lambda s: numbers_of(generator).standard_normal(s))
