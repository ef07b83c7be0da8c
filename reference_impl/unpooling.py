"""What a largest-value pooling took goes back to where it was taken from: unpooling, and the pooling's gradient.

Both write into zeros, by the places that the pooling answered: counted row-major in the last dimensions, whatever the
layout. The format of two-dimensional results is the one that the input suggests, three-dimensional ones are row-major
without a batch (facts 4.4).
"""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow, view_ops
from .core import check_tensors, recorded, values
from .errors import LayoutError, LayoutValueError
from .kept import keeps
from .layout import Shape, contiguous_strides
from .pooling import Pool, pooled_strides
from .results import finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _each(value: Any, count: int) -> tuple[int, ...]:
    """One number for each dimension; a sequence is taken as it is."""
    return tuple(value) if isinstance(value, Sequence) else (value,) * count


def _lengths(
    input: "Tensor", kernel_size: Any, stride: Any, padding: Any, output_size: Any, spatial: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Spatial lengths of an unpooled tensor, and the steps of the pooling. Raises: size (ValueError)."""
    kernel, pads = _each(kernel_size, spatial), _each(padding, spatial)
    steps = kernel if stride is None else _each(stride, spatial)
    own = input._layout.shape[-spatial:]
    found = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(own, steps, kernel, pads, strict=False)]
    if output_size is not None:
        given = tuple(output_size)
        if len(given) == spatial + 2:
            given = given[2:]
        if len(given) != spatial:
            raise LayoutValueError("size", f"max_unpool{spatial}d: {len(given)} lengths for {spatial} dimensions")
        for n, least, s in zip(given, found, steps, strict=True):
            if not least - s < n < least + s:
                raise LayoutValueError(
                    "size", f"max_unpool{spatial}d: a length of {n} must lie between {least - s} and {least + s}"
                )
        found = list(given)
    if any(n < 0 for n in found):
        raise LayoutValueError("size", f"max_unpool{spatial}d: the output would be {tuple(found)}")
    return tuple(found), steps


def _put_back(source: Any, places: Any, lengths: tuple[int, ...]) -> Any:
    """Zeros with elements added at their places, one after the other.

    Shapes: `source` and `places` (…, *pooled), the result (…, *lengths).

    >>> _put_back(np.array([[5.0, 6.0]]), np.array([[3, 0]]), (4,)).tolist()
    [[6.0, 0.0, 0.0, 5.0]]
    """
    outer = source.shape[: source.ndim - len(lengths)]
    result = np.zeros((prod(outer), prod(lengths)), source.dtype)
    planes = np.arange(len(result))[:, None]
    with np.errstate(all="ignore"):
        np.add.at(result, (planes, places.reshape(len(result), -1)), source.reshape(len(result), -1))
    return result.reshape(*outer, *lengths)


def _unpooled(
    name: str, input: "Tensor", indices: "Tensor", lengths: tuple[int, ...], strides_of: Any, steps: tuple[int, ...]
) -> "Tensor":
    spatial = len(lengths)
    shape = input._layout.shape
    if indices.dtype is not dt.int64:
        raise LayoutError("dtype", f"{name}: places must be int64, got {indices.dtype}")
    if len(shape) not in (spatial + 1, spatial + 2):
        raise LayoutError("dimension", f"{name}: {spatial + 1} or {spatial + 2} dimensions are needed, got {shape}")
    if indices._layout.shape != shape:
        raise LayoutError("size", f"{name}: places of {indices._layout.shape} for an input of {shape}")
    if 0 in shape[1:]:
        raise LayoutError("size", f"{name}: dimensions other than the first of {shape} must not be empty")
    if min(steps) <= 0:
        raise LayoutError("size", f"{name}: steps {steps} must be positive")
    result_shape: Shape = (*shape[: len(shape) - spatial], *lengths)
    d = input.dtype
    places = values(indices)
    if prod(result_shape):
        need_kernel(name, d, "f")
        if places.size and not (places.min() >= 0 and places.max() < prod(lengths)):
            raise LayoutError("index", f"{name}: places from {places.min()} to {places.max()} of {prod(lengths)}")
        result = _put_back(values(input), places, lengths)
    else:
        result = np.zeros(result_shape, d.numpy)
    out = finish(result, d, input, indices, strides=strides_of(result_shape), exact=True)
    repeated = _repeated(places, spatial, prod(lengths)) if out.numel() else None
    if repeated is not None:
        # Of several elements for one place the last is kept, and planes may be written by several threads.
        shadow.stamp(out, repeated.reshape(result_shape))
    return recorded(out, input)


def _repeated(places: Any, spatial: int, length: int) -> Any:
    """Marks of the places that are named more than once; None where none is."""
    planes = places.reshape(prod(places.shape[: places.ndim - spatial]), -1)
    counts = np.zeros((len(planes), length), np.int64)
    np.add.at(counts, (np.arange(len(planes))[:, None], planes), 1)
    return np.where(counts > 1, shadow.UNSPECIFIED, 0).astype(np.uint8) if (counts > 1).any() else None


@keeps("input", "indices", rule="1<0")
def max_unpool1d(
    input: "Tensor", indices: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> "Tensor":
    """`max_unpool2d` of a height with a width of 1, viewed back.

    Shapes: (n, c, l) or (c, l).
    Raises: dimension, size (also ValueError), index, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("max_unpool1d", input, indices)
    lengths, _ = _lengths(input, kernel_size, stride, padding, output_size, 1)
    tall, places = view_ops.unsqueeze(input, -1), view_ops.unsqueeze(indices, -1)
    return view_ops.squeeze(_image("max_unpool1d", tall, places, (*lengths, 1)), -1)


@keeps("input", "indices", rule="1<0")
def max_unpool2d(
    input: "Tensor", indices: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> "Tensor":
    """Zeros with the input's elements at the places that `max_pool2d` took them from, in the input's own format.

    Shapes: (n, c, h, w) or (c, h, w).
    Raises: dimension, size (also ValueError), index, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("max_unpool2d", input, indices)
    lengths, _ = _lengths(input, kernel_size, stride, padding, output_size, 2)
    return _image("max_unpool2d", input, indices, lengths)


def _image(name: str, input: "Tensor", indices: "Tensor", lengths: tuple[int, ...]) -> "Tensor":
    return _unpooled(name, input, indices, lengths, lambda shape: pooled_strides(input, shape), (1, 1))


@keeps("input", "indices", rule="1<0")
def max_unpool3d(
    input: "Tensor", indices: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> "Tensor":
    """Zeros with the input's elements at the places that `max_pool3d` took them from, row-major.

    Shapes: (n, c, d, h, w) or (c, d, h, w).
    Raises: dimension, size (also ValueError), index, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("max_unpool3d", input, indices)
    lengths, steps = _lengths(input, kernel_size, stride, padding, output_size, 3)
    return _unpooled("max_unpool3d", input, indices, lengths, contiguous_strides, steps)


def max_pool2d_with_indices_backward(
    grad_output: "Tensor", self: "Tensor", kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: "Tensor",
) -> "Tensor":  # fmt: skip
    """Gradient of `max_pool2d`: every element of `grad_output` added where the pooling took its value from.

    Shapes: `self` (n, c, h, w) or (c, h, w), `grad_output` and `indices` as the pooling's output.
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    name = "max_pool2d_with_indices_backward"
    check_tensors(name, grad_output, self, indices)
    if grad_output.dtype is not self.dtype:
        raise LayoutError("dtype", f"{name}: a gradient of {grad_output.dtype} for an input of {self.dtype}")
    pool = Pool("max_pool2d", 2, self, kernel_size, stride, padding, dilation, ceil_mode)
    shape = self._layout.shape
    pooled = (*shape[:-2], *pool.counts)
    for t in (grad_output, indices):
        if t._layout.shape != pooled:
            raise LayoutError("size", f"{name}: {pooled} is needed, got {t._layout.shape}")
    need_kernel(name, self.dtype, "f")
    if indices.dtype is not dt.int64:
        raise LayoutError("dtype", f"{name}: places must be int64, got {indices.dtype}")
    result = _put_back(values(grad_output), values(indices), pool.lengths)
    out = finish(result, self.dtype, grad_output, indices, strides=pooled_strides(self, shape), exact=True)
    return recorded(out, self)
