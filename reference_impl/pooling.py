"""Pooling over one to three dimensions: the largest or the mean of windows that step over the input (facts 4.4).

Over two dimensions the output is in the format that the input suggests. One dimension is two with a height of 1, viewed
back. Over three, the largest keeps channels-last and the mean does not.
"""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow, view_ops
from .contiguity import is_channels_last, is_contiguous, suggested_format, suggested_strides
from .conversion import nan_marks
from .convolution import per_dim
from .copies import resolved
from .core import build, check_tensors, from_array, recorded, records_history, values, view_of
from .errors import LayoutError, LayoutIndexError
from .formats import channels_last_3d, contiguous_format
from .layout import Shape, Strides, contiguous_strides
from .out import write_out
from .results import finish, input_marks, need_kernel, wide
from .views import squeeze

if TYPE_CHECKING:
    from .tensors import Tensor

# Positions that the windows of one dimension hold: one array for each output coordinate.
Windows = list[Any]


class Pool:
    """The checked numbers of one pooling, and its windows."""

    def __init__(
        self, name: str, spatial: int, input: "Tensor", kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool,
    ) -> None:  # fmt: skip
        self.name = name
        self.kernel = per_dim(kernel_size, spatial, "kernel_size")
        none = stride is None or (isinstance(stride, (tuple, list)) and not stride)
        self.steps = self.kernel if none else per_dim(stride, spatial, "stride")
        self.pads = per_dim(padding, spatial, "padding")
        self.holes = per_dim(dilation, spatial, "dilation")
        if spatial == 1:
            need_pool_shape(name, input, spatial)
        else:
            need_pool_rank(name, input, spatial)
        if min(*self.kernel, *self.steps, *self.holes) <= 0:
            raise LayoutError(
                "size", f"{name}: kernel {self.kernel}, stride {self.steps}, dilation {self.holes} must be positive"
            )
        self.lengths = input._layout.shape[-spatial:]
        reach = [h * (k - 1) + 1 for h, k in zip(self.holes, self.kernel, strict=True)]
        if any(p < 0 or p > r // 2 for p, r in zip(self.pads, reach, strict=True)):
            raise LayoutError(
                "size", f"{name}: padding {self.pads} must be between 0 and half of the kernel {tuple(reach)}"
            )
        need_pool_shape(name, input, spatial)
        self.counts = [
            _count(n, r, s, p, ceil_mode=ceil_mode)
            for n, r, s, p in zip(self.lengths, reach, self.steps, self.pads, strict=True)
        ]
        if min(self.counts) < 1:
            raise LayoutError("size", f"{name}: the output would be {tuple(self.counts)}")

    def starts(self, dim: int) -> list[int]:
        """First position of every window of a dimension; negative ones lie in the padding."""
        return [i * self.steps[dim] - self.pads[dim] for i in range(self.counts[dim])]

    def windows(self) -> list[Windows]:
        """Positions inside the input, for every dimension and output coordinate."""
        found = []
        for d, (k, h, n) in enumerate(zip(self.kernel, self.holes, self.lengths, strict=True)):
            every = [np.arange(s, s + h * (k - 1) + 1, h) for s in self.starts(d)]
            found.append([p[(p >= 0) & (p < n)] for p in every])
        return found


def _count(length: int, reach: int, step: int, pad: int, *, ceil_mode: bool) -> int:
    count: int = (length + 2 * pad - reach + (step - 1 if ceil_mode else 0)) // step + 1
    # The last window must start inside the input or its left padding.
    if ceil_mode and (count - 1) * step >= length + pad:
        count -= 1
    return count


def need_pool_rank(name: str, input: "Tensor", spatial: int) -> None:
    """Refuse a rank that does not fit, before anything else is looked at.

    Raises: dimension (RuntimeError; IndexError for `avg_pool2d`, which looks for its dimensions first).
    """
    if name == "avg_pool2d":
        if input.ndim < 3:
            raise LayoutIndexError("dimension", f"{name}: {input.ndim} dimensions are too few")
    elif input.ndim not in (spatial + 1, spatial + 2):
        raise LayoutError(
            "dimension", f"{name}: {spatial + 1} or {spatial + 2} dimensions are needed, got {input._layout.shape}"
        )


def need_pool_shape(name: str, input: "Tensor", spatial: int) -> None:
    """Refuse a rank that does not fit, and empty dimensions other than the batch. Raises: dimension (RuntimeError)."""
    shape = input._layout.shape
    if len(shape) not in (spatial + 1, spatial + 2) or 0 in shape[-spatial - 1 :]:
        raise LayoutError(
            "dimension", f"{name}: {spatial + 1} or {spatial + 2} dimensions that are not empty are needed, got {shape}"
        )


def pooled_strides(input: "Tensor", shape: Shape) -> Strides:
    """Strides of an output in the format that a batched input suggests; row-major without a batch."""
    return suggested_strides(shape, suggested_format(*input._layout[:2]))


def largest(a: Any, windows: Sequence[Windows], lowest: Any) -> tuple[Any, Any]:
    """Largest value of every window and its place in the input's last dimensions, counted row-major.

    Of several the first, but the last NaN. Dimension by dimension from the last, which keeps that order.
    """
    spatial = len(windows)
    places = np.arange(prod(a.shape[a.ndim - spatial :])).reshape(a.shape[a.ndim - spatial :])
    places = np.broadcast_to(places, a.shape)
    floats = a.dtype.kind not in "iub"
    for k in range(1, spatial + 1):
        chosen, where = [], []
        for positions in windows[-k]:
            v, p = np.take(a, positions, -k), np.take(places, positions, -k)
            if not len(positions):
                lost = [*a.shape]
                lost[-k] = 1
                chosen.append(np.full(lost, lowest, a.dtype))
                where.append(np.zeros(lost, np.int64))
                continue
            at = np.argmax(v, axis=-k)
            if floats:
                nan = np.isnan(v)
                # Every later NaN replaces an earlier one.
                last = len(positions) - 1 - np.argmax(np.flip(nan, -k), axis=-k)
                at = np.where(nan.any(axis=-k), last, at)
            at = np.expand_dims(at, -k)
            chosen.append(np.take_along_axis(v, at, -k))
            where.append(np.take_along_axis(p, at, -k))
        a, places = np.concatenate(chosen, -k), np.concatenate(where, -k)
    return a, places


def summed(a: Any, windows: Sequence[Windows]) -> Any:
    """Sum of every window over the last dimensions."""
    for k in range(1, len(windows) + 1):
        parts = [np.sum(np.take(a, p, -k), axis=-k, keepdims=True, dtype=a.dtype) for p in windows[-k]]
        a = np.concatenate(parts, -k)
    return a


def deliver_largest(
    input: "Tensor", windows: list[Windows], strides: Any, starts: Any = None, *, depth: bool = True
) -> tuple["Tensor", "Tensor"]:
    """Tensors of the largest values and of their places; `strides` answers those of a shape.

    `starts` are the places where the search of a window begins, where that can show; without `depth` the place of a
    window that holds nothing above the lowest value is that start without its depth, as PyTorch's channels-last loop
    has it.
    """
    a = values(input)
    d = input.dtype
    short = d.category == "float"
    lowest = -np.inf if short else np.iinfo(d.numpy).min
    shape = (*a.shape[: a.ndim - len(windows)], *[len(w) for w in windows])
    if prod(shape):
        with np.errstate(invalid="ignore"):  # a signalling NaN
            wider = a.astype(np.float64) if short else a
        _, where = largest(wider, windows, lowest)
        flat = a.reshape(*shape[: a.ndim - len(windows)], -1)
        best = np.take_along_axis(flat, where.reshape(*flat.shape[:-1], -1), -1).reshape(shape)
        if starts is not None:
            best, where = _outside(best, where, windows, starts, a.shape[a.ndim - len(windows) :], lowest, depth)
    else:
        best, where = np.zeros(shape, d.numpy), np.zeros(shape, np.int64)
    worst = input_marks(input)
    first = from_array(best, d, strides(shape))
    second = from_array(where, dt.int64, strides(shape))
    marks = np.full(shape, worst, np.uint8) if worst else nan_marks(best, d)
    if marks is not None:
        shadow.stamp(first, marks)
    if worst:
        shadow.stamp(second, worst)
    return recorded(first, input), second


def _outside(
    best: Any, where: Any, windows: list[Windows], starts: Any, lengths: Shape, lowest: Any, depth: bool
) -> tuple[Any, Any]:
    """Windows whose positions all fall outside: the lowest value, at the place where the search would have begun."""
    empty = [np.array([not len(p) for p in w]) for w in windows]
    if depth and not any(e.any() for e in empty):
        return best, where
    grid = np.zeros(where.shape[where.ndim - len(windows) :], bool)
    place = np.zeros(grid.shape, np.int64)
    step = 1
    for k in range(len(windows) - 1, -1, -1):
        spread = [-1 if j == k else 1 for j in range(len(windows))]
        grid = grid | empty[k].reshape(spread)
        if depth or k:
            place = place + np.array(starts[k]).reshape(spread) * step
        step *= lengths[k]
    best = np.where(grid, np.array(lowest).astype(best.dtype), best)
    return best, np.where(grid | (False if depth else best == best.dtype.type(lowest)), place, where)


def _max_pool(
    name: str,
    spatial: int,
    input: "Tensor",
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple["Tensor", "Tensor"]:
    check_tensors(name, input)
    input = resolved(input)
    last = spatial == 3 and input.ndim == 4 and _is_volume_last(name, input)  # refused before any size is looked at
    pool = Pool(name, spatial, input, kernel_size, stride, padding, dilation, ceil_mode)
    need_kernel(name, input.dtype, "if")
    starts = [
        [s if s >= 0 else s % pool.holes[k] for s in pool.starts(k)] for k in range(spatial)
    ]  # fmt: skip

    format = channels_last_3d if last else suggested_format(*input._layout[:2])
    counted = input.dtype.category == "int" and format is not contiguous_format
    # That loop counts places in integers as wide as the elements.
    if counted and prod(pool.lengths) > np.iinfo(input.dtype.numpy).max:
        raise LayoutError("size", f"{name}: {prod(pool.lengths)} places do not fit {input.dtype}")

    def strides(shape: Shape) -> Strides:
        if last:
            return suggested_strides((1, *shape), channels_last_3d)[1:]
        return contiguous_strides(shape) if len(shape) == spatial + 1 else pooled_strides(input, shape)

    return deliver_largest(input, pool.windows(), strides, starts, depth=format is not channels_last_3d)


def _is_volume_last(name: str, input: "Tensor") -> bool:
    """Whether volumes without a batch count as channels-last: asked as if there were a batch, in two ways."""
    shape, strides, _ = input._layout
    batched = view_ops.unsqueeze(input, 0)._layout[:2]
    if suggested_format(*batched) is channels_last_3d or (is_channels_last(*batched) and not is_contiguous(*batched)):
        return True
    if suggested_format(shape, strides) is not contiguous_format:
        raise LayoutError("format", f"{name}: volumes without a batch that look like channels-last images are refused")
    return False


def max_pool2d_with_indices(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple["Tensor", "Tensor"]:  # fmt: skip
    """Largest value of every window, and where in its plane it lies.

    Shapes: (n, c, h, w) or (c, h, w).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple["Tensor", "Tensor"]:  # fmt: skip
    """Largest value of every window, and where in its volume it lies.

    Shapes: (n, c, d, h, w) or (c, d, h, w).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d_with_indices(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple["Tensor", "Tensor"]:  # fmt: skip
    """Largest value of every window, and where in its row it lies: views of a pooling over two dimensions.

    Shapes: (n, c, l) or (c, l).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("max_pool1d", input)
    need_pool_rank("max_pool1d", input, 1)
    kernel, steps, pads, holes = _row("max_pool1d", kernel_size, stride, padding, dilation)
    both = _max_pool("max_pool1d", 2, view_ops.unsqueeze(input, -2), kernel, steps, pads, holes, ceil_mode)
    return in_rows(both[0]), in_rows(both[1])


def _row(name: str, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Any, Any, Any, Any]:
    """Arguments of a pooling over one dimension as those of one over two."""
    kernel = per_dim(kernel_size, 1, "kernel_size")[0]
    steps = None if stride is None or stride in ((), []) else (1, per_dim(stride, 1, "stride")[0])
    pad, hole = per_dim(padding, 1, "padding")[0], per_dim(dilation, 1, "dilation")[0]
    return (1, kernel), steps, (0, pad), (1, hole)


def in_rows(t: "Tensor") -> "Tensor":
    """A result over two dimensions viewed as one over one."""
    return view_of(t, squeeze(t._layout, (t.ndim - 2,)))


def max_pool1d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest value of every window, and its place where asked; row-major and no view unless indices are needed.

    Shapes: (n, c, l) or (c, l).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    if return_indices:
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    check_tensors("max_pool1d", input)
    if records_history(input):
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)[0]
    pool = Pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode)
    need_kernel("max_pool1d", input.dtype, "f")
    starts = [[s if s >= 0 else s % pool.holes[0] for s in pool.starts(0)]]
    source = input
    if input._bits and is_contiguous(*input._layout[:2]):
        # PyTorch reads the memory as it is, the negative bit unseen.
        source = build(input._storage, input._layout, input.dtype)
    result = deliver_largest(source, pool.windows(), contiguous_strides, starts)[0]
    if input.ndim == 2:
        # The batch that was added is taken off in place.
        result._versions[0] += 1
    return result


def max_pool2d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """`max_pool2d_with_indices`, the places only where asked. Raises: dimension, size, dtype. Source: facts 4.4."""
    both = max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def max_pool3d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """`max_pool3d_with_indices`, the places only where asked. Raises: dimension, size, dtype. Source: facts 4.4."""
    both = max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def _avg_pool(
    name: str, spatial: int, input: "Tensor", kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> "Tensor":  # fmt: skip
    check_tensors(name, input)
    input = resolved(input)
    pool = Pool(name, spatial, input, kernel_size, stride, padding, 1, ceil_mode)
    if spatial == 3 and any(k > n for k, n in zip(pool.kernel, pool.lengths, strict=True)):
        raise LayoutError("size", f"{name}: the kernel {pool.kernel} is larger than the input {pool.lengths}")
    if divisor_override == 0:
        raise LayoutError("size", f"{name}: the divisor must not be 0")
    d = input.dtype
    need_kernel(name, d, "if" if d is dt.int64 else "f")
    if spatial == 3 and d in (dt.bfloat16, dt.float16):
        need_kernel(name, d, "")
    windows = pool.windows()
    a = wide(input)
    divisor: Any = np.ones([1] * spatial, np.int64)
    for k in range(spatial):
        ends = [min(s + pool.kernel[k], pool.lengths[k] + pool.pads[k]) for s in pool.starts(k)]
        widths = [e - s for e, s in zip(ends, pool.starts(k), strict=True)]
        if not count_include_pad:
            widths = [len(p) for p in windows[k]]
        divisor = divisor * np.array(widths).reshape([-1 if j == k else 1 for j in range(spatial)])
    if divisor_override is not None:
        divisor = np.full(divisor.shape, divisor_override)
    with np.errstate(all="ignore"):
        total = summed(a, windows)
        if d.category == "int":
            # C divides towards zero.
            quotient = np.abs(total) // np.abs(divisor) * np.sign(total) * np.sign(divisor)
            return finish(quotient, d, input, strides=_mean_strides(spatial, input, total.shape))
        magnitude = summed(np.abs(a), windows) / np.abs(divisor)
        return finish(
            total / divisor, d, input, strides=_mean_strides(spatial, input, total.shape), magnitude=magnitude,
            terms=prod(pool.kernel), in_turn=True,
        )  # fmt: skip


def _mean_strides(spatial: int, input: "Tensor", shape: Shape) -> Strides:
    return suggested_strides(shape, contiguous_format) if spatial == 3 else pooled_strides(input, shape)


def avg_pool1d(
    input: "Tensor", kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> "Tensor":  # fmt: skip
    """Mean of every window: a view of a pooling over two dimensions.

    Shapes: (n, c, l) or (c, l).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    check_tensors("avg_pool1d", input)
    need_pool_rank("avg_pool1d", input, 1)
    kernel, steps, pads, _ = _row("avg_pool1d", kernel_size, stride, padding, 1)
    flat = view_ops.unsqueeze(input, -2)
    return in_rows(_avg_pool("avg_pool1d", 2, flat, kernel, steps, pads, ceil_mode, count_include_pad, None))


def avg_pool2d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None, *, out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Mean of every window.

    Shapes: (n, c, h, w) or (c, h, w).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    result = _avg_pool(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return write_out(out, result, input, exact=True)


def avg_pool3d(
    input: "Tensor", kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None, *, out: "Tensor | None" = None,
) -> "Tensor":  # fmt: skip
    """Mean of every window, row-major.

    Shapes: (n, c, d, h, w) or (c, d, h, w).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    result = _avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return write_out(out, result, input, exact=True)
