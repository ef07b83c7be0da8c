"""What an adapter is: the functions that drive one library, and how a run ends that cannot go on.

Standard library only: adapters in foreign environments are written against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .observation import Observation
from .program import Step


class Unsupported(Exception):
    """Raised by an adapter that finds out while running that its library does not claim an operation.

    `seen` has what was observed of a program all the same, the inputs first; the steps that were left out are skipped.
    """

    seen: Sequence[Observation] = ()


class Undefined(Unsupported):
    """What a program does next is not defined: it looks at memory that is gone, or ends PyTorch's process."""


class OracleError(Exception):
    """The oracle itself went wrong: it raised something that is no answer of PyTorch's."""


class NeverMade(Exception):
    """A step uses a value that a failed step before it should have made."""


class ProtocolError(Exception):
    """An adapter did not build what a program's input asks for."""


class Adapter(Protocol):
    """The functions that drive one library; `docs/adapters.md` explains them, `adapters/` has examples."""

    name: str
    observes_storage: bool
    """Whether `storage_of` and `bytes_of` work; else `read` is called for element values."""

    def storage(self, data: Any, backing: str) -> Any:
        """Memory that holds `data`: a copy where `backing` is owned, the writable buffer itself where guarded."""

    def tensor(self, storage: Any, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A tensor over that memory, strides and offset in elements."""

    def require_grad(self, x: Any) -> Any:
        """The same tensor, requiring gradients (only called where the feature is claimed)."""

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """A function of the step's positional arguments and keyword values; None where the library has none."""

    def is_tensor(self, x: Any) -> bool:
        """Whether an object is one of the library's tensors."""

    def describe(
        self, x: Any
    ) -> tuple[str, tuple[int, ...], tuple[int, ...] | None, int | None, str, int | None, str | None]:
        """dtype, shape, strides, offset, contiguity, version and flags, in the units of `TensorState`."""

    def storage_of(self, x: Any) -> Any:
        """The storage of a tensor: the same object as long as it is the same one, None where that cannot be told."""

    def bytes_of(self, storage: Any) -> bytes:
        """All bytes of a storage; none where it has a length alone (meta)."""

    def extent_of(self, storage: Any) -> tuple[int, int]:
        """Address and length in bytes of a storage; address 0 where it has no memory."""

    def is_storage(self, x: Any) -> bool:
        """Whether an object is one of the library's storages, as users hold them."""

    def describe_storage(self, x: Any) -> tuple[Any, str | None, str]:
        """What `storage_of` gives for tensors over it, its dtype where it is typed, and flags as in `StorageObject`."""

    def base_of(self, x: Any) -> Any:
        """The tensor that this one is recorded as a view of, or None."""

    def quantizer_of(self, x: Any) -> str | None:
        """What the codes of a quantised tensor mean (only called for one)."""

    def shadow_of(self, storage: Any) -> bytes | None:
        """Classes of a storage's bytes (only the oracle knows them)."""

    def file_of(self, storage: Any) -> str | None:
        """The path of the file that a storage is mapped from (only the oracle is asked)."""

    def mark(self, storage: Any, shadow: bytes | None) -> None:
        """Take over what others that see a storage's bytes know of them (only the oracle is told)."""

    def read(self, x: Any) -> bytes:
        """Elements of a tensor, row-major and little-endian, for libraries whose storage cannot be seen."""

    def dtype(self, name: str) -> Any:
        """The library's dtype of PyTorch's name."""

    def memory_format(self, name: str) -> Any:
        """The library's memory format of PyTorch's name."""

    def index(self, items: tuple[Any, ...]) -> Any:
        """An index as the library wants it between square brackets."""

    def error_kind(self, error: Exception) -> str | None:
        """Normalised kind of an exception, None where it cannot be told."""

    def lift(self, x: Any) -> Any:
        """A result as a tensor where the library answers with something like one (a NumPy scalar)."""


ON_CLAIM = frozenset({"require_grad", "quantizer_of", "file_of", "describe_storage"})
"""Functions asked only of who claims gradients or quantised dtypes, or has storages as objects."""
SEEING, READING = frozenset({"storage_of", "bytes_of", "extent_of"}), frozenset({"read"})
"""Functions asked only of who observes storages, and only of who does not."""


def lacking(thing: Any) -> list[str]:
    """What an object lacks that every adapter is asked for; none where it is one."""
    names = [name for name in (*Adapter.__annotations__, *vars(Adapter)) if not name.startswith("_")]
    unasked = ON_CLAIM | (READING if getattr(thing, "observes_storage", True) else SEEING)
    return [name for name in ("versions", "capabilities", *names) if name not in unasked and not hasattr(thing, name)]
