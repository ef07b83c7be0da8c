"""Activations of `torch.nn.functional`: elementwise operators with parameters."""

from math import sqrt as _sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import LayoutError, LayoutValueError
from .pointwise import Op, apply
from .pointwise_ops import _erf, _sigmoid

if TYPE_CHECKING:
    from .tensors import Tensor


def leaky_relu(input: "Tensor", negative_slope: float = 0.01, inplace: bool = False) -> "Tensor":
    """Negative elements times a slope. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    op = Op("leaky_relu", lambda a: np.where(a > 0, a, a * a.dtype.type(negative_slope)), "f", smooth=True)
    return apply(op, (input,))


def silu(input: "Tensor", inplace: bool = False) -> "Tensor":
    """`x * sigmoid(x)`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return apply(Op("silu", lambda a: a * _sigmoid(a), "fc", exact=False), (input,))


def gelu(input: "Tensor", approximate: str = "none") -> "Tensor":
    """`x` times the normal distribution function of `x`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    if approximate not in ("none", "tanh"):
        raise LayoutError("argument", f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    if approximate == "tanh":
        op = Op("gelu", lambda a: 0.5 * a * (1 + np.tanh(_sqrt(2 / np.pi) * (a + 0.044715 * a**3))), "f", exact=False)
    else:
        op = Op("gelu", lambda a: 0.5 * a * (1 + _erf(a / _sqrt(2.0))), "f", exact=False)
    return apply(op, (input,))


def elu(input: "Tensor", alpha: float = 1.0, inplace: bool = False) -> "Tensor":
    """Negative elements through `alpha * (exp(x) - 1)`. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return apply(
        Op("elu", lambda a: np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0))), "f", exact=False), (input,)
    )


def softplus(input: "Tensor", beta: float = 1, threshold: float = 20) -> "Tensor":
    """`log(1 + exp(beta * x)) / beta`, linear above the threshold. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    op = Op(
        "softplus",
        lambda a: np.where(a * beta > threshold, a, np.log1p(np.exp(np.minimum(a * beta, threshold))) / beta),
        "f",
        exact=False,
    )
    return apply(op, (input,))


def hardtanh(input: "Tensor", min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> "Tensor":
    """Elements kept between two bounds. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    if min_val > max_val:
        raise LayoutValueError("argument", f"hardtanh: min_val {min_val} is greater than max_val {max_val}")

    def bounded(a: Any) -> Any:
        return np.where(a < min_val, a.dtype.type(min_val), np.where(a > max_val, a.dtype.type(max_val), a))

    return apply(Op("hardtanh", bounded, "if", smooth=True, like=True), (input,))


def relu6(input: "Tensor", inplace: bool = False) -> "Tensor":
    """Elements kept between 0 and 6. Raises: dtype. Source: facts 4.3.10, torch 2.13."""
    return hardtanh(input, 0.0, 6.0)


def dropout(input: "Tensor", p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """The tensor itself outside training; else a copy with unspecified elements zeroed. Source: facts 4.3.10."""
    from . import shadow

    if not training or p == 0 or not input.numel():
        return input
    out = apply(Op("dropout", lambda a: a * 1, "fc"), (input,))
    shadow.stamp(out, shadow.UNSPECIFIED)
    return out
