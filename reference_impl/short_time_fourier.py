"""stft and istft: Fourier transforms of overlapping frames of a signal, and signals added up from their frames.

PyTorch composes them, and the layout follows: frames are a strided view of the signal, their product with the window
is laid out as elementwise results are, each frame is transformed (`fft`), and the result is transposed in place, which
its version tells. Source: aten/src/ATen/native/SpectralOps.cpp, 2.13.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import arithmetic, division, extremes, fft, metadata, pointwise_ops, powers, slicing_ops, view_ops
from . import dtypes as dt
from .constructors import ones, zeros
from .copies import clone, fill_, resolve_conj
from .core import as_int, check_tensors, values
from .dtype_view import view_as_complex, view_as_real
from .errors import LayoutError, LayoutIndexError
from .padding import constant_pad_nd, pad
from .parsing import parsed
from .results import finish, wide
from .view_copies import slice_view

if TYPE_CHECKING:
    from .tensors import Tensor


@parsed(in_python="center align_to_window")
def stft(
    input: "Tensor", n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: "Tensor | None" = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> "Tensor":  # fmt: skip
    """Fourier transforms of frames of `n_fft` numbers, `hop_length` apart: frequencies innermost in memory.

    Shapes: (b, n) or (n) to (b, frequencies, frames) or (frequencies, frames); with another 2 at the end where not
    `return_complex`, as a view.
    Raises: argument, size, dimension, dtype; and as `as_strided` and `nn.functional.pad` do. Source: torch 2.13.

    >>> import stridecheck.reference_impl as torch
    >>> torch.stft(torch.rand(2, 100), 8, return_complex=True).stride()
    (255, 1, 5)
    """
    check_tensors("stft", input, *(() if window is None else (window,)))
    if center and align_to_window is not None:
        raise LayoutError("argument", "stft: only frames that are not centered are aligned to the window")
    if center:
        ndim = input.ndim
        extended = view_ops.view(input, (1,) * (3 - ndim) + input._layout.shape)
        extended = pad(extended, [int(n_fft // 2)] * 2, pad_mode)
        shape = extended._layout.shape
        input = view_ops.view(extended, shape[-ndim:] if ndim else shape)
    n, hop, length = _lengths("stft", n_fft, hop_length, win_length)
    if return_complex is None:
        if not input.dtype.is_complex and (window is None or not window.dtype.is_complex):
            raise LayoutError("argument", "stft: return_complex must be given for real numbers")
        return_complex = True
    if input.dtype.category not in ("float", "complex"):
        raise LayoutError("dtype", f"stft: floating point or complex numbers are needed, got {input.dtype}")
    if input.ndim not in (1, 2):
        raise LayoutError("dimension", f"stft: one or two dimensions are needed, got shape {input._layout.shape}")
    frames = view_ops.unsqueeze(input, 0) if input.ndim == 1 else input
    given = frames._layout.shape[1]
    if not 0 < n <= given:
        raise LayoutError("size", f"stft: frames of {n} for a signal of {given}")
    if hop <= 0 or not 0 < length <= n:
        raise LayoutError("size", f"stft: hop {hop} and window of {length} for frames of {n}")
    if window is not None and window._layout.shape != (length,):
        raise LayoutError("size", f"stft: the window must have the shape ({length},), got {window._layout.shape}")
    frames = _product(_frames(frames, n, hop, length, align=not center and bool(align_to_window)), window, n, length)
    out = _transformed(frames, n, normalized, onesided)
    metadata.transpose_(out, 1, 2)
    if input.ndim == 1:
        metadata.squeeze_(out, 0)
    return out if return_complex else view_as_real(out)


def _lengths(name: str, n_fft: Any, hop_length: Any, win_length: Any) -> tuple[int, int, int]:
    n = as_int(n_fft, "n_fft")
    hop = n >> 2 if hop_length is None else as_int(hop_length, "hop_length")
    return n, hop, n if win_length is None else as_int(win_length, "win_length")


def _frames(signal: "Tensor", n: int, hop: int, length: int, *, align: bool) -> "Tensor":
    """All frames of a signal, as a view of it; aligned ones begin where their window does."""
    whole = signal._layout.shape[1]
    count = 1 + (whole - (length if align else n)) // hop
    if align:
        signal = constant_pad_nd(signal, [(n - length) // 2] * 2)
    step, each = signal._layout.strides
    return slicing_ops.as_strided(signal, (signal._layout.shape[0], count, n), (step, hop * each, each))


def _product(frames: "Tensor", window: "Tensor | None", n: int, length: int) -> "Tensor":
    if length < n:
        window = fill_(zeros(length, dtype=frames.dtype), 1) if window is None else window
        window = _centered(window, n, length)
    return frames if window is None else arithmetic.mul(frames, window)


def _centered(window: "Tensor", n: int, length: int) -> "Tensor":
    left = (n - length) // 2
    return constant_pad_nd(window, [left, n - length - left])


def _transformed(frames: "Tensor", n: int, normalized: Any, onesided: bool | None) -> "Tensor":
    is_complex = frames.dtype.is_complex
    half = not is_complex if onesided is None else bool(onesided)
    if is_complex and half:
        raise LayoutError("argument", "stft: complex numbers have no one-sided transform")
    _need_transform("stft", frames)
    scale = 1 / float(np.sqrt(n)) if normalized else 1.0
    if is_complex:
        return fft._c2c(frames, (2,), scale, True)
    return fft._r2c(frames, (2,), scale, onesided=half)


def _need_transform(name: str, x: "Tensor") -> None:
    if x.dtype not in (dt.float32, dt.float64, dt.complex64, dt.complex128):
        raise LayoutError("dtype", f"{name}: PyTorch does not transform {x.dtype}")


def istft(
    input: "Tensor", n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: "Tensor | None" = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
    length: int | None = None, return_complex: bool = False,
) -> "Tensor":  # fmt: skip
    """The signal that frames are transforms of: each transformed back, added up, divided by the sum of the windows.

    Shapes: (b, frequencies, frames) or (frequencies, frames) to (b, n) or (n), a view of the former.
    Raises: dtype, argument, size, dimension (RuntimeError, IndexError). Source: torch 2.13.
    """
    check_tensors("istft", input, *(() if window is None else (window,)))
    n, hop, size = _lengths("istft", n_fft, hop_length, win_length)
    if not input.dtype.is_complex:
        raise LayoutError("dtype", f"istft: complex numbers are needed, got {input.dtype}")
    pairs = view_as_real(resolve_conj(input))
    if pairs.ndim < 3:
        raise LayoutIndexError("dimension", f"istft: frequencies and frames are needed, got {input._layout.shape}")
    bins, count = pairs._layout.shape[-3:-1]
    if not pairs.numel() or pairs.ndim not in (3, 4):
        raise LayoutError("size", f"istft: two or three dimensions with elements, got shape {input._layout.shape}")
    half = bins != n if onesided is None else bool(onesided)
    if bins != (n // 2 + 1 if half else n):
        raise LayoutError("size", f"istft: {bins} frequencies for frames of {n}")
    if not 0 < hop <= size <= n:
        raise LayoutError("size", f"istft: hop {hop} and window of {size} for frames of {n}")
    if window is not None and window._layout.shape != (size,):
        raise LayoutError("size", f"istft: the window must have the shape ({size},), got {window._layout.shape}")
    weights = ones(size, dtype=pairs.dtype) if window is None else window
    if size != n:
        weights = _centered(weights, n, size)
    frames = _signals(pairs, window, n, half=half, normalized=normalized, return_complex=return_complex)
    whole = n + hop * (count - 1)
    frames = arithmetic.mul(frames, view_ops.view(weights, (1, 1, n)))
    signal = _added(frames, whole, hop)
    envelope = _added(view_ops.expand(powers.pow(weights, 2), (1, count, n)), whole, hop)
    start = n // 2 if center else 0
    end = start + as_int(length, "length") if length is not None else -(n // 2) if center else whole
    signal, envelope = (slice_view(t, 1, start, end) for t in (signal, envelope))
    # Compared in the envelope's dtype: in float16 no sum of windows is too small.
    if values(pointwise_ops.lt(extremes.min(arithmetic.abs(envelope)), 1e-11)).item():
        raise LayoutError("argument", "istft: the windows leave out a part of the signal")
    result = division.div(signal, envelope)
    if pairs.ndim == 3:
        result = view_ops.squeeze(result, 0)
    return constant_pad_nd(result, [0, end - whole]) if end > whole else result


def _signals(
    pairs: "Tensor", window: "Tensor | None", n: int, *, half: bool, normalized: Any, return_complex: Any
) -> "Tensor":
    """Frames of the signal, from their transforms: (b, frames, n)."""
    if pairs.ndim == 3:
        pairs = view_ops.unsqueeze(pairs, 0)
    pairs = view_ops.transpose(pairs, 1, 2)
    layout = pairs._layout
    even = all(s % 2 == 0 for s in layout.strides[:-1]) and layout.strides[-1] == 1 and layout.offset % 2 == 0
    bins = view_as_complex(pairs if even else clone(pairs))
    scale = 1 / float(np.sqrt(n)) if normalized else 1 / n
    if return_complex:
        if half:
            raise LayoutError("argument", "istft: complex numbers have no one-sided transform")
        _need_transform("istft", bins)
        return fft._c2c(bins, (2,), scale, False)
    if window is not None and window.dtype.is_complex:
        raise LayoutError("argument", "istft: complex windows make complex signals")
    if not half:
        bins = slice_view(bins, -1, 0, n // 2 + 1)
    _need_transform("istft", bins)
    return fft._c2r(bins, 2, n, scale)


def _added(frames: "Tensor", whole: int, hop: int) -> "Tensor":
    """Frames (b, count, n) added up where they overlap: (b, whole), row-major."""
    a = wide(frames)
    batch, count, n = a.shape
    found: Any = np.zeros((batch, whole), a.dtype)
    magnitude = np.zeros((batch, whole))
    for k in range(count):
        place = slice(k * hop, k * hop + n)
        found[:, place] += a[:, k]
        magnitude[:, place] += np.abs(a[:, k])
    return finish(found, frames.dtype, frames, magnitude=magnitude, terms=count)
