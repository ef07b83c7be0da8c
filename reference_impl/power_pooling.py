"""Power-average pooling: norms of windows, composed of a mean or largest value of powers (facts 4.4)."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import arithmetic, pointwise_ops, pooling, powers

if TYPE_CHECKING:
    from .tensors import Tensor


def _pooled(
    input: "Tensor", norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool, size: Any,
    mean: Callable[..., "Tensor"], largest: Callable[..., "Tensor"],
) -> "Tensor":  # fmt: skip
    """The norms, where `size` is the number of elements of a window."""
    if norm_type == math.inf:
        return largest(arithmetic.abs(input), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -math.inf:
        return arithmetic.neg(largest(arithmetic.neg(arithmetic.abs(input)), kernel_size, stride, 0, 1, ceil_mode))
    means = mean(powers.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    positive = arithmetic.mul(pointwise_ops.sign(means), arithmetic.relu(arithmetic.abs(means)))
    return powers.pow(arithmetic.mul(positive, size), 1.0 / norm_type)


def lp_pool1d(
    input: "Tensor", norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False
) -> "Tensor":
    """Norms of windows over one dimension. Raises: as `avg_pool1d` and `max_pool1d`. Source: facts 4.4, torch 2.13."""
    return _pooled(
        input, norm_type, kernel_size, stride, ceil_mode, kernel_size, pooling.avg_pool1d, pooling.max_pool1d
    )


def lp_pool2d(
    input: "Tensor", norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> "Tensor":
    """Norms of windows over two dimensions, in the format that the input suggests.

    Raises: as `avg_pool2d` and `max_pool2d`. Source: facts 4.4, torch 2.13.

    >>> from stridecheck.reference_impl import ones
    >>> lp_pool2d(ones(1, 2, 2), 2, 2).tolist()
    [[[2.0]]]
    """
    size = math.prod(kernel_size) if isinstance(kernel_size, (tuple, list)) else kernel_size**2
    return _pooled(input, norm_type, kernel_size, stride, ceil_mode, size, pooling.avg_pool2d, pooling.max_pool2d)


def lp_pool3d(
    input: "Tensor", norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> "Tensor":
    """Norms of windows over three dimensions. Raises: as `avg_pool3d` and `max_pool3d`. Source: facts 4.4, torch 2.13.

    An infinite norm keeps channels-last, as `max_pool3d` does.
    """
    size = math.prod(kernel_size) if isinstance(kernel_size, (tuple, list)) else kernel_size**3
    return _pooled(input, norm_type, kernel_size, stride, ceil_mode, size, pooling.avg_pool3d, pooling.max_pool3d)
