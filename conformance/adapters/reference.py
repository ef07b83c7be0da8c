"""The oracle: the reference implementation, an adapter like any other, which also knows what PyTorch leaves open."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from stridecheck import __version__, reference_impl

from ..capabilities import FEATURES, Capabilities
from ..discovery import UnknownAdapter
from ..execute import OracleError
from ..program import ITEMSIZES
from .torch_style import TorchStyle

DTYPES = tuple(ITEMSIZES)


class Reference(TorchStyle):
    """The reference implementation in NumPy and Numba."""

    name = "reference"
    capabilities = Capabilities(frozenset(DTYPES), frozenset(FEATURES) - {"negative-strides"}, exact_errors=True)

    def __init__(self) -> None:
        super().__init__(reference_impl, DTYPES)

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"stridecheck": __version__}

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

    def error_kind(self, error: Exception) -> str | None:
        """The kind that the oracle's errors carry; an error without one is a bug of the oracle, no expectation."""
        kind: str | None = getattr(error, "kind", None)
        if kind is None and _is_pythons_own(error):
            return "argument"
        if kind is None:
            raise OracleError(f"{type(error).__name__}: {error}") from error
        return kind


def _is_pythons_own(error: Exception) -> bool:
    """Whether a call was refused before the oracle was entered: it fits no signature, or there is no such attribute."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    inside = place is not None and place.tb_frame.f_globals.get("__name__", "").startswith(reference_impl.__name__)
    return isinstance(error, (TypeError, AttributeError)) and not inside


@lru_cache(maxsize=1)
def adapter(variant: str = "") -> Reference:
    """The adapter for `reference`, which has no variants; the same object each time."""
    if variant:
        raise UnknownAdapter(f"reference has no variant {variant!r}")
    return Reference()
