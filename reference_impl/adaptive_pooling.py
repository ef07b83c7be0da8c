"""Adaptive pooling: windows that divide the input into a given number of parts (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import view_ops
from .contiguity import suggested_format
from .convolution import per_dim
from .copies import resolved
from .core import check_tensors
from .errors import LayoutError, LayoutValueError
from .formats import contiguous_format
from .layout import Layout, Shape, Strides, contiguous_strides
from .pooling import Windows, deliver_largest, in_rows, pooled_strides, summed
from .reductions import mean
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor


def _sizes(name: str, spatial: int, input: "Tensor", output_size: Any) -> tuple[int, ...]:
    """Output lengths; None stands for the input's."""
    if isinstance(output_size, (tuple, list)):
        if input.ndim <= len(output_size):
            raise LayoutValueError(
                "dimension", f"{name}: {len(output_size)} lengths for the shape {input._layout.shape}"
            )
        last = input._layout.shape[-len(output_size) :] if output_size else ()
        output_size = tuple([n if s is None else s for s, n in zip(output_size, last, strict=True)])
    found = per_dim(output_size, spatial, "output_size")
    if min(found) < 0:
        raise LayoutError("size", f"{name}: the output size {found} is negative")
    return found


def _windows(lengths: Shape, sizes: tuple[int, ...]) -> list[Windows]:
    return [
        [np.arange(i * n // s, -(-(i + 1) * n // s)) for i in range(s)] for n, s in zip(lengths, sizes, strict=True)
    ]


def _need_shape(name: str, spatial: int, input: "Tensor", filled: tuple[int, ...]) -> None:
    """Refuse a rank that does not fit, and empty dimensions among the `filled` ones."""
    shape = input._layout.shape
    if len(shape) not in (spatial + 1, spatial + 2) or 0 in filled:
        raise LayoutError(
            "dimension", f"{name}: {spatial + 1} or {spatial + 2} dimensions that are not empty are needed, got {shape}"
        )


def _mean(name: str, spatial: int, input: "Tensor", sizes: tuple[int, ...]) -> "Tensor":
    if spatial > 1 and sizes == (1,) * spatial:
        return _mean_of_all(spatial, input)
    input = resolved(input)
    # Over two dimensions channels may be missing; over three the first dimension only may be empty.
    _need_shape(name, spatial, input, input._layout.shape[1 if spatial == 3 else -2 :])
    d = input.dtype
    windows = _windows(input._layout.shape[-spatial:], sizes)
    shape = (*input._layout.shape[:-spatial], *sizes)
    strides = contiguous_strides(shape) if spatial == 3 else pooled_strides(input, shape)
    if spatial == 3:
        need_kernel(name, d, "f")
    if 0 in shape:
        return finish(np.zeros(shape, d.numpy), d, input, strides=strides)
    need_kernel(name, d, "f")
    a = wide(input)
    count: Any = 1
    for k, w in enumerate(windows):
        count = count * np.array([len(p) for p in w]).reshape([-1 if j == k else 1 for j in range(spatial)])
    with np.errstate(all="ignore"):
        result, magnitude = summed(a, windows) / count, summed(np.abs(a), windows) / count
    terms = int(np.max(count))
    # Over three dimensions short floats are added up as such.
    roundings = terms if spatial == 3 else 0
    return finish(
        result, d, input, strides=strides, magnitude=magnitude, terms=terms, roundings=roundings, in_turn=True
    )


def _mean_of_all(spatial: int, input: "Tensor") -> "Tensor":
    """One mean for each channel is a plain mean, whose strides are rewritten where the input is channels-last."""
    result = mean(input, tuple(range(-1, -spatial - 1, -1)), keepdim=True)
    if suggested_format(*input._layout[:2]) is not contiguous_format:
        n, c = result._layout.shape[:2]
        if input.ndim == spatial + 2:
            result._layout = Layout((n, c, *[1] * spatial), (c, 1, *[c] * spatial), 0)
            result._versions[0] += 1
    return result


def adaptive_avg_pool1d(input: "Tensor", output_size: Any) -> "Tensor":
    """Means of a given number of parts: a view of a pooling over two dimensions.

    Shapes: (n, c, l) or (c, l) to (…, output_size).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("adaptive_avg_pool1d", input)
    sizes = _sizes("adaptive_avg_pool1d", 1, input, output_size)
    _need_shape("adaptive_avg_pool1d", 1, input, ())
    return in_rows(_mean("adaptive_avg_pool1d", 2, view_ops.unsqueeze(input, -2), (1, *sizes)))


def adaptive_avg_pool2d(input: "Tensor", output_size: Any) -> "Tensor":
    """Means of a given number of parts, in the format that the input suggests.

    Shapes: (n, c, h, w) or (c, h, w) to (…, *output_size).
    Raises: dimension (also ValueError), size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("adaptive_avg_pool2d", input)
    return _mean("adaptive_avg_pool2d", 2, input, _sizes("adaptive_avg_pool2d", 2, input, output_size))


def adaptive_avg_pool3d(input: "Tensor", output_size: Any) -> "Tensor":
    """Means of a given number of parts, row-major unless there is one for each channel.

    Shapes: (n, c, d, h, w) or (c, d, h, w) to (…, *output_size).
    Raises: dimension (also ValueError), size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("adaptive_avg_pool3d", input)
    return _mean("adaptive_avg_pool3d", 3, input, _sizes("adaptive_avg_pool3d", 3, input, output_size))


def _largest(name: str, spatial: int, input: "Tensor", sizes: tuple[int, ...]) -> tuple["Tensor", "Tensor"]:
    input = resolved(input)
    _need_shape(name, spatial, input, input._layout.shape[1:])
    if min(sizes) < 0:
        raise LayoutError("size", f"{name}: the output size {sizes} is negative")
    need_kernel(name, input.dtype, "f")

    def strides(shape: Shape) -> Strides:
        return contiguous_strides(shape) if spatial == 3 else pooled_strides(input, shape)

    return deliver_largest(input, _windows(input._layout.shape[-spatial:], sizes), strides)


def adaptive_max_pool1d(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """Largest values of a given number of parts, and their places: views of a pooling over two dimensions.

    Shapes: (n, c, l) or (c, l) to (…, output_size).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("adaptive_max_pool1d", input)
    sizes = per_dim(output_size, 1, "output_size")
    _need_shape("adaptive_max_pool1d", 1, input, ())
    both = _largest("adaptive_max_pool1d", 2, view_ops.unsqueeze(input, -2), (1, *sizes))
    return (in_rows(both[0]), in_rows(both[1])) if return_indices else in_rows(both[0])


def adaptive_max_pool2d(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """Largest values of a given number of parts, and their places in the plane, in the format that the input suggests.

    Shapes: (n, c, h, w) or (c, h, w) to (…, *output_size).
    Raises: dimension (also ValueError), size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("adaptive_max_pool2d", input)
    both = _largest("adaptive_max_pool2d", 2, input, _sizes("adaptive_max_pool2d", 2, input, output_size))
    return both if return_indices else both[0]


def adaptive_max_pool3d(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """Largest values of a given number of parts, and their places in the volume, row-major.

    Shapes: (n, c, d, h, w) or (c, d, h, w) to (…, *output_size).
    Raises: dimension (also ValueError), size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("adaptive_max_pool3d", input)
    both = _largest("adaptive_max_pool3d", 3, input, _sizes("adaptive_max_pool3d", 3, input, output_size))
    return both if return_indices else both[0]


def adaptive_max_pool1d_with_indices(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool1d` with its places, whatever is asked. Raises: as that one."""
    return adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool2d` with its places, whatever is asked. Raises: as that one."""
    return adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(input: "Tensor", output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_max_pool3d` with its places, whatever is asked. Raises: as that one."""
    return adaptive_max_pool3d(input, output_size, True)
