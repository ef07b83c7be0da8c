"""The oracle: the reference implementation, an adapter like any other, which also knows what PyTorch leaves open."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FrameType
from typing import Any

import numpy as np
from stridecheck.reference_impl import channels_last, channels_last_3d, contiguous_format, notices
from stridecheck.reference_impl.contiguity import is_contiguous_in
from stridecheck.reference_impl.core import CONJ, NEG, build, is_leaf, requires_grad
from stridecheck.reference_impl.dtypes import LACKING
from stridecheck.reference_impl.layout import Layout
from stridecheck.reference_impl.numpy_bridge import converted

from stridecheck import __version__, reference_impl

from ..capabilities import FEATURES, Capabilities
from ..discovery import UnknownAdapter
from ..idiom import TEMPLATE
from ..layout import extent
from ..program import ITEMSIZES, QUANTISED, Step
from ..protocol import OracleError, Undefined
from .torch_style import TorchStyle

DTYPES = (*ITEMSIZES, *QUANTISED)


@lru_cache(maxsize=1 << 14)
def _contiguity(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """One letter for each memory format, as observations have them."""
    formats = (contiguous_format, channels_last, channels_last_3d)
    return "".join(["T" if is_contiguous_in(shape, strides, format) else "F" for format in formats])


class Reference(TorchStyle):
    """The reference implementation in NumPy and Numba."""

    name = "reference"
    capabilities = Capabilities(
        frozenset(DTYPES) - LACKING, frozenset(FEATURES) - {"negative-strides"}, exact_errors=True
    )

    def __init__(self) -> None:
        super().__init__(reference_impl, DTYPES)
        # What PyTorch says once in a process is no part of what is observed.
        notices.silence()
        reference_impl.set_num_threads(1)  # as libraries under test are run

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
        if len(data):
            storage._bytes[:] = np.frombuffer(data, np.uint8)
        return storage

    # The oracle runs every program: what it is asked for after each step is read from where it stands. What comes of
    # it is what the methods that users call would say (a test compares the two).

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor over the storage, which `set_` would make longer where the layout does not fit."""
        found = self._dtypes[dtype]
        if extent(shape, strides, offset)[1] * found.itemsize > len(storage._bytes):
            return super().tensor(storage, dtype, shape, strides, offset)
        return build(storage, Layout(shape, strides, offset), found)

    def describe(self, x: Any) -> tuple[str, tuple[int, ...], tuple[int, ...], int, str, int | None, str | None]:
        """What the tensor says of itself."""
        layout = x._layout
        shape, strides = layout.shape, layout.strides
        return (
            self._name_of_dtype(x.dtype),
            shape,
            strides,
            layout.offset,
            _contiguity(shape, strides),
            x._versions[0],
            self.flags(x),
        )

    def flags(self, x: Any) -> str | None:
        """One letter for each flag that is set; None where PyTorch refuses to tell."""
        base = x._base
        if x._has_fn or (base is not None and (base._leaf_grad or base._has_fn)):
            text = "g" if requires_grad(x) else ""
            try:
                text += "l" if is_leaf(x) else ""
            except RuntimeError:
                return None
        else:  # no history, as most have none
            text = "gl" if x._leaf_grad else "l"
        if x._bits:
            text += "c" * bool(x._bits & CONJ) + "n" * bool(x._bits & NEG)
        return text if base is None else text + "v"

    def storage_of(self, x: Any) -> Any:
        """The storage object, the same one as long as it lives."""
        return x._storage

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes; none of what lies nowhere."""
        data = storage._bytes
        return data.tobytes() if type(data) is np.ndarray else b""

    def shadow_of(self, storage: Any) -> bytes | None:
        """Classes of the storage's bytes, None where all are exact."""
        shadow = storage._shadow
        return None if shadow is None else bytes(shadow)

    def file_of(self, storage: Any) -> str | None:
        """The path of the file that a storage is mapped from, whether or not what is written to it arrives there."""
        return None if storage._backing is None else storage._backing.filename

    def mark(self, storage: Any, shadow: bytes | None) -> None:
        """Note which bytes others that see them have left unspecified."""
        storage._shadow = None if shadow is None else np.frombuffer(bytearray(shadow), np.uint8)

    def quantizer_of(self, x: Any) -> str | None:
        """As of every library; None where the numbers are not specified to the last digit, or lie in no memory."""
        found, quantizer = super().quantizer_of(x), getattr(x, "_quantizer", None)
        return found if quantizer is None or (found != "unknown" and quantizer.known) else None

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
