"""Errors of the reference: PyTorch's exception types, each carrying a normalised kind.

A message says what was got, where, and which rule refuses it; its wording is ours and is not meant to match PyTorch's.
"""

from pickle import UnpicklingError
from typing import Any, Literal, TypeVar

Kind = Literal[
    "argument",  # wrong Python types or number of arguments, or a value that an argument may not have
    "dimension",  # a dimension out of range, repeated, or missing
    "index",  # an element index out of range
    "size",  # bad, negative or ambiguous sizes, or element counts that do not agree
    "view",  # the strides do not allow the view
    "bounds",  # the layout addresses past the storage
    "overlap",  # a write to memory with more than one address, or to memory that is read at another address
    "broadcast",  # shapes that cannot be broadcast together
    "dtype",  # a cast, item size or operation that the dtype does not allow
    "format",  # a memory format that does not fit
    "step",  # a step of a slice, an unfold or a range that it may not have
    "overflow",  # a number or a product of sizes that does not fit 64 bits
    "resize",  # another length for a storage that cannot have one
    "read-only",  # a write to memory that cannot be written
    "grad",  # an action that automatic differentiation forbids
    "device",  # a device that is not there, or that cannot do it
    "memory",  # memory that cannot be had
    "file",  # a file that is missing, too short, damaged or no file
]

E = TypeVar("E", bound=Exception)


def fatal(error: E) -> E:
    """The error, marked as raised where PyTorch raises nothing: its process ends, or goes on with memory not its own.

    >>> fatal(LayoutError("resize", "shared memory cannot be resized")).fatal
    True
    """
    error.fatal = True  # type: ignore[attr-defined]
    return error


class _OfKind(Exception):
    """An error with its kind: both, and what is noted on it, travel to another process."""

    kind: Kind

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, *self.args), self.__dict__


class LayoutError(_OfKind, RuntimeError):
    """A `RuntimeError` of PyTorch's with its normalised kind: nearly every geometry, bounds or overlap violation."""


class LayoutIndexError(_OfKind, IndexError):
    """An `IndexError` of PyTorch's with its normalised kind: dimensions and element indices out of range."""


class LayoutTypeError(_OfKind, TypeError):
    """A `TypeError` of PyTorch's with its normalised kind: arguments of the wrong Python type or number."""


class LayoutValueError(_OfKind, ValueError):
    """A `ValueError` of PyTorch's with its normalised kind: mostly checks made in Python before an operator runs."""


class UnsupportedError(_OfKind, NotImplementedError):
    """A `NotImplementedError` of PyTorch's with its normalised kind: no kernel for this dtype."""


class UnspecifiedError(RuntimeError):
    """Whether PyTorch refuses depends on rounding, or on memory that is not its own: there is nothing to expect."""


class LayoutBufferError(_OfKind, BufferError):
    """A `BufferError` of PyTorch's with its normalised kind: memory that may not be exchanged."""


class LayoutAssertionError(_OfKind, AssertionError):
    """An `AssertionError` of PyTorch's with its normalised kind: a device or an option that this build has not."""


class LayoutAttributeError(_OfKind, AttributeError):
    """An `AttributeError` of PyTorch's with its normalised kind: an object of the wrong kind."""


class LayoutKeyError(_OfKind, KeyError):
    """A `KeyError` of PyTorch's with its normalised kind: a dtype without a legacy storage class."""


class LayoutImportError(_OfKind, ModuleNotFoundError):
    """A `ModuleNotFoundError` of PyTorch's with its normalised kind: a class by a name that no module has."""


class LayoutEOFError(_OfKind, EOFError):
    """An `EOFError` of PyTorch's with its normalised kind: nothing where a saved file should be."""


class LayoutFileError(_OfKind, FileNotFoundError):
    """A `FileNotFoundError` of PyTorch's with its normalised kind: no file of that name."""


class LayoutDirectoryError(_OfKind, IsADirectoryError):
    """An `IsADirectoryError` of PyTorch's with its normalised kind: a directory where a file should be."""


class LayoutOSError(_OfKind, OSError):
    """An `OSError` of PyTorch's with its normalised kind: memory of a file that it keeps no descriptor of."""


class LayoutPermissionError(_OfKind, PermissionError):
    """A `PermissionError` of PyTorch's with its normalised kind: a file that may not be read or written."""


class LayoutUnpicklingError(_OfKind, UnpicklingError):
    """An `UnpicklingError` of PyTorch's with its normalised kind: a saved object that must be declared safe first."""


class LayoutOverflowError(_OfKind, OverflowError):
    """An `OverflowError` of PyTorch's with its normalised kind: a number that does not fit the machine's integers."""
