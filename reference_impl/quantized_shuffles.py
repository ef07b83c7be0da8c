"""Quantised tensors lengthened, and codes moved between channels and places."""

from collections.abc import Callable
from typing import Any, Final

from . import padding, shuffles
from .contiguity import suggested_format
from .copies import clone
from .core import as_int_list, values
from .errors import LayoutError, UnspecifiedError, UnsupportedError
from .formats import channels_last, contiguous_format
from .layout import Layout, contiguous_strides
from .quantized_moves import as_codes, blank, by_bytes, codes_as_integers, encoded, number, uniform
from .quantized_tensor import QuantizedTensor
from .shadow import marks_of


def pad(input: QuantizedTensor, pad: Any, mode: str = "constant", value: Any = None) -> QuantizedTensor:
    """A copy with its last dimensions lengthened by the code of a number, or mirrored row-major; or shortened.

    Raises: as of numbers; dtype (RuntimeError) by channel unless only shortened, and for `circular`, whose fresh codes
    have no quantizer; (NotImplementedError) for packed codes, `replicate`, and mirrored volumes.
    Source: facts 10.1.22, torch 2.13.
    """
    padding.pad(blank(input), pad, mode, value)
    counts = as_int_list(pad, "pad")
    if mode == "constant":
        return constant_pad_nd(input, counts, 0.0 if value is None else value)
    if mode == "circular":
        raise LayoutError("dtype", "pad: mode 'circular' fills codes without a quantizer (facts 10.1.20)")
    if mode == "replicate" or len(counts) > 4:
        raise UnsupportedError("dtype", f"pad: mode {mode!r} of {len(counts) // 2} dimensions of codes (facts 10.1.8)")
    by_bytes(input, "pad")
    found = padding.pad(codes_as_integers(input), counts, mode)
    return as_codes(clone(found, memory_format=contiguous_format), input)


def constant_pad_nd(input: QuantizedTensor, pad: Any, value: Any = 0) -> QuantizedTensor:
    """`pad` with the code of a number. Raises: as it."""
    padding.constant_pad_nd(blank(input), pad, value)
    counts = as_int_list(pad, "pad")
    if all(count <= 0 for count in counts):
        return _shortened(input, counts).clone()
    code = encoded(number(value, "pad"), by_bytes(input, "pad"), input.dtype)
    if marks_of(code) is not None:
        raise UnspecifiedError("pad: there is no code of NaN")
    return as_codes(padding.pad(codes_as_integers(input), counts, "constant", int(values(code))), input)


def _shortened(input: QuantizedTensor, counts: tuple[int, ...]) -> QuantizedTensor:
    """The part that negative counts leave, with the channels that remain."""
    for k in range(0, len(counts), 2):
        d, (before, after) = input.ndim - 1 - k // 2, counts[k : k + 2]
        if before or after:
            part: Any = input.narrow(d, -before, input._layout.shape[d] + before + after)
            input = part
    return input


def channel_shuffle(input: QuantizedTensor, groups: int) -> QuantizedTensor:
    """Channels of images dealt out of groups in turn, in channels-last memory wherever that is no other order.

    Shapes: (n, c, h, w), unchanged.
    Raises: dimension, size; dtype (RuntimeError) for other codes than quint8, and by channel.
    Source: facts 10.1.22, torch 2.13.
    """
    g = shuffles._check("channel_shuffle", input, groups)
    shape, strides, _ = input._layout
    if len(shape) != 4:
        raise LayoutError("dimension", f"channel_shuffle: codes need 4 dimensions, got {shape}")
    if input.dtype.name != "quint8":
        raise LayoutError("dtype", f"channel_shuffle: only codes of quint8, got {input.dtype}")
    last = input.contiguous(memory_format=channels_last)
    uniform(last, "channel_shuffle")
    if g > 1 and not shape[1]:
        raise LayoutError("size", "channel_shuffle: there are no channels")
    dealt = shuffles.channel_shuffle(codes_as_integers(last), g)
    moved = as_codes(clone(dealt, memory_format=channels_last), input)
    return moved.contiguous(memory_format=suggested_format(shape, strides))


def _reordered(
    input: QuantizedTensor, split: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...]
) -> QuantizedTensor:
    """Codes read under a finer shape and another order of its dimensions, row-major and no view."""
    moved: Any = input.reshape(split).permute(order).clone()
    moved._layout = Layout(shape, contiguous_strides(shape), 0)
    return moved  # type: ignore[no-any-return]


def pixel_shuffle(input: QuantizedTensor, upscale_factor: int) -> QuantizedTensor:
    """Groups of channels spread over squares of pixels, row-major.

    Shapes: (…, c * r * r, h, w) to (…, c, h * r, w * r).
    Raises: dimension, size; view (RuntimeError) by channel; dtype (NotImplementedError) for packed codes.
    Source: facts 10.1.22, torch 2.13.
    """
    shuffles.pixel_shuffle(blank(input), upscale_factor)
    r = int(upscale_factor)
    *lead, c, h, w = input._layout.shape
    n, c = len(lead), c // (r * r)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return _reordered(input, (*lead, c, r, r, h, w), order, (*lead, c, h * r, w * r))


def pixel_unshuffle(input: QuantizedTensor, downscale_factor: int) -> QuantizedTensor:
    """Squares of pixels gathered into groups of channels, row-major, also of an empty input.

    Shapes: (…, c, h * r, w * r) to (…, c * r * r, h, w).
    Raises: as `pixel_shuffle`.
    """
    shuffles.pixel_unshuffle(blank(input), downscale_factor)
    r = int(downscale_factor)
    *lead, c, h, w = input._layout.shape
    n, h, w = len(lead), h // r, w // r
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return _reordered(input, (*lead, c, h, r, w, r), order, (*lead, c * r * r, h, w))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "pad": pad,
    "constant_pad_nd": constant_pad_nd,
    "channel_shuffle": channel_shuffle,
    "pixel_shuffle": pixel_shuffle,
    "pixel_unshuffle": pixel_unshuffle,
}
"""Functions that are no methods."""
