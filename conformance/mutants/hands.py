"""What a defect does to a library's own objects, which no operation of the library would do.

The reference's tensors are plain data. Of torch's, layout and version counter can be set; more is not needed. Every
function leaves alone what would reach outside the memory: a mutant is a wrong library, not a crashing one.
"""

from __future__ import annotations

import ctypes
from typing import Any

from stridecheck.reference_impl.layout import Layout

from ..layout import extent
from .call import Geometry

GUARDED = 64
"""Bytes around a guarded storage that may be written without harm: a guard shows it."""


def fits(geometry: Geometry, nbytes: int) -> bool:
    """Whether a layout stays inside a storage of that many bytes."""
    _, shape, strides, offset = geometry
    if len(shape) != len(strides) or min((*shape, *strides, offset)) < 0:
        return False
    return extent(shape, strides, offset)[1] * geometry.itemsize <= nbytes


def lay_out(x: Any, geometry: Geometry) -> None:
    """Give a tensor another shape, strides and offset, if they fit into its storage."""
    if not fits(geometry, x.untyped_storage().nbytes()):
        return
    if hasattr(x, "_layout"):
        x._layout = Layout(*geometry[1:])
        return
    version = x._version
    x.as_strided_(*geometry[1:])
    set_version(x, version)


def move(x: Any, other: Any) -> None:
    """Let a tensor of the reference lie where another lies, in that one's layout."""
    x._storage, x._layout = other._storage, other._layout


def set_version(x: Any, version: int) -> None:
    """Set the counter that a tensor shares with its views."""
    if hasattr(x, "_versions"):
        x._versions[0] = x._seen = version
        return
    import torch

    torch._C._autograd._unsafe_set_version_counter((x,), (version,))


def count_apart(x: Any) -> None:
    """Give a tensor of the reference a version counter of its own."""
    x._versions = list(x._versions)


def count_together(x: Any, other: Any) -> None:
    """Let two tensors of the reference share a version counter."""
    x._versions = other._versions


def set_base(x: Any, base: Any) -> None:
    """Let a tensor of the reference be recorded as a view of another, or of none."""
    x._base = base


def read(x: Any) -> bytes:
    """All bytes of the storage that a tensor lies in."""
    storage = x.untyped_storage()
    nbytes = storage.nbytes()
    return ctypes.string_at(storage.data_ptr(), nbytes) if nbytes else b""


def write(x: Any, start: int, data: bytes) -> None:
    """Put bytes into the storage that a tensor lies in, `start` bytes from its beginning.

    Past the end only where the storage is guarded: no operation is told, and no version counted.
    """
    storage = x.untyped_storage()
    room = storage.nbytes() + (0 if storage.resizable() else GUARDED)
    if data and storage.nbytes() and start >= 0 and start + len(data) <= room:
        ctypes.memmove(storage.data_ptr() + start, data, len(data))
