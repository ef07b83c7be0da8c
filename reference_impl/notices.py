"""Warnings that PyTorch gives, most of them once in a process."""

import warnings
from typing import Final

from numpy.exceptions import ComplexWarning

TYPED: Final = "TypedStorage is deprecated: UntypedStorage will be the only class of storages (facts 7.4.1)"
QUANTISED: Final = "quantised dtypes are deprecated (facts 10.1.1)"
READ_ONLY: Final = "memory that is not writable, and the tensor over it is (facts 8.1.3)"
DEVICE: Final = "the argument 'device' is deprecated (facts 7.8.4)"
DISCARDS: Final = "NumPy is handed the real part of complex numbers only (facts 8.2.4)"
REAL_PART: Final = "a complex number becomes real: its imaginary part is discarded (facts 5.2.4)"
KEEPS_GRAD: Final = "asarray: what requires_grad is not told is taken from the tensor (facts 8.1.7)"

given: Final[set[str]] = set()
"""What has been said already."""


def warn_once(notice: str) -> None:
    """Give a notice, the first time only: NumPy's own as it warns, others as a UserWarning.

    Source: facts 7.4.1, 8.1.3, 8.2.4 and 10.1.1, torch 2.13.
    """
    if notice not in given:
        given.add(notice)
        warnings.warn(notice, ComplexWarning if notice is DISCARDS else UserWarning, stacklevel=4)


def warn_of_device(name: str) -> None:
    """Say that a method's argument `device` is deprecated, each time. Source: facts 7.8.4, torch 2.13."""
    if DEVICE not in given:
        warnings.warn(f"{name}: {DEVICE}", DeprecationWarning, stacklevel=4)


def silence() -> None:
    """Take all notices for given."""
    given.update((TYPED, QUANTISED, READ_ONLY, DISCARDS, REAL_PART, KEEPS_GRAD, DEVICE))
