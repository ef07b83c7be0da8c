"""Where a storage's bytes lie if not in memory of its own: in a file, in memory of several processes, or nowhere."""

import os
from typing import Any, Final

import numpy as np

from .errors import LayoutError, LayoutTypeError, UnsupportedError

# Stands for an argument that was not given, where None would be wrong.
MISSING: Final[Any] = object()


class NoBytes:
    """The bytes of a meta storage: a length and nothing else.

    It has no buffer, so that no array can be laid over it by accident.

    Units: bytes. Source: facts 7.7, torch 2.13.

    >>> len(NoBytes(12))
    12
    """

    __slots__ = ("_length",)

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length


class Backing:
    """What is known of memory that a storage has mapped: the file's name, and the descriptor where it can be sent.

    Units: `nbytes` in bytes. Source: facts 7.6 and 7.8, torch 2.13.
    """

    __slots__ = ("__weakref__", "descriptor", "filename", "identity", "nbytes", "shared")

    def __init__(
        self,
        nbytes: int,
        *,
        shared: bool,
        filename: str | None = None,
        descriptor: int | None = None,
        identity: tuple[int, int] | None = None,
    ) -> None:
        self.nbytes: Final = nbytes
        # Whether a write reaches whoever else maps it.
        self.shared: Final = shared
        self.filename: Final = filename
        # Device and inode, by which a process knows memory that it has mapped already.
        self.identity: Final = identity
        self.descriptor = descriptor

    def __del__(self) -> None:
        descriptor, self.descriptor = getattr(self, "descriptor", None), None
        if descriptor is not None:
            os.close(descriptor)


class Unread(UnsupportedError):
    """The error of an operator that reads elements of a tensor without bytes."""


def no_data(what: str) -> UnsupportedError:
    """The error of reading where there are no bytes. Source: facts 7.7, torch 2.13."""
    return UnsupportedError("device", f"{what}: a meta storage holds no data (facts 7.7)")


def map_descriptor(descriptor: int, nbytes: int, *, shared: bool) -> Any:
    """The bytes of an open file as a writable array; private copies are made of what is written unless shared.

    Units: bytes.
    Raises: file (RuntimeError) where the file cannot be mapped.
    """
    import mmap

    flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    try:
        # Zero bytes cannot be mapped.
        mapped = mmap.mmap(descriptor, max(nbytes, 1), flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except (OSError, ValueError, OverflowError) as e:
        raise LayoutError("file", f"cannot map {nbytes} bytes: {e}") from None
    return np.frombuffer(mapped, np.uint8)[:nbytes]


def as_length(value: Any, name: str) -> int:
    """A count of bytes or elements as an int.

    Raises: argument (TypeError).

    >>> as_length(3, "nbytes")
    3
    """
    from operator import index

    try:
        return index(value)
    except TypeError:
        raise LayoutTypeError("argument", f"{name} must be an int, got {type(value).__name__}") from None
