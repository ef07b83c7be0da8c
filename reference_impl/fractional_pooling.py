"""Fractional pooling: largest values of regions whose places follow from random numbers; row-major (facts 4.4).

Where the random numbers are not given, neither values nor places are specified.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import check_tensors, values
from .errors import LayoutError, LayoutIndexError, LayoutTypeError, LayoutValueError, UnsupportedError
from .pooling import largest
from .results import finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _starts(sample: Any, length: int, count: int, size: int) -> Any:
    """First positions of the regions along one dimension, computed in the samples' own precision.

    >>> _starts(np.float32(0.5), 7, 3, 2).tolist()
    [0, 2, 5]
    """
    d = type(sample)
    found = np.full(count, length - size, np.int64)
    if count > 1:
        with np.errstate(all="ignore"):
            step = d(length - size) / d(count - 1)
            steps = ((np.arange(count - 1).astype(d) + sample) * step).astype(np.int64)
            found[:-1] = steps - np.int64(sample * step)
    return found


def _sizes(
    name: str, input: "Tensor", kernel_size: Any, output_size: Any, output_ratio: Any, spatial: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lengths of the regions and of the output. Raises: argument (ValueError, TypeError), size, dimension."""
    if output_size is None:
        if output_ratio is None:
            raise LayoutValueError("argument", f"{name}: either output_size or output_ratio is needed")
        if spatial == 2:
            if not isinstance(output_ratio, Sequence):
                raise LayoutTypeError("argument", f"{name}: output_ratio must be a sequence, got {output_ratio!r}")
            if len(output_ratio) > 2:
                raise LayoutValueError("argument", f"{name}: {len(output_ratio)} ratios for 2 dimensions")
        ratios = tuple(output_ratio) if isinstance(output_ratio, Sequence) else (output_ratio,) * spatial
        if input.ndim < spatial or len(ratios) < spatial:
            raise LayoutIndexError("dimension", f"{name}: {len(ratios)} ratios for {input.ndim} dimensions")
        lengths = input._layout.shape[-spatial:]
        output_size = [int(n * r) for n, r in zip(lengths, ratios, strict=False)]
    found = []
    for what, given in (("kernel_size", kernel_size), ("output_size", output_size)):
        every = tuple(given) if isinstance(given, Sequence) else (given,) * spatial
        if len(every) != spatial:
            raise LayoutError("size", f"{name}: {what} has {len(every)} numbers for {spatial} dimensions")
        found.append(every)
    return found[0], found[1]


def _drawn(name: str, input: "Tensor", spatial: int) -> Any:
    """Random numbers for every plane; refused as `torch.rand` refuses the dtype."""
    if input.ndim < spatial + 1:
        raise LayoutIndexError("dimension", f"{name}: {input.ndim} dimensions are too few")
    if input.dtype.category not in ("float", "complex"):
        raise UnsupportedError("dtype", f"{name}: there are no random numbers of {input.dtype}")
    batch = 1 if input.ndim == spatial + 1 else input._layout.shape[0]
    return np.zeros((batch, input._layout.shape[-spatial - 1], spatial), input.dtype.numpy)


def _pooled(
    name: str, spatial: int, input: "Tensor", kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> tuple["Tensor", "Tensor"]:
    check_tensors(name, input, *(() if samples is None else (samples,)))
    kernel, lengths = _sizes(name, input, kernel_size, output_size, output_ratio, spatial)
    numbers = _drawn(name, input, spatial) if samples is None else values(samples)
    shape = input._layout.shape
    if len(shape) not in (spatial + 1, spatial + 2):
        raise LayoutError("dimension", f"{name}: {spatial + 1} or {spatial + 2} dimensions are needed, got {shape}")
    if 0 in shape[1:]:
        raise LayoutError("size", f"{name}: dimensions other than the first of {shape} must not be empty")
    for n, k, count in zip(shape[-spatial:], kernel, lengths, strict=True):
        if count + k - 1 > n:
            raise LayoutError("size", f"{name}: {count} regions of length {k} do not fit a length of {n}")
    if min(lengths) < 0:
        raise LayoutError("size", f"{name}: the output would be {lengths}")
    planes = (1, *shape[:1]) if len(shape) == spatial + 1 else shape[:2]
    if samples is not None:
        if samples.dtype is not input.dtype:
            raise LayoutError("dtype", f"{name}: samples of {samples.dtype} for an input of {input.dtype}")
        own = samples._layout.shape
        if len(own) != 3 or own[0] < planes[0] or own[1:] != (planes[1], spatial):
            raise LayoutError("size", f"{name}: samples of shape {own} for planes {planes}")
    need_kernel(name, input.dtype, "f")
    result_shape = (*shape[: len(shape) - spatial], *lengths)
    a = values(input).astype(np.float64).reshape(*planes, *shape[-spatial:])
    best, where = np.zeros((*planes, *lengths)), np.zeros((*planes, *lengths), np.int64)
    if best.size and min(kernel) > 0:
        # The first number belongs to the last of two dimensions, but to the first of three.
        order = range(spatial - 1, -1, -1) if spatial == 2 else range(spatial)
        for plane in np.ndindex(*planes):
            windows = [
                [np.arange(s, s + kernel[k]) for s in _starts(numbers[plane][i], n, lengths[k], kernel[k])]
                for k, (i, n) in enumerate(zip(order, shape[-spatial:], strict=True))
            ]
            best[plane], where[plane] = largest(a[plane], windows, -np.inf)
    inputs = (input,) if samples is None else (input, samples)
    first = finish(best.reshape(result_shape), input.dtype, *inputs, exact=True)
    second = finish(where.reshape(result_shape), dt.int64, *inputs)
    if first.numel() and (samples is None or min(kernel) <= 0):
        shadow.stamp(first, shadow.UNSPECIFIED)
        shadow.stamp(second, shadow.UNSPECIFIED)
    return first, second


def fractional_max_pool2d_with_indices(
    input: "Tensor", kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: "Tensor | None" = None,
) -> tuple["Tensor", "Tensor"]:  # fmt: skip
    """Largest values of regions that random numbers place, and where in their planes they lie.

    Shapes: (n, c, h, w) or (c, h, w), the random numbers (n, c, 2).
    Raises: dimension (also IndexError), size, argument (ValueError, TypeError), dtype. Source: facts 4.4, torch 2.13.
    """
    name = "fractional_max_pool2d"
    return _pooled(name, 2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: "Tensor", kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: "Tensor | None" = None,
) -> tuple["Tensor", "Tensor"]:  # fmt: skip
    """Largest values of regions that random numbers place, and where in their volumes they lie.

    Shapes: (n, c, d, h, w) or (c, d, h, w), the random numbers (n, c, 3).
    Raises: dimension (also IndexError), size, argument (ValueError, TypeError), dtype. Source: facts 4.4, torch 2.13.
    """
    name = "fractional_max_pool3d"
    return _pooled(name, 3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: "Tensor", kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: "Tensor | None" = None,
) -> Any:  # fmt: skip
    """`fractional_max_pool2d_with_indices`, its places only where asked. Raises: as that one."""
    both = fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
    return both if return_indices else both[0]


def fractional_max_pool3d(
    input: "Tensor", kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: "Tensor | None" = None,
) -> Any:  # fmt: skip
    """`fractional_max_pool3d_with_indices`, its places only where asked. Raises: as that one."""
    both = fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
    return both if return_indices else both[0]
