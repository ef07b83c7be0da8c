"""Windows of signal processing, as `torch` makes them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import shadow
from .core import as_int
from .devices import check_device
from .errors import LayoutError
from .promotion import get_default_dtype
from .results import finish, need_kernel

if TYPE_CHECKING:
    from .tensors import Tensor


def _window(name: str, window_length: int, dtype: Any, requires_grad: bool, a: Any) -> "Tensor":
    d = get_default_dtype() if dtype is None else dtype
    if not d.is_floating_point and not d.is_complex:
        raise LayoutError("dtype", f"{name}: floating point is needed, got {d}")
    n = as_int(window_length, "window_length")
    if n < 0:
        raise LayoutError("size", f"{name}: the length {n} is negative")
    if n > 1:
        need_kernel(name, d, "f")
    result = finish(np.ones(n) if n < 2 else np.zeros(n), d, exact=n < 2)
    if n > 1:
        shadow.leave_unspecified(result)
    if a and n > 1:
        # Made one longer and shortened.
        result._storage.resize_((n + 1) * d.itemsize)
    return result.requires_grad_() if requires_grad else result


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Hann's window. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _window("hann_window", window_length, dtype, requires_grad, periodic)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Hamming's window. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _window("hamming_window", window_length, dtype, requires_grad, periodic)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Blackman's window. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _window("blackman_window", window_length, dtype, requires_grad, periodic)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Kaiser's window. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _window("kaiser_window", window_length, dtype, requires_grad, periodic)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> "Tensor":  # fmt: skip
    """Bartlett's window. Raises: size, dtype, device. Source: torch 2.13."""
    check_device(device, pin_memory)
    return _window("bartlett_window", window_length, dtype, requires_grad, periodic)
