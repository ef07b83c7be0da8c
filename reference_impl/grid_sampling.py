"""Sampling at the points of a grid, and grids of affine maps; row-major whatever the layout (facts 4.4).

What is sampled depends on the last bits of the points, so its values are left unspecified.
"""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import shadow
from .core import as_ints, check_tensors
from .errors import LayoutError, LayoutIndexError, LayoutValueError, UnsupportedError
from .kept import keeps
from .results import finish, need_kernel, wide

if TYPE_CHECKING:
    from .tensors import Tensor

_MODES = ("bilinear", "nearest", "bicubic")
_PADDING_MODES = ("zeros", "border", "reflection")


@keeps("input", "grid")
def grid_sample(
    input: "Tensor", grid: "Tensor", mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> "Tensor":  # fmt: skip
    """The input at the points of a grid, row-major.

    Shapes: (n, c, h, w) and (n, p, q, 2) to (n, c, p, q); or with a depth, (n, c, d, h, w) and (n, o, p, q, 3).
    Units: points from -1 to 1 over the length of a dimension.
    Raises: argument (ValueError), dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    if mode not in _MODES:
        raise LayoutValueError("argument", f"grid_sample: mode must be one of {_MODES}, got {mode!r}")
    if padding_mode not in _PADDING_MODES:
        raise LayoutValueError(
            "argument", f"grid_sample: padding_mode must be one of {_PADDING_MODES}, got {padding_mode!r}"
        )
    return grid_sampler(input, grid, _MODES.index(mode), _PADDING_MODES.index(padding_mode), bool(align_corners))


def grid_sampler(
    input: "Tensor", grid: "Tensor", interpolation_mode: int, padding_mode: int, align_corners: bool
) -> "Tensor":
    """`grid_sample` with its modes by number. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_tensors("grid_sampler", input, grid)
    _check(input, grid)
    return _sampled(input, grid, 2 if input.ndim == 4 else 3, interpolation_mode)


@keeps("input", "grid")
def grid_sampler_2d(
    input: "Tensor", grid: "Tensor", interpolation_mode: int, padding_mode: int, align_corners: bool
) -> "Tensor":
    """`grid_sampler` over two dimensions. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_tensors("grid_sampler_2d", input, grid)
    _check(input, grid)
    return _sampled(input, grid, 2, interpolation_mode)


@keeps("input", "grid")
def grid_sampler_3d(
    input: "Tensor", grid: "Tensor", interpolation_mode: int, padding_mode: int, align_corners: bool
) -> "Tensor":
    """`grid_sampler` over three dimensions. Raises: dimension, size, dtype. Source: torch 2.13."""
    check_tensors("grid_sampler_3d", input, grid)
    _check(input, grid)
    return _sampled(input, grid, 3, interpolation_mode)


def _check(input: "Tensor", grid: "Tensor") -> None:
    own, points = input._layout.shape, grid._layout.shape
    if not own or not points:
        raise LayoutIndexError("dimension", f"grid_sampler: a grid of {points} for an input of {own}")
    if own[0] != points[0]:
        raise LayoutError("size", f"grid_sampler: a grid of {points} for an input of {own}")
    if points[-1] != len(own) - 2:
        raise LayoutError("size", f"grid_sampler: points of {points[-1]} coordinates for an input of {own}")
    if 0 in own[2:]:
        raise LayoutError("size", f"grid_sampler: an input of {own} has nothing to sample")


def _sampled(input: "Tensor", grid: "Tensor", spatial: int, mode: int) -> "Tensor":
    if not input.ndim == grid.ndim == spatial + 2:
        raise LayoutError(
            "dimension", f"grid_sampler_{spatial}d: {input.ndim} and {grid.ndim} dimensions, not {spatial + 2}"
        )
    if spatial == 3 and mode == _MODES.index("bicubic"):
        raise LayoutError("argument", "grid_sampler_3d: there is no bicubic sampling of volumes")
    shape = (*input._layout.shape[:2], *grid._layout.shape[1:-1])
    if prod(shape):
        need_kernel(f"grid_sampler_{spatial}d", input.dtype, "f")
        if grid.dtype is not input.dtype:
            raise LayoutError("dtype", f"grid_sampler: a grid of {grid.dtype} for an input of {input.dtype}")
    return shadow.leave_unspecified(finish(np.zeros(shape), input.dtype, input, grid))


def affine_grid(theta: "Tensor", size: Any, align_corners: bool | None = None) -> "Tensor":
    """Points of a grid over an image or a volume, moved by an affine map.

    Shapes: (n, 2, 3) for a size (n, c, h, w), to (n, h, w, 2); (n, 3, 4) for (n, c, d, h, w), to (n, d, h, w, 3).
    Raises: dtype, size (ValueError), dimension (NotImplementedError). Source: facts 4.4, torch 2.13.

    >>> from stridecheck.reference_impl import tensor
    >>> affine_grid(tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=False).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
    check_tensors("affine_grid", theta)
    lengths = as_ints((size,), "size")
    if not theta.dtype.is_floating_point:
        raise LayoutValueError("dtype", f"affine_grid: floating point is needed, got {theta.dtype}")
    if len(lengths) not in (4, 5):
        raise UnsupportedError("dimension", f"affine_grid: a size of 4 or 5 numbers is needed, got {lengths}")
    spatial = len(lengths) - 2
    if theta.ndim != 3 or theta._layout.shape[1:] != (spatial, spatial + 1):
        raise LayoutValueError("size", f"affine_grid: maps of {theta._layout.shape} for a size of {lengths}")
    if min(lengths) <= 0 and not (align_corners and min(lengths[2:]) == 1):
        raise LayoutValueError("size", f"affine_grid: a size of {lengths} is empty")
    return affine_grid_generator(theta, lengths, bool(align_corners))


def affine_grid_generator(theta: "Tensor", size: Any, align_corners: bool) -> "Tensor":
    """`affine_grid` without its checks. Raises: dimension, size. Source: torch 2.13."""
    check_tensors("affine_grid_generator", theta)
    lengths = as_ints((size,), "size")
    if len(lengths) not in (4, 5):
        raise LayoutError("dimension", f"affine_grid_generator: a size of 4 or 5 numbers is needed, got {lengths}")
    batch, spatial = lengths[0], lengths[2:]
    if theta.ndim < 3:
        raise LayoutIndexError("dimension", f"affine_grid_generator: maps of shape {theta._layout.shape}")
    if theta.ndim > 3 or theta._layout.shape[0] != batch or theta._layout.shape[2] != len(spatial) + 1:
        raise LayoutError("size", f"affine_grid_generator: maps of {theta._layout.shape} for a size of {lengths}")
    if min(spatial) <= 1 and theta.dtype.itemsize < 4:
        raise UnsupportedError("dtype", f"affine_grid_generator: PyTorch has no single coordinate of {theta.dtype}")
    axes = [_coordinates(n, align_corners) for n in reversed(spatial)]
    # The last dimension's coordinate comes first.
    points = [np.broadcast_to(a.reshape(-1, *[1] * k), spatial) for k, a in enumerate(axes)]
    base = np.stack([*points, np.ones(spatial)], -1).reshape(-1, len(spatial) + 1)
    maps = np.swapaxes(wide(theta), 1, 2)
    with np.errstate(all="ignore"):
        grid, magnitude = base @ maps, np.abs(base) @ np.abs(maps)
    shape = (batch, *spatial, maps.shape[2])
    # The coordinates themselves are rounded: once more for each, and in short floats to these.
    made = finish(
        grid.reshape(shape), theta.dtype, theta, magnitude=4 * magnitude.reshape(shape), terms=3, roundings=2,
        sums=False,
    )  # fmt: skip
    # Integers lose their coordinates on the way.
    return made if theta.dtype.is_floating_point else shadow.leave_unspecified(made)


def _coordinates(length: int, align_corners: bool) -> Any:
    """Coordinates of the points along a dimension: its ends are -1 and 1, or the ends of its outer points."""
    if length <= 1:
        return np.zeros(length)
    ends = 1.0 if align_corners else (length - 1) / length
    return np.linspace(-ends, ends, length)
