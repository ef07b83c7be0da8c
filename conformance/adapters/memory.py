"""Storages of libraries that show addresses but no storage objects: a region of memory, told by where it begins."""

from __future__ import annotations

import ctypes
from typing import Any
from weakref import WeakValueDictionary


class Region:
    """Memory of `nbytes` bytes at an address, kept alive by a tensor that lies in it."""

    __slots__ = ("__weakref__", "address", "keeper", "nbytes")

    def __init__(self, address: int, nbytes: int, keeper: Any) -> None:
        self.address, self.nbytes, self.keeper = address, nbytes, keeper

    def read(self) -> bytes:
        """All its bytes."""
        return ctypes.string_at(self.address, self.nbytes) if self.nbytes else b""


class Regions:
    """The regions of live storages: asked twice for the same memory, they answer with the same object."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[int, int], Region] = WeakValueDictionary()

    def at(self, address: int, nbytes: int, keeper: Any) -> Region:
        """The region at an address, a new one where it has no bytes; `keeper` holds on to its memory if it is new."""
        region = self._known.get((address, nbytes)) if nbytes else None
        if region is None:
            region = self._known[address, nbytes] = Region(address, nbytes, keeper)
        return region


class RegionStyle:
    """Mixin for adapters whose storages are regions of memory that can be read by address."""

    observes_storage = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.regions = Regions()

    def bytes_of(self, storage: Region) -> bytes:
        """All bytes, read by address."""
        return storage.read()

    def extent_of(self, storage: Region) -> tuple[int, int]:
        """Where the region lies."""
        return storage.address, storage.nbytes
