"""What a tensor says of its storage and its device, and how it moves its memory."""

from typing import TYPE_CHECKING, Any

from . import storage_methods
from .copies import to
from .core import records_history
from .devices import device
from .dtypes import float32
from .errors import LayoutAssertionError, LayoutTypeError
from .typed_storage import class_of, typed, warn_deprecated

if TYPE_CHECKING:
    from .tensors import Tensor
    from .typed_storage import TypedStorage


def storage(self: "Tensor") -> "TypedStorage":
    """The storage as elements of the tensor's dtype: a new, deprecated wrapper each time. Source: facts 7.3.3."""
    warn_deprecated()
    return typed(self._storage, self.dtype)


def typed_storage(self: "Tensor") -> "TypedStorage":
    """`storage` without the warning."""
    return typed(self._storage, self.dtype)


def storage_type(self: "Tensor") -> Any:
    """The class of storages that is named after the dtype; None on meta, and where there is no such class."""
    warn_deprecated()
    return None if self._storage._is_meta else class_of(self.dtype)


def tensor_device(self: "Tensor") -> device:
    """Where the memory lies: on the CPU, or nowhere (meta)."""
    return self._storage.device


def is_meta(self: "Tensor") -> bool:
    """Whether the storage is a length without bytes. Source: facts 7.7."""
    return self._storage._is_meta


def is_cpu(self: "Tensor") -> bool:
    """Whether the memory lies on the CPU."""
    return not self._storage._is_meta


def is_shared(self: "Tensor") -> bool:
    """Whether the storage's memory is mapped, from a file or for other processes. Source: facts 7.8."""
    return self._storage.is_shared()


def share_memory_(self: "Tensor") -> "Tensor":
    """Move the whole storage to memory that other processes can map; all its tensors move along.

    Raises: device (RuntimeError) for a meta tensor. Source: facts 7.8.1, torch 2.13.
    """
    self._storage.share_memory_()
    return self


def is_pinned(self: "Tensor", device: Any = None) -> bool:
    """False: without an accelerator no memory is page-locked. Raises: device (RuntimeError) for an unknown one."""
    return storage_methods.is_pinned(device)


def pin_memory(self: "Tensor", device: Any = None) -> "Tensor":
    """Nothing: there is no accelerator to pin memory for. Raises: device (RuntimeError). Source: facts 7.8.4."""
    storage_methods.pin_memory(device)


def cuda(self: "Tensor", device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> "Tensor":
    """Nothing: there is no CUDA. Raises: device (AssertionError); as `device`."""
    if device is not None:
        storage_methods._device(device)
    raise LayoutAssertionError("device", "cuda: the reference lives on the CPU")


def dlpack(self: "Tensor", **options: Any) -> Any:
    """A capsule over the tensor's memory; see `dlpack.to_capsule`."""
    from .dlpack import to_capsule

    try:
        return to_capsule(self, **options)
    except TypeError as e:
        if hasattr(e, "kind"):
            raise
        raise LayoutTypeError("argument", str(e)) from None


def dlpack_device(self: "Tensor") -> tuple[int, int]:
    """DLPack's numbers for the CPU. Raises: device (ValueError) for a meta tensor. Source: facts 8.3.5, torch 2.13."""
    from .dlpack import dlpack_device

    return dlpack_device(self)


def dequantize(self: "Tensor") -> "Tensor":
    """The numbers of a tensor that is not quantised, as float32: the tensor itself where it is that already.

    Such a tensor that requires grad is given a history, which has no derivative: it is a leaf no more.

    Source: facts 10.1.13, torch 2.13.
    """
    self = self.resolve_conj().resolve_neg()
    if self.dtype is float32 and records_history(self):
        self._has_fn = True
    return to(self, float32)
