"""Memory that several processes see, and how tensors and storages travel between them.

The memory is an unnamed file that the kernel frees when the last process lets go of it, however that process ends. What
travels is its descriptor; the receiver maps the same pages.
"""

import os
import threading
import weakref
from typing import Any, Final, NoReturn

from .backing import Backing, map_descriptor
from .core import is_leaf, requires_grad
from .dtypes import QUANTIZED
from .errors import LayoutAssertionError, LayoutError, LayoutOSError, UnsupportedError
from .layout import Layout
from .pickling import rebuilt
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


def _by_name() -> bool:
    return _strategy[0] == "file_system"


def share(storage: UntypedStorage) -> None:
    """Move a storage's bytes to shared memory; nothing where they are mapped already.

    Those of a file stay in it, unless memory is shared by `file_system`, which gives all of it a file of its own.
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
        if storage._backing is not None and (storage._backing.descriptor is not None or not _by_name()):
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


def adopt(descriptor: int, nbytes: int) -> UntypedStorage:
    """The storage over shared memory that arrived as a descriptor, which is taken over; it cannot be resized.

    Units: bytes. Raises: file (RuntimeError). Source: facts 7.8.2, torch 2.13.
    """
    with _lock:
        backing = _backing(descriptor, nbytes)
        known = _known.get(backing.identity)  # type: ignore[arg-type]
        if known is not None:
            return known
        storage = UntypedStorage._wrap(map_descriptor(descriptor, nbytes, shared=True), backing)
        _known[backing.identity] = storage  # type: ignore[index]
        return storage


# ------------------------------------------------------------------------------------ what multiprocessing calls


def _receive_storage(handle: Any, nbytes: int) -> UntypedStorage:
    return adopt(handle.detach(), nbytes)


def _receive_typed(storage: UntypedStorage, d: Any) -> Any:
    return typed(storage, d)


def _receive_tensor(storage: UntypedStorage, layout: Any, d: Any, leaf_grad: bool) -> "Tensor":
    return rebuilt(storage, Layout(*layout), d, leaf_grad, 0)


def _receive_nowhere(nbytes: int, layout: Any, d: Any, leaf_grad: bool) -> "Tensor":
    if d in QUANTIZED:
        raise UnsupportedError("dtype", f"a meta tensor of {d} cannot be put together again (facts 7.8.3)")
    return _receive_tensor(UntypedStorage._nowhere(nbytes), layout, d, leaf_grad)


def send_storage(storage: UntypedStorage) -> Any:
    """How a storage travels: it is moved to shared memory first, whole; of an empty one there is nothing to share.

    Raises: device (RuntimeError) for a meta storage; file (OSError) where the bytes are a mapped file's, of which
    PyTorch has closed the descriptor, unless memory is shared by `file_system`.
    Source: facts 7.8.2, torch 2.13.
    """
    from multiprocessing.reduction import DupFd

    if storage._is_meta:
        raise LayoutError("device", "a meta storage cannot be sent: send a meta tensor (facts 7.8.2)")
    if not len(storage) and not _by_name():
        return UntypedStorage, ()
    share(storage)
    backing: Any = storage._backing
    if backing.descriptor is None:
        raise LayoutOSError("file", "a mapped file's memory cannot be sent: its descriptor is closed (facts 7.8.2)")
    return _receive_storage, (DupFd(backing.descriptor), backing.nbytes)


def send_typed(storage: Any) -> Any:
    """How a typed storage travels: as the untyped one and its dtype."""
    return _receive_typed, (storage._untyped_storage, storage.dtype)


def send_tensor(t: "Tensor") -> Any:
    """How a tensor travels: as its layout over its whole storage, which is moved to shared memory.

    Conjugate and negative bits stay behind: the receiver reads what lies in memory. A storage that has become too short
    grows there, which shared memory cannot.

    Raises: grad (RuntimeError) for a result of recorded operators; as `send_storage`. Source: facts 7.8.3, torch 2.13.
    """
    if requires_grad(t) and not is_leaf(t):
        raise LayoutError("grad", "cannot send a tensor that requires grad and is no leaf: detach it (facts 7.8.3)")
    about = tuple(t._layout), t.dtype, requires_grad(t)
    if t._storage._is_meta:
        return _receive_nowhere, (len(t._storage), *about)
    return _receive_tensor, (t._storage, *about)


class NoQuantizer:
    """What a quantised tensor has for a quantizer once it has travelled: none, which all that asks for one finds out.

    Raises: dtype (RuntimeError). Source: facts 7.8.3, torch 2.13.
    """

    __slots__ = ()

    def __getattribute__(self, name: str) -> NoReturn:
        # `isinstance` looks up the class as an attribute, too.
        raise LayoutError("dtype", "a quantised tensor that came from another process has no quantizer (facts 7.8.3)")

    def __iter__(self) -> NoReturn:
        self.__getattribute__("scheme")


def _receive_quantized(storage: UntypedStorage, layout: Any, *about: Any) -> Any:
    from .quantized_tensor import quantized

    no_quantizer: Any = NoQuantizer()
    return quantized(_receive_tensor(storage, layout, *about), no_quantizer)


def send_quantized(t: Any) -> Any:
    """How a quantised tensor travels: as its codes, without the quantizer. Source: facts 7.8.3, torch 2.13."""
    return _receive_quantized, send_tensor(t)[1]


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
