"""pad and interpolate: in the format the input suggests (facts 4.4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .contiguity import suggested_format, suggested_strides
from .conversion import cast
from .copies import clone, scalar_array
from .core import as_int_list, from_array, recorded, values, view_of
from .errors import LayoutError, UnsupportedError
from .layout import Layout, contiguous_strides

if TYPE_CHECKING:
    from .tensors import Tensor


def pad(input: "Tensor", pad: Any, mode: str = "constant", value: Any = None) -> "Tensor":
    """A copy with its last dimensions lengthened, or shortened by negative counts.

    Units: `pad` holds pairs (before, after), the last dimension first.
    Raises: size, dimension, argument, dtype. Source: facts 4.4, torch 2.13.
    """
    counts = as_int_list(pad, "pad")
    if len(counts) % 2:
        raise LayoutError("size", f"pad: {len(counts)} counts are no pairs")
    if len(counts) > 2 * input.ndim:
        raise LayoutError("size", f"pad: {len(counts) // 2} pairs for {input.ndim} dimensions")
    pairs = [(counts[2 * i], counts[2 * i + 1]) for i in range(len(counts) // 2)]
    shape, strides, _ = input._layout
    pads = [(0, 0)] * (input.ndim - len(pairs)) + pairs[::-1]
    if mode == "constant":
        return _constant(input, pads, 0 if value is None else value)
    if value not in (None, 0):
        raise LayoutError("argument", f"pad: mode {mode!r} takes no value")
    modes = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in modes:
        raise UnsupportedError("argument", f"pad: unknown mode {mode!r}")
    if input.ndim - len(pairs) not in (1, 2):
        raise UnsupportedError("dimension", f"pad: mode {mode!r} with {len(pairs)} pairs for {input.ndim} dimensions")
    for (before, after), n in zip(pads, shape, strict=True):
        limit = n - 1 if mode == "reflect" else n
        if mode != "replicate" and (before > limit or after > limit):
            raise LayoutError("size", f"pad: mode {mode!r} cannot add {(before, after)} to a length of {n}")
        if n + before + after < 0:
            raise LayoutError("size", f"pad: a length of {n} cannot lose {(before, after)}")
    if mode != "circular" and all(n + b + e < 1 for (b, e), n in list(zip(pads, shape, strict=True))[-len(pairs) :]):
        raise LayoutError("size", f"pad: {pairs} leaves nothing of {shape}")
    d = input.dtype
    if d.category not in ("float", "complex") or d in dt.FLOAT8:
        if not (mode == "circular" or d is dt.int64):
            raise UnsupportedError("dtype", f"pad: PyTorch has no kernel for {d} in mode {mode!r}")
    a, marks = values(input), shadow.marks_of(input)
    grown = [(max(b, 0), max(e, 0)) for b, e in pads]
    cut = tuple(
        [slice(-min(b, 0), n + max(b, 0) + max(e, 0) + min(e, 0)) for (b, e), n in zip(pads, shape, strict=True)]
    )
    result: Any = np.pad(a, grown, mode=modes[mode])[cut]  # type: ignore[call-overload]
    known: Any = None if marks is None else np.pad(marks, grown, mode=modes[mode])[cut]  # type: ignore[call-overload]
    target = contiguous_strides(result.shape)
    if mode != "circular":
        target = suggested_strides(result.shape, suggested_format(shape, strides))
    out = _made(input, result, target, known)
    if mode == "circular":
        # PyTorch copies the inside and then every margin.
        out._versions[0] += 1 + sum(n > 0 for n in counts)
        if min(counts) < 0:
            # A margin beside one cut away is left as the memory was.
            shadow.stamp(out, shadow.UNSPECIFIED)
    return out


def _made(input: "Tensor", result: Any, strides: Any, marks: Any) -> "Tensor":
    out = from_array(result, input.dtype, strides)
    if marks is not None:
        shadow.stamp(out, marks)
    return recorded(out, input)


def _constant(input: "Tensor", pads: list[tuple[int, int]], value: Any) -> "Tensor":
    shape, strides, offset = input._layout
    new = tuple([n + b + e for n, (b, e) in zip(shape, pads, strict=True)])
    for n, length, pair in zip(shape, new, pads, strict=True):
        if length < 0:
            raise LayoutError("size", f"pad: a length of {n} cannot lose {pair}")
    kept = [(max(-b, 0), n - max(-e, 0)) for n, (b, e) in zip(shape, pads, strict=True)]
    if any(first > last for first, last in kept):
        raise LayoutError("size", f"pad: {pads} takes more than shape {shape} has")
    inner = Layout(
        tuple([last - first for first, last in kept]),
        strides,
        offset + sum(first * s for (first, _), s in zip(kept, strides, strict=True)),
    )
    source = view_of(input, inner)
    if all(b <= 0 and e <= 0 for b, e in pads):
        return recorded(clone(source), input)
    result = np.full(new, scalar_array(value, input.dtype), input.dtype.numpy)
    place = tuple([slice(max(b, 0), max(b, 0) + n) for (b, _), n in zip(pads, inner.shape, strict=True)])
    result[place] = values(source)
    marks = shadow.marks_of(source)
    known = None
    if marks is not None:
        known = np.zeros(new, np.uint8)
        known[place] = marks
    return _made(input, result, suggested_strides(new, suggested_format(shape, strides)), known)


def interpolate(
    input: "Tensor", size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> "Tensor":  # fmt: skip
    """The input resampled over its spatial dimensions: `nearest`, `linear` or `bilinear`.

    Raises: size, argument, dimension, dtype. Source: facts 4.4, torch 2.13.
    """
    from .errors import LayoutValueError

    spatial = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise LayoutValueError("argument", "interpolate: either size or scale_factor must be given")
    if mode == "nearest" and align_corners is not None:
        raise LayoutValueError("argument", "interpolate: align_corners goes with linear modes only")
    factors: list[float | None]
    if size is not None:
        lengths = list(size) if isinstance(size, (tuple, list)) else [size] * spatial
        factors = [None] * spatial
    else:
        given = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * spatial
        lengths = [int(np.floor(float(n) * f)) for n, f in zip(input._layout.shape[2:], given, strict=False)]
        factors = [None if recompute_scale_factor else float(f) for f in given]
    if len(lengths) != spatial:
        raise LayoutValueError("size", f"interpolate: {len(lengths)} sizes for {spatial} spatial dimensions")
    if {"nearest": spatial, "linear": 1, "bilinear": 2}.get(mode) != spatial or spatial not in (1, 2, 3):
        raise UnsupportedError("dimension", f"interpolate: mode {mode!r} for {input.ndim} dimensions")
    if any(n <= 0 for n in lengths) or any(n == 0 for n in input._layout.shape[1:]):
        raise LayoutError("size", f"interpolate: from {input._layout.shape[2:]} to {tuple(lengths)}")
    d = input.dtype
    if (d.category != "float" and d is not dt.uint8) or d in dt.FLOAT8:
        raise UnsupportedError("dtype", f"interpolate: PyTorch has no kernel for {d}")
    a = values(input)
    marks = shadow.marks_of(input)
    if mode == "nearest":
        for k, (n, f) in enumerate(zip(lengths, factors, strict=True)):
            old = a.shape[2 + k]
            scale = np.float32(1.0 / f) if f is not None else np.float32(old) / np.float32(n)
            at = np.minimum(np.floor(np.arange(n, dtype=np.float32) * scale).astype(np.int64), old - 1)
            a = np.take(a, at, 2 + k)
            marks = None if marks is None else np.take(marks, at, 2 + k)
        result = a
    else:
        result = a.astype(np.float64)
        for k, (n, f) in enumerate(zip(lengths, factors, strict=True)):
            result = _linear(result, 2 + k, n, f, bool(align_corners))
        result = cast(np.rint(result) if d.category == "int" else result, dt.float64, d)
        tainted = marks is not None
        marks = np.full(
            result.shape, shadow.UNSPECIFIED if tainted or d.category == "int" else shadow.TOLERANCE, np.uint8
        )
    return _made(input, result, suggested_strides(result.shape, suggested_format(*input._layout[:2])), marks)


def _linear(a: Any, axis: int, n: int, factor: float | None, align: bool) -> Any:
    old = a.shape[axis]
    if align:
        at = np.arange(n) * ((old - 1) / (n - 1) if n > 1 else 0.0)
    else:
        scale = 1.0 / factor if factor is not None else old / n
        at = np.maximum((np.arange(n) + 0.5) * scale - 0.5, 0)
    low = np.minimum(np.floor(at).astype(np.int64), old - 1)
    high = np.minimum(low + 1, old - 1)
    weight = (at - low).reshape([-1 if k == axis else 1 for k in range(a.ndim)])
    return np.take(a, low, axis) * (1 - weight) + np.take(a, high, axis) * weight
