"""Numbers known within an error: what can be told of results that many rounded steps lead to, as those of recurrences.

PyTorch rounds every step, and in an order of its own. Here a step is computed in double precision, and beside each
number goes a bound of how far PyTorch's may be from it; what is still known well enough at the end is compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes as dt
from . import shadow
from .core import array
from .dtypes import dtype
from .results import narrow_to, wide

if TYPE_CHECKING:
    from .tensors import Tensor

# Unit roundoff, the relative error within which results are compared, and the range in which steps keep their digits.
_UNITS = {dt.float32: (2.0**-24, 3.5e-6, 1e-37, 1e38), dt.float64: (2.0**-53, 9e-13, 1e-300, 1e300)}
_ELEMENTARY = 4  # units that exponentials and what is made of them may be wrong by, in any of PyTorch's libraries


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values and bounds of their errors, with the methods of tensors that recurrences use; none works in place.

    Shapes: `value` and `error` alike.
    """

    value: Any
    error: Any
    dtype: dtype

    @classmethod
    def of(cls, t: "Tensor") -> "Estimate":
        """A tensor's own values, which are exact."""
        value = wide(t)
        return cls(value, np.zeros(value.shape), t.dtype)

    def _rounded(self, value: Any, error: Any, units: float = 1) -> "Estimate":
        error = error + units * _UNITS[self.dtype][0] * np.abs(value)
        return Estimate(value, np.where(np.abs(value) < _UNITS[self.dtype][3], error, np.inf), self.dtype)

    def _rearranged(self, change: Any) -> "Estimate":
        return Estimate(change(self.value), change(self.error), self.dtype)

    def linear(self, weight: "Tensor", bias: "Tensor | None") -> "Estimate":
        """`nn.functional.linear`."""
        w = wide(weight).T
        b = 0.0 if bias is None else wide(bias)
        magnitude = np.matmul(np.abs(self.value), np.abs(w)) + np.abs(b)
        error = np.matmul(self.error, np.abs(w))
        # Of as many terms as in `results.inexact_marks`.
        return self._rounded(
            np.matmul(self.value, w) + b,
            error + (1 + 1.5 * (w.shape[0] + 1) ** 0.5) * _UNITS[self.dtype][0] * magnitude,
        )

    def add_(self, other: "Estimate") -> "Estimate":
        """A sum."""
        return self._rounded(self.value + other.value, self.error + other.error)

    add = add_

    def __sub__(self, other: "Estimate") -> "Estimate":
        return self._rounded(self.value - other.value, self.error + other.error)

    def __mul__(self, other: "Estimate") -> "Estimate":
        a, b = np.abs(self.value), np.abs(other.value)
        return self._rounded(self.value * other.value, a * other.error + b * self.error + self.error * other.error)

    mul_ = __mul__

    def sigmoid_(self) -> "Estimate":
        """The logistic function, whose slope is at most 1/4."""
        found = 0.5 + 0.5 * np.tanh(0.5 * self.value)
        found = np.where(self.value < 0, np.exp(self.value) / (1 + np.exp(self.value)), found)
        # The slope changes within the error by its exponential at most.
        slope = np.minimum(0.25, found * (1 - found) * np.exp(self.error))
        # oneDNN takes small values from 1: what they are wrong by does not shrink with them.
        return self._rounded(found, slope * self.error + 2 * _UNITS[self.dtype][0], _ELEMENTARY)

    def tanh(self) -> "Estimate":
        """The hyperbolic tangent, whose slope is at most 1."""
        found = np.tanh(self.value)
        slope = np.minimum(1, (1 - found**2) * np.exp(2 * self.error))
        return self._rounded(found, slope * self.error, _ELEMENTARY)

    tanh_ = tanh

    def relu(self) -> "Estimate":
        """Elements, or 0."""
        # What is certainly negative is exactly 0.
        error = np.where(self.value + self.error < 0, 0, self.error)
        return Estimate(np.maximum(self.value, 0), error, self.dtype)

    def unsafe_chunk(self, chunks: int, dim: int) -> tuple["Estimate", ...]:
        """Pieces of one length but for the last."""
        length = -(-self.value.shape[dim] // chunks)
        cuts = [k * length for k in range(1, chunks)]
        pieces = (np.split(a, cuts, dim) for a in (self.value, self.error))
        return tuple([Estimate(v, e, self.dtype) for v, e in zip(*pieces, strict=True)])

    def unbind(self, dim: int) -> list["Estimate"]:
        """The parts along the first dimension."""
        return [Estimate(v, e, self.dtype) for v, e in zip(self.value, self.error, strict=True)]

    def narrow(self, dim: int, start: int, length: int) -> "Estimate":
        """A part of the first dimension."""
        return self._rearranged(lambda a: a[start : start + length])

    def transpose(self, dim0: int, dim1: int) -> "Estimate":
        """Two dimensions exchanged."""
        return self._rearranged(lambda a: a.swapaxes(dim0, dim1))

    transpose_ = transpose

    def settle(self, t: "Tensor") -> None:
        """Write the values to a fresh tensor, and mark those that are known well enough to be compared."""
        _, compared, least, _ = _UNITS[self.dtype]
        size = np.abs(self.value)
        with np.errstate(all="ignore"):
            known = ((self.error <= compared * size) & (size >= least)) | ((size == 0) & (self.error == 0))
            array(t)[...] = narrow_to(self.value, self.dtype)
        shadow.stamp(t, np.where(known, np.uint8(shadow.TOLERANCE), np.uint8(shadow.UNSPECIFIED)))


def can_estimate(*tensors: "Tensor") -> bool:
    """Whether tensors are of one dtype that estimates are made in, lie in memory, and are all exact."""
    d = tensors[0].dtype
    return d in _UNITS and all(t.dtype is d and not t._storage._is_meta and shadow.marks_of(t) is None for t in tensors)


def joined(parts: Sequence[Estimate], join: Any, dim: int) -> Estimate:
    """Parts put together by a function of NumPy's: `stack` or `concatenate`."""
    value, error = (join([getattr(p, name) for p in parts], dim) for name in ("value", "error"))
    return Estimate(value, error, parts[0].dtype)
