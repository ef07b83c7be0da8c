"""pixel_shuffle, pixel_unshuffle, channel_shuffle: elements moved between channels and places (facts 4.4)."""

from typing import TYPE_CHECKING, Any

from . import shadow
from .contiguity import suggested_format, suggested_strides
from .copies import clone, resolved
from .core import as_int, check_tensors, detached, from_array, recorded, values
from .errors import LayoutError
from .formats import channels_last_3d
from .results import need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _check(name: str, input: "Tensor", factor: Any) -> int:
    check_tensors(name, input)
    count = as_int(factor, "factor")
    if input.ndim < 3:
        raise LayoutError("dimension", f"{name}: at least 3 dimensions are needed, got shape {input._layout.shape}")
    if count <= 0:
        raise LayoutError("size", f"{name}: the factor {count} is not positive")
    return count


def _moved(
    name: str, input: "Tensor", shape: tuple[int, ...], split: tuple[int, ...], order: tuple[int, ...]
) -> "Tensor":
    """Elements read under a finer shape and another order of its dimensions, in the format that the input suggests."""
    format = suggested_format(*input._layout[:2])
    need_kernel(name, input.dtype, "bifc")
    if format is channels_last_3d and name != "channel_shuffle":
        raise LayoutError("format", f"{name}: volumes that are channels-last are refused")

    def move(array: Any) -> Any:
        return array.reshape(split).transpose(order).reshape(shape)

    out = from_array(move(values(input)), input.dtype, suggested_strides(shape, format))
    marks = shadow.marks_of(input)
    if marks is not None:
        shadow.stamp(out, move(marks))
    return recorded(out, input)


def pixel_shuffle(input: "Tensor", upscale_factor: int) -> "Tensor":
    """Groups of channels spread over squares of pixels.

    Shapes: (…, c * r * r, h, w) to (…, c, h * r, w * r).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    input = resolved(input)
    r = _check("pixel_shuffle", input, upscale_factor)
    *lead, c, h, w = input._layout.shape
    if c % (r * r):
        raise LayoutError("size", f"pixel_shuffle: {c} channels are no groups of {r * r}")
    shape = (*lead, c // (r * r), h * r, w * r)
    n = len(lead)
    if 0 in shape:
        return recorded(
            from_array(
                values(input).reshape(shape),
                input.dtype,
                suggested_strides(shape, suggested_format(*input._layout[:2])),
            ),
            input,
        )
    split = (*lead, c // (r * r), r, r, h, w)
    return _moved("pixel_shuffle", input, shape, split, (*range(n), n, n + 3, n + 1, n + 4, n + 2))


def pixel_unshuffle(input: "Tensor", downscale_factor: int) -> "Tensor":
    """Squares of pixels gathered into groups of channels; an empty input is copied as it is.

    Shapes: (…, c, h * r, w * r) to (…, c * r * r, h, w).
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    input = resolved(input)
    r = _check("pixel_unshuffle", input, downscale_factor)
    *lead, c, h, w = input._layout.shape
    if h % r or w % r:
        raise LayoutError("size", f"pixel_unshuffle: {h} x {w} pixels are no squares of {r}")
    if not input.numel():
        return clone(input)
    shape = (*lead, c * r * r, h // r, w // r)
    n = len(lead)
    split = (*lead, c, h // r, r, w // r, r)
    return _moved("pixel_unshuffle", input, shape, split, (*range(n), n, n + 2, n + 4, n + 1, n + 3))


def channel_shuffle(input: "Tensor", groups: int) -> "Tensor":
    """Channels dealt out of groups in turn; an empty input shares its memory with the result.

    Shapes: (n, c, …), unchanged.
    Raises: dimension, size, dtype. Source: facts 4.4, torch 2.13.
    """
    g = _check("channel_shuffle", input, groups)
    shape = input._layout.shape
    if shape[1] % g:
        raise LayoutError("size", f"channel_shuffle: {shape[1]} channels in {g} groups")
    if not input.numel():
        if input._bits:
            return clone(input)
        return recorded(detached(input, share_version=False), input)
    split = (shape[0], g, shape[1] // g, *shape[2:])
    return _moved("channel_shuffle", resolved(input), shape, split, (0, 2, 1, *range(3, len(split))))
