"""interpolate: resampling of spatial dimensions, in the format that the input suggests (facts 4.4)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import adaptive_pooling, shadow
from . import dtypes as dt
from .contiguity import suggested_format, suggested_strides
from .copies import resolved
from .core import check_tensors, from_array, recorded, values
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnsupportedError
from .parsing import parsed
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor

_NEAREST = ("nearest", "nearest-exact")
# Spatial dimensions that each of the other modes is for; None takes any.
_SPATIAL: dict[str, int | None] = {"linear": 1, "bilinear": 2, "bicubic": 2, "lanczos": 2, "trilinear": 3, "area": None}
# The cubic convolution's parameter, PyTorch's choice.
_CUBIC = -0.75


@parsed(in_python="recompute_scale_factor antialias")
def interpolate(
    input: "Tensor", size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> "Tensor":  # fmt: skip
    """The input resampled over its spatial dimensions to a size, or by a factor.

    Values of bytes in other modes than nearest are not specified here, nor those of antialiased images that become one
    element wide, where PyTorch's kernel takes the weights of one dimension for those of the other.

    Shapes: (n, c, …) with one to three spatial dimensions.
    Raises: argument (ValueError, TypeError, NotImplementedError), dimension, size, dtype.
    Source: facts 4.4, torch 2.13.
    """
    check_tensors("interpolate", input)
    if mode in (*_NEAREST, "area") and align_corners is not None:
        raise LayoutValueError("argument", "interpolate: align_corners goes with linear modes only")
    lengths, factors = _targets(input, size, scale_factor, mode, bool(recompute_scale_factor))
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise LayoutValueError("argument", "interpolate: antialias goes with bilinear, bicubic and lanczos images only")
    spatial = input.ndim - 2
    if not 1 <= spatial <= 3 or (mode not in _NEAREST and _SPATIAL.get(mode, 0) not in (None, spatial)):
        raise UnsupportedError("dimension", f"interpolate: mode {mode!r} for {input.ndim} dimensions")
    if mode == "lanczos" and (align_corners or not antialias):
        raise LayoutValueError("argument", "interpolate: lanczos is antialiased and does not align corners")
    if mode == "area":
        means = (
            adaptive_pooling.adaptive_avg_pool1d,
            adaptive_pooling.adaptive_avg_pool2d,
            adaptive_pooling.adaptive_avg_pool3d,
        )
        return means[spatial - 1](input, lengths)
    return _resampled(input, lengths, factors, mode, bool(align_corners), antialias)


def _targets(
    input: "Tensor", size: Any, scale_factor: Any, mode: str, recompute: bool
) -> tuple[list[int], list[float | None]]:
    """Output lengths, and the factors that positions are computed from; None where they follow from the lengths."""
    spatial = max(input.ndim - 2, 0)
    old = input._layout.shape[2:]
    if (size is None) == (scale_factor is None):
        raise LayoutValueError("argument", "interpolate: either size or scale_factor must be given")
    given = size if scale_factor is None else scale_factor
    every = list(given) if isinstance(given, (tuple, list)) else [given] * spatial
    if len(every) != spatial:
        raise LayoutValueError("size", f"interpolate: {len(every)} numbers for {spatial} spatial dimensions")
    kinds = (int, np.integer) if scale_factor is None else (int, float, np.number)
    if any(not isinstance(x, kinds) for x in every):
        raise LayoutTypeError("argument", f"interpolate: size or factor must be numbers, got {every}")
    if scale_factor is None:
        if recompute:
            raise LayoutValueError(
                "argument", "interpolate: recompute_scale_factor says nothing about an explicit size"
            )
        return [int(x) for x in every], [None] * spatial
    lengths = [int(n * x) for n, x in zip(old, every, strict=True)]
    return lengths, [None if recompute or mode == "area" else float(x) for x in every]


def _resampled(
    input: "Tensor", lengths: list[int], factors: list[float | None], mode: str, align: bool, antialias: bool
) -> "Tensor":
    input = resolved(input)
    shape = input._layout.shape
    if min(lengths) <= 0 or min(shape[2:]) <= 0:
        raise LayoutError("size", f"interpolate: from {shape[2:]} to {tuple(lengths)}")
    if not shape[1]:
        raise LayoutError("dimension", f"interpolate: an input of shape {shape} has no channels")
    d = input.dtype
    byte = d is dt.uint8 and mode in (*_NEAREST, "bilinear", "bicubic", "lanczos")
    need_kernel("interpolate", d, "fi" if byte else "f")
    if antialias and d in (dt.bfloat16, dt.float16) and tuple(lengths) != shape[2:]:
        raise UnsupportedError("dtype", f"interpolate: PyTorch has no antialiasing kernel for {d}")
    strides = suggested_strides((*shape[:2], *lengths), suggested_format(*input._layout[:2]))
    if mode in _NEAREST:
        return _nearest(input, lengths, factors, mode == "nearest-exact", strides)
    real = np.float64 if d is dt.float64 else np.float32
    result = wide(input)
    near = magnitude = np.abs(result.astype(np.float64))
    for k, (n, f) in enumerate(zip(lengths, factors, strict=True)):
        if antialias and n == shape[2 + k]:
            continue  # whatever the factor
        if antialias:
            weights, taps = _antialiased(mode, shape[2 + k], n, f, align, real)
        else:
            weights, taps = (_cubic if mode == "bicubic" else _linear)(shape[2 + k], n, f, align, real)
        result = _along(result, weights, 2 + k)
        magnitude = _along(magnitude, np.abs(weights), 2 + k)
        near = _along(near, taps, 2 + k)
    # Positions are rounded as well, so that a weight is off by as much as the input is long.
    magnitude = 4 * magnitude + near * max(shape[2:]) / 2
    if byte:
        result = np.clip(np.rint(result), 0, 255)
    out = finish(result, d, input, strides=strides, magnitude=magnitude, terms=0, roundings=2, sums=False)
    if byte or (antialias and lengths[1] == 1 < lengths[0]):
        shadow.leave_unspecified(out)
    return out


def _along(a: Any, weights: Any, axis: int) -> Any:
    """Weighted sums along one dimension. Shapes: weights (new length, old length)."""
    with np.errstate(all="ignore"):
        return np.moveaxis(np.tensordot(a, weights, axes=(axis, 1)), -1, axis)


def _scale(old: int, new: int, factor: float | None, real: Any) -> Any:
    """Input elements for one of the output, in the precision that PyTorch computes it in."""
    return real(1.0 / factor) if factor is not None and factor > 0 else real(old) / real(new)


def _nearest(
    input: "Tensor", lengths: list[int], factors: list[float | None], exact: bool, strides: tuple[int, ...]
) -> "Tensor":
    a, marks = values(input), shadow.marks_of(input)
    for k, (n, f) in enumerate(zip(lengths, factors, strict=True)):
        old = a.shape[2 + k]
        at = (np.arange(n, dtype=np.float32) + np.float32(0.5 if exact else 0)) * _scale(old, n, f, np.float32)
        at = np.minimum(np.floor(at).astype(np.int64), old - 1)
        if len(lengths) == 2 and not exact and n == old:
            # Images whose length stays are copied along it, whatever the factor.
            at = np.arange(n)
        a = np.take(a, at, 2 + k)
        marks = None if marks is None else np.take(marks, at, 2 + k)
    out = from_array(a, input.dtype, strides)
    if marks is not None:
        shadow.stamp(out, marks)
    return recorded(out, input)


def _positions(old: int, new: int, factor: float | None, align: bool, real: Any) -> Any:
    """Where in the input every element of the output lies."""
    if align:
        return np.arange(new) * np.float64(real(old - 1) / real(new - 1) if new > 1 else 0.0)
    return (np.arange(new) + 0.5) * np.float64(_scale(old, new, factor, real)) - 0.5


def _linear(old: int, new: int, factor: float | None, align: bool, real: Any) -> tuple[Any, Any]:
    """Weights of linear interpolation, and 1 where the input is looked at. Shapes: both (new, old).

    >>> _linear(2, 4, None, False, np.float32)[0].tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    # A factor that leaves the length is no factor.
    at = np.arange(new) if old == new else np.maximum(_positions(old, new, factor, align, real), 0)
    low = np.minimum(np.floor(at).astype(np.int64), old - 1)
    part = np.clip(at - low, 0, 1)
    weights, taps = np.zeros((new, old)), np.zeros((new, old))
    rows = np.arange(new)
    for column, weight in ((low, 1 - part), (np.minimum(low + 1, old - 1), part)):
        np.add.at(weights, (rows, column), weight)
        taps[rows, column] = 1
    return weights, taps


def _cubic(old: int, new: int, factor: float | None, align: bool, real: Any) -> tuple[Any, Any]:
    """Weights of cubic convolution, which repeats the input's ends, and 1 where it is looked at. Shapes: (new, old)."""
    at = _positions(old, new, factor, align, real)
    low = np.floor(at).astype(np.int64)
    weights, taps = np.zeros((new, old)), np.zeros((new, old))
    rows = np.arange(new)
    for tap in range(-1, 3):
        x = np.abs(at - low - tap)
        near = ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1
        far = ((_CUBIC * x - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC
        column = np.clip(low + tap, 0, old - 1)
        np.add.at(weights, (rows, column), np.where(x <= 1, near, far))
        taps[rows, column] = 1
    return weights, taps


# How far each mode's window reaches, and what it weighs at a distance from its middle.
_WINDOWS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "bilinear": (1, lambda x: np.maximum(1 - x, 0)),
    "bicubic": (2, lambda x: np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, ((2.5 - 0.5 * x) * x - 4) * x + 2)),
    "lanczos": (3, lambda x: np.sinc(x) * np.sinc(x / 3)),
}


def _antialiased(mode: str, old: int, new: int, factor: float | None, align: bool, real: Any) -> tuple[Any, Any]:
    """Weights of a window as wide as the input's elements for one of the output, and how steep they are at most.

    Shapes: both (new, old). Source: `_compute_indices_min_size_weights_aa`, torch 2.13.

    >>> _antialiased("bilinear", 4, 2, None, False, np.float64)[0].round(3).tolist()
    [[0.429, 0.429, 0.143, 0.0], [0.0, 0.143, 0.429, 0.429]]
    """
    reach, window = _WINDOWS[mode]
    if align:
        scale = np.float64(real(old - 1) / real(new - 1) if new > 1 else 0.0)
    else:
        scale = np.float64(_scale(old, new, factor, real))
    wide = max(scale, 1.0)
    middle = scale * (np.arange(new)[:, None] + 0.5)
    first = np.maximum((middle - reach * wide + 0.5).astype(np.int64), 0)
    end = np.minimum((middle + reach * wide + 0.5).astype(np.int64), old)
    at = np.arange(old)
    distance = np.abs(at - middle + 0.5) / wide
    weights = np.where((at >= first) & (at < end) & (distance < reach), window(distance), 0.0)
    return weights / weights.sum(1, keepdims=True), np.where(weights, 2 * reach / wide, 0.0)


def upsample(
    input: "Tensor", size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> "Tensor":
    """`interpolate` under its old name. Raises: as that one."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: "Tensor", size: Any = None, scale_factor: Any = None) -> "Tensor":
    """`interpolate` by the nearest element. Raises: as that one."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: "Tensor", size: Any = None, scale_factor: Any = None) -> "Tensor":
    """`interpolate` of images, their corners aligned. Raises: as that one."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def upsample_bilinear2d_aa(
    input: "Tensor", output_size: Any, align_corners: bool, scale_factors: Any = None, scales_w: Any = None, *,
    scales_h: Any = None,
) -> "Tensor":  # fmt: skip
    """Antialiased `interpolate` of images to a size, or by factors.

    Beside a size factors change values only, which are not specified then.

    Raises: as that one.
    """
    factors = scale_factors if output_size is None else None
    out = interpolate(input, output_size, factors, "bilinear", align_corners, antialias=True)
    if output_size is not None and (scale_factors, scales_h, scales_w) != (None, None, None):
        shadow.leave_unspecified(out)
    return out
