"""Memory that several processes see, and how tensors and storages travel between them.

The memory is an unnamed file that the kernel frees when the last process lets go of it, however that process ends. What
travels is its descriptor; the receiver maps the same pages.
"""

import os
import threading
import weakref
from typing import Any, Final

import numpy as np

from .backing import Backing, map_descriptor
from .core import build, is_leaf, requires_grad
from .errors import LayoutAssertionError, LayoutError
from .layout import Layout
from .storage import UntypedStorage
from .tensors import Tensor
from .typed_storage import TypedStorage, typed

_STRATEGIES: Final = frozenset(("file_descriptor", "file_system"))
_strategy: list[str] = ["file_descriptor"]
_lock: Final = threading.RLock()

# What this process has mapped already: the same memory comes back as the same storage.
_known: "weakref.WeakValueDictionary[tuple[int, int], UntypedStorage]" = weakref.WeakValueDictionary()


def get_all_sharing_strategies() -> set[str]:
    """Names of the ways in which memory can be shared."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """Name of the way in which memory is shared."""
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is shared; here both names mean descriptors, so that nothing is ever left behind.

    Raises: argument (AssertionError). Source: facts 7.8.1, torch 2.13.
    """
    if new_strategy not in _STRATEGIES:
        raise LayoutAssertionError("argument", f"no sharing strategy {new_strategy!r}, only {sorted(_STRATEGIES)}")
    _strategy[0] = new_strategy


def share(storage: UntypedStorage) -> None:
    """Move a storage's bytes to shared memory; nothing where they are mapped already.

    All tensors over the storage see the new place. Arrays and storages that alias the old bytes keep those.

    Raises: device (RuntimeError) for a meta storage; memory.
    Source: facts 7.8.1, torch 2.13.

    >>> storage = UntypedStorage([1, 2])
    >>> share(storage)
    >>> storage.is_shared(), storage.tolist()
    (True, [1, 2])
    """
    with _lock:
        if storage._is_meta:
            raise LayoutError("device", "share_memory_: only memory on the CPU can be shared (facts 7.7)")
        if storage._backing is not None:
            return
        nbytes = len(storage._bytes)
        try:
            descriptor = os.memfd_create("stridecheck", os.MFD_CLOEXEC)
            os.ftruncate(descriptor, max(nbytes, 1))
        except OSError as e:
            raise LayoutError("memory", f"share_memory_: cannot get {nbytes} bytes of shared memory: {e}") from None
        backing = _backing(descriptor, nbytes)
        data = map_descriptor(descriptor, nbytes, shared=True)
        data[...] = storage._bytes
        storage._bytes = data
        storage._backing = backing
        storage._allocated = False
        _known[backing.identity] = storage  # type: ignore[index]


def _backing(descriptor: int, nbytes: int) -> Backing:
    found = os.fstat(descriptor)
    return Backing(nbytes, shared=True, descriptor=descriptor, identity=(found.st_dev, found.st_ino))


def adopt(descriptor: int, nbytes: int, resizable: bool) -> UntypedStorage:
    """The storage over shared memory that arrived as a descriptor, which is taken over.

    Units: bytes. Raises: file (RuntimeError). Source: facts 7.8.2, torch 2.13.
    """
    with _lock:
        backing = _backing(descriptor, nbytes)
        known = _known.get(backing.identity)  # type: ignore[arg-type]
        if known is not None:
            return known
        storage = UntypedStorage._wrap(map_descriptor(descriptor, nbytes, shared=True), backing)
        storage._resizable = resizable
        _known[backing.identity] = storage  # type: ignore[index]
        return storage


# ------------------------------------------------------------------------------------ what multiprocessing calls


def _receive_storage(handle: Any, nbytes: int, resizable: bool) -> UntypedStorage:
    return adopt(handle.detach(), nbytes, resizable)


def _receive_file(filename: str, nbytes: int) -> UntypedStorage:
    from .mapped_file import map_file

    return map_file(filename, True, nbytes)


def _receive_nowhere(nbytes: int) -> UntypedStorage:
    return UntypedStorage._nowhere(nbytes)


def _receive_typed(storage: UntypedStorage, d: Any) -> Any:
    return typed(storage, d)


def _receive_tensor(storage: UntypedStorage, layout: Any, d: Any, leaf_grad: bool, bits: int) -> "Tensor":
    t = build(storage, Layout(*layout), d)
    t._leaf_grad = leaf_grad
    t._bits = bits
    return t


def send_storage(storage: UntypedStorage) -> Any:
    """How a storage travels: it is moved to shared memory first, whole. Source: facts 7.8.2, torch 2.13."""
    from multiprocessing.reduction import DupFd

    if storage._is_meta:
        return _receive_nowhere, (len(storage),)
    if storage._backing is not None and storage._backing.descriptor is None:
        if storage.filename is not None:
            return _receive_file, (storage.filename, len(storage))
        _unmap(storage)
    share(storage)
    backing: Any = storage._backing
    return _receive_storage, (DupFd(backing.descriptor), backing.nbytes, storage._resizable)


def _unmap(storage: UntypedStorage) -> None:
    # A private map has nothing that another process could open.
    storage._bytes = np.array(storage._bytes)
    storage._backing = None


def send_typed(storage: Any) -> Any:
    """How a typed storage travels: as the untyped one and its dtype."""
    return _receive_typed, (storage._untyped_storage, storage.dtype)


def send_tensor(t: "Tensor") -> Any:
    """How a tensor travels: as its layout over its whole storage, which is moved to shared memory.

    Raises: grad (RuntimeError) for a result of recorded operators. Source: facts 7.8.3, torch 2.13.
    """
    if requires_grad(t) and not is_leaf(t):
        raise LayoutError("grad", "cannot send a tensor that requires grad and is no leaf: detach it (facts 7.8.3)")
    return _receive_tensor, (t._storage, tuple(t._layout), t.dtype, requires_grad(t), t._bits)


def _receive_quantized(parts: Any, quantizer: Any) -> Any:
    from . import quantized_methods  # noqa: F401
    from .quantized_tensor import quantized

    return quantized(_receive_tensor(*parts), quantizer)


def send_quantized(t: Any) -> Any:
    """How a quantised tensor travels: as its codes, with the quantizer."""
    return _receive_quantized, (send_tensor(t)[1], t._quantizer)


def init_reductions() -> None:
    """Teach `multiprocessing` to send storages and tensors as shared memory, in this process.

    A process that sends or receives calls it once. Source: facts 7.8.2, torch 2.13.
    """
    from multiprocessing.reduction import ForkingPickler

    from .quantized_tensor import QuantizedTensor

    ForkingPickler.register(QuantizedTensor, send_quantized)
    ForkingPickler.register(UntypedStorage, send_storage)
    ForkingPickler.register(TypedStorage, send_typed)
    ForkingPickler.register(Tensor, send_tensor)
