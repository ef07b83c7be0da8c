"""The oracle: the reference implementation, an adapter like any other, which also knows what PyTorch leaves open."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from types import FrameType
from typing import Any

import numpy as np
from stridecheck.reference_impl import notices
from stridecheck.reference_impl.numpy_bridge import converted

from stridecheck import __version__, reference_impl

from ..capabilities import FEATURES, Capabilities
from ..discovery import UnknownAdapter
from ..idiom import TEMPLATE
from ..program import ITEMSIZES, QUANTISED, Step
from ..protocol import OracleError, Undefined
from .torch_style import TorchStyle

DTYPES = (*ITEMSIZES, *QUANTISED)


class Reference(TorchStyle):
    """The reference implementation in NumPy and Numba."""

    name = "reference"
    capabilities = Capabilities(frozenset(DTYPES), frozenset(FEATURES) - {"negative-strides"}, exact_errors=True)

    def __init__(self) -> None:
        super().__init__(reference_impl, DTYPES)
        # What PyTorch says once in a process is no part of what is observed.
        notices.silence()

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"stridecheck": __version__}

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """As every library's in this style; NumPy's conversions are done without its warnings."""
        return converted if step.op == "ndarray.astype" else super().operation(step)

    def storage(self, data: Any, backing: str) -> Any:
        """An owned storage is allocated and filled, every byte specified; a guarded one is the buffer itself."""
        if backing == "guarded" and len(data):
            return reference_impl.UntypedStorage._wrap(data)
        storage = reference_impl.UntypedStorage._allocate(len(data))
        ctypes.memmove(storage.data_ptr(), bytes(data), len(data))
        return storage

    def shadow_of(self, storage: Any) -> bytes | None:
        """Classes of the storage's bytes, None where all are exact."""
        shadow = storage._shadow
        return None if shadow is None else bytes(shadow)

    def mark(self, storage: Any, shadow: bytes | None) -> None:
        """Note which bytes others that see them have left unspecified."""
        storage._shadow = None if shadow is None else np.frombuffer(bytearray(shadow), np.uint8)

    def quantizer_of(self, x: Any) -> str | None:
        """As of every library; None where the numbers are not specified to the last digit."""
        return super().quantizer_of(x) if getattr(x, "_quantizer", None) is None or x._quantizer.known else None

    def error_kind(self, error: Exception) -> str | None:
        """The kind that the oracle's errors carry; an error of its own without one is a bug, no expectation.

        Raises
        ------
        Undefined
            PyTorch does not raise here: its process ends, or what it does depends on rounding.
        """
        if isinstance(error, reference_impl.errors.UnspecifiedError):
            raise Undefined(str(error)) from error
        kind: str | None = getattr(error, "kind", None)
        if getattr(error, "fatal", False):
            raise Undefined(f"PyTorch's process ends: {error}") from error
        if kind is None:
            # Refused before the oracle was entered: it fits no signature, or is NumPy's or Python's own to answer.
            frame = _raised_in(error)
            inside = frame is not None and frame.f_globals.get("__name__", "").startswith(reference_impl.__name__)
            if isinstance(error, (TypeError, AttributeError)) and not inside:
                return "argument"
            if frame is not None and frame.f_code.co_filename == TEMPLATE:
                return None
            raise OracleError(f"{type(error).__name__}: {error}") from error
        return kind


def _raised_in(error: Exception) -> FrameType | None:
    """The innermost frame of Python's that an error was raised in."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return None if place is None else place.tb_frame


@lru_cache(maxsize=1)
def adapter(variant: str = "") -> Reference:
    """The adapter for `reference`, which has no variants; the same object each time."""
    if variant:
        raise UnknownAdapter(f"reference has no variant {variant!r}")
    return Reference()
