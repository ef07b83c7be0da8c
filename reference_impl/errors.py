"""Errors of the reference: PyTorch's exception types, each carrying a normalised kind.

A message says what was got, where, and which rule refuses it; its wording is ours and is not meant to match PyTorch's.
"""

from pickle import UnpicklingError
from typing import Final, Literal, TypeVar

Kind = Literal[
    "argument", "dimension", "index", "size", "view", "bounds", "overlap", "broadcast", "dtype", "format",
    "step", "overflow", "resize", "read-only", "grad", "device", "memory", "file",
]  # fmt: skip

KINDS: Final[dict[str, str]] = {
    "argument": "wrong Python types or number of arguments",
    "dimension": "a dimension out of range, repeated, or missing",
    "index": "an element index out of range",
    "size": "bad, negative or ambiguous sizes, or element counts that do not agree",
    "view": "the strides do not allow the view",
    "bounds": "the layout would address past the storage",
    "overlap": "a write to memory with more than one address, or to memory that is read at another address",
    "broadcast": "shapes that cannot be broadcast together",
    "dtype": "a cast, item size or operation that the dtype does not allow",
    "format": "a memory format that does not fit",
    "step": "a slice or unfold step that is not positive",
    "overflow": "sizes whose product does not fit 64 bits",
    "resize": "growth of a storage that cannot grow",
    "read-only": "a write to memory that cannot be written",
    "grad": "an action that automatic differentiation forbids",
    "device": "a device that is not there",
    "memory": "an allocation that failed",
    "file": "a file that is missing, too short, damaged or no file",
}


E = TypeVar("E", bound=Exception)


def fatal(error: E) -> E:
    """The error, marked as raised where PyTorch raises nothing: its process ends, or goes on with memory not its own.

    >>> fatal(LayoutError("resize", "shared memory cannot be resized")).fatal
    True
    """
    error.fatal = True  # type: ignore[attr-defined]
    return error


class LayoutError(RuntimeError):
    """A `RuntimeError` of PyTorch's with its normalised kind: nearly every geometry, bounds or overlap violation."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutIndexError(IndexError):
    """An `IndexError` of PyTorch's with its normalised kind: dimensions and element indices out of range."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutTypeError(TypeError):
    """A `TypeError` of PyTorch's with its normalised kind: arguments of the wrong Python type or number."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutValueError(ValueError):
    """A `ValueError` of PyTorch's with its normalised kind: mostly checks made in Python before an operator runs."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class UnsupportedError(NotImplementedError):
    """A `NotImplementedError` of PyTorch's with its normalised kind: no kernel for this dtype."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class UnspecifiedError(RuntimeError):
    """Whether PyTorch refuses depends on rounding, or on memory that is not its own: there is nothing to expect."""


class LayoutBufferError(BufferError):
    """A `BufferError` of PyTorch's with its normalised kind: memory that may not be exchanged."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutAssertionError(AssertionError):
    """An `AssertionError` of PyTorch's with its normalised kind: a device or an option that this build has not."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutAttributeError(AttributeError):
    """An `AttributeError` of PyTorch's with its normalised kind: an object of the wrong kind."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutKeyError(KeyError):
    """A `KeyError` of PyTorch's with its normalised kind: a dtype without a legacy storage class."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutImportError(ModuleNotFoundError):
    """A `ModuleNotFoundError` of PyTorch's with its normalised kind: a class by a name that no module has."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutEOFError(EOFError):
    """An `EOFError` of PyTorch's with its normalised kind: nothing where a saved file should be."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutFileError(FileNotFoundError):
    """A `FileNotFoundError` of PyTorch's with its normalised kind: no file of that name."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutDirectoryError(IsADirectoryError):
    """An `IsADirectoryError` of PyTorch's with its normalised kind: a directory where a file should be."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutOSError(OSError):
    """An `OSError` of PyTorch's with its normalised kind: memory of a file that it keeps no descriptor of."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutPermissionError(PermissionError):
    """A `PermissionError` of PyTorch's with its normalised kind: a file that may not be read or written."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutUnpicklingError(UnpicklingError):
    """An `UnpicklingError` of PyTorch's with its normalised kind: a saved object that must be declared safe first."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class LayoutOverflowError(OverflowError):
    """An `OverflowError` of PyTorch's with its normalised kind: a number that does not fit the machine's integers."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
