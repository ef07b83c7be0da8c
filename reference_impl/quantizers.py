"""How numbers become integer codes and back: one scale for a tensor, or one for each index of a dimension."""

from math import prod
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from . import dtypes as dt
from .core import build, values
from .dtypes import dtype
from .errors import LayoutError, LayoutIndexError, UnspecifiedError
from .formats import Named
from .layout import Layout, Shape, contiguous_strides
from .shadow import marks_of
from .slicing import select, slice_dim

# The integers that codes are handed out as.
CODES: Final = {
    dt.quint8: dt.uint8, dt.quint4x2: dt.uint8, dt.quint2x4: dt.uint8, dt.qint8: dt.int8, dt.qint32: dt.int32,
}  # fmt: skip
LIMITS: Final = {
    dt.quint8: (0, 255), dt.quint4x2: (0, 15), dt.quint2x4: (0, 3), dt.qint8: (-128, 127),
    dt.qint32: (-(2**31), 2**31 - 1),
}  # fmt: skip
# Zero points may be any number of the integers that the codes are kept in.
_POINTS: Final = {**LIMITS, dt.quint4x2: (0, 255), dt.quint2x4: (0, 255)}


class qscheme(Named):  # noqa: N801 - PyTorch's own name
    """A way of quantising; the instances in this module are all that the reference knows."""

    __slots__ = ()


per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")


def _in_turn(t: Any) -> Any:
    """Numbers as they lie in memory: PyTorch's loops over channels know of no strides."""
    if t.is_contiguous():
        return values(t)
    plain = Layout(t._layout.shape, contiguous_strides(t._layout.shape), t._layout.offset)
    if plain.required_bytes(t.dtype.itemsize) > len(t._storage):
        raise UnspecifiedError("scales or zero points that were given strides are read past the storage's end")
    return values(build(t._storage, plain, t.dtype))


class PerTensor(NamedTuple):
    """One scale and zero point for all elements."""

    scale: float
    zero_point: int

    @property
    def scheme(self) -> qscheme:
        """One way for the whole tensor."""
        return per_tensor_affine

    def spread(self, shape: Shape) -> tuple[Any, Any]:
        """Scales and zero points that broadcast to a shape."""
        return np.float32(self.scale), np.float32(self.zero_point)

    @property
    def known(self) -> bool:
        """Whether every digit of the parameters is specified."""
        return True

    @property
    def whole_points(self) -> list[int]:
        """The zero points that must be codes."""
        return [self.zero_point]

    def says_the_same(self, other: "Quantizer") -> bool:
        """Whether another quantizer gives the same numbers to the same codes."""
        return isinstance(other, PerTensor) and self == other


class PerChannel(NamedTuple):
    """A scale and zero point for each index of a dimension, as two tensors that are handed out as they are.

    Shapes: both (channels,); scales float64 with whole zero points (int64), else both float32.
    """

    scales: Any
    zero_points: Any
    axis: int

    @property
    def exact(self) -> bool:
        """Whether the zero points are whole numbers."""
        return not self.zero_points.dtype.is_floating_point

    @property
    def scheme(self) -> qscheme:
        """Which of the two ways by channel."""
        return per_channel_affine if self.exact else per_channel_affine_float_qparams

    def spread(self, shape: Shape) -> tuple[Any, Any]:
        """Scales and zero points that broadcast to a shape.

        Raises: size (RuntimeError) where there are more or fewer channels.
        """
        within = 0 <= self.axis < len(shape)
        count = self.scales.numel()
        if not within or shape[self.axis] != count:
            found = shape[self.axis] if within else "no"
            raise LayoutError("size", f"{count} scales for {found} channels (facts 10.1.6)")
        self._check_counts()
        along = tuple(count if d == self.axis else 1 for d in range(len(shape)))
        with np.errstate(over="ignore"):
            scales, points = (_in_turn(t).astype(np.float32).reshape(along) for t in (self.scales, self.zero_points))
        return scales, points

    @property
    def known(self) -> bool:
        """Whether every digit of the parameters is specified: who holds these tensors may have written to them."""
        return marks_of(self.scales) is None and marks_of(self.zero_points) is None

    @property
    def whole_points(self) -> list[int]:
        """The zero points that must be codes: none where they are floats."""
        return _in_turn(self.zero_points).reshape(-1).tolist() if self.exact else []

    def checked(self) -> "PerChannel":
        """The quantizer itself, where something is made that has it: who holds its tensors may have changed them.

        Raises: size (RuntimeError) where they have no single dimension, or more or fewer zero points than scales.
        """
        if self.scales.ndim != 1 or self.zero_points.ndim != 1:
            raise LayoutError("size", f"scales of shape {tuple(self.scales.shape)}, not one a channel (facts 10.1.6)")
        self._check_counts()
        return self

    def _check_counts(self) -> None:
        if self.scales.numel() != self.zero_points.numel():
            found = f"{self.scales.numel()} scales with {self.zero_points.numel()} zero points"
            raise LayoutError("size", f"{found} (facts 10.1.6)")

    def single(self) -> PerTensor:
        """The quantizer of the only channel, its zero point cut off to a whole number.

        Raises: overflow (RuntimeError) where its zero point has no 64 bits.
        """
        point = values(self.zero_points).item()
        if not -(2.0**63) <= point < 2.0**63:
            raise LayoutError("overflow", f"the zero point {point} is no integer of 64 bits (facts 10.1.6)")
        return PerTensor(float(values(self.scales).item()), int(point))

    def part(self, kept: int | slice) -> "PerChannel":
        """The quantizer of one or some channels: over the same memory, though no view that is recorded; in order.

        Raises: dimension, index (IndexError) where there is no such channel.
        """
        rows = []
        for t in (self.scales, self.zero_points):
            if not t.ndim:
                raise LayoutIndexError("dimension", "no part can be had of a scale without dimensions (facts 10.1.6)")
            layout = (
                slice_dim(t._layout, 0, kept.start, kept.stop, kept.step or 1)
                if isinstance(kept, slice)
                else select(t._layout, 0, kept)
            )
            rows.append(build(t._storage, layout, t.dtype).contiguous())
        return PerChannel(rows[0], rows[1], self.axis)

    def says_the_same(self, other: "Quantizer") -> bool:
        """Whether another quantizer gives the same numbers to the same codes."""
        return (
            isinstance(other, PerChannel)
            and (self.axis, self.scheme) == (other.axis, other.scheme)
            and np.array_equal(values(self.scales), values(other.scales))
            and np.array_equal(values(self.zero_points), values(other.zero_points))
        )


class Unknown:
    """The quantizer of fresh codes that were given none: whatever is asked of it is refused.

    Raises: dtype (RuntimeError). Source: facts 10.1.20, torch 2.13.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise LayoutError("dtype", f"{name} of codes without a quantizer (facts 10.1.20)")

    def __iter__(self) -> NoReturn:
        raise LayoutError("dtype", "codes without a quantizer (facts 10.1.20)")


UNKNOWN: Final = Unknown()
Quantizer = PerTensor | PerChannel | Unknown


def check_zero_points(points: Any, d: dtype) -> None:
    """Refuse zero points that are no codes.

    Raises: size (RuntimeError). Source: facts 10.1.9, torch 2.13.
    """
    low, high = _POINTS[d]
    for point in points:
        if point > high or point < low:
            raise LayoutError("size", f"zero point {point} is outside [{low}, {high}] of {d} (facts 10.1.9)")


class Codes(NamedTuple):
    """Codes of numbers, and which of them nobody specifies. Shapes: both as the numbers."""

    codes: Any
    unknown: Any


def encode(values: Any, q: Quantizer, d: dtype) -> Codes:
    """Codes of float32 values: scaled, shifted, rounded to even, kept inside the dtype's range.

    The zero point is added before rounding, except for the packed dtypes under one scale. Floating-point zero points
    and packed codes go through integers: the first keep the lowest 32 bits and take a scale of 0 for 1.

    Source: facts 10.1.2 and 10.1.11, torch 2.13.

    >>> encode(np.float32([0.25, 300, -5]), PerTensor(0.5, 3), dt.quint8).codes.tolist()
    [4, 255, 0]
    """
    scale, zero_point = q.spread(np.shape(values))
    low, high = LIMITS[d]
    floating = isinstance(q, PerChannel) and not q.exact
    whole = d.pack > 1 or floating
    with np.errstate(all="ignore"):
        inverse = np.where(scale == 0, np.float32(1), np.float32(1) / scale) if floating else np.float32(1) / scale
        scaled = values * inverse
        late = d.pack > 1 and not floating
        rounded = np.rint(scaled).astype(np.float64) + zero_point if late else np.rint(scaled + zero_point)
        # NaN has no code; PyTorch's depends on the place in the loop. Past 64 bits C leaves the integer open.
        unknown = np.full(np.shape(rounded), not q.known) | np.isnan(rounded) | (whole & (np.abs(rounded) >= 2.0**63))
        rounded = np.where(unknown, high, rounded).astype(np.float64)
        if floating:
            rounded = rounded.astype(np.int64).astype(np.int32)
        codes = np.clip(rounded, low, high).astype(np.int64).astype(CODES[d].numpy)
    return Codes(codes, unknown)


def decode(codes: Any, q: Quantizer) -> Any:
    """The float32 values that codes stand for. Source: facts 10.1.2, torch 2.13.

    >>> decode(np.uint8([4, 255]), PerTensor(0.5, 3)).tolist()
    [0.5, 126.0]
    """
    scale, zero_point = q.spread(np.shape(codes))
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(q, PerChannel) and q.exact:  # by the scales as they are, in double precision
            scale = _in_turn(q.scales).reshape(np.shape(scale))
        if isinstance(q, PerTensor) and codes.dtype == np.int32:
            # The difference is one of integers, and wraps around as they do.
            codes, zero_point = (codes - np.int64(q.zero_point)).astype(np.int32), np.float32(0)
        return ((codes.astype(np.float32) - zero_point) * scale).astype(np.float32)


def packed_bytes(shape: Shape, d: dtype) -> int:
    """Bytes of a fresh storage: the last dimension is rounded up to whole bytes (facts 10.1.7).

    >>> packed_bytes((2, 5), dt.quint4x2)
    6
    """
    if not shape:
        return int(d.itemsize)
    return prod(shape[:-1]) * (-(-shape[-1] // d.pack)) * int(d.itemsize)


def pack(codes: Any, d: dtype, nbytes: int) -> Any:
    """Narrow codes in storage order, several to a byte, the first one in its lowest bits; padded with zeros.

    Units: bytes.

    >>> pack(np.uint8([1, 2, 3]), dt.quint4x2, 3).tolist()
    [33, 3, 0]
    """
    bits = 8 // d.pack
    flat = np.zeros(nbytes * d.pack, np.uint8)
    flat[: codes.size] = codes.reshape(-1) & ((1 << bits) - 1)
    result = np.zeros(nbytes, np.uint8)
    for i in range(d.pack):
        result |= flat[i :: d.pack] << np.uint8(bits * i)
    return result


def unpack(data: Any, d: dtype) -> Any:
    """The narrow codes of a storage's bytes, in order.

    >>> unpack(np.uint8([33, 3]), dt.quint4x2).tolist()
    [1, 2, 3, 0]
    """
    bits = 8 // d.pack
    mask = np.uint8((1 << bits) - 1)
    return np.stack([(data >> np.uint8(bits * i)) & mask for i in range(d.pack)], axis=-1).reshape(-1)
