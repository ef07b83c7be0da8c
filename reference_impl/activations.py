"""Activations of `torch.nn.functional`: elementwise operators with parameters, many of them in place on demand."""

from collections.abc import Callable
from math import sqrt as _sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from . import (
    arithmetic,
    clamping,
    constructors,
    division,
    extremes,
    index_writes,
    metadata,
    norms,
    pointwise_ops,
    randomness,
    scans,
    shadow,
    slicing_ops,
    view_ops,
)
from . import dtypes as dt
from .copies import contiguous, resolved
from .core import TensorBase, fresh, recorded, values
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnsupportedError
from .kept import keeps
from .layout import contiguous_strides, wrap_dim
from .out import write_out
from .pointwise import Op, apply, apply_
from .pointwise_ops import erf_values, sigmoid_values
from .results import check_real_gradient, finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _run(op: Op, input: "Tensor", inplace: bool) -> "Tensor":
    if not isinstance(input, TensorBase):
        raise LayoutTypeError("argument", f"{op.name}: expected a Tensor, got {type(input).__name__}")
    return apply_(op, input, ()) if inplace else apply(op, (input,))


def _smooth(name: str, f: Callable[[Any], Any], groups: str = "f") -> Op:
    return Op(name, f, groups, exact=False)


def _mish(a: Any) -> Any:
    return a * np.tanh(np.logaddexp(0, a))


_MISH = _smooth("mish", _mish)
_SILU = _smooth("silu", lambda a: a * sigmoid_values(a), "fc")
_HARDSWISH = _smooth("hardswish", lambda a: a * np.clip(a + 3, 0, 6) / 6)
_HARDSIGMOID = _smooth("hardsigmoid", lambda a: np.clip(a + 3, 0, 6) / 6)


def _elu(name: str, alpha: float, scale: float = 1.0, inner: float = 1.0) -> Op:
    return _smooth(name, lambda a: scale * np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0) * inner)))


_SELU = _elu("selu", 1.6732632423543772, 1.0507009873554805)


def leaky_relu(input: "Tensor", negative_slope: float = 0.01, inplace: bool = False) -> "Tensor":
    """Negative elements times a slope. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    op = Op("leaky_relu", lambda a: np.where(a > 0, a, a * a.dtype.type(negative_slope)), "f", smooth=True)
    return _run(op, input, inplace)


def silu(input: "Tensor", inplace: bool = False) -> "Tensor":
    """`x * sigmoid(x)`. Raises: dtype, grad (complex numbers, out of place). Source: facts 4.3.10, torch 2.13."""
    result = _run(_SILU, input, inplace)
    if not inplace:
        check_real_gradient("silu", input.dtype, input)
    return result


def mish(input: "Tensor", inplace: bool = False) -> "Tensor":
    """`x * tanh(softplus(x))`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return _run(_MISH, input, inplace)


def hardswish(input: "Tensor", inplace: bool = False) -> "Tensor":
    """`x * relu6(x + 3) / 6`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return _run(_HARDSWISH, input, inplace)


def hardsigmoid(input: "Tensor", inplace: bool = False) -> "Tensor":
    """`relu6(x + 3) / 6`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return _run(_HARDSIGMOID, input, inplace)


def selu(input: "Tensor", inplace: bool = False) -> "Tensor":
    """`elu` with constants that keep mean and variance. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return _run(_SELU, input, inplace)


def celu(input: "Tensor", alpha: float = 1.0, inplace: bool = False) -> "Tensor":
    """`elu` without a kink. Raises: dtype, argument for alpha 0. Source: facts 4.3.10, torch 2.13."""
    if alpha == 0:
        raise LayoutError("argument", "celu: alpha must not be 0")
    return _run(_elu("celu", alpha, 1.0, 1.0 / alpha), input, inplace)


def elu(input: "Tensor", alpha: float = 1.0, inplace: bool = False) -> "Tensor":
    """Negative elements through `alpha * (exp(x) - 1)`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return _run(_elu("elu", alpha), input, inplace)


def gelu(input: "Tensor", approximate: str = "none", *, out: "Tensor | None" = None) -> "Tensor":
    """`x` times the normal distribution function of `x`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    if approximate == "tanh":
        op = _smooth("gelu", lambda a: 0.5 * a * (1 + np.tanh(_sqrt(2 / np.pi) * (a + 0.044715 * a**3))))
    elif approximate == "none":
        op = _smooth("gelu", lambda a: 0.5 * a * (1 + erf_values(a / _sqrt(2.0))))
    else:
        raise LayoutError("argument", f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    result = apply(op, (input,))
    a, b = values(input), values(result)
    # The vectorised loop makes a NaN of infinity, and infinity of what cannot be doubled, the plain one does not (torch
    # 2.13). Far below zero the sum of 1 and of nearly -1 has lost its digits: each loop is left with others.
    with np.errstate(all="ignore"):
        unsure = np.abs(b) < np.abs(a) / 32
    if approximate == "none" and a.size:
        unsure |= a > float(dt.finfo(a.dtype).max) / 2
    if unsure.any():
        known = shadow.marks_of(result)
        rest = 0 if known is None else known
        shadow.stamp(result, np.where(unsure, shadow.UNSPECIFIED, rest).astype(np.uint8))
    return write_out(out, result, input, exact=True, apart=True)


def softplus(input: "Tensor", beta: float = 1, threshold: float = 20, *, out: "Tensor | None" = None) -> "Tensor":
    """`log(1 + exp(beta * x)) / beta`, linear above the threshold. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    op = _smooth(
        "softplus",
        lambda a: np.where(a * beta > threshold, a, np.log1p(np.exp(np.minimum(a * beta, threshold))) / beta),
    )
    return write_out(out, apply(op, (input,)), input, exact=True, apart=True)


def hardtanh(input: "Tensor", min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> "Tensor":
    """Elements kept between two bounds. Raises: dtype, argument. Source: facts 4.3.10, torch 2.13."""
    if min_val > max_val:
        raise LayoutValueError("argument", f"hardtanh: bounds {min_val} and {max_val} are exchanged")
    return _hardtanh(input, min_val, max_val, inplace)


def _hardtanh(input: "Tensor", min_val: float, max_val: float, inplace: bool) -> "Tensor":
    if input.dtype is dt.bool_:
        raise LayoutError("dtype", "hardtanh: bool is refused")
    if dt.group_of(input.dtype) == "i":
        min_val, max_val = int(min_val), int(max_val)
    if input.dtype is dt.uint8 and min(min_val, max_val) < 0:
        raise LayoutError("dtype", "hardtanh: a negative bound for unsigned integers")
    _check_range(input.dtype, min_val, max_val)

    def at_most(a: Any) -> Any:
        return np.where(a > max_val, a.dtype.type(max_val), a)

    def bounded(a: Any) -> Any:
        return at_most(np.where(a < min_val, a.dtype.type(min_val), a))

    return _run(Op("hardtanh", bounded, "if", smooth=True, like=True), input, inplace)


def _check_range(d: dt.dtype, *numbers: float) -> None:
    """Refuse numbers past the ends of an integer dtype. Raises: overflow (RuntimeError)."""
    if dt.group_of(d) == "i":
        info = np.iinfo(d.numpy)
        for x in numbers:
            # Whole numbers below 0 are taken for unsigned ones, once around.
            least = -info.max if info.min == 0 and isinstance(x, int) else info.min
            if not least <= x <= info.max:
                raise LayoutError("overflow", f"{x} does not fit {d}")


def relu6(input: "Tensor", inplace: bool = False) -> "Tensor":
    """Elements kept between 0 and 6. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return hardtanh(input, 0.0, 6.0, inplace)


def threshold(
    input: "Tensor", threshold: float, value: float, inplace: bool = False, *, out: "Tensor | None" = None
) -> "Tensor":
    """Elements above a threshold, the others replaced by a value.

    Raises: dtype, overflow (RuntimeError). Source: facts 4.3.10, torch 2.13.
    """
    _check_range(input.dtype, threshold, value)

    if dt.group_of(input.dtype) == "i":  # both become numbers of its dtype; those of unsigned ones wrap around
        threshold, value = (int(np.int64(int(x)).astype(input.dtype.numpy)) for x in (threshold, value))

    def compute(a: Any) -> Any:
        return np.where(a <= threshold, np.array(value).astype(a.dtype), a)

    # Done twice it is what it is done once: PyTorch lets memory overlap. Mostly it jumps at the threshold.
    op = Op("threshold", compute, "if", smooth=value == threshold, overlaps=True, converts=True)
    return apply(op, (input,), out) if out is not None else _run(op, input, inplace)


def hardshrink(input: "Tensor", lambd: float = 0.5, *, out: "Tensor | None" = None) -> "Tensor":
    """Elements, or 0 where they are between `-lambd` and `lambd`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    op = Op("hardshrink", lambda a: np.where((a >= -lambd) & (a <= lambd), 0, a), "f", smooth=lambd <= 0)
    return apply(op, (input,), out)


def softshrink(input: "Tensor", lambd: float = 0.5, *, out: "Tensor | None" = None) -> "Tensor":
    """Elements brought nearer to 0 by `lambd`. Raises: dtype, argument. Source: facts 4.3.10, torch 2.13."""
    if lambd < 0:
        raise LayoutError("argument", f"softshrink: lambd must not be negative, got {lambd}")

    def compute(a: Any) -> Any:
        return np.where(a > lambd, a - lambd, np.where(a < -lambd, a + lambd, np.where(np.isnan(a), a, 0)))

    return write_out(out, apply(_smooth("softshrink", compute), (input,)), input, exact=True, apart=True)


def tanhshrink(input: "Tensor") -> "Tensor":
    """`x - tanh(x)`; values where they cancel are unspecified. Raises: dtype. Source: torch 2.13."""
    result = arithmetic.sub(input, pointwise_ops.tanh(input))
    return shadow.leave_unspecified(result)


def softsign(input: "Tensor") -> "Tensor":
    """`x / (1 + abs(x))`. Raises: dtype. Source: torch 2.13."""
    return division.div(input, arithmetic.add(arithmetic.abs(input), 1))


def logsigmoid(input: "Tensor", *, out: "Tensor | None" = None) -> "Tensor":
    """`log(sigmoid(x))`, row-major. Raises: dtype. Source: facts 4.4, torch 2.13."""
    need_kernel("logsigmoid", input.dtype, "f")
    a = values(input).astype(np.float64)
    with np.errstate(all="ignore"):
        result = finish(-np.logaddexp(0, -a), input.dtype, input)
    return write_out(out, result, input, exact=True)


@keeps("input", "weight")
def prelu(input: "Tensor", weight: "Tensor") -> "Tensor":
    """Negative elements times a slope, of all or of each channel. Raises: size, dtype. Source: facts 4.3.10."""
    if input.dtype is not weight.dtype:
        raise LayoutError("dtype", f"prelu: {input.dtype} and {weight.dtype}")
    if len(weight._layout.shape) > 1:
        raise LayoutError("dimension", "prelu: weight must be a number or a vector")
    if weight.numel() != 1:
        if not input.ndim:
            raise LayoutError("dimension", "prelu: a tensor without dimensions has one channel")
        channels = input._layout.shape[1] if input.ndim > 1 else 1
        if channels != weight.numel():
            raise LayoutError("size", f"prelu: {weight.numel()} slopes for {channels} channels")
    if input.ndim != weight.ndim:
        weight = view_ops.view(weight, tuple([weight.numel() if k == 1 else 1 for k in range(input.ndim)]))
    return apply(_PRELU, (input, weight))


_PRELU = Op("prelu", lambda a, w: np.where(a > 0, a, a * w), "f", smooth=True, like=True)


def glu(input: "Tensor", dim: int = -1) -> "Tensor":
    """One half along a dimension times the sigmoid of the other. Raises: dimension, size, dtype. Source: torch 2.13."""
    input = resolved(input)  # whole, as an operator of one kernel is handed it: not half by half (facts 9.15)
    if not input.ndim:
        raise LayoutError("dimension", "glu: a tensor without dimensions has no halves")
    d = wrap_dim(dim, input.ndim)
    length = input._layout.shape[d]
    if length % 2:
        raise LayoutError("size", f"glu: dimension {d} of length {length} has no halves")
    first, second = (slicing_ops.narrow(input, d, k * (length // 2), length // 2) for k in (0, 1))
    return apply(_GLU, (first, second))


_GLU = Op("glu", lambda a, b: a * sigmoid_values(b), "f", exact=False)


def softmin(input: "Tensor", dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> "Tensor":
    """`softmax` of the negated input, row-major. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return scans.softmax(arithmetic.neg(input), dim, dtype)


def normalize(
    input: "Tensor", p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: "Tensor | None" = None
) -> "Tensor":
    """Divided by the norm along a dimension. Raises: dimension, dtype. Source: facts 4.4, torch 2.13."""
    size = clamping.clamp_min(norms.torch_norm(input, p, dim, True), eps)
    return division.div(input, view_ops.expand_as(size, input), out=out)


def gumbel_softmax(logits: "Tensor", tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> "Tensor":
    """Softmax of logits with noise, or a one where it is largest; row-major where it is soft. Raises: dimension, dtype.

    Source: torch 2.13.
    """
    shape = logits._layout.shape
    drawn = randomness.exponential_(constructors.empty(shape, dtype=logits.dtype))
    noise = arithmetic.neg(pointwise_ops.log(drawn))
    soft = scans.softmax(division.div(arithmetic.add(logits, noise), tau), dim)
    if not hard:
        return soft
    place = extremes.max(soft, dim, keepdim=True)[1]
    ones = index_writes.scatter_(constructors.zeros(shape, dtype=logits.dtype), dim, place, 1.0)
    return arithmetic.add(arithmetic.sub(ones, view_ops.detach(soft)), soft)


def rrelu(
    input: "Tensor", lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False,
    inplace: bool = False,
) -> "Tensor":  # fmt: skip
    """`leaky_relu` with a slope drawn for each element, or the middle one; row-major. Raises: dtype."""
    if lower > upper:
        raise LayoutError("argument", f"rrelu: lower {lower} is above upper {upper}")
    need_kernel("rrelu", input.dtype, "f")
    if not training:
        found = leaky_relu(input, (lower + upper) / 2, inplace)
        return found if inplace else contiguous(found)
    if input.dtype is dt.float16:
        raise UnsupportedError("dtype", f"rrelu: PyTorch has no kernel for {input.dtype}")
    if inplace:
        drawn = leaky_relu(input, lower, True)
    else:
        shape = input._layout.shape
        drawn = recorded(fresh(shape, contiguous_strides(shape), input.dtype), input)
    return shadow.leave_unspecified(drawn)


def torch_rrelu(
    input: "Tensor", lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False,
    generator: Any = None,
) -> "Tensor":  # fmt: skip
    """`rrelu` as `torch` has it. Raises: as `rrelu`."""
    return rrelu(input, lower, upper, training)


def rrelu_(
    input: "Tensor", lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False,
    generator: Any = None,
) -> "Tensor":  # fmt: skip
    """`rrelu` in place. Raises: as `rrelu`, and grad, overlap."""
    return rrelu(input, lower, upper, training, True)


def _check_rate(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise LayoutValueError("argument", f"{name}: the probability must be in [0, 1], got {p}")


def dropout(input: "Tensor", p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """The tensor itself outside training; else a copy with unspecified elements zeroed. Source: facts 4.3.10."""
    _check_rate("dropout", p)
    return _dropped("dropout", input, p, training, inplace, 0)


def alpha_dropout(input: "Tensor", p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """`dropout` that keeps mean and variance of `selu`. Raises: argument, dtype. Source: torch 2.13."""
    _check_rate("alpha_dropout", p)
    return _dropped("alpha_dropout", input, p, training, inplace, 1)


def feature_alpha_dropout(input: "Tensor", p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """`alpha_dropout` of whole channels. Raises: argument, dtype, dimension. Source: torch 2.13."""
    _check_rate("feature_alpha_dropout", p)
    return _dropped("feature_alpha_dropout", input, p, training, inplace, 1)


def _dropped(name: str, input: "Tensor", p: float, training: bool, inplace: bool, version: int) -> Any:
    if not training or p == 0 or not input.numel():
        return input
    if p == 1:
        return (arithmetic.mul_ if inplace else arithmetic.mul)(input, constructors.zeros((), dtype=input.dtype))
    if name.startswith("feature") and input.ndim < 2:
        raise LayoutError("dimension", f"{name}: at least 2 dimensions are needed")
    # A mask of the input's dtype is drawn.
    need_kernel(name, input.dtype, "bif")
    if not input.dtype.is_floating_point:
        raise LayoutError("dtype", f"{name}: floating point is needed, got {input.dtype}")
    if inplace:
        # What is drawn is a factor, so that it is there also where PyTorch refuses after it has written.
        noise = shadow.leave_unspecified(constructors.empty_like(input))
        result = apply_(Op(name, lambda a, _: a * 1, "f"), input, (noise,))
        result._versions[0] += version  # a factor, and what is added
        return result
    out = apply(Op(name, lambda a: a * 1, "f"), (input,))
    out._versions[0] = version
    return shadow.leave_unspecified(out)


def torch_dropout(input: "Tensor", p: float, train: bool) -> Any:
    """`nn.functional.dropout` under `torch`. Raises: argument (RuntimeError), dtype."""
    return _torch_dropped("dropout", input, p, train, 0)


def torch_alpha_dropout(input: "Tensor", p: float, train: bool) -> Any:
    """`nn.functional.alpha_dropout` under `torch`. Raises: argument (RuntimeError), dtype."""
    return _torch_dropped("alpha_dropout", input, p, train, 1)


def torch_feature_alpha_dropout(input: "Tensor", p: float, train: bool) -> Any:
    """`nn.functional.feature_alpha_dropout` under `torch`. Raises: argument (RuntimeError), dtype, dimension."""
    return _torch_dropped("feature_alpha_dropout", input, p, train, 1)


def torch_feature_dropout(input: "Tensor", p: float, train: bool) -> Any:
    """`dropout` of whole channels. Raises: argument (RuntimeError), dtype, dimension."""
    return _torch_dropped("feature_dropout", input, p, train, 0)


def torch_dropout_(input: "Tensor", p: float, train: bool) -> Any:
    """`torch_dropout` in place. Raises: as it, and grad, overlap."""
    return _torch_dropped("dropout", input, p, train, 0, inplace=True)


def torch_alpha_dropout_(input: "Tensor", p: float, train: bool) -> Any:
    """`torch_alpha_dropout` in place. Raises: as it, and grad, overlap."""
    return _torch_dropped("alpha_dropout", input, p, train, 1, inplace=True)


def torch_feature_dropout_(input: "Tensor", p: float, train: bool) -> Any:
    """`torch_feature_dropout` in place. Raises: as it, and grad, overlap."""
    return _torch_dropped("feature_dropout", input, p, train, 0, inplace=True)


def torch_feature_alpha_dropout_(input: "Tensor", p: float, train: bool) -> Any:
    """`torch_feature_alpha_dropout` in place. Raises: as it, and grad, overlap."""
    return _torch_dropped("feature_alpha_dropout", input, p, train, 1, inplace=True)


def _torch_dropped(name: str, input: "Tensor", p: float, train: bool, version: int, *, inplace: bool = False) -> Any:
    if not 0 <= p <= 1:
        raise LayoutError("argument", f"{name}: the probability must be in [0, 1], got {p}")
    return _dropped(name, input, p, train, inplace, version)


def _by_channel(name: str, input: "Tensor", p: float, training: bool, inplace: bool, alone: int) -> Any:
    _check_rate(name, p)
    if input.ndim != alone:
        return _dropped("feature_dropout", input, p, training, inplace, 0)
    # A single item is a batch of one for the time being.
    if inplace:
        return metadata.squeeze_(_dropped("feature_dropout", metadata.unsqueeze_(input, 0), p, training, True, 0), 0)
    return view_ops.squeeze(_dropped("feature_dropout", view_ops.unsqueeze(input, 0), p, training, False, 0), 0)


def dropout1d(input: "Tensor", p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels of sequences. Raises: argument, dtype. Source: torch 2.13."""
    if input.ndim not in (2, 3):
        raise LayoutError("dimension", f"dropout1d: 2 or 3 dimensions are needed, got {input.ndim}")
    return _by_channel("dropout1d", input, p, training, inplace, 2)


def dropout2d(input: "Tensor", p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels of images. Raises: argument, dtype. Source: torch 2.13."""
    return _by_channel("dropout2d", input, p, training, inplace, -1)


def dropout3d(input: "Tensor", p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels of volumes. Raises: argument, dtype. Source: torch 2.13."""
    return _by_channel("dropout3d", input, p, training, inplace, 4)


def leaky_relu_(input: "Tensor", negative_slope: float = 0.01) -> "Tensor":
    """`leaky_relu` in place. Raises: grad, overlap, dtype."""
    return leaky_relu(input, negative_slope, True)


def elu_(input: "Tensor", alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> "Tensor":
    """`elu` in place, of the input times a number where it is negative, times another. Raises: grad, overlap, dtype."""
    return _run(_elu("elu", alpha, scale, input_scale), input, True)


def celu_(input: "Tensor", alpha: float = 1.0) -> "Tensor":
    """`celu` in place. Raises: grad, overlap, dtype, argument."""
    return celu(input, alpha, True)


def selu_(input: "Tensor") -> "Tensor":
    """`selu` in place. Raises: grad, overlap, dtype."""
    return selu(input, True)


def hardtanh_(input: "Tensor", min_val: float = -1.0, max_val: float = 1.0) -> "Tensor":
    """`hardtanh` in place. Raises: grad, overlap, dtype."""
    return _hardtanh(input, min_val, max_val, True)


def threshold_(input: "Tensor", threshold: float, value: float) -> "Tensor":
    """`threshold` in place. Raises: grad, overlap, dtype."""
    return _threshold(input, threshold, value, True)


_threshold = threshold
