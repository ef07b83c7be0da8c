"""`torch.signal.windows`: fresh row-major vectors, functions of a line of evenly spaced numbers.

PyTorch composes them in Python: a line in the window's dtype (`linspace`), then elementwise functions of it. So a
window has a history where gradients are wanted, and is a leaf where it is not computed: of lengths 0 and, for some, 1.
Source: torch/signal/windows/windows.py, 2.13.
"""

# ruff: noqa: N803 - PyTorch's own names

from collections.abc import Iterable
from math import pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes as dt
from ..constructors import empty, on_meta, ones, wants_meta
from ..core import as_int, values
from ..devices import default
from ..errors import Kind, LayoutTypeError, LayoutValueError
from ..formats import strided
from ..from_values import tensor
from ..grad_mode import is_grad_enabled
from ..promotion import get_default_dtype
from ..results import finish

if TYPE_CHECKING:
    from ..tensors import Tensor

_TERMS = 4
"""As many terms of a sum go as wrong as a line does, relative to its end that is farther from zero."""


def _checked(name: str, M: Any, dtype: Any, layout: Any) -> dt.dtype:
    d = get_default_dtype() if dtype is None else dtype
    try:
        negative = M < 0
    except TypeError:
        raise LayoutTypeError("argument", f"{name}: the length must be an int, got {type(M).__name__}") from None
    if negative:
        raise LayoutValueError("size", f"{name}: the length {M} is negative")
    if layout is not strided:
        raise LayoutValueError("argument", f"{name}: windows are strided, got layout {layout}")
    if d is not dt.float32 and d is not dt.float64:
        raise LayoutValueError("dtype", f"{name}: float32 or float64 is needed, got {d}")
    return d


def _positive(name: str, number: Any, *, or_zero: bool = False) -> None:
    try:
        refused = number < 0 or (number == 0 and not or_zero)
    except TypeError:
        raise LayoutTypeError("argument", f"{name} must be a number, got {type(number).__name__}") from None
    if refused:
        kind: Kind = "size" if or_zero else "argument"
        raise LayoutValueError(kind, f"{name} must {'not be negative' if or_zero else 'be positive'}")


def _line(M: Any, start: float, end: float) -> tuple[Any, float]:
    """Evenly spaced numbers with both ends, and how far from zero they reach."""
    return np.linspace(start, end, as_int(M, "M")), max(abs(start), abs(end))


def _computed(found: Any, magnitude: Any, d: dt.dtype, device: Any, requires_grad: bool) -> "Tensor":
    """A window with its history; `magnitude` is what one rounding of everything computed before is relative to."""
    meta = wants_meta(default[-1] if device is None else device)
    window = finish(found, d, magnitude=magnitude, terms=_TERMS, sums=False)
    window = on_meta(window) if meta else window
    window._has_fn = bool(requires_grad) and is_grad_enabled()
    return window


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None,
    layout: Any = strided, device: Any = None, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Exponential decay to both sides of a center, also called Poisson's window.

    Raises: size, argument, dtype (all ValueError), argument (TypeError), device. Source: torch 2.13.

    >>> exponential(3, tau=0.5).shape
    torch.Size([3])
    """
    d = _checked("exponential", M, dtype, layout)
    _positive("tau", tau)
    if sym and center is not None:
        raise LayoutValueError("argument", "exponential: a symmetric window has its center in the middle")
    if M == 0:
        return empty((0,), dtype=d, device=device, requires_grad=requires_grad)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    k, reach = _line(M, -center / tau, (-center + (M - 1)) / tau)
    found = np.exp(-np.abs(k))
    return _computed(found, found * (1 + reach), d, device, requires_grad)


def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Half a wave of the sine. Raises: as `hann`. Source: torch 2.13."""
    d = _checked("cosine", M, dtype, layout)
    if M == 0:
        return empty((0,), dtype=d, device=device, requires_grad=requires_grad)
    step = pi / (M + 1 if not sym and M > 1 else M)
    k, reach = _line(M, 0.5 * step, (M - 0.5) * step)
    return _computed(np.sin(k), np.abs(np.sin(k)) + reach * np.abs(np.cos(k)), d, device, requires_grad)


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """The bell curve of a standard deviation.

    Raises: size, argument, dtype (all ValueError), argument (TypeError), device. Source: torch 2.13.
    """
    d = _checked("gaussian", M, dtype, layout)
    _positive("std", std)
    if M == 0:
        return empty((0,), dtype=d, device=device, requires_grad=requires_grad)
    start, constant = -(M if not sym and M > 1 else M - 1) / 2.0, 1 / (std * sqrt(2))
    k, reach = _line(M, start * constant, (start + (M - 1)) * constant)
    found = np.exp(-(k**2))
    return _computed(found, found * (1 + k**2 + 2 * reach * np.abs(k)), d, device, requires_grad)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Kaiser's window: Bessel functions along half a circle of radius `beta`.

    Raises: size, argument, dtype (all ValueError), argument (TypeError), device. Source: torch 2.13.
    """
    d = _checked("kaiser", M, dtype, layout)
    _positive("beta", beta, or_zero=True)
    if M in (0, 1):
        make = ones if M else empty
        return make((int(M),), dtype=d, device=device, requires_grad=requires_grad)
    with np.errstate(all="ignore"):
        # Computed from a tensor, in the window's dtype from the beginning.
        b = float(d.numpy.type(beta))
        k, _ = _line(M, -b, min(b, -b + (M - 1) * (2 * b / (M - 1 if sym else M))))
        x = np.sqrt(np.maximum(b * b - k * k, 0))
        found = np.i0(x) / np.i0(b)
        # I0 of a root grows by I1(x) / 2x, less than both of these.
        growth = np.minimum(0.25, 0.5 / np.maximum(x, 1e-300)) * found
        magnitude = found + growth * (b * b + k * k + 2 * b * np.abs(k))
        if not np.i0(b) <= np.finfo(d.numpy).max:
            magnitude = np.full_like(found, np.inf)
    return _computed(found, magnitude, d, device, requires_grad)


def hamming(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Hamming's window: a raised cosine. Raises: as `hann`. Source: torch 2.13."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Hann's window: a cosine raised from zero.

    Raises: size, argument, dtype (all ValueError), argument (TypeError), device. Source: torch 2.13.

    >>> hann(5).dtype
    torch.float32
    """
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Blackman's window, of three cosines. Raises: as `hann`. Source: torch 2.13."""
    a = (0.42, 0.5, 0.08)
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Bartlett's window, a triangle. Raises: as `hann`. Source: torch 2.13."""
    d = _checked("bartlett", M, dtype, layout)
    if M in (0, 1):
        make = ones if M else empty
        return make((int(M),), dtype=d, device=device, requires_grad=requires_grad)
    k, reach = _line(M, -1, -1 + (M - 1) * (2 / (M - 1 if sym else M)))
    return _computed(1 - np.abs(k), np.full(k.shape, 1 + reach), d, device, requires_grad)


def general_cosine(
    M: Any, *, a: Iterable[Any], sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """A sum of cosines of alternating sign, with these coefficients.

    Raises: size, argument, dtype (all ValueError), argument (TypeError), device. Source: torch 2.13.

    >>> general_cosine(1, a=[0.5, 0.5]).tolist()
    [1.0]
    """
    d = _checked("general_cosine", M, dtype, layout)
    if M in (0, 1):
        make = ones if M else empty
        return make((int(M),), dtype=d, device=device, requires_grad=requires_grad)
    if not isinstance(a, Iterable):
        raise LayoutTypeError("argument", f"general_cosine: coefficients must be a list, got {type(a).__name__}")
    if not a:
        raise LayoutValueError("argument", "general_cosine: there are no coefficients")
    k, reach = _line(M, 0, (M - 1) * (2 * pi / (M - 1 if sym else M)))
    a_i = values(tensor([(-1) ** i * w for i, w in enumerate(a)], dtype=d)).astype(np.float64)[..., None]
    i = np.arange(len(a_i))[:, None]
    with np.errstate(all="ignore"):
        waves, slopes = np.cos(i * k), np.abs(np.sin(i * k)) * i * reach
        found, magnitude = (a_i * waves).sum(0), (np.abs(a_i) * (1 + slopes)).sum(0)
    return _computed(found, magnitude, d, device, requires_grad)


def general_hamming(
    M: Any, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """`alpha` less a cosine of the rest to one. Raises: as `hann`. Source: torch 2.13."""
    a = (alpha, 1.0 - alpha)
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def nuttall(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
    requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Nuttall's window, of four cosines. Raises: as `hann`. Source: torch 2.13."""
    a = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
